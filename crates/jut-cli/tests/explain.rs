//! `jut explain`: the tape value by value, and the costs beside the paper's bounds.

use crate::support::jut;
use serde_json::Value as Json;

fn json(args: &[&str]) -> Json {
    let (code, out, err) = jut(&[args, &["--format", "json"]].concat());
    assert_eq!(code, 0, "{out}{err}");
    serde_json::from_str(&out).expect("JSON")
}

#[test]
fn the_costs_of_every_example_stay_within_the_bounds_of_the_paper() {
    let stems = ["sin", "power", "rosenbrock", "neighbours", "logsumexp", "logistic", "mlp"];
    for stem in stems.into_iter().chain(["rnn", "stencil", "lennard_jones"]) {
        for policy in ["store_all", "default", "minimal"] {
            let program = format!("{stem}.jut");
            let args = format!("data/{stem}.json");
            let base = ["explain", "cost", &program, "--args", &args, "--policy", policy];
            let (code, text, err) = jut(&base);
            assert_eq!((code, err.as_str()), (0, ""), "{text}");
            assert!(text.contains("W[f.jvp] <= c (W[f] + control[f]) + in"), "{text}");
            assert!(!text.contains("does not hold"), "{text}");
            let report = json(&base);
            let bounds = report["bounds"].as_array().expect("bounds");
            assert_eq!(bounds.len(), 4);
            for bound in bounds.iter().filter(|bound| bound["equality"] == false) {
                assert_eq!(bound["holds"], true, "{program} {policy}: {bound}");
                assert!(bound["left"].as_u64() <= bound["right"].as_u64());
            }
            let stages = report["stages"].as_array().expect("stages");
            assert_eq!(stages.len(), 6, "f, f.jvp, f.nonlin, f.lin, f.linT, the gradient");
            assert!(stages.iter().all(|stage| stage["work"].is_u64()));
        }
    }
}

#[test]
fn the_bytes_of_a_run_are_those_of_the_formula() {
    let d = crate::support::directory("explain-bytes");
    let program = crate::support::write(
        &d,
        "rows.jut",
        "def f[n, m](x: [n, m]f64) -> f64 = sum (i < n) { exp(sum (j < m) { tanh(x[i, j]) }) }\n",
    );
    for policy in ["store_all", "default", "minimal"] {
        let base = ["explain", "tape", &program, "--policy", policy];
        let formula = json(&base)["bytes"].as_str().map(str::to_string).expect("a formula");
        for (n, m) in [(1, 1), (2, 5), (7, 3)] {
            let row = vec!["0.5"; m].join(",");
            let x = format!("x=[{}]", vec![format!("[{row}]"); n].join(","));
            let cost = json(&["explain", "cost", &program, "--policy", policy, "--arg", &x]);
            // Such as `8 m n + 16 n + 8`.
            let factor = |word: &str| match word {
                "n" => n as u64,
                "m" => m as u64,
                number => number.parse().expect("a number"),
            };
            let bytes: u64 =
                formula.split(" + ").map(|t| t.split(' ').map(factor).product::<u64>()).sum();
            assert_eq!(cost["tape"].as_u64(), Some(bytes), "{formula} {policy}");
        }
    }
}

#[test]
fn every_stored_value_says_type_bytes_reason_and_line() {
    let report = json(&["explain", "tape", "logistic.jut"]);
    assert_eq!(report["bytes"], "24 n + 24");
    assert_eq!(report["other_policies"]["minimal"], "16 n + 16");
    assert!(report["other_policies"]["store_all"].is_string(), "{report}");
    let stored = report["stored"].as_array().expect("a list");
    assert!(!stored.is_empty());
    for value in stored {
        for key in ["name", "type", "bytes", "tape", "reason"] {
            assert!(value[key].is_string(), "{key}: {value}");
        }
        assert_eq!(value["place"]["file"], "logistic.jut");
        assert!(value["place"]["line"].is_u64() && value["place"]["byte"].is_u64(), "{value}");
    }
}

#[test]
fn what_has_no_costs_is_refused_with_a_reason() {
    let d = crate::support::directory("explain");
    let linear = crate::support::write(
        &d,
        "linear.jut",
        "def f(c: f64; x': f64) -> (; f64) = { (; c * x') }\n",
    );
    let (code, _, err) = jut(&["explain", "cost", &linear, "--arg", "c=1", "--arg", "x'=1"]);
    assert!(code == 2 && err.contains("linear parameters"), "{code} {err}");
    let (code, _, err) = jut(&["explain", "cost", "rosenbrock.jut"]);
    assert!(code == 2 && err.contains("no argument for the parameter"), "{code} {err}");
    // A vector has stages, and no gradient.
    let vector = crate::support::write(
        &d,
        "vector.jut",
        "def f[n](x: [n]f64) -> [n]f64 = build (v <- x) { sin(v) }\n",
    );
    let report = json(&["explain", "cost", &vector, "--arg", "x=[1, 2]"]);
    assert_eq!(report["stages"].as_array().map(Vec::len), Some(5));
}

#[test]
fn doc_comments_go_with_the_function() {
    let d = crate::support::directory("explain-doc");
    let text = "/// A line.\n///\n/// Another one.\ndef f(x: f64) -> f64 = sin(x)\n";
    let program = crate::support::write(&d, "doc.jut", text);
    let lines = "/// A line.\n///\n/// Another one.\n";
    assert!(jut(&["show", &program, "--stage", "core"]).1.starts_with(lines));
    assert!(jut(&["explain", "tape", &program]).1.contains(&format!("bytes\n{lines}")));
    assert!(jut(&["explain", "cost", &program, "--arg", "x=1"]).1.starts_with(lines));
    assert_eq!(json(&["explain", "tape", &program])["doc"], "A line.\n\nAnother one.");
    assert_eq!(jut(&["fmt", "--check", &program]).0, 0);
}
