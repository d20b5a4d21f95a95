//! Operators of structs: `a + b`, `v * 2.0`, `-v`, `p += v`, by `impl Add for V3` and its like with the attribute.
//!
//! Which type an operand has is often known to rustc only: `self.pos + self.vel * dt` may be one of numbers or of structs. So rustc is asked, by the
//! types of the operands, and the text has both forms until it is put together:
//!
//! ```text
//! let d = p - q;             $if operator 3$ V3_sub(p, q) $end$ $if number 3$ p - q $end$
//! ```
//!
//! Requires: an operand has a type that can be written, as that of a parameter, a field, a method's result; a type parameter `T: Real` is one of numbers.
//! Cost: of numbers, none; of structs, that of the call.

use crate::Refusal;
use crate::lowering::Lowering;
use crate::syntax::key;
use crate::template::{Hole, What};
use crate::types::{Step, Ty};
use crate::value::Value;
use proc_macro2::{Span, TokenStream, TokenTree};
use quote::{format_ident, quote};
use syn::{GenericArgument, ItemImpl, PathArguments, Type};

/// The method of an operator.
fn method(op: &str) -> Option<&'static str> {
    Some(match op {
        "+" => "add",
        "-" => "sub",
        "*" => "mul",
        "/" => "div",
        "+=" => "add_assign",
        "-=" => "sub_assign",
        "*=" => "mul_assign",
        "/=" => "div_assign",
        "neg" => "neg",
        _ => return None,
    })
}

/// The traits of operators.
pub(crate) const TRAITS: &[&str] = &[
    "Add",
    "Sub",
    "Mul",
    "Div",
    "Neg",
    "AddAssign",
    "SubAssign",
    "MulAssign",
    "DivAssign",
    "Index",
    "IndexMut",
];

/// What stands on the right of an operator by its `impl`: nothing of `Neg`.
pub(crate) struct Overloaded {
    /// The right operand.
    pub right: Type,
    /// Whether that is said.
    pub written: bool,
}

/// The operator of an `impl`, if it is of one.
pub(crate) fn operator_of(block: &ItemImpl) -> Option<Overloaded> {
    let (_, path, _) = block.trait_.as_ref()?;
    let last = path.segments.last()?;
    if !TRAITS.contains(&last.ident.to_string().as_str()) {
        return None;
    }
    if last.ident == "Neg" {
        return Some(Overloaded { right: syn::parse_quote!(()), written: false });
    }
    if let PathArguments::AngleBracketed(of) = &last.arguments
        && let Some(GenericArgument::Type(right)) = of.args.first()
        && !matches!(right, Type::Path(path) if path.path.is_ident("Self"))
        && word(right) != word(&block.self_ty)
    {
        return Some(Overloaded { right: without_reference(right).clone(), written: true });
    }
    let right = without_reference(&block.self_ty).clone();
    Some(Overloaded { right, written: false })
}

/// What a reference is of.
pub(crate) fn without_reference(ty: &Type) -> &Type {
    match ty {
        Type::Reference(reference) => without_reference(&reference.elem),
        Type::Paren(inner) => without_reference(&inner.elem),
        Type::Group(inner) => without_reference(&inner.elem),
        other => other,
    }
}

/// The path of a function that is called.
fn function_of(hole: &Hole) -> Option<String> {
    match hole {
        Hole::Function(path) | Hole::Call(path, _) => Some(path.to_string()),
        Hole::Sure(inner)
        | Hole::Unwrapped(inner)
        | Hole::Uneven(inner)
        | Hole::Making(inner)
        | Hole::Perhaps(inner)
        | Hole::Untold(inner)
        | Hole::Following(inner, _) => function_of(inner),
        _ => None,
    }
}

/// Whether a path is that of a function as `jut::math` has them, which is one of numbers.
fn is_mathematics(path: &str) -> bool {
    const NAMES: &[&str] = &[
        "exp", "exp2", "exp_m1", "expm1", "log", "log2", "log10", "log1p", "ln", "ln_1p", "sqrt",
        "cbrt", "sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh",
        "asinh", "acosh", "atanh", "pow", "powi", "powf", "hypot", "erf", "erfc", "gamma",
        "lgamma", "digamma", "sigmoid", "abs", "floor", "ceil", "round",
    ];
    NAMES.contains(&path.rsplit("::").next().unwrap_or(path).trim())
}

/// Whether a constant is one of the standard library, or a length: these are numbers.
pub(crate) fn is_of_std(value: &TokenStream) -> bool {
    value.clone().into_iter().any(|token| match token {
        TokenTree::Ident(ident) => ident == "consts" || Ty::number(&ident.to_string()).is_some(),
        TokenTree::Literal(_) => true,
        _ => false,
    })
}

/// The name of the type of what an operator gives.
pub(crate) fn type_name(hole: usize) -> proc_macro2::Ident {
    format_ident!("__jut_type_{hole}")
}

/// The name of what fills its hole.
pub(crate) fn filled_name(hole: usize) -> proc_macro2::Ident {
    format_ident!("__jut_operator_{hole}")
}

/// Tokens with `Self::Output` as the type that the `impl` says.
pub(crate) fn with_output(tokens: TokenStream, output: Option<&Type>) -> TokenStream {
    let Some(output) = output else { return tokens };
    let all: Vec<TokenTree> = tokens.into_iter().collect();
    let word = |k: usize, name: &str| matches!(all.get(k), Some(TokenTree::Ident(i)) if i == name);
    let colon = |k: usize| matches!(all.get(k), Some(TokenTree::Punct(p)) if p.as_char() == ':');
    let (mut out, mut k) = (TokenStream::new(), 0);
    while k < all.len() {
        if word(k, "Self") && colon(k + 1) && colon(k + 2) && word(k + 3, "Output") {
            out.extend(quote!(#output));
            k += 4;
            continue;
        }
        match &all[k] {
            TokenTree::Group(group) => {
                let inner = with_output(group.stream(), Some(output));
                let mut inner = proc_macro2::Group::new(group.delimiter(), inner);
                inner.set_span(group.span());
                out.extend([TokenTree::from(inner)]);
            }
            other => out.extend([other.clone()]),
        }
        k += 1;
    }
    out
}

impl Lowering<'_> {
    /// Whether a value may be a struct, as far as its type tells. What a function of mathematics gives is one only if something else says so.
    pub fn may_be_struct(&self, ty: &Ty) -> bool {
        // An integer as it is written is none, whatever type of integers it turns out to have.
        if let Ty::Int(_) = ty {
            return false;
        }
        let Ty::Of(hole, steps) = self.resolve(ty) else { return false };
        let plain = |step: &Step| !matches!(step, Step::Argument(..) | Step::Parameter(_));
        let hole = self.parts.holes.get(hole);
        let whole = steps.is_empty();
        let named = |hole: &Hole| match hole {
            Hole::Data(path) => !self.mentions_type(path),
            Hole::Method(owner, _) => !self.mentions_type(owner),
            Hole::Sure(inner) | Hole::Unwrapped(inner) if function_of(inner).is_none() => {
                matches!(&**inner, Hole::Method(owner, _) if !self.mentions_type(owner))
            }
            Hole::Operator(..) => true,
            Hole::Constant(value) => whole && !self.mentions_type(value) && !is_of_std(value),
            other => function_of(other).is_some_and(|path| {
                !whole || !is_mathematics(&path) || self.learned.structs.contains(&path)
            }),
        };
        steps.iter().all(plain) && hole.is_some_and(named)
    }

    /// What a function gives is a struct, since a field or a method of it is asked for.
    pub fn gives_struct(&mut self, hole: usize, steps: &[Step]) {
        let plain =
            steps.iter().all(|step| matches!(step, Step::Element | Step::Row | Step::Field(_)));
        if let (Some(path), true) = (self.parts.holes.get(hole).and_then(function_of), plain) {
            self.learned.structs.insert(path);
        }
    }

    /// Whether it is one unless its type is another name of a number.
    fn is_whole_struct(&self, ty: &Ty) -> bool {
        match self.resolve(ty) {
            Ty::Of(hole, steps) => {
                let whole = match self.parts.holes.get(hole) {
                    Some(Hole::Data(_)) => true,
                    Some(hole) if function_of(hole).is_some() => true,
                    _ => self.operators.whole.contains(&hole),
                };
                whole && steps.is_empty() && self.may_be_struct(ty)
            }
            _ => false,
        }
    }

    /// Whether a type parameter stands in a type: of it rustc knows nothing here.
    pub fn mentions_type(&self, tokens: &TokenStream) -> bool {
        tokens.clone().into_iter().any(|token| match token {
            TokenTree::Ident(ident) => self.signature.types.iter().any(|t| t.ident == ident),
            TokenTree::Group(group) => self.mentions_type(&group.stream()),
            _ => false,
        })
    }

    /// The type of an operand, as an expression that stands for it.
    fn operand_type(&self, ty: &Ty) -> Option<TokenStream> {
        Some(match self.resolve(ty) {
            Ty::F64 => quote!(::jut::rust::of::<f64>()),
            Ty::F32 => quote!(::jut::rust::of::<f32>()),
            Ty::Float(_) => quote!(::jut::rust::of_value(&0.0)),
            Ty::Of(hole, steps) => match self.parts.holes.get(hole)? {
                Hole::Constant(value) if steps.is_empty() => {
                    quote!(::jut::rust::of_value(&(#value)))
                }
                _ => self.type_by(ty, true)?,
            },
            _ => return None,
        })
    }

    /// An operator of what may be structs: the hole of its function, which is empty of numbers; nothing if it is one of numbers for certain.
    fn operator(&mut self, op: &str, left: &Ty, right: Option<&Ty>, span: Span) -> Option<usize> {
        let name = method(op)?;
        if self.operators.plain {
            return None;
        }
        let number = self.operators.count;
        self.operators.count += 1;
        let (l, r) = (self.may_be_struct(left), right.is_some_and(|r| self.may_be_struct(r)));
        let whole = self.is_whole_struct(left) || right.is_some_and(|r| self.is_whole_struct(r));
        let scales = matches!(op, "*" | "/" | "*=" | "/=");
        if whole {
            // What stands beside a struct is one, or scales it.
            for other in [Some(left), right].into_iter().flatten() {
                if let Ty::Of(hole, steps) = self.resolve(other)
                    && !scales
                {
                    self.gives_struct(hole, &steps);
                }
            }
        }
        let asked = match right {
            None => l,
            Some(_) if l && r => !self.learned.integral.contains(&number),
            Some(right) if l || r => {
                let other = self.resolve(if l { right } else { left });
                if let Ty::Int(_) = other {
                    // It may be known in the next pass that it is of the struct's type.
                    self.learned.integral.insert(number);
                }
                let numeric = [left, right].into_iter().any(|side| {
                    matches!(self.resolve(side), Ty::Of(of, _) if self.operators.numeric.contains(&of))
                });
                whole && !other.is_integer() || (scales || numeric) && other.is_float()
            }
            Some(_) => false,
        };
        if !asked {
            return None;
        }
        let at = |tokens: TokenStream| -> TokenStream {
            tokens
                .into_iter()
                .map(|mut token| {
                    token.set_span(token.span().located_at(span));
                    token
                })
                .collect()
        };
        // What a method gives may be a struct, and so may what is computed from it.
        let numeric = [Some(left), right].into_iter().flatten().any(|side| {
            matches!(self.resolve(side), Ty::Of(of, steps) if steps.is_empty()
                && (self.operators.numeric.contains(&of)
                    || matches!(self.parts.holes.get(of), Some(Hole::Method(..)))))
        });
        let left = at(self.operand_type(left)?);
        let right = match right {
            Some(right) => at(self.operand_type(right)?),
            None => quote!(::jut::rust::of::<()>()),
        };
        let hole = self.operator_hole(name, left, right, span);
        if whole {
            self.operators.whole.insert(hole);
        }
        if numeric {
            self.operators.numeric.insert(hole);
        }
        Some(hole)
    }

    /// The hole of an operator with operands of these types.
    pub fn operator_hole(
        &mut self,
        name: &str,
        left: TokenStream,
        right: TokenStream,
        span: Span,
    ) -> usize {
        let key = key(name);
        let asks = quote!(linker.operator::<#key, _, _, _>(#left, #right));
        self.asked_hole(Hole::Operator(key, left, right), asks, span)
    }

    /// The hole of what rustc is asked for by an expression.
    pub fn asked_hole(&mut self, of: Hole, asks: TokenStream, span: Span) -> usize {
        let known = self.parts.holes.len();
        let hole = self.hole(of);
        if hole == known {
            // Those that its value is an operand of name its type.
            let (ty, filled) = (type_name(hole), filled_name(hole));
            let item = quote! {
                #[allow(unused_variables)]
                let (#filled, #ty) = #asks;
            };
            self.parts.items.push(
                item.into_iter()
                    .map(|mut token| {
                        token.set_span(token.span().located_at(span));
                        token
                    })
                    .collect(),
            );
        }
        hole
    }

    /// An operation on two values that may be structs; nothing if it is one of numbers for certain.
    pub fn overloaded(
        &mut self,
        op: &str,
        left: &Value,
        right: &Value,
        at: &impl quote::ToTokens,
        span: Span,
    ) -> Result<Option<Value>, Refusal> {
        let Some(hole) = self.operator(op, &left.ty, Some(&right.ty), span) else {
            return Ok(None);
        };
        let numbers = self.number_form(hole, op, left, right, at, span)?;
        let call = format!("$c{hole}$({}, {})", left.text, right.text);
        let value = self.one_form(hole, call, numbers.text, span);
        Ok(Some(value))
    }

    /// The form of an operation for numbers.
    fn number_form(
        &mut self,
        hole: usize,
        op: &str,
        left: &Value,
        right: &Value,
        at: &impl quote::ToTokens,
        span: Span,
    ) -> Result<Value, Refusal> {
        // A float as it is written is of the type that the operator takes.
        for (k, one) in [left, right].into_iter().enumerate() {
            if self.resolve(&one.ty).is_float() {
                self.unify(&one.ty, &Ty::Of(hole, vec![Step::Parameter(k)]));
                let text = format!("{} {op} {}", left.within(6), right.within(6));
                return Ok(Value::new(text, Ty::Of(hole, Vec::new()), 0, &[left, right]));
            }
        }
        let before = self.lines.len();
        self.operators.plain = true;
        let numbers = self.operation(op, left.clone(), right.clone(), at, span);
        self.operators.plain = false;
        self.of_numbers(hole, before);
        numbers
    }

    /// The lines from some one on are there for numbers only.
    pub fn of_numbers(&mut self, hole: usize, from: usize) {
        let lines = self.lines.split_off(from);
        if !lines.is_empty() {
            self.lines.push(format!("$if number {hole}${}$end$", lines.join("\n")));
        }
    }

    /// The value of one of two forms, under a name.
    pub fn one_form(&mut self, hole: usize, call: String, numbers: String, span: Span) -> Value {
        let call = self.at(span, What::Same, &call);
        let (size, name) = (self.names.unique("n_value"), self.names.unique("value"));
        self.lines.push(format!(
            "$if vec {hole}$($names {hole} {size}$$end${name}$if vec {hole}$)$end$ = $if operator {hole}${call}$end$$if number {hole}${numbers}$end$"
        ));
        Value::name(name, Ty::Of(hole, Vec::new()), i64::MIN)
    }

    /// `-v` of what may be a struct.
    pub fn overloaded_negation(&mut self, value: &Value, span: Span) -> Option<Value> {
        let hole = self.operator("neg", &value.ty, None, span)?;
        let numbers = Value::new(format!("-{}", value.within(7)), value.ty.clone(), 6, &[value]);
        let before = self.lines.len();
        let numbers = self.in_range(numbers, span, "negate");
        self.of_numbers(hole, before);
        Some(self.one_form(hole, format!("$c{hole}$({})", value.text), numbers.text, span))
    }

    /// `place op= value` of what may be structs: the text of the new value.
    pub fn overloaded_assignment(
        &mut self,
        op: &str,
        place: &Value,
        value: &Value,
        at: &impl quote::ToTokens,
        span: Span,
    ) -> Result<Option<String>, Refusal> {
        let assigns = format!("{op}=");
        let Some(hole) = self.operator(&assigns, &place.ty, Some(&value.ty), span) else {
            return Ok(None);
        };
        let numbers = self.number_form(hole, op, place, value, at, span)?.text;
        let call = format!("$c{hole}$({}, {})", place.text, value.text);
        let call = self.at(span, What::Same, &call);
        Ok(Some(format!("$if operator {hole}${call}$end$$if number {hole}${numbers}$end$")))
    }
}

/// A type as a part of a name.
pub(crate) fn word(ty: &Type) -> String {
    let written = quote!(#ty).to_string();
    written
        .chars()
        .map(|c| if c.is_alphanumeric() { c } else { '_' })
        .filter(|c| *c != '_')
        .collect()
}
