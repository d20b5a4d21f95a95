//! Test functions of optimisation, as they stand in textbooks and in `argmin_testfunctions`.

use super::{close, differences, near, on_every_engine};
use jut::differentiable;
use std::f64::consts::{E, PI};

#[differentiable]
pub fn ackley(param: &[f64]) -> f64 {
    ackley_abc(param, 20.0, 0.2, 2.0 * PI)
}

#[differentiable]
pub fn ackley_abc(param: &[f64], a: f64, b: f64, c: f64) -> f64 {
    let n = param.len() as f64;
    -a * (-b * ((1.0 / n) * param.iter().map(|x| x.powi(2)).sum::<f64>()).sqrt()).exp()
        - ((1.0 / n) * param.iter().map(|x| (c * x).cos()).sum::<f64>()).exp()
        + a
        + f64::exp(1.0)
}

#[differentiable]
pub fn beale(param: &[f64; 2]) -> f64 {
    let [x1, x2] = *param;
    (1.5 - x1 + x1 * x2).powi(2)
        + (2.25 - x1 + x1 * (x2.powi(2))).powi(2)
        + (2.625 - x1 + x1 * (x2.powi(3))).powi(2)
}

#[differentiable]
pub fn booth(param: &[f64; 2]) -> f64 {
    let [x1, x2] = *param;
    (x1 + 2.0 * x2 - 7.0).powi(2) + (2.0 * x1 + x2 - 5.0).powi(2)
}

#[differentiable]
pub fn bukin_n6(param: &[f64; 2]) -> f64 {
    let [x1, x2] = *param;
    100.0 * (x2 - 0.01 * x1.powi(2)).abs().sqrt() + 0.01 * (x1 + 10.0).abs()
}

#[differentiable]
pub fn cross_in_tray(param: &[f64; 2]) -> f64 {
    let x1 = param[0];
    let x2 = param[1];
    -0.0001
        * ((x1.sin() * x2.sin() * (100.0 - (x1.powi(2) + x2.powi(2)).sqrt() / PI).abs().exp())
            .abs()
            + 1.0)
            .powf(0.1)
}

#[differentiable]
pub fn easom(param: &[f64; 2]) -> f64 {
    let [x1, x2] = *param;
    -x1.cos() * x2.cos() * (-(x1 - PI).powi(2) - (x2 - PI).powi(2)).exp()
}

#[differentiable]
pub fn eggholder(param: &[f64; 2]) -> f64 {
    let &[x1, x2] = param;
    -(x2 + 47.0) * (x2 + x1 / 2.0 + 47.0).abs().sqrt().sin()
        - x1 * (x1 - (x2 + 47.0)).abs().sqrt().sin()
}

#[differentiable]
pub fn goldsteinprice(param: &[f64; 2]) -> f64 {
    let [x1, x2] = *param;
    (1.0 + (x1 + x2 + 1.0).powi(2)
        * (19.0 - 14.0 * (x1 + x2) + 3.0 * (x1.powi(2) + x2.powi(2)) + 6.0 * x1 * x2))
        * (30.0
            + (2.0 * x1 - 3.0 * x2).powi(2)
                * (18.0 - 32.0 * x1 + 12.0 * x1.powi(2) + 48.0 * x2 - 36.0 * x1 * x2
                    + 27.0 * x2.powi(2)))
}

#[differentiable]
pub fn himmelblau(param: &[f64; 2]) -> f64 {
    assert!(param.len() == 2);
    let [x1, x2] = *param;
    (x1.powi(2) + x2 - 11.0).powi(2) + (x1 + x2.powi(2) - 7.0).powi(2)
}

#[differentiable]
pub fn holder_table(param: &[f64; 2]) -> f64 {
    let [x1, x2] = *param;
    -(x1.sin() * x2.cos() * (1.0 - (x1.powi(2) + x2.powi(2)).sqrt() / PI).abs().exp()).abs()
}

#[differentiable]
pub fn levy(param: &[f64]) -> f64 {
    let plen = param.len();
    assert!(plen >= 2);
    let w = |x: f64| 1.0 + (x - 1.0) / 4.0;
    (PI * w(param[0])).sin().powi(2)
        + param[1..(plen - 1)]
            .iter()
            .map(|x| w(*x))
            .map(|wi: f64| (wi - 1.0).powi(2) * (1.0 + 10.0 * (PI * wi + 1.0).sin().powi(2)))
            .sum::<f64>()
        + (w(param[plen - 1]) - 1.0).powi(2) * (1.0 + (2.0 * PI * w(param[plen - 1])).sin().powi(2))
}

#[differentiable]
pub fn levy_n13(param: &[f64; 2]) -> f64 {
    let [x1, x2] = *param;
    (3.0 * PI * x1).sin().powi(2)
        + (x1 - 1.0).powi(2) * (1.0 + (3.0 * PI * x2).sin().powi(2))
        + (x2 - 1.0).powi(2) * (1.0 + (2.0 * PI * x2).sin().powi(2))
}

#[differentiable]
pub fn matyas(param: &[f64; 2]) -> f64 {
    let (x1, x2) = (param[0], param[1]);
    0.26 * (x1.powi(2) + x2.powi(2)) - 0.48 * x1 * x2
}

#[differentiable]
pub fn mccorminck(param: &[f64; 2]) -> f64 {
    let [x1, x2] = param;
    (x1 + x2).sin() + (x1 - x2).powi(2) - 1.5 * x1 + 2.5 * x2 + 1.0
}

#[differentiable]
pub fn picheny(param: &[f64; 2]) -> f64 {
    let x1 = 4.0 * param[0] - 2.0;
    let x2 = 4.0 * param[1] - 2.0;
    (1.0 / 2.427)
        * (((1.0
            + (x1 + x2 + 1.0).powi(2)
                * (19.0 - 14.0 * x1 + 3.0 * x1.powi(2) - 14.0 * x2
                    + 6.0 * x1 * x2
                    + 3.0 * x2.powi(2)))
            * (30.0
                + (2.0 * x1 - 3.0 * x2).powi(2)
                    * (18.0 - 32.0 * x1 + 12.0 * x1.powi(2) + 48.0 * x2 - 36.0 * x1 * x2
                        + 27.0 * x2.powi(2))))
        .log10()
            - 8.693)
}

#[differentiable]
pub fn rastrigin(param: &[f64]) -> f64 {
    let a = 10.0;
    a * param.len() as f64
        + param.iter().map(|&x| x.powi(2) - a * (2.0 * PI * x).cos()).sum::<f64>()
}

#[differentiable]
pub fn rosenbrock(param: &[f64]) -> f64 {
    let (a, b) = (1.0, 100.0);
    param
        .iter()
        .zip(param.iter().skip(1))
        .map(|(&xi, &xi1)| (a - xi).powi(2) + b * (xi1 - xi.powi(2)).powi(2))
        .sum()
}

#[differentiable]
pub fn rosenbrock_windows(x: &[f64]) -> f64 {
    x.windows(2).map(|w| (1.0 - w[0]).powi(2) + 100.0 * (w[1] - w[0].powi(2)).powi(2)).sum()
}

#[differentiable]
pub fn schaffer_n2(param: &[f64; 2]) -> f64 {
    let [x1, x2] = *param;
    0.5 + ((x1.powi(2) - x2.powi(2)).sin().powi(2) - 0.5)
        / (1.0 + 0.001 * (x1.powi(2) + x2.powi(2))).powi(2)
}

#[differentiable]
pub fn schaffer_n4(param: &[f64; 2]) -> f64 {
    let [x1, x2] = *param;
    let n05 = 0.5;
    n05 + ((x1.powi(2) - x2.powi(2)).abs().sin().cos().powi(2) - n05)
        / (1.0 + 0.001 * (x1.powi(2) + x2.powi(2))).powi(2)
}

#[differentiable]
pub fn sphere(param: &[f64]) -> f64 {
    param.iter().map(|x| x.powi(2)).sum()
}

#[differentiable]
pub fn styblinski_tang(param: &[f64]) -> f64 {
    0.5 * param.iter().map(|x| x.powi(4) - 16.0 * x.powi(2) + 5.0 * x).sum::<f64>()
}

#[differentiable]
pub fn threehumpcamel(param: &[f64; 2]) -> f64 {
    let [x1, x2] = *param;
    2.0 * x1.powi(2) - 1.05 * x1.powi(4) + x1.powi(6) / 6.0 + x1 * x2 + x2.powi(2)
}

#[differentiable]
pub fn zero(param: &[f64]) -> f64 {
    let _ = param;
    0.0
}

#[differentiable]
pub fn powell(x: &[f64]) -> f64 {
    let mut sum = 0.0;
    for c in x.chunks_exact(4) {
        let (a, b, c, d) = (c[0], c[1], c[2], c[3]);
        sum += (a + 10.0 * b).powi(2)
            + 5.0 * (c - d).powi(2)
            + (b - 2.0 * c).powi(4)
            + 10.0 * (a - d).powi(4);
    }
    sum
}

#[differentiable]
pub fn michalewicz(x: &[f64], m: i32) -> f64 {
    -x.iter()
        .enumerate()
        .map(|(i, &xi)| xi.sin() * ((i + 1) as f64 * xi * xi / PI).sin().powi(2 * m))
        .sum::<f64>()
}

#[differentiable]
pub fn griewank(x: &[f64]) -> f64 {
    let s: f64 = x.iter().map(|v| v * v / 4000.0).sum();
    let p: f64 = x.iter().enumerate().map(|(i, v)| (v / ((i + 1) as f64).sqrt()).cos()).product();
    s - p + E.ln()
}

#[differentiable]
pub fn penalised(x: &[f64], lower: &[f64], upper: &[f64], mu: f64) -> f64 {
    let violation = x
        .iter()
        .zip(lower.iter().zip(upper))
        .map(|(v, (lo, hi))| {
            let below = (lo - v).max(0.0);
            let above = (v - hi).max(0.0);
            below.powi(2) + above.powi(2)
        })
        .sum::<f64>();
    sphere(x) + mu * violation
}

/// Value, gradient and second derivatives of a function of so many numbers.
macro_rules! holds {
    ($($name:ident $x:expr;)*) => {$({
        let x = $x;
        let (value, gradient) = $name::value_and_gradient(&x).unwrap();
        near(value, $name(&x), stringify!($name));
        let plain = |x: &[f64]| $name(x.try_into().unwrap());
        close(&gradient, &differences(plain, &x), stringify!($name));
        let second: Vec<f64> = $name::hessian(&x).unwrap().flattened();
        let n = x.len();
        for k in 0..n {
            let row = |x: &[f64]| $name::gradient(x.try_into().unwrap()).unwrap()[k];
            close(&second[k * n..(k + 1) * n], &differences(row, &x), stringify!($name));
        }
        let function = $name::function().unwrap();
        crate::nestings::agree(&function, &x, Some(&second));
        on_every_engine(&function, &x);
    })*};
}

/// Second derivatives in one list.
trait Flattened {
    fn flattened(self) -> Vec<f64>;
}

impl Flattened for [[f64; 2]; 2] {
    fn flattened(self) -> Vec<f64> {
        self.concat()
    }
}

impl Flattened for jut::Array<f64> {
    fn flattened(self) -> Vec<f64> {
        self.data
    }
}

#[test]
fn values_gradients_and_second_derivatives() {
    holds! {
        ackley [0.5, -1.25, 2.0];
        beale [1.5, 0.25];
        booth [-0.5, 2.5];
        bukin_n6 [-7.0, 1.5];
        cross_in_tray [1.5, 2.25];
        easom [2.5, 3.75];
        eggholder [100.25, 210.5];
        goldsteinprice [0.25, -0.75];
        himmelblau [1.25, -2.5];
        holder_table [2.5, 1.75];
        levy [0.5, 1.75, -1.25, 2.0];
        levy_n13 [0.75, -0.5];
        matyas [1.5, -2.0];
        mccorminck [0.5, 1.25];
        picheny [0.375, 0.625];
        rastrigin [0.25, -1.125, 0.5];
        rosenbrock [0.5, 1.5, -0.25, 2.0];
        rosenbrock_windows [0.5, 1.5, -0.25, 2.0];
        schaffer_n2 [0.5, 1.25];
        schaffer_n4 [1.5, 0.25];
        sphere [0.5, -1.5, 2.0];
        styblinski_tang [0.5, -2.5, 1.0];
        threehumpcamel [0.75, -0.5];
        zero [1.0, 2.0];
        powell [3.0, -1.0, 0.5, 1.0, 2.0, 0.25, -0.75, 1.5];
        griewank [1.5, -2.25, 3.0];
    }
}

#[test]
fn analytic_gradients() {
    let x = [0.5, 1.5, -0.25];
    let mut by = [0.0; 3];
    for i in 0..2 {
        let r = x[i + 1] - x[i] * x[i];
        by[i] += -2.0 * (1.0 - x[i]) - 400.0 * x[i] * r;
        by[i + 1] += 200.0 * r;
    }
    close(&rosenbrock::gradient(&x).unwrap(), &by, "rosenbrock");
    close(&rosenbrock_windows::gradient(&x).unwrap(), &by, "windows");
    let by: Vec<f64> = x.iter().map(|v| 2.0 * v + 20.0 * PI * (2.0 * PI * v).sin()).collect();
    close(&rastrigin::gradient(&x).unwrap(), &by, "rastrigin");
    let by: Vec<f64> = x.iter().map(|v| 0.5 * (4.0 * v.powi(3) - 32.0 * v + 5.0)).collect();
    close(&styblinski_tang::gradient(&x).unwrap(), &by, "styblinski_tang");
    let [a, b] = [1.25, -2.5];
    let (r, s) = (a * a + b - 11.0, a + b * b - 7.0);
    let by = [4.0 * a * r + 2.0 * s, 2.0 * r + 4.0 * b * s];
    close(&himmelblau::gradient(&[a, b]).unwrap(), &by, "himmelblau");
    let by = [0.52 * a - 0.48 * b, 0.52 * b - 0.48 * a];
    close(&matyas::gradient(&[a, b]).unwrap(), &by, "matyas");
}

#[test]
fn several_parameters() {
    let x = [1.25, 2.5, 0.75];
    for m in [1, 5, 10] {
        let (value, by) = michalewicz::value_and_gradient(&x, m).unwrap();
        near(value, michalewicz(&x, m), "michalewicz");
        close(&by, &differences(|x| michalewicz(x, m), &x), "michalewicz");
    }
    let (lower, upper) = ([1.5, 0.0, 0.0], [3.0, 2.0, 1.0]);
    let (value, (by, _, _, by_mu)) =
        penalised::value_and_gradient(&x, &lower, &upper, 10.0).unwrap();
    near(value, penalised(&x, &lower, &upper, 10.0), "penalised");
    close(&by, &differences(|x| penalised(x, &lower, &upper, 10.0), &x), "penalised");
    assert_eq!(by_mu, 0.3125);
    let (value, by) = levy::value_and_gradient(&[1.0; 4]).unwrap();
    assert!(value.abs() < 1e-30 && by.iter().all(|v| v.abs() < 1e-14), "{value} {by:?}");
    assert!(levy::value(&[1.0]).is_err());
}
