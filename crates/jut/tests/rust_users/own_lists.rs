//! Methods of own types that are named as those of lists, and those of lists in fields, behind a name for a type, and of what calls give.

use jut::{Data, differentiable};

#[derive(Data, Clone, Debug, PartialEq)]
struct Ring {
    data: Vec<f64>,
    head: usize,
    count: usize,
}

#[differentiable]
impl Ring {
    fn new(n: usize) -> Ring {
        Ring { data: vec![0.0; n], head: 0, count: 0 }
    }
    fn len(&self) -> usize {
        self.count
    }
    fn is_empty(&self) -> bool {
        self.count == 0
    }
    fn get(&self, i: usize) -> Option<f64> {
        if i < self.count { Some(self.data[(self.head + i) % self.data.len()]) } else { None }
    }
    fn first(&self) -> Option<f64> {
        self.get(0)
    }
    fn last(&self) -> f64 {
        3.0 * self.data[self.head]
    }
    fn to_vec(&self) -> Vec<f64> {
        self.data.iter().map(|v| 2.0 * v).collect()
    }
    fn swap(&mut self, i: usize, j: usize) {
        self.data.swap(i, j);
        self.data[i] *= 2.0;
    }
    fn fill(&mut self, value: f64) {
        self.data[0] = value * value;
    }
    fn sort(&mut self) {
        self.head = 1;
    }
    fn reverse(&mut self) {
        self.data[1] *= 5.0;
    }
    fn push(&mut self, v: f64) {
        let k = (self.head + self.count) % self.data.len();
        self.data[k] = v;
        if self.len() < self.data.len() {
            self.count += 1;
        } else {
            self.head = (self.head + 1) % self.data.len();
        }
    }
}

#[derive(Data, Clone, Debug, PartialEq)]
#[data(twin)]
struct Holder {
    ring: Ring,
    weight: f64,
}

#[differentiable]
impl Holder {
    fn load(&self) -> f64 {
        if self.ring.is_empty() {
            return 0.0;
        }
        self.weight * self.ring.len() as f64 + self.ring.first().unwrap() + self.ring.last()
    }
    fn change(&mut self) {
        self.ring.swap(0, 1);
        self.ring.reverse();
        self.ring.fill(self.weight);
    }
}

#[differentiable]
fn filled(x: &[f64]) -> Ring {
    let mut ring = Ring::new(3);
    for v in x {
        ring.push(*v);
    }
    ring
}

#[differentiable]
fn of_a_name(x: &[f64]) -> f64 {
    let mut ring = Ring::new(3);
    if !ring.is_empty() {
        return 1.0;
    }
    let mut s = 0.0;
    for v in x {
        ring.push(*v);
        s += ring.first().unwrap() * ring.len() as f64 + ring.last();
    }
    ring.swap(0, 1);
    ring.reverse();
    for i in 0..ring.len() {
        if let Some(v) = ring.get(i) {
            s += v * i as f64;
        }
    }
    ring.sort();
    ring.fill(s);
    s + ring.to_vec()[0] + ring.get(7).unwrap_or(0.5) * ring.first().map_or(0.0, |v| v * v)
}

#[differentiable]
fn of_a_field(x: &[f64]) -> f64 {
    let ring = filled(x);
    let (n, copy) = (ring.len(), ring.clone());
    let mut holder = Holder { ring, weight: x[0] };
    let before = holder.load() + holder.ring.get(1).unwrap_or(0.0) + n as f64;
    holder.change();
    before + holder.load() + copy.first().map_or(0.0, |v| v * 2.0) + holder.ring.to_vec()[1]
}

#[differentiable]
fn by_reference(ring: &Ring, weight: f64) -> f64 {
    match ring.is_empty() {
        true => 0.0,
        false => ring.first().unwrap() * weight + ring.get(1).unwrap_or(0.0) * ring.len() as f64,
    }
}

#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct Slots {
    data: [f64; 2],
    count: usize,
}

#[differentiable]
impl Slots {
    fn len(&self) -> usize {
        self.count
    }
    fn first(&self) -> Option<f64> {
        if self.count > 0 { Some(2.0 * self.data[0]) } else { None }
    }
    fn swap(&mut self, i: usize, j: usize) {
        self.data[i] += self.data[j];
    }
    fn fill(&mut self, value: f64) {
        self.data[1] = value * value;
    }
}

#[differentiable]
fn of_elements(x: &[f64]) -> f64 {
    let mut all =
        vec![Slots { data: [x[0], x[1]], count: 1 }, Slots { data: [x[1], x[0]], count: 2 }];
    all[1].swap(0, 1);
    let mut s = by_reference(&filled(x), x[0]) + all[1].first().unwrap();
    for slots in all.iter_mut() {
        slots.fill(x[1]);
        s += slots.len() as f64 * slots.data[1] + slots.first().map_or(0.0, |v| v * v);
    }
    s + all.len() as f64
}

// Lists keep theirs.
type List = Vec<f64>;

#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct Pair {
    a: f64,
    b: f64,
}

#[derive(Data, Clone, Debug, PartialEq)]
struct Lists {
    // A field may be named as what the text calls an element, or a row.
    e: Vec<f64>,
    r: [f64; 3],
    pairs: Vec<Pair>,
    rows: Vec<Vec<f64>>,
    #[data(ragged)]
    uneven: Vec<Vec<f64>>,
}

#[differentiable]
impl Lists {
    fn new(x: &[f64]) -> Lists {
        Lists {
            e: x.to_vec(),
            r: [x[0], x[1], x[2]],
            pairs: vec![Pair { a: x[0], b: x[1] }, Pair { a: x[1], b: x[2] }],
            rows: vec![vec![x[0], 1.0], vec![x[1], 2.0]],
            uneven: vec![vec![x[0]], vec![x[1], x[2]]],
        }
    }
    fn ends(&self) -> f64 {
        let n = if self.e.is_empty() { 0.0 } else { self.e.len() as f64 };
        n + self.e.first().unwrap() * self.e.last().map_or(0.0, |v| v * 2.0)
            + self.e.get(1).copied().unwrap_or(1.0)
            + self.r.len() as f64 * self.r.first().unwrap()
    }
    fn changed(&mut self) -> f64 {
        self.e.swap(0, 1);
        self.e.reverse();
        self.e.sort_by(|a, b| a.total_cmp(b));
        self.e.rotate_left(1);
        let s = self.e[0];
        self.e.fill(s * s);
        let copy = self.e.to_vec();
        self.e[1] * copy[0]
    }
    fn of_rows(&self) -> f64 {
        let last = if let Some(row) = self.rows.last() { row.iter().sum() } else { 0.0 };
        let Some(second) = self.uneven.get(1) else { return 0.0 };
        last * second[1]
            + second.len() as f64
            + self.uneven.first().map_or(0.0, |row| row[0])
            + self.rows.first().unwrap()[1] * self.uneven.last().unwrap().iter().sum::<f64>()
            + self.uneven.get(2).map_or(0.0, |row| row[7])
    }
}

#[differentiable]
fn of_lists(x: &[f64]) -> f64 {
    let mut lists = Lists::new(x);
    let mut s = lists.ends() + lists.of_rows();
    s += lists.pairs.first().unwrap().a * lists.pairs.last().map_or(0.0, |p| p.b * p.a);
    s += lists.pairs.get(1).map(|p| p.b).unwrap_or(0.0) + lists.pairs.len() as f64;
    s += lists.changed();
    lists.e.swap(1, 2);
    s + lists.e[0]
}

#[differentiable]
fn named(x: &List) -> f64 {
    let mut s = 0.0;
    for i in 0..x.len() {
        s += x[i] * i as f64;
    }
    if !x.is_empty() {
        s += x.first().unwrap() * x.last().unwrap();
    }
    s + x.get(1).unwrap_or(&0.0)
}

#[differentiable]
fn squares(x: &[f64]) -> Vec<f64> {
    x.iter().map(|v| v * v).collect()
}

#[differentiable]
fn of_calls(x: &[f64]) -> f64 {
    let mut y = squares(x);
    y.swap(0, 1);
    y.reverse();
    let n = y.len();
    let list: List = y.to_vec();
    y[n - 1] * n as f64
        + y.first().unwrap()
        + y.get(1).copied().unwrap_or(0.0)
        + named(&list) * squares(x).len() as f64
        + squares(x).last().unwrap()
}

#[test]
fn own_methods_are_called_and_lists_keep_theirs() {
    everywhere! {
        of_a_name at [1.0, 2.0, 3.0, 4.0], [2.0];
        of_a_field at [1.0, 2.0, 3.0, 4.0], [1.5, 0.5];
        of_elements at [1.0, 2.0, 3.0, 4.0], [1.5];
        of_lists at [1.0, 2.0, 3.0], [3.0, 1.0, 2.0, 0.5], [1.0, 2.0];
        of_calls at [1.0, 2.0, 3.0], [1.0];
    }
}
