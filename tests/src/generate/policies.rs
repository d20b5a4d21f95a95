//! Words that choose what the tape holds: before values, sums, branches, calls and loops.

use super::constructs::Statement;
use super::writer::{Scope, Writer};

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
    let words = [
        "@segment(1)",
        "@segment(2)",
        "@segment(4)",
        "@levels(2)",
        "@levels(3)",
        "@revolve(1)",
        "@revolve(3)",
        "@online(2)",
    ];
    let word = w.one(&words);
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
