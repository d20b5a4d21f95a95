//! Loops that run in shares: calls of functions that take a range.
//!
//! The runtime calls such a function in one way, whatever it takes: with a workspace, a pointer to words, one per argument, and
//! the range. So each has another function before it, which reads the words.

use crate::function::{Result, Translator, name};
use crate::text::{Body, scalar};
use jut_loop::form::{Atom, LoopFuncId, LoopFunction};
use jut_loop::opt::shares::RANGE;

/// The function that reads the words.
pub(crate) fn through_words(name: &str, function: &LoopFunction) -> String {
    let mut body = Body::new(0);
    let mut args = vec!["ptr %ws".to_owned()];
    let in_words = function.params.len().saturating_sub(RANGE);
    for (k, param) in function.params.iter().take(in_words).enumerate() {
        let ty = scalar(function.values[param.value].kind).one();
        let arg = body.load_word("%words", k, ty);
        args.push(format!("{ty} {arg}"));
    }
    args.extend(["i64 %low".to_owned(), "i64 %high".to_owned()]);
    let status = body.value(format_args!("call i32 {name}({})", args.join(", ")));
    body.line(format_args!("ret i32 {status}"));
    let params = "ptr %ws, ptr %words, i64 %low, i64 %high";
    format!("define internal i32 {}({params}) #0 {{\n{}}}\n", words(name), body.finish())
}

/// What it is called.
fn words(name: &str) -> String {
    match name.strip_suffix('"') {
        Some(quoted) => format!("{quoted}.words\""),
        None => format!("{name}.words"),
    }
}

impl Translator<'_> {
    /// Hands a function, what it takes, and a range to the runtime.
    pub(crate) fn shares(&mut self, func: LoopFuncId, args: &[Atom], least: u32) -> Result<()> {
        let program = self.program;
        let callee = program.funcs.get(func).ok_or("a call of no function")?;
        let given = self.atoms(args)?;
        let Some((given, &[low, high])) = given.split_last_chunk::<RANGE>() else {
            return Err("a call in shares has no range".to_owned());
        };
        let area = self.called_area(given.len().max(1));
        for (k, (arg, param)) in given.iter().zip(&callee.params).enumerate() {
            let ty = scalar(callee.values[param.value].kind).one();
            self.body.store_word(area, k, *arg, ty);
        }
        let share = words(&name(self.names.prefix, func, callee));
        let range = format!("i64 {low}, i64 {high}, i64 {least}");
        let call = format_args!("call i32 @jut_shares(ptr %ws, ptr {share}, ptr {area}, {range})");
        let status = self.body.value(call);
        self.pass_on(status);
        Ok(())
    }
}
