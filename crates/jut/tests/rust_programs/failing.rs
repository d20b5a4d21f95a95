//! Functions that may fail by a `Result`, stacks, operators of structs, and parts of lists.

use super::Kind::{Array, Float, Size, Vector};
use super::Writer;

impl Writer<'_> {
    /// What a function gives in the end.
    pub(super) fn given(&self, value: &str) -> String {
        if self.fails { format!("Ok({value})") } else { value.to_string() }
    }

    /// A call of a function as a number.
    pub(super) fn of_result(&mut self, number: usize, call: &str) -> String {
        if !super::fails(number) {
            return call.to_string();
        }
        let other = self.float(0);
        let early = if self.fails && !self.counting {
            format!("{call}?")
        } else {
            call.to_string() + ".unwrap()"
        };
        self.one(&[
            &early,
            &format!("{call}.unwrap_or({other})"),
            &format!("(match {call} {{ Ok(q) => q * 0.5, Err(_) => {other} }})"),
        ])
    }

    /// A `Result`: one that is looked at, or one that ends the function.
    pub(super) fn result(&mut self) {
        let (name, condition) = (self.name(), self.truth(1));
        let (a, b, c) = (self.float(1), self.float(1), self.float(1));
        let left = self.fails && !self.counting;
        let line = match (self.rng.u8(0..7), self.pick(Array, false)) {
            (0, _) if left => {
                self.line(&format!("if {condition} {{ return Err(\"no\".to_string()); }}"));
                return;
            }
            (1, Some(array)) if left => {
                let at = self.size(1);
                format!("let {name} = {a} + *{array}.get({at}).ok_or(\"none\")?;")
            }
            (2, _) if left => format!(
                "let {name} = {a} * match if {condition} {{ Ok({b}) }} else {{ Err(1) }} {{ Ok(q) => q, Err(_) => return Err(String::from(\"an end\")) }};"
            ),
            (3, Some(array)) if left => format!(
                "let Some(&{name}) = {array}.last() else {{ return Err(format!(\"nothing\")) }};"
            ),
            (4, _) => format!(
                "let {name} = (if {condition} {{ Ok({a}) }} else {{ Err(\"other\") }}).map(|q| q * {b}).unwrap_or({c});"
            ),
            (5, _) => {
                let kept = format!("kept{}", self.count);
                self.count += 1;
                self.line(&format!(
                    "let {kept}: Result<f64, i32> = if {condition} {{ Ok({a}) }} else {{ Err(3) }};"
                ));
                format!(
                    "let {name} = if {kept}.is_ok() {{ {kept}.unwrap_or({b}) }} else {{ {c} }};"
                )
            }
            _ => format!(
                "let {name} = match if {condition} {{ Ok({a}) }} else {{ Err(()) }} {{ Ok(q) if q > 0.25 => q, Ok(q) => q + {c}, Err(_) => {b} }};"
            ),
        };
        self.line(&line);
        self.declare(name, Float, false);
    }

    /// A list that becomes longer and shorter in a loop.
    pub(super) fn stack(&mut self, depth: usize) {
        let (list, turn) = (format!("stack{}", self.count), format!("turn{}", self.count));
        self.count += 1;
        let first = self.float(1);
        let start = match (self.rng.u8(0..3), self.pick(Array, false)) {
            (0, Some(array)) => format!("let mut {list} = {array}.to_vec();"),
            (1, _) => format!("let mut {list}: Vec<f64> = Vec::new();"),
            _ => format!("let mut {list} = vec![{first}];"),
        };
        self.line(&start);
        self.line(&format!("let mut {turn} = 0;"));
        let goes = self.one(&["true", &format!("!{list}.is_empty()")]);
        self.line(&format!("while {turn} < 4 && {goes} {{"));
        self.indent += 1;
        self.line(&format!("{turn} += 1;"));
        let known = self.names.clone();
        self.loops += 1;
        self.names.push((turn, Size, false));
        self.names.push((list.clone(), Array, false));
        for _ in 0..self.rng.usize(1..4) {
            if depth > 0 && self.rng.u8(0..3) == 0 {
                self.statement(depth - 1);
                continue;
            }
            let (condition, a, k) = (self.truth(1), self.float(1), self.size(0));
            // What goes over the elements does not read the list.
            self.lent.push(list.clone());
            let b = self.float(1);
            self.lent.pop();
            let line = self.one(&[
                &format!("if {condition} {{ {list}.pop(); }} else {{ {list}.push({a}); }}"),
                &format!("while let Some(q) = {list}.pop() {{ if q < {a} {{ {list}.push(q * 0.5 + 1.0); break; }} }}"),
                &format!("{list}.push({list}.last().copied().unwrap_or({a}) * 0.5);"),
                &format!("if let Some(q) = {list}.pop() {{ if q > {a} {{ {list}.push({b}); {list}.push(q); }} }}"),
                &format!("if {condition} {{ {list}.insert({k} % 2, {a}); }}"),
                &format!("if {condition} {{ {list}.remove({k}); }}"),
                &format!("for q in {list}.iter_mut() {{ *q = *q * 0.5 + {b}; }}"),
                &format!("if {list}.len() > 3 {{ {list}[0] = {a}; {list}.truncate(2); }}"),
                &format!("{list} = {list}.iter().filter(|q| **q < {b}).copied().collect();"),
            ]);
            self.line(&line);
        }
        self.loops -= 1;
        self.names = known;
        self.indent -= 1;
        self.line("}");
        self.declare(list, Array, true);
    }

    /// An operator of structs.
    pub(super) fn vector(&mut self) {
        let (name, a, b) = (self.name(), self.float(1), self.float(1));
        let (p, q) = (self.pick(Vector, false), self.pick(Vector, true));
        match (self.rng.u8(0..6), p, q) {
            (0, Some(p), Some(q)) => self.line(&format!("{q} += {p} * {a};")),
            (1, Some(p), Some(q)) => {
                let value = self.one(&[
                    &format!("{p} + {q}"),
                    &format!("-({p} - {q} * {a}) * {b}"),
                    &format!("{q} - (Vector {{ a: {a}, b: {b} }} + {p})"),
                ]);
                self.line(&format!("{q} = {value};"));
            }
            (2, Some(p), Some(q)) => self.line(&format!("{q}.a -= {p}.b * {q}.a;")),
            (3 | 4, Some(p), _) => {
                self.line(&format!(
                    "let {name} = ({p} - Vector {{ a: {a}, b: {p}.a }}).b / {p}.a;"
                ));
                self.declare(name, Float, false);
            }
            _ => {
                self.line(&format!("let mut {name} = Vector {{ a: {a}, b: {b} }};"));
                self.declare(name, Vector, true);
            }
        }
    }

    /// Two parts of a list that are changed at once, and what is handed out of one.
    pub(super) fn parted(&mut self) {
        let Some(array) = self.pick(Array, true) else { return };
        let (name, a) = (self.name(), self.float(1));
        self.lent.push(array.clone());
        let (k, b) = (self.size(1), self.float(1));
        self.lent.pop();
        let line = match self.rng.u8(0..6) {
            0 => format!(
                "{{ let (one, two) = {array}.split_at_mut({k} % 4); for (p, q) in one.iter_mut().zip(two.iter_mut()) {{ *p += *q; *q = *p * 0.5; }} }}"
            ),
            1 => format!(
                "{{ let (one, two) = {array}.split_at_mut({k}); one[0] = two[0] + {b}; two.reverse(); }}"
            ),
            2 => format!("if let Some(q) = {array}.last_mut() {{ *q = *q * 0.5 + {b}; }}"),
            3 => format!("*{array}.first_mut().unwrap() -= {b};"),
            4 => format!("{array}.copy_within(1.., {k} % 3);"),
            _ => {
                self.line(&format!(
                    "let {name} = match {array}.split_first() {{ Some((p, rest)) => p - rest.iter().sum::<f64>(), None => {a} }};"
                ));
                self.declare(name, Float, false);
                return;
            }
        };
        self.line(&line);
    }
}
