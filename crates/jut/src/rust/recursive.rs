//! Values of types that hold themselves, at the border: what `#[derive(jut::Data)]` writes beside such a type takes them apart and puts them
//! together with the functions of this module.
//!
//! A value is a `Value::Data` with the name of its constructor, or a `Value::Tuple` where it has one; fields with sizes of their own have these before them. A
//! tangent is the same without sizes, and without the fields that have no floats.

use super::argument::{Argument, Block, Held};
use super::neutral::sizes;
use super::outcome::Outcome;
use super::{Data, Recursive, Type};
use crate::border::{has_room, too_deep};
use crate::error::{ArgumentError, Result};
use crate::value::Value;
use std::cell::Cell;

thread_local! {
    /// How many values are in each other that are taken apart.
    static LEVEL: Cell<usize> = const { Cell::new(0) };
}

/// One level more, while it is there.
struct Level;

impl Level {
    fn enter() -> Result<Level> {
        let level = LEVEL.get();
        if !has_room(level) {
            let help = "put a long list into a `Vec`: only trees and short lists hold themselves";
            return Err(ArgumentError::new("A02", "value", too_deep(), help).into());
        }
        LEVEL.set(level + 1);
        Ok(Level)
    }
}

impl Drop for Level {
    fn drop(&mut self) {
        LEVEL.set(LEVEL.get() - 1);
    }
}

/// A value of a variant, by its number, with its fields.
///
/// # Errors
/// As [`Argument::hold`]; more values in each other than may be.
pub fn whole<'a>(
    ty: &Type,
    variant: usize,
    fields: impl FnOnce() -> Result<Vec<Held<'a>>>,
) -> Result<Held<'static>> {
    let _level = Level::enter()?;
    let mut held = fields()?.into_iter();
    let Type::Declared(of) = ty else { return Ok(Held::tuple(Vec::new())) };
    let Some(own) = of.variants().get(variant) else { return Ok(Held::tuple(Vec::new())) };
    let mut items = Vec::new();
    // Those without floats are missing in a tangent: then there are no sizes either.
    let all = held.len() == own.fields.len() && !held.as_slice().iter().any(Held::is_nothing);
    if all {
        for (_, ty) in own.fields {
            let Some(value) = held.next().map(Held::into_value) else { break };
            sizes(ty, &value, &mut items);
            items.push(value);
        }
    } else {
        items.extend(held.filter(|h| !h.is_nothing()).map(Held::into_value));
    }
    Ok(Held::whole(match of.is_single() {
        true => Value::Tuple(items),
        false => Value::Data(of.constructor(own), items),
    }))
}

/// The number of a value's variant, and its fields.
pub fn parts(ty: &Type, value: Value) -> Option<(usize, std::vec::IntoIter<Value>)> {
    let Type::Declared(of) = ty else { return None };
    let variants = of.variants();
    let (number, items) = match value {
        Value::Tuple(items) if of.is_single() => (0, items),
        Value::Data(name, items) => {
            (variants.iter().position(|v| of.constructor(v) == name)?, items)
        }
        _ => return None,
    };
    let fields = variants.get(number)?.fields;
    let sizes: usize = fields.iter().map(|(_, ty)| ty.sizes()).sum();
    if sizes == 0 || items.len() != fields.len() + sizes {
        return Some((number, items.into_iter()));
    }
    let (mut items, mut own) = (items.into_iter(), Vec::new());
    for (_, ty) in fields {
        own.push(items.nth(ty.sizes())?);
    }
    Some((number, own.into_iter()))
}

/// Many of them, of which each is taken apart.
///
/// # Errors
/// As [`Argument::hold`].
pub fn many<T: Argument>(all: &[T]) -> Result<Held<'static>> {
    let each = all.iter().map(|one| one.hold().map(Held::into_value));
    Ok(Held::whole(Value::List(each.collect::<Result<_>>()?)))
}

/// So many of them.
pub fn split<T: Outcome>(value: Value, count: usize) -> Option<Vec<T>> {
    match value {
        Value::List(items) => {
            let mut all = Vec::new();
            flat(items, &mut all);
            (all.len() == count).then_some(())?;
            all.into_iter().map(T::take).collect()
        }
        _ if count == 0 => Some(Vec::new()),
        _ => None,
    }
}

/// The elements of a list of lists.
fn flat(items: Vec<Value>, all: &mut Vec<Value>) {
    for item in items {
        match item {
            Value::List(inner) => flat(inner, all),
            one => all.push(one),
        }
    }
}

impl<T: Data> Data for Box<T> {
    const TYPE: Type = T::TYPE;
    type Gradient = Box<T::Gradient>;
}

/// What an `Option<&List>` has in it.
impl<T: Data> Data for &T {
    const TYPE: Type = T::TYPE;
    type Gradient = T::Gradient;
}

impl<T: Argument> Argument for Box<T> {
    fn hold(&self) -> Result<Held<'_>> {
        (**self).hold()
    }
    #[inline(always)]
    fn words<'a>(&'a self, words: &mut super::Words<'_, '_, 'a>) {
        (**self).words(words);
    }
}

impl<T: Outcome> Outcome for Box<T> {
    fn take(value: Value) -> Option<Box<T>> {
        T::take(value).map(Box::new)
    }
    fn next(values: &mut std::vec::IntoIter<Value>) -> Option<Box<T>> {
        T::next(values).map(Box::new)
    }
    fn result(results: &mut super::Taken<'_>) -> Option<Box<T>> {
        T::result(results).map(Box::new)
    }
}

impl<T: Block> Block for Box<T> {
    fn many(all: &[Box<T>]) -> Result<Held<'_>> {
        T::own(all.iter().map(|one| (**one).clone()).collect())
    }
    fn own(all: Vec<Box<T>>) -> Result<Held<'static>> {
        T::own(all.into_iter().map(|one| *one).collect())
    }
    fn split(value: Value, count: usize) -> Option<Vec<Box<T>>> {
        Some(T::split(value, count)?.into_iter().map(Box::new).collect())
    }
}

/// In a type that holds itself: elsewhere an `Option` is a pair.
impl<T: Data + 'static> Data for Option<Box<T>> {
    const TYPE: Type = Type::Declared(&<Self as Recursive>::DECLARED);
    type Gradient = Option<Box<T::Gradient>>;
}

impl<T: Argument + Data + 'static> Argument for Option<Box<T>> {
    fn hold(&self) -> Result<Held<'_>> {
        let ty = <Self as Data>::TYPE;
        match self {
            None => whole(&ty, 0, || Ok(Vec::new())),
            Some(value) => whole(&ty, 1, || Ok(vec![value.hold()?])),
        }
    }
}
