//! Arrays of tuples, records and sums that change: whole elements are taken out, exchanged and written, or parts of them, and what was
//! taken out is read when the array has changed. And loops whose bounds are next to the ends of the integers.

use super::writer::{Scope, Statement, Writer};
use std::fmt::Write;

/// How an element is made of two floats, and read.
struct Kind {
    make: fn(&str, &str) -> String,
    /// Made of the element, and of names that nobody else has.
    read: fn(&str, [&str; 2]) -> String,
    /// Floats in it that are written alone.
    parts: &'static [&'static str],
}

const KINDS: &[Kind] = &[
    Kind {
        make: |x, y| format!("#({x}, {y})"),
        read: |e, [u, v]| format!("{{ #({u}, {v}) = {e}; {u} * {v} - {u} }}"),
        parts: &[".0", ".1"],
    },
    Kind {
        make: |x, y| format!("#({x}, [{y}, {x}])"),
        read: |e, [u, v]| format!("{{ #({u}, {v}) = {e}; {u} * {v}[0] - {v}[1] }}"),
        parts: &[".0", ".1[0]", ".1[1]"],
    },
    Kind {
        make: |x, y| format!("#(2, {x}, Pair({y}, 0.5))"),
        read: |e, [u, _]| format!("{{ {u} = {e}; f64({u}.0) * {u}.1 * {u}.2.left }}"),
        parts: &[".1"],
    },
    Kind {
        make: |x, y| format!("Deep(Pair({x}, {y}), 3)"),
        read: |e, [u, _]| format!("{{ {u} = {e}; {u}.pair.left * {u}.pair.right }}"),
        parts: &[],
    },
    Kind {
        make: |x, y| format!("(if {x} > 0.1 {{ Disc({y}) }} else {{ Slab({x}, {y}) }})"),
        read: |e, [u, v]| {
            format!("case {e} {{ Flat -> 0.5; Disc({u}) -> {u}; Slab({u}, {v}) -> {u} * {v} }}")
        },
        parts: &[],
    },
    Kind {
        make: |x, y| format!("[{x}, {y}, 0.25]"),
        read: |e, [u, _]| format!("{{ {u} = {e}; {u}[0] * {u}[1] - {u}[2] }}"),
        parts: &["[0]", "[2]"],
    },
];

/// A loop that carries an array of such elements and changes it.
pub(super) fn that_change(w: &mut Writer, scope: &mut Scope, indent: usize) -> Statement {
    if !scope.may_carry() {
        return None;
    }
    let (v, size) = w.vector(scope)?;
    let kind = &KINDS[w.rng.usize(0..KINDS.len())];
    let (first, j) = (w.name("p"), w.name("j"));
    let made = (kind.make)(&format!("{v}[{j}]"), &format!("({v}[{j}] * {v}[0])"));
    let start = format!("build ({j} < {size}) {{ {made} }}");
    let (mut inner, i) = w.within(scope, &size);
    inner.in_carries = true;
    let (s, mut a) = (w.name("c"), w.name("p"));
    inner.floats.push(s.clone());
    let carry = format!("carry ({s} = 0.5, {a} = {first})");
    let read = |w: &mut Writer, element: &str| (kind.read)(element, [&w.name("u"), &w.name("v")]);
    let mut elements = Vec::new();
    let mut body = String::new();
    for _ in 0..w.rng.usize(2..5) {
        let [at, from] = [0, 1].map(|_| if w.rng.bool() { i.clone() } else { "0".to_string() });
        let next = w.name("p");
        let taken = w.name("e");
        let _ = write!(body, "{taken} = {a}[{from}]; ");
        elements.push(taken.clone());
        let mut part = "";
        let value = match w.rng.u8(0..4) {
            // Another element of the same array, in the place of this one.
            0 => format!("{a}[{from}]"),
            1 => elements[w.rng.usize(0..elements.len())].clone(),
            2 if !kind.parts.is_empty() => {
                part = w.one(kind.parts);
                format!("tanh({})", read(w, &taken))
            }
            _ => {
                let (x, y) = (w.name("t"), w.name("t"));
                let (one, other) = (read(w, &taken), w.float(&inner, indent + 1));
                let _ = write!(body, "{x} = tanh({one}); {y} = {other}; ");
                (kind.make)(&x, &y)
            }
        };
        let changed = format!("{a} with [{at}]{part} = {value}");
        let _ = match w.rng.u8(0..3) {
            0 => write!(body, "{next} = if {i} % 3 == 1 {{ {a} }} else {{ {changed} }}; "),
            _ => write!(body, "{next} = {changed}; "),
        };
        a = next;
    }
    let late = elements[w.rng.usize(0..elements.len())].clone();
    let (x, y) = (read(w, &late), read(w, &format!("{a}[{i}]")));
    let (t, last, end) = (w.name("t"), w.name("p"), w.name("t"));
    let _ = write!(body, "({s} + tanh({x}) * tanh({y}), {a})");
    // What is left of the first array is looked at, or the loop may have its place.
    let left = if w.rng.bool() { &first } else { &last };
    let (one, other) = (read(w, &format!("{left}[{j}]")), read(w, &format!("{last}[{j}]")));
    let pad = "  ".repeat(indent);
    let total = format!("tanh(sum ({j} < {size}) {{ ({one}) * tanh({other}) * f64({j} + 1) }})");
    scope.floats.extend([format!("tanh({t})"), end.clone()]);
    let looped = format!("({t}, {last}) = for ({i} < {size}) {carry} {{ {body} }}");
    Some((first, format!("{start}\n{pad}{looped}\n{pad}{end} = {total}")))
}

/// A loop of no or few iterations, of which a bound is next to the least or the largest integer, or both are.
pub(super) fn far(w: &mut Writer, scope: &mut Scope, indent: usize) -> Statement {
    let (low, high, t) = (w.name("b"), w.name("b"), w.name("t"));
    let (i, body) = (w.name("i"), w.float(scope, indent + 1));
    // Near 0, whatever the integer is.
    let near = format!("({} % 5)", w.pick(&scope.bounds)?.clone());
    let (first, last) = match w.rng.u8(0..4) {
        0 => ("0".to_string(), format!("{near} - 9223372036854775800")),
        1 => (format!("{near} + 9223372036854775800"), format!("{near} - 9223372036854775800")),
        2 => (format!("{near} - 9223372036854775803"), format!("{low} + {near}")),
        _ => (format!("{near} + 9223372036854775803"), format!("{low} + {near}")),
    };
    let term = format!("exp(-abs({body}) - f64({i} % 3))");
    let value = match w.rng.u8(0..3) {
        0 => format!("sum ({low} <= {i} < {high}) {{ {term} }}"),
        1 => {
            let s = w.name("c");
            let carry = format!("carry ({s} = 0.5)");
            format!("for ({low} <= {i} < {high}) {carry} {{ tanh({s} * {term}) }}")
        }
        _ => {
            let s = w.name("c");
            let carry = format!("carry ({s} = 0.5)");
            format!("for ({high} > {i} >= {low}) {carry} {{ sin({s} + {term}) }}")
        }
    };
    scope.floats.push(t.clone());
    let pad = "  ".repeat(indent);
    Some((low, format!("{first}\n{pad}{high} = {last}\n{pad}{t} = {value}")))
}
