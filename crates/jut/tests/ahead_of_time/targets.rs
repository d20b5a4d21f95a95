//! Objects for other machines: their formats, their symbols, and, where there is an emulator, their
//! numbers.

use super::{directory, present, run, sequence, write};
use jut::{BuildOptions, Error, Function, Machine, MathLibrary, Model, Request};
use object::{Architecture, BinaryFormat, Object as _, ObjectSection, ObjectSymbol};

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
    let products = [Request::Value, Request::ValueAndGradient, Request::Jvp, Request::Vjp];
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

pub(super) const AARCH64: &str = "aarch64-unknown-linux-gnu";

#[test]
fn binutils_read_an_aarch64_object_and_disassemble_it() {
    let at = directory("aarch64 binutils");
    let machine = Some(Machine::Any(AARCH64.parse().expect("a triple")));
    let options = BuildOptions { machine, ..BuildOptions::default() };
    let object = sequence().build(&[Request::ValueAndGradient], &options).expect("it builds");
    std::fs::write(at.join("sequence.o"), object.bytes()).expect("writable");
    if present("readelf") {
        let read = run("readelf", &["-hsW", "sequence.o"], &at);
        assert!(read.contains("AArch64") && read.contains("REL (Relocatable file)"), "{read}");
        assert!(read.contains("GLOBAL DEFAULT") && read.contains("loss_value_grad"), "{read}");
    }
    if present("aarch64-linux-gnu-objdump") {
        let code = run("aarch64-linux-gnu-objdump", &["-d", "sequence.o"], &at);
        assert!(code.contains("<loss_value_grad>:") && !code.contains("undefined"), "{code}");
    }
}

/// A program of arithmetic alone, and one with mathematical functions.
pub(super) const PROGRAMS: [(&str, &str); 2] = [
    (
        "plain",
        "def f[n](x: [n]f64) -> f64 = sum (i < n - 1) {
       rise = x[i + 1] - x[i]^2
       100.0 * rise^2 + (1.0 - x[i])^2 / (2.0 + x[i]^2)
     }",
    ),
    (
        "functions",
        "def f[n](x: [n]f64) -> f64 = {
       h = for (t < n) carry (h = build (i < n) { 0.0 }) {
         build (i < n) { tanh(0.5 * h[i] + x[t] * sin(x[i])) }
       }
       log(sum (i < n) { exp(h[i]) })
     }",
    ),
];

/// A C program that prints a gradient and a product with the Hessian.
pub(super) const MAIN: &str = r#"
#include "f.h"
#include <stdio.h>
enum { N = 9 };
int main(void) {
  static double memory[1 << 14];
  double x[N], value, grad[N], tangent[N], hvp[N];
  for (int i = 0; i < N; i++) { x[i] = 0.3 * i - 1.0; tangent[i] = 1.0 / (1 + i); }
  if (sizeof memory < f_value_grad_workspace_size(N) || sizeof memory < f_hvp_workspace_size(N)) return 1;
  if (f_value_grad(N, x, &value, grad, memory, sizeof memory, NULL)) return 2;
  if (f_hvp(N, x, tangent, hvp, memory, sizeof memory, NULL)) return 3;
  jut_error error;
  if (f_value_grad(-1, x, NULL, grad, NULL, 0, &error) != error.status) return 4;
  printf("%.17g\n", value);
  for (int i = 0; i < N; i++) printf("%.17g\n%.17g\n", grad[i], hvp[i]);
  return 0;
}
"#;

#[test]
fn an_aarch64_program_runs_under_an_emulator_and_prints_the_numbers_of_this_machine() {
    let compiler = "aarch64-linux-gnu-gcc";
    if !present(compiler) || !present("qemu-aarch64") {
        return;
    }
    for (name, text) in PROGRAMS {
        let at = directory(&format!("aarch64 {name}"));
        let function = Model::from_text(text).and_then(|m| m.function("f")).expect("it checks");
        let products = [Request::ValueAndGradient, Request::HessianProduct];
        let machine = Some(Machine::Any(AARCH64.parse().expect("a triple")));
        let math = MathLibrary::System;
        let object =
            function.build(&products, &BuildOptions { machine, math, ..BuildOptions::default() });
        let object = object.expect("it builds");
        write(&object, &at, "f");
        std::fs::write(at.join("main.c"), MAIN).expect("writable");
        run(compiler, &["-std=c99", "-static", "main.c", "f.o", "-lm", "-o", "main"], &at);
        let printed = run("qemu-aarch64", &["./main"], &at);
        // The same through a shared library, linked by the usual cross compiler.
        object.link_shared(&at.join("libf.so"), None).expect("it links");
        let library = ["-std=c99", "main.c", "-L.", "-lf", "-Wl,-rpath,$ORIGIN", "-o", "dynamic"];
        run(compiler, &library, &at);
        let system = ["-L", "/usr/aarch64-linux-gnu", "./dynamic"];
        assert_eq!(run("qemu-aarch64", &system, &at), printed);
        compare(name, &function, &printed);
    }
}

/// Whether [`MAIN`] printed the numbers of code in memory.
pub(super) fn compare(name: &str, function: &Function, printed: &str) {
    let printed: Vec<f64> = printed.lines().map(|l| l.trim().parse().expect("a number")).collect();
    let x: Vec<f64> = (0..9).map(|i| 0.3 * f64::from(i) - 1.0).collect();
    let tangent: Vec<f64> = (0..9).map(|i| 1.0 / f64::from(1 + i)).collect();
    let mut gradient = function.value_and_gradient().expect("it compiles").session();
    let mut product = function.compile(Request::HessianProduct).expect("it compiles").session();
    let gradient = gradient.call(&[(&x).into()]).expect("it runs");
    let product = product.call(&[(&x).into(), (&tangent).into()]).expect("it runs");
    let mut expected = vec![gradient.f64("value").expect("a float")];
    let both = gradient.f64s("x").expect("floats").iter().zip(product.f64s("x").expect("floats"));
    expected.extend(both.flat_map(|(g, h)| [*g, *h]));
    assert_eq!(printed.len(), expected.len());
    for (have, want) in printed.iter().zip(&expected) {
        // Without mathematical functions there is nothing in which machines differ.
        let tolerance = if name == "plain" { 0.0 } else { 1e-12 * want.abs().max(1e-3) };
        assert!((have - want).abs() <= tolerance, "{name}: {have} {want}");
    }
}

#[test]
fn what_cannot_be_built_is_said() {
    let function = sequence();
    let twice = function.build(&[Request::Value, Request::Value], &BuildOptions::default());
    assert!(matches!(twice, Err(Error::Request(_))));
    let machine = Some(Machine::Any("riscv64gc-unknown-linux-gnu".parse().expect("a triple")));
    let options = BuildOptions { machine, ..BuildOptions::default() };
    let other = function.build(&[Request::Value], &options).expect_err("no such machine");
    assert!(other.to_string().contains("only x86-64 and aarch64"), "{other}");
    let machine = Some(Machine::Any("aarch64-apple-darwin".parse().expect("a triple")));
    let options = BuildOptions { machine, ..BuildOptions::default() };
    let object = function.build(&[Request::Value], &options).expect("it builds");
    if cfg!(not(all(target_arch = "aarch64", target_os = "macos")))
        && std::env::var_os("JUT_RUNTIME_TARGETS").is_none()
    {
        let missing = object.runtime().expect_err("not built along");
        assert!(missing.to_string().contains("JUT_RUNTIME_TARGETS=aarch64-apple-darwin"));
    }
}
