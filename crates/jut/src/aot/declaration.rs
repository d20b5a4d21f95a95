//! Compiled products as C functions: what every parameter is.
//!
//! The parameters of a product are flattened: a number is passed by value, an array as a pointer to
//! its cells, a record as its parts; sizes come first, each once. Names come from the program: `x`
//! stays `x`, the gradient of `x` is `grad_x`, tangents and cotangents are `x_tangent` and
//! `y_cotangent`; what C or C++ reserve gets an underscore behind it.
//!
//! [`CFunction`] is what the C header is written from, and what bindings to other languages are:
//! it says of each parameter which way the data go, what the cells are and how many there are.

use crate::error::{ArgumentError, Result};
use crate::layout::{self, FLAT, Labels, Layout};
use crate::pipeline::Composed;
use crate::ports::{Input, Output, Role as PortRole};
use crate::request::Request;
use crate::shown::show_type;
use jut_ad::compose;
use jut_ir::entity::EntityRef;
use jut_ir::print::print_data;
use jut_ir::{DataId, NVar, Program, Scalar, Size, Type};
use jut_loop::form::{Cell, Kind, Role};
use jut_loop::signature::{AbiComponent, Parameter, Signature};
use std::collections::{HashMap, HashSet};

/// A C function of an object: a compiled [`Request`].
///
/// It takes the parameters in order, then memory (see [`CFunction::needs_memory`]), then a pointer
/// to where an error is described, and returns the status.
#[derive(Clone, Debug)]
pub struct CFunction {
    pub(crate) name: String,
    pub(crate) definition: String,
    pub(crate) request: Request,
    pub(crate) params: Vec<CParameter>,
    /// The numbers of the parameters in the calling convention of the loop form.
    pub(crate) order: Vec<usize>,
    pub(crate) needs_memory: bool,
    pub(crate) stack: usize,
    pub(crate) levels: Option<i64>,
    pub(crate) lists: Vec<String>,
    pub(crate) unbounded: Option<String>,
    /// The functions of other languages that it calls: the symbol of each, and its declaration.
    pub(crate) foreign: Vec<(String, String)>,
}

/// A parameter of a C function.
#[derive(Clone, Debug)]
pub struct CParameter {
    pub(crate) name: String,
    pub(crate) passing: Passing,
    pub(crate) cell: Scalar,
    pub(crate) dims: Vec<Extent>,
    pub(crate) about: String,
    pub(crate) size: bool,
}

/// Which way the data of a parameter go.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Passing {
    /// A number, by value.
    Value,
    /// An array that is read.
    Read,
    /// An array that is added to.
    AddedTo,
    /// An array that is written; what it holds before means nothing.
    Written,
    /// A number that is written to where the pointer points, unless that is null.
    Returned,
    /// An array in the memory of the call, whose length only the function knows: a pointer to its
    /// cells is written to where the pointer points, unless that is null.
    Lent,
}

/// A dimension of an array: a polynomial in the integers among the parameters of a C function.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Extent(Size);

impl Extent {
    /// The terms of the sum: a factor, and the positions of the parameters it is multiplied with.
    pub fn terms(&self) -> impl Iterator<Item = (i64, Vec<usize>)> + '_ {
        self.0.terms().iter().map(|(names, c)| (*c, names.iter().map(|v| v.index()).collect()))
    }

    /// The position of the parameter, if it is just one.
    pub fn parameter(&self) -> Option<usize> {
        self.0.as_var().map(|v| v.index())
    }

    /// As text: `n - 1`. The name of each parameter is asked for by its position.
    pub fn text(&self, name: &dyn Fn(usize) -> String) -> String {
        let mut text = String::new();
        for (factor, parameters) in self.terms() {
            text.push_str(match (text.is_empty(), factor < 0) {
                (true, true) => "-",
                (true, false) => "",
                (false, true) => " - ",
                (false, false) => " + ",
            });
            let mut words: Vec<String> = Vec::new();
            if factor.unsigned_abs() != 1 || parameters.is_empty() {
                words.push(factor.unsigned_abs().to_string());
            }
            words.extend(parameters.into_iter().map(name));
            text.push_str(&words.join(" * "));
        }
        if text.is_empty() { "0".to_owned() } else { text }
    }
}

impl CParameter {
    /// Its name, an identifier that C and C++ leave to programs.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Which way its data go.
    pub fn passing(&self) -> Passing {
        self.passing
    }

    /// The number, or the cells of the array.
    pub fn scalar(&self) -> Scalar {
        self.cell
    }

    /// The dimensions of an array, row-major; none for a number.
    pub fn dims(&self) -> &[Extent] {
        &self.dims
    }

    /// Whether it is a size in brackets, which the program does not take as an argument.
    pub fn is_size(&self) -> bool {
        self.size
    }

    /// What it is, in words.
    pub fn about(&self) -> &str {
        &self.about
    }
}

impl CFunction {
    /// Its name: that of the definition, or the prefix, and the request's suffix.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The function of the program that it is made of.
    pub fn definition(&self) -> &str {
        &self.definition
    }

    /// What it is of that function.
    pub fn request(&self) -> Request {
        self.request
    }

    /// What it is of that function, in words: "The gradient of".
    pub fn about(&self) -> &'static str {
        self.request.row().about
    }

    /// Its parameters in order, without the memory and the error at the end.
    pub fn parameters(&self) -> &[CParameter] {
        &self.params
    }

    /// Whether calls need memory; otherwise a null pointer is enough.
    pub fn needs_memory(&self) -> bool {
        self.needs_memory
    }

    /// Bytes of stack that a call takes, at most, beyond those of mathematical functions.
    pub fn stack(&self) -> usize {
        self.stack
    }

    /// How deep calls of functions that call themselves may be in each other; `None` if there is no such function.
    pub fn levels(&self) -> Option<i64> {
        self.levels
    }

    /// The data types of which values are handed over in two lists, one of integers and one of floats, with the numbers
    /// of their constructors: `Tree = 0 Leaf(x: f64) | 1 Node(l: Tree, r: Tree)`.
    pub fn lists(&self) -> &[String] {
        &self.lists
    }

    /// Why there is no function `NAME_workspace_size`: where the data decide how much memory a call
    /// needs. `None` if there is one; it takes the `int64_t` parameters in their order.
    pub fn unbounded(&self) -> Option<&str> {
        self.unbounded.as_deref()
    }

    /// Names and describes the parameters of what is asked for.
    pub(crate) fn new(
        name: String,
        definition: &str,
        request: Request,
        composed: &Composed,
        signature: &Signature,
    ) -> Result<CFunction> {
        let Composed { program, root, border, inputs, outputs } = composed;
        let function = &program.funcs[*root];
        let mut parts: Vec<Part> = Vec::new();
        let mut nested = None;
        let mut datas = Vec::new();
        let mut add = |parameter: &Parameter,
                       base: String,
                       what: &str,
                       packed: Option<&Type>,
                       size: bool,
                       labels: &Labels| {
            let ty = show_type(program, function, packed.unwrap_or(&parameter.ty));
            if let Some(packed) = packed {
                layout::reached(program, packed, &mut datas);
                for (component, (suffix, part)) in parameter.components.iter().zip(LISTS) {
                    let component = component.clone();
                    let (name, what) =
                        (identifier(&format!("{base}{suffix}")), format!("{what}: {ty}, {part}"));
                    parts.push(Part { component, name, what, size });
                }
                return;
            }
            let Ok(layout) = Layout::labelled(program, &parameter.ty, labels) else {
                nested.get_or_insert((base, ty));
                return;
            };
            let tags = layout.tags();
            let leaves = parameter.components.iter().zip(layout.suffixes()).enumerate();
            for (k, (component, suffix)) in leaves {
                let mut what = match suffix.trim_start_matches('_') {
                    "" | "tag" => format!("{what}: {ty}"),
                    part => format!("{what}: {ty}, its part {part}"),
                };
                if let Some((_, constructors)) = tags.iter().find(|(leaf, _)| *leaf == k) {
                    what += &format!(", its constructors: {}", numbered_list(constructors));
                }
                let name = identifier(&format!("{base}{suffix}"));
                parts.push(Part { component: component.clone(), name, what, size });
            }
        };
        for (k, (parameter, input)) in signature.params.iter().zip(inputs).enumerate() {
            let (base, what) = input_name(input);
            let packed = border.params.get(k).and_then(Option::as_ref);
            add(parameter, base, what, packed, input.hidden, &input.labels);
        }
        for parameter in signature.params.iter().skip(inputs.len()) {
            let name = parameter.name.clone();
            add(parameter, name, "accumulated", None, false, &Labels::default());
        }
        for (k, (parameter, output)) in signature.results.iter().zip(outputs).enumerate() {
            let (base, what) = output_name(output, request);
            let packed = border.results.get(k).and_then(Option::as_ref);
            add(parameter, base, what, packed, false, &output.labels);
        }
        let lists = datas.into_iter().map(|data| declared(program, data)).collect();
        let mut taken: HashSet<String> =
            ["workspace", "error", "memory", "memory_bytes"].map(str::to_owned).into();
        for part in &mut parts {
            while !taken.insert(part.name.clone()) {
                part.name.push('_');
            }
        }
        // Sizes speak of parameters by number; they come in another order here.
        let order: Vec<usize> = parts.iter().map(|part| part.component.number).collect();
        let positions: HashMap<usize, usize> =
            order.iter().enumerate().map(|(position, number)| (*number, position)).collect();
        let params: Option<Vec<CParameter>> =
            parts.into_iter().map(|part| part.parameter(signature, &positions)).collect();
        let params = params.filter(|_| nested.is_none()).ok_or_else(|| {
            let (name, ty) =
                nested.unwrap_or_else(|| (definition.to_owned(), "its type".to_owned()));
            let reason =
                format!("{ty} has arrays of arrays of different lengths, which have no C type");
            ArgumentError::new("A06", &name, reason, FLAT)
        })?;
        Ok(CFunction {
            name,
            definition: definition.to_owned(),
            request,
            params,
            order,
            needs_memory: true,
            stack: 0,
            levels: None,
            lists,
            unbounded: None,
            foreign: Vec::new(),
        })
    }
}

/// The parts of a value in lists: what their names end with, and what they are.
const LISTS: [(&str, &str); 4] = [
    ("_int_count", "how many integers it is made of"),
    ("_ints", "its integers"),
    ("_float_count", "how many floats it is made of"),
    ("_floats", "its floats"),
];

/// A data type with the numbers of its constructors.
fn declared(program: &Program, data: DataId) -> String {
    let text = print_data(program, data);
    let text = text.lines().find_map(|line| line.strip_prefix("data ")).unwrap_or_default();
    let (name, constructors) = text.split_once(" = ").unwrap_or((text, ""));
    let numbered = constructors.split(" | ").enumerate().map(|(k, con)| format!("{k} {con}"));
    format!("{name} = {}", numbered.collect::<Vec<_>>().join(" | "))
}

/// The constructors of a sum with their numbers: `0 Circle, 1 Box`.
fn numbered_list(constructors: &[&str]) -> String {
    let numbered = constructors.iter().enumerate().map(|(k, con)| format!("{k} {con}"));
    numbered.collect::<Vec<_>>().join(", ")
}

/// A component of the signature with the name and the words of its port.
struct Part {
    component: AbiComponent,
    name: String,
    what: String,
    size: bool,
}

impl Part {
    fn parameter(
        self,
        signature: &Signature,
        positions: &HashMap<usize, usize>,
    ) -> Option<CParameter> {
        let component = &self.component;
        let returned = component.number >= signature.param_count;
        let (passing, cell) = match (component.kind, component.role) {
            (Kind::Buffer(cell), _) if returned => (Passing::Lent, cell),
            (Kind::Buffer(cell), Some(Role::Out)) => (Passing::Written, cell),
            (Kind::Buffer(cell), Some(Role::InOut)) => (Passing::AddedTo, cell),
            (Kind::Buffer(cell), Some(Role::In) | None) => (Passing::Read, cell),
            (kind, _) if returned => (Passing::Returned, Cell::of(kind)),
            (kind, _) => (Passing::Value, Cell::of(kind)),
        };
        let Cell::Scalar(cell) = cell else { return None };
        let mut dims = Vec::new();
        for dim in &component.dims {
            let at = |v: NVar| Some(Size::var(NVar::new(*positions.get(&v.index())?)));
            let known = dim.names().iter().all(|v| positions.contains_key(&v.index()));
            dims.push(Extent(known.then(|| dim.subst(&mut |v| at(v)))?));
        }
        let Part { name, what, size, .. } = self;
        Some(CParameter { name, passing, cell, dims, about: what, size })
    }
}

fn input_name(input: &Input) -> (String, &'static str) {
    let of = &input.of.bare;
    match input.what {
        compose::Parameter::Tangent(_) => (format!("{of}_tangent"), "tangent"),
        compose::Parameter::Cotangent(_) | compose::Parameter::LinearCotangent(_) => {
            (format!("{}_cotangent", numbered(of)), "cotangent")
        }
        compose::Parameter::Size => (of.clone(), "size of a cotangent"),
        compose::Parameter::Count => (of.clone(), "how many elements there are"),
        compose::Parameter::Argument(_) | compose::Parameter::Saved(_) if input.hidden => {
            (of.clone(), "size")
        }
        compose::Parameter::Argument(_) if input.of.is_linear() => {
            (format!("{of}_tangent"), "tangent")
        }
        compose::Parameter::Argument(_) | compose::Parameter::Saved(_) => (of.clone(), "argument"),
    }
}

fn output_name(output: &Output, request: Request) -> (String, &'static str) {
    let name = numbered(&output.name.bare);
    if output.role == PortRole::Value {
        return (name, "result");
    }
    let (before, behind, what) = request.row().field;
    (format!("{before}{name}{behind}"), what)
}

/// Results without a name go by their numbers.
fn numbered(name: &str) -> String {
    match name.starts_with(|c: char| c.is_ascii_digit()) {
        true => format!("result_{name}"),
        false => name.to_owned(),
    }
}

/// A C identifier that C and C++ leave to programs.
pub(crate) fn identifier(name: &str) -> String {
    let mut text = String::new();
    for c in name.chars() {
        match c {
            'a'..='z' | 'A'..='Z' | '0'..='9' => text.push(c),
            // Two underscores in a row are reserved in C++.
            _ if text.ends_with('_') => {}
            _ => text.push('_'),
        }
    }
    if text.is_empty() || text.starts_with(|c: char| c == '_' || c.is_ascii_digit()) {
        text.insert_str(0, if text.starts_with('_') { "v" } else { "v_" });
    }
    if RESERVED.contains(&text.as_str()) {
        text.push('_');
    }
    text
}

/// Keywords of C and C++, and macros of the headers that are included.
const RESERVED: &[&str] = &[
    "alignas",
    "alignof",
    "and",
    "and_eq",
    "asm",
    "auto",
    "bitand",
    "bitor",
    "bool",
    "break",
    "case",
    "catch",
    "char",
    "char16_t",
    "char32_t",
    "char8_t",
    "class",
    "co_await",
    "co_return",
    "co_yield",
    "compl",
    "concept",
    "const",
    "const_cast",
    "consteval",
    "constexpr",
    "constinit",
    "continue",
    "decltype",
    "default",
    "delete",
    "do",
    "double",
    "dynamic_cast",
    "else",
    "enum",
    "explicit",
    "export",
    "extern",
    "false",
    "far",
    "float",
    "for",
    "friend",
    "goto",
    "huge",
    "if",
    "inline",
    "int",
    "interface",
    "linux",
    "long",
    "mutable",
    "namespace",
    "near",
    "new",
    "noexcept",
    "not",
    "not_eq",
    "nullptr",
    "operator",
    "or",
    "or_eq",
    "pascal",
    "private",
    "protected",
    "public",
    "register",
    "reinterpret_cast",
    "requires",
    "restrict",
    "return",
    "short",
    "signed",
    "sizeof",
    "small",
    "static",
    "static_assert",
    "static_cast",
    "struct",
    "switch",
    "template",
    "this",
    "thread_local",
    "throw",
    "true",
    "try",
    "typedef",
    "typeid",
    "typename",
    "typeof",
    "union",
    "unix",
    "unsigned",
    "using",
    "virtual",
    "void",
    "volatile",
    "wchar_t",
    "while",
    "xor",
    "xor_eq",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_identifiers_that_c_and_cpp_leave_to_programs() {
        let names =
            ["x", "double", "a'", "_x", "3d", "f.jvp", "a__b", "new", "", "Ünit"].map(identifier);
        assert_eq!(
            names,
            ["x", "double_", "a_", "v_x", "v_3d", "f_jvp", "a_b", "new_", "v_", "v_nit"]
        );
    }
}
