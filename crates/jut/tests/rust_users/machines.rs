//! Functions of learning, control and pictures, with lists in lists, generic functions and arrays of tuples.

use jut::math::{cos, exp, log, sin, tanh};
use jut::{Data, differentiable};
use std::cmp::Ordering;

// Learning.

#[derive(Data, Clone, Debug, PartialEq)]
struct Dense {
    w: Vec<Vec<f64>>,
    b: Vec<f64>,
}

#[differentiable]
impl Dense {
    fn from_flat(x: &[f64], inputs: usize, outputs: usize) -> Dense {
        let (w, b) = x.split_at(inputs * outputs);
        Dense { w: w.chunks(inputs).map(|r| r.to_vec()).collect(), b: b[..outputs].to_vec() }
    }
    fn apply(&self, x: &[f64]) -> Vec<f64> {
        self.w
            .iter()
            .zip(self.b.iter())
            .map(|(row, b)| row.iter().zip(x).map(|(a, b)| a * b).sum::<f64>() + b)
            .collect()
    }
}

#[differentiable]
fn softmax(x: &[f64]) -> Vec<f64> {
    let top = x.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let e: Vec<f64> = x.iter().map(|v| exp(v - top)).collect();
    let total: f64 = e.iter().sum();
    e.into_iter().map(|v| v / total).collect()
}

#[differentiable]
fn classify(x: &[f64]) -> f64 {
    let layer = Dense::from_flat(&x[..9], 2, 3);
    let samples = [([0.5, -1.0], 0_usize), ([1.5, 0.25], 2), ([-0.5, 0.75], 1)];
    let mut loss = 0.0;
    for (input, label) in &samples {
        let hidden: Vec<f64> = layer.apply(input).iter().map(|v| tanh(*v)).collect();
        let p = softmax(&hidden);
        loss -= log(p[*label]);
    }
    loss / samples.len() as f64
}

/// A gate of a recurrent cell: state goes through a while loop over chunks.
#[differentiable]
fn recurrent(x: &[f64]) -> f64 {
    fn sigmoid(v: f64) -> f64 {
        1.0 / (1.0 + exp(-v))
    }
    let [wz, uz, wh, uh, rest @ ..] = x else { return 0.0 };
    let mut h = 0.0;
    let mut tail = rest;
    while let [first, others @ ..] = tail {
        let z = sigmoid(wz * first + uz * h);
        let candidate = tanh(wh * first + uh * h);
        h = (1.0 - z) * h + z * candidate;
        tail = others;
    }
    h
}

/// A convolution with a kernel and a stride, then the largest of each pair.
#[differentiable]
fn convolved(x: &[f64]) -> f64 {
    let (kernel, signal) = x.split_at(3);
    let out: Vec<f64> = signal
        .windows(kernel.len())
        .step_by(2)
        .map(|w| w.iter().zip(kernel).map(|(a, b)| a * b).sum::<f64>())
        .map(|v| if v > 0.0 { v } else { 0.01 * v })
        .collect();
    out.chunks(2).map(|c| c.iter().copied().fold(f64::MIN, f64::max)).sum()
}

/// The nearest of some centres, for each point.
#[differentiable]
fn clusters(x: &[f64]) -> f64 {
    let centres: Vec<[f64; 2]> = x[..4].chunks_exact(2).map(|c| [c[0], c[1]]).collect();
    let mut total = 0.0;
    for p in x[4..].chunks_exact(2) {
        let (k, d) = centres
            .iter()
            .map(|c| (c[0] - p[0]).powi(2) + (c[1] - p[1]).powi(2))
            .enumerate()
            .min_by(|a, b| a.1.partial_cmp(&b.1).unwrap_or(Ordering::Equal))
            .unwrap();
        total += d * (k as f64 + 1.0);
    }
    total
}

/// Adam, with moments in arrays of tuples.
#[differentiable]
fn adam(x: &[f64]) -> f64 {
    let mut w = [x[0], x[1]];
    let mut moments = [(0.0, 0.0); 2];
    let (b1, b2): (f64, f64) = (0.9, 0.99);
    for t in 1..=6 {
        let g = [2.0 * (w[0] - 1.0) + w[1], 4.0 * w[1] + w[0]];
        for ((w, m), g) in w.iter_mut().zip(moments.iter_mut()).zip(g) {
            m.0 = b1 * m.0 + (1.0 - b1) * g;
            m.1 = b2 * m.1 + (1.0 - b2) * g * g;
            let (mh, vh) = (m.0 / (1.0 - b1.powi(t)), m.1 / (1.0 - b2.powi(t)));
            *w -= x[2] * mh / ((vh).sqrt() + 1e-8);
        }
    }
    (w[0] - 1.0).powi(2) + 2.0 * w[1] * w[1] + w[0] * w[1]
}

// Control.

#[differentiable]
fn rk4<const N: usize>(
    f: impl Fn(f64, &[f64; N]) -> [f64; N],
    t: f64,
    y: [f64; N],
    h: f64,
) -> [f64; N] {
    let add = |a: &[f64; N], b: &[f64; N], s: f64| -> [f64; N] {
        std::array::from_fn(|i| a[i] + s * b[i])
    };
    let k1 = f(t, &y);
    let k2 = f(t + h / 2.0, &add(&y, &k1, h / 2.0));
    let k3 = f(t + h / 2.0, &add(&y, &k2, h / 2.0));
    let k4 = f(t + h, &add(&y, &k3, h));
    std::array::from_fn(|i| y[i] + h / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]))
}

/// The controls of a cart with a pole, one for each interval.
#[differentiable]
fn swing_up(x: &[f64]) -> f64 {
    let mut y = [0.0, 0.1, 0.0, 0.0];
    let mut cost = 0.0;
    for (k, &u) in x.iter().enumerate() {
        let field = |_t: f64, y: &[f64; 4]| {
            let [_, angle, v, w] = *y;
            let (s, c) = (sin(angle), cos(angle));
            let a = (u + 0.1 * s * (0.5 * w * w - 9.81 * c)) / (1.0 + 0.1 * s * s);
            let al = (-u * c - 0.05 * w * w * c * s + 1.1 * 9.81 * s) / (0.5 * (1.0 + 0.1 * s * s));
            [v, w, a, al]
        };
        y = rk4(field, k as f64 * 0.05, y, 0.05);
        cost += 0.01 * u * u + y[1] * y[1];
    }
    cost + 10.0 * y.iter().map(|v| v.powi(2)).sum::<f64>()
}

/// Riccati, backwards in time, in matrices of constant size.
#[differentiable]
fn lqr(x: &[f64]) -> f64 {
    type M2 = [[f64; 2]; 2];
    fn mul(a: &M2, b: &M2) -> M2 {
        let mut c = [[0.0; 2]; 2];
        for (i, row) in c.iter_mut().enumerate() {
            for (j, cell) in row.iter_mut().enumerate() {
                *cell = (0..2).map(|k| a[i][k] * b[k][j]).sum();
            }
        }
        c
    }
    fn transposed(a: &M2) -> M2 {
        [[a[0][0], a[1][0]], [a[0][1], a[1][1]]]
    }
    let a: M2 = [[1.0, x[0]], [x[1], 1.0]];
    let (b0, b1) = (x[2], x[3]);
    let mut p: M2 = [[1.0, 0.0], [0.0, 1.0]];
    for _ in 0..8 {
        let pa = mul(&p, &a);
        let s = 0.5 + b0 * (p[0][0] * b0 + p[0][1] * b1) + b1 * (p[1][0] * b0 + p[1][1] * b1);
        let k = [(b0 * pa[0][0] + b1 * pa[1][0]) / s, (b0 * pa[0][1] + b1 * pa[1][1]) / s];
        let closed: M2 = [
            [a[0][0] - b0 * k[0], a[0][1] - b0 * k[1]],
            [a[1][0] - b1 * k[0], a[1][1] - b1 * k[1]],
        ];
        p = mul(&transposed(&a), &mul(&p, &closed));
        for (i, row) in p.iter_mut().enumerate() {
            row[i] += 1.0;
        }
    }
    p[0][0] + p[1][1] + 0.1 * p[0][1]
}

/// A step that is halved until the error is small: labels, loops with values.
#[differentiable]
fn adaptive(x: &[f64]) -> f64 {
    let f = |t: f64, y: f64| -x[0] * y + sin(x[1] * t);
    let (mut t, mut y) = (0.0, x[2]);
    let mut steps = 0_u32;
    'time: loop {
        let mut h: f64 = 0.25;
        let (accepted, width) = 'step: {
            for _ in 0..6 {
                let whole = y + h * f(t, y);
                let half = y + 0.5 * h * f(t, y);
                let two = half + 0.5 * h * f(t + 0.5 * h, half);
                if (two - whole).abs() < 1e-2 {
                    break 'step (2.0 * two - whole, h);
                }
                h *= 0.5;
            }
            (y + h * f(t, y), h)
        };
        y = accepted;
        t += width;
        steps += 1;
        if t >= 1.0 || steps > 40 {
            break 'time y;
        }
    }
}

// Pictures.

#[derive(Data, Clone, Copy, Debug, PartialEq)]
enum Shape {
    Sphere { centre: [f64; 3], radius: f64 },
    Plane { normal: [f64; 3], offset: f64 },
    Capsule([f64; 3], [f64; 3], f64),
}

#[differentiable]
fn dot(a: &[f64; 3], b: &[f64; 3]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[differentiable]
impl Shape {
    fn distance(&self, p: &[f64; 3]) -> f64 {
        let minus = |a: &[f64; 3], b: &[f64; 3]| [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
        match self {
            Shape::Sphere { centre, radius } => {
                let d = minus(p, centre);
                dot(&d, &d).sqrt() - radius
            }
            Shape::Plane { normal, offset } => dot(p, normal) + offset,
            Shape::Capsule(a, b, r) => {
                let (pa, ba) = (minus(p, a), minus(b, a));
                let h = (dot(&pa, &ba) / dot(&ba, &ba)).clamp(0.0, 1.0);
                let rest = [pa[0] - h * ba[0], pa[1] - h * ba[1], pa[2] - h * ba[2]];
                dot(&rest, &rest).sqrt() - *r
            }
        }
    }
}

/// The union of shapes, smooth by a polynomial.
#[differentiable]
fn scene(x: &[f64]) -> f64 {
    let p = [x[0], x[1], x[2]];
    let shapes = [
        Shape::Sphere { centre: [0.0, 0.5, 0.0], radius: x[3] },
        Shape::Plane { normal: [0.0, 1.0, 0.0], offset: x[4] },
        Shape::Capsule([1.0, 0.0, 0.0], [2.0, 1.0, 0.5], 0.2),
    ];
    shapes
        .iter()
        .map(|s| s.distance(&p))
        .reduce(|a, b| {
            let h = (0.5 + 0.5 * (b - a) / 0.8).clamp(0.0, 1.0);
            b + (a - b) * h - 0.8 * h * (1.0 - h)
        })
        .unwrap()
}

/// A Bezier curve of any degree, its points lists of numbers.
#[differentiable]
fn bezier(x: &[f64]) -> f64 {
    let (t, rest) = x.split_first().unwrap();
    let mut points: Vec<(f64, f64)> = rest.chunks_exact(2).map(|c| (c[0], c[1])).collect();
    while points.len() > 1 {
        points = points
            .windows(2)
            .map(|w| {
                let ((ax, ay), (bx, by)) = (w[0], w[1]);
                (ax + t * (bx - ax), ay + t * (by - ay))
            })
            .collect();
    }
    points.first().map_or(0.0, |p| p.0 * p.0 + p.1)
}

/// Grey values, gamma and a histogram in bins that overlap.
#[differentiable]
fn tones(x: &[f64]) -> f64 {
    let luminance = |rgb: &[f64]| match rgb {
        [r, g, b] => 0.2126 * r + 0.7152 * g + 0.0722 * b,
        [grey] => *grey,
        _ => 0.0,
    };
    let mut bins = [0.0_f64; 4];
    for y in x.chunks(3).map(luminance) {
        let y = if y <= 0.0031308 { 12.92 * y } else { 1.055 * exp(log(y) / 2.4) - 0.055 };
        let place = (y.clamp(0.0, 1.0) * 3.0).min(2.999);
        let (k, part) = (place.trunc() as usize, place.fract());
        bins[k] += 1.0 - part;
        bins[k + 1] += part;
    }
    bins.iter().enumerate().map(|(i, b)| b * b * (i as f64).mul_add(0.5, 1.0)).sum()
}

/// The area and the winding of a polygon, its last corner the first again.
#[differentiable]
fn polygon(x: &[f64]) -> f64 {
    let corners: Vec<[f64; 2]> = x.chunks_exact(2).map(|c| [c[0], c[1]]).collect();
    let twice: f64 = corners
        .iter()
        .zip(corners.iter().cycle().skip(1))
        .map(|(&[ax, ay], &[bx, by])| ax * by - bx * ay)
        .sum();
    let (mut low, mut high) = ([f64::INFINITY; 2], [f64::NEG_INFINITY; 2]);
    for corner in &corners {
        for k in 0..2 {
            low[k] = low[k].min(corner[k]);
            high[k] = high[k].max(corner[k]);
        }
    }
    0.5 * twice.abs() + 0.1 * twice.signum() * (high[0] - low[0]) * (high[1] - low[1])
}

/// Two halves of a list that change each other.
#[differentiable]
fn butterflies(x: &[f64]) -> f64 {
    let mut v = x.to_vec();
    let mut width = v.len() / 2;
    while width > 0 {
        let mut start = 0;
        while start + 2 * width <= v.len() {
            let (a, b) = v[start..start + 2 * width].split_at_mut(width);
            for (a, b) in a.iter_mut().zip(b.iter_mut()) {
                (*a, *b) = (*a + *b, (*a - *b) * 0.5);
            }
            start += 2 * width;
        }
        width /= 2;
    }
    v.iter().rev().enumerate().map(|(i, v)| v * v / (i + 1) as f64).sum()
}

/// Narrow floats.
#[differentiable]
fn mixed_precision(x: &[f64]) -> f64 {
    let narrow: Vec<f32> = x.iter().map(|&v| v as f32).collect();
    let sum: f32 = narrow.iter().map(|v| v * v).sum();
    let scale = 1.0_f32 / sum.sqrt().max(1e-6);
    narrow.iter().map(|&v| f64::from(v * scale)).map(|v| v.powi(3)).sum()
}

#[test]
fn learning() {
    everywhere! {
        classify at [0.1, 0.2, -0.3, 0.4, 0.5, -0.6, 0.7, 0.8, -0.9];
        recurrent at [0.1, 0.2, -0.3, 0.4, 0.5, -0.6, 0.7], [1.0];
        convolved at [0.1, 0.2, -0.3, 0.4, 0.5, -0.6, 0.7, 1.0, -0.5, 2.0];
        clusters at [0.1, 0.2, -0.3, 0.4, 0.5, -0.6, 0.7, 1.0];
        adam at [0.5, -0.3, 0.1];
    }
}

#[test]
fn control() {
    everywhere! {
        swing_up at [0.5, -0.3, 0.1, 0.0], [];
        lqr at [0.1, 0.05, 0.5, 0.2];
        adaptive at [2.0, 3.0, 1.0], [0.5, 9.0, 0.0];
    }
}

#[test]
fn pictures() {
    everywhere! {
        scene at [0.5, 0.75, 0.25, 0.6, 0.1], [2.0, 1.1, 0.5, 0.6, 2.0];
        bezier at [0.3, 0.0, 0.5, 1.0, 2.0, 3.0, 1.0], [0.3];
        tones at [0.3, 0.6, 0.1, 0.9, 0.8, 0.2, 0.5], [];
        polygon at [0.0, 0.0, 1.0, 0.1, 1.5, 1.0, 0.2, 0.9], [1.0, 0.1, 0.0, 0.0, 0.2, 0.9];
        butterflies at [1.0, 0.5, -0.5, 2.0, 1.5, 0.25, 3.0, -1.0], [1.0];
    }
    let x = [1.0, 0.5, -0.25];
    assert_eq!(mixed_precision::value(&x).unwrap(), mixed_precision(&x));
}
