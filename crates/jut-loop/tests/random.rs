//! Random programs: value, gradient under both policies and forward derivative have the same bits
//! in the loop form and in the interpreter.

use jut_eval::Value;

#[test]
fn random_programs_agree_bit_for_bit() {
    let seeds: Vec<u64> = (0..300).collect();
    let done = jut_tests::in_parallel(&seeds, |seed| {
        let p = jut_tests::generate::generate(*seed);
        let args = [
            Value::F64(p.a),
            Value::floats(p.x.clone()),
            Value::matrix(p.m, p.n, p.w.clone()).unwrap(),
            Value::I64(p.k),
            Value::ints(p.ix.clone()),
        ];
        crate::support::agree_on_derivatives(&p.text, "main", &args);
        Ok(())
    });
    assert_eq!(done.map(|all| all.len()), Ok(300));
}
