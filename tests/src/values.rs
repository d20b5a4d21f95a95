//! Arguments of any type, and integers that programs did not expect.

use fastrand::Rng;
use jut::{Array, Value};
use std::collections::HashMap;

/// Integers at borders; arithmetic with them wraps.
pub const INTEGERS: [i64; 12] = [
    -1,
    0,
    1,
    1 << 31,
    1 << 32,
    -(1 << 32),
    1 << 61,
    1 << 62,
    -(1 << 62),
    i64::MAX,
    i64::MIN + 1,
    100_000_000,
];

/// An integer at a border: of an array of so many elements, or of integers.
pub fn hostile(rng: &mut Rng, size: i64) -> i64 {
    match rng.u8(0..10) {
        0 => size,
        1 => size - 1,
        2 => size + 1,
        3 => -size,
        4 => i64::MIN,
        _ => INTEGERS[rng.usize(0..INTEGERS.len())],
    }
}

/// A float, now and then a special one.
pub fn float(rng: &mut Rng) -> f64 {
    const SPECIAL: [f64; 9] =
        [0.0, -0.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e308, 5e-324, 1.0, 9.3e18];
    match rng.u8(0..24) {
        0 => SPECIAL[rng.usize(0..SPECIAL.len())],
        _ => (rng.f64() - 0.5) * 4.0,
    }
}

/// Sizes by name, as far as arguments have fixed them.
type Sizes = HashMap<String, usize>;

/// Arguments for parameters, names and types as [`jut::Function::parameters`] has them; none if one takes
/// other than numbers and truth values. What is a size of an array has the value of that.
pub fn arguments(rng: &mut Rng, parameters: &[(String, String)]) -> Option<Vec<Value>> {
    let mut sizes = Sizes::new();
    let is_size = |name: &str| {
        let mut dims = parameters.iter().flat_map(|(_, ty)| ty.split(['[', ',', ']']));
        dims.any(|dim| dim.trim() == name)
    };
    let value = |(name, ty): &(String, String)| match ty.as_str() {
        "i64" if is_size(name) => Some(Value::I64(size(rng, name, &mut sizes) as i64)),
        _ => of_type(rng, ty, &mut sizes),
    };
    parameters.iter().map(value).collect()
}

/// The size that a name stands for.
fn size(rng: &mut Rng, name: &str, sizes: &mut Sizes) -> usize {
    let guess = [0, 1, 2, 3, 8][rng.usize(0..5)];
    *sizes.entry(name.to_string()).or_insert(guess)
}

/// A value of a type as [`jut::Function::parameters`] shows it; none for a type that has other than numbers and truth
/// values. Sizes that are no names are guessed.
fn of_type(rng: &mut Rng, ty: &str, sizes: &mut Sizes) -> Option<Value> {
    let (mut shape, mut element) = (Vec::new(), ty.trim());
    while let Some(rest) = element.strip_prefix('[') {
        let (dims, rest) = rest.split_once(']')?;
        for dim in dims.split(',') {
            let dim = dim.trim();
            shape.push(match dim.parse() {
                Ok(size) if size < 100 => size,
                Ok(_) => return None,
                Err(_) => size(rng, dim, sizes),
            });
        }
        element = rest.trim();
    }
    let count: usize = shape.iter().product();
    let near = shape.last().copied().unwrap_or(3) as i64;
    let integer = |rng: &mut Rng| match (rng.u8(0..3), shape.is_empty()) {
        // A large one may be the bound of a loop, which would not end.
        (0, true) => hostile(rng, near).min(9),
        (0, false) => hostile(rng, near),
        _ => rng.i64(0..4),
    };
    let floats = |rng: &mut Rng| (0..count).map(|_| float(rng)).collect::<Vec<_>>();
    Some(match (element, shape.is_empty()) {
        ("f64", true) => Value::F64(float(rng)),
        ("i64", true) => Value::I64(integer(rng)),
        ("bool", true) => Value::Bool(rng.bool()),
        ("f64", false) => Value::F64s(Array { shape, data: floats(rng) }),
        ("i64", false) => {
            let data = (0..count).map(|_| integer(rng)).collect();
            Value::I64s(Array { shape, data })
        }
        ("bool", false) => {
            let data = (0..count).map(|_| rng.bool()).collect();
            Value::Bools(Array { shape, data })
        }
        _ => return None,
    })
}
