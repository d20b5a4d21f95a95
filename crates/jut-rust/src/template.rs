//! The text that a function becomes, with holes for what only rustc knows, and the places in the Rust
//! file that its parts come from.
//!
//! While text is put together it carries marks: `START number MIDDLE .. END` round what comes from a
//! place. [`finish`] takes them out and gives their ranges.
//!
//! A hole is a tag between two `$`, a character that no text has: `$f$` the name of the function
//! itself, `$c0$` the function that hole 0 calls, `$k0$` the constant of hole 0,
//! `$if usize 0 e 1$ .. $end$` what is only there if component 1 of an element (`e`) of hole 0 has this
//! type, `$if vec 0$ .. $end$` what is only there if hole 0 has sizes of its own. What else depends on what rustc knows, such as the number of
//! a field, has a tag of several words; the table is in `jut::rust`, at `written`.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote};
use syn::{Expr, Lit};

const START: char = '\u{1}';
const MIDDLE: char = '\u{2}';
const END: char = '\u{3}';

/// What a failing check of the text means in Rust.
#[derive(Clone, PartialEq, Debug)]
pub enum What {
    /// What the text says.
    Same,
    /// An integer operation whose result is none of its type, with the name of the operation.
    Overflow(&'static str),
    /// An assertion or a panic, with its message.
    Panic(String),
    /// A list that gets another length where it keeps its own here.
    Length,
}

/// A part of the text, and where it comes from.
#[derive(Clone, Debug)]
pub struct Place {
    /// First byte in the template.
    pub start: usize,
    /// Behind the last byte.
    pub end: usize,
    /// The place in the Rust file.
    pub span: Span,
    /// What it means if a check there fails.
    pub what: What,
}

/// What fills a hole.
#[derive(Clone, Debug)]
pub enum Hole {
    /// A function: its path.
    Function(TokenStream),
    /// A function that is called with arguments of some types: its path, and these as an expression.
    Call(TokenStream, TokenStream),
    /// A method of a type parameter, which its bounds have: the parameter, and the name.
    Bound(Ident, Ident),
    /// The same of a function without arguments, `M::empty()`: the parameter, the name, and whether that parameter is taken for what it gives.
    Maker(Ident, Ident, bool),
    /// A method or function of a type: the type, as an expression that stands for it, and the name's number.
    Method(TokenStream, u64),
    /// A constant: an expression.
    Constant(TokenStream),
    /// A struct: its path.
    Data(TokenStream),
    /// A length that is a parameter of the function, `const N: usize`: its name.
    Length(Ident),
    /// `Point::default()`: the path of the type.
    Default(TokenStream),
    /// An operator: the number of its method's name, and the types of its operands, as expressions that stand for them.
    Operator(u64, TokenStream, TokenStream),
    /// A call of which an error is failure: of a function, or a method.
    Sure(Box<Hole>),
    /// What such a call gives, also of one that gives an `Option`.
    Unwrapped(Box<Hole>),
    /// A call of the text for rows of different lengths.
    Uneven(Box<Hole>),
    /// A call of that text, if it is one of a function that gives rows and takes none.
    Making(Box<Hole>),
    /// The same where no type says so: of a program that is put together for rows of different lengths.
    Perhaps(Box<Hole>),
    /// A call of that text, if what another hole gives is rows of different lengths.
    Following(Box<Hole>, Box<Hole>),
    /// What a call gives, as an element of a list of which no type is written.
    Untold(Box<Hole>),
}

/// Text with a mark of the place that it comes from.
pub fn mark(number: usize, text: &str) -> String {
    format!("{START}{number}{MIDDLE}{text}{END}")
}

/// The text without marks.
pub fn bare(text: &str) -> String {
    finish(text, &[]).0
}

/// Takes the marks out: the text, and the places.
pub fn finish(text: &str, marks: &[(Span, What)]) -> (String, Vec<Place>) {
    let (mut out, mut places, mut open) = (String::new(), Vec::new(), Vec::new());
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        match c {
            START => {
                let number: String = rest.by_ref().take_while(|c| *c != MIDDLE).collect();
                open.push((number.parse::<usize>().ok(), out.len()));
            }
            END => {
                let Some((number, start)) = open.pop() else { continue };
                if let Some((span, what)) = number.and_then(|k| marks.get(k)) {
                    places.push(Place { start, end: out.len(), span: *span, what: what.clone() });
                }
            }
            _ => out.push(c),
        }
    }
    (out, places)
}

/// The text of the length in `[T; N]`.
pub(crate) fn length_of(length: &Expr, holes: &mut Vec<Hole>) -> String {
    if let Expr::Lit(literal) = length
        && let Lit::Int(n) = &literal.lit
    {
        return n.base10_digits().to_string();
    }
    let own = |hole: &Hole| match (hole, length) {
        (Hole::Length(name), Expr::Path(path)) => path.path.is_ident(name),
        _ => false,
    };
    if let Some(k) = holes.iter().position(own) {
        return format!("$k{k}$");
    }
    let tokens = length.to_token_stream();
    format!("$k{}$", hole_of(Hole::Constant(quote!(#tokens as usize)), holes))
}

/// The number of a hole, which is added unless it is there.
pub(crate) fn hole_of(hole: Hole, holes: &mut Vec<Hole>) -> usize {
    let wanted = written(&hole);
    holes.iter().position(|h| written(h) == wanted).unwrap_or_else(|| {
        holes.push(hole);
        holes.len() - 1
    })
}

/// A hole as a text that no other one has.
fn written(hole: &Hole) -> String {
    match hole {
        Hole::Function(t) => format!("function {t}"),
        Hole::Call(t, of) => format!("call {t} {of}"),
        Hole::Bound(t, name) | Hole::Maker(t, name, _) => format!("bound {t} {name}"),
        Hole::Constant(t) => format!("constant {t}"),
        Hole::Method(t, key) => format!("method {key} {t}"),
        Hole::Data(t) => format!("data {t}"),
        Hole::Length(t) => format!("length {t}"),
        Hole::Default(t) => format!("default {t}"),
        Hole::Operator(key, left, right) => format!("operator {key} {left} {right}"),
        Hole::Sure(inner) => format!("sure {}", written(inner)),
        Hole::Unwrapped(inner) => format!("unwrapped {}", written(inner)),
        Hole::Uneven(inner) => format!("uneven {}", written(inner)),
        Hole::Making(inner) => format!("making {}", written(inner)),
        Hole::Perhaps(inner) => format!("perhaps {}", written(inner)),
        Hole::Untold(inner) => format!("untold {}", written(inner)),
        Hole::Following(inner, of) => format!("following {} {}", written(inner), written(of)),
    }
}

/// The text of an element that may be a row, and the words of the tag behind it: see `Lowering::row`.
pub(crate) fn split_row(text: &str) -> Option<(String, String)> {
    let (element, tag) = text.strip_suffix('$')?.rsplit_once("$row")?;
    (!tag.contains('$')).then(|| (element.to_string(), tag.to_string()))
}

/// An element of a place, which may be one of an array: then that has one index more.
pub(crate) fn indexed(place: &str, at: &str) -> String {
    let row = split_row(place);
    let whole = row.as_ref().map_or(place, |(element, _)| element);
    match (whole.strip_suffix(']'), &row) {
        (Some(open), Some((_, row))) => format!("{open}$next{row}${at}]"),
        (Some(open), None) => format!("{open}, {at}]"),
        (None, _) => format!("{place}[{at}]"),
    }
}
