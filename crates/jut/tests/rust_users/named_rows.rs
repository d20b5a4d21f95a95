//! Names for lists of lists, lists of integers that are read before they are known, closures with jumps.

use jut::differentiable;

#[differentiable]
mod named {
    pub type Row = Vec<f64>;
    pub type Rows = Vec<Row>;

    #[derive(jut::Data, Clone, Debug, PartialEq)]
    pub struct Layers {
        #[data(ragged)]
        pub rows: Rows,
        pub gain: f64,
    }

    impl Layers {
        pub fn energy(&self) -> f64 {
            self.rows.iter().map(|r| r.iter().map(|v| v * self.gain).product::<f64>()).sum()
        }
    }

    pub fn total(rows: &Rows, a: f64) -> f64 {
        let all: Rows = halves(rows);
        all.iter().map(|r| r.iter().map(|v| a * v * v).sum::<f64>()).sum()
    }

    pub fn halves(rows: &[Row]) -> Rows {
        rows.iter().map(|r| r.iter().map(|v| 0.5 * v).collect()).collect()
    }

    pub fn with_own_name(x: &[f64]) -> f64 {
        type Rows = [f64; 2];
        let two: Rows = [x[0], x[1]];
        two[0] * two[1]
    }
}

#[test]
fn rows_behind_names_of_a_module() {
    let rows = vec![vec![1.0, 2.0], vec![3.0], vec![]];
    let (value, (by_rows, by_a)) = named::total::value_and_gradient(&rows, 2.0).unwrap();
    assert_eq!(value, named::total(&rows, 2.0));
    assert_eq!((by_rows, by_a), (vec![vec![1.0, 2.0], vec![3.0], vec![]], 3.5));
    assert_eq!(named::halves::value(&rows).unwrap(), named::halves(&rows));
    let layers = named::Layers { rows, gain: 2.0 };
    let (value, by) = named::Layers_energy::value_and_gradient(&layers).unwrap();
    assert_eq!(value, layers.energy());
    let own = vec![vec![8.0, 4.0], vec![2.0], vec![]];
    assert_eq!(by, named::Layers { rows: own, gain: 11.0 });
    assert_eq!(named::with_own_name::gradient(&[2.0, 3.0]).unwrap(), [3.0, 2.0]);
}

type Rows = Vec<Vec<f64>>;

#[differentiable]
fn outside_of_a_module(rows: &Rows) -> f64 {
    rows.iter().map(|r| r[0]).sum()
}

#[test]
fn rows_behind_other_names_are_errors_that_say_so() {
    assert_eq!(outside_of_a_module::value(&vec![vec![1.0], vec![2.0]]).unwrap(), 3.0);
    let error = outside_of_a_module::value(&vec![vec![1.0], vec![2.0, 3.0]]).unwrap_err();
    assert_eq!(error.code(), Some("A03"));
    let jut::Error::Argument(error) = error else { panic!("{error}") };
    assert!(error.advice().contains("write it out in the function"), "{}", error.advice());
}

/// Fibonacci's numbers.
#[differentiable]
fn rabbits(x: &[f64]) -> f64 {
    let mut v = Vec::new();
    while v.len() < 6 {
        let n = v.len();
        if n >= 2 {
            v.push(v[n - 1] + v[n - 2]);
        } else {
            v.push(1);
        }
    }
    v.iter().map(|k| x[0].powi(*k)).sum()
}

/// Where each run that rises began.
#[differentiable]
fn began(x: &[f64]) -> f64 {
    let mut from = Vec::new();
    for i in 0..x.len() {
        let own = match i {
            i if i > 0 && x[i] > x[i - 1] => from[i - 1],
            _ => i,
        };
        from.push(own);
    }
    from.iter().zip(x).map(|(&k, v)| x[k] * v).sum()
}

/// A list that begins with what another variable says it is.
#[differentiable]
fn places(x: &[f64]) -> f64 {
    let mut at = Vec::new();
    for a in x {
        match at.last() {
            Some(&k) if *a > 0.5 => at.push(k),
            Some(&k) => at.push((k + 1) % x.len()),
            None => at.push(x.len() - 1),
        }
    }
    at.iter().map(|&k| x[k]).product()
}

/// A stack of places whose first one is that of no elements.
#[differentiable]
fn visited(x: &[f64]) -> f64 {
    let mut todo = Vec::new();
    let mut s = 0.0;
    loop {
        let at = todo.pop().unwrap_or(0);
        if at >= x.len() {
            break;
        }
        s += x[at] * (at + 1) as f64;
        todo.push(at + 2);
    }
    s
}

/// Closures that are left before their end, and elements behind a `filter` beside others.
#[differentiable]
fn left_early(x: &[f64]) -> f64 {
    let place = |t: f64| -> Option<usize> {
        let first = x.iter().position(|v| *v > t)?;
        let Some(k) = first.checked_sub(1) else { return None };
        Some(k)
    };
    let slope = |v: f64| {
        if v < 0.0 {
            return -2.0 * v;
        }
        let w = v * v;
        if w > 1.0 {
            return w;
        }
        v
    };
    let bent: f64 = x.iter().map(|v| slope(*v)).sum();
    let (low, high) = x[1..].split_at(1);
    let rising = x.windows(2).filter(|w| w[1] > w[0]).map(|w| w[1] - w[0]);
    let weighted: f64 = x.iter().filter(|v| **v > 0.0).zip(high).map(|(a, b)| a * b).sum();
    bent + weighted + low[0] * rising.sum::<f64>() + place(0.5).map_or(1.0, |k| x[k])
}

#[test]
fn integers_that_are_read_before_they_are_pushed() {
    everywhere! {
        rabbits at [0.7];
        began at [0.3, 0.7, 0.2, 0.9, 1.1];
        places at [0.3, 0.7, 0.2, 0.9];
        visited at [0.3, 0.7, 0.2];
        left_early at [0.3, -0.7, 1.2, 0.9], [0.6, 0.7, 0.2];
    }
}
