//! C headers for compiled products.
//!
//! A header is C99 and C++. It declares one function per product, with every parameter's shape,
//! order and use in a comment, how much memory a call needs, the struct that describes errors, and
//! the functions of the runtime. [`super::declaration`] says what the functions are.

use super::declaration::{CFunction, CParameter, Extent, Passing};
use super::{MathLibrary, Triple};
use jut_ir::RuntimeErrorKind;
use jut_ir::Scalar;
use std::fmt::Write;

impl CFunction {
    fn write(&self, out: &mut String, math: MathLibrary) {
        let _ = writeln!(out, "/**\n * {} `{}`.\n *", self.about(), self.definition);
        let name = |k: usize| self.params.get(k).map_or(String::new(), |p| p.name.clone());
        for param in &self.params {
            let _ = writeln!(out, " * @param {}  {}", param.name, param.comment(&name));
        }
        let mut params: Vec<String> =
            self.params.iter().map(|p| format!("{}{}", p.c_type(), p.name)).collect();
        let memory = match math {
            MathLibrary::Jut => "workspace",
            MathLibrary::System => "memory",
        };
        let about = match (math, self.needs_memory, &self.unbounded) {
            (_, false, _) => "may be NULL: this function needs none",
            (MathLibrary::Jut, true, None) => {
                "from jut_workspace_new() or jut_workspace_in(), used by one call at a time"
            }
            (MathLibrary::Jut, true, Some(_)) => {
                "from jut_workspace_new(), used by one call at a time"
            }
            (MathLibrary::System, true, _) => {
                "for temporary values and tapes, at any address, used by one call at a time"
            }
        };
        let _ = writeln!(out, " * @param {memory}  {about}");
        match math {
            MathLibrary::Jut => params.push("jut_workspace *workspace".into()),
            MathLibrary::System => {
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
        if self.stack > LARGE_STACK || self.levels.is_some() {
            let _ = writeln!(out, " *\n * A call needs up to {} bytes of stack.", self.stack);
        }
        if !self.lists.is_empty() {
            let _ = writeln!(out, " *\n * In lists of integers and of floats are values of");
            for data in &self.lists {
                let _ = writeln!(out, " *   {}", data.replace("*/", "* /"));
            }
        }
        if let Some(levels) = self.levels {
            let _ = writeln!(
                out,
                " * Functions that call themselves do so up to {levels} levels deep; more is\n * \
                 JUT_ERROR_RECURSION."
            );
        }
        if let Some(place) = &self.unbounded {
            let _ = writeln!(
                out,
                " *\n * How much memory a call needs depends on the data: {}.\n * The workspace \
                 grows as needed; jut_workspace_limit() says how far.",
                place.replace("*/", "* /")
            );
        }
        let _ = writeln!(out, " */\nint {}({});\n", self.name, params.join(", "));
        if self.unbounded.is_none() {
            self.write_size(out, math);
        }
    }

    /// The function that says how much memory a call needs.
    fn write_size(&self, out: &mut String, math: MathLibrary) {
        let of = match math {
            MathLibrary::Jut => "the memory of jut_workspace_in()",
            MathLibrary::System => "`memory`",
        };
        let _ = writeln!(
            out,
            "/** Bytes of {of} that are enough for any call of {} with these integers. */",
            self.name
        );
        let integers = |p: &&CParameter| (p.passing, p.cell) == (Passing::Value, Scalar::I64);
        let integers = self.params.iter().filter(integers);
        let mut integers: Vec<String> = integers.map(|p| format!("int64_t {}", p.name)).collect();
        if integers.is_empty() {
            integers.push("void".into());
        }
        let _ = writeln!(out, "size_t {}_workspace_size({});\n", self.name, integers.join(", "));
    }
}

/// Stack that is worth a word.
const LARGE_STACK: usize = 64 * 1024;

impl CParameter {
    /// What stands before the name.
    fn c_type(&self) -> String {
        let cell = match self.cell {
            Scalar::F64 => "double",
            Scalar::F32 => "float",
            Scalar::I32 => "int32_t",
            Scalar::I64 => "int64_t",
            Scalar::Bool => "uint8_t",
        };
        match self.passing {
            Passing::Value => format!("{cell} "),
            Passing::Read => format!("const {cell} *"),
            Passing::AddedTo | Passing::Written | Passing::Returned => format!("{cell} *"),
            Passing::Lent => format!("const {cell} **"),
        }
    }

    /// What it is, its shape and its use.
    fn comment(&self, name: &dyn Fn(usize) -> String) -> String {
        let what = &self.about;
        let bool = self.cell == Scalar::Bool;
        let use_ = match self.passing {
            Passing::Value if bool => return format!("{what}; 0 is false"),
            Passing::Value => return what.clone(),
            Passing::Returned => return format!("{what}; written; may be NULL"),
            Passing::Read => "read",
            Passing::AddedTo => "added to",
            Passing::Written => "written",
            Passing::Lent => {
                "made to point to them, until the next call with the same memory; may be NULL"
            }
        };
        let dim = |extent: &Extent| {
            let text = extent.text(name);
            let alone = self.dims.len() == 1 || extent.terms().count() < 2;
            if alone { text } else { format!("({text})") }
        };
        let cells = match self.dims.is_empty() {
            true => "1 cell".to_owned(),
            false => {
                let dims: Vec<String> = self.dims.iter().map(dim).collect();
                format!("{} cells, row-major", dims.join(" * "))
            }
        };
        let each = if bool { ", each 0 or 1" } else { "" };
        format!("{what}; {cells}{each}; {use_}")
    }
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
        RuntimeErrorKind::Memory => ("not enough memory, or a size is no 64-bit integer", &[]),
        RuntimeErrorKind::Cancelled => ("cancelled", &[]),
        RuntimeErrorKind::Recursion => ("recursion is too deep", &[]),
        RuntimeErrorKind::Foreign => ("a function of another language failed", &[]),
        RuntimeErrorKind::NotFinite => ("a number is not finite", &[]),
    }
}

/// The kinds of errors that a function in an object returns: nothing cancels one.
fn returned() -> impl Iterator<Item = RuntimeErrorKind> {
    RuntimeErrorKind::ALL.into_iter().filter(|kind| *kind != RuntimeErrorKind::Cancelled)
}

fn status_name(kind: RuntimeErrorKind) -> &'static str {
    match kind {
        RuntimeErrorKind::Index => "JUT_ERROR_INDEX",
        RuntimeErrorKind::Slice => "JUT_ERROR_SLICE",
        RuntimeErrorKind::NegativeSize => "JUT_ERROR_NEGATIVE_SIZE",
        RuntimeErrorKind::SizeMismatch => "JUT_ERROR_SIZE_MISMATCH",
        RuntimeErrorKind::DivisionByZero => "JUT_ERROR_DIVISION_BY_ZERO",
        RuntimeErrorKind::Memory => "JUT_ERROR_MEMORY",
        RuntimeErrorKind::Cancelled => "JUT_ERROR_CANCELLED",
        RuntimeErrorKind::Recursion => "JUT_ERROR_RECURSION",
        RuntimeErrorKind::Foreign => "JUT_ERROR_FOREIGN",
        RuntimeErrorKind::NotFinite => "JUT_ERROR_NOT_FINITE",
    }
}

/// The header.
pub(crate) fn write(
    prefix: &str,
    source: &str,
    math: MathLibrary,
    target: &Triple,
    functions: &[CFunction],
) -> String {
    let guard = format!("JUT_{}_H", prefix.to_uppercase().trim_end_matches('_'));
    // Nothing may end the comment early.
    let source = source.replace("*/", "* /");
    let linked = match math {
        MathLibrary::Jut => {
            " * Link the object with the runtime that was written along with it (libjut_runtime.a).\n \
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
    if functions.iter().any(|function| !function.lists.is_empty()) {
        out.push_str(LISTS);
    }
    write_errors(&mut out);
    if math == MathLibrary::Jut {
        out.push_str(WORKSPACE);
    }
    write_foreign(&mut out, functions);
    for function in functions {
        function.write(&mut out, math);
    }
    let _ = writeln!(out, "#ifdef __cplusplus\n}}\n#endif\n\n#endif /* {guard} */");
    out
}

/// What the program that is linked with the object has to define.
fn write_foreign(out: &mut String, functions: &[CFunction]) {
    let all = functions.iter().flat_map(|function| &function.foreign);
    let all: std::collections::BTreeSet<&(String, String)> = all.collect();
    if !all.is_empty() {
        out.push_str(FOREIGN);
    }
    for (symbol, text) in all {
        let text = text.replace("*/", "* /");
        let _ = write!(
            out,
            "/** {text} */\nvoid {symbol}(double *results, const double *floats, const int64_t *integers,\n    \
             double *failed, int64_t result_count, int64_t float_count, int64_t integer_count, int64_t number);\n\n"
        );
    }
}

const FOREIGN: &str = "/*
 * Functions that the caller defines. Each reads its parameters from two lists, of all integers, sizes
 * and arrays of them too, and of all floats, in the order of its declaration, those behind the `;` last,
 * and writes its results one after the other; they are 0.0 before. To end the call of the program
 * with JUT_ERROR_FOREIGN it sets *failed to 1.0. The lists have as many numbers as the counts say;
 * number is that of the declaration, and may be ignored. It may be called by any thread that calls
 * functions of this file, and must not unwind or jump out of its call.
 */

";

const CONVENTIONS: &str = " *
 * Sizes come first, each once; arrays are contiguous and row-major: the last index runs fastest, and
 * the sizes of a shape stand in the order of its dimensions. Arrays need the alignment of their cells
 * and no more. Arrays that are only read may overlap one another; an array that is written or added
 * to, and the memory, must not overlap anything else. An array without cells may be NULL. When a call
 * fails, what it was to write is unspecified. Functions have no state: any number of threads may call
 * them, each with its own memory. Nothing unwinds or jumps through a call, and nothing is printed.
";

const LISTS: &str = "/*
 * Values of recursive types and of arrays of different lengths are handed over in two lists, one of
 * integers and one of floats. In order, from the outside in and from left to right, stand there: for a
 * number itself, a truth value as 0 or 1; for a value of a type with several constructors the number of
 * its constructor, then its fields; for an array its sizes, then its elements. Node(Leaf(2.0), Leaf(3.0))
 * of a type with the constructors 0 Leaf and 1 Node is {1, 0, 0} and {2.0, 3.0}. Lists that are given are
 * tested: those that are no value are JUT_ERROR_INDEX or JUT_ERROR_NEGATIVE_SIZE.
 */

";

fn write_errors(out: &mut String) {
    out.push_str(
        "#ifndef JUT_ERROR_DECLARED\n#define JUT_ERROR_DECLARED\n\n\
         /** What a function returns. The comments say what jut_error.numbers hold. */\n\
         enum jut_status {\n  JUT_OK = 0,\n",
    );
    for kind in returned() {
        let (text, numbers) = meaning(kind);
        let numbers = match numbers.is_empty() {
            true => String::new(),
            false => format!(": {}", numbers.join(", ")),
        };
        let comma = if kind == RuntimeErrorKind::Foreign { "" } else { "," };
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
         } jut_error;\n\n\
         /** What a status means, in a few words. */\n\
         static inline const char *jut_status_message(int status) {\n\
         \x20 switch (status) {\n    case JUT_OK: return \"done\";\n",
    );
    for kind in returned() {
        let (text, _) = meaning(kind);
        let _ =
            writeln!(out, "    case {}: return \"{}: {text}\";", status_name(kind), kind.code());
    }
    out.push_str(
        "    default: return \"not a status of jut\";\n  }\n}\n\n\
         #endif /* JUT_ERROR_DECLARED */\n\n",
    );
}

const WORKSPACE: &str = "#ifndef JUT_WORKSPACE_DECLARED
#define JUT_WORKSPACE_DECLARED

/**
 * Memory of one thread for tapes, temporary arrays and results whose sizes only the function knows.
 * It grows as needed, at least doubling, and keeps what it has: when the first two calls have shown
 * how much that is, further calls of the same sizes allocate nothing. One workspace serves any
 * functions, one call at a time.
 */
typedef struct jut_workspace jut_workspace;

/** A new, empty workspace; NULL if there is no memory. */
jut_workspace *jut_workspace_new(void);

/**
 * A workspace at the begin of memory that is the caller's, at any address: it has all it needs there
 * and never asks the system for more, so no call with it allocates. NULL if the workspace itself does
 * not fit. The functions named .._workspace_size say how much is enough for a call; with less, the
 * call returns JUT_ERROR_MEMORY. The memory is the caller's again after the last call.
 */
jut_workspace *jut_workspace_in(void *memory, size_t bytes);

/** Gives a workspace and all it holds back. NULL is none; memory that is the caller's stays so. */
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
