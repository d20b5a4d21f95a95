//! Products with a vector, and convolutions, as loops over rows.

use super::dot;
use crate::machine::wide;

wide! {
    /// The sum of squares of a x - y; the gradients go to `da` and `dx`.
    pub fn residual(a: &[f64], x: &[f64], y: &[f64], da: &mut [f64], dx: &mut [f64]) -> f64 {
        let m = x.len();
        let mut value = 0.0;
        dx.fill(0.0);
        for ((a, da), y) in a.chunks_exact(m).zip(da.chunks_exact_mut(m)).zip(y) {
            let r = dot(a, x) - y;
            value += r * r;
            let c = 2.0 * r;
            for ((a, x), (da, dx)) in a.iter().zip(x).zip(da.iter_mut().zip(dx.iter_mut())) {
                *da = c * x;
                *dx += c * a;
            }
        }
        value
    }
}

/// Channels, rows and columns of an image; channels of the result; rows and columns of the kernel.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Of the image.
    pub image: [usize; 3],
    /// Of the result.
    pub channels: usize,
    /// Of the kernel.
    pub window: [usize; 2],
}

impl Shape {
    fn result(self) -> [usize; 2] {
        [self.image[1] + 1 - self.window[0], self.image[2] + 1 - self.window[1]]
    }

    /// How many cells the result has.
    pub fn cells(self) -> usize {
        self.channels * self.result()[0] * self.result()[1]
    }
}

wide! {
    /// The sum of squares of a convolution, which goes to `y`; the gradients go to `dx` and `dk`.
    pub fn convolution(
        s: Shape, x: &[f64], k: &[f64], y: &mut [f64], dx: &mut [f64], dk: &mut [f64],
    ) -> f64 {
        let ([channels, h, w], [u, v]) = (s.image, s.window);
        let [rows, columns] = s.result();
        y.fill(0.0);
        dx.fill(0.0);
        for o in 0..s.channels {
            for c in 0..channels {
                for i in 0..rows {
                    let y = &mut y[(o * rows + i) * columns..][..columns];
                    for p in 0..u {
                        let x = &x[(c * h + i + p) * w..][..w];
                        let k = &k[((o * channels + c) * u + p) * v..][..v];
                        for (q, k) in k.iter().enumerate() {
                            for (y, x) in y.iter_mut().zip(&x[q..]) {
                                *y += k * x;
                            }
                        }
                    }
                }
            }
        }
        for o in 0..s.channels {
            for c in 0..channels {
                for p in 0..u {
                    for q in 0..v {
                        let place = ((o * channels + c) * u + p) * v + q;
                        let (factor, mut sum) = (2.0 * k[place], 0.0);
                        for i in 0..rows {
                            let y = &y[(o * rows + i) * columns..][..columns];
                            let from = (c * h + i + p) * w + q;
                            sum += dot(y, &x[from..][..columns]);
                            for (dx, y) in dx[from..][..columns].iter_mut().zip(y) {
                                *dx += factor * y;
                            }
                        }
                        dk[place] = 2.0 * sum;
                    }
                }
            }
        }
        dot(y, y)
    }
}
