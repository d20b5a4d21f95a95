//! Measuring several ways of computing one thing, in turns, so that whatever else the machine does
//! falls on all of them alike.
//!
//! Time is processor time of this process, all its threads together: on a machine that does nothing
//! else it is the time on the wall, and on a busy one it leaves out the waiting.

use cpu_time::ProcessTime;
use std::time::Duration;

/// A stopwatch.
pub struct Watch(Option<ProcessTime>);

impl Watch {
    /// Starts it.
    pub fn start() -> Watch {
        Watch(ProcessTime::try_now().ok())
    }

    /// Seconds of processor time since the start; 0 where the system does not tell.
    pub fn seconds(&self) -> f64 {
        let elapsed = self.0.and_then(|start| start.try_elapsed().ok());
        elapsed.unwrap_or_default().as_secs_f64()
    }
}

/// One way.
pub type Way<'a> = Box<dyn FnMut() + 'a>;

/// Rounds of a way that is measured often, and of one that takes longer than its share of the time.
const ROUNDS: [usize; 2] = [11, 3];

/// Seconds per call of each way: the least of some rounds, in each of which every way runs for about
/// the same time; what else the machine does only ever adds. A way whose single call takes far longer
/// than its share has fewer rounds.
pub fn in_turns(ways: &mut [Way<'_>], budget: Duration) -> Vec<f64> {
    let least = |times: &Vec<f64>| times.iter().copied().min_by(f64::total_cmp).unwrap_or_default();
    rounds(ways, budget).iter().map(least).collect()
}

/// Seconds per call of each way in each round.
fn rounds(ways: &mut [Way<'_>], budget: Duration) -> Vec<Vec<f64>> {
    let slice = budget.as_secs_f64() / (ROUNDS[0] * ways.len().max(1)) as f64;
    let plan: Vec<(u64, usize)> = ways.iter_mut().map(|way| calls_in(way, slice)).collect();
    let mut times = vec![Vec::with_capacity(ROUNDS[0]); ways.len()];
    for round in 0..ROUNDS[0] {
        for ((way, (count, rounds)), times) in ways.iter_mut().zip(&plan).zip(&mut times) {
            if round >= *rounds {
                continue;
            }
            let watch = Watch::start();
            for _ in 0..*count {
                way();
            }
            times.push(watch.seconds() / *count as f64);
        }
    }
    times
}

/// How many calls fill a number of seconds, and in how many rounds to make them.
fn calls_in(way: &mut Way<'_>, seconds: f64) -> (u64, usize) {
    let mut count = 1;
    loop {
        let watch = Watch::start();
        for _ in 0..count {
            way();
        }
        let taken = watch.seconds();
        if taken > seconds / 4.0 || count > 1 << 30 {
            let calls = ((count as f64 * seconds / taken.max(1e-9)) as u64).max(1);
            let rounds = if count == 1 && taken > 10.0 * seconds { ROUNDS[1] } else { ROUNDS[0] };
            return (calls, rounds);
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
pub fn geometric_mean(ratios: impl IntoIterator<Item = f64>) -> f64 {
    let (mut sum, mut count) = (0.0, 0);
    for ratio in ratios {
        sum += ratio.ln();
        count += 1;
    }
    if count == 0 { 0.0 } else { (sum / f64::from(count)).exp() }
}
