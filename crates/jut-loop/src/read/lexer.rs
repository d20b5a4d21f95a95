//! Tokens of the loop form.

use jut_ir::{Diagnostic, Literal, Span};

/// A token and its place.
#[derive(Clone, Debug)]
pub(super) struct Token {
    pub word: Word,
    pub span: Span,
}

/// What a token is.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Word {
    Name(String),
    /// The name of a function, after `def` or `call`: everything up to the parenthesis.
    Path(String),
    Literal(Literal),
    Sign(&'static str),
    Newline,
    End,
}

/// Longer signs come first.
const SIGNS: &[&str] = &[
    "..+", "->", "..", "==", "!=", "<=", ">=", "&&", "||", "(", ")", "[", "]", "{", "}", ",", ";",
    ":", "=", "<", ">", "+", "-", "*", "/", "%", "!", "@",
];

/// Cuts a text into tokens.
pub(super) fn tokens(file: u32, text: &str) -> Result<Vec<Token>, Diagnostic> {
    let mut tokens: Vec<Token> = Vec::new();
    let (mut at, mut brackets) = (0, 0usize);
    while let Some(c) = text[at..].chars().next() {
        let rest = &text[at..];
        match c {
            '(' | '[' => brackets += 1,
            ')' | ']' => brackets = brackets.saturating_sub(1),
            _ => {}
        }
        let (word, len) = if c == '\n' && brackets == 0 {
            (Some(Word::Newline), 1)
        } else if c.is_whitespace() {
            (None, c.len_utf8())
        } else if rest.starts_with("//") {
            (None, rest.find('\n').unwrap_or(rest.len()))
        } else if c.is_ascii_digit() {
            let (literal, len) = number(rest);
            match literal {
                Some(l) => (Some(Word::Literal(l)), len),
                None => return Err(refused(file, at, len, &rest[..len])),
            }
        } else if c.is_ascii_alphabetic() || c == '_' {
            let after = tokens.last().map(|t| &t.word);
            if matches!(after, Some(Word::Name(n)) if n == "def" || n == "call") {
                let len = rest.find('(').unwrap_or(rest.len());
                (Some(Word::Path(rest[..len].trim_end().to_string())), len)
            } else {
                let end = |c: char| !(c.is_ascii_alphanumeric() || c == '_');
                let len = rest.find(end).unwrap_or(rest.len());
                let constant = [("true", 1), ("false", 0)].iter().find(|(n, _)| *n == &rest[..len]);
                match (constant, &rest[..len]) {
                    (Some((_, b)), _) => (Some(Word::Literal(Literal::Bool(*b == 1))), len),
                    (None, name) => (Some(Word::Name(name.to_string())), len),
                }
            }
        } else if let Some(sign) = SIGNS.iter().find(|s| rest.starts_with(**s)) {
            (Some(Word::Sign(sign)), sign.len())
        } else {
            return Err(refused(file, at, c.len_utf8(), &rest[..c.len_utf8()]));
        };
        let span = Span::new(file, at, at + len);
        tokens.extend(word.map(|word| Token { word, span }));
        at += len;
    }
    tokens.push(Token { word: Word::End, span: Span::new(file, text.len(), text.len()) });
    Ok(tokens)
}

fn refused(file: u32, at: usize, len: usize, text: &str) -> Diagnostic {
    Diagnostic::error(
        "J001",
        Span::new(file, at, at + len),
        format!("`{text}` is not allowed here"),
    )
}

/// The number at the beginning of a text, and its length. `1..` is the number 1.
fn number(text: &str) -> (Option<Literal>, usize) {
    let digits = |from: usize| {
        let rest = text.get(from..).unwrap_or_default();
        from + rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len())
    };
    let mut end = digits(0);
    let mut float = false;
    if text[end..].starts_with('.') && !text[end..].starts_with("..") {
        float = true;
        end = digits(end + 1);
    }
    if text[end..].starts_with('e') {
        let sign = text[end + 1..].starts_with(['-', '+']) as usize;
        let stop = digits(end + 1 + sign);
        if stop > end + 1 + sign {
            (float, end) = (true, stop);
        }
    }
    let word = &text[..end];
    if text[end..].starts_with("f32") {
        return (word.parse().ok().map(Literal::F32), end + 3);
    }
    if text[end..].starts_with("i32") {
        // The magnitude of the smallest i32 is one more than that of the largest.
        let literal = word.parse::<u32>().ok().filter(|k| *k <= 1 << 31);
        return (literal.map(|k| Literal::I32(k as i32)), end + 3);
    }
    let literal = if float {
        word.parse().ok().map(Literal::F64)
    } else {
        // The magnitude of the smallest i64 is one more than that of the largest.
        word.parse::<u64>().ok().filter(|k| *k <= 1 << 63).map(|k| Literal::I64(k as i64))
    };
    (literal, end)
}
