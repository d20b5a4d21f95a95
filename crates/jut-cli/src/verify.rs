//! `--check`: independent ways to doubt a derivative.
//!
//! 1. The interpreter and native code must give the same bits for everything asked for.
//! 2. What is computed in two ways must be the same: forward and reverse mode are transposes of each
//!    other, `<J v, w> = <v, J' w>`; a Hessian is symmetric; a derivative that is kept is the one that
//!    is not. Directions v and w are random where the user gives none.
//! 3. The derivative must be the slope: `(g(x + h v) - g(x - h v)) / 2h` for a range of steps h, of
//!    which the best counts, where g is what is differentiated last: the function, or its gradient.
//!    Only here can a kink near the point cause a disagreement.
//!
//! | product | law | slope of |
//! |---|---|---|
//! | value, gradient, jvp, vjp | dot-product test of jvp and vjp | the function |
//! | jacobian | columns against rows | the function |
//! | hvp | symmetry, `<H v, w> = <v, H w>` | the gradient |
//! | hessian | symmetry; the product with it | the gradient |
//! | second | `<v, H v>`, where there is a Hessian | the tangents |
//! | linearize | the kept map against jvp; dot-product test | the function |
//! | transpose | dot-product test with the function | |

mod laws;

use crate::commands::call_with;
use jut::{Compiled, Engine, Function, Linearized, Product, Result, Role, Value};
use serde_json::{Map, Value as Json, json};

pub use laws::{Point, verify_linearized};

/// How far apart two ways to compute the same may be, relative to the sums of magnitudes.
const SAME: f64 = 1e-10;

/// How far from the best central difference the derivative may be.
const DIFFERENCE: f64 = 1e-5;

/// What the checks found.
pub struct Checks {
    /// The first result whose bits differ between the engines, if any.
    engines: Option<String>,
    /// What was compared beside that.
    laws: Vec<Law>,
    /// How far the derivative is from central differences; `None` if there is nothing to
    /// differentiate.
    differences: Option<f64>,
}

/// Two ways to compute the same.
pub struct Law {
    /// Its key in JSON.
    key: &'static str,
    /// What it is called for people.
    name: &'static str,
    /// How far apart; `None` if nothing is differentiable.
    distance: Option<f64>,
}

impl Checks {
    /// Whether all of them passed.
    pub fn good(&self) -> bool {
        self.engines.is_none()
            && self.laws.iter().all(|law| law.distance.is_none_or(|d| d <= SAME))
            && self.differences.is_none_or(|d| d <= DIFFERENCE)
    }

    /// For people.
    pub fn text(&self) -> String {
        let engines = match &self.engines {
            None => "the same bits".to_string(),
            Some(name) => format!("DIFFERENT in `{name}`"),
        };
        let far = |distance: Option<f64>, limit: f64| match distance {
            None => "nothing to differentiate".to_string(),
            Some(d) if d <= limit => format!("{d:.1e} apart"),
            Some(d) => format!("{d:.1e} apart, which is TOO FAR (limit {limit:.0e})"),
        };
        let mut text = format!("check: interpreter and native code: {engines}\n");
        for law in &self.laws {
            text.push_str(&format!("check: {}: {}\n", law.name, far(law.distance, SAME)));
        }
        // The transpose of a linear function has no point near which to differ.
        if self.differences.is_some() || self.laws.iter().any(|law| law.distance.is_none()) {
            let differences = far(self.differences, DIFFERENCE);
            text.push_str(&format!("check: central differences: {differences}\n"));
        }
        text
    }

    /// For programs.
    pub fn json(&self) -> Json {
        let mut all = Map::new();
        all.insert("good".into(), json!(self.good()));
        all.insert("engines_same_bits".into(), json!(self.engines.is_none()));
        all.insert("first_different_result".into(), json!(self.engines));
        all.extend(self.laws.iter().map(|law| (law.key.to_string(), json!(law.distance))));
        all.insert("central_differences".into(), json!(self.differences));
        all.into()
    }
}

/// Checks a product of a function at a point. `args` are the arguments of the product, those of the
/// function first.
pub fn verify(function: &Function, product: Product, args: &[Value]) -> Result<Checks> {
    let native = function.clone().engine(Engine::Cranelift);
    let engines = compare_engines(&native, product, args)?;
    let point = Point::new(&native, args)?;
    let (laws, differences) = match product {
        Product::Transposed => (vec![point.transposed(args)?], None),
        Product::HessianProduct => point.hessian_product(args)?,
        Product::Hessian => point.hessian()?,
        Product::SecondDirectional => point.second(args)?,
        Product::Jacobian(_) | Product::ValueAndJacobian(_) => point.jacobian()?,
        Product::Value
        | Product::Gradient
        | Product::ValueAndGradient
        | Product::Jvp
        | Product::Vjp
        | Product::Directional => point.first_order(product)?,
    };
    Ok(Checks { engines, laws, differences })
}

/// Checks a linearization at a point against everything that it should agree with.
pub fn compare_linearized(
    native: &Linearized,
    interpreted: &Linearized,
    args: &[Value],
    seeds: &[(bool, Vec<Value>)],
) -> Result<Option<String>> {
    let run = |linearized: &Linearized| -> Result<Vec<(String, Value)>> {
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
    let (a, b) = (run(native)?, run(interpreted)?);
    let mut pairs = a.into_iter().zip(b);
    Ok(pairs.find(|((_, a), (_, b))| !a.same_bits(b)).map(|((name, _), _)| name))
}

fn compare_engines(
    function: &Function,
    product: Product,
    args: &[Value],
) -> Result<Option<String>> {
    let native = function.compile(product)?;
    let interpreted = function.clone().engine(Engine::Interpreter).compile(product)?;
    let (a, b) = (call_with(&native, args)?, call_with(&interpreted, args)?);
    let mut pairs = native.outputs().zip(a.iter().zip(&b));
    Ok(pairs.find(|(_, (a, b))| !a.same_bits(b)).map(|(output, _)| output.name.to_string()))
}

/// Owned values as arguments.
pub fn borrowed(values: &[Value]) -> Vec<jut::Arg<'_>> {
    values.iter().map(jut::Arg::from).collect()
}

/// The derivatives among the results.
fn pick(compiled: &Compiled, values: Vec<Value>) -> Vec<Value> {
    let roles: Vec<Role> = compiled.outputs().map(|o| o.role).collect();
    values.into_iter().zip(roles).filter(|(_, r)| *r == Role::Derivative).map(|(v, _)| v).collect()
}
