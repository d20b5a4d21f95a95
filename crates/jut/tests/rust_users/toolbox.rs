//! Tools as small crates have them: regressions, filters, buffers, traits of stages, expressions, weights by bits.

use jut::math::{exp, log, sin, tanh};
use jut::{Data, differentiable};

/// Isotonic regression by pooling neighbours that are out of order.
#[differentiable]
fn isotonic(x: &[f64]) -> f64 {
    let mut blocks: Vec<(f64, usize)> = Vec::new();
    for &y in x {
        let mut block = (y, 1);
        while let Some(&(mean, weight)) = blocks.last() {
            if mean <= block.0 {
                break;
            }
            let n = weight + block.1;
            block = ((mean * weight as f64 + block.0 * block.1 as f64) / n as f64, n);
            blocks.pop();
        }
        blocks.push(block);
    }
    let fitted: Vec<f64> = blocks.iter().flat_map(|&(m, n)| std::iter::repeat(m).take(n)).collect();
    fitted.iter().zip(x).map(|(f, y)| (f - y).powi(2)).sum::<f64>()
        + fitted[0] * blocks.len() as f64
}

/// The filter of Savitzky and Golay: weights by normal equations, ends by mirroring.
#[differentiable]
fn savitzky_golay(x: &[f64]) -> f64 {
    const HALF: isize = 2;
    let weights: Vec<f64> = {
        let offsets: Vec<f64> = (-HALF..=HALF).map(|k| k as f64).collect();
        let moment = |p: i32| offsets.iter().map(|o| o.powi(p)).sum::<f64>();
        let (m0, m2, m4) = (moment(0), moment(2), moment(4));
        let det = m0 * m4 - m2 * m2;
        offsets.iter().map(|o| (m4 - m2 * o * o) / det).collect()
    };
    let n = x.len() as isize;
    let mirrored = |i: isize| -> f64 {
        let i = if i < 0 { -i } else { i };
        let i = if i >= n { 2 * (n - 1) - i } else { i };
        x[i as usize]
    };
    let smooth: Vec<f64> = (0..n)
        .map(|i| (-HALF..=HALF).zip(&weights).map(|(k, w)| w * mirrored(i + k)).sum())
        .collect();
    let roughness = smooth.windows(3).map(|w| (w[0] - 2.0 * w[1] + w[2]).powi(2)).sum::<f64>();
    let misfit: f64 = smooth.iter().zip(x).map(|(s, v)| (s - v).abs()).sum();
    roughness + 0.1 * misfit
}

/// A buffer that goes around, for means over the last values.
#[derive(Data, Clone, Debug, PartialEq)]
struct RingBuffer<const N: usize> {
    data: [f64; N],
    head: usize,
    filled: usize,
}

#[differentiable]
impl<const N: usize> RingBuffer<N> {
    fn push(&mut self, value: f64) -> Option<f64> {
        let old = std::mem::replace(&mut self.data[self.head], value);
        self.head = (self.head + 1) % N;
        if self.filled < N {
            self.filled += 1;
            None
        } else {
            Some(old)
        }
    }
    fn mean(&self) -> f64 {
        if self.filled == 0 {
            return 0.0;
        }
        self.data[..self.filled].iter().sum::<f64>() / self.filled as f64
    }
}

#[differentiable]
fn ring_means(x: &[f64]) -> f64 {
    let mut short = RingBuffer::<2> { data: [0.0; 2], head: 0, filled: 0 };
    let mut long = RingBuffer::<4> { data: [0.0; 4], head: 0, filled: 0 };
    let mut lost = 0.0;
    let mut crossings = 0u32;
    let mut above = None;
    for v in x {
        lost += short.push(*v).unwrap_or(0.0) * 0.5;
        if let Some(old) = long.push(v * v) {
            lost -= old;
        }
        let now = short.mean() > long.mean();
        match above.replace(now) {
            Some(before) if before != now => crossings += 1,
            _ => {}
        }
    }
    lost + short.mean() * long.mean() + crossings as f64
}

#[differentiable]
trait Stage {
    fn process(&mut self, input: f64) -> f64;
    fn reset(&mut self) {}
}

#[derive(Data, Clone, Debug, PartialEq)]
struct Saturation {
    drive: f64,
}

#[derive(Data, Clone, Debug, PartialEq)]
struct OnePole {
    coefficient: f64,
    state: f64,
}

#[differentiable]
impl Stage for Saturation {
    fn process(&mut self, input: f64) -> f64 {
        tanh(self.drive * input) / self.drive
    }
}

#[differentiable]
impl Stage for OnePole {
    fn process(&mut self, input: f64) -> f64 {
        self.state += self.coefficient * (input - self.state);
        self.state
    }
    fn reset(&mut self) {
        self.state = 0.0;
    }
}

#[differentiable]
fn through<A: Stage, B: Stage>(first: &mut A, second: &mut B, signal: &[f64]) -> Vec<f64> {
    first.reset();
    second.reset();
    signal.iter().map(|&s| second.process(first.process(s))).collect()
}

/// Stages of sound one after the other, in both orders.
#[differentiable]
fn stages(x: &[f64]) -> f64 {
    let (mut clip, mut pole) =
        (Saturation { drive: x[0] }, OnePole { coefficient: x[1], state: 3.0 });
    let signal: Vec<f64> = (0..6).map(|i| x[2] * sin(0.9 * i as f64)).collect();
    let a = through(&mut clip, &mut pole, &signal);
    let b = through(&mut pole, &mut clip, &signal);
    a.iter().zip(&b).map(|(p, q)| (p - q) * (p - q)).sum::<f64>() * 10.0 + a[3] + b[4]
}

/// Tokens in reverse Polish order.
#[derive(Data, Clone, Copy, Debug, PartialEq)]
enum Token {
    Number(f64),
    Variable(usize),
    Add,
    Sub,
    Mul,
    Div,
    Log,
}

#[differentiable]
fn evaluate(tokens: &[Token], variables: &[f64]) -> Result<f64, String> {
    let mut stack: Vec<f64> = Vec::new();
    for token in tokens {
        let value = match token {
            Token::Number(v) => *v,
            Token::Variable(i) => *variables.get(*i).ok_or("unknown variable")?,
            Token::Log => {
                let v = stack.pop().ok_or_else(|| "stack underflow".to_string())?;
                if v <= 0.0 {
                    return Err(format!("log of a number that is not positive"));
                }
                log(v)
            }
            binary => {
                let b = stack.pop().ok_or("stack underflow")?;
                let Some(a) = stack.pop() else {
                    return Err("stack underflow".to_owned());
                };
                match binary {
                    Token::Add => a + b,
                    Token::Sub => a - b,
                    Token::Mul => a * b,
                    Token::Div if b == 0.0 => return Err("division by zero".to_string()),
                    _ => a / b,
                }
            }
        };
        stack.push(value);
    }
    match stack.as_slice() {
        [only] => Ok(*only),
        _ => Err("not one value is left".into()),
    }
}

#[differentiable]
fn reverse_polish(x: &[f64]) -> f64 {
    let program = [
        Token::Variable(0),
        Token::Number(2.0),
        Token::Mul,
        Token::Variable(1),
        Token::Div,
        Token::Log,
        Token::Variable(2),
        Token::Add,
        Token::Number(0.5),
        Token::Sub,
    ];
    evaluate(&program, x).unwrap() + evaluate(&program[..3], x).expect("a product")
}

/// Weights by the bits of subsets: Shapley's values of a game.
#[differentiable]
fn shapley(x: &[f64]) -> f64 {
    let n = x.len();
    let factorial = |k: u32| (1..=k).map(|v| v as f64).product::<f64>();
    let worth = |mask: u32| -> f64 {
        let members = (0..n).filter(|i| mask >> i & 1 == 1).map(|i| x[i]);
        let sum: f64 = members.sum();
        sum.powi(2) + if mask & 0b11 == 0b11 { sin(sum) } else { 0.0 }
    };
    let mut values = vec![0.0; n];
    for (i, value) in values.iter_mut().enumerate() {
        for mask in 0..1u32 << n {
            if mask & (1 << i) != 0 {
                continue;
            }
            let size = mask.count_ones();
            let weight = factorial(size) * factorial(n as u32 - size - 1) / factorial(n as u32);
            *value += weight * (worth(mask | 1 << i) - worth(mask));
        }
    }
    values.iter().enumerate().map(|(i, v)| v * (i + 1) as f64).sum()
}

/// A hash of cells gives the gradients of a noise in the plane.
#[differentiable]
fn gradient_noise(x: &[f64]) -> f64 {
    fn hash(ix: i32, iy: i32) -> u32 {
        let mut h = (ix as u32).wrapping_mul(0x85eb_ca6b) ^ (iy as u32).wrapping_mul(0xc2b2_ae35);
        h ^= h >> 13;
        h = h.wrapping_mul(0x27d4_eb2f);
        h ^ (h >> 15)
    }
    fn corner(ix: i32, iy: i32, dx: f64, dy: f64) -> f64 {
        match hash(ix, iy) & 7 {
            0 => dx + dy,
            1 => dx - dy,
            2 => -dx + dy,
            3 => -dx - dy,
            4 => 1.4 * dx,
            5 => -1.4 * dx,
            6 => 1.4 * dy,
            _ => -1.4 * dy,
        }
    }
    let fade = |t: f64| t * t * t * (t * (t * 6.0 - 15.0) + 10.0);
    let lerp = |a: f64, b: f64, t: f64| a + t * (b - a);
    let noise = |px: f64, py: f64| {
        let (fx, fy) = (px.floor(), py.floor());
        let (ix, iy) = (fx as i32, fy as i32);
        let (dx, dy) = (px - fx, py - fy);
        let (u, v) = (fade(dx), fade(dy));
        let bottom = lerp(corner(ix, iy, dx, dy), corner(ix + 1, iy, dx - 1.0, dy), u);
        let top =
            lerp(corner(ix, iy + 1, dx, dy - 1.0), corner(ix + 1, iy + 1, dx - 1.0, dy - 1.0), u);
        lerp(bottom, top, v)
    };
    let (mut sum, mut amplitude, mut frequency) = (0.0, 1.0, 1.0);
    for _octave in 0..3 {
        sum += amplitude * noise(x[0] * frequency, x[1] * frequency);
        amplitude *= x[2];
        frequency *= 2.0;
    }
    sum
}

mod mixture {
    //! A mixture whose parts are cut and merged.
    use jut::{Data, differentiable};

    #[derive(Data, Clone, Copy, Debug, PartialEq)]
    pub struct Component {
        pub weight: f64,
        pub mean: f64,
        pub sd: f64,
    }

    #[differentiable]
    impl Component {
        pub fn merge(&self, other: &Component) -> Component {
            let weight = self.weight + other.weight;
            let (a, b) = (self.weight / weight, other.weight / weight);
            let mean = a * self.mean + b * other.mean;
            let spread = |c: &Component| c.sd * c.sd + (c.mean - mean).powi(2);
            Component { weight, mean, sd: (a * spread(self) + b * spread(other)).sqrt() }
        }
    }

    #[differentiable]
    pub fn reduce(mut parts: Vec<Component>, keep: usize) -> Vec<Component> {
        parts.retain(|c| c.weight > 0.01);
        parts.sort_by(|a, b| a.mean.partial_cmp(&b.mean).unwrap());
        while parts.len() > keep {
            let (closest, _) = parts
                .windows(2)
                .enumerate()
                .map(|(i, w)| (i, w[1].mean - w[0].mean))
                .min_by(|l, r| l.1.total_cmp(&r.1))
                .unwrap();
            let merged = parts[closest].merge(&parts[closest + 1]);
            parts[closest] = merged;
            parts.remove(closest + 1);
        }
        parts
    }
}

#[differentiable]
fn merged_mixture(x: &[f64]) -> f64 {
    let parts: Vec<mixture::Component> = x
        .chunks_exact(2)
        .map(|c| mixture::Component { weight: c[0], mean: c[1], sd: 0.3 + 0.1 * c[0] })
        .collect();
    let reduced = mixture::reduce(parts, 2);
    reduced.iter().map(|c| c.weight * exp(-0.5 * ((0.4 - c.mean) / c.sd).powi(2)) / c.sd).sum()
}

/// Any function of numbers with its slope at hand, to find a root in an interval.
#[differentiable]
fn bracketed<F>(f: F, mut lo: f64, mut hi: f64) -> Option<f64>
where
    F: Fn(f64) -> (f64, f64),
{
    if f(lo).0.signum() == f(hi).0.signum() {
        return None;
    }
    let mut t = 0.5 * (lo + hi);
    for _ in 0..30 {
        let (v, dv) = f(t);
        if v.abs() < 1e-15 {
            break;
        }
        if v.signum() == f(lo).0.signum() {
            lo = t
        } else {
            hi = t
        }
        t = match t - v / dv {
            n if n > lo && n < hi => n,
            _ => 0.5 * (lo + hi),
        };
    }
    Some(t)
}

#[differentiable]
fn roots_in_brackets(x: &[f64]) -> f64 {
    let shift = x[1];
    let kepler =
        bracketed(|e| (e - x[0] * sin(e) - shift, 1.0 - x[0] * jut::math::cos(e)), 0.0, 3.0);
    let none = bracketed(|t| (t * t + 1.0, 2.0 * t), -1.0, 1.0);
    kepler.zip(none.or(Some(2.0))).map_or(-1.0, |(a, b)| a * b)
}

#[test]
fn regressions_and_filters() {
    everywhere! {
        isotonic at [1.0, 3.0, 2.0, 2.6, 4.0, 3.7];
        savitzky_golay at [1.0, 1.5, 1.2, 2.6, 3.0, 2.7], [1.0, 2.0];
        ring_means at [0.5, 1.2, -0.3, 0.9, 1.5, 0.2];
        stages at [1.5, 0.4, 1.2];
    }
}

#[test]
fn tokens_games_and_noises() {
    everywhere! {
        reverse_polish at [1.5, 0.8, 0.3], [1.5, 0.0, 0.3], [1.5, -1.0, 0.3], [1.5, 0.8];
        shapley at [0.5, -0.3, 0.9];
        gradient_noise at [1.3, -0.6, 0.5];
        merged_mixture at [0.3, 0.1, 0.2, 1.0, 0.005, 3.0, 0.5, 0.3, 0.4, 2.0];
        roots_in_brackets at [0.5, 1.2], [0.5, -1.0];
    }
}
