//! The commands that call a function or one of its derivatives: read from the table of requests
//! ([`jut::request::TABLE`]), so that a new row is a new command.

use super::Call;
use clap::error::{Error, ErrorKind};
use clap::{ArgMatches, Args, Command, FromArgMatches, Subcommand, ValueEnum};
use jut::request::{Row, Seeds, TABLE};
use jut::{JacobianMode, Request};

/// A call of a function or of one of its derivatives.
pub struct Evaluate {
    /// What is called.
    pub request: Request,
    /// With what.
    pub call: Call,
    /// Tangents or cotangents.
    pub seeds: Vec<String>,
}

/// A call with tangents.
#[derive(Args)]
struct Along {
    /// What to call.
    #[command(flatten)]
    call: Call,
    /// Tangent of a parameter, as for --arg.
    #[arg(long = "tangent", value_name = "NAME=VALUE")]
    tangents: Vec<String>,
}

/// A call with cotangents.
#[derive(Args)]
struct Against {
    /// What to call.
    #[command(flatten)]
    call: Call,
    /// Cotangent of a result (`value` for a single one without a name), as for --arg.
    #[arg(long = "cotangent", value_name = "NAME=VALUE")]
    cotangents: Vec<String>,
}

/// A call of a Jacobian.
#[derive(Args)]
struct Partials {
    /// What to call.
    #[command(flatten)]
    call: Call,
    /// How: by columns, by rows, or by what is less.
    #[arg(long, value_enum, default_value_t)]
    mode: Mode,
}

/// How a Jacobian is computed.
#[derive(Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
enum Mode {
    /// By columns if there are no more numbers in the parameters than in the results, else by rows.
    #[default]
    Auto,
    /// By columns: the linear part once per number in the parameters.
    Forward,
    /// By rows: its transpose once per number in the results.
    Reverse,
}

/// What the arguments of a command look like.
enum Form {
    Plain,
    Along,
    Against,
    Partials,
}

fn form(row: &Row) -> Form {
    match (row.request, row.seeds) {
        (Request::ValueAndJacobian(_), _) => Form::Partials,
        (_, Seeds::None) => Form::Plain,
        (_, Seeds::Tangents) => Form::Along,
        (_, Seeds::Cotangents) => Form::Against,
    }
}

/// The row that a command calls.
fn called(command: &str) -> Option<&'static Row> {
    TABLE.iter().find(|row| row.command == Some(command))
}

impl FromArgMatches for Evaluate {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Evaluate, Error> {
        let given = matches.subcommand().and_then(|(name, given)| Some((called(name)?, given)));
        let Some((row, given)) = given else {
            return Err(Error::new(ErrorKind::MissingSubcommand));
        };
        let mut request = row.request;
        let (call, seeds) = match form(row) {
            Form::Plain => (Call::from_arg_matches(given)?, Vec::new()),
            Form::Along => {
                let along = Along::from_arg_matches(given)?;
                (along.call, along.tangents)
            }
            Form::Against => {
                let against = Against::from_arg_matches(given)?;
                (against.call, against.cotangents)
            }
            Form::Partials => {
                let partials = Partials::from_arg_matches(given)?;
                request = Request::ValueAndJacobian(match partials.mode {
                    Mode::Auto => JacobianMode::Auto,
                    Mode::Forward => JacobianMode::Forward,
                    Mode::Reverse => JacobianMode::Reverse,
                });
                (partials.call, Vec::new())
            }
        };
        Ok(Evaluate { request, call, seeds })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Evaluate::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Subcommand for Evaluate {
    fn augment_subcommands(command: Command) -> Command {
        let rows = TABLE.iter().filter_map(|row| Some((row.command?, row)));
        rows.fold(command, |command, (name, row)| {
            let own = Command::new(name);
            let own = match form(row) {
                Form::Plain => Call::augment_args(own),
                Form::Along => Along::augment_args(own),
                Form::Against => Against::augment_args(own),
                Form::Partials => Partials::augment_args(own),
            };
            command.subcommand(own.about(row.says))
        })
    }

    fn augment_subcommands_for_update(command: Command) -> Command {
        Evaluate::augment_subcommands(command)
    }

    fn has_subcommand(name: &str) -> bool {
        called(name).is_some()
    }
}
