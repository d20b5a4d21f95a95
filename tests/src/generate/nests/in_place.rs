//! Arrays that loops change in place: cells and their neighbours, rows, triangles.

use super::{Arrays, Inside, inner, term, within};
use crate::generate::writer::Writer;

/// How an array holds numbers: what it begins with, made of an array of floats, a float as an element, half of one, and an
/// element as a float.
struct Kind {
    start: fn(&str) -> String,
    of: fn(&str) -> String,
    half: fn(&str) -> String,
    read: fn(&str) -> String,
}

const KINDS: &[Kind] = &[
    Kind {
        start: str::to_string,
        of: str::to_string,
        half: |t| format!("0.5 * {t}"),
        read: str::to_string,
    },
    Kind {
        start: |v| format!("build (i < n) {{ f32({v}[i]) }}"),
        of: |x| format!("f32({x})"),
        half: |t| format!("0.5 * {t}"),
        read: |e| format!("f64({e})"),
    },
    Kind {
        start: |v| format!("build (i < n) {{ i64({v}[i] * 8.0) }}"),
        of: |x| format!("i64({x})"),
        half: |t| format!("{t} / 2"),
        read: |e| format!("f64({e} % 100)"),
    },
    Kind {
        start: |v| format!("build (i < n) {{ i32({v}[i] * 8.0) }}"),
        of: |x| format!("i32({x})"),
        half: |t| format!("bitand({t}, 5)"),
        read: |e| format!("f64({e} % 100)"),
    },
];

/// An array that a loop changes in place, cells and their neighbours.
pub(super) fn changed(w: &mut Writer, arrays: &mut Arrays, outside: &Inside) -> String {
    let y = w.name("y");
    let (i, mut inside) = within(w, outside, "n");
    let d = w.one(&[1, 1, 1, 2, 3, 7, 8, 9]);
    let loops = match w.rng.u8(0..4) {
        0 => inner(w, arrays, &mut inside, "    "),
        _ => String::new(),
    };
    let kind = &KINDS[w.one(&[0, 0, 0, 0, 1, 2, 3])];
    let mut element = |depth| (kind.of)(&term(w, arrays, &inside, depth));
    let (one, two) = (element(2), element(2));
    let (half, sign) = ((kind.half)("t"), term(w, arrays, &inside, 1));
    let (up, from) = (format!("{i} < n - {d}"), format!("{d} <= {i} < n"));
    let (down, until) = (format!("n - {d} > {i} >= 0"), format!("n > {i} >= {d}"));
    let (forth, back) = (w.one(&[&up, &down]), w.one(&[&from, &until]));
    let exchanged = format!("({y}[{i}], {y}[{i} + {d}])");
    let (head, steps) = match w.rng.u8(0..15) {
        0 => (forth, format!("{y}[{i}] += {one}; {y}[{i} + {d}] -= {two}")),
        1 => (forth, format!("{y}[{i} + {d}] += {one}; {y}[{i}] *= {two}")),
        2 => (back, format!("{y}[{i}] = {one} * {y}[{i} - {d}]")),
        3 => (forth, format!("{y}[{i}] = {one} - {y}[{i} + {d}]")),
        4 => (forth, format!("t = {y}[{i}]; {y}[{i} + {d}] += t * {one}; {y}[{i}] = {half}")),
        5 => (back, format!("if {sign} > 0.0 {{ {y}[{i} - {d}] += {y}[{i}] }}")),
        6 => (forth, format!("{y}[n - 1 - {i}] += {one} * {y}[{i}]")),
        7 => (forth, format!("{y}[p[{i}]] += {one}; {y}[{i}] -= {two}")),
        8 => (forth, format!("{y}[({i} + {d}) % n] += {one}")),
        9 => (forth, format!("{exchanged} = ({y}[{i} + {d}], {one})")),
        10 => (&up, format!("{y}[{i} / 2] += {one}; {y}[{i} / 2 * 2] -= {two}")),
        11 => {
            let swapped = format!("({y}[{i} + {d}], {y}[{i}])");
            (forth, format!("if {y}[{i}] > {y}[{i} + {d}] {{ {exchanged} = {swapped} }}"))
        }
        12 => (
            &up,
            format!("if {i} > 0 {{ {y}[{i}] = {y}[{i} - 1] + {one} }} else {{ {y}[0] = {two} }}"),
        ),
        13 => (
            &up,
            format!("if 2 * {i} + 1 < n {{ {y}[2 * {i}] += {one}; {y}[2 * {i} + 1] -= {y}[{i}] }}"),
        ),
        _ => (&up, format!("{y}[{i}] += {one}; {y}[{i} + {d}] -= {two}; {y}[{i} + 1] += {one}")),
    };
    let start = w.pick(&arrays.n).cloned().unwrap_or_else(|| "x".into());
    let start = (kind.start)(&start);
    let mut text = format!("  var {y} = {start}\n  for ({head}) {{\n{loops}    {steps}\n  }}\n");
    let element = (kind.read)(&format!("{y}[i]"));
    let read = w.name("y");
    text.push_str(&format!("  {read} = build (i < n) {{ {element} }}\n"));
    arrays.n.push(read);
    text
}

/// An array of records or short rows that a loop changes in place.
pub(super) fn elements(w: &mut Writer, arrays: &mut Arrays, outside: &Inside) -> String {
    let (y, read) = (w.name("y"), w.name("y"));
    let (i, inside) = within(w, outside, "n");
    let (one, two) = (term(w, arrays, &inside, 2), term(w, arrays, &inside, 1));
    let d = w.one(&[1, 1, 2, 8]);
    let head = w.one(&["<", ">"]);
    let head = match head {
        "<" => format!("{i} < n - {d}"),
        _ => format!("n - {d} > {i} >= 0"),
    };
    let (start, steps, element) = match w.rng.u8(0..5) {
        0 => (
            "ps".to_string(),
            format!("{y}[{i} + {d}] = Pair({one}, {y}[{i}].left - {two})"),
            format!("{y}[i].left * {y}[i].right"),
        ),
        1 => (
            "ps".to_string(),
            format!("{y}[{i}].left += {one}; {y}[{i} + {d}].right = {two} * {y}[{i}].left"),
            format!("{y}[i].left - {y}[i].right"),
        ),
        2 => (
            "build (i < n) { [x[i], a] }".to_string(),
            format!("{y}[{i}, 0] += {one}; {y}[{i} + {d}, 1] -= {two} * {y}[{i}, 0]"),
            format!("{y}[i, 0] * {y}[i, 1]"),
        ),
        3 => (
            "build (i < n) { [x[i], a, 0.5] }".to_string(),
            format!("{y}[{i}] = [{y}[{i} + {d}, 1], {one}, {y}[{i}, 0] * {two}]"),
            format!("{y}[i, 0] - {y}[i, 2] * {y}[i, 1]"),
        ),
        _ => (
            "b".to_string(),
            format!("{y}[{i} + {d}] = {y}[{i}] && {one} > {two} || {y}[{i} + {d}]"),
            format!("if {y}[i] {{ x[i] }} else {{ 0.25 }}"),
        ),
    };
    arrays.n.push(read.clone());
    format!(
        "  var {y} = {start}\n  for ({head}) {{ {steps} }}\n  {read} = build (i < n) {{ {element} }}\n"
    )
}

/// A matrix that loops in loops change, rows and neighbours in rows.
pub(super) fn rows(w: &mut Writer, arrays: &Arrays, outside: &mut Inside) -> String {
    let (g, t) = (w.name("g"), w.name("t"));
    let (j, middle) = within(w, outside, "m");
    let (i, inside) = within(w, &middle, "n");
    let (one, two) = (term(w, arrays, &inside, 2), term(w, arrays, &inside, 1));
    let (first, second, step) = match w.rng.u8(0..8) {
        0 => (
            format!("1 <= {j} < m"),
            format!("1 <= {i} < n"),
            format!("{g}[{j}, {i}] += 0.5 * {g}[{j} - 1, {i}] + {one} * {g}[{j}, {i} - 1]"),
        ),
        1 => (
            format!("{j} < m - 1"),
            format!("{i} < n"),
            format!("{g}[{j}, {i}] += {one}; {g}[{j} + 1, {i}] -= {two}"),
        ),
        2 => (
            format!("{j} < m - 1"),
            format!("{i} < n - 1"),
            format!("{g}[{j}, {i}] = {one} - {g}[{j} + 1, {i} + 1]"),
        ),
        3 => (
            format!("m > {j} >= 0"),
            format!("n > {i} >= 1"),
            format!("{g}[{j}, {i}] -= {g}[{j}, {i} - 1] * {one}"),
        ),
        4 => (
            format!("{j} < m"),
            format!("{i} < n"),
            format!("{g}[{j}, n - 1 - {i}] += {one} * {g}[{j}, {i}]"),
        ),
        5 => (
            format!("{j} < m"),
            format!("{i} < n"),
            format!("{g}[m - 1 - {j}, {i}] += {one} * {g}[{j}, {i}]"),
        ),
        6 => (
            format!("1 <= {j} < m"),
            format!("{i} < n"),
            format!("{g}[{j}, {i}] += {g}[0, {i}] * {one}"),
        ),
        _ => (
            format!("{j} < m"),
            format!("{i} < n"),
            format!("{g}[{j}, {i}] = {g}[({j} + 1) % m, {i}] + {one}"),
        ),
    };
    outside.floats.push(t.clone());
    let loops = match w.rng.bool() {
        true => format!("  for ({first}) {{ for ({second}) {{ {step} }} }}\n"),
        false => format!("  for ({second}) {{ for ({first}) {{ {step} }} }}\n"),
    };
    format!(
        "  var {g} = w\n{loops}  {t} = sum (i < m) {{ sum (j < n) {{ {g}[i, j] * f64(i - 2 * j) }} }}\n"
    )
}

/// The lower triangle of a matrix in one array, row behind row.
pub(super) fn triangle(w: &mut Writer, arrays: &Arrays, outside: &mut Inside) -> String {
    let (h, l, t) = (w.name("h"), w.name("l"), w.name("t"));
    let (i, middle) = within(w, outside, "n");
    let (j, inside) = within(w, &middle, "n");
    let body = term(w, arrays, &inside, 2);
    let at = format!("{i} * ({i} + 1) / 2 + {j}");
    outside.floats.push(t.clone());
    let made = format!("  {h} = n * (n + 1) / 2\n  {l} = build (k < {h}) {{ f64(k % 5) - a }}\n");
    match w.rng.u8(0..3) {
        0 => {
            format!("{made}  {t} = sum ({i} < n) {{ sum ({j} <= {i}) {{ {l}[{at}] * {body} }} }}\n")
        }
        1 => format!(
            "{made}  var {t}s = {l}\n  for ({i} < n) {{ for ({j} <= {i}) {{ {t}s[{at}] += {body} }} }}\n  {t} = sum({t}s)\n"
        ),
        _ => format!(
            "{made}  {t} = sum ({i} < n) {{ for ({j} < {i}) carry (s = a) {{ {l}[{at}] - 0.5 * s * {body} }} }}\n"
        ),
    }
}
