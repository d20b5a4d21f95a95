//! Books of orders, contracts as variants with lists, batches with lists of their own, temperatures as newtypes.

use jut::math::{cos, exp, log};
use jut::{Data, differentiable};

// Orders in a book, taken from the best price.
#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct Order {
    price: f64,
    size: f64,
}

#[derive(Data, Clone, Debug, Default, PartialEq)]
#[data(ragged)]
struct Book {
    asks: Vec<Order>,
    traded: f64,
}

#[differentiable]
impl Book {
    fn insert(&mut self, order: Order) {
        let place = self.asks.partition_point(|o| o.price <= order.price);
        self.asks.insert(place, order);
    }
    fn take(&mut self, mut wanted: f64) -> f64 {
        let mut paid = 0.0;
        while wanted > 0.0 {
            let Some(best) = self.asks.first_mut() else { break };
            let size = best.size.min(wanted);
            paid += size * best.price;
            wanted -= size;
            best.size -= size;
            if best.size <= 0.0 {
                self.asks.remove(0);
            }
        }
        self.traded += paid;
        paid
    }
}

#[differentiable]
fn market_orders(x: &[f64]) -> f64 {
    let mut book = Book { asks: Vec::new(), traded: 0.0 };
    for c in x[1..].chunks_exact(2) {
        book.insert(Order { price: c[0], size: c[1] });
    }
    let first = book.take(x[0]);
    let second = book.take(0.5 * x[0]);
    second - first + 0.1 * book.traded + book.asks.iter().map(|o| o.size).sum::<f64>()
}

// Contracts as variants with lists, that grow in an arm.
#[derive(Data, Clone, Debug, PartialEq)]
#[data(ragged)]
enum Contract {
    Bond { coupons: Vec<f64> },
    Swap { fixed: f64, floating: Vec<f64> },
}

#[differentiable]
impl Contract {
    fn extend(&mut self, rate: f64) {
        match self {
            Contract::Bond { coupons } => {
                let mut longer: Vec<f64> = coupons.clone();
                longer.push(rate);
                *self = Contract::Bond { coupons: longer };
            }
            Contract::Swap { fixed, floating } => {
                let mut longer: Vec<f64> = floating.clone();
                let last = longer.last().copied().unwrap_or(rate);
                longer.push(0.5 * (rate + last));
                *self = Contract::Swap { fixed: *fixed, floating: longer };
            }
        }
    }
    fn value(&self, yield_: f64) -> f64 {
        let discounted = |flows: &[f64]| {
            flows.iter().enumerate().map(|(k, c)| c * exp(-yield_ * (k + 1) as f64)).sum::<f64>()
        };
        match self {
            Self::Bond { coupons } => discounted(coupons) + exp(-yield_ * coupons.len() as f64),
            Self::Swap { fixed, floating } => {
                let legs: Vec<f64> = floating.iter().map(|f| f - fixed).collect();
                discounted(&legs)
            }
        }
    }
}

#[differentiable]
fn swapped_bond(x: &[f64]) -> f64 {
    let mut bond = Contract::Bond { coupons: vec![x[0]] };
    let mut swap = Contract::Swap { fixed: x[1], floating: Vec::new() };
    for rate in &x[2..] {
        bond.extend(*rate);
        swap.extend(*rate);
    }
    bond.value(x[1]) - swap.value(x[0]) + cos(x[0])
}

// Series of measurements with their own lists, and a pooled variance.
#[derive(Data, Clone, Debug, PartialEq)]
#[data(ragged)]
struct Batch {
    offset: f64,
    readings: Vec<f64>,
}

#[differentiable]
impl Batch {
    fn mean(&self) -> f64 {
        self.offset + self.readings.iter().sum::<f64>() / self.readings.len() as f64
    }
}

#[differentiable]
fn pooled_variance(x: &[f64]) -> f64 {
    let batches: Vec<Batch> = vec![
        Batch { offset: x[0], readings: x[1..3].to_vec() },
        Batch { offset: 0.5, readings: x[2..].to_vec() },
        Batch { offset: 0.0, readings: vec![x[0], x[1]] },
    ];
    let (ss, df) = batches.iter().fold((0.0, 0), |(ss, df), b| {
        let m = b.mean() - b.offset;
        let own: f64 = b.readings.iter().map(|r| (r - m).powi(2)).sum();
        (ss + own, df + b.readings.len() - 1)
    });
    ss / df as f64 + batches[1].mean()
}

// The moments of a sample, by newtypes that convert.
#[derive(Data, Clone, Copy, Debug, PartialEq, PartialOrd)]
struct Celsius(f64);

#[derive(Data, Clone, Copy, Debug, PartialEq, PartialOrd)]
struct Kelvin(f64);

#[differentiable]
impl From<Celsius> for Kelvin {
    fn from(t: Celsius) -> Kelvin {
        Kelvin(t.0 + 273.15)
    }
}

#[differentiable]
impl Kelvin {
    fn boltzmann(self, energy: f64) -> f64 {
        exp(-energy / (8.314e-3 * self.0))
    }
}

#[differentiable]
fn ageing(x: &[f64]) -> f64 {
    let energy = x[0];
    let reference: Kelvin = Celsius(25.0).into();
    let warm: Vec<Kelvin> =
        x[1..].iter().map(|&t| Kelvin::from(Celsius(t))).filter(|k| k.0 > reference.0).collect();
    let rates: Vec<f64> =
        warm.iter().map(|k| k.boltzmann(energy) / reference.boltzmann(energy)).collect();
    let hottest = warm.iter().fold(reference, |a, b| if b.0 > a.0 { *b } else { a });
    rates.iter().sum::<f64>() / rates.len().max(1) as f64 + 1e-3 * hottest.0
}

// A house whose heating is a machine of states.
#[derive(Data, Clone, Copy, Debug, PartialEq)]
enum Mode {
    Off { since: usize },
    Heating(f64),
    Defrost { left: u32 },
}

#[derive(Data, Clone, Debug, PartialEq)]
#[data(twin, ragged)]
struct House {
    inside: f64,
    loss: f64,
    mode: Mode,
    log: Vec<Mode>,
}

#[differentiable]
impl House {
    fn step(&mut self, outside: f64, target: f64) -> f64 {
        let (power, next) = match self.mode {
            Mode::Off { since } if self.inside < target - 0.5 && since >= 1 => {
                (0.0, Mode::Heating(0.3))
            }
            Mode::Off { since } => (0.0, Mode::Off { since: since + 1 }),
            Mode::Heating(level) if outside < -3.0 && level > 0.9 => {
                (level, Mode::Defrost { left: 2 })
            }
            Mode::Heating(_) if self.inside > target + 0.5 => (0.0, Mode::Off { since: 0 }),
            Mode::Heating(level) => {
                (level, Mode::Heating((level + 0.25 * (target - self.inside)).min(1.0)))
            }
            Mode::Defrost { left: 0 } => (0.2, Mode::Heating(0.5)),
            Mode::Defrost { left } => (-0.2, Mode::Defrost { left: left - 1 }),
        };
        self.inside += 2.0 * power - self.loss * (self.inside - outside);
        self.log.push(self.mode);
        self.mode = next;
        power
    }
}

#[differentiable]
fn heating_cost(x: &[f64]) -> f64 {
    let mut house =
        House { inside: x[0], loss: x[1], mode: Mode::Off { since: 0 }, log: Vec::new() };
    let mut energy = 0.0;
    for outside in &x[2..] {
        energy += house.step(*outside, 20.0).abs();
    }
    let defrosts = house.log.iter().filter(|m| matches!(m, Mode::Defrost { .. })).count();
    let levels: f64 = house
        .log
        .iter()
        .filter_map(|m| if let Mode::Heating(l) = m { Some(*l) } else { None })
        .sum();
    energy + 0.1 * levels + defrosts as f64 + 0.01 * house.inside
}

// Durations between trades.
#[differentiable]
fn trade_durations(x: &[f64]) -> f64 {
    let (theta, durations) = (&x[..3], &x[3..]);
    let later: Vec<f64> = durations
        .iter()
        .scan(durations[0], |psi, d| {
            *psi = theta[0] + theta[1] * d + theta[2] * *psi;
            Some(*psi)
        })
        .collect();
    let expected = [vec![durations[0]], later].concat();
    expected.iter().zip(durations).skip(1).map(|(psi, d)| log(*psi) + d / psi).sum()
}

#[test]
fn books_contracts_and_batches() {
    everywhere! {
        market_orders at [3.0, 10.0, 1.0, 9.5, 1.7, 11.0, 4.0], [5.0, 10.0, 2.0];
        swapped_bond at [0.03, 0.02, 0.025, 0.03, 0.01];
        pooled_variance at [0.2, 1.0, 1.4, 0.9, 1.1];
        heating_cost at [18.0, 0.1, 5.0, 2.0, -4.0, -6.0, -5.0, -4.0, 0.0, 3.0, 10.0];
        trade_durations at [0.1, 0.3, 0.5, 1.0, 0.4, 2.0, 0.7];
        ageing at [50.0, 20.0, 40.0, 60.0], [50.0, 20.0];
    }
}
