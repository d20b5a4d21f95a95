//! Lists of which no type is written, of what calls give: in branches, beside rows of other lengths, of methods; lists that closures make longer and shorter.

use super::agree;
use jut::{Data, differentiable};

#[differentiable]
fn soft(row: &[f64]) -> Vec<f64> {
    let z: f64 = row.iter().sum();
    row.iter().map(|v| v / z + 0.1).collect()
}

#[differentiable]
fn norm(row: &[f64]) -> f64 {
    row.iter().map(|v| v * v).sum()
}

// In an `if` and in a `match`: of one length, of several, and of no list.
#[differentiable]
fn in_an_if(x: &[f64]) -> f64 {
    let mut rows = vec![];
    for i in 0..x.len() {
        if x[i] > 0.2 {
            rows.push(soft(x));
        }
    }
    rows.iter().map(|row| row[0] * row[row.len() - 1]).sum()
}

#[differentiable]
fn of_several_lengths(x: &[f64]) -> f64 {
    let mut rows = Vec::new();
    let mut sizes = Vec::new();
    for i in 0..x.len() {
        match i % 3 {
            0 => rows.push(soft(&x[i..])),
            1 => sizes.push(norm(&x[i..])),
            _ => {
                let scaled: Vec<f64> = x.iter().map(|v| 2.0 * v).collect();
                rows.push(soft(&scaled));
                sizes.push(norm(&scaled));
            }
        }
    }
    let mut s = 0.0;
    for row in &rows {
        s += row[0] * row[row.len() - 1];
    }
    s + sizes.iter().map(|v| v * 0.5).sum::<f64>() + sizes.len() as f64
}

#[differentiable]
fn total(rows: &[Vec<f64>]) -> f64 {
    rows.iter().map(|row| row[0] * row.iter().sum::<f64>()).sum()
}

#[differentiable]
fn doubled(rows: &[Vec<f64>]) -> Vec<Vec<f64>> {
    rows.iter().map(|row| row.iter().map(|v| 2.0 * v).collect()).collect()
}

// Given to functions, and given back.
#[differentiable]
fn chosen(x: &[f64], least: f64) -> Vec<Vec<f64>> {
    let mut rows = vec![];
    for i in 0..x.len() {
        if x[i] > least {
            rows.push(soft(&x[..=i]));
        }
    }
    rows
}

#[differentiable]
fn given_on(x: &[f64]) -> f64 {
    let mut rows = vec![];
    let mut i = 0;
    while i < x.len() {
        if x[i] > 0.2 {
            rows.push(soft(&x[i..]));
        }
        i += 1;
    }
    let twice = doubled(&rows);
    total(&rows) + twice.iter().map(|row| row[row.len() - 1]).sum::<f64>()
}

#[differentiable]
fn of_a_stack(x: &[f64]) -> f64 {
    let mut rows = vec![];
    let mut s = 0.0;
    for i in 0..x.len() {
        rows.push(soft(&x[i..]));
        if i % 2 == 1 {
            let last = rows.pop().unwrap();
            s += last[0] * rows.len() as f64;
        }
    }
    s + rows.iter().map(|row| row[row.len() - 1]).sum::<f64>()
}

// Beside rows of different lengths.
#[differentiable]
fn beside_rows(x: &[f64]) -> f64 {
    let parts: Vec<Vec<f64>> = (0..x.len()).map(|i| x[i..].to_vec()).collect();
    let mut all = Vec::new();
    for part in &parts {
        all.push(soft(part));
    }
    let again: Vec<_> = parts.iter().map(|part| soft(part)).collect();
    all.iter().zip(&again).map(|(a, b)| a[0] * b[b.len() - 1]).sum::<f64>()
        + parts.iter().map(|part| part[0]).sum::<f64>()
}

#[differentiable]
fn of_given_rows(rows: &[Vec<f64>]) -> f64 {
    let mut all = Vec::new();
    for row in rows {
        all.push(soft(row));
    }
    all.iter().map(|row| row[0] * row[row.len() - 1]).sum::<f64>()
}

// Of methods.
#[derive(Data, Clone, Debug, PartialEq)]
struct Maker {
    gain: f64,
}

#[differentiable]
impl Maker {
    fn lower(&self, x: &[f64]) -> Vec<Vec<f64>> {
        (0..x.len()).map(|i| x[..=i].iter().map(|v| v * self.gain).collect()).collect()
    }

    fn scaled(&self, x: &[f64]) -> Vec<f64> {
        x.iter().map(|v| v * self.gain).collect()
    }
}

#[differentiable]
fn from_a_method(x: &[f64]) -> f64 {
    let maker = Maker { gain: x[0] };
    let rows = maker.lower(x);
    rows.iter().map(|row| row[0] * row[row.len() - 1]).sum()
}

#[differentiable]
fn pushed_from_a_method(x: &[f64]) -> f64 {
    let maker = Maker { gain: x[0] };
    let mut rows = vec![];
    for i in 0..x.len() {
        if x[i] > 0.2 {
            rows.push(maker.scaled(&x[i..]));
        }
    }
    rows.iter().map(|row| row[0] * row[row.len() - 1]).sum()
}

// A list that is pushed in a loop which reads it, of a known type.
#[differentiable]
fn read_while_pushed(x: &[f64]) -> f64 {
    let mut columns: Vec<Vec<f64>> = Vec::new();
    let mut sums = vec![1.0];
    for i in 0..x.len() {
        let mut column = Vec::with_capacity(i + 1);
        for j in 0..=i {
            column.push(norm(&x[j..]) * sums[j]);
        }
        sums.push(column[0] + 0.5);
        columns.push(column);
    }
    columns.iter().map(|column| column[column.len() - 1]).sum()
}

// Lists that a closure gives another length are the same ones at its next call.
#[differentiable]
fn cursor(x: &[f64]) -> f64 {
    let mut rest = x;
    let mut take = |n: usize| {
        let (head, tail) = rest.split_at(n);
        rest = tail;
        head
    };
    let a = take(1);
    let b = take(2);
    let mut s = a[0] * b[0] + b[1] * 10.0;
    for _ in 0..2 {
        s += take(1)[0] * s;
    }
    s + rest.len() as f64
}

#[differentiable]
fn one_by_one(x: &[f64]) -> f64 {
    let mut rest = x;
    let mut one = move || {
        let first = rest[0];
        rest = &rest[1..];
        first
    };
    let a = one();
    let b = one();
    a - 2.0 * b * one() + rest[0]
}

#[differentiable]
fn pushes(x: &[f64]) -> f64 {
    let mut out = Vec::new();
    let mut add = |v: f64| {
        if v > 0.0 {
            out.push(v * v);
        }
    };
    for v in x {
        add(*v);
    }
    add(0.5);
    out.iter().sum::<f64>() + out.len() as f64
}

#[differentiable]
fn pops_and_extends(x: &[f64]) -> f64 {
    let mut out = x.to_vec();
    let mut step = |k: f64| {
        let last = out.pop().unwrap_or(0.5);
        out.extend(x.iter().map(|v| v * k));
        last * out.len() as f64
    };
    step(2.0) + step(3.0) + out.iter().sum::<f64>()
}

#[test]
fn what_calls_give_is_pushed_without_a_type() {
    everywhere! {
        in_an_if at [0.1, 0.4, 0.3], [0.1], [];
        of_several_lengths at [0.1, 0.4, 0.3], [0.1], [];
        given_on at [0.1, 0.4, 0.3], [0.5], [];
        of_a_stack at [0.1, 0.4, 0.3, 0.2, 0.7], [0.5], [];
        beside_rows at [0.1, 0.4, 0.3], [0.5], [];
        pushed_from_a_method at [0.1, 0.4, 0.3], [0.5], [];
        read_while_pushed at [0.1, 0.4, 0.3], [0.5], [];
    }
    holds!(from_a_method at [0.1, 0.4, 0.3], [0.5]);
    for x in [&[0.1, 0.4, 0.3][..], &[0.5], &[]] {
        assert_eq!(chosen::value(x, 0.2).unwrap(), chosen(x, 0.2));
    }
    for rows in [vec![vec![1.0, 2.0], vec![3.0, 0.5, 0.2]], vec![vec![1.0, 2.0], vec![3.0, 0.5]]] {
        assert_eq!(of_given_rows::value(&rows).unwrap(), of_given_rows(&rows));
    }
}

#[test]
fn closures_make_lists_longer_and_shorter() {
    everywhere! {
        cursor at [3.0, 5.0, 7.0, 11.0, 2.0], [3.0, 5.0, 7.0, 11.0, 2.0, 1.0], [3.0, 5.0];
        one_by_one at [3.0, 5.0, 7.0], [1.0, 2.0];
        pushes at [3.0, -5.0, 7.0], [-1.0], [];
        pops_and_extends at [3.0, 5.0], [1.0], [];
    }
}
