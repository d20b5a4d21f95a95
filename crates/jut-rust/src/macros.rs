//! Macros: `vec!`, and those that assert or give up.
//!
//! `assert!(c, "said")` is a `check` of the text whose failure is Rust's panic, with its message. What is there in debug builds only is there
//! where the caller is one: rustc says so when the text is put together.

use crate::lowering::Lowering;
use crate::template::What;
use crate::types::{Extent, Ty};
use crate::value::{Value, literal, unit};
use crate::{Refusal, refuse};
use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote};
use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Expr, Lit, Macro, Token};

impl Lowering<'_> {
    /// A macro: `vec!`, and those that assert or give up.
    pub fn macro_call(&mut self, call: &Macro) -> Result<Value, Refusal> {
        let name = call.path.segments.last().map(|s| s.ident.to_string()).unwrap_or_default();
        let arguments = |tokens: TokenStream| -> Result<Vec<Expr>, Refusal> {
            let parser = Punctuated::<Expr, Token![,]>::parse_terminated;
            let list =
                parser.parse2(tokens).map_err(|e| Refusal::new(Some(e.span()), e.to_string()))?;
            Ok(list.into_iter().collect())
        };
        match name.as_str() {
            "vec" => {
                let repeat = |input: syn::parse::ParseStream| -> syn::Result<(Expr, Expr)> {
                    let value = input.parse()?;
                    input.parse::<Token![;]>()?;
                    Ok((value, input.parse()?))
                };
                if let Ok((value, length)) = repeat.parse2(call.tokens.clone()) {
                    if crate::syntax::is_empty(&value) {
                        return refuse(
                            &value,
                            "nothing is known of these lists: write their type, `let mut rows: Vec<Vec<f64>> = vec![Vec::new(); n];`",
                        );
                    }
                    let length = self.operand(&length)?;
                    let length = self.convert(length, &Ty::Usize);
                    let length = match literal(&length) {
                        Some(_) => length,
                        None => self.named(length, "n"),
                    };
                    return self.repeated(&value, length.text, Extent::Vec);
                }
                let items = arguments(call.tokens.clone())?;
                let items: Vec<&Expr> = items.iter().collect();
                self.list(&items, Extent::Vec, call)
            }
            "matches" => self.expression(&crate::restated::matched(call.tokens.clone())?),
            "assert" | "debug_assert" => {
                let all = arguments(call.tokens.clone())?;
                let Some(condition) = all.first() else {
                    return refuse(call, "a condition is expected");
                };
                let said = match all.get(1) {
                    Some(text) => message_of(text),
                    None => {
                        let written = condition.to_token_stream().to_string();
                        format!("assertion failed: {}", tidy(&written))
                    }
                };
                self.assertion(call.span(), name.starts_with("debug"), said, |this| {
                    this.operand(condition)
                })
            }
            "assert_eq" | "assert_ne" | "debug_assert_eq" | "debug_assert_ne" => {
                let all = arguments(call.tokens.clone())?;
                let [left, right, rest @ ..] = &all[..] else {
                    return refuse(call, "two values are expected");
                };
                let op = if name.ends_with("eq") { "==" } else { "!=" };
                let said = match rest.first() {
                    Some(text) => message_of(text),
                    None => format!("assertion `left {op} right` failed"),
                };
                self.assertion(call.span(), name.starts_with("debug"), said, |this| {
                    let values = this.operands(&[left, right])?;
                    let [a, b] = &values[..] else { return Ok(unit()) };
                    this.operation(op, a.clone(), b.clone(), call, call.span())
                })
            }
            "panic" | "unreachable" | "todo" | "unimplemented" => {
                let all = arguments(call.tokens.clone()).unwrap_or_default();
                let said = all.first().map_or(format!("`{name}!`"), message_of);
                self.check(call.span(), What::Panic(said), "-1 >= 0");
                Ok(Value::name(String::new(), Ty::Never, i64::MIN))
            }
            "println" | "eprintln" | "print" | "eprint" | "dbg" | "format" | "write"
            | "writeln" => refuse(
                &call.path,
                "text is not built: take this line out, or put it where the function is called",
            ),
            _ => refuse(&call.path, "this macro is not built: write what it stands for"),
        }
    }

    /// A check of a condition; of one that is there in debug builds only, if it is one of these.
    fn assertion(
        &mut self,
        span: Span,
        debug: bool,
        said: String,
        condition: impl FnOnce(&mut Self) -> Result<Value, Refusal>,
    ) -> Result<Value, Refusal> {
        if !debug {
            let condition = condition(self)?;
            self.asserted(span, &condition, said);
            return Ok(unit());
        }
        let on = self.constant(quote!(::core::cfg!(debug_assertions)));
        let (block, ()) = self.nested(|this| {
            let condition = condition(this)?;
            this.asserted(span, &condition, said);
            Ok(())
        })?;
        self.chosen(on, (block, None), Default::default());
        Ok(unit())
    }
}

/// The text of a message, as it is written.
fn message_of(expr: &Expr) -> String {
    match expr {
        Expr::Lit(literal) => match &literal.lit {
            Lit::Str(text) => text.value(),
            other => other.to_token_stream().to_string(),
        },
        other => tidy(&other.to_token_stream().to_string()),
    }
}

/// Tokens nearly as they were written.
pub(crate) fn tidy(tokens: &str) -> String {
    let mut text = tokens
        .replace(" . ", ".")
        .replace(" :: ", "::")
        .replace(" (", "(")
        .replace(" [", "[")
        .replace(" ,", ",");
    for (from, to) in [("( ", "("), (" )", ")"), (" ]", "]"), ("& ", "&"), ("! ", "!")] {
        text = text.replace(from, to);
    }
    text
}
