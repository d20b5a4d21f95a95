//! Sums in C: each field for itself, or an array for it, and the numbers of the constructors.

use super::{directory, engines, run, write};
use jut::{BuildOptions, MathLibrary, Model, Request};

const TEXT: &str = "
data Figure = Disc(r: f64) | Box(w: f64, h: f64) | Empty
def total[n](figures: [n]Figure, s: f64) -> (value: f64, grown: [n]Figure) = {
  value = s * sum (f <- figures) { case f { Disc(r) -> 3.0 * r * r; Box(w, h) -> w * h; Empty -> 0.0 } }
  grown = map (f <- figures) { case f { Disc(r) -> Box(r, s); Box(w, h) -> Disc(w + h); Empty -> Empty() } }
  (value, grown)
}
";

const MAIN: &str = r#"
#include "total.h"
#include <stdio.h>
static double memory[4096];
int main(void) {
  int64_t tag[4] = {1, 2, 0, 1}, grown[4];
  double r[4] = {0, 0, 2, 0}, w[4] = {2, 0, 0, 0.5}, h[4] = {3, 0, 0, 4};
  double value, gr[4], gw[4], gh[4], dr[4], dw[4], dh[4], ds;
  int status = total_value_grad(4, tag, r, w, h, 0.5, &value, grown, gr, gw, gh, dr, dw, dh, &ds,
                                memory, sizeof memory, NULL);
  printf("%d %g %g\n", status, value, ds);
  for (int i = 0; i < 4; i++)
    printf("%d %g %g %g | %g %g %g\n", (int)grown[i], gr[i], gw[i], gh[i], dr[i], dw[i], dh[i]);
  return 0;
}
"#;

#[test]
fn arrays_of_sums_are_arrays_of_their_fields() {
    for engine in engines() {
        let at = directory(&format!("sums-{engine:?}"));
        let model = Model::from_named_text("total.jut", TEXT).expect("it checks");
        let function = model.function("total").expect("it is there").of("value").expect("a number");
        let options = BuildOptions { math: MathLibrary::System, ..BuildOptions::default() };
        let object = function
            .engine(engine)
            .build(&[Request::ValueAndGradient], &options)
            .expect("it builds");
        let header = object.header();
        for part in ["figures_tag", "its constructors: 0 Disc, 1 Box, 2 Empty", "figures_Box_w"] {
            assert!(header.contains(part), "{part} is missing in\n{header}");
        }
        write(&object, &at, "total");
        std::fs::write(at.join("main.c"), MAIN).expect("writable");
        run("cc", &["-std=c99", "main.c", "total.o", "-lm", "-o", "main"], &at);
        let expected = "0 10 20\n\
            0 5 0 0 | 0 1.5 1\n2 0 0 0 | 0 0 0\n1 0 2 0.5 | 6 0 0\n0 4.5 0 0 | 0 2 0.25\n";
        assert_eq!(run("./main", &[], &at), expected, "{header}");
    }
}

/// Sums with sizes have the fields of all constructors, and each of these has its size.
const SHAPES: &str = "
data Shape[n] = Ball(c: [n]f64, r: f64) | Box(low: [n]f64, c: [n]f64, name: i64) | Nothing
def measure[n](s: Shape[n], x: [n]f64) -> f64 = case s {
  Ball(c, r) -> r * sum (i < n) { c[i] * x[i]^2 }
  Box(low, c, k) -> f64(k) * sum (i < n) { low[i] * c[i] * x[i] }
  Nothing -> 7.0 * x[0]
}
def all_of[m, n](all: [m]Shape[n], x: [n]f64) -> f64 = sum (k < m) { f64(k + 1) * measure(all[k], x) }
";

const SHAPES_MAIN: &str = r#"
#include "shapes.h"
#include <stdio.h>
static double memory[4096];
int main(void) {
  double x[2] = {1, 2}, value, dc[6], dr[3], dlow[6], dbox[6], dx[2];
  double c[2] = {0.5, 2}, zero[2] = {0, 0};
  int status = measure_value_grad(2, c, 1.5, zero, zero, 0, 0, x, &value, dc, dr, dlow, dbox, dx,
                                  NULL, 0, NULL);
  printf("%d %g | %g %g | %g | %g %g | %g %g\n", status, value, dc[0], dc[1], dr[0], dlow[0], dbox[1], dx[0], dx[1]);
  status = measure_value_grad(2, zero, 0, zero, zero, 0, 2, x, &value, dc, dr, dlow, dbox, dx, NULL, 0, NULL);
  printf("%d %g | %g %g\n", status, value, dx[0], dx[1]);
  double cs[6] = {0, 0, 0.5, 2, 0, 0}, rs[3] = {0, 1.5, 0}, lows[6] = {0.5, 1}, boxes[6] = {1, 2};
  int64_t names[3] = {3, 0, 0}, tags[3] = {1, 0, 2};
  status = all_of_value_grad(3, 2, cs, rs, lows, boxes, names, tags, x, &value, dc, dr, dlow, dbox, dx,
                             memory, sizeof memory, NULL);
  printf("%d %g | %g %g | %g | %g %g | %g %g\n", status, value, dc[2], dc[3], dr[1], dlow[0], dbox[1], dx[0], dx[1]);
  return 0;
}
"#;

#[test]
fn sums_with_sizes_have_the_fields_of_all_constructors() {
    for engine in engines() {
        let at = directory(&format!("shapes-{engine:?}"));
        let model = Model::from_named_text("shapes.jut", SHAPES).expect("it checks");
        let functions =
            ["measure", "all_of"].map(|name| model.function(name).expect("it is there"));
        let functions = functions.map(|function| function.engine(engine));
        let options = BuildOptions { math: MathLibrary::System, ..BuildOptions::default() };
        let asked = functions.each_ref().map(|f| (f, &[Request::ValueAndGradient][..]));
        let object = jut::build(&asked, &options).expect("it builds");
        let header = object.header();
        for tag in ["s_tag  argument: Shape[n]", "all_tag  argument: [m]Shape[n]"] {
            let said = format!("{tag}, its constructors: 0 Ball, 1 Box, 2 Nothing");
            assert!(header.contains(&said), "{said} is missing in\n{header}");
        }
        write(&object, &at, "shapes");
        std::fs::write(at.join("main.c"), SHAPES_MAIN).expect("writable");
        run("cc", &["-std=c99", "main.c", "shapes.o", "-lm", "-o", "main"], &at);
        let expected = "0 12.75 | 1.5 6 | 8.5 | 0 0 | 1.5 12\n0 7 | 7 0\n\
            0 60 | 3 12 | 17 | 3 6 | 25.5 30\n";
        assert_eq!(run("./main", &[], &at), expected, "{header}");
    }
}
