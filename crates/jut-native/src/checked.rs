//! Calling a compiled program safely: with its signature at hand, every length is checked.
//!
//! The signature that lowering makes says of each buffer how many cells it has, as a product of
//! polynomials in the integer arguments. Before a call, each slice is held against that; after it,
//! returned buffers are given out as slices of the length that the signature says, for as long as
//! the workspace they lie in is not used again.
//!
//! *Ensures*: no argument can make compiled code read or write outside what it was given. *Cost*:
//! one evaluation of a polynomial per dimension; nothing is allocated once the list of result words
//! has grown to its size.

use crate::backend::Backend;
use crate::call::{Arg, CallError};
use crate::compiled::Compiled;
use crate::error::CompileError;
use cranelift_entity::EntityRef;
use jut_ir::Size;
use jut_loop::form::{Cell, Kind};
use jut_loop::lower::Lowered;
use jut_runtime::Workspace;
use std::slice;

/// A compiled program with the lengths of its buffers.
#[derive(Debug)]
pub struct Checked {
    compiled: Compiled,
    params: Vec<Length>,
    results: Vec<Length>,
}

/// What says how many cells a buffer has.
#[derive(Clone, Debug)]
struct Length {
    /// The dimensions, over ABI numbers.
    dims: Vec<Size>,
    /// The tags with which there is a buffer at all; see [`jut_loop::signature::AbiComponent`].
    only_if: Vec<(usize, i64)>,
}

impl Length {
    /// Whether the buffer belongs to a constructor that the value does not have.
    fn is_absent(&self, integer: &mut dyn FnMut(usize) -> i64) -> bool {
        self.only_if.iter().any(|(tag, con)| integer(*tag) != *con)
    }
}

/// A result of a call.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Returned<'w> {
    /// A float of 64 bits.
    F64(f64),
    /// A float of 32 bits.
    F32(f32),
    /// An integer of 64 bits.
    I64(i64),
    /// An integer of 32 bits.
    I32(i32),
    /// A truth value.
    Bool(bool),
    /// Floats in the workspace.
    F64s(&'w [f64]),
    /// Floats of 32 bits in the workspace.
    F32s(&'w [f32]),
    /// Integers in the workspace.
    I64s(&'w [i64]),
    /// Integers of 32 bits in the workspace.
    I32s(&'w [i32]),
    /// Truth values in the workspace.
    Bools(&'w [bool]),
    /// Buffers of buffers, which this interface does not open.
    Nested,
}

/// The results of a call, until the workspace is used again.
#[derive(Clone, Copy, Debug)]
pub struct Results<'w> {
    kinds: &'w [Kind],
    /// A word per result, then the number of cells of each.
    words: &'w [u64],
    held: usize,
}

impl Checked {
    /// Compiles what lowering made, with a backend's `compile`.
    ///
    /// That no access of the program leaves its buffers, and that its signature is its own, is what
    /// lowering ensures; it is taken on trust here.
    ///
    /// # Errors
    /// As the backend.
    pub fn compile(lowered: &Lowered, backend: &Backend) -> Result<Checked, CompileError> {
        let (compiled, signature) = (backend.compile(&lowered.program)?, &lowered.signature);
        let count = compiled.params().len() + compiled.results().len();
        let mut lengths: Vec<Option<Length>> = vec![None; count];
        let components = signature.params.iter().chain(&signature.results);
        for component in components.flat_map(|p| &p.components) {
            if let Some(slot) = lengths.get_mut(component.number) {
                let (dims, only_if) = (component.dims.clone(), component.only_if.clone());
                *slot = Some(Length { dims, only_if });
            }
        }
        let complete: Option<Vec<Length>> = lengths.into_iter().collect();
        match complete {
            Some(mut params) if signature.param_count == compiled.params().len() => {
                let results = params.split_off(signature.param_count);
                Ok(Checked { compiled, params, results })
            }
            _ => Err(CompileError::Malformed {
                function: signature.name.clone(),
                reason: "the signature is that of another function".to_owned(),
            }),
        }
    }

    /// The program.
    pub fn compiled(&self) -> &Compiled {
        &self.compiled
    }

    /// The number of cells that the buffer of the k-th parameter must have, given the values of
    /// the integer parameters by number; `None` if that is more than memory can hold.
    pub fn cells(&self, k: usize, integer: &mut dyn FnMut(usize) -> i64) -> Option<usize> {
        cells(&self.params.get(k)?.dims, integer)
    }

    /// Whether the buffer of the k-th parameter may also have no cells: it belongs to a constructor that
    /// the argument does not have.
    pub(crate) fn may_be_empty(&self, k: usize, integer: &mut dyn FnMut(usize) -> i64) -> bool {
        self.params.get(k).is_some_and(|length| length.is_absent(integer))
    }

    /// The numbers of the integers that say how long a buffer is: parameters first, then results.
    pub(crate) fn length_names(&self) -> impl Iterator<Item = usize> {
        let lengths = self.params.iter().chain(&self.results);
        lengths.flat_map(|length| {
            let dims = length.dims.iter().flat_map(Size::terms).flat_map(|(names, _)| names);
            dims.map(|name| name.index()).chain(length.only_if.iter().map(|(tag, _)| *tag))
        })
    }

    /// Whether the buffer of the k-th parameter belongs to a constructor.
    pub(crate) fn is_conditional(&self, k: usize) -> bool {
        self.params.get(k).is_some_and(|length| !length.only_if.is_empty())
    }

    /// Calls the program. The workspace is reset first; results stay in it until its next call.
    ///
    /// # Errors
    /// [`CallError::Arguments`] if the number, a kind or a length is wrong, [`CallError::Run`] if
    /// the program fails.
    pub fn call<'w>(
        &'w self,
        workspace: &'w mut Workspace,
        args: &mut [Arg<'_>],
        words: &'w mut Vec<u64>,
    ) -> Result<Results<'w>, CallError> {
        for (k, (arg, length)) in args.iter().zip(&self.params).enumerate() {
            let Some(given) = arg.cells() else { continue };
            let integer = &mut |n| integer(args, n);
            if given != 0 || !length.is_absent(integer) {
                check_length(self.compiled.name(), k, given, cells(&length.dims, integer))?;
            }
        }
        let kinds = self.compiled.results();
        let (values, lengths) = room_for(kinds, words);
        // SAFETY: every slice has the length that the program's signature says, which was just
        // checked; a parameter that is a buffer of buffers fits no `Arg`, and `call` refuses it.
        unsafe { self.compiled.call(workspace, args, values) }?;
        self.result_lengths(values, lengths, &mut |n| integer(args, n));
        Ok(Results { kinds, words, held: workspace.held() })
    }

    /// The number of cells of each returned result, given the result words and the values of the
    /// integer parameters by number.
    pub(crate) fn result_lengths(
        &self,
        values: &[u64],
        lengths: &mut [u64],
        integer: &mut dyn FnMut(usize) -> i64,
    ) {
        let mut number = |n: usize| match n.checked_sub(self.params.len()) {
            Some(result) => values.get(result).map_or(0, |word| *word as i64),
            None => integer(n),
        };
        for (cells_of, length) in lengths.iter_mut().zip(&self.results) {
            let count = match length.is_absent(&mut number) {
                true => Some(0),
                false => cells(&length.dims, &mut number),
            };
            *cells_of = count.unwrap_or(0) as u64;
        }
    }
}

impl<'w> Results<'w> {
    /// The results of a program that was called: a word of each kind, then the numbers of cells; and
    /// the bytes that the program's memory holds.
    pub(crate) fn new(kinds: &'w [Kind], words: &'w [u64], held: usize) -> Results<'w> {
        Results { kinds, words, held }
    }

    /// Bytes that the memory of the program holds after the call.
    pub fn held(&self) -> usize {
        self.held
    }

    /// The word of the k-th returned result, and its kind; `None` if there are fewer.
    #[inline]
    pub fn word(&self, k: usize) -> Option<(Kind, u64)> {
        Some((*self.kinds.get(k)?, *self.words.get(k)?))
    }

    /// The words of the returned results, without their kinds.
    #[inline]
    pub fn words(&self) -> &'w [u64] {
        self.words.get(..self.kinds.len()).unwrap_or_default()
    }

    /// The k-th returned result; `None` if there are fewer.
    pub fn get(&self, k: usize) -> Option<Returned<'w>> {
        let kind = *self.kinds.get(k)?;
        let word = *self.words.get(k)?;
        let length = usize::try_from(*self.words.get(self.kinds.len() + k)?).ok()?;
        // SAFETY: compiled code returned the pointer for a buffer of its workspace with as many
        // cells as its signature says, of this kind and aligned; the workspace is borrowed for 'w,
        // so nothing writes or frees the cells. Cells of bools hold 0 or 1.
        Some(unsafe {
            match kind {
                Kind::F64 => Returned::F64(f64::from_bits(word)),
                Kind::F32 => Returned::F32(f32::from_bits(word as u32)),
                Kind::I64 => Returned::I64(word as i64),
                Kind::I32 => Returned::I32(word as i32),
                Kind::BOOL => Returned::Bool(word & 1 == 1),
                Kind::Buffer(Cell::F64) => Returned::F64s(slice_at(word, length)),
                Kind::Buffer(Cell::F32) => Returned::F32s(slice_at(word, length)),
                Kind::Buffer(Cell::I32) => Returned::I32s(slice_at(word, length)),
                Kind::Buffer(Cell::I64) => Returned::I64s(slice_at(word, length)),
                Kind::Buffer(Cell::BOOL) => Returned::Bools(slice_at(word, length)),
                Kind::Buffer(Cell::Buffer | Cell::Word) => Returned::Nested,
            }
        })
    }
}

/// The cells of a buffer; of one without cells the pointer does not matter.
///
/// # Safety
/// There are as many cells at the address, aligned, which nothing writes or frees meanwhile.
unsafe fn slice_at<'w, T>(address: u64, length: usize) -> &'w [T] {
    match length {
        0 => &[],
        // SAFETY: the caller vouches for the cells.
        length => unsafe { slice::from_raw_parts(address as *const T, length) },
    }
}

/// Room for results: a word of each, then the numbers of cells.
pub(crate) fn room_for<'w>(
    kinds: &[Kind],
    words: &'w mut Vec<u64>,
) -> (&'w mut [u64], &'w mut [u64]) {
    words.clear();
    words.resize(2 * kinds.len(), 0);
    words.split_at_mut(kinds.len())
}

/// Whether an argument has as many cells as it must have.
pub(crate) fn check_length(
    name: &str,
    k: usize,
    given: usize,
    needed: Option<usize>,
) -> Result<(), CallError> {
    if needed == Some(given) {
        return Ok(());
    }
    let needed = needed.map_or("too many".to_string(), |n| n.to_string());
    Err(CallError::Arguments(format!("argument {k} of `{name}` has {given} cells, not {needed}")))
}

/// The value of an integer argument.
pub(crate) fn integer(args: &[Arg<'_>], number: usize) -> i64 {
    match args.get(number) {
        Some(Arg::I64(value)) => *value,
        _ => 0,
    }
}

/// The product of the dimensions, negative ones counting as 0; `None` if it is more cells than
/// memory can hold, or a dimension is no i64.
pub(crate) fn cells(dims: &[Size], integer: &mut dyn FnMut(usize) -> i64) -> Option<usize> {
    let mut product = Some(1usize);
    let mut empty = false;
    for dim in dims {
        let size = dim.exact(&mut |v| integer(v.index()))?;
        empty |= size <= 0;
        product = usize::try_from(size.max(0)).ok().and_then(|n| product?.checked_mul(n));
    }
    if empty { Some(0) } else { product.filter(|n| *n <= isize::MAX as usize / 8) }
}
