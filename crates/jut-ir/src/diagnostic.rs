//! Diagnostics as data: a code, a span in the user's text, a reason and a fix.
//! Rendering is left to the command line.

use crate::span::Span;

/// How bad it is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Severity {
    /// The program is refused.
    Error,
    /// The program is accepted; the user may want to look.
    Warning,
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
    /// What to do about it, when there is something to say.
    pub help: Option<String>,
    /// Further places that belong to the message, each with a few words.
    pub labels: Vec<(Span, String)>,
}

impl Diagnostic {
    /// An error.
    pub fn error(code: &'static str, span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic {
            code,
            severity: Severity::Error,
            span,
            message: message.into(),
            help: None,
            labels: Vec::new(),
        }
    }

    /// A warning.
    pub fn warning(code: &'static str, span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic { severity: Severity::Warning, ..Diagnostic::error(code, span, message) }
    }

    /// Adds what to do about it.
    pub fn help(mut self, help: impl Into<String>) -> Diagnostic {
        self.help = Some(help.into());
        self
    }

    /// Adds another place with a few words.
    pub fn label(mut self, span: Span, text: impl Into<String>) -> Diagnostic {
        self.labels.push((span, text.into()));
        self
    }
}

impl std::fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.code, self.message)?;
        if let Some(help) = &self.help {
            write!(f, " ({help})")?;
        }
        Ok(())
    }
}

impl std::error::Error for Diagnostic {}

/// An error value of a running program (codes `R01` to `R06`): nothing is lost, nothing aborts.
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
    /// `R06`: the memory limit was reached.
    Memory = 6,
}

impl RuntimeErrorKind {
    /// All kinds, in the order of their codes.
    pub const ALL: [RuntimeErrorKind; 6] = [
        RuntimeErrorKind::Index,
        RuntimeErrorKind::Slice,
        RuntimeErrorKind::NegativeSize,
        RuntimeErrorKind::SizeMismatch,
        RuntimeErrorKind::DivisionByZero,
        RuntimeErrorKind::Memory,
    ];

    /// The code, such as `R01`.
    pub fn code(self) -> &'static str {
        ["R01", "R02", "R03", "R04", "R05", "R06"][self as usize - 1]
    }

    /// The kind with the given number (1 to 6).
    pub fn from_number(number: u8) -> Option<RuntimeErrorKind> {
        Self::ALL.into_iter().find(|kind| *kind as u8 == number)
    }

    /// How many operands an error of the kind has.
    pub fn operand_count(self) -> usize {
        match self {
            RuntimeErrorKind::Index | RuntimeErrorKind::SizeMismatch => 2,
            RuntimeErrorKind::Slice => 3,
            RuntimeErrorKind::NegativeSize => 1,
            RuntimeErrorKind::DivisionByZero | RuntimeErrorKind::Memory => 0,
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
            RuntimeErrorKind::Memory => write!(f, "the memory limit is reached"),
        }
    }
}

impl std::error::Error for RuntimeError {}
