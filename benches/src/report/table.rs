//! The tables for the terminal.

use super::Report;
use crate::run::Row;
use comfy_table::{CellAlignment, Table};

/// A time with three digits and a unit.
pub fn time(seconds: f64) -> String {
    let (value, unit) = match seconds {
        s if s < 1e-6 => (s * 1e9, "ns"),
        s if s < 1e-3 => (s * 1e6, "us"),
        s if s < 1.0 => (s * 1e3, "ms"),
        s => (s, "s"),
    };
    format!("{} {unit}", digits(value))
}

/// Bytes with three digits and a unit.
pub fn bytes(n: u64) -> String {
    match n {
        0..1000 => format!("{n} B"),
        1000..1_000_000 => format!("{} kB", digits(n as f64 / 1e3)),
        _ => format!("{} MB", digits(n as f64 / 1e6)),
    }
}

/// A number with three digits.
pub fn digits(x: f64) -> String {
    match x.abs() {
        a if a < 9.995 => format!("{x:.2}"),
        a if a < 99.95 => format!("{x:.1}"),
        _ => format!("{x:.0}"),
    }
}

/// The columns of the table of programs.
pub const COLUMNS: [&str; 15] = [
    "program",
    "size",
    "compile",
    "by hand",
    "cranelift",
    "/ hand",
    "llvm / hand",
    "/ primal",
    "interpreter /",
    "differences /",
    "num-dual /",
    "peer / hand",
    "/ peer",
    "tape",
    "allocs",
];

/// The columns of the table of calls: times, then what each way takes besides the machine code.
const CALLS: [&str; 11] = [
    "call with",
    "by hand",
    "code",
    "bound",
    "call_into",
    "call",
    "typed",
    "bound - code",
    "call_into - code",
    "call - code",
    "typed - code",
];

/// The columns of the table of threads.
const THREADS: [&str; 6] =
    ["loops in shares", "engine", "one thread", "threads", "all of them", "times faster"];

/// The cells of a row.
pub fn cells(row: &Row) -> [String; 15] {
    let optional = |x: Option<f64>| x.map_or("-".to_string(), digits);
    [
        row.name.to_string(),
        row.size.clone(),
        time(row.compile),
        time(row.hand),
        time(row.cranelift),
        digits(row.to_hand()),
        optional(row.engine_to_hand("llvm")),
        digits(row.to_primal()),
        optional(row.interpreter.map(|t| t / row.cranelift)),
        optional(row.differences.map(|t| t / row.cranelift)),
        optional(row.num_dual.map(|t| t / row.cranelift)),
        optional(row.peer_to_hand()),
        optional(row.to_peer()),
        bytes(row.tape_bytes),
        digits(row.allocations_per_call),
    ]
}

/// A table of columns and rows of text: the first columns to the left, numbers to the right.
pub fn table<'c>(
    columns: impl IntoIterator<Item = &'c str>,
    rows: impl IntoIterator<Item = Vec<String>>,
    left: usize,
) -> Table {
    let mut table = Table::new();
    table.load_preset(comfy_table::presets::ASCII_MARKDOWN);
    table.set_header(columns.into_iter().map(String::from));
    table.add_rows(rows);
    for column in table.column_iter_mut().skip(left) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

/// Everything, for the terminal.
pub fn print(report: &Report) -> String {
    let [programs, calls, threads, lengths, sizes] = tables(report);
    let mut text = format!("{programs}\n\n{calls}\n\n{threads}\n\n{lengths}\n\n{sizes}\n\n");
    for line in lines(report) {
        text.push_str(&line);
        text.push('\n');
    }
    text
}

/// Everything, as Markdown.
pub fn markdown(report: &Report) -> String {
    let [programs, calls, threads, lengths, sizes] = tables(report);
    let mut text = String::new();
    for line in lines(report) {
        text.push_str(&format!("- {line}\n"));
    }
    format!("{programs}\n\n{text}\n{calls}\n\n{threads}\n\n{lengths}\n\n{sizes}\n")
}

/// Programs, calls, threads, lengths of programs, sizes of data.
fn tables(report: &Report) -> [Table; 5] {
    let programs = table(COLUMNS, report.rows.iter().map(|r| cells(r).to_vec()), 2);
    let calls = report.calls.iter().map(|c| {
        let times = [c.hand, c.code, c.bound, c.into, c.session, c.typed].map(time);
        let ways = [c.bound, c.into, c.session, c.typed].map(|way| time((way - c.code).max(0.0)));
        std::iter::once(c.name.to_string()).chain(times).chain(ways).collect()
    });
    let calls = table(CALLS, calls, 1);
    let threads = report.threads.iter().map(|t| {
        let first = t.times.first().map_or(0.0, |(_, seconds)| *seconds);
        let (most, last) = t.times.last().copied().unwrap_or_default();
        let name = [t.name.clone(), t.engine.to_string()];
        let times = [time(first), most.to_string(), time(last), digits(t.speed_up())];
        name.into_iter().chain(times).collect()
    });
    let threads = table(THREADS, threads, 2);
    let lengths = report.lengths.iter().map(|l| {
        let each = l.compile / l.statements as f64;
        vec![l.statements.to_string(), time(l.compile), time(each)]
    });
    let lengths = table(["statements", "compile", "each"], lengths, 0);
    let sizes =
        report.sizes.iter().map(|s| vec![s.n.to_string(), time(s.compile), time(s.first_call)]);
    [programs, calls, threads, lengths, table(["elements", "compile", "first call"], sizes, 0)]
}

/// Where it was measured, the means, and what misses its goal.
fn lines(report: &Report) -> Vec<String> {
    let s = &report.setting;
    let mut lines = vec![
        s.machine.clone(),
        format!("jut {}, Cranelift {}, {}, {}; {}", s.jut, s.cranelift, s.rustc, s.flags, s.date),
    ];
    for (what, means) in [("tuned on", &report.tuned), ("others", &report.others)] {
        let mut line = format!(
            "geometric means, {what}: gradient {} x by hand, {} x primal",
            digits(means.to_hand),
            digits(means.to_primal),
        );
        for (name, mean) in &means.engines {
            line.push_str(&format!("; {name} {} x by hand", digits(*mean)));
        }
        if let Some(interpreter) = means.interpreter {
            line.push_str(&format!("; interpreter {} x Cranelift", digits(interpreter)));
        }
        lines.push(line);
    }
    let missed = report.missed().into_iter();
    lines.extend(missed.map(|(name, what)| format!("not yet at its goal: {name}: {what}")));
    lines
}
