//! How many bytes a gradient stores between its forward and its reverse half: counted by the
//! interpreter while it runs the forward half, `f.nonlin`, of the function as it is compiled.

use crate::cases::Case;
use jut::Value;
use jut_ad::{Derivatives, Mask, Policy, forward, unzip};
use jut_eval::{Cells, Interpreter};

/// The bytes; an error in words if the program cannot be run.
pub fn bytes(case: &Case) -> Result<u64, Box<dyn std::error::Error>> {
    let program = jut_text::load(case.text, 0).program.ok_or("the program has errors")?;
    let (func, function) = program
        .funcs
        .iter()
        .find(|(_, f)| f.name == case.function)
        .ok_or("the program does not have the function")?;
    let sizes = function.size_params;
    let program = jut_opt::optimise(&program, func, false);
    let mut derivatives = Derivatives::new(program);
    let active: Vec<usize> = case.active.iter().map(|k| k + sizes).collect();
    let mask = Mask::only(&derivatives.program, func, &active);
    let words = |d: jut_ir::Diagnostic| d.message;
    let jvp = forward::forward(&mut derivatives, func, &mask).map_err(words)?;
    let halves = unzip::unzip(&mut derivatives, jvp, Policy::default()).map_err(words)?;
    let interpreter = Interpreter::new(&derivatives.program);
    let args: Option<Vec<_>> = case.args.iter().map(enter).collect();
    let args = interpreter.with_sizes(func, &args.ok_or("an argument is not a flat array")?)?;
    Ok(interpreter.call(halves.nonlin, &args, &[], &[])?.counters.tape)
}

/// A scalar or flat array as the interpreter has it.
fn enter(value: &Value) -> Option<jut_eval::Value> {
    let array = |shape: &[usize], cells| {
        jut_eval::Array::new(shape.to_vec(), cells).map(jut_eval::Value::Array)
    };
    match value {
        Value::F64(x) => Some(jut_eval::Value::F64(*x)),
        Value::F32(x) => Some(jut_eval::Value::F32(*x)),
        Value::I32(x) => Some(jut_eval::Value::I32(*x)),
        Value::I64(x) => Some(jut_eval::Value::I64(*x)),
        Value::Bool(x) => Some(jut_eval::Value::Bool(*x)),
        Value::F64s(a) => array(&a.shape, Cells::F64(a.data.clone())),
        Value::F32s(a) => array(&a.shape, Cells::F32(a.data.clone())),
        Value::I32s(a) => array(&a.shape, Cells::I32(a.data.clone())),
        Value::I64s(a) => array(&a.shape, Cells::I64(a.data.clone())),
        Value::Bools(a) => array(&a.shape, Cells::Bool(a.data.clone())),
        Value::Tuple(_) | Value::Data(..) | Value::List(_) => None,
    }
}
