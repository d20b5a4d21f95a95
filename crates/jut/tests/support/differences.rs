//! Central differences.

/// Those of a function of many numbers, with steps of a millionth of each number, or of this one if that is less.
pub fn differences(f: impl Fn(&[f64]) -> f64, x: &[f64], least: f64) -> Vec<f64> {
    let mut at = x.to_vec();
    let mut slope = |i: usize| {
        let h = 1e-6 * x[i].abs().max(least);
        at[i] = x[i] + h;
        let up = f(&at);
        at[i] = x[i] - h;
        let down = f(&at);
        at[i] = x[i];
        (up - down) / (2.0 * h)
    };
    (0..x.len()).map(&mut slope).collect()
}
