//! Programs that continue from what another one left: derivatives that are kept and applied.
//!
//! U splits a derivative in two: a first program computes values and a tape, and others, which apply
//! the linear part or its transpose, read the tape. The tape is data of the program: records, arrays
//! of rows of different lengths, branches. A [`Recording`] keeps it where the first program wrote it,
//! in a workspace of its own, together with copies of those arguments that are read again; nothing is
//! converted, so ragged tapes cost what flat ones do.
//!
//! ```text
//! record:  first(n, x) -> y, tape                      a Recording: n, (copy of x), tape
//! follow:  apply(n, x, tape | x') -> y'                as often as one likes, from many threads
//!          applyT(n, x, tape | y'') -> x''
//! ```
//!
//! *Requires*: the programs were lowered from what one linearization made, and the saved values are
//! those that the followers take first; that their accesses stay inside what the first one leaves is
//! what U ensures, and taken on trust as in [`Checked`]. Layouts are compared when the programs are
//! compiled, lengths at every call. *Ensures*: a recording is read only by programs of the
//! [`Recorder`] that made it, and only if it is complete; anything else is an error value. *Cost*: a
//! copy of the saved arguments; nothing is allocated once the recording has its size.

use crate::backend::Backend;
use crate::call::{Arg, CallError};
use crate::checked::{Checked, Results, check_length, integer, room_for};
use crate::error::CompileError;
use jut_ir::{RuntimeError, RuntimeErrorKind, Span};
use jut_loop::form::{Cell, Kind, Role};
use jut_loop::lower::Lowered;
use jut_loop::signature::AbiComponent;
use jut_runtime::{Cancellation, Workspace};
use std::sync::atomic::{AtomicU64, Ordering};

/// Where a leading parameter of the followers comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Saved {
    /// The argument of the first program at this position.
    Argument(usize),
    /// The result of the first program at this position.
    Result(usize),
}

/// A program and those that continue from what it leaves. It may be used from many threads at once.
#[derive(Debug)]
pub struct Recorder {
    first: Checked,
    followers: Vec<Checked>,
    /// Where each leading word of the followers comes from.
    saved: Vec<Origin>,
    /// How many parameters of the first program its callers give; the others are buffers for saved
    /// results, which the recording owns.
    given: usize,
    id: u64,
}

/// Where a saved word comes from: ABI numbers of the first program.
#[derive(Clone, Copy, Debug)]
enum Origin {
    /// A scalar argument.
    Scalar(usize),
    /// A buffer among the arguments, copied.
    Copy(usize),
    /// A result by its number among the results: a scalar, or a buffer in the workspace.
    Returned(usize),
    /// A buffer for a result, which the recording owns.
    Owned(usize),
}

/// What a run of the first program left. Any thread may read it, one at a time may renew it.
#[derive(Debug)]
pub struct Recording {
    workspace: Workspace,
    limit: usize,
    /// Copies of arguments, then buffers for results.
    blocks: Vec<Vec<u64>>,
    /// The leading words of the followers, and how many cells each buffer has.
    words: Vec<(u64, usize)>,
    /// The words of the call.
    call: Vec<u64>,
    /// The results of the first program: words, then numbers of cells.
    returned: Vec<u64>,
    /// The recorder that wrote it; none if nothing is recorded.
    of: Option<u64>,
}

/// Numbers for recorders.
static NEXT: AtomicU64 = AtomicU64::new(0);

impl Recorder {
    /// Compiles a program and those that continue from it: each takes what is saved, then arguments
    /// of its own.
    ///
    /// # Errors
    /// [`CompileError::Malformed`] if what is saved is not what a follower takes first, else as
    /// [`Checked::compile`].
    pub fn compile(
        first: &Lowered,
        saved: &[Saved],
        followers: &[&Lowered],
        backend: &Backend,
    ) -> Result<Recorder, CompileError> {
        let name = &first.signature.name;
        let malformed = |reason: &str| CompileError::Malformed {
            function: name.clone(),
            reason: reason.into(),
        };
        let source = &first.signature;
        let mut kept: Vec<&AbiComponent> = Vec::new();
        let mut origins = Vec::new();
        let mut owned = Vec::new();
        for saved in saved {
            let value = match *saved {
                Saved::Argument(k) => source.params.get(k),
                Saved::Result(k) => source.results.get(k),
            };
            let value = value.ok_or_else(|| malformed("no such argument or result is saved"))?;
            for component in &value.components {
                let number = component.number;
                kept.push(component);
                origins.push(match (component.role, component.kind) {
                    (None, _) => Origin::Returned(number.saturating_sub(source.param_count)),
                    (Some(Role::Out), _) => {
                        owned.push(number);
                        Origin::Owned(number)
                    }
                    (Some(_), Kind::Buffer(Cell::Scalar(_))) => Origin::Copy(number),
                    (Some(_), Kind::Buffer(_)) => {
                        return Err(malformed("an argument of nested buffers is saved"));
                    }
                    (Some(_), _) => Origin::Scalar(number),
                });
            }
        }
        owned.sort_unstable();
        let given = source.param_count.saturating_sub(owned.len());
        if owned.iter().zip(given..).any(|(number, last)| *number != last) {
            return Err(malformed("saved results are not the last buffers"));
        }
        for follower in followers {
            let params = follower.signature.params.iter().flat_map(|p| &p.components);
            let mut leading = params.take(kept.len()).enumerate().zip(&kept);
            let fits = leading.all(|((k, to), from)| to.number == k && same_layout(from, to));
            let boxes = kept.iter().any(|c| c.layout.boxed);
            if !fits
                || follower.signature.param_count < kept.len()
                || boxes && !first.layouts.agree(&follower.layouts)
            {
                return Err(malformed("what is saved has another layout in what continues"));
            }
        }
        Ok(Recorder {
            first: Checked::compile(first, backend)?,
            followers: followers
                .iter()
                .map(|f| Checked::compile(f, backend))
                .collect::<Result<_, _>>()?,
            saved: origins,
            given,
            id: NEXT.fetch_add(1, Ordering::Relaxed),
        })
    }

    /// All programs, the first one first.
    pub fn programs(&self) -> impl Iterator<Item = &Checked> {
        std::iter::once(&self.first).chain(&self.followers)
    }

    /// The first program.
    pub fn first(&self) -> &Checked {
        &self.first
    }

    /// The k-th program that continues from it.
    pub fn follower(&self, k: usize) -> Option<&Checked> {
        self.followers.get(k)
    }

    /// The number of leading words of the followers: their arguments count from here.
    pub fn leading(&self) -> usize {
        self.saved.len()
    }

    /// Whether the recording is complete and of this recorder.
    pub fn has(&self, recording: &Recording) -> bool {
        recording.of == Some(self.id)
    }

    /// Runs the first program with all arguments but the buffers for saved results, and keeps what
    /// the followers need. What was recorded before is gone, also if the program fails.
    ///
    /// # Errors
    /// As [`Checked::call`]; the memory limit of the recording counts what it keeps and what the
    /// program needs while it runs.
    pub fn record<'w>(
        &'w self,
        recording: &'w mut Recording,
        args: &mut [Arg<'_>],
    ) -> Result<Results<'w>, CallError> {
        recording.of = None;
        let compiled = self.first.compiled();
        let name = compiled.name();
        if args.len() != self.given {
            let counts = format!("{} arguments, not {}", self.given, args.len());
            return Err(CallError::Arguments(format!("`{name}` takes {counts}")));
        }
        for (k, arg) in args.iter().enumerate() {
            let Some(given) = arg.cells() else { continue };
            let needed = self.first.cells(k, &mut |n| integer(args, n));
            check_length(name, k, given, needed)?;
        }

        // Copies of arguments and buffers for results.
        let blocks = self.saved.iter().filter(|o| matches!(o, Origin::Copy(_) | Origin::Owned(_)));
        recording.blocks.resize_with(blocks.count(), Vec::new);
        let bytes = self.bytes_of_blocks(recording, args)?;
        let mut blocks = recording.blocks.iter_mut();
        recording.words.clear();
        for origin in &self.saved {
            let mut block = |bytes_of_it: usize| {
                let block = blocks.next().ok_or_else(out_of_memory)?;
                let words = bytes_of_it.div_ceil(8);
                block.clear();
                block.try_reserve_exact(words).map_err(|_| out_of_memory())?;
                block.resize(words, 0);
                Ok::<_, CallError>(block)
            };
            recording.words.push(match *origin {
                Origin::Scalar(k) => (args.get_mut(k).map_or(0, |arg| arg.word().0), 0),
                Origin::Returned(_) => (0, 0),
                Origin::Copy(k) => {
                    let (from, cells, width) = match args.get(k) {
                        Some(Arg::F64s(x)) => (x.as_ptr().cast::<u8>(), x.len(), 8),
                        Some(Arg::F32s(x)) => (x.as_ptr().cast::<u8>(), x.len(), 4),
                        Some(Arg::I32s(x)) => (x.as_ptr().cast::<u8>(), x.len(), 4),
                        Some(Arg::I64s(x)) => (x.as_ptr().cast::<u8>(), x.len(), 8),
                        Some(Arg::Bools(x)) => (x.as_ptr().cast::<u8>(), x.len(), 1),
                        _ => return Err(CallError::Arguments(format!("argument {k} is no array"))),
                    };
                    let block = block(cells.saturating_mul(width))?;
                    // SAFETY: `from` is a slice of `cells` cells of `width` bytes, and the block,
                    // which is memory of its own, was made as long.
                    unsafe {
                        from.copy_to_nonoverlapping(block.as_mut_ptr().cast(), cells * width)
                    };
                    (block.as_ptr() as u64, cells)
                }
                Origin::Owned(k) => {
                    let cells = self.first.cells(k, &mut |n| integer(args, n));
                    let cells = cells.ok_or_else(out_of_memory)?;
                    let block = block(cells.saturating_mul(8))?;
                    (block.as_mut_ptr() as u64, cells)
                }
            });
        }
        recording.workspace.set_limit(recording.limit.saturating_sub(bytes));

        recording.call.clear();
        recording.call.resize(compiled.params().len(), 0);
        compiled.check(args, 0, &mut recording.call)?;
        for (origin, (word, _)) in self.saved.iter().zip(&recording.words) {
            if let Origin::Owned(k) = *origin
                && let Some(to) = recording.call.get_mut(k)
            {
                *to = *word;
            }
        }
        let kinds = compiled.results();
        let (values, lengths) = room_for(kinds, &mut recording.returned);
        // SAFETY: kinds, roles and lengths of the given arguments were just checked; every other
        // parameter is a buffer for a result, for which a block with as many cells was made.
        unsafe { compiled.call_words(&mut recording.workspace, &recording.call, values) }?;
        self.first.result_lengths(values, lengths, &mut |n| integer(args, n));
        for (origin, (word, cells)) in self.saved.iter().zip(&mut recording.words) {
            if let Origin::Returned(k) = *origin {
                *word = values.get(k).copied().unwrap_or(0);
                *cells = lengths.get(k).map_or(0, |n| *n as usize);
            }
        }
        recording.of = Some(self.id);
        Ok(Results::new(kinds, &recording.returned, recording.held()))
    }

    /// Bytes of the blocks of a recording, which there is room for then: what earlier recordings hold
    /// is given back where it is too much.
    fn bytes_of_blocks(
        &self,
        recording: &mut Recording,
        args: &[Arg<'_>],
    ) -> Result<usize, CallError> {
        let needed = self.saved.iter().filter_map(|origin| match *origin {
            Origin::Scalar(_) | Origin::Returned(_) => None,
            Origin::Copy(k) => Some(match args.get(k) {
                Some(Arg::Bools(x)) => Some(x.len().next_multiple_of(8)),
                Some(arg) => arg.cells().and_then(|n| n.checked_mul(8)),
                None => Some(0),
            }),
            Origin::Owned(k) => {
                let cells = self.first.cells(k, &mut |n| integer(args, n));
                Some(cells.and_then(|n| n.checked_mul(8)))
            }
        });
        let (mut least, mut kept) = (0usize, 0usize);
        for (block, needed) in recording.blocks.iter().zip(needed) {
            let needed = needed.ok_or_else(out_of_memory)?;
            least = least.saturating_add(needed);
            kept = kept.saturating_add(needed.max(8 * block.capacity()));
        }
        if least > recording.limit {
            return Err(out_of_memory());
        }
        if recording.workspace.held().saturating_add(kept) > recording.limit {
            recording.workspace.clear();
            recording.blocks.fill_with(Vec::new);
            return Ok(least);
        }
        Ok(kept)
    }

    /// Runs the k-th follower from a recording: with what was saved, then the arguments. The
    /// workspace is reset first; results stay in it until its next call.
    ///
    /// # Errors
    /// [`CallError::Arguments`] if the recording is incomplete or of another recorder, else as
    /// [`Checked::call`].
    pub fn follow<'w>(
        &'w self,
        k: usize,
        recording: &Recording,
        workspace: &'w mut Workspace,
        args: &mut [Arg<'_>],
        call: &mut Vec<u64>,
        words: &'w mut Vec<u64>,
    ) -> Result<Results<'w>, CallError> {
        let Some(follower) = self.followers.get(k).filter(|_| self.has(recording)) else {
            let reason = "what was recorded is incomplete, or of another program";
            return Err(CallError::Arguments(reason.into()));
        };
        let (compiled, lead) = (follower.compiled(), recording.words.len());
        let name = compiled.name();
        if args.len() + lead != compiled.params().len() {
            let counts =
                format!("{} arguments, not {}", compiled.params().len(), args.len() + lead);
            return Err(CallError::Arguments(format!("`{name}` takes {counts}")));
        }
        let mut value = |n: usize| match recording.words.get(n) {
            Some((word, _)) => *word as i64,
            None => integer(args, n - lead),
        };
        for (k, ((kind, _), (_, cells))) in
            compiled.params().iter().zip(&recording.words).enumerate()
        {
            let empty = *cells == 0 && follower.may_be_empty(k, &mut value);
            if matches!(kind, Kind::Buffer(_)) && !empty {
                check_length(name, k, *cells, follower.cells(k, &mut value))?;
            }
        }
        for (k, arg) in args.iter().enumerate() {
            let Some(given) = arg.cells() else { continue };
            check_length(name, lead + k, given, follower.cells(lead + k, &mut value))?;
        }
        call.clear();
        call.extend(recording.words.iter().map(|(word, _)| *word));
        call.resize(compiled.params().len(), 0);
        compiled.check(args, lead, call.get_mut(lead..).unwrap_or_default())?;
        let kinds = compiled.results();
        let (values, lengths) = room_for(kinds, words);
        // SAFETY: kinds, roles and lengths of the arguments were just checked. The leading words are
        // what a program of this recorder left, with the layouts that the follower takes; what they
        // point to lies in the recording, which is borrowed and which nothing writes meanwhile.
        unsafe { compiled.call_words(workspace, call, values) }?;
        follower.result_lengths(values, lengths, &mut |n| match recording.words.get(n) {
            Some((word, _)) => *word as i64,
            None => integer(args, n - lead),
        });
        Ok(Results::new(kinds, words, workspace.held()))
    }
}

impl Recording {
    /// An empty recording that may keep and use at most `limit` bytes, with the workspace that calls run in.
    pub fn new(limit: usize, workspace: Workspace) -> Recording {
        Recording {
            workspace,
            limit,
            blocks: Vec::new(),
            words: Vec::new(),
            call: Vec::new(),
            returned: Vec::new(),
            of: None,
        }
    }

    /// The most bytes that it may keep and use.
    pub fn limit(&self) -> usize {
        self.limit
    }

    /// Sets what ends recording, from now on; none ends it.
    pub fn set_cancellation(&mut self, cancellation: Option<Cancellation>) {
        self.workspace.set_cancellation(cancellation);
    }

    /// Changes the limit, from the next recording on.
    pub fn set_limit(&mut self, limit: usize) {
        self.limit = limit;
    }

    /// The k-th leading word of the followers, if it is an integer.
    pub fn integer(&self, k: usize) -> i64 {
        self.words.get(k).map_or(0, |(word, _)| *word as i64)
    }

    /// Bytes that it holds.
    pub fn held(&self) -> usize {
        self.workspace.held() + self.blocks.iter().map(|b| 8 * b.capacity()).sum::<usize>()
    }

    /// Bytes of tape and copies in use.
    pub fn used(&self) -> usize {
        match self.of {
            None => 0,
            Some(_) => {
                self.workspace.tape_used() + self.blocks.iter().map(|b| 8 * b.len()).sum::<usize>()
            }
        }
    }

    /// Forgets what is recorded and gives the memory back to the system.
    pub fn clear(&mut self) {
        self.of = None;
        self.words.clear();
        self.workspace.clear();
        self.blocks.clear();
    }
}

/// Whether a value with one layout is one with the other. Names in the outermost dimensions are
/// those of two functions; lengths are compared at every call instead.
fn same_layout(from: &AbiComponent, to: &AbiComponent) -> bool {
    let (a, b) = (&from.layout, &to.layout);
    let inner = |levels: &[jut_loop::flatten::Level]| levels.get(1..).map(<[_]>::to_vec);
    from.kind == to.kind
        && matches!(to.role, Some(Role::In))
        && a.scalar == b.scalar
        && a.boxed == b.boxed
        && a.levels.len() == b.levels.len()
        && inner(&a.levels) == inner(&b.levels)
}

fn out_of_memory() -> CallError {
    let kind = RuntimeErrorKind::Memory;
    CallError::Run(RuntimeError { kind, span: Span::NONE, operands: Vec::new() })
}
