//! The printer of the formatter: items with possible line breaks to lines.
//!
//! After Oppen and Wadler: a group is printed on one line if it fits, together with what cannot
//! be separated from it; otherwise its line breaks are taken. Three things differ. A break inside a
//! *block* is always possible, so what stands around a block need only fit up to its `{`. A
//! *fill* decides about each of its breaks alone. And indentation is relative to the line that a group
//! begins on, so `x = a + sum (i < n) {` indents its block by one step.
//!
//! Requires balanced groups and indents. Cost: linear; looking ahead ends at the margin.

use super::WIDTH;

/// One step of indentation.
const STEP: usize = 2;

/// What a text is laid out from.
#[derive(Clone, Copy, Debug)]
pub(super) enum Item<'s> {
    Text(&'s str),
    /// A blank, unless a line ends here.
    Space,
    /// A possible line break of the group around it; else a blank, or nothing. A line can always
    /// end at a `stop`.
    Line {
        space: bool,
        stop: bool,
    },
    /// A possible line break of a fill, else a blank.
    Fill,
    /// Between statements: a line break, or `; ` in a block on one line.
    Sep,
    /// An empty line, if a line ends here.
    Blank,
    /// `// ..`, on a line of its own if it was.
    Comment {
        text: &'s str,
        alone: bool,
        blank: bool,
    },
    Open(Group),
    Close,
    /// What follows is indented by so many steps, seen from the current line.
    Indent(usize),
    Dedent,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Group {
    /// `{ .. }`, with the number of its opening token.
    Block {
        number: usize,
        forced: bool,
    },
    /// A list in brackets, a body.
    List {
        forced: bool,
    },
    /// A list in brackets that names what stands behind it: it is broken only where that cannot be.
    Pattern {
        forced: bool,
    },
    Fill,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Flat,
    Broken,
}

struct Printer<'i, 's> {
    items: &'i [Item<'s>],
    out: String,
    column: usize,
    /// The indentation of the current line.
    margin: usize,
    indents: Vec<usize>,
    modes: Vec<Mode>,
    space: bool,
    /// A line ends before the next text.
    newline: bool,
    /// With an empty line after it.
    blank: bool,
}

/// Prints the items. Gives the text and the numbers of the blocks that were broken over lines.
pub(super) fn print(items: &[Item], capacity: usize) -> (String, Vec<usize>) {
    let mut printer = Printer {
        items,
        out: String::with_capacity(capacity),
        column: 0,
        margin: 0,
        indents: Vec::new(),
        modes: Vec::new(),
        space: false,
        newline: false,
        blank: false,
    };
    let broken = printer.run();
    let mut out = printer.out;
    if !out.is_empty() {
        out.push('\n');
    }
    (out, broken)
}

impl Printer<'_, '_> {
    fn run(&mut self) -> Vec<usize> {
        let mut broken = Vec::new();
        for (k, item) in self.items.iter().enumerate() {
            match *item {
                Item::Text(text) => self.text(text),
                Item::Space => self.space = true,
                Item::Line { space, .. } => match self.modes.last() {
                    Some(Mode::Flat) => self.space |= space,
                    _ => self.newline = true,
                },
                Item::Fill => match self.fits(k + 1, None) {
                    true => self.space = true,
                    false => self.newline = true,
                },
                Item::Sep => match self.modes.last() {
                    Some(Mode::Flat) => {
                        self.text(";");
                        self.space = true;
                    }
                    _ => self.newline = true,
                },
                Item::Blank => self.blank = self.newline,
                Item::Comment { text, alone, blank } => self.comment(text, alone, blank),
                Item::Open(group) => {
                    let forced = match group {
                        Group::Block { forced, .. }
                        | Group::List { forced }
                        | Group::Pattern { forced } => forced,
                        Group::Fill => false,
                    };
                    let flat = !forced && (group == Group::Fill || self.fits(k + 1, Some(group)));
                    if let (Group::Block { number, .. }, false) = (group, flat) {
                        broken.push(number);
                    }
                    self.modes.push(if flat { Mode::Flat } else { Mode::Broken });
                }
                Item::Close => {
                    self.modes.pop();
                }
                Item::Indent(steps) => {
                    let base = if self.newline { self.indent() } else { self.margin };
                    self.indents.push(base + steps * STEP);
                }
                Item::Dedent => {
                    self.indents.pop();
                }
            }
        }
        broken
    }

    fn indent(&self) -> usize {
        self.indents.last().copied().unwrap_or(0)
    }

    fn text(&mut self, text: &str) {
        if self.newline && !self.out.is_empty() {
            self.out.push('\n');
            if self.blank && !self.out.trim_end_matches('\n').ends_with(['{', '(', '[']) {
                self.out.push('\n');
            }
            self.margin = self.indent();
            self.out.extend(std::iter::repeat_n(' ', self.margin));
            self.column = self.margin;
        } else if self.space && self.column > self.margin {
            self.out.push(' ');
            self.column += 1;
        }
        (self.newline, self.blank, self.space) = (false, false, false);
        self.out.push_str(text);
        self.column += text.len();
    }

    fn comment(&mut self, text: &str, alone: bool, blank: bool) {
        if alone || self.out.is_empty() {
            self.newline = true;
            self.blank |= blank;
            self.text(text);
        } else {
            // On the line that is about to end.
            self.out.push(' ');
            self.out.push_str(text);
        }
        (self.newline, self.blank) = (true, false);
    }

    /// Whether what begins at an item fits on the current line, up to the first place where the
    /// line can end. `group` is the group that begins there; without one it is a part of a fill.
    fn fits(&self, from: usize, group: Option<Group>) -> bool {
        let mut column = if self.newline { self.indent() } else { self.column };
        column += usize::from(self.space || group.is_none());
        // Groups that were opened on the way; negative: groups around that were left.
        let mut depth = i32::from(group.is_some());
        let inside_block = matches!(group, Some(Group::Block { .. }));
        let pattern = matches!(group, Some(Group::Pattern { .. }));
        let mut own = group.is_some();
        for item in &self.items[from..] {
            if column > WIDTH {
                return false;
            }
            // Whether the breaks of the group around this item are known to be taken.
            let broken = depth <= 0 && {
                let around = self.modes.len() as i32 - 1 + depth;
                usize::try_from(around).is_ok_and(|k| self.modes.get(k) == Some(&Mode::Broken))
                    || around < 0
            };
            match *item {
                Item::Text(text) => column += text.len(),
                Item::Space => column += 1,
                Item::Line { space, stop } => {
                    let can_end = match pattern {
                        true => !own,
                        false => stop && !(own && (depth == 1 || inside_block)),
                    };
                    if broken || can_end {
                        return true;
                    }
                    column += usize::from(space);
                }
                Item::Fill if depth <= 0 || pattern && !own => return true,
                Item::Fill => column += 1,
                Item::Sep if broken || !own || !inside_block => return true,
                Item::Sep => column += 2,
                Item::Comment { .. } => return true,
                Item::Open(_) => depth += 1,
                Item::Close => {
                    depth -= 1;
                    own &= depth > 0;
                }
                Item::Blank | Item::Indent(_) | Item::Dedent => {}
            }
        }
        column <= WIDTH
    }
}
