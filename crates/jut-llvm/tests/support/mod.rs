//! From text to the loop form, for tests.
use jut_ad::{Derivatives, Mask, Policy, compose};
use jut_ir::Program;
use jut_loop::form::LoopProgram;

fn load(source: &str) -> Program {
    jut_text::load(source, 0).program.expect("a program")
}

/// A program as the text for LLVM takes it.
fn prepared(program: &LoopProgram) -> LoopProgram {
    jut_loop::opt::for_target(program, &jut_llvm::text_target())
}

/// A function, lowered.
pub fn lowered(source: &str, name: &str) -> LoopProgram {
    let program = load(source);
    let func = program.find_func(name).expect("the function");
    let program = jut_opt::optimise(&program, func, true);
    let func = program.find_func(name).expect("the function");
    prepared(&jut_loop::lower(&program, func).expect("lowers").program)
}

/// Its value and gradient.
pub fn lowered_gradient(source: &str, name: &str) -> LoopProgram {
    let program = load(source);
    let func = program.find_func(name).expect("the function");
    let mask = Mask::full(&program, func);
    let mut derivatives = Derivatives::new(program);
    if derivatives.program.funcs[func].results.len() != 1 {
        return LoopProgram::default();
    }
    match compose::value_and_grad(&mut derivatives, func, &mask, Policy::Default) {
        Ok(root) => {
            let program = jut_opt::optimise(&derivatives.program, root, true);
            prepared(&jut_loop::lower(&program, root).expect("lowers").program)
        }
        Err(_) => LoopProgram::default(),
    }
}
