//! Expressions: a text for the value, and lines before the statement for what must happen besides.

use crate::lowering::{Arm, Local, Lowering, Tail};
use crate::syntax::{JUMP, unwrapped};
use crate::template::{Hole, What};
use crate::types::{Extent, Step, Ty, array};
use crate::value::{Value, unit};
use crate::{Refusal, refuse, spanned};
use quote::{ToTokens, quote};
use syn::spanned::Spanned;
use syn::{Expr, Lit, Member, Stmt, UnOp};

/// Whether a constant is one of `std::f64::consts` or `std::f32::consts`: what else has such a name?
fn is_of_floats(path: &str) -> bool {
    path.starts_with("consts::")
        || ["PI", "TAU", "GOLDEN_RATIO", "EULER_GAMMA"].contains(&path)
        || ["FRAC_", "SQRT_", "LN_", "LOG2_", "LOG10_"].iter().any(|start| {
            let rest = path.strip_prefix(start);
            rest.is_some_and(|rest| rest.starts_with(|c: char| "PI123E".contains(c)))
        })
}

impl Lowering<'_> {
    /// A value under a name of its own.
    pub fn named(&mut self, value: Value, wanted: &str) -> Value {
        let plain = value.level == 9
            && crate::template::bare(&value.text).chars().all(|c| c.is_alphanumeric() || c == '_');
        if value.stable && plain {
            return value;
        }
        let name = self.names.unique(wanted);
        self.lines.push(format!("{name} = {}", value.text));
        Value::name(name, value.ty, value.least)
    }

    /// A value that was read before some lines which assign variables.
    pub fn named_before(&mut self, lines: usize, value: Value) -> Value {
        let later = self.lines.split_off(lines);
        let value = self.named(value, "before");
        self.lines.extend(later);
        value
    }

    /// An expression that is a number or truth value. A call of a function needs no line of its own then.
    pub fn operand(&mut self, expr: &Expr) -> Result<Value, Refusal> {
        match unwrapped(expr) {
            Expr::Call(call) => self.call(call, true),
            _ => self.expression(expr),
        }
    }

    /// Expressions from left to right. Where a later one needs lines, what was read before it and may be
    /// assigned there is read before them.
    pub fn sequence(&mut self, expressions: &[&Expr]) -> Result<Vec<Value>, Refusal> {
        self.in_order(expressions, Self::expression)
    }

    /// The same of numbers and truth values.
    pub fn operands(&mut self, expressions: &[&Expr]) -> Result<Vec<Value>, Refusal> {
        self.in_order(expressions, Self::operand)
    }

    pub fn in_order(
        &mut self,
        expressions: &[&Expr],
        mut one: impl FnMut(&mut Self, &Expr) -> Result<Value, Refusal>,
    ) -> Result<Vec<Value>, Refusal> {
        let mut values: Vec<Value> = Vec::new();
        for expr in expressions {
            let (before, assigned) = (self.lines.len(), self.assigned);
            let value = one(self, expr)?;
            if self.assigned > assigned {
                let later = self.lines.split_off(before);
                for earlier in &mut values {
                    if !earlier.stable {
                        *earlier = self.named(earlier.clone(), "before");
                    }
                }
                self.lines.extend(later);
            }
            values.push(value);
        }
        Ok(values)
    }

    /// A truth value.
    pub fn condition(&mut self, expr: &Expr) -> Result<Value, Refusal> {
        match (expr, crate::syntax::let_in(expr)) {
            (Expr::Let(own), _) => self.let_condition(own),
            // What stands behind it reads the names that it binds.
            (Expr::Binary(binary), Some(_)) if matches!(binary.op, syn::BinOp::And(_)) => {
                if let Some(late) = crate::syntax::let_in(&binary.right) {
                    return Err(crate::enums::late(late));
                }
                let left = self.condition(&binary.left)?;
                self.both(left, &binary.right)
            }
            (_, Some(late)) => Err(crate::enums::late(late)),
            _ => self.expression(expr),
        }
    }

    /// Any expression that has a value.
    pub fn expression(&mut self, expr: &Expr) -> Result<Value, Refusal> {
        let value = self.whole_expression(expr)?;
        let value = self.row(value);
        let span = match expr {
            Expr::Binary(binary) => binary.span(),
            Expr::MethodCall(call) => call.method.span(),
            Expr::Call(call) => call.span(),
            _ => return Ok(value),
        };
        // A float that is computed, as it may be NaN.
        match value.ty.is_float() && value.text.contains(['(', ' ']) {
            true => Ok(Value { text: self.at(span, What::Same, &value.text), ..value }),
            false => Ok(value),
        }
    }

    /// The same, of which a row is what it stands in.
    fn whole_expression(&mut self, expr: &Expr) -> Result<Value, Refusal> {
        match expr {
            Expr::Lit(literal) => self.literal(&literal.lit, false),
            Expr::Paren(inner) => self.expression(&inner.expr),
            Expr::Group(inner) => self.expression(&inner.expr),
            Expr::Path(path) => self.path(path),
            Expr::Unary(unary) => self.unary(unary),
            Expr::Binary(binary) => self.binary(binary),
            Expr::Reference(reference) => match reference.mutability {
                Some(token) => refuse(
                    &token,
                    "`&mut` stands in an argument of a call here: use the variable itself",
                ),
                None => self.expression(&reference.expr),
            },
            Expr::Index(index) => self.index(index),
            Expr::Call(call) => self.call(call, false),
            Expr::MethodCall(call)
                if crate::syntax::GROWING.contains(&call.method.to_string().as_str())
                    && self.is_list(&call.receiver) =>
            {
                self.grow(call)?;
                Ok(unit())
            }
            Expr::MethodCall(call) if self.is_relisting(call) => self.relisted(call),
            Expr::MethodCall(call) => self.method_call(call),
            Expr::Cast(cast) => self.cast(cast),
            Expr::If(branch) => {
                self.no_jump(expr)?;
                let Some((_, other)) = &branch.else_branch else {
                    self.effect(expr)?;
                    return Ok(unit());
                };
                self.scopes.push(Default::default());
                let condition = self.condition(&branch.cond);
                let then = condition.and_then(|condition| {
                    Ok((condition, self.arm_value(&branch.then_branch.stmts)?))
                });
                self.scopes.pop();
                let (condition, then) = then?;
                let other = self.arm_value(&crate::syntax::block_of(other))?;
                let (then, other) = self.same(then, other, &branch.if_token)?;
                Ok(self.chosen(condition, then, other).unwrap_or_else(unit))
            }
            Expr::Match(m) => self.match_value(m),
            Expr::Block(block) if block.label.is_none() => {
                self.no_jump(expr)?;
                self.scopes.push(Default::default());
                let value = self.statements(&block.block.stmts, Tail::Value);
                self.scopes.pop();
                Ok(value?.unwrap_or_else(unit))
            }
            Expr::Tuple(tuple) if tuple.elems.is_empty() => Ok(unit()),
            Expr::Tuple(tuple) => {
                let items: Vec<&Expr> = tuple.elems.iter().collect();
                let values = self.sequence(&items)?;
                let values = self.without_open(values, &items, &Ty::Never)?;
                let texts: Vec<&str> = values.iter().map(|v| v.text.as_str()).collect();
                let text = format!("#({})", texts.join(", "));
                let ty = Ty::Tuple(values.iter().map(|v| v.ty.clone()).collect());
                Ok(Value::new(text, ty, 9, &values.iter().collect::<Vec<_>>()))
            }
            Expr::Array(list) => {
                let items: Vec<&Expr> = list.elems.iter().collect();
                self.list(&items, Extent::Fixed(items.len().to_string()), expr)
            }
            Expr::Repeat(repeat) => {
                let extent = self.length(&repeat.len);
                self.repeated(&repeat.expr, extent.clone(), Extent::Fixed(extent))
            }
            Expr::Field(field) => {
                let whole = self.expression(&field.base)?;
                let whole = if whole.level == 9 { whole } else { self.named(whole, "whole") };
                self.member(&whole, &field.member)
            }
            Expr::Macro(call) => self.macro_call(&call.mac),
            Expr::Loop(l) if crate::syntax::gives_value(l) => {
                self.no_jump(expr)?;
                self.loop_value(l)
            }
            Expr::Assign(_) | Expr::ForLoop(_) | Expr::While(_) | Expr::Loop(_) => {
                self.no_jump(expr)?;
                self.effect(expr)?;
                Ok(unit())
            }
            Expr::Return(jump) => refuse(&jump.return_token, JUMP),
            Expr::Break(jump) => refuse(&jump.break_token, JUMP),
            Expr::Continue(jump) => refuse(&jump.continue_token, JUMP),
            Expr::Closure(closure) => refuse(&closure.or1_token, crate::curried::GIVEN),
            Expr::Struct(literal) => self.made(literal),
            Expr::Try(t) => self.succeeded(t),
            Expr::Range(range) => refuse(range, "a range stands in a `for` or in an index only"),
            Expr::Unsafe(block) => {
                refuse(&block.unsafe_token, "`unsafe` has no derivative: write safe Rust")
            }
            Expr::Await(a) => refuse(&a.await_token, "`await` has no derivative"),
            Expr::Block(block) => {
                let l = crate::loops::of_block(block)?;
                match crate::syntax::gives_value(&l) {
                    true => self.loop_value(&l),
                    false => self.endless_loop(&l).map(|()| unit()),
                }
            }
            Expr::Let(token) => Err(crate::enums::late(token)),
            _ => refuse(
                expr,
                "this expression is not built: use numbers, arrays, `if`, loops and calls",
            ),
        }
    }

    /// Refuses what leaves an expression that has a value.
    pub fn no_jump(&self, expr: &Expr) -> Result<(), Refusal> {
        if self.jumps_of(expr).is_empty() {
            return Ok(());
        }
        match crate::syntax::question(expr) {
            Some(token) => refuse(&token, crate::syntax::WITHIN),
            None => refuse(expr, JUMP),
        }
    }

    /// An arm that has a value.
    pub fn arm_value(&mut self, statements: &[Stmt]) -> Result<Arm, Refusal> {
        self.nested(|this| {
            this.scopes.push(Default::default());
            let value = this.statements(statements, Tail::Value);
            this.scopes.pop();
            value
        })
    }

    /// Values of two arms, which have one type. What never comes back gets some value of the other's.
    pub fn same(
        &mut self,
        mut then: Arm,
        mut other: Arm,
        at: &impl ToTokens,
    ) -> Result<(Arm, Arm), Refusal> {
        if let (Some(a), Some(b)) = (&mut then.1, &mut other.1) {
            let ty = self.unify(&a.ty, &b.ty);
            for one in [&mut *a, &mut *b] {
                if matches!(&one.ty, Ty::Option(inner) if **inner == Ty::Never) {
                    let text = self.neutral(&ty, &at.to_token_stream())?;
                    *one = Value::name(text, ty.clone(), i64::MIN);
                }
            }
            let (types, both) = ((a.ty.clone(), b.ty.clone()), [&mut *a, &mut *b]);
            for (one, another) in both.into_iter().zip([types.1, types.0]) {
                if one.ty == Ty::Never && another != Ty::Never {
                    let ty = match self.resolve(&another) {
                        Ty::Array(_, Extent::Slice | Extent::Vec) => {
                            return refuse(
                                at,
                                "`panic!` in place of this value is not built: write \
                                               `assert!` before the `if`",
                            );
                        }
                        known => known,
                    };
                    one.text = self.neutral(&ty, &at.to_token_stream())?;
                    one.ty = ty;
                }
                if one.ty != Ty::Never {
                    one.ty = ty.clone();
                }
            }
            if matches!(a.ty, Ty::Unit) {
                (then.1, other.1) = (None, None);
            }
        }
        Ok((then, other))
    }

    pub fn literal(&mut self, literal: &Lit, negative: bool) -> Result<Value, Refusal> {
        let constant = |text: String, ty: Ty, least: i64| Value::name(text, ty, least);
        match literal {
            Lit::Byte(b) => Ok(constant(b.value().to_string(), Ty::U8, i64::from(b.value()))),
            Lit::ByteStr(bytes) => {
                let all: Vec<String> = bytes.value().iter().map(u8::to_string).collect();
                if all.is_empty() {
                    return Err(spanned(literal, crate::syntax::EMPTY).no_length());
                }
                let ty = array(Ty::U8, Extent::Fixed(all.len().to_string()));
                Ok(constant(format!("[{}]", all.join(", ")), ty, i64::MIN))
            }
            Lit::Bool(b) => Ok(constant(b.value.to_string(), Ty::Bool, 0)),
            Lit::Float(x) => {
                let ty = match x.suffix() {
                    "" => self.unknown_float(),
                    "f64" => Ty::F64,
                    _ => Ty::F32,
                };
                self.written_float(literal, x.base10_digits(), ty)
            }
            Lit::Int(n) => {
                let ty = match n.suffix() {
                    "" => self.written_integer(literal),
                    suffix => match Ty::number(suffix) {
                        Some(float) if float.is_float() => {
                            return self.written_float(literal, n.base10_digits(), float);
                        }
                        Some(integer) => integer,
                        None => {
                            return refuse(
                                literal,
                                format!("`{suffix}` is not built: write `i64` or `u64`"),
                            );
                        }
                    },
                };
                // What is larger than any other integer is a `u64`.
                if let (Err(_), Ok(large), false) =
                    (n.base10_parse::<i64>(), n.base10_parse::<u64>(), negative)
                    && self.unify(&ty, &Ty::U64) == Ty::U64
                {
                    let bits = large.cast_signed();
                    let text = match bits {
                        i64::MIN => "(-9223372036854775807 - 1)".to_string(),
                        bits => format!("({bits})"),
                    };
                    return Ok(Value { cheap: true, ..constant(text, Ty::U64, i64::MIN) });
                }
                match n.base10_parse::<i64>() {
                    Ok(value) => Ok(constant(value.to_string(), ty, value)),
                    Err(_) if negative => refuse(literal, "write `i64::MIN`"),
                    Err(_) => refuse(literal, "this is larger than `i64::MAX`"),
                }
            }
            _ => refuse(literal, "only numbers and truth values are differentiated"),
        }
    }

    /// The type of an integer as it is written.
    fn written_integer(&mut self, at: &Lit) -> Ty {
        let ty = self.unknown_integer();
        self.open.numbers.push((ty.clone(), at.span()));
        ty
    }

    /// A float as it is written. The nearest number of 32 bits is not always that of the nearest one of 64.
    fn written_float(&self, at: &Lit, digits: &str, ty: Ty) -> Result<Value, Refusal> {
        let (Ok(wide), Ok(short)) = (digits.parse::<f64>(), digits.parse::<f32>()) else {
            return refuse(at, "write an `f64` or an `f32`");
        };
        let infinite = match self.resolve(&ty) {
            Ty::F32 => short.is_infinite(),
            _ => wide.is_infinite(),
        };
        if infinite {
            return refuse(at, "this is larger than any number of its type");
        }
        let text = self.by_width(&ty, &format!("{wide:?}"), &format!("{short:?}f32"));
        Ok(Value::name(text, ty, 0))
    }

    fn path(&mut self, path: &syn::ExprPath) -> Result<Value, Refusal> {
        if let Some(ident) = path.path.get_ident()
            && let Some(local) = self.lookup(&ident.to_string())
        {
            let local = local.clone();
            let Local { name, ty, mutable, least, .. } = local.clone();
            if matches!(ty, Ty::Function(..)) {
                return refuse(path, "a function is called, or is an argument of a call");
            }
            if local.is_open() {
                return refuse(
                    path,
                    "a list is not read in the statement in which it grows: keep what you need of it in variables",
                );
            }
            if local.stack.is_some() {
                return Ok(self.unpacked_value(&local));
            }
            if name.is_empty() {
                return refuse(
                    path,
                    "nothing is known of this list: write its type, `let mut x: Vec<f64> = ..`",
                );
            }
            let ty = self.resolve(&ty);
            if let Some(part) = self.part_of(&name, &ty) {
                return Ok(part);
            }
            return Ok(Value { text: name, ty, level: 9, stable: !mutable, cheap: true, least });
        }
        if let Some(q) = &path.qself {
            return refuse(&q.ty, "a path through a trait is not built: name the constant itself");
        }
        if path.path.is_ident("None") {
            return Ok(self.none());
        }
        // What may be a constant of the type is one; a variant without fields is written like it.
        match crate::syntax::variant_of(&path.path) {
            Some((owner, name)) if name.contains(char::is_lowercase) => {
                self.variant(&owner, &name, &[])
            }
            _ => Ok(self.constant(quote!(#path))),
        }
    }

    /// A constant, whose value and type are known to rustc.
    pub fn constant(&mut self, tokens: proc_macro2::TokenStream) -> Value {
        let written = tokens.to_string().replace(' ', "");
        let k = self.hole(Hole::Constant(tokens));
        let mut before = written.rsplit("::").skip(1);
        let ty = match (before.next(), before.next()) {
            (Some("consts"), Some("f64")) => Ty::F64,
            (Some("consts"), Some("f32")) => Ty::F32,
            // What `use` gave a name is told by that name.
            (Some("consts"), None) | (None, None) if is_of_floats(&written) => {
                let float = self.unknown_float();
                self.unify(&float, &Ty::Of(k, Vec::new()))
            }
            (of, _) => of.and_then(Ty::number).unwrap_or(Ty::Of(k, Vec::new())),
        };
        Value::name(format!("$k{k}$"), ty, i64::MIN)
    }

    /// A component of a tuple that has a name.
    pub fn component(&mut self, whole: &Value, k: usize) -> Value {
        let ty = match self.resolve(&whole.ty) {
            Ty::Tuple(items) => items.get(k).cloned().unwrap_or(Ty::Never),
            Ty::Of(hole, mut steps) => {
                steps.push(Step::Component(k));
                Ty::Of(hole, steps)
            }
            other => other,
        };
        let least = if ty == Ty::Usize { 0 } else { i64::MIN };
        let text = format!("{}.{k}", whole.text);
        Value { text, ty, level: 9, stable: whole.stable, cheap: whole.cheap, least }
    }

    /// A field of a struct, or a component of a tuple or tuple struct.
    pub fn member(&mut self, whole: &Value, member: &Member) -> Result<Value, Refusal> {
        let field = match member {
            Member::Unnamed(k) => return Ok(self.component(whole, k.index as usize)),
            Member::Named(name) => name.to_string().trim_start_matches("r#").to_string(),
        };
        let Ty::Of(hole, mut steps) = self.resolve(&whole.ty) else {
            return refuse(
                member,
                "this is no struct: a field is one of a struct that derives `jut::Data`",
            );
        };
        self.gives_struct(hole, &steps);
        let path: String = steps.iter().map(|s| format!("{s} ")).collect();
        let text = format!("{}.$field {hole} {path}{field}$", whole.text);
        steps.push(Step::Field(field));
        Ok(Value {
            text,
            ty: Ty::Of(hole, steps),
            level: 9,
            stable: whole.stable,
            cheap: whole.cheap,
            least: i64::MIN,
        })
    }

    /// The number of a struct, by its path, as a type.
    pub fn data(&mut self, path: &syn::Path) -> Result<usize, Refusal> {
        let path = self.instance(path)?.to_token_stream();
        Ok(self.hole(Hole::Data(path)))
    }

    /// A struct's path with its arguments: where it has none, those that the function's types give the struct of this path.
    pub fn instance(&self, path: &syn::Path) -> Result<syn::Path, Refusal> {
        let path = crate::types::plain(path);
        let bare = path.segments.last().is_some_and(|s| s.arguments.is_none());
        let whole = |hole: &Hole| match hole {
            Hole::Data(tokens) if bare => syn::parse2::<syn::Path>(tokens.clone()).ok(),
            _ => None,
        };
        let written = path.to_token_stream().to_string();
        let same = |other: &syn::Path| {
            let mut other = other.clone();
            let last = other.segments.last_mut();
            let arguments = last.map(|s| std::mem::take(&mut s.arguments));
            arguments.is_some_and(|a| !a.is_none())
                && other.to_token_stream().to_string() == written
        };
        let found: Vec<syn::Path> =
            self.parts.holes.iter().filter_map(whole).filter(same).collect();
        match &found[..] {
            [] => Ok(path),
            [one] => Ok(one.clone()),
            _ => refuse(&path, "write the struct's parameters: `Point::<f64>`"),
        }
    }

    /// `Point { x: 1.0, ..p }`.
    fn made(&mut self, literal: &syn::ExprStruct) -> Result<Value, Refusal> {
        if let Some(q) = &literal.qself {
            return refuse(&q.ty, "write the struct by its own path");
        }
        if let Some((owner, name)) = crate::syntax::variant_of(&literal.path) {
            let fields: Vec<(Member, &Expr)> =
                literal.fields.iter().map(|f| (f.member.clone(), &f.expr)).collect();
            return self.variant(&owner, &name, &fields);
        }
        let mut exprs: Vec<&Expr> = literal.fields.iter().map(|f| &f.expr).collect();
        let own = &literal.path;
        let of_type: Expr = syn::parse_quote!(#own::default());
        exprs.extend(literal.rest.as_deref().map(|rest| match unwrapped(rest) {
            Expr::Call(call) if is_default(call) => &of_type,
            rest => rest,
        }));
        let hole = self.data(&literal.path)?;
        let mut fields = literal.fields.iter().map(|f| f.member.to_token_stream().to_string());
        let values = self.in_order(&exprs, |this, value| {
            let step = |name: String| Step::Field(name.trim_start_matches("r#").to_string());
            let Some(step) = fields.next().map(step) else { return this.expression(value) };
            let wanted = crate::syntax::is_from_fn(value);
            this.expected.wanted = wanted.then(|| Ty::Of(hole, vec![step.clone()]));
            this.given_to_field(value, hole, step)
        })?;
        let mut text = format!("$make {hole}");
        let names = literal.fields.iter().map(|f| match &f.member {
            Member::Named(name) => name.to_string().trim_start_matches("r#").to_string(),
            Member::Unnamed(k) => k.index.to_string(),
        });
        let names: Vec<String> =
            names.chain(literal.rest.is_some().then(|| "..".to_string())).collect();
        for (name, value) in names.iter().zip(values) {
            let steps = if name == ".." { Vec::new() } else { vec![Step::Field(name.clone())] };
            let value = self.as_field(value, hole, steps);
            text.push_str(&self.field_given(name, value, name));
        }
        self.record(text, hole)
    }

    /// A struct's text, under a name.
    pub fn record(&mut self, text: String, hole: usize) -> Result<Value, Refusal> {
        let name = self.names.unique("record");
        self.lines.push(format!("{name} = {text}$"));
        Ok(Value::name(name, Ty::Of(hole, Vec::new()), i64::MIN))
    }

    /// A value as a word.
    pub fn settled(&mut self, value: Value, wanted: &str) -> String {
        let word = value.text.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '.');
        if word { value.text } else { self.named(value, wanted.trim_matches('.')).text }
    }

    fn unary(&mut self, unary: &syn::ExprUnary) -> Result<Value, Refusal> {
        match &unary.op {
            UnOp::Deref(_) => self.expression(&unary.expr),
            UnOp::Not(token) => {
                let value = self.operand(&unary.expr)?;
                match self.resolve(&value.ty) {
                    Ty::Bool => {
                        Ok(Value::new(format!("!{}", value.within(7)), Ty::Bool, 6, &[&value]))
                    }
                    Ty::I64 | Ty::U64 | Ty::Int(_) => {
                        let text = format!("prim.bitnot({})", value.text);
                        Ok(Value::new(text, value.ty.clone(), 9, &[&value]))
                    }
                    Ty::Narrow(of) => {
                        // Least and largest change places.
                        let text = format!("{} - {}", of.least() + of.most(), value.within(5));
                        Ok(Value::new(text, value.ty.clone(), 4, &[&value]))
                    }
                    ty @ Ty::Of(..) => Ok(self.inverted(value, &ty, token.span())),
                    _ => {
                        refuse(token, "the bits of a `usize` are 64 in Rust and 63 here: use `i64`")
                    }
                }
            }
            UnOp::Neg(_) => {
                if let Expr::Lit(literal) = &*unary.expr {
                    let mut value = self.literal(&literal.lit, true)?;
                    value.text = format!("-{}", value.text);
                    value.level = 6;
                    value.least = value.least.checked_neg().unwrap_or(i64::MIN);
                    return Ok(value);
                }
                let value = self.operand(&unary.expr)?;
                if let Some(negated) = self.overloaded_negation(&value, unary.span()) {
                    return Ok(negated);
                }
                let ty = self.resolve(&value.ty);
                let result = Value::new(format!("-{}", value.within(7)), ty.clone(), 6, &[&value]);
                match ty {
                    Ty::I64 => Ok(result),
                    float if float.is_float() => Ok(result),
                    _ => Ok(self.in_range(result, unary.span(), "negate")),
                }
            }
            other => refuse(other, "this operator is not built"),
        }
    }

    /// `!v` of what rustc alone knows: a truth value or an integer. That of a `usize` is beyond the integers of the text.
    fn inverted(&mut self, value: Value, ty: &Ty, span: proc_macro2::Span) -> Value {
        let value = self.named(value, "inverted");
        let v = &value.text;
        if let Some((open, close)) = self.only("usize", ty) {
            let line = self.at(span, What::Overflow("invert"), "check 0 - 1 >= 0");
            self.written_check(&open, &line, &close);
        }
        let limits = self.limits(ty);
        let narrow = limits.map_or(v.clone(), |of| format!("({} + {} - {v})", of.least, of.most));
        let forms = [
            ("bool", format!("(!{v})")),
            ("i64", format!("prim.bitnot({v})")),
            ("u64", format!("prim.bitnot({v})")),
            ("narrow", narrow),
            ("usize", v.clone()),
        ];
        let each = forms.iter().filter_map(|(name, text)| {
            self.only(name, ty).map(|(open, close)| format!("{open}{text}{close}"))
        });
        Value::new(each.collect::<String>(), ty.clone(), 9, &[&value])
    }

    /// A list of values.
    pub fn list(
        &mut self,
        items: &[&Expr],
        extent: Extent,
        at: &impl ToTokens,
    ) -> Result<Value, Refusal> {
        if items.is_empty() {
            return Err(spanned(at, crate::syntax::EMPTY).no_length());
        }
        let (mut values, mut ty) = self.of_one_type(items)?;
        let call = items.iter().zip(&values).find(|(item, _)| self.is_user_call(item));
        if let (Some((item, value)), true) = (call, items.len() > 1) {
            self.stands_in_a_list(item, &value.ty);
        }
        if self.is_of_a_list(&values[0]) && crate::uneven::may_have_several_lengths(items) {
            values = values.into_iter().map(|value| self.made_row(value)).collect();
            ty = values[0].ty.clone();
        }
        let texts: Vec<&str> = values.iter().map(|v| v.text.as_str()).collect();
        let text = format!("[{}]", texts.join(", "));
        Ok(Value::new(text, array(ty, extent), 9, &values.iter().collect::<Vec<_>>()).costly())
    }

    /// The same value again and again.
    pub fn repeated(
        &mut self,
        value: &Expr,
        length: String,
        extent: Extent,
    ) -> Result<Value, Refusal> {
        let element = match self.expected.wanted.take() {
            Some(Ty::Array(element, _)) => *element,
            _ => Ty::Never,
        };
        let given = self.expression(value)?;
        let value = self.with_type(given, &element, value)?;
        let value = if value.cheap && value.stable { value } else { self.named(value, "each") };
        let index = self.names.unique("i");
        let text = format!("build ({index} < {length}) {{ {} }}", value.text);
        let ty = array(value.ty.clone(), extent);
        // An array has a name of its own: so the text never makes it twice.
        let made = Value::new(text, ty, 0, &[]).costly();
        let name = self.names.unique("array");
        self.lines.push(format!("{name} = {}", made.text));
        Ok(Value::name(name, made.ty, i64::MIN))
    }

    /// `a[i]`, `a[i][j]`, `a[i..j]`.
    fn index(&mut self, index: &syn::ExprIndex) -> Result<Value, Refusal> {
        let span = index.span();
        if let Some((list, n)) = self.partial_list(&index.expr)
            && !matches!(unwrapped(&index.index), Expr::Range(_))
        {
            let at = self.operand(&index.index)?;
            let at = self.convert(at, &Ty::Usize);
            let at = self.named(at, "at").text;
            // What is not pushed yet is out of range.
            let ty = self.element(&list.ty);
            let least = if ty == Ty::Usize { 0 } else { i64::MIN };
            let there = format!("prim.select({at} < {n}, {at}, -1)");
            let element = self.at(span, What::Same, &format!("{}[{there}]", list.name));
            let element = Value { least, ..Value::new(element, ty, 9, &[]) };
            return Ok(self.named(Value { stable: false, ..element }, "element"));
        }
        if let Some(element) = self.own_row_element(index)? {
            return Ok(element);
        }
        let base = self.expression(&index.expr)?;
        if let Some(element) = self.own_element(&base, index)? {
            return Ok(element);
        }
        if let Some((row, column)) = crate::libraries::of_a_matrix(&index.index)
            && let of @ Ty::Of(..) = self.resolve(&base.ty)
        {
            let base = self.named(base, "matrix");
            let both = self.operands(&[row, column])?;
            let both: Vec<Value> =
                both.into_iter().map(|at| self.convert(at, &Ty::Usize)).collect();
            let text = format!("{}[{}, {}]", base.text, both[0].text, both[1].text);
            let text = self.at(span, What::Same, &text);
            let value = Value::new(text, self.element(&of), 9, &[&base, &both[0], &both[1]]);
            return Ok(value.costly());
        }
        if let Expr::Range(range) = unwrapped(&index.index) {
            let base = self.named(base, "part");
            let (start, end) = self.ends(range, &base.text)?;
            let ty = match self.resolve(&base.ty) {
                Ty::Array(element, _) => array(*element, Extent::Slice),
                of @ Ty::Of(..) => array(self.element(&of), Extent::Slice),
                other => other,
            };
            let text = self.at(span, What::Same, &format!("{}[{start} .. {end}]", base.text));
            let name = self.names.unique("part");
            self.lines.push(format!("{name} = {text}"));
            return Ok(Value::name(name, ty, i64::MIN));
        }
        let (assigned, before) = (self.assigned, self.lines.len());
        let at = self.operand(&index.index)?;
        let at = self.convert(at, &Ty::Usize);
        let base = match self.assigned > assigned && !base.stable {
            true => self.named_before(before, base),
            false => base,
        };
        let ty = self.element(&base.ty);
        let of_row = crate::template::split_row(&base.text);
        let whole = of_row.as_ref().map_or(base.text.as_str(), |(element, _)| element);
        let text = match whole.strip_suffix("]\u{3}") {
            // `a[i][j]`: one access with two indices, or of a row with a length of its own an access to what is in it.
            Some(open) if of_row.is_some() && !open.contains(" .. ") => {
                let (open, at) = (crate::template::bare(open), crate::template::bare(&at.text));
                let next = of_row.map_or(String::new(), |(_, row)| format!("$next{row}$"));
                self.at(span, What::Same, &format!("{open}{next}{at}]"))
            }
            Some(open)
                if (self.resolve(&base.ty).rank() > 0 || matches!(base.ty, Ty::Of(..)))
                    && !open.contains(" .. ") =>
            {
                let open = crate::template::bare(open);
                self.at(span, What::Same, &format!("{open}, {}]", crate::template::bare(&at.text)))
            }
            _ => self.at(span, What::Same, &format!("{}[{}]", base.within(9), at.text)),
        };
        let least = if ty == Ty::Usize { 0 } else { i64::MIN };
        Ok(Value { least, ..Value::new(text, ty, 9, &[&base, &at]).costly() })
    }

    /// The type of an element.
    pub fn element(&self, ty: &Ty) -> Ty {
        match self.resolve(ty) {
            Ty::Array(element, _) => *element,
            Ty::Of(hole, mut steps) => {
                steps.push(Step::Element);
                Ty::Of(hole, steps)
            }
            other => other,
        }
    }
}

/// Whether a call is `Default::default()`.
fn is_default(call: &syn::ExprCall) -> bool {
    match unwrapped(&call.func) {
        Expr::Path(path) => {
            let words: Vec<String> =
                path.path.segments.iter().map(|s| s.ident.to_string()).collect();
            words.ends_with(&["Default".to_string(), "default".to_string()])
        }
        _ => false,
    }
}
