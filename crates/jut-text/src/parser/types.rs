//! Types, of values and of functions.

use super::{Parsed, Parser};
use crate::ast::*;

impl<'s> Parser<'s, '_> {
    pub(super) fn types_in_brackets(&mut self) -> Parsed<Vec<Type<'s>>> {
        let open = self.at;
        self.expect("(")?;
        let mut types = Vec::new();
        while !self.at(")") {
            types.push(self.ty()?);
            if !self.eat(",") {
                break;
            }
        }
        self.expect_close(open, ")")?;
        Ok(types)
    }

    /// What a function gives, where its type stands: `(m: i64, y: [m]f64)`.
    fn results_in_brackets(&mut self) -> Parsed<Vec<(Option<Name<'s>>, Type<'s>)>> {
        let open = self.at;
        self.expect("(")?;
        let mut results = Vec::new();
        while !self.at(")") {
            let name = match self.is_at(self.at + 1, ":") {
                true => {
                    let name = self.name("a name")?;
                    self.expect(":")?;
                    Some(name)
                }
                false => None,
            };
            results.push((name, self.ty()?));
            if !self.eat(",") {
                break;
            }
        }
        self.expect_close(open, ")")?;
        Ok(results)
    }

    pub(super) fn ty(&mut self) -> Parsed<Type<'s>> {
        self.nested(Self::ty_here)
    }

    fn ty_here(&mut self) -> Parsed<Type<'s>> {
        let start = self.at;
        let kind = match self.peek().text {
            "[" => {
                let open = self.at;
                self.at += 1;
                let mut sizes = vec![self.additive()?];
                while self.eat(",") {
                    sizes.push(self.additive()?);
                }
                self.expect_close(open, "]")?;
                TypeKind::Array(sizes, Box::new(self.ty()?))
            }
            "#(" => {
                let open = self.at;
                self.at += 1;
                let mut items = Vec::new();
                while !self.at(")") {
                    items.push(self.ty()?);
                    if !self.eat(",") {
                        break;
                    }
                }
                self.expect_close(open, ")")?;
                TypeKind::Tuple(items)
            }
            "(" => {
                let help = "a tuple type is written `#(f64, f64)`";
                return Err(self.expected_helping("a type", help));
            }
            "fn" if self.is_at(self.at + 1, "(") => {
                self.at += 1;
                let takes = self.types_in_brackets()?;
                self.expect("->")?;
                let gives = match self.at("(") {
                    true => self.results_in_brackets()?,
                    false => vec![(None, self.ty()?)],
                };
                TypeKind::Function(takes, gives)
            }
            // Nothing is said of it.
            "fn" if self.is_at(self.at + 1, ",") || self.is_at(self.at + 1, ")") => {
                self.at += 1;
                TypeKind::Function(Vec::new(), Vec::new())
            }
            "=" => {
                let help = "a name is bound by `x = ..`, or with its type by `x: f64 = ..`";
                return Err(self.expected_helping("a type", help));
            }
            _ => {
                let name = self.path("a type")?.text;
                let open = self.at;
                if matches!(name, "f64" | "f32" | "i64" | "i32" | "bool") || !self.eat("[") {
                    TypeKind::Name(name)
                } else {
                    let mut sizes = vec![self.additive()?];
                    while self.eat(",") {
                        sizes.push(self.additive()?);
                    }
                    self.expect_close(open, "]")?;
                    TypeKind::Sized(name, sizes)
                }
            }
        };
        Ok(Type { kind, span: self.span_from(start) })
    }
}
