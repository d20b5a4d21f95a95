//! Short functions, each with what people write often.
use jut::{Data, differentiable};

#[differentiable]
fn i1(x: &[f64]) -> f64 {
    let [a, b, c]: [f64; 3] = x[..3].try_into().unwrap();
    a * b + c
}
#[differentiable]
fn i3(x: &[f64]) -> f64 {
    x.iter().copied().reduce(f64::max).unwrap_or(0.0) + x.iter().copied().fold(f64::NAN, f64::min)
}
#[differentiable]
fn i4(x: &[f64]) -> f64 {
    let mut s = 0.0;
    for (i, chunk) in x.chunks(2).enumerate().rev() {
        s = 0.5 * s + chunk.iter().sum::<f64>() * (i as f64 + 1.0) * chunk[0];
    }
    s
}
#[differentiable]
fn i5(x: &[f64]) -> f64 {
    x.iter().rev().step_by(2).map(|v| v * v).sum::<f64>()
        + (0..x.len()).rev().step_by(2).map(|i| x[i]).product::<f64>()
}
#[differentiable]
fn i8(x: &[f64]) -> f64 {
    let t = x[0];
    if (0.0..1.0).contains(&t) {
        t * x[1]
    } else if (1.0..=2.0).contains(&t) {
        t - x[1]
    } else {
        0.0
    }
}
#[differentiable]
fn i9(x: &[f64]) -> f64 {
    std::iter::successors(Some(x[0]), |v| Some(v * 0.5 + 0.1)).take(5).sum::<f64>()
}
#[differentiable]
fn i11(x: &[f64]) -> f64 {
    x.first().zip(x.last()).map_or(0.0, |(a, b)| a * b)
}
#[differentiable]
fn i14(x: &[f64]) -> Option<f64> {
    let mut it = x.iter();
    let first = *it.next()?;
    let second = it.next().copied().unwrap_or(1.0);
    Some(first * second + it.map(|v| v * v).sum::<f64>())
}
#[differentiable]
fn i14b(x: &[f64]) -> f64 {
    i14(x).unwrap_or(-1.0)
}
#[differentiable]
fn i17(x: &[f64]) -> f64 {
    match (x[0] > 0.0, x[1] > 0.0, x.len()) {
        (true, true, 2) => x[0] * x[1],
        (true, false, _) | (false, true, _) => x[0] - x[1],
        (_, _, n) => n as f64 * x[0],
    }
}
const fn scale_of(n: usize) -> f64 {
    n as f64 * 0.5
}
const SCALE: f64 = scale_of(3);
#[inline]
#[must_use]
#[differentiable]
pub fn i18(x: &[f64]) -> f64 {
    SCALE * x.iter().map(|v| v.abs()).sum::<f64>()
}
#[differentiable]
fn i20(x: &[f64]) -> f64 {
    x.iter().copied().map(f64::abs).map(f64::sqrt).sum::<f64>()
}
#[differentiable]
fn i23(x: &[f64]) -> f64 {
    let part = &x[1..][..2];
    let more = &x[0..=1];
    let some = x.get(1..3).map_or(0.25, |p| p.iter().sum::<f64>())
        + if let Some(p) = x.get(2..=3) { p[0] * p[1] } else { 0.5 };
    part[0] * more[1] + part.iter().sum::<f64>() + some
}
#[differentiable]
fn i24(x: &[f64]) -> f64 {
    let mut s = 0.0;
    for w in x.windows(2) {
        let [a, b] = w else { continue };
        if a < b {
            s += b - a * a;
        }
    }
    s
}
#[differentiable]
fn i27(x: &[f64]) -> f64 {
    let mut best = (f64::INFINITY, 0);
    for (i, &v) in x.iter().enumerate() {
        if v < best.0 {
            best = (v, i);
        }
    }
    best.0 * (best.1 as f64 + 1.0)
}
#[differentiable]
fn i28(x: &[f64]) -> f64 {
    x.iter().enumerate().filter(|(i, _)| i % 2 == 0).map(|(_, v)| v * v).sum::<f64>()
        + x.iter()
            .enumerate()
            .filter(|&(i, v)| i > 0 && *v > 0.0)
            .map(|(i, v)| v * i as f64)
            .sum::<f64>()
}
#[differentiable]
fn i30(x: &[f64]) -> f64 {
    x.iter().fold(None, |m: Option<f64>, &v| Some(m.map_or(v, |m| m.max(v)))).unwrap_or(0.0)
}
#[differentiable]
fn i32_(x: &[f64]) -> f64 {
    let (lo, hi) = x.iter().fold((f64::MAX, f64::MIN), |(lo, hi), v| (lo.min(*v), hi.max(*v)));
    hi * hi - lo
}
#[differentiable]
fn i33(x: &[f64]) -> f64 {
    let mut v = x.to_vec();
    v.sort_by(|a, b| b.partial_cmp(a).unwrap_or(std::cmp::Ordering::Equal));
    v.dedup();
    v.iter().zip(v.iter().skip(1)).map(|(a, b)| (a - b) * a).sum::<f64>()
}
#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct V3 {
    x: f64,
    y: f64,
    z: f64,
}
#[differentiable]
impl From<[f64; 3]> for V3 {
    fn from(a: [f64; 3]) -> V3 {
        V3 { x: a[0], y: a[1], z: a[2] }
    }
}
#[differentiable]
impl V3 {
    fn norm(&self) -> f64 {
        (self.x * self.x + self.y * self.y + self.z * self.z).sqrt()
    }
    fn mapped(self, f: impl Fn(f64) -> f64) -> V3 {
        V3 { x: f(self.x), y: f(self.y), z: f(self.z) }
    }
}
#[differentiable]
fn i34(x: &[f64]) -> f64 {
    let all: Vec<V3> = x.chunks_exact(3).map(|c| V3::from([c[0], c[1], c[2]])).collect();
    all.iter().map(V3::norm).sum::<f64>()
        + all.iter().map(|v| v.mapped(|t| t * t).norm()).sum::<f64>()
}
#[differentiable]
fn i35(x: &[f64]) -> f64 {
    let n = x.len();
    let mut grid = vec![[0.0; 2]; n];
    for (row, v) in grid.iter_mut().zip(x) {
        *row = [*v, v * v];
        row[1] += 1.0;
    }
    grid.swap(0, n - 1);
    grid.iter().flatten().sum::<f64>()
        + grid.concat().iter().rev().take(3).map(|v| v * v).sum::<f64>()
}
#[differentiable]
fn i36(x: &[f64]) -> f64 {
    let total: f64 = x.iter().sum();
    let cumulative: Vec<f64> = x
        .iter()
        .scan(0.0, |acc, &v| {
            *acc += v;
            Some(*acc / total)
        })
        .collect();
    let median = cumulative.iter().position(|&c| c >= 0.5).unwrap();
    x[median] + cumulative[median]
}
#[differentiable]
fn i37(x: &[f64]) -> f64 {
    let mut memo = [0.0; 8];
    memo[0] = x[0];
    memo[1] = x[1];
    for k in 2..memo.len() {
        memo[k] = memo[k - 1].mul_add(0.5, memo[k - 2]);
        if memo[k].is_nan() || memo[k] > 1e6 {
            return f64::NAN;
        }
    }
    memo.iter().enumerate().map(|(k, m)| if k & 1 == 0 { *m } else { -m }).sum()
}
#[differentiable]
fn i38(x: &[f64]) -> f64 {
    let x: Vec<_> = x.iter().map(|v| v + 1.0).collect();
    let y = x.iter().map(|v| v.powi(2)).collect::<Vec<_>>();
    let z: Vec<f64> = x.into_iter().zip(y).map(|(a, b)| a * b).collect();
    z.iter().min_by(|a, b| a.total_cmp(b)).copied().unwrap_or_default() + z.len() as f64
}
#[differentiable]
fn i39(x: &[f64]) -> f64 {
    let sign = |v: f64| -> i32 {
        if v > 0.0 {
            1
        } else if v < 0.0 {
            -1
        } else {
            0
        }
    };
    let flips = x.windows(2).filter(|w| sign(w[0]) * sign(w[1]) < 0).count();
    x.iter().map(|&v| f64::from(sign(v)) * v * v).sum::<f64>() * flips as f64
}
#[differentiable]
fn i40(x: &[f64]) -> f64 {
    let mut out = Vec::with_capacity(x.len());
    for (i, &v) in x.iter().enumerate() {
        out.push(match i {
            0 => v,
            i if i == x.len() - 1 => v * v,
            _ => 0.5 * (x[i - 1] + x[i + 1]) * v,
        });
    }
    out.iter().rev().skip(1).chain(x.iter().take(1)).product::<f64>()
}
#[differentiable]
fn without_near_ones(x: &[f64]) -> f64 {
    let mut v = x.to_vec();
    v.sort_by(|a, b| a.total_cmp(b));
    v.dedup_by(|a, b| (*a - *b).abs() < 0.2);
    let mut tens = x.to_vec();
    tens.dedup_by_key(|v| v.floor());
    v.iter().product::<f64>() + tens.iter().enumerate().map(|(i, t)| t * i as f64).sum::<f64>()
}
#[differentiable]
fn by_two_orders(x: &[f64]) -> f64 {
    let mut all: Vec<(f64, f64)> = x.windows(2).map(|w| (w[0].floor(), w[1])).collect();
    all.sort_by(|a, b| b.0.partial_cmp(&a.0).unwrap().then_with(|| a.1.total_cmp(&b.1)));
    let mut at: Vec<usize> = (0..x.len()).collect();
    at.sort_by(|&i, &k| (i % 2).cmp(&(k % 2)).then(x[k].total_cmp(&x[i])));
    let first = all.iter().enumerate().map(|(i, p)| (i + 1) as f64 * p.1).sum::<f64>();
    first + at.iter().enumerate().map(|(i, &k)| (i * i) as f64 * x[k]).sum::<f64>()
}
#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct Mote {
    at: (f64, f64),
    age: f64,
}
/// Patterns that take places apart.
#[differentiable]
fn parts_of_places(x: &[f64]) -> f64 {
    let mut pairs: Vec<(f64, f64)> = x.iter().map(|v| (*v, 1.0)).collect();
    for (a, b) in pairs.iter_mut() {
        *a += 0.5 * *b;
        *b = *a * *a;
    }
    let mut sum = 0.0;
    for &mut (a, b) in &mut pairs {
        sum += a * b;
    }
    let mut motes: Vec<Mote> = x.iter().map(|v| Mote { at: (*v, 0.0), age: 0.0 }).collect();
    for Mote { at: (east, north), age } in motes.iter_mut() {
        *north += *east * *east;
        *east -= 0.1 * *north;
        *age += 1.0;
    }
    motes.iter_mut().zip(&pairs).for_each(|(Mote { age, .. }, (_, b))| *age *= b);
    let smooth: Vec<f64> = x
        .iter()
        .scan((0.0, 1.0), |(mean, weight), v| {
            *mean += (v - *mean) * *weight;
            *weight *= 0.5;
            Some(*mean * *weight)
        })
        .collect();
    motes.iter().map(|m| m.at.0 * m.at.1 * m.age).sum::<f64>() + smooth.iter().sum::<f64>() + sum
}
#[differentiable]
fn both_of_a_split(x: &[f64]) -> f64 {
    let parts = match x.split_last() {
        Some(parts) => parts,
        None => return -1.0,
    };
    let (first, rest) = match rest_of(parts.1) {
        [] => return *parts.0,
        [first, rest @ ..] => (first, rest),
    };
    let turn = |v: f64| -> [f64; 2] {
        let half = 0.5 * v;
        std::array::from_fn(|k| half * (k + 1) as f64)
    };
    turn(*first)[1] * parts.0 + rest.iter().map(|v| turn(*v)[0]).sum::<f64>()
}
#[differentiable]
fn rest_of(x: &[f64]) -> &[f64] {
    &x[x.len().min(1)..]
}
#[test]
fn idioms() {
    everywhere! {
        i1 at [1.5, 2.0, 3.0, 4.0], [1.0];
        i3 at [1.5, 2.0, -3.0];
        i4 at [1.5, 2.0, -3.0, 1.0, 0.5];
        i5 at [1.5, 2.0, -3.0, 1.0, 0.5];
        i8 at [0.5, 2.0], [1.5, 2.0], [3.5, 2.0];
        i9 at [0.5];
        i11 at [0.5, 1.0, 2.0], [0.5], [];
        i14b at [0.5, 1.0, 2.0], [0.5], [];
        i17 at [0.5, 1.0], [0.5, -1.0, 2.0], [-0.5, -1.0, 2.0];
        i18 at [0.5, -1.0];
        i20 at [0.5, -1.0];
        i23 at [0.5, -1.0, 2.0, 1.0], [0.5, 1.0, 2.0], [1.0];
        i24 at [0.5, -1.0, 2.0, 3.0];
        i27 at [0.5, -1.0, 2.0, 3.0];
        i28 at [0.5, -1.0, 2.0, 3.0];
        i30 at [0.5, -1.0, 2.0, 3.0], [];
        i32_ at [0.5, -1.0, 2.0, 3.0];
        i33 at [0.5, -1.0, 2.0, 3.0];
        i34 at [0.5, -1.0, 2.0, 3.0, 1.0, 0.25];
        i35 at [0.5, -1.0, 2.0];
        i36 at [0.5, 1.0, 2.0, 1.5];
        i37 at [0.5, 1.0];
        i38 at [0.5, 1.0, 0.25];
        i39 at [0.5, -1.0, 0.25];
        i40 at [0.5, -1.0, 0.25, 2.0];
        without_near_ones at [1.05, 2.05, 1.1, 2.15, 2.3, 0.7], [1.5], [];
        by_two_orders at [1.3, 2.5, 1.7, 2.2, 1.9, 0.5, f64::NAN], [1.3, 2.5, 1.7, 2.2, 1.9, 0.5];
        parts_of_places at [0.5, -1.0, 2.0];
        both_of_a_split at [0.5, -1.0, 2.0, 0.7], [0.5, 2.0], [0.5], [];
    }
}
