//! Objects for other systems: linked, and, where there is an emulator, run.

use super::foreign::{expected, source};
use super::targets::{AARCH64, MAIN, PROGRAMS, compare};
use super::{directory, engines, not_run, present, run, sequence, starts, write};
use jut::{BuildOptions, Engine, Function, Machine, MathLibrary, Model, Object, Request};
use std::path::Path;
use std::process::Command;

fn function(text: &str, engine: Engine) -> Function {
    Model::from_text(text).and_then(|m| m.function("f")).expect("it checks").engine(engine)
}

/// A gradient and a product with the Hessian, for a target, without the runtime.
fn object(function: &Function, target: &str) -> Object {
    let machine = Some(Machine::Any(target.parse().expect("a triple")));
    let options = BuildOptions { machine, math: MathLibrary::System, ..BuildOptions::default() };
    let products = [Request::ValueAndGradient, Request::HessianProduct];
    function.build(&products, &options).expect("it builds")
}

/// A program that emulates Windows, if there is one.
fn wine() -> Option<&'static str> {
    let found = ["wine64", "/usr/lib/wine/wine64", "wine"].into_iter().find(|name| starts(name));
    if found.is_none() {
        not_run("there is no wine on this machine");
    }
    found
}

fn run_for_windows(emulator: &str, program: &str, at: &Path) -> String {
    let mut command = Command::new(emulator);
    // A folder of its own for what an installed Windows has, and no word but the program's.
    let settings = directory("wine").join("settings");
    command.arg(program).current_dir(at).env("WINEPREFIX", settings).env("WINEDEBUG", "-all");
    let output = command.output().unwrap_or_else(|e| panic!("{emulator}: {e}"));
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{program}: {}\n{printed}", output.status);
    printed
}

#[test]
fn objects_for_windows_are_linked_and_print_the_numbers_of_this_machine() {
    let compiler = "x86_64-w64-mingw32-gcc";
    if !present(compiler) {
        return;
    }
    let wine = wine();
    for (name, text) in PROGRAMS {
        for engine in engines() {
            let function = function(text, engine);
            for target in ["x86_64-pc-windows-gnu", "x86_64-pc-windows-msvc"] {
                let at = directory(&format!("{target} {name} {engine:?}"));
                write(&object(&function, target), &at, "f");
                std::fs::write(at.join("main.c"), MAIN).expect("writable");
                let warnings = ["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror"];
                let link = ["main.c", "f.o", "-lm", "-o", "main.exe"];
                run(compiler, &[&warnings[..], &link].concat(), &at);
                let Some(wine) = wine else { continue };
                compare(name, &function, &run_for_windows(wine, "main.exe", &at));
            }
        }
    }
}

#[test]
fn objects_for_macos_are_linked_into_libraries_that_export_the_functions() {
    let (linker, reader) = ("ld64.lld-22", "llvm-objdump-22");
    if !present(linker) || !present(reader) {
        return;
    }
    for (name, text) in PROGRAMS {
        for engine in engines() {
            let function = function(text, engine);
            for (architecture, target) in
                [("x86_64", "x86_64-apple-darwin"), ("arm64", "aarch64-apple-darwin")]
            {
                let at = directory(&format!("{target} {name} {engine:?}"));
                write(&object(&function, target), &at, "f");
                let machine = ["-arch", architecture, "-platform_version", "macos", "11.0", "11.0"];
                let link = ["-dylib", "-undefined", "dynamic_lookup", "-o", "libf.dylib", "f.o"];
                run(linker, &[&["-fatal_warnings"], &machine[..], &link].concat(), &at);
                let tables = ["--macho", "--exports-trie", "--bind", "--lazy-bind", "libf.dylib"];
                let read = run(reader, &tables, &at);
                let (exported, imported) = read.split_once("Bind table").expect(&read);
                for product in ["value_grad", "hvp"] {
                    for name in [format!("_f_{product}"), format!("_f_{product}_workspace_size")] {
                        let found = exported.lines().any(|line| line.ends_with(&name));
                        assert!(found, "{name}\n{read}");
                    }
                }
                assert_eq!(imported.contains(" _tanh"), name == "functions", "{read}");
                let code = run(reader, &["--macho", "-d", "libf.dylib"], &at);
                assert!(code.contains("\n_f_value_grad:\n"), "{code}");
                assert!(!code.contains("invalid") && !code.contains("<unknown>"), "{code}");
            }
        }
    }
}

/// With jut's own mathematical functions all machines give the same bits.
#[test]
fn programs_for_other_machines_get_the_bits_of_code_in_memory() {
    let windows = "x86_64-pc-windows-gnu";
    for (target, compiler) in
        [(AARCH64, "aarch64-linux-gnu-gcc"), (windows, "x86_64-w64-mingw32-gcc")]
    {
        for engine in engines() {
            let machine = Some(Machine::Any(target.parse().expect("a triple")));
            let options = BuildOptions { machine, ..BuildOptions::default() };
            let products = [Request::ValueAndGradient, Request::HessianProduct];
            let object = sequence().engine(engine).build(&products, &options).expect("it builds");
            if object.runtime().is_err() {
                not_run(&format!("jut was built without JUT_RUNTIME_TARGETS={target}"));
                break;
            }
            if !present(compiler) {
                break;
            }
            let at = directory(&format!("runtime {target} {engine:?}"));
            write(&object, &at, "sequence");
            let program = source("gradient.c");
            let link = ["sequence.o", "libjut_runtime.a", "-lpthread", "-o", "main.exe"];
            let options = ["-std=c99", "-static", "-I.", &program];
            run(compiler, &[&options[..], &link].concat(), &at);
            if target == AARCH64 && present("qemu-aarch64") {
                assert_eq!(run("qemu-aarch64", &["./main.exe"], &at), expected());
            }
            if let Some(wine) = wine().filter(|_| target == windows) {
                let printed = run_for_windows(wine, "main.exe", &at);
                assert_eq!(printed.replace('\r', ""), expected());
            }
        }
    }
}
