//! Lists of enums without floats, as parameters and fields: a derivative with respect to them has nothing in it.

use jut::{Data, differentiable};

#[derive(Data, Clone, Copy, Debug, PartialEq)]
enum Kind {
    Up,
    Down,
}

#[derive(Data, Clone, Debug, PartialEq)]
#[data(twin)]
struct Plan {
    kinds: Vec<Kind>,
    ends: [Kind; 2],
    weight: f64,
}

#[derive(Data, Clone, Debug, PartialEq)]
enum Rule {
    All { kinds: Vec<Kind>, ends: [Kind; 2], weight: f64 },
    None(f64),
}

#[differentiable]
impl Plan {
    fn run(&self, x: f64) -> f64 {
        let mut y = x;
        for k in self.kinds.iter().chain(&self.ends) {
            match k {
                Kind::Up => y *= self.weight,
                Kind::Down => y += 1.0,
            }
        }
        y
    }
}

#[differentiable]
fn ruled(rule: &Rule, kinds: &[Kind], x: f64) -> f64 {
    match rule {
        Rule::All { kinds: own, ends, weight } => {
            let ups = own.iter().chain(ends).filter(|k| **k == Kind::Up).count();
            weight * x * ups as f64
        }
        Rule::None(w) if kinds.first().is_some_and(|k| *k == Kind::Down) => w * w * x,
        Rule::None(w) => w + x,
    }
}

#[differentiable]
fn made(x: &[f64]) -> f64 {
    let plan = Plan { kinds: vec![Kind::Up, Kind::Down], ends: [Kind::Up; 2], weight: x[0] };
    let rule = Rule::All { kinds: vec![Kind::Up; 3], ends: [Kind::Down, Kind::Up], weight: x[1] };
    plan.run(x[1]) + ruled(&rule, &plan.kinds, x[0]) + ruled(&Rule::None(x[1]), &[Kind::Down], x[0])
}

#[test]
fn lists_of_enums() {
    let plan =
        Plan { kinds: vec![Kind::Up, Kind::Down], ends: [Kind::Down, Kind::Up], weight: 2.0 };
    let (by_plan, by_x) = Plan_run::gradient(&plan, 3.0).unwrap();
    // ((3 w) + 2) w
    assert_eq!(by_x, 4.0);
    assert_eq!(by_plan, PlanGrad { kinds: vec![], ends: [(), ()], weight: 14.0 });
    assert_eq!(Plan_run::jvp(&plan, 3.0, &by_plan, 1.0).unwrap(), (16.0, 14.0 * 14.0 + 4.0));
    let (by_rule, by_kinds, by_x) = ruled::gradient(&Rule::None(3.0), &[Kind::Down], 2.0).unwrap();
    assert_eq!((by_kinds, by_x), (vec![], 9.0));
    assert_eq!((by_rule.all_weight, by_rule.none), (0.0, 12.0));
    everywhere! {
        made at [1.5, 2.0];
    }
}
