//! Random programs in the surface language, well typed by construction, and inputs for them.
//!
//! The shapes are biased towards what is hard: captured arrays read in nested loops, a name that
//! is both initial carry and capture, carries that become active late, branches with and without
//! a tape, zero-trip and triangular loops, arrays of length 0 and 1, calls with rows and with the
//! same array twice, records, sums in arrays, slices, sizes computed inside, several results, unused
//! parameters. Now and then an index or a cast may be wrong: then everything derived must fail as the
//! program does. Values stay moderate, so that central differences mean something.

mod structured;

use fastrand::Rng;
use jut_eval::Value;
use std::fmt::Write;

/// A program whose last definition is `main`, and arguments for it.
#[derive(Clone, Debug)]
pub struct Generated {
    /// The text.
    pub text: String,
    /// Length of the arrays.
    pub n: usize,
    /// Rows of the matrix.
    pub m: usize,
    /// The scalar parameter.
    pub a: f64,
    /// The integer parameter.
    pub k: i64,
    /// The array parameter.
    pub x: Vec<f64>,
    /// The matrix parameter, m by n.
    pub w: Vec<f64>,
    /// Indices into x.
    pub ix: Vec<i64>,
}

impl Generated {
    /// The arguments of `main`, sizes left out.
    pub fn arguments(&self) -> Vec<Value> {
        let empty = || Value::floats(Vec::new());
        vec![
            Value::F64(self.a),
            Value::floats(self.x.clone()),
            Value::matrix(self.m, self.n, self.w.clone()).unwrap_or_else(empty),
            Value::I64(self.k),
            Value::ints(self.ix.clone()),
        ]
    }
}

/// The signature that every generated `main` has.
pub const SIGNATURE: &str =
    "def main[m, n](a: f64, x: [n]f64, w: [m, n]f64, k: i64, ix: [m]i64) -> f64";

/// Declarations that every program has.
const PRELUDE: &str = "data Pair = Pair(left: f64, right: f64)
data Kind = Low | Mid(place: i64) | High(place: i64, odd: bool)
data Bag = Bag(m: i64, w: [m]i64, last: i64)
def half[d](v: [d]f64) -> (m: i64, y: [m]f64) = {
  m = d / 2
  y = build (i < m) { sin(v[i]) * 1.5 }
  (m, y)
}
def both[d](s: f64, v: [d]f64) -> (f64, f64) = {
  t = sum (i < d) { v[i] * s }
  (tanh(t), cos(s))
}
def pack[d](v: [d]f64, s: f64) -> Bag = {
  w = build (i < d) { i64(3.0 * v[i] + s) }
  Bag(d, w, d - 1)
}
";

/// Makes the program with the given number.
pub fn generate(seed: u64) -> Generated {
    let mut rng = Rng::with_seed(seed);
    let n = [0, 1, 2, 3, 5, 9][rng.usize(0..6)];
    let m = if n == 0 { 0 } else { rng.usize(0..4) };
    let float = |rng: &mut Rng| (rng.f64() - 0.5) * 3.0;
    let a = float(&mut rng);
    let x = (0..n).map(|_| float(&mut rng)).collect();
    let w = (0..m * n).map(|_| float(&mut rng)).collect();
    let ix = (0..m).map(|_| rng.i64(0..n.max(1) as i64)).collect();
    let k = rng.i64(-1..4);
    let mut writer = Writer { rng, text: String::new(), next: 0, functions: 0, calls: 0, fuel: 40 };
    writer.text.push_str(PRELUDE);
    for _ in 0..writer.rng.usize(0..3) {
        writer.helper();
    }
    writer.fuel = 60;
    writer.main();
    Generated { text: writer.text, n, m, a, k, x, w, ix }
}

/// What an expression may use.
#[derive(Clone, Default)]
struct Scope {
    floats: Vec<String>,
    /// Indices with their bounds.
    indices: Vec<(String, String)>,
    /// Arrays with their sizes.
    arrays: Vec<(String, Vec<String>)>,
    /// Integer arrays whose elements index arrays of the second size.
    maps: Vec<(String, String, String)>,
    /// Integers that may be loop bounds.
    bounds: Vec<String>,
    depth: usize,
}

struct Writer {
    rng: Rng,
    text: String,
    next: usize,
    /// Helper functions so far: `h0`, `h1`, ..
    functions: usize,
    calls: usize,
    /// How many more compound expressions there may be.
    fuel: usize,
}

impl Writer {
    fn name(&mut self, base: &str) -> String {
        self.next += 1;
        format!("{base}{}", self.next)
    }

    fn pick<'t, T>(&mut self, items: &'t [T]) -> Option<&'t T> {
        if items.is_empty() { None } else { Some(&items[self.rng.usize(0..items.len())]) }
    }

    fn helper(&mut self) {
        let name = format!("h{}", self.functions);
        let scope = Scope {
            floats: vec!["s".into()],
            arrays: vec![("v".into(), vec!["d".into()]), ("u".into(), vec!["d".into()])],
            bounds: vec!["d".into()],
            ..Scope::default()
        };
        self.fuel = 16;
        let body = self.block(&scope, 1);
        let _ = writeln!(self.text, "def {name}[d](s: f64, v: [d]f64, u: [d]f64) -> f64 = {body}");
        self.functions += 1;
    }

    fn main(&mut self) {
        let scope = Scope {
            floats: vec!["a".into()],
            arrays: vec![
                ("x".into(), vec!["n".into()]),
                ("w".into(), vec!["m".into(), "n".into()]),
            ],
            maps: vec![("ix".into(), "m".into(), "n".into())],
            bounds: vec!["n".into(), "m".into(), "k".into()],
            ..Scope::default()
        };
        let body = self.block(&scope, 1);
        let _ = writeln!(self.text, "{SIGNATURE} = {body}");
    }

    /// A block of a few statements with a float result.
    fn block(&mut self, scope: &Scope, indent: usize) -> String {
        let mut scope = scope.clone();
        scope.depth += 1;
        let pad = "  ".repeat(indent);
        let mut out = String::from("{\n");
        for _ in 0..self.rng.usize(0..3) {
            if self.fuel == 0 {
                break;
            }
            let (name, value) = self.statement(&mut scope, indent);
            let _ = writeln!(out, "{pad}{name} = {value}");
        }
        let result = self.float(&scope, indent);
        let _ = writeln!(out, "{pad}{result}");
        let _ = write!(out, "{}}}", "  ".repeat(indent - 1));
        out
    }

    /// The name of an array of one dimension in scope, or a row of one of two, with its size.
    fn vector(&mut self, scope: &Scope) -> Option<(String, String)> {
        let vectors = Writer::vectors(scope);
        self.pick(&vectors).cloned()
    }

    fn vectors(scope: &Scope) -> Vec<(String, String)> {
        let mut vectors: Vec<(String, String)> = Vec::new();
        for (name, sizes) in &scope.arrays {
            match &sizes[..] {
                [size] => vectors.push((name.clone(), size.clone())),
                [rows, columns] => {
                    let inside = scope.indices.iter().filter(|(_, b)| b == rows);
                    vectors.extend(inside.map(|(i, _)| (format!("{name}[{i}]"), columns.clone())));
                }
                _ => {}
            }
        }
        vectors
    }

    /// A statement that makes something of an array.
    fn of_array(&mut self, scope: &mut Scope, indent: usize) -> Option<(String, String)> {
        let (v, size) = self.vector(scope)?;
        let mut inner = scope.clone();
        let i = self.name("i");
        inner.indices.push((i.clone(), size.clone()));
        let name = self.name("r");
        match self.rng.u8(0..18) {
            // An array of records, read by element and by field.
            0 => {
                let (left, right) = (self.float(&inner, indent), self.atom(&inner));
                let body = format!("{{ Pair({left}, {right}) }}");
                let sum = self.name("t");
                scope.floats.push(sum.clone());
                let made = format!("build ({i} < {size}) {body}");
                let read = format!("tanh(sum (p <- {name}) {{ p.left * p.right + p.left }})");
                Some((name, format!("{made}\n{}{sum} = {read}", "  ".repeat(indent))))
            }
            // An array of a sum type, and a `case` on its elements.
            1 | 2 => {
                let (one, two) = (self.condition(&inner), self.condition(&inner));
                let (low, mid, high) =
                    (self.block(&inner, indent + 1), self.atom(&inner), self.atom(&inner));
                let made = format!(
                    "build ({i} < {size}) {{ if {one} {{ Low() }} else if {two} {{ Mid({i}) }} \
                     else {{ High({i} / 2, {i} % 2 == 0) }} }}"
                );
                let arms = format!(
                    "{{ Low -> {low}; Mid(q) -> {mid} * f64(q); \
                     High(q, odd) -> select(odd, {high}, {v}[{i}]) - f64(q) }}"
                );
                let sum = self.name("t");
                scope.floats.push(sum.clone());
                let read = format!("tanh(sum ({i} < {size}) {{ case {name}[{i}] {arms} }})");
                Some((name, format!("{made}\n{}{sum} = {read}", "  ".repeat(indent))))
            }
            // A slice; both halves are in range for any size.
            3 | 4 if size.chars().all(char::is_alphanumeric) => {
                let h = self.name("h");
                let pad = "  ".repeat(indent);
                let second = format!("{size} - {h}");
                if self.rng.bool() {
                    scope.bounds.push(h.clone());
                    scope.arrays.push((name.clone(), vec![h.clone()]));
                    Some((h.clone(), format!("{size} / 2\n{pad}{name} = {v}[0 ..+ {h}]")))
                } else {
                    scope.arrays.push((name.clone(), vec![second]));
                    Some((h.clone(), format!("{size} / 2\n{pad}{name} = {v}[{h} .. {size}]")))
                }
            }
            // A result whose size the callee computes.
            5 => {
                let m = self.name("m");
                scope.bounds.push(m.clone());
                scope.arrays.push((name.clone(), vec![m.clone()]));
                Some((format!("({m}, {name})"), format!("half({v})")))
            }
            // Several results.
            6 => {
                let other = self.name("t");
                let scalar = self.float(scope, indent);
                scope.floats.extend([name.clone(), other.clone()]);
                Some((format!("({name}, {other})"), format!("both({scalar}, {v})")))
            }
            // A record with a size inside, opened.
            7 | 16 => {
                let (m, w, s) = (self.name("m"), self.name("w"), self.name("s"));
                let scalar = self.float(scope, indent);
                let read = format!(
                    "{s}_sum = tanh(sum ({i} < {m}) {{ f64({w}[{i}]) * {v}[{i}] }} / f64({s} + 2))"
                );
                scope.bounds.push(m.clone());
                scope.floats.push(format!("{s}_sum"));
                let open = format!("Bag({m}, {w}, {s}) = {name}");
                let pad = "  ".repeat(indent);
                Some((name, format!("pack({v}, {scalar})\n{pad}{open}\n{pad}{read}")))
            }
            // A loop that carries an array.
            8 => {
                let (t, h) = (self.name("q"), self.name("h"));
                inner.arrays.push((h.clone(), vec![size.clone()]));
                let body = self.float(&inner, indent + 1);
                scope.arrays.push((name.clone(), vec![size.clone()]));
                let step = format!("build ({i} < {size}) {{ tanh(0.5 * {h}[{i}] + {body}) }}");
                Some((name, format!("for ({t} < 3) carry ({h} = {v}) {{ {step} }}")))
            }
            // A loop that collects.
            9 => {
                let (c, last) = (self.name("c"), self.name("t"));
                inner.floats.push(c.clone());
                let body = self.float(&inner, indent + 1);
                let start = self.atom(scope);
                scope.floats.push(last.clone());
                scope.arrays.push((name.clone(), vec![size.clone()]));
                let step = format!("{{ e = tanh({c} - {body}); (e, {v}[{i}] * e) }}");
                let text = format!("for ({i} < {size}) carry ({c} = {start}) {step}");
                Some((format!("({last}, {name})"), text))
            }
            // A sum of arrays.
            10 => {
                let j = self.name("j");
                inner.indices.push((j.clone(), "3".into()));
                let body = self.float(&inner, indent + 1);
                scope.arrays.push((name.clone(), vec![size.clone()]));
                let row = format!("build ({i} < {size}) {{ {body} * {v}[{i}] }}");
                Some((name, format!("sum ({j} < 3) {{ {row} }}")))
            }
            // The largest of a range that may be empty.
            11 => {
                let body = self.float(&inner, indent + 1);
                let which = ["max", "min"][self.rng.usize(0..2)];
                let none = self.atom(scope);
                scope.floats.push(name.clone());
                let some = format!("{which} ({i} < {size}) {{ {body} }}");
                Some((name, format!("if {size} > 0 {{ {some} }} else {{ {none} }}")))
            }
            // An array whose size must be cast.
            12..=15 => {
                let (m, y) = (self.name("m"), self.name("y"));
                let body = self.float(&inner, indent + 1);
                scope.arrays.push((name.clone(), vec![size.clone()]));
                let pad = "  ".repeat(indent);
                let made = format!("{y} = build ({i} < {m}) {{ {body} * f64(size({v})) }}");
                let t = self.name("t");
                scope.floats.push(t.clone());
                let cast = format!("{name} = cast {y} : [{size}]f64");
                let read = format!("{t} = tanh(sum (e <- {name}) {{ e * sin(e) }})");
                Some((m, format!("max({size}, 0)\n{pad}{made}\n{pad}{cast}\n{pad}{read}")))
            }
            // A cast that may fail, rarely; a computed index that may, too.
            _ if self.rng.u8(0..4) == 0 => {
                scope.floats.push(name.clone());
                Some((name, format!("{v}[{size} / 2]")))
            }
            _ => {
                let cast = format!("cast {v}[0 ..+ {size} / 2 + {size} / 2] : [{size}]f64");
                scope.floats.push(name.clone());
                if self.rng.u8(0..3) > 0 {
                    let two = format!("sum (a <- {v}, b <- {v}) {{ a * sin(b) }}");
                    return Some((name, format!("tanh({two})")));
                }
                Some((name, format!("tanh(sum (v <- {cast}) {{ v * v }})")))
            }
        }
    }

    fn statement(&mut self, scope: &mut Scope, indent: usize) -> (String, String) {
        if self.rng.u8(0..7) == 0
            && self.fuel > 0
            && let Some(statement) = self.structured(scope, indent)
        {
            self.fuel = self.fuel.saturating_sub(1);
            return statement;
        }
        if self.rng.u8(0..3) == 0
            && scope.depth < 4
            && self.fuel > 0
            && let Some(statement) = self.of_array(scope, indent)
        {
            self.fuel = self.fuel.saturating_sub(1);
            return statement;
        }
        let sizes: Vec<String> = scope.bounds.iter().filter(|b| *b != "k").cloned().collect();
        match self.rng.u8(0..10) {
            8 => {
                let (a, b) = (self.name("t"), self.name("t"));
                let (x, y) = (self.float(scope, indent), self.float(scope, indent));
                scope.floats.extend([a.clone(), b.clone()]);
                (format!("#({a}, {b})"), format!("#({x}, {y})"))
            }
            9 => {
                let name = self.name("l");
                let items = [self.float(scope, indent), self.atom(scope), self.atom(scope)];
                scope.arrays.push((name.clone(), vec!["3".into()]));
                scope.bounds.push("3".into());
                (name, format!("[{}]", items.join(", ")))
            }
            0 | 1 if !sizes.is_empty() && scope.depth < 3 => {
                let name = self.name("y");
                let size = sizes[self.rng.usize(0..sizes.len())].clone();
                let i = self.name("i");
                let mut inner = scope.clone();
                inner.indices.push((i.clone(), size.clone()));
                let body = self.block(&inner, indent + 1);
                scope.arrays.push((name.clone(), vec![size.clone()]));
                (name, format!("build ({i} < {size}) {body}"))
            }
            2 if sizes.len() > 1 && scope.depth < 3 => {
                let name = self.name("z");
                let (rows, columns) = (sizes[0].clone(), sizes[1].clone());
                let (i, j) = (self.name("i"), self.name("j"));
                let mut inner = scope.clone();
                inner.indices.push((i.clone(), rows.clone()));
                inner.indices.push((j.clone(), columns.clone()));
                inner.depth += 1;
                let body = self.block(&inner, indent + 1);
                scope.arrays.push((name.clone(), vec![rows.clone(), columns.clone()]));
                (name, format!("build ({i} < {rows}) {{ build ({j} < {columns}) {body} }}"))
            }
            3 => {
                let name = self.name("p");
                let (left, right) = (self.float(scope, indent), self.float(scope, indent));
                scope.floats.push(format!("{name}.left"));
                scope.floats.push(format!("{name}.right"));
                (name, format!("Pair({left}, {right})"))
            }
            _ => {
                let name = self.name("t");
                let value = self.float(scope, indent);
                scope.floats.push(name.clone());
                (name, value)
            }
        }
    }

    fn atom(&mut self, scope: &Scope) -> String {
        if self.rng.u8(0..3) > 0
            && let Some(element) = self.element(scope)
        {
            return element;
        }
        if self.rng.u8(0..5) == 0 || scope.floats.is_empty() {
            return format!("{:?}", (self.rng.f64() * 40.0).round() / 20.0 - 1.0);
        }
        scope.floats[self.rng.usize(0..scope.floats.len())].clone()
    }

    /// A read of an array at indices in scope.
    fn element(&mut self, scope: &Scope) -> Option<String> {
        let (name, sizes) = self.pick(&scope.arrays)?.clone();
        let mut steps = Vec::new();
        for size in &sizes {
            let mut choices: Vec<String> =
                scope.indices.iter().filter(|(_, b)| b == size).map(|(i, _)| i.clone()).collect();
            for (map, length, target) in &scope.maps {
                if target == size {
                    let inner = scope.indices.iter().filter(|(_, b)| b == length);
                    choices.extend(inner.map(|(i, _)| format!("{map}[{i}]")));
                }
            }
            steps.push(self.pick(&choices)?.clone());
        }
        Some(format!("{name}[{}]", steps.join(", ")))
    }

    fn condition(&mut self, scope: &Scope) -> String {
        match self.rng.u8(0..4) {
            0 if scope.indices.len() > 1 => {
                let i = self.rng.usize(1..scope.indices.len());
                format!("{} < {}", scope.indices[i].0, scope.indices[0].0)
            }
            _ => format!("{} > {}", self.atom(scope), self.atom(scope)),
        }
    }

    fn float(&mut self, scope: &Scope, indent: usize) -> String {
        if self.fuel == 0 || self.rng.u8(0..6) == 0 {
            return self.atom(scope);
        }
        self.fuel -= 1;
        let deep = scope.depth >= 4;
        match self.rng.u8(0..20) {
            0 => format!("sin({})", self.float(scope, indent)),
            1 => format!("tanh({})", self.float(scope, indent)),
            2 => format!("exp(-abs({}))", self.float(scope, indent)),
            3 => format!("sqrt(1.0 + ({})^2)", self.float(scope, indent)),
            4 => format!("log1p(({})^2)", self.float(scope, indent)),
            5 => format!("atan2({}, 1.5 + abs({}))", self.float(scope, indent), self.atom(scope)),
            6 => format!("({} + {})", self.float(scope, indent), self.float(scope, indent)),
            7 => format!("({} - {})", self.float(scope, indent), self.float(scope, indent)),
            8 => format!("tanh({} * {})", self.float(scope, indent), self.float(scope, indent)),
            9 => format!("{} / (2.0 + ({})^2)", self.float(scope, indent), self.atom(scope)),
            10 => format!("max({}, {})", self.float(scope, indent), self.atom(scope)),
            11 => format!(
                "select({}, {}, {})",
                self.condition(scope),
                self.atom(scope),
                self.atom(scope)
            ),
            12 | 13 if !deep => {
                let condition = self.condition(scope);
                let (then, other) = (self.block(scope, indent + 1), self.block(scope, indent + 1));
                format!("(if {condition} {then} else {other})")
            }
            14 | 15 if !deep => self.sum(scope, indent),
            16 if !deep => self.fold(scope, indent),
            17 if self.functions > 0 && self.calls < 8 => self.call(scope, indent),
            _ => format!("({} * {})", self.atom(scope), self.atom(scope)),
        }
    }

    fn range(&mut self, scope: &Scope, inner: &mut Scope, base: &str) -> Option<(String, String)> {
        let mut bounds = scope.bounds.clone();
        // A triangular loop: the bound is an index, and what it indexes is as long as the outer one.
        bounds.extend(scope.indices.iter().map(|(i, _)| i.clone()));
        let bound = self.pick(&bounds)?.clone();
        let i = self.name(base);
        let range = scope.indices.iter().find(|(index, _)| *index == bound);
        let limit = range.map(|(_, b)| b.clone()).unwrap_or(bound.clone());
        if limit != "k" {
            inner.indices.push((i.clone(), limit));
        }
        Some((i, bound))
    }

    fn sum(&mut self, scope: &Scope, indent: usize) -> String {
        let mut inner = scope.clone();
        let Some((i, bound)) = self.range(scope, &mut inner, "i") else { return self.atom(scope) };
        let body = self.block(&inner, indent + 1);
        format!("tanh(sum ({i} < {bound}) {body})")
    }

    fn fold(&mut self, scope: &Scope, indent: usize) -> String {
        let mut inner = scope.clone();
        let Some((i, bound)) = self.range(scope, &mut inner, "q") else { return self.atom(scope) };
        let carry = self.name("c");
        let start = self.atom(scope);
        inner.floats.push(carry.clone());
        let body = self.float(&inner, indent + 1);
        format!(
            "(for ({i} < {bound}) carry ({carry} = {start}) {{ tanh(0.5 * {carry} + {body}) }})"
        )
    }

    fn call(&mut self, scope: &Scope, indent: usize) -> String {
        self.calls += 1;
        let function = self.rng.usize(0..self.functions);
        let vectors = Writer::vectors(scope);
        let Some((first, size)) = self.pick(&vectors).cloned() else { return self.atom(scope) };
        let same: Vec<String> =
            vectors.into_iter().filter(|(_, s)| *s == size).map(|(v, _)| v).collect();
        let second = self.pick(&same).cloned().unwrap_or(first.clone());
        let scalar = self.float(scope, indent);
        format!("tanh(h{function}({scalar}, {first}, {second}))")
    }
}
