//! Functions of one number.

/// -sin u.
pub fn sin(u: f64) -> (f64, f64) {
    let (s, c) = u.sin_cos();
    (-s, -c)
}

/// sin(cos x).
pub fn sincos(x: f64) -> (f64, f64) {
    let (s, c) = x.sin_cos();
    let (value, slope) = c.sin_cos();
    (value, -s * slope)
}

/// x^n by n multiplications, and its derivative along with it: with one input nothing is stored.
pub fn power(x: f64, n: i64) -> (f64, f64) {
    let (mut a, mut da) = (1.0, 0.0);
    for _ in 0..n {
        da = da * x + a;
        a *= x;
    }
    (a, da)
}
