//! Functions of other languages: declarations without a body, linear in some of their parameters.
//!
//! ```text
//! extern def p(n: i64, v: [n]f64; x': [n]f64) -> (; [n]f64) transpose q derivative r
//! extern def q(n: i64, v: [n]f64; y': [n]f64) -> (; [n]f64) transpose p derivative s
//! ```
//!
//! Such a declaration is two functions of the program, which nothing but calls can be made of: `p`, which is linear, and its
//! *value* `p.erased`, the same function of the host on ordinary arrays. So all that a pass has to know of them is what it makes
//! of a call:
//!
//! | pass | a call of `p` | a call of `p.erased` |
//! |---|---|---|
//! | J | | itself, `p` of the tangents of `x`, and the derivative that is named of those of `v` |
//! | U | a linear statement: what it takes before the `;` is needed by it | |
//! | T | a call of `q` | |
//! | L | a call of `p.erased` | |
//!
//! Engines hand both to the function that the host gives for the number. What crosses is whole: all integers, those of arrays too, as one
//! list, all floats as another, in the order of the parameters; and all floats of the results, zeros before the call.

use crate::entity::FuncId;
use crate::scalar::Width;
use crate::types::Type;

/// What a function of another language is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Foreign {
    /// Which function of the host: the declarations of a program are counted.
    pub number: u32,
    /// Which of the two.
    pub form: Form,
}

/// The two functions of a declaration.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Form {
    /// The declaration itself.
    Linear {
        /// Its transpose, another declaration or itself.
        transpose: FuncId,
        /// The same on ordinary values.
        value: FuncId,
        /// What gives its derivative by the floats that it is not linear in: a definition without linear parts that is linear in its last
        /// parameters, the tangents of these.
        derivative: Option<FuncId>,
    },
    /// The same on ordinary values.
    Value {
        /// The declaration.
        of: FuncId,
    },
}

/// What is declared of a function of another language.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Declared {
    /// The linear function.
    pub linear: FuncId,
    /// Its transpose.
    pub transpose: FuncId,
    /// The same on ordinary values.
    pub value: FuncId,
    /// Its derivative by the floats that it is not linear in.
    pub derivative: Option<FuncId>,
}

/// The numbers in a value that crosses to another language.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Numbers {
    /// Floats of 64 bits.
    Floats,
    /// Integers of 64 bits.
    Integers,
}

impl Numbers {
    /// What a type that may cross is made of: an f64, an i64, or an array of these.
    pub fn of(ty: &Type) -> Option<Numbers> {
        match ty {
            Type::Float(Width::Double) => Some(Numbers::Floats),
            Type::I64 => Some(Numbers::Integers),
            Type::Array(_, element) => Numbers::of(element),
            _ => None,
        }
    }
}
