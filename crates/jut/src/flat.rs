//! A function as solvers want it: of one vector, through a shared reference.
//!
//! Minimisers, samplers and integrators know one vector of numbers. A function has parameters, of numbers, arrays and records, some of
//! which are data. [`Function::flat`] is given all arguments once: those that are differentiated become the vector, float after
//! float in the order of the parameters, the others stay what they are. Each derivative is compiled at its first use; a thread that calls
//! takes memory for the call from those that are idle, so that further calls of the same sizes allocate nothing, but for values of several constructors.
//! *Cost*: that of the derivative, and a copy of its numbers.

mod numbers;

use crate::compiled::{Compiled, Session};
use crate::error::{ArgumentError, Error, Result};
use crate::interface::{Results, recycled};
use crate::model::Function;
use crate::ports::{Port, Role};
use crate::request::{JacobianMode, Request};
use crate::value::{Arg, Array, Value};
use jut_runtime::Cancellation;
use numbers::{copy, fill, parts, spread};
use std::ops::Range;
use std::sync::{Mutex, OnceLock, PoisonError};

/// What is compiled, each when it is first used.
const REQUESTS: [Request; 7] = [
    Request::Value,
    Request::ValueAndGradient,
    Request::HessianProduct,
    Request::Hessian,
    Request::Directional,
    Request::Vjp,
    Request::Jacobian(JacobianMode::Auto),
];

/// A function of one vector: what [`Function::flat`] gives. Threads share it.
///
/// ```
/// # fn main() -> jut::Result<()> {
/// let model = jut::Model::from_text(
///     "data Line = Line(slope: f64, shift: f64)
///      def misfit[n](line: Line, x: [n]f64, y: [n]f64) -> f64 =
///        sum (i < n) { (line.slope * x[i] + line.shift - y[i])^2 }",
/// )?;
/// let line = jut::Value::Tuple(vec![1.0, 0.0].into_iter().map(jut::Value::F64).collect());
/// let misfit = model.function("misfit")?.wrt(&["line"])?;
/// let flat = misfit.flat(&[(&line).into(), (&[0.0, 1.0]).into(), (&[1.0, 3.0]).into()])?;
/// assert_eq!(flat.start(), [1.0, 0.0]);
/// let mut gradient = [0.0; 2];
/// assert_eq!(flat.gradient_into(&[2.0, 0.0], &mut gradient)?, 2.0);
/// assert_eq!(gradient, [-2.0, -4.0]);
/// # Ok(())
/// # }
/// ```
pub struct Flat {
    function: Function,
    args: Vec<Value>,
    /// What the vector is made of, in order.
    vector: Vec<Part>,
    start: Vec<f64>,
    /// Of each differentiated parameter, how many numbers each part of its tangent has.
    columns: Vec<Vec<usize>>,
    /// The same of each result with floats.
    rows: Vec<Vec<usize>>,
    /// The cotangents of the results.
    cotangents: Vec<Value>,
    /// The result that a gradient is of.
    number: Option<usize>,
    /// Each derivative that was asked for; none where there is no program for it.
    compiled: [OnceLock<Option<Pool>>; REQUESTS.len()],
    cancellation: Option<Cancellation>,
}

/// A parameter whose numbers are in the vector.
#[derive(Clone)]
struct Part {
    /// Which of the arguments it is.
    position: usize,
    /// Its name in the text.
    name: String,
    /// What its user calls it.
    shown: String,
}

/// A compiled derivative, and memory for calls that no thread uses now.
struct Pool {
    compiled: Compiled,
    /// What its outputs are.
    roles: Vec<Role>,
    idle: Mutex<Vec<Runner>>,
}

/// What one call needs.
struct Runner {
    session: Session,
    /// The arguments, then tangents or cotangents.
    inputs: Vec<Value>,
    /// Memory for the list of them.
    list: Vec<Arg<'static>>,
}

impl Function {
    /// The function of one vector that solvers want: the arguments for the differentiated parameters ([`Function::wrt`]) are the vector's
    /// start, float after float; the others are given for good. The function is called once, to see that
    /// they fit and how many numbers there are in its results; results that have another number at another point are an error there.
    ///
    /// # Errors
    /// As [`Session::call`] for the arguments, and [`Function::compile`] for the function.
    pub fn flat(&self, args: &[Arg<'_>]) -> Result<Flat> {
        let names = self.differentiated();
        let value = self.value()?;
        let mut session = value.session();
        let results = session.call(args)?.values();
        let args = value.owned(args)?;
        let parameters = value.inputs().enumerate();
        let chosen = parameters.filter(|(_, port)| names.iter().any(|name| name == port.name));
        let part = |(position, port): (usize, Port<'_>)| Part {
            position,
            name: port.name.to_string(),
            shown: port.name.to_string(),
        };
        let vector: Vec<Part> = chosen.map(part).collect();
        let given = |k: usize| args.get(k).and_then(|arg| value.input_as_tangent(k, arg));
        let columns =
            vector.iter().map(|part| given(part.position).iter().flat_map(parts).collect());
        let columns: Vec<Vec<usize>> = columns.collect();
        let rows = results.iter().enumerate();
        let rows: Vec<(usize, Value)> =
            rows.filter_map(|(k, result)| Some((k, value.output_as_tangent(k, result)?))).collect();
        let number = self.differentiated_result().or(match &rows[..] {
            [(k, Value::F64(_))] => Some(*k),
            _ => None,
        });
        let start =
            vector.iter().filter_map(|part| args.get(part.position)).flat_map(Value::floats);
        let start: Vec<f64> = start.collect();
        if start.len() != columns.iter().flatten().sum::<usize>() {
            let reason =
                "a value of several constructors has derivatives by the fields of all of them";
            let help = "choose parameters of numbers, arrays and records by `wrt`";
            return Err(ArgumentError::new("A06", names.join(", "), reason, help).into());
        }
        let cotangents: Vec<Value> = rows.into_iter().map(|(_, tangent)| tangent).collect();
        Ok(Flat {
            vector,
            start,
            columns,
            rows: cotangents.iter().map(parts).collect(),
            cotangents,
            number,
            compiled: Default::default(),
            cancellation: None,
            function: self.clone(),
            args,
        })
    }
}

impl Flat {
    /// The vector that the arguments made.
    pub fn start(&self) -> &[f64] {
        &self.start
    }

    /// The parameters that make the vector: the name of each, where its numbers stand, and its argument at the start.
    ///
    /// ```
    /// # fn main() -> jut::Result<()> {
    /// let model = jut::Model::from_text("def f[n](x: [n]f64, a: f64) -> f64 = a * sum(x)")?;
    /// let f = model.function("f")?.flat(&[(&[1.0, 2.0]).into(), 3.0.into()])?;
    /// let parts: Vec<_> = f.parameters().map(|(name, place, _)| (name, place)).collect();
    /// assert_eq!(parts, [("x", 0..2), ("a", 2..3)]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn parameters(&self) -> impl Iterator<Item = (&str, Range<usize>, &Value)> {
        let mut start = 0;
        self.vector.iter().filter_map(move |part| {
            let value = self.args.get(part.position)?;
            let place = start..start + parts(value).iter().sum::<usize>();
            start = place.end;
            Some((part.shown.as_str(), place, value))
        })
    }

    /// The same function of the same vector, whose derivatives are with respect to some of its parameters only: tangents,
    /// gradients and the columns of Jacobians have the numbers of these.
    ///
    /// ```
    /// # fn main() -> jut::Result<()> {
    /// let model = jut::Model::from_text("def f(y: f64, rate: f64, t: f64) -> f64 = -rate * y * t")?;
    /// let f = model.function("f")?.flat(&[1.0.into(), 2.0.into(), 0.0.into()])?;
    /// let mut tangent = [0.0];
    /// f.by(&["rate"])?.jvp_into(&[3.0, 2.0, 5.0], &[1.0], &mut tangent)?;
    /// assert_eq!(tangent, [-15.0]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// A name that is none of the vector's parameters ([`Error::Request`]).
    pub fn by(&self, names: &[&str]) -> Result<Flat> {
        if let Some(name) = names.iter().find(|n| !self.vector.iter().any(|p| p.shown == **n)) {
            let own = self.names();
            return Err(Error::Request(format!("`{name}` is not in the vector, which has {own}")));
        }
        let parts = self.vector.iter().zip(&self.columns);
        let chosen = parts.filter(|(part, _)| names.contains(&part.shown.as_str()));
        let (parts, columns): (Vec<&str>, Vec<Vec<usize>>) =
            chosen.map(|(part, columns)| (part.name.as_str(), columns.clone())).unzip();
        Ok(Flat {
            function: self.function.clone().wrt(&parts)?,
            columns,
            args: self.args.clone(),
            vector: self.vector.clone(),
            start: self.start.clone(),
            rows: self.rows.clone(),
            cotangents: self.cotangents.clone(),
            number: self.number,
            compiled: Default::default(),
            cancellation: self.cancellation.clone(),
        })
    }

    /// How many numbers are differentiated: all of the vector, unless [`Flat::by`] says otherwise.
    pub fn tangents(&self) -> usize {
        self.columns.iter().flatten().sum()
    }

    /// How many floats there are in the results.
    pub fn results(&self) -> usize {
        self.rows.iter().flatten().sum()
    }

    /// The arguments of the function at a point: what a solver has found, as the function takes it.
    ///
    /// # Errors
    /// A vector of another length (A03).
    pub fn arguments(&self, x: &[f64]) -> Result<Vec<Value>> {
        self.has("A03", "the vector", x.len(), self.start.len())?;
        let mut args = self.args.clone();
        self.place(&mut args, x);
        Ok(args)
    }

    /// Lets something end the calls: the error R07.
    pub fn set_cancellation(&mut self, cancellation: &Cancellation) {
        self.cancellation = Some(cancellation.clone());
        self.compiled = Default::default();
    }

    /// The value of a function whose result is a number.
    ///
    /// # Errors
    /// A vector of another length (A03), a function with other results ([`Error::Request`]), and those of
    /// [`Session::call`]; so with all that follow.
    pub fn value(&self, x: &[f64]) -> Result<f64> {
        let number = self.number()?;
        self.run(Request::Value, x, None, |_, results| at(results, number))
    }

    /// The gradient of a function whose result is a number; gives its value.
    ///
    /// # Errors
    /// As [`Flat::value`]; a slice that is not as long as the vector (A05).
    pub fn gradient_into(&self, x: &[f64], gradient: &mut [f64]) -> Result<f64> {
        let number = self.number()?;
        self.has("A05", "the gradient", gradient.len(), self.tangents())?;
        self.run(Request::ValueAndGradient, x, None, |pool, results| {
            pool.copy(results, Role::Derivative, gradient);
            at(results, number)
        })
    }

    /// The Hessian of a function whose result is a number, row by row.
    ///
    /// # Errors
    /// As [`Flat::gradient_into`].
    pub fn hessian_into(&self, x: &[f64], hessian: &mut [f64]) -> Result<()> {
        let count = self.tangents();
        self.has("A05", "the Hessian", hessian.len(), count.saturating_mul(count))?;
        if !self.is_whole(Request::Hessian)? {
            let mut unit = vec![0.0; count];
            for (k, row) in hessian.chunks_mut(count.max(1)).enumerate() {
                along(&mut unit, k, |unit| self.hessian_product_into(x, unit, row))?;
            }
            return Ok(());
        }
        self.run(Request::Hessian, x, None, |pool, results| {
            pool.blocks(results, &self.columns, &self.columns, hessian);
        })
    }

    /// The Hessian times a vector.
    ///
    /// # Errors
    /// As [`Flat::gradient_into`]; a tangent that is not as long as the vector (A03).
    pub fn hessian_product_into(&self, x: &[f64], tangent: &[f64], to: &mut [f64]) -> Result<()> {
        self.has("A03", "the tangent", tangent.len(), self.tangents())?;
        self.has("A05", "the product", to.len(), self.tangents())?;
        self.run(Request::HessianProduct, x, Some(tangent), |pool, results| {
            pool.copy(results, Role::Derivative, to);
        })
    }

    /// All floats of the results.
    ///
    /// # Errors
    /// A vector of another length (A03), a slice that is not as long as the results (A05), and those of [`Session::call`].
    pub fn values_into(&self, x: &[f64], to: &mut [f64]) -> Result<()> {
        self.has("A05", "the results", to.len(), self.results())?;
        let fits =
            self.run(Request::Value, x, None, |pool, results| pool.copy(results, Role::Value, to))?;
        self.same(fits)
    }

    /// All partial derivatives of the results, row by row: a row for each float of them.
    ///
    /// ```
    /// # fn main() -> jut::Result<()> {
    /// let model = jut::Model::from_text("def f[n](x: [n]f64, a: f64) -> ([n]f64, f64) = (a * x, sum(x))")?;
    /// let f = model.function("f")?.flat(&[(&[1.0, 2.0]).into(), 3.0.into()])?;
    /// let mut jacobian = [0.0; 9];
    /// f.jacobian_into(f.start(), &mut jacobian)?;
    /// assert_eq!(jacobian, [3.0, 0.0, 1.0, 0.0, 3.0, 2.0, 1.0, 1.0, 0.0]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Flat::values_into`].
    pub fn jacobian_into(&self, x: &[f64], jacobian: &mut [f64]) -> Result<()> {
        let (rows, columns) = (self.results(), self.tangents());
        self.has("A05", "the Jacobian", jacobian.len(), rows.saturating_mul(columns))?;
        let request = Request::Jacobian(JacobianMode::Auto);
        if !self.is_whole(request)? {
            return self.jacobian_by_products(x, jacobian);
        }
        let fits = self.run(request, x, None, |pool, results| {
            pool.blocks(results, &self.rows, &self.columns, jacobian)
        })?;
        self.same(fits)
    }

    /// The Jacobian times a vector, forward.
    ///
    /// # Errors
    /// As [`Flat::values_into`]; a tangent of another length (A03).
    pub fn jvp_into(&self, x: &[f64], tangent: &[f64], to: &mut [f64]) -> Result<()> {
        self.has("A03", "the tangent", tangent.len(), self.tangents())?;
        self.has("A05", "the product", to.len(), self.results())?;
        let fits = self.run(Request::Directional, x, Some(tangent), |pool, results| {
            pool.copy(results, Role::Derivative, to)
        })?;
        self.same(fits)
    }

    /// A vector times the Jacobian, reverse.
    ///
    /// # Errors
    /// As [`Flat::values_into`]; a cotangent that is not as long as the results (A03).
    pub fn vjp_into(&self, x: &[f64], cotangent: &[f64], to: &mut [f64]) -> Result<()> {
        self.has("A03", "the cotangent", cotangent.len(), self.results())?;
        self.has("A05", "the product", to.len(), self.tangents())?;
        self.run(Request::Vjp, x, Some(cotangent), |pool, results| {
            pool.copy(results, Role::Derivative, to);
        })
    }

    /// The Jacobian column by column or, if these are fewer, row by row.
    fn jacobian_by_products(&self, x: &[f64], jacobian: &mut [f64]) -> Result<()> {
        let (rows, columns) = (self.results(), self.tangents());
        if rows < columns {
            let mut unit = vec![0.0; rows];
            for (k, row) in jacobian.chunks_mut(columns).enumerate() {
                along(&mut unit, k, |unit| self.vjp_into(x, unit, row))?;
            }
            return Ok(());
        }
        let (mut unit, mut column) = (vec![0.0; columns], vec![0.0; rows]);
        for k in 0..columns {
            along(&mut unit, k, |unit| self.jvp_into(x, unit, &mut column))?;
            let cells = jacobian.iter_mut().skip(k).step_by(columns);
            cells.zip(&column).for_each(|(to, from)| *to = *from);
        }
        Ok(())
    }

    /// Whether there is a program for all these derivatives at once: not where records measure their own arrays.
    fn is_whole(&self, request: Request) -> Result<bool> {
        Ok(self.pool(request)?.is_some())
    }

    /// Runs a derivative, and has its results read.
    fn run<T>(
        &self,
        request: Request,
        x: &[f64],
        seed: Option<&[f64]>,
        read: impl FnOnce(&Pool, &Results<'_>) -> T,
    ) -> Result<T> {
        self.has("A03", "the vector", x.len(), self.start.len())?;
        let Some(pool) = self.pool(request)? else {
            return Err(Error::Request("there is no program for this derivative".to_string()));
        };
        let idle = pool.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut runner = idle.unwrap_or_else(|| self.runner(request, pool));
        self.place(&mut runner.inputs, x);
        let mut seed = seed.unwrap_or_default();
        let seeds = runner.inputs.iter_mut().skip(self.args.len());
        seeds.for_each(|input| fill(input, &mut seed));
        let mut list = recycled(std::mem::take(&mut runner.list));
        list.extend(runner.inputs.iter().map(Arg::from));
        let read = runner.session.call(&list).map(|results| read(pool, &results));
        runner.list = recycled(list);
        pool.idle.lock().unwrap_or_else(PoisonError::into_inner).push(runner);
        read
    }

    /// The compiled derivative; none of all partial derivatives at once where there is no program for these.
    fn pool(&self, request: Request) -> Result<Option<&Pool>> {
        let position = REQUESTS.iter().position(|r| *r == request);
        let Some(kept) = position.and_then(|k| self.compiled.get(k)) else { return Ok(None) };
        if let Some(pool) = kept.get() {
            return Ok(pool.as_ref());
        }
        let made = match self.function.compile(request) {
            Ok(compiled) => {
                let roles = compiled.outputs().map(|port| port.role).collect();
                Some(Pool { compiled, roles, idle: Mutex::default() })
            }
            Err(error) if error.code() == Some("J805") => None,
            Err(error) => return Err(error),
        };
        Ok(kept.get_or_init(|| made).as_ref())
    }

    /// Memory for a call.
    fn runner(&self, request: Request, pool: &Pool) -> Runner {
        let mut session = pool.compiled.session();
        if let Some(cancellation) = &self.cancellation {
            session.set_cancellation(cancellation);
        }
        let mut inputs = self.args.clone();
        let seeds = pool.compiled.inputs().filter(|port| port.role == Role::Derivative);
        match request {
            Request::Vjp => inputs.extend(self.cotangents.iter().cloned()),
            _ => inputs.extend(seeds.filter_map(|port| {
                let mut all = pool.compiled.inputs().enumerate();
                let (k, _) = all.find(|(_, p)| p.role == Role::Value && p.name == port.of)?;
                pool.compiled.input_as_tangent(k, self.args.get(k)?)
            })),
        }
        Runner { session, inputs, list: Vec::new() }
    }

    /// The names of the vector's parameters.
    fn names(&self) -> String {
        self.vector.iter().map(|part| part.shown.as_str()).collect::<Vec<_>>().join(", ")
    }

    /// The same with the names that its user has for the parameters in the vector.
    pub(crate) fn called(mut self, names: &[&str]) -> Flat {
        if names.len() == self.vector.len() {
            self.vector
                .iter_mut()
                .zip(names)
                .for_each(|(part, name)| part.shown = name.to_string());
        }
        self
    }

    /// Writes the vector where its numbers stand among the arguments.
    fn place(&self, args: &mut [Value], x: &[f64]) {
        let mut x = x;
        for part in &self.vector {
            if let Some(arg) = args.get_mut(part.position) {
                fill(arg, &mut x);
            }
        }
    }

    /// The result that is a number.
    fn number(&self) -> Result<usize> {
        self.number.ok_or_else(|| {
            let name = self.function.name();
            Error::Request(format!(
                "`{name}` does not give one number: choose one of its results by `of`, or ask for its Jacobian"
            ))
        })
    }

    /// An error unless there are so many numbers.
    fn has(&self, code: &'static str, what: &str, given: usize, needed: usize) -> Result<()> {
        if given == needed {
            return Ok(());
        }
        let reason = format!("{what} has {given} numbers, not {needed}");
        let help = "its length is that of what `flat` was given, or of its results";
        Err(ArgumentError::new(code, self.names(), reason, help).into())
    }

    /// An error if there were not as many results as at the start.
    fn same(&self, fits: bool) -> Result<()> {
        if fits {
            return Ok(());
        }
        let reason =
            format!("the results have another length here than at the start, {}", self.results());
        let help = "a solver wants as many results at every point";
        Err(ArgumentError::new("A05", self.names(), reason, help).into())
    }
}

impl Pool {
    /// Copies all floats of the results of a kind; says whether there are as many as there is room for.
    fn copy(&self, results: &Results<'_>, role: Role, to: &mut [f64]) -> bool {
        let mut to = to;
        let kinds = self.roles.iter().enumerate().filter(|(_, r)| **r == role);
        let fits = kinds.fold(true, |fits, (k, _)| {
            let each = |parts: &[Value]| parts.iter().all(|part| copy(part, &mut to));
            read(results, k, each) && fits
        });
        fits && to.is_empty()
    }

    /// Puts the blocks of all partial derivatives into one matrix; says whether they have these sizes.
    fn blocks(
        &self,
        results: &Results<'_>,
        rows: &[Vec<usize>],
        columns: &[Vec<usize>],
        to: &mut [f64],
    ) -> bool {
        let width: usize = columns.iter().flatten().sum();
        let mut derivatives = self.roles.iter().zip(0..).filter(|(r, _)| **r == Role::Derivative);
        let mut fits = true;
        let mut top = 0;
        for of in rows {
            let mut left = 0;
            for by in columns {
                let Some((_, block)) = derivatives.next() else { return false };
                let place = (top * width + left, width);
                fits &= read(results, block, |parts| spread(parts, (of, by), place, to));
                left += by.iter().sum::<usize>();
            }
            top += of.iter().sum::<usize>();
        }
        fits
    }
}

/// Reads the parts of a result.
fn read(results: &Results<'_>, position: usize, read: impl FnOnce(&[Value]) -> bool) -> bool {
    match results.parts(position) {
        Some(parts) => read(parts),
        None => results.value(position).is_none_or(|value| {
            let data = value.floats();
            read(&[Value::F64s(Array { shape: vec![data.len()], data })])
        }),
    }
}

/// Does something with the k-th unit vector.
fn along(unit: &mut [f64], k: usize, work: impl FnOnce(&[f64]) -> Result<()>) -> Result<()> {
    let set = |unit: &mut [f64], to: f64| unit.iter_mut().skip(k).take(1).for_each(|x| *x = to);
    set(unit, 1.0);
    let done = work(unit);
    set(unit, 0.0);
    done
}

/// A number among the results.
fn at(results: &Results<'_>, position: usize) -> f64 {
    match results.plain(position) {
        Some(Value::F64(x)) => *x,
        _ => results.value(position).and_then(|v| v.floats().first().copied()).unwrap_or(f64::NAN),
    }
}
