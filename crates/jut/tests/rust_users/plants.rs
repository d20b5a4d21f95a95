//! Plants and structures: power flow, heat exchangers, trusses, footings, chemical equilibrium.

use jut::math::{exp, log, pow, tan};
use jut::{Data, differentiable};

/// Voltages in a net, bus by bus.
#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct Phasor {
    re: f64,
    im: f64,
}

#[differentiable]
impl Phasor {
    const ONE: Phasor = Phasor { re: 1.0, im: 0.0 };

    fn conj(self) -> Self {
        Phasor { im: -self.im, ..self }
    }
    fn abs2(&self) -> f64 {
        self.re * self.re + self.im * self.im
    }
}

#[differentiable]
impl std::ops::Mul for Phasor {
    type Output = Self;
    fn mul(self, o: Self) -> Self {
        Phasor { re: self.re * o.re - self.im * o.im, im: self.re * o.im + self.im * o.re }
    }
}

#[differentiable]
impl std::ops::Div for Phasor {
    type Output = Self;
    fn div(self, o: Self) -> Self {
        let d = o.abs2();
        let p = self * o.conj();
        Phasor { re: p.re / d, im: p.im / d }
    }
}

#[differentiable]
impl std::ops::Sub for Phasor {
    type Output = Self;
    fn sub(self, o: Self) -> Self {
        Phasor { re: self.re - o.re, im: self.im - o.im }
    }
}

#[differentiable]
impl std::ops::AddAssign for Phasor {
    fn add_assign(&mut self, o: Self) {
        self.re += o.re;
        self.im += o.im;
    }
}

#[derive(Data, Clone, Copy, Debug, PartialEq)]
enum Bus {
    Slack,
    Load { p: f64, q: f64 },
    Generator { p: f64, voltage: f64 },
}

#[differentiable]
fn losses(x: &[f64]) -> f64 {
    let lines = [(0, 1, 0.02, 0.08), (1, 2, 0.03, 0.1), (0, 2, 0.01, 0.06)];
    let buses =
        [Bus::Slack, Bus::Load { p: x[0], q: x[1] }, Bus::Generator { p: x[2], voltage: 1.02 }];
    let mut y = vec![vec![Phasor { re: 0.0, im: 0.0 }; buses.len()]; buses.len()];
    for &(a, b, r, xl) in lines.iter() {
        let admittance = Phasor::ONE / Phasor { re: r, im: xl };
        y[a][a] += admittance;
        y[b][b] += admittance;
        let none = Phasor { re: 0.0, im: 0.0 };
        y[a][b] = none - admittance;
        y[b][a] = none - admittance;
    }
    let mut v = [Phasor::ONE; 3];
    for _ in 0..120 {
        for (i, bus) in buses.iter().enumerate() {
            let mut current = Phasor { re: 0.0, im: 0.0 };
            for (k, vk) in v.iter().enumerate().filter(|(k, _)| *k != i) {
                current += y[i][k] * *vk;
            }
            let power = match bus {
                Bus::Slack => continue,
                Bus::Load { p, q } => Phasor { re: -p, im: -q },
                Bus::Generator { p, .. } => {
                    let mut injected = current;
                    injected += y[i][i] * v[i];
                    let s = v[i] * injected.conj();
                    Phasor { re: *p, im: s.im }
                }
            };
            v[i] = (power.conj() / v[i].conj() - current) / y[i][i];
            if let Bus::Generator { voltage, .. } = bus {
                let scale = voltage / v[i].abs2().sqrt();
                v[i] = Phasor { re: v[i].re * scale, im: v[i].im * scale };
            }
        }
    }
    lines.iter().map(|&(a, b, r, xl)| (v[a] - v[b]).abs2() * r / (r * r + xl * xl)).sum::<f64>()
        + (1.0 - v[1].abs2()).powi(2)
}

/// Heat exchangers of several kinds, in a row.
#[derive(Data, Clone, Copy, Debug, PartialEq)]
enum Exchanger {
    Parallel(f64),
    Counter(f64),
    ShellAndTube { ua: f64, passes: u32 },
}

#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct Stream {
    capacity: f64,
    temperature: f64,
}

#[differentiable]
impl Exchanger {
    fn effectiveness(&self, ntu_of: impl Fn(f64) -> f64, c: f64) -> f64 {
        match self {
            Exchanger::Parallel(ua) => (1.0 - exp(-ntu_of(*ua) * (1.0 + c))) / (1.0 + c),
            Exchanger::Counter(ua) if (c - 1.0).abs() < 1e-9 => {
                let n = ntu_of(*ua);
                n / (1.0 + n)
            }
            Exchanger::Counter(ua) => {
                let e = exp(-ntu_of(*ua) * (1.0 - c));
                (1.0 - e) / (1.0 - c * e)
            }
            &Exchanger::ShellAndTube { ua, passes } => {
                let g = (1.0 + c * c).sqrt();
                let e = exp(-ntu_of(ua) / passes as f64 * g);
                let one = 2.0 / (1.0 + c + g * (1.0 + e) / (1.0 - e));
                let ratio = ((1.0 - one * c) / (1.0 - one)).powi(passes as i32);
                (ratio - 1.0) / (ratio - c)
            }
        }
    }

    fn exchange(&self, hot: &mut Stream, cold: &mut Stream) -> f64 {
        let (least, most) = if hot.capacity < cold.capacity {
            (hot.capacity, cold.capacity)
        } else {
            (cold.capacity, hot.capacity)
        };
        let q = self.effectiveness(|ua| ua / least, least / most)
            * least
            * (hot.temperature - cold.temperature);
        hot.temperature -= q / hot.capacity;
        cold.temperature += q / cold.capacity;
        q
    }
}

#[differentiable]
fn heat_train(x: &[f64]) -> f64 {
    let train = [
        Exchanger::Counter(x[0]),
        Exchanger::ShellAndTube { ua: x[1], passes: 2 },
        Exchanger::Parallel(x[2]),
    ];
    let mut hot = Stream { capacity: x[3], temperature: 420.0 };
    let mut cold = Stream { capacity: 2.0, temperature: 300.0 };
    let mut recovered = vec![];
    for e in train.iter().rev() {
        recovered.push(e.exchange(&mut hot, &mut cold));
    }
    let total: f64 = recovered.iter().sum();
    let worst = recovered.iter().copied().min_by(|a, b| a.total_cmp(b)).unwrap_or_default();
    0.01 * total + 0.1 * worst + 0.001 * cold.temperature
}

/// A truss: bars, supports, loads.
#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct Bar {
    from: usize,
    to: usize,
    area: f64,
}

#[derive(Data, Clone, Debug, PartialEq)]
#[data(twin)]
struct Truss {
    nodes: Vec<(f64, f64)>,
    bars: Vec<Bar>,
}

#[differentiable]
impl Truss {
    fn direction(&self, bar: &Bar) -> (f64, f64, f64) {
        let ((x0, y0), (x1, y1)) = (self.nodes[bar.from], self.nodes[bar.to]);
        let (dx, dy) = (x1 - x0, y1 - y0);
        let length = dx.hypot(dy);
        (dx / length, dy / length, length)
    }

    fn stiffness(&self) -> Vec<Vec<f64>> {
        let n = 2 * self.nodes.len();
        let mut k = vec![vec![0.0; n]; n];
        for bar in &self.bars {
            let (c, s, length) = self.direction(bar);
            let ea = bar.area / length;
            let parts = [-c, -s, c, s];
            let freedoms = [2 * bar.from, 2 * bar.from + 1, 2 * bar.to, 2 * bar.to + 1];
            for (&i, p) in freedoms.iter().zip(&parts) {
                for (&j, q) in freedoms.iter().zip(&parts) {
                    k[i][j] += ea * p * q;
                }
            }
        }
        k
    }

    fn displaced(&self, held: &[usize], loads: &[(usize, f64)]) -> Vec<f64> {
        let k = self.stiffness();
        let free: Vec<usize> = (0..k.len()).filter(|d| !held.contains(d)).collect();
        let mut a: Vec<Vec<f64>> =
            free.iter().map(|&i| free.iter().map(|&j| k[i][j]).collect()).collect();
        let mut b: Vec<f64> = free
            .iter()
            .map(|&i| loads.iter().filter(|(d, _)| *d == i).map(|(_, f)| *f).sum())
            .collect();
        let n = free.len();
        for p in 0..n {
            for r in p + 1..n {
                let m = a[r][p] / a[p][p];
                for c in p..n {
                    a[r][c] -= m * a[p][c];
                }
                b[r] -= m * b[p];
            }
        }
        for p in (0..n).rev() {
            for c in p + 1..n {
                b[p] -= a[p][c] * b[c];
            }
            b[p] /= a[p][p];
        }
        let mut u = vec![0.0; k.len()];
        for (value, &at) in b.iter().zip(free.iter()) {
            u[at] = *value;
        }
        u
    }
}

#[differentiable]
fn truss_sag(x: &[f64]) -> f64 {
    let nodes = vec![(0.0, 0.0), (1.0, 0.0), (2.0, 0.0), (0.5, x[0]), (1.5, x[0])];
    let pairs = [(0, 1), (1, 2), (0, 3), (1, 3), (1, 4), (2, 4), (3, 4)];
    let bars = pairs
        .iter()
        .enumerate()
        .map(|(k, &(from, to))| Bar { from, to, area: x[1 + k % (x.len() - 1)] })
        .collect();
    let truss = Truss { nodes, bars };
    let u = truss.displaced(&[0, 1, 5], &[(3, -1.0), (2, 0.2)]);
    let weight: f64 = truss.bars.iter().map(|bar| bar.area * truss.direction(bar).2).sum();
    -u[3] + 0.1 * weight
}

/// A footing on layers of ground.
#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct Layer {
    thickness: f64,
    weight: f64,
    compression: f64,
    voids: f64,
}

#[differentiable]
fn settlement(layers: &[Layer], width: f64, load: f64, water: f64) -> f64 {
    let mut depth = 0.0;
    let mut stress = 0.0;
    let mut settled = 0.0;
    for Layer { thickness, weight, compression, voids } in layers.iter().copied() {
        let mut left = thickness;
        while left > 1e-9 {
            let slice = left.min(0.5);
            let middle = depth + 0.5 * slice;
            let buoyant = if middle > water { weight - 9.81 } else { weight };
            let before = stress + 0.5 * slice * buoyant;
            let added = load * width / (width + middle);
            settled += slice * compression / (1.0 + voids) * log((before + added) / before);
            stress += slice * buoyant;
            depth += slice;
            left -= slice;
        }
    }
    settled
}

#[differentiable]
fn footing(x: &[f64]) -> f64 {
    let phi = x[0];
    let nq = exp(std::f64::consts::PI * tan(phi))
        * pow(tan(std::f64::consts::FRAC_PI_4 + 0.5 * phi), 2.0);
    let nc = (nq - 1.0) / tan(phi);
    let ground: Vec<Layer> = x[3..]
        .chunks(2)
        .map(|c| match c {
            [thickness, compression] => {
                Layer { thickness: *thickness, weight: 18.0, compression: *compression, voids: 0.8 }
            }
            [thickness] => {
                Layer { thickness: *thickness, weight: 20.0, compression: 0.1, voids: 0.5 }
            }
            _ => unreachable!(),
        })
        .collect();
    let bearing = x[1] * nc + 18.0 * nq;
    let load = bearing / 3.0;
    settlement(&ground, x[2], load, 1.25) + 1e-3 * bearing
}

/// A mixture in equilibrium, by steps that keep all amounts positive.
#[differentiable]
fn equilibrated(x: &[f64]) -> f64 {
    const REACTIONS: [[i32; 4]; 2] = [[-1, -1, 1, 0], [0, -1, -1, 2]];
    let constants: Vec<f64> = x[..2].iter().map(|k| exp(*k)).collect();
    let mut n: Vec<f64> = x[2..6].to_vec();
    for _ in 0..200 {
        let mut largest = 0.0_f64;
        for (nu, k) in REACTIONS.iter().zip(&constants) {
            let affinity: f64 =
                log(*k) - nu.iter().zip(&n).map(|(&v, a)| f64::from(v) * log(*a)).sum::<f64>();
            let curvature: f64 = nu.iter().zip(&n).map(|(&v, a)| (v * v) as f64 / a).sum();
            let mut step = affinity / curvature;
            for (&v, a) in nu.iter().zip(&n) {
                let after = a + v as f64 * step;
                if after <= 0.0 {
                    step *= 0.5;
                }
            }
            for (a, &v) in n.iter_mut().zip(nu) {
                *a += v as f64 * step;
            }
            largest = largest.max(step.abs());
        }
        if largest < 1e-14 {
            break;
        }
    }
    n[2] - 0.5 * n[3] + n.iter().sum::<f64>()
}

#[test]
fn nets_and_heat() {
    everywhere! {
        losses at [0.6, 0.2, 0.3], [0.6, 0.2];
        heat_train at [1.5, 2.0, 0.8, 1.6], [1.5, 2.0];
        equilibrated at [0.5, -0.3, 1.0, 1.2, 0.4, 0.6], [0.5];
    }
}

#[test]
fn structures() {
    everywhere! {
        truss_sag at [0.8, 1.0, 1.2, 0.7], [0.8];
        footing at [0.5, 10.0, 2.0, 1.3, 0.2, 2.2], [0.5, 10.0, 2.0], [0.5];
    }
}
