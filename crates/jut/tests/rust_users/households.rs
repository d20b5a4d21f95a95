//! Everyday bookkeeping: tariffs, votes, bins, timetables, kitchens, games.

use jut::math::{exp, sin};
use jut::{Data, differentiable};

/// A bill by bands of the hour, with a builder for the tariff.
#[derive(Data, Clone, Debug, PartialEq)]
struct Tariff {
    night: f64,
    day: f64,
    peak: f64,
    standing: f64,
    threshold: f64,
}

#[differentiable]
impl Tariff {
    fn new(base: f64) -> Self {
        Self { night: base * 0.5, day: base, peak: base * 1.8, standing: 0.2, threshold: f64::MAX }
    }
    fn with_threshold(mut self, threshold: f64) -> Self {
        self.threshold = threshold;
        self
    }
    fn with_standing(self, standing: f64) -> Self {
        Self { standing, ..self }
    }
    fn rate(&self, hour: u32) -> f64 {
        match hour % 24 {
            0..=5 | 23 => self.night,
            h @ (6..=8 | 17..=19) => self.peak + 0.01 * f64::from(h),
            _ => self.day,
        }
    }
}

#[differentiable]
fn electricity_bill(x: &[f64]) -> f64 {
    let Some((&base, usage)) = x.split_first() else { return 0.0 };
    let tariff = Tariff::new(base).with_threshold(1.5).with_standing(0.3);
    let mut total = 0.0;
    let mut carried = 0.0_f64;
    for (hour, kwh) in usage.iter().enumerate().map(|(i, k)| (i as u32 * 5 + 3, k)) {
        let billed = kwh + std::mem::take(&mut carried);
        if billed > tariff.threshold {
            carried = billed - tariff.threshold;
        }
        total += billed.min(tariff.threshold) * tariff.rate(hour);
    }
    total + tariff.standing + carried * tariff.peak
}

/// A single transferable vote: the last one is struck out, and gives on what it has.
#[derive(Data, Clone, Debug, PartialEq)]
struct Candidate {
    votes: f64,
    out: bool,
}

#[differentiable]
fn last_standing(field: &[Candidate]) -> Option<usize> {
    field
        .iter()
        .enumerate()
        .filter(|(_, c)| !c.out)
        .min_by(|(_, a), (_, b)| a.votes.total_cmp(&b.votes))
        .map(|(i, _)| i)
}

#[differentiable]
fn transferable_vote(x: &[f64]) -> f64 {
    let mut field: Vec<Candidate> =
        x.iter().map(|&votes| Candidate { votes, out: false }).collect();
    let total: f64 = x.iter().sum();
    let mut rounds = 0u32;
    loop {
        let leader = field.iter().map(|c| c.votes).fold(f64::NEG_INFINITY, f64::max);
        if leader > 0.5 * total || field.iter().filter(|c| !c.out).count() <= 1 {
            break leader / total + rounds as f64;
        }
        let Some(loser) = last_standing(&field) else { break 0.0 };
        rounds += 1;
        let freed = std::mem::replace(&mut field[loser].votes, 0.0);
        field[loser].out = true;
        let share: f64 = field.iter().filter(|c| !c.out).map(|c| c.votes).sum();
        for c in field.iter_mut().filter(|c| !c.out) {
            c.votes += freed * c.votes / share;
        }
    }
}

/// Things put into the first bin that has room for them, largest first.
#[differentiable]
fn first_fit(x: &[f64]) -> f64 {
    const ROOM: f64 = 1.0;
    let mut order: Vec<usize> = (0..x.len()).collect();
    order.sort_by(|&a, &b| x[b].total_cmp(&x[a]).then(a.cmp(&b)));
    let mut bins: Vec<f64> = vec![];
    let mut put = vec![0usize; x.len()];
    for &i in &order {
        match bins.iter().position(|used| used + x[i] <= ROOM) {
            Some(b) => {
                bins[b] += x[i];
                put[i] = b;
            }
            None => {
                put[i] = bins.len();
                bins.push(x[i]);
            }
        }
    }
    let waste: f64 = bins.iter().map(|used| (ROOM - used).powi(2)).sum();
    let moved: f64 = put.iter().zip(x).map(|(&b, v)| (b as f64 + 1.0) * v).sum();
    waste + 0.1 * moved + bins.len() as f64
}

/// Trains with delays that are made up for at stops.
#[derive(Data, Clone, Copy, Debug, PartialEq)]
enum Stop {
    Through,
    Halt { dwell: f64, slack: f64 },
    Terminus(f64),
}

#[differentiable]
impl Stop {
    fn leaves(self, arrival: f64, planned: f64) -> Option<f64> {
        match self {
            Stop::Through => Some(arrival),
            Stop::Halt { dwell, slack } if arrival > planned => {
                Some((arrival + dwell - slack).max(planned + 0.5 * dwell))
            }
            Stop::Halt { dwell, .. } => Some(planned + dwell),
            Stop::Terminus(_) => None,
        }
    }
}

#[differentiable]
fn timetable(x: &[f64]) -> f64 {
    let stops = [
        Stop::Halt { dwell: x[0], slack: 0.2 },
        Stop::Through,
        Stop::Halt { dwell: 0.5, slack: x[1] },
        Stop::Terminus(2.0),
    ];
    let mut now = x[2];
    let mut delay = 0.0;
    for (k, stop) in stops.iter().enumerate() {
        let planned = 1.5 * k as f64;
        delay += (now - planned).max(0.0);
        now = match stop.leaves(now, planned) {
            Some(t) => t + 1.2 + 0.1 * sin(t),
            None => {
                let Stop::Terminus(w) = *stop else { unreachable!() };
                return delay * w + now;
            }
        };
    }
    delay
}

/// A bowling game: the rolls are shares of the pins.
#[differentiable]
fn bowling(x: &[f64]) -> f64 {
    let mut score = 0.0;
    let mut roll = 0;
    for frame in 1..=3 {
        let (points, used) = match x[roll..] {
            [a, b, c, ..] if a >= 10.0 => (a + b + c, 1),
            [a, b, c, ..] if a + b >= 10.0 => (a + b + c, 2),
            [a, b, ..] => (a + b, 2),
            [a] => (a, 1),
            [] => break,
        };
        score += points * frame as f64;
        roll += used;
    }
    score
}

/// Bread by percentages of the baker, in units that are turned into each other.
#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct Grams(f64);
#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct Cups(f64);

#[differentiable]
impl From<Cups> for Grams {
    fn from(c: Cups) -> Grams {
        Grams(c.0 * 236.6)
    }
}

#[differentiable]
impl std::ops::Add for Grams {
    type Output = Grams;
    fn add(self, other: Grams) -> Grams {
        Grams(self.0 + other.0)
    }
}

#[differentiable]
impl std::ops::Mul<Grams> for f64 {
    type Output = Grams;
    fn mul(self, g: Grams) -> Grams {
        Grams(self * g.0)
    }
}

#[differentiable]
fn bread(x: &[f64]) -> f64 {
    let flour = Grams::from(Cups(x[0])) + Grams(100.0);
    let [water, salt, yeast] = [x[1], 0.02, x[2]].map(|p| p * flour);
    let dough = flour + water + salt + yeast;
    let hydration = water.0 / flour.0;
    let rise = |hours: f64| 1.0 + yeast.0 / dough.0 * hours * exp(-0.1 * hours);
    let heights: Vec<f64> = (1..=4).map(|h| rise(h as f64) * hydration).collect();
    heights.iter().copied().fold(0.0, f64::max) + dough.0 / 1000.0
}

/// Marks on a curve: the worst is dropped, the rest is put on a scale by ranks.
#[differentiable]
fn graded(x: &[f64]) -> f64 {
    fn letter(mark: f64) -> Option<u8> {
        Some(match mark {
            m if m >= 0.9 => b'A',
            m if m >= 0.6 => b'B',
            m if m >= 0.3 => b'C',
            _ => return None,
        })
    }
    let mut sorted = x.to_vec();
    sorted.sort_by(|a, b| b.partial_cmp(a).unwrap());
    sorted.pop();
    let top = sorted.first().copied().unwrap_or(1.0);
    sorted
        .iter()
        .map(|m| m / top)
        .map(|m| match letter(m) {
            Some(b'A') => 4.0 * m,
            Some(b'B') => 3.0 * m * m,
            Some(_) => 2.0,
            None => 0.0,
        })
        .sum()
}

#[test]
fn households_and_votes() {
    everywhere! {
        electricity_bill at [0.3, 1.0, 2.0, 0.5, 1.8, 0.4], [0.3], [];
        transferable_vote at [3.0, 2.5, 2.0, 1.4], [5.0, 1.0];
        first_fit at [0.5, 0.7, 0.2, 0.45, 0.33];
        timetable at [0.4, 0.3, 0.6], [0.4, 0.3, -1.0];
    }
}

#[test]
fn games_and_kitchens() {
    everywhere! {
        bowling at [10.5, 3.0, 4.0, 6.0, 4.5, 2.0], [3.0, 4.0, 5.0], [1.0, 2.0];
        bread at [2.0, 0.7, 0.01];
        graded at [0.95, 0.5, 0.72, 0.1, 0.3];
    }
}
