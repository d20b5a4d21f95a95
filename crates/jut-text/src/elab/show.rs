//! Types and sizes in messages, and the name that was probably meant.

use jut_ir::{Function, NVar, Program, Size, Type};

/// A size as the user would write it.
pub(crate) fn size(func: &Function, size: &Size) -> String {
    let name = |v: &NVar| match Size::position_of(*v) {
        Some(k) => format!("(result {})", k + 1),
        None => func.nvars.get(*v).map_or_else(|| "?".to_string(), |d| d.name.clone()),
    };
    // The constant comes last: `n - 1`.
    let (constant, named): (Vec<_>, Vec<_>) =
        size.terms().iter().partition(|(names, _)| names.is_empty());
    let mut text = String::new();
    for (names, c) in named.into_iter().chain(constant) {
        let sign = match (text.is_empty(), *c < 0) {
            (true, false) => "",
            (true, true) => "-",
            (false, false) => " + ",
            (false, true) => " - ",
        };
        text.push_str(sign);
        let product: Vec<String> = names.iter().map(name).collect();
        let magnitude = c.unsigned_abs();
        text.push_str(&match (magnitude, product.is_empty()) {
            (_, true) => magnitude.to_string(),
            (1, false) => product.join("*"),
            (_, false) => format!("{magnitude}*{}", product.join("*")),
        });
    }
    if text.is_empty() { "0".to_string() } else { text }
}

/// A type as the user would write it.
pub(crate) fn ty(func: &Function, program: &Program, t: &Type) -> String {
    match t {
        Type::F64 => "f64".to_string(),
        Type::I64 => "i64".to_string(),
        Type::Bool => "bool".to_string(),
        Type::Data(d) => program.datas.get(*d).map_or_else(String::new, |d| d.name.clone()),
        Type::Tuple(items) => {
            let items: Vec<String> = items.iter().map(|t| ty(func, program, t)).collect();
            format!("#({})", items.join(", "))
        }
        Type::Array(..) => {
            let mut sizes = Vec::new();
            let mut inner = t;
            while let Type::Array(s, element) = inner {
                sizes.push(size(func, s));
                inner = element;
            }
            format!("[{}]{}", sizes.join(", "), ty(func, program, inner))
        }
    }
}

/// The candidate that is closest to a name, if one is close enough to be a slip.
pub(crate) fn nearest<'a>(
    name: &str,
    candidates: impl Iterator<Item = &'a str>,
) -> Option<&'a str> {
    let limit = (name.len() / 3).clamp(1, 3);
    candidates
        .filter(|c| c.len().abs_diff(name.len()) <= limit && !c.is_empty())
        .map(|c| (distance(name, c), c))
        .filter(|(d, c)| *d <= limit && *d < c.len().max(name.len()))
        .min()
        .map(|(_, c)| c)
}

/// The number of letters to change, insert, leave out or swap.
fn distance(a: &str, b: &str) -> usize {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let change = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = change.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(before[j - 2] + 1);
            }
            row.push(best);
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}
