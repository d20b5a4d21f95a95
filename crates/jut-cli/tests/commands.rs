//! The command line: what is printed, exit codes, and bad input.

use assert_cmd::Command;
use std::path::PathBuf;

fn jut(args: &[&str]) -> (i32, String, String) {
    let mut command = Command::cargo_bin("jut").expect("the binary");
    command.current_dir(examples()).env("NO_COLOR", "1").args(args);
    let output = command.output().expect("it starts");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    (output.status.code().unwrap_or(-1), text(output.stdout), text(output.stderr))
}

fn examples() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../jut/examples")
}

/// A file in the directory for temporary files of tests.
fn file(name: &str, text: &str) -> String {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, text).expect("writable");
    path.display().to_string()
}

#[test]
fn every_example_checks_and_its_gradient_passes_all_checks() {
    let stems = ["sin", "power", "rosenbrock", "neighbours", "logsumexp", "logistic", "mlp"];
    for stem in stems.into_iter().chain(["rnn", "stencil", "lennard_jones"]) {
        let program = format!("{stem}.jut");
        let (code, out, err) = jut(&["check", &program]);
        assert_eq!((code, err.as_str()), (0, ""), "{out}");
        let args = format!("data/{stem}.json");
        let (code, out, err) = jut(&["grad", &program, "--args", &args, "--check"]);
        assert_eq!((code, err.as_str()), (0, ""), "{out}");
        assert!(out.contains("the same bits"), "{out}");
    }
}

#[test]
fn results_print_as_text_and_as_json() {
    let rosenbrock = ["rosenbrock.jut", "--arg", "x=[1.0, 2.0, 3.0]"];
    let with = |first: &[&'static str], last: &[&'static str]| {
        jut(&[first, &rosenbrock[..], last].concat())
    };
    assert_eq!(with(&["run"], &[]).1, "value = 201.0\n");
    assert_eq!(
        with(&["grad"], &["--engine", "interp"]).1,
        "value      = 201.0\ngradient x = [-400.0,1002.0,-200.0]\n"
    );
    assert_eq!(
        with(&["grad"], &["--format", "json"]).1,
        "{\"gradient\":{\"x\":[-400.0,1002.0,-200.0]},\"value\":201.0}\n"
    );
    assert_eq!(
        with(&["jvp"], &["--tangent", "x=[1, 0, 0]", "--format", "json"]).1,
        "{\"tangent\":{\"value\":-400.0},\"value\":201.0}\n"
    );
    assert_eq!(
        with(&["vjp"], &["--cotangent", "value=0.5"]).1,
        "value       = 201.0\ncotangent x = [-200.0,501.0,-100.0]\n"
    );
}

#[test]
fn special_numbers_and_empty_arrays_go_in_and_out() {
    let program = file(
        "special.jut",
        "def f[n](a: f64, x: [n]f64) -> (y: f64, z: [n]f64) = { (a, build (i < n) { a * x[i] }) }",
    );
    let (code, out, _) = jut(&["run", &program, "--arg", "a=-inf", "--arg", "x=[1, 0, \"NaN\"]"]);
    assert_eq!((code, out.as_str()), (0, "y = \"-inf\"\nz = [\"-inf\",\"NaN\",\"NaN\"]\n"));
    let (code, out, _) = jut(&["run", &program, "--arg", "a=2", "--arg", "x=[]", "--format=json"]);
    let expected = "{\"values\":{\"y\":2.0,\"z\":{\"data\":[],\"shape\":[0]}}}\n";
    assert_eq!((code, out.as_str()), (0, expected));
}

#[test]
fn tables_are_read_with_the_rank_of_the_parameter() {
    let x = "x=@data/breast_cancer.csv#0..1";
    let y = "y=@data/breast_cancer.csv#benign";
    let (code, out, err) = jut(&[
        "grad",
        "logistic.jut",
        "loss",
        "--wrt",
        "b",
        "--arg",
        x,
        "--arg",
        y,
        "--arg",
        "w=[0, 0]",
        "--arg",
        "b=0",
        "--arg",
        "l2=0",
    ]);
    // At zero the loss is log 2, and the slope of the intercept is one half less the share of ones.
    assert_eq!(code, 0, "{err}");
    let number = |line: usize| -> f64 {
        let line = out.lines().nth(line).and_then(|l| l.split(" = ").nth(1));
        line.and_then(|n| n.parse().ok()).unwrap_or(f64::NAN)
    };
    assert!((number(0) - 2f64.ln()).abs() < 1e-14, "{out}");
    assert!((number(1) - (0.5 - 357.0 / 569.0)).abs() < 1e-14, "{out}");
}

#[test]
fn the_stages_of_the_papers_example_are_its_figures() {
    // The doc comment of the definition goes with it; the figures have none.
    let stage = |name: &str| {
        let text = jut(&["show", "sin.jut", "--policy", "store_all", "--stage", name]).1;
        let code = text.lines().filter(|line| !line.starts_with("///"));
        code.map(|line| format!("{line}\n")).collect::<String>()
    };
    assert_eq!(
        stage("forward"),
        "core def f.jvp(u: f64; u': f64) -> (f64; f64) = {
  v = sin(u)
  c = cos(u)
  v' = c * u'
  t = -v
  t' = -v'
  (t; t')
}
"
    );
    assert_eq!(
        stage("unzip"),
        "data f.tape = f.tape(c: f64)

core def f.nonlin(u: f64) -> (f64, f.tape) = {
  v = sin(u)
  c = cos(u)
  t = -v
  tape = f.tape(c)
  (t, tape)
}

core def f.lin(tape: f.tape; u': f64) -> (; f64) = {
  f.tape(c) = tape
  v' = c * u'
  t' = -v'
  (; t')
}
"
    );
    assert_eq!(
        stage("transpose"),
        "data f.tape = f.tape(c: f64)

core def f.linT(tape: f.tape; t'': f64) -> (; f64) = {
  f.tape(c) = tape
  v'' = -t''
  u'' = c * v''
  (; u'')
}
"
    );
}

#[test]
fn every_stage_prints_and_those_of_the_language_read_back() {
    for stem in ["power", "neighbours", "logistic", "rnn", "stencil", "lennard_jones", "mlp"] {
        let language = ["source", "core", "forward", "unzip", "transpose", "gradient", "optimised"];
        for stage in language.into_iter().chain(["loop", "clif", "asm"]) {
            let (code, out, err) = jut(&["show", &format!("{stem}.jut"), "--stage", stage]);
            assert_eq!((code, err.as_str()), (0, ""), "{stem} {stage}");
            assert!(!out.trim().is_empty());
            if language.contains(&stage) {
                let printed = file(&format!("{stem}_{stage}.jut"), &out);
                let (code, _, err) = jut(&["check", &printed]);
                // What the passes print has marks that earn a warning in a text of a user.
                assert_eq!(code, 0, "{stem} {stage}: {err}");
            }
        }
    }
}

#[test]
fn the_loop_form_is_that_of_the_engine_asked_for() {
    let of = |engine| {
        let (code, out, err) =
            jut(&["show", "logistic.jut", "--stage", "loop", "--engine", engine]);
        assert_eq!((code, err.as_str()), (0, ""), "{engine}");
        out
    };
    let [cranelift, llvm, mlir] = ["cranelift", "llvm", "mlir"].map(of);
    assert_ne!(cranelift, llvm);
    assert_ne!(cranelift, mlir);
    assert_eq!(cranelift, of("interp"), "which runs no loop form");
}

#[test]
fn a_program_that_is_refused_shows_code_place_reason_and_fix() {
    let program = file("refused.jut", "def f(x: f64) -> f64 = {\n  x + yy\n}\n");
    let (code, out, err) = jut(&["check", &program]);
    assert_eq!((code, out.as_str()), (1, ""));
    for part in ["J010", "refused.jut:2:7", "x + yy", "yy"] {
        assert!(err.contains(part), "{part} is missing in\n{err}");
    }
    let (code, out, _) = jut(&["check", "--format", "json", &program]);
    let json: serde_json::Value = serde_json::from_str(&out).expect("JSON");
    let first = &json["diagnostics"][0];
    assert_eq!((code, first["code"].as_str()), (1, Some("J010")));
    assert_eq!(first["place"]["line"], 2);
    assert_eq!(first["place"]["column"], 7);
}

#[test]
fn a_linear_name_used_twice_is_refused_with_the_reason() {
    let program = file("linear.jut", "def f(; x': f64) -> (; f64) = { (; (x' * x') / x') }\n");
    let (code, _, err) = jut(&["check", &program]);
    assert_eq!(code, 1);
    assert!(err.contains("J104"), "{err}");
}

#[test]
fn a_program_that_fails_gives_its_code_and_place() {
    let program = file("fails.jut", "def f[n](x: [n]f64, i: i64) -> f64 = {\n  2.0 * x[i]\n}\n");
    for engine in ["interp", "cranelift"] {
        let call = ["grad", &program, "--arg", "x=[1, 2]", "--arg", "i=7", "--engine", engine];
        let (code, out, err) = jut(&call);
        assert_eq!((code, out.as_str()), (3, ""));
        assert!(err.contains("R01") && err.contains("fails.jut:2:"), "{err}");
        let (code, out, _) = jut(&[&call[..], &["--format", "json"]].concat());
        let json: serde_json::Value = serde_json::from_str(&out).expect("JSON");
        assert_eq!((code, json["error"]["code"].as_str()), (3, Some("R01")));
        assert_eq!(json["error"]["operands"], serde_json::json!([7, 2]));
    }
}

#[test]
fn bad_input_is_an_error_with_exit_code_2() {
    let not_json = file("not.json", "{\"x\": [1, 2");
    let not_object = file("list.json", "[1, 2]");
    let broken_csv = file("broken.csv", "a,b\n1,2\n3,four\n");
    let ragged_csv = file("ragged.csv", "1,2\n3\n");
    let binary = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("binary.jut");
    std::fs::write(&binary, [0xff, 0xfe, 0x00]).expect("writable");
    let csv = |path: &str| format!("x=@{path}");
    let (broken, ragged) = (csv(&broken_csv), csv(&ragged_csv));
    let cases: &[(&[&str], &str)] = &[
        (&["run", "nowhere.jut"], "nowhere.jut"),
        (&["run", binary.to_str().unwrap_or_default()], "binary.jut"),
        (&["run", "sin.jut", "g"], "no function `g`"),
        (&["run", "sin.jut"], "no argument for the parameter `u: f64`"),
        (&["run", "sin.jut", "--arg", "u"], "not of the form NAME=VALUE"),
        (&["run", "sin.jut", "--arg", "u=x"], "not JSON"),
        (&["run", "sin.jut", "--arg", "u=[1]"], "`u: f64`"),
        (&["run", "sin.jut", "--arg", "u=1", "--arg", "v=1"], "no parameter `v`"),
        (&["run", "sin.jut", "--args", &not_json], "not.json"),
        (&["run", "sin.jut", "--args", &not_object], "not a JSON object"),
        (&["run", "sin.jut", "--arg", "u=@nowhere.json"], "nowhere.json"),
        (&["grad", "sin.jut", "--wrt", "v", "--arg", "u=1"], "`v` is not a parameter"),
        (&["run", "neighbours.jut", "--arg", "x=[[1, 2]]"], "`x: [n]f64`"),
        (&["run", "neighbours.jut", "--arg", &broken], "`four`"),
        (&["run", "neighbours.jut", "--arg", &ragged], "ragged.csv"),
        (&["run", "power.jut", "--arg", "x=1", "--arg", "n=1.5"], "integer"),
        (&["grad", "logistic.jut", "--args", "data/logistic.json", "--arg", "w=[1]"], "`x`"),
        (&["fly"], "fly"),
    ];
    for (args, part) in cases {
        let (code, out, err) = jut(args);
        assert_eq!((code, out.as_str()), (2, ""), "{args:?}: {err}");
        assert!(err.contains(part), "{args:?}: `{part}` is missing in\n{err}");
    }
}

#[test]
fn a_reader_that_goes_away_is_not_an_error() {
    use std::process::{Command as Process, Stdio};
    let mut child = Process::new(assert_cmd::cargo::cargo_bin("jut"))
        .current_dir(examples())
        .args(["show", "mlp.jut", "--stage", "clif"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn the_tape_is_explained_value_by_value() {
    let (code, out, err) = jut(&["explain", "tape", "sin.jut"]);
    assert_eq!((code, err.as_str()), (0, ""));
    assert!(out.starts_with("tape of f: 8 bytes"), "{out}");
    // Everything that Rosenbrock's gradient needs can be read again.
    let (code, out, _) = jut(&["explain", "tape", "rosenbrock.jut"]);
    assert_eq!((code, out.starts_with("tape of rosenbrock: 0 bytes")), (0, true), "{out}");
}

#[test]
fn programs_are_formatted_in_place_and_once_is_enough() {
    let path = file("untidy.jut", "def f(x:f64)->f64=x*x // square\n");
    assert_eq!(jut(&["fmt", "--check", &path]).0, 4);
    assert_eq!(jut(&["fmt", &path]), (0, String::new(), String::new()));
    let text = std::fs::read_to_string(&path).expect("readable");
    assert_eq!(text, "def f(x: f64) -> f64 = x * x // square\n");
    assert_eq!(jut(&["fmt", "--check", &path]).0, 0);
    let broken = file("broken.jut", "def f(x: f64 -> f64 = x\n");
    let (code, _, err) = jut(&["fmt", &broken]);
    assert!(code == 1 && err.contains("J002"), "{code} {err}");
    assert_eq!(jut(&["fmt", "no such file.jut"]).0, 2);
}

#[test]
fn columns_of_a_table_are_taken_from_the_first_to_the_last() {
    let program = file("columns.jut", "def f[n](x: [n]f64) -> [n]f64 = x\n");
    let table = file("columns.csv", "a,b,c..d\n1,2,3\n");
    for (columns, out) in [
        ("", "[1.0,2.0,3.0]"),
        ("#b", "[2.0]"),
        ("#2", "[3.0]"),
        ("#a..b", "[1.0,2.0]"),
        ("#0..1", "[1.0,2.0]"),
        ("#b..b", "[2.0]"),
        ("#b..", "[2.0,3.0]"),
        ("#..b", "[1.0,2.0]"),
        ("#c..d", "[3.0]"),
        ("#..", "[1.0,2.0,3.0]"),
    ] {
        let (code, printed, err) =
            jut(&["run", &program, "--arg", &format!("x=@{table}{columns}")]);
        assert_eq!((code, printed), (0, format!("value = {out}\n")), "{columns}: {err}");
    }
    for columns in ["#3", "#e", "#a..3", "#b..a", "#a..e"] {
        let (code, _, err) = jut(&["run", &program, "--arg", &format!("x=@{table}{columns}")]);
        assert!(code == 2 && err.contains("column"), "{columns}: {err}");
    }
}

#[test]
fn numbers_that_python_writes_are_read() {
    let program = file("python.jut", "def f[n](x: [n]f64, a: f64) -> ([n]f64, f64) = (x, a)\n");
    let args = file("python.json", "{\"x\": [NaN, Infinity, -Infinity, 1.5], \"a\": NaN}");
    let out = "0 = [\"NaN\",\"inf\",\"-inf\",1.5]\n1 = \"NaN\"\n";
    assert_eq!(jut(&["run", &program, "--args", &args]), (0, out.to_string(), String::new()));
    for (a, written) in [("NaN", "NaN"), ("Infinity", "inf"), ("inf", "inf"), ("-inf", "-inf")] {
        let (code, out, _) = jut(&["run", &program, "--args", &args, "--arg", &format!("a={a}")]);
        assert!(code == 0 && out.ends_with(&format!("1 = \"{written}\"\n")), "{a}: {out}");
    }
    // Errors are still those of the text.
    let args = file("python_wrong.json", "{\"x\": [NaN, \n Infinity, +1]}");
    let (code, _, err) = jut(&["run", &program, "--args", &args]);
    assert!(code == 2 && err.contains("line 2"), "{err}");
}

#[test]
fn a_shape_that_no_array_has_is_refused_at_once() {
    let text = "def f[n, m](x: [n, m]f64) -> f64 = sum (i < n, j < m) { x[i, j] }\n";
    let program = file("shape.jut", text);
    for shape in
        ["[9223372036854775807, 0]", "[0, 18446744073709551615]", "[4294967296, 4294967296]"]
    {
        let arg = format!("x={{\"shape\": {shape}, \"data\": []}}");
        let (code, out, err) = jut(&["grad", &program, "--arg", &arg]);
        assert_eq!((code, out.as_str()), (2, ""), "{shape}");
        assert!(err.contains("A02"), "{err}");
    }
}

#[test]
fn an_option_says_what_it_takes() {
    for (command, engines) in
        [("run", "cranelift, llvm, mlir, tiered, interp"), ("build", "cranelift, llvm")]
    {
        let (code, _, err) = jut(&[command, "sin.jut", "--engine", "gcc"]);
        assert!(code == 2 && err.contains(&format!("[possible values: {engines}]")), "{err}");
    }
}
