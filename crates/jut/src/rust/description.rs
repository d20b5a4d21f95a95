//! What a [`Source`] says, as a value. What is done with every function (its text put together, its derivatives compiled,
//! its errors placed) is code that takes this, compiled once, and not once for each function of a crate.

use super::{Cell, Filled, Linker, Program, Source, Type};
use std::any::TypeId;
use std::marker::PhantomData;

/// A source without its type.
pub(crate) struct Description {
    pub(super) id: fn() -> TypeId,
    pub(super) name: &'static str,
    pub(super) result: Type,
    pub(super) changed: &'static [bool],
    pub(super) parameters: &'static [Type],
    pub(super) wrt: &'static [usize],
    pub(super) define: fn(&mut Linker),
    pub(super) link: fn(&mut Linker) -> Filled,
    pub(super) second: Option<fn(&mut Linker, bool) -> Filled>,
    pub(super) program: fn() -> Option<&'static Program>,
    pub(super) cell: fn() -> &'static Cell,
    /// Whether it is the program in which rows have lengths of their own, whatever the text of a call says.
    pub(super) uneven: bool,
}

/// Where the description of a source stands.
struct Of<S>(PhantomData<S>);

impl<S: Source> Of<S> {
    const DESCRIPTION: Description = Description {
        id: TypeId::of::<S>,
        name: S::NAME,
        result: S::RESULT,
        changed: S::CHANGED,
        parameters: S::PARAMETERS,
        wrt: S::WRT,
        define: S::define,
        link: S::link,
        second: if S::TAKES_ROWS { Some(S::second_text) } else { None },
        program: S::program,
        cell: S::linked,
        uneven: false,
    };
}

impl Description {
    /// That of a source.
    pub(super) const fn of<S: Source>() -> &'static Description {
        &Of::<S>::DESCRIPTION
    }

    /// What is made of it once per process.
    #[inline(always)]
    pub(super) fn cell(&self) -> &'static Cell {
        match self.uneven {
            false => (self.cell)(),
            true => (self.cell)().uneven(),
        }
    }

    /// The same function in a program in which rows that are made have lengths of their own, if it makes any.
    #[cold]
    pub(super) fn with_rows(&self) -> Option<Description> {
        let there = !self.uneven && self.linked().is_ok_and(|linked| linked.makes_rows);
        let other = Description { uneven: true, ..*self };
        (there && other.linked().is_ok()).then_some(other)
    }
}
