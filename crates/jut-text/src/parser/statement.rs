//! Blocks, statements and patterns. A pattern is told from an expression by the `=` behind it,
//! which the table of closing brackets finds at once.

use super::{Failed, Parsed, Parser};
use crate::ast::*;
use crate::hints;
use crate::lex::Kind;
use jut_ir::Diagnostic;

impl<'s> Parser<'s, '_> {
    /// `{ .. }`.
    pub(super) fn block(&mut self) -> Parsed<Block<'s>> {
        let open = self.at;
        if !self.eat("{") {
            return Err(self.expected("`{`"));
        }
        let stmts = self.parts(open, Self::whole_stmt)?;
        Ok(Block { stmts, span: self.span_from(open) })
    }

    /// The parts of the braces that were opened at `open`, up to the closing one; goes on behind a part that
    /// is wrong.
    pub(super) fn parts<T>(
        &mut self,
        open: usize,
        part: impl Fn(&mut Self) -> Parsed<T>,
    ) -> Parsed<Vec<T>> {
        let mut parts = Vec::new();
        let mut failed = false;
        loop {
            self.skip_separators();
            if self.at("}") || self.peek().kind == Kind::End {
                break;
            }
            let start = self.at;
            match part(self) {
                Ok(part) => parts.push(part),
                Err(Failed) if self.recover(open, start) => failed = true,
                Err(Failed) => return Err(Failed),
            }
        }
        self.expect_close(open, "}")?;
        if failed { Err(Failed) } else { Ok(parts) }
    }

    /// A statement with its end.
    fn whole_stmt(&mut self) -> Parsed<Stmt<'s>> {
        let start = self.peek().start as usize;
        let stmt = self.stmt()?;
        if !self.at("}") && !self.at_separator() && self.peek().kind != Kind::End {
            let before = self.source.get(start..self.peek().start as usize).unwrap_or("");
            let help = match self.peek().text {
                "=" if before.contains('\n') => {
                    "the statement began in an earlier line, which ends in an operator"
                }
                "(" => "there are no methods: write `f(x)`",
                "=" => "a statement has one `=`; equality is `==`",
                ":" => "a type stands in a pattern, before `=`: `x: f64 = ..`",
                _ => "statements stand on lines of their own, or with `;` between",
            };
            return Err(self.expected_helping("the end of the statement", help));
        }
        Ok(stmt)
    }

    /// A word of another language before a name or a number: `let x`, `return x`.
    fn foreign_word(&mut self) -> Parsed<()> {
        let (token, next) = (self.peek(), self.peek_at(self.at + 1));
        let follows = matches!(next.kind, Kind::Name | Kind::Linear | Kind::Int | Kind::Float)
            || next.kind == Kind::Keyword;
        match hints::word(token.text) {
            Some(help) if token.kind == Kind::Name && follows => {
                let message = format!("`{}` is not a word of jut", token.text);
                let span = self.span(token);
                Err(self.fail(Diagnostic::error("J002", span, message).help(help)))
            }
            _ => Ok(()),
        }
    }

    fn stmt(&mut self) -> Parsed<Stmt<'s>> {
        let start = self.at;
        self.foreign_word()?;
        let word = if self.peek().kind == Kind::Name { "" } else { self.peek().text };
        let kind = match word {
            "var" => self.variable()?,
            "put" => {
                let help = "declare a variable, `var s = ..`, or add into an `acc`";
                return Err(self.no_state(help));
            }
            "check" => self.check()?,
            "assert" => self.assertion()?,
            "print" => self.printing()?,
            "show" => self.shown()?,
            _ => match self.assignments()? {
                Some(kind) => kind,
                None => match self.pattern("=")? {
                    Some(pattern) => {
                        self.expect("=")?;
                        StmtKind::Let(pattern, self.expr()?)
                    }
                    None => self.expr_stmt()?,
                },
            },
        };
        Ok(Stmt { kind, span: self.span_from(start) })
    }

    /// `var s = e`.
    fn variable(&mut self) -> Parsed<StmtKind<'s>> {
        self.expect("var")?;
        let what = "a name with its first value: `s = 0.0`";
        let Some(pattern) = self.pattern("=")? else {
            let bare = self.peek().kind == Kind::Name;
            self.at += usize::from(bare);
            let help = "a variable has a value from the start: `var s = 0.0`";
            return Err(self.expected_helping(if bare { "`=`" } else { what }, help));
        };
        if let Some(name) = pattern.names().into_iter().find(Name::is_linear) {
            let message = format!("`{}` is linear, and cannot be a variable", name.text);
            let help = "a linear value is used once: bind a new name for each, without `var`";
            return Err(self.fail(Diagnostic::error("J002", name.span, message).help(help)));
        }
        let help = "a variable has a value from the start: `var s = 0.0`";
        self.expect_helping("=", help)?;
        Ok(StmtKind::Var(pattern, self.expr()?))
    }

    /// An expression as a statement, or an assignment to what it names.
    fn expr_stmt(&mut self) -> Parsed<StmtKind<'s>> {
        let target = self.expr()?;
        let sign = self.peek();
        let operator = match sign.text {
            "=" => None,
            "+=" => Some("+"),
            "-=" => Some("-"),
            "*=" => Some("*"),
            "/=" => Some("/"),
            _ => return Ok(StmtKind::Expr(target)),
        };
        if sign.kind != Kind::Symbol {
            return Ok(StmtKind::Expr(target));
        }
        self.place_of_assignment(target)?;
        self.at += 1;
        let value = self.expr()?;
        Ok(match operator {
            Some("+") => StmtKind::Inc(target, value),
            _ => StmtKind::Set(target, operator, value),
        })
    }

    /// J002 unless an expression is a name, or a name with what stands behind it: `x[i]`, `p.x`.
    fn place_of_assignment(&mut self, target: ExprId) -> Parsed<()> {
        let is_name = |e: ExprId| matches!(self.ast.expr(e).kind, ExprKind::Name(_));
        let expr = self.ast.expr(target);
        match &expr.kind {
            ExprKind::Name(_) => return Ok(()),
            ExprKind::Post(base, _) if is_name(*base) => return Ok(()),
            _ => {}
        }
        let message = format!("this cannot stand before `{}`", self.peek().text);
        let error = Diagnostic::error("J002", expr.span, message);
        Err(self.fail(error.help("write a name, `x[i]`, `p.x`, `(x, y)`, `#(x, y)` or `K(x, y)`")))
    }

    /// `(x[i], y) = e`, if the list here has more than names.
    fn assignments(&mut self) -> Parsed<Option<StmtKind<'s>>> {
        let open = self.at;
        if !self.is_at(open, "(") || !self.is_pattern_list(open, "=") {
            return Ok(None);
        }
        let close = self.close[open] as usize;
        let mut k = open + 1;
        let mut plain = true;
        while k < close {
            plain &= !(self.is_at(k, ":") || self.is_at(k, ";"));
            if self.is_at(k, "[") || self.is_at(k, ".") {
                break;
            }
            k = k.max(self.close[k] as usize) + 1;
        }
        if !plain || k >= close {
            return Ok(None);
        }
        self.at += 1;
        let targets = self.exprs_until(")")?;
        self.expect_close(open, ")")?;
        for target in &targets {
            self.place_of_assignment(*target)?;
        }
        self.expect("=")?;
        Ok(Some(StmtKind::SetAll(targets, self.expr()?)))
    }

    /// `assert c, "message"`. The message is read where it is needed, from the text of the statement.
    fn assertion(&mut self) -> Parsed<StmtKind<'s>> {
        self.expect("assert")?;
        let condition = self.expr()?;
        if self.eat(",") {
            if self.peek().kind != Kind::Text {
                let help = "a message is a text: `assert x > 0.0, \"x is positive\"`";
                return Err(self.expected_helping("a message", help));
            }
            self.at += 1;
        }
        Ok(StmtKind::Assert(condition))
    }

    /// `print "text", e`.
    fn printing(&mut self) -> Parsed<StmtKind<'s>> {
        self.expect("print")?;
        let mut items = Vec::new();
        loop {
            items.push(match self.text() {
                Some(text) => Printed::Text(text),
                None => Printed::Value(self.expr()?),
            });
            if !self.eat(",") {
                return Ok(StmtKind::Print(items));
            }
        }
    }

    /// `show "text"`, `show "" e`, `show "," e`.
    fn shown(&mut self) -> Parsed<StmtKind<'s>> {
        self.expect("show")?;
        let text = self.text().unwrap_or("");
        let ends = self.at("}") || self.at_separator() || self.peek().kind == Kind::End;
        let value = if ends { None } else { Some(self.expr()?) };
        Ok(StmtKind::Show(text, value))
    }

    /// A text here, without the signs round it.
    fn text(&mut self) -> Option<&'s str> {
        let token = self.peek();
        if token.kind != Kind::Text {
            return None;
        }
        self.at += 1;
        let text = token.text.strip_prefix('"').unwrap_or(token.text);
        Some(text.strip_suffix('"').unwrap_or(text))
    }

    fn check(&mut self) -> Parsed<StmtKind<'s>> {
        self.expect("check")?;
        let first = self.additive()?;
        if self.eat("..+") {
            let len = self.additive()?;
            self.expect("<=")?;
            return Ok(StmtKind::Within(first, len, self.additive()?));
        }
        if self.eat("<") {
            return Ok(StmtKind::Below(first, self.additive()?));
        }
        if self.at(">=") && self.peek_at(self.at + 1).text == "0" {
            self.at += 2;
            return Ok(StmtKind::NonNegative(first));
        }
        let compared = matches!(self.peek().text, ">=" | ">" | "<=" | "==" | "!=");
        if matches!(self.ast.expr(first).kind, ExprKind::Ops(_)) && !compared {
            return Ok(StmtKind::Exact(first));
        }
        let span = self.span(self.peek());
        let message = "malformed check";
        Err(self.fail(
            Diagnostic::error("J302", span, message).help(
                "write `check i < n`, `check lo ..+ m <= n`, `check n >= 0` or `check n * m`",
            ),
        ))
    }

    /// The pattern here, if this is one: what stands before a sign, `=` or `<-`.
    pub(super) fn pattern(&mut self, sign: &str) -> Parsed<Option<Pattern<'s>>> {
        let token = self.peek();
        let start = self.at;
        match token.kind {
            Kind::Name | Kind::Linear => {
                if self.is_at(start + 1, sign) || self.is_at(start + 1, ":") {
                    let item = self.item(token.kind)?;
                    let span = self.span_from(start);
                    let (nl, lin) = match token.kind {
                        Kind::Linear => (Vec::new(), vec![item]),
                        _ => (vec![item], Vec::new()),
                    };
                    return Ok(Some(Pattern::Names { nl, lin, span }));
                }
                let length = self.path_length(start);
                if length == 0 || !self.is_pattern_list(start + length, sign) {
                    return Ok(None);
                }
                let name = self.path("a constructor")?;
                let open = self.at;
                self.expect("(")?;
                let fields = self.field_patterns()?;
                self.expect_close(open, ")")?;
                Ok(Some(Pattern::Con(name, fields)))
            }
            Kind::Symbol if self.is_pattern_list(start, sign) && token.text == "(" => {
                self.at += 1;
                let (mut nl, mut lin) = (Vec::new(), Vec::new());
                while !self.at(")") && !self.at(";") {
                    nl.push(self.item(Kind::Name)?);
                    if !self.eat(",") {
                        break;
                    }
                }
                if self.eat(";") {
                    while !self.at(")") {
                        lin.push(self.item(Kind::Linear)?);
                        if !self.eat(",") {
                            break;
                        }
                    }
                }
                self.expect_close(start, ")")?;
                Ok(Some(Pattern::Names { nl, lin, span: self.span_from(start) }))
            }
            Kind::Symbol if self.is_pattern_list(start, sign) && token.text == "#(" => {
                self.at += 1;
                let mut names = Vec::new();
                while !self.at(")") {
                    let linear = self.peek().kind == Kind::Linear;
                    names.push(if linear { self.linear_name()? } else { self.name("a name")? });
                    if !self.eat(",") {
                        break;
                    }
                }
                self.expect_close(start, ")")?;
                Ok(Some(Pattern::Tuple(names, self.span_from(start))))
            }
            _ => Ok(None),
        }
    }

    /// Whether the bracket here closes directly before a sign.
    fn is_pattern_list(&self, open: usize, sign: &str) -> bool {
        let close = self.close.get(open).copied().unwrap_or(0) as usize;
        let opens = self.is_at(open, "(") || self.is_at(open, "#(");
        opens && close > open && self.is_at(close + 1, sign)
    }

    fn item(&mut self, kind: Kind) -> Parsed<Item<'s>> {
        let name = match kind {
            Kind::Linear => self.linear_name()?,
            _ => self.name("a name")?,
        };
        let ty = if self.eat(":") { Some(self.ty()?) } else { None };
        Ok(Item { name, ty })
    }
}
