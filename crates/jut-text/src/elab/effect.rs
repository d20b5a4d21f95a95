//! What has no effect is refused: a loop or branch that gives nothing and does nothing (J603), and a name of
//! outside that is bound again for nothing (J604).
//!
//! A name that is no variable means one value, so a loop that only binds names does nothing, however much it reads
//! like a loop that assigns. Such a program would run, and give a wrong number without a word:
//!
//! ```text
//! s = 0.0
//! for (i < n) { s = s + x[i] }            J604: every iteration binds an `s` of its own
//! s = for (i < n) carry (s = s) { s + x[i] }
//! var s = 0.0                             or so: then the loop assigns
//!
//! if x > 0.0 { y = x } else { y = -x }    J603: nothing comes out of the arms
//! y = if x > 0.0 { x } else { -x }
//! ```
//!
//! A name of outside may be bound again where it is read afterwards in the same block: `x = x[i]; x * x` is
//! a shorter way to write two names. Only in a `for`, whose iterations run in order, may the new value not be
//! made of the old one and of its type: there it is meant for the next iteration.
//!
//! What counts as an effect: an assignment to a variable of outside, `+=`, `check`, `drop` of a linear value, a call with capabilities or without
//! results, wherever in the blocks it stands. Errors that an access would find do not.

use super::Res;
use super::body::Body;
use super::scope::{BindingId, Entity};
use crate::ast::{Ast, ExprId, ExprKind, LoopKind, Name, Pattern, Stmt, StmtKind};
use jut_ir::{Atom, Diagnostic, Span};

/// Names of outside that a statement is about to bind again: their bindings, and how often those had been read.
pub(super) type Rebound<'s> = Vec<(Name<'s>, BindingId, u32, Atom)>;

/// A statement that has bound a name of outside again.
pub(super) struct Again<'s> {
    /// The first such name.
    name: Name<'s>,
    /// All that the statement binds.
    bound: Vec<BindingId>,
    span: Span,
}

/// Whether an expression has blocks that names are lost at the end of.
pub(super) fn has_blocks(kind: &ExprKind<'_>) -> bool {
    matches!(kind, ExprKind::If(_) | ExprKind::Case(..) | ExprKind::Loop(_) | ExprKind::Scan(_))
}

impl<'a, 's> Body<'a, 's> {
    /// J603 unless something had an effect since there were so many.
    pub fn has_effect(&mut self, e: ExprId, effects: usize) -> Res<()> {
        let kind = &self.ast.expr(e).kind;
        let changes = || !self.assigned(|walk| walk.expr(e)).is_empty();
        if self.strict || self.effects > effects || changes() {
            return Ok(());
        }
        let what = match kind {
            ExprKind::If(_) | ExprKind::Case(..) => "branch",
            ExprKind::Loop(_) | ExprKind::Scan(_) => "loop",
            ExprKind::Block(block) if !block.stmts.is_empty() => "block",
            _ => return Ok(()),
        };
        let message = format!(
            "this {what} has no effect: it gives no value, adds nothing and checks nothing"
        );
        let error = Diagnostic::error("J603", self.span(e), message);
        let name = inner_names(self.ast, e).into_iter().next();
        let value = match kind {
            ExprKind::If(_) => "if c { .. } else { .. }",
            ExprKind::Case(..) => "case v { .. }",
            ExprKind::Block(_) => "{ .. }",
            _ => "sum (i < n) { .. }",
        };
        let text = name.map_or("y", |name| name.text);
        let advice = format!("take its value, `{text} = {value}`, or leave it out");
        let error = match name {
            Some(_) => self.mended(error, e, text, advice),
            None => error.help(advice),
        };
        self.fail(error)
    }

    /// The names of outside that a statement is about to bind again.
    pub fn rebound(&self, stmt: &Stmt<'s>) -> Option<Rebound<'s>> {
        let StmtKind::Let(pattern, _) = &stmt.kind else { return None };
        if self.strict || self.nesting == 0 {
            return None;
        }
        let mut names = Rebound::new();
        for name in pattern.names() {
            if let Some((id, atom)) = self.scope.outer(name.text) {
                names.push((name, id, self.scope.reads(id), atom));
            }
        }
        (!names.is_empty()).then_some(names)
    }

    /// After the statement: J604 for a value that was meant for the next iteration.
    pub fn bound_again(&mut self, rebound: Rebound<'s>, stmt: &Stmt<'s>) -> Res<Again<'s>> {
        let StmtKind::Let(pattern, _) = &stmt.kind else { return Err(super::Stop) };
        for (name, outer, reads, old) in &rebound {
            let of_old = self.scope.reads(*outer) > *reads;
            let new = self.scope.value(name.text);
            let same = new.is_some_and(|new| self.type_of(new) == self.type_of(*old));
            if self.ordered == Some(self.nesting) && of_old && same {
                return self.lost(*name, stmt.span);
            }
        }
        let bound = pattern.names().iter().filter_map(|n| self.scope.binding(n.text)).collect();
        let name = rebound.first().map(|(name, ..)| *name).ok_or(super::Stop)?;
        Ok(Again { name, bound, span: stmt.span })
    }

    /// At the end of a block: J604 for what nobody has read.
    pub fn none_lost(&mut self, again: &[Again<'s>]) -> Res<()> {
        for Again { name, bound, span } in again {
            if bound.iter().all(|id| self.scope.reads(*id) == 0) {
                return self.lost(*name, *span);
            }
        }
        Ok(())
    }

    fn lost<T>(&mut self, name: Name<'s>, span: Span) -> Res<T> {
        let text = name.text;
        let (what, advice) = match self.around.map(|e| &self.ast.expr(e).kind) {
            Some(ExprKind::Loop(l))
                if matches!(l.kind, LoopKind::For | LoopKind::Fold | LoopKind::While) =>
            {
                let advice = format!(
                    "carry it, `carry ({text} = {text})`, and end the body with its next value"
                );
                ("iteration", advice)
            }
            Some(ExprKind::Loop(_) | ExprKind::Scan(_)) => {
                let advice =
                    format!("carry it: `{text} = for (i < n) carry ({text} = {text}) {{ .. }}`");
                ("iteration", advice)
            }
            _ => (
                "branch",
                format!(
                    "give it as the value of the branch, `{text} = if c {{ .. }} else {{ {text} }}`"
                ),
            ),
        };
        let message = format!(
            "`{text}` is bound outside of this block, and what is bound to it here is lost at the end of the {what}"
        );
        let variable = format!("declare it as a variable, `var {text} = ..`");
        let advice = format!("{variable}; or {advice}; or give the new value another name");
        let error = Diagnostic::error("J604", span, message);
        let mut error = match self.around {
            Some(e) => self.mended(error, e, text, advice),
            None => error.help(advice),
        };
        if !error.help.contains(&variable) {
            error.help = format!("{}, or {variable}", error.help);
        }
        self.fail(error)
    }

    /// With the whole loop or branch as it should be written, if that is plain, or else the advice.
    fn mended(&self, error: Diagnostic, e: ExprId, name: &str, advice: String) -> Diagnostic {
        let ast = self.ast;
        let whole = match &ast.expr(e).kind {
            ExprKind::Loop(l) if l.kind == LoopKind::For && self.scope.binding(name).is_some() => {
                let none = l.carry.is_empty() && l.lin_carry.is_empty();
                let head = ast.text_between(ast.expr(e).span.start, ast.expr(l.body).span.start);
                let value = self.only_value(l.body, name).filter(|_| none);
                value.map(|v| format!("{} carry ({name} = {name}) {{ {v} }}", head.trim_end()))
            }
            ExprKind::If(chain) if chain.subject.is_none() => {
                let ways = chain.links.iter().map(|link| {
                    let condition = ast.text(link.condition);
                    Some(format!(
                        "if {condition} {{ {} }} else ",
                        self.only_value(link.then, name)?
                    ))
                });
                let other = chain.other.and_then(|other| self.only_value(other, name));
                let ways: Option<String> = ways.collect();
                ways.zip(other).map(|(ways, other)| format!("{ways}{{ {other} }}"))
            }
            _ => None,
        };
        match whole {
            Some(whole) => {
                let whole = format!("{name} = {whole}");
                error.help(format!("write `{whole}`")).replace(self.span(e), whole)
            }
            None => error.help(advice),
        }
    }

    /// The text of the value that a block binds to the name and does nothing else; of a block that does
    /// nothing, the name.
    fn only_value<'n>(&self, block: ExprId, name: &'n str) -> Option<&'n str>
    where
        's: 'n,
    {
        let ExprKind::Block(block) = &self.ast.expr(block).kind else { return None };
        match block.stmts.as_slice() {
            [] => self.scope.binding(name).map(|_| name),
            [Stmt { kind: StmtKind::Let(Pattern::Names { nl, lin, .. }, value), .. }] => {
                let only = nl.len() == 1 && lin.is_empty() && nl[0].name.text == name;
                only.then(|| self.ast.text(*value))
            }
            _ => None,
        }
    }

    /// After an error: the names that the blocks of a statement bind, and that mean nothing outside, were
    /// meant to be there behind it.
    pub fn poison_inner(&mut self, e: ExprId) {
        for name in inner_names(self.ast, e) {
            if self.scope.binding(name.text).is_none() {
                self.scope.bind(name.text, Entity::Poison);
            }
        }
    }
}

/// The names that the blocks of a loop or branch bind.
fn inner_names<'s>(ast: &Ast<'s>, e: ExprId) -> Vec<Name<'s>> {
    let blocks: Vec<ExprId> = match &ast.expr(e).kind {
        ExprKind::If(chain) => {
            chain.links.iter().map(|link| link.then).chain(chain.other).collect()
        }
        ExprKind::Case(_, arms) => arms.iter().map(|arm| arm.body).collect(),
        ExprKind::Loop(l) => vec![l.body],
        ExprKind::Scan(scan) => vec![scan.body],
        ExprKind::Block(_) => vec![e],
        _ => Vec::new(),
    };
    let mut names = Vec::new();
    for block in blocks {
        let ExprKind::Block(block) = &ast.expr(block).kind else { continue };
        for stmt in &block.stmts {
            if let StmtKind::Let(pattern, _) = &stmt.kind {
                names.extend(pattern.names());
            }
        }
    }
    names
}
