//! `u64` with all of its 64 bits: generators of random numbers, and what depends on the highest bit.

use jut::{Data, differentiable};

#[differentiable]
fn monte_carlo(sigma: f64, n: usize) -> f64 {
    let mut state: u64 = 42;
    let mut sum = 0.0;
    for _ in 0..n {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let u = (state >> 33) as f64 / (1u64 << 31) as f64;
        sum += (sigma * u).powi(2);
    }
    sum / n as f64
}

#[differentiable]
fn xorshift(seed: u64, a: f64) -> f64 {
    let mut x = seed;
    let mut s = 0.0;
    for _ in 0..10 {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        s += a * (x as f64 / u64::MAX as f64) + (x % 7) as f64 + (x / 3) as f64 * 1e-18;
        if x > 0x8000_0000_0000_0000 {
            s += a;
        }
    }
    s
}

/// The generator of a struct, of whose field rustc alone knows the type.
#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct Rng {
    state: u64,
}

#[differentiable]
impl Rng {
    const MUL: u64 = 6364136223846793005;
    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_mul(Self::MUL).wrapping_add(1);
        let z = self.state;
        (z ^ (z >> 22)) >> 22
    }
    fn uniform(&mut self) -> f64 {
        (self.next() & 0xff_ffff) as f64 / 16777216.0
    }
    fn below(&mut self, n: u64) -> u64 {
        let limit = u64::MAX / n * n;
        loop {
            self.state ^= self.state << 13;
            self.state ^= self.state >> 7;
            self.state ^= self.state << 17;
            if self.state < limit {
                return self.state % n;
            }
        }
    }
}

#[differentiable]
fn with_rng(a: f64, seed: u64) -> f64 {
    let mut rng = Rng { state: seed };
    (0..5).map(|_| a * rng.uniform()).sum()
}

#[differentiable]
fn drawn(x: &[f64], seed: u64) -> f64 {
    let mut rng = Rng { state: seed };
    let mut s = 0.0;
    for _ in 0..8 {
        let k = rng.below(x.len() as u64) as usize;
        s += x[k] * x[k] * rng.state as f64 * 1e-19;
    }
    s
}

#[differentiable]
fn splitmix(a: f64, seed: u64) -> f64 {
    let mut s = seed;
    let mut total = 0.0;
    for _ in 0..8 {
        s = s.wrapping_add(0x9E3779B97F4A7C15);
        let mut z = s;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58476D1CE4E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D049BB133111EB);
        z ^= z >> 31;
        total +=
            a * (z >> 11) as f64 * (1.0 / 9007199254740992.0) + (z.rotate_left(17) >> 40) as f64;
    }
    total
}

/// Whatever the two numbers are: all operations, of names.
#[differentiable]
fn of_names(a: u64, b: u64, w: f64) -> f64 {
    let mut s = 0.0;
    for (k, n) in [
        a / b,
        a % b,
        a.min(b),
        a.max(b),
        a ^ b,
        a & b,
        a | b,
        !a,
        a >> 5,
        a.wrapping_sub(b),
        a.saturating_add(b),
        a.saturating_sub(b),
        a.saturating_mul(b),
        a.abs_diff(b),
    ]
    .iter()
    .enumerate()
    {
        s += w * (*n >> 40) as f64 * (k + 1) as f64 + (*n & 0xfff) as f64 + *n as f64 * 1e-19;
    }
    s += if a < b { 1.0 } else { 0.0 } + if a <= b { 2.0 } else { 0.0 };
    s += if a > b { 4.0 } else { 0.0 } + if a >= b { 8.0 } else { 0.0 };
    s += match a {
        0..=9 => 16.0,
        10..=0x9000_0000_0000_0000 => 32.0,
        _ => 64.0,
    };
    s += a.checked_add(b).map_or(0.5, |n| (n >> 50) as f64);
    s += a.checked_mul(b).map_or(0.25, |n| (n >> 50) as f64);
    s += a.checked_sub(b).map_or(0.125, |n| (n >> 50) as f64);
    s + (w * 1e19) as u64 as f64 * 1e-19
        + (a as f32 + b as f32) as f64 * 1e-19
        + (a as i64 >> 60) as f64
        + (a as u32) as f64 * 1e-9
}

#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct Two {
    a: u64,
    b: u64,
}

/// The same of fields.
#[differentiable]
fn of_fields(t: Two, w: f64) -> f64 {
    let mut s = (t.a / t.b >> 3) as f64 + (t.a % t.b & 255) as f64;
    s += if t.a < t.b { 1.0 } else { 0.0 } + if t.a <= t.b { 2.0 } else { 0.0 };
    s += if t.a > t.b { 4.0 } else { 0.0 } + if t.a >= t.b { 8.0 } else { 0.0 };
    s += t.a as f64 * 1e-19 * w + (t.a.wrapping_mul(t.b) >> 20) as f64 + ((t.a ^ t.b) >> 33) as f64;
    s += (t.a.min(t.b) >> 7) as f64 + (t.a.max(t.b) >> 7) as f64 + (t.a << 9 | t.b >> 3) as f64;
    s += (t.a.wrapping_add(t.b) | 5) as f64 * 1e-19 + t.b as f32 as f64 * 1e-19;
    s
}

#[differentiable]
fn ordered(seeds: &[u64], w: f64) -> f64 {
    let mut all = seeds.to_vec();
    all.sort();
    let top = seeds.iter().max().copied().unwrap_or(0);
    let low = *seeds.iter().min_by(|a, b| a.cmp(b)).unwrap();
    all.iter().enumerate().map(|(k, n)| w * *n as f64 * 1e-19 * (k + 1) as f64).sum::<f64>()
        + (top >> 3) as f64
        + (low >> 3) as f64
}

#[differentiable]
fn scrambled(seed: u64) -> u64 {
    (seed ^ 0xdead_beef_dead_beef).wrapping_mul(3)
}

#[differentiable]
fn difference(a: u64, b: u64, w: f64) -> f64 {
    (a - b) as f64 * w
}

#[test]
fn generators() {
    assert_eq!(monte_carlo::value(0.5, 20).unwrap(), monte_carlo(0.5, 20));
    let slope = monte_carlo::gradient(0.5, 20).unwrap();
    assert!((slope - 2.0 * monte_carlo(0.5, 20) / 0.5).abs() < 1e-12);
    for seed in [1, 88172645463325252, u64::MAX - 3, 1 << 63] {
        assert_eq!(xorshift::value(seed, 0.5).unwrap(), xorshift(seed, 0.5));
        assert_eq!(with_rng::value(0.5, seed).unwrap(), with_rng(0.5, seed));
        assert_eq!(splitmix::value(0.5, seed).unwrap(), splitmix(0.5, seed));
        let x = [0.5, -1.0, 2.0];
        assert_eq!(drawn::value(&x, seed).unwrap(), drawn(&x, seed));
        assert_eq!(scrambled::value(seed).unwrap(), scrambled(seed));
    }
}

#[test]
fn the_highest_bit() {
    let some = [
        1,
        2,
        3,
        7,
        1 << 31,
        (1 << 53) + 1,
        u64::MAX >> 1,
        1 << 63,
        (1 << 63) + 1025,
        u64::MAX - 1,
        u64::MAX,
    ];
    for a in some {
        for b in some {
            for w in [0.5, 1.5, -1.0] {
                assert_eq!(of_names::value(a, b, w).unwrap(), of_names(a, b, w), "{a} {b} {w}");
            }
            let t = Two { a, b };
            assert_eq!(of_fields::value(t, 0.5).unwrap(), of_fields(t, 0.5), "{a} {b}");
            match a >= b {
                true => assert_eq!(difference::value(a, b, 2.0).unwrap(), difference(a, b, 2.0)),
                false => {
                    assert!(difference::value(a, b, 2.0).unwrap_err().to_string().contains("R11"))
                }
            }
        }
        assert_eq!(of_names::value(0, a, 1.0).unwrap(), of_names(0, a, 1.0));
        let zero = of_names::value(a, 0, 1.0).unwrap_err().to_string();
        assert!(zero.contains("R05") && zero.contains("bits.rs"), "{zero}");
        let zero = of_fields::value(Two { a, b: 0 }, 1.0).unwrap_err().to_string();
        assert!(zero.contains("R05") && zero.contains("bits.rs"), "{zero}");
    }
    assert_eq!(ordered::value(&some, 0.5).unwrap(), ordered(&some, 0.5));
    let turned: Vec<u64> = some.iter().rev().copied().collect();
    assert_eq!(ordered::value(&turned, 0.5).unwrap(), ordered(&turned, 0.5));
}
