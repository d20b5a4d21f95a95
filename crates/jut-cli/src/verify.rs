//! `--check`: independent ways to doubt a derivative.
//!
//! 1. The interpreter and every engine that is built in, or the one asked for, must give the same
//!    bits for everything asked for.
//! 2. What is computed in two ways must be the same: forward and reverse mode are transposes of each
//!    other, `<J v, w> = <v, J' w>`; a Hessian is symmetric; a derivative that is kept is the one that
//!    is not. Directions v and w are random where the user gives none.
//! 3. The derivative must be the slope: `(g(x + h v) - g(x - h v)) / 2h` for a range of steps h, of
//!    which the best counts, where g is what is differentiated last: the function, or its gradient. For
//!    arguments that are very large or very small, steps in proportion to them count too. A derivative
//!    of zero is the slope if shorter steps come nearer and nearer to it. Only here can a kink near the
//!    point cause a disagreement.
//!
//! | request | law | slope of |
//! |---|---|---|
//! | value, gradient, jvp, vjp | dot-product test of jvp and vjp | the function |
//! | jacobian | columns against rows | the function |
//! | hvp | symmetry, `<H v, w> = <v, H w>` | the gradient |
//! | hessian | symmetry; the product with it | the gradient |
//! | second | `<v, H v>`, where there is a Hessian | the tangents |
//! | linearize | the kept map against jvp; dot-product test | the function |
//! | transpose | dot-product test with the function | |
//!
//! A value or derivative that is not a number, or infinite, is near to nothing: it is said to be so, and
//! is no disagreement. It is one if one of two ways gives a finite number, or if the function has a
//! finite value and differences that settle where its derivative is not finite.

mod laws;

use crate::subject::{borrowed, call_with};
use jut::{Compiled, Engine, Function, Request, Result, Role, Value};
use serde_json::{Map, Value as Json, json};

pub use laws::{Point, verify_linearized};

/// What is near enough.
#[derive(Clone, Copy)]
pub struct Limits {
    /// How far apart two ways to compute the same may be, relative to the sums of magnitudes.
    same: f64,
    /// How far from the best central difference the derivative may be.
    difference: f64,
    /// What rounding does to a number.
    rounding: f64,
}

impl Limits {
    fn of(function: &Function) -> Limits {
        match function.is_single_precision() {
            true => Limits { same: 1e-5, difference: 1e-2, rounding: f64::from(f32::EPSILON) },
            false => Limits { same: 1e-10, difference: 1e-5, rounding: f64::EPSILON },
        }
    }
}

/// The key of the differences in JSON.
const DIFFERENCES: &str = "central_differences";

/// What the checks found.
pub struct Checks {
    /// The engines that were compared with the interpreter, each with the first result whose bits
    /// differ, if any.
    engines: Vec<(&'static str, Option<String>)>,
    /// What was compared beside that.
    laws: Vec<Law>,
    /// How far the derivative is from central differences; `None` for a linear function, which has no
    /// point near which to differ.
    differences: Option<Distance>,
    limits: Limits,
}

/// Two ways to compute the same.
pub struct Law {
    /// Its key in JSON.
    key: &'static str,
    /// What it is called for people.
    name: &'static str,
    /// How far apart.
    distance: Distance,
}

/// How far apart two numbers are.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Distance {
    /// Relative to their magnitudes; infinite if one of them is finite and the other is not.
    Apart(f64),
    /// There are no two numbers to compare, and why.
    Unknown(Unknown),
}

/// Why there is nothing to compare.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Unknown {
    /// Nothing is differentiable.
    NoDerivative,
    /// What would be compared is no number.
    NotANumber,
    /// What would be compared is infinite.
    Infinite,
    /// No step of the differences stays where the function has finite values.
    NoStep,
    /// The derivative is less than what rounding does to the differences.
    Rounding,
}

impl Unknown {
    /// Which of the two a number that is not finite is.
    fn of(numbers: &[f64]) -> Unknown {
        if numbers.iter().any(|x| x.is_nan()) { Unknown::NotANumber } else { Unknown::Infinite }
    }

    /// For people.
    fn text(self) -> &'static str {
        match self {
            Unknown::NoDerivative => "nothing to differentiate",
            Unknown::NotANumber => "not a number: nothing to compare with",
            Unknown::Infinite => "infinite: nothing to compare with",
            Unknown::Rounding => "lost in rounding: nothing to compare with",
            Unknown::NoStep => "no step gives finite values: nothing to compare with",
        }
    }

    /// For programs.
    fn key(self) -> &'static str {
        match self {
            Unknown::NoDerivative => "nothing to differentiate",
            Unknown::NotANumber => "not a number",
            Unknown::Infinite => "infinite",
            Unknown::Rounding => "lost in rounding",
            Unknown::NoStep => "no step",
        }
    }
}

impl Distance {
    /// Whether it is no disagreement.
    fn within(self, limit: f64) -> bool {
        match self {
            Distance::Apart(distance) => distance <= limit,
            Distance::Unknown(_) => true,
        }
    }

    /// Whether two numbers were compared, and near enough.
    fn settles(self, limit: f64) -> bool {
        matches!(self, Distance::Apart(distance) if distance <= limit)
    }

    /// For people.
    fn text(self, limit: f64) -> String {
        match self {
            Distance::Unknown(why) => why.text().to_string(),
            Distance::Apart(d) if d <= limit => format!("{d:.1e} apart"),
            Distance::Apart(d) if d.is_infinite() => {
                "one is finite and the other is not, which is TOO FAR".to_string()
            }
            Distance::Apart(d) => format!("{d:.1e} apart, which is TOO FAR (limit {limit:.0e})"),
        }
    }

    /// For programs: a number, `"inf"`, or `null`.
    fn json(self) -> Json {
        match self {
            Distance::Apart(d) if d.is_finite() => json!(d),
            Distance::Apart(_) => json!("inf"),
            Distance::Unknown(_) => Json::Null,
        }
    }
}

impl Checks {
    /// Whether all of them passed.
    pub fn good(&self) -> bool {
        self.first_different().is_none()
            && self.laws.iter().all(|law| law.distance.within(self.limits.same))
            && self.differences.is_none_or(|d| d.within(self.limits.difference))
    }

    fn first_different(&self) -> Option<&str> {
        self.engines.iter().find_map(|(_, different)| different.as_deref())
    }

    /// For people.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for (engine, different) in &self.engines {
            let found = match different {
                None => "the same bits".to_string(),
                Some(name) => format!("DIFFERENT in `{name}`"),
            };
            text.push_str(&format!("check: interpreter and {engine}: {found}\n"));
        }
        if self.engines.is_empty() {
            text.push_str("check: interpreter alone: no engine was compared\n");
        }
        for law in &self.laws {
            text.push_str(&format!(
                "check: {}: {}\n",
                law.name,
                law.distance.text(self.limits.same)
            ));
        }
        if let Some(differences) = self.differences {
            let differences = differences.text(self.limits.difference);
            text.push_str(&format!("check: central differences: {differences}\n"));
        }
        text
    }

    /// For programs.
    pub fn json(&self) -> Json {
        let mut all = Map::new();
        all.insert("good".into(), json!(self.good()));
        let names: Vec<&str> = self.engines.iter().map(|(engine, _)| *engine).collect();
        all.insert("engines".into(), json!(names));
        all.insert("engines_same_bits".into(), json!(self.first_different().is_none()));
        all.insert("first_different_result".into(), json!(self.first_different()));
        let laws = self.laws.iter().map(|law| (law.key, law.distance));
        let mut not_compared = Map::new();
        for (key, distance) in laws.chain(self.differences.map(|d| (DIFFERENCES, d))) {
            all.insert(key.into(), distance.json());
            if let Distance::Unknown(why) = distance {
                not_compared.insert(key.into(), json!(why.key()));
            }
        }
        all.entry(DIFFERENCES).or_insert(Json::Null);
        all.insert("not_compared".into(), not_compared.into());
        all.into()
    }
}

/// Engines by name.
type Engines = [(&'static str, Engine)];

/// Checks a request at a point: the engines against the interpreter, the laws with the
/// function's own engine. `args` are the arguments of the request, those of the function first.
pub fn verify(
    function: &Function,
    engines: &Engines,
    request: Request,
    args: &[Value],
) -> Result<Checks> {
    let engines = compare_engines(function, engines, request, args)?;
    let point = Point::new(function, args)?;
    let (laws, differences) = match request {
        Request::Transposed => (vec![point.transposed(args)?], None),
        Request::Batched => (vec![point.batched(args)?], None),
        Request::HessianProduct => point.hessian_product(args)?,
        Request::Hessian => point.hessian()?,
        Request::SecondDirectional => point.second(args)?,
        Request::Jacobian(_) | Request::ValueAndJacobian(_) => point.jacobian()?,
        Request::Value
        | Request::Gradient
        | Request::ValueAndGradient
        | Request::Jvp
        | Request::Vjp
        | Request::Directional => point.first_order(request)?,
    };
    Ok(Checks { engines, laws, differences, limits: point.limits })
}

/// Compares the linearizations of a function at a point, everything recorded and applied.
pub fn compare_linearized(
    function: &Function,
    engines: &Engines,
    args: &[Value],
    seeds: &[(bool, Vec<Value>)],
) -> Result<Vec<(&'static str, Option<String>)>> {
    let run = |engine: Engine| -> Result<Vec<(String, Value)>> {
        let linearized = function.clone().engine(engine).linearize()?;
        let tape = linearized.at(&borrowed(args))?;
        let names = linearized.outputs().map(|o| o.name.to_string());
        let mut all: Vec<(String, Value)> = names.zip(tape.results()?.values()).collect();
        let mut session = linearized.session();
        for (transposed, seeds) in seeds {
            let made = match transposed {
                false => session.apply(&tape, &borrowed(seeds))?,
                true => session.apply_transposed(&tape, &borrowed(seeds))?,
            };
            all.extend(made.values().into_iter().map(|v| ("the linear map".to_string(), v)));
        }
        Ok(all)
    };
    compare(engines, run)
}

fn compare_engines(
    function: &Function,
    engines: &Engines,
    request: Request,
    args: &[Value],
) -> Result<Vec<(&'static str, Option<String>)>> {
    compare(engines, |engine| {
        let compiled = function.clone().engine(engine).compile(request)?;
        let values = call_with(&compiled, args)?;
        let names = compiled.outputs().map(|o| o.name.to_string());
        Ok(names.zip(values).collect())
    })
}

/// Runs something on the interpreter and on each engine.
fn compare(
    engines: &Engines,
    run: impl Fn(Engine) -> Result<Vec<(String, Value)>>,
) -> Result<Vec<(&'static str, Option<String>)>> {
    let expected = run(Engine::Interpreter)?;
    let compared = |(name, engine): &(&'static str, Engine)| {
        let found = run(*engine)?;
        let mut pairs = found.into_iter().zip(&expected);
        let different = pairs.find(|((_, a), (_, b))| !a.same_bits(b));
        Ok((*name, different.map(|((result, _), _)| result)))
    };
    engines.iter().map(compared).collect()
}

/// The derivatives among the results.
fn pick(compiled: &Compiled, values: Vec<Value>) -> Vec<Value> {
    let roles: Vec<Role> = compiled.outputs().map(|o| o.role).collect();
    values.into_iter().zip(roles).filter(|(_, r)| *r == Role::Derivative).map(|(v, _)| v).collect()
}
