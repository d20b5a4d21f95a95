//! What chains of iterators give, and searches.

use super::Kind::Array;
use super::Writer;

impl Writer<'_> {
    /// What chains of iterators give.
    pub(super) fn chain(&mut self, array: &str) -> String {
        let (a, b) = (self.float(0), self.float(0));
        let other = self.pick(Array, false).unwrap_or_else(|| array.to_string());
        match self.rng.u8(0..26) {
            23 => format!(
                "{array}.iter().try_fold({a}, |p, q| if *q > 2.5 {{ None }} else {{ Some(p * 0.5 + q) }}).unwrap_or({b})"
            ),
            24 => format!(
                "({array}.binary_search_by(|p| p.partial_cmp(&{a}).unwrap()).unwrap_or_else(|i| i + 5) as f64)"
            ),
            25 => format!(
                "(match {array}.binary_search_by(|p| p.partial_cmp(&{a}).unwrap()) {{ Ok(i) => {array}[i] * 0.5, Err(i) => i as f64 }})"
            ),
            17 => format!(
                "{array}.iter().filter(|q| **q > {a}).map(|q| q * 0.5).collect::<Vec<f64>>().iter().sum::<f64>()"
            ),
            18 => format!(
                "{array}.iter().filter_map(|q| if *q > {a} {{ Some(q - {b}) }} else {{ None }}).product::<f64>()"
            ),
            19 => format!("{array}.iter().skip_while(|q| **q > {a}).fold(0.5, |p, q| p * 0.5 + q)"),
            20 => format!(
                "{array}.iter().map_while(|q| if *q > {a} {{ Some(q + {b}) }} else {{ None }}).sum::<f64>()"
            ),
            21 => format!("({array}.iter().rposition(|q| *q > {a}).unwrap_or(5) as f64)"),
            22 => format!("{array}.iter().nth(1).copied().filter(|q| *q > {a}).unwrap_or({b})"),
            15 => format!("{array}.iter().take_while(|q| **q > {a}).map(|q| q * 2.0).sum::<f64>()"),
            16 => format!(
                "{array}.iter().skip(1).chain(&{other}.to_vec()).map(|q| q - {a}).sum::<f64>()"
            ),
            0 => format!("{array}.windows(2).map(|w| w[0] - w[1] * {a}).sum::<f64>()"),
            1 => format!(
                "{array}.chunks(2).map(|c| c[0] * {a} + c.len() as f64).fold(0.5, |p, q| p * 0.5 + q)"
            ),
            2 => format!("{array}.chunks_exact(2).map(|c| c[0] - c[1]).product::<f64>()"),
            3 => format!(
                "{array}.iter().map(|q| q * {a}).zip({other}.iter().rev().map(|q| q + {b})).map(|(p, q)| p * q).sum::<f64>()"
            ),
            4 => format!(
                "{array}.iter().step_by(2).enumerate().map(|(i, q)| q * i as f64).sum::<f64>()"
            ),
            5 => format!(
                "{array}.iter().flat_map(|q| (0..2).map(move |j| q * j as f64 + 0.5)).sum::<f64>()"
            ),
            6 => format!(
                "{array}.iter().scan({a}, |s, q| {{ *s = *s * 0.5 + q; Some(*s) }}).sum::<f64>()"
            ),
            7 => format!("({array}.iter().position(|q| *q > {a}).unwrap_or(3) as f64)"),
            8 => format!("(*{array}.last().unwrap())"),
            9 => format!("{array}.first().copied().unwrap_or({a})"),
            10 => format!("{array}.iter().copied().find(|q| *q < {a}).map_or({b}, |q| q * 2.0)"),
            11 => {
                format!("{array}.iter().map(|q| q + {a}).reduce(|p, q| p * 0.5 - q).unwrap_or({b})")
            }
            12 => format!(
                "(*{array}.iter().max_by(|p, q| p.partial_cmp(q).unwrap()).unwrap_or(&0.5))"
            ),
            13 => format!("({array}.iter().filter(|q| **q > {a}).count() as f64)"),
            _ => format!("{array}.iter().skip(1).map(|q| q - {a}).last().expect(\"one\")"),
        }
    }
}
