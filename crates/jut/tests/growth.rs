//! Programs grow linearly with the text: no stage doubles along a chain of calls, and long programs
//! go through every stage and into machine code.

use jut::{Engine, Model, Stage};

/// `f0(x)`, then functions that call the one before twice.
fn chain(k: usize) -> Model {
    let mut text = "def f0(x: f64) -> f64 = sin(x) * x\n".to_string();
    for i in 1..=k {
        text += &format!(
            "def f{i}(x: f64) -> f64 = {{\n  a = f{p}(sin(x))\n  b = f{p}(cos(a) - x)\n  \
             exp(-(a * b)^2) + tanh(b)\n}}\n",
            p = i - 1
        );
    }
    Model::from_text(&text).unwrap()
}

#[test]
fn a_chain_that_calls_the_function_before_twice_is_linear_at_every_stage() {
    let models = [10, 20, 40].map(|k| (k, chain(k)));
    for stage in Stage::all() {
        let [a, b, c] = models.each_ref().map(|(k, model)| {
            let function = model.function(&format!("f{k}")).unwrap();
            function.stage(stage).unwrap().len()
        });
        // The last function may be larger than the others, when calls are put in its place.
        let (first, second) = (b as f64 - a as f64, c as f64 - b as f64);
        let name = stage.name();
        assert!(second < 2.6 * first && c < 5 * a, "{name}: {a}, {b}, {c} bytes");
    }
}

#[test]
fn a_chain_of_forty_is_compiled() {
    let model = chain(40);
    let f = model.function("f40").unwrap();
    f.value_and_gradient().unwrap();
    f.jvp().unwrap();
}

#[test]
fn a_short_chain_has_the_same_bits_in_both_engines() {
    for k in [1, 3, 9] {
        let model = chain(k);
        let f = model.function(&format!("f{k}")).unwrap();
        let x = 0.3;
        let [native, interpreted] = [Engine::Cranelift, Engine::Interpreter].map(|engine| {
            let gradient = f.clone().engine(engine).value_and_gradient().unwrap();
            let mut session = gradient.session();
            let results = session.call(&[x.into()]).unwrap();
            [results.f64("value").unwrap(), results.f64("x").unwrap()].map(f64::to_bits)
        });
        assert_eq!(native, interpreted, "f{k}");
    }
}

#[test]
fn a_chain_is_linearized_with_a_tape_that_does_not_double_in_code() {
    // 2^40 parts, were it written out; the run itself takes 2^k calls.
    let model = chain(40);
    model.function("f40").unwrap().linearize().unwrap();
    for k in [3, 9] {
        let model = chain(k);
        let f = model.function(&format!("f{k}")).unwrap();
        let x = 0.3;
        let gradient = f.value_and_gradient().unwrap();
        let gradient = gradient.call(&[x.into()]).unwrap()[1].floats()[0];
        let [native, interpreted] = [Engine::Cranelift, Engine::Interpreter].map(|engine| {
            let linearized = f.clone().engine(engine).linearize().unwrap();
            let tape = linearized.at(&[x.into()]).unwrap();
            let mut session = linearized.session();
            let forward = session.apply(&tape, &[2.0.into()]).unwrap().f64("value").unwrap();
            let back = session.apply_transposed(&tape, &[2.0.into()]).unwrap().f64("x").unwrap();
            [forward, back].map(f64::to_bits)
        });
        assert_eq!(native, interpreted, "f{k}");
        for derivative in native.map(f64::from_bits) {
            assert!((derivative - 2.0 * gradient).abs() <= 1e-9 * gradient.abs(), "f{k}");
        }
    }
}

/// A long function of everything: its gradient is cut into pieces before machine code is made.
fn long(lines: usize) -> Model {
    let mut text = "def f[n](x: [n]f64, k: i64) -> f64 = {\n  a0 = x[0]\n  m0 = k\n  t = sin(a0)\n"
        .to_string();
    for i in 1..=lines {
        let p = i - 1;
        text += &match i % 8 {
            0 => format!("  a{i} = sin(a{p}) + x[m{p}]\n  m{i} = (m{p} * 5 + 3) % n\n"),
            3 => format!("  a{i} = if a{p} > 0.5 {{ a{p} * t }} else {{ a{p} - x[{}] }}\n", i % 2),
            5 => format!("  a{i} = sum (j < n) {{ x[j] * a{p} }} * 0.25\n"),
            6 => format!("  a{i} = for (j < k) carry (b = a{p}) {{ 0.5 * b + x[m{p}] }}\n"),
            _ => format!("  a{i} = a{p} * 0.75 + t\n"),
        };
        if i % 8 != 0 {
            text += &format!("  m{i} = m{p}\n");
        }
    }
    text += &format!("  a{lines}\n}}\n");
    Model::from_text(&text).unwrap()
}

#[test]
fn a_long_function_has_the_same_bits_in_both_engines() {
    let model = long(2_000);
    let f = model.function("f").unwrap();
    assert!(f.stage(Stage::Loop).unwrap().contains(".part3("), "it is long enough to be cut");
    let x = [0.25, -0.5, 0.75];
    let [native, interpreted] = [Engine::Cranelift, Engine::Interpreter].map(|engine| {
        let gradient = f.clone().engine(engine).value_and_gradient().unwrap();
        let mut session = gradient.session();
        let mut bits = Vec::new();
        for k in [0, 2] {
            let results = session.call(&[(&x).into(), k.into()]).unwrap();
            bits.push(results.f64("value").unwrap().to_bits());
            bits.extend(results.f64s("x").unwrap().iter().map(|g| g.to_bits()));
        }
        bits
    });
    assert_eq!(native, interpreted);
}

#[test]
fn an_error_of_a_long_function_has_its_place() {
    let model = long(2_000);
    let gradient = model.function("f").unwrap().gradient().unwrap();
    let nothing: [f64; 0] = [];
    let error = gradient.call(&[(&nothing).into(), 1.into()]).err().map(|e| e.to_string());
    assert!(error.as_deref().is_some_and(|e| e.contains("R01")), "{error:?}");
}
