//! Pastimes: billiards, shapes, quilts, sundials, boats and letters, in styles that are far from each other.

use super::agree;
use jut::math::{cos, exp, log, sin};
use jut::{Data, differentiable};
use std::f64::consts::*;
use std::ops::{Add, AddAssign, Index, IndexMut, Mul, Neg, Sub};

// A game programmer: shapes with lists of points, which grow in a `match`.
#[derive(Data, Clone, Debug, PartialEq)]
#[data(ragged)]
enum Shape {
    Disc(f64),
    Poly(Vec<f64>),
    Path { points: Vec<f64>, width: f64 },
}

#[differentiable]
impl Shape {
    fn extend(&mut self, v: f64) {
        match self {
            Shape::Disc(r) => *r += v,
            Shape::Poly(sides) => {
                let mut longer: Vec<f64> = sides.clone();
                longer.push(v);
                *self = Shape::Poly(longer);
            }
            Shape::Path { points, width } => {
                let mut longer: Vec<f64> = points.clone();
                longer.push(v * *width);
                longer.push(v);
                *self = Shape::Path { points: longer, width: *width };
            }
        }
    }

    fn measure(&self) -> f64 {
        match self {
            Shape::Disc(r) => PI * r * r,
            Shape::Poly(sides) => sides.iter().map(|s| s * s).sum(),
            Shape::Path { points, .. } => points.windows(2).map(|w| w[0] * w[1]).sum(),
        }
    }
}

#[differentiable]
fn doodle(x: &[f64]) -> f64 {
    let mut poly = Shape::Poly(vec![x[0]]);
    let mut path = Shape::Path { points: vec![], width: x[1] };
    let mut disc = Shape::Disc(0.5);
    for v in &x[1..] {
        poly.extend(*v);
        path.extend(*v);
        disc.extend(v * v);
    }
    poly.measure() + path.measure() * disc.measure()
}

// A monoid as Haskell has it: `empty`, `combine`, and `fold`.
#[differentiable]
trait Monoid {
    fn empty() -> Self;
    fn combine(self, other: Self) -> Self;
}

#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct Moments {
    n: f64,
    mean: f64,
    m2: f64,
}

#[differentiable]
impl Monoid for Moments {
    fn empty() -> Self {
        Moments { n: 0.0, mean: 0.0, m2: 0.0 }
    }
    fn combine(self, o: Self) -> Self {
        if self.n == 0.0 {
            return o;
        }
        let n = self.n + o.n;
        let d = o.mean - self.mean;
        Moments { n, mean: self.mean + d * o.n / n, m2: self.m2 + o.m2 + d * d * self.n * o.n / n }
    }
}

#[differentiable]
fn spread<M: Monoid + Copy>(parts: &[M]) -> M {
    parts.iter().copied().fold(M::empty(), |a, b| a.combine(b))
}

#[differentiable]
fn quilt(x: &[f64]) -> f64 {
    let one = |v: &f64| Moments { n: 1.0, mean: *v, m2: 0.0 };
    let (a, b) = x.split_at(x.len() / 2);
    let left: Vec<Moments> = a.iter().map(one).collect();
    let right = b.iter().map(|v| one(v)).fold(Moments::empty(), Moments::combine);
    let all = spread(&left).combine(right);
    (all.m2 / (all.n - 1.0)).sqrt() + all.mean
}

// A physicist: billiards between walls, by events, `loop` with a label, tuples as states.
#[differentiable]
fn first_hit(p: (f64, f64), v: (f64, f64), size: (f64, f64)) -> Option<(f64, bool)> {
    let wall = |p: f64, v: f64, s: f64| -> Option<f64> {
        match v {
            v if v > 0.0 => Some((s - p) / v),
            v if v < 0.0 => Some(-p / v),
            _ => None,
        }
    };
    let (tx, ty) = (wall(p.0, v.0, size.0), wall(p.1, v.1, size.1));
    match (tx, ty) {
        (Some(a), Some(b)) if a < b => Some((a, true)),
        (Some(_), Some(b)) => Some((b, false)),
        (Some(a), None) => Some((a, true)),
        (None, b) => b.map(|b| (b, false)),
    }
}

#[differentiable]
fn billiards(x: &[f64]) -> f64 {
    let &[px, py, vx, vy, ref rest @ ..] = x else { return f64::NAN };
    let (mut p, mut v) = ((px, py), (vx, vy));
    let size = (2.0, rest.first().map_or(1.0, |h| 1.0 + h * h));
    let mut time = 3.0;
    let mut bounces = 0;
    'table: loop {
        let Some((t, across)) = first_hit(p, v, size) else { break 'table };
        if t >= time {
            p = (p.0 + time * v.0, p.1 + time * v.1);
            break;
        }
        p = (p.0 + t * v.0, p.1 + t * v.1);
        if across {
            v.0 = -0.9 * v.0;
        } else {
            v.1 *= -0.9;
        }
        time -= t;
        bounces += 1;
        if bounces > 20 {
            break 'table;
        }
    }
    p.0 * p.0 + 2.0 * p.1 + bounces as f64
}

// A sundial: angles with newtypes, constants of the circle by their bare names.
#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct Radians(f64);

impl From<f64> for Radians {
    fn from(degrees: f64) -> Self {
        Radians(degrees * PI / 180.0)
    }
}

#[differentiable]
impl Neg for Radians {
    type Output = Radians;
    fn neg(self) -> Radians {
        Radians(-self.0)
    }
}

#[differentiable]
fn sundial(x: &[f64]) -> f64 {
    let latitude = Radians(x[0] * PI / 180.0);
    let south = -latitude;
    let hours = [-3.0, -1.5, 0.0, 1.5, 3.0];
    let marks: Vec<f64> = hours
        .iter()
        .map(|h| {
            let t = h * PI / 12.0 + x[1] * FRAC_PI_2 * 0.01;
            sin(latitude.0) * sin(t) / cos(t)
        })
        .collect();
    let asymmetry = marks.iter().zip(marks.iter().rev()).map(|(a, b)| (a + b).powi(2)).sum::<f64>();
    asymmetry * SQRT_2 + cos(south.0) / LN_2 + marks[4] * TAU
}

// A grid as an author of a small library has it: generic elements, `Index`, operators between references.
#[derive(Data, Clone, Debug, PartialEq)]
struct Grid<const W: usize, const H: usize> {
    cells: [[f64; W]; H],
}

#[differentiable]
impl<const W: usize, const H: usize> Index<(usize, usize)> for Grid<W, H> {
    type Output = f64;
    fn index(&self, (r, c): (usize, usize)) -> &f64 {
        &self.cells[r][c]
    }
}

#[differentiable]
impl<const W: usize, const H: usize> IndexMut<(usize, usize)> for Grid<W, H> {
    fn index_mut(&mut self, (r, c): (usize, usize)) -> &mut f64 {
        &mut self.cells[r][c]
    }
}

#[differentiable]
impl<const W: usize, const H: usize> Grid<W, H> {
    fn laplacian(&self, r: usize, c: usize) -> f64 {
        let neighbours = [(0, 1), (1, 0), (0, W - 1), (H - 1, 0)];
        neighbours.iter().map(|(dr, dc)| self[((r + dr) % H, (c + dc) % W)] - self[(r, c)]).sum()
    }

    fn diffuse(&mut self, rate: f64) {
        let before = self.clone();
        for r in 0..H {
            for c in 0..W {
                self[(r, c)] += rate * before.laplacian(r, c);
            }
        }
    }
}

#[differentiable]
fn spots(x: &[f64]) -> f64 {
    let mut grid = Grid::<3, 2> { cells: [[0.0; 3]; 2] };
    for (k, v) in x.iter().enumerate().take(6) {
        grid[(k / 3, k % 3)] = *v;
    }
    for _ in 0..4 {
        grid.diffuse(0.1);
    }
    grid.cells.iter().flatten().zip(1..).map(|(v, k)| v * v * k as f64).sum()
}

// Boats in a lock: `try_fold`, `checked_sub`, `Option` with `?`, an error that is a variant.
#[allow(dead_code)]
#[derive(Debug)]
enum Trouble {
    Empty,
    Overflow(f64),
}

#[differentiable]
fn locked(levels: &[f64], start: f64) -> Result<f64, Trouble> {
    if levels.is_empty() {
        return Err(Trouble::Empty);
    }
    let last = levels.iter().try_fold(start, |level, inflow| {
        let next = level + inflow - 0.1 * level * level;
        if next > 10.0 { Err(Trouble::Overflow(next)) } else { Ok(next) }
    })?;
    Ok(last * levels.len() as f64)
}

#[differentiable]
fn canal(x: &[f64]) -> f64 {
    let (start, levels) = x.split_first().expect("a first level");
    let upper = locked(levels, *start).unwrap_or(-1.0);
    let lower = match levels.len().checked_sub(2) {
        Some(k) => levels[k..].iter().product::<f64>(),
        None => 0.0,
    };
    upper + lower
}

// Letters: logarithms of sums, a table by `const`, strings of bytes, `drain` and `swap`.
const WEIGHTS: [[f64; 2]; 2] = [[0.7, 0.3], [0.4, 0.6]];

#[differentiable]
fn log_sum_exp(v: &[f64]) -> f64 {
    let top = v.iter().cloned().fold(f64::NEG_INFINITY, f64::max);
    top + log(v.iter().map(|a| exp(a - top)).sum::<f64>())
}

#[differentiable]
fn letters(x: &[f64]) -> f64 {
    let text = b"abba";
    let mut alpha = [log(0.5), log(0.5)];
    for &letter in text {
        let emit = |s: usize| if letter == b'a' { x[s] } else { x[s + 2] };
        alpha = [0, 1].map(|s| {
            let terms: Vec<f64> = (0..2).map(|r| alpha[r] + log(WEIGHTS[r][s])).collect();
            emit(s) + log_sum_exp(&terms)
        });
    }
    let mut rest = x.to_vec();
    let taken: Vec<f64> = rest.drain(1..3).collect();
    rest.swap(0, 1);
    log_sum_exp(&alpha) + taken.iter().zip(&rest).map(|(a, b)| a * b).sum::<f64>()
}

// Small vectors, generic in their numbers, with traits of std.
#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct V2<T> {
    x: T,
    y: T,
}

#[differentiable]
fn lerp<T>(a: T, b: T, t: T) -> T
where
    T: Copy + Add<Output = T> + Sub<Output = T> + Mul<Output = T>,
{
    a + (b - a) * t
}

#[differentiable]
impl AddAssign for V2<f64> {
    fn add_assign(&mut self, o: Self) {
        self.x += o.x;
        self.y += o.y;
    }
}

#[differentiable]
fn casteljau<const N: usize>(mut points: [V2<f64>; N], t: f64) -> V2<f64> {
    for level in (1..N).rev() {
        for i in 0..level {
            let (a, b) = (points[i], points[i + 1]);
            points[i] = V2 { x: lerp(a.x, b.x, t), y: lerp(a.y, b.y, t) };
        }
    }
    points[0]
}

#[differentiable]
fn signature(x: &[f64]) -> f64 {
    let points: [V2<f64>; 4] = std::array::from_fn(|i| V2 { x: i as f64, y: x[i] });
    let mut sum = V2 { x: 0.0, y: 0.0 };
    for k in 0..=4 {
        sum += casteljau(points, k as f64 * 0.25);
    }
    sum.x * 0.1 + sum.y * sum.y
}

#[test]
fn games_grids_and_letters() {
    everywhere! {
        doodle at [0.5, 1.2, 0.7, 0.3], [0.4];
        quilt at [0.3, 1.2, 0.7, 2.2, 0.9], [0.4];
        billiards at [0.5, 0.4, 1.1, 0.7, 0.2], [0.5, 0.4, 0.0, 0.9], [0.1];
        sundial at [52.0, 3.0];
        spots at [0.3, 0.5, 0.1, 0.9, 0.2, 0.7], [0.3];
        canal at [1.0, 0.5, 0.7, 0.2], [9.0, 3.0, 1.0], [1.0], [];
        letters at [-0.4, -0.9, -1.2, -0.3], [0.1];
        signature at [0.3, 1.2, -0.4, 0.5], [0.1];
    }
    agree("letters", &[0.1, 0.2, 0.3, 0.4], |x| letters(x), |x| letters::value_and_gradient(x));
}
