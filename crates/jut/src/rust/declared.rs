//! Types that hold themselves, `enum Tree { Leaf(f64), Node(Box<Tree>, Box<Tree>) }`, in the text: declarations of data, where other structs and
//! enums are tuples.
//!
//! ```text
//! data trees_Tree = trees_Tree__Leaf(part_0: f64) | trees_Tree__Node(part_0: trees_Tree, part_1: trees_Tree)
//! def trees_Tree__is_Leaf(v: trees_Tree) -> bool = case v { trees_Tree__Leaf(_) -> true; _ -> false }
//! def trees_Tree__Leaf_part_0(v: trees_Tree) -> f64 = case v { trees_Tree__Leaf(p) -> p; _ -> 0.0 }
//! ```
//!
//! A pattern asks for the variant, and then for its fields, each by a function that has some value for the other variants; so the text of a Rust
//! function is the same for both kinds of types until it is put together. An `Option` in such a type is a declaration too, and becomes a
//! pair where it is read. Fields with sizes of their own, `Vec<Tree>`, have these before them.
//!
//! Requires: the path of a type is the path of no other. *Ensures*: what is declared is what the text mentions, once.

use super::Type;
use super::data::after;
use std::any::TypeId;
use std::fmt::Write as _;
use std::sync::OnceLock;

/// A type that is declared in the text.
#[derive(Clone, Copy, Debug)]
pub struct Declared(How);

#[derive(Clone, Copy, Debug)]
enum How {
    /// What rustc knows.
    Of { id: fn() -> TypeId, name: fn() -> String, variants: fn() -> &'static [Variant] },
    /// What a file says: its name, and its variants once they are known.
    Named(&'static str, &'static OnceLock<&'static [Variant]>),
}

/// A variant of such a type; a struct has one, without a name.
#[derive(Clone, Copy, Debug)]
pub struct Variant {
    /// Its name.
    pub name: &'static str,
    /// The names of its fields in the text.
    pub words: &'static [&'static str],
    /// Its fields: each is called after the variant, `Node.0`, and has a type.
    pub fields: &'static [(&'static str, Type)],
}

/// A struct or enum that holds itself.
pub trait Recursive: 'static + Sized {
    /// Its path.
    const PATH: &'static str;
    /// What it is in the text.
    const DECLARED: Declared =
        Declared(How::Of { id: TypeId::of::<Self>, name: named::<Self>, variants: Self::variants });
    /// Its variants.
    fn variants() -> &'static [Variant];
}

fn named<T: Recursive>() -> String {
    word(T::PATH)
}

/// A path as a name of the text.
pub(super) fn word(path: &str) -> String {
    let letter = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    let name: String = path.replace("::", "_").replace("r#", "").chars().map(letter).collect();
    name.trim_start_matches(|c: char| c == '_' || c.is_ascii_digit()).to_string()
}

impl<T: super::Data + 'static> Recursive for Option<Box<T>> {
    const PATH: &'static str = "";
    const DECLARED: Declared = Declared(How::Of {
        id: TypeId::of::<Self>,
        name: || {
            let of = match T::TYPE {
                Type::Declared(of) => of.name(),
                plain => word(&plain.text("n", &mut 0)),
            };
            format!("{of}__option")
        },
        variants: Self::variants,
    });
    fn variants() -> &'static [Variant] {
        const {
            &[
                Variant { name: "None", words: &[], fields: &[] },
                Variant { name: "Some", words: &["value"], fields: &[("1", T::TYPE)] },
            ]
        }
    }
}

impl PartialEq for Declared {
    fn eq(&self, other: &Declared) -> bool {
        let same = match (self.0, other.0) {
            (How::Of { id, .. }, How::Of { id: another, .. }) => id() == another(),
            _ => true,
        };
        same && self.name() == other.name()
    }
}

impl Declared {
    /// One that rustc knows by its number.
    pub(super) const fn new(
        id: fn() -> TypeId,
        name: fn() -> String,
        variants: fn() -> &'static [Variant],
    ) -> Declared {
        Declared(How::Of { id, name, variants })
    }

    /// One of a file, whose variants are said later.
    #[doc(hidden)]
    pub const fn of_file(
        name: &'static str,
        variants: &'static OnceLock<&'static [Variant]>,
    ) -> Declared {
        Declared(How::Named(name, variants))
    }

    /// Its name in the text.
    pub fn name(&self) -> String {
        match self.0 {
            How::Of { name, .. } => name(),
            How::Named(name, _) => name.to_string(),
        }
    }

    /// Its variants.
    pub fn variants(&self) -> &'static [Variant] {
        match self.0 {
            How::Of { variants, .. } => variants(),
            How::Named(_, variants) => variants.get().copied().unwrap_or_default(),
        }
    }

    /// Whether it is a struct, or an enum of one variant.
    pub fn is_single(&self) -> bool {
        self.variants().len() == 1
    }

    /// Whether it is a row that measures itself.
    pub fn is_row(&self) -> bool {
        matches!(self.variants(), [Variant { name: "", words: ["values"], .. }])
            && self.name().starts_with("rows_of_")
    }

    /// Whether it is an `Option` in such a type.
    pub fn is_option(&self) -> bool {
        matches!(
            self.variants(),
            [Variant { name: "None", .. }, Variant { fields: [("1", _)], .. }]
        )
    }

    /// What makes a value of a variant.
    pub fn constructor(&self, variant: &Variant) -> String {
        match variant.name {
            "" => self.name(),
            variant => format!("{}__{variant}", self.name()),
        }
    }

    /// A field by its name: its variant, its number, and its type.
    pub(super) fn field(&self, name: &str) -> Option<(&'static Variant, usize, Type)> {
        self.variants().iter().find_map(|variant| {
            let k = variant.fields.iter().position(|(n, _)| *n == name)?;
            Some((variant, k, variant.fields[k].1))
        })
    }

    /// A variant with its fields, which are words, or its sizes before them.
    pub(super) fn made(&self, variant: &Variant, values: &[String]) -> String {
        let each = variant.fields.iter().zip(values).map(|((_, ty), value)| {
            let mut lengths = Vec::new();
            ty.lengths(value, &mut lengths);
            after(lengths) + value
        });
        format!("{}({})", self.constructor(variant), each.collect::<Vec<_>>().join(", "))
    }

    /// The variant that some value has which is never read: no other one holds fewer values in each other.
    pub(super) fn least(&self) -> Option<&'static Variant> {
        self.heights(&mut Vec::new()).min_by_key(|(height, _)| *height).map(|(_, v)| v)
    }

    fn heights<'s>(
        &'s self,
        open: &'s mut Vec<Declared>,
    ) -> impl Iterator<Item = (usize, &'static Variant)> + use<'s> {
        open.push(*self);
        self.variants().iter().filter_map(|variant| {
            let mut height = 0;
            for (_, ty) in variant.fields {
                height = height.max(ty.height(open)?);
            }
            Some((height, variant))
        })
    }

    /// The name of the function that gives a field of a variant.
    fn getter(&self, variant: &Variant, k: usize) -> String {
        let word = variant.words.get(k).copied().unwrap_or_default();
        format!("{}_{word}", self.constructor(variant))
    }

    /// What stands before and behind a value to give a field of it.
    pub(super) fn got(&self, name: &str) -> (String, String) {
        let Some((variant, k, ty)) = self.field(name) else { return Default::default() };
        let behind = if ty.sizes() > 0 { ").list" } else { ")" };
        (format!("{}(", self.getter(variant, k)), behind.to_string())
    }

    /// What stands before a value to ask whether it is a variant.
    pub(super) fn asked(&self, variant: &str) -> String {
        format!("{}__is_{variant}(", self.name())
    }
}

impl Type {
    /// How many values that are declared are in each other at least, if that does not go on for ever.
    fn height(&self, open: &mut Vec<Declared>) -> Option<usize> {
        match self {
            Type::Declared(of) if open.contains(of) => None,
            Type::Declared(of) => {
                let least = of.heights(open).map(|(height, _)| height).min();
                open.pop();
                least.map(|height| 1 + height)
            }
            Type::Fixed(element, _) => element.height(open),
            Type::Record(fields) | Type::Enum(_, fields) => {
                let each = fields.iter().map(|(_, ty)| ty.height(open));
                each.collect::<Option<Vec<_>>>().map(|all| all.into_iter().max().unwrap_or(0))
            }
            Type::Tuple(items) => {
                let each = items.iter().map(|ty| ty.height(open));
                each.collect::<Option<Vec<_>>>().map(|all| all.into_iter().max().unwrap_or(0))
            }
            _ => Some(0),
        }
    }

    /// Adds the declared types in it.
    fn declared(&self, all: &mut Vec<Declared>) {
        match self {
            Type::Declared(of) if !all.contains(of) => {
                all.push(**of);
                for (_, ty) in of.variants().iter().flat_map(|v| v.fields) {
                    ty.declared(all);
                }
            }
            Type::Array(element)
            | Type::Vec(element)
            | Type::Fixed(element, _)
            | Type::Matrix(element, _) => element.declared(all),
            Type::Record(fields) | Type::Enum(_, fields) => {
                fields.iter().for_each(|(_, ty)| ty.declared(all));
            }
            Type::Tuple(items) => items.iter().for_each(|ty| ty.declared(all)),
            Type::Function(inputs, output) => {
                inputs.iter().for_each(|ty| ty.declared(all));
                output.declared(all);
            }
            _ => {}
        }
    }
}

/// The types that a text declares.
#[derive(Default)]
pub struct Declarations {
    all: Vec<Declared>,
}

impl Declarations {
    /// Adds those in a type. Two of them that have one name are told of.
    pub fn add(&mut self, ty: &Type) -> Option<String> {
        let before = self.all.len();
        ty.declared(&mut self.all);
        let (old, new) = self.all.split_at(before);
        let twice =
            new.iter().map(Declared::name).find(|name| old.iter().any(|o| o.name() == *name));
        twice.map(|name| {
            format!("two types that hold themselves have the path of `{name}`: give one of them another name")
        })
    }

    /// A text with the declarations that it needs before it: all types, and of the functions that ask for variants and fields those that are
    /// called.
    pub fn before(&self, text: &str) -> String {
        let mut declared = String::new();
        let mut functions = Vec::new();
        for one in &self.all {
            one.declare(&mut declared, &mut functions);
        }
        let mut used = String::new();
        loop {
            let called = |(name, _): &(String, String)| {
                let call = format!("{name}(");
                text.contains(&call) || used.contains(&call)
            };
            let Some(k) = functions.iter().position(called) else { break };
            let (_, definition) = functions.swap_remove(k);
            let _ = writeln!(used, "{definition}\n");
        }
        if declared.is_empty() { String::new() } else { format!("{declared}\n{used}") }
    }
}

impl Declared {
    /// Its declaration, and functions by their names.
    fn declare(&self, text: &mut String, functions: &mut Vec<(String, String)>) {
        let own = self.name();
        let each = self.variants().iter().map(|variant| {
            let fields = variant.fields.iter().zip(variant.words);
            let fields = fields.map(|((_, ty), word)| sized(ty, word)).collect::<Vec<_>>();
            format!("{}({})", self.constructor(variant), fields.join(", "))
        });
        let _ = writeln!(text, "data {own} = {}", each.collect::<Vec<_>>().join(" | "));
        let mut function = |name: String, rest: String| {
            let text = format!("def {name}{rest}");
            functions.push((name, text));
        };
        if let Some(least) = self.least() {
            let values: Vec<String> = (0..least.fields.len()).map(|k| format!("p{k}")).collect();
            let lines = least.fields.iter().zip(&values);
            let lines: String =
                lines.map(|((_, ty), p)| format!("\n  {p} = {}", ty.neutral())).collect();
            let made = self.made(least, &values);
            function(format!("{own}__neutral"), format!("() -> {own} = {{{lines}\n  {made}\n}}"));
        }
        let (single, option) = (self.is_single(), self.is_option());
        for variant in self.variants() {
            let constructor = self.constructor(variant);
            if !variant.name.is_empty() {
                let bound = bindings(variant, usize::MAX);
                let others = if single { "" } else { "; _ -> false" };
                function(
                    format!("{own}__is_{}", variant.name),
                    format!(
                        "(v: {own}) -> bool = case v {{ {constructor}{bound} -> true{others} }}"
                    ),
                );
            }
            for (k, (_, ty)) in
                variant.fields.iter().enumerate().filter(|_| !variant.name.is_empty())
            {
                let (name, bound) = (self.getter(variant, k), bindings(variant, k));
                let neutral = ty.neutral();
                if ty.sizes() == 0 {
                    let others = if single { String::new() } else { format!("; _ -> {neutral}") };
                    let result = ty.text("", &mut 0);
                    function(
                        name,
                        format!(
                            "(v: {own}) -> {result} = case v {{ {constructor}{bound} -> p{others} }}"
                        ),
                    );
                    continue;
                }
                let (list, mut lengths) = (format!("{name}_list"), Vec::new());
                let _ = writeln!(text, "data {list} = {list}({})", sized(ty, "list"));
                ty.lengths("p", &mut lengths);
                let made =
                    |value: &str| format!("{{ p = {value}; {list}({}p) }}", after(lengths.clone()));
                let others = match single {
                    true => String::new(),
                    false => format!("; _ -> {}", made(&neutral)),
                };
                function(
                    name,
                    format!(
                        "(v: {own}) -> {list} = case v {{ {constructor}{bound} -> {}{others} }}",
                        made("p")
                    ),
                );
            }
        }
        if let (true, [none, some]) = (option, self.variants()) {
            let (of, neutral) = (some.fields[0].1.text("", &mut 0), some.fields[0].1.neutral());
            let (none, some) = (self.constructor(none), self.constructor(some));
            function(
                format!("{own}__pair"),
                format!(
                    "(v: {own}) -> #(bool, {of}) = case v {{ {some}(p) -> #(true, p); {none}() -> #(false, {neutral}) }}"
                ),
            );
            function(
                format!("{own}__of"),
                format!(
                    "(v: #(bool, {of})) -> {own} = if v.0 {{ {some}(v.1) }} else {{ {none}() }}"
                ),
            );
        }
    }
}

/// A field with its sizes before it.
fn sized(ty: &Type, word: &str) -> String {
    let sizes = (0..ty.sizes()).map(|k| format!("{word}__{k}: i64")).collect();
    format!("{}{word}: {}", after(sizes), ty.text(word, &mut 0))
}

/// What a pattern of a variant binds: the field with this number.
fn bindings(variant: &Variant, k: usize) -> String {
    let each = variant.fields.iter().enumerate().map(|(j, (_, ty))| {
        let sizes = (0..ty.sizes()).map(|_| "_".to_string()).collect();
        after(sizes) + if j == k { "p" } else { "_" }
    });
    format!("({})", each.collect::<Vec<_>>().join(", "))
}
