//! Rows of different lengths that functions give to each other.

use jut::{Data, differentiable};

#[differentiable]
fn scaled(rows: &[Vec<f64>], a: f64) -> Vec<Vec<f64>> {
    rows.iter().map(|r| r.iter().map(|v| a * v).collect()).collect()
}

#[differentiable]
fn twice(rows: &[Vec<f64>], a: f64) -> Vec<Vec<f64>> {
    let once: Vec<Vec<f64>> = scaled(rows, a);
    scaled(&once, a)
}

#[differentiable]
fn squares(rows: &[Vec<f64>]) -> f64 {
    let all: Vec<Vec<f64>> = twice(rows, 2.0);
    let mut s = 0.0;
    for (i, row) in all.iter().enumerate() {
        for v in row {
            s += v * v * (i + 1) as f64;
        }
    }
    s + all[0].len() as f64
}

#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct Layer {
    gain: f64,
}

#[differentiable]
impl Layer {
    fn apply(&self, rows: &[Vec<f64>]) -> Vec<Vec<f64>> {
        let all: Vec<Vec<f64>> = scaled(rows, self.gain);
        all.iter().map(|r| r.iter().map(|v| v + self.gain).collect()).collect()
    }
}

#[differentiable]
fn layered(layer: &Layer, rows: &[Vec<f64>]) -> f64 {
    let first: Vec<Vec<f64>> = layer.apply(rows);
    let second: Vec<Vec<f64>> = layer.apply(&first);
    second.iter().map(|r| r.iter().product::<f64>()).sum()
}

/// Rows that this function makes.
#[differentiable]
fn triangle(x: &[f64]) -> f64 {
    let mut rows: Vec<Vec<f64>> = Vec::new();
    for i in 0..x.len() {
        rows.push(x[..i + 1].to_vec());
    }
    let all: Vec<Vec<f64>> = scaled(&rows, x[0]);
    all.iter().map(|r| r.iter().product::<f64>()).sum()
}

#[test]
fn rows_go_from_function_to_function() {
    let rows = [vec![1.0, 2.0], vec![3.0], vec![], vec![0.5, -1.0, 2.0]];
    for rows in [&rows[..], &rows[..1], &[vec![1.0, 2.0], vec![3.0, 4.0]]] {
        assert_eq!(twice::value(rows, 3.0).unwrap(), twice(rows, 3.0));
        assert_eq!(squares::value(rows).unwrap(), squares(rows));
        let by = squares::gradient(rows).unwrap();
        for (i, row) in rows.iter().enumerate() {
            let own: Vec<f64> = row.iter().map(|v| 32.0 * v * (i + 1) as f64).collect();
            assert_eq!(by[i], own);
        }
        let layer = Layer { gain: 0.5 };
        assert_eq!(Layer_apply::value(&layer, rows).unwrap(), layer.apply(rows));
        let (value, (by_layer, by_rows)) = layered::value_and_gradient(&layer, rows).unwrap();
        assert_eq!(value, layered(&layer, rows));
        let at = |h: f64| layered(&Layer { gain: 0.5 + h }, rows);
        assert!((by_layer.gain - (at(1e-6) - at(-1e-6)) / 2e-6).abs() < 1e-6);
        assert_eq!(
            by_rows.iter().map(Vec::len).collect::<Vec<_>>(),
            rows.iter().map(Vec::len).collect::<Vec<_>>()
        );
    }
    everywhere! {
        triangle at [1.5, 0.5, -2.0];
    }
}

// Rows that functions make of lists.
#[differentiable]
fn lower(x: &[f64]) -> Vec<Vec<f64>> {
    (0..x.len()).map(|i| x[..i + 1].to_vec()).collect()
}

#[differentiable]
fn groups(x: &[f64], limit: f64) -> Vec<Vec<f64>> {
    let mut all: Vec<Vec<f64>> = Vec::new();
    let mut own: Vec<f64> = Vec::new();
    for &v in x {
        if v > limit && !own.is_empty() {
            all.push(own.clone());
            own.clear();
        }
        own.push(v * v);
    }
    all.push(own.clone());
    all
}

#[differentiable]
fn square(x: &[f64]) -> Vec<Vec<f64>> {
    x.iter().map(|a| x.iter().map(|b| a * b).collect()).collect()
}

#[test]
fn rows_that_a_function_makes() {
    let x = [1.0, 2.0, 3.0, 0.5];
    assert_eq!(lower::value(&x).unwrap(), lower(&x));
    assert_eq!(lower::value(&x[..1]).unwrap(), lower(&x[..1]));
    assert_eq!(lower::value(&[]).unwrap(), lower(&[]));
    assert_eq!(square::value(&x).unwrap(), square(&x));
    let d = [0.5, -1.0, 0.0, 2.0];
    let (value, tangent) = lower::jvp(&x, &d).unwrap();
    assert_eq!((value, tangent), (lower(&x), lower(&d)));
    let (_, by_x) = lower::vjp(&x, &lower(&[1.0, 1.0, 1.0, 1.0])).unwrap();
    assert_eq!(by_x, [4.0, 3.0, 2.0, 1.0]);
    assert_eq!(groups::value(&x, 1.5).unwrap(), groups(&x, 1.5));
}

// Calls whose type is not written.
#[differentiable]
fn untyped(rows: &[Vec<f64>]) -> f64 {
    let all = scaled(rows, 2.0);
    let mut changed = scaled(&all, 0.5);
    changed[0][0] += all[0].len() as f64;
    let mut s = 0.0;
    for (row, own) in all.iter().zip(&changed) {
        for (v, c) in row.iter().zip(own) {
            s += v * v * c;
        }
    }
    let flat = scaled(rows, 3.0).iter().flatten().map(|v| v * v).sum::<f64>();
    let twice = scaled(&scaled(rows, 2.0), 2.0);
    s + flat + twice.iter().map(|r| r.iter().product::<f64>()).sum::<f64>()
}

#[differentiable]
fn layered_without_types(layer: &Layer, rows: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let first = layer.apply(rows);
    let second = layer.apply(&first);
    second
}

/// A field whose rows have one length gets those of a call.
#[derive(Data, Clone, Debug, PartialEq)]
struct Table {
    rows: Vec<Vec<f64>>,
}

#[differentiable]
fn tabled(rows: &[Vec<f64>], count: usize) -> (Vec<Vec<f64>>, f64) {
    let table = Table { rows: scaled(&rows[..count], 2.0) };
    let sum = table.rows.iter().map(|r| r[0] * r[r.len() - 1]).sum();
    (table.rows.clone(), sum)
}

/// A function that takes no rows calls one that makes some.
#[differentiable]
fn of_lower(x: &[f64]) -> f64 {
    let rows: Vec<Vec<f64>> = lower(x);
    let more: Vec<Vec<f64>> = Layer { gain: x[0] }.below(x);
    rows.iter().map(|r| r.iter().product::<f64>()).sum::<f64>()
        + more.iter().map(|r| r.len() as f64 * r.iter().sum::<f64>()).sum::<f64>()
}

#[differentiable]
impl Layer {
    fn below(&self, x: &[f64]) -> Vec<Vec<f64>> {
        (0..x.len()).map(|i| x[i..].iter().map(|v| v * self.gain).collect()).collect()
    }
}

#[test]
fn calls_give_rows_without_a_type() {
    let rows = [vec![1.0, 2.0], vec![3.0], vec![], vec![0.5, -1.0, 2.0]];
    for rows in [&rows[..], &rows[..1], &[vec![1.0, 2.0], vec![3.0, 4.0]]] {
        let (value, by_rows) = untyped::value_and_gradient(rows).unwrap();
        assert_eq!(value, untyped(rows));
        for (i, row) in rows.iter().enumerate() {
            for j in 0..row.len() {
                let at = |h: f64| {
                    let mut rows = rows.to_vec();
                    rows[i][j] += h;
                    untyped(&rows)
                };
                assert!((by_rows[i][j] - (at(1e-6) - at(-1e-6)) / 2e-6).abs() < 1e-5);
            }
        }
        let layer = Layer { gain: 0.5 };
        let own = layered_without_types::value(&layer, rows).unwrap();
        assert_eq!(own, layered_without_types(&layer, rows));
    }
    assert_eq!(tabled::value(&rows, 1).unwrap(), tabled(&rows, 1));
    assert_eq!(tabled::value(&rows, 2).unwrap_err().code(), Some("R12"));
    everywhere! {
        of_lower at [1.5, 0.5, -2.0], [2.0];
    }
}

// Calls of functions that make rows, whose type is not written.
#[differentiable]
fn of_lower_without_types(x: &[f64]) -> f64 {
    let rows = lower(x);
    let more = scaled(&rows, x[0]);
    let mut total = squares(&more);
    for (row, own) in rows.iter().zip(&more) {
        total += row.len() as f64 * own[0] + row[row.len() - 1];
    }
    let even = square(x);
    total + even[0][0] * within(x)
}

/// One that another function calls.
#[differentiable]
fn within(x: &[f64]) -> f64 {
    let all = groups(x, 0.6);
    all.iter().map(|r| r.iter().product::<f64>()).sum::<f64>() + all.len() as f64
}

/// Where the rows have one length, the function is the same.
#[differentiable]
fn of_square(x: &[f64]) -> f64 {
    let rows = square(x);
    let s = squares(&rows);
    s + rows.iter().map(|r| r[0]).sum::<f64>()
}

#[test]
fn functions_that_make_rows_are_called_without_a_type() {
    everywhere! {
        of_square at [1.5, 0.5, -2.0], [2.0];
    }
    // The second program is that of typed calls.
    for x in [&[1.5, 0.5, -2.0, 0.75][..], &[2.0], &[0.5, 1.0]] {
        for _ in 0..2 {
            let (value, gradient) = of_lower_without_types::value_and_gradient(x).unwrap();
            assert_eq!(value.to_bits(), of_lower_without_types(x).to_bits());
            super::near("of_lower", &gradient, &super::slopes(of_lower_without_types, x));
        }
        assert_eq!(of_lower_without_types::value(x).unwrap(), of_lower_without_types(x));
    }
}

// Calls of them in arguments of calls.
#[differentiable]
fn nested(x: &[f64]) -> f64 {
    squares(&lower(x)) + squares(&scaled(&lower(x), x[0])) * within(&even_ones(&x[1..]))
}

#[differentiable]
fn even_ones(x: &[f64]) -> Vec<f64> {
    x.iter().step_by(2).copied().collect()
}

#[test]
fn functions_that_make_rows_are_called_in_arguments() {
    for x in [&[1.5, 0.5, -2.0, 0.75][..], &[2.0, 0.25]] {
        let (value, gradient) = nested::value_and_gradient(x).unwrap();
        assert_eq!(value.to_bits(), nested(x).to_bits());
        super::near("nested", &gradient, &super::slopes(nested, x));
    }
}
