//! Where in a definition a name is one of its own, and not that of another definition.
//!
//! ```text
//! def f(x: f64) -> f64 = {
//!   c = g(x)                      here c is what the file calls so
//!   sum (i < 3) { c * x }         here, to the end of the block, the name above
//! }
//! ```
//!
//! A name of a block is its own from behind the statement to the end of the block; an index, a carry, a parameter of a function
//! without a name, a field of a pattern and a place are in the body that they stand before. *Requires*: the expressions of one
//! definition. *Ensures*: what is said to be local is; a name that a statement binds may also be local in the statement itself,
//! as that of an array made of itself is. *Cost*: that of sorting the places where names are bound.

use crate::ast::{Ast, Expr, ExprId, ExprKind, FieldPattern, Name, Range, StmtKind};
use std::collections::HashMap;

/// The parts of a definition's text in which each name is its own, from a byte to the one behind the last: apart, in order.
pub(super) struct Local<'s> {
    parts: HashMap<&'s str, Vec<[u32; 2]>>,
}

impl<'s> Local<'s> {
    /// Of the names that are of interest.
    pub fn of(ast: &Ast<'s>, exprs: &[Expr<'s>], wanted: impl Fn(&str) -> bool) -> Local<'s> {
        let mut parts: HashMap<&'s str, Vec<[u32; 2]>> = HashMap::new();
        for expr in exprs {
            each(ast, expr, &mut |name, part| {
                if wanted(name.text) {
                    parts.entry(name.text).or_default().push(part);
                }
            });
        }
        for list in parts.values_mut() {
            list.sort_unstable();
            list.dedup_by(|next, last| {
                let meets = next[0] <= last[1];
                if meets {
                    last[1] = last[1].max(next[1]);
                }
                meets
            });
        }
        Local { parts }
    }

    /// Whether a name that stands at this byte is a local one.
    pub fn has(&self, name: &str, at: u32) -> bool {
        self.parts.get(name).is_some_and(|list| {
            let before = list.partition_point(|part| part[0] <= at);
            before.checked_sub(1).is_some_and(|k| at < list[k][1])
        })
    }
}

/// The names that an expression binds itself, and where they mean that.
fn each<'s>(ast: &Ast<'s>, expr: &Expr<'s>, bound: &mut dyn FnMut(Name<'s>, [u32; 2])) {
    let body = |id: ExprId| [ast.expr(id).span.start, ast.expr(id).span.end];
    match &expr.kind {
        ExprKind::Block(block) => {
            for stmt in &block.stmts {
                if let StmtKind::Let(pattern, value)
                | StmtKind::Var(pattern, value)
                | StmtKind::Part(pattern, value) = &stmt.kind
                {
                    let part = [ast.expr(*value).span.end, block.span.end];
                    pattern.names().into_iter().for_each(|name| bound(name, part));
                }
            }
        }
        ExprKind::Loop(l) => {
            let inside = body(l.body);
            let ranges = || {
                l.head.iter().map(|range| match *range {
                    Range::Below(name, last) | Range::Each(name, last) => (name, last),
                    Range::Between(_, name, last) | Range::Down(_, name, last) => (name, last),
                })
            };
            let end = ranges().next_back().map_or(0, |(_, last)| body(last)[1]);
            for (name, last) in ranges() {
                // Ranges behind it, and the body.
                bound(name, [body(last)[1], end]);
                bound(name, inside);
            }
            let carries = l.carry.iter().chain(&l.lin_carry);
            for (name, _) in carries {
                bound(*name, inside);
                l.condition.into_iter().for_each(|condition| bound(*name, body(condition)));
            }
        }
        ExprKind::Scan(s) => {
            let part = body(s.body);
            bound(s.index, part);
            let carries = s.carry.iter().chain(&s.lin_carry);
            let slices = s.slices.iter().chain(&s.lin_slices).chain(&s.cap_slices);
            carries.chain(slices).for_each(|(name, _)| bound(*name, part));
        }
        ExprKind::Lambda(l) => l.params.iter().for_each(|name| bound(*name, body(l.body))),
        ExprKind::Case(_, arms) => {
            for arm in arms {
                for field in &arm.fields {
                    if let FieldPattern::Bind(name) = field {
                        bound(*name, body(arm.body));
                    }
                }
            }
        }
        ExprKind::Total(t) => bound(t.name, body(t.body)),
        ExprKind::Read(r) => bound(r.name, body(r.body)),
        _ => {}
    }
}
