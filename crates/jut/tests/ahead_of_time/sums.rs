//! Arrays of sums in C: one array for each field, and one for the numbers of the constructors.

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
