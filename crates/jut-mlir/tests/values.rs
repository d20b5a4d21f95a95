//! Values that are easily written wrong keep their bits on the way through MLIR's text form, and
//! names that MLIR could not read are made readable.
#![cfg(feature = "mlir")]

use jut_loop::form::LoopProgram;
use jut_loop::read::read_program;
use jut_runtime::Workspace;

fn words(program: &LoopProgram, args: &[u64], results: usize) -> Vec<u64> {
    let compiled = jut_mlir::BACKEND.compile(program).expect("compiled");
    let mut words = vec![0; results];
    // SAFETY: the programs here take scalars only.
    unsafe { compiled.call_words(&mut Workspace::new(), args, &mut words) }.expect("runs");
    words
}

#[test]
fn literals_keep_their_bits() {
    let floats = [5e-324, -0.0, 0.0, 1e300, f64::MAX, f64::MIN_POSITIVE, 0.1, 1e22, 1e-7];
    let ints = [i64::MIN, i64::MAX, -1, 0, 1];
    let mut text = "loop def f() -> (".to_owned();
    text.push_str(&[&["f64"; 9][..], &["i64"; 5][..]].concat().join(", "));
    text.push_str(") = {\n  (");
    let shown = floats.iter().map(|x| format!("{x:?}")).chain(ints.iter().map(i64::to_string));
    text.push_str(&shown.collect::<Vec<_>>().join(", "));
    text.push_str(")\n}\n");
    let program = read_program(0, &text).expect("a program");
    let expected: Vec<u64> =
        floats.iter().map(|x| x.to_bits()).chain(ints.iter().map(|k| *k as u64)).collect();
    assert_eq!(words(&program, &[], 14), expected);
}

#[test]
fn infinite_results_and_nan_are_themselves() {
    let text = "loop def f(x: f64) -> (f64, f64, f64) = {\n  a = inf()\n  b = -a\n  c = nan()\n  \
                (a, b, c)\n}\n";
    let program = read_program(0, text).expect("a program");
    let words = words(&program, &[0], 3);
    assert_eq!(words[..2], [f64::INFINITY.to_bits(), f64::NEG_INFINITY.to_bits()]);
    assert!(f64::from_bits(words[2]).is_nan());
}

#[test]
fn names_of_the_runtime_and_of_mlir_can_be_used() {
    let text = "loop def jut_sin(c0: f64) -> (f64) = {\n  f1 = c0 + 1.0\n  (f1)\n}\n\
                loop def entry(workspace: f64, c1: i64) -> (f64, i64) = {\n  \
                (true_) = call jut_sin(workspace)\n  count = c1 + 1\n  s = sin(true_)\n  \
                (s, count)\n}\n";
    let program = read_program(0, text).expect("a program");
    let words = words(&program, &[1.0f64.to_bits(), 4], 2);
    assert_eq!(words, [jut_runtime::math::sin(2.0).to_bits(), 5]);
}
