//! Smaller programs that still break the law that a large one breaks.
//!
//! Lines and runs of lines are taken out, and what stands in brackets is replaced by one of its parts
//! or by a constant, as long as what is left still loads and fails with the same law. What does not
//! load costs almost nothing, so every place is tried.
//!
//! *Requires*: a random program that fails. *Ensures*: the text given fails by the same law. *Cost*: a
//! few hundred runs of the laws; it gives up after a minute.

use crate::laws::{self, Options, load};
use crate::random::{Subject, engines_of};
use std::time::{Duration, Instant};

/// The law that an error message names; otherwise the message, as far as it does not depend on the
/// program.
fn law(message: &str) -> String {
    let named = message.split([' ', ':', '\n']).find(|word| {
        let digits = word.strip_prefix('P').unwrap_or("");
        (!digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit())) || *word == "errors"
    });
    let plain = || {
        let line = message.lines().next().unwrap_or_default();
        line.split(": ").skip(1).take(2).collect::<Vec<_>>().join(": ")
    };
    named.map_or_else(plain, str::to_string)
}

/// What a test says of a text.
type Test<'t> = &'t (dyn Fn(&str) -> Result<(), String> + std::panic::RefUnwindSafe);

/// What a text breaks, if it loads and breaks something.
fn broken(text: &str, func: &str, test: Test) -> Option<String> {
    load(text).ok()?.find_func(func)?;
    match std::panic::catch_unwind(|| test(text)) {
        Ok(outcome) => outcome.err().map(|message| law(&message)),
        Err(_) => Some("panic".into()),
    }
}

/// A smaller text that fails as the program does; nothing if it does not fail.
pub fn shrink(subject: Subject) -> Option<String> {
    let generated = subject.generate();
    let (func, args) = (generated.func, generated.arguments());
    smaller(generated.text, func, &|text| {
        laws::verify(text, func, &args, Options::default()).map(drop)?;
        engines_of(text, func, &args, 0).map(|_: usize| ())
    })
}

/// A smaller text of which a test says the same as of this one; nothing if it says nothing.
pub fn smaller(mut text: String, func: &str, test: Test) -> Option<String> {
    let wanted = broken(&text, func, test)?;
    let deadline = Instant::now() + Duration::from_secs(60);
    let mut fails = |text: &str| {
        Instant::now() < deadline && broken(text, func, test).as_ref() == Some(&wanted)
    };
    loop {
        let before = text.len();
        text = without_lines(text, &mut fails);
        text = with_smaller_parts(text, &mut fails);
        if text.len() == before {
            return Some(text);
        }
    }
}

/// Takes out runs of lines, long ones first.
fn without_lines(text: String, fails: &mut dyn FnMut(&str) -> bool) -> String {
    let mut lines: Vec<String> = text.lines().map(String::from).collect();
    let mut length = lines.len() / 2;
    while length > 0 {
        let mut at = 0;
        while at + length <= lines.len() {
            let rest = [&lines[..at], &lines[at + length..]].concat();
            if fails(&rest.join("\n")) {
                lines = rest;
            } else {
                at += 1;
            }
        }
        length /= 2;
    }
    lines.join("\n")
}

/// Replaces what stands in round brackets by a part of it, or by a constant.
fn with_smaller_parts(mut text: String, fails: &mut dyn FnMut(&str) -> bool) -> String {
    let mut at = 0;
    while let Some(open) = text[at..].find('(').map(|k| at + k) {
        at = open + 1;
        let Some(close) = closing(&text, open) else { continue };
        let name =
            text[..open].trim_end_matches(|c: char| c.is_alphanumeric() || c == '_' || c == '.');
        let inside = &text[open + 1..close];
        let parts = inside.split(',').map(str::to_string).chain(["0.5".into(), "zero f64".into()]);
        for part in parts.collect::<Vec<String>>() {
            let smaller = format!("{}{}{}", name, part.trim(), &text[close + 1..]);
            if smaller.len() < text.len() && fails(&smaller) {
                at = name.len();
                text = smaller;
                break;
            }
        }
    }
    text
}

/// The bracket that closes the one at `open`.
fn closing(text: &str, open: usize) -> Option<usize> {
    let mut depth = 0;
    for (k, c) in text[open..].char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(open + k);
        }
    }
    None
}
