//! Arguments taken apart into their leaves.
//!
//! Most leaves are borrowed from the argument. Two kinds are made ([`Columns`]): an array of a sum is given
//! as a list of its elements and becomes one array for each field; and a constructor that a value does
//! not have has leaves all the same, which are zero.

use super::{Component, Constructor, Form, Layout, Leaf, Node};
use crate::value::{Arg, Array, Number, Value, of_kind};
use jut_ir::{Scalar, Size};

/// Leaves that are made: those of arrays of sums, and of constructors that values do not have.
#[derive(Default, Debug)]
pub(crate) struct Columns {
    /// One after the other in the order of the leaves: for each the arrays of its fields, or why it
    /// has none.
    lists: Vec<Result<Vec<Value>, String>>,
    /// As many zeros as any array has that is not there.
    floats: Vec<f64>,
    singles: Vec<f32>,
    ints: Vec<i64>,
    narrow: Vec<i32>,
    bools: Vec<bool>,
}

/// Leaves that are made, still to be met.
pub(crate) struct Made<'a> {
    lists: std::slice::Iter<'a, Result<Vec<Value>, String>>,
    columns: &'a Columns,
}

impl Columns {
    /// Those in one value.
    pub fn of(layout: &Layout, arg: Arg<'_>) -> Columns {
        let mut all = Columns::with_absent(layout.absent_cells());
        all.add(layout, arg);
        all
    }

    /// None yet; arrays that are not there have at most so many cells.
    pub fn with_absent(cells: usize) -> Columns {
        let (floats, singles) = (vec![0.0; cells], vec![0.0; cells]);
        let (ints, narrow, bools) = (vec![0; cells], vec![0; cells], vec![false; cells]);
        Columns { lists: Vec::new(), floats, singles, ints, narrow, bools }
    }

    /// To be met one after the other.
    pub fn made(&self) -> Made<'_> {
        Made { lists: self.lists.iter(), columns: self }
    }

    /// Adds those in one more value.
    pub fn add(&mut self, layout: &Layout, arg: Arg<'_>) {
        self.add_node(layout, &layout.root, arg);
    }

    fn add_node(&mut self, layout: &Layout, node: &Node, arg: Arg<'_>) {
        if !node.has_list() {
            return;
        }
        let components: &[Component] = match &node.form {
            Form::Leaf => &[],
            Form::Tuple(components) => components,
            Form::Sum(constructors) => match arg {
                Arg::Data(name, _) => {
                    constructors.iter().find(|con| con.name == name).map_or(&[], |con| &con.fields)
                }
                _ => &[],
            },
            Form::List(constructors) => {
                self.lists.push(match arg {
                    Arg::List(items) => columns(layout, (node, constructors), items),
                    _ => Err("give a list of its elements".to_string()),
                });
                return;
            }
        };
        for (k, field) in components.iter().enumerate() {
            self.add_node(layout, &field.node, component(arg, k));
        }
    }

    /// A leaf that is not there; in an element of an array, the array's cell.
    fn absent(&self, leaf: &Leaf, in_element: bool) -> Arg<'_> {
        if in_element || leaf.dims.is_empty() {
            return of_kind!(leaf.scalar, T => T::default().arg());
        }
        let n = cells_if_absent(leaf);
        match leaf.scalar {
            Scalar::F64 => Arg::F64s(self.floats.get(..n).unwrap_or(&[]), None),
            Scalar::F32 => Arg::F32s(self.singles.get(..n).unwrap_or(&[]), None),
            Scalar::I64 => Arg::I64s(self.ints.get(..n).unwrap_or(&[]), None),
            Scalar::I32 => Arg::I32s(self.narrow.get(..n).unwrap_or(&[]), None),
            Scalar::Bool => Arg::Bools(self.bools.get(..n).unwrap_or(&[]), None),
        }
    }
}

impl Layout {
    /// Whether arrays of sums occur in it.
    pub fn has_list(&self) -> bool {
        self.root.has_list()
    }

    /// The leaves of an argument; `made` are its [`Columns`].
    ///
    /// # Errors
    /// What does not fit, in words.
    pub fn take_apart<'a>(
        &self,
        arg: Arg<'a>,
        made: &mut Made<'a>,
        out: &mut Vec<Arg<'a>>,
    ) -> Result<(), String> {
        TakeApart { layout: self, made, out, in_element: false }.node(&self.root, arg)
    }

    /// The most cells that an array has that is not there in a value, within reason.
    pub fn absent_cells(&self) -> usize {
        /// Beyond this, an argument does not fit.
        const MOST: usize = 1 << 24;
        fn most(layout: &Layout, node: &Node) -> usize {
            match &node.form {
                Form::Leaf | Form::List(_) => 0,
                Form::Tuple(components) => {
                    components.iter().map(|c| most(layout, &c.node)).max().unwrap_or(0)
                }
                Form::Sum(_) => {
                    let arrays = layout.leaves[node.leaves.clone()].iter();
                    let arrays = arrays.filter(|leaf| !leaf.dims.is_empty());
                    arrays.map(cells_if_absent).max().unwrap_or(0)
                }
            }
        }
        most(self, &self.root).min(MOST)
    }
}

impl Node {
    fn has_list(&self) -> bool {
        match &self.form {
            Form::Leaf => false,
            Form::Tuple(components) => components.iter().any(|c| c.node.has_list()),
            Form::Sum(constructors) => {
                constructors.iter().flat_map(|con| &con.fields).any(|field| field.node.has_list())
            }
            Form::List(_) => true,
        }
    }
}

struct TakeApart<'t, 'a> {
    layout: &'t Layout,
    made: &'t mut Made<'a>,
    out: &'t mut Vec<Arg<'a>>,
    /// Whether what is taken apart is an element of an array of a sum: its leaves are cells.
    in_element: bool,
}

impl<'a> TakeApart<'_, 'a> {
    fn node(&mut self, node: &Node, arg: Arg<'a>) -> Result<(), String> {
        match &node.form {
            Form::Leaf => match arg {
                // Views are made slices before arguments are taken apart, but for those in tuples.
                Arg::F64View(_) | Arg::I64View(_) | Arg::BoolView(_) => {
                    Err("as part of a tuple or record, give a slice and not a view".into())
                }
                _ => {
                    self.out.push(arg);
                    Ok(())
                }
            },
            Form::Tuple(components) => self.components(components, arg),
            Form::List(_) => {
                let missing = || Err("give a list of its elements".to_string());
                let next = self.made.lists.next();
                let list = next.map_or_else(missing, |l| l.as_ref().map_err(Clone::clone))?;
                self.out.extend(list.iter().map(column));
                Ok(())
            }
            Form::Sum(constructors) => self.sum(constructors, arg),
        }
    }

    fn components(&mut self, components: &[Component], arg: Arg<'a>) -> Result<(), String> {
        let count = components.len();
        match arg {
            Arg::Tuple(items) if items.len() == count => {}
            Arg::Values(items) | Arg::Data(_, items) if items.len() == count => {}
            _ => return Err(format!("give its {count} components in order")),
        }
        for (k, field) in components.iter().enumerate() {
            self.node(&field.node, component(arg, k))?;
        }
        Ok(())
    }

    fn sum(&mut self, constructors: &[Constructor], arg: Arg<'a>) -> Result<(), String> {
        let Arg::Data(name, _) = arg else {
            return Err("give the constructor and its fields".into());
        };
        let chosen = constructors.iter().position(|con| con.name == name).ok_or_else(|| {
            let names: Vec<&str> = constructors.iter().map(|con| con.name.as_str()).collect();
            format!("the constructors are {}", names.join(", "))
        })?;
        self.out.push(Arg::I64(i64::try_from(chosen).unwrap_or(i64::MAX)));
        for (number, con) in constructors.iter().enumerate() {
            if number == chosen {
                self.components(&con.fields, arg)?;
                continue;
            }
            for leaf in con.fields.iter().flat_map(|field| field.node.leaves.clone()) {
                let zero = self.made.columns.absent(&self.layout.leaves[leaf], self.in_element);
                self.out.push(zero);
            }
        }
        Ok(())
    }
}

/// The leaves of an array of a sum: for each leaf of the sum the array of its cells, which are zero where
/// the element has another constructor.
///
/// # Errors
/// What does not fit, in words.
fn columns(
    layout: &Layout,
    (node, constructors): (&Node, &[Constructor]),
    items: &[Value],
) -> Result<Vec<Value>, String> {
    let leaves = &layout.leaves[node.leaves.clone()];
    // The number of the constructor has no dimensions but those of the array.
    let rank = leaves.first().map_or(1, |tag| tag.dims.len());
    let mut elements: Vec<&Value> = items.iter().collect();
    let mut shape = vec![items.len()];
    for _ in 1..rank {
        let mut size = None;
        let mut inner = Vec::new();
        for element in elements {
            let Value::List(row) = element else {
                return Err(format!("lists of lists are needed, {rank} deep"));
            };
            if *size.get_or_insert(row.len()) != row.len() {
                return Err("the lists in it have different lengths".to_string());
            }
            inner.extend(row);
        }
        shape.push(size.unwrap_or(0));
        elements = inner;
    }
    let blank = |leaf: &Leaf| {
        let shape = shape.clone();
        of_kind!(leaf.scalar, T => T::values(Array { shape, data: Vec::new() }))
    };
    let mut columns: Vec<Value> = leaves.iter().map(blank).collect();
    let none = Columns::default();
    for (k, element) in elements.into_iter().enumerate() {
        let (mut made, mut cells) = (none.made(), Vec::new());
        TakeApart { layout, made: &mut made, out: &mut cells, in_element: true }
            .sum(constructors, element.into())
            .map_err(|e| format!("element {k}: {e}"))?;
        for (column, cell) in columns.iter_mut().zip(cells) {
            match (column, cell) {
                (Value::F64s(a), Arg::F64(x)) => a.data.push(x),
                (Value::F32s(a), Arg::F32(x)) => a.data.push(x),
                (Value::I32s(a), Arg::I32(x)) => a.data.push(x),
                (Value::I64s(a), Arg::I64(x)) => a.data.push(x),
                (Value::Bools(a), Arg::Bool(x)) => a.data.push(x),
                (_, other) => {
                    return Err(format!("element {k}: a field is {}", other.describe()));
                }
            }
        }
    }
    Ok(columns)
}

/// The cells of an array that is not there. A size that is a field of the same constructor is 0 then.
fn cells_if_absent(leaf: &Leaf) -> usize {
    leaf.dims.iter().map(size_if_absent).fold(1, usize::saturating_mul)
}

/// The size of an array that is not there, and so has fields of 0.
fn size_if_absent(size: &Size) -> usize {
    size.exact(&mut |_| 0).and_then(|n| usize::try_from(n).ok()).unwrap_or(0)
}

/// A field of an array of a sum. Of a list of rows that has none, nobody knows how long they are.
fn column(values: &Value) -> Arg<'_> {
    let unknown = |shape: &[usize]| shape.split_last().is_some_and(|(_, outer)| outer.contains(&0));
    match Arg::from(values) {
        arg if let Some((scalar, Some((_, Some(shape))))) = arg.plain()
            && unknown(shape) =>
        {
            of_kind!(scalar, T => T::args(&[], None))
        }
        arg => arg,
    }
}

/// The k-th component. Where there is none, the argument itself, which then fits nothing.
fn component(arg: Arg<'_>, k: usize) -> Arg<'_> {
    let part = match arg {
        Arg::Tuple(items) => items.get(k).copied(),
        Arg::Values(items) | Arg::Data(_, items) => items.get(k).map(Arg::from),
        _ => None,
    };
    part.unwrap_or(arg)
}
