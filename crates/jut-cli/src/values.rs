//! Values of options that are rows of the library's tables: derivatives, engines, stages.

use clap::ValueEnum;
use clap::builder::PossibleValue;
use jut::{BACKENDS, Request};
use std::sync::LazyLock;

/// What is made of a function ahead of time.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Derivative(pub Request);

/// What runs a function.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Engine(pub jut::Engine);

/// What makes objects.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Compiler(pub jut::Engine);

impl Default for Compiler {
    /// The first of the backends, whatever runs functions by default.
    fn default() -> Compiler {
        Compiler(BACKENDS[0].0)
    }
}

/// A stage to print.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Stage(pub jut::Stage);

static DERIVATIVES: LazyLock<Vec<Derivative>> =
    LazyLock::new(|| Request::all().map(Derivative).collect());
static ENGINES: LazyLock<Vec<Engine>> = LazyLock::new(|| jut::Engine::all().map(Engine).collect());
static COMPILERS: LazyLock<Vec<Compiler>> = LazyLock::new(|| {
    let able = BACKENDS.iter().filter(|(_, backend)| backend.object.is_some());
    able.map(|(engine, _)| Compiler(*engine)).collect()
});
static STAGES: LazyLock<Vec<Stage>> = LazyLock::new(|| jut::Stage::all().map(Stage).collect());

impl ValueEnum for Derivative {
    fn value_variants<'a>() -> &'a [Derivative] {
        &DERIVATIVES
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let row = self.0.row();
        // `value-grad` is what other options look like.
        Some(PossibleValue::new(row.suffix).alias(row.suffix.replace('_', "-")).help(row.says))
    }
}

fn engine(engine: jut::Engine) -> PossibleValue {
    let about = match engine.backend() {
        Some(backend) if backend.requirement.is_some() => {
            format!("{}, in builds that have it (see `jut doctor`)", backend.about)
        }
        Some(backend) => backend.about.to_owned(),
        None => "the interpreter".to_owned(),
    };
    PossibleValue::new(engine.name()).help(about)
}

impl ValueEnum for Engine {
    fn value_variants<'a>() -> &'a [Engine] {
        &ENGINES
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(engine(self.0))
    }
}

impl ValueEnum for Compiler {
    fn value_variants<'a>() -> &'a [Compiler] {
        &COMPILERS
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(engine(self.0))
    }
}

impl ValueEnum for Stage {
    fn value_variants<'a>() -> &'a [Stage] {
        &STAGES
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.0.name()).help(self.0.about()))
    }
}
