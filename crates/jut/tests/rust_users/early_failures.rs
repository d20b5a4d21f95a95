//! What fails no earlier than in Rust, and what fails at all: elements that are chosen, and several patterns before one `else`.

use jut::{Data, differentiable};

// Closures that fail at an element which nobody asks for.
const WEIGHTS: [f64; 2] = [1.0, 2.0];

#[differentiable]
fn by_index(x: &[f64]) -> f64 {
    let w = WEIGHTS;
    x.iter().filter(|v| w[(**v > 3.0) as usize * 3] > 0.0).zip(&w).map(|(v, w)| v * w).sum()
}

#[differentiable]
fn chosen_and_mapped(x: &[f64]) -> f64 {
    let w = WEIGHTS;
    x.iter()
        .filter_map(|v| {
            assert!(*v < 5.0, "large");
            if *v > 0.0 { Some(v * v) } else { None }
        })
        .zip(w)
        .map(|(v, w)| v * w)
        .sum()
}

#[differentiable]
fn taken(x: &[f64]) -> f64 {
    let positive = |v: f64| {
        assert!(v < 5.0, "large");
        v > 0.0
    };
    x.iter().filter(|v| positive(**v)).take(2).map(|v| v * v).sum()
}

#[differentiable]
fn on_the_other_side(x: &[f64]) -> f64 {
    let w = WEIGHTS;
    let chosen = |v: &f64| {
        assert!(*v < 5.0, "large");
        *v > 0.0
    };
    w.iter().zip(x.iter().filter(|v| chosen(v))).fold(0.0, |s, (w, v)| s * 0.5 + w * v)
}

#[differentiable]
fn numbered(x: &[f64]) -> f64 {
    x.iter()
        .filter(|v| {
            assert!(**v < 5.0, "large");
            **v > 0.0
        })
        .enumerate()
        .map(|(i, v)| v * i as f64)
        .take_while(|v| *v < 3.0)
        .sum()
}

#[derive(Data, Clone, Copy, Debug)]
struct Reading {
    level: f64,
}

#[differentiable]
impl Reading {
    fn is_used(&self) -> bool {
        assert!(self.level < 5.0, "large");
        self.level > 0.0
    }
}

/// What fails is within a method.
#[differentiable]
fn by_method(x: &[f64]) -> f64 {
    let all: Vec<Reading> = x.iter().map(|v| Reading { level: *v }).collect();
    let w = WEIGHTS;
    all.iter().filter(|r| r.is_used()).zip(&w).map(|(r, w)| r.level * w).sum()
}

#[differentiable]
fn is_used(v: &&f64) -> bool {
    assert!(**v < 5.0, "large");
    **v > 0.0
}

/// What fails is a function by its name.
#[differentiable]
fn by_name(x: &[f64]) -> f64 {
    x.iter().filter(is_used).take(2).map(|v| v * v).sum()
}

/// Numbers without end, as many as there are on the other side.
#[differentiable]
fn by_even_numbers(x: &[f64]) -> f64 {
    (0..).filter(|k| k % 2 == 0).zip(x).map(|(a, b)| a as f64 * b).sum()
}

// Several patterns, of which one may not match.
#[derive(Data, Clone, Copy, Debug, PartialEq)]
enum Kind {
    A(f64),
    B { w: f64 },
}

#[differentiable]
fn kind(x: f64) -> Kind {
    if x > 1.0 { Kind::A(x) } else { Kind::B { w: x } }
}

#[differentiable]
fn half(x: f64) -> Option<f64> {
    if x > 0.0 { Some(x * 0.5) } else { None }
}

#[differentiable]
fn square(x: f64) -> Result<f64, String> {
    if x > 0.0 { Ok(x * x) } else { Err("negative".to_string()) }
}

#[differentiable]
fn numbers(x: &[f64]) -> Result<f64, String> {
    let (Some(a), Ok(b), true) = (half(x[0]), square(x[1]), x.len() > 1) else {
        return Err("not both".into());
    };
    let (Kind::A(c), Kind::B { w }) = (kind(x[0]), kind(x[1])) else {
        return Err("kinds".to_owned());
    };
    Ok(a * b + c * w)
}

#[differentiable]
fn lists(x: &[f64]) -> Result<Vec<f64>, String> {
    let (Some(a), Ok(b)) = (half(x[0]), square(x[1])) else {
        return Err("not both".into());
    };
    let (Kind::A(c), d) = (kind(x[0]), a * b) else { return Err("kind".into()) };
    Ok(vec![a, b, c, d])
}

#[differentiable]
fn pair_or_nothing(x: &[f64]) -> Vec<f64> {
    let (Some(a), Some(b)) = (half(x[0]), x.get(1)) else { return vec![] };
    vec![a, *b]
}

#[differentiable]
fn of_patterns(x: &[f64]) -> f64 {
    numbers(x).unwrap_or(7.0) + pair_or_nothing(x).iter().product::<f64>()
}

#[differentiable]
fn of_lists(x: &[f64]) -> f64 {
    lists(x).unwrap().iter().map(|v| v * v).sum()
}

#[test]
fn nothing_fails_that_rust_does_not_ask_for() {
    let (large, skipped) = ([1.0, -1.0, 2.0, 8.0], [1.0, -1.0, 2.0, -1.0, 8.0]);
    everywhere! {
        by_index at [1.0, 2.0], [1.0, 2.0, 4.0], [1.0, 4.0, 1.0];
        chosen_and_mapped at [1.0, 2.0, 7.0], [1.0, 7.0], large, skipped;
        taken at [1.0, 2.0, 7.0], [1.0, 7.0], large, skipped;
        on_the_other_side at [1.0, 2.0, 7.0], [1.0, 7.0], large, skipped;
        by_method at [1.0, 2.0, 7.0], [1.0, 7.0], large, skipped;
        by_name at [1.0, 2.0, 7.0], [1.0, 7.0], large, skipped;
        by_even_numbers at [1.0, 2.5, 2.0], [], [2.0];
        numbered at [1.0, 2.0, 7.0], [1.0, 7.0], [1.0, -1.0, 1.0, 2.0, 8.0];
    }
}

#[test]
fn several_patterns_match_or_none() {
    everywhere! {
        of_patterns at [3.0, 0.5], [3.0, 2.0], [1.2, -2.0], [-1.0, 2.0], [2.0];
        of_lists at [3.0, 0.5], [0.5, 2.0], [3.0, -1.0], [-1.0, 2.0];
    }
}

#[differentiable]
fn kept(x: &[f64]) -> f64 {
    let w = [2.0, 3.0];
    let all: Vec<f64> = x
        .iter()
        .enumerate()
        .filter(|(i, _)| x[3 - i] > 0.0)
        .zip(&w)
        .map(|((_, v), w)| v * w)
        .collect();
    all.iter().sum::<f64>() + all.len() as f64
}
#[differentiable]
fn first_two(x: &[f64]) -> f64 {
    let all: Vec<f64> = (0..9).map(|i| x[i]).filter(|v| *v > 0.0).take(2).collect();
    all[0] * all[1]
}
#[differentiable]
fn gone_over(x: &[f64]) -> f64 {
    let mut s = 0.0;
    let w = [2.0, 3.0];
    for ((_, v), w) in x.iter().enumerate().filter(|(i, _)| x[3 - i] > 0.0).zip(w.iter()) {
        s += v * w;
    }
    for v in (0..6).filter(|i| x[*i] > 0.0).take(2) {
        s += x[v] * x[v];
    }
    s
}
#[differentiable]
fn repeated(x: &[f64]) -> f64 {
    let w = [2, 1];
    x.iter()
        .enumerate()
        .filter(|(i, _)| x[3 - i] > 0.0)
        .zip(&w)
        .flat_map(|((_, v), n)| (0..*n).map(move |k| v * (k as f64 + 1.0)))
        .sum()
}

#[test]
fn nothing_fails_that_rust_does_not_ask_for_where_elements_are_kept_or_gone_over() {
    let (all, early) = ([1.0, 2.0, 0.5, 0.9, 1.0, 1.0], [1.0, 2.0, -0.5, 0.9, 1.0]);
    let (short, none) = ([1.0, 0.3, -1.0, 2.0], [-1.0, -0.3, -1.0, 2.0, 1.0]);
    everywhere! {
        kept at all, early, short, none;
        first_two at all, [1.0, 2.0], [1.0, 2.0, -0.5];
        gone_over at all, early, short, none;
        repeated at all, early, short, none;
    }
}
