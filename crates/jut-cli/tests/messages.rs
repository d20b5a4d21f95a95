//! `--message-format json`: one object per line on standard error, for every command.

mod support;

use serde_json::Value as Json;
use support::{directory, jut, write};

/// Exit code, standard output, messages.
fn messages(args: &[&str]) -> (i32, String, Vec<Json>) {
    let (code, out, err) = jut(&[args, &["--message-format", "json"]].concat());
    let parse = |line: &str| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}"));
    (code, out, err.lines().map(parse).collect())
}

const WRONG: &str = "def a(x: f64) -> f64 = { // é
  u = x + yy
  z = sin(x, 1.0)
  u
}
def b(x: f64 -> f64 = x
def c(x: f64) -> f64 = {
  u = x +* 2.0
  w = )
  u
}
def d[n](x: [n]f64) -> f64 = x[0.5]
";

#[test]
fn several_mistakes_of_a_file_are_several_messages_with_places() {
    let d = directory("messages");
    let file = write(&d, "wrong.jut", WRONG);
    for command in [
        &["check", &file][..],
        &["run", &file],
        &["grad", &file],
        &["show", &file, "--stage", "core"],
        &["explain", "tape", &file],
        &["explain", "cost", &file],
        &["build", &file],
    ] {
        let (code, out, all) = messages(command);
        assert_eq!((code, out.as_str()), (1, ""), "{command:?}");
        let codes: Vec<&str> = all.iter().filter_map(|m| m["code"].as_str()).collect();
        assert_eq!(codes, ["J010", "J208", "J002", "J002", "J001", "J201"], "{command:?}");
        for message in &all {
            assert_eq!(
                (&message["kind"], &message["severity"]),
                (&"diagnostic".into(), &"error".into())
            );
            let place = &message["place"];
            assert_eq!(place["file"], file.as_str());
            let (from, to) = (place["byte"].as_u64(), place["end_byte"].as_u64());
            assert!(from <= to && to <= Some(WRONG.len() as u64), "{message}");
            assert!(message["message"].is_string() && message["labels"].is_array());
            assert!(message["help"].as_str().is_some_and(|help| !help.is_empty()), "{message}");
            assert!(message["edits"].is_array());
        }
        let name = &all[0]["place"];
        assert_eq!((name["line"].as_u64(), name["column"].as_u64()), (Some(2), Some(11)));
        assert_eq!((name["end_line"].as_u64(), name["end_column"].as_u64()), (Some(2), Some(13)));
        let bytes = name["byte"].as_u64().zip(name["end_byte"].as_u64()).expect("numbers");
        assert_eq!(&WRONG[bytes.0 as usize..bytes.1 as usize], "yy");
    }
    let (code, _, all) = messages(&["fmt", &file]);
    let codes: Vec<&str> = all.iter().filter_map(|m| m["code"].as_str()).collect();
    assert_eq!((code, codes), (1, vec!["J002", "J002", "J001"]), "fmt only parses");
}

#[test]
fn failures_and_wrong_requests_are_messages_too() {
    let d = directory("messages-other");
    let program = write(&d, "index.jut", "def f[n](x: [n]f64, i: i64) -> f64 = x[i]\n");
    let x = ["--arg", "x=[1, 2]", "--arg"];
    let (code, out, all) = messages(&["grad", &program, x[0], x[1], x[2], "i=7"]);
    assert_eq!((code, out.as_str(), all.len()), (3, "", 1));
    assert_eq!((&all[0]["kind"], &all[0]["code"]), (&"run".into(), &"R01".into()));
    assert_eq!(all[0]["operands"], serde_json::json!([7, 2]));
    assert_eq!(all[0]["place"]["column"], 38);
    let one = |args: &[&str], exit: i32, kind: &str| {
        let (code, out, all) = messages(args);
        assert_eq!((code, out.as_str(), all.len()), (exit, "", 1), "{args:?} {all:?}");
        assert_eq!((&all[0]["kind"], &all[0]["severity"]), (&kind.into(), &"error".into()));
        all[0].clone()
    };
    assert_eq!(one(&["run", "no_file.jut"], 2, "file")["file"], "no_file.jut");
    one(&["run", &program, "g"], 2, "request");
    one(&["run", &program, x[0], x[1]], 2, "request");
    one(&["run", &program, "--no-such-option"], 2, "usage");
    one(&["run", &program, "--wrt", "z"], 2, "request");
    let npy = d.join("x.npy").display().to_string();
    let value = jut::Value::I64s(jut::Array { shape: vec![1], data: vec![1] });
    jut::npy::write(std::fs::File::create(&npy).expect("made"), &value).expect("written");
    let arg = format!("x=@{npy}");
    let wrong = one(&["run", &program, "--arg", &arg, "--arg", "i=0"], 2, "argument");
    assert_eq!(wrong["parameter"], "x");
}

#[test]
fn warnings_are_messages_beside_the_results() {
    let d = directory("messages-warnings");
    let text = "def f(x: f64) -> f64 = select(x > 0.0, log(x), x)\n";
    let program = write(&d, "warned.jut", text);
    let (code, out, all) = messages(&["grad", &program, "--arg", "x=1"]);
    assert_eq!((code, out.as_str()), (0, "value      = 0.0\ngradient x = 1.0\n"));
    assert_eq!((&all[0]["code"], &all[0]["severity"]), (&"J701".into(), &"warning".into()));
    let (_, plain, text) = jut(&["grad", &program, "--arg", "x=1"]);
    assert!(plain == out && text.contains("J701") && !text.starts_with('{'), "{text}");
}
