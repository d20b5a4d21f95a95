//! How long each step of the compiler takes, and how large the program is after it.
//!
//! [`PASSES`] lists the steps in the order in which they run; `--time-passes` prints a row of it for
//! each that ran. The compiler tells a [`Watch`] when a step has ended; a watch that is off does
//! nothing. A step that recurs, as J does where second derivatives are made, is one row.
//!
//! *Cost*: a walk over the program after each step, not counted as time of any.

use jut_ir::{Block, FuncId, Program, Rhs};
use std::collections::HashSet;
use std::fmt::Write;
use std::time::{Duration, Instant};

/// A step of the compiler.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Pass {
    /// Text to core definitions.
    Elaborate,
    /// The checker.
    Check,
    /// The optimiser, before J.
    Prepare,
    /// J.
    Forward,
    /// U.
    Unzip,
    /// T.
    Transpose,
    /// L, and what joins the parts to what is asked for.
    Compose,
    /// The optimiser, after L.
    Optimise,
    /// Linear A to the loop form.
    Lower,
    /// Machine code, or the interpreter's form.
    Code,
}

/// All steps in the order in which they run: what they are called, and what they do.
pub const PASSES: [(Pass, &str, &str); 10] = [
    (Pass::Elaborate, "elaborate", "text to core definitions"),
    (Pass::Check, "check", "types, sizes, linearity, bounds"),
    (Pass::Prepare, "prepare", "the optimiser, before J"),
    (Pass::Forward, "forward", "J: values and tangents"),
    (Pass::Unzip, "unzip", "U: values and tape apart from tangents"),
    (Pass::Transpose, "transpose", "T: cotangents"),
    (Pass::Compose, "compose", "L, and what joins the parts"),
    (Pass::Optimise, "optimise", "the optimiser, after L"),
    (Pass::Lower, "lower", "loops, buffers and checks"),
    (Pass::Code, "code", "machine code"),
];

/// What one step took and left behind.
#[derive(Clone, Debug)]
pub struct PassTime {
    /// The step.
    pub pass: Pass,
    /// How long it took.
    pub time: Duration,
    /// The program after it: statements of what was made, or bytes of machine code.
    pub size: usize,
}

impl PassTime {
    /// What the step is called.
    pub fn name(&self) -> &'static str {
        PASSES.iter().find(|(pass, ..)| *pass == self.pass).map_or("", |(_, name, _)| name)
    }

    /// What it does.
    pub fn about(&self) -> &'static str {
        PASSES.iter().find(|(pass, ..)| *pass == self.pass).map_or("", |(.., about)| about)
    }

    /// What the size counts.
    pub fn unit(&self) -> &'static str {
        if self.pass == Pass::Code { "bytes" } else { "statements" }
    }

    /// A table for people, a row for each step and one for their sum.
    pub fn table(times: &[PassTime]) -> String {
        let total: Duration = times.iter().map(|t| t.time).sum();
        let share = |time: Duration| {
            if total.is_zero() { 0.0 } else { 100.0 * time.as_secs_f64() / total.as_secs_f64() }
        };
        let micros = |time: Duration| time.as_secs_f64() * 1e6;
        let mut text = String::new();
        let _ = writeln!(text, "{:10} {:>12} {:>6} {:>20}", "pass", "time", "", "size");
        for t in times {
            let (name, about, time) = (t.name(), t.about(), micros(t.time));
            let (share, size) = (share(t.time), format!("{} {:10}", t.size, t.unit()));
            let _ = writeln!(text, "{name:10} {time:>9.0} us {share:>5.1}% {size:>20}  {about}");
        }
        let _ = writeln!(text, "{:10} {:>9.0} us", "all", micros(total));
        text
    }
}

/// Told of every step when it ends.
pub(crate) enum Watch {
    Off,
    On { last: Instant, times: Vec<PassTime> },
}

impl Watch {
    /// A watch that runs.
    pub fn start() -> Watch {
        Watch::On { last: Instant::now(), times: Vec::new() }
    }

    /// A step has ended, and left a program of the given size.
    pub fn end(&mut self, pass: Pass, size: impl FnOnce() -> usize) {
        if let Watch::On { last, times } = self {
            let (time, size) = (last.elapsed(), size());
            match times.iter_mut().find(|t| t.pass == pass) {
                Some(known) => (known.time, known.size) = (known.time + time, size),
                None => times.push(PassTime { pass, time, size }),
            }
            *last = Instant::now();
        }
    }

    /// All steps that ended.
    pub fn times(self) -> Vec<PassTime> {
        match self {
            Watch::Off => Vec::new(),
            Watch::On { times, .. } => times,
        }
    }
}

/// Statements of one function.
pub(crate) fn own_statements(program: &Program, func: FuncId) -> usize {
    count(&program.funcs[func].body, &mut Vec::new())
}

fn count(block: &Block, calls: &mut Vec<FuncId>) -> usize {
    let one = |stmt: &jut_ir::Stmt| {
        if let Rhs::Call(call) = &stmt.rhs {
            calls.push(call.func);
        }
        1 + stmt.rhs.blocks().into_iter().map(|b| count(b, calls)).sum::<usize>()
    };
    block.stmts.iter().map(one).sum()
}

/// Statements of the given functions and of all that they call.
pub(crate) fn statements(program: &Program, roots: &[FuncId]) -> usize {
    let (mut work, mut seen, mut sum) = (roots.to_vec(), HashSet::new(), 0);
    while let Some(func) = work.pop() {
        if seen.insert(func) {
            sum += count(&program.funcs[func].body, &mut work);
        }
    }
    sum
}
