//! Programs about loops: in order and in any order, in each other, that carry, collect, change arrays in place and read neighbours, at both
//! ends, on rings, by columns and triangles, in numbers of all kinds, where branches and checks stand between.
//!
//! What takes several iterations at once has to show that none needs what another one makes. These programs have loops for which
//! that is so, and others that look like them.

mod chains;
mod in_place;

use super::writer::Writer;

/// What a term may read.
#[derive(Clone)]
struct Inside {
    /// Floats that have a name.
    floats: Vec<String>,
    /// Indices, and what they are below: `n` or `m`.
    indices: Vec<(String, &'static str)>,
}

/// Names of arrays of floats, by their length.
struct Arrays {
    n: Vec<String>,
    m: Vec<String>,
}

/// What all programs have: numbers of other kinds and shapes, made of the parameters.
const GIVEN: &str = "  u = build (j < m) { sin(a + f64(j)) }
  v = build (i < n) { build (j < m) { 0.5 * w[j, i] - a } }
  p = build (i < n) { (i * 7 + 3) % n }
  q = build (i < n) { i32(x[i] * 4.0) }
  z = build (i < n) { f32(x[i] * 1.25) }
  b = build (i < n) { x[i] > 0.25 }
  ps = build (i < n) { Pair(x[i], cos(x[i])) }
";

/// Statements of a program, at most.
const STATEMENTS: usize = 4;

/// Writes the definition of `main`.
pub(super) fn main(w: &mut Writer) -> String {
    let mut arrays = Arrays { n: vec!["x".into()], m: vec!["u".into()] };
    let mut outside = Inside { floats: vec!["a".into()], indices: Vec::new() };
    let mut body = String::from(GIVEN);
    for _ in 0..w.rng.usize(2..=STATEMENTS) {
        let statement = match w.rng.u8(0..15) {
            0..=2 => built(w, &mut arrays, &outside),
            3 | 4 => added(w, &arrays, &mut outside),
            5..=7 => in_place::changed(w, &mut arrays, &outside),
            8 => in_place::elements(w, &mut arrays, &outside),
            9 | 10 => in_place::rows(w, &arrays, &mut outside),
            11 => gathered(w, &mut arrays, &outside),
            12 | 13 => chains::summed(w, &arrays, &mut outside),
            _ => in_place::triangle(w, &arrays, &mut outside),
        };
        body.push_str(&statement);
    }
    let weighted = |name: &String| format!("sum (e <- {name}) {{ e * sin(1.0 + e) }}");
    let arrays = arrays.n[1..].iter().chain(&arrays.m).map(weighted);
    let all: Vec<String> = outside.floats.iter().cloned().chain(arrays).collect();
    format!("{} = {{\n{body}  {}\n}}\n", super::SIGNATURE, all.join(" + "))
}

/// An index that is below the bound as `i` is; now and then one that is not.
fn place(w: &mut Writer, i: &str, bound: &str) -> String {
    let d = w.rng.usize(1..4);
    match w.rng.u8(0..34) {
        0..=11 => i.to_string(),
        12 | 13 => format!("{bound} - 1 - {i}"),
        14 | 15 => format!("max({i} - {d}, 0)"),
        16 | 17 => format!("min({i} + {d}, {bound} - 1)"),
        18 | 19 => format!("({i} + {d}) % {bound}"),
        20 | 21 => format!("if {i} == 0 {{ {bound} - 1 }} else {{ {i} - 1 }}"),
        22 | 23 => format!("if {i} + 1 < {bound} {{ {i} + 1 }} else {{ {i} + 1 - {bound} }}"),
        24 if bound == "n" => format!("if x[{i}] > 0.0 {{ {i} }} else {{ 0 }}"),
        25..=27 if bound == "n" => format!("p[{i}]"),
        28 => format!("({i} * 3 + 1) % {bound}"),
        29 => format!("bitand({i}, 7)"),
        30 => format!("{i} / 2"),
        31 if w.rng.u8(0..4) == 0 => format!("{i} + {d} - 1"),
        _ => i.to_string(),
    }
}

/// A float that is read from an array.
fn read(w: &mut Writer, arrays: &Arrays, inside: &Inside) -> Option<String> {
    let (i, bound) = w.pick(&inside.indices)?.clone();
    let at = place(w, &i, bound);
    let other: Vec<_> = inside.indices.iter().filter(|(_, b)| *b != bound).cloned().collect();
    if let Some((j, size)) = w.pick(&other).cloned()
        && w.rng.u8(0..3) > 0
    {
        let across = place(w, &j, size);
        let cell = if bound == "n" { [at, across] } else { [across, at] };
        let [column, row] = cell;
        return Some(if w.rng.bool() {
            format!("w[{row}, {column}]")
        } else {
            format!("v[{column}, {row}]")
        });
    }
    if bound == "m" {
        let array = w.pick(&arrays.m)?.clone();
        return Some(match w.rng.u8(0..8) {
            0 => format!("x[ix[{at}]]"),
            1 => format!("f64(ix[{at}])"),
            // A divisor that is zero, and an index that is none, only where the argument says so.
            2 => format!("f64(7 / (ix[{i}] + 9))"),
            3 => format!(
                "(if {array}[{i}] > a {{ x[ix[{i}]] }} else {{ f64({i} % (ix[{at}] + 9)) }})"
            ),
            _ => format!("{array}[{at}]"),
        });
    }
    let array = w.pick(&arrays.n)?.clone();
    let d = w.rng.usize(1..3);
    Some(match w.rng.u8(0..14) {
        0 => format!("f64(z[{at}])"),
        1 => format!("(if b[{at}] {{ {array}[{i}] }} else {{ 0.5 }})"),
        2 => format!("ps[{at}].left"),
        3 => format!("ps[{i}].right"),
        4 => format!("f64(q[{at}])"),
        5 => format!("f64(p[{at}] - {i})"),
        6 => format!("(if {i} >= {d} {{ {array}[{i} - {d}] }} else {{ a }})"),
        7 => format!("(if {i} + {d} < n {{ {array}[{i} + {d}] }} else {{ -0.0 }})"),
        8 => format!("f64({i} / max({d}, p[{at}] % 3))"),
        _ => format!("{array}[{at}]"),
    })
}

fn atom(w: &mut Writer, arrays: &Arrays, inside: &Inside) -> String {
    match w.rng.u8(0..7) {
        0..=3 if let Some(read) = read(w, arrays, inside) => read,
        4 if let Some((i, _)) = w.pick(&inside.indices) => format!("f64({i})"),
        5 => w.one(&["0.5", "-1.25", "0.0", "2.0"]).to_string(),
        _ => w.pick(&inside.floats).cloned().unwrap_or_else(|| "a".into()),
    }
}

/// A float made of some others.
fn term(w: &mut Writer, arrays: &Arrays, inside: &Inside, depth: usize) -> String {
    if depth == 0 {
        return atom(w, arrays, inside);
    }
    let one = |w: &mut Writer| term(w, arrays, inside, depth - 1);
    let (x, y) = (one(w), atom(w, arrays, inside));
    match w.rng.u8(0..17) {
        0 | 1 => format!("({x} * {y})"),
        2 | 3 => format!("({x} + {y})"),
        4 => format!("({x} - {y})"),
        5 => format!("sin({x})"),
        6 => format!("exp(-abs({x}))"),
        7 => format!("sqrt(abs({x}))"),
        8 => format!("max({x}, {y})"),
        9 => format!("min({y}, {x})"),
        10 => format!("({y} / (1.0 + {x} * {x}))"),
        11 => format!("(if {y} > 0.25 {{ {x} }} else {{ {} }})", one(w)),
        12 => format!("(if {y} > {x} {{ sqrt({y} - {x}) }} else {{ 0.0 }})"),
        13 => format!("select({y} < {x}, {x}, {y})"),
        14 => format!("f64(f32({x}) * f32({y}))"),
        15 => format!("tanh({x} * {y})"),
        _ => format!("({x} / {y})"),
    }
}

/// `head (i < bound)`, and what is inside of it.
fn within(w: &mut Writer, inside: &Inside, bound: &'static str) -> (String, Inside) {
    let i = w.name("i");
    let mut deeper = inside.clone();
    deeper.indices.push((i.clone(), bound));
    (i, deeper)
}

fn bound_of(w: &mut Writer) -> &'static str {
    w.one(&["n", "n", "m"])
}

/// The range of an inner loop over `j`, perhaps a triangle, perhaps downwards.
fn range(w: &mut Writer, inside: &Inside, j: &str, bound: &str, in_order: bool) -> String {
    let same: Vec<_> = inside.indices.iter().filter(|(_, b)| *b == bound).cloned().collect();
    match (w.pick(&same).cloned(), w.rng.u8(0..8)) {
        (Some((i, _)), 0) => format!("{j} < {i}"),
        (Some((i, _)), 1) => format!("{i} < {j} < {bound}"),
        (Some((i, _)), 2) => format!("{j} <= {i}"),
        (Some((i, _)), 3) if in_order => format!("{i} > {j} >= 0"),
        (_, 4 | 5) if in_order => format!("{bound} > {j} >= 0"),
        (_, 6) => format!("1 <= {j} < {bound}"),
        _ => format!("{j} < {bound}"),
    }
}

fn policy(w: &mut Writer) -> &'static str {
    w.one(&["", "", "", "", "@segment(3) ", "@recompute ", "@revolve(2) "])
}

/// A loop in the body of another one, as statements, with a float that it makes.
fn inner(w: &mut Writer, arrays: &Arrays, inside: &mut Inside, pad: &str) -> String {
    let bound = bound_of(w);
    let (j, deeper) = within(w, inside, bound);
    let (t, s) = (w.name("t"), w.name("s"));
    let mut carried = deeper.clone();
    carried.floats.push(s.clone());
    let start = atom(w, arrays, inside);
    let text = match w.rng.u8(0..7) {
        0 | 1 => {
            let range = range(w, inside, &j, bound, false);
            format!("{t} = sum ({range}) {{ {} }}", term(w, arrays, &deeper, 2))
        }
        2 | 3 => {
            let (policy, range) = (policy(w), range(w, inside, &j, bound, true));
            let next = term(w, arrays, &carried, 2);
            format!("{t} = {policy}for ({range}) carry ({s} = {start}) {{ tanh({s} + {next}) }}")
        }
        4 => {
            let (all, e) = (w.name("y"), w.name("e"));
            let policy = policy(w);
            let (next, more) = (term(w, arrays, &carried, 2), atom(w, arrays, &carried));
            let step = format!("{e} = 0.5 * {s} + {next}; ({e}, {e} * {more})");
            let looped = format!("{policy}for ({j} < {bound}) carry ({s} = {start}) {{ {step} }}");
            let total = w.name("t");
            format!("({total}, {all}) = {looped}\n{pad}{t} = {total} - sum({all})")
        }
        5 => {
            let r = w.name("c");
            carried.floats.push(r.clone());
            let range = range(w, inside, &j, bound, true);
            let (one, two) = (term(w, arrays, &carried, 1), term(w, arrays, &carried, 1));
            let head = format!("for ({range}) carry ({s} = {start}, {r} = 0.25)");
            let both = w.name("t");
            format!(
                "({t}, {both}) = {head} {{ (sin({one}), {two} - 0.5 * {s}) }}\n{pad}{t} = {t} * {both}"
            )
        }
        _ => {
            let r = w.name("r");
            let next = term(w, arrays, &deeper, 1);
            let d = w.rng.usize(1..3);
            let (old, range) = match w.rng.bool() {
                true => (format!("{r}[{j} - {d}]"), format!("{d} <= {j} < {bound}")),
                false => (format!("{r}[{j} + {d}]"), format!("{bound} - {d} > {j} >= 0")),
            };
            format!(
                "var {r} = build ({s} < {bound}) {{ {start} * f64({s}) }}\n{pad}for ({range}) {{ \
                 {r}[{j}] = {next} - 0.5 * {old} }}\n{pad}{t} = sum({r})"
            )
        }
    };
    inside.floats.push(t);
    format!("{pad}{text}\n")
}

/// A few loops in the body of another one.
fn inner_loops(w: &mut Writer, arrays: &Arrays, inside: &mut Inside) -> String {
    (0..w.rng.usize(0..3)).map(|_| inner(w, arrays, inside, "    ")).collect()
}

/// An array whose elements are made apart.
fn built(w: &mut Writer, arrays: &mut Arrays, outside: &Inside) -> String {
    let (y, bound) = (w.name("y"), bound_of(w));
    let (i, mut inside) = within(w, outside, bound);
    let loops = inner_loops(w, arrays, &mut inside);
    let result = term(w, arrays, &inside, 3);
    match bound {
        "n" => arrays.n.push(y.clone()),
        _ => arrays.m.push(y.clone()),
    }
    format!("  {y} = build ({i} < {bound}) {{\n{loops}    {result}\n  }}\n")
}

/// A sum, by lanes or in order, or a largest element.
fn added(w: &mut Writer, arrays: &Arrays, outside: &mut Inside) -> String {
    let (t, bound) = (w.name("t"), bound_of(w));
    let (i, mut inside) = within(w, outside, bound);
    let range = range(w, outside, &i, bound, true);
    let loops = inner_loops(w, arrays, &mut inside);
    let result = term(w, arrays, &inside, 3);
    outside.floats.push(t.clone());
    match w.rng.u8(0..4) {
        0 => format!("  {t} = sum ({i} < {bound}) {{\n{loops}    {result}\n  }}\n"),
        1 => {
            let which = w.one(&["max", "min"]);
            format!(
                "  {t} = if {bound} > 0 {{\n  {which} ({i} < {bound}) {{\n{loops}    {result}\n  }}\n  }} else {{ 0.0 }}\n"
            )
        }
        2 => format!(
            "  var {t} = 0.5\n  for ({range}) {{\n{loops}    {t} = 0.75 * {t} + {result}\n  }}\n"
        ),
        _ => format!("  var {t} = 0.0\n  for ({range}) {{\n{loops}    {t} += {result}\n  }}\n"),
    }
}

/// What loops add up at places that are known when they run.
fn gathered(w: &mut Writer, arrays: &mut Arrays, outside: &Inside) -> String {
    let y = w.name("y");
    let (i, inside) = within(w, outside, "n");
    let body = term(w, arrays, &inside, 2);
    let from = term(w, arrays, &Inside { indices: vec![("e".into(), "n")], ..outside.clone() }, 1);
    let bin = match w.rng.u8(0..3) {
        0 => format!("n - 1 - p[{i}]"),
        1 => format!("p[{i}] / 2"),
        _ => format!("p[{i}] - 1"),
    };
    let values = format!("for ({i} < n) {{ ({bin}, {body}) }}");
    let text = match w.rng.u8(0..6) {
        0 => format!("hist (e < n) by max {{ {values} }}"),
        1 => format!("hist (e < n) by min from {from} {{ {values} }}"),
        2 => format!("hist (e < n) by + from {from} {{ {values} }}"),
        3 => format!("hist (e < n) by * {{ {values} }}"),
        4 => format!("hist (e < n) by fn (s, t) -> 0.5 * s + sin(t) from {from} {{ {values} }}"),
        _ => format!("acc r: [n]f64 {{ scan par ({i} < n) {{ r[p[{i}]] += {body} }} }}"),
    };
    arrays.n.push(y.clone());
    format!("  {y} = {text}\n")
}
