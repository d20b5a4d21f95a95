//! Jumps out of values, and lists that change their length.

use super::Kind::{Array, Float};
use super::Writer;

impl Writer<'_> {
    /// A jump out of a value.
    pub(super) fn early(&mut self) {
        if self.counting {
            return;
        }
        let (name, condition, on) = (self.name(), self.truth(1), self.integer(1));
        let (a, b, c, d) = (self.float(1), self.float(1), self.float(1), self.float(1));
        let d = self.given(&d);
        let jump = match self.loops {
            0 => format!("return {d}"),
            _ => self.one(&["break", "continue", &format!("return {d}")]),
        };
        let found = self.pick(Float, true);
        match (self.rng.u8(0..6), self.pick(Array, false), found) {
            (0, ..) => self.line(&format!("let {name} = if {condition} {{ {jump} }} else {{ {a} }};")),
            (1, ..) => self.line(&format!(
                "let {name}: f64 = match {on} % 4 {{ 0 => {a}, 1 => {{ {jump}; }} 2 if {condition} => {b}, _ => {c} }};"
            )),
            (2, Some(array), _) => {
                let at = self.size(1);
                self.line(&format!(
                    "let {name} = {a} * match {array}.get({at}) {{ Some(q) => *q, None => {jump} }} + {b};"
                ));
            }
            (3, _, Some(assigned)) => {
                let op = self.one(&["=", "+=", "-="]);
                self.line(&format!(
                    "{assigned} {op} {a} - if {condition} {{ {b} }} else {{ {jump} }};"
                ));
                return;
            }
            (4, _, Some(assigned)) => {
                // What is read before is not what is assigned.
                self.line(&format!(
                    "let {name} = {assigned} + {{ {assigned} = {a}; if {condition} {{ {jump}; }} {assigned} * 0.5 }};"
                ));
            }
            _ => self.line(&format!(
                "let {name} = [{a}, if {condition} && {{ if {b} < 0.25 {{ {jump} }} true }} {{ {c} }} else {{ {b} }}][{on}.rem_euclid(2) as usize];"
            )),
        }
        self.declare(name, Float, false);
    }

    /// A list that changes its length, or two of one chain.
    pub(super) fn relisted(&mut self) {
        let Some(array) = self.pick(Array, false) else { return };
        let (list, name) = (format!("list{}", self.count), self.name());
        self.count += 1;
        let (a, k) = (self.float(1), self.size(1));
        if self.rng.u8(0..4) == 0 {
            let other = format!("other{}", self.count);
            self.count += 1;
            let line = match self.rng.bool() {
                true => format!(
                    "let (mut {list}, {other}): (Vec<f64>, Vec<f64>) = {array}.iter().map(|q| (q * {a}, q - {a})).unzip();"
                ),
                false => format!(
                    "let (mut {list}, {other}): (Vec<f64>, Vec<f64>) = {array}.iter().partition(|q| **q < {a});"
                ),
            };
            self.line(&line);
            self.declare(other, Array, false);
        } else {
            self.line(&format!("let mut {list} = {array}.to_vec();"));
        }
        for _ in 0..self.rng.usize(1..4) {
            let change = self.one(&[
                &format!("{list}.pop();"),
                &format!("{list}.truncate({k} % 4);"),
                &format!("{list}.insert({k} % 3, {a});"),
                &format!("{list}.swap_remove({k} % 3);"),
                &format!("{list}.resize({k} % 5, {a});"),
                &format!("{list}.retain(|q| *q > {a});"),
                &format!("{list}.dedup();"),
                &format!("{list} = {list}.split_off({k} % 3);"),
            ]);
            self.line(&change);
        }
        match self.rng.u8(0..3) {
            0 => self.line(&format!("let {name} = {list}.remove({k} % 3);")),
            _ => self.line(&format!("let {name} = {list}.pop().unwrap_or({a});")),
        }
        self.declare(name, Float, false);
        self.declare(list, Array, true);
    }
}
