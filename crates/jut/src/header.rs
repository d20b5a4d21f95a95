//! C headers for compiled products.
//!
//! A header is C99 and C++. It declares one function per product, with every parameter's shape,
//! order and use in a comment, the struct that describes errors, and the functions of the runtime.
//! Names come from the program: `x` stays `x`, the gradient of `x` is `grad_x`, tangents and
//! cotangents are `x_tangent` and `y_cotangent`; what C or C++ reserve gets an underscore behind it.

use crate::bind::show_type;
use crate::build::{MathLibrary, Triple};
use crate::error::{Error, Result};
use crate::ports::{Input, Output, Role as PortRole};
use crate::product::Product;
use jut_cranelift::Exported;
use jut_ir::entity::EntityRef;
use jut_ir::{Function as Definition, Program, RuntimeErrorKind, Size};
use jut_loop::form::{Cell, Kind, Role};
use jut_loop::signature::{AbiComponent, Parameter, Signature};
use std::collections::{HashMap, HashSet};
use std::fmt::Write;

/// A C function.
pub(crate) struct Declaration {
    name: String,
    definition: String,
    product: Product,
    params: Vec<CParameter>,
    /// The numbers of the parameters in the calling convention of the loop form.
    order: Vec<usize>,
    /// What compiling it has shown.
    pub exported: Option<Exported>,
}

struct CParameter {
    name: String,
    /// `double `, `const double *`: what stands before the name.
    ty: &'static str,
    about: String,
}

/// A component of the signature with the name and the words of its port.
struct Part<'a> {
    component: &'a AbiComponent,
    name: String,
    what: String,
}

impl Declaration {
    /// Names and describes the parameters of a product.
    pub fn new<'s>(
        name: String,
        definition: &str,
        product: Product,
        inputs: &[Input],
        outputs: &[Output],
        signature: &'s Signature,
        (program, function): (&Program, &Definition),
    ) -> Result<Declaration> {
        let mut parts: Vec<Part<'s>> = Vec::new();
        let mut add = |parameter: &'s Parameter, base: String, what: &str| {
            let ty = show_type(program, function, &parameter.ty);
            for component in &parameter.components {
                let suffix = &component.layout.suffix;
                let what = match suffix.is_empty() {
                    true => format!("{what}: {ty}"),
                    false => format!("{what}: {ty}, its part {}", suffix.trim_start_matches('_')),
                };
                parts.push(Part { component, name: identifier(&format!("{base}{suffix}")), what });
            }
        };
        for (parameter, input) in signature.params.iter().zip(inputs) {
            let (base, what) = input_name(input);
            add(parameter, base, what);
        }
        for parameter in signature.params.iter().skip(inputs.len()) {
            add(parameter, parameter.name.clone(), "accumulated");
        }
        for (parameter, output) in signature.results.iter().zip(outputs) {
            let (base, what) = output_name(output, product);
            add(parameter, base, what);
        }
        let mut taken: HashSet<String> =
            ["workspace", "error", "memory", "memory_bytes"].map(str::to_owned).into();
        for part in &mut parts {
            while !taken.insert(part.name.clone()) {
                part.name.push('_');
            }
        }
        // Sizes speak of parameters by number.
        let order: Vec<usize> = parts.iter().map(|part| part.component.number).collect();
        let names: HashMap<usize, &str> =
            parts.iter().map(|part| (part.component.number, part.name.as_str())).collect();
        let params: Option<Vec<CParameter>> =
            parts.iter().map(|part| c_parameter(part, signature, &names)).collect();
        let params = params.ok_or_else(|| {
            Error::Request(format!(
                "`{definition}` takes or gives arrays of arrays of different lengths, which have \
                 no C type"
            ))
        })?;
        Ok(Declaration {
            name,
            definition: definition.to_owned(),
            product,
            params,
            order,
            exported: None,
        })
    }

    /// The numbers of the parameters in the calling convention of the loop form.
    pub fn order(&self) -> &[usize] {
        &self.order
    }

    /// The C name.
    pub fn name(&self) -> &str {
        &self.name
    }

    fn write(&self, out: &mut String, math: MathLibrary) {
        let exported = self.exported.clone();
        let needs_memory = exported.as_ref().is_none_or(|e| e.needs_memory);
        let stack = exported.map_or(0, |e| e.stack);
        let what = match self.product {
            Product::Value => "The value of",
            Product::Gradient => "The gradient of",
            Product::ValueAndGradient => "The value and the gradient of",
            Product::Jvp => "Jacobian times vector: the results of, and their tangents,",
            Product::Vjp => "Vector times Jacobian: the results and cotangents of",
            Product::Directional => "The derivative in a direction of",
            Product::SecondDirectional => "The second derivative along a line of",
            Product::HessianProduct => "Hessian times vector: the Hessian of",
            Product::Hessian => "All second derivatives of",
            Product::Jacobian(_) => "All partial derivatives of",
            Product::ValueAndJacobian(_) => "The value and all partial derivatives of",
            Product::Transposed => "The transpose of the linear function",
        };
        let _ = writeln!(out, "/**\n * {what} `{}`.\n *", self.definition);
        for param in &self.params {
            let _ = writeln!(out, " * @param {}  {}", param.name, param.about);
        }
        let mut params: Vec<String> =
            self.params.iter().map(|p| format!("{}{}", p.ty, p.name)).collect();
        match math {
            MathLibrary::Jut => {
                let about = match needs_memory {
                    true => "from jut_workspace_new(), used by one call at a time",
                    false => "may be NULL: this function needs none",
                };
                let _ = writeln!(out, " * @param workspace  {about}");
                params.push("jut_workspace *workspace".into());
            }
            MathLibrary::System => {
                let about = match needs_memory {
                    true => "memory for tape and temporary arrays, used by one call at a time",
                    false => "may be NULL: this function needs none",
                };
                let _ = writeln!(out, " * @param memory  {about}");
                let _ = writeln!(
                    out,
                    " * @param memory_bytes  its size; too little of it is JUT_ERROR_MEMORY"
                );
                params.push("void *memory".into());
                params.push("size_t memory_bytes".into());
            }
        }
        let _ = writeln!(out, " * @param error  describes an error, if there is one; may be NULL");
        params.push("jut_error *error".into());
        let _ = writeln!(out, " * @return JUT_OK or the kind of error (enum jut_status)");
        if stack > LARGE_STACK {
            let _ = writeln!(out, " *\n * A call needs {stack} bytes of stack.");
        }
        let _ = writeln!(out, " */\nint {}({});\n", self.name, params.join(", "));
    }
}

/// Stack that is worth a word.
const LARGE_STACK: usize = 64 * 1024;

fn input_name(input: &Input) -> (String, &'static str) {
    let bare = input.name.trim_end_matches('\'');
    match (input.role, input.name.len() - bare.len()) {
        (_, 1) => (format!("{bare}_tangent"), "tangent"),
        (_, 2..) => (format!("{}_cotangent", numbered(bare)), "cotangent"),
        (PortRole::Derivative, _) => (bare.to_owned(), "size of a cotangent"),
        (PortRole::Value, _) if input.hidden => (bare.to_owned(), "size"),
        (PortRole::Value, _) => (bare.to_owned(), "argument"),
    }
}

fn output_name(output: &Output, product: Product) -> (String, &'static str) {
    let bare = numbered(output.name.trim_end_matches('\''));
    if output.role == PortRole::Value {
        return (bare, "result");
    }
    match product {
        Product::Value | Product::Gradient | Product::ValueAndGradient => {
            (format!("grad_{bare}"), "gradient")
        }
        Product::Jvp | Product::Directional => (format!("{bare}_tangent"), "tangent of a result"),
        Product::Vjp => (format!("{bare}_cotangent"), "cotangent of an argument"),
        Product::Transposed => (format!("{bare}_cotangent"), "cotangent of a linear argument"),
        Product::SecondDirectional => (format!("{bare}_second"), "second derivative"),
        Product::HessianProduct => (format!("hvp_{bare}"), "product with the Hessian"),
        // The names of blocks are those of two ports with a comma between.
        Product::Hessian => (format!("hessian_{bare}"), "block of the Hessian"),
        Product::Jacobian(_) | Product::ValueAndJacobian(_) => {
            (format!("jacobian_{bare}"), "block of the Jacobian")
        }
    }
}

/// Results without a name go by their numbers.
fn numbered(name: &str) -> String {
    match name.starts_with(|c: char| c.is_ascii_digit()) {
        true => format!("result_{name}"),
        false => name.to_owned(),
    }
}

fn c_parameter(
    part: &Part<'_>,
    signature: &Signature,
    names: &HashMap<usize, &str>,
) -> Option<CParameter> {
    let component = part.component;
    let returned = component.number >= signature.param_count;
    let cells = match component.dims.is_empty() {
        true => "1 cell".to_owned(),
        false => format!("{} cells, row-major", product(&component.dims, names)),
    };
    let booleans = |cell: Cell| if cell == Cell::Bool { ", each 0 or 1" } else { "" };
    let what = &part.what;
    let (ty, about) = match (component.kind, component.role, returned) {
        (Kind::Buffer(Cell::Buffer), ..) => return None,
        (Kind::Buffer(cell), _, true) => {
            let ty = match cell {
                Cell::F64 => "const double **",
                Cell::I64 => "const int64_t **",
                _ => "const uint8_t **",
            };
            let how = "made to point to them, until the next call with the same memory";
            (ty, format!("{what}; {cells}{}; {how}; may be NULL", booleans(cell)))
        }
        (kind, _, true) => {
            let ty = match kind {
                Kind::F64 => "double *",
                Kind::I64 => "int64_t *",
                _ => "uint8_t *",
            };
            (ty, format!("{what}; written; may be NULL"))
        }
        (Kind::Buffer(cell), Some(Role::In) | None, _) => {
            let ty = match cell {
                Cell::F64 => "const double *",
                Cell::I64 => "const int64_t *",
                _ => "const uint8_t *",
            };
            (ty, format!("{what}; {cells}{}; read", booleans(cell)))
        }
        (Kind::Buffer(cell), Some(role), _) => {
            let ty = match cell {
                Cell::F64 => "double *",
                Cell::I64 => "int64_t *",
                _ => "uint8_t *",
            };
            let use_ = if role == Role::InOut { "added to" } else { "written" };
            (ty, format!("{what}; {cells}{}; {use_}", booleans(cell)))
        }
        (Kind::F64, ..) => ("double ", what.clone()),
        (Kind::I64, ..) => ("int64_t ", what.clone()),
        (Kind::Bool, ..) => ("uint8_t ", format!("{what}; 0 is false")),
    };
    Some(CParameter { name: part.name.clone(), ty, about })
}

/// A product of sizes over the C names.
fn product(dims: &[Size], names: &HashMap<usize, &str>) -> String {
    let factor = |size: &Size| {
        let mut text = String::new();
        let mut terms = 0;
        for (factors, c) in size.terms() {
            terms += 1;
            let sign = match (text.is_empty(), *c < 0) {
                (true, true) => "-",
                (true, false) => "",
                (false, true) => " - ",
                (false, false) => " + ",
            };
            text.push_str(sign);
            let mut words: Vec<String> = Vec::new();
            if c.unsigned_abs() != 1 || factors.is_empty() {
                words.push(c.unsigned_abs().to_string());
            }
            words.extend(factors.iter().map(|v| {
                let name = names.get(&v.index()).map(|name| name.to_string());
                name.unwrap_or_else(|| format!("parameter {}", v.index()))
            }));
            text.push_str(&words.join(" * "));
        }
        match terms {
            0 => "0".to_owned(),
            1 => text,
            _ if dims.len() == 1 => text,
            _ => format!("({text})"),
        }
    };
    dims.iter().map(factor).collect::<Vec<_>>().join(" * ")
}

/// What a kind of error means, and what its numbers are.
pub(crate) fn meaning(kind: RuntimeErrorKind) -> (&'static str, &'static [&'static str]) {
    match kind {
        RuntimeErrorKind::Index => ("index out of range", &["the index", "the length"]),
        RuntimeErrorKind::Slice => {
            ("slice out of range", &["where it begins", "how many", "the length"])
        }
        RuntimeErrorKind::NegativeSize => ("negative size", &["the size"]),
        RuntimeErrorKind::SizeMismatch => {
            ("a size is not the expected one", &["the size", "the expected size"])
        }
        RuntimeErrorKind::DivisionByZero => ("integer division by zero", &[]),
        RuntimeErrorKind::Memory => ("not enough memory", &[]),
    }
}

fn status_name(kind: RuntimeErrorKind) -> &'static str {
    match kind {
        RuntimeErrorKind::Index => "JUT_ERROR_INDEX",
        RuntimeErrorKind::Slice => "JUT_ERROR_SLICE",
        RuntimeErrorKind::NegativeSize => "JUT_ERROR_NEGATIVE_SIZE",
        RuntimeErrorKind::SizeMismatch => "JUT_ERROR_SIZE_MISMATCH",
        RuntimeErrorKind::DivisionByZero => "JUT_ERROR_DIVISION_BY_ZERO",
        RuntimeErrorKind::Memory => "JUT_ERROR_MEMORY",
    }
}

/// A C identifier that C and C++ leave to programs.
pub(crate) fn identifier(name: &str) -> String {
    let mut text = String::new();
    for c in name.chars() {
        match c {
            'a'..='z' | 'A'..='Z' | '0'..='9' => text.push(c),
            // Two underscores in a row are reserved in C++.
            _ if text.ends_with('_') => {}
            _ => text.push('_'),
        }
    }
    if text.is_empty() || text.starts_with(|c: char| c == '_' || c.is_ascii_digit()) {
        text.insert_str(0, if text.starts_with('_') { "v" } else { "v_" });
    }
    if RESERVED.contains(&text.as_str()) {
        text.push('_');
    }
    text
}

/// Keywords of C and C++, and macros of the headers that are included.
const RESERVED: &[&str] = &[
    "alignas",
    "alignof",
    "and",
    "and_eq",
    "asm",
    "auto",
    "bitand",
    "bitor",
    "bool",
    "break",
    "case",
    "catch",
    "char",
    "char16_t",
    "char32_t",
    "char8_t",
    "class",
    "co_await",
    "co_return",
    "co_yield",
    "compl",
    "concept",
    "const",
    "const_cast",
    "consteval",
    "constexpr",
    "constinit",
    "continue",
    "decltype",
    "default",
    "delete",
    "do",
    "double",
    "dynamic_cast",
    "else",
    "enum",
    "explicit",
    "export",
    "extern",
    "false",
    "far",
    "float",
    "for",
    "friend",
    "goto",
    "huge",
    "if",
    "inline",
    "int",
    "interface",
    "linux",
    "long",
    "mutable",
    "namespace",
    "near",
    "new",
    "noexcept",
    "not",
    "not_eq",
    "nullptr",
    "operator",
    "or",
    "or_eq",
    "pascal",
    "private",
    "protected",
    "public",
    "register",
    "reinterpret_cast",
    "requires",
    "restrict",
    "return",
    "short",
    "signed",
    "sizeof",
    "small",
    "static",
    "static_assert",
    "static_cast",
    "struct",
    "switch",
    "template",
    "this",
    "thread_local",
    "throw",
    "true",
    "try",
    "typedef",
    "typeid",
    "typename",
    "typeof",
    "union",
    "unix",
    "unsigned",
    "using",
    "virtual",
    "void",
    "volatile",
    "wchar_t",
    "while",
    "xor",
    "xor_eq",
];

/// The header.
pub(crate) fn write(
    prefix: &str,
    source: &str,
    math: MathLibrary,
    target: &Triple,
    declarations: &[Declaration],
) -> String {
    let guard = format!("JUT_{}_H", prefix.to_uppercase().trim_end_matches('_'));
    // Nothing may end the comment early.
    let source = source.replace("*/", "* /");
    let linked = match math {
        MathLibrary::Jut => {
            " * Link the object with the runtime that was written along with it (libjut_runtime.a).\n\
             * The results have the same bits as those of jut in memory.\n"
        }
        MathLibrary::System => " * Link the object with the mathematical library (-lm).\n",
    };
    let mut out = String::new();
    let _ = write!(
        out,
        "/*\n * Made by jut {} from {source}, for {target}.\n *\n{linked}{CONVENTIONS} */\n\
         #ifndef {guard}\n#define {guard}\n\n#include <stddef.h>\n#include <stdint.h>\n\n\
         #ifdef __cplusplus\nextern \"C\" {{\n#endif\n\n",
        env!("CARGO_PKG_VERSION")
    );
    write_errors(&mut out);
    if math == MathLibrary::Jut {
        out.push_str(WORKSPACE);
    }
    for declaration in declarations {
        declaration.write(&mut out, math);
    }
    let _ = writeln!(out, "#ifdef __cplusplus\n}}\n#endif\n\n#endif /* {guard} */");
    out
}

const CONVENTIONS: &str = " *
 * Sizes come first, each once; arrays are contiguous and row-major: the last index runs fastest.
 * An array that is written must not overlap another argument. Functions have no state: any number
 * of threads may call them, each with its own memory. Nothing unwinds or jumps through a call.
";

fn write_errors(out: &mut String) {
    out.push_str(
        "#ifndef JUT_ERROR_DECLARED\n#define JUT_ERROR_DECLARED\n\n\
         /** What a function returns. The comments say what jut_error.numbers hold. */\n\
         enum jut_status {\n  JUT_OK = 0,\n",
    );
    for kind in RuntimeErrorKind::ALL {
        let (text, numbers) = meaning(kind);
        let numbers = match numbers.is_empty() {
            true => String::new(),
            false => format!(": {}", numbers.join(", ")),
        };
        let comma = if kind == RuntimeErrorKind::Memory { "" } else { "," };
        let _ = writeln!(
            out,
            "  /** {}, {text}{numbers} */\n  {} = {}{comma}",
            kind.code(),
            status_name(kind),
            kind as u8
        );
    }
    out.push_str(
        "};\n\n/** Where and why a function failed. Every call fills it, if it is given. */\n\
         typedef struct jut_error {\n\
         \x20 int32_t status;      /**< enum jut_status */\n\
         \x20 int32_t line;        /**< in the program's text, from 1; 0 if there is none */\n\
         \x20 int32_t column;      /**< from 1 */\n\
         \x20 int32_t count;       /**< how many numbers there are */\n\
         \x20 const char *message; /**< static text, without the numbers; NULL if nothing failed */\n\
         \x20 int64_t numbers[3];  /**< the numbers involved */\n\
         } jut_error;\n\n#endif /* JUT_ERROR_DECLARED */\n\n",
    );
}

const WORKSPACE: &str = "#ifndef JUT_WORKSPACE_DECLARED
#define JUT_WORKSPACE_DECLARED

/**
 * Memory of one thread for tapes, temporary arrays and results whose sizes only the function knows.
 * It grows as needed and keeps what it has: when the first calls have shown how much that is,
 * further calls of the same sizes allocate nothing. One workspace serves any functions, one call at
 * a time.
 */
typedef struct jut_workspace jut_workspace;

/** A new, empty workspace; NULL if there is no memory. */
jut_workspace *jut_workspace_new(void);

/** Gives a workspace and all it holds back. NULL is none. */
void jut_workspace_free(jut_workspace *workspace);

/** Gives back what a workspace holds; results that lie in it are gone. */
void jut_workspace_clear(jut_workspace *workspace);

/** The most bytes that a workspace may take from now on (no limit at first); a call that needs more
 * returns JUT_ERROR_MEMORY. */
void jut_workspace_limit(jut_workspace *workspace, size_t bytes);

/** The bytes that a workspace holds, used or not. */
size_t jut_workspace_held(const jut_workspace *workspace);

#endif /* JUT_WORKSPACE_DECLARED */

";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_identifiers_that_c_and_cpp_leave_to_programs() {
        let names =
            ["x", "double", "a'", "_x", "3d", "f.jvp", "a__b", "new", "", "Ünit"].map(identifier);
        assert_eq!(
            names,
            ["x", "double_", "a_", "v_x", "v_3d", "f_jvp", "a_b", "new_", "v_", "v_nit"]
        );
    }
}
