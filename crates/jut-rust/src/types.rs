//! Types of the Rust functions that can be differentiated.

use crate::template::{Hole, hole_of, length_of};
use crate::{Refusal, refuse};
use quote::ToTokens;
use syn::spanned::Spanned;
use syn::{GenericArgument, PathArguments, Type};

/// How long an array is.
#[derive(Clone, PartialEq, Debug)]
pub enum Extent {
    /// `[T; N]`: as the text writes N.
    Fixed(String),
    /// `[T]`, or anything else whose length is known when it runs.
    Slice,
    /// `Vec<T>`.
    Vec,
}

/// An integer of fewer bits than those of the text, which have 64 and a sign.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Narrow {
    /// How many it has: 8, 16 or 32.
    pub bits: u32,
    /// Whether one of them is a sign.
    pub signed: bool,
}

impl Narrow {
    /// `i32`
    pub const I32: Narrow = Narrow { bits: 32, signed: true };

    /// The one of a name.
    fn named(name: &str) -> Option<Narrow> {
        let bits = name.get(1..)?;
        let bits = ["8", "16", "32"].contains(&bits).then(|| bits.parse().ok())??;
        match &name[..1] {
            "i" => Some(Narrow { bits, signed: true }),
            "u" => Some(Narrow { bits, signed: false }),
            _ => None,
        }
    }

    /// As Rust calls it.
    pub fn name(self) -> String {
        format!("{}{}", if self.signed { 'i' } else { 'u' }, self.bits)
    }

    /// The least of its numbers.
    pub fn least(self) -> i64 {
        if self.signed { -1 << (self.bits - 1) } else { 0 }
    }

    /// The largest of its numbers.
    pub fn most(self) -> i64 {
        (1 << (self.bits - u32::from(self.signed))) - 1
    }

    /// Whether all numbers of another one are among its own.
    pub fn has(self, other: Narrow) -> bool {
        self.least() <= other.least() && other.most() <= self.most()
    }
}

/// A step into a value.
#[derive(Clone, PartialEq, Debug)]
pub enum Step {
    /// To an element of an array.
    Element,
    /// To an element of a list, and to what is in it if that is a row with a length of its own: see `uneven`.
    Row,
    /// To a component of a tuple.
    Component(usize),
    /// To a field of a struct.
    Field(String),
    /// To a parameter of the function that an argument of a function is.
    Argument(usize, usize),
    /// To a parameter of a function.
    Parameter(usize),
}

impl std::fmt::Display for Step {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Step::Element => f.write_str("e"),
            Step::Row => f.write_str("r"),
            Step::Component(k) => write!(f, "{k}"),
            Step::Field(name) => f.write_str(name),
            Step::Argument(k, j) => write!(f, "@{k}.{j}"),
            Step::Parameter(k) => write!(f, "@{k}"),
        }
    }
}

/// Steps as words of a tag, each with a blank before it.
pub(crate) fn words(steps: &[Step]) -> String {
    steps.iter().map(|step| format!(" {step}")).collect()
}

/// The type of an expression, as far as the text of one function tells.
#[derive(Clone, PartialEq, Debug)]
pub enum Ty {
    /// `f64`
    F64,
    /// `f32`
    F32,
    /// `i64`
    I64,
    /// `i32`, `u32`, `i16`, `u16`, `i8`, `u8`
    Narrow(Narrow),
    /// `u64`: in the text an integer with the same 64 bits.
    U64,
    /// `usize`
    Usize,
    /// `bool`
    Bool,
    /// Nothing.
    Unit,
    /// Of what does not come back.
    Never,
    /// An integer whose type other places of the function decide; i32 if none does.
    Int(usize),
    /// A float of which the same is true; f64 if none does.
    Float(usize),
    /// Elements, and how many.
    Array(Box<Ty>, Extent),
    /// Components.
    Tuple(Vec<Ty>),
    /// One, or none.
    Option(Box<Ty>),
    /// A function: what it takes, and what it gives.
    Function(Vec<Ty>, Box<Ty>),
    /// What is found by some steps in a struct, in the result of a function, or in a constant: known to rustc, and
    /// when the text is put together.
    Of(usize, Vec<Step>),
}

impl Ty {
    /// Of an element of a list of which nothing is known yet: it is whatever it meets, and an `f64` in what is written meanwhile.
    pub const GUESS: Ty = Ty::Float(usize::MAX);
    /// `i32`
    pub const I32: Ty = Ty::Narrow(Narrow::I32);
    /// `u32`
    pub const U32: Ty = Ty::Narrow(Narrow { bits: 32, signed: false });
    /// `u8`
    pub const U8: Ty = Ty::Narrow(Narrow { bits: 8, signed: false });

    /// The number of a name.
    pub fn number(name: &str) -> Option<Ty> {
        Some(match name {
            "f64" => Ty::F64,
            "f32" => Ty::F32,
            "i64" | "isize" => Ty::I64,
            "u64" => Ty::U64,
            "usize" => Ty::Usize,
            name => Ty::Narrow(Narrow::named(name)?),
        })
    }

    /// Whether it is an integer that the text knows not to be below zero.
    pub fn is_counted(&self) -> bool {
        match self {
            Ty::Narrow(of) => !of.signed,
            other => *other == Ty::Usize,
        }
    }

    /// Whether it is made of such a type.
    pub fn has_guess(&self) -> bool {
        match self {
            Ty::Array(element, _) => element.has_guess(),
            Ty::Tuple(items) => items.iter().any(Ty::has_guess),
            Ty::Option(inner) => inner.has_guess(),
            own => *own == Ty::GUESS,
        }
    }

    /// Whether a value of it has floats.
    pub fn has_float(&self) -> bool {
        match self {
            Ty::F64 | Ty::F32 | Ty::Float(_) | Ty::Of(..) => true,
            Ty::Array(element, _) => element.has_float(),
            Ty::Tuple(items) => items.iter().any(Ty::has_float),
            Ty::Option(inner) => inner.has_float(),
            _ => false,
        }
    }

    /// Whether a value of it may have integers: that of a struct, or of a type parameter, may.
    pub fn has_integer(&self) -> bool {
        match self {
            Ty::Array(element, _) => element.has_integer(),
            Ty::Tuple(items) => items.iter().any(Ty::has_integer),
            Ty::Option(inner) => inner.has_integer(),
            other => other.is_integer() || matches!(other, Ty::Of(..)),
        }
    }

    /// Whether some array in it has this length.
    pub fn has_length(&self, length: &str) -> bool {
        match self {
            Ty::Array(element, extent) => {
                *extent == Extent::Fixed(length.to_string()) || element.has_length(length)
            }
            Ty::Tuple(items) => items.iter().any(|t| t.has_length(length)),
            Ty::Option(inner) => inner.has_length(length),
            _ => false,
        }
    }

    /// Whether an `Option` is in it.
    pub fn has_option(&self) -> bool {
        match self {
            Ty::Option(_) => true,
            Ty::Array(element, _) => element.has_option(),
            Ty::Tuple(items) => items.iter().any(Ty::has_option),
            Ty::Function(inputs, output) => {
                inputs.iter().any(Ty::has_option) || output.has_option()
            }
            _ => false,
        }
    }

    /// Whether a tuple in it has something without floats.
    pub fn has_mixed(&self) -> bool {
        match self {
            Ty::Tuple(items) => items.iter().any(|t| !t.has_float()),
            Ty::Array(element, _) => element.has_mixed(),
            _ => false,
        }
    }

    /// Whether it is an array of tuples.
    pub fn has_tuples(&self) -> bool {
        match self {
            Ty::Array(element, _) => matches!(**element, Ty::Tuple(_)) || element.has_tuples(),
            _ => false,
        }
    }

    /// The number of dimensions.
    pub fn rank(&self) -> usize {
        match self {
            Ty::Array(element, _) => 1 + element.rank(),
            _ => 0,
        }
    }

    /// Whether it is known to be an integer.
    pub fn is_integer(&self) -> bool {
        matches!(self, Ty::I64 | Ty::Narrow(_) | Ty::U64 | Ty::Usize | Ty::Int(_))
    }

    /// Whether it is known to be a float.
    pub fn is_float(&self) -> bool {
        matches!(self, Ty::F64 | Ty::F32 | Ty::Float(_))
    }

    /// The type in the text. Sizes that are not known are given by the caller, from outside to inside; those of a struct
    /// are found later, and their names begin with one that the caller gives.
    pub fn text(&self, size: &mut dyn FnMut() -> String) -> String {
        match self {
            Ty::Of(hole, steps) => {
                let steps = words(steps);
                format!("$type {hole} {}{steps}$", size())
            }
            Ty::F64 | Ty::Float(_) => "f64".to_string(),
            Ty::F32 => "f32".to_string(),
            Ty::Bool => "bool".to_string(),
            Ty::Option(inner) => format!("#(bool, {})", inner.text(size)),
            Ty::Tuple(items) => {
                let items: Vec<String> = items.iter().map(|t| t.text(size)).collect();
                format!("#({})", items.join(", "))
            }
            Ty::Array(..) => {
                let (mut sizes, mut ty) = (Vec::new(), self);
                while let Ty::Array(element, extent) = ty {
                    sizes.push(match extent {
                        Extent::Fixed(n) => n.clone(),
                        Extent::Slice | Extent::Vec => size(),
                    });
                    ty = element;
                }
                format!("[{}]{}", sizes.join(", "), ty.text(size))
            }
            // How long lists are is left to each call.
            Ty::Function(inputs, output) if inputs.iter().any(has_sizes) || has_sizes(output) => {
                "fn".to_string()
            }
            Ty::Function(inputs, output) => {
                let inputs: Vec<String> = inputs.iter().map(|t| t.text(size)).collect();
                format!("fn({}) -> {}", inputs.join(", "), output.text(size))
            }
            _ => "i64".to_string(),
        }
    }
}

/// Types whose names are known: they are of the subset, or are not, but no struct that derives `jut::Data`.
const KNOWN: &[&str] = &[
    "Vec", "String", "str", "char", "Option", "Result", "Box", "Rc", "Arc", "RefCell", "Cell",
    "HashMap", "HashSet", "BTreeMap", "BTreeSet", "VecDeque", "Range", "Cow",
];

/// Reads the type of a parameter, a result or a field.
pub fn read_outside(ty: &Type, holes: &mut Vec<Hole>) -> Result<Ty, Refusal> {
    owns_elements(ty)?;
    if crate::types::success(ty).is_some() {
        return refuse(ty, "a `Result` is a whole result here: give an `Option`");
    }
    let found = read(ty, holes)?;
    match found.has_option() {
        true => refuse(
            ty,
            "an `Option` is a whole parameter or result here, or one of a number in a list: write an enum of your own that derives `jut::Data`",
        ),
        false => Ok(found),
    }
}

/// Whether it is a list of `Option`s of numbers.
fn is_optional_list(ty: &Ty) -> bool {
    match ty {
        Ty::Array(element, _) => {
            matches!(&**element, Ty::Option(inner) if is_number(inner) && is_block(inner))
        }
        _ => false,
    }
}

/// Reads the type of a parameter, which may be an `Option` of a list besides.
pub fn read_parameter(ty: &Type, holes: &mut Vec<Hole>) -> Result<Ty, Refusal> {
    owns_elements(ty)?;
    let mut own = ty;
    while let Type::Reference(inner) = own {
        own = &inner.elem;
    }
    if success(own).is_none() && argument_of(own, "Option").is_some() {
        let found = read(ty, holes)?;
        if let Ty::Option(inner) = &found
            && let Ty::Array(element, Extent::Slice | Extent::Vec) = &**inner
            && is_number(element)
            && is_block(element)
        {
            return Ok(found);
        }
    }
    match read_signature(ty, holes)? {
        Ty::Option(inner) if inner.has_mixed() => refuse(ty, OPTION),
        found => Ok(found),
    }
}

const OPTION: &str = "an `Option` is one of a number, a struct, or an array of fixed size here, and as a parameter of a list of numbers";

/// Reads the type of a parameter or result, which may be an `Option`, of what has no sizes of its own, or a list of `Option`s of numbers.
pub fn read_signature(ty: &Type, holes: &mut Vec<Hole>) -> Result<Ty, Refusal> {
    owns_elements(ty)?;
    if crate::types::success(ty).is_some() {
        return refuse(ty, "a `Result` is a whole result here: give an `Option`");
    }
    let found = read(ty, holes)?;
    match &found {
        Ty::Option(inner) if !inner.has_option() && **inner != Ty::Unit => {
            match crate::types::has_sizes(inner) {
                true => refuse(ty, OPTION),
                false => Ok(found),
            }
        }
        found if is_optional_list(found) => Ok(found.clone()),
        _ => read_outside(ty, holes),
    }
}

/// Reads the type of a field of a struct, which may be an `Option` of what has no sizes of its own.
pub fn read_field(ty: &Type, holes: &mut Vec<Hole>) -> Result<Ty, Refusal> {
    owns_elements(ty)?;
    if argument_of(ty, "Option").is_none() {
        return read_outside(ty, holes);
    }
    match read(ty, holes)? {
        Ty::Option(inner)
            if !inner.has_option()
                && !has_sizes(&inner)
                && !matches!(*inner, Ty::Unit | Ty::Tuple(_))
                && !inner.has_tuples() =>
        {
            Ok(Ty::Option(inner))
        }
        _ => refuse(
            ty,
            "an `Option` as a field is one of a number, a struct without `Vec`, or an array of fixed size",
        ),
    }
}

/// Reads the type of an element. What refers to one is a value of its own: `Vec<&[f64]>` in a body is a `Vec<Vec<f64>>`.
fn read_element(ty: &Type, holes: &mut Vec<Hole>) -> Result<Ty, Refusal> {
    match ty {
        Type::Reference(r) if r.mutability.is_none() => match &*r.elem {
            Type::Slice(slice) => Ok(array(read_element(&slice.elem, holes)?, Extent::Vec)),
            inner => read_element(inner, holes),
        },
        ty => read(ty, holes),
    }
}

/// Elements that others know are values of their own.
fn owns_elements(ty: &Type) -> Result<(), Refusal> {
    let mut found = None;
    crate::visited::each(ty, &mut |node| {
        let crate::visited::Node::Type(part) = node else { return true };
        let element = match part {
            Type::Slice(list) => Some(&*list.elem),
            Type::Array(list) => Some(&*list.elem),
            list => argument_of(list, "Vec"),
        };
        if let Some(Type::Reference(r)) = element
            && r.mutability.is_none()
            && !matches!(*r.elem, Type::TraitObject(_))
        {
            found.get_or_insert(r.clone());
        }
        true
    });
    match found {
        None => Ok(()),
        Some(r) => refuse(
            &r,
            "elements are values of their own here: write `&[Vec<f64>]` or `&[[f64; N]]`",
        ),
    }
}

/// Reads a type as it is written. Lengths and structs become holes.
pub fn read(ty: &Type, holes: &mut Vec<Hole>) -> Result<Ty, Refusal> {
    match ty {
        Type::Paren(inner) => read(&inner.elem, holes),
        Type::Group(inner) => read(&inner.elem, holes),
        Type::Reference(r) if r.mutability.is_some() => refuse(
            ty,
            "`&mut` stands in front of a whole parameter only: write `&mut [f64]`, or return the changed value",
        ),
        Type::Reference(inner) => read(&inner.elem, holes),
        Type::Slice(slice) => Ok(array(read_element(&slice.elem, holes)?, Extent::Slice)),
        Type::Array(array_type) => {
            let element = read_element(&array_type.elem, holes)?;
            Ok(array(element, Extent::Fixed(length_of(&array_type.len, holes))))
        }
        Type::Tuple(tuple) if tuple.elems.is_empty() => Ok(Ty::Unit),
        Type::Tuple(tuple) => {
            let items: Result<Vec<Ty>, Refusal> =
                tuple.elems.iter().map(|t| read(t, holes)).collect();
            Ok(Ty::Tuple(items?))
        }
        // What an `impl Index` gives, which rustc knows.
        Type::Path(path)
            if path.qself.is_some()
                && path.path.segments.last().is_some_and(|s| s.ident == "Output") =>
        {
            Ok(Ty::Of(hole_of(Hole::Data(path.to_token_stream()), holes), Vec::new()))
        }
        Type::Path(path) if path.qself.is_none() => read_path(ty, path, holes),
        Type::TraitObject(_) => refuse(
            ty,
            "which methods these are is not known before: write `impl Trait`, a type parameter, or an enum",
        ),
        _ => refuse(
            ty,
            "this type is not built: write `f64`, `f32`, `i64`, `i32`, `u32`, `usize`, `bool`, an array, slice or \
             `Vec` of these, a tuple, or a struct that derives `jut::Data`",
        ),
    }
    .and_then(|found| match &found {
        Ty::Array(element, _) if !is_element(element) => refuse(
            ty,
            "an element is a number, a struct that derives `jut::Data`, an array of fixed size, or a tuple of two to four \
             numbers, structs and arrays",
        ),
        Ty::Array(..) if !is_rows(&found) => refuse(
            ty,
            "lengths that are known only when it runs are two at most, and stand outside: write `&[Vec<f64>]`, `[f64; N]` \
             for the rows, or one slice with all of them",
        ),
        _ => Ok(found),
    })
    .map_err(|mut refusal: Refusal| {
        refusal.span = refusal.span.or(Some(ty.span()));
        refusal
    })
}

fn read_path(ty: &Type, path: &syn::TypePath, holes: &mut Vec<Hole>) -> Result<Ty, Refusal> {
    let Some(last) = path.path.segments.last() else {
        return refuse(ty, "a type is expected here");
    };
    let name = last.ident.to_string();
    if let (PathArguments::None, Some(number)) = (&last.arguments, Ty::number(&name)) {
        return Ok(number);
    }
    match (name.as_str(), &last.arguments) {
        ("bool", PathArguments::None) => Ok(Ty::Bool),
        ("u128" | "i128", PathArguments::None) => {
            refuse(ty, format!("`{name}` is not built: write `i64` or `u64`"))
        }
        ("Vec", PathArguments::AngleBracketed(args)) if args.args.len() == 1 => {
            match args.args.first() {
                Some(GenericArgument::Type(element)) => {
                    Ok(array(read_element(element, holes)?, Extent::Vec))
                }
                _ => refuse(ty, "write `Vec<f64>`"),
            }
        }
        // Of an error nothing is kept.
        ("Option" | "Result", PathArguments::AngleBracketed(args)) if !args.args.is_empty() => {
            match args.args.first() {
                Some(GenericArgument::Type(inner)) => Ok(Ty::Option(Box::new(read(inner, holes)?))),
                _ => refuse(ty, "write `Option<f64>`"),
            }
        }
        ("Box" | "Rc" | "Arc", PathArguments::AngleBracketed(args)) if of_trait(args) => refuse(
            ty,
            "which function or method this is is not known before: write `impl Fn(f64) -> f64`, `impl Trait`, a type parameter, \
             or an enum",
        ),
        // A box is what is in it.
        ("Box", PathArguments::AngleBracketed(args)) if args.args.len() == 1 => {
            match args.args.first() {
                Some(GenericArgument::Type(inner @ Type::Path(_))) => read(inner, holes),
                _ => refuse(ty, "a box is of a struct or enum here: write `Vec<f64>` for a list"),
            }
        }
        // Those of the standard library have parameters: a `Cell` is the user's.
        (known, PathArguments::None)
            if !KNOWN.contains(&known) || known == "Cell" || known == "Range" =>
        {
            Ok(Ty::Of(hole_of(Hole::Data(path.to_token_stream()), holes), Vec::new()))
        }
        // A struct of parameters, with what they are.
        (known, PathArguments::AngleBracketed(_)) if !KNOWN.contains(&known) => {
            let path = plain(&path.path).to_token_stream();
            Ok(Ty::Of(hole_of(Hole::Data(path), holes), Vec::new()))
        }
        _ => refuse(
            ty,
            format!(
                "`{}` is not built: a type is `f64`, `f32`, `i64`, `i32`, `u32`, `usize`, `bool`, an \
                 array, slice or `Vec` of these, a tuple, or a struct that derives `jut::Data`",
                path.to_token_stream().to_string().replace(' ', "")
            ),
        ),
    }
}

/// A path with its arguments as in a type: `Point<f64>` for `Point::<f64>`.
pub(crate) fn plain(path: &syn::Path) -> syn::Path {
    let mut path = path.clone();
    for segment in &mut path.segments {
        if let PathArguments::AngleBracketed(arguments) = &mut segment.arguments {
            arguments.colon2_token = None;
        }
    }
    path
}

/// Whether a type is that of a trait's objects.
fn of_trait(arguments: &syn::AngleBracketedGenericArguments) -> bool {
    matches!(arguments.args.first(), Some(GenericArgument::Type(Type::TraitObject(_))))
}

/// Whether it may be an element of an array, but for its sizes.
fn is_element(ty: &Ty) -> bool {
    let plain = |ty: &Ty| match ty {
        Ty::Array(..) => is_block(ty) && is_number(ty),
        Ty::Of(..) => true,
        ty => is_number(ty),
    };
    match ty {
        Ty::Unit => false,
        Ty::Option(inner) => is_number(inner),
        Ty::Tuple(items) => (2..=4).contains(&items.len()) && items.iter().all(plain),
        Ty::Array(element, _) => is_element(element),
        _ => true,
    }
}

/// Whether it is a number or truth value, or an array of them.
fn is_number(ty: &Ty) -> bool {
    match ty {
        Ty::Array(element, _) => is_number(element),
        ty => ty.is_float() || ty.is_integer() || *ty == Ty::Bool,
    }
}

/// Whether sizes that are not part of the type are two at most, before all others. Rows have one length.
fn is_rows(ty: &Ty) -> bool {
    let inner = |ty: &Ty| match ty {
        Ty::Array(element, Extent::Slice | Extent::Vec) => is_block(element),
        ty => is_block(ty),
    };
    match ty {
        Ty::Array(element, Extent::Slice | Extent::Vec) => inner(element),
        ty => is_block(ty),
    }
}

/// Whether all sizes of an array are part of its type.
fn is_block(ty: &Ty) -> bool {
    match ty {
        Ty::Array(element, extent) => matches!(extent, Extent::Fixed(_)) && is_block(element),
        _ => true,
    }
}

/// An array of a length.
pub fn array(element: Ty, extent: Extent) -> Ty {
    Ty::Array(Box::new(element), extent)
}

/// What a `Result` is of, if a type is one.
pub(crate) fn success(ty: &Type) -> Option<&Type> {
    argument_of(ty, "Result")
}

/// What an `Option` is of, if a type is one of a list, `Option<Vec<f64>>`.
pub(crate) fn list_or_none(ty: &Type) -> Option<&Type> {
    argument_of(ty, "Option").filter(|inner| match inner {
        Type::Path(list) => list.path.segments.last().is_some_and(|last| last.ident == "Vec"),
        _ => false,
    })
}

/// The first parameter of a type, if it is one with this name.
pub(crate) fn argument_of<'t>(ty: &'t Type, name: &str) -> Option<&'t Type> {
    match ty {
        Type::Paren(inner) => argument_of(&inner.elem, name),
        Type::Group(inner) => argument_of(&inner.elem, name),
        Type::Path(path) => {
            let last = path.path.segments.last().filter(|last| last.ident == name)?;
            let PathArguments::AngleBracketed(of) = &last.arguments else { return None };
            match of.args.first() {
                Some(GenericArgument::Type(inner)) => Some(inner),
                _ => None,
            }
        }
        _ => None,
    }
}

/// Whether a value has sizes that are known only when it is there.
pub(crate) fn has_sizes(ty: &Ty) -> bool {
    match ty {
        Ty::Array(_, Extent::Slice | Extent::Vec) => true,
        Ty::Array(element, _) => has_sizes(element),
        Ty::Tuple(items) => items.iter().any(has_sizes),
        _ => false,
    }
}
