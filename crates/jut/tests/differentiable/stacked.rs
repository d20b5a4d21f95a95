//! Lists whose length changes in branches and loops.

use jut::{Data, differentiable};

#[differentiable]
fn polish(x: &[f64]) -> f64 {
    let mut stack: Vec<f64> = Vec::new();
    for (i, &v) in x.iter().enumerate() {
        if i >= 2 && i % 2 == 0 {
            let b = stack.pop().unwrap();
            let a = stack.pop().unwrap();
            stack.push(a * b);
        }
        stack.push(v);
    }
    stack.iter().sum()
}

#[differentiable]
fn skyline(x: &[f64]) -> f64 {
    let mut stack = vec![];
    for &v in x {
        while let Some(&top) = stack.last() {
            if top < v {
                stack.pop();
            } else {
                break;
            }
        }
        stack.push(v);
    }
    stack.iter().enumerate().map(|(i, v)| v * v * (i + 1) as f64).sum()
}

/// A quadrature that halves intervals until they are good.
#[differentiable]
fn adaptive(x: &[f64]) -> f64 {
    let f = |t: f64| t * t * x[0] + x[1] * t * t * t;
    let mut todo = vec![(0.0, 2.0)];
    let mut total = 0.0;
    while let Some((a, b)) = todo.pop() {
        let m = 0.5 * (a + b);
        let whole = (b - a) * f(m);
        let halves = 0.5 * (b - a) * (f(0.5 * (a + m)) + f(0.5 * (m + b)));
        if (whole - halves).abs() > 0.1 && b - a > 0.2 {
            todo.push((a, m));
            todo.push((m, b));
        } else {
            total += halves;
        }
    }
    total
}

#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct Particle {
    energy: f64,
    depth: usize,
}

#[differentiable]
fn shower(x: &[f64]) -> f64 {
    let mut queue = Vec::new();
    queue.push(Particle { energy: x[0], depth: 0 });
    let mut deposited = 0.0;
    while !queue.is_empty() {
        let p = queue.remove(0);
        if p.energy < 1.0 || p.depth > 4 {
            deposited += p.energy * x[1] * (p.depth as f64 + 1.0);
            continue;
        }
        queue.push(Particle { energy: 0.6 * p.energy, depth: p.depth + 1 });
        queue.push(Particle { energy: 0.4 * p.energy, depth: p.depth + 1 });
    }
    deposited
}

#[differentiable]
fn generations(x: &[f64]) -> f64 {
    let mut front = vec![x[0]];
    let mut s = 0.0;
    let mut round = 0;
    while !front.is_empty() && round < 6 {
        let mut next = Vec::new();
        for v in &front {
            s += v * v;
            if *v > 0.5 {
                next.push(v * x[1]);
                next.push(v - 0.75);
            }
        }
        front = next;
        round += 1;
    }
    s + front.len() as f64
}

#[differentiable]
fn kept_sorted(x: &[f64]) -> f64 {
    let mut best: Vec<f64> = Vec::with_capacity(4);
    for &v in x {
        let at = best.iter().position(|b| *b > v).unwrap_or(best.len());
        best.insert(at, v);
        if best.len() > 3 {
            best.truncate(3);
        }
        best[0] *= 1.01;
        for b in best.iter_mut() {
            *b += 0.001;
        }
    }
    best.iter().enumerate().map(|(i, v)| v * (i + 1) as f64).sum()
}

#[differentiable]
fn value_of_a_branch(x: &[f64]) -> f64 {
    let mut v = x.to_vec();
    let last = if v.len() > 2 { v.pop().unwrap() * 2.0 } else { 0.5 };
    let first = match v.first() {
        Some(a) if *a > 1.0 => v.remove(0),
        _ => {
            v.push(3.0);
            1.0
        }
    };
    if let Some(a) = v.pop() {
        v.push(a * last);
        v.swap(0, 0);
    }
    last * first + v.iter().sum::<f64>() * v.len() as f64
}

#[differentiable]
fn early(x: &[f64]) -> f64 {
    let mut seen = Vec::new();
    for v in x {
        if seen.iter().any(|s: &f64| (s - v).abs() < 0.1) {
            return seen.iter().sum::<f64>() * v;
        }
        if *v < 0.0 {
            continue;
        }
        seen.push(*v);
    }
    seen.len() as f64 * x[0]
}

#[differentiable]
fn pops_too_much(x: &[f64]) -> f64 {
    let mut v = x.to_vec();
    let mut s = 0.0;
    for _ in 0..3 {
        s += v.pop().expect("a number too few");
    }
    s
}

/// The elements are of the type of a field.
#[differentiable]
fn halves(x: &[f64]) -> f64 {
    let start = Particle { energy: x[0] * x[1], depth: x.len() };
    let mut stack = vec![start.energy];
    for _ in 0..start.depth {
        if let Some(top) = stack.pop() {
            if top > 1.0 {
                stack.push(top * 0.5);
                stack.push(top);
            }
        }
        stack.push(stack.last().copied().unwrap_or(2.0) * 0.75);
    }
    stack.iter().sum()
}

#[test]
fn lists_change_their_length_in_branches_and_loops() {
    agree! {
        polish at [1.0, 2.0, 3.0, 4.0, 5.0], [1.0], [];
        skyline at [3.0, 1.0, 2.0, 0.5, 0.7], [1.0, 2.0, 3.0], [];
        adaptive at [1.0, 0.5], [30.0, 2.0];
        shower at [7.0, 0.5], [0.5, 2.0];
        generations at [1.5, 0.8], [0.2, 1.0];
        kept_sorted at [3.0, 1.0, 2.0, 0.5, 0.7], [1.0];
        value_of_a_branch at [3.0, 1.0, 2.0], [0.5, 1.0], [2.0, 1.0];
        early at [1.0, 2.0, 1.05, 3.0], [1.0, -2.0, 3.0], [1.0, 1.0];
        pops_too_much at [1.0, 2.0, 3.0, 4.0];
        halves at [1.0, 5.0, 3.0], [0.5, 0.25];
    }
    let error = pops_too_much::gradient(&[1.0, 2.0]).unwrap_err().to_string();
    assert!(error.contains("a number too few"), "{error}");
}

#[differentiable]
fn assigned_and_pushed(x: &[f64]) -> f64 {
    let mut a = vec![1.0];
    for v in x {
        a[0] = 2.0 * v;
        a.push(*v);
        a.push(a[0] * a[a.len() - 1]);
        if a.len() > 6 {
            a.swap(0, 5);
            a.dedup();
        }
    }
    a.iter().enumerate().map(|(i, v)| v * i as f64).sum()
}

#[test]
fn elements_are_assigned_where_lists_grow() {
    agree! { assigned_and_pushed at [1.1, 2.0, 3.0, 0.6], [0.7], []; }
}
