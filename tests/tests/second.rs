//! Second derivatives, by differentiating a directional derivative in reverse (J, L, J, U, T): they
//! are symmetric, agree with differences of the gradient, and are the same bits on every engine. The other nestings of the
//! two modes agree with them. `JUT_FILE=part` runs the files whose path has that part.

use jut_ad::{Derivatives, Mask, Policy, compose};
use jut_eval::{Interpreter, LinearScalar, Value, vector};
use jut_ir::{FuncId, Program};
use jut_tests::engines::{agree_everywhere, backends};
use jut_tests::foreign::with_functions_of;
use jut_tests::generate::generate;
use jut_tests::laws::load;
use jut_tests::products::Product;
use jut_tests::{in_parallel, programs};
use std::path::Path;

/// The products of the Hessian with some directions.
struct Hessian {
    product: Product,
    positions: Vec<usize>,
    policy: Policy,
}

impl Hessian {
    fn new(text: &str, func: &str, args: &[Value], policy: Policy) -> Result<Hessian, String> {
        let say = |d: jut_ir::Diagnostic| d.to_string();
        let program = load(text)?;
        let func = program.find_func(func).ok_or("no such function")?;
        let mask = Mask::full(&program, func);
        let mut d = Derivatives::new(program);
        let slope = compose::directional(&mut d, func, &mask).map_err(say)?;
        let positions: Vec<usize> = mask.positions().collect();
        let first = Mask::only(&d.program, slope, &positions);
        let func = compose::grad(&mut d, slope, &first, policy).map_err(say)?;
        jut_ir::check::check_program(&d.program).map_err(|e| format!("{e:?}"))?;
        let name = format!("Hessian under {policy:?}");
        let product = Product { name, program: d.program, func, args: args.to_vec() };
        Ok(Hessian { product, positions, policy })
    }

    fn direction(&self, seed: u64) -> Vec<Value> {
        let mut rng = fastrand::Rng::with_seed(seed);
        let args = self.positions.iter().map(|k| &self.product.args[*k]);
        args.map(|v| vector::random_like(v, &mut rng)).collect()
    }

    /// The products with some directions. One compilation serves them all. Backends run one policy, and another one the first of
    /// them where several are asked, because what they could do wrong is found in the programs of either.
    fn times(&self, directions: &[&[Value]], asked: Asked) -> Result<Vec<Vec<Value>>, String> {
        let Product { name, program, func, args } = &self.product;
        let with = |direction: &&[Value]| [args, *direction].concat();
        let lists: Vec<Vec<Value>> = directions.iter().map(with).collect();
        let count = match self.policy {
            Policy::Default => asked.backends,
            _ => usize::from(asked.backends > 1),
        };
        if count == 0 {
            let interpreter = Interpreter::new(program);
            let call = |args: &Vec<Value>| interpreter.call(*func, args, &[], &[]);
            let results = |args| call(args).map(|o| o.results).map_err(|e| e.to_string());
            return lists.iter().map(results).collect();
        }
        let backends: Vec<_> = backends().take(count).collect();
        let runs = agree_everywhere(program, *func, &lists, &backends);
        let runs = runs.map_err(|e| format!("{name}: {e}"))?;
        runs.into_iter().map(|run| run.map_err(|e| e.to_string())).collect()
    }
}

fn dot(a: &[Value], b: &[Value]) -> f64 {
    a.iter().zip(b).map(|(a, b)| vector::dot(a, b).unwrap_or(f64::NAN)).sum()
}

/// The product of the Hessian with a direction by the other nestings: forward over reverse, reverse over reverse, and, times
/// the direction once more, forward over forward.
struct Nestings {
    of_gradient: [(&'static str, Vec<Value>); 2],
    bend: f64,
}

impl Nestings {
    fn new(
        program: &Program,
        func: FuncId,
        args: &[Value],
        v: &[Value],
    ) -> Result<Nestings, String> {
        let say = |d: jut_ir::Diagnostic| d.to_string();
        let run = |program: &Program, func: FuncId| {
            let outcome = Interpreter::new(program).call(func, &[args, v].concat(), &[], &[]);
            outcome.map(|o| o.results).map_err(|e| e.to_string())
        };
        let mut d = Derivatives::new(program.clone());
        let mask = Mask::full(&d.program, func);
        let positions: Vec<usize> = mask.positions().collect();
        let second = compose::second_directional(&mut d, func, &mask).map_err(say)?;
        let bends = run(&d.program, second)?;
        let is_number = |v: &&Value| matches!(v, Value::F64(_) | Value::F32(_));
        let mut bend = f64::NAN;
        let number = bends.iter().find(is_number).ok_or("no second derivative of a number")?;
        number.for_each_f64(&mut |x| bend = x);
        let gradient = compose::grad(&mut d, func, &mask, Policy::Default).map_err(say)?;
        // A gradient in which its halves still stand apart has the record of a tape in it, and so would its derivatives.
        let mut d = Derivatives::new(jut_opt::optimise(&d.program, gradient, false));
        let mask = Mask::only(&d.program, gradient, &positions);
        let along = compose::directional(&mut d, gradient, &mask).map_err(say)?;
        let back = compose::vjp(&mut d, gradient, &mask, Policy::Default).map_err(say)?;
        jut_ir::check::check_program(&d.program).map_err(|e| format!("{e:?}"))?;
        let mut pulled = run(&d.program, back)?;
        let pulled = pulled.split_off(pulled.len() - v.len());
        let of_gradient = [("forward", run(&d.program, along)?), ("reverse", pulled)];
        Ok(Nestings { of_gradient, bend })
    }

    /// Whether they are `hv`.
    fn agree(&self, v: &[Value], hv: &[Value], slack: f64) -> Result<(), String> {
        let minus = |a: &[Value], b: &[Value]| {
            let pairs = a.iter().zip(b);
            let differences = pairs.map(|(a, b)| {
                let b = vector::scale(-1.0, b.clone())?;
                vector::add(a.clone(), &b, LinearScalar::F64)
            });
            differences.collect::<Option<Vec<_>>>().ok_or("shapes differ")
        };
        for (mode, found) in &self.of_gradient {
            let apart = minus(found, hv)?;
            let apart = dot(&apart, &apart).sqrt();
            if apart.is_nan() || apart > slack || found.len() != hv.len() {
                return Err(format!("{mode} over reverse is {apart} from reverse over forward"));
            }
        }
        let along = dot(v, hv);
        if (self.bend - along).abs() > slack * (1.0 + dot(v, v).sqrt()) {
            return Err(format!("forward over forward gives {}, not {along}", self.bend));
        }
        Ok(())
    }
}

/// What is asked of a program.
#[derive(Clone, Copy)]
struct Asked {
    /// There is no kink at or near its arguments. Otherwise differences count where one-sided ones
    /// agree.
    smooth: bool,
    /// How many backends are asked besides the interpreter.
    backends: usize,
}

/// All of them; those that take long to compile are not asked everywhere.
const ALL: usize = usize::MAX;

/// What a kink or a pole leaves open.
fn is_finite(values: &[Value]) -> bool {
    let mut finite = true;
    values.iter().for_each(|v| v.for_each_f64(&mut |x| finite &= x.is_finite()));
    finite
}

fn second_order(text: &str, func: &str, args: &[Value], asked: Asked) -> Result<(), String> {
    let program = load(text)?;
    let id = program.find_func(func).ok_or("no such function")?;
    let args = Interpreter::new(&program).with_sizes(id, args).map_err(|e| e.to_string())?;
    for policy in [Policy::StoreAll, Policy::Default] {
        let hessian = Hessian::new(text, func, &args, policy)?;
        let (v, w) = (hessian.direction(3), hessian.direction(4));
        let products = hessian.times(&[&v, &w], asked)?;
        let [hv, hw] = &products[..] else { return Err(format!("{} products", products.len())) };
        let finite = is_finite(hv) && is_finite(hw);
        if !asked.smooth && !finite {
            return Ok(());
        }
        let (left, right) = (dot(&w, hv), dot(&v, hw));
        let scale = 1.0 + left.abs() + dot(hv, hv).sqrt();
        let single = programs::has_single(&program);
        if (left - right).abs() > if single { 1e-5 } else { 1e-11 } * scale {
            return Err(format!("not symmetric: {left} and {right}"));
        }
        // The steps of a difference are lost in numbers of 32 bits, and a rule may state another derivative.
        let stated = |name: &str| name == jut_tests::generate::OTHER_DERIVATIVE;
        if single || program.rules().any(|(f, _)| stated(&program.funcs[f].name)) {
            continue;
        }

        let mut d = Derivatives::new(program.clone());
        let mask = Mask::full(&program, id);
        let grad = compose::grad(&mut d, id, &mask, policy).map_err(|e| e.to_string())?;
        let interpreter = Interpreter::new(&d.program);
        let step = 1e-6;
        let at = |h: f64| -> Result<f64, String> {
            let mut moved = args.clone();
            for (k, v) in mask.positions().zip(&v) {
                let shift = vector::scale(h, v.clone()).ok_or("not a vector")?;
                moved[k] = vector::add(moved[k].clone(), &shift, LinearScalar::F64)
                    .ok_or("shapes differ")?;
            }
            let outcome = interpreter.call(grad, &moved, &[], &[]);
            outcome.map(|o| dot(&w, &o.results)).map_err(|e| e.to_string())
        };
        let (up, here, down) = (at(step)?, at(0.0)?, at(-step)?);
        let slope = (up - down) / (2.0 * step);
        // One-sided differences differ by a kink, and a little by the third derivative.
        let bend = ((up - here) - (here - down)).abs() / step;
        let slack = match asked.smooth {
            true => 0.0,
            false if bend.is_nan() || bend > 1e-3 * scale => continue,
            false => bend + 1e-5 * (scale + here.abs()),
        };
        if (slope - left).abs() > 1e-6 * scale + slack {
            return Err(format!("{left}, by differences of the gradient {slope}"));
        }
    }
    Ok(())
}

#[test]
fn hessians_of_random_programs_are_symmetric_and_agree_with_differences_of_gradients() {
    let seeds: Vec<u64> = (0..200).collect();
    let outcome = in_parallel(&seeds, |seed| {
        let generated = generate(*seed);
        let text = &generated.text;
        let program = load(text)?;
        let func = program.find_func("main").ok_or("no main")?;
        let args = Interpreter::new(&program).with_sizes(func, &generated.arguments());
        let args = args.map_err(|e| e.to_string())?;
        // What fails has no derivative, and what is cut off by `stop` is the gradient of nothing.
        let fails = Interpreter::new(&program).call(func, &args, &[], &[]).is_err();
        if fails || text.contains("prim.stop") {
            return Ok(false);
        }
        let asked = Asked { smooth: false, backends: if seed % 20 == 0 { ALL } else { 0 } };
        second_order(text, "main", &generated.arguments(), asked)
            .map_err(|e| format!("program {seed}: {e}\n{text}"))
            .map(|()| true)
    });
    let tested = outcome.unwrap_or_else(|e| panic!("{e}")).into_iter().filter(|t| *t).count();
    assert!(tested > 100, "{tested}");
}

/// The smooth cases of some test programs: the file, its text, and what is called.
fn cases_of(chosen: impl Fn(&str) -> bool) -> Vec<(String, String, programs::Case)> {
    let mut cases = Vec::new();
    for file in programs::files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("programs")) {
        let name = file.display().to_string();
        if !chosen(&name) {
            continue;
        }
        let text = std::fs::read_to_string(&file).expect("readable");
        let smooth = programs::cases(&text).expect("cases").into_iter();
        let smooth = smooth.filter(|case| case.error.is_none() && case.smooth);
        cases.extend(smooth.map(|case| (name.clone(), text.clone(), case)));
    }
    cases
}

#[test]
fn hessians_are_symmetric_and_agree_with_differences_of_gradients() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let part = std::env::var("JUT_FILE").unwrap_or_default();
    let mut cases = cases_of(|file| file.contains(&part));
    for file in programs::files(&here.join("../crates/jut/examples")) {
        if !file.with_file_name("reference").is_dir() {
            continue; // the programs of the foreign-function examples
        }
        let read = |path: &Path| std::fs::read_to_string(path).expect("readable");
        let stem = file.file_stem().expect("a name").to_string_lossy().into_owned();
        let folder = file.parent().expect("a folder");
        if !folder.join(format!("reference/{stem}.json")).exists() {
            continue;
        }
        let json = |path: String| -> serde_json::Value {
            serde_json::from_str(&read(&folder.join(path))).expect("JSON")
        };
        let func = json(format!("reference/{stem}.json"))["function"].as_str().map(String::from);
        let args = json(format!("data/{stem}.json"));
        let args = args.as_object().expect("an object").clone().into_iter().collect();
        let case = programs::Case { func: func.expect("a name"), args, error: None, smooth: true };
        cases.push((stem, read(&file), case));
    }
    assert!(cases.len() > 35 || !part.is_empty(), "{} cases", cases.len());
    // Of the programs of papers one in three runs on all engines, and the rest on the first; of the others one in four is compiled by
    // the first backend, one in eight by two, and one in sixteen by all.
    let cases: Vec<_> = cases.into_iter().enumerate().collect();
    let outcome = in_parallel(&cases, |(k, (name, text, case))| {
        let program = load(text)?;
        let func = program.find_func(&case.func).ok_or("no such function")?;
        // The Hessian is that of one number.
        if program.funcs[func].results.iter().filter(|r| r.ty.is_float()).count() != 1 {
            return Ok(());
        }
        let args = programs::arguments(&program, &case.func, case)?;
        let is_of_a_paper = name.contains("programs/papers");
        let backends = match k {
            k if is_of_a_paper && k % 3 == 0 => ALL,
            _ if is_of_a_paper => 1,
            k if k % 16 == 0 => ALL,
            k if k % 8 == 0 => 2,
            k => usize::from(k % 4 == 0),
        };
        let asked = Asked { smooth: true, backends };
        let found = with_functions_of(text, || second_order(text, &case.func, &args, asked));
        found.map_err(|e| format!("{name}, {} {:?}: {e}", case.func, case.args))
    });
    outcome.unwrap_or_else(|e| panic!("{e}"));
}

/// Programs of every construct, and algorithms in which several meet: loops until something holds, an equation that is solved by
/// steps of its own size, recursion over trees, matrices and lists that change in place, tables, rules, closures, derivatives
/// inside. In them every nesting of the modes is asked for, and not reverse over forward alone.
const IN_EVERY_NESTING: &[&str] = &[
    "complex/transfer",
    "derivatives/penalty",
    "extern/second",
    "functions/closures",
    "functions/recursive",
    "functions/solvers",
    "narrow/arrays",
    "policy/segments",
    "policy/revolve",
    "recursion/matrix_exponential",
    "recursion/sort",
    "rules/bisection",
    "rules/cbrt_newton",
    "run/variable_arrays",
    "single/arrays",
    "std/gaussian_process",
    "std/ode",
    "std/optim",
    "trees/expression",
    "trees/lstm",
    "trees/sorted",
    "update/edit_distance",
    "update/elimination",
    "update/gauss",
    "update/insertion_sort",
    "users/adaptive_ode",
    "vmap/layer",
    "while/newton_root",
    "while/particles",
];

#[test]
fn all_nestings_of_the_modes_agree() {
    let part = std::env::var("JUT_FILE");
    let named =
        |file: &str| IN_EVERY_NESTING.iter().any(|name| file.ends_with(&format!("{name}.jut")));
    let chosen = |file: &str| part.as_ref().map_or_else(|_| named(file), |p| file.contains(p));
    let cases = cases_of(chosen);
    let has_cases = |name: &str| cases.iter().any(|case| case.0.ends_with(&format!("{name}.jut")));
    let without = IN_EVERY_NESTING.iter().filter(|name| part.is_err() && !has_cases(name));
    assert_eq!(without.collect::<Vec<_>>(), Vec::<&&str>::new(), "without a smooth case");
    let outcome = in_parallel(&cases, |(name, text, case)| {
        let program = load(text)?;
        let func = program.find_func(&case.func).ok_or("no such function")?;
        if program.funcs[func].results.iter().filter(|r| r.ty.is_float()).count() != 1 {
            return Ok(());
        }
        let nestings = || {
            let args = programs::arguments(&program, &case.func, case)?;
            let args =
                Interpreter::new(&program).with_sizes(func, &args).map_err(|e| e.to_string())?;
            let hessian = Hessian::new(text, &case.func, &args, Policy::Default)?;
            let v = hessian.direction(5);
            let products = hessian.times(&[&v], Asked { smooth: true, backends: 0 })?;
            let hv = products.first().ok_or("no product")?;
            let single = programs::has_single(&program);
            // Numbers of 32 bits are too large for their squares early.
            if single && !is_finite(hv) {
                return Ok(());
            }
            let slack = if single { 1e-4 } else { 1e-9 };
            let slack = slack * (1.0 + dot(hv, hv).sqrt());
            Nestings::new(&program, func, &args, &v)?.agree(&v, hv, slack)
        };
        with_functions_of(text, nestings).map_err(|e| format!("{name}, {}: {e}", case.func))
    });
    outcome.unwrap_or_else(|e| panic!("{e}"));
}
