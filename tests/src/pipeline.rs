//! The whole compiler in stages, each with its result's size: how code grows, and where time goes.
//!
//! Sizes are counted in statements, nested ones included, of every function that the stage has made.

use crate::memory;
use crate::programs::{load, statements};
use cpu_time::ProcessTime;
use jut_ad::{Derivatives, Mask, Policy, compose, forward, transpose, unzip};
use jut_ir::{FuncId, Program};
use jut_loop::Lowered;
use jut_native::{Backend, Checked};
use std::time::Duration;

/// A stage, the number of statements it gives, and how long it took.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Stage {
    /// Its name.
    pub name: &'static str,
    /// Statements of its result.
    pub statements: usize,
    /// Processor time; for people, not for tests.
    pub time: Duration,
    /// The most kilobytes of main memory that the process had meanwhile, where that is measured; for
    /// people too.
    pub peak: Option<u64>,
}

fn all(program: &Program) -> usize {
    program.funcs.values().map(|f| statements(&f.body)).sum()
}

/// Notes what stages give, and when.
struct Notes {
    stages: Vec<Stage>,
    clock: ProcessTime,
    /// Whether memory is measured, which is that of the whole process.
    memory: bool,
}

impl Notes {
    fn new() -> Notes {
        Notes { stages: Vec::new(), clock: ProcessTime::now(), memory: false }
    }

    fn with_memory() -> Notes {
        Notes { memory: memory::forget_peak(), ..Notes::new() }
    }

    fn add(&mut self, name: &'static str, statements: usize) {
        let time = self.clock.elapsed();
        let peak = if self.memory { memory::peak() } else { None };
        self.stages.push(Stage { name, statements, time, peak });
        self.start();
    }

    fn start(&mut self) {
        self.memory = self.memory && memory::forget_peak();
        self.clock = ProcessTime::now();
    }
}

/// The gradient of a function in the core, optimised, and how it came about.
#[derive(Debug)]
pub struct Core {
    /// The stages so far.
    pub stages: Vec<Stage>,
    /// The optimised program.
    pub program: Program,
    /// The value and gradient.
    pub root: FuncId,
}

/// Takes the gradient of the last function of a text through every stage before the loop form.
///
/// # Errors
/// What a stage refuses.
pub fn core_stages(text: &str, policy: Policy) -> Result<Core, String> {
    let say = |d: jut_ir::Diagnostic| d.to_string();
    let mut notes = Notes::new();
    let program = load(text)?;
    notes.add("load", all(&program));
    let (func, _) = program.funcs.last().ok_or("an empty program")?;
    let mask = Mask::full(&program, func);
    let mut d = Derivatives::new(program);
    let mut before = all(&d.program);
    let mut more = |d: &Derivatives| {
        let now = all(&d.program);
        now - std::mem::replace(&mut before, now)
    };
    let jvp = forward::forward(&mut d, func, &mask).map_err(say)?;
    notes.add("J", more(&d));
    let halves = unzip::unzip(&mut d, jvp, policy).map_err(say)?;
    notes.add("U", more(&d));
    transpose::transpose(&mut d, halves.lin).map_err(say)?;
    notes.add("T", more(&d));
    let root = compose::value_and_grad(&mut d, func, &mask, policy).map_err(say)?;
    notes.add("compose", more(&d));
    jut_ir::check::check_program(&d.program).map_err(|e| format!("{e:?}"))?;
    notes.add("check", all(&d.program));
    let printed = jut_ir::print::print_program(&d.program);
    notes.add("print", all(&d.program));
    let again = load(&printed)?;
    notes.add("read back", all(&again));
    let program = jut_opt::optimise(&d.program, root, true);
    notes.add("optimise", all(&program));
    Ok(Core { stages: notes.stages, program, root })
}

/// Takes the gradient of the last function of a text through every stage, machine code included.
///
/// # Errors
/// What a stage refuses.
pub fn stages(text: &str, policy: Policy) -> Result<Vec<Stage>, String> {
    let say = |d: jut_ir::Diagnostic| d.to_string();
    let Core { stages, program, root } = core_stages(text, policy)?;
    let mut notes = Notes { stages, ..Notes::new() };
    let lowered = jut_loop::lower(&program, root).map_err(say)?;
    let count = lowered.program.size();
    notes.add("lower", count);
    let text = jut_loop::print::print_program(&lowered.program);
    jut_loop::read::read_program(0, &text).map_err(say)?;
    notes.add("loop text", count);
    Checked::compile(&lowered, &jut_cranelift::BACKEND).map_err(|e| e.to_string())?;
    notes.add("machine code", count);
    Ok(notes.stages)
}

/// Runs a step of the compiler, which has a name, and measures it.
pub type Meter<'a> = &'a mut dyn FnMut(&'static str, &mut dyn FnMut());

/// Compiles the value and the gradient of the last function of a text as the library does: optimised
/// before J too, and with no stage kept once the next one has been made. Measures time and memory, that
/// of the whole process.
///
/// # Errors
/// What a stage refuses.
pub fn compile(text: &str, backend: Backend) -> Result<(Vec<Stage>, Checked), String> {
    let mut notes = Notes::with_memory();
    let (counts, code) = compile_with(text, backend, &mut |name, step| {
        notes.start();
        step();
        notes.add(name, 0);
    })?;
    let stages = notes.stages.into_iter().zip(counts);
    Ok((stages.map(|(stage, statements)| Stage { statements, ..stage }).collect(), code))
}

/// [`compile`], every step measured by the caller; gives the statements after each.
///
/// # Errors
/// What a stage refuses.
pub fn compile_with(
    text: &str,
    backend: Backend,
    meter: Meter<'_>,
) -> Result<(Vec<usize>, Checked), String> {
    let say = |d: jut_ir::Diagnostic| d.to_string();
    let mut steps = Steps { meter, counts: Vec::new() };
    let program = steps.step("read, check", || load(text))?;
    steps.counts.push(all(&program));
    let (func, _) = program.funcs.last().ok_or("an empty program")?;
    let mask = Mask::full(&program, func);
    let mut d = steps
        .step("prepare", || Ok(Derivatives::once(jut_opt::optimise_last(program, func, false))))?;
    steps.counts.push(all(&d.program));
    let made = |d: &Derivatives, ids: &[FuncId]| {
        ids.iter().map(|id| statements(&d.program.funcs[*id].body)).sum()
    };
    let jvp = steps.step("J", || forward::forward(&mut d, func, &mask).map_err(say))?;
    steps.counts.push(made(&d, &[jvp]));
    let policy = Policy::Default;
    let halves = steps.step("U", || unzip::unzip(&mut d, jvp, policy).map_err(say))?;
    steps.counts.push(made(&d, &[halves.nonlin, halves.lin]));
    let back = steps.step("T", || transpose::transpose(&mut d, halves.lin).map_err(say))?;
    steps.counts.push(made(&d, &[back]));
    let compose = || compose::value_and_grad(&mut d, func, &mask, policy).map_err(say);
    let root = steps.step("compose", compose)?;
    steps.counts.push(all(&d.program));
    let optimise = || Ok(jut_opt::optimise_last(d.program, root, true));
    let program = steps.step("optimise", optimise)?;
    steps.counts.push(all(&program));
    let lowered = steps.step("lower", || {
        let lowered = jut_loop::lower_plainly(&program, root).map_err(say)?;
        drop(program);
        Ok(lowered)
    })?;
    let count = |lowered: &Lowered| lowered.program.size();
    steps.counts.push(count(&lowered));
    let lowered = steps.step("tidy, cut", || Ok(lowered.finish()))?;
    steps.counts.push(count(&lowered));
    let compile = || Checked::compile(&lowered, &backend).map_err(|e| e.to_string());
    let code = steps.step("machine code", compile)?;
    steps.counts.push(count(&lowered));
    Ok((steps.counts, code))
}

struct Steps<'a> {
    meter: Meter<'a>,
    /// The statements after each step.
    counts: Vec<usize>,
}

impl Steps<'_> {
    fn step<T>(
        &mut self,
        name: &'static str,
        work: impl FnOnce() -> Result<T, String>,
    ) -> Result<T, String> {
        let (mut work, mut result) = (Some(work), None);
        (self.meter)(name, &mut || result = work.take().map(|work| work()));
        result.unwrap_or_else(|| Err(format!("`{name}` was not run")))
    }
}
