//! Equations in space and time: grids in levels, limited fluxes, beams and triangles, and searches without slopes.

use jut::math::{cos, exp, sin};
use jut::{Data, differentiable};

// A cycle of several grids for Poisson's equation.
#[differentiable]
fn smooth(u: &mut [f64], f: &[f64], h: f64, sweeps: usize) {
    let n = u.len();
    for _ in 0..sweeps {
        for colour in [1, 0] {
            for i in (1 + colour..n - 1).step_by(2) {
                u[i] = 0.5 * (u[i - 1] + u[i + 1] + h * h * f[i]);
            }
        }
    }
}

#[differentiable]
fn v_cycle(u: &mut Vec<f64>, f: &[f64], h: f64) {
    let n = u.len();
    if n <= 3 {
        u[1] = 0.5 * (u[0] + u[2] + h * h * f[1]);
        return;
    }
    smooth(u, f, h, 2);
    let residual: Vec<f64> = (0..n)
        .map(|i| match i {
            0 => 0.0,
            i if i == n - 1 => 0.0,
            _ => f[i] + (u[i - 1] - 2.0 * u[i] + u[i + 1]) / (h * h),
        })
        .collect();
    let coarse_f: Vec<f64> = (0..n / 2 + 1)
        .map(|i| {
            if i == 0 || i == n / 2 {
                0.0
            } else {
                0.25 * residual[2 * i - 1] + 0.5 * residual[2 * i] + 0.25 * residual[2 * i + 1]
            }
        })
        .collect();
    let mut e = vec![0.0; coarse_f.len()];
    v_cycle(&mut e, &coarse_f, 2.0 * h);
    for (i, w) in e.windows(2).enumerate() {
        u[2 * i] += w[0];
        u[2 * i + 1] += 0.5 * (w[0] + w[1]);
    }
    smooth(u, f, h, 1);
}

#[differentiable]
fn multigrid(x: &[f64]) -> f64 {
    let n = 9;
    let h = 1.0 / (n - 1) as f64;
    let f: Vec<f64> = (0..n).map(|i| x[i % x.len()] * (1.0 + i as f64 * h)).collect();
    let mut u = vec![0.0; n];
    u[n - 1] = x[0];
    for _ in 0..2 {
        v_cycle(&mut u, &f, h);
    }
    u.iter().map(|v| v * v).sum::<f64>().sqrt() + u[n / 2]
}

/// Alternating directions: half a step along rows, half along columns.
#[differentiable]
fn alternating_directions(x: &[f64]) -> f64 {
    const N: usize = 4;
    type Field = [[f64; N]; N];
    fn tridiagonal(rhs: [f64; N], r: f64) -> [f64; N] {
        let (mut c, mut d) = ([0.0; N], rhs);
        c[0] = -r / (1.0 + 2.0 * r);
        d[0] /= 1.0 + 2.0 * r;
        for i in 1..N {
            let m = 1.0 + 2.0 * r + r * c[i - 1];
            c[i] = -r / m;
            d[i] = (d[i] + r * d[i - 1]) / m;
        }
        for i in (0..N - 1).rev() {
            d[i] -= c[i] * d[i + 1];
        }
        d
    }
    fn transposed(u: &Field) -> Field {
        let mut t = [[0.0; N]; N];
        for (i, row) in u.iter().enumerate() {
            for (j, v) in row.iter().enumerate() {
                t[j][i] = *v;
            }
        }
        t
    }
    fn half(u: &Field, r: f64) -> Field {
        let get = |i: isize, j: isize| -> f64 {
            if (0..N as isize).contains(&i) && j >= 0 && j < N as isize {
                u[i as usize][j as usize]
            } else {
                0.0
            }
        };
        let mut next = [[0.0; N]; N];
        for i in 0..N {
            let (si, mut rhs) = (i as isize, [0.0; N]);
            for (j, v) in rhs.iter_mut().enumerate() {
                let sj = j as isize;
                *v = get(si, sj) + r * (get(si - 1, sj) - 2.0 * get(si, sj) + get(si + 1, sj));
            }
            next[i] = tridiagonal(rhs, r);
        }
        next
    }
    let r = 0.5 * x[0];
    let mut u: Field = [[0.0; N]; N];
    u[1][2] = x[1];
    u[3] = [x[2], 0.5, x[2], -0.2];
    for _step in 0..2 {
        u = half(&u, r);
        u = transposed(&half(&transposed(&u), r));
    }
    u.iter().flatten().zip((0..).map(|k| 1.0 + 0.1 * k as f64)).map(|(v, w)| w * v).sum()
}

#[derive(Data, Clone, Copy, Debug, PartialEq, Eq)]
enum Limiter {
    None,
    Minmod,
    VanLeer,
    Superbee,
}

#[differentiable]
impl Limiter {
    const ALL: [Limiter; 4] = [Limiter::None, Limiter::Minmod, Limiter::VanLeer, Limiter::Superbee];
    fn phi(self, r: f64) -> f64 {
        match self {
            Self::None => 1.0,
            Self::Minmod => r.min(1.0).max(0.0),
            Self::VanLeer => (r + r.abs()) / (1.0 + r.abs()),
            Self::Superbee => {
                [0.0, (2.0 * r).min(1.0), r.min(2.0)].into_iter().fold(f64::NEG_INFINITY, f64::max)
            }
        }
    }
}

/// Advection around a ring, limited in four ways.
#[differentiable]
fn limited_advection(x: &[f64]) -> f64 {
    let run = |limiter: Limiter, cfl: f64| -> Vec<f64> {
        let mut u = x[1..].to_vec();
        let n = u.len();
        let at = |u: &[f64], i: i64| u[i.rem_euclid(n as i64) as usize];
        for _ in 0..3 {
            let flux: Vec<f64> = (0..n as i64)
                .map(|i| {
                    let (l, c, r) = (at(&u, i - 1), at(&u, i), at(&u, i + 1));
                    let ratio = if (r - c).abs() > 1e-10 { (c - l) / (r - c) } else { 0.0 };
                    c + 0.5 * limiter.phi(ratio) * (1.0 - cfl) * (r - c)
                })
                .collect();
            for i in 0..n {
                let left = flux[(i + n - 1) % n];
                u[i] -= cfl * (flux[i] - left);
            }
        }
        u
    };
    Limiter::ALL
        .iter()
        .enumerate()
        .map(|(k, &l)| {
            let u = run(l, 0.3 + 0.1 * x[0]);
            (k + 1) as f64 * u.iter().enumerate().map(|(i, v)| v * v * i as f64).sum::<f64>()
        })
        .sum()
}

/// A dam that breaks, by fluxes of Rusanov; a dry cell is an error.
#[differentiable]
fn dam_break(x: &[f64]) -> f64 {
    const G: f64 = 9.81;
    #[allow(non_snake_case)]
    fn flux((h, hu): (f64, f64)) -> (f64, f64) {
        (hu, hu * hu / h + 0.5 * G * h * h)
    }
    fn rusanov(l: (f64, f64), r: (f64, f64)) -> (f64, f64) {
        let speed = |(h, hu): (f64, f64)| (hu / h).abs() + (G * h).sqrt();
        let a = speed(l).max(speed(r));
        let (fl, fr) = (flux(l), flux(r));
        (0.5 * (fl.0 + fr.0 - a * (r.0 - l.0)), 0.5 * (fl.1 + fr.1 - a * (r.1 - l.1)))
    }
    let mut cells: Vec<(f64, f64)> =
        (0..6).map(|i| (if i < 3 { x[0] } else { x[1] }, 0.0)).collect();
    let (dx, mut t) = (0.5, 0.0);
    while t < 0.15 {
        let fastest = cells
            .iter()
            .map(|&(h, hu)| {
                assert!(h > 0.0, "a cell is dry");
                (hu / h).abs() + (G * h).sqrt()
            })
            .fold(0.0_f64, |a, b| a.max(b));
        let dt = (0.4 * dx / fastest).min(0.15 - t);
        let faces: Vec<_> = cells.windows(2).map(|w| rusanov(w[0], w[1])).collect();
        for (i, cell) in cells.iter_mut().enumerate().skip(1).take(4) {
            cell.0 -= dt / dx * (faces[i].0 - faces[i - 1].0);
            cell.1 -= dt / dx * (faces[i].1 - faces[i - 1].1);
        }
        t += dt;
    }
    cells.iter().map(|(h, hu)| 0.5 * hu * hu / h + 0.5 * G * h * h).sum::<f64>() * dx
}

#[derive(Data, Clone, Debug, PartialEq)]
struct Beam {
    stiffness: Vec<f64>,
    length: f64,
    load: f64,
}

#[differentiable]
impl Beam {
    fn element(&self, e: usize) -> [[f64; 4]; 4] {
        let l = self.length / self.stiffness.len() as f64;
        let k = self.stiffness[e] / l.powi(3);
        let raw = [
            [12.0, 6.0 * l, -12.0, 6.0 * l],
            [6.0 * l, 4.0 * l * l, -6.0 * l, 2.0 * l * l],
            [-12.0, -6.0 * l, 12.0, -6.0 * l],
            [6.0 * l, 2.0 * l * l, -6.0 * l, 4.0 * l * l],
        ];
        raw.map(|row| row.map(|v| v * k))
    }
    /// Deflection and slope of the free end of a cantilever.
    fn deflect(&self) -> (f64, f64) {
        let n = 2 * self.stiffness.len();
        let mut k = vec![vec![0.0; n]; n];
        let mut f = vec![0.0; n];
        for e in 0..self.stiffness.len() {
            let ke = self.element(e);
            for (a, row) in ke.iter().enumerate() {
                // The two degrees of freedom at the wall are gone.
                let Some(i) = (2 * e + a).checked_sub(2) else { continue };
                for (b, v) in row.iter().enumerate() {
                    if let Some(j) = (2 * e + b).checked_sub(2) {
                        k[i][j] += v;
                    }
                }
            }
        }
        f[n - 2] = self.load;
        for p in 0..n {
            for i in p + 1..n {
                let m = k[i][p] / k[p][p];
                for j in p..n {
                    k[i][j] -= m * k[p][j];
                }
                f[i] -= m * f[p];
            }
        }
        for i in (0..n).rev() {
            let known: f64 = (i + 1..n).map(|j| k[i][j] * f[j]).sum();
            f[i] = (f[i] - known) / k[i][i];
        }
        (f[n - 2], f[n - 1])
    }
}

#[differentiable]
fn cantilever(x: &[f64]) -> f64 {
    let beam = Beam { stiffness: x[2..].to_vec(), length: x[0], load: x[1] };
    let (w, theta) = beam.deflect();
    w + 0.5 * theta
}

/// Heat in a square of triangles: assembly by a list of elements, then sweeps of Gauss and Seidel.
#[differentiable]
fn heat_in_triangles(x: &[f64]) -> f64 {
    let nodes: [(f64, f64); 5] = [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0), (x[0], x[1])];
    static ELEMENTS: [[usize; 3]; 4] = [[0, 1, 4], [1, 2, 4], [2, 3, 4], [3, 0, 4]];
    let mut k = [[0.0; 5]; 5];
    let mut f = [0.0; 5];
    for (conductivity, element) in [x[2], x[2], 1.0, 1.0].into_iter().zip(ELEMENTS.iter()) {
        let [(xa, ya), (xb, yb), (xc, yc)] = element.map(|n| nodes[n]);
        let twice = (xb - xa) * (yc - ya) - (xc - xa) * (yb - ya);
        assert!(twice > 0.0, "a triangle is turned over");
        let b = [yb - yc, yc - ya, ya - yb];
        let c = [xc - xb, xa - xc, xb - xa];
        for (i, &gi) in element.iter().enumerate() {
            f[gi] += twice / 6.0;
            for (j, &gj) in element.iter().enumerate() {
                k[gi][gj] += conductivity * (b[i] * b[j] + c[i] * c[j]) / (2.0 * twice);
            }
        }
    }
    let mut u = [0.0; 5];
    let fixed = [0usize, 1];
    for _ in 0..12 {
        for i in (0..5).filter(|i| !fixed.contains(i)) {
            let off: f64 = (0..5).filter(|&j| j != i).map(|j| k[i][j] * u[j]).sum();
            u[i] = (f[i] - off) / k[i][i];
        }
    }
    u.iter().sum()
}

/// Some steps of Nelder and Mead from a triangle that is given.
#[differentiable]
fn nelder_mead(x: &[f64]) -> f64 {
    let f = |p: &[f64; 2]| {
        (1.0 - p[0]).powi(2) + 5.0 * (p[1] - p[0] * p[0]).powi(2) + 0.1 * sin(x[0] * p[1])
    };
    let mut simplex: Vec<([f64; 2], f64)> = Vec::with_capacity(3);
    for start in [[x[0], x[1]], [x[0] + 0.5, x[1]], [x[0], x[1] + 0.7]] {
        simplex.push((start, f(&start)));
    }
    for _ in 0..7 {
        simplex.sort_by(|a, b| a.1.partial_cmp(&b.1).unwrap());
        let (worst, f_worst) = simplex[2];
        let mid =
            [(simplex[0].0[0] + simplex[1].0[0]) / 2.0, (simplex[0].0[1] + simplex[1].0[1]) / 2.0];
        let along = |t: f64| [mid[0] + t * (mid[0] - worst[0]), mid[1] + t * (mid[1] - worst[1])];
        let reflected = along(1.0);
        let fr = f(&reflected);
        let replacement = if fr < simplex[0].1 {
            let expanded = along(2.0);
            let fe = f(&expanded);
            Some(if fe < fr { (expanded, fe) } else { (reflected, fr) })
        } else if fr < simplex[1].1 {
            Some((reflected, fr))
        } else {
            let inside = along(if fr < f_worst { 0.5 } else { -0.5 });
            let fi = f(&inside);
            (fi < fr.min(f_worst)).then_some((inside, fi))
        };
        match replacement {
            Some(vertex) => simplex[2] = vertex,
            None => {
                let best = simplex[0].0;
                for (p, value) in simplex.iter_mut().skip(1) {
                    *p = [0.5 * (p[0] + best[0]), 0.5 * (p[1] + best[1])];
                    *value = f(p);
                }
            }
        }
    }
    simplex.iter().map(|(p, v)| v + 0.01 * p[0]).fold(f64::INFINITY, f64::min)
}

/// Simpson's rule where it is not yet good enough, by a stack of intervals.
#[differentiable]
fn adaptive_simpson(x: &[f64]) -> f64 {
    let f = |t: f64| exp(-x[0] * t) * cos(x[1] * t * t);
    let rule = |a: f64, fa: f64, b: f64, fb: f64| -> (f64, f64, f64) {
        let m = 0.5 * (a + b);
        let fm = f(m);
        (m, fm, (b - a) / 6.0 * (fa + 4.0 * fm + fb))
    };
    let (a, b) = (0.0, x[2]);
    let (fa, fb) = (f(a), f(b));
    let (m, fm, whole) = rule(a, fa, b, fb);
    let mut stack = vec![(a, fa, m, fm, b, fb, whole, 1e-5, 0u32)];
    let mut total = 0.0;
    while let Some((a, fa, m, fm, b, fb, whole, eps, depth)) = stack.pop() {
        let (lm, flm, left) = rule(a, fa, m, fm);
        let (rm, frm, right) = rule(m, fm, b, fb);
        let delta = left + right - whole;
        if depth >= 12 || delta.abs() <= 15.0 * eps {
            total += left + right + delta / 15.0;
            continue;
        }
        stack.push((a, fa, lm, flm, m, fm, left, eps / 2.0, depth + 1));
        stack.push((m, fm, rm, frm, b, fb, right, eps / 2.0, depth + 1));
    }
    total
}

#[test]
fn grids() {
    everywhere! {
        multigrid at [1.0, -0.5, 0.8];
        alternating_directions at [0.8, 1.0, -0.4];
        limited_advection at [0.5, 1.0, 0.2, -0.3, 0.9, 0.1];
        dam_break at [2.0, 1.0], [1.0, -0.5];
    }
}

#[test]
fn elements_of_beams_and_triangles() {
    everywhere! {
        cantilever at [2.0, 0.5, 3.0, 2.0, 1.0], [2.0, 0.5, 3.0];
        heat_in_triangles at [0.4, 0.6, 2.0], [-0.4, 0.6, 2.0];
    }
}

#[test]
fn searches_and_areas() {
    everywhere! {
        nelder_mead at [-0.5, 1.2], [0.3, 0.4];
        adaptive_simpson at [0.5, 2.0, 1.5];
    }
}
