//! Arrays of other libraries as arguments and results.
//!
//! With the feature `ndarray`, `nalgebra` or `faer`, a reference to an array or view of that library
//! converts into an [`Arg`] like a slice, with its shape:
//!
//! | feature | argument | is a |
//! |---|---|---|
//! | `ndarray` | `&ArrayBase` of any rank: arrays, views, slices of views | array of that rank |
//! | `nalgebra` | `&DVector`, `&SVector`, `&RowDVector`, views of one static column or row | vector |
//! | | `&DMatrix`, `&SMatrix`, views of them | matrix |
//! | `faer` | `&Col`, `&ColRef`, `&Row`, `&RowRef` | vector |
//! | | `&Mat`, `&MatRef` | matrix |
//!
//! **What is copied.** jut's arrays lie row by row without gaps. What lies so is borrowed: ndarray's
//! arrays in standard layout and such views; vectors of nalgebra (but views) and faer whose elements
//! are neighbours. Everything else (column-major matrices, so all of nalgebra's and faer's; transposed,
//! strided or reversed views) is copied element by element into memory that the session keeps, so that
//! further calls allocate nothing. A column-major matrix costs no copy if the program takes its
//! transpose: pass its slice with the shape `&[columns, rows]`.
//!
//! Results lie row by row in the session. They are borrowed as `ndarray::ArrayView`, as
//! `nalgebra::DMatrixView` and `DVectorView`, as `faer::MatRef` and `ColRef`, without a copy (the strides
//! say how they lie); each library makes owned ones of these.

#[cfg(any(feature = "ndarray", feature = "nalgebra", feature = "faer"))]
use crate::error::Error;
use crate::error::Result;
use crate::interface::Results;
use crate::value::{Arg, Array, Value};

#[cfg(feature = "faer")]
mod faer;
#[cfg(feature = "nalgebra")]
mod nalgebra;
#[cfg(feature = "ndarray")]
mod ndarray;

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

impl Results<'_> {
    /// An array of any rank by name: its shape, and its elements row by row.
    ///
    /// ```
    /// # fn main() -> jut::Result<()> {
    /// let model = jut::Model::from_text("def f[n](x: [n]f64) -> [n, n]f64 =
    ///   build (i < n) { build (j < n) { x[i] * x[j] } }")?;
    /// let mut session = model.function("f")?.value()?.session();
    /// let results = session.call(&[(&[1.0, 2.0]).into()])?;
    /// assert_eq!(results.array::<f64>("value")?, (&[2, 2][..], &[1.0, 2.0, 2.0, 4.0][..]));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::Request`](crate::Error::Request) if there is no result of this name and type.
    pub fn array<T: Element>(&self, name: &str) -> Result<(&[usize], &[T])> {
        let array = self.leaf(name).and_then(T::array);
        let array =
            array.ok_or_else(|| self.no_result(name, &format!("an array of {}", T::NAME)))?;
        Ok((&array.shape, &array.data))
    }

    /// The same for an array of a certain rank.
    #[cfg(any(feature = "nalgebra", feature = "faer"))]
    fn array_of_rank<T: Element, const R: usize>(&self, name: &str) -> Result<([usize; R], &[T])> {
        let (shape, data) = self.array(name)?;
        match <[usize; R]>::try_from(shape) {
            Ok(shape) => Ok((shape, data)),
            Err(_) => Err(wrong_rank(name, shape, &format!("{R} dimensions"))),
        }
    }
}

/// A result is asked for with another number of dimensions.
#[cfg(any(feature = "ndarray", feature = "nalgebra", feature = "faer"))]
fn wrong_rank(name: &str, shape: &[usize], wanted: &str) -> Error {
    Error::Request(format!(
        "the result `{name}` has {} dimensions, {shape:?}, and is asked for with {wanted}",
        shape.len()
    ))
}
