//! Lists in the many ways of iterators: windows, scans, partitions, deques, keys.

use jut::{Data, differentiable};

/// The largest of each window, by a deque of indices.
#[differentiable]
fn sliding_max(x: &[f64], w: usize) -> Vec<f64> {
    let mut deque: Vec<usize> = Vec::new();
    let mut out = Vec::new();
    for i in 0..x.len() {
        while let Some(&back) = deque.last() {
            if x[back] <= x[i] {
                deque.pop();
            } else {
                break;
            }
        }
        deque.push(i);
        if deque[0] + w <= i {
            deque.remove(0);
        }
        if i + 1 >= w {
            out.push(x[deque[0]]);
        }
    }
    out
}

#[differentiable]
fn sliding_range(x: &[f64]) -> f64 {
    let negated: Vec<_> = x.iter().map(|v| -v).collect();
    let tops = sliding_max(x, 3);
    let bottoms = sliding_max(&negated, 3);
    tops.iter().zip(bottoms.iter()).map(|(a, b)| (a + b).powi(2)).sum::<f64>()
        / tops.len().max(1) as f64
}

/// Peaks that stand out: their height over the higher one of the valleys beside them.
#[differentiable]
fn prominences(x: &[f64]) -> f64 {
    let peaks: Vec<usize> = x
        .windows(3)
        .enumerate()
        .filter(|(_, w)| w[1] > w[0] && w[1] >= w[2])
        .map(|(i, _)| i + 1)
        .collect();
    let prominence = |p: usize| {
        let valley =
            |side: &[f64]| side.iter().take_while(|v| **v <= x[p]).fold(x[p], |low, v| low.min(*v));
        let left: Vec<f64> = x[..p].iter().rev().cloned().collect();
        x[p] - valley(&left).max(valley(&x[p + 1..]))
    };
    let (high, low): (Vec<f64>, Vec<f64>) =
        peaks.iter().map(|&p| prominence(p)).partition(|h| *h > 0.5);
    high.iter().sum::<f64>() + 0.1 * low.iter().map(|v| v * v).sum::<f64>()
}

/// Runs of the same sign, with their areas, by a scan over pairs.
#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct Run {
    start: usize,
    len: usize,
    area: f64,
}

#[differentiable]
fn runs_of(x: &[f64]) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    for (i, &v) in x.iter().enumerate() {
        match runs.last_mut() {
            Some(run) if (run.area > 0.0) == (v > 0.0) => {
                run.len += 1;
                run.area += v;
            }
            _ => runs.push(Run { start: i, len: 1, area: v }),
        }
    }
    runs
}

#[differentiable]
fn sign_runs(x: &[f64]) -> f64 {
    let mut runs = runs_of(x);
    runs.retain(|r| r.len > 1);
    runs.sort_by_key(|r| std::cmp::Reverse(r.len));
    let longest = match runs.as_slice() {
        [] => return x.iter().map(|v| v.abs()).sum(),
        [only] => only.area,
        [first, second, ..] => first.area * second.area,
    };
    longest + runs.iter().map(|r| r.area / (r.start + 1) as f64).sum::<f64>()
}

/// Weights by ranks, with ties that share theirs.
#[differentiable]
fn shared_ranks(x: &[f64]) -> f64 {
    let mut indexed: Vec<(usize, f64)> = x.iter().copied().enumerate().collect();
    indexed.sort_by(|a, b| a.1.total_cmp(&b.1));
    let mut ranks = vec![0.0; x.len()];
    let mut i = 0;
    while i < indexed.len() {
        let mut j = i;
        while j + 1 < indexed.len() && indexed[j + 1].1 == indexed[i].1 {
            j += 1;
        }
        let shared = (i + j) as f64 / 2.0 + 1.0;
        for (k, _) in &indexed[i..=j] {
            ranks[*k] = shared;
        }
        i = j + 1;
    }
    ranks.iter().zip(x).map(|(r, v)| r * v).sum::<f64>() / ranks.iter().sum::<f64>()
}

/// Differences that are coded: each against a guess from the two before it.
#[differentiable]
fn residuals_coded(x: &[f64]) -> f64 {
    let residuals = x.iter().scan((0.0, 0.0), |(a, b), &v| {
        let guess = 2.0 * *b - *a;
        *a = *b;
        *b = v;
        Some(v - guess)
    });
    let cost = residuals
        .map(|r| match r.abs() {
            s if s < 0.25 => r * r,
            s if s < 2.0 => s + 1.0,
            s => 2.0 * s,
        })
        .enumerate()
        .fold([0.0; 3], |mut by, (i, c)| {
            by[i % 3] += c;
            by
        });
    let [a, b, c] = cost;
    a + 2.0 * b - 0.5 * c
}

/// Two merged calendars: what overlaps, by events that are sorted.
#[differentiable]
fn overlaps(x: &[f64]) -> f64 {
    let mut events: Vec<(f64, i32)> =
        x.chunks_exact(2).flat_map(|c| [(c[0], 1), (c[0] + c[1], -1)]).collect();
    events.sort_by(|(a, s), (b, t)| a.total_cmp(b).then(s.cmp(t)));
    let (mut open, mut since, mut shared) = (0, 0.0, 0.0);
    for &(t, change) in events.iter() {
        if open >= 2 {
            shared += (t - since) * f64::from(open - 1);
        }
        open += change;
        since = t;
    }
    shared
}

/// The rows of a table turned, summed and cut, without an index.
#[differentiable]
fn pivoted_table(x: &[f64]) -> f64 {
    let rows: Vec<&[f64]> = x.chunks(3).filter(|c| c.len() == 3).collect();
    let columns: Vec<Vec<f64>> = (0..3).map(|j| rows.iter().map(|r| r[j]).collect()).collect();
    let means: Vec<f64> = columns.iter().map(|c| c.iter().sum::<f64>() / c.len() as f64).collect();
    let spread = columns
        .iter()
        .zip(&means)
        .map(|(c, m)| c.iter().map(|v| (v - m).powi(2)).sum::<f64>().sqrt())
        .collect::<Vec<_>>();
    let best = spread
        .iter()
        .enumerate()
        .max_by(|a, b| a.1.partial_cmp(b.1).unwrap())
        .map(|(j, _)| j)
        .unwrap();
    let head: f64 = columns[best].iter().step_by(2).sum();
    head + means.iter().rev().skip(1).product::<f64>() + spread[best]
}

#[test]
fn windows_peaks_and_runs() {
    everywhere! {
        sliding_range at [1.0, 3.0, 2.0, 5.0, 4.0, 0.5], [1.0, 2.0];
        prominences at [0.1, 1.2, 0.4, 0.6, 0.5, 2.0, 0.3];
        sign_runs at [1.0, 2.0, -0.5, -0.7, -0.1, 3.0], [1.0, -1.0, 2.0], [1.0, 2.0];
    }
}

#[test]
fn ranks_codes_and_tables() {
    everywhere! {
        shared_ranks at [0.3, 1.2, 0.7, -0.4];
        residuals_coded at [0.1, 0.3, 1.5, 5.0, 5.2];
        overlaps at [0.0, 2.0, 1.0, 3.0, 1.5, 0.7];
        pivoted_table at [1.0, 5.0, 2.0, 0.5, 3.0, 2.5, 2.0, 1.0, 2.2, 9.0];
    }
}
