//! Sums by places of declared tangents, threaded through the code as values.
//!
//! An `acc` adds numbers, in cells. What a tangent of recursive data takes is known when it is added up alone, so
//! the sum of such is no cell but a value, which every addition replaces:
//!
//! ```text
//! (; z') = wr r: List.tan {            z = List.tan.none()
//!   scan par (i < n) {                 (z_1) = scan up (i < n) carry (r = z) {
//!     x' = f.linT(i; ..)          →      x = f.linT.erased(i, ..)
//!     r += x'                            r_1 = add.List.tan(r, x)
//!   }                                    (r_1)
//! }                                    }
//! ```
//!
//! So a loop that adds carries the sum, and its iterations are in order; a branch gives it as a result, and so does a
//! function, which takes it as a parameter. Of a sum that holds arrays and tuples the part at the place is replaced, in
//! place where nobody else has the array.

use super::operations::{self, Operation};
use super::{Eraser, has_data, type_at};
use jut_ir::*;
use std::collections::BTreeSet;

impl Eraser<'_> {
    /// The sum that a capability adds to, and the path from there, if it is a value.
    fn sum_of(&self, place: &Place) -> Option<(Cap, Vec<Step>)> {
        let (mut root, mut path) = (place.root, place.path.clone());
        while let Some(of) = &self.parts[root] {
            path.splice(0..0, of.path.iter().copied());
            root = of.root;
        }
        self.totals[root].map(|_| (root, path))
    }

    /// The sums that blocks add to and that are values, in order.
    pub(super) fn sums_in<'b>(&self, blocks: impl Iterator<Item = &'b Block>) -> Vec<Cap> {
        let mut places: Vec<&Place> = Vec::new();
        let mut work: Vec<&Block> = blocks.collect();
        while let Some(block) = work.pop() {
            for stmt in &block.stmts {
                match &stmt.rhs {
                    Rhs::Inc(place, Operand::L(_)) => places.push(place),
                    Rhs::Call(call) => places.extend(call.places.iter().flatten()),
                    Rhs::Scan(scan) => places.extend(scan.cap_slices.iter().map(|(_, p)| p)),
                    _ => {}
                }
                work.extend(stmt.rhs.blocks());
            }
        }
        let found: BTreeSet<Cap> =
            places.into_iter().filter_map(|place| Some(self.sum_of(place)?.0)).collect();
        found.into_iter().collect()
    }

    /// The values of sums now.
    pub(super) fn values_of(&self, sums: &[Cap]) -> Vec<Atom> {
        sums.iter().filter_map(|cap| self.totals[*cap]).map(Atom::Var).collect()
    }

    /// From here on sums have the given values.
    pub(super) fn sums_are(&mut self, sums: &[Cap], values: &[NVar]) {
        for (cap, v) in sums.iter().zip(values) {
            self.totals[*cap] = Some(*v);
        }
    }

    /// New variables for the values of sums.
    pub(super) fn sum_variables(&mut self, sums: &[Cap]) -> Vec<NVar> {
        let named = |this: &mut Self, cap: &Cap| {
            let CapData { name, ty, span, .. } = this.func.caps[*cap].clone();
            let name = this.namer.fresh(&name);
            this.func.nvars.push(VarData { name, ty, def: None, span })
        };
        sums.iter().map(|cap| named(self, cap)).collect()
    }

    /// `place += x`, if the sum is a value.
    pub(super) fn add_to_sum(
        &mut self,
        place: &Place,
        x: Atom,
        loc: Loc,
        out: &mut Vec<Stmt>,
    ) -> bool {
        let Some((root, path)) = self.sum_of(place) else { return false };
        let Some(total) = self.totals[root] else { return false };
        self.totals[root] = Some(self.replaced(total, &path, Change::Add(x), loc, out));
        true
    }

    /// The part of a sum at a place, to be given to a call; a zero for what the call is given already.
    pub(super) fn lent(
        &mut self,
        place: &Place,
        given: &mut BTreeSet<Cap>,
        loc: Loc,
        out: &mut Vec<Stmt>,
    ) -> Option<(Atom, Lent)> {
        let (root, path) = self.sum_of(place)?;
        let total = self.totals[root]?;
        let ty = type_at(&self.func, &self.func.nvars[total].ty, &path);
        if !given.insert(root) {
            let zero = self.zero(&ty, loc, out);
            return Some((Atom::Var(zero), Lent { root, path, again: true }));
        }
        let part = if path.is_empty() { total } else { self.read(total, &path, &ty, loc, out) };
        Some((Atom::Var(part), Lent { root, path, again: false }))
    }

    /// What a call has made of a part of a sum.
    pub(super) fn given_back(&mut self, lent: Lent, part: NVar, loc: Loc, out: &mut Vec<Stmt>) {
        let Some(total) = self.totals[lent.root] else { return };
        let part = Atom::Var(part);
        let change = if lent.again { Change::Add(part) } else { Change::Put(part) };
        self.totals[lent.root] = Some(self.replaced(total, &lent.path, change, loc, out));
    }

    /// A value with another part at a path.
    fn replaced(
        &mut self,
        value: NVar,
        path: &[Step],
        change: Change,
        loc: Loc,
        out: &mut Vec<Stmt>,
    ) -> NVar {
        let ty = self.func.nvars[value].ty.clone();
        let hint = self.func.nvars[value].name.clone();
        let rhs = match (path.first(), change) {
            (None, Change::Put(Atom::Var(part))) => return part,
            (None, Change::Put(part)) => Rhs::Atom(part),
            (None, Change::Add(x)) if ty == Type::F64 => {
                Rhs::Prim(Operation::Add.primitive(), vec![Atom::Var(value), x])
            }
            (None, Change::Add(x)) => {
                let func = operations::function(self.derivatives, Operation::Add, &ty);
                let mut args = Vec::new();
                ty.for_each_size(&mut |size| args.push(self.size_atom(size, loc, out)));
                args.extend([Atom::Var(value), x]);
                Rhs::Call(Box::new(Call { func, args, lin_args: vec![], places: vec![] }))
            }
            (Some(Step::Field(k)), change) => {
                let Type::Tuple(items) = &ty else { return value };
                let items = items.clone();
                let parts: Vec<NVar> =
                    items.iter().map(|ty| self.named_var(&hint, ty.clone(), loc)).collect();
                let rhs = Rhs::Untuple(value);
                let stmt = Stmt { nl: parts.clone(), lin: vec![], rhs, annotated: false, loc };
                out.push(stmt);
                let mut parts = parts;
                if let Some(part) = parts.get_mut(*k as usize) {
                    *part = self.replaced(*part, &path[1..], change, loc, out);
                }
                Rhs::Tuple(parts.into_iter().map(Atom::Var).collect())
            }
            (Some(_), change) => {
                let run = path.iter().take_while(|s| !matches!(s, Step::Field(_))).count();
                let (here, rest) = path.split_at(run);
                let part = match (rest, change) {
                    ([], Change::Put(part)) => part,
                    (rest, change) => {
                        let part = type_at(&self.func, &ty, here);
                        let old = self.read(value, here, &part, loc, out);
                        Atom::Var(self.replaced(old, rest, change, loc, out))
                    }
                };
                Rhs::Update { array: value, path: here.to_vec(), value: part }
            }
        };
        let v = self.named_var(&hint, ty, loc);
        out.push(Stmt { nl: vec![v], lin: vec![], rhs, annotated: false, loc });
        v
    }

    /// The call of what a callee has become, and the sums that it takes and gives back, with their types.
    pub(super) fn call(
        &mut self,
        call: Call,
        loc: Loc,
        out: &mut Vec<Stmt>,
    ) -> Result<(Rhs, Sums), Diagnostic> {
        let erased = self.derivatives.erased.get(&call.func).copied().unwrap_or(call.func);
        let callee = &self.derivatives.program.funcs[call.func];
        let modes: Vec<(Mode, Type)> = callee
            .cap_params
            .iter()
            .map(|c| (callee.caps[*c].mode, callee.caps[*c].ty.clone()))
            .collect();
        let mut args = call.args;
        args.extend(self.all(&call.lin_args)?);
        let (mut places, mut given) = (Vec::new(), BTreeSet::new());
        let (mut sums, mut lent) = (Vec::new(), Vec::new());
        for (place, (mode, ty)) in call.places.into_iter().zip(modes) {
            match (mode, place) {
                (Mode::Rd, Some(place)) => {
                    let (base, path) = self.resolve(&place)?;
                    let ty = type_at(&self.func, &self.func.nvars[base].ty, &path);
                    args.push(Atom::Var(self.read(base, &path, &ty, loc, out)));
                }
                // `null` stands for a scalar that is zero.
                (Mode::Rd, None) => args.push(Atom::Lit(ty.number(0.0))),
                (Mode::Wr, place) if has_data(&ty) => {
                    let part = place.and_then(|p| self.lent(&p, &mut given, loc, out));
                    let (value, part) = match part {
                        Some((value, part)) => (value, Some(part)),
                        None => (Atom::Var(self.zero(&ty, loc, out)), None),
                    };
                    let ty = value.var().map_or(ty, |v| self.func.nvars[v].ty.clone());
                    sums.push(value);
                    lent.push((ty, part));
                }
                (_, place) => places.push(place),
            }
        }
        args.extend(sums);
        let lin_args = Vec::new();
        Ok((Rhs::Call(Box::new(Call { func: erased, args, lin_args, places })), lent))
    }

    /// Whether a capability is of a sum that is a value.
    pub(super) fn is_sum(&self, cap: Cap) -> bool {
        let CapData { mode, ty, .. } = &self.func.caps[cap];
        *mode == Mode::Wr && has_data(ty)
    }
}

/// The sums that a call takes and gives back, with their types; `None` stands for one that nobody needs.
type Sums = Vec<(Type, Option<Lent>)>;

/// What happens to a part of a sum.
#[derive(Clone, Copy)]
enum Change {
    Add(Atom),
    Put(Atom),
}

/// A part of a sum that a call adds to.
pub(super) struct Lent {
    root: Cap,
    path: Vec<Step>,
    /// Whether the call has the sum under another name too: what it gives is added.
    again: bool,
}
