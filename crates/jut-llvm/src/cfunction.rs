//! The C function around a program, as text for LLVM.
//!
//! `int f(params.., results.., workspace, error)`, or `int f(params.., results.., memory, bytes,
//! error)` where there is no runtime; `size_t f_workspace_size(int64_t ..)` beside it where there is a
//! bound on the memory. What is passed how is the same for every backend and stands in the header
//! that `jut build` writes: scalars by value, buffers as pointers, results by address or null,
//! the status returned, an error described where the caller says.
//!
//! Messages, and a table with the place of each, lie in the object's read-only data.

use crate::function::{Returns, scalar};
use crate::module::{ModuleText, Source};
use crate::text::{Body, Operand, Scalar};
use jut_ir::RuntimeErrorKind;
use jut_loop::form::{Kind, LoopFunction, LoopProgram};
use jut_native::CompileError;
use jut_native::object::Place;
use jut_runtime::arena::ALIGN;
use jut_runtime::workspace::{OVERHEAD, layout};
use std::fmt::Write;

/// What is known of the function beside its program.
pub(crate) struct Shape<'a> {
    pub name: &'a str,
    /// The numbers of parameters and results in the order of the C function.
    pub order: &'a [usize],
    pub needs_memory: bool,
    /// The name of the function that says how many bytes each arena needs, if there is a bound.
    pub need: Option<String>,
    pub places: &'a [Place],
}

type Result<T> = std::result::Result<T, String>;

/// `%a3` is the parameter or result with number 3.
fn named(number: usize) -> String {
    format!("%a{number}")
}

/// Numbers and texts of the integers among the parameters, in the order of the C function.
fn integers(shape: &Shape<'_>, function: &LoopFunction) -> Vec<usize> {
    let integer = |k: &usize| {
        let param = function.params.get(*k);
        param.is_some_and(|param| function.values[param.value].kind == Kind::I64)
    };
    shape.order.iter().copied().filter(integer).collect()
}

/// A call of the function that says how much memory is needed: bytes of both arenas.
fn call_need(body: &mut Body, need: &str, mut integers: Vec<usize>) -> [String; 2] {
    integers.sort_unstable();
    let mut args = vec!["ptr null".to_owned()];
    args.extend(integers.into_iter().map(|number| format!("i64 {}", named(number))));
    let (ty, args) = ("{ i32, double, double }", args.join(", "));
    let both = body.value(format_args!("call {ty} {need}({args})")).of(Scalar::I64.one());
    [1, 2].map(|k| {
        let part = body.value(format_args!("extractvalue {ty} {both}, {k}"));
        part.of(Scalar::F64.one()).to_string()
    })
}

fn saturated(body: &mut Body, bytes: &str) -> String {
    let line = format_args!("call i64 @llvm.fptoui.sat.i64.f64(double {bytes})");
    body.value(line).of(Scalar::I64.one()).to_string()
}

/// `size_t f_workspace_size(int64_t ..)`.
pub(crate) fn size(shape: &Shape<'_>, function: &LoopFunction, source: Source) -> String {
    let mut body = Body::new(0);
    let order = integers(shape, function);
    let params: Vec<String> = order.iter().map(|k| format!("i64 {}", named(*k))).collect();
    match shape.need.as_ref().filter(|_| shape.needs_memory) {
        None => body.line("ret i64 0"),
        Some(need) => {
            let [temp, tape] = call_need(&mut body, need, order);
            let both = body.value(format_args!("fadd double {temp}, {tape}"));
            let overhead = match source {
                Source::Runtime => OVERHEAD,
                Source::System => ALIGN,
            };
            let overhead = Operand::float(overhead as f64).of(Scalar::F64.one());
            let both = both.of(Scalar::F64.one());
            let all = body.value(format_args!("fadd double {both}, {overhead}"));
            let bytes = saturated(&mut body, &all.of(Scalar::F64.one()).to_string());
            body.line(format_args!("ret i64 {bytes}"));
        }
    }
    let (name, params) = (shape.name, params.join(", "));
    format!("define i64 @{name}_workspace_size({params}) #0 {{\n{}}}\n", body.finish())
}

/// The function, and its messages.
pub(crate) fn function(
    shape: &Shape<'_>,
    callee: &str,
    function: &LoopFunction,
    source: Source,
) -> Result<String> {
    let count = function.params.len();
    let results: Vec<Kind> = function.result_kinds().collect();
    let mut sorted = shape.order.to_vec();
    sorted.sort_unstable();
    if !sorted.into_iter().eq(0..count + results.len()) {
        return Err("the order does not list every parameter and result once".to_owned());
    }
    let mut params: Vec<String> = Vec::new();
    for number in shape.order {
        let ty = match function.params.get(*number) {
            Some(param) => scalar(function.values[param.value].kind).in_memory(),
            None => "ptr",
        };
        params.push(format!("{ty} {}", named(*number)));
    }
    params.extend(match source {
        Source::Runtime => vec!["ptr %workspace".to_owned()],
        Source::System => vec!["ptr %memory".to_owned(), "i64 %bytes".to_owned()],
    });
    params.push("ptr %error".to_owned());

    let mut body = Body::new(0);
    let workspace = match (shape.needs_memory, source) {
        (true, Source::Runtime) => {
            begin(&mut body, shape, function);
            "%workspace".to_owned()
        }
        (needs_memory, _) => {
            let head = body.alloca(&format!("[{} x i64]", layout::HEAD / 8), 16);
            let head = head.of(Scalar::Ptr.one()).to_string();
            if needs_memory {
                divide(&mut body, shape, function, &head);
            }
            head
        }
    };
    let returns = Returns::of(function);
    let mut args = vec![format!("ptr {workspace}")];
    for (k, param) in function.params.iter().enumerate() {
        let ty = scalar(function.values[param.value].kind).one();
        args.push(match ty.scalar {
            Scalar::Bool => {
                let truth = body.value(format_args!("icmp ne i8 {}, 0", named(k)));
                format!("i1 {}", truth.of(ty))
            }
            _ => format!("{ty} {}", named(k)),
        });
    }
    let area = returns.through_memory().then(|| {
        let area = body.alloca(&format!("[{} x i64]", results.len()), 8);
        area.of(Scalar::Ptr.one()).to_string()
    });
    args.extend(area.iter().map(|area| format!("ptr {area}")));
    let (ty, args) = (returns.ty(), args.join(", "));
    let whole = body.value(format_args!("call {ty} {callee}({args})")).of(Scalar::I64.one());
    let whole = whole.to_string();
    let status = match ty.as_str() {
        "i32" => whole.clone(),
        _ => {
            let status = body.value(format_args!("extractvalue {ty} {whole}, 0"));
            status.of(Scalar::I64.one()).to_string()
        }
    };
    let [ok, failed] = [body.label(), body.label()];
    let good = body.value(format_args!("icmp eq i32 {status}, 0")).of(Scalar::Bool.one());
    body.line(format_args!("br i1 {good}, label %{ok}, label %{failed}, !prof !0"));

    body.begin(ok);
    for (k, part) in returns.types.iter().enumerate() {
        let value = match &area {
            Some(area) => crate::function::load_word(&mut body, area, k, *part),
            None => body.value(format_args!("extractvalue {ty} {whole}, {}", k + 1)),
        };
        let to = named(count + k);
        let [wanted, next] = [body.label(), body.label()];
        let given = body.value(format_args!("icmp ne ptr {to}, null")).of(Scalar::Bool.one());
        body.line(format_args!("br i1 {given}, label %{wanted}, label %{next}"));
        body.begin(wanted);
        let shown = value.of(*part);
        match part.scalar {
            Scalar::Bool => {
                let byte = body.value(format_args!("zext i1 {shown} to i8"));
                body.line(format_args!("store i8 {}, ptr {to}, align 1", byte.of(*part)));
            }
            scalar => {
                let align = scalar.bytes();
                body.line(format_args!("store {part} {shown}, ptr {to}, align {align}"));
            }
        }
        body.jump(next);
        body.begin(next);
    }
    body.line("call void @jut.describe(ptr %error, i32 0, i32 0, i32 0, i32 0, ptr null)");
    body.line("ret i32 0");

    body.begin(failed);
    let name = shape.name;
    body.line(format_args!(
        "call void @jut.describe.failure(ptr %error, i32 {status}, ptr {workspace}, \
         ptr @{name}.places, ptr @{name}.messages)"
    ));
    body.line(format_args!("ret i32 {status}"));
    let mut text = data(shape)?;
    let params = params.join(", ");
    let _ = write!(text, "define i32 @{name}({params}) #0 {{\n{}}}\n", body.finish());
    Ok(text)
}

/// Bytes that the tape needs; the largest number if there is no bound.
fn tape(body: &mut Body, shape: &Shape<'_>, function: &LoopFunction) -> String {
    match &shape.need {
        None => "-1".to_owned(),
        Some(need) => {
            let [_, tape] = call_need(body, need, integers(shape, function));
            saturated(body, &tape)
        }
    }
}

/// Begins a call in a workspace of the runtime, if there is one.
fn begin(body: &mut Body, shape: &Shape<'_>, function: &LoopFunction) {
    let [given, missing] = [body.label(), body.label()];
    let any = body.value("icmp ne ptr %workspace, null").of(Scalar::Bool.one());
    body.line(format_args!("br i1 {any}, label %{given}, label %{missing}, !prof !0"));
    body.begin(missing);
    let (status, name) = (RuntimeErrorKind::Memory as i32, shape.name);
    body.line(format_args!(
        "call void @jut.describe(ptr %error, i32 {status}, i32 0, i32 0, i32 0, \
         ptr @{name}.no_workspace)"
    ));
    body.line(format_args!("ret i32 {status}"));
    body.begin(given);
    let tape = tape(body, shape, function);
    body.line(format_args!("call void @jut_workspace_begin(ptr %workspace, i64 {tape})"));
}

/// The arenas of a workspace without a runtime share the caller's memory.
fn divide(body: &mut Body, shape: &Shape<'_>, function: &LoopFunction, head: &str) {
    let tape = tape(body, shape, function);
    body.line(format_args!(
        "call void @jut.divide(ptr {head}, ptr %memory, i64 %bytes, i64 {tape})"
    ));
}

/// The table of places and the messages.
fn data(shape: &Shape<'_>) -> Result<String> {
    let (mut rows, mut messages) = (Vec::new(), Vec::new());
    for place in shape.places {
        let begin = u32::try_from(messages.len()).map_err(|_| "too many messages".to_owned())?;
        let row = [place.line, place.column, place.numbers as u32, begin];
        rows.push(format!(
            "{{ i32, i32, i32, i32 }} {{ i32 {}, i32 {}, i32 {}, i32 {} }}",
            row[0], row[1], row[2], row[3]
        ));
        messages.extend(place.message.bytes().filter(|byte| *byte != 0));
        messages.push(0);
    }
    messages.push(0);
    let name = shape.name;
    let mut text = format!(
        "@{name}.places = private unnamed_addr constant [{} x {{ i32, i32, i32, i32 }}] [{}]\n",
        rows.len(),
        rows.join(", ")
    );
    for (what, bytes) in
        [("messages", messages), ("no_workspace", b"R06: there is no workspace\0".to_vec())]
    {
        let mut quoted = String::new();
        for byte in &bytes {
            let _ = write!(quoted, "\\{byte:02X}");
        }
        let _ = writeln!(
            text,
            "@{name}.{what} = private unnamed_addr constant [{} x i8] c\"{quoted}\", align 1",
            bytes.len()
        );
    }
    Ok(text)
}

impl ModuleText {
    /// Adds a program with a C function around it, and the one that says how much memory it needs.
    pub(crate) fn c_function(
        &mut self,
        mut shape: Shape<'_>,
        program: &LoopProgram,
        need: Option<&LoopProgram>,
    ) -> std::result::Result<(), CompileError> {
        let name = shape.name;
        let Some((_, last)) = program.funcs.last() else {
            return Err(CompileError::no_function());
        };
        if let Some(need) = need {
            shape.need = Some(self.program(&format!("{name}.need."), need)?);
            let text = size(&shape, last, self.source());
            self.push(&text);
        }
        let callee = self.program(&format!("{name}."), program)?;
        let text = function(&shape, &callee, last, self.source())
            .map_err(|reason| CompileError::Codegen { function: name.to_owned(), reason })?;
        self.push(&text);
        Ok(())
    }
}
