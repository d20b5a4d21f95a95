//! The results of a call, by name, by position and by path.
//!
//! They stay where the call has put them, leaf by leaf; values are made of them when they are asked for. A name means a
//! derivative if there is one of this name, else a result. *Cost*: that of what is copied.

use super::Interface;
use crate::error::{Error, Result};
use crate::layout::Part;
use crate::ports::{ResultLayout, Role};
use crate::value::Value;

/// Numbers and arrays by name: of each kind what it says and the method, the same of its arrays, and the variants of values.
macro_rules! by_name {
    ($($one_is:literal, $one:ident: $number:ident, $many_is:literal, $many:ident: $numbers:ident;)*) => {
        $(
            #[doc = $one_is]
            ///
            /// # Errors
            /// [`Error::Request`] if there is no result of this name and type.
            pub fn $one(&self, name: &str) -> Result<$one> {
                match self.leaf(name) {
                    Some(Value::$number(x)) => Ok(*x),
                    _ => Err(self.no_result(name, concat!("an ", stringify!($one)))),
                }
            }

            #[doc = $many_is]
            ///
            /// # Errors
            /// As [`Results::f64`].
            pub fn $many(&self, name: &str) -> Result<&[$one]> {
                match self.leaf(name) {
                    Some(Value::$numbers(a)) => Ok(&a.data),
                    _ => Err(self.no_result(name, concat!("an array of ", stringify!($one)))),
                }
            }
        )*
    };
}

/// The results of a call.
pub struct Results<'s> {
    interface: &'s Interface,
    leaves: &'s [Value],
    /// All as values, if some are not made of leaves.
    unpacked: &'s [Option<Value>],
}

impl<'s> Results<'s> {
    pub(crate) fn new(interface: &'s Interface, leaves: &'s [Value]) -> Results<'s> {
        Results { interface, leaves, unpacked: &[] }
    }

    /// With values that are not made of leaves.
    pub(crate) fn with(self, unpacked: &'s [Option<Value>]) -> Results<'s> {
        Results { unpacked, ..self }
    }

    by_name! {
        "A float scalar, by name: a derivative if there is one of this name, else a result.", f64: F64,
        "An array of floats of any rank, row by row, by name.", f64s: F64s;
        "A float scalar of 32 bits, by name.", f32: F32,
        "An array of floats of 32 bits, by name.", f32s: F32s;
        "An integer, by name.", i64: I64,
        "An array of integers, by name.", i64s: I64s;
        "An integer of 32 bits, by name.", i32: I32,
        "An array of integers of 32 bits, by name.", i32s: I32s;
    }

    /// A result of any type as an owned value, by its position in [`Compiled::outputs`].
    pub fn value(&self, position: usize) -> Option<Value> {
        if !self.unpacked.is_empty() {
            return self.unpacked.get(position)?.clone();
        }
        let output = self.interface.outputs.get(position)?;
        let leaves = self.leaves.get(output.leaves.clone())?;
        output.layout.rebuild(leaves)
    }

    /// A result that is a number, a truth value or an array of such, where it lies.
    pub(crate) fn plain(&self, position: usize) -> Option<&'s Value> {
        let output = self.interface.outputs.get(position).filter(|_| self.unpacked.is_empty())?;
        self.leaves.get(output.leaves.start).filter(|_| output.layout.is_leaf())
    }

    /// The leaves of a result, where they lie, unless it is not made of leaves.
    pub(crate) fn parts(&self, position: usize) -> Option<&'s [Value]> {
        let output = self.interface.outputs.get(position).filter(|_| self.unpacked.is_empty())?;
        self.leaves.get(output.leaves.clone())
    }

    /// A leaf, where it lies.
    #[inline]
    pub(crate) fn at(&self, leaf: usize) -> Option<&'s Value> {
        self.leaves.get(leaf)
    }

    /// All results as owned values, in order.
    pub fn values(&self) -> Vec<Value> {
        (0..self.interface.outputs.len()).filter_map(|k| self.value(k)).collect()
    }

    /// A part of a result as an owned value, by a path of names: `net` or `net.first.w`, components of tuples by their
    /// numbers, `t.0`. Parts of derivatives have the names of the fields that they belong to; those of sums
    /// that of the constructor before, `shape.Circle.radius`.
    ///
    /// ```
    /// # fn main() -> jut::Result<()> {
    /// let model = jut::Model::from_text(
    ///     "data Layer = Layer(w: [2]f64, b: f64)
    ///      data Net = Net(first: Layer, steps: i64)
    ///      def f(net: Net) -> f64 = sum(net.first.w * net.first.w) + 3.0 * net.first.b",
    /// )?;
    /// let gradient = model.function("f")?.value_and_gradient()?;
    /// let net = gradient.read_json(serde_json::json!({
    ///     "net": {"first": {"w": [1.0, 2.0], "b": 0.5}, "steps": 7}
    /// }).as_object().expect("an object"))?;
    /// let mut session = gradient.session();
    /// let results = session.call(&[(&net[0]).into()])?;
    /// assert_eq!(results.f64s("net.first.w")?, [2.0, 4.0]);
    /// assert_eq!(results.f64("net.first.b")?, 3.0);
    /// assert_eq!(results.part("net.first").map(|first| first.floats()), Some(vec![2.0, 4.0, 3.0]));
    /// # Ok(())
    /// # }
    /// ```
    pub fn part(&self, path: &str) -> Option<Value> {
        let named = |o: &&ResultLayout| o.name == path && o.packed.is_some();
        let outputs = &self.interface.outputs;
        let mut packed = outputs.iter().filter(named);
        if let Some(output) = packed.clone().find(|o| o.role == Role::Derivative).or(packed.next())
        {
            let position = outputs.iter().position(|o| std::ptr::eq(o, output))?;
            return self.unpacked.get(position)?.clone();
        }
        let (part, leaves) = self.place(path)?;
        part.rebuild(leaves)
    }

    /// A result or a part of it, and its leaves.
    fn place(&self, path: &str) -> Option<(Part<'s>, &'s [Value])> {
        let of = |name: &str| {
            let named = || self.interface.outputs.iter().filter(|o| o.name == name);
            named().find(|o| o.role == Role::Derivative).or_else(|| named().next())
        };
        let (output, rest) = match of(path) {
            // The lists in it are nobody's business.
            Some(output) if output.packed.is_some() => return None,
            Some(output) => (output, ""),
            None => {
                let (name, rest) = path.split_once('.')?;
                (of(name).filter(|o| o.packed.is_none())?, rest)
            }
        };
        let part = output.layout.part(rest)?;
        let all = self.leaves.get(output.leaves.clone())?;
        Some((part, all.get(part.leaves())?))
    }

    pub(crate) fn leaf(&self, name: &str) -> Option<&'s Value> {
        match self.place(name)?.1 {
            [leaf] => Some(leaf),
            _ => None,
        }
    }

    pub(crate) fn no_result(&self, name: &str, what: &str) -> Error {
        let there: Vec<String> =
            self.interface.outputs.iter().map(|o| format!("{}: {}", o.name, o.shown)).collect();
        Error::Request(format!("no result `{name}` that is {what}; there is {}", there.join(", ")))
    }
}
