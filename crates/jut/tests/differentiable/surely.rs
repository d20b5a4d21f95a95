//! Functions that give a list or nothing, and `unwrap` and `expect` of what functions give.

use jut::{Data, differentiable};

/// Elimination with exchange of rows.
#[differentiable]
fn solve(mut a: Vec<Vec<f64>>, mut b: Vec<f64>) -> Option<Vec<f64>> {
    let n = b.len();
    for col in 0..n {
        let pivot = (col..n).max_by(|&i, &j| a[i][col].abs().total_cmp(&a[j][col].abs()))?;
        if a[pivot][col].abs() < 1e-14 {
            return None;
        }
        a.swap(col, pivot);
        b.swap(col, pivot);
        for row in col + 1..n {
            let factor = a[row][col] / a[col][col];
            for k in col..n {
                a[row][k] -= factor * a[col][k];
            }
            b[row] -= factor * b[col];
        }
    }
    let mut x = vec![0.0; n];
    for i in (0..n).rev() {
        let s: f64 = (i + 1..n).map(|j| a[i][j] * x[j]).sum();
        x[i] = (b[i] - s) / a[i][i];
    }
    Some(x)
}

fn matrix(x: &[f64]) -> Vec<Vec<f64>> {
    vec![vec![x[0], x[1]], vec![x[2], x[3]]]
}

#[differentiable]
fn work(x: &[f64]) -> f64 {
    let a = vec![vec![x[0], x[1]], vec![x[2], x[3]]];
    let u = solve(a, vec![x[4], 1.0]).expect("the matrix is singular");
    u.iter().map(|v| v * v).sum()
}

/// `?` of such a function and of one of a number, in a function that gives a list or nothing.
#[differentiable]
fn refined(x: &[f64]) -> Option<Vec<f64>> {
    let a = vec![vec![x[0], x[1]], vec![x[2], x[3]]];
    let u = solve(a, vec![1.0, x[4]])?;
    let scale = root(x[0])?;
    let top = x.iter().copied().reduce(f64::max)?;
    if scale > 3.0 { None } else { Some(u.iter().map(|v| v * scale + top).collect()) }
}

#[differentiable]
fn root(x: f64) -> Option<f64> {
    if x < 0.0 { None } else { Some(x.sqrt()) }
}

#[derive(Debug)]
#[allow(dead_code)]
enum Failure {
    Negative(usize),
}

#[derive(Data, Clone)]
struct Roots {
    of: Vec<f64>,
}

#[differentiable]
impl Roots {
    fn all(&self) -> Result<Vec<f64>, Failure> {
        let mut all = vec![0.0; self.of.len()];
        for i in 0..self.of.len() {
            if self.of[i] < 0.0 {
                return Err(Failure::Negative(i));
            }
            all[i] = self.of[i].sqrt();
        }
        Ok(all)
    }
    fn first(&self) -> Result<f64, Failure> {
        if self.of[0] < 0.0 { Err(Failure::Negative(0)) } else { Ok(self.of[0].sqrt()) }
    }
}

#[differentiable]
fn unwrapped(x: &[f64]) -> f64 {
    let roots = Roots { of: x.to_vec() };
    let all = roots.all().unwrap();
    root(all[0]).unwrap() * root(x[1]).expect("no root")
        + all.iter().sum::<f64>()
        + roots.first().unwrap()
}

#[test]
fn a_list_or_nothing_is_a_result() {
    let x = [2.0, 1.0, 3.0, -1.0, 0.5];
    assert_eq!(
        solve::value(matrix(&x), vec![1.0, 2.0]).unwrap(),
        solve(matrix(&x), vec![1.0, 2.0]).unwrap()
    );
    assert_eq!(refined::value(&x).unwrap(), refined(&x).unwrap());
    let (_, slopes) = refined::jvp(&x, &[1.0, 0.0, 0.0, 0.0, 0.0]).unwrap();
    for k in 0..2 {
        let of = |x: &[f64]| refined(x).unwrap()[k];
        super::close(&slopes[k..=k], &super::differences(of, &x)[..1]);
    }
    agree! {
        work at [2.0, 1.0, 3.0, -1.0, 0.5], [0.0, 1.0, 3.0, -1.0, 0.5];
        unwrapped at [4.0, 2.0, 0.25];
    }
}

#[test]
fn what_is_none_is_an_error_with_its_place() {
    let error = work::gradient(&[1.0, 1.0, 1.0, 1.0, 0.5]).unwrap_err();
    assert_eq!(error.code(), Some("R12"));
    assert!(error.to_string().contains("a `None`"), "{error}");
    for x in [[-2.0, 1.0, 3.0, 5.0, 0.5], [16.0, 1.0, 3.0, 5.0, 0.5], [1.0, 1.0, 1.0, 1.0, 0.5]] {
        assert!(refined(&x).is_none());
        assert_eq!(refined::value(&x).unwrap_err().code(), Some("R12"));
    }
    let error = unwrapped::gradient(&[1.0, 2.0, -1.0]).unwrap_err();
    assert!(error.to_string().contains("Failure::Negative(i)"), "{error}");
    let error = unwrapped::gradient(&[1.0, -2.0]).unwrap_err();
    assert_eq!(error.code(), Some("R12"));
}
