//! Linear code written by hand: `slope`, and the functions that it calls.
//!
//! Every linear operation is in it: sums, factors, `select`, zero, copies, tuples, casts; reads
//! and additions at places, also scattered and through slices of capabilities; regions, branches;
//! loops in all directions with linear carries, slices and collected results; calls that pass linear values
//! and places, of mixed functions as well. It is mixed: U unzips it. What is written is surface text,
//! so that linear names may be used any number of times but not inside a loop, which gets what it
//! reads through a capability.

use super::writer::{Scope, Writer};
use std::fmt::Write;

/// Functions with linear parameters, each with what it is for.
const FUNCTIONS: &str = "def turn(s: f64; y': f64) -> (f64; f64) = { (sin(s); cos(s) * y') }
def spread[d](v: [d]f64; y': f64; wr dv: [d]f64) -> () = {
  rd r = y' { scan par (i < d) { a' = rd r; dv[i] += v[i] * a' } }
}
def project[d](s: f64, v: [d]f64; y': f64; rd dv: [d]f64) -> (; f64) = {
  t' = wr lanes r: f64 { scan par (i < d) { a' = rd dv[i]; r += v[i] * a' } }
  t' + s * y'
}
def scaled[d](v: [d]f64; y': [d]f64) -> (; [d]f64) = {
  z' = scan par (i < d) slice (b <- v; b' <- y') { (; b * b') }
  z'
}
def halved[d](v: [d]f64; ; rd dv: [d]f64) -> (m: i64, y: [m]f64; y': [m]f64) = {
  m = d / 2
  check m >= 0
  (y; y') = scan par (i < m) { a = sin(v[i]); a' = rd dv[i]; (a; cos(a) * a') }
  (m, y; y')
}
";

/// The signature of every `slope`, but for what it adds to.
const SLOPE: &str = "def slope[m, n](a: f64, x: [n]f64, w: [m, n]f64, k: i64, ix: [m]i64; \
a': f64, y': [n]f64; rd rx: [n]f64, rd rw: [m, n]f64";

/// What linear code may use.
#[derive(Clone, Default)]
struct Linear {
    /// The non-linear names.
    plain: Scope,
    scalars: Vec<String>,
    /// Linear arrays with their sizes.
    arrays: Vec<(String, String)>,
    /// Places to read, with their sizes.
    reads: Vec<(String, Vec<String>)>,
    /// Places to add to.
    writes: Vec<(String, String)>,
}

impl Linear {
    /// The scope inside a loop, which captures nothing linear.
    fn in_loop(&self) -> Linear {
        let mut inner = self.clone();
        inner.scalars.clear();
        inner.arrays.clear();
        inner.plain.depth += 1;
        inner
    }
}

impl Writer {
    /// The definition `slope` with what it calls.
    pub fn slope(&mut self) {
        self.text.push_str(FUNCTIONS);
        // A place of the caller to add to; without one, machine code can be made of the erasure.
        let adds = self.rng.bool();
        let scope = Linear {
            plain: Writer::parameters(),
            scalars: vec!["a'".into()],
            arrays: vec![("y'".into(), "n".into())],
            reads: vec![
                ("rx".into(), vec!["n".into()]),
                ("rw".into(), vec!["m".into(), "n".into()]),
            ],
            writes: if adds { vec![("out".into(), "n".into())] } else { Vec::new() },
        };
        let mut inner = scope.clone();
        let mut body = String::new();
        for _ in 0..3 + self.rng.usize(0..5) {
            let statement = self.linear_statement(&mut inner, 1);
            let _ = writeln!(body, "  {statement}");
        }
        // Arrays are used up, so that their tangents matter.
        let mut result = self.linear(&inner, 2);
        for (array, size) in inner.arrays.clone() {
            let (name, r, c, i) =
                (self.linear_name("t"), self.name("r"), self.linear_name("c"), self.name("i"));
            let step = format!("{{ 0.5 * {c} + rd {r}[{i}] }}");
            let scan = format!("scan up ({i} < {size}) carry (; {c} = zero f64) {step}");
            let _ = writeln!(body, "  {name} = rd {r} = {array} {{ {scan} }}");
            result = format!("({result} + {name})");
        }
        let value = self.float(&inner.plain, 2);
        let out = if adds { ", wr out: [n]f64" } else { "" };
        let head = format!("{SLOPE}{out}) -> (f64; f64)");
        let _ =
            writeln!(self.text, "{head} = {{\n{body}  value = {value}\n  (value; {result})\n}}");
    }

    fn linear_name(&mut self, base: &str) -> String {
        format!("{}'", self.name(base))
    }

    /// A small non-linear factor.
    fn factor(&mut self, scope: &Linear) -> String {
        self.atom(&scope.plain)
    }

    /// A linear scalar.
    fn linear(&mut self, scope: &Linear, depth: usize) -> String {
        if self.fuel == 0 || depth > 5 {
            return self.linear_atom(scope);
        }
        self.fuel -= 1;
        match self.rng.u8(0..12) {
            0 | 1 => {
                let factor = self.factor(scope);
                format!("{factor} * {}", self.linear(scope, depth + 1))
            }
            2 | 3 => {
                format!("({} + {})", self.linear(scope, depth + 1), self.linear(scope, depth + 1))
            }
            4 => format!("(-{})", self.linear_atom(scope)),
            5 => {
                let condition = self.condition(&scope.plain);
                let (x, y) = (self.linear_atom(scope), self.linear_atom(scope));
                format!("select({condition}, {x}, {y})")
            }
            6 => {
                let condition = self.condition(&scope.plain);
                let (x, y) = (self.linear(scope, depth + 1), self.linear(scope, depth + 1));
                format!("(if {condition} {{ {x} }} else {{ {y} }})")
            }
            7 => {
                let (s, y) = (self.factor(scope), self.linear(scope, depth + 1));
                let reads: Vec<_> = scope.reads.iter().filter(|(_, s)| s.len() == 1).collect();
                let Some((place, sizes)) = self.pick(&reads).map(|r| (*r).clone()) else {
                    return y;
                };
                let like: Vec<_> = scope
                    .plain
                    .arrays
                    .iter()
                    .filter(|(_, s)| *s == sizes)
                    .map(|(v, _)| v.clone())
                    .collect();
                let Some(v) = self.pick(&like).cloned() else { return y };
                self.note("call with a linear value and a place to read");
                format!("project({s}, {v}; {y}; {place})")
            }
            _ => self.linear_atom(scope),
        }
    }

    fn linear_atom(&mut self, scope: &Linear) -> String {
        if self.rng.bool()
            && let Some(read) = self.read(scope)
        {
            return read;
        }
        match self.pick(&scope.scalars).cloned() {
            Some(name) => name,
            None => self.read(scope).unwrap_or("zero f64".into()),
        }
    }

    /// `rd r[i]` at indices in scope.
    fn read(&mut self, scope: &Linear) -> Option<String> {
        let (name, sizes) = self.pick(&scope.reads)?.clone();
        let places = Scope { arrays: vec![(name.clone(), sizes.clone())], ..scope.plain.clone() };
        if sizes.is_empty() {
            return Some(format!("rd {name}"));
        }
        Some(format!("(rd {})", self.element(&places)?))
    }

    fn within_linear(&mut self, scope: &Linear, size: &str) -> (Linear, String) {
        let mut inner = scope.in_loop();
        let i = self.name("i");
        inner.plain.indices.push((i.clone(), size.into()));
        (inner, i)
    }

    /// The size of some array, and a non-linear array of that size.
    fn sized(&mut self, scope: &Linear) -> (String, String) {
        // A scan by hand needs a size that is plainly not negative.
        let plain = self.vector(&scope.plain).filter(|(_, size)| !size.contains(' '));
        plain.unwrap_or(("x".into(), "n".into()))
    }

    /// A statement with linear parts; what it binds is in scope afterwards.
    fn linear_statement(&mut self, scope: &mut Linear, depth: usize) -> String {
        self.fuel = self.fuel.saturating_sub(1);
        let (v, size) = self.sized(scope);
        match self.rng.u8(0..24) {
            0 | 1 => self.linear_sum(scope, &size, depth),
            2 | 3 => self.linear_carry(scope, &v, &size, depth),
            4 => self.linear_map(scope, &v, &size, depth),
            5 => self.linear_collect(scope, &size, depth),
            6 | 7 => self.additions(scope, &size, depth),
            8 if depth < 3 => self.linear_region(scope, depth),
            9 => {
                self.note("linear tuple");
                let (x, y) = (self.linear(scope, depth), self.linear(scope, depth));
                let (p, q) = (self.linear_name("p"), self.linear_name("q"));
                scope.scalars.extend([p.clone(), q.clone()]);
                format!("#({p}, {q}) = #({x}, {y})")
            }
            10 | 11 => {
                self.note("call of a mixed function");
                let (s, y) = (self.factor(scope), self.linear(scope, depth));
                let (z, t) = (self.name("z"), self.linear_name("t"));
                scope.plain.floats.push(z.clone());
                scope.scalars.push(t.clone());
                format!("({z}; {t}) = turn({s}; {y})")
            }
            12 => {
                self.note("sum of linear arrays");
                let Some((one, size)) = self.pick(&scope.arrays).cloned() else {
                    return self.linear_copy(scope);
                };
                let same: Vec<_> =
                    scope.arrays.iter().filter(|(_, s)| *s == size).cloned().collect();
                let other = self.pick(&same).cloned().map_or(one.clone(), |(name, _)| name);
                let (name, factor) = (self.linear_name("y"), self.factor(scope));
                scope.arrays.push((name.clone(), size));
                format!("{name} = {one} + {factor} * {other}")
            }
            13 => {
                self.note("function of linear arrays");
                let fit: Vec<_> = scope
                    .arrays
                    .iter()
                    .flat_map(|(y, s)| {
                        let same = move |(v, sizes): &&(String, Vec<String>)| {
                            sizes.len() == 1 && sizes[0] == *s && !v.contains('[')
                        };
                        let plain = scope.plain.arrays.iter().filter(same);
                        plain.map(move |(v, _)| (v.clone(), y.clone(), s.clone()))
                    })
                    .collect();
                let Some((v, y, size)) = self.pick(&fit).cloned() else {
                    return self.linear_copy(scope);
                };
                let name = self.linear_name("y");
                scope.arrays.push((name.clone(), size));
                format!("{name} = scaled({v}; 2.0 * {y})")
            }
            14 => {
                self.note("zero of an array");
                let name = self.linear_name("y");
                scope.arrays.push((name.clone(), size.clone()));
                format!("{name} = zero [{size}]f64")
            }
            15 => {
                self.note("linear cast");
                let Some((one, size)) = self.pick(&scope.arrays).cloned() else {
                    return self.linear_copy(scope);
                };
                let (name, m) = (self.linear_name("y"), self.name("m"));
                scope.arrays.push((name.clone(), m.clone()));
                scope.plain.bounds.push(m.clone());
                format!("{m} = max({size}, 0); {name} = cast {one} : [{m}]f64")
            }
            16 if depth == 1 => {
                self.note("call with a computed size");
                let (m, y, t) = (self.name("m"), self.name("y"), self.linear_name("y"));
                scope.plain.bounds.push(m.clone());
                scope.plain.arrays.push((y.clone(), vec![m.clone()]));
                scope.arrays.push((t.clone(), m.clone()));
                format!("({m}, {y}; {t}) = halved(x; ; rx)")
            }
            17 => {
                self.note("explicit dup and drop");
                let value = self.linear(scope, depth);
                let (x, y) = (self.linear_name("t"), self.linear_name("t"));
                scope.scalars.push(x.clone());
                format!("(; {x}, {y}) = dup ({value}); drop {y}")
            }
            20 => {
                self.note("cast beside linear code");
                let (m, y) = (self.name("m"), self.name("y"));
                scope.plain.bounds.push(m.clone());
                scope.plain.arrays.push((y.clone(), vec![m.clone()]));
                let value = self.linear_carry(scope, &y, &m, depth);
                format!("{m} = max({size}, 0); {y} = cast {v} : [{m}]f64; {value}")
            }
            22 | 23 => {
                let Some((one, size)) = self.pick(&scope.arrays).cloned() else {
                    return self.linear_copy(scope);
                };
                let (name, rest) = (self.linear_name("y"), self.linear_name("y"));
                let (part, m) = (self.linear_name("t"), self.name("m"));
                self.note("linear array with another part");
                scope.arrays.push((name.clone(), size.clone()));
                // An array may have no elements, and then the part has none.
                let (factor, at) = (self.factor(scope), format!("[0 ..+ {m}]"));
                let take = format!("(; {rest}, {part}) = take {one}{at}");
                format!(
                    "{m} = min(1, {size}); {take}; {name} = {rest} with {at} = {factor} * {part}"
                )
            }
            18 | 19 => {
                let name = self.name("t");
                let value = self.float(&scope.plain, depth + 1);
                scope.plain.floats.push(name.clone());
                format!("{name} = {value}")
            }
            _ => self.linear_copy(scope),
        }
    }

    fn linear_copy(&mut self, scope: &mut Linear) -> String {
        let (name, value) = (self.linear_name("t"), self.linear(scope, 2));
        scope.scalars.push(name.clone());
        format!("{name} = {value}")
    }

    /// `t' = wr r: f64 { .. r += e' .. }`.
    fn linear_sum(&mut self, scope: &mut Linear, size: &str, depth: usize) -> String {
        let (inner, i) = self.within_linear(scope, size);
        let (name, r, value) =
            (self.linear_name("t"), self.name("r"), self.linear(&inner, depth + 2));
        scope.scalars.push(name.clone());
        if self.rng.bool() {
            self.note("linear sum by lanes");
            let scan = format!("scan par ({i} < {size}) {{ {r} += {value} }}");
            return format!("{name} = wr lanes {r}: f64 {{ {scan} }}");
        }
        self.note("linear sum in nested loops");
        let (deeper, j) = self.within_linear(&inner, size);
        let more = self.linear(&deeper, depth + 2);
        let direction = self.one(&["up", "down", "par"]);
        let nested = format!("scan par ({j} < {i}) {{ {r} += {more} }}");
        let scan = format!("scan {direction} ({i} < {size}) {{ {r} += {value}; {nested} }}");
        format!("{name} = wr {r}: f64 {{ {scan} }}")
    }

    /// A loop with a linear carry, up or down, perhaps with a slice and a non-linear carry.
    fn linear_carry(&mut self, scope: &mut Linear, v: &str, size: &str, depth: usize) -> String {
        let start = self.linear(scope, depth + 1);
        let (mut inner, i) = self.within_linear(scope, size);
        let (c, b, name) = (self.linear_name("c"), self.name("b"), self.linear_name("t"));
        inner.plain.floats.push(b.clone());
        inner.scalars.push(c.clone());
        let direction = self.one(&["up", "down"]);
        let value = self.linear(&inner, depth + 2);
        scope.scalars.push(name.clone());
        if self.rng.bool() {
            self.note("loop with a linear carry");
            let head = format!("scan {direction} ({i} < {size}) carry (; {c} = {start})");
            return format!("{name} = {head} slice ({b} <- {v}) {{ 0.5 * {c} + {b} * {value} }}");
        }
        self.note("loop with carries of both kinds");
        let (e, last, first) = (self.name("e"), self.name("t"), self.factor(scope));
        scope.plain.floats.push(last.clone());
        let head = format!("scan {direction} ({i} < {size}) carry ({e} = {first}; {c} = {start})");
        let step = format!("{{ (tanh({e} * {b}); {e} * {c} + {value}) }}");
        format!("({last}; {name}) = {head} slice ({b} <- {v}) {step}")
    }

    /// A loop that makes a linear array, perhaps of another one.
    fn linear_map(&mut self, scope: &mut Linear, v: &str, size: &str, depth: usize) -> String {
        let same: Vec<_> = scope.arrays.iter().filter(|(_, s)| s == size).cloned().collect();
        let old = self.pick(&same).cloned();
        let (mut inner, i) = self.within_linear(scope, size);
        let (b, d, name) = (self.name("b"), self.linear_name("b"), self.linear_name("y"));
        inner.plain.floats.push(b.clone());
        let slice = match old {
            Some((old, _)) => {
                self.note("slice of a linear array");
                inner.scalars.push(d.clone());
                format!("slice ({b} <- {v}; {d} <- {old})")
            }
            None => format!("slice ({b} <- {v})"),
        };
        let value = self.linear(&inner, depth + 2);
        scope.arrays.push((name.clone(), size.into()));
        format!("{name} = scan par ({i} < {size}) {slice} {{ (; {b} * {value}) }}")
    }

    /// A loop with a linear carry that collects.
    fn linear_collect(&mut self, scope: &mut Linear, size: &str, depth: usize) -> String {
        self.note("loop that collects linear values");
        let start = self.linear_atom(scope);
        let (inner, i) = self.within_linear(scope, size);
        let (c, t, y) = (self.linear_name("c"), self.linear_name("t"), self.linear_name("y"));
        let value = self.linear(&inner, depth + 2);
        let direction = self.one(&["up", "down"]);
        scope.scalars.push(t.clone());
        scope.arrays.push((y.clone(), size.into()));
        let head = format!("scan {direction} ({i} < {size}) carry (; {c} = {start})");
        format!("(; {t}, {y}) = {head} {{ (; 0.5 * {c}, {c} + {value}) }}")
    }

    /// Additions into places: of `out`, or of a new array.
    fn additions(&mut self, scope: &mut Linear, size: &str, depth: usize) -> String {
        let (place, size, name) = match self.pick(&scope.writes).cloned() {
            Some((place, size)) if self.rng.bool() => (place, size, None),
            _ => (self.name("g"), size.to_string(), Some(self.linear_name("y"))),
        };
        let mut inner = scope.clone();
        if name.is_some() {
            inner.writes = vec![(place.clone(), size.clone())];
        }
        let mut statements = Vec::new();
        for _ in 0..1 + self.rng.usize(0..2) {
            statements.extend(self.addition(&inner, &place, &size, depth));
        }
        match name {
            Some(name) => {
                scope.arrays.push((name.clone(), size.clone()));
                format!("{name} = wr {place}: [{size}]f64 {{ {} }}", statements.join("; "))
            }
            None if statements.is_empty() => self.linear_copy(scope),
            None => statements.join("; "),
        }
    }

    fn addition(
        &mut self,
        scope: &Linear,
        place: &str,
        size: &str,
        depth: usize,
    ) -> Option<String> {
        match self.rng.u8(0..5) {
            0 => {
                self.note("scattered linear addition");
                let fit = |(_, _, target): &&(String, String, String)| target == size;
                let maps: Vec<_> = scope.plain.maps.iter().filter(fit).cloned().collect();
                let (map, length, _) = self.pick(&maps)?.clone();
                let (inner, i) = self.within_linear(scope, &length);
                let value = self.linear(&inner, depth + 2);
                Some(format!("scan par ({i} < {length}) {{ {place}[{map}[{i}]] += {value} }}"))
            }
            1 => {
                self.note("slices of places");
                let (mut inner, i) = self.within_linear(scope, size);
                let (h, r) = (self.name("h"), self.name("r"));
                let fit = |(_, s): &&(String, Vec<String>)| s.len() == 1 && s[0] == size;
                let reads: Vec<_> = scope.reads.iter().filter(fit).cloned().collect();
                let read = match self.pick(&reads).cloned() {
                    Some((read, _)) => {
                        inner.reads.retain(|(name, _)| *name != read);
                        inner.reads.push((r.clone(), Vec::new()));
                        format!(", {r} <- {read}")
                    }
                    None => String::new(),
                };
                let value = self.linear(&inner, depth + 2);
                let head = format!("scan par ({i} < {size}) slice (; ; {h} <- {place}{read})");
                Some(format!("{head} {{ {h} += {value} }}"))
            }
            2 => {
                self.note("call that adds to a place");
                let fit = |(v, s): &&(String, Vec<String>)| {
                    s.len() == 1 && s[0] == size && !v.contains('[')
                };
                let arrays: Vec<_> = scope.plain.arrays.iter().filter(fit).cloned().collect();
                let (v, _) = self.pick(&arrays)?.clone();
                let value = self.linear(scope, depth + 2);
                Some(format!("spread({v}; {value}; {place})"))
            }
            3 => {
                self.note("addition in a branch");
                let (inner, i) = self.within_linear(scope, size);
                let (condition, value) =
                    (self.condition(&inner.plain), self.linear(&inner, depth + 2));
                let then = format!("if {condition} {{ {place}[{i}] += {value} }} else {{ }}");
                Some(format!("scan up ({i} < {size}) {{ {then} }}"))
            }
            _ => {
                let (inner, i) = self.within_linear(scope, size);
                let value = self.linear(&inner, depth + 2);
                let direction = self.one(&["up", "down", "par"]);
                Some(format!("scan {direction} ({i} < {size}) {{ {place}[{i}] += {value} }}"))
            }
        }
    }

    /// `t' = rd r = y' { .. }`, of an array or a scalar.
    fn linear_region(&mut self, scope: &mut Linear, depth: usize) -> String {
        self.note("rd region");
        let (r, name) = (self.name("r"), self.linear_name("t"));
        let mut inner = scope.clone();
        let value = match self.pick(&scope.arrays).cloned() {
            Some((array, size)) if self.rng.u8(0..3) > 0 => {
                inner.reads.push((r.clone(), vec![size]));
                array
            }
            _ => {
                inner.reads.push((r.clone(), Vec::new()));
                self.linear(scope, depth + 2)
            }
        };
        let mut body = String::new();
        for _ in 0..1 + self.rng.usize(0..2) {
            let _ = write!(body, "{}; ", self.linear_statement(&mut inner, depth + 1));
        }
        let result = self.linear(&inner, depth + 1);
        scope.scalars.push(name.clone());
        format!("{name} = rd {r} = {value} {{ {body}{result} }}")
    }
}
