//! Numbers of 32 bits.
//!
//! The core computes in 64 bits and has two conversions for each kind of number: `f64(x)`, which is exact, and `f32(x)`,
//! which rounds; `i64(k)`, which is exact, and `i32(k)`, which keeps the last 32 bits. An operation on numbers of 32 bits
//! is the operation of 64 bits, converted once:
//!
//! ```text
//! y = x * 2.0 + z        a = f64(x); b = a * 2.0; c = f32(b)
//!                        d = f64(c); e = f64(z); f = d + e; y = f32(f)
//! k = j * 3              a = i64(j); b = a * 3; k = i32(b)
//! ```
//!
//! For `+ - * /` and `sqrt` of floats that is the operation of 32 bits, bit for bit, because 53 digits are more than twice
//! 24 and 2 more; other functions are nearer to the exact value than a function of 32 bits has to be. For integers it is
//! the operation that wraps at 32 bits: sums, differences and products in 64 bits are right in their last 32, and a
//! quotient leaves 32 bits only where it is 2^31, which wraps to -2^31. Nothing is converted by itself but numbers in the
//! text, which take the type that is needed: a number of 32 bits beside a name of 64 is refused. Indices and sizes are
//! of 64 bits.
//!
//! Cost: constant for each operation.

use super::body::Body;
use super::made::{Annotation, Out};
use super::{Res, Stop};
use jut_ir::prim::{self, Prim, Syntax};
use jut_ir::{Arm, Atom, Block, Diagnostic, Literal, Rhs, Span, Type};

/// A number in the text where a value of a type is needed; anything else as it is.
pub(super) fn fitted(atom: Atom, wanted: &Type) -> Atom {
    let Atom::Lit(literal) = atom else { return atom };
    Atom::Lit(match (literal, wanted) {
        (Literal::F64(x), &Type::F32) if (x as f32).is_finite() => Literal::F32(x as f32),
        (Literal::I64(k), Type::I32) => i32::try_from(k).map_or(literal, Literal::I32),
        _ => literal,
    })
}

/// The type of 64 bits for one of 32.
pub(super) fn wider(ty: &Type) -> Option<Type> {
    match *ty {
        Type::F32 => Some(Type::F64),
        Type::I32 => Some(Type::I64),
        _ => None,
    }
}

/// The type of the result of an operation of 64 bits on operands of these types.
fn narrow_type(wide: Type, types: &[Type]) -> Type {
    let narrow = types.iter().find(|ty| wider(ty).as_ref() == Some(&wide));
    narrow.cloned().unwrap_or(wide)
}

/// The type of a function of numbers of 32 bits, and of what may stand beside them.
pub(super) fn result(text: &str, syntax: Syntax, types: &[Type]) -> Option<Type> {
    if let [Type::I64 | Type::I32 | Type::Bool | Type::Float(_)] = types {
        match text {
            "f32" => return Some(Type::F32),
            "i32" => return Some(Type::I32),
            "i64" | "f64" => return Prim::resolve(text, syntax, &widened(types)).map(result_of),
            _ => {}
        }
    }
    let p = of_wide(text, syntax, types)?;
    Some(narrow_type(result_of(p), types))
}

fn result_of(p: Prim) -> Type {
    p.row().result.ty()
}

fn widened(types: &[Type]) -> Vec<Type> {
    types.iter().map(|ty| wider(ty).unwrap_or_else(|| ty.clone())).collect()
}

/// The primitive that has numbers of 64 bits where these have 32, if none of the same kind stands beside them.
fn of_wide(text: &str, syntax: Syntax, types: &[Type]) -> Option<Prim> {
    if !types.iter().any(|ty| wider(ty).is_some()) || mixed(types).is_some() {
        return None;
    }
    Prim::resolve(text, syntax, &widened(types))
}

/// Two types of one kind of number, where both are among these.
fn mixed(types: &[Type]) -> Option<(Type, Type)> {
    let pairs = types.iter().filter_map(|ty| Some((ty.clone(), wider(ty)?)));
    pairs.into_iter().find(|(_, wide)| types.contains(wide))
}

impl<'s> Body<'_, 's> {
    /// A primitive on numbers of 32 bits, or a conversion to them; `None` if it has no such form.
    pub(super) fn in_32_bits(
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
        if let ("f32" | "i32" | "f64" | "i64", [ty], [atom]) = (text, types.as_slice(), args) {
            return self.converted(text, *atom, ty, span);
        }
        let mut args = args.to_vec();
        for narrow in types.iter().filter(|ty| wider(ty).is_some()) {
            args.iter_mut().for_each(|a| *a = fitted(*a, narrow));
        }
        let types: Vec<Type> = args.iter().map(|a| self.type_of(*a)).collect();
        if let Some((narrow, wide)) = mixed(&types) {
            let message =
                format!("`{text}` of an {} and an {}", self.show(&narrow), self.show(&wide));
            let help = match wide {
                Type::I64 => {
                    "convert one of them: `i64(k)` is exact, `i32(n)` keeps the last 32 bits"
                }
                _ => "convert one of them: `f64(x)` is exact, `f32(y)` rounds",
            };
            return self.fail(Diagnostic::error("J202", span, message).help(help));
        }
        let Some(p) = of_wide(text, syntax, &types) else { return Ok(None) };
        let mut wide = Vec::new();
        for atom in args {
            wide.push(self.in_64_bits(atom, span)?);
        }
        let result = result_of(p);
        let def = self.transparent(p, &wide);
        let out = Out { def, ..Out::one(Rhs::Prim(p, wide), result.clone(), span) };
        match narrow_type(result.clone(), &types) {
            ty if ty == result => Ok(Some(out)),
            ty => {
                let value = self.bound(out)?;
                Ok(Some(self.converted_to(value, &ty, span)))
            }
        }
    }

    /// A conversion that no primitive is: by way of 64 bits.
    fn converted(&mut self, to: &str, atom: Atom, from: &Type, span: Span) -> Res<Option<Out>> {
        if !matches!(from, Type::I64 | Type::I32 | Type::Bool | Type::Float(_)) {
            return Ok(None);
        }
        let mut value = self.in_64_bits(atom, span)?;
        let (narrow, wide) = match to {
            "f32" => (Type::F32, "f64"),
            "i32" => (Type::I32, "i64"),
            _ if value == atom => return Ok(None),
            _ => return self.primitive(to, Syntax::Call, vec![value], span).map(Some),
        };
        if narrow == *from {
            return Ok(Some(Out::one(Rhs::Atom(atom), narrow, span)));
        }
        if Some(self.type_of(value)) != wider(&narrow) {
            value = self.call_of(wide, vec![value], span)?;
        }
        if narrow == Type::I32 && from.is_float() {
            // A float saturates at the ends of the type that it is converted to.
            for (bound, most) in [("max", i32::MIN), ("min", i32::MAX)] {
                let most = Atom::Lit(Literal::I64(most.into()));
                value = self.call_of(bound, vec![value, most], span)?;
            }
        }
        Ok(Some(self.converted_to(value, &narrow, span)))
    }

    fn call_of(&mut self, text: &str, args: Vec<Atom>, span: Span) -> Res<Atom> {
        let out = self.primitive(text, Syntax::Call, args, span)?;
        self.bound(out)
    }

    /// Numbers in the text that arms give take the types that other arms have.
    pub(super) fn fit_arms(&mut self, arms: &mut [Arm], types: &mut [(Annotation, Span)]) {
        let count = types.iter().map(|(types, _)| types.nl.len()).min().unwrap_or(0);
        for k in 0..count {
            let mut of_arms = types.iter().map(|(types, _)| &types.nl[k]);
            let Some(narrow) = of_arms.find(|ty| wider(ty).is_some()).cloned() else { continue };
            for (arm, (types, _)) in arms.iter_mut().zip(types.iter_mut()) {
                if Some(&types.nl[k]) == wider(&narrow).as_ref()
                    && self.fit_result(&mut arm.body, k, &narrow)
                {
                    types.nl[k] = narrow.clone();
                }
            }
        }
    }

    /// Gives the k-th result of a block a type of 32 bits, if it is a number in the text, or a branch that gives such.
    fn fit_result(&mut self, block: &mut Block, k: usize, narrow: &Type) -> bool {
        match block.nl.get(k).copied() {
            Some(literal @ Atom::Lit(_)) => {
                block.nl[k] = fitted(literal, narrow);
                block.nl[k] != literal
            }
            Some(Atom::Var(v)) => {
                let Some(last) = block.stmts.last_mut().filter(|stmt| !stmt.annotated) else {
                    return false;
                };
                let Some(j) = last.nl.iter().position(|name| *name == v) else { return false };
                let Rhs::Case(case) = &mut last.rhs else { return false };
                let mut arms = case.arms.clone();
                if !arms.iter_mut().all(|arm| self.fit_result(&mut arm.body, j, narrow)) {
                    return false;
                }
                case.arms = arms;
                self.b.func.nvars[v].ty = narrow.clone();
                true
            }
            None => false,
        }
    }

    /// A number of 32 bits as the same one of 64; anything else as it is.
    pub(super) fn in_64_bits(&mut self, atom: Atom, span: Span) -> Res<Atom> {
        let (prim, ty) = match (atom, self.type_of(atom)) {
            (Atom::Lit(Literal::F32(x)), _) => return Ok(Atom::Lit(Literal::F64(f64::from(x)))),
            (Atom::Lit(Literal::I32(k)), _) => return Ok(Atom::Lit(Literal::I64(i64::from(k)))),
            (_, Type::F32) => (prim::DOUBLE, Type::F64),
            (_, Type::I32) => (prim::WIDEN, Type::I64),
            _ => return Ok(atom),
        };
        self.bound(Out::one(Rhs::Prim(prim, vec![atom]), ty, span))
    }

    /// A number of 64 bits in 32.
    pub(super) fn converted_to(&mut self, value: Atom, ty: &Type, span: Span) -> Out {
        let prim = if ty.is_float() { prim::SINGLE } else { prim::NARROW };
        Out::one(Rhs::Prim(prim, vec![value]), ty.clone(), span)
    }

    fn bound(&mut self, out: Out) -> Res<Atom> {
        self.bind(out, &[], &[])?.nl.first().copied().ok_or(Stop)
    }
}
