//! Derivatives at a point, made once and applied many times.

use super::close;
use jut::{Data, differentiable};

#[derive(Data, Clone, Debug, PartialEq)]
struct Spring {
    stiffness: f64,
    rest: f64,
    turns: i64,
}

#[differentiable]
fn force(s: &Spring, at: &[f64], scale: f64) -> Vec<f64> {
    at.iter().map(|x| scale * s.stiffness * (x - s.rest).powi(3) / s.turns as f64).collect()
}

#[differentiable]
fn polar(x: f64, y: f64) -> (f64, f64) {
    ((x * x + y * y).sqrt(), y / x)
}

#[differentiable]
fn scaled<const N: usize>(x: [f64; N], k: f64) -> [f64; N] {
    x.map(|v| k * v * v)
}

#[differentiable]
fn root(x: f64) -> Result<f64, String> {
    if x < 0.0 {
        return Err("a root of a number below zero".to_string());
    }
    Ok(x.sqrt())
}

#[differentiable(wrt(given))]
fn named(given: f64, held: f64) -> f64 {
    given * given * held
}

#[differentiable]
fn relax(u: &mut [f64], weight: f64) {
    for i in 1..u.len() {
        u[i] += weight * (u[i - 1] * u[i - 1] - u[i]);
    }
}

#[test]
fn it_is_the_map_of_jvp_and_its_transpose_that_of_vjp() {
    let spring = Spring { stiffness: 2.0, rest: 0.5, turns: 4 };
    let x = [1.0, 2.0, -1.0];
    let mut at = force::linearize(&spring, &x, 3.0).unwrap();
    assert_eq!(at.value(), &force(&spring, &x, 3.0));
    for k in 0..3 {
        let by = SpringGrad { stiffness: k as f64, rest: -1.0 };
        let mut d = vec![0.5; 3];
        d[k] = 2.0;
        let (_, tangent) = force::jvp(&spring, &x, 3.0, &by, &d, 0.25).unwrap();
        close(&at.apply(&(by, d, 0.25)).unwrap(), &tangent);
        let mut cotangent = vec![0.0; 3];
        cotangent[k] = 1.5;
        let (_, (by, d, scale)) = force::vjp(&spring, &x, 3.0, &cotangent).unwrap();
        let back = at.apply_transposed(&cotangent).unwrap();
        close(&[back.0.stiffness, back.0.rest, back.2], &[by.stiffness, by.rest, scale]);
        close(&back.1, &d);
    }
}

#[test]
fn several_results_and_lengths_are_tuples_and_arrays() {
    let mut at = polar::linearize(3.0, 4.0).unwrap();
    assert_eq!(at.value(), &(5.0, 4.0 / 3.0));
    let (r, slope) = at.apply(&(1.0, 0.0)).unwrap();
    close(&[r, slope], &[0.6, -4.0 / 9.0]);
    let (x, y) = at.apply_transposed(&(1.0, 0.0)).unwrap();
    close(&[x, y], &[0.6, 0.8]);
    let mut at = scaled::linearize([1.0, 2.0], 3.0).unwrap();
    assert_eq!(at.apply(&([1.0, 1.0], 0.0)).unwrap(), [6.0, 12.0]);
    assert_eq!(at.apply_transposed(&[0.0, 1.0]).unwrap(), ([0.0, 12.0], 4.0));
    assert_eq!(scaled::linearize([2.0], 3.0).unwrap().value(), &scaled([2.0], 3.0));
}

#[test]
fn points_are_kept_apart() {
    let mut points: Vec<_> = [1.0, 4.0, 9.0].map(|x| root::linearize(x).unwrap()).into();
    for (k, at) in points.iter_mut().enumerate() {
        assert_eq!(at.value(), &(1.0 + k as f64));
        close(&[at.apply(&1.0).unwrap()], &[0.5 / (1.0 + k as f64)]);
    }
    assert_eq!(named::linearize(3.0, 2.0).unwrap().apply_transposed(&1.0).unwrap(), 12.0);
}

#[test]
fn what_is_changed_is_a_result() {
    let u = [1.0, 2.0, 3.0];
    let mut at = relax::linearize(&u, 0.5).unwrap();
    let mut after = u;
    relax(&mut after, 0.5);
    assert_eq!(at.value()[..], after[..]);
    let (_, tangent) = relax::jvp(&u, 0.5, &[1.0, 0.0, 0.0], 0.0).unwrap();
    close(&at.apply(&(vec![1.0, 0.0, 0.0], 0.0)).unwrap(), &tangent);
}

#[test]
fn what_does_not_fit_is_an_error_and_the_point_stays() {
    let error = root::linearize(-1.0).unwrap_err().to_string();
    assert!(error.contains("a root of a number below zero"), "{error}");
    let spring = Spring { stiffness: 2.0, rest: 0.5, turns: 4 };
    let mut at = force::linearize(&spring, &[1.0, 2.0], 3.0).unwrap();
    let by = || SpringGrad { stiffness: 1.0, rest: 0.0 };
    for wrong in [0, 1, 3] {
        assert!(at.apply(&(by(), vec![0.0; wrong], 0.0)).is_err());
        assert!(at.apply_transposed(&vec![0.0; wrong]).is_err());
    }
    assert!(at.apply(&(by(), vec![0.0; 2], 0.0)).is_ok());
}

#[differentiable]
fn cells(rows: &[Vec<f64>], k: f64) -> Vec<Vec<f64>> {
    rows.iter().map(|row| row.iter().map(|x| k * x * x).collect()).collect()
}

#[differentiable(wrt(k))]
fn stairs(k: f64, heights: &[usize]) -> Vec<Vec<f64>> {
    let mut rows = Vec::new();
    for h in heights {
        rows.push((0..*h).map(|i| k * k * i as f64).collect());
    }
    rows
}

#[differentiable]
fn total(rows: &[Vec<f64>], by: f64) -> f64 {
    rows.iter().map(|row| row.iter().map(|x| (by * x).sin()).sum::<f64>()).sum()
}

/// Rows of one length, and rows of different ones, which are the second text's.
#[test]
fn functions_of_rows() {
    for rows in [vec![vec![1.0, 2.0], vec![3.0, 4.0]], vec![vec![1.0], vec![], vec![3.0, 4.0, 5.0]]]
    {
        let mut at = cells::linearize(&rows, 2.0).unwrap();
        assert_eq!(at.value(), &cells(&rows, 2.0));
        let by: Vec<Vec<f64>> =
            rows.iter().map(|row| row.iter().map(|x| 0.5 - x).collect()).collect();
        let (_, tangent) = cells::jvp(&rows, 2.0, &by, 0.25).unwrap();
        assert_eq!(at.apply(&(by.clone(), 0.25)).unwrap(), tangent);
        let (_, cotangents) = cells::vjp(&rows, 2.0, &by).unwrap();
        assert_eq!(at.apply_transposed(&by).unwrap(), cotangents);

        let mut at = total::linearize(&rows, 0.5).unwrap();
        let (by_rows, by_scale) = total::gradient(&rows, 0.5).unwrap();
        assert_eq!(at.apply_transposed(&1.0).unwrap(), (by_rows.clone(), by_scale));

        let flat = total::flat(&rows, 0.5).unwrap();
        let mut gradient = vec![0.0; flat.tangents()];
        let x = [rows.concat(), vec![0.5]].concat();
        assert_eq!(flat.start(), x);
        let value = flat.gradient_into(&x, &mut gradient).unwrap();
        close(&[value], &[total(&rows, 0.5)]);
        assert_eq!(gradient, [by_rows.concat(), vec![by_scale]].concat());
        // There is no program for all second derivatives of such rows at once: they come one row after the other.
        let n = gradient.len();
        let (mut hessian, mut product) = (vec![0.0; n * n], vec![0.0; n]);
        flat.hessian_into(&x, &mut hessian).unwrap();
        for k in 0..n {
            let unit: Vec<f64> = (0..n).map(|i| f64::from(u8::from(i == k))).collect();
            flat.hessian_product_into(&x, &unit, &mut product).unwrap();
            close(&product, &hessian[k * n..(k + 1) * n]);
        }
        let parts: Vec<_> = flat.parameters().map(|(name, place, _)| (name, place.len())).collect();
        assert_eq!(parts, [("rows", x.len() - 1), ("by", 1)]);

        let whole = cells::flat(&rows, 2.0).unwrap();
        let mut values = vec![0.0; whole.results()];
        whole.values_into(whole.start(), &mut values).unwrap();
        assert_eq!(values, cells(&rows, 2.0).concat());
        let (mut product, tangent) = (values.clone(), [by.concat(), vec![0.25]].concat());
        whole.jvp_into(whole.start(), &tangent, &mut product).unwrap();
        assert_eq!(product, cells::jvp(&rows, 2.0, &by, 0.25).unwrap().1.concat());
        let (m, n) = (values.len(), tangent.len());
        let (mut jacobian, mut back) = (vec![0.0; m * n], vec![0.0; n]);
        whole.jacobian_into(whole.start(), &mut jacobian).unwrap();
        for (row, given) in jacobian.chunks(n).zip(&product) {
            close(&[row.iter().zip(&tangent).map(|(a, b)| a * b).sum()], &[*given]);
        }
        whole.vjp_into(whole.start(), &by.concat(), &mut back).unwrap();
        assert_eq!(back, [cotangents.0.concat(), vec![cotangents.1]].concat());
    }
    for heights in [[2usize, 2], [1, 3]] {
        let mut at = stairs::linearize(3.0, &heights).unwrap();
        assert_eq!(at.value(), &stairs(3.0, &heights));
        let (_, tangent) = stairs::jvp(3.0, &heights, 0.5).unwrap();
        assert_eq!(at.apply(&0.5).unwrap(), tangent);
        let flat = stairs::flat(3.0, &heights).unwrap();
        let mut column = vec![0.0; 4];
        flat.jacobian_into(&[3.0], &mut column).unwrap();
        assert_eq!(column, stairs::jvp(3.0, &heights, 1.0).unwrap().1.concat());
    }
}
