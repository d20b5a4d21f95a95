//! Which words are keywords where they stand.
//!
//! `true` and `false` are always keywords ([`LITERALS`]): where they could be names they are values. Any other word of
//! the grammar is one only where it can be nothing else, by the tokens beside it, and a name everywhere else: `data = 3.0`,
//! `map[i]`, `up + down`, `sum(x)`, `if + else`. No name has another word directly behind it (but for `with`), which tells
//! most of them apart. Before a bracket or a minus, `if`, `case` and `while` are keywords if a block follows in the
//! statement: `if (a) {`, and `y = if(a) * b`.

use super::{Kind, Token, has_sign, is_range};

/// Words that are never names.
const LITERALS: &[&str] = &["true", "false"];

/// Words that may stand directly before a block, so that no mask begins there: `else{a}`.
const BEFORE_BLOCKS: &[&str] =
    &["def", "const", "case", "if", "else", "for", "while", "do", "true", "false"];

/// Words that are keywords in their places.
const CONTEXTUAL: &[&str] = &[
    "def", "const", "case", "if", "else", "for", "while", "do", "core", "data", "type", "use",
    "rule", "extern", "with", "scan", "up", "down", "par", "carry", "slice", "rd", "wr", "st",
    "acc", "mut", "lanes", "get", "take", "put", "dup", "drop", "zero", "check", "cast", "proved",
    "sum", "build", "map", "fold", "max", "min", "var", "assert", "print", "show", "hist",
];

/// Words that begin a declaration.
pub(crate) const DECLARATION: &[&str] =
    &["core", "def", "const", "data", "type", "use", "rule", "extern"];

/// Whether a word may be a keyword.
pub(super) fn may_be_keyword(word: &str) -> bool {
    LITERALS.contains(&word) || CONTEXTUAL.contains(&word)
}

/// Whether a word may stand directly before a block.
pub(super) fn stands_before_blocks(word: &str) -> bool {
    BEFORE_BLOCKS.contains(&word)
}

/// Makes names of the words that are no keywords where they stand, and keywords of those that belong to one. (Those that
/// begin declarations or go on with a loop or branch are decided while the text is read, because newlines depend on them.)
pub(super) fn decide(list: &mut [Token], close: &[u32]) {
    let mut heads = Heads::default();
    let ends = Ends::of(list, close);
    for k in 0..list.len() {
        if list[k].kind == Kind::Keyword && !is_keyword(list, close, k, heads.is_open(), &ends) {
            list[k].kind = Kind::Name;
        }
        if list[k].kind == Kind::Keyword && list[k].text == "hist" {
            join_histogram(list, close, k);
        }
        heads.pass(&list[k]);
    }
}

/// `by` and `from` of a histogram.
fn join_histogram(list: &mut [Token], close: &[u32], hist: usize) {
    let by = close[hist + 1] as usize + 1;
    if list[by].text != "by" {
        return;
    }
    list[by].kind = Kind::Keyword;
    let mut k = by + 1;
    let is_end = |t: &Token| {
        let separates = t.kind == Kind::Symbol && matches!(t.text, ";" | "," | ")" | "]" | "}");
        separates || matches!(t.kind, Kind::Newline | Kind::End)
    };
    while !is_end(&list[k]) {
        let is_joined = k == by + 2 || ends_operand(&list[k - 1]);
        if list[k].kind == Kind::Name && list[k].text == "from" && k > by + 1 && is_joined {
            list[k].kind = Kind::Keyword;
            return;
        }
        k = if close[k] != 0 { close[k] as usize + 1 } else { k + 1 };
    }
}

/// The token behind a loop over a range, whose block is its own: `sum (v <- x) { v }`.
fn loop_end(list: &[Token], close: &[u32], k: usize) -> Option<usize> {
    let is_loop = list[k].kind == Kind::Keyword
        && matches!(list[k].text, "sum" | "build" | "map" | "fold" | "max" | "min" | "for");
    let open = k + 1;
    if !is_loop
        || !list.get(open)?.is("(")
        || !has_sign(list, close, open, &["<", "<=", "<-", ">", ">="])
    {
        return None;
    }
    let mut at = close[open] as usize + 1;
    if list.get(at)?.text == "carry" {
        at = close[at + 1] as usize + 1;
    }
    let is_block = list.get(at)?.is("{") && close[at] != 0;
    is_block.then(|| close[at] as usize + 1)
}

/// For each token the next one, itself or behind it, that a condition does not go on behind: a block, a separator, a
/// closing bracket. What stands in brackets between is passed over.
struct Ends(Vec<u32>);

impl Ends {
    fn of(list: &[Token], close: &[u32]) -> Ends {
        let mut ends = vec![0; list.len()];
        for k in (0..list.len()).rev() {
            let token = &list[k];
            let is_end = match token.kind {
                Kind::Newline | Kind::End | Kind::Doc => true,
                Kind::Symbol => matches!(
                    token.text,
                    "{" | "}"
                        | ")"
                        | "]"
                        | ";"
                        | ","
                        | ":"
                        | "->"
                        | "="
                        | "+="
                        | "-="
                        | "*="
                        | "/="
                ),
                _ => false,
            };
            let behind_loop = || ends.get(loop_end(list, close, k)?).copied();
            ends[k] = match close[k] as usize {
                _ if is_end => k as u32,
                _ if let Some(end) = behind_loop() => end,
                0 => ends.get(k + 1).copied().unwrap_or(k as u32),
                close => ends.get(close + 1).copied().unwrap_or(k as u32),
            };
        }
        Ends(ends)
    }

    /// Whether a block follows in the statement.
    fn is_before_block(&self, list: &[Token], k: usize) -> bool {
        self.0.get(k).is_some_and(|end| list[*end as usize].is("{"))
    }

    /// Whether another block follows behind the next one and its `else`: in a head, whose own block that is.
    fn is_before_two(&self, list: &[Token], close: &[u32], k: usize) -> bool {
        const MOST: usize = 100;
        let mut at = k;
        for _ in 0..MOST {
            let open = self.0[at] as usize;
            if !list[open].is("{") || close[open] == 0 {
                return false;
            }
            at = close[open] as usize + 1;
            if list[at].text != "else" || list[at].kind != Kind::Keyword {
                return self.is_before_block(list, at);
            }
            at += 1;
        }
        false
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
            (Kind::Keyword, "sum" | "build" | "map" | "fold" | "max" | "min" | "hist") => {
                self.waiting += 1
            }
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

fn is_keyword(list: &[Token], close: &[u32], k: usize, in_head: bool, ends: &Ends) -> bool {
    let text = list[k].text;
    let decided = matches!(text, "carry" | "slice" | "else" | "do" | "by" | "from");
    if LITERALS.contains(&text) || DECLARATION.contains(&text) || decided {
        return true;
    }
    let before = k.checked_sub(1).map(|b| &list[b]);
    // The name of a declaration.
    if before.is_some_and(|t| t.kind == Kind::Keyword && DECLARATION.contains(&t.text)) {
        return before.is_some_and(|t| t.text == "core" || t.text == "extern");
    }
    let Some(next) = list.get(k + 1) else { return false };
    // Behind an operand stand `with`, and `from` of a histogram.
    let is_word = |t: &Token| match t.kind {
        Kind::Name | Kind::Linear => t.text != "with",
        Kind::Keyword => !matches!(t.text, "with" | "from"),
        _ => false,
    };
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
        "if" | "case" | "while" => match next.text {
            "{" => !in_head,
            "(" | "[" | "#(" | "-" if in_head => ends.is_before_two(list, close, k + 1),
            "(" | "[" | "#(" | "-" => ends.is_before_block(list, k + 1),
            "!" => true,
            "with" => list.get(k + 2).is_some_and(|t| !t.is("[") && !is_word(t)),
            _ => is_word(next) || is_number || next.kind == Kind::Text,
        },
        "hist" => next.is("(") && behind_bracket().is_some_and(is_word),
        // The operator of a histogram.
        _ if keyword_before(&["by"]) => false,
        "for" | "sum" | "build" | "map" | "fold" | "max" | "min" => match next.text {
            // What is written like a loop and is none is a mistake that is best told about a loop.
            "(" => {
                let body = |t: &Token| is_word(t) || t.is("{") && !in_head;
                let goes_down =
                    matches!(text, "for" | "fold") && has_sign(list, close, k + 1, &[">", ">="]);
                goes_down
                    || is_range(list, close, k + 1)
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
pub(super) fn ends_operand(token: &Token) -> bool {
    match token.kind {
        Kind::Name | Kind::Linear | Kind::Int | Kind::Float => true,
        Kind::Keyword => matches!(token.text, "true" | "false"),
        Kind::Symbol => matches!(token.text, ")" | "]" | "}"),
        _ => false,
    }
}
