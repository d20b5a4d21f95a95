//! Blanks between tokens on one line.

use crate::lex::{Kind, Token};

/// What the blanks around a token depend on beyond its text.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    Plain,
    /// A sign, a `!`, or the `=` of a field pattern: joined to what follows.
    Prefix,
    /// A bracket of a loop's head: what follows is an expression of its own.
    Head,
    /// The `:` of a cast.
    CastColon,
}

/// The roles of all tokens of a text.
pub(super) struct Spacing<'t, 's> {
    list: &'t [Token<'s>],
    roles: Vec<Role>,
}

impl<'t, 's> Spacing<'t, 's> {
    pub fn new(list: &'t [Token<'s>], close: &[u32]) -> Self {
        let mut spacing = Spacing { list, roles: vec![Role::Plain; list.len()] };
        let mut depth = 0usize;
        // The depths of casts whose `:` is still to come.
        let mut casts: Vec<usize> = Vec::new();
        for (k, token) in list.iter().enumerate() {
            let before = k.checked_sub(1);
            let role = match (token.kind, token.text) {
                (Kind::Symbol, "!" | "@") => Role::Prefix,
                (Kind::Symbol, "-") if !spacing.ends_operand(before) => Role::Prefix,
                (Kind::Symbol, "=") if before.is_some_and(|b| is_one_of(&list[b], &["(", ","])) => {
                    Role::Prefix
                }
                (Kind::Symbol, ":") if casts.last() == Some(&depth) => {
                    casts.pop();
                    Role::CastColon
                }
                (Kind::Symbol, "(") if before.is_some_and(|b| spacing.heads(b)) => {
                    spacing.roles[close[k] as usize] = Role::Head;
                    Role::Head
                }
                (Kind::Keyword, "cast") => {
                    casts.push(depth);
                    Role::Plain
                }
                _ => spacing.roles[k],
            };
            spacing.roles[k] = role;
            if close[k] != 0 {
                depth += 1;
            } else if is_one_of(token, &[")", "]", "}"]) {
                depth = depth.saturating_sub(1);
            }
        }
        spacing
    }

    /// Whether a bracket behind this token is the head of a loop.
    fn heads(&self, k: usize) -> bool {
        let token = &self.list[k];
        token.kind == Kind::Keyword
            && [
                "sum", "build", "map", "max", "min", "for", "fold", "carry", "slice", "up", "down",
                "par", "hist",
            ]
            .contains(&token.text)
    }

    /// Whether an operand ends with this token, so that a `-` behind it subtracts.
    fn ends_operand(&self, k: Option<usize>) -> bool {
        let Some(k) = k else { return false };
        let token = &self.list[k];
        match token.kind {
            Kind::Name | Kind::Linear | Kind::Int | Kind::Float => true,
            Kind::Keyword => matches!(token.text, "true" | "false"),
            Kind::Symbol => matches!(token.text, ")" | "]" | "}") && self.roles[k] != Role::Head,
            _ => false,
        }
    }

    /// Whether a token is joined to the one behind it.
    pub fn is_prefix(&self, k: usize) -> bool {
        self.roles[k] == Role::Prefix
    }

    /// Whether a blank stands between two tokens that follow each other.
    pub fn between(&self, a: usize, b: usize) -> bool {
        let (left, right) = (&self.list[a], &self.list[b]);
        if self.is_prefix(a) {
            return false;
        }
        let word = |t: &Token| t.kind != Kind::Symbol;
        let number = |k: usize| {
            let member = k.checked_sub(1).is_some_and(|m| is_one_of(&self.list[m], &["."]));
            matches!(self.list[k].kind, Kind::Int | Kind::Float) && !member
        };
        match (left.text, right.text) {
            // `1 .0` is not `1.0`.
            (_, ".") if !word(right) => number(a),
            (".", _) if !word(left) => false,
            ("(" | "[" | "#(", _) if !word(left) => false,
            (";", ";") => true,
            (_, "," | ";" | ")" | "]") if !word(right) => false,
            (_, ":") if !word(right) => self.roles[b] == Role::CastColon,
            ("^", _) | (_, "^") => false,
            (_, "(") if !word(right) => match left.kind {
                Kind::Name | Kind::Linear => false,
                Kind::Keyword => true,
                _ => left.text != "]" && !self.is_request(a),
            },
            ("]", _)
                if word(right) && right.kind != Kind::Keyword
                    || matches!(right.text, "#(" | "[") =>
            {
                false
            }
            (_, "[") if !word(right) => !self.ends_operand(Some(a)),
            _ => true,
        }
    }
}

impl Spacing<'_, '_> {
    /// Whether a bracket closes what is made of a function: `grad(f)` in `grad(f)(x)`.
    fn is_request(&self, close: usize) -> bool {
        let mut depth = 0usize;
        for k in (0..=close).rev() {
            match self.list[k].text {
                ")" => depth += 1,
                "(" => depth = depth.saturating_sub(1),
                _ => {}
            }
            if depth == 0 {
                let before = k.checked_sub(1).map(|b| &self.list[b]);
                return before.is_some_and(|t| {
                    t.kind == Kind::Name && jut_ad::language::Deriver::is_word(t.text)
                });
            }
        }
        false
    }
}

fn is_one_of(token: &Token, texts: &[&str]) -> bool {
    token.kind == Kind::Symbol && texts.contains(&token.text)
}
