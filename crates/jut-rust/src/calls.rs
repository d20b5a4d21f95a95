//! Calls of functions, methods and macros.

use crate::lowering::{Local, Lowering};
use crate::methods;
use crate::results::surely;
use crate::syntax::{key, unwrapped};
use crate::template::Hole;
use crate::types::{Extent, Step, Ty, array};
use crate::value::Value;
use crate::{Refusal, refuse, spanned};
use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Expr, ExprCall, ExprMethodCall, PathArguments};

impl Lowering<'_> {
    /// A call of a function. Where its value is a number or truth value for certain (`inline`), it needs no name.
    pub fn call(&mut self, call: &ExprCall, inline: bool) -> Result<Value, Refusal> {
        if let Some((name, call)) = crate::pointers::called(call)
            && self.lookup(&name.to_string()).is_some_and(|local| local.closure.is_some())
        {
            return self.call(&call, inline);
        }
        if let Some(call) = self.called_at_once(call)? {
            return self.call(&call, inline);
        }
        let Expr::Path(path) = unwrapped(&call.func) else {
            return refuse(&call.func, "a function is called by its name here");
        };
        if let Some(q) = &path.qself {
            return refuse(
                &q.ty,
                "a path through a trait is not built: call a function by its own path",
            );
        }
        if let Some((place, value)) = crate::restated::replaced(call) {
            return self.replacement(&place, value);
        }
        let local = path.path.get_ident().and_then(|i| self.lookup(&i.to_string())).cloned();
        if let Some(local) = local {
            return self.local_call(&local, call);
        }
        let Some(last) = path.path.segments.last() else {
            return refuse(path, "a function is expected here");
        };
        let name = last.ident.to_string();
        // The types and lengths in `f::<P, 3>(..)` are found by the arguments too.
        let mut named = path.path.clone();
        if let Some(last) = named.segments.last_mut() {
            last.arguments = PathArguments::None;
        }
        let sure = std::mem::take(&mut self.expected.sure);
        let arguments: Vec<&Expr> = call.args.iter().collect();
        let before = path.path.segments.iter().rev().nth(1).map(|s| s.ident.to_string());
        match before.as_deref() {
            Some(of) if name == "from" && Ty::number(of).is_some() => {
                let [argument] = &arguments[..] else {
                    return refuse(path, "one argument is expected here");
                };
                let ty = &path.path.segments[path.path.segments.len() - 2].ident;
                return self.cast(&syn::parse_quote!((#argument) as #ty));
            }
            Some(of) if Ty::number(of).is_some() => {
                let ty = Ty::number(of).unwrap_or(Ty::F64);
                let values = self.operands(&arguments)?;
                let Some((receiver, rest)) = values.split_first() else {
                    return refuse(path, format!("`{name}` is not built"));
                };
                let receiver = self.convert(receiver.clone(), &ty);
                return self.number_method(&name, receiver, rest, &last.ident);
            }
            Some("Vec") => {
                return Err(spanned(path, crate::syntax::NEW).no_length());
            }
            Some("array") | None if name == "from_fn" => {
                let (wanted, [function]) = (self.expected.wanted.take(), &arguments[..]) else {
                    return refuse(path, "one argument is expected here");
                };
                return match wanted {
                    Some(Ty::Array(element, Extent::Fixed(n))) => {
                        self.made_by(function, &n, *element)
                    }
                    // How long a field is, is known when the text is put together.
                    Some(Ty::Of(hole, mut of)) => {
                        let steps = crate::types::words(&of);
                        of.push(crate::types::Step::Element);
                        self.made_by(function, &format!("$fixed {hole}{steps}$"), Ty::Of(hole, of))
                    }
                    _ => refuse(
                        path,
                        "say what this makes: `let x: [f64; N] = std::array::from_fn(..);`",
                    ),
                };
            }
            Some("VecDeque") => {
                return refuse(
                    path,
                    "a queue is a `Vec` here: `push` adds to it, and `remove(0)` takes the first",
                );
            }
            Some("Array1" | "DVector")
                if let Some(list) = crate::libraries::made(&name, &arguments) =>
            {
                return self.expression(&list);
            }
            // A box is what is in it.
            Some("Box") if name == "new" && arguments.len() == 1 => {
                return self.expression(arguments[0]);
            }
            Some("Box" | "Rc" | "Arc" | "String" | "Some" | "Option") => {
                return refuse(path, "this is not built: use numbers, arrays and tuples");
            }
            _ => {}
        }
        if let ("Some", [value]) = (name.as_str(), &arguments[..]) {
            return self.some(value);
        }
        match (name.as_str(), &arguments[..]) {
            ("Ok", [value]) => return self.some(value),
            ("Err", [error]) => return self.no_error(error),
            _ => {}
        }
        if matches!(name.as_str(), "Some" | "Ok" | "Err" | "drop") {
            return refuse(path, format!("`{name}` is not built: use numbers, arrays and tuples"));
        }
        if let Some((owner, variant)) = crate::syntax::variant_of(&path.path) {
            let fields: Vec<(syn::Member, &Expr)> =
                arguments.iter().enumerate().map(|(k, e)| (syn::Member::from(k), *e)).collect();
            return self.variant(&owner, &variant, &fields);
        }
        if starts_upper(&name) {
            return self.constructed(&path.path, &arguments);
        }
        if name == "default"
            && arguments.is_empty()
            && let Some(value) = self.default_of(&path.path)?
        {
            return Ok(value);
        }
        let function = match path.path.segments.iter().rev().nth(1) {
            // A function of a type is found by the type.
            Some(ty) if starts_upper(&ty.ident.to_string()) => {
                let mut owner = path.path.clone();
                owner.segments.pop();
                owner.segments.pop_punct();
                let parameter = owner.get_ident().filter(|ty| self.is_type(ty)).cloned();
                if let Some(parameter) = parameter {
                    if let Some(value) = self.of_std_bound(&parameter, &name, &arguments)? {
                        return Ok(value);
                    }
                    let hole = match arguments.is_empty() {
                        true => Hole::Maker(parameter, last.ident.clone(), false),
                        false => Hole::Bound(parameter, last.ident.clone()),
                    };
                    let hole = self.hole(hole);
                    return self.called(hole, &arguments, call.span(), inline);
                }
                let owner = self.instance(&owner)?;
                Hole::Method(
                    quote_spanned!(last.ident.span()=> ::jut::rust::of::<#owner>()),
                    key(&name),
                )
            }
            _ => {
                // Which function it is may depend on the types of its arguments.
                self.parts.holes.push(surely(sure, Hole::Function(named.to_token_stream())));
                let hole = self.parts.holes.len() - 1;
                return self.called(hole, &arguments, call.span(), inline);
            }
        };
        let hole = self.hole(surely(sure, function));
        self.called(hole, &arguments, call.span(), inline)
    }

    /// `Point::default()`: by the `impl` with the attribute, or else the value that there is when the text is put together. Nothing of
    /// a type parameter.
    fn default_of(&mut self, path: &syn::Path) -> Result<Option<Value>, Refusal> {
        let mut owner = path.clone();
        owner.segments.pop();
        owner.segments.pop_punct();
        let upper = owner.segments.last().is_some_and(|s| starts_upper(&s.ident.to_string()));
        if !upper || self.mentions_type(&owner.to_token_stream()) {
            return Ok(None);
        }
        let owner = self.instance(&owner)?;
        let data = self.data(&owner)?;
        let hole = self.hole(Hole::Default(owner.to_token_stream()));
        let (size, name) = (self.names.unique("n_value"), self.names.unique("value"));
        self.lines.push(format!(
            "$if vec {hole}$($names {hole} {size}$$end${name}$if vec {hole}$)$end$ = $k{hole}$"
        ));
        Ok(Some(Value::name(name, Ty::Of(data, Vec::new()), i64::MIN)))
    }

    /// A call of what fills a hole.
    fn called(
        &mut self,
        hole: usize,
        arguments: &[&Expr],
        span: Span,
        inline: bool,
    ) -> Result<Value, Refusal> {
        let open = self.expected.targets.len();
        let rows = self.expected.rows.take();
        let values = self.arguments(arguments, hole, 0)?;
        let targets = self.expected.targets.split_off(open);
        self.expected.rows = rows;
        let own = |value: &Value| self.argument_type(&value.ty);
        let types: Vec<Option<TokenStream>> = values.iter().map(own).collect();
        if types.iter().any(Option::is_some) {
            let types = types.into_iter().map(|ty| ty.unwrap_or(quote!(::jut::rust::of::<()>())));
            let types = quote!((#(#types,)*));
            match &mut self.parts.holes[hole] {
                Hole::Sure(inner) | Hole::Unwrapped(inner) => with_types(inner, types),
                own => with_types(own, types),
            }
        }
        self.linked(hole, values, targets, span, inline)
    }

    /// Whether a name is that of a type parameter.
    fn is_type(&self, name: &syn::Ident) -> bool {
        self.signature.types.iter().any(|t| t.ident == *name)
    }

    /// The type of a struct, of its parts, or of a list of these, as an expression that stands for it.
    pub fn type_of(&self, ty: &Ty) -> Option<TokenStream> {
        self.type_by(ty, false)
    }

    /// The same, also of what functions give that have no type parameters.
    pub fn type_by(&self, ty: &Ty, functions: bool) -> Option<TokenStream> {
        match self.resolve(ty) {
            Ty::Array(element, _) => {
                let element = self.type_by(&element, functions)?;
                Some(quote!(::jut::rust::list(#element)))
            }
            Ty::Of(hole, steps) => {
                let mut ty = match self.parts.holes.get(hole)? {
                    Hole::Function(_)
                    | Hole::Call(..)
                    | Hole::Uneven(_)
                    | Hole::Making(_)
                    | Hole::Perhaps(_)
                    | Hole::Untold(_)
                    | Hole::Following(..)
                        if !functions =>
                    {
                        return None;
                    }
                    Hole::Sure(inner) | Hole::Unwrapped(inner)
                        if !functions && !matches!(**inner, Hole::Method(..)) =>
                    {
                        return None;
                    }
                    // That a struct has no derivatives is said where it stands, not again of each field.
                    Hole::Data(path) if functions && !steps.is_empty() => quote! {{
                        #[allow(unused_imports)]
                        use ::jut::rust::{Known as _, Unknown as _};
                        (&::jut::rust::asked::<#path>()).of()
                    }},
                    Hole::Constant(value) if self.mentions_type(value) => return None,
                    known => given_by(hole, known)?,
                };
                for step in &steps {
                    ty = match step {
                        Step::Element | Step::Row => quote!(::jut::rust::element(#ty)),
                        Step::Argument(..) | Step::Parameter(_) => return None,
                        other => {
                            let key = key(&other.to_string());
                            quote!(::jut::rust::field::<#key, _, _>(#ty))
                        }
                    };
                }
                Some(ty)
            }
            _ => None,
        }
    }

    /// `Point(x, y)` of a tuple struct.
    fn constructed(&mut self, path: &syn::Path, arguments: &[&Expr]) -> Result<Value, Refusal> {
        let (hole, mut k) = (self.data(path)?, 0..);
        let values = self.in_order(arguments, |this, value| {
            this.given_to_field(value, hole, Step::Component(k.next().unwrap_or_default()))
        })?;
        let mut text = format!("$make {hole}");
        for (k, value) in values.into_iter().enumerate() {
            let value = self.as_field(value, hole, vec![Step::Component(k)]);
            text.push_str(&self.field_given(&k.to_string(), value, "part"));
        }
        self.record(text, hole)
    }

    /// A method of a struct, found by the type of what it is called on; or what that is, if it is no struct.
    pub fn user_method(
        &mut self,
        call: &ExprMethodCall,
        asked: Option<usize>,
    ) -> Result<Result<Value, Value>, Refusal> {
        let name = call.method.to_string();
        let sure = std::mem::take(&mut self.expected.sure);
        let rows = self.expected.rows.take();
        let open = self.expected.targets.len();
        // Of a list in a record there is no place: its methods are none of a struct.
        let place = self.root(&call.receiver).is_some_and(|l| l.mutable && l.stack.is_none());
        let (receiver, target) = match place {
            true => {
                // Most methods change nothing.
                let (place, _) = self.looked_at(&call.receiver)?;
                (Value { level: 9, ..place.clone() }, Some(place.text))
            }
            false => (self.expression(&call.receiver)?, None),
        };
        let Ty::Of(hole, steps) = self.resolve(&receiver.ty) else {
            return Ok(Err(receiver));
        };
        self.gives_struct(hole, &steps);
        // What a function of a type parameter makes out of nothing is of that type, whose method this is.
        let maker = match self.parts.holes.get_mut(hole) {
            Some(Hole::Maker(parameter, _, itself)) if steps.is_empty() => {
                *itself = true;
                Some(parameter.clone())
            }
            _ => None,
        };
        let known = self.parts.holes.get(hole).filter(|h| {
            // Of a constant of a type parameter nothing is known; and what has one word may be a static that is no constant.
            let whole = |value: &TokenStream| steps.is_empty() && !value.to_string().contains("::");
            !matches!(h, Hole::Constant(value) if self.mentions_type(value) || whole(value))
        });
        let made = maker.as_ref().map(|ty| quote!(::jut::rust::of::<#ty>()));
        let Some(mut owner) = made.or_else(|| given_by(hole, known?)) else {
            return refuse(
                &call.receiver,
                "bind this to a name with its type before: `let x: T = ..;`",
            );
        };
        // Errors about the method are at its name.
        let at = call.method.span();
        for step in &steps {
            owner = match step {
                Step::Element | Step::Row => quote!(::jut::rust::element(#owner)),
                Step::Argument(..) => {
                    return refuse(
                        &call.receiver,
                        "write the type of this parameter of the closure: `|x: T| ..`",
                    );
                }
                Step::Parameter(_) => {
                    return refuse(
                        &call.receiver,
                        "write the type of this number where it is declared: `let k: usize = ..`",
                    );
                }
                other => {
                    let key = key(&other.to_string());
                    quote!(::jut::rust::field::<#key, _, _>(#owner))
                }
            };
        }
        let owner = owner
            .into_iter()
            .map(|mut t| {
                t.set_span(t.span().located_at(at));
                t
            })
            .collect();
        let arguments: Vec<&Expr> = call.args.iter().collect();
        let (assigned, before) = (self.assigned, self.lines.len());
        let parameter = match self.parts.holes.get(hole) {
            Some(Hole::Data(path)) if steps.is_empty() => syn::parse2(path.clone()).ok(),
            _ => maker,
        };
        let method = match parameter.filter(|ty| self.is_type(ty)) {
            Some(parameter) => Hole::Bound(parameter, call.method.clone()),
            None => surely(sure, Hole::Method(self.looked_up(owner, &name, at), key(&name))),
        };
        let hole = asked.unwrap_or_else(|| self.hole(method));
        let rest = self.arguments(&arguments, hole, 1)?;
        let receiver = match self.assigned > assigned && !receiver.stable && target.is_none() {
            true => self.named_before(before, receiver),
            false => receiver,
        };
        let mut targets = vec![target];
        targets.extend(self.expected.targets.split_off(open));
        let values: Vec<Value> = [receiver].into_iter().chain(rest).collect();
        self.expected.rows = rows;
        self.linked(hole, values, targets, call.span(), false).map(Ok)
    }

    /// The variable that a place is in.
    pub fn root(&self, place: &Expr) -> Option<&Local> {
        match unwrapped(place) {
            Expr::Path(path) => path.path.get_ident().and_then(|i| self.lookup(&i.to_string())),
            Expr::Index(index) => self.root(&index.expr),
            Expr::Field(field) => self.root(&field.base),
            Expr::Unary(unary) if matches!(unary.op, syn::UnOp::Deref(_)) => self.root(&unary.expr),
            _ => None,
        }
    }

    /// The arguments of a call. What those refer to that may be changed is left in `targets`, one for each; nothing of what
    /// has no name.
    fn arguments(
        &mut self,
        arguments: &[&Expr],
        hole: usize,
        first: usize,
    ) -> Result<Vec<Value>, Refusal> {
        let open = self.expected.targets.len();
        self.in_order(arguments, |this, argument| {
            let k = first + this.expected.targets.len() - open;
            if let Some(value) = this.function_argument(argument, hole, k)? {
                this.expected.targets.push(None);
                return Ok(value);
            }
            let (value, target) = match unwrapped(argument) {
                Expr::Reference(reference)
                    if reference.mutability.is_some() && is_place(&reference.expr) =>
                {
                    let (place, _) = this.part(&reference.expr)?;
                    let value = Value { level: 9, ..place.clone() };
                    (value, Some(place.text))
                }
                // It may be one that makes rows.
                Expr::Reference(reference)
                    if reference.mutability.is_none()
                        && crate::bindings::is_of_function(&reference.expr)
                        && this.is_user_call(&reference.expr) =>
                {
                    this.expected.rows = Some(Ty::Never);
                    let rows = this.expression(&reference.expr);
                    this.expected.rows = None;
                    (this.named(rows?, "given"), None)
                }
                // What nobody can look at afterwards.
                Expr::Reference(reference) if reference.mutability.is_some() => {
                    (this.expression(&reference.expr)?, Some(String::new()))
                }
                Expr::Path(path) => {
                    let found = path.path.get_ident().and_then(|i| this.lookup(&i.to_string()));
                    let target = found.filter(|l| l.reference).map(|l| l.name.clone());
                    (this.expression(argument)?, target)
                }
                Expr::Call(call) if crate::syntax::is_some(call) => {
                    (this.some_argument(call)?, None)
                }
                _ => (this.expression(argument)?, None),
            };
            this.expected.targets.push(target);
            Ok(value)
        })
    }

    /// `list.try_into().unwrap()` where an array is wanted.
    fn array_of(&mut self, list: &Expr, at: &syn::Ident) -> Result<Value, Refusal> {
        let (length, ty) = match self.expected.wanted.take() {
            Some(Ty::Array(element, Extent::Fixed(n))) => {
                (n.clone(), Ty::Array(element, Extent::Fixed(n)))
            }
            Some(Ty::Of(hole, of)) => {
                let steps = crate::types::words(&of);
                (format!("$fixed {hole}{steps}$"), Ty::Of(hole, of))
            }
            _ => {
                return refuse(
                    at,
                    "say what this makes: `let x: [f64; 3] = y[..3].try_into().unwrap();`",
                );
            }
        };
        let list = self.expression(list)?;
        let list = self.named(list, "list");
        let wanted = self.element(&ty);
        let element = self.element(&list.ty);
        self.unify(&element, &wanted);
        let there = Value::name(format!("size({}) == {length}", list.text), Ty::Bool, 0);
        self.asserted(at.span(), &there, "a list is no array of another length".to_string());
        let (i, name) = (self.names.unique("i"), self.names.unique("array"));
        self.lines.push(format!("{name} = build ({i} < {length}) {{ {}[{i}] }}", list.text));
        Ok(Value::name(name, ty, i64::MIN))
    }

    /// A method of a number or an array.
    pub fn method_call(&mut self, call: &ExprMethodCall) -> Result<Value, Refusal> {
        let name = call.method.to_string();
        let optional = std::mem::take(&mut self.expected.optional);
        if let Some(value) = self.own_or_of_a_list(call, false)? {
            return Ok(value);
        }
        if let Some(value) = self.list_in_a_field(call, false)? {
            return Ok(value);
        }
        if let Some(said) = crate::parted::concatenated(call).or_else(|| crate::letters::told(call))
        {
            return self.expression(&said);
        }
        if let Some(said) = crate::halved::found(call)? {
            return self.expression(&said);
        }
        if let Some(said) = crate::halved::otherwise(call)? {
            return self.expression(&said);
        }
        if let Some(said) = crate::restated::conditional(call) {
            return self.expression(&said);
        }
        if let Some(list) = crate::syntax::into_array(&Expr::MethodCall(call.clone())) {
            return self.array_of(list, &call.method);
        }
        if let Some(said) = crate::restated::within(call) {
            return self.expression(&said);
        }
        if crate::iterators::is_chain(call) {
            return self.chain(call);
        }
        if let Some(value) = self.result_method(call)? {
            return Ok(value);
        }
        if let Some(value) = self.option_that_is_replaced(call)? {
            return Ok(value);
        }
        if let Some(value) = self.option_method(call, optional)? {
            return Ok(value);
        }
        // A name for an array has `map` too.
        if name != "map"
            && crate::syntax::OF_OPTIONS.contains(&name.as_str())
            && self.is_struct(&call.receiver)
            && let Ok(value) = self.user_method(call, None)?
        {
            return Ok(value);
        }
        if let Some(turbofish) = &call.turbofish {
            return refuse(turbofish, "this call with types is not built: write a `for` loop");
        }
        if let Some((list, n)) = self.partial_list(&call.receiver)
            && call.args.is_empty()
        {
            match name.as_str() {
                "len" => {
                    let n = Value { stable: false, ..Value::name(n, Ty::Usize, 0) };
                    return Ok(self.named(n, "length"));
                }
                "last" => {
                    let ty = self.element(&list.ty);
                    let other = self.neutral(&self.resolve(&ty), &call.method)?;
                    let option = self.names.unique("option");
                    self.lines.push(format!(
                        "{option} = if {n} > 0 {{ #(true, {}[{n} - 1]) }} else {{ #(false, {other}) }}",
                        list.name
                    ));
                    return Ok(Value::name(option, Ty::Option(Box::new(ty)), i64::MIN));
                }
                _ => {}
            }
        }
        let whole = [
            "len",
            "is_empty",
            "to_vec",
            "clone",
            "to_owned",
            "as_slice",
            "as_ref",
            "concat",
            "partition_point",
        ];
        let iterates = ["iter", "into_iter", "iter_mut", "windows", "chunks", "first", "last"];
        if name == "get" && (self.operators.lists || self.is_list(&call.receiver)) {
            let list = self.expression(&call.receiver)?;
            return self.element_option(list, call);
        }
        let own = self.is_struct(&call.receiver)
            && !self.operators.lists
            && ["first", "last"].contains(&name.as_str());
        let receiver = if own {
            match self.user_method(call, None)? {
                Ok(value) => return Ok(value),
                Err(receiver) => receiver,
            }
        } else if whole.contains(&name.as_str()) || iterates.contains(&name.as_str()) {
            self.expression(&call.receiver)?
        } else if name == "map"
            && matches!(call.args.first(), Some(Expr::Closure(_) | Expr::Path(_)))
        {
            let list = self.expression(&call.receiver)?;
            if let Ty::Of(hole, steps) = self.resolve(&list.ty) {
                // A constant, and a field, is an array, whose length the linker knows.
                let known =
                    matches!(self.parts.holes.get(hole), Some(Hole::Constant(_) | Hole::Data(_)));
                let steps = crate::types::words(&steps);
                let length = known.then(|| format!("$fixed {hole}{steps}$"));
                return self.each(list, length, &call.args[0]);
            }
            list
        } else if methods::is_known(&name) && methods::takes(&name, call.args.len()) {
            // What a function gives is a number here.
            let receiver = self.operand(&call.receiver)?;
            if let Some(value) = self.numeric_method(&receiver, call)? {
                return Ok(value);
            }
            receiver
        } else {
            match self.user_method(call, None)? {
                Ok(value) => return Ok(value),
                Err(receiver) => receiver,
            }
        };
        let ty = self.resolve(&receiver.ty);
        let arguments: Vec<&Expr> = call.args.iter().collect();
        if (matches!(ty, Ty::Array(..)) || name == "partition_point")
            && let Some(value) = self.restated(&receiver, call)?
        {
            return Ok(value);
        }
        match (&ty, name.as_str()) {
            (Ty::Array(_, Extent::Fixed(n)), "len") => {
                let least = n.parse().unwrap_or(0);
                return Ok(Value::name(n.clone(), Ty::Usize, least));
            }
            (Ty::Array(..) | Ty::Of(..), "len" | "is_empty") => {
                let whole = self.named(receiver, "list");
                let length = Value::name(self.count_of(&whole), Ty::Usize, 0);
                return Ok(match name.as_str() {
                    "len" => length,
                    _ => Value::new(format!("{} == 0", length.text), Ty::Bool, 3, &[]),
                });
            }
            (Ty::Array(..) | Ty::Of(..), "first" | "last") => {
                return self.element_option(receiver, call);
            }
            (rows, "concat")
                if call.args.is_empty()
                    && self.is_uneven(rows)
                    && matches!(unwrapped(&call.receiver), Expr::Path(_)) =>
            {
                let rows = &call.receiver;
                return self.expression(
                    &syn::parse_quote!(#rows.iter().flatten().copied().collect::<Vec<_>>()),
                );
            }
            (Ty::Array(row, _), "concat") if call.args.is_empty() => {
                let Ty::Array(element, extent) = (**row).clone() else {
                    return refuse(&call.method, "`concat` is that of rows `[f64; N]` here");
                };
                let list = self.named(receiver, "list").text;
                let n = match extent {
                    Extent::Fixed(n) => n,
                    _ => format!("size({list}, 1)"),
                };
                let (i, all) = (self.names.unique("i"), self.names.unique("list"));
                self.lines.push(format!(
                    "{all} = build ({i} < size({list}) * {n}) {{ {list}[{i} / {n}, {i} % {n}] }}"
                ));
                return Ok(Value::name(all, array(*element, Extent::Slice), i64::MIN));
            }
            (Ty::Array(_, Extent::Fixed(n)), "map") if call.args.len() == 1 => {
                return self.each(receiver.clone(), Some(n.clone()), &call.args[0]);
            }
            (Ty::Array(element, _), "to_vec") => {
                let ty = array((**element).clone(), Extent::Vec);
                return Ok(Value { ty, ..receiver });
            }
            (Ty::Of(..), "to_vec" | "as_slice") if self.operators.lists => return Ok(receiver),
            (Ty::Array(..), "clone" | "to_owned" | "as_slice" | "as_ref") => return Ok(receiver),
            (
                Ty::F64
                | Ty::F32
                | Ty::Float(_)
                | Ty::I64
                | Ty::Narrow(_)
                | Ty::U64
                | Ty::Usize
                | Ty::Bool
                | Ty::Of(..),
                "clone" | "to_owned" | "as_ref",
            ) => {
                return Ok(receiver);
            }
            (
                Ty::Array(..),
                "iter" | "into_iter" | "iter_mut" | "windows" | "chunks" | "chunks_exact",
            ) => {
                return refuse(
                    &call.method,
                    "this use of an iterator is not built: end it by `sum`, `product`, `fold`, `all`, `any` or `collect`, or write a `for` loop",
                );
            }
            (Ty::Array(..), "push" | "extend" | "append") => {
                return refuse(
                    &call.method,
                    "an array keeps its length here: write `vec![0.0; n]`, and assign its elements",
                );
            }
            (
                Ty::Array(..),
                "pop" | "insert" | "resize" | "truncate" | "clear" | "drain" | "split_off"
                | "remove" | "swap_remove",
            ) => {
                return refuse(
                    &call.method,
                    "an array keeps its length here: take the part that stays, `let shorter = x[..n].to_vec();`",
                );
            }
            (Ty::Array(..), "retain" | "dedup" | "dedup_by" | "dedup_by_key") => {
                return refuse(
                    &call.method,
                    "an array keeps its length here: write `x.iter().copied().filter(..).collect()`, or push what stays to another list",
                );
            }
            (Ty::Array(..), "split_at") if arguments.len() == 1 => {
                return self.both_parts(receiver, arguments[0]);
            }
            (Ty::Array(..), "split_at_mut") => {
                return refuse(
                    &call.method,
                    "two parts of a list have names: `let (a, b) = x.split_at_mut(k);`",
                );
            }
            (Ty::Array(..), _) => {
                return refuse(
                    &call.method,
                    format!(
                        "`{name}` of an array is not built: `len`, `is_empty`, `to_vec`, `clone`, `swap` and `fill` are"
                    ),
                );
            }
            _ => {}
        }
        if let Expr::Range(_) = unwrapped(&call.receiver) {
            return refuse(&call.method, "a range stands in a `for` only");
        }
        let (assigned, before) = (self.assigned, self.lines.len());
        let values = match &arguments[..] {
            [exponent] if name == "pow" => vec![self.exponent(exponent)?],
            _ => self.operands(&arguments)?,
        };
        let receiver = match self.assigned > assigned && !receiver.stable {
            true => self.named_before(before, receiver),
            false => receiver,
        };
        self.number_method(&name, receiver, &values, &call.method)
    }
}

/// What fills the hole of a function that is called with arguments of some types.
fn with_types(hole: &mut Hole, types: TokenStream) {
    if let Hole::Function(path) = hole {
        *hole = Hole::Call(path.clone(), types);
    }
}

/// The type of what a call gives, as an expression that stands for it.
pub(crate) fn given_by(number: usize, hole: &Hole) -> Option<TokenStream> {
    Some(match hole {
        Hole::Data(path) => quote!(::jut::rust::of::<#path>()),
        Hole::Function(path) => quote!(::jut::rust::given::<#path, (), _>(())),
        Hole::Call(path, types) => quote!(::jut::rust::given::<#path, _, _>(#types)),
        Hole::Method(owner, key) => quote!(::jut::rust::result::<#key, _, _>(#owner)),
        Hole::Sure(inner) | Hole::Unwrapped(inner) => {
            let whole = given_by(number, inner)?;
            quote!(::jut::rust::succeeded(#whole))
        }
        Hole::Uneven(inner)
        | Hole::Making(inner)
        | Hole::Perhaps(inner)
        | Hole::Untold(inner)
        | Hole::Following(inner, _) => {
            return given_by(number, inner);
        }
        Hole::Operator(..) => crate::overloaded::type_name(number).to_token_stream(),
        Hole::Default(path) => quote!(::jut::rust::of::<#path>()),
        Hole::Constant(value) => quote!(::jut::rust::of_value(&(#value))),
        Hole::Length(_) | Hole::Bound(..) | Hole::Maker(..) => return None,
    })
}

/// Whether a name is that of a type.
fn starts_upper(name: &str) -> bool {
    name.trim_start_matches("r#").starts_with(|c: char| c.is_uppercase())
}

/// Whether an expression is a place, of which `&mut` changes what is there.
fn is_place(expr: &Expr) -> bool {
    match unwrapped(expr) {
        Expr::Path(_) | Expr::Unary(_) => true,
        Expr::Index(index) => is_place(&index.expr),
        Expr::Field(field) => is_place(&field.base),
        _ => false,
    }
}
