//! Builders, matrices and polynomials with `Index`, distributions as traits.

use jut::{Data, differentiable};
use std::ops::*;

// 1. a builder of a mesh
#[derive(Data, Clone, Debug, PartialEq)]
struct Grid {
    length: f64,
    cells: usize,
    stretch: f64,
    origin: f64,
}
#[derive(Data, Clone, Debug, PartialEq)]
struct GridBuilder {
    length: f64,
    cells: usize,
    stretch: Option<f64>,
    origin: f64,
}
#[differentiable]
impl GridBuilder {
    fn new(length: f64) -> Self {
        GridBuilder { length, cells: 4, stretch: None, origin: 0.0 }
    }
    fn cells(mut self, n: usize) -> Self {
        self.cells = n;
        self
    }
    fn stretch(mut self, r: f64) -> Self {
        self.stretch = Some(r);
        self
    }
    fn origin(self, origin: f64) -> Self {
        Self { origin, ..self }
    }
    fn build(self) -> Grid {
        assert!(self.cells > 0, "a grid has cells");
        Grid {
            length: self.length,
            cells: self.cells,
            stretch: self.stretch.unwrap_or(1.0),
            origin: self.origin,
        }
    }
}
#[differentiable]
impl Grid {
    fn faces(&self) -> Vec<f64> {
        let Grid { length, cells, stretch, origin } = *self;
        let total = (0..cells).fold((0.0, 1.0), |(s, w), _| (s + w, w * stretch)).0;
        let mut faces = Vec::with_capacity(cells + 1);
        let mut at = origin;
        let mut width = length / total;
        faces.push(at);
        for _ in 0..cells {
            at += width;
            width *= stretch;
            faces.push(at);
        }
        faces
    }
    fn centre(&self, i: usize) -> f64 {
        let f = self.faces();
        0.5 * (f[i] + f[i + 1])
    }
}
#[differentiable]
fn built(x: &[f64]) -> f64 {
    let grid = GridBuilder::new(x[0]).cells(5).stretch(x[1]).origin(x[2]).build();
    let coarse = GridBuilder::new(x[0]).cells(x.len() - 3).build();
    grid.faces().windows(2).map(|w| (w[1] - w[0]).powi(2)).sum::<f64>()
        + grid.centre(2) * coarse.centre(0)
}

// 2. Index and IndexMut of an own matrix
#[derive(Data, Clone, Debug, PartialEq)]
struct Mat {
    rows: usize,
    cols: usize,
    data: Vec<f64>,
}
#[differentiable]
impl Mat {
    fn zeros(rows: usize, cols: usize) -> Mat {
        Mat { rows, cols, data: vec![0.0; rows * cols] }
    }
    fn identity(n: usize) -> Mat {
        let mut m = Mat::zeros(n, n);
        for i in 0..n {
            m[(i, i)] = 1.0;
        }
        m
    }
    fn transpose(&self) -> Mat {
        let mut t = Mat::zeros(self.cols, self.rows);
        for i in 0..self.rows {
            for j in 0..self.cols {
                t[(j, i)] = self[(i, j)];
            }
        }
        t
    }
}
#[differentiable]
impl Index<(usize, usize)> for Mat {
    type Output = f64;
    fn index(&self, (i, j): (usize, usize)) -> &f64 {
        &self.data[i * self.cols + j]
    }
}
#[differentiable]
impl IndexMut<(usize, usize)> for Mat {
    fn index_mut(&mut self, (i, j): (usize, usize)) -> &mut f64 {
        &mut self.data[i * self.cols + j]
    }
}
#[differentiable]
impl Mul<&Mat> for &Mat {
    type Output = Mat;
    fn mul(self, o: &Mat) -> Mat {
        assert_eq!(self.cols, o.rows, "shapes");
        let mut r = Mat::zeros(self.rows, o.cols);
        for i in 0..self.rows {
            for j in 0..o.cols {
                for k in 0..self.cols {
                    r[(i, j)] += self[(i, k)] * o[(k, j)];
                }
            }
        }
        r
    }
}
#[differentiable]
fn own_matrix(x: &[f64]) -> f64 {
    let mut a = Mat::identity(2);
    a[(0, 1)] = x[0];
    a[(1, 0)] -= x[1] * x[2];
    let b = &a * &a.transpose();
    b[(0, 0)] * b[(1, 1)] + b[(0, 1)]
}

// 3. Index by usize of a polynomial, operators, Horner
#[derive(Data, Clone, Debug, PartialEq)]
struct Poly {
    c: Vec<f64>,
}
#[differentiable]
impl Index<usize> for Poly {
    type Output = f64;
    fn index(&self, i: usize) -> &f64 {
        &self.c[i]
    }
}
#[differentiable]
impl IndexMut<usize> for Poly {
    fn index_mut(&mut self, i: usize) -> &mut f64 {
        &mut self.c[i]
    }
}
#[differentiable]
impl Poly {
    fn degree(&self) -> usize {
        self.c.len() - 1
    }
    fn eval(&self, x: f64) -> f64 {
        self.c.iter().rev().fold(0.0, |acc, &c| acc * x + c)
    }
    fn derivative(&self) -> Poly {
        Poly { c: self.c.iter().enumerate().skip(1).map(|(k, c)| k as f64 * c).collect() }
    }
}
#[differentiable]
impl Mul for &Poly {
    type Output = Poly;
    fn mul(self, o: &Poly) -> Poly {
        let mut r = Poly { c: vec![0.0; self.degree() + o.degree() + 1] };
        for (i, a) in self.c.iter().enumerate() {
            for (j, b) in o.c.iter().enumerate() {
                r[i + j] += a * b;
            }
        }
        r
    }
}
#[differentiable]
impl Add<f64> for Poly {
    type Output = Poly;
    fn add(mut self, k: f64) -> Poly {
        self.c[0] += k;
        self
    }
}
#[differentiable]
fn polynomials(x: &[f64]) -> f64 {
    let p = Poly { c: x[..3].to_vec() };
    let q = Poly { c: vec![1.0, x[3]] };
    let r = &p * &q + 0.5;
    let root = {
        let mut z = 0.1;
        for _ in 0..3 {
            z -= r.eval(z) / (r.derivative().eval(z) + 3.0);
        }
        z
    };
    r[0] + r[r.degree()] * root
}

// 4. Sum of own vectors
#[derive(Data, Clone, Copy, Debug, PartialEq, Default)]
struct V2 {
    x: f64,
    y: f64,
}
#[differentiable]
impl Add for V2 {
    type Output = V2;
    fn add(self, o: V2) -> V2 {
        V2 { x: self.x + o.x, y: self.y + o.y }
    }
}
#[differentiable]
impl Mul<f64> for V2 {
    type Output = V2;
    fn mul(self, k: f64) -> V2 {
        V2 { x: self.x * k, y: self.y * k }
    }
}
impl std::iter::Sum for V2 {
    fn sum<I: Iterator<Item = V2>>(iter: I) -> V2 {
        iter.fold(V2::default(), |a, b| a + b)
    }
}
#[differentiable]
fn sum_of_own(x: &[f64]) -> f64 {
    let points: Vec<V2> = x.chunks(2).map(|c| V2 { x: c[0], y: c[1] }).collect();
    let centre =
        points.iter().copied().fold(V2::default(), |a, b| a + b) * (1.0 / points.len() as f64);
    points
        .iter()
        .map(|p| {
            let (dx, dy) = (p.x - centre.x, p.y - centre.y);
            dx * dx + dy * dy
        })
        .sum()
}

// 5. traits with provided methods on a concrete type
#[differentiable]
trait Distribution {
    fn mean(&self) -> f64;
    fn variance(&self) -> f64;
    fn ln_pdf(&self, x: f64) -> f64;
    fn std_dev(&self) -> f64 {
        self.variance().sqrt()
    }
    fn standardized(&self, x: f64) -> f64 {
        (x - self.mean()) / self.std_dev()
    }
}
#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct Normal {
    mu: f64,
    sigma: f64,
}
#[differentiable]
impl Distribution for Normal {
    fn std_dev(&self) -> f64 {
        self.variance().sqrt()
    }
    fn standardized(&self, x: f64) -> f64 {
        (x - self.mean()) / self.std_dev()
    }
    fn mean(&self) -> f64 {
        self.mu
    }
    fn variance(&self) -> f64 {
        self.sigma * self.sigma
    }
    fn ln_pdf(&self, x: f64) -> f64 {
        let z = self.standardized(x);
        -0.5 * z * z - jut::math::log(self.sigma)
    }
}
#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct Uniform {
    lo: f64,
    hi: f64,
}
#[differentiable]
impl Distribution for Uniform {
    fn std_dev(&self) -> f64 {
        self.variance().sqrt()
    }
    fn standardized(&self, x: f64) -> f64 {
        (x - self.mean()) / self.std_dev()
    }
    fn mean(&self) -> f64 {
        0.5 * (self.lo + self.hi)
    }
    fn variance(&self) -> f64 {
        let w = self.hi - self.lo;
        w * w / 12.0
    }
    fn ln_pdf(&self, x: f64) -> f64 {
        if (self.lo..=self.hi).contains(&x) {
            -jut::math::log(self.hi - self.lo)
        } else {
            f64::NEG_INFINITY
        }
    }
}
#[differentiable]
fn log_likelihood<D: Distribution>(d: &D, data: &[f64]) -> f64 {
    data.iter().map(|&x| d.ln_pdf(x)).sum::<f64>() + d.std_dev()
}
#[differentiable]
fn distributions(x: &[f64]) -> f64 {
    let n = Normal { mu: x[0], sigma: x[1] };
    let u = Uniform { lo: -3.0 * x[1], hi: 3.0 };
    log_likelihood(&n, &x[2..]) + log_likelihood(&u, &x[2..]) + u.standardized(x[0]) * n.std_dev()
}

// 6. PartialOrd of structs
#[derive(Data, Clone, Copy, Debug, PartialEq, PartialOrd)]
struct Key {
    major: f64,
    minor: f64,
}
#[differentiable]
fn best_key(x: &[f64]) -> f64 {
    let mut best = Key { major: f64::NEG_INFINITY, minor: 0.0 };
    for c in x.chunks_exact(2) {
        let k = Key { major: c[0], minor: c[1] };
        if k.major > best.major || (k.major == best.major && k.minor > best.minor) {
            best = k;
        }
    }
    best.major * best.minor
}

#[test]
fn they_are_as_the_plain_calls_on_every_engine() {
    everywhere! {
        built at [2.0, 1.3, 0.4, 1.0, 2.0], [2.0, 1.3, 0.4], [1.0];
        own_matrix at [0.3, 0.7, -1.2], [0.1, 0.2];
        polynomials at [0.3, 0.7, -1.2, 0.4], [0.1, 0.2];
        sum_of_own at [0.3, 0.7, -1.2, 0.4], [0.1, 0.2, 0.3];
        distributions at [0.3, 0.7, -1.2, 0.4], [0.1, 0.2, 3.3];
        best_key at [0.3, 0.7, -1.2, 0.4], [0.1, 0.2, 3.3, -1.0];
    }
}
