//! A short form of the example `attack`: a few hundred attacks, each in a child process. This test is a
//! program of its own, because the child processes are it.

use std::process::ExitCode;

fn main() -> ExitCode {
    let given: Vec<String> = std::env::args().skip(1).collect();
    // Children have words of their own; those of `cargo test` choose among tests, and here is one.
    if given.first().is_some_and(|word| word == "--child") {
        return jut_tests::attack::main(given.into_iter());
    }
    let words = ["--runs", "1000", "--seconds", "45"];
    jut_tests::attack::main(words.into_iter().map(String::from))
}
