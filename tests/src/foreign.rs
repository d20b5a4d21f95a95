//! The functions of other languages that test programs may declare. They are exact on unit vectors, so that the laws of T hold to the bit for the
//! matrices that they are.

use jut_ir::Program;
use jut_runtime::foreign::{Function, Functions, with};

/// What a function is given: integers, floats, results.
type Run = fn(&[i64], &[f64], &mut [f64]) -> Result<(), String>;

/// All of them, by name: what each is, with its declaration.
const FUNCTIONS: &[(&str, Run)] = &[
    // test_scale(n: i64, v: [n]f64; x': [n]f64) -> (; [n]f64), its own transpose.
    ("test_scale", |_, floats, y| {
        let (v, x) = floats.split_at(y.len());
        y.iter_mut().zip(v.iter().zip(x)).for_each(|(y, (v, x))| *y = v * x);
        Ok(())
    }),
    // test_scale_by(n: i64, v: [n]f64, x: [n]f64; dv': [n]f64) -> (; [n]f64), its own transpose.
    ("test_scale_by", |_, floats, y| {
        let (x, dv) = floats[y.len()..].split_at(y.len());
        y.iter_mut().zip(x.iter().zip(dv)).for_each(|(y, (x, dv))| *y = x * dv);
        Ok(())
    }),
    // test_blur(n: i64, v: [2]f64; x': [n]f64) -> (; [n]f64): each with a part of the next one.
    ("test_blur", |_, floats, y| {
        let (v, x) = floats.split_at(2);
        for (i, y) in y.iter_mut().enumerate() {
            *y = v[0] * x[i] + x.get(i + 1).map_or(0.0, |x| v[1] * x);
        }
        Ok(())
    }),
    ("test_blur_back", |_, floats, x| {
        let (v, y) = floats.split_at(2);
        for (i, x) in x.iter_mut().enumerate() {
            *x = v[0] * y[i] + i.checked_sub(1).map_or(0.0, |before| v[1] * y[before]);
        }
        Ok(())
    }),
    // test_sparse(n: i64, m: i64, k: i64, row: [k]i64, column: [k]i64, a: [k]f64; x': [m]f64) -> (; [n]f64).
    ("test_sparse", |integers, floats, y| sparse(integers, floats, y, |row, column| (row, column))),
    ("test_sparse_back", |integers, floats, x| {
        sparse(integers, floats, x, |row, column| (column, row))
    }),
    // test_pair(n: i64; x': [n]f64, y': [n]f64) -> (; [n]f64, f64): the sum of both, and that of x.
    ("test_pair", |_, floats, results| {
        let n = results.len() - 1;
        let (x, y) = floats.split_at(n);
        (0..n).for_each(|i| results[i] = x[i] + y[i]);
        results[n] = x.iter().sum();
        Ok(())
    }),
    ("test_pair_back", |integers, floats, results| {
        let n = integers[0].max(0) as usize;
        for i in 0..n {
            results[i] = floats[i] + floats[n];
            results[n + i] = floats[i];
        }
        Ok(())
    }),
    // test_spread(n: i64; x': f64) -> (; [n]f64).
    ("test_spread", |_, floats, y| {
        y.fill(floats[0]);
        Ok(())
    }),
    ("test_collect", |_, floats, x| {
        x[0] = floats.iter().sum();
        Ok(())
    }),
    // test_fails(n: i64; x': [n]f64) -> (; [n]f64), its own transpose.
    ("test_fails", |_, _, _| Err("it always does".to_string())),
];

fn sparse(
    integers: &[i64],
    floats: &[f64],
    results: &mut [f64],
    way: fn(usize, usize) -> (usize, usize),
) -> Result<(), String> {
    let k = integers[2].max(0) as usize;
    let (rows, columns) = integers[3..].split_at(k);
    let (a, x) = floats.split_at(k);
    for ((row, column), a) in rows.iter().zip(columns).zip(a) {
        let (to, from) = way(*row as usize, *column as usize);
        let x = x.get(from).ok_or("a column is outside")?;
        *results.get_mut(to).ok_or("a row is outside")? += a * x;
    }
    Ok(())
}

/// Those that a program declares, by its numbers.
pub fn functions(program: &Program) -> Functions {
    let named = |name: &String| match FUNCTIONS.iter().find(|(known, _)| known == name) {
        Some((name, run)) => Function::new(name, run),
        None => Function::new(name, |_, _, _| Err("no test knows it".into())),
    };
    program.foreign_names().iter().map(named).collect()
}

/// Does some work with the functions of a text.
pub fn with_functions_of<T>(text: &str, work: impl FnOnce() -> T) -> T {
    match jut_text::load(text, 0).program {
        Some(program) if program.foreign().next().is_some() => with(&functions(&program), work),
        _ => work(),
    }
}
