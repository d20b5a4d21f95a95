//! Functions in random programs: as arguments, that call themselves, with a derivative that the program states;
//! derivatives in the language; recursive data; variables that are assigned.

use super::writer::{Scope, Statement, Writer};

/// In more rounds than these there is none of them: their bodies have loops, or calls, of their own.
pub(super) const FEW: u64 = 9;

/// The depth of a function that a derivative is taken of, at least: its own derivatives are taken too, so there is little
/// in it.
const DEPTH: usize = 2;

/// The body of a function without a name, of one float and perhaps another.
fn body_of(w: &mut Writer, scope: &Scope, parameters: &[&String], indent: usize) -> String {
    let mut inner = scope.clone();
    inner.depth += 1;
    inner.in_carries = true;
    inner.floats.extend(parameters.iter().map(|p| (*p).clone()));
    format!("tanh({} + {} * 0.5)", w.float(&inner, indent), parameters[0])
}

/// The body of a function that a derivative is taken of.
pub(super) fn smooth_body(
    w: &mut Writer,
    scope: &Scope,
    parameters: &[&String],
    indent: usize,
) -> String {
    let once = Scope { depth: scope.depth.max(DEPTH), ..scope.clone() };
    let body = body_of(w, &once, parameters, indent);
    format!("sin({}) * {body}", parameters[0])
}

/// A function without a name, given to one that calls it several times.
pub(super) fn given(w: &mut Writer, scope: &mut Scope, indent: usize) -> Statement {
    if scope.rounds() > FEW {
        return None;
    }
    let (v, size) = w.vector(scope)?;
    let (t, z, y) = (w.name("t"), w.name("z"), w.name("z"));
    let start = w.atom(scope);
    match w.rng.u8(0..3) {
        0 => {
            let body = body_of(w, scope, &[&z], indent);
            scope.floats.push(t.clone());
            Some((t, format!("twice(fn ({z}) -> {body}, {start})")))
        }
        1 => {
            let body = body_of(w, scope, &[&z, &y], indent);
            scope.floats.push(t.clone());
            Some((t, format!("folded(fn ({z}, {y}) -> {body}, {start}, {v})")))
        }
        _ => {
            let body = body_of(w, scope, &[&z], indent);
            scope.arrays.push((t.clone(), vec![size]));
            Some((t, format!("mapped(fn ({z}) -> {body}, {v})")))
        }
    }
}

/// A derivative of a function without a name, with respect to a float; or one in another.
pub(super) fn derivative(w: &mut Writer, scope: &mut Scope, indent: usize) -> Statement {
    if scope.rounds() > FEW {
        return None;
    }
    let (t, value, z) = (w.name("t"), w.name("t"), w.name("z"));
    let (at, along) = (w.atom(scope), w.atom(scope));
    let body = smooth_body(w, scope, &[&z], indent);
    let one = format!("fn ({z}) -> {body}");
    let bound = format!("tanh({t})");
    let (pattern, text) = match w.rng.u8(0..7) {
        0 => (t, format!("directional({one})({at}, {along})")),
        1 => (t, format!("hvp({one})({at}, {along})")),
        2 => (t, format!("second({one})({at}, {along})")),
        3 => (format!("({value}, {t})"), format!("value_and_grad({one})({at})")),
        4 => (format!("({value}, {t})"), format!("jvp({one})({at}, {along})")),
        5 => {
            let y = w.name("z");
            let inner = smooth_body(w, scope, &[&y, &z], indent);
            let inner = format!("grad(fn ({y}) -> {inner} * {z})({z})");
            (t, format!("grad(fn ({z}) -> {z} * tanh({inner}))({at})"))
        }
        _ => (t, format!("grad({one})({at})")),
    };
    scope.floats.push(bound);
    if pattern.starts_with('(') {
        scope.floats.push(value);
    }
    Some((pattern, text))
}

/// The gradient of a sum over an array; or of a helper, with respect to its float.
pub(super) fn gradient(w: &mut Writer, scope: &mut Scope, indent: usize) -> Statement {
    if scope.rounds() > FEW {
        return None;
    }
    let (v, size) = w.vector(scope)?;
    let (t, y, e) = (w.name("g"), w.name("y"), w.name("e"));
    let body = {
        let deep = Scope { depth: 4, in_carries: true, ..scope.clone() };
        w.float(&deep, indent)
    };
    scope.arrays.push((t.clone(), vec![size]));
    let sum = format!("sum ({e} <- {y}) {{ tanh({e} * {body} + sin({e})) }}");
    Some((t, format!("grad(fn ({y}) -> {sum})({v})")))
}

/// A function that calls itself: on a number, on an array, by turns with another.
pub(super) fn recursive(w: &mut Writer, scope: &mut Scope, indent: usize) -> Statement {
    if scope.rounds() > FEW {
        return None;
    }
    let (v, _) = w.vector(scope)?;
    let (t, x) = (w.name("t"), w.float(scope, indent));
    let count = w.one(&["0", "1", "5"]);
    scope.floats.push(t.clone());
    let call = match w.rng.u8(0..3) {
        0 => format!("power(tanh({x}), {count})"),
        1 => format!("climb({v}, 0, {x})"),
        _ => format!("evenly({count}, {x})"),
    };
    Some((t, format!("tanh({call})")))
}

/// A tree, and what is made of it and a float.
pub(super) fn tree(w: &mut Writer, scope: &mut Scope, indent: usize) -> Statement {
    if scope.rounds() > FEW {
        return None;
    }
    let (r, t, x) = (w.name("r"), w.name("t"), w.float(scope, indent));
    let depth = w.one(&["0", "1", "3"]);
    scope.floats.push(t.clone());
    let pad = "  ".repeat(indent);
    let read = format!("{t} = tanh(energy({r}, tanh({x})))");
    Some((r, format!("grown({depth}, 1)\n{pad}{read}")))
}

/// A list of floats, another one made of it, and what is read from one or both; or a list in a loop.
pub(super) fn list(w: &mut Writer, scope: &mut Scope, indent: usize) -> Statement {
    if scope.rounds() > FEW {
        return None;
    }
    let (v, size) = w.vector(scope)?;
    let (l, u, t) = (w.name("l"), w.name("l"), w.name("t"));
    let (s, x) = (w.float(scope, indent), w.atom(scope));
    let pad = "  ".repeat(indent);
    let read = match w.rng.u8(0..4) {
        0 => format!("total({l}, {x})"),
        1 if scope.rounds() == 1 => {
            let (inner, i) = w.within(scope, &size);
            format!("sum ({i} < {size}) {{ total({l}, {}) }}", w.atom(&inner))
        }
        2 => {
            let condition = w.condition(scope);
            format!("total(if {condition} {{ {l} }} else {{ squashed({l}, {x}) }}, {x})")
        }
        _ => format!("total({l}, {x}) * total({u}, 0.5)"),
    };
    scope.floats.push(t.clone());
    let made = format!("{pad}{u} = squashed({l}, {x})");
    let text = format!("listed({v}, 0, tanh({s}))\n{made}\n{pad}{t} = tanh({read})");
    Some((l, text))
}

/// Functions whose derivatives the program states, by tangents and by cotangents.
pub(super) fn with_rule(w: &mut Writer, scope: &mut Scope, indent: usize) -> Statement {
    let (v, size) = w.vector(scope)?;
    let (t, s) = (w.name("t"), w.float(scope, indent));
    match w.rng.u8(0..3) {
        0 => {
            scope.floats.push(t.clone());
            Some((t, format!("swell({s})")))
        }
        1 => {
            scope.floats.push(t.clone());
            Some((t, format!("tanh({s} * length({v}))")))
        }
        _ => {
            scope.arrays.push((t.clone(), vec![size]));
            Some((t, format!("lifted({v}, tanh({s}))")))
        }
    }
}

/// A variable that a loop assigns, perhaps in one arm only.
pub(super) fn variable(w: &mut Writer, scope: &mut Scope, indent: usize) -> Statement {
    let (_, size) = w.vector(scope)?;
    let (mut inner, i) = w.within(scope, &size);
    let (s, t, start) = (w.name("s"), w.name("t"), w.atom(scope));
    inner.floats.push(s.clone());
    inner.in_carries = true;
    let (body, other) = (w.float(&inner, indent + 1), w.atom(&inner));
    let condition = w.condition(&inner);
    let pad = "  ".repeat(indent);
    let step = match w.rng.u8(0..4) {
        0 => format!("{s} = tanh({s} + {body})"),
        1 => format!("{s} += tanh({body})"),
        2 => format!("if {condition} {{ {s} = tanh({s} * {body}) }}"),
        _ => format!("if {condition} {{ {s} -= sin({other}) }} else {{ {s} = tanh({body}) }}"),
    };
    let repeated = format!("for ({i} < {size}) {{ {step} }}");
    scope.floats.push(t.clone());
    Some((format!("var {s}"), format!("{start}\n{pad}{repeated}\n{pad}{t} = tanh({s})")))
}

/// An array as a variable, whose elements a loop changes.
pub(super) fn assigned_array(w: &mut Writer, scope: &mut Scope, indent: usize) -> Statement {
    if !scope.may_carry() {
        return None;
    }
    let (v, size) = w.vector(scope)?;
    let (mut inner, i) = w.within(scope, &size);
    let (a, t) = (w.name("h"), w.name("h"));
    inner.arrays.push((a.clone(), vec![size.clone()]));
    inner.in_carries = true;
    let body = w.float(&inner, indent + 1);
    let condition = w.condition(&inner);
    let at = w.one(&["0", i.as_str()]).to_string();
    let mut step = format!("{a}[{at}] = tanh({a}[{i}] + {body})");
    if w.rng.bool() {
        step = format!("{step}; if {condition} {{ {a}[{i}] += {a}[0] * 0.25 }}");
    }
    let pad = "  ".repeat(indent);
    let repeated = format!("for ({i} < {size}) {{ {step} }}");
    scope.arrays.push((t.clone(), vec![size]));
    Some((format!("var {a}"), format!("{v}\n{pad}{repeated}\n{pad}{t} = {a}")))
}

/// `while` over variables.
pub(super) fn repeated(w: &mut Writer, scope: &mut Scope, indent: usize) -> Statement {
    if scope.rounds() > FEW {
        return None;
    }
    let (s, k, t) = (w.name("s"), w.name("k"), w.name("t"));
    let mut inner = scope.clone();
    inner.depth += 1;
    inner.in_carries = true;
    inner.indices.push((k.clone(), "4".into()));
    inner.floats.push(s.clone());
    let (start, body) = (w.atom(scope), w.float(&inner, indent + 1));
    let pad = "  ".repeat(indent);
    let step = format!("{s} = tanh({s} - {body}) + 0.25; {k} += 1");
    let text = format!(
        "{start}\n{pad}var {k} = 0\n{pad}while {k} < 4 && {s} < 1.0 {{ {step} }}\n{pad}{t} = {s}"
    );
    scope.floats.push(t.clone());
    Some((format!("var {s}"), text))
}
