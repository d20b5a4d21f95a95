//! A list that is written over while it is read.

use jut_ir::in_place::InPlace;

#[test]
fn what_is_written_is_as_with_two_lists() {
    // Item k is written `k % m` times, before or after it is due.
    for m in [1, 2, 3, 5] {
        for n in [0, 1, 2, 7, 30] {
            let mut list = InPlace::new((0..n).collect(), || -1);
            let mut two = Vec::new();
            let mut seen = 0;
            while let Some(k) = list.take_next() {
                assert_eq!(k, seen);
                seen += 1;
                for _ in 0..(k + m) % (m + 1) {
                    list.push(k);
                    two.push(k);
                }
                assert_eq!(list.written(), two.len());
            }
            assert_eq!(seen, n);
            list.push(n);
            two.push(n);
            assert_eq!(list.finish(), two);
        }
    }
}
