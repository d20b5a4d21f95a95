//! Texts with a few tokens changed: most are refused, and what is not must be harmless.

use crate::values::INTEGERS;
use fastrand::Rng;

/// The tokens of a text, blanks and line ends among them: joined, they are the text.
pub fn tokens(text: &str) -> Vec<&str> {
    let kind = |c: char| match c {
        'a'..='z' | 'A'..='Z' | '0'..='9' | '_' | '\'' | '.' => 0,
        ' ' => 1,
        _ => 2,
    };
    let mut tokens = Vec::new();
    let mut begin = 0;
    let mut before = None;
    for (at, c) in text.char_indices() {
        if before.is_some_and(|b| b != kind(c) || b == 2) {
            tokens.push(&text[begin..at]);
            begin = at;
        }
        before = Some(kind(c));
    }
    tokens.push(&text[begin..]);
    tokens
}

/// A text with one to three changes. Most of them take away a test: they mark an index, a cast or a
/// size in a pattern as proved, put another index where one is marked, or take out a check.
pub fn mutated(rng: &mut Rng, text: &str) -> String {
    let mut text = text.to_string();
    for _ in 0..rng.usize(1..4) {
        let next = if rng.u8(0..4) > 0 { proved(rng, &text) } else { None };
        text = next.unwrap_or_else(|| changed(rng, &text));
    }
    text
}

/// One of several places.
fn one(rng: &mut Rng, mut places: impl Iterator<Item = usize>) -> Option<usize> {
    let places: Vec<usize> = places.by_ref().collect();
    (!places.is_empty()).then(|| places[rng.usize(0..places.len())])
}

/// A text that claims a proof; none if it has no place for that.
fn proved(rng: &mut Rng, text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let in_name =
        |at: usize| bytes.get(at).is_some_and(|b| b.is_ascii_alphanumeric() || b"_']".contains(b));
    match rng.u8(0..8) {
        0..=3 => {
            // The brackets of an access stand behind a name, those of a type do not.
            let brackets = text.match_indices('[').map(|(at, _)| at);
            let at = one(rng, brackets.filter(|at| *at > 0 && in_name(at - 1)))?;
            let end = at + text[at..].find([',', ']', '.'])?;
            let index = text[at + 1..end].trim_start_matches('!');
            let index = match rng.u8(0..3) {
                0 => INTEGERS[rng.usize(0..INTEGERS.len())].to_string(),
                _ => index.to_string(),
            };
            Some(format!("{}!{index}{}", &text[..=at], &text[end..]))
        }
        4 => {
            let at = one(rng, text.match_indices("cast ").map(|(at, _)| at))?;
            Some(format!("{}proved {}", &text[..at], &text[at..]))
        }
        5 => {
            // A pattern stands before an equals sign.
            let patterns = text.match_indices(") = ").map(|(at, _)| at);
            let at = one(
                rng,
                patterns.filter(|at| {
                    text[..*at].rfind('(').is_some_and(|open| open > 0 && in_name(open - 1))
                }),
            )?;
            let open = text[..at].rfind('(')?;
            let names = text[open..at].match_indices(['(', ' ']).map(|(k, _)| open + k + 1);
            let name = one(rng, names)?;
            Some(format!("{}={}", &text[..name], &text[name..]))
        }
        _ => {
            // A check goes.
            let lines: Vec<&str> = text.lines().collect();
            let checks = (0..lines.len()).filter(|k| lines[*k].trim().starts_with("check "));
            let out = one(rng, checks)?;
            let rest = lines.iter().enumerate().filter(|(k, _)| *k != out);
            Some(rest.map(|(_, line)| format!("{line}\n")).collect())
        }
    }
}

/// A text with a token changed.
fn changed(rng: &mut Rng, text: &str) -> String {
    let mut tokens: Vec<String> = tokens(text).into_iter().map(String::from).collect();
    let is_number = |t: &String| t.starts_with(|c: char| c.is_ascii_digit());
    let is_name = |t: &String| t.starts_with(|c: char| c.is_ascii_alphabetic());
    let pick = |rng: &mut Rng, of: &dyn Fn(&String) -> bool| {
        let all: Vec<usize> = (0..tokens.len()).filter(|k| of(&tokens[*k])).collect();
        (!all.is_empty()).then(|| all[rng.usize(0..all.len())])
    };
    match rng.u8(0..8) {
        0 | 1 => {
            if let Some(k) = pick(rng, &is_number) {
                let before = tokens[..k].iter().rev().find(|t| *t != " ");
                // A loop with a large bound would not end.
                let is_bound = before.is_some_and(|t| ["<", "=", "."].contains(&t.as_str()));
                tokens[k] = match tokens[k].contains('.') {
                    true => ["0.0", "1e308", "-1.0", "5e-324"][rng.usize(0..4)].to_string(),
                    false if is_bound => ["0", "1", "7"][rng.usize(0..3)].to_string(),
                    false => INTEGERS[rng.usize(0..INTEGERS.len())].to_string(),
                };
            }
        }
        2 | 3 => {
            // A name becomes another one of the text.
            if let (Some(k), Some(other)) = (pick(rng, &is_name), pick(rng, &is_name)) {
                tokens[k] = tokens[other].clone();
            }
        }
        4 => {
            let k = rng.usize(0..tokens.len());
            tokens.remove(k);
        }
        5 => {
            let k = rng.usize(0..tokens.len());
            tokens.insert(k, tokens[k].clone());
        }
        6 => {
            let (j, k) = (rng.usize(0..tokens.len()), rng.usize(0..tokens.len()));
            tokens.swap(j, k);
        }
        _ => {
            // A text that ends early, rarely, as nearly all are refused.
            if rng.u8(0..8) == 0 {
                let k = rng.usize(0..tokens.len());
                tokens.truncate(k);
            }
        }
    }
    tokens.concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_the_text_and_changes_are_small() {
        let text = "def f[n](x: [n]f64) -> f64 = x[n - 1] // é\n";
        assert_eq!(tokens(text).concat(), text);
        let mut rng = Rng::with_seed(1);
        let all: Vec<String> = (0..100).map(|_| mutated(&mut rng, text)).collect();
        assert!(all.iter().any(|t| t.contains("x[!n - 1]")));
        assert!(all.iter().filter(|t| *t == text).count() < 20);
    }
}
