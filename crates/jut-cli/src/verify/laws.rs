//! What is compared with what; see the table of the parent module.

use super::{Checks, Distance, Law, Limits, Unknown, compare_linearized, pick};
use crate::subject::{borrowed, call_with, call_within};
use jut::{Compiled, Engine, Function, JacobianMode, Request, Result, Role, Value};
use std::time::{Duration, Instant};

/// A call beside the point may take so many times as long as the one at the point, and so long in any case.
const LONGER: u32 = 20;
const SHORTEST: Duration = Duration::from_millis(250);

/// Laws, and how far the derivative is from central differences.
type Found = (Vec<Law>, Option<Distance>);

/// A function at a point, with random directions.
pub struct Point {
    function: Function,
    value: Compiled,
    /// The arguments of the function.
    own: Vec<Value>,
    pub(super) limits: Limits,
    random: std::cell::RefCell<fastrand::Rng>,
}

/// A derivative along a direction, and the sum of its magnitudes.
type Along<'a> = &'a dyn Fn(&[Value]) -> Result<(f64, f64)>;

/// A derivative to be compared with differences.
#[derive(Clone, Copy)]
struct Slope<'a> {
    /// What is differentiated; it takes the arguments of the function, then `more`.
    of: &'a Compiled,
    more: &'a [Value],
    /// Of its results.
    weights: &'a [Value],
    /// The derivative along the given direction, and the sum of its magnitudes.
    exact: (f64, f64),
    /// The same along another.
    along: Option<Along<'a>>,
}

impl<'a> Slope<'a> {
    fn new(of: &'a Compiled, weights: &'a [Value], exact: (f64, f64)) -> Slope<'a> {
        Slope { of, more: &[], weights, exact, along: None }
    }

    fn along(self, along: Along<'a>) -> Slope<'a> {
        Slope { along: Some(along), ..self }
    }
}

/// The central difference for one length of steps.
#[derive(Clone, Copy, Default)]
struct Step {
    slope: f64,
    /// The sum of its magnitudes.
    magnitude: f64,
    /// What the rounding of the function's values may have made of it.
    rounding: f64,
}

/// How far a derivative is from differences for shorter and shorter steps. That is relative to the
/// magnitudes of both; where one step after the other comes much nearer, to the magnitude of the first
/// of them: so a derivative is found to be zero.
fn settled(exact: f64, size: f64, steps: &[Step], limit: f64) -> Distance {
    let (mut scale, mut before) = (0.0, f64::INFINITY);
    let mut best: Option<f64> = None;
    for step in steps {
        let error = (exact - step.slope).abs();
        if error > before / 5.0 || before.is_infinite() {
            scale = step.magnitude;
        }
        before = error;
        let distance = relative(exact, step.slope, size.max(step.magnitude).max(scale));
        best = Some(best.map_or(distance, |best| best.min(distance)));
    }
    let lost = || steps.iter().all(|step| (exact - step.slope).abs() <= step.rounding);
    match best {
        None => Distance::Unknown(Unknown::NoStep),
        Some(distance) if distance > limit && lost() => Distance::Unknown(Unknown::Rounding),
        Some(distance) => Distance::Apart(distance),
    }
}

impl Point {
    /// The function that a request is about, with the request's arguments.
    pub fn new(function: &Function, args: &[Value]) -> Result<Point> {
        let value = function.value()?;
        let own: Vec<Value> = args.iter().take(value.inputs().count()).cloned().collect();
        let limits = Limits::of(function);
        let random = fastrand::Rng::with_seed(0x6a75).into();
        Ok(Point { function: function.clone(), value, own, limits, random })
    }

    fn direction(&self) -> impl FnMut(f64) -> f64 + '_ {
        |_| self.random.borrow_mut().f64() * 2.0 - 1.0
    }

    fn like(&self, values: &[Value]) -> Vec<Value> {
        let mut direction = self.direction();
        values.iter().map(|v| v.map_floats(&mut direction)).collect()
    }

    fn with(&self, more: &[Value]) -> Vec<Value> {
        [&self.own, more].concat()
    }

    /// A random tangent for each differentiated parameter; `names` are those of the ports, `x'`.
    fn tangents(&self, product: &Compiled) -> Vec<Value> {
        let names = product.inputs().filter(|i| i.role == Role::Derivative);
        let positions = names.filter_map(|i| self.position(i.of));
        let mut direction = self.direction();
        let tangents = positions.filter_map(|k| self.value.input_as_tangent(k, self.own.get(k)?));
        tangents.map(|tangent| tangent.map_floats(&mut direction)).collect()
    }

    /// An argument of the function, moved along a tangent by a step.
    fn moved(&self, position: usize, tangent: &Value, h: f64) -> Option<Value> {
        let arg = self.own.get(position)?;
        // Which float of the tangent moves which of the argument: a tangent may have more, those of
        // constructors that the argument does not have.
        let mut count = 0.0;
        let numbered = arg.map_floats(&mut |_| {
            count += 1.0;
            count
        });
        let numbers = self.value.input_as_tangent(position, &numbered)?.floats();
        let mut steps = vec![0.0; arg.floats().len()];
        for (number, step) in numbers.into_iter().zip(tangent.floats()) {
            // Zero, which belongs to no float, is no index.
            if let Some(to) = steps.get_mut((number as usize).wrapping_sub(1)) {
                *to = h * step;
            }
        }
        let mut steps = steps.into_iter();
        Some(arg.map_floats(&mut |x| x + steps.next().unwrap_or(0.0)))
    }

    fn position(&self, name: &str) -> Option<usize> {
        self.value.inputs().position(|i| i.name == name)
    }

    fn call(&self, request: Request, more: &[Value]) -> Result<Vec<Value>> {
        let compiled = self.function.compile(request)?;
        let values = call_with(&compiled, &self.with(more))?;
        Ok(pick(&compiled, values))
    }

    /// How far a derivative is from the slope along `v`. Where an argument is so large that the steps do
    /// not move it, or so small that they jump over it, steps in proportion to the arguments count too.
    fn differences(&self, slope: &Slope<'_>, v: &[Value]) -> Result<Distance> {
        let found = self.settle(slope, v)?;
        let (Some(along), false) = (&slope.along, found.settles(self.limits.difference)) else {
            return Ok(found);
        };
        let usual = |x: &f64| *x == 0.0 || !x.is_finite() || (1e-8..=1e8).contains(&x.abs());
        if floats(&self.own).iter().all(usual) {
            return Ok(found);
        }
        let v = self.to_scale(v)?;
        let scaled = self.settle(&Slope { exact: along(&v)?, ..*slope }, &v)?;
        Ok(match (found, scaled) {
            (Distance::Apart(a), Distance::Apart(b)) => Distance::Apart(a.min(b)),
            (Distance::Unknown(_), scaled) if scaled.settles(self.limits.difference) => scaled,
            _ => found,
        })
    }

    /// The tangents of the arguments times the magnitudes of these, where they have one.
    fn to_scale(&self, v: &[Value]) -> Result<Vec<Value>> {
        let magnitude = |x: f64| if x == 0.0 || !x.is_finite() { 1.0 } else { x.abs() };
        let scaled = self.positions()?.into_iter().zip(v).map(|(position, tangent)| {
            let args = position.and_then(|k| self.value.input_as_tangent(k, self.own.get(k)?));
            let mut args = args.map_or(vec![], |x| x.floats()).into_iter().map(magnitude);
            tangent.map_floats(&mut |t| t * args.next().unwrap_or(1.0))
        });
        Ok(scaled.collect())
    }

    /// Which argument of the function each tangent belongs to.
    fn positions(&self) -> Result<Vec<Option<usize>>> {
        let jvp = self.function.directional()?;
        let ports = jvp.inputs().filter(|i| i.role == Role::Derivative);
        Ok(ports.map(|i| self.position(i.of)).collect())
    }

    /// How far a derivative is from the slope along `v`, for steps of every length.
    fn settle(&self, slope: &Slope<'_>, v: &[Value]) -> Result<Distance> {
        let Slope { of, more, weights, exact: (exact, size), .. } = *slope;
        let positions = self.positions()?;
        let weights = floats(weights);
        let derived = of.outputs().any(|o| o.role == Role::Derivative);
        let moved = |h: f64, limit: Duration| -> Result<Vec<f64>> {
            let mut args = self.with(more);
            for (position, tangent) in positions.iter().zip(v) {
                let Some(k) = *position else { continue };
                if let (Some(arg), Some(moved)) = (args.get_mut(k), self.moved(k, tangent, h)) {
                    *arg = moved;
                }
            }
            let values = call_within(limit, of, &args)?;
            let tangents =
                values.iter().enumerate().filter_map(|(k, v)| of.output_as_tangent(k, v));
            Ok(floats(&if derived { pick(of, values) } else { tangents.collect() }))
        };
        let start = Instant::now();
        let here = moved(0.0, Duration::MAX)?;
        let limit = SHORTEST.max(start.elapsed() * LONGER);
        if here.iter().any(|x| !x.is_finite()) {
            return Ok(Distance::Unknown(Unknown::of(&here)));
        }
        // For every step that says something; it may leave the domain, and there a loop may have no end.
        let mut steps: Vec<Step> = Vec::new();
        for exponent in 2..=8 {
            let h = 10f64.powi(-exponent);
            let (Ok(above), Ok(below)) = (moved(h, limit), moved(-h, limit)) else { continue };
            let mut step = Step::default();
            for ((a, b), w) in above.iter().zip(&below).zip(&weights) {
                let term = w * (a - b) / (2.0 * h);
                step.slope += term;
                step.magnitude += term.abs();
                step.rounding += w.abs() * (a.abs() + b.abs()) * (self.limits.rounding / h);
            }
            if step.slope.is_finite() {
                steps.push(step);
            }
        }
        if exact.is_finite() {
            return Ok(settled(exact, size, &steps, self.limits.difference));
        }
        // The slope of a function that has none grows with every step, or jumps.
        let limit = self.limits.difference;
        let near = |pair: &[Step]| matches!(pair, [a, b] if relative(a.slope, b.slope, a.magnitude.max(b.magnitude)) <= limit);
        Ok(match steps.windows(2).any(near) {
            true => Distance::Apart(f64::INFINITY),
            false => Distance::Unknown(Unknown::of(&[exact])),
        })
    }

    /// The dot-product test, and the slope of the function.
    pub fn first_order(&self, request: Request) -> Result<Found> {
        let law = |distance| Law {
            key: "dot_product",
            name: "dot-product test of jvp and vjp",
            distance,
        };
        let none = Distance::Unknown(Unknown::NoDerivative);
        let (jvp, vjp) = match (self.function.jvp(), self.function.vjp()) {
            (Ok(jvp), Ok(vjp)) if has_derivatives(&jvp) && has_derivatives(&vjp) => (jvp, vjp),
            // What can only be run, or has no float, has no derivative to doubt.
            _ if request == Request::Value => return Ok((vec![law(none)], Some(none))),
            (Err(error), _) | (_, Err(error)) => return Err(error),
            _ => return Ok((vec![law(none)], Some(none))),
        };
        let v = self.tangents(&jvp);
        let forward = pick(&jvp, call_with(&jvp, &self.with(&v))?);
        let w = self.like(&forward);
        let reverse = pick(&vjp, call_with(&vjp, &self.with(&w))?);
        let left = inner(&forward, &w);
        let distance = apart(left, inner(&reverse, &v));
        let along = |v: &[Value]| Ok(inner(&pick(&jvp, call_with(&jvp, &self.with(v))?), &w));
        let slope = Slope::new(&self.value, &w, left).along(&along);
        Ok((vec![law(distance)], Some(self.differences(&slope, &v)?)))
    }

    /// Columns against rows, and the slope of the function.
    pub fn jacobian(&self) -> Result<Found> {
        let [columns, rows] = [JacobianMode::Forward, JacobianMode::Reverse]
            .map(|mode| self.call(Request::Jacobian(mode), &[]));
        let (columns, rows) = (columns?, rows?);
        let jvp = self.function.directional()?;
        let v = self.tangents(&jvp);
        let w = self.like(&pick(&jvp, call_with(&jvp, &self.with(&v))?));
        let forward = inner(&w, &times(&columns, &w, &v));
        let reverse = inner(&w, &times(&rows, &w, &v));
        let name = "columns (forward) against rows (reverse)";
        let law = Law { key: "forward_reverse", name, distance: apart(forward, reverse) };
        let along = |v: &[Value]| Ok(inner(&w, &times(&columns, &w, v)));
        let slope = Slope::new(&self.value, &w, forward).along(&along);
        Ok((vec![law], Some(self.differences(&slope, &v)?)))
    }

    /// Symmetry, and the slope of the gradient along the given tangents.
    pub fn hessian_product(&self, args: &[Value]) -> Result<Found> {
        let v = args.get(self.own.len()..).unwrap_or_default();
        let w = self.like(v);
        let product = self.call(Request::HessianProduct, v)?;
        let other = self.call(Request::HessianProduct, &w)?;
        let left = inner(&product, &w);
        let law = symmetry(apart(left, inner(&other, v)));
        let gradient = self.function.gradient()?;
        let along = |v: &[Value]| Ok(inner(&self.call(Request::HessianProduct, v)?, &w));
        let slope = Slope::new(&gradient, &w, left).along(&along);
        Ok((vec![law], Some(self.differences(&slope, v)?)))
    }

    /// Symmetry, the product with it, and the slope of the gradient.
    pub fn hessian(&self) -> Result<Found> {
        let blocks = self.call(Request::Hessian, &[])?;
        let v = self.tangents(&self.function.directional()?);
        let w = self.like(&v);
        let left = inner(&w, &times(&blocks, &w, &v));
        let right = inner(&v, &times(&blocks, &v, &w));
        let product = inner(&w, &self.call(Request::HessianProduct, &v)?);
        let name = "product with the Hessian";
        let laws = vec![
            symmetry(apart(left, right)),
            Law { key: "hessian_product", name, distance: apart(left, product) },
        ];
        let gradient = self.function.gradient()?;
        let along = |v: &[Value]| Ok(inner(&w, &times(&blocks, &w, v)));
        let slope = Slope::new(&gradient, &w, left).along(&along);
        Ok((laws, Some(self.differences(&slope, &v)?)))
    }

    /// The product with the Hessian from both sides, where there is one, and the slope of the tangents.
    pub fn second(&self, args: &[Value]) -> Result<Found> {
        let v = args.get(self.own.len()..).unwrap_or_default();
        let second = self.call(Request::SecondDirectional, v)?;
        let w = self.like(&second);
        let mut laws = Vec::new();
        if second.len() == 1
            && let Ok(product) = self.call(Request::HessianProduct, v)
        {
            let ones: Vec<Value> = second.iter().map(|s| s.map_floats(&mut |_| 1.0)).collect();
            let distance = apart(inner(&second, &ones), inner(v, &product));
            let name = "reverse over forward";
            laws.push(Law { key: "reverse_over_forward", name, distance });
        }
        let along = self.function.directional()?;
        let slope = Slope { more: v, ..Slope::new(&along, &w, inner(&second, &w)) };
        Ok((laws, Some(self.differences(&slope, v)?)))
    }

    /// A batch against the function of each element, bit for bit.
    pub fn batched(&self, args: &[Value]) -> Result<Law> {
        let batched = self.function.compile(Request::Batched)?;
        let results = call_with(&batched, args)?;
        let held = |(batched, own): &(usize, usize)| batched == own;
        let dimensions = |compiled: &Compiled| -> Vec<usize> {
            compiled.inputs().map(|i| i.ty.matches([',', '[']).count()).collect()
        };
        let dimensions: Vec<(usize, usize)> =
            dimensions(&batched).into_iter().zip(dimensions(&self.value)).collect();
        let count = results.first().and_then(Value::first_size).unwrap_or(0);
        let mut same = true;
        for k in 0..count {
            let element = |(arg, dimensions): (&Value, &(usize, usize))| match held(dimensions) {
                true => Some(arg.clone()),
                false => arg.element(k),
            };
            let own: Option<Vec<Value>> = args.iter().zip(&dimensions).map(element).collect();
            let own = call_with(&self.value, &own.unwrap_or_default())?;
            same &= results
                .iter()
                .zip(&own)
                .all(|(batch, one)| batch.element(k).is_some_and(|element| element.same_bits(one)));
        }
        let distance = Distance::Apart(if same { 0.0 } else { f64::INFINITY });
        Ok(Law { key: "elements", name: "every element against the function", distance })
    }

    /// The transpose against the function itself.
    pub fn transposed(&self, args: &[Value]) -> Result<Law> {
        let (given, w) = args.split_at(self.function.parameters().len().min(args.len()));
        let transposed = self.function.transposed()?;
        let back = pick(&transposed, call_with(&transposed, args)?);
        let x = self.like(&back);
        // The linear results are the last ones.
        let mut results = call_with(&self.value, &[given, &x].concat())?;
        let linear = results.split_off(results.len().saturating_sub(w.len()));
        let distance = apart(inner(&linear, w), inner(&back, &x));
        Ok(Law { key: "dot_product", name: "dot-product test with the function", distance })
    }
}

/// Checks a derivative that is kept; `seeds` are the tangents, and cotangents (marked `true`), that
/// it was applied to.
pub fn verify_linearized(
    function: &Function,
    engines: &[(&'static str, Engine)],
    args: &[Value],
    seeds: &[(bool, Vec<Value>)],
) -> Result<Checks> {
    let linearized = function.linearize()?;
    let point = Point::new(function, args)?;
    let v = point.tangents(&function.directional()?);
    let (tape, mut session) = (linearized.at(&borrowed(&point.own))?, linearized.session());
    let forward = session.apply(&tape, &borrowed(&v))?.values();
    let w = point.like(&forward);
    let reverse = session.apply_transposed(&tape, &borrowed(&w))?.values();
    let mut all = seeds.to_vec();
    all.extend([(false, v.clone()), (true, w.clone())]);
    let engines = compare_linearized(function, engines, args, &all)?;
    let jvp = inner(&point.call(Request::Jvp, &v)?, &w);
    let left = inner(&forward, &w);
    let laws = vec![
        Law { key: "jvp", name: "the map against jvp", distance: apart(left, jvp) },
        Law {
            key: "dot_product",
            name: "dot-product test of the map and its transpose",
            distance: apart(left, inner(&reverse, &v)),
        },
    ];
    let along = |v: &[Value]| Ok(inner(&point.call(Request::Jvp, v)?, &w));
    let slope = Slope::new(&point.value, &w, left).along(&along);
    let differences = Some(point.differences(&slope, &v)?);
    Ok(Checks { engines, laws, differences, limits: point.limits })
}

fn symmetry(distance: Distance) -> Law {
    Law { key: "symmetry", name: "symmetry of the Hessian", distance }
}

fn has_derivatives(compiled: &Compiled) -> bool {
    compiled.outputs().any(|o| o.role == Role::Derivative)
}

/// A matrix of blocks times a vector, in the shape of `rows`.
fn times(blocks: &[Value], rows: &[Value], columns: &[Value]) -> Vec<Value> {
    let product = |(i, row): (usize, &Value)| {
        let mut sums: Vec<Vec<f64>> =
            parts(row).into_iter().map(|part| vec![0.0; part.len()]).collect();
        for (j, column) in columns.iter().enumerate() {
            let column = parts(column);
            let block = blocks.get(i * columns.len() + j).map(parts).unwrap_or_default();
            // For each part of the row, one for each part of the column.
            for (sums, block) in sums.iter_mut().zip(block.chunks(column.len().max(1))) {
                for (block, column) in block.iter().zip(&column) {
                    let cells = block.chunks(column.len().max(1));
                    for (sum, cells) in sums.iter_mut().zip(cells) {
                        *sum += cells.iter().zip(column).map(|(a, b)| a * b).sum::<f64>();
                    }
                }
            }
        }
        let mut sums = sums.into_iter().flatten();
        row.map_floats(&mut |_| sums.next().unwrap_or(0.0))
    };
    rows.iter().enumerate().map(product).collect()
}

/// The numbers of each component of a value.
fn parts(value: &Value) -> Vec<Vec<f64>> {
    match value {
        Value::Tuple(items) => items.iter().flat_map(parts).collect(),
        value => vec![value.floats()],
    }
}

fn floats(values: &[Value]) -> Vec<f64> {
    values.iter().flat_map(Value::floats).collect()
}

/// Sum of products, and sum of their magnitudes.
fn inner(a: &[Value], b: &[Value]) -> (f64, f64) {
    let products = floats(a).into_iter().zip(floats(b)).map(|(x, y)| x * y);
    products.fold((0.0, 0.0), |(s, m), p| (s + p, m + p.abs()))
}

/// How far apart two sums are, relative to their magnitudes.
fn apart(left: (f64, f64), right: (f64, f64)) -> Distance {
    match (left.0.is_finite(), right.0.is_finite()) {
        (true, true) => Distance::Apart(relative(left.0, right.0, left.1.max(right.1))),
        (false, false) => Distance::Unknown(Unknown::of(&[left.0, right.0])),
        _ => Distance::Apart(f64::INFINITY),
    }
}

fn relative(a: f64, b: f64, size: f64) -> f64 {
    if a == b { 0.0 } else { (a - b).abs() / size.max(f64::MIN_POSITIVE) }
}
