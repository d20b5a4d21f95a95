//! Whole programs, from their text: compiled code against the evaluator of the loop form, which is
//! strict about every access. Results, written buffers and errors agree bit for bit, for the
//! programs and for their gradients.

use crate::support::Numbers;
use cranelift_entity::EntityRef;
use jut_ad::{Derivatives, Mask, Policy, compose};
use jut_cranelift::{Arg, BACKEND, CallError, Compiled};
use jut_ir::{FuncId, Literal, Program, RuntimeError};
use jut_loop::eval::{self, Fault};
use jut_loop::form::{Cell, Kind, Role};
use jut_loop::signature::{AbiComponent, Cells, Flat};
use jut_loop::{Lowered, lower};
use jut_runtime::{Workspace, math};
use std::path::{Path, PathBuf};

fn sources() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = Vec::new();
    for folder in ["../jut/examples", "../../tests/programs/design"] {
        for entry in std::fs::read_dir(root.join(folder)).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|e| e == "jut") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// Parameters of the loop function in the order of their numbers.
fn params(lowered: &Lowered) -> Option<Vec<&AbiComponent>> {
    let all = lowered.signature.params.iter().chain(&lowered.signature.results);
    let mut params: Vec<&AbiComponent> =
        all.flat_map(|p| &p.components).filter(|c| c.role.is_some()).collect();
    params.sort_by_key(|c| c.number);
    // Buffers of buffers have no arguments here.
    let plain = params.iter().all(|c| c.kind != Kind::Buffer(Cell::Buffer));
    plain.then_some(params)
}

/// Arguments: sizes and other integers below `top`, buffers as long as the signature says.
fn arguments(params: &[&AbiComponent], numbers: &mut Numbers, top: u64) -> Option<Vec<Flat>> {
    let mut args: Vec<Flat> = params
        .iter()
        .map(|c| match c.kind {
            Kind::F64 => Flat::Scalar(Literal::F64(numbers.float() * 2.0)),
            Kind::F32 => Flat::Scalar(Literal::F32(numbers.float() as f32 * 2.0)),
            Kind::I64 => Flat::Scalar(Literal::I64(numbers.below(top) as i64)),
            Kind::I32 => Flat::Scalar(Literal::I32(numbers.below(top) as i32)),
            Kind::BOOL => Flat::Scalar(Literal::Bool(numbers.below(2) == 1)),
            Kind::Buffer(cell) => Flat::Buffer(Cells::empty(cell)),
        })
        .collect();
    let integer = |args: &[Flat], k: usize| match args.get(k) {
        Some(Flat::Scalar(Literal::I64(x))) => *x,
        _ => 0,
    };
    for (k, c) in params.iter().enumerate() {
        let n = c.cell_count(&mut |number| integer(&args, number))?;
        args[k] = Flat::Buffer(match c.kind {
            Kind::Buffer(Cell::F64) if c.role == Some(Role::Out) => Cells::F64(vec![0.0; n]),
            Kind::Buffer(Cell::F64) => Cells::F64(numbers.floats(n)),
            Kind::Buffer(Cell::F32) if c.role == Some(Role::Out) => Cells::F32(vec![0.0; n]),
            Kind::Buffer(Cell::I32) if c.role == Some(Role::Out) => Cells::I32(vec![0; n]),
            Kind::Buffer(Cell::F32) => {
                Cells::F32(numbers.floats(n).into_iter().map(|x| x as f32).collect())
            }
            Kind::Buffer(Cell::I64) => {
                Cells::I64((0..n).map(|_| numbers.below(top) as i64).collect())
            }
            Kind::Buffer(Cell::I32) => {
                Cells::I32((0..n).map(|_| numbers.below(top) as i32).collect())
            }
            Kind::Buffer(Cell::BOOL) => {
                Cells::Bool((0..n).map(|_| numbers.below(2) as u8).collect())
            }
            _ => continue,
        });
    }
    Some(args)
}

/// What a run leaves: bits of every buffer parameter and of every result.
type Left = Result<Vec<Vec<u64>>, RuntimeError>;

fn words(flat: &Flat) -> Vec<u64> {
    match flat {
        Flat::Scalar(Literal::F64(x)) => vec![math::bits(*x)],
        Flat::Scalar(Literal::F32(x)) => vec![math::bits(f64::from(*x))],
        Flat::Scalar(Literal::I64(x)) => vec![*x as u64],
        Flat::Scalar(Literal::I32(x)) => vec![*x as u64],
        Flat::Scalar(Literal::Bool(x)) => vec![u64::from(*x)],
        Flat::Buffer(Cells::F64(x)) => x.iter().map(|x| math::bits(*x)).collect(),
        Flat::Buffer(Cells::F32(x)) => x.iter().map(|x| math::bits(f64::from(*x))).collect(),
        Flat::Buffer(Cells::I64(x)) => x.iter().map(|x| *x as u64).collect(),
        Flat::Buffer(Cells::I32(x)) => x.iter().map(|x| *x as u64).collect(),
        Flat::Buffer(Cells::Bool(x)) => x.iter().map(|x| u64::from(*x)).collect(),
        Flat::Buffer(Cells::Buffers(_)) => Vec::new(),
    }
}

/// The number of cells of each result, given the bits of all scalars.
fn result_cells(lowered: &Lowered, args: &[Flat], results: &[u64]) -> Vec<usize> {
    let all = lowered.signature.results.iter().flat_map(|p| &p.components);
    let mut returned: Vec<&AbiComponent> = all.filter(|c| c.role.is_none()).collect();
    returned.sort_by_key(|c| c.number);
    let mut value = |k: usize| match args.get(k) {
        Some(Flat::Scalar(Literal::I64(x))) => *x,
        Some(_) => 0,
        None => results[k - args.len()] as i64,
    };
    returned.iter().map(|c| c.cell_count(&mut value).unwrap()).collect()
}

fn evaluated(lowered: &Lowered, args: &[Flat]) -> Left {
    let (func, _) = lowered.program.funcs.last().unwrap();
    match eval::run(&lowered.program, func, args) {
        Ok(outcome) => {
            let scalar = |flat: &Flat| match flat {
                Flat::Scalar(_) => words(flat)[0],
                Flat::Buffer(_) => 0,
            };
            let scalars: Vec<u64> = outcome.results.iter().map(scalar).collect();
            let cells = result_cells(lowered, args, &scalars);
            let mut left: Vec<Vec<u64>> = outcome.params.iter().map(words).collect();
            for (flat, n) in outcome.results.iter().zip(cells) {
                let mut words = words(flat);
                if let Flat::Buffer(_) = flat {
                    words.truncate(n);
                }
                left.push(words);
            }
            Ok(left)
        }
        Err(Fault::Runtime(error)) => Err(error),
        Err(Fault::Broken(reason)) => panic!("{}: {reason}", lowered.signature.name),
    }
}

fn native(
    lowered: &Lowered,
    compiled: &Compiled,
    workspace: &mut Workspace,
    args: &[Flat],
) -> Left {
    let mut args = args.to_vec();
    let before = args.clone();
    let mut given: Vec<Arg<'_>> = args
        .iter_mut()
        .map(|flat| match flat {
            Flat::Scalar(Literal::F64(x)) => Arg::F64(*x),
            Flat::Scalar(Literal::F32(x)) => Arg::F32(*x),
            Flat::Scalar(Literal::I32(x)) => Arg::I32(*x),
            Flat::Scalar(Literal::I64(x)) => Arg::I64(*x),
            Flat::Scalar(Literal::Bool(x)) => Arg::Bool(*x),
            Flat::Buffer(Cells::F64(x)) => Arg::F64sMut(x),
            Flat::Buffer(Cells::F32(x)) => Arg::F32sMut(x),
            Flat::Buffer(Cells::I32(x)) => Arg::I32sMut(x),
            Flat::Buffer(Cells::I64(x)) => Arg::I64sMut(x),
            Flat::Buffer(Cells::Bool(x)) => {
                // SAFETY: the cells are 0 or 1.
                Arg::BoolsMut(unsafe { &mut *(&raw mut x[..] as *mut [bool]) })
            }
            Flat::Buffer(Cells::Buffers(_)) => unreachable!("not among the arguments"),
        })
        .collect();
    let mut results = vec![0; compiled.results().len()];
    // SAFETY: the buffers are as long as the signature says.
    match unsafe { compiled.call(workspace, &mut given, &mut results) } {
        Ok(()) => {}
        Err(CallError::Run(error)) => return Err(error),
        Err(CallError::Arguments(reason)) => panic!("{reason}"),
    }
    let mut left: Vec<Vec<u64>> = args.iter().map(words).collect();
    let cells = result_cells(lowered, &before, &results);
    for ((word, kind), n) in results.iter().zip(compiled.results()).zip(cells) {
        let place = *word as *const u8;
        // SAFETY: a returned buffer has as many cells as the signature says.
        left.push(unsafe {
            match *kind {
                Kind::F64 => vec![math::bits(f64::from_bits(*word))],
                Kind::F32 => vec![math::bits(f64::from(f32::from_bits(*word as u32)))],
                Kind::I64 | Kind::BOOL => vec![*word],
                Kind::I32 => vec![*word as i32 as u64],
                Kind::Buffer(Cell::F64) => {
                    (0..n).map(|k| math::bits(place.cast::<f64>().add(k).read())).collect()
                }
                Kind::Buffer(Cell::F32) => {
                    let at = |k| place.cast::<f32>().add(k).read();
                    (0..n).map(|k| math::bits(f64::from(at(k)))).collect()
                }
                Kind::Buffer(Cell::I64) => {
                    (0..n).map(|k| place.cast::<u64>().add(k).read()).collect()
                }
                Kind::Buffer(Cell::I32) => {
                    (0..n).map(|k| place.cast::<i32>().add(k).read() as u64).collect()
                }
                Kind::Buffer(Cell::BOOL) => {
                    (0..n).map(|k| u64::from(place.add(k).read())).collect()
                }
                Kind::Buffer(Cell::Buffer | Cell::Word) => Vec::new(),
            }
        });
    }
    Ok(left)
}

/// Compares both engines on arguments below each of the limits; gives the number of comparisons.
fn compare(program: &Program, func: FuncId, limits: &[u64], what: &str) -> usize {
    let Ok(lowered) = lower(program, func) else { return 0 };
    let compiled = BACKEND.compile(&lowered.program).unwrap_or_else(|e| panic!("{what}: {e}"));
    let Some(params) = params(&lowered) else { return 0 };
    let mut workspace = Workspace::new();
    let mut numbers = Numbers(11);
    let mut count = 0;
    for top in limits {
        let Some(args) = arguments(&params, &mut numbers, *top) else { continue };
        let expected = evaluated(&lowered, &args);
        let got = native(&lowered, &compiled, &mut workspace, &args);
        assert_eq!(got, expected, "{what} {args:?}");
        count += 1;
    }
    count
}

/// Compares all definitions of a text and their gradients, optimised and not; gives the numbers of
/// comparisons of programs and of gradients.
fn compare_all(text: &str, limits: &[u64], name: &str) -> (usize, usize) {
    let (mut programs, mut gradients) = (0, 0);
    let Some(program) = jut_text::load(text, 0).program else { return (0, 0) };
    for k in 0..program.funcs.len() {
        let func = FuncId::new(k);
        // A derivative that the text asks for may take a tape, which only its other half can make.
        if program.funcs[func].derived {
            continue;
        }
        programs += compare(&program, func, limits, name);
        let optimised = jut_opt::optimise(&program, func, true);
        if let Some(func) = optimised.find_func(&program.funcs[func].name) {
            programs += compare(&optimised, func, limits, &format!("{name}, optimised"));
        }
        let mut derivatives = Derivatives::new(program.clone());
        let mask = Mask::full(&program, func);
        for policy in [Policy::StoreAll, Policy::Default] {
            let Ok(grad) = compose::value_and_grad(&mut derivatives, func, &mask, policy) else {
                continue;
            };
            gradients += compare(&derivatives.program, grad, limits, &format!("{name}, gradient"));
            let optimised = jut_opt::optimise(&derivatives.program, grad, true);
            let name_of = &derivatives.program.funcs[grad].name;
            if let Some(grad) = optimised.find_func(name_of) {
                gradients += compare(&optimised, grad, limits, &format!("{name}, fast gradient"));
            }
        }
    }
    (programs, gradients)
}

/// Limits of sizes and integers for programs whose loops are known.
const LARGE: [u64; 16] = [1, 2, 3, 5, 9, 17, 40, 40, 17, 9, 9, 5, 5, 3, 3, 2];

/// The same for random programs, which may have many loops in one another.
const SMALL: [u64; 8] = [1, 2, 3, 4, 4, 4, 6, 10];

/// Number of random programs.
const SEEDS: u64 = 40;

#[test]
fn compiled_programs_and_their_gradients_agree_with_the_evaluator() {
    let (mut programs, mut gradients) = (0, 0);
    for path in sources() {
        let text = std::fs::read_to_string(&path).unwrap();
        let counts = compare_all(&text, &LARGE, &path.file_name().unwrap().to_string_lossy());
        programs += counts.0;
        gradients += counts.1;
    }
    assert!(programs > 1000 && gradients > 1000, "{programs} {gradients}");
}

#[test]
fn random_programs_and_their_gradients_agree_with_the_evaluator() {
    let seeds: Vec<_> = (0..SEEDS).collect();
    let counts = jut_tests::in_parallel(&seeds, |seed| {
        let generated = jut_tests::generate::generate(*seed);
        Ok(compare_all(&generated.text, &SMALL, &format!("seed {seed}: {}", generated.text)))
    });
    let (mut programs, mut gradients) = (0, 0);
    for counts in counts.unwrap_or_else(|e| panic!("{e}")) {
        programs += counts.0;
        gradients += counts.1;
    }
    assert!(programs > 1000 && gradients > 1000, "{programs} {gradients}");
}
