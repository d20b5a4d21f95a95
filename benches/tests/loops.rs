//! The loops that the engines are measured on against a C compiler are the same loops: every engine
//! computes what C computes. No time is asserted.

use jut_benches::loops;

#[test]
fn every_engine_computes_what_the_same_loop_in_c_computes() {
    // Less than eight, whole eights and more, whole blocks of 1024 and more.
    let sizes = [2, 3, 7, 8, 9, 30, 1024, 1025, 1031, 2049, 5000];
    let compared = loops::compare(&sizes).unwrap();
    assert_eq!(compared, 9 * sizes.len() * loops::engines().len());
}
