//! Ports: of Fortran 77 and C with work arrays, flags and breaks, and of arrays as NumPy has them, with many temporaries.

use jut::differentiable;
use jut::math::{cos, exp, log, sin};

// A physicist: Numerical Recipes' LU with implicit pivoting, the work arrays given by the caller.
#[differentiable]
fn ludcmp(a: &mut Vec<Vec<f64>>, n: usize, indx: &mut [usize], d: &mut f64) -> bool {
    let mut vv = vec![0.0; n];
    *d = 1.0;
    for i in 0..n {
        let mut big = 0.0f64;
        for j in 0..n {
            let temp = a[i][j].abs();
            if temp > big {
                big = temp;
            }
        }
        if big == 0.0 {
            return false;
        }
        vv[i] = 1.0 / big;
    }
    for j in 0..n {
        for i in 0..j {
            let mut sum = a[i][j];
            for k in 0..i {
                sum -= a[i][k] * a[k][j];
            }
            a[i][j] = sum;
        }
        let mut big = 0.0;
        let mut imax = j;
        for i in j..n {
            let mut sum = a[i][j];
            for k in 0..j {
                sum -= a[i][k] * a[k][j];
            }
            a[i][j] = sum;
            let dum = vv[i] * sum.abs();
            if dum >= big {
                big = dum;
                imax = i;
            }
        }
        if j != imax {
            for k in 0..n {
                let dum = a[imax][k];
                a[imax][k] = a[j][k];
                a[j][k] = dum;
            }
            *d = -*d;
            vv[imax] = vv[j];
        }
        indx[j] = imax;
        if j != n - 1 {
            let dum = 1.0 / a[j][j];
            for i in (j + 1)..n {
                a[i][j] *= dum;
            }
        }
    }
    true
}

#[differentiable]
fn lubksb(a: &Vec<Vec<f64>>, n: usize, indx: &[usize], b: &mut [f64]) {
    let mut ii: i32 = -1;
    for i in 0..n {
        let ip = indx[i];
        let mut sum = b[ip];
        b[ip] = b[i];
        if ii >= 0 {
            for j in (ii as usize)..i {
                sum -= a[i][j] * b[j];
            }
        } else if sum != 0.0 {
            ii = i as i32;
        }
        b[i] = sum;
    }
    let mut i = n;
    while i > 0 {
        i -= 1;
        let mut sum = b[i];
        for j in i + 1..n {
            sum -= a[i][j] * b[j];
        }
        b[i] = sum / a[i][i];
    }
}

#[differentiable]
fn truss(x: &[f64]) -> f64 {
    let n = 3;
    let mut a: Vec<Vec<f64>> = vec![vec![0.0; n]; n];
    for e in 0..n {
        let k = x[e];
        a[e][e] += k;
        a[(e + 1) % n][(e + 1) % n] += k;
        a[e][(e + 1) % n] -= 0.5 * k;
        a[(e + 1) % n][e] -= 0.25 * k;
    }
    let mut indx = vec![0usize; n];
    let mut d = 0.0;
    if !ludcmp(&mut a, n, &mut indx, &mut d) {
        return f64::NAN;
    }
    let mut b = [1.0, x[3], 0.0];
    lubksb(&a, n, &indx, &mut b);
    let mut det = d;
    for i in 0..n {
        det *= a[i][i];
    }
    b[0] + 2.0 * b[1] - b[2] * b[2] + log(det.abs())
}

// Fortran: a tridiagonal solve in work arrays, a flag of convergence; the enthalpy of a glacier's column.
#[differentiable]
fn tridag(a: &[f64], b: &[f64], c: &[f64], r: &[f64], u: &mut [f64], gam: &mut [f64]) -> i32 {
    let n = b.len();
    let mut bet = b[0];
    if bet == 0.0 {
        return 1;
    }
    u[0] = r[0] / bet;
    for j in 1..n {
        gam[j] = c[j - 1] / bet;
        bet = b[j] - a[j] * gam[j];
        if bet == 0.0 {
            return 2;
        }
        u[j] = (r[j] - a[j] * u[j - 1]) / bet;
    }
    for j in (0..n - 1).rev() {
        u[j] -= gam[j + 1] * u[j + 1];
    }
    0
}

#[differentiable]
fn glacier(x: &[f64]) -> f64 {
    const NZ: usize = 6;
    let (mut lo, mut di, mut up) = ([0.0; NZ], [0.0; NZ], [0.0; NZ]);
    let (mut rhs, mut t, mut wk) = ([0.0; NZ], [x[0]; NZ], [0.0; NZ]);
    let mut iter = 0;
    let mut ierr;
    loop {
        let told = t;
        for k in 0..NZ {
            let cond = 2.1 * exp(-0.01 * told[k]);
            if k == 0 || k == NZ - 1 {
                lo[k] = 0.0;
                up[k] = 0.0;
                di[k] = 1.0;
                rhs[k] = if k == 0 { x[0] } else { x[1] };
                continue;
            }
            lo[k] = -cond;
            up[k] = -cond;
            di[k] = 1.0 + 2.0 * cond;
            rhs[k] = told[k] + x[2];
        }
        ierr = tridag(&lo, &di, &up, &rhs, &mut t, &mut wk);
        if ierr != 0 {
            break;
        }
        iter += 1;
        if iter >= 8 {
            break;
        }
    }
    if ierr != 0 {
        return -999.0;
    }
    let mut s = 0.0;
    for k in 0..NZ {
        s += t[k] * (k as f64 + 1.0);
    }
    s
}

// C: Brent's method inside of a function, with all the state variables that the text has.
#[differentiable]
fn kepler_residual(e: f64, m: f64, ecc: f64) -> f64 {
    e - ecc * sin(e) - m
}

#[differentiable]
fn zbrent(x1: f64, x2: f64, m: f64, ecc: f64, tol: f64) -> f64 {
    let (mut a, mut b, mut c) = (x1, x2, x2);
    let (mut d, mut e) = (0.0, 0.0);
    let mut fa = kepler_residual(a, m, ecc);
    let mut fb = kepler_residual(b, m, ecc);
    let mut fc = fb;
    for _iter in 1..=60 {
        if (fb > 0.0 && fc > 0.0) || (fb < 0.0 && fc < 0.0) {
            c = a;
            fc = fa;
            d = b - a;
            e = d;
        }
        if fc.abs() < fb.abs() {
            a = b;
            b = c;
            c = a;
            fa = fb;
            fb = fc;
            fc = fa;
        }
        let tol1 = 2.0 * 1e-16 * b.abs() + 0.5 * tol;
        let xm = 0.5 * (c - b);
        if xm.abs() <= tol1 || fb == 0.0 {
            return b;
        }
        if e.abs() >= tol1 && fa.abs() > fb.abs() {
            let s = fb / fa;
            let (mut p, mut q);
            if a == c {
                p = 2.0 * xm * s;
                q = 1.0 - s;
            } else {
                q = fa / fc;
                let r = fb / fc;
                p = s * (2.0 * xm * q * (q - r) - (b - a) * (r - 1.0));
                q = (q - 1.0) * (r - 1.0) * (s - 1.0);
            }
            if p > 0.0 {
                q = -q;
            }
            p = p.abs();
            let min1 = 3.0 * xm * q - (tol1 * q).abs();
            let min2 = (e * q).abs();
            if 2.0 * p < if min1 < min2 { min1 } else { min2 } {
                e = d;
                d = p / q;
            } else {
                d = xm;
                e = d;
            }
        } else {
            d = xm;
            e = d;
        }
        a = b;
        fa = fb;
        if d.abs() > tol1 {
            b += d;
        } else {
            b += if xm >= 0.0 { tol1.abs() } else { -tol1.abs() };
        }
        fb = kepler_residual(b, m, ecc);
    }
    panic!("Maximum number of iterations exceeded in zbrent");
}

#[differentiable]
fn orbit(x: &[f64]) -> f64 {
    let (sma, ecc, t) = (x[0], x[1], x[2]);
    let n = (1.0 / (sma * sma * sma)).sqrt();
    let ea = zbrent(0.0, 6.3, n * t, ecc, 1e-13);
    // One step of Newton, so that the root has its derivative.
    let ea = ea - kepler_residual(ea, n * t, ecc) / (1.0 - ecc * cos(ea));
    let pos = [sma * (cos(ea) - ecc), sma * (1.0 - ecc * ecc).sqrt() * sin(ea)];
    pos[0] + 3.0 * pos[1]
}

// C: Jacobi's rotations for a symmetric matrix, the sweeps left by a label.
#[differentiable]
fn jacobi_eigen<const N: usize>(a: &mut [[f64; N]; N], v: &mut [[f64; N]; N]) -> usize {
    *v = [[0.0; N]; N];
    for i in 0..N {
        v[i][i] = 1.0;
    }
    let mut rotations = 0;
    'sweeps: for sweep in 0..30 {
        let mut off = 0.0;
        for p in 0..N {
            for q in p + 1..N {
                off += a[p][q] * a[p][q];
            }
        }
        if off < 1e-26 {
            break 'sweeps;
        }
        for p in 0..N - 1 {
            for q in p + 1..N {
                if a[p][q].abs() < 1e-15 {
                    if sweep > 20 {
                        break 'sweeps;
                    }
                    continue;
                }
                let theta = (a[q][q] - a[p][p]) / (2.0 * a[p][q]);
                let t = theta.signum() / (theta.abs() + (theta * theta + 1.0).sqrt());
                let c = 1.0 / (t * t + 1.0).sqrt();
                let s = t * c;
                for k in 0..N {
                    let (akp, akq) = (a[k][p], a[k][q]);
                    a[k][p] = c * akp - s * akq;
                    a[k][q] = s * akp + c * akq;
                }
                for k in 0..N {
                    let (apk, aqk) = (a[p][k], a[q][k]);
                    a[p][k] = c * apk - s * aqk;
                    a[q][k] = s * apk + c * aqk;
                }
                for row in v.iter_mut() {
                    let (vp, vq) = (row[p], row[q]);
                    row[p] = c * vp - s * vq;
                    row[q] = s * vp + c * vq;
                }
                rotations += 1;
            }
        }
    }
    rotations
}

#[differentiable]
fn principal_stress(x: &[f64]) -> f64 {
    let mut sigma = [[x[0], x[3], x[5]], [x[3], x[1], x[4]], [x[5], x[4], x[2]]];
    let mut dirs = [[0.0; 3]; 3];
    let used = jacobi_eigen(&mut sigma, &mut dirs);
    assert!(used > 0, "no rotation");
    let mut eig: Vec<(f64, usize)> = (0..3).map(|i| (sigma[i][i], i)).collect();
    eig.sort_by(|a, b| b.0.partial_cmp(&a.0).unwrap());
    let (hi, col) = eig[0];
    let (lo, _) = eig[eig.len() - 1];
    0.5 * (hi - lo) + dirs[0][col] * dirs[0][col]
}

// NumPy: one batch norm, attention of one head and a norm of layers, shapes kept by hand.
#[differentiable]
mod np {
    pub fn matmul(a: &[Vec<f64>], b: &[Vec<f64>]) -> Vec<Vec<f64>> {
        a.iter()
            .map(|row| {
                (0..b[0].len()).map(|j| row.iter().zip(b).map(|(x, br)| x * br[j]).sum()).collect()
            })
            .collect()
    }
    pub fn transpose(a: &[Vec<f64>]) -> Vec<Vec<f64>> {
        (0..a[0].len()).map(|j| a.iter().map(|r| r[j]).collect()).collect()
    }
    pub fn softmax(row: &[f64]) -> Vec<f64> {
        let m = row.iter().cloned().fold(f64::NEG_INFINITY, f64::max);
        let e: Vec<f64> = row.iter().map(|v| jut::math::exp(v - m)).collect();
        let z: f64 = e.iter().sum();
        e.into_iter().map(|v| v / z).collect()
    }
    pub fn layer_norm(row: &[f64], gamma: f64, beta: f64) -> Vec<f64> {
        let n = row.len() as f64;
        let mu = row.iter().sum::<f64>() / n;
        let var = row.iter().map(|v| (v - mu).powi(2)).sum::<f64>() / n;
        row.iter().map(|v| gamma * (v - mu) / (var + 1e-5).sqrt() + beta).collect()
    }
}

#[differentiable]
fn attention(x: &[f64]) -> f64 {
    let (d, gamma, beta) = (2, x[0], x[1]);
    let tokens: Vec<Vec<f64>> = x[2..].chunks(d).map(|c| c.to_vec()).collect();
    let wq = vec![vec![1.0, 0.3], vec![-0.2, 0.8]];
    let wk = vec![vec![0.5, -0.4], vec![0.1, 0.9]];
    let q = np::matmul(&tokens, &wq);
    let k = np::matmul(&tokens, &wk);
    let scores = np::matmul(&q, &np::transpose(&k));
    let mut weights: Vec<Vec<f64>> = Vec::new();
    for (i, row) in scores.iter().enumerate() {
        let masked: Vec<f64> = row
            .iter()
            .enumerate()
            .map(|(j, s)| if j > i { -1e9 } else { s / (d as f64).sqrt() })
            .collect();
        weights.push(np::softmax(&masked));
    }
    let mixed = np::matmul(&weights, &tokens);
    let out: Vec<Vec<f64>> = mixed
        .iter()
        .zip(&tokens)
        .map(|(m, t)| m.iter().zip(t).map(|(a, b)| a + b).collect::<Vec<f64>>())
        .map(|r| np::layer_norm(&r, gamma, beta))
        .collect();
    out.iter().flatten().enumerate().map(|(i, v)| v * (i as f64 + 1.0)).sum()
}

#[test]
fn ports_of_older_languages() {
    everywhere! {
        truss at [2.0, 1.5, 3.0, 0.7];
        glacier at [-10.0, -2.0, 0.3];
        orbit at [1.2, 0.3, 2.0];
        principal_stress at [3.0, 1.0, 2.0, 0.5, -0.3, 0.2];
        attention at [1.1, 0.2, 0.3, 0.5, -0.2, 0.8, 1.1, -0.4];
    }
}
