//! Arguments from `.npy` files, and results to them.

use crate::support::{directory, jut, write};
use jut::{Array, Value, npy};
use std::path::Path;

fn save(directory: &Path, name: &str, value: &Value) -> String {
    let path = directory.join(name);
    let file = std::fs::File::create(&path).expect("made");
    npy::write(file, value).expect("written");
    path.display().to_string()
}

fn load(path: &Path) -> Value {
    npy::read(std::fs::File::open(path).expect("there")).expect("read")
}

fn floats(shape: &[usize], data: &[f64]) -> Value {
    Value::F64s(Array { shape: shape.to_vec(), data: data.to_vec() })
}

const ROWS: &str =
    "def f[n, m](x: [n, m]f64, k: [n]i64, on: [n]bool, s: f64) -> (y: f64, rows: [n]f64) = {
  rows = build (i < n) { if on[i] { s * x[i, k[i]]^2 } else { 0.0 } }
  (sum (v <- rows) { v }, rows)
}
";

#[test]
fn arguments_come_from_npy_files_of_every_type() {
    let d = directory("npy");
    let program = write(&d, "rows.jut", ROWS);
    let x = save(&d, "x.npy", &floats(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]));
    let k = save(&d, "k.npy", &Value::I64s(Array { shape: vec![2], data: vec![2, 0] }));
    let on = save(&d, "on.npy", &Value::Bools(Array { shape: vec![2], data: vec![true, true] }));
    let s = save(&d, "s.npy", &Value::F64(0.5));
    let args: Vec<String> = [("x", &x), ("k", &k), ("on", &on), ("s", &s)]
        .map(|(n, f)| format!("--arg={n}=@{f}"))
        .into();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let (code, out, err) = jut(&[&["run", &program][..], &args].concat());
    assert_eq!((code, err.as_str(), out.as_str()), (0, "", "y    = 12.5\nrows = [4.5,8.0]\n"));
    // One from a file, the others as text, and tangents from files.
    let text = ["--arg", "k=[2, 0]", "--arg", "on=[true, false]", "--arg", "s=1"];
    let (arg, tangent) = (format!("x=@{x}"), format!("x=@{x}"));
    let base = ["jvp", &program, "--wrt", "x", "--arg", &arg, "--tangent", &tangent];
    let (code, out, err) = jut(&[&base[..], &text].concat());
    assert_eq!((code, err.as_str()), (0, ""));
    assert!(out.contains("tangent rows = [18.0,0.0]"), "{out}");
}

#[test]
fn results_go_to_files_that_read_back() {
    let d = directory("npy-out");
    let x = save(&d, "x.npy", &floats(&[3], &[1.0, 2.0, 3.0]));
    let (arg, gradient) = (format!("x=@{x}"), d.join("g.npy").display().to_string());
    let out = format!("x={gradient}");
    let (code, text, err) = jut(&["grad", "rosenbrock.jut", "--arg", &arg, "--out", &out]);
    let expected = format!("value      = 201.0\ngradient x = @{gradient}\n");
    assert_eq!((code, err.as_str(), text), (0, "", expected));
    assert_eq!(load(Path::new(&gradient)), floats(&[3], &[-400.0, 1002.0, -200.0]));

    let results = d.join("results");
    let folder = results.display().to_string();
    let base = ["grad", "rosenbrock.jut", "--arg", &arg, "--out-dir", &folder, "--format", "json"];
    let (code, text, _) = jut(&base);
    assert!(
        code == 0 && text.contains("\"value\":\"@") && text.contains("gradient.x.npy"),
        "{text}"
    );
    assert_eq!(load(&results.join("value.npy")), Value::F64(201.0));
    assert_eq!(load(&results.join("gradient.x.npy")), load(Path::new(&gradient)));
    // What was written is an argument again.
    let again = format!("x=@{}", results.join("gradient.x.npy").display());
    assert_eq!(jut(&["run", "rosenbrock.jut", "--arg", &again]).0, 0);
    let (code, text, _) = jut(&["hessian", "rosenbrock.jut", "--arg", &arg, "--out-dir", &folder]);
    assert_eq!(code, 0, "{text}");
    let Value::F64s(hessian) = load(&results.join("hessian.x,x.npy")) else { panic!("floats") };
    assert_eq!(hessian.shape, [3, 3]);
}

#[test]
fn wrong_files_are_errors_that_name_them() {
    let d = directory("npy-wrong");
    let text = write(&d, "text.npy", "not an array");
    let matrix = save(&d, "matrix.npy", &floats(&[1, 2], &[1.0, 2.0]));
    let integers =
        save(&d, "integers.npy", &Value::I64s(Array { shape: vec![2], data: vec![1, 2] }));
    let short = save(&d, "short.npy", &floats(&[2], &[1.0, 2.0]));
    let bytes = std::fs::read(&short).expect("there");
    std::fs::write(&short, &bytes[..bytes.len() - 3]).expect("written");
    let cases = [
        (text.as_str(), "magic word"),
        (matrix.as_str(), "rank 2, the parameter has rank 1"),
        (integers.as_str(), "`x`"),
        (short.as_str(), "1 of 2 elements"),
        ("no_such_file.npy", "no_such_file.npy"),
    ];
    for (file, part) in cases {
        let (code, _, err) = jut(&["run", "rosenbrock.jut", "--arg", &format!("x=@{file}")]);
        assert!(code == 2 && err.contains(part), "{file}: {code} {err}");
    }
    let x = ["--arg", "x=[1, 2]"];
    for (out, part) in [
        ("z=z.npy", "there is no result `z`, only value, gradient.x"),
        ("x=x.txt", ".npy or .json"),
        ("x", "NAME=FILE"),
        ("x=no/such/folder/x.npy", "no/such/folder"),
    ] {
        let (code, _, err) = jut(&["grad", "rosenbrock.jut", x[0], x[1], "--out", out]);
        assert!(code == 2 && err.contains(part), "{out}: {code} {err}");
    }
    let (code, _, err) = jut(&["linearize", "rosenbrock.jut", x[0], x[1], "--out", "x=x.npy"]);
    assert!(code == 2 && err.contains("--format json"), "{err}");
}
