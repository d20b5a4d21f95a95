//! A `for` over a chain that leaves elements out: `for v in x.iter().filter(..)`. The body stands where a chain's last closure does.
//!
//! ```text
//! for v in x.iter().take_while(|v| **v > 0.0) { s += v; }      var go = true
//!                                                              for (i < size(x)) while go {
//!                                                                if x[i] > 0.0 { s += x[i] } else { go = false }
//!                                                              }
//! ```
//!
//! Requires: a body behind `flat_map` or `flatten`, which is a loop in a loop, is left by no jump.

use crate::chains::{NESTED, is_nested, split};
use crate::expression::Value;
use crate::function::{Lowering, indented};
use crate::{Refusal, refuse};
use syn::{Expr, ExprForLoop};

/// Whether a loop goes over a chain that leaves elements out, or has loops of its own.
pub(crate) fn is_staged(source: &Expr) -> bool {
    split(source).0.iter().any(|call| call.method != "map")
}

impl Lowering<'_> {
    /// Such a loop.
    pub fn staged_loop(&mut self, l: &ExprForLoop) -> Result<(), Refusal> {
        let (_, head, item, stages) = self.chained(&l.expr)?;
        if let Some(inner) = stages.iter().find(|s| is_nested(s))
            && !self.jumps_out_of(l.label.as_ref(), &l.body).is_empty()
        {
            return refuse(&inner.call.method, NESTED);
        }
        let frame = self.frame(l.label.as_ref(), &l.body);
        let stops = self.stops(&frame, &l.body);
        let skipping = self.learned.skipping.contains(&frame.number);
        let next = frame.next.clone();
        self.frames.push(frame);
        let done = self.nested(|this| {
            this.scopes.push(Default::default());
            if skipping {
                this.lines.push(format!("var {next} = true"));
            }
            let done = this.staged(item, &stages, &mut |this, item| {
                this.scopes.push(Default::default());
                let done = this.body(&l.body, Some((&l.pat, item, Vec::new())));
                this.scopes.pop();
                done
            });
            this.scopes.pop();
            done
        });
        self.frames.pop();
        let (mut block, ()) = done?;
        if !block.effect {
            block.lines.push("check 0 >= 0".to_string());
        }
        let text = head.text(&stops.join(" && "));
        self.lines.push(format!("{text} {{\n{}\n}}", indented(&block.lines)));
        Ok(())
    }

    /// A branch whose lines may do nothing that is seen.
    pub fn guard(&mut self, test: &Value, mut block: crate::body::Lines, other: &str) {
        if !block.effect && other.is_empty() {
            block.lines.push("check 0 >= 0".to_string());
        }
        let other = if other.is_empty() { String::new() } else { format!(" else {{ {other} }}") };
        self.lines.push(format!("if {} {{\n{}\n}}{other}", test.text, indented(&block.lines)));
    }
}
