//! Strongly connected components.

use jut_ir::graph::strongly_connected;

fn of(edges: &[&[usize]]) -> Vec<(Vec<usize>, bool)> {
    let found = strongly_connected(edges.len(), 0..edges.len(), |n, out| out.extend(edges[n]));
    found.into_iter().map(|c| (c.members, c.is_recursive)).collect()
}

#[test]
fn callees_come_first_and_circles_together() {
    assert_eq!(of(&[&[], &[0], &[1, 0]]), [(vec![0], false), (vec![1], false), (vec![2], false)]);
    assert_eq!(of(&[&[2], &[], &[1]]), [(vec![1], false), (vec![2], false), (vec![0], false)]);
    assert_eq!(of(&[&[0]]), [(vec![0], true)]);
    assert_eq!(of(&[&[1, 3], &[2], &[0], &[]]), [(vec![3], false), (vec![0, 1, 2], true)]);
    let two = of(&[&[1], &[0, 2], &[3], &[2]]);
    assert_eq!(two, [(vec![2, 3], true), (vec![0, 1], true)]);
}

#[test]
fn a_long_chain_needs_no_stack() {
    let found = strongly_connected(200_000, [0], |n, out| out.extend([(n + 1) % 200_000]));
    assert_eq!((found.len(), found[0].members.len()), (1, 200_000));
}
