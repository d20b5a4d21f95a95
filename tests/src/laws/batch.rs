//! P18: a batch is the loop over its elements, bit for bit, error for error, and costs no more.
//!
//! | tested on | over |
//! |---|---|
//! | the function | everything that can be mapped; its first and its last such parameter alone |
//! | J of it | everything, tangents by value and by capability included |
//! | the cotangents of the batch, beside the batch of cotangents | everything |
//!
//! Elements are the arguments, then others of their shape (near ones if the program may run for ever at others), so that some take other branches, run loops more or less often,
//! and fail. An empty batch fails only where an element of the held arguments does.

use super::{Fault, Pass, Run, check, expect_same, reads_back, run};
use jut_ad::{Derivatives, Mask, Policy, batch, compose, forward};
use jut_eval::{Interpreter, Outcome, Value, vector};
use jut_ir::calls::Recursion;
use jut_ir::structured::{Meaning, Structured};
use jut_ir::{Block, Diagnostic, Dir, FuncId, Program, Rhs};

/// How many elements there are.
const ELEMENTS: usize = 3;

/// The arguments of one element.
#[derive(Clone, Default)]
struct Given {
    args: Vec<Value>,
    linear: Vec<Value>,
    caps: Vec<Value>,
}

impl Given {
    fn call(&self, interpreter: &Interpreter, func: FuncId) -> Result<Run, String> {
        run(interpreter, func, &self.args, &self.linear, &self.caps)
    }
}

/// P18 for a function at some arguments, sizes included.
///
/// # Errors
/// What does not hold.
pub(super) fn verify(
    program: &Program,
    func: FuncId,
    args: &[Value],
    fault: Fault<'_>,
) -> Result<(), String> {
    let mut rng = fastrand::Rng::with_seed(18);
    let all = batch::mappable(program, func);
    let count = program.funcs[func].params.len();
    let positions: Vec<usize> = all.positions().collect();
    let alone = [positions.first(), positions.last()].into_iter().flatten();
    let alone = alone.filter(|_| positions.len() > 1).map(|one| Mask::of(count, |k| k == *one));
    let interpreter = Interpreter::new(program);
    let (linear, caps) = inputs(&interpreter, func, args, &mut rng)?;
    let given = Given { args: args.to_vec(), linear, caps };
    for mask in std::iter::once(all.clone()).chain(alone) {
        let made = is_the_loop(program, func, &mask, &given, fault, &mut rng)?;
        if let Some(made) = made.filter(|_| mask == all && program.funcs[func].is_nonlinear()) {
            made.cotangents(func, &mask, &mut rng)?;
        }
    }
    if program.funcs[func].is_nonlinear() {
        let mut d = Derivatives::new(program.clone());
        let jvp = forward::forward(&mut d, func, &Mask::full(program, func)).map_err(say)?;
        let interpreter = Interpreter::new(&d.program);
        let (linear, caps) = inputs(&interpreter, jvp, args, &mut rng)?;
        let given = Given { args: args.to_vec(), linear, caps };
        let all = batch::mappable(&d.program, jvp);
        is_the_loop(&d.program, jvp, &all, &given, &|_, _, _| {}, &mut rng)?;
    }
    Ok(())
}

fn say(d: Diagnostic) -> String {
    format!("P18: {d}")
}

fn inputs(
    interpreter: &Interpreter,
    func: FuncId,
    args: &[Value],
    rng: &mut fastrand::Rng,
) -> Result<(Vec<Value>, Vec<Value>), String> {
    interpreter.linear_inputs(func, args, rng).map_err(|e| format!("random tangents: {e}"))
}

/// Whether a program may run for ever at other arguments: it has a `while`, or calls itself.
fn may_not_end(program: &Program) -> bool {
    fn in_block(block: &Block) -> bool {
        block.stmts.iter().any(|stmt| {
            matches!(&stmt.rhs, Rhs::Scan(scan) if scan.dir == Dir::While)
                || stmt.rhs.blocks().into_iter().any(in_block)
        })
    }
    let recursion = Recursion::of(program);
    program.funcs.iter().any(|(id, f)| recursion.is_recursive(id) || in_block(&f.body))
}

/// Whether a loop has something in it that may be done for a batch as a whole.
fn has_products(block: &Block, inside: bool) -> bool {
    block.stmts.iter().any(|stmt| {
        let inside = inside || matches!(stmt.rhs, Rhs::Scan(_));
        inside && matches!(stmt.rhs, Rhs::Structured(..) | Rhs::Call(_))
            || stmt.rhs.blocks().into_iter().any(|block| has_products(block, inside))
    })
}

/// Whether dimensions become one in a block, or two.
fn has_views(block: &Block) -> bool {
    block.stmts.iter().any(|stmt| {
        let is_view =
            |op: Structured| matches!(op.row().meaning, Meaning::Flatten | Meaning::Unflatten);
        matches!(stmt.rhs, Rhs::Structured(op, ..) if is_view(op))
            || stmt.rhs.blocks().into_iter().any(has_views)
    })
}

/// Another value of the same shape; one very near for a program that may run for ever at others.
fn another(value: &Value, near: bool, rng: &mut fastrand::Rng) -> Value {
    match value {
        _ if near => value.map_f64(&mut |x| x * (1.0 + 1e-6 * rng.f64())),
        Value::I64(n) => Value::I64(n.saturating_add(rng.i64(-1..2))),
        Value::Bool(b) => Value::Bool(*b ^ rng.bool()),
        Value::Array(array) => match array.i64s() {
            // Only of numbers in a row, which is what indices are.
            Some(cells) if value.dims().len() == 1 => {
                let mut cells = cells.to_vec();
                let n = cells.len().max(1);
                cells.rotate_left(rng.usize(0..n));
                Value::ints(cells)
            }
            _ => value.map_f64(&mut |x| x * (rng.f64() - 0.2)),
        },
        _ => value.map_f64(&mut |x| x * (2.0 * rng.f64() - 0.6)),
    }
}

/// An array of values of one shape; as many as are wanted, from the first on.
fn stacked(values: &[&Value], count: usize) -> Result<Value, String> {
    let all = Value::array(values.iter().copied().cloned().collect());
    let all = all.ok_or("P18: elements of several shapes")?;
    let part = all.as_array().and_then(|all| all.slice(0, count));
    part.map(Value::Array).ok_or("P18: no array of elements".into())
}

/// A function, that of a batch, and what both were given and gave.
struct Made {
    program: Program,
    batched: FuncId,
    elements: Vec<Given>,
    whole: Given,
    outcome: Outcome,
}

/// The function over a batch beside the loop over its elements. None if the function has no batch, or some element fails.
fn is_the_loop(
    program: &Program,
    func: FuncId,
    mask: &Mask,
    given: &Given,
    fault: Fault<'_>,
    rng: &mut fastrand::Rng,
) -> Result<Option<Made>, String> {
    let f = &program.funcs[func];
    let computed = f.results.iter().any(|r| {
        let sizes = r.ty.size_names();
        f.results.iter().any(|r| r.name.is_some_and(|name| sizes.contains(&name)))
    });
    let nothing = mask.is_empty() && given.linear.is_empty() && given.caps.is_empty();
    let mut d = Derivatives::new(program.clone());
    let batched = match batch::batch(&mut d, func, mask) {
        Err(d) if (nothing || computed) && d.code == "J809" => return Ok(None),
        made => made.map_err(say)?,
    };
    fault(Pass::Batch, &mut d.program, batched);
    let program = d.program;
    reads_back(&program)?;
    let interpreter = Interpreter::new(&program);
    let near = may_not_end(&program);
    let may_take_inside = program.funcs.values().any(|f| has_products(&f.body, false));
    let views = program.funcs.values().any(|f| has_views(&f.body));
    let mut elements = vec![given.clone()];
    elements.resize_with(ELEMENTS, || Given {
        args: given
            .args
            .iter()
            .enumerate()
            .map(|(k, v)| if mask.is_active(k) { another(v, near, rng) } else { v.clone() })
            .collect(),
        linear: given.linear.iter().map(|v| another(v, false, rng)).collect(),
        caps: given.caps.iter().map(|v| another(v, false, rng)).collect(),
    });
    let mut last = None;
    for count in [0, 1, ELEMENTS] {
        let whole = whole(&elements, mask, count)?;
        let found = whole.call(&interpreter, batched)?;
        let own: Vec<Run> = elements[..count]
            .iter()
            .map(|element| element.call(&interpreter, func))
            .collect::<Result<_, _>>()?;
        last = same(count, [may_take_inside, views], &own, found)?.map(|outcome| (whole, outcome));
    }
    Ok(last.map(|(whole, outcome)| Made { program, batched, elements, whole, outcome }))
}

/// The arguments of a batch.
fn whole(elements: &[Given], mask: &Mask, count: usize) -> Result<Given, String> {
    let all = |of: &dyn Fn(&Given) -> &[Value], is_mapped: &dyn Fn(usize) -> bool| {
        let first = of(&elements[0]).iter().enumerate();
        first
            .map(|(k, value)| match is_mapped(k) {
                true => stacked(&elements.iter().map(|e| &of(e)[k]).collect::<Vec<_>>(), count),
                false => Ok(value.clone()),
            })
            .collect::<Result<Vec<Value>, String>>()
    };
    let mut args = all(&|g| &g.args, &|k| mask.is_active(k))?;
    args.insert(0, Value::I64(count as i64));
    let (linear, caps) = (all(&|g| &g.linear, &|_| true)?, all(&|g| &g.caps, &|_| true)?);
    Ok(Given { args, linear, caps })
}

/// Results, errors and work of a batch beside those of its elements.
fn same(
    count: usize,
    [may_take_inside, views]: [bool; 2],
    own: &[Run],
    found: Run,
) -> Result<Option<Outcome>, String> {
    let failed = own.iter().find_map(|run| run.as_ref().err());
    let found = match (failed, found) {
        (Some(e), Err(found)) if found.kind == e.kind && found.span == e.span => return Ok(None),
        (Some(error), found) => {
            return Err(format!("P18: the loop fails with {error:?}, the batch gives {found:?}"));
        }
        // What is held may fail by itself.
        (None, Err(_)) if count == 0 => return Ok(None),
        (None, found) => found.map_err(|error| format!("P18: only the batch fails: {error:?}"))?,
    };
    let sections: [fn(&Outcome) -> &[Value]; 3] = [|o| &o.results, |o| &o.linear, |o| &o.buffers];
    for of in sections {
        for (k, batch) in of(&found).iter().enumerate() {
            let batch = batch.as_array().ok_or("P18: a result is no batch")?;
            if batch.len() != count {
                return Err(format!("P18: {} elements of {count}", batch.len()));
            }
            for (i, run) in own.iter().enumerate() {
                let one = run.as_ref().map_err(|e| format!("P18: {e:?}"))?;
                let element = batch.get(i).ok_or("P18: an element is missing")?;
                expect_same(
                    &format!("P18: element {i} of result {k}"),
                    std::slice::from_ref(&of(one)[k]),
                    &[element],
                )?;
            }
        }
    }
    let sum = |of: &dyn Fn(&Outcome) -> u64| -> u64 { own.iter().flatten().map(of).sum() };
    // A loop that takes the batch inside reads elements by their index, and exchanges what it stacks.
    let inside = |o: &Outcome| o.counters.elements + o.counters.moved;
    let most = sum(&|o| o.counters.work + if may_take_inside { inside(o) } else { 0 });
    // Other dimensions of an array are the same cells, which W counts as a result.
    let most = most + if views { found.counters.moved / 8 } else { 0 };
    if count > 0 && found.counters.work > most {
        return Err(format!(
            "P18: W of the batch is {}, of its elements {most}",
            found.counters.work
        ));
    }
    Ok(Some(found))
}

impl Made {
    /// The gradient of a batch is the batch of gradients, within rounding: what stands before a loop over the batch stands behind it
    /// in the transpose, so of several uses of a value another may come first.
    fn cotangents(self, func: FuncId, mask: &Mask, rng: &mut fastrand::Rng) -> Result<(), String> {
        let Made { program, batched, elements, whole, outcome } = self;
        let full = Mask::full(&program, func);
        if full.is_empty() || !program.funcs[func].cap_params.is_empty() {
            return Ok(());
        }
        let mut d = Derivatives::new(program);
        let of_batch = Mask::full(&d.program, batched);
        let of_batch = compose::vjp(&mut d, batched, &of_batch, Policy::Default).map_err(say)?;
        let of_one = compose::vjp(&mut d, func, &full, Policy::Default).map_err(say)?;
        check(&d.program)?;
        let program = d.program;
        let results = &program.funcs[func].results;
        let floats = results.iter().map(|r| r.ty.has_float(&program));
        let values = outcome.results.iter().zip(floats).filter(|(_, float)| *float);
        let seeds: Vec<Value> = values.map(|(v, _)| vector::random_like(v, rng)).collect();
        let interpreter = Interpreter::new(&program);
        let call = |func: FuncId, args: &[Value], seeds: Vec<Value>| {
            let args = [args, &seeds].concat();
            run(&interpreter, func, &args, &[], &[])?.map_err(|e| format!("P18: cotangents: {e:?}"))
        };
        let found = call(of_batch, &whole.args, seeds.clone())?;
        let mapped: Vec<bool> = full.positions().map(|k| mask.is_active(k)).collect();
        let gradients = |outcome: &Outcome| outcome.results[results.len()..].to_vec();
        let found = gradients(&found);
        for (i, element) in elements.iter().enumerate() {
            let own = seeds.iter().map(|s| s.as_array().and_then(|s| s.get(i)));
            let own = own.collect::<Option<Vec<Value>>>().ok_or("P18: a seed is missing")?;
            let one = gradients(&call(of_one, &element.args, own)?);
            let size = magnitude(&one);
            for (k, one) in one.iter().enumerate().filter(|(k, _)| mapped[*k]) {
                let batch = found[k].as_array().and_then(|all| all.get(i));
                let batch = batch.ok_or("P18: a cotangent is missing")?;
                if !near(one, &batch, size) {
                    return Err(format!(
                        "P18: element {i} of the cotangent of parameter {k}:\n  {one:?}\n  {batch:?}"
                    ));
                }
            }
        }
        Ok(())
    }
}

fn numbers(values: &[Value]) -> Vec<f64> {
    let mut all = Vec::new();
    values.iter().for_each(|v| v.for_each_f64(&mut |x| all.push(x)));
    all
}

/// The largest finite number.
fn magnitude(values: &[Value]) -> f64 {
    let finite = numbers(values).into_iter().filter(|x| x.is_finite());
    finite.fold(0.0, |most, x| x.abs().max(most))
}

/// Whether two values are the same within rounding, relative to a size.
fn near(a: &Value, b: &Value, size: f64) -> bool {
    let (a, b) = (numbers(std::slice::from_ref(a)), numbers(std::slice::from_ref(b)));
    let close = |(a, b): (&f64, &f64)| match a.is_finite() && b.is_finite() {
        true => (a - b).abs() <= 1e-9 * size,
        false => a.is_finite() == b.is_finite(),
    };
    a.len() == b.len() && a.iter().zip(&b).all(close)
}
