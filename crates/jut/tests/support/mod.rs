//! Values and directions for tests.

pub mod trees;

use jut::{Arg, Array, Value};

pub fn vector(data: &[f64]) -> Value {
    Value::F64s(Array { shape: vec![data.len()], data: data.to_vec() })
}

pub fn ints(data: &[i64]) -> Value {
    Value::I64s(Array { shape: vec![data.len()], data: data.to_vec() })
}

pub fn matrix(rows: usize, columns: usize) -> Value {
    let data = (0..rows * columns).map(|k| (k as f64 * 0.7).sin()).collect();
    Value::F64s(Array { shape: vec![rows, columns], data })
}

pub fn args_of(values: &[Value]) -> Vec<Arg<'_>> {
    values.iter().map(Arg::from).collect()
}

pub fn floats(values: &[Value]) -> Vec<f64> {
    values.iter().flat_map(Value::floats).collect()
}

pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

/// A value of the same shape with other floats.
pub fn like(value: &Value, seed: usize) -> Value {
    let mut k = 0;
    value.map_floats(&mut |_| {
        k += 1;
        ((k * 7 + 3 * seed) % 11) as f64 / 4.0 - 1.2
    })
}

/// A tangent for every argument with floats.
pub fn direction(args: &[Value], seed: usize) -> Vec<Value> {
    let active = args.iter().filter(|v| matches!(v, Value::F64(_) | Value::F64s(_)));
    active.enumerate().map(|(k, v)| like(v, seed + k)).collect()
}

/// The arguments moved along a direction.
pub fn moved(args: &[Value], along: &[Value], h: f64) -> Vec<Value> {
    let mut steps = along.iter().flat_map(Value::floats);
    args.iter().map(|v| v.map_floats(&mut |x| x + h * steps.next().unwrap_or(0.0))).collect()
}

pub fn assert_near(found: &[f64], expected: &[f64], tolerance: f64, what: &str) {
    let near = |(a, b): (&f64, &f64)| (a - b).abs() <= tolerance * (1.0 + a.abs().max(b.abs()));
    let same = found.len() == expected.len() && found.iter().zip(expected).all(near);
    assert!(same, "{found:?} instead of {expected:?} in\n{what}");
}

/// Blocks as one matrix: block (i, j) has the floats of `rows[i]` times those of `columns[j]`.
pub fn dense(blocks: &[Value], rows: &[Value], columns: &[Value]) -> Vec<Vec<f64>> {
    let counts =
        |values: &[Value]| -> Vec<usize> { values.iter().map(|v| v.floats().len()).collect() };
    let (heights, widths) = (counts(rows), counts(columns));
    assert_eq!(blocks.len(), heights.len() * widths.len());
    let mut matrix = Vec::new();
    for (i, height) in heights.iter().enumerate() {
        for r in 0..*height {
            let mut row = Vec::new();
            for (j, width) in widths.iter().enumerate() {
                let block = blocks[i * widths.len() + j].floats();
                assert_eq!(block.len(), height * width);
                row.extend_from_slice(&block[r * width..(r + 1) * width]);
            }
            matrix.push(row);
        }
    }
    matrix
}
