//! The C function around a program, as text for LLVM.
//!
//! `int f(params.., results.., workspace, error)`, or `int f(params.., results.., memory, bytes,
//! error)` where there is no runtime; `size_t f_workspace_size(int64_t ..)` beside it where there is a
//! bound on the memory. What is passed how is the same for every backend and stands in the header
//! that `jut build` writes: scalars by value, buffers as pointers, results by address or null,
//! the status returned, an error described where the caller says.
//!
//! Messages, and a table with the place of each, lie in the object's read-only data.

use crate::function::Returns;
use crate::module::ModuleText;
use crate::text::{Body, FLOAT, Operand, Scalar, scalar};
use jut_ir::RuntimeErrorKind;
use jut_loop::form::LoopFunction;
use jut_native::CompileError;
use jut_native::object::{Export, MathLibrary, Messages, NO_WORKSPACE};
use jut_runtime::arena::ALIGN;
use jut_runtime::workspace::{OVERHEAD, layout};
use std::fmt::Write;

/// The C function in the making, and what it is made of.
struct CFunction<'a> {
    export: &'a Export<'a>,
    function: &'a LoopFunction,
    math: MathLibrary,
    /// The name of the function that says how many bytes each arena needs, if there is a bound.
    need: Option<String>,
    body: Body,
}

/// `%a3` is the parameter or result with number 3.
fn named(number: usize) -> String {
    format!("%a{number}")
}

impl CFunction<'_> {
    /// A call of the function that says how much memory is needed: bytes of both arenas.
    fn call_need(&mut self, need: &str) -> [Operand; 2] {
        let mut integers = self.export.integers(self.function);
        integers.sort_unstable();
        let mut args = vec!["ptr null".to_owned()];
        args.extend(integers.into_iter().map(|number| format!("i64 {}", named(number))));
        let (ty, args) = ("{ i32, double, double }", args.join(", "));
        let both = self.body.value(format_args!("call {ty} {need}({args})"));
        [1, 2].map(|k| self.body.part(ty, both, k))
    }

    fn saturated(&mut self, bytes: Operand) -> Operand {
        self.body.value(format_args!("call i64 @llvm.fptoui.sat.i64.f64(double {bytes})"))
    }

    /// `size_t f_workspace_size(int64_t ..)`.
    fn size(mut self) -> String {
        let params = self.export.integers(self.function).into_iter();
        let params: Vec<String> = params.map(|k| format!("i64 {}", named(k))).collect();
        match self.need.take().filter(|_| self.export.needs_memory) {
            None => self.body.line("ret i64 0"),
            Some(need) => {
                let [temp, tape] = self.call_need(&need);
                let both = self.body.two("fadd", FLOAT, temp, tape);
                let overhead = match self.math {
                    MathLibrary::Jut => OVERHEAD,
                    MathLibrary::System => ALIGN,
                };
                let overhead = Operand::float(overhead as f64);
                let all = self.body.two("fadd", FLOAT, both, overhead);
                let bytes = self.saturated(all);
                self.body.line(format_args!("ret i64 {bytes}"));
            }
        }
        let (name, params) = (self.export.size_name(), params.join(", "));
        format!("define i64 @{name}({params}) #0 {{\n{}}}\n", self.body.finish())
    }

    /// The function, and its messages.
    fn text(mut self, callee: &str) -> Result<String, CompileError> {
        let (name, function) = (self.export.name, self.function);
        let count = function.params.len();
        let mut params: Vec<String> = Vec::new();
        for number in self.export.order {
            let ty = match function.params.get(*number) {
                Some(param) => scalar(function.values[param.value].kind).in_memory(),
                None => "ptr",
            };
            params.push(format!("{ty} {}", named(*number)));
        }
        params.extend(match self.math {
            MathLibrary::Jut => vec!["ptr %workspace".to_owned()],
            MathLibrary::System => vec!["ptr %memory".to_owned(), "i64 %bytes".to_owned()],
        });
        params.push("ptr %error".to_owned());

        let workspace = match (self.export.needs_memory, self.math) {
            (true, MathLibrary::Jut) => {
                self.begin();
                "%workspace".to_owned()
            }
            (needs_memory, _) => {
                let words = layout::HEAD / 8;
                let head = self.body.alloca(format_args!("[{words} x i64]"), 16);
                if needs_memory {
                    // The arenas of a workspace without a runtime share the caller's memory.
                    let tape = self.tape();
                    self.body.line(format_args!(
                        "call void @jut.divide(ptr {head}, ptr %memory, i64 %bytes, i64 {tape})"
                    ));
                }
                head.to_string()
            }
        };
        let body = &mut self.body;
        let returns = Returns::of(function);
        let mut args = vec![format!("ptr {workspace}")];
        for (k, param) in function.params.iter().enumerate() {
            let ty = scalar(function.values[param.value].kind).one();
            args.push(match ty.scalar {
                Scalar::Bool => {
                    let truth = body.value(format_args!("icmp ne i8 {}, 0", named(k)));
                    format!("i1 {truth}")
                }
                _ => format!("{ty} {}", named(k)),
            });
        }
        let words = returns.types.len();
        let area =
            returns.through_memory().then(|| body.alloca(format_args!("[{words} x i64]"), 8));
        args.extend(area.iter().map(|area| format!("ptr {area}")));
        let (ty, args) = (returns.ty(), args.join(", "));
        let whole = body.value(format_args!("call {ty} {callee}({args})"));
        let status = match ty.as_str() {
            "i32" => whole,
            _ => body.part(&ty, whole, 0),
        };
        let [ok, failed] = body.labels();
        let good = body.value(format_args!("icmp eq i32 {status}, 0"));
        body.branch_usually(good, ok, failed);

        body.begin(ok);
        for (k, part) in returns.types.iter().enumerate() {
            let value = match area {
                Some(area) => body.load_word(area, k, *part),
                None => body.part(&ty, whole, k + 1),
            };
            let to = named(count + k);
            let [wanted, next] = body.labels();
            let given = body.value(format_args!("icmp ne ptr {to}, null"));
            body.branch(given, wanted, next);
            body.begin(wanted);
            match part.scalar {
                Scalar::Bool => {
                    let byte = body.value(format_args!("zext i1 {value} to i8"));
                    body.line(format_args!("store i8 {byte}, ptr {to}, align 1"));
                }
                scalar => {
                    let align = scalar.bytes();
                    body.line(format_args!("store {part} {value}, ptr {to}, align {align}"));
                }
            }
            body.jump(next);
            body.begin(next);
        }
        body.line("call void @jut.describe(ptr %error, i32 0, i32 0, i32 0, i32 0, ptr null)");
        body.line("ret i32 0");

        body.begin(failed);
        body.line(format_args!(
            "call void @jut.describe.failure(ptr %error, i32 {status}, ptr {workspace}, \
             ptr @{name}.places, ptr @{name}.messages)"
        ));
        body.line(format_args!("ret i32 {status}"));
        let mut text = data(name, self.export.messages()?);
        let params = params.join(", ");
        let _ = write!(text, "define i32 @{name}({params}) #0 {{\n{}}}\n", self.body.finish());
        Ok(text)
    }

    /// Bytes that the tape needs; the largest number if there is no bound.
    fn tape(&mut self) -> Operand {
        match self.need.clone() {
            None => Operand::I64(-1),
            Some(need) => {
                let [_, tape] = self.call_need(&need);
                self.saturated(tape)
            }
        }
    }

    /// Begins a call in a workspace of the runtime, if there is one.
    fn begin(&mut self) {
        let [given, missing] = self.body.labels();
        let any = self.body.value("icmp ne ptr %workspace, null");
        self.body.branch_usually(any, given, missing);
        self.body.begin(missing);
        let (status, name) = (RuntimeErrorKind::Memory as i32, self.export.name);
        self.body.line(format_args!(
            "call void @jut.describe(ptr %error, i32 {status}, i32 0, i32 0, i32 0, \
             ptr @{name}.no_workspace)"
        ));
        self.body.line(format_args!("ret i32 {status}"));
        self.body.begin(given);
        let tape = self.tape();
        self.body.line(format_args!("call void @jut_workspace_begin(ptr %workspace, i64 {tape})"));
    }
}

/// The table of places and the messages.
fn data(name: &str, Messages { rows, text: mut messages }: Messages) -> String {
    messages.push(0);
    let ty = "{ i32, i32, i32, i32 }";
    let rows: Vec<String> = rows
        .iter()
        .map(|[line, column, numbers, begin]| {
            format!("{ty} {{ i32 {line}, i32 {column}, i32 {numbers}, i32 {begin} }}")
        })
        .collect();
    let (count, rows) = (rows.len(), rows.join(", "));
    let constant = "private unnamed_addr constant";
    let mut text = format!("@{name}.places = {constant} [{count} x {ty}] [{rows}]\n");
    for (what, bytes) in [("messages", &messages[..]), ("no_workspace", NO_WORKSPACE)] {
        let quoted: String = bytes.iter().map(|byte| format!("\\{byte:02X}")).collect();
        let count = bytes.len();
        let _ = writeln!(text, "@{name}.{what} = {constant} [{count} x i8] c\"{quoted}\", align 1");
    }
    text
}

impl ModuleText {
    /// Adds a program with a C function around it, and the one that says how much memory it needs.
    pub(crate) fn c_function(&mut self, export: &Export<'_>) -> Result<(), CompileError> {
        let (name, function, math) = (export.name, export.function()?, self.math());
        let make = |need| CFunction { export, function, math, need, body: Body::new(0) };
        let mut need = None;
        if let Some(program) = export.need {
            need = Some(self.program(&format!("{name}.need."), program)?);
            self.push(&make(need.clone()).size());
        }
        let callee = self.program(&format!("{name}."), export.program)?;
        let text = make(need).text(&callee)?;
        self.push(&text);
        Ok(())
    }
}
