//! What calls from outside enter: one function with the last one of the program, if that has no loops.

use crate::support::*;
use jut_ir::prim;
use jut_loop::form::*;

#[test]
fn the_entry_is_around_a_function_without_loops_and_no_other() {
    let mut w = Writer::new("f");
    let x = w.input(Kind::F64);
    let square = w.prim(prim::MUL, &[x.into(), x.into()]);
    let plain = program(w.finish(&[square.into()]));

    let mut w = Writer::new("f");
    let n = w.input(Kind::I64);
    let counted = w.for_(Order::Up, (i(0), n.into()), &[(Kind::I64, i(1))], |w, _, carry| {
        vec![w.prim(prim::IADD, &[carry[0].into(), carry[0].into()]).into()]
    });
    let loops = program(w.finish(&[counted[0].into()]));

    let has_entry = |text: String| text.contains("; entry\n");
    assert!(!has_entry(jut_cranelift::assembly(&plain).unwrap()));
    assert!(has_entry(jut_cranelift::assembly(&loops).unwrap()));
    // Before it is compiled each is a function of its own.
    assert!(has_entry(jut_cranelift::clif(&plain).unwrap()));
}
