//! The lexer: text to tokens, with newlines decided and brackets paired.
//!
//! A token is a kind and a slice of the source. Two things are settled here so that the parser
//! need not look around: **which newlines count** (inside `( )` and `[ ]` none does; inside `{ }`
//! and at top level a newline ends a statement unless the line goes on, see [`goes_on`] and
//! [`continues`]), and **where each bracket closes** ([`Tokens::close`]), which lets the parser
//! tell a pattern from a result list without trying both.
//!
//! A word that opens a declaration (`def`, `data`, ..) at the start of a line closes every open
//! bracket: one forgotten `)` spoils one declaration, not the file.
//!
//! Which words are keywords depends on where they stand: see [`words`].
//!
//! Requires nothing of the input. Ensures: the last token is [`Kind::End`]; spans are byte ranges
//! on character boundaries. Cost: linear.

mod words;

use jut_ir::{Diagnostic, Span};
pub(crate) use words::DECLARATION;

/// What a token is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// `x`, `f{w,b}` (a mask is part of the name).
    Name,
    /// `x'`, `x''`.
    Linear,
    /// `3`.
    Int,
    /// `2.5`, `1e-3`.
    Float,
    /// `"a message"`, on one line; the text is with its quotation marks.
    Text,
    /// A word of the grammar, where it is one.
    Keyword,
    /// An operator, bracket or separator.
    Symbol,
    /// A newline that ends a statement.
    Newline,
    /// `/// ..` before a declaration; the text is without the slashes.
    Doc,
    /// The end of the file.
    End,
}

/// One token.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Token<'s> {
    pub kind: Kind,
    pub text: &'s str,
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Token<'_> {
    /// Whether it is this symbol.
    pub fn is(&self, symbol: &str) -> bool {
        self.kind == Kind::Symbol && self.text == symbol
    }
}

/// All tokens of a file.
pub(crate) struct Tokens<'s> {
    pub tokens: Vec<Token<'s>>,
    /// For each opening bracket the number of its closing one, for others 0.
    pub close: Vec<u32>,
    /// First byte and end of each comment that is not a doc comment.
    pub comments: Vec<(u32, u32)>,
}

/// Longest first, so that the first match is the token.
const SYMBOLS: &[&str] = &[
    "..+", "..", "<-", "<=", "->", "+=", "-=", "*=", "/=", "==", "!=", ">=", "&&", "||", "#(", "<",
    "-", "+", "=", "!", ">", "|", "(", ")", "[", "]", "{", "}", ",", ";", ":", ".", "*", "/", "%",
    "^", "@",
];

/// Whether a line that ends in this token goes on in the next line.
fn goes_on(token: &Token) -> bool {
    token.kind == Kind::Symbol
        && matches!(
            token.text,
            "+" | "-"
                | "*"
                | "/"
                | "%"
                | "^"
                | "=="
                | "!="
                | "<"
                | "<="
                | ">"
                | ">="
                | "&&"
                | "||"
                | ","
                | "="
                | ":"
                | "->"
                | "<-"
                | "+="
                | "-="
                | "*="
                | "/="
                | ".."
                | "..+"
                | "|"
                | "("
                | "["
                | "{"
                | "#("
        )
}

/// Whether a line that begins with this token continues the line before.
fn continues(token: &Token) -> bool {
    match token.kind {
        Kind::Keyword => matches!(token.text, "else" | "carry" | "slice" | "do"),
        // What begins no expression. (`-` does.)
        Kind::Symbol => matches!(
            token.text,
            "|" | "||" | "&&" | "==" | "!=" | "<" | "<=" | ">" | ">=" | "+" | "*" | "/" | "%" | "^"
        ),
        _ => false,
    }
}

fn is_start(b: u8) -> bool {
    b.is_ascii_alphabetic() || b == b'_'
}

fn is_word(b: u8) -> bool {
    b.is_ascii_alphanumeric() || b == b'_'
}

struct Lexer<'s, 'd> {
    source: &'s str,
    file: u32,
    at: usize,
    out: Tokens<'s>,
    /// Numbers of the open bracket tokens.
    open: Vec<usize>,
    /// How many of them a `)`, `]` or `}` would close.
    waiting: [usize; 3],
    /// A newline was passed since the last token.
    newline: bool,
    diagnostics: &'d mut Vec<Diagnostic>,
}

/// Splits a source text into tokens.
pub(crate) fn lex<'s>(source: &'s str, file: u32, diagnostics: &mut Vec<Diagnostic>) -> Tokens<'s> {
    let out = Tokens { tokens: Vec::new(), close: Vec::new(), comments: Vec::new() };
    let mut lexer = Lexer {
        source,
        file,
        at: 0,
        out,
        open: Vec::new(),
        waiting: [0; 3],
        newline: true,
        diagnostics,
    };
    if source.len() >= u32::MAX as usize {
        let message = "the file is larger than 4 GiB";
        let error = Diagnostic::error("J001", Span::new(file, 0, 0), message);
        lexer.diagnostics.push(error.help("divide it into modules: `use part`"));
        lexer.at = source.len();
    }
    lexer.run();
    lexer.out
}

impl<'s> Lexer<'s, '_> {
    fn byte(&self, at: usize) -> u8 {
        self.source.as_bytes().get(at).copied().unwrap_or(0)
    }

    fn run(&mut self) {
        if self.source.starts_with('\u{feff}') {
            self.at = '\u{feff}'.len_utf8();
        }
        while self.at < self.source.len() {
            let b = self.byte(self.at);
            match b {
                b'\n' => {
                    self.newline = true;
                    self.at += 1;
                }
                b' ' | b'\t' | b'\r' => self.at += 1,
                b'/' if self.byte(self.at + 1) == b'/' => self.comment(),
                b'0'..=b'9' => self.number(),
                b'"' => self.text(),
                _ if is_start(b) => self.word(),
                _ => self.symbol(),
            }
        }
        self.open.clear();
        self.newline = false;
        let end = self.source.len();
        self.out.tokens.push(Token {
            kind: Kind::End,
            text: "",
            start: end as u32,
            end: end as u32,
        });
        self.out.close.push(0);
        words::decide(&mut self.out.tokens, &self.out.close);
    }

    /// Whether newlines count here.
    fn at_brace_level(&self) -> bool {
        match self.open.last() {
            None => true,
            Some(k) => self.out.tokens[*k].text == "{",
        }
    }

    fn push(&mut self, kind: Kind, start: usize, text: &'s str) {
        let end = self.at;
        let token = Token { kind, text, start: start as u32, end: end as u32 };
        let opens_declaration = kind == Kind::Keyword && DECLARATION.contains(&text);
        if self.newline && opens_declaration {
            self.open.clear();
            self.waiting = [0; 3];
        }
        if self.newline
            && self.at_brace_level()
            && let Some(last) = self.out.tokens.last()
        {
            let fresh = !matches!(last.kind, Kind::Newline | Kind::Doc);
            if fresh && (opens_declaration || !goes_on(last) && !continues(&token)) {
                let at = last.end;
                self.out.tokens.push(Token { kind: Kind::Newline, text: "\n", start: at, end: at });
                self.out.close.push(0);
            }
        }
        self.newline = false;
        self.out.tokens.push(token);
        self.out.close.push(0);
    }

    fn comment(&mut self) {
        let start = self.at;
        let rest = &self.source[start..];
        let line = rest.lines().next().unwrap_or(rest);
        self.at = start + line.len();
        let is_doc = line.starts_with("///") && !line.starts_with("////");
        if is_doc && self.open.is_empty() {
            let text = &line[3..];
            self.push(Kind::Doc, start, text.strip_prefix(' ').unwrap_or(text));
            self.newline = true;
        } else {
            self.out.comments.push((start as u32, self.at as u32));
        }
    }

    /// Whether the last token is a `.` directly before the current position.
    fn after_dot(&self) -> bool {
        self.out
            .tokens
            .last()
            .is_some_and(|t| t.kind == Kind::Symbol && t.text == "." && t.end as usize == self.at)
    }

    fn word(&mut self) {
        let start = self.at;
        let member = self.after_dot();
        while is_word(self.byte(self.at)) {
            self.at += 1;
        }
        let word_end = self.at;
        if self.byte(self.at) == b'\'' {
            while self.byte(self.at) == b'\'' {
                self.at += 1;
            }
            return self.push(Kind::Linear, start, &self.source[start..self.at]);
        }
        let word = &self.source[start..word_end];
        let mask_end = self.mask_end().filter(|_| !words::stands_before_blocks(word));
        let may_be_keyword = !member && mask_end.is_none() && words::may_be_keyword(word);
        if may_be_keyword && self.may_stand_here(word) {
            return self.push(Kind::Keyword, start, word);
        }
        if let Some(end) = mask_end {
            self.at = end;
        }
        self.push(Kind::Name, start, &self.source[start..self.at]);
    }

    /// Whether a word on which newlines depend is a keyword here: one that begins a declaration, first in its line
    /// and before another word; or one that goes on with a loop or branch, behind its bracket and before the next one.
    fn may_stand_here(&self, word: &str) -> bool {
        let last = self.out.tokens.last();
        let rest = self.source[self.at..].trim_start_matches([' ', '\t']);
        if matches!(word, "carry" | "slice") {
            let before = |t: &Token| t.is(")") || t.text == "while";
            return rest.starts_with('(') && last.is_some_and(before);
        }
        let begins_word = |b: &u8| is_start(*b);
        if word == "do" {
            return rest.starts_with('{') && last.is_some_and(words::ends_operand);
        }
        if word == "else" {
            let begins_way =
                |b: &u8| is_start(*b) || *b == b'{' || !self.newline && b"(-!".contains(b);
            return last.is_some_and(|t| t.is("}"))
                && rest.bytes().next().as_ref().is_some_and(begins_way);
        }
        if !DECLARATION.contains(&word) {
            return true;
        }
        let first = matches!(word, "def" | "const")
            || self.newline
            || last.is_none_or(|t| t.kind == Kind::Doc || t.is(";"));
        let next = rest.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next();
        // `data with x = 1.0` changes a record.
        let is_name = |w: &str| {
            w.bytes().next().as_ref().is_some_and(begins_word)
                && (w != "with" || rest.starts_with("with("))
        };
        first && next.is_some_and(is_name)
    }

    /// The end of a mask `{w,b}` at the current position: no blanks, a `.` and a word after it.
    fn mask_end(&self) -> Option<usize> {
        let mut at = self.at;
        if self.byte(at) != b'{' {
            return None;
        }
        loop {
            at += 1;
            if !is_start(self.byte(at)) {
                return None;
            }
            while is_word(self.byte(at)) {
                at += 1;
            }
            match self.byte(at) {
                b',' => {}
                b'}' if self.byte(at + 1) == b'.' && is_start(self.byte(at + 2)) => {
                    return Some(at + 1);
                }
                _ => return None,
            }
        }
    }

    fn number(&mut self) {
        let start = self.at;
        let member = self.after_dot();
        let digits = |lexer: &mut Self| {
            while matches!(lexer.byte(lexer.at), b'0'..=b'9' | b'_') {
                lexer.at += 1;
            }
        };
        digits(self);
        let mut kind = Kind::Int;
        if !member {
            if self.byte(self.at) == b'.' && self.byte(self.at + 1).is_ascii_digit() {
                kind = Kind::Float;
                self.at += 1;
                digits(self);
            }
            if matches!(self.byte(self.at), b'e' | b'E') {
                let signed = matches!(self.byte(self.at + 1), b'+' | b'-');
                if self.byte(self.at + 1 + usize::from(signed)).is_ascii_digit() {
                    kind = Kind::Float;
                    self.at += 1 + usize::from(signed);
                    digits(self);
                }
            }
        }
        let end = self.at;
        if is_start(self.byte(self.at)) {
            while is_word(self.byte(self.at)) {
                self.at += 1;
            }
            let suffix = &self.source[end..self.at];
            let narrow = match suffix {
                "f32" => Some(Kind::Float),
                "i32" if kind == Kind::Int => Some(Kind::Int),
                _ => None,
            };
            if let (Some(kind), false) = (narrow, member) {
                self.push(kind, start, &self.source[start..self.at]);
                return;
            }
            let span = Span::new(self.file, start, self.at);
            let message = format!("`{suffix}` cannot follow a number");
            self.diagnostics.push(
                Diagnostic::error("J001", span, message)
                    .help("put a blank or an operator between them"),
            );
        }
        self.push(kind, start, &self.source[start..end]);
    }

    /// `"a message"`: everything up to the next quotation mark of the line.
    fn text(&mut self) {
        let start = self.at;
        let line = self.source[start..].lines().next().unwrap_or_default();
        let Some(length) = line[1..].find('"') else {
            self.at += line.len();
            let span = Span::new(self.file, start, start + 1);
            let error = Diagnostic::error("J001", span, "this text has no end in its line");
            self.diagnostics.push(error.help("end it with `\"`, in the same line"));
            return self.push(Kind::Text, start, line);
        };
        self.at += length + 2;
        self.push(Kind::Text, start, &self.source[start..self.at]);
    }

    fn symbol(&mut self) {
        let start = self.at;
        let rest = &self.source[start..];
        let Some(text) = SYMBOLS.iter().find(|s| rest.starts_with(**s)) else {
            return self.unknown();
        };
        let text = &rest[..text.len()];
        self.at += text.len();
        if matches!(text, ")" | "]" | "}") {
            self.closing(start, text);
            return;
        }
        self.push(Kind::Symbol, start, text);
        if matches!(text, "(" | "[" | "{" | "#(") {
            self.open.push(self.out.tokens.len() - 1);
            self.waiting[kind_of_bracket(text)] += 1;
        }
    }

    /// A closing bracket: pairs it. One that closes nothing is reported and left out; one that
    /// closes an outer bracket leaves the inner ones open, for the parser to complain about.
    fn closing(&mut self, start: usize, text: &'s str) {
        let kind = kind_of_bracket(text);
        let fits = |k: &usize| kind_of_bracket(self.out.tokens[*k].text) == kind;
        // Whatever is looked at is closed, so that all closing brackets together cost linear time.
        let found = (self.waiting[kind] > 0).then(|| self.open.iter().rposition(fits));
        let Some(depth) = found.flatten() else {
            let span = Span::new(self.file, start, self.at);
            let message = format!("`{text}` closes no open bracket");
            self.diagnostics.push(
                Diagnostic::error("J001", span, message).help("take it out").replace(span, ""),
            );
            return;
        };
        let open = self.open[depth];
        for closed in &self.open[depth..] {
            self.waiting[kind_of_bracket(self.out.tokens[*closed].text)] -= 1;
        }
        self.open.truncate(depth + 1);
        self.push(Kind::Symbol, start, text);
        self.open.truncate(depth);
        self.out.close[open] = (self.out.tokens.len() - 1) as u32;
    }

    fn unknown(&mut self) {
        let start = self.at;
        let rest = &self.source[start..];
        let known = |c: char| c.is_ascii_alphanumeric() || c.is_whitespace() || "_/".contains(c);
        let run: usize = rest
            .char_indices()
            .take_while(|(at, c)| !known(*c) && !SYMBOLS.iter().any(|s| rest[*at..].starts_with(s)))
            .map(|(_, c)| c.len_utf8())
            .sum();
        self.at += run.max(rest.chars().next().map_or(1, char::len_utf8));
        let text = &self.source[start..self.at];
        let span = Span::new(self.file, start, self.at);
        let what = match text.as_bytes().first() {
            Some(b'\'') => "`'` must follow a name directly".to_string(),
            Some(b'&') => "`&` is not an operator".to_string(),
            _ => format!("`{text}` is not allowed here"),
        };
        let help = crate::hints::character(text).unwrap_or("take it out");
        let error = Diagnostic::error("J001", span, what);
        self.diagnostics.push(crate::hints::about(error, text, help));
    }
}

/// Which brackets close each other: 0 for round ones, 1 for square ones, 2 for braces.
fn kind_of_bracket(text: &str) -> usize {
    match text {
        "(" | "#(" | ")" => 0,
        "[" | "]" => 1,
        _ => 2,
    }
}

/// Whether the bracket with this number holds a range: `(i < n)`, not `(a, b)`. (No function that is
/// written like a loop takes a comparison.)
pub(crate) fn is_range(list: &[Token], close: &[u32], open: usize) -> bool {
    has_sign(list, close, open, &["<", "<=", "<-"])
}

/// Whether one of some signs stands directly in the bracket with this number, if it is one.
fn has_sign(list: &[Token], close: &[u32], open: usize, signs: &[&str]) -> bool {
    if !list.get(open).is_some_and(|t| t.is("(")) {
        return true;
    }
    let end = close[open] as usize;
    let mut k = open + 1;
    while k < end {
        if signs.iter().any(|sign| list[k].is(sign)) {
            return true;
        }
        k = k.max(close[k] as usize) + 1;
    }
    false
}
