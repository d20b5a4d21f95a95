//! Random programs: value, gradient under both policies and forward derivative have the same bits
//! in the loop form and in the interpreter.

use jut_eval::Value;

#[test]
fn random_programs_agree_bit_for_bit() {
    for seed in 0..300 {
        let p = jut_tests::generate::generate(seed);
        let args = [
            Value::F64(p.a),
            Value::floats(p.x.clone()),
            Value::matrix(p.m, p.n, p.w.clone()).unwrap(),
            Value::I64(p.k),
            Value::ints(p.ix.clone()),
        ];
        crate::support::agree_on_derivatives(&p.text, "main", &args);
    }
}
