//! Rust's syntax as far as it needs no types: questions about it, and how it is written in another way.

use crate::visited::{Node, each};
use proc_macro2::{Group, Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::{BinOp, Expr, ExprLoop, Pat, Path, Stmt, Type};

/// Without parentheses.
pub(crate) fn unwrapped(expr: &Expr) -> &Expr {
    match expr {
        Expr::Paren(inner) => unwrapped(&inner.expr),
        Expr::Group(inner) => unwrapped(&inner.expr),
        other => other,
    }
}

/// The argument of a call of this name.
pub(crate) fn called<'e>(expr: &'e Expr, name: &str) -> Option<&'e Expr> {
    let Expr::Call(call) = unwrapped(expr) else { return None };
    match unwrapped(&call.func) {
        Expr::Path(path) if path.path.is_ident(name) && call.args.len() == 1 => call.args.first(),
        _ => None,
    }
}

/// The statements of an `else`.
pub(crate) fn block_of(other: &Expr) -> Vec<Stmt> {
    match other {
        Expr::Block(block) => block.block.stmts.clone(),
        other => vec![Stmt::Expr(other.clone(), None)],
    }
}

/// Whether a block surely ends in a jump.
pub(crate) fn diverges(statements: &[Stmt]) -> bool {
    match statements.last() {
        Some(Stmt::Expr(expr, _)) => match expr {
            Expr::Return(_) | Expr::Break(_) | Expr::Continue(_) => true,
            Expr::If(branch) => {
                diverges(&branch.then_branch.stmts)
                    && branch.else_branch.as_ref().is_some_and(|(_, e)| diverges(&block_of(e)))
            }
            Expr::Block(block) => diverges(&block.block.stmts),
            _ => false,
        },
        _ => false,
    }
}

/// Whether some part of a type is left to rustc.
pub(crate) fn has_infer(ty: &syn::Type) -> bool {
    let mut found = false;
    each(ty, &mut |node| {
        found |= matches!(node, Node::Type(Type::Infer(_)));
        true
    });
    found
}

pub(crate) fn panics(call: &syn::Macro) -> bool {
    ["panic", "unreachable", "todo", "unimplemented"].iter().any(|name| call.path.is_ident(name))
}

/// Whether an expression is what a chain collects.
pub(crate) fn is_collected(expr: &Expr) -> bool {
    collect(expr).is_some()
}

/// The end of a chain that is collected.
pub(crate) fn collect(expr: &Expr) -> Option<&syn::ExprMethodCall> {
    match unwrapped(expr) {
        Expr::MethodCall(call) if call.method == "collect" => Some(call),
        _ => None,
    }
}

/// Whether `collect::<Option<_>>()` or `collect::<Result<_, _>>()` is written, with nothing behind it that takes it apart.
pub(crate) fn collects_into_option(end: &syn::ExprMethodCall) -> bool {
    let Some(syn::GenericArgument::Type(Type::Path(of))) =
        end.turbofish.as_ref().and_then(|of| of.args.first())
    else {
        return false;
    };
    of.path.segments.last().is_some_and(|s| s.ident == "Option" || s.ident == "Result")
}

pub(crate) const COLLECTED: &str = "an `Option` or `Result` of a list is not kept: write `?`, in a function of its own, or `.unwrap()` behind it, \
                                    `CHAIN.collect::<Option<Vec<_>>>().unwrap()`";

/// Whether a word stands in something.
pub(crate) fn has_word(statement: &impl ToTokens, word: &str) -> bool {
    fn found(tokens: TokenStream, word: &str) -> bool {
        tokens.into_iter().any(|token| match token {
            TokenTree::Group(group) => found(group.stream(), word),
            TokenTree::Ident(ident) => ident == word,
            _ => false,
        })
    }
    found(statement.to_token_stream(), word)
}

/// The first `?` of an expression.
pub(crate) fn question(expr: &Expr) -> Option<syn::Token![?]> {
    let mut found = None;
    each(expr, &mut |node| match node {
        Node::Expr(Expr::Try(t)) => {
            found.get_or_insert(t.question_token);
            false
        }
        Node::Expr(Expr::Closure(_)) => false,
        _ => true,
    });
    found
}

/// The operator of a compound assignment.
pub(crate) fn compound(op: &BinOp) -> Option<&'static str> {
    Some(match op {
        BinOp::AddAssign(_) => "+",
        BinOp::SubAssign(_) => "-",
        BinOp::MulAssign(_) => "*",
        BinOp::DivAssign(_) => "/",
        BinOp::RemAssign(_) => "%",
        BinOp::BitAndAssign(_) => "&",
        BinOp::BitOrAssign(_) => "|",
        BinOp::BitXorAssign(_) => "^",
        BinOp::ShlAssign(_) => "<<",
        BinOp::ShrAssign(_) => ">>",
        _ => return None,
    })
}

/// Whether a loop ends with a value.
pub(crate) fn gives_value(l: &ExprLoop) -> bool {
    fn gives(body: &syn::Block, own: &dyn Fn(Option<&syn::Lifetime>) -> bool) -> bool {
        let mut found = false;
        // Within another loop, it is meant by its name only.
        let named = |label: Option<&syn::Lifetime>| label.is_some() && own(label);
        each(body, &mut |node| {
            let Node::Expr(expr) = node else { return !matches!(node, Node::Item(_)) };
            match expr {
                Expr::Break(jump) => found |= own(jump.label.as_ref()) && jump.expr.is_some(),
                Expr::ForLoop(l) => found |= gives(&l.body, &named),
                Expr::While(l) => found |= gives(&l.body, &named),
                Expr::Loop(l) => found |= gives(&l.body, &named),
                Expr::Closure(_) => {}
                _ => return true,
            }
            false
        });
        found
    }
    let own = l.label.as_ref().map(|l| &l.name.ident);
    gives(&l.body, &|label| label.is_none_or(|label| Some(&label.ident) == own))
}

/// The list in `list.try_into().unwrap()`.
pub(crate) fn into_array(expr: &Expr) -> Option<&Expr> {
    let Expr::MethodCall(end) = unwrapped(expr) else { return None };
    let Expr::MethodCall(into) = unwrapped(&end.receiver) else { return None };
    let known = (end.method == "unwrap" || end.method == "expect") && into.method == "try_into";
    (known && into.args.is_empty()).then_some(&into.receiver)
}

/// Whether an expression is `std::array::from_fn(..)`, or `list.try_into().unwrap()`: what it makes is said by what wants it.
pub(crate) fn is_from_fn(expr: &Expr) -> bool {
    match crate::syntax::unwrapped(expr) {
        end if into_array(end).is_some() => true,
        Expr::Call(call) => match crate::syntax::unwrapped(&call.func) {
            Expr::Path(path) => path.path.segments.last().is_some_and(|s| s.ident == "from_fn"),
            _ => false,
        },
        _ => false,
    }
}

/// Whether an expression is `vec![None; n]` or `[None; N]`: of what these are none is said by what wants them.
pub(crate) fn is_of_none(expr: &Expr) -> bool {
    match unwrapped(expr) {
        Expr::Repeat(repeat) => {
            matches!(unwrapped(&repeat.expr), Expr::Path(path) if path.path.is_ident("None"))
        }
        Expr::Macro(call) if call.mac.path.is_ident("vec") => {
            let first = call.mac.tokens.clone().into_iter().next();
            matches!(first, Some(TokenTree::Ident(word)) if word == "None")
        }
        _ => false,
    }
}

/// Whether a call is `Some(e)`.
pub(crate) fn is_some(call: &syn::ExprCall) -> bool {
    matches!(unwrapped(&call.func), Expr::Path(p) if p.path.is_ident("Some"))
        && call.args.len() == 1
}

/// Whether a method is a search by halves: see `halved`.
pub(crate) fn is_search(name: &str) -> bool {
    ["binary_search", "binary_search_by", "binary_search_by_key"].contains(&name)
}

/// The number by which a field or method is found.
pub fn key(name: &str) -> u64 {
    let name = name.trim_start_matches("r#");
    name.bytes()
        .fold(0xcbf2_9ce4_8422_2325, |k, b| (k ^ u64::from(b)).wrapping_mul(0x100_0000_01b3))
}

/// Whether a name is that of a constant: letters of which none is small.
pub(crate) fn is_constant(name: &syn::Ident) -> bool {
    let name = name.to_string();
    name.starts_with(|c: char| c.is_uppercase()) && !name.contains(|c: char| c.is_lowercase())
}

/// Whether a pattern binds a name.
pub(crate) fn binds(pattern: &Pat) -> Option<&syn::PatIdent> {
    let mut found = None;
    each(pattern, &mut |node| {
        if let Node::Pat(Pat::Ident(name)) = node
            && (name.subpat.is_some() || !is_constant(&name.ident) && name.ident != "None")
        {
            found.get_or_insert(name);
        }
        true
    });
    found
}

/// The words in an expression that may be names.
pub(crate) fn words(expr: &Expr) -> Vec<String> {
    let mut found = Vec::new();
    each(expr, &mut |node| {
        let Node::Path(path) = node else { return true };
        let name = path.get_ident().map(|name| name.to_string());
        found.extend(name.filter(|name| !found.contains(name)));
        false
    });
    found
}

/// `Vec::new()`, `Vec::with_capacity(n)`, `vec![]`.
pub(crate) fn is_empty(expr: &Expr) -> bool {
    match unwrapped(expr) {
        Expr::Call(call) => match unwrapped(&call.func) {
            Expr::Path(path) => {
                let mut words = path.path.segments.iter().rev().map(|s| s.ident.to_string());
                let last = words.next().unwrap_or_default();
                matches!(last.as_str(), "new" | "with_capacity")
                    && words.next().as_deref() == Some("Vec")
            }
            _ => false,
        },
        Expr::Macro(call) => call.mac.path.is_ident("vec") && call.mac.tokens.is_empty(),
        _ => false,
    }
}

/// The names that a pattern binds.
pub(crate) fn bound(pattern: &Pat) -> Vec<String> {
    let mut names = Vec::new();
    each(pattern, &mut |node| {
        if let Node::Pat(Pat::Ident(name)) = node {
            names.push(name.ident.to_string());
        }
        true
    });
    names
}

/// The `let` in a condition, if there is one.
pub(crate) fn let_in(condition: &Expr) -> Option<&syn::ExprLet> {
    let mut found = None;
    each(condition, &mut |node| match node {
        Node::Expr(Expr::Let(own)) => {
            found.get_or_insert(own);
            false
        }
        Node::Expr(Expr::Block(_) | Expr::If(_) | Expr::Match(_) | Expr::Closure(_)) => false,
        _ => true,
    });
    found
}

/// The enum and the variant of a path such as `Shape::Round`.
pub(crate) fn variant_of(path: &Path) -> Option<(Path, String)> {
    let upper = |s: &syn::PathSegment| {
        s.ident.to_string().trim_start_matches("r#").starts_with(char::is_uppercase)
    };
    let (last, owner) = (path.segments.last()?, path.segments.iter().rev().nth(1)?);
    if !upper(last) || !upper(owner) {
        return None;
    }
    let name = last.ident.to_string();
    let mut owner = path.clone();
    owner.segments.pop();
    owner.segments.pop_punct();
    Some((owner, name))
}

/// Tokens with the type in place of `Self`.
pub(crate) fn named_self(tokens: TokenStream, owner: &Type) -> TokenStream {
    let replaced = |token| match token {
        TokenTree::Ident(ident) if ident == "Self" => {
            // The place is that of `Self`.
            spanned_like(in_values(owner), ident.span())
        }
        TokenTree::Group(group) => {
            let mut inner = Group::new(group.delimiter(), named_self(group.stream(), owner));
            inner.set_span(group.span());
            TokenTree::from(inner).into()
        }
        other => TokenStream::from(other),
    };
    tokens.into_iter().flat_map(replaced).collect()
}

/// Tokens at another place.
pub(crate) fn spanned_like(tokens: TokenStream, at: Span) -> TokenStream {
    tokens
        .into_iter()
        .map(|mut token| {
            token.set_span(at);
            token
        })
        .collect()
}

/// Methods that make a list longer.
pub(crate) const GROWING: &[&str] = &["push", "extend", "extend_from_slice"];

/// Methods that change a list in place.
pub(crate) const CHANGING: &[&str] = &[
    "swap",
    "fill",
    "copy_from_slice",
    "copy_within",
    "clone_from_slice",
    "reverse",
    "rotate_left",
    "rotate_right",
    "sort",
    "sort_unstable",
    "sort_by",
    "sort_unstable_by",
    "sort_by_key",
    "sort_unstable_by_key",
];

/// Methods that take elements out of a list, or put some between.
pub(crate) const RELISTING: &[&str] = &[
    "pop",
    "truncate",
    "insert",
    "remove",
    "swap_remove",
    "clear",
    "resize",
    "split_off",
    "drain",
    "retain",
    "dedup",
    "dedup_by",
    "dedup_by_key",
];

/// Whether a method makes a list longer or shorter; an own type may have one of this name.
pub fn is_of_growing_lists(name: &str) -> bool {
    GROWING.contains(&name) || RELISTING.contains(&name)
}

/// The name of what a `match` with jumps is about.
pub(crate) const SUBJECT: &str = "__jut_subject";

/// The list that a function gives which returns it out of a loop: see `returned`.
pub(crate) const RESULT: &str = "__jut_result";

/// What is said of a list without elements where it is no declaration.
pub(crate) const NEW: &str = "this is built where a list is declared: `let mut list = Vec::new();`; else write `vec![0.0; n]`";

/// What is said of an array without elements.
pub(crate) const EMPTY: &str = "an empty array is not built: use arrays of one element or more";

/// What is said of a jump out of a value that is not built.
pub(crate) const JUMP: &str = "a jump out of a value is not built here: write the `if` as a statement of its own, with the jump in it";

/// What is said of a `?` that is not built.
pub(crate) const WITHIN: &str = "`?` is not built here: it stands in a statement of a function that gives an `Option`, not in a closure or a loop with a value";

/// The methods of an `Option`.
pub(crate) const OF_OPTIONS: &[&str] = &[
    "unwrap",
    "expect",
    "unwrap_or",
    "unwrap_or_else",
    "map_or",
    "is_some",
    "is_none",
    "is_some_and",
    "is_none_or",
    "map_or_else",
    "zip",
    "xor",
    "unwrap_or_default",
    "filter",
    "or",
    "or_else",
    "and_then",
    "copied",
    "cloned",
    "as_ref",
    "as_deref",
    "map",
];

/// A type as it may stand in values too: `Point::<f64>`.
pub(crate) fn in_values(ty: &Type) -> TokenStream {
    let mut ty = ty.clone();
    if let Type::Path(path) = &mut ty
        && let Some(last) = path.path.segments.last_mut()
        && let syn::PathArguments::AngleBracketed(arguments) = &mut last.arguments
    {
        arguments.colon2_token = Some(Default::default());
    }
    ty.to_token_stream()
}

/// A variable in all passes over a function: its name, and where it is declared.
pub(crate) fn place_of(ident: &syn::Ident) -> String {
    format!("{ident} {:?}", ident.span())
}
