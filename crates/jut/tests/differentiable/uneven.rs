//! Rows of different lengths, as they are ordinary in Rust: values, all derivatives, errors, and calls of other functions with them.

use super::{close, same};
use jut::differentiable;

/// Rows of three lengths, one of them empty.
fn rows() -> Vec<Vec<f64>> {
    vec![vec![0.5, -1.0, 2.0], vec![1.5], vec![], vec![0.25, 3.0]]
}

/// Rows of one length.
fn even() -> Vec<Vec<f64>> {
    vec![vec![0.5, -1.0], vec![1.5, 0.75], vec![0.25, 3.0]]
}

/// Rows of the shape of others, with other numbers.
fn like(x: &[Vec<f64>], seed: f64) -> Vec<Vec<f64>> {
    let row = |i: usize, r: &Vec<f64>| {
        (0..r.len()).map(|j| ((3 * i + j) as f64 * 0.7 + seed).sin()).collect()
    };
    x.iter().enumerate().map(|(i, r)| row(i, r)).collect()
}

fn moved(x: &[Vec<f64>], d: &[Vec<f64>], h: f64) -> Vec<Vec<f64>> {
    let row = |(a, b): (&Vec<f64>, &Vec<f64>)| a.iter().zip(b).map(|(a, b)| a + h * b).collect();
    x.iter().zip(d).map(row).collect()
}

fn dot(a: &[Vec<f64>], b: &[Vec<f64>]) -> f64 {
    a.iter().flatten().zip(b.iter().flatten()).map(|(a, b)| a * b).sum()
}

#[track_caller]
fn like_shape(a: &[Vec<f64>], b: &[Vec<f64>]) {
    let lengths = |x: &[Vec<f64>]| x.iter().map(Vec::len).collect::<Vec<_>>();
    assert_eq!(lengths(a), lengths(b));
}

/// Values as Rust has them, gradients, tangents, cotangents and second derivatives as differences say, of rows of both kinds.
macro_rules! derived {
    ($($f:ident;)*) => {$({
        for x in [rows(), even(), vec![], vec![vec![]]] {
            let value = $f(&x);
            same($f::value(&x).unwrap(), value);
            let (again, gradient) = $f::value_and_gradient(&x).unwrap();
            same(again, value);
            assert_eq!($f::gradient(&x).unwrap(), gradient);
            like_shape(&gradient, &x);
            let d = like(&x, 0.3);
            let h = 1e-6;
            let along = ($f(&moved(&x, &d, h)) - $f(&moved(&x, &d, -h))) / (2.0 * h);
            close(&[dot(&gradient, &d)], &[along]);
            let (again, tangent) = $f::jvp(&x, &d).unwrap();
            same(again, value);
            close(&[tangent], &[along]);
            let (again, cotangent) = $f::vjp(&x, &2.0).unwrap();
            same(again, value);
            close(&cotangent.concat(), &gradient.concat().iter().map(|g| 2.0 * g).collect::<Vec<_>>());
            let second = $f::hvp(&x, &d).unwrap();
            like_shape(&second, &x);
            let (up, down) = ($f::gradient(&moved(&x, &d, h)).unwrap(), $f::gradient(&moved(&x, &d, -h)).unwrap());
            let expected: Vec<f64> =
                up.concat().iter().zip(down.concat()).map(|(a, b)| (a - b) / (2.0 * h)).collect();
            close(&second.concat(), &expected);
        }
    })*};
}

#[differentiable]
fn by_index(x: &[Vec<f64>]) -> f64 {
    let mut s = 0.0;
    for i in 0..x.len() {
        for j in 0..x[i].len() {
            s += x[i][j] * x[i][j] * (i + 1) as f64 + x[i][0];
        }
    }
    s
}

#[differentiable]
fn by_iterators(x: &Vec<Vec<f64>>) -> f64 {
    x.iter()
        .enumerate()
        .map(|(k, row)| row.iter().map(|v| v * v * v).sum::<f64>() * (k as f64 + 0.5))
        .sum()
}

#[differentiable]
fn by_loops(x: &[Vec<f64>]) -> f64 {
    let mut s = 0.0;
    for row in x {
        let mean = if row.is_empty() { 0.0 } else { row.iter().sum::<f64>() / row.len() as f64 };
        for v in row {
            s += (v - mean) * (v - mean);
        }
    }
    for (row, weight) in x.iter().zip([1.0, 2.0, 3.0]) {
        for w in row.windows(2) {
            s += weight * (w[1] - w[0]).powi(2);
        }
    }
    s
}

#[differentiable]
fn by_flat_map(x: &[Vec<f64>]) -> f64 {
    x.iter().flat_map(|row| row.iter()).map(|v| v * v).sum::<f64>()
        + x.iter().flatten().count() as f64
}

#[differentiable]
fn by_parts(x: &[Vec<f64>]) -> f64 {
    let mut s = 0.0;
    if !x.is_empty() {
        s += x.first().unwrap().len() as f64;
        let row = x.last().unwrap();
        if let [a, .., b] = row[..] {
            s += a * b * b;
        }
    }
    for pair in x.windows(2) {
        let (a, b) = (&pair[0], &pair[1]);
        let n = a.len().min(b.len());
        for k in 0..n {
            s += a[k] * b[k];
        }
    }
    if x.len() > 1 {
        for row in &x[1..] {
            s += row.iter().map(|v| v * v).sum::<f64>();
        }
    }
    s
}

#[differentiable]
fn by_calls(x: &[Vec<f64>]) -> f64 {
    let mut s = 0.0;
    for k in 0..x.len() {
        s += norm(&x[k]) * longest(x) as f64;
    }
    s + by_index(x) + total(&x)
}

#[differentiable]
fn norm(row: &[f64]) -> f64 {
    row.iter().map(|v| v * v).sum()
}

#[differentiable]
fn longest(x: &[Vec<f64>]) -> usize {
    x.iter().map(|row| row.len()).max().unwrap_or(0)
}

#[differentiable]
fn total(x: &&[Vec<f64>]) -> f64 {
    x.iter().map(|row| row.iter().sum::<f64>()).sum()
}

#[differentiable]
fn by_new_rows(x: &[Vec<f64>]) -> f64 {
    let y: Vec<Vec<f64>> = x.iter().map(|row| row.iter().map(|v| v * v).collect()).collect();
    let z: Vec<Vec<f64>> =
        y.iter().map(|row| row.iter().skip(1).map(|v| 2.0 * v).collect()).collect();
    by_index(&y) + by_loops(&z) + y.len() as f64
}

#[test]
fn derivatives_have_the_shape_of_the_rows() {
    derived! { by_index; by_iterators; by_loops; by_flat_map; by_parts; by_calls; by_new_rows; }
}

#[differentiable]
fn squared(x: &[Vec<f64>]) -> Vec<Vec<f64>> {
    x.iter().map(|row| row.iter().map(|v| v * v).collect()).collect()
}

#[differentiable]
fn sums(x: &[Vec<f64>], weights: &[f64]) -> Vec<f64> {
    x.iter().zip(weights).map(|(row, w)| w * row.iter().sum::<f64>()).collect()
}

/// A layered network: its widths are the lengths of the rows.
#[differentiable]
fn layers(biases: &[Vec<f64>], x: &[f64]) -> f64 {
    let mut h: Vec<f64> = x.to_vec();
    for bias in biases {
        let s: f64 = h.iter().sum();
        h = bias.iter().map(|b| 1.0 / (1.0 + (s + b) * (s + b))).collect();
    }
    h.iter().sum()
}

/// A graph by lists of neighbours.
#[differentiable]
fn energy(neighbours: &[Vec<usize>], x: &[f64]) -> f64 {
    let mut e = 0.0;
    for (i, list) in neighbours.iter().enumerate() {
        for &j in list {
            e += (x[i] - x[j]).powi(2);
        }
    }
    e
}

/// Rows of points.
#[differentiable]
fn lengths(paths: &[Vec<[f64; 2]>]) -> f64 {
    let mut s = 0.0;
    for path in paths {
        for pair in path.windows(2) {
            let (dx, dy) = (pair[1][0] - pair[0][0], pair[1][1] - pair[0][1]);
            s += (dx * dx + dy * dy).sqrt();
        }
    }
    s
}

#[test]
fn rows_are_results_and_stand_beside_other_parameters() {
    let x = rows();
    assert_eq!(squared::value(&x).unwrap(), squared(&x));
    assert_eq!(squared::value(&even()).unwrap(), squared(&even()));
    let d = like(&x, 1.0);
    let (value, tangent) = squared::jvp(&x, &d).unwrap();
    assert_eq!(value, squared(&x));
    let (_, cotangent) = squared::vjp(&x, &d).unwrap();
    for (((t, c), x), d) in tangent.iter().zip(&cotangent).zip(&x).zip(&d) {
        let expected: Vec<f64> = x.iter().zip(d).map(|(x, d)| 2.0 * x * d).collect();
        close(t, &expected);
        close(c, &expected);
    }
    let weights = [1.0, -2.0, 0.5, 3.0];
    assert_eq!(sums::value(&x, &weights).unwrap(), sums(&x, &weights));
    let (_, (by_x, by_weights)) = sums::vjp(&x, &weights, &vec![1.0, 2.0, 3.0, 4.0]).unwrap();
    assert_eq!(by_x, [vec![1.0; 3], vec![-4.0], vec![], vec![12.0; 2]]);
    assert_eq!(by_weights, [1.5, 3.0, 0.0, 13.0]);
    let input = [0.3, -0.2];
    same(layers::value(&x, &input).unwrap(), layers(&x, &input));
    let (by_biases, by_input) = layers::gradient(&x, &input).unwrap();
    like_shape(&by_biases, &x);
    close(&by_input, &super::differences(|v| layers(&x, v), &input));
    let d = like(&x, 0.1);
    let h = 1e-6;
    let along =
        (layers(&moved(&x, &d, h), &input) - layers(&moved(&x, &d, -h), &input)) / (2.0 * h);
    close(&[dot(&by_biases, &d)], &[along]);
    let graph = vec![vec![1, 2, 3], vec![0], vec![], vec![1, 0]];
    let at = [0.5, -1.0, 2.0, 0.25];
    same(energy::value(&graph, &at).unwrap(), energy(&graph, &at));
    close(&energy::gradient(&graph, &at).unwrap(), &super::differences(|x| energy(&graph, x), &at));
    let paths =
        vec![vec![[0.0, 0.0], [3.0, 4.0], [3.0, 5.0]], vec![], vec![[1.0, 1.0], [1.0, 3.0]]];
    same(lengths::value(&paths).unwrap(), lengths(&paths));
    let by_paths = lengths::gradient(&paths).unwrap();
    assert_eq!(by_paths[1], [[0.0; 2]; 0]);
    assert_eq!(by_paths[2], [[0.0, -1.0], [0.0, 1.0]]);
    assert_eq!(by_paths[0].len(), 3);
}

#[differentiable]
fn picked(x: &[Vec<f64>], i: usize, j: usize) -> f64 {
    x[i][j] * 2.0
}

#[differentiable]
fn checked(x: &[Vec<f64>]) -> Result<f64, String> {
    if x.iter().any(|row| row.is_empty()) {
        return Err("a row is empty".to_string());
    }
    Ok(x.iter().map(|row| row[0]).sum())
}

#[differentiable]
fn checked_twice(x: &[Vec<f64>]) -> Result<f64, String> {
    Ok(2.0 * checked(x)?)
}

#[test]
fn errors_are_where_rust_panics() {
    let x = rows();
    assert_eq!(
        picked::gradient(&x, 3, 1).unwrap(),
        [vec![0.0; 3], vec![0.0], vec![], vec![0.0, 2.0]]
    );
    for (i, j) in [(1, 1), (2, 0), (4, 0)] {
        let panics = std::panic::catch_unwind(|| picked(&x, i, j)).is_err();
        let error = picked::gradient(&x, i, j).unwrap_err();
        assert!(panics && error.code() == Some("R01"), "{error}");
        assert!(error.to_string().contains("uneven.rs"), "{error}");
    }
    let error = checked_twice::gradient(&x).unwrap_err();
    assert!(error.to_string().contains("a row is empty"), "{error}");
    assert_eq!(checked_twice::value(&x[..2]).unwrap(), checked_twice(&x[..2]).unwrap());
    assert_eq!(checked_twice::gradient(&x[..2]).unwrap(), [vec![2.0, 0.0, 0.0], vec![2.0]]);
}

#[differentiable]
fn doubled_in_place(x: &mut Vec<Vec<f64>>) {
    for i in 0..x.len() {
        for j in 0..x[i].len() {
            x[i][j] *= 2.0;
        }
    }
}

#[differentiable]
fn changed_rows(x: &[Vec<f64>]) -> f64 {
    let mut y: Vec<Vec<f64>> = x.to_vec();
    for row in y.iter_mut() {
        for v in row.iter_mut() {
            *v = *v * *v;
        }
    }
    for i in 0..y.len() {
        if !y[i].is_empty() {
            y[i][0] += 1.0;
        }
    }
    let mut s = 0.0;
    for row in &y {
        s += row.iter().sum::<f64>();
    }
    s
}

#[test]
fn rows_are_changed_in_place() {
    derived! { changed_rows; }
    let mut x = rows();
    let given = doubled_in_place::value(&x).unwrap();
    doubled_in_place(&mut x);
    assert_eq!(given, x);
    let (_, tangent) = doubled_in_place::jvp(&x, &x).unwrap();
    doubled_in_place(&mut x);
    assert_eq!(tangent, x);
}

#[differentiable]
fn parts(x: &[f64]) -> f64 {
    let mut rows = Vec::new();
    for c in x.chunks(3) {
        rows.push(c.to_vec());
    }
    let collected: Vec<Vec<f64>> = x.chunks(2).map(|c| c.to_vec()).collect();
    let mut s = 0.0;
    for row in &rows {
        s += row.iter().sum::<f64>() * row[0];
    }
    s + collected.iter().map(|row| row[row.len() - 1]).sum::<f64>()
}

#[differentiable]
fn prefixes(x: &[f64]) -> f64 {
    let mut rows: Vec<Vec<f64>> = Vec::new();
    for i in 0..x.len() {
        if x[i] > 0.0 {
            rows.push(x[..i].to_vec());
        }
    }
    rows.iter().map(|r| r.iter().map(|v| v * v).sum::<f64>()).sum::<f64>() + norm_of_rows(&rows)
}

#[differentiable]
fn norm_of_rows(x: &[Vec<f64>]) -> f64 {
    x.iter().map(|row| norm(row)).sum()
}

/// Pascal's triangle with a weight.
#[differentiable]
fn triangle(x: &[f64]) -> f64 {
    let n = 5;
    let mut rows: Vec<Vec<f64>> = vec![vec![1.0]];
    for i in 1..n {
        let prev = &rows[i - 1];
        let mut row = vec![1.0; i + 1];
        for j in 1..i {
            row[j] = prev[j - 1] + x[0] * prev[j];
        }
        rows.push(row);
    }
    rows[n - 1].iter().sum()
}

#[differentiable]
fn growing_rows(x: &[f64]) -> f64 {
    let rows: Vec<Vec<f64>> =
        (0..x.len()).map(|i| (0..=i).map(|j| x[i] * x[j]).collect()).collect();
    let first = if let Some(row) = rows.first() { row.len() as f64 } else { 0.0 };
    rows.iter().flatten().sum::<f64>() + first
}

#[differentiable]
fn replaced_rows(x: &[f64]) -> f64 {
    let mut rows: Vec<Vec<f64>> = (0..3).map(|i| x[..i].to_vec()).collect();
    rows[2][1] += 1.0;
    rows[0] = x.to_vec();
    rows.swap(0, 1);
    rows.iter().enumerate().map(|(k, row)| row.iter().sum::<f64>() * (k + 1) as f64).sum()
}

/// Rows of one length stay one array.
#[differentiable]
fn matrix(x: &[f64]) -> Vec<Vec<f64>> {
    let a: Vec<Vec<f64>> = x.iter().map(|v| x.iter().map(|w| v * w).collect()).collect();
    let mut b = Vec::new();
    for row in &a {
        b.push(row.iter().map(|v| v + 1.0).collect::<Vec<f64>>());
    }
    b
}

#[differentiable]
fn first_row(x: &[Vec<f64>]) -> f64 {
    match x.first() {
        Some(row) => row.iter().map(|v| v * v).sum(),
        None => -1.0,
    }
}

#[test]
fn rows_that_a_function_makes_have_lengths_of_their_own() {
    agree! {
        parts at [1.0, 2.0, -0.5, 0.25, 3.0], [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        prefixes at [1.0, -2.0, 0.5, 3.0], [];
        triangle at [0.5];
        growing_rows at [1.0, 2.0, -0.5], [];
        replaced_rows at [1.0, 2.0, -0.5];
    }
    derived! { first_row; }
    let x = [1.0, 2.0, 3.0];
    assert_eq!(matrix::value(&x).unwrap(), matrix(&x));
    assert!(!matrix::text().unwrap().contains("rows_of"));
}

/// What a function gives of such rows, and then another one takes.
#[differentiable]
fn of_results(x: &[Vec<f64>]) -> f64 {
    let y = ends(x);
    let z = ends(&y);
    y.iter().zip(&z).map(|(a, b)| a[0] * b[1]).sum::<f64>() + y[0].len() as f64
}

#[differentiable]
fn ends(x: &[Vec<f64>]) -> Vec<Vec<f64>> {
    x.iter().map(|row| vec![row[0], row[row.len() - 1]]).collect()
}

#[differentiable]
fn halves(x: &[Vec<f64>]) -> Vec<Vec<f64>> {
    x.iter().map(|row| row[..row.len() / 2].to_vec()).collect()
}

#[differentiable]
fn of_halves(x: &[Vec<f64>]) -> f64 {
    let y = halves(x);
    y.len() as f64
}

#[differentiable]
impl Model {
    fn weighted(&self, x: &[Vec<f64>]) -> f64 {
        x.iter().map(|row| self.a * row.iter().sum::<f64>()).sum()
    }
}

#[derive(jut::Data, Clone, Debug, PartialEq)]
struct Model {
    a: f64,
}

#[differentiable]
fn by_method(x: &[Vec<f64>], m: &Model) -> f64 {
    m.weighted(x) * 2.0
}

#[differentiable(wrt(x))]
fn scaled(x: &[Vec<f64>], by: f64) -> f64 {
    by * x.iter().flatten().sum::<f64>()
}

#[test]
fn functions_call_each_other_with_such_rows() {
    let x = vec![vec![1.0, 2.0, 3.0], vec![4.0], vec![0.5, -1.0]];
    same(of_results::value(&x).unwrap(), of_results(&x));
    let by_x = of_results::gradient(&x).unwrap();
    assert_eq!(by_x, [vec![3.0, 0.0, 1.0], vec![8.0], vec![-1.0, 0.5]]);
    assert_eq!(halves::value(&x).unwrap(), halves(&x));
    let different = [vec![0.0; 4], vec![0.0; 2]];
    assert_eq!(of_halves::value(&different).unwrap(), of_halves(&different));
    let model = Model { a: 3.0 };
    same(by_method::value(&x, &model).unwrap(), by_method(&x, &model));
    let (by_x, by_model) = by_method::gradient(&x, &model).unwrap();
    assert_eq!((by_x, by_model.a), (vec![vec![6.0; 3], vec![6.0], vec![6.0; 2]], 19.0));
    same(Model_weighted::value(&model, &x).unwrap(), model.weighted(&x));
    assert_eq!(scaled::gradient(&x, 2.0).unwrap(), [vec![2.0; 3], vec![2.0], vec![2.0; 2]]);
    // Threads share the code of both texts.
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| same(scaled::value(&x, 0.5).unwrap(), scaled(&x, 0.5)));
        }
    });
}

#[differentiable]
fn negative_first(x: &[Vec<f64>]) -> Vec<Vec<f64>> {
    for v in x {
        if !v.is_empty() && v[0] < 0.0 {
            return vec![v.clone()];
        }
    }
    x.to_vec()
}

#[test]
fn rows_are_returned_out_of_a_loop() {
    for x in [
        vec![vec![1.0, 2.0], vec![3.0, 4.0]],
        vec![vec![1.0, 2.0], vec![-3.0, 4.0]],
        vec![vec![1.0], vec![-3.0, 4.0]],
        rows(),
    ] {
        assert_eq!(negative_first::value(&x).unwrap(), negative_first(&x));
        let (_, by_x) = negative_first::vjp(&x, &negative_first(&x)).unwrap();
        like_shape(&by_x, &x);
    }
}

#[differentiable]
fn buckets(x: &[f64]) -> f64 {
    let k = 3;
    let mut buckets: Vec<Vec<f64>> = vec![Vec::new(); k];
    for (i, &v) in x.iter().enumerate() {
        if v > 0.0 {
            buckets[(i * i) % k].push(v * v);
        }
    }
    buckets.iter().map(|b| b.iter().sum::<f64>() * b.len() as f64).sum()
}

#[differentiable]
fn sorted_rows(x: &[f64]) -> f64 {
    let mut rows: Vec<Vec<f64>> = (1..x.len()).map(|i| x[i - 1..].to_vec()).collect();
    rows.sort_by(|a, b| b[0].partial_cmp(&a[0]).unwrap());
    rows.retain(|row| row.len() > 2);
    let all: f64 = rows.concat().iter().map(|v| v * v).sum();
    let mut s = all;
    while let Some(row) = rows.pop() {
        s += row.iter().sum::<f64>() * (rows.len() + 1) as f64;
    }
    s
}

#[differentiable]
fn pyramid(x: &[f64]) -> f64 {
    let mut levels: Vec<Vec<f64>> = vec![x.to_vec()];
    while levels.last().unwrap().len() > 1 {
        let next: Vec<f64> =
            levels.last().unwrap().chunks(2).map(|c| c.iter().map(|v| v * v).sum()).collect();
        levels.push(next);
    }
    for row in levels.iter_mut() {
        for v in row.iter_mut() {
            *v *= 0.5;
        }
    }
    levels.iter().map(|l| l[0]).sum()
}

#[test]
fn rows_grow_and_are_put_in_order() {
    agree! {
        buckets at [1.0, 2.0, -0.5, 0.25, 3.0], [-1.0];
        sorted_rows at [1.0, 2.0, -0.5, 0.25], [0.5, 0.25];
        pyramid at [1.0, 0.5, -0.5, 0.25, 0.75];
    }
}

// Lengths that a loop counts in blocks of its own, and in a variable of outside.
#[differentiable]
fn counted_here(x: &[f64]) -> f64 {
    let mut rows = Vec::new();
    for i in 0..x.len() {
        let mut k = 1usize;
        for j in 0..i {
            if x[j] > 0.0 {
                k += 1;
            }
        }
        rows.push((0..k).map(|j| x[j]).collect::<Vec<f64>>());
    }
    rows.iter().map(|r| r.iter().sum::<f64>() * r.len() as f64).sum()
}

#[differentiable]
fn counted_outside(x: &[f64]) -> f64 {
    let mut rows = Vec::new();
    let mut k = 0usize;
    for i in 0..x.len() {
        if x[i] > 0.0 {
            k += 1;
        }
        rows.push((0..k).map(|j| x[j] * x[i]).collect::<Vec<f64>>());
    }
    rows.iter().map(|r| r.iter().sum::<f64>() * r.len() as f64).sum()
}

#[test]
fn lengths_that_are_counted_are_not_of_one_length() {
    agree! {
        counted_here at [1.0, 2.0, -0.5, 0.25, 3.0], [-1.0];
        counted_outside at [1.0, 2.0, -0.5, 0.25, 3.0], [-1.0];
    }
}

#[differentiable]
fn beside_pairs(a: &[Vec<f64>], b: &[Vec<(f64, f64)>]) -> f64 {
    let first: f64 = a.iter().map(|r| r.iter().sum::<f64>()).sum();
    first + b.iter().map(|r| r.iter().map(|p| p.0 * p.1).sum::<f64>()).sum::<f64>()
}

#[test]
fn rows_beside_rows_of_pairs_have_one_length() {
    let b = [vec![(1.0, 2.0), (3.0, 4.0)], vec![(5.0, 6.0), (7.0, 8.0)]];
    let (value, (by_a, by_b)) = beside_pairs::value_and_gradient(&even(), &b).expect("derivatives");
    same(value, beside_pairs(&even(), &b));
    assert_eq!(by_a, even().iter().map(|r| vec![1.0; r.len()]).collect::<Vec<_>>());
    assert_eq!(by_b, b.clone().map(|r| r.iter().map(|p| (p.1, p.0)).collect::<Vec<_>>()));
    let refused = beside_pairs::value(&rows(), &b).expect_err("rows of different lengths");
    assert_eq!(refused.code(), Some("A03"), "{refused}");
}

type Named = Vec<Vec<f64>>;

#[differentiable]
fn beside_a_name(x: &[Vec<f64>], y: &Named) -> f64 {
    let mut s = 0.0;
    for (i, row) in x.iter().enumerate() {
        for v in row {
            s += v * y[i % y.len()][0];
        }
    }
    s
}

#[test]
fn rows_by_another_name_have_one_length() {
    let (x, y) = (rows(), even());
    let (value, (by_x, by_y)) = beside_a_name::value_and_gradient(&x, &y).unwrap();
    same(value, beside_a_name(&x, &y));
    like_shape(&by_x, &x);
    like_shape(&by_y, &y);
    let (_, tangent) = beside_a_name::jvp(&x, &y, &like(&x, 0.3), &like(&y, 0.4)).unwrap();
    close(&[tangent], &[dot(&by_x, &like(&x, 0.3)) + dot(&by_y, &like(&y, 0.4))]);
    for x in [rows(), even()] {
        let error = beside_a_name::gradient(&x, &rows()).unwrap_err().to_string();
        assert!(error.contains("row 1 has 1 elements"), "{error}");
    }
}
