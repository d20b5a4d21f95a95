//! A whole function: its body, which is gone over until nothing more is learned.

use crate::expression::Value;
use crate::results::Errors;
use crate::signature::{Signature, with_names};
use crate::template::{Hole, Place, What, finish, mark};
use crate::types::{Extent, Ty};
use crate::{Refusal, refuse};
use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use syn::spanned::Spanned;
use syn::{Expr, ItemFn, Lit};

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

/// A name in scope.
#[derive(Clone)]
pub(crate) struct Local {
    pub name: String,
    pub ty: Ty,
    pub mutable: bool,
    /// Whether it is a `&mut T`: `*x` is what it refers to, whose place its name is.
    pub reference: bool,
    /// How deep in blocks of the text it is declared.
    pub depth: usize,
    /// An integer is at least this.
    pub least: i64,
    /// The closure that it is.
    pub closure: Option<std::rc::Rc<crate::functions::Closure>>,
    /// The record that a list stands in: see `stacked`.
    pub stack: Option<String>,
    /// The number of a list that was declared without a type.
    pub number: Option<usize>,
}

impl Local {
    /// A name that nothing assigns.
    pub fn value(name: String, ty: Ty) -> Local {
        let least = if ty == Ty::Usize { 0 } else { i64::MIN };
        Local {
            name,
            ty,
            mutable: false,
            reference: false,
            depth: 0,
            least,
            closure: None,
            stack: None,
            number: None,
        }
    }
}

/// A loop that `break` and `continue` may be about.
#[derive(Clone, Debug)]
pub(crate) struct Frame {
    pub label: Option<String>,
    /// The number of the loop in the function.
    pub number: usize,
    /// How deep in blocks of the text it stands.
    pub depth: usize,
    /// The variable that says that the loop goes on.
    pub go: String,
    /// The variable that says that the iteration goes on.
    pub next: String,
}

/// What is learned in one pass over the body and used in the next.
#[derive(Clone, PartialEq, Default)]
pub(crate) struct Learned {
    /// What integers of unknown type turned out to be.
    pub integers: Vec<Option<Ty>>,
    /// What calls say of them: that counts where nothing else is known.
    pub given: BTreeMap<usize, Ty>,
    /// Those of which the meaning of an operation depends on whether they are of 32 bits.
    pub ranged: BTreeSet<usize>,
    /// The same of floats.
    pub floats: Vec<Option<Ty>>,
    /// Whether some `return` stands where the rest of the function cannot be put into the other arm.
    pub flagged: bool,
    /// The loops of which the same is true of a `continue`.
    pub skipping: HashSet<usize>,
    /// The types of the values with which loops end.
    pub broken: HashMap<usize, Ty>,
    /// The functions of whose results a field or a method is asked for: these are structs.
    pub structs: BTreeSet<String>,
    /// The operators of what may be structs and of integers as they are written, by their numbers: they are those of integers.
    pub integral: BTreeSet<usize>,
    /// The types of the elements of lists that are declared without a type, and change their lengths in branches and loops.
    pub elements: BTreeMap<usize, Ty>,
    /// The types of variables that get their values behind their declarations.
    pub late: HashMap<usize, Ty>,
}

/// The function while it is translated.
pub(crate) struct Lowering<'a> {
    pub signature: &'a Signature,
    pub names: crate::names::Names,
    pub scopes: Vec<HashMap<String, Local>>,
    /// The lines of the block that is being written.
    pub lines: Vec<String>,
    /// How deep that block is.
    pub depth: usize,
    /// The least depth of what was assigned or checked.
    pub reach: usize,
    /// The least depth of what was assigned.
    pub changed: usize,
    /// How many assignments there were so far.
    pub assigned: usize,
    pub holes: Vec<Hole>,
    pub marks: Vec<(Span, What)>,
    pub items: Vec<TokenStream>,
    pub learned: Learned,
    /// The integers that are written without a type: what stands for that, and where they are.
    pub numbers: Vec<(Ty, Span)>,
    /// Literals of functions within this one that are taken for `i32`.
    pub inner: Vec<Span>,
    /// How many integers of unknown type there were so far in this pass.
    pub integers: usize,
    /// The same of floats.
    pub floats: usize,
    pub loops: usize,
    /// The variables that get their values behind their declarations, by name.
    pub late: HashMap<String, usize>,
    /// The type of the value that is written next, where it is known before.
    pub wanted: Option<Ty>,
    /// The variables of the values with which loops end.
    pub broken: HashMap<usize, String>,
    pub frames: Vec<Frame>,
    /// What loops push to lists, the inner loops last.
    pub pushes: Vec<HashMap<String, Option<Value>>>,
    /// Lists that a loop fills which reads them: by their names in the text, the variable of how many elements there are so far.
    pub partial: HashMap<String, String>,
    /// The lists that the statement that is being written makes longer.
    pub growing: HashMap<String, crate::counted::Growing>,
    /// What arguments of the call that is being written refer to by `&mut`, if they do.
    pub targets: Vec<Option<String>>,
    /// Whether an error of the call that is written next is failure.
    pub sure: bool,
    /// Whether the method that is called next is that of an `Option`, since one is expected.
    pub optional: bool,
    /// How many operators there were so far.
    pub operators: usize,
    /// Whether operators are those of numbers.
    pub plain_operators: bool,
    /// The holes of operators one of whose operands is a struct for certain.
    pub whole_operators: HashSet<usize>,
    /// The types of lists that stand in records, as the text writes them.
    pub records: Vec<String>,
    /// How many lists were declared without a type so far.
    pub lists: usize,
    /// Whether the closures that are written belong to a chain whose errors are failures.
    pub failing_closures: bool,
    /// The variables of the result and of whether the function goes on, if some `return` needs them.
    pub returned: (String, String),
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
/// The text of the length in `[T; N]`.
pub(crate) fn length_of(length: &Expr, holes: &mut Vec<Hole>) -> String {
    if let Expr::Lit(literal) = length
        && let Lit::Int(n) = &literal.lit
    {
        return n.base10_digits().to_string();
    }
    let own = |hole: &Hole| match (hole, length) {
        (Hole::Length(name), Expr::Path(path)) => path.path.is_ident(name),
        _ => false,
    };
    if let Some(k) = holes.iter().position(own) {
        return format!("$k{k}$");
    }
    let tokens = length.to_token_stream();
    format!("$k{}$", hole_of(Hole::Constant(quote!(#tokens as usize)), holes))
}

/// The number of a hole, which is added unless it is there.
pub(crate) fn hole_of(hole: Hole, holes: &mut Vec<Hole>) -> usize {
    let wanted = written(&hole);
    holes.iter().position(|h| written(h) == wanted).unwrap_or_else(|| {
        holes.push(hole);
        holes.len() - 1
    })
}

/// A hole as a text that no other one has.
fn written(hole: &Hole) -> String {
    match hole {
        Hole::Function(t) => format!("function {t}"),
        Hole::Call(t, of) => format!("call {t} {of}"),
        Hole::Bound(t, name) => format!("bound {t} {name}"),
        Hole::Constant(t) => format!("constant {t}"),
        Hole::Method(t, key) => format!("method {key} {t}"),
        Hole::Data(t) => format!("data {t}"),
        Hole::Length(t) => format!("length {t}"),
        Hole::Default(t) => format!("default {t}"),
        Hole::Operator(key, left, right) => format!("operator {key} {left} {right}"),
        Hole::Sure(inner) => format!("sure {}", written(inner)),
    }
}

/// Translates a function.
///
/// # Errors
/// The first thing that is not in the subset.
pub fn lower(function: &ItemFn, signature: &Signature) -> Result<Lowered, Refusal> {
    let named = with_names(function);
    let function = named.as_ref().unwrap_or(function);
    let failing = match signature.errors {
        Errors::Fail => Some(crate::results::failing(function)?),
        _ => None,
    };
    let function = failing.as_ref().unwrap_or(function);
    let mut learned = Learned::default();
    let mut integers = Vec::new();
    // Each pass knows what the one before found out: types of integers that are decided behind their
    // first use, and jumps that need a variable.
    for _ in 0..12 {
        let before = learned.clone();
        let mut lowering = Lowering::new(signature, learned);
        let text = lowering.function(function);
        learned = lowering.learned.clone();
        if learned.structs != before.structs || learned.elements.len() != before.elements.len() {
            // What was taken for numbers, and refused, may be something else: no more of this pass counts.
            let Learned { structs, elements, .. } = learned;
            learned = Learned { structs, elements, ..Learned::default() };
            continue;
        }
        let text = text?;
        if learned != before {
            continue;
        }
        integers.extend(crate::literals::taken(&lowering));
        if !learned.close() {
            integers.extend(std::mem::take(&mut lowering.inner));
            let (text, places) = finish(&text, &lowering.marks);
            let Lowering { holes, items, .. } = lowering;
            return Ok(Lowered { text, places, holes, items, integers });
        }
    }
    refuse(&function.sig.ident, "the types of this function's numbers cannot be found: write them")
}

impl Learned {
    /// Two integers are of one type: what calls say of the first is said of the second.
    pub fn merge(&mut self, first: usize, second: usize) {
        if let Some(given) = self.given.get(&first).cloned() {
            self.given.entry(second).or_insert(given);
        }
        if self.ranged.contains(&first) {
            self.ranged.insert(second);
        }
    }

    /// Whether nothing is known of an integer, not even by a call: Rust takes it for an `i32`.
    pub fn is_open(&self, k: usize) -> bool {
        self.integers.get(k).is_none_or(Option::is_none) && !self.given.contains_key(&k)
    }

    /// What is still unknown is what Rust takes it for; whether anything was.
    fn close(&mut self) -> bool {
        let mut open = false;
        for (k, ty) in self.integers.iter_mut().enumerate().filter(|(_, ty)| ty.is_none()) {
            *ty = Some(self.given.get(&k).cloned().unwrap_or(Ty::I32));
            open = true;
        }
        for ty in self.floats.iter_mut().filter(|ty| ty.is_none()) {
            *ty = Some(Ty::F64);
            open = true;
        }
        open
    }
}

impl<'a> Lowering<'a> {
    fn new(signature: &'a Signature, learned: Learned) -> Self {
        Lowering {
            signature,
            names: Default::default(),
            scopes: vec![HashMap::new()],
            lines: Vec::new(),
            depth: 0,
            reach: usize::MAX,
            changed: usize::MAX,
            assigned: 0,
            holes: signature.lengths.clone(),
            marks: Vec::new(),
            items: Vec::new(),
            learned,
            numbers: Vec::new(),
            inner: Vec::new(),
            integers: 0,
            floats: 0,
            loops: 0,
            broken: HashMap::new(),
            frames: Vec::new(),
            pushes: Vec::new(),
            partial: HashMap::new(),
            growing: HashMap::new(),
            late: HashMap::new(),
            wanted: None,
            targets: Vec::new(),
            sure: false,
            optional: false,
            operators: 0,
            plain_operators: false,
            whole_operators: HashSet::new(),
            records: Vec::new(),
            lists: 0,
            failing_closures: false,
            returned: Default::default(),
        }
    }

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
            let own = match &p.ty {
                Ty::Of(hole, _) => format!("{hole}:"),
                Ty::Array(element, _) => match **element {
                    Ty::Of(hole, _) => format!("{hole}:"),
                    _ => String::new(),
                },
                _ => String::new(),
            };
            let given = matches!(p.ty, Ty::Function(..) | Ty::Option(_));
            let ty = p.ty.text(&mut || {
                if given {
                    return String::new();
                }
                let size = self.names.unique(&format!("n_{name}"));
                sizes.push(size.clone());
                size
            });
            // The last name is that of a struct's sizes.
            if let (false, Some(last)) = (own.is_empty(), sizes.last_mut()) {
                last.insert_str(0, &own);
            }
            let name = match &p.ty {
                // Whether there is a value, and that value.
                Ty::Option(inner) => {
                    let (there, value) =
                        (self.names.unique(&format!("has_{name}")), self.names.unique("value"));
                    let inner = inner.text(&mut String::new);
                    parameters.push(format!("{there}: bool, {value}: {inner}"));
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
        let value = self.statements(&function.block.stmts, crate::body::Tail::Function)?;
        if result != Ty::Unit {
            if value.is_none() {
                self.learned.flagged = true;
            }
            let text = match value {
                Some(value) if value.ty == Ty::Never => {
                    self.neutral(&result, &function.sig.output)?
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

    /// Makes a name known.
    pub fn declare(&mut self, rust: &str, local: Local) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(rust.to_string(), local);
        }
    }

    pub fn lookup(&self, rust: &str) -> Option<&Local> {
        self.scopes.iter().rev().find_map(|scope| scope.get(rust))
    }

    /// Text that comes from a place.
    pub fn at(&mut self, span: Span, what: What, text: &str) -> String {
        self.marks.push((span, what));
        mark(self.marks.len() - 1, text)
    }

    /// A check that something holds, which is a number that is not negative.
    pub fn check(&mut self, span: Span, what: What, check: &str) {
        let line = self.at(span, what, &format!("check {check}"));
        self.reach = 0;
        self.lines.push(line);
    }

    /// What fills a hole: its number.
    pub fn hole(&mut self, hole: Hole) -> usize {
        hole_of(hole, &mut self.holes)
    }

    /// The text of a length in the body.
    pub fn length(&mut self, length: &Expr) -> String {
        length_of(length, &mut self.holes)
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
            Ty::I64 | Ty::I32 | Ty::U32 | Ty::Usize | Ty::Int(_) => "0".to_string(),
            Ty::Of(hole, steps) if steps.is_empty() => {
                let Some(Hole::Data(path)) = self.holes.get(*hole).cloned() else {
                    return Ok(format!("$neutral {hole}$"));
                };
                let said = "a `return` out of a loop, or a `panic!` in place of a value, needs a struct without `Vec`: \
                            keep it in a variable, and give it at the end";
                self.items.push(quote! {
                    const { ::core::assert!(<#path as ::jut::rust::Data>::TYPE.sizes() == 0, #said) };
                });
                format!("$neutral {hole}$")
            }
            // A value of this type is there already.
            Ty::Of(hole, steps) => {
                let steps: String = steps.iter().map(|s| format!(" {s}")).collect();
                format!("$neutral {hole}{steps}$")
            }
            _ => {
                return Err(Refusal {
                    span: Some(at.to_token_stream().span()),
                    message: "a `return` out of a loop, or a `panic!` in place of a value, needs a \
                              result of a known size: keep the result in a variable, and give it at the end"
                        .to_string(),
                });
            }
        })
    }
}

/// Lines as the text of a block.
pub(crate) fn indented(lines: &[String]) -> String {
    let all = lines.iter().flat_map(|l| l.lines());
    all.map(|l| format!("  {l}")).collect::<Vec<_>>().join("\n")
}
