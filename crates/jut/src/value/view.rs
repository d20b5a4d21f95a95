//! Views: arrays of other libraries as arguments, and what a session keeps of them.
//!
//! A view says its shape, and gives its elements where they lie if they lie row by row; else they are copied into memory
//! that the session keeps ([`Copied`]), so that further calls allocate nothing. *Cost*: nothing for what lies row by row,
//! else linear in the elements.

use super::{Arg, Array, Value};

/// A number, integer or truth value: what arrays are made of.
pub trait Element: Copy + Sync + Sized + 'static {
    /// A view of another library as an argument.
    fn view(view: &dyn View<Self>) -> Arg<'_>;

    /// The array in a value, if it is one of such elements.
    fn array(value: &Value) -> Option<&Array<Self>>;

    /// What it is called in programs.
    const NAME: &'static str;
}

/// An array of another library, as an argument. See the [module](self) for those that are built in.
pub trait View<T: Element>: Sync {
    /// Appends the sizes, outermost first.
    fn sizes(&self, to: &mut Vec<usize>);

    /// The elements, if they lie in memory row by row without gaps.
    fn row_major(&self) -> Option<&[T]>;

    /// Appends the elements row by row.
    fn copy(&self, to: &mut Vec<T>);
}

impl<T: Element> std::fmt::Debug for dyn View<T> + '_ {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut sizes = Vec::new();
        self.sizes(&mut sizes);
        write!(f, "{sizes:?}{}", T::NAME)
    }
}

macro_rules! element {
    ($scalar:ty, $name:literal, $view:ident, $many:ident) => {
        impl Element for $scalar {
            fn view(view: &dyn View<Self>) -> Arg<'_> {
                Arg::$view(view)
            }

            fn array(value: &Value) -> Option<&Array<Self>> {
                match value {
                    Value::$many(array) => Some(array),
                    _ => None,
                }
            }

            const NAME: &'static str = $name;
        }
    };
}

element!(f64, "f64", F64View, F64s);
element!(i64, "i64", I64View, I64s);
element!(bool, "bool", BoolView, Bools);

/// What a session keeps of a view: its shape, and its elements where they had to be copied.
#[derive(Default)]
pub(crate) struct Copied {
    sizes: Vec<usize>,
    f64s: Vec<f64>,
    i64s: Vec<i64>,
    bools: Vec<bool>,
}

impl Copied {
    /// Takes note of a view.
    pub fn take(&mut self, arg: &Arg<'_>) {
        fn one<T: Element>(view: &dyn View<T>, sizes: &mut Vec<usize>, cells: &mut Vec<T>) {
            sizes.clear();
            view.sizes(sizes);
            cells.clear();
            if view.row_major().is_none() {
                view.copy(cells);
            }
        }
        match *arg {
            Arg::F64View(view) => one(view, &mut self.sizes, &mut self.f64s),
            Arg::I64View(view) => one(view, &mut self.sizes, &mut self.i64s),
            Arg::BoolView(view) => one(view, &mut self.sizes, &mut self.bools),
            _ => {}
        }
    }

    /// The view that was taken note of as a slice with its shape; any other argument as it is.
    pub fn plain<'c>(&'c self, arg: Arg<'c>) -> Arg<'c> {
        match arg {
            Arg::F64View(view) => {
                Arg::F64s(view.row_major().unwrap_or(&self.f64s), Some(&self.sizes))
            }
            Arg::I64View(view) => {
                Arg::I64s(view.row_major().unwrap_or(&self.i64s), Some(&self.sizes))
            }
            Arg::BoolView(view) => {
                Arg::Bools(view.row_major().unwrap_or(&self.bools), Some(&self.sizes))
            }
            other => other,
        }
    }
}
