//! What needs the machine itself: counting allocations, entering machine code, using the machine's widest
//! vectors, and its name.
//!
//! The only unsafe code of the harness is here.

#![allow(unsafe_code)]

use jut_loop::form::{Cell as Element, Kind};
use jut_native::Compiled;
use jut_runtime::Workspace;
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

/// The system's allocator, counting per thread how often it is asked for memory.
///
/// The binary makes it the global allocator; in the tests of this library nothing is counted.
pub struct Counting;

// SAFETY: every request is passed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: as required of the caller.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: as required of the caller.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, place: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        // SAFETY: as required of the caller.
        unsafe { System.realloc(place, layout, size) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        // SAFETY: as required of the caller.
        unsafe { System.dealloc(place, layout) }
    }
}

fn count() {
    // A thread that is ending has no counter any more; what it asks for is not counted.
    let _ = ALLOCATIONS.try_with(|n| n.set(n.get() + 1));
}

/// How often this thread has asked for memory, if [`Counting`] is the global allocator.
pub fn allocations() -> u64 {
    ALLOCATIONS.with(Cell::get)
}

/// A word for a parameter of machine code.
pub enum Word {
    /// A float.
    F64(f64),
    /// An integer.
    I64(i64),
    /// Floats, read or written.
    F64s(Vec<f64>),
}

/// Machine code that is entered with the same words again and again.
pub struct Code {
    compiled: Compiled,
    workspace: Workspace,
    words: Vec<u64>,
    results: Vec<u64>,
    /// What the words of arrays point to.
    _arrays: Vec<Vec<f64>>,
}

impl Code {
    /// Code with a word for each parameter; none if their kinds are not those of the parameters. That
    /// arrays are as long as the program's signature says is taken on trust.
    pub fn new(compiled: Compiled, args: Vec<Word>) -> Option<Code> {
        let (mut words, mut arrays) = (Vec::new(), Vec::new());
        let fits = args.len() == compiled.params().len();
        for (arg, (kind, _)) in args.into_iter().zip(compiled.params()) {
            words.push(match (arg, *kind) {
                (Word::F64(x), Kind::F64) => x.to_bits(),
                (Word::I64(n), Kind::I64) => n as u64,
                (Word::F64s(mut x), Kind::Buffer(Element::F64)) => {
                    let pointer = x.as_mut_ptr();
                    arrays.push(x);
                    pointer as u64
                }
                _ => return None,
            });
        }
        let results = vec![0; compiled.results().len()];
        let mut workspace = Workspace::new();
        // What it is measured against runs on one thread, too.
        workspace.set_parallel(false);
        fits.then_some(Code { compiled, workspace, words, results, _arrays: arrays })
    }

    /// Enters the code, with its memory as empty as for any call. The status.
    pub fn enter(&mut self) -> u32 {
        self.workspace.reset();
        // SAFETY: each parameter has a word of its kind, made once; arrays stay where they are while `self`
        // owns them, nobody else has them, and whoever made them vouches for their lengths. The programs
        // that are measured so take a few hundred bytes of stack.
        unsafe { self.compiled.enter(&mut self.workspace, &self.words, &mut self.results) }
    }
}

/// Defines a function twice, for any machine of its family and for one with the widest vectors, and
/// calls the one that fits. So hand-written code is as fast as with `-C target-cpu=native`, in the
/// same build as everything else.
macro_rules! wide {
    ($(#[$about:meta])* pub fn $name:ident($($arg:ident: $ty:ty),* $(,)?) $(-> $ret:ty)? $body:block) => {
        $(#[$about])*
        #[allow(clippy::too_many_arguments)]
        pub fn $name($($arg: $ty),*) $(-> $ret)? {
            #[inline(always)]
            fn body($($arg: $ty),*) $(-> $ret)? $body

            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw,avx2,fma,bmi2")]
                fn avx512($($arg: $ty),*) $(-> $ret)? {
                    body($($arg),*)
                }
                #[target_feature(enable = "avx2,fma,bmi2")]
                fn avx2($($arg: $ty),*) $(-> $ret)? {
                    body($($arg),*)
                }
                let fma = is_x86_feature_detected!("fma") && is_x86_feature_detected!("bmi2");
                let fma = fma && is_x86_feature_detected!("avx2");
                let wider = is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512dq")
                    && is_x86_feature_detected!("avx512vl")
                    && is_x86_feature_detected!("avx512bw");
                if fma && wider {
                    // SAFETY: the machine has every feature that the function is compiled for.
                    #[allow(unsafe_code)]
                    return unsafe { avx512($($arg),*) };
                }
                if fma {
                    // SAFETY: the machine has every feature that the function is compiled for.
                    #[allow(unsafe_code)]
                    return unsafe { avx2($($arg),*) };
                }
            }
            body($($arg),*)
        }
    };
}
pub(crate) use wide;

/// The processor, as the system calls it, and the widest vectors it has.
pub fn processor() -> String {
    let named = std::fs::read_to_string("/proc/cpuinfo").ok().and_then(|text| {
        let line = text.lines().find(|line| line.starts_with("model name"))?;
        Some(line.split_once(':')?.1.trim().to_string())
    });
    let name = named.unwrap_or_else(|| "unknown processor".to_string());
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    format!("{name}, {}, {cores} cores, {}", std::env::consts::ARCH, vectors())
}

fn vectors() -> &'static str {
    #[cfg(target_arch = "x86_64")]
    {
        if is_x86_feature_detected!("avx512f") {
            return "AVX-512";
        }
        if is_x86_feature_detected!("avx2") {
            return "AVX2";
        }
    }
    "128-bit vectors"
}
