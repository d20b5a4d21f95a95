//! Run-time checks, and what is printed: statements with an effect, whose order stays.

use super::Atom;
use crate::prim::Prim;

/// A piece of a line that is printed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Shown {
    /// `show "text"`: up to 8 bytes of text, zeros behind them.
    Text([u8; 8]),
    /// `show "" a`: a number or a truth value.
    Value(Atom),
    /// `show "," i`: what stands before the element with this number, nothing if it is 0.
    Before(Atom),
    /// `show ""`: the end of the line.
    End,
}

impl Shown {
    /// The pieces of a text.
    pub fn pieces(text: &str) -> Vec<Shown> {
        let (mut pieces, mut bytes, mut len) = (Vec::new(), [0; 8], 0);
        for c in text.chars() {
            // A character is in one piece.
            if len + c.len_utf8() > bytes.len() {
                pieces.push(Shown::Text(bytes));
                (bytes, len) = ([0; 8], 0);
            }
            len += c.encode_utf8(&mut bytes[len..]).len();
        }
        pieces.extend((len > 0).then_some(Shown::Text(bytes)));
        pieces
    }

    /// Its operand.
    pub fn operand(self) -> Option<Atom> {
        match self {
            Shown::Value(a) | Shown::Before(a) => Some(a),
            Shown::Text(_) | Shown::End => None,
        }
    }
}

/// A run-time check. It is a statement with an effect: only a proof removes it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Check {
    /// `check i < n`: 0 <= i < n.
    Below(Atom, Atom),
    /// `check lo ..+ len <= n`: 0 <= lo, 0 <= len, lo + len <= n.
    Within {
        /// First element.
        lo: Atom,
        /// Number of elements.
        len: Atom,
        /// Length of the array.
        size: Atom,
    },
    /// `check n >= 0`.
    NonNegative(Atom),
    /// `check a * b`, `check a + b`, `check a - b`: the operation on i64 values does not wrap. What the
    /// range rule says of a size made by arithmetic rests on it ([`crate::cover`]).
    Exact(Prim, Atom, Atom),
    /// `show "text"`: prints a piece of a line. It always holds, and like a check it stays where it is: behind the checks
    /// and pieces before it, and before those behind it.
    Show(Shown),
}

impl Check {
    /// What the check is about, and what that is compared with.
    pub fn operands(self) -> (Vec<Atom>, Vec<Atom>) {
        match self {
            Check::Below(i, n) => (vec![i], vec![n]),
            Check::Within { lo, len, size } => (vec![lo, len], vec![size]),
            Check::NonNegative(n) => (vec![n], Vec::new()),
            Check::Exact(_, a, b) => (vec![a, b], Vec::new()),
            Check::Show(shown) => (shown.operand().into_iter().collect(), Vec::new()),
        }
    }

    /// The operation of [`Check::Exact`] in the error of one that fails: 0, 1, 2 for `+`, `-`, `*`.
    pub fn number_of(operation: Prim) -> i64 {
        match operation {
            crate::prim::IADD => 0,
            crate::prim::ISUB => 1,
            _ => 2,
        }
    }
}
