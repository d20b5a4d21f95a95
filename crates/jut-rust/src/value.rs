//! The value of an expression: its text, and what is known of it.

use crate::template::bare;
use crate::types::Ty;

/// The value of an expression.
#[derive(Clone, Debug)]
pub(crate) struct Value {
    pub text: String,
    pub ty: Ty,
    /// How tightly the text binds: 0 `if`, 1 `||`, 2 `&&`, 3 comparisons, 4 `+ -`, 5 `* /`, 6 unary, 9 the rest.
    pub level: u8,
    /// Whether no assignment changes it: it may be computed later.
    pub stable: bool,
    /// Whether it cannot fail and costs next to nothing: it may be computed for nothing.
    pub cheap: bool,
    /// An integer is at least this.
    pub least: i64,
}

impl Value {
    /// What a name means that nothing assigns.
    pub fn name(text: String, ty: Ty, least: i64) -> Value {
        Value { text, ty, level: 9, stable: true, cheap: true, least }
    }

    pub fn new(text: String, ty: Ty, level: u8, of: &[&Value]) -> Value {
        Value {
            text,
            ty,
            level,
            stable: of.iter().all(|v| v.stable),
            cheap: of.iter().all(|v| v.cheap),
            least: i64::MIN,
        }
    }

    /// The same, not for nothing.
    pub fn costly(mut self) -> Value {
        self.cheap = false;
        self
    }

    /// The text where something that binds as tightly as this stands round it.
    pub fn within(&self, level: u8) -> String {
        if self.level < level { format!("({})", self.text) } else { self.text.clone() }
    }
}

/// What has no value.
pub(crate) fn unit() -> Value {
    Value::name(String::new(), Ty::Unit, i64::MIN)
}

/// The value of a text that is an integer literal.
pub(crate) fn literal(value: &Value) -> Option<i64> {
    bare(&value.text).parse().ok()
}
