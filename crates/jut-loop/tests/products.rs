//! Where it shows that a product of derivatives is NaN: never nowhere.

use jut_loop::analysis::shown_by;
use jut_loop::form::LoopFuncId;
use jut_loop::read;

/// The names of what is looked at in the body of a function.
fn shown(body: &str) -> Vec<String> {
    let text = format!(
        "
loop def f(a: f64, b: f64, k: i64, c: bool, out: out f64[4]) = {{
{body}
  out[0] = a
}}"
    );
    let program =
        read::read_program(0, &text).unwrap_or_else(|e| panic!("{e} {:?}\n{text}", e.span));
    let function = &program.funcs[LoopFuncId::from_u32(0)];
    let shown = shown_by(&function.body.stmts);
    shown.into_iter().map(|v| function.values[v].name.to_string()).collect()
}

#[test]
fn a_product_shows_in_what_sums_and_products_make_of_it() {
    let chain = "
  p = times(a, b)
  q = times(b, b)
  r = a + p
  s = r - q
  t = -s
  u = t * a
  v = a / u";
    assert_eq!(shown(chain), ["v"]);
    // Two ends of the same product, and one that nothing reads.
    let ends = "
  p = times(a, b)
  q = p + a
  r = p * b
  s = times(a, a)";
    assert_eq!(shown(ends), ["q", "r", "s"]);
}

#[test]
fn a_product_does_not_show_where_something_may_hide_it() {
    for hides in ["q = select(c, p, a)", "q = exp(p)", "q = max(p, a)", "q = p < a", "q = sign(p)"]
    {
        let body = format!("  p = times(a, b)\n  {hides}");
        assert_eq!(shown(&body), ["p"], "{hides}");
    }
    // The power 0 of a NaN is 1.
    assert_eq!(shown("  p = times(a, b)\n  q = pow(p, a)\n  r = q + 1.0"), ["p"]);
}

#[test]
fn what_no_product_is_in_is_not_looked_at() {
    assert_eq!(shown("  p = a * b\n  q = p + a"), [""; 0]);
    assert_eq!(shown("  p = a * b\n  q = times(p, p)\n  r = q + p"), ["r"]);
}
