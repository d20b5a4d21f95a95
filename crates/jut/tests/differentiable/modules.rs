//! The attribute before a module.

use jut::differentiable;

#[differentiable]
mod model {
    /// A weight.
    pub const WEIGHT: f64 = 0.5;

    #[derive(jut::Data, Clone, Debug, PartialEq)]
    pub struct Spring {
        pub stiffness: f64,
        pub rest: f64,
    }

    pub trait Energy {
        fn energy(&self, x: f64) -> f64;
    }

    impl Energy for Spring {
        fn energy(&self, x: f64) -> f64 {
            WEIGHT * self.stiffness * inner::squared(x - self.rest)
        }
    }

    impl Spring {
        pub fn force(&self, x: f64) -> f64 {
            -self.stiffness * (x - self.rest)
        }
    }

    impl Default for Spring {
        fn default() -> Spring {
            Spring { stiffness: 1.0, rest: 0.0 }
        }
    }

    pub fn total<E: Energy>(of: &E, x: &[f64]) -> f64 {
        x.iter().map(|v| of.energy(*v)).sum()
    }

    #[jut::differentiable(wrt(x))]
    pub fn work(spring: &Spring, x: f64) -> f64 {
        spring.force(x) * x
    }

    pub mod inner {
        pub fn squared(x: f64) -> f64 {
            x * x
        }
    }

    #[cfg(test)]
    pub fn words(x: &str) -> usize {
        x.len()
    }
}

#[test]
fn a_module_has_the_attribute_for_all_its_functions() {
    let spring = model::Spring { rest: 0.5, ..Default::default() };
    let (by_spring, by_x) = model::total::gradient(&spring, &[1.5, 2.5]).unwrap();
    assert_eq!(by_spring, model::Spring { stiffness: 2.5, rest: -3.0 });
    assert_eq!(by_x, [1.0, 2.0]);
    let value = model::total::value(&spring, &[1.5, 2.5]).unwrap();
    assert_eq!(value, model::total(&spring, &[1.5, 2.5]));
    assert_eq!(model::work::gradient(&spring, 2.0).unwrap(), -3.5);
    assert_eq!(model::Spring_force::gradient(&spring, 2.0).unwrap().1, -1.0);
    assert_eq!(model::inner::squared::gradient(3.0).unwrap(), 6.0);
    assert_eq!(model::words("abc"), 3);
}
