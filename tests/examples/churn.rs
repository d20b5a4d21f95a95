//! Compiles and drops many programs with every backend that is built in, and says how much memory
//! the process has before and after.
//!
//! ```text
//! cargo run --release -p jut-tests --features llvm,mlir --example churn               10,000 of each
//! cargo run --release -p jut-tests --features llvm,mlir --example churn -- 500 MLIR   500, with MLIR
//! ```

use jut_tests::churn::{compile_and_drop, returned};
use jut_tests::engines::backends;
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut words = std::env::args().skip(1).peekable();
    let count = words.peek().and_then(|word| word.parse().ok());
    let count: usize = count.inspect(|_| drop(words.next())).unwrap_or(10_000);
    let only: Vec<String> = words.collect();
    let mut good = true;
    println!("backend     programs   kB before    kB after   mapped before   mapped after");
    for (name, backend) in backends() {
        if !only.is_empty() && !only.iter().any(|word| word == name) {
            continue;
        }
        match compile_and_drop(backend, count) {
            Ok(memory) => {
                let [before, after] = memory;
                let ([a, b], [c, d]) =
                    ([before.resident, after.resident], [before.mapped, after.mapped]);
                println!("{name:<10}{count:>10}{a:>12}{b:>12}{c:>16}{d:>15}");
                good &= returned(memory, count);
            }
            Err(reason) => {
                eprintln!("{name}: {reason}");
                good = false;
            }
        }
    }
    if good { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
