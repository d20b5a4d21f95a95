//! The command line.

mod evaluate;

use crate::values::{Compiler, Derivative, Engine, Stage};
use clap::{ArgGroup, Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;

pub use evaluate::Evaluate;

/// Gradients of programs as compiled machine code.
#[derive(Parser)]
#[command(name = "jut", version, about, after_help = EXIT_CODES)]
pub struct Options {
    /// How errors and warnings are printed: for people, or as one JSON object per line, to standard
    /// error in both cases.
    #[arg(long, value_enum, global = true, value_name = "FORMAT")]
    pub message_format: Option<Format>,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

const EXIT_CODES: &str = "Exit codes: 0 done; 1 the program is refused; 2 the command line, a file \
or an argument is wrong; 3 the program ran and failed (R01 to R09; R07 is Ctrl-C); 4 --check found a disagreement; \
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
    /// Say which backends are built in, and how to get the others.
    Doctor {
        /// How to print.
        #[arg(long, value_enum, default_value_t)]
        format: Format,
    },
    /// A call of a function or of one of its derivatives.
    #[command(flatten)]
    Evaluate(Evaluate),
    /// The derivative at a point, recorded on a tape once and applied to every tangent and cotangent
    /// given.
    Linearize(Linearize),
    /// Compile a function and its derivatives ahead of time: an object file and a C header.
    Build(Build),
    /// Say what a gradient stores, or what it costs.
    #[command(subcommand)]
    Explain(Explain),
    /// Print the text that the functions of a Rust file with `#[jut::differentiable]` become. Names are looked up in the file.
    Expand {
        /// The Rust file.
        file: PathBuf,
    },
    /// Lay programs out in the standard way, in place.
    Fmt {
        /// The programs.
        #[arg(required = true)]
        files: Vec<PathBuf>,
        /// Change nothing; name the files that would change, and exit with 4 if there are any.
        #[arg(long)]
        check: bool,
    },
    /// Print the completions of this command line for a shell: `jut completions bash >
    /// /etc/bash_completion.d/jut`.
    Completions {
        /// The shell.
        #[arg(value_enum)]
        shell: clap_complete::Shell,
    },
    /// Write the manual pages: jut.1, and one for every command.
    Man {
        /// Where to.
        directory: PathBuf,
    },
    /// Print a stage of differentiating a function.
    Show {
        /// Which function.
        #[command(flatten)]
        subject: Subject,
        /// Which stage; for a picture, the halves after U if nothing is said.
        #[arg(long, value_enum, required_unless_present = "draw")]
        stage: Option<Stage>,
        /// Whose loop form or assembly language: cranelift's if nothing is said.
        #[arg(long, value_enum)]
        engine: Option<Engine>,
        /// Write a picture of the data flow to this file, as SVG, instead of printing the text.
        #[arg(long, value_name = "FILE.svg")]
        draw: Option<PathBuf>,
    },
}

/// A call that records, and what the recorded map is applied to.
#[derive(Args)]
pub struct Linearize {
    /// What to call.
    #[command(flatten)]
    pub call: Call,
    /// Tangent of a parameter, as for --arg. Given again for the same parameter, it belongs to the
    /// next application.
    #[arg(long = "tangent", value_name = "NAME=VALUE")]
    pub tangents: Vec<String>,
    /// Cotangent of a result, in the same way: for the transposed map.
    #[arg(long = "cotangent", value_name = "NAME=VALUE")]
    pub cotangents: Vec<String>,
}

/// A report on a gradient.
#[derive(Subcommand)]
pub enum Explain {
    /// What goes on the tape: every stored value, its bytes as a formula in the sizes, and why; and how
    /// many bytes the other policies would take.
    Tape(Subject),
    /// What every stage costs for given arguments, beside the bounds of the paper's theorems.
    Cost {
        /// Which function.
        #[command(flatten)]
        subject: Subject,
        /// At which point.
        #[command(flatten)]
        given: Given,
    },
}

/// What is compiled ahead of time, and where it goes.
#[derive(Args)]
#[command(group(ArgGroup::new("library").args(["archive", "shared"]).multiple(true)))]
pub struct Build {
    /// Which function.
    #[command(flatten)]
    pub function: Subject,
    /// Further functions for the same object and header; all are treated alike.
    #[arg(value_name = "FUNCTION")]
    pub more: Vec<String>,
    /// What is made of each: one C function each.
    #[arg(
        long = "derivative",
        value_enum,
        value_delimiter = ',',
        value_name = "KIND,..",
        default_value = "value_grad"
    )]
    pub derivatives: Vec<Derivative>,
    /// The object file; without it, and without a library, named after the function.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// The C header; without it, beside the object or the library.
    #[arg(long, value_name = "FILE")]
    pub header: Option<PathBuf>,
    /// The static runtime that the object is linked with; without it, libjut_runtime.a beside the
    /// object.
    #[arg(long, value_name = "FILE")]
    pub runtime: Option<PathBuf>,
    /// A static library with the object and the runtime: libNAME.a.
    #[arg(long = "static", alias = "archive", value_name = "FILE")]
    pub archive: Option<PathBuf>,
    /// A shared library with the object and the runtime, linked by the system's C compiler:
    /// libNAME.so, libNAME.dylib or NAME.dll.
    #[arg(long, value_name = "FILE")]
    pub shared: Option<PathBuf>,
    /// The C compiler that links the shared library; without it, CC or cc, or the usual cross
    /// compiler for the target.
    #[arg(long, value_name = "PROGRAM", requires = "shared")]
    pub linker: Option<String>,
    /// A file for pkg-config about the library: NAME.pc.
    #[arg(long, value_name = "FILE", requires = "library")]
    pub pkg_config: Option<PathBuf>,
    /// A file for CMake's find_package about the library: NAME-config.cmake.
    #[arg(long, value_name = "FILE", requires = "library")]
    pub cmake: Option<PathBuf>,
    /// What makes the machine code.
    #[arg(long, value_enum, default_value_t)]
    pub engine: Compiler,
    /// For another machine, such as aarch64-unknown-linux-gnu; without it, for any machine like
    /// this one.
    #[arg(long = "target", value_name = "TRIPLE")]
    pub triple: Option<String>,
    /// Use every instruction of this machine; the object may not run on others.
    #[arg(long, conflicts_with = "triple")]
    pub native: bool,
    /// Which mathematical functions are called.
    #[arg(long, value_enum, default_value_t)]
    pub math: MathLibrary,
    /// What the names of the C functions begin with; without it, with the function's name. Of several
    /// functions, the names stand behind it.
    #[arg(long, value_name = "NAME")]
    pub prefix: Option<String>,
    /// How much of the caller's stack a call of a function that calls itself may take, such as 64KiB; without
    /// it, 256KiB. How deep its calls may be in each other follows from that.
    #[arg(long, value_name = "SIZE", value_parser = bytes)]
    pub stack: Option<usize>,
}

/// Which mathematical functions an object calls.
#[derive(Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum MathLibrary {
    /// Those of the static runtime: the same bits as `jut run`.
    #[default]
    Jut,
    /// Those of the system: nothing but -lm is linked, and memory is the caller's. Refused where the
    /// data decide how much memory a call needs, and for functions that C does not have.
    Libm,
}

impl MathLibrary {
    /// The library's name for it.
    pub fn library(self) -> jut::MathLibrary {
        match self {
            MathLibrary::Jut => jut::MathLibrary::Jut,
            MathLibrary::Libm => jut::MathLibrary::System,
        }
    }
}

/// Which function of which program, and what is made of it.
#[derive(Args)]
pub struct Subject {
    /// The program.
    pub file: PathBuf,
    /// The function; without it, the last one of the program.
    pub function: Option<String>,
    /// A shared library with C functions for declarations `extern def` of the program, as the headers of `jut build` declare them;
    /// may be given again. The file is trusted: its code runs.
    #[arg(long = "library", value_name = "FILE.so")]
    pub libraries: Vec<PathBuf>,
    /// Differentiate with respect to these parameters; without it, to all that have a float.
    #[arg(long, value_delimiter = ',', value_name = "NAME,..")]
    pub wrt: Vec<String>,
    /// Which of several results a gradient is of: its name or, if it has none, its number, from 0.
    #[arg(long, value_name = "RESULT")]
    pub of: Option<String>,
    /// How much goes on the tape.
    #[arg(long, value_enum, default_value_t)]
    pub policy: Policy,
    /// How to print.
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
    /// Also compile once more, and print how long each pass took and how large the program was after
    /// it, to standard error.
    #[arg(long)]
    pub time_passes: bool,
}

/// The arguments of a call.
#[derive(Args)]
pub struct Given {
    /// An argument: JSON, or @FILE.json, @FILE.npy, @FILE.csv, @FILE.csv#COLUMN,
    /// @FILE.csv#FIRST..LAST (columns by name or by number from 0).
    #[arg(long = "arg", value_name = "NAME=VALUE")]
    pub args: Vec<String>,
    /// A JSON file with an object: one key per parameter. --arg comes on top.
    #[arg(long = "args", value_name = "FILE")]
    pub file_args: Option<PathBuf>,
}

/// Where results go, if not to the terminal.
#[derive(Args)]
pub struct Outputs {
    /// Write a result to FILE.npy or FILE.json: `x=grad.npy`. A derivative goes by the name that it is
    /// printed with, or `gradient.x`.
    #[arg(long, value_name = "NAME=FILE")]
    pub out: Vec<String>,
    /// Write every result to DIR/NAME.npy, and every derivative to DIR/KIND.NAME.npy, such as
    /// gradient.x.npy.
    #[arg(long, value_name = "DIR")]
    pub out_dir: Option<PathBuf>,
}

/// A number of bytes, with a unit or without.
fn bytes(text: &str) -> Result<usize, String> {
    let split = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let factor: usize = match unit {
        "" | "B" => 1,
        "kB" | "KB" => 1000,
        "MB" => 1_000_000,
        "GB" => 1_000_000_000,
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        "GiB" => 1 << 30,
        _ => return Err(format!("`{unit}` is no unit: write kB, MB, GB, KiB, MiB or GiB")),
    };
    let number: usize =
        number.trim().parse().map_err(|_| format!("`{number}` is no number of bytes"))?;
    number.checked_mul(factor).ok_or_else(|| "too many bytes".to_string())
}

/// A call of a function.
#[derive(Args)]
pub struct Call {
    /// Which function.
    #[command(flatten)]
    pub subject: Subject,
    /// With what.
    #[command(flatten)]
    pub given: Given,
    /// Where the results go.
    #[command(flatten)]
    pub outputs: Outputs,
    /// What runs it: cranelift if nothing is said.
    #[arg(long, value_enum)]
    pub engine: Option<Engine>,
    /// The most memory that the tape and temporary arrays may take, in bytes.
    #[arg(long, value_name = "BYTES")]
    pub memory_limit: Option<usize>,
    /// Run every loop on one thread. Without it, loops that take long enough run on as many threads as there are cores, or as
    /// the environment variable RAYON_NUM_THREADS says; the results have the same bits.
    #[arg(long)]
    pub sequential: bool,
    /// The most memory that the tape of a gradient may take, such as 10MB or 64KiB: loops get segments that are run again
    /// (`@levels(d)`, `@revolve(c)`) where it would take more, or the call is refused before it runs.
    #[arg(long, value_name = "SIZE", value_parser = bytes)]
    pub memory: Option<usize>,
    /// Compare every engine that is built in, or the one of --engine, with the interpreter bit for
    /// bit, jvp with vjp (dot-product test), and the derivative with central differences; print how
    /// far each is.
    #[arg(long)]
    pub check: bool,
}

impl Call {
    /// What runs the function.
    pub fn engine(&self) -> jut::Engine {
        self.engine.map_or_else(Default::default, |engine| engine.0)
    }

    /// What `--check` compares with the interpreter, by name: what was asked for, else all that this
    /// build has.
    pub fn compared(&self) -> Vec<(&'static str, jut::Engine)> {
        let native: Vec<jut::Engine> = match self.engine {
            Some(asked) => vec![asked.0],
            None => jut::BACKENDS.iter().map(|(engine, _)| *engine).collect(),
        };
        let native = native.into_iter().filter(|e| e.is_built_in() && e.backend().is_some());
        native.map(|engine| (engine.name(), engine)).collect()
    }
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

/// How much goes on the tape.
#[derive(Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum Policy {
    /// What takes the least time.
    #[default]
    Default,
    /// Everything that is needed again, as in the paper.
    #[value(name = "store_all", alias = "store-all")]
    StoreAll,
    /// As little as can be, at the price of repeated divisions.
    Minimal,
}

impl Policy {
    /// The policy of the library.
    pub fn policy(self) -> jut::Policy {
        match self {
            Policy::Default => jut::Policy::Default,
            Policy::StoreAll => jut::Policy::StoreAll,
            Policy::Minimal => jut::Policy::Minimal,
        }
    }
}
