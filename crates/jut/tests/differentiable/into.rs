//! Gradients that are written to memory of the caller.

use super::same;
use jut::{Data, differentiable};

#[differentiable]
fn chain(x: &[f64]) -> f64 {
    (1..x.len()).map(|i| (x[i] - x[i - 1] * x[i - 1]).powi(2)).sum()
}

#[derive(Data, Clone, Debug, PartialEq)]
struct Spring {
    stiffness: f64,
    rest: f64,
}

#[differentiable]
fn energy(s: &Spring, at: &[[f64; 2]], scale: f64, count: usize, weights: Vec<f64>) -> f64 {
    let mut sum = 0.0;
    for i in 0..count {
        let r = (at[i][0] * at[i][0] + at[i][1] * at[i][1]).sqrt();
        sum += weights[i] * 0.5 * s.stiffness * (r - s.rest) * (r - s.rest);
    }
    scale * sum
}

#[differentiable]
fn spread(at: &[[f64; 2]], scale: f64) -> f64 {
    at.iter().map(|p| scale * (p[0] * p[0] + p[1] * p[1]).sqrt()).sum()
}

#[differentiable]
fn norm<const N: usize>(x: &[f64; N]) -> f64 {
    x.iter().map(|v| v * v).sum::<f64>().sqrt()
}

#[differentiable]
fn squares(rows: &[Vec<f64>]) -> f64 {
    rows.iter().map(|row| row.iter().map(|v| v * v).sum::<f64>()).sum()
}

#[derive(Data, Clone, Copy)]
enum Kind {
    Plain,
    Squared,
}

#[differentiable]
fn of_kinds(kinds: &[Kind], x: &[f64]) -> f64 {
    let mut sum = 0.0;
    for i in 0..x.len() {
        sum += match kinds[i] {
            Kind::Plain => x[i],
            Kind::Squared => x[i] * x[i],
        };
    }
    sum
}

#[differentiable(wrt(g))]
fn named(g: f64, results: f64, value: f64) -> f64 {
    g * results + value
}

#[differentiable]
fn checked(x: f64) -> Result<f64, String> {
    if x < 0.0 {
        return Err("a number below zero".to_string());
    }
    Ok(x * x)
}

#[test]
fn each_part_goes_to_its_place() {
    let spring = Spring { stiffness: 2.0, rest: 0.5 };
    let at = [[3.0, 4.0], [0.6, 0.8], [1.0, 0.0]];
    let weights = vec![1.0, 0.5, 7.0];
    let (value, gradient) =
        energy::value_and_gradient(&spring, &at, 1.5, 2, weights.clone()).unwrap();
    let mut by_spring = spring.clone();
    let mut by_at = [[9.0; 2]; 3];
    let (mut by_scale, mut by_weights) = (9.0, Vec::new());
    let into = energy::gradient_into(
        &spring,
        &at,
        1.5,
        2,
        weights,
        &mut by_spring,
        &mut by_at[..],
        &mut by_scale,
        &mut by_weights,
    );
    same(into.unwrap(), value);
    assert_eq!((by_spring, by_at.to_vec(), by_scale, by_weights), gradient);
}

#[test]
fn lists_go_to_slices_of_their_length_and_to_any_list() {
    let x = [0.5, -1.0, 2.0];
    let (value, gradient) = chain::value_and_gradient(&x).unwrap();
    let mut slice = [0.0; 3];
    same(chain::gradient_into(&x, &mut slice[..]).unwrap(), value);
    assert_eq!(slice[..], gradient[..]);
    for mut list in [Vec::new(), vec![7.0; 3], vec![7.0; 5]] {
        same(chain::gradient_into(&x, &mut list).unwrap(), value);
        assert_eq!(list, gradient);
    }
    for mut other in [vec![1.0; 2], vec![1.0; 4]] {
        let error = chain::gradient_into(&x, &mut other[..]).unwrap_err();
        assert_eq!(error.code(), Some("A06"), "{error}");
        assert!(error.to_string().contains("3 elements"), "{error}");
        assert!(other.iter().all(|v| *v == 1.0), "{other:?}");
    }
}

#[test]
fn lengths_and_rows_are_those_of_the_argument() {
    let mut g = [0.0; 2];
    same(norm::gradient_into(&[3.0, 4.0], &mut g).unwrap(), norm(&[3.0, 4.0]));
    assert_eq!(g, norm::gradient(&[3.0, 4.0]).unwrap());
    let mut rows = Vec::new();
    for x in [vec![vec![1.0, 2.0], vec![3.0]], vec![vec![1.0], vec![2.0]]] {
        let value = squares::gradient_into(&x, &mut rows).unwrap();
        let expected = squares::value_and_gradient(&x).unwrap();
        assert_eq!((value, &rows), (expected.0, &expected.1));
    }
}

#[test]
fn what_has_no_floats_takes_nothing_of_what_comes_behind() {
    let mut list = Vec::new();
    for x in [vec![], vec![2.0, 3.0]] {
        let kinds = &[Kind::Plain, Kind::Squared][..x.len()];
        let (value, (_, gradient)) = of_kinds::value_and_gradient(kinds, &x).unwrap();
        let mut slice = vec![0.0; x.len()];
        let into = of_kinds::gradient_into(kinds, &x, &mut [][..], &mut slice[..]);
        assert_eq!((into.unwrap(), &slice), (value, &gradient));
        let into = of_kinds::gradient_into(kinds, &x, &mut Vec::new(), &mut list);
        assert_eq!((into.unwrap(), &list), (value, &gradient));
    }
}

#[test]
fn names_of_parameters_are_free_and_errors_write_nothing() {
    let mut by = 0.0;
    assert_eq!(named::gradient_into(2.0, 3.0, 1.0, &mut by).unwrap(), 7.0);
    assert_eq!(by, 3.0);
    assert_eq!(checked::gradient_into(3.0, &mut by).unwrap(), 9.0);
    assert_eq!(by, 6.0);
    assert!(checked::gradient_into(-3.0, &mut by).is_err());
    assert_eq!(by, 6.0);
}

#[test]
fn further_calls_ask_for_no_memory() {
    let x: Vec<f64> = (0..100).map(|k| (k as f64 * 0.3).sin()).collect();
    let points = vec![[1.0, 2.0]; 20];
    let (mut slice, mut list) = (vec![0.0; 100], Vec::new());
    let (mut by_points, mut by_scale) = (vec![[0.0; 2]; 20], 0.0);
    let mut round = || {
        chain::gradient_into(&x, &mut slice[..]).unwrap();
        chain::gradient_into(&x, &mut list).unwrap();
        spread::gradient_into(&points, 1.5, &mut by_points[..], &mut by_scale).unwrap();
    };
    (0..3).for_each(|_| round());
    assert_eq!(allocation_counter::measure(round).count_total, 0);
}
