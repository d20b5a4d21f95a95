//! Measuring several ways of computing one thing, in turns, so that whatever else the machine does
//! falls on all of them alike.

use std::time::{Duration, Instant};

/// One way.
pub type Way<'a> = Box<dyn FnMut() + 'a>;

/// Seconds per call of each way: the median over rounds, in each of which every way runs for about
/// the same time.
pub fn in_turns(ways: &mut [Way<'_>], budget: Duration) -> Vec<f64> {
    const ROUNDS: usize = 9;
    let slice = budget.as_secs_f64() / (ROUNDS * ways.len().max(1)) as f64;
    let counts: Vec<u64> = ways.iter_mut().map(|way| calls_in(way, slice)).collect();
    let mut times = vec![Vec::with_capacity(ROUNDS); ways.len()];
    for _ in 0..ROUNDS {
        for ((way, count), times) in ways.iter_mut().zip(&counts).zip(&mut times) {
            let start = Instant::now();
            for _ in 0..*count {
                way();
            }
            times.push(start.elapsed().as_secs_f64() / *count as f64);
        }
    }
    times.iter_mut().map(|t| median(t)).collect()
}

/// How many calls fill a number of seconds.
fn calls_in(way: &mut Way<'_>, seconds: f64) -> u64 {
    let mut count = 1;
    loop {
        let start = Instant::now();
        for _ in 0..count {
            way();
        }
        let taken = start.elapsed().as_secs_f64();
        if taken > seconds / 4.0 || count > 1 << 30 {
            return ((count as f64 * seconds / taken.max(1e-9)) as u64).max(1);
        }
        count *= 4;
    }
}

/// The median; 0 of nothing.
pub fn median(times: &mut [f64]) -> f64 {
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied().unwrap_or_default()
}

/// The geometric mean; 0 of nothing.
pub fn geometric_mean(ratios: &[f64]) -> f64 {
    if ratios.is_empty() {
        return 0.0;
    }
    (ratios.iter().map(|r| r.ln()).sum::<f64>() / ratios.len() as f64).exp()
}
