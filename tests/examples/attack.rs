//! Attacks on jut without end: programs, texts, files, arguments and limits that nobody meant, each in a
//! child process, with all derivatives, all engines, and guard pages around every array.
//!
//! ```text
//! cargo run --release -p jut-tests --example attack                       until interrupted
//! cargo run --release -p jut-tests --example attack -- --seconds 600      for ten minutes
//! cargo run --release -p jut-tests --example attack -- --runs 20000 --seed 7
//! cargo run --release -p jut-tests --example attack -- --engines cranelift
//! cargo run --release -p jut-tests --example attack -- --replay 1234      one attack again
//! ```
//!
//! With the features `llvm` and `mlir` their code is attacked too. `--jobs` says how many children there
//! are at a time, `--patience` how many seconds an attack may take, `--memory` how many megabytes
//! of addresses a child may have. What goes wrong is said with its number and the smallest text
//! that was found; the number makes the same attack on every machine.

use std::process::ExitCode;

fn main() -> ExitCode {
    jut_tests::attack::main(std::env::args().skip(1))
}
