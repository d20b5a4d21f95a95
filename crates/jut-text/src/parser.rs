//! The parser: tokens to [`crate::ast`], by recursive descent over brackets and a precedence stack
//! over operators.
//!
//! The grammar that is built (`{ x }` zero or more, `[ x ]` optional, `NL` a newline that counts or
//! `;`):
//!
//! ```text
//! program = { decl NL }
//! decl    = "use" path
//!         | "const" name ":" type "=" expr
//!         | "data" path [ "of" path ] "=" con { "|" con }
//!         | "type" path [ "[" names "]" ] "=" type
//!         | "rule" ( "jvp" | "vjp" ) path "=" path
//!         | [ "core" ] head "=" expr | "extern" head "transpose" path [ "derivative" path ]
//! head    = "def" path [ "[" names "]" ] "(" params ")" "->" results
//! con     = path [ "(" name ":" type { "," name ":" type } ")" ]
//! params  = [ name ":" type {..} ] [ ";" [ name' ":" type {..} ] [ ";" cparam {..} ] ]
//! cparam  = ( "rd" | "wr" [ "lanes" ] | "acc" [ "lanes" ] ) name ":" type
//! results = type | "(" [ res {..} ] [ ";" res {..} ] ")"        res = [ name ":" | name' ":" ] type
//! type    = "f64" | "f32" | "i64" | "i32" | "bool" | path | "[" size {..} "]" type | "#(" [ type {..} ] ")"
//!
//! block   = "{" { stmt NL } [ expr ] "}"
//! stmt    = [ [ "var" ] pat "=" ] expr | place ( "=" | "+=" | "-=" | "*=" | "/=" ) expr
//!         | "(" place {..} ")" "=" expr
//!         | "break" | "continue"
//!         | "check" expr "<" expr | "check" expr "..+" expr "<=" expr | "check" expr ">=" "0"
//!         | "check" expr ( "+" | "-" | "*" ) expr
//! pat     = item | "(" [ item {..} ] [ ";" item {..} ] ")" | path "(" [ field {..} ] ")" | "#(" names ")"
//! item    = ( name | name' ) [ ":" type ]                        field = name | "=" expr
//!
//! expr    = loosest first:  ||   &&   == != < <= > >= (one only)   + -   * / %   unary - !   ^ (right)
//! post    = prim { "[" index {..} "]" | "." ( name | int ) }
//! index   = [ "!" ] expr | [ "!" ] expr "..+" expr | expr ".." expr
//! prim    = literal | name | name' | "(" expr ")" | "(" [ expr {..} ] [ ";" expr {..} ] ")" | block
//!         | path "(" [ expr {..} ] [ ";" [ expr {..} ] [ ";" ( place | "null" ) {..} ] ] ")"
//!         | "fn" "(" [ name {..} ] ")" "->" body, as an argument of a call
//!         | request "(" ( path | request .. ) { "," name } ")" "(" [ expr {..} ] ")", as in `grad(f)(x)`
//!         | "#(" expr {..} ")" | "[" expr {..} "]"
//!         | "if" expr block [ "else" ( block | if ) ]
//!         | "case" expr "{" { ( path [ "(" field {..} ")" ] | "true" | "false" | "_" ) "->" expr NL } "}"
//!         | ( "sum" | "build" | "map" | "max" | "min" ) head body
//!         | ( "for" | "fold" ) head [ "carry" binds ] body
//!         | [ "for" head ] "while" [ "carry" binds ] ( expr [ "do" ] | block "do" ) block
//!         | "hist" "(" name "<" expr ")" "by" ( "+" | "*" | "&&" | "||" | path | "fn" .. ) [ "from" expr ] block
//!         | "scan" ( "up" | "down" | "par" | "while" ) "(" name "<" expr ")" [ "carry" binds ] [ "slice" slices ] block
//!         | ( "rd" | "lend" ) name "=" expr block
//!         | ( "wr" | "acc" ) [ "lanes" ] name ( ":" type [ "=" expr ] | "=" expr ) block
//!         | "rd" place | "dup" expr | "drop" expr | "zero" type | [ "proved" ] "cast" post ":" type
//! head    = "(" range {..} ")"
//! range   = [ expr "<=" ] name ( "<" | "<=" ) expr | expr ( ">" | ">=" ) name ( ">" | ">=" ) expr | name "<-" expr
//!         | path "(" [ field {..} ] ")" "<-" expr | "#(" names ")" "<-" expr
//! body    = block | expr
//! ```
//!
//! Words of the grammar are names where they can be nothing else ([`crate::lex`]). `lend` is a word of its own only before a name and `=`, and else a name like any other.
//! `max (i < n) e` differs from `max(a, b)` by the `<` or `<-` directly inside the parentheses.
//! What the language reserves (`mut`, `st`, ..) is refused where it stands.
//!
//! Requires nothing of the tokens. Ensures: brackets nest at most [`MAX_DEPTH`] deep (J003), so that
//! whatever recurses over the tree is safe; operator chains may have any length. An error ends the
//! declaration it is in; parsing goes on at the next one. Cost: linear.

mod declaration;
mod expression;
pub(crate) mod histogram;
mod jumps;
mod loops;
mod statement;
mod types;
mod update;

use crate::ast::*;
use crate::hints;
use crate::lex::{self, Kind, Token, Tokens};
use jut_ir::{Diagnostic, Span};
use std::collections::HashSet;

/// How deep brackets, blocks and types may nest.
pub(crate) const MAX_DEPTH: u32 = 200;

/// An error was reported; the declaration is given up.
pub(crate) struct Failed;

type Parsed<T> = Result<T, Failed>;

/// Parses a file. The tree holds the declarations without errors.
pub(crate) fn parse<'s>(
    source: &'s str,
    file: u32,
    diagnostics: &mut Vec<Diagnostic>,
) -> Parse<'s> {
    let Tokens { tokens, close, comments } = lex::lex(source, file, diagnostics);
    let ast = Ast { source, ..Ast::default() };
    let (at, depth, are_jumps) = (0, 0, [true; 2]);
    let mut parser = Parser { source, tokens, close, at, file, ast, depth, are_jumps, diagnostics };
    parser.find_jumps();
    let failed = parser.program();
    let Parser { ast, tokens, close, .. } = parser;
    one_per_line(source, diagnostics);
    Parse { ast, failed, tokens: Tokens { tokens, close, comments } }
}

/// A character that is not allowed usually makes a syntax error of its line: one message is enough.
fn one_per_line(source: &str, diagnostics: &mut Vec<Diagnostic>) {
    let ends: Vec<usize> = source.match_indices('\n').map(|(at, _)| at).collect();
    let line = |span: Span| ends.partition_point(|end| *end < span.start as usize);
    let bad: HashSet<usize> =
        diagnostics.iter().filter(|d| d.code == "J001").map(|d| line(d.span)).collect();
    diagnostics.retain(|d| d.code != "J002" || !bad.contains(&line(d.span)));
}

/// What parsing gave.
pub(crate) struct Parse<'s> {
    pub ast: Ast<'s>,
    /// Names of declarations that were given up, where the name was still read.
    pub failed: Vec<&'s str>,
    pub tokens: Tokens<'s>,
}

struct Parser<'s, 'd> {
    source: &'s str,
    tokens: Vec<Token<'s>>,
    close: Vec<u32>,
    at: usize,
    file: u32,
    ast: Ast<'s>,
    depth: u32,
    /// Whether `break` and `continue` are jumps in this file.
    are_jumps: [bool; 2],
    diagnostics: &'d mut Vec<Diagnostic>,
}

/// Two or three sections of a bracket list.
type Sections<A, B> = (Vec<A>, Vec<B>);

impl<'s> Parser<'s, '_> {
    // ---- tokens

    fn peek(&self) -> Token<'s> {
        self.peek_at(self.at)
    }

    fn peek_at(&self, at: usize) -> Token<'s> {
        match self.tokens.get(at).or(self.tokens.last()) {
            Some(token) => *token,
            None => Token { kind: Kind::End, text: "", start: 0, end: 0 },
        }
    }

    fn bump(&mut self) -> Token<'s> {
        let token = self.peek();
        if token.kind != Kind::End {
            self.at += 1;
        }
        token
    }

    fn span(&self, token: Token) -> Span {
        Span::new(self.file, token.start as usize, token.end as usize)
    }

    /// From a token number to the last token read.
    fn span_from(&self, start: usize) -> Span {
        let end = self.peek_at(self.at.saturating_sub(1).max(start));
        self.span(self.peek_at(start)).to(self.span(end))
    }

    /// Whether the next token is this symbol or keyword.
    fn at(&self, text: &str) -> bool {
        self.is_at(self.at, text)
    }

    fn is_at(&self, at: usize, text: &str) -> bool {
        let token = self.peek_at(at);
        matches!(token.kind, Kind::Symbol | Kind::Keyword) && token.text == text
    }

    fn eat(&mut self, text: &str) -> bool {
        let yes = self.at(text);
        if yes {
            self.at += 1;
        }
        yes
    }

    fn expect(&mut self, text: &str) -> Parsed<()> {
        if self.eat(text) { Ok(()) } else { Err(self.expected(&format!("`{text}`"))) }
    }

    fn expect_helping(&mut self, text: &str, help: &str) -> Parsed<()> {
        if self.eat(text) { Ok(()) } else { Err(self.expected_helping(&format!("`{text}`"), help)) }
    }

    /// Expects the bracket that closes the one with number `open`.
    fn expect_close(&mut self, open: usize, text: &str) -> Parsed<()> {
        if self.eat(text) {
            return Ok(());
        }
        let bracket = self.peek_at(open);
        let label = (self.span(bracket), format!("this `{}` is open", bracket.text));
        let failed = self.expected(&format!("`{text}`"));
        if let Some(last) = self.diagnostics.last_mut() {
            last.labels.push(label);
        }
        Err(failed)
    }

    // ---- errors

    fn fail(&mut self, diagnostic: Diagnostic) -> Failed {
        self.diagnostics.push(diagnostic);
        Failed
    }

    fn expected(&mut self, what: &str) -> Failed {
        let token = self.peek();
        let found = match token.kind {
            Kind::End => "the end of the file".to_string(),
            Kind::Newline => "the end of the line".to_string(),
            Kind::Doc => "a doc comment".to_string(),
            Kind::Keyword => format!("the keyword `{}`", token.text),
            _ => format!("`{}`", token.text),
        };
        let span = self.span(token);
        let mut error = Diagnostic::error("J002", span, format!("expected {what}, found {found}"));
        if token.kind == Kind::Name
            && let Some(help) = hints::word(token.text)
        {
            error = hints::about(error, token.text, help);
        } else if let Some(help) =
            self.after_call().or_else(|| self.method()).or_else(|| self.of_others(what))
        {
            error = error.help(help);
        }
        if !error.has_own_help() {
            error = self.insertion(error, what, &found);
        }
        self.fail(error)
    }

    /// What to do about what stands directly behind a call: `grad(g)(x)`, `prod (v <- x) { v }`.
    fn after_call(&self) -> Option<&'static str> {
        let (last, found) = (self.at.checked_sub(1)?, self.peek());
        if !self.is_at(last, ")") {
            return None;
        }
        let mut open = last;
        let mut depth = 0usize;
        loop {
            match self.peek_at(open).text {
                ")" => depth += 1,
                "(" | "#(" if depth == 1 => break,
                "(" | "#(" => depth -= 1,
                _ => {}
            }
            open = open.checked_sub(1)?;
        }
        let name = self.peek_at(open.checked_sub(1)?);
        let hint = || hints::function(name.text).filter(|_| name.kind == Kind::Name);
        let is_body = found.is("{") || matches!(found.kind, Kind::Name | Kind::Int | Kind::Float);
        match found.text {
            "(" if found.kind == Kind::Symbol => hint().or(Some(
                "a call gives values, which are not called: put an operator between, or a name",
            )),
            _ if is_body && lex::is_range(&self.tokens, &self.close, open) => hint(),
            _ => None,
        }
    }

    /// What to do about a method of what a call gives: `f(x).sum()`.
    fn method(&self) -> Option<&'static str> {
        let last = self.at.checked_sub(1)?;
        let (dot, close) = (last.checked_sub(1)?, last.checked_sub(2)?);
        let is = self.peek().is("(")
            && self.peek_at(last).kind == Kind::Name
            && self.is_at(dot, ".")
            && self.is_at(close, ")");
        is.then_some("values have no methods: write `g(f(x))`, or give the first value a name")
    }

    /// What to write for a form of another language, of which jut has read the beginning.
    fn of_others(&self, what: &str) -> Option<&'static str> {
        let last = self.peek_at(self.at.checked_sub(1)?);
        self.fields().or_else(|| hints::form_of_others(last.text, self.peek().text, what))
    }

    /// What to do about several fields at once: `p with x = v, y = w`.
    fn fields(&self) -> Option<&'static str> {
        let is_field = |at| self.peek_at(at).kind == Kind::Name && self.is_at(at + 1, "=");
        if !self.at(",") || !is_field(self.at + 1) {
            return None;
        }
        let mut line = (0..self.at).rev().take_while(|at| self.peek_at(*at).kind != Kind::Newline);
        line.any(|at| self.is_at(at, "with") && is_field(at + 1)).then_some(
            "one field is replaced at a time: `(p with x = v) with y = w`, or `p.y = w` where `p` is a `var`",
        )
    }

    /// What to do where `what` was expected: a single token is put before what was found.
    fn insertion(&self, error: Diagnostic, what: &str, found: &str) -> Diagnostic {
        let at = Span { end: error.span.start, ..error.span };
        match what.strip_prefix('`').and_then(|rest| rest.strip_suffix('`')) {
            Some(token) if !token.contains('`') => {
                error.help(format!("put `{token}` before {found}")).replace(at, token)
            }
            None if what.starts_with("the end of") => {
                error.help(format!("begin a new line before {found}, or put an operator there"))
            }
            _ => error.help(format!("put {what} before {found}, or in its place")),
        }
    }

    /// The same with what to do about it, unless the word that was found, or the call before it, says more.
    fn expected_helping(&mut self, what: &str, help: &str) -> Failed {
        let word = self.peek().kind == Kind::Name && hints::word(self.peek().text).is_some()
            || self.after_call().is_some()
            || self.of_others(what).is_some();
        let failed = self.expected(what);
        if let (Some(last), false) = (self.diagnostics.last_mut(), word) {
            last.help = help.to_string();
            last.edits = Box::default();
        }
        failed
    }

    /// After an error in a part of the block `open` that began at `start`: goes to the end of that
    /// part, if its brackets are in order.
    fn recover(&mut self, open: usize, start: usize) -> bool {
        let deep = self.diagnostics.last().is_some_and(|d| d.code == "J003");
        let end = self.close.get(open).copied().unwrap_or(0) as usize;
        let mut at = start;
        while !deep && at < end {
            if at > start && (self.peek_at(at).kind == Kind::Newline || self.is_at(at, ";")) {
                break;
            }
            let bracket = ["(", "[", "{", "#("].iter().any(|b| self.is_at(at, b));
            at = match self.close[at] as usize {
                0 if bracket => return false,
                0 => at + 1,
                close => close + 1,
            };
        }
        self.at = at.min(end);
        !deep && end > 0 && at <= end
    }

    /// J002 for a word of languages with state that is updated in place.
    fn no_state(&mut self, help: &str) -> Failed {
        let span = self.span(self.peek());
        let message = "there is no state that is updated in place: values do not change";
        self.fail(Diagnostic::error("J002", span, message).help(help))
    }

    /// Runs `inner` one level deeper.
    fn nested<T>(&mut self, inner: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= MAX_DEPTH {
            let span = self.span(self.peek());
            let message = format!("nested too deeply: more than {MAX_DEPTH} levels");
            return Err(self.fail(
                Diagnostic::error("J003", span, message).help("name a part and use the name"),
            ));
        }
        self.depth += 1;
        let result = inner(self);
        self.depth -= 1;
        result
    }

    // ---- names

    fn name(&mut self, what: &str) -> Parsed<Name<'s>> {
        if self.peek().kind != Kind::Name {
            return Err(self.no_name(what));
        }
        let token = self.bump();
        Ok(Name { text: token.text, span: self.span(token) })
    }

    fn linear_name(&mut self) -> Parsed<Name<'s>> {
        if self.peek().kind != Kind::Linear {
            return Err(self.no_name("a linear name such as `x'`"));
        }
        let token = self.bump();
        Ok(Name { text: token.text, span: self.span(token) })
    }

    fn no_name(&mut self, what: &str) -> Failed {
        let token = self.peek();
        match token.kind {
            Kind::Linear => self.expected_helping(what, "linear names stand behind the `;`"),
            Kind::Keyword => {
                let help = format!("keywords cannot be used as names: `{}_`", token.text);
                self.expected_helping(what, &help)
            }
            Kind::Name => self
                .expected_helping(what, &format!("a linear name ends in `'`: `{}'`", token.text)),
            _ => self.expected(what),
        }
    }

    /// How many tokens a path takes here, 0 if there is none.
    fn path_length(&self, at: usize) -> usize {
        let first = self.peek_at(at);
        if first.kind != Kind::Name {
            return 0;
        }
        let mut length = 1;
        let mut end = first.end;
        loop {
            let dot = self.peek_at(at + length);
            let name = self.peek_at(at + length + 1);
            let joined = dot.kind == Kind::Symbol
                && dot.text == "."
                && dot.start == end
                && name.kind == Kind::Name
                && name.start == dot.end;
            if !joined {
                return length;
            }
            end = name.end;
            length += 2;
        }
    }

    /// Names joined by dots without blanks: one slice of the source.
    fn path(&mut self, what: &str) -> Parsed<Name<'s>> {
        let length = self.path_length(self.at);
        if length == 0 {
            return Err(self.no_name(what));
        }
        let start = self.at;
        self.at += length;
        let span = self.span_from(start);
        Ok(Name { text: &self.source[span.start as usize..span.end as usize], span })
    }
}
