//! `break` and `continue`: a loop that ends early, and a round that does.
//!
//! ```text
//! for (i < n) {                             {
//!   if x[i] < 0.0 { continue }                var break = false
//!   s += sqrt(x[i])                           for (i < n) while !break {
//!   if s > most { break }                       var continue = false
//!   count += 1                                  if x[i] < 0.0 { continue = true } else {
//! }                                               s += sqrt(x[i])
//!                                                 if s > most { break = true } else { count += 1 }
//!                                               }
//!                                           } }
//! ```
//!
//! So the rest of jut knows of neither word: what they mean is what the text on the right means, derivatives and all.
//! A loop over elements, downwards, or over several indices has no condition; there all of its body is in an
//! `if !break`, and the rounds that are left do nothing.
//!
//! *Requires*: a loop that is a statement; the words stand in its block, in blocks of `if` and `case` in it, or in blocks by themselves.
//! Anywhere else they are names, and as such unknown. A file that has a name `break` has no jump of that name.
//! *Cost*: linear in the text, times the depth of its blocks.

use super::{Parsed, Parser};
use crate::ast::*;
use crate::lex::Kind;
use jut_ir::{Diagnostic, Span};

/// The words.
const WORDS: [&str; 2] = ["break", "continue"];

/// Which of [`WORDS`] may have been met.
#[derive(Clone, Copy, Default)]
pub(super) struct Left([bool; 2]);

impl Left {
    fn or(self, other: Left) -> Left {
        Left([self.0[0] || other.0[0], self.0[1] || other.0[1]])
    }
}

/// What some statements have become, and how they may end.
struct Guarded<'s> {
    stmts: Vec<Stmt<'s>>,
    left: Left,
    /// Whether they end by a jump in any case.
    always: bool,
}

impl<'s> Parser<'s, '_> {
    /// A loop whose body was read, before its indices become loops of their own: with jumps, the loop gets a condition or its body becomes one of
    /// `if !break`. Says whether a variable `break` is to be put around the loop.
    pub(super) fn jumps(&mut self, l: &mut Loop<'s>) -> Parsed<bool> {
        let statement = l.carry.is_empty() && l.lin_carry.is_empty();
        if !statement || !self.has_jumps(l.body) || self.gives_values(l.body) {
            return Ok(false);
        }
        let span = self.ast.expr(l.body).span;
        let Guarded { mut stmts, left: Left([ends, skips]), .. } = self.guarded_block(l.body)?;
        if skips {
            stmts.insert(0, self.flag(1, span));
        }
        let is_range = matches!(l.head[..], [] | [Range::Below(..) | Range::Between(..)]);
        if ends && is_range {
            let go_on = self.neither(Left([true, false]), span);
            let condition = match l.condition.take() {
                None => go_on,
                // What ended the loop may be what its condition cannot be asked about.
                Some(condition) => {
                    let no = self.add(ExprKind::Bool(false), span);
                    self.one_if(go_on, condition, Some(no), span)
                }
            };
            (l.kind, l.condition) = (LoopKind::While, Some(condition));
        } else if ends {
            let body = self.block_of(stmts, span);
            let go_on = self.neither(Left([true, false]), span);
            stmts = vec![self.statement(|p| p.one_if(go_on, body, None, span), span)];
        }
        l.body = self.block_of(stmts, span);
        Ok(ends)
    }

    /// The loop behind `var break = false`.
    pub(super) fn with_flag(&mut self, l: Loop<'s>, span: Span) -> ExprKind<'s> {
        let flag = self.flag(0, span);
        let stmt = self.statement(|p| p.add(ExprKind::Loop(Box::new(l)), span), span);
        ExprKind::Block(Block { stmts: vec![flag, stmt], span })
    }

    /// The loop that [`Parser::with_flag`] made of an expression, or the expression.
    pub(super) fn loop_in(&self, e: ExprId) -> ExprId {
        let ExprKind::Block(block) = &self.ast.expr(e).kind else { return e };
        match &block.stmts[..] {
            [
                Stmt { kind: StmtKind::Var(pattern, _), .. },
                Stmt { kind: StmtKind::Expr(of), .. },
            ] if pattern.names().iter().any(|n| self.are_jumps[0] && n.text == WORDS[0]) => *of,
            _ => e,
        }
    }

    /// Whether a body gives what the loop collects, as far as its last line tells.
    fn gives_values(&self, body: ExprId) -> bool {
        let ExprKind::Block(block) = &self.ast.expr(body).kind else { return true };
        let Some(stmt) = block.stmts.last() else { return false };
        let StmtKind::Expr(e) = stmt.kind else { return false };
        !self.is_jumping(stmt)
            && !matches!(
                &self.ast.expr(e).kind,
                ExprKind::Block(_)
                    | ExprKind::If(_)
                    | ExprKind::Case(..)
                    | ExprKind::Loop(_)
                    | ExprKind::Scan(_)
            )
    }

    /// Whether there are jumps of this loop in an expression.
    fn has_jumps(&self, e: ExprId) -> bool {
        match &self.ast.expr(e).kind {
            ExprKind::Block(block) => block.stmts.iter().any(|stmt| self.is_jumping(stmt)),
            ExprKind::If(i) => {
                i.links.iter().map(|l| l.then).chain(i.other).any(|e| self.has_jumps(e))
            }
            ExprKind::Case(_, arms) => arms.iter().any(|arm| self.has_jumps(arm.body)),
            _ => false,
        }
    }

    fn is_jumping(&self, stmt: &Stmt<'s>) -> bool {
        matches!(stmt.kind, StmtKind::Expr(e) if self.jump(stmt).is_some() || self.has_jumps(e))
    }

    /// The number of the word, if a statement is one.
    fn jump(&self, stmt: &Stmt<'s>) -> Option<usize> {
        let StmtKind::Expr(e) = stmt.kind else { return None };
        let ExprKind::Name(name) = &self.ast.expr(e).kind else { return None };
        let word = WORDS.iter().position(|word| *word == name.text)?;
        self.are_jumps[word].then_some(word)
    }

    /// What the block of an expression becomes; nothing is left of it there.
    fn guarded_block(&mut self, e: ExprId) -> Parsed<Guarded<'s>> {
        match &mut self.ast.exprs[e.0 as usize].kind {
            ExprKind::Block(block) => {
                let stmts = std::mem::take(&mut block.stmts);
                self.guarded(stmts)
            }
            _ => Ok(Guarded { stmts: Vec::new(), left: Left::default(), always: false }),
        }
    }

    /// The same, put back.
    fn guard_block(&mut self, e: ExprId) -> Parsed<(Left, bool)> {
        if !matches!(self.ast.expr(e).kind, ExprKind::Block(_)) {
            return Ok(Default::default());
        }
        let Guarded { stmts, left, always } = self.guarded_block(e)?;
        if let ExprKind::Block(block) = &mut self.ast.exprs[e.0 as usize].kind {
            block.stmts = stmts;
        }
        Ok((left, always))
    }

    /// Statements with jumps: what follows one is done only where it was not met.
    fn guarded(&mut self, stmts: Vec<Stmt<'s>>) -> Parsed<Guarded<'s>> {
        let mut done = Guarded { stmts: Vec::new(), left: Left::default(), always: false };
        let mut rest = stmts.into_iter();
        while let Some(stmt) = rest.next() {
            if let Some(word) = self.jump(&stmt) {
                if let Some(next) = rest.next() {
                    let message = format!("this is never done: it stands behind `{}`", WORDS[word]);
                    let help = "leave it out, or put the jump into an `if`";
                    return Err(self.fail(Diagnostic::error("J002", next.span, message).help(help)));
                }
                done.stmts.push(self.assigned(word, stmt.span));
                done.left.0[word] = true;
                done.always = true;
                return Ok(done);
            }
            let StmtKind::Expr(e) = stmt.kind else {
                done.stmts.push(stmt);
                continue;
            };
            if !self.has_jumps(e) {
                done.stmts.push(stmt);
                continue;
            }
            let (left, jumps) = self.guard_ways(e)?;
            done.left = done.left.or(left);
            done.always = jumps && self.is_total(e);
            done.stmts.push(stmt);
            let rest: Vec<Stmt<'s>> = rest.collect();
            let Some((first, last)) = rest.first().zip(rest.last()) else { return Ok(done) };
            let span = first.span.to(last.span);
            let Guarded { stmts, left: later, always } = self.guarded(rest)?;
            done.left = done.left.or(later);
            done.always |= always;
            let rest = self.block_of(stmts, span);
            match &mut self.ast.exprs[e.0 as usize].kind {
                // `if c { .. break }`, and then the rest: the rest is the `else`.
                ExprKind::If(i) if jumps && i.other.is_none() => i.other = Some(rest),
                _ => {
                    let go_on = self.neither(left, span);
                    done.stmts.push(self.statement(|p| p.one_if(go_on, rest, None, span), span));
                }
            }
            return Ok(done);
        }
        Ok(done)
    }

    /// The blocks of an expression with jumps: how they may end, and whether all of them end by a jump.
    fn guard_ways(&mut self, e: ExprId) -> Parsed<(Left, bool)> {
        let ways: Vec<ExprId> = match &self.ast.expr(e).kind {
            ExprKind::If(i) => i.links.iter().map(|l| l.then).chain(i.other).collect(),
            ExprKind::Case(_, arms) => arms.iter().map(|arm| arm.body).collect(),
            _ => vec![e],
        };
        let (mut left, mut all) = (Left::default(), true);
        for way in ways {
            let (of_way, always) = self.guard_block(way)?;
            left = left.or(of_way);
            all &= always;
        }
        Ok((left, all))
    }

    /// Whether one of its blocks is done in any case.
    fn is_total(&self, e: ExprId) -> bool {
        !matches!(&self.ast.expr(e).kind, ExprKind::If(i) if i.other.is_none())
    }

    fn flag(&mut self, word: usize, span: Span) -> Stmt<'s> {
        let no = self.add(ExprKind::Bool(false), span);
        Stmt { kind: StmtKind::Var(pattern(word, span), no), span }
    }

    fn assigned(&mut self, word: usize, span: Span) -> Stmt<'s> {
        let yes = self.add(ExprKind::Bool(true), span);
        Stmt { kind: StmtKind::Let(pattern(word, span), yes), span }
    }

    /// That none of some jumps was met: `!break`, `!(break || continue)`.
    fn neither(&mut self, left: Left, span: Span) -> ExprId {
        let words = WORDS.iter().zip(left.0).filter_map(|(word, met)| met.then_some(*word));
        let mut ops = Vec::new();
        for (k, text) in words.enumerate() {
            let name = self.add(ExprKind::Name(Name { text, span }), span);
            ops.push(Op::Operand(name));
            if k > 0 {
                ops.push(Op::Binary("||", span));
            }
        }
        ops.push(Op::Unary("!", span));
        self.add(ExprKind::Ops(ops), span)
    }

    fn one_if(
        &mut self,
        condition: ExprId,
        then: ExprId,
        other: Option<ExprId>,
        span: Span,
    ) -> ExprId {
        let links = vec![Link { condition, then, span }];
        self.add(ExprKind::If(Box::new(If { subject: None, links, other })), span)
    }

    fn block_of(&mut self, stmts: Vec<Stmt<'s>>, span: Span) -> ExprId {
        self.add(ExprKind::Block(Block { stmts, span }), span)
    }

    fn statement(&mut self, e: impl FnOnce(&mut Self) -> ExprId, span: Span) -> Stmt<'s> {
        Stmt { kind: StmtKind::Expr(e(self)), span }
    }

    /// Which words stand as statements wherever they stand.
    pub(super) fn find_jumps(&mut self) {
        let separates = |text: &str, kind: Kind| {
            matches!(kind, Kind::Newline | Kind::Doc | Kind::End) || matches!(text, ";" | "{" | "}")
        };
        for (k, token) in self.tokens.iter().enumerate() {
            let Some(word) = WORDS.iter().position(|word| *word == token.text) else { continue };
            let beside = [k.checked_sub(1), Some(k + 1)].map(|k| self.tokens.get(k?));
            let is_jump = beside.iter().flatten().all(|t| separates(t.text, t.kind));
            self.are_jumps[word] &= is_jump;
        }
    }
}

fn pattern<'s>(word: usize, span: Span) -> Pattern<'s> {
    let name = Name { text: WORDS[word], span };
    Pattern::Names { nl: vec![Item { name, ty: None }], lin: Vec::new(), span }
}
