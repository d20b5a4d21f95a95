//! The names of parts of derivatives: `grad(f)(p).x` where `p` is a record with a field `x`.
//!
//! The derivative by a record is the tuple of those by its fields that have floats, and no type says of which record. So
//! elaboration remembers of a name what its value is the derivative by: results of derivatives that the program takes
//! ([`jut_ad::language::Deriver::sources`]), and what is projected, indexed and opened of these, collected by loops and chosen by
//! branches. A name of which that is not known, such as a parameter, is a tuple like others.
//!
//! ```text
//! data P = P(x: f64, k: i64, y: f64)
//! d = grad(f)(p)          d: #(f64, f64), the derivative by a P
//! d.y                     d.1: k has no derivative
//! ```
//!
//! Cost: constant for each statement, and the fields of the record for each access.

use super::Res;
use super::body::Body;
use super::made::Out;
use crate::ast::Name;
use jut_ir::{Atom, Diagnostic, Field, NVar, Program, Rhs, Size, Span, Step, Type};

/// The fields of a record.
fn fields<'p>(program: &'p Program, ty: &Type) -> Option<&'p [Field]> {
    match ty {
        Type::Tuple(items) => {
            program.record(items).filter(|(.., r)| !r.is_sum()).map(|(.., r)| r.fields.as_slice())
        }
        Type::Data(data) => match program.datas[*data].constructors.as_slice() {
            [one] => Some(&one.fields),
            _ => None,
        },
        _ => None,
    }
}

/// What the components of a derivative are the derivatives by: the parts of the type that have floats.
fn parts<'p>(program: &'p Program, of: &'p Type) -> Vec<&'p Type> {
    let all: Vec<&Type> = match (fields(program, of), of) {
        (Some(fields), _) => fields.iter().map(|field| &field.ty).collect(),
        (None, Type::Tuple(items)) => items.iter().collect(),
        (None, _) => Vec::new(),
    };
    all.into_iter().filter(|ty| ty.has_float(program)).collect()
}

impl<'s> Body<'_, 's> {
    /// Remembers what results of a statement are the derivatives by.
    pub(super) fn label(&mut self, rhs: &Rhs, names: &[NVar]) {
        let program = self.program;
        let of: Vec<Option<Type>> = match rhs {
            Rhs::Call(call) => match self.globals.tangents.get(&call.func) {
                Some(of) => of.clone(),
                None => return,
            },
            Rhs::Atom(atom) => vec![self.labelled_as(*atom)],
            Rhs::Proj(v, number) => {
                let Some(of) = self.tangents.get(v) else { return };
                vec![parts(program, of).get(*number as usize).copied().cloned()]
            }
            Rhs::Untuple(v) => {
                let Some(of) = self.tangents.get(v) else { return };
                parts(program, of).into_iter().map(|ty| Some(ty.clone())).collect()
            }
            Rhs::Index(v, path) => {
                let mut of = self.tangents.get(v);
                for step in path {
                    of = match (*step, of) {
                        (Step::Index { .. }, Some(Type::Array(_, element))) => Some(element),
                        (Step::Field(number), Some(of)) => {
                            parts(program, of).get(number as usize).copied()
                        }
                        (Step::Slice { .. }, of) => of,
                        _ => None,
                    };
                }
                vec![of.cloned()]
            }
            Rhs::Scan(scan) => {
                let starts = scan.carry.iter().map(|(_, start)| self.labelled_as(*start));
                let collected = scan.body.nl.iter().skip(scan.carry.len());
                // How long the array is no label says.
                let collected = collected
                    .map(|atom| Some(Type::array(Size::default(), self.labelled_as(*atom)?)));
                starts.chain(collected).collect()
            }
            Rhs::Case(case) => {
                let arms = || case.arms.iter().map(|arm| &arm.body.nl);
                let of = |k| {
                    let mut of = arms().map(|nl| self.labelled_as(*nl.get(k)?));
                    let first = of.next()?;
                    if of.all(|other| other == first) { first } else { None }
                };
                (0..names.len()).map(of).collect()
            }
            _ => return,
        };
        for (name, of) in names.iter().zip(of) {
            if let Some(of) = of.filter(|of| !of.is_scalar()) {
                self.tangents.insert(*name, of);
            }
        }
    }

    fn labelled_as(&self, atom: Atom) -> Option<Type> {
        self.tangents.get(&atom.var()?).cloned()
    }

    /// Remembers the same of an element of an array.
    pub(super) fn label_element(&mut self, array: NVar, element: NVar) {
        if let Some(Type::Array(_, of)) = self.tangents.get(&array)
            && !of.is_scalar()
        {
            let of = (**of).clone();
            self.tangents.insert(element, of);
        }
    }

    /// A component of a derivative by a record, by the name of its field; `None` if it is not known to be one.
    pub(super) fn labelled(
        &mut self,
        value: NVar,
        name: &Name<'s>,
        span: Span,
    ) -> Res<Option<Out>> {
        let program = self.program;
        let Some(of) = self.tangents.get(&value) else { return Ok(None) };
        let Some(fields) = fields(program, of) else { return Ok(None) };
        let record = self.show(of);
        let with_floats = || fields.iter().filter(|field| field.ty.has_float(program));
        let number = with_floats().position(|field| field.name == name.text);
        let Type::Tuple(items) = &self.b.func.nvars[value].ty else { return Ok(None) };
        match number.and_then(|number| Some((number, items.get(number)?.clone()))) {
            Some((number, ty)) => Ok(Some(Out::one(Rhs::Proj(value, number as u32), ty, span))),
            None => {
                let names: Vec<String> = with_floats().map(|f| format!("`.{}`", f.name)).collect();
                let message =
                    format!("the derivative by a {record} has no component `{}`", name.text);
                let help = format!("it has those of the fields with floats: {}", names.join(", "));
                self.fail(Diagnostic::error("J204", name.span, message).help(help))
            }
        }
    }
}
