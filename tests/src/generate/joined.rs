//! Histograms by every operator; definitions that take functions and have a rule, or call themselves and differentiate what they
//! were given.

use super::functions::{FEW, smooth_body};
use super::writer::{Scope, Statement, Writer};

/// What an operator makes of the values of each bin; places that are no bins are left out.
pub(super) fn histogram(w: &mut Writer, scope: &mut Scope, indent: usize) -> Statement {
    let (map, length, target) = w.pick(&scope.maps)?.clone();
    let (inner, i) = w.within(scope, &length);
    let (mut bin, k) = w.within(scope, &target);
    bin.in_carries = true;
    let (h, value) = (w.name("h"), w.float(&inner, indent + 1));
    let first = w.float(&Scope { depth: 4, ..bin }, indent + 1);
    let first = format!("from ({first})");
    let place = w.one(&["", " - 1", " + 1"]);
    let (s, t) = (w.name("s"), w.name("t"));
    let (operator, from) = match w.rng.u8(0..9) {
        0 => ("+".to_string(), ""),
        1 => ("*".to_string(), first.as_str()),
        2 => ("+".to_string(), first.as_str()),
        3 => ("max".to_string(), first.as_str()),
        4 => ("min".to_string(), first.as_str()),
        5 => ("joint".to_string(), first.as_str()),
        6 => (format!("fn ({s}, {t}) -> 0.5 * {s} - sin({t}) * sum(x)"), first.as_str()),
        7 => (format!("fn ({s}, {t}) -> tanh(0.5 * {s} - {t})"), first.as_str()),
        _ => (format!("fn ({s}, {t}) -> if {s} > {t} {{ {s} }} else {{ 0.5 * {t} }}"), "from 0.25"),
    };
    // What is infinite where a bin has no value.
    let block = format!("for ({i} < {length}) {{ ({map}[{i}]{place}, tanh({value})) }}");
    scope.arrays.push((h.clone(), vec![target.clone()]));
    Some((h, format!("hist ({k} < {target}) by {operator} {from} {{ {block} }}")))
}

/// Definitions that take functions: with a rule by tangents, one that calls itself and takes derivatives of what it was given, and
/// both in each other.
pub(super) fn taking(w: &mut Writer, scope: &mut Scope, indent: usize) -> Statement {
    if scope.rounds() > FEW {
        return None;
    }
    let (t, z, y, f) = (w.name("t"), w.name("z"), w.name("z"), w.name("f"));
    let start = w.atom(scope);
    let body = smooth_body(w, scope, &[&z], indent);
    let one = format!("fn ({z}) -> {body}");
    let text = match w.rng.u8(0..7) {
        0 => format!("settled({one}, {start})"),
        1 => format!("descended({one}, {start}, {})", w.one(&["0", "1", "2"])),
        2 => {
            let other = smooth_body(w, scope, &[&y], indent);
            format!("settled(fn ({y}) -> settled({one}, {y}) * {other}, {start})")
        }
        3 | 4 => {
            let other = smooth_body(w, scope, &[&y], indent);
            format!("crossed({one}, fn ({y}) -> {other}, {start})")
        }
        5 => format!("grad(fn ({y}) -> settled(fn ({z}) -> {y} * {body}, {y}))({start})"),
        _ => {
            scope.floats.push(format!("tanh({t})"));
            let pad = "  ".repeat(indent);
            let read = format!("{t} = descended({f}, settled({f}, {start}), 1)");
            return Some((f, format!("{one}\n{pad}{read}")));
        }
    };
    scope.floats.push(format!("tanh({t})"));
    Some((t, text))
}
