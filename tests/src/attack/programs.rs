//! Small programs whose every index, bound and size may come from outside.
//!
//! Programs of [`crate::generate`] are mostly right; these are mostly at the border of it: an index is a
//! parameter, or what arithmetic makes of parameters, and is read in loops, in branches that may guard it,
//! in slices, in scattered additions, in arrays that loops carry, in functions and in casts. They are small,
//! so that many of them can be compiled.

use super::Subject;
use crate::values::{INTEGERS, float, hostile};
use fastrand::Rng;
use jut::{Array, Value};
use std::fmt::Write;

/// What every program has, used or not.
const HELPERS: &str = "data Row = Row(m: i64, w: [m]f64)
data Shape = Flat | Disc(radius: f64) | Turn(m: i64, at: [m]i64)
def at[d](v: [d]f64, j: i64) -> f64 = v[j] * v[j]
def part[d](v: [d]f64, j: i64) -> (h: i64, y: [h]f64) = {
  h = d / 2
  y = build (q < h) { v[q + j] * 0.5 }
  (h, y)
}
def row[d](v: [d]f64, s: f64) -> Row = {
  y = build (q < d) { v[q] * s }
  Row(d, y)
}
def add[d](v: [d]f64, j: i64; ; acc r: [d]f64) -> () = {
  scan up (q < d) { r[q + j] += v[q] }
}
def walk[d](v: [d]f64, j: i64, left: i64) -> f64 =
  if left <= 0 { 0.5 } else { v[j] * walk(v, j + 1, left - 1) + v[left] }
data List = Nil | Cons(head: i64, tail: List)
def listed(k: i64, l: i64) -> List = if k <= 0 { Nil() } else { Cons(k + l, listed(k - 1, l)) }
def along[d](v: [d]f64, l: List) -> f64 = case l {
  Nil -> 0.25
  Cons(j, rest) -> v[j] + along(v, rest) * 0.5
}
def picked[d](v: [d]f64, j: i64) -> f64 = v[j]
def picked_tangent[d](v: [d]f64, j: i64, dv: [d]f64) -> f64 = dv[j] + 0.5 * dv[j]
rule jvp picked = picked_tangent
def mapped[d](f: fn(f64, i64) -> f64, v: [d]f64) -> [d]f64 = build (q < d) { f(v[q], q) }
";

/// A program with arguments.
pub fn generate(seed: u64) -> Subject {
    let mut w = Writer { rng: Rng::with_seed(seed), names: 0, body: String::new() };
    let scope = Scope {
        floats: vec!["a".into()],
        integers: ["k", "l", "n", "m"].map(String::from).to_vec(),
        vectors: vec![("x".into(), "n".into())],
        ..Scope::default()
    };
    let result = w.program(scope);
    let several = w.rng.u8(0..6) == 0;
    let (ty, result) = match several {
        true => ("(f64, f64)", format!("({result}, a * {result})")),
        false => ("f64", result),
    };
    let signature =
        "def main[m, n](a: f64, x: [n]f64, w: [m, n]f64, ix: [m]i64, k: i64, l: i64, b: bool)";
    let text = format!("{HELPERS}{signature} -> {ty} = {{\n{}  {result}\n}}\n", w.body);
    let args = arguments(&mut w.rng);
    Subject { text, func: "main".into(), args }
}

/// Arguments of every such program; most sizes are small, and some arrays are empty.
fn arguments(rng: &mut Rng) -> Vec<Value> {
    let size = |rng: &mut Rng| [0usize, 1, 2, 3, 5, 8, 9][rng.usize(0..7)];
    let (n, m) = (size(rng), size(rng));
    let floats = |rng: &mut Rng, count: usize| (0..count).map(|_| float(rng)).collect::<Vec<_>>();
    let near = n as i64;
    let index = |rng: &mut Rng| match rng.u8(0..3) {
        0 => hostile(rng, near),
        _ => rng.i64(0..near.max(1)),
    };
    let (k, l) = (index(rng), index(rng));
    let ix = (0..m)
        .map(|_| if rng.u8(0..9) == 0 { hostile(rng, near) } else { rng.i64(0..near.max(1)) });
    let ix = ix.collect();
    let (x, w) = (floats(rng, n), floats(rng, n * m));
    vec![
        Value::F64(float(rng)),
        Value::F64s(Array { shape: vec![n], data: x }),
        Value::F64s(Array { shape: vec![m, n], data: w }),
        Value::I64s(Array { shape: vec![m], data: ix }),
        Value::I64(k),
        Value::I64(l),
        Value::Bool(rng.bool()),
    ]
}

/// The scope of a function of a float and an integer.
fn within(scope: &Scope, float: &str, integer: &str) -> Scope {
    let mut inner = scope.clone();
    inner.floats.push(float.into());
    inner.integers.push(integer.into());
    inner
}

#[derive(Clone, Default)]
struct Scope {
    floats: Vec<String>,
    integers: Vec<String>,
    /// Arrays with their sizes.
    vectors: Vec<(String, String)>,
    /// Indices of loops with their bounds.
    indices: Vec<(String, String)>,
    depth: usize,
}

struct Writer {
    rng: Rng,
    names: usize,
    body: String,
}

impl Writer {
    fn name(&mut self, base: &str) -> String {
        self.names += 1;
        format!("{base}{}", self.names)
    }

    fn one<T: Clone>(&mut self, items: &[T]) -> T {
        items[self.rng.usize(0..items.len())].clone()
    }

    /// Some statements, and what the program gives.
    fn program(&mut self, mut scope: Scope) -> String {
        for _ in 0..self.rng.usize(1..5) {
            let statement = self.statement(&mut scope);
            let _ = writeln!(self.body, "  {statement}");
        }
        let sum: Vec<String> = scope.floats[1..].to_vec();
        let last = self.float(&scope, 2);
        match sum.is_empty() {
            true => last,
            false => format!("{last} + {}", sum.join(" * ")),
        }
    }

    /// An index, of which nothing is known.
    fn index(&mut self, scope: &Scope) -> String {
        let name = self.one(&scope.integers);
        match self.rng.u8(0..13) {
            0 | 1 => name,
            2 => format!("{name} + {}", self.one(&scope.integers)),
            3 => format!("{name} - 1"),
            4 => format!("{name} * {}", self.one(&scope.integers)),
            5 => self.one(&INTEGERS).to_string().replace('-', "0 - "),
            6 => format!("min(max({name}, 0), n - 1)"),
            7 => format!("ix[{name}]"),
            8 => format!("{name} % n"),
            9 => "i64(a)".into(),
            10 => format!("select(b, {name}, {})", self.one(&scope.integers)),
            _ => match scope.indices.last() {
                Some((i, _)) => {
                    let (i, offset) =
                        (i.clone(), self.one(&["", " + 1", " - 1", " + k", " * l", " * 2"]));
                    format!("{i}{offset}")
                }
                None => name,
            },
        }
    }

    /// A bound of a loop. A bound from outside is small, or the loop would not end.
    fn bound(&mut self, scope: &Scope) -> String {
        match self.rng.u8(0..6) {
            0 => "min(k, 6)".into(),
            1 => "3".into(),
            2 => "m".into(),
            3 => "n - 1".into(),
            _ => self.one(&scope.vectors).1,
        }
    }

    fn element(&mut self, scope: &Scope) -> String {
        let near: Vec<_> = scope
            .indices
            .iter()
            .flat_map(|(i, bound)| {
                let fits = scope.vectors.iter().filter(move |(_, size)| size == bound);
                fits.map(move |(v, _)| format!("{v}[{i}]"))
            })
            .collect();
        match self.rng.u8(0..5) {
            0 | 1 if !near.is_empty() => self.one(&near),
            2 => format!("w[{}, {}]", self.index(scope), self.index(scope)),
            _ => format!("{}[{}]", self.one(&scope.vectors).0, self.index(scope)),
        }
    }

    fn float(&mut self, scope: &Scope, fuel: usize) -> String {
        if fuel == 0 {
            return match self.rng.u8(0..4) {
                0 => self.element(scope),
                1 => "0.5".into(),
                _ => self.one(&scope.floats),
            };
        }
        let fuel = fuel - 1;
        match self.rng.u8(0..16) {
            0 => format!("sin({})", self.float(scope, fuel)),
            1 => format!("tanh({})", self.float(scope, fuel)),
            2 => format!("({} * {})", self.float(scope, fuel), self.float(scope, fuel)),
            3 => format!("({} + {})", self.float(scope, fuel), self.float(scope, fuel)),
            4 => format!("({} / {})", self.float(scope, fuel), self.float(scope, fuel)),
            5 => format!("exp({})", self.float(scope, fuel)),
            6 => format!("max({}, {})", self.float(scope, fuel), self.float(scope, fuel)),
            7 => format!("({})^2", self.float(scope, fuel)),
            8 => format!("at({}, {})", self.one(&scope.vectors).0, self.index(scope)),
            9 => format!("at(w[{}], {})", self.index(scope), self.index(scope)),
            10 => {
                let guard = self.guard(scope);
                let (then, other) = (self.float(scope, fuel), self.float(scope, fuel));
                format!("(if {guard} {{ {then} }} else {{ {other} }})")
            }
            11 => format!("picked({}, {})", self.one(&scope.vectors).0, self.index(scope)),
            12 => {
                let (v, j) = (self.one(&scope.vectors).0, self.index(scope));
                format!("walk({v}, {j}, min({}, 5))", self.one(&scope.integers))
            }
            13 => {
                let (v, k) = (self.one(&scope.vectors).0, self.one(&scope.integers));
                format!("along({v}, listed(min({k}, 4), {}))", self.index(scope))
            }
            _ => self.element(scope),
        }
    }

    /// A condition, which may or may not guard an access.
    fn guard(&mut self, scope: &Scope) -> String {
        let name = self.one(&scope.integers);
        match self.rng.u8(0..5) {
            0 => "b".into(),
            1 => format!("{name} >= 0 && {name} < n"),
            2 => format!("{name} < {}", self.one(&scope.integers)),
            3 => format!("{} > 0.0", self.one(&scope.floats)),
            _ => format!("{name} < n"),
        }
    }

    /// `(i < bound)`, and the scope behind it.
    fn range(&mut self, scope: &Scope) -> (String, Scope) {
        let (i, bound) = (self.name("i"), self.bound(scope));
        let mut inner = scope.clone();
        inner.depth += 1;
        inner.integers.push(i.clone());
        inner.indices.push((i.clone(), bound.clone()));
        (format!("({i} < {bound})"), inner)
    }

    /// The body of a loop: an expression, perhaps with a loop in front.
    fn inside(&mut self, scope: &Scope) -> String {
        let fuel = self.rng.usize(0..3);
        if scope.depth < 2 && self.rng.u8(0..3) == 0 {
            let mut inner = scope.clone();
            let statement = self.statement(&mut inner);
            return format!("{{ {statement}; {} }}", self.float(&inner, fuel));
        }
        format!("{{ {} }}", self.float(scope, fuel))
    }

    fn statement(&mut self, scope: &mut Scope) -> String {
        let name = self.name("t");
        match self.rng.u8(0..26) {
            0 | 1 => {
                let value = self.element(scope);
                scope.floats.push(name.clone());
                format!("{name} = {value}")
            }
            2 => {
                let (range, inner) = self.range(scope);
                let body = self.inside(&inner);
                scope.floats.push(name.clone());
                format!("{name} = sum {range} {body}")
            }
            3 => {
                let (range, inner) = self.range(scope);
                let body = self.inside(&inner);
                let size = inner.indices.last().map(|(_, bound)| bound.clone()).unwrap_or_default();
                scope.vectors.push((name.clone(), size));
                format!("{name} = build {range} {body}")
            }
            4 => {
                let (range, mut inner) = self.range(scope);
                let c = self.name("c");
                inner.floats.push(c.clone());
                let body = self.inside(&inner);
                let start = self.float(scope, 0);
                scope.floats.push(name.clone());
                format!("{name} = for {range} carry ({c} = {start}) {body}")
            }
            5 => {
                let (v, size) = self.one(&scope.vectors);
                let (range, inner) = self.range(scope);
                let (r, index, value) = (self.name("r"), self.index(&inner), self.float(&inner, 1));
                scope.vectors.push((name.clone(), size));
                let way = self.one(&["up", "down", "par"]);
                format!("{name} = acc {r}: [size({v})]f64 {{ scan {way} {range} {{ {r}[{index}] += {value} }} }}")
                    .replace(&format!("[size({v})]"), &format!("[{}]", scope.vectors.last().map_or("n", |v| &v.1)))
            }
            6 => {
                let ((v, size), h) = (self.one(&scope.vectors), self.name("h"));
                let _ = size;
                let (from, length) = (self.index(scope), self.index(scope));
                scope.integers.push(h.clone());
                scope.vectors.push((name.clone(), h.clone()));
                format!("{h} = {length}; {name} = {v}[{from} ..+ {h}]")
            }
            7 => {
                let (from, to) = (self.name("h"), self.name("h"));
                let (v, first, last) =
                    (self.one(&scope.vectors).0, self.index(scope), self.index(scope));
                scope.vectors.push((name.clone(), format!("{to} - {from}")));
                format!("{from} = {first}; {to} = {last}; {name} = {v}[{from} .. {to}]")
            }
            8 => {
                let (v, size) = (self.one(&scope.vectors).0, self.one(&scope.vectors).1);
                scope.vectors.push((name.clone(), size.clone()));
                format!("{name} = cast {v} : [{size}]f64")
            }
            9 => {
                let guard = self.guard(scope);
                let (first, second) = (self.inside(scope), self.inside(scope));
                scope.floats.push(name.clone());
                format!("{name} = if {guard} {first} else {second}")
            }
            10 => {
                let (h, v, j) = (self.name("h"), self.one(&scope.vectors).0, self.index(scope));
                scope.integers.push(h.clone());
                scope.vectors.push((name.clone(), h.clone()));
                format!("({h}, {name}) = part({v}, {j})")
            }
            11 => {
                let (h, y, v) = (self.name("h"), self.name("y"), self.one(&scope.vectors).0);
                let s = self.float(scope, 1);
                scope.vectors.push((y.clone(), h.clone()));
                scope.integers.push(h.clone());
                format!("{name} = row({v}, {s}); Row({h}, {y}) = {name}")
            }
            12 => {
                let ((v, size), r) = (self.one(&scope.vectors), self.name("r"));
                let (first, second) = (self.index(scope), self.index(scope));
                scope.vectors.push((name.clone(), size.clone()));
                format!(
                    "{name} = acc {r}: [{size}]f64 {{ add({v}, {first}; ; {r}); add({v}, {second}; ; {r}) }}"
                )
            }
            13 => {
                let (range, inner) = self.range(scope);
                let (which, body) = (self.one(&["max", "min"]), self.inside(&inner));
                scope.floats.push(name.clone());
                format!("{name} = {which} {range} {body}")
            }
            14 => {
                let (guard, index) = (self.guard(scope), self.index(scope));
                scope.integers.push(name.clone());
                format!("check {guard}; {name} = {index}")
            }
            15 => {
                let (guard, other, s) =
                    (self.guard(scope), self.guard(scope), self.float(scope, 1));
                let (v, ks, q) = (self.name("v"), self.name("ks"), self.name("q"));
                let turn = format!("{ks} = build ({q} < m) {{ ix[{q}] + l }}; Turn(m, {ks})");
                let made = format!(
                    "if {guard} {{ {turn} }} else if {other} {{ Disc({s}) }} else {{ Flat() }}"
                );
                let (r, z, at) = (self.name("r"), self.name("z"), self.index(scope));
                let arms = format!(
                    "Flat -> 0.5; Disc({r}) -> {r} * a; Turn({z}, {ks}) -> x[{ks}[{at}]] * a"
                );
                scope.floats.push(name.clone());
                format!("{v} = {made}; {name} = case {v} {{ {arms} }}")
            }
            16 | 17 => self.carried(scope, name),
            18 | 19 => self.updated(scope, name),
            20 => self.limited(scope, name),
            21 => {
                let ((v, size), q, j) = (self.one(&scope.vectors), self.name("q"), self.name("j"));
                let inner = within(scope, &q, &j);
                let body = self.float(&inner, 1);
                scope.vectors.push((name.clone(), size));
                format!("{name} = mapped(fn ({q}, {j}) -> {q} * {body}, {v})")
            }
            22 => {
                let (q, at) = (self.name("q"), self.float(scope, 0));
                let mut inner = scope.clone();
                inner.floats.push(q.clone());
                let body = self.float(&inner, 1);
                scope.floats.push(name.clone());
                let which = self.one(&["grad", "jvp", "hvp"]);
                match which {
                    "grad" => format!("{name} = grad(fn ({q}) -> {q} * {body})({at})"),
                    "hvp" => format!("{name} = hvp(fn ({q}) -> {q} * {body})({at}, 0.5)"),
                    _ => {
                        let value = self.name("t");
                        format!("({value}, {name}) = jvp(fn ({q}) -> {q} * {body})({at}, 0.5)")
                    }
                }
            }
            23 => {
                let ((v, size), j) = (self.one(&scope.vectors), self.index(scope));
                let which = self.one(&["at", "picked"]);
                scope.vectors.push((name.clone(), size));
                format!("{name} = grad({which}, v)({v}, {j})")
            }
            _ => {
                // A size from outside: as many elements as there are, or too many for any memory.
                let (h, i) = (self.name("h"), self.name("i"));
                let factor = self.one(&["k", "l * l", "k * 4294967296", "m * l", "l"]);
                scope.integers.push(h.clone());
                scope.vectors.push((name.clone(), h.clone()));
                format!("{h} = {factor}; {name} = build ({i} < {h}) {{ x[{i}] * a }}")
            }
        }
    }

    /// An array with another element or part, or one that a loop changes, carried or assigned.
    fn updated(&mut self, scope: &mut Scope, name: String) -> String {
        let (v, size) = self.one(&scope.vectors);
        let (a, from, value) = (self.name("h"), self.index(scope), self.float(scope, 1));
        let (range, mut inner) = self.range(scope);
        inner.vectors.push((a.clone(), size.clone()));
        let (at, new, guard) = (self.index(&inner), self.float(&inner, 1), self.guard(&inner));
        scope.vectors.push((name.clone(), size));
        match self.rng.u8(0..6) {
            0 => format!("{name} = {v} with [{from}] = {value}"),
            1 => {
                let part = self.one(&scope.vectors[..scope.vectors.len() - 1]);
                format!("{name} = {v} with [{from} ..+ {}] = {}", part.1, part.0)
            }
            2 => format!("{name} = for {range} carry ({a} = {v}) {{ {a} with [{at}] = {new} }}"),
            3 => format!(
                "{name} = for {range} carry ({a} = {v}) \
                 {{ if {guard} {{ {a} with [{at}] = {new} }} else {{ {a} }} }}"
            ),
            4 => format!("var {a} = {v}; for {range} {{ {a}[{at}] += {new} }}; {name} = {a}"),
            _ => {
                let assigned = format!("if {guard} {{ {a}[{at}] = {new} }}");
                format!("var {a} = {v}; for {range} {{ {assigned} }}; {name} = {a}")
            }
        }
    }

    /// A loop that may end early: by a carry, or over a variable.
    fn limited(&mut self, scope: &mut Scope, name: String) -> String {
        let (range, mut inner) = self.range(scope);
        let c = self.name("c");
        inner.floats.push(c.clone());
        let (body, start, guard) =
            (self.float(&inner, 1), self.float(scope, 0), self.guard(&inner));
        scope.floats.push(name.clone());
        match self.rng.u8(0..3) {
            0 => format!("{name} = for {range} while carry ({c} = {start}) {c} < 2.0 {{ {body} }}"),
            1 => {
                let (y, i) = (self.name("y"), self.name("j"));
                let collected = format!("for {range} while carry ({c} = {start}) {c} < 2.0");
                let read = format!("sum ({i} <- {y}) {{ {i} * {i} }}");
                let last = self.name("t");
                format!("({last}, {y}) = {collected} {{ ({body}, {c} * 0.5) }}; {name} = {read}")
            }
            _ => {
                let assigned = format!("if {guard} {{ {c} += {body} }} else {{ {c} = 0.5 }}");
                format!("var {c} = {start}; for {range} {{ {assigned} }}; {name} = {c}")
            }
        }
    }

    /// A loop that carries two arrays, which stay, change places, are chosen by a branch, or are made anew
    /// in one arm only.
    fn carried(&mut self, scope: &mut Scope, name: String) -> String {
        let (v, size) = self.one(&scope.vectors);
        let same: Vec<_> = scope.vectors.iter().filter(|(_, s)| *s == size).cloned().collect();
        let u = self.one(&same).0;
        let (range, mut inner) = self.range(scope);
        let [c, a, b, e, p, q, y, z] =
            ["c", "h", "h", "e", "h", "h", "y", "y"].map(|n| self.name(n));
        inner.floats.push(c.clone());
        inner.vectors.extend([(a.clone(), size.clone()), (b.clone(), size.clone())]);
        let (body, guard) = (self.float(&inner, 1), self.guard(&inner));
        let (j, index) = (self.name("i"), self.index(&inner));
        let made = format!("build ({j} < {size}) {{ {a}[{j}] * 0.5 - {b}[{index}] }}");
        let step = match self.rng.u8(0..4) {
            0 => format!("({b}, {a})"),
            1 => format!("if {guard} {{ ({b}, {v}) }} else {{ ({a}, {b}) }}"),
            2 => format!("if {guard} {{ ({a}, {b}) }} else {{ ({made}, {a}) }}"),
            _ => format!("if {guard} {{ ({b}, {a}) }} else {{ ({made}, {b}) }}"),
        };
        scope.floats.push(name.clone());
        scope.vectors.extend([(y.clone(), size.clone()), (z.clone(), size)]);
        let carry = format!("carry ({c} = 0.5, {a} = {v}, {b} = {u})");
        let rounds = format!("{e} = {c} * 0.5 + {body}; ({p}, {q}) = {step}; ({e}, {p}, {q})");
        format!("({name}, {y}, {z}) = for {range} {carry} {{ {rounds} }}")
    }
}
