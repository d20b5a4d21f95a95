//! Diagnostics as data: a code, a span in the user's text, a reason and a fix.
//! Rendering is left to the command line.

use crate::cover::FITS;
use crate::span::Span;

/// How bad it is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Severity {
    /// The program is refused.
    Error,
    /// The program is accepted; the user may want to look.
    Warning,
}

/// A change of the text: what stands in the span is replaced; an empty span is a place to insert.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Edit {
    /// What is replaced.
    pub span: Span,
    /// What stands there then.
    pub text: String,
}

/// One message of the parser, the elaborator or the checker.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Diagnostic {
    /// A code of the language reference, such as `J301`.
    pub code: &'static str,
    /// Error or warning.
    pub severity: Severity,
    /// The text that the message is about.
    pub span: Span,
    /// What is wrong and why.
    pub message: String,
    /// What to do about it.
    pub help: String,
    /// The same as changes of the text, where a program could make them: the message is gone then.
    pub edits: Box<[Edit]>,
    /// Further places that belong to the message, each with a few words.
    pub labels: Vec<(Span, String)>,
}

/// A message with its nouns as the numbers before them need it: `2 argument(s), and 1 are given` is `2 arguments, and 1 is given`.
/// What stands between backticks is a program's text.
fn in_number(text: String) -> String {
    if !["(s)", " are given"].iter().any(|ending| text.contains(ending)) {
        return text;
    }
    let mut out = String::with_capacity(text.len());
    for (k, part) in text.split('`').enumerate() {
        if k > 0 {
            out.push('`');
        }
        if k % 2 == 1 {
            out.push_str(part);
            continue;
        }
        // Whether the last number was one, and whether the last word was a number.
        let (mut one, mut counted) = (false, false);
        for word in part.split_inclusive(' ') {
            let number = word.trim_end().parse::<u64>();
            one = number.as_ref().map_or(one, |n| *n == 1);
            match word.split_once("(s)") {
                Some((stem, rest)) => out.extend([stem, if one { "" } else { "s" }, rest]),
                None if word.trim_end() == "are" && one && counted => out.push_str("is "),
                None => out.push_str(word),
            }
            counted = number.is_ok();
        }
    }
    out
}

impl Diagnostic {
    /// An error, with what is to be done about its code in general.
    pub fn error(code: &'static str, span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic {
            code,
            severity: Severity::Error,
            span,
            message: in_number(message.into()),
            help: crate::codes::advice(code).to_string(),
            edits: Box::default(),
            labels: Vec::new(),
        }
    }

    /// A warning.
    pub fn warning(code: &'static str, span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic { severity: Severity::Warning, ..Diagnostic::error(code, span, message) }
    }

    /// Says what to do about it.
    pub fn help(mut self, help: impl Into<String>) -> Diagnostic {
        self.help = in_number(help.into());
        self
    }

    /// Whether it says what to do with this program, and not with its code in general.
    pub fn has_own_help(&self) -> bool {
        self.help != crate::codes::advice(self.code)
    }

    /// Adds a change of the text that mends it.
    pub fn replace(mut self, span: Span, text: impl Into<String>) -> Diagnostic {
        let mut edits = std::mem::take(&mut self.edits).into_vec();
        edits.push(Edit { span, text: text.into() });
        self.edits = edits.into();
        self
    }

    /// The same as a text before and one behind the span.
    pub fn wrap(self, before: &str, span: Span, behind: &str) -> Diagnostic {
        let start = Span { end: span.start, ..span };
        let end = Span { start: span.end, ..span };
        self.replace(start, before).replace(end, behind)
    }

    /// Says what name may have been meant.
    pub fn did_you_mean(self, near: impl AsRef<str>) -> Diagnostic {
        let (near, span) = (near.as_ref(), self.span);
        self.help(format!("did you mean `{near}`?")).replace(span, near)
    }

    /// Adds another place with a few words.
    pub fn label(mut self, span: Span, text: impl Into<String>) -> Diagnostic {
        self.labels.push((span, text.into()));
        self
    }
}

impl std::fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {} ({})", self.code, self.message, self.help)
    }
}

impl std::error::Error for Diagnostic {}

/// An error value of a running program (codes `R01` to `R10`): nothing is lost, nothing aborts.
#[derive(Clone, PartialEq, Debug)]
pub struct RuntimeError {
    /// Which kind.
    pub kind: RuntimeErrorKind,
    /// The user's text that failed.
    pub span: Span,
    /// The numbers involved: index and length; start, length and size; size; the two sizes; none.
    pub operands: Vec<i64>,
}

/// The kinds of run-time errors, in the order of their codes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
pub enum RuntimeErrorKind {
    /// `R01`: index out of range.
    Index = 1,
    /// `R02`: slice out of range.
    Slice = 2,
    /// `R03`: negative size.
    NegativeSize = 3,
    /// `R04`: a `cast` or `=` pattern does not hold.
    SizeMismatch = 4,
    /// `R05`: integer division or remainder by zero.
    DivisionByZero = 5,
    /// `R06`: the memory limit was reached, or a size is no 64-bit integer.
    Memory = 6,
    /// `R07`: the call was cancelled from outside.
    Cancelled = 7,
    /// `R08`: functions call themselves more than [`crate::calls::LEVELS`] levels deep.
    Recursion = 8,
    /// `R09`: a function of another language failed.
    Foreign = 9,
    /// `R10`: a number is not finite where that was asked to be an error. The interpreter finds it; compiled code leaves none.
    NotFinite = 10,
}

impl RuntimeErrorKind {
    /// All kinds that code of a program may leave, in the order of their codes.
    pub const ALL: [RuntimeErrorKind; 9] = [
        RuntimeErrorKind::Index,
        RuntimeErrorKind::Slice,
        RuntimeErrorKind::NegativeSize,
        RuntimeErrorKind::SizeMismatch,
        RuntimeErrorKind::DivisionByZero,
        RuntimeErrorKind::Memory,
        RuntimeErrorKind::Cancelled,
        RuntimeErrorKind::Recursion,
        RuntimeErrorKind::Foreign,
    ];

    /// The code, such as `R01`.
    pub fn code(self) -> &'static str {
        ["R01", "R02", "R03", "R04", "R05", "R06", "R07", "R08", "R09", "R10"][self as usize - 1]
    }

    /// The kind with the given number (1 to 9).
    pub fn from_number(number: u8) -> Option<RuntimeErrorKind> {
        Self::ALL.into_iter().find(|kind| *kind as u8 == number)
    }

    /// What to do about it in general.
    pub fn advice(self) -> &'static str {
        match self {
            RuntimeErrorKind::Index => "use indices from 0 to below the length",
            RuntimeErrorKind::Slice => "take a slice that lies inside the array",
            RuntimeErrorKind::NegativeSize => "use a size of 0 or more: `max(n, 0)`",
            RuntimeErrorKind::SizeMismatch => "give arrays whose sizes are equal",
            RuntimeErrorKind::DivisionByZero => {
                "divide by what is not 0: `if b != 0 { a / b } else { .. }`"
            }
            RuntimeErrorKind::Memory => "raise the limit, or use smaller arrays",
            RuntimeErrorKind::Cancelled => "call again once the cancellation is reset",
            RuntimeErrorKind::Recursion => "end the recursion earlier, or write a loop",
            RuntimeErrorKind::Foreign => "the function that was given for this `extern` says why",
            RuntimeErrorKind::NotFinite => {
                "give other arguments, or test the operand before: `if x > 0.0 { log(x) } else { .. }`"
            }
        }
    }

    /// How many operands an error of the kind has.
    pub fn operand_count(self) -> usize {
        match self {
            RuntimeErrorKind::Index | RuntimeErrorKind::SizeMismatch => 2,
            RuntimeErrorKind::Slice => 3,
            RuntimeErrorKind::NegativeSize => 1,
            RuntimeErrorKind::DivisionByZero
            | RuntimeErrorKind::Cancelled
            | RuntimeErrorKind::Recursion
            | RuntimeErrorKind::Foreign
            | RuntimeErrorKind::NotFinite => 0,
            // Where a size is the matter: two numbers and what was made of them.
            RuntimeErrorKind::Memory => 3,
        }
    }

    /// The operands of an error, of the three numbers that compiled code leaves with it.
    ///
    /// Of a `R06` at a size they are the two numbers, and 0, 1 or 2 for their sum, difference or product;
    /// compiled code leaves that as [`WRAPPED`] and so much more, then the numbers. At the memory limit
    /// there are none.
    pub fn operands(self, left: [i64; 3]) -> Vec<i64> {
        match (self, left) {
            (RuntimeErrorKind::Memory, [mark, a, b]) => match mark.wrapping_sub(WRAPPED) {
                operation @ 0..=2 => vec![a, b, operation],
                _ => Vec::new(),
            },
            (kind, left) => left.into_iter().take(kind.operand_count()).collect(),
        }
    }
}

/// What compiled code leaves first where the arithmetic of a size wraps: no number of cells.
pub const WRAPPED: i64 = i64::MIN + 1;

impl RuntimeError {
    /// What to do about it, with the numbers involved.
    pub fn help(&self) -> String {
        match (self.kind, self.operands.as_slice()) {
            (RuntimeErrorKind::Index, [_, 0]) => "an array without elements has no index: \
                test its size first, `if size(x) > 0 { .. } else { .. }`"
                .to_string(),
            (RuntimeErrorKind::Index, [_, n]) => {
                format!("indices of an array of {n} elements are 0 to {}", n.saturating_sub(1))
            }
            (RuntimeErrorKind::Slice, [_, count, _]) if *count < 0 => {
                "a slice has 0 elements or more: `max(m, 0)`".to_string()
            }
            (RuntimeErrorKind::Slice, [start, count, n]) => {
                match (*start >= 0, n.checked_sub(*count)) {
                    (true, Some(last)) if last >= 0 => {
                        format!("{count} elements of {n} may begin at 0 to {last}")
                    }
                    (true, _) => format!("the array has only {n} elements: take at most as many"),
                    (false, _) => "the first element has the index 0".to_string(),
                }
            }
            (RuntimeErrorKind::NegativeSize, [n]) => {
                format!("where {n} means no elements, write `max(n, 0)`")
            }
            (RuntimeErrorKind::Memory, [_, FITS, 2]) => {
                format!("an array has at most {} elements", i64::MAX / FITS)
            }
            (RuntimeErrorKind::Memory, [_, _, _]) => {
                format!("use smaller sizes: the largest is {}", i64::MAX)
            }
            (RuntimeErrorKind::SizeMismatch, [found, wanted]) => {
                format!("give arrays whose sizes are equal: {wanted} here, or {found} in both")
            }
            (kind, _) => kind.advice().to_string(),
        }
    }
}

impl std::fmt::Display for RuntimeError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let at = |k: usize| self.operands.get(k).copied().unwrap_or_default();
        write!(f, "{}: ", self.kind.code())?;
        match self.kind {
            RuntimeErrorKind::Index => {
                write!(f, "index {} is out of range for length {}", at(0), at(1))
            }
            RuntimeErrorKind::Slice => write!(
                f,
                "slice of {} elements from {} is out of range for length {}",
                at(1),
                at(0),
                at(2)
            ),
            RuntimeErrorKind::NegativeSize => write!(f, "an array cannot have size {}", at(0)),
            RuntimeErrorKind::SizeMismatch => {
                write!(f, "size {} is not the expected size {}", at(0), at(1))
            }
            RuntimeErrorKind::DivisionByZero => write!(f, "integer division by zero"),
            RuntimeErrorKind::Memory => match self.operands.as_slice() {
                [n, FITS, 2] => write!(f, "size too large: no array has {n} elements"),
                [a, b, operation] => {
                    let (name, sign) = match operation {
                        0 => ("sum", '+'),
                        1 => ("difference", '-'),
                        _ => ("product", '*'),
                    };
                    write!(f, "size too large: the {name} {a} {sign} {b} is no 64-bit integer")
                }
                _ => write!(f, "the memory limit is reached"),
            },
            RuntimeErrorKind::Cancelled => write!(f, "the call was cancelled"),
            RuntimeErrorKind::Recursion => write!(f, "recursion is too deep"),
            RuntimeErrorKind::Foreign => write!(f, "a function of another language failed"),
            RuntimeErrorKind::NotFinite => write!(f, "a number is not finite"),
        }
    }
}

impl std::error::Error for RuntimeError {}
