//! Every scalar primitive, at operands inside the domain of its row.
//!
//! A float operand is squeezed into the domain by `low + width * sigmoid(e)`, an integer one is of
//! moderate size. Each program has a few rows of the table in turn, so that a thousand programs have
//! every row a hundred times; further ones come at random.

use super::writer::{Scope, Writer};
use jut_ir::Scalar;
use jut_ir::prim::{Row, Syntax, TABLE};
use std::fmt::Write;

/// How many rows each program has at least.
const ROWS: usize = 10;

impl Writer {
    /// A few statements with the rows whose turn it is, and the sum of what they bind.
    pub fn some_primitives(&mut self, seed: u64, scope: &mut Scope) -> (String, String) {
        let (mut text, mut names) = (String::new(), Vec::new());
        for k in 0..ROWS {
            let row = &TABLE[(seed as usize % TABLE.len() * ROWS + k) % TABLE.len()];
            let name = self.name("g");
            let value = as_float(row, self.applied(row, scope));
            let _ = writeln!(text, "  {name} = {value}");
            scope.floats.push(name.clone());
            names.push(name);
        }
        (text, names.join(" + "))
    }

    /// Some primitive as a float.
    pub fn scalar_primitive(&mut self, scope: &Scope) -> String {
        // What stops a derivative comes where it is asked for only: no difference can agree with it.
        let row = match &TABLE[self.rng.usize(0..TABLE.len())] {
            row if row.id == "stop_f64" => &TABLE[0],
            row => row,
        };
        as_float(row, self.applied(row, scope))
    }

    /// A primitive with a truth value.
    pub fn truth(&mut self, scope: &Scope) -> String {
        let rows: Vec<&Row> = TABLE.iter().filter(|row| row.result == Scalar::Bool).collect();
        let row = self.one(&rows);
        self.applied(row, scope)
    }

    /// A row applied to operands in its domain, in parentheses where it needs them.
    fn applied(&mut self, row: &Row, scope: &Scope) -> String {
        let divides = ["div_i64", "rem_i64"].contains(&row.id);
        let mut operands: Vec<String> =
            (0..row.params.len()).map(|k| self.operand(row, k, scope)).collect();
        if divides {
            operands[1] = format!("(1 + abs({}) % 5)", operands[1]);
        }
        match (row.syntax, &operands[..]) {
            (Syntax::Infix, [x, y]) => format!("({x} {} {y})", row.text),
            (Syntax::Prefix, [x]) => format!("({}{x})", row.text),
            _ => format!("prim.{}({})", row.text, operands.join(", ")),
        }
    }

    fn operand(&mut self, row: &Row, k: usize, scope: &Scope) -> String {
        let domain = row.domain[k];
        match row.params[k] {
            Scalar::F64 => {
                let (low, width) = (domain.low, domain.high - domain.low);
                format!("({low:?} + {width:?} * sigmoid({}))", self.atom(scope))
            }
            Scalar::F32 => format!("f32({})", self.atom(scope)),
            Scalar::I64 => self.integer(scope, domain.low as i64, domain.high as i64),
            Scalar::I32 => {
                let integer = self.integer(scope, domain.low as i64, domain.high as i64);
                format!("i32({integer})")
            }
            Scalar::Bool => {
                if self.rng.u8(0..3) == 0 {
                    return "true".into();
                }
                format!("({} < {})", self.atom(scope), self.atom(scope))
            }
        }
    }

    /// An integer between the bounds.
    fn integer(&mut self, scope: &Scope, low: i64, high: i64) -> String {
        let k = scope.bounds.iter().filter(|bound| *bound == "k");
        let names: Vec<String> = scope.indices.iter().map(|(i, _)| i).chain(k).cloned().collect();
        match self.pick(&names).cloned() {
            Some(name) if self.rng.u8(0..3) > 0 => format!("min(max({name} - 1, {low}), {high})"),
            _ => match self.rng.i64(low..=high) {
                n @ ..0 => format!("(0 - {})", -n),
                n => n.to_string(),
            },
        }
    }
}

/// A value of moderate size made of what a row gives.
fn as_float(row: &Row, value: String) -> String {
    match row.result {
        Scalar::F64 if row.params.is_empty() => format!("select({value} > 1.0, 0.5, -0.25)"),
        Scalar::F64 => format!("tanh({value})"),
        Scalar::F32 => format!("tanh(f64({value}))"),
        Scalar::I64 | Scalar::I32 => format!("sin(f64({value}))"),
        Scalar::Bool => format!("select({value}, 0.5, -0.25)"),
    }
}
