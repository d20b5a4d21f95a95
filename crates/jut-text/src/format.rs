//! The formatter: one layout for a program text, whatever its blanks were.
//!
//! It works on tokens and brackets, not on the tree, so it can lose nothing: the output has the tokens and
//! comments of the input, in order, but for `;` and newlines between statements (one becomes the
//! other) and commas before a closing bracket (left out).
//!
//! ```text
//! def  f[n](x:[n]f64)->f64={           def f[n](x: [n]f64) -> f64 = {
//!   s=sum(i<n){x[i]^2} // squares  =>    s = sum (i < n) { x[i]^2 } // squares
//!   sqrt( s ) }                          sqrt(s)
//!                                      }
//! ```
//!
//! * A block stays on one line if it was written on one, holds no comment, and fits. A block that
//!   has a line break anywhere inside is written with one statement on a line.
//! * Lines have at most [`WIDTH`] columns where tokens allow it. What is too long is broken at the
//!   outermost block first, then in lists (one item on a line), then behind the loosest operators; the
//!   names before a `=` or `->` only if nothing behind it can be broken.
//! * Empty lines between statements stay, at most one in a row. The ways of one `if` are written alike.
//!
//! Requires a text that parses. Ensures: the same program, and a fixed point: formatting the
//! result changes nothing. Cost: linear in the text, times the number of rounds that it takes
//! until no further block has to be broken (two, hardly ever more).

mod layout;
mod space;

use crate::lex::{Kind, Token, Tokens};
use crate::parser;
use jut_ir::{Diagnostic, Severity};
use layout::{Group, Item};
use space::Spacing;

/// The longest line, in columns.
pub(crate) const WIDTH: usize = 100;

/// Formats a source text (surface or core).
///
/// # Errors
/// The diagnostics of a text that does not parse.
pub fn format(source: &str) -> Result<String, Vec<Diagnostic>> {
    let mut diagnostics = Vec::new();
    let parse = parser::parse(source, 0, &mut diagnostics);
    if diagnostics.iter().any(|d| d.severity == Severity::Error) {
        diagnostics.sort_by_key(|d| (d.span.start, d.span.end, d.code));
        return Err(crate::limit::limit(diagnostics));
    }
    let tokens = &parse.tokens;
    let mut blocks = Blocks::new(source, tokens);
    let mut items = Writer::new(source, tokens, &blocks).program();
    loop {
        let (text, broken) = layout::print(&items, source.len());
        if !blocks.force(broken) {
            return Ok(text);
        }
        items = Writer::new(source, tokens, &blocks).program();
    }
}

/// Which brackets are broken over lines, by the number of the opening token.
struct Blocks {
    /// Blocks with one statement on a line, and lists that hold a comment.
    forced: Vec<bool>,
    /// The innermost `{` around a `{`.
    outer: Vec<Option<usize>>,
    /// For the blocks of one `if`: the next one, in a circle.
    alike: Vec<usize>,
}

impl Blocks {
    fn new(source: &str, tokens: &Tokens) -> Blocks {
        let list = &tokens.tokens;
        let mut blocks = Blocks {
            forced: vec![false; list.len()],
            outer: vec![None; list.len()],
            alike: (0..list.len()).collect(),
        };
        // Open brackets; comments belong to the innermost one.
        let mut open: Vec<usize> = Vec::new();
        let mut comments = tokens.comments.iter().peekable();
        let mut forced: Vec<usize> = Vec::new();
        for (k, token) in list.iter().enumerate() {
            while comments.next_if(|(start, _)| *start < token.start).is_some() {
                forced.extend(open.last());
                forced.extend(open.iter().rev().find(|b| list[**b].text == "{"));
            }
            if token.kind == Kind::Symbol && matches!(token.text, ")" | "]" | "}") {
                open.pop();
            }
            if token.kind == Kind::Newline && !is_symbol(list.get(k + 1), "}") {
                forced.extend(open.last());
            }
            if tokens.close[k] != 0 {
                if token.text == "{" {
                    blocks.outer[k] = open.iter().rev().copied().find(|b| list[*b].text == "{");
                    let next = list.get(k + 1).map_or(token.end, |t| t.start);
                    if source[token.end as usize..next as usize].contains('\n')
                        && tokens.close[k] as usize != k + 1
                    {
                        forced.push(k);
                    }
                }
                open.push(k);
            }
        }
        blocks.link(tokens);
        blocks.force(forced);
        blocks
    }

    /// Joins the blocks of `if c { } else if d { } else { }`.
    fn link(&mut self, tokens: &Tokens) {
        let list = &tokens.tokens;
        for k in 0..list.len() {
            let close = tokens.close[k] as usize;
            let is_else = |t: &Token| t.kind == Kind::Keyword && t.text == "else";
            if list[k].text != "{" || close == 0 || !list.get(close + 1).is_some_and(is_else) {
                continue;
            }
            // The next block of the chain: over the condition of an `else if`.
            let mut next = close + 2;
            while next < list.len() && !is_symbol(list.get(next), "{") {
                next = next.max(tokens.close[next] as usize) + 1;
            }
            if next < list.len() {
                self.alike.swap(k, next);
            }
        }
    }

    /// Breaks blocks, those around them, and those of the same `if`. Whether any is new.
    fn force(&mut self, mut todo: Vec<usize>) -> bool {
        let mut new = false;
        while let Some(k) = todo.pop() {
            if !std::mem::replace(&mut self.forced[k], true) {
                new = true;
                todo.extend(self.outer[k]);
                todo.push(self.alike[k]);
            }
        }
        new
    }
}

fn is_symbol(token: Option<&Token>, text: &str) -> bool {
    token.is_some_and(|t| t.kind == Kind::Symbol && t.text == text)
}

/// Turns tokens into [`Item`]s.
struct Writer<'t, 's> {
    source: &'s str,
    list: &'t [Token<'s>],
    close: &'t [u32],
    comments: &'t [(u32, u32)],
    blocks: &'t Blocks,
    spacing: Spacing<'t, 's>,
    items: Vec<Item<'s>>,
    /// The token written last, unless a possible line break follows it.
    before: Option<usize>,
    /// The end of the token or comment written last.
    end: usize,
    /// What is written stands before a `=` or `->`.
    pattern: bool,
}

/// What a line may be broken behind, loosest first; before all, the parts of a loop.
const LEVELS: [&[&str]; 6] =
    [&[], &["||"], &["&&"], &["==", "!=", "<", "<=", ">", ">="], &["+", "-"], &["*", "/", "%"]];

impl<'t, 's> Writer<'t, 's> {
    fn new(source: &'s str, tokens: &'t Tokens<'s>, blocks: &'t Blocks) -> Self {
        let (list, close) = (tokens.tokens.as_slice(), tokens.close.as_slice());
        let spacing = Spacing::new(list, close);
        let comments = tokens.comments.as_slice();
        let (items, before) = (Vec::new(), None);
        let (end, pattern) = (0, false);
        Writer { source, list, close, comments, blocks, spacing, items, before, end, pattern }
    }

    fn program(mut self) -> Vec<Item<'s>> {
        let last = self.list.len().saturating_sub(1);
        let mut at = 0;
        while at < last {
            if self.list[at].kind == Kind::Doc {
                self.begin(at, true);
                let token = self.list[at];
                let text = &self.source[token.start as usize..token.end as usize];
                self.items.push(Item::Text(text.trim_end()));
                self.end = token.end as usize;
                self.items.push(Item::Sep);
                at += 1;
                continue;
            }
            let from = at;
            while at < last && !self.separates(at) && self.list[at].kind != Kind::Doc {
                at = self.after(at);
            }
            if from < at {
                // A doc comment keeps to its declaration.
                let doc = from.checked_sub(1).is_some_and(|k| self.list[k].kind == Kind::Doc);
                self.begin(from, !doc);
                self.declaration(from, at);
                self.items.push(Item::Sep);
            }
            at += usize::from(at < last && self.separates(at));
        }
        self.trivia(last);
        self.items
    }

    /// Whether a token only separates statements or declarations.
    fn separates(&self, k: usize) -> bool {
        self.list[k].kind == Kind::Newline || is_symbol(self.list.get(k), ";")
    }

    /// The token after this one, or after the bracket that opens here.
    fn after(&self, k: usize) -> usize {
        k.max(self.close[k] as usize) + 1
    }

    /// The first token outside of brackets with one of these texts.
    fn find(&self, from: usize, to: usize, texts: &[&str]) -> Option<usize> {
        let mut k = from;
        while k < to {
            if self.list[k].kind == Kind::Symbol && texts.contains(&self.list[k].text) {
                return Some(k);
            }
            k = self.after(k);
        }
        None
    }

    // ---- comments and empty lines

    /// Whether an empty line stands before a place in the text.
    fn blank_before(&self, start: usize) -> bool {
        let gap = self.source.get(self.end..start).unwrap_or("");
        gap.bytes().filter(|b| *b == b'\n').count() > 1
    }

    /// The comments before a token.
    fn trivia(&mut self, k: usize) {
        while let Some((&(start, end), rest)) = self.comments.split_first() {
            if start >= self.list[k].start {
                return;
            }
            self.comments = rest;
            let (start, end) = (start as usize, end as usize);
            let gap = self.source.get(self.end..start).unwrap_or("");
            let alone = self.end == 0 || gap.contains('\n');
            let blank = self.blank_before(start);
            let text = self.source[start..end].trim_end();
            self.items.push(Item::Comment { text, alone, blank });
            self.end = end;
            self.before = None;
        }
    }

    /// Comments and an empty line before the first token of a statement.
    fn begin(&mut self, k: usize, blank: bool) {
        self.trivia(k);
        if blank && self.blank_before(self.list[k].start as usize) {
            self.items.push(Item::Blank);
        }
        self.before = None;
    }

    // ---- tokens and brackets

    fn line(&mut self, space: bool, stop: bool) {
        self.items.push(Item::Line { space, stop });
        self.before = None;
    }

    fn token(&mut self, k: usize) {
        self.trivia(k);
        self.space(k);
        self.items.push(Item::Text(self.list[k].text));
        self.before = Some(k);
        self.end = self.list[k].end as usize;
    }

    fn space(&mut self, k: usize) {
        if self.before.is_some_and(|before| self.spacing.between(before, k)) {
            self.items.push(Item::Space);
        }
    }

    /// Tokens and brackets in a row.
    fn row(&mut self, from: usize, to: usize) {
        let mut k = from;
        while k < to {
            let close = self.close[k] as usize;
            if close == 0 {
                self.token(k);
            } else if self.list[k].text == "{" {
                self.block(k, close);
            } else {
                self.bracket(k, close);
            }
            k = self.after(k);
        }
    }

    /// `{ .. }`.
    fn block(&mut self, open: usize, close: usize) {
        self.trivia(open);
        let forced = self.blocks.forced[open];
        if open + 1 == close && !forced {
            self.token(open);
            self.before = None;
            return self.token(close);
        }
        self.space(open);
        self.before = None;
        self.items.push(Item::Open(Group::Block { number: open, forced }));
        self.items.push(Item::Indent(0));
        self.token(open);
        self.items.push(Item::Indent(1));
        self.line(true, true);
        let mut at = open + 1;
        let mut first = true;
        while at < close {
            let from = at;
            while at < close && !self.separates(at) {
                at = self.after(at);
            }
            if from < at {
                if !std::mem::take(&mut first) {
                    self.items.push(Item::Sep);
                }
                self.begin(from, true);
                self.statement(from, at);
            }
            at += 1;
        }
        self.trivia(close);
        self.items.push(Item::Dedent);
        self.line(true, true);
        self.token(close);
        self.items.push(Item::Dedent);
        self.items.push(Item::Close);
    }

    /// `( .. )`, `[ .. ]` or `#( .. )`: items between `,` and `;`.
    fn bracket(&mut self, open: usize, close: usize) {
        self.trivia(open);
        self.space(open);
        self.before = None;
        let forced = self.blocks.forced[open];
        if open + 1 == close && !forced {
            self.token(open);
            return self.token(close);
        }
        // The sizes of a definition stay together: its parameters are better to break. A long list
        // of numbers or names fills its lines.
        let sizes = !forced && is_symbol(self.list.get(close + 1), "(");
        let plain = self.list[open].text == "["
            && self.list[open..close].iter().all(|t| t.text == "[" || self.close_free(t))
            && close - open > 16;
        let fills = sizes || plain;
        let group = match (sizes, self.pattern) {
            (true, _) => Group::Fill,
            (_, true) => Group::Pattern { forced },
            _ => Group::List { forced },
        };
        self.items.push(Item::Open(group));
        self.items.push(Item::Indent(0));
        self.token(open);
        self.items.push(Item::Indent(1));
        if !sizes {
            self.line(false, open > 0 && self.list[open - 1].is("]"));
        }
        if fills {
            self.items.push(Item::Open(Group::Fill));
        }
        self.before = None;
        let mut at = open + 1;
        while at < close {
            let end = self.find(at, close, &[",", ";"]).unwrap_or(close);
            self.sequence(at, end, 0);
            if end == close {
                break;
            }
            at = end + 1;
            let last = at == close;
            if self.list[end].text == ";" || !last && !is_symbol(self.list.get(at), ";") {
                self.token(end);
                match (last, fills) {
                    (true, _) => {}
                    (_, true) => self.fill(),
                    _ => self.line(true, false),
                }
            }
        }
        if fills {
            self.items.push(Item::Close);
        }
        self.trivia(close);
        self.items.push(Item::Dedent);
        if !sizes {
            self.line(false, false);
        }
        self.token(close);
        self.items.push(Item::Dedent);
        self.items.push(Item::Close);
    }

    /// Whether a token is a name, a number, a sign or a comma.
    fn close_free(&self, token: &Token) -> bool {
        match token.kind {
            Kind::Name | Kind::Int | Kind::Float => true,
            _ => matches!(token.text, "-" | "," | "true" | "false"),
        }
    }

    fn fill(&mut self) {
        self.items.push(Item::Fill);
        self.before = None;
    }

    // ---- statements and declarations

    fn statement(&mut self, from: usize, to: usize) {
        let sign = self.find(from, to, &["=", "+=", "-=", "*=", "/=", "->"]);
        let head = match sign {
            Some(sign) => sign + 1,
            None if matches!(self.list[from].text, "check" | "assert") => from + 1,
            None => from,
        };
        self.pattern = true;
        self.row(from, head);
        self.pattern = false;
        if from < head && head < to {
            self.items.push(Item::Space);
            self.before = None;
        }
        self.sequence(head, to, 0);
    }

    /// An expression, with possible line breaks behind its loosest operators.
    fn sequence(&mut self, from: usize, to: usize, level: usize) {
        let Some(operators) = LEVELS.get(level) else { return self.row(from, to) };
        let mut parts = Vec::new();
        let mut k = from;
        while k < to {
            let token = self.list[k];
            let splits = match token.kind {
                Kind::Keyword => level == 0 && matches!(token.text, "carry" | "slice"),
                Kind::Symbol => operators.contains(&token.text) && !self.spacing.is_prefix(k),
                _ => false,
            };
            if splits && k > from && k + 1 < to {
                parts.push(if level == 0 { k } else { k + 1 });
            }
            k = self.after(k);
        }
        if parts.is_empty() {
            return self.sequence(from, to, level + 1);
        }
        self.items.push(Item::Open(Group::Fill));
        let mut from = from;
        parts.push(to);
        for (number, part) in parts.into_iter().enumerate() {
            // The operator is written behind its operand.
            let operand = if level > 0 && part < to { part - 1 } else { part };
            self.sequence(from, operand, level + 1);
            self.row(operand, part);
            if number == 0 {
                self.items.push(Item::Indent(1));
            }
            if part < to {
                self.fill();
            }
            from = part;
        }
        self.items.push(Item::Dedent);
        self.items.push(Item::Close);
    }

    fn declaration(&mut self, from: usize, to: usize) {
        let equals = self.find(from, to, &["="]).unwrap_or(from);
        if self.list[from].text == "data" {
            self.items.push(Item::Open(Group::List { forced: false }));
            self.row(from, equals + 1);
            self.items.push(Item::Indent(1));
            let mut at = equals + 1;
            while let Some(bar) = self.find(at + 1, to, &["|"]) {
                self.row(at, bar);
                self.line(true, false);
                at = bar;
            }
            self.row(at, to);
            self.items.push(Item::Dedent);
            self.items.push(Item::Close);
            return;
        }
        if equals == from || is_symbol(self.list.get(equals + 1), "{") {
            return self.row(from, to);
        }
        self.row(from, equals + 1);
        self.items.push(Item::Open(Group::List { forced: false }));
        self.items.push(Item::Indent(1));
        self.line(true, true);
        self.sequence(equals + 1, to, 0);
        self.items.push(Item::Dedent);
        self.items.push(Item::Close);
    }
}
