//! Expressions. Operators go through a precedence stack into postfix order, so a chain costs one
//! Rust frame however long it is; recursion is left to brackets.

use super::{Failed, Parsed, Parser};
use crate::ast::*;
use crate::hints::{LAMBDA, UNTYPED};
use crate::lex::{Kind, Token};
use jut_ad::language::Deriver;
use jut_ir::{Diagnostic, Span, TapePolicy};
use std::collections::HashSet;

/// Binary operators with their binding strength.
const BINARY: &[(&str, u8)] = &[
    ("||", 1),
    ("&&", 2),
    ("==", 3),
    ("!=", 3),
    ("<", 3),
    ("<=", 3),
    (">", 3),
    (">=", 3),
    ("+", 4),
    ("-", 4),
    ("*", 5),
    ("/", 5),
    ("%", 5),
    ("^", 7),
];
const COMPARISON: u8 = 3;
const ADDITIVE: u8 = 4;
const UNARY: u8 = 6;
const POWER: u8 = 7;

/// Whether a token is a binary operator.
pub(super) fn is_operator(token: Token) -> bool {
    BINARY.iter().any(|(op, _)| token.is(op))
}

impl<'s> Parser<'s, '_> {
    pub(super) fn add(&mut self, kind: ExprKind<'s>, span: Span) -> ExprId {
        let id = ExprId(self.ast.exprs.len() as u32);
        self.ast.exprs.push(Expr { kind, span, tape: TapePolicy::Free });
        id
    }

    /// An expression, with a tape policy before it or without.
    pub(super) fn expr(&mut self) -> Parsed<ExprId> {
        if !self.at("@") {
            return self.nested(|p| p.operators(0));
        }
        let tape = self.tape_policy()?;
        let e = self.nested(|p| p.operators(0))?;
        let of = self.loop_in(e);
        self.ast.exprs[of.0 as usize].tape = tape;
        Ok(e)
    }

    /// `@store`, `@segment(k)`.
    fn tape_policy(&mut self) -> Parsed<TapePolicy> {
        let start = self.at;
        self.at += 1;
        let word = self.bump();
        let mut number = None;
        if self.at("(") {
            let open = self.at;
            self.at += 1;
            let token = self.bump();
            number = Some(token.text.replace('_', "").parse().unwrap_or(0));
            self.expect_close(open, ")")?;
        }
        TapePolicy::of(word.text, number).ok_or_else(|| {
            let message = "this is no tape policy";
            let help = format!(
                "write `@store` or `@recompute`, and before a loop `@segment(k)` with the iterations of a segment, or \
                 `@levels(d)` with 1 to {} levels, or `@revolve(c)` and before a `while` `@online(c)` with 1 to {} checkpoints",
                TapePolicy::DEEPEST,
                TapePolicy::MOST
            );
            self.fail(Diagnostic::error("J002", self.span_from(start), message).help(help))
        })
    }

    /// An expression without comparisons: a bound, a size.
    pub(super) fn additive(&mut self) -> Parsed<ExprId> {
        self.nested(|p| p.operators(ADDITIVE))
    }

    /// Operators at least as strong as `min`, and their operands.
    fn operators(&mut self, min: u8) -> Parsed<ExprId> {
        let start = self.at;
        let mut out: Vec<Op> = Vec::new();
        let mut stack: Vec<(Op, u8)> = Vec::new();
        loop {
            while self.peek().kind == Kind::Symbol {
                let op = match self.peek().text {
                    "-" => "-",
                    "!" => "!",
                    _ => break,
                };
                let token = self.bump();
                stack.push((Op::Unary(op, self.span(token)), UNARY));
            }
            let operand = self.postfix()?;
            out.push(Op::Operand(operand));
            let token = self.peek();
            // `a<-b` outside the head of a loop is a comparison with `-b`.
            let arrow = token.kind == Kind::Symbol && token.text == "<-" && min <= COMPARISON;
            let (op, strength) = match BINARY.iter().find(|(op, _)| self.at(op)) {
                _ if arrow => ("<", COMPARISON),
                Some((op, strength)) if *strength >= min => (*op, *strength),
                _ => break,
            };
            let span = self.span(token);
            while let Some((top, above)) = stack.last() {
                if *above < strength || strength == POWER {
                    break;
                }
                if *above == COMPARISON && strength == COMPARISON {
                    let message = "comparisons cannot be chained";
                    return Err(self.fail(
                        Diagnostic::error("J002", span, message)
                            .help("join two comparisons with `&&`"),
                    ));
                }
                out.push(*top);
                stack.pop();
            }
            self.bump();
            stack.push((Op::Binary(op, span), strength));
            if arrow {
                stack.push((Op::Unary("-", span), UNARY));
            }
        }
        if let ([Op::Operand(operand)], true) = (out.as_slice(), stack.is_empty()) {
            return Ok(*operand);
        }
        out.extend(stack.into_iter().rev().map(|(op, _)| op));
        let span = self.span_from(start);
        Ok(self.add(ExprKind::Ops(out), span))
    }

    fn postfix(&mut self) -> Parsed<ExprId> {
        let start = self.at;
        let base = self.primary()?;
        let mut steps = Vec::new();
        loop {
            let at = self.at;
            if self.at("[") {
                let list = self.indices()?;
                if self.at("(")
                    && steps.is_empty()
                    && let ExprKind::Name(func) = self.ast.expr(base).kind
                    && let Some(sizes) = list.iter().map(Index::as_size).collect()
                {
                    return self.sized_call(func, sizes, start);
                }
                steps.push(Post::Index(list, self.span_from(at)));
            } else if self.at(".") {
                steps.push(self.named_part()?);
            } else {
                break;
            }
        }
        let array = if steps.is_empty() {
            base
        } else {
            let span = self.span_from(start);
            self.add(ExprKind::Post(base, steps), span)
        };
        if self.at("with") { self.update(array, start) } else { Ok(array) }
    }

    pub(super) fn index(&mut self) -> Parsed<Index> {
        let mut proved = false;
        if self.at("!") {
            self.at += 1;
            proved = true;
        }
        let first = self.additive()?;
        if self.eat("..+") {
            let len = self.additive()?;
            return Ok(Index::Slice { lo: first, len, proved });
        }
        if !proved && self.eat("..") {
            return Ok(Index::Range(first, self.additive()?));
        }
        Ok(Index::At { index: first, proved })
    }

    pub(super) fn primary(&mut self) -> Parsed<ExprId> {
        let start = self.at;
        let token = self.peek();
        match token.kind {
            Kind::Name if self.is_lend() => {
                let start = self.at;
                self.at += 1;
                let kind = self.read_region(true)?;
                Ok(self.add(kind, self.span_from(start)))
            }
            Kind::Name if self.is_lambda() => self.lambda(),
            Kind::Name => {
                let length = self.path_length(self.at);
                if self.is_at(self.at + length, "(") {
                    return self.call();
                }
                let name = self.name("a name")?;
                Ok(self.add(ExprKind::Name(name), name.span))
            }
            Kind::Linear => {
                let name = self.linear_name()?;
                Ok(self.add(ExprKind::Name(name), name.span))
            }
            Kind::Int | Kind::Float => self.number(),
            Kind::Keyword => self.keyword(),
            Kind::Symbol => match token.text {
                "(" => self.parenthesised(),
                "{" => self.block_expr(),
                "#(" => {
                    self.at += 1;
                    let items = self.exprs_until(")")?;
                    self.expect_close(start, ")")?;
                    let span = self.span_from(start);
                    Ok(self.add(ExprKind::Tuple(items), span))
                }
                "[" => {
                    self.at += 1;
                    let items = self.exprs_until("]")?;
                    self.expect_close(start, "]")?;
                    let span = self.span_from(start);
                    Ok(self.add(ExprKind::Array(items), span))
                }
                _ => Err(self.no_expression()),
            },
            _ => Err(self.no_expression()),
        }
    }

    /// Whether `fn (..) ->` stands there.
    pub(super) fn is_lambda(&self) -> bool {
        self.peek().text == "fn" && self.is_at(self.at + 1, "(") && {
            let close = self.close.get(self.at + 1).copied().unwrap_or(0) as usize;
            close > self.at && self.is_at(close + 1, "->")
        }
    }

    /// `fn (x, y) -> e`.
    pub(super) fn lambda(&mut self) -> Parsed<ExprId> {
        let start = self.at;
        self.at += 1;
        let open = self.at;
        self.expect("(")?;
        let mut params = Vec::new();
        while !self.at(")") {
            params.push(self.name("the name of a parameter")?);
            if self.at(":") {
                return Err(self.expected_helping("`,` or `)`", UNTYPED));
            }
            if !self.eat(",") {
                break;
            }
        }
        self.expect_close(open, ")")?;
        self.expect("->")?;
        let is_type = matches!(self.peek().text, "f64" | "i64" | "bool" | "f32" | "i32" | "c64");
        if is_type && self.is_at(self.at + 1, "{") {
            return Err(self.expected_helping("what the function gives", UNTYPED));
        }
        let body = self.nested(Self::body)?;
        let span = self.span_from(start);
        Ok(self.add(ExprKind::Lambda(Box::new(Lambda { params, body })), span))
    }

    fn no_expression(&mut self) -> Failed {
        let before = self.peek_at(self.at.saturating_sub(1));
        let help = match (before.text, self.peek().text) {
            ("*", "*") => "a power is written `x^2`",
            ("/", "*") => "a comment begins with `//` and ends with its line",
            ("+", "+") => "write `x += 1`, where `x` is declared by `var x = ..`",
            ("=", ">") => "an arm is written `K(x) -> ..`",
            ("=", _) => "the value stands behind the `=`",
            ("..", "=") => "the last element of a slice is not a part of it: `x[a .. b + 1]`",
            (_, "|" | "||" | "\\") => LAMBDA,
            (_, "def") => {
                "a definition stands at the top of a file; in a block a function is `g = fn (y) -> ..`"
            }
            (_, "..") => "both ends of a slice are written: `x[0 .. b]`, `x[a .. n]`",
            _ if self.peek().kind == Kind::Text => {
                "a text stands behind `print` or `assert`: `print \"x =\", x`, without brackets"
            }
            _ if self.peek().kind == Kind::Keyword => "keywords cannot be used as names",
            _ => return self.expected("an expression"),
        };
        self.expected_helping("an expression", help)
    }

    fn number(&mut self) -> Parsed<ExprId> {
        let token = self.bump();
        let span = self.span(token);
        let digits = token.text.replace('_', "");
        let kind = match token.kind {
            Kind::Int => match digits.strip_suffix("i32") {
                Some(digits) => digits.parse().ok().filter(|n| *n <= 1 << 31).map(ExprKind::Narrow),
                None => digits.parse().ok().filter(|n| *n <= 1 << 63).map(ExprKind::Int),
            },
            _ => match digits.strip_suffix("f32") {
                Some(digits) => {
                    digits.parse().ok().filter(|x: &f32| x.is_finite()).map(ExprKind::Single)
                }
                None => digits.parse().ok().filter(|x: &f64| x.is_finite()).map(ExprKind::Float),
            },
        };
        match kind {
            Some(kind) => Ok(self.add(kind, span)),
            None => {
                let what = if token.kind == Kind::Int { "an i64" } else { "an f64" };
                let message = format!("the number is too large for {what}");
                let help = match token.kind {
                    Kind::Int => {
                        "the largest i64 is 9223372036854775807; for an f64 put `.0` behind"
                    }
                    _ => "the largest f64 is 1.7976931348623157e308; infinity is `inf()`",
                };
                Err(self.fail(Diagnostic::error("J001", span, message).help(help)))
            }
        }
    }

    pub(super) fn exprs_until(&mut self, close: &str) -> Parsed<Vec<ExprId>> {
        let mut items = Vec::new();
        while !self.at(close) && !self.at(";") {
            items.push(self.expr()?);
            if !self.eat(",") {
                break;
            }
        }
        Ok(items)
    }

    /// `(e)`, or a list of several values.
    fn parenthesised(&mut self) -> Parsed<ExprId> {
        let start = self.at;
        self.expect("(")?;
        let nl = self.exprs_until(")")?;
        let mut lin = Vec::new();
        let several = self.eat(";");
        if several {
            lin = self.exprs_until(")")?;
        }
        self.expect_close(start, ")")?;
        if let ([one], false) = (nl.as_slice(), several) {
            return Ok(*one);
        }
        let span = self.span_from(start);
        Ok(self.add(ExprKind::List(nl, lin), span))
    }

    fn call(&mut self) -> Parsed<ExprId> {
        let start = self.at;
        let func = self.path("a function")?;
        let open = self.at;
        self.expect("(")?;
        let args = self.exprs_until(")")?;
        let (mut lin, mut places) = (Vec::new(), Vec::new());
        if self.eat(";") {
            lin = self.exprs_until(")")?;
            if self.eat(";") {
                while !self.at(")") {
                    let null = self.peek().text == "null" && !self.is_at(self.at + 1, "[");
                    self.at += usize::from(null);
                    let place = if null { None } else { Some(self.place()?) };
                    places.push(place);
                    if !self.eat(",") {
                        break;
                    }
                }
            }
        }
        self.expect_close(open, ")")?;
        let call = Call { func, sizes: Vec::new(), args, lin, places };
        if self.at("(") && Deriver::is_word(call.func.text) {
            return self.derived(&call, start);
        }
        let span = self.span_from(start);
        Ok(self.add(ExprKind::Call(Box::new(call)), span))
    }

    /// `(x)` behind `Scale[n]`.
    fn sized_call(&mut self, func: Name<'s>, sizes: Vec<ExprId>, start: usize) -> Parsed<ExprId> {
        let open = self.at;
        self.expect("(")?;
        let args = self.exprs_until(")")?;
        self.expect_close(open, ")")?;
        let span = self.span_from(start);
        let call = Call { func, sizes, args, lin: Vec::new(), places: Vec::new() };
        Ok(self.add(ExprKind::Call(Box::new(call)), span))
    }

    /// `(x)` behind `grad(f)`.
    fn derived(&mut self, request: &Call<'s>, start: usize) -> Parsed<ExprId> {
        let Some((func, lambda, chain)) = self.ast.derived(request) else {
            let message = "a derivative is of a function: its name, or `fn (x) -> e`";
            let span = self.span_from(start);
            let help = "write `grad(f)(x)`, or `grad(f, x)(x, y)` for the parameter `x` alone";
            return Err(self.fail(Diagnostic::error("J002", span, message).help(help)));
        };
        let open = self.at;
        self.expect("(")?;
        let args = self.exprs_until(")")?;
        self.expect_close(open, ")")?;
        let sizes = Vec::new();
        let call = Call { func, sizes, args, lin: Vec::new(), places: Vec::new() };
        let span = self.span_from(start);
        Ok(self.add(ExprKind::Derived(Box::new(Derived { chain, lambda, call })), span))
    }

    /// A capability with a path into it.
    pub(super) fn place(&mut self) -> Parsed<ExprId> {
        if self.peek().kind != Kind::Name {
            return Err(self.expected("a capability"));
        }
        self.nested(Self::postfix)
    }

    /// A block as an expression.
    pub(super) fn block_expr(&mut self) -> Parsed<ExprId> {
        let block = self.block()?;
        let span = block.span;
        Ok(self.add(ExprKind::Block(block), span))
    }

    /// A block, or any expression.
    pub(super) fn body(&mut self) -> Parsed<ExprId> {
        if self.at("{") { self.nested(Self::block_expr) } else { self.expr() }
    }

    fn keyword(&mut self) -> Parsed<ExprId> {
        let start = self.at;
        let kind = match self.peek().text {
            word @ ("true" | "false") => {
                self.at += 1;
                ExprKind::Bool(word == "true")
            }
            "if" => return self.nested(Self::if_expr),
            "case" => self.case()?,
            "sum" => self.range_loop(LoopKind::Sum)?,
            "build" => self.range_loop(LoopKind::Build)?,
            "for" => self.range_loop(LoopKind::For)?,
            "map" => self.range_loop(LoopKind::Map)?,
            "fold" => self.range_loop(LoopKind::Fold)?,
            "max" => self.range_loop(LoopKind::Max)?,
            "min" => self.range_loop(LoopKind::Min)?,
            "while" => self.while_loop(Vec::new(), Vec::new())?,
            "scan" => self.scan()?,
            "hist" => self.histogram()?,
            "rd" => self.rd()?,
            "wr" | "acc" => {
                let (mode, lanes) = self.mode()?;
                let (name, ty) = match self.is_at(self.at + 1, "=") {
                    true => (self.name("a name")?, None),
                    false => self.typed_name().map(|(name, ty)| (name, Some(ty)))?,
                };
                let start = if self.eat("=") { Some(self.expr()?) } else { None };
                let body = self.region_body()?;
                ExprKind::Total(Box::new(Total { mode, lanes, name, ty, start, body }))
            }
            "dup" => {
                self.at += 1;
                ExprKind::Dup(self.nested(Self::postfix)?)
            }
            "drop" => {
                self.at += 1;
                ExprKind::Drop(self.nested(Self::postfix)?)
            }
            "zero" => {
                self.at += 1;
                ExprKind::Zero(self.ty()?)
            }
            "proved" | "cast" => {
                let proved = self.eat("proved");
                self.expect("cast")?;
                let value = self.nested(Self::postfix)?;
                self.expect(":")?;
                ExprKind::Cast { proved, value, ty: self.ty()? }
            }
            "take" => self.take()?,
            "st" | "mut" | "get" => {
                let help = "declare a variable, `var s = ..`, or add into an `acc`";
                return Err(self.no_state(help));
            }
            _ => return Err(self.no_expression()),
        };
        let span = self.span_from(start);
        Ok(self.add(kind, span))
    }

    fn if_expr(&mut self) -> Parsed<ExprId> {
        let start = self.at;
        let mut links = Vec::new();
        let other = loop {
            let link = self.at;
            self.expect("if")?;
            let condition = self.expr()?;
            let then = self.if_block()?;
            let span = self.span(self.peek_at(link));
            links.push(Link { condition, then, span });
            if !self.eat("else") {
                break None;
            }
            if !self.at("if") {
                break Some(self.if_block()?);
            }
        };
        let span = self.span_from(start);
        for link in &mut links {
            link.span.end = span.end;
        }
        Ok(self.add(ExprKind::If(Box::new(If { subject: None, links, other })), span))
    }

    fn if_block(&mut self) -> Parsed<ExprId> {
        if !self.at("{") {
            let help = "the ways of an `if` are blocks: `if c { a } else { b }`";
            return Err(self.expected_helping("`{`", help));
        }
        self.block_expr()
    }

    fn case(&mut self) -> Parsed<ExprKind<'s>> {
        self.expect("case")?;
        let scrutinee = self.expr()?;
        if self.at(",") {
            let help = "write a `case` of the second value in the arms of the first";
            return Err(self.expected_helping("`{`: a `case` is about one value", help));
        }
        let open = self.at;
        self.expect("{")?;
        let mut first = self.at;
        while self.peek_at(first).kind == Kind::Newline || self.is_at(first, ";") {
            first += 1;
        }
        if self.peek_at(first).kind == Kind::Int || self.is_at(first, "-") {
            return self.integer_case(open, scrutinee);
        }
        let arms = self.parts(open, Self::arm)?;
        Ok(ExprKind::Case(scrutinee, arms))
    }

    /// The arms of a `case` on an integer, `0 -> a; -1 -> b; _ -> c`: a chain of comparisons.
    fn integer_case(&mut self, open: usize, subject: ExprId) -> Parsed<ExprKind<'s>> {
        let arms = self.parts(open, Self::integer_arm)?;
        let end = self.span_from(open).end;
        let (mut links, mut other) = (Vec::new(), None);
        let mut seen = HashSet::new();
        for (number, span, body) in arms {
            let error = |message: &str, help| Diagnostic::error("J502", span, message).help(help);
            if other.is_some() {
                let help = "put it before the `_`, or leave it out";
                return Err(self.fail(error("an arm behind `_` is never reached", help)));
            }
            let Some(condition) = number else {
                other = Some(body);
                continue;
            };
            if !seen.insert(self.ast.text(condition)) {
                let help = "leave one of them out";
                return Err(self.fail(error("there are two arms for this number", help)));
            }
            links.push(Link { condition, then: body, span: Span { end, ..span } });
        }
        if other.is_none() {
            let message = "there is no arm for other integers";
            let error = Diagnostic::error("J502", self.span_from(open), message);
            return Err(self.fail(error.help("end with `_ -> ..`, which stands for all others")));
        }
        Ok(ExprKind::If(Box::new(If { subject: Some(subject), links, other })))
    }

    /// `3 -> ..`, or `_ -> ..`.
    fn integer_arm(&mut self) -> Parsed<(Option<ExprId>, Span, ExprId)> {
        let start = self.at;
        let number = match self.peek().kind == Kind::Name && self.peek().text == "_" {
            true => {
                self.at += 1;
                None
            }
            false => Some(self.nested(|p| p.operators(UNARY))?),
        };
        let span = self.span_from(start);
        if let Some(number) = number {
            let is_number = match &self.ast.expr(number).kind {
                ExprKind::Int(_) => true,
                ExprKind::Ops(ops) => match ops[..] {
                    [Op::Operand(e), Op::Unary("-", _)] => {
                        matches!(self.ast.expr(e).kind, ExprKind::Int(_))
                    }
                    _ => false,
                },
                _ => false,
            };
            if !is_number {
                let error = Diagnostic::error("J002", span, "expected an integer or `_`");
                let help = "arms of a `case` on an integer are numbers: `0 -> ..; _ -> ..`";
                return Err(self.fail(error.help(help)));
            }
        }
        let body = self.arm_body()?;
        Ok((number, span, body))
    }

    /// What stands behind the pattern of an arm.
    fn arm_body(&mut self) -> Parsed<ExprId> {
        self.expect_helping("->", "an arm is written `K(x) -> ..`")?;
        let body = self.body()?;
        if !self.at("}") && !self.at_separator() {
            let help = "arms stand on lines of their own, or with `;` between";
            return Err(self.expected_helping("the end of the arm", help));
        }
        Ok(body)
    }

    fn arm(&mut self) -> Parsed<Arm<'s>> {
        let name = if self.at("true") || self.at("false") {
            let token = self.bump();
            Name { text: token.text, span: self.span(token) }
        } else {
            self.path("a constructor, `true`, `false` or `_`")?
        };
        let open = self.at;
        let mut fields = Vec::new();
        if self.eat("(") {
            fields = self.field_patterns()?;
            self.expect_close(open, ")")?;
        }
        let body = self.arm_body()?;
        Ok(Arm { name, fields, body })
    }

    pub(super) fn field_patterns(&mut self) -> Parsed<Vec<FieldPattern<'s>>> {
        let mut fields = Vec::new();
        while !self.at(")") {
            fields.push(if self.eat("=") {
                FieldPattern::Eq(self.additive()?)
            } else if self.peek().kind == Kind::Linear {
                FieldPattern::Bind(self.linear_name()?)
            } else {
                FieldPattern::Bind(self.name("a name or `=size`")?)
            });
            if !self.eat(",") {
                break;
            }
        }
        Ok(fields)
    }

    // ---- loops

    pub(super) fn region_body(&mut self) -> Parsed<ExprId> {
        if !self.at("{") {
            return Err(self.expected("`{`"));
        }
        self.nested(Self::block_expr)
    }

    /// `rd r = x' { .. }` or `rd place`.
    fn rd(&mut self) -> Parsed<ExprKind<'s>> {
        self.expect("rd")?;
        if self.is_head_of_region(self.at) {
            return self.read_region(false);
        }
        Ok(ExprKind::Rd(self.place()?))
    }

    /// Whether `r =` stands there.
    fn is_head_of_region(&self, at: usize) -> bool {
        self.peek_at(at).kind == Kind::Name && self.is_at(at + 1, "=")
    }

    /// Whether `lend r =` is next.
    fn is_lend(&self) -> bool {
        self.peek().text == "lend" && self.is_head_of_region(self.at + 1)
    }

    /// `r = x' { .. }`, behind its keyword.
    fn read_region(&mut self, lent: bool) -> Parsed<ExprKind<'s>> {
        let name = self.name("the name of a capability")?;
        self.expect("=")?;
        let value = self.expr()?;
        let body = self.region_body()?;
        Ok(ExprKind::Read(Box::new(Read { lent, name, value, body })))
    }

    pub(super) fn at_separator(&self) -> bool {
        self.peek().kind == Kind::Newline || self.at(";")
    }

    pub(super) fn skip_separators(&mut self) {
        while self.at_separator() {
            self.at += 1;
        }
    }
}
