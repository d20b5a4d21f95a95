//! What structured primitives compute, in floats and, for linear operations, in the prime field.
//!
//! Products of matrices in floats are those of [`jut_runtime::matrix`], the same function that
//! compiled code calls; everything else is walked cell by cell in the order that the row of the
//! table says. In the field, where order does not matter, all contractions are walked.

use crate::memory::Charge;
use crate::scalar;
use crate::value::{Array, Cells, Value, View};
use jut_ir::Structured;
use jut_ir::structured::{Meaning, Order, Param};
use jut_runtime::lanes::{BLOCK, LANES, fold};
use jut_runtime::matrix;

/// The sizes of the named dimensions of a primitive's operands, in the order of
/// [`Structured::labels`]; `None` if the operands do not fit, or a size is negative.
pub(crate) fn sizes(op: Structured, args: &[Value]) -> Option<Vec<usize>> {
    let labels = op.labels();
    let mut sizes = vec![0; labels.len()];
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
            sizes[k] = dim;
        }
    }
    if op.is_view() {
        let at = |label| labels.iter().position(|l| *l == label);
        let (p, i, j) = (at('p')?, at('i')?, at('j')?);
        let cells = sizes[i].checked_mul(sizes[j])?;
        if op.row().meaning == Meaning::Unflatten && sizes[p] != cells {
            return None;
        }
        sizes[p] = cells;
    }
    Some(sizes)
}

/// The value of a structured primitive. `None` if the operands do not fit it.
pub(crate) fn apply(
    op: Structured,
    args: &[Value],
    sizes: &[usize],
    charge: Charge,
) -> Option<Value> {
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
        Cells::I64(run(op, sizes, &operands, &Field))
    } else {
        let operands: Option<Vec<&[f64]>> = arrays.iter().map(|a| floats(a)).collect();
        let operands = operands?;
        Cells::F64(match (op.row().meaning, operands.as_slice(), sizes) {
            (Meaning::Contraction(Order::Chain(flags)), [a, b], [m, n, k]) => {
                let [m, n, k] = [*m as i64, *n as i64, *k as i64];
                let mut c = vec![0.0; sizes[0].checked_mul(sizes[1])?];
                let mut space = vec![0.0; matrix::scratch(m, n, k, flags) as usize];
                matrix::product(&mut c, a, b, &mut space, [m, n, k], flags).then_some(())?;
                c
            }
            _ => run(op, sizes, &operands, &Floats),
        })
    };
    match (dims, cells) {
        ([], Cells::F64(x)) => x.first().map(|x| Value::F64(*x)),
        ([], Cells::I64(x)) => x.first().map(|x| Value::I64(*x)),
        (dims, cells) => Array::charged(dims.to_vec(), cells, charge).map(Value::Array),
    }
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
    /// The sum of `terms`, by lanes.
    fn lanes(&self, terms: &mut dyn Iterator<Item = T>) -> T;
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

    fn lanes(&self, terms: &mut dyn Iterator<Item = i64>) -> i64 {
        terms.fold(0, scalar::add)
    }
}

fn run<T: Copy>(
    op: Structured,
    sizes: &[usize],
    operands: &[&[T]],
    numbers: &dyn Numbers<T>,
) -> Vec<T> {
    let running = |cells: &mut dyn Iterator<Item = T>| {
        let mut sum = numbers.zero();
        cells
            .map(|x| {
                sum = numbers.add(sum, x);
                sum
            })
            .collect::<Vec<T>>()
    };
    let first = operands.first().copied().unwrap_or_default();
    match op.row().meaning {
        Meaning::Contraction(order) => contraction(op, order, sizes, operands, numbers),
        Meaning::Flatten | Meaning::Unflatten => first.to_vec(),
        Meaning::Reverse => first.iter().rev().copied().collect(),
        Meaning::RunningSum => running(&mut first.iter().copied()),
        Meaning::RunningSumFromEnd => {
            let mut cells = running(&mut first.iter().rev().copied());
            cells.reverse();
            cells
        }
    }
}

fn contraction<T: Copy>(
    op: Structured,
    order: Order,
    sizes: &[usize],
    operands: &[&[T]],
    numbers: &dyn Numbers<T>,
) -> Vec<T> {
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
        cells.push(match (order, inner.first()) {
            (_, None) => product(0),
            (Order::Lanes, Some(size)) => numbers.lanes(&mut (0..*size).map(product)),
            (_, Some(size)) => {
                (0..*size).map(product).fold(numbers.zero(), |a, b| numbers.add(a, b))
            }
        });
    }
    cells
}
