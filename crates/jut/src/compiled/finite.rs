//! Results that have to be finite: [`Function::finite`](crate::Function::finite).
//!
//! Compiled code computes with NaN and infinity as with any number. So a call looks at its results, and where one is not finite the
//! interpreter runs the same program with the same arguments until an operation makes such a number of finite ones. *Cost*: of a call whose
//! results are finite, reading them.

use super::Shared;
use crate::engine::Failure;
use crate::error::Error;
use crate::interface::Scratch;
use crate::value::{Arg, Out, Value};
use jut_eval::{EvalError, Interpreter};
use jut_ir::Span;
use jut_runtime::Cancellation;
use jut_runtime::print::{self, Printer};

/// What finds the place, if the leaves of results have to be finite and are not.
pub(super) fn results<'s>(shared: &'s Shared, leaves: &[Value]) -> Option<&'s Interpreter> {
    shared.finite.as_ref().filter(|_| !leaves.iter().all(is_finite))
}

/// The same of results in memory of the caller.
pub(super) fn outs<'s>(shared: &'s Shared, outs: &[Out<'_>]) -> Option<&'s Interpreter> {
    let finite = |out: &Out<'_>| match out {
        Out::F64(x) => x.is_finite(),
        Out::F32(x) => x.is_finite(),
        Out::F64s(cells) => cells.iter().all(|x| x.is_finite()),
        Out::F32s(cells) => cells.iter().all(|x| x.is_finite()),
        _ => true,
    };
    shared.finite.as_ref().filter(|_| !outs.iter().all(finite))
}

/// What made the first number that is not finite. Who can end the call can end this too.
#[cold]
pub(super) fn found(
    shared: &Shared,
    (interpreter, cancellation): (&Interpreter, Option<&Cancellation>),
    args: &[Arg<'_>],
) -> Error {
    let interface = &shared.interface;
    for (k, (port, arg)) in interface.inputs().zip(args).enumerate() {
        if !is_finite_argument(arg) {
            let what = format!(
                "the argument `{}` is not finite, or has a number in it that is not",
                port.name
            );
            return interface.not_finite(interface.binder.span_of(k), what);
        }
    }
    let mut scratch = Scratch::default();
    let entered = interface.bound(&mut scratch, std::iter::empty(), args, |scratch, parts| {
        interface.entered(&[], &scratch.sizes, parts)
    });
    let entered = match entered {
        Ok(entered) => entered,
        Err(error) => return error,
    };
    // The call itself has printed its lines.
    let silent = Some(Printer::new(|_| {}));
    let interpreter = interpreter.clone().cancelled_by(cancellation.cloned());
    let run = print::to(silent, || interpreter.call(interface.root, &entered, &[], &[]));
    match run {
        Err(EvalError::NotFinite { span, what }) => interface.not_finite(span, what),
        Err(error) => interface.failed(Failure::of(error)),
        Ok(_) => interface.not_finite(
            Span::NONE,
            "a result is not finite, and no operation made it of numbers that are".to_string(),
        ),
    }
}

fn is_finite_argument(arg: &Arg<'_>) -> bool {
    match arg {
        Arg::F64(x) => x.is_finite(),
        Arg::F32(x) => x.is_finite(),
        Arg::F64s(cells, _) => cells.iter().all(|x| x.is_finite()),
        Arg::F32s(cells, _) => cells.iter().all(|x| x.is_finite()),
        Arg::Tuple(args) => args.iter().all(is_finite_argument),
        Arg::Values(values) | Arg::Data(_, values) | Arg::List(values) => {
            values.iter().all(is_finite)
        }
        _ => true,
    }
}

fn is_finite(value: &Value) -> bool {
    match value {
        Value::F64(x) => x.is_finite(),
        Value::F32(x) => x.is_finite(),
        Value::F64s(array) => array.data.iter().all(|x| x.is_finite()),
        Value::F32s(array) => array.data.iter().all(|x| x.is_finite()),
        Value::Tuple(items) | Value::Data(_, items) | Value::List(items) => {
            items.iter().all(is_finite)
        }
        _ => true,
    }
}
