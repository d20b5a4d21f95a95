//! Which row of the table does for a whole batch what another row does for one of its elements.
//!
//! ```text
//! dot      l, l   -> ""      over the first        bl, l   -> b      is   il, l   -> i      matvec
//! matmul   il, lj -> ij      over both             bil, blj -> bij   is   bil, blj -> bij   batch_matmul
//! matmul   il, lj -> ij      over the first        bil, lj -> bij    is   rl, lj  -> rj     matmul, r = bi
//! ```
//!
//! A batch is one more dimension, the first of every operand that has one and of the result. If some row has these
//! dimensions, up to their names and the order of its operands (products commute), it is the one. Otherwise the new dimension and the
//! first of the element may become one, if that is the first of all operands that have a batch, and of the result, and
//! occurs nowhere else: the same row then does it, of arrays with another shape.
//!
//! *Ensures*: the same terms in the same order for every cell, so the same bits: both rows are contractions
//! that add up in one [`Order`]. So no product of many vectors becomes a product of matrices unless a row adds up as products of
//! a matrix and a vector do. Rows without a kernel, and those that add nothing up, are left: their loops are as good by
//! element. *Cost*: one look at the table.

use super::{Meaning, Order, Param, Structured};

/// What does for a batch what a row does for an element.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Batched {
    /// This row, its operands being those at these positions.
    Row(Structured, Vec<usize>),
    /// The row itself: in the operands that have a batch, and in the result, the first two dimensions are one.
    Merged,
}

/// Names for the dimension of a batch, and for it and the first of an element as one.
const BATCH: char = '*';

impl Structured {
    /// What does for a batch what this row does for an element; `mapped` says which of its arrays have one.
    ///
    /// ```
    /// use jut_ir::structured::{BATCH_MATMUL, Batched, DOT, MATMUL, MATVEC, OUTER};
    /// assert_eq!(DOT.batched(&[false, true]), Some(Batched::Row(MATVEC, vec![1, 0])));
    /// assert_eq!(MATMUL.batched(&[true, true]), Some(Batched::Row(BATCH_MATMUL, vec![0, 1])));
    /// assert_eq!(MATMUL.batched(&[true, false]), Some(Batched::Merged));
    /// assert_eq!(OUTER.batched(&[true, true]), None);
    /// ```
    pub fn batched(self, mapped: &[bool]) -> Option<Batched> {
        let row = self.row();
        let Meaning::Contraction(order) = row.meaning else { return None };
        let arrays = arrays(self)?;
        if order == Order::None || arrays.len() != mapped.len() || !mapped.contains(&true) {
            return None;
        }
        let wide = |labels: &str, mapped: bool| match mapped {
            true => format!("{BATCH}{labels}"),
            false => labels.to_string(),
        };
        let operands: Vec<String> =
            arrays.iter().zip(mapped).map(|(labels, mapped)| wide(labels, *mapped)).collect();
        let result = wide(row.result, true);
        let found = Structured::all().find_map(|other| {
            let there = other.row();
            if there.meaning != row.meaning || there.kernel.is_none() {
                return None;
            }
            same(&operands, &result, other).map(|places| Batched::Row(other, places))
        });
        found.or_else(|| {
            let merged = row.kernel.is_some() && is_first(&arrays, mapped, row.result);
            merged.then_some(Batched::Merged)
        })
    }
}

/// The dimensions of the operands, if all are arrays.
fn arrays(op: Structured) -> Option<Vec<&'static str>> {
    let labels = |param: &Param| match *param {
        Param::Array(labels) => Some(labels),
        Param::Size(_) => None,
    };
    op.row().params.iter().map(labels).collect()
}

/// The order in which a row takes these operands, if it has their dimensions and those of the result.
fn same(operands: &[String], result: &str, row: Structured) -> Option<Vec<usize>> {
    let own = arrays(row)?;
    let orders: &[&[usize]] = match own.len() {
        1 => &[&[0]],
        2 => &[&[0, 1], &[1, 0]],
        _ => return None,
    };
    let fits = |order: &&&[usize]| {
        let given = order.iter().filter_map(|k| operands.get(*k)).map(String::as_str);
        let given: Vec<&str> = given.chain([result]).collect();
        let own: Vec<&str> = own.iter().copied().chain([row.row().result]).collect();
        is_renamed(&given, &own)
    };
    let order = orders.iter().filter(|_| operands.len() == own.len()).find(fits)?;
    Some(order.to_vec())
}

/// Whether two lists of dimensions are the same up to names.
fn is_renamed(a: &[&str], b: &[&str]) -> bool {
    if a.iter().map(|x| x.len()).ne(b.iter().map(|x| x.len())) {
        return false;
    }
    let pairs = || a.iter().zip(b).flat_map(|(a, b)| a.chars().zip(b.chars()));
    pairs().all(|(x, y)| pairs().all(|(v, w)| (x == v) == (y == w)))
}

/// Whether one dimension is the first of the mapped operands and of the result, and occurs nowhere else.
fn is_first(arrays: &[&str], mapped: &[bool], result: &str) -> bool {
    let Some(first) = result.chars().next() else { return false };
    let once = |labels: &str| {
        labels.starts_with(first) && labels.chars().filter(|label| *label == first).count() == 1
    };
    once(result)
        && arrays.iter().zip(mapped).all(|(labels, mapped)| match mapped {
            true => once(labels),
            false => !labels.contains(first),
        })
}
