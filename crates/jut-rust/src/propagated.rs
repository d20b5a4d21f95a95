//! A `match` that gives an error on, which is a `?`:
//!
//! ```text
//! let v = match mean(x) { Ok(v) => v, Err(e) => return Err(e) };     let v = { let v = mean(x)?; v };
//! match mean(x) { Ok(v) => Ok(v * v), Err(e) => Err(e.into()) }      { let v = mean(x)?; Ok(v * v) }     at the end of the function
//! ```
//!
//! Requires: nothing is done with the error but to give it on, also in another error or by a method of it: of an error its text is kept, which is that
//! of the first one.

use crate::syntax::{has_word, unwrapped};
use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use quote::ToTokens;
use syn::{Arm, Block, Expr, ExprMatch, ItemFn, Pat, Stmt};

/// The function with a `?` in the place of each such `match`; nothing if there is none.
pub(crate) fn told(function: &ItemFn) -> Option<ItemFn> {
    if !has_word(&function.block, "match") {
        return None;
    }
    let mut block = function.block.clone();
    let mut change = Change(false);
    change.at_the_end(block.stmts.last_mut());
    let block: Block = syn::parse2(change.within(block.to_token_stream())).ok()?;
    change.0.then(|| ItemFn { block: Box::new(block), ..function.clone() })
}

struct Change(bool);

impl Change {
    /// The last statement of the function, or of an arm of it, gives its value.
    fn at_the_end(&mut self, last: Option<&mut Stmt>) {
        match last {
            Some(Stmt::Expr(Expr::If(branch), None)) => {
                self.at_the_end(branch.then_branch.stmts.last_mut());
                if let Some((_, other)) = &mut branch.else_branch
                    && let Expr::Block(block) = &mut **other
                {
                    self.at_the_end(block.block.stmts.last_mut());
                }
            }
            Some(Stmt::Expr(last @ Expr::Match(_), None)) => self.changed(last, true),
            _ => {}
        }
    }

    /// Tokens with such a `match` as a `?`, also in groups. What is in a closure gives nothing on.
    fn within(&mut self, tokens: TokenStream) -> TokenStream {
        let all: Vec<TokenTree> = tokens.into_iter().collect();
        let (mut out, mut k) = (TokenStream::new(), 0);
        while k < all.len() {
            let body = |t: &TokenTree| matches!(t, TokenTree::Group(g) if g.delimiter() == Delimiter::Brace);
            let end = match &all[k] {
                TokenTree::Ident(word) if word == "match" => {
                    all[k..].iter().position(body).map(|n| k + n + 1)
                }
                _ => None,
            };
            let returned =
                k > 0 && matches!(&all[k - 1], TokenTree::Ident(word) if word == "return");
            let found = end.and_then(|end| {
                let own: TokenStream = all[k..end].iter().cloned().collect();
                Some((end, question(&syn::parse2(own).ok()?, returned)?))
            });
            match (found, &all[k]) {
                (Some((end, said)), _) => {
                    self.0 = true;
                    out.extend(self.within(said.to_token_stream()));
                    k = end;
                    continue;
                }
                (None, TokenTree::Group(group)) => {
                    let mut own = Group::new(group.delimiter(), self.within(group.stream()));
                    own.set_span(group.span());
                    out.extend([TokenTree::Group(own)]);
                }
                (None, token) => out.extend([token.clone()]),
            }
            k += 1;
        }
        out
    }

    fn changed(&mut self, expr: &mut Expr, end: bool) {
        let Expr::Match(m) = &*expr else { return };
        if let Some(said) = question(m, end) {
            *expr = said;
            self.0 = true;
        }
    }
}

/// Such a `match` with a `?`; at an `end` its value is that of the function.
fn question(m: &ExprMatch, end: bool) -> Option<Expr> {
    let [first, second] = &m.arms[..] else { return None };
    let (good, bad) = match (bound(first, "Ok"), bound(second, "Err")) {
        (Some(good), Some(bad)) => ((good, first), (bad, second)),
        _ => ((bound(second, "Ok")?, second), (bound(first, "Err")?, first)),
    };
    let Pat::Ident(error) = bad.0 else { return None };
    let given = match unwrapped(&bad.1.body) {
        Expr::Return(jump) => jump.expr.as_deref()?,
        value if end => value,
        _ => return None,
    };
    let on = crate::syntax::called(given, "Err")?;
    let error = error.ident.to_string();
    if !has_word(on, &error) {
        return None;
    }
    let (value, pattern, body) = (&m.expr, good.0, &good.1.body);
    Some(syn::parse_quote!({ let #pattern = (#value)?; #body }))
}

/// What an arm without a guard binds in a variant with one field: a name, or what always fits.
fn bound<'a>(arm: &'a Arm, variant: &str) -> Option<&'a Pat> {
    let Pat::TupleStruct(parts) = &arm.pat else { return None };
    let own = parts.path.is_ident(variant) && parts.elems.len() == 1 && arm.guard.is_none();
    let inner = parts.elems.first().filter(|_| own)?;
    matches!(inner, Pat::Ident(_) | Pat::Wild(_) | Pat::Tuple(_)).then_some(inner)
}
