//! Everything that jut makes of a function, ready to run: values, gradients, products with the
//! Jacobian from both sides; under both tape policies, as composed and as optimised. Whole Jacobians and
//! second derivatives, which are made of the same halves and are much more code, are a list of their own.

use crate::laws::run;
use jut_ad::compose::{self, Asked, Request, Seeds};
use jut_ad::{Derivatives, Mask, Policy};
use jut_eval::{Interpreter, Value, vector};
use jut_ir::types::Type;
use jut_ir::{Diagnostic, FuncId, Program};

/// A function made of another, with arguments.
#[derive(Clone, Debug)]
pub struct Product {
    /// What it is, for messages.
    pub name: String,
    /// The program.
    pub program: Program,
    /// The function.
    pub func: FuncId,
    /// All its arguments: sizes, arguments, tangents or cotangents.
    pub args: Vec<Value>,
}

/// A function made of another, to be called at any arguments of that.
#[derive(Clone, Debug)]
pub struct Derived {
    /// What it is.
    pub kind: &'static str,
    /// The program.
    pub program: Program,
    /// The function.
    pub func: FuncId,
    /// The function of which it is made.
    of: FuncId,
    /// Where that has its active parameters.
    positions: Vec<usize>,
    takes: Seeds,
}

impl Derived {
    /// All arguments, those of the function it is made of (sizes included) given. Tangents and cotangents are
    /// random, the same ones for everything that is made of one function. None if the function fails
    /// before its results have a size, which cotangents would have too.
    ///
    /// # Errors
    /// The function cannot be called so.
    pub fn arguments(&self, args: &[Value]) -> Result<Option<Vec<Value>>, String> {
        let mut all = args.to_vec();
        match self.takes {
            Seeds::None => {}
            Seeds::Tangents => {
                let mut rng = fastrand::Rng::with_seed(23);
                all.extend(self.positions.iter().map(|k| vector::random_like(&args[*k], &mut rng)));
            }
            Seeds::Cotangents => match cotangents(&self.program, self.of, self.func, args)? {
                Some(seeds) => all.extend(seeds),
                None => return Ok(None),
            },
        }
        Ok(Some(all))
    }
}

/// Products of a function at some arguments (sizes included). What needs a gradient is left out if the
/// function has not one f64 result.
///
/// # Errors
/// A composition is refused.
pub fn products(
    program: &Program,
    func: FuncId,
    args: &[Value],
    mask: &Mask,
    policies: &[Policy],
) -> Result<Vec<Product>, String> {
    at(under(program, func, mask, policies)?, args)
}

/// One of them under the default policy, in turn; none if the function fails before its results have a size.
///
/// # Errors
/// A composition is refused.
pub fn product_in_turn(
    program: &Program,
    func: FuncId,
    args: &[Value],
    mask: &Mask,
    turn: usize,
) -> Result<Option<Product>, String> {
    let all = under(program, func, mask, &[Policy::Default])?;
    let chosen = turn_of(&all, Policy::Default, turn);
    let made = chosen.and_then(|k| all.into_iter().nth(k));
    Ok(at(made, args)?.pop())
}

/// Derivatives at some arguments.
fn at(
    all: impl IntoIterator<Item = (Policy, Derived)>,
    args: &[Value],
) -> Result<Vec<Product>, String> {
    let mut made = Vec::new();
    for (policy, derived) in all {
        let Some(args) = derived.arguments(args)? else { continue };
        let name = format!("{} under {policy:?}", derived.kind);
        made.push(Product { name, program: derived.program, func: derived.func, args });
    }
    Ok(made)
}

/// By how many backends each derivative is compiled where all by all would take too long. Under the default policy each has
/// the first, and of one function in two one of them, in turn, has the second too; those after it, which end in the second's own
/// machine code, have it for one function in four. Under each other policy the first has one, in turn: that a policy changes no
/// bits is P8, and every backend has translated a tape before.
pub fn in_turn(all: &[(Policy, Derived)], turn: usize) -> Vec<usize> {
    let of_default = all.iter().filter(|(policy, _)| *policy == Policy::Default).count();
    let most = [usize::MAX, 1, 2, 1][turn / of_default.max(1) % 4];
    let more = turn_of(all, Policy::Default, turn);
    let others = [Policy::StoreAll, Policy::Minimal].map(|policy| turn_of(all, policy, turn));
    let count = |k: usize| match () {
        () if more == Some(k) => most,
        () => usize::from(all[k].0 == Policy::Default || others.contains(&Some(k))),
    };
    (0..all.len()).map(count).collect()
}

/// The derivative under a policy whose turn it is.
fn turn_of(all: &[(Policy, Derived)], policy: Policy, turn: usize) -> Option<usize> {
    let those: Vec<usize> = (0..all.len()).filter(|k| all[*k].0 == policy).collect();
    those.get(turn % those.len().max(1)).copied()
}

/// What [`products`] has, to be called at any arguments. What has no tape is the same under every policy:
/// it is made under the first.
///
/// # Errors
/// A composition is refused.
pub fn under(
    program: &Program,
    func: FuncId,
    mask: &Mask,
    policies: &[Policy],
) -> Result<Vec<(Policy, Derived)>, String> {
    let mut all = Vec::new();
    for (k, policy) in policies.iter().enumerate() {
        let requests = if k == 0 { &FIRST[..] } else { &FIRST[WITHOUT_TAPE..] };
        let made = first(program, func, mask, *policy, requests).map_err(|d| d.to_string())?;
        all.extend(made.into_iter().map(|derived| (*policy, derived)));
    }
    Ok(all)
}

/// What [`products`] has, and whole Jacobians and second derivatives, under the default policy. Of functions
/// that have no Jacobian, there is none.
///
/// # Errors
/// A composition is refused that every function has.
pub fn all_derived(program: &Program, func: FuncId, mask: &Mask) -> Result<Vec<Derived>, String> {
    let mut all = first(program, func, mask, Policy::Default, &FIRST).map_err(|d| d.to_string())?;
    if !mask.is_empty() {
        all.extend(further(program, func, mask));
    }
    Ok(all)
}

/// The value, the gradient, and products with the Jacobian and the Hessian in one direction, under the default policy.
///
/// # Errors
/// A composition is refused that every function has.
pub fn along_one_direction(
    program: &Program,
    func: FuncId,
    mask: &Mask,
) -> Result<Vec<Derived>, String> {
    let requests = [Request::Value, Request::Gradient, Request::Jvp, Request::HessianProduct];
    first(program, func, mask, Policy::Default, &requests).map_err(|d| d.to_string())
}

fn floats(program: &Program, func: FuncId) -> usize {
    program.funcs[func].results.iter().filter(|r| r.ty.is_float()).count()
}

/// The value, and first derivatives in one direction.
const FIRST: [Request; 5] =
    [Request::Value, Request::Jvp, Request::Vjp, Request::Gradient, Request::ValueAndGradient];
/// How many of them, at the begin, have no tape.
const WITHOUT_TAPE: usize = 2;

fn first(
    program: &Program,
    func: FuncId,
    mask: &Mask,
    policy: Policy,
    requests: &[Request],
) -> Result<Vec<Derived>, Diagnostic> {
    let mut d = Derivatives::new(program.clone());
    let possible = |request: &Request| match request {
        Request::Value => true,
        Request::Gradient | Request::ValueAndGradient => {
            !mask.is_empty() && floats(program, func) == 1
        }
        _ => !mask.is_empty(),
    };
    let made = requests.iter().copied().filter(possible);
    let made = made.map(|request| Ok((request, compose(&mut d, request, func, mask, policy)?)));
    let made = made.collect::<Result<Vec<_>, Diagnostic>>()?;
    Ok(all_of(&d, func, mask, made))
}

/// Whole Jacobians, and second derivatives.
fn further(program: &Program, func: FuncId, mask: &Mask) -> Vec<Derived> {
    let mut d = Derivatives::new(program.clone());
    use compose::JacobianMode::Auto;
    let others = Request::all().filter(|request| match request {
        // Of other functions, or made of the others.
        Request::Transposed
        | Request::Batched
        | Request::Jacobian(Auto)
        | Request::ValueAndJacobian(_) => false,
        request => !FIRST.contains(request),
    });
    let made = others.filter_map(|request| {
        Some((request, compose(&mut d, request, func, mask, Policy::Default).ok()?))
    });
    let made = made.collect();
    all_of(&d, func, mask, made)
}

fn compose(
    d: &mut Derivatives,
    request: Request,
    func: FuncId,
    mask: &Mask,
    policy: Policy,
) -> Result<FuncId, Diagnostic> {
    let asked = Asked { request, func, wrt: mask.clone(), of: None, policy };
    Ok(compose::compose(d, &asked, &mut |_, _, _| {})?.func)
}

fn all_of(d: &Derivatives, of: FuncId, mask: &Mask, made: Vec<(Request, FuncId)>) -> Vec<Derived> {
    let derived = |(request, func): (Request, FuncId)| {
        let (program, positions) = (d.program.clone(), mask.positions().collect());
        let (kind, takes) = (request.suffix(), request.row().seeds);
        Derived { kind, program, func, of, positions, takes }
    };
    made.into_iter().map(derived).collect()
}

/// Random cotangents for a `vjp`, with the sizes that come before them; none if the function fails
/// before its results have a size.
fn cotangents(
    program: &Program,
    func: FuncId,
    vjp: FuncId,
    args: &[Value],
) -> Result<Option<Vec<Value>>, String> {
    let mut rng = fastrand::Rng::with_seed(29);
    let made = &program.funcs[vjp];
    let extra = &made.params[args.len()..];
    if extra.iter().all(|p| made.nvars[*p].ty.is_float()) {
        let mut random =
            |p: &jut_ir::NVar| Value::from(made.nvars[*p].ty.number(2.0 * rng.f64() - 1.0));
        return Ok(Some(extra.iter().map(&mut random).collect()));
    }
    let Ok(outcome) = run(&Interpreter::new(program), func, args, &[], &[])? else {
        return Ok(None);
    };
    let results = &program.funcs[func].results;
    let mut floats = results.iter().zip(&outcome.results).filter(|(r, _)| r.ty.has_float(program));
    let mut sizes = results.iter().zip(&outcome.results).filter(|(r, _)| r.name.is_some());
    let seeds = extra.iter().map(|p| match made.nvars[*p].ty {
        Type::I64 => sizes.next().map(|(_, v)| v.clone()),
        _ => floats.next().map(|(_, v)| vector::random_like(v, &mut rng)),
    });
    Ok(seeds.collect())
}

/// A product, optimised.
pub fn optimised(product: &Product) -> Product {
    Product {
        name: format!("{}, optimised", product.name),
        program: jut_opt::optimise(&product.program, product.func, true),
        ..product.clone()
    }
}
