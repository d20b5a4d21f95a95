//! Which variables a part of the text assigns.
//!
//! A loop has to know before its body what it carries. So the text is walked: a name before `=`, `+=` and the
//! like is an assignment if it is a variable where the part begins, and nothing in the part has hidden it by then:
//! a `var`, the head of a loop, a carry, the pattern of an arm.
//!
//! Cost: linear in the part, and nothing where no variable is declared. Blocks in blocks are walked once for each
//! block around them, and the parser bounds how many these are.

use super::scope::{Scope, VarId};
use crate::ast::{
    Ast, Block, ExprId, ExprKind, FieldPattern, If, Index, Loop, Name, Op, Post, Printed, Range,
    Scan, Stmt, StmtKind,
};
use jut_ir::hash::HashMap;

/// A walk over a part of the text.
pub(super) struct Assigned<'b, 's> {
    ast: &'b Ast<'s>,
    scope: &'b Scope<'s>,
    /// Names that mean something else, the innermost last, and how often each is there.
    hidden: Vec<&'s str>,
    times: HashMap<&'s str, usize>,
    found: Vec<VarId>,
    /// A name that is looked for, and whether it was there where it was not hidden.
    sought: Option<&'s str>,
    mentioned: bool,
}

/// Whether an expression mentions a name of outside.
pub(super) fn mentions<'b, 's>(
    ast: &'b Ast<'s>,
    scope: &'b Scope<'s>,
    e: ExprId,
    name: &'s str,
) -> bool {
    let mut walk = Assigned::new(ast, scope);
    walk.sought = Some(name);
    walk.expr(e);
    walk.mentioned
}

/// The variables that what `walk` visits assigns, in the order of their declarations.
pub(super) fn assigned<'b, 's>(
    ast: &'b Ast<'s>,
    scope: &'b Scope<'s>,
    walk: impl FnOnce(&mut Assigned<'b, 's>),
) -> Vec<VarId> {
    if scope.variables().is_empty() {
        return Vec::new();
    }
    let mut assigned = Assigned::new(ast, scope);
    walk(&mut assigned);
    assigned.found.sort_unstable();
    assigned.found.dedup();
    assigned.found
}

impl<'b, 's> Assigned<'b, 's> {
    fn new(ast: &'b Ast<'s>, scope: &'b Scope<'s>) -> Self {
        let (hidden, times, found) = (Vec::new(), HashMap::default(), Vec::new());
        Assigned { ast, scope, hidden, times, found, sought: None, mentioned: false }
    }

    /// What an expression assigns.
    pub fn expr(&mut self, e: ExprId) {
        let ast = self.ast;
        match &ast.expr(e).kind {
            ExprKind::Name(name) => {
                self.mentioned |= self.sought == Some(name.text) && !self.is_hidden(name.text);
            }
            ExprKind::Int(_) | ExprKind::Narrow(_) => {}
            ExprKind::Float(_) | ExprKind::Single(_) => {}
            ExprKind::Bool(_) | ExprKind::Zero(_) => {}
            ExprKind::Ops(ops) => {
                for op in ops {
                    if let Op::Operand(e) = op {
                        self.expr(*e);
                    }
                }
            }
            ExprKind::Post(base, steps) => {
                self.expr(*base);
                self.steps(steps);
            }
            ExprKind::With(with) => {
                self.expr(with.array);
                self.steps(&with.path);
                self.expr(with.value);
            }
            ExprKind::WithField(record, _, value) => self.exprs(&[*record, *value]),
            ExprKind::Take(x, path) => {
                self.expr(*x);
                self.steps(path);
            }
            ExprKind::Lambda(lambda) => self.under(lambda.params.iter().copied(), lambda.body),
            ExprKind::Derived(derived) => {
                derived.lambda.iter().chain(&derived.call.args).for_each(|e| self.expr(*e));
            }
            ExprKind::Call(call) => {
                self.exprs(call.args.iter().chain(&call.lin).chain(call.places.iter().flatten()));
            }
            ExprKind::List(nl, lin) => self.exprs(nl.iter().chain(lin)),
            ExprKind::Block(block) => self.block(block),
            ExprKind::Tuple(items) | ExprKind::Array(items) => self.exprs(items),
            ExprKind::If(chain) => {
                self.exprs(&chain.subject);
                self.chain(chain, 0, chain.links.len());
            }
            ExprKind::Case(scrutinee, arms) => {
                self.expr(*scrutinee);
                for arm in arms {
                    self.arm(&arm.fields, arm.body);
                }
            }
            ExprKind::Loop(l) => {
                for range in &l.head {
                    match range {
                        Range::Below(_, e) | Range::Each(_, e) => self.expr(*e),
                        Range::Between(a, _, b) | Range::Down(a, _, b) => self.exprs(&[*a, *b]),
                    }
                }
                self.exprs(l.carry.iter().chain(&l.lin_carry).map(|(_, start)| start));
                self.range_loop(l);
            }
            ExprKind::Scan(scan) => {
                self.expr(scan.bound);
                let starts = [&scan.carry, &scan.lin_carry, &scan.slices, &scan.lin_slices];
                self.exprs(starts.into_iter().flatten().map(|(_, start)| start));
                self.scan(scan);
            }
            ExprKind::Hist(hist) => {
                self.expr(hist.bound);
                self.exprs(hist.first.iter().chain([&hist.body, &hist.general]));
            }
            ExprKind::Read(read) => {
                self.expr(read.value);
                self.under([read.name], read.body);
            }
            ExprKind::Total(total) => {
                self.exprs(&total.start);
                self.under([total.name], total.body);
            }
            ExprKind::Rd(e) | ExprKind::Dup(e) | ExprKind::Drop(e) => self.expr(*e),
            ExprKind::Cast { value, .. } => self.expr(*value),
        }
    }

    fn exprs<'e>(&mut self, list: impl IntoIterator<Item = &'e ExprId>) {
        for e in list {
            self.expr(*e);
        }
    }

    fn steps(&mut self, steps: &[Post<'s>]) {
        for step in steps {
            if let Post::Index(list, _) = step {
                self.indices(list);
            }
        }
    }

    fn indices(&mut self, list: &[Index]) {
        for index in list {
            match *index {
                Index::At { index, .. } => self.expr(index),
                Index::Slice { lo: a, len: b, .. } | Index::Range(a, b) => self.exprs(&[a, b]),
            }
        }
    }

    /// The ways of an `if` from one to before another, and their conditions.
    pub fn chain(&mut self, chain: &If, first: usize, last: usize) {
        for link in chain.links.iter().take(last).skip(first) {
            self.expr(link.condition);
            self.expr(link.then);
        }
        match chain.links.get(last) {
            Some(link) => self.expr(link.then),
            None => self.exprs(&chain.other),
        }
    }

    /// An arm of a `case`.
    pub fn arm(&mut self, fields: &[FieldPattern<'s>], body: ExprId) {
        let names = fields.iter().filter_map(|field| match field {
            FieldPattern::Bind(name) => Some(*name),
            FieldPattern::Eq(_) => None,
        });
        self.under(names, body);
    }

    /// The body of a loop of the surface.
    pub fn range_loop(&mut self, l: &Loop<'s>) {
        let indices = l.head.iter().map(|range| match range {
            Range::Below(name, _)
            | Range::Between(_, name, _)
            | Range::Down(_, name, _)
            | Range::Each(name, _) => *name,
        });
        let carries = l.carry.iter().chain(&l.lin_carry).map(|(name, _)| *name);
        self.under(indices.chain(carries), l.body);
    }

    /// The body of a loop of the core.
    pub fn scan(&mut self, s: &Scan<'s>) {
        let bound = [&s.carry, &s.lin_carry, &s.slices, &s.lin_slices, &s.cap_slices];
        let names = bound.into_iter().flatten().map(|(name, _)| *name);
        self.under(names.chain([s.index]), s.body);
    }

    /// A body in which some names mean something else.
    pub fn under(&mut self, names: impl IntoIterator<Item = Name<'s>>, body: ExprId) {
        let mark = self.hidden.len();
        self.hide(names);
        self.expr(body);
        self.show(mark);
    }

    fn hide(&mut self, names: impl IntoIterator<Item = Name<'s>>) {
        for name in names {
            self.hidden.push(name.text);
            *self.times.entry(name.text).or_default() += 1;
        }
    }

    fn is_hidden(&self, name: &str) -> bool {
        self.times.get(name).is_some_and(|times| *times > 0)
    }

    /// What was hidden since there were so many is not hidden any more.
    fn show(&mut self, mark: usize) {
        for name in self.hidden.drain(mark..) {
            if let Some(times) = self.times.get_mut(name) {
                *times = times.saturating_sub(1);
            }
        }
    }

    fn block(&mut self, block: &Block<'s>) {
        let mark = self.hidden.len();
        for stmt in &block.stmts {
            self.stmt(stmt);
        }
        self.show(mark);
    }

    fn stmt(&mut self, stmt: &Stmt<'s>) {
        match &stmt.kind {
            StmtKind::Let(pattern, e) => {
                self.expr(*e);
                for name in pattern.names() {
                    self.name(name);
                }
                let sought = self.sought;
                self.hide(pattern.names().into_iter().filter(|name| sought == Some(name.text)));
            }
            StmtKind::Var(pattern, e) | StmtKind::Part(pattern, e) => {
                self.expr(*e);
                self.hide(pattern.names());
            }
            StmtKind::Expr(e)
            | StmtKind::NonNegative(e)
            | StmtKind::Exact(e)
            | StmtKind::Assert(e) => self.expr(*e),
            StmtKind::Inc(target, e) | StmtKind::Set(target, _, e) => {
                self.expr(*e);
                self.target(*target);
            }
            StmtKind::SetAll(targets, e) => {
                self.expr(*e);
                for target in targets {
                    self.target(*target);
                }
            }
            StmtKind::Print(items) => {
                for item in items {
                    if let Printed::Value(e) = item {
                        self.expr(*e);
                    }
                }
            }
            StmtKind::Show(_, e) => e.iter().for_each(|e| self.expr(*e)),
            StmtKind::Below(i, n) => self.exprs(&[*i, *n]),
            StmtKind::Within(lo, len, size) => self.exprs(&[*lo, *len, *size]),
        }
    }

    /// What stands before `=`, `+=` and the like.
    fn target(&mut self, target: ExprId) {
        self.expr(target);
        if let Some(name) = root(self.ast, target) {
            self.name(name);
        }
    }

    fn name(&mut self, name: Name<'s>) {
        if !self.is_hidden(name.text) {
            self.found.extend(self.scope.variable(name.text));
        }
    }
}

/// The name that a place belongs to: `x` of `x`, `x[i]`, `x.a`.
pub(super) fn root<'s>(ast: &Ast<'s>, target: ExprId) -> Option<Name<'s>> {
    let base = match &ast.expr(target).kind {
        ExprKind::Post(base, _) => *base,
        _ => target,
    };
    match &ast.expr(base).kind {
        ExprKind::Name(name) => Some(*name),
        _ => None,
    }
}
