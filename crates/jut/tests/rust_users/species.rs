//! Woods, words, cards and clouds: what people write for a study, a game or a picture.

use jut::math::{exp, log, tanh};
use jut::{Data, differentiable};

/// A tree of species, by pruning: how likely a site is.
#[derive(Data, Clone, Debug, PartialEq)]
#[data(twin)]
enum Clade {
    Species { letter: usize },
    Fork { left: Box<Clade>, left_time: f64, right: Box<Clade>, right_time: f64 },
}

#[differentiable]
impl Clade {
    fn species(letter: usize) -> Box<Self> {
        Box::new(Clade::Species { letter })
    }
    fn partial(&self, rate: f64) -> [f64; 4] {
        match self {
            Clade::Species { letter } => {
                let mut p = [0.0; 4];
                p[*letter] = 1.0;
                p
            }
            Clade::Fork { left, left_time, right, right_time } => {
                let a = moved(&left.partial(rate), rate * left_time);
                let b = moved(&right.partial(rate), rate * right_time);
                std::array::from_fn(|k| a[k] * b[k])
            }
        }
    }
}

#[differentiable]
fn moved(p: &[f64; 4], t: f64) -> [f64; 4] {
    let stay = 0.25 + 0.75 * exp(-t);
    let go = (1.0 - stay) / 3.0;
    let total: f64 = p.iter().sum();
    p.map(|v| stay * v + go * (total - v))
}

#[differentiable]
fn sites(x: &[f64]) -> f64 {
    let columns = [[0, 0, 1], [2, 2, 2], [3, 0, 3]];
    let mut score = 0.0;
    for [a, b, c] in columns {
        let inner = Clade::Fork {
            left: Clade::species(a),
            left_time: x[0],
            right: Clade::species(b),
            right_time: x[1],
        };
        let root = Clade::Fork {
            left: Box::new(inner),
            left_time: x[2],
            right: Clade::species(c),
            right_time: x[3],
        };
        score += log(0.25 * root.partial(x[4]).iter().sum::<f64>());
    }
    -score
}

/// A wood that grows, in classes of height.
#[derive(Data, Clone, Debug, PartialEq)]
struct Stand {
    stems: Vec<f64>,
    heights: Vec<f64>,
}

#[differentiable]
fn grown_stand(stand: Stand, light: f64) -> Stand {
    let Stand { stems, mut heights } = stand;
    let top = heights.iter().fold(0.0_f64, |a, h| a.max(*h));
    for (h, n) in heights.iter_mut().zip(&stems) {
        let shade = 1.0 / (1.0 + 0.1 * n * (top - *h));
        *h += light * shade * (1.0 - *h / 30.0);
    }
    let stems = stems.into_iter().zip(heights.iter()).map(|(n, h)| n * (1.0 - 0.02 / h)).collect();
    Stand { stems, heights }
}

#[differentiable]
fn timber(x: &[f64]) -> f64 {
    let (stems, heights) = x[1..].split_at(x.len() / 2);
    let mut stand = Stand { stems: stems.to_vec(), heights: heights.to_vec() };
    for _year in 0..5 {
        stand = grown_stand(stand, x[0]);
    }
    stand.stems.iter().zip(&stand.heights).map(|(n, h)| n * h.powf(1.5)).sum()
}

/// Words by how often they stand in texts.
#[differentiable]
fn weighted_words(x: &[f64]) -> f64 {
    const TEXTS: [&[usize]; 3] = [&[0, 1, 1, 2], &[1, 3], &[0, 0, 3, 2]];
    let words = 4;
    let idf: Vec<f64> = (0..words)
        .map(|w| {
            let with = TEXTS.iter().filter(|t| t.contains(&w)).count();
            log((1.0 + TEXTS.len() as f64) / (1.0 + with as f64)) + 1.0
        })
        .collect();
    let vectors: Vec<Vec<f64>> = TEXTS
        .iter()
        .map(|text| {
            let mut v = vec![0.0; words];
            for &w in text.iter() {
                v[w] += x[w] * idf[w];
            }
            let norm = v.iter().map(|a| a * a).sum::<f64>().sqrt();
            v.into_iter().map(|a| a / norm).collect()
        })
        .collect();
    let mut likeness = 0.0;
    for (i, a) in vectors.iter().enumerate() {
        for b in &vectors[i + 1..] {
            likeness += a.iter().zip(b).map(|(p, q)| p * q).sum::<f64>();
        }
    }
    likeness
}

/// Noise on a lattice, smooth between.
#[differentiable]
fn lattice(i: i64, j: i64) -> f64 {
    let mut h = (i.wrapping_mul(374_761_393) ^ j.wrapping_mul(668_265_263)) & 0x7fff_ffff;
    h = (h ^ (h >> 13)).wrapping_mul(1_274_126_177) & 0x7fff_ffff;
    h as f64 / 0x7fff_ffff as f64
}

#[differentiable]
fn noise(x: f64, y: f64) -> f64 {
    let (i, j) = (x.floor() as i64, y.floor() as i64);
    let (u, v) = (x - x.floor(), y - y.floor());
    let fade = |t: f64| t * t * t * (t * (t * 6.0 - 15.0) + 10.0);
    let lerp = |a: f64, b: f64, t: f64| a + (b - a) * t;
    let (su, sv) = (fade(u), fade(v));
    lerp(
        lerp(lattice(i, j), lattice(i + 1, j), su),
        lerp(lattice(i, j + 1), lattice(i + 1, j + 1), su),
        sv,
    )
}

#[differentiable]
fn clouds(x: &[f64]) -> f64 {
    let mut sum = 0.0;
    for p in x.chunks_exact(2) {
        let (mut amplitude, mut scale) = (1.0, 1.0);
        for _octave in 0..3 {
            sum += amplitude * noise(p[0] * scale, p[1] * scale);
            amplitude *= 0.5;
            scale *= 2.0;
        }
    }
    sum
}

/// The outline of points, by a chain, and how long it is.
#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct Spot {
    x: f64,
    y: f64,
}

#[differentiable]
impl Spot {
    fn turn(a: &Spot, b: &Spot, c: &Spot) -> f64 {
        (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x)
    }
    fn to(&self, other: &Spot) -> f64 {
        (self.x - other.x).hypot(self.y - other.y)
    }
}

#[differentiable]
fn half_hull(spots: &[Spot]) -> Vec<Spot> {
    let mut hull: Vec<Spot> = Vec::new();
    for s in spots {
        while hull.len() >= 2 && Spot::turn(&hull[hull.len() - 2], &hull[hull.len() - 1], s) <= 0.0
        {
            hull.pop();
        }
        hull.push(*s);
    }
    hull
}

#[differentiable]
fn outline(x: &[f64]) -> f64 {
    let mut spots: Vec<Spot> = x.chunks_exact(2).map(|c| Spot { x: c[0], y: c[1] }).collect();
    spots.sort_by(|a, b| a.x.partial_cmp(&b.x).unwrap());
    let lower = half_hull(&spots);
    spots.reverse();
    let upper = half_hull(&spots);
    let length = |hull: &[Spot]| hull.windows(2).map(|w| w[0].to(&w[1])).sum::<f64>();
    length(&lower) + length(&upper)
}

/// Fish by their ages, caught above a size.
#[differentiable]
fn fishery(x: &[f64]) -> f64 {
    const AGES: usize = 5;
    #[derive(Data, Clone, Copy)]
    struct Year {
        fish: [f64; AGES],
        catch: f64,
    }
    let (recruit, mortality, effort) = (x[0], x[1], x[2]);
    let selects = |age: usize| match age {
        0 | 1 => 0.0,
        2..=3 => 0.5,
        _ => 1.0,
    };
    let mut year = Year { fish: [1.0, 0.7, 0.5, 0.3, 0.2], catch: 0.0 };
    for _ in 0..6 {
        let mature: f64 = year.fish[2..].iter().sum();
        let mut next = [0.0; AGES];
        next[0] = recruit * mature * exp(-0.3 * mature);
        for age in 1..AGES {
            let f = effort * selects(age - 1);
            let z = mortality + f;
            next[age] = year.fish[age - 1] * exp(-z);
            year.catch += f / z * year.fish[age - 1] * (1.0 - exp(-z));
        }
        year = Year { fish: next, ..year };
    }
    year.catch + 0.1 * year.fish.iter().sum::<f64>()
}

/// Learners that are added one by one, each for what the others got wrong.
#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct Stump {
    threshold: f64,
    sign: f64,
    weight: f64,
}

#[differentiable]
fn boosted(x: &[f64]) -> f64 {
    let labels: Vec<f64> = (0..x.len()).map(|i| if i % 3 == 0 { -1.0 } else { 1.0 }).collect();
    let mut weights = vec![1.0 / x.len() as f64; x.len()];
    let mut stumps: Vec<Stump> = Vec::with_capacity(2);
    for round in 0..2 {
        let threshold = 0.5 * round as f64;
        let wrong: f64 = x
            .iter()
            .zip(&labels)
            .zip(&weights)
            .filter(|((v, l), _)| (*v - threshold).signum() != **l)
            .map(|(_, w)| w)
            .sum();
        let wrong = wrong.clamp(0.05, 0.95);
        let weight = 0.5 * log((1.0 - wrong) / wrong);
        let stump = Stump { threshold, sign: weight.signum(), weight: weight.abs() };
        for ((w, v), l) in weights.iter_mut().zip(x).zip(&labels) {
            *w *= exp(-stump.weight * l * tanh(4.0 * stump.sign * (v - stump.threshold)));
        }
        let total: f64 = weights.iter().sum();
        weights.iter_mut().for_each(|w| *w /= total);
        stumps.push(stump);
    }
    stumps.iter().map(|s| s.weight).sum::<f64>() + weights.iter().map(|w| w * w).sum::<f64>()
}

/// A sum over the partitions of a list into the small and the large.
#[differentiable]
fn quick_select(x: &[f64], k: usize) -> f64 {
    if x.len() == 1 {
        return x[0];
    }
    let pivot = x[x.len() / 2];
    let (small, rest): (Vec<f64>, Vec<f64>) = x.iter().copied().partition(|v| *v < pivot);
    let (same, large): (Vec<f64>, Vec<f64>) = rest.into_iter().partition(|v| *v == pivot);
    if k < small.len() {
        quick_select(&small, k)
    } else if k < small.len() + same.len() {
        pivot
    } else {
        quick_select(&large, k - small.len() - same.len())
    }
}

#[differentiable]
fn middle_of(x: &[f64]) -> f64 {
    let n = x.len();
    assert!(n > 0, "no numbers");
    let upper = quick_select(x, n / 2);
    if n % 2 == 1 { upper } else { 0.5 * (quick_select(x, n / 2 - 1) + upper) }
}

/// Water that runs down a slope of cells, in single precision.
#[differentiable]
fn runoff(ground: &[f32], rain: f32) -> f32 {
    let mut water = vec![rain; ground.len()];
    for _ in 0..3 {
        let old = std::mem::take(&mut water);
        water = old.clone();
        for i in 0..ground.len().saturating_sub(1) {
            let fall = (ground[i] + old[i]) - (ground[i + 1] + old[i + 1]);
            let moved = (0.25 * fall).clamp(-0.5 * old[i + 1], 0.5 * old[i]);
            water[i] -= moved;
            water[i + 1] += moved;
        }
    }
    water.iter().map(|w| w * w).sum()
}

#[test]
fn studies() {
    everywhere! {
        sites at [0.1, 0.2, 0.3, 0.15, 1.2], [0.1];
        timber at [1.5, 0.8, 1.2, 0.5, 4.0, 6.0, 9.0];
        weighted_words at [1.0, 0.7, 1.3, 0.4], [1.0];
        fishery at [2.0, 0.3, 0.4];
        boosted at [0.3, -0.4, 0.9, 0.2, 1.1, -0.7], [];
        middle_of at [3.0, 1.0, 2.5, 0.2], [1.0, 5.0, 2.0], [];
    }
    let ground = [1.0_f32, 0.8, 0.9, 0.2];
    let (value, (by_ground, _)) = runoff::value_and_gradient(&ground, 0.3).unwrap();
    assert_eq!(value.to_bits(), runoff(&ground, 0.3).to_bits());
    for k in 0..4 {
        let shifted = |h: f32| {
            let mut g = ground;
            g[k] += h;
            runoff(&g, 0.3)
        };
        let slope = (shifted(1e-2) - shifted(-1e-2)) / 2e-2;
        assert!((by_ground[k] - slope).abs() < 2e-2, "{k}: {} {slope}", by_ground[k]);
    }
}

#[test]
fn pictures_and_games() {
    everywhere! {
        clouds at [0.3, 0.7, 1.6, -2.2], [0.1];
        outline at [0.0, 0.1, 1.0, 0.0, 1.1, 1.3, 0.2, 0.9, 0.5, 0.4], [0.0, 1.0];
    }
}
