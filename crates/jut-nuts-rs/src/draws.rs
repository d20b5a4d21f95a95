//! Draws as they are stored: each parameter by its name.

use crate::LogDensity;
use nuts_rs::{ItemType, Storable, Value};

/// A draw: the numbers of the vector. It is stored by the names of the parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct Draw(pub Vec<f64>);

/// Whether a parameter is one number.
fn is_number(parent: &LogDensity, item: &str) -> bool {
    let mut all = parent.flat().parameters();
    all.any(|(name, _, start)| name == item && matches!(start, jut::Value::F64(_)))
}

impl Storable<LogDensity> for Draw {
    fn names(parent: &LogDensity) -> Vec<&str> {
        parent.flat().parameters().map(|(name, _, _)| name).collect()
    }

    fn item_type(_: &LogDensity, _: &str) -> ItemType {
        ItemType::F64
    }

    fn dims<'a>(parent: &'a LogDensity, item: &str) -> Vec<&'a str> {
        let own = parent.flat().parameters().map(|(name, _, _)| name);
        own.filter(|name| *name == item && !is_number(parent, item)).collect()
    }

    fn get_all<'a>(&'a mut self, parent: &'a LogDensity) -> Vec<(&'a str, Option<Value>)> {
        let numbers = &self.0;
        let value = |(name, place, _): (&'a str, std::ops::Range<usize>, _)| {
            let own = numbers.get(place)?;
            let value = match (own, is_number(parent, name)) {
                ([one], true) => Value::ScalarF64(*one),
                _ => Value::F64(own.to_vec()),
            };
            Some((name, Some(value)))
        };
        parent.flat().parameters().filter_map(value).collect()
    }
}
