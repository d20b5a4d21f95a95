//! Declared tangent types, and J's rules for values that have one.
//!
//! ```text
//! y = Cons(x, l)                y = Cons(x, l);  y' = Cons.tan(x', l')
//! case l {                      case l {
//!   Nil -> ..                     Nil -> drop l'; ..
//!   Cons(x, r) -> ..              Cons(x, r) -> Cons.tan(x', r') = l'; ..
//! }                             }
//! ```
//!
//! They are declared when a value that needs one is first live: for all data types in its type at once, so that every
//! type has one tangent type from then on.

use super::emit::Writer;
use super::rules::Rules;
use crate::activity::{Activity, Kinds};
use crate::{Derivatives, Mask};
use jut_ir::tangent::Part;
use jut_ir::{
    Atom, ConRef, Data, DataId, Decl, FuncId, LVar, Literal, Loc, NVar, Rhs, Size, Type, VarData,
};
use std::collections::HashSet;

/// Declares the tangent types that live values of the planned derivatives need.
pub(super) fn declare(derivatives: &mut Derivatives, plan: &[(FuncId, Mask, Activity)]) {
    let (mut seen, mut wanted) = (HashSet::new(), Vec::new());
    for (func, mask, activity) in plan {
        let source = &derivatives.program.funcs[*func];
        let live = source.nvars.iter().filter(|(v, _)| activity.is_live(*v));
        let params = mask.positions().map(|k| &source.nvars[source.params[k]].ty);
        let caps = source.caps.iter().filter(|(c, _)| activity.is_live_cap(*c));
        let types = live.map(|(_, data)| &data.ty).chain(params).chain(caps.map(|(_, c)| &c.ty));
        types.for_each(|ty| {
            ty.for_each_data(&mut |data| wanted.extend(seen.insert(data).then_some(data)))
        });
    }
    declare_all(derivatives, seen, wanted);
}

/// Declares the tangent types that values of these types need, live or not.
pub(crate) fn declare_for<'t>(
    derivatives: &mut Derivatives,
    types: impl Iterator<Item = &'t Type>,
) {
    let (mut seen, mut wanted) = (HashSet::new(), Vec::new());
    types.for_each(|ty| {
        ty.for_each_data(&mut |data| wanted.extend(seen.insert(data).then_some(data)))
    });
    declare_all(derivatives, seen, wanted);
}

/// The same for data types, `wanted`, all of which have been `seen`, and for those of their fields.
fn declare_all(derivatives: &mut Derivatives, mut seen: HashSet<DataId>, mut wanted: Vec<DataId>) {
    let program = &mut derivatives.program;
    let mut declared = Vec::new();
    while let Some(data) = wanted.pop() {
        if program.is_tangent(data) || !Type::Data(data).has_float(program) {
            continue;
        }
        let fields = program.datas[data].constructors.iter().flat_map(|c| &c.fields);
        fields.for_each(|f| {
            f.ty.for_each_data(&mut |other| wanted.extend(seen.insert(other).then_some(other)));
        });
        if program.datas[data].tangent.is_none() && program.needs_tangent(data) {
            let span = program.datas[data].span;
            let tangent = program.datas.push(Data { span, ..Data::default() });
            program.datas[tangent].tangent = Some(tangent);
            program.datas[data].tangent = Some(tangent);
            declared.push((data, tangent));
        }
    }
    // All are known by now, so fields find the types of each other's tangents.
    for (data, tangent) in &declared {
        let mut made = derivatives.program.tangent_data(*data);
        derivatives.name_data(&mut made);
        let Data { name, constructors, .. } = made;
        let to = &mut derivatives.program.datas[*tangent];
        (to.name, to.constructors) = (name, constructors);
        derivatives.program.order.push(Decl::Data(*tangent));
    }
    if !declared.is_empty() {
        derivatives.kinds = Kinds::default();
        derivatives.kinds.extend(&derivatives.program);
    }
}

impl Writer<'_> {
    /// The declared type of the tangent of a variable, if that is one.
    pub fn declared(&self, v: NVar) -> Option<DataId> {
        match &self.source.nvars[v].ty {
            Type::Data(data) => self.program.datas[*data].tangent,
            _ => None,
        }
    }
}

impl Rules<'_> {
    /// JCon: `y = K(a, ..)`.
    pub fn construct_declared(&mut self, y: NVar, con: ConRef, args: &[Atom], loc: Loc) {
        let ty = self.w.tangent_type(y);
        let Some(tangent) = self.w.program.tangent_constructor(con) else {
            let zero = self.w.zero(ty, loc);
            return self.w.bind(y, zero, loc);
        };
        let (mut sizes, mut fields) = (Vec::new(), Vec::new());
        for (part, a) in self.w.program.tangent_parts(con).into_iter().zip(args) {
            match part {
                Part::Absent => {}
                Part::Size => sizes.push(*a),
                Part::Tangent => {
                    let ty = self.w.tangent_of_part(&self.w.source.type_of(*a), loc);
                    fields.push(self.w.take_or_zero(*a, &ty, loc));
                }
            }
        }
        let out = self.w.tangent_var(y, ty, loc.span);
        self.w.emit_linear(out, Rhs::LCon { con: tangent, sizes, fields }, loc);
        self.w.bind(y, out, loc);
    }

    /// `K.tan(=n, a') = x'`, given for each field of K the variable that it is bound to, and for sizes what they are.
    /// Gives the tangents of these variables; nothing if K has no floats.
    pub fn open_declared(
        &mut self,
        con: ConRef,
        x: LVar,
        fields: &[(Option<NVar>, Option<Atom>)],
        loc: Loc,
    ) -> Vec<(NVar, LVar)> {
        let Some(tangent) = self.w.program.tangent_constructor(con) else { return Vec::new() };
        let declared = &self.w.program.constructor(tangent).fields;
        let mut declared = declared.iter();
        let (mut sizes, mut vars, mut parts) = (Vec::new(), Vec::new(), Vec::new());
        let mut forms: Vec<Size> = Vec::new();
        for (part, (v, size)) in self.w.program.tangent_parts(con).into_iter().zip(fields) {
            if part == Part::Absent {
                continue;
            }
            let Some(field) = declared.next() else { break };
            if part == Part::Size {
                let size = size.or(v.map(Atom::Var));
                let what = || "the size of a field".to_string();
                let size = self.w.known(size, what, loc.span, || Atom::Lit(Literal::I64(0)));
                forms.push(self.w.builder.func.size_of(size));
                sizes.push(size);
                continue;
            }
            let ty =
                field.ty.subst(&mut |v| forms.get(jut_ir::entity::EntityRef::index(v)).cloned());
            forms.push(Size::default());
            vars.push(match v {
                Some(v) => {
                    let part = self.w.part_var(*v, ty, loc.span);
                    parts.push((*v, part));
                    part
                }
                None => self.w.builder.lvar("absent", ty, loc.span),
            });
        }
        self.w.emit(vec![], vars, Rhs::LOpen { con: tangent, sizes, value: x }, loc);
        parts
    }

    /// `y = x.k` of a record.
    pub fn project_declared(&mut self, y: NVar, x: NVar, k: u32, loc: Loc) {
        let Type::Data(data) = self.w.source.nvars[x].ty else { return };
        let con = ConRef { data, index: 0 };
        let names: Vec<_> =
            self.w.program.constructor(con).fields.iter().map(|f| f.name.clone()).collect();
        let mut fields = Vec::new();
        for (at, (part, name)) in
            self.w.program.tangent_parts(con).into_iter().zip(names).enumerate()
        {
            let size = (part == Part::Size).then(|| {
                let name = self.w.builder.namer.fresh(&name);
                let data = VarData { name, ty: Type::I64, def: None, span: loc.span };
                let size = self.w.builder.func.nvars.push(data);
                self.w.emit(vec![size], vec![], Rhs::Proj(x, at as u32), loc);
                size
            });
            fields.push((size.or((at == k as usize).then_some(y)), None));
        }
        let value = self.w.take(x, loc);
        for (v, part) in self.open_declared(con, value, &fields, loc) {
            self.w.bind(v, part, loc);
        }
    }
}
