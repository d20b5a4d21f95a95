//! The worked examples of the language: every stage reads, checks, prints and reads back, and is
//! what elaboration and the passes make of the source, up to names.
//!
//! `worked/NAME.jut` is a source, `worked/NAME.stages.jut` what becomes of it: the core
//! definitions, `f.jvp`, the tape, `f.nonlin`, `f.lin`, `f.linT`. Stages that are not interesting
//! are left out.

use jut_ad::forward::forward;
use jut_ad::transpose::transpose;
use jut_ad::unzip::unzip;
use jut_ad::{Derivatives, Mask, Policy};
use jut_ir::alpha::{canonical_data_text, canonical_text};
use jut_ir::check::{check_forward_domain, check_linear_b, check_program, check_transpose_domain};
use jut_ir::print::print_program;
use jut_ir::{Diagnostic, FuncId, Program};
use std::path::Path;

fn read(file: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("worked").join(file);
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

fn messages(errors: &[Diagnostic], text: &str) -> String {
    let message = |e: &Diagnostic| format!("{e}\n  at: {}", snippet(text, e));
    errors.iter().map(message).collect::<Vec<_>>().join("\n")
}

fn snippet<'a>(text: &'a str, e: &Diagnostic) -> &'a str {
    text.get(e.span.start as usize..e.span.end as usize).unwrap_or("").lines().next().unwrap_or("")
}

fn load(text: &str) -> Program {
    let loaded = jut_text::load(text, 0);
    loaded.program.unwrap_or_else(|| panic!("{}", messages(&loaded.diagnostics, text)))
}

fn stages_are_well_formed(name: &str) {
    let program = load(&read(&format!("{name}.stages.jut")));
    let printed = print_program(&program);
    assert_eq!(print_program(&load(&printed)), printed, "{name} prints the same again");
    for (func, data) in program.funcs.iter() {
        let last = data.name.rsplit('.').next().unwrap_or("");
        match last {
            "jvp" => {}
            "lin" | "linT" => assert_eq!(check_transpose_domain(&program, func), Ok(())),
            _ => assert_eq!(check_forward_domain(&program, func), Ok(())),
        }
        if last != "jvp" {
            assert_eq!(check_linear_b(&program, func), Ok(()), "{}", data.name);
        }
    }
}

/// All stages of all definitions of a source, checked.
fn derive(source: &str, policy: Policy) -> Program {
    let program = load(source);
    let functions: Vec<FuncId> = program.funcs.keys().collect();
    let mut derivatives = Derivatives::new(program);
    for func in functions {
        let mask = Mask::full(&derivatives.program, func);
        let jvp = forward(&mut derivatives, func, &mask).unwrap_or_else(|e| panic!("J: {e}"));
        let parts = unzip(&mut derivatives, jvp, policy).unwrap_or_else(|e| panic!("U: {e}"));
        transpose(&mut derivatives, parts.lin).unwrap_or_else(|e| panic!("T: {e}"));
    }
    let program = derivatives.program;
    check_program(&program)
        .unwrap_or_else(|e| panic!("{}\n{}", messages(&e, ""), print_program(&program)));
    program
}

fn passes_give_the_stages(name: &str) {
    // As they are printed and read: marks of passes become checks.
    let derived = derive(&read(&format!("{name}.jut")), Policy::Default);
    let derived = load(&print_program(&derived));
    let stages = load(&read(&format!("{name}.stages.jut")));
    for (expected, data) in stages.funcs.iter() {
        let Some(found) = derived.find_func(&data.name) else {
            panic!("`{}` is not derived:\n{}", data.name, print_program(&derived));
        };
        assert_eq!(
            canonical_text(&derived, found),
            canonical_text(&stages, expected),
            "`{}` up to names; derived (left):\n{}",
            data.name,
            print_program(&derived)
        );
    }
    for (expected, data) in stages.datas.iter() {
        let Some(found) = derived.find_data(&data.name) else {
            panic!("`{}` is not derived:\n{}", data.name, print_program(&derived));
        };
        assert_eq!(canonical_data_text(&derived, found), canonical_data_text(&stages, expected));
    }
}

/// What the passes make of any program is well-typed, under every policy, and the parts are in the
/// domains of the passes that follow.
fn stages_check(source: &str) {
    for policy in [Policy::Default, Policy::StoreAll] {
        let program = derive(source, policy);
        for (func, data) in program.funcs.iter() {
            let outcome = match data.name.rsplit('.').next() {
                Some("nonlin") => check_forward_domain(&program, func),
                Some("lin" | "linT") => check_transpose_domain(&program, func),
                _ => Ok(()),
            };
            assert_eq!(outcome, Ok(()), "{}", data.name);
        }
        let again = print_program(&load(&print_program(&program)));
        assert_eq!(print_program(&load(&again)), again);
    }
}

#[test]
fn every_stage_of_the_design_programs_checks_and_prints_the_same_again() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("programs/design");
    let mut files: Vec<_> =
        std::fs::read_dir(dir).expect("programs").map(|f| f.unwrap().path()).collect();
    files.sort();
    assert!(files.len() > 10);
    for file in files {
        println!("{}", file.display());
        stages_check(&std::fs::read_to_string(&file).unwrap());
    }
}

macro_rules! examples {
    ($($name:ident)*) => { $(mod $name {
        #[test]
        fn stages_read_check_and_print_the_same_again() {
            super::stages_are_well_formed(stringify!($name));
        }

        #[test]
        fn the_passes_give_these_stages_up_to_names() {
            super::passes_give_the_stages(stringify!($name));
        }

        #[test]
        fn every_stage_checks_under_every_policy() {
            super::stages_check(&super::read(concat!(stringify!($name), ".jut")));
        }
    })* };
}

examples! { sine power neighbours triangle branch rnn half rows polar choose nested }
