//! Names in the text: each binding of a Rust function has one of its own, so that shadowing needs no
//! thought, and none that means something to the text.

use std::collections::HashSet;
use std::sync::LazyLock;

/// Words of the text, and functions that the lowering calls without `prim.` before them.
const RESERVED: &[&str] = &[
    "acc",
    "bool",
    "build",
    "carry",
    "case",
    "cast",
    "check",
    "concat",
    "const",
    "core",
    "data",
    "def",
    "do",
    "down",
    "drop",
    "dup",
    "else",
    "extern",
    "f32",
    "f64",
    "false",
    "fn",
    "fold",
    "for",
    "get",
    "i32",
    "i64",
    "if",
    "inf",
    "lanes",
    "lend",
    "map",
    "max",
    "min",
    "mut",
    "nan",
    "null",
    "pad",
    "par",
    "pi",
    "prim",
    "proved",
    "put",
    "rd",
    "rec",
    "repeat",
    "rule",
    "scan",
    "size",
    "slice",
    "st",
    "sum",
    "take",
    "true",
    "up",
    "use",
    "var",
    "while",
    "with",
    "wr",
    "zero",
    "mean",
    "prod",
    "any",
    "all",
    "argmax",
    "argmin",
    "cumsum",
    "cumprod",
    "logsumexp",
    "softmax",
    "grad",
    "value_and_grad",
    "jvp",
    "vjp",
    "hvp",
    "second",
    "directional",
    "jacobian",
    "value_jacobian",
    "hessian",
    "flatten",
    "unflatten",
    "import",
    "module",
    "return",
    "let",
];

/// Whether a name is one of them. It is asked for each name, in macros that nobody optimises: so not by looking at all of them.
fn is_reserved(name: &str) -> bool {
    static ALL: LazyLock<HashSet<&str>> = LazyLock::new(|| RESERVED.iter().copied().collect());
    ALL.contains(name)
}

/// The names that a text has used.
#[derive(Default)]
pub struct Names {
    used: HashSet<String>,
}

impl Names {
    /// A name that nothing else has, as near to the wanted one as can be.
    pub fn unique(&mut self, wanted: &str) -> String {
        let base = plain(wanted);
        let mut name = base.clone();
        let mut number = 0;
        while is_reserved(&name) || self.used.contains(&name) {
            number += 1;
            name = format!("{base}_{number}");
        }
        self.used.insert(name.clone());
        name
    }
}

/// A Rust identifier as a word of the text that means nothing else.
pub fn word(name: &str) -> String {
    let word = plain(name);
    if is_reserved(&word) { format!("{word}_") } else { word }
}

/// A Rust identifier as a word of ASCII letters, digits and `_`.
fn plain(name: &str) -> String {
    let name = name.strip_prefix("r#").unwrap_or(name);
    let word = match name.bytes().all(|c| c.is_ascii_alphanumeric() || c == b'_') {
        true => name.to_string(),
        false => name
            .chars()
            .map(|c| match c.is_ascii_alphanumeric() || c == '_' {
                true => c.to_string(),
                false => format!("u{:x}", c as u32),
            })
            .collect(),
    };
    match word.trim_start_matches('_') {
        "" => "unnamed".to_string(),
        rest => rest.to_string(),
    }
}
