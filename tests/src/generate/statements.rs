//! Statements: what a block binds before its result.

use super::writer::{Scope, Writer};

impl Writer {
    /// A statement that makes something of an array.
    fn of_array(&mut self, scope: &mut Scope, indent: usize) -> Option<(String, String)> {
        let (v, size) = self.vector(scope)?;
        let mut inner = scope.clone();
        let i = self.name("i");
        inner.indices.push((i.clone(), size.clone()));
        let name = self.name("r");
        match self.rng.u8(0..18) {
            // An array of records, read by element and by field.
            0 => {
                let (left, right) = (self.float(&inner, indent), self.atom(&inner));
                let body = format!("{{ Pair({left}, {right}) }}");
                let sum = self.name("t");
                scope.floats.push(sum.clone());
                let made = format!("build ({i} < {size}) {body}");
                let read = format!("tanh(sum (p <- {name}) {{ p.left * p.right + p.left }})");
                Some((name, format!("{made}\n{}{sum} = {read}", "  ".repeat(indent))))
            }
            // An array of a sum type, and a `case` on its elements.
            1 | 2 => {
                let (one, two) = (self.condition(&inner), self.condition(&inner));
                let (low, mid, high) =
                    (self.block(&inner, indent + 1), self.atom(&inner), self.atom(&inner));
                let made = format!(
                    "build ({i} < {size}) {{ if {one} {{ Low() }} else if {two} {{ Mid({i}) }} \
                     else {{ High({i} / 2, {i} % 2 == 0) }} }}"
                );
                let arms = format!(
                    "{{ Low -> {low}; Mid(q) -> {mid} * f64(q); \
                     High(q, odd) -> select(odd, {high}, {v}[{i}]) - f64(q) }}"
                );
                let sum = self.name("t");
                scope.floats.push(sum.clone());
                let read = format!("tanh(sum ({i} < {size}) {{ case {name}[{i}] {arms} }})");
                Some((name, format!("{made}\n{}{sum} = {read}", "  ".repeat(indent))))
            }
            // A slice; both halves are in range for any size.
            3 | 4 if size.chars().all(char::is_alphanumeric) => {
                let h = self.name("h");
                let pad = "  ".repeat(indent);
                let second = format!("{size} - {h}");
                if self.rng.bool() {
                    scope.bounds.push(h.clone());
                    scope.arrays.push((name.clone(), vec![h.clone()]));
                    Some((h.clone(), format!("{size} / 2\n{pad}{name} = {v}[0 ..+ {h}]")))
                } else {
                    scope.arrays.push((name.clone(), vec![second]));
                    Some((h.clone(), format!("{size} / 2\n{pad}{name} = {v}[{h} .. {size}]")))
                }
            }
            // A result whose size the callee computes.
            5 => {
                let m = self.name("m");
                scope.bounds.push(m.clone());
                scope.arrays.push((name.clone(), vec![m.clone()]));
                Some((format!("({m}, {name})"), format!("half({v})")))
            }
            // Several results.
            6 => {
                let other = self.name("t");
                let scalar = self.float(scope, indent);
                scope.floats.extend([name.clone(), other.clone()]);
                Some((format!("({name}, {other})"), format!("both({scalar}, {v})")))
            }
            // A record with a size inside, opened.
            7 | 16 => {
                let (m, w, s) = (self.name("m"), self.name("w"), self.name("s"));
                let scalar = self.float(scope, indent);
                let read = format!(
                    "{s}_sum = tanh(sum ({i} < {m}) {{ f64({w}[{i}]) * {v}[{i}] }} / f64({s} + 2))"
                );
                scope.bounds.push(m.clone());
                scope.floats.push(format!("{s}_sum"));
                let open = format!("Bag({m}, {w}, {s}) = {name}");
                let pad = "  ".repeat(indent);
                Some((name, format!("pack({v}, {scalar})\n{pad}{open}\n{pad}{read}")))
            }
            // A loop that carries an array.
            8 if scope.may_carry() => {
                inner.in_carries = true;
                let (t, h) = (self.name("q"), self.name("h"));
                inner.arrays.push((h.clone(), vec![size.clone()]));
                let body = self.float(&inner, indent + 1);
                scope.arrays.push((name.clone(), vec![size.clone()]));
                let step = format!("build ({i} < {size}) {{ tanh(0.5 * {h}[{i}] + {body}) }}");
                Some((name, format!("for ({t} < 3) carry ({h} = {v}) {{ {step} }}")))
            }
            // A loop that collects.
            9 => {
                let (c, last) = (self.name("c"), self.name("t"));
                inner.floats.push(c.clone());
                let body = self.float(&inner, indent + 1);
                let start = self.atom(scope);
                scope.floats.push(last.clone());
                scope.arrays.push((name.clone(), vec![size.clone()]));
                let step = format!("{{ e = tanh({c} - {body}); (e, {v}[{i}] * e) }}");
                let text = format!("for ({i} < {size}) carry ({c} = {start}) {step}");
                Some((format!("({last}, {name})"), text))
            }
            // A sum of arrays.
            10 => {
                let j = self.name("j");
                inner.indices.push((j.clone(), "3".into()));
                let body = self.float(&inner, indent + 1);
                scope.arrays.push((name.clone(), vec![size.clone()]));
                let row = format!("build ({i} < {size}) {{ {body} * {v}[{i}] }}");
                Some((name, format!("sum ({j} < 3) {{ {row} }}")))
            }
            // The largest of a range that may be empty.
            11 => {
                let body = self.float(&inner, indent + 1);
                let which = ["max", "min"][self.rng.usize(0..2)];
                let none = self.atom(scope);
                scope.floats.push(name.clone());
                let some = format!("{which} ({i} < {size}) {{ {body} }}");
                Some((name, format!("if {size} > 0 {{ {some} }} else {{ {none} }}")))
            }
            // An array whose size must be cast.
            12..=15 => {
                let (m, y) = (self.name("m"), self.name("y"));
                let body = self.float(&inner, indent + 1);
                scope.arrays.push((name.clone(), vec![size.clone()]));
                let pad = "  ".repeat(indent);
                let made = format!("{y} = build ({i} < {m}) {{ {body} * f64(size({v})) }}");
                let t = self.name("t");
                scope.floats.push(t.clone());
                let cast = format!("{name} = cast {y} : [{size}]f64");
                let read = format!("{t} = tanh(sum (e <- {name}) {{ e * sin(e) }})");
                Some((m, format!("max({size}, 0)\n{pad}{made}\n{pad}{cast}\n{pad}{read}")))
            }
            // A cast that may fail, rarely; a computed index that may, too.
            _ if self.rng.u8(0..4) == 0 => {
                scope.floats.push(name.clone());
                Some((name, format!("{v}[{size} / 2]")))
            }
            _ => {
                let cast = format!("cast {v}[0 ..+ {size} / 2 + {size} / 2] : [{size}]f64");
                scope.floats.push(name.clone());
                if self.rng.u8(0..3) > 0 {
                    let two = format!("sum (a <- {v}, b <- {v}) {{ a * sin(b) }}");
                    return Some((name, format!("tanh({two})")));
                }
                Some((name, format!("tanh(sum (v <- {cast}) {{ v * v }})")))
            }
        }
    }

    /// A pattern and what it is bound to; what is bound is added to the scope.
    pub fn statement(&mut self, scope: &mut Scope, indent: usize) -> (String, String) {
        if self.rng.u8(0..3) == 0
            && !scope.is_deep()
            && self.fuel > 0
            && let Some(statement) = self.of_array(scope, indent)
        {
            self.fuel = self.fuel.saturating_sub(1);
            return statement;
        }
        if self.rng.u8(0..5) == 0
            && !scope.is_deep()
            && self.fuel > 0
            && let Some(statement) = self.structured(scope, indent)
        {
            self.fuel = self.fuel.saturating_sub(1);
            return statement;
        }
        if self.rng.u8(0..4) == 0
            && !scope.is_deep()
            && self.fuel > 0
            && let Some(statement) = self.construct(scope, indent)
        {
            self.fuel = self.fuel.saturating_sub(1);
            return statement;
        }
        let sizes: Vec<String> = scope.bounds.iter().filter(|b| *b != "k").cloned().collect();
        match self.rng.u8(0..10) {
            8 => {
                let (a, b) = (self.name("t"), self.name("t"));
                let (x, y) = (self.float(scope, indent), self.float(scope, indent));
                scope.floats.extend([a.clone(), b.clone()]);
                (format!("#({a}, {b})"), format!("#({x}, {y})"))
            }
            9 => {
                let name = self.name("l");
                let items = [self.float(scope, indent), self.atom(scope), self.atom(scope)];
                scope.arrays.push((name.clone(), vec!["3".into()]));
                scope.bounds.push("3".into());
                (name, format!("[{}]", items.join(", ")))
            }
            0 | 1 if !sizes.is_empty() && scope.depth < 3 && !scope.is_deep() => {
                let name = self.name("y");
                let size = sizes[self.rng.usize(0..sizes.len())].clone();
                let i = self.name("i");
                let mut inner = scope.clone();
                inner.indices.push((i.clone(), size.clone()));
                let body = self.block(&inner, indent + 1);
                scope.arrays.push((name.clone(), vec![size.clone()]));
                (name, format!("build ({i} < {size}) {body}"))
            }
            2 if sizes.len() > 1 && scope.depth < 3 && !scope.is_deep() => {
                let name = self.name("z");
                let (rows, columns) = (sizes[0].clone(), sizes[1].clone());
                let (i, j) = (self.name("i"), self.name("j"));
                let mut inner = scope.clone();
                inner.indices.push((i.clone(), rows.clone()));
                inner.indices.push((j.clone(), columns.clone()));
                inner.depth += 1;
                let body = self.block(&inner, indent + 1);
                scope.arrays.push((name.clone(), vec![rows.clone(), columns.clone()]));
                (name, format!("build ({i} < {rows}) {{ build ({j} < {columns}) {body} }}"))
            }
            3 => {
                let name = self.name("p");
                let (left, right) = (self.float(scope, indent), self.float(scope, indent));
                scope.floats.push(format!("{name}.left"));
                scope.floats.push(format!("{name}.right"));
                (name, format!("Pair({left}, {right})"))
            }
            _ => {
                let name = self.name("t");
                let value = self.float(scope, indent);
                scope.floats.push(name.clone());
                (name, value)
            }
        }
    }
}
