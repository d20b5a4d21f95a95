//! In which order the definitions of a file are elaborated: those that a definition names before it.
//!
//! Definitions stand in any order. Constants, functions that are handed on and derivatives of definitions are known
//! when a definition that names them is elaborated, and what is made of definitions stands behind them. Those that
//! name each other in a circle make a *group*, whose signatures are known before its bodies. Where every definition
//! stands after those that it names, the order is that of the text, but for the derivatives that functions of other languages
//! name: these are first.
//!
//! Parameters, sizes and [local names](super::local) hide definitions. A local name that is called makes groups larger, and changes
//! nothing else. *Cost*: linear in the text, up to sorting.

use super::given::methods;
use super::local::Local;
use crate::ast::{Ast, Decl, Def, ExprKind};
use jut_ir::graph::{Component, strongly_connected};
use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// Definitions that are elaborated together.
pub(super) struct Group<'a, 's> {
    /// Declarations of other kinds that stand before them.
    pub before: Vec<&'a Decl<'s>>,
    /// In the order of the text.
    pub defs: Vec<&'a Def<'s>>,
    /// The expressions of each.
    pub exprs: Vec<Range<usize>>,
    /// Whether one of them names one of them.
    pub is_recursive: bool,
}

/// The order of a file.
pub(super) struct Order<'a, 's> {
    decls: &'a [Decl<'s>],
    /// The definitions: where they stand among the declarations, and their expressions.
    defs: Vec<(usize, &'a Def<'s>, Range<usize>)>,
    components: Vec<Component<usize>>,
}

impl<'a, 's> Order<'a, 's> {
    pub fn of(ast: &'a Ast<'s>) -> Order<'a, 's> {
        let mut defs = Vec::new();
        let mut done = 0;
        for (k, decl) in ast.decls.iter().enumerate() {
            if let Decl::Def(d) = decl {
                // The body is the last expression of a definition.
                let end = d.body.0 as usize + 1;
                defs.push((k, d, done..end));
                done = end;
            }
        }
        // Of two definitions with one name the first counts.
        let mut named = HashMap::new();
        for (k, (_, d, _)) in defs.iter().enumerate() {
            named.entry(d.name.text).or_insert(k);
        }
        // What gives the derivative of a function of another language is known before any derivative is taken.
        let stated = ast.decls.iter().filter_map(|decl| match decl {
            Decl::Extern(p) => p.derivative.as_ref().and_then(|by| named.get(by.text).copied()),
            _ => None,
        });
        let roots = stated.chain(0..defs.len());
        let components = strongly_connected(defs.len(), roots, |k, out| {
            let d = defs[k].1;
            let params = d.params.iter().map(|(name, _)| name.text);
            let own: HashSet<&str> = d.sizes.iter().map(|name| name.text).chain(params).collect();
            let exprs = ast.exprs.get(defs[k].2.clone()).unwrap_or_default();
            let local = Local::of(ast, exprs, |name| named.contains_key(name));
            for expr in exprs {
                let name = match &expr.kind {
                    ExprKind::Name(name) if local.has(name.text, name.span.start) => continue,
                    ExprKind::Name(name) => name.text,
                    ExprKind::Call(call) => call.func.text,
                    ExprKind::Derived(derived) => derived.call.func.text,
                    _ => continue,
                };
                if own.contains(name) {
                    continue;
                }
                let base = || methods(name).and_then(|(base, _)| named.get(base));
                out.extend(named.get(name).or_else(base));
            }
        });
        Order { decls: &ast.decls, defs, components }
    }

    /// The groups, and at the end one without definitions for what else the file declares.
    pub fn groups(&self) -> impl Iterator<Item = Group<'a, 's>> {
        // A rule follows all definitions that stand before it.
        let is_rule = |k: &usize| matches!(self.decls[*k], Decl::Rule(_));
        let mut rules: Vec<usize> = (0..self.decls.len()).filter(is_rule).collect();
        let (mut done, mut first) = (vec![false; self.defs.len()], 0);
        let mut next = 0;
        let last = Component { members: Vec::new(), is_recursive: false };
        self.components.iter().cloned().chain([last]).map(move |component| {
            let members = component.members.iter().map(|k| &self.defs[*k]);
            let end = members.clone().map(|(at, ..)| *at).max().unwrap_or(self.decls.len());
            let before = self.decls.get(next..end).unwrap_or_default();
            let before = before.iter().filter(|decl| !matches!(decl, Decl::Rule(_)));
            while done.get(first).is_some_and(|done| *done) {
                first += 1;
            }
            let open = self.defs.get(first).map_or(usize::MAX, |(at, ..)| *at);
            let ready = rules.iter().take_while(|k| **k < open).map(|k| &self.decls[*k]);
            let before = before.chain(ready).collect();
            rules.retain(|k| *k >= open);
            component.members.iter().for_each(|k| done[*k] = true);
            next = next.max(end);
            Group {
                before,
                defs: members.clone().map(|(_, d, _)| *d).collect(),
                exprs: members.map(|(.., exprs)| exprs.clone()).collect(),
                is_recursive: component.is_recursive,
            }
        })
    }
}
