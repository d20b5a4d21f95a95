//! Pipes, ground, glass and tones: what engineers write in an afternoon, with the parts of Rust that come to mind.

use super::{near, same_bits, slopes};
use jut::math::{cos, log, sin};
use jut::{Data, differentiable};
use std::ops::{Add, AddAssign, Mul, Neg, Sub};

/// Numbers with a real and a dual part.
#[derive(Data, Clone, Copy, Debug, PartialEq, Default)]
struct Phasor {
    re: f64,
    im: f64,
}

#[differentiable]
impl Add for Phasor {
    type Output = Self;
    fn add(self, rhs: Self) -> Self::Output {
        Phasor { re: self.re + rhs.re, im: self.im + rhs.im }
    }
}

#[differentiable]
impl Sub for Phasor {
    type Output = Self;
    fn sub(self, rhs: Self) -> Self {
        self + -rhs
    }
}

#[differentiable]
impl Neg for Phasor {
    type Output = Self;
    fn neg(self) -> Self {
        Phasor { re: -self.re, im: -self.im }
    }
}

#[differentiable]
impl Mul for Phasor {
    type Output = Phasor;
    fn mul(self, rhs: Phasor) -> Phasor {
        let Phasor { re: a, im: b } = self;
        let Phasor { re: c, im: d } = rhs;
        Phasor { re: a * c - b * d, im: a * d + b * c }
    }
}

#[differentiable]
impl AddAssign for Phasor {
    fn add_assign(&mut self, rhs: Self) {
        *self = *self + rhs;
    }
}

#[differentiable]
impl Phasor {
    const ONE: Phasor = Phasor { re: 1.0, im: 0.0 };
    fn turn(angle: f64) -> Self {
        Self { re: cos(angle), im: sin(angle) }
    }
    fn inverse(&self) -> Self {
        let n = self.re * self.re + self.im * self.im;
        Self { re: self.re / n, im: -self.im / n }
    }
    fn norm(&self) -> f64 {
        self.re.hypot(self.im)
    }
}

/// How a ladder of coils and capacitors answers, from its far end.
#[differentiable]
fn ladder(x: &[f64]) -> f64 {
    let answer = |omega: f64| {
        let mut z = Phasor { re: 1.0, ..Default::default() };
        for (k, part) in x.iter().enumerate().rev() {
            let reactance = Phasor { re: 0.0, im: omega * part };
            z = match k % 2 {
                0 => z + reactance,
                _ => (z.inverse() + reactance).inverse(),
            };
        }
        z.norm()
    };
    [0.5, 1.0, 2.0].iter().map(|w| answer(*w)).sum::<f64>() / 3.0
}

/// The strength of some tones by Goertzel.
#[differentiable]
fn tones_in(x: &[f64]) -> f64 {
    const TONES: [f64; 2] = [0.7, 1.9];
    let power = |w: f64| {
        let c = 2.0 * cos(w);
        let (s1, s2) = x.iter().fold((0.0, 0.0), |(s1, s2), v| (v + c * s1 - s2, s1));
        s1 * s1 + s2 * s2 - c * s1 * s2
    };
    TONES.map(power).iter().map(|p| log(1.0 + p)).sum()
}

/// Bricks of an array factor.
#[differentiable]
fn array_factor(x: &[f64]) -> f64 {
    let mut sum = Phasor::default();
    for (n, [gain, phase]) in x.chunks_exact(2).map(|c| [c[0], c[1]]).enumerate() {
        let mut p = Phasor::turn(phase + 0.8 * n as f64);
        p.re *= gain;
        p.im *= gain;
        sum += p;
    }
    let back = Phasor::ONE - sum;
    sum.norm() + 0.1 * back.norm()
}

/// A net of pipes whose loops balance, by Hardy Cross.
#[derive(Data, Clone, Debug, PartialEq)]
struct Pipe {
    resistance: f64,
    flow: f64,
}

#[differentiable]
fn hardy_cross(x: &[f64]) -> f64 {
    const LOOPS: [[(usize, f64); 3]; 2] =
        [[(0, 1.0), (1, 1.0), (2, -1.0)], [(2, 1.0), (3, 1.0), (4, -1.0)]];
    let mut pipes: Vec<Pipe> = x
        .iter()
        .zip([1.0, 0.5, 0.4, 0.3, 0.7])
        .map(|(&resistance, flow)| Pipe { resistance, flow })
        .collect();
    for _ in 0..6 {
        for circuit in &LOOPS {
            let (mut head, mut slope) = (0.0, 0.0);
            for &(k, sign) in circuit {
                let Pipe { resistance, flow } = &pipes[k];
                head += sign * resistance * flow * flow.abs();
                slope += 2.0 * resistance * flow.abs();
            }
            let change = -head / slope;
            for &(k, sign) in circuit {
                pipes[k].flow += sign * change;
            }
        }
    }
    pipes.iter().map(|p| p.resistance * p.flow.powi(2)).sum()
}

/// A slope that slips on a circle, by slices: Bishop.
#[differentiable]
fn bishop(x: &[f64]) -> Option<f64> {
    let [cohesion, friction, slices @ ..] = x else { return None };
    if slices.is_empty() {
        return None;
    }
    let width = 2.0 / slices.len() as f64;
    let angles: Vec<f64> =
        (0..slices.len()).map(|k| -0.4 + 1.2 * (k as f64 + 0.5) / slices.len() as f64).collect();
    let drives: f64 = slices.iter().zip(&angles).map(|(w, a)| w * sin(*a)).sum();
    if drives <= 0.0 {
        return None;
    }
    let mut safety = 1.5;
    for _ in 0..8 {
        let mut resists = 0.0;
        for (w, &a) in slices.iter().zip(angles.iter()) {
            let m = cos(a) + sin(a) * friction.tan() / safety;
            resists += (cohesion * width + w * friction.tan()) / m;
        }
        let next = resists / drives;
        let done = (next - safety).abs() < 1e-13;
        safety = next;
        if done {
            break;
        }
    }
    Some(safety)
}

#[differentiable]
fn safety_of(x: &[f64]) -> f64 {
    bishop(x).map_or(9.0, |s| s.min(8.0))
}

/// Glass by glass: rays through thin lenses, as matrices of two rows.
type Abcd = [[f64; 2]; 2];

#[derive(Data, Clone, Copy, Debug, PartialEq)]
enum Optic {
    Gap(f64),
    Lens { focus: f64 },
    Mirror { radius: f64 },
}

#[differentiable]
impl Optic {
    fn matrix(self) -> Abcd {
        match self {
            Self::Gap(d) => [[1.0, d], [0.0, 1.0]],
            Self::Lens { focus: f } | Self::Mirror { radius: f } if f.abs() < 1e-9 => {
                panic!("no focus")
            }
            Self::Lens { focus } => [[1.0, 0.0], [-1.0 / focus, 1.0]],
            Self::Mirror { radius } => [[1.0, 0.0], [-2.0 / radius, 1.0]],
        }
    }
}

#[differentiable]
fn times(a: &Abcd, b: &Abcd) -> Abcd {
    std::array::from_fn(|i| std::array::from_fn(|j| (0..2).map(|k| a[i][k] * b[k][j]).sum()))
}

#[differentiable]
fn resonator(x: &[f64]) -> f64 {
    let path = [
        Optic::Gap(x[0]),
        Optic::Lens { focus: x[1] },
        Optic::Gap(x[0] * 0.5),
        Optic::Mirror { radius: x[2] },
    ];
    let round = path.iter().fold([[1.0, 0.0], [0.0, 1.0]], |m, part| times(&part.matrix(), &m));
    let half_trace = 0.5 * (round[0][0] + round[1][1]);
    match half_trace {
        h if h.abs() < 1.0 => round[0][1].abs() / (1.0 - h * h).sqrt(),
        h => 10.0 + h,
    }
}

/// An envelope of four parts.
#[derive(Data, Clone, Copy, Debug, PartialEq)]
enum Stage {
    Attack,
    Decay,
    Sustain,
    Release,
}

#[differentiable]
fn envelope(x: &[f64]) -> f64 {
    let &[attack, decay, sustain, release] = x else { panic!("four numbers") };
    let mut stage = Stage::Attack;
    let (mut level, mut energy) = (0.0_f64, 0.0);
    for tick in 0..40 {
        if tick == 25 {
            stage = Stage::Release;
        }
        (level, stage) = match stage {
            Stage::Attack if level + attack >= 1.0 => (1.0, Stage::Decay),
            Stage::Attack => (level + attack, stage),
            Stage::Decay => {
                let next = level * decay;
                if next <= sustain { (sustain, Stage::Sustain) } else { (next, Stage::Decay) }
            }
            Stage::Sustain => (level, Stage::Sustain),
            Stage::Release => (level * release, stage),
        };
        energy += level * level;
    }
    energy
}

/// A string that is plucked: a ring of samples with a filter.
#[derive(Data, Clone, Debug, PartialEq)]
#[data(twin)]
struct Plucked {
    ring: Vec<f64>,
    at: usize,
    damping: f64,
}

#[differentiable]
impl Plucked {
    fn tick(&mut self) -> f64 {
        let n = self.ring.len();
        let (now, next) = (self.ring[self.at], self.ring[(self.at + 1) % n]);
        self.ring[self.at] = self.damping * 0.5 * (now + next);
        self.at = (self.at + 1) % n;
        now
    }
}

#[differentiable]
fn plucked(x: &[f64]) -> f64 {
    let (damping, rest) = x.split_first().expect("damping first");
    let mut string = Plucked { ring: rest.to_vec(), at: 0, damping: *damping };
    (0..3 * rest.len()).map(|t| string.tick() * cos(t as f64 * 0.3)).sum()
}

/// Tides by constituents, with the slope of a clock.
#[differentiable]
fn tide(x: &[f64]) -> f64 {
    const SPEEDS: [f64; 3] = [1.932, 2.0, 1.0027];
    let (mean, parts) = (x[0], &x[1..]);
    let level = |t: f64| -> f64 {
        parts
            .chunks(2)
            .zip(SPEEDS)
            .map(|(c, w)| match c {
                [amplitude, phase] => amplitude * cos(w * t - phase),
                [amplitude] => *amplitude,
                _ => unreachable!(),
            })
            .fold(mean, |a, b| a + b)
    };
    let highest = (0..24).map(|h| level(h as f64)).fold(f64::MIN, f64::max);
    let slopes: Vec<f64> =
        (0..6).map(|h| (level(h as f64 + 0.1) - level(h as f64)) / 0.1).collect();
    highest + slopes.windows(2).map(|w| (w[1] - w[0]).powi(2)).sum::<f64>()
}

/// Heat in a wall of layers, until it is still: Gauss and Seidel.
#[differentiable]
fn wall<const N: usize>(conductance: &[f64; N], outside: f64) -> [f64; N] {
    let mut t = [0.0; N];
    for sweep in 0.. {
        let mut change = 0.0_f64;
        for k in 0..N {
            let left = if k == 0 { 20.0 } else { t[k - 1] };
            let (right, g) = match conductance.get(k + 1) {
                Some(g) => (t[k + 1], *g),
                None => (outside, 1.0),
            };
            let new = (conductance[k] * left + g * right) / (conductance[k] + g);
            change = change.max((new - t[k]).abs());
            t[k] = new;
        }
        if change < 1e-12 || sweep > 200 {
            break;
        }
    }
    t
}

#[differentiable]
fn wall_loss(x: &[f64]) -> f64 {
    let layers: [f64; 3] = x[..3].try_into().unwrap();
    let t = wall(&layers, x[3]);
    layers[0] * (20.0 - t[0]) + 0.01 * t.iter().sum::<f64>()
}

/// A beam on springs, by elimination in bands.
#[differentiable]
fn on_springs(x: &[f64]) -> Result<f64, &'static str> {
    let n = x.len();
    let mut a = vec![[0.0; 3]; n];
    let mut b: Vec<f64> = (0..n).map(|i| 1.0 + i as f64).collect();
    for i in 0..n {
        a[i][1] = 2.0 + x[i];
        if i > 0 {
            a[i][0] = -1.0;
        }
        if i + 1 < n {
            a[i][2] = -1.0;
        }
    }
    for i in 1..n {
        let (above, here) = a.split_at_mut(i);
        let (above, here) = (&above[i - 1], &mut here[0]);
        if above[1].abs() < 1e-12 {
            return Err("singular");
        }
        let factor = here[0] / above[1];
        here[1] -= factor * above[2];
        b[i] -= factor * b[i - 1];
    }
    for i in (0..n).rev() {
        let right = if i + 1 < n { a[i][2] * b[i + 1] } else { 0.0 };
        b[i] = (b[i] - right) / a[i][1];
    }
    b.iter().map(|v| v.abs()).reduce(f64::max).ok_or("no springs")
}

#[test]
fn waves() {
    everywhere! {
        ladder at [0.5, 1.2, 0.8], [1.0];
        tones_in at [0.3, -0.2, 0.9, 1.4, 0.1], [];
        array_factor at [1.0, 0.2, 0.7, -0.4, 1.3, 0.9];
        envelope at [0.27, 0.83, 0.41, 0.7], [0.3];
        plucked at [0.9, 0.4, -0.3, 1.1, 0.2], [];
        tide at [0.3, 1.0, 0.4, 0.5, 1.1, 0.2], [0.3, 1.0, 0.4];
        resonator at [0.5, 1.0, 2.0], [0.5, 0.0, 2.0], [9.0, 1.0, 2.0];
    }
}

#[test]
fn grounds() {
    everywhere! {
        hardy_cross at [1.0, 2.0, 1.5, 0.8, 1.2];
        safety_of at [0.5, 0.3, 1.0, 1.4, 0.8], [0.5, 0.3], [0.5, 0.3, -1.0], [1.0];
        wall_loss at [1.0, 0.4, 2.0, -5.0], [1.0, 2.0];
    }
    for x in [vec![0.5, 0.3, 1.0], vec![], vec![-2.0, 0.3]] {
        match (on_springs(&x), on_springs::value_and_gradient(&x)) {
            (Ok(plain), Ok((value, gradient))) => {
                same_bits("on_springs", value, plain);
                near("on_springs", &gradient, &slopes(|x| on_springs(x).unwrap(), &x));
            }
            (Err(said), Err(error)) => assert!(error.to_string().contains(said)),
            other => panic!("{other:?}"),
        }
    }
}
