//! The tape layout: in which types the values lie that the plan stores.
//!
//! | level | tape |
//! |---|---|
//! | body | a record `f.tape(sizes.., values..)`, returned by `f.nonlin`, opened first by `f.lin` |
//! | loop | each value stacked: `[n]t`; values whose size depends on the iteration: a record per iteration |
//! | arms | a sum `f.tapeN` with one constructor per arm; if no arm stores anything, nothing |
//! | accumulator | more results of the region |
//! | call | the tape of the callee |
//!
//! # Records
//!
//! Data types are closed, so every size in the type of a field is a field before it. When a record
//! is opened, a size that the residual knows is stated to be equal (`=n`), so that what comes off
//! the tape has literally the type it had when it went on. A size that the residual computes only
//! after the opening is bound under another name, and casts join the two.
//!
//! # Stacks
//!
//! A loop may run over a negative bound, but an array has no negative size: where nothing else
//! says that the bound n is not negative, the stacking loop runs to `max(n, 0)` (or, if it takes
//! slices, stands behind a `check n >= 0`, which then holds); and where only
//! what happens inside the loop says that an element's size s is not negative, the element is
//! stacked with the size `max(s, 0)`.
//!
//! Nothing is decided here about what is stored. *Requires*: the fates of the values of a level.
//! *Ensures*: types without free sizes; what is opened or unstacked has the types that it had.
//! *Cost*: linear in the text of the types.

use super::plan::{Carried, Fate, How, Planner, size_names};
use super::record::{Opening, Record, value_stmt};
use jut_ir::entity::EntityRef;
use jut_ir::*;
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

impl Planner<'_, '_> {
    /// A record for some of the stored values of the innermost level, whose number is `level`.
    pub fn record(&mut self, level: usize, stored: &[NVar], head: u32, opens: Opening) -> Record {
        let depth = self.depth();
        let mut order = Vec::new();
        let mut positions: HashMap<NVar, usize> = HashMap::new();
        for w in stored {
            for name in size_names(&self.type_of(*w)) {
                if let Entry::Vacant(entry) = positions.entry(name) {
                    entry.insert(order.len());
                    order.push(name);
                    self.is_read_like(name, *w);
                }
            }
        }
        let sizes = order.len();
        order.extend(stored.iter().copied().filter(|w| !positions.contains_key(w)));

        let mut record = Record { sizes, ..Record::default() };
        let mut names = HashSet::new();
        // Sizes that the residual binds under another name, with their definition's position.
        let mut renamed: HashMap<NVar, (NVar, usize)> = HashMap::new();
        for (k, v) in order.into_iter().enumerate() {
            let VarData { name, span, .. } = self.func.nvars[v].clone();
            let ty = self.type_of(v);
            let mut field = name.clone();
            let mut number = 0;
            while !names.insert(field.clone()) {
                number += 1;
                field = format!("{name}_{number}").into();
            }
            let field_ty = ty.subst(&mut |n| positions.get(&n).map(|k| Size::var(NVar::new(*k))));
            record.fields.push(Field { name: field, ty: field_ty });
            record.values.push(v);
            let (site, fate) = (self.plan.sites[v], self.plan.fates[v]);
            let known = site.level != depth
                || matches!(site.how, How::Index | How::Slice { .. } | How::Result)
                || (fate == Fate::Before && opens == Opening::AfterHead);
            let pattern = if k < sizes && known {
                if site.level != depth {
                    self.need_for(v, head);
                }
                FieldPattern::Eq(Atom::Var(v))
            } else if k < sizes && matches!(fate, Fate::Before | Fate::After) {
                let other = self.fresh(&name, Type::I64, span);
                let after = &self.plan.levels[level].after_positions;
                renamed.insert(v, (other, after.get(&v).copied().unwrap_or(0)));
                FieldPattern::Bind(other)
            } else {
                let mut position = None;
                let other = ty.subst(&mut |n| {
                    let (other, at) = renamed.get(&n)?;
                    position = position.max(Some(*at));
                    Some(Size::var(*other))
                });
                match position {
                    None => FieldPattern::Bind(v),
                    Some(position) => {
                        let value = self.fresh(&name, other, span);
                        let loc = Loc::made(span, Origin::Unzip);
                        let cast = Rhs::Cast { value, ty, proved: true };
                        record.casts.push((position, value_stmt(v, cast, loc)));
                        FieldPattern::Bind(value)
                    }
                }
            };
            record.pattern.push(pattern);
        }
        record
    }

    /// A stack is made even if the loop makes no iteration, but then nothing says that the sizes
    /// of its elements are not negative. So an element goes on the stack with sizes `max(s, 0)`,
    /// which in the loop are s: `w1 = proved cast w` in E, and back in the residual. Gives w1, or
    /// w itself if its sizes are plainly not negative outside.
    pub fn widened(
        &mut self,
        level: usize,
        w: NVar,
        widths: &mut Vec<(Size, NVar)>,
        head: u32,
        loc: Loc,
    ) -> NVar {
        let ty = self.type_of(w);
        let wide = self.wide_type(&ty, widths, loc);
        if wide == ty {
            return w;
        }
        let hint = self.func.nvars[w].name.clone();
        let element = self.fresh(&hint, wide.clone(), loc.span);
        self.plan.carried.insert(element, Carried::Value(w));
        self.is_read_like(element, w);
        let cast = Rhs::Cast { value: w, ty: wide, proved: true };
        let (in_values, in_residual) = &mut self.plan.levels[level].widened;
        in_values.push(value_stmt(element, cast, loc));
        let back = Rhs::Cast { value: element, ty: ty.clone(), proved: true };
        in_residual.push(value_stmt(w, back, loc));
        self.need_sizes(&ty, head);
        element
    }

    fn wide_type(&mut self, ty: &Type, widths: &mut Vec<(Size, NVar)>, loc: Loc) -> Type {
        match ty {
            Type::Array(size, element) => {
                let element = self.wide_type(element, widths, loc);
                if self.facts.is_plainly_non_negative(size) {
                    return Type::array(size.clone(), element);
                }
                let width = match widths.iter().find(|(known, _)| known == size) {
                    Some((_, width)) => *width,
                    None => {
                        let width = self.fresh("n", Type::I64, loc.span);
                        widths.push((size.clone(), width));
                        width
                    }
                };
                Type::array(Size::var(width), element)
            }
            Type::Tuple(items) => {
                Type::Tuple(items.iter().map(|t| self.wide_type(t, widths, loc)).collect())
            }
            Type::Float(_) | Type::I64 | Type::I32 | Type::Bool | Type::Data(_) => ty.clone(),
        }
    }

    /// `width = max(size, 0)`, the size computed first.
    pub fn define_width(&mut self, width: NVar, size: &Size, loc: Loc, prelude: &mut Vec<Stmt>) {
        let value = match size.as_var() {
            Some(v) => v,
            None => {
                let mut stmts = Vec::new();
                let loc = loc.by(Origin::Unzip);
                let v = sizes::compute(self.func, &mut self.plan.namer, size, loc, &mut stmts);
                stmts.into_iter().for_each(|stmt| self.first(stmt, prelude));
                v
            }
        };
        let max = vec![Atom::Var(value), Atom::Lit(Literal::I64(0))];
        self.first(value_stmt(width, Rhs::Prim(prim::IMAX, max), loc), prelude);
    }
}
