//! Functions in the text form, tidied up.

use jut_loop::form::LoopFuncId;
use jut_loop::signature::Flat;
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
