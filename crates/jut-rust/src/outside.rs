//! Whether a list that the lines of a loop make is as long in each round. Then a list of such lists is one array, `[n, m]f64`; else its rows measure
//! themselves (`uneven`).
//!
//! ```text
//! row = for (j < size(x)) { .. }        x is a name of outside: as long
//! row = for (j < i) { .. }              i counts the rounds: not
//! ```
//!
//! Only the text of these lines is looked at, and what it does not say is not so.

use crate::template::bare;

/// Whether the lines of a loop say of a list that it is as long in each round: it is one of outside, or a row of a list of rows of one length, or
/// made with such a size.
pub(crate) fn is_list(list: &str, lines: &[String], index: &str) -> bool {
    list_is_outside(list, lines, index, 8)
}

fn list_is_outside(list: &str, lines: &[String], index: &str, depth: usize) -> bool {
    let list = bare(list);
    if depth == 0 || list == index {
        return false;
    }
    // A row of a list of rows, or a part of a known length.
    if let Some((whole, at)) = list.strip_suffix(']').and_then(|l| l.split_once('[')) {
        let part = at.rsplit_once("..+").map(|(_, size)| size.trim());
        return match part {
            Some(size) => is_outside(size, lines, index, depth - 1),
            None => {
                is_word(whole)
                    && !at.contains("..")
                    && list_is_outside(whole, lines, index, depth - 1)
            }
        };
    }
    // A field of what is outside.
    if let Some((root, fields)) = list.split_once('.')
        && is_word(root)
        && !fields.contains(['(', '[', '{', '='])
    {
        return list_is_outside(root, lines, index, depth - 1);
    }
    let made = match made(&list, lines) {
        Origin::Here(made) => made,
        from => return is_word(&list) && from == Origin::Outside,
    };
    match made.strip_prefix("for (").or(made.strip_prefix("build (")) {
        Some(loop_of) => loop_of
            .split_once(" < ")
            .and_then(|(_, rest)| rest.split_once(") {"))
            .is_some_and(|(size, _)| is_outside(size, lines, index, depth - 1)),
        None => made.starts_with('[') || list_is_outside(&made, lines, index, depth - 1),
    }
}

/// Whether a size that the lines of a loop give is the same in each round: of numbers, names of outside, and sizes of such lists.
fn is_outside(size: &str, lines: &[String], index: &str, depth: usize) -> bool {
    if depth == 0 {
        return false;
    }
    let size = bare(size);
    let mut rest = size.as_str();
    while let Some(c) = rest.chars().next() {
        if let Some(of) = rest.strip_prefix("size(") {
            let Some((list, behind)) = of.split_once(')') else { return false };
            if !list_is_outside(list, lines, index, depth - 1) {
                return false;
            }
            rest = behind;
        } else if let Some(hole) = rest.strip_prefix('$') {
            // What rustc knows is a constant.
            rest = hole.split_once('$').map_or("", |(_, behind)| behind);
        } else if c.is_alphanumeric() || c == '_' {
            let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
            let (word, behind) = rest.split_at(end);
            let known = c.is_ascii_digit() || matches!(word, "prim" | "min" | "max");
            let same = match made(word, lines) {
                _ if known => true,
                _ if word == index || varies(word, lines) => false,
                Origin::Outside => true,
                Origin::Here(value) => {
                    !value.contains('\n') && is_outside(&value, lines, index, depth - 1)
                }
                Origin::Somehow => false,
            };
            if !same {
                return false;
            }
            rest = behind;
        } else if matches!(c, '[' | '{' | '=' | '"') {
            return false;
        } else {
            rest = &rest[c.len_utf8()..];
        }
    }
    true
}

/// Whether a number is a variable of these lines, or one of outside that blocks in them assign.
fn varies(name: &str, lines: &[String]) -> bool {
    let (variable, assigned) = (format!("var {name} = "), format!("{name} = "));
    let inner = |(k, part): (usize, &str)| {
        let part = part.trim_start();
        part.starts_with(&variable)
            || k > 0 && (part.starts_with(&assigned) || is_among(name, part))
    };
    lines.iter().any(|line| bare(line).lines().enumerate().any(inner))
}

/// Whether a line gives values to several names, this one among them.
fn is_among(name: &str, line: &str) -> bool {
    line.starts_with('(')
        && line.split_once(" = ").is_some_and(|(names, _)| {
            names.split(|c: char| !c.is_alphanumeric() && c != '_').any(|one| one == name)
        })
}

fn is_word(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || c == '_')
}

/// Where a name comes from.
#[derive(PartialEq)]
enum Origin {
    /// From outside of a loop's lines.
    Outside,
    /// From this.
    Here(String),
    /// From a call, or a statement of several values.
    Somehow,
}

fn made(name: &str, lines: &[String]) -> Origin {
    let (own, called) = (format!("{name} = "), format!("$end${name}$if "));
    for line in lines {
        let line = bare(line);
        if let Some(value) = line.strip_prefix("var ").unwrap_or(&line).strip_prefix(&own) {
            return Origin::Here(value.to_string());
        }
        if is_among(name, &line) || line.contains(&called) {
            return Origin::Somehow;
        }
    }
    Origin::Outside
}
