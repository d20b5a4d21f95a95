//! How values are laid out at the border between a Rust program and an engine: the one description from which sessions,
//! bound calls, typed functions, JSON, paths into results and C headers take what they need.
//!
//! A value is made of **leaves**, scalars and flat arrays, in this order:
//!
//! | type | leaves |
//! |---|---|
//! | `f64`, `f32`, `i64`, `i32`, `bool` | one scalar |
//! | `#(t, ..)`, a record | the leaves of its fields, in order |
//! | a sum | the number of the constructor, then the fields of every constructor; zero or empty for the absent ones |
//! | `[n]t` | the leaves of `t`, each with one more dimension in front |
//!
//! So has lowering laid out parameters and results ([`jut_loop::flatten`]), and a test compares the two. For
//! `data S = A(m: i64, w: [m]f64) | B`, the value `A(2, [3, 4])` has the leaves `0`, `2`, `[3, 4]`.
//!
//! A [`Layout`] is the list of the leaves and the tree of the type above them. On it stand, each in a file of its own:
//!
//! | module | what |
//! |---|---|
//! | `arguments` | a value that a caller gives, taken apart into leaves |
//! | `values` | a value made of leaves, and an array of its elements |
//! | `labels` | what the components of tangents are called |
//! | `tangent` | a value as a point of its tangent space |
//!
//! *Requires*: a type that is made of flat arrays ([`is_flat`]). Recursive data, arrays of records whose fields have sizes of
//! their own, and arrays of sums that have arrays, are not; they cross the border in lists ([`crate::border`]).
//! *Cost*: linear in the number of leaves.

mod arguments;
mod labels;
mod tangent;
mod values;

use crate::value::{Array, Number, Value, of_kind};
use jut_ir::entity::EntityRef;
use jut_ir::{DataId, NVar, Program, Scalar, Size, Type};
use std::ops::Range;

pub(crate) use arguments::Columns;
pub(crate) use labels::Labels;
pub(crate) use tangent::as_tangent;
pub(crate) use values::stack;

/// What to do about a type that does not cross the border.
pub(crate) const FLAT: &str =
    "make such values in a function of the program, out of numbers and arrays";

/// How values of a type are laid out.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    /// What they are made of, in order.
    pub leaves: Vec<Leaf>,
    root: Node,
}

/// A part of a value.
#[derive(Clone, Debug)]
struct Node {
    /// Its leaves among those of the whole value.
    leaves: Range<usize>,
    form: Form,
}

#[derive(Clone, Debug)]
enum Form {
    /// One leaf.
    Leaf,
    /// The components of a tuple or record, or of an array of such.
    Tuple(Vec<Component>),
    /// The number of the constructor, and the fields of all.
    Sum(Vec<Constructor>),
    /// The same of an array of a sum, for callers a list of its elements: what is in it is the form of one.
    List(Vec<Constructor>),
}

#[derive(Clone, Debug)]
struct Component {
    /// What it is called in paths; nothing for the mark of a sum with sizes.
    name: String,
    node: Node,
}

#[derive(Clone, Debug)]
struct Constructor {
    name: String,
    fields: Vec<Component>,
}

impl Layout {
    /// The layout of the values of a type.
    ///
    /// # Errors
    /// The type in it whose values are not made of flat arrays, in words.
    pub fn of(program: &Program, ty: &Type) -> Result<Layout, String> {
        Layout::labelled(program, ty, &Labels::default())
    }

    /// The same of a tangent whose components have names.
    ///
    /// # Errors
    /// As [`Layout::of`].
    pub fn labelled(program: &Program, ty: &Type, labels: &Labels) -> Result<Layout, String> {
        check(program, ty)?;
        let mut builder = Builder { program, leaves: Vec::new(), dims: Vec::new(), in_list: false };
        let root = builder.node(ty, Some(labels), None);
        Ok(Layout { leaves: builder.leaves, root })
    }

    /// Whether it is a number, a truth value or an array of such.
    pub fn is_leaf(&self) -> bool {
        matches!(self.root.form, Form::Leaf)
    }

    /// The leaves that say of a sum, or of the elements of an array of one, which constructor made it: the number of
    /// each, and the names of the constructors in the order of theirs.
    #[cfg(feature = "aot")]
    pub fn tags(&self) -> Vec<(usize, Vec<&str>)> {
        let mut all = Vec::new();
        self.root.tags(&mut all);
        all
    }

    /// The part that a path leads to: `first.w`, components of tuples by their numbers, `t.0`.
    pub fn part(&self, path: &str) -> Option<Part<'_>> {
        self.root.part(path).map(Part)
    }

    /// What stands behind the name of a value in C in the names of its leaves: `_first_w` for the path `first.w`.
    #[cfg(any(feature = "aot", test))]
    pub fn suffixes(&self) -> Vec<String> {
        let mut all = Vec::with_capacity(self.leaves.len());
        self.root.suffixes("", &mut all);
        all
    }
}

/// A part of a value that a path leads to.
#[derive(Clone, Copy)]
pub(crate) struct Part<'l>(&'l Node);

impl Part<'_> {
    /// Its leaves among those of the whole value.
    pub fn leaves(&self) -> Range<usize> {
        self.0.leaves.clone()
    }
}

impl Node {
    fn part(&self, path: &str) -> Option<&Node> {
        if path.is_empty() {
            return Some(self);
        }
        let Form::Tuple(components) = &self.form else { return None };
        components.iter().filter(|component| !component.name.is_empty()).find_map(|component| {
            match path.strip_prefix(component.name.as_str())? {
                "" => Some(&component.node),
                rest => component.node.part(rest.strip_prefix('.')?),
            }
        })
    }

    #[cfg(feature = "aot")]
    fn tags<'l>(&'l self, all: &mut Vec<(usize, Vec<&'l str>)>) {
        let parts: Vec<&Component> = match &self.form {
            Form::Leaf => return,
            Form::Tuple(components) => components.iter().collect(),
            Form::Sum(constructors) | Form::List(constructors) => {
                let names = constructors.iter().map(|con| con.name.as_str());
                all.push((self.leaves.start, names.collect()));
                constructors.iter().flat_map(|con| &con.fields).collect()
            }
        };
        parts.into_iter().for_each(|part| part.node.tags(all));
    }

    #[cfg(any(feature = "aot", test))]
    fn suffixes(&self, before: &str, all: &mut Vec<String>) {
        let named = |name: &str| format!("{before}_{}", name.replace('.', "_"));
        match &self.form {
            Form::Leaf => all.push(before.to_string()),
            Form::Tuple(components) => {
                for component in components {
                    let name = match component.name.as_str() {
                        "" => before.to_string(),
                        name => named(name),
                    };
                    component.node.suffixes(&name, all);
                }
            }
            Form::Sum(constructors) | Form::List(constructors) => {
                all.push(format!("{before}_tag"));
                for con in constructors {
                    for field in &con.fields {
                        let name = named(&format!("{}.{}", last(&con.name), field.name));
                        field.node.suffixes(&name, all);
                    }
                }
            }
        }
    }
}

/// The name of a constructor without that of its module.
fn last(constructor: &str) -> &str {
    constructor.rsplit('.').next().unwrap_or(constructor)
}

struct Builder<'p> {
    program: &'p Program,
    leaves: Vec<Leaf>,
    /// The dimensions of the arrays around, outermost first, and the leaves that the names in them are, as in [`Leaf`].
    dims: Vec<(Size, Option<Vec<usize>>)>,
    /// Whether it is at what is in an array of a sum, whose elements callers give one by one.
    in_list: bool,
}

impl Builder<'_> {
    /// `scope` are the first leaves of the fields before, inside a constructor.
    fn node(&mut self, ty: &Type, labels: Option<&Labels>, scope: Option<&[usize]>) -> Node {
        let start = self.leaves.len();
        let form = match ty {
            Type::Float(_) | Type::I64 | Type::I32 | Type::Bool => {
                self.leaf(Scalar::of(ty).unwrap_or(Scalar::F64));
                Form::Leaf
            }
            Type::Array(size, element) => {
                self.dims.push((size.clone(), scope.map(<[usize]>::to_vec)));
                let element = self.node(element, labels, scope);
                self.dims.pop();
                return element;
            }
            Type::Tuple(items) => Form::Tuple(self.tuple(items, labels, scope)),
            Type::Data(id) => {
                let constructors = &self.program.datas[*id].constructors;
                match constructors.as_slice() {
                    [con] => Form::Tuple(self.fields(con)),
                    constructors => {
                        self.leaf(Scalar::I64);
                        let around = self.in_list;
                        let is_list = !self.dims.is_empty() && !around;
                        self.in_list |= is_list;
                        let made = constructors.iter().map(|con| Constructor {
                            name: con.name.clone(),
                            fields: self.fields(con),
                        });
                        let made = made.collect();
                        self.in_list = around;
                        if is_list { Form::List(made) } else { Form::Sum(made) }
                    }
                }
            }
        };
        Node { leaves: start..self.leaves.len(), form }
    }

    fn leaf(&mut self, scalar: Scalar) {
        let named = self.dims.iter().find(|(size, _)| size.as_constant().is_none());
        let fields = named.and_then(|(_, fields)| fields.clone());
        let dims = self.dims.iter().map(|(size, _)| size.clone()).collect();
        self.leaves.push(Leaf { scalar, dims, fields });
    }

    /// Components have the names of a record's fields, or else of labels, or else their numbers.
    fn tuple(
        &mut self,
        items: &[Type],
        labels: Option<&Labels>,
        scope: Option<&[usize]>,
    ) -> Vec<Component> {
        let record = self.program.record(items).map(|(_, data, record)| (data, record));
        let mut components = Vec::new();
        for (k, item) in self.program.components(items).iter().enumerate() {
            let (name, inner) = match record {
                Some((data, record)) => (
                    record.fields.get(k).map_or_else(String::new, |field| {
                        let con = || last(&data.constructors[record.constructor_of(k)].name);
                        match record.is_sum() {
                            true => format!("{}.{}", con(), field.name),
                            false => field.name.to_string(),
                        }
                    }),
                    None,
                ),
                None => match labels.and_then(|labels| labels.component(k)) {
                    Some((name, inner)) => (name.clone(), Some(inner)),
                    None => (k.to_string(), None),
                },
            };
            components.push(Component { name, node: self.node(item, inner, scope) });
        }
        components
    }

    fn fields(&mut self, con: &jut_ir::Constructor) -> Vec<Component> {
        let (mut starts, mut fields) = (Vec::new(), Vec::new());
        for field in &con.fields {
            let start = self.leaves.len();
            let node = self.node(&field.ty, None, Some(&starts));
            fields.push(Component { name: field.name.to_string(), node });
            starts.push(start);
        }
        fields
    }
}

/// Whether values of a type are made of flat arrays.
///
/// # Errors
/// The type in it that is not, in words.
fn check(program: &Program, ty: &Type) -> Result<(), String> {
    match ty.recursive_data(program) {
        Some(data) => Err(format!("`{}` has values of its own in it", program.datas[data].name)),
        None => check_arrays(program, ty),
    }
}

/// The same of a type that is not recursive.
fn check_arrays(program: &Program, ty: &Type) -> Result<(), String> {
    match ty {
        Type::Float(_) | Type::I64 | Type::I32 | Type::Bool => Ok(()),
        Type::Array(_, element) => {
            check_arrays(program, element)?;
            match ragged(program, element) {
                Some(name) => Err(format!("an array of `{name}` is not made of flat arrays")),
                None => Ok(()),
            }
        }
        Type::Tuple(items) => items.iter().try_for_each(|item| check_arrays(program, item)),
        Type::Data(id) => {
            let fields = program.datas[*id].constructors.iter().flat_map(|con| &con.fields);
            fields.map(|field| &field.ty).try_for_each(|ty| check_arrays(program, ty))
        }
    }
}

/// A leaf of a type.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Leaf {
    /// What it is made of.
    pub scalar: Scalar,
    /// Its dimensions, outermost first; none for a scalar.
    pub dims: Vec<Size>,
    /// If the names in the dimensions are fields: the leaf that the k-th field is, among those of
    /// the whole value. Otherwise the names are those of the function.
    pub fields: Option<Vec<usize>>,
}

impl Leaf {
    /// An empty value for the leaf.
    pub fn blank(&self) -> Value {
        of_kind!(self.scalar, T => match self.dims.is_empty() {
            true => T::default().value(),
            false => T::values(Array::default()),
        })
    }

    /// The value of a dimension, given the values of the function's names and of the leaves of the
    /// same value by number.
    pub fn eval(
        &self,
        dim: &Size,
        name: &dyn Fn(NVar) -> Option<i64>,
        leaf: &dyn Fn(usize) -> Option<i64>,
    ) -> Result<i64, NoSize> {
        let mut known = true;
        let value = dim.exact(&mut |v| {
            let value = match &self.fields {
                None => name(v),
                Some(fields) => fields.get(v.index()).and_then(|k| leaf(*k)),
            };
            known &= value.is_some();
            value.unwrap_or_default()
        });
        if known { value.ok_or(NoSize::TooLarge) } else { Err(NoSize::Unknown) }
    }
}

/// Why a dimension has no value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum NoSize {
    /// One of its names has none.
    Unknown,
    /// It is no i64. Covered accesses rest on sizes that do not wrap.
    TooLarge,
}

/// Whether values of a type are scalars and flat arrays at the border.
pub(crate) fn is_flat(program: &Program, ty: &Type) -> bool {
    let mut datas = Vec::new();
    reached(program, ty, &mut datas);
    !datas.iter().any(|data| program.is_tangent(*data))
        && ty.recursive_data(program).is_none()
        && check_arrays(program, ty).is_ok()
}

/// The data types of which values of a type are made.
pub(crate) fn reached(program: &Program, ty: &Type, found: &mut Vec<DataId>) {
    let mut work = vec![ty];
    while let Some(ty) = work.pop() {
        ty.for_each_data(&mut |data| {
            if !found.contains(&data) {
                found.push(data);
                let fields = program.datas[data].constructors.iter().flat_map(|con| &con.fields);
                work.extend(fields.map(|field| &field.ty));
            }
        });
    }
}

/// A data type in the type that makes arrays of it ragged.
fn ragged<'p>(program: &'p Program, ty: &Type) -> Option<&'p str> {
    match ty {
        Type::Float(_) | Type::I64 | Type::I32 | Type::Bool => None,
        Type::Array(_, element) => ragged(program, element),
        Type::Tuple(items) => items.iter().find_map(|t| ragged(program, t)),
        Type::Data(id) => {
            let data = &program.datas[*id];
            match data.constructors.as_slice() {
                [con] if con.fields.iter().all(|f| f.ty.size_names().is_empty()) => {
                    con.fields.iter().find_map(|f| ragged(program, &f.ty))
                }
                [_] => Some(&data.name),
                _ => ty.has_array(program).then_some(&data.name),
            }
        }
    }
}

/// Number of dimensions, and what is under them.
pub(crate) fn peel(ty: &Type) -> (usize, &Type) {
    let (mut rank, mut element) = (0, ty);
    while let Type::Array(_, inner) = element {
        (rank, element) = (rank + 1, inner);
    }
    (rank, element)
}

#[cfg(test)]
mod tests {
    use super::*;
    use jut_ir::Mode;
    use jut_loop::flatten::{Component as Flat, Layouts, Scope};

    const TEXT: &str = "
        data Point = Point(x: f64, y: f64)
        data Bag = Bag(m: i64, w: [m]f64, b: [m + 1, 2]bool)
        data Shape = Circle(c: Point, r: f64) | Bars(k: i64, h: [k]f64) | Nothing
        data Tag = Red | Green(depth: f32, of: #(i64, Point))
        data Net[n] = Net(first: [n, n]f64, last: [n]Tag)
        data Sized[n] = Ball(c: [n]f64, r: f64) | Nowhere
        def f[n](a: f64, b: [n, 3]i32, c: #(i64, #(bool, [n]f64)), d: [n]Point, e: Bag, g: Shape, h: [n, n]Tag,
                 i: Net[n], j: Sized[n], k: [4]#(Tag, Point), l: Tag) -> f64 = a";

    fn program() -> crate::Model {
        crate::Model::from_text(TEXT).expect("it is a program")
    }

    /// The layouts of the parameters of `f`.
    fn layouts(program: &Program) -> Vec<(&Type, Layout)> {
        let func = &program.funcs[program.find_func("f").expect("it is there")];
        assert!(func.cap_params.iter().all(|cap| func.caps[*cap].mode == Mode::Rd));
        let types = func.params.iter().map(|p| &func.nvars[*p].ty);
        types.map(|ty| (ty, Layout::of(program, ty).expect("it is flat"))).collect()
    }

    #[test]
    fn leaves_are_the_components_that_lowering_makes() {
        let model = program();
        let program = model.program();
        let mut lowered = Layouts::new(program).expect("few components");
        let all = layouts(program);
        assert_eq!(all.len(), 12);
        for (ty, layout) in all {
            let components = lowered.of(ty);
            let suffixes: Vec<&str> = components.iter().map(|c| &*c.suffix).collect();
            assert_eq!(layout.suffixes(), suffixes, "{ty:?}");
            assert_eq!(layout.leaves.len(), components.len());
            for (leaf, Flat { scalar, levels, .. }) in layout.leaves.iter().zip(components.iter()) {
                assert_eq!(jut_loop::form::Kind::Scalar(leaf.scalar), *scalar);
                let dims: Vec<Size> = levels.iter().flat_map(|l| l.dims.clone()).collect();
                assert_eq!(leaf.dims, dims, "{ty:?}");
                if dims.iter().any(|dim| dim.as_constant().is_none()) {
                    let named: Vec<&Scope> = levels.iter().map(|l| &l.scope).collect();
                    match (&leaf.fields, named.as_slice()) {
                        (None, [Scope::Function]) => {}
                        (Some(before), [Scope::Fields(all)]) => assert!(all.starts_with(before)),
                        (ours, theirs) => panic!("{ty:?}: {ours:?}, {theirs:?}"),
                    }
                }
            }
        }
    }

    #[test]
    fn what_is_taken_apart_is_put_together_again() {
        let model = program();
        let program = model.program();
        let floats = |x: &[f64]| Value::F64s(Array { shape: vec![x.len()], data: x.to_vec() });
        let point = || Value::Tuple(vec![Value::F64(1.0), Value::F64(2.0)]);
        let red = || Value::Data("Red".into(), Vec::new());
        let of = Value::Tuple(vec![Value::I64(7), point()]);
        let green = Value::Data("Green".into(), vec![Value::F32(0.5), of]);
        let bars = Value::Data("Bars".into(), vec![Value::I64(2), floats(&[3.0, 4.0])]);
        let list = |items: Vec<Value>| Value::List(items);
        let points = Value::Tuple(vec![floats(&[1.0, 2.0]), floats(&[3.0, 4.0])]);
        let tags = list(vec![list(vec![red(), green.clone()]), list(vec![green.clone(), red()])]);
        let pairs =
            Value::Tuple(vec![list(vec![red(), green.clone(), red(), red()]), points.clone()]);
        let values = [(4, points), (6, bars), (7, tags), (10, pairs), (11, green)];
        let all = layouts(program);
        for (k, value) in values {
            let layout = &all[k].1;
            let columns = Columns::of(layout, (&value).into());
            let (mut made, mut parts) = (columns.made(), Vec::new());
            layout.take_apart((&value).into(), &mut made, &mut parts).expect("it fits");
            assert_eq!(parts.len(), layout.leaves.len(), "{k}");
            let owned: Option<Vec<Value>> = parts.into_iter().map(crate::border::owned).collect();
            assert_eq!(layout.rebuild(&owned.expect("no views")), Some(value), "{k}");
        }
    }

    #[test]
    fn paths_lead_to_parts_by_names_and_numbers() {
        let items = vec![Type::F64; 20];
        let wide = Layout::of(&Program::default(), &Type::Tuple(items)).expect("it is flat");
        assert_eq!(wide.part("17").map(|part| part.leaves()), Some(17..18));
        assert!(wide.part("20").is_none() && wide.part("1.0").is_none());
        let model = program();
        let all = layouts(model.program());
        let part = |k: usize, path: &str| all[k].1.part(path).map(|part| part.leaves());
        assert_eq!(part(3, "1.0"), Some(1..2));
        assert_eq!(part(8, "first"), Some(0..1));
        assert_eq!(part(9, "Ball.r"), Some(1..2));
        assert_eq!(part(9, "Ball"), None);
        assert_eq!(part(6, "Circle.r"), None);
    }

    #[test]
    fn leaves_in_c_have_the_labels_of_tangents() {
        let ty = Type::Tuple(vec![Type::Tuple(vec![Type::F64, Type::F64]), Type::F64]);
        let text = "data Layer = Layer(w: f64, k: i64, b: f64)
                    data Net = Net(first: Layer, on: bool, last: f64)
                    def f(net: Net) -> f64 = net.last";
        let model = crate::Model::from_text(text).expect("it is a program");
        let program = model.program();
        let func = &program.funcs[program.find_func("f").expect("it is there")];
        let labels = Labels::of_tangent(program, &func.nvars[func.params[0]].ty);
        let tangent = Layout::labelled(program, &ty, &labels).expect("it is flat");
        assert_eq!(tangent.suffixes(), ["_first_w", "_first_b", "_last"]);
        assert_eq!(tangent.part("first.b").map(|part| part.leaves()), Some(1..2));
        let plain = Layout::of(program, &ty).expect("it is flat");
        assert_eq!(plain.suffixes(), ["_0_0", "_0_1", "_1"]);
    }
}
