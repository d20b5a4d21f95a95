//! Binding names: the derived type against the recorded one, sizes in scope, names unique.

use super::scope::Rebound;
use super::walk::{Checked, Checker, Definition};
use crate::diagnostic::Diagnostic;
use crate::entity::{Cap, LVar, NVar};
use crate::ir::*;
use crate::span::Span;
use crate::types::Type;

impl Checker<'_> {
    /// Checks that the sizes in a type are opaque i64 names in scope.
    pub(super) fn sizes_in_scope(&self, ty: &Type) -> Checked<()> {
        let mut outcome = Ok(());
        ty.for_each_size(&mut |size| {
            for (names, _) in size.terms() {
                for name in names {
                    if outcome.is_ok() {
                        outcome = self.size_name(*name, ty);
                    }
                }
            }
        });
        outcome
    }

    fn size_name(&self, name: NVar, ty: &Type) -> Checked<()> {
        let Some(data) = self.func.nvars.get(name) else {
            let message = format!("a size of {} is not a result that can be named", self.show(ty));
            return Err(self.error("J203", message));
        };
        self.require(data.ty == Type::I64 && data.def.is_none(), "J215", |c| {
            format!("`{}` in {} is not an opaque i64 name", data.name, c.show(ty))
        })?;
        self.require(self.scope.has(name), "J203", |c| {
            format!("size `{}` of {} is not in scope here", data.name, c.show(ty))
        })
    }

    /// Checks that a type can be the type of a linear value: floats, declared tangent types, tuples and
    /// arrays of these.
    pub(super) fn linear_type(&self, ty: &Type) -> Checked<()> {
        self.require(is_linear(self.program, ty), "J102", |c| {
            format!("{} is not the type of a linear value, which is made of floats", c.show(ty))
        })
    }

    fn rebound(&self, rebound: Rebound, name: &str) -> Box<Diagnostic> {
        let message = match rebound {
            Rebound::Name => format!("`{name}` is bound twice in this scope"),
            Rebound::Variable => format!("variable `{name}` has two binders"),
        };
        self.error_help("J011", message, "give one of them another name")
    }

    /// Binds a non-linear name, whose derived type must be the recorded one.
    pub(super) fn bind(&mut self, v: NVar, ty: &Type, definition: &Definition) -> Checked<()> {
        let data = &self.func.nvars[v];
        let bound = self.scope.bind(v);
        let outer = self.span;
        if data.span != Span::NONE {
            self.span = data.span;
        }
        bound.map_err(|rebound| self.rebound(rebound, &data.name))?;
        self.same_as_recorded(&data.name, ty, &data.ty)?;
        let agrees = match (definition, &data.def) {
            (Definition::Opaque | Definition::Either(_), None) => true,
            (Definition::Opaque, Some(_)) | (Definition::Transparent(_), None) => false,
            (Definition::Transparent(a) | Definition::Either(a), Some(b)) => a == b,
        };
        self.require(agrees, "J214", |c| {
            let recorded = match &data.def {
                Some(size) => format!("`{}`", c.show_size(size)),
                None => "an opaque size".to_string(),
            };
            format!("`{}` is recorded as {recorded}, which its definition is not", data.name)
        })?;
        self.sizes_in_scope(ty)?;
        if let Some(size) = &data.def {
            let as_type = Type::array(size.clone(), Type::I64);
            self.sizes_in_scope(&as_type)?;
        }
        self.facts.add_type(ty);
        self.span = outer;
        Ok(())
    }

    /// Binds an opaque non-linear name.
    pub(super) fn bind_opaque(&mut self, v: NVar, ty: &Type) -> Checked<()> {
        self.bind(v, ty, &Definition::Opaque)
    }

    /// Binds a linear name, whose derived type must be the recorded one.
    pub(super) fn bind_linear(&mut self, x: LVar, ty: &Type) -> Checked<()> {
        let data = &self.func.lvars[x];
        let bound = self.scope.bind_linear(x);
        let outer = self.span;
        if data.span != Span::NONE {
            self.span = data.span;
        }
        bound.map_err(|rebound| self.rebound(rebound, &data.name))?;
        self.require(data.name.ends_with('\''), "J101", |_| {
            format!("the name `{}` of a linear value does not end in `'`", data.name)
        })?;
        self.same_as_recorded(&data.name, ty, &data.ty)?;
        self.linear_type(ty)?;
        self.sizes_in_scope(ty)?;
        self.span = outer;
        Ok(())
    }

    /// Binds a capability of the given mode and type.
    pub(super) fn bind_cap(&mut self, c: Cap, mode: Mode, ty: &Type) -> Checked<()> {
        let data = &self.func.caps[c];
        let bound = self.scope.bind_cap(c);
        let outer = self.span;
        if data.span != Span::NONE {
            self.span = data.span;
        }
        bound.map_err(|rebound| self.rebound(rebound, &data.name))?;
        self.require(data.mode == mode, "J111", |_| {
            let (recorded, derived) = (data.mode.keyword(), mode.keyword());
            format!("`{}` is recorded as `{recorded}`, but bound as `{derived}`", data.name)
        })?;
        self.require(
            !data.lanes || (mode != Mode::Rd && matches!(*ty, Type::F64 | Type::I64)),
            "J601",
            |_| format!("`lanes` on `{}`: only an f64 is added up by lanes", data.name),
        )?;
        self.same_as_recorded(&data.name, ty, &data.ty)?;
        self.sizes_in_scope(ty)?;
        if mode == Mode::Acc {
            self.require(is_addable(ty), "J202", |c| {
                format!("`{}` has type {}, which cannot be added up", data.name, c.show(ty))
            })?;
        } else {
            self.linear_type(ty)?;
        }
        self.span = outer;
        Ok(())
    }

    fn same_as_recorded(&self, name: &str, derived: &Type, recorded: &Type) -> Checked<()> {
        self.require(derived == recorded, "J214", |c| {
            let (recorded, derived) = (c.show(recorded), c.show(derived));
            format!("`{name}` is declared as {recorded}, but its value has type {derived}")
        })
    }
}

/// Whether a type is its own tangent type: floats, declared tangent types, tuples and arrays of these.
pub(super) fn is_linear(program: &Program, ty: &Type) -> bool {
    match ty {
        Type::Float(_) => true,
        Type::I64 | Type::I32 | Type::Bool => false,
        Type::Data(data) => program.is_tangent(*data),
        Type::Tuple(items) => items.iter().all(|ty| is_linear(program, ty)),
        Type::Array(_, element) => is_linear(program, element),
    }
}

/// Whether values of a type can be added: numbers, tuples and arrays of them.
fn is_addable(ty: &Type) -> bool {
    match ty {
        Type::Float(_) | Type::I64 | Type::I32 => true,
        Type::Bool | Type::Data(_) => false,
        Type::Tuple(items) => items.iter().all(is_addable),
        Type::Array(_, element) => is_addable(element),
    }
}
