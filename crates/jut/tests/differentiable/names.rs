//! Names: of other modules, under other names, of macros, and words that mean something in the text.

use super::same;
use jut::differentiable;

mod inner {
    #[jut::differentiable]
    pub fn square(x: f64) -> f64 {
        x * x
    }

    pub mod deep {
        #[jut::differentiable]
        pub fn quartic(x: f64) -> f64 {
            super::square(super::square(x))
        }

        /// Another of the same name.
        #[jut::differentiable]
        pub fn square(x: f64) -> f64 {
            super::square(x) + 1.0
        }
    }
    pub use deep::quartic as fourth;
}

use inner::deep::square as other_square;
use inner::{fourth, square};

#[differentiable]
fn mixed(x: f64) -> f64 {
    square(x) + other_square(x) - fourth(x) + inner::deep::quartic(x) * self::inner::square(2.0)
}

#[test]
fn names_are_those_of_rust() {
    same(mixed::value(1.5).unwrap(), mixed(1.5));
    let text = mixed::text().unwrap();
    assert_eq!(text.matches("inner_deep_quartic(").count(), 3, "{text}");
    same(fourth::gradient(2.0).unwrap(), 32.0);
}

#[differentiable]
fn words(sum: f64, data: f64, map: &[f64], size: usize) -> f64 {
    let exp = sum + data;
    let mut var = exp * 2.0;
    let max = map[0];
    let build = map.len();
    for scan in 0..build {
        let check = map[scan];
        var += check * max;
    }
    let with = if size > 1 { var } else { 0.0 };
    let r#type = with;
    let carry = [r#type; 2];
    let repeat = vec![carry[0]; 2];
    let (f64_, pi, prim) = (repeat[1], 3.0_f64, 1.0);
    let (def, case, case_1) = (f64_.exp() * 0.0, pi.max(prim), 4.0_f64);
    def + case + case_1.min(exp) + with
}

#[test]
fn words_of_the_text_are_names_in_rust() {
    let got = words::value(0.5, 0.25, &[1.0, 2.0], 3).unwrap();
    assert_eq!(got, words(0.5, 0.25, &[1.0, 2.0], 3));
}

/// Every word that means something in the text, and every primitive without a place of its own in Rust.
macro_rules! each_word {
    ($($word:ident)*) => {$(
        mod $word {
            #[jut::differentiable]
            pub fn $word(x: f64) -> f64 {
                let $word = x * 2.0;
                let mut s = $word;
                for i in 0..2 {
                    s += $word * i as f64;
                }
                s
            }

            #[test]
            fn is_a_name() {
                super::super::same($word::gradient(3.0).unwrap(), 4.0);
            }
        }
    )*};
}

each_word! {
    acc build carry case cast check core data def down drop dup fold lanes lend map max min null par proved put
    rd rec rule scan select size slice st sum take up var with wr zero exp sqrt times pi inf nan prim repeat
    grad hessian mean relu floor rust_max jvp
}

macro_rules! made {
    ($name:ident, $factor:expr) => {
        #[differentiable]
        fn $name(x: f64) -> f64 {
            let y = $factor * x;
            y * x
        }
    };
}

made!(doubled, 2.0);
made!(tripled, 3.0);

#[differentiable(name = with_another_name)]
fn named(x: f64) -> f64 {
    x * x * x
}

#[allow(non_camel_case_types, dead_code)]
struct named {}

#[test]
fn functions_are_made_by_macros_and_in_functions() {
    same(doubled::gradient(3.0).unwrap(), 12.0);
    same(tripled::gradient(3.0).unwrap(), 18.0);
    same(with_another_name::gradient(2.0).unwrap(), 12.0);
    same(named(2.0), 8.0);

    #[differentiable]
    fn local(x: f64) -> f64 {
        doubled(x) + 1.0
    }
    same(local::value(2.0).unwrap(), local(2.0));
}

#[test]
fn threads_share_what_is_compiled() {
    let results: Vec<f64> = std::thread::scope(|scope| {
        let all: Vec<_> =
            (0..8).map(|k| scope.spawn(move || mixed::gradient(f64::from(k)).unwrap())).collect();
        all.into_iter().map(|t| t.join().unwrap()).collect()
    });
    for (k, got) in results.into_iter().enumerate() {
        same(got, mixed::gradient(k as f64).unwrap());
    }
}
