//! The whole compiler in stages, each with its result's size: how code grows, and where time goes.
//!
//! Sizes are counted in statements, nested ones included, of every function that the stage has made.

use cpu_time::ProcessTime;
use jut_ad::{Derivatives, Mask, Policy, compose, forward, transpose, unzip};
use jut_ir::{Block, FuncId, Program};
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
}

/// Statements of a block, nested ones included.
pub fn statements(block: &Block) -> usize {
    let nested = block.stmts.iter().flat_map(|s| s.rhs.blocks()).map(statements);
    block.stmts.len() + nested.sum::<usize>()
}

/// Statements of a loop-form block, nested ones included.
pub fn loop_statements(block: &jut_loop::form::Block) -> usize {
    use jut_loop::form::Stmt;
    let nested = block.stmts.iter().map(|s| match s {
        Stmt::For(inner) => loop_statements(&inner.body),
        Stmt::Lanes(inner) => loop_statements(&inner.body),
        Stmt::If { then, other, .. } => loop_statements(then) + loop_statements(other),
        _ => 0,
    });
    block.stmts.len() + nested.sum::<usize>()
}

fn all(program: &Program) -> usize {
    program.funcs.values().map(|f| statements(&f.body)).sum()
}

/// Notes what stages give, and when.
struct Notes {
    stages: Vec<Stage>,
    clock: ProcessTime,
}

impl Notes {
    fn add(&mut self, name: &'static str, statements: usize) {
        self.stages.push(Stage { name, statements, time: self.clock.elapsed() });
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
    let mut notes = Notes { stages: Vec::new(), clock: ProcessTime::now() };
    let program = crate::laws::load(text)?;
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
    let again = crate::laws::load(&printed)?;
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
    let mut notes = Notes { stages, clock: ProcessTime::now() };
    let lowered = jut_loop::lower(&program, root).map_err(say)?;
    let count = lowered.program.funcs.values().map(|f| loop_statements(&f.body)).sum();
    notes.add("lower", count);
    let text = jut_loop::print::print_program(&lowered.program);
    jut_loop::read::read_program(0, &text).map_err(say)?;
    notes.add("loop text", count);
    jut_native::Checked::compile(&lowered, jut_cranelift::compile).map_err(|e| e.to_string())?;
    notes.add("machine code", count);
    Ok(notes.stages)
}
