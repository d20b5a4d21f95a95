//! Writes random functions of the subset: `fn funK(x: &[f64], y: &mut [f64], n: usize, k: i64) -> f64`.

use fastrand::Rng;
use std::fmt::Write as _;
use std::ops::Range;

#[path = "chains.rs"]
mod chains;
#[path = "failing.rs"]
mod failing;
#[path = "jumps.rs"]
mod jumps;

/// What a name is.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Float,
    Size,
    Integer,
    Truth,
    /// An array of floats; whether it is assigned.
    Array,
    /// A float of 32 bits.
    Single,
    /// A struct.
    Point,
    /// An enum.
    Choice,
    /// A struct of a type.
    Pair,
    /// A struct with operators.
    Vector,
}
use Kind::{Array, Choice, Float, Integer, Pair, Point, Single, Size, Truth};

/// Writes one function.
pub struct Writer<'a> {
    rng: &'a mut Rng,
    text: String,
    names: Vec<(String, Kind, bool)>,
    /// The numbers of the functions that it may call.
    calls: Range<usize>,
    count: usize,
    loops: usize,
    indent: usize,
    /// Arrays that may not be mentioned: something goes over them.
    lent: Vec<String>,
    /// Whether a list grows in what is being written, which no `return` leaves then.
    counting: bool,
    /// Whether it gives a `Result`.
    fails: bool,
}

/// How many functions make a program: one calls some of those before it among these.
pub const GROUP: usize = 4;

/// Whether the function of a number gives a `Result`.
pub fn fails(number: usize) -> bool {
    number % 3 == 1
}

impl Writer<'_> {
    /// The text of the function with a number, which may call those before it in its group.
    pub fn write(rng: &mut Rng, number: usize) -> String {
        let writer = Writer {
            rng,
            text: String::new(),
            names: Vec::new(),
            calls: number - number % GROUP..number,
            count: 0,
            loops: 0,
            indent: 0,
            lent: Vec::new(),
            counting: false,
            fails: fails(number),
        };
        writer.function(number)
    }

    fn pick(&mut self, kind: Kind, assigned: bool) -> Option<String> {
        let fits = |n: &&(String, Kind, bool)| {
            n.1 == kind && (n.2 || !assigned) && !self.lent.contains(&n.0)
        };
        let all: Vec<String> = self.names.iter().filter(fits).map(|n| n.0.clone()).collect();
        self.rng.choice(all)
    }

    fn line(&mut self, line: &str) {
        let _ = writeln!(self.text, "{}{line}", "    ".repeat(self.indent));
    }

    fn name(&mut self) -> String {
        self.count += 1;
        // Names that mean something to the text, and shadowing.
        let names = ["sum", "map", "data", "size", "var", "acc", "case", "f64_1", "carry", "v"];
        match self.rng.u8(0..3) {
            0 => self.rng.choice(names).unwrap_or("v").to_string(),
            _ => format!("v{}", self.count),
        }
    }

    fn one(&mut self, of: &[&str]) -> String {
        self.rng.choice(of.iter()).map_or(String::new(), |s| s.to_string())
    }

    fn float(&mut self, depth: usize) -> String {
        let d = depth.saturating_sub(1);
        match if depth == 0 { self.rng.u8(0..4) } else { self.rng.u8(0..33) } {
            31 => self.short_integer(d),
            27 => {
                let method = self.one(&["rem_euclid", "div_euclid"]);
                let (a, b) = (self.float(d), self.float(d));
                // Of what a function gives only rustc knows that it is a float, and integers have these methods too.
                format!("({{ let whole: f64 = {a}; whole.{method}({b}) }})")
            }
            30 => match self.pick(Array, false) {
                Some(array) => {
                    let at = self.float(d);
                    format!("{array}.iter().rfind(|p| **p < {at}).copied().unwrap_or(0.75f64)")
                }
                None => "0.875f64".to_string(),
            },
            28 => {
                let (a, b, c) = (self.float(d), self.float(d), self.float(d));
                format!("({{ let factor: f64 = {a}; factor.mul_add({b}, {c}) }}).round_ties_even()")
            }
            29 => match self.pick(Array, false) {
                Some(array) => format!(
                    "(match &{array}[..] {{ [] => 0.5, [p] => *p, [p, q] if p < q => p - q, [p, .., q] => p * 0.5 + q }})"
                ),
                None => "0.625f64".to_string(),
            },
            0 | 1 => self.one(&[
                "0.5f64",
                "2.0f64",
                "(-1.0f64)",
                "3.25f64",
                "0.0f64",
                "(-0.0f64)",
                "1e300f64",
                "0.1f64",
            ]),
            2..=4 => match self.pick(Float, false) {
                Some(name) if name.starts_with('*') => format!("({name})"),
                found => found.unwrap_or_else(|| "1.5f64".to_string()),
            },
            5..=9 => {
                let op = self.one(&["+", "-", "*", "/", "%"]);
                format!("({} {op} {})", self.float(d), self.float(d))
            }
            10 => format!("{}.abs().sqrt()", self.float(d)),
            11 => format!("{}.max(0.5)", self.float(d)),
            12 => format!("{}.min(-0.5)", self.float(d)),
            13 => format!("{}.floor()", self.float(d)),
            14..=16 => match self.pick(Array, false) {
                Some(array) => format!("{array}[{}]", self.size(d)),
                None => "0.25f64".to_string(),
            },
            17 => format!("({} as f64)", self.size(d)),
            18 => format!("({} as f64)", self.integer(d)),
            19 => format!(
                "(if {} {{ {} }} else {{ {} }})",
                self.truth(d),
                self.float(d),
                self.float(d)
            ),
            22 => format!("({} as f64)", self.single(d)),
            23 if self.rng.bool() => match self.pick(Pair, false) {
                Some(pair) => self.one(&[
                    &format!("{pair}.of"),
                    &format!("({pair}.of - {pair}.rows[1])"),
                    &format!("{{ let Pair {{ of, rows: [p, _] }} = {pair}; of * p }}"),
                ]),
                None => "0.375f64".to_string(),
            },
            23 => match self.pick(Point, false) {
                Some(point) => self.one(&[
                    &format!("{point}.x"),
                    &format!("({point}.n as f64)"),
                    &format!("({point}.w as f64)"),
                ]),
                None => "0.75f64".to_string(),
            },
            24 => match self.pick(Choice, false) {
                Some(choice) => format!(
                    "(match {choice} {{ Choice::One(p) if p > 0.25 => p * {}, Choice::Two {{ y, k: 1..=3 }} => y, \
                     Choice::Two {{ k, .. }} => k as f64, _ => {} }})",
                    self.float(0),
                    self.float(0)
                ),
                None => "0.125f64".to_string(),
            },
            25 | 26 => match self.pick(Array, false) {
                Some(array) => self.chain(&array),
                None => "8.0f64".to_string(),
            },
            20 => match self.pick(Array, false) {
                Some(array) => {
                    let step = self.float(0);
                    let end = self.one(&[
                        "sum::<f64>()",
                        "product::<f64>()",
                        "fold(1.0, |a, b| a * 0.5 + b)",
                    ]);
                    format!("{array}.iter().skip(1).map(|q| q * {step}).{end}")
                }
                None => "4.0f64".to_string(),
            },
            _ => {
                let arms = [self.float(d), self.float(d), self.float(d)];
                let on = self.integer(d);
                format!(
                    "(match {on} {{ 0 => {}, 1..=2 => {}, _ => {} }})",
                    arms[0], arms[1], arms[2]
                )
            }
        }
    }

    /// What a `u32` is.
    fn short_integer(&mut self, depth: usize) -> String {
        let (a, b) = (self.size(depth), self.integer(depth));
        let (a, b) = (format!("(({a}) as u32)"), format!("(({b}) as u32)"));
        let value = match self.rng.u8(0..7) {
            0 => format!("{a} - {b} % 4"),
            1 => format!("{a} * 3 + {b} / 2"),
            2 => format!("({a} % 6 + 1).pow(({b}) % 9)"),
            3 => format!("({a}.saturating_sub(2)).abs_diff({b} & 7)"),
            4 => format!("(!{b} >> 3) % ({a} % 5 + 1)"),
            5 => format!("{b}.wrapping_add({a}).wrapping_mul(5)"),
            _ => format!("{a}.min({b}).max(1) - 1"),
        };
        format!("(f64::from({value}))")
    }

    fn single(&mut self, depth: usize) -> String {
        let d = depth.saturating_sub(1);
        match if depth == 0 { self.rng.u8(0..4) } else { self.rng.u8(0..12) } {
            0 => self.one(&["0.1f32", "-1.5f32", "3e38f32", "16777217f32"]),
            1..=3 => self.pick(Single, false).unwrap_or_else(|| "0.3f32".to_string()),
            4..=6 => {
                let op = self.one(&["+", "-", "*", "/"]);
                format!("({} {op} {})", self.single(d), self.single(d))
            }
            7 => format!("({} as f32)", self.float(d)),
            8 => format!("({} as f32)", self.integer(d)),
            9 => format!("{}.abs().sqrt()", self.single(d)),
            10 => format!("{}.max(0.7).powi(3)", self.single(d)),
            _ => format!("({} * 0.3 - 1.0).floor()", self.single(d)),
        }
    }

    fn size(&mut self, depth: usize) -> String {
        let d = depth.saturating_sub(1);
        match if depth == 0 { self.rng.u8(0..5) } else { self.rng.u8(0..12) } {
            0 | 1 => self.one(&["0", "1", "2"]),
            2 | 3 => self.pick(Size, false).unwrap_or_else(|| "n".to_string()),
            4 => self.pick(Array, false).map_or("1".to_string(), |a| format!("{a}.len()")),
            5 | 6 => format!("({} + {})", self.size(d), self.size(d)),
            // Below zero, and by zero. (What is below zero whatever the arguments, the text refuses as an index.)
            7 | 8 => format!("({} % 7 - {})", self.size(d), self.size(0)),
            9 => format!("({} / {})", self.size(d), self.size(0)),
            10 => format!("({} % {})", self.size(d), self.one(&["2", "3", "n"])),
            _ => format!("({}.abs() as usize % 4)", self.integer(d)),
        }
    }

    fn integer(&mut self, depth: usize) -> String {
        let d = depth.saturating_sub(1);
        match if depth == 0 { self.rng.u8(0..4) } else { self.rng.u8(0..9) } {
            0 | 1 => self.one(&["0i64", "1i64", "(-2i64)", "5i64"]),
            2 | 3 => self.pick(Integer, false).unwrap_or_else(|| "k".to_string()),
            4 => format!("({} + {})", self.integer(d), self.integer(d)),
            5 => format!("({} - {})", self.integer(d), self.integer(d)),
            6 => format!("({} * {} % 97)", self.integer(0), self.integer(0)),
            7 => format!("({} {} {})", self.integer(d), self.one(&["/", "%"]), self.integer(0)),
            _ => format!("({} as i64)", self.size(d)),
        }
    }

    fn truth(&mut self, depth: usize) -> String {
        let d = depth.saturating_sub(1);
        let op = self.one(&["<", "<=", ">", "==", "!="]);
        match if depth == 0 { self.rng.u8(0..3) } else { self.rng.u8(0..9) } {
            7 => format!("matches!({}, 0 | 2..=4 if {})", self.integer(d), self.truth(0)),
            8 => match self.pick(Array, false) {
                Some(array) if self.rng.bool() => format!("{array}.is_sorted()"),
                Some(array) => format!("{array}.contains(&{})", self.float(d)),
                None => "(n > 2)".to_string(),
            },
            0 => self.pick(Truth, false).unwrap_or_else(|| "(n > 1)".to_string()),
            1 => format!("({} {op} {})", self.size(d), self.size(d)),
            2 | 3 => format!("({} {op} {})", self.float(d), self.float(d)),
            4 => format!("({} {op} {})", self.integer(d), self.integer(d)),
            5 => format!("({} && {})", self.truth(d), self.truth(d)),
            _ => format!("(!{} || {})", self.truth(d), self.truth(d)),
        }
    }

    fn expr(&mut self, kind: Kind) -> String {
        match kind {
            Float => self.float(3),
            Single => self.single(3),
            Size => format!("{} % 7", self.size(2)),
            Integer => format!("{} % 1000", self.integer(2)),
            _ => self.truth(2),
        }
    }

    /// Statements in a block of their own.
    fn block(&mut self, head: &str, tail: &str, names: &[(String, Kind, bool)], depth: usize) {
        self.line(head);
        let known = self.names.clone();
        self.names.extend_from_slice(names);
        self.indent += 1;
        for _ in 0..self.rng.usize(1..4) {
            self.statement(depth.saturating_sub(1));
        }
        self.indent -= 1;
        self.names = known;
        self.line(tail);
    }

    /// A list that is sorted or turned round.
    fn rearranged(&mut self) {
        let Some(array) = self.pick(Array, true) else { return };
        let line = match self.rng.u8(0..5) {
            0 => format!("{array}.sort_by(|p, q| p.partial_cmp(q).unwrap());"),
            1 => format!("{array}.sort_by(|p, q| q.abs().partial_cmp(&p.abs()).unwrap());"),
            2 => format!("{array}.reverse();"),
            3 => {
                self.lent.push(array.clone());
                let by = self.size(1);
                self.lent.pop();
                format!("{array}.rotate_left({by});")
            }
            _ => format!("{array}.sort_by_key(|q| (*q).min(3.0).max(-3.0) as i64);"),
        };
        self.line(&line);
    }

    /// A list that grows by what a loop finds.
    fn counted(&mut self, depth: usize) {
        let (name, k) = (format!("list{}", self.count), format!("at{}", self.count));
        self.count += 1;
        let first = self.float(1);
        self.line(&format!("let mut {name} = vec![{first}];"));
        let head = match self.rng.u8(0..3) {
            0 => format!("for {k} in 0..{} % 5 {{", self.size(1)),
            1 => format!("for {k} in (0..5).filter(|j| j % 2 == 0) {{"),
            _ => {
                self.line(&format!("let mut {k} = 0;"));
                format!("while {k} < 4 {{ {k} += 1;")
            }
        };
        let known = self.names.clone();
        self.line(&head);
        self.indent += 1;
        self.names.push((k, Size, false));
        self.loops += 1;
        let counting = std::mem::replace(&mut self.counting, true);
        for _ in 0..self.rng.usize(0..2) {
            self.statement(depth.saturating_sub(1));
        }
        self.counting = counting;
        let (condition, first, second) = (self.truth(2), self.float(2), self.float(1));
        self.line(&format!("if {condition} {{ {name}.push({first}); }}"));
        if self.rng.bool() {
            self.line(&format!("{name}.push({second});"));
        }
        self.loops -= 1;
        self.indent -= 1;
        self.line("}");
        self.names = known;
        self.names.push((name, Array, true));
    }

    /// A variable that gets its value in a branch, and a block that is left early.
    fn late(&mut self, depth: usize) {
        let (name, condition) = (format!("late{}", self.count), self.truth(2));
        self.count += 1;
        let (a, b) = (self.float(2), self.float(2));
        self.line(&format!("let {name};"));
        self.line(&format!("if {condition} {{ {name} = {a}; }} else {{ {name} = {b}; }}"));
        let loops = std::mem::take(&mut self.loops);
        self.line(&format!("'b{name}: {{"));
        self.indent += 1;
        let known = self.names.clone();
        self.statement(depth.saturating_sub(1));
        let leave = self.truth(1);
        self.line(&format!("if {leave} {{ break 'b{name}; }}"));
        self.statement(depth.saturating_sub(1));
        self.names = known;
        self.indent -= 1;
        self.line("}");
        self.loops = loops;
        self.names.push((name, Float, false));
    }

    fn statement(&mut self, depth: usize) {
        match if depth == 0 { self.rng.u8(0..10) } else { self.rng.u8(0..42) } {
            36 | 37 => self.result(),
            38 | 39 => self.stack(depth),
            40 => self.vector(),
            41 => self.parted(),
            33 | 34 => self.early(),
            35 => self.relisted(),
            29 => self.rearranged(),
            30 | 31 => self.counted(depth),
            32 => self.late(depth),
            22 => self.taken_apart(),
            23 => self.grown(depth),
            24..=26 => self.with_fields(),
            27 => {
                let Some(array) = self.pick(Array, false) else { return };
                let (w, i) = (format!("e{}", self.count), format!("i{}", self.count));
                self.count += 1;
                self.lent.push(array.clone());
                let names = [(i.clone(), Size, false), (w.clone(), Array, false)];
                let parts = self.one(&["windows(2)", "chunks(3)", "chunks_exact(1)"]);
                let head = format!("for ({i}, {w}) in {array}.{parts}.enumerate() {{");
                self.looped(&head, &names, depth);
                self.lent.pop();
            }
            0..=2 => {
                let kind =
                    self.rng.choice([Float, Float, Size, Integer, Truth, Single]).unwrap_or(Float);
                let (value, name, mutable) = (self.expr(kind), self.name(), self.rng.bool());
                let ty = match kind {
                    Size => ": usize",
                    _ => "",
                };
                let start = if mutable { "let mut" } else { "let" };
                self.line(&format!("{start} {name}{ty} = {value};"));
                self.names.retain(|n| n.0 != name);
                self.names.push((name, kind, mutable));
            }
            3 | 4 => {
                let kind = self.rng.choice([Float, Size, Integer, Truth, Single]).unwrap_or(Float);
                let Some(name) = self.pick(kind, true) else { return };
                let value = self.expr(kind);
                self.line(&format!("{name} = {value};"));
            }
            5 => {
                let Some(name) = self.pick(Float, true) else { return };
                let (op, value) = (self.one(&["+=", "-=", "*=", "/="]), self.float(2));
                self.line(&format!("{name} {op} {value};"));
            }
            6..=8 => {
                let Some(name) = self.pick(Array, true) else { return };
                // A `Vec` is not read for the index of its own place.
                self.lent.push(name.clone());
                let at = self.size(1);
                self.lent.pop();
                let value = self.float(2);
                let op = self.one(&["=", "+=", "*="]);
                self.line(&format!("{name}[{at}] {op} {value};"));
            }
            9 => {
                let (name, value) = (self.name(), self.float(1));
                let from = self.pick(Array, false);
                let init = match (self.rng.u8(0..3), from) {
                    (0, Some(array)) => format!("{array}.to_vec()"),
                    (1, Some(array)) => {
                        format!("{array}.iter().map(|q| q + {value}).collect::<Vec<f64>>()")
                    }
                    _ => format!("vec![{value}; {} % 4]", self.size(1)),
                };
                self.line(&format!("let mut {name} = {init};"));
                self.names.retain(|n| n.0 != name);
                self.names.push((name, Array, true));
            }
            10..=12 => {
                let condition = self.truth(2);
                if self.rng.bool() {
                    self.block(&format!("if {condition} {{"), "}", &[], depth);
                } else {
                    self.block(&format!("if {condition} {{"), "} else {", &[], depth);
                    self.block("", "}", &[], depth);
                }
            }
            13 | 14 => {
                let (lo, hi, i) = (self.size(1), self.size(1), format!("i{}", self.count));
                self.count += 1;
                let range = match self.rng.u8(0..4) {
                    0 => format!("({lo}..{hi}).rev()"),
                    1 => format!("{lo}..={hi} % 5"),
                    2 => format!("(0..{hi}).step_by(2)"),
                    _ => format!("{lo}..{hi}"),
                };
                self.looped(&format!("for {i} in {range} {{"), &[(i, Size, false)], depth);
            }
            15 => {
                let Some(array) = self.pick(Array, false) else { return };
                let (v, i) = (format!("e{}", self.count), format!("i{}", self.count));
                self.count += 1;
                let names = [(i.clone(), Size, false), (format!("(*{v})"), Float, false)];
                // The array cannot be assigned meanwhile.
                self.lent.push(array.clone());
                self.looped(
                    &format!("for ({i}, {v}) in {array}.iter().enumerate() {{"),
                    &names,
                    depth,
                );
                self.lent.pop();
            }
            16 => {
                let Some(array) = self.pick(Array, true) else { return };
                let v = format!("e{}", self.count);
                self.count += 1;
                self.lent.push(array.clone());
                let head = match self.pick(Array, false) {
                    Some(other) if self.rng.bool() => {
                        format!(
                            "for ({v}, q) in {array}.iter_mut().zip({other}.to_vec().iter()) {{"
                        )
                    }
                    _ => format!("for {v} in {array}.iter_mut() {{"),
                };
                self.looped(&head, &[(format!("*{v}"), Float, true)], depth);
                self.lent.pop();
            }
            17 => {
                let w = format!("w{}", self.count);
                self.count += 1;
                self.line(&format!("let mut {w} = 0;"));
                let (limit, condition) = (self.rng.usize(1..4), self.truth(1));
                self.line(&format!("while {w} < {limit} && {condition} {{"));
                self.indent += 1;
                self.line(&format!("{w} += 1;"));
                self.indent -= 1;
                self.looped("", &[], depth);
            }
            18 if self.loops > 0 => {
                let (condition, jump) = (self.truth(2), self.one(&["break", "continue"]));
                self.line(&format!("if {condition} {{ {jump}; }}"));
            }
            18 | 19 if !self.counting => {
                let (condition, value) = (self.truth(1), self.float(2));
                let value = self.given(&value);
                self.line(&format!("if {condition} {{ return {value}; }}"));
            }
            20 if !self.calls.is_empty() => {
                let f = self.rng.usize(self.calls.clone());
                let (name, value) = (self.name(), self.float(1));
                let (size, integer) = (format!("at{}", self.count), format!("by{}", self.count));
                self.count += 1;
                // What is lent to a call is not read for its other arguments.
                let both = format!("({}, {})", self.size(1), self.integer(1));
                self.line(&format!("let ({size}, {integer}) = {both};"));
                let shared = self.pick(Array, false).unwrap_or_else(|| "x".to_string());
                let shared = if self.lent.contains(&shared) { "x".to_string() } else { shared };
                // A copy, where it would be lent twice.
                match self.pick(Array, true) {
                    Some(array) => {
                        let call = format!(
                            "fun{f}(&{shared}.to_vec(), &mut {array}[{size} % 3..], 1, {integer} % 5)"
                        );
                        let call = self.of_result(f, &call);
                        self.line(&format!("let {name} = {call} + {value};"));
                    }
                    None => {
                        let call = format!(
                            "fun{f}(&{shared}, &mut [0.5, {value}], {size} % 4, {integer} % 5)"
                        );
                        let call = self.of_result(f, &call);
                        self.line(&format!("let {name}: f64 = {call};"));
                    }
                }
                self.names.retain(|n| n.0 != name);
                self.names.push((name, Float, false));
            }
            20 => {
                let condition = self.truth(1);
                self.line(&format!("assert!({condition} || n < 3);"));
            }
            _ => {
                let (g, float) = (format!("g{}", self.count), self.float(1));
                self.count += 1;
                let size = self.size(0);
                let arguments = [self.float(1), self.size(1)];
                let name = self.name();
                self.line(&format!(
                    "let {g} = |p: f64, m: usize| p * {float} + (m + {size}) as f64;"
                ));
                self.line(&format!("let {name} = {g}({}, {});", arguments[0], arguments[1]));
                self.names.retain(|n| n.0 != name);
                self.names.push((name, Float, false));
            }
        }
    }

    /// A new name.
    fn declare(&mut self, name: String, kind: Kind, mutable: bool) {
        self.names.retain(|n| n.0 != name);
        self.names.push((name, kind, mutable));
    }

    /// Elements by a pattern, an `Option` by `let .. else`, the value of a loop.
    fn taken_apart(&mut self) {
        let (name, a, b) = (self.name(), self.float(1), self.float(1));
        let early = self.given(&a);
        match (self.rng.u8(0..3), self.pick(Array, false).filter(|_| !self.counting)) {
            (0, _) => self.line(&format!("let [{name}, _] = [{a}, {b}];")),
            (1, Some(array)) => {
                let at = self.size(1);
                self.line(&format!(
                    "let Some(&{name}) = {array}.get({at}) else {{ return {early}; }};"
                ));
            }
            _ => {
                let w = format!("w{}", self.count);
                self.count += 1;
                self.line(&format!("let mut {w} = 0;"));
                let condition = self.truth(1);
                self.line(&format!(
                    "let {name} = loop {{ {w} += 1; if {w} > 2 || {condition} {{ break {a} + {w} as f64; }} }};"
                ));
            }
        }
        self.declare(name, Float, false);
    }

    /// A list that grows.
    fn grown(&mut self, depth: usize) {
        let (name, i) = (format!("list{}", self.count), format!("i{}", self.count));
        self.count += 1;
        let (first, hi) = (self.float(1), self.size(1));
        self.line(&format!("let mut {name} = Vec::new();"));
        self.line(&format!("{name}.push({first});"));
        self.line(&format!("for {i} in 0..{hi} % 5 {{"));
        let known = self.names.clone();
        let index = i.clone();
        self.names.push((i, Size, false));
        self.indent += 1;
        // Neither jumps nor calls that may: the loop pushes once.
        if depth > 0 {
            let (v, value) = (format!("v{}", self.count), self.float(2));
            self.count += 1;
            self.line(&format!("let {v} = {value};"));
            self.declare(v, Float, false);
        }
        let value = self.float(2);
        // What is there may be read.
        let read = match self.rng.u8(0..6) {
            0 => format!("{name}[{name}.len() - 1]"),
            1 => format!("*{name}.last().unwrap()"),
            2 => format!("{name}[{index}]"),
            3 => format!("{name}.iter().sum::<f64>()"),
            _ => "0.5".to_string(),
        };
        self.line(&format!("{name}.push({value} + {read} * 0.5);"));
        if self.rng.u8(0..20) == 0 {
            self.line(&format!("let _ = {name}[{index} * 2];"));
        }
        self.indent -= 1;
        self.names = known;
        self.line("}");
        if let (Some(array), true) = (self.pick(Array, false), self.rng.bool()) {
            let by = self.float(0);
            self.line(&format!("{name}.extend({array}.iter().map(|q| q * {by}));"));
        }
        self.declare(name, Array, true);
    }

    /// A struct or an enum: a new one, or another one in its place.
    fn with_fields(&mut self) {
        if self.rng.u8(0..3) == 0 {
            return self.with_parameters();
        }
        let name = self.name();
        let (x, n, w) = (self.float(2), self.expr(Size), self.single(2));
        match (self.rng.u8(0..5), self.pick(Point, true), self.pick(Choice, true)) {
            (0, Some(point), _) => self.line(&format!("{point}.x += {x};")),
            (1, Some(point), _) => self.line(&format!("{point} = Point {{ n: {n}, ..{point} }};")),
            (2 | 3, _, found) => {
                let k = self.integer(1);
                let value = self.one(&[
                    "Choice::Nothing",
                    &format!("Choice::One({x})"),
                    &format!("Choice::Two {{ k: {k}, y: {x} }}"),
                ]);
                match found {
                    Some(choice) if self.rng.bool() => self.line(&format!("{choice} = {value};")),
                    _ => {
                        self.line(&format!("let mut {name} = {value};"));
                        self.declare(name, Choice, true);
                    }
                }
            }
            _ => {
                self.line(&format!("let mut {name} = Point {{ x: {x}, n: {n}, w: {w} }};"));
                self.declare(name, Point, true);
            }
        }
    }

    /// A struct of a type, the parameter of which is written where the function has no other yet.
    fn with_parameters(&mut self) {
        let (x, y, k) = (self.float(1), self.float(1), self.size(0));
        let found = self.pick(Pair, true);
        match (self.rng.u8(0..4), found) {
            (0, Some(pair)) => self.line(&format!("{pair}.of -= {x};")),
            (1, Some(pair)) => self.line(&format!("{pair}.rows[{k}] = {x};")),
            (2, Some(pair)) => {
                self.line(&format!("{pair} = Pair {{ rows: [{x}, {y}], ..{pair} }};"));
            }
            (_, found) => {
                let name = self.name();
                let of = if found.is_some() { "" } else { "::<f64>" };
                self.line(&format!("let mut {name} = Pair{of} {{ rows: [{x}, {y}], of: {y} }};"));
                self.declare(name, Pair, true);
            }
        }
    }

    fn looped(&mut self, head: &str, names: &[(String, Kind, bool)], depth: usize) {
        self.loops += 1;
        self.block(head, "}", names, depth);
        self.loops -= 1;
    }

    /// A whole function.
    fn function(mut self, k: usize) -> String {
        let gives = if self.fails { "Result<f64, String>" } else { "f64" };
        self.line(&format!("fn fun{k}(x: &[f64], y: &mut [f64], n: usize, k: i64) -> {gives} {{"));
        self.indent = 1;
        for (name, kind, assigned) in
            [("x", Array, false), ("y", Array, true), ("n", Size, false), ("k", Integer, false)]
        {
            self.names.push((name.to_string(), kind, assigned));
        }
        for _ in 0..self.rng.usize(2..6) {
            self.statement(3);
        }
        let value = self.float(3);
        let value = match self.fails && self.rng.bool() {
            true => {
                let condition = self.truth(1);
                format!("if {condition} {{ Ok({value}) }} else {{ Err(\"the end\".into()) }}")
            }
            false => self.given(&value),
        };
        self.line(&value);
        self.indent = 0;
        self.line("}");
        self.text
    }
}
