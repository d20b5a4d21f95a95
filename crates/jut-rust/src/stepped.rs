//! Iterators that are asked for one element after the other: `let mut it = x.iter();`, then `it.next()`, `it.peek()`.
//!
//! The elements become a list, unless they are one already, and how many were taken is a variable. What follows is said by these:
//!
//! | | is |
//! |---|---|
//! | `while let Some(v) = it.next() { .. }` | `while at < list.len() { let v = list[at]; at += 1; .. }` |
//! | `if let Some(v) = it.next() { .. }` | `if at < list.len() { let v = list[at]; at += 1; .. }` |
//! | `let Some(v) = it.next() else { .. };` | `if at >= list.len() { .. } let v = list[at]; at += 1;` |
//! | `it.next().unwrap()` | `{ at += 1; list[at - 1] }` |
//! | any other `it.next()` | what `\|\| { let now = at; at = (at + 1).min(list.len()); list.get(now) }` gives |
//! | `while let Some(v) = it.peek() { .. }`, `if let` | the same without `at += 1` |
//! | `for v in it.by_ref() { .. }`, `for v in &mut it { .. }` | `while at < list.len() { let v = list[at]; at += 1; .. }` |
//! | `it.by_ref().take(k)`, then other methods | `(&list[at..])` as far as it is taken, which is left out then |
//! | `it.by_ref().take_while(f)` | the same, and the element at which it ends is taken too |
//! | `it.by_ref()`, and methods that go to the end | `list[at..].iter()`, behind which nothing is left |
//! | `it.nth(k)` | `{ at += k; it.next() }` |
//! | `it.peek()`, `it.len()` | `list.get(at)`, `(list.len() - at)` |
//! | `it.remainder()` of `x.chunks_exact(k)` | `x[x.len() - x.len() % k..]` |
//! | `it`, where the rest of it is used | `list[at..].iter()` |
//!
//! Requires: the elements can be a list, so there is an end; the name is bound once.
//! Ensures: Rust's elements in its order. The closures of a chain run for all elements before the first one is taken: they
//! have no effects that a later element could see, since Rust lends what they change to the iterator.

use crate::iterators::is_iterator;
use crate::lowering::Lowering;
use crate::syntax::{bound, unwrapped};
use crate::visited::{Node, all};
use proc_macro2::{Delimiter, Group, Ident, TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Expr, Local, Pat, Stmt};

/// The names of what stands for an iterator.
struct Steps {
    /// What Rust calls it.
    name: String,
    list: Ident,
    at: Ident,
    next: Ident,
    /// The list and the length of `x.chunks_exact(k)`.
    chunks: Option<(TokenStream, TokenStream)>,
    /// Whether elements are taken one by one.
    stepping: bool,
    /// How often the name stands where it is no such call.
    whole: usize,
    /// Whether some mention could not be said otherwise.
    failed: bool,
}

impl Lowering<'_> {
    /// The statements instead of such a `let` and what follows it; nothing if it is none.
    pub fn stepped_iterator(&mut self, local: &Local, rest: &[Stmt]) -> Option<Vec<Stmt>> {
        let Pat::Ident(ident) = &local.pat else { return None };
        let init = local.init.as_ref().filter(|init| init.diverge.is_none())?;
        let mut iterator = unwrapped(&init.expr);
        if let Expr::MethodCall(call) = iterator
            && call.method == "peekable"
        {
            iterator = unwrapped(&call.receiver);
        }
        if ident.by_ref.is_some() || ident.subpat.is_some() || !is_iterator(iterator) {
            return None;
        }
        if endless(iterator).is_some() {
            return None;
        }
        let name = ident.ident.to_string();
        if !asks(&quote!(#(#rest)*), &name) || binds(rest, &name) {
            return None;
        }
        let span = iterator.span();
        let mut own = |word: &str| Ident::new(&format!("__jut_{}", self.names.unique(word)), span);
        let (list, at, next) = (own("steps"), own("step"), own("next"));
        let elements = match listed(iterator) {
            Some(list) => quote_spanned!(span=> &#list),
            None => quote_spanned!(span=> (#iterator).collect::<Vec<_>>()),
        };
        let chunks = match iterator {
            Expr::MethodCall(call) if call.method == "chunks_exact" => {
                call.args.first().map(|k| (call.receiver.to_token_stream(), k.to_token_stream()))
            }
            _ => None,
        };
        let asked = |words: &[&str]| words.iter().any(|w| calls(&quote!(#(#rest)*), &name, w));
        let stepping = asked(&["next", "peek", "len", "nth"]);
        let whole = 0;
        let mut steps = Steps { name, list, at, next, chunks, stepping, whole, failed: false };
        let mut told = steps.told(quote!(#(#rest)*));
        if !steps.stepping && (steps.failed || steps.whole > 1) {
            // What is left of it, is asked for.
            (steps.stepping, steps.whole, steps.failed) = (true, 0, false);
            told = steps.told(quote!(#(#rest)*));
        }
        if steps.failed || steps.whole > 1 {
            return None;
        }
        let (rest, stepping) = (told, steps.stepping);
        let Steps { list, at, next, .. } = &steps;
        let before = match stepping {
            true => quote_spanned! {span=>
                let #list = #elements;
                let mut #at = 0usize;
                let #next = || {
                    let __jut_now = #at;
                    #at = (#at + 1).min(#list.len());
                    #list.get(__jut_now)
                };
            },
            // Nothing but what `remainder` leaves out.
            false => quote_spanned!(span=> let #list = #elements;),
        };
        syn::parse2::<syn::Block>(quote!({ #before #rest })).ok().map(|block| block.stmts)
    }
}

/// The list of `x.iter()`, whose elements need no other one.
fn listed(iterator: &Expr) -> Option<&Expr> {
    let Expr::MethodCall(call) = unwrapped(iterator) else { return None };
    match call.method.to_string().as_str() {
        "copied" | "cloned" => listed(&call.receiver),
        "iter" | "into_iter" if call.args.is_empty() => match unwrapped(&call.receiver) {
            list @ (Expr::Path(_) | Expr::Field(_) | Expr::Index(_)) => Some(list),
            _ => None,
        },
        _ => None,
    }
}

/// Whether a name stands before a call that only such an iterator has.
fn asks(tokens: &TokenStream, name: &str) -> bool {
    ["next", "peek", "remainder", "by_ref", "nth"].iter().any(|method| calls(tokens, name, method))
}

fn calls(tokens: &TokenStream, name: &str, method: &str) -> bool {
    let tokens: Vec<TokenTree> = tokens.clone().into_iter().collect();
    tokens.iter().enumerate().any(|(k, token)| match token {
        TokenTree::Ident(ident) => {
            ident == name && is_call(&tokens[k + 1..], method).is_some() && !is_member(&tokens, k)
        }
        TokenTree::Group(group) => calls(&group.stream(), name, method),
        _ => false,
    })
}

/// Whether the statements bind a name once more.
fn binds(rest: &[Stmt], name: &str) -> bool {
    let mut found = false;
    all(rest, &mut |node| match node {
        Node::Pat(pattern) => {
            found |= bound(pattern).iter().any(|own| own == name);
            false
        }
        Node::Item(syn::Item::Fn(_)) => false,
        _ => true,
    });
    found
}

fn is_punct(token: Option<&TokenTree>, mark: char) -> bool {
    matches!(token, Some(TokenTree::Punct(p)) if p.as_char() == mark)
}

fn is_word(token: Option<&TokenTree>, word: &str) -> bool {
    matches!(token, Some(TokenTree::Ident(i)) if i == word)
}

fn group(token: Option<&TokenTree>, delimiter: Delimiter) -> Option<&Group> {
    match token {
        Some(TokenTree::Group(group)) if group.delimiter() == delimiter => Some(group),
        _ => None,
    }
}

/// Whether the name at a place is that of a field or method, `a.name`; behind `..` it is a value.
fn is_member(tokens: &[TokenTree], k: usize) -> bool {
    k > 0 && is_punct(tokens.get(k - 1), '.') && !(k > 1 && is_punct(tokens.get(k - 2), '.'))
}

/// How many tokens `.method(..)` has, if the tokens begin with it.
fn is_call(tokens: &[TokenTree], method: &str) -> Option<usize> {
    let named = is_punct(tokens.first(), '.') && is_word(tokens.get(1), method);
    (named && group(tokens.get(2), Delimiter::Parenthesis).is_some()).then_some(3)
}

/// The methods that leave elements, of which it is not known here which ones.
const EARLY: &[&str] = &[
    "find",
    "find_map",
    "position",
    "any",
    "all",
    "nth",
    "next",
    "try_fold",
    "try_for_each",
    "map_while",
    "take",
    "take_while",
    "zip",
    "step_by",
];

/// The word by which the elements of an iterator have no end, where nothing behind it ends them.
pub(crate) fn endless(iterator: &Expr) -> Option<&Ident> {
    let Expr::MethodCall(call) = unwrapped(iterator) else { return None };
    match call.method.to_string().as_str() {
        "cycle" => Some(&call.method),
        "copied" | "cloned" | "map" | "filter" | "enumerate" | "skip" | "step_by" | "peekable" => {
            endless(&call.receiver)
        }
        _ => None,
    }
}

impl Steps {
    /// What is said instead of some tokens.
    fn told(&mut self, tokens: TokenStream) -> TokenStream {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut out = TokenStream::new();
        let mut k = 0;
        while k < tokens.len() {
            // An element that nobody looks at.
            let starts = match k.checked_sub(1).map(|before| &tokens[before]) {
                None => true,
                Some(TokenTree::Punct(mark)) => mark.as_char() == ';',
                Some(TokenTree::Group(group)) => group.delimiter() == Delimiter::Brace,
                Some(_) => false,
            };
            if starts
                && is_word(tokens.get(k), &self.name)
                && let Some(count) = is_call(&tokens[k + 1..], "next")
                && is_punct(tokens.get(k + 1 + count), ';')
            {
                let Steps { list, at, .. } = &*self;
                out.extend(quote_spanned!(tokens[k].span()=> #at = (#at + 1).min(#list.len());));
                k += count + 2;
                continue;
            }
            if let Some((said, count)) = self.statement(&tokens[k..]) {
                out.extend(said);
                k += count;
                continue;
            }
            match &tokens[k] {
                TokenTree::Ident(ident) if *ident == self.name && !is_member(&tokens, k) => {
                    let (said, count) = self.mention(ident, &tokens[k + 1..]);
                    out.extend(said);
                    k += count;
                }
                TokenTree::Group(group) => {
                    let mut other = Group::new(group.delimiter(), self.told(group.stream()));
                    other.set_span(group.span());
                    out.extend([TokenTree::Group(other)]);
                }
                token => out.extend([token.clone()]),
            }
            k += 1;
        }
        out
    }

    /// `while let Some(P) = it.next() { .. }` and its like: what is said instead, and how many tokens it has.
    fn statement(&mut self, tokens: &[TokenTree]) -> Option<(TokenStream, usize)> {
        let word = match tokens.first()? {
            TokenTree::Ident(word) => word,
            _ => return None,
        };
        let start = match word.to_string().as_str() {
            "for" => return self.loop_over(word, tokens),
            "while" | "if" if is_word(tokens.get(1), "let") => 2,
            "let" => 1,
            _ => return None,
        };
        let pattern = group(tokens.get(start + 1), Delimiter::Parenthesis)?.stream();
        let named = is_word(tokens.get(start), "Some")
            && is_punct(tokens.get(start + 2), '=')
            && is_word(tokens.get(start + 3), &self.name);
        let call = tokens.get(start + 4..)?;
        let peeks = is_call(call, "peek").is_some();
        let behind =
            start + 4 + is_call(call, if peeks { "peek" } else { "next" }).filter(|_| named)?;
        let Steps { list, at, .. } = self;
        let step = if peeks { TokenStream::new() } else { quote!(#at += 1;) };
        let taken = quote_spanned!(word.span()=> let #pattern = #list[#at]; #step);
        match start {
            2 => {
                let block = group(tokens.get(behind), Delimiter::Brace)?;
                let test = quote_spanned!(word.span()=> #word #at < #list.len());
                let block = self.told(block.stream());
                Some((quote!(#test { #taken #block }), behind + 1))
            }
            _ => {
                let block = group(tokens.get(behind + 1), Delimiter::Brace)?;
                if !is_word(tokens.get(behind), "else") || !is_punct(tokens.get(behind + 2), ';') {
                    return None;
                }
                let test = quote_spanned!(word.span()=> if #at >= #list.len());
                let block = self.told(block.stream());
                Some((quote!(#test { #block } #taken), behind + 3))
            }
        }
    }

    /// `for v in it.by_ref() { .. }`, which leaves what it does not take.
    fn loop_over(&mut self, word: &Ident, tokens: &[TokenTree]) -> Option<(TokenStream, usize)> {
        let within = tokens.iter().position(|token| is_word(Some(token), "in"))?;
        let pattern: TokenStream = tokens[1..within].iter().cloned().collect();
        let mut k = within + 1;
        let lent = is_punct(tokens.get(k), '&') && is_word(tokens.get(k + 1), "mut");
        k += if lent { 2 } else { 0 };
        if !is_word(tokens.get(k), &self.name) {
            return None;
        }
        let by_ref = is_call(tokens.get(k + 1..)?, "by_ref");
        if !lent && (by_ref.is_none() || !self.stepping) {
            return None;
        }
        k += 1 + by_ref.unwrap_or(0);
        let block = group(tokens.get(k), Delimiter::Brace)?;
        let Steps { list, at, .. } = self;
        let head = quote_spanned!(word.span()=> while #at < #list.len());
        let taken = quote_spanned!(word.span()=> let #pattern = #list[#at]; #at += 1;);
        if !self.stepping {
            self.whole += 1;
            let head = quote_spanned!(word.span()=> for #pattern in #list.iter());
            let block = self.told(block.stream());
            return Some((quote!(#head { #block }), k + 1));
        }
        let block = self.told(block.stream());
        Some((quote!(#head { #taken #block }), k + 1))
    }

    /// What is taken by `it.by_ref()` and the methods behind it, of which all but `take` and `take_while` go to the end: what is said instead,
    /// and how many tokens behind `by_ref` that is.
    fn lent(&mut self, span: proc_macro2::Span, behind: &[TokenTree]) -> (TokenStream, usize) {
        let given = |at: usize| match behind.get(at) {
            Some(TokenTree::Group(group)) => group.stream(),
            _ => TokenStream::new(),
        };
        let Steps { list, at, .. } = &*self;
        if is_call(behind, "take").is_some() {
            let count = given(2);
            let said = quote_spanned! {span=> ({
                let __jut_from = #at;
                #at = __jut_from + (#count).min(#list.len() - __jut_from);
                &#list[__jut_from..#at]
            }).iter()};
            return (said, 3);
        }
        if is_call(behind, "take_while").is_some() {
            let test = given(2);
            let said = quote_spanned! {span=> ({
                let __jut_from = #at;
                let __jut_count = #list[__jut_from..].iter().take_while(#test).count();
                #at = __jut_from + (__jut_count + 1).min(#list.len() - __jut_from);
                &#list[__jut_from..__jut_from + __jut_count]
            }).iter()};
            return (said, 3);
        }
        let mut rest = behind;
        while let [TokenTree::Punct(dot), TokenTree::Ident(method), more @ ..] = rest
            && dot.as_char() == '.'
        {
            self.failed |= EARLY.iter().any(|name| method == name);
            let end = more.iter().position(|token| matches!(token, TokenTree::Group(_)));
            rest = more.get(end.map_or(more.len(), |end| end + 1)..).unwrap_or_default();
        }
        let Steps { list, at, .. } = &*self;
        let said = quote_spanned! {span=> ({
            let __jut_from = #at;
            #at = #list.len();
            &#list[__jut_from..]
        }).iter()};
        (said, 0)
    }

    /// The name and what follows it: what is said instead, and how many tokens behind the name that is.
    fn mention(&mut self, ident: &Ident, behind: &[TokenTree]) -> (TokenStream, usize) {
        let Steps { list, at, next, .. } = self;
        let span = ident.span();
        if let Some(count) = is_call(behind, "next") {
            let after = &behind[count..];
            let sure = is_call(after, "unwrap").or_else(|| is_call(after, "expect"));
            return match sure {
                Some(more) => (quote_spanned!(span=> { #at += 1; #list[#at - 1] }), count + more),
                None => (quote_spanned!(span=> #next()), count),
            };
        }
        if let Some(count) = is_call(behind, "peek") {
            return (quote_spanned!(span=> #list.get(#at)), count);
        }
        if let (Some(count), true) = (is_call(behind, "nth"), self.stepping) {
            let Some(TokenTree::Group(number)) = behind.get(2) else {
                return (TokenStream::new(), count);
            };
            let number = number.stream();
            let said = quote_spanned! {span=> ({
                #at = #at + (#number).min(#list.len() - #at);
                #next()
            })};
            return (said, count);
        }
        if let Some(count) = is_call(behind, "len") {
            return (quote_spanned!(span=> (#list.len() - #at)), count);
        }
        if let Some(count) = is_call(behind, "remainder") {
            let Some((list, k)) = &self.chunks else {
                self.failed = true;
                return (TokenStream::new(), count);
            };
            return (quote_spanned!(span=> (&#list[#list.len() - #list.len() % #k..])), count);
        }
        let all = match self.stepping {
            true => quote_spanned!(span=> #list[#at..].iter()),
            false => quote_spanned!(span=> #list.iter()),
        };
        if let Some(count) = is_call(behind, "clone") {
            return (all, count);
        }
        if let (Some(count), true) = (is_call(behind, "by_ref"), self.stepping) {
            let (said, more) = self.lent(span, &behind[count..]);
            return (said, count + more);
        }
        self.whole += 1;
        let by_ref = is_call(behind, "by_ref").or_else(|| {
            let lent = is_call(behind, "map_while").or_else(|| is_call(behind, "nth"));
            lent.map(|_| 0)
        });
        if let Some(count) = by_ref {
            // What is left of it is not known here.
            self.failed |= self.stepping || count == 0;
            return (all, count);
        }
        (all, 0)
    }
}
