//! Histograms: `hist (k < m) by max from e { (places, values) }`, one value for each of m bins.
//!
//! The block gives where each value belongs and the values; what a bin becomes of the values that belong there is written
//! down here, in terms of the surface, with names that no text can have:
//!
//! | operator | what it is |
//! |---|---|
//! | any, `op` | `var bins = first`, `for (place <- places, value <- values) { if 0 <= place && place < m { bins[place] = op(bins[place], value) } }` |
//! | `+` of numbers | `acc bins = first { for (..) { if .. { bins[place] += value } } }` |
//! | `max`, `min` | which value is the largest of each bin by a loop like the first, and then `build (k < m) { values[which[k]] }` |
//!
//! `first` is `build (k < m) { e }`, or what does not change any value, which is known only with their type
//! ([`crate::elab`]). So gradients of `+`, `max` and `min` have no tape but places, and a tie of `max` goes to the lowest
//! index, as that of `max (i < n) e` does.

use super::{Failed, Parsed, Parser};
use crate::ast::*;
use crate::lex::Kind;
use jut_ir::{Diagnostic, Span};

/// Names of what is written down here: the last word is the name in the core.
pub(crate) const BOUND: &str = "number of bins";
pub(crate) const PLACES: &str = "all places";
pub(crate) const VALUES: &str = "all values";
pub(crate) const COUNT: &str = "their count";
pub(crate) const FIRST: &str = "at first";
const BINS: &str = "these bins";
const PLACE: &str = "its place";
const VALUE: &str = "its value";
const WHICH: &str = "which";
const INDEX: &str = "this i";
const BEST: &str = "the best";
const OPERATOR: &str = "the operator";

impl<'s> Parser<'s, '_> {
    /// `hist (k < m) by op { .. }`.
    pub(super) fn histogram(&mut self) -> Parsed<ExprKind<'s>> {
        let start = self.at;
        self.expect("hist")?;
        let open = self.at;
        self.expect("(")?;
        let bin = self.name("the name of a bin")?;
        self.expect_helping("<", "bins are numbered from 0: `hist (k < m) by max { .. }`")?;
        let bound = self.additive()?;
        self.expect_close(open, ")")?;
        let help = "say what joins the values of a bin: `hist (k < m) by max { (places, values) }`";
        self.expect_helping("by", help)?;
        let (operator, lambda) = self.operator_of_bins()?;
        let head = self.span_from(start);
        let from = self.eat("from");
        let stated = self.at;
        let first = if from { Some(self.expr()?) } else { None };
        if !self.at("{") {
            let help = "the block gives two arrays, of places and of values: `hist (k < m) by max { (places, values) }`";
            return Err(self.expected_helping("`{`", help));
        }
        let from_span = from.then(|| self.span_from(stated));
        let body = self.nested(Self::block_expr)?;
        if let (Operator::Function(name), false) = (&operator, from) {
            let message = format!("what a bin has to begin with is not known for `{}`", name.text);
            let help = "say it behind the operator: `by f from 0.0 { .. }`; it does not change a value that is joined with it";
            return Err(self.fail(Diagnostic::error("J002", name.span, message).help(help)));
        }
        let span = self.span_from(start);
        let mut write = Writer { parser: self, span };
        let first = first.map(|e| write.build(bin, e));
        let (general, summed) = match &operator {
            Operator::Extremum(sign) => {
                let steps = write.extremum(sign, from);
                (steps, steps)
            }
            Operator::Sign("+") => (write.joined(&operator, None), write.summed()),
            _ => {
                let steps = write.joined(&operator, lambda);
                (steps, steps)
            }
        };
        Ok(ExprKind::Hist(Box::new(Hist {
            bound,
            operator,
            first,
            from: from_span,
            body,
            general,
            summed,
            head,
        })))
    }

    /// What stands behind `by`: its name, and the function if it has none.
    fn operator_of_bins(&mut self) -> Parsed<(Operator<'s>, Option<ExprId>)> {
        let token = self.peek();
        for sign in ["+", "*", "&&", "||"] {
            if self.eat(sign) {
                return Ok((Operator::Sign(sign), None));
            }
        }
        if token.kind == Kind::Name && !self.is_lambda() {
            let name = self.path("an operator")?;
            return Ok(match name.text {
                "max" => (Operator::Extremum(">"), None),
                "min" => (Operator::Extremum("<"), None),
                _ => (Operator::Function(name), None),
            });
        }
        let open = self.at;
        let in_brackets = self.eat("(");
        if !self.is_lambda() {
            self.at = open;
            return Err(self.no_operator());
        }
        let lambda = self.lambda()?;
        if in_brackets {
            self.expect_close(open, ")")?;
        }
        let span = self.ast.expr(lambda).span;
        Ok((Operator::Function(Name { text: OPERATOR, span }), Some(lambda)))
    }

    fn no_operator(&mut self) -> Failed {
        let help = "write `max`, `min`, `+`, `*`, `&&`, `||`, the name of a function of two values, or `fn (a, b) -> ..`";
        self.expected_helping("an operator", help)
    }
}

/// Writes down what a histogram is.
struct Writer<'p, 's, 'd> {
    parser: &'p mut Parser<'s, 'd>,
    span: Span,
}

impl<'s> Writer<'_, 's, '_> {
    fn add(&mut self, kind: ExprKind<'s>) -> ExprId {
        self.parser.add(kind, self.span)
    }

    fn named(&self, text: &'s str) -> Name<'s> {
        Name { text, span: self.span }
    }

    fn name(&mut self, text: &'s str) -> ExprId {
        let name = self.named(text);
        self.add(ExprKind::Name(name))
    }

    /// `array[index]`.
    fn element(&mut self, array: &'s str, index: &'s str) -> ExprId {
        let (array, index) = (self.name(array), self.name(index));
        let steps = vec![Post::Index(vec![Index::At { index, proved: false }], self.span)];
        self.add(ExprKind::Post(array, steps))
    }

    fn infix(&mut self, a: ExprId, sign: &'static str, b: ExprId) -> ExprId {
        let ops = vec![Op::Operand(a), Op::Operand(b), Op::Binary(sign, self.span)];
        self.add(ExprKind::Ops(ops))
    }

    fn block(&mut self, stmts: Vec<StmtKind<'s>>) -> ExprId {
        let span = self.span;
        let stmts = stmts.into_iter().map(|kind| Stmt { kind, span }).collect();
        self.add(ExprKind::Block(Block { stmts, span }))
    }

    fn pattern(&self, text: &'s str) -> Pattern<'s> {
        let item = Item { name: self.named(text), ty: None };
        Pattern::Names { nl: vec![item], lin: Vec::new(), span: self.span }
    }

    fn one_if(&mut self, condition: ExprId, then: ExprId, other: Option<ExprId>) -> ExprId {
        let links = vec![Link { condition, then, span: self.span }];
        self.add(ExprKind::If(Box::new(If { subject: None, links, other })))
    }

    fn range_loop(&mut self, kind: LoopKind, head: Vec<Range<'s>>, body: ExprId) -> ExprId {
        let (carry, lin_carry, condition) = (Vec::new(), Vec::new(), None);
        self.add(ExprKind::Loop(Box::new(Loop { kind, head, carry, lin_carry, condition, body })))
    }

    /// `build (bin < m) { e }`.
    fn build(&mut self, bin: Name<'s>, e: ExprId) -> ExprId {
        let bound = self.name(BOUND);
        self.range_loop(LoopKind::Build, vec![Range::Below(bin, bound)], e)
    }

    /// A loop over places and values, with an index or without, for the places that are bins.
    fn over_values(&mut self, with_index: bool, step: Vec<StmtKind<'s>>) -> StmtKind<'s> {
        let (place, zero, bound) = (self.name(PLACE), self.add(ExprKind::Int(0)), self.name(BOUND));
        let above = self.infix(zero, "<=", place);
        let below = self.infix(place, "<", bound);
        let is_bin = self.infix(above, "&&", below);
        let step = self.block(step);
        let body = self.one_if(is_bin, step, None);
        let body = self.block(vec![StmtKind::Expr(body)]);
        let mut head = Vec::new();
        if with_index {
            let count = self.name(COUNT);
            head.push(Range::Below(self.named(INDEX), count));
        }
        for (name, array) in [(PLACE, PLACES), (VALUE, VALUES)] {
            let array = self.name(array);
            head.push(Range::Each(self.named(name), array));
        }
        StmtKind::Expr(self.range_loop(LoopKind::For, head, body))
    }

    /// Each value is joined with what its bin is by then.
    fn joined(&mut self, operator: &Operator<'s>, lambda: Option<ExprId>) -> ExprId {
        let mut stmts = Vec::new();
        if let Some(lambda) = lambda {
            stmts.push(StmtKind::Let(self.pattern(OPERATOR), lambda));
        }
        let first = self.name(FIRST);
        stmts.push(StmtKind::Var(self.pattern(BINS), first));
        let (old, value) = (self.element(BINS, PLACE), self.name(VALUE));
        let new = match operator {
            Operator::Sign(sign) | Operator::Extremum(sign) => self.infix(old, sign, value),
            Operator::Function(func) => {
                let (func, args) = (*func, vec![old, value]);
                let (sizes, lin, places) = (Vec::new(), Vec::new(), Vec::new());
                self.add(ExprKind::Call(Box::new(Call { func, sizes, args, lin, places })))
            }
        };
        let place = self.element(BINS, PLACE);
        stmts.push(self.over_values(false, vec![StmtKind::Set(place, None, new)]));
        let bins = self.name(BINS);
        stmts.push(StmtKind::Expr(bins));
        self.block(stmts)
    }

    /// Sums, in no order that a later value could see.
    fn summed(&mut self) -> ExprId {
        let (place, value) = (self.element(BINS, PLACE), self.name(VALUE));
        let step = self.over_values(false, vec![StmtKind::Inc(place, value)]);
        let body = self.block(vec![step]);
        let (name, start) = (self.named(BINS), Some(self.name(FIRST)));
        let (mode, lanes, ty) = (jut_ir::Mode::Acc, false, None);
        self.add(ExprKind::Total(Box::new(Total { mode, lanes, name, ty, start, body })))
    }

    /// `var which = build (k < m) { -1 }`, then the index of each bin's largest value, and what is there.
    fn extremum(&mut self, sign: &'static str, from: bool) -> ExprId {
        let index = self.named(INDEX);
        let none = self.none();
        let which = self.build(index, none);
        let declared = StmtKind::Var(self.pattern(WHICH), which);
        let best = self.best(PLACE);
        let mut steps = vec![StmtKind::Let(self.pattern(BEST), best)];
        // A NaN is larger, and smaller, than everything else, and the first one stays.
        let [value, other, again, old, best] =
            [VALUE, VALUE, VALUE, BEST, BEST].map(|n| self.name(n));
        let beats = self.infix(value, sign, old);
        let is_nan = self.infix(other, "!=", again);
        let was = self.name(BEST);
        let was_number = self.infix(best, "==", was);
        let first_nan = self.infix(is_nan, "&&", was_number);
        let mut better = self.infix(beats, "||", first_nan);
        if !from {
            let none = self.is_none(PLACE);
            better = self.infix(better, "||", none);
        }
        let (place, index) = (self.element(WHICH, PLACE), self.name(INDEX));
        let set = self.block(vec![StmtKind::Set(place, None, index)]);
        steps.push(StmtKind::Expr(self.one_if(better, set, None)));
        let search = self.over_values(true, steps);
        let best = self.best(INDEX);
        let index = self.named(INDEX);
        let result = self.build(index, best);
        self.block(vec![declared, search, StmtKind::Expr(result)])
    }

    /// `-1`.
    fn none(&mut self) -> ExprId {
        let one = self.add(ExprKind::Int(1));
        self.add(ExprKind::Ops(vec![Op::Operand(one), Op::Unary("-", self.span)]))
    }

    /// `which[bin] < 0`.
    fn is_none(&mut self, bin: &'s str) -> ExprId {
        let (which, zero) = (self.element(WHICH, bin), self.add(ExprKind::Int(0)));
        self.infix(which, "<", zero)
    }

    /// `if which[bin] < 0 { first[bin] } else { values[which[bin]] }`.
    fn best(&mut self, bin: &'s str) -> ExprId {
        let condition = self.is_none(bin);
        let first = self.element(FIRST, bin);
        let index = self.element(WHICH, bin);
        let steps = vec![Post::Index(vec![Index::At { index, proved: false }], self.span)];
        let values = self.name(VALUES);
        let value = self.add(ExprKind::Post(values, steps));
        let (then, other) =
            (self.block(vec![StmtKind::Expr(first)]), self.block(vec![StmtKind::Expr(value)]));
        self.one_if(condition, then, Some(other))
    }
}
