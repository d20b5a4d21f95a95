//! What panics in Rust is an error with the place in this file.

use jut::differentiable;
use std::panic::catch_unwind;

#[differentiable]
fn last(x: &[f64]) -> f64 {
    x[x.len() - 1]
}

#[differentiable]
fn up_to_last(x: &[f64]) -> f64 {
    let mut s = 0.0;
    for i in 0..x.len() - 1 {
        s += x[i];
    }
    s
}

#[differentiable]
fn quotient(a: i64, b: i64) -> i64 {
    a / b + a % b
}

#[differentiable]
fn element(x: &[f64], i: usize) -> f64 {
    x[i]
}

#[differentiable]
fn part(x: &[f64], a: usize, b: usize) -> usize {
    x[a..b].len()
}

#[differentiable]
fn to_index(x: f64, n: i64) -> usize {
    let k = x as usize;
    k + n as usize
}

#[differentiable]
fn small(n: i32, m: i32) -> i32 {
    n * m + (n - m)
}

#[differentiable]
fn checked(x: f64, k: usize) -> f64 {
    assert!(x < 10.0);
    assert_ne!(k, 3, "three is not allowed");
    if k > 5 {
        panic!("too many");
    }
    let y = if x > 0.0 { x.sqrt() } else { unreachable!() };
    debug_assert!(y < 3.0, "large in debug builds");
    y.clamp(1.0 - x, 1.0)
}

/// Both fail, or both give the same.
fn alike<T: PartialEq + std::fmt::Debug>(
    plain: impl FnOnce() -> T + std::panic::UnwindSafe,
    compiled: jut::Result<T>,
    code: &str,
) {
    match (catch_unwind(plain), compiled) {
        (Ok(a), Ok(b)) => assert_eq!(a, b),
        (Err(_), Err(e)) => {
            assert_eq!(e.code(), Some(code), "{e}");
            let file = file!();
            assert!(e.to_string().contains(&format!(" at {file}:")), "{e}");
        }
        (a, b) => panic!("{:?} and {b:?}", a.ok()),
    }
}

#[test]
fn what_panics_is_an_error_and_nothing_else() {
    // Panics are expected here; their messages are not.
    std::panic::set_hook(Box::new(|_| {}));
    for x in [&[][..], &[1.0][..], &[1.0, 2.0][..]] {
        alike(move || last(x), last::value(x), "R11");
        alike(move || up_to_last(x), up_to_last::value(x), "R11");
        for i in 0..3 {
            alike(move || element(x, i), element::value(x, i), "R01");
            for j in 0..4 {
                alike(move || part(x, i, j), part::value(x, i, j), "R02");
            }
        }
    }
    for (a, b) in [(7, 2), (-7, 2), (7, 0), (i64::MIN, 3)] {
        alike(move || quotient(a, b), quotient::value(a, b), "R05");
    }
    alike(|| quotient(i64::MIN, -1), quotient::value(i64::MIN, -1), "R11");
    for (n, m) in [(3, 4), (70_000, 70_000), (i32::MIN, 1)] {
        alike(move || small(n, m), small::value(n, m), "R11");
    }
    for x in [-1.0, 0.5, 4.0, 9.5, 11.0] {
        for k in [0, 3, 6] {
            alike(move || checked(x, k), checked::value(x, k), "R12");
        }
    }
    assert_eq!(to_index::value(3.9, 2).unwrap(), to_index(3.9, 2));
    assert_eq!(to_index::value(f64::NAN, 2).unwrap(), to_index(f64::NAN, 2));
    assert_eq!(to_index::value(-5.0, 2).unwrap(), to_index(-5.0, 2));
    // What Rust can say and an i64 cannot is an error.
    assert_eq!(to_index::value(1e19, 2).unwrap_err().code(), Some("R11"));
    assert_eq!(to_index::value(1.0, -1).unwrap_err().code(), Some("R11"));
    assert_eq!(element::value(&[1.0], usize::MAX).unwrap_err().code(), Some("A02"));
}

#[test]
fn an_error_has_its_place_and_its_words() {
    let line = line!() - 92;
    let error = last::gradient(&[]).unwrap_err();
    let jut::Error::Run(run) = &error else { panic!("{error}") };
    let place = run.rust_place().unwrap();
    assert_eq!((place.file, place.column), (file!(), 7));
    assert!(place.line < line, "{}", place.line);
    let text = format!("R11: attempt to subtract with overflow at {}:{}:7", file!(), place.line);
    assert_eq!(error.to_string(), text);
    let error = checked::value(1.0, 3).unwrap_err();
    assert!(error.to_string().starts_with("R12: three is not allowed at "), "{error}");
    let error = checked::value(11.0, 0).unwrap_err();
    assert!(error.to_string().starts_with("R12: assertion failed: x < 10.0 at "), "{error}");
    let error = element::value(&[1.0], 4).unwrap_err();
    assert!(
        error.to_string().starts_with("R01: index 4 is out of range for length 1 at "),
        "{error}"
    );
    assert!(error.render(false).contains("in Rust: "), "{}", error.render(false));
}
