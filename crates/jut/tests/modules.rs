//! Programs of several files through the library: texts, messages and failures are each file's own.

use jut::{Error, Model, Stage};
use std::path::PathBuf;

/// A directory that is gone when the test is over.
struct Directory(PathBuf);

impl Directory {
    fn new(name: &str, files: &[(&str, &str)]) -> Directory {
        let path = std::env::temp_dir().join(format!("jut-modules-{}-{name}", std::process::id()));
        for (file, text) in files {
            let file = path.join(file);
            std::fs::create_dir_all(file.parent().expect("in a directory")).expect("made");
            std::fs::write(file, text).expect("written");
        }
        Directory(path)
    }

    fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

const MAIN: &str = "use lib.fit\n\ndef loss[n](w: f64, x: [n]f64) -> f64 = lib.fit.square(w, x)\n";
const FIT: &str = "use pick\n\n/// A sum of squares.\ndef square[n](w: f64, x: [n]f64) -> f64 = sum (i < n) { (w - pick.at(x, i))^2 }\n";
const PICK: &str = "def at[n](x: [n]f64, i: i64) -> f64 = x[i * 1]\n";

fn files() -> [(&'static str, &'static str); 3] {
    [("main.jut", MAIN), ("lib/fit.jut", FIT), ("lib/pick.jut", PICK)]
}

#[test]
fn a_file_and_an_embedded_program_of_several_texts_have_the_same_gradient() {
    let directory = Directory::new("same", &files());
    let from_file = Model::from_file(directory.file("main.jut")).expect("loads");
    let embedded = Model::from_sources(&files()).expect("loads");
    for model in [from_file, embedded] {
        let names: Vec<&str> = model.functions().collect();
        assert_eq!(names, ["lib.pick.at", "lib.fit.square", "loss"]);
        let texts: Vec<&str> = model.sources().iter().map(|s| s.text.as_str()).collect();
        assert_eq!(texts, [MAIN, FIT, PICK]);
        let gradient = model.function("loss").expect("is there").gradient().expect("compiles");
        let dw = gradient.call(&[1.0.into(), (&[0.5, 2.0]).into()]).expect("runs");
        assert_eq!(dw[0].floats(), [2.0 * (0.5 - 1.0)]);
        let shown = model.function("lib.fit.square").and_then(|f| f.stage(Stage::Core));
        assert!(shown.expect("prints").contains("core def lib.fit.square("));
    }
}

#[test]
fn a_failure_names_the_place_in_the_module() {
    let pick = "def at[n](x: [n]f64, i: i64) -> f64 =\n  x[i * 2]\n";
    let texts = [("main.jut", MAIN), ("lib/fit.jut", FIT), ("lib/pick.jut", pick)];
    let model = Model::from_sources(&texts).expect("loads");
    let loss = model.function("loss").expect("is there");
    for engine in [jut::Engine::Cranelift, jut::Engine::Interpreter] {
        let gradient = loss.clone().engine(engine).gradient().expect("compiles");
        let error = gradient.call(&[1.0.into(), (&[0.5, 2.0, 3.0]).into()]).expect_err("fails");
        let Error::Run(error) = error else { panic!("{error}") };
        assert_eq!(
            error.to_string(),
            "R01: index 4 is out of range for length 3 at lib/pick.jut:2:3"
        );
        assert_eq!(error.source().name, "lib/pick.jut");
        let drawn = error.render(false);
        assert!(drawn.contains("lib/pick.jut:2:3") && drawn.contains("x[i * 2]"), "{drawn}");
    }
    let tape = loss.explain_tape().expect("explains");
    assert!(tape.contains("lib/fit.jut:4:"), "{tape}");
}

#[test]
fn messages_show_the_lines_of_the_file_that_is_wrong() {
    let fit = "use pick\n\ndef square[n](w: f64, x: [n]f64) -> f64 = sum (i < n) { wrong - pick.at(x, i) }\n";
    let directory = Directory::new(
        "wrong",
        &[("main.jut", MAIN), ("lib/fit.jut", fit), ("lib/pick.jut", PICK)],
    );
    let error = Model::from_file(directory.file("main.jut")).err().expect("refused");
    let text = error.to_string();
    for part in ["J010", "lib/fit.jut:3:", "wrong - pick.at(x, i)"] {
        assert!(text.contains(part), "{part} is missing in\n{text}");
    }
}

#[test]
fn circles_missing_and_unreadable_modules_are_diagnostics() {
    let codes = |error: Error| match error {
        Error::Program(messages) => {
            let list = messages.list().iter();
            list.map(|d| (d.code, messages.sources().of(d.span).name.clone())).collect::<Vec<_>>()
        }
        other => panic!("{other}"),
    };
    let circle = [("main.jut", "use a"), ("a.jut", "use b"), ("b.jut", "use a")];
    let error = Model::from_sources(&circle).err().expect("refused");
    assert!(error.to_string().contains("a -> b -> a"), "{error}");
    assert_eq!(codes(error), [("J016", "b.jut".to_string())]);

    let directory = Directory::new("missing", &[("main.jut", "use nowhere\nuse broken")]);
    std::fs::write(directory.file("broken.jut"), [0xff, 0xfe, 0x00]).expect("written");
    let error = Model::from_file(directory.file("main.jut")).err().expect("refused");
    let text = error.to_string();
    assert!(text.contains("there is no file nowhere.jut"), "{text}");
    assert!(text.contains("broken.jut") && text.contains("UTF-8"), "{text}");
    let main = directory.file("main.jut").display().to_string();
    assert_eq!(codes(error), [("J015", main.clone()), ("J015", main)]);

    let error = Model::from_text("use stats").err().expect("refused");
    assert_eq!(codes(error), [("J015", "program".to_string())]);
    assert!(Model::from_sources(&[]).is_err());
}

/// Wherever a program comes from, the library is there; a file of the program goes before it.
#[test]
fn the_standard_library_needs_no_file() {
    let main = "use std.linalg as la\ndef f(x: f64) -> f64 = la.norm([x, 2.0])\n";
    let directory = Directory::new("std", &[("main.jut", main)]);
    let value = |model: Model| {
        let f = model.function("f").expect("is there").compile(jut::Request::Value);
        f.expect("compiles").call(&[1.5.into()]).expect("runs")[0].floats()[0]
    };
    for model in [
        Model::from_text(main).expect("loads"),
        Model::from_file(directory.file("main.jut")).expect("loads"),
        Model::from_sources(&[("main.jut", main)]).expect("loads"),
    ] {
        assert_eq!(model.functions().collect::<Vec<_>>(), ["std.linalg.norm", "f"]);
        assert_eq!(value(model), 2.5);
    }
    let own = "def norm(x: [2]f64) -> f64 = x[1]\n";
    let files = [("main.jut", main), ("std/linalg.jut", own)];
    let directory = Directory::new("own", &files);
    for model in [
        Model::from_file(directory.file("main.jut")).expect("loads"),
        Model::from_sources(&files).expect("loads"),
    ] {
        assert_eq!(value(model), 2.0);
    }
    let error = Model::from_text("use std.linear").err().expect("refused").to_string();
    assert!(error.contains("std/linear.jut") && error.contains("std.linalg"), "{error}");
}

/// A function that does not fit shows both where it is called and the call that it was given in.
#[test]
fn messages_about_what_is_written_out_show_the_call() {
    let main = "use std.ode\ndef f(k: f64) -> [2]f64 = std.ode.rk4(fn (t, y) -> k * t, [0.0, k], 0.0, 1.0, 5)\n";
    let error = Model::from_text(main).err().expect("refused").to_string();
    for part in ["J202", "std/ode.jut", "a = f(t, y)", "std.ode.rk4(fn (t, y) -> k * t"] {
        assert!(error.contains(part), "{part} is missing in\n{error}");
    }
}
