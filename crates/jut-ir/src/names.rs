//! The names of derived functions and types, in one place.
//!
//! `f.jvp`, `f.nonlin`, `f.lin`, `f.linT`, `f.tape`; with a mask `f{w,b}.jvp`. T of `f.linT` is `f.linTT`.

/// The name of a variable. Long programs have millions: up to 15 bytes stand in place, longer ones are
/// shared by those that copy them.
pub type Name = ecow::EcoString;

/// Adds a mask to a name: `f` and `["w", "b"]` give `f{w,b}`.
pub fn masked(name: &str, active: &[&str]) -> String {
    format!("{name}{{{}}}", active.join(","))
}

/// The forward derivative: `f.jvp`.
pub fn jvp(name: &str) -> String {
    format!("{name}.jvp")
}

/// The name that U's results are derived from: `f.jvp` loses its suffix, anything else keeps its name.
pub fn unzip_base(name: &str) -> &str {
    name.strip_suffix(".jvp").unwrap_or(name)
}

/// The non-linear half: `f.nonlin`.
pub fn nonlin(base: &str) -> String {
    format!("{base}.nonlin")
}

/// The linear half: `f.lin`.
pub fn lin(base: &str) -> String {
    format!("{base}.lin")
}

/// What U makes a function of its own of, because it is computed again as a whole: `f.part1`.
pub fn part(base: &str, number: usize) -> String {
    format!("{base}.part{number}")
}

/// The non-linear half of a part without its tape: `f.part1.values`.
pub fn values(base: &str) -> String {
    format!("{base}.values")
}

/// What the linear half of a part is called that runs the part again: `f.part1.again`.
pub fn again(base: &str) -> String {
    format!("{base}.again")
}

/// A function that does the same and prints nothing: `f.silent`.
pub fn silent(base: &str) -> String {
    format!("{base}.silent")
}

/// The tape type: `f.tape`.
pub fn tape(base: &str) -> String {
    format!("{base}.tape")
}

/// The tape of an inner loop or branch: `f.tape1`.
pub fn inner_tape(base: &str, number: usize) -> String {
    format!("{base}.tape{number}")
}

/// The tangent type of a data type, `List.tan`, and a constructor of it, `Cons.tan`.
pub fn tangent(name: &str) -> String {
    format!("{name}.tan")
}

/// The constructor of the tangent that is zero: `List.tan.none`.
pub fn no_tangent(tangent: &str) -> String {
    format!("{tangent}.none")
}

/// The zero tangent of a value: `List.zero`.
pub fn zero(name: &str) -> String {
    format!("{name}.zero")
}

/// The transpose: `f.lin` gives `f.linT`, `f.linT` gives `f.linTT`, any other `g` gives `g.T`.
pub fn transpose(name: &str) -> String {
    let last = name.rsplit('.').next().unwrap_or(name);
    if last.starts_with("lin") && last[3..].chars().all(|c| c == 'T') {
        format!("{name}T")
    } else {
        format!("{name}.T")
    }
}

/// L's result: `f.erased`.
pub fn erased(name: &str) -> String {
    format!("{name}.erased")
}

/// A composition: `f.grad`, `f.value_grad`, `f.vjp`, ..
pub fn composition(name: &str, kind: &str) -> String {
    format!("{name}.{kind}")
}
