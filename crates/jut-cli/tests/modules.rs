//! Programs of several files on the command line: every command loads them.

use crate::support::{directory, jut, write};

#[test]
fn every_command_takes_a_program_of_several_files() {
    let d = directory("modules");
    let main = write(&d, "main.jut", "use lib.fit\n\ndef f[n](x: [n]f64) -> f64 = lib.fit.g(x)\n");
    write(
        &d,
        "lib/fit.jut",
        "use base\n\ndef g[n](x: [n]f64) -> f64 = sum (v <- x) { base.square(v) }\n",
    );
    write(&d, "lib/base.jut", "def square(x: f64) -> f64 = x * x\n");
    let good = |args: &[&str]| {
        let (code, out, err) = jut(args);
        assert_eq!((code, err.as_str()), (0, ""), "{args:?}: {out}");
        out
    };
    assert!(good(&["check", &main]).contains("3 definitions, no errors"));
    let x = ["--arg", "x=[1, 2]"];
    assert_eq!(good(&["run", &main, x[0], x[1]]), "value = 5.0\n");
    let gradient = good(&["grad", &main, x[0], x[1], "--check"]);
    assert!(gradient.contains("gradient x = [2.0,4.0]"), "{gradient}");
    assert_eq!(good(&["run", &main, "lib.base.square", "--arg", "x=3"]), "value = 9.0\n");
    assert!(good(&["show", &main, "--stage", "forward"]).contains("core def lib.fit.g.jvp("));
    let object = d.join("f.o").display().to_string();
    good(&["build", &main, "-o", &object]);
}

#[test]
fn a_message_about_a_module_shows_its_file_as_text_and_as_json() {
    let d = directory("modules-wrong");
    let main = write(&d, "main.jut", "use a\nuse b\ndef f(x: f64) -> f64 = a.g(x)\n");
    write(&d, "a.jut", "def g(x: f64) -> f64 =\n  x + y\n");
    let (code, _, err) = jut(&["check", &main]);
    assert_eq!(code, 1);
    for part in ["J010", "a.jut:2:7", "x + y", "J015", "main.jut:2:5", "there is no file b.jut"] {
        assert!(err.contains(part), "{part} is missing in\n{err}");
    }
    let (code, out, _) = jut(&["check", &main, "--format", "json"]);
    assert_eq!(code, 1);
    for part in ["\"code\":\"J010\"", "a.jut\"", "\"line\":2", "\"code\":\"J015\""] {
        assert!(out.contains(part), "{part} is missing in\n{out}");
    }
}
