//! The `jut` command: check, run and differentiate programs.
//!
//! ```text
//! jut check model.jut
//! jut run   model.jut loss --args data.json
//! jut grad  model.jut loss --wrt w,b --args data.json --arg 'l2=0.01' --check
//! jut jvp   model.jut loss --wrt w   --args data.json --tangent 'w=[1, 0, 0]'
//! jut vjp   model.jut step --wrt u   --args data.json --cotangent 'value=[1, 2]'
//! jut hvp   model.jut loss --wrt w   --args data.json --tangent 'w=[1, 0, 0]' --check
//! jut hessian   model.jut loss --wrt w,b --args data.json
//! jut jacobian  model.jut step --wrt u   --args data.json --mode reverse
//! jut linearize model.jut step --args data.json --tangent 'u=[1, 0]' --tangent 'u=[0, 1]'
//! jut transpose model.jut rotate --arg t=0.5 --cotangent u=1 --cotangent v=0
//! jut second    model.jut loss --wrt w   --args data.json --tangent 'w=[1, 0, 0]'
//! jut build model.jut loss --wrt w --derivative value,grad -o loss.o --header loss.h
//! jut show  model.jut loss --stage transpose
//! jut explain tape model.jut loss
//! jut explain cost model.jut loss --args data.json
//! jut expand src/fit.rs
//! jut doctor
//! ```
//!
//! **Exit codes.** 0: done. 1: the program is refused. 2: the command line, a file or an argument is
//! wrong. 3: the program ran and failed (`R01` to `R09`; `R07` is Ctrl-C). 4: `--check` found a disagreement. 5: no
//! machine code could be made.

mod build;
mod commands;
mod doctor;

mod expand;
mod explain;
mod files;
mod input;
mod interrupt;
mod linearize;
mod manual;
mod options;
mod output;
mod subject;
mod values;
mod verify;

use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    let options = match options::Options::try_parse() {
        Ok(options) => options,
        Err(error) => {
            // `--help` and `--version` arrive here too. A closed pipe is not worth a message.
            let code = if error.use_stderr() { 2 } else { 0 };
            match code == 2 && wants_json() {
                true => output::usage(&error.to_string()),
                false => drop(error.print()),
            }
            return ExitCode::from(code);
        }
    };
    if let Some(format) = options.message_format {
        output::set_message_format(format);
    }
    ExitCode::from(commands::run(&options))
}

/// Whether a command line that is not understood asks for messages as JSON.
fn wants_json() -> bool {
    let words: Vec<_> = std::env::args_os().collect();
    words.iter().any(|word| word == "--message-format=json")
        || words.windows(2).any(|pair| pair[0] == "--message-format" && pair[1] == "json")
}
