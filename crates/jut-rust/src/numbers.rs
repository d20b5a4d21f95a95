//! Methods of numbers, and what is made of each element of an array.
//!
//! Which methods there are, and their texts, is in `methods`; here is what depends on the receiver's type. Where only rustc knows
//! that (a struct's field), the text has all forms, and the linker takes the one that fits.

use crate::lowering::Lowering;
use crate::methods::{self, fill};
use crate::syntax::is_from_fn;
use crate::template::What;
use crate::types::{Extent, Ty, array};
use crate::value::{Value, literal};
use crate::{Refusal, refuse};
use syn::Expr;

impl Lowering<'_> {
    /// A method of a number with its arguments.
    pub fn number_method(
        &mut self,
        name: &str,
        receiver: Value,
        arguments: &[Value],
        at: &syn::Ident,
    ) -> Result<Value, Refusal> {
        let ty = self.resolve(&receiver.ty);
        let shared = methods::SHARED.contains(&name);
        // In each pass, so that the same floats have the same numbers.
        let float = self.unknown_float();
        if let Ty::Of(..) = ty
            && ["abs", "clamp", "max", "min", "signum"].contains(&name)
            && let Some(integer) = self.only("int", &ty)
            && !arguments.iter().any(|a| {
                let known = self.resolve(&a.ty);
                known.is_float() || known.is_integer() || literal(a).is_some()
            })
        {
            // A float or an integer: rustc knows. What may be assigned before the value is read has a name.
            let bounds = name == "clamp";
            let mut arguments = arguments.to_vec();
            for argument in arguments.iter_mut().filter(|a| bounds || !a.stable) {
                *argument = self.named(argument.clone(), "bound");
            }
            if let [low, high] = &arguments[..] {
                let said = "clamp: the lower bound is above the upper one, or one is NaN";
                let check = format!("prim.select({} <= {}, 0, -1) >= 0", low.text, high.text);
                self.check(at.span(), What::Panic(said.to_string()), &check);
            }
            let texts: Vec<&str> = arguments.iter().map(|a| a.text.as_str()).collect();
            let known = methods::F64.iter().find(|(n, _, _)| *n == name).map_or("", |m| m.2);
            let wide = fill(known, &receiver.text, &texts);
            let short = fill(&methods::short(name, known), &receiver.text, &texts);
            let prim = if name == "signum" { "sign" } else { name };
            let all: Vec<&str> = [receiver.text.as_str()].into_iter().chain(texts).collect();
            let other = match &all[..] {
                [value, low, high] => format!("prim.min(prim.max({value}, {low}), {high})"),
                _ => format!("prim.{prim}({})", all.join(", ")),
            };
            let text = match (self.only("f64", &ty), self.only("f32", &ty)) {
                (Some(a), Some(b)) => format!(
                    "{}{wide}{}{}{short}{}{}{other}{}",
                    a.0, a.1, b.0, b.1, integer.0, integer.1
                ),
                _ => wide,
            };
            let mut of = vec![&receiver];
            of.extend(&arguments);
            let value = Value::new(text, ty, 9, &of);
            return Ok(if name == "abs" {
                self.in_range(value, at.span(), "negate")
            } else {
                value
            });
        }
        // What rustc knows is an integer beside one. (An integer as it is written has what stands beside it as its type.)
        let integer = |a: &Value| self.resolve(&a.ty).is_integer() || literal(a).is_some();
        let integers = ty.is_integer()
            || matches!(ty, Ty::Of(..))
                && (crate::integers::METHODS.iter().any(|(n, _)| *n == name)
                    || shared && arguments.iter().any(integer));
        if let Ty::Of(..) = ty
            && shared
            && !integers
            && !arguments.iter().any(|a| self.resolve(&a.ty).is_float())
        {
            return refuse(
                at,
                "the type of this is not known here: bind it to a name with its type before, `let x: f64 = ..;`",
            );
        }
        if integers {
            return self.integer_method(name, receiver, arguments, at);
        }
        if !(ty.is_float() || matches!(ty, Ty::Of(..))) {
            return refuse(at, format!("`{name}` is not built for this type"));
        }
        if let Some((_, help)) = methods::REFUSED.iter().find(|(n, _)| *n == name) {
            return refuse(at, format!("`{name}` is not built: {help}"));
        }
        let Some((_, count, text)) = methods::F64.iter().find(|(n, _, _)| *n == name) else {
            return refuse(
                at,
                format!(
                    "the method `{name}` is not built: call a function that has this attribute"
                ),
            );
        };
        if *count != arguments.len() {
            return refuse(at, "another number of arguments is expected");
        }
        let ty = self.unify(&float, &ty);
        for argument in arguments {
            let wanted = if name == "powi" { Ty::I32 } else { ty.clone() };
            self.unify(&argument.ty, &wanted);
        }
        if name == "mul_add" && self.by_width(&ty, "wide", "short") != "wide" {
            return refuse(
                at,
                "`mul_add` is built for an `f64` that is known to be one: bind it before, `let x: f64 = ..;`, or write \
                 `a * b + c`, which rounds twice",
            );
        }
        let mut arguments = arguments.to_vec();
        if name == "clamp" {
            for argument in &mut arguments {
                *argument = self.named(argument.clone(), "bound");
            }
            let said = "clamp: the lower bound is above the upper one, or one is NaN".to_string();
            let check =
                format!("prim.select({} <= {}, 0, -1) >= 0", arguments[0].text, arguments[1].text);
            self.check(at.span(), What::Panic(said), &check);
        }
        let texts: Vec<&str> = arguments.iter().map(|a| a.text.as_str()).collect();
        let wide = fill(text, &receiver.text, &texts);
        let short = fill(&methods::short(name, text), &receiver.text, &texts);
        let text = self.by_width(&ty, &wide, &short);
        let ty = match name {
            "sin_cos" => Ty::Tuple(vec![ty.clone(), ty]),
            _ if name.starts_with("is_") => Ty::Bool,
            _ => ty,
        };
        let mut of = vec![&receiver];
        of.extend(&arguments);
        let value = Value::new(text, ty, 9, &of);
        let light = ["abs", "max", "min", "floor", "ceil", "trunc"];
        let light = light.contains(&name) || name.starts_with("is_");
        Ok(if light { value } else { value.costly() })
    }

    /// `std::array::from_fn(f)`, where the type is known.
    pub fn made_by(&mut self, function: &Expr, n: &str, element: Ty) -> Result<Value, Refusal> {
        let index = self.names.unique("i");
        let item = crate::elements::Item::One(Value::name(index.clone(), Ty::Usize, 0));
        // Rows may be made in the same way.
        let rows = match crate::syntax::unwrapped(function) {
            Expr::Closure(closure) => is_from_fn(alone(&closure.body)),
            _ => false,
        };
        let (block, value) = self.nested(|this| {
            this.expected.wanted = rows.then(|| element.clone());
            let value = this.applied(function, vec![item])?;
            Ok(this.convert(value, &element))
        })?;
        let mut lines = block.lines;
        lines.push(value.text);
        let list = self.names.unique("list");
        let body = crate::lowering::indented(&lines);
        self.lines.push(format!("{list} = for ({index} < {n}) {{\n{body}\n}}"));
        Ok(Value::name(list, array(element, Extent::Fixed(n.to_string())), i64::MIN))
    }

    /// `x.map(f)` of an array of fixed size.
    pub fn each(
        &mut self,
        list: Value,
        n: Option<String>,
        function: &Expr,
    ) -> Result<Value, Refusal> {
        let whole = self.named(list, "list");
        let (n, extent) = match n {
            Some(n) => (n.clone(), Extent::Fixed(n)),
            None => (format!("size({})", whole.text), Extent::Slice),
        };
        let index = self.names.unique("i");
        let ty = self.element(&whole.ty);
        let element = Value::name(format!("{}[{index}]", whole.text), ty, i64::MIN);
        let item = crate::elements::Item::One(element);
        let (block, value) = self.nested(|this| this.applied(function, vec![item]))?;
        let mut lines = block.lines;
        lines.push(value.text);
        let list = self.names.unique("list");
        let body = crate::lowering::indented(&lines);
        self.lines.push(format!("{list} = for ({index} < {n}) {{\n{body}\n}}"));
        Ok(Value::name(list, array(value.ty, extent), i64::MIN))
    }
}

/// What stands alone in a block, as formatters put a long body of a closure.
fn alone(expr: &Expr) -> &Expr {
    match expr {
        Expr::Block(syn::ExprBlock { label: None, block, .. }) => match &block.stmts[..] {
            [syn::Stmt::Expr(value, None)] => value,
            _ => expr,
        },
        _ => expr,
    }
}
