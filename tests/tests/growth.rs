//! What compiling takes grows with the text, at every step: statements, requests for memory, bytes asked
//! for, and the most bytes at one time. Counts, never times: they are the same on every machine, and
//! nothing else that runs disturbs them.

use allocation_counter::{AllocationInfo, measure};
use jut_ad::Policy;
use jut_tests::laws::reads_back;
use jut_tests::pipeline::{compile_with, core_stages};
use jut_tests::shapes;

/// What one step takes.
#[derive(Debug)]
struct Step {
    name: &'static str,
    statements: usize,
    memory: AllocationInfo,
}

fn steps(text: &str) -> Vec<Step> {
    let mut measured = Vec::new();
    let result = compile_with(text, jut_cranelift::BACKEND, &mut |name, step| {
        measured.push((name, measure(step)));
    });
    let (counts, _) = result.unwrap_or_else(|e| panic!("{e}"));
    let steps = measured.into_iter().zip(counts);
    steps.map(|((name, memory), statements)| Step { name, statements, memory }).collect()
}

/// Compares a program with one four times as long.
fn fourfold(shape: fn(usize) -> String, n: usize) {
    for (one, four) in steps(&shape(n)).iter().zip(steps(&shape(4 * n))) {
        let (few, many) = (&one.memory, &four.memory);
        let counts = [
            ("statements", one.statements as u64, four.statements as u64),
            ("requests", few.count_total, many.count_total),
            ("bytes in all", few.bytes_total, many.bytes_total),
            ("bytes at once", few.bytes_max, many.bytes_max),
        ];
        for (what, few, many) in counts {
            let growth = many as f64 / few as f64;
            assert!(growth < 4.4, "{}: {what} {few} and {many}", one.name);
        }
    }
}

#[test]
fn lines_take_as_much_each_in_a_program_four_times_as_long() {
    fourfold(shapes::straight, 2500);
}

#[test]
fn calls_along_a_chain_take_as_much_each_in_one_four_times_as_long() {
    fourfold(shapes::deep, 4000);
}

#[test]
fn loops_take_as_much_each_in_a_program_four_times_as_long() {
    fourfold(shapes::loops, 400);
}

#[test]
fn calls_in_branches_take_as_much_each_along_a_chain_four_times_as_long() {
    fourfold(shapes::nested, 400);
    fourfold(shapes::either, 150);
}

#[test]
fn inlining_does_not_nest_blocks_deeper_than_a_text_may() {
    let core = core_stages(&shapes::nested(300), Policy::Default).expect("all stages");
    reads_back(&core.program).expect("an optimised program that can be read");
}
