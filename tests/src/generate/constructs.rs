//! Statements with the constructs that programs have rarely: scans and accumulators written by hand,
//! ragged arrays, records in records, parts of matrices, names that hide a primitive, constants.

use super::writer::{Scope, Statement, Writer};
use super::{carries, elements, functions, joined, narrow, policies, updates};
use std::fmt::Write;

/// A name of what is noted, and how it is written.
type Construct = (&'static str, fn(&mut Writer, &mut Scope, usize) -> Statement);

/// All of them.
pub(crate) const CONSTRUCTS: &[Construct] = &[
    ("acc of an array, scattered", scattered),
    ("acc of an array, in places", places),
    ("acc of a scalar in nested loops", nested_sum),
    ("acc parameter of an array", scatter_call),
    ("acc parameter by lanes", tally_call),
    ("scan down", down),
    ("scan down that collects", down_collects),
    ("scan up with a slice", up_slices),
    ("column of a matrix", column),
    ("part of a row", part_of_row),
    ("ragged array of records", ragged),
    ("record with an array of floats", record_with_array),
    ("sum type with an array", sum_with_array),
    ("sum type with floats", sum_with_floats),
    ("array of sums with floats", forms),
    ("structured primitive", |w, scope, indent| w.structured(scope, indent)),
    ("structured primitive", |w, scope, indent| w.structured(scope, indent)),
    ("structured primitive", |w, scope, indent| w.structured(scope, indent)),
    ("structured primitive", |w, scope, indent| w.structured(scope, indent)),
    ("structured primitive", |w, scope, indent| w.structured(scope, indent)),
    ("structured primitive", |w, scope, indent| w.structured(scope, indent)),
    ("record in a record", deep),
    ("function of records", record_call),
    ("array of tuples", tuples),
    ("case of a truth value", case_of_bool),
    ("computed index", computed_index),
    ("several ranges", ranges),
    ("function that hides a primitive", hidden),
    ("constant", constant),
    ("name bound again", again),
    ("carry that becomes active late", late),
    ("carried arrays handed on", carries::handed_on),
    ("while", while_counted),
    ("while behind the head of a for", while_limited),
    ("while that collects", while_collects),
    ("explicit check", check),
    ("array of arrays by a call", rows_by_call),
    ("array of records", records),
    ("cast of a size", cast),
    ("array with another part", updates::replaced),
    ("carried array that changes", updates::in_loop),
    ("array of records that changes", elements::that_change),
    ("loop with far bounds", elements::far),
    ("function as an argument", functions::given),
    ("derivative in the language", functions::derivative),
    ("gradient in the language", functions::gradient),
    ("function that calls itself", functions::recursive),
    ("recursive data", functions::tree),
    ("recursive data with floats", functions::list),
    ("function with a rule", functions::with_rule),
    ("functions given to one with a rule, or that calls itself", joined::taking),
    ("histogram by an operator", joined::histogram),
    ("assigned variable", functions::variable),
    ("assigned array", functions::assigned_array),
    ("while over variables", functions::repeated),
    ("tape policy of a value", policies::chosen),
    ("tape policy of a loop", policies::scheduled),
    ("tape policy of a loop along arrays", policies::along),
    ("tape policy in a function that calls itself", policies::in_a_circle),
    ("array of its own elements", updates::of_itself),
    ("carried array that is lent", updates::lent),
    ("integers of 32 bits", narrow::integers),
    ("record with sizes as parameters", narrow::sized_record),
    ("sum with sizes as parameters", narrow::sized_sum),
    // Again: what U makes of them is rarely read by the linear half.
    ("array of records", records),
    ("array of tuples", tuples),
    ("array of tuples", tuples),
    ("cast of a size", cast),
];

/// How many of them each program has at least.
const TURNS: usize = 4;

/// In more rounds than these there is no `while`: its body may have loops of its own.
const FEW: u64 = 9;

impl Writer {
    /// One of the constructs, if what it needs is in scope.
    pub fn construct(&mut self, scope: &mut Scope, indent: usize) -> Statement {
        let (name, write) = self.one(CONSTRUCTS);
        let statement = write(self, scope, indent)?;
        self.note(name);
        Some(statement)
    }

    /// Statements with the constructs whose turn it is, in scope afterwards.
    pub fn some_constructs(&mut self, seed: u64, scope: &mut Scope) -> String {
        let mut text = String::new();
        let count = CONSTRUCTS.len();
        for k in 0..TURNS {
            let (name, write) = CONSTRUCTS[(seed as usize % count * TURNS + k) % count];
            if let Some((pattern, value)) = write(self, scope, 1) {
                self.note(name);
                let _ = writeln!(text, "  {pattern} = {value}");
            }
        }
        text
    }

    /// A scope with one more index.
    pub(super) fn within(&mut self, scope: &Scope, size: &str) -> (Scope, String) {
        let mut inner = scope.clone();
        inner.depth += 1;
        let i = self.name("i");
        inner.indices.push((i.clone(), size.into()));
        (inner, i)
    }
}

fn pad(indent: usize) -> String {
    "  ".repeat(indent)
}

fn scattered(w: &mut Writer, scope: &mut Scope, indent: usize) -> Statement {
    let (map, length, target) = w.pick(&scope.maps)?.clone();
    let (inner, i) = w.within(scope, &length);
    let body = w.float(&inner, indent + 1);
    let (name, r) = (w.name("g"), w.name("r"));
    scope.arrays.push((name.clone(), vec![target.clone()]));
    let scan = format!("scan par ({i} < {length}) {{ {r}[{map}[{i}]] += {body} }}");
    Some((name, format!("acc {r}: [{target}]f64 {{ {scan} }}")))
}

fn places(w: &mut Writer, scope: &mut Scope, indent: usize) -> Statement {
    let (v, size) = w.vector(scope)?;
    let (mut inner, i) = w.within(scope, &size);
    let (name, r, s, b) = (w.name("g"), w.name("r"), w.name("s"), w.name("b"));
    inner.floats.push(b.clone());
    let body = w.float(&inner, indent + 1);
    let more = w.float(&inner, indent + 1);
    scope.arrays.push((name.clone(), vec![size.clone()]));
    let head = format!("scan par ({i} < {size}) slice ({b} <- {v}; ; {s} <- {r})");
    let scan = format!("{head} {{ {s} += {body}; {s} += {more} }}");
    Some((name, format!("acc {r}: [{size}]f64 {{ {scan} }}")))
}

fn nested_sum(w: &mut Writer, scope: &mut Scope, indent: usize) -> Statement {
    let (_, size) = w.vector(scope)?;
    let (inner, i) = w.within(scope, &size);
    let (deeper, j) = w.within(&inner, &size);
    let (name, r) = (w.name("t"), w.name("r"));
    let once = w.float(&inner, indent + 1);
    let body = w.float(&deeper, indent + 1);
    scope.floats.push(format!("tanh({name})"));
    let loops = format!("scan par ({j} < {i}) {{ {r} += {body} }}");
    let scan = format!("scan up ({i} < {size}) {{ {r} += {once}; {loops} }}");
    Some((name, format!("acc {r}: f64 {{ {scan} }}")))
}

fn scatter_call(w: &mut Writer, scope: &mut Scope, indent: usize) -> Statement {
    let (v, size) = w.vector(scope)?;
    let (name, r, s) = (w.name("g"), w.name("r"), w.float(scope, indent));
    scope.arrays.push((name.clone(), vec![size.clone()]));
    let (one, two) = (format!("scatter({v}, {s}; ; {r})"), format!("scatter({v}, 0.5; ; {r})"));
    Some((name, format!("acc {r}: [{size}]f64 {{ {one}; {two} }}")))
}

fn tally_call(w: &mut Writer, scope: &mut Scope, _: usize) -> Statement {
    let (v, _) = w.vector(scope)?;
    let (name, r) = (w.name("t"), w.name("r"));
    scope.floats.push(format!("tanh({name})"));
    Some((name, format!("acc lanes {r}: f64 {{ tally({v}; ; {r}) }}")))
}

/// `head (i < size) carry (c = start) slice (b <- v)`, the scope of its body, and the carry.
fn scan_head(
    w: &mut Writer,
    scope: &Scope,
    head: &str,
) -> Option<(String, Scope, String, String, String)> {
    let (v, size) = w.vector(scope)?;
    let (mut inner, i) = w.within(scope, &size);
    let (c, b) = (w.name("c"), w.name("b"));
    let start = w.atom(scope);
    inner.floats.extend([c.clone(), b.clone()]);
    let text = format!("{head} ({i} < {size}) carry ({c} = {start}) slice ({b} <- {v})");
    Some((text, inner, c, b, size))
}

fn down(w: &mut Writer, scope: &mut Scope, indent: usize) -> Statement {
    let (head, inner, c, b, _) = scan_head(w, scope, "scan down")?;
    let (name, body) = (w.name("t"), w.float(&inner, indent + 1));
    scope.floats.push(name.clone());
    Some((name, format!("{head} {{ tanh(0.5 * {c} + {b} * {body}) }}")))
}

fn down_collects(w: &mut Writer, scope: &mut Scope, indent: usize) -> Statement {
    let (head, inner, c, b, size) = scan_head(w, scope, "scan down")?;
    if size.contains(' ') {
        // A scan by hand needs a size that is plainly not negative.
        return None;
    }
    let (last, all, e) = (w.name("t"), w.name("y"), w.name("e"));
    let body = w.float(&inner, indent + 1);
    scope.floats.push(last.clone());
    scope.arrays.push((all.clone(), vec![size]));
    let step = format!("{{ {e} = tanh({c} * {b} - {body}); ({e}, {b} * {e}) }}");
    Some((format!("({last}, {all})"), format!("{head} {step}")))
}

fn up_slices(w: &mut Writer, scope: &mut Scope, indent: usize) -> Statement {
    let (head, inner, c, b, _) = scan_head(w, scope, "scan up")?;
    let (name, body) = (w.name("t"), w.float(&inner, indent + 1));
    scope.floats.push(name.clone());
    Some((name, format!("{head} {{ sin({c} - {b} * {body}) }}")))
}

/// A matrix in scope with its sizes.
fn matrix(w: &mut Writer, scope: &Scope) -> Option<(String, String, String)> {
    let all: Vec<_> = scope.arrays.iter().filter(|(_, sizes)| sizes.len() == 2).collect();
    let (name, sizes) = *w.pick(&all)?;
    Some((name.clone(), sizes[0].clone(), sizes[1].clone()))
}

fn column(w: &mut Writer, scope: &mut Scope, indent: usize) -> Statement {
    let (name, rows, columns) = matrix(w, scope)?;
    let (inner, j) = w.within(scope, &columns);
    let (t, y, e) = (w.name("t"), w.name("y"), w.name("e"));
    let body = w.float(&inner, indent + 1);
    scope.floats.push(t.clone());
    let read = format!("{y} = {name}[0 .. {rows}, {j}]; sum ({e} <- {y}) {{ {e} * {body} }}");
    Some((t, format!("tanh(sum ({j} < {columns}) {{ {read} }})")))
}

fn part_of_row(w: &mut Writer, scope: &mut Scope, indent: usize) -> Statement {
    let (name, rows, columns) = matrix(w, scope)?;
    let (inner, i) = w.within(scope, &rows);
    let (t, h, y, e) = (w.name("t"), w.name("h"), w.name("y"), w.name("e"));
    let body = w.float(&inner, indent + 1);
    scope.floats.push(t.clone());
    let part = format!("{h} = {columns} / 2; {y} = {name}[{i}, 0 ..+ {h}]");
    let read = format!("{part}; sum ({e} <- {y}) {{ {e} * {body} }}");
    Some((t, format!("tanh(sum ({i} < {rows}) {{ {read} }})")))
}

fn ragged(w: &mut Writer, scope: &mut Scope, indent: usize) -> Statement {
    let (_, size) = w.vector(scope)?;
    let (inner, i) = w.within(scope, &size);
    let (deeper, j) = w.within(&inner, &size);
    let (name, y, sum) = (w.name("r"), w.name("y"), w.name("t"));
    let (r, q, ys, e) = (w.name("r"), w.name("q"), w.name("y"), w.name("e"));
    let (body, more) = (w.float(&deeper, indent + 1), w.float(&inner, indent + 1));
    scope.floats.push(sum.clone());
    let made = format!(
        "build ({i} < {size}) {{ {y} = build ({j} < {i}) {{ {body} * {more} }}; Row({i}, {y}) }}"
    );
    let inner =
        format!("{{ Row({q}, {ys}) = {r}; sum ({e} <- {ys}) {{ {e} * sin({e}) }} + f64({q}) }}");
    let read = format!("{sum} = tanh(sum ({r} <- {name}) {inner})");
    Some((name, format!("{made}\n{}{read}", pad(indent))))
}

fn record_with_array(w: &mut Writer, scope: &mut Scope, indent: usize) -> Statement {
    let (v, _) = w.vector(scope)?;
    let (name, q, ys, pad) = (w.name("r"), w.name("m"), w.name("y"), pad(indent));
    let open = format!("Row({q}, {ys}) = {name}");
    let s = w.float(scope, indent);
    scope.bounds.push(q.clone());
    scope.arrays.push((ys, vec![q]));
    Some((name, format!("cut({v}, {s})\n{pad}{open}")))
}

fn sum_with_array(w: &mut Writer, scope: &mut Scope, indent: usize) -> Statement {
    let (v, size) = w.vector(scope)?;
    let (name, q, ks, i, e) = (w.name("r"), w.name("m"), w.name("y"), w.name("i"), w.name("e"));
    let (condition, s) = (w.condition(scope), w.float(scope, indent));
    let skip = w.atom(scope);
    let t = w.name("t");
    scope.floats.push(t.clone());
    let turn = format!("{ks} = build ({i} < {size}) {{ {i} % 3 }}; Turn({size}, {ks})");
    let made = format!("if {condition} {{ {turn} }} else {{ Skip() }}");
    let body = format!("sum ({e} <- {ks}, x <- {v}) {{ f64({e}) * x }}");
    let arms = if v.contains(|c: char| !c.is_alphanumeric()) || size.contains(' ') {
        format!("Skip -> {skip}; Turn({q}, {ks}) -> sum ({e} <- {ks}) {{ f64({e}) * {s} }}")
    } else {
        format!("Skip -> {skip}; Turn(={size}, {ks}) -> {body} * {s}")
    };
    Some((name.clone(), format!("{made}\n{}{t} = tanh(case {name} {{ {arms} }})", pad(indent))))
}

/// `Flat`, `Disc(..)` or `Slab(..)`, by a condition.
fn form(w: &mut Writer, scope: &Scope, indent: usize) -> String {
    let (one, two) = (w.condition(scope), w.condition(scope));
    let (x, y, z) = (w.float(scope, indent), w.atom(scope), w.atom(scope));
    format!("if {one} {{ Disc({x}) }} else if {two} {{ Slab({y}, {z}) }} else {{ Flat() }}")
}

/// What is made of one.
fn read_form(w: &mut Writer, scope: &Scope, form: &str) -> String {
    let (r, a, b) = (w.name("b"), w.name("b"), w.name("b"));
    let (flat, x) = (w.atom(scope), w.atom(scope));
    let arms = format!("Flat -> {flat}; Disc({r}) -> {r} * {x}; Slab({a}, {b}) -> {a} * {b}");
    format!("case {form} {{ {arms} }}")
}

fn sum_with_floats(w: &mut Writer, scope: &mut Scope, indent: usize) -> Statement {
    let (name, t, made) = (w.name("r"), w.name("t"), form(w, scope, indent));
    let read = read_form(w, scope, &name);
    scope.floats.push(t.clone());
    Some((name, format!("{made}\n{}{t} = tanh({read})", pad(indent))))
}

fn forms(w: &mut Writer, scope: &mut Scope, indent: usize) -> Statement {
    let (_, size) = w.vector(scope)?;
    let (inner, i) = w.within(scope, &size);
    let (name, t, made) = (w.name("r"), w.name("t"), form(w, &inner, indent + 1));
    let read = read_form(w, &inner, &format!("{name}[{i}]"));
    scope.floats.push(t.clone());
    let sum = format!("{t} = tanh(sum ({i} < {size}) {{ {read} }})");
    Some((name, format!("build ({i} < {size}) {{ {made} }}\n{}{sum}", pad(indent))))
}

fn deep(w: &mut Writer, scope: &mut Scope, indent: usize) -> Statement {
    let (name, left, right) = (w.name("p"), w.float(scope, indent), w.atom(scope));
    scope.floats.push(format!("{name}.pair.left"));
    scope.floats.push(format!("{name}.pair.right"));
    scope.floats.push(format!("f64({name}.tag)"));
    Some((name, format!("Deep(Pair({left}, {right}), 2)")))
}

fn record_call(w: &mut Writer, scope: &mut Scope, indent: usize) -> Statement {
    let (name, left, right) = (w.name("p"), w.float(scope, indent), w.atom(scope));
    let angle = w.float(scope, indent);
    scope.floats.push(format!("{name}.left"));
    scope.floats.push(format!("{name}.right"));
    Some((name, format!("turned(Pair({left}, {right}), {angle})")))
}

fn tuples(w: &mut Writer, scope: &mut Scope, indent: usize) -> Statement {
    let (_, size) = w.vector(scope)?;
    let (inner, i) = w.within(scope, &size);
    let (name, sum, t) = (w.name("r"), w.name("t"), w.name("e"));
    let (body, more) = (w.float(&inner, indent + 1), w.atom(&inner));
    scope.floats.push(sum.clone());
    let made = format!("build ({i} < {size}) {{ #({body}, {i}, {more}) }}");
    let read = format!("{sum} = tanh(sum ({t} <- {name}) {{ {t}.0 * f64({t}.1) - {t}.2 }})");
    Some((name, format!("{made}\n{}{read}", pad(indent))))
}

fn case_of_bool(w: &mut Writer, scope: &mut Scope, indent: usize) -> Statement {
    let (name, condition) = (w.name("t"), w.condition(scope));
    let (yes, no) = (w.float(scope, indent + 1), w.float(scope, indent + 1));
    scope.floats.push(name.clone());
    Some((name, format!("case {condition} {{ true -> {yes}; false -> {no} }}")))
}

fn computed_index(w: &mut Writer, scope: &mut Scope, indent: usize) -> Statement {
    let (v, size) = w.vector(scope)?;
    let (inner, i) = w.within(scope, &size);
    let (name, body) = (w.name("t"), w.float(&inner, indent + 1));
    scope.floats.push(name.clone());
    let map = w.pick(&scope.maps).cloned();
    let index = match (map, w.rng.u8(0..4)) {
        // From an argument, which may be no index at all.
        (Some((map, ..)), 0) => format!("{map}[0] + {i} - {i}"),
        (Some((map, length, _)), 1) => format!("{map}[{i} % {length}]"),
        _ => format!("(7 * {i} + 2) % ({size})"),
    };
    Some((name, format!("tanh(sum ({i} < {size}) {{ {v}[{index}] * {body} }})")))
}

fn ranges(w: &mut Writer, scope: &mut Scope, indent: usize) -> Statement {
    let (_, first) = w.vector(scope)?;
    let (_, second) = w.vector(scope)?;
    let (inner, i) = w.within(scope, &first);
    let (inner, j) = w.within(&inner, &second);
    let (name, body) = (w.name("t"), w.float(&inner, indent + 1));
    scope.floats.push(name.clone());
    Some((name, format!("tanh(sum ({i} < {first}, 0 <= {j} < {second}) {{ {body} }})")))
}

fn hidden(w: &mut Writer, scope: &mut Scope, indent: usize) -> Statement {
    let (name, x, y) = (w.name("t"), w.float(scope, indent), w.atom(scope));
    scope.floats.push(name.clone());
    Some((name, format!("tanh(sign(softplus({x}), {y}) + prim.softplus({y}))")))
}

fn constant(w: &mut Writer, scope: &mut Scope, _: usize) -> Statement {
    let (name, x) = (w.name("t"), w.atom(scope));
    scope.floats.push(name.clone());
    Some((name, format!("quarter() * {x}")))
}

fn again(w: &mut Writer, scope: &mut Scope, indent: usize) -> Statement {
    let (name, x, y) = (w.name("t"), w.float(scope, indent), w.atom(scope));
    scope.floats.push(name.clone());
    Some((name.clone(), format!("{x}\n{}{name} = sin({name} * {y})", pad(indent))))
}

fn late(w: &mut Writer, scope: &mut Scope, indent: usize) -> Statement {
    let (_, size) = w.vector(scope)?;
    let (inner, i) = w.within(scope, &size);
    let (a, b, c, t) = (w.name("c"), w.name("c"), w.name("c"), w.name("t"));
    let body = w.float(&inner, indent + 1);
    scope.floats.push(format!("tanh({t})"));
    let carry = format!("carry ({a} = 0.5, {b} = 0.0, {c} = 1)");
    let step = format!("{{ (sin({b}), tanh({a} + {body}), {c} + 1) }}");
    let other = w.name("t");
    let count = w.name("k");
    Some((format!("({other}, {t}, {count})"), format!("for ({i} < {size}) {carry} {step}")))
}

fn while_counted(w: &mut Writer, scope: &mut Scope, indent: usize) -> Statement {
    if scope.rounds() > FEW {
        return None;
    }
    let (a, k, y, n) = (w.name("c"), w.name("k"), w.name("t"), w.name("k"));
    let start = w.float(scope, indent);
    let mut inner = scope.clone();
    inner.depth += 1;
    inner.indices.push((k.clone(), "3".into()));
    inner.floats.push(a.clone());
    let step = w.float(&inner, indent + 1);
    scope.floats.push(y.clone());
    let carry = format!("carry ({a} = {start}, {k} = 0)");
    let text = format!("while {carry} {k} < 3 && {a} < 2.5 {{ (tanh({a} + {step}), {k} + 1) }}");
    Some((format!("({y}, {n})"), text))
}

fn while_limited(w: &mut Writer, scope: &mut Scope, indent: usize) -> Statement {
    if scope.rounds() > FEW {
        return None;
    }
    let (_, size) = w.vector(scope)?;
    let (mut inner, i) = w.within(scope, &size);
    let (a, b, y, z) = (w.name("c"), w.name("c"), w.name("t"), w.name("t"));
    inner.floats.push(a.clone());
    let (first, second) = (w.float(&inner, indent + 1), w.atom(&inner));
    scope.floats.push(format!("tanh({y} + {z})"));
    let carry = format!("carry ({a} = 0.25, {b} = 0.5)");
    let step = format!("{{ (tanh({a} + {first}), {b} * {second}) }}");
    Some((format!("({y}, {z})"), format!("for ({i} < {size}) while {carry} {b} < 1.5 {step}")))
}

fn while_collects(w: &mut Writer, scope: &mut Scope, indent: usize) -> Statement {
    if scope.rounds() > FEW {
        return None;
    }
    let (a, k, y, n) = (w.name("c"), w.name("k"), w.name("t"), w.name("k"));
    let (all, v) = (w.name("x"), w.name("v"));
    let mut inner = scope.clone();
    inner.depth += 1;
    inner.indices.push((k.clone(), "4".into()));
    inner.floats.push(a.clone());
    let (step, row) = (w.float(&inner, indent + 1), w.float(&inner, indent + 1));
    let start = w.atom(scope);
    scope.floats.push(format!("tanh(sum ({v} <- {all}) {{ {v} * {y} }})"));
    let body = format!("{{ (sin({a} * {step}), {k} + 2, {row}) }}");
    let text = format!("while carry ({a} = {start}, {k} = 0) {k} < 4 {body}");
    Some((format!("({y}, {n}, {all})"), text))
}

fn check(w: &mut Writer, scope: &mut Scope, indent: usize) -> Statement {
    let (v, size) = w.vector(scope)?;
    let (name, pad) = (w.name("t"), pad(indent));
    scope.floats.push(name.clone());
    // Empty arrays end in the check.
    Some((name.clone(), format!("0.5\n{pad}check 0 < {size}\n{pad}{name} = {v}[0] * {name}")))
}

fn rows_by_call(w: &mut Writer, scope: &mut Scope, indent: usize) -> Statement {
    let (name, rows, _) = matrix(w, scope)?;
    let (inner, i) = w.within(scope, &rows);
    let (t, m, y, e) = (w.name("t"), w.name("m"), w.name("y"), w.name("e"));
    let body = w.float(&inner, indent + 1);
    scope.floats.push(t.clone());
    let read =
        format!("({m}, {y}) = half({name}[{i}]); sum ({e} <- {y}) {{ {e} * {body} }} + f64({m})");
    Some((t, format!("tanh(sum ({i} < {rows}) {{ {read} }})")))
}

fn records(w: &mut Writer, scope: &mut Scope, indent: usize) -> Statement {
    let (_, size) = w.vector(scope)?;
    let (inner, i) = w.within(scope, &size);
    let (name, sum, p) = (w.name("r"), w.name("t"), w.name("p"));
    let (left, right) = (w.float(&inner, indent + 1), w.atom(&inner));
    scope.floats.push(sum.clone());
    let made = format!("build ({i} < {size}) {{ Pair({left}, {right}) }}");
    let read = format!("tanh(sum ({p} <- {name}) {{ {p}.left * {p}.right + {p}.left }})");
    Some((name, format!("{made}\n{}{sum} = {read}", pad(indent))))
}

fn cast(w: &mut Writer, scope: &mut Scope, indent: usize) -> Statement {
    let (v, size) = w.vector(scope)?;
    let (inner, i) = w.within(scope, &size);
    let (m, y, r, t, e) = (w.name("m"), w.name("y"), w.name("r"), w.name("t"), w.name("e"));
    let (body, pad) = (w.float(&inner, indent + 1), pad(indent));
    scope.arrays.push((r.clone(), vec![size.clone()]));
    scope.floats.push(t.clone());
    let made = format!("{y} = build ({i} < {m}) {{ {body} * {v}[{i}] }}");
    let cast = format!("{r} = cast {y} : [{size}]f64");
    let read = format!("{t} = tanh(sum ({e} <- {r}) {{ {e} * sin({e}) }})");
    Some((m, format!("max({size}, 0)\n{pad}{made}\n{pad}{cast}\n{pad}{read}")))
}
