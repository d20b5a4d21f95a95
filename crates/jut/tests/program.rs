//! `jut::program!`: programs of the language as typed functions, from a file and from text in Rust.

use jut::Array;

mod model {
    jut::program!("program/model.jut");
}

/// The same file once more, in another module.
mod again {
    jut::program!("program/model.jut",);
}

mod inline {
    jut::program! {
        /// A point and a mark.
        data Point = Point(x: f64, y: f64, tag: i64)
        data Pair = Pair(from: Point, to: Point)
        data Step = Step(scale: f64, by: [2]f64)
        data Shape = Round(r: f64) | Flat

        /// The distance of two points, a little off.
        def distance(p: Pair) -> f64 =
          sqrt((p.from.x - p.to.x)^2 + (p.from.y - p.to.y)^2 + 1e-3) * f64(p.from.tag)

        def moved(p: Point, s: Step) -> Point =
          Point(p.x * s.scale + s.by[0], p.y * s.scale + s.by[1], p.tag + 1)

        // A comment, with x' in it.
        def centre[n](points: [n]Point) -> (x: f64, y: f64) =
          (sum (p <- points) { p.x }, sum (p <- points) { p.y })

        def product[n, m](a: [n, m]f64, x: [m]f64) -> [n]f64 = matvec(a, x)
        def rows[n](a: [n, 3]f64) -> [n, 3]f64 = build (i < n, j < 3) { a[i, j] * f64(j + 1) }
        def total[n, m](a: [n, m]f64, keep: [n, m]bool) -> f64 =
          sum (i < n, j < m) { select(keep[i, j], exp(a[i, j]), 0.0) }
        def cubes[n](x: [n]f64) -> f64 = sum (v <- x) { v^3 }
        def evens[n](x: [n]f64, k: [n]i64) -> (m: i64, y: [m]f64, i: [n]i64) = {
          m = n / 2
          y = build (i < m) { x[2 * i] * f64(k[i]) }
          (m, y, k)
        }
        def both(p: #(f64, f64)) -> #(f64, i64) = #(p.0 * p.1, 7)
        def type(match: f64, flag: bool) -> f64 = if flag { match * match } else { 0.0 }
        def squares[n](x: [n]f32) -> f32 = sum (v <- x) { v * v }
        def power[n](x: [n]f64, k: [n]i32, least: i32) -> (y: f64, most: i32, k: [n]i32) = {
          y = sum (v <- x, p <- k) { select(p >= least, f64(p) * v * v, 0.0) }
          (y, max (p <- k) { p }, map (p <- k) { p + 1i32 })
        }
        def picked[n](x: [n]f64, rows: [n, 2]i32, table: [2, 2]i32, grid: [n, n]i32) -> (y: f64, pair: #(f64, i32), grid: [n, n]i32) = {
          y = sum (i < n) { x[i] * f64(rows[i, 0] + rows[i, 1] * table[1, 0] + grid[i, i]) }
          (y, #(y, table[0, 1]), grid)
        }
        data Site = Site(x: f64, charge: i32, hops: [2]i32)
        data Lattice = Lattice(first: Site, scale: f64, steps: i32)
        def charged[n](sites: [n]Site, least: i32) -> f64 =
          sum (s <- sites) { select(s.charge >= least, f64(s.charge + s.hops[1]) * s.x * s.x, 0.0) }
        def shifted(l: Lattice, by: i32) -> Lattice =
          Lattice(Site(l.first.x * l.scale, l.first.charge + by, [l.first.hops[1], by]), l.scale * f64(l.steps), l.steps - 1i32)
        def counted(s: Site) -> #(i32, f64) = #(s.charge, s.x)
        def short[n](x: [n]f32, k: f32) -> f32 = k * sum (v <- x) { v * v }
        def area(s: Shape) -> f64 = case s { Round(r) -> 3.0 * r * r; Flat -> 0.0 }
        def positive(x: f64) -> f64 = {
          assert x > 0.0, "x is positive"
          log(x)
        }
    }
}

#[test]
fn a_file_is_typed_functions() {
    let (w, x, y) = ([2.0, 1.0], [0.0, 1.0, 2.0], [1.0, 2.0, 6.0]);
    let (value, (by_w, by_x, by_y)) = model::loss::value_and_gradient(&w, &x, &y).unwrap();
    assert_eq!(value, 2.0 / 3.0);
    assert_eq!(model::loss::value(&w, &x, &y).unwrap(), value);
    assert_eq!(model::loss::gradient(&w, &x, &y).unwrap(), (by_w, by_x.clone(), by_y.clone()));
    let (mut into_w, mut into_x, mut into_y) = ([0.0; 2], [0.0; 3], Vec::new());
    let into =
        model::loss::gradient_into(&w, &x, &y, &mut into_w, &mut into_x[..], &mut into_y).unwrap();
    assert_eq!((into, into_w, &into_x[..], &into_y), (value, by_w, &by_x[..], &by_y));
    // Residuals 0, 1, -1.
    assert_eq!(by_w, [-2.0 / 3.0, 0.0]);
    assert_eq!((by_x.len(), by_y[1]), (3, -2.0 / 3.0));
    let (_, tangent) = model::loss::jvp(&w, &x, &y, &[1.0, 0.0], &[0.0; 3], &[0.0; 3]).unwrap();
    assert_eq!(tangent, by_w[0]);
    let (_, (scaled, ..)) = model::loss::vjp(&w, &x, &y, &3.0).unwrap();
    assert_eq!(scaled[0], 3.0 * by_w[0]);
    let (seconds, ..) = model::loss::hvp(&w, &x, &y, &[1.0, 0.0], &[0.0; 3], &[0.0; 3]).unwrap();
    assert!((seconds[0] - 10.0 / 3.0).abs() < 1e-12 && (seconds[1] - 2.0).abs() < 1e-12);
    assert_eq!(again::loss::gradient(&w, &x, &y).unwrap().0, by_w);
    assert!(model::loss::text().unwrap().starts_with("use lib.shared"));
    assert_eq!(model::loss::function().unwrap().doc(), "Mean squared error of a line.");
    // The same bits as the program that is read at run time.
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/program/model.jut");
    let read = jut::Model::from_file(path).unwrap().function("loss").unwrap();
    let results = read.value().unwrap().call(&[(&w).into(), (&x).into(), (&y).into()]).unwrap();
    assert_eq!(results[0], jut::Value::F64(value));
}

#[test]
fn a_failing_run_has_its_place() {
    let error = model::at::gradient(&[1.0, 2.0], 2).unwrap_err().to_string();
    assert!(error.contains("R01") && error.contains("model.jut:8:39"), "{error}");
    let error = inline::positive::gradient(-1.0).unwrap_err().to_string();
    let lines = include_str!("program.rs").lines();
    let line = 1 + lines.take_while(|l| !l.contains("assert x > 0.0")).count();
    assert!(error.contains("R12: x is positive"), "{error}");
    assert!(error.contains(&format!("program.rs:{line}:11")), "{error}");
}

#[test]
fn records_are_structs() {
    use inline::{Pair, Point, PointGrad, Step, distance, moved};
    let point = |x, y| Point { x, y, tag: 2 };
    let pair = Pair { from: point(3.0, 0.0), to: point(0.0, 4.0) };
    let (value, by) = distance::value_and_gradient(&pair).unwrap();
    let length = (25.0_f64 + 1e-3).sqrt();
    assert_eq!(value, 2.0 * length);
    assert_eq!(by.to, PointGrad { x: 2.0 * (-3.0 / length), y: 2.0 * (4.0 / length) });
    let step = Step { scale: 2.0, by: [0.5, 0.25] };
    let there = moved::value(&point(1.0, 2.0), &step).unwrap();
    assert_eq!(there, Point { x: 2.5, y: 4.25, tag: 3 });
    let cotangent = PointGrad { x: 1.0, y: 10.0 };
    let (_, (by_point, by_step)) = moved::vjp(&point(1.0, 2.0), &step, &cotangent).unwrap();
    assert_eq!(by_point, PointGrad { x: 2.0, y: 20.0 });
    assert_eq!(by_step, Step { scale: 21.0, by: [1.0, 10.0] });
    let points = [point(1.0, 2.0), point(3.0, 4.0)];
    assert_eq!(inline::centre::value(&points).unwrap(), (4.0, 6.0));
    let (_, by) = inline::centre::vjp(&points, &(1.0, 2.0)).unwrap();
    assert_eq!(by, vec![PointGrad { x: 1.0, y: 2.0 }; 2]);
}

#[test]
fn records_have_integers_of_32_bits() {
    use inline::{Lattice, LatticeGrad, Site, SiteGrad, charged, counted, shifted};
    let site = |x, charge| Site { x, charge, hops: [3, -charge] };
    let sites = [site(1.5, 2), site(-2.0, 5), site(4.0, -7)];
    for _ in 0..3 {
        // 2 and 5, each less its own.
        let (value, by) = charged::value_and_gradient(&sites, 2).unwrap();
        assert_eq!((value, by), (0.0, vec![SiteGrad { x: 0.0 }; 3]));
        let lattice = Lattice { first: site(1.5, 2), scale: 2.0, steps: 3 };
        let there = shifted::value(&lattice, 4).unwrap();
        let first = Site { x: 3.0, charge: 6, hops: [-2, 4] };
        assert_eq!(there, Lattice { first, scale: 6.0, steps: 2 });
        let cotangent = LatticeGrad { first: SiteGrad { x: 1.0 }, scale: 10.0 };
        let (_, by) = shifted::vjp(&lattice, 4, &cotangent).unwrap();
        assert_eq!(by, LatticeGrad { first: SiteGrad { x: 2.0 }, scale: 31.5 });
        assert_eq!(counted::value(&sites[2]).unwrap(), (-7, 4.0));
    }
    let wide = [Site { x: 2.0, charge: 5, hops: [0, 1] }, Site { x: 3.0, charge: 1, hops: [0, 1] }];
    let (value, by) = charged::value_and_gradient(&wide, 2).unwrap();
    assert_eq!((value, by), (24.0, vec![SiteGrad { x: 24.0 }, SiteGrad { x: 0.0 }]));
}

#[test]
fn arrays_of_every_shape() {
    let a = Array { shape: vec![2, 3], data: vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0] };
    assert_eq!(inline::product::value(&a, &[1.0, 0.0, 2.0]).unwrap(), [7.0, 16.0]);
    let (_, (by_a, by_x)) = inline::product::vjp(&a, &[1.0, 0.0, 2.0], &vec![1.0, 1.0]).unwrap();
    assert_eq!((by_a.shape, by_a.data), (vec![2, 3], vec![1.0, 0.0, 2.0, 1.0, 0.0, 2.0]));
    assert_eq!(by_x, [5.0, 7.0, 9.0]);
    let rows = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]];
    assert_eq!(inline::rows::value(&rows).unwrap(), [[1.0, 4.0, 9.0], [4.0, 10.0, 18.0]]);
    let keep = Array { shape: vec![2, 3], data: vec![false, true, false, false, false, true] };
    let (value, by) = inline::total::value_and_gradient(&a, &keep).unwrap();
    assert_eq!((by.data[0], by.data[1] + by.data[5]), (0.0, value));
    let second = inline::cubes::hessian(&[1.0, 2.0]).unwrap();
    assert_eq!((second.shape, second.data), (vec![2, 2], vec![6.0, 0.0, 0.0, 12.0]));
    let (m, y, k) = inline::evens::value(&[1.0, 2.0, 3.0, 4.0], &[1, 2, 3, 4]).unwrap();
    assert_eq!((m, y, k), (2, vec![1.0, 6.0], vec![1, 2, 3, 4]));
    let wrong = Array { shape: vec![1; 5], data: vec![0.0] };
    let error = inline::product::value(&wrong, &[1.0]).unwrap_err();
    assert_eq!(error.code(), Some("A03"));
    let short = Array { shape: vec![2, 3], data: vec![0.0] };
    assert_eq!(inline::product::value(&short, &[1.0; 3]).unwrap_err().code(), Some("A03"));
}

#[test]
fn names_and_tuples() {
    assert_eq!(inline::r#type::gradient(3.0, true).unwrap(), 6.0);
    assert_eq!(inline::both::value((2.0, 3.0)).unwrap(), (6.0, 7));
    let (_, tangent) = inline::both::jvp((2.0, 3.0), (1.0, 10.0)).unwrap();
    assert_eq!(tangent, (23.0,));
    // A sum is no type of Rust here: the function is there, the typed ones are not.
    let area = inline::area::function().unwrap().gradient().unwrap();
    assert_eq!(area.inputs().count(), 1);
}

#[test]
fn numbers_of_32_bits() {
    let (value, (by_x, by_k)) = inline::short::value_and_gradient(&[1.5, -2.0], 0.1).unwrap();
    let k: f32 = 0.1;
    assert_eq!(value, k * 6.25);
    assert_eq!((by_x, by_k), (vec![2.0 * k * 1.5, -2.0 * k * 2.0], 6.25));
    let (x, k) = ([1.0, 2.0, 3.0], [3, -1, 5]);
    for least in [2, 4, -5] {
        let ((y, most, next), by) = inline::power::vjp(&x, &k, least, &1.0).unwrap();
        let is = |j: usize| if k[j] >= least { f64::from(k[j]) } else { 0.0 };
        assert_eq!(y, is(0) + 4.0 * is(1) + 9.0 * is(2));
        assert_eq!(
            (most, next, by),
            (5, vec![4, 0, 6], vec![2.0 * is(0), 4.0 * is(1), 6.0 * is(2)])
        );
    }
    let grid = Array { shape: vec![2, 2], data: vec![1, 2, 3, 4] };
    for _ in 0..2 {
        let (y, pair, same) =
            inline::picked::value(&[1.0, 10.0], &[[1, 2], [3, 4]], &[[5, 6], [7, 8]], &grid)
                .unwrap();
        assert_eq!((y, pair), (16.0 + 350.0, (366.0, 6)));
        assert_eq!((same.shape, same.data), (vec![2, 2], vec![1, 2, 3, 4]));
    }
    let second: jut::Array<f32> = inline::squares::hessian(&[1.0, 2.0]).unwrap();
    assert_eq!(second.data, [2.0, 0.0, 0.0, 2.0]);
}
