//! Objects with operators and traits: polynomials, a tape of operations, nets of bars, recurrent layers.

use jut::math::exp;
use jut::{Data, differentiable};
use std::ops::{AddAssign, Index, IndexMut, Mul, Sub};

// Polynomials with operators, and the length of a curve of them.
#[derive(Data, Clone, Debug, PartialEq)]
#[data(ragged)]
struct Poly {
    c: Vec<f64>,
}

#[differentiable]
impl Mul for &Poly {
    type Output = Poly;
    fn mul(self, rhs: &Poly) -> Poly {
        let mut c = vec![0.0; self.c.len() + rhs.c.len() - 1];
        for (i, a) in self.c.iter().enumerate() {
            for (j, b) in rhs.c.iter().enumerate() {
                c[i + j] += a * b;
            }
        }
        Poly { c }
    }
}

#[differentiable]
impl Poly {
    fn derived(&self) -> Poly {
        Poly { c: self.c.iter().enumerate().skip(1).map(|(k, c)| k as f64 * c).collect() }
    }
    fn at(&self, x: f64) -> f64 {
        self.c.iter().rev().fold(0.0, |acc, c| acc * x + c)
    }
}

#[differentiable]
fn sturm(x: &[f64]) -> f64 {
    let mut product = Poly { c: vec![1.0] };
    for &root in x {
        product = &product * &Poly { c: vec![-root, 1.0] };
    }
    let slope = product.derived();
    let mut t = 10.0;
    for _ in 0..6 {
        t -= product.at(t) / slope.at(t);
    }
    t + slope.at(0.5)
}

// A tape of an automatic differentiation, in an automatic differentiation.
#[derive(Data, Clone, Copy, Debug, PartialEq)]
enum Op {
    Leaf,
    Add(usize, usize),
    Mul(usize, usize),
    Exp(usize),
}

#[derive(Data, Clone, Debug, PartialEq)]
#[data(twin, ragged)]
struct Tape {
    ops: Vec<Op>,
    values: Vec<f64>,
}

#[differentiable]
impl Tape {
    fn new() -> Self {
        Self { ops: Vec::new(), values: Vec::new() }
    }
    fn record(&mut self, op: Op, value: f64) -> usize {
        self.ops.push(op);
        self.values.push(value);
        self.values.len() - 1
    }
    fn leaf(&mut self, v: f64) -> usize {
        self.record(Op::Leaf, v)
    }
    fn add(&mut self, a: usize, b: usize) -> usize {
        let v = self.values[a] + self.values[b];
        self.record(Op::Add(a, b), v)
    }
    fn mul(&mut self, a: usize, b: usize) -> usize {
        let v = self.values[a] * self.values[b];
        self.record(Op::Mul(a, b), v)
    }
    fn exp(&mut self, a: usize) -> usize {
        let v = exp(self.values[a]);
        self.record(Op::Exp(a), v)
    }
    fn backward(&self, output: usize) -> Vec<f64> {
        let mut bar = vec![0.0; self.values.len()];
        bar[output] = 1.0;
        for i in (0..=output).rev() {
            let g = bar[i];
            match self.ops[i] {
                Op::Leaf => {}
                Op::Add(a, b) => {
                    bar[a] += g;
                    bar[b] += g;
                }
                Op::Mul(a, b) => {
                    bar[a] += g * self.values[b];
                    bar[b] += g * self.values[a];
                }
                Op::Exp(a) => bar[a] += g * self.values[i],
            }
        }
        bar
    }
}

#[differentiable]
fn taped(x: &[f64]) -> f64 {
    let mut tape = Tape::new();
    let leaves: Vec<usize> = x.iter().map(|v| tape.leaf(*v)).collect();
    let mut out = leaves[0];
    for &leaf in &leaves[1..] {
        let product = tape.mul(out, leaf);
        let e = tape.exp(product);
        out = tape.add(e, leaf);
    }
    let gradient = tape.backward(out);
    leaves.iter().map(|&k| gradient[k] * gradient[k]).sum::<f64>()
}

// A plane frame: nodes that are found by a pair, bars that push forces.
#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct V2(f64, f64);

#[differentiable]
impl Sub for V2 {
    type Output = V2;
    fn sub(self, o: V2) -> V2 {
        V2(self.0 - o.0, self.1 - o.1)
    }
}

#[differentiable]
impl AddAssign for V2 {
    fn add_assign(&mut self, o: V2) {
        self.0 += o.0;
        self.1 += o.1;
    }
}

#[differentiable]
impl Mul<f64> for V2 {
    type Output = V2;
    fn mul(self, k: f64) -> V2 {
        V2(self.0 * k, self.1 * k)
    }
}

#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct Bar {
    from: usize,
    to: usize,
}

#[derive(Data, Clone, Debug, PartialEq)]
#[data(twin, ragged)]
struct Net {
    nodes: Vec<V2>,
    bars: Vec<Bar>,
}

#[differentiable]
impl Index<usize> for Net {
    type Output = V2;
    fn index(&self, k: usize) -> &V2 {
        &self.nodes[k]
    }
}

#[differentiable]
impl IndexMut<usize> for Net {
    fn index_mut(&mut self, k: usize) -> &mut V2 {
        &mut self.nodes[k]
    }
}

#[differentiable]
impl Net {
    fn bar(&mut self, from: usize, to: usize) {
        self.bars.push(Bar { from, to });
    }
    fn relax(&mut self, stiffness: f64) {
        let mut force = vec![V2(0.0, -0.1); self.nodes.len()];
        for &Bar { from: a, to: b } in &self.bars {
            let d = self[b] - self[a];
            let length = d.0.hypot(d.1);
            let pull = d * (stiffness * (1.0 - 1.0 / length));
            force[a] += pull;
            force[b] += pull * -1.0;
        }
        let last = self.nodes.len() - 1;
        for k in 1..last {
            let step = force[k] * 0.1;
            self[k] += step;
        }
    }
}

#[differentiable]
fn sag(x: &[f64]) -> f64 {
    let mut net =
        Net { nodes: x[1..].chunks_exact(2).map(|c| V2(c[0], c[1])).collect(), bars: Vec::new() };
    for k in 1..net.nodes.len() {
        net.bar(k - 1, k);
    }
    for _ in 0..8 {
        net.relax(x[0]);
    }
    net.nodes.iter().map(|n| n.1).sum::<f64>() + net[1].0
}

// Recurrent layers with a trait, a state for each.
#[differentiable]
trait Cell {
    fn width(&self) -> usize;
    fn gate(&self, x: f64, h: f64, k: usize) -> f64;
    fn next(&self, x: f64, h: &[f64]) -> Vec<f64> {
        (0..self.width())
            .map(|k| {
                let z = self.gate(x, h[k], k);
                (1.0 - z) * h[k] + z * jut::math::tanh(x + 0.5 * h[(k + 1) % self.width()])
            })
            .collect()
    }
    fn run(&self, inputs: &[f64]) -> f64 {
        let mut h = vec![0.0; self.width()];
        for &x in inputs {
            h = self.next(x, &h);
        }
        h.iter().sum()
    }
}

#[derive(Data, Clone, Debug, PartialEq)]
struct Minimal {
    bias: Vec<f64>,
}

#[derive(Data, Clone, Debug, PartialEq)]
struct Peephole {
    weights: [[f64; 2]; 2],
}

#[differentiable]
impl Cell for Minimal {
    fn width(&self) -> usize {
        self.bias.len()
    }
    fn gate(&self, x: f64, _h: f64, k: usize) -> f64 {
        jut::math::sigmoid(x + self.bias[k])
    }
}

#[differentiable]
impl Cell for Peephole {
    fn width(&self) -> usize {
        2
    }
    fn gate(&self, x: f64, h: f64, k: usize) -> f64 {
        let [a, b] = self.weights[k];
        jut::math::sigmoid(a * x + b * h)
    }
}

#[differentiable]
fn scored<C: Cell>(cell: &C, inputs: &[f64]) -> f64 {
    let y = cell.run(inputs);
    y * y + cell.run(&inputs[1..])
}

#[differentiable]
fn both_cells(x: &[f64]) -> f64 {
    let minimal = Minimal { bias: x[..2].to_vec() };
    let peephole = Peephole { weights: [[x[0], x[1]], [x[2], 0.3]] };
    scored(&minimal, &x[3..]) + scored(&peephole, &x[3..])
}

#[test]
fn polynomials_tapes_and_nets() {
    everywhere! {
        sturm at [0.5, 1.7, 3.0];
        taped at [0.3, 0.8, -0.4], [0.5];
        sag at [2.0, 0.0, 0.0, 1.2, 0.1, 2.1, -0.1, 3.3, 0.0];
        both_cells at [0.2, -0.4, 0.5, 1.0, 0.3, -0.7];
    }
}
