//! The syntax of iterators: which expressions are iterators, and what the methods of a chain are.

use crate::syntax::unwrapped;
use crate::visited::{Node, each};
use quote::ToTokens;
use syn::{Expr, ExprMethodCall, Pat};

/// The methods that end a chain.
const ENDS: &[&str] = &[
    "sum",
    "product",
    "fold",
    "count",
    "all",
    "any",
    "collect",
    "for_each",
    "position",
    "find",
    "last",
    "reduce",
    "min_by",
    "max_by",
    "min",
    "max",
    "nth",
    "next",
    "rposition",
    "rfind",
    "rfold",
    "try_fold",
];

/// The methods that go on behind a `map` or `filter`.
pub(crate) const STAGES: &[&str] = &[
    "map",
    "filter",
    "filter_map",
    "flat_map",
    "flatten",
    "inspect",
    "scan",
    "skip_while",
    "take_while",
    "map_while",
    "copied",
    "cloned",
];

/// The methods that make an iterator of an array.
pub(crate) const STARTS: &[&str] = &[
    "iter",
    "into_iter",
    "iter_mut",
    "windows",
    "chunks",
    "chunks_exact",
    "chunks_mut",
    "chunks_exact_mut",
    "drain",
];

/// Whether a method call is the end of a chain over a range or an array's elements.
pub(crate) fn is_chain(call: &ExprMethodCall) -> bool {
    // Numbers have methods of these names too.
    let plain = !matches!(call.method.to_string().as_str(), "min" | "max") || call.args.is_empty();
    is_end(call) && plain && is_iterator(&call.receiver)
}

/// Whether an expression is an iterator over a range or an array's elements.
pub(crate) fn is_iterator(expr: &Expr) -> bool {
    match unwrapped(expr) {
        Expr::Range(_) => true,
        Expr::Call(call) => zipped(call).is_some() || repeated(call).is_some(),
        Expr::MethodCall(call) => {
            STARTS.contains(&call.method.to_string().as_str())
                || !is_end(call) && is_iterator(&call.receiver)
        }
        _ => false,
    }
}

/// The value of `std::iter::repeat(v)`, `repeat_n(v, n)` or `once(v)`, and how often it is there.
pub(crate) fn repeated(call: &syn::ExprCall) -> Option<(&Expr, Option<Expr>)> {
    let Expr::Path(path) = unwrapped(&call.func) else { return None };
    let mut words = path.path.segments.iter().rev().map(|s| s.ident.to_string());
    let (name, of) = (words.next()?, words.next()?);
    match (name.as_str(), of.as_str(), call.args.len()) {
        ("repeat", "iter", 1) => Some((&call.args[0], None)),
        ("repeat_n", "iter", 2) => Some((&call.args[0], Some(call.args[1].clone()))),
        ("once", "iter", 1) => Some((&call.args[0], Some(syn::parse_quote!(1_usize)))),
        _ => None,
    }
}

/// `std::iter::zip(a, b)`: a, and b.
pub(crate) fn zipped(call: &syn::ExprCall) -> Option<(&Expr, &Expr)> {
    let Expr::Path(path) = unwrapped(&call.func) else { return None };
    let mut words = path.path.segments.iter().rev().map(|s| s.ident.to_string());
    let known = words.next()? == "zip" && words.next().is_none_or(|w| w == "iter");
    match (known, &call.args.iter().collect::<Vec<_>>()[..]) {
        (true, [a, b]) => Some((a, b)),
        _ => None,
    }
}

/// Whether an iterator gives its elements by their numbers as they are: without functions, and not in pairs.
fn is_direct(expr: &Expr) -> bool {
    match unwrapped(expr) {
        Expr::MethodCall(call) => {
            let method = call.method.to_string();
            let other = ["map", "zip", "enumerate"].contains(&method.as_str());
            let kept =
                method == "copied" || method == "cloned" || !STAGES.contains(&method.as_str());
            !other && kept && (STARTS.contains(&method.as_str()) || is_direct(&call.receiver))
        }
        Expr::Call(call) => zipped(call).is_none(),
        _ => true,
    }
}

/// An iterator that goes on with others, `a.chain(b)`, as one over lists: those that it begins with, which are none yet, get names by the
/// statements. Nothing if all are lists, or if not all of their elements are asked for.
pub(crate) fn joined(iterator: &Expr) -> Option<(Vec<syn::Stmt>, Expr)> {
    fn walk(expr: &Expr, lists: &mut Vec<syn::Stmt>) -> Option<Expr> {
        let Expr::MethodCall(call) = unwrapped(expr) else { return Some(expr.clone()) };
        let method = call.method.to_string();
        if method == "chain" && call.args.len() == 1 {
            let mut call = call.clone();
            let side = |side: &Expr, lists: &mut Vec<syn::Stmt>| -> Option<Expr> {
                let joins = matches!(unwrapped(side), Expr::MethodCall(c) if c.method == "chain");
                if joins {
                    return walk(side, lists);
                }
                if is_direct(side) || !is_iterator(side) {
                    return Some(side.clone());
                }
                let name =
                    syn::Ident::new(&format!("__jut_joined_{}", lists.len()), call.method.span());
                lists.push(syn::parse_quote!(let #name = #side.collect::<Vec<_>>();));
                Some(syn::parse_quote!(#name.iter().copied()))
            };
            let first = side(&call.receiver, lists)?;
            let second = side(&call.args[0], lists)?;
            *call.receiver = first;
            call.args[0] = second;
            return Some(Expr::MethodCall(call));
        }
        if STARTS.contains(&method.as_str()) {
            return Some(expr.clone());
        }
        let fewer = ["take", "take_while", "map_while", "skip", "step_by", "scan", "zip"];
        if fewer.contains(&method.as_str()) {
            return None;
        }
        let mut call = call.clone();
        *call.receiver = walk(&call.receiver, lists)?;
        Some(Expr::MethodCall(call))
    }
    let mut lists = Vec::new();
    let told = walk(iterator, &mut lists)?;
    (!lists.is_empty()).then_some((lists, told))
}

/// The ends of a chain that ask for all elements.
pub(crate) const WHOLE: &[&str] = &[
    "sum", "product", "collect", "count", "fold", "for_each", "min_by", "max_by", "min", "max",
    "last", "reduce",
];

/// The methods at the end of an iterator that go on with its elements, and the iterator before them.
pub(crate) fn split(iterator: &Expr) -> (Vec<&ExprMethodCall>, &Expr) {
    let (mut calls, mut source) = (Vec::new(), unwrapped(iterator));
    while let Expr::MethodCall(call) = source {
        let stage = STAGES.contains(&call.method.to_string().as_str());
        if !stage || !is_iterator(&call.receiver) {
            break;
        }
        calls.push(call);
        source = unwrapped(&call.receiver);
    }
    // Copies are made by reading.
    calls.retain(|call| call.method != "copied" && call.method != "cloned");
    calls.reverse();
    (calls, source)
}

/// The first `return` in the body of a closure.
pub(crate) fn returns_in(body: &Expr) -> Option<proc_macro2::Span> {
    let mut found = None;
    each(body, &mut |node| {
        let Node::Expr(Expr::Return(jump)) = node else { return true };
        found.get_or_insert(jump.return_token.span);
        false
    });
    found
}

/// Whether the elements of a chain may be a list before what follows asks for the first one: it ends for certain, and its closures change nothing.
pub(crate) fn is_collectable(call: &ExprMethodCall) -> bool {
    let mut plain = is_iterator(&call.receiver);
    let whole = Expr::MethodCall(call.clone());
    // What closures call so themselves, such as the state of a `scan`, nobody else sees.
    let mut own = Vec::new();
    each(&whole, &mut |node| {
        if let Node::Pat(Pat::Ident(name)) = node {
            own.push(name.ident.to_string());
        }
        true
    });
    let is_own =
        |place: &Expr| root_of(place).is_some_and(|name| own.iter().any(|one| name == one));
    each(&whole, &mut |node| {
        let Node::Expr(part) = node else { return true };
        // What is taken of one value again and again ends.
        if let Expr::MethodCall(taken) = part
            && taken.method == "take"
            && matches!(unwrapped(&taken.receiver), Expr::Call(made) if repeated(made).is_some())
            && matches!(taken.args.first(), Some(Expr::Path(_) | Expr::Lit(_) | Expr::Field(_)))
        {
            return false;
        }
        plain &= match part {
            Expr::Range(range) => range.end.is_some(),
            Expr::MethodCall(inner) => inner.method != "cycle" && inner.method != "by_ref",
            Expr::Call(made) => {
                let name = made.func.to_token_stream().to_string();
                !["repeat", "successors", "from_fn"].iter().any(|own| name.ends_with(own))
            }
            Expr::Assign(assign) => is_own(&assign.left),
            Expr::Binary(binary) => {
                crate::syntax::compound(&binary.op).is_none() || is_own(&binary.left)
            }
            _ => true,
        };
        true
    });
    plain
}

/// The name of the variable that a place is in.
fn root_of(place: &Expr) -> Option<&syn::Ident> {
    match unwrapped(place) {
        Expr::Path(path) => path.path.get_ident(),
        Expr::Index(index) => root_of(&index.expr),
        Expr::Field(field) => root_of(&field.base),
        Expr::Unary(unary) if matches!(unary.op, syn::UnOp::Deref(_)) => root_of(&unary.expr),
        _ => None,
    }
}

fn is_end(call: &ExprMethodCall) -> bool {
    ENDS.contains(&call.method.to_string().as_str())
}

pub(crate) const OUT_OF_A_CLOSURE: &str =
    "a `return` out of a closure is not built: write an `if` with a value";
