//! Objects made ahead of time, called by programs of the system's compilers.

use jut::{BuildOptions, Error, Function, Machine, MathLibrary, Model, Object, Product};
use object::{Architecture, BinaryFormat, Object as _, ObjectSection, ObjectSymbol};
use std::path::{Path, PathBuf};
use std::process::Command;

fn examples() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("examples")
}

/// A directory of its own for a test.
fn directory(name: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("ahead_of_time").join(name);
    std::fs::create_dir_all(&path).expect("writable");
    path
}

fn sequence() -> Function {
    let text = std::fs::read_to_string(examples().join("ffi/sequence.jut")).expect("it is there");
    let model = Model::from_named_text("sequence.jut", &text).expect("it checks");
    model.function("loss").and_then(|f| f.wrt(&["table", "decay"])).expect("it is there")
}

/// The object, its header and the runtime, written out.
fn write(object: &Object, at: &Path, stem: &str) {
    std::fs::write(at.join(format!("{stem}.o")), object.bytes()).expect("writable");
    std::fs::write(at.join(format!("{stem}.h")), object.header()).expect("writable");
    if let Some(runtime) = object.runtime().expect("there is a runtime for this machine") {
        std::fs::write(at.join("libjut_runtime.a"), runtime).expect("writable");
    }
}

fn run(program: &str, args: &[&str], at: &Path) -> String {
    let output = Command::new(program).args(args).current_dir(at).output();
    let output = output.unwrap_or_else(|e| panic!("{program}: {e}"));
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{program} {args:?}: {}\n{out}{err}", output.status);
    assert_eq!(err, "", "{program} {args:?}");
    out
}

/// Whether a program can be started. Without a C compiler there is no Rust, so `cc` always can.
fn present(program: &str) -> bool {
    let there = Command::new(program).arg("--version").output().is_ok_and(|o| o.status.success());
    if !there {
        eprintln!("skipped: there is no {program}");
    }
    there
}

/// What the programs in examples/ffi print, computed in memory.
fn expected() -> String {
    let table: Vec<f64> = (0..15).map(|i| f64::from(i * 7 % 11) / 8.0 - 0.5).collect();
    let target: Vec<f64> = (0..3).map(|i| 0.25 * f64::from(i)).collect();
    let compiled = sequence().value_and_gradient().expect("it compiles");
    let mut session = compiled.session();
    let mut text = String::new();
    let mut line = |name: &str, numbers: &[f64]| {
        let bits: Vec<String> = numbers.iter().map(|x| format!("{:016x}", x.to_bits())).collect();
        text += &format!("{name} {}\n", bits.join(" "));
    };
    for decay in [0.5f64, 0.875] {
        let words = [0i64, 3, 1, 4, 3, 2];
        let args = [(&table, &[5, 3]).into(), decay.into(), (&words).into(), (&target).into()];
        let results = session.call(&args).expect("it runs");
        line("value", &[results.f64("value").expect("a float")]);
        line("table", results.f64s("table").expect("floats"));
        line("decay", &[results.f64("decay").expect("a float")]);
    }
    let args = [(&table, &[5, 3]).into(), 0.5.into(), (&[7i64]).into(), (&target).into()];
    let Err(Error::Run(_)) = session.call(&args) else { panic!("word 7 is not in the table") };
    text + "status 1: sequence.jut:6:41: R01: index out of range (7, 5)\n"
}

#[test]
fn c_cpp_and_python_programs_get_the_same_bits_as_code_in_memory_from_two_threads_at_once() {
    let at = directory("programs");
    let object = sequence().build(&[Product::ValueAndGradient], &BuildOptions::default());
    write(&object.expect("it builds"), &at, "sequence");
    let expected = expected();
    let source = |name: &str| examples().join("ffi").join(name).display().to_string();
    let link = ["-I.", "sequence.o", "libjut_runtime.a", "-lpthread", "-o"];

    let strict = ["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror"];
    run("cc", &[&strict[..], &[&source("gradient.c")], &link, &["c"]].concat(), &at);
    assert_eq!(run("./c", &[], &at), expected);

    if present("c++") {
        let strict = ["-std=c++17", "-pedantic", "-Wall", "-Wextra", "-Werror"];
        run("c++", &[&strict[..], &[&source("gradient.cpp")], &link, &["cpp"]].concat(), &at);
        assert_eq!(run("./cpp", &[], &at), expected);
    }
    if present("python3") {
        let library = ["-shared", "-o", "libsequence.so", "sequence.o", "libjut_runtime.a"];
        run("cc", &library, &at);
        let program = source("gradient.py");
        assert_eq!(run("python3", &[&program, "./libsequence.so"], &at), expected);
    }
}

#[test]
fn every_mathematical_function_has_the_same_bits_in_the_static_runtime() {
    let at = directory("mathematics");
    let unary = "exp exp2 expm1 log log2 log10 log1p cbrt sin cos tan asin acos atan sinh cosh tanh \
                 asinh acosh atanh erf erfc erfinv gamma lgamma digamma sigmoid softplus round sign \
                 floor ceil trunc sqrt abs";
    let terms: Vec<String> = unary.split_whitespace().map(|f| format!("{f}(x)")).collect();
    let all = terms.join(", ")
        + ", hypot(x, y), atan2(x, y), beta(x, y), logaddexp(x, y), polygamma(2, x), x^y, powi(x, n)";
    let count = all.matches("(").count() + 1;
    let types = vec!["f64"; count].join(", ");
    let text = format!("def all(x: f64, y: f64, n: i64) -> ({types}) = ({all})");
    let model = Model::from_text(&text).unwrap_or_else(|e| panic!("{e}"));
    let function = model.function("all").expect("it is there");
    let object = function.build(&[Product::Value], &BuildOptions::default()).expect("it builds");
    write(&object, &at, "all");
    let places: Vec<String> = (0..count).map(|k| format!("&r[{k}]")).collect();
    let main = format!(
        "#include \"all.h\"\n#include <stdio.h>\n#include <string.h>\nint main(void) {{\n\
         double x[] = {{0.3, -2.5, 1e-9, 700.5, 1e22, -0.0}}, y[] = {{1.5, -3.0}}, r[{count}];\n\
         for (int i = 0; i < 6; i++) for (int j = 0; j < 2; j++) {{\n\
         if (all_value(x[i], y[j], 3 - 7 * j, {}, NULL, NULL)) return 1;\n\
         for (int k = 0; k < {count}; k++) {{ uint64_t b; memcpy(&b, &r[k], 8);\n\
         printf(\"%016llx\\n\", (unsigned long long)(r[k] == r[k] ? b : 0)); }} }} return 0; }}\n",
        places.join(", ")
    );
    std::fs::write(at.join("main.c"), main).expect("writable");
    run("cc", &["-std=c99", "main.c", "all.o", "libjut_runtime.a", "-o", "main"], &at);
    let mut expected = String::new();
    let mut session = function.value().expect("it compiles").session();
    for x in [0.3, -2.5, 1e-9, 700.5, 1e22, -0.0f64] {
        for (y, n) in [(1.5f64, 3i64), (-3.0, -4)] {
            let results = session.call(&[x.into(), y.into(), n.into()]).expect("it runs");
            for value in results.values() {
                let jut::Value::F64(value) = value else { panic!("a float") };
                let bits = if value.is_nan() { 0 } else { value.to_bits() };
                expected += &format!("{bits:016x}\n");
            }
        }
    }
    assert_eq!(run("./main", &[], &at), expected);
}

#[test]
fn with_the_systems_mathematics_nothing_but_libm_is_linked_and_memory_is_the_callers() {
    let at = directory("system");
    let options = BuildOptions { math: MathLibrary::System, ..BuildOptions::default() };
    let object = sequence().build(&[Product::ValueAndGradient], &options).expect("it builds");
    assert_eq!(object.runtime().expect("none is needed"), None);
    write(&object, &at, "sequence");
    let main = "#include \"sequence.h\"\n#include <stdio.h>\n\
        static double memory[4096];\n\
        int main(void) {\n\
        double table[15], target[3] = {0, 0.25, 0.5}, value, grad[15], decay;\n\
        int64_t words[6] = {0, 3, 1, 4, 3, 2};\n\
        for (int i = 0; i < 15; i++) table[i] = (i * 7 % 11) / 8.0 - 0.5;\n\
        jut_error error;\n\
        int few = loss_value_grad(5, 3, 6, table, 0.5, words, target, &value, grad, &decay,\n\
            memory, 100, &error);\n\
        printf(\"%d %s\\n\", few, error.message);\n\
        int status = loss_value_grad(5, 3, 6, table, 0.5, words, target, &value, grad, &decay,\n\
            memory, sizeof memory, &error);\n\
        printf(\"%d %.15g %.15g\\n\", status, value, decay);\n\
        return 0; }\n";
    std::fs::write(at.join("main.c"), main).expect("writable");
    run("cc", &["-std=c99", "main.c", "sequence.o", "-lm", "-o", "main"], &at);
    let printed = run("./main", &[], &at);
    let (few, enough) = printed.split_once('\n').expect("two lines");
    assert!(few.starts_with("6 sequence.jut:") && few.ends_with("R06: not enough memory"), "{few}");
    let numbers: Vec<f64> =
        enough.split_whitespace().map(|word| word.parse().expect("a number")).collect();
    let table: Vec<f64> = (0..15).map(|i| f64::from(i * 7 % 11) / 8.0 - 0.5).collect();
    let words = [0i64, 3, 1, 4, 3, 2];
    let mut session = sequence().value_and_gradient().expect("it compiles").session();
    let args = [(&table, &[5, 3]).into(), 0.5.into(), (&words).into(), (&[0.0, 0.25, 0.5]).into()];
    let results = session.call(&args).expect("it runs");
    let exact = [0.0, results.f64("value").expect("."), results.f64("decay").expect(".")];
    for (number, exact) in numbers.iter().zip(exact) {
        assert!((number - exact).abs() <= 1e-13 * exact.abs(), "{number} {exact}");
    }
}

#[test]
fn objects_for_other_machines_have_their_format_and_export_only_the_functions() {
    let targets = [
        ("x86_64-unknown-linux-gnu", BinaryFormat::Elf, Architecture::X86_64, ""),
        ("aarch64-unknown-linux-gnu", BinaryFormat::Elf, Architecture::Aarch64, ""),
        ("x86_64-apple-darwin", BinaryFormat::MachO, Architecture::X86_64, "_"),
        ("aarch64-apple-darwin", BinaryFormat::MachO, Architecture::Aarch64, "_"),
        ("x86_64-pc-windows-msvc", BinaryFormat::Coff, Architecture::X86_64, ""),
        ("aarch64-pc-windows-msvc", BinaryFormat::Coff, Architecture::Aarch64, ""),
    ];
    let products = [Product::Value, Product::ValueAndGradient, Product::Jvp, Product::Vjp];
    for (target, format, architecture, underscore) in targets {
        for math in [MathLibrary::Jut, MathLibrary::System] {
            let machine = Some(Machine::Any(target.parse().expect("a triple")));
            let options = BuildOptions { machine, math, ..BuildOptions::default() };
            let built = sequence().build(&products, &options).unwrap_or_else(|e| panic!("{e}"));
            let file = object::File::parse(built.bytes()).expect(target);
            assert_eq!((file.format(), file.architecture()), (format, architecture), "{target}");
            let mut exported: Vec<&str> = file
                .symbols()
                .filter(|s| s.is_global() && s.is_definition())
                .filter_map(|s| s.name().ok())
                .collect();
            exported.sort_unstable();
            let names = ["jvp", "value", "value_grad", "vjp"];
            let names = names.map(|name| format!("{underscore}loss_{name}"));
            let mut names: Vec<String> =
                names.into_iter().flat_map(|n| [n.clone(), n + "_workspace_size"]).collect();
            names.sort_unstable();
            assert_eq!(exported, names, "{target}");
            assert!(file.section_by_name(".eh_frame").is_none(), "{target}");
            let imports = file.symbols().filter(|s| s.is_undefined());
            let ours = imports.filter_map(|s| s.name().ok()).filter(|n| n.contains("jut_"));
            assert_eq!(ours.count() > 0, math == MathLibrary::Jut, "{target}");
            assert!(file.sections().any(|s| s.size() > 0), "{target}");
        }
    }
}

#[test]
fn a_function_that_needs_no_memory_needs_no_workspace_and_no_runtime() {
    let model = Model::from_text("def f[n](x: [n]f64) -> f64 = sum (i < n) { x[i] * x[i] }");
    let function = model.and_then(|m| m.function("f")).expect("it checks");
    let object = function.build(&[Product::Value], &BuildOptions::default()).expect("it builds");
    assert!(object.header().contains("may be NULL: this function needs none"));
    let file = object::File::parse(object.bytes()).expect("an object");
    let undefined: Vec<&str> =
        file.symbols().filter(|s| s.is_undefined()).filter_map(|s| s.name().ok()).collect();
    assert!(undefined.iter().all(|name| name.is_empty()), "{undefined:?}");
}

#[test]
fn what_cannot_be_built_is_said() {
    let function = sequence();
    let twice = function.build(&[Product::Value, Product::Value], &BuildOptions::default());
    assert!(matches!(twice, Err(Error::Request(_))));
    let machine = Some(Machine::Any("riscv64gc-unknown-linux-gnu".parse().expect("a triple")));
    let options = BuildOptions { machine, ..BuildOptions::default() };
    let other = function.build(&[Product::Value], &options).expect_err("no such machine");
    assert!(other.to_string().contains("only x86-64 and aarch64"), "{other}");
    let machine = Some(Machine::Any("aarch64-apple-darwin".parse().expect("a triple")));
    let options = BuildOptions { machine, ..BuildOptions::default() };
    let object = function.build(&[Product::Value], &options).expect("it builds");
    if cfg!(not(all(target_arch = "aarch64", target_os = "macos")))
        && std::env::var_os("JUT_RUNTIME_TARGETS").is_none()
    {
        let missing = object.runtime().expect_err("not built along");
        assert!(missing.to_string().contains("JUT_RUNTIME_TARGETS=aarch64-apple-darwin"));
    }
}
