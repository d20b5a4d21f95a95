//! Loops that carry arrays. Each round may make arrays, so there is never one inside another, and none that
//! would be run often.

use super::writer::{Scope, Statement, Writer};

/// In no more rounds than this a loop that carries arrays is written.
const ROUNDS: u64 = 9;

impl Scope {
    /// Whether a loop that carries arrays may stand here.
    pub(super) fn may_carry(&self) -> bool {
        !self.in_carries && self.rounds() <= ROUNDS
    }
}

/// Two carried arrays that stay, change places, are chosen among themselves and another, or made anew in
/// one arm only.
pub(super) fn handed_on(w: &mut Writer, scope: &mut Scope, indent: usize) -> Statement {
    if !scope.may_carry() {
        return None;
    }
    let (v, size) = w.vector(scope)?;
    let (mut inner, i) = w.within(scope, &size);
    inner.in_carries = true;
    let (s, a, b, j) = (w.name("c"), w.name("h"), w.name("h"), w.name("j"));
    let (t, p, q) = (w.name("t"), w.name("h"), w.name("h"));
    inner.floats.push(s.clone());
    inner.arrays.extend([(a.clone(), vec![size.clone()]), (b.clone(), vec![size.clone()])]);
    let body = w.float(&inner, indent + 1);
    let made = format!("build ({j} < {size}) {{ tanh({a}[{j}] - 0.5 * {b}[{j}]) }}");
    // Made anew in one arm at most: carries that no iteration makes are those of interest.
    let mut arm = |some: &[&String]| {
        let mut one = || some[w.rng.usize(0..some.len())].clone();
        format!("({}, {})", one(), one())
    };
    let (then, other) = (arm(&[&a, &b, &v, &made]), arm(&[&a, &b]));
    let step = match w.rng.usize(0..3) {
        0 => format!("({p}, {q}) = {other}"),
        _ => format!("({p}, {q}) = if {i} % 3 == 1 {{ {then} }} else {{ {other} }}"),
    };
    let first = format!("build ({j} < {size}) {{ 0.5 - {v}[{j}] }}");
    let carry = format!("carry ({s} = 0.5, {a} = {v}, {b} = {first})");
    let value = format!("{t} = tanh(0.5 * {s} + {a}[{i}] * {body})");
    let (sum, x, y) = (w.name("t"), w.name("h"), w.name("h"));
    scope.floats.push(sum.clone());
    scope.arrays.extend([(x.clone(), vec![size.clone()]), (y.clone(), vec![size.clone()])]);
    let text = format!("for ({i} < {size}) {carry} {{ {value}; {step}; ({t}, {p}, {q}) }}");
    Some((format!("({sum}, {x}, {y})"), text))
}
