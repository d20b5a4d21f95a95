//! What can be asked for of a function: the one table of requests.
//!
//! The library, the command line, C headers and the tests read their names, words and lists from here.
//! A new request is a row, and the function that composes it.

use super::{JacobianMode, Make, batched, jacobian, linearize, second};

/// What is made of a function.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Request {
    /// The function itself.
    Value,
    /// The gradient of the one f64 result.
    Gradient,
    /// The results, and the gradient.
    ValueAndGradient,
    /// Results and tangents: the Jacobian times a vector.
    Jvp,
    /// Results and cotangents: a vector times the Jacobian.
    Vjp,
    /// The tangents alone: the derivative in a direction.
    Directional,
    /// The second derivatives along a line, v'Hv for each result, by forward over forward.
    SecondDirectional,
    /// The Hessian times a vector, by reverse over forward.
    HessianProduct,
    /// All second derivatives, by reverse over forward.
    Hessian,
    /// All partial derivatives, by columns or by rows.
    Jacobian(JacobianMode),
    /// The results, and all partial derivatives.
    ValueAndJacobian(JacobianMode),
    /// The transpose of a function with linear parameters.
    Transposed,
    /// The function of every element of a batch.
    Batched,
}

/// What a request takes beside the arguments of the function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Seeds {
    /// Nothing.
    None,
    /// A tangent for each parameter that is differentiated.
    Tangents,
    /// A cotangent for each result with a float, or each linear one.
    Cotangents,
}

/// A pass that a composition has called.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// J.
    Forward,
    /// U.
    Unzip,
    /// T.
    Transpose,
}

/// What the table says of a request.
#[derive(Debug)]
pub struct Row {
    /// Which one.
    pub request: Request,
    /// What names end in, in C and on the command line: `loss_value_grad`.
    pub suffix: &'static str,
    /// The command that calls it, if it has one of its own.
    pub command: Option<&'static str>,
    /// What is given, in a sentence without its full stop.
    pub says: &'static str,
    /// What the name of the definition ends in, `loss.dir`, if the request makes one of its own: the value
    /// is the function, and a product with the Hessian is the gradient of the derivative in a direction.
    pub composition: &'static str,
    /// In words, before the name of a function: "The gradient of".
    pub about: &'static str,
    /// What its derivatives are, in a word or two.
    pub derivative: &'static str,
    /// Before and behind the name of a derivative in C, and what it is there.
    pub field: (&'static str, &'static str, &'static str),
    /// What it takes.
    pub seeds: Seeds,
    /// Whether each stage is read once, by the next, so that it may be forgotten then.
    pub once: bool,
    pub(super) make: Make,
}

use Seeds::{Cotangents, Tangents};

const GRADIENT: (&str, &str, &str) = ("grad_", "", "gradient");
const TANGENT: (&str, &str, &str) = ("", "_tangent", "tangent of a result");
const BLOCK: (&str, &str, &str) = ("jacobian_", "", "block of the Jacobian");

/// The row of a Jacobian.
const fn partials(
    mode: JacobianMode,
    suffix: &'static str,
    composition: &'static str,
    values: bool,
) -> Row {
    Row {
        request: match values {
            true => Request::ValueAndJacobian(mode),
            false => Request::Jacobian(mode),
        },
        suffix,
        // The command chooses among the modes.
        command: match (values, mode) {
            (true, JacobianMode::Auto) => Some("jacobian"),
            _ => None,
        },
        says: match values {
            true => {
                "The results of a function, and all partial derivatives: a block `y,x` for each result and parameter"
            }
            false => "All partial derivatives: a block `y,x` for each result and parameter",
        },
        composition,
        about: match values {
            true => "The value and all partial derivatives of",
            false => "All partial derivatives of",
        },
        derivative: "jacobian",
        field: BLOCK,
        seeds: Seeds::None,
        once: false,
        make: jacobian::make,
    }
}

/// The table.
#[rustfmt::skip]
pub const TABLE: &[Row] = &[
    Row { request: Request::Value, suffix: "value", command: Some("run"), says: "Call a function",
          composition: "value", about: "The value of",
          derivative: "gradient", field: GRADIENT, seeds: Seeds::None, once: false, make: super::value },
    Row { request: Request::Gradient, suffix: "grad", command: None, says: "The gradient of the one f64 result",
          composition: "grad", about: "The gradient of",
          derivative: "gradient", field: GRADIENT, seeds: Seeds::None, once: true, make: super::reverse },
    Row { request: Request::ValueAndGradient, suffix: "value_grad", command: Some("grad"), says: "The results of a function, and its gradient",
          composition: "value_grad", about: "The value and the gradient of",
          derivative: "gradient", field: GRADIENT, seeds: Seeds::None, once: true, make: super::reverse },
    Row { request: Request::Jvp, suffix: "jvp", command: Some("jvp"), says: "Jacobian times vector: the results of a function, and their tangents",
          composition: "jvp_value", about: "Jacobian times vector: the results of, and their tangents,",
          derivative: "tangent", field: TANGENT, seeds: Tangents, once: true, make: super::forwards },
    Row { request: Request::Vjp, suffix: "vjp", command: Some("vjp"), says: "Vector times Jacobian: the results of a function, and the cotangents of its parameters",
          composition: "vjp", about: "Vector times Jacobian: the results and cotangents of",
          derivative: "cotangent", field: ("", "_cotangent", "cotangent of an argument"), seeds: Cotangents, once: true, make: super::reverse },
    Row { request: Request::Directional, suffix: "directional", command: None, says: "The derivative in a direction: the tangents alone",
          composition: "dir", about: "The derivative in a direction of",
          derivative: "tangent", field: TANGENT, seeds: Tangents, once: true, make: super::forwards },
    Row { request: Request::SecondDirectional, suffix: "second", command: Some("second"), says: "The second derivatives along a line: one for each result",
          composition: "dir2", about: "The second derivative along a line of",
          derivative: "second", field: ("", "_second", "second derivative"), seeds: Tangents, once: false, make: second::along_a_line },
    Row { request: Request::HessianProduct, suffix: "hvp", command: Some("hvp"), says: "Hessian times vector, one product for each parameter",
          composition: "hvp", about: "Hessian times vector: the Hessian of",
          derivative: "product", field: ("hvp_", "", "product with the Hessian"), seeds: Tangents, once: false, make: second::product_with },
    Row { request: Request::Hessian, suffix: "hessian", command: Some("hessian"), says: "All second derivatives: a block `x,z` for each pair of parameters",
          composition: "hessian", about: "All second derivatives of",
          derivative: "hessian", field: ("hessian_", "", "block of the Hessian"), seeds: Seeds::None, once: false, make: second::all },
    partials(JacobianMode::Auto, "jacobian", "jacobian", false),
    partials(JacobianMode::Forward, "jacobian_forward", "jacobian_forward", false),
    partials(JacobianMode::Reverse, "jacobian_reverse", "jacobian_reverse", false),
    partials(JacobianMode::Auto, "value_jacobian", "value_jacobian", true),
    partials(JacobianMode::Forward, "value_jacobian_forward", "value_jacobian_forward", true),
    partials(JacobianMode::Reverse, "value_jacobian_reverse", "value_jacobian_reverse", true),
    Row { request: Request::Transposed, suffix: "transposed", command: Some("transpose"), says: "The transpose of a function with linear parameters, applied to cotangents",
          composition: "transposed", about: "The transpose of the linear function",
          derivative: "cotangent", field: ("", "_cotangent", "cotangent of a linear argument"), seeds: Cotangents, once: false, make: linearize::transposition },
    Row { request: Request::Batched, suffix: "vmap", command: Some("vmap"), says: "A function of every element of a batch: arguments and results have one more dimension, the first",
          composition: "vmap", about: "For every element of a batch:",
          derivative: "result", field: ("", "", "result"), seeds: Seeds::None, once: false, make: batched::make },
];

impl Request {
    /// Every request, in the order of the table.
    pub fn all() -> impl Iterator<Item = Request> {
        TABLE.iter().map(|row| row.request)
    }

    /// What the table says of it.
    pub fn row(self) -> &'static Row {
        &TABLE[self.position()]
    }

    /// Where its row is; a test asserts that it is there.
    fn position(self) -> usize {
        let mode = |mode| match mode {
            JacobianMode::Auto => 0,
            JacobianMode::Forward => 1,
            JacobianMode::Reverse => 2,
        };
        match self {
            Request::Value => 0,
            Request::Gradient => 1,
            Request::ValueAndGradient => 2,
            Request::Jvp => 3,
            Request::Vjp => 4,
            Request::Directional => 5,
            Request::SecondDirectional => 6,
            Request::HessianProduct => 7,
            Request::Hessian => 8,
            Request::Jacobian(by) => 9 + mode(by),
            Request::ValueAndJacobian(by) => 12 + mode(by),
            Request::Transposed => 15,
            Request::Batched => 16,
        }
    }

    /// The request whose names end so.
    ///
    /// ```
    /// # use jut_ad::compose::Request;
    /// assert_eq!(Request::named("hvp"), Some(Request::HessianProduct));
    /// ```
    pub fn named(suffix: &str) -> Option<Request> {
        TABLE.iter().find(|row| row.suffix == suffix).map(|row| row.request)
    }

    /// What the name of a compiled request ends in, `loss_value_grad` in C.
    ///
    /// ```
    /// # use jut_ad::compose::Request;
    /// assert_eq!(Request::HessianProduct.suffix(), "hvp");
    /// ```
    pub fn suffix(self) -> &'static str {
        self.row().suffix
    }

    /// What its derivatives are, in a word or two.
    ///
    /// ```
    /// # use jut_ad::compose::Request;
    /// assert_eq!(Request::Vjp.derivative(), "cotangent");
    /// ```
    pub fn derivative(self) -> &'static str {
        self.row().derivative
    }

    /// Whether it differentiates nothing, so that its mask says something else, or nothing.
    ///
    /// ```
    /// # use jut_ad::compose::Request;
    /// assert!(Request::Batched.is_no_derivative() && !Request::Gradient.is_no_derivative());
    /// ```
    pub fn is_no_derivative(self) -> bool {
        matches!(self, Request::Value | Request::Transposed | Request::Batched)
    }

    /// Whether it takes a tangent for each differentiated parameter.
    pub fn takes_tangents(self) -> bool {
        self.row().seeds == Seeds::Tangents
    }

    /// Whether it takes a cotangent for each float result, or each linear one.
    pub fn takes_cotangents(self) -> bool {
        self.row().seeds == Seeds::Cotangents
    }
}
