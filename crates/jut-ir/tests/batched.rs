//! Structured primitives over a leading axis.

use jut_ir::structured::Batched::{Merged, Row};
use jut_ir::structured::*;

#[test]
fn bits_decide_which_row_it_is() {
    // By lanes, as an inner product; the product of two matrices is a chain.
    assert_eq!(DOT.batched(&[true, false]), Some(Row(MATVEC, vec![0, 1])));
    assert_eq!(MATVEC.batched(&[true, false]), Some(Merged));
    assert_eq!(MATMUL_NT.batched(&[true, true]), Some(Row(BATCH_MATMUL_NT, vec![0, 1])));
    assert_eq!(MATMUL_NT.batched(&[true, false]), Some(Merged));
    assert_eq!(MATMUL_TN.batched(&[true, false]), None);
    assert_eq!(DOT.batched(&[true, true]), None);
    assert_eq!(SCALE.batched(&[true, false]), None);
    assert_eq!(MATMUL.batched(&[false, false]), None);
}

#[test]
fn a_row_that_is_found_adds_up_in_the_same_order() {
    for op in Structured::all() {
        for mapped in [[true, true], [true, false], [false, true]] {
            let mapped = &mapped[..op.row().params.len().min(2)];
            if let Some(Row(found, _)) = op.batched(mapped) {
                assert_eq!(found.row().meaning, op.row().meaning, "{}", op.row().name);
            }
        }
    }
}
