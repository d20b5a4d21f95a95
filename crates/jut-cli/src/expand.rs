//! `jut expand FILE.rs`: the text that the annotated functions of a Rust file become.
//!
//! Names are looked up in the file itself: what stands elsewhere is written as its path, so the text can be read, and is a program only
//! if the file has all that it names. In a crate rustc looks names up, and `f::text()` is the whole program.

use crate::output::print;
use jut::rust::{Declarations, Declared, Filled, Type, Variant, filled, with_prelude};
use jut_rust::file::{File, Shape};
use jut_rust::template::Hole;
use jut_rust::types::{Extent, Ty};
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::OnceLock;

/// Prints the text; what cannot be translated goes to standard error.
pub fn expand(path: &Path) -> jut::Result<u8> {
    let source =
        std::fs::read_to_string(path).map_err(|e| jut::Error::File(path.to_path_buf(), e))?;
    let refused = |refusal: &jut_rust::Refusal| {
        let at = refusal.span.map(|s| s.start());
        let place = at.map_or(String::new(), |p| format!(":{}:{}", p.line, p.column + 1));
        eprintln!("Error: {}{place}: {}", path.display(), refusal.message);
    };
    let file = match jut_rust::file::file(&source) {
        Ok(file) => file,
        Err(refusal) => {
            refused(&refusal);
            return Ok(1);
        }
    };
    let (mut code, mut texts) = (0, Vec::new());
    let mut declarations = Declarations::default();
    for (name, value) in file.constants.iter().filter_map(|(n, ty, v)| array_constant(n, ty, v)) {
        if file.functions.iter().any(|f| mentions(f, name)) {
            texts.push(value);
        }
    }
    for function in &file.functions {
        match &function.lowered {
            Err(refusal) => {
                refused(refusal);
                code = 1;
            }
            Ok((_, lowered)) => {
                let (mut holes, mut overloaded) = (Vec::new(), HashSet::new());
                for (k, hole) in lowered.holes.iter().enumerate() {
                    if let Hole::Data(_) = hole {
                        // Of two types with one path the first counts.
                        let _ = declarations.add(&data_type(&file, hole.clone()));
                    }
                    let operator = operator(&file, hole, &overloaded);
                    overloaded.extend(operator.is_some().then(|| format!("__jut_type_{k}")));
                    holes.push(operator.unwrap_or_else(|| filling(&file, hole)).guessed());
                }
                let name = word(&function.name);
                let mut text = filled(&name, &lowered.text, &holes);
                if jut::format(&name, &text).is_err() {
                    // What was taken for the type of a value is none that fits.
                    let holes: Vec<Filled> =
                        holes.into_iter().map(Filled::taken_for_number).collect();
                    text = filled(&name, &lowered.text, &holes);
                }
                texts.push(text);
            }
        }
    }
    if file.functions.is_empty() {
        let why = "no function of this file has the attribute `#[jut::differentiable]`";
        return Err(jut::Error::Request(format!("{}: {why}", path.display())));
    }
    let text = texts.join("\n");
    let text = with_prelude(&(declarations.before(&text) + &text));
    print(&jut::format(&path.display().to_string(), &text).unwrap_or(text));
    Ok(code)
}

fn mentions(function: &jut_rust::file::Function, name: &str) -> bool {
    let Ok((_, lowered)) = &function.lowered else { return false };
    lowered.holes.iter().any(|hole| match hole {
        Hole::Constant(path) => last(&path.to_string()) == name,
        _ => false,
    })
}

/// An array constant is a definition of its own.
fn array_constant<'a>(name: &'a str, ty: &Ty, value: &str) -> Option<(&'a str, String)> {
    let shown = ty.text(&mut || "?".to_string());
    (ty.rank() > 0 && !shown.contains('?') && !shown.contains('$'))
        .then(|| (name, format!("const {name}: {shown} = {}\n", value.replace('&', ""))))
}

/// The last word of a path.
fn last(path: &str) -> String {
    let path = path.replace(' ', "");
    path.trim_end_matches("asusize").rsplit("::").next().unwrap_or("").to_string()
}

/// What fills a hole, as far as the file tells.
fn filling(file: &File, hole: &Hole) -> Filled {
    match hole {
        Hole::Bound(ty, name) | Hole::Maker(ty, name, _) => elsewhere(&format!("{ty}_{name}")),
        Hole::Function(path) | Hole::Call(path, _) => {
            let name = last(&path.to_string());
            function(file, |f| f.name == name).unwrap_or_else(|| elsewhere(&path.to_string()))
        }
        Hole::Method(owner, key) => {
            let owner = owner.to_string().replace(' ', "");
            let of = |f: &jut_rust::file::Function| {
                let ty = f.name.split('_').next().unwrap_or("");
                f.key == *key && owner.contains(&format!("of::<{ty}>"))
            };
            function(file, of)
                .or_else(|| function(file, |f| f.key == *key && f.name.contains('_')))
                .unwrap_or_else(|| elsewhere("method"))
        }
        // Of numbers: those of structs are found before. A literal beside what another function gives is of the type that the operator takes.
        Hole::Operator(..) => Filled::function("", Type::F64, &[]).of(&[Type::F64, Type::F64]),
        Hole::Default(path) => {
            let call = format!("{}_default()", last(&path.to_string()));
            Filled::function(&call, data_type(file, Hole::Data(path.clone())), &[])
        }
        Hole::Sure(inner) => filling(file, inner),
        // Of rows of different lengths a file shows no second text.
        Hole::Uneven(inner)
        | Hole::Making(inner)
        | Hole::Perhaps(inner)
        | Hole::Untold(inner)
        | Hole::Following(inner, _) => filling(file, inner),
        Hole::Unwrapped(inner) => filling(file, inner).unwrapped(),
        Hole::Constant(value) => constant(file, &value.to_string()),
        // The text has its name there.
        Hole::Length(_) => Filled::function("0", Type::Usize, &[]),
        Hole::Data(path) => Filled::function(
            &last(&path.to_string()),
            data_type(file, Hole::Data(path.clone())),
            &[],
        ),
    }
}

/// The type of the values of a struct or enum.
fn data_type(file: &File, data: Hole) -> Type {
    type_of(file, &Ty::Of(0, Vec::new()), &[data], 0)
}

/// The function of an operator of a struct, if an operand is one: an argument whose type is written, or the result of such
/// an operator, which `overloaded` names. A field is taken for a number.
fn operator(file: &File, hole: &Hole, overloaded: &HashSet<String>) -> Option<Filled> {
    let Hole::Operator(key, left, right) = hole else { return None };
    let operands = [left, right].map(|operand| operand.to_string().replace(' ', ""));
    let of = |f: &jut_rust::file::Function| {
        let ty = format!("::jut::rust::of::<{}>()", f.name.split('_').next().unwrap_or(""));
        f.key == *key && operands.contains(&ty)
    };
    let any = |f: &jut_rust::file::Function| f.key == *key && f.name.contains('_');
    let given = operands.iter().any(|operand| overloaded.contains(operand));
    // A method that lists have too, `push`, is that of the file if it has one.
    let own = |f: &jut_rust::file::Function| {
        any(f)
            && f.name
                .match_indices('_')
                .any(|(at, _)| jut_rust::is_of_growing_lists(&f.name[at + 1..]))
    };
    let found = function(file, of)
        .or_else(|| function(file, own))
        .or_else(|| function(file, any).filter(|_| given))?;
    // A literal is a number, whatever another `impl` of this operator takes there.
    let float = |k: usize| operands.get(k).is_some_and(|o| o == "::jut::rust::of_value(&0.0)");
    let takes = found.takes().iter().enumerate();
    let takes = takes.map(|(k, ty)| if float(k) { Type::F64 } else { *ty }).collect();
    Some(found.of(leaked(takes)))
}

/// A name of the text for what stands in another file.
fn elsewhere(path: &str) -> Filled {
    Filled::function(&word(path), Type::F64, &[])
}

/// A path, or an expression with one, as one word of the text.
fn word(path: &str) -> String {
    let path = path.replace(' ', "").replace("r#", "").replace("::", "_");
    let letters = path.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' });
    let name: String = letters.collect();
    let name = name.trim_matches('_');
    match name.starts_with(|c: char| c.is_ascii_digit()) {
        true => format!("n{name}"),
        false if name.is_empty() => "elsewhere".to_string(),
        false => jut_rust::names::word(name),
    }
}

fn function(file: &File, is: impl Fn(&jut_rust::file::Function) -> bool) -> Option<Filled> {
    let found = file.functions.iter().find(|f| is(f))?;
    let Ok((signature, _)) = &found.lowered else {
        return Some(Filled::function(&word(&found.name), Type::F64, &[]));
    };
    let changed: Vec<bool> = signature.parameters.iter().map(|p| p.changed).collect();
    let ty = type_of(file, &signature.result, &signature.lengths, 0);
    let each = signature.parameters.iter();
    let takes = each.map(|p| type_of(file, &p.ty, &signature.lengths, 0)).collect();
    Some(Filled::function(&word(&found.name), ty, leaked(changed)).of(leaked(takes)))
}

/// The command ends soon.
fn leaked<T>(list: Vec<T>) -> &'static [T] {
    Box::leak(list.into_boxed_slice())
}

/// The value of a constant: as it is written, or by its name.
fn constant(file: &File, written: &str) -> Filled {
    let written = written.replace(' ', "");
    let known = match written.as_str() {
        "f64::consts::PI" | "std::f64::consts::PI" | "PI" => Some("3.141592653589793"),
        "std::f64::consts::TAU" | "TAU" => Some("6.283185307179586"),
        "std::f64::consts::E" | "E" => Some("2.718281828459045"),
        "f64::EPSILON" => Some("2.220446049250313e-16"),
        "f64::INFINITY" => Some("prim.inf()"),
        "f64::NEG_INFINITY" => Some("(-prim.inf())"),
        "f64::NAN" => Some("prim.nan()"),
        "::core::cfg!(debug_assertions)" => Some("true"),
        _ => None,
    };
    if let Some(text) = known {
        let ty = if text == "true" { Type::Bool } else { Type::F64 };
        return Filled::function(text, ty, &[]);
    }
    let name = last(&written);
    if let Some((_, ty, value)) = file.constants.iter().find(|(n, ..)| *n == name) {
        let ty = type_of(file, ty, &[], 0);
        let number = value.replace('_', "");
        let is_literal = number.parse::<f64>().is_ok() || number == "true" || number == "false";
        return match is_literal {
            true if number.starts_with('-') => Filled::function(&format!("({number})"), ty, &[]),
            true => Filled::function(&number, ty, &[]),
            false => Filled::function(&name, ty, &[]),
        };
    }
    let number = written.trim_end_matches("asusize").replace('_', "");
    match number.parse::<i64>() {
        Ok(_) => Filled::function(&number, Type::Usize, &[]),
        Err(_) => elsewhere(&written),
    }
}

thread_local! {
    /// Types that hold themselves.
    static DECLARED: RefCell<HashMap<String, &'static Declared>> = RefCell::default();
}

/// The type with a name, which is made unless it is there; what is in it may be that type again.
fn declared(name: &str, variants: impl FnOnce() -> Vec<Variant>) -> Type {
    if let Some(found) = DECLARED.with_borrow(|all| all.get(name).copied()) {
        return Type::Declared(found);
    }
    let cell: &'static OnceLock<&'static [Variant]> = Box::leak(Box::default());
    let own: &'static Declared =
        Box::leak(Box::new(Declared::of_file(name.to_string().leak(), cell)));
    DECLARED.with_borrow_mut(|all| all.insert(name.to_string(), own));
    let _ = cell.set(leaked(variants()));
    Type::Declared(own)
}

/// A struct or enum that holds itself.
fn recursive(file: &File, shape: &Shape) -> Type {
    let field = |(name, ty): &(String, Ty)| -> (&'static str, Type) {
        let ty = match ty {
            Ty::Option(inner) => {
                let some = type_of(file, inner, &shape.holes, 0);
                let of =
                    if let Type::Declared(of) = some { of.name() } else { "value".to_string() };
                declared(&format!("{of}__option"), || {
                    let fields = leaked(vec![("1", some)]);
                    let none = Variant { name: "None", words: &[], fields: &[] };
                    vec![none, Variant { name: "Some", words: &["value"], fields }]
                })
            }
            ty => type_of(file, ty, &shape.holes, 0),
        };
        (name.clone().leak(), ty)
    };
    let variant = |name: &str| {
        let before = if name.is_empty() { String::new() } else { format!("{name}.") };
        let own = shape.fields.iter().filter(|(n, _)| n.starts_with(&before));
        let fields: Vec<(&'static str, Type)> = own.map(field).collect();
        let words = fields.iter().map(|(n, _)| {
            let own = n.strip_prefix(&before).unwrap_or(n);
            let number = own.parse::<usize>().is_ok();
            let word = if number { format!("part_{own}") } else { jut_rust::names::word(own) };
            &*word.leak()
        });
        let words = leaked(words.collect());
        Variant { name: name.to_string().leak(), words, fields: leaked(fields) }
    };
    declared(&shape.name, || match &shape.variants {
        None => vec![variant("")],
        Some(names) => names.iter().map(|name| variant(name)).collect(),
    })
}

/// The type of a row that measures itself.
fn row(element: Type) -> Type {
    let values = ("values", Type::Vec(Box::leak(Box::new(element))));
    let letter = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    let of: String = format!("{element:?}").to_lowercase().chars().map(letter).collect();
    declared(&format!("rows_of_{of}"), || {
        vec![Variant { name: "", words: leaked(vec!["values"]), fields: leaked(vec![values]) }]
    })
}

/// The type of a struct or enum.
fn shape_type(file: &File, shape: &Shape, depth: u32) -> Type {
    if depth > 20 {
        return Type::Unit;
    }
    if shape.recursive {
        return recursive(file, shape);
    }
    let field = |(name, ty): &(String, Ty)| -> (&'static str, Type) {
        (name.clone().leak(), type_of(file, ty, &shape.holes, depth))
    };
    let fields: Vec<(&'static str, Type)> = shape.fields.iter().map(field).collect();
    match &shape.variants {
        None => Type::Record(leaked(fields)),
        Some(variants) => {
            let words = variants.iter().map(|v| &*v.clone().leak()).collect();
            let all = [("", Type::I64)].into_iter().chain(fields).collect();
            Type::Enum(leaked(words), leaked(all))
        }
    }
}

fn type_of(file: &File, ty: &Ty, holes: &[Hole], depth: u32) -> Type {
    let one = |ty: &Ty| -> &'static Type { Box::leak(Box::new(type_of(file, ty, holes, depth))) };
    match ty {
        Ty::F64 | Ty::Float(_) => Type::F64,
        Ty::F32 => Type::F32,
        Ty::Bool => Type::Bool,
        Ty::Narrow(of) => match (of.bits, of.signed) {
            (8, true) => Type::I8,
            (8, false) => Type::U8,
            (16, true) => Type::I16,
            (16, false) => Type::U16,
            (_, true) => Type::I32,
            (_, false) => Type::U32,
        },
        Ty::U64 => Type::U64,
        Ty::Usize => Type::Usize,
        Ty::Option(inner) => Type::Tuple(leaked(vec![Type::Bool, *one(inner)])),
        Ty::Unit | Ty::Never => Type::Unit,
        Ty::I64 | Ty::Int(_) => Type::I64,
        Ty::Array(element, Extent::Vec) => Type::Vec(one(element)),
        Ty::Array(element, Extent::Slice) => Type::Array(one(element)),
        Ty::Array(element, Extent::Fixed(n)) => {
            let hole = n.trim_matches(['$', 'k']).parse::<usize>().ok();
            let length = match hole.filter(|_| n.starts_with('$')).and_then(|k| holes.get(k)) {
                Some(Hole::Length(_)) => return Type::Array(one(element)),
                Some(Hole::Constant(value)) => {
                    let name = last(&value.to_string());
                    let of = file.constants.iter().find(|(n, ..)| *n == name);
                    of.map_or("0".to_string(), |(_, _, value)| value.replace('_', ""))
                }
                _ => n.clone(),
            };
            Type::Fixed(one(element), length.parse().unwrap_or_default())
        }
        Ty::Tuple(items) => Type::Tuple(leaked(items.iter().map(|t| *one(t)).collect())),
        Ty::Function(inputs, output) => {
            Type::Function(leaked(inputs.iter().map(|t| *one(t)).collect()), one(output))
        }
        Ty::Of(hole, _) => match holes.get(*hole) {
            Some(Hole::Data(path)) => {
                if let Some((element, holes)) = jut_rust::row_of_path(path) {
                    return row(type_of(file, &element, &holes, depth));
                }
                let name = last(&path.to_string());
                if let Some((_, ty, holes)) = file.names.iter().find(|(n, ..)| *n == name) {
                    return if depth > 20 {
                        Type::Unit
                    } else {
                        type_of(file, ty, holes, depth + 1)
                    };
                }
                let shape = file.data.iter().find(|s| s.name == name);
                shape.map_or(Type::Unit, |shape| shape_type(file, shape, depth + 1))
            }
            _ => Type::Unit,
        },
    }
}
