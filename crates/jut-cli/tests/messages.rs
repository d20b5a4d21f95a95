//! `--message-format json`: one object per line on standard error, for every command.

use crate::support::{directory, jut, write};
use serde_json::Value as Json;

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
    let wrong = one(&["run", &program, x[0], x[1]], 2, "argument");
    assert_eq!((&wrong["parameter"], &wrong["code"]), (&"i".into(), &"A01".into()));
    let wrong = one(&["run", &program, x[0], "x=[true]", x[2], "i=0"], 2, "argument");
    assert_eq!((&wrong["parameter"], &wrong["code"]), (&"x".into(), &"A02".into()));
    let wrong = one(&["run", &program, x[0], x[1], x[2], "i=0", x[2], "k=0"], 2, "argument");
    assert_eq!((&wrong["parameter"], &wrong["code"]), (&"k".into(), &"A01".into()));
    one(&["run", &program, x[0], "x=[1", x[2], "i=0"], 2, "argument");
    for (command, option) in [("jvp", "`--tangent x=..`"), ("vjp", "`--cotangent value=..`")] {
        let wrong = one(&[command, &program, x[0], x[1], x[2], "i=0"], 2, "argument");
        assert!(wrong["help"].as_str().is_some_and(|help| help.contains(option)), "{wrong}");
    }
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
    let text = "def f(x: f64) -> f64 = x * f64(i64(x))\n";
    let program = write(&d, "warned.jut", text);
    let (code, out, all) = messages(&["grad", &program, "--arg", "x=1"]);
    assert_eq!((code, out.as_str()), (0, "value      = 1.0\ngradient x = 1.0\n"));
    assert_eq!((&all[0]["code"], &all[0]["severity"]), (&"J702".into(), &"warning".into()));
    let (_, plain, text) = jut(&["grad", &program, "--arg", "x=1"]);
    assert!(plain == out && text.contains("J702") && !text.starts_with('{'), "{text}");
}

#[test]
fn messages_about_any_text_are_few_and_short() {
    let d = directory("messages-many");
    let warned = |k| format!("def f{k}(x: f64) -> f64 = select(x > 0.0, log(x), x)\n");
    let texts = [
        ("closing", ")".repeat(20_000)),
        ("closing in lines", ")\n".repeat(20_000)),
        ("opening and closing", "[".repeat(200_000) + &")".repeat(200_000)),
        ("characters", "$ é ".repeat(20_000)),
        ("one name", format!("def f(x: f64) -> f64 = {}\n", "y".repeat(20_000))),
        ("names", format!("def f(x: f64) -> f64 = [{}]\n", "y, ".repeat(20_000))),
        ("definitions", "def f(x: f64) -> f64 = y\n".repeat(2_000)),
        ("warnings", (0..2_000).map(warned).collect()),
    ];
    for (name, text) in texts {
        let file = write(&d, &format!("{name}.jut"), &text);
        let (_, _, err) = jut(&["check", &file]);
        assert!(err.len() < 200_000, "{name}: {} bytes", err.len());
        assert!(err.lines().all(|line| line.chars().count() < 2_000), "{name}");
        let (_, _, all) = messages(&["check", &file]);
        assert!(!all.is_empty() && all.len() <= 51, "{name}: {}", all.len());
    }
}

#[cfg(unix)]
#[test]
fn a_pipe_as_a_module_is_refused_and_not_waited_for() {
    let d = directory("messages-pipe");
    let program = write(&d, "program.jut", "use stats\ndef f(x: f64) -> f64 = stats.g(x)\n");
    let made = std::process::Command::new("mkfifo").arg(d.join("stats.jut")).status();
    assert!(made.is_ok_and(|status| status.success()), "mkfifo is of POSIX");
    let (code, _, all) = messages(&["check", &program]);
    assert_eq!((code, all[0]["code"].as_str()), (1, Some("J015")));
    assert!(all[0]["message"].as_str().is_some_and(|m| m.contains("no regular file")), "{all:?}");
}

#[test]
fn gradients_of_what_is_no_number_name_what_there_is_instead() {
    let d = directory("messages-gradient");
    let text = "def f[n](x: [n]f64) -> [n]f64 = x\n\
                def g(x: f64) -> (f64, f64) = (x, x)\n\
                def h(x: f64) -> (bool, i64) = (x > 0.0, 1)\n";
    let program = write(&d, "results.jut", text);
    for (function, says, helps) in [
        ("f", "returns an array", "`jacobian`"),
        ("g", "returns 2 of type f64", "`--of 0`"),
        ("h", "2 results, none of them of type f64", "`jacobian`"),
    ] {
        let (code, _, all) = messages(&["grad", &program, function]);
        assert_eq!((code, all[0]["code"].as_str()), (1, Some("J802")));
        assert!(all[0]["message"].as_str().is_some_and(|m| m.ends_with(says)), "{all:?}");
        assert!(all[0]["help"].as_str().is_some_and(|h| h.contains(helps)), "{all:?}");
    }
}
