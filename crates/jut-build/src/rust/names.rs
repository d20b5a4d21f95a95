//! What the names of a function mean, as far as its file tells.

use super::known::{Names, last, word};
use super::meant;
use super::types::{data_type, leaked, type_of};
use jut::rust::{Filled, Type};
use jut_rust::file::Function;
use jut_rust::template::Hole;
use proc_macro2::TokenStream;
use std::collections::HashSet;

impl Names<'_> {
    /// What fills the holes of a function.
    pub fn fillings(&self, holes: &[Hole]) -> Vec<Filled> {
        let mut overloaded = HashSet::new();
        self.types.take();
        let each = holes.iter().enumerate().map(|(k, hole)| {
            let operator = self.operator(hole, &overloaded);
            overloaded.extend(operator.is_some().then(|| format!("__jut_type_{k}")));
            let filled = operator.unwrap_or_else(|| self.filling(hole));
            self.types.borrow_mut().push(filled.gives());
            filled
        });
        each.collect()
    }

    fn filling(&self, hole: &Hole) -> Filled {
        match hole {
            Hole::Bound(ty, name) | Hole::Maker(ty, name, _) => {
                self.guess(format!("`{name}` of the type parameter `{ty}`"));
                elsewhere(&format!("{ty}_{name}"))
            }
            Hole::Function(path) | Hole::Call(path, _) => self.named(&path.to_string()),
            Hole::Method(owner, key) => self.method(owner, *key),
            // Of numbers: those of structs are found before. A literal beside what another function gives is of the type that the operator takes.
            Hole::Operator(_, left, right) => {
                let numbers = [left, right].map(|operand| meant::meant(self, operand));
                if !numbers.iter().all(|ty| matches!(ty, Some(Type::F64))) {
                    self.guess("an operator of something whose type is not written");
                }
                Filled::function("", Type::F64, &[]).of(&[Type::F64, Type::F64])
            }
            Hole::Default(path) => {
                self.guess(format!("`{path}::default()`"));
                let call = format!("{}_default()", last(&path.to_string()));
                Filled::function(&call, data_type(self.file, Hole::Data(path.clone())), &[])
            }
            // Of rows of different lengths a file shows no second text.
            Hole::Sure(inner)
            | Hole::Uneven(inner)
            | Hole::Making(inner)
            | Hole::Perhaps(inner)
            | Hole::Untold(inner)
            | Hole::Following(inner, _) => {
                self.guess("which text of a function that may fail or gives lists is meant");
                self.filling(inner)
            }
            Hole::Unwrapped(inner) => {
                self.guess("what a call with a `Result` or `Option` gives");
                self.filling(inner).unwrapped()
            }
            Hole::Constant(value) => self.constant(&value.to_string()),
            // The text has its name there.
            Hole::Length(_) => Filled::function("0", Type::Usize, &[]),
            Hole::Data(path) => {
                let name = last(&path.to_string());
                let shapes = self.file.data.iter().filter(|shape| shape.name == name).count();
                let names = self.file.names.iter().filter(|(n, ..)| *n == name).count();
                if shapes + names != 1 {
                    self.guess(format!("the type `{path}`"));
                }
                Filled::function(&name, data_type(self.file, Hole::Data(path.clone())), &[])
            }
        }
    }

    /// A function by its path.
    fn named(&self, path: &str) -> Filled {
        let path = path.replace(' ', "");
        let name = last(&path);
        let is = |f: &Function| f.name == name;
        let imported = self.file.imports.iter().any(|(own, _)| *own == name);
        let plain = path == name || path == format!("self::{name}");
        if !plain || imported || self.file.functions.iter().filter(|f| is(f)).count() != 1 {
            self.guess(format!("which function `{path}` is: it is not one of this file"));
        }
        self.function(is).unwrap_or_else(|| elsewhere(&path))
    }

    /// A method of a type, which stands as an expression.
    fn method(&self, owner: &TokenStream, key: u64) -> Filled {
        let exactly = meant::owner(owner);
        let owner = owner.to_string().replace(' ', "");
        let of = |f: &Function| {
            let ty = f.name.split('_').next().unwrap_or("");
            f.key == key && owner.contains(&format!("of::<{ty}>"))
        };
        let is = |f: &&Function| {
            let ty = f.name.split('_').next();
            f.key == key && ty.is_some() && ty == exactly.as_deref()
        };
        if self.file.functions.iter().filter(is).count() != 1 {
            self.guess("a method of something whose type is not written");
        }
        self.function(of)
            .or_else(|| self.function(|f| f.key == key && f.name.contains('_')))
            .unwrap_or_else(|| elsewhere("method"))
    }

    /// The function of an operator of a struct, if an operand is one: an argument whose type is written, or the result of such
    /// an operator, which `overloaded` names. A field is taken for a number.
    fn operator(&self, hole: &Hole, overloaded: &HashSet<String>) -> Option<Filled> {
        let Hole::Operator(key, left, right) = hole else { return None };
        let operands = [left, right].map(|operand| operand.to_string().replace(' ', ""));
        let of = |f: &Function| {
            let ty = format!("::jut::rust::of::<{}>()", f.name.split('_').next().unwrap_or(""));
            f.key == *key && operands.contains(&ty)
        };
        let any = |f: &Function| f.key == *key && f.name.contains('_');
        let given = operands.iter().any(|operand| overloaded.contains(operand));
        // A method that lists have too, `push`, is that of the file if it has one.
        let own = |f: &Function| {
            any(f)
                && f.name
                    .match_indices('_')
                    .any(|(at, _)| jut_rust::is_of_growing_lists(&f.name[at + 1..]))
        };
        let found = self
            .function(of)
            .or_else(|| self.function(own))
            .or_else(|| self.function(any).filter(|_| given))?;
        self.guess("an operator of a struct");
        // A literal is a number, whatever another `impl` of this operator takes there.
        let float = |k: usize| operands.get(k).is_some_and(|o| o == "::jut::rust::of_value(&0.0)");
        let takes = found.takes().iter().enumerate();
        let takes = takes.map(|(k, ty)| if float(k) { Type::F64 } else { *ty }).collect();
        Some(found.of(leaked(takes)))
    }

    /// A function of the file.
    fn function(&self, is: impl Fn(&Function) -> bool) -> Option<Filled> {
        let position = self.file.functions.iter().position(is)?;
        let found = self.file.functions.get(position)?;
        self.called.borrow_mut().push(position);
        let Ok((signature, _)) = &found.lowered else {
            return Some(Filled::function(&word(&found.name), Type::F64, &[]));
        };
        if signature.errors != jut_rust::Errors::Absent || signature.is_open() {
            self.guess(format!("`{}`, which may fail or has type parameters", found.name));
        }
        let changed: Vec<bool> = signature.parameters.iter().map(|p| p.changed).collect();
        let ty = type_of(self.file, &signature.result, &signature.lengths, 0);
        let each = signature.parameters.iter();
        let takes = each.map(|p| type_of(self.file, &p.ty, &signature.lengths, 0)).collect();
        Some(Filled::function(&word(&found.name), ty, leaked(changed)).of(leaked(takes)))
    }

    /// The value of a constant: as it is written, or by its name.
    fn constant(&self, written: &str) -> Filled {
        let written = written.replace(' ', "");
        let short = self.file.imports.iter().find(|(name, _)| *name == written);
        let path = short.map_or(written.as_str(), |(_, path)| path.as_str());
        let known = match path.strip_prefix("std::").or(path.strip_prefix("core::")) {
            Some(rest) => rest,
            None => path,
        };
        let known = match known {
            "f64::consts::PI" => Some("3.141592653589793"),
            "f64::consts::TAU" => Some("6.283185307179586"),
            "f64::consts::E" => Some("2.718281828459045"),
            "f64::EPSILON" => Some("2.220446049250313e-16"),
            "f64::INFINITY" => Some("prim.inf()"),
            "f64::NEG_INFINITY" => Some("(-prim.inf())"),
            "f64::NAN" => Some("prim.nan()"),
            "::core::cfg!(debug_assertions)" => {
                self.guess("whether debug assertions are on");
                Some("true")
            }
            _ => None,
        };
        if let Some(text) = known {
            let ty = if text == "true" { Type::Bool } else { Type::F64 };
            return Filled::function(text, ty, &[]);
        }
        let name = last(&written);
        let mut own = self.file.constants.iter().filter(|(n, ..)| *n == name);
        if let Some((_, ty, value)) = own.next() {
            let ty = type_of(self.file, ty, &[], 0);
            let number = value.replace('_', "");
            let literal = number.parse::<f64>().is_ok() || number == "true" || number == "false";
            let list = value.trim_start_matches('&').starts_with('[');
            if written.trim_end_matches("asusize") != name
                || own.next().is_some()
                || !literal && !list
            {
                self.guess(format!(
                    "the value of the constant `{name}`: it is not written as a literal"
                ));
            }
            return match literal {
                true if number.starts_with('-') => {
                    Filled::function(&format!("({number})"), ty, &[])
                }
                true => Filled::function(&number, ty, &[]),
                false => Filled::function(&name, ty, &[]),
            };
        }
        let number = written.trim_end_matches("asusize").replace('_', "");
        match number.parse::<i64>() {
            Ok(_) => Filled::function(&number, Type::Usize, &[]),
            Err(_) => {
                self.guess(format!("the constant `{written}`: it does not stand in this file"));
                elsewhere(&written)
            }
        }
    }
}

/// A name of the text for what stands in another file.
fn elsewhere(path: &str) -> Filled {
    Filled::function(&word(path), Type::F64, &[])
}
