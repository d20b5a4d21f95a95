//! Instruction sets and settings.
//!
//! **Order.** Cranelift's own optimizer is off. It would move arithmetic behind all loads of a block,
//! which in unrolled loops makes more live values than there are registers (a dot product takes
//! twice as long), and it takes a third of the compile time. What it would gain is done before it:
//! common subexpressions in the language; invariants of loops and what cells hold in the loop form ([`jut_loop::opt`]).
//!
//! **Registers.** Cranelift has two register allocators. The default one finds the better code, but
//! its time grows with the number of values alive at each definition: a gradient without loops of
//! 10,000 statements, most of whose values live from the forward sweep to the reverse, would take
//! most of a second. The single-pass allocator takes a time linear in the code, always, and its code
//! is half as fast. [`crowding`] decides, per function.

use crate::operation::is_lanewise;
use cranelift_codegen::ir::{Function, Value};
use cranelift_codegen::isa::{self, OwnedTargetIsa, TargetIsa};
use cranelift_codegen::settings::{self, Configurable, SetError};
use cranelift_entity::SecondaryMap;
use jut_loop::target::{self, Loops, Reach, StripMine, Vectors};
use jut_native::CompileError;
use std::sync::OnceLock;
use target_lexicon::{Architecture, Triple};

/// The instruction set of a machine, with settings for usual functions and for crowded ones.
#[derive(Clone)]
pub struct Isa {
    usual: OwnedTargetIsa,
    crowded: OwnedTargetIsa,
}

/// Values alive at once that are no trouble.
const FEW: u64 = 64;

/// Crowding from which the single-pass allocator is used: about 2 ms of the other one.
const CROWDED: u64 = 80_000;

impl Isa {
    /// The machine that this process runs on, for code in memory.
    pub fn host() -> Result<Isa, CompileError> {
        static HOST: OnceLock<Result<Isa, String>> = OnceLock::new();
        HOST.get_or_init(|| {
            let builder = || cranelift_native::builder().map_err(str::to_owned);
            Isa::new(&builder, false)
        })
        .clone()
        .map_err(CompileError::Host)
    }

    /// The machine's name.
    pub fn triple(&self) -> &Triple {
        self.usual.triple()
    }

    /// What is taken of the loop form, with mathematical functions of many numbers or without.
    pub(crate) fn takes(&self, kernels: bool) -> target::Target {
        let strip_mine = if kernels { StripMine::Kernels } else { StripMine::No };
        let vectors = has_vectors(&*self.usual).then_some(VECTORS);
        target::Target { strip_mine, vectors, shares: None }
    }

    pub(crate) fn new(
        machine: &dyn Fn() -> Result<isa::Builder, String>,
        position_independent: bool,
    ) -> Result<Isa, String> {
        let make = |crowded: bool| {
            let flags = flags(crowded, position_independent).map_err(|e| e.to_string())?;
            machine()?.finish(flags).map_err(|e| e.to_string())
        };
        Ok(Isa { usual: make(false)?, crowded: make(true)? })
    }

    /// The settings that modules are made with.
    pub(crate) fn usual(&self) -> &OwnedTargetIsa {
        &self.usual
    }

    /// The settings for a function.
    pub(crate) fn for_function(&self, function: &Function) -> &dyn TargetIsa {
        if is_crowded(function) { &*self.crowded } else { &*self.usual }
    }
}

/// Whether the registers of a function are not looked for long.
pub(crate) fn is_crowded(function: &Function) -> bool {
    crowding(function) > CROWDED
}

/// Registers of two floats, and two of these at a time.
const VECTORS: Vectors = Vectors {
    loops: Loops::All,
    together: 4,
    longest: 250,
    masked: false,
    stores_last: true,
    reach: Reach::Rows,
    integers: false,
    narrow: true,
    halves: false,
    checks: false,
    branches: true,
    guarded: false,
    in_order: true,
    conjunctions: true,
    nested: true,
    operation: is_lanewise,
    function: |_| false,
    wide: |_| false,
};

/// Whether the machine computes with vectors of two floats as it does with floats.
fn has_vectors(isa: &dyn TargetIsa) -> bool {
    match isa.triple().architecture {
        Architecture::X86_64 => {
            isa.isa_flags().iter().any(|f| f.name == "has_avx" && f.as_bool() == Some(true))
        }
        Architecture::Aarch64(_) => true,
        _ => false,
    }
}

fn flags(crowded: bool, position_independent: bool) -> Result<settings::Flags, SetError> {
    let mut flags = settings::builder();
    let on = |yes: bool| if yes { "true" } else { "false" };
    flags.set("opt_level", "none")?;
    flags.set("regalloc_algorithm", if crowded { "single_pass" } else { "backtracking" })?;
    flags.set("enable_verifier", on(cfg!(debug_assertions)))?;
    flags.set("is_pic", on(position_independent))?;
    flags.set("use_colocated_libcalls", "false")?;
    flags.set("unwind_info", "false")?;
    // Frames may be larger than the guard page behind the stack.
    flags.set("enable_probestack", "true")?;
    flags.set("probestack_strategy", "inline")?;
    Ok(settings::Flags::new(flags))
}

/// How many other values are alive where a value is defined, beyond [`FEW`], summed over all values.
/// The order of the text stands for the order of execution. Linear in the function.
fn crowding(function: &Function) -> u64 {
    // For each value its last use, as a position in the text.
    let mut last_use: SecondaryMap<Value, u32> = SecondaryMap::with_default(0);
    let mut position = 0;
    for block in function.layout.blocks() {
        for inst in function.layout.block_insts(block) {
            position += 1;
            for value in function.dfg.inst_values(inst) {
                last_use[value] = position;
            }
        }
    }
    // Going through the text again, values die after their last use.
    let mut deaths = vec![0u32; position as usize + 2];
    let (mut alive, mut sum, mut position) = (0u64, 0u64, 0u32);
    let mut define = |value: Value, position: u32, alive: &mut u64, deaths: &mut [u32]| {
        let end = last_use[value];
        if end > position {
            *alive += 1;
            deaths[end as usize] += 1;
            sum += alive.saturating_sub(FEW);
        }
    };
    for block in function.layout.blocks() {
        for value in function.dfg.block_params(block) {
            define(*value, position, &mut alive, &mut deaths);
        }
        for inst in function.layout.block_insts(block) {
            position += 1;
            alive -= u64::from(deaths[position as usize]);
            for value in function.dfg.inst_results(inst) {
                define(*value, position, &mut alive, &mut deaths);
            }
        }
    }
    sum
}
