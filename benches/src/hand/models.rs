//! Statistics, finance and elimination.

use super::{dot, each, exp, fold};
use crate::machine::wide;

/// A Cholesky factor, row by row, and its cotangent.
pub struct Cholesky {
    n: usize,
    factor: Vec<f64>,
    back: Vec<f64>,
}

impl Cholesky {
    /// Room for a matrix with n rows.
    pub fn new(n: usize) -> Cholesky {
        Cholesky { n, factor: vec![0.0; n * n], back: vec![0.0; n * n] }
    }

    /// Value; gradient of the matrix, of which the lower triangle is read.
    pub fn run(&mut self, a: &[f64], da: &mut [f64]) -> f64 {
        cholesky(self, a, da)
    }
}

wide! {
    /// See [`Cholesky::run`].
    pub fn cholesky(solver: &mut Cholesky, a: &[f64], da: &mut [f64]) -> f64 {
        let n = solver.n;
        let (l, back) = (&mut solver.factor, &mut solver.back);
        let mut value = 0.0;
        for i in 0..n {
            let (done, row) = l.split_at_mut(i * n);
            for j in 0..i {
                let other = &done[j * n..j * n + j + 1];
                row[j] = (a[i * n + j] - dot(&row[..j], &other[..j])) / other[j];
            }
            let d = (a[i * n + i] - dot(&row[..i], &row[..i])).sqrt();
            row[i] = d;
            value += d.ln();
        }
        back.fill(0.0);
        da.fill(0.0);
        for i in 0..n {
            back[i * n + i] = 1.0 / l[i * n + i];
        }
        for i in (0..n).rev() {
            let own = &l[i * n..(i + 1) * n];
            let (above, back) = back.split_at_mut(i * n);
            let s = 0.5 * back[i] / own[i];
            da[i * n + i] = s;
            for k in 0..i {
                back[k] -= 2.0 * s * own[k];
            }
            for j in (0..i).rev() {
                let other = &l[j * n..j * n + j + 1];
                let to = &mut above[j * n..j * n + j + 1];
                let s = back[j] / other[j];
                da[i * n + j] = s;
                to[j] -= s * own[j];
                for k in 0..j {
                    back[k] -= s * other[k];
                    to[k] -= s * own[k];
                }
            }
        }
        value
    }
}

/// A mixture of Gaussians: its numbers, k each, rows by coordinate.
pub struct Mixture {
    d: usize,
    k: usize,
    /// Spreads, terms of a point, squares of a point; centres and their cotangents by coordinate.
    rate: Vec<f64>,
    z: Vec<f64>,
    e: Vec<f64>,
    centres: Vec<f64>,
    back: Vec<f64>,
}

impl Mixture {
    /// Room for k parts in d dimensions.
    pub fn new(d: usize, k: usize) -> Mixture {
        let (some, many) = (|| vec![0.0; k], || vec![0.0; k * d]);
        Mixture { d, k, rate: some(), z: some(), e: some(), centres: many(), back: many() }
    }

    /// Value; gradient of weights, centres and spreads.
    pub fn run(&mut self, x: &[f64], w: &[f64], m: &[f64], s: &[f64], g: &mut [f64]) -> f64 {
        mixture(self, x, w, m, s, g)
    }
}

wide! {
    /// See [`Mixture::run`].
    pub fn mixture(
        model: &mut Mixture, x: &[f64], w: &[f64], m: &[f64], s: &[f64], g: &mut [f64],
    ) -> f64 {
        let Mixture { d, k, rate, z, e, centres, back } = model;
        let (d, k) = (*d, *k);
        let (dw, rest) = g.split_at_mut(k);
        let (dm, ds) = rest.split_at_mut(k * d);
        for c in 0..k {
            let r = exp(s[c]);
            rate[c] = r * r;
            for j in 0..d {
                centres[j * k + c] = m[c * d + j];
            }
        }
        for sums in [&mut *dw, &mut *ds, &mut **back] {
            sums.fill(0.0);
        }
        let mut value = 0.0;
        for x in x.chunks_exact(d) {
            e.fill(0.0);
            for (x, centre) in x.iter().zip(centres.chunks_exact(k)) {
                for (e, m) in e.iter_mut().zip(centre) {
                    *e += (x - m) * (x - m);
                }
            }
            let mut top = f64::NEG_INFINITY;
            for c in 0..k {
                e[c] *= rate[c];
                z[c] = w[c] + d as f64 * s[c] - 0.5 * e[c];
                top = if z[c] > top { z[c] } else { top };
            }
            z.iter_mut().for_each(|z| *z = exp(*z - top));
            let sum: f64 = z.iter().sum();
            value += top + sum.ln();
            let over = 1.0 / sum;
            for c in 0..k {
                let q = z[c] * over;
                dw[c] += q;
                ds[c] += q * (d as f64 - e[c]);
                z[c] = q * rate[c];
            }
            let rows = centres.chunks_exact(k).zip(back.chunks_exact_mut(k));
            for (x, (centre, back)) in x.iter().zip(rows) {
                for ((z, m), back) in z.iter().zip(centre).zip(back) {
                    *back += z * (x - m);
                }
            }
        }
        let n = (x.len() / d) as f64;
        let sum: f64 = w.iter().map(|w| exp(*w)).sum();
        for c in 0..k {
            dw[c] -= n * exp(w[c]) / sum;
            for j in 0..d {
                dm[c * d + j] = back[j * k + c];
            }
        }
        value - n * sum.ln()
    }
}

/// The paths of an Asian option: sums of shocks and prices of one.
pub struct Asian {
    sums: Vec<f64>,
    prices: Vec<f64>,
}

impl Asian {
    /// Room for paths of m steps.
    pub fn new(m: usize) -> Asian {
        Asian { sums: vec![0.0; m], prices: vec![0.0; m] }
    }

    /// Value; gradient of price, volatility, rate and strike.
    pub fn run(&mut self, z: &[f64], p: [f64; 4], g: &mut [f64]) -> f64 {
        asian(self, z, p, g)
    }
}

wide! {
    /// See [`Asian::run`]. All but the strike moves a price by a known multiple of it.
    pub fn asian(option: &mut Asian, z: &[f64], p: [f64; 4], g: &mut [f64]) -> f64 {
        let [s, v, r, strike] = p;
        let m = option.sums.len();
        let h = 1.0 / m as f64;
        let (drift, root) = ((r - 0.5 * v * v) * h, h.sqrt());
        let (mut total, mut d) = (0.0, [0.0; 4]);
        for path in z.chunks_exact(m) {
            let mut sum = 0.0;
            for (to, z) in option.sums.iter_mut().zip(path) {
                sum += z;
                *to = sum;
            }
            for (j, (price, sum)) in option.prices.iter_mut().zip(&option.sums).enumerate() {
                *price = s * exp(drift * (j + 1) as f64 + v * root * sum);
            }
            let mean = option.prices.iter().sum::<f64>() * h;
            if mean - strike <= 0.0 {
                continue;
            }
            total += mean - strike;
            let (mut lanes, mut late) = ([0.0; 8], [0.0; 8]);
            for (j, (price, sum)) in option.prices.iter().zip(&option.sums).enumerate() {
                lanes[j % 8] += price * sum;
                late[j % 8] += price * (j + 1) as f64;
            }
            let late = fold(late) * h * h;
            d[0] += mean / s;
            d[1] += fold(lanes) * h * root - late * v;
            d[2] += late;
            d[3] -= 1.0;
        }
        let discount = exp(-r) / (z.len() / m) as f64;
        let price = total * discount;
        for (g, d) in g.iter_mut().zip(d) {
            *g = d * discount;
        }
        g[2] -= price;
        price
    }
}

/// Points with weights, one list per coordinate, as many as fill the lanes; those beyond the last weigh
/// nothing.
pub struct Kernel {
    n: usize,
    d: usize,
    place: Vec<f64>,
    weight: Vec<f64>,
}

impl Kernel {
    /// Room for n points in at most four dimensions.
    pub fn new(n: usize, d: usize) -> Kernel {
        let all = n.next_multiple_of(8);
        Kernel { n, d, place: vec![0.0; all * d], weight: vec![0.0; all] }
    }

    /// Value; gradient of points, weights and width.
    pub fn run(&mut self, x: &[f64], a: &[f64], gamma: f64, g: &mut [f64]) -> f64 {
        kernel(self, x, a, gamma, g)
    }
}

wide! {
    /// See [`Kernel::run`]. Every row is gone through, so that nothing is scattered.
    pub fn kernel(form: &mut Kernel, x: &[f64], a: &[f64], gamma: f64, g: &mut [f64]) -> f64 {
        let Kernel { n, d, place, weight } = form;
        let (n, d, all) = (*n, *d, weight.len());
        weight[..n].copy_from_slice(a);
        for (i, x) in x.chunks_exact(d).enumerate() {
            for (k, x) in x.iter().enumerate() {
                place[k * all + i] = *x;
            }
        }
        let (dx, rest) = g.split_at_mut(n * d);
        let (da, dg) = rest.split_at_mut(n);
        let (mut value, mut width) = (0.0, 0.0);
        for i in 0..n {
            let (mut sum, mut far, mut moved) = ([0.0; 8], [0.0; 8], [[0.0; 8]; 4]);
            for j in (0..all).step_by(8) {
                let mut square = [0.0; 8];
                let mut apart = [[0.0; 8]; 4];
                for (k, place) in place.chunks_exact(all).enumerate() {
                    apart[k] = each(|l| place[i] - place[j..j + 8][l]);
                    square = each(|l| square[l] + apart[k][l] * apart[k][l]);
                }
                let e = each(|l| weight[j..j + 8][l] * exp(-gamma * square[l]));
                sum = each(|l| sum[l] + e[l]);
                far = each(|l| far[l] + e[l] * square[l]);
                for k in 0..d {
                    moved[k] = each(|l| moved[k][l] + e[l] * apart[k][l]);
                }
            }
            let sum = fold(sum);
            value += a[i] * sum;
            width -= a[i] * fold(far);
            da[i] = 2.0 * sum;
            for k in 0..d {
                dx[i * d + k] = -4.0 * gamma * a[i] * fold(moved[k]);
            }
        }
        dg[0] = width;
        value
    }
}
