//! Which words are keywords where they stand.
//!
//! A few words are always keywords ([`RESERVED`]). Any other word of the grammar is one only where it can be
//! nothing else, by the tokens beside it, and a name everywhere else: `data = 3.0`, `map[i]`, `up + down`,
//! `sum(x)`. No name has another word directly behind it (but for `with`), which tells most of them apart.

use super::{Kind, Token, is_range};

/// Words that are never names.
const RESERVED: &[&str] =
    &["def", "const", "case", "if", "else", "for", "while", "do", "true", "false"];

/// Words that are keywords in their places.
const CONTEXTUAL: &[&str] = &[
    "core", "data", "type", "use", "rule", "extern", "with", "scan", "up", "down", "par", "carry",
    "slice", "rd", "wr", "st", "acc", "mut", "lanes", "get", "take", "put", "dup", "drop", "zero",
    "check", "cast", "proved", "sum", "build", "map", "fold", "max", "min", "var", "assert",
    "print", "show",
];

/// Words that begin a declaration.
pub(crate) const DECLARATION: &[&str] =
    &["core", "def", "const", "data", "type", "use", "rule", "extern"];

/// Whether a word may be a keyword.
pub(super) fn may_be_keyword(word: &str) -> bool {
    RESERVED.contains(&word) || CONTEXTUAL.contains(&word)
}

/// Whether a word is always a keyword.
pub(super) fn is_reserved(word: &str) -> bool {
    RESERVED.contains(&word)
}

/// Makes names of the words that are no keywords where they stand. (Those that begin declarations or go
/// on with a loop are decided while the text is read, because newlines depend on them.)
pub(super) fn decide(list: &mut [Token], close: &[u32]) {
    let mut heads = Heads::default();
    for k in 0..list.len() {
        if list[k].kind == Kind::Keyword && !is_keyword(list, close, k, heads.is_open()) {
            list[k].kind = Kind::Name;
        }
        heads.pass(&list[k]);
    }
}

/// Which heads stand before a token that wait for their block: those of `if`, `case`, `while` and of loops. The next `{`
/// in the same brackets begins it, `if a < sum(x) {`, and belongs to no `sum` before it.
#[derive(Default)]
struct Heads {
    /// How many wait here, and in each of the brackets around.
    waiting: u32,
    around: Vec<u32>,
    /// An `else` or `do` is just before: the block is its own.
    has_block: bool,
}

impl Heads {
    fn is_open(&self) -> bool {
        self.waiting > 0
    }

    fn pass(&mut self, token: &Token) {
        let has_block = std::mem::take(&mut self.has_block);
        match (token.kind, token.text) {
            (Kind::Newline, _) | (Kind::Symbol, ";") => self.waiting = 0,
            (Kind::Keyword, "if" | "case" | "while" | "for") => self.waiting += 1,
            (Kind::Keyword, "sum" | "build" | "map" | "fold" | "max" | "min") => self.waiting += 1,
            (Kind::Keyword, "else" | "do") => self.has_block = true,
            (Kind::Symbol, "{") => {
                let behind = self.waiting.saturating_sub(u32::from(!has_block));
                self.around.push(behind);
                self.waiting = 0;
            }
            (Kind::Symbol, "(" | "[" | "#(") => self.around.push(std::mem::take(&mut self.waiting)),
            (Kind::Symbol, ")" | "]" | "}") => self.waiting = self.around.pop().unwrap_or(0),
            _ => {}
        }
    }
}

fn is_keyword(list: &[Token], close: &[u32], k: usize, in_head: bool) -> bool {
    let text = list[k].text;
    if is_reserved(text) || DECLARATION.contains(&text) || matches!(text, "carry" | "slice") {
        return true;
    }
    let before = k.checked_sub(1).map(|b| &list[b]);
    let Some(next) = list.get(k + 1) else { return false };
    let is_word =
        |t: &Token| matches!(t.kind, Kind::Name | Kind::Linear | Kind::Keyword) && t.text != "with";
    let is_number = matches!(next.kind, Kind::Int | Kind::Float);
    let keyword_before =
        |words: &[&str]| before.is_some_and(|t| t.kind == Kind::Keyword && words.contains(&t.text));
    let begins_statement = before.is_none_or(|t| t.kind == Kind::Newline || t.is("{") || t.is(";"));
    let behind_bracket = || list.get(close[k + 1] as usize + 1);
    match text {
        "with" => before.is_some_and(ends_operand) && (next.is("[") || is_word(next)),
        "up" | "down" | "par" => keyword_before(&["scan"]),
        "lanes" => keyword_before(&["wr", "acc"]) && is_word(next),
        "dup" | "drop" | "cast" | "take" => is_word(next) || is_number || next.is("("),
        "zero" => {
            let mut at = k + 1;
            while list[at].is("[") && close[at] != 0 {
                at = close[at] as usize + 1;
            }
            list.get(at).is_some_and(|t| is_word(t) || t.is("#("))
        }
        "check" | "assert" => {
            let operand = is_word(next) || is_number || next.is("(") || next.is("-");
            let operand = operand || text == "assert" && next.is("!");
            begins_statement && operand
        }
        "print" => {
            // `print [a, b]` prints a list, `print[i]` is an element of an array.
            let apart = list[k].start as usize + text.len() < next.start as usize;
            let assigned =
                |t: &Token| matches!(t.text, "=" | "+=" | "-=" | "*=" | "/=" | "[" | "." | "with");
            let is_list = next.is("[") && apart && !behind_bracket().is_some_and(assigned);
            let item = is_word(next) || is_number || next.kind == Kind::Text || next.is("!");
            begins_statement && (item || is_list)
        }
        "show" => begins_statement && next.kind == Kind::Text,
        "proved" => next.text == "cast",
        "sum" | "build" | "map" | "fold" | "max" | "min" => match next.text {
            // What is written like a loop and is none is a mistake that is best told about a loop.
            "(" => {
                let body = |t: &Token| is_word(t) || t.is("{") && !in_head;
                is_range(list, close, k + 1)
                    || !matches!(text, "max" | "min") && behind_bracket().is_some_and(body)
            }
            "{" => !in_head,
            _ => is_word(next) || is_number,
        },
        "var" => {
            let list_of_names = next.is("(") && behind_bracket().is_some_and(|t| t.is("="));
            let name = is_word(next) || next.text == "with" || next.is("#(");
            begins_statement && (name || list_of_names)
        }
        _ => is_word(next),
    }
}

/// Whether an operand ends with this token.
fn ends_operand(token: &Token) -> bool {
    match token.kind {
        Kind::Name | Kind::Linear | Kind::Int | Kind::Float => true,
        Kind::Keyword => matches!(token.text, "true" | "false"),
        Kind::Symbol => matches!(token.text, ")" | "]" | "}"),
        _ => false,
    }
}
