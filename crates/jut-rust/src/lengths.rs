//! Lists that get another list's value in a branch or a loop: whether the length may be another one then. And rows, which have one length.
//!
//! Only rustc and the text know of each list how long it is. So it is looked at how the new list is written: where a function gives it, or
//! its length is computed, `pts.windows(2)`, `(0..n - 1)`, it may be of another length, and the list stands in a record (`stacked`).
//! Else it is taken to be as long as the one before, which the text tests.

use crate::lowering::Lowering;
use crate::syntax::unwrapped;
use crate::template::{What, bare};
use crate::types::{Extent, Ty};
use crate::value::Value;
use crate::visited::{Node, each};
use proc_macro2::Span;
use syn::{Expr, Pat, Stmt};

impl Lowering<'_> {
    /// A list, or a struct of lists, as one that is as long as what is in a place: where the text does not know that, it is tested.
    pub fn as_long(&mut self, place: &Value, value: Value, span: Span) -> Value {
        let (of, ty) = match self.resolve(&place.ty) {
            Ty::Array(_, Extent::Slice | Extent::Vec) => (None, self.resolve(&place.ty)),
            ty @ Ty::Of(..) if !matches!(self.resolve(&value.ty), t if t.is_float() || t.is_integer()) => {
                match ty {
                    Ty::Of(hole, ref steps) => (Some((hole, steps.clone())), ty),
                    _ => return value,
                }
            }
            _ => return value,
        };
        let Some((hole, steps)) = of else {
            // Elements of a type that is known by steps alone have no text here.
            if !has_text(&ty) {
                return value;
            }
            let value = self.named(value, "list");
            let (mut sizes, mut lines) = (0, Vec::new());
            let text = ty.text(&mut || {
                let name = self.names.unique("n");
                lines.push((name.clone(), sizes));
                sizes += 1;
                name
            });
            let depth = rank(&ty);
            for (name, k) in lines.into_iter().filter(|(_, k)| *k < depth) {
                let line =
                    self.at(span, What::Same, &format!("{name} = size({}, {k})", place.text));
                self.lines.push(line);
            }
            let text = self.at(span, What::Length, &format!("cast {} : {text}", value.text));
            return Value { text, level: 0, ..value };
        };
        let steps = crate::types::words(&steps);
        let (old, n) = (self.names.unique("old"), self.names.unique("n"));
        let (open, close) = (format!("$if vec {hole}{steps}$"), "$end$");
        let line = self.at(span, What::Same, &format!("{old} = {}", place.text));
        self.lines.push(format!("{open}{line}{close}"));
        self.lines.push(format!("{open}$measures {hole} {n} {old}{steps}${close}"));
        let text =
            format!("{open}cast ({close}{}{open}) : $type {hole} {n}{steps}${close}", value.text);
        let text = self.at(span, What::Length, &text);
        Value { text, level: 0, ..value }
    }

    /// The last line of what makes each row of a list: rows have one length, that of the first, which is made once more for that where the text
    /// does not know how long they are.
    pub fn of_one_length(
        &mut self,
        lines: &mut Vec<String>,
        row: &Value,
        (index, count): (&str, &str),
        span: Span,
    ) {
        let text = row.text.clone();
        let (open, close, ty) = match self.resolve(&row.ty) {
            ty @ Ty::Array(_, Extent::Slice | Extent::Vec) if rank(&ty) == 1 && has_text(&ty) => {
                // A loop as it stands in `collect`: `list = for (i < count) {`.
                let start = format!("{text} = for (");
                let head = lines.iter().find_map(|l| l.strip_prefix(&start));
                let size = head.and_then(|l| l.split_once(" < ")?.1.split_once(')'));
                let known = size.is_some_and(|(size, _)| is_outside(size, lines, index, 8));
                if known || head.is_none() {
                    lines.push(text);
                    return;
                }
                (String::new(), "", ty)
            }
            Ty::Of(hole, steps) if steps.is_empty() => {
                let steps = crate::types::words(&steps);
                (format!("$if list {hole}{steps}$"), "$end$", Ty::Of(hole, Vec::new()))
            }
            _ => {
                lines.push(text);
                return;
            }
        };
        let n = self.names.unique("n");
        let mut first = vec![format!("{index} = 0")];
        first.extend(lines.iter().cloned());
        first.push(format!("size({text})"));
        let first = crate::lowering::indented(&first);
        self.lines
            .push(format!("{open}{n}__0 = if {count} > 0 {{\n{first}\n}} else {{ 0 }}{close}"));
        let written = match &ty {
            Ty::Of(hole, _) => format!("$type {hole} {n}$"),
            other => other.text(&mut || format!("{n}__0")),
        };
        let last = format!("{open}cast ({close}{text}{open}) : {written}{close}");
        lines.push(self.at(span, What::Length, &last));
    }
}

/// What makes lists of another length than what it is about.
const PARTS: &[&str] = &[
    "windows",
    "chunks",
    "chunks_exact",
    "step_by",
    "chain",
    "skip_while",
    "map_while",
    "flatten",
    "scan",
];

/// Methods that give as many elements as what they are called on has.
const SAME: &[&str] = &["clone", "to_vec", "to_owned", "into_iter", "iter", "copied", "cloned"];

/// Whether a list that is given in a statement may have another length than the one before it.
pub(crate) fn may_differ(right: &Expr, statement: &Expr) -> bool {
    differs(right, statement, 4)
}

fn differs(right: &Expr, statement: &Expr, depth: usize) -> bool {
    if depth == 0 {
        return true;
    }
    let tail = |block: &syn::Block| match block.stmts.last() {
        Some(Stmt::Expr(last, None)) => differs(last, statement, depth - 1),
        _ => false,
    };
    match unwrapped(right) {
        Expr::Path(path) => path
            .path
            .get_ident()
            .and_then(|name| value_of(&name.to_string(), statement))
            .is_some_and(|value| differs(&value, statement, depth - 1)),
        Expr::Try(inner) => differs(&inner.expr, statement, depth - 1),
        Expr::Block(block) => tail(&block.block),
        Expr::If(choice) => {
            let other = choice.else_branch.as_ref();
            tail(&choice.then_branch)
                || other.is_some_and(|(_, other)| differs(other, statement, depth - 1))
        }
        Expr::Call(call) => match unwrapped(&call.func) {
            Expr::Path(path) => path.path.segments.first().is_none_or(|first| first.ident != "Vec"),
            _ => false,
        },
        Expr::MethodCall(call) if call.method == "collect" => {
            makes_other(&call.receiver, statement)
        }
        Expr::MethodCall(call) if SAME.iter().any(|name| call.method == name) => {
            makes_other(&call.receiver, statement)
        }
        Expr::MethodCall(_) => true,
        Expr::Macro(of) if of.mac.path.is_ident("vec") => {
            let repeated = |input: syn::parse::ParseStream<'_>| -> syn::Result<Expr> {
                input.parse::<Expr>()?;
                input.parse::<syn::Token![;]>()?;
                input.parse()
            };
            let count = syn::parse::Parser::parse2(repeated, of.mac.tokens.clone());
            count.is_ok_and(|count| is_computed(&count, statement))
        }
        _ => false,
    }
}

/// What a name is bound to in a statement.
fn value_of(name: &str, statement: &Expr) -> Option<Expr> {
    let mut found = None;
    each(statement, &mut |node| {
        if let Node::Local(local) = node {
            let pattern = match &local.pat {
                Pat::Type(typed) => &*typed.pat,
                other => other,
            };
            if let (Pat::Ident(ident), Some(init)) = (pattern, &local.init)
                && ident.ident == name
            {
                found = Some((*init.expr).clone());
            }
        }
        true
    });
    found
}

/// Whether a number of elements is more than a name, a literal or a length.
fn is_computed(count: &Expr, statement: &Expr) -> bool {
    match unwrapped(count) {
        Expr::Lit(_) => false,
        Expr::Path(path) => match path.path.get_ident().map(|name| name.to_string()) {
            Some(name) => match value_of(&name, statement) {
                Some(Expr::Path(_)) | None => false,
                Some(value) => is_computed(&value, statement),
            },
            None => false,
        },
        Expr::Field(_) => false,
        Expr::MethodCall(call) => call.method != "len",
        _ => true,
    }
}

/// Whether an iterator goes over another number of elements than some list has.
fn makes_other(iterator: &Expr, statement: &Expr) -> bool {
    let zero = |start: &Expr| matches!(start, Expr::Lit(lit) if matches!(&lit.lit, syn::Lit::Int(n) if n.base10_digits() == "0"));
    let mut found = false;
    each(iterator, &mut |node| {
        match node {
            Node::Expr(Expr::MethodCall(call)) => {
                found |= PARTS.iter().any(|name| call.method == name);
                // What its closures do is about elements.
                found |= makes_other(&call.receiver, statement);
                let mut others = call.args.iter().filter(|a| !matches!(a, Expr::Closure(_)));
                found |= others.any(|argument| makes_other(argument, statement));
                return false;
            }
            Node::Expr(Expr::Index(index)) => {
                found |= matches!(unwrapped(&index.index), Expr::Range(_));
                return false;
            }
            Node::Expr(Expr::Range(range)) | Node::Pat(Pat::Range(range)) => {
                found |= range.start.as_deref().is_some_and(|start| !zero(start))
                    || range.end.as_deref().is_some_and(|end| is_computed(end, statement))
                    || matches!(range.limits, syn::RangeLimits::Closed(_));
                return false;
            }
            Node::Expr(Expr::Call(call)) => {
                // The list that a function gives; `zip(a, b)` goes along both.
                found |= !matches!(unwrapped(&call.func), Expr::Path(path) if path.path.segments.last().is_some_and(|s| s.ident == "zip"));
            }
            _ => {}
        }
        true
    });
    found
}

/// Whether the text knows of a size that the lines of a loop give that it is the same in each round: a number, or a name of outside.
fn is_outside(size: &str, lines: &[String], index: &str, depth: usize) -> bool {
    let size = bare(size);
    let of = size.strip_prefix("size(").and_then(|s| s.strip_suffix(')')).unwrap_or(&size);
    // What rustc knows is a constant.
    let word = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
    if of == index || depth == 0 || !of.chars().all(|c| word(c) || c == ' ' && of.contains('$')) {
        return false;
    }
    let own = format!("{of} = ");
    match lines.iter().find_map(|l| l.strip_prefix(&own)) {
        Some(value) => is_outside(value, lines, index, depth - 1),
        None => true,
    }
}

/// How many dimensions of a list are known when it runs only, the first ones.
fn rank(ty: &Ty) -> usize {
    match ty {
        Ty::Array(element, Extent::Slice | Extent::Vec) => 1 + rank(element),
        _ => 0,
    }
}

/// Whether a list's type can be written.
fn has_text(ty: &Ty) -> bool {
    match ty {
        Ty::Array(element, Extent::Fixed(_)) => rank(element) == 0 && has_text(element),
        Ty::Array(element, _) => has_text(element),
        Ty::Of(_, steps) => steps.is_empty(),
        Ty::Tuple(items) => items.iter().all(has_text),
        Ty::Never | Ty::Option(_) => false,
        _ => true,
    }
}
