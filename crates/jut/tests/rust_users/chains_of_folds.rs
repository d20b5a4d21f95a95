//! Functional code: chains, folds with tuples, closures that give closures, searches, matches of slices.

use jut::math::{exp, log, pow, sigmoid};
use jut::{Data, differentiable};
use std::cmp::Ordering;

// Item response theory: the ability of a person by quadrature.
#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct Item {
    discrimination: f64,
    difficulty: f64,
    guessing: f64,
}

#[differentiable]
impl Item {
    fn probability(&self, theta: f64) -> f64 {
        let Item { discrimination: a, difficulty: b, guessing: c } = *self;
        c + (1.0 - c) * sigmoid(a * (theta - b))
    }
    fn likelihood(&self, theta: f64, right: bool) -> f64 {
        match (self.probability(theta), right) {
            (p, true) => p,
            (p, false) => 1.0 - p,
        }
    }
}

#[differentiable]
fn expected_ability(x: &[f64]) -> f64 {
    let items: Vec<Item> = x
        .chunks_exact(3)
        .map(|c| match *c {
            [discrimination, difficulty, guessing] => Item { discrimination, difficulty, guessing },
            _ => unreachable!(),
        })
        .collect();
    let answers = [true, false, true, true];
    let nodes = (-8..=8).map(|k| 0.5 * k as f64);
    let (top, bottom) = nodes
        .map(|theta| {
            let prior = exp(-0.5 * theta * theta);
            let l: f64 = items
                .iter()
                .zip(answers.iter().cycle())
                .map(|(item, &right)| item.likelihood(theta, right))
                .product();
            (theta, prior * l)
        })
        .fold((0.0, 0.0), |(top, bottom), (theta, w)| (top + theta * w, bottom + w));
    top / bottom
}

// Counts of words by a Dirichlet-multinomial.
#[differentiable]
fn lgamma_by_shift(x: f64) -> f64 {
    let (x, shift) = std::iter::successors(Some((x, 0.0)), |&(x, s)| {
        if x < 8.0 { Some((x + 1.0, s - log(x))) } else { None }
    })
    .last()
    .unwrap();
    let inv = 1.0 / x;
    let series = [1.0 / 12.0, -1.0 / 360.0, 1.0 / 1260.0, -1.0 / 1680.0];
    let tail = series.iter().rev().fold(0.0, |acc, c| acc * inv * inv + c) * inv;
    shift + (x - 0.5) * log(x) - x + 0.9189385332046727 + tail
}

#[differentiable]
fn dirichlet_multinomial(alpha: &[f64]) -> f64 {
    const DOCUMENTS: [&[u32]; 3] = [&[3, 0, 1], &[1, 1], &[0, 4, 2]];
    let ln_rising = |a: f64, n: u32| lgamma_by_shift(a + n as f64) - lgamma_by_shift(a);
    let total = alpha.iter().copied().sum::<f64>();
    -DOCUMENTS
        .iter()
        .map(|counts| {
            let n = counts.iter().sum::<u32>();
            let own: f64 = counts.iter().zip(alpha).map(|(&c, &a)| ln_rising(a, c)).sum();
            own - ln_rising(total, n)
        })
        .sum::<f64>()
}

// Rankings by Plackett and Luce, with ties of lists as slices.
#[differentiable]
fn plackett_luce(skill: &[f64]) -> f64 {
    fn stage(skill: &[f64], rest: &[usize]) -> f64 {
        match rest {
            [] | [_] => 0.0,
            [first, others @ ..] => {
                let norm: f64 = rest.iter().map(|&k| exp(skill[k])).sum();
                skill[*first] - log(norm) + stage(skill, others)
            }
        }
    }
    const RACES: [[usize; 3]; 3] = [[0, 1, 2], [2, 0, 1], [0, 2, 3]];
    -RACES.iter().map(|race| stage(skill, race)).sum::<f64>()
}

// Chain ladder: triangles of claims, row by row shorter.
#[differentiable]
fn development(triangle: &[Vec<f64>]) -> Vec<f64> {
    (1..triangle.len())
        .map(|j| {
            let (now, before) = triangle
                .iter()
                .filter(|row| row.len() > j)
                .fold((0.0, 0.0), |(now, before), row| (now + row[j], before + row[j - 1]));
            now / before
        })
        .collect()
}

#[differentiable]
fn reserves(x: &[f64]) -> f64 {
    let n = 4;
    let mut rest = x;
    let mut triangle: Vec<Vec<f64>> = Vec::with_capacity(n);
    for years in (1..=n).rev() {
        let (row, tail) = rest.split_at(years);
        triangle.push(
            row.iter()
                .scan(0.0, |paid, v| {
                    *paid += *v;
                    Some(*paid)
                })
                .collect(),
        );
        rest = tail;
    }
    let factors = development(&triangle);
    triangle
        .iter()
        .map(|row| {
            let latest = *row.last().unwrap();
            let ultimate = factors.iter().skip(row.len() - 1).fold(latest, |c, f| c * f);
            ultimate - latest
        })
        .sum()
}

// Holt and Winters.
#[differentiable]
fn holt_winters(x: &[f64]) -> f64 {
    let (smoothing, series) = x.split_at(3);
    let &[alpha, beta, gamma] = smoothing else { panic!("three numbers") };
    const SEASON: usize = 3;
    let level = series[..SEASON].iter().sum::<f64>() / SEASON as f64;
    let season: Vec<f64> = series.iter().take(SEASON).map(|v| v - level).collect();
    let (_, _, _, sse) = series.iter().enumerate().skip(SEASON).fold(
        (level, 0.0, season, 0.0),
        |(level, trend, mut season, sse), (t, &y)| {
            let k = t % SEASON;
            let error = y - (level + trend + season[k]);
            let next = alpha * (y - season[k]) + (1.0 - alpha) * (level + trend);
            let slope = beta * (next - level) + (1.0 - beta) * trend;
            season[k] = gamma * (y - next) + (1.0 - gamma) * season[k];
            (next, slope, season, sse + error * error)
        },
    );
    sse
}

// A curve of yields by Nelson, Siegel and Svensson, made by a closure that gives a closure.
#[differentiable]
fn nelson_siegel(x: &[f64]) -> f64 {
    let [b0, b1, b2, b3, tau1, tau2] = *x else { panic!("six parameters") };
    let loading = |tau: f64, t: f64| (1.0 - exp(-t / tau)) / (t / tau);
    let first = |t: f64| loading(tau1, t);
    let second = |t: f64| loading(tau2, t);
    let spot = |t: f64| {
        b0 + b1 * first(t) + b2 * (first(t) - exp(-t / tau1)) + b3 * (second(t) - exp(-t / tau2))
    };
    let quotes = [(0.5, 0.021), (1.0, 0.023), (2.0, 0.027), (5.0, 0.03), (10.0, 0.034)];
    let worst = quotes
        .iter()
        .map(|&(t, y)| (spot(t) - y).abs())
        .max_by(|a, b| a.total_cmp(b))
        .unwrap_or(0.0);
    let sse: f64 = quotes.iter().map(|(t, y)| (spot(*t) - y).powi(2)).sum();
    100.0 * sse + worst
}

// Wynn's epsilon algorithm.
#[differentiable]
fn wynn(partial: &[f64]) -> Option<f64> {
    let mut before = vec![0.0; partial.len() + 1];
    let mut now = partial.to_vec();
    let mut column = 0;
    let mut best = None;
    while now.len() > 1 {
        let next: Vec<f64> =
            now.windows(2).zip(before[1..].iter()).map(|(w, e)| e + 1.0 / (w[1] - w[0])).collect();
        before = now;
        now = next;
        column += 1;
        if column % 2 == 0 {
            best = now.last().copied();
        }
    }
    best
}

#[differentiable]
fn accelerated(x: &[f64]) -> f64 {
    let terms = (0..7).map(|k| {
        let sign = if k % 2 == 0 { 1.0 } else { -1.0 };
        sign * pow(x[0], k as f64) / (x[1] + k as f64)
    });
    let partial: Vec<f64> = terms
        .scan(0.0, |s, t| {
            *s += t;
            Some(*s)
        })
        .collect();
    wynn(&partial).unwrap_or(f64::NAN)
}

// The hazard of a name by its spreads.
#[differentiable]
fn bootstrap_hazard(spreads: &[f64], recovery: f64) -> Result<Vec<f64>, String> {
    let mut hazards: Vec<f64> = Vec::new();
    for (k, s) in spreads.iter().enumerate() {
        let survival: f64 = hazards.iter().map(|h| exp(-h)).product();
        let h = s / (1.0 - recovery) * (1.0 + 0.1 * k as f64) + 0.01 * (1.0 - survival);
        if h < 0.0 {
            return Err("a hazard below zero".to_string());
        }
        hazards.push(h);
    }
    Ok(hazards)
}

#[differentiable]
fn default_leg(x: &[f64]) -> f64 {
    let Some((&recovery, spreads)) = x.split_first() else { return 0.0 };
    let hazards = bootstrap_hazard(spreads, recovery).unwrap();
    let (leg, _) = hazards.iter().enumerate().fold((0.0, 1.0), |(leg, alive), (k, h)| {
        let after = alive * exp(-h);
        (leg + (1.0 - recovery) * exp(-0.03 * (k + 1) as f64) * (alive - after), after)
    });
    leg
}

// Felsenstein's pruning on a tree that is written as parents.
#[differentiable]
fn felsenstein(x: &[f64]) -> f64 {
    let kappa = x[0];
    let lengths = &x[1..];
    let leaves = [Some(b'A'), Some(b'G'), Some(b'A'), None, None];
    let parent = [3usize, 3, 4, 4];
    let code = |c: u8| match c {
        b'A' => 0,
        b'G' => 1,
        _ => 2,
    };
    let transition = |t: f64, from: usize, to: usize| {
        let stay = exp(-kappa * t);
        if from == to { stay + (1.0 - stay) / 3.0 } else { (1.0 - stay) / 3.0 }
    };
    let mut partial = [[1.0; 3]; 5];
    for (node, leaf) in leaves.iter().enumerate() {
        if let Some(base) = leaf {
            partial[node] = std::array::from_fn(|k| if k == code(*base) { 1.0 } else { 0.0 });
        }
    }
    for (child, &up) in parent.iter().enumerate() {
        let below = partial[child];
        for from in 0..3 {
            partial[up][from] *=
                (0..3).map(|to| transition(lengths[child], from, to) * below[to]).sum::<f64>();
        }
    }
    let root = partial.last().unwrap();
    -log(root.iter().sum::<f64>() / 3.0)
}

// Nests of alternatives.
#[differentiable]
fn nested_logit(x: &[f64]) -> f64 {
    let nests = [vec![0, 1], vec![2], vec![3, 4]];
    let (scale, utility) = (x[0], &x[1..]);
    let inclusive: Vec<f64> = nests
        .iter()
        .map(|nest| log(nest.iter().map(|&j| exp(utility[j] / scale)).sum::<f64>()))
        .collect();
    let denominator: f64 = inclusive.iter().map(|i| exp(scale * i)).sum();
    let probability = |choice: usize| {
        let nest = nests.iter().position(|n| n.contains(&choice)).expect("in a nest");
        exp(utility[choice] / scale - inclusive[nest]) * exp(scale * inclusive[nest]) / denominator
    };
    [0, 3, 2, 4, 0].iter().map(|&c| -log(probability(c))).sum()
}

// Scores of documents for a query.
#[differentiable]
fn bm25(x: &[f64]) -> f64 {
    let [k1, b, ref boosts @ ..] = *x else { panic!("k1, b and boosts") };
    let lengths = [4.0, 2.0, 4.0];
    let counts = [[2.0, 1.0], [0.0, 1.0], [1.0, 0.0]];
    let mean = lengths.iter().sum::<f64>() / lengths.len() as f64;
    let idf = |term: usize| {
        let having = counts.iter().filter(|c| c[term] > 0.0).count() as f64;
        log(1.0 + (3.0 - having + 0.5) / (having + 0.5))
    };
    let mut scored: Vec<(usize, f64)> = counts
        .iter()
        .zip(lengths)
        .map(|(tf, len)| {
            (0..2)
                .map(|t| {
                    boosts[t] * idf(t) * tf[t] * (k1 + 1.0)
                        / (tf[t] + k1 * (1.0 - b + b * len / mean))
                })
                .sum()
        })
        .enumerate()
        .collect();
    scored.sort_by(|(_, a), (_, b)| b.partial_cmp(a).unwrap_or(Ordering::Equal));
    scored.iter().zip(1..).map(|((_, s), rank)| s / rank as f64).sum()
}

// Chromatograms: peaks between the last low point before and the first after.
#[differentiable]
fn peak_areas(x: &[f64]) -> f64 {
    let baseline = x.iter().copied().fold(f64::INFINITY, f64::min);
    let y: Vec<f64> = x.iter().map(|v| v - baseline).collect();
    let top = y.iter().enumerate().max_by(|(_, a), (_, b)| a.total_cmp(b)).map(|(k, _)| k).unwrap();
    let left = y[..top].iter().rposition(|&v| v < 0.2 * y[top]).map_or(0, |k| k + 1);
    let right = top + y[top..].iter().take_while(|&&v| v >= 0.2 * y[top]).count();
    let window = &y[left..right];
    let area: f64 = window.windows(2).map(|w| 0.5 * (w[0] + w[1])).sum();
    let (m0, m1) =
        window.iter().enumerate().fold((0.0, 0.0), |(m0, m1), (k, v)| (m0 + v, m1 + k as f64 * v));
    let before: f64 = y.iter().skip_while(|v| **v < 0.01).step_by(2).take(3).product();
    area + m1 / m0 + 0.01 * before
}

// Isotopes of a molecule: lines that are spread, merged and thinned.
#[differentiable]
fn convolved(lines: &[(f64, f64)], element: &[(f64, f64)], least: f64) -> Vec<(f64, f64)> {
    let mut all: Vec<(f64, f64)> = lines
        .iter()
        .flat_map(|&(m, a)| element.iter().map(move |&(dm, p)| (m + dm, a * p)))
        .collect();
    all.sort_unstable_by(|a, b| a.0.partial_cmp(&b.0).unwrap());
    let mut merged: Vec<(f64, f64)> = Vec::new();
    for (m, a) in all.drain(..) {
        match merged.last_mut() {
            Some((mass, amount)) if m - *mass < 0.1 => {
                *mass = (*mass * *amount + m * a) / (*amount + a);
                *amount += a;
            }
            _ => merged.push((m, a)),
        }
    }
    merged.retain(|(_, a)| *a > least);
    merged
}

#[differentiable]
fn isotopes(x: &[f64]) -> f64 {
    let carbon = [(0.0, 1.0 - x[0]), (1.00335, x[0])];
    let chlorine = [(0.0, 1.0 - x[1]), (1.997, x[1])];
    let mut lines = vec![(0.0, 1.0)];
    for element in [&carbon, &carbon, &chlorine, &chlorine] {
        lines = convolved(&lines, element, 1e-3);
    }
    let (mass, total) = lines.iter().fold((0.0, 0.0), |(m, t), (mass, a)| (m + mass * a, t + a));
    mass / total + lines.iter().map(|(_, a)| a * a).sum::<f64>()
}

#[test]
fn answers_words_and_races() {
    everywhere! {
        expected_ability at [1.0, -0.5, 0.2, 1.5, 0.8, 0.1, 0.7, 0.0, 0.25, 1.2, 1.0, 0.2];
        dirichlet_multinomial at [0.8, 1.3, 0.4];
        plackett_luce at [0.5, -0.2, 0.3, 0.1];
        nested_logit at [0.6, 0.1, 0.5, -0.2, 0.3, 0.0];
        felsenstein at [1.2, 0.1, 0.3, 0.4, 0.2];
        bm25 at [1.2, 0.75, 1.0, 0.5];
        isotopes at [0.011, 0.24], [0.2, 0.5];
        peak_areas at [0.1, 0.15, 0.4, 1.5, 2.9, 1.8, 0.9, 0.3, 0.2];
    }
}

#[test]
fn claims_seasons_and_yields() {
    everywhere! {
        reserves at [10.0, 6.0, 3.0, 1.0, 11.0, 7.0, 3.5, 12.0, 6.5, 13.0];
        holt_winters at [0.3, 0.1, 0.2, 5.0, 8.0, 3.0, 6.0, 9.5, 3.2, 6.8, 10.0], [0.3, 0.1];
        nelson_siegel at [0.035, -0.015, 0.01, 0.004, 1.4, 4.0], [0.1];
        accelerated at [0.9, 1.1];
        default_leg at [0.4, 0.01, 0.015, 0.02], [], [0.4, 0.01, -0.05];
    }
}
