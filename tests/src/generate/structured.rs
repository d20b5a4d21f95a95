//! Statements that use structured primitives.

use super::writer::{Scope, Writer};

/// In more rounds than these there are no products of arrays of three dimensions.
const FEW: u64 = 9;

impl Writer {
    /// A statement that makes a vector, matrix or number of whole arrays. What it makes is bounded
    /// again, element by element, so that products of products stay moderate.
    pub(super) fn structured(
        &mut self,
        scope: &mut Scope,
        indent: usize,
    ) -> Option<(String, String)> {
        let (v, s) = self.vector(scope)?;
        let (value, sizes) = match self.rng.u8(0..13) {
            0 => self.of_vector(scope, &v, &s, indent),
            // Of pictures that are outer products, the work grows with the fourth power of the length.
            3 | 4 if scope.rounds() <= 1 => self.convolution(scope, &v, &s)?,
            5 | 7 if scope.rounds() <= FEW => self.cube(scope, &v, &s)?,
            12 => self.triangular(&v, &s),
            6 => {
                let (u, _) = self.vector(scope)?;
                let joined = format!("concat({u}, pad({v}, 1, 2), {v})");
                (format!("dot({joined}, cumsum({joined}))"), vec![])
            }
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
        match self.rng.u8(0..9) {
            6 => (format!("sum_all({v})"), vec![]),
            7 => (format!("repeat({}, {s})", self.float(scope, indent)), vector),
            8 => (format!("hadamard({v}, reverse({v}))"), vector),
            0 => (format!("cumsum({v})"), vector),
            1 => (format!("cumsum_from_end({v})"), vector),
            2 => (format!("reverse({v})"), vector),
            3 => (format!("repeat_row({v}, 2)"), vec!["2".into(), s.into()]),
            4 => (format!("repeat_column({v}, 3)"), vec![s.into(), "3".into()]),
            _ => (format!("scale({}, {v})", self.float(scope, indent)), vector),
        }
    }

    /// Something of a symmetric matrix, which is positive definite whatever the vector is, or of any.
    fn triangular(&mut self, v: &str, s: &str) -> (String, Vec<String>) {
        let (i, j) = (self.name("i"), self.name("j"));
        let a = format!(
            "build ({i} < {s}, {j} < {s}) {{ tanh({v}[{i}]) * tanh({v}[{j}]) + select({i} == {j}, 2.0, 0.0) }}"
        );
        let square = vec![s.to_string(), s.to_string()];
        let any = format!("outer({v}, reverse({v}))");
        match self.rng.u8(0..9) {
            0 => (format!("cholesky({a})"), square),
            1 => {
                let column = format!("unflatten({v}, {s}, 1)");
                (format!("flatten(triangular_solve({a}, {column}))"), vec![s.to_string()])
            }
            2 => (format!("triangular_solve_t({a}, {any})"), square),
            3 => (format!("cholesky_tangent({a}, {any})"), square),
            4 => (format!("cholesky_cotangent({a}, {any})"), square),
            5 => (format!("lower_triangle({any})"), square),
            6 => (format!("mirror_lower({any})"), square),
            7 => (format!("fold_lower({any})"), square),
            _ => (format!("symmetric_sum({any})"), square),
        }
    }

    /// One side of a convolution, in one direction or two, made of two vectors. There is room for it
    /// whatever the sizes are, because zeros stand around them.
    fn convolution(&mut self, scope: &Scope, v: &str, s: &str) -> Option<(String, Vec<String>)> {
        let (u, t) = self.vector(scope)?;
        let grid = |v: &str, u: &str| format!("flatten(outer({v}, {u}))");
        let (more_v, more_u) = (format!("pad({v}, 1, 0)"), format!("pad({u}, 0, 1)"));
        let around = grid(&format!("pad({v}, 1, 1)"), &format!("pad({u}, 1, 1)"));
        let image = format!("unflatten3({around}, 1, {s} + 2, {t} + 2)");
        let small = format!("unflatten3({}, 1, {s} + 1, {t} + 1)", grid(&more_v, &more_u));
        let wide = format!("unflatten(pad({v}, {t}, {t}), 1, {s} + {t} + {t})");
        let cells = match self.rng.u8(0..6) {
            0 => format!("flatten(conv1d({wide}, unflatten3({u}, 1, 1, {t})))"),
            1 => {
                let taps = format!("unflatten3({more_u}, 1, 1, {t} + 1)");
                format!("flatten(conv1d_input(unflatten({v}, 1, {s}), {taps}))")
            }
            2 => format!("flatten3(conv1d_kernel({wide}, unflatten({u}, 1, {t})))"),
            3 => {
                let filter = grid(&more_v, &more_u);
                let filter = format!("unflatten4({filter}, 1, 1, {s} + 1, {t} + 1)");
                format!("flatten3(conv2d({image}, {filter}))")
            }
            4 => {
                let filter = grid(&more_u, &more_v);
                let filter = format!("unflatten4({filter}, 1, 1, {t} + 1, {s} + 1)");
                format!("flatten3(conv2d_input({small}, {filter}))")
            }
            _ => format!("flatten4(conv2d_kernel({image}, {small}))"),
        };
        Some((format!("dot({cells}, cumsum({cells}))"), vec![]))
    }

    /// Products of two matrices each, and arrays of three and four dimensions, made of two vectors.
    fn cube(&mut self, scope: &Scope, v: &str, s: &str) -> Option<(String, Vec<String>)> {
        let (u, t) = self.vector(scope)?;
        let both = format!("flatten(outer(concat({v}, reverse({v})), {u}))");
        let x = format!("unflatten3({both}, 2, {s}, {t})");
        let z = format!("unflatten3({both}, 2, {t}, {s})");
        let cells = match self.rng.u8(0..6) {
            0 => format!("flatten3(batch_matmul({x}, {z}))"),
            1 => format!("flatten3(batch_matmul(permute_021({x}), {x}))"),
            2 => format!("flatten3(batch_matmul({x}, permute_021({x})))"),
            3 => format!("flatten3(batch_matmul(permute_021({x}), permute_021({z})))"),
            4 => format!("flatten3({})", self.turned(x, ['0', '1', '2'])),
            _ => {
                let x = format!("unflatten4({both}, {s}, 1, 2, {t})");
                format!("flatten4({})", self.turned(x, ['0', '1', '2', '3']))
            }
        };
        Some((format!("dot({cells}, cumsum({cells}))"), vec![]))
    }

    /// The array with its dimensions in other orders, three times.
    fn turned<const N: usize>(&mut self, mut x: String, dims: [char; N]) -> String {
        for _ in 0..3 {
            let mut order = dims;
            while order == dims {
                self.rng.shuffle(&mut order);
            }
            x = format!("permute_{}({x})", String::from_iter(order));
        }
        x
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
