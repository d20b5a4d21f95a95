//! Vectors and matrices of `ndarray` and `nalgebra`. Which type is one, rustc knows: in a body it is a type with a name, like a struct, of which
//! elements are asked for.
//!
//! ```text
//! a[[i, j]], m[(i, j)]            a[i, j]
//! m.iter().sum()                  for (k < size(m) * size(m, 1)) { m[k % size(m), k / size(m)] }, where the elements are kept by columns
//! ```
//!
//! So the text has both forms where an iterator begins, and the linker takes the one of the type ([`Lowering::element_at`]). Methods are those of the
//! types in `jut::rust`; a vector that is made is a list.

use crate::lowering::Lowering;
use crate::syntax::unwrapped;
use crate::value::Value;
use syn::Expr;

impl Lowering<'_> {
    /// How many elements a list has. Of a matrix these are those of all its rows.
    pub fn count_of(&self, list: &Value) -> String {
        let (of, size) = (&list.text, format!("size({})", list.text));
        let ty = self.resolve(&list.ty);
        match (self.only("plain", &ty), self.only("matrix", &ty)) {
            (Some(plain), Some(matrix)) => format!(
                "{}{size}{}{}({size} * size({of}, 1)){}",
                plain.0, plain.1, matrix.0, matrix.1
            ),
            _ => size,
        }
    }

    /// The text of the element of a list that an iterator gives at an index: of a matrix, of all its rows in their order, or in that of its columns.
    pub fn element_at(&self, list: &Value) -> impl Fn(&str) -> String + use<> {
        let (list, ty) = (list.text.clone(), self.resolve(&list.ty));
        let tags = ["plain", "rows", "columns"].map(|of| self.only(of, &ty));
        move |i| match &tags {
            [Some(plain), Some(rows), Some(columns)] => format!(
                "{list}[{}{i}{}{}{i} / size({list}, 1), {i} % size({list}, 1){}{}{i} % size({list}), {i} / size({list}){}]",
                plain.0, plain.1, rows.0, rows.1, columns.0, columns.1
            ),
            _ => format!("{list}[{i}]"),
        }
    }
}

/// The row and the column of `m[(i, j)]`, or `m[[i, j]]`.
pub(crate) fn of_a_matrix(index: &Expr) -> Option<(&Expr, &Expr)> {
    let both: Vec<&Expr> = match unwrapped(index) {
        Expr::Tuple(tuple) => tuple.elems.iter().collect(),
        Expr::Array(array) => array.elems.iter().collect(),
        _ => return None,
    };
    match both[..] {
        [row, column] => Some((row, column)),
        _ => None,
    }
}

/// A vector of `ndarray` or `nalgebra` that is made, as a list: `Array1::zeros(n)`.
pub(crate) fn made(name: &str, arguments: &[&Expr]) -> Option<Expr> {
    match (name, arguments) {
        ("zeros", [n]) => Some(syn::parse_quote!(vec![0.0; #n])),
        ("ones", [n]) => Some(syn::parse_quote!(vec![1.0; #n])),
        ("from_elem" | "from_element", [n, value]) => Some(syn::parse_quote!(vec![#value; #n])),
        ("from_vec", [list]) => Some((*list).clone()),
        _ => None,
    }
}
