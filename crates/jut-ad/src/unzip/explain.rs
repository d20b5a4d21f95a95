//! What is on a tape and why, and what is not: the report behind `jut explain tape`.
//!
//! The report prints the plan of U ([`super::plan`]), which is a function of the program, the function and the
//! policy; so it says what U did, in the order of the records.
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
//! *Requires*: a function that has been unzipped. *Ensures*: where every size follows from arguments and
//! indices and no arm is in the way, the formula is the number of bytes that a run measures.
//! *Cost*: linear in the text of the function and of those that it calls.

mod bytes;

pub use bytes::{Bytes, Sizes};

use super::plan::{self, Carried, Fate, Plan, Reason};
use super::record::Record;
use crate::{Derivatives, Policy, Unzipped};
use jut_ir::calls::{components, for_each_call};
use jut_ir::entity::EntityRef;
use jut_ir::*;
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
    /// What is run again with a tape of its own, one after the other.
    pub parts: Vec<Part>,
    /// The names in the formulas.
    pub sizes: Sizes,
}

/// A function that is called and takes memory beside the tape.
#[derive(Clone, Debug)]
pub struct Part {
    /// Its own report.
    pub report: TapeReport,
    /// Whether it is run again, so that its tape comes and goes; else those of its own parts do.
    pub again: bool,
    /// Its integer arguments, in names of the caller.
    arguments: Vec<Size>,
    /// How many states it keeps at a time, and the bytes of one (`@revolve(c)`).
    pub checkpoints: Option<(u32, Bytes)>,
}

/// A stored value.
#[derive(Clone, Debug)]
pub struct Stored {
    /// Its name.
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
    pub reason: String,
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

/// A value that the linear half has without the tape.
#[derive(Clone, Debug)]
pub struct Avoided {
    /// Its name.
    pub name: String,
    /// How the linear half has it.
    pub how: String,
    /// Where it is computed in the user's text.
    pub span: Span,
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

    /// The most bytes that this tape and those of parts that are run again take at one moment, for given i64 arguments:
    /// in the first iterations of loops, where segments are longest. `None` if they depend on more than sizes.
    pub fn peak(&self, argument: &dyn Fn(usize) -> Option<i64>) -> Option<i64> {
        self.bytes(argument)?.checked_add(self.passing(argument)?)
    }

    fn passing(&self, argument: &dyn Fn(usize) -> Option<i64>) -> Option<i64> {
        let mut most = 0;
        for part in &self.parts {
            let values = part.arguments.iter().map(|size| self.sizes.first(size, argument));
            let values: Vec<Option<i64>> = values.collect();
            let given = |k: usize| values.get(k).copied().flatten();
            let bytes =
                if part.again { part.report.peak(&given) } else { part.report.passing(&given) };
            let states = match &part.checkpoints {
                Some((count, state)) => {
                    self.sizes.eval(state, argument)?.checked_mul(i64::from(*count))?
                }
                None => 0,
            };
            most = most.max(bytes?.checked_add(states)?);
        }
        Some(most)
    }

    /// What is run again, with what that stores for the time, indented.
    fn parts_text(&self, indent: &str, text: &mut String) {
        for part in &self.parts {
            if part.again {
                let (name, bytes) = (&part.report.function, part.report.formula());
                let states = part.checkpoints.as_ref().map(|(count, state)| {
                    let state = self.sizes.text(state);
                    format!(
                        " per iteration, and up to {count} times {state} bytes of checkpoints; runs at most t more time(s), \
                         for the least t with ({count} + t)! / ({count}! t!) >= the number of iterations"
                    )
                });
                let states = states.unwrap_or_default();
                text.push_str(&format!("{indent}{name}  {bytes} bytes{states}\n"));
            }
            part.report.parts_text(&format!("{indent}  "), text);
        }
    }

    /// The bytes of the tape as a formula in the sizes.
    pub fn formula(&self) -> String {
        let total: Vec<String> = self.total.iter().map(|b| self.sizes.text(b)).collect();
        if total.is_empty() { "0".to_string() } else { total.join(" + ") }
    }

    /// The report as text; `place` says where a span is, for example `line 3`.
    pub fn text(&self, place: &dyn Fn(Span) -> Option<String>) -> String {
        let mut text = format!("tape of {}: {} bytes\n", self.function, self.formula());
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
        let mut parts = String::new();
        self.parts_text("  ", &mut parts);
        if !parts.is_empty() {
            text.push_str("run again, each with a tape for the time:\n");
            text.push_str(&parts);
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

/// Explains the tape of a function that has been unzipped.
///
/// # Errors
/// As [`super::unzip`].
pub fn explain(
    derivatives: &Derivatives,
    func: FuncId,
    policy: Policy,
) -> Result<TapeReport, Diagnostic> {
    let program = &derivatives.program;
    let mut callees = HashMap::new();
    for component in components(program, [func], &|f| program.funcs[f].is_nonlinear()) {
        for callee in component.members {
            let own = derivatives.unzipped.get(&(callee, policy));
            let own = own.filter(|_| component.is_recursive);
            let made = report(derivatives, callee, own, policy, &mut callees)?;
            if callee == func {
                return Ok(made);
            }
            callees.insert(callee, made);
        }
    }
    Err(Diagnostic::error("J801", Span::NONE, "nothing to explain"))
}

/// The report of a function whose callees have theirs; parts of it get theirs here.
fn report(
    derivatives: &Derivatives,
    func: FuncId,
    own: Option<&Unzipped>,
    policy: Policy,
    callees: &mut HashMap<FuncId, TapeReport>,
) -> Result<TapeReport, Diagnostic> {
    let prepared = derivatives.prepared.get(&(func, policy));
    let mut planned = prepared.unwrap_or(&derivatives.program.funcs[func]).clone();
    let mut parts = Vec::new();
    for_each_call(&planned.body, &mut |call| {
        if derivatives.parts.contains(&call.func) {
            parts.push(call.func);
        }
    });
    for part in parts {
        let own = derivatives.circular.get(&(part, policy));
        let made = report(derivatives, part, own, policy, callees)?;
        callees.insert(part, made);
    }
    let plan = plan::plan(derivatives, &mut planned, policy, own)?;
    Ok(Reporter::new(derivatives, &planned, &plan, callees).report())
}

/// A plan on its way to a report.
struct Reporter<'a> {
    derivatives: &'a Derivatives,
    program: &'a Program,
    func: &'a Function,
    plan: &'a Plan,
    callees: &'a HashMap<FuncId, TapeReport>,
    sizes: Sizes,
    /// The loops and arms round what is at work: the number of the level, and the name of the arm.
    around: Vec<(usize, Option<&'a str>)>,
    stored: Vec<Stored>,
}

impl<'a> Reporter<'a> {
    fn new(
        derivatives: &'a Derivatives,
        func: &'a Function,
        plan: &'a Plan,
        callees: &'a HashMap<FuncId, TapeReport>,
    ) -> Reporter<'a> {
        let sizes = Sizes::of(func, plan);
        let (program, around, stored) = (&derivatives.program, Vec::new(), Vec::new());
        Reporter { derivatives, program, func, plan, callees, sizes, around, stored }
    }

    fn report(mut self) -> TapeReport {
        let avoided = self.avoided();
        if let Some(record) = self.plan.levels.iter().find_map(|level| match level.depth {
            1 => level.record.as_ref(),
            _ => None,
        }) {
            self.record(record);
        }
        // Polynomials are added up, other terms stand beside each other.
        let (mut exact, mut total) = (Size::default(), Vec::new());
        for value in &self.stored {
            match &value.bytes {
                Bytes::Exact(size) => exact = exact + size.clone(),
                other => total.push(other.clone()),
            }
        }
        if exact != Size::default() {
            total.insert(0, Bytes::Exact(exact));
        }
        let parts = self.parts();
        let Reporter { plan, stored, sizes, .. } = self;
        TapeReport { function: plan.base.clone(), stored, avoided, total, parts, sizes }
    }

    /// What is called and takes memory beside the tape.
    fn parts(&self) -> Vec<Part> {
        let mut parts = Vec::new();
        for_each_call(&self.func.body, &mut |call| {
            let again = self.derivatives.parts.contains(&call.func);
            let Some(report) = self.callees.get(&call.func) else { return };
            if again || !report.parts.is_empty() {
                let size = |a: &Atom| self.plan.same.size(self.func, &self.func.size_of(*a));
                let mut arguments: Vec<Size> = call.args.iter().map(size).collect();
                let revolved = self.derivatives.revolved.get(&call.func);
                let checkpoints = revolved.map(|revolved| {
                    if let Some(len) = arguments.get_mut(revolved.len) {
                        *len = Size::constant(1);
                    }
                    (revolved.checkpoints, self.state_bytes(call, &revolved.carry))
                });
                parts.push(Part { report: report.clone(), again, arguments, checkpoints });
            }
        });
        parts
    }

    /// The bytes of some arguments of a call.
    fn state_bytes(&self, call: &Call, arguments: &[usize]) -> Bytes {
        let mut sum = Size::default();
        for k in arguments {
            let Some(arg) = call.args.get(*k) else { continue };
            let ty = self.plan.same.ty(self.func, &self.func.type_of(*arg));
            match bytes::type_bytes(self.program, &ty, 0) {
                Some(size) => sum = sum + size,
                None => return Bytes::Words(format!("one {}", self.type_text(&ty))),
            }
        }
        Bytes::Exact(sum)
    }

    /// What the residual has without the tape: what it is given, then level by level.
    fn avoided(&self) -> Vec<Avoided> {
        let mut avoided = Vec::new();
        let mut avoid = |v: NVar, how: String, span: Span| {
            let name = self.func.nvars[v].name.to_string();
            avoided.push(Avoided { name, how, span });
        };
        let own = |v: NVar| self.func.nvars[v].span;
        for p in self.plan.forwarded.iter().map(|k| self.func.params[*k]) {
            avoid(p, "an input".to_string(), own(p));
        }
        for p in &self.plan.sizes.params {
            avoid(*p, "a result of the function".to_string(), own(*p));
        }
        let name = |v: NVar| &self.func.nvars[self.plan.same.nvar(v).unwrap_or(v)].name;
        for level in &self.plan.levels {
            for (element, array) in &level.slices {
                let how = format!("an element of {}, taken again", name(*array));
                avoid(*element, how, own(*element));
            }
            for stmt in level.before.iter().chain(&level.after) {
                let by = match &stmt.rhs {
                    Rhs::Prim(prim, _) => format!("`{}`", prim.row().text),
                    Rhs::Index(v, _) => format!("an index of {}", name(*v)),
                    Rhs::Size(..) => "a size".to_string(),
                    Rhs::Cast { .. } => "a cast".to_string(),
                    _ => "a projection".to_string(),
                };
                for v in &stmt.nl {
                    avoid(*v, format!("computed again by {by}"), stmt.loc.span);
                }
            }
        }
        avoided
    }

    /// A type of the tape: one that the plan declares, or one that was known before it.
    fn data(&self, id: DataId) -> &'a Data {
        let (program, plan) = (self.program, self.plan);
        match id.index().checked_sub(program.datas.len()) {
            Some(k) => &plan.datas[k],
            None => &program.datas[id],
        }
    }

    fn record(&mut self, record: &'a Record) {
        let Some((con, _)) = record.held else { return };
        let name = &self.data(con.data).name;
        for (k, v) in record.values.iter().enumerate() {
            // A size is there for the first value that has it.
            let size =
                |field: &&Field| k < record.sizes && field.ty.size_names().contains(&NVar::new(k));
            let of = record.fields.iter().position(|field| size(&field)).map(|k| record.values[k]);
            self.value(*v, &self.func.nvars[*v].ty, name, of);
        }
    }

    /// A value on the tape, with its type there, and of what it is a size.
    fn value(&mut self, v: NVar, ty: &'a Type, record: &'a str, size_of: Option<NVar>) {
        let plan = self.plan;
        match plan.carried.get(&v) {
            Some(Carried::Stack { level, element }) => {
                self.around.push((*level, None));
                self.value(*element, ty.element().unwrap_or(ty), record, size_of);
                self.around.pop();
            }
            Some(Carried::Value(inside)) => self.value(*inside, ty, record, size_of),
            Some(Carried::Record { level }) => {
                if let Some(record) = &plan.levels[*level].record {
                    self.record(record);
                }
            }
            Some(Carried::Arms { levels }) => {
                for level in levels {
                    let Some(record) = &plan.levels[*level].record else { continue };
                    let Some((con, _)) = record.held else { continue };
                    let arm = &self.data(con.data).constructors[con.index as usize].name;
                    self.around.push((*level, Some(arm)));
                    self.record(record);
                    self.around.pop();
                }
            }
            Some(Carried::Tape { callee, args }) => {
                let name = names::unzip_base(&self.program.funcs[*callee].name);
                let bytes = self.callee_bytes(*callee, args);
                self.leaf(v, v, bytes, record, format!("what {name} stores"));
            }
            None => {
                let reason = match plan.fates[v] {
                    Fate::Stored { reason, .. } if size_of.is_none() => reason,
                    _ => Reason::Size,
                };
                let ty = plan.same.ty(self.func, ty);
                let bytes = match bytes::type_bytes(self.program, &ty, 0) {
                    Some(size) => Bytes::Exact(size),
                    None => Bytes::Words(format!("one {}", self.type_text(&ty))),
                };
                self.leaf(v, size_of.unwrap_or(v), bytes, record, self.reason(reason));
            }
        }
    }

    fn leaf(&mut self, v: NVar, needed: NVar, bytes: Bytes, record: &str, reason: String) {
        let VarData { name, ty, span, .. } = &self.func.nvars[v];
        let span = match self.plan.fates[v] {
            Fate::Stored { span, .. } => span,
            _ => *span,
        };
        let tangent = |x: LVar| self.func.lvars[x].name.to_string();
        let needed_by = self.plan.readers[needed].map(|reader| Need {
            tangent: reader.tangent.map(tangent).unwrap_or_default(),
            span: reader.span,
        });
        self.stored.push(Stored {
            name: name.to_string(),
            ty: self.type_text(&self.plan.same.ty(self.func, ty)),
            bytes: self.repeated(bytes),
            record: record.to_string(),
            needed_by,
            reason,
            span,
        });
    }

    fn reason(&self, reason: Reason) -> String {
        match reason {
            Reason::Size => "the size of a stored value".to_string(),
            Reason::Carry => "carried from iteration to iteration".to_string(),
            Reason::Field => "taken out of a value that is not kept".to_string(),
            Reason::Expensive(prim) => format!("`{prim}` is expensive"),
            Reason::Loop => "made by a loop".to_string(),
            Reason::Sum => "a sum over a loop".to_string(),
            Reason::Branch => "made by a branch".to_string(),
            Reason::Call(callee) => {
                format!("made by {}", names::unzip_base(&self.program.funcs[callee].name))
            }
            Reason::Policy => "the text says `@store`".to_string(),
            Reason::Built => "built from parts".to_string(),
            Reason::NoGain => "to store what it is computed from would not be cheaper".to_string(),
        }
    }

    /// The bytes of what a callee stores.
    fn callee_bytes(&self, callee: FuncId, args: &[Atom]) -> Bytes {
        let words = || {
            let name = names::unzip_base(&self.program.funcs[callee].name);
            Bytes::Words(format!("the tape of {name}"))
        };
        let Some(report) = self.callees.get(&callee) else { return words() };
        let argument = |k: usize| {
            let size = self.func.size_of(*args.get(k)?);
            Some(self.plan.same.size(self.func, &size))
        };
        let closed = |term: &Bytes| match term {
            Bytes::Exact(size) => report.sizes.over_arguments(size, &argument),
            _ => None,
        };
        let terms = report.total.iter().map(closed);
        let sum = terms.into_iter().try_fold(Size::default(), |a, b| Some(a + b?));
        sum.map_or_else(words, Bytes::Exact)
    }

    /// Bytes that are stored inside of loops and arms.
    fn repeated(&self, mut bytes: Bytes) -> Bytes {
        for (level, arm) in self.around.iter().rev() {
            let level = &self.plan.levels[*level];
            let local = |v: &NVar| self.plan.sites[*v].level >= level.depth;
            bytes = match (arm, &level.times, bytes) {
                (Some(arm), _, each) => Bytes::If { arm: arm.to_string(), each: Box::new(each) },
                (None, Some((_, count)), Bytes::Exact(size)) if !size.names().iter().any(local) => {
                    Bytes::Exact(size * count.clone())
                }
                (None, Some((index, count)), each) => {
                    Bytes::Sum { index: *index, count: count.clone(), each: Box::new(each) }
                }
                (None, None, each) => each,
            };
        }
        bytes
    }

    fn type_text(&self, ty: &Type) -> String {
        match ty {
            Type::Float(width) => width.name().into(),
            Type::I64 => "i64".into(),
            Type::I32 => "i32".into(),
            Type::Bool => "bool".into(),
            Type::Data(data) => self.program.datas[*data].name.clone(),
            Type::Tuple(items) => {
                let items: Vec<String> = items.iter().map(|t| self.type_text(t)).collect();
                format!("#({})", items.join(", "))
            }
            Type::Array(size, element) => {
                let size = self.sizes.text(&Bytes::Exact(size.clone()));
                format!("[{size}]{}", self.type_text(element))
            }
        }
    }
}
