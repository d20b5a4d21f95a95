//! Messages drawn with the lines of the program that they are about, by the `ariadne` crate.
//!
//! The crate draws lines as they are, and reads a whole text for each message. So it is given an
//! [`Excerpt`]: of the lines that a message is about, what stands round its places, and of the lines
//! before them nothing but that there are some. Cost: linear in the text up to the last place, whatever its lines
//! are like; what is drawn depends on the number of places alone.

use super::{Source, Sources};
use ariadne::{Color, Config, IndexType, Label, Report, ReportKind};
use jut_ir::{Severity, Span};
use jut_runtime::stack;
use std::ops::Range;

/// Lines longer than this are shortened, in bytes.
const LONG_LINE: usize = 400;

/// How much of a long line is shown on each side of the ends of a place, in bytes.
const AROUND: usize = 60;

/// How much of a message is drawn, in characters. A long one quotes a long part of the program.
const LONG_TEXT: usize = 1000;

/// What stands for the parts that are left out.
const GAP: char = '…';

/// One message, ready to be drawn.
pub(crate) struct Message<'a> {
    pub severity: Severity,
    pub code: &'a str,
    pub text: &'a str,
    pub span: Span,
    pub labels: &'a [(Span, String)],
    pub help: Option<&'a str>,
}

/// Bytes of stack that a message is drawn in.
const ROOM: usize = 128 * 1024;

impl Message<'_> {
    /// The message with the lines that it is about, with terminal colours if wanted. Drawn on a thread of its own where little is left of the stack.
    pub fn draw(&self, sources: &Sources, colour: bool) -> String {
        if stack::fits(ROOM) {
            return self.drawn_here(sources, colour);
        }
        std::thread::scope(|scope| {
            let thread = std::thread::Builder::new().stack_size(2 * ROOM);
            let drawn = thread.spawn_scoped(scope, || self.drawn_here(sources, colour));
            let drawn = drawn.ok().and_then(|drawn| drawn.join().ok());
            drawn.unwrap_or_else(|| format!("[{}] {}\n", self.code, shortened(self.text)))
        })
    }

    fn drawn_here(&self, sources: &Sources, colour: bool) -> String {
        let (text, help) = (shortened(self.text), self.help.map(shortened));
        let (kind, tint, word) = match self.severity {
            Severity::Error => (ReportKind::Error, Color::Red, "Error"),
            Severity::Warning => (ReportKind::Warning, Color::Yellow, "Warning"),
        };
        if self.span == Span::NONE {
            let help = help.map(|h| format!("\n  Help: {h}")).unwrap_or_default();
            return format!("[{}] {word}: {text}{help}\n", self.code);
        }
        let mut excerpts: Vec<Excerpt> = Vec::new();
        let places = std::iter::once(self.span).chain(self.labels.iter().map(|(span, _)| *span));
        for span in places.clone() {
            let source = sources.of(span);
            if !excerpts.iter().any(|e| e.name == source.name) {
                let own = places.clone().filter(|s| sources.of(*s).name == source.name);
                excerpts.push(Excerpt::of(source, own.map(|s| source.range(s)).collect()));
            }
        }
        let at = |span: Span| {
            let source = sources.of(span);
            let excerpt = excerpts.iter().find(|e| e.name == source.name);
            let range = excerpt.map_or(0..0, |e| e.range(source.range(span)));
            (source.name.clone(), range)
        };
        let config = Config::default().with_index_type(IndexType::Byte).with_color(colour);
        let mut report = Report::build(kind, at(self.span))
            .with_config(config)
            .with_code(self.code)
            .with_message(&text)
            .with_label(Label::new(at(self.span)).with_message("here").with_color(tint));
        for (span, text) in self.labels {
            let label = Label::new(at(*span)).with_message(shortened(text));
            report = report.with_label(label.with_color(Color::Blue));
        }
        if let Some(help) = help {
            report = report.with_help(help);
        }
        let mut drawn = Vec::new();
        let cache = ariadne::sources(excerpts.iter().map(|e| (e.name.clone(), e.text.as_str())));
        match report.finish().write(cache, &mut drawn) {
            Ok(()) => {
                let drawn = String::from_utf8_lossy(&drawn).into_owned();
                excerpts.iter().fold(drawn, |drawn, excerpt| excerpt.place(drawn))
            }
            // Writing into memory does not fail; should the drawing crate refuse, the bare message
            // is still worth having.
            Err(_) => format!("[{}] {text}\n", self.code),
        }
    }
}

/// A text with its middle left out if it is long.
fn shortened(text: &str) -> String {
    let count = text.chars().count();
    if count <= LONG_TEXT {
        return text.to_string();
    }
    let half = LONG_TEXT / 2;
    let (head, tail) = (text.chars().take(half), text.chars().skip(count - half));
    head.chain([GAP]).chain(tail).collect()
}

/// The lines of a text that a message is about, at their numbers: those before are empty, and of long
/// ones the parts round the places are left.
struct Excerpt {
    name: String,
    text: String,
    /// Pieces of the source and where they are now, in order.
    kept: Vec<(Range<usize>, usize)>,
    /// Line and column of the first place in the source, and its column here.
    first: (usize, usize, usize),
}

impl Excerpt {
    /// The excerpt for places that lie inside a source; there is at least one.
    fn of(source: &Source, places: Vec<Range<usize>>) -> Excerpt {
        let text = &source.text;
        let ends = || places.iter().flat_map(|place| [place.start, place.end]);
        let first = text[..ends().min().unwrap_or(0)].rfind('\n').map_or(0, |k| k + 1);
        let last = ends().max().unwrap_or(0);
        let last = text[last..].find('\n').map_or(text.len(), |k| last + k);
        let mut excerpt = Excerpt {
            name: source.name.clone(),
            text: "\n".repeat(text[..first].matches('\n').count()),
            kept: Vec::new(),
            first: (1, 1, 1),
        };
        let mut start = first;
        for line in text[first..last].split('\n') {
            excerpt.line(text, start..start + line.len(), &places);
            start += line.len() + 1;
        }
        let place = places.first().map_or(0, |place| place.start);
        let (line, column) = source.position(place);
        let here = excerpt.range(place..place).start;
        let line_start = excerpt.text[..here].rfind('\n').map_or(0, |k| k + 1);
        excerpt.first = (line, column, excerpt.text[line_start..here].chars().count() + 1);
        excerpt
    }

    /// Adds a line: all of a short one, of a long one what is round the ends of places.
    fn line(&mut self, text: &str, line: Range<usize>, places: &[Range<usize>]) {
        let mut pieces: Vec<Range<usize>> = Vec::new();
        if line.len() <= LONG_LINE {
            pieces.push(line.clone());
        } else {
            let ends = places.iter().flat_map(|place| [place.start, place.end]);
            let mut ends: Vec<usize> =
                ends.filter(|at| (line.start..=line.end).contains(at)).collect();
            ends.sort_unstable();
            for at in ends {
                let from = boundary(text, at.saturating_sub(AROUND)).max(line.start);
                let to = boundary(text, (at + AROUND).min(line.end));
                match pieces.last_mut() {
                    Some(last) if from <= last.end => last.end = last.end.max(to),
                    _ => pieces.push(from..to),
                }
            }
        }
        let mut at = line.start;
        for piece in pieces {
            if piece.start > at {
                self.text.push(GAP);
            }
            at = piece.end;
            self.kept.push((piece.clone(), self.text.len()));
            self.text.push_str(&text[piece]);
        }
        if at < line.end {
            self.text.push(GAP);
        }
        self.text.push('\n');
    }

    /// Where a place of the source is here.
    fn range(&self, place: Range<usize>) -> Range<usize> {
        let at = |byte: usize| {
            let piece = self.kept.iter().rev().find(|(piece, _)| piece.start <= byte);
            piece.map_or(0, |(piece, here)| here + byte.min(piece.end) - piece.start)
        };
        at(place.start)..at(place.end)
    }

    /// Puts the column of the source in the place of the one here, in what was drawn.
    fn place(&self, drawn: String) -> String {
        let (line, column, here) = self.first;
        if column == here {
            return drawn;
        }
        let at = |column: usize| format!(" {}:{line}:{column} ", self.name);
        drawn.replacen(&at(here), &at(column), 1)
    }
}

/// The last boundary of characters up to a byte.
fn boundary(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draw(text: &str, places: &[Range<usize>]) -> String {
        let sources = Sources::new(Source { name: "m.jut".into(), text: text.into() });
        let span = |r: &Range<usize>| Span::new(0, r.start, r.end);
        let labels: Vec<_> = places[1..].iter().map(|r| (span(r), "there".to_string())).collect();
        let message = Message {
            severity: Severity::Error,
            code: "J010",
            text: "what",
            span: span(&places[0]),
            labels: &labels,
            help: None,
        };
        message.draw(&sources, false)
    }

    #[test]
    fn of_a_long_line_the_parts_round_the_places_are_drawn() {
        let mut text = "\n\n".to_string();
        text += &format!("{}é{}", "a".repeat(9_000), "b".repeat(9_000));
        text += "\nnext\n";
        let drawn = draw(&text, &[9_001..9_005, 15_000..15_001, 18_006..18_010]);
        assert!(drawn.contains("m.jut:3:9000 "), "{drawn}");
        assert!(drawn.contains("…aaa") && drawn.contains("aéb") && drawn.contains("bbb…"));
        assert!(drawn.contains("next") && drawn.matches("there").count() == 2, "{drawn}");
        assert!(drawn.lines().all(|line| line.chars().count() < 500), "{drawn}");
    }

    #[test]
    fn a_place_of_many_long_lines_is_drawn_at_its_ends() {
        let text = format!("{}\n", "ab ".repeat(1_000)).repeat(40);
        let drawn = draw(&text, std::slice::from_ref(&(3_101..90_200)));
        assert!(drawn.contains("m.jut:2:101 ") && drawn.len() < 4_000, "{drawn}");
    }

    #[test]
    fn short_lines_are_drawn_whole() {
        let line = "x".repeat(LONG_LINE);
        let drawn = draw(&format!("one\n{line}\n"), std::slice::from_ref(&(4..5)));
        assert!(drawn.contains(&line) && !drawn.contains(GAP), "{drawn}");
    }

    #[test]
    fn places_may_be_in_any_order_and_at_the_ends_of_the_text() {
        let long = "é".repeat(1_000);
        for text in ["", "a", "a\nb\n", "\n\n", &long, &format!("{long}\n{long}\n\n")] {
            let ends: Vec<usize> =
                text.char_indices().map(|(k, _)| k).chain([text.len()]).collect();
            for (k, from) in ends.iter().enumerate().step_by(97) {
                for to in ends[k..].iter().step_by(211) {
                    let drawn = draw(text, &[*from..*to, 0..0, text.len()..text.len()]);
                    assert!(drawn.contains("J010"), "{drawn}");
                }
            }
        }
    }

    #[test]
    fn a_long_message_is_shortened() {
        let long = shortened(&"é".repeat(50_000));
        assert_eq!(long.chars().count(), LONG_TEXT + 1);
        assert_eq!(shortened("short"), "short");
    }
}
