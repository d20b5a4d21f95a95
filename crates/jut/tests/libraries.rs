//! Parameters, results and fields that are arrays of `ndarray` and `nalgebra`: their values are those of the plain call, bit for bit, and the
//! gradients are of the same types, whatever the order in memory.
#![cfg(all(feature = "macros", feature = "ndarray", feature = "nalgebra"))]

use jut::{Data, differentiable};
use nalgebra::{DMatrix, DVector, Matrix2x3, Matrix3, SMatrix, Vector3};
use ndarray::{Array1, Array2, ArrayView1, ArrayView2, Axis, array};

#[differentiable]
fn form(a: &Array2<f64>, x: &Array1<f64>) -> f64 {
    let mut sum = 0.0;
    for i in 0..a.nrows() {
        for j in 0..a.ncols() {
            sum += x[i] * a[[i, j]] * x[j];
        }
    }
    let (n, m) = a.dim();
    let places: f64 = a.iter().enumerate().map(|(k, v)| v * k as f64).sum();
    sum + places * (n * m) as f64
        + x.iter().sum::<f64>() * x.len() as f64
        + a.len() as f64 * a[(0, 1)]
}

#[test]
fn arrays_of_ndarray_are_read_by_element_and_by_iterator() {
    let (a, x) = (array![[1.0, 2.0], [3.0, 5.0]], array![0.5, -1.5]);
    let (value, (by_a, by_x)) = form::value_and_gradient(&a, &x).unwrap();
    assert_eq!(value, form(&a, &x));
    assert_eq!(by_a, array![[0.25, 3.25 + 4.0], [7.25, 14.25]]);
    assert_eq!(by_x, array![-4.5, -10.5]);
    // By columns in memory: the same elements in the same order.
    let turned = a.t().to_owned();
    assert!(!turned.is_standard_layout());
    assert_eq!(form::value(&turned, &x).unwrap(), form(&turned, &x));
    // Another shape with as many elements, behind it in the same thread.
    let wide = array![[1.0, 2.0, 3.0, 4.0]];
    let out = form::value(&wide, &array![2.0]).unwrap_err().to_string();
    assert!(out.contains("R01") && out.contains("libraries.rs"), "{out}");
    assert_eq!(form::value(&a, &x).unwrap(), value);
}

#[differentiable]
fn weighted(x: ArrayView1<f64>, a: ArrayView2<'_, f32>) -> f64 {
    let mut sum = 0.0;
    for (v, w) in x.iter().zip(a.iter()) {
        sum += v * f64::from(*w);
    }
    sum + x.dim() as f64 * x[0] + a.ncols() as f64
}

#[test]
fn views_are_parameters_and_have_arrays_as_derivatives() {
    let (x, a) = (array![0.5, -1.5, 2.0], array![[1.0_f32, 2.0], [3.0, 5.0]]);
    let (value, (by_x, by_a)) = weighted::value_and_gradient(x.view(), a.view()).unwrap();
    assert_eq!(value, weighted(x.view(), a.view()));
    assert_eq!((by_x, by_a), (array![4.0, 2.0, 3.0], array![[0.5, -1.5], [2.0, 0.0]]));
    let (mut back, turned) = (x.view(), a.t());
    back.invert_axis(Axis(0));
    let value = weighted::value(back, turned).unwrap();
    assert_eq!(value, weighted(back, turned));
    assert_eq!(value, 6.5);
}

#[differentiable]
fn moved(x: &Array1<f64>, h: f64) -> Array1<f64> {
    let mut y = x.clone();
    for i in 0..y.len() {
        y[i] += h * x[i] * x[(i + 1) % x.len()];
    }
    y
}

#[differentiable]
fn mixed(a: &Array2<f64>, k: f64) -> Array2<f64> {
    let mut b = a.clone();
    for i in 0..a.nrows() {
        for j in 0..a.ncols() {
            b[[i, j]] += a[[j, i]] * k;
        }
    }
    b
}

#[differentiable]
fn twice_moved(x: &Array1<f64>) -> f64 {
    let y = moved(&moved(x, 0.5), 0.25);
    let mut z: Array1<f64> = Array1::zeros(2);
    for (k, v) in y.iter().enumerate() {
        z[k % 2] += *v;
    }
    z[0] * z[1]
}

#[test]
fn arrays_of_ndarray_are_results_and_are_changed_by_element() {
    let x = array![0.5, -1.5];
    assert_eq!(moved::value(&x, 0.5).unwrap(), moved(&x, 0.5));
    let (y, d_y) = moved::jvp(&x, 0.5, &array![1.0, 0.0], 0.0).unwrap();
    assert_eq!((y, d_y), (array![0.125, -1.875], array![0.25, -0.75]));
    let a = array![[1.0, 2.0], [3.0, 5.0]];
    assert_eq!(mixed::value(&a, 0.5).unwrap(), mixed(&a, 0.5));
    let (_, (by_a, by_k)) = mixed::vjp(&a, 0.5, &a).unwrap();
    assert_eq!((by_a, by_k), (array![[1.5, 3.5], [4.0, 7.5]], 38.0));
    let (value, by_x) = twice_moved::value_and_gradient(&x).unwrap();
    assert_eq!(value, twice_moved(&x));
    for k in 0..2 {
        let at = |h: f64| {
            let mut x = x.clone();
            x[k] += h;
            twice_moved(&x)
        };
        assert!((by_x[k] - (at(1e-5) - at(-1e-5)) / 2e-5).abs() < 1e-9);
    }
    let along = twice_moved::hvp(&x, &array![1.0, 0.0]).unwrap();
    let there = twice_moved::gradient(&array![0.5 + 1e-5, -1.5]).unwrap();
    assert!((along[0] - (there[0] - by_x[0]) / 1e-5).abs() < 1e-4);
    let none: Array1<f64> = array![];
    assert_eq!(moved::value(&none, 1.0).unwrap(), none);
}

#[differentiable]
fn blended(m: &DMatrix<f64>, v: &DVector<f64>, r: &Matrix3<f64>, w: &Vector3<f64>) -> f64 {
    let mut sum = 0.0;
    for i in 0..m.nrows() {
        for j in 0..m.ncols() {
            sum += m[(i, j)] * v[j] * (i as f64 + 1.0);
        }
    }
    // By columns.
    let places: f64 = m.iter().enumerate().map(|(k, v)| v * k as f64).sum();
    let squares: f64 = r.iter().enumerate().map(|(k, v)| v * v * k as f64).sum();
    let traced: f64 = (0..3).map(|i| r[(i, i)] * w[i]).sum();
    let sizes = m.shape().1 + v.nrows() * v.ncols() + w.len() + r.len() + w.nrows();
    sum + places + squares + traced + w.iter().product::<f64>() + sizes as f64
}

#[test]
fn matrices_of_nalgebra_are_read_by_element_and_by_columns() {
    let m = DMatrix::from_row_slice(2, 3, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let (v, w) = (DVector::from_vec(vec![0.5, 0.25, 2.0]), Vector3::new(0.5, 2.0, 4.0));
    let r = Matrix3::new(1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.5);
    let (value, (by_m, by_v, by_r, by_w)) = blended::value_and_gradient(&m, &v, &r, &w).unwrap();
    assert_eq!(value, blended(&m, &v, &r, &w));
    assert_eq!(by_m, DMatrix::from_row_slice(2, 3, &[0.5, 2.25, 6.0, 2.0, 3.5, 9.0]));
    assert_eq!(by_v, DVector::from_vec(vec![9.0, 12.0, 15.0]));
    let slopes = [0.5, 12.0, 36.0, 8.0, 42.0, 84.0, 28.0, 80.0, 156.0];
    assert_eq!(by_r, Matrix3::from_row_slice(&slopes));
    assert_eq!(by_w, Vector3::new(9.0, 7.0, 10.5));
}

#[differentiable]
fn turned(m: &SMatrix<f64, 2, 3>, v: DVector<f64>) -> DVector<f64> {
    let mut out = DVector::zeros(m.ncols());
    for j in 0..m.ncols() {
        for i in 0..m.nrows() {
            out[j] += m[(i, j)] * v[i];
        }
    }
    out
}

#[test]
fn vectors_of_nalgebra_are_results() {
    let (m, v) = (Matrix2x3::new(1.0, 2.0, 3.0, 4.0, 5.0, 6.0), DVector::from_vec(vec![0.5, 2.0]));
    assert_eq!(turned::value(&m, v.clone()).unwrap(), turned(&m, v.clone()));
    let (out, (by_m, by_v)) = turned::vjp(&m, v, &DVector::from_vec(vec![1.0, 0.0, 2.0])).unwrap();
    assert_eq!(out, DVector::from_vec(vec![8.5, 11.0, 13.5]));
    assert_eq!(by_m, Matrix2x3::new(0.5, 0.0, 1.0, 2.0, 0.0, 4.0));
    assert_eq!(by_v, DVector::from_vec(vec![7.0, 16.0]));
}

#[derive(Data, Clone, Debug, PartialEq)]
struct Layer {
    weights: Array2<f64>,
    shift: Array1<f64>,
    gains: Vector3<f64>,
}

#[differentiable]
impl Layer {
    fn out(&self, x: &Array1<f64>) -> f64 {
        let mut sum = 0.0;
        for i in 0..self.shift.len() {
            let mut z = self.shift[i];
            for j in 0..x.len() {
                z += self.weights[[i, j]] * x[j];
            }
            sum += z * z * self.gains[i];
        }
        sum
    }
}

#[test]
fn arrays_of_libraries_are_fields() {
    let layer = Layer {
        weights: array![[1.0, 2.0], [3.0, 5.0]],
        shift: array![0.5, -1.5],
        gains: Vector3::new(1.0, 0.5, 9.0),
    };
    let x = array![1.0, -2.0];
    let (value, (by_layer, by_x)) = Layer_out::value_and_gradient(&layer, &x).unwrap();
    assert_eq!(value, layer.out(&x));
    assert_eq!(
        by_layer,
        Layer {
            weights: array![[-5.0, 10.0], [-8.5, 17.0]],
            shift: array![-5.0, -8.5],
            gains: Vector3::new(6.25, 72.25, 0.0),
        }
    );
    assert_eq!(by_x, array![-30.5, -52.5]);
}
