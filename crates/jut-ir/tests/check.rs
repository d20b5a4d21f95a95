//! What the checker finds in functions that no text can express: the tables of a function against
//! its binders. (Ill-typed texts are tested where texts are parsed.)

use crate::common::{power_lin, stmt};
use jut_ir::build::FunctionBuilder;
use jut_ir::check::{
    check_forward_domain, check_function, check_linear_b, check_program, check_transpose_domain,
};
use jut_ir::*;

fn codes(program: &Program) -> Vec<&'static str> {
    match check_program(program) {
        Ok(()) => Vec::new(),
        Err(errors) => errors.iter().map(|e| e.code).collect(),
    }
}

fn residual() -> (Program, FuncId) {
    let program = power_lin();
    let func = program.find_func("power.lin").unwrap();
    (program, func)
}

#[test]
fn a_residual_is_well_typed_and_in_the_domain_of_transposition() {
    let (program, func) = residual();
    assert_eq!(check_program(&program), Ok(()));
    assert_eq!(check_function(&program, func), Ok(()));
    assert_eq!(check_linear_b(&program, func), Ok(()));
    assert_eq!(check_transpose_domain(&program, func), Ok(()));
    assert_eq!(check_forward_domain(&program, func).unwrap_err()[0].code, "J801");
}

#[test]
fn a_recorded_type_must_be_the_derived_one() {
    let (mut program, func) = residual();
    let a_s = program.funcs[func].nvars.keys().nth(4).unwrap();
    assert_eq!(program.funcs[func].nvars[a_s].name, "a_s");
    program.funcs[func].nvars[a_s].ty = Type::array(Size::constant(3), Type::F64);
    assert!(codes(&program).contains(&"J214"));
}

#[test]
fn a_recorded_definition_must_be_the_derived_one() {
    let (mut program, func) = residual();
    let f = &mut program.funcs[func];
    let n_1 = f.nvars.keys().nth(3).unwrap();
    f.nvars[n_1].def = Some(Size::var(f.params[1]));
    assert!(codes(&program).contains(&"J214"), "max(n, 0) is opaque");
}

#[test]
fn every_variable_has_one_binder() {
    let (mut program, func) = residual();
    let body = &mut program.funcs[func].body;
    let again = body.stmts[0].clone();
    body.stmts.push(again);
    assert_eq!(codes(&program), ["J011"]);
}

#[test]
fn operands_are_finite() {
    let (mut program, func) = residual();
    let f = &mut program.funcs[func];
    let v =
        f.nvars.push(VarData { name: "huge".into(), ty: Type::F64, def: None, span: Span::NONE });
    let infinite = Atom::Lit(Literal::F64(f64::INFINITY));
    f.body.stmts.push(stmt(vec![v], vec![], Rhs::Atom(infinite)));
    assert_eq!(codes(&program), ["J601"]);
}

#[test]
fn a_call_needs_no_earlier_definition() {
    let (mut program, func) = residual();
    let mut b = FunctionBuilder::default();
    let y = b.lvar("y", Type::F64, Span::NONE);
    b.func.name = "later".into();
    b.func.lin_params = vec![y];
    b.func.lin_results = vec![LinResultDecl { name: None, ty: Type::F64 }];
    b.func.body.lin = vec![y];
    let later = program.add_func(b.func);
    let f = &mut program.funcs[func];
    let x = f.lin_params[0];
    let z = f.lvars.push(LinVarData { name: "z'".into(), ..f.lvars[x].clone() });
    for callee in [later, func] {
        let f = &mut program.funcs[func];
        let args =
            if callee == func { f.params.iter().map(|p| Atom::Var(*p)).collect() } else { vec![] };
        let call = Call { func: callee, args, lin_args: vec![x], places: vec![] };
        let stmts = vec![stmt(vec![], vec![z], Rhs::Call(Box::new(call)))];
        f.body = Block { stmts, nl: vec![], lin: vec![z] };
        assert_eq!(codes(&program), [""; 0], "one further down, and the definition itself");
    }
}

#[test]
fn long_straight_lines_and_growing_sizes_are_checked() {
    let mut b = FunctionBuilder::default();
    let mut x = b.lvar("x", Type::F64, Span::NONE);
    let mut n = b.nvar("n", Type::I64, Span::NONE);
    b.func.name = "long".into();
    b.func.params = vec![n];
    b.func.lin_params = vec![x];
    let mut size = Some(Size::var(n));
    for _ in 0..20_000 {
        let half = Atom::Lit(Literal::F64(0.5));
        let y = b.lvar("x", Type::F64, Span::NONE);
        b.func.body.stmts.push(stmt(vec![], vec![y], Rhs::LScale(half, x)));
        x = y;
        // n^2, n^4, n^8, and then opaque names again.
        size = size.and_then(|s| s.checked_mul(&s));
        let square = b.nvar("n", Type::I64, Span::NONE);
        b.func.nvars[square].def = size.clone();
        let args = vec![n.into(), n.into()];
        b.func.body.stmts.push(stmt(vec![square], vec![], Rhs::Prim(prim::IMUL, args)));
        size = Some(size.unwrap_or(Size::var(square)));
        n = square;
    }
    b.func.body.lin = vec![x];
    b.func.lin_results = vec![LinResultDecl { name: None, ty: Type::F64 }];
    let mut program = Program::default();
    program.add_func(b.func);
    assert_eq!(check_program(&program), Ok(()));
}
