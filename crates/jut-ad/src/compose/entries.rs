//! Derivatives over the numbers of a value of any tangent type: tuples, arrays of tuples, and what these are made of.
//!
//! A block of partial derivatives of a value of type O by one of type T is O with a T in the place of each of its numbers
//! ([`super::composer::product`]): for `f(p: #(f64, [n]f64)) -> f64` the Hessian is
//!
//! ```text
//! core def f.hessian(n: i64, p: #(f64, [n]f64)) -> (#(#(f64, [n]f64), [n]#(f64, [n]f64))) = {
//!   e = acc e: #(f64, [n]f64) { e.0 += 1.0 }
//!   .. row = f.dir{p}.linT.erased(..) ..
//!   rows = scan par (i < n) { e = acc e: #(f64, [n]f64) { e.1[i] += 1.0 }; ..; row }
//!   #(row, rows)
//! }
//! ```

use super::composer::Composer;
use jut_ir::*;

type Made = Result<Vec<Atom>, Diagnostic>;

/// How many blocks of numbers a Jacobian or Hessian may have: their text is as long.
const MAX_BLOCKS: usize = 1 << 14;

/// Whether a tangent type is a number or an array of numbers.
pub(super) fn is_numbers(mut ty: &Type) -> bool {
    while let Type::Array(_, element) = ty {
        ty = element;
    }
    ty.is_float()
}

/// How many numbers and arrays of numbers a value of a tangent type is made of.
fn parts(ty: &Type) -> usize {
    match ty {
        Type::Array(_, element) => parts(element),
        Type::Tuple(items) => items.iter().map(parts).fold(0, usize::saturating_add),
        _ => 1,
    }
}

/// How many numbers there are in a value of a tangent type.
pub(super) fn entries(ty: &Type) -> Size {
    match ty {
        Type::Array(size, element) => size.clone() * entries(element),
        Type::Tuple(items) => items.iter().fold(Size::default(), |n, t| n + entries(t)),
        _ => Size::constant(1),
    }
}

/// Whether a tangent type has the shape of its value, as trees do: then it has no place for others in its numbers.
fn has_a_shape(ty: &Type) -> bool {
    let mut found = false;
    ty.for_each_data(&mut |_| found = true);
    found
}

/// Refuses what would be too many blocks of numbers, and what has none.
pub(super) fn few_blocks<'t>(
    c: &Composer,
    of: impl IntoIterator<Item = &'t Type>,
    by: impl IntoIterator<Item = &'t Type>,
) -> Result<(), Diagnostic> {
    let (of, by): (Vec<&Type>, Vec<&Type>) = (of.into_iter().collect(), by.into_iter().collect());
    if of.iter().chain(&by).any(|ty| has_a_shape(ty)) {
        let message = format!(
            "all partial derivatives of `{}` at once have no place for values whose tangents have their shape: recursive \
             data, and records that measure their own arrays",
            c.source().name
        );
        let help = "name other parameters, or take products with them (jvp, vjp, hvp)";
        return Err(Diagnostic::error("J805", c.loc.span, message).help(help));
    }
    let count = |n: usize, ty: &&Type| n.saturating_add(parts(ty));
    let (of, by) = (of.iter().fold(0, count), by.iter().fold(0, count));
    let blocks = of.saturating_mul(by);
    if blocks <= MAX_BLOCKS {
        return Ok(());
    }
    let message = format!(
        "all partial derivatives of `{}` at once would be {blocks} arrays, those of {of} parts by {by} parts, and \
         {MAX_BLOCKS} is the most",
        c.source().name
    );
    let help = "name fewer parameters, put numbers into arrays, or take products with them (jvp, vjp, hvp)";
    Err(Diagnostic::error("J805", c.loc.span, message).help(help))
}

impl Composer<'_> {
    /// What `make` makes for each number in a value of a type, where the number was: for each value of the list one
    /// of the type, with those values for numbers.
    pub fn over_entries<F>(&mut self, ty: &Type, path: &mut Vec<Step>, make: &mut F) -> Made
    where
        F: FnMut(&mut Self, &[Step]) -> Made,
    {
        let span = self.loc.span;
        match ty {
            Type::Array(size, element) => {
                let bound = self.dims(&Type::array(size.clone(), Type::F64));
                let Some(bound) = bound.first().copied() else { return make(self, path) };
                let index = self.b.nvar("i", Type::I64, span);
                path.push(Step::Index { index: Atom::Var(index), proved: false });
                let body = self.block(|c| c.over_entries(element, path, make))?;
                path.pop();
                let size = self.b.func.size_of(bound);
                let mut stacked = Vec::new();
                for entry in &body.nl {
                    let ty = Type::array(size.clone(), self.b.func.type_of(*entry));
                    stacked.push(self.b.nvar("s", ty, span));
                }
                let scan = Scan::new(Dir::Par, index, bound, body);
                self.push(stacked.clone(), Rhs::Scan(Box::new(scan)));
                Ok(stacked.into_iter().map(Atom::Var).collect())
            }
            Type::Tuple(items) => {
                let mut lists = Vec::new();
                for (k, item) in (0..).zip(items) {
                    path.push(Step::Field(k));
                    lists.push(self.over_entries(item, path, make)?);
                    path.pop();
                }
                let count = lists.first().map_or(0, Vec::len);
                let tuple = |c: &mut Self, j: usize| {
                    let parts: Vec<Atom> =
                        lists.iter().filter_map(|list| list.get(j).copied()).collect();
                    let ty = parts.iter().map(|part| c.b.func.type_of(*part)).collect();
                    let t = c.b.nvar("t", Type::Tuple(ty), span);
                    c.push(vec![t], Rhs::Tuple(parts));
                    Atom::Var(t)
                };
                Ok((0..count).map(|j| tuple(self, j)).collect())
            }
            _ => make(self, path),
        }
    }

    /// The value of a type that is one at a place, and zero elsewhere.
    pub fn unit_at(&mut self, ty: &Type, path: &[Step]) -> Result<Atom, Diagnostic> {
        let mut part = ty;
        for step in path {
            part = match (step, part) {
                (Step::Index { .. }, Type::Array(_, element)) => element,
                (Step::Field(k), Type::Tuple(items)) => items.get(*k as usize).unwrap_or(part),
                _ => part,
            };
        }
        let one = Atom::Lit(part.number(1.0));
        if path.is_empty() {
            return Ok(one);
        }
        let (_, totals) = self.accumulate(vec![("e".to_string(), ty.clone())], |c, caps| {
            for cap in caps {
                let place = Place { root: *cap, path: path.to_vec() };
                c.push(Vec::new(), Rhs::Inc(place, Operand::N(one)));
            }
            Ok(Vec::new())
        })?;
        Ok(totals.first().copied().unwrap_or(one))
    }

    /// The part of a value at a place.
    pub fn part_at(&mut self, value: Atom, path: &[Step]) -> Atom {
        path.iter().fold(value, |value, step| {
            let Atom::Var(v) = value else { return value };
            let ty = self.b.func.nvars[v].ty.clone();
            let (rhs, ty) = match (step, ty) {
                (Step::Field(k), Type::Tuple(items)) => match items.into_iter().nth(*k as usize) {
                    Some(item) => (Rhs::Proj(v, *k), item),
                    None => return value,
                },
                (step, Type::Array(_, element)) => (Rhs::Index(v, vec![*step]), *element),
                _ => return value,
            };
            let part = self.b.nvar("c", ty, self.loc.span);
            self.push(vec![part], rhs);
            Atom::Var(part)
        })
    }
}
