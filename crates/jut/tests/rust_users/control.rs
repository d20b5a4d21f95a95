//! Enums with data, slice patterns, stacks, labels, closures, modules and integers.

use jut::math::{cos, exp, sin, tanh};
use jut::{Data, differentiable};

#[derive(Data, Clone, Copy, Debug, PartialEq)]
enum Flux {
    Upwind,
    Central,
    Limited { kappa: f64 },
    Blend(f64, f64),
}
#[derive(Data, Clone, Copy, Debug, PartialEq)]
enum Edge {
    Fixed(f64),
    Free,
    Robin { h: f64, t: f64 },
}

#[differentiable]
impl Flux {
    fn face(self, l: f64, r: f64, speed: f64) -> f64 {
        match (self, speed) {
            (Flux::Upwind, s) if s >= 0.0 => s * l,
            (Flux::Upwind, s) => s * r,
            (Flux::Central, s) => 0.5 * s * (l + r),
            (Flux::Limited { kappa }, s) => {
                let phi = match r / l {
                    q if q.is_nan() => 0.0,
                    q if q < 0.0 => 0.0,
                    q @ 0.0..=1.0 => q,
                    q => q.min(kappa),
                };
                s * (l + 0.5 * phi * (r - l))
            }
            (Flux::Blend(a, b), s) => s * (a * l + b * r),
        }
    }
}
#[differentiable]
fn advect(u: &[f64], kind: Flux, edges: (Edge, Edge), out: &mut [f64]) {
    let n = u.len();
    for (i, o) in out.iter_mut().enumerate() {
        let left = if i == 0 {
            match edges.0 {
                Edge::Fixed(v) => v,
                Edge::Free => u[0],
                Edge::Robin { h, t } => u[0] + h * (t - u[0]),
            }
        } else {
            u[i - 1]
        };
        let right = match (i + 1 == n, edges.1) {
            (false, _) => u[i + 1],
            (true, Edge::Fixed(v)) => v,
            (true, Edge::Free) => u[i],
            (true, Edge::Robin { h, t }) => u[i] + h * (t - u[i]),
        };
        *o = u[i] - 0.1 * (kind.face(u[i], right, 1.0) - kind.face(left, u[i], 1.0));
    }
}
#[differentiable]
fn advection(x: &[f64]) -> f64 {
    let (u, p) = x.split_at(x.len() - 2);
    let mut now = u.to_vec();
    let mut next = vec![0.0; now.len()];
    for kind in
        [Flux::Upwind, Flux::Limited { kappa: p[0] }, Flux::Blend(p[1], 1.0 - p[1]), Flux::Central]
    {
        advect(&now, kind, (Edge::Fixed(p[0]), Edge::Robin { h: p[1], t: 1.0 }), &mut next);
        std::mem::swap(&mut now, &mut next);
    }
    now.iter().map(|v| v * v).sum()
}

// slice patterns and recursion
#[differentiable]
fn pairwise(x: &[f64]) -> f64 {
    match x {
        [] => 0.0,
        [one] => *one,
        [a, b] => a + b,
        [first, middle @ .., last] => first * last + pairwise(middle),
    }
}
#[differentiable]
fn patterned(x: &[f64]) -> f64 {
    let base = pairwise(x);
    let [a, b, ..] = x else { return base };
    let &[.., z] = x else { return 0.0 };
    base + a * b * z
}

// split_at_mut, swap, rows
#[differentiable]
fn pivoted(x: &[f64]) -> f64 {
    const N: usize = 3;
    let mut a = [[0.0; N]; N];
    for (i, row) in a.iter_mut().enumerate() {
        for (j, v) in row.iter_mut().enumerate() {
            *v = x[i * N + j];
        }
    }
    let mut sign = 1.0;
    for k in 0..N {
        let p = (k..N).max_by(|&i, &j| a[i][k].abs().total_cmp(&a[j][k].abs())).unwrap();
        if a[p][k] == 0.0 {
            return 0.0;
        }
        if p != k {
            a.swap(p, k);
            sign = -sign;
        }
        let (top, bottom) = a.split_at_mut(k + 1);
        let pivot = &top[k];
        for row in bottom.iter_mut() {
            let f = row[k] / pivot[k];
            for (r, p) in row.iter_mut().zip(pivot.iter()).skip(k) {
                *r -= f * p;
            }
        }
    }
    sign * (0..N).map(|i| a[i][i]).product::<f64>()
}

// a stack machine
#[derive(Data, Clone, Copy, Debug, PartialEq)]
enum Op {
    Push(f64),
    Load(usize),
    Add,
    Mul,
    Neg,
    Dup,
    Swap,
    Jump { back: usize, below: f64 },
}
#[differentiable]
fn machine(code: &[Op], x: &[f64]) -> f64 {
    let mut stack: Vec<f64> = vec![];
    let mut pc = 0;
    let mut fuel = 100_u32;
    while pc < code.len() {
        assert!(fuel > 0, "the program does not end");
        fuel -= 1;
        match code[pc] {
            Op::Push(v) => stack.push(v),
            Op::Load(i) => stack.push(x[i]),
            op @ (Op::Add | Op::Mul) => {
                let b = stack.pop().unwrap();
                let a = stack.pop().expect("two");
                stack.push(if op == Op::Add { a + b } else { a * b });
            }
            Op::Neg => {
                if let Some(top) = stack.last_mut() {
                    *top = -*top
                }
            }
            Op::Dup => {
                let t = *stack.last().unwrap();
                stack.push(t)
            }
            Op::Swap => {
                let n = stack.len();
                stack.swap(n - 1, n - 2)
            }
            Op::Jump { back, below } => {
                if stack[stack.len() - 1] < below {
                    pc -= back;
                    continue;
                }
            }
        }
        pc += 1;
    }
    stack.pop().unwrap_or_default()
}
#[differentiable]
fn ran(x: &[f64]) -> f64 {
    let code = [
        Op::Load(0),
        Op::Push(1.5),
        Op::Mul,
        Op::Load(1),
        Op::Add,
        Op::Jump { back: 4, below: 20.0 },
        Op::Dup,
        Op::Mul,
        Op::Neg,
    ];
    machine(&code, x)
}

// labels, while let with a stack of ranges (adaptive Simpson without recursion)
#[differentiable]
fn simpson(x: &[f64]) -> f64 {
    let (a, b, w) = (x[0], x[1], x[2]);
    let f = |t: f64| sin(w * t) * exp(-t);
    let rule = |l: f64, r: f64| (r - l) / 6.0 * (f(l) + 4.0 * f(0.5 * (l + r)) + f(r));
    let mut todo = vec![(a, b, 0_usize)];
    let mut total = 0.0;
    'work: while let Some((l, r, depth)) = todo.pop() {
        let m = 0.5 * (l + r);
        let (whole, halves) = (rule(l, r), rule(l, m) + rule(m, r));
        if depth < 6 && (whole - halves).abs() > 1e-6 {
            todo.push((l, m, depth + 1));
            todo.push((m, r, depth + 1));
            continue 'work;
        }
        total += halves + (halves - whole) / 15.0;
    }
    total
}

// closures that mutate, returned in tuples
#[differentiable]
fn closures(x: &[f64]) -> f64 {
    let mut evals = 0;
    let mut f = |t: f64| {
        evals += 1;
        t * t * x[0] - cos(t)
    };
    let (mut lo, mut hi) = (0.0, 2.0);
    let (mut flo, fhi) = (f(lo), f(hi));
    if flo * fhi > 0.0 {
        return x[0];
    }
    for _ in 0..4 {
        let mid = lo + (hi - lo) * 0.4;
        let fm = f(mid);
        if flo * fm <= 0.0 {
            hi = mid
        } else {
            lo = mid;
            flo = fm
        }
    }
    let (sq, add) = (|v: f64| v * v, |a: f64, b: f64| a + b * x[1]);
    add(sq(lo + x[0]), hi * x[1]) + evals as f64
}

// &dyn Fn, function tables, consts, statics, nested functions and modules
const GAUSS: [(f64, f64); 3] = [
    (-0.7745966692414834, 0.5555555555555556),
    (0.0, 0.8888888888888888),
    (0.7745966692414834, 0.5555555555555556),
];
static DAMPING: f64 = 0.25;
mod physics {
    pub const G: f64 = 9.81;
    pub mod inner {
        #[jut::differentiable]
        pub fn drag(v: f64) -> f64 {
            -super::G * 0.01 * v * v.abs()
        }
    }
}
#[differentiable]
fn integrate(f: &dyn Fn(f64) -> f64, a: f64, b: f64) -> f64 {
    let (h, c) = (0.5 * (b - a), 0.5 * (a + b));
    GAUSS.iter().map(|&(x, w)| w * f(c + h * x)).sum::<f64>() * h
}
#[differentiable]
fn dynamic(x: &[f64]) -> f64 {
    fn bump(t: f64, k: f64) -> f64 {
        exp(-k * t * t)
    }
    let k = x[1];
    let g = |t: f64| bump(t, k) * DAMPING;
    let f: &dyn Fn(f64) -> f64 = &g;
    integrate(&g, 0.0, x[0])
        + integrate(&|t| tanh(t * k), -x[0], 1.0)
        + physics::inner::drag(x[0])
        + f(0.3)
}

// integers: Collatz, u64, i64, u32, bits
#[differentiable]
fn lcg(x: &[f64]) -> f64 {
    let mut state: u64 = 42;
    let mut acc = 0.0;
    for &v in x {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let u = (state >> 11) as f64 / (1u64 << 53) as f64;
        acc += v * (u - 0.5);
    }
    acc * acc
}
#[differentiable]
fn lcg32(x: &[f64]) -> f64 {
    let mut state: u32 = 12345;
    let mut acc = 0.0;
    for (i, &v) in x.iter().enumerate() {
        state = state.wrapping_mul(1664525).wrapping_add(1013904223);
        let u = f64::from(state >> 8) / f64::from(1u32 << 24);
        let k = (state as usize ^ i) % x.len();
        acc += v * u + x[k];
    }
    acc * acc
}
#[differentiable]
fn binomial(x: &[f64]) -> f64 {
    fn choose(n: u64, k: u64) -> u64 {
        if k > n {
            return 0;
        }
        (0..k).fold(1, |c, i| c * (n - i) / (i + 1))
    }
    let n = x.len() as u64;
    let t = x[0];
    x.iter()
        .enumerate()
        .map(|(i, b)| {
            choose(n - 1, i as u64) as f64
                * t.powi(i as i32)
                * (1.0 - t).powi((n - 1) as i32 - i as i32)
                * b
        })
        .sum()
}
#[differentiable]
fn single(x: &[f64]) -> f64 {
    let w: Vec<f32> = x.iter().map(|&v| v as f32).collect();
    let s: f32 = w.iter().map(|v| v * v).sum();
    let m = w.iter().copied().fold(f32::MIN, f32::max);
    let n = w.len() as f32;
    f64::from(s / n) + (m * 2.0f32) as f64
}

#[test]
fn they_are_as_the_plain_calls_on_every_engine() {
    everywhere! {
        advection at [0.3, 1.3, 0.9, 1.1, 2.1, 0.7, 0.6], [0.3, 0.2], [];
        patterned at [0.3, 1.3, 0.9, 1.1, 2.1, 0.7, 0.6], [0.3, 0.2], [], [1.0];
        pivoted at [0.3, 1.3, 0.9, 1.1, 2.1, 0.7, 0.6, 0.2, -0.4], [0.3, 0.2];
        ran at [0.3, 1.3], [0.3], [-3.0, 0.0];
        simpson at [0.3, 1.3, 3.0], [0.3];
        closures at [0.3, 1.3, 3.0], [0.3, 0.1], [-0.4, 0.1];
        dynamic at [0.3, 1.3], [0.1];
        lcg32 at [0.3, 1.3, 0.2], [];
        binomial at [0.3, 1.3, 0.2, 0.7, 0.1], [];
    }
}
