//! Arrays with other parts: outside of loops, in loops that carry them, where updates and reads take turns, and arrays that
//! are made of their own elements.

use super::writer::{Scope, Statement, Writer};
use std::fmt::Write;

/// An array of which an element, or a part, is another one; the old array stays in scope.
pub(super) fn replaced(w: &mut Writer, scope: &mut Scope, indent: usize) -> Statement {
    let (v, size) = w.vector(scope)?;
    let (name, m, j) = (w.name("u"), w.name("m"), w.name("j"));
    let of_size = |(_, bound): &&(String, String)| *bound == size;
    let inside: Vec<_> = scope.indices.iter().filter(of_size).cloned().collect();
    let element = w.pick(&inside).cloned().filter(|_| w.rng.bool());
    let value = w.float(scope, indent);
    scope.arrays.push((name.clone(), vec![size.clone()]));
    Some(match element {
        Some((i, _)) => (name, format!("{v} with [{i}] = {value}")),
        None => {
            let most = w.one(&["1", "2"]);
            let part = format!("build ({j} < {m}) {{ 0.5 - {v}[{j}] }}");
            let pad = "  ".repeat(indent);
            (m.clone(), format!("min({most}, {size})\n{pad}{name} = {v} with [0 ..+ {m}] = {part}"))
        }
    })
}

/// A loop that carries an array and a number, and changes and reads elements of the array; an arm may leave it,
/// or change more of it.
pub(super) fn in_loop(w: &mut Writer, scope: &mut Scope, indent: usize) -> Statement {
    if !scope.may_carry() {
        return None;
    }
    let (v, size) = w.vector(scope)?;
    let (mut inner, i) = w.within(scope, &size);
    inner.in_carries = true;
    let (s, mut a, t) = (w.name("c"), w.name("h"), w.name("t"));
    let carry = format!("carry ({s} = 0.5, {a} = {v})");
    inner.floats.push(s.clone());
    inner.arrays.push((a.clone(), vec![size.clone()]));
    let mut body = String::new();
    for _ in 0..w.rng.usize(1..4) {
        let at = if w.rng.bool() { i.clone() } else { "0".to_string() };
        let value = format!("tanh({a}[{i}] + {s} * {})", w.float(&inner, indent + 1));
        let next = w.name("h");
        let changed = format!("{a} with [{at}] = {value}");
        let _ = match w.rng.usize(0..4) {
            0 => write!(body, "{next} = if {i} % 3 == 1 {{ {a} }} else {{ {changed} }}; "),
            1 => {
                let (j, b) = (w.name("j"), w.name("h"));
                let step = format!("{b} with [{j}] = sin({b}[{j}] - {b}[{i}])");
                let start = format!("carry ({b} = {changed})");
                write!(body, "{next} = for ({j} < min(2, {size})) {start} {{ {step} }}; ")
            }
            _ => write!(body, "{next} = {changed}; "),
        };
        a = next;
        inner.arrays.push((a.clone(), vec![size.clone()]));
    }
    let _ = write!(body, "{t} = tanh({s} + {a}[{i}] * {a}[0]); ({t}, {a})");
    let (sum, last) = (w.name("t"), w.name("h"));
    scope.floats.push(sum.clone());
    scope.arrays.push((last.clone(), vec![size.clone()]));
    Some((format!("({sum}, {last})"), format!("for ({i} < {size}) {carry} {{ {body} }}")))
}

/// An array whose elements are made of those before.
pub(super) fn of_itself(w: &mut Writer, scope: &mut Scope, indent: usize) -> Statement {
    if !scope.may_carry() {
        return None;
    }
    let (v, size) = w.vector(scope)?;
    let (mut inner, i) = w.within(scope, &size);
    inner.in_carries = true;
    let (y, j) = (w.name("y"), w.name("j"));
    let (body, first) = (w.float(&inner, indent + 1), w.atom(scope));
    let next = match w.rng.bool() {
        true => format!("tanh(0.5 * {y}[{i} - 1] - {body})"),
        false => format!("tanh({v}[{i}] - sum ({j} < {i}) {{ {y}[{j}] * {v}[{j}] }}) * {body}"),
    };
    scope.arrays.push((y.clone(), vec![size.clone()]));
    Some((y, format!("for ({i} < {size}) {{ if {i} == 0 {{ {first} }} else {{ {next} }} }}")))
}

/// A carried array that some iterations make anew and others read and leave.
pub(super) fn lent(w: &mut Writer, scope: &mut Scope, indent: usize) -> Statement {
    if !scope.may_carry() {
        return None;
    }
    let (v, size) = w.vector(scope)?;
    let (mut inner, i) = w.within(scope, &size);
    inner.in_carries = true;
    let (s, a, next, j) = (w.name("c"), w.name("h"), w.name("h"), w.name("j"));
    let (sum, last) = (w.name("t"), w.name("h"));
    inner.floats.push(s.clone());
    let body = w.float(&inner, indent + 1);
    let made = format!("build ({j} < {size}) {{ tanh({a}[{j}] - {s}) }}");
    let choice = format!("{next} = if {i} % 3 == 1 {{ {made} }} else {{ {a} }}");
    let step = format!("{choice}; (tanh({s} * {a}[{i}] + {body}), {next})");
    scope.floats.push(sum.clone());
    scope.arrays.push((last.clone(), vec![size.clone()]));
    let carry = format!("carry ({s} = 0.5, {a} = {v})");
    Some((format!("({sum}, {last})"), format!("for ({i} < {size}) {carry} {{ {step} }}")))
}
