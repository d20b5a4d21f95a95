//! Attacks: programs, texts, files and arguments that nobody meant, in child processes.
//!
//! Each number is one attack; the same number makes the same one on every machine. It goes wrong if the
//! process that runs it ends by a signal, panics, takes too long, or finds engines that differ or a
//! derivative that fails where its function does not. Child processes do a few at a time, each with
//! a limit of memory; one that dies names the attack by which it died, which is then made smaller: lines
//! are taken out of the text as long as it goes wrong in the same way. Changed programs may have loops that
//! never end: a call that takes seconds is cancelled, and has to end then.
//!
//! | kind | what |
//! |---|---|
//! | small | [`programs`]: small programs, every index and size of which may come from outside |
//! | random | the programs of [`crate::generate`], with arguments that they do not expect |
//! | stage | a printed stage of one of these, changed: tests taken out, accesses marked as proved |
//! | text | a test program or an example, changed |
//! | limit | a small program with little memory |
//! | files | arguments, arrays, tables and modules from [`files`] that were changed |
//!
//! What compiled code reads and writes lies at guard pages, see [`crate::guard`].

mod child;
mod control;
mod files;
mod mutate;
mod programs;
pub(crate) mod run;
mod said;

use crate::generate::{self, Extent};
use crate::values;
use fastrand::Rng;
use jut::{Engine, Model, Stage, Value};
use run::{Attacked, MEMORY, Outcome};
use std::path::Path;

pub use control::{Options, main};

/// A text, one of its functions, and its arguments.
#[derive(Clone, Debug)]
pub struct Subject {
    /// The program.
    pub text: String,
    /// The function.
    pub func: String,
    /// Its arguments, sizes left out.
    pub args: Vec<Value>,
}

/// The kinds of attacks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Small,
    Random,
    Stage,
    Text,
    Limit,
    Files,
}

impl Kind {
    fn of(seed: u64) -> Kind {
        match seed % 20 {
            0..=8 => Kind::Small,
            9..=11 => Kind::Random,
            12..=15 => Kind::Stage,
            16 | 17 => Kind::Text,
            18 => Kind::Limit,
            _ => Kind::Files,
        }
    }
}

/// One attack.
struct Attack {
    seed: u64,
    kind: Kind,
    /// For all kinds but files.
    subject: Option<Subject>,
}

/// What came of an attack that did no harm.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum End {
    /// The text or file was refused.
    Refused,
    /// It takes too long, and was cancelled.
    Cancelled,
    /// The function failed, and everything with it.
    Fails,
    /// The function gave results.
    Values,
}

impl Attack {
    fn new(seed: u64) -> Attack {
        let kind = Kind::of(seed);
        let mut rng = Rng::with_seed(seed ^ 0xa77a);
        let subject = match kind {
            Kind::Small | Kind::Limit => Some(programs::generate(seed)),
            Kind::Random => Some(random(&mut rng, seed)),
            Kind::Stage => stage(&mut rng, seed),
            Kind::Text => text(&mut rng),
            Kind::Files => None,
        };
        Attack { seed, kind, subject }
    }

    /// Does it.
    fn run(&self, engines: &[(&'static str, Engine)]) -> Result<End, String> {
        let Some(Subject { text, func, args }) = &self.subject else {
            // A stage of what is refused is nothing.
            return if self.kind == Kind::Files {
                files::attack(self.seed)
            } else {
                Ok(End::Refused)
            };
        };
        let model = match Model::from_text(text) {
            Ok(model) => model,
            Err(error) => {
                // What is wrong can be said, in lines.
                return match error.render(false).is_empty() {
                    true => Err("refused without a word".into()),
                    false => Ok(End::Refused),
                };
            }
        };
        match self.kind {
            Kind::Text | Kind::Stage => {
                let mut rng = Rng::with_seed(self.seed);
                let names: Vec<String> = model.functions().map(String::from).collect();
                let mut end = End::Refused;
                for name in names.iter().rev().take(6) {
                    end = end.max(any_function(&model, name, &mut rng, engines, self.seed)?);
                }
                Ok(end)
            }
            Kind::Limit => {
                const LIMITS: [usize; 7] = [0, 1, 64, 4096, 66_000, 200_000, 1_000_000];
                let limit = LIMITS[(self.seed / 20 % 7) as usize];
                function(&model, func, args, engines, limit, self.seed)
            }
            _ => function(&model, func, args, engines, MEMORY, self.seed),
        }
    }
}

fn function(
    model: &Model,
    func: &str,
    args: &[Value],
    engines: &[(&'static str, Engine)],
    limit: usize,
    seed: u64,
) -> Result<End, String> {
    let Ok(function) = model.function(func) else { return Ok(End::Refused) };
    let target = Attacked::new(&function, args, engines, limit, seed)?;
    target.products()?;
    Ok(match target.reference() {
        cancelled if cancelled.is_cancelled() => End::Cancelled,
        Outcome::Values(_) => End::Values,
        Outcome::Fails(..) => End::Fails,
        Outcome::Refused(_) => End::Refused,
    })
}

/// A function of any type, with random arguments; one that takes more than numbers is compiled only.
fn any_function(
    model: &Model,
    name: &str,
    rng: &mut Rng,
    engines: &[(&'static str, Engine)],
    seed: u64,
) -> Result<End, String> {
    let Ok(f) = model.function(name) else { return Ok(End::Refused) };
    match values::arguments(rng, &f.parameters()) {
        Some(args) => function(model, name, &args, engines, MEMORY, seed),
        None => match f.engine(Engine::Cranelift).value() {
            Err(jut::Error::Backend(text)) => Err(format!("error: {text}")),
            _ => Ok(End::Refused),
        },
    }
}

/// A program of the generator, with indices that it does not expect.
fn random(rng: &mut Rng, seed: u64) -> Subject {
    let extent = Extent { main: 8, helper: 4 };
    let mut generated = generate::generate_of(seed, extent);
    let near = generated.n as i64;
    for index in &mut generated.ix {
        if rng.u8(0..8) == 0 {
            *index = values::hostile(rng, near);
        }
    }
    if rng.u8(0..4) == 0 {
        generated.a = values::float(rng);
    }
    let args = generated.values();
    Subject { text: generated.text, func: generated.func.into(), args }
}

/// A printed stage of a small program, changed; none if the program is refused.
fn stage(rng: &mut Rng, seed: u64) -> Option<Subject> {
    const STAGES: [Stage; 6] =
        [Stage::Core, Stage::Core, Stage::Forward, Stage::Unzip, Stage::Gradient, Stage::Optimised];
    let subject = programs::generate(seed);
    let model = Model::from_text(&subject.text).ok()?;
    let text = model.function(&subject.func).ok()?.stage(STAGES[rng.usize(0..6)]).ok()?;
    Some(Subject { text: mutate::mutated(rng, &text), ..subject })
}

/// A text of the repository, changed.
fn text(rng: &mut Rng) -> Option<Subject> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = crate::programs::files(&here.join("programs"));
    files.extend(crate::programs::files(&here.join("../crates/jut/examples")));
    let file = files.get(rng.usize(0..files.len().max(1)))?;
    let text = std::fs::read_to_string(file).ok()?;
    // Long ones take long, and say no more.
    let text = if text.len() < 6000 { text } else { return None };
    Some(Subject { text: mutate::mutated(rng, &text), func: String::new(), args: Vec::new() })
}
