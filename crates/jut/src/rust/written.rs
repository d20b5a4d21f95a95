//! What the tags of several words in a template stand for: parts of the text that depend on a type which rustc alone knows, such as the number of a field, the
//! sizes of a list, or a struct with its fields in their order. Which of two forms of a text is there says `holds`.

use super::data::after;
use super::{Filled, Type};
use std::collections::HashMap;
use std::fmt::Write as _;

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
pub(super) fn written(tag: &str, holes: &[Filled]) -> String {
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
            let row = ty.is_some_and(|ty| is_row(&ty));
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
                _ => return as_given(None, &words[2..]),
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
        ["variant", k, name, ref given_words @ ..] => {
            let given: HashMap<&str, &str> =
                given_words.iter().filter_map(|pair| pair.split_once('=')).collect();
            let (variants, fields) = match hole(k) {
                Some(Type::Enum(variants, fields)) => (variants, fields),
                Some(Type::Declared(of)) => {
                    let variant = of.variants().iter().find(|v| v.name == name);
                    return made(of, variant, &given, holes);
                }
                _ => return as_given(Some(name), given_words),
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
                Some(ty) => name == "i64" && is_whole(&ty),
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
        ["number", value, k, ref steps @ ..] => {
            let of = k.parse::<usize>().ok().and_then(|k| holes.get(k));
            number_of(value, of.and_then(|h| h.walk(steps.iter().copied())))
        }
        ["fixed", k, ref steps @ ..] => {
            let of = k.parse::<usize>().ok().and_then(|k| holes.get(k));
            match of.and_then(|h| h.walk(steps.iter().copied())) {
                Some(Type::Fixed(_, n)) => n.to_string(),
                Some(_) => "0".to_string(),
                None => String::new(),
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

/// A struct or variant of a type that one file does not tell, of the fields that are written.
fn as_given(variant: Option<&str>, given: &[&str]) -> String {
    let value = |pair: &&str| Some(pair.split_once('=')?.1.trim_start_matches('?').to_string());
    let plain = |value: String| value.split('@').next().unwrap_or_default().to_string();
    let fields = given.iter().filter_map(value).map(plain).filter(|value| !value.is_empty());
    let all: Vec<String> = variant.map(str::to_string).into_iter().chain(fields).collect();
    format!("#({})", all.join(", "))
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

/// The hole of a call, and the names of those fields among its arguments whose rows have lengths of their own, if there are any.
pub(super) fn ragged_fields<'w>(words: &'w str, holes: &[Filled]) -> Option<(usize, Vec<&'w str>)> {
    let mut parts = words.split(" ; ");
    let called = parts.next()?.parse::<usize>().ok().filter(|k| *k < holes.len())?;
    let fields: Vec<&str> = parts
        .filter(|field| holds(&format!("ragged {field}"), holes))
        .map(|field| field.rsplit(' ').next().unwrap_or_default())
        .collect();
    (!fields.is_empty()).then_some((called, fields))
}

/// Whether a value is a list of rows that measure themselves.
pub(super) fn is_uneven(ty: &Type) -> bool {
    matches!(ty, Type::Vec(row) if is_row(row))
}

/// Whether a value is such a row.
pub(super) fn is_row(ty: &Type) -> bool {
    matches!(ty, Type::Declared(row) if row.is_row())
}

/// Whether `e as i64` of it is an integer that is there: of a variant its number.
fn is_whole(ty: &Type) -> bool {
    ty.is_integer() || matches!(ty, Type::Enum(..))
}

/// A value; of a variant its number, which is its place among the variants, or one of those that are written.
fn number_of(value: &str, ty: Option<Type>) -> String {
    let Some(Type::Enum(_, [(numbers, _), ..])) = ty else { return value.to_string() };
    let numbers: Vec<&str> = numbers.split(',').filter(|number| !number.is_empty()).collect();
    let Some((last, first)) = numbers.split_last() else { return format!("{value}.0") };
    let each = first.iter().enumerate().rev();
    each.fold(format!("({last})"), |rest, (k, number)| {
        format!("prim.select({value}.0 == {k}, ({number}), {rest})")
    })
}

/// Whether a value is an `Option`: that of a type that holds itself, or a pair.
fn is_optional(ty: &Type) -> bool {
    match ty {
        Type::Declared(of) => of.is_option(),
        Type::Tuple([there, _]) => *there == Type::Bool,
        _ => false,
    }
}

/// Whether `usize 0 e 1` is true: the type of component 1 of an element of hole 0 is that; or `changed 0 1`: the function
/// of hole 0 changes its argument 1.
pub(super) fn holds(condition: &str, holes: &[Filled]) -> bool {
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
        Some("whole") => is_whole(&ty),
        Some("narrow") => ty.limits().is_some(),
        // What one file does not tell, and is an integer here.
        Some("negative" | "i64") if hole.guessed && ty == Type::F64 => true,
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
        Some("ragged") => is_uneven(&ty),
        Some("regular") => !is_uneven(&ty),
        Some("uneven") => is_uneven(&ty) || is_row(&ty),
        Some("even") => !is_uneven(&ty) && !is_row(&ty),
        Some("untold") => is_row(&ty),
        Some("told") => !is_row(&ty),
        _ => false,
    }
}
