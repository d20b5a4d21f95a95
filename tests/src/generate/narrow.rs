//! Numbers of 32 bits in random programs: arrays of integers that wrap, as factors, as places and in accumulators, and
//! records with sizes as parameters that hold them, and sums with sizes.

use super::writer::{Scope, Statement, Writer};

/// In more rounds than these there are none of them: they have loops of their own.
const FEW: u64 = 9;

/// An array of integers of 32 bits, and a float made of it and a vector.
pub(super) fn integers(w: &mut Writer, scope: &mut Scope, indent: usize) -> Statement {
    if scope.rounds() > FEW {
        return None;
    }
    let (v, size) = w.vector(scope)?;
    let (k, t) = (w.name("k"), w.name("t"));
    let (inner, i) = w.within(scope, &size);
    let factor = w.atom(&inner);
    let pad = "  ".repeat(indent);
    let made = format!("build ({i} < {size}) {{ i32({i}) * 1103515245 + 12345 }}");
    let read = match w.rng.u8(0..4) {
        0 => format!("sum ({i} < {size}) {{ f64({k}[{i}] % 5) * tanh({v}[{i}] * {factor}) }}"),
        1 => {
            let place = format!("{v}[i64(abs({k}[{i}] % 4)) % max({size}, 1)]");
            format!("sum ({i} < {size}) {{ sin({place} + {factor}) }}")
        }
        2 => {
            let (h, e) = (w.name("h"), w.name("e"));
            let counted = format!(
                "acc {h}: [3]i32 {{ for ({e} <- {k}) {{ {h}[i64(abs({e} % 3))] += {e} }} }}"
            );
            let c = w.name("c");
            let used = format!("f64({c}[1] % 7) * {}", w.atom(scope));
            scope.floats.push(t.clone());
            return Some((k, format!("{made}\n{pad}{c} = {counted}\n{pad}{t} = tanh({used})")));
        }
        _ => {
            let (s, e) = (w.name("s"), w.name("e"));
            let mixed = format!("fold ({e} <- {k}) carry ({s} = 7i32) {{ bitxor(3 * {s}, {e}) }}");
            format!("f64(({mixed}) % 9) * {}", w.atom(scope))
        }
    };
    scope.floats.push(t.clone());
    Some((k, format!("{made}\n{pad}{t} = tanh({read})")))
}

/// A record that has the size of its fields in its type, and what a function makes of it.
pub(super) fn sized_record(w: &mut Writer, scope: &mut Scope, indent: usize) -> Statement {
    if scope.rounds() > FEW {
        return None;
    }
    let (v, size) = w.vector(scope)?;
    let (r, t, s) = (w.name("r"), w.name("t"), w.float(scope, indent));
    let (inner, i) = w.within(scope, &size);
    let marks = format!("build ({i} < {size}) {{ i32({i}) - 1 }}");
    let pad = "  ".repeat(indent);
    let read = match w.rng.bool() {
        true => format!("weighed({r})"),
        false => {
            format!("weighed(shrunk({r}, {}))", w.atom(&Scope { indices: Vec::new(), ..inner }))
        }
    };
    scope.floats.push(t.clone());
    Some((r, format!("Sized({v}, {marks}, tanh({s}))\n{pad}{t} = tanh({read})")))
}

/// A sum that has the size of its fields in its type: made, changed in a loop or taken from an array of such.
pub(super) fn sized_sum(w: &mut Writer, scope: &mut Scope, indent: usize) -> Statement {
    if scope.rounds() > FEW {
        return None;
    }
    let (v, size) = w.vector(scope)?;
    let (s, t, by) = (w.name("s"), w.name("t"), w.float(scope, indent));
    let (inner, i) = w.within(scope, &size);
    let at = w.float(&Scope { indices: Vec::new(), ..inner }, indent);
    let first = match w.rng.u32(..3) {
        0 => format!("Box({v}, build ({i} < {size}) {{ {v}[{i}] > 0.1 }})"),
        1 => format!("if {by} > 0.4 {{ Far[{size}] }} else {{ Ball({v}, tanh({by})) }}"),
        _ => format!("Ball({v}, tanh({by}))"),
    };
    let pad = "  ".repeat(indent);
    let read = match w.rng.u32(..3) {
        0 => format!("extent(widened({s}, tanh({at})))"),
        1 => {
            let j = w.name("j");
            format!(
                "sum (e <- build ({j} < 3) {{ widened({s}, tanh({at}) * f64({j})) }}) {{ extent(e) }}"
            )
        }
        _ => {
            let j = w.name("j");
            format!("extent(for ({j} < 3) carry (h = {s}) {{ widened(h, tanh({at}) * f64({j})) }})")
        }
    };
    scope.floats.push(t.clone());
    Some((s, format!("{first}\n{pad}{t} = tanh({read})")))
}
