//! Everything that jut makes of a function, ready to run: values, gradients, products with the
//! Jacobian from both sides; under both tape policies, as composed and as optimised.

use crate::laws::run;
use jut_ad::{Derivatives, Mask, Policy, compose, erase};
use jut_eval::{Interpreter, Value, vector};
use jut_ir::types::Type;
use jut_ir::{FuncId, Program};

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

/// Products of a function at some arguments (sizes included). Tangents and cotangents are random, the
/// same ones for all products. What needs a gradient is left out if the function has not one f64
/// result.
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
    let say = |d: jut_ir::Diagnostic| d.to_string();
    let mut rng = fastrand::Rng::with_seed(23);
    let tangents: Vec<Value> =
        mask.positions().map(|k| vector::random_like(&args[k], &mut rng)).collect();
    let function = &program.funcs[func];
    let floats = function.results.iter().filter(|r| r.ty == Type::F64).count();
    let mut all = Vec::new();
    for policy in policies {
        let mut d = Derivatives::new(program.clone());
        let mut made = vec![("value", erase::erase(&mut d, func).map_err(say)?)];
        if !mask.is_empty() {
            made.push(("jvp", compose::jvp(&mut d, func, mask).map_err(say)?));
            made.push(("vjp", compose::vjp(&mut d, func, mask, *policy).map_err(say)?));
            if floats == 1 {
                let grad = compose::grad(&mut d, func, mask, *policy).map_err(say)?;
                made.push(("grad", grad));
                let both = compose::value_and_grad(&mut d, func, mask, *policy).map_err(say)?;
                made.push(("value_and_grad", both));
            }
        }
        for (kind, made) in made {
            let mut args = args.to_vec();
            match kind {
                "jvp" => args.extend(tangents.iter().cloned()),
                "vjp" => match cotangents(&d.program, func, made, &args)? {
                    Some(seeds) => args.extend(seeds),
                    None => continue,
                },
                _ => {}
            }
            let name = format!("{kind} under {policy:?}");
            all.push(Product { name, program: d.program.clone(), func: made, args });
        }
    }
    Ok(all)
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
    if extra.iter().all(|p| made.nvars[*p].ty == Type::F64) {
        return Ok(Some(extra.iter().map(|_| Value::F64(2.0 * rng.f64() - 1.0)).collect()));
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
