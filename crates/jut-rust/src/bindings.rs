//! `let`, and patterns that always fit.
//!
//! A `let` whose value is a closure, a list that grows or a `&mut` gives no value a name, but something else: those names stand for the
//! closure, for the list that there is so far, for the place.
//!
//! ```text
//! let (a, [b, c]) = pair;          pair_1 = pair
//!                                  a = pair_1.0
//!                                  whole = pair_1.1
//!                                  b = whole[0]
//!                                  c = whole[1]
//! ```

use crate::lowering::{Found, Local, Lowering};
use crate::syntax::{has_infer, place_of};
use crate::template::{Hole, What};
use crate::types::{Extent, Ty, array};
use crate::value::Value;
use crate::{Refusal, refuse};
use syn::spanned::Spanned;
use syn::{Expr, Pat};

/// Patterns, and what they are about.
type Parts = Vec<(Pat, Value)>;

impl Lowering<'_> {
    /// `let`.
    pub fn binding(&mut self, local: &syn::Local) -> Result<(), Refusal> {
        let Some(init) = &local.init else {
            return match &local.pat {
                Pat::Type(typed) => self.late_binding(&typed.pat, Some(&typed.ty)),
                pattern => self.late_binding(pattern, None),
            };
        };
        if let Some(converted) = converted(local) {
            return self.binding(&converted);
        }
        if let Some(typed) = crate::ended::typed(local) {
            return self.binding(&typed);
        }
        let grown = std::mem::take(&mut self.expected.grown);
        if let Some(statements) = crate::pointers::declared(local) {
            return statements.iter().try_for_each(|statement| match statement {
                syn::Stmt::Local(local) => self.binding(local),
                _ => Ok(()),
            });
        }
        if let Some(word) = crate::stepped::endless(&init.expr) {
            let said = "these elements have no end, and are a list here: count what is taken, `x[k % x.len()]`, or end them, `.take(n)`";
            return refuse(word, said);
        }
        if self.two_lists(local)? {
            return Ok(());
        }
        if let Some(each) = one_each(&local.pat, &init.expr, &|call| self.gives_closure(call)) {
            return each.iter().try_for_each(|one| self.binding(one));
        }
        let (pattern, annotated) = match &local.pat {
            Pat::Type(typed) => (&*typed.pat, Some(&*typed.ty)),
            other => (other, None),
        };
        let annotated = match annotated {
            Some(ty) if !matches!(ty, syn::Type::Infer(_)) => {
                let mut holes = std::mem::take(&mut self.parts.holes);
                let inferred = has_infer(ty);
                let found = match inferred {
                    true => Ok(None),
                    false => crate::types::read(ty, &mut holes).map(Some),
                };
                self.parts.holes = holes;
                found?
            }
            _ => None,
        };
        if let (Expr::Closure(closure), Pat::Ident(ident)) = (&*init.expr, pattern) {
            self.closure_binding(&ident.ident, closure)?;
            return Ok(());
        }
        if let Pat::Ident(ident) = pattern
            && self.given_closure(&ident.ident, &init.expr)?
        {
            return Ok(());
        }
        if let Pat::Ident(ident) = pattern
            && annotated.is_none()
            && ident.mutability.is_some()
            && is_none(&init.expr)
        {
            return self.none_binding(&ident.ident);
        }
        if let (Some(error), None) = (crate::syntax::called(&init.expr, "Err"), &annotated) {
            // An error that is kept is one of what the function gives.
            let value = self.no_error(error)?;
            let whole = match self.resolve(&self.signature.result) {
                whole @ Ty::Option(_) => whole,
                own => Ty::Option(Box::new(own)),
            };
            let value = self.with_type(value, &whole, &init.expr)?;
            return self.pattern(pattern, value);
        }
        if crate::syntax::is_empty(&init.expr) {
            let Pat::Ident(ident) = pattern else {
                return refuse(pattern, "give this list a name: `let mut list = Vec::new();`");
            };
            let element = match annotated {
                Some(Ty::Array(element, _)) => Some(*element),
                _ => None,
            };
            return self.empty_list(&ident.ident, element);
        }
        if let (Expr::Reference(reference), Pat::Ident(ident)) = (&*init.expr, pattern)
            && reference.mutability.is_some()
        {
            return self.alias(&ident.ident, &reference.expr);
        }
        // What refers to a place moves: it is another name of that.
        if let (Expr::Path(path), Pat::Ident(ident)) =
            (crate::syntax::unwrapped(&init.expr), pattern)
            && annotated.is_none()
            && ident.mutability.is_none()
            && ident.by_ref.is_none()
            && ident.subpat.is_none()
            && let Some(local) = path.path.get_ident().and_then(|i| self.lookup(&i.to_string()))
            && local.reference
            && local.mutable
            && local.stack.is_none()
        {
            let local = local.clone();
            self.declare(&ident.ident.to_string(), local);
            return Ok(());
        }
        if let Some((list, at)) = halves(&init.expr)
            && let Pat::Tuple(tuple) = pattern
            && let [left, right] = &tuple.elems.iter().collect::<Vec<_>>()[..]
        {
            let whole = syn::Ident::new("__jut_whole", init.expr.span());
            let list = match list {
                Expr::Path(_) | Expr::Field(_) => list.clone(),
                // It is looked at twice.
                list => {
                    let list = self.expression(list)?;
                    self.pattern(&syn::parse_quote!(#whole), list)?;
                    syn::parse_quote!(#whole)
                }
            };
            let at = self.operand(at)?;
            let at = self.convert(at, &Ty::Usize);
            let at = self.named(at, "at");
            let name = syn::Ident::new("__jut_at", init.expr.span());
            self.declare(&name.to_string(), Local::value(at.text, Ty::Usize));
            let first = self.expression(&syn::parse_quote!(&#list[..#name]))?;
            self.pattern(left, first)?;
            let second = self.expression(&syn::parse_quote!(&#list[#name..]))?;
            return self.pattern(right, second);
        }
        self.expected.wanted = annotated.clone().filter(|_| {
            crate::nones::wants_type(&init.expr) || crate::syntax::is_of_none(&init.expr)
        });
        if let (Some(Ty::Array(list, _)), Some(count)) =
            (&annotated, crate::uneven::empty_rows(&init.expr))
            && let Some(rows) = self.empty_rows(list, &count)?
        {
            return self.pattern(pattern, rows);
        }
        self.expected.rows = match &annotated {
            Some(Ty::Array(list, _)) if self.is_user_call(&init.expr) => Some((**list).clone()),
            // It may be one that makes rows.
            None if !self.is_user_call(&init.expr) => None,
            // Of a method, or a function of a type, only what is done with its result says so.
            None if self.is_rowwise(pattern) => Some(Ty::Unit),
            None if is_of_function(&init.expr) => Some(Ty::Never),
            _ => None,
        };
        self.expected.lists = match &annotated {
            Some(Ty::Array(list, _)) if crate::syntax::is_collected(&init.expr) => {
                Some((**list).clone())
            }
            _ => None,
        };
        if let Some(Ty::Option(list)) = &annotated
            && matches!(**list, Ty::Array(..))
            && let Some(end) = crate::syntax::collect(&init.expr)
        {
            return refuse(&end.method, crate::syntax::COLLECTED);
        }
        let value = self.expression(&init.expr);
        (self.expected.rows, self.expected.lists) = (None, None);
        let value = value?;
        if let Some(inner) = last_arm(pattern, &init.expr) {
            let option = self.as_pair(value);
            let option = self.named(option, "option");
            let (_, value) = self.option_parts(&option);
            return self.pattern(inner, value);
        }
        // The last arm of a `match` fits where no other one does.
        if is_subject(&init.expr) && matches!(pattern, Pat::Slice(_)) {
            let whole = self.named(value, "whole");
            return self.tested(pattern, &whole).map(|_| ());
        }
        let value = match &annotated {
            Some(ty) => {
                let value = self.with_type(value, ty, &init.expr)?;
                // Rows may have lengths of their own, whatever is written.
                if self.is_uneven(&value.ty) { value } else { self.convert(value, ty) }
            }
            None if grown => self.as_list_that_grows(value, init.expr.span()),
            None => self.with_type(value, &Ty::Never, &init.expr)?,
        };
        self.pattern(pattern, value)
    }

    /// `let x;`: a variable with some value. Its type is that of what is assigned, which the next pass knows.
    fn late_binding(&mut self, pattern: &Pat, written: Option<&syn::Type>) -> Result<(), Refusal> {
        let ident = match (pattern, written) {
            (Pat::Ident(ident), _) => ident,
            (Pat::Tuple(tuple), None) => {
                return tuple.elems.iter().try_for_each(|one| self.late_binding(one, None));
            }
            _ => return refuse(pattern, "give each variable a `let` of its own"),
        };
        let k = self.late.len();
        let ty = match written {
            Some(ty) => crate::types::read(ty, &mut self.parts.holes)?,
            None => self.learned.late.get(&k).cloned().unwrap_or(Ty::F64),
        };
        let ty = self.resolve(&ty);
        // What a list is before it has its value nobody reads: one without elements.
        if let Ty::Array(element, Extent::Slice | Extent::Vec) = &ty {
            return self.empty_list(&ident.ident, Some((**element).clone()));
        }
        let start = self.neutral(&ty, pattern)?;
        let name = self.names.unique(&ident.ident.to_string());
        self.lines.push(format!("var {name} = {start}"));
        self.late.insert(name.clone(), k);
        let local = Local { mutable: true, depth: self.depth, ..Local::value(name, ty) };
        self.declare(&ident.ident.to_string(), local);
        Ok(())
    }

    /// `let mut best = None;`: of what it is none is said by what is assigned to it, which the next pass knows.
    fn none_binding(&mut self, ident: &syn::Ident) -> Result<(), Refusal> {
        let rust = ident.to_string();
        let key = place_of(ident);
        let (ty, start) = match self.learned.nones.get(&key).cloned() {
            Some(found) => {
                let inner = self.found_before(&found.ty, &found.holes);
                let ty = Ty::Option(Box::new(inner));
                let start = self.neutral(&ty, ident)?;
                (ty, start)
            }
            // No text of this pass counts.
            None => (Ty::Option(Box::new(Ty::Never)), "#(false, 0.0)".to_string()),
        };
        let name = self.names.unique(&rust);
        self.lines.push(format!("var {name} = {start}"));
        self.nones.insert(name.clone(), (key, ident.span()));
        let local = Local { mutable: true, depth: self.depth, ..Local::value(name, ty) };
        self.declare(&rust, local);
        Ok(())
    }

    /// A type that a pass before this one found.
    pub fn found_before(&mut self, ty: &Ty, holes: &[Hole]) -> Ty {
        match ty {
            Ty::Int(_) => self.unknown_integer(),
            Ty::Float(_) => self.unknown_float(),
            Ty::Of(hole, steps) => match holes.get(*hole) {
                Some(hole) => {
                    let hole = self.hole(hole.clone());
                    self.row_again(hole);
                    self.untold_again(hole);
                    Ty::Of(hole, steps.clone())
                }
                None => ty.clone(),
            },
            Ty::Array(element, extent) => array(self.found_before(element, holes), extent.clone()),
            Ty::Tuple(items) => {
                Ty::Tuple(items.iter().map(|item| self.found_before(item, holes)).collect())
            }
            Ty::Option(inner) => Ty::Option(Box::new(self.found_before(inner, holes))),
            known => known.clone(),
        }
    }

    /// Whether it is a name that stands for a list of lists, as what is done with it shows.
    fn is_rowwise(&self, pattern: &Pat) -> bool {
        matches!(pattern, Pat::Ident(name) if self.rowwise.contains(&name.ident.to_string()))
    }

    /// What is assigned to such a variable.
    pub fn assigned_to_none(&mut self, place: &str, value: &Ty) {
        let Some((key, _)) = self.nones.get(place) else { return };
        let Ty::Option(inner) = self.resolve(value) else { return };
        if *inner != Ty::Never && !self.learned.nones.contains_key(key) {
            let holes = self.parts.holes.clone();
            self.learned.nones.insert(key.clone(), Found { ty: *inner, holes });
        }
    }

    /// `let row = &mut x[i];`: another name of a place, which Rust lets nobody else use meanwhile.
    pub fn alias(&mut self, name: &syn::Ident, of: &Expr) -> Result<(), Refusal> {
        let depth = match self.root(of) {
            Some(local) => local.depth,
            None => return refuse(of, "bind this to a name with `let mut` before"),
        };
        let (place, _) = self.looked_at(of)?;
        if place.level == 2 {
            return refuse(
                of,
                "a `&mut` of a slice stands in an argument of a call here: use the whole array",
            );
        }
        if place.level == 1 {
            // Out of range is found here.
            let unused = self.names.unique("unused");
            let line = self.at(of.span(), What::Same, &format!("{unused} = {}", place.text));
            self.lines.push(line);
        }
        let (text, ty) = (place.text, place.ty);
        let local = Local {
            name: text,
            ty,
            mutable: true,
            reference: true,
            depth,
            least: i64::MIN,
            closure: None,
            stack: None,
            untyped: None,
        };
        self.declare(&name.to_string(), local);
        Ok(())
    }

    /// Binds the names of a pattern.
    pub fn pattern(&mut self, pattern: &Pat, value: Value) -> Result<(), Refusal> {
        let value = self.row(value);
        match pattern {
            // `ref` is what a reference is anyway; `ref mut` is another name of a place.
            Pat::Ident(ident)
                if ident.subpat.is_none()
                    && (ident.by_ref.is_none() || ident.mutability.is_none()) =>
            {
                let mutable = ident.mutability.is_some();
                let ty = self.resolve(&value.ty);
                if ty == Ty::Unit {
                    return refuse(pattern, "this has no value");
                }
                let rust = ident.ident.to_string();
                let name = self.names.unique(&rust);
                let start = if mutable { "var " } else { "" };
                self.lines.push(format!("{start}{name} = {}", value.text));
                let ty = match ty {
                    Ty::Array(element, Extent::Vec) => Ty::Array(element, Extent::Slice),
                    other => other,
                };
                let least = match (mutable, &ty) {
                    (false, _) => value.least,
                    (true, Ty::Usize) => 0,
                    _ => i64::MIN,
                };
                let local = Local {
                    name,
                    ty,
                    mutable,
                    reference: false,
                    depth: self.depth,
                    least,
                    closure: None,
                    stack: None,
                    untyped: None,
                };
                self.declare(&rust, local);
                Ok(())
            }
            Pat::Wild(_) => {
                if !value.cheap {
                    let name = self.names.unique("unused");
                    self.lines.push(format!("{name} = {}", value.text));
                }
                Ok(())
            }
            Pat::Paren(inner) => self.pattern(&inner.pat, value),
            Pat::Reference(inner) => self.pattern(&inner.pat, value),
            Pat::Type(typed) => {
                if !has_infer(&typed.ty)
                    && let Ok(ty) = crate::types::read(&typed.ty, &mut self.parts.holes)
                {
                    self.unify(&value.ty, &ty);
                }
                self.pattern(&typed.pat, value)
            }
            Pat::Tuple(tuple) => {
                let whole = self.named(value, "pair");
                for (k, item) in crate::enums::before_rest(&tuple.elems)?.into_iter().enumerate() {
                    let component = self.component(&whole, k);
                    self.pattern(item, component)?;
                }
                Ok(())
            }
            Pat::Slice(slice) => {
                let whole = self.named(value, "whole");
                if matches!(self.resolve(&whole.ty), Ty::Array(_, Extent::Slice | Extent::Vec)) {
                    return refuse(
                        slice,
                        "a list may have another length: write `let [a, b] = x else { .. };`",
                    );
                }
                let (_, parts) = self.slice_parts(slice, &whole)?;
                for (part, value) in parts {
                    self.pattern(&part, value)?;
                }
                Ok(())
            }
            // Of the only variant.
            Pat::Struct(syn::PatStruct { path, .. })
            | Pat::TupleStruct(syn::PatTupleStruct { path, .. })
                if crate::syntax::variant_of(path).is_some() =>
            {
                let whole = self.named(value, "whole");
                self.tested(pattern, &whole).map(|_| ())
            }
            Pat::Struct(parts) => {
                let hole = self.data(&parts.path)?;
                let whole = self.convert(value, &Ty::Of(hole, Vec::new()));
                let whole = self.named(whole, "whole");
                for part in &parts.fields {
                    let value = self.member(&whole, &part.member)?;
                    self.pattern(&part.pat, value)?;
                }
                Ok(())
            }
            Pat::TupleStruct(parts)
                if !parts.path.segments.last().is_some_and(|s| {
                    matches!(s.ident.to_string().as_str(), "Some" | "Ok" | "Err")
                }) =>
            {
                let hole = self.data(&parts.path)?;
                let whole = self.convert(value, &Ty::Of(hole, Vec::new()));
                let whole = self.named(whole, "whole");
                for (k, part) in crate::enums::before_rest(&parts.elems)?.into_iter().enumerate() {
                    let value = self.component(&whole, k);
                    self.pattern(part, value)?;
                }
                Ok(())
            }
            Pat::TupleStruct(parts) if parts.path.is_ident("Err") => {
                refuse(&parts.elems, "nobody looks into an error here: write `Err(_)`")
            }
            _ => refuse(
                pattern,
                "this pattern is not built: bind a name, a tuple or array of names, or a struct's fields",
            ),
        }
    }

    /// The parts of a list by a pattern, `[a, .., b]`, and what its length must be for that, if it is not in its type. Where it
    /// is another, the parts are something.
    pub fn slice_parts(
        &mut self,
        slice: &syn::PatSlice,
        whole: &Value,
    ) -> Result<(Option<Value>, Parts), Refusal> {
        let ty = self.resolve(&whole.ty);
        let element = self.element(&ty);
        let least = if element == Ty::Usize { 0 } else { i64::MIN };
        let is_rest = |pattern: &Pat| match pattern {
            Pat::Rest(_) => true,
            Pat::Ident(ident) => {
                matches!(&ident.subpat, Some((_, inner)) if matches!(**inner, Pat::Rest(_)))
            }
            _ => false,
        };
        let count = slice.elems.len();
        let rest = slice.elems.iter().position(is_rest);
        let (size, known) = match &ty {
            Ty::Array(_, Extent::Fixed(n)) => (n.clone(), true),
            _ => (self.names.unique("n"), false),
        };
        if !known {
            self.lines.push(format!("{size} = size({})", whole.text));
        }
        let fits = match rest {
            _ if known => None,
            Some(_) => Some(format!("{size} >= {}", count - 1)),
            None => Some(format!("{size} == {count}")),
        };
        let mut parts = Vec::new();
        for (k, pattern) in slice.elems.iter().enumerate() {
            if Some(k) == rest {
                if let Pat::Ident(ident) = pattern {
                    let after = count - 1 - k;
                    let (a, b, part) = (
                        self.names.unique("first"),
                        self.names.unique("end"),
                        self.names.unique("rest"),
                    );
                    self.lines.push(format!("{a} = prim.min({k}, {size})"));
                    self.lines.push(format!("{b} = prim.max({size} - {after}, {a})"));
                    self.lines.push(format!("{part} = {}[{a} .. {b}]", whole.text));
                    let ty = Ty::Array(Box::new(element.clone()), Extent::Slice);
                    let name = syn::PatIdent { subpat: None, ..ident.clone() };
                    parts.push((Pat::Ident(name), Value::name(part, ty, i64::MIN)));
                }
                continue;
            }
            let at = match rest {
                // Of what has no elements for certain, the text refuses an index below zero.
                Some(rest) if k > rest => format!("prim.max({size} - {}, 0)", count - k),
                _ => k.to_string(),
            };
            let one = format!("{}[{at}]", whole.text);
            let value = match &fits {
                None => Value::name(one, element.clone(), least),
                Some(fits) => {
                    let other = self.neutral(&element, pattern)?;
                    let text = format!("if {fits} {{ {one} }} else {{ {other} }}");
                    let value = Value { level: 0, ..Value::name(text, element.clone(), least) };
                    self.named(Value { stable: false, ..value }, "part")
                }
            };
            parts.push((pattern.clone(), Value { stable: whole.stable, ..value }));
        }
        let fits = fits.map(|text| Value { level: 3, ..Value::name(text, Ty::Bool, 0) });
        Ok((fits, parts))
    }
}

/// What is in a `Some` or `Ok` of the last arm of a `match`, of which rustc knows that it fits: see `enums::as_branches`.
fn last_arm<'p>(pattern: &'p Pat, subject: &Expr) -> Option<&'p Pat> {
    match pattern {
        Pat::TupleStruct(parts) if is_subject(subject) && parts.elems.len() == 1 => {
            let known = ["Some", "Ok"].iter().any(|name| parts.path.is_ident(name));
            parts.elems.first().filter(|_| known)
        }
        _ => None,
    }
}

/// Whether a value is what a `match` with jumps is about.
fn is_subject(value: &Expr) -> bool {
    matches!(value, Expr::Path(path) if path.path.is_ident(crate::syntax::SUBJECT))
}

/// `let (mut a, mut b) = (Vec::new(), None);` as a `let` for each name; nothing if no list without elements, and no `None`, is among the values.
fn one_each(
    pattern: &Pat,
    value: &Expr,
    gives_closure: &dyn Fn(&Expr) -> bool,
) -> Option<Vec<syn::Local>> {
    let (Pat::Tuple(names), Expr::Tuple(values)) = (pattern, crate::syntax::unwrapped(value))
    else {
        return None;
    };
    let same = names.elems.len() == values.elems.len();
    let own = |value: &Expr| {
        crate::syntax::is_empty(value)
            || is_none(value)
            || matches!(value, Expr::Closure(_))
            || gives_closure(value)
    };
    if !same || !values.elems.iter().any(own) {
        return None;
    }
    // No value is computed with a name that is bound here.
    let bound = crate::syntax::bound(pattern);
    if bound.iter().any(|name| values.elems.iter().any(|v| crate::syntax::has_word(v, name))) {
        return None;
    }
    let each = names.elems.iter().zip(&values.elems).map(|(name, value)| {
        let one: syn::Stmt = syn::parse_quote!(let #name = #value;);
        match one {
            syn::Stmt::Local(local) => Some(local),
            _ => None,
        }
    });
    each.collect()
}

/// Whether an expression is a call of a function.
pub(crate) fn is_of_function(expr: &Expr) -> bool {
    matches!(crate::syntax::unwrapped(expr), Expr::Call(_))
}

/// `None`.
fn is_none(expr: &Expr) -> bool {
    matches!(crate::syntax::unwrapped(expr), Expr::Path(path) if path.path.is_ident("None"))
}

/// The list and the place of `x.split_at(k)`.
fn halves(expr: &Expr) -> Option<(&Expr, &Expr)> {
    let Expr::MethodCall(call) = expr else { return None };
    (call.method == "split_at" && call.args.len() == 1).then(|| (&*call.receiver, &call.args[0]))
}

/// `let x: T = e.into();` as `let x: T = T::from(e);`
fn converted(local: &syn::Local) -> Option<syn::Local> {
    let (Pat::Type(typed), Some(init)) = (&local.pat, &local.init) else { return None };
    let Expr::MethodCall(call) = crate::syntax::unwrapped(&init.expr) else { return None };
    let syn::Type::Path(ty) = &*typed.ty else { return None };
    let listed = ty.path.segments.last().is_some_and(|last| last.ident == "Vec");
    if call.method != "into" || !call.args.is_empty() || listed {
        return None;
    }
    let (value, owner) = (&call.receiver, crate::syntax::in_values(&typed.ty));
    let mut local = local.clone();
    if let Some(init) = &mut local.init {
        *init.expr = syn::parse_quote!(#owner::from(#value));
    }
    Some(local)
}
