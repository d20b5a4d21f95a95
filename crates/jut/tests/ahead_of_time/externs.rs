//! Functions of other languages in objects: C functions that the linker finds, with the bits of closures in memory.

use super::{directory, engines, run, write};
use jut::{BuildOptions, Model, Request, Value};

const PROGRAM: &str = "
/// Rotated by some places, each times a weight.
extern def turn.by(n: i64, by: [1]i64, w: [n]f64; x': [n]f64) -> (; [n]f64) transpose turn.back derivative by_weights
extern def turn.back(n: i64, by: [1]i64, w: [n]f64; y': [n]f64) -> (; [n]f64) transpose turn.by derivative back_weights
def by_weights(n: i64, by: [1]i64, w: [n]f64, x: [n]f64, dw: [n]f64) -> [n]f64 = build (i < n) {
  dw[i] * x[(i + by[0]) % n]
}
def back_weights(n: i64, by: [1]i64, w: [n]f64, y: [n]f64, dw: [n]f64) -> [n]f64 = acc x: [n]f64 {
  for (i < n) { x[(i + by[0]) % n] += dw[i] * y[i] }
}
def f[n](by: i64, w: [n]f64, x: [n]f64) -> f64 = sum (y <- turn.by(n, [by], w, sin(x))) { y^2 }
";

const C: &str = "
#include \"object.h\"
#include <stdio.h>
#include <string.h>
void turn_by(double *results, const double *floats, const int64_t *integers, double *failed,
             int64_t result_count, int64_t float_count, int64_t integer_count, int64_t number) {
  int64_t n = integers[0], by = integers[1];
  if (by < 0 || result_count != n || float_count != 2 * n || integer_count != 2) { *failed = 1.0; return; }
  (void)number;
  for (int64_t i = 0; i < n; i++) results[i] = floats[i] * floats[n + (i + by) % n];
}
void turn_back(double *results, const double *floats, const int64_t *integers, double *failed,
               int64_t result_count, int64_t float_count, int64_t integer_count, int64_t number) {
  int64_t n = integers[0], by = integers[1];
  (void)failed; (void)result_count; (void)float_count; (void)integer_count; (void)number;
  for (int64_t i = 0; i < n; i++) results[(i + by) % n] += floats[i] * floats[n + i];
}
int main(void) {
  double w[3] = {0.5, -1.25, 2.0}, x[3] = {1.0, 0.3, -0.7}, r[7];
  jut_workspace *workspace = jut_workspace_new();
  jut_error error;
  if (f_value_grad(3, 1, w, x, r, r + 1, r + 4, workspace, &error)) { puts(error.message); return 1; }
  for (int i = 0; i < 7; i++) { uint64_t bits; memcpy(&bits, r + i, 8); printf(\"%016llx\\n\", (unsigned long long)bits); }
  int status = f_value_grad(3, -1, w, x, r, r + 1, r + 4, workspace, &error);
  printf(\"%d %s\\n\", status == JUT_ERROR_FOREIGN, error.message);
  jut_workspace_free(workspace);
  return 0;
}
";

#[test]
fn objects_call_what_they_are_linked_with() {
    let model = Model::from_text(PROGRAM).unwrap_or_else(|e| panic!("{e}"));
    let given = model
        .clone()
        .with_extern("turn.by", |given, results| {
            let (by, w, x) = (given.integers(1)[0] as usize, given.floats(2), given.floats(3));
            (0..x.len()).for_each(|i| results[0][i] = w[i] * x[(i + by) % x.len()]);
            Ok(())
        })
        .and_then(|model| {
            model.with_extern("turn.back", |given, results| {
                let (by, w, y) = (given.integers(1)[0] as usize, given.floats(2), given.floats(3));
                (0..y.len()).for_each(|i| results[0][(i + by) % y.len()] += w[i] * y[i]);
                Ok(())
            })
        })
        .expect("both are declared");
    let (w, x) = ([0.5, -1.25, 2.0], [1.0, 0.3, -0.7]);
    let gradient = given.function("f").expect("there").value_and_gradient().expect("it compiles");
    let expected = gradient.call(&[1.into(), (&w).into(), (&x).into()]).expect("it runs");
    let expected: Vec<f64> = expected.iter().flat_map(Value::floats).collect();
    for engine in engines() {
        // No function is given: the linker finds them.
        let function = model.function("f").expect("there").engine(engine);
        let object = function.build(&[Request::ValueAndGradient], &BuildOptions::default());
        let object = object.unwrap_or_else(|e| panic!("{engine:?}: {e}"));
        let at = directory(&format!("externs {engine:?}"));
        write(&object, &at, "object");
        let header = std::fs::read_to_string(at.join("object.h")).expect("it was written");
        assert!(header.contains("void turn_by(double *results, const double *floats,"), "{header}");
        assert!(header.contains("void turn_back("), "{header}");
        std::fs::write(at.join("main.c"), C).expect("writable");
        run(
            "cc",
            &["-std=c99", "-Wall", "main.c", "object.o", "libjut_runtime.a", "-lm", "-o", "main"],
            &at,
        );
        let printed = run("./main", &[], &at);
        let mut lines: Vec<&str> = printed.lines().collect();
        let failed = lines.pop().expect("a last line");
        assert!(failed.starts_with("1 ") && failed.contains("R09"), "{engine:?}: {failed}");
        let bits = lines.iter().map(|line| u64::from_str_radix(line, 16).expect("bits"));
        assert_eq!(bits.map(f64::from_bits).collect::<Vec<f64>>(), expected, "{engine:?}");
    }
}

#[test]
fn names_that_c_has_for_other_things_are_refused() {
    for name in ["double", "f_value"] {
        let text = format!(
            "extern def {name}(; x': f64) -> (; f64) transpose {name}\ndef f(x: f64) -> f64 = {name}(x)"
        );
        let model = Model::from_text(&text).unwrap_or_else(|e| panic!("{e}"));
        let function = model.function("f").expect("there");
        let built = function.build(&[Request::Value], &BuildOptions::default());
        let error = built.expect_err("it is refused").to_string();
        assert!(error.contains(&format!("`{name}` is")), "{error}");
    }
}
