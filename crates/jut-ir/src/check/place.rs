//! Paths into arrays and tuples: element, row and slice types, and the cover of every access.

use super::walk::{Checked, Checker};
use crate::ir::*;
use crate::types::Type;

impl Checker<'_> {
    /// The type that a path leads to, from a value of type `ty`. A step after a slice is a step
    /// into the slice.
    pub(super) fn path(&self, ty: &Type, path: &[Step]) -> Checked<Type> {
        let mut slice;
        let mut ty = ty;
        for step in path {
            match (step, ty) {
                (Step::Field(k), Type::Tuple(items)) => {
                    let Some(item) = items.get(*k as usize) else {
                        let message = format!("{} has no component .{k}", self.show(ty));
                        return Err(self.error("J204", message));
                    };
                    ty = item;
                }
                (Step::Field(k), _) => {
                    let message = format!(".{k} of {}, which is not a tuple", self.show(ty));
                    return Err(self.error("J204", message));
                }
                (Step::Index { index, proved }, Type::Array(size, element)) => {
                    let form = self.size(*index, "index")?;
                    if !proved && !self.facts.covers(&form, size) {
                        let (index, size) = (self.show_atom(*index), self.show_size(size));
                        let message =
                            format!("no loop range or check shows that `{index}` < {size}");
                        let help = format!("say `check {index} < {size}` before{}", named(&size));
                        return Err(self.error_help("J301", message, help));
                    }
                    ty = element;
                }
                (Step::Slice { lo, len, proved }, Type::Array(size, element)) => {
                    let (first, length) = (self.size(*lo, "index")?, self.size(*len, "length")?);
                    if !proved && !self.facts.covers_slice(&first, &length, size) {
                        let (lo, len) = (self.show_atom(*lo), self.show_atom(*len));
                        let size = self.show_size(size);
                        let message =
                            format!("no check shows that {lo} ..+ {len} is within {size}");
                        let help =
                            format!("say `check {lo} ..+ {len} <= {size}` before{}", named(&size));
                        return Err(self.error_help("J301", message, help));
                    }
                    slice = Type::array(length, (**element).clone());
                    ty = &slice;
                }
                (Step::Index { .. } | Step::Slice { .. }, _) => {
                    let message = format!("{} is not an array", self.show(ty));
                    return Err(self.error("J205", message));
                }
            }
        }
        Ok(ty.clone())
    }

    /// The mode and type of a place, whose capability must be in scope and not hidden.
    pub(super) fn place(&self, place: &Place) -> Checked<(Mode, Type)> {
        let data = &self.func.caps[place.root];
        self.require(self.scope.has_cap(place.root), "J110", |_| {
            format!("capability `{}` is not in scope here", data.name)
        })?;
        if self.scope.is_hidden(place.root) {
            let message = format!("`{}` is sliced by a loop around", data.name);
            let help = format!(
                "use the name behind `slice` in the place of `{}[..]`, or do not slice it",
                data.name
            );
            return Err(self.error_help("J114", message, help));
        }
        Ok((data.mode, self.path(&data.ty, &place.path)?))
    }

    /// The type of a place of the given mode.
    pub(super) fn place_of_mode(&self, place: &Place, mode: Mode) -> Checked<Type> {
        let (found, ty) = self.place(place)?;
        self.require(found == mode, "J111", |c| {
            let name = &c.func.caps[place.root].name;
            let (found, mode) = (found.keyword(), mode.keyword());
            format!("`{name}` has mode `{found}`; this operation needs `{mode}`")
        })?;
        Ok(ty)
    }
}

/// What to add where a size is no operand.
fn named(size: &str) -> &'static str {
    let plain = |c: char| c.is_alphanumeric() || c == '_';
    if size.chars().all(plain) { "" } else { ", with a name for the size" }
}
