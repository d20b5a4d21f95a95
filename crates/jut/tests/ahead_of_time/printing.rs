//! What programs print that are compiled ahead of time: to standard error, by the runtime.

use super::{directory, engines, run, write};
use jut::{BuildOptions, MathLibrary, Model, Request};

const TEXT: &str = "
def total[n](x: [n]f64) -> f64 = {
  print \"x =\", x, n, n > 2
  sum (v <- x) { print \"of\", v, \"its square\"; v * v }
}
";

const MAIN: &str = r#"
#include "total.h"
#include <stdio.h>
int main(void) {
  double x[3] = {1, -0.25, 1e300}, value, dx[3];
  jut_workspace *workspace = jut_workspace_new();
  int status = total_value_grad(3, x, &value, dx, workspace, NULL);
  printf("%d %g %g %g %g\n", status, value, dx[0], dx[1], dx[2]);
  jut_workspace_free(workspace);
  return 0;
}
"#;

#[test]
fn lines_go_to_standard_error() {
    let model = Model::from_named_text("total.jut", TEXT).expect("it checks");
    for engine in engines() {
        let at = directory(&format!("printing-{engine:?}"));
        let function = model.function("total").expect("it is there").engine(engine);
        let object = function.build(&[Request::ValueAndGradient], &BuildOptions::default());
        write(&object.expect("it builds"), &at, "total");
        std::fs::write(at.join("main.c"), MAIN).expect("writable");
        let args = ["-std=c99", "main.c", "total.o", "libjut_runtime.a", "-lm", "-o", "main"];
        run("cc", &args, &at);
        let printed = run("sh", &["-c", "./main 2> lines"], &at);
        assert_eq!(printed, "0 inf 2 -0.5 2e+300\n");
        let lines = std::fs::read_to_string(at.join("lines")).expect("readable");
        let expected = "x = [1.0, -0.25, 1e300] 3 true\nof 1.0 its square\nof -0.25 its square\n\
                        of 1e300 its square\n";
        assert_eq!(lines, expected);
    }
}

#[test]
fn the_library_of_the_system_prints_nothing() {
    let model = Model::from_named_text("total.jut", TEXT).expect("it checks");
    let options = BuildOptions { math: MathLibrary::System, ..BuildOptions::default() };
    for engine in engines() {
        let function = model.function("total").expect("it is there").engine(engine);
        let Err(error) = function.build(&[Request::Value], &options) else {
            panic!("there is no such function in C")
        };
        assert!(error.to_string().contains("no C library has"), "{error}");
    }
}
