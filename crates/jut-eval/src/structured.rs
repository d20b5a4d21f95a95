//! What structured primitives compute, in floats and, for linear operations, in the prime field.
//!
//! Products of matrices in floats are those of [`jut_runtime::matrix`], the same function that
//! compiled code calls; everything else is walked cell by cell in the order that the row of the
//! table says. In the field, where order does not matter, all contractions are walked.

use crate::memory::Charge;
use crate::pieces;
use crate::scalar;
use crate::value::{Array, Cells, Value, View};
use jut_ir::Structured;
use jut_ir::structured::nest::{self, Act, Nest, Turn};
use jut_ir::structured::{Call, Meaning, Order, Param, Room, Run, Side};
use jut_runtime::cancel::Patience;
use jut_runtime::lanes::{BLOCK, LANES, fold};
use jut_runtime::{matrix, triangular};

/// The sizes of the named dimensions of a primitive's operands, in the order of
/// [`Structured::labels`]; `None` if the operands do not fit, or a size is negative.
pub(crate) fn sizes(op: Structured, args: &[Value]) -> Option<Vec<usize>> {
    let labels = op.labels();
    let mut sizes: Vec<Option<u64>> = vec![None; labels.len()];
    for (param, arg) in op.row().params.iter().zip(args) {
        let dims: Vec<usize> = match param {
            Param::Array(_) => arg.dims(),
            Param::Size(_) => vec![usize::try_from(arg.as_i64()?).ok()?],
        };
        let names = match param {
            Param::Array(names) => names.chars().collect::<Vec<_>>(),
            Param::Size(name) => vec![*name],
        };
        if names.len() != dims.len() {
            return None;
        }
        for (name, dim) in names.iter().zip(dims) {
            let k = labels.iter().position(|l| l == name)?;
            sizes[k] = Some(dim as u64);
        }
    }
    let all = op.complete(&sizes)?;
    all.into_iter().map(|size| usize::try_from(size).ok()).collect()
}

/// The value of a structured primitive. `None` if the operands do not fit it, or the call is cancelled.
pub(crate) fn apply(
    op: Structured,
    args: &[Value],
    sizes: &[usize],
    charge: Charge,
) -> Option<Value> {
    if let (Meaning::Convert { .. }, [x]) = (op.row().meaning, args) {
        return match x {
            Value::F64(x) => Some(Value::F32(*x as f32)),
            Value::F32(x) => Some(Value::F64(f64::from(*x))),
            // An element of the field.
            Value::I64(x) => Some(Value::I64(*x)),
            _ => None,
        };
    }
    let arrays: Vec<&Value> = op.arrays().filter_map(|k| args.get(k)).collect();
    let dims = &sizes[..op.row().result.len()];
    let in_field = arrays.iter().any(|a| field(a).is_some());
    let cells = if in_field {
        let operands: Option<Vec<Vec<i64>>> = arrays
            .iter()
            .map(|a| {
                let as_factors = |v: &[f64]| v.iter().map(|x| scalar::factor(*x)).collect();
                field(a).map(<[i64]>::to_vec).or_else(|| floats(a).map(as_factors))
            })
            .collect();
        let operands = operands?;
        let operands: Vec<&[i64]> = operands.iter().map(Vec::as_slice).collect();
        Cells::I64(run(op, sizes, &operands, &Field)?)
    } else {
        let operands: Option<Vec<&[f64]>> = arrays.iter().map(|a| floats(a)).collect();
        let operands = operands?;
        Cells::F64(match (op.row().kernel, operands.as_slice(), sizes) {
            (Some(Call { room: Room::Product, flags, .. }), [a, b], [m, n, k]) => {
                products([a, b], [1, *m, *n, *k], flags)?
            }
            (Some(Call { room: Room::Product, flags, .. }), [a, b], [batch, m, n, k]) => {
                products([a, b], [*batch, *m, *n, *k], flags)?
            }
            (Some(call @ Call { run: Some(run), .. }), operands, _) => {
                triangular(op, call, run, sizes, operands)?
            }
            _ => run(op, sizes, &operands, &Floats)?,
        })
    };
    match (dims, cells) {
        ([], Cells::F64(x)) => x.first().map(|x| Value::F64(*x)),
        ([], Cells::I64(x)) => x.first().map(|x| Value::I64(*x)),
        (dims, cells) => Array::charged(dims.to_vec(), cells, charge).map(Value::Array),
    }
}

/// Products of matrices, one after another.
fn products([a, b]: [&[f64]; 2], [batch, m, n, k]: [usize; 4], flags: i64) -> Option<Vec<f64>> {
    let [rows, columns, inner] = [m as i64, n as i64, k as i64];
    let mut space = vec![0.0; matrix::scratch(rows, columns, inner, flags) as usize];
    let mut c = vec![0.0; batch.checked_mul(m)?.checked_mul(n)?];
    for index in 0..batch {
        let c = c.get_mut(index * m * n..)?;
        let (a, b) = (a.get(index * m * k..)?, b.get(index * k * n..)?);
        matrix::product(c, a, b, &mut space, [rows, columns, inner], flags).then_some(())?;
    }
    Some(c)
}

/// A kernel of triangular matrices.
fn triangular(
    op: Structured,
    call: Call,
    run: Run,
    sizes: &[usize],
    operands: &[&[f64]],
) -> Option<Vec<f64>> {
    let labels = op.labels();
    let size = |label| labels.iter().position(|l| *l == label).map(|k| sizes[k]);
    let mut taken = call.sizes.chars().map(size);
    let (n, m) = (taken.next()??, taken.next()??);
    let [rows, columns] = [n as i64, m as i64];
    let mut space = vec![0.0; triangular::scratch(rows, columns) as usize];
    let mut x = vec![0.0; n.checked_mul(m)?];
    let done = run(&mut x, operands, &mut space, [rows, columns], call.flags);
    done.then_some(x)
}

fn floats(value: &Value) -> Option<&[f64]> {
    match value {
        Value::F64(x) => Some(std::slice::from_ref(x)),
        Value::Array(a) => a.f64s(),
        _ => None,
    }
}

fn field(value: &Value) -> Option<&[i64]> {
    match value {
        Value::I64(x) => Some(std::slice::from_ref(x)),
        Value::Array(a) => match a.view() {
            View::I64(cells) => Some(cells),
            _ => None,
        },
        _ => None,
    }
}

/// What cells are computed with.
trait Numbers<T> {
    fn zero(&self) -> T;
    fn add(&self, a: T, b: T) -> T;
    fn mul(&self, a: T, b: T) -> T;
    /// `a b + sum`, rounded once.
    fn fused(&self, a: T, b: T, sum: T) -> T;
    /// The sum of `terms`, by lanes.
    fn lanes(&self, terms: &mut dyn Iterator<Item = T>) -> T;
    fn sub(&self, a: T, b: T) -> T;
    fn div(&self, a: T, b: T) -> T;
    /// `None` where there is none: only linear operations are done in the field.
    fn root(&self, a: T) -> Option<T>;
    fn half(&self, a: T) -> T;
}

struct Floats;

impl Numbers<f64> for Floats {
    fn zero(&self) -> f64 {
        0.0
    }

    fn add(&self, a: f64, b: f64) -> f64 {
        a + b
    }

    fn mul(&self, a: f64, b: f64) -> f64 {
        a * b
    }

    fn fused(&self, a: f64, b: f64, sum: f64) -> f64 {
        a.mul_add(b, sum)
    }

    fn lanes(&self, terms: &mut dyn Iterator<Item = f64>) -> f64 {
        let mut sum = 0.0;
        let mut terms = terms.peekable();
        while terms.peek().is_some() {
            let mut lanes = [0.0; LANES];
            for (k, term) in terms.by_ref().take(BLOCK as usize).enumerate() {
                lanes[k % LANES] += term;
            }
            sum += fold(lanes);
        }
        sum
    }

    fn sub(&self, a: f64, b: f64) -> f64 {
        a - b
    }

    fn div(&self, a: f64, b: f64) -> f64 {
        a / b
    }

    fn root(&self, a: f64) -> Option<f64> {
        Some(a.sqrt())
    }

    fn half(&self, a: f64) -> f64 {
        a / 2.0
    }
}

struct Field;

impl Numbers<i64> for Field {
    fn zero(&self) -> i64 {
        0
    }

    fn add(&self, a: i64, b: i64) -> i64 {
        scalar::add(a, b)
    }

    fn mul(&self, a: i64, b: i64) -> i64 {
        scalar::mul(a, b)
    }

    fn fused(&self, a: i64, b: i64, sum: i64) -> i64 {
        scalar::add(sum, scalar::mul(a, b))
    }

    fn lanes(&self, terms: &mut dyn Iterator<Item = i64>) -> i64 {
        terms.fold(0, scalar::add)
    }

    fn sub(&self, a: i64, b: i64) -> i64 {
        scalar::add(a, scalar::neg(b))
    }

    fn div(&self, a: i64, b: i64) -> i64 {
        scalar::mul(a, scalar::inverse(b))
    }

    fn root(&self, _: i64) -> Option<i64> {
        None
    }

    fn half(&self, a: i64) -> i64 {
        scalar::mul(a, scalar::inverse(2))
    }
}

fn run<T: Copy>(
    op: Structured,
    sizes: &[usize],
    operands: &[&[T]],
    numbers: &dyn Numbers<T>,
) -> Option<Vec<T>> {
    let running = |mut cells: Vec<T>| {
        let mut sum = numbers.zero();
        pieces::in_pieces(cells.len(), |range| {
            for x in &mut cells[range] {
                sum = numbers.add(sum, *x);
                *x = sum;
            }
        })?;
        Some(cells)
    };
    let reversed = |mut cells: Vec<T>| pieces::reverse(&mut cells).map(|()| cells);
    let first = operands.first().copied().unwrap_or_default();
    match op.row().meaning {
        Meaning::Contraction(order) => contraction(op, order, sizes, operands, numbers),
        Meaning::Convolution(side) => match operands {
            [a, b] => convolution(op, side, sizes, [a, b], numbers),
            _ => None,
        },
        Meaning::Nested(_, nest) => {
            let labels = op.labels();
            let outer = &sizes[..op.row().result.len()];
            let mut walk = Walk {
                labels: &labels,
                sizes,
                operands,
                dims: op.arrays().map(|k| op.row().params[k]).collect(),
                result: op.row().result,
                cells: vec![numbers.zero(); outer.iter().product()],
                indices: Vec::new(),
                patience: Patience::new(),
                numbers,
            };
            walk.nests(nest)?;
            Some(walk.cells)
        }
        Meaning::Flatten | Meaning::Unflatten | Meaning::Convert { .. } => pieces::copy(first),
        Meaning::Reverse => reversed(pieces::copy(first)?),
        Meaning::RunningSum => running(pieces::copy(first)?),
        Meaning::RunningSumFromEnd => reversed(running(reversed(pieces::copy(first)?)?)?),
    }
}

/// A nest of loops over cells.
struct Walk<'a, T> {
    labels: &'a [char],
    sizes: &'a [usize],
    operands: &'a [&'a [T]],
    /// The operands' dimensions.
    dims: Vec<Param>,
    result: &'static str,
    cells: Vec<T>,
    indices: Vec<(char, usize)>,
    patience: Patience,
    numbers: &'a dyn Numbers<T>,
}

impl<T: Copy> Walk<'_, T> {
    fn nests(&mut self, nests: &[Nest]) -> Option<()> {
        for nest in nests {
            match *nest {
                Nest::Loop(turn, index, label, range, body) => {
                    let (low, high) = range.bounds(self.size(label)?, |i| self.index(i));
                    for k in 0..high.saturating_sub(low) {
                        let at = if turn == Turn::Down { high - 1 - k } else { low + k };
                        self.indices.push((index, at));
                        self.nests(body)?;
                        self.indices.pop();
                    }
                }
                Nest::Do(cell, act) => {
                    (!self.patience.is_over(1)).then_some(())?;
                    let (r, numbers) = (self.read(cell)?, self.numbers);
                    let value = match act {
                        Act::Set(x) => self.read(x)?,
                        Act::Add(x) => numbers.add(r, self.read(x)?),
                        Act::Less(x, y) => {
                            numbers.sub(r, numbers.mul(self.read(x)?, self.read(y)?))
                        }
                        Act::Over(x) => numbers.div(r, self.read(x)?),
                        Act::Root => numbers.root(r)?,
                        Act::Halve => numbers.half(r),
                    };
                    let at = self.place(self.result, cell.indices())?;
                    *self.cells.get_mut(at)? = value;
                }
            }
        }
        Some(())
    }

    fn size(&self, label: char) -> Option<usize> {
        self.sizes.get(self.labels.iter().position(|l| *l == label)?).copied()
    }

    fn index(&self, index: char) -> usize {
        self.indices.iter().find(|(name, _)| *name == index).map_or(0, |(_, at)| *at)
    }

    fn place(&self, dims: &str, indices: &str) -> Option<usize> {
        let mut both = dims.chars().zip(indices.chars());
        both.try_fold(0, |at, (dim, index)| Some(at * self.size(dim)? + self.index(index)))
    }

    fn read(&self, cell: nest::Cell) -> Option<T> {
        match cell {
            nest::Cell::Result(indices) => {
                self.cells.get(self.place(self.result, indices)?).copied()
            }
            nest::Cell::Operand(k, indices) => {
                let Param::Array(dims) = self.dims.get(k)? else { return None };
                self.operands.get(k)?.get(self.place(dims, indices)?).copied()
            }
        }
    }
}

fn contraction<T: Copy>(
    op: Structured,
    order: Order,
    sizes: &[usize],
    operands: &[&[T]],
    numbers: &dyn Numbers<T>,
) -> Option<Vec<T>> {
    let labels = op.labels();
    let (outer, inner) = sizes.split_at(op.row().result.len());
    // How far the cell of an operand moves with each label.
    let strides: Vec<Vec<usize>> = op
        .arrays()
        .filter_map(|k| match op.row().params[k] {
            Param::Array(names) => Some(names.chars().collect::<Vec<_>>()),
            Param::Size(_) => None,
        })
        .map(|names| {
            let mut strides = vec![0; labels.len()];
            let mut stride = 1;
            for name in names.iter().rev() {
                if let Some(k) = labels.iter().position(|l| l == name) {
                    strides[k] = stride;
                    stride *= sizes[k];
                }
            }
            strides
        })
        .collect();
    let total: usize = outer.iter().product();
    let mut cells = Vec::with_capacity(total);
    let mut patience = Patience::new();
    let mut over = false;
    for cell in 0..total {
        let mut at = vec![0; operands.len()];
        let mut rest = cell;
        for (k, size) in outer.iter().enumerate().rev() {
            let index = rest % size;
            rest /= size;
            for (at, strides) in at.iter_mut().zip(&strides) {
                *at += index * strides[k];
            }
        }
        let product = |l: usize| {
            let factors = operands.iter().zip(&at).zip(&strides);
            let mut factors = factors.map(|((cells, at), strides)| {
                cells[at + l * strides.get(outer.len()).copied().unwrap_or(0)]
            });
            let first = factors.next().unwrap_or_else(|| numbers.zero());
            factors.fold(first, |a, b| numbers.mul(a, b))
        };
        let count = inner.first().copied().unwrap_or(1);
        let mut terms = (0..count)
            .take_while(|_| {
                over = patience.is_over(1);
                !over
            })
            .map(product);
        let sum = match (order, inner) {
            (_, []) => terms.next().unwrap_or_else(|| numbers.zero()),
            (Order::Lanes, _) => numbers.lanes(&mut terms),
            _ => terms.fold(numbers.zero(), |a, b| numbers.add(a, b)),
        };
        if over {
            return None;
        }
        cells.push(sum);
    }
    Some(cells)
}

/// The sizes of a convolution in two directions; one direction is one row.
struct Window {
    /// Channels of y and of x.
    o: usize,
    c: usize,
    /// Rows and columns of x, of y and of k.
    x: [usize; 2],
    y: [usize; 2],
    k: [usize; 2],
}

impl Window {
    fn new(op: Structured, sizes: &[usize]) -> Window {
        let labels = op.labels();
        let size = |l: char| labels.iter().position(|x| *x == l).map_or(1, |k| sizes[k]);
        let pair = |place: usize| {
            let mut pair = [1, 1];
            let windows = op.windows();
            for (k, window) in windows.iter().enumerate() {
                pair[2 - windows.len() + k] = size(window[place]);
            }
            pair
        };
        Window { o: size('o'), c: size('c'), x: pair(0), y: pair(1), k: pair(2) }
    }

    fn in_x(&self, c: usize, row: usize, column: usize) -> usize {
        (c * self.x[0] + row) * self.x[1] + column
    }

    fn in_y(&self, o: usize, row: usize, column: usize) -> usize {
        (o * self.y[0] + row) * self.y[1] + column
    }

    fn in_k(&self, o: usize, c: usize, row: usize, column: usize) -> usize {
        ((o * self.c + c) * self.k[0] + row) * self.k[1] + column
    }
}

/// One side of a convolution, from the other two in the order of the operands.
fn convolution<T: Copy>(
    op: Structured,
    side: Side,
    sizes: &[usize],
    [a, b]: [&[T]; 2],
    numbers: &dyn Numbers<T>,
) -> Option<Vec<T>> {
    let w = Window::new(op, sizes);
    let mut cells = Vec::new();
    let mut patience = Patience::new();
    let mut go_on = || (!patience.is_over(1)).then_some(());
    match side {
        Side::Output => {
            for (o, i, j) in triples(w.o, w.y) {
                let mut sum = numbers.zero();
                for (c, u, v) in triples(w.c, w.k) {
                    go_on()?;
                    let (x, k) = (a[w.in_x(c, i + u, j + v)], b[w.in_k(o, c, u, v)]);
                    sum = numbers.fused(k, x, sum);
                }
                cells.push(sum);
            }
        }
        Side::Input => {
            for (c, row, column) in triples(w.c, w.x) {
                let mut sum = numbers.zero();
                for (o, u, v) in triples(w.o, w.k) {
                    go_on()?;
                    let (i, j) = (row.wrapping_sub(u), column.wrapping_sub(v));
                    if i < w.y[0] && j < w.y[1] {
                        let (y, k) = (a[w.in_y(o, i, j)], b[w.in_k(o, c, u, v)]);
                        sum = numbers.fused(k, y, sum);
                    }
                }
                cells.push(sum);
            }
        }
        Side::Kernel => {
            for o in 0..w.o {
                for (c, u, v) in triples(w.c, w.k) {
                    let mut lanes = [numbers.zero(); LANES];
                    for (_, i, j) in triples(1, w.y) {
                        go_on()?;
                        let (x, y) = (a[w.in_x(c, i + u, j + v)], b[w.in_y(o, i, j)]);
                        lanes[j % LANES] = numbers.fused(y, x, lanes[j % LANES]);
                    }
                    let mut width = LANES / 2;
                    while width > 0 {
                        for k in 0..width {
                            lanes[k] = numbers.add(lanes[k], lanes[k + width]);
                        }
                        width /= 2;
                    }
                    cells.push(lanes[0]);
                }
            }
        }
    }
    Some(cells)
}

/// All indices below these sizes, the last one fastest.
fn triples(n: usize, [m, k]: [usize; 2]) -> impl Iterator<Item = (usize, usize, usize)> {
    (0..n).flat_map(move |a| (0..m).flat_map(move |b| (0..k).map(move |c| (a, b, c))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use jut_runtime::{Cancellation, cancel};
    use std::cell::Cell;

    /// The field, counting what is computed.
    struct Counted(Cell<u64>);

    impl Counted {
        fn count(&self, x: i64) -> i64 {
            self.0.set(self.0.get() + 1);
            x
        }
    }

    impl Numbers<i64> for Counted {
        fn zero(&self) -> i64 {
            0
        }

        fn add(&self, a: i64, b: i64) -> i64 {
            self.count(scalar::add(a, b))
        }

        fn mul(&self, a: i64, b: i64) -> i64 {
            self.count(scalar::mul(a, b))
        }

        fn fused(&self, a: i64, b: i64, sum: i64) -> i64 {
            self.count(scalar::add(sum, scalar::mul(a, b)))
        }

        fn lanes(&self, terms: &mut dyn Iterator<Item = i64>) -> i64 {
            terms.fold(0, |a, b| self.add(a, b))
        }

        fn sub(&self, a: i64, b: i64) -> i64 {
            self.add(a, scalar::neg(b))
        }

        fn div(&self, a: i64, b: i64) -> i64 {
            self.count(Field.div(a, b))
        }

        // None in the field, but as many operations.
        fn root(&self, a: i64) -> Option<i64> {
            Some(self.count(a))
        }

        fn half(&self, a: i64) -> i64 {
            self.count(Field.half(a))
        }
    }

    /// Whether the size of a dimension follows from others.
    fn follows(op: Structured, label: char) -> bool {
        match op.is_view() {
            true => label == 'p',
            false => op.windows().iter().any(|window| window[0] == label),
        }
    }

    /// Runs a primitive with so many cells in each dimension in the field: what it gives, and how many
    /// operations it took.
    fn counted(op: Structured, size: u64) -> (Option<Vec<i64>>, u64) {
        let labels = op.labels();
        let given: Vec<_> = labels.iter().map(|l| (!follows(op, *l)).then_some(size)).collect();
        let sizes = op.complete(&given).unwrap_or_else(|| panic!("sizes of {op:?}"));
        let sizes: Vec<usize> = sizes.into_iter().map(|n| n as usize).collect();
        let of = |names: &str| {
            let place = |l| labels.iter().position(|x| *x == l).unwrap_or_default();
            names.chars().map(|l| sizes[place(l)]).product::<usize>()
        };
        let operands: Vec<Vec<i64>> = op
            .row()
            .params
            .iter()
            .filter_map(|param| match param {
                Param::Array(names) => Some((0..of(names) as i64).map(|k| k % 97).collect()),
                Param::Size(_) => None,
            })
            .collect();
        let operands: Vec<&[i64]> = operands.iter().map(Vec::as_slice).collect();
        let numbers = Counted(Cell::new(0));
        let cells = run(op, &sizes, &operands, &numbers);
        (cells, numbers.0.get())
    }

    /// A kernel and its nest compute the same, but for rounding.
    #[test]
    fn kernels_agree_with_the_loops_that_say_what_they_compute() {
        let mut compared = 0;
        for op in Structured::all() {
            let (Meaning::Nested(..), Some(call)) = (op.row().meaning, op.row().kernel) else {
                continue;
            };
            for n in [0, 1, 2, 5, 40, 70] {
                let labels = op.labels();
                let sizes: Vec<usize> =
                    labels.iter().map(|l| if *l == 'i' { n } else { 3 }).collect();
                let cells =
                    |names: &str| names.chars().map(|l| if l == 'i' { n } else { 3 }).product();
                let operands: Vec<Vec<f64>> = op
                    .row()
                    .params
                    .iter()
                    .enumerate()
                    .filter_map(|(nth, param)| match param {
                        Param::Array(names) => {
                            let count: usize = cells(names);
                            let cell = |k: usize| {
                                let x = ((nth + 1) * k * 7 % 11) as f64 / 11.0 - 0.4;
                                // Matrices that have a factor and are no bad one.
                                x / n as f64 + if nth == 0 && k / n == k % n { 2.0 } else { 0.0 }
                            };
                            Some((0..count).map(cell).collect())
                        }
                        Param::Size(_) => None,
                    })
                    .collect();
                let operands: Vec<&[f64]> = operands.iter().map(Vec::as_slice).collect();
                let said = run(op, &sizes, &operands, &Floats).unwrap();
                let kernel = call.run.unwrap();
                let done = triangular(op, call, kernel, &sizes, &operands).unwrap();
                assert_eq!(said.len(), done.len());
                for (x, y) in said.iter().zip(&done) {
                    assert!((x - y).abs() <= 1e-12 * (1.0 + x.abs()), "{op:?} {n}: {x} {y}");
                }
                compared += 1;
            }
        }
        assert!(compared >= 30);
    }

    #[test]
    fn every_primitive_stops_soon_once_it_is_cancelled() {
        let cancelled = Cancellation::new();
        cancelled.cancel();
        // Conversions are of one number.
        for op in Structured::all().filter(|op| op.primitive().is_none()) {
            // Some hundred thousand products or cells.
            let dimensions = op.loops().len().max(1) as f64;
            let size = 600_000f64.powf(1.0 / dimensions).ceil().max(8.0) as u64;
            let (whole, all) = counted(op, size);
            assert!(whole.is_some(), "{op:?}");
            let (cells, done) = cancel::during(&cancelled, || counted(op, size));
            assert!(cells.is_none(), "{op:?}: {all} operations");
            assert!(done <= 1 << 18 && done < all.max(1), "{op:?}: {done} of {all}");
            let (short, _) = cancel::during(&cancelled, || counted(op, 2));
            assert_eq!(short, counted(op, 2).0, "{op:?}: what is short goes on");
        }
    }
}
