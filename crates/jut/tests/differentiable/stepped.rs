//! Iterators that are asked for one element after the other.

use jut::differentiable;

#[differentiable]
fn first_and_rest(x: &[f64]) -> f64 {
    let mut it = x.iter();
    let first = it.next().unwrap();
    it.fold(*first, |a, b| a.max(*b) + 0.125 * a)
}

#[differentiable]
fn squares(x: &[f64]) -> f64 {
    let mut it = x.iter();
    let mut s = 0.0;
    while let Some(v) = it.next() {
        s += v * v;
    }
    s
}

#[differentiable]
fn with_the_next(x: &[f64]) -> f64 {
    let mut it = x.iter().zip(x.iter().skip(1)).peekable();
    let mut s = 0.0;
    while let Some((a, b)) = it.next() {
        s += a * b;
        match it.peek() {
            Some((c, _)) => s -= 0.5 * **c,
            None => s *= 2.0,
        }
    }
    s
}

/// Two sorted halves, merged.
#[differentiable]
fn merged(x: &[f64]) -> f64 {
    let (a, b) = x.split_at(x.len() / 2);
    let (mut left, mut right) = (0.0, 0.0);
    let mut i = a.iter().peekable();
    let mut j = b.iter().peekable();
    let mut all = Vec::new();
    loop {
        match (i.peek(), j.peek()) {
            (Some(&&p), Some(&&q)) => {
                if p <= q {
                    all.push(p);
                    i.next();
                    left += p;
                } else {
                    all.push(q);
                    j.next();
                    right += q;
                }
            }
            (Some(&&p), None) => {
                all.push(p);
                i.next();
            }
            (None, Some(&&q)) => {
                all.push(q);
                j.next();
            }
            (None, None) => break,
        }
    }
    left * right + all.iter().enumerate().map(|(k, v)| k as f64 * v).sum::<f64>()
}

#[differentiable]
fn two_and_rest(x: &[f64]) -> f64 {
    let mut it = x.iter();
    let (Some(a), Some(b)) = (it.next(), it.next()) else { return 0.25 };
    let left = it.len() as f64;
    a * b + left * it.map(|v| v * v).sum::<f64>()
}

#[differentiable]
fn largest(x: &[f64]) -> f64 {
    let mut it = x.iter().copied();
    let Some(mut best) = it.next() else { return -1.0 };
    for v in it {
        if v > best {
            best = v;
        }
    }
    best * best
}

/// Pairs of operands; the last one may be alone.
#[differentiable]
fn in_pairs(x: &[f64]) -> f64 {
    let mut operands = x.iter();
    let mut sum = *operands.next().expect("no operands");
    while let Some(&a) = operands.next() {
        if let Some(&b) = operands.next() { sum += a * b } else { sum -= a }
    }
    sum
}

#[differentiable]
fn ratio(x: &[f64]) -> Option<f64> {
    let mut it = x.iter();
    let a = it.next()?;
    let b = it.next()?;
    Some(a / b)
}

#[differentiable]
fn chunks_and_rest(x: &[f64]) -> f64 {
    let chunks = x.chunks_exact(3);
    let rest = chunks.remainder();
    let mut s: f64 = chunks.map(|c| c[0] * c[2]).sum();
    for r in rest {
        s += r * r;
    }
    s
}

#[differentiable]
fn chunks_by_reference(x: &[f64]) -> f64 {
    let mut chunks = x.chunks_exact(2);
    let mut s = 0.0;
    for c in chunks.by_ref() {
        s += c[0] * c[1];
    }
    for r in chunks.remainder() {
        s += r * r;
    }
    s
}

#[test]
fn elements_are_taken_one_by_one() {
    agree! {
        first_and_rest at [0.5], [0.75, 0.25, 1.5, 1.0];
        squares at [], [0.75, 0.25, 1.5];
        with_the_next at [0.5], [0.75, 0.25], [0.75, 0.25, 1.5, 1.0];
        merged at [], [0.25, 0.5, 1.0, 0.375, 0.75], [1.0, 2.0, 0.5, 0.75];
        two_and_rest at [], [0.5], [0.5, 2.0], [0.5, 2.0, 3.0, 0.25];
        largest at [], [0.5], [0.5, 2.0, 3.0, 0.25];
        in_pairs at [0.5], [0.5, 2.0], [0.5, 2.0, 3.0], [0.5, 2.0, 3.0, 0.25];
        chunks_and_rest at [], [0.5], [0.5, 2.0, 3.0], [0.5, 2.0, 3.0, 0.25, 1.5];
        chunks_by_reference at [], [0.5], [0.5, 2.0], [0.5, 2.0, 3.0];
    }
    for x in [&[][..], &[1.0], &[1.0, 4.0, 2.0]] {
        assert_eq!(ratio::value(x).unwrap(), ratio(x));
    }
}

#[test]
fn what_is_not_there_is_an_error() {
    assert!(first_and_rest::value(&[]).unwrap_err().to_string().contains(file!()));
    assert!(in_pairs::gradient(&[]).is_err());
}
