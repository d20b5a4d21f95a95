//! Cohorts and patients: epidemics with measures, answers to tests, survivors, grades, doses.

use jut::math::{exp, lgamma, log, log1p, sigmoid};
use jut::{Data, differentiable};

/// What a government does in an epidemic.
#[derive(Data, Clone, Debug, PartialEq)]
enum Measure {
    Lockdown { from: usize, until: usize, strength: f64 },
    Vaccination { day: usize, share: f64 },
    Testing(f64),
}

#[derive(Data, Clone, Copy, Debug, PartialEq, Default)]
struct Compartments {
    s: f64,
    e: f64,
    i: f64,
    r: f64,
}

#[differentiable]
impl Measure {
    fn contact_factor(&self, today: usize) -> f64 {
        match *self {
            Measure::Lockdown { from, until, strength } if (from..until).contains(&today) => {
                1.0 - strength
            }
            Measure::Testing(found) => 1.0 / (1.0 + found),
            _ => 1.0,
        }
    }
}

#[differentiable]
impl Compartments {
    fn day(self, beta: f64, sigma: f64, gamma: f64) -> Self {
        let infections = beta * self.s * self.i;
        let onsets = sigma * self.e;
        let recoveries = gamma * self.i;
        Self {
            s: self.s - infections,
            e: self.e + infections - onsets,
            i: self.i + onsets - recoveries,
            r: self.r + recoveries,
        }
    }
}

#[differentiable]
fn epidemic(x: &[f64]) -> f64 {
    let measures = vec![
        Measure::Lockdown { from: 5, until: 12, strength: x[1] },
        Measure::Testing(x[2]),
        Measure::Vaccination { day: 9, share: x[3] },
    ];
    let mut state = Compartments { s: 0.97, i: 0.02, e: 0.01, ..Default::default() };
    let mut peak = (0usize, state.i);
    for today in 0..25 {
        let factor: f64 = measures.iter().map(|m| m.contact_factor(today)).product();
        for m in &measures {
            if let Measure::Vaccination { day, share } = m {
                if *day == today {
                    let moved = state.s * share;
                    state.s -= moved;
                    state.r += moved;
                }
            }
        }
        state = state.day(x[0] * factor, 0.3, 0.15);
        if state.i > peak.1 {
            peak = (today, state.i);
        }
    }
    peak.1 + 0.01 * peak.0 as f64 + state.r
}

/// Answers of pupils to a test, three parameters per task, abilities by quadrature.
#[derive(Data, Clone, Debug, PartialEq)]
struct Task {
    difficulty: f64,
    discrimination: f64,
    guess: f64,
}

const QUADRATURE: [(f64, f64); 5] =
    [(-2.857, 0.0113), (-1.3556, 0.2221), (0.0, 0.5333), (1.3556, 0.2221), (2.857, 0.0113)];

#[differentiable]
impl Task {
    fn probability(&self, ability: f64) -> f64 {
        let Task { difficulty, discrimination, guess } = self;
        guess + (1.0 - guess) * sigmoid(discrimination * (ability - difficulty))
    }

    fn likelihood(&self, ability: f64, solved: Option<bool>) -> f64 {
        let p = self.probability(ability);
        match solved {
            Some(true) => p,
            Some(false) => 1.0 - p,
            None => 1.0,
        }
    }
}

#[differentiable]
fn test_answers(x: &[f64]) -> f64 {
    let tasks: Vec<Task> = x
        .chunks(3)
        .filter(|c| c.len() == 3)
        .map(|c| Task { difficulty: c[0], discrimination: exp(c[1]), guess: sigmoid(c[2]) })
        .collect();
    let marks: [[Option<bool>; 3]; 4] = [
        [Some(true), Some(true), Some(false)],
        [Some(true), None, Some(false)],
        [Some(false), Some(true), Some(true)],
        [Some(false); 3],
    ];
    let mut total = 0.0;
    for row in marks.iter() {
        let marginal: f64 = QUADRATURE
            .iter()
            .map(|&(node, weight)| {
                weight
                    * tasks
                        .iter()
                        .zip(row.iter())
                        .map(|(task, &mark)| task.likelihood(node, mark))
                        .product::<f64>()
            })
            .sum();
        total += log(marginal);
    }
    -total
}

/// Survivors by Kaplan and Meier, with weights.
#[differentiable]
fn restricted_mean(x: &[f64]) -> f64 {
    let horizon = 6.0;
    let mut subjects: Vec<(f64, bool, f64)> =
        x.iter().enumerate().map(|(k, &t)| (t, k % 3 != 1, 1.0 + 0.1 * k as f64)).collect();
    subjects.retain(|(t, _, _)| *t > 0.0);
    subjects.sort_by(|a, b| a.0.partial_cmp(&b.0).unwrap());
    let mut at_risk: f64 = subjects.iter().map(|s| s.2).sum();
    let (mut survival, mut area, mut since) = (1.0, 0.0, 0.0);
    for (time, event, weight) in subjects {
        if time >= horizon {
            break;
        }
        area += survival * (time - since);
        since = time;
        if event {
            survival *= 1.0 - weight / at_risk;
        }
        at_risk -= weight;
    }
    area + survival * (horizon - since)
}

/// Grades in an order.
#[differentiable]
fn ordered_grades(x: &[f64]) -> f64 {
    const SEEN: &[(f64, f64, usize)] =
        &[(0.5, 1.0, 0), (-0.3, 0.2, 1), (1.2, -0.7, 3), (0.9, 0.4, 2), (-1.1, 0.3, 0)];
    let (slopes, steps) = x.split_at(2);
    let cuts: Vec<f64> = steps
        .iter()
        .enumerate()
        .scan(0.0, |at, (k, step)| {
            *at += if k == 0 { *step } else { exp(*step) };
            Some(*at)
        })
        .collect();
    let below = |grade: usize, eta: f64| -> f64 {
        if grade == 0 {
            0.0
        } else if grade > cuts.len() {
            1.0
        } else {
            sigmoid(cuts[grade - 1] - eta)
        }
    };
    SEEN.iter()
        .map(|&(a, b, grade)| {
            let eta = slopes[0] * a + slopes[1] * b;
            -log(below(grade + 1, eta) - below(grade, eta))
        })
        .sum()
}

/// Counts of kinds in samples.
#[differentiable]
fn count_likelihood(counts: &[u32], alpha: &[f64]) -> f64 {
    let n: u32 = counts.iter().sum();
    let a: f64 = alpha.iter().sum();
    let mut ll = lgamma(a) - lgamma(a + f64::from(n));
    for (&c, &ak) in counts.iter().zip(alpha) {
        if c == 0 {
            continue;
        }
        ll += lgamma(ak + c as f64) - lgamma(ak) - lgamma(f64::from(c) + 1.0);
    }
    ll
}

#[differentiable]
fn communities(x: &[f64]) -> f64 {
    let samples: Vec<Vec<u32>> = vec![vec![3, 0, 5], vec![1, 1, 7], vec![9, 2, 0]];
    let weight = sigmoid(x[6]);
    let (first, second) = x[..6].split_at(3);
    samples
        .iter()
        .map(|s| {
            let la = log(weight) + count_likelihood(s, first);
            let lb = log1p(-weight) + count_likelihood(s, second);
            let top = la.max(lb);
            top + log(exp(la - top) + exp(lb - top))
        })
        .sum()
}

/// Two compartments, with doses by mouth and by vein.
#[derive(Data, Clone, Copy, Debug, PartialEq)]
enum Dose {
    Bolus { at: f64, amount: f64 },
    Infusion { from: f64, to: f64, rate: f64 },
    Tablet { at: f64, amount: f64, share: f64 },
}

#[differentiable]
impl Dose {
    fn starts(&self) -> f64 {
        match self {
            Self::Bolus { at, .. } | Self::Tablet { at, .. } => *at,
            Self::Infusion { from, .. } => *from,
        }
    }
}

#[differentiable]
fn patient(x: &[f64]) -> f64 {
    let &[k10, k12, k21, ka, ..] = x else { return 0.0 };
    let mut doses = [
        Dose::Tablet { at: 1.5, amount: 2.0, share: 0.7 },
        Dose::Bolus { at: 0.0, amount: 1.0 },
        Dose::Infusion { from: 2.0, to: 3.0, rate: 0.5 },
    ];
    doses.sort_by(|a, b| a.starts().partial_cmp(&b.starts()).unwrap());
    let h = 0.125;
    let mut next = 0;
    let (mut gut, mut central, mut tissue) = (0.0, 0.0, 0.0);
    let mut auc = 0.0;
    for step in 0..40 {
        let t = step as f64 * h;
        while next < doses.len() && doses[next].starts() <= t {
            match doses[next] {
                Dose::Bolus { amount, .. } => central += amount,
                Dose::Tablet { amount, share, .. } => gut += share * amount,
                Dose::Infusion { .. } => {}
            }
            next += 1;
        }
        let infused: f64 = doses
            .iter()
            .filter_map(|d| match d {
                Dose::Infusion { from, to, rate } if *from <= t && t < *to => Some(*rate),
                _ => None,
            })
            .sum();
        let absorbed = ka * gut;
        let dc = absorbed + infused - (k10 + k12) * central + k21 * tissue;
        let dt = k12 * central - k21 * tissue;
        auc += h * central;
        gut -= h * absorbed;
        central += h * dc;
        tissue += h * dt;
    }
    auc
}

/// Events that excite others.
#[differentiable]
fn excited_events(x: &[f64]) -> f64 {
    let (mu, alpha, beta) = (x[0], x[1], x[2]);
    let times = &x[3..];
    let end = times.last().copied().unwrap_or(0.0) + 1.0;
    let mut memory = 0.0;
    let mut previous: Option<f64> = None;
    let mut loglik = 0.0;
    for &t in times {
        if let Some(p) = previous.replace(t) {
            memory = (1.0 + memory) * exp(-beta * (t - p));
        }
        loglik += log(mu + alpha * memory);
    }
    let compensator =
        mu * end + times.iter().map(|t| alpha / beta * (1.0 - exp(-beta * (end - t)))).sum::<f64>();
    loglik - compensator
}

#[test]
fn epidemics_and_answers() {
    everywhere! {
        epidemic at [0.6, 0.4, 0.2, 0.15], [0.2, 0.1, 0.0, 0.5], [0.2];
        test_answers at [0.2, 0.1, -1.5, -0.4, 0.3, -1.0, 0.8, -0.2, -2.0, 7.0], [0.1, 0.2, 0.3];
        ordered_grades at [0.5, -0.3, -0.8, 0.1, 0.2], [0.5];
    }
}

#[test]
fn samples_and_patients() {
    everywhere! {
        communities at [0.8, 0.4, 1.9, 2.1, 0.6, 0.3, 0.2];
        excited_events at [0.4, 0.3, 1.2, 0.5, 1.1, 1.3, 3.0], [0.4, 0.3, 1.2], [0.4];
        restricted_mean at [2.5, 1.0, 7.0, 3.2, -1.0, 0.4], [], [9.0];
        patient at [0.3, 0.2, 0.15, 1.1], [0.3, 0.2];
    }
}
