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
    for stage in Stage::ALL {
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
