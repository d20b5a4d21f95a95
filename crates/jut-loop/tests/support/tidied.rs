//! Functions in the text form, tidied up.

use jut_loop::form::LoopFuncId;
use jut_loop::signature::Flat;
use jut_loop::target::{Target, Vectors};
use jut_loop::{eval, opt, print, read};

/// The text of what a program becomes.
pub fn tidy(text: &str) -> String {
    let mut program = read::read_program(0, text).unwrap_or_else(|e| panic!("{e} {:?}", e.span));
    program.funcs.values_mut().for_each(opt::optimise);
    print::print_program(&program)
}

/// Its lines behind the first, without indents and ends of blocks.
pub fn body(text: &str) -> Vec<String> {
    let tidy = tidy(text);
    tidy.lines().skip(1).map(|l| l.trim().to_string()).filter(|l| l != "}").collect()
}

/// Runs a function of the text before and after tidying up, on `n` numbers each.
pub fn runs_alike(text: &str, arguments: impl Fn(i64) -> Vec<Flat>) {
    let plain = read::read_program(0, text).unwrap();
    let tidied = read::read_program(0, &tidy(text)).unwrap();
    for m in -1..9 {
        let run = |p| eval::run(p, LoopFuncId::from_u32(0), &arguments(m));
        assert_eq!(format!("{:?}", run(&plain)), format!("{:?}", run(&tidied)), "{m}: {text}");
    }
}

/// The same for loops of sums, also as targets take them, with numbers that fill vectors and blocks or do not; and what is printed reads
/// back.
pub fn sums_run_alike(text: &str, arguments: impl Fn(i64) -> Vec<Flat>) {
    let plain = read::read_program(0, text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let tidied = read::read_program(0, &tidy(text)).unwrap();
    let taken = [(true, 8), (false, 8), (false, 4)].map(|(masked, together)| {
        let vectors = Some(Vectors { masked, together, ..Vectors::EVERYTHING });
        opt::for_target(&tidied, &Target { vectors, ..Target::default() })
    });
    for program in [&tidied].into_iter().chain(&taken) {
        let printed = print::print_program(program);
        let again = read::read_program(0, &printed).unwrap_or_else(|e| panic!("{e}\n{printed}"));
        assert_eq!(print::print_program(&again), printed);
    }
    for m in (-1..28).chain([1024, 1031]) {
        let run = |p| format!("{:?}", eval::run(p, LoopFuncId::from_u32(0), &arguments(m)));
        let expected = run(&plain);
        for program in [&tidied].into_iter().chain(&taken) {
            assert_eq!(expected, run(program), "{m}: {}", print::print_program(program));
        }
    }
}
