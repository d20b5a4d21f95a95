//! Names and the order of making variables do not matter.

use jut_ir::alpha::canonical_text;
use jut_ir::build::FunctionBuilder;
use jut_ir::{Block, FuncId, Loc, Program, ResultDecl, Rhs, Size, Span, Stmt, Type, prim};

/// `f(n, m, x: [n * m]f64)` under the given names, with variables made in the given order.
fn program(names: [&str; 4], backwards: bool) -> Program {
    let mut b = FunctionBuilder::default();
    let mut size = |k: usize| b.nvar(names[k], Type::I64, Span::NONE);
    let (n, m) = if backwards {
        let m = size(1);
        (size(0), m)
    } else {
        (size(0), size(1))
    };
    let ty = Type::array(Size::var(n) * Size::var(m), Type::F64);
    let x = b.nvar(names[2], ty, Span::NONE);
    let y = b.size_var(names[3], Size::var(n) + Size::var(m), Span::NONE);
    b.func.name = "f".into();
    b.func.params = vec![n, m, x];
    b.func.results = vec![ResultDecl { name: None, ty: Type::I64 }];
    b.func.body = Block {
        stmts: vec![Stmt {
            nl: vec![y],
            lin: vec![],
            rhs: Rhs::Prim(prim::IADD, vec![n.into(), m.into()]),
            annotated: false,
            loc: Loc::default(),
        }],
        nl: vec![y.into()],
        lin: vec![],
    };
    let mut program = Program::default();
    program.add_func(b.func);
    program
}

fn text(names: [&str; 4], backwards: bool) -> String {
    let program = program(names, backwards);
    canonical_text(&program, FuncId::from_u32(0))
}

#[test]
fn names_and_the_order_of_making_variables_do_not_matter() {
    let expected =
        "core def f(n0: i64, n1: i64, n2: [n0 * n1]f64) -> i64 = {\n  n3 = n0 + n1\n  n3\n}\n";
    assert_eq!(text(["n", "m", "x", "y"], false), expected);
    assert_eq!(text(["b", "a", "x_1", "k"], true), expected);
}

#[test]
fn what_is_not_a_name_does_matter() {
    let mut other = program(["n", "m", "x", "y"], false);
    let f = FuncId::from_u32(0);
    other.funcs[f].body.nl = vec![other.funcs[f].params[0].into()];
    assert_ne!(canonical_text(&other, f), text(["n", "m", "x", "y"], false));
}
