//! Arguments and results that are handed over in lists ([`crate::border`]), at each call.

use super::{Interface, Scratch};
use crate::bind::Sizes;
use crate::border;
use crate::error::{ArgumentError, Result};
use crate::ports::Like;
use crate::value::{Arg, Value};
use jut_ir::{NVar, Size, Type};

/// Arguments that are handed over in lists.
#[derive(Default)]
pub(super) struct InLists {
    /// For each argument its lists, if it is one of these.
    pub(super) values: Vec<Option<Value>>,
    /// Sizes that the function names: of which argument, and what they are.
    sizes: Vec<(usize, Size, i64)>,
}

impl InLists {
    /// The names that these sizes say.
    pub(super) fn names(&self) -> impl Iterator<Item = (NVar, i64)> {
        self.sizes.iter().filter_map(|(_, size, n)| Some((size.as_var()?, *n)))
    }
}

impl Interface {
    /// Whether any argument or result is handed over in lists.
    pub(crate) fn has_lists(&self) -> bool {
        let inputs = self.packed.iter().any(Option::is_some);
        inputs || self.outputs.iter().any(|o| o.packed.is_some())
    }

    /// The lists of those arguments that are handed over so. Arguments that results or other arguments are tangents of
    /// are kept in `points`; `kept` are those of a run before, and its results.
    pub(super) fn pack(
        &self,
        args: &[Arg<'_>],
        kept: &[Option<Value>],
        points: &mut Vec<Option<Value>>,
    ) -> std::result::Result<InLists, ArgumentError> {
        let mut made = InLists::default();
        let like = |like: &Option<Like>| match like {
            Some(Like::Input(k)) => Some(*k),
            _ => None,
        };
        let outputs = self.outputs.iter().filter(|o| o.packed.is_some()).map(|o| &o.like);
        let inputs = self.likes.iter().zip(&self.packed).filter(|(_, p)| p.is_some());
        let needed: Vec<usize> =
            outputs.chain(inputs.map(|(like, _)| like)).filter_map(like).collect();
        for (k, arg) in args.iter().enumerate() {
            let is_needed = self.keeps || needed.contains(&k);
            points.push(is_needed.then(|| border::owned(*arg)).flatten());
        }
        let types: Vec<(&Type, &str)> = self.params().collect();
        for (k, (arg, packed)) in args.iter().zip(&self.packed).enumerate() {
            let Some((ty, shown)) = packed else {
                made.values.push(None);
                continue;
            };
            let name = &self.inputs[k].0;
            let misfit = |reason: String| {
                let reason = format!("does not fit `{name}: {shown}`: {reason}");
                let help = "give values as the data type declares them";
                ArgumentError::new("A02", name, reason, help).at(self.binder.span_of(k))
            };
            let lists = border::pack(&self.program, ty, *arg).map_err(misfit)?;
            let point = match &self.likes[k] {
                Some(Like::Input(of)) => {
                    types.get(*of).map(|(ty, _)| *ty).zip(points.get(*of).and_then(Option::as_ref))
                }
                Some(Like::Kept(of, ty)) => Some(ty).zip(kept.get(*of).and_then(Option::as_ref)),
                Some(Like::Output(_)) | None => None,
            };
            if let Some(point) = point {
                border::fits(&self.program, point, *arg).map_err(misfit)?;
            }
            made.sizes.extend(lists.sizes.iter().map(|(size, n)| (k, size.clone(), *n)));
            made.values.push(Some(lists.into_value()));
        }
        Ok(made)
    }

    /// A size of an argument in lists that is not that of its type.
    pub(super) fn wrong_size(&self, lists: &InLists, sizes: &Sizes) -> Option<ArgumentError> {
        let wrong = |(_, size, n): &&(usize, Size, i64)| sizes.eval(size) != Some(*n);
        let (k, size, n) = lists.sizes.iter().find(wrong)?;
        let (name, _) = &self.inputs[*k];
        let declared = sizes.eval(size).unwrap_or_default();
        let shown = self.packed[*k].as_ref().map_or("", |(_, shown)| shown);
        let reason = format!("does not fit `{name}: {shown}`: {n} elements, expected {declared}");
        let help = "arrays have the sizes that their types say";
        Some(ArgumentError::new("A03", name, reason, help).at(self.binder.span_of(*k)))
    }

    /// The arguments of the last call, then its results, for derivatives there.
    pub fn kept(&self, scratch: &mut Scratch, leaves: &[Value]) -> Vec<Option<Value>> {
        let mut all = std::mem::take(&mut scratch.points);
        all.extend(self.outputs.iter().enumerate().map(|(k, output)| match &output.packed {
            Some(_) => scratch.unpacked.get(k).cloned().flatten(),
            None => output.layout.rebuild(leaves.get(output.leaves.clone()).unwrap_or_default()),
        }));
        all
    }

    /// Takes the results that are handed over in lists out of these, after a call.
    ///
    /// # Errors
    /// A result that is too deep, and a cotangent that is not one of the result.
    pub fn unpack(&self, scratch: &mut Scratch, leaves: &[Value], args: &[Arg<'_>]) -> Result<()> {
        scratch.unpacked.clear();
        if !self.has_lists() {
            return Ok(());
        }
        let types: Vec<(&Type, &str)> = self.params().collect();
        for output in &self.outputs {
            let flat = leaves.get(output.leaves.clone()).unwrap_or_default();
            let flat = output.layout.rebuild(flat);
            let (Some(ty), Some(flat)) = (&output.packed, &flat) else {
                scratch.unpacked.push(flat);
                continue;
            };
            let like = match &output.like {
                Some(Like::Input(k)) => {
                    let point = scratch.points.get(*k).and_then(Option::as_ref);
                    types.get(*k).map(|(ty, _)| *ty).zip(point)
                }
                Some(Like::Output(k)) => {
                    let ty = self.outputs.get(*k).map(|o| o.packed.as_ref().unwrap_or(&o.ty));
                    ty.zip(scratch.unpacked.get(*k).and_then(Option::as_ref))
                }
                Some(Like::Kept(k, ty)) => {
                    Some(ty).zip(scratch.kept.get(*k).and_then(Option::as_ref))
                }
                None => None,
            };
            let value = border::unpack(&self.program, ty, flat, like).map_err(|reason| {
                let reason = format!("not handed out as a result: {reason}");
                let help = "return what is computed of it, or numbers in an array";
                self.placed(ArgumentError::new("A06", &output.name, reason, help))
            })?;
            scratch.unpacked.push(Some(value));
        }
        for (k, like) in self.likes.iter().enumerate() {
            let Some(Like::Output(of)) = like else { continue };
            let (Some(output), Some(Some(point)), Some(arg)) =
                (self.outputs.get(*of), scratch.unpacked.get(*of), args.get(k))
            else {
                continue;
            };
            let Some((_, shown)) = &self.packed[k] else { continue };
            let ty = output.packed.as_ref().unwrap_or(&output.ty);
            border::fits(&self.program, (ty, point), *arg).map_err(|reason| {
                let name = &self.inputs[k].0;
                let reason = format!("does not fit `{name}: {shown}`: {reason}");
                let help = "a cotangent has the shape of the result";
                let error = ArgumentError::new("A02", name, reason, help);
                self.placed(error.at(self.binder.span_of(k)))
            })?;
        }
        Ok(())
    }
}
