//! Functions that give a `Result`: their derivatives fail exactly where they give an `Err`, with its text; others look at what
//! they give as at an `Option`.

use super::{close, differences, same};
use jut::{Data, differentiable};

/// The compiled value is the plain one, and a derivative; an `Err` is an error that has its text.
#[track_caller]
fn agrees<E: std::fmt::Display>(
    plain: Result<f64, E>,
    value: jut::Result<f64>,
    gradient: jut::Result<Vec<f64>>,
    differences: impl FnOnce() -> Vec<f64>,
) {
    match plain {
        Ok(plain) => {
            same(value.unwrap(), plain);
            close(&gradient.unwrap(), &differences());
        }
        Err(said) => {
            let text = said.to_string();
            for failed in [value.unwrap_err().to_string(), gradient.unwrap_err().to_string()] {
                assert!(failed.contains(&text), "{failed} without {text}");
            }
        }
    }
}

macro_rules! agree {
    ($($f:ident at $($x:expr),+;)*) => {$($({
        let x: &[f64] = &$x;
        agrees($f(x), $f::value(x), $f::gradient(x), || differences(|x| $f(x).unwrap_or(f64::NAN), x));
    })+)*};
}

#[differentiable]
fn root(x: f64) -> Result<f64, String> {
    if x < 0.0 {
        return Err("a root of a negative number".to_string());
    }
    Ok(x.sqrt())
}

#[differentiable]
fn mean(x: &[f64]) -> Result<f64, String> {
    if x.is_empty() { Err("no numbers".into()) } else { Ok(x.iter().sum::<f64>() / x.len() as f64) }
}

#[differentiable]
fn roots(x: &[f64]) -> Result<f64, String> {
    let mut s = 0.0;
    for (i, v) in x.iter().enumerate() {
        if i == 3 {
            return Err(String::from("more than three"));
        }
        s += root(*v)? * (i + 1) as f64;
    }
    Ok(s)
}

#[differentiable]
fn tail_call(x: &[f64]) -> Result<f64, String> {
    let first = x.first().ok_or("nothing here")?;
    if *first > 10.0 {
        return root(x[0] - 12.0);
    }
    root(*first).map(|r| 2.0 * r)
}

#[differentiable]
fn looked_at(x: &[f64]) -> f64 {
    let mut s = match root(x[0]) {
        Ok(v) => v,
        Err(_) => -1.0,
    };
    s += root(x[1]).unwrap_or(3.0);
    if let Ok(v) = root(x[0] * x[1]) {
        s += v * v;
    }
    if root(x[1]).is_err() {
        s *= 2.0;
    }
    s + root(x[0]).map_or(0.5, |v| 3.0 * v) + root(x[1]).ok().unwrap_or_default()
}

#[differentiable]
fn looked_at_in_a_result(x: &[f64]) -> Result<f64, String> {
    let best = x.iter().copied().reduce(f64::max).ok_or_else(|| "empty".to_string())?;
    let Some(place) = x.iter().position(|v| *v == best) else {
        return Err("no place".to_string());
    };
    let Ok(r) = root(best) else { return Err(format!("all below zero")) };
    let scaled = match root(x[0]) {
        Ok(v) => v * 0.5,
        Err(_) if place > 1 => return Err("a late one".into()),
        Err(_) => 1.0,
    };
    Ok(r * scaled + place as f64 * best)
}

/// Reasons of failure.
#[derive(Debug, Clone, PartialEq)]
enum Failure {
    Singular,
    Length { found: usize },
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Failure::Singular => f.write_str("Singular"),
            Failure::Length { .. } => f.write_str("Length"),
        }
    }
}

#[differentiable]
fn solved(a: &[f64]) -> Result<Vec<f64>, Failure> {
    if a.len() != 6 {
        return Err(Failure::Length { found: a.len() });
    }
    let det = a[0] * a[3] - a[1] * a[2];
    if det.abs() < 1e-12 {
        Err(Failure::Singular)
    } else {
        let mut v = vec![0.0; 2];
        v[0] = (a[3] * a[4] - a[1] * a[5]) / det;
        v[1] = (a[0] * a[5] - a[2] * a[4]) / det;
        Ok(v)
    }
}

#[differentiable]
fn norm_of_solved(a: &[f64]) -> Result<f64, Failure> {
    let v = solved(a)?;
    Ok(v.iter().map(|v| v * v).sum())
}

#[differentiable]
fn all_roots(x: &[f64]) -> Result<f64, String> {
    let all = x.iter().map(|v| root(*v)).collect::<Result<Vec<f64>, String>>()?;
    let again: Vec<f64> = x
        .iter()
        .map(|v| -> Result<f64, String> {
            let r = root(*v + 1.0)?;
            Ok(r * r * r)
        })
        .collect::<Result<Vec<_>, _>>()?;
    Ok(all.iter().zip(&again).map(|(a, b)| a * b).sum())
}

#[differentiable]
fn chosen(x: &[f64]) -> Result<f64, String> {
    let r: Result<f64, String> = if x[0] > 0.0 { Ok(x[0] * x[1]) } else { Err("low".to_string()) };
    let twice = r.unwrap_or(1.0) * 2.0;
    match x.get(2) {
        Some(v) if *v > 100.0 => Err("large".to_string()),
        Some(v) => Ok(v * twice),
        None => root(twice),
    }
}

#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct Spring {
    stiffness: f64,
    limit: f64,
}

#[differentiable]
impl Spring {
    fn force(&self, x: f64) -> Result<f64, String> {
        if x.abs() > self.limit {
            return Err("broken".to_string());
        }
        Ok(-self.stiffness * x)
    }
    fn worn(&self, by: f64) -> Result<Spring, String> {
        if by >= 1.0 {
            Err("worn out".to_string())
        } else {
            Ok(Spring { limit: self.limit * (1.0 - by), ..*self })
        }
    }
    fn twice(&self, x: f64) -> Result<f64, String> {
        let worn = self.worn(0.5)?;
        Ok(worn.force(x)? + self.worn(0.25)?.force(x)?)
    }
}

#[differentiable]
fn pulled(x: &[f64]) -> Result<f64, String> {
    let spring = Spring { stiffness: x[0], limit: x[1] };
    let f = spring.twice(x[2])?;
    let other = match spring.worn(x[3]) {
        Ok(s) => s.force(x[2]).unwrap_or(-7.0),
        Err(_) => 0.0,
    };
    Ok(f * other)
}

#[differentiable]
fn scaled(x: &mut [f64], by: f64) -> Result<(), String> {
    if by == 0.0 {
        return Err("zero".to_string());
    }
    for v in x.iter_mut() {
        *v /= by;
    }
    Ok(())
}

#[differentiable]
fn of_scaled(x: &[f64]) -> Result<f64, String> {
    let mut y = x.to_vec();
    scaled(&mut y, x[0])?;
    Ok(y.iter().map(|v| v * v).sum())
}

#[differentiable]
fn one_after_another(x: &[f64]) -> Result<f64, String> {
    let y = root(x[0]).and_then(|v| root(v - 1.0)).map(|v| v * x[1])?;
    let z = root(x[1]).map(|v| v + 1.0).unwrap_or(0.25);
    root(y).map(|v| v * z).and_then(|v| if v > 3.0 { Err("above".to_string()) } else { Ok(v * v) })
}

#[differentiable]
fn renamed_errors(x: &[f64]) -> Result<f64, String> {
    let a = root(x[0]).map_err(|_| "the first one".to_string())?;
    let b = root(x[1]).map_err(|e| e)?;
    Ok(a * b)
}

/// Only whether the root is one counts.
#[differentiable]
fn with_a_root(x: &[f64]) -> Result<f64, String> {
    if x.len() > 1 {
        let _root = root(x[1]).unwrap();
    }
    mean(x)
}

#[test]
fn results_are_those_of_the_plain_functions() {
    agree! {
        mean at [1.0, 2.0], [];
        roots at [1.0, 4.0, 2.0], [1.0, -4.0, 2.0], [1.0, 1.0, 1.0, 1.0], [-1.0, 1.0, 1.0, 1.0];
        tail_call at [4.0], [13.0], [11.0], [-1.0], [];
        looked_at_in_a_result at [1.0, 3.0, 2.0], [-1.0, 3.0], [-1.0, 2.0, 3.0], [-1.0, -2.0], [];
        norm_of_solved at [2.0, 1.0, 0.5, 3.0, 1.0, 2.0], [1.0, 2.0, 2.0, 4.0, 1.0, 1.0], [1.0];
        all_roots at [1.0, 2.0, 0.5], [1.0, -2.0], [];
        chosen at [1.0, 2.0, 3.0], [-1.0, 2.0, 3.0], [1.0, 2.0, 300.0], [1.0, 2.0], [1.0, -2.0];
        pulled at [2.0, 10.0, 1.0, 0.5], [2.0, 10.0, 20.0, 0.5], [2.0, 10.0, 1.0, 2.0], [2.0, 10.0, 4.0, 0.7];
        one_after_another at [9.0, 2.0], [0.5, 2.0], [-1.0, 2.0], [9.0, -2.0], [9.0, 20.0];
        of_scaled at [2.0, 4.0], [0.0, 1.0];
        with_a_root at [2.0, 4.0], [3.0], [];
    }
    assert!(with_a_root::gradient(&[2.0, -4.0]).is_err());
    let plain = |x: &[f64]| looked_at(x);
    for x in [[4.0, 9.0], [-4.0, 9.0], [4.0, -9.0], [-4.0, -9.0]] {
        same(looked_at::value(&x).unwrap(), plain(&x));
        close(&looked_at::gradient(&x).unwrap(), &differences(plain, &x));
    }
}

#[test]
fn the_text_of_an_error_is_that_of_the_plain_one() {
    let said = renamed_errors::value(&[-1.0, 1.0]).unwrap_err().to_string();
    assert!(said.contains("the first one") && said.contains("R12"), "{said}");
    assert!(renamed_errors::value(&[1.0, -1.0]).is_err());
    same(renamed_errors::value(&[4.0, 9.0]).unwrap(), 6.0);
    assert_eq!(scaled::value(&[2.0, 4.0], 2.0).unwrap(), [1.0, 2.0]);
    assert!(scaled::value(&[2.0], 0.0).unwrap_err().to_string().contains("zero"));
    assert_eq!(solved::value(&[1.0, 0.0, 0.0, 2.0, 3.0, 4.0]).unwrap(), [3.0, 2.0]);
    assert!(solved::value(&[1.0]).unwrap_err().to_string().contains("Length"));
    let by = Spring_force::gradient(&Spring { stiffness: 3.0, limit: 2.0 }, 1.0).unwrap();
    assert_eq!(by, (Spring { stiffness: -1.0, limit: 0.0 }, -3.0));
    assert_eq!(root::hessian(4.0).unwrap(), -1.0 / 32.0);
}

/// Methods of traits, and functions of type parameters.
#[differentiable]
trait Curve {
    fn at(&self, t: f64) -> Result<f64, String>;
}

#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct Line {
    slope: f64,
}

#[differentiable]
impl Curve for Line {
    fn at(&self, t: f64) -> Result<f64, String> {
        if t > 3.0 {
            return Err("beyond the end".to_string());
        }
        Ok(self.slope * t)
    }
}

#[differentiable]
fn along<C: Curve>(curve: &C, t: &[f64]) -> Result<f64, String> {
    let mut s = 0.0;
    for v in t {
        s += curve.at(*v)? * v;
    }
    if s > 100.0 { Err("too much".to_string()) } else { Ok(s) }
}

#[differentiable]
fn of_curves(x: &[f64]) -> f64 {
    let line = Line { slope: x[0] };
    along(&line, &x[1..]).unwrap_or(-1.0 * x[1]) + line.at(x[1]).unwrap_or(2.0)
}

#[differentiable]
fn surely_along(x: &[f64]) -> Result<f64, String> {
    let line = Line { slope: x[0] };
    Ok(along(&line, &x[1..])? * line.at(0.5)?)
}

#[test]
fn results_of_traits_and_type_parameters() {
    agree! {
        surely_along at [2.0, 1.0, 2.5], [50.0, 1.0, 2.0];
    }
    // Which method of a trait it is, is not known where it is called: so its text is not.
    assert!(
        surely_along(&[2.0, 1.0, 4.0]).is_err() && surely_along::value(&[2.0, 1.0, 4.0]).is_err()
    );
    for x in [[2.0, 1.0, 2.5], [2.0, 1.0, 4.0], [2.0, 4.0, 1.0], [50.0, 1.0, 2.0]] {
        same(of_curves::value(&x).unwrap(), of_curves(&x));
        close(&of_curves::gradient(&x).unwrap(), &differences(|x| of_curves(x), &x));
    }
    let by = along::gradient(&Line { slope: 2.0 }, &[1.0, 2.0]).unwrap();
    assert_eq!(by, (Line { slope: 5.0 }, vec![4.0, 8.0]));
}
