//! Code is kept on disk: it is read by the next process, and what is damaged is made anew.

#![cfg(feature = "llvm")]

use jut_llvm::BACKEND;
use jut_loop::form::LoopProgram;
use jut_native::{Backend, Compiled, cache};
use jut_runtime::Workspace;
use std::fs;
use std::path::PathBuf;

/// What takes over here is LLVM; what it takes over from must not be asked.
const TIERED: Backend =
    Backend { compile: |_| panic!("the first backend is asked"), then: Some(&BACKEND), ..BACKEND };

fn program(function: &str) -> LoopProgram {
    let text = format!("loop def f(x: f64) -> (f64) = {{\n  y = {function}(x)\n  (y)\n}}\n");
    jut_loop::read::read_program(0, &text).expect("a program")
}

fn call(compiled: &Compiled) -> f64 {
    let mut results = [0];
    let args = [0.5_f64.to_bits()];
    // SAFETY: the program takes a float and gives one.
    let done = unsafe { compiled.call_words(&mut Workspace::new(), &args, &mut results) };
    done.expect("a result");
    f64::from_bits(results[0])
}

/// What the code of a program gives, and how many programs were read and written for it.
fn run(backend: &Backend, function: &str) -> (f64, [u64; 2]) {
    let before = cache::counts();
    let result = call(&backend.compile(&program(function)).expect("code"));
    let after = cache::counts();
    (result, [after.read - before.read, after.written - before.written])
}

/// One test, since a process has one folder.
#[test]
fn code_is_kept_read_again_and_made_anew_if_it_is_damaged() {
    let folder = tempfile::tempdir().expect("a folder");
    let files = || -> Vec<PathBuf> {
        fs::read_dir(folder.path()).expect("files").flatten().map(|file| file.path()).collect()
    };
    let (sine, nothing) = run(&BACKEND, "sin");
    assert_eq!((sine, nothing), (0.5_f64.sin(), [0, 0]), "without a folder nothing is kept");
    // SAFETY: nothing else is put into the folder but what this test damages, which is not run.
    unsafe { cache::use_folder(folder.path()) }.expect("the folder is ours");
    assert_eq!(cache::folder().as_deref(), Some(folder.path()));

    assert_eq!(run(&BACKEND, "sin"), (sine, [0, 1]));
    assert_eq!(files().len(), 1);
    assert_eq!(run(&BACKEND, "sin"), (sine, [1, 0]));
    assert_eq!(run(&BACKEND, "exp"), (0.5_f64.exp(), [0, 1]), "another program, another key");
    assert_eq!(files().len(), 2);

    // What is there is run at once, and nothing takes over from it.
    let compiled = TIERED.compile(&program("sin")).expect("code");
    assert_eq!(call(&compiled), sine);
    assert!(compiled.is_replaced() && compiled.prewarm());

    for file in files() {
        let mut bytes = fs::read(&file).expect("bytes");
        if let Some(last) = bytes.last_mut() {
            *last ^= 1;
        }
        fs::write(&file, bytes).expect("damaged");
    }
    assert_eq!(run(&BACKEND, "sin"), (sine, [0, 1]), "made anew, and kept");
    assert_eq!(run(&BACKEND, "sin"), (sine, [1, 0]));
    std::thread::scope(|scope| {
        for function in ["cos", "cos", "tanh", "cos"] {
            scope.spawn(move || call(&BACKEND.compile(&program(function)).expect("code")));
        }
    });
    assert_eq!(run(&BACKEND, "cos"), (0.5_f64.cos(), [1, 0]));

    // A folder that is gone keeps nothing, and nobody has to know.
    fs::remove_dir_all(folder.path()).expect("it goes");
    assert_eq!(run(&BACKEND, "sin"), (sine, [0, 0]));
    cache::stop();
    assert_eq!(cache::folder(), None);
    assert_eq!(run(&BACKEND, "sin"), (sine, [0, 0]));
}
