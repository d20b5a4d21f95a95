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

mod expression;
mod jumps;
mod loops;
mod statement;
mod types;
mod update;

use crate::ast::*;
use crate::hints;
use crate::lex::{self, Kind, Token, Tokens};
use jut_ir::{Diagnostic, Mode, Span};
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
            self.after_call().or_else(|| self.method()).or_else(|| self.foreign(what))
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
    fn foreign(&self, what: &str) -> Option<&'static str> {
        let last = self.peek_at(self.at.checked_sub(1)?);
        hints::form_of_others(last.text, self.peek().text, what)
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
            || self.foreign(what).is_some();
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

    // ---- declarations

    fn program(&mut self) -> Vec<&'s str> {
        let mut failed = Vec::new();
        loop {
            while self.peek().kind == Kind::Newline || self.eat(";") {
                self.at += usize::from(self.peek().kind == Kind::Newline);
            }
            if self.peek().kind == Kind::End {
                return failed;
            }
            let start = self.at;
            self.depth = 0;
            if self.decl().is_err() {
                failed.extend(self.declared_name(start));
                self.at = self.at.max(start + 1);
                while !matches!(self.peek().kind, Kind::End | Kind::Doc) && !self.at_declaration() {
                    self.at += 1;
                }
            }
        }
    }

    fn at_declaration(&self) -> bool {
        let token = self.peek();
        let before = self.peek_at(self.at.saturating_sub(1));
        token.kind == Kind::Keyword
            && lex::DECLARATION.contains(&token.text)
            && !(before.kind == Kind::Keyword && matches!(before.text, "core" | "extern"))
    }

    /// The name of the declaration that starts at a token, if one can be read.
    fn declared_name(&mut self, start: usize) -> Option<&'s str> {
        let mut at = start;
        let before = |at| self.is_at(at, "core") || self.is_at(at, "extern");
        while self.peek_at(at).kind == Kind::Doc || before(at) {
            at += 1;
        }
        if !["def", "const", "data", "type"].iter().any(|word| self.is_at(at, word)) {
            return None;
        }
        let length = self.path_length(at + 1);
        let (first, last) = (self.peek_at(at + 1), self.peek_at((at + length).max(at + 1)));
        (length > 0).then(|| &self.source[first.start as usize..last.end as usize])
    }

    fn decl(&mut self) -> Parsed<()> {
        let mut doc = String::new();
        while self.peek().kind == Kind::Doc {
            if !doc.is_empty() {
                doc.push('\n');
            }
            doc.push_str(self.bump().text);
        }
        let word = if self.peek().kind == Kind::Keyword { self.peek().text } else { "" };
        let decl = match word {
            "core" | "def" => Decl::Def(self.def(doc)?),
            "const" => Decl::Def(self.constant(doc)?),
            "data" => Decl::Data(self.data(doc)?),
            "type" => Decl::Alias(self.alias()?),
            "use" => {
                self.at += 1;
                let module = self.path("the name of a module, such as `stats`")?;
                let renamed = self.peek().kind == Kind::Name && self.peek().text == "as";
                self.at += usize::from(renamed);
                let alias = match renamed {
                    true => self.name("a name for the module, such as `stats`")?,
                    false => module,
                };
                Decl::Use(Use { module, alias })
            }
            "rule" => Decl::Rule(self.rule()?),
            "extern" => Decl::Extern(self.extern_def(doc)?),
            _ => {
                let before = self.peek_at(self.at.saturating_sub(1));
                let help = match before.kind {
                    Kind::Newline if expression::is_operator(self.peek()) => {
                        "an expression goes on in the next line if the operator ends the line before"
                    }
                    _ => {
                        "a file is a list of declarations; statements stand in the body of a `def`"
                    }
                };
                let what = "a declaration: `def`, `core def`, `extern def`, `const`, `data`, `type`, `rule` or `use`";
                return Err(self.expected_helping(what, help));
            }
        };
        match self.peek().kind {
            Kind::Newline | Kind::End | Kind::Doc => {}
            _ if self.at(";") => {}
            _ => return Err(self.expected("the end of the declaration")),
        }
        self.ast.decls.push(decl);
        Ok(())
    }

    fn rule(&mut self) -> Parsed<Rule<'s>> {
        self.expect("rule")?;
        let word = self.peek();
        if !matches!(word.text, "jvp" | "vjp") {
            let help = "write `rule jvp f = g` for tangents, or `rule vjp f = g` for cotangents";
            return Err(self.expected_helping("`jvp` or `vjp`", help));
        }
        self.at += 1;
        let func = self.path("the definition whose derivative it is")?;
        self.expect("=")?;
        let by = self.path("the definition that gives the derivative")?;
        Ok(Rule { vjp: word.text == "vjp", func, by })
    }

    fn data(&mut self, doc: String) -> Parsed<Data<'s>> {
        self.expect("data")?;
        let name = self.path("the name of a data type")?;
        let sizes = self.sizes_of_type()?;
        let mut of = None;
        if self.peek().kind == Kind::Name && self.peek().text == "of" {
            self.at += 1;
            of = Some(self.path("the data type whose tangents these are")?);
        }
        let help = "the fields stand behind a constructor, which may have the name of the type: \
                    `data P = P(x: f64, y: f64)`";
        if self.at("(") {
            return Err(self.expected_helping("`=`", help));
        }
        self.expect("=")?;
        let mut constructors = Vec::new();
        loop {
            let constructor = self.path("a constructor")?;
            let mut fields = Vec::new();
            let open = self.at;
            if self.eat("(") {
                while !self.at(")") {
                    fields.push(self.field()?);
                    if !self.eat(",") {
                        break;
                    }
                }
                self.expect_close(open, ")")?;
            }
            constructors.push((constructor, fields));
            if !self.eat("|") {
                return Ok(Data { name, sizes, of, constructors, doc });
            }
        }
    }

    /// The sizes that a type has as parameters: `[m, n]`, or nothing.
    fn sizes_of_type(&mut self) -> Parsed<Vec<Name<'s>>> {
        let mut sizes = Vec::new();
        let open = self.at;
        if self.eat("[") {
            sizes.push(self.name("a size")?);
            while self.eat(",") {
                sizes.push(self.name("a size")?);
            }
            self.expect_close(open, "]")?;
        }
        Ok(sizes)
    }

    /// `type Matrix[m, n] = [m, n]f64`.
    fn alias(&mut self) -> Parsed<Alias<'s>> {
        self.expect("type")?;
        let name = self.path("a name for the type")?;
        let sizes = self.sizes_of_type()?;
        self.expect_helping("=", "the type stands behind `=`: `type Point = [3]f64`")?;
        Ok(Alias { name, sizes, ty: self.ty()? })
    }

    /// A field of a constructor, which has a name.
    fn field(&mut self) -> Parsed<(Name<'s>, Type<'s>)> {
        let first = self.peek();
        let alone = self.peek_at(self.at + 1).is(",") || self.peek_at(self.at + 1).is(")");
        if first.is("[") || alone && is_like_type(first.text) {
            let help = "write a name before it: `Leaf(x: f64)`, `Row(values: [3]f64)`";
            let error =
                Diagnostic::error("J002", self.span(first), "this field has no name").help(help);
            return Err(self.fail(error));
        }
        self.typed_name()
    }

    fn typed_name(&mut self) -> Parsed<(Name<'s>, Type<'s>)> {
        let name = self.name("a name")?;
        if !self.eat(":") {
            let message = format!("`{}` has no type", name.text);
            let help = format!("write `{0}: f64`, or for an array `{0}: [n]f64`", name.text);
            return Err(self.fail(Diagnostic::error("J002", name.span, message).help(help)));
        }
        Ok((name, self.ty()?))
    }

    /// `const x: t = e`: a definition without parameters.
    fn constant(&mut self, doc: String) -> Parsed<Def<'s>> {
        let start = self.at;
        self.at += 1;
        let (name, ty) = self.typed_name()?;
        let head = self.span_from(start);
        self.expect_helping("=", "the value stands behind `=`: `const pi: f64 = 3.14`")?;
        let body = self.expr()?;
        Ok(Def {
            core: false,
            constant: true,
            name,
            sizes: Vec::new(),
            params: Vec::new(),
            lin_params: Vec::new(),
            cap_params: Vec::new(),
            results: vec![ResultDecl { name: None, ty }],
            lin_results: Vec::new(),
            body,
            doc,
            head,
        })
    }

    /// `extern def p(n: i64; x': [n]f64) -> (; [n]f64) transpose q derivative r`.
    fn extern_def(&mut self, doc: String) -> Parsed<Extern<'s>> {
        let start = self.at;
        self.expect("extern")?;
        let mut def = self.head(doc)?;
        def.head = self.span_from(start);
        let help =
            "an `extern` ends with the name of its transpose, which may be itself: `transpose q`";
        if !self.at_name("transpose") {
            let what = "`transpose`, and the name of the transpose";
            return Err(self.expected_helping(what, help));
        }
        self.at += 1;
        let transpose = self.path("the name of the transpose")?;
        let derivative = match self.at_name("derivative") {
            true => {
                self.at += 1;
                Some(self.path("the definition that gives the derivative")?)
            }
            false => None,
        };
        Ok(Extern { def, transpose, derivative })
    }

    /// Whether a word stands here that is no keyword.
    fn at_name(&self, word: &str) -> bool {
        self.peek().kind == Kind::Name && self.peek().text == word
    }

    fn def(&mut self, doc: String) -> Parsed<Def<'s>> {
        let mut def = self.head(doc)?;
        self.expect_helping("=", "the body stands behind `=`: `= { .. }`")?;
        def.body = self.expr()?;
        Ok(def)
    }

    /// A definition up to its body, without which it is an `extern`.
    fn head(&mut self, doc: String) -> Parsed<Def<'s>> {
        let start = self.at;
        let core = self.eat("core");
        self.expect("def")?;
        let name = self.path("the name of a definition")?;
        let mut sizes = Vec::new();
        let open = self.at;
        if self.eat("[") {
            while !self.at("]") {
                sizes.push(self.name("the name of a size")?);
                if !self.eat(",") {
                    break;
                }
            }
            self.expect_close(open, "]")?;
        }
        let open = self.at;
        self.expect("(")?;
        let (mut params, mut lin_params, mut cap_params) = (Vec::new(), Vec::new(), Vec::new());
        while !self.at(")") && !self.at(";") {
            params.push(self.typed_name()?);
            if !self.eat(",") {
                break;
            }
        }
        if self.eat(";") {
            while !self.at(")") && !self.at(";") {
                let name = self.linear_name()?;
                self.expect(":")?;
                lin_params.push((name, self.ty()?));
                if !self.eat(",") {
                    break;
                }
            }
            if self.eat(";") {
                while !self.at(")") {
                    cap_params.push(self.cap_param()?);
                    if !self.eat(",") {
                        break;
                    }
                }
            }
        }
        self.expect_close(open, ")")?;
        self.expect_helping("->", "say what the definition gives: `-> f64`, `-> (f64, [n]f64)`")?;
        let (results, lin_results) = self.results()?;
        let head = self.span_from(start);
        Ok(Def {
            core,
            constant: false,
            name,
            sizes,
            params,
            lin_params,
            cap_params,
            results,
            lin_results,
            body: ExprId(u32::MAX),
            doc,
            head,
        })
    }

    /// `rd`, `wr [lanes]` or `acc [lanes]`.
    fn mode(&mut self) -> Parsed<(Mode, bool)> {
        let mode = match self.peek().text {
            "rd" => Mode::Rd,
            "wr" => Mode::Wr,
            "acc" => Mode::Acc,
            "st" | "mut" => {
                let help = "use `rd`, `wr` or `acc`, or carry the value through a loop";
                return Err(self.no_state(help));
            }
            _ => return Err(self.expected("`rd`, `wr` or `acc`")),
        };
        self.bump();
        Ok((mode, mode != Mode::Rd && self.eat("lanes")))
    }

    fn cap_param(&mut self) -> Parsed<CapParam<'s>> {
        let (mode, lanes) = self.mode()?;
        let (name, ty) = self.typed_name()?;
        Ok(CapParam { mode, lanes, name, ty })
    }

    fn results(&mut self) -> Parsed<Sections<ResultDecl<'s>, ResultDecl<'s>>> {
        let open = self.at;
        if !self.eat("(") {
            let ty = self.ty()?;
            return Ok((vec![ResultDecl { name: None, ty }], Vec::new()));
        }
        let (mut nl, mut lin) = (Vec::new(), Vec::new());
        while !self.at(")") && !self.at(";") {
            nl.push(self.result_decl(Kind::Name)?);
            if !self.eat(",") {
                break;
            }
        }
        if self.eat(";") {
            while !self.at(")") {
                lin.push(self.result_decl(Kind::Linear)?);
                if !self.eat(",") {
                    break;
                }
            }
        }
        self.expect_close(open, ")")?;
        Ok((nl, lin))
    }

    fn result_decl(&mut self, kind: Kind) -> Parsed<ResultDecl<'s>> {
        let named = self.is_at(self.at + 1, ":");
        let name = match (named, kind) {
            (false, _) => None,
            (true, Kind::Linear) => Some(self.linear_name()?),
            (true, _) => Some(self.name("a name or a type")?),
        };
        if named {
            self.expect(":")?;
        }
        Ok(ResultDecl { name, ty: self.ty()? })
    }
}

/// Whether a name is that of a type of numbers, or like one of data.
fn is_like_type(name: &str) -> bool {
    matches!(name, "f64" | "f32" | "i64" | "i32" | "bool")
        || name.starts_with(|c: char| c.is_uppercase())
}
