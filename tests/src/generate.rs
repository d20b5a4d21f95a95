//! Random programs in the surface language, well typed by construction, and inputs for them.
//!
//! The shapes are biased towards what is hard: captured arrays read in nested loops, a name that
//! is both initial carry and capture, carries that become active late, branches with and without
//! a tape, zero-trip and triangular loops, arrays of length 0 and 1, calls with rows and with the
//! same array twice, records, unused parameters. Values stay moderate, so that central differences
//! mean something.

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
    writer.text.push_str("data Pair = Pair(left: f64, right: f64)\n");
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

    fn statement(&mut self, scope: &mut Scope, indent: usize) -> (String, String) {
        let sizes: Vec<String> = scope.bounds.iter().filter(|b| *b != "k").cloned().collect();
        match self.rng.u8(0..8) {
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
        let Some((first, size)) = self.pick(&vectors).cloned() else { return self.atom(scope) };
        let same: Vec<String> =
            vectors.into_iter().filter(|(_, s)| *s == size).map(|(v, _)| v).collect();
        let second = self.pick(&same).cloned().unwrap_or(first.clone());
        let scalar = self.float(scope, indent);
        format!("tanh(h{function}({scalar}, {first}, {second}))")
    }
}
