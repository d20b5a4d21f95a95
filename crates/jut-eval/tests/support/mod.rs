//! What the tests of the interpreter share.

use jut_eval::{EvalError, Interpreter, Outcome, Value};
use jut_ir::{Program, RuntimeErrorKind};

/// A checked program.
pub fn load(text: &str) -> Program {
    let loaded = jut_text::load(text, 0);
    loaded.program.unwrap_or_else(|| panic!("{:#?}\n{text}", loaded.diagnostics))
}

/// Calls the last definition of a text; its size parameters are found from the arrays.
pub fn run(text: &str, args: &[Value]) -> Result<Outcome, EvalError> {
    let program = load(text);
    let func = program.funcs.keys().next_back().expect("a definition");
    let interpreter = Interpreter::new(&program);
    interpreter.call(func, &interpreter.with_sizes(func, args)?, &[], &[])
}

/// The results of a call that succeeds.
pub fn results(text: &str, args: &[Value]) -> Vec<Value> {
    run(text, args).unwrap_or_else(|e| panic!("{e}\n{text}")).results
}

/// The only result of a call that succeeds.
pub fn result(text: &str, args: &[Value]) -> Value {
    let results = results(text, args);
    assert_eq!(results.len(), 1, "{text}");
    results[0].clone()
}

/// The kind of a run-time error, the text that failed, and the operands.
pub fn failure(text: &str, args: &[Value]) -> (RuntimeErrorKind, String, Vec<i64>) {
    match run(text, args) {
        Err(EvalError::Runtime(error)) => {
            let span = error.span.start as usize..error.span.end as usize;
            (error.kind, text[span].to_string(), error.operands)
        }
        other => panic!("{other:?}\n{text}"),
    }
}

/// An array of floats.
pub fn floats(cells: &[f64]) -> Value {
    Value::floats(cells.to_vec())
}
