//! The programs of `examples/ffi`, built by the compilers of the system: the bits of code in memory,
//! from two threads at once, and nothing that valgrind complains of.

use super::{directory, engines, examples, not_run, present, run, sequence, table, write};
use jut::{Arg, BuildOptions, Engine, Error, Request};
use std::path::Path;
use std::process::Command;

/// What every one of the programs prints, computed in memory.
pub(super) fn expected() -> String {
    let table = table();
    let target: Vec<f64> = (0..3).map(|i| 0.25 * f64::from(i)).collect();
    let tangent: Vec<f64> = (0..15).map(|i| f64::from(i % 4) - 1.5).collect();
    let function = sequence();
    let mut gradient = function.value_and_gradient().expect("it compiles").session();
    let product = function.compile(Request::HessianProduct).expect("it compiles");
    let mut product = product.session();
    let mut text = String::new();
    let mut line = |name: &str, numbers: &[f64]| {
        let bits: Vec<String> = numbers.iter().map(|x| format!("{:016x}", x.to_bits())).collect();
        text += &format!("{name} {}\n", bits.join(" "));
    };
    for decay in [0.5f64, 0.875] {
        let words = [0i64, 3, 1, 4, 3, 2];
        let mut args: Vec<Arg<'_>> =
            vec![(&table, &[5, 3]).into(), decay.into(), (&words).into(), (&target).into()];
        let results = gradient.call(&args).expect("it runs");
        line("value", &[results.f64("value").expect("a float")]);
        line("table", results.f64s("table").expect("floats"));
        line("decay", &[results.f64("decay").expect("a float")]);
        args.push((&tangent, &[5, 3]).into());
        args.push(0.5.into());
        let results = product.call(&args).expect("it runs");
        line("hvp table", results.f64s("table").expect("floats"));
        line("hvp decay", &[results.f64("decay").expect("a float")]);
    }
    let args = [(&table, &[5, 3]).into(), 0.5.into(), (&[7i64]).into(), (&target).into()];
    let Err(Error::Run(_)) = gradient.call(&args) else { panic!("word 7 is not in the table") };
    text + "status 1: sequence.jut:6:41: R01: index out of range (7, 5)\n"
}

/// The object of the gradient and the product with the Hessian, written out.
fn built(name: &str, engine: Engine) -> std::path::PathBuf {
    let at = directory(&format!("{name}-{engine:?}"));
    let products = [Request::ValueAndGradient, Request::HessianProduct];
    let object =
        sequence().engine(engine).build(&products, &BuildOptions::default()).expect("it builds");
    write(&object, &at, "sequence");
    at
}

pub(super) fn source(name: &str) -> String {
    examples().join("ffi").join(name).display().to_string()
}

/// Runs a program under valgrind, if there is one: reads and writes outside of what was allocated, or
/// of what was never written, and memory that nobody can give back any more, are failures.
fn under_valgrind(program: &str, at: &Path) {
    if present("valgrind") {
        let leaks = ["--show-leak-kinds=definite", "--errors-for-leak-kinds=definite"];
        let options =
            ["-q", "--error-exitcode=9", "--leak-check=full", leaks[0], leaks[1], program];
        assert_eq!(run("valgrind", &options, at), expected());
    }
}

const LINK: [&str; 5] = ["-I.", "sequence.o", "libjut_runtime.a", "-lpthread", "-o"];
const STRICT: [&str; 4] = ["-pedantic", "-Wall", "-Wextra", "-Werror"];

#[test]
fn a_c_program_gets_the_bits_of_code_in_memory() {
    for engine in engines() {
        let at = built("c", engine);
        let program = source("gradient.c");
        run("cc", &[&["-std=c99"], &STRICT[..], &[&program], &LINK, &["c"]].concat(), &at);
        assert_eq!(run("./c", &[], &at), expected());
        under_valgrind("./c", &at);
    }
}

#[test]
fn a_cpp_program_gets_the_bits_of_code_in_memory() {
    for engine in engines() {
        let at = built("cpp", engine);
        if present("c++") {
            let program = source("gradient.cpp");
            run("c++", &[&["-std=c++17"], &STRICT[..], &[&program], &LINK, &["cpp"]].concat(), &at);
            assert_eq!(run("./cpp", &[], &at), expected());
            under_valgrind("./cpp", &at);
            // The header is C++ of all ages.
            std::fs::write(at.join("old.cpp"), "#include \"sequence.h\"\n").expect("writable");
            run(
                "c++",
                &[&["-std=c++98", "-Wno-long-long", "-c", "old.cpp"], &STRICT[..]].concat(),
                &at,
            );
        }
    }
}

#[test]
fn a_fortran_program_gets_the_bits_of_code_in_memory() {
    for engine in engines() {
        let at = built("fortran", engine);
        if present("gfortran") {
            let program = source("gradient.f90");
            let options = ["-fopenmp", "-Wall", "-Wextra", "-Werror", &program];
            run("gfortran", &[&options[..], &LINK[1..], &["fortran"]].concat(), &at);
            assert_eq!(run("./fortran", &[], &at), expected());
            under_valgrind("./fortran", &at);
        }
    }
}

#[test]
fn a_python_program_with_numpy_gets_the_bits_of_code_in_memory() {
    let at = directory("python");
    // Debian's packages are of its own Python, which may not be the first on the path.
    let numpy = |python: &&str| {
        let output = Command::new(python).args(["-c", "import numpy"]).output();
        output.is_ok_and(|o| o.status.success())
    };
    let Some(python) = ["python3", "/usr/bin/python3"].into_iter().find(numpy) else {
        not_run("there is no python3 with numpy on this machine");
        return;
    };
    let products = [Request::ValueAndGradient, Request::HessianProduct];
    let object = sequence().build(&products, &BuildOptions::default()).expect("it builds");
    object.link_shared(&at.join("libsequence.so"), None).expect("it links");
    assert_eq!(run(python, &[&source("gradient.py"), "./libsequence.so"], &at), expected());
}
