//! What a run of the engines found, as tables and as JSON (the structure itself).

use super::Setting;
use super::table::{digits, table, time};
use crate::loops::LoopRow;
use crate::measure::geometric_mean;
use comfy_table::Table;
use serde::Serialize;

/// One program at one size: seconds for value and gradient, and from text to code, by engine.
#[derive(Clone, Debug, Serialize)]
pub struct EngineRow {
    /// The program.
    pub name: &'static str,
    /// Its size.
    pub size: String,
    /// Hand-written code.
    pub hand: f64,
    /// The interpreter.
    pub interpreter: f64,
    /// A call, by engine; Cranelift first.
    pub run: Vec<(&'static str, f64)>,
    /// From text to code that can be called, by engine.
    pub compile: Vec<(&'static str, f64)>,
}

/// A whole run.
#[derive(Clone, Debug, Serialize)]
pub struct EngineReport {
    /// Where and with what.
    pub setting: Setting,
    /// The engines that are built in.
    pub engines: Vec<&'static str>,
    /// All programs.
    pub programs: Vec<EngineRow>,
    /// Loops over arrays; none where there is no clang.
    pub loops: Vec<LoopRow>,
}

impl EngineReport {
    /// Everything, as Markdown.
    pub fn markdown(&self) -> String {
        let s = &self.setting;
        let mut text = format!("{}; {}, {}; {}\n\n", s.machine, s.rustc, s.flags, s.date);
        text.push_str(&format!(
            "Value and gradient; the time by hand, and the ratios of others to it:\n\n{}\n\n",
            self.runs()
        ));
        for (k, name) in self.engines.iter().enumerate() {
            let of = |over: &dyn Fn(&EngineRow) -> f64| {
                let ratios =
                    self.programs.iter().filter_map(|row| Some(row.run.get(k)?.1 / over(row)));
                digits(geometric_mean(ratios))
            };
            let (hand, cranelift) = (of(&|row| row.hand), of(&|row| row.run[0].1));
            let line =
                format!("- geometric means of {name}: {hand} x by hand, {cranelift} x Cranelift\n");
            text.push_str(&line);
        }
        text.push_str(&format!("\nFrom text to code:\n\n{}\n", self.compilations()));
        match self.loops.is_empty() {
            true => text.push_str("\nThere is no clang: no comparison with C.\n"),
            false => text.push_str(&format!(
                "\nLoops over arrays; the time of `clang -O3 -march=native -ffp-contract=off`, and the ratios \
                 of others to it:\n\n{}\n",
                self.against_c()
            )),
        }
        text
    }

    fn runs(&self) -> Table {
        let mut columns = vec!["program".to_owned(), "size".into(), "by hand".into()];
        columns.push("interpreter / hand".into());
        columns.extend(self.engines.iter().map(|name| format!("{name} / hand")));
        columns.extend(self.engines.iter().skip(1).map(|name| format!("cranelift / {name}")));
        let rows = self.programs.iter().map(|row| {
            let mut cells = vec![row.name.to_owned(), row.size.clone(), time(row.hand)];
            cells.push(digits(row.interpreter / row.hand));
            cells.extend(row.run.iter().map(|(_, time)| digits(time / row.hand)));
            let first = row.run.first().map_or(0.0, |(_, time)| *time);
            cells.extend(row.run.iter().skip(1).map(|(_, time)| digits(first / time)));
            cells
        });
        table(columns.iter().map(String::as_str), rows, 2)
    }

    fn compilations(&self) -> Table {
        let columns = ["program"].into_iter().chain(self.engines.iter().copied());
        // The size of the data is not in the code.
        let mut seen = Vec::new();
        let rows = self.programs.iter().filter(|row| {
            let new = !seen.contains(&row.name);
            seen.push(row.name);
            new
        });
        let rows = rows.map(|row| {
            let times = row.compile.iter().map(|(_, seconds)| time(*seconds));
            [row.name.to_owned()].into_iter().chain(times).collect()
        });
        table(columns, rows, 1)
    }

    fn against_c(&self) -> Table {
        let mut columns = vec!["loop".to_owned(), "size".into(), "clang".into()];
        columns.push("with contraction".into());
        columns.extend(self.engines.iter().map(ToString::to_string));
        let rows = self.loops.iter().map(|row| {
            let mut cells = vec![row.name.to_owned(), row.size.to_string(), time(row.clang)];
            cells.push(digits(row.contracted / row.clang));
            cells.extend(row.engines.iter().map(|(_, time)| digits(time / row.clang)));
            cells
        });
        table(columns.iter().map(String::as_str), rows, 2)
    }
}
