//! Lists of lists of one length: matrices as they are often written.

use super::{close, differences, same};
use jut::{Data, differentiable};

#[differentiable]
fn squares(x: &[Vec<f64>]) -> f64 {
    x.iter().map(|row| row.iter().map(|v| v * v).sum::<f64>()).sum()
}

#[differentiable]
fn product(a: &Vec<Vec<f64>>, b: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let (n, k, m) = (a.len(), b.len(), if b.is_empty() { 0 } else { b[0].len() });
    let mut c = vec![vec![0.0; m]; n];
    for i in 0..n {
        for j in 0..m {
            for l in 0..k {
                c[i][j] += a[i][l] * b[l][j];
            }
        }
    }
    c
}

#[differentiable]
fn solve(a: &[Vec<f64>], b: &[f64]) -> Vec<f64> {
    let n = b.len();
    let mut a: Vec<Vec<f64>> = a.to_vec();
    let mut x = b.to_vec();
    for k in 0..n {
        let mut p = k;
        for i in k + 1..n {
            if a[i][k].abs() > a[p][k].abs() {
                p = i;
            }
        }
        a.swap(k, p);
        x.swap(k, p);
        for i in k + 1..n {
            let f = a[i][k] / a[k][k];
            for j in k..n {
                let pivot = a[k][j];
                a[i][j] -= f * pivot;
            }
            let pivot = x[k];
            x[i] -= f * pivot;
        }
    }
    for i in (0..n).rev() {
        for j in i + 1..n {
            let right = x[j];
            x[i] -= a[i][j] * right;
        }
        x[i] /= a[i][i];
    }
    x
}

#[differentiable]
fn layers(net: &[Vec<f64>], x: &[f64]) -> f64 {
    let hidden: Vec<f64> =
        net.iter().map(|row| row.iter().zip(x).map(|(w, v)| w * v).sum::<f64>().max(0.0)).collect();
    let total = product(&net.to_vec(), &vec![x.to_vec(); x.len()]);
    hidden.iter().sum::<f64>() + total[0][0] + squares(net)
}

#[differentiable]
fn scaled(x: &mut [Vec<f64>], by: f64) {
    for row in x.iter_mut() {
        for v in row.iter_mut() {
            *v *= by;
        }
    }
    for i in 0..x.len() {
        x[i][0] += 1.0;
    }
}

#[differentiable]
fn outer(x: &[f64], y: &[f64]) -> Vec<Vec<f64>> {
    x.iter().map(|a| y.iter().map(|b| a * b).collect()).collect()
}

#[derive(Data, Clone, Debug, PartialEq)]
struct Layer {
    weights: Vec<Vec<f64>>,
    bias: Vec<f64>,
}

#[differentiable]
fn forward(layer: &Layer, x: &[f64]) -> f64 {
    let mut s = 0.0;
    for (row, b) in layer.weights.iter().zip(&layer.bias) {
        let z = row.iter().zip(x).map(|(w, v)| w * v).sum::<f64>() + b;
        s += z * z;
    }
    s
}

fn matrix(n: usize, m: usize) -> Vec<Vec<f64>> {
    (0..n).map(|i| (0..m).map(|j| ((i * m + j) as f64 * 0.7).cos() + 0.1).collect()).collect()
}

fn rows(x: &[f64], m: usize) -> Vec<Vec<f64>> {
    x.chunks(m).map(<[f64]>::to_vec).collect()
}

#[test]
fn matrices_are_lists_of_lists() {
    let (a, b) = (matrix(2, 3), matrix(3, 4));
    same(squares::value(&a).unwrap(), squares(&a));
    let by = squares::gradient(&a).unwrap();
    by.concat().iter().zip(a.concat()).for_each(|(d, v)| assert_eq!(*d, 2.0 * v));
    assert_eq!(product::value(&a, &b).unwrap(), product(&a, &b));
    assert_eq!(outer::value(&a[0], &b[0]).unwrap(), outer(&a[0], &b[0]));
    let (value, tangent) = product::jvp(&a, &b, &a, &matrix(3, 4)).unwrap();
    assert_eq!(value, product(&a, &b));
    close(&tangent.concat(), &value.concat().iter().map(|v| 2.0 * v).collect::<Vec<_>>());
    let (_, (by_a, _)) = product::vjp(&a, &b, &vec![vec![1.0; 4]; 2]).unwrap();
    let f = |x: &[f64]| product(&rows(x, 3), &b).concat().iter().sum::<f64>();
    close(&by_a.concat(), &differences(f, &a.concat()));
    assert_eq!(by_a.len(), 2);

    let mut system = matrix(4, 4);
    for (i, row) in system.iter_mut().enumerate() {
        row[i] += 2.0;
    }
    assert_eq!(solve::value(&system, &b[0]).unwrap(), solve(&system, &b[0]));
    let (_, (by_system, _)) = solve::vjp(&system, &b[0], &vec![1.0; 4]).unwrap();
    let f = |x: &[f64]| solve(&rows(x, 4), &b[0]).iter().sum::<f64>();
    close(&by_system.concat(), &differences(f, &system.concat()));

    same(layers::value(&a, &b[0][..3]).unwrap(), layers(&a, &b[0][..3]));
    let by = layers::gradient(&a, &b[0][..3]).unwrap().0;
    let f = |x: &[f64]| layers(&rows(x, 3), &b[0][..3]);
    close(&by.concat(), &differences(f, &a.concat()));

    let mut changed = a.clone();
    scaled(&mut changed, 3.0);
    assert_eq!(scaled::value(&a, 3.0).unwrap(), changed);

    let layer = Layer { weights: a.clone(), bias: vec![0.5, -0.5] };
    same(forward::value(&layer, &b[0][..3]).unwrap(), forward(&layer, &b[0][..3]));
    let by = forward::gradient(&layer, &b[0][..3]).unwrap().0;
    let f = |x: &[f64]| forward(&Layer { weights: rows(x, 3), ..layer.clone() }, &b[0][..3]);
    close(&by.weights.concat(), &differences(f, &a.concat()));
}

#[test]
fn rows_have_one_length() {
    let x = [vec![1.0, 2.0], vec![3.0]];
    // What solves equations takes no others.
    let error = solve::value(&x, &[1.0, 2.0]).unwrap_err();
    assert!(matches!(error.code(), Some("A03" | "R01")), "{error}");
    assert_eq!(squares::value(&x).unwrap(), squares(&x));
    assert_eq!(squares::gradient(&[]).unwrap(), Vec::<Vec<f64>>::new());
    assert_eq!(squares::gradient(&[vec![], vec![]]).unwrap(), vec![Vec::<f64>::new(); 2]);
}
