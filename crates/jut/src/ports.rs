//! Names for what goes into a compiled function and what comes out.

use crate::layout::{Labels, Layout};
use jut_ad::compose::{Composition, Outcome, Parameter};
use jut_ir::{FuncId, Function, Mode, NVar, Program, Type};
use std::ops::Range;

/// Whether a result is one of the function's own, or a derivative.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Role {
    /// A result of the function.
    Value,
    /// A gradient or cotangent (named after its parameter), or a tangent (named after its result).
    Derivative,
}

/// A parameter or result as its user sees it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Port<'p> {
    /// Its name.
    pub name: &'p str,
    /// Its type in the words of the program, such as `[n, d]f64`.
    pub ty: &'p str,
    /// What it is. Arguments are values; tangents and cotangents among the arguments derivatives.
    pub role: Role,
    /// The name of the parameter that a tangent, or of the result that a cotangent among the arguments belongs to; of
    /// everything else its own.
    pub of: &'p str,
    /// How many dimensions an array has; none for anything else.
    pub rank: usize,
}

/// A parameter of a composition.
#[derive(Clone, Debug)]
pub(crate) struct Input {
    /// The name of what it belongs to.
    pub of: Name,
    /// What it is.
    pub what: Parameter,
    /// A size that the caller leaves out.
    pub hidden: bool,
    /// The names of the components of a tangent or cotangent.
    pub labels: Labels,
}

impl Input {
    /// Its name: that of what it belongs to, and a mark.
    pub fn name(&self) -> String {
        let mark = match self.what {
            Parameter::Tangent(_) => "'",
            Parameter::Cotangent(_) | Parameter::LinearCotangent(_) => "''",
            Parameter::Argument(_) | Parameter::Saved(_) => "",
            Parameter::Size | Parameter::Count => "",
        };
        format!("{}{mark}", self.of.marked)
    }

    /// An argument of the function, or a tangent or cotangent.
    pub fn role(&self) -> Role {
        match self.what {
            Parameter::Argument(_) | Parameter::Saved(_) => Role::Value,
            _ => Role::Derivative,
        }
    }
}

/// A result of a composition.
#[derive(Clone, Debug)]
pub(crate) struct Output {
    /// Its name.
    pub name: Name,
    /// What it is.
    pub role: Role,
    /// The names of the components of a derivative.
    pub labels: Labels,
    /// What it is of the function.
    pub what: Outcome,
}

/// A result with everything needed to hand it out.
#[derive(Clone, Debug)]
pub(crate) struct ResultLayout {
    pub name: String,
    pub role: Role,
    /// The names of its components, if it is a derivative.
    pub labels: Labels,
    pub ty: Type,
    /// The type that its caller sees, if it is handed over in lists.
    pub packed: Option<Type>,
    /// The argument or result whose tangent it is.
    pub like: Option<Like>,
    pub shown: String,
    /// How its values are laid out, and where their leaves are among those of all results.
    pub layout: Layout,
    pub leaves: Range<usize>,
    /// The name by which the types of other results call it.
    pub var: Option<NVar>,
}

/// The value that a tangent belongs to: the number of an argument that the caller gives, or of a result; or that of a
/// value that is kept of a run, with its type.
#[derive(Clone, Debug)]
pub(crate) enum Like {
    Input(usize),
    Output(usize),
    Kept(usize, Type),
}

impl Like {
    /// What an input is the tangent or cotangent of.
    pub fn of_input(what: Parameter, inputs: &[Input], outputs: &[Output]) -> Option<Like> {
        match what {
            Parameter::Tangent(k) => argument(k, inputs),
            Parameter::Cotangent(k) => value(k, outputs),
            _ => None,
        }
    }

    /// The same of an output.
    pub fn of_output(what: Outcome, inputs: &[Input], outputs: &[Output]) -> Option<Like> {
        match what {
            Outcome::Gradient(k) => argument(k, inputs),
            Outcome::Tangent(k) => value(k, outputs),
            _ => None,
        }
    }
}

fn argument(k: usize, inputs: &[Input]) -> Option<Like> {
    let mut visible = inputs.iter().filter(|i| !i.hidden);
    visible.position(|i| i.what == Parameter::Argument(k)).map(Like::Input)
}

fn value(k: usize, outputs: &[Output]) -> Option<Like> {
    outputs.iter().position(|o| o.what == Outcome::Value(k)).map(Like::Output)
}

/// What goes into a composition and what comes out, in the words of the user's function; `made` is the
/// definition. What is saved of a run, and the tape, are not among these. The names follow the table of
/// [`crate::request`].
pub(crate) fn ports(
    (program, func): (&Program, FuncId),
    composition: &Composition,
    made: &Function,
) -> (Vec<Input>, Vec<Output>) {
    let own = &program.funcs[func];
    let names = Names::of(own);
    let of_param = |k: usize| {
        let ty = own.params.get(k).map(|p| &own.nvars[*p].ty);
        ty.map_or_else(Labels::default, |ty| Labels::of_tangent(program, ty))
    };
    let of_result = |k: usize| {
        let ty = own.results.get(k).map(|r| &r.ty);
        ty.map_or_else(Labels::default, |ty| Labels::of_tangent(program, ty))
    };
    let mut inputs = Vec::new();
    for (param, what) in made.params.iter().zip(&composition.parameters) {
        let of = match *what {
            Parameter::Saved(_) => continue,
            Parameter::Argument(k) | Parameter::Tangent(k) => names.params[k].clone(),
            Parameter::Cotangent(k) => names.results[k].clone(),
            Parameter::LinearCotangent(k) => Name::plain(&names.linear_results[k]),
            Parameter::Size | Parameter::Count => Name::plain(&made.nvars[*param].name),
        };
        let hidden = match *what {
            Parameter::Argument(k) => k < names.size_params,
            what => matches!(what, Parameter::Size | Parameter::Count),
        };
        let labels = match *what {
            Parameter::Tangent(k) => of_param(k),
            Parameter::Cotangent(k) => of_result(k),
            _ => Labels::default(),
        };
        inputs.push(Input { of, what: *what, hidden, labels });
    }
    let mut outputs = Vec::new();
    for outcome in &composition.results {
        let role = match *outcome {
            Outcome::Value(_) => Role::Value,
            _ => Role::Derivative,
        };
        // The name of a block of partial derivatives.
        let block = |of: &Name, by: &Name| Name {
            marked: format!("{},{}", of.marked, by.marked),
            bare: format!("{},{}", of.marked, by.bare),
        };
        let name = match *outcome {
            Outcome::Tape => continue,
            Outcome::Value(k) | Outcome::Tangent(k) => names.results[k].clone(),
            Outcome::Gradient(k) => names.params[k].clone(),
            Outcome::LinearGradient(k) => Name::plain(&names.linear_params[k]),
            Outcome::Partial { of, by } => block(&names.results[of], &names.params[by]),
            Outcome::Second { of, by } => block(&names.params[of], &names.params[by]),
        };
        let labels = match *outcome {
            Outcome::Tangent(k) => of_result(k),
            Outcome::Gradient(k) => of_param(k),
            Outcome::Partial { of, by } => of_result(of).around(&of_param(by)),
            Outcome::Second { of, by } => of_param(of).around(&of_param(by)),
            _ => Labels::default(),
        };
        outputs.push(Output { name, role, labels, what: *outcome });
    }
    (inputs, outputs)
}

/// A name of the user's function.
#[derive(Clone, Debug)]
pub(crate) struct Name {
    /// As the function has it: a linear value's with its mark.
    pub marked: String,
    /// Without the mark.
    pub bare: String,
}

impl Name {
    pub fn plain(name: impl ToString) -> Name {
        Name { marked: name.to_string(), bare: name.to_string() }
    }

    fn linear(name: &str) -> Name {
        Name { marked: name.to_string(), bare: bare(name) }
    }

    /// Whether it is a linear value's.
    #[cfg(feature = "aot")]
    pub fn is_linear(&self) -> bool {
        self.marked != self.bare
    }
}

/// The name of a linear value as a definition has it, without its mark.
fn bare(name: &str) -> String {
    name.trim_end_matches('\'').to_string()
}

/// The names of the user's function.
///
/// A function with linear parameters takes and returns them after the others, as plain values, and
/// so what it reads through a capability.
struct Names {
    size_params: usize,
    params: Vec<Name>,
    results: Vec<Name>,
    /// What has become linear in the transpose, without the mark.
    linear_params: Vec<String>,
    linear_results: Vec<String>,
}

impl Names {
    fn of(f: &Function) -> Names {
        let caps = |mode: Mode| {
            let caps = f.cap_params.iter().map(|cap| &f.caps[*cap]);
            caps.filter(move |cap| cap.mode == mode).map(|cap| cap.name.to_string())
        };
        let linear = f.lin_params.iter().map(|x| Name::linear(&f.lvars[*x].name));
        let params = f.params.iter().map(|p| Name::plain(&f.nvars[*p].name));
        let count = f.results.len() + f.lin_results.len();
        let named = |given: Option<String>, k: usize, count: usize| {
            given.unwrap_or_else(|| if count == 1 { "value".to_string() } else { k.to_string() })
        };
        let results = f.results.iter().map(|r| r.name.map(|v| Name::plain(&f.nvars[v].name)));
        let linear_results = f.lin_results.iter().map(|r| r.name.as_deref().map(Name::linear));
        let all = results.chain(linear_results).enumerate();
        let all = all.map(|(k, name)| name.unwrap_or_else(|| Name::plain(named(None, k, count))));
        let linear_count = f.lin_results.len() + caps(Mode::Wr).count();
        let cotangents = f.lin_results.iter().map(|r| r.name.as_deref().map(bare)).enumerate();
        Names {
            size_params: f.size_params,
            params: params.chain(linear).chain(caps(Mode::Rd).map(Name::plain)).collect(),
            results: all.collect(),
            linear_params: {
                let values = f.lin_params.iter().map(|x| bare(&f.lvars[*x].name));
                values.chain(caps(Mode::Rd)).collect()
            },
            linear_results: {
                let values = cotangents.map(|(k, name)| named(name, k, linear_count));
                values.chain(caps(Mode::Wr)).collect()
            },
        }
    }
}
