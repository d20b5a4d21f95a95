//! Sums with sizes as parameters ([`jut_ir::record`]): a value has the fields of all constructors, and the mark says
//! whose are meant.
//!
//! ```text
//! data Shape[n] = Ball(c: [n]f64, r: f64) | Box(low: [n]f64, high: [n]f64)
//! s = Ball(x, 1.0)      low = acc low: [n]f64 {}; high = acc high: [n]f64 {}; k = Ball(); s = #(x, 1.0, low, high, k)
//! case s {              #(c, r, low, high, k) = s
//!   Ball(p, r) -> ..    case k { Ball() -> ..
//!   Box(a, b) -> ..              Box() -> .. }
//! }
//! ```
//!
//! The fields that a value does not have are zero: numbers are 0, truth values false, and a value of another data type is
//! made by the constructor that needs the fewest others.
//!
//! *Requires*: sizes that follow from the fields of the constructor, or are given, `Empty[n]`. *Ensures*: a value of the
//! type, whichever constructor it is. *Cost*: the cells of all fields.

use super::super::body::Body;
use super::super::made::Out;
use super::super::scope::Entity;
use super::super::{Global, Res, Stop};
use crate::ast::{Arm, FieldPattern, Name};
use jut_ir::entity::EntityRef;
use jut_ir::{
    Atom, Block, Check, ConRef, DataId, Dir, Literal, Mode, NVar, Program, Region, Rhs, Scan, Size,
    Span, Type,
};

/// A sum with sizes, opened.
pub(in crate::elab) struct Opened {
    /// Which constructor it is.
    pub mark: Atom,
    /// The type of the mark.
    pub data: DataId,
    /// The fields of all constructors.
    pub parts: Vec<Atom>,
}

impl<'s> Body<'_, 's> {
    /// Opens a value whose type is a sum with sizes; `None` for any other. Its fields are called as in the arms.
    pub(in crate::elab) fn open_sum(
        &mut self,
        value: Atom,
        arms: &[Arm<'s>],
        span: Span,
    ) -> Res<Option<Opened>> {
        let (Type::Tuple(items), Atom::Var(v)) = (self.type_of(value), value) else {
            return Ok(None);
        };
        let program = self.program;
        let Some((data, _, record)) = program.record(&items).filter(|(.., r)| r.is_sum()) else {
            return Ok(None);
        };
        let mut all = vec![Name { text: "t", span }; items.len()];
        for arm in arms {
            let Some(Global::Con(con)) = self.globals.global(arm.name.text) else { continue };
            if con.data != data {
                continue;
            }
            let own = all.get_mut(record.of_constructor(con.index as usize));
            for (name, pattern) in own.unwrap_or_default().iter_mut().zip(&arm.fields) {
                if let FieldPattern::Bind(bound) = pattern
                    && !bound.is_linear()
                {
                    *name = *bound;
                }
            }
        }
        let out = Out { nl: items.clone(), ..Out::none(Rhs::Untuple(v), span) };
        let mut parts = self.bind(out, &all, &[])?.nl;
        let mark = parts.pop().ok_or(Stop)?;
        Ok(Some(Opened { mark, data, parts }))
    }

    /// Gives the fields of the constructor of an arm their names.
    pub(in crate::elab) fn name_parts(
        &mut self,
        con: ConRef,
        name: &Name<'s>,
        patterns: Option<&[FieldPattern<'s>]>,
        parts: &[Atom],
    ) -> Res<()> {
        let program = self.program;
        let Some(patterns) = patterns else { return Ok(()) };
        let Some(record) = program.datas[con.data].record.as_deref() else { return Ok(()) };
        let fields = record.fields_of(con.index as usize);
        if fields.len() != patterns.len() {
            let (has, given) = (fields.len(), patterns.len());
            let message =
                format!("`{}` has {has} field(s), and the pattern has {given}", name.text);
            let fields = super::super::fit::fields_text(name.text, fields);
            return self.error("J208", name.span, message, format!("bind every field: `{fields}`"));
        }
        let own = parts.get(record.of_constructor(con.index as usize)).unwrap_or_default();
        for (pattern, part) in patterns.iter().zip(own) {
            match self.field_name(pattern)? {
                Name { text: "_", .. } => {}
                name => self.scope.bind(name.text, Entity::N(*part)),
            }
        }
        Ok(())
    }

    /// The fields of a value that another constructor made: those of the constructor as they are given, zeros for all others.
    pub(in crate::elab) fn with_absent(
        &mut self,
        con: ConRef,
        given: Vec<Atom>,
        size: &dyn Fn(NVar) -> Option<Size>,
        span: Span,
    ) -> Res<Vec<Atom>> {
        let program = self.program;
        let Some(record) = program.datas[con.data].record.as_deref() else { return Ok(given) };
        let own = record.of_constructor(con.index as usize);
        let mut given = given.into_iter();
        let mut all = Vec::with_capacity(record.fields.len());
        for (k, field) in record.fields.iter().enumerate() {
            all.push(match own.contains(&k) {
                true => given.next().ok_or(Stop)?,
                false => {
                    let ty = self.put(&field.ty, size, span)?;
                    self.absent(&ty, span)?
                }
            });
        }
        Ok(all)
    }

    /// Zero of a type.
    fn absent(&mut self, ty: &Type, span: Span) -> Res<Atom> {
        let rhs = match ty {
            Type::Float(_) => return Ok(Atom::Lit(ty.number(0.0))),
            Type::I64 => return Ok(Atom::Lit(Literal::I64(0))),
            Type::I32 => return Ok(Atom::Lit(Literal::I32(0))),
            Type::Bool => return Ok(Atom::Lit(Literal::Bool(false))),
            Type::Tuple(items) => {
                let mut parts = Vec::new();
                for item in items {
                    parts.push(self.absent(item, span)?);
                }
                Rhs::Tuple(parts)
            }
            Type::Data(data) => {
                let Some(index) = self.program.plainest(*data) else { return Err(Stop) };
                let con = ConRef { data: *data, index: index as u32 };
                let (mut args, mut sizes) = (Vec::new(), Vec::new());
                for field in &self.program.constructor(con).fields {
                    let at = |v: NVar| sizes.get(v.index()).cloned();
                    let part = self.put(&field.ty, &at, span)?;
                    args.push(self.absent(&part, span)?);
                    sizes.push(Size::constant(0));
                }
                Rhs::Con(con, args)
            }
            Type::Array(..) if is_added(ty) => {
                let cap = self.b.cap("z", Mode::Acc, false, ty.clone(), span);
                Rhs::Region(Box::new(Region {
                    mode: Mode::Acc,
                    cap,
                    start: None,
                    end: true,
                    body: Block::default(),
                }))
            }
            Type::Array(size, element) => {
                let bound = self.materialize(size, span)?;
                if !self.facts.is_plainly_non_negative(size) {
                    self.emit(Rhs::Check(Check::NonNegative(bound)), span)?;
                }
                let index = self.b.nvar("i", Type::I64, span);
                let open = self.enter();
                let made = self.absent(element, span);
                let stmts = self.leave(open);
                let body = Block { stmts, nl: vec![made?], lin: Vec::new() };
                Rhs::Scan(Box::new(Scan::new(Dir::Par, index, bound, body)))
            }
        };
        self.bind(Out::one(rhs, ty.clone(), span), &[], &[])?.nl.first().copied().ok_or(Stop)
    }
}

/// Whether a region adds up values of the type.
fn is_added(ty: &Type) -> bool {
    match ty {
        Type::Float(_) | Type::I64 | Type::I32 => true,
        Type::Array(_, element) => is_added(element),
        Type::Tuple(items) => items.iter().all(is_added),
        Type::Bool | Type::Data(_) => false,
    }
}

/// A data type in a field of which there is no value that ends.
pub(super) fn endless(program: &Program, ty: &Type) -> Option<DataId> {
    let mut found = None;
    ty.for_each_data(&mut |data| {
        if found.is_none() && program.plainest(data).is_none() {
            found = Some(data);
        }
    });
    found
}
