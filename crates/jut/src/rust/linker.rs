//! Puts the texts of functions together: every function once, behind those that it calls, with its
//! holes filled, and with the places in Rust files that its parts come from.

use super::constant::Constant;
use super::declared::Declarations;
use super::description::Description;
use super::prelude;
use super::written::{holds, is_row, is_uneven, ragged_fields, written};
use super::{Callee, Source, Type};
use crate::error::{Error, Result};
use crate::model::{Function, Model};
use crate::source::Placed;
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
    /// Whether its types are what one file tells, without rustc.
    pub(super) guessed: bool,
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
        Filled {
            text,
            ty,
            changed: &[],
            parameters: &[],
            second: None,
            of_fields: None,
            guessed: false,
        }
    }

    /// Whether the function gives rows of different lengths, or it is such a row.
    pub fn gives_rows(&self) -> bool {
        is_uneven(&self.ty) || is_row(&self.ty)
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

    /// The type of what it is, or of what the function gives.
    #[doc(hidden)]
    pub fn gives(&self) -> Type {
        self.ty
    }

    /// The types of the function's parameters.
    #[doc(hidden)]
    pub fn takes(&self) -> &'static [Type] {
        self.parameters
    }

    /// The same where its types are what one file tells: what that does not tell is a number.
    #[doc(hidden)]
    #[must_use]
    pub fn guessed(self) -> Filled {
        Filled { guessed: true, ..self }
    }

    /// The same of a number that takes numbers.
    #[doc(hidden)]
    #[must_use]
    pub fn taken_for_number(self) -> Filled {
        Filled { ty: Type::F64, parameters: &[], ..self }
    }

    /// The type that some steps lead to, of what it gives, of its parameter, `@1`, or of what a function among its arguments takes: `@1.0`.
    pub(super) fn walk<'a>(&self, steps: impl Iterator<Item = &'a str>) -> Option<Type> {
        self.found(steps).or(self.guessed.then_some(Type::F64))
    }

    fn found<'a>(&self, steps: impl Iterator<Item = &'a str>) -> Option<Type> {
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

impl Linker {
    /// The program of a function.
    pub(super) fn link(of: &Description) -> Result<Linked> {
        if let Some(program) = (of.program)() {
            let (model, name) = (program.model()?, of.name.to_string());
            return Ok(Linked { model, name, makes_rows: false });
        }
        let mut linker = Linker { uneven: of.uneven, ..Linker::default() };
        linker.used.extend(prelude::names());
        let name = (of.link)(&mut linker).text;
        if let Some(wrong) = linker.wrong {
            return Err(Error::Request(wrong));
        }
        let makes_rows = linker.makes_rows;
        let model = linker.model(of.name)?;
        Ok(Linked { model, name, makes_rows })
    }

    /// The text that was put together, with what it uses before it, and the places of its parts.
    fn whole(mut self) -> (String, Vec<Placed>) {
        let declared = self.declarations.before(&self.text);
        let text = with_prelude(&(declared + &self.text));
        let shift = (text.len() - self.text.len()) as u32;
        for place in &mut self.places {
            place.start += shift;
            place.end += shift;
        }
        (text.trim_end().to_string(), self.places)
    }

    /// The program of the text that was put together.
    ///
    /// # Errors
    /// What the checker says.
    #[doc(hidden)]
    pub fn model(self, name: &str) -> Result<Model> {
        let (text, places) = self.whole();
        Model::from_rust(name, &text, places)
    }

    /// The text that was put together.
    #[doc(hidden)]
    pub fn text(self) -> String {
        self.whole().0
    }

    /// Adds a definition by its template, for what reads files: the places are as the attribute writes them.
    #[doc(hidden)]
    pub fn add(
        &mut self,
        own: &str,
        (template, file, places): (&str, &'static str, &'static str),
        holes: &[Filled],
    ) {
        self.written(own, template, file, places, holes);
    }

    /// Adds a definition as it is.
    #[doc(hidden)]
    pub fn add_text(&mut self, text: &str) {
        self.text.push_str(text);
        self.text.push('\n');
    }

    /// Adds a type that the text declares; what is wrong with it.
    #[doc(hidden)]
    pub fn add_type(&mut self, ty: &Type) -> Option<String> {
        self.declarations.add(ty)
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
        // What it gives may have other lengths than what it takes.
        let gives = S::TAKES_ROWS && matches!(S::RESULT, Type::Vec(Type::Vec(_)));
        let makes = S::MAKES_ROWS || gives;
        self.makes_rows |= makes;
        match (makes && self.uneven, sure) {
            // Where its arguments ask for that text too, it is this one.
            (true, _) if gives => {
                Filled { second: Some(S::second_text), ..S::second_text(self, sure) }
            }
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
        self.written(&own, template, file, places, with_second.as_deref().unwrap_or(holes));
    }

    /// Writes a definition, and its places.
    fn written(
        &mut self,
        own: &str,
        template: &str,
        file: &'static str,
        places: &'static str,
        holes: &[Filled],
    ) {
        let moved = fill(&mut self.text, own, template, holes);
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
