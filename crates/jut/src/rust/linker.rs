//! Puts the texts of functions together: every function once, behind those that it calls, with its
//! holes filled, and with the places in Rust files that its parts come from.

use super::constant::Constant;
use super::data::after;
use super::declared::Declarations;
use super::description::Description;
use super::prelude;
use super::{Callee, RustPlace, Source, Type};
use crate::error::{Error, Result};
use crate::model::{Function, Model};
use jut_ir::Span;
use std::any::TypeId;
use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;

/// What fills a hole: its text, and its type.
#[derive(Clone, Debug)]
pub struct Filled {
    pub(crate) text: String,
    pub(crate) ty: Type,
    pub(crate) changed: &'static [bool],
    pub(crate) parameters: &'static [Type],
    /// The text for rows of different lengths, of a function that takes rows.
    pub(crate) second: Option<fn(&mut Linker, bool) -> Filled>,
    /// The name of that, where the text calls it for a field.
    pub(crate) of_fields: Option<String>,
}

/// A part of the text with its place in Rust.
#[derive(Clone, Copy, Debug)]
struct Placed {
    start: u32,
    end: u32,
    place: RustPlace,
}

impl Filled {
    /// The same with what is in the `Some` as its type, where it is an `Option`.
    #[must_use]
    pub fn unwrapped(self) -> Filled {
        match self.ty {
            Type::Tuple([Type::Bool, value]) => Filled { ty: *value, ..self },
            _ => self,
        }
    }

    /// What is no function.
    pub(crate) const fn plain(text: String, ty: Type) -> Filled {
        Filled { text, ty, changed: &[], parameters: &[], second: None, of_fields: None }
    }

    /// Whether the function gives rows of different lengths.
    pub fn gives_rows(&self) -> bool {
        is_uneven(&self.ty)
    }

    /// A function by its name in the text, for tests that put texts together themselves.
    #[doc(hidden)]
    pub fn function(name: &str, ty: Type, changed: &'static [bool]) -> Filled {
        Filled { changed, ..Filled::plain(name.to_string(), ty) }
    }

    /// The same with the types of the function's parameters.
    #[doc(hidden)]
    pub fn of(self, parameters: &'static [Type]) -> Filled {
        Filled { parameters, ..self }
    }

    /// The type that some steps lead to, of what it gives, of its parameter, `@1`, or of what a function among its arguments takes: `@1.0`.
    pub(super) fn walk<'a>(&self, steps: impl Iterator<Item = &'a str>) -> Option<Type> {
        let mut ty = self.ty;
        for step in steps {
            ty = match step.strip_prefix('@').map(|step| step.split_once('.').unwrap_or((step, "")))
            {
                Some((k, j)) => match (self.parameters.get(k.parse::<usize>().ok()?)?, j) {
                    (parameter, "") => *parameter,
                    (Type::Function(inputs, _), j) => *inputs.get(j.parse::<usize>().ok()?)?,
                    _ => return None,
                },
                None => ty.step(step)?,
            };
        }
        Some(ty)
    }
}

/// Texts that are put together.
#[derive(Default)]
pub struct Linker {
    text: String,
    functions: HashMap<TypeId, String>,
    constants: HashMap<String, String>,
    used: HashSet<String>,
    places: Vec<Placed>,
    declarations: Declarations,
    wrong: Option<String>,
    /// Whether functions that make rows are those of rows with lengths of their own also where nothing but this says so.
    uneven: bool,
    /// Whether there is such a function.
    makes_rows: bool,
}

/// A program, and where it comes from.
pub(crate) struct Linked {
    pub model: Model,
    pub name: String,
    places: Vec<Placed>,
    /// Whether there is another program, in which rows that are made have lengths of their own.
    pub makes_rows: bool,
}

impl Description {
    /// The program that its text makes, with all that it calls.
    pub(super) fn linked(&self) -> Result<&'static Linked> {
        self.cell().get(self)
    }

    /// The function, by the parameters that are named.
    pub(super) fn function(&self) -> Result<Function> {
        let linked = self.linked()?;
        let function = linked.model.function(&linked.name)?;
        if self.wrt.is_empty() {
            return Ok(function);
        }
        let parameters = function.parameters();
        let names = self.wrt.iter().filter_map(|k| Some(parameters.get(*k)?.0.as_str()));
        function.wrt(&names.collect::<Vec<_>>())
    }
}

impl Linked {
    /// The place in Rust of what the text has at a span: that of the smallest part which has it in it.
    pub fn place(&self, span: Span) -> Option<RustPlace> {
        let holds = |p: &&Placed| span.file == 0 && p.start <= span.start && span.end <= p.end;
        let smallest = self.places.iter().filter(holds).min_by_key(|p| p.end - p.start);
        smallest.map(|p| p.place)
    }
}

impl Linker {
    /// The program of a function.
    pub(super) fn link(of: &Description) -> Result<Linked> {
        if let Some(program) = (of.program)() {
            let (model, name) = (program.model()?, of.name.to_string());
            return Ok(Linked { model, name, places: Vec::new(), makes_rows: false });
        }
        let mut linker = Linker { uneven: of.uneven, ..Linker::default() };
        linker.used.extend(prelude::names());
        let name = (of.link)(&mut linker).text;
        if let Some(wrong) = linker.wrong {
            return Err(Error::Request(wrong));
        }
        let declared = linker.declarations.before(&linker.text);
        let text = with_prelude(&(declared + &linker.text));
        let shift = (text.len() - linker.text.len()) as u32;
        let mut places = linker.places;
        for place in &mut places {
            place.start += shift;
            place.end += shift;
        }
        let model = Model::from_named_text(of.name, text.trim_end())?;
        Ok(Linked { model, name, places, makes_rows: linker.makes_rows })
    }

    /// The types in a type that the text declares.
    pub(super) fn declare(&mut self, ty: &Type) {
        let wrong = self.declarations.add(ty);
        self.wrong = self.wrong.take().or(wrong);
    }

    /// A function that the text calls.
    pub fn function<S: Source>(&mut self) -> Filled {
        S::link(self)
    }

    /// A function that a call of the text stands for.
    pub fn called<S: Source>(&mut self) -> Filled {
        S::called(self)
    }

    /// A function that the text calls, which may make rows.
    pub fn perhaps_rows<S: Source>(&mut self, sure: bool) -> Filled {
        self.makes_rows |= S::MAKES_ROWS;
        match (S::MAKES_ROWS && self.uneven, sure) {
            (true, _) => S::second_text(self, sure),
            (false, true) => S::link(self),
            (false, false) => S::called(self),
        }
    }

    /// The same of a function that is called with arguments of these types.
    pub fn call_perhaps_rows<F: Callee<A>, A>(&mut self, _: A, sure: bool) -> Filled {
        self.perhaps_rows::<F::Function>(sure)
    }

    /// A function with a `Result` that has no text with an `Option`, where an error is not failure.
    pub fn only_surely(&mut self, name: &str) -> Filled {
        self.refused(format!("`{name}` gives a list, or an `Err` or `None` that ends the whole call: write `.unwrap()` behind its call, or `?` in a function that gives such a `Result` or `Option` of a list itself"))
    }

    /// A method of a trait that a type has without derivatives.
    pub fn missing(&mut self, name: &str, ty: &str) -> Filled {
        self.refused(format!("`{name}` of `{ty}` has no derivatives: write `#[jut::differentiable]` before the `impl` of the trait"))
    }

    /// What makes no program, for that reason.
    pub(super) fn refused(&mut self, why: String) -> Filled {
        self.wrong.get_or_insert(why);
        Filled::plain("missing".to_string(), Type::Unit)
    }

    /// The definition of a function, which is added unless it is there.
    pub(super) fn definition(&mut self, of: &Description) -> Filled {
        let id = (of.id)();
        let text = match self.functions.get(&id) {
            Some(name) => name.clone(),
            None => {
                let name = self.unique(of.name);
                self.functions.insert(id, name.clone());
                (of.define)(self);
                name
            }
        };
        let Description { changed, parameters, second, .. } = *of;
        Filled { changed, parameters, second, ..Filled::plain(text, of.result) }
    }

    /// A constant that the text uses. An array is a definition of its own.
    pub fn constant<C: Constant + ?Sized>(&mut self, value: &C) -> Filled {
        let () = C::CHECKED;
        let mut text = String::new();
        if !value.write(&mut text) {
            self.wrong.get_or_insert_with(|| {
                format!("the constant {text} is larger than `i64::MAX`, which is no integer of jut")
            });
        }
        if let (false, Some(ty), Some(rows)) = (value.is_even(), C::ROWS, value.rows()) {
            return self.uneven_constant(text, ty, &rows);
        }
        if !value.is_even() {
            self.refused(format!(
                "the constant {text} has rows of different lengths: fill them up, `[[f64; 3]; 2]`, or give each a `match` arm"
            ));
        }
        let ty = C::TYPE;
        if !matches!(ty, Type::Array(_) | Type::Fixed(..) | Type::Vec(_)) {
            return Filled::plain(text, ty);
        }
        if let Some(name) = self.constants.get(&text) {
            return Filled::plain(name.clone(), ty);
        }
        let name = self.unique("constant");
        let mut sizes = Vec::new();
        value.sizes(&mut sizes);
        let sizes: Vec<String> = sizes.iter().map(|n| n.to_string()).collect();
        let scalar = ty.scalar().text("n", &mut 0);
        let _ = writeln!(self.text, "const {name}: [{}]{scalar} = {text}\n", sizes.join(", "));
        self.constants.insert(text, name.clone());
        Filled::plain(name, ty)
    }

    /// A constant whose rows have different lengths: a definition that gives them.
    fn uneven_constant(&mut self, text: String, ty: Type, rows: &[String]) -> Filled {
        if let Some(name) = self.constants.get(&text) {
            return Filled::plain(name.clone(), ty);
        }
        self.declare(&ty);
        let name = self.unique("constant");
        let whole = ty.text("n", &mut 0).replacen("n__0", &rows.len().to_string(), 1);
        let _ = writeln!(self.text, "def {name}() -> {whole} = [{}]\n", rows.join(", "));
        let call = format!("{name}()");
        self.constants.insert(text, call.clone());
        Filled::plain(call, ty)
    }

    /// A name of the text for a path of Rust.
    fn unique(&mut self, path: &str) -> String {
        let letter = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
        let base: String = path.replace("::", "_").replace("r#", "").chars().map(letter).collect();
        let base = match base.trim_start_matches(|c: char| c == '_' || c.is_ascii_digit()) {
            "" => "function".to_string(),
            rest => rest.to_string(),
        };
        let mut name = base.clone();
        let mut number = 1;
        while !self.used.insert(name.clone()) {
            number += 1;
            name = format!("{base}_{number}");
        }
        name
    }

    /// Adds the text of a function, with its holes filled.
    pub fn define<S: Source>(
        &mut self,
        template: &str,
        file: &'static str,
        places: &'static str,
        holes: &[Filled],
    ) {
        self.write(TypeId::of::<S>(), template, file, places, holes);
    }

    /// Finds the second texts of functions that are called with fields whose rows have lengths of their own.
    fn look_at_arguments(
        &mut self,
        template: &str,
        file: &'static str,
        places: &'static str,
        holes: &[Filled],
    ) -> Option<Vec<Filled>> {
        let mut found = None;
        let tags = template.match_indices("$callee ").chain(template.match_indices("$follows "));
        let mut tags: Vec<(usize, &str)> = tags.collect();
        tags.sort_unstable();
        for (at, tag) in tags {
            let words = template[at + tag.len()..].split('$').next().unwrap_or_default();
            let now = found.as_deref().unwrap_or(holes);
            let Some((called, fields)) = ragged_fields(words, now) else { continue };
            // A list has no such method of its own, and the call is not there.
            if now[called].text.is_empty() {
                continue;
            }
            let second = holes[called].second.map(|second| second(self, true));
            let rows = |f: &Filled| f.parameters.iter().filter(|ty| is_uneven(ty)).count();
            let whole = tag == "$follows ";
            let fits =
                |second: &Filled| (whole || !second.gives_rows()) && rows(second) == fields.len();
            match second.filter(fits) {
                Some(second) => {
                    let all = found.get_or_insert_with(|| holes.to_vec());
                    match whole {
                        true => all[called] = second,
                        false => all[called].of_fields = Some(second.text),
                    }
                }
                None => {
                    let place = super::places::smallest(places, file, at);
                    let place = place.map_or(String::new(), |place| format!(" at {place}"));
                    let field = fields[0];
                    self.refused(format!(
                        "the field `{field}` has rows with lengths of their own, `#[data(ragged)]`, and is no argument of this function{place}: give it the struct"
                    ));
                }
            }
        }
        found
    }

    fn write(
        &mut self,
        id: TypeId,
        template: &str,
        file: &'static str,
        places: &'static str,
        holes: &[Filled],
    ) {
        let own = self.functions.get(&id).cloned().unwrap_or_default();
        let with_second = self.look_at_arguments(template, file, places, holes);
        let holes = with_second.as_deref().unwrap_or(holes);
        let moved = fill(&mut self.text, &own, template, holes);
        self.text.push('\n');
        let mut rest = places;
        while let Some((start, end, place, more)) = super::places::next(rest, file) {
            let moved = |at: usize| moved[at.min(template.len())];
            self.places.push(Placed { start: moved(start), end: moved(end), place });
            rest = more;
        }
    }
}

/// Writes a template with its holes filled, and says where each of its bytes went.
fn fill(text: &mut String, own: &str, template: &str, holes: &[Filled]) -> Vec<u32> {
    let mut moved = vec![text.len() as u32; template.len() + 1];
    let (mut rest, mut skipped) = (template, 0u32);
    while !rest.is_empty() {
        let at = template.len() - rest.len();
        if let Some(tagged) = rest.strip_prefix('$') {
            let (tag, behind) = tagged.split_once('$').unwrap_or((tagged, ""));
            moved[at..template.len() - behind.len()].fill(text.len() as u32);
            let condition = tag.strip_prefix("if ");
            match (tag, condition) {
                ("end", _) => skipped = skipped.saturating_sub(1),
                (_, Some(_)) if skipped > 0 => skipped += 1,
                // What is there stands between two tags, so that each `end` has one to end.
                (_, Some(condition)) if !holds(condition, holes) => skipped = 1,
                _ if skipped > 0 || condition.is_some() => {}
                ("f", _) => text.push_str(own),
                _ if tag.contains(' ') => text.push_str(&written(tag, holes)),
                _ => {
                    let number = tag.trim_start_matches(|c: char| !c.is_ascii_digit());
                    let hole = number.parse::<usize>().ok().and_then(|k| holes.get(k));
                    text.push_str(hole.map_or("", |h| &h.text));
                }
            }
            rest = behind;
            continue;
        }
        let c = rest.chars().next().map_or(1, char::len_utf8);
        moved[at..at + c].fill(text.len() as u32);
        if skipped == 0 {
            text.push_str(&rest[..c]);
        }
        rest = &rest[c..];
    }
    moved[template.len()] = text.len() as u32;
    moved
}

/// The definition of a function by its template, for tests that put texts together themselves.
#[doc(hidden)]
pub fn filled(own: &str, template: &str, holes: &[Filled]) -> String {
    let mut text = String::new();
    fill(&mut text, own, template, holes);
    text
}

/// A text with the definitions before it that it uses.
#[doc(hidden)]
pub fn with_prelude(text: &str) -> String {
    let mut all = String::new();
    for definition in prelude::used(text) {
        let _ = writeln!(all, "{definition}\n");
    }
    all.push_str(text);
    all
}

/// What a tag of several words stands for:
///
/// | tag | gives |
/// |---|---|
/// | `sizes n_x 0:n_p` | the sizes in brackets of a definition: names, and those of hole 0 |
/// | `type 0 n e x` | the type of such a field of hole 0, its sizes named after n |
/// | `measures 0 n y e x` | statements that give these names the sizes of y, which is of that type |
/// | `names 0 n`, `results 0 n`, `lengths 0 y` | these names; the same as results; the sizes of y |
/// | `rowed y 0 x e` | such a row with the list y in it |
/// | `callee 0 ; 1 x` | the function of hole 0, whose arguments are such fields: for rows with lengths of their own its second text |
/// | `follows 0 ; 1` | the same of a hole that is that of one call |
/// | `field 0 e x` | the number of the field x of an element of hole 0 |
/// | `row 0 x e`, `next 0 x e` | what stands behind an element for what is in it, and between it and the next index: of a row with a length of its own the field with its values |
/// | `make 0 x=a y=b` | a struct of its fields; what is not named is taken from `..=c` |
/// | `is 0 Round`, `which 0 Round` | what stands before and behind a value to ask whether it is that variant |
/// | `get 0 Round.radius`, `got 0 Round.radius` | the same to give a field of a variant |
/// | `pair 0 next`, `paired 0 next` | the same to make a pair of an `Option` in a type that holds itself; `option`, `optioned` the other way round; `nothing` is none |
/// | `variant 0 Round Round.radius=a` | a variant of the enum of hole 0 with its fields |
/// | `none 0 2` | argument 2 of the function of hole 0, if that is a `None` |
/// | `to f64 0 e x` | the conversion to f64 of such a field: nothing, if that is one |
/// | `least 0 e x`, `most 0 e x`, `bits 0 e x`, `width 0 e x` | the limits of such a field, an integer of few bits; its bits, each of which is set; how many |
/// | `fixed 0 e x` | the length of such a field, an array of fixed size |
/// | `neutral 0 e x` | some value of such a field |
fn written(tag: &str, holes: &[Filled]) -> String {
    let words: Vec<&str> = tag.split(' ').collect();
    let hole = |k: &str| k.parse::<usize>().ok().and_then(|k| holes.get(k)).map(|h| h.ty);
    let names = |ty: Type, prefix: &str| -> Vec<String> {
        (0..ty.sizes()).map(|k| format!("{prefix}__{k}")).collect()
    };
    match words[..] {
        ["sizes", ref items @ ..] => {
            let each = items.iter().flat_map(|item| match item.split_once(':') {
                Some((k, prefix)) => hole(k).map_or(Vec::new(), |ty| names(ty, prefix)),
                None => vec![item.to_string()],
            });
            let all: Vec<String> = each.collect();
            if all.is_empty() { String::new() } else { format!("[{}]", all.join(", ")) }
        }
        ["type", k, prefix, ref steps @ ..] => {
            let of = k.parse::<usize>().ok().and_then(|k| holes.get(k));
            let ty = of.and_then(|h| h.walk(steps.iter().copied()));
            ty.map_or(String::new(), |ty| ty.text(prefix, &mut 0))
        }
        ["measures", k, prefix, of, ref steps @ ..] => {
            let hole = k.parse::<usize>().ok().and_then(|k| holes.get(k));
            let Some(ty) = hole.and_then(|h| h.walk(steps.iter().copied())) else {
                return String::new();
            };
            let mut lengths = Vec::new();
            ty.lengths(of, &mut lengths);
            let each = names(ty, prefix).into_iter().zip(lengths);
            each.map(|(name, length)| format!("{name} = {length}")).collect::<Vec<_>>().join("\n")
        }
        ["names", k, prefix] => hole(k).map_or(String::new(), |ty| after(names(ty, prefix))),
        ["results", k, prefix] => hole(k).map_or(String::new(), |ty| {
            after(names(ty, prefix).iter().map(|n| format!("{n}: i64")).collect())
        }),
        ["lengths", k, of] => hole(k).map_or(String::new(), |ty| {
            let mut lengths = Vec::new();
            ty.lengths(of, &mut lengths);
            after(lengths)
        }),
        ["row" | "next", k, ref steps @ ..] => {
            let of = k.parse::<usize>().ok().and_then(|k| holes.get(k));
            let ty = of.and_then(|h| h.walk(steps.iter().copied()));
            let row = matches!(ty, Some(Type::Declared(row)) if row.is_row());
            match (words[0], row) {
                ("row", true) => ".values".to_string(),
                ("row", false) => String::new(),
                (_, true) => "].values[".to_string(),
                (_, false) => ", ".to_string(),
            }
        }
        ["rowed", list, k, ref steps @ ..] => {
            let of = k.parse::<usize>().ok().and_then(|k| holes.get(k));
            match of.and_then(|h| h.walk(steps.iter().copied())) {
                Some(Type::Declared(row)) => match row.variants() {
                    [one] => row.made(one, &[list.to_string()]),
                    _ => String::new(),
                },
                _ => String::new(),
            }
        }
        ["follows", k, ..] => {
            let own = k.parse::<usize>().ok().and_then(|k| holes.get(k));
            own.map_or(String::new(), |own| own.text.clone())
        }
        ["callee", ref words @ ..] => {
            let own = words.first().and_then(|k| k.parse::<usize>().ok());
            let Some(own) = own.and_then(|k| holes.get(k)) else { return String::new() };
            let second = ragged_fields(&words.join(" "), holes).and(own.of_fields.as_ref());
            second.unwrap_or(&own.text).clone()
        }
        ["field", k, ref steps @ .., name] => {
            let of = k.parse::<usize>().ok().and_then(|k| holes.get(k));
            let ty = of.and_then(|h| h.walk(steps.iter().copied()));
            // What is no field keeps its name, which the checker refuses.
            ty.and_then(|t| t.member(name)).unwrap_or(name.to_string())
        }
        ["is" | "which" | "get" | "got", k, name] => enum_part(words[0], hole(k), name),
        ["pair" | "paired" | "option" | "optioned" | "nothing", k, ref steps @ ..] => {
            let of = k.parse::<usize>().ok().and_then(|k| holes.get(k));
            option_part(words[0], of.and_then(|h| h.walk(steps.iter().copied())))
        }
        ["make", k, ref given @ ..] => {
            let given: HashMap<&str, &str> =
                given.iter().filter_map(|pair| pair.split_once('=')).collect();
            let plain = |value: &str| value.split('@').next().unwrap_or(value).to_string();
            let fields = match hole(k) {
                Some(Type::Record(fields)) => fields,
                Some(Type::Declared(of)) => return made(of, of.variants().first(), &given, holes),
                _ => return String::new(),
            };
            let rest = given.get("..").map(|rest| plain(rest));
            let each = fields.iter().enumerate().map(|(k, (name, ty))| match given.get(name) {
                // An `Option` is the pair that it is in the text.
                Some(value) if *value == "?" => ty.neutral(),
                Some(value) => plain(value.trim_start_matches('?')),
                None => rest.as_ref().map_or(String::new(), |rest| format!("{rest}.{k}")),
            });
            format!("#({})", each.collect::<Vec<_>>().join(", "))
        }
        ["none", k, argument] => {
            let of = k.parse::<usize>().ok().and_then(|k| holes.get(k));
            let argument = argument.parse::<usize>().ok();
            match of.zip(argument).and_then(|(of, k)| of.parameters.get(k)) {
                Some(Type::Tuple([_, inner])) => format!("false, {}", inner.neutral()),
                _ => "false".to_string(),
            }
        }
        ["variant", k, name, ref given @ ..] => {
            let given: HashMap<&str, &str> =
                given.iter().filter_map(|pair| pair.split_once('=')).collect();
            let (variants, fields) = match hole(k) {
                Some(Type::Enum(variants, fields)) => (variants, fields),
                Some(Type::Declared(of)) => {
                    let variant = of.variants().iter().find(|v| v.name == name);
                    return made(of, variant, &given, holes);
                }
                _ => return String::new(),
            };
            let number = variants.iter().position(|v| *v == name);
            let first = number.map_or(name.to_string(), |number| number.to_string());
            let rest = fields.iter().skip(1).map(|(name, ty)| match given.get(name) {
                Some(value) => value.split('@').next().unwrap_or(value).to_string(),
                None => ty.neutral(),
            });
            let each: Vec<String> = [first].into_iter().chain(rest).collect();
            format!("#({})", each.join(", "))
        }
        ["to", name, k, ref steps @ ..] => {
            let of = k.parse::<usize>().ok().and_then(|k| holes.get(k));
            let ty = of.and_then(|h| h.walk(steps.iter().copied()));
            if let (Some(Type::U64), "f64" | "f32") = (ty, name) {
                return format!("rust_u64_to_{name}");
            }
            let same = match ty {
                Some(Type::F64) => name == "f64",
                Some(Type::F32) => name == "f32",
                Some(ty) => name == "i64" && ty.is_integer(),
                None => false,
            };
            let large = name == "f32" && matches!(ty, Some(Type::I64 | Type::Usize));
            match (same, large) {
                (true, _) => String::new(),
                (_, true) => "rust_to_f32".to_string(),
                _ => name.to_string(),
            }
        }
        [limit @ ("least" | "most" | "bits" | "width"), k, ref steps @ ..] => {
            let of = k.parse::<usize>().ok().and_then(|k| holes.get(k));
            let ty = of.and_then(|h| h.walk(steps.iter().copied()));
            let Some((least, most)) = ty.and_then(Type::limits) else { return String::new() };
            match limit {
                "least" if least < 0 => format!("({least})"),
                "least" => least.to_string(),
                "most" => most.to_string(),
                "bits" => (most - least).to_string(),
                _ => (most - least).count_ones().to_string(),
            }
        }
        ["fixed", k, ref steps @ ..] => {
            let of = k.parse::<usize>().ok().and_then(|k| holes.get(k));
            match of.and_then(|h| h.walk(steps.iter().copied())) {
                Some(Type::Fixed(_, n)) => n.to_string(),
                _ => String::new(),
            }
        }
        ["remade", of, list, k, ref steps @ .., field] => {
            let own = k.parse::<usize>().ok().and_then(|k| holes.get(k));
            let ty = own.and_then(|h| h.walk(steps.iter().copied()));
            ty.map_or(String::new(), |ty| ty.remade(of, field, list))
        }
        ["neutral", k, ref steps @ ..] => {
            let of = k.parse::<usize>().ok().and_then(|k| holes.get(k));
            let ty = of.and_then(|h| h.walk(steps.iter().copied()));
            ty.map_or(String::new(), |ty| ty.neutral())
        }
        _ => String::new(),
    }
}

/// What stands before and behind a value that is asked which variant it is, or for a field of one.
fn enum_part(part: &str, ty: Option<Type>, name: &str) -> String {
    match (part, ty) {
        ("is", Some(Type::Declared(of))) => of.asked(name),
        ("which", Some(Type::Declared(_))) => ")".to_string(),
        ("which", Some(Type::Enum(variants, _))) => {
            let number = variants.iter().position(|v| *v == name);
            number.map_or(name.to_string(), |number| format!(".0 == {number}"))
        }
        ("get", Some(Type::Declared(of))) => of.got(name).0,
        ("got", Some(Type::Declared(of))) => of.got(name).1,
        ("got", Some(ty)) => format!(".{}", ty.member(name).unwrap_or(name.to_string())),
        _ => String::new(),
    }
}

/// The hole of a call, and the names of those fields among its arguments whose rows have lengths of their own, if there are any.
fn ragged_fields<'w>(words: &'w str, holes: &[Filled]) -> Option<(usize, Vec<&'w str>)> {
    let mut parts = words.split(" ; ");
    let called = parts.next()?.parse::<usize>().ok().filter(|k| *k < holes.len())?;
    let fields: Vec<&str> = parts
        .filter(|field| holds(&format!("ragged {field}"), holes))
        .map(|field| field.rsplit(' ').next().unwrap_or_default())
        .collect();
    (!fields.is_empty()).then_some((called, fields))
}

/// Whether a value is a list of rows that measure themselves.
fn is_uneven(ty: &Type) -> bool {
    match ty {
        Type::Vec(Type::Declared(row)) => row.is_row(),
        _ => false,
    }
}

/// Whether a value is an `Option`: that of a type that holds itself, or a pair.
fn is_optional(ty: &Type) -> bool {
    match ty {
        Type::Declared(of) => of.is_option(),
        Type::Tuple([there, _]) => *there == Type::Bool,
        _ => false,
    }
}

/// What makes a pair of an `Option` in a type that holds itself, and the other way round.
fn option_part(part: &str, ty: Option<Type>) -> String {
    match (part, ty) {
        ("pair", Some(Type::Declared(of))) => format!("{}__pair(", of.name()),
        ("option", Some(Type::Declared(of))) => format!("{}__of(", of.name()),
        ("paired" | "optioned", Some(Type::Declared(_))) => ")".to_string(),
        ("nothing", Some(ty)) => match ty {
            Type::Declared(of) => of.variants().first().map_or(String::new(), |v| of.made(v, &[])),
            other => other.neutral(),
        },
        _ => String::new(),
    }
}

/// A value that is declared, of its fields: `x=a`. An `Option` is a pair, `x=?a`, or none, `x=?`; `x=a@3,y` is of the type of field y of hole 3,
/// which is a pair or a value of the field's type. What is not named is that of `..=b`.
fn made(
    of: &super::Declared,
    variant: Option<&super::Variant>,
    given: &HashMap<&str, &str>,
    holes: &[Filled],
) -> String {
    let Some(variant) = variant else { return String::new() };
    let (mut lines, mut values) = (String::new(), Vec::new());
    for (k, (name, ty)) in variant.fields.iter().enumerate() {
        let value = match (given.get(name), given.get("..")) {
            (Some(value), _) => value.to_string(),
            (None, Some(rest)) => {
                let word = variant.words.get(k).copied().unwrap_or_default();
                let _ =
                    write!(lines, "rest_{k} = {}.{word}; ", rest.split('@').next().unwrap_or(rest));
                format!("rest_{k}")
            }
            (None, None) => String::new(),
        };
        let (value, from) = value.split_once('@').unwrap_or((&value, ""));
        let pair = match from.split_once(',').unwrap_or((from, "")) {
            ("", _) => value.starts_with('?'),
            (hole, steps) => {
                let hole = hole.parse::<usize>().ok().and_then(|k| holes.get(k));
                let found = hole.and_then(|h| h.walk(steps.split(',').filter(|s| !s.is_empty())));
                found.is_some_and(|found| !found.is_declared())
            }
        };
        let value = value.trim_start_matches('?');
        values.push(match ty {
            Type::Declared(_) if pair && value.is_empty() => option_part("nothing", Some(*ty)),
            Type::Declared(option) if pair && option.is_option() => {
                format!("{}__of({value})", option.name())
            }
            _ => value.to_string(),
        });
    }
    let made = of.made(variant, &values);
    if lines.is_empty() { made } else { format!("{{ {lines}{made} }}") }
}

/// Whether `usize 0 e 1` is true: the type of component 1 of an element of hole 0 is that; or `changed 0 1`: the function
/// of hole 0 changes its argument 1.
fn holds(condition: &str, holes: &[Filled]) -> bool {
    let mut words = condition.split(' ');
    let (name, hole) = (words.next(), words.next().and_then(|k| k.parse::<usize>().ok()));
    // What is not a `u64` for certain.
    if name == Some("signed") {
        let found = hole.and_then(|k| holes.get(k)).and_then(|of| of.walk(words));
        return found != Some(Type::U64);
    }
    let Some(hole) = hole.and_then(|k| holes.get(k)) else { return false };
    if name == Some("changed") {
        let position = words.next().and_then(|k| k.parse::<usize>().ok());
        return position.and_then(|k| hole.changed.get(k)).is_some_and(|c| *c);
    }
    if let Some("operator" | "number") = name {
        return hole.text.is_empty() == (name == Some("number"));
    }
    if let Some("measured" | "fitted") = name {
        return hole.measures(words) == (name == Some("measured"));
    }
    let Some(ty) = hole.walk(words) else { return name == Some("regular") };
    match name {
        Some("f64") => ty == Type::F64,
        Some("f32") => ty == Type::F32,
        Some("bool") => ty == Type::Bool,
        Some("int") => ty.is_integer(),
        Some("narrow") => ty.limits().is_some(),
        Some("negative") => ty == Type::I64 || ty.limits().is_some_and(|(least, _)| least < 0),
        Some("counted") => {
            matches!(ty, Type::Usize | Type::U64)
                || ty.limits().is_some_and(|(least, _)| least == 0)
        }
        Some("usize") => ty == Type::Usize,
        Some("i64") => ty == Type::I64,
        Some("u64") => ty == Type::U64,
        Some("value") => ty != Type::Unit,
        Some("optional") => is_optional(&ty),
        Some("single") => !is_optional(&ty),
        Some("matrix") => matches!(ty, Type::Matrix(..)),
        Some("columns") => matches!(ty, Type::Matrix(_, true)),
        Some("rows") => matches!(ty, Type::Matrix(_, false)),
        Some("plain") => !matches!(ty, Type::Matrix(..)),
        Some("vec") => ty.sizes() > 0,
        Some("unlisted") => !matches!(ty, Type::Vec(element) if element.sizes() == 0),
        Some("list") => matches!(ty, Type::Vec(element) if element.sizes() == 0),
        Some("uneven" | "ragged") => is_uneven(&ty),
        Some("even" | "regular") => !is_uneven(&ty),
        _ => false,
    }
}

impl Type {
    /// The type of the numbers in it.
    fn scalar(self) -> Type {
        match self {
            Type::Array(element)
            | Type::Vec(element)
            | Type::Fixed(element, _)
            | Type::Matrix(element, _) => element.scalar(),
            other => other,
        }
    }
}
