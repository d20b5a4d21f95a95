//! Loops: of the surface, over ranges and with conditions, and of the core.

use super::{Failed, Parsed, Parser, Sections};
use crate::ast::*;
use crate::lex::Kind;
use jut_ir::{Diagnostic, Dir};

impl<'s> Parser<'s, '_> {
    pub(super) fn range_loop(&mut self, kind: LoopKind) -> Parsed<ExprKind<'s>> {
        self.at += 1;
        let open = self.at;
        self.expect_helping("(", "the range of a loop stands in brackets: `sum (i < n) { .. }`")?;
        let mut parts = Vec::new();
        let mut head = vec![self.range(kind, &mut parts)?];
        while self.eat(",") {
            head.push(self.range(kind, &mut parts)?);
        }
        self.expect_close(open, ")")?;
        let (mut carry, mut lin_carry) = (Vec::new(), Vec::new());
        if kind == LoopKind::Map
            && let Some(range) = head.iter().find(|range| !matches!(range, Range::Each(..)))
        {
            let message = "`map` is over the elements of arrays: `map (v <- x) { .. }`";
            let help = "over indices, write `build (i < n) { .. }`";
            let name = match range {
                Range::Below(name, _)
                | Range::Between(_, name, _)
                | Range::Down(_, name, _)
                | Range::Each(name, _) => name,
            };
            return Err(self.fail(Diagnostic::error("J002", name.span, message).help(help)));
        }
        if kind == LoopKind::Fold && !self.at("carry") {
            let help = "say what is carried from one iteration to the next: \
                        `fold (v <- x) carry (a = 0.0) { a + v }`";
            return Err(self.expected_helping("`carry`", help));
        }
        if kind == LoopKind::For && self.at("while") {
            return self.while_loop(head, parts);
        }
        if matches!(kind, LoopKind::For | LoopKind::Fold) && self.eat("carry") {
            (carry, lin_carry) = self.binds()?;
        }
        // Every further index is a loop in the loop: `sum (i < n, j < m) e` is
        // `sum (i < n) { sum (j < m) e }`.
        let is_index = |range: &Range<'s>| !matches!(range, Range::Each(..));
        let levels = head.iter().filter(|range| is_index(range)).count().saturating_sub(1) as u32;
        let mut body = match levels.checked_sub(1) {
            None => self.body()?,
            Some(more) => {
                self.depth += more;
                let body = self.nested(Parser::body);
                self.depth -= more;
                body?
            }
        };
        if kind == LoopKind::Sum {
            self.swallows(&head, &parts, body);
        }
        body = self.taken_apart(parts, body);
        let mut ends = false;
        let (mut kind, mut condition) = (kind, None);
        if kind == LoopKind::For {
            let mut l = Loop { kind, head, carry, lin_carry, condition, body };
            ends = self.jumps(&mut l)?;
            Loop { kind, head, carry, lin_carry, condition, body } = l;
        }
        if kind != LoopKind::For || carry.is_empty() && lin_carry.is_empty() {
            while let Some(last) = head.iter().rposition(is_index)
                && head[..last].iter().any(is_index)
            {
                let head = head.split_off(last);
                let (carry, lin_carry) = (Vec::new(), Vec::new());
                let inner = Loop { kind, head, carry, lin_carry, condition: None, body };
                body = self.add(ExprKind::Loop(Box::new(inner)), self.span_from(open));
            }
        }
        let l = Loop { kind, head, carry, lin_carry, condition, body };
        Ok(match ends {
            true => self.with_flag(l, self.span_from(open)),
            false => ExprKind::Loop(Box::new(l)),
        })
    }

    /// J704 if the body of a sum is no block, and its loosest operator takes something that is the same in all
    /// iterations: `sum (i < n) x[i] / n`.
    fn swallows(&mut self, head: &[Range<'s>], parts: &[Stmt<'s>], body: ExprId) {
        let ExprKind::Ops(ops) = &self.ast.expr(body).kind else { return };
        let Some(&Op::Binary(sign @ ("+" | "-" | "/"), at)) = ops.last() else { return };
        let whole = self.ast.expr(body).span;
        let named = |range: &Range<'s>| match range {
            Range::Below(name, _)
            | Range::Between(_, name, _)
            | Range::Down(_, name, _)
            | Range::Each(name, _) => name.text,
        };
        let mut names: Vec<&str> = head.iter().map(named).collect();
        for part in parts {
            if let StmtKind::Part(pattern, _) = &part.kind {
                names.extend(pattern.names().iter().map(|name| name.text));
            }
        }
        let first = self.tokens.partition_point(|token| token.start < at.end);
        let rest = &self.tokens[first..self.at];
        if rest.iter().any(|token| names.contains(&token.text)) {
            return;
        }
        let before = self.ast.text_between(whole.start, at.start).trim_end();
        let behind = self.ast.text_between(at.end, whole.end).trim_start();
        let message = format!("`{sign} {behind}` belongs to the body of this `sum`");
        let help = format!(
            "put the body in braces: `sum (..) {{ {before} }} {sign} {behind}`, or with it \
             `sum (..) {{ {before} {sign} {behind} }}`"
        );
        self.diagnostics.push(Diagnostic::warning("J704", at, message).help(help));
    }

    /// `while a > 1.0 { .. }`, `while carry (a = x) a > 1.0 { .. }`, also behind a head: `for (i < n) while ..`.
    /// A condition that is a block is followed by `do`.
    pub(super) fn while_loop(
        &mut self,
        head: Vec<Range<'s>>,
        parts: Vec<Stmt<'s>>,
    ) -> Parsed<ExprKind<'s>> {
        let open = self.at;
        self.expect("while")?;
        let (carry, lin_carry) =
            if self.eat("carry") { self.binds()? } else { (Vec::new(), Vec::new()) };
        let is_block = self.at("{");
        let condition = if is_block { self.block_expr()? } else { self.expr()? };
        if !self.eat("do") && (is_block || !self.at("{")) {
            let help = "the body is a block behind the condition: `while a > 1.0 { .. }`, \
                        `while { .. } do { .. }`";
            return Err(self.expected_helping(if is_block { "`do`" } else { "`{`" }, help));
        }
        let body = self.body()?;
        let body = self.taken_apart(parts, body);
        let (kind, condition) = (LoopKind::While, Some(condition));
        let mut l = Loop { kind, head, carry, lin_carry, condition, body };
        Ok(match self.jumps(&mut l)? {
            true => self.with_flag(l, self.span_from(open)),
            false => ExprKind::Loop(Box::new(l)),
        })
    }

    /// The body of a loop, which begins by taking elements apart.
    fn taken_apart(&mut self, mut parts: Vec<Stmt<'s>>, body: ExprId) -> ExprId {
        if parts.is_empty() {
            return body;
        }
        let span = self.ast.expr(body).span;
        match &mut self.ast.exprs[body.0 as usize].kind {
            ExprKind::Block(block) => {
                parts.append(&mut block.stmts);
                block.stmts = parts;
                body
            }
            _ => {
                parts.push(Stmt { kind: StmtKind::Expr(body), span });
                self.add(ExprKind::Block(Block { stmts: parts, span }), span)
            }
        }
    }

    /// `K(x, y) <- ks` and `#(x, y) <- ts`, if that is here: a range over elements that the body begins to take apart.
    fn range_in_parts(&mut self, parts: &mut Vec<Stmt<'s>>) -> Parsed<Option<Range<'s>>> {
        let start = self.at;
        let Some(pattern) = self.pattern("<-")? else { return Ok(None) };
        let span = self.span_from(start);
        let text = self.text_from(start);
        if let Pattern::Names { .. } = pattern {
            let message = "an element is one value, which may be a tuple or a record";
            let help = format!("a tuple is taken apart by `#{text}`, a record by its constructor");
            let error = Diagnostic::error("J002", span, message);
            return Err(self.fail(error.help(help).replace(span, format!("#{text}"))));
        }
        self.expect("<-")?;
        let value = self.additive()?;
        let name = Name { text, span };
        let element = self.add(ExprKind::Name(name), span);
        parts.push(Stmt { kind: StmtKind::Part(pattern, element), span });
        Ok(Some(Range::Each(name, value)))
    }

    fn range(&mut self, kind: LoopKind, parts: &mut Vec<Stmt<'s>>) -> Parsed<Range<'s>> {
        let named = matches!(self.peek().kind, Kind::Name | Kind::Linear);
        if named && self.is_at(self.at + 1, "<-") {
            let start = self.at;
            let name = self.any_name()?;
            self.expect("<-")?;
            let value = self.additive()?;
            if self.at("..") {
                return Err(self.range_of_numbers(start, name));
            }
            return Ok(Range::Each(name, value));
        }
        if named && self.is_at(self.at + 1, "<") {
            let name = self.name("the name of an index")?;
            self.expect("<")?;
            let next = self.at;
            let bound = self.additive()?;
            // `k < i < n`: the first name was not that of the index.
            if (self.at("<") || self.at("<="))
                && matches!(self.ast.expr(bound).kind, ExprKind::Name(_))
            {
                self.at = next;
                let low = self.add(ExprKind::Name(name), name.span);
                return self.behind(low);
            }
            return Ok(Range::Below(name, bound));
        }
        let typed = named && self.is_at(self.at + 1, ":");
        if !typed && let Some(range) = self.range_in_parts(parts)? {
            return Ok(range);
        }
        let start = self.at;
        let first = self.additive()?;
        if self.at(">") || self.at(">=") {
            return self.descending(kind, start, first);
        }
        if self.eat("<") {
            return self.behind(first);
        }
        if !self.at("<=") {
            let help = match kind {
                LoopKind::Map => "write `map (v <- x) { .. }`: the block gives the new element",
                LoopKind::Fold => "write `fold (v <- x) carry (a = 0.0) { a + v }`",
                _ => "a loop over the elements of `x` is `sum (v <- x) { v }`",
            };
            let what = "a range: `i < n`, `a <= i < b` or `x <- xs`";
            return Err(self.expected_helping(what, help));
        }
        self.at += 1;
        let bounded = self.is_at(self.at + 1, "<") || self.is_at(self.at + 1, "<=");
        if let (ExprKind::Name(name), false) = (&self.ast.expr(first).kind, bounded) {
            let name = *name;
            let last = self.additive()?;
            return Ok(Range::Below(name, self.plus_one(last)));
        }
        self.up_to(first)
    }

    /// `i < b` and `i <= b` behind `a <=`.
    fn up_to(&mut self, low: ExprId) -> Parsed<Range<'s>> {
        let name = self.name("the name of an index")?;
        if self.eat("<=") {
            let last = self.additive()?;
            return Ok(Range::Between(low, name, self.plus_one(last)));
        }
        self.expect("<")?;
        Ok(Range::Between(low, name, self.additive()?))
    }

    /// The same behind `a <`: the range begins behind a.
    fn behind(&mut self, low: ExprId) -> Parsed<Range<'s>> {
        let low = self.plus_one(low);
        self.up_to(low)
    }

    /// `b > i >= a` behind b, with `>` or `>=` in both places.
    fn descending(&mut self, kind: LoopKind, start: usize, high: ExprId) -> Parsed<Range<'s>> {
        let high = if self.bump().text == ">=" { self.plus_one(high) } else { high };
        let name = self.name("the name of an index")?;
        let help = "a range that goes down has both ends: `n > i >= 0`";
        if !self.at(">") && !self.at(">=") {
            return Err(self.expected_helping("`>=`", help));
        }
        let open = self.bump().text == ">";
        let low = self.additive()?;
        let low = if open { self.plus_one(low) } else { low };
        if !matches!(kind, LoopKind::For | LoopKind::Fold) {
            let span = self.span_from(start);
            let message = "only `for` and `fold` go down: iterations of other loops have no order";
            let (low, high) = (self.ast.text(low), self.ast.text(high));
            let help = format!("write `{low} <= {} < {high}`", name.text);
            return Err(self.fail(Diagnostic::error("J002", span, message).help(help)));
        }
        Ok(Range::Down(high, name, low))
    }

    /// `e + 1`.
    fn plus_one(&mut self, e: ExprId) -> ExprId {
        let span = self.ast.expr(e).span;
        if let ExprKind::Int(n @ 0..1_000) = self.ast.expr(e).kind {
            return self.add(ExprKind::Int(n + 1), span);
        }
        let one = self.add(ExprKind::Int(1), span);
        let sum = vec![Op::Operand(e), Op::Operand(one), Op::Binary("+", span)];
        self.add(ExprKind::Ops(sum), span)
    }

    /// The text from a token to the last one that was read.
    fn text_from(&self, start: usize) -> &'s str {
        let span = self.span_from(start);
        &self.source[span.start as usize..span.end as usize]
    }

    /// `i <- a..b` as a range that began at a token, with the `..` next.
    fn range_of_numbers(&mut self, start: usize, name: Name<'s>) -> Failed {
        let low = self.text_from(start + 2);
        self.at += 1;
        let more = if self.eat("=") { " + 1" } else { "" };
        let last = self.at;
        if let Err(failed) = self.additive() {
            return failed;
        }
        let high = self.text_from(last);
        let written = match low {
            "0" => format!("{} < {high}{more}", name.text),
            low => format!("{low} <= {} < {high}{more}", name.text),
        };
        let message = "a loop over numbers has bounds, and `<-` goes over the elements of an array";
        let span = self.span_from(start);
        let error = Diagnostic::error("J002", span, message);
        self.fail(error.help(format!("write `{written}`")).replace(span, written))
    }

    fn any_name(&mut self) -> Parsed<Name<'s>> {
        if self.peek().kind == Kind::Linear { self.linear_name() } else { self.name("a name") }
    }

    /// `(a = x; a' = x')`.
    #[allow(clippy::type_complexity)] // two sections of the same pairs
    fn binds(&mut self) -> Parsed<Sections<(Name<'s>, ExprId), (Name<'s>, ExprId)>> {
        let open = self.at;
        self.expect("(")?;
        let (mut nl, mut lin) = (Vec::new(), Vec::new());
        while !self.at(")") && !self.at(";") {
            nl.push(self.bind("=", Kind::Name)?);
            if !self.eat(",") {
                break;
            }
        }
        if self.eat(";") {
            while !self.at(")") {
                lin.push(self.bind("=", Kind::Linear)?);
                if !self.eat(",") {
                    break;
                }
            }
        }
        self.expect_close(open, ")")?;
        Ok((nl, lin))
    }

    /// `a = x` or `a <- xs`.
    fn bind(&mut self, sign: &str, kind: Kind) -> Parsed<(Name<'s>, ExprId)> {
        let name = match kind {
            Kind::Linear => self.linear_name()?,
            _ => self.name("a name")?,
        };
        self.expect(sign)?;
        Ok((name, self.expr()?))
    }

    pub(super) fn scan(&mut self) -> Parsed<ExprKind<'s>> {
        self.expect("scan")?;
        let dir = match self.peek().text {
            "up" => Dir::Up,
            "down" => Dir::Down,
            "par" => Dir::Par,
            "while" => Dir::While,
            _ => return Err(self.expected("`up`, `down`, `par` or `while`")),
        };
        self.at += 1;
        let open = self.at;
        self.expect("(")?;
        let index = self.name("the name of an index")?;
        self.expect("<")?;
        let bound = self.additive()?;
        self.expect_close(open, ")")?;
        let (mut carry, mut lin_carry) = (Vec::new(), Vec::new());
        if self.eat("carry") {
            (carry, lin_carry) = self.binds()?;
        }
        let (mut slices, mut lin_slices, mut cap_slices) = (Vec::new(), Vec::new(), Vec::new());
        if self.eat("slice") {
            let open = self.at;
            self.expect("(")?;
            while !self.at(")") && !self.at(";") {
                slices.push(self.bind("<-", Kind::Name)?);
                if !self.eat(",") {
                    break;
                }
            }
            if self.eat(";") {
                while !self.at(")") && !self.at(";") {
                    lin_slices.push(self.bind("<-", Kind::Linear)?);
                    if !self.eat(",") {
                        break;
                    }
                }
                if self.eat(";") {
                    while !self.at(")") {
                        let name = self.name("the name of a capability")?;
                        self.expect("<-")?;
                        cap_slices.push((name, self.place()?));
                        if !self.eat(",") {
                            break;
                        }
                    }
                }
            }
            self.expect_close(open, ")")?;
        }
        let body = self.region_body()?;
        Ok(ExprKind::Scan(Box::new(Scan {
            dir,
            index,
            bound,
            carry,
            lin_carry,
            slices,
            lin_slices,
            cap_slices,
            body,
        })))
    }
}
