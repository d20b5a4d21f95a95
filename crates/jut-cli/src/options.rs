//! The command line.

use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;

/// Gradients of programs as compiled machine code.
#[derive(Parser)]
#[command(name = "jut", version, about, after_help = EXIT_CODES)]
pub struct Options {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

const EXIT_CODES: &str = "Exit codes: 0 done; 1 the program is refused; 2 the command line, a file \
or an argument is wrong; 3 the program ran and failed (R01 to R06); 4 --check found a disagreement; \
5 no machine code could be made.";

/// What to do.
#[derive(Subcommand)]
pub enum Command {
    /// Parse and type-check programs.
    Check {
        /// The programs.
        #[arg(required = true)]
        files: Vec<PathBuf>,
        /// How to print.
        #[arg(long, value_enum, default_value_t)]
        format: Format,
    },
    /// Call a function.
    Run(Call),
    /// The results of a function, and its gradient.
    Grad(Call),
    /// Jacobian times vector: the results of a function, and their tangents.
    Jvp {
        /// What to call.
        #[command(flatten)]
        call: Call,
        /// Tangent of a parameter, as for --arg.
        #[arg(long = "tangent", value_name = "NAME=VALUE")]
        tangents: Vec<String>,
    },
    /// Vector times Jacobian: the results of a function, and the cotangents of its parameters.
    Vjp {
        /// What to call.
        #[command(flatten)]
        call: Call,
        /// Cotangent of a result (`value` for a single one without a name), as for --arg.
        #[arg(long = "cotangent", value_name = "NAME=VALUE")]
        cotangents: Vec<String>,
    },
    /// Print a stage of differentiating a function.
    Show {
        /// Which function.
        #[command(flatten)]
        target: Target,
        /// Which stage.
        #[arg(long, value_enum)]
        stage: Stage,
    },
}

/// Which function of which program, and what is made of it.
#[derive(Args)]
pub struct Target {
    /// The program.
    pub file: PathBuf,
    /// The function; without it, the last one of the program.
    pub function: Option<String>,
    /// Differentiate with respect to these parameters; without it, to all that have a float.
    #[arg(long, value_delimiter = ',', value_name = "NAME,..")]
    pub wrt: Vec<String>,
    /// How much goes on the tape.
    #[arg(long, value_enum, default_value_t)]
    pub policy: Policy,
    /// How to print.
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

/// A call of a function.
#[derive(Args)]
pub struct Call {
    /// Which function.
    #[command(flatten)]
    pub target: Target,
    /// An argument: JSON, or @FILE.json, @FILE.csv, @FILE.csv#COLUMN, @FILE.csv#FIRST..LAST
    /// (columns by name or by number from 0).
    #[arg(long = "arg", value_name = "NAME=VALUE")]
    pub args: Vec<String>,
    /// A JSON file with an object: one key per parameter. --arg comes on top.
    #[arg(long = "args", value_name = "FILE")]
    pub file_args: Option<PathBuf>,
    /// What runs it.
    #[arg(long, value_enum, default_value_t)]
    pub engine: Engine,
    /// The most memory that the tape and temporary arrays may take, in bytes.
    #[arg(long, value_name = "BYTES")]
    pub memory_limit: Option<usize>,
    /// Compare interpreter and native code bit for bit, jvp with vjp (dot-product test), and the
    /// derivative with central differences; print how far each is.
    #[arg(long)]
    pub check: bool,
}

/// How to print.
#[derive(Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum Format {
    /// For people.
    #[default]
    Text,
    /// For programs.
    Json,
}

/// What runs a function.
#[derive(Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum Engine {
    /// Native code through Cranelift.
    #[default]
    Cranelift,
    /// The interpreter.
    Interp,
}

/// How much goes on the tape.
#[derive(Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum Policy {
    /// What cannot be recomputed cheaply.
    #[default]
    Default,
    /// Everything that is needed again, as in the paper.
    #[value(name = "store_all", alias = "store-all")]
    StoreAll,
}

/// A stage to print.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Stage {
    /// What the user wrote.
    Source,
    /// The core language.
    Core,
    /// J: values and tangents.
    Forward,
    /// U: values and tape apart from tangents.
    Unzip,
    /// T: cotangents.
    Transpose,
    /// Value and gradient, composed and optimised.
    Gradient,
    /// The gradient in the loop form.
    Loop,
    /// The gradient in Cranelift's text form.
    Clif,
}

impl Stage {
    /// The stage of the library.
    pub fn stage(self) -> jut::Stage {
        match self {
            Stage::Source => jut::Stage::Source,
            Stage::Core => jut::Stage::Core,
            Stage::Forward => jut::Stage::Forward,
            Stage::Unzip => jut::Stage::Unzip,
            Stage::Transpose => jut::Stage::Transpose,
            Stage::Gradient => jut::Stage::Gradient,
            Stage::Loop => jut::Stage::Loop,
            Stage::Clif => jut::Stage::Clif,
        }
    }
}

impl Engine {
    /// The engine of the library.
    pub fn engine(self) -> jut::Engine {
        match self {
            Engine::Cranelift => jut::Engine::Cranelift,
            Engine::Interp => jut::Engine::Interpreter,
        }
    }
}

impl Policy {
    /// The policy of the library.
    pub fn policy(self) -> jut::Policy {
        match self {
            Policy::Default => jut::Policy::Default,
            Policy::StoreAll => jut::Policy::StoreAll,
        }
    }
}
