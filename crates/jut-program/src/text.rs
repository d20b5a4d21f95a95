//! Tokens as text: each stands in the line and column of the text where it stands in the Rust file. So lines mean
//! to the language what they mean to the reader, and places of the text are places of the file.

use proc_macro2::{Delimiter, Spacing, Span, TokenStream, TokenTree};
use std::ops::Range;

/// A text, and which token stands where.
#[derive(Default)]
pub(crate) struct Laid {
    /// The text. Lines before the first token are empty.
    pub text: String,
    tokens: Vec<(Range<usize>, Span)>,
    line: usize,
    column: usize,
    /// Whether the next token belongs to the one before it: `->`.
    joint: bool,
}

/// Why tokens are no text, and where.
type Wrong = (Span, String);

/// Lays tokens out.
pub(crate) fn lay_out(tokens: TokenStream) -> Result<Laid, Wrong> {
    let mut laid = Laid { line: 1, ..Laid::default() };
    laid.all(tokens)?;
    laid.text.push('\n');
    Ok(laid)
}

impl Laid {
    /// The first and the last token of a part of the text; else the last one before it.
    pub fn tokens(&self, range: Range<usize>) -> (Span, Span) {
        let end = range.end.max(range.start + 1);
        let mut part = self.tokens.iter().filter(|(r, _)| r.start < end && range.start < r.end);
        if let Some((_, first)) = part.next() {
            return (*first, part.next_back().map_or(*first, |(_, last)| *last));
        }
        let before = self.tokens.iter().rev().find(|(r, _)| r.start <= range.start);
        let span = before.or(self.tokens.first()).map_or_else(Span::call_site, |(_, span)| *span);
        (span, span)
    }

    fn all(&mut self, tokens: TokenStream) -> Result<(), Wrong> {
        let mut tokens = tokens.into_iter().peekable();
        while let Some(token) = tokens.next() {
            match token {
                // A comment `/// text` is `#[doc = " text"]` here, all of it at the place of the comment.
                TokenTree::Punct(mark) if mark.as_char() == '#' => {
                    let start = mark.span().start();
                    let same = |t: &TokenTree| t.span().start() == start;
                    let inner = tokens.next_if(|t| same(t) && t.to_string() == "!");
                    match tokens.next_if(|t| same(t) && matches!(t, TokenTree::Group(_))) {
                        Some(TokenTree::Group(comment)) => {
                            let text = doc_of(comment.stream());
                            let lines = text.lines().map(|l| format!("///{l}"));
                            match inner.is_some() {
                                true => {}
                                false => self.comment(mark.span(), lines.collect())?,
                            }
                        }
                        _ => self.word("#", mark.span())?,
                    }
                }
                TokenTree::Punct(mark) => {
                    self.word(&mark.as_char().to_string(), mark.span())?;
                    self.joint = mark.spacing() == Spacing::Joint;
                }
                TokenTree::Ident(name) => self.word(&name.to_string(), name.span())?,
                TokenTree::Literal(value) => self.word(&value.to_string(), value.span())?,
                TokenTree::Group(group) => {
                    let (open, close) = match group.delimiter() {
                        Delimiter::Parenthesis => ("(", ")"),
                        Delimiter::Brace => ("{", "}"),
                        Delimiter::Bracket => ("[", "]"),
                        Delimiter::None => ("", ""),
                    };
                    if !open.is_empty() {
                        self.word(open, group.span_open())?;
                    }
                    self.all(group.stream())?;
                    if !close.is_empty() {
                        self.word(close, group.span_close())?;
                    }
                }
            }
        }
        Ok(())
    }

    /// A comment that may have several lines; what follows stands on a line of its own in any case.
    fn comment(&mut self, span: Span, lines: Vec<String>) -> Result<(), Wrong> {
        let column = span.start().column;
        for (k, line) in lines.iter().enumerate() {
            if k > 0 {
                self.text.push('\n');
                self.text.push_str(&" ".repeat(column));
                self.line += 1;
                self.column = column;
            }
            match k {
                0 => self.word(line, span)?,
                _ => self.text.push_str(line),
            }
        }
        Ok(())
    }

    fn word(&mut self, word: &str, span: Span) -> Result<(), Wrong> {
        let at = span.start();
        let joint = std::mem::take(&mut self.joint);
        if at.line > self.line {
            self.text.push_str(&"\n".repeat(at.line - self.line));
            self.text.push_str(&" ".repeat(at.column));
            (self.line, self.column) = (at.line, at.column);
        } else if at.line == self.line && at.column >= self.column {
            self.text.push_str(&" ".repeat(at.column - self.column));
            self.column = at.column;
        } else if !joint {
            let message = "a program is written in one place: give it to `program!` as it is, and not through \
                           another macro, or write it in a file, `program!(\"name.jut\")`";
            return Err((span, message.to_string()));
        }
        let start = self.text.len();
        self.text.push_str(word);
        self.column += word.chars().count();
        self.tokens.push((start..self.text.len(), span));
        Ok(())
    }
}

/// The text of `doc = "text"`.
fn doc_of(tokens: TokenStream) -> String {
    let doc: Option<syn::LitStr> =
        tokens.into_iter().last().and_then(|literal| syn::parse2(TokenStream::from(literal)).ok());
    doc.map_or_else(String::new, |text| text.value())
}
