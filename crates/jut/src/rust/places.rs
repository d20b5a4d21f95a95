//! Where the parts of a function's text come from, as the attribute writes it: one text, which costs rustc nothing, for many places.
//!
//! Of each place there are four numbers, each with a blank behind it: the first byte of the part, how long it is, the line and the column; then what a failing check means,
//! `s` what the text says, `l` a length, `o` an overflow and `p` a panic, these with the length of a text, a blank and that text.
//!
//! ```text
//! 120 9 14 5 s131 6 15 9 o3 sub
//! ```

use super::{RustPlace, What};

/// The number before the next blank, and what is behind it.
fn number(text: &'static str) -> Option<(usize, &'static str)> {
    let (number, rest) = text.split_once(' ')?;
    Some((number.parse().ok()?, rest))
}

/// The first place of a text: the first byte of its part and that behind it, the place, and the rest of the text.
pub(super) fn next(
    text: &'static str,
    file: &'static str,
) -> Option<(usize, usize, RustPlace, &'static str)> {
    let (start, rest) = number(text)?;
    let (length, rest) = number(rest)?;
    let (line, rest) = number(rest)?;
    let (column, rest) = number(rest)?;
    let (kind, rest) = rest.split_at_checked(1)?;
    let (what, rest) = match kind {
        "l" => (What::Length, rest),
        "o" | "p" => {
            let (length, rest) = number(rest)?;
            let (said, rest) = rest.split_at_checked(length)?;
            (if kind == "o" { What::Overflow(said) } else { What::Panic(said) }, rest)
        }
        _ => (What::Same, rest),
    };
    let place = RustPlace { file, line: line as u32, column: column as u32, what };
    Some((start, start + length, place, rest))
}

/// The place of the smallest part that a byte of the text is in.
pub(super) fn smallest(places: &'static str, file: &'static str, at: usize) -> Option<RustPlace> {
    let (mut rest, mut smallest) = (places, None);
    while let Some((start, end, place, more)) = next(rest, file) {
        let within = start <= at && at < end;
        if within && smallest.is_none_or(|(length, _)| end - start < length) {
            smallest = Some((end - start, place));
        }
        rest = more;
    }
    smallest.map(|(_, place)| place)
}
