//! The reference interpreter: what every program means, value by value, on every stage.
//!
//! It runs anything that the checker accepts: elaborated source, `f.jvp`, `f.nonlin`, `f.lin`,
//! `f.linT`, erased code and compositions. Linear and non-linear code are walked alike: a linear
//! value is an ordinary value that is used once, `rd` is a view, `wr` and `acc` own storage that
//! `+=` changes in place, O(1) per access. Indices, slices, casts and stated fields are always
//! tested, also where a pass has proved them: an access that is out of range though no `check` has
//! failed before it is no error of the user's program, but of the passes ([`EvalError::Unchecked`]).
//!
//! Besides values a run gives [`Counters`]: the work W and the bytes B of the cost model. The
//! order of every sum is fixed; it is described in the module that walks programs and is the order
//! of every other engine.
//!
//! ```
//! use jut_eval::{Interpreter, Value};
//! use jut_ir::{build::FunctionBuilder, ir::*, prim, span::Span, types::Type};
//!
//! // core def f(x: f64) -> f64 = { y = x * x; y }
//! let mut b = FunctionBuilder::default();
//! b.func.name = "f".into();
//! let x = b.nvar("x", Type::F64, Span::NONE);
//! let y = b.nvar("y", Type::F64, Span::NONE);
//! b.func.params = vec![x];
//! b.func.results = vec![ResultDecl { name: None, ty: Type::F64 }];
//! b.func.body.stmts = vec![Stmt {
//!     nl: vec![y],
//!     lin: vec![],
//!     rhs: Rhs::Prim(prim::MUL, vec![x.into(), x.into()]),
//!     annotated: false,
//!     loc: Default::default(),
//! }];
//! b.func.body.nl = vec![y.into()];
//! let mut program = Program::default();
//! let f = program.add_func(b.func);
//!
//! let outcome = Interpreter::new(&program).call(f, &[Value::F64(3.0)], &[], &[])?;
//! assert_eq!(outcome.results, [Value::F64(9.0)]);
//! assert_eq!(outcome.counters.w(), 1);
//! # Ok::<(), jut_eval::EvalError>(())
//! ```
//!
//! Requires: the program passes the checker (otherwise [`EvalError::Unchecked`], never a panic).
//! Ensures: the same results, bit for bit, for the same arguments. Cost: preparing is linear in the
//! text of the program; running is a small constant per operation and per scalar touched. Stack
//! depth follows the nesting of blocks and calls, and moves to fresh stacks when that is deep.

mod arguments;
mod code;
pub mod cost;
mod counters;
mod declaration;
mod execution;
mod finite;
mod frame;
pub mod laws;
mod memory;
mod pieces;
mod region;
pub mod scalar;
mod structured;
mod value;
pub mod vector;

pub use counters::Counters;
pub use scalar::LinearScalar;
pub use value::{Array, Cells, Items, Value, View};

use code::Code;
use execution::Execution;
use frame::Capability;
use jut_ir::RuntimeError;
use jut_ir::calls::{LEVELS, Recursion};
use jut_ir::entity::{DataId, FuncId, PrimaryMap};
use jut_ir::ir::{Data, Mode, Program};
use jut_ir::span::Span;
use jut_runtime::foreign::{self, Functions};
use jut_runtime::workspace::default_limit;
use jut_runtime::{Cancellation, cancel};
use memory::Meter;
use std::sync::Arc;

/// A program, prepared for running. Cloning shares what is prepared.
#[derive(Clone, Debug)]
pub struct Interpreter {
    codes: Arc<PrimaryMap<FuncId, Code>>,
    datas: Arc<PrimaryMap<DataId, Data>>,
    limit: u64,
    linear: LinearScalar,
    /// Whether a number that is not finite ends a call.
    finite: bool,
    cancellation: Option<Cancellation>,
    /// The functions of other languages, by number.
    foreign: Option<Functions>,
}

/// What a call gives.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Non-linear results.
    pub results: Vec<Value>,
    /// Linear results.
    pub linear: Vec<Value>,
    /// Final contents of the `wr` and `acc` parameters, in the order of the parameters.
    pub buffers: Vec<Value>,
    /// What it cost.
    pub counters: Counters,
}

/// Why a call gives nothing.
#[derive(Clone, PartialEq, Debug)]
pub enum EvalError {
    /// An error of the running program: `R01` to `R09`.
    Runtime(RuntimeError),
    /// An argument does not have the type of its parameter.
    Argument {
        /// What is wrong.
        message: String,
    },
    /// A number is not finite, in a call that this [ends](Interpreter::finite).
    NotFinite {
        /// The statement.
        span: Span,
        /// What made it: `` `log(-1.0)` is NaN ``.
        what: String,
    },
    /// The program breaks a rule of the checker.
    Unchecked {
        /// The statement.
        span: Span,
        /// Which rule.
        what: &'static str,
    },
}

impl EvalError {
    /// The error of the running program, if it is one.
    pub fn runtime(&self) -> Option<&RuntimeError> {
        match self {
            EvalError::Runtime(error) => Some(error),
            _ => None,
        }
    }
}

impl std::fmt::Display for EvalError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            EvalError::Runtime(error) => error.fmt(f),
            EvalError::Argument { message } => f.write_str(message),
            EvalError::NotFinite { what, .. } => f.write_str(what),
            EvalError::Unchecked { what, .. } => write!(f, "unchecked program: {what}"),
        }
    }
}

impl std::error::Error for EvalError {}

impl Interpreter {
    /// Prepares every function of a program. A call may take [what the process may
    /// have](jut_runtime::limits), unless another limit is set.
    pub fn new(program: &Program) -> Interpreter {
        let recursion = Recursion::of(program);
        let prepare = |id| code::prepare(program, id, &recursion);
        Interpreter {
            codes: Arc::new(program.funcs.keys().map(prepare).collect()),
            datas: Arc::new(program.datas.clone()),
            limit: default_limit() as u64,
            linear: LinearScalar::F64,
            finite: false,
            cancellation: None,
            foreign: None,
        }
    }

    /// Sets the functions of other languages that programs call, by number; without them, those of the thread
    /// ([`jut_runtime::foreign::with`]).
    pub fn foreign(mut self, functions: Option<Functions>) -> Interpreter {
        self.foreign = functions;
        self
    }

    /// Sets how many bytes of arrays a call may have alive at once; more is error `R06`.
    pub fn memory_limit(mut self, bytes: u64) -> Interpreter {
        self.limit = bytes;
        self
    }

    /// How many bytes of arrays a call may have alive at once.
    pub fn limit(&self) -> u64 {
        self.limit
    }

    /// Sets what ends calls from outside; that is the error `R07`.
    pub fn cancelled_by(mut self, cancellation: Option<Cancellation>) -> Interpreter {
        self.cancellation = cancellation;
        self
    }

    /// Sets what linear code computes with. Linear arguments, `rd` values and `wr` buffers are then
    /// vectors of that scalar (see [`vector::to_field`]).
    pub fn linear_scalar(mut self, linear: LinearScalar) -> Interpreter {
        self.linear = linear;
        self
    }

    /// Sets whether a call ends at the first operation that makes a number which is not finite of such as are:
    /// [`EvalError::NotFinite`]. Sums of a loop, which add one number at a time to a cell, are not looked at.
    pub fn finite(mut self, finite: bool) -> Interpreter {
        self.finite = finite;
        self
    }

    /// Runs a part of a call on this thread, so that what works on whole arrays stops early once the
    /// call is cancelled.
    pub(crate) fn heeding<T>(&self, work: impl FnOnce() -> T) -> T {
        match &self.cancellation {
            None => work(),
            Some(cancellation) => cancel::during(cancellation, work),
        }
    }

    fn code(&self, func: FuncId) -> Option<&Code> {
        self.codes.get(func)
    }

    /// Calls a function with all its non-linear arguments (sizes included), its linear arguments,
    /// and one value per capability parameter: what an `rd` gives, what a `wr` or `acc` starts from.
    pub fn call(
        &self,
        func: FuncId,
        args: &[Value],
        linear: &[Value],
        caps: &[Value],
    ) -> Result<Outcome, EvalError> {
        let call = || self.heeding(|| self.called(func, args, linear, caps));
        match &self.foreign {
            None => call(),
            Some(functions) => foreign::with(functions, call),
        }
    }

    fn called(
        &self,
        func: FuncId,
        args: &[Value],
        linear: &[Value],
        caps: &[Value],
    ) -> Result<Outcome, EvalError> {
        let Some(code) = self.codes.get(func) else {
            return Err(EvalError::Argument { message: "there is no such function".into() });
        };
        let mut frame = code.frame();
        self.bind(code, &mut frame, args, linear, caps)?;
        let mut execution = Execution {
            interpreter: self,
            regions: Vec::new(),
            counters: Counters::default(),
            meter: Meter::new(self.limit),
            depth: 0,
            levels: LEVELS,
        };
        let mut buffers = 0;
        for (param, value) in code.cap_params.iter().zip(caps) {
            frame.caps[param.slot as usize] = if param.mode == Mode::Rd {
                Capability::Read(value.clone())
            } else {
                buffers += 1;
                let buffer = execution.buffer(param, value, &frame);
                buffer.map_err(|fault| execution.cause(fault).error)?
            };
        }
        let (results, linear) = match &code.foreign {
            Some(foreign) => execution.called_from_outside(foreign, args, linear, &frame)?,
            None => {
                execution.begin(&code.body, &mut frame).map_err(|fault| fault.error)?;
                execution.outcome(&code.body, &mut frame)
            }
        };
        let mut contents = Vec::with_capacity(buffers);
        for region in execution.regions.drain(..buffers) {
            contents.push(region.into_value().ok_or(EvalError::Unchecked {
                span: Span::NONE,
                what: "a sum of something that is not a vector",
            })?);
        }
        Ok(Outcome { results, linear, buffers: contents, counters: execution.counters })
    }
}
