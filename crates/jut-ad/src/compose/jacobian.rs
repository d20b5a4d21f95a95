//! Jacobians: all partial derivatives, in blocks.
//!
//! The function is linearised once, however many columns or rows there are: `f.nonlin` runs once,
//! and `f.lin` or `f.linT` is applied to every unit vector. For `f(x: [n]f64) -> [m]f64`:
//!
//! ```text
//! core def f.jacobian_forward(n: i64, x: [n]f64) -> ([m][n]f64) = {         // a column per input
//!   (y, tape) = f.nonlin(n, x)
//!   dy = acc dy: [m][n]f64 { scan par (i < n) {
//!     e = acc e: [n]f64 { e[i] += 1.0 }
//!     col = f.lin.erased(n, tape, e)
//!     scan par (j < m) slice (c <- col) { dy[j, i] += c } } }
//!   dy
//! }
//! core def f.jacobian_reverse(n: i64, x: [n]f64) -> ([m][n]f64) = {         // a row per output
//!   (y, tape) = f.nonlin(n, x)
//!   dx = acc dx: [m][n]f64 { scan par (j < m) slice (; ; row <- dx) {
//!     e = acc e: [m]f64 { e[j] += 1.0 }
//!     f.linT.erased(n, tape, e; ; row) } }
//!   dx
//! }
//! ```
//!
//! The transposed half adds straight into the rows of the result.

use super::composer::{Active, Composer, in_order, product, sums};
use super::entries::{entries, few_blocks, is_numbers};
use super::{Asked, Composition, Observer, Outcome, Passes, Request, as_j_passes, definition};
use crate::{Derivatives, Mask, Policy};
use jut_ir::prim;
use jut_ir::*;

/// How a Jacobian is computed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum JacobianMode {
    /// Column by column: one application of the linear half per number in the parameters.
    Forward,
    /// Row by row: one application of the transposed half per number in the results.
    Reverse,
    /// Forward if there are no more numbers in the parameters than in the results, else in
    /// reverse. Decided when the composition is made if the difference of the two counts is known
    /// then (literal sizes, or as many results as parameters), else by a branch at run time,
    /// after `f.nonlin` has computed the sizes of the results.
    #[default]
    Auto,
}

/// `f.jacobian: (A) -> (blocks)`: for each result with floats, for each parameter in the mask, an
/// array of all partial derivatives: the dimensions of the result, then those of the parameter
/// (`d y[j] / d x[i]` is `block[j, i]`). Of records, tuples and arrays of these a block has the shape of the result's tangent,
/// with a tangent of the parameter in the place of each number. Sizes of results that `f` computes come first.
///
/// Costs one run of `f.nonlin`, and one of `f.lin` per number in the parameters or of `f.linT` per
/// number in the results, each with a unit vector made for it. Fails where `f` fails.
///
/// # Errors
/// `J803` for accumulators among the parameters, `J804` if no parameter is named, `J805` for
/// too many blocks, and what the passes report.
pub fn jacobian(
    derivatives: &mut Derivatives,
    func: FuncId,
    wrt: &Mask,
    mode: JacobianMode,
    policy: Policy,
) -> Result<FuncId, Diagnostic> {
    definition(derivatives, Request::Jacobian(mode), func, wrt, None, policy)
}

/// `f.value_jacobian: (A) -> (B, blocks)`: the results of `f`, then the blocks of [`jacobian`], at
/// no further cost.
///
/// # Errors
/// As [`jacobian`].
pub fn value_and_jacobian(
    derivatives: &mut Derivatives,
    func: FuncId,
    wrt: &Mask,
    mode: JacobianMode,
    policy: Policy,
) -> Result<FuncId, Diagnostic> {
    definition(derivatives, Request::ValueAndJacobian(mode), func, wrt, None, policy)
}

/// Either of them.
pub(super) fn make(
    derivatives: &mut Derivatives,
    asked: &Asked,
    observer: Observer,
) -> Result<Composition, Diagnostic> {
    let Asked { request, func, ref wrt, policy, .. } = *asked;
    let (mode, all) = match request {
        Request::ValueAndJacobian(mode) => (mode, true),
        Request::Jacobian(mode) => (mode, false),
        _ => return Err(crate::internal(Span::NONE, "this is not a Jacobian")),
    };
    let passes = Passes::apply(derivatives, func, wrt, policy, observer)?;
    // Only those halves are made that are called.
    let columns =
        (mode != JacobianMode::Reverse).then(|| passes.forward(derivatives)).transpose()?;
    let rows = (mode != JacobianMode::Forward)
        .then(|| passes.pullback(derivatives, observer))
        .transpose()?;
    let Passes { f, wrt, halves, active } = passes;

    let mut c = Composer::new(derivatives, f)?;
    let inputs = c.active(&wrt)?;
    let declared = c.result_tangents()?;
    few_blocks(&c, declared.iter().map(|(_, ty)| ty), inputs.iter().map(|a| &a.ty))?;
    let args = c.inputs.clone();
    let results = c.call(halves.nonlin, args.clone(), Vec::new());
    let values = results[..active.len().min(results.len())].to_vec();
    let saved = c.saved_args(&halves, &args, &results);
    let mut outputs = Vec::new();
    for (v, active) in values.iter().zip(&active) {
        outputs.extend(c.tangent_of_value(*v)?.map(|ty| Output { ty, active: *active }));
    }
    let map = LinearMap { inputs, outputs, saved };

    let blocks = match (columns, rows) {
        (Some(columns), Some(rows)) => {
            // More parameters than results if this is positive.
            let excess = map.inputs.iter().fold(Size::default(), |n, a| n + entries(&a.ty));
            let excess = map.outputs.iter().fold(excess, |n, o| n - entries(&o.ty));
            match excess.as_constant() {
                Some(n) if n <= 0 => map.by_columns(&mut c, columns)?,
                Some(_) => map.by_rows(&mut c, rows)?,
                None => {
                    let excess = c.size(&excess);
                    let few = c.b.nvar("few", Type::Bool, c.loc.span);
                    let zero = Atom::Lit(Literal::I64(0));
                    c.push(vec![few], Rhs::Prim(prim::ILE, vec![excess, zero]));
                    let forward = c.block(|c| map.by_columns(c, columns))?;
                    let reverse = c.block(|c| map.by_rows(c, rows))?;
                    let arms = vec![Arm::of_bool(true, forward), Arm::of_bool(false, reverse)];
                    let bound = map.block_types();
                    let bound: Vec<NVar> =
                        bound.into_iter().map(|ty| c.b.nvar("g", ty, c.loc.span)).collect();
                    let case = Case { scrutinee: Atom::Var(few), arms };
                    c.push(bound.clone(), Rhs::Case(Box::new(case)));
                    bound.into_iter().map(Atom::Var).collect()
                }
            }
        }
        (Some(columns), None) => map.by_columns(&mut c, columns)?,
        (None, Some(rows)) => map.by_rows(&mut c, rows)?,
        (None, None) => Vec::new(),
    };

    let kept: Vec<bool> = (0..values.len()).map(|k| all || c.is_size_of_tangent(k)).collect();
    c.declare_values(&kept);
    let kept = values.iter().zip(&kept).filter(|(_, keep)| **keep);
    let mut nl: Vec<Atom> = kept.map(|(v, _)| Atom::Var(*v)).collect();
    nl.extend(blocks);
    for (of, output) in &declared {
        c.declare(map.inputs.iter().map(|input| {
            (Outcome::Partial { of: *of, by: input.position }, product(output, &input.ty))
        }));
    }
    let name = wrt.name(&c.derivatives.program, f);
    let doc = format!("All partial derivatives of `{name}`.");
    Ok(c.finish(asked.name(&name), doc, nl))
}

/// A result of the function that is differentiated.
struct Output {
    /// Its tangent type, after the call of the function.
    ty: Type,
    /// Whether it depends on the parameters.
    active: bool,
}

/// The derivative at a point, to be written out as a matrix of blocks.
struct LinearMap {
    inputs: Vec<Active>,
    outputs: Vec<Output>,
    /// What either half takes first.
    saved: Vec<Atom>,
}

impl LinearMap {
    /// The types of all blocks: result by result, parameter by parameter.
    fn block_types(&self) -> Vec<Type> {
        let row = |o: &Output| {
            let block = |a: &Active| product(&o.ty, &a.ty);
            self.inputs.iter().map(block).collect::<Vec<_>>()
        };
        self.outputs.iter().flat_map(row).collect()
    }

    /// All blocks, by applying the linear half to each unit vector.
    fn by_columns(&self, c: &mut Composer, half: FuncId) -> Result<Vec<Atom>, Diagnostic> {
        let live: Vec<&Output> = self.outputs.iter().filter(|o| o.active).collect();
        let all = live.iter().map(|o| &o.ty).chain(self.inputs.iter().map(|a| &a.ty));
        if !all.into_iter().all(is_numbers) {
            return self.by_columns_of_parts(c, half);
        }
        let heights: Vec<Vec<Atom>> = live.iter().map(|o| c.dims(&o.ty)).collect();
        let zeros = zeros(c, self.inputs.iter().map(|a| &a.ty), self.inputs.len());
        // By parameter, then by live result.
        let mut columns = Vec::new();
        for (k, input) in self.inputs.iter().enumerate() {
            if live.is_empty() {
                continue;
            }
            let dims = c.dims(&input.ty);
            // A matrix is added up column by column; what has one row, or one column, is stacked.
            let is_matrix = |height: &[Atom]| !height.is_empty() && !dims.is_empty();
            let matrices = live.iter().zip(&heights).filter(|(_, h)| is_matrix(h));
            let sums = matrices.map(|(o, _)| ("dy".to_string(), product(&o.ty, &input.ty)));
            let (stacked, totals) = c.accumulate(sums.collect(), |c, caps| {
                c.nest(&dims, &[], &mut |c, indices, _| {
                    let mut tangents = zeros.clone();
                    tangents[k] = c.unit(&input.ty, indices)?;
                    let mut args = self.saved.clone();
                    args.extend(as_j_passes(&self.inputs, &tangents));
                    let made = c.call(half, args, Vec::new());
                    let mut caps = caps.iter();
                    let mut stacked = Vec::new();
                    for (column, height) in made.into_iter().zip(&heights) {
                        match caps.as_slice().first().filter(|_| is_matrix(height)) {
                            Some(cap) => {
                                caps.next();
                                c.add_column(*cap, height, Atom::Var(column), indices)?;
                            }
                            None => stacked.push(Atom::Var(column)),
                        }
                    }
                    Ok(stacked)
                })
            })?;
            let (mut stacked, mut totals) = (stacked.into_iter(), totals.into_iter());
            let next = |h: &Vec<Atom>| if is_matrix(h) { totals.next() } else { stacked.next() };
            columns.push(heights.iter().map(next).collect::<Vec<Option<Atom>>>());
        }
        let mut blocks = Vec::new();
        let mut row = 0..;
        for output in &self.outputs {
            let row = if output.active { row.next() } else { None };
            for (k, input) in self.inputs.iter().enumerate() {
                let made = row.and_then(|row: usize| *columns.get(k)?.get(row)?);
                blocks.push(made.unwrap_or_else(|| c.zero(product(&output.ty, &input.ty))));
            }
        }
        Ok(blocks)
    }

    /// The same where parameters or results have components: the columns are collected, and turned round.
    fn by_columns_of_parts(&self, c: &mut Composer, half: FuncId) -> Result<Vec<Atom>, Diagnostic> {
        let zeros = zeros(c, self.inputs.iter().map(|a| &a.ty), self.inputs.len());
        // By parameter, then by live result: in the shape of the parameter.
        let mut columns = Vec::new();
        for (k, input) in self.inputs.iter().enumerate() {
            columns.push(match self.outputs.iter().any(|o| o.active) {
                false => Vec::new(),
                true => c.over_entries(&input.ty, &mut Vec::new(), &mut |c, path| {
                    let mut tangents = zeros.clone();
                    tangents[k] = c.unit_at(&input.ty, path)?;
                    let mut args = self.saved.clone();
                    args.extend(as_j_passes(&self.inputs, &tangents));
                    Ok(c.call(half, args, Vec::new()).into_iter().map(Atom::Var).collect())
                })?,
            });
        }
        let mut blocks = Vec::new();
        let mut row = 0..;
        for output in &self.outputs {
            let row = if output.active { row.next() } else { None };
            for (input, columns) in self.inputs.iter().zip(&columns) {
                let Some(made) = row.and_then(|row: usize| columns.get(row).copied()) else {
                    blocks.push(c.zero(product(&output.ty, &input.ty)));
                    continue;
                };
                blocks.extend(c.over_entries(&output.ty, &mut Vec::new(), &mut |c, first| {
                    c.over_entries(&input.ty, &mut Vec::new(), &mut |c, last| {
                        let column = c.part_at(made, last);
                        Ok(vec![c.part_at(column, first)])
                    })
                })?);
            }
        }
        Ok(blocks)
    }

    /// All blocks, by applying the transposed half to each unit vector.
    fn by_rows(&self, c: &mut Composer, half: FuncId) -> Result<Vec<Atom>, Diagnostic> {
        let live: Vec<&Output> = self.outputs.iter().filter(|o| o.active).collect();
        let zeros = zeros(c, live.iter().map(|o| &o.ty), live.len());
        let mut blocks = Vec::new();
        let mut position = 0;
        for output in &self.outputs {
            if !output.active {
                let types = self.inputs.iter().map(|a| product(&output.ty, &a.ty));
                blocks.extend(types.map(|ty| c.zero(ty)).collect::<Vec<_>>());
                continue;
            }
            if !is_numbers(&output.ty) {
                blocks.extend(c.over_entries(&output.ty, &mut Vec::new(), &mut |c, path| {
                    let mut args = self.saved.clone();
                    let start = args.len();
                    args.extend(&zeros);
                    args[start + position] = c.unit_at(&output.ty, path)?;
                    c.pull_back(half, args, &self.inputs)
                })?);
                position += 1;
                continue;
            }
            let dims = c.dims(&output.ty);
            let sums = sums(&self.inputs, Some(&output.ty));
            let (stacked, totals) = c.accumulate(sums, |c, caps| {
                c.nest(&dims, caps, &mut |c, indices, rows| {
                    let mut args = self.saved.clone();
                    let start = args.len();
                    args.extend(&zeros);
                    args[start + position] = c.unit(&output.ty, indices)?;
                    let rows = rows.iter().map(|row| Some(Place::root(*row))).collect();
                    Ok(c.call(half, args, rows).into_iter().map(Atom::Var).collect())
                })
            })?;
            blocks.extend(in_order(&self.inputs, stacked, totals));
            position += 1;
        }
        Ok(blocks)
    }
}

/// A zero for each type, to stand beside a unit vector; if there is one type alone it is never
/// used, and nothing is made.
pub(super) fn zeros<'t>(
    c: &mut Composer,
    types: impl IntoIterator<Item = &'t Type>,
    count: usize,
) -> Vec<Atom> {
    let zero = |ty: &Type| match count {
        1 => Atom::Lit(ty.number(0.0)),
        _ => c.zero(ty.clone()),
    };
    types.into_iter().map(zero).collect()
}
