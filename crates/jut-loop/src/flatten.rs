//! The layout of values: every type of Linear A is a list of scalars and buffers.
//!
//! Backends know scalars and flat buffers only, so lowering and the callers of compiled code first
//! agree on how a value of any type is laid out (arrays of tuples become tuples of arrays, as in
//! Futhark and most vectorising compilers):
//!
//! | type | components |
//! |---|---|
//! | `f64`, `i64`, `bool` | one scalar |
//! | `#(t, ..)`, a record | the components of its fields, in order |
//! | a sum | the tag (i64, the constructor's position), then the fields of every constructor; those of the absent ones are zero or empty |
//! | `[n]t` | one buffer per component of `t` |
//!
//! A buffer that is a component of an array's element is either **merged** into one rectangular
//! block (`[n][m]f64` has n·m cells, `[n]#([m]f64, f64)` has a block of n·m and one of n), or
//! **pinned**: its size is a field of the element (a row of a triangular tape) or the element may
//! not have it (a sum), and then the array's component is a buffer of buffers.
//!
//! **Boxes.** A data type that would come to more than [`MAX_FLAT`] components is one component
//! instead: a pointer to a buffer of words on the tape arena, the *box*, which holds the tag of a sum
//! and then the components of the fields of the constructor that was taken. So the record of a
//! function that calls the same function twice, which holds that one's record twice, does not double
//! along a chain of calls. A box is written once, when its value is made, and what it points to is on
//! the tape arena too. A recursive data type is always a box. Types that occur in the signature of the entry function are never boxed: there
//! values come from and go to callers who know nothing of boxes. Callers that hand a tape on from one
//! program to another do not look into it, so a large one may be boxed ([`Seen::but_for_tape`]).
//!
//! So a component is a scalar kind under a list of [`Level`]s, outermost first; each level is one
//! indirection. Example: `[n]K` with `K(m: i64, w: [m]f64)` has the components
//! `i64 [n]` and `f64 [n] -> [m]`, where `m` is component 0 of the same element.
//!
//! Ensures: the components of an element are, one for one, those of the array with the leading
//! dimension removed. Cost: linear in the number of components; lists are cached per type.

use cranelift_entity::EntityRef;
use jut_ir::graph::strongly_connected;
use jut_ir::hash::HashMap;
use jut_ir::{Data, DataId, Diagnostic, Function, Program, Record, Scalar, Size, Type};
use std::collections::HashSet;
use std::ops::Range;
use std::rc::Rc;

use crate::form::{Cell, Kind};

/// One scalar or buffer of a flattened value.
#[derive(Clone, PartialEq, Debug)]
pub struct Component {
    /// Where it stands in the value: `""`, `"_0"`, `"_r"`, `"_true_a_s"`; appended to a name.
    pub suffix: Rc<str>,
    /// What the innermost cells are (never [`Kind::Buffer`]); of a box nothing.
    pub scalar: Kind,
    /// Whether the innermost level is a box: its cells are words.
    pub boxed: bool,
    /// The buffers, outermost first; none for a scalar.
    pub levels: Vec<Level>,
    /// The tags, by the number of their components in the same value, and the constructors with which the value has this
    /// component. With others it is zero, or a buffer without cells, whatever its dimensions say.
    pub only_if: Vec<(usize, i64)>,
}

/// One contiguous buffer of a component: its dimensions, outermost first.
#[derive(Clone, PartialEq, Debug)]
pub struct Level {
    /// The dimensions.
    pub dims: Vec<Size>,
    /// What the names in `dims` are.
    pub scope: Scope,
    /// Whether an array of such buffers is a buffer of buffers rather than a block.
    pub pinned: bool,
}

/// What the names in a dimension mean.
#[derive(Clone, PartialEq, Debug)]
pub enum Scope {
    /// Variables of the function.
    Function,
    /// Fields: the k-th field of the constructor is the component with the given number in the same
    /// value.
    Fields(Rc<[usize]>),
}

impl Level {
    /// The number of cells that remain below the first `from` dimensions.
    pub fn cells_from(&self, from: usize) -> Size {
        let dims = self.dims.get(from..).unwrap_or_default();
        dims.iter().fold(Size::constant(1), |product, d| product * d.clone())
    }

    /// The number of cells.
    pub fn cells(&self) -> Size {
        self.cells_from(0)
    }
}

impl Component {
    fn scalar(kind: Kind) -> Component {
        let (levels, only_if) = (Vec::new(), Vec::new());
        Component { suffix: Rc::from(""), scalar: kind, boxed: false, levels, only_if }
    }

    /// A pointer to a box. How many words it has depends on the constructor: never copied.
    fn boxed() -> Component {
        let level = Level { dims: Vec::new(), scope: Scope::Function, pinned: true };
        Component { boxed: true, levels: vec![level], ..Component::scalar(Kind::I64) }
    }

    /// What a value of the component is: a scalar, or a buffer.
    pub fn kind(&self) -> Kind {
        self.kind_at(0)
    }

    /// What remains of the component below the first `level` levels.
    pub fn kind_at(&self, level: usize) -> Kind {
        match self.levels.len().saturating_sub(level) {
            0 => self.scalar,
            1 => Kind::Buffer(self.scalar_cell()),
            _ => Kind::Buffer(Cell::Buffer),
        }
    }

    /// What the cells of the outermost buffer are.
    pub fn cell(&self) -> Cell {
        if self.levels.len() > 1 { Cell::Buffer } else { self.scalar_cell() }
    }

    /// The cells of a buffer that holds the innermost scalars, or of the box.
    pub fn scalar_cell(&self) -> Cell {
        if self.boxed { Cell::Word } else { Cell::of(self.scalar) }
    }

    /// Whether the component is a pointer to a box, and no array of such.
    pub fn is_box(&self) -> bool {
        self.boxed && self.levels.len() == 1
    }

    /// Whether the component is a scalar.
    pub fn is_scalar(&self) -> bool {
        self.levels.is_empty()
    }

    /// Whether only who makes the value knows how large the buffer is.
    pub fn is_pinned(&self) -> bool {
        self.levels.first().is_some_and(|level| level.pinned)
    }

    fn moved(&self, prefix: &str, by: usize) -> Component {
        let mut moved = self.clone();
        moved.suffix = format!("{prefix}{}", self.suffix).into();
        if by > 0 {
            moved.only_if.iter_mut().for_each(|(tag, _)| *tag += by);
            for level in &mut moved.levels {
                if let Scope::Fields(fields) = &level.scope {
                    level.scope = Scope::Fields(fields.iter().map(|k| k + by).collect());
                }
            }
        }
        moved
    }
}

/// The layout of a data type.
#[derive(PartialEq, Debug)]
pub struct DataLayout {
    /// All components, or what would be all if it were not boxed.
    pub components: Rc<[Component]>,
    /// Whether component 0 is a tag: there are several constructors.
    pub tagged: bool,
    /// For every constructor, the components of every field.
    pub fields: Vec<Vec<Range<usize>>>,
    /// Whether values are pointers to boxes.
    pub boxed: bool,
}

impl DataLayout {
    /// In a box, the word of component `k` of constructor `con`: after the tag only that constructor's
    /// components.
    pub fn word(&self, con: usize, k: usize) -> usize {
        let first = self.fields.get(con).and_then(|f| f.first()).map_or(k, |r| r.start);
        self.tagged as usize + k.saturating_sub(first)
    }

    /// The number of words of a box of constructor `con`.
    pub fn words(&self, con: usize) -> usize {
        let end = self.fields.get(con).and_then(|f| f.last()).map(|r| r.end);
        end.map_or(self.tagged as usize, |end| self.word(con, end))
    }
}

/// The layouts of a program's types, computed once each.
#[derive(Debug)]
pub struct Layouts {
    datas: Vec<Rc<DataLayout>>,
    types: HashMap<Type, Rc<[Component]>>,
    /// What the components of a record with sizes are called, by its mark.
    names: Vec<Option<Rc<[String]>>>,
}

/// More components than this in one value that is not boxed are refused: a type that doubles with
/// every declaration would need memory exponential in the program's text.
const MAX_COMPONENTS: usize = 1 << 16;

/// A data type with more components than this is boxed, unless the entry function's callers see it.
pub const MAX_FLAT: usize = 16;

/// A tape that callers hand on with more components than this is boxed. Up to here callers keep its buffers
/// one by one, without the words of boxes.
pub const MAX_FLAT_TAPE: usize = 256;

/// The same for the length of the path to a component, in bytes.
const MAX_SUFFIX: usize = 128;

/// The data types that callers of entry functions look into.
#[derive(Clone, Debug, Default)]
pub struct Seen(HashSet<DataId>);

impl Seen {
    /// All that occur in the signatures of the entries.
    pub fn by_callers(program: &Program, entries: &[&Function]) -> Seen {
        let mut seen = Seen::default();
        for func in entries {
            let types = func.params.iter().map(|v| &func.nvars[*v].ty);
            for ty in types.chain(func.results.iter().map(|r| &r.ty)) {
                outside(program, ty, &mut seen.0);
            }
        }
        seen
    }

    /// The same for entries that hand a tape of the given type on to each other: what is in it alone is not
    /// seen if it is large.
    pub fn but_for_tape(program: &Program, entries: &[&Function], tape: DataId) -> Seen {
        if flat_count(program, tape) <= MAX_FLAT_TAPE {
            return Seen::by_callers(program, entries);
        }
        let mut seen = Seen::default();
        for func in entries {
            let types = func.params.iter().map(|v| &func.nvars[*v].ty);
            let types = types.chain(func.results.iter().map(|r| &r.ty));
            for ty in types.filter(|ty| **ty != Type::Data(tape)) {
                outside(program, ty, &mut seen.0);
            }
        }
        seen
    }
}

/// What the components of a type with sizes are called: of a sum with the constructor in front.
fn field_names(data: &Data, record: &Record) -> Rc<[String]> {
    let name = |(k, field): (usize, &jut_ir::Field)| {
        let con = &data.constructors[record.constructor_of(k)].name;
        match record.is_sum() {
            true => format!("{}_{}", con.rsplit('.').next().unwrap_or(con), field.name),
            false => field.name.to_string(),
        }
    };
    record.fields.iter().enumerate().map(name).collect()
}

/// How many components a data type would have if none were boxed.
fn flat_count(program: &Program, data: DataId) -> usize {
    fn of(ty: &Type, known: &[usize]) -> usize {
        match ty {
            Type::Float(_) | Type::I64 | Type::I32 | Type::Bool => 1,
            Type::Tuple(items) => items.iter().fold(0, |n, t| n.saturating_add(of(t, known))),
            Type::Array(_, element) => of(element, known),
            Type::Data(id) => known.get(id.index()).copied().unwrap_or(usize::MAX),
        }
    }
    let mut known = Vec::new();
    for data in program.datas.values() {
        let fields = data.constructors.iter().flat_map(|c| &c.fields);
        known.push(fields.fold(1usize, |n, field| n.saturating_add(of(&field.ty, &known))));
    }
    known.get(data.index()).copied().unwrap_or_default()
}

impl Layouts {
    /// Lays out all data types of a program for callers from outside, who know no boxes.
    ///
    /// # Errors
    /// J901 for a type with too many components.
    pub fn new(program: &Program) -> Result<Layouts, Diagnostic> {
        Layouts::with(program, None)
    }

    /// Lays out all data types of a program whose entry is `func`.
    ///
    /// # Errors
    /// As [`Layouts::new`], where only types of the entry's parameters and results can be too large.
    pub fn of_entry(program: &Program, func: &Function) -> Result<Layouts, Diagnostic> {
        Layouts::of_seen(program, &Seen::by_callers(program, &[func]))
    }

    /// Lays out all data types of a program whose callers look into the given ones.
    ///
    /// # Errors
    /// As [`Layouts::new`], where only types that callers see can be too large; and for a recursive one of these.
    pub fn of_seen(program: &Program, seen: &Seen) -> Result<Layouts, Diagnostic> {
        Layouts::with(program, Some(seen))
    }

    /// Whether data types are laid out as there, so that values may go from one program to another.
    pub fn agree(&self, other: &Layouts) -> bool {
        self.datas == other.datas
    }

    /// `seen` are the types that callers look into; none stands for all, but for recursive ones.
    fn with(program: &Program, seen: Option<&Seen>) -> Result<Layouts, Diagnostic> {
        let named = |data: &Data| data.record.as_deref().map(|record| field_names(data, record));
        // What is not laid out yet is what it will be to its own fields: a box.
        let boxed =
            DataLayout { components: [].into(), tagged: false, fields: vec![], boxed: true };
        let boxed = Rc::new(boxed);
        let mut layouts = Layouts {
            datas: vec![boxed; program.datas.len()],
            types: HashMap::default(),
            names: program.datas.values().map(named).collect(),
        };
        let count = program.datas.len();
        let uses = |k: usize, out: &mut Vec<usize>| {
            let fields = program.datas[DataId::new(k)].constructors.iter().flat_map(|c| &c.fields);
            fields.for_each(|f| f.ty.for_each_data(&mut |other| out.push(other.index())));
        };
        for component in strongly_connected(count, 0..count, uses) {
            for id in component.members.into_iter().map(DataId::new) {
                let data = &program.datas[id];
                let is_seen = seen.is_some_and(|seen| seen.0.contains(&id));
                if is_seen && component.is_recursive {
                    return Err(from_outside(data));
                }
                let may_be_boxed = (seen.is_some() && !is_seen) || component.is_recursive;
                let layout = layouts.data_layout(data, may_be_boxed)?;
                let boxed = layout.boxed || component.is_recursive;
                layouts.datas[id.index()] = Rc::new(DataLayout { boxed, ..layout });
            }
        }
        Ok(layouts)
    }

    /// The layout of a data type.
    pub fn data(&self, id: DataId) -> Rc<DataLayout> {
        self.datas[id.index()].clone()
    }

    /// The components of a type.
    pub fn of(&mut self, ty: &Type) -> Rc<[Component]> {
        if let Some(known) = self.types.get(ty) {
            return known.clone();
        }
        let components: Rc<[Component]> = match ty {
            Type::Float(width) => [Component::scalar(Kind::Scalar(Scalar::Float(*width)))].into(),
            Type::I64 => [Component::scalar(Kind::I64)].into(),
            Type::I32 => [Component::scalar(Kind::I32)].into(),
            Type::Bool => [Component::scalar(Kind::BOOL)].into(),
            Type::Data(id) if self.datas[id.index()].boxed => [Component::boxed()].into(),
            Type::Data(id) => self.datas[id.index()].components.clone(),
            Type::Tuple(items) => {
                let mut all = Vec::new();
                let names = match items.last() {
                    Some(Type::Data(mark)) => self.names.get(mark.index()).cloned().flatten(),
                    _ => None,
                };
                for (k, item) in items.iter().enumerate() {
                    let prefix = match names.as_ref().and_then(|names| names.get(k)) {
                        Some(name) => format!("_{name}"),
                        // The mark of a sum is a tag, which has a name.
                        None if names.is_some() => String::new(),
                        None => format!("_{k}"),
                    };
                    let by = all.len();
                    all.extend(self.of(item).iter().map(|c| c.moved(&prefix, by)));
                }
                all.into()
            }
            Type::Array(size, element) => {
                self.of(element).iter().map(|c| array_of(size, c)).collect()
            }
        };
        self.types.insert(ty.clone(), components.clone());
        components
    }

    /// The components of each item of a tuple, among those of the tuple.
    pub fn items(&mut self, items: &[Type]) -> Vec<Range<usize>> {
        let mut end = 0;
        let item = |ty: &Type| {
            let start = end;
            end += self.count(ty);
            start..end
        };
        items.iter().map(item).collect()
    }

    /// The same of the k-th item alone.
    pub fn item(&mut self, items: &[Type], k: usize) -> Range<usize> {
        let start = items.iter().take(k).map(|t| self.count(t)).sum();
        start..start + items.get(k).map_or(0, |t| self.count(t))
    }

    /// How many components a type has.
    fn count(&mut self, ty: &Type) -> usize {
        if ty.is_scalar() { 1 } else { self.of(ty).len() }
    }

    fn data_layout(&mut self, data: &Data, may_be_boxed: bool) -> Result<DataLayout, Diagnostic> {
        let tagged = data.constructors.len() != 1;
        let mut all = Vec::new();
        if tagged {
            all.push(Component { suffix: "_tag".into(), ..Component::scalar(Kind::I64) });
        }
        let mut constructors = Vec::new();
        for (number, con) in (0..).zip(&data.constructors) {
            let last = con.name.rsplit('.').next().unwrap_or(&con.name);
            // Where each field starts, for the sizes that name one: it is one scalar, so that is its
            // number. One list for all fields, because a tape may have millions.
            let mut next = all.len();
            let mut start_of = |field: &jut_ir::Field| {
                let start = next;
                next += self.of(&field.ty).len();
                start
            };
            let starts: Rc<[usize]> = con.fields.iter().map(&mut start_of).collect();
            let mut ranges: Vec<Range<usize>> = Vec::with_capacity(con.fields.len());
            for field in &con.fields {
                let prefix = if tagged {
                    format!("_{last}_{}", field.name)
                } else {
                    format!("_{}", field.name)
                };
                let start = all.len();
                for c in self.of(&field.ty).iter() {
                    let mut c = c.moved(&prefix, start);
                    if tagged {
                        c.only_if.insert(0, (0, number));
                    }
                    for level in &mut c.levels {
                        enter_data(level, &starts, tagged);
                    }
                    all.push(c);
                }
                if all.len() > MAX_COMPONENTS && !may_be_boxed {
                    return Err(too_large(data));
                }
                ranges.push(start..all.len());
            }
            constructors.push(ranges);
        }
        // Names of parts grow along a chain of records, too.
        let long = all.iter().any(|c| c.suffix.len() > MAX_SUFFIX);
        let boxed = may_be_boxed && (all.len() > MAX_FLAT || long);
        Ok(DataLayout { components: all.into(), tagged, fields: constructors, boxed })
    }
}

/// `[size]` of something that has the component `c`.
fn array_of(size: &Size, c: &Component) -> Component {
    let mut c = c.clone();
    // Whether its cells have the component depends on the element.
    c.only_if.clear();
    match c.levels.first_mut() {
        Some(level) if !level.pinned => level.dims.insert(0, size.clone()),
        _ => c
            .levels
            .insert(0, Level { dims: vec![size.clone()], scope: Scope::Function, pinned: false }),
    }
    c
}

/// A level of a field's type becomes a level of the data type.
fn enter_data(level: &mut Level, field_starts: &Rc<[usize]>, tagged: bool) {
    if level.scope == Scope::Function {
        let constant = level.dims.iter().all(|d| d.as_constant().is_some());
        if !constant {
            level.scope = Scope::Fields(field_starts.clone());
        }
        level.pinned |= tagged || !constant;
    } else {
        level.pinned = true;
    }
}

fn from_outside(data: &Data) -> Diagnostic {
    let message =
        format!("not built yet: values of the recursive data type `{}` from outside", data.name);
    Diagnostic::error("J901", data.span, message).help(
        "make the value in a definition, from arrays: call that one, whose parameters and results are numbers and arrays",
    )
}

/// The data types of which a value of a type is made.
fn outside(program: &Program, ty: &Type, seen: &mut HashSet<DataId>) {
    match ty {
        Type::Float(_) | Type::I64 | Type::I32 | Type::Bool => {}
        Type::Tuple(items) => items.iter().for_each(|t| outside(program, t, seen)),
        Type::Array(_, element) => outside(program, element, seen),
        Type::Data(id) => {
            if seen.insert(*id)
                && let Some(data) = program.datas.get(*id)
            {
                let fields = data.constructors.iter().flat_map(|c| &c.fields);
                fields.for_each(|f| outside(program, &f.ty, seen));
            }
        }
    }
}

fn too_large(data: &Data) -> Diagnostic {
    Diagnostic::error(
        "J901",
        data.span,
        format!(
            "not built yet: a value of type `{}` would have more than {MAX_COMPONENTS} components",
            data.name
        ),
    )
    .help("give the parts to functions of their own, or keep fewer of them")
}
