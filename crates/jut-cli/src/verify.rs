//! `--check`: three independent ways to doubt a derivative.
//!
//! 1. The interpreter and native code must give the same bits for everything asked for.
//! 2. Forward and reverse mode must be transposes of each other: `<J v, w> = <v, J' w>` for random
//!    directions v and w.
//! 3. The derivative must be the slope: `(f(x + h v) - f(x - h v)) / 2h` for a range of steps h, of
//!    which the best counts. Only here can a kink near the point cause a disagreement.

use crate::commands::call_with;
use jut::{Compiled, Engine, Function, Product, Result, Role, Value};
use serde_json::{Value as Json, json};

/// How far apart forward and reverse mode may be, relative to the sums of magnitudes.
const DOT_PRODUCT: f64 = 1e-10;

/// How far from the best central difference the derivative may be.
const DIFFERENCE: f64 = 1e-5;

/// What the checks found.
pub struct Checks {
    /// The first result whose bits differ between the engines, if any.
    engines: Option<String>,
    /// How far apart forward and reverse mode are; `None` if nothing is differentiable.
    dot_product: Option<f64>,
    /// How far the derivative is from central differences.
    differences: Option<f64>,
}

impl Checks {
    /// Whether all of them passed.
    pub fn good(&self) -> bool {
        self.engines.is_none()
            && self.dot_product.is_none_or(|d| d <= DOT_PRODUCT)
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
        format!(
            "check: interpreter and native code: {engines}\n\
             check: dot-product test of jvp and vjp: {}\n\
             check: central differences: {}\n",
            far(self.dot_product, DOT_PRODUCT),
            far(self.differences, DIFFERENCE)
        )
    }

    /// For programs.
    pub fn json(&self) -> Json {
        json!({
            "good": self.good(),
            "engines_same_bits": self.engines.is_none(),
            "first_different_result": self.engines,
            "dot_product": self.dot_product,
            "central_differences": self.differences,
        })
    }
}

/// Checks a function at a point. `args` are the arguments of the product, its own first.
pub fn verify(function: &Function, product: Product, args: &[Value]) -> Result<Checks> {
    let native = function.clone().engine(Engine::Cranelift);
    let engines = compare_engines(&native, product, args)?;
    let own = &args[..native.parameters().len().min(args.len())];
    let value = native.value()?;
    let directions = match (native.jvp(), native.vjp()) {
        (Ok(jvp), Ok(vjp)) if has_derivatives(&jvp) && has_derivatives(&vjp) => Some((jvp, vjp)),
        // What can only be run, or has no float, has no derivative to doubt.
        _ if product == Product::Value => None,
        (Err(error), _) | (_, Err(error)) => return Err(error),
        _ => None,
    };
    let Some((jvp, vjp)) = directions else {
        return Ok(Checks { engines, dot_product: None, differences: None });
    };

    let mut random = fastrand::Rng::with_seed(0x6a75);
    let mut direction = || random.f64() * 2.0 - 1.0;
    // A tangent has the shape of its parameter's floats.
    let tangents: Vec<(String, Value)> = derivative_inputs(&jvp)
        .iter()
        .filter_map(|name| {
            let of = name.strip_suffix('\'')?;
            let k = value.inputs().position(|i| i.name == of)?;
            Some((of.to_string(), tangent_of(own.get(k)?, &mut direction)?))
        })
        .collect();
    let mut forward_args = own.to_vec();
    forward_args.extend(tangents.iter().map(|(_, v)| v.clone()));
    let forward = call_with(&jvp, &forward_args)?;
    let forward: Vec<Value> = pick(&jvp, forward);

    let cotangents: Vec<Value> =
        forward.iter().map(|t| t.map_floats(&mut |_| direction())).collect();
    let mut reverse_args = own.to_vec();
    reverse_args.extend(cotangents.iter().cloned());
    let reverse = pick(&vjp, call_with(&vjp, &reverse_args)?);

    let tangent_list: Vec<Value> = tangents.iter().map(|(_, v)| v.clone()).collect();
    let (left, left_size) = inner(&forward, &cotangents);
    let (right, right_size) = inner(&reverse, &tangent_list);
    let dot_product = relative(left, right, left_size.max(right_size));

    let slope = |h: f64| -> Result<(f64, f64)> {
        let moved = |h: f64| -> Result<Vec<Value>> {
            let mut args = own.to_vec();
            for (name, tangent) in &tangents {
                if let Some(k) = value.inputs().position(|i| i.name == *name)
                    && let Some(arg) = args.get_mut(k)
                {
                    let mut steps = tangent.floats().into_iter();
                    *arg = arg.map_floats(&mut |x| x + h * steps.next().unwrap_or(0.0));
                }
            }
            call_with(&value, &args)
        };
        let (above, below) = (moved(h)?, moved(-h)?);
        let weights: Vec<f64> = cotangents.iter().flat_map(Value::floats).collect();
        let above: Vec<f64> = above.iter().flat_map(Value::floats).collect();
        let below: Vec<f64> = below.iter().flat_map(Value::floats).collect();
        let terms = above.iter().zip(&below).zip(&weights);
        let slopes: Vec<f64> = terms.map(|((a, b), w)| w * (a - b) / (2.0 * h)).collect();
        Ok((slopes.iter().sum(), slopes.iter().map(|s| s.abs()).sum()))
    };
    let mut differences = f64::INFINITY;
    for exponent in 2..=8 {
        // A step may leave the function's domain; then it says nothing.
        let Ok((estimate, size)) = slope(10f64.powi(-exponent)) else { continue };
        differences = differences.min(relative(left, estimate, size.max(left_size)));
    }
    Ok(Checks { engines, dot_product: Some(dot_product), differences: Some(differences) })
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

fn has_derivatives(compiled: &Compiled) -> bool {
    compiled.outputs().any(|o| o.role == Role::Derivative)
}

fn derivative_inputs(compiled: &Compiled) -> Vec<String> {
    let inputs = compiled.inputs().filter(|i| i.role == Role::Derivative);
    inputs.map(|i| i.name.to_string()).collect()
}

/// The derivatives among the results.
fn pick(compiled: &Compiled, values: Vec<Value>) -> Vec<Value> {
    let roles: Vec<Role> = compiled.outputs().map(|o| o.role).collect();
    values.into_iter().zip(roles).filter(|(_, r)| *r == Role::Derivative).map(|(v, _)| v).collect()
}

/// Random numbers in the shape of a value's tangent: its floats, integers and truth values left
/// out.
fn tangent_of(value: &Value, random: &mut dyn FnMut() -> f64) -> Option<Value> {
    match value {
        Value::F64(_) | Value::F64s(_) => Some(value.map_floats(&mut |_| random())),
        Value::I64(_) | Value::Bool(_) | Value::I64s(_) | Value::Bools(_) => None,
        Value::Tuple(items) => {
            let items: Vec<Value> = items.iter().filter_map(|v| tangent_of(v, random)).collect();
            (!items.is_empty()).then_some(Value::Tuple(items))
        }
        Value::Data(..) => None,
    }
}

/// Sum of products, and sum of their magnitudes.
fn inner(a: &[Value], b: &[Value]) -> (f64, f64) {
    let a = a.iter().flat_map(Value::floats);
    let b = b.iter().flat_map(Value::floats);
    a.zip(b).map(|(x, y)| x * y).fold((0.0, 0.0), |(s, m), p| (s + p, m + p.abs()))
}

fn relative(a: f64, b: f64, size: f64) -> f64 {
    if a == b { 0.0 } else { (a - b).abs() / size.max(f64::MIN_POSITIVE) }
}
