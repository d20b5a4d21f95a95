//! Programs that no checker accepts: where something is missing, lowering says so and makes nothing up.

use crate::support::{func, load};
use jut_ir::{NVar, Rhs, Stmt};
use jut_loop::lower_plainly;

const TEXT: &str = "
def f[n](x: [n, 3]f64, b: bool) -> ([n]f64, f64) = {
  y = [1.0, 2.0, 3.0]
  r = matvec(x, y)
  s = if b { y[0] } else { y[1] }
  z = y[2]
  (r, s * z)
}";

/// What lowering says after a change to the first statement to which it applies.
fn refusal(change: impl Fn(&mut Stmt) -> bool) -> String {
    let mut program = load(TEXT);
    let id = func(&program, "f");
    assert!(lower_plainly(&program, id).is_ok(), "it is right as it is");
    let changed = program.funcs[id].body.stmts.iter_mut().any(change);
    assert!(changed, "there is such a statement");
    match lower_plainly(&program, id) {
        Ok(_) => panic!("something was made up"),
        Err(diagnostic) => format!("{} {}", diagnostic.code, diagnostic.message),
    }
}

/// The bound variables of a statement that computes such a thing go.
fn without_names(is: impl Fn(&Rhs) -> bool) -> impl Fn(&mut Stmt) -> bool {
    move |stmt| {
        let found = is(&stmt.rhs);
        if found {
            stmt.nl.clear();
        }
        found
    }
}

#[test]
fn what_is_missing_is_an_error_of_lowering() {
    type Change = Box<dyn Fn(&mut Stmt) -> bool>;
    let changes: [(&str, Change); 6] = [
        (
            "an array lacks a dimension",
            Box::new(|stmt| match &mut stmt.rhs {
                Rhs::Index(v, _) => {
                    stmt.rhs = Rhs::Size(*v, 7);
                    true
                }
                _ => false,
            }),
        ),
        (
            "a case without arms",
            Box::new(|stmt| match &mut stmt.rhs {
                Rhs::Case(case) => {
                    case.arms.clear();
                    true
                }
                _ => false,
            }),
        ),
        (
            "a primitive lacks an operand",
            Box::new(|stmt| match &mut stmt.rhs {
                Rhs::Structured(_, args, _) => args.pop().is_some(),
                _ => false,
            }),
        ),
        ("an array has no name", Box::new(without_names(|rhs| matches!(rhs, Rhs::ArrayLit(_))))),
        ("an array has no name", Box::new(without_names(|rhs| matches!(rhs, Rhs::Structured(..))))),
        (
            "a variable has no value",
            Box::new(|stmt| match &mut stmt.rhs {
                Rhs::Index(v, _) => {
                    *v = NVar::from_u32(v.as_u32() + 1000);
                    true
                }
                _ => false,
            }),
        ),
    ];
    for (expected, change) in changes {
        let message = refusal(change);
        assert!(
            message.starts_with("J999 ") && message.ends_with(expected),
            "{expected}: {message}"
        );
    }
}
