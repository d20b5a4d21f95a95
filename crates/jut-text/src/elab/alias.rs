//! Other names of types: `type Point = [3]f64`, `type Matrix[m, n] = [m, n]f64`.
//!
//! ```text
//! Matrix[2, k + 1]      [2, k + 1]f64
//! ```
//!
//! The name stands for the type wherever a type is written, and is gone after elaboration: two names of one type are one
//! type, and messages and printed programs have the type itself. The sizes of a name are those of a definition: names of
//! the type alone, put in where it is used.
//!
//! *Requires* that the types in it stand before it. *Ensures*: a type that is no larger than a written one may be (J003),
//! so names of names cost no more than the text.

use super::body::Body;
use super::record::sizes_text;
use super::solver::Solver;
use super::{Globals, Res, Stop, unused};
use crate::ast::{self, Ast, ExprId};
use jut_ir::entity::EntityRef;
use jut_ir::{Diagnostic, NVar, Program, Size, Span, Type};
use std::collections::{HashMap, HashSet};

/// What a name of a type stands for.
#[derive(Default)]
pub(crate) struct Alias {
    /// How many sizes it has.
    count: usize,
    /// The type, in which the k-th size is the variable with number k; `None` further up in the text.
    ty: Option<Type>,
}

impl Alias {
    /// The sizes for which this is a type, as far as it says them.
    pub fn sizes(&self, found: &Type) -> Vec<Option<Size>> {
        let mut map = HashMap::new();
        let unknown = (0..self.count).map(NVar::new).collect();
        let mut solver = Solver { unknown, map: &mut map };
        if let Some(ty) = &self.ty {
            solver.types(ty, found);
        }
        (0..self.count).map(|k| map.remove(&NVar::new(k))).collect()
    }
}

/// Declares a name.
pub(super) fn declare<'s>(
    ast: &Ast<'s>,
    a: &ast::Alias<'s>,
    program: &Program,
    globals: &mut Globals,
    diagnostics: &mut Vec<Diagnostic>,
) -> Res<()> {
    if globals.is_poisoned(a.name.text) {
        return Err(Stop);
    }
    let full = globals.full(a.name.text);
    let again = globals.aliases.get(&full).is_some_and(|alias| alias.ty.is_some());
    let of_language = matches!(a.name.text, "f32" | "i32" | "c64");
    let taken = again || of_language || globals.datas.contains_key(&full);
    unused(globals, &a.name, &full, taken, diagnostics)?;
    let mut body = Body::new(ast, program, globals, &[], false, diagnostics);
    let mut seen = HashSet::new();
    for size in &a.sizes {
        if !seen.insert(size.text) {
            let message = format!("`{}` is declared twice", size.text);
            let help = format!("give one of them another name: `{}2`", size.text);
            return body.error("J011", size.span, message, help);
        }
        body.param(size, Type::I64);
    }
    let ty = body.ty(&a.ty)?;
    body.bounded(&ty, a.ty.span)?;
    globals.aliases.insert(full, Alias { count: a.sizes.len(), ty: Some(ty) });
    Ok(())
}

impl<'s> Body<'_, 's> {
    /// The type that a name with these sizes stands for.
    pub(super) fn alias_type(
        &mut self,
        name: &str,
        alias: &Alias,
        sizes: &[ExprId],
        span: Span,
    ) -> Res<Type> {
        let Some(ty) = &alias.ty else {
            let message = format!("`{name}` is declared further down, or is made of itself");
            let help = "a name of a type stands before what has it; types that hold themselves are declared with `data`";
            return self.error("J010", span, message, help);
        };
        let count = alias.count;
        if count != sizes.len() {
            let given = sizes.len();
            let message = format!("the type `{name}` has {count} size(s), and {given} are given");
            let help = match count {
                0 => format!("write `{name}`; an array of them is `[n]{name}`"),
                _ => format!("give them in brackets: `{name}[{}]`", sizes_text(count)),
            };
            return self.error("J208", span, message, help);
        }
        let mut values = Vec::new();
        for size in sizes {
            values.push(self.size(*size)?);
        }
        self.put(ty, &|v| values.get(v.index()).cloned(), span)
    }
}
