//! Words that choose what the tape holds: before values, sums, branches, calls and loops.

use super::writer::{Scope, Statement, Writer};

/// Schedules of a loop.
const WORDS: [&str; 8] = [
    "@segment(1)",
    "@segment(2)",
    "@segment(4)",
    "@levels(2)",
    "@levels(3)",
    "@revolve(1)",
    "@revolve(3)",
    "@online(2)",
];

/// In more rounds than these nothing is run again: what is in it may be too.
const FEW: u64 = 9;

/// A value, a sum, a branch or a call that is stored, or computed again.
pub(super) fn chosen(w: &mut Writer, scope: &mut Scope, indent: usize) -> Statement {
    if scope.rounds() > FEW {
        return None;
    }
    let (_, size) = w.vector(scope)?;
    let (s, t) = (w.name("s"), w.name("t"));
    let word = w.one(&["@store", "@recompute"]);
    let value = match w.rng.u8(0..4) {
        0 if w.functions > 0 && !scope.in_carries => w.call(scope, indent),
        1 => {
            let condition = w.condition(scope);
            let (then, other) = (w.block(scope, indent + 1), w.block(scope, indent + 1));
            format!("if {condition} {then} else {other}")
        }
        2 => format!("exp(-abs({}))", w.float(scope, indent)),
        _ => {
            let (inner, i) = w.within(scope, &size);
            format!("sum ({i} < {size}) {{ tanh({}) }}", w.float(&inner, indent + 1))
        }
    };
    scope.floats.push(t.clone());
    Some((s.clone(), format!("{word} {value}\n{}{t} = sin({s}) * {s}", "  ".repeat(indent))))
}

/// A loop that is run again in segments, or as a whole: it carries a number, a number and an array, or assigns variables.
pub(super) fn scheduled(w: &mut Writer, scope: &mut Scope, indent: usize) -> Statement {
    if !scope.may_carry() {
        return None;
    }
    let (v, size) = w.vector(scope)?;
    let (mut inner, i) = w.within(scope, &size);
    inner.in_carries = true;
    let (c, h, j, t) = (w.name("c"), w.name("h"), w.name("j"), w.name("t"));
    let word = w.one(&WORDS);
    let start = w.atom(scope);
    inner.floats.push(c.clone());
    let body = w.float(&inner, indent + 1);
    let range = w.one(&["(I < N)", "(N > I >= 0)"]).replace('I', &i).replace('N', &size);
    match w.rng.u8(0..3) {
        0 => {
            scope.floats.push(t.clone());
            let step = format!("{{ tanh(0.5 * {c} + {body}) }}");
            Some((t, format!("{word} for {range} carry ({c} = {start}) {step}")))
        }
        1 => {
            let (last, next) = (w.name("h"), w.name("h"));
            let made = format!("build ({j} < {size}) {{ tanh({h}[{j}] - 0.25 * {c}) }}");
            let step = format!("{next} = {made}; (tanh({body} + {h}[{i}]), {next})");
            scope.floats.push(t.clone());
            scope.arrays.push((last.clone(), vec![size.clone()]));
            let carry = format!("carry ({c} = {start}, {h} = {v})");
            Some((format!("({t}, {last})"), format!("{word} for {range} {carry} {{ {step} }}")))
        }
        _ => {
            let pad = "  ".repeat(indent);
            let repeated = format!("{word} for {range} {{ {c} = tanh({c} - {body}) }}");
            scope.floats.push(t.clone());
            Some((format!("var {c}"), format!("{start}\n{pad}{repeated}\n{pad}{t} = {c}")))
        }
    }
}

/// A loop that is run again in segments, and goes along an array, collects, or adds to a sum of outside; or one that may end
/// early and collects.
pub(super) fn along(w: &mut Writer, scope: &mut Scope, indent: usize) -> Statement {
    if !scope.may_carry() {
        return None;
    }
    let (v, size) = w.vector(scope)?;
    if size.contains(' ') {
        // A scan by hand needs a size that is plainly not negative.
        return None;
    }
    let (mut inner, i) = w.within(scope, &size);
    inner.in_carries = true;
    let (c, b, e, t) = (w.name("c"), w.name("b"), w.name("e"), w.name("t"));
    let (last, all, r) = (w.name("t"), w.name("y"), w.name("r"));
    let (word, start) = (w.one(&WORDS), w.atom(scope));
    let direction = w.one(&["up", "down"]);
    inner.floats.push(c.clone());
    let head =
        format!("{word} scan {direction} ({i} < {size}) carry ({c} = {start}) slice ({b} <- {v})");
    Some(match w.rng.u8(0..4) {
        0 => {
            inner.floats.push(b.clone());
            let body = w.float(&inner, indent + 1);
            scope.floats.push(last.clone());
            (last, format!("{head} {{ tanh({c} * {b} - {body}) }}"))
        }
        1 => {
            inner.floats.push(b.clone());
            let body = w.float(&inner, indent + 1);
            scope.floats.push(last.clone());
            scope.arrays.push((all.clone(), vec![size]));
            let step = format!("{{ {e} = tanh({c} * {b} - {body}); ({e}, {b} * {e}) }}");
            (format!("({last}, {all})"), format!("{head} {step}"))
        }
        2 => {
            inner.floats.push(b.clone());
            let body = w.float(&inner, indent + 1);
            scope.floats.extend([last.clone(), format!("tanh({r})")]);
            scope.arrays.push((all.clone(), vec![size]));
            let step = format!("{{ {e} = tanh({c} - {body}); {r} += {e} * {b}; ({e}, sin({e})) }}");
            let region = format!("acc {r}: f64 {{ {head} {step} }}");
            (format!("({last}, {all}, {r})"), region)
        }
        _ => {
            let body = w.float(&inner, indent + 1);
            scope.floats.extend([last.clone(), t.clone()]);
            let (k, s) = (w.name("k"), w.name("s"));
            let carry = format!("carry ({e} = 0 < {size}, {c} = {start})");
            let step = format!("{{ {s} = tanh({c} - {body}); ({s} < 0.75, {s}, {s} * {c}) }}");
            let head = format!("@online(2) scan while ({i} < {size}) {carry} {step}");
            let read = format!("{t} = tanh(sum ({b} <- {all}) {{ {b} * sin({b}) }})");
            (format!("({k}, {last}, {all})"), format!("{head}\n{}{read}", "  ".repeat(indent)))
        }
    })
}

/// A function that calls itself, with a loop in it that is run again.
pub(super) fn in_a_circle(w: &mut Writer, scope: &mut Scope, indent: usize) -> Statement {
    if scope.rounds() > FEW {
        return None;
    }
    let (v, _) = w.vector(scope)?;
    let (t, x) = (w.name("t"), w.float(scope, indent));
    let count = w.one(&["0", "1", "3"]);
    scope.floats.push(t.clone());
    Some((t, format!("tanh(winding({v}, {count}, tanh({x})))")))
}
