//! Names for what goes into a compiled function and what comes out.

use crate::product::Product;
use jut_ir::{Function, Mode, NVar, Type};
use std::collections::HashSet;
use std::ops::Range;

/// Whether a result is one of the function's own, or a derivative.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Role {
    /// A result of the function.
    Value,
    /// A gradient or cotangent (named after its parameter), or a tangent (named after its result).
    Derivative,
}

/// A parameter or result as its user sees it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Port<'p> {
    /// Its name.
    pub name: &'p str,
    /// Its type in the words of the program, such as `[n, d]f64`.
    pub ty: &'p str,
    /// What it is. Arguments are values; tangents and cotangents among the arguments derivatives.
    pub role: Role,
}

/// A parameter of a composition.
#[derive(Clone, Debug)]
pub(crate) struct Input {
    /// Its name.
    pub name: String,
    /// An argument of the function, or a tangent or cotangent.
    pub role: Role,
    /// A size that the caller leaves out.
    pub hidden: bool,
}

/// A result of a composition.
#[derive(Clone, Debug)]
pub(crate) struct Output {
    /// Its name.
    pub name: String,
    /// What it is.
    pub role: Role,
}

/// A result with everything needed to hand it out.
#[derive(Clone, Debug)]
pub(crate) struct OutputPlan {
    pub name: String,
    pub role: Role,
    pub ty: Type,
    pub shown: String,
    /// Its leaves among those of all results.
    pub leaves: Range<usize>,
    /// The name by which the types of other results call it.
    pub var: Option<NVar>,
}

/// What goes into a product and what comes out, in the words of the user's function; `composed` is
/// what was made. The names follow the table of [`crate::product`].
pub(crate) fn ports(
    function: &crate::Function,
    product: Product,
    composed: &Function,
) -> (Vec<Input>, Vec<Output>) {
    let names = Names::of(function);
    let mut inputs = names.arguments(product);
    let mut seeds = match product {
        Product::Transposed => names.linear_results.clone(),
        _ if product.takes_cotangents() => names.differentiable().cloned().collect(),
        _ if product.takes_tangents() => names.differentiated().cloned().collect(),
        _ => Vec::new(),
    }
    .into_iter();
    let mark = if product.takes_tangents() { "'" } else { "''" };
    for param in composed.params.iter().skip(inputs.len()) {
        // An integer among the cotangents is a size that the function computes.
        let hidden = composed.nvars[*param].ty == Type::I64;
        let name = if hidden { None } else { seeds.next().map(|of| format!("{of}{mark}")) };
        let name = name.unwrap_or_else(|| composed.nvars[*param].name.to_string());
        inputs.push(Input { name, role: Role::Derivative, hidden });
    }

    let mut outputs = Vec::new();
    outputs.extend(names.values(product).map(|name| Output { name, role: Role::Value }));
    let derivative = |name: String| Output { name, role: Role::Derivative };
    match product {
        Product::Value => {}
        Product::Jvp | Product::Directional | Product::SecondDirectional => {
            outputs.extend(names.differentiable().cloned().map(derivative));
        }
        Product::Gradient | Product::ValueAndGradient | Product::Vjp | Product::HessianProduct => {
            outputs.extend(names.differentiated().cloned().map(derivative));
        }
        Product::Hessian => {
            let pairs = names.differentiated();
            let pairs = pairs.flat_map(|x| names.differentiated().map(move |z| block(x, z)));
            outputs.extend(pairs.map(derivative));
        }
        Product::Jacobian(_) | Product::ValueAndJacobian(_) => {
            let pairs = names.differentiable();
            let pairs = pairs.flat_map(|y| names.differentiated().map(move |x| block(y, x)));
            outputs.extend(pairs.map(derivative));
        }
        Product::Transposed => {
            outputs.extend(names.linear_params.iter().cloned().map(derivative));
        }
    }
    (inputs, outputs)
}

/// What goes in and comes out of a function that is linearized, of the linear map, and of its
/// transpose. The maps take what is saved first, which is not among these.
pub(crate) fn linear_ports(function: &crate::Function) -> [(Vec<Input>, Vec<Output>); 3] {
    let names = Names::of(function);
    let value = |name: String| Output { name, role: Role::Value };
    let derivative = |name: &String| Output { name: name.clone(), role: Role::Derivative };
    let seed = |of: &String, mark: &str| Input {
        name: format!("{of}{mark}"),
        role: Role::Derivative,
        hidden: false,
    };
    [
        (names.arguments(Product::Value), names.values(Product::Value).map(value).collect()),
        (
            names.differentiated().map(|x| seed(x, "'")).collect(),
            names.differentiable().map(derivative).collect(),
        ),
        (
            names.differentiable().map(|y| seed(y, "''")).collect(),
            names.differentiated().map(derivative).collect(),
        ),
    ]
}

/// The name of a block of partial derivatives.
fn block(of: &str, by: &str) -> String {
    format!("{of},{by}")
}

/// A name of the user's function, and what a product needs to know of what has it.
struct Named {
    name: String,
    /// Whether it is differentiated.
    float: bool,
    /// Whether it is a size in the type of a result that is differentiated.
    sizes_tangent: bool,
}

/// The names of the user's function.
///
/// A function with linear parameters takes and returns them after the others, as plain values, and
/// so what it reads through a capability.
struct Names {
    size_params: usize,
    /// How many parameters are not linear.
    given: usize,
    params: Vec<Named>,
    results: Vec<Named>,
    /// What has become linear in the transpose, without the mark.
    linear_params: Vec<String>,
    linear_results: Vec<String>,
}

impl Names {
    fn of(function: &crate::Function) -> Names {
        let program = function.model().program();
        let f = &program.funcs[function.id()];
        let wrt = function.active();
        let bare = |name: &str| name.trim_end_matches('\'').to_string();
        let cap = |mode: Mode| {
            let caps = f.cap_params.iter().map(|cap| &f.caps[*cap]);
            caps.filter(move |cap| cap.mode == mode).map(|cap| cap.name.to_string())
        };
        let plain = |name: String, float: bool| Named { name, float, sizes_tangent: false };

        let mut params = Vec::new();
        for (k, p) in f.params.iter().enumerate() {
            let data = &f.nvars[*p];
            let float = data.ty.has_float(program) && wrt.is_none_or(|wrt| wrt.contains(&k));
            params.push(plain(data.name.to_string(), float));
        }
        let linear = f.lin_params.iter().map(|v| f.lvars[*v].name.to_string());
        params.extend(linear.chain(cap(Mode::Rd)).map(|name| plain(name, true)));

        let mut sizes = HashSet::new();
        for result in f.results.iter().filter(|r| r.ty.has_float(program)) {
            sizes.extend(result.ty.size_names());
        }
        f.lin_results.iter().for_each(|r| sizes.extend(r.ty.size_names()));
        let count = f.results.len() + f.lin_results.len();
        let name = |k: usize, given: Option<String>, count: usize| match given {
            Some(name) => name,
            None if count == 1 => "value".to_string(),
            None => k.to_string(),
        };
        let mut results = Vec::new();
        for (k, result) in f.results.iter().enumerate() {
            results.push(Named {
                name: name(k, result.name.map(|v| f.nvars[v].name.to_string()), count),
                float: result.ty.has_float(program),
                sizes_tangent: result.name.is_some_and(|v| sizes.contains(&v)),
            });
        }
        for (k, result) in (f.results.len()..).zip(&f.lin_results) {
            results
                .push(plain(name(k, result.name.as_ref().map(ToString::to_string), count), true));
        }
        let linear_count = f.lin_results.len() + cap(Mode::Wr).count();
        let linear_results = f.lin_results.iter().enumerate();
        let linear_results =
            linear_results.map(|(k, r)| name(k, r.name.as_deref().map(bare), linear_count));
        Names {
            size_params: f.size_params,
            given: f.params.len(),
            params,
            results,
            linear_params: {
                let values = f.lin_params.iter().map(|v| bare(&f.lvars[*v].name));
                values.chain(cap(Mode::Rd)).collect()
            },
            linear_results: linear_results.chain(cap(Mode::Wr)).collect(),
        }
    }

    /// The parameters that a product begins with.
    fn arguments(&self, product: Product) -> Vec<Input> {
        let count = if product == Product::Transposed { self.given } else { self.params.len() };
        let params = self.params.iter().take(count).enumerate();
        let input = |(k, p): (usize, &Named)| Input {
            name: p.name.clone(),
            role: Role::Value,
            hidden: k < self.size_params,
        };
        params.map(input).collect()
    }

    /// The results of the function that a product gives.
    fn values(&self, product: Product) -> impl Iterator<Item = String> {
        let all = matches!(
            product,
            Product::Value
                | Product::ValueAndGradient
                | Product::Jvp
                | Product::Vjp
                | Product::ValueAndJacobian(_)
        );
        let sizes = matches!(
            product,
            Product::Directional | Product::SecondDirectional | Product::Jacobian(_)
        );
        let kept = self.results.iter().filter(move |r| all || sizes && r.sizes_tangent);
        kept.map(|r| r.name.clone())
    }

    /// The parameters that are differentiated.
    fn differentiated(&self) -> impl Iterator<Item = &String> {
        self.params.iter().filter(|p| p.float).map(|p| &p.name)
    }

    /// The results that are differentiated.
    fn differentiable(&self) -> impl Iterator<Item = &String> {
        self.results.iter().filter(|r| r.float).map(|r| &r.name)
    }
}
