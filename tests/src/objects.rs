//! P16 for objects made ahead of time: a C program calls them, linked with the static runtime, and
//! gets the interpreter's bits, or its error.
//!
//! Many functions go into one object and are called by one C program, whose text has all arguments;
//! it prints every result as bits. Arguments and results cross the border as components of the loop
//! form, numbered by its calling convention, which is the order of the C parameters here.
//!
//! *Requires*: a C compiler. *Ensures*: an `Err` names the first function that differs. *Cost*: a run
//! of the interpreter and a compilation for each function, and a C compilation and run for each backend.

use crate::engines::{Border, Run, backends, same};
use crate::foreign::functions;
use crate::products::{Product, optimised};
use jut_cranelift::Isa;
use jut_eval::{EvalError, Interpreter};
use jut_ir::entity::EntityRef;
use jut_ir::{Literal, RuntimeError, RuntimeErrorKind, Span};
use jut_loop::form::{Cell, Foreign, Kind, Role};
use jut_loop::signature::{AbiComponent, Cells, Flat};
use jut_loop::{Lowered, lower, need};
use jut_native::CompileError;
use jut_native::object::{Machine, MathLibrary, ObjectWriter, Report};
use std::fmt::Write;
use std::path::Path;
use std::process::Command;

/// Functions and data for all calls.
const HEAD: &str = "#include <stdint.h>
#include <stdio.h>
#include <string.h>
typedef struct { int32_t status, line, column, count; const char *m; int64_t numbers[3]; } error_t;
void *jut_workspace_new(void);
static double f(uint64_t bits) { double x; memcpy(&x, &bits, 8); return x; }
static float g(uint32_t bits) { float x; memcpy(&x, &bits, 4); return x; }
static int64_t size(int64_t n) { return n < 0 ? 0 : n; }
static void words(const uint64_t *x, int64_t n) {
  for (int64_t i = 0; i < n; i++) printf(\" %llx\", (unsigned long long)x[i]);
  printf(\"\\n\");
}
static void halves(const uint32_t *x, int64_t n) {
  for (int64_t i = 0; i < n; i++) printf(\" %x\", x[i]);
  printf(\"\\n\");
}
static void bytes(const uint8_t *x, int64_t n) {
  for (int64_t i = 0; i < n; i++) printf(\" %x\", x[i]);
  printf(\"\\n\");
}
static int failed(int status, const error_t *e) {
  printf(\"%d %d %d\", status, e->line, e->column);
  for (int i = 0; i < e->count; i++) printf(\" %lld\", (long long)e->numbers[i]);
  printf(\"\\n\");
  return status;
}
";

/// The functions of other languages that test programs call, as [`crate::foreign`] has them.
const FOREIGN: &str = "
#define FOREIGN(name) void name(double *r, const double *x, const int64_t *k, double *failed, \\
                                int64_t count, int64_t floats, int64_t integers, int64_t number)
static double total(const double *x, int64_t n) {
  double s = -0.0;
  for (int64_t i = 0; i < n; i++) s += x[i];
  return s;
}
static void sparse(double *r, const double *x, int64_t count, int64_t floats, int64_t n, const int64_t *to,
                   const int64_t *from, double *failed) {
  for (int64_t j = 0; j < n; j++) {
    if (to[j] < 0 || to[j] >= count || from[j] < 0 || from[j] >= floats - n) { *failed = 1.0; return; }
    r[to[j]] += x[j] * x[n + from[j]];
  }
}
FOREIGN(test_scale) { for (int64_t i = 0; i < count; i++) r[i] = x[i] * x[count + i]; }
FOREIGN(test_scale_by) { for (int64_t i = 0; i < count; i++) r[i] = x[count + i] * x[2 * count + i]; }
FOREIGN(test_blur) {
  for (int64_t i = 0; i < count; i++) r[i] = x[0] * x[2 + i] + (i + 1 < count ? x[1] * x[3 + i] : 0.0);
}
FOREIGN(test_blur_back) {
  for (int64_t i = 0; i < count; i++) r[i] = x[0] * x[2 + i] + (i > 0 ? x[1] * x[1 + i] : 0.0);
}
FOREIGN(test_sparse) { sparse(r, x, count, floats, size(k[2]), k + 3, k + 3 + size(k[2]), failed); }
FOREIGN(test_sparse_back) { sparse(r, x, count, floats, size(k[2]), k + 3 + size(k[2]), k + 3, failed); }
FOREIGN(test_pair) {
  for (int64_t i = 0; i < count - 1; i++) r[i] = x[i] + x[count - 1 + i];
  r[count - 1] = total(x, count - 1);
}
FOREIGN(test_pair_back) {
  int64_t n = size(k[0]);
  for (int64_t i = 0; i < n; i++) { r[i] = x[i] + x[n]; r[n + i] = x[i]; }
}
FOREIGN(test_spread) { for (int64_t i = 0; i < count; i++) r[i] = x[0]; }
FOREIGN(test_collect) { r[0] = total(x, floats); }
FOREIGN(test_fails) { *failed = 1.0; }
";

/// A product, optimised, with what the interpreter gives.
struct Made {
    product: Product,
    lowered: Lowered,
    expected: Run,
}

impl Made {
    fn new(product: &Product) -> Result<Made, String> {
        let product = optimised(product);
        let named = |e: String| format!("{}: {e}", product.name);
        let interpreter = Interpreter::new(&product.program);
        let call = || interpreter.call(product.func, &product.args, &[], &[]);
        let expected = match jut_runtime::foreign::with(&functions(&product.program), call) {
            Ok(outcome) => Ok(outcome.results),
            Err(EvalError::Runtime(error)) => Err(error),
            Err(error) => return Err(named(format!("{error:?}"))),
        };
        let mut lowered =
            lower(&product.program, product.func).map_err(|e| named(e.to_string()))?;
        lowered.program.foreign = Foreign::Symbols(product.program.foreign_names());
        Ok(Made { product, lowered, expected })
    }

    fn border(&self) -> Result<Border<'_>, String> {
        let Product { name, program, func, args } = &self.product;
        Border::new(program, *func, &self.lowered, args).map_err(|e| format!("{name}: {e}"))
    }
}

/// Of how many products the backends that take long to compile get one: what is different in objects is how a
/// function is called, and code in memory is compared for all of them.
const SLOW: usize = 3;

/// Compiles the products into one object of each backend, optimised, and calls them all from C. The directory is
/// where files go. Gives how many the first backend was called for: those whose results have buffers of buffers, which C
/// has no type for, are not.
///
/// # Errors
/// The first disagreement with the interpreter, or a refusal.
pub fn agree(at: &Path, products: &[Product]) -> Result<usize, String> {
    let say = |e: CompileError| e.to_string();
    let machine = Machine::Any(Isa::host().map_err(say)?.triple().clone());
    let made = products.iter().map(Made::new).collect::<Result<Vec<_>, String>>()?;
    let mut count = None;
    for (name, backend) in backends() {
        if let Some(object) = backend.object {
            let file = object(&machine, MathLibrary::Jut).map_err(say)?;
            let asked = made.iter().step_by(if count.is_none() { 1 } else { SLOW });
            let called = agree_by(&at.join(name), &asked.collect::<Vec<_>>(), file);
            let called = called.map_err(|e| format!("{name}: {e}"))?;
            count.get_or_insert(called);
        }
    }
    Ok(count.unwrap_or(0))
}

/// The same, with one backend.
fn agree_by(at: &Path, made: &[&Made], mut file: Box<dyn ObjectWriter>) -> Result<usize, String> {
    let say = |e: CompileError| e.to_string();
    let triple = file.triple().clone();
    let (mut c, mut main) = ([HEAD, FOREIGN].concat(), String::new());
    let mut called: Vec<(usize, &Made)> = Vec::new();
    for (k, made) in made.iter().enumerate() {
        let border = made.border()?;
        let Some(call) = Call::new(k, &border) else { continue };
        let order: Vec<usize> = (0..border.params.len() + call.results.len()).collect();
        let program = &made.lowered.program;
        let need = need::query(program).ok();
        let mut report = |kind: RuntimeErrorKind, span: Span| Report {
            line: span.start,
            column: span.end,
            message: kind.code().to_owned(),
            numbers: kind.operand_count(),
        };
        file.add(&format!("p{k}"), program, &order, need.as_ref(), &mut report)
            .map_err(|e| format!("{}: {e}", made.product.name))?;
        call.write(&mut c, &mut main);
        called.push((k, made));
    }
    let io = |what: &'static str| move |e: std::io::Error| format!("{what}: {e}");
    std::fs::create_dir_all(at).map_err(io("directory"))?;
    let _ = write!(c, "int main(void) {{\nvoid *w = jut_workspace_new();\n{main}return 0;\n}}\n");
    std::fs::write(at.join("main.c"), c).map_err(io("main.c"))?;
    std::fs::write(at.join("p.o"), file.finish().map_err(say)?.bytes).map_err(io("p.o"))?;
    std::fs::write(at.join("jut_runtime.o"), jut_static::runtime(&triple)?)
        .map_err(io("runtime"))?;
    run(at, "cc", &["-std=c99", "-w", "main.c", "p.o", "jut_runtime.o", "-o", "main"])?;
    let printed = run(at, "./main", &[])?;
    let mut lines = printed.lines();
    for (k, made) in &called {
        let mut border = made.border()?;
        let call = Call::new(*k, &border).ok_or("a call is gone")?;
        let got = call.read(&mut border, &mut lines)?;
        let agree = match (&made.expected, &got) {
            (Ok(a), Ok(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
            (Err(a), Err(b)) => a == b,
            _ => false,
        };
        if !agree {
            let (name, expected) = (&made.product.name, &made.expected);
            return Err(format!("P16: {name}: the object gives\n{got:?}\nnot\n{expected:?}"));
        }
    }
    Ok(called.len())
}

fn run(at: &Path, program: &str, args: &[&str]) -> Result<String, String> {
    let output = Command::new(program).args(args).current_dir(at).output();
    let output = output.map_err(|e| format!("{program}: {e}"))?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        false => Err(format!(
            "{program}: {}: {}",
            output.status,
            String::from_utf8_lossy(&output.stderr)
        )),
    }
}

/// One function with its arguments.
struct Call {
    k: usize,
    params: Vec<(AbiComponent, Flat)>,
    /// What is returned, by number.
    results: Vec<AbiComponent>,
}

impl Call {
    /// The call, unless C has no type for it.
    fn new(k: usize, border: &Border<'_>) -> Option<Call> {
        let signature = &border.lowered.signature;
        let components = signature.results.iter().flat_map(|r| &r.components);
        let mut results: Vec<AbiComponent> =
            components.filter(|c| c.number >= signature.param_count).cloned().collect();
        results.sort_by_key(|c| c.number);
        let params: Vec<_> = border.params.iter().cloned().zip(border.args.clone()).collect();
        let nested = |kind: Kind| matches!(kind, Kind::Buffer(Cell::Buffer | Cell::Word));
        let plain =
            !params.iter().any(|(c, _)| nested(c.kind)) && !results.iter().any(|c| nested(c.kind));
        plain.then_some(Call { k, params, results })
    }

    /// The number of cells as a C expression.
    fn cells(&self, component: &AbiComponent) -> String {
        let k = self.k;
        let value = |number: usize| match self.params.get(number) {
            Some((_, Flat::Scalar(Literal::I64(n)))) => format!("(int64_t){:#x}ULL", *n as u64),
            _ => format!("(int64_t)r{k}_{number}"),
        };
        let dim = |size: &jut_ir::Size| {
            let terms = size.terms().iter().map(|(names, factor)| {
                let factors = names.iter().map(|v| format!(" * {}", value(v.index())));
                format!("INT64_C({factor}){}", factors.collect::<String>())
            });
            format!(
                "size({})",
                ["0".to_owned()].into_iter().chain(terms).collect::<Vec<_>>().join(" + ")
            )
        };
        let dims: Vec<String> = component.dims.iter().map(dim).collect();
        if dims.is_empty() { "1".to_owned() } else { dims.join(" * ") }
    }

    fn integer(&self, number: usize) -> i64 {
        match self.params.get(number) {
            Some((_, Flat::Scalar(Literal::I64(n)))) => *n,
            _ => 0,
        }
    }

    /// What is written, in the order in which it is printed: its name in C, its kind and its cells.
    fn written(&self) -> Vec<(String, Kind, String)> {
        let k = self.k;
        let mut all = Vec::new();
        for (j, (component, _)) in self.params.iter().enumerate() {
            if component.role != Some(Role::In) {
                all.push((format!("a{k}_{j}"), component.kind, self.cells(component)));
            }
        }
        for component in &self.results {
            let name = format!("r{k}_{}", component.number);
            match component.kind {
                Kind::Buffer(_) => all.push((name, component.kind, self.cells(component))),
                kind => all.push((format!("&{name}"), Kind::Buffer(Cell::of(kind)), "1".into())),
            }
        }
        all
    }

    fn write(&self, c: &mut String, main: &mut String) {
        let k = self.k;
        let (mut types, mut args) = (Vec::new(), Vec::new());
        for (j, (component, flat)) in self.params.iter().enumerate() {
            let list = |words: Vec<String>, ty: &str, n: usize| {
                let n = n.max(words.len()).max(1);
                let cells = if words.is_empty() { "0".to_owned() } else { words.join(",") };
                format!("static {ty} a{k}_{j}[{n}] = {{{cells}}};\n")
            };
            let n = component.cell_count(&mut |number| self.integer(number)).unwrap_or(0);
            let (ty, arg) = match flat {
                Flat::Scalar(Literal::F64(x)) => ("double", format!("f({:#x}ULL)", x.to_bits())),
                Flat::Scalar(Literal::F32(x)) => ("float", format!("g({:#x}U)", x.to_bits())),
                Flat::Scalar(Literal::I64(x)) => {
                    ("int64_t", format!("(int64_t){:#x}ULL", *x as u64))
                }
                Flat::Scalar(Literal::I32(x)) => ("int32_t", format!("(int32_t){:#x}U", *x as u32)),
                Flat::Scalar(Literal::Bool(x)) => ("uint8_t", u8::from(*x).to_string()),
                Flat::Buffer(cells) => {
                    let words = |x: Vec<u64>| x.into_iter().map(|x| format!("{x:#x}ULL")).collect();
                    c.push_str(&match cells {
                        Cells::F64(x) => {
                            list(words(x.iter().map(|x| x.to_bits()).collect()), "uint64_t", n)
                        }
                        Cells::F32(x) => {
                            let bits = x.iter().map(|x| u64::from(x.to_bits()));
                            list(words(bits.collect()), "uint32_t", n)
                        }
                        Cells::I64(x) => {
                            list(words(x.iter().map(|x| *x as u64).collect()), "uint64_t", n)
                        }
                        Cells::I32(x) => {
                            let bits = x.iter().map(|x| u64::from(x.cast_unsigned()));
                            list(words(bits.collect()), "uint32_t", n)
                        }
                        Cells::Bool(x) => {
                            list(x.iter().map(|x| x.to_string()).collect(), "uint8_t", n)
                        }
                        Cells::Buffers(_) => String::new(),
                    });
                    ("void *", format!("a{k}_{j}"))
                }
            };
            types.push(ty);
            args.push(arg);
        }
        for component in &self.results {
            types.push("void *");
            let name = format!("r{k}_{}", component.number);
            let ty = match component.kind {
                Kind::Buffer(_) => "void *",
                Kind::BOOL => "uint8_t ",
                _ => "uint64_t ",
            };
            let _ = writeln!(c, "static {ty}{name};");
            args.push(format!("&{name}"));
        }
        types.extend(["void *", "error_t *"]);
        args.extend(["w".to_owned(), "&e".to_owned()]);
        let _ = writeln!(c, "int p{k}({});", types.join(", "));
        let _ = writeln!(c, "static void call{k}(void *w) {{\n  error_t e;");
        let _ = writeln!(c, "  if (failed(p{k}({}), &e)) return;", args.join(", "));
        for (name, kind, cells) in self.written() {
            let print = match kind {
                Kind::Buffer(Cell::BOOL) => "bytes",
                Kind::Buffer(Cell::F32 | Cell::I32) => "halves",
                _ => "words",
            };
            let _ = writeln!(c, "  {print}((void *){name}, {cells});");
        }
        c.push_str("}\n");
        let _ = writeln!(main, "  call{k}(w);");
    }

    /// The values that the C program printed.
    fn read(
        &self,
        border: &mut Border<'_>,
        lines: &mut dyn Iterator<Item = &str>,
    ) -> Result<Run, String> {
        let mut line = || lines.next().ok_or_else(|| "the program stopped".to_owned());
        let status: Vec<i64> =
            line()?.split_whitespace().filter_map(|word| word.parse().ok()).collect();
        let [status, start, end, operands @ ..] = status.as_slice() else {
            return Err("no status".to_owned());
        };
        if *status != 0 {
            let kind = jut_ir::RuntimeErrorKind::ALL.into_iter().find(|k| *k as i64 == *status);
            let kind = kind.ok_or_else(|| format!("status {status}"))?;
            let sites = border.lowered.program.sites.values();
            let place = |span: jut_ir::Span| (i64::from(span.start), i64::from(span.end));
            let mut sites = sites.filter(|(k, span)| *k == kind && place(*span) == (*start, *end));
            let (_, span) = sites.next().ok_or_else(|| format!("no place {start}..{end}"))?;
            let mut left = operands.to_vec();
            left.resize(3, 0);
            let operands = kind.operands(left.try_into().unwrap_or_default());
            return Ok(Err(RuntimeError { kind, span: *span, operands }));
        }
        let mut all: Vec<Flat> = self.params.iter().map(|(_, flat)| flat.clone()).collect();
        all.resize(all.len() + self.results.len(), Flat::Scalar(Literal::Bool(false)));
        let mut printed = Vec::new();
        for (_, kind, _) in self.written() {
            let words: Result<Vec<u64>, _> =
                line()?.split_whitespace().map(|word| u64::from_str_radix(word, 16)).collect();
            let words = words.map_err(|e| e.to_string())?;
            printed.push(match kind {
                Kind::Buffer(Cell::F64) => {
                    Cells::F64(words.into_iter().map(f64::from_bits).collect())
                }
                Kind::Buffer(Cell::F32) => {
                    Cells::F32(words.into_iter().map(|w| f32::from_bits(w as u32)).collect())
                }
                Kind::Buffer(Cell::I64) => {
                    Cells::I64(words.into_iter().map(|w| w as i64).collect())
                }
                Kind::Buffer(Cell::I32) => {
                    Cells::I32(words.into_iter().map(|w| w as i32).collect())
                }
                _ => Cells::Bool(words.into_iter().map(|w| w as u8).collect()),
            });
        }
        let mut printed = printed.into_iter();
        let written = self.params.iter().enumerate().filter(|(_, (c, _))| c.role != Some(Role::In));
        for (j, _) in written {
            all[j] = Flat::Buffer(printed.next().ok_or("too few lines")?);
        }
        for component in &self.results {
            let cells = printed.next().ok_or("too few lines")?;
            all[component.number] = match (component.kind, &cells) {
                (Kind::F64, Cells::F64(x)) if x.len() == 1 => Flat::Scalar(Literal::F64(x[0])),
                (Kind::F32, Cells::F32(x)) if x.len() == 1 => Flat::Scalar(Literal::F32(x[0])),
                (Kind::I64, Cells::I64(x)) if x.len() == 1 => Flat::Scalar(Literal::I64(x[0])),
                (Kind::I32, Cells::I32(x)) if x.len() == 1 => Flat::Scalar(Literal::I32(x[0])),
                (Kind::BOOL, Cells::Bool(x)) if x.len() == 1 => {
                    Flat::Scalar(Literal::Bool(x[0] != 0))
                }
                _ => Flat::Buffer(cells),
            };
        }
        border.values(&all).map(Ok)
    }
}
