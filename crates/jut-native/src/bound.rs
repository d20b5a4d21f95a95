//! Calls whose lengths are known before they are made.
//!
//! [`Checked::call`] works out from the arguments how many cells each buffer must have: polynomials in
//! the integers that are passed. Where one function is called again and again with arrays of the same
//! sizes, that is always the same; [`Checked::bind`] does it once. What is left of a call is a
//! comparison of each slice's length, a comparison of each integer that says a length, and the call.
//!
//! *Ensures*: as [`Checked`], that no argument can make compiled code read or write outside what it was
//! given: an argument that says a length has the value that it was bound with. *Cost*: a few
//! nanoseconds; nothing is ever allocated.

use crate::call::Arg;
use crate::checked::{Checked, Results};
use jut_ir::RuntimeError;
use jut_loop::form::{Cell, Kind, Role};
use jut_runtime::Workspace;
use std::marker::PhantomData;
use std::sync::Arc;

/// A program with the lengths of its arguments, for one thread at a time.
#[derive(Debug)]
pub struct Bound {
    checked: Arc<Checked>,
    /// The parameters that a call gives, in order.
    given: Vec<Parameter>,
    /// The numbers of the others, integers that are the same in every call.
    constant: Vec<usize>,
    /// A word for each parameter; those of constants stay as they are.
    words: Vec<u64>,
    /// A word for each result, then its number of cells.
    returned: Vec<u64>,
    /// Whether any result is a buffer, whose number of cells is to be worked out.
    buffers: bool,
}

/// What an argument must be.
#[derive(Clone, Copy, Debug)]
struct Parameter {
    number: usize,
    kind: Kind,
    written: bool,
    expected: Expected,
}

/// What an argument is held against.
#[derive(Clone, Copy, Debug)]
enum Expected {
    /// Nothing: any number will do.
    Any,
    /// An integer that says a length has this value.
    Word(u64),
    /// A slice has so many cells.
    Cells(usize),
}

impl Checked {
    /// Works out the lengths for the integers with these numbers. Parameters that are `constant` have
    /// the integer's value in every call, and are not given.
    ///
    /// `None` if a length is more than memory can hold, or is not known before a call: that of a buffer
    /// of a constructor, which an argument may have or not, or of buffers of buffers; or if a constant
    /// is no integer.
    pub fn bind(
        self: &Arc<Checked>,
        integer: &mut dyn FnMut(usize) -> i64,
        constant: &dyn Fn(usize) -> bool,
    ) -> Option<Bound> {
        let compiled = self.compiled();
        let mut says_length = vec![false; compiled.params().len()];
        for number in self.length_names() {
            if let Some(says) = says_length.get_mut(number) {
                *says = true;
            }
        }
        let (mut given, mut constants) = (Vec::new(), Vec::new());
        for (number, (kind, role)) in compiled.params().iter().enumerate() {
            let expected = match kind {
                Kind::Buffer(Cell::Buffer | Cell::Word) => return None,
                Kind::Buffer(_) if self.is_conditional(number) => return None,
                Kind::Buffer(_) => Expected::Cells(0),
                _ if says_length[number] => Expected::Word(0),
                _ => Expected::Any,
            };
            if constant(number) {
                // The word of a buffer would have to be a pointer.
                if *kind != Kind::I64 {
                    return None;
                }
                constants.push(number);
                continue;
            }
            given.push(Parameter { number, kind: *kind, written: *role != Role::In, expected });
        }
        let results = compiled.results();
        let buffers = results.iter().any(|kind| matches!(kind, Kind::Buffer(_)));
        let (words, returned) = (vec![0; compiled.params().len()], vec![0; 2 * results.len()]);
        let checked = self.clone();
        let mut bound = Bound { checked, given, constant: constants, words, returned, buffers };
        bound.rebind(integer).then_some(bound)
    }
}

impl Bound {
    /// Works out the lengths for other integers. Whether none is more than memory can hold; if one is,
    /// no arguments fit until they are worked out again.
    #[must_use]
    pub fn rebind(&mut self, integer: &mut dyn FnMut(usize) -> i64) -> bool {
        for parameter in &mut self.given {
            let number = parameter.number;
            match &mut parameter.expected {
                Expected::Any => {}
                Expected::Word(word) => *word = integer(number) as u64,
                // No slice has this many.
                Expected::Cells(cells) => {
                    *cells = self.checked.cells(number, integer).unwrap_or(usize::MAX);
                }
            }
        }
        for number in &self.constant {
            self.words[*number] = integer(*number) as u64;
        }
        !self.given.iter().any(|p| matches!(p.expected, Expected::Cells(usize::MAX)))
    }

    /// Whether the program returns buffers of its own, and not only numbers.
    pub fn returns_buffers(&self) -> bool {
        self.buffers
    }

    /// The number of cells that the buffer of a parameter has, by the parameter's number; 0 if it is
    /// none.
    pub fn cells(&self, number: usize) -> usize {
        match self.given.iter().find(|p| p.number == number).map(|p| p.expected) {
            Some(Expected::Cells(cells)) => cells,
            _ => 0,
        }
    }

    /// Begins a call: those arguments that are not constant are given to it one by one.
    #[inline]
    pub fn begin<'a>(&mut self) -> Beginning<'_, 'a> {
        Beginning { bound: self, next: 0, fits: true, arguments: PhantomData }
    }
}

/// A call that has some of its arguments.
pub struct Beginning<'b, 'a> {
    bound: &'b mut Bound,
    next: usize,
    fits: bool,
    /// The words of slices are pointers to them.
    arguments: PhantomData<Arg<'a>>,
}

impl<'b, 'a> Beginning<'b, 'a> {
    /// The next argument. Where it is written down of which variant it is, little is left of this.
    #[inline(always)]
    pub fn push(&mut self, mut arg: Arg<'a>) {
        let Some(parameter) = self.bound.given.get(self.next) else {
            self.fits = false;
            return;
        };
        self.next += 1;
        let (word, kind, writable) = arg.word();
        let fits = match arg.cells() {
            Some(cells) => matches!(parameter.expected, Expected::Cells(bound) if bound == cells),
            None => match parameter.expected {
                Expected::Any => true,
                Expected::Word(bound) => word == bound,
                Expected::Cells(_) => false,
            },
        };
        self.fits &= fits && kind == parameter.kind && (writable || !parameter.written);
        self.bound.words[parameter.number] = word;
    }

    /// Calls the program. The workspace is reset first; results stay in it until its next call.
    ///
    /// # Errors
    /// None if the number, a kind, a length or an integer that says a length is not what it was bound to
    /// be, in which case nothing has run; else how the program failed.
    #[inline(always)]
    pub fn call<'w>(self, workspace: &'w mut Workspace) -> Result<Results<'w>, Option<RuntimeError>>
    where
        'b: 'w,
    {
        let Bound { checked, given, words, returned, buffers, .. } = self.bound;
        if !self.fits || self.next != given.len() {
            return Err(None);
        }
        let kinds = checked.compiled().results();
        let (values, lengths) = returned.split_at_mut(kinds.len());
        // SAFETY: each parameter has a word of its kind, of this call or, if it is a constant, an
        // integer. Slices are as long as the signature says for the integers that
        // were bound, and every integer that a length depends on was just found to be that one, or is
        // constant. Those of a parameter that is written came from a `&mut`, and all of them are
        // borrowed for `'a`, which outlives this call.
        unsafe { checked.compiled().call_words(workspace, words, values) }.map_err(Some)?;
        if *buffers {
            let integer = &mut |n: usize| words.get(n).map_or(0, |word| *word as i64);
            checked.result_lengths(values, lengths, integer);
        }
        Ok(Results::new(kinds, returned, workspace.held()))
    }
}
