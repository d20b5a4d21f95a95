//! Shifts by what is written down have a translation of their own: they are those by any number.

use jut_ir::Literal;
use jut_ir::prim;
use jut_loop::read;
use jut_native::Arg;
use jut_runtime::Workspace;
use jut_tests::engines::backends;

#[test]
fn shifts_by_what_is_written_down_are_those_by_any_number() {
    for by in [i64::MIN, -1, 0, 1, 4, 31, 62, 63, 64, 65, i64::MAX] {
        for (name, op) in [("shl", prim::SHL), ("shr", prim::SHR)] {
            let text =
                format!("loop def f(x: i64) -> (i64) = {{\n  y = {name}(x, {by})\n  (y)\n}}");
            let program = read::read_program(0, &text).expect("a program");
            for (engine, backend) in backends() {
                let compiled = backend.compile(&program).expect("code");
                for x in [0, 1, -1, 12345, -98765, i64::MIN, i64::MAX] {
                    let mut results = [0];
                    let args = &mut [Arg::I64(x)];
                    // SAFETY: there are no buffers.
                    let done = unsafe { compiled.call(&mut Workspace::new(), args, &mut results) };
                    done.expect("it runs");
                    let want = (op.row().eval)(&[Literal::I64(x), Literal::I64(by)]);
                    let got = Literal::I64(results[0].cast_signed());
                    assert_eq!(got, want, "{engine}: {name}({x}, {by})");
                }
            }
        }
    }
}
