//! Stores, schedules, games and markets, as people write them who think of Rust alone.

use super::{near, same_bits, slopes};
use jut::math::{exp, log};
use jut::{Data, differentiable};
use std::cmp::Ordering;

/// Goods that arrive in lots, and are sold the oldest first.
#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct Lot {
    amount: f64,
    cost: f64,
}

#[derive(Data, Clone, Debug, PartialEq)]
struct Shelf {
    lots: [Lot; 4],
    head: usize,
    count: usize,
}

#[differentiable]
impl Shelf {
    fn new() -> Self {
        Shelf { lots: [Lot { amount: 0.0, cost: 0.0 }; 4], head: 0, count: 0 }
    }
    fn len(&self) -> usize {
        self.count
    }
    fn is_empty(&self) -> bool {
        self.count == 0
    }
    fn push(&mut self, lot: Lot) {
        assert!(self.count < self.lots.len(), "shelf is full");
        let tail = (self.head + self.count) % self.lots.len();
        self.lots[tail] = lot;
        self.count += 1;
    }
    fn take(&mut self, mut wanted: f64) -> f64 {
        let mut paid = 0.0;
        while wanted > 0.0 && !self.is_empty() {
            let front = &mut self.lots[self.head];
            let part = front.amount.min(wanted);
            paid += part * front.cost;
            front.amount -= part;
            wanted -= part;
            if front.amount <= 0.0 {
                self.head = (self.head + 1) % 4;
                self.count -= 1;
            }
        }
        paid
    }
}

#[differentiable]
fn first_in_first_out(x: &[f64]) -> f64 {
    let mut shelf = Shelf::new();
    let mut total = 0.0;
    for (day, pair) in x.chunks_exact(2).enumerate() {
        let &[amount, cost] = pair else { unreachable!() };
        shelf.push(Lot { amount, cost });
        total += shelf.take(0.4 * amount + 0.1 * day as f64);
    }
    total + shelf.len() as f64
}

/// When a project ends, if its tasks wait for others.
#[differentiable]
fn critical_path(x: &[f64]) -> f64 {
    const NEEDS: [&[usize]; 5] = [&[], &[0], &[0], &[1, 2], &[3]];
    let mut earliest = Vec::with_capacity(x.len());
    for (task, duration) in x.iter().enumerate().take(NEEDS.len()) {
        let start = NEEDS[task].iter().map(|&k| earliest[k]).fold(0.0, f64::max);
        earliest.push(start + duration);
    }
    let end = earliest.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let slack: f64 = earliest.iter().map(|e| (0.3 * (end - e)).min(2.0)).sum();
    end + 0.01 * slack
}

/// The length of the shortest net that joins all points, by Kruskal.
#[differentiable]
fn spanning_tree(x: &[f64]) -> f64 {
    fn root(parent: &[usize], mut k: usize) -> usize {
        while parent[k] != k {
            k = parent[k];
        }
        k
    }
    let points: Vec<(f64, f64)> = x.chunks(2).map(|p| (p[0], p[1])).collect();
    let n = points.len();
    let mut edges: Vec<(f64, usize, usize)> = Vec::new();
    for i in 0..n {
        for j in i + 1..n {
            let (dx, dy) = (points[i].0 - points[j].0, points[i].1 - points[j].1);
            edges.push((dx.hypot(dy), i, j));
        }
    }
    edges.sort_by(|a, b| a.0.partial_cmp(&b.0).unwrap_or(Ordering::Equal));
    let mut parent: Vec<usize> = (0..n).collect();
    let mut length = 0.0;
    for &(d, i, j) in &edges {
        let (a, b) = (root(&parent, i), root(&parent, j));
        if a != b {
            parent[a] = b;
            length += d;
        }
    }
    length
}

/// What is paid in brackets, with a deduction.
#[derive(Data, Clone, Copy, Debug, PartialEq)]
enum Rule {
    Flat(f64),
    Bracket { from: f64, rate: f64 },
    Credit { most: f64, phase_out: f64 },
}

#[differentiable]
fn tax(x: &[f64]) -> f64 {
    let rules = [
        Rule::Flat(0.02),
        Rule::Bracket { from: 1.0, rate: x[1] },
        Rule::Bracket { from: 3.0, rate: x[2] },
        Rule::Credit { most: x[3], phase_out: 2.0 },
    ];
    let income = x[0];
    rules
        .iter()
        .map(|rule| match *rule {
            Rule::Flat(share) => share * income,
            Rule::Bracket { from, rate } if income > from => rate * (income - from),
            Rule::Bracket { .. } => 0.0,
            Rule::Credit { most, phase_out } => -(most * (1.0 - income / phase_out)).max(0.0),
        })
        .sum::<f64>()
        .max(0.0)
}

/// How strong players are after a season.
#[differentiable]
fn ratings_after(x: &[f64]) -> f64 {
    type Game = (usize, usize, f64);
    static GAMES: [Game; 6] =
        [(0, 1, 1.0), (1, 2, 0.5), (2, 0, 0.0), (0, 1, 0.0), (2, 1, 1.0), (0, 2, 0.5)];
    let expected = |a: f64, b: f64| 1.0 / (1.0 + exp((b - a) * std::f64::consts::LN_10 / 4.0));
    let (k, mut rating) = (x[0], x[1..].to_vec());
    let mut surprise = 0.0;
    for &(white, black, score) in GAMES.iter() {
        let e = expected(rating[white], rating[black]);
        let change = k * (score - e);
        rating[white] += change;
        rating[black] -= change;
        surprise -= score * log(e) + (1.0 - score) * log(1.0 - e);
    }
    let best = rating.iter().cloned().max_by(|a, b| a.total_cmp(b)).unwrap();
    surprise + 0.1 * best
}

/// Ranks of pages by steps of a surfer.
#[differentiable]
fn page_rank(x: &[f64]) -> f64 {
    const N: usize = 4;
    let links: [Vec<usize>; N] = [vec![1, 2], vec![2], vec![0, 3], vec![0]];
    let damping = x[0];
    let mut rank = [1.0 / N as f64; N];
    for _ in 0..12 {
        let mut next = [(1.0 - damping) / N as f64; N];
        for (page, out) in links.iter().enumerate() {
            for &to in out {
                next[to] += damping * rank[page] / out.len() as f64;
            }
        }
        rank = next;
    }
    rank.iter().zip(&x[1..]).map(|(r, w)| r * w).sum()
}

/// The mean length of a code by Huffman.
#[differentiable]
fn code_length(x: &[f64]) -> f64 {
    let total: f64 = x.iter().map(|v| v.abs()).sum();
    let mut heap: Vec<f64> = x.iter().map(|v| v.abs() / total).collect();
    let mut mean = 0.0;
    while heap.len() > 1 {
        heap.sort_by(|a, b| b.total_cmp(a));
        let (a, b) = (heap.pop().unwrap(), heap.pop().unwrap());
        mean += a + b;
        heap.push(a + b);
    }
    mean
}

/// Words on lines, the badness of which is the cube of what is left over.
#[differentiable]
fn justified(x: &[f64]) -> f64 {
    let (width, words) = match x.split_first() {
        Some((w, rest)) if !rest.is_empty() => (*w, rest),
        _ => return 0.0,
    };
    let n = words.len();
    let mut best = vec![f64::INFINITY; n + 1];
    best[n] = 0.0;
    for i in (0..n).rev() {
        let mut used = -1.0;
        for j in i..n {
            used += 1.0 + words[j];
            if used > width {
                break;
            }
            let badness = if j == n - 1 { 0.0 } else { (width - used).powi(3) };
            best[i] = best[i].min(badness + best[j + 1]);
        }
    }
    best[0]
}

/// Bids, and what the winner of a second-price auction gains.
#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct Bid {
    bidder: usize,
    price: f64,
}

#[differentiable]
fn second_price(bids: &mut Vec<Bid>) -> Option<(usize, f64)> {
    bids.sort_by(|a, b| b.price.total_cmp(&a.price).then(a.bidder.cmp(&b.bidder)));
    match bids.as_slice() {
        [] => None,
        [only] => Some((only.bidder, only.price)),
        [first, second, ..] => Some((first.bidder, second.price)),
    }
}

#[differentiable]
fn auctions(x: &[f64]) -> f64 {
    let mut welfare = 0.0;
    for (round, values) in x.chunks(3).enumerate() {
        let mut bids: Vec<Bid> = values
            .iter()
            .enumerate()
            .filter(|(_, v)| **v > 0.5)
            .map(|(bidder, v)| Bid { bidder, price: v * (1.0 - 0.1 * round as f64) })
            .collect();
        if let Some((winner, price)) = second_price(&mut bids) {
            welfare += values[winner] - price;
        }
    }
    welfare
}

/// A lift that goes to the nearest floor.
#[differentiable]
fn lift(x: &[f64]) -> f64 {
    let mut waiting = x[1..].to_vec();
    let (mut at, mut travelled) = (x[0], 0.0);
    'rides: loop {
        let mut nearest: Option<(usize, f64)> = None;
        for (k, floor) in waiting.iter().enumerate() {
            let d = (floor - at).abs();
            nearest = match nearest {
                Some((_, least)) if least <= d => nearest,
                _ => Some((k, d)),
            };
        }
        let Some((k, d)) = nearest else { break 'rides };
        at = waiting.swap_remove(k);
        travelled += d.powf(1.2) + 0.5;
    }
    travelled
}

/// A store that orders when it falls below a level.
#[derive(Data, Clone, Debug, PartialEq)]
struct Store {
    level: f64,
    reorder: f64,
    up_to: f64,
    holding: f64,
    orders: u32,
}

#[differentiable]
impl Store {
    fn builder(level: f64) -> Self {
        Self { level, reorder: 1.0, up_to: 4.0, holding: 0.05, orders: 0 }
    }
    fn reorder_at(mut self, level: f64) -> Self {
        self.reorder = level;
        self
    }
    fn up_to(mut self, level: f64) -> Self {
        self.up_to = level;
        self
    }
    fn day(&mut self, demand: f64) -> Result<f64, String> {
        if demand < 0.0 {
            return Err(format!("negative demand"));
        }
        self.level -= demand;
        let mut cost = self.holding * self.level.max(0.0) + 2.0 * (-self.level).max(0.0);
        if self.level < self.reorder {
            cost += 1.0 + 0.2 * (self.up_to - self.level);
            self.level = self.up_to;
            self.orders += 1;
        }
        Ok(cost)
    }
}

#[differentiable]
fn stored(x: &[f64]) -> Result<f64, String> {
    let mut store = Store::builder(x[0]).reorder_at(x[1]).up_to(x[2]);
    let mut total = 0.0;
    for demand in x.iter().skip(3) {
        total += store.day(*demand)?;
    }
    Ok(total + 0.1 * f64::from(store.orders))
}

/// Trees of search with the least expected depth.
#[differentiable]
fn search_tree(x: &[f64]) -> f64 {
    let n = x.len();
    let prefix: Vec<f64> = std::iter::once(0.0)
        .chain(x.iter().scan(0.0, |s, v| {
            *s += v;
            Some(*s)
        }))
        .collect();
    let mut cost = vec![vec![0.0_f64; n + 1]; n + 1];
    for length in 1..=n {
        for i in 0..=n - length {
            let j = i + length;
            let here = (i..j).map(|r| cost[i][r] + cost[r + 1][j]).fold(f64::INFINITY, f64::min);
            cost[i][j] = here + prefix[j] - prefix[i];
        }
    }
    cost[0][n]
}

/// Calls that wait for one of some lines: Erlang.
#[differentiable]
fn erlang(load: f64, lines: usize) -> f64 {
    let mut inverse = 1.0;
    for k in 1..=lines {
        inverse = 1.0 + inverse * k as f64 / load;
    }
    let blocked = 1.0 / inverse;
    let rho = load / lines as f64;
    blocked / (1.0 - rho * (1.0 - blocked))
}

#[differentiable]
fn waiting(x: &[f64]) -> f64 {
    let small = erlang(x[0], 2);
    let large = erlang(x[1], 5);
    small * x[2] + large / (5.0 - x[1])
}

#[test]
fn stores_and_schedules() {
    everywhere! {
        first_in_first_out at [2.0, 1.5, 1.0, 2.5, 1.8, 0.7], [2.0, 1.0, 3.0], [9.0, 1.0, 9.0, 1.0, 9.0, 1.0, 9.0, 2.0, 9.0, 1.0];
        critical_path at [1.0, 2.0, 2.5, 0.7, 1.3], [2.0, 0.5];
        spanning_tree at [0.0, 0.1, 1.0, 0.3, 0.4, 1.2, 2.0, 1.7], [1.0, 2.0];
        code_length at [0.1, 0.25, 0.33, 0.47, 0.05], [1.0];
        justified at [6.0, 2.1, 1.3, 2.7, 3.2, 1.9], [1.0, 2.0], [4.0];
        lift at [1.0, 3.2, 0.4, 2.1, 5.5], [2.0];
        search_tree at [0.2, 0.05, 0.4, 0.15], [1.0];
    }
}

#[test]
fn games_and_markets() {
    everywhere! {
        tax at [2.5, 0.2, 0.3, 0.1], [4.0, 0.2, 0.3, 0.1], [1.2, 0.2, 0.3, 0.4];
        ratings_after at [0.3, 1.0, 1.2, 0.8], [0.3, 1.0, 1.2];
        page_rank at [0.85, 1.0, 2.0, -1.0, 0.5];
        auctions at [0.9, 0.7, 1.4, 0.2, 1.1, 0.3, 0.6], [0.1, 0.2];
        waiting at [0.8, 2.5, 1.3];
    }
    for x in [[2.0, 1.0, 4.0, 0.7, 0.9, 1.5], [2.0, 1.0, 4.0, 0.7, -0.9, 1.5]] {
        match (stored(&x), stored::value_and_gradient(&x)) {
            (Ok(plain), Ok((value, gradient))) => {
                same_bits("stored", value, plain);
                near("stored", &gradient, &slopes(|x| stored(x).unwrap(), &x));
            }
            (Err(said), Err(error)) => assert!(error.to_string().contains(&said)),
            other => panic!("{other:?}"),
        }
    }
}
