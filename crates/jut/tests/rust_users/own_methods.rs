//! Methods of own types that are named as those of numbers, of fields and elements.

use jut::math::{cos, exp, sin};
use jut::{Data, differentiable};

#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct Complex {
    re: f64,
    im: f64,
}

#[differentiable]
impl Complex {
    fn exp(self) -> Complex {
        let r = exp(self.re);
        Complex { re: r * cos(self.im), im: r * sin(self.im) }
    }
    fn abs(&self) -> f64 {
        (self.re * self.re + self.im * self.im).sqrt()
    }
}

#[derive(Data, Clone, Copy, Debug, PartialEq)]
struct Wave {
    z: Complex,
    scale: f64,
}

#[differentiable]
impl Wave {
    fn value(&self) -> f64 {
        let e = self.z.exp();
        e.re * self.scale.exp() + e.im + self.z.abs() * self.scale.abs()
    }
}

#[differentiable]
fn sum(w: &[Wave]) -> f64 {
    w.iter().map(|w| w.z.exp().re * w.scale).sum::<f64>() + w[0].z.exp().abs()
}

#[test]
fn fields() {
    let w = Wave { z: Complex { re: 0.5, im: 1.0 }, scale: 0.0 };
    assert!((Wave_value::value(&w).unwrap() - w.value()).abs() < 1e-14);
    assert_eq!(sum::value(&[w, w]).unwrap(), sum(&[w, w]));
}
