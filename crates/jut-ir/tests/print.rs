//! The printer writes the syntax of the language reference.

use crate::common::{power_lin, stmt};
use jut_ir::build::FunctionBuilder;
use jut_ir::print::{print_function, print_literal, print_program, print_size, print_type};
use jut_ir::*;

#[test]
fn a_residual_prints_as_in_the_language_reference() {
    let expected = "\
data power.tape = power.tape(n_1: i64, a_s: [n_1]f64)

/// The residual.
///
/// Second paragraph.
core def power.lin(x: f64, n: i64, tape: power.tape; x': f64) -> (; f64) = {
  n_1 = max(n, 0)
  power.tape(=n_1, a_s) = tape
  t_1' = rd dx = x' {
    z' = zero f64
    t_1' = scan up (i < n_1) carry (; a' = z') slice (a <- a_s) {
      x_1' = rd dx
      t_2' = x * a'
      t_3' = a * x_1'
      t' = t_2' + t_3'
      (; t')
    }
    (; t_1')
  }
  (; t_1')
}
";
    assert_eq!(print_program(&power_lin()), expected);
}

#[test]
fn floats_print_in_the_shortest_form_that_reads_back() {
    let text = |x| print_literal(Literal::F64(x));
    assert_eq!(text(2.0), "2.0");
    assert_eq!(text(-0.0), "-0.0");
    assert_eq!(text(0.1), "0.1");
    assert_eq!(text(1e300), "1e300");
    assert_eq!(text(5e-324), "5e-324");
    for x in [1.0 / 3.0, 1e16, 1e-5, 123_456_789.125, f64::MAX, f64::MIN_POSITIVE] {
        let text = text(x);
        assert!(text.contains(['.', 'e']), "{text} would read as an integer");
        assert_eq!(text.parse::<f64>().unwrap().to_bits(), x.to_bits());
    }
}

#[test]
fn sizes_print_in_alphabetical_order_with_the_constant_last_and_a_positive_term_first() {
    let mut b = FunctionBuilder::default();
    let n = Size::var(b.nvar("n", Type::I64, Span::NONE));
    let m = Size::var(b.nvar("m", Type::I64, Span::NONE));
    let c = Size::constant;
    let text = |size: Size| print_size(&b.func, &size);
    assert_eq!(text(n.clone() - c(1)), "n - 1");
    assert_eq!(text(c(3) - n.clone()), "3 - n");
    assert_eq!(text(m.clone() - n.clone()), "m - n");
    assert_eq!(text(-n.clone()), "-n");
    assert_eq!(text(c(2) * n.clone() * m.clone() + c(3)), "2 * m * n + 3");
    assert_eq!(text(c(0)), "0");
    let matrix = Type::array(n.clone() + c(1), Type::array(m, Type::Tuple(vec![Type::F64])));
    assert_eq!(print_type(&Program::default(), &b.func, &matrix), "[n + 1, m]#(f64)");
}

#[test]
fn sections_that_are_empty_at_the_end_are_left_out() {
    let mut program = Program::default();
    let mut b = FunctionBuilder::default();
    let ty = Type::array(Size::constant(3), Type::array(Size::constant(2), Type::F64));
    let dx = b.cap("dx", Mode::Wr, false, ty, Span::NONE);
    let x = b.lvar("x", Type::F64, Span::NONE);
    let [i, j] = [0, 1].map(|k| Atom::Lit(Literal::I64(k)));
    let path = vec![
        Step::Index { index: i, proved: false },
        Step::Index { index: j, proved: true },
        Step::Field(1),
        Step::Slice { lo: i, len: j, proved: false },
    ];
    b.func.name = "f.linT".into();
    b.func.lin_params = vec![x];
    b.func.cap_params = vec![dx];
    let place = Place { root: dx, path };
    b.func.body.stmts = vec![stmt(vec![], vec![], Rhs::Inc(place, Operand::L(x)))];
    let f = program.add_func(b.func);
    assert_eq!(
        print_function(&program, f),
        "core def f.linT(; x': f64; wr dx: [3, 2]f64) -> () = {\n  dx[0, !1].1[0 ..+ 1] += x'\n}\n"
    );
}
