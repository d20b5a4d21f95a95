//! Rust modules that call C functions safely.
//!
//! For each C function the module has a declaration, a function that checks every length before it
//! calls it, and, if there is more than one result, a struct for them:
//!
//! | C | Rust |
//! |---|---|
//! | a size that is the length of an array | nothing: it is the slice's length |
//! | another size | `usize` |
//! | `double`, `float`, `int64_t`, `int32_t`, truth value | `f64`, `f32`, `i64`, `i32`, `bool` |
//! | array that is read | `&[f64]`, row-major |
//! | array that is written or added to | `&mut [f64]` |
//! | number that is returned | in the result |
//! | array whose length only the function knows | `&[f64]` in the result, borrowed from the workspace |
//! | status and error | `Result<_, Error>` |
//!
//! *Ensures*: what the module exports is safe to call with any arguments. Lengths are computed in 128
//! bits and saturate, so no product of sizes wraps around.

use jut::{CFunction, CParameter, Error, Extent, MathLibrary, Passing, Result, Scalar};
use std::collections::HashSet;
use std::fmt::Write;

/// The text of a module.
///
/// # Errors
/// Two functions of the same name.
pub(crate) fn write(file: &str, functions: &[&CFunction], math: MathLibrary) -> Result<String> {
    let version = env!("CARGO_PKG_VERSION");
    let workspace = match math {
        MathLibrary::Jut => RUNTIME.replace("VERSION", version),
        MathLibrary::System => SYSTEM.to_owned(),
    };
    let mut out = format!("// Made by jut-build {version} from {file}.\n\n{COMMON}{workspace}");
    let mut names = HashSet::new();
    for function in functions {
        let item = Item::new(function, math);
        if !names.insert(item.name.clone()) {
            return Err(Error::Request(format!("{} is asked for twice", item.name)));
        }
        item.write(&mut out);
    }
    Ok(out)
}

/// A function of the module.
struct Item<'a> {
    function: &'a CFunction,
    math: MathLibrary,
    name: String,
    /// The parameters' names in Rust.
    names: Vec<String>,
    /// For each size that is a length, the array it is the length of.
    lengths: Vec<Option<usize>>,
}

impl<'a> Item<'a> {
    fn new(function: &'a CFunction, math: MathLibrary) -> Item<'a> {
        let params = function.parameters();
        let mut taken: HashSet<String> = HashSet::new();
        let mut names = Vec::new();
        for param in params {
            let mut name = param.name().to_owned();
            while KEYWORDS.contains(&name.as_str()) || !taken.insert(name.clone()) {
                name.push('_');
            }
            names.push(name);
        }
        let length_of = |size: usize| {
            let is = |array: &CParameter| {
                let [dim] = array.dims() else { return false };
                array.passing() == Passing::Read && dim.parameter() == Some(size)
            };
            params.get(size).filter(|p| p.is_size()).and_then(|_| params.iter().position(is))
        };
        let lengths = (0..params.len()).map(length_of).collect();
        let name = format!("{}_{}", plain(function.definition()), function.request().suffix());
        Item { function, math, name, names, lengths }
    }

    /// The parameters with their positions.
    fn params(&self) -> impl Iterator<Item = (usize, &'a CParameter)> + use<'a> {
        self.function.parameters().iter().enumerate()
    }

    fn results(&self) -> Vec<(usize, &'a CParameter)> {
        let result = |p: &CParameter| matches!(p.passing(), Passing::Returned | Passing::Lent);
        self.params().filter(|(_, p)| result(p)).collect()
    }

    fn write(&self, out: &mut String) {
        let results = self.results();
        let lent = results.iter().any(|(_, p)| p.passing() == Passing::Lent);
        let life = if lent { "<'w>" } else { "" };
        let camel: String = self
            .name
            .split('_')
            .flat_map(|word| {
                let mut letters = word.chars();
                let first = letters.next().map(|c| c.to_ascii_uppercase());
                first.into_iter().chain(letters)
            })
            .collect();
        let result = match results.as_slice() {
            [] => "()".to_owned(),
            [(_, one)] => rust_type(one, "'w "),
            _ => format!("{camel}{life}"),
        };
        if results.len() > 1 {
            let _ = writeln!(out, "/// What [`{}`] gives.\n#[derive(Clone, Debug)]", self.name);
            let _ = writeln!(out, "#[allow(dead_code)]\npub struct {camel}{life} {{");
            for (k, param) in &results {
                let ty = rust_type(param, "'w ");
                let _ =
                    writeln!(out, "    /// {}\n    pub {}: {ty},", param.about(), self.names[*k]);
            }
            out.push_str("}\n\n");
        }
        self.declare(out);
        self.document(out);
        let _ = writeln!(out, "#[allow(dead_code, unsafe_code, clippy::all)]");
        let _ = writeln!(out, "pub fn {}{life}(", self.name);
        for (k, param) in self.params() {
            let ty = match param.passing() {
                Passing::Returned | Passing::Lent => continue,
                _ if self.lengths[k].is_some() => continue,
                Passing::Value if param.is_size() => "usize".to_owned(),
                _ => rust_type(param, ""),
            };
            let _ = writeln!(out, "    {}: {ty},", self.names[k]);
        }
        let borrowed = if lent { "&'w mut" } else { "&mut" };
        let _ =
            writeln!(out, "    workspace: {borrowed} Workspace,\n) -> Result<{result}, Error> {{");
        self.body(out, &results, &camel);
        out.push_str("}\n\n");
    }

    /// The declaration of the C function.
    fn declare(&self, out: &mut String) {
        out.push_str("#[allow(unsafe_code)]\nunsafe extern \"C\" {\n");
        let _ = writeln!(out, "    fn {}(", self.function.name());
        for (k, param) in self.params() {
            let cell = match param.scalar() {
                Scalar::F64 => "f64",
                Scalar::F32 => "f32",
                Scalar::I64 => "i64",
                Scalar::I32 => "i32",
                Scalar::Bool => "u8",
            };
            let ty = match param.passing() {
                Passing::Value => cell.to_owned(),
                Passing::Read => format!("*const {cell}"),
                Passing::AddedTo | Passing::Written | Passing::Returned => format!("*mut {cell}"),
                Passing::Lent => format!("*mut *const {cell}"),
            };
            let _ = writeln!(out, "        {}: {ty},", self.names[k]);
        }
        out.push_str(match self.math {
            MathLibrary::Jut => "        workspace: *mut core::ffi::c_void,\n",
            MathLibrary::System => {
                "        memory: *mut core::ffi::c_void,\n        bytes: usize,\n"
            }
        });
        out.push_str("        error: *mut RawError,\n    ) -> i32;\n");
        if self.math == MathLibrary::System {
            let integers: Vec<String> =
                self.integers().map(|k| format!("{}: i64", self.names[k])).collect();
            let name = self.function.name();
            let _ =
                writeln!(out, "    fn {name}_workspace_size({}) -> usize;", integers.join(", "));
        }
        out.push_str("}\n\n");
    }

    /// The integers that are passed by value.
    fn integers(&self) -> impl Iterator<Item = usize> + use<'a> {
        let integer = |p: &CParameter| (p.passing(), p.scalar()) == (Passing::Value, Scalar::I64);
        self.params().filter(move |(_, p)| integer(p)).map(|(k, _)| k)
    }

    fn document(&self, out: &mut String) {
        let _ =
            writeln!(out, "/// {} `{}`.\n///", self.function.about(), self.function.definition());
        for (k, param) in self.params() {
            if matches!(param.passing(), Passing::Returned | Passing::Lent)
                || self.lengths[k].is_some()
            {
                continue;
            }
            let use_ = match param.passing() {
                Passing::AddedTo => "; added to",
                Passing::Written => "; written",
                _ => "",
            };
            let _ = writeln!(out, "/// - `{}`: {}{use_}", self.names[k], param.about());
        }
        let lengths: Vec<String> = self
            .params()
            .filter_map(|(k, p)| {
                Some(format!("`{}` is the length of `{}`", p.name(), self.names[self.lengths[k]?]))
            })
            .collect();
        if !lengths.is_empty() {
            let _ = writeln!(out, "///\n/// {}. Arrays are row-major.", lengths.join(", "));
        }
        out.push_str("///\n/// # Errors\n/// A slice of another length, or a run that fails.\n");
    }

    fn body(&self, out: &mut String, results: &[(usize, &CParameter)], camel: &str) {
        // Sizes, then how long every array has to be.
        for (k, param) in self.params() {
            let name = &self.names[k];
            match (self.lengths[k], param.is_size()) {
                (Some(array), _) => {
                    let _ = writeln!(out, "    let {name} = integer({}.len());", self.names[array]);
                }
                (None, true) => {
                    let _ = writeln!(out, "    let {name} = integer({name});");
                }
                _ => {}
            }
        }
        for (k, param) in self.params() {
            let slice =
                matches!(param.passing(), Passing::Read | Passing::AddedTo | Passing::Written);
            if slice {
                let (name, cells) = (&self.names[k], self.cells(param.dims()));
                let _ = writeln!(out, "    fits(\"{name}\", {name}.len(), {cells})?;");
            }
        }
        for (k, param) in results {
            let start = match (param.passing(), param.scalar()) {
                (Passing::Lent, _) => "core::ptr::null()",
                (_, Scalar::F64) => "0.0",
                (_, Scalar::F32) => "0.0f32",
                (_, Scalar::I64 | Scalar::I32) => "0",
                (_, Scalar::Bool) => "0u8",
            };
            let _ = writeln!(out, "    let mut {} = {start};", self.names[*k]);
        }
        let mut args: Vec<String> = Vec::new();
        for (k, param) in self.params() {
            let name = &self.names[k];
            args.push(match (param.passing(), param.scalar()) {
                (Passing::Value, Scalar::Bool) => format!("u8::from({name})"),
                (Passing::Value, _) => name.clone(),
                (Passing::Read, _) => format!("{name}.as_ptr().cast()"),
                (Passing::AddedTo | Passing::Written, _) => format!("{name}.as_mut_ptr().cast()"),
                (Passing::Returned | Passing::Lent, _) => format!("&mut {name}"),
            });
        }
        let name = self.function.name();
        match self.math {
            MathLibrary::Jut => args.push("workspace.pointer()".to_owned()),
            MathLibrary::System => {
                let integers: Vec<&str> = self.integers().map(|k| self.names[k].as_str()).collect();
                let _ = writeln!(
                    out,
                    "    // SAFETY: it is arithmetic.\n    let bytes = unsafe {{ \
                     {name}_workspace_size({}) }};\n    let (memory, bytes) = workspace.memory(bytes);",
                    integers.join(", ")
                );
                args.extend(["memory".to_owned(), "bytes".to_owned()]);
            }
        }
        args.push("&mut error".to_owned());
        let _ = writeln!(
            out,
            "    let mut error = RawError::default();\n    // SAFETY: every array has as many cells as \
             the sizes say, what is written overlaps\n    // nothing, and the workspace is this call's.\n    \
             let status = unsafe {{ {name}({}) }};\n    if status != 0 {{\n        return \
             Err(error.into());\n    }}",
            args.join(", ")
        );
        for (k, param) in results {
            let name = &self.names[*k];
            match (param.passing(), param.scalar()) {
                (Passing::Lent, _) => {
                    let cells = self.cells(param.dims());
                    let _ = writeln!(
                        out,
                        "    let cells = {cells};\n    // SAFETY: the function says that so many cells \
                         are there, until the next call with the\n    // workspace, which is borrowed as \
                         long as they are.\n    let {name} = match cells {{\n        0 => &[],\n        \
                         _ => unsafe {{ core::slice::from_raw_parts({name}.cast(), cells) }},\n    }};"
                    );
                }
                (_, Scalar::Bool) => {
                    let _ = writeln!(out, "    let {name} = {name} != 0;");
                }
                _ => {}
            }
        }
        let names: Vec<&str> = results.iter().map(|(k, _)| self.names[*k].as_str()).collect();
        let result = match names.as_slice() {
            [] => "()".to_owned(),
            [one] => (*one).to_owned(),
            _ => format!("{camel} {{ {} }}", names.join(", ")),
        };
        let _ = writeln!(out, "    Ok({result})");
    }

    /// The number of cells as an expression.
    fn cells(&self, dims: &[Extent]) -> String {
        let dims: Vec<String> = dims.iter().map(|dim| self.extent(dim)).collect();
        format!("cells(&[{}])", dims.join(", "))
    }

    fn extent(&self, extent: &Extent) -> String {
        let term = |(factor, parameters): (i64, Vec<usize>)| {
            let factors = parameters.into_iter().map(|k| {
                let name = self.names.get(k).map_or("", String::as_str);
                format!(".saturating_mul({name} as i128)")
            });
            format!("({factor}i128){}", factors.collect::<String>())
        };
        let mut terms = extent.terms().map(term);
        let first = terms.next().unwrap_or_else(|| "0i128".to_owned());
        first + &terms.map(|term| format!(".saturating_add({term})")).collect::<String>()
    }
}

/// The type of a parameter or result.
fn rust_type(param: &CParameter, life: &str) -> String {
    let cell = match param.scalar() {
        Scalar::F64 => "f64",
        Scalar::F32 => "f32",
        Scalar::I64 => "i64",
        Scalar::I32 => "i32",
        Scalar::Bool => "bool",
    };
    match param.passing() {
        Passing::Value | Passing::Returned => cell.to_owned(),
        Passing::Read | Passing::Lent => format!("&{life}[{cell}]"),
        Passing::AddedTo | Passing::Written => format!("&mut [{cell}]"),
    }
}

/// A name of letters, digits and underscores.
fn plain(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect()
}

/// Names that a parameter cannot have: keywords of Rust, and what the module's functions use.
const KEYWORDS: &[&str] = &[
    "Self",
    "abstract",
    "as",
    "async",
    "await",
    "become",
    "box",
    "break",
    "cells",
    "const",
    "continue",
    "crate",
    "do",
    "dyn",
    "else",
    "enum",
    "error",
    "extern",
    "false",
    "final",
    "fits",
    "fn",
    "for",
    "gen",
    "if",
    "impl",
    "in",
    "integer",
    "let",
    "loop",
    "macro",
    "match",
    "memory",
    "mod",
    "move",
    "mut",
    "override",
    "priv",
    "pub",
    "ref",
    "return",
    "self",
    "static",
    "status",
    "struct",
    "super",
    "trait",
    "true",
    "try",
    "type",
    "typeof",
    "unsafe",
    "unsized",
    "use",
    "virtual",
    "where",
    "while",
    "workspace",
    "yield",
    "bytes",
];

/// Errors and lengths.
const COMMON: &str = r#"/// Why a call gave no results.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Error {
    /// A slice has not as many cells as the sizes say.
    Length {
        /// The argument.
        argument: &'static str,
        /// How many cells it has.
        found: usize,
        /// How many it should have.
        expected: usize,
    },
    /// The program ran and failed.
    Run {
        /// The kind of error: 1 to 6 for R01 to R06.
        status: i32,
        /// The place in the program, the kind of error and what it means.
        message: &'static str,
        /// The line of the program.
        line: i32,
        /// The column.
        column: i32,
        /// The numbers involved.
        numbers: Vec<i64>,
    },
}

impl core::fmt::Display for Error {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Error::Length { argument, found, expected } => {
                write!(f, "`{argument}` has {found} cells, not {expected}")
            }
            Error::Run { message, numbers, .. } if numbers.is_empty() => f.write_str(message),
            Error::Run { message, numbers, .. } => write!(f, "{message} {numbers:?}"),
        }
    }
}

impl std::error::Error for Error {}

#[repr(C)]
struct RawError {
    status: i32,
    line: i32,
    column: i32,
    count: i32,
    message: *const core::ffi::c_char,
    numbers: [i64; 3],
}

impl Default for RawError {
    fn default() -> RawError {
        let message = core::ptr::null();
        RawError { status: 0, line: 0, column: 0, count: 0, message, numbers: [0; 3] }
    }
}

impl From<RawError> for Error {
    #[allow(unsafe_code)]
    fn from(error: RawError) -> Error {
        let message = match error.message.is_null() {
            true => "",
            // SAFETY: messages are static text that ends with a zero.
            false => unsafe { core::ffi::CStr::from_ptr(error.message) }.to_str().unwrap_or(""),
        };
        let count = usize::try_from(error.count).unwrap_or(0).min(3);
        Error::Run {
            status: error.status,
            message,
            line: error.line,
            column: error.column,
            numbers: error.numbers[..count].to_vec(),
        }
    }
}

/// A size as the program takes it.
#[allow(dead_code)]
fn integer(size: usize) -> i64 {
    i64::try_from(size).unwrap_or(i64::MAX)
}

/// How many cells an array has.
#[allow(dead_code)]
fn cells(dims: &[i128]) -> usize {
    let product = dims.iter().fold(1i128, |product, dim| product.saturating_mul((*dim).max(0)));
    usize::try_from(product).unwrap_or(usize::MAX)
}

#[allow(dead_code)]
fn fits(argument: &'static str, found: usize, expected: usize) -> Result<(), Error> {
    match found == expected {
        true => Ok(()),
        false => Err(Error::Length { argument, found, expected }),
    }
}

"#;

/// Workspaces of the runtime.
const RUNTIME: &str = r#"/// Memory for temporary values and tapes: it grows as needed and keeps what it has. Each thread has its
/// own.
#[derive(Debug)]
pub struct Workspace(*mut core::ffi::c_void);

#[allow(unsafe_code)]
unsafe extern "C" {
    fn jut_workspace_new() -> *mut core::ffi::c_void;
    fn jut_workspace_free(workspace: *mut core::ffi::c_void);
    fn jut_workspace_limit(workspace: *mut core::ffi::c_void, bytes: usize);
    fn jut_workspace_held(workspace: *const core::ffi::c_void) -> usize;
    #[link_name = "jut_runtime_VERSION"]
    static RUNTIME: u8;
}

// SAFETY: a workspace is memory of its own, and nothing uses it but calls that borrow it.
#[allow(unsafe_code)]
unsafe impl Send for Workspace {}

#[allow(dead_code, unsafe_code)]
impl Workspace {
    /// An empty workspace.
    pub fn new() -> Workspace {
        Workspace(core::ptr::null_mut())
    }

    /// The most bytes that it may take from now on; a call that needs more fails with R06.
    pub fn set_limit(&mut self, bytes: usize) {
        let workspace = self.pointer();
        if !workspace.is_null() {
            // SAFETY: it is from `jut_workspace_new`.
            unsafe { jut_workspace_limit(workspace, bytes) };
        }
    }

    /// The bytes that it holds.
    pub fn held(&self) -> usize {
        match self.0.is_null() {
            true => 0,
            // SAFETY: it is from `jut_workspace_new`.
            false => unsafe { jut_workspace_held(self.0) },
        }
    }

    /// The workspace, made at the first call; null, which is the error R06, if there is no memory.
    fn pointer(&mut self) -> *mut core::ffi::c_void {
        if self.0.is_null() {
            // SAFETY: they may be read and called at any time. Reading makes sure that the runtime is
            // of the version that this was made for: with another one there is nothing to read.
            unsafe {
                core::ptr::read_volatile(&raw const RUNTIME);
                self.0 = jut_workspace_new();
            }
        }
        self.0
    }
}

impl Default for Workspace {
    fn default() -> Workspace {
        Workspace::new()
    }
}

impl Drop for Workspace {
    #[allow(unsafe_code)]
    fn drop(&mut self) {
        // SAFETY: it is from `jut_workspace_new`, or null, and not used again.
        unsafe { jut_workspace_free(self.0) };
    }
}

"#;

/// Workspaces without a runtime.
const SYSTEM: &str = r#"/// Memory for temporary values and tapes: it grows as needed and keeps what it has. Each thread has its
/// own.
#[derive(Debug, Default)]
pub struct Workspace(Vec<u64>);

#[allow(dead_code)]
impl Workspace {
    /// An empty workspace.
    pub fn new() -> Workspace {
        Workspace::default()
    }

    /// The bytes that it holds.
    pub fn held(&self) -> usize {
        8 * self.0.capacity()
    }

    /// Memory of so many bytes; less, which is the error R06, if there is not so much.
    fn memory(&mut self, bytes: usize) -> (*mut core::ffi::c_void, usize) {
        let words = bytes.div_ceil(8);
        let more = words.saturating_sub(self.0.len());
        if self.0.try_reserve(more).is_ok() {
            self.0.resize(words.max(self.0.len()), 0);
        }
        (self.0.as_mut_ptr().cast(), 8 * self.0.len())
    }
}

"#;
