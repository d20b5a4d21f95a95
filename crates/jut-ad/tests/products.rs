//! Dense second derivatives and Jacobians, derivatives that are kept and applied, transposes of linear
//! functions: against finite differences, closed forms and each other; accepted by the checker, and
//! the same bits when optimised.

use crate::common::{b, floats, k, m, parse as load, reads_back, v, with_floats, x};
use jut_ad::compose::{JacobianMode, Saved};
use jut_ad::{Derivatives, Mask, Policy, compose};
use jut_eval::{Interpreter, Value};
use jut_ir::FuncId;
use jut_ir::check::{check_forward_domain, check_program};
use jut_ir::print::print_program;

const POLICIES: [Policy; 2] = [Policy::Default, Policy::StoreAll];
const MODES: [JacobianMode; 3] = [JacobianMode::Forward, JacobianMode::Reverse, JacobianMode::Auto];

/// A function under test: numbers and arrays of numbers (and integers) as parameters.
struct Subject {
    derivatives: Derivatives,
    func: FuncId,
    mask: Mask,
    /// Without the sizes in brackets.
    args: Vec<Value>,
}

impl Subject {
    fn new(text: &str, name: &str, args: &[Value]) -> Subject {
        let program = load(text);
        let func = program.find_func(name).unwrap_or_else(|| panic!("{name}"));
        let mask = Mask::full(&program, func);
        Subject { derivatives: Derivatives::new(program), func, mask, args: args.to_vec() }
    }

    /// The results of a composition, after the checker and J's domain have accepted it, and the
    /// optimised one has given the same bits.
    fn run(&self, func: FuncId, args: &[Value]) -> Vec<Value> {
        let program = &self.derivatives.program;
        let name = &program.funcs[func].name;
        let interpreter = Interpreter::new(program);
        let all = interpreter.with_sizes(func, args).unwrap_or_else(|e| panic!("{name}: {e}"));
        let plain = interpreter.call(func, &all, &[], &[]);
        let plain = plain.unwrap_or_else(|e| panic!("{name}: {e}")).results;
        let fast = jut_opt::optimise(program, func, true);
        let optimised = Interpreter::new(&fast).call(func, &all, &[], &[]);
        let optimised = optimised.unwrap_or_else(|e| panic!("{name}, optimised: {e}")).results;
        let bits =
            |values: &[Value]| -> Vec<u64> { floats(values).iter().map(|x| x.to_bits()).collect() };
        assert_eq!(bits(&plain), bits(&optimised), "{name}, optimised");
        plain
    }

    fn checked(&self, func: FuncId) -> FuncId {
        let program = &self.derivatives.program;
        let text = print_program(program);
        if let Err(errors) = check_program(program) {
            panic!("{errors:#?}\n{text}");
        }
        reads_back(&text);
        check_forward_domain(program, func).unwrap_or_else(|e| panic!("{e:?}"));
        let fast = jut_opt::optimise(program, func, true);
        if let Err(errors) = check_program(&fast) {
            panic!("{errors:#?}\n{}", print_program(&fast));
        }
        func
    }

    /// The arguments of which the floats are active.
    fn active(&self) -> Vec<Value> {
        let sizes = self.derivatives.program.funcs[self.func].size_params;
        self.mask.positions().map(|k| self.args[k - sizes].clone()).collect()
    }

    /// The arguments, with other floats in the active ones.
    fn at(&self, floats: &[f64]) -> Vec<Value> {
        let mut new = with_floats(&self.active(), floats).into_iter();
        let mut args = self.args.clone();
        let sizes = self.derivatives.program.funcs[self.func].size_params;
        for k in self.mask.positions() {
            args[k - sizes] = new.next().unwrap();
        }
        args
    }

    /// The arguments, and tangents for the active ones.
    fn along(&self, direction: &[f64]) -> Vec<Value> {
        [self.args.clone(), with_floats(&self.active(), direction)].concat()
    }

    /// Central differences of the floats of some results, one row per float of the arguments.
    fn differences(&self, func: FuncId) -> Vec<Vec<f64>> {
        let at = floats(&self.active());
        let moved = |k: usize, by: f64| {
            let mut at = at.clone();
            at[k] += by;
            floats(&self.run(func, &self.at(&at)))
        };
        let h = 1e-5;
        let slopes = |k: usize| {
            let (up, down) = (moved(k, h), moved(k, -h));
            up.iter().zip(&down).map(|(u, d)| (u - d) / (2.0 * h)).collect()
        };
        (0..at.len()).map(slopes).collect()
    }

    /// Differences in the order of the blocks of a Jacobian: result, parameter, entry of the
    /// result, entry of the parameter.
    fn blocks(&self, rows: &[Vec<f64>], results: &[Value]) -> Vec<f64> {
        let mut all = Vec::new();
        let mut above = 0;
        for result in results {
            let height = floats(std::slice::from_ref(result)).len();
            let mut left = 0;
            for param in self.active() {
                let width = floats(std::slice::from_ref(&param)).len();
                let columns = &rows[left..left + width];
                for j in above..above + height {
                    all.extend(columns.iter().map(|column| column[j]));
                }
                left += width;
            }
            above += height;
        }
        all
    }
}

fn assert_near(found: &[f64], expected: &[f64], tolerance: f64, what: &str) {
    let near = |(a, b): (&f64, &f64)| (a - b).abs() <= tolerance * (1.0 + a.abs().max(b.abs()));
    let same = found.len() == expected.len() && found.iter().zip(expected).all(near);
    assert!(same, "{what}: {found:?} instead of {expected:?}");
}

/// Some direction.
fn direction(count: usize, seed: usize) -> Vec<f64> {
    (0..count).map(|k| ((k * 7 + 3 * seed) % 5) as f64 - 1.5).collect()
}

/// Jacobians in all modes against differences and each other; the derivative that is kept against
/// `jvp` and `vjp`.
fn first_order(text: &str, name: &str, args: &[Value]) {
    let mut s = Subject::new(text, name, args);
    let rows = s.differences(s.func);
    let results = s.run(s.func, args);
    let values = floats(&results);
    let expected = s.blocks(&rows, &results);
    for policy in POLICIES {
        let mut all = Vec::new();
        for mode in MODES {
            let (d, f, m) = (&mut s.derivatives, s.func, &s.mask.clone());
            let jacobian = compose::jacobian(d, f, m, mode, policy).unwrap();
            let both = compose::value_and_jacobian(d, f, m, mode, policy).unwrap();
            assert_eq!(compose::jacobian(d, f, m, mode, policy).unwrap(), jacobian);
            let found = floats(&s.run(s.checked(jacobian), args));
            assert_near(&found, &expected, 1e-6, &format!("{mode:?}"));
            let both = floats(&s.run(s.checked(both), args));
            assert_eq!(both, [values.clone(), found.clone()].concat(), "{mode:?}");
            all.push(found);
        }
        assert_near(&all[0], &all[1], 1e-13, "forward and reverse");
        assert!(all[2] == all[0] || all[2] == all[1], "neither forward nor reverse");
    }
    for policy in POLICIES {
        kept(&mut s, policy);
    }
}

/// `linearize`, applied twice to both sides.
fn kept(s: &mut Subject, policy: Policy) {
    let (d, f, m) = (&mut s.derivatives, s.func, &s.mask.clone());
    let made = compose::linearize(d, f, m, policy).unwrap();
    assert_eq!(compose::linearize(d, f, m, policy).unwrap(), made);
    let jvp = compose::jvp(d, f, m).unwrap();
    let vjp = compose::vjp(d, f, m, policy).unwrap();
    for func in [made.primal.func, made.apply.func, made.apply_transposed.func] {
        s.checked(func);
    }
    let args = s.args.clone();
    let results = s.run(s.func, &args);
    let kept = s.run(made.primal.func, &args);
    assert_eq!(kept[..results.len()], results);
    let program = &s.derivatives.program;
    let all = Interpreter::new(program).with_sizes(made.primal.func, &args).unwrap();
    let pick = |saved: &Saved| match saved {
        Saved::Argument(k) => all[*k].clone(),
        Saved::Result(k) => kept[*k].clone(),
    };
    let saved: Vec<Value> = made.saved.iter().map(pick).collect();
    let is_float = |r: &&jut_ir::ResultDecl| r.ty.has_float(program);
    let float_results: Vec<Value> = program.funcs[s.func]
        .results
        .iter()
        .zip(&results)
        .filter(|(r, _)| is_float(r))
        .map(|(_, v)| v.clone())
        .collect();
    let count = floats(&s.active()).len();
    for seed in 0..2 {
        let tangents = with_floats(&s.active(), &direction(count, seed));
        let applied = s.run(made.apply.func, &[saved.clone(), tangents.clone()].concat());
        let expected = s.run(jvp, &[args.clone(), tangents].concat());
        assert_eq!(applied, expected[results.len()..], "applied");

        let weights = direction(floats(&float_results).len(), seed + 1);
        let cotangents = with_floats(&float_results, &weights);
        let back = s.run(made.apply_transposed.func, &[saved.clone(), cotangents.clone()].concat());
        let declared = &s.derivatives.program.funcs[s.func].results;
        let mut seeds = Vec::new();
        let mut next = cotangents.into_iter();
        for result in declared.iter().filter(is_float) {
            for name in result.ty.size_names() {
                let computed = declared.iter().position(|r| r.name == Some(name));
                seeds.extend(computed.map(|k| results[k].clone()));
            }
            seeds.extend(next.next());
        }
        let expected = s.run(vjp, &[args.clone(), seeds].concat());
        assert_eq!(back, expected[results.len()..], "applied, transposed");
    }
}

/// The Hessian against differences of the gradient, its transpose, and products with vectors.
fn second_order(text: &str, name: &str, args: &[Value]) {
    let mut s = Subject::new(text, name, args);
    let policy = Policy::Default;
    let (d, f, m) = (&mut s.derivatives, s.func, &s.mask.clone());
    let gradient = compose::grad(d, f, m, policy).unwrap();
    let product = compose::hessian_product(d, f, m, policy).unwrap();
    let twice = compose::second_directional(d, f, m).unwrap();
    // Third order: the gradient of vᵀ H v, v being fixed.
    let primal = Mask::only(&d.program, twice, &m.positions().collect::<Vec<_>>());
    let third = compose::jacobian(d, twice, &primal, JacobianMode::Reverse, policy).unwrap();
    let store_all = compose::hessian(d, f, m, Policy::StoreAll).unwrap();
    let hessian = compose::hessian(d, f, m, policy).unwrap();
    for func in [product, twice, third, store_all, hessian] {
        s.checked(func);
    }
    let rows = s.differences(gradient);
    let found = floats(&s.run(hessian, args));
    assert_near(&found, &s.blocks(&rows, &s.active()), 1e-5, "Hessian");
    assert_near(&floats(&s.run(store_all, args)), &found, 1e-13, "under the other policy");

    let matrix = s.matrix(&found);
    let n = matrix.len();
    for (i, row) in matrix.iter().enumerate() {
        let column: Vec<f64> = (0..n).map(|j| matrix[j][i]).collect();
        assert_near(row, &column, 1e-13, "symmetry");
    }
    for seed in 0..2 {
        let v = direction(n, seed);
        let along = s.along(&v);
        let expected: Vec<f64> =
            matrix.iter().map(|row| row.iter().zip(&v).map(|(h, v)| h * v).sum()).collect();
        assert_near(&floats(&s.run(product, &along)), &expected, 1e-12, "H v");
        let bend: f64 = expected.iter().zip(&v).map(|(h, v)| h * v).sum();
        let scalar = s.derivatives.program.funcs[s.func].results.iter();
        let position = scalar.filter(|r| r.ty.has_float(&s.derivatives.program));
        let position = position.take_while(|r| !r.ty.is_float()).count();
        let found = s.run(twice, &along);
        let found = floats(&found[position..position + 1]);
        assert_near(&found, &[bend], 1e-11, "v H v");

        let at = floats(&s.active());
        let h = 1e-5;
        let bends = |k: usize, by: f64| {
            let mut at = at.clone();
            at[k] += by;
            let args = [s.at(&at), with_floats(&s.active(), &v)].concat();
            floats(&s.run(twice, &args))
        };
        let rows: Vec<Vec<f64>> = (0..n)
            .map(|k| {
                let (up, down) = (bends(k, h), bends(k, -h));
                up.iter().zip(&down).map(|(u, d)| (u - d) / (2.0 * h)).collect()
            })
            .collect();
        let expected = s.blocks(&rows, &s.run(twice, &along));
        assert_near(&floats(&s.run(third, &along)), &expected, 1e-5, "third derivatives");
    }
}

impl Subject {
    /// The blocks of a Hessian as one matrix.
    fn matrix(&self, blocks: &[f64]) -> Vec<Vec<f64>> {
        let widths: Vec<usize> =
            self.active().iter().map(|v| floats(std::slice::from_ref(v)).len()).collect();
        let mut rest = blocks;
        let mut matrix = Vec::new();
        for height in &widths {
            let mut rows = vec![Vec::new(); *height];
            for width in &widths {
                for row in &mut rows {
                    let (entries, after) = rest.split_at(*width);
                    row.extend(entries);
                    rest = after;
                }
            }
            matrix.extend(rows);
        }
        assert!(rest.is_empty());
        matrix
    }
}

/// A test program that all of jut is tested with.
macro_rules! design {
    ($name:literal) => {
        include_str!(concat!("../../../tests/programs/design/", $name, ".jut"))
    };
}

macro_rules! both_orders {
    ($($test:ident: $text:expr, $name:literal, [$($arg:expr),*];)*) => { $(
        #[test]
        fn $test() {
            first_order($text, $name, &[$($arg),*]);
            second_order($text, $name, &[$($arg),*]);
        }
    )* };
}

macro_rules! jacobians {
    ($($test:ident: $text:expr, $name:literal, [$($arg:expr),*];)*) => { $(
        #[test]
        fn $test() {
            first_order($text, $name, &[$($arg),*]);
        }
    )* };
}

both_orders! {
    one_number: "def f(u: f64) -> f64 = -sin(u)", "f", [x(0.7)];
    several_numbers: "def f(x: f64, y: f64, z: f64) -> f64 = exp(x * y) * sin(z) + pow(y, 3.0) * z", "f", [x(0.7), x(1.2), x(-0.3)];
    a_linear_map: "def f[n](x: [n]f64, a: f64) -> f64 = sum (i < n) { 2.0 * x[i] } - a", "f", [v(&[0.3, 0.5]), x(1.0)];
    linear_in_one_parameter: "def f[n](x: [n]f64, a: f64) -> f64 = a * 3.0 + sum (i < n) { x[i] * x[i] }", "f", [v(&[0.3, 0.5]), x(1.0)];
    a_constant: "def f[n](x: [n]f64) -> f64 = 2.0", "f", [v(&[0.3, 0.5])];
    arrays_and_numbers: "def f[n, d](w: [n, d]f64, b: [n]f64, s: f64) -> f64 = sum (i < n) { t = sum (j < d) { w[i, j] * w[i, j] * s }\n tanh(t + b[i]) * b[i] }", "f", [m(2, &[0.3, 0.7, -0.4, 1.0, 0.2, 0.1]), v(&[0.3, -0.5]), x(0.8)];
    arrays_of_rank_three: "def f[a, b, c](x: [a, b, c]f64, y: [c]f64) -> f64 = sum (i < a) { sum (j < b) { sum (k < c) { x[i, j, k] * y[k] * sin(x[0, j, k]) } } }", "f", [Value::array(vec![m(2, &[0.1, 0.2, 0.3, 0.4]), m(2, &[0.5, -0.6, 0.7, 0.8])]).unwrap(), v(&[0.3, 0.9])];
    literal_sizes: "def f(x: [3]f64, y: [2, 2]f64) -> f64 = x[0] * x[1] * exp(x[2] * y[0, 1]) + y[1, 0] * y[1, 1] * y[0, 0]", "f", [v(&[0.3, 0.5, 0.2]), m(2, &[1.0, 0.3, 0.5, 0.6])];
    sizes_that_are_polynomials: "def f(n: i64, x: [n + 1]f64, y: [n * n]f64) -> f64 = { check n >= 0\n sum (i < n) { x[i] * x[i + 1] * sin(y[i]) } }", "f", [k(2), v(&[0.3, 0.5, 0.2]), v(&[0.3, 0.5, 0.2, 0.6])];
    nothing_to_differentiate_by: "def f[n](x: [n]f64) -> f64 = sum (i < n) { x[i] * x[i] }", "f", [v(&[])];
    an_empty_matrix: "def f[n, m](x: [n, m]f64, a: f64) -> f64 = a * a + sum (i < n) { sum (j < m) { x[i, j] * x[i, j] } }", "f", [m(3, &[]), x(0.3)];
    a_number_and_an_array_of_results: "def f[n](x: [n]f64, a: f64) -> (f64, [n]f64) = {\n y = build (i < n) { sin(x[i]) * a }\n (sum (v <- y) { v * v * x[0] }, y) }", "f", [v(&[0.3, 0.7, 0.1]), x(1.2)];
    design_branch_with_loop: design!("branch_with_loop"), "br", [v(&[0.5, -0.3, 0.9, 1.1])];
    design_carry_and_capture: design!("carry_and_capture"), "both", [x(1.3), k(4)];
    design_carried_array: design!("carry_and_capture"), "botharray", [v(&[0.4, -0.7, 1.1]), k(3)];
    design_choose_size: design!("choose_size"), "choose", [v(&[1.0, 2.0, 3.0, 4.0]), b(true)];
    design_choose_other_size: design!("choose_size"), "choose", [v(&[1.0, 2.0, 3.0, 4.0]), b(false)];
    design_empty: design!("empty"), "total", [v(&[1.0]), m(3, &[])];
    design_extremum: design!("extremum"), "spread", [v(&[0.3, 1.7, -0.2, 1.1])];
    design_gather: design!("gather"), "gather", [v(&[1.0, 2.0, 3.0]), Value::ints(vec![2, 0, 2, 1])];
    design_mixed_inputs: design!("mixed_inputs"), "blend", [x(0.3), v(&[1.0, 4.0, 9.0]), k(1), b(true)];
    design_nested_branches: design!("nested_branches"), "brw", [v(&[0.9, 0.6, 0.1, 0.3]), Value::ints(vec![2, 5, 1, 3])];
    design_record: design!("record"), "usepolar", [x(3.0), x(4.0)];
    design_rnn: design!("rnn"), "rnn", [m(2, &[0.1, -0.4, 0.3, 0.2]), v(&[0.5, -0.5]), m(3, &[1.0, 0.2, 0.3, -0.7, 0.1, 0.9])];
    design_row_through_calls: design!("row_through_calls"), "rows", [m(2, &[1.0, 2.0, 0.5, 0.25, -1.0, 3.0])];
    design_same_array_twice: design!("same_array_twice"), "twice", [v(&[1.0, -2.0, 0.5])];
    design_size_inside: design!("size_inside"), "usehalf", [v(&[1.0, 2.0, 0.3, 0.4, 0.5])];
    design_triangle: design!("triangle"), "pairs", [v(&[0.2, 0.5, -0.3, 1.0])];
    design_products: design!("triangle"), "products", [v(&[0.7, 1.5, -0.3, 1.25])];
    design_zero_trip: design!("zero_trip"), "pick", [v(&[1.0, 2.0]), k(1), k(3)];
}

jacobians! {
    more_results_than_parameters: "def f[n](x: [n]f64) -> [n, 3]f64 = build (i < n) { build (j < 3) { sin(x[i] * f64(j)) * x[0] } }", "f", [v(&[0.3, 0.7])];
    more_parameters_than_results: "def f[n, m](x: [n, m]f64, a: f64) -> [n]f64 = build (i < n) { sum (v <- x[i]) { v * v * a } }", "f", [m(2, &[0.3, 0.7, -0.4, 1.0, 0.2, 0.1]), x(0.5)];
    many_results: "def f[n](x: [n]f64, a: f64) -> (f64, i64, [n]f64, f64, [2]f64) = {\n y = build (i < n) { x[i] * a }\n (a * a, 3, y, sum (v <- y) { v }, [1.0, 2.0]) }", "f", [v(&[0.3, 0.7, 0.2]), x(0.4)];
    design_first_half: design!("size_inside"), "firsthalf", [v(&[1.0, 2.0, 0.3, 0.4, 0.5])];
    design_first_half_of_nothing: design!("size_inside"), "firsthalf", [v(&[])];
    two_sizes_that_are_computed: "def f[n](x: [n]f64, a: f64) -> (m: i64, y: [m]f64, k: i64, z: [k, m]f64, c: [k]f64) = {\n m = n / 2\n k = max(n - 2, 0)\n y = build (i < m) { x[i] * x[i] * a }\n z = build (i < k) { build (j < m) { y[j] * x[i] } }\n c = build (i < k) { 2.0 }\n (m, y, k, z, c) }", "f", [v(&[0.3, 0.7, 0.2, 0.5]), x(0.4)];
    an_empty_result: "def f[n](x: [n]f64, a: f64) -> [n]f64 = build (i < n) { x[i] * a }", "f", [v(&[]), x(1.0)];
}

/// The result at a literal size is a matrix known in full.
#[test]
fn a_jacobian_is_the_matrix_of_a_linear_map() {
    let text = "def f(x: [3]f64) -> [2]f64 = [2.0 * x[0] - x[2], 5.0 * x[1]]";
    let mut s = Subject::new(text, "f", &[v(&[0.1, 0.2, 0.3])]);
    let (d, m) = (&mut s.derivatives, &s.mask.clone());
    for mode in MODES {
        let f = compose::jacobian(d, s.func, m, mode, Policy::Default).unwrap();
        let found = Interpreter::new(&d.program).call(f, &s.args, &[], &[]).unwrap().results;
        assert_eq!(found, [Value::matrix(2, 3, vec![2.0, 0.0, -1.0, 0.0, 5.0, 0.0]).unwrap()]);
    }
}

/// f = x₀² x₁ + sin(x₁): H = ((2 x₁, 2 x₀), (2 x₀, -sin x₁)).
#[test]
fn a_hessian_in_closed_form() {
    let text = "def f(x: [2]f64) -> f64 = x[0] * x[0] * x[1] + sin(x[1])";
    let mut s = Subject::new(text, "f", &[v(&[0.6, 0.8])]);
    let h = compose::hessian(&mut s.derivatives, s.func, &s.mask.clone(), Policy::Default).unwrap();
    let found = s.run(s.checked(h), &s.args);
    assert_eq!(found[0].dims(), [2, 2]);
    assert_near(&floats(&found), &[1.6, 1.2, 1.2, -0.8f64.sin()], 1e-15, "Hessian");
}

#[test]
fn masks_pick_blocks() {
    let text = "def f[n](x: [n]f64, a: f64, b: f64) -> f64 = a * b * b * sum (v <- x) { v * v }";
    let args = [v(&[2.0, 3.0]), x(0.5), x(0.25)];
    let mut s = Subject::new(text, "f", &args);
    s.mask = Mask::only(&s.derivatives.program, s.func, &[1, 3]);
    let (d, m) = (&mut s.derivatives, &s.mask.clone());
    let h = compose::hessian(d, s.func, m, Policy::Default).unwrap();
    assert_eq!(d.program.funcs[h].name, "f{x,b}.hessian");
    let found = s.run(s.checked(h), &args);
    let dims: Vec<Vec<usize>> = found.iter().map(Value::dims).collect();
    assert_eq!(dims, [vec![2, 2], vec![2], vec![2], vec![]]);
    assert_near(
        &floats(&found),
        &[0.0625, 0.0, 0.0, 0.0625, 0.5 * 2.0, 0.5 * 3.0, 1.0, 1.5, 13.0],
        1e-15,
        "H",
    );
}

/// Derivatives of f(x, a) = a x³ of order three and four, of compositions of compositions.
#[test]
fn derivatives_of_derivatives_of_derivatives() {
    let text = "def f(x: f64, a: f64) -> f64 = a * x * x * x";
    let mut s = Subject::new(text, "f", &[x(1.5), x(0.5)]);
    let (d, f, m) = (&mut s.derivatives, s.func, &s.mask.clone());
    let policy = Policy::Default;
    let at = [x(1.5), x(0.5)];
    let along = [at.clone(), [x(2.0), x(-1.0)]].concat();

    // H = ((6 a x, 3 x²), (3 x², 0)), so that H v = (6 a x v₀ + 3 x² v₁, 3 x² v₀).
    let product = compose::hessian_product(d, f, m, policy).unwrap();
    let all = Mask::full(&d.program, product);
    let third = compose::jacobian(d, product, &all, JacobianMode::Auto, policy).unwrap();
    let expected = [
        6.0 * 0.5 * 2.0 - 6.0 * 1.5,
        6.0 * 1.5 * 2.0,
        6.0 * 0.5 * 1.5,
        3.0 * 1.5 * 1.5,
        6.0 * 1.5 * 2.0,
        0.0,
        3.0 * 1.5 * 1.5,
        0.0,
    ];
    assert_near(&floats(&s.run(s.checked(third), &along)), &expected, 1e-14, "of H v");

    let d = &mut s.derivatives;
    let hessian = compose::hessian(d, f, m, policy).unwrap();
    let all = Mask::full(&d.program, hessian);
    for mode in MODES {
        let d = &mut s.derivatives;
        let third = compose::jacobian(d, hessian, &all, mode, policy).unwrap();
        let expected = [3.0, 9.0, 9.0, 0.0, 9.0, 0.0, 0.0, 0.0];
        assert_near(&floats(&s.run(s.checked(third), &at)), &expected, 1e-14, "of H");
    }

    // Fourth: the Hessian of vᵀ H v = 6 a x v₀² + 6 x² v₀ v₁ by x and a.
    let d = &mut s.derivatives;
    let twice = compose::second_directional(d, f, m).unwrap();
    let primal = Mask::only(&d.program, twice, &[0, 1]);
    let fourth = compose::hessian(d, twice, &primal, policy).unwrap();
    let expected = [-12.0 * 2.0, 6.0 * 4.0, 6.0 * 4.0, 0.0];
    assert_near(&floats(&s.run(s.checked(fourth), &along)), &expected, 1e-14, "of v H v");
}

/// The Hessian is the Jacobian of the gradient, where the tape has a tangent.
#[test]
fn forward_over_reverse_is_reverse_over_forward() {
    let text = "def f(x: f64, y: [2]f64) -> f64 = exp(x * y[0]) * sin(y[1]) + pow(x, 3.0) * y[1]";
    let mut s = Subject::new(text, "f", &[x(0.6), v(&[0.3, 0.8])]);
    let (d, f, m) = (&mut s.derivatives, s.func, &s.mask.clone());
    let hessian = compose::hessian(d, f, m, Policy::Default).unwrap();
    let gradient = compose::grad(d, f, m, Policy::Default).unwrap();
    let expected = s.run(s.checked(hessian), &s.args);
    for mode in MODES {
        let d = &mut s.derivatives;
        let again = compose::jacobian(d, gradient, m, mode, Policy::Default).unwrap();
        let found = s.run(s.checked(again), &s.args);
        assert_near(&floats(&found), &floats(&expected), 1e-14, "Jacobian of the gradient");
    }
}

#[test]
fn the_gradient_of_one_of_several_results() {
    let text = "def f[n](x: [n]f64, a: f64) -> (f64, [n]f64, f64) = (a * a, build (i < n) { x[i] * a }, a * sum (v <- x) { v * v })";
    let args = [v(&[2.0, 3.0]), x(0.5)];
    let mut s = Subject::new(text, "f", &args);
    let (d, f, m) = (&mut s.derivatives, s.func, &s.mask.clone());
    assert_eq!(compose::grad(d, f, m, Policy::Default).unwrap_err().code, "J802");
    assert_eq!(compose::grad_of(d, f, m, 1, Policy::Default).unwrap_err().code, "J802");
    assert_eq!(compose::grad_of(d, f, m, 3, Policy::Default).unwrap_err().code, "J802");
    let first = compose::grad_of(d, f, m, 0, Policy::Default).unwrap();
    let last = compose::value_and_grad_of(d, f, m, 2, Policy::Default).unwrap();
    assert_eq!(floats(&s.run(s.checked(first), &args)), [0.0, 0.0, 1.0]);
    let expected = [0.25, 1.0, 1.5, 6.5, 2.0, 3.0, 13.0];
    assert_eq!(floats(&s.run(s.checked(last), &args)), expected);
}

/// The matrices of a linear function and its transpose, entry by entry. The capabilities: those that
/// are read first, then those that are added to.
fn transposes(
    text: &str,
    name: &str,
    args: &[Value],
    linear: &[Value],
    rd: &[Value],
    wr: &[Value],
) {
    let mut s = Subject::new(text, name, args);
    let made = compose::transposed(&mut s.derivatives, s.func, Policy::Default).unwrap();
    let again = compose::transposed(&mut s.derivatives, s.func, Policy::Default).unwrap();
    assert_eq!(made, again);
    s.checked(made);
    let interpreter = Interpreter::new(&s.derivatives.program);
    let inputs = [linear, rd].concat();
    let forward = |entries: &[f64]| {
        let mut linear_args = with_floats(&inputs, entries);
        let caps = [linear_args.split_off(linear.len()), wr.to_vec()].concat();
        let outcome = interpreter.call(s.func, args, &linear_args, &caps).unwrap();
        [outcome.linear, outcome.buffers].concat()
    };
    let unit = |count: usize, k: usize| {
        let mut unit = vec![0.0; count];
        unit[k] = 1.0;
        unit
    };
    let width = floats(&inputs).len();
    let columns: Vec<Vec<f64>> = (0..width).map(|k| floats(&forward(&unit(width, k)))).collect();
    let outputs = forward(&vec![0.0; width]);
    let height = floats(&outputs).len();
    for j in 0..height {
        let seeds = with_floats(&outputs, &unit(height, j));
        let back = s.run(made, &[args.to_vec(), seeds].concat());
        let row: Vec<f64> = columns.iter().map(|c| c[j]).collect();
        assert_eq!(floats(&back), row, "row {j}");
    }
}

#[test]
fn linear_functions_are_transposed() {
    transposes(
        "core def f(n: i64, x: [n]f64; dx': [n]f64) -> (; [n]f64, f64) = {
            (; a', b') = dup dx'; c' = a' + b'; d' = -c'; (; d1', d2') = dup d'; e' = 2.0 * d1'
            s' = rd r = d2' { t' = wr w: f64 { scan par (i < n) { q' = rd r[i]; u = x[i]; v' = u * q'; w += v' } }; (; t') }
            (; e', s') }",
        "f",
        &[k(2), v(&[0.5, 0.75])],
        &[v(&[0.0, 0.0])],
        &[],
        &[],
    );
    transposes(
        "core def f(x: f64; t': #(f64, [3]f64)) -> (; #(f64, [3]f64)) = {
            (; a', b') = dup t'; c' = x * a'; z' = zero #(f64, [3]f64); d' = c' + z'; e' = d' + b'; g' = -e'; (; g') }",
        "f",
        &[x(0.5)],
        &[Value::tuple(vec![x(0.5), v(&[0.1, 0.2, 0.3])])],
        &[],
        &[],
    );
}

#[test]
fn what_a_linear_function_reads_and_adds_to_is_transposed() {
    transposes(
        "core def f(n: i64, c: f64; u': [n]f64; rd r: [n]f64, rd s: f64, wr w: [n]f64) -> (; [n]f64) = {
            rd q = u' { scan par (i < n) { a' = rd q[i]; b' = rd r[i]; d' = rd s; e' = a' + b'; g' = e' + d'; h' = c * g'; w[i] += h' } }
            z' = scan par (i < n) { b' = rd r[i]; (; b') }
            (; z') }",
        "f",
        &[k(3), x(0.5)],
        &[v(&[0.0; 3])],
        &[v(&[0.0; 3]), x(0.0)],
        &[v(&[0.0; 3])],
    );
}

/// All partial derivatives of 200 numbers by 200 would be 40000 arrays of one; in an array they are one.
#[test]
fn what_would_be_too_many_blocks_is_refused() {
    let numbers = |count: usize| {
        let types = vec!["f64"; count].join(", ");
        format!("def f(p: #({types})) -> f64 = p.0 * p.{}", count - 1)
    };
    for (count, code) in [(200, Some("J805")), (20, None)] {
        let mut s = Subject::new(&numbers(count), "f", &[]);
        let mask = Mask::full(&s.derivatives.program, s.func);
        let made = compose::hessian(&mut s.derivatives, s.func, &mask, Policy::Default);
        assert_eq!(made.err().map(|error| error.code), code);
        let (mode, policy) = (JacobianMode::Auto, Policy::Default);
        assert!(compose::jacobian(&mut s.derivatives, s.func, &mask, mode, policy).is_ok());
    }
}

#[test]
fn what_has_no_meaning_is_refused() {
    let text = "def f(x: f64, k: i64) -> f64 = x * f64(k)
def h(x: f64) -> #(f64, f64) = #(x, x)
core def a(x: f64; ; acc s: f64) -> (f64) = { s += x; x }";
    let mut s = Subject::new(text, "f", &[]);
    let d = &mut s.derivatives;
    let policy = Policy::Default;
    let (mode, none) = (JacobianMode::Auto, Mask::only(&d.program, s.func, &[1]));
    assert_eq!(compose::hessian(d, s.func, &none, policy).unwrap_err().code, "J804");
    assert_eq!(compose::jacobian(d, s.func, &none, mode, policy).unwrap_err().code, "J804");
    assert_eq!(compose::linearize(d, s.func, &none, policy).unwrap_err().code, "J804");
    assert_eq!(compose::second_directional(d, s.func, &none).unwrap_err().code, "J804");
    assert_eq!(compose::transposed(d, s.func, policy).unwrap_err().code, "J801");
    for (name, code) in [("h", "J802"), ("a", "J803")] {
        let f = d.program.find_func(name).unwrap();
        let mask = Mask::full(&d.program, f);
        assert_eq!(compose::hessian(d, f, &mask, policy).unwrap_err().code, code);
        let refused = compose::jacobian(d, f, &mask, mode, policy).err().map(|error| error.code);
        assert_eq!(refused, (name == "a").then_some("J803"));
    }
    let a = d.program.find_func("a").unwrap();
    assert_eq!(compose::transposed(d, a, policy).unwrap_err().code, "J803");
}

/// Work of a Jacobian: the non-linear half is run once, the linear half once per direction.
#[test]
fn a_jacobian_runs_the_function_once() {
    let text = "def f[n](x: [n]f64) -> [n]f64 = { s = sum (v <- x) { exp(sin(v)) }\n build (i < n) { s * x[i] } }";
    let mut s = Subject::new(text, "f", &[]);
    let (d, m) = (&mut s.derivatives, &s.mask.clone());
    let f = s.func;
    for mode in [JacobianMode::Forward, JacobianMode::Reverse] {
        let jacobian = compose::jacobian(d, f, m, mode, Policy::Default).unwrap();
        let body = print_program(&jut_opt::optimise(&d.program, jacobian, true));
        assert_eq!(body.matches("exp(").count(), 1, "{body}");
        let work = |n: usize| {
            let args = [k(n as i64), v(&vec![0.5; n])];
            let outcome = Interpreter::new(&d.program).call(jacobian, &args, &[], &[]).unwrap();
            outcome.counters.w() as f64
        };
        // n products with a vector of n numbers.
        let growth = work(80) / work(40);
        assert!((3.5..4.1).contains(&growth), "{mode:?}: {growth}");
    }
}

/// What a function with linear parameters computes is bilinear in both kinds of them.
#[test]
fn linear_parameters_are_differentiated_too() {
    let text = "core def f(x: f64; y': f64) -> (; f64) = { z' = x * y'; (; z') }";
    let mut s = Subject::new(text, "f", &[]);
    let (d, f, m) = (&mut s.derivatives, s.func, &s.mask.clone());
    let policy = Policy::Default;
    let hessian = compose::hessian(d, f, m, policy).unwrap();
    let product = compose::hessian_product(d, f, m, policy).unwrap();
    let twice = compose::second_directional(d, f, m).unwrap();
    let jacobian = compose::jacobian(d, f, m, JacobianMode::Auto, policy).unwrap();
    let made = compose::linearize(d, f, m, policy).unwrap();
    let at = [x(3.0), x(5.0)];
    let along = [at.clone(), [x(2.0), x(7.0)]].concat();
    assert_eq!(floats(&s.run(s.checked(hessian), &at)), [0.0, 1.0, 1.0, 0.0]);
    assert_eq!(floats(&s.run(s.checked(product), &along)), [7.0, 2.0]);
    assert_eq!(floats(&s.run(s.checked(twice), &along)), [28.0]);
    assert_eq!(floats(&s.run(s.checked(jacobian), &at)), [5.0, 3.0]);
    assert_eq!(floats(&s.run(s.checked(made.primal.func), &at))[0], 15.0);
}

/// Every product fails with the error of the function.
#[test]
fn products_fail_where_the_function_fails() {
    let args = [v(&[1.0, 2.0, 3.0]), Value::ints(vec![2, 0, 3])];
    let mut s = Subject::new(design!("gather"), "gather", &args);
    let (d, f, m) = (&mut s.derivatives, s.func, &s.mask.clone());
    let policy = Policy::Default;
    let at = [k(3), k(3), args[0].clone(), args[1].clone()];
    let expected = Interpreter::new(&d.program).call(f, &at, &[], &[]).unwrap_err();
    assert!(expected.runtime().is_some());
    let made = compose::linearize(d, f, m, policy).unwrap();
    let mut all = vec![(made.primal.func, false)];
    for mode in MODES {
        all.push((compose::jacobian(d, f, m, mode, policy).unwrap(), false));
    }
    all.push((compose::hessian(d, f, m, policy).unwrap(), false));
    all.push((compose::hessian_product(d, f, m, policy).unwrap(), true));
    all.push((compose::second_directional(d, f, m).unwrap(), true));
    for (func, along) in all {
        s.checked(func);
        let program = &s.derivatives.program;
        let mut at = at.to_vec();
        at.extend(along.then(|| args[0].clone()));
        for program in [program, &jut_opt::optimise(program, func, true)] {
            let error = Interpreter::new(program).call(func, &at, &[], &[]).unwrap_err();
            assert_eq!(error, expected, "{}", program.funcs[func].name);
        }
    }
}

/// A function of a sum of so many constructors with one float each.
fn of_sum(constructors: usize) -> Derivatives {
    let names: Vec<String> = (0..constructors).map(|k| format!("A{k}(x: f64)")).collect();
    let arms: String = (0..constructors).map(|k| format!("  A{k}(x) -> x * x\n")).collect();
    let data = names.join(" | ");
    let text = format!(
        "data S = {data}\ndef f(s: S, z: f64) -> f64 = z * case s {{\n{arms}}}\n\
         def g(x: f64) -> f64 = f(A7(x), x)\n"
    );
    let loaded = jut_text::load(&text, 0);
    Derivatives::new(loaded.program.unwrap_or_else(|| panic!("{}", loaded.diagnostics[0])))
}

#[test]
fn a_sum_of_many_constructors_is_differentiated_or_refused_at_once() {
    for (constructors, accepted) in [(256, true), (257, false), (2_000, false)] {
        let mut d = of_sum(constructors);
        for name in ["f", "g"] {
            let f = d.program.find_func(name).expect("defined");
            let mask = Mask::full(&d.program, f);
            let made = compose::value_and_grad(&mut d, f, &mask, Policy::Default);
            let code = made.err().map(|e| e.code);
            assert_eq!(code, (!accepted).then_some("J806"), "{constructors} {name}");
        }
    }
    // Without floats there may be as many as one likes.
    let names: Vec<String> = (0..2_000).map(|k| format!("A{k}")).collect();
    let arms: String = (0..2_000).map(|k| format!("  A{k} -> {k}.0 * z\n")).collect();
    let data = names.join(" | ");
    let text = format!("data S = {data}\ndef f(s: S, z: f64) -> f64 = case s {{\n{arms}}}\n");
    let loaded = jut_text::load(&text, 0);
    let mut d = Derivatives::new(loaded.program.expect("no errors"));
    let f = d.program.find_func("f").expect("defined");
    let mask = Mask::full(&d.program, f);
    assert!(compose::value_and_grad(&mut d, f, &mask, Policy::Default).is_ok());
}
