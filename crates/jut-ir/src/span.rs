//! Where a statement came from: a place in the user's text, and the pass that made it; and what the text says of its tape.

use crate::tape::TapePolicy;

/// A half-open byte range in one source file. `Span::NONE` stands for "no text".
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Span {
    /// Index of the source file in the program's list of sources.
    pub file: u32,
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// No text at all (a generated declaration).
    pub const NONE: Span = Span { file: 0, start: 0, end: 0 };

    /// A span in the given file.
    pub fn new(file: u32, start: usize, end: usize) -> Span {
        Span { file, start: start as u32, end: end as u32 }
    }

    /// The smallest span that covers both (of one file; otherwise `self`).
    pub fn to(self, other: Span) -> Span {
        if other == Span::NONE || self.file != other.file {
            return self;
        }
        if self == Span::NONE {
            return other;
        }
        Span { file: self.file, start: self.start.min(other.start), end: self.end.max(other.end) }
    }
}

/// The pass that made a statement. Statements inherit the span of what they were made from.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Origin {
    /// Written by the user, or elaborated from what the user wrote.
    #[default]
    Source,
    /// Made by J.
    Forward,
    /// Made by U.
    Unzip,
    /// Made by T.
    Transpose,
    /// Made by L.
    Erase,
    /// Made by a composition or an optimisation.
    Derived,
}

/// What every statement carries beside its operation.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Loc {
    /// The user's text.
    pub span: Span,
    /// The pass that made the statement.
    pub origin: Origin,
    /// What is to become of what it makes.
    pub tape: TapePolicy,
}

impl Loc {
    /// A location in the user's own text.
    pub fn source(span: Span) -> Loc {
        Loc::made(span, Origin::Source)
    }

    /// What a pass makes of a text.
    pub fn made(span: Span, origin: Origin) -> Loc {
        Loc { span, origin, tape: TapePolicy::Free }
    }

    /// The same text, made by another pass. What the text says of its tape was about what it was made of.
    pub fn by(self, origin: Origin) -> Loc {
        Loc::made(self.span, origin)
    }
}
