//! Every code of messages about programs: what it means, and what to do about it in general.
//!
//! A message says what to do with the names and sizes of the user's program wherever it can; what stands
//! here is said where it cannot. The table in `docs/language.md` is made of this one.

/// One code.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Code {
    /// Such as `J301`.
    pub code: &'static str,
    /// What it means.
    pub meaning: &'static str,
    /// What to do about it.
    pub advice: &'static str,
}

macro_rules! codes {
    ($($code:ident $meaning:literal, $advice:literal;)*) => {
        /// All codes, in order.
        pub const CODES: &[Code] =
            &[$(Code { code: stringify!($code), meaning: $meaning, advice: $advice }),*];
    };
}

codes! {
    J001 "character not allowed, or unbalanced bracket",
        "take it out, or close the bracket";
    J002 "syntax: something else was expected",
        "write what is expected there";
    J003 "nested too deeply, or a type that is too large",
        "name a part and use the name; use a data type or an array for the type";
    J004 "more than 50 messages about one file: the others are counted",
        "mend what is listed first: many messages often have one cause";
    J010 "unknown name",
        "bind the name before it is used";
    J011 "name bound twice in scope",
        "give one of the two another name";
    J012 "unknown primitive",
        "`docs/primitives.md` lists the primitives";
    J013 "unknown constructor",
        "declare it: `data D = A(x: f64) | B`";
    J014 "unknown function",
        "define it: definitions may stand in any order";
    J015 "module that cannot be loaded",
        "a module is a file of its name with the ending .jut, beside the file that uses it";
    J016 "modules that use each other in a circle",
        "move what both need into a module of its own";
    J101 "linear name where a non-linear value is needed",
        "a linear value can only be added, negated, scaled and passed on";
    J102 "non-linear value where a linear one is needed",
        "linear values come from linear parameters and from `zero`";
    J103 "linear name not available: used twice, or captured by a loop",
        "copy it with `dup` before, or pass it to the loop as a carry or a slice";
    J104 "not a linear operation",
        "linear values are added, negated, scaled by non-linear ones, selected and passed on";
    J105 "linear name never used",
        "say `drop x'`, or use it";
    J110 "unknown capability",
        "capabilities are the names of `rd`, `wr` and `acc`";
    J111 "capability's mode does not allow this operation",
        "`rd` is read with `rd r[i]`, `wr` and `acc` are added to with `r[i] += x`";
    J114 "capability is hidden: sliced here",
        "use the name of the slice";
    J115 "`null` for an array",
        "give a capability of that array";
    J201 "index, bound or check is not i64",
        "use an i64; `i64(x)` rounds a float toward zero";
    J202 "operand or field has the wrong type",
        "give a value of the type that is needed, or convert it: `f64(n)`, `i64(x)`";
    J203 "size not in scope, or leaves its scope",
        "name the size in brackets, `def f[n](..)`, or return it as an earlier result";
    J204 "no such field",
        "use a field that the type has; components of a tuple are `.0`, `.1`, ..";
    J205 "not an array",
        "leave the index out, or use an array of more dimensions";
    J206 "opening a sum needs `case`",
        "open it with `case v { A(x) -> ..; B -> .. }`";
    J207 "field with a size inside: open the record",
        "open the record, so that its size has a name: `K(m, w) = v`";
    J208 "wrong number of fields or arguments",
        "give as many as are declared";
    J209 "slice length is not the trip count",
        "`cast x : [n]f64` tests at run time that the sizes are equal";
    J210 "argument's type or size differs from the parameter's",
        "give an argument of the parameter's type; `cast x : [n]f64` tests a size at run time";
    J211 "`=` pattern on a field that is not a size",
        "bind the field to a name, and compare the name";
    J212 "cast changes more than sizes",
        "convert the elements: `build (i < n) { f64(x[i]) }`";
    J213 "number of values does not fit the pattern or result",
        "give as many values as there are names";
    J214 "declared type differs from the value's",
        "change the declared type to that of the value, or convert the value";
    J215 "a size is a polynomial in i64 names",
        "bind the value to a name and use the name";
    J301 "access not covered by a loop range or check",
        "say `check i < n` before";
    J302 "malformed check",
        "write `check i < n`, `check lo ..+ m <= n` or `check n >= 0`";
    J303 "a new array needs sizes known to be non-negative",
        "say `check n >= 0` before";
    J401 "a par loop has no carry",
        "use `scan up`";
    J402 "fewer results than carries",
        "end the body with the next value of every carry";
    J403 "carry changes its type or size",
        "a carry keeps its type and its size in every iteration";
    J405 "size of a loop result depends on the iteration",
        "put it into a record together with its size";
    J406 "`scan while` without a condition, or with slices",
        "the first carry is a truth value; reach elements by their index";
    J407 "a tape policy before what it cannot be about",
        "`@store` and `@recompute` stand before an expression that computes something, `@segment(k)`, `@levels(d)` and `@revolve(c)` before a loop with a carry, `@online(c)` also before a `while`";
    J501 "`case` on a type without constructors",
        "use `if` for numbers: `if x > 0.0 { .. } else { .. }`";
    J502 "arms are not exactly the constructors",
        "write one arm for every constructor, or end with `_ -> ..`";
    J503 "arms consume different linear names",
        "`drop` the name in the arms that do not use it";
    J504 "arms return different types",
        "convert one of them, or annotate the pattern: `(m: i64, y: [m]f64) = ..`";
    J601 "not allowed in a `core def`",
        "leave `core` out, or write it as one operation per statement";
    J602 "values of a statement are not bound",
        "bind them, `y = ..`, or leave the statement out";
    J603 "a loop or branch without effect: it gives no value, adds nothing and checks nothing",
        "take its value: `s = sum (i < n) { .. }`, `y = if c { .. } else { .. }`";
    J604 "what is bound to an outer name is lost at the end of a loop's or branch's block",
        "carry it, `s = for (i < n) carry (s = s) { .. }`, or take the branch's value, `y = if c { .. } else { y }`";
    J605 "a variable is assigned where iterations know nothing of each other, and it is declared outside of them",
        "assign in a `for`, whose iterations run in order";
    J606 "the value of an assignment is of another type or size than the variable",
        "a variable keeps its type and its size: bind the value to another name, or convert it";
    J607 "assignment to what is not a variable",
        "declare it with `var`: `var s = 0.0`";
    J608 "function where a value is needed, or a value where a function is",
        "a function is given to a definition that takes one: `f(fn (x) -> x + 1.0, y)`";
    J702 "warning: float to integer cuts the derivative",
        "keep the float where a derivative is wanted";
    J703 "warning: a variable is never assigned",
        "leave `var` out";
    J704 "warning: the body of a `sum` without braces goes on to the end of the expression",
        "put the body in braces: `sum (i < n) { x[i] } / n`";
    J705 "warning: a schedule before a loop that calls its own function again is not heard",
        "write `@recompute` before the call";
    J801 "the function has no transpose, or cannot be unzipped: non-linear statements read linear names",
        "compute non-linear results from non-linear parameters";
    J802 "a gradient is that of one number, and the function does not return exactly one f64 (or the result named is none)",
        "use vjp or jvp, or name the result";
    J803 "a function that adds into accumulators of its caller has no gradient of its own",
        "differentiate a function that calls it";
    J804 "a derivative with respect to nothing: no parameter named has a float",
        "name a parameter with floats";
    J805 "a Jacobian or Hessian with respect to, or of, recursive data or a record that measures its own arrays, or one of more than 16384 arrays",
        "name fewer parameters, put numbers into arrays, or make sizes parameters of the record";
    J806 "a derivative through a sum that is too large: its constructors times its fields of floats are more than 65536",
        "divide it into sums of sums";
    J807 "the derivative that a rule states is not linear in the tangents",
        "give sums of products, each of one tangent and of values that do not depend on tangents";
    J808 "no schedule of the loops keeps the tape within the memory that it may take",
        "allow the bytes that the message names, or say `@recompute` of what is large";
    J809 "a batch over nothing, over what is the size of something else, or of a function that computes sizes of its results",
        "name a parameter that may differ from element to element, `vmap(f, x)(x, n)`, or make sizes parameters";
    J810 "a definition that takes a derivative of itself: that one would need its own derivative, and so on without end",
        "take the derivative in another definition";
    J811 "an `extern` that takes or gives what no other language is given, or is no linear function",
        "`extern def p(n: i64, v: [n]f64; x': [n]f64) -> (; [n]f64)`: i64s, f64s and arrays of them, and behind the `;` floats alone";
    J812 "an `extern` whose transpose is no `extern`, has another type, or names another transpose",
        "`q` takes behind the `;` what `p` gives there, gives what `p` takes, and ends with `transpose p`";
    J813 "an `extern` with floats before its `;` and no derivative by them, or one of another type",
        "let it end with `derivative r`, where `r` takes all that `p` takes and then tangents of these floats";
    J901 "not built yet",
        "write it with what is built: `docs/language.md` ends with what is not";
    J999 "a mistake in jut",
        "please report it with the program";
}

/// What to do about a code in general.
pub fn advice(code: &str) -> &'static str {
    let row = CODES.binary_search_by(|row| row.code.cmp(code));
    row.map_or("please report this message with the program", |k| CODES[k].advice)
}
