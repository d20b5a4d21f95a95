//! Second derivatives in all nestings, as programs of the language take them of a function: all are the same.

use jut::{Arg, Function, Model, Request, Result, Value};

/// The Hessian of a function of one list times a direction, by each way to take it, and the second derivative in that direction by two.
pub fn products(
    function: &Function,
    x: &[f64],
    direction: &[f64],
) -> Result<(Vec<Vec<f64>>, [f64; 2])> {
    let (name, text) = (function.name(), &function.sources().main().text);
    let (parameter, ty) = &function.parameters()[0];
    let definition = format!("def {name}");
    let mut headers = text.split(&definition).filter(|rest| rest.starts_with(['[', '(']));
    let sizes = headers.next().and_then(|rest| rest.split('(').next()).unwrap_or_default();
    let takes = format!("{sizes}({parameter}: {ty}, direction: {ty})");
    let given = format!("({parameter}, direction)");
    let program = format!(
        "{text}

def forward_of_reverse{takes} -> ({ty}, {ty}) = jvp(grad({name})){given}

def reverse_of_reverse{takes} -> ({ty}, {ty}) = vjp(grad({name})){given}

def reverse_of_forward{takes} -> {ty} = grad(directional({name}), {parameter}){given}

def forward_of_forward{takes} -> f64 = directional(directional({name}), {parameter})({parameter}, direction, direction)
"
    );
    let model = Model::from_text(&program)?;
    let args = [Arg::from(x), Arg::from(direction)];
    let last = |name: &str| -> Result<Vec<f64>> {
        let results = model.function(name)?.value()?.call(&args)?;
        Ok(results.last().map(Value::floats).unwrap_or_default())
    };
    let mut all = vec![];
    for name in ["forward_of_reverse", "reverse_of_reverse", "reverse_of_forward"] {
        all.push(last(name)?);
    }
    let own = function.compile(Request::HessianProduct)?.call(&args)?;
    all.push(own[0].floats());
    let second = function.compile(Request::SecondDirectional)?.call(&args)?[0].floats();
    let twice = last("forward_of_forward")?;
    Ok((all, [twice[0], second[0]]))
}

/// Holds all of them against each other, and against a Hessian that is known.
#[track_caller]
pub fn agree(function: &Function, x: &[f64], hessian: Option<&[f64]>) {
    let n = x.len();
    let direction: Vec<f64> =
        (0..n).map(|k| 0.5 - 0.75 * k as f64 + 0.125 * (k * k) as f64).collect();
    let (all, second) = products(function, x, &direction)
        .unwrap_or_else(|error| panic!("{}: {error}", function.name()));
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let known = hessian.map(|rows| rows.chunks(n).map(|row| dot(row, &direction)).collect());
    let size = |x: &[f64]| x.iter().fold(1.0_f64, |s, x| s.max(x.abs()));
    for product in all.iter().chain(&known) {
        let scale = 1e-9 * size(product) * size(&direction);
        let near = product.iter().zip(&all[0]).all(|(a, b)| (a - b).abs() <= scale);
        assert!(near && product.len() == n, "{}: {product:?}, {:?}", function.name(), all[0]);
        let along = dot(product, &direction);
        for second in second {
            let near = (along - second).abs() <= scale * n as f64;
            assert!(near, "{}: {along}, {second}", function.name());
        }
    }
}
