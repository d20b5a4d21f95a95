//! Records with sizes as parameters: `data Net[n] = Net(w: [n]f64, b: f64)`.
//!
//! The type `Net[k]` is a tuple with a mark behind its components, `#([k]f64, f64, Net)`: the mark is a data type with one
//! constructor and no fields, which has a [`Record`]. So sizes stand in such a type as in any other, arrays
//! of such records are tuples of arrays, tangents are tuples, and no pass, engine or rule of types knows of them. The
//! mark makes records of one shape different types, and says what the components are called, at the border too.
//!
//! The sizes of a record are those of its components: each parameter stands as a size of a field, alone or with a number
//! added, `start: [m + 1]i64`, so a type has one reading.
//!
//! A sum with sizes is the same with several constructors. It has the fields of all of them, and its mark, which has
//! the constructors without their fields, says whose are meant. The others are zero:
//!
//! ```text
//! data Shape[n] = Ball(centre: [n]f64, radius: f64) | Box(low: [n]f64, high: [n]f64)
//! Shape[k]                     #([k]f64, f64, [k]f64, [k]f64, Shape), where `data Shape = Ball | Box`
//! Ball(x, 1.0)                 #(x, 1.0, 0, 0, Ball())
//! ```
//!
//! So sizes do not depend on which constructor it is, and no pass knows of sums with sizes either. The price is room for
//! the fields of all constructors in every value.

use crate::data::{Constructor, Data, Record};
use crate::entity::{DataId, EntityRef};
use crate::ir::Program;
use crate::types::Type;

impl Program {
    /// The mark behind the components of a tuple, if it is a record with sizes, and what it stands for.
    pub fn record(&self, items: &[Type]) -> Option<(DataId, &Data, &Record)> {
        let Some(Type::Data(id)) = items.last() else { return None };
        let data = self.datas.get(*id)?;
        let record = data.record.as_deref()?;
        (items.len() == record.fields.len() + 1).then_some((*id, data, record))
    }

    /// The constructor whose values have the fewest others in each other: of a recursive type one that ends. `None` if none does
    /// but by arrays without elements.
    pub fn plainest(&self, data: DataId) -> Option<usize> {
        /// How many values are in each other at least.
        fn depth(ty: &Type, known: &[Option<usize>]) -> Option<usize> {
            match ty {
                Type::Data(data) => known.get(data.index()).copied().flatten(),
                Type::Tuple(items) => {
                    items.iter().map(|t| depth(t, known)).try_fold(0, |n, d| Some(n.max(d?)))
                }
                Type::Array(_, element) => depth(element, known),
                _ => Some(0),
            }
        }
        let of = |con: &Constructor, known: &[Option<usize>]| {
            let depths = con.fields.iter().map(|field| depth(&field.ty, known));
            depths.into_iter().try_fold(0, |n, d| Some(n.max(d?))).map(|n: usize| n + 1)
        };
        // What is found in the k-th round has k values in each other.
        let mut known: Vec<Option<usize>> = vec![None; self.datas.len()];
        loop {
            let round: Vec<Option<usize>> = self
                .datas
                .values()
                .zip(&known)
                .map(|(data, known_here)| {
                    known_here
                        .or_else(|| data.constructors.iter().filter_map(|c| of(c, &known)).min())
                })
                .collect();
            if round == known {
                break;
            }
            known = round;
        }
        let constructors = self.datas[data].constructors.iter().enumerate();
        constructors.filter_map(|(k, con)| Some((of(con, &known)?, k))).min().map(|(_, k)| k)
    }

    /// The components of a tuple without the mark of a record: those that its values have at the border. The mark of a sum
    /// stays, because it says which constructor it is.
    ///
    /// ```
    /// use jut_ir::{Program, Type};
    /// let pair = [Type::F64, Type::I64];
    /// assert_eq!(Program::default().components(&pair), &pair);
    /// ```
    pub fn components<'t>(&self, items: &'t [Type]) -> &'t [Type] {
        match (self.record(items), items.split_last()) {
            (Some((.., record)), Some((_, components))) if !record.is_sum() => components,
            _ => items,
        }
    }
}
