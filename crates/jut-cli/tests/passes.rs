//! `--time-passes`: a row for every pass that runs, beside the usual output.

use crate::support::{directory, jut, write};
use serde_json::Value as Json;

fn rows(args: &[&str]) -> Vec<(String, u64)> {
    let (code, _, err) = jut(&[args, &["--time-passes", "--format", "json"]].concat());
    assert_eq!(code, 0, "{err}");
    let json: Json = serde_json::from_str(err.trim()).expect("one JSON value");
    let rows = json["passes"].as_array().expect("a list");
    rows.iter()
        .map(|row| {
            assert!(row["microseconds"].as_f64().is_some_and(|t| t >= 0.0), "{row}");
            (row["pass"].as_str().expect("a name").to_string(), row["size"].as_u64().unwrap_or(0))
        })
        .collect()
}

#[test]
fn every_pass_has_a_row_with_its_time_and_the_size_of_the_program() {
    let names = |rows: &[(String, u64)]| rows.iter().map(|(n, _)| n.clone()).collect::<Vec<_>>();
    let all: Vec<&str> = jut::PASSES.iter().map(|(_, name, _)| *name).collect();
    let x = ["--arg", "x=[1, 2, 3]"];
    let grad = rows(&["grad", "rosenbrock.jut", x[0], x[1]]);
    assert_eq!(names(&grad), all);
    assert!(grad.iter().all(|(_, size)| *size > 0), "{grad:?}");
    let without = |left_out: &[&str]| -> Vec<&str> {
        all.iter().copied().filter(|name| !left_out.contains(name)).collect()
    };
    let run = rows(&["run", "rosenbrock.jut", x[0], x[1]]);
    assert_eq!(names(&run), without(&["forward", "unzip", "transpose"]));
    let jvp = rows(&["jvp", "rosenbrock.jut", x[0], x[1], "--tangent", "x=[1, 0, 0]"]);
    assert_eq!(names(&jvp), without(&["unzip", "transpose"]));
    let interpreted = rows(&["grad", "rosenbrock.jut", x[0], x[1], "--engine", "interp"]);
    assert_eq!(names(&interpreted), without(&["lower", "code"]));
    assert_eq!(names(&rows(&["show", "rosenbrock.jut", "--stage", "core"])), all);
    assert_eq!(names(&rows(&["explain", "tape", "rosenbrock.jut"])), all);
}

#[test]
fn the_table_does_not_change_what_is_printed() {
    let args = ["grad", "logistic.jut", "--args", "data/logistic.json"];
    let (_, plain, _) = jut(&args);
    let (code, timed, table) = jut(&[&args[..], &["--time-passes"]].concat());
    assert_eq!((code, timed), (0, plain));
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!(lines.len(), jut::PASSES.len() + 3, "a title, a head and a sum: {table}");
    assert!(lines[0].starts_with("loss, value_grad") && lines[1].starts_with("pass"), "{table}");
    assert!(table.contains("T: cotangents") && table.contains("statements"), "{table}");
}

#[test]
fn objects_have_a_table_for_each_function() {
    let d = directory("passes");
    let program = write(&d, "f.jut", "def f(x: f64) -> f64 = sin(x)\n");
    let object = d.join("f.o").display().to_string();
    let args = ["build", &program, "--derivative", "value,grad", "-o", &object, "--time-passes"];
    let (code, _, err) = jut(&args);
    assert_eq!(code, 0, "{err}");
    assert!(err.contains("f, value\n") && err.contains("f, grad\n"), "{err}");
}

#[test]
fn pictures_are_written_as_svg() {
    let d = directory("pictures");
    let path = d.join("f.svg").display().to_string();
    let (code, out, err) = jut(&["show", "logistic.jut", "--draw", &path]);
    assert_eq!((code, out.as_str(), err.as_str()), (0, "", ""));
    let svg = std::fs::read_to_string(&path).expect("written");
    assert!(svg.starts_with("<svg") && svg.contains("loss.nonlin") && svg.contains("loss.lin<"));
    let (code, _, _) = jut(&["show", "logistic.jut", "--stage", "transpose", "--draw", &path]);
    let svg = std::fs::read_to_string(&path).expect("written");
    assert!(code == 0 && svg.contains("loss.linT"));
    let (code, _, err) = jut(&["show", "logistic.jut", "--stage", "clif", "--draw", &path]);
    assert!(code == 2 && err.contains("no picture"), "{err}");
    let (code, _, _) = jut(&["show", "logistic.jut", "--draw", "no/such/directory/f.svg"]);
    assert_eq!(code, 2);
    assert_eq!(jut(&["show", "logistic.jut"]).0, 2, "a stage or a picture");
}
