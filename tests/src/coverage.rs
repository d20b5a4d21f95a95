//! What programs exercise: how often each kind of statement passes through each pass.
//!
//! A pass is a match on the kind of statement, so the kinds that it is given are the rules of it that
//! are used. J is given the user's definitions, U and L what J makes, T what U makes, L also what T
//! makes. For J every primitive is a rule of its own: its row. A function with linear parameters is
//! given to U and L as it is.

use jut_ir::{Block, Mode, Program, Rhs};
use std::collections::BTreeMap;

/// How often each kind of statement was given to each pass, and each row of the table to J; how often
/// the writer of the programs chose each construct.
pub type Counts = BTreeMap<(&'static str, &'static str), usize>;

/// The kind of a statement, as a word.
pub fn kind(rhs: &Rhs) -> &'static str {
    match rhs {
        Rhs::Atom(_) => "atom",
        Rhs::Prim(..) => "prim",
        Rhs::Structured(..) => "structured",
        Rhs::LApply { .. } => "structured'",
        Rhs::Tuple(_) => "tuple",
        Rhs::Untuple(_) => "untuple",
        Rhs::Proj(..) => "proj",
        Rhs::Con(..) => "con",
        Rhs::Open { .. } => "open",
        Rhs::ArrayLit(_) => "array literal",
        Rhs::Size(..) => "size",
        Rhs::Index(..) => "index",
        Rhs::Update { .. } => "update",
        Rhs::Cast { .. } => "cast",
        Rhs::Check(_) => "check",
        Rhs::LCopy(_) => "copy'",
        Rhs::LAdd(..) => "add'",
        Rhs::LNeg(_) => "neg'",
        Rhs::LScale(..) => "scale'",
        Rhs::LSelect(..) => "select'",
        Rhs::LZero(_) => "zero'",
        Rhs::Dup(_) => "dup'",
        Rhs::Drop(_) => "drop'",
        Rhs::LTuple(_) => "tuple'",
        Rhs::LUntuple(_) => "untuple'",
        Rhs::LCon { .. } => "con'",
        Rhs::LOpen { .. } => "open'",
        Rhs::LCast { .. } => "cast'",
        Rhs::LUpdate { .. } => "update'",
        Rhs::LTake { .. } => "take'",
        Rhs::Rd(_) => "rd",
        Rhs::Inc(..) => "+=",
        Rhs::Region(region) => match (region.mode, region.start.is_some(), region.end) {
            (Mode::Rd, _, false) => "rd region",
            (Mode::Rd, _, true) => "lend region",
            (Mode::Wr, false, _) => "wr region",
            (Mode::Wr, true, _) => "wr region with a start",
            (Mode::Acc, false, _) => "acc region",
            (Mode::Acc, true, _) => "acc region with a start",
        },
        Rhs::Scan(scan) => match (scan.dir, scan.cap_slices.is_empty()) {
            (jut_ir::Dir::Up, _) => "scan up",
            (jut_ir::Dir::Down, _) => "scan down",
            (jut_ir::Dir::While, _) => "scan while",
            (jut_ir::Dir::Par, true) => "scan par",
            (jut_ir::Dir::Par, false) => "scan par with places",
        },
        Rhs::Case(case) => match case.arms.first().map(|arm| arm.pattern) {
            Some(jut_ir::ArmPattern::Con(_)) => "case of data",
            _ => "case of bool",
        },
        Rhs::Call(_) => "call",
    }
}

fn count(block: &Block, passes: &[&'static str], counts: &mut Counts) {
    for stmt in &block.stmts {
        for pass in passes {
            *counts.entry((pass, kind(&stmt.rhs))).or_default() += 1;
        }
        if let (Rhs::Prim(prim, _), ["J", ..]) = (&stmt.rhs, passes) {
            *counts.entry(("J of primitive", prim.row().id)).or_default() += 1;
        }
        if let (Rhs::Structured(op, ..), ["J", ..]) = (&stmt.rhs, passes) {
            *counts.entry(("J of structured primitive", op.row().name)).or_default() += 1;
        }
        for inner in stmt.rhs.blocks() {
            count(inner, passes, counts);
        }
    }
}

/// Adds what the passes were given when this program was derived.
pub fn add(program: &Program, counts: &mut Counts) {
    for func in program.funcs.values() {
        let passes: &[&'static str] = match func.name.rsplit('.').next().unwrap_or_default() {
            "jvp" => &["U", "L"],
            "lin" => &["T"],
            "linT" => &["L"],
            name if name == func.name && func.is_nonlinear() => &["J"],
            name if name == func.name => &["U", "L"],
            _ => continue,
        };
        count(&func.body, passes, counts);
    }
}

/// Adds the counts of `more`.
pub fn merge(into: &mut Counts, more: Counts) {
    for (rule, n) in more {
        *into.entry(rule).or_default() += n;
    }
}
