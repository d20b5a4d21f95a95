//! Ports of textbook C, Fortran and NumPy: loops over indices, flags, work arrays that a caller lends, many temporaries.

use jut::differentiable;
use jut::math::{cos, log, sin};

// Eigenvalues of a symmetric tridiagonal matrix by implicit QL, as it stands in the books.
#[differentiable]
fn pythag(a: f64, b: f64) -> f64 {
    let (absa, absb) = (a.abs(), b.abs());
    if absa > absb {
        return absa * (1.0 + (absb / absa) * (absb / absa)).sqrt();
    }
    if absb == 0.0 { 0.0 } else { absb * (1.0 + (absa / absb) * (absa / absb)).sqrt() }
}

#[differentiable]
fn tqli(d: &mut [f64], e: &mut [f64]) -> bool {
    let n = d.len();
    for i in 1..n {
        e[i - 1] = e[i];
    }
    e[n - 1] = 0.0;
    for l in 0..n {
        let mut iter = 0;
        loop {
            let mut m = l;
            while m + 1 < n {
                let dd = d[m].abs() + d[m + 1].abs();
                if e[m].abs() <= 1e-15 * dd {
                    break;
                }
                m += 1;
            }
            if m == l {
                break;
            }
            if iter == 30 {
                return false;
            }
            iter += 1;
            let mut g = (d[l + 1] - d[l]) / (2.0 * e[l]);
            let mut r = pythag(g, 1.0);
            g = d[m] - d[l] + e[l] / (g + if g >= 0.0 { r.abs() } else { -r.abs() });
            let (mut s, mut c, mut p) = (1.0, 1.0, 0.0);
            let mut underflow = false;
            for i in (l..m).rev() {
                let f = s * e[i];
                let b = c * e[i];
                r = pythag(f, g);
                e[i + 1] = r;
                if r == 0.0 {
                    d[i + 1] -= p;
                    e[m] = 0.0;
                    underflow = true;
                    break;
                }
                s = f / r;
                c = g / r;
                g = d[i + 1] - p;
                r = (d[i] - g) * s + 2.0 * c * b;
                p = s * r;
                d[i + 1] = g + p;
                g = c * r - b;
            }
            if underflow {
                continue;
            }
            d[l] -= p;
            e[l] = g;
            e[m] = 0.0;
        }
    }
    true
}

/// The logarithm of the condition of a chain of masses.
#[differentiable]
fn chain_condition(x: &[f64]) -> f64 {
    let n = x.len() / 2;
    let mut d = x[..n].to_vec();
    let mut e = vec![0.0; n];
    e[1..].copy_from_slice(&x[n..2 * n - 1]);
    if !tqli(&mut d, &mut e) {
        panic!("too many iterations");
    }
    d.sort_by(|a, b| b.partial_cmp(a).unwrap());
    log(d[0] / d[n - 1])
}

// Water hammer by characteristics.
const GRAVITY: f64 = 9.81;

#[differentiable]
fn interior(h: &[f64], q: &[f64], hp: &mut [f64], qp: &mut [f64], b: f64, r: f64) {
    let n = h.len();
    let mut i = 1;
    while i < n - 1 {
        let cp = h[i - 1] + q[i - 1] * (b - r * q[i - 1].abs());
        let cm = h[i + 1] - q[i + 1] * (b - r * q[i + 1].abs());
        hp[i] = 0.5 * (cp + cm);
        qp[i] = (hp[i] - cm) / b;
        i += 1;
    }
}

/// The largest head of a pipe whose valve closes.
#[differentiable]
fn water_hammer(x: &[f64]) -> f64 {
    let (wave, friction, q0, closing) = (x[0], x[1], x[2], x[3]);
    const N: usize = 6;
    let area = 0.2;
    let b = wave / (GRAVITY * area);
    let r = friction * 3.0;
    let mut h = [0.0; N];
    let mut q = [q0; N];
    for i in 0..N {
        h[i] = 50.0 - i as f64 * r * q0 * q0.abs();
    }
    let hv0 = h[N - 1];
    let (mut hp, mut qp) = (h, q);
    let (mut hmax, mut t) = (f64::NEG_INFINITY, 0.0);
    let dt = 0.1;
    for _step in 0..20 {
        t += dt;
        interior(&h, &q, &mut hp, &mut qp, b, r);
        // The reservoir.
        hp[0] = 50.0;
        qp[0] = (hp[0] - (h[1] - q[1] * (b - r * q[1].abs()))) / b;
        // The valve.
        let tau = if t >= closing { 0.0 } else { (1.0 - t / closing) * (1.0 - t / closing) };
        let cp = h[N - 2] + q[N - 2] * (b - r * q[N - 2].abs());
        let cv = (q0 * tau) * (q0 * tau) / (2.0 * hv0);
        qp[N - 1] = -b * cv + (b * cv * (b * cv) + 2.0 * cv * cp).sqrt();
        if tau == 0.0 {
            qp[N - 1] = 0.0;
        }
        hp[N - 1] = cp - b * qp[N - 1];
        for i in 0..N {
            if hp[i] > hmax {
                hmax = hp[i];
            }
        }
        h.copy_from_slice(&hp);
        q.copy_from_slice(&qp);
    }
    hmax
}

// Lift of a thin aerofoil by vortices at panels.
#[differentiable]
fn gauss_elim(a: &mut Vec<Vec<f64>>, b: &mut Vec<f64>) -> Result<(), String> {
    let n = b.len();
    for k in 0..n {
        let mut piv = k;
        for i in k + 1..n {
            if a[i][k].abs() > a[piv][k].abs() {
                piv = i;
            }
        }
        if a[piv][k].abs() < 1e-14 {
            return Err(String::from("singular matrix"));
        }
        if piv != k {
            a.swap(piv, k);
            b.swap(piv, k);
        }
        for i in k + 1..n {
            let m = a[i][k] / a[k][k];
            for j in k..n {
                a[i][j] -= m * a[k][j];
            }
            b[i] -= m * b[k];
        }
    }
    for k in (0..n).rev() {
        let mut s = b[k];
        for j in k + 1..n {
            s -= a[k][j] * b[j];
        }
        b[k] = s / a[k][k];
    }
    Ok(())
}

#[differentiable]
fn lumped_vortices(x: &[f64]) -> f64 {
    let (alpha, camber) = (x[0], &x[1..]);
    let n = camber.len() - 1;
    let dx = 1.0 / n as f64;
    // Panels, vortices at a quarter and points at three quarters of each.
    let slope: Vec<f64> = (0..n).map(|i| (camber[i + 1] - camber[i]) / dx).collect();
    let xv: Vec<f64> = (0..n).map(|i| (i as f64 + 0.25) * dx).collect();
    let xc: Vec<f64> = (0..n).map(|i| (i as f64 + 0.75) * dx).collect();
    let mut a = vec![vec![0.0; n]; n];
    let mut rhs = vec![0.0; n];
    for i in 0..n {
        for j in 0..n {
            let r = xc[i] - xv[j];
            a[i][j] = 1.0 / (2.0 * std::f64::consts::PI * r);
        }
        rhs[i] = sin(alpha) - cos(alpha) * slope[i];
    }
    gauss_elim(&mut a, &mut rhs).unwrap();
    2.0 * rhs.iter().sum::<f64>()
}

// Burg's method for autoregressions.
#[differentiable]
fn memcof(data: &[f64], m: usize) -> (f64, Vec<f64>) {
    let n = data.len();
    let mut p = 0.0;
    for j in 0..n {
        p += data[j] * data[j];
    }
    let mut xms = p / n as f64;
    let mut wk1 = vec![0.0; n];
    let mut wk2 = vec![0.0; n];
    let mut wkm = vec![0.0; m];
    let mut d = vec![0.0; m];
    wk1[0] = data[0];
    wk2[n - 2] = data[n - 1];
    for j in 1..n - 1 {
        wk1[j] = data[j];
        wk2[j - 1] = data[j];
    }
    for k in 0..m {
        let (mut num, mut denom) = (0.0, 0.0);
        for j in 0..n - k - 1 {
            num += wk1[j] * wk2[j];
            denom += wk1[j] * wk1[j] + wk2[j] * wk2[j];
        }
        d[k] = 2.0 * num / denom;
        xms *= 1.0 - d[k] * d[k];
        for i in 0..k {
            d[i] = wkm[i] - d[k] * wkm[k - 1 - i];
        }
        if k == m - 1 {
            return (xms, d);
        }
        for i in 0..=k {
            wkm[i] = d[i];
        }
        for j in 0..n - k - 2 {
            wk1[j] -= wkm[k] * wk2[j];
            wk2[j] = wk2[j + 1] - wkm[k] * wk1[j + 1];
        }
    }
    unreachable!("memcof leaves in its loop")
}

#[differentiable]
fn burg_spectrum(x: &[f64]) -> f64 {
    let (xms, d) = memcof(x, 3);
    let theta = 0.7;
    let (wpr, wpi) = (cos(theta), sin(theta));
    let (mut wr, mut wi) = (1.0, 0.0);
    let (mut sumr, mut sumi) = (1.0, 0.0);
    for i in 0..d.len() {
        let wtemp = wr;
        wr = wr * wpr - wi * wpi;
        wi = wi * wpr + wtemp * wpi;
        sumr -= d[i] * wr;
        sumi -= d[i] * wi;
    }
    log(xms / (sumr * sumr + sumi * sumi))
}

// Akima's interpolation.
#[differentiable]
fn akima(x: &[f64], y: &[f64], at: f64) -> f64 {
    let n = x.len();
    let mut m = vec![0.0; n + 3];
    for i in 0..n - 1 {
        m[i + 2] = (y[i + 1] - y[i]) / (x[i + 1] - x[i]);
    }
    m[1] = 2.0 * m[2] - m[3];
    m[0] = 2.0 * m[1] - m[2];
    m[n + 1] = 2.0 * m[n] - m[n - 1];
    m[n + 2] = 2.0 * m[n + 1] - m[n];
    let mut t = vec![0.0; n];
    for i in 0..n {
        let w1 = (m[i + 3] - m[i + 2]).abs();
        let w2 = (m[i + 1] - m[i]).abs();
        t[i] = if w1 + w2 < 1e-9 {
            0.5 * (m[i + 1] + m[i + 2])
        } else {
            (w1 * m[i + 1] + w2 * m[i + 2]) / (w1 + w2)
        };
    }
    let (mut lo, mut hi) = (0, n - 1);
    while hi - lo > 1 {
        let mid = (hi + lo) >> 1;
        if x[mid] > at {
            hi = mid;
        } else {
            lo = mid;
        }
    }
    let h = x[hi] - x[lo];
    let s = (at - x[lo]) / h;
    let dy = y[hi] - y[lo];
    y[lo]
        + s * (h * t[lo]
            + s * (3.0 * dy - h * (2.0 * t[lo] + t[hi]) + s * (h * (t[lo] + t[hi]) - 2.0 * dy)))
}

#[differentiable]
fn rating_curve(y: &[f64]) -> f64 {
    let x: Vec<f64> = (0..y.len()).map(|i| i as f64 + 0.1 * (i * i) as f64).collect();
    let mut total = 0.0;
    let mut at = 0.3;
    while at < x[x.len() - 1] {
        total += akima(&x, y, at);
        at += 0.9;
    }
    total
}

// Fuzzy c-means, as NumPy writes it.
#[differentiable]
fn cdist(a: &[[f64; 2]], b: &[[f64; 2]]) -> Vec<Vec<f64>> {
    let mut out = Vec::with_capacity(a.len());
    for p in a {
        let mut row = Vec::with_capacity(b.len());
        for q in b {
            let diff = [p[0] - q[0], p[1] - q[1]];
            row.push(diff.iter().map(|d| d * d).sum::<f64>());
        }
        out.push(row);
    }
    out
}

#[differentiable]
fn fuzzy_c_means(x: &[f64]) -> f64 {
    let points: Vec<[f64; 2]> = x.chunks(2).map(|c| [c[0], c[1]]).collect();
    let mut centers = vec![points[0], points[points.len() - 1]];
    let mut loss = 0.0;
    for _ in 0..3 {
        let d2 = cdist(&points, &centers);
        let inv: Vec<Vec<f64>> =
            d2.iter().map(|row| row.iter().map(|v| 1.0 / (v + 1e-2)).collect()).collect();
        let norm: Vec<f64> = inv.iter().map(|row| row.iter().sum()).collect();
        let u: Vec<Vec<f64>> =
            inv.iter().zip(&norm).map(|(row, s)| row.iter().map(|v| v / s).collect()).collect();
        let um: Vec<Vec<f64>> =
            u.iter().map(|row| row.iter().map(|v| v.powi(2)).collect()).collect();
        for (k, c) in centers.iter_mut().enumerate() {
            let weight: f64 = um.iter().map(|row| row[k]).sum();
            for axis in 0..2 {
                c[axis] =
                    um.iter().zip(&points).map(|(row, p)| row[k] * p[axis]).sum::<f64>() / weight;
            }
        }
        loss =
            um.iter().zip(&d2).map(|(w, d)| w.iter().zip(d).map(|(w, d)| w * d).sum::<f64>()).sum();
    }
    loss
}

#[test]
fn matrices_pipes_and_wings() {
    everywhere! {
        chain_condition at [4.0, 5.0, 6.5, 3.0, 0.5, 0.7, 0.4, 0.0], [2.0, 3.0, 0.5, 0.0];
        water_hammer at [100.0, 0.4, 0.3, 0.75], [80.0, 0.2, 0.1, 5.0];
        lumped_vortices at [0.1, 0.0, 0.05, 0.08, 0.06, 0.0];
        burg_spectrum at [1.0, 0.4, -0.7, -0.9, 0.1, 0.8, 0.6, -0.3];
        rating_curve at [0.2, 1.0, 1.7, 1.5, 2.9, 3.0], [0.0, 1.0, 2.0, 3.1];
        fuzzy_c_means at [0.1, 0.2, 0.3, -0.1, 1.9, 2.1, 2.2, 1.8];
    }
}
