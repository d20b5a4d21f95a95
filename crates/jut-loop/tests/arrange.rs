//! Updates that are arranged for vectors keep their order where they may reach one cell.

use crate::support::tidied::sums_run_alike;
use jut_loop::signature::{Cells, Flat};

/// Each number is added to the cell at its place, and to that as far from the other end: in the middle they are one.
const MIRROR: &str = "
loop def f(n: i64, x: in f64[n], g: inout f64[n]) = {
  last = n - 1
  for ORDER (i in 0 .. n) {
    a = x[i]
    b = a * 0.3
    j = last - i
    c = g[FIRST]
    d = c + a
    g[FIRST] = d
    e = g[SECOND]
    u = e + b
    g[SECOND] = u
  }
}";

#[test]
fn cells_from_both_ends_of_an_array_meet_in_the_middle() {
    for order in ["up", "down"] {
        for (first, second) in [("i", "j"), ("j", "i")] {
            let text = MIRROR.replace("ORDER", order);
            let text = text.replace("FIRST", first).replace("SECOND", second);
            sums_run_alike(&text, |n| {
                let cells = |by: f64| (0..n.max(0)).map(|k| (1.0 + k as f64 * by).sin()).collect();
                let [x, g] = [0.7, 0.3].map(|by| Flat::Buffer(Cells::F64(cells(by))));
                vec![Flat::Scalar(jut_ir::Literal::I64(n)), x, g]
            });
        }
    }
}
