//! Loops in U: what is stored in each iteration is stacked, iteration by iteration or in records,
//! with bounds and sizes that are not negative even if the loop makes no iteration.

use super::plan::{How, LevelKind, size_names};
use super::record::{Opening, merge, open_stmt};
use super::walk::{Shell, first};
use super::{Unzipper, value_stmt};
use crate::linearity::StmtInfo;
use jut_ir::*;
use std::collections::{HashMap, HashSet};

impl Unzipper<'_> {
    /// `(a.., y.., w_s..) = scan .. { E; (a1.., y.., w..) }` and `scan .. slice (w <- w_s) { residual }`.
    pub(super) fn scan(
        &mut self,
        shell: Shell,
        scan: Scan,
        info: StmtInfo,
        out: &mut Vec<Stmt>,
    ) -> Result<(), Diagnostic> {
        let Shell { mut nl, lin, annotated, loc } = shell;
        let (own, head) = (self.tick(), self.tick());
        self.enter(LevelKind::Loop);
        let level = self.depth();
        self.bind(scan.index, level, How::Index);
        // Not the bound: a stack that this loop makes inside another one is made even if that one
        // runs zero times.
        self.facts.add_non_negative(Size::var(scan.index));
        for (v, _) in &scan.carry {
            self.bind(*v, level, How::Given);
            self.learn_dimensions(*v);
        }
        for (v, _) in &scan.slices {
            self.bind(*v, level, How::Slice);
        }
        let halves = self.block(scan.body, first(info))?;
        let mut plan = self.plan(head);

        // Values whose size depends on the iteration share a record per iteration.
        self.forget();
        let mut ragged = Vec::new();
        let mut in_record = HashSet::new();
        for w in &plan.stored {
            let sizes = size_names(&self.type_of(*w));
            if sizes.iter().any(|n| self.sites[*n].level == level) {
                ragged.push(*w);
                in_record.insert(*w);
                in_record.extend(sizes);
            }
        }
        let mut stacked: Vec<NVar> =
            plan.stored.iter().copied().filter(|w| !in_record.contains(w)).collect();
        let mut widths = HashMap::new();
        let mut residual = Vec::new();
        for w in &mut stacked {
            *w = self.widened(*w, &mut widths, head, loc, &mut residual);
        }
        residual.append(&mut plan.before);
        if ragged.is_empty() {
            residual.append(&mut plan.after);
        } else {
            self.tapes += 1;
            let name = names::inner_tape(&self.base, self.tapes);
            let record = self.record(&plan, &ragged, head, Opening::AfterHead);
            let constructor = Constructor { name: name.clone(), fields: record.fields };
            let data = self.declare(name, vec![constructor]);
            let con = ConRef { data, index: 0 };
            let var = self.fresh("k", Type::Data(data), loc.span);
            self.push(value_stmt(var, Rhs::Con(con, record.values), loc));
            residual.push(open_stmt(con, var, &record.pattern, loc));
            residual.extend(merge(std::mem::take(&mut plan.after), record.casts));
            stacked.push(var);
        }
        residual.extend(halves.residual.stmts);
        let stmts = self.leave().stmts;
        let mut widths: Vec<(Size, NVar)> = widths.into_iter().collect();
        widths.sort_by_key(|(_, width)| *width);
        for (size, width) in widths {
            self.define_width(width, &size, loc);
        }

        let mut values = halves.values;
        let mut bound = scan.bound;
        let own_stacks = values.len() > scan.carry.len();
        let count = self.size_of(bound);
        if !stacked.is_empty() && !own_stacks && !self.facts.is_plainly_non_negative(&count) {
            let sliced = !(scan.slices.is_empty()
                && scan.lin_slices.is_empty()
                && scan.cap_slices.is_empty());
            if sliced {
                // What is sliced has that many elements: the check holds, and says so.
                let check = Rhs::Check(Check::NonNegative(bound));
                let (nl, lin) = (Vec::new(), Vec::new());
                self.push(Stmt { nl, lin, rhs: check, annotated: false, loc });
                self.facts.add_non_negative(count);
            } else {
                bound = self.at_least_zero(bound, loc);
            }
        }
        let mut slices: Vec<(NVar, NVar)> = scan.slices.clone();
        slices.retain(|(element, _)| plan.slices.contains(element));
        for w in stacked {
            let name = stacked_name(&self.func.nvars[w].name);
            let ty = Type::array(self.size_of(bound), self.type_of(w));
            let array = self.fresh(&name, ty, loc.span);
            values.push(Atom::Var(w));
            nl.push(array);
            slices.push((w, array));
        }
        let (acc_slices, cap_slices): (Vec<_>, Vec<_>) = scan
            .cap_slices
            .into_iter()
            .partition(|(_, place)| self.func.caps[place.root].mode == Mode::Acc);
        if !nl.is_empty() || !stmts.is_empty() {
            let rhs = Rhs::Scan(Box::new(Scan {
                dir: scan.dir,
                index: scan.index,
                bound,
                carry: scan.carry,
                lin_carry: Vec::new(),
                slices: scan.slices,
                lin_slices: Vec::new(),
                cap_slices: acc_slices,
                body: Block { stmts, nl: values, lin: Vec::new() },
            }));
            self.push(Stmt { nl, lin: Vec::new(), rhs, annotated, loc });
        }
        if residual.is_empty() && lin.is_empty() {
            return Ok(());
        }
        let rhs = Rhs::Scan(Box::new(Scan {
            dir: scan.dir,
            index: scan.index,
            bound,
            carry: Vec::new(),
            lin_carry: scan.lin_carry,
            slices,
            lin_slices: scan.lin_slices,
            cap_slices,
            body: Block { stmts: residual, nl: Vec::new(), lin: halves.residual.lin },
        }));
        self.need_operands(&rhs, own);
        self.emit(lin, rhs, loc, out);
        Ok(())
    }

    /// A stack is made even if the loop makes no iteration, but then nothing says that the sizes
    /// of its elements are not negative. So an element goes on the stack with sizes `max(s, 0)`,
    /// which in the loop are s: `w1 = proved cast w` in E, and back in the residual. Gives w1, or
    /// w itself if its sizes are plainly not negative outside.
    fn widened(
        &mut self,
        w: NVar,
        widths: &mut HashMap<Size, NVar>,
        head: u32,
        loc: Loc,
        residual: &mut Vec<Stmt>,
    ) -> NVar {
        let ty = self.type_of(w);
        let wide = self.wide_type(&ty, widths, loc);
        if wide == ty {
            return w;
        }
        let hint = self.func.nvars[w].name.clone();
        let element = self.fresh(&hint, wide.clone(), loc.span);
        let cast = Rhs::Cast { value: w, ty: wide, proved: true };
        self.push(value_stmt(element, cast, loc));
        self.need_sizes(&ty, head);
        let back = Rhs::Cast { value: element, ty, proved: true };
        residual.push(value_stmt(w, back, loc));
        element
    }

    fn wide_type(&mut self, ty: &Type, widths: &mut HashMap<Size, NVar>, loc: Loc) -> Type {
        match ty {
            Type::Array(size, element) => {
                let element = self.wide_type(element, widths, loc);
                if self.facts.is_plainly_non_negative(size) {
                    return Type::array(size.clone(), element);
                }
                let width = match widths.get(size) {
                    Some(width) => *width,
                    None => {
                        let width = self.fresh("n", Type::I64, loc.span);
                        widths.insert(size.clone(), width);
                        width
                    }
                };
                Type::array(Size::var(width), element)
            }
            Type::Tuple(items) => {
                Type::Tuple(items.iter().map(|t| self.wide_type(t, widths, loc)).collect())
            }
            Type::Float(_) | Type::I64 | Type::Bool | Type::Data(_) => ty.clone(),
        }
    }

    /// `width = max(size, 0)`, the size computed first.
    fn define_width(&mut self, width: NVar, size: &Size, loc: Loc) {
        let value = match size.as_var() {
            Some(v) => v,
            None => {
                let mut stmts = Vec::new();
                let loc = loc.by(Origin::Unzip);
                let v = sizes::compute(&mut self.func, &mut self.namer, size, loc, &mut stmts);
                stmts.into_iter().for_each(|stmt| self.push(stmt));
                v
            }
        };
        let zero = Atom::Lit(Literal::I64(0));
        let max = Rhs::Prim(prim::IMAX, vec![Atom::Var(value), zero]);
        self.push(value_stmt(width, max, loc));
    }

    /// `n1 = max(n, 0)`.
    fn at_least_zero(&mut self, bound: Atom, loc: Loc) -> Atom {
        let hint = match bound {
            Atom::Var(v) => self.func.nvars[v].name.clone(),
            Atom::Lit(_) => "n".into(),
        };
        let var = self.fresh(&hint, Type::I64, loc.span);
        let zero = Atom::Lit(Literal::I64(0));
        self.push(value_stmt(var, Rhs::Prim(prim::IMAX, vec![bound, zero]), loc));
        Atom::Var(var)
    }
}

/// The name of the stack of `w`: `w_s`, but in deep nests names do not grow for ever.
fn stacked_name(name: &str) -> String {
    if name.ends_with("_s_s_s_s") { name.to_string() } else { format!("{name}_s") }
}
