//! What the tests of the passes share: text to programs, all stages of a function, random values.
#![allow(dead_code, reason = "each test file uses its own part")]

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
                Type::Float(_) => Cells::F64((0..count).map(|_| rng.f64() * 2.0 - 1.0).collect()),
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
