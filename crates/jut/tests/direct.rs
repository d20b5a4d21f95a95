//! Typed calls: the first goes by values and finds the sizes, those behind it go by words where their arguments fit. Nobody
//! can tell which way a call went.

#![cfg(feature = "macros")]

use jut::Error;

#[jut::differentiable]
fn ratio(x: &[f64], a: f64) -> f64 {
    assert!(a != 0.0, "a is zero");
    let mut s = 0.0;
    for v in x {
        s += v * v;
    }
    s / a
}

#[test]
fn lengths_change_from_call_to_call() {
    for x in [&[1.0, 2.0][..], &[3.0], &[3.0], &[], &[1.0, 2.0, 3.0], &[1.0, 2.0, 3.0]] {
        let (value, (dx, da)) = ratio::value_and_gradient(x, 2.0).unwrap();
        assert_eq!(value, ratio(x, 2.0));
        assert_eq!(dx, x.to_vec());
        assert_eq!(da, -value / 2.0);
    }
}

#[test]
fn a_call_by_words_fails_where_one_by_values_does() {
    let fail = || match ratio::gradient(&[1.0, 2.0], 0.0) {
        Err(Error::Run(error)) => error.to_string(),
        other => panic!("{other:?}"),
    };
    let first = fail();
    assert!(first.contains("direct.rs:10:5") && first.contains("a is zero"), "{first}");
    assert_eq!(ratio::gradient(&[1.0, 2.0], 1.0).unwrap().0, [2.0, 4.0]);
    assert_eq!(fail(), first);
    assert_eq!(ratio::gradient(&[1.0, 2.0], 1.0).unwrap().0, [2.0, 4.0]);
}

#[jut::differentiable]
fn row(x: &[[f64; 2]], k: usize) -> f64 {
    x[k][0] * x[k][1]
}

#[test]
fn integers_are_words_if_they_fit() {
    let x = [[1.0, 2.0], [3.0, 4.0]];
    for k in [0, 1, 1] {
        let mut d = vec![[0.0; 2]; 2];
        d[k] = [x[k][1], x[k][0]];
        assert_eq!(row::value_and_gradient(&x, k).unwrap(), (row(&x, k), d));
    }
    for k in [2, usize::MAX] {
        assert!(row::gradient(&x, k).is_err());
    }
    assert_eq!(row::value(&x, usize::MAX).unwrap_err().code(), Some("A02"));
    assert_eq!(row::gradient(&x, 0).unwrap(), [[2.0, 1.0], [0.0, 0.0]]);
}

#[jut::differentiable]
fn count(x: &[[f64; 0]], y: f64) -> f64 {
    x.len() as f64 * y
}

#[test]
fn arrays_without_elements_are_counted() {
    for n in [3, 5, 5, 0] {
        assert_eq!(count::gradient(&vec![[]; n], 2.0).unwrap().1, n as f64);
    }
}

#[derive(jut::Data, Clone, Debug, PartialEq)]
struct Layer {
    weights: [[f64; 2]; 2],
    bias: Vec<f64>,
    scale: f64,
}

#[derive(jut::Data, Clone, Debug, PartialEq)]
struct Net {
    first: Layer,
    steps: usize,
}

#[jut::differentiable]
fn energy(net: &Net, x: &[f64; 2]) -> f64 {
    let mut s = 0.0;
    for k in 0..net.steps {
        for i in 0..2 {
            s += net.first.weights[i][0] * x[0] * net.first.scale + net.first.bias[k] * x[i];
        }
    }
    s
}

#[test]
fn structs_are_given_field_by_field() {
    let layer = |n: usize| Layer {
        weights: [[1.0, 2.0], [3.0, 4.0]],
        bias: (0..n).map(|k| k as f64).collect(),
        scale: 0.5,
    };
    for n in [2, 2, 3, 3, 1] {
        let net = Net { first: layer(n), steps: n };
        let (value, (d_net, d_x)) = energy::value_and_gradient(&net, &[1.0, -1.0]).unwrap();
        assert_eq!(value, energy(&net, &[1.0, -1.0]));
        assert_eq!(d_net.first.bias, vec![0.0; n]);
        assert_eq!(d_net.first.scale, 4.0 * n as f64);
        assert_eq!(d_net.first.weights, [[0.5 * n as f64, 0.0]; 2]);
        let bias: f64 = net.first.bias.iter().sum();
        assert_eq!(d_x, [2.0 * n as f64 + bias, bias]);
    }
}

#[jut::differentiable]
fn through_a_call<const N: usize>(x: &[f64; N], y: (f64, f64)) -> f64 {
    ratio(x, y.0) + y.1
}

#[test]
fn calls_within_threads_have_sessions_of_their_own() {
    std::thread::scope(|scope| {
        for t in 1..4 {
            scope.spawn(move || {
                let a = f64::from(t);
                let value = through_a_call::value(&[a, 2.0], (a, 1.0)).unwrap();
                assert_eq!(value, through_a_call(&[a, 2.0], (a, 1.0)));
                for _ in 0..100 {
                    let (dx, (da, db)) = through_a_call::gradient(&[a, 2.0], (a, 1.0)).unwrap();
                    assert_eq!((dx, db), ([2.0, 4.0 / a], 1.0));
                    let exact = -(a * a + 4.0) / (a * a);
                    assert!((da - exact).abs() <= 4.0 * f64::EPSILON * exact.abs(), "{da} {exact}");
                }
            });
        }
    });
}
