//! What the writer of random programs knows: names in scope, and how much it may still write.

use super::{LIBRARY, LONGEST, PRELUDE, SIGNATURE};
use fastrand::Rng;
use std::fmt::Write;

/// What an expression may use.
#[derive(Clone, Default)]
pub(super) struct Scope {
    pub floats: Vec<String>,
    /// Indices with their bounds.
    pub indices: Vec<(String, String)>,
    /// Arrays with their sizes.
    pub arrays: Vec<(String, Vec<String>)>,
    /// Integer arrays whose elements index arrays of the second size.
    pub maps: Vec<(String, String, String)>,
    /// Integers that may be loop bounds.
    pub bounds: Vec<String>,
    pub depth: usize,
    /// Whether a loop around carries arrays.
    pub in_carries: bool,
}

impl Scope {
    /// How often a body here is run, at most and as far as indices tell.
    pub fn rounds(&self) -> u64 {
        let most = |bound: &String| bound.parse().unwrap_or(LONGEST);
        self.indices.iter().map(|(_, bound)| most(bound)).product()
    }

    /// Whether no more blocks and loops may stand here.
    pub fn is_deep(&self) -> bool {
        self.depth >= 4 || self.rounds() > ROUNDS
    }
}

/// In more rounds than these there are no further loops.
const ROUNDS: u64 = 243;

/// Writes one program.
pub(super) struct Writer {
    pub rng: Rng,
    pub text: String,
    next: usize,
    /// Helper functions so far: `h0`, `h1`, ..
    pub functions: usize,
    pub calls: usize,
    /// How many more compound expressions there may be.
    pub fuel: usize,
    constructs: Vec<&'static str>,
}

impl Writer {
    pub fn new(rng: Rng) -> Writer {
        let text = String::new();
        Writer { rng, text, next: 0, functions: 0, calls: 0, fuel: 0, constructs: Vec::new() }
    }

    /// The program, with the declarations that it uses.
    pub fn finish(self, _func: &str) -> (String, Vec<&'static str>) {
        let mut text = String::from(PRELUDE);
        let uses = |name| {
            let called = self.text.contains(&format!("{name}("));
            called || self.text.contains(&format!("by {name} "))
        };
        for (name, definition) in LIBRARY {
            if uses(name) {
                text.push_str(definition);
            }
        }
        text.push_str(&self.text);
        (text, self.constructs)
    }

    /// Notes that a construct is used.
    pub fn note(&mut self, construct: &'static str) {
        self.constructs.push(construct);
    }

    /// One of several.
    pub fn one<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.rng.usize(0..items.len())]
    }

    pub fn name(&mut self, base: &str) -> String {
        self.next += 1;
        format!("{base}{}", self.next)
    }

    pub fn pick<'t, T>(&mut self, items: &'t [T]) -> Option<&'t T> {
        if items.is_empty() { None } else { Some(&items[self.rng.usize(0..items.len())]) }
    }

    /// A function of a scalar and two arrays of one length.
    pub fn helper(&mut self, fuel: usize) {
        let name = format!("h{}", self.functions);
        let scope = Scope {
            floats: vec!["s".into()],
            arrays: vec![("v".into(), vec!["d".into()]), ("u".into(), vec!["d".into()])],
            bounds: vec!["d".into()],
            ..Scope::default()
        };
        self.fuel = fuel;
        let body = self.block(&scope, 1);
        let _ = writeln!(self.text, "def {name}[d](s: f64, v: [d]f64, u: [d]f64) -> f64 = {body}");
        self.functions += 1;
    }

    /// What `main` and `slope` may use.
    pub fn parameters() -> Scope {
        Scope {
            floats: vec!["a".into()],
            arrays: vec![
                ("x".into(), vec!["n".into()]),
                ("w".into(), vec!["m".into(), "n".into()]),
            ],
            maps: vec![("ix".into(), "m".into(), "n".into())],
            bounds: vec!["n".into(), "m".into(), "k".into()],
            ..Scope::default()
        }
    }

    pub fn main(&mut self, seed: u64) {
        let mut scope = Writer::parameters();
        let (rows, sum) = self.some_primitives(seed, &mut scope);
        let constructs = self.some_constructs(seed, &mut scope);
        let body = self.block(&scope, 2);
        let _ = writeln!(
            self.text,
            "{SIGNATURE} = {{\n{rows}{constructs}  base = {body}\n  base + 0.01 * ({sum})\n}}"
        );
    }

    /// A block of a few statements with a float result.
    pub fn block(&mut self, scope: &Scope, indent: usize) -> String {
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
    pub fn vector(&mut self, scope: &Scope) -> Option<(String, String)> {
        let vectors = Writer::vectors(scope);
        self.pick(&vectors).cloned()
    }

    pub fn vectors(scope: &Scope) -> Vec<(String, String)> {
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

    pub fn atom(&mut self, scope: &Scope) -> String {
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
    pub fn element(&mut self, scope: &Scope) -> Option<String> {
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
}

/// A statement: a pattern and what it is bound to.
pub(super) type Statement = Option<(String, String)>;
