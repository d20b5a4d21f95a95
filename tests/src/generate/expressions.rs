//! Expressions with a float value, and the conditions and ranges in them.

use super::writer::{Scope, Writer};

impl Writer {
    pub fn condition(&mut self, scope: &Scope) -> String {
        match self.rng.u8(0..5) {
            4 => self.truth(scope),
            0 if scope.indices.len() > 1 => {
                let i = self.rng.usize(1..scope.indices.len());
                format!("{} < {}", scope.indices[i].0, scope.indices[0].0)
            }
            _ => format!("{} > {}", self.atom(scope), self.atom(scope)),
        }
    }

    pub fn float(&mut self, scope: &Scope, indent: usize) -> String {
        if self.fuel == 0 || self.rng.u8(0..6) == 0 {
            return self.atom(scope);
        }
        self.fuel -= 1;
        let deep = scope.is_deep();
        match self.rng.u8(0..21) {
            0 => format!("sin({})", self.float(scope, indent)),
            1 => format!("tanh({})", self.float(scope, indent)),
            2 => format!("exp(-abs({}))", self.float(scope, indent)),
            3 => format!("sqrt(1.0 + ({})^2)", self.float(scope, indent)),
            4 => format!("log1p(({})^2)", self.float(scope, indent)),
            5 => format!("atan2({}, 1.5 + abs({}))", self.float(scope, indent), self.atom(scope)),
            6 => format!("({} + {})", self.float(scope, indent), self.float(scope, indent)),
            7 => format!("({} - {})", self.float(scope, indent), self.float(scope, indent)),
            8 => format!("tanh({} * {})", self.float(scope, indent), self.float(scope, indent)),
            9 => format!("{} / (2.0 + ({})^2)", self.float(scope, indent), self.atom(scope)),
            10 => format!("max({}, {})", self.float(scope, indent), self.atom(scope)),
            11 => format!(
                "select({}, {}, {})",
                self.condition(scope),
                self.atom(scope),
                self.atom(scope)
            ),
            12 | 13 if !deep => {
                let condition = self.condition(scope);
                let (then, other) = (self.block(scope, indent + 1), self.block(scope, indent + 1));
                format!("(if {condition} {then} else {other})")
            }
            14 | 15 if !deep => self.sum(scope, indent),
            16 if !deep => self.fold(scope, indent),
            18 => self.scalar_primitive(scope),
            // Functions carry arrays too, and have loops of their own.
            17 if self.functions > 0
                && self.calls < 8
                && !scope.in_carries
                && scope.rounds() <= 27 =>
            {
                self.call(scope, indent)
            }
            _ => format!("({} * {})", self.atom(scope), self.atom(scope)),
        }
    }

    pub fn range(
        &mut self,
        scope: &Scope,
        inner: &mut Scope,
        base: &str,
    ) -> Option<(String, String)> {
        let mut bounds = scope.bounds.clone();
        // A triangular loop: the bound is an index, and what it indexes is as long as the outer one.
        bounds.extend(scope.indices.iter().map(|(i, _)| i.clone()));
        let bound = self.pick(&bounds)?.clone();
        let i = self.name(base);
        let range = scope.indices.iter().find(|(index, _)| *index == bound);
        let limit = range.map(|(_, b)| b.clone()).unwrap_or(bound.clone());
        if limit != "k" {
            inner.indices.push((i.clone(), limit));
        }
        Some((i, bound))
    }

    pub fn sum(&mut self, scope: &Scope, indent: usize) -> String {
        let mut inner = scope.clone();
        let Some((i, bound)) = self.range(scope, &mut inner, "i") else { return self.atom(scope) };
        let body = self.block(&inner, indent + 1);
        format!("tanh(sum ({i} < {bound}) {body})")
    }

    pub fn fold(&mut self, scope: &Scope, indent: usize) -> String {
        let mut inner = scope.clone();
        let Some((i, bound)) = self.range(scope, &mut inner, "q") else { return self.atom(scope) };
        let carry = self.name("c");
        let start = self.atom(scope);
        inner.depth += 1;
        inner.floats.push(carry.clone());
        let body = self.float(&inner, indent + 1);
        format!(
            "(for ({i} < {bound}) carry ({carry} = {start}) {{ tanh(0.5 * {carry} + {body}) }})"
        )
    }

    pub fn call(&mut self, scope: &Scope, indent: usize) -> String {
        self.calls += 1;
        let function = self.rng.usize(0..self.functions);
        let vectors = Writer::vectors(scope);
        let Some((first, size)) = self.pick(&vectors).cloned() else { return self.atom(scope) };
        let same: Vec<String> =
            vectors.into_iter().filter(|(_, s)| *s == size).map(|(v, _)| v).collect();
        let second = self.pick(&same).cloned().unwrap_or(first.clone());
        let scalar = self.float(scope, indent);
        format!("tanh(h{function}({scalar}, {first}, {second}))")
    }
}
