use super::*;

type One = fn(f64) -> f64;

struct Row {
    name: &'static str,
    /// The result, and whether it counts.
    core: fn(f64) -> (f64, bool),
    each: One,
    many: fn(&[f64], &mut [f64]),
    in_place: fn(&mut [f64]),
    /// The function of `libm` whose formulas these are, if there is one.
    libm: Option<One>,
    /// How many floats may lie between both.
    far: u64,
}

macro_rules! rows {
    ($($name:ident $libm:expr, $far:literal;)*) => {
        const ALL: &[Row] = &[$(Row {
            name: stringify!($name),
            core: $name,
            each: each::$name,
            many: many::<functions::$name>,
            in_place: in_place::<functions::$name>,
            libm: $libm,
            far: $far,
        }),*];
    };
}

rows! {
    exp Some(libm::exp), 1;
    exp2 Some(libm::exp2), 1;
    expm1 Some(libm::expm1), 1;
    log Some(libm::log), 1;
    log1p Some(libm::log1p), 1;
    log2 Some(libm::log2), 1;
    log10 Some(libm::log10), 1;
    sin Some(libm::sin), 1;
    cos Some(libm::cos), 1;
    tan Some(libm::tan), 1;
    asin Some(libm::asin), 1;
    acos Some(libm::acos), 1;
    atan Some(libm::atan), 1;
    sinh Some(libm::sinh), 2;
    cosh Some(libm::cosh), 1;
    tanh Some(libm::tanh), 3;
    asinh Some(libm::asinh), 2;
    acosh Some(libm::acosh), 2;
    atanh Some(libm::atanh), 1;
    cbrt Some(libm::cbrt), 1;
    erf Some(libm::erf), 1;
    // Which are themselves up to 2.4 units off.
    erfc Some(libm::erfc), 3;
    lgamma Some(libm::lgamma), 2;
    digamma None, 0;
    sigmoid None, 0;
    sigmoid_slope None, 0;
    softplus None, 0;
    gaussian None, 0;
}

/// Arguments where something ends: what is a float, what is usual for one of the functions, and the ranges
/// of its formulas.
const EDGES: &[f64] = &[
    0.0,
    -0.0,
    1.0,
    -1.0,
    f64::NAN,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::MAX,
    f64::MIN,
    f64::MIN_POSITIVE,
    5e-324,
    -5e-324,
    1e-310,
    708.0,
    -708.5,
    709.0,
    709.9,
    711.0,
    -700.0,
    -745.2,
    core::f64::consts::PI,
    core::f64::consts::FRAC_PI_2,
    core::f64::consts::FRAC_PI_4,
    0.785,
    0.6744,
    1e5,
    1e22,
    1e-8,
    -1e-17,
    // exp2 is exact.
    -1022.0,
    1021.0,
    1024.0,
    -1075.0,
    3.0,
    // expm1 and sinh.
    0.34657359027997264,
    0.4431471805599453,
    -38.9,
    // asin, acos, atan.
    0.5,
    -0.5,
    0.975,
    0.4375,
    0.6875,
    1.1875,
    2.4375,
    1e19,
    -7.4e19,
    // asinh, acosh.
    1e15,
    7.450580596923828e-9,
    // Cubes.
    8.0,
    -27.0,
    1e-300,
    // erf and erfc.
    0.25,
    0.84375,
    1.25,
    2.857142857142857,
    6.0,
    -6.0,
    26.0,
    27.2,
    28.0,
    // lgamma, digamma.
    0.2316,
    0.7316,
    0.9,
    1.2316,
    1.4616321449683622,
    1.7316,
    2.0,
    7.0,
    10.0,
    -1.5,
    -2.0,
    1e-20,
    1e17,
    1e306,
];

/// The edges, and the floats beside them.
fn edges() -> impl Iterator<Item = f64> {
    EDGES.iter().flat_map(|x| [x.next_down(), *x, x.next_up()])
}

/// Numbers of all sizes, from a linear congruence.
fn numbers(count: usize) -> impl Iterator<Item = f64> {
    let mut state = 1u64;
    (0..count).map(move |_| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let unit = (state >> 11) as f64 / (1u64 << 53) as f64;
        let scale = [1e-12, 1e-3, 1.0, 10.0, 700.0, 1e6][(state >> 3) as usize % 6];
        (unit * 2.0 - 1.0) * scale
    })
}

fn distance(a: f64, b: f64) -> u64 {
    let order = |x: f64| match x.to_bits() as i64 {
        bits @ 0.. => bits,
        bits => i64::MIN.wrapping_sub(bits),
    };
    if a.is_nan() && b.is_nan() { 0 } else { order(a).abs_diff(order(b)) }
}

#[test]
fn several_at_once_have_the_bits_of_one_at_a_time() {
    let xs: Vec<f64> = edges().chain(numbers(100_000)).collect();
    for Row { name, core, each, many, in_place, .. } in ALL {
        // Whole eights, and rests of every length.
        let lengths = (1..=17).cycle();
        let mut left = &xs[..];
        for length in lengths {
            let Some((x, rest)) = left.split_at_checked(length) else { break };
            left = rest;
            let mut y = vec![0.0; x.len()];
            many(x, &mut y);
            let mut replaced = x.to_vec();
            in_place(&mut replaced);
            for ((x, y), z) in x.iter().zip(y).zip(replaced) {
                assert_eq!(distance(y, each(*x)), 0, "{name}({x:e})");
                assert_eq!(distance(z, each(*x)), 0, "{name}({x:e}) in place");
                // Also where one of the others was unusual, and one number has short cuts.
                let (value, usual) = core(*x);
                assert!(!usual || distance(value, each(*x)) == 0, "{name}({x:e})");
            }
        }
    }
}

#[test]
fn what_is_common_is_usual() {
    for Row { name, core, .. } in ALL {
        let (low, high) = match *name {
            "asin" | "acos" | "atanh" => (-0.99, 0.99),
            "log1p" => (1e-9, 1e9),
            "acosh" => (1.0, 1e9),
            "log" | "log2" | "log10" | "lgamma" | "digamma" => (1e-3, 1e9),
            "tanh" => (-15.0, 15.0),
            _ => (-20.0, 20.0),
        };
        for k in 0..=1000 {
            // Off zero, whose sign not every core keeps.
            let x: f64 = low + (high - low) * (f64::from(k) / 1000.0) + 1e-9;
            assert!(core(x).1, "{name}({x:e})");
        }
    }
}

#[test]
fn sine_and_cosine_together_have_the_bits_of_each_alone() {
    let more = [2.3, 5.5].map(|x: f64| [x.next_down(), x, x.next_up()]);
    let all = edges().chain(more.into_iter().flatten()).flat_map(|x| [x, -x]);
    for x in all.chain(numbers(100_000)) {
        let (s, c) = sin_cos(x);
        let want = [each::sin(x), each::cos(x)];
        assert_eq!([distance(s, want[0]), distance(c, want[1])], [0, 0], "{x:e}");
    }
}

#[test]
fn one_at_a_time_they_are_as_near_as_those_of_libm() {
    for Row { name, each, libm, far, .. } in ALL {
        let Some(libm) = libm else { continue };
        for x in edges().chain(numbers(100_000)) {
            let (y, want) = (each(x), libm(x));
            assert!(distance(y, want) <= *far, "{name}({x:e}) = {y:e}, {want:e}");
            assert_eq!(
                y == 0.0 && y.is_sign_negative(),
                want == 0.0 && want.is_sign_negative(),
                "{name}({x:e})"
            );
        }
    }
}

#[test]
fn what_is_exact_is_exact() {
    for k in -1074..1024 {
        assert_eq!(each::exp2(f64::from(k)), libm::ldexp(1.0, k), "{k}");
        if k >= -1022 {
            assert_eq!(each::log2(libm::ldexp(1.0, k)), f64::from(k), "{k}");
        }
    }
    for k in 0..100_000 {
        let k = f64::from(k);
        assert_eq!(each::cbrt(k * k * k), k, "{k}");
    }
    let exact = [each::cosh(0.0), each::erfc(0.0), each::lgamma(1.0), each::lgamma(2.0)];
    assert_eq!(exact, [1.0, 1.0, 0.0, 0.0]);
}
