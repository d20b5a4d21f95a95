//! Statements that use structured primitives.

use super::writer::{Scope, Writer};

impl Writer {
    /// A statement that makes a vector, matrix or number of whole arrays. What it makes is bounded
    /// again, element by element, so that products of products stay moderate.
    pub(super) fn structured(
        &mut self,
        scope: &mut Scope,
        indent: usize,
    ) -> Option<(String, String)> {
        let (v, s) = self.vector(scope)?;
        let (value, sizes) = match self.rng.u8(0..8) {
            0 => self.of_vector(scope, &v, &s, indent),
            1 => {
                let (u, t) = self.vector(scope)?;
                (format!("outer({v}, {u})"), vec![s, t])
            }
            2 => {
                let (u, _) = self.vector_of(scope, &s)?;
                (format!("dot({v}, {u})"), vec![])
            }
            _ => self.of_matrix(scope)?,
        };
        let (made, name) = (self.name("g"), self.name("g"));
        let (i, j) = (self.name("i"), self.name("i"));
        let bounded = match &sizes[..] {
            [] => {
                scope.floats.push(name.clone());
                format!("tanh({made})")
            }
            [n] => format!("build ({i} < {n}) {{ sin({made}[{i}]) }}"),
            [n, m, ..] => {
                format!("build ({i} < {n}) {{ build ({j} < {m}) {{ sin({made}[{i}, {j}]) }} }}")
            }
        };
        if !sizes.is_empty() {
            scope.arrays.push((name.clone(), sizes));
        }
        Some((made, format!("{value}\n{}{name} = {bounded}", "  ".repeat(indent))))
    }

    fn of_vector(
        &mut self,
        scope: &Scope,
        v: &str,
        s: &str,
        indent: usize,
    ) -> (String, Vec<String>) {
        let vector = vec![s.to_string()];
        match self.rng.u8(0..6) {
            0 => (format!("cumsum({v})"), vector),
            1 => (format!("cumsum_from_end({v})"), vector),
            2 => (format!("reverse({v})"), vector),
            3 => (format!("repeat_row({v}, 2)"), vec!["2".into(), s.into()]),
            4 => (format!("repeat_column({v}, 3)"), vec![s.into(), "3".into()]),
            _ => (format!("scale({}, {v})", self.float(scope, indent)), vector),
        }
    }

    fn of_matrix(&mut self, scope: &Scope) -> Option<(String, Vec<String>)> {
        let matrices: Vec<(String, String, String)> = scope
            .arrays
            .iter()
            .filter_map(|(name, sizes)| match &sizes[..] {
                [n, m] => Some((name.clone(), n.clone(), m.clone())),
                _ => None,
            })
            .collect();
        let (a, n, m) = self.pick(&matrices).cloned()?;
        let (b, p, q) = self.pick(&matrices).cloned()?;
        let mut products = Vec::new();
        for (left, (outer, inner)) in
            [(a.clone(), (&n, &m)), (format!("transposed({a})"), (&m, &n))]
        {
            for (right, (rows, columns)) in
                [(b.clone(), (&p, &q)), (format!("transposed({b})"), (&q, &p))]
            {
                if inner == rows {
                    let sizes = vec![outer.clone(), columns.clone()];
                    products.push((format!("matmul({left}, {right})"), sizes));
                }
            }
            if let Some((v, _)) = self.vector_of(scope, inner) {
                products.push((format!("matvec({left}, {v})"), vec![outer.clone()]));
            }
        }
        if !products.is_empty() && self.rng.u8(0..4) > 0 {
            return self.pick(&products).cloned();
        }
        Some(match self.rng.u8(0..3) {
            0 => (format!("sum_rows({a})"), vec![m]),
            1 => (format!("sum_columns({a})"), vec![n]),
            _ => (format!("transposed({a})"), vec![m, n]),
        })
    }

    /// A vector with a size.
    fn vector_of(&mut self, scope: &Scope, size: &str) -> Option<(String, String)> {
        let vectors: Vec<_> =
            Writer::vectors(scope).into_iter().filter(|(_, s)| s == size).collect();
        self.pick(&vectors).cloned()
    }
}
