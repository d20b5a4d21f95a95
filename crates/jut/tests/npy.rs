//! `.npy` files: those that NumPy writes are read, those that are written are what NumPy writes, and
//! anything else is an error.

use jut::{Array, Value, npy};

/// A file as NumPy 2 writes it.
fn file(header: &str, body: &[u8]) -> Vec<u8> {
    let start = (10 + header.len() + 1).next_multiple_of(64);
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend(u16::try_from(start - 10).expect("short").to_le_bytes());
    bytes.extend(header.bytes());
    bytes.resize(start - 1, b' ');
    bytes.push(b'\n');
    bytes.extend(body);
    bytes
}

fn head(descr: &str, fortran: &str, shape: &str) -> String {
    format!("{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {shape}, }}")
}

fn hex(text: &str) -> Vec<u8> {
    let digit = |k: usize| u8::from_str_radix(&text[k..k + 2], 16).expect("hex");
    (0..text.len()).step_by(2).map(digit).collect()
}

fn floats(shape: &[usize], data: &[f64]) -> Value {
    Value::F64s(Array { shape: shape.to_vec(), data: data.to_vec() })
}

fn ints(shape: &[usize], data: &[i64]) -> Value {
    Value::I64s(Array { shape: shape.to_vec(), data: data.to_vec() })
}

#[test]
fn what_numpy_writes_is_read() {
    // Header and data as printed by NumPy 2.4: np.save, then the bytes.
    let rows = "000000000000f83f00000000000000c0000000000000f87f000000000000f07f00000000000000000000000000000840";
    let columns = "000000000000f03f000000000000104000000000000000400000000000001440000000000000084000000000000018400";
    let cube = "0000000000000000000000000000104000000000000000400000000000001840000000000000f03f000000000000144000000000000008400000000000001c40";
    let cases = [
        (
            "<f8",
            "False",
            "(2, 3)",
            rows,
            floats(&[2, 3], &[1.5, -2.0, f64::NAN, f64::INFINITY, 0.0, 3.0]),
        ),
        ("<f8", "True", "(2, 3)", &columns[..96], floats(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])),
        (
            "<f8",
            "True",
            "(2, 2, 2)",
            cube,
            floats(&[2, 2, 2], &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]),
        ),
        (
            "<i8",
            "False",
            "(3,)",
            "0100000000000000feffffffffffffff0000000000010000",
            ints(&[3], &[1, -2, 1 << 40]),
        ),
        (
            "|b1",
            "False",
            "(3,)",
            "010001",
            Value::Bools(Array { shape: vec![3], data: vec![true, false, true] }),
        ),
        ("<f4", "False", "(2,)", "cdcccc3d00002040", floats(&[2], &[f64::from(0.1f32), 2.5])),
        (">i4", "False", "(2,)", "00000007ffffffff", ints(&[2], &[7, -1])),
        ("<f8", "False", "()", "0000000000000440", Value::F64(2.5)),
        ("<f8", "False", "(0, 3)", "", floats(&[0, 3], &[])),
        ("|i1", "False", "(2,)", "80ff", ints(&[2], &[-128, -1])),
        ("|u1", "False", "(2,)", "80ff", ints(&[2], &[128, 255])),
        (">u2", "False", "(1,)", "ff01", ints(&[1], &[0xff01])),
        ("<i2", "False", "(1,)", "0180", ints(&[1], &[-32767])),
    ];
    for (descr, fortran, shape, body, expected) in cases {
        let value = npy::read(&file(&head(descr, fortran, shape), &hex(body))[..]);
        let value = value.unwrap_or_else(|e| panic!("{descr} {shape}: {e}"));
        assert!(value.same_bits(&expected), "{descr} {shape}: {value:?}");
    }
}

#[test]
fn what_is_written_is_what_numpy_writes() {
    let mut bytes = Vec::new();
    let value = floats(&[2, 3], &[1.5, -2.0, f64::NAN, f64::INFINITY, 0.0, 3.0]);
    npy::write(&mut bytes, &value).expect("written");
    let body = "000000000000f83f00000000000000c0000000000000f87f000000000000f07f00000000000000000000000000000840";
    assert_eq!(bytes, file(&head("<f8", "False", "(2, 3)"), &hex(body)));
    assert_eq!(bytes.len() % 64, 48, "the header ends at a multiple of 64");
    for value in [
        Value::F64(-0.0),
        Value::I64(i64::MIN),
        Value::Bool(true),
        ints(&[0], &[]),
        ints(&[2, 1, 2], &[1, 2, 3, 4]),
        floats(&[5], &[0.1, 1e300, 5e-324, f64::NEG_INFINITY, 7.0]),
    ] {
        let mut bytes = Vec::new();
        npy::write(&mut bytes, &value).expect("written");
        assert!(npy::read(&bytes[..]).expect("read").same_bits(&value), "{value:?}");
    }
    assert!(npy::write(Vec::new(), &Value::Tuple(vec![])).is_err());
}

#[test]
fn large_arrays_go_through_in_pieces() {
    let data: Vec<f64> = (0..300_000).map(|k| k as f64 * 0.5).collect();
    let value = floats(&[300, 1000], &data);
    let mut bytes = Vec::new();
    npy::write(&mut bytes, &value).expect("written");
    assert_eq!(npy::read(&bytes[..]).expect("read"), value);
}

#[test]
fn files_that_are_wrong_are_errors_with_a_reason() {
    let good = file(&head("<f8", "False", "(2,)"), &[0; 16]);
    let huge = "(9223372036854775807, 9223372036854775807)";
    let cases: [(Vec<u8>, &str); 13] = [
        (b"PK\x03\x04 zip file".to_vec(), "magic word"),
        (Vec::new(), "magic word"),
        (good[..good.len() - 1].to_vec(), "1 of 2 elements"),
        (good[..40].to_vec(), "ends in its header"),
        (file(&head("<c16", "False", "(1,)"), &[0; 16]), "`<c16` is not read"),
        (file(&head("<U3", "False", "(1,)"), &[0; 16]), "`<U3` is not read"),
        (file(&head("|O", "False", "(1,)"), &[0; 16]), "`|O` is not read"),
        (
            file("{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (1,), }", &[0; 8]),
            "records",
        ),
        (file("{'descr': '<f8', 'shape': (1,), }", &[0; 8]), "no `fortran_order`"),
        (file(&head("<f8", "False", "(-1,)"), &[0; 8]), "not a shape"),
        (file(&head("<f8", "False", huge), &[0; 8]), "more elements than memory"),
        (file(&head("<f8", "False", "(1000000000000,)"), &[0; 8]), "1 of 1000000000000"),
        (b"\x93NUMPY\x09\x00\x00\x00".to_vec(), "version 9"),
    ];
    for (bytes, part) in cases {
        let error = npy::read(&bytes[..]).expect_err(part).to_string();
        assert!(error.contains(part), "{part}: {error}");
    }
    let mut long = b"\x93NUMPY\x02\x00".to_vec();
    long.extend(u32::MAX.to_le_bytes());
    assert!(npy::read(&long[..]).is_err());
}

#[test]
fn no_damage_to_a_file_panics() {
    let mut random = 1u64;
    let mut next = |n: usize| {
        random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (random >> 33) as usize % n
    };
    let good = file(&head("<f8", "True", "(2, 3)"), &[1; 48]);
    for _ in 0..5000 {
        let mut bytes = good.clone();
        for _ in 0..=next(4) {
            let at = next(bytes.len());
            bytes[at] = next(256) as u8;
        }
        bytes.truncate(1 + next(bytes.len()));
        let _ = npy::read(&bytes[..]);
    }
}
