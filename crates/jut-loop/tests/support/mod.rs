//! Running a definition through the interpreter of Linear A and through the loop form, and
//! comparing the bits. The loop form is run several times: as lowered, tidied up, read back from
//! its text, and as it is for backends: with mathematical functions of many numbers at once, and with
//! several iterations of loops at once.

pub mod loops;
pub mod tidied;

use jut_ad::{Derivatives, Mask, Policy, compose};
use jut_eval::{Interpreter, Value, View};
use jut_ir::{FuncId, Literal, NVar, Program, RuntimeError, Type};
use jut_loop::eval::{self, Fault};
use jut_loop::flatten::Layouts;
use jut_loop::form::{Cell, Kind, LoopProgram, Role};
use jut_loop::opt::for_target;
use jut_loop::signature::{Cells, Flat, Parameter, Signature};
use jut_loop::target::{Loops, StripMine, Target, Vectors};
use jut_loop::{lower, lower_plainly, print, read};
use jut_runtime::math;

/// Results and final accumulators, or the error.
pub type Result = std::result::Result<Vec<Value>, RuntimeError>;

pub fn load(source: &str) -> Program {
    let loaded = jut_text::load(source, 0);
    match loaded.program {
        Some(program) => program,
        None => panic!("{:#?}\n{source}", loaded.diagnostics),
    }
}

pub fn func(program: &Program, name: &str) -> FuncId {
    program.find_func(name).unwrap_or_else(|| panic!("no {name}"))
}

fn push(cells: &mut Cells, flat: Flat) {
    match (cells, flat) {
        (Cells::F64(c), Flat::Scalar(Literal::F64(x))) => c.push(x),
        (Cells::I64(c), Flat::Scalar(Literal::I64(x))) => c.push(x),
        (Cells::Bool(c), Flat::Scalar(Literal::Bool(x))) => c.push(x as u8),
        (Cells::Buffers(c), Flat::Buffer(x)) => c.push(x),
        (c, x) => panic!("{x:?} in {c:?}"),
    }
}

fn append(cells: &mut Cells, more: Cells) {
    match (cells, more) {
        (Cells::F64(a), Cells::F64(b)) => a.extend(b),
        (Cells::I64(a), Cells::I64(b)) => a.extend(b),
        (Cells::Bool(a), Cells::Bool(b)) => a.extend(b),
        (Cells::Buffers(a), Cells::Buffers(b)) => a.extend(b),
        (a, b) => panic!("{b:?} in {a:?}"),
    }
}

/// The components of a value.
pub fn flatten(program: &Program, layouts: &mut Layouts, ty: &Type, value: &Value) -> Vec<Flat> {
    match (ty, value) {
        (_, Value::F64(x)) => vec![Flat::Scalar(Literal::F64(*x))],
        (_, Value::I64(x)) => vec![Flat::Scalar(Literal::I64(*x))],
        (_, Value::Bool(x)) => vec![Flat::Scalar(Literal::Bool(*x))],
        (Type::Tuple(types), Value::Tuple(items)) => types
            .iter()
            .zip(items.iter())
            .flat_map(|(t, v)| flatten(program, layouts, t, v))
            .collect(),
        (Type::Data(id), Value::Data(con, items)) => {
            let layout = layouts.data(*id);
            let mut all: Vec<Flat> = layout
                .components
                .iter()
                .map(|c| match c.kind() {
                    Kind::F64 => Flat::Scalar(Literal::F64(0.0)),
                    Kind::F32 => Flat::Scalar(Literal::F32(0.0)),
                    Kind::I32 => Flat::Scalar(Literal::I32(0)),
                    Kind::I64 => Flat::Scalar(Literal::I64(0)),
                    Kind::BOOL => Flat::Scalar(Literal::Bool(false)),
                    Kind::Buffer(cell) => Flat::Buffer(Cells::empty(cell)),
                })
                .collect();
            if layout.tagged {
                all[0] = Flat::Scalar(Literal::I64(con.index as i64));
            }
            let fields = &program.constructor(*con).fields;
            let ranges = &layout.fields[con.index as usize];
            for ((field, item), range) in fields.iter().zip(items.iter()).zip(ranges) {
                let flat = flatten(program, layouts, &field.ty, item);
                all.splice(range.clone(), flat);
            }
            all
        }
        (Type::Array(_, element), Value::Array(array)) => {
            let inner = layouts.of(element);
            let mut all: Vec<Cells> =
                layouts.of(ty).iter().map(|c| Cells::empty(c.cell())).collect();
            for i in 0..array.len() {
                let flat = flatten(program, layouts, element, &array.get(i).unwrap());
                for ((to, from), c) in all.iter_mut().zip(flat).zip(inner.iter()) {
                    match from {
                        Flat::Buffer(cells) if !c.is_pinned() => append(to, cells),
                        from => push(to, from),
                    }
                }
            }
            all.into_iter().map(Flat::Buffer).collect()
        }
        (ty, value) => panic!("{value:?} is no {ty:?}"),
    }
}

fn slice(flat: &Flat, at: usize, n: usize) -> Flat {
    let Flat::Buffer(cells) = flat else { panic!("a buffer is expected") };
    if n == 0 {
        return Flat::Buffer(Cells::Buffers(Vec::new()));
    }
    Flat::Buffer(match cells {
        Cells::F64(c) => Cells::F64(c[at..at + n].to_vec()),
        Cells::F32(c) => Cells::F32(c[at..at + n].to_vec()),
        Cells::I32(c) => Cells::I32(c[at..at + n].to_vec()),
        Cells::I64(c) => Cells::I64(c[at..at + n].to_vec()),
        Cells::Bool(c) => Cells::Bool(c[at..at + n].to_vec()),
        Cells::Buffers(c) => Cells::Buffers(c[at..at + n].to_vec()),
    })
}

fn cell(flat: &Flat, at: usize) -> Flat {
    let Flat::Buffer(cells) = flat else { panic!("a buffer is expected") };
    match cells {
        Cells::F64(c) => Flat::Scalar(Literal::F64(c[at])),
        Cells::F32(c) => Flat::Scalar(Literal::F32(c[at])),
        Cells::I32(c) => Flat::Scalar(Literal::I32(c[at])),
        Cells::I64(c) => Flat::Scalar(Literal::I64(c[at])),
        Cells::Bool(c) => Flat::Scalar(Literal::Bool(c[at] != 0)),
        Cells::Buffers(c) => Flat::Buffer(c[at].clone()),
    }
}

/// A value from its components.
pub fn unflatten(
    program: &Program,
    layouts: &mut Layouts,
    ty: &Type,
    flat: &[Flat],
    size: &dyn Fn(NVar) -> i64,
) -> Value {
    match ty {
        Type::Float(_) | Type::I64 | Type::I32 | Type::Bool => match flat {
            [Flat::Scalar(Literal::F64(x))] => Value::F64(*x),
            [Flat::Scalar(Literal::I64(x))] => Value::I64(*x),
            [Flat::Scalar(Literal::Bool(x))] => Value::Bool(*x),
            // A scalar accumulator is a cell.
            [buffer] => unflatten(program, layouts, ty, &[cell(buffer, 0)], size),
            other => panic!("{other:?} is no {ty:?}"),
        },
        Type::Tuple(types) => {
            let mut at = 0;
            let items = types.iter().map(|t| {
                let n = layouts.of(t).len();
                at += n;
                unflatten(program, layouts, t, &flat[at - n..at], size)
            });
            Value::tuple(items.collect())
        }
        Type::Data(id) => {
            let layout = layouts.data(*id);
            let index = match (layout.tagged, &flat.first()) {
                (true, Some(Flat::Scalar(Literal::I64(tag)))) => *tag as u32,
                _ => 0,
            };
            let con = jut_ir::ConRef { data: *id, index };
            let ranges = &layout.fields[index as usize];
            let field_size = |v: NVar| match &flat[ranges[v.as_u32() as usize].start] {
                Flat::Scalar(Literal::I64(n)) => *n,
                other => panic!("{other:?} is no size"),
            };
            let fields =
                program.constructor(con).fields.iter().zip(ranges).map(|(f, r)| {
                    unflatten(program, layouts, &f.ty, &flat[r.clone()], &field_size)
                });
            Value::data(con, fields.collect())
        }
        Type::Array(n, element) => {
            let n = n.eval(&mut |v| size(v)).max(0) as usize;
            let inner = layouts.of(element);
            let rows = (0..n).map(|i| {
                let part: Vec<Flat> = flat
                    .iter()
                    .zip(inner.iter())
                    .map(|(flat, c)| match c.levels.first() {
                        Some(level) if !level.pinned => {
                            let m = level.cells().eval(&mut |v| size(v)).max(0) as usize;
                            slice(flat, i * m, m)
                        }
                        _ => cell(flat, i),
                    })
                    .collect();
                unflatten(program, layouts, element, &part, size)
            });
            let rows: Vec<Value> = rows.collect();
            Value::array(rows).unwrap_or_else(|| panic!("rows of different shape"))
        }
    }
}

/// Runs a lowered function.
pub fn run_loop(
    program: &Program,
    lowered: &LoopProgram,
    signature: &Signature,
    args: &[Value],
    caps: &[Value],
) -> Result {
    let mut layouts = Layouts::new(program).unwrap();
    let entry = lowered.funcs.keys().next_back().unwrap();
    let mut flat = vec![Flat::Buffer(Cells::Buffers(vec![])); lowered.funcs[entry].params.len()];
    for (parameter, value) in signature.params.iter().zip(args.iter().chain(caps)) {
        let parts = flatten(program, &mut layouts, &parameter.ty, value);
        assert_eq!(parts.len(), parameter.components.len());
        for (c, part) in parameter.components.iter().zip(parts) {
            flat[c.number] = match (part, c.kind) {
                (Flat::Scalar(Literal::F64(x)), Kind::Buffer(Cell::F64)) => {
                    Flat::Buffer(Cells::F64(vec![x]))
                }
                (Flat::Scalar(Literal::I64(x)), Kind::Buffer(Cell::I64)) => {
                    Flat::Buffer(Cells::I64(vec![x]))
                }
                (part, _) => part,
            };
        }
    }
    let outcome = match eval::run(lowered, entry, &flat) {
        Ok(outcome) => outcome,
        Err(Fault::Runtime(error)) => return Err(error),
        Err(Fault::Broken(what)) => {
            panic!("{what}\n{}", print::print_program(lowered))
        }
    };
    let all: Vec<Flat> = outcome.params.into_iter().chain(outcome.results).collect();
    let size = |v: NVar| match signature.sizes.get(&v).map(|n| &all[*n]) {
        Some(Flat::Scalar(Literal::I64(n))) => *n,
        other => panic!("size {v:?} is {other:?}"),
    };
    let mut value = |parameter: &Parameter| {
        let part: Vec<Flat> = parameter.components.iter().map(|c| all[c.number].clone()).collect();
        unflatten(program, &mut layouts, &parameter.ty, &part, &size)
    };
    let inout = |p: &&Parameter| p.components.iter().all(|c| c.role == Some(Role::InOut));
    let sums = signature.params.iter().skip(args.len()).filter(inout);
    Ok(signature.results.iter().chain(sums).map(&mut value).collect())
}

/// The program as it is for backends that can take everything: eight iterations at once, and two, of
/// loops that are few iterations long in tests, loops taken apart in both ways, and loops in shares; read back from its text.
fn in_vectors(program: &LoopProgram) -> Vec<LoopProgram> {
    use StripMine::{Kernels, Loops as Apart, No};
    let all = [
        (Kernels, Loops::All, 8, None),
        (No, Loops::All, 8, Some(2)),
        (No, Loops::All, 2, None),
        (Apart, Loops::CallsAndProducts, 8, Some(2)),
    ];
    let made = all.map(|(strip_mine, loops, together, shares)| {
        let vectors = Vectors { loops, together, masked: together == 2, ..Vectors::EVERYTHING };
        let made = for_target(program, &Target { strip_mine, vectors: Some(vectors), shares });
        let text = print::print_program(&made);
        let again = read::read_program(0, &text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        assert_eq!(print::print_program(&again), text, "it reads back");
        again
    });
    made.into()
}

/// Runs a function in both engines; the results must be the same bits, the errors the same errors.
pub fn agree(program: &Program, name: &str, args: &[Value]) -> Result {
    agree_with(program, name, args, &[])
}

pub fn agree_with(program: &Program, name: &str, args: &[Value], caps: &[Value]) -> Result {
    let id = func(program, name);
    let interpreter = Interpreter::new(program);
    let args = if args.len() < program.funcs[id].params.len() {
        interpreter.with_sizes(id, args).unwrap()
    } else {
        args.to_vec()
    };
    let expected = match interpreter.call(id, &args, &[], caps) {
        Ok(outcome) => Ok(outcome.results.into_iter().chain(outcome.buffers).collect::<Vec<_>>()),
        Err(error) => Err(error.runtime().unwrap_or_else(|| panic!("{name}: {error}")).clone()),
    };
    let lowered = lower(program, id).unwrap_or_else(|e| panic!("{name}: {e}"));
    let plain = lower_plainly(program, id).unwrap_or_else(|e| panic!("{name}: {e}"));
    let text = print::print_program(&lowered.program);
    let again = read::read_program(0, &text).unwrap_or_else(|e| panic!("{e} {:?}\n{text}", e.span));
    assert_eq!(print::print_program(&again), text, "the text of {name} reads back");
    let mut forms = vec![plain.program, again];
    forms.extend(in_vectors(&lowered.program));
    forms.push(lowered.program);
    for form in &forms {
        let got = run_loop(program, form, &lowered.signature, &args, caps);
        match (&got, &expected) {
            (Ok(got), Ok(expected)) => {
                assert_eq!(got.len(), expected.len(), "{name}\n{text}");
                for (x, y) in got.iter().zip(expected) {
                    assert!(same(x, y), "{name}: {x:?} is not {y:?}\n{text}");
                }
            }
            (got, expected) => assert_eq!(
                got.as_ref().map_err(|e| e.clone()).map(|_| ()),
                expected.as_ref().map_err(|e| e.clone()).map(|_| ()),
                "{name}\n{text}"
            ),
        }
    }
    expected
}

/// Equality of bits, any NaN being like any other; empty arrays are equal whatever their elements would be.
pub fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Array(x), Value::Array(y)) => {
            x.len() == y.len()
                && match (x.view(), y.view()) {
                    (View::F64(p), View::F64(q)) => {
                        p.iter().zip(q).all(|(x, y)| math::same(*x, *y))
                    }
                    _ => (0..x.len()).all(|i| same(&x.get(i).unwrap(), &y.get(i).unwrap())),
                }
        }
        (Value::Tuple(x), Value::Tuple(y)) => {
            x.len() == y.len() && x.iter().zip(y.iter()).all(|(x, y)| same(x, y))
        }
        (Value::Data(c, x), Value::Data(d, y)) => {
            c == d && x.len() == y.len() && x.iter().zip(y.iter()).all(|(x, y)| same(x, y))
        }
        (x, y) => x == y,
    }
}

/// Compares the function, its gradient under both policies, also optimised, and its forward
/// derivative.
pub fn agree_on_derivatives(source: &str, name: &str, args: &[Value]) {
    let program = load(source);
    let primal = agree(&program, name, args);
    let id = func(&program, name);
    let mask = Mask::full(&program, id);
    for policy in [Policy::StoreAll, Policy::Default] {
        let mut d = Derivatives::new(program.clone());
        let composed = compose::value_and_grad(&mut d, id, &mask, policy)
            .unwrap_or_else(|e| panic!("{name}: {e}"));
        let grad = d.program.funcs[composed].name.clone();
        let result = agree(&d.program, &grad, args);
        let optimised = jut_opt::optimise(&d.program, composed, true);
        let _ = agree(&optimised, &grad, args);
        match (&primal, &result) {
            (Ok(y), Ok(g)) => assert!(same(&y[0], &g[0]), "{name}: {y:?} is not {g:?}"),
            (Err(e), Err(f)) => assert_eq!(e, f, "{name}"),
            (y, g) => panic!("{name}: {y:?} but {g:?}"),
        }
    }
    let mut d = Derivatives::new(program.clone());
    let composed = compose::jvp(&mut d, id, &mask).unwrap_or_else(|e| panic!("{name}: {e}"));
    let jvp = d.program.funcs[composed].name.clone();
    let interpreter = Interpreter::new(&d.program);
    let mut all = if args.len() < program.funcs[id].params.len() {
        interpreter.with_sizes(id, args).unwrap()
    } else {
        args.to_vec()
    };
    let mut scale = 0.5;
    let tangents: Vec<Value> = mask
        .positions()
        .map(|k| {
            all[k].map_f64(&mut |x| {
                scale = -scale * 1.25;
                x * scale + 0.1
            })
        })
        .collect();
    all.extend(tangents);
    let _ = agree(&d.program, &jvp, &all);
}
