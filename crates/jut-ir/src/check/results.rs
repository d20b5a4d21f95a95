//! Results of blocks and definitions: telescopes, in which a later type may mention an earlier
//! i64 result, seen from inside, from outside, and against what is declared.

use super::walk::{Checked, Checker, Definition, Values};
use crate::entity::NVar;
use crate::ir::*;
use crate::size::Size;
use crate::types::Type;
use std::collections::{HashMap, HashSet};

/// The results of a block, in terms of the names inside it.
pub(super) struct BlockResults {
    pub(super) nl: Vec<Type>,
    /// Normal forms of the i64 results.
    pub(super) sizes: Vec<Option<Size>>,
    pub(super) lin: Vec<Type>,
}

/// The block depth of parameters.
const PARAMETERS: usize = 1;

/// The named results so far of a definition.
#[derive(Default)]
struct Telescope<'a> {
    names: HashSet<&'a str>,
    /// The values that the i64 ones have in the body.
    sizes: HashMap<NVar, Size>,
}

impl Checker<'_> {
    /// The results of a block whose statements have been checked and which is still open.
    pub(super) fn results(&mut self, block: &Block) -> Checked<BlockResults> {
        let mut results = BlockResults { nl: Vec::new(), sizes: Vec::new(), lin: Vec::new() };
        for atom in &block.nl {
            let ty = self.atom(*atom)?;
            results.sizes.push((ty == Type::I64).then(|| self.func.size_of(*atom)));
            results.nl.push(ty);
        }
        for x in &block.lin {
            results.lin.push(self.consume(*x)?);
        }
        Ok(results)
    }

    /// The results as seen from outside, at block depth `depth`: a local opaque name that occurs
    /// in a later type is an earlier result, and becomes its placeholder.
    pub(super) fn close(&self, results: BlockResults, depth: usize) -> Checked<Values> {
        let mut position: Vec<(NVar, usize)> = Vec::new();
        for (k, size) in results.sizes.iter().enumerate() {
            if let Some(name) = size.as_ref().and_then(Size::as_var)
                && self.scope.is_local(name, depth)
            {
                position.push((name, k));
            }
        }
        // The first result that returns a name stands for it.
        position.sort();
        position.dedup_by_key(|(name, _)| *name);
        let find = |name: NVar| {
            let k = position.binary_search_by_key(&name, |(name, _)| *name).ok()?;
            Some(position[k].1)
        };
        let seal = |k: usize, ty: &Type| -> Checked<Type> {
            let ty = ty.subst(&mut |name| find(name).filter(|p| *p < k).map(Size::position));
            self.leaves_scope(&ty, depth, "J203", "return the size as an earlier result")?;
            Ok(ty)
        };
        let mut values = Values::none();
        for (k, (ty, size)) in results.nl.iter().zip(&results.sizes).enumerate() {
            let is_outer =
                |size: &&Size| !size.names().iter().any(|v| self.scope.is_local(*v, depth));
            let definition = match size.as_ref().filter(is_outer) {
                Some(size) => Definition::Either(size.clone()),
                None => Definition::Opaque,
            };
            values.nl.push((seal(k, ty)?, definition));
        }
        for ty in &results.lin {
            values.lin.push(seal(usize::MAX, ty)?);
        }
        Ok(values)
    }

    /// Checks that a result type mentions no name bound deeper than `depth`.
    pub(super) fn leaves_scope(
        &self,
        ty: &Type,
        depth: usize,
        code: &'static str,
        help: &str,
    ) -> Checked<()> {
        let mut local = None;
        ty.for_each_size(&mut |size| {
            for (names, _) in size.terms() {
                local = local.or(names.iter().copied().find(|v| self.scope.is_local(*v, depth)));
            }
        });
        let Some(local) = local else { return Ok(()) };
        let name = &self.func.nvars[local].name;
        let message =
            format!("a result has type {}, but `{name}` is local to the block", self.show(ty));
        Err(self.error_help(code, message, help))
    }

    /// The results of a block under a pattern with types: each is checked against its annotation,
    /// in which the pattern's names stand for the block's i64 results. The annotations are the
    /// types of the values.
    pub(super) fn annotated(&self, stmt: &Stmt, results: &BlockResults) -> Checked<Values> {
        let (nl, lin) = (results.nl.len(), results.lin.len());
        self.require(nl <= stmt.nl.len() && lin <= stmt.lin.len(), "J213", |_| {
            format!("the block returns {nl} + {lin} values, more than the pattern binds")
        })?;
        let sizes: HashMap<NVar, &Option<Size>> =
            stmt.nl.iter().copied().zip(&results.sizes).collect();
        let mut value = |name: NVar| sizes.get(&name).and_then(|size| (*size).clone());
        let mut check = |name: &str, ty: &Type, found: &Type| {
            let expected = ty.subst(&mut value);
            self.require(expected == *found, "J214", |c| {
                let (expected, found) = (c.show(&expected), c.show(found));
                format!("`{name}` should be {expected} here, but the block returns {found}")
            })
        };
        let mut values = Values::none();
        for (v, found) in stmt.nl.iter().zip(&results.nl) {
            let data = &self.func.nvars[*v];
            check(&data.name, &data.ty, found)?;
            values.nl.push((data.ty.clone(), Definition::Opaque));
        }
        for (x, found) in stmt.lin.iter().zip(&results.lin) {
            let data = &self.func.lvars[*x];
            check(&data.name, &data.ty, found)?;
            values.lin.push(data.ty.clone());
        }
        Ok(values)
    }

    /// The results against the declared types, in which a named i64 result stands for its value.
    pub(super) fn declared_results(&mut self, results: &BlockResults) -> Checked<()> {
        let func = self.func;
        let found = (results.nl.len(), results.lin.len());
        let wanted = (func.results.len(), func.lin_results.len());
        self.require(found == wanted, "J213", |_| {
            format!(
                "`{}` declares {} non-linear and {} linear results, but its body returns {} and {}",
                func.name, wanted.0, wanted.1, found.0, found.1
            )
        })?;
        let mut telescope = Telescope::default();
        let found = results.nl.iter().zip(&results.sizes);
        for (declared, (ty, size)) in func.results.iter().zip(found) {
            self.declared_result(&declared.ty, ty, &telescope)?;
            let Some(name) = declared.name else { continue };
            let data = &func.nvars[name];
            let is_new = telescope.names.insert(&data.name) && !self.scope.has(name);
            self.require(is_new && data.def.is_none(), "J011", |_| {
                format!("result `{}` is not a name of its own", data.name)
            })?;
            telescope.sizes.extend(size.clone().map(|size| (name, size)));
        }
        for (declared, ty) in func.lin_results.iter().zip(&results.lin) {
            self.linear_type(&declared.ty)?;
            self.declared_result(&declared.ty, ty, &telescope)?;
        }
        Ok(())
    }

    fn declared_result(&self, declared: &Type, found: &Type, telescope: &Telescope) -> Checked<()> {
        for name in declared.size_names() {
            if telescope.sizes.contains_key(&name) {
                continue;
            }
            let text = self.func.nvars.get(name).map_or("?", |data| data.name.as_str());
            let is_param = self.scope.has(name) && !self.scope.is_local(name, PARAMETERS);
            self.require(is_param, "J203", |c| {
                let ty = c.show(declared);
                format!("size `{text}` of result type {ty} is no parameter and no earlier result")
            })?;
            self.require(!telescope.names.contains(text), "J011", |c| {
                let ty = c.show(declared);
                format!("`{text}` in result type {ty} is a parameter and also a result")
            })?;
        }
        let expected = declared.subst(&mut |name| telescope.sizes.get(&name).cloned());
        self.require(expected == *found, "J214", |c| {
            let (expected, found) = (c.show(&expected), c.show(found));
            format!("a result is declared as {expected}, but the body returns {found}")
        })
    }
}
