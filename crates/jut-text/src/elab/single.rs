//! Numbers of 32 bits.
//!
//! The core computes in 64 bits and has two conversions, `f64(x)`, which is exact, and `f32(x)`, which rounds. An
//! operation on numbers of 32 bits is the operation of 64 bits, rounded once:
//!
//! ```text
//! y = x * 2.0 + z        a = f64(x); b = a * 2.0; c = f32(b)
//!                        d = f64(c); e = f64(z); f = d + e; y = f32(f)
//! ```
//!
//! For `+ - * /` and `sqrt` that is the operation of 32 bits, bit for bit, because 53 digits are more than twice 24 and
//! 2 more. Other functions are nearer to the exact value than a function of 32 bits has to be. Nothing is converted
//! by itself but numbers in the text, which take the type that is needed: a number of 32 bits beside a name of 64 is
//! refused.
//!
//! Cost: constant for each operation.

use super::body::{Body, Out};
use super::{Res, Stop};
use jut_ir::prim::{self, Prim, Syntax};
use jut_ir::{Atom, Diagnostic, Literal, Rhs, Span, Type};

/// A number in the text where a value of a type is needed; anything else as it is.
pub(super) fn fitted(atom: Atom, wanted: &Type) -> Atom {
    match atom {
        Atom::Lit(Literal::F64(x)) if *wanted == Type::F32 && (x as f32).is_finite() => {
            Atom::Lit(Literal::F32(x as f32))
        }
        atom => atom,
    }
}

/// The type of a function of numbers of 32 bits, and of what may stand beside them.
pub(super) fn result(text: &str, syntax: Syntax, types: &[Type]) -> Option<Type> {
    if let ("f32", [Type::I64 | Type::Bool | Type::Float(_)]) = (text, types) {
        return Some(Type::F32);
    }
    let p = of_wide(text, syntax, types)?;
    Some(if p.row().result.is_float() { Type::F32 } else { p.row().result.ty() })
}

/// The primitive that has numbers of 64 bits where these have 32, if no other float stands beside them.
fn of_wide(text: &str, syntax: Syntax, types: &[Type]) -> Option<Prim> {
    if !types.contains(&Type::F32) || types.contains(&Type::F64) {
        return None;
    }
    let wide = types.iter().map(|ty| if ty.is_float() { Type::F64 } else { ty.clone() });
    Prim::resolve(text, syntax, &wide.collect::<Vec<_>>())
}

impl<'s> Body<'_, 's> {
    /// A primitive on numbers of 32 bits; `None` if these are none, or it has no such form.
    pub(super) fn in_single(
        &mut self,
        text: &str,
        syntax: Syntax,
        args: &[Atom],
        span: Span,
    ) -> Res<Option<Out>> {
        if self.strict {
            return Ok(None);
        }
        let types: Vec<Type> = args.iter().map(|a| self.type_of(*a)).collect();
        if let ("f32", [ty], [atom]) = (text, types.as_slice(), args) {
            return match ty {
                Type::I64 | Type::Bool => {
                    let wide = self.primitive("f64", syntax, vec![*atom], span)?;
                    let wide = self.bound(wide)?;
                    self.primitive("f32", syntax, vec![wide], span).map(Some)
                }
                &Type::F32 => Ok(Some(Out::one(Rhs::Atom(*atom), Type::F32, span))),
                _ => Ok(None),
            };
        }
        if !types.contains(&Type::F32) {
            return Ok(None);
        }
        let args: Vec<Atom> = args.iter().map(|a| fitted(*a, &Type::F32)).collect();
        let types: Vec<Type> = args.iter().map(|a| self.type_of(*a)).collect();
        if types.contains(&Type::F64) {
            let message = format!("`{text}` of an f32 and an f64");
            let help = "convert one of them: `f64(x)` is exact, `f32(y)` rounds";
            return self.fail(Diagnostic::error("J202", span, message).help(help));
        }
        let Some(p) = of_wide(text, syntax, &types) else { return Ok(None) };
        let mut wide = Vec::new();
        for (atom, ty) in args.into_iter().zip(&types) {
            wide.push(match atom {
                Atom::Lit(Literal::F32(x)) => Atom::Lit(Literal::F64(f64::from(x))),
                Atom::Var(_) if *ty == Type::F32 => {
                    let rhs = Rhs::Prim(prim::DOUBLE, vec![atom]);
                    self.bound(Out::one(rhs, Type::F64, span))?
                }
                atom => atom,
            });
        }
        let result = p.row().result.ty();
        let out = Out::one(Rhs::Prim(p, wide), result.clone(), span);
        if result != Type::F64 {
            return Ok(Some(out));
        }
        let value = self.bound(out)?;
        let rhs = Rhs::Prim(prim::SINGLE, vec![value]);
        Ok(Some(Out::one(rhs, Type::F32, span)))
    }

    fn bound(&mut self, out: Out) -> Res<Atom> {
        self.bind(out, &[], &[])?.nl.first().copied().ok_or(Stop)
    }
}
