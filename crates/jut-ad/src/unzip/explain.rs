//! What is on a tape and why, and what is not: the report behind `jut explain tape`.
//!
//! The report is read off the two halves, after U: the last result of `f.nonlin` is the tape, and
//! following it back through stacks, records, arms and sums gives every stored value, with the
//! loops and arms round it; following the tape forward in `f.lin` gives the first linear statement
//! that needs the value. So the report cannot disagree with the code.
//!
//! For `sum (i < n) { sin(x[i]) }`, J's slope is the cosine, and the report is
//!
//! ```text
//! tape of f: 8 n + 8 bytes
//!   n    i64  8    in f.tape  the size of a stored value
//!   c    f64  8 n  in f.tape  for t': `cos` is expensive
//! not stored:
//!   n  an input
//! ```
//!
//! # Bytes
//!
//! Eight per number, one per truth value, as the interpreter counts them. A value that is stored
//! in each iteration of a loop counts as often as the loop runs: a polynomial in the sizes where
//! the bound is one, a sum over the iterations where it depends on the iteration. What is stored
//! in an arm counts if the arm is taken. Where a size is computed by the function, the formula says
//! how, as far as it is computed by primitives.
//!
//! *Requires*: what U made of a function. *Ensures*: where every size follows from arguments and
//! indices and no arm is in the way, the formula is the number of bytes that a run measures.
//! *Cost*: linear in the text of the function and of those that it calls.

mod bytes;
mod walk;

pub use bytes::{Bytes, Sizes};

use crate::{Derivatives, Unzipped, callees_first};
use jut_ir::{FuncId, Span};
use std::collections::HashMap;
use std::fmt;

/// Everything about the tape of one function.
#[derive(Clone, Debug)]
pub struct TapeReport {
    /// The function, as U's results are named after it.
    pub function: String,
    /// What is stored, in the order of the records.
    pub stored: Vec<Stored>,
    /// What the linear half reads and does not get from the tape.
    pub avoided: Vec<Avoided>,
    /// All bytes together, one entry per kind of term.
    pub total: Vec<Bytes>,
    /// The names in the formulas.
    pub sizes: Sizes,
}

/// A stored value.
#[derive(Clone, Debug)]
pub struct Stored {
    /// Its name in `f.nonlin`.
    pub name: String,
    /// Its type, where it is computed.
    pub ty: String,
    /// How much it adds to the tape.
    pub bytes: Bytes,
    /// The tape type that holds it, or the stacks of it.
    pub record: String,
    /// What needs it first.
    pub needed_by: Option<Need>,
    /// Why it is not computed again.
    pub reason: Reason,
    /// Where it is computed in the user's text.
    pub span: Span,
}

/// A linear statement.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Need {
    /// The tangent that it binds; empty if it binds none.
    pub tangent: String,
    /// Its place in the user's text.
    pub span: Span,
}

/// Why a value is stored and not computed again.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Reason {
    /// The type of another stored value mentions it.
    Size,
    /// Only the iteration before has it.
    Carry,
    /// It came out of a value that an arm or a pattern took apart.
    Field,
    /// It is a parameter, which the policy stores.
    Input,
    /// A primitive that costs more than a store.
    Expensive(&'static str),
    /// A loop made it.
    Loop,
    /// It is a sum over a loop.
    Sum,
    /// A branch made it.
    Branch,
    /// A function made it.
    Call(String),
    /// The tape of a function that is called.
    Tape(String),
    /// An array, tuple or record is built from parts.
    Built,
    /// It is cheap, but what it is computed from would have to be stored instead, and is not
    /// cheaper; or the policy stores everything.
    NoGain,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::Size => f.write_str("the size of a stored value"),
            Reason::Carry => f.write_str("carried from iteration to iteration"),
            Reason::Field => f.write_str("taken out of a value that is not kept"),
            Reason::Input => f.write_str("an input, stored like everything else"),
            Reason::Expensive(prim) => write!(f, "`{prim}` is expensive"),
            Reason::Loop => f.write_str("made by a loop"),
            Reason::Sum => f.write_str("a sum over a loop"),
            Reason::Branch => f.write_str("made by a branch"),
            Reason::Call(callee) => write!(f, "made by {callee}"),
            Reason::Tape(callee) => write!(f, "what {callee} stores"),
            Reason::Built => f.write_str("built from parts"),
            Reason::NoGain => f.write_str("to store what it is computed from would not be cheaper"),
        }
    }
}

/// A value that the linear half has without the tape.
#[derive(Clone, Debug)]
pub struct Avoided {
    /// Its name in `f.lin`.
    pub name: String,
    /// How the linear half has it.
    pub how: Had,
    /// Where it is computed in the user's text.
    pub span: Span,
}

/// How the linear half has a value that is not stored.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Had {
    /// A parameter of the function, passed again.
    Input,
    /// A result of the function, passed back.
    Result,
    /// An element of an array that it has, taken again.
    Sliced(String),
    /// Computed again by a cheap operation.
    Again(String),
}

impl fmt::Display for Had {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Had::Input => f.write_str("an input"),
            Had::Result => f.write_str("a result of the function"),
            Had::Sliced(array) => write!(f, "an element of {array}, taken again"),
            Had::Again(how) => write!(f, "computed again by {how}"),
        }
    }
}

impl TapeReport {
    /// The bytes of the tape for given i64 arguments, by position; `None` if they depend on more
    /// than sizes.
    pub fn bytes(&self, argument: &dyn Fn(usize) -> Option<i64>) -> Option<i64> {
        let mut sum = 0i64;
        for term in &self.total {
            sum = sum.checked_add(self.sizes.eval(term, argument)?)?;
        }
        Some(sum)
    }

    /// The report as text; `place` says where a span is, for example `line 3`.
    pub fn text(&self, place: &dyn Fn(Span) -> Option<String>) -> String {
        let total: Vec<String> = self.total.iter().map(|b| self.sizes.text(b)).collect();
        let total = if total.is_empty() { "0".to_string() } else { total.join(" + ") };
        let mut text = format!("tape of {}: {total} bytes\n", self.function);
        let at = |span: Span| place(span).map(|p| format!(" ({p})")).unwrap_or_default();
        let mut rows = Vec::new();
        for value in &self.stored {
            let need = value.needed_by.as_ref().map_or(String::new(), |need| {
                let by = if need.tangent.is_empty() { "an increment" } else { &need.tangent };
                format!("for {by}{}: ", at(need.span))
            });
            rows.push([
                value.name.clone(),
                value.ty.clone(),
                self.sizes.text(&value.bytes),
                format!("in {}", value.record),
                format!("{need}{}{}", value.reason, at(value.span)),
            ]);
        }
        align(&rows, &mut text);
        if !self.avoided.is_empty() {
            text.push_str("not stored:\n");
            let rows: Vec<[String; 2]> = (self.avoided.iter())
                .map(|value| [value.name.clone(), format!("{}{}", value.how, at(value.span))])
                .collect();
            align(&rows, &mut text);
        }
        text
    }
}

impl fmt::Display for TapeReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text(&|_| None))
    }
}

/// Rows in columns, all but the last padded.
fn align<const N: usize>(rows: &[[String; N]], text: &mut String) {
    let width = |k: usize| rows.iter().map(|row| row[k].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..N).map(width).collect();
    for row in rows {
        text.push(' ');
        for (k, cell) in row.iter().enumerate() {
            let padding = if k + 1 == N { 0 } else { widths[k] - cell.chars().count() };
            text.push(' ');
            text.push_str(cell);
            text.extend(std::iter::repeat_n(' ', padding + usize::from(k + 1 < N)));
        }
        text.push('\n');
    }
}

/// Explains the tape of what U made of a function.
pub fn explain(derivatives: &Derivatives, unzipped: &Unzipped) -> TapeReport {
    let program = &derivatives.program;
    let made: HashMap<FuncId, &Unzipped> =
        derivatives.unzipped.values().map(|u| (u.nonlin, u)).collect();
    let skip = |f: FuncId| !made.contains_key(&f);
    let mut callees: HashMap<FuncId, (Vec<Bytes>, Sizes)> = HashMap::new();
    for func in callees_first(program, unzipped.nonlin, &skip) {
        if func == unzipped.nonlin {
            break;
        }
        if let Some(made) = made.get(&func) {
            let report = walk::report(program, made, &callees);
            callees.insert(func, (report.total, report.sizes));
        }
    }
    walk::report(program, unzipped, &callees)
}
