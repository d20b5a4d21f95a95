//! A whole function: its body, which is gone over until nothing more is learned.

use crate::lowering::{Learned, Local, Lowering, Parts, indented};
use crate::signature::{Errors, Signature, with_names};
use crate::template::{Hole, Place, What, finish};
use crate::types::{Extent, Ty};
use crate::{Kind, Refusal, refuse, spanned};
use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote};
use syn::ItemFn;
use syn::spanned::Spanned;

/// A function as text.
#[derive(Clone, Debug, Default)]
pub struct Lowered {
    /// The template.
    pub text: String,
    /// Where its parts come from.
    pub places: Vec<Place>,
    /// What fills its holes.
    pub holes: Vec<Hole>,
    /// Items of the body that names in the holes may need.
    pub items: Vec<TokenStream>,
    /// Literals that are taken for `i32`, where the meaning depends on it: see [`crate::literals`].
    pub integers: Vec<Span>,
}

/// How many dimensions of an array have no length in its type.
fn open_dimensions(ty: &Ty) -> usize {
    match ty {
        Ty::Array(element, extent) => {
            usize::from(!matches!(extent, Extent::Fixed(_))) + open_dimensions(element)
        }
        _ => 0,
    }
}

/// Of each name for sizes in the text of a type, the struct that it is for, if it is for one.
fn owners(ty: &Ty, of: &mut Vec<Option<usize>>) {
    match ty {
        Ty::Of(hole, _) => of.push(Some(*hole)),
        Ty::Array(element, extent) => {
            if !matches!(extent, Extent::Fixed(_)) {
                of.push(None);
            }
            owners(element, of);
        }
        Ty::Tuple(items) => items.iter().for_each(|item| owners(item, of)),
        _ => {}
    }
}

/// Translates a function.
///
/// # Errors
/// The first thing that is not in the subset.
pub fn lower(function: &ItemFn, signature: &Signature) -> Result<Lowered, Refusal> {
    let named = with_names(function);
    let function = named.as_ref().unwrap_or(function);
    let owned = crate::unqualified::told(function);
    let function = owned.as_ref().unwrap_or(function);
    let tables = crate::tables::told(function);
    let function = tables.as_ref().unwrap_or(function);
    let told = crate::generated::told(function)?;
    let function = told.as_ref().unwrap_or(function);
    let given_on = crate::propagated::told(function);
    let function = given_on.as_ref().unwrap_or(function);
    let failing = match signature.errors {
        Errors::Fail | Errors::Missing => Some(crate::results::failing(function)?),
        _ => None,
    };
    let function = failing.as_ref().unwrap_or(function);
    // Lists at several ends may have different lengths.
    if crate::returned::has_several_ends(function)
        && let Some(told) = crate::returned::told(function)
        && let Ok(lowered) = translated(&told, signature)
    {
        return Ok(lowered);
    }
    match translated(function, signature) {
        Err(refusal) if refusal.kind == Kind::NoLength => match crate::returned::told(function) {
            Some(told) => translated(&told, signature).map_err(|_| refusal),
            None => Err(refusal),
        },
        found => found,
    }
}

/// Why a function cannot give a list out of a loop.
const OPEN: &str = "a `return` out of a loop, or a `panic!` in place of a value, needs a result of a known size: keep the \
                    result in a variable, and give it at the end";

/// Goes over the body until nothing more is learned.
fn translated(function: &ItemFn, signature: &Signature) -> Result<Lowered, Refusal> {
    let mut learned = Learned::default();
    let mut integers = Vec::new();
    let rowwise = std::rc::Rc::new(crate::rowwise::names(&function.block));
    // Each pass knows what the one before found out: types of integers that are decided behind their
    // first use, and jumps that need a variable.
    for _ in 0..12 {
        let before = learned.clone();
        let mut lowering = Lowering::new(signature, learned);
        lowering.rowwise = rowwise.clone();
        let text = lowering.function(function);
        learned = lowering.learned.clone();
        let open = |(key, _): &&(String, Span)| !learned.nones.contains_key(key);
        let unknown = lowering.nones.values().find(open).map(|(_, span)| *span);
        if text.is_err() && (unknown.is_some() || lowering.lists.unknown) {
            let mut search = Lowering::new(signature, before.clone());
            search.searching = true;
            search.rowwise = rowwise.clone();
            // What is found counts, whatever is refused on the way.
            let _ = search.function(function);
            (learned.nones, learned.elements) = (search.learned.nones, search.learned.elements);
        }
        if learned.structs != before.structs
            || learned.elements.len() != before.elements.len()
            || learned.nones != before.nones
            || text.is_err() && learned.late != before.late
        {
            // What was taken for numbers, and refused, may be something else: no more of this pass counts.
            let Learned { structs, elements, nones, late, .. } = learned;
            learned = Learned { structs, elements, nones, late, ..Learned::default() };
            continue;
        }
        let text = text?;
        if learned != before {
            continue;
        }
        if unknown.is_some() {
            return Err(Refusal::new(unknown, crate::options::NONE));
        }
        integers.extend(crate::literals::taken(&lowering));
        if !learned.close() {
            integers.extend(std::mem::take(&mut lowering.open.inner));
            let (text, mut places) = finish(&text, &lowering.parts.marks);
            // What no part of the body says is in the function.
            let (end, span) = (text.len(), function.sig.ident.span());
            places.push(Place { start: 0, end, span, what: What::Same });
            let Parts { holes, items, .. } = lowering.parts;
            return Ok(Lowered { text, places, holes, items, integers });
        }
    }
    refuse(&function.sig.ident, "the types of this function's numbers cannot be found: write them")
}

impl Lowering<'_> {
    fn function(&mut self, function: &ItemFn) -> Result<String, Refusal> {
        let (mut sizes, mut parameters) = (Vec::new(), Vec::new());
        // The result, and the parameters that are changed: types and values.
        let (mut types, mut values) = (Vec::new(), Vec::new());
        let mut lengths = Vec::new();
        for (k, rust) in self.signature.lengths() {
            let name = self.names.unique(&rust.to_string());
            lengths.push((format!("$k{k}$"), name.clone()));
            sizes.push(name.clone());
            self.declare(&rust.to_string(), Local::value(name, Ty::Usize));
        }
        for p in &self.signature.parameters {
            let name = self.names.unique(&p.name);
            let (first, mut of) = (sizes.len(), Vec::new());
            owners(&p.ty, &mut of);
            let given = match &p.ty {
                Ty::Function(..) => true,
                Ty::Option(inner) => !crate::types::has_sizes(inner),
                _ => false,
            };
            // What is in an `Option` is a parameter of its own.
            let within = match &p.ty {
                Ty::Option(inner) => inner,
                whole => whole,
            };
            let ty = within.text(&mut || {
                if given {
                    return String::new();
                }
                let size = self.names.unique(&format!("n_{name}"));
                sizes.push(size.clone());
                size
            });
            // Some names are those of a struct's sizes.
            for (size, hole) in sizes[first..].iter_mut().zip(of) {
                if let Some(hole) = hole {
                    size.insert_str(0, &format!("{hole}:"));
                }
            }
            let name = match &p.ty {
                // Whether there is a value, and that value.
                Ty::Option(_) => {
                    let (there, value) =
                        (self.names.unique(&format!("has_{name}")), self.names.unique("value"));
                    parameters.push(format!("{there}: bool, {value}: {ty}"));
                    self.lines.push(format!("{name} = #({there}, {value})"));
                    name
                }
                _ => {
                    parameters.push(format!("{name}: {ty}"));
                    name
                }
            };
            let local = Local {
                mutable: p.mutable || p.changed,
                reference: p.changed,
                ..Local::value(name.clone(), p.ty.clone())
            };
            if local.mutable && !matches!(p.ty, Ty::Function(..)) {
                let own = self.names.unique(&p.name);
                self.lines.push(format!("var {own} = {name}"));
                if p.changed {
                    types.push(ty);
                    values.push(own.clone());
                }
                self.declare(&p.name, Local { name: own, ..local });
            } else {
                self.declare(&p.name, local);
            }
        }
        self.returned = (self.names.unique("result"), self.names.unique("live"));
        let result = self.signature.result.clone();
        if self.learned.flagged {
            if result != Ty::Unit {
                let start = self.neutral(&result, &function.sig.output)?;
                self.lines.push(format!("var {} = {start}", self.returned.0));
            }
            self.lines.push(format!("var {} = true", self.returned.1));
        }
        let value = self.statements(&function.block.stmts, crate::lowering::Tail::Function)?;
        if result != Ty::Unit {
            if value.is_none() {
                self.learned.flagged = true;
            }
            let text = match value {
                Some(value) if value.ty == Ty::Never => {
                    self.neutral(&result, &function.sig.output)?
                }
                Some(value) if self.is_uneven(&value.ty) && !self.is_uneven(&result) => {
                    self.evened(value, Some(function.sig.output.span())).text
                }
                Some(value) => self.convert(value, &result).text,
                None => self.returned.0.clone(),
            };
            if let Ty::Of(hole, _) = &result {
                let (m, y) = (self.names.unique("n_result"), self.names.unique("y"));
                self.lines.push(format!("{y} = {text}"));
                let value = self.names.unique("value");
                types.insert(
                    0,
                    format!("$results {hole} {m}${value}: {}", result.text(&mut || m.clone())),
                );
                values.insert(0, format!("$lengths {hole} {y}${y}"));
            } else if matches!(result, Ty::Array(_, Extent::Vec)) {
                // Its lengths are results before it.
                let (mut lengths, y) = (Vec::new(), self.names.unique("y"));
                let ty = result.text(&mut || {
                    lengths.push(self.names.unique("n_result"));
                    lengths[lengths.len() - 1].clone()
                });
                // The name behind them is that of the sizes of a struct, which has none in a list.
                lengths.truncate(open_dimensions(&result));
                self.lines.push(format!("{y} = {text}"));
                let mut own: Vec<String> = lengths.iter().map(|m| format!("{m}: i64")).collect();
                own.push(format!("{}: {ty}", self.names.unique("values")));
                types.splice(..0, own);
                let size = |k: usize| match k {
                    0 => format!("size({y})"),
                    k => format!("size({y}, {k})"),
                };
                let sizes = (0..lengths.len()).map(size).chain([y.clone()]);
                values.splice(..0, sizes);
            } else if crate::types::has_sizes(&result)
                && let Ty::Tuple(items) = &result
            {
                // So are those of its lists.
                let (mut lengths, mut sizes, y) = (Vec::new(), Vec::new(), self.names.unique("y"));
                self.lines.push(format!("{y} = {text}"));
                let mut of = Vec::new();
                for (k, item) in items.iter().enumerate() {
                    let mut own = Vec::new();
                    of.push(item.text(&mut || {
                        own.push(self.names.unique("n_result"));
                        own[own.len() - 1].clone()
                    }));
                    own.truncate(open_dimensions(item));
                    for (j, name) in own.into_iter().enumerate() {
                        lengths.push(format!("{name}: i64"));
                        sizes.push(match j {
                            0 => format!("size({y}.{k})"),
                            j => format!("size({y}.{k}, {j})"),
                        });
                    }
                }
                let whole = self.names.unique("values");
                lengths.push(format!("{whole}: #({})", of.join(", ")));
                sizes.push(y);
                types.splice(..0, lengths);
                values.splice(..0, sizes);
            } else {
                types.insert(0, result.text(&mut String::new));
                values.insert(0, text);
            }
        }
        let list = |items: &[String]| match items {
            [one] if !one.starts_with('$') => one.clone(),
            several => format!("({})", several.join(", ")),
        };
        self.lines.push(list(&values));
        let result = list(&types);
        let sizes = match sizes.is_empty() {
            true => String::new(),
            false if sizes.iter().any(|s| s.contains(':')) => {
                format!("$sizes {}$", sizes.join(" "))
            }
            false => format!("[{}]", sizes.join(", ")),
        };
        let records = self.records_text();
        let text = format!(
            "{records}def $f${sizes}({}) -> {result} = {{\n{}\n}}\n",
            parameters.join(", "),
            indented(&self.lines)
        );
        Ok(lengths.iter().fold(text, |text, (hole, name)| text.replace(hole, name)))
    }

    /// Some value of a type, for what is never read.
    pub fn neutral(&mut self, ty: &Ty, at: &dyn ToTokens) -> Result<String, Refusal> {
        Ok(match ty {
            Ty::F64 | Ty::F32 | Ty::Float(_) => self.float("0.0", ty),
            Ty::Bool => "false".to_string(),
            Ty::Array(element, Extent::Fixed(n)) => {
                format!("build (i < {n}) {{ {} }}", self.neutral(element, at)?)
            }
            Ty::Option(inner) if **inner != Ty::Never => {
                format!("#(false, {})", self.neutral(inner, at)?)
            }
            Ty::Tuple(items) => {
                let items: Result<Vec<String>, Refusal> =
                    items.iter().map(|t| self.neutral(t, at)).collect();
                format!("#({})", items?.join(", "))
            }
            integer if integer.is_integer() => "0".to_string(),
            Ty::Of(hole, steps) if steps.is_empty() => {
                let Some(Hole::Data(path)) = self.parts.holes.get(*hole).cloned() else {
                    return Ok(format!("$neutral {hole}$"));
                };
                let said = "a `return` out of a loop, or a `panic!` in place of a value, needs a struct without `Vec`: \
                            keep it in a variable, and give it at the end";
                self.parts.items.push(quote! {
                    const { ::core::assert!(<#path as ::jut::rust::Data>::TYPE.sizes() == 0, #said) };
                });
                format!("$neutral {hole}$")
            }
            // A value of this type is there already.
            Ty::Of(hole, steps) => {
                let steps = crate::types::words(steps);
                format!("$neutral {hole}{steps}$")
            }
            _ => {
                return Err(spanned(&at.to_token_stream(), OPEN).no_length());
            }
        })
    }
}
