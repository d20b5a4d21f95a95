//! Sums over neighbours, over several ranges: their values and gradients may become one loop.

use super::{Arrays, Inside};
use crate::generate::writer::Writer;

/// Sums of what a few neighbours give.
pub(super) fn summed(w: &mut Writer, arrays: &Arrays, outside: &mut Inside) -> String {
    let mut text = String::new();
    for _ in 0..w.rng.usize(1..4) {
        let (t, i) = (w.name("t"), w.name("i"));
        let d = w.one(&[0, 0, 1, 1, 1, 2, 3]);
        let first = w.one(&["", "", "", "1 <= "]);
        let body = joint(w, arrays, outside, (&i, d), 3);
        text += &format!("  {t} = sum ({first}{i} < n - {d}) {{ {body} }}\n");
        outside.floats.push(t);
    }
    text
}

/// A float made of neighbours, mostly by operations that can be taken several at a time.
fn joint(
    w: &mut Writer,
    arrays: &Arrays,
    outside: &Inside,
    (i, d): (&str, usize),
    depth: usize,
) -> String {
    if depth == 0 {
        let array = w.pick(&arrays.n).cloned().unwrap_or_else(|| "x".into());
        let k = w.rng.usize(0..=d);
        return match w.rng.u8(0..8) {
            0 => w.pick(&outside.floats).cloned().unwrap_or_else(|| "a".into()),
            1 => w.one(&["0.5", "-1.25", "0.0"]).to_string(),
            _ => format!("{array}[{i} + {k}]"),
        };
    }
    let one = |w: &mut Writer| joint(w, arrays, outside, (i, d), depth - 1);
    let (x, y) = (one(w), one(w));
    match w.rng.u8(0..14) {
        0..=2 => format!("({x} * {y})"),
        3 | 4 => format!("({x} + {y})"),
        5..=7 => format!("({x} - {y})"),
        8 => format!("sqrt(1.0 + {x} * {x})"),
        9 => format!("({y} / (1.0 + {x} * {x}))"),
        10 => format!("({x} * {x})"),
        11 => format!("max({x}, {y})"),
        12 => format!("exp(-abs({x}))"),
        _ => format!("({x} / {y})"),
    }
}
