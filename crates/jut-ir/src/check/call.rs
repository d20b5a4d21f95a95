//! Calls: arguments against parameters, with the normal forms of the i64 arguments in place of the
//! size parameters.

use super::walk::{Checked, Checker, Definition, Values};
use crate::entity::NVar;
use crate::ir::*;
use crate::size::Size;
use crate::types::Type;
use std::collections::HashMap;

impl Checker<'_> {
    /// The rule of calls. Any definition can be called, wherever it stands: its signature says all.
    pub(super) fn call(&mut self, call: &Call) -> Checked<Values> {
        let program = self.program;
        let callee = &program.funcs[call.func];
        let given = (call.args.len(), call.lin_args.len(), call.places.len());
        let wanted = (callee.params.len(), callee.lin_params.len(), callee.cap_params.len());
        self.require(given == wanted, "J208", |_| {
            let (a, b, c) = wanted;
            let (d, e, f) = given;
            format!("`{}` takes ({a}; {b}; {c}) arguments, not ({d}; {e}; {f})", callee.name)
        })?;
        let mut sizes: HashMap<NVar, Size> = HashMap::new();
        for (param, arg) in callee.params.iter().zip(&call.args) {
            let data = &callee.nvars[*param];
            let found = self.atom(*arg)?;
            self.argument(callee, &data.name, &data.ty, &sizes, &found)?;
            if found == Type::I64 {
                sizes.insert(*param, self.func.size_of(*arg));
            }
        }
        for (param, arg) in callee.lin_params.iter().zip(&call.lin_args) {
            let data = &callee.lvars[*param];
            let found = self.consume(*arg)?;
            self.argument(callee, &data.name, &data.ty, &sizes, &found)?;
        }
        for (param, place) in callee.cap_params.iter().zip(&call.places) {
            let data = &callee.caps[*param];
            match place {
                Some(place) => {
                    let found = self.place_of_mode(place, data.mode)?;
                    self.argument(callee, &data.name, &data.ty, &sizes, &found)?;
                }
                None => self.require(data.ty.is_scalar(), "J115", |_| {
                    format!("`null` for `{}` of `{}`, not a scalar", data.name, callee.name)
                })?,
            }
        }
        let mut values = Values::none();
        for (k, result) in callee.results.iter().enumerate() {
            let ty = apply(&result.ty, &sizes);
            values.nl.push((ty, Definition::Opaque));
            if let Some(name) = result.name {
                sizes.insert(name, Size::position(k));
            }
        }
        if callee.is_foreign() {
            for (ty, _) in &values.nl {
                self.sizes_shown(ty, |size| format!("`{}` gives arrays of {size}", callee.name))?;
            }
        }
        values.lin = callee.lin_results.iter().map(|result| apply(&result.ty, &sizes)).collect();
        Ok(values)
    }

    fn argument(
        &self,
        callee: &Function,
        param: &str,
        ty: &Type,
        sizes: &HashMap<NVar, Size>,
        found: &Type,
    ) -> Checked<()> {
        let expected = apply(ty, sizes);
        self.require(*found == expected, "J210", |c| {
            let (expected, found) = (c.show(&expected), c.show(found));
            format!("parameter `{param}` of `{}` takes {expected}, not {found}", callee.name)
        })
    }
}

/// A type of the callee in the names of the caller. A name without a value is a mistake in the
/// callee; it becomes a result that no pattern has, so that no name of the caller stands for it.
fn apply(ty: &Type, sizes: &HashMap<NVar, Size>) -> Type {
    ty.subst(&mut |name| Some(sizes.get(&name).cloned().unwrap_or(Size::position(usize::MAX))))
}
