//! What the tests of the passes share: text to programs, all stages of a function, random values.
use fastrand::Rng;
use jut_ad::{Derivatives, Mask, Policy, Unzipped, forward, transpose, unzip};
use jut_eval::{Array, Cells, Interpreter, Outcome, Value};
use jut_ir::*;
use std::collections::HashMap;

pub const POLICIES: [Policy; 3] = Policy::ALL;

/// The program that a text is.
pub fn parse(text: &str) -> Program {
    let loaded = jut_text::load(text, 0);
    loaded.program.unwrap_or_else(|| {
        let lines = loaded.diagnostics.iter().map(|e| {
            let end = (e.span.end as usize).min(text.len());
            let at = text.get(e.span.start as usize..end).unwrap_or_default();
            format!("{e} at `{at}`")
        });
        panic!("{}\n{text}", lines.collect::<Vec<_>>().join("\n"))
    })
}

/// Everything that the passes make of one function.
pub struct Stages {
    pub derivatives: Derivatives,
    pub source: FuncId,
    pub jvp: FuncId,
    pub halves: Unzipped,
    pub transposed: FuncId,
    pub twice: FuncId,
}

impl Stages {
    pub fn program(&self) -> &Program {
        &self.derivatives.program
    }

    pub fn text(&self) -> String {
        jut_ir::print::print_program(self.program())
    }
}

/// What is printed reads back and prints the same; marks of passes become checks as it is read.
pub fn reads_back(text: &str) {
    let again = jut_ir::print::print_program(&parse(text));
    let marked = ["[!", ", !", "= proved cast"].iter().any(|mark| text.contains(mark));
    if marked {
        assert_eq!(jut_ir::print::print_program(&parse(&again)), again, "what was read reads back");
    } else {
        assert_eq!(again, text, "the text reads back");
    }
}

/// J, U, T and T again; the checker accepts every stage, and the text of every stage.
pub fn stages(program: &Program, name: &str, policy: Policy) -> Stages {
    let stages = passes(program, name, policy);
    let program = stages.program();
    let text = jut_ir::print::print_program(program);
    if let Err(errors) = check::check_program(program) {
        let errors: Vec<String> = errors.iter().map(|e| e.to_string()).collect();
        panic!("{}\n{text}", errors.join("\n"));
    }
    reads_back(&text);
    for linear in [stages.halves.lin, stages.transposed, stages.twice] {
        check::check_linear_b(program, linear).unwrap();
        check::check_transpose_domain(program, linear).unwrap();
    }
    check::check_forward_domain(program, stages.halves.nonlin).unwrap();
    stages
}

/// J, U, T and T again.
pub fn passes(program: &Program, name: &str, policy: Policy) -> Stages {
    let mut derivatives = Derivatives::new(program.clone());
    let source = program.find_func(name).unwrap();
    let jvp = match program.funcs[source].is_nonlinear() {
        true => {
            let mask = Mask::full(program, source);
            forward::forward(&mut derivatives, source, &mask).unwrap()
        }
        // A user's function with linear parameters goes straight to U.
        false => source,
    };
    let halves = unzip::unzip(&mut derivatives, jvp, policy).unwrap();
    let transposed = transpose::transpose(&mut derivatives, halves.lin).unwrap();
    let twice = transpose::transpose(&mut derivatives, transposed).unwrap();
    Stages { derivatives, source, jvp, halves, transposed, twice }
}

/// A random value of a type, the sizes in it given.
pub fn value(program: &Program, ty: &Type, sizes: &HashMap<NVar, i64>, rng: &mut Rng) -> Value {
    match ty {
        Type::Float(_) => Value::F64(rng.f64() * 2.0 - 1.0),
        Type::I64 => Value::I64(rng.i64(0..4)),
        Type::I32 => Value::I32(rng.i32(0..4)),
        Type::Bool => Value::Bool(rng.bool()),
        Type::Tuple(items) => {
            Value::tuple(items.iter().map(|t| value(program, t, sizes, rng)).collect())
        }
        Type::Array(..) => {
            let mut dims = Vec::new();
            let mut element = ty;
            while let Type::Array(size, inner) = element {
                dims.push(size.eval(&mut |name| sizes[&name]) as usize);
                element = inner;
            }
            let count = dims.iter().product();
            let cells = match element {
                &Type::F64 => Cells::F64((0..count).map(|_| rng.f64() * 2.0 - 1.0).collect()),
                Type::I64 => Cells::I64((0..count).map(|_| rng.i64(0..3)).collect()),
                Type::Bool => Cells::Bool((0..count).map(|_| rng.bool()).collect()),
                _ => panic!("no random arrays of {element:?}"),
            };
            Value::Array(Array::new(dims, cells).unwrap())
        }
        Type::Data(data) => {
            let fields = program.datas[*data].constructors[0].fields.iter();
            let fields = fields.map(|f| value(program, &f.ty, sizes, rng)).collect();
            Value::data(ConRef { data: *data, index: 0 }, fields)
        }
    }
}

/// The sizes that arguments say.
pub fn sizes(func: &Function, args: &[Value]) -> HashMap<NVar, i64> {
    let params = func.params.iter().copied().zip(args);
    params.filter_map(|(p, v)| v.as_i64().map(|n| (p, n))).collect()
}

/// A value of the same shape with other floats.
pub fn like(value: &Value, rng: &mut Rng) -> Value {
    value.map_f64(&mut |_| rng.f64() * 2.0 - 1.0)
}

/// The scalar product, and the sum of the absolute values of its terms.
pub fn dot(a: &[Value], b: &[Value]) -> (f64, f64) {
    let floats = |values: &[Value]| {
        let mut all = Vec::new();
        values.iter().for_each(|v| v.for_each_f64(&mut |x| all.push(x)));
        all
    };
    let (a, b) = (floats(a), floats(b));
    assert_eq!(a.len(), b.len());
    let terms = a.iter().zip(&b).map(|(x, y)| x * y);
    terms.fold((0.0, 0.0), |(sum, abs), t| (sum + t, abs + t.abs()))
}

/// One run of all stages on the same arguments.
pub struct Run {
    pub tangents: Vec<Value>,
    pub reads: Vec<Value>,
    pub jvp: Outcome,
    pub nonlin: Outcome,
    pub lin: Outcome,
    pub cotangents: Vec<Value>,
    pub transposed: Outcome,
    pub twice: Outcome,
}

/// Runs all stages with random tangents and cotangents.
pub fn run(stages: &Stages, args: &[Value], rng: &mut Rng) -> Run {
    let program = stages.program();
    let interpreter = Interpreter::new(program);
    let func = &program.funcs[stages.jvp];
    let sizes = sizes(func, args);
    let types = func.lin_params.iter().map(|x| &func.lvars[*x].ty);
    let tangents: Vec<Value> = types.map(|t| value(program, t, &sizes, rng)).collect();
    let types = func.cap_params.iter().map(|c| &func.caps[*c].ty);
    let reads: Vec<Value> = types.map(|t| value(program, t, &sizes, rng)).collect();
    let jvp = interpreter.call(stages.jvp, args, &tangents, &reads).unwrap();
    let mut nonlin = interpreter.call(stages.halves.nonlin, args, &[], &[]).unwrap();

    let mut lin_args: Vec<Value> =
        stages.halves.forwarded.iter().map(|k| args[*k].clone()).collect();
    lin_args.extend(stages.halves.result_sizes.iter().map(|k| nonlin.results[*k].clone()));
    if stages.halves.tape.is_some() {
        lin_args.push(nonlin.results.pop().unwrap());
    }
    let lin = interpreter.call(stages.halves.lin, &lin_args, &tangents, &reads).unwrap();
    let cotangents: Vec<Value> = lin.linear.iter().map(|v| like(v, rng)).collect();
    let buffers: Vec<Value> = reads.iter().map(|v| v.map_f64(&mut |_| 0.0)).collect();
    let transposed = interpreter.call(stages.transposed, &lin_args, &cotangents, &buffers).unwrap();
    let twice = interpreter.call(stages.twice, &lin_args, &tangents, &reads).unwrap();
    Run { tangents, reads, jvp, nonlin, lin, cotangents, transposed, twice }
}

/// How many scalars values have.
pub fn scalars(values: &[Value]) -> u64 {
    values.iter().map(Value::scalars).sum()
}

/// All floats of some values, in order.
pub fn floats(values: &[Value]) -> Vec<f64> {
    let mut all = Vec::new();
    values.iter().for_each(|v| v.for_each_f64(&mut |x| all.push(x)));
    all
}

/// The values with their floats replaced.
pub fn with_floats(values: &[Value], floats: &[f64]) -> Vec<Value> {
    let mut next = floats.iter().copied();
    let mut replace = |x: f64| next.next().unwrap_or(x);
    values.iter().map(|v| v.map_f64(&mut replace)).collect()
}

pub fn x(value: f64) -> Value {
    Value::F64(value)
}

pub fn k(value: i64) -> Value {
    Value::I64(value)
}

pub fn b(value: bool) -> Value {
    Value::Bool(value)
}

pub fn v(values: &[f64]) -> Value {
    Value::floats(values.to_vec())
}

pub fn m(rows: usize, values: &[f64]) -> Value {
    Value::matrix(rows, values.len() / rows, values.to_vec()).unwrap()
}

/// The floats of the results.
pub fn call(program: &Program, func: FuncId, args: &[Value]) -> Vec<f64> {
    let interpreter = Interpreter::new(program);
    let all = interpreter.with_sizes(func, args).unwrap();
    let outcome = interpreter.call(func, &all, &[], &[]).unwrap_or_else(|e| panic!("{e}"));
    let mut floats = Vec::new();
    outcome.results.iter().for_each(|v| v.for_each_f64(&mut |x| floats.push(x)));
    floats
}

/// Derivatives with respect to `x: [n]f64`, the last argument, of a function `f` of one result: first and second order, in
/// every nesting, against differences.
pub fn derivatives_agree(text: &str, before: &[Value], x: &[f64]) {
    let source = parse(text);
    let f = source.find_func("f").unwrap();
    for policy in Policy::ALL {
        let stages = stages(&source, "f", policy);
        let mut all = before.to_vec();
        all.push(Value::floats(x.to_vec()));
        let all = Interpreter::new(&source).with_sizes(f, &all).unwrap();
        let run = run(&stages, &all, &mut Rng::with_seed(7));
        let (left, _) = dot(&run.lin.linear, &run.cotangents);
        let mut inputs = run.tangents.clone();
        inputs.extend(run.reads.clone());
        let mut outputs = run.transposed.linear.clone();
        outputs.extend(run.transposed.buffers.clone());
        let (right, size) = dot(&outputs, &inputs);
        assert!((left - right).abs() <= 1e-12 * (1.0 + size), "{left} {right}");
    }
    let mut d = Derivatives::new(source);
    let mask = Mask::full(&d.program, f);
    let value = jut_ad::compose::value_and_grad(&mut d, f, &mask, Policy::Default).unwrap();
    let gradient = jut_ad::compose::grad(&mut d, f, &mask, Policy::Default).unwrap();
    let arguments = |x: &[f64]| {
        let mut all = before.to_vec();
        all.push(Value::floats(x.to_vec()));
        all
    };
    let differences = |program: &Program, of: FuncId, k: usize| {
        let moved = |by: f64| {
            let mut x = x.to_vec();
            x[k] += by;
            call(program, of, &arguments(&x))
        };
        let h = 1e-5;
        let ends: Vec<f64> =
            moved(h).iter().zip(moved(-h)).map(|(a, b)| (a - b) / (2.0 * h)).collect();
        ends
    };
    let close = |a: f64, b: f64| (a - b).abs() <= 1e-6 * (1.0 + a.abs().max(b.abs()));
    let found = call(&d.program, value, &arguments(x));
    assert_eq!(found[0], call(&d.program, f, &arguments(x))[0]);
    for k in 0..x.len() {
        let expected = differences(&d.program, f, k)[0];
        assert!(close(found[1 + k], expected), "{k}: {} is not {expected}", found[1 + k]);
    }
    // Second order: reverse over forward, forward over reverse.
    let direction: Vec<f64> = (0..x.len()).map(|k| ((k * 7 + 3) % 5) as f64 - 1.5).collect();
    let mut expected = vec![0.0; x.len()];
    for (k, along) in direction.iter().enumerate() {
        for (sum, row) in expected.iter_mut().zip(differences(&d.program, gradient, k)) {
            *sum += along * row;
        }
    }
    let product = jut_ad::compose::hessian_product(&mut d, f, &mask, Policy::Default).unwrap();
    let mut all = arguments(x);
    all.push(Value::floats(direction.clone()));
    let reverse_over_forward = call(&d.program, product, &all);
    let plain = jut_opt::optimise(&d.program, gradient, false);
    let mut d2 = Derivatives::new(plain);
    let mask = Mask::full(&d2.program, gradient);
    let over = jut_ad::compose::jvp(&mut d2, gradient, &mask).unwrap();
    if let Err(errors) = check::check_program(&d2.program) {
        panic!("{errors:#?}\n{}", jut_ir::print::print_program(&d2.program));
    }
    let forward_over_reverse = call(&d2.program, over, &all);
    let forward_over_reverse = &forward_over_reverse[x.len()..];
    for k in 0..x.len() {
        assert!(close(reverse_over_forward[k], expected[k]), "reverse over forward, {k}");
        assert!(close(forward_over_reverse[k], expected[k]), "forward over reverse, {k}");
    }
}
