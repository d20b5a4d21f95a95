//! Functions that give a `Result`, and `?` on one.
//!
//! In the text there is no value for an error. So such a function has two texts: one that fails where the function gives an `Err`, as
//! after a `panic!`, which is what its derivatives are of; and one that gives an [`Option`](crate::options), for those who look at
//! what it gives:
//!
//! ```text
//! fn root(x: f64) -> Result<f64, String> {        def root(x: f64) -> f64 = {
//!     if x < 0.0 {                                  if x < 0.0 { check -1 >= 0 }         the message is that of the `Err`
//!         return Err("negative".to_string());       sqrt(x)
//!     }                                           }
//!     Ok(x.sqrt())                                def root_2(x: f64) -> #(bool, f64) = ..
//! }
//! let y = root(x)?;                               y = root(x)            in the text that fails, of a caller with a `Result`
//! let y = root(x).unwrap_or(0.0);                 option = root_2(x)
//! ```
//!
//! The first text is Rust's function with each `Ok(v)` that it ends with as `v`, and each `Err(e)` as a `panic!`. The second one has `Some(v)`
//! and `None` in their place.
//!
//! Requires: an error is a text, a variant or a struct of such: computing it does not fail, and nobody looks into it. The second text is there where
//! an `Option` could be the result.
//! Ensures: a call of a derivative is an error exactly where the function gives an `Err`, or panics; its message is the `Err`'s, as it is
//! written.

use crate::lowering::Lowering;
use crate::signature::{Errors, Signature};
use crate::syntax::{block_of, called, unwrapped};
use crate::template::Hole;
use crate::types::{Ty, success};
use crate::value::Value;
use crate::visited::{Node, each};
use crate::{Refusal, refuse};
use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use quote::ToTokens;
use syn::spanned::Spanned;
use syn::{Block, Expr, ExprMethodCall, GenericArgument, ItemFn, Stmt};

/// Methods of a `Result`, or that make one of an `Option`, which change what an error is and nothing else.
const SAME: &[&str] = &["map_err", "ok_or", "ok_or_else", "ok"];

/// The error in `Err(e)`.
fn error_in(expr: &Expr) -> Option<&Expr> {
    called(expr, "Err")
}

/// The text of an error: that of a literal, else as it is written.
fn said(error: &Expr) -> String {
    match unwrapped(error) {
        Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) => text.value(),
        Expr::MethodCall(call)
            if call.args.is_empty()
                && ["to_string", "into", "to_owned"].iter().any(|n| call.method == n) =>
        {
            said(&call.receiver)
        }
        Expr::Call(call) if call.args.len() == 1 => match unwrapped(&call.func) {
            Expr::Path(path) if path.path.segments.last().is_some_and(|s| s.ident == "from") => {
                said(&call.args[0])
            }
            _ => crate::macros::tidy(&error.to_token_stream().to_string()),
        },
        Expr::Closure(closure) => said(&closure.body),
        Expr::Macro(call) if call.mac.path.is_ident("format") => {
            match syn::parse2::<syn::LitStr>(call.mac.tokens.clone()) {
                Ok(text) => text.value(),
                Err(_) => crate::macros::tidy(&call.mac.tokens.to_string()),
            }
        }
        other => crate::macros::tidy(&other.to_token_stream().to_string()),
    }
}

/// The parts of an error that may fail when it is computed; the rest of it nobody computes.
fn risks(error: &Expr) -> Vec<Expr> {
    let all = |parts: &mut dyn Iterator<Item = &Expr>| parts.flat_map(risks).collect();
    match unwrapped(error) {
        Expr::Lit(_) | Expr::Path(_) => Vec::new(),
        Expr::Field(field) => risks(&field.base),
        Expr::Reference(inner) => risks(&inner.expr),
        Expr::Tuple(tuple) => all(&mut tuple.elems.iter()),
        Expr::Call(call) => {
            let upper = |path: &syn::ExprPath| {
                let words: Vec<String> =
                    path.path.segments.iter().map(|s| s.ident.to_string()).collect();
                let last = words.last().cloned().unwrap_or_default();
                last.starts_with(char::is_uppercase)
                    || words == ["String", "from"]
                    || words.ends_with(&["Box".to_string(), "new".to_string()])
            };
            match unwrapped(&call.func) {
                Expr::Path(path) if upper(path) => all(&mut call.args.iter()),
                _ => vec![error.clone()],
            }
        }
        Expr::Struct(literal) if literal.rest.is_none() => {
            all(&mut literal.fields.iter().map(|field| &field.expr))
        }
        Expr::MethodCall(call)
            if call.args.is_empty()
                && ["to_string", "into", "to_owned", "clone", "len"]
                    .iter()
                    .any(|n| call.method == n) =>
        {
            risks(&call.receiver)
        }
        Expr::Macro(call) if call.mac.path.is_ident("format") => {
            let parts = call.mac.parse_body_with(
                syn::punctuated::Punctuated::<Expr, syn::Token![,]>::parse_terminated,
            );
            match parts {
                Ok(parts) => all(&mut parts.iter().map(|part| match part {
                    Expr::Assign(named) => &*named.right,
                    part => part,
                })),
                Err(_) => vec![error.clone()],
            }
        }
        _ => vec![error.clone()],
    }
}

/// Whether an error may be left out: computing it does not fail.
fn harmless(error: &Expr) -> bool {
    match unwrapped(error) {
        Expr::Closure(closure) => risks(&closure.body).is_empty(),
        error => risks(error).is_empty(),
    }
}

const ERROR: &str = "an error is a text, a variant or a struct here: compute what it has in it before, `let k = ..;`";

/// An expression that a function which fails at errors ends with: what is in its `Ok`, a `panic!` with its `Err`.
#[derive(Default)]
struct Ends {
    /// Whether it is an `Option` that fails at `None`.
    option: bool,
}

impl Ends {
    fn is_none(&self, expr: &Expr) -> bool {
        let none = matches!(unwrapped(expr), Expr::Path(path) if path.path.is_ident("None"));
        self.option && none
    }

    fn end(&mut self, expr: &mut Expr) {
        let wanted = if self.option { "Some" } else { "Ok" };
        if let Some(value) = called(expr, wanted).cloned() {
            *expr = value;
            return;
        }
        if self.is_none(expr) {
            let panic = syn::Ident::new("panic", expr.span());
            *expr = syn::parse_quote!(#panic!("a `None`"));
            return;
        }
        if let Some(error) = error_in(expr) {
            *expr = self.failure(error);
            return;
        }
        match expr {
            Expr::Paren(inner) => self.end(&mut inner.expr),
            Expr::Group(inner) => self.end(&mut inner.expr),
            Expr::Block(block) if block.label.is_none() => self.last(&mut block.block),
            Expr::If(branch) => {
                self.last(&mut branch.then_branch);
                if let Some((_, other)) = &mut branch.else_branch {
                    self.end(other);
                }
            }
            Expr::Match(m) => m.arms.iter_mut().for_each(|arm| self.end(&mut arm.body)),
            Expr::Return(_) | Expr::Break(_) | Expr::Continue(_) => {}
            Expr::Macro(call) if crate::syntax::panics(&call.mac) => {}
            Expr::Loop(l) if !crate::syntax::gives_value(l) => {}
            Expr::While(_) | Expr::ForLoop(_) => {}
            other => *other = syn::parse_quote!(#other?),
        }
    }

    fn last(&mut self, block: &mut Block) {
        match block.stmts.last_mut() {
            Some(Stmt::Expr(value, None)) => {
                self.end(value);
                if matches!(value, Expr::Tuple(tuple) if tuple.elems.is_empty()) {
                    block.stmts.pop();
                }
            }
            Some(Stmt::Macro(call)) if call.semi_token.is_none() => {}
            _ => {}
        }
        branches_first(block);
    }

    /// What computes the error may fail too: then it is failure all the same.
    fn failure(&mut self, error: &Expr) -> Expr {
        let (said, at) = (said(error), error.span());
        let text = syn::LitStr::new(&said, at);
        let panic = syn::Ident::new("panic", at);
        syn::parse_quote!(#panic!(#text))
    }
}

/// `if c { panic!(..) } else { REST }` at the end of a block as `if c { panic!(..) } REST`: so nothing stands in place of a value.
fn branches_first(block: &mut Block) {
    let Some(Stmt::Expr(Expr::If(branch), None)) = block.stmts.last() else { return };
    let fails = |stmts: &[Stmt]| match stmts {
        [Stmt::Expr(Expr::Macro(call), _)] => crate::syntax::panics(&call.mac),
        [Stmt::Macro(call)] => crate::syntax::panics(&call.mac),
        _ => false,
    };
    let Some((_, other)) = &branch.else_branch else { return };
    let mut branch = branch.clone();
    let rest = match (fails(&branch.then_branch.stmts), fails(&block_of(other))) {
        (true, false) => block_of(other),
        (false, true) if crate::syntax::let_in(&branch.cond).is_none() => {
            let condition = &branch.cond;
            *branch.cond = syn::parse_quote!(!(#condition));
            let rest = branch.then_branch.stmts;
            branch.then_branch.stmts = block_of(other);
            rest
        }
        _ => return,
    };
    branch.else_branch = None;
    for stmt in &mut branch.then_branch.stmts {
        if let Stmt::Expr(_, semicolon @ None) = stmt {
            *semicolon = Some(Default::default());
        }
    }
    block.stmts.pop();
    block.stmts.push(Stmt::Expr(Expr::If(branch), Some(Default::default())));
    let inner: Expr = syn::parse_quote!({ #(#rest)* });
    block.stmts.push(Stmt::Expr(inner, None));
}

/// The body of a function with each `return Err(e)` as a `panic!`, and each `return Ok(v)` as `return v`. (What stands in functions of its own
/// is theirs.)
fn returns(tokens: TokenStream, ends: &mut Ends) -> TokenStream {
    let all: Vec<TokenTree> = tokens.into_iter().collect();
    let (mut out, mut k) = (Vec::new(), 0);
    while k < all.len() {
        match &all[k] {
            TokenTree::Ident(word) if word == "fn" => {
                // Up to its body.
                let body = |t: &TokenTree| matches!(t, TokenTree::Group(g) if g.delimiter() == Delimiter::Brace);
                let end = all[k..].iter().position(body).map_or(all.len(), |n| k + n + 1);
                out.extend(all[k..end].iter().cloned());
                k = end;
            }
            TokenTree::Ident(word) if word == "return" => {
                let (end, value) = returned(&all, k + 1);
                let inner = value.map(|value| returns(value.to_token_stream(), ends));
                let inner = inner.and_then(|tokens| syn::parse2::<Expr>(tokens).ok());
                match inner {
                    Some(mut value) => {
                        let fails = error_in(&value).is_some() || ends.is_none(&value);
                        ends.end(&mut value);
                        let nothing = matches!(&value, Expr::Tuple(t) if t.elems.is_empty());
                        if !fails {
                            out.push(all[k].clone());
                        }
                        if !nothing {
                            out.extend(value.to_token_stream());
                        }
                    }
                    None => out.extend(all[k..end].iter().cloned()),
                }
                k = end;
            }
            TokenTree::Group(group) => {
                let mut inner = Group::new(group.delimiter(), returns(group.stream(), ends));
                inner.set_span(group.span());
                out.push(inner.into());
                k += 1;
            }
            other => {
                out.push(other.clone());
                k += 1;
            }
        }
    }
    out.into_iter().collect()
}

/// What stands behind a `return`: where it ends, and the value.
fn returned(all: &[TokenTree], start: usize) -> (usize, Option<Expr>) {
    let ends = |t: &TokenTree| matches!(t, TokenTree::Punct(p) if matches!(p.as_char(), ';' | ','));
    let stops = (start..all.len()).filter(|k| ends(&all[*k])).chain([all.len()]);
    for end in stops {
        let tokens: TokenStream = all[start..end].iter().cloned().collect();
        if let Ok(value) = syn::parse2::<Expr>(tokens) {
            return (end, Some(value));
        }
    }
    (start, None)
}

/// `let Some(P) = e else { panic!(..) };` in a text that fails at errors as `let P = e.ok_or(..)?;`.
pub(crate) fn otherwise_fails(local: &syn::Local) -> Option<Stmt> {
    let init = local.init.as_ref()?;
    let (_, other) = init.diverge.as_ref()?;
    let syn::Pat::TupleStruct(own) = &local.pat else { return None };
    if !(own.path.is_ident("Some") || own.path.is_ident("Ok")) || own.elems.len() != 1 {
        return None;
    }
    let others = block_of(other);
    let call = match &others[..] {
        [Stmt::Expr(Expr::Macro(call), _)] => &call.mac,
        [Stmt::Macro(call)] => &call.mac,
        _ => return None,
    };
    let text = syn::parse2::<syn::LitStr>(call.tokens.clone()).ok();
    let text = text.filter(|_| crate::syntax::panics(call))?;
    let (pattern, value) = (&own.elems[0], &init.expr);
    Some(syn::parse_quote!(let #pattern = (#value).ok_or(#text)?;))
}

/// A function with a `Result`, or an `Option` of a list, as the text is written that fails at errors.
pub(crate) fn failing(function: &ItemFn) -> Result<ItemFn, Refusal> {
    // What is returned out of a closure is the closure's.
    let mut left = None;
    each(&*function.block, &mut |node| {
        if let Node::Expr(Expr::Closure(closure)) = node {
            left = left.or_else(|| crate::iterators::returns_in(&closure.body));
        }
        !matches!(node, Node::Item(_))
    });
    if left.is_some() {
        return Err(Refusal::new(left, crate::iterators::OUT_OF_A_CLOSURE));
    }
    let mut own = function.clone();
    let option = match &function.sig.output {
        syn::ReturnType::Type(_, ty) => crate::types::list_or_none(ty).is_some(),
        syn::ReturnType::Default => false,
    };
    let mut ends = Ends { option };
    let block = returns(function.block.to_token_stream(), &mut ends);
    own.block = syn::parse2(block).map_err(|e| Refusal::new(Some(e.span()), e.to_string()))?;
    ends.last(&mut own.block);
    Ok(own)
}

/// The hole of a call, of which an error is failure if it stands before a `?`.
pub(crate) fn surely(sure: bool, hole: Hole) -> Hole {
    if sure { Hole::Sure(Box::new(hole)) } else { hole }
}

impl Signature {
    /// The signature of the second text; nothing if there is none.
    pub fn given(&self) -> Option<Signature> {
        let sizes = crate::types::has_sizes(&self.result);
        let plain = self.errors == Errors::Fail && !sizes && self.result != Ty::Unit;
        plain.then(|| Signature {
            result: Ty::Option(Box::new(self.result.clone())),
            errors: Errors::Given,
            ..self.clone()
        })
    }
}

impl Lowering<'_> {
    /// Whether a `?` is no jump: the text fails where an error is.
    pub fn fails(&self) -> bool {
        matches!(self.signature.errors, Errors::Fail | Errors::Missing)
    }

    /// `e?` where the text fails at an error: what is in the `Ok`.
    pub fn succeeded(&mut self, question: &syn::ExprTry) -> Result<Value, Refusal> {
        if !self.fails() {
            return refuse(&question.question_token, crate::syntax::WITHIN);
        }
        let mut inner = unwrapped(&question.expr);
        let mut message = None;
        while let Expr::MethodCall(call) = inner
            && SAME.contains(&call.method.to_string().as_str())
        {
            if call.method == "ok" {
                return refuse(&call.method, "write `?` without this");
            }
            let Some(error) = call.args.first() else {
                return refuse(&call.method, "another number of arguments is expected");
            };
            // What a closure computes is computed where the call fails anyway.
            if !matches!(unwrapped(error), Expr::Closure(_)) {
                self.computed(error)?;
            }
            message.get_or_insert_with(|| said(error));
            inner = unwrapped(&call.receiver);
        }
        // A call that fails says itself what is wrong.
        let whole = self.is_user_call(inner);
        if let (Expr::MethodCall(end), None) = (inner, &message)
            && let Some(value) = self.all_succeeded(end)?
        {
            return Ok(value);
        }
        if let (Expr::MethodCall(end), None) = (inner, &message)
            && let Some(value) = self.folded(end)?
        {
            return Ok(value);
        }
        if let (Expr::MethodCall(call), None) = (inner, &message)
            && let Some(value) = self.mapped(call)?
        {
            return Ok(value);
        }
        self.expected.sure = message.is_none() && whole;
        let option = match self.expected.sure {
            true => self.expression(inner),
            false => self.optional(inner),
        };
        self.expected.sure = false;
        let option = option?;
        if let Ty::Of(hole, steps) = &option.ty
            && steps.is_empty()
            && let Some(Hole::Sure(call)) = self.parts.holes.get(*hole).cloned()
        {
            // In a function with an `Option` it may be one.
            return Ok(match self.signature.errors {
                Errors::Missing => {
                    let said = "a `None`".to_string();
                    self.with_a_value(option, call, question.question_token.span(), said)
                }
                _ => option,
            });
        }
        let none = if self.signature.errors == Errors::Missing { "a `None`" } else { "an `Err`" };
        let message = message.unwrap_or_else(|| none.to_string());
        let option = self.with_type(option, &Ty::Never, inner)?;
        let option = self.named(option, "option");
        let (there, value) = self.option_parts(&option);
        self.asserted(question.question_token.span(), &there, message);
        Ok(value)
    }

    /// `CHAIN.try_fold(s, |a, v| e)?`: the `fold` of what is in the `Ok`s, which fails at the first `Err`.
    fn folded(&mut self, end: &ExprMethodCall) -> Result<Option<Value>, Refusal> {
        if end.method != "try_fold" || !crate::iterators::is_chain(end) {
            return Ok(None);
        }
        let Some((start, so_far, element, mut body)) = crate::restated::steps(end) else {
            return Ok(None);
        };
        let option = self.signature.errors == Errors::Missing;
        let mut ends = Ends { option };
        ends.end(&mut body);
        let chain = &end.receiver;
        let fold: ExprMethodCall =
            syn::parse_quote!(#chain.fold(#start, |#so_far, #element| #body));
        let before = std::mem::replace(&mut self.expected.failing_closures, true);
        let value = self.chain(&fold);
        self.expected.failing_closures = before;
        value.map(Some)
    }

    /// `CHAIN.map(|v| e).collect::<Result<Vec<_>, _>>()?`, and `sum::<Result<f64, _>>()?`: the chain of what is in the `Ok`s, which fails at the first `Err`.
    fn all_succeeded(&mut self, end: &ExprMethodCall) -> Result<Option<Value>, Refusal> {
        let missing = self.signature.errors == Errors::Missing;
        let of: syn::Type = match &end.turbofish {
            // At the end of a function its result says what this is.
            None => syn::parse_quote!(_),
            Some(of) => {
                let Some(GenericArgument::Type(whole)) = of.args.first() else { return Ok(None) };
                let of = success(whole)
                    .or(crate::types::argument_of(whole, "Option").filter(|_| missing));
                match of {
                    Some(of) => of.clone(),
                    None => return Ok(None),
                }
            }
        };
        let Expr::MethodCall(map) = &*end.receiver else { return Ok(None) };
        if map.method != "map" || !["collect", "sum", "product"].iter().any(|n| end.method == n) {
            return Ok(None);
        }
        let closure: syn::ExprClosure = match map.args.first().map(unwrapped) {
            Some(Expr::Closure(closure)) => closure.clone(),
            Some(Expr::Path(function)) => syn::parse_quote!(|__jut_one| #function(__jut_one)),
            _ => return Ok(None),
        };
        let (mut map, mut end, mut closure) = (map.clone(), end.clone(), closure);
        let mut ends = Ends { option: missing };
        ends.end(&mut closure.body);
        closure.output = syn::ReturnType::Default;
        map.args[0] = Expr::Closure(closure);
        *end.receiver = Expr::MethodCall(map);
        end.turbofish = (!matches!(of, syn::Type::Infer(_))).then(|| syn::parse_quote!(::<#of>));
        let before = std::mem::replace(&mut self.expected.failing_closures, true);
        let value = self.chain(&end);
        self.expected.failing_closures = before;
        value.map(Some)
    }

    /// `f(x).map(|v| e)?` as `{ let v = f(x)?; e }`, and `f(x).and_then(|v| e)?` as `{ let v = f(x)?; e? }`.
    fn mapped(&mut self, call: &ExprMethodCall) -> Result<Option<Value>, Refusal> {
        let (Some(Expr::Closure(closure)), 1) = (call.args.first(), call.args.len()) else {
            return Ok(None);
        };
        let Some(pattern) = closure.inputs.first() else { return Ok(None) };
        let (receiver, body) = (&call.receiver, &closure.body);
        if crate::iterators::is_iterator(receiver) || crate::syntax::question(body).is_some() {
            return Ok(None);
        }
        let same: Expr = match call.method.to_string().as_str() {
            "map" => syn::parse_quote!({ let #pattern = #receiver?; #body }),
            "and_then" => {
                let mut body = (**body).clone();
                let mut ends = Ends::default();
                ends.end(&mut body);
                syn::parse_quote!({ let #pattern = #receiver?; #body })
            }
            _ => return Ok(None),
        };
        self.expression(&same).map(Some)
    }

    /// Whether an expression calls a function or method with the attribute, by its form.
    pub fn is_user_call(&self, expr: &Expr) -> bool {
        match unwrapped(expr) {
            Expr::Call(call) => match unwrapped(&call.func) {
                Expr::Path(path) => {
                    let made = ["Ok", "Err", "Some"].iter().any(|name| path.path.is_ident(name));
                    let local = |name: &syn::Ident| self.lookup(&name.to_string()).is_some();
                    !made && !path.path.get_ident().is_some_and(local)
                }
                _ => false,
            },
            Expr::MethodCall(call) => self.is_user_method(call),
            _ => false,
        }
    }

    /// What a call gives that fails at an error, or gives an `Option`, which rustc knows: a `None` is failure.
    pub fn with_a_value(
        &mut self,
        given: Value,
        call: Box<Hole>,
        at: proc_macro2::Span,
        said: String,
    ) -> Value {
        let Ty::Of(hole, _) = given.ty.clone() else { return given };
        let given = self.named(given, "given");
        let (before, reach) = (self.lines.len(), self.reach);
        let there = Value::name(format!("{}.0", given.text), Ty::Bool, 0);
        self.asserted(at, &there, said);
        // It is there only if the function gives an `Option`, so no branch has an effect for its sake.
        self.reach = reach;
        let lines = self.lines.split_off(before).join("\n");
        self.lines.push(format!("$if optional {hole}${lines}$end$"));
        let known = self.hole(Hole::Unwrapped(call));
        let text = format!("{}$if optional {hole}$.1$end$", given.text);
        let value = Value::name(text, Ty::Of(known, Vec::new()), i64::MIN);
        let before = self.lines.len();
        let value = self.named(Value { stable: false, cheap: false, ..value }, "value");
        // A function that gives `Result<(), E>` has no value.
        let lines = self.lines.split_off(before).join("\n");
        self.lines.push(format!("$if value {hole}${lines}$end$"));
        value
    }

    /// Whether a method is one with the attribute, by its name.
    fn is_user_method(&self, call: &ExprMethodCall) -> bool {
        let name = call.method.to_string();
        !crate::iterators::is_chain(call)
            && (!crate::syntax::OF_OPTIONS.contains(&name.as_str())
                || self.is_struct(&call.receiver))
            && !crate::methods::is_known(&name)
            && (!["first", "last", "get", "iter", "pop"].contains(&name.as_str())
                || self.is_struct(&call.receiver))
    }

    /// An error that nobody looks at.
    pub fn no_error(&mut self, error: &Expr) -> Result<Value, Refusal> {
        self.computed(error)?;
        Ok(self.none())
    }

    /// What may fail of an error that is computed.
    fn computed(&mut self, error: &Expr) -> Result<(), Refusal> {
        for part in risks(error) {
            let value = self.expression(&part).map_err(|_| crate::spanned(error, ERROR))?;
            let unused = self.names.unique("unused");
            self.lines.push(format!("{unused} = {}", value.text));
        }
        Ok(())
    }

    /// A method of a `Result` that an `Option` does not have, or another one does the same of; nothing if it is none.
    pub fn result_method(&mut self, call: &ExprMethodCall) -> Result<Option<Value>, Refusal> {
        let name = call.method.to_string();
        let receiver = &call.receiver;
        if self.is_struct(receiver) {
            // A struct may have methods of these names.
            return Ok(None);
        }
        let other = match (name.as_str(), call.args.len()) {
            ("ok", 0) => return self.expression(receiver).map(Some),
            ("is_ok", 0) => "is_some",
            ("is_err", 0) => "is_none",
            ("map_err" | "ok_or" | "ok_or_else", 1) => {
                let error = &call.args[0];
                match unwrapped(error) {
                    Expr::Closure(_) if !harmless(error) => return refuse(error, ERROR),
                    Expr::Closure(_) => {}
                    error => self.computed(error)?,
                }
                return self.expression(receiver).map(Some);
            }
            _ => return Ok(None),
        };
        let method = syn::Ident::new(other, call.method.span());
        let same: Expr = syn::parse_quote!(#receiver.#method());
        self.expression(&same).map(Some)
    }
}
