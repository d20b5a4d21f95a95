//! Which accesses need no check.

use jut_ir::cover::Facts;
use jut_ir::entity::EntityRef;
use jut_ir::{NVar, Size, Type, prim};

fn c(value: i64) -> Size {
    Size::constant(value)
}

/// The type of an array of this size.
fn array_of(size: &Size) -> Type {
    Type::array(size.clone(), Type::F64)
}

/// The names n, m, i, j, k.
fn names() -> [NVar; 5] {
    [0, 1, 2, 3, 4].map(NVar::new)
}

#[test]
fn neighbours_under_a_shortened_range_need_no_check() {
    let [n, _, i, ..] = names();
    let (size, index) = (Size::var(n), Size::var(i));
    let mut facts = Facts::default();
    facts.add_type(&array_of(&size));
    facts.add_range(i, size.clone() - c(1));
    assert!(facts.covers(&index, &size));
    assert!(facts.covers(&(index.clone() + c(1)), &size));
    assert!(!facts.covers(&(index.clone() + c(2)), &size));
    assert!(!facts.covers(&(index - c(1)), &size), "may be negative");
}

#[test]
fn an_inner_index_is_replaced_before_the_outer_one_that_bounds_it() {
    let [n, _, i, j, k] = names();
    let mut facts = Facts::default();
    facts.add_range(i, Size::var(n));
    facts.add_range(j, Size::var(i));
    assert!(facts.covers(&Size::var(j), &Size::var(n)));
    assert!(facts.covers(&Size::var(j), &Size::var(i)));
    facts.add_range(k, Size::var(j) + c(1));
    assert!(facts.covers(&Size::var(k), &Size::var(i)));
    assert!(!facts.covers(&Size::var(i), &Size::var(j)));
}

#[test]
fn row_major_indices_are_covered() {
    let [n, m, i, j, _] = names();
    let (rows, columns) = (Size::var(n), Size::var(m));
    let mut facts = Facts::default();
    facts.add_range(i, rows.clone());
    facts.add_range(j, columns.clone());
    let index = Size::var(i) * columns.clone() + Size::var(j);
    let cells = rows.clone() * columns.clone();
    assert!(!facts.covers(&index, &cells), "n * m may wrap");
    facts.add_exact(prim::IMUL, &rows, &columns);
    assert!(facts.covers(&index, &cells));
    let wrong = Size::var(j) * columns.clone() + Size::var(i);
    assert!(!facts.covers(&wrong, &(rows * columns)));
}

#[test]
fn a_product_is_exact_only_if_its_operands_are() {
    let [n, m, i, j, k] = names();
    let var = |v: NVar| Size::var(v);
    let mut facts = Facts::default();
    [(i, n), (j, m), (k, n)].into_iter().for_each(|(i, n)| facts.add_range(i, var(n)));
    let (rows, cells) = (var(n) * var(m), var(n) * var(m) * var(n));
    facts.add_exact(prim::IMUL, &rows, &var(n));
    let index = (var(i) * var(m) + var(j)) * var(n) + var(k);
    assert!(!facts.covers(&index, &cells), "n * m may have wrapped before");
    facts.enter();
    facts.add_exact(prim::IMUL, &var(n), &var(m));
    assert!(!facts.covers(&index, &cells), "it was learnt of a value that may have wrapped");
    facts.add_exact(prim::IMUL, &rows, &var(n));
    assert!(facts.covers(&index, &cells));
    facts.leave();
    assert!(!facts.covers(&index, &cells));
}

#[test]
fn sums_of_two_lengths_are_exact_dimensions_and_doubles_below_zero_are_not() {
    let [n, m, i, ..] = names();
    let mut facts = Facts::default();
    facts.add_range(i, Size::var(n) - Size::var(m) * c(2));
    facts.add_type(&array_of(&Size::var(n)));
    assert!(!facts.covers(&Size::var(i), &Size::var(n)), "m may be negative");
    facts.add_non_negative(Size::var(m));
    assert!(!facts.covers(&Size::var(i), &Size::var(n)), "2 * m may wrap");
    facts.add_exact(prim::IMUL, &c(2), &Size::var(m));
    assert!(facts.covers(&Size::var(i), &Size::var(n)));
    let both = Size::var(n) + Size::var(m);
    assert!(facts.is_exact_dimension(&both) && !facts.is_exact(&both));
    assert!(facts.covers(&(Size::var(i) + Size::var(m)), &both));
}

#[test]
fn a_size_fits_if_it_was_compared_or_is_at_most_that_of_an_array() {
    let [n, m, k, i, _] = names();
    let var = |v: NVar| Size::var(v);
    let mut facts = Facts::default();
    facts.add_non_negative(var(n));
    facts.add_max_zero(m, var(n));
    assert!(!facts.is_fitting(&var(n)) && !facts.is_fitting(&var(m)), "any number");
    facts.enter();
    facts.add_exact(prim::IMUL, &var(n), &c(jut_ir::cover::FITS));
    assert!(facts.is_fitting(&var(n)) && facts.is_fitting(&(var(n) - c(1))));
    assert!(!facts.is_fitting(&(var(n) + c(1))) && !facts.is_fitting(&(var(n) * c(2))));
    facts.add_exact(prim::IMUL, &(var(n) * c(2)), &c(jut_ir::cover::FITS));
    assert!(facts.is_fitting(&(var(n) * c(2))));
    facts.add_range(i, var(n));
    assert!(facts.is_fitting(&(var(i) + c(1))) && !facts.is_fitting(&(var(i) + c(2))));
    facts.leave();
    assert!(!facts.is_fitting(&var(n)), "the check stood inside");
    facts.add_exact(prim::IMUL, &var(n), &c(jut_ir::cover::FITS - 1));
    assert!(!facts.is_fitting(&var(n)), "it is less");
    facts.add_type(&Type::array(var(n), array_of(&(var(k) * var(k)))));
    assert!(facts.is_fitting(&var(n)) && facts.is_fitting(&(var(k) * var(k))));
    assert!(!facts.is_fitting(&var(k)) && !facts.is_fitting(&(var(k) * var(k) + c(1))));
    let most = c((1 << 48) - 1);
    assert!(facts.is_fitting(&most) && !facts.is_fitting(&(most + c(1))));
}

#[test]
fn a_bound_that_falls_with_an_outer_index_is_no_upper_bound_of_it() {
    // `x[j + c*i]` with `i < n`, `j < a*i + b`, where a may be negative.
    let [n, a, b, i, j] = names();
    let scale = NVar::new(5);
    let var = |v: NVar| Size::var(v);
    let mut facts = Facts::default();
    facts.add_range(i, var(n));
    facts.add_range(j, var(a) * var(i) + var(b));
    facts.add_non_negative(var(scale));
    for (x, y) in [(a, i), (a, n), (scale, n), (scale, i)] {
        facts.add_exact(prim::IMUL, &var(x), &var(y));
    }
    let [left, right] = [a, scale].map(|x| var(x) * (var(n) - c(1)));
    for x in [a, scale] {
        facts.add_exact(prim::ISUB, &(var(x) * var(n)), &var(x));
    }
    facts.add_exact(prim::IADD, &left, &right);
    facts.add_exact(prim::IADD, &(left.clone() + right.clone()), &var(b));
    let size = left + right + var(b);
    assert!(facts.is_exact(&size));
    let index = var(j) + var(scale) * var(i);
    assert!(!facts.covers(&index, &size));
}

#[test]
fn constants_that_would_wrap_prove_nothing() {
    let [n, _, i, ..] = names();
    let size = Size::var(n);
    let mut facts = Facts::default();
    facts.add_type(&array_of(&size));
    facts.add_range(i, size.clone() + c(5));
    assert!(!facts.covers(&(Size::var(i) + c(i64::MAX)), &size));
    assert!(!facts.covers_slice(&c(i64::MAX), &(size.clone() + c(2)), &size));
}

#[test]
fn a_size_of_any_form_covers_the_indices_below_it() {
    let [n, m, i, j, _] = names();
    let size = Size::var(n) * Size::var(m) - Size::var(n) * c(3);
    let mut facts = Facts::default();
    facts.add_range(i, size.clone() - c(1));
    facts.add_range(j, Size::var(i) + c(1));
    assert!(facts.covers(&Size::var(i), &size));
    assert!(facts.covers(&(Size::var(i) + c(1)), &size));
    assert!(facts.covers(&Size::var(j), &size));
    assert!(!facts.covers(&(Size::var(i) + c(2)), &size));
}

#[test]
fn data_dependent_indices_need_their_check() {
    let [n, _, i, j, _] = names();
    let size = Size::var(n);
    let mut facts = Facts::default();
    facts.add_range(i, size.clone());
    assert!(!facts.covers(&Size::var(j), &size));
    facts.enter();
    facts.add_below(Size::var(j), size.clone());
    assert!(facts.covers(&Size::var(j), &size));
    facts.leave();
    assert!(!facts.covers(&Size::var(j), &size), "the fact ends with its block");
}

#[test]
fn the_first_element_needs_a_check_that_there_is_one() {
    let [n, ..] = names();
    let mut facts = Facts::default();
    facts.add_type(&array_of(&Size::var(n)));
    assert!(!facts.covers(&c(0), &Size::var(n)));
    assert!(facts.covers(&c(0), &(Size::var(n) + c(1))));
    assert!(facts.covers(&c(2), &c(3)) && !facts.covers(&c(3), &c(3)));
    facts.add_below(c(0), Size::var(n));
    assert!(facts.covers(&c(0), &Size::var(n)));
}

#[test]
fn a_bound_that_is_a_maximum_with_zero_counts_as_its_operand() {
    let [n, n1, i, j, _] = names();
    let mut facts = Facts::default();
    facts.enter();
    facts.add_max_zero(n1, Size::var(n));
    assert!(facts.is_plainly_non_negative(&Size::var(n1)));
    assert!(!facts.is_plainly_non_negative(&Size::var(n)));
    facts.enter();
    facts.add_range(i, Size::var(n1));
    assert!(facts.covers(&Size::var(i), &Size::var(n)));
    assert!(facts.covers(&Size::var(i), &Size::var(n1)));
    facts.leave();
    facts.enter();
    facts.add_range(j, Size::var(n));
    assert!(facts.covers(&Size::var(j), &Size::var(n)));
    facts.leave();
    facts.leave();
    assert!(!facts.is_plainly_non_negative(&Size::var(n1)));
}

#[test]
fn sizes_are_plainly_non_negative_by_check_or_by_their_names() {
    let [n, m, i, ..] = names();
    let mut facts = Facts::default();
    assert!(facts.is_plainly_non_negative(&c(0)) && facts.is_plainly_non_negative(&c(3)));
    assert!(!facts.is_plainly_non_negative(&c(-1)));
    assert!(!facts.is_plainly_non_negative(&Size::var(n)));
    facts.add_non_negative(Size::var(n));
    facts.add_type(&array_of(&(Size::var(m) + c(1))));
    facts.add_range(i, Size::var(n) - c(1));
    assert!(facts.is_plainly_non_negative(&Size::var(n)));
    assert!(facts.is_plainly_non_negative(&(Size::var(i) + c(1))));
    assert!(!facts.is_plainly_non_negative(&(Size::var(n) + c(1))), "n may be the largest i64");
    facts.add_type(&array_of(&Size::var(n)));
    assert!(facts.is_plainly_non_negative(&(Size::var(n) + c(1))));
    assert!(!facts.is_plainly_non_negative(&(Size::var(n) * Size::var(n) + c(1))), "may wrap");
    facts.add_exact(prim::IMUL, &Size::var(n), &Size::var(n));
    assert!(facts.is_plainly_non_negative(&(Size::var(n) * Size::var(n))));
    assert!(!facts.is_plainly_non_negative(&Size::var(m)), "m + 1 is not a single name");
    assert!(!facts.is_plainly_non_negative(&(Size::var(n) - c(1))));
    facts.add_non_negative(Size::var(n) - c(1));
    assert!(facts.is_plainly_non_negative(&(Size::var(n) - c(1))));
    facts.add_non_negative(Size::var(m));
    assert!(!facts.is_plainly_non_negative(&(Size::var(m) * c(2))), "may wrap");
}

#[test]
fn a_size_above_a_checked_one_is_plainly_non_negative_if_neither_wraps() {
    let [n, m, ..] = names();
    let size = |k: i64| Size::var(n) - c(k);
    let mut facts = Facts::default();
    facts.enter();
    facts.add_type(&array_of(&Size::var(n)));
    assert!(!facts.is_plainly_non_negative(&size(2)));
    facts.enter();
    facts.add_non_negative(size(3));
    assert!(facts.is_plainly_non_negative(&size(2)) && facts.is_plainly_non_negative(&size(1)));
    assert!(!facts.is_plainly_non_negative(&size(4)), "it is less");
    assert!(!facts.is_plainly_non_negative(&(size(2) - Size::var(m))), "it is another one");
    facts.leave();
    assert!(!facts.is_plainly_non_negative(&size(2)), "the check stood inside");
    facts.leave();
    // Without an array of that length n may be anything, and n + 3 may be what has wrapped.
    facts.add_non_negative(size(-3));
    assert!(!facts.is_plainly_non_negative(&size(-4)), "may wrap");
    facts.add_non_negative(size(3));
    assert!(!facts.is_plainly_non_negative(&size(2)), "n may be below -2^63 + 3");
}

#[test]
fn slices_need_a_check_or_constants_that_fit() {
    let [n, m, i, ..] = names();
    let size = Size::var(n);
    let mut facts = Facts::default();
    assert!(facts.covers_slice(&c(1), &c(2), &c(3)));
    assert!(!facts.covers_slice(&c(2), &c(2), &c(3)));
    assert!(!facts.covers_slice(&c(0), &size, &size), "n may be negative");
    facts.add_type(&array_of(&size));
    assert!(facts.covers_slice(&c(0), &size, &size));
    let shorter = size.clone() - c(1);
    assert!(!facts.covers_slice(&c(1), &shorter, &size), "n may be 0");
    assert!(!facts.covers_slice(&Size::var(i), &Size::var(m), &size));
    facts.add_within(Size::var(i), Size::var(m), size.clone());
    assert!(facts.covers_slice(&Size::var(i), &Size::var(m), &size));
}

#[test]
fn products_of_very_many_indices_are_given_up_quickly() {
    let mut facts = Facts::default();
    let mut index = c(1);
    for k in 0..200 {
        let bound = Size::var(NVar::new(1000 + k)) + c(1);
        facts.add_range(NVar::new(k), bound);
        index = index * Size::var(NVar::new(k));
    }
    assert!(!facts.covers(&(index + Size::var(NVar::new(0))), &Size::var(NVar::new(1000))));
}
