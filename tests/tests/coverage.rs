//! The random programs reach every rule of every pass.

use jut_ad::{Derivatives, Mask, Policy, forward, transpose, unzip};
use jut_tests::coverage::{Counts, add};
use jut_tests::generate::generate;
use jut_tests::in_parallel;
use jut_tests::laws::load;

/// The kinds of statement that each pass must have been given. What is not here, a pass never meets:
/// J takes no linear code, T's input has no sums of its own, and places are sliced and linear names
/// copied in definitions by hand only (which `tests/worked` has).
const RULES: &[(&str, &[&str])] = &[
    (
        "J",
        &[
            "structured",
            "acc region",
            "array literal",
            "call",
            "case of bool",
            "case of data",
            "cast",
            "check",
            "con",
            "index",
            "open",
            "prim",
            "proj",
            "scan par",
            "scan up",
            "tuple",
            "untuple",
            "+=",
        ],
    ),
    (
        "U",
        &[
            "structured",
            "structured'",
            "acc region",
            "array literal",
            "call",
            "case of bool",
            "case of data",
            "cast",
            "check",
            "con",
            "index",
            "open",
            "prim",
            "proj",
            "scan par",
            "scan up",
            "tuple",
            "untuple",
            "+=",
            "add'",
            "cast'",
            "drop'",
            "dup'",
            "neg'",
            "scale'",
            "select'",
            "tuple'",
            "untuple'",
            "zero'",
            "rd",
            "rd region",
            "wr region",
        ],
    ),
    (
        "T",
        &[
            "structured'",
            "call",
            "case of bool",
            "case of data",
            "cast",
            "index",
            "open",
            "prim",
            "proj",
            "scan par",
            "scan up",
            "+=",
            "add'",
            "cast'",
            "drop'",
            "dup'",
            "neg'",
            "scale'",
            "select'",
            "tuple'",
            "untuple'",
            "zero'",
            "rd",
            "rd region",
            "wr region",
        ],
    ),
    (
        "L",
        &[
            "structured",
            "structured'",
            "acc region",
            "array literal",
            "call",
            "case of bool",
            "case of data",
            "cast",
            "check",
            "con",
            "index",
            "open",
            "prim",
            "proj",
            "scan par",
            "scan up",
            "scan down",
            "tuple",
            "untuple",
            "+=",
            "add'",
            "cast'",
            "drop'",
            "dup'",
            "neg'",
            "scale'",
            "select'",
            "tuple'",
            "untuple'",
            "zero'",
            "rd",
            "rd region",
            "wr region",
        ],
    ),
];

#[test]
fn every_rule_of_every_pass_is_used_a_hundred_times_by_the_random_programs() {
    let seeds: Vec<u64> = (0..1200).collect();
    let counted = in_parallel(&seeds, |seed| {
        let program = load(&generate(*seed).text).map_err(|e| format!("program {seed}: {e}"))?;
        let func = program.find_func("main").ok_or("no main")?;
        let mask = Mask::full(&program, func);
        let mut d = Derivatives::new(program);
        let say = |e: jut_ir::Diagnostic| format!("program {seed}: {e}");
        let jvp = forward::forward(&mut d, func, &mask).map_err(say)?;
        let halves = unzip::unzip(&mut d, jvp, Policy::Default).map_err(say)?;
        transpose::transpose(&mut d, halves.lin).map_err(say)?;
        let mut counts = Counts::new();
        add(&d.program, &mut counts);
        Ok(counts)
    });
    let mut total = Counts::new();
    for counts in counted.unwrap_or_else(|e| panic!("{e}")) {
        for (rule, n) in counts {
            *total.entry(rule).or_default() += n;
        }
    }
    for ((pass, kind), n) in &total {
        println!("{pass} {kind:<20} {n:>8}");
    }
    let mut rare = Vec::new();
    for (pass, kinds) in RULES {
        for kind in *kinds {
            let n = total.get(&(*pass, *kind)).copied().unwrap_or(0);
            if n < 100 {
                rare.push(format!("{pass} of {kind}: {n}"));
            }
        }
    }
    assert!(rare.is_empty(), "{}", rare.join("\n"));
}
