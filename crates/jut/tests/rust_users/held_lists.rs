//! Lists in fields that change their length, of structs that measure them; own types with methods of the same names; fields that begin without
//! elements.

use jut::{Data, differentiable};

#[derive(Data, Clone, Debug, PartialEq)]
struct Ring {
    values: Vec<f64>,
    head: usize,
}

#[differentiable]
impl Ring {
    fn push(&mut self, v: f64) -> f64 {
        let old = self.values[self.head];
        self.values[self.head] = v;
        self.head = (self.head + 1) % self.values.len();
        old
    }
}

#[derive(Data, Clone, Debug, PartialEq)]
#[data(twin, ragged)]
struct Recorder {
    history: Vec<f64>,
    ring: Ring,
    gain: f64,
}

#[differentiable]
impl Recorder {
    fn new(gain: f64) -> Self {
        Recorder { history: Vec::new(), ring: Ring { values: vec![0.0; 2], head: 0 }, gain }
    }
    fn add(&mut self, v: f64) -> usize {
        let old = self.ring.push(v);
        self.history.push(self.gain * v + old);
        self.history.len()
    }
}

/// Every method that changes a list's length, of a field.
#[differentiable]
fn recorded(x: &[f64]) -> f64 {
    let mut recorder = Recorder::new(2.0);
    for (k, v) in x.iter().enumerate() {
        let count = recorder.add(*v);
        if k == 2 {
            recorder.history.push(v * recorder.gain + count as f64);
        }
    }
    while recorder.history.len() > 4 {
        let first = recorder.history.remove(0);
        recorder.gain += first;
    }
    recorder.history.insert(1, 0.5);
    if let Some(last) = recorder.history.pop() {
        recorder.gain += last;
        recorder.history.push(last * last);
    }
    recorder.history.retain(|v| *v < 9.0);
    recorder.history.extend(x.iter().map(|v| v * 0.5));
    recorder.history.truncate(6);
    recorder.gain + recorder.history.windows(2).map(|w| w[0] * w[1]).sum::<f64>()
}

#[derive(Data, Clone, Debug, PartialEq)]
#[data(ragged)]
struct Run {
    steps: Vec<f64>,
    scale: f64,
}

#[derive(Data, Clone, Debug, PartialEq)]
#[data(ragged)]
struct Log {
    runs: Vec<Run>,
    best: Run,
}

/// Fields of elements and of fields, and another list as it is assigned.
#[differentiable]
fn logged(x: &[f64]) -> f64 {
    let mut log = Log { runs: Vec::new(), best: Run { steps: vec![], scale: x[0] } };
    for (k, v) in x.iter().enumerate() {
        log.runs.push(Run { steps: vec![*v], scale: 1.0 + k as f64 });
        for i in 0..k {
            let half = 0.5 * v;
            log.runs[i].steps.push(half);
        }
        log.best.steps = x[..k].to_vec();
    }
    log.best.steps.clear();
    log.best.steps.push(x[1]);
    let totals = log.runs.iter().map(|run| run.scale * run.steps.iter().sum::<f64>());
    totals.sum::<f64>() * log.best.scale + log.best.steps[0]
}

/// An index that is none is an error exactly where Rust panics.
#[differentiable]
fn taken(x: &[f64]) -> f64 {
    let mut run = Run { steps: x.to_vec(), scale: 1.0 };
    let mut sum = 0.0;
    for k in 0..3 {
        sum += run.steps.swap_remove(k / 2) * run.scale;
        run.scale *= 2.0;
    }
    sum
}

#[differentiable]
fn halved(x: &mut Vec<f64>) -> Result<(), String> {
    if x.is_empty() {
        return Err("nothing".to_string());
    }
    x.iter_mut().for_each(|v| *v *= 0.5);
    Ok(())
}

/// What changes a list and gives no value, with an `unwrap` behind it.
#[differentiable]
fn surely_halved(x: &[f64]) -> f64 {
    let mut y = x.to_vec();
    halved(&mut y).unwrap();
    halved(&mut y).expect("something");
    y.iter().map(|v| v * v).sum()
}

#[test]
fn lists_in_fields_change_their_length() {
    everywhere! {
        recorded at [0.5, 1.5, 2.5], [1.0, 0.2, -0.4, 0.9];
        logged at [0.5, 1.5, 2.5], [1.0, 2.0], [1.0];
        taken at [0.5, 1.5, 2.5, 3.5], [0.5, 1.5, 2.5], [0.5, 1.5];
        surely_halved at [0.5, 1.5], [];
    }
}
