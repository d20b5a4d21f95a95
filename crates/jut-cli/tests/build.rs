//! `jut build`: what is written, and that compilers, pkg-config and CMake can use it.

use crate::support::{directory, jut};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Whether a program can be started; says so if not.
fn present(program: &str) -> bool {
    let there = Command::new(program).arg("--version").output().is_ok_and(|o| o.status.success());
    if !there {
        // Not captured: whoever runs the tests is to see it.
        let _ = writeln!(std::io::stderr(), "NOT RUN: there is no {program} on this machine");
    }
    there
}

/// What a program prints; it must succeed.
fn run(program: &str, args: &[&str], at: &Path) -> String {
    let output = Command::new(program).args(args).current_dir(at).output();
    let output = output.unwrap_or_else(|e| panic!("{program}: {e}"));
    let out = String::from_utf8_lossy(&output.stdout).into_owned();
    let err = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program} {args:?}: {}\n{out}{err}", output.status);
    out
}

#[test]
fn build_writes_an_object_a_header_and_the_runtime() {
    let at = directory("build objects");
    let path = |name: &str| at.join(name).display().to_string();
    let object = path("loss.o");
    let program = ["build", "logistic.jut", "loss", "--wrt", "w,b"];
    let with = |last: &[&str]| jut(&[&program, last].concat());

    let names = ["-o", &object, "--derivative", "value,value_grad"];
    let (code, out, err) = with(&[&names[..], &["--archive", &path("libloss.a")]].concat());
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    for name in ["loss.o", "loss.h", "libjut_runtime.a", "libloss.a"] {
        assert!(out.contains(&path(name)), "{out}");
        assert!(at.join(name).metadata().is_ok_and(|m| m.len() > 0), "{name}");
    }
    let header = std::fs::read_to_string(at.join("loss.h")).expect("it was written");
    assert!(header.contains("int loss_value("), "{header}");
    assert!(
        header.contains(
            "int loss_value_grad(int64_t n, int64_t d, const double *w, double b, const double *x, \
             const double *y, double l2, double *value, double *grad_w, double *grad_b, \
             jut_workspace *workspace, jut_error *error);"
        ),
        "{header}"
    );

    // For another machine there is no runtime here: the object is written, and that is said.
    let aarch64 = "aarch64-unknown-linux-gnu";
    let (code, out, _) = with(&["-o", &path("arm.o"), "--target", aarch64, "--math", "libm"]);
    assert_eq!((code, out.contains("libjut_runtime.a")), (0, false), "{out}");
    let (code, _, err) = with(&["-o", &path("no.o"), "--target", "pdp11"]);
    assert_eq!(code, 2, "{err}");
    assert!(err.contains("pdp11"), "{err}");
}

/// A program that uses the library, and what it prints.
const MAIN: &str = "#include \"rosenbrock.h\"
#include <stdio.h>
int main(void) {
  const double x[3] = {1.0, 2.0, 3.0}, tangent[3] = {1.0, 0.0, 0.0};
  double value, grad[3], hvp[3];
  int status = rosenbrock_value_grad(3, x, &value, grad, NULL, NULL);
  if (status != JUT_OK) {
    printf(\"%s\\n\", jut_status_message(status));
    return 1;
  }
  if (rosenbrock_hvp(3, x, tangent, hvp, NULL, NULL) != JUT_OK) return 1;
  printf(\"%g %g %g %g %g %g %g\\n\", value, grad[0], grad[1], grad[2], hvp[0], hvp[1], hvp[2]);
  return 0;
}
";
const PRINTED: &str = "201 -400 1002 -200 402 -400 0\n";

fn package(name: &str, files: &[&str]) -> PathBuf {
    let at = directory(name);
    let mut args: Vec<String> =
        ["build", "rosenbrock.jut", "--derivative", "value_grad,hvp"].map(str::to_owned).into();
    for file in files {
        let option = match *file {
            "rosenbrock.pc" => "--pkg-config",
            "rosenbrock-config.cmake" => "--cmake",
            file if file.ends_with(".a") => "--static",
            _ => "--shared",
        };
        args.extend([option.to_owned(), at.join(file).display().to_string()]);
    }
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let (code, out, err) = jut(&args);
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    for file in files.iter().chain(&["rosenbrock.h"]) {
        assert!(out.contains(&at.join(file).display().to_string()), "{out}");
    }
    std::fs::write(at.join("main.c"), MAIN).expect("writable");
    at
}

#[test]
fn pkg_config_finds_static_and_shared_libraries_also_when_they_have_been_moved() {
    if !present("pkg-config") {
        return;
    }
    for library in ["librosenbrock.a", "librosenbrock.so"] {
        let from = package(&format!("build pkg-config {library}"), &[library, "rosenbrock.pc"]);
        let at = directory(&format!("build moved {library}"));
        std::fs::remove_dir(&at).expect("it is empty");
        std::fs::rename(from, &at).expect("it moves");
        let flags = run("pkg-config", &["--cflags", "--libs", "./rosenbrock.pc"], &at);
        // A shell takes what pkg-config prints.
        let rpath = "-Wl,-rpath,'$ORIGIN'";
        let line = format!("cc -std=c99 main.c {} {rpath} -o main", flags.trim());
        run("sh", &["-c", &line], &at);
        assert_eq!(run("./main", &[], &at), PRINTED, "{flags}");
    }
}

#[test]
fn a_cmake_project_finds_the_package_builds_and_runs() {
    if !present("cmake") {
        return;
    }
    for library in ["librosenbrock.a", "librosenbrock.so"] {
        let at = package(&format!("build_cmake_{library}"), &[library, "rosenbrock-config.cmake"]);
        let project = "cmake_minimum_required(VERSION 3.10)\nproject(user C)\n\
            find_package(rosenbrock CONFIG REQUIRED)\nadd_executable(main main.c)\n\
            target_link_libraries(main rosenbrock::rosenbrock)\n";
        std::fs::write(at.join("CMakeLists.txt"), project).expect("writable");
        let found = format!("-Drosenbrock_DIR={}", at.display());
        run("cmake", &["-S", ".", "-B", "out", &found], &at);
        run("cmake", &["--build", "out"], &at);
        assert_eq!(run("out/main", &[], &at), PRINTED);
    }
}

#[test]
fn what_does_not_fit_together_is_said() {
    let at = directory("build refused");
    let path = |name: &str| at.join(name).display().to_string();
    let refused = |args: &[&str]| {
        let (code, out, err) = jut(&[&["build", "rosenbrock.jut"], args].concat());
        assert_ne!(code, 0, "{args:?}: {out}");
        err
    };
    let err = refused(&["--cmake", &path("rosenbrock-config.cmake")]);
    assert!(err.contains("--static") && err.contains("--shared"), "{err}");
    let err = refused(&["--static", &path("librosenbrock.a"), "--cmake", &path("my.cmake")]);
    assert!(err.contains("NAME-config.cmake"), "{err}");
    let err = refused(&["--shared", &path("librosenbrock.so"), "--linker", "no such compiler"]);
    assert!(err.contains("no such compiler") && err.contains("--linker"), "{err}");
    let mac = ["--shared", &path("librosenbrock.dylib"), "--target", "aarch64-apple-darwin"];
    let err = refused(&[&mac[..], &["--math", "libm"]].concat());
    assert!(err.contains("no usual cross compiler"), "{err}");
}

#[test]
fn several_functions_are_one_object_and_one_header() {
    let at = directory("build several");
    let text =
        "def f(x: f64) -> f64 = x * x\ndef g(x: f64) -> f64 = sin(x)\ndef h(x: f64) -> f64 = x\n";
    let program = crate::support::write(&at, "curves.jut", text);
    let object = at.join("curves.o").display().to_string();
    let with = |more: &[&str]| {
        let fixed = ["build", &program, "f", "g", "--derivative", "value,grad", "-o", &object];
        jut(&[&fixed[..], more].concat())
    };
    let header = || std::fs::read_to_string(at.join("curves.h")).expect("it was written");
    assert_eq!(with(&["--prefix", "curves"]).0, 0);
    for name in ["curves_f_value", "curves_f_grad", "curves_g_value", "curves_g_grad"] {
        assert!(header().contains(&format!("int {name}(")), "{}", header());
    }
    assert_eq!(header().matches("#ifndef JUT_CURVES_H").count(), 1, "{}", header());
    assert!(!header().contains("_h_"));
    let (code, _, err) = with(&["g"]);
    assert!(code == 2 && err.contains("`g_value` is asked for twice"), "{err}");
    assert_eq!(with(&[]).0, 0);
    if !present("cc") {
        return;
    }
    let main = "#include \"curves.h\"\n#include \"curves.h\"\n#include <stdio.h>\nint main(void) {
  double y, d;
  if (f_value(3.0, &y, NULL, NULL) || f_grad(3.0, &d, NULL, NULL)) return 1;
  printf(\"%g %g\", y, d);
  if (g_value(0.0, &y, NULL, NULL) || g_grad(0.0, &d, NULL, NULL)) return 1;
  printf(\" %g %g\\n\", y, d);
  return 0;
}\n";
    crate::support::write(&at, "main.c", main);
    run("cc", &["main.c", "curves.o", "libjut_runtime.a", "-lpthread", "-o", "main"], &at);
    assert_eq!(run("./main", &[], &at), "9 6 0 1\n");
}

/// A function of so many scalars: the sum of the products of neighbours.
fn ring(count: usize) -> String {
    let params: Vec<String> = (0..count).map(|k| format!("x{k}: f64")).collect();
    let terms = (0..count).map(|k| format!("  s = s + x{k} * x{} * sin(x{k})\n", (k + 1) % count));
    let terms: String = terms.collect();
    format!("def f({}) -> f64 = {{\n  s = 0.0\n{terms}  s\n}}\n", params.join(", "))
}

/// What the C program prints that calls `f_KIND` of the ring at 0.5, 1.5, .. with results in `out`; those
/// at odd places are not asked for.
fn called(at: &Path, kind: &str, count: usize, results: usize) -> Vec<f64> {
    let name = format!("{kind}{count}");
    let program = crate::support::write(at, &format!("{name}.jut"), &ring(count));
    let object = at.join(format!("{name}.o")).display().to_string();
    let (code, out, err) = jut(&["build", &program, "--derivative", kind, "-o", &object]);
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    let args = (0..count).map(|k| format!("{}.5", k % 7));
    let to = |k: usize| if k.is_multiple_of(2) { format!("out + {k}") } else { "NULL".to_owned() };
    let all: Vec<String> = args.chain((0..results).map(to)).collect();
    let main = format!(
        "#include \"{name}.h\"\n#include <stdio.h>\nstatic double out[{results}];\nint main(void) {{
  jut_workspace *w = jut_workspace_new();
  if (f_{kind}({}, w, NULL) != JUT_OK) return 1;
  for (int k = 0; k < {results}; k++) printf(\"%.17g\\n\", out[k]);
  return 0;
}}\n",
        all.join(", ")
    );
    crate::support::write(at, "main.c", &main);
    let object = format!("{name}.o");
    run("cc", &["-O0", "main.c", &object, "libjut_runtime.a", "-lpthread", "-o", &name], at);
    let printed = run(&format!("./{name}"), &[], at);
    printed.lines().map(|line| line.parse().expect("a number")).collect()
}

/// The same by the interpreter, all results.
fn interpreted(at: &Path, command: &str, count: usize) -> Vec<f64> {
    let program = crate::support::write(at, "ring.jut", &ring(count));
    let args: Vec<String> = (0..count).map(|k| format!("\"x{k}\": {}.5", k % 7)).collect();
    let args = crate::support::write(at, "ring.json", &format!("{{{}}}", args.join(", ")));
    let (code, out, err) = jut(&[command, &program, "--args", &args, "--engine", "interp"]);
    assert_eq!((code, err.as_str()), (0, ""));
    out.lines().filter_map(|line| line.split(" = ").nth(1)?.parse().ok()).collect()
}

#[test]
fn functions_of_more_scalars_than_fit_a_call_are_built() {
    if !present("cc") {
        return;
    }
    let at = directory("build scalars");
    for count in [1024, 1025, 1500] {
        assert_eq!(called(&at, "value", count, 1), interpreted(&at, "run", count), "{count}");
    }
    let mut gradient = interpreted(&at, "grad", 1100);
    gradient.iter_mut().skip(1).step_by(2).for_each(|x| *x = 0.0);
    assert_eq!(called(&at, "value_grad", 1100, 1101), gradient);
}

#[test]
fn objects_may_have_thousands_of_results() {
    if !present("cc") {
        return;
    }
    let at = directory("build hessian");
    let mut hessian = interpreted(&at, "hessian", 70);
    hessian.iter_mut().skip(1).step_by(2).for_each(|x| *x = 0.0);
    assert_eq!(called(&at, "hessian", 70, 4900), hessian);
}
