//! Arrays of other libraries: whatever their layout, jut sees the elements that the library shows;
//! nothing is allocated in the steady state; results are borrowed.

#![cfg(any(feature = "ndarray", feature = "nalgebra", feature = "faer"))]

use jut::{Arg, Model, Session};

/// Gives its arguments back in places that tell them apart.
const PROGRAM: &str = "
def weighted[n, m](a: [n, m]f64, x: [m]f64, k: [n]i64) -> (s: f64, p: [n, m]f64, y: [n]f64) = {
  s = sum (i < n) { f64(k[i]) * sum (j < m) { a[i, j] * x[j] * f64(10 * i + j) } }
  p = build (i < n) { build (j < m) { a[i, j] * x[j] } }
  y = build (i < n) { f64(k[i]) * a[i, 0] }
  (s, p, y)
}
def vector[n](x: [n]f64) -> [n]f64 = build (i < n) { x[i] }
";

fn session(name: &str) -> Session {
    let model = Model::from_text(PROGRAM).unwrap_or_else(|e| panic!("{e}"));
    let f = model.function(name).and_then(|f| f.value()).unwrap_or_else(|e| panic!("{e}"));
    f.session()
}

/// What `weighted` is, by the definition.
fn expected(a: &dyn Fn(usize, usize) -> f64, x: &[f64], k: &[i64]) -> (f64, Vec<f64>, Vec<f64>) {
    let (mut s, mut p, mut y) = (0.0, Vec::new(), Vec::new());
    for (i, k) in k.iter().enumerate() {
        let row: f64 = (0..x.len()).map(|j| a(i, j) * x[j] * (10 * i + j) as f64).sum();
        s += *k as f64 * row;
        p.extend((0..x.len()).map(|j| a(i, j) * x[j]));
        y.push(*k as f64 * a(i, 0));
    }
    (s, p, y)
}

fn check(args: &[Arg<'_>], expected: (f64, Vec<f64>, Vec<f64>)) {
    let mut session = session("weighted");
    let mut call = || {
        let results = session.call(args).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(results.f64("s").ok(), Some(expected.0));
        assert_eq!(results.f64s("p").ok(), Some(&expected.1[..]));
        assert_eq!(results.f64s("y").ok(), Some(&expected.2[..]));
    };
    call();
    assert_eq!(allocation_counter::measure(call).count_total, 0, "{args:?}");
}

#[cfg(feature = "ndarray")]
mod ndarray_views {
    use super::*;
    use ndarray::{
        Array1, Array2, ArrayD, ArrayView1, ArrayView2, ArrayView3, ArrayViewD, Axis, Slice, array,
    };

    /// Rows and columns as `first..last;step` each.
    fn cut(a: &Array2<f64>, rows: Slice, columns: Slice) -> ArrayView2<'_, f64> {
        a.slice_each_axis(|axis| if axis.axis == Axis(0) { rows } else { columns })
    }

    fn part<T>(x: &Array1<T>, slice: Slice) -> ArrayView1<'_, T> {
        x.slice_axis(Axis(0), slice)
    }

    #[test]
    fn every_layout_of_a_view_is_seen_as_the_view_shows_it() {
        let whole = Array2::from_shape_fn((6, 8), |(i, j)| (i * 8 + j) as f64 * 0.25 - 3.0);
        let x = Array1::from_shape_fn(9, |j| j as f64 - 1.5);
        let k = Array1::from_shape_fn(16, |i| 3 * i as i64 - 7);
        let views: [ArrayView2<'_, f64>; 6] = [
            whole.view(),
            whole.t(),
            cut(&whole, Slice::from(1..4), Slice::from(2..5)),
            cut(&whole, Slice::from(..).step_by(2), Slice::from(..).step_by(3)),
            cut(&whole, Slice::from(..).step_by(-1), Slice::from(..).step_by(-2)),
            cut(&whole, Slice::from(2..3), Slice::from(..)),
        ];
        for a in views {
            let (n, m) = a.dim();
            let xs = [part(&x, Slice::from(..m)), part(&x, Slice::from(..m).step_by(-1))];
            let ks = [part(&k, Slice::from(..n)), part(&k, Slice::from(..2 * n).step_by(2))];
            for (x, k) in xs.iter().zip(&ks) {
                let at = |i: usize, j: usize| a[(i, j)];
                let wanted = expected(&at, &x.to_vec(), &k.to_vec());
                check(&[(&a).into(), x.into(), k.into()], wanted);
            }
        }
        let column_major = Array2::from_shape_vec(
            ndarray::ShapeBuilder::f((2, 3)),
            vec![1.0, 4.0, 2.0, 5.0, 3.0, 6.0],
        );
        let a = column_major.expect("it fits");
        let (x, k) = (array![1.0, 10.0, 100.0], array![1, 2]);
        let wanted = expected(&|i, j| (3 * i + j + 1) as f64, &x.to_vec(), &k.to_vec());
        check(&[(&a).into(), (&x).into(), (&k).into()], wanted);
    }

    #[test]
    fn results_are_borrowed_and_moved_into_arrays() {
        let mut session = session("weighted");
        let (a, x, k) = (array![[1.0, 2.0], [3.0, 4.0]], array![1.0, 2.0], array![1i64, 0]);
        let results = session.call(&[(&a).into(), (&x).into(), (&k).into()]).expect("it runs");
        let p: ArrayView2<'_, f64> = results.ndarray("p").expect("rank two");
        assert_eq!(p, array![[1.0, 4.0], [3.0, 8.0]]);
        let any: ArrayViewD<'_, f64> = results.ndarray("p").expect("any rank");
        assert_eq!(any.sum_axis(Axis(0)), array![4.0, 12.0].into_dyn());
        let wrong = results.ndarray::<f64, ndarray::Ix3>("p");
        let text = wrong.map(|_: ArrayView3<'_, f64>| ()).expect_err("rank two").to_string();
        assert_eq!(
            text,
            "the result `p` has 2 dimensions, [2, 2], and is asked for with 3 of them"
        );
        assert!(results.ndarray::<i64, ndarray::Ix2>("p").is_err());
        let jut::Value::F64s(own) = results.value(1).expect("p") else { panic!("an array") };
        let owned: ArrayD<f64> = own.try_into().expect("it fits");
        assert_eq!(owned, p.into_dyn());
        let misfit = jut::Array { shape: vec![2, 2], data: vec![1.0; 3] };
        assert!(ArrayD::try_from(misfit).is_err());
    }

    #[test]
    fn a_view_that_does_not_fit_names_its_parameter_and_its_shape() {
        let mut session = session("weighted");
        let (a, x, k) = (array![[1.0, 2.0], [3.0, 4.0]], array![1.0, 2.0, 3.0], array![1i64, 0]);
        let call = session.call(&[(&a).into(), (&x).into(), (&k).into()]);
        let error = call.map(|_| ()).expect_err("three of two");
        let text = error.to_string();
        assert_eq!(
            text,
            "argument `x`: expected [m]f64, got an array [3]f64: dimension 1 must be 2"
        );
        assert_eq!(error.code(), Some("A03"));
        let drawn = error.render(false);
        for part in ["[A03] Error", "x: [m]f64", "all arguments together make n = 2, m = 2"] {
            assert!(drawn.contains(part), "{part} is missing in\n{drawn}");
        }
        let swapped = session.call(&[(&x).into(), (&a).into(), (&k).into()]).map(|_| ());
        assert_eq!(swapped.expect_err("rank one for rank two").code(), Some("A04"));
        let inside = [(&x).into(), 1.0.into()];
        let tuple = session.call(&[Arg::Tuple(&inside), (&x).into(), (&k).into()]).map(|_| ());
        assert_eq!(tuple.expect_err("a tuple").code(), Some("A02"));
    }

    #[test]
    fn one_session_takes_slices_and_views_in_any_order() {
        let mut session = session("vector");
        let long = Array1::from_shape_fn(8, |i| i as f64);
        for step in [1, 2, 3] {
            let view = part(&long, Slice::from(..).step_by(step));
            let results = session.call(&[(&view).into()]).expect("it runs");
            assert_eq!(results.f64s("value").ok(), Some(&view.to_vec()[..]));
            let plain = [step as f64];
            let results = session.call(&[(&plain).into()]).expect("it runs");
            assert_eq!(results.f64s("value").ok(), Some(&plain[..]));
        }
    }
}

#[cfg(feature = "nalgebra")]
mod nalgebra_views {
    use super::*;
    use nalgebra::{DMatrix, DVector, Matrix2x3, RowDVector, Vector2, Vector3};

    #[test]
    fn matrices_and_vectors_are_seen_row_by_row() {
        let a = Matrix2x3::new(1.0, 2.0, 3.0, 4.0, 5.0, 6.0);
        let (x, k) = (Vector3::new(1.0, 10.0, 100.0), Vector2::new(1i64, 2));
        let at = |i: usize, j: usize| a[(i, j)];
        let wanted = || expected(&at, x.as_slice(), k.as_slice());
        check(&[(&a).into(), (&x).into(), (&k).into()], wanted());
        let (dynamic, dx) = (DMatrix::from_fn(2, 3, at), DVector::from_column_slice(x.as_slice()));
        check(&[(&dynamic).into(), (&dx).into(), (&k).into()], wanted());
        let row = RowDVector::from_row_slice(x.as_slice());
        check(&[(&dynamic).into(), (&row).into(), (&k).into()], wanted());
        // Views: a block, a column, a row, a strided one.
        let whole = DMatrix::from_fn(5, 7, |i, j| (7 * i + j) as f64 - 9.0);
        let block = whole.view((1, 2), (2, 3));
        let row = whole.row(4);
        let x = row.columns(1, 3);
        let wanted = expected(&|i, j| whole[(i + 1, j + 2)], &[20.0, 21.0, 22.0], k.as_slice());
        check(&[(&block).into(), (&x).into(), (&k).into()], wanted);
        let strided = whole.view_with_steps((0, 0), (2, 3), (2, 1));
        let column = whole.column(3);
        let x = column.rows(1, 3);
        let x_values = [whole[(1, 3)], whole[(2, 3)], whole[(3, 3)]];
        let wanted = expected(&|i, j| whole[(3 * i, 2 * j)], &x_values, k.as_slice());
        check(&[(&strided).into(), (&x).into(), (&k).into()], wanted);
    }

    #[test]
    fn results_are_views_with_the_right_strides() {
        let mut session = session("weighted");
        let (a, x, k) = (
            Matrix2x3::new(1.0, 2.0, 3.0, 4.0, 5.0, 6.0),
            DVector::from_vec(vec![1.0, 2.0, 3.0]),
            Vector2::new(1i64, -1),
        );
        let results = session.call(&[(&a).into(), (&x).into(), (&k).into()]).expect("it runs");
        let p = results.nalgebra::<f64>("p").expect("rank two");
        assert_eq!(p.into_owned(), DMatrix::from_fn(2, 3, |i, j| a[(i, j)] * x[j]));
        let y = results.nalgebra_vector::<f64>("y").expect("rank one");
        assert_eq!(y.into_owned(), DVector::from_vec(vec![1.0, -4.0]));
        let text = results.nalgebra::<f64>("y").map(|_| ()).expect_err("rank one").to_string();
        assert_eq!(
            text,
            "the result `y` has 1 dimensions, [2], and is asked for with 2 dimensions"
        );
        // Empty ones too.
        let (a, x, k) = (DMatrix::<f64>::zeros(0, 3), x, DVector::<i64>::zeros(0));
        let results = session.call(&[(&a).into(), (&x).into(), (&k).into()]).expect("it runs");
        assert_eq!(results.nalgebra::<f64>("p").expect("rank two").shape(), (0, 3));
    }
}

#[cfg(feature = "faer")]
mod faer_views {
    use super::*;
    use faer::{Col, Mat, MatRef, Row};

    #[test]
    fn matrices_and_vectors_are_seen_row_by_row() {
        let whole = Mat::from_fn(5, 7, |i, j| (7 * i + j) as f64 - 9.0);
        let k = Col::from_fn(2, |i| 1 + i as i64);
        let x = Col::from_fn(3, |j| j as f64 + 0.5);
        let xs = [0.5, 1.5, 2.5];
        let at = |i: usize, j: usize| whole[(i + 1, j + 2)];
        let block = whole.submatrix(1, 2, 2, 3);
        check(&[(&block).into(), (&x).into(), (&k).into()], expected(&at, &xs, &[1, 2]));
        let row = Row::from_fn(3, |j| j as f64 + 0.5);
        let owned = Mat::from_fn(2, 3, at);
        check(&[(&owned).into(), (&row).into(), (&k).into()], expected(&at, &xs, &[1, 2]));
        // Transposed, reversed, row-major, and rows and columns of matrices.
        let turned = whole.submatrix(0, 0, 3, 2).transpose();
        let wanted = expected(&|i, j| whole[(j, i)], &xs, &[1, 2]);
        check(&[(&turned).into(), (&x).into(), (&k).into()], wanted);
        let reversed = whole.submatrix(0, 0, 2, 3).reverse_rows_and_cols();
        let line = whole.row(4).subcols(1, 3);
        let wanted = expected(&|i, j| whole[(1 - i, 2 - j)], &[20.0, 21.0, 22.0], &[1, 2]);
        check(&[(&reversed).into(), (&line).into(), (&k).into()], wanted);
        let data = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        let rows = MatRef::from_row_major_slice(&data, 2, 3);
        let column = whole.col(3).subrows(1, 3);
        let x_values = [whole[(1, 3)], whole[(2, 3)], whole[(3, 3)]];
        let wanted = expected(&|i, j| data[3 * i + j], &x_values, &[1, 2]);
        check(&[(&rows).into(), (&column).into(), (&k).into()], wanted);
    }

    #[test]
    fn results_are_views_with_the_right_strides() {
        let mut session = session("weighted");
        let a = Mat::from_fn(2, 3, |i, j| (3 * i + j) as f64);
        let (x, k) = (Col::from_fn(3, |j| j as f64 + 1.0), Col::from_fn(2, |i| 2 * i as i64));
        let results = session.call(&[(&a).into(), (&x).into(), (&k).into()]).expect("it runs");
        let p: Mat<f64> = results.faer::<f64>("p").expect("rank two").to_owned();
        assert_eq!(p, Mat::from_fn(2, 3, |i, j| a[(i, j)] * x[j]));
        let y = results.faer_col::<f64>("y").expect("rank one");
        assert_eq!((y[0], y[1]), (0.0, 6.0));
        assert!(results.faer::<f64>("y").is_err());
        assert!(results.faer_col::<i64>("y").is_err());
    }
}
