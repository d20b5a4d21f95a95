//! What to write instead: words of other languages, and what jut says for them.
//!
//! The tables are asked only after something was refused, so none of these words is reserved.

/// How a function without a name is written.
pub(crate) const LAMBDA: &str = "a function without a name is written `fn (y) -> y * y`";

/// What is said of one with types.
pub(crate) const UNTYPED: &str =
    "a function without a name states no types: `fn (y) -> y * y`, `fn (y) -> { .. }`";

/// A word that was found where jut expects something else.
pub(crate) fn word(word: &str) -> Option<&'static str> {
    Some(match word {
        "let" | "val" | "auto" | "double" | "float" | "int" | "real" => {
            "a name is bound by `x = ..` alone, and one that is assigned later by `var x = ..`"
        }
        "mut" | "set" | "global" | "static" => {
            "a name that is assigned later is declared by `var x = ..`"
        }
        "return" | "yield" => "the last expression of a block is its result",
        "break" | "continue" => {
            "it stands alone in a block of a `for` or `while` that is a statement, without `carry`: `if c { break }`; a loop that \
             gives values ends early by `for (i < n) while c { .. }`"
        }
        "lambda" => LAMBDA,
        "fn" | "fun" | "func" | "function" | "proc" | "sub" | "pub" => {
            "a function is written `def f(x: f64) -> f64 = ..`, at the top of a file"
        }
        "struct" | "class" | "enum" | "type" | "record" | "union" | "newtype" => {
            "a type is written `data P = P(x: f64, y: f64)`, and another name of one `type V = [3]f64`, at the top of a file"
        }
        "import" | "from" | "include" | "require" | "open" | "module" | "using" => {
            "a module is loaded by `use stats`, at the top of a file"
        }
        "elif" | "elseif" | "elsif" | "elsewhere" => "write `else if c { .. }`",
        "then" | "begin" | "end" | "endif" | "unless" => "write `if c { .. } else { .. }`",
        "and" => "`and` is written `&&`",
        "or" => "`or` is written `||`",
        "not" => "`not` is written `!`",
        "xor" => "`a xor b` of truth values is `a != b`",
        "mod" | "rem" => "the remainder of integers is `a % b`",
        "div" => "division is `a / b`; of integers it rounds toward zero",
        "is" => "equality is `a == b`",
        "as" => "convert with `f64(n)` or `i64(x)`",
        "switch" | "match" | "when" | "select" => "write `case v { A(x) -> ..; B -> .. }`",
        "loop" | "until" | "repeat" | "foreach" | "parfor" | "forall" | "range" => {
            "write `for (i < n) carry (a = ..) { .. }`, `sum (i < n) { .. }` or `build (i < n) { .. }`"
        }
        "where" => "bind names before they are used, in the block",
        _ => return None,
    })
}

/// A function that does not exist.
pub(crate) fn function(name: &str) -> Option<&'static str> {
    Some(match name {
        "fold" | "foldl" | "foldr" | "reduce" | "accumulate" => {
            "write `fold (v <- xs) carry (a = ..) { .. }`: the block gives the next `a`; or take `std.array.fold(f, a, x)`, \
             behind `use std.array`"
        }
        "scanl" | "scan" => {
            "write `for (v <- xs) carry (a = ..) { b = ..; (b, b) }`, or take `std.array.scan(f, a, x)`, behind `use std.array`"
        }
        "sort" | "sorted" => {
            "behind `use std.array`, `std.array.sort(x)`; the order alone is `std.array.order(x)`"
        }
        "argsort" | "sortperm" => "behind `use std.array`, `std.array.order(x)`",
        "map" | "build" | "vmap" | "tabulate" | "generate" | "fill" | "apply" | "array"
        | "full" => "write `map (v <- xs) { .. }` or `build (i < n) { .. }`",
        "zip" => "a loop may run over several arrays: `sum (a <- xs, b <- ys) { .. }`",
        "filter" => {
            "choose in the loop: `sum (v <- xs) { if v > 0.0 { v } else { 0.0 } }`; or take `std.array.filter(f, x)`, behind \
             `use std.array`"
        }
        "zeros" => "write `build (i < n) { 0.0 }`",
        "ones" => "write `build (i < n) { 1.0 }`",
        "range" | "arange" | "iota" | "linspace" => {
            "a loop counts by itself: `build (i < n) { f64(i) }`"
        }
        "len" | "length" | "shape" | "numel" | "count" => {
            "the size of an array is `size(x)`, of its second dimension `size(x, 1)`"
        }
        "mean" | "average" => "the mean of an array is `mean(x)`",
        "prod" | "product" => {
            "the product of an array is `prod(x)`; a loop is `for (v <- x) carry (p = 1.0) { p * v }`"
        }
        "any" | "all" => "a test of an array is `any(x > 0.0)`, `all(x > 0.0)`",
        "norm" => "write `sqrt(sum (v <- x) { v^2 })`",
        "dot" | "inner" => "write `sum (a <- x, b <- y) { a * b }`",
        "maximum" | "amax" => "the largest of an array is `max(x)`",
        "minimum" | "amin" => "the smallest of an array is `min(x)`",
        "ln" => "the natural logarithm is `log(x)`",
        "fabs" | "absolute" => "the absolute value is `abs(x)`",
        "power" | "ipow" => "a power is `x^2` or `pow(x, y)`",
        "square" | "sqr" => "a square is `x^2`",
        "float" | "double" | "real" | "to_f64" => "convert with `f64(n)`",
        "int" | "integer" | "to_i64" => "convert with `i64(x)`",
        "print" | "println" | "printf" | "display" => {
            "a statement prints a line: `print \"x =\", x`"
        }
        "assert" | "require" => "say what holds: `assert x > 0.0, \"x is positive\"`",
        "where" | "ifelse" | "cond" | "iff" => "write `if c { a } else { b }` or `select(c, a, b)`",
        "append" | "push" | "concatenate" | "cat" | "hstack" | "vstack" | "stack" => {
            "arrays one after another are `concat(x, y)`; a single element is `[v]`"
        }
        "conv" | "convolve" | "correlate" => {
            "a convolution with channels is `conv1d(x, k)` or `conv2d(x, k)`"
        }
        "reshape" => "all cells as a vector are `flatten(a)`, and back `unflatten(x, n, m)`",
        "permute" | "transpose" => {
            "`transposed(a)` of a matrix; `permute_201(a)` has the dimensions 2, 0, 1 of `a`"
        }
        "stop_gradient" | "detach" | "stopgrad" => "a value without derivative is `stop(x)`",
        "return" | "let" | "not" | "lambda" | "match" | "switch" | "loop" | "foreach" => {
            return word(name);
        }
        _ => return derivative(name),
    })
}

/// A derivative taken inside a program: `grad(g)(x)`, `g.grad(x)`.
pub(crate) fn derivative(name: &str) -> Option<&'static str> {
    let help = "a derivative of a function `f` is `grad(f)(x)`, or `value_and_grad`, `jvp`, `vjp`, `hvp`, `hessian`, `jacobian`";
    let names = [
        "grad",
        "gradient",
        "value_and_grad",
        "value_grad",
        "jvp",
        "vjp",
        "hvp",
        "derivative",
        "diff",
        "jacobian",
        "jacfwd",
        "jacrev",
        "hessian",
        "backward",
    ];
    names.contains(&name).then_some(help)
}

/// A type that does not exist.
pub(crate) fn type_name(name: &str) -> Option<&'static str> {
    Some(match name {
        "float" | "double" | "real" | "number" | "Float" | "Double" | "Real" | "F64"
        | "float64" | "Float64" | "num" => "floats are `f64`",
        "int" | "integer" | "Int" | "Integer" | "long" | "int64" | "Int64" | "usize" | "u64"
        | "isize" | "nat" => "integers are `i64`",
        "Bool" | "boolean" | "Boolean" | "logical" => "truth values are `bool`",
        "vec" | "Vec" | "vector" | "Vector" | "array" | "Array" | "list" | "List" | "Tensor"
        | "tensor" | "matrix" | "Matrix" => {
            "an array is `[n]f64` or `[n, m]f64`; name its sizes: `def f[n](x: [n]f64)`"
        }
        "String" | "str" | "string" | "char" => "there are no texts: numbers and data types only",
        "void" | "Unit" | "unit" | "None" => "no result is `-> ()`",
        _ => return None,
    })
}

/// A name that does not exist.
pub(crate) fn name(name: &str) -> Option<&'static str> {
    Some(match name {
        "True" | "TRUE" => "write `true`",
        "False" | "FALSE" => "write `false`",
        "inf" | "infinity" | "Inf" | "INFINITY" => "infinity is `inf()`",
        "nan" | "NaN" | "NAN" => "not a number is `nan()`",
        "PI" | "Pi" => "half a turn is `pi`",
        "E" => "Euler's number is `e`",
        "None" | "nil" | "NULL" | "undefined" => {
            "what may be missing is a sum: `data Maybe = None | Some(i: i64)`"
        }
        _ => return word(name),
    })
}

/// A character outside the language.
pub(crate) fn character(text: &str) -> Option<&'static str> {
    Some(match text.chars().next()? {
        '\'' => "write `x'` without a blank",
        '&' => "write `&&` for `and`",
        '?' => "write `if c { a } else { b }`",
        '#' => "a comment begins with `//`",
        '~' => "`not` is written `!`",
        '×' | '·' => "a product is written `*`",
        '−' | '–' => "a minus is written `-`",
        '≤' => "write `<=`",
        '≥' => "write `>=`",
        '≠' => "write `!=`",
        '→' => "write `->`",
        '←' => "write `<-`",
        _ => "names are made of ASCII letters, digits and `_`",
    })
}

/// What to put in the place of a word or character of another language, where that is all there is to
/// do.
pub(crate) fn replacement(text: &str) -> Option<&'static str> {
    Some(match text {
        "and" | "&" => "&&",
        "or" => "||",
        "not" | "~" => "!",
        "mod" | "rem" => "%",
        "div" => "/",
        "is" => "==",
        "elif" | "elseif" | "elsif" => "else if",
        "fn" | "fun" | "func" | "function" => "def",
        "import" | "using" => "use",
        "ln" => "log",
        "fabs" | "absolute" => "abs",
        "len" | "length" | "numel" => "size",
        "True" | "TRUE" => "true",
        "False" | "FALSE" => "false",
        "PI" | "Pi" => "pi",
        "infinity" | "Inf" | "INFINITY" => "inf()",
        "NaN" | "NAN" => "nan()",
        "float" | "double" | "real" | "number" | "Float" | "Double" | "Real" | "F64"
        | "float64" | "Float64" | "num" => "f64",
        "int" | "integer" | "Int" | "Integer" | "long" | "int64" | "Int64" => "i64",
        "Bool" | "boolean" | "Boolean" | "logical" => "bool",
        "#" => "//",
        "×" | "·" => "*",
        "−" | "–" => "-",
        "≤" => "<=",
        "≥" => ">=",
        "≠" => "!=",
        "→" => "->",
        "←" => "<-",
        _ => return None,
    })
}

/// A message about a word, with what is said of it and what to put in its place.
pub(crate) fn about(error: jut_ir::Diagnostic, text: &str, help: &str) -> jut_ir::Diagnostic {
    let span = error.span;
    match replacement(text) {
        Some(other) => error.help(help).replace(span, other),
        None => error.help(help),
    }
}

/// A form that other languages have: what was found behind the last token, where something else was expected.
pub(crate) fn form_of_others(last: &str, found: &str, expected: &str) -> Option<&'static str> {
    Some(match (last, found) {
        (_, "@") => {
            "a product of matrices is `matmul(a, b)`, one of a matrix and a vector `matvec(a, x)`"
        }
        (_, "=") if expected == "`)`" => {
            "what is given stands in order, without names: `P(1.0, 2.0)`; another value of one field is `p with x = v`"
        }
        (name, "{") if name.starts_with(|c: char| c.is_ascii_uppercase()) => {
            "a record is made of its fields in order: `P(1.0, 2.0)`"
        }
        (")", "->") if expected == "the end of the statement" => LAMBDA,
        (_, "->") if expected == "`)`" => LAMBDA,
        ("not", _) => return word(last),
        (_, "if") if expected.starts_with("the end of") => "write `if c { a } else { b }`",
        ("=", "{") if expected == "a constructor" => {
            "the fields stand behind a constructor: `data P = P(x: f64, y: f64)`"
        }
        (_, "for") if expected == "`]`" => {
            "the array that a loop makes is `map (v <- xs) { .. }` or `build (i < n) { .. }`"
        }
        (_, "for") if expected.starts_with("a range") || expected == "`)`" => {
            "a loop has its range before its body: `sum (i < n) { x[i] }`, `sum (v <- xs) { v }`"
        }
        ("f64" | "f32" | "i64" | "i32" | "bool", "[") => {
            "the sizes of an array stand before the type of its elements: `[n]f64`"
        }
        ("match" | "switch" | "when" | "loop" | "until" | "foreach" | "forall" | "lambda", _) => {
            return word(last);
        }
        _ => return None,
    })
}

/// A call of a primitive, or an operator, with so many operands.
pub(crate) fn form(text: &str, count: usize) -> String {
    let names: &[&str] = match (text, count) {
        ("select", 3) => &["b", "x", "y"],
        ("powi", _) => &["x", "n"],
        ("polygamma", _) => &["k", "x"],
        _ => &["x", "y", "z"],
    };
    let list: Vec<&str> = (0..count).map(|k| names.get(k).copied().unwrap_or("..")).collect();
    format!("`{text}({})`", list.join(", "))
}
