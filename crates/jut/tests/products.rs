//! Every product of every program: the same bits from both engines, slopes by central differences,
//! the laws that tie products together, and no allocation in the steady state.

use crate::support::{args_of, assert_near, direction, dot, floats, ints, matrix, moved, vector};
use jut::{Arg, Compiled, Engine, Function, JacobianMode, Model, Request, Role, Value};

const ENGINES: [Engine; 2] = [Engine::Cranelift, Engine::Interpreter];
const MODES: [JacobianMode; 3] = [JacobianMode::Auto, JacobianMode::Forward, JacobianMode::Reverse];

/// Programs whose last function has one f64 result, with arguments.
fn scalar_programs() -> Vec<(&'static str, Vec<Value>)> {
    let (x, n) = (Value::F64(0.7), |k| Value::I64(k));
    vec![
        ("def f(u: f64) -> f64 = -sin(u)", vec![x.clone()]),
        ("def f(x: f64, y: f64) -> f64 = exp(x * y) + x / y", vec![x.clone(), Value::F64(-1.3)]),
        (
            "def f[n](x: [n]f64) -> f64 = sum (i < n - 1) {
               a = x[i + 1] - x[i]^2
               b = 1.0 - x[i]
               100.0 * a^2 + b^2
             }",
            vec![vector(&[0.3, -0.5, 0.7, 0.2])],
        ),
        (
            "def br[n](x: [n]f64) -> f64 = sum (i < n) {
               y = if x[i] > 0.0 { for (k < i) carry (a = 1.0) { a * x[k] } } else { x[i] * x[i] }
               sin(y)
             }",
            vec![vector(&[0.3, -0.5, 0.7, 0.2, -0.1])],
        ),
        (
            "def inner[d](r: [d]f64, s: f64) -> f64 = sum (j < d) { sin(r[j] * s) }
             def outer[n, d](x: [n, d]f64, s: f64) -> f64 = sum (i < n) { inner(x[i], s) * s }",
            vec![matrix(3, 2), Value::F64(0.8)],
        ),
        (
            "def f[n](x: [n]f64, k: i64) -> f64 = {
               y = for (t < k) carry (y = x) { build (i < n) { sin(y[i]) + 0.5 * y[n - 1 - i] } }
               sum (v <- y) { v * v }
             }",
            vec![vector(&[0.4, -0.9, 1.1]), n(3)],
        ),
        (
            "def half[n](x: [n]f64) -> (m: i64, y: [m]f64) = {
               m = n / 2
               y = build (i < m) { exp(x[i]) }
               (m, y)
             }
             def f[n](x: [n]f64) -> f64 = {
               (m, y) = half(x)
               sum (v <- y) { v * v }
             }",
            vec![vector(&[0.3, -0.5, 0.7, 0.2, -0.1])],
        ),
        (
            "def f[n, m](x: [n]f64, ix: [m]i64) -> f64 = sum (i < m) { x[ix[i]]^3 * x[0] }",
            vec![vector(&[0.5, 1.5]), ints(&[0, 1, 0, 0])],
        ),
        (
            "def f[n](x: [n]f64, m: i64) -> f64 = {
               s = for (i < m) carry (s = 1.0) {
                 row = build (j < i) { x[j] * s }
                 s + sum (v <- row) { cos(v) }
               }
               s * x[0]
             }",
            vec![vector(&[0.5, 1.5, -0.4]), n(3)],
        ),
    ]
}

/// Programs with several results, or arrays of them.
fn other_programs() -> Vec<(&'static str, Vec<Value>)> {
    vec![
        (
            "def f[n](x: [n]f64, s: f64) -> (y: f64, z: [n]f64) = {
               y = s * sum (v <- x) { v * v }
               z = build (i < n) { sin(x[i]) * s }
               (y, z)
             }",
            vec![vector(&[0.2, -0.3]), Value::F64(1.7)],
        ),
        (
            "def f[n](x: [n]f64) -> (m: i64, y: [m]f64) = {
               m = n / 2
               y = build (i < m) { x[2 * i] * x[2 * i + 1] }
               (m, y)
             }",
            vec![vector(&[1.0, 2.0, 3.0, 4.0, 5.0])],
        ),
        (
            "def f[n](x: [n]f64, k: i64) -> [n, n]f64 =
               build (i < n) { build (j < n) { if i < k { x[i] * exp(x[j]) } else { x[j] } } }",
            vec![vector(&[0.3, -0.6, 0.9]), Value::I64(2)],
        ),
        ("def f(a: f64) -> (y: f64, c: f64) = (exp(a), 2.0)", vec![Value::F64(0.4)]),
    ]
}

fn function(program: &str) -> Function {
    let model = Model::from_text(program).unwrap_or_else(|e| panic!("{e}"));
    let name = model.functions().last().expect("a function").to_string();
    model.function(&name).expect("it exists")
}

/// The results of a product, the same bits from both engines.
fn run(f: &Function, request: Request, args: &[Value]) -> Vec<Value> {
    let [native, interpreted] = ENGINES.map(|engine| {
        let compiled = f.clone().engine(engine).compile(request);
        let compiled = compiled.unwrap_or_else(|e| panic!("{request:?}: {e}"));
        compiled.call(&args_of(args)).unwrap_or_else(|e| panic!("{request:?}: {e}"))
    });
    for (a, b) in native.iter().zip(&interpreted) {
        assert!(a.same_bits(b), "{request:?}: {a:?} {b:?}");
    }
    native
}

/// The derivatives among the results of a product.
fn derivatives(f: &Function, request: Request, args: &[Value]) -> Vec<Value> {
    let compiled = f.compile(request).unwrap_or_else(|e| panic!("{e}"));
    let roles: Vec<Role> = compiled.outputs().map(|o| o.role).collect();
    let results = run(f, request, args).into_iter().zip(roles);
    results.filter(|(_, role)| *role == Role::Derivative).map(|(v, _)| v).collect()
}

/// The slope of a product along a direction, by central differences.
fn slope(f: &Function, request: Request, args: &[Value], along: &[Value]) -> Vec<f64> {
    let h = 1e-5;
    let compiled = f.compile(request).expect("it compiles");
    let at = |h: f64| {
        let results = compiled.call(&args_of(&moved(args, along, h))).expect("it runs");
        floats(&results)
    };
    at(h).iter().zip(at(-h)).map(|(a, b)| (a - b) / (2.0 * h)).collect()
}

fn with(args: &[Value], more: &[Value]) -> Vec<Value> {
    [args, more].concat()
}

#[test]
fn second_order_products_agree_with_differences_and_with_each_other() {
    for (program, args) in scalar_programs() {
        let f = function(program);
        let (v, w) = (direction(&args, 1), direction(&args, 2));
        let gradient = derivatives(&f, Request::Gradient, &args);
        let product = floats(&derivatives(&f, Request::HessianProduct, &with(&args, &v)));
        assert_near(&product, &slope(&f, Request::Gradient, &args, &v), 1e-6, program);
        // The Hessian is symmetric, and the product with it is the product with it.
        let other = floats(&derivatives(&f, Request::HessianProduct, &with(&args, &w)));
        assert_near(&[dot(&product, &floats(&w))], &[dot(&other, &floats(&v))], 1e-11, program);
        let blocks = derivatives(&f, Request::Hessian, &args);
        let dense = crate::support::dense(&blocks, &gradient, &gradient);
        for (i, row) in dense.iter().enumerate() {
            let column: Vec<f64> = dense.iter().map(|row| row[i]).collect();
            assert_near(row, &column, 1e-11, program);
        }
        let times: Vec<f64> = dense.iter().map(|row| dot(row, &floats(&v))).collect();
        assert_near(&times, &product, 1e-11, program);
        // Along a line.
        let second = derivatives(&f, Request::SecondDirectional, &with(&args, &v));
        assert_near(&floats(&second), &[dot(&product, &floats(&v))], 1e-11, program);
    }
}

#[test]
fn first_order_products_agree_with_differences_and_with_each_other() {
    for (program, args) in scalar_programs().into_iter().chain(other_programs()) {
        let f = function(program);
        let v = direction(&args, 1);
        let results = run(&f, Request::Value, &args);
        let tangents = derivatives(&f, Request::Jvp, &with(&args, &v));
        assert_near(&floats(&tangents), &slope(&f, Request::Value, &args, &v), 1e-6, program);
        let alone = derivatives(&f, Request::Directional, &with(&args, &v));
        assert_eq!(floats(&alone), floats(&tangents), "{program}");
        let along = derivatives(&f, Request::SecondDirectional, &with(&args, &v));
        let jvp = f.compile(Request::Directional).expect("it compiles");
        let at =
            |h: f64| floats(&jvp.call(&args_of(&with(&moved(&args, &v, h), &v))).expect("runs"));
        let differences: Vec<f64> =
            at(1e-5).iter().zip(at(-1e-5)).map(|(a, b)| (a - b) / 2e-5).collect();
        assert_near(&floats(&along), &differences, 1e-6, program);

        let mut all = Vec::new();
        for mode in MODES {
            let blocks = derivatives(&f, Request::Jacobian(mode), &args);
            let both = run(&f, Request::ValueAndJacobian(mode), &args);
            assert!(both.iter().zip(&results).all(|(a, b)| a.same_bits(b)), "{program}");
            assert!(both[results.len()..].iter().zip(&blocks).all(|(a, b)| a.same_bits(b)));
            let dense = crate::support::dense(&blocks, &tangents, &v);
            let times: Vec<f64> = dense.iter().map(|row| dot(row, &floats(&v))).collect();
            assert_near(&times, &floats(&tangents), 1e-11, program);
            all.push(dense.concat());
        }
        assert_near(&all[1], &all[2], 1e-12, program);
        assert!(all[0] == all[1] || all[0] == all[2], "neither forward nor reverse: {program}");
    }
}

#[test]
fn a_derivative_that_is_kept_is_the_jvp_and_the_vjp_for_many_directions() {
    for (program, args) in scalar_programs().into_iter().chain(other_programs()) {
        let f = function(program);
        let [native, interpreted] = ENGINES
            .map(|engine| f.clone().engine(engine).linearize().unwrap_or_else(|e| panic!("{e}")));
        let fail = |e: jut::Error| -> ! { panic!("{program}: {e}") };
        let tapes =
            [&native, &interpreted].map(|l| l.at(&args_of(&args)).unwrap_or_else(|e| fail(e)));
        let results = run(&f, Request::Value, &args);
        for tape in &tapes {
            let kept = tape.results().unwrap_or_else(|e| fail(e)).values();
            assert!(kept.iter().zip(&results).all(|(a, b)| a.same_bits(b)), "{program}");
        }
        let mut sessions = [native.session(), interpreted.session()];
        for seed in 0..20 {
            let v = direction(&args, seed);
            let apply = |k: usize, sessions: &mut [jut::LinearSession; 2]| {
                sessions[k].apply(&tapes[k], &args_of(&v)).unwrap_or_else(|e| fail(e)).values()
            };
            let (forward, same) = (apply(0, &mut sessions), apply(1, &mut sessions));
            assert!(forward.iter().zip(&same).all(|(a, b)| a.same_bits(b)), "{program}");
            let jvp = derivatives(&f, Request::Jvp, &with(&args, &v));
            assert_near(&floats(&forward), &floats(&jvp), 1e-12, program);

            let c: Vec<Value> = forward.iter().map(|t| crate::support::like(t, seed + 7)).collect();
            let back = |k: usize, sessions: &mut [jut::LinearSession; 2]| {
                let made = sessions[k].apply_transposed(&tapes[k], &args_of(&c));
                made.unwrap_or_else(|e| fail(e)).values()
            };
            let (reverse, same) = (back(0, &mut sessions), back(1, &mut sessions));
            assert!(reverse.iter().zip(&same).all(|(a, b)| a.same_bits(b)), "{program}");
            let vjp = derivatives(&f, Request::Vjp, &with(&args, &c));
            assert_near(&floats(&reverse), &floats(&vjp), 1e-12, program);
            let (left, right) =
                (dot(&floats(&forward), &floats(&c)), dot(&floats(&reverse), &floats(&v)));
            assert_near(&[left], &[right], 1e-11, program);
        }
    }
}

#[test]
fn transposes_of_linear_functions_agree_with_the_function() {
    let program = "def g(w: f64, v: f64; x': f64, s': f64) -> (; y': f64, z': f64) = {
       y' = w * x' + v * s'
       z' = -(w * s')
       (; y', z')
     }";
    let f = function(program);
    let inputs = [Value::F64(0.6), Value::F64(-1.4)];
    let (x, c) = ([Value::F64(2.0), Value::F64(3.0)], [Value::F64(0.5), Value::F64(-0.25)]);
    let y = run(&f, Request::Value, &with(&inputs, &x));
    let back = derivatives(&f, Request::Transposed, &with(&inputs, &c));
    assert_near(&[dot(&floats(&y), &floats(&c))], &[dot(&floats(&back), &floats(&x))], 1e-14, "");
}

/// How often the work asks the system's allocator for memory.
fn allocations(work: impl FnOnce()) -> u64 {
    allocation_counter::measure(work).count_total
}

#[test]
fn steady_calls_of_every_request_allocate_nothing() {
    // A transpose is of other functions, and a batch has other arguments.
    let others = [Request::Transposed, Request::Batched];
    let requests = || Request::all().filter(|request| !others.contains(request));
    for (program, args) in scalar_programs() {
        let f = function(program);
        let v = direction(&args, 1);
        let args = args_of(&args);
        let one = [Value::F64(1.0)];
        for request in requests() {
            let mut all = args.clone();
            if request.takes_tangents() {
                all.extend(args_of(&v));
            } else if request.takes_cotangents() {
                all.extend(args_of(&one));
            }
            let compiled: Compiled = f.compile(request).expect("it compiles");
            let mut session = compiled.session();
            for _ in 0..3 {
                session.call(&all).expect("it runs");
            }
            let count = allocations(|| {
                for _ in 0..3 {
                    assert!(session.call(&all).is_ok());
                }
            });
            assert_eq!(count, 0, "{request:?} of {program}");
        }
        let linearized = f.linearize().expect("it is linearized");
        let (mut tape, mut session) = (linearized.tape(), linearized.session());
        let tangents = args_of(&v);
        let cotangents = args_of(&one);
        let mut round = || {
            tape.record(&args).expect("it runs");
            for _ in 0..4 {
                session.apply(&tape, &tangents).expect("it applies");
                session.apply_transposed(&tape, &cotangents).expect("it applies");
            }
        };
        (0..3).for_each(|_| round());
        assert_eq!(allocations(round), 0, "linearize of {program}");
    }
}

#[test]
fn ports_are_named_after_what_they_belong_to() {
    let f = function(
        "def f[n](x: [n]f64, k: i64, s: f64) -> (m: i64, y: [m]f64, z: f64) = {
           m = n / 2
           y = build (i < m) { x[i] * s }
           (m, y, f64(k) * s)
         }",
    );
    let names = |request: Request| {
        let compiled = f.compile(request).unwrap_or_else(|e| panic!("{e}"));
        let inputs: Vec<&str> = compiled.inputs().map(|i| i.name).collect();
        let outputs: Vec<String> = compiled
            .outputs()
            .map(|o| format!("{}{}", if o.role == Role::Value { "" } else { "d " }, o.name))
            .collect();
        format!("{} -> {}", inputs.join(" "), outputs.join(" "))
    };
    assert_eq!(names(Request::Jvp), "x k s x' s' -> m y z d y d z");
    assert_eq!(names(Request::Directional), "x k s x' s' -> m d y d z");
    assert_eq!(names(Request::SecondDirectional), "x k s x' s' -> m d y d z");
    assert_eq!(names(Request::Vjp), "x k s y'' z'' -> m y z d x d s");
    let blocks = "d y,x d y,s d z,x d z,s";
    assert_eq!(names(Request::Jacobian(JacobianMode::Auto)), format!("x k s -> m {blocks}"));
    let auto = Request::ValueAndJacobian(JacobianMode::Auto);
    assert_eq!(names(auto), format!("x k s -> m y z {blocks}"));
    assert_eq!(names(Request::Gradient), "x k s -> d x d s");
    assert_eq!(names(Request::HessianProduct), "x k s x' s' -> d x d s");
    assert_eq!(names(Request::Hessian), "x k s -> d x,x d x,s d s,x d s,s");
    let linearized = f.linearize().unwrap_or_else(|e| panic!("{e}"));
    let names = |ports: Vec<jut::Port<'_>>| {
        let ports = ports.iter().map(|p| format!("{}: {}", p.name, p.ty));
        ports.collect::<Vec<_>>().join(", ")
    };
    assert_eq!(names(linearized.inputs().collect()), "x: [n]f64, k: i64, s: f64");
    assert_eq!(names(linearized.outputs().collect()), "m: i64, y: [m]f64, z: f64");
    assert_eq!(names(linearized.tangents().collect()), "x': [n]f64, s': f64");
    assert_eq!(names(linearized.cotangents().collect()), "y'': [m]f64, z'': f64");
}

#[test]
fn what_has_no_such_product_is_refused_with_its_code() {
    let cases = [
        ("def f[n](x: [n]f64) -> [n]f64 = x", Request::Gradient, "J802"),
        ("def f[n](x: [n]f64) -> [n]f64 = x", Request::HessianProduct, "J802"),
        ("def f[n](x: [n]f64) -> [n]f64 = x", Request::Hessian, "J802"),
        ("def f(x: f64) -> (a: f64, b: f64) = (x, x)", Request::ValueAndGradient, "J802"),
        ("def f(k: i64) -> f64 = f64(k)", Request::Gradient, "J804"),
        ("def f(k: i64) -> f64 = f64(k)", Request::Hessian, "J804"),
        ("def f(k: i64) -> f64 = f64(k)", Request::Jacobian(JacobianMode::Auto), "J804"),
        ("def f(k: i64) -> f64 = f64(k)", Request::SecondDirectional, "J804"),
        ("def f(x: f64) -> f64 = x", Request::Transposed, "J801"),
    ];
    for (program, request, code) in cases {
        let Err(jut::Error::Program(messages)) = function(program).compile(request) else {
            panic!("{request:?} of {program} is accepted")
        };
        let message = &messages.list()[0];
        assert_eq!(message.code, code, "{messages}");
        assert!(message.has_own_help(), "{messages}");
    }
    let Err(jut::Error::Program(messages)) = function("def f(k: i64) -> f64 = 1.0").linearize()
    else {
        panic!("linearized with respect to nothing")
    };
    assert_eq!(messages.list()[0].code, "J804");
}

#[test]
fn wrong_seeds_name_their_port() {
    let f = function("def f[n](x: [n]f64, s: f64) -> [n]f64 = build (i < n) { s * x[i] }");
    let x = [1.0, 2.0];
    let base: [Arg<'_>; 2] = [(&x).into(), 3.0.into()];
    let message = |request: Request, more: &[Arg<'_>]| {
        let compiled = f.compile(request).expect("it compiles");
        compiled.call(&[&base, more].concat()).expect_err("it does not fit").to_string()
    };
    let short: Arg<'_> = (&[1.0]).into();
    let good: Arg<'_> = (&x).into();
    for (text, part) in [
        (message(Request::Jvp, &[short, 1.0.into()]), "argument `x'`: expected [n]f64"),
        (message(Request::Jvp, &[short, 1.0.into()]), "2 elements are needed, not 1"),
        (
            message(Request::Jvp, &[good]),
            "argument `s'`: 3 arguments given, but the function takes 4",
        ),
        (message(Request::Jvp, &[good, good]), "argument `s'`: expected f64, got a slice"),
        (message(Request::Vjp, &[short]), "argument `value''`"),
        (message(Request::SecondDirectional, &[good, 1.into()]), "argument `s'`: expected f64"),
    ] {
        assert!(text.contains(part), "{text}");
    }
    let linearized = f.linearize().expect("it is linearized");
    let tape = linearized.at(&base).expect("it runs");
    let mut session = linearized.session();
    let text =
        session.apply(&tape, &[short, 1.0.into()]).map(|_| ()).expect_err("short").to_string();
    assert!(text.starts_with("argument `x'`: expected [n]f64"), "{text}");
    let text =
        session.apply_transposed(&tape, &[short]).map(|_| ()).expect_err("short").to_string();
    assert!(text.contains("2 elements are needed, not 1"), "{text}");
}
