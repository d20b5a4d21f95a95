//! Machines and settings.
//!
//! Most of the time from text to the first gradient is Cranelift's, so settings are chosen for
//! short compile times; what they cost in speed was measured and is nothing on typical loops.
//!
//! Cranelift has two register allocators. The default one finds the better code, but on long
//! straight-line functions whose values stay alive for long (a forward sweep without loops and its
//! reverse) its time grows faster than the program. Functions above [`LONG`] instructions therefore
//! go through the single-pass allocator, whose time is linear.

use crate::error::CompileError;
use cranelift_codegen::ir::Function;
use cranelift_codegen::isa::{self, OwnedTargetIsa, TargetIsa};
use cranelift_codegen::settings::{self, Configurable, SetError};
use std::sync::OnceLock;

/// Instructions from which a function is long.
pub(crate) const LONG: usize = 3000;

/// A machine, with settings for functions of usual length and for long ones.
#[derive(Clone)]
pub struct Target {
    usual: OwnedTargetIsa,
    long: OwnedTargetIsa,
}

impl Target {
    /// The machine that this process runs on, for code in memory.
    pub fn host() -> Result<Target, CompileError> {
        static HOST: OnceLock<Result<Target, String>> = OnceLock::new();
        HOST.get_or_init(|| {
            let builder = || cranelift_native::builder().map_err(str::to_owned);
            Target::new(&builder, false)
        })
        .clone()
        .map_err(CompileError::Host)
    }

    fn new(
        machine: &dyn Fn() -> Result<isa::Builder, String>,
        position_independent: bool,
    ) -> Result<Target, String> {
        let make = |long: bool| {
            let flags = flags(long, position_independent).map_err(|e| e.to_string())?;
            machine()?.finish(flags).map_err(|e| e.to_string())
        };
        Ok(Target { usual: make(false)?, long: make(true)? })
    }

    /// The settings that modules are made with.
    pub(crate) fn usual(&self) -> &OwnedTargetIsa {
        &self.usual
    }

    /// The settings for a function.
    pub(crate) fn for_function(&self, function: &Function) -> &dyn TargetIsa {
        let long = function.dfg.num_insts() > LONG;
        if long { &*self.long } else { &*self.usual }
    }
}

fn flags(long: bool, position_independent: bool) -> Result<settings::Flags, SetError> {
    let mut flags = settings::builder();
    let on = |yes: bool| if yes { "true" } else { "false" };
    flags.set("opt_level", opt_level(long))?;
    flags.set("regalloc_algorithm", if long { "single_pass" } else { "backtracking" })?;
    flags.set("enable_verifier", on(cfg!(debug_assertions)))?;
    flags.set("is_pic", on(position_independent))?;
    flags.set("use_colocated_libcalls", "false")?;
    flags.set("unwind_info", "false")?;
    // Frames may be larger than the guard page behind the stack.
    flags.set("enable_probestack", "true")?;
    flags.set("probestack_strategy", "inline")?;
    Ok(settings::Flags::new(flags))
}

fn opt_level(long: bool) -> &'static str {
    match std::env::var("JUT_OPT").as_deref() {
        Ok("none") => "none",
        Ok("speed") => "speed",
        _ => {
            if long {
                "none"
            } else {
                "speed"
            }
        }
    }
}
