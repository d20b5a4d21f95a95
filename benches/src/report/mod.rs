//! What a run of the harness found: as a [`table`], as JSON (the structure itself), and as a
//! [`page`] with [`charts`]; and the latter two in the [documentation](docs). A run of the
//! [engines](engines) has tables of its own.

pub mod charts;
pub mod docs;
pub mod engines;
pub mod page;
pub mod table;

use crate::calls::Call;
use crate::compile::{Length, Size};
use crate::machine;
use crate::measure::geometric_mean;
use crate::run::Row;
use crate::threads::Threads;
use serde::Serialize;
use std::time::SystemTime;

/// Where and with what it was measured.
#[derive(Clone, Debug, Serialize)]
pub struct Setting {
    /// The processor.
    pub machine: String,
    /// Date and time, UTC.
    pub date: String,
    /// Version of jut.
    pub jut: String,
    /// Version of Cranelift.
    pub cranelift: String,
    /// Version of the Rust compiler that made the hand-written code.
    pub rustc: String,
    /// Its flags and target.
    pub flags: String,
}

impl Setting {
    /// Here and now.
    pub fn here() -> Setting {
        Setting {
            machine: machine::processor(),
            date: humantime::format_rfc3339_seconds(SystemTime::now()).to_string(),
            jut: env!("CARGO_PKG_VERSION").to_string(),
            cranelift: cranelift_codegen::VERSION.to_string(),
            rustc: env!("BENCH_RUSTC").to_string(),
            flags: format!("{}, {}", env!("BENCH_FLAGS"), env!("BENCH_TARGET")),
        }
    }
}

/// What jut wants to reach. Nothing fails if it does not: it is drawn beside what was measured.
pub mod goals {
    /// Cranelift over hand-written, on the geometric mean over the programs jut is tuned on.
    pub const TO_HAND: f64 = 1.5;
    /// Value and gradient over the value, for each program.
    pub const TO_PRIMAL: f64 = 3.0;
    /// Seconds from text to a gradient that can be called.
    pub const COMPILE: f64 = 5e-3;
    /// Seconds that a bound or typed call takes besides the machine code.
    pub const BOUND: f64 = 20e-9;
    /// Seconds that any other call takes besides it.
    pub const DYNAMIC: f64 = 80e-9;
}

/// A whole run.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Where and with what.
    pub setting: Setting,
    /// The programs.
    pub rows: Vec<Row>,
    /// What calls cost.
    pub calls: Vec<Call>,
    /// Threads against time.
    pub threads: Vec<Threads>,
    /// Compile time against length.
    pub lengths: Vec<Length>,
    /// Compile time against the size of the data.
    pub sizes: Vec<Size>,
    /// The ratios, over the programs that jut is tuned on.
    pub tuned: Means,
    /// The ratios, over the others.
    pub others: Means,
}

/// Geometric means of ratios.
#[derive(Clone, Debug, Serialize)]
pub struct Means {
    /// Cranelift over hand-written.
    pub to_hand: f64,
    /// The other engines that are built in over hand-written.
    pub engines: Vec<(&'static str, f64)>,
    /// Value and gradient over the value.
    pub to_primal: f64,
    /// Interpreter over Cranelift, where it was measured.
    pub interpreter: Option<f64>,
}

impl Means {
    fn of<'r>(rows: impl Iterator<Item = &'r Row> + Clone) -> Means {
        let names: Vec<&'static str> = match rows.clone().next() {
            Some(row) => row.engines.iter().map(|(name, _)| *name).collect(),
            None => Vec::new(),
        };
        let mean = |name| geometric_mean(rows.clone().filter_map(|r| r.engine_to_hand(name)));
        let engines = names.into_iter().map(|name| (name, mean(name))).collect();
        let slow = |r: &Row| r.interpreter.map(|time| time / r.cranelift);
        let interpreted = rows.clone().any(|r| r.interpreter.is_some());
        Means {
            to_hand: geometric_mean(rows.clone().map(Row::to_hand)),
            engines,
            to_primal: geometric_mean(rows.clone().map(Row::to_primal)),
            interpreter: interpreted.then(|| geometric_mean(rows.filter_map(slow))),
        }
    }
}

impl Report {
    /// Puts together what was measured here and now.
    pub fn new(
        rows: Vec<Row>,
        calls: Vec<Call>,
        threads: Vec<Threads>,
        (lengths, sizes): (Vec<Length>, Vec<Size>),
    ) -> Report {
        let tuned = Means::of(rows.iter().filter(|r| r.is_target()));
        let others = Means::of(rows.iter().filter(|r| !r.is_target()));
        Report { setting: Setting::here(), rows, calls, threads, lengths, sizes, tuned, others }
    }

    /// The rows that miss a goal: name and size, and which.
    pub fn missed(&self) -> Vec<(String, String)> {
        let mut missed = Vec::new();
        for row in &self.rows {
            let mut what = Vec::new();
            // Behind by either measure counts: the two runs have different hand-written code, and
            // may be from different machines.
            if let (Some(ratio), Some(time)) = (row.peer_to_hand(), row.to_peer())
                && (row.to_hand() > ratio || time > 1.0)
            {
                let ours = row.to_hand();
                what.push(format!(
                    "{ours:.2} x by hand, the best peer {ratio:.2}; {time:.2} x its time"
                ));
            }
            if row.to_primal() > goals::TO_PRIMAL {
                what.push(format!("{:.2} x the value", row.to_primal()));
            }
            if row.compile > goals::COMPILE {
                what.push(format!("compiled in {}", table::time(row.compile)));
            }
            if !what.is_empty() {
                missed.push((format!("{} {}", row.name, row.size), what.join("; ")));
            }
        }
        for call in &self.calls {
            let ways = [
                ("bound", call.bound, goals::BOUND),
                ("call_into", call.into, goals::DYNAMIC),
                ("call", call.session, goals::DYNAMIC),
                ("typed", call.typed, goals::BOUND),
            ];
            for (way, time, goal) in ways {
                let more = time - call.code;
                if more > goal {
                    let what = format!("{} more than the machine code", table::time(more));
                    missed.push((format!("{way}, {}", call.name), what));
                }
            }
        }
        missed
    }
}
