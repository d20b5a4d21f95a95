//! What is refused: at which token, and with which words. Each case is a function, with brackets `«»` round the
//! token that the compiler points to, and a part of the message.

use quote::ToTokens;

const CASES: &[(&str, &str)] = &[
    (
        "fn f(x: &[f64]) -> f64 { let g = |k: f64| move |t: &f64| k * t; x.iter().map(«g(2.0)»).sum() }",
        "a closure that another one gives has a name",
    ),
    (
        "fn f(x: &Kernel) -> f64 { match x { Kernel::Wide(w) => *w, «Linear» => 1.0 } }",
        "has its enum's name before it",
    ),
    (
        "fn f(x: &K) -> f64 { use A::*; use B::*; match x { «Linear» => 1.0, _ => 0.0 } }",
        "has its enum's name before it",
    ),
    (
        "fn f(x: &[Vec<f64>]) -> f64 { let k = x.iter().enumerate().«max_by»(|(_, a), (_, b)| a[0].total_cmp(&b[0])).map(|(i, _)| i).unwrap_or(0); k as f64 }",
        "search the place",
    ),
    // Signatures.
    ("fn f(n: «u128») -> f64 { n as f64 }", "write `i64` or `u64`"),
    ("fn f(x: «String») -> f64 { 1.0 }", "`String` is not built"),
    ("fn f(x: &[«&mut f64»]) -> f64 { 1.0 }", "in front of a whole parameter only"),
    ("fn f(x: &mut [f64]) { «x» = y; }", "assign what this refers to: `*x = ..`"),
    ("fn f(x: &mut [f64], y: f64) { if y > 0.0 { return «g(y)»; } }", "before the `return`"),
    ("fn f(x: &mut [f64]) { x[0] = *(&«mut» x[1]); }", "use the variable itself"),
    ("fn f<«T»>(x: f64) -> f64 { 1.0 }", "the type of a parameter here"),
    ("fn f<«T»: P>(x: f64) -> T { T::new(x) }", "the type of a parameter here"),
    ("fn f<T: P>(g: impl Fn(f64) -> f64, x: &«Rc<T>») -> f64 { g(1.0) }", "derives `jut::Data`"),
    ("«async» fn f(x: f64) -> f64 { x }", "write a plain function"),
    ("«unsafe» fn f(x: f64) -> f64 { x }", "write a safe function"),
    ("fn «f»(x: f64) { }", "gives nothing"),
    ("fn f(«&self», x: f64) -> f64 { x }", "before the `impl` block"),
    ("fn f(x: «(f64, usize)») -> f64 { x.0 }", "write its components"),
    ("fn f(x: «Option<Vec<Vec<f64>>>») -> f64 { 1.0 }", "an array of fixed size"),
    ("fn f(x: «&mut Option<f64>») -> f64 { 1.0 }", "not changed in place"),
    ("fn f(x: f64) -> «(f64, Option<f64>)» { (x, Some(x)) }", "a whole parameter or result"),
    ("fn f(x: &mut [f64]) -> «&mut [f64]» { x }", "a place that is changed"),
    ("fn f(x: &[f64]) -> Result<«&[f64]», String> { Ok(x) }", "is a value of its own here"),
    ("fn f(x: &[«&[f64]»]) -> f64 { 1.0 }", "write `&[Vec<f64>]`"),
    ("fn f(x: &«[Vec<Vec<f64>>]») -> f64 { 1.0 }", "two at most"),
    ("fn f(x: &«[Vec<f64>; 2]») -> f64 { 1.0 }", "two at most"),
    ("fn f(x: f64) «-> (f64, (f64, f64))» { (x, (x, x)) }", "write one tuple"),
    ("fn f(x: &[f64]) -> f64 { let a = x[..2].try_into().«unwrap»(); 1.0 }", "say what this makes"),
    (
        "fn f(x: &mut [f64]) -> f64 { for row in x.«chunks_mut»(2) { if row[0] > 1.0 { return 1.0; } row[0] = 1.0; } 2.0 }",
        "a jump leaves",
    ),
    (
        "fn f(x: &mut [f64]) { let g = |u: &mut [f64]| u[0] = 1.0; g(&mut «x[1..]»); }",
        "give this part a name",
    ),
    ("fn f(x: «HashMap<f64, f64>») -> f64 { 1.0 }", "is not built"),
    ("fn f(x: &«dyn P») -> f64 { 1.0 }", "write `impl Trait`"),
    (
        "fn f(x: &[f64]) -> f64 { let mut q = x.to_vec(); let a: Vec<f64> = q.drain(«r»).collect(); a[0] }",
        "write which elements are taken",
    ),
    (
        "fn f(x: &[f64]) -> f64 { let mut it = x.«iter»(); let a = it.by_ref().any(|v| *v > 1.0); it.sum() }",
        "this use of an iterator is not built",
    ),
    ("fn f(x: Vec<&«dyn P»>) -> f64 { 1.0 }", "write `impl Trait`"),
    ("fn f(g: «Box<dyn Fn(f64) -> f64>», x: f64) -> f64 { g(x) }", "write `impl Fn(f64) -> f64`"),
    // Statements.
    ("fn f(x: f64) -> f64 { let «[y, z]»; y = x; y }", "a `let` of its own"),
    (
        "fn f(x: f64) -> f64 { let mut p = P { x }; let q = std::mem::take(&mut «p»); q.x }",
        "what a struct is by default is written",
    ),
    ("fn f(x: f64, n: i64) -> f64 { x * n.«unsigned_abs»() as f64 }", "write `abs()`"),
    (
        "fn f(x: f64, n: usize) -> f64 { x * n.«overflowing_add»(1).0 as f64 }",
        "is not built for integers",
    ),
    ("fn f(x: f64) -> f64 { fn «g»() {} x }", "gives nothing"),
    ("fn f(x: f64) -> f64 { «struct S;» x }", "`#[derive(jut::Data)]` before a type"),
    ("fn f(x: f64) -> f64 { «mod m {}» x }", "outside of the function"),
    ("fn f(x: f64) -> f64 { fn g(y: f64) -> f64 { y.«next_up»() } x }", "add a tolerance"),
    ("fn f(x: f64) -> f64 { let «Some(y)» = x; y }", "bind a name"),
    (
        "fn f(x: f64) -> f64 { let g = |y: f64| -> f64 { 1.0 + if y > 0.0 { «return» 1.0 } else { y } }; g(x) }",
        "out of a closure",
    ),
    (
        "fn f(x: &[f64]) -> Option<f64> { Some(«x[1..].iter()».fold(g(x)?, |a, b| a + b)) }",
        "a jump out of a value",
    ),
    (
        "fn f(x: Option<f64>) -> f64 { let y = match x { Some(z) if «{ if z > 0.0 { return 1.0; } true }» => z, _ => 0.0 }; y }",
        "a jump out of a value",
    ),
    ("fn f(x: f64) -> f64 { «loop» { let y = x; } }", "this loop never ends"),
    (
        "fn f(x: f64) -> f64 { let y = «loop { if x > 0.0 { return x; } break x; }»; y }",
        "a jump out of a value",
    ),
    (
        "fn f(x: &[f64]) -> f64 { let mut s = 0.0; for v in x.iter().«flat_map»(|v| 0..3) { if v > 1 { break; } s += v; } s }",
        "write a `for` loop",
    ),
    ("fn f(x: &[f64]) -> f64 { for v in x.windows(«0») { } 1.0 }", "a length of 0"),
    (
        "fn f(x: &[f64]) -> f64 { for v in x.iter().«peekable»() { } 1.0 }",
        "`peekable` is not built",
    ),
    ("fn f(x: &[f64]) -> f64 { let «[a, b]» = x; a + b }", "may have another length"),
    (
        "fn f(x: f64) -> f64 { let a = Some(x).«flatten»(); x }",
        "`flatten` of an `Option` is not built",
    ),
    (
        "fn f(x: &[P]) -> f64 { let mut v = x.to_vec(); v.«sort_by»(|a, b| a.x.total_cmp(&b.y)); 1.0 }",
        "compares one thing of both",
    ),
    ("fn f(x: f64) -> f64 { let a = g(«std::array::from_fn»(|i| x)); x }", "say what this makes"),
    ("fn f(x: f64) -> f64 { loop { 'a: { if x > 1.0 { «break»; } break 'a; } } x }", "a label"),
    ("fn f(x: f64) -> f64 { let a = «None»; x }", "of what this is none"),
    (
        "fn f(x: f64) -> f64 { let mut «a» = None; if a.is_none() { x } else { 1.0 } }",
        "of what this is none",
    ),
    (
        "fn f(x: &[f64]) -> f64 { x.iter().max_by(|a, b| a.«next_up»(b)).unwrap() }",
        "`|a, b| a.total_cmp(b)`",
    ),
    (
        "fn f(x: &[f64]) -> f64 { x.iter().scan(0.0, |s, v| «s.next()»).sum() }",
        "ends with `Some(..)`",
    ),
    (
        "fn f(x: &[f64]) -> f64 { let mut a = x.to_vec(); while a.len() > 1 { «a»[0] = a.pop().unwrap(); } a[0] }",
        "statements of their own",
    ),
    (
        "fn f(x: &[f64]) -> f64 { let mut a = x.to_vec(); while a.len() > 1 { let b = &mut «a»[0]; *b = 1.0; a.pop(); } a[0] }",
        "keeps a `&mut`",
    ),
    (
        "fn f(x: &[f64]) -> f64 { g(x).ok_or_else(«|| E::Far(x[0])»).unwrap_or(1.0) }",
        "compute what it has in it before",
    ),
    ("fn f(x: f64) -> f64 { match g(x) { Ok(y) => y, Err(«e») => 1.0 } }", "write `Err(_)`"),
    ("fn f(x: f64) -> Result<«Option<f64>», E> { Ok(Some(x)) }", "a whole parameter or result"),
    ("fn f(x: «Result<f64, E>») -> f64 { 1.0 }", "give an `Option`"),
    (
        "fn f(x: f64) -> Result<f64, E> { let g = |y: f64| { if y < 0.0 { «return» Err(E::Low); } Ok(y) }; Ok(g(x).unwrap_or(1.0)) }",
        "out of a closure",
    ),
    (
        "fn f(x: &mut [f64]) -> f64 { let «(a, b)» = x.split_at_mut(2); let x = 1.0; b[0] = x; a[0] }",
        "give both parts names",
    ),
    (
        "fn f(x: f64) -> Result<f64, E> { let g = |y: f64| -> Result<f64, E> { Ok(h(y)«?» * 2.0) }; g(x) }",
        "not in a closure",
    ),
    ("fn f(x: f64) -> f64 { let mut a = Vec::new(); «a».len() as f64 }", "write its type"),
    ("fn f(x: f64) -> f64 { for i in «0..» { } x }", "both ends"),
    ("fn f(x: f64) -> f64 { for i in «x» { } x }", "over a range or an array"),
    ("fn f(x: f64, n: usize) -> f64 { for i in (0..n).step_by(«0») { } x }", "a step of 0"),
    (
        "fn f(x: &[f64]) -> f64 { let mut a = x.to_vec(); «*»a = 1.0; 1.0 }",
        "`*` stands before a parameter",
    ),
    ("fn f(x: f64) -> f64 { «STATE» = x; x }", "only variables of this function"),
    ("fn f(x: f64) -> f64 { if let «Some»(y) = x { y } else { 1.0 } }", "an enum of your own"),
    ("fn f(e: E) -> f64 { if e.on() && «let» E::A(y) = e { y } else { 1.0 } }", "at the beginning"),
    (
        "fn f(x: &[f64]) -> f64 { x.iter().map(|v| v * 2.0).«chain»(x).zip(x).map(|(a, b)| a * b).sum() }",
        "stands before `map`",
    ),
    ("fn f(e: E) -> f64 { if let E::A(«y») | E::B(y) = e { y } else { 0.0 } }", "an arm for each"),
    ("fn f(e: E) -> f64 { match e { E::A(«..», y) => y, _ => 0.0 } }", "name each component"),
    ("fn f(x: f64) -> f64 { let N = 1.0; match x { «N» => 1.0, _ => x } }", "write it small"),
    ("fn f(x: f64) -> f64 { match g(x) { Ok(y) => y, Err(«E::A») => x, _ => 0.0 } }", "`Err(_)`"),
    // Expressions.
    ("fn f(x: &[f64]) -> f64 { let y = x.«iter»(); 1.0 }", "write a `for` loop"),
    ("fn f(x: &[f64]) -> f64 { let w = x.«windows»(2); 1.0 }", "write a `for` loop"),
    (
        "fn f(x: &[f64]) -> f64 { x.iter().map(|v| v + 1.0).«step_by»(2).sum() }",
        "`step_by` stands before `map`",
    ),
    (
        "fn f(x: &[f64]) -> f64 { (0..).«filter»(|k| *k > 3).zip(x).map(|(a, b)| a as f64 * b).sum() }",
        "stands behind `zip`",
    ),
    (
        "fn f(x: &[f64]) -> f64 { x.iter().map(|v| { for w in x { if w > v { «return» 1.0; } } *v }).sum() }",
        "out of a closure",
    ),
    ("fn f(n: usize) -> f64 { (0..n).map(|i| i as f64).max_by(«g») }", "write the order as"),
    ("fn f(x: &[f64]) -> f64 { x.iter().copied().«max»() }", "this is for integers"),
    ("fn f(x: &mut Vec<f64>) { x.«push»(1.0); }", "in the block that declares it"),
    ("fn f(x: &[f64]) -> f64 { let mut a = x.to_vec(); a.«retain»(); a[0] }", "write `retain"),
    ("fn f(x: &[f64]) -> f64 { x.«join»() }", "of an array is not built"),
    ("fn f(x: f64) -> f64 { let g = («|»y: f64| y + x, 1.0); 1.0 }", "or has a name"),
    ("fn f(x: f64, g: usize) -> f64 { «g»(x) }", "this is no function"),
    ("fn f(x: f64) -> f64 { let g = |y: f64| y; let h = «g»; 1.0 }", "a function is called"),
    ("fn f(g: impl Fn(&[f64]) -> «Vec<Vec<f64>>») -> f64 { g(&[1.0])[0][0] }", "gives one list"),
    ("fn f(g: impl Fn(f64)) -> f64 { g(1.0); 1.0 }", "gives a value"),
    (
        "fn f(x: f64) -> f64 { let mut s = 0.0; h(«|»y| { s += y; y }); s }",
        "assigns no variables of outside",
    ),
    ("fn f<const B: «bool»>(x: f64) -> f64 { x }", "write `const N: usize`"),
    ("fn f<const «N»: usize>(x: f64) -> [f64; N] { [x; N] }", "that of a parameter"),
    ("fn f<const «N»: usize>(x: &[f64; N]) -> State<N> { State { x: *x } }", "`s: &State<N>`"),
    ("fn f(x: f64) -> f64 { «Vec::new»(); x }", "where a list is declared"),
    ("fn f(x: f64) -> f64 { «Rc::new»(x); x }", "use numbers, arrays and tuples"),
    ("fn f(x: f64) -> f64 { let mut q = «VecDeque::new»(); q.push_back(x); x }", "`remove(0)`"),
    ("fn f(x: f32) -> f32 { x.«mul_add»(2.0, 1.0) }", "rounds twice"),
    ("fn f(x: f64) -> f64 { x.«to_bits»() as f64 }", "bits have no derivative"),
    ("fn f(x: f64) -> f64 { x.«sine»() }", "the method `sine` is not built"),
    ("fn f(x: usize) -> usize { «!»x }", "63 here: use `i64`"),
    ("fn f(s: &S, k: usize) -> f64 { (s.n «<<» k) as f64 }", "the type of what is shifted"),
    ("fn f(x: i64) -> i64 { x «>>» 64 }", "fewer bits than the type has"),
    ("fn f(x: f64) -> f64 { g(x).«rem_euclid»(h(x)) }", "the type of this is not known here"),
    ("fn f(x: f64) -> f64 { x as «i128» as f64 }", "`i128` is not built"),
    ("fn f(x: f64) -> f64 { let s: f32 = «1e39»; x }", ""),
    ("fn f(p: f64) -> f64 { p.«x» }", "this is no struct"),
    ("fn f(p: «&[Option<Vec<f64>>]») -> f64 { 1.0 }", "a whole parameter or result"),
    (
        "fn f(p: Grid<f64>, q: Grid<f32>) -> f64 { let r = «Grid» { x: 1.0 }; 1.0 }",
        "write the struct's parameters",
    ),
    ("fn f(x: f64) -> f64 { let a = [x]; let r = &mut «a[0..1]»; 1.0 }", ""),
    ("fn f(x: f64) -> f64 { <«f64» as T>::P { x }; 1.0 }", "by its own path"),
    ("fn f(p: Point) -> f64 { p.x as «i128» as f64 }", "`i128` is not built"),
    ("fn f(x: f64) -> f64 { g(x)«?» }", "in a function that gives an `Option`"),
    ("fn f(x: f64) -> f64 { «unsafe» { x } }", "write safe Rust"),
    ("fn f(x: f64) -> f64 { «println»!(\"{x}\"); x }", "take this line out"),
    ("fn f(x: f64) -> f64 { «square»!(x); x }", "write what it stands for"),
    ("fn f(x: &[f64]) -> f64 { let k = x.partition_point(«g»); x[k] }", "write `|v| ..`"),
    (
        "fn f(x: &[f64]) -> f64 { let mut it = x.iter().«cycle»(); *it.next().unwrap() }",
        "have no end",
    ),
    (
        "fn f(x: &[f64]) -> f64 { let k = x.partition_point(|v| { while *v < 0.0 { «return» true; } false }); x[k] }",
        "out of a closure",
    ),
    ("fn f(x: &mut [f64]) { let «c» = x.split_at_mut(2); c.0[0] = 1.0; }", "give both parts names"),
    (
        "fn f(x: &mut [f64]) -> f64 { let (a, b) = x.«split_at_mut»(2); for v in a.iter() { if *v > 0.0 { return 1.0; } } b[0] = 1.0; 2.0 }",
        "assign by indices",
    ),
    ("fn f(x: f64) -> f64 { g(&mut «x») }", "with `let mut`"),
    ("fn f(x: f64) -> f64 { let s = «\"a\"»; x }", "only numbers and truth values"),
    ("fn f(x: f64) -> f64 { let s = «1e39f32»; x }", "larger than any number"),
    ("fn f(x: f64) -> f64 { let s = «2u128»; x }", "`u128` is not built"),
    ("fn f(x: i64) -> i64 { x + «18446744073709551616» }", "larger than `i64::MAX`"),
    ("fn f(x: f64) -> f64 { let a: [f64; 0] = «[]»; x }", "an empty array"),
    ("fn f(x: &[f64], y: &[f64]) -> bool { x «==» y }", "operators on whole arrays"),
    ("fn f(x: bool) -> bool { x «<» true }", "truth values are not ordered"),
    ("fn f(x: f64) -> f64 { <«f64» as T>::new(x) }", "through a trait"),
    (
        "fn f(x: &[f64]) -> f64 { let a: Option<Vec<f64>> = x.iter().map(|v| g(*v)).«collect»(); 1.0 }",
        "or `.unwrap()` behind it",
    ),
    (
        "fn f(x: &[f64]) -> f64 { let a = x.iter().map(|v| g(*v)).«collect»::<Option<Vec<f64>>>(); 1.0 }",
        "or `.unwrap()` behind it",
    ),
    ("fn f(n: usize) -> usize { let a = vec![«vec![]»; n]; a.len() }", "write their type"),
    ("fn f(x: f64) -> f64 { let a = [«None», None]; x }", "write of what this is none"),
    ("fn f(x: f64) -> f64 { let a = (x, «None»); x }", "write of what this is none"),
    ("fn f(x: f64) -> f64 { let («..», a) = g(x); a }", "`..` is the last here"),
    ("fn f(x: f64) -> f64 { match g(x) { Ok(v) => v, Err(«Wrong») => 0.0 } }", "write `Err(_)`"),
    ("fn f(x: i64) -> f64 { match x { «Some»(1) => 1.0, _ => 2.0 } }", "an enum of your own"),
];

#[test]
fn every_refusal_is_at_its_token() {
    let mut wrong = Vec::new();
    for (case, words) in CASES {
        let source = case.replace(['«', '»'], "");
        let function: syn::ItemFn =
            syn::parse_str(&source).unwrap_or_else(|e| panic!("{case}: {e}"));
        let found =
            jut_rust::signature(&function, None).and_then(|s| jut_rust::lower(&function, &s));
        let Err(refusal) = found else {
            wrong.push(format!("{case}: is accepted"));
            continue;
        };
        let expected = case.find('«').map(|at| case[..at].chars().count());
        let at = refusal.span.map(|s| s.start().column);
        if !refusal.message.contains(words) || (expected.is_some() && expected != at) {
            wrong.push(format!("{case}: at {at:?} (expected {expected:?}): {}", refusal.message));
        }
        // The function stays, and there is one message.
        let all =
            jut_rust::differentiable(Default::default(), function.to_token_stream()).to_string();
        assert!(all.starts_with(&function.to_token_stream().to_string()), "{all}");
        assert_eq!(all.matches("compile_error").count(), 1, "{all}");
        assert!(!refusal.message.contains('$') && !refusal.message.contains("linker"));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn only_functions_have_the_attribute() {
    for (source, words) in [
        ("impl T for S { fn f(&self) -> String { s } }", "`String` is not built"),
        ("mod m { fn f(x: f64) -> f64 { x } fn g(x: u128) -> f64 { 1.0 } }", "write `i64`"),
        ("mod m;", "a file of its own"),
        ("impl T for S { fn abs(&self) -> f64 { 1.0 } }", "another name"),
        ("trait T<A> { fn f(&self) -> f64; }", "a generic trait"),
        ("trait T { fn abs(&self) -> f64; }", "another name"),
        ("trait T { fn f(&self) -> f64 { self.g()? } }", "in a function that gives an `Option`"),
        ("trait T { fn f(x: f64) -> f64 { x } }", "the type of a parameter here"),
        ("impl<const N: usize> S<N> { fn f() -> f64 { 1.0 } }", "that of a parameter"),
        (
            "impl<const N: usize> E for S<N> { fn f(&self) -> f64 { 1.0 } }",
            "without open parameters",
        ),
        ("impl<T> Energy for S<T> { fn f(&self) -> f64 { 1.0 } }", "without open parameters"),
        ("impl<'a> S<'a> { fn f(&self) -> f64 { 1.0 } }", "borrows nothing"),
        ("impl<T> S<T> { fn f() -> f64 { 1.0 } }", "the type of a parameter here"),
        ("impl S { fn is_nan(&self) -> bool { true } }", "another name"),
        ("impl [f64] { fn f(&self) -> f64 { 1.0 } }", "of a struct"),
        ("impl S { fn f(&self, x: i128) -> f64 { 1.0 } }", "write `i64`"),
    ] {
        let all = jut_rust::differentiable(Default::default(), source.parse().unwrap()).to_string();
        assert_eq!(all.matches("compile_error").count(), 1, "{all}");
        assert!(all.contains(words), "{all}");
    }
    for (source, words) in [
        ("enum E<T: Copy> { A(T) }", "at the `impl` blocks"),
        ("enum E<T> { A(T), B(Box<E<T>>) }", "no parameters"),
        ("struct S { x: f64, s: Box<S> }", "would hold another one"),
        ("struct S(f64, Option<Box<S>>);", "have names"),
        ("enum E { A(f64), B(Box<E>, (f64, f64)) }", "its components as fields"),
        ("enum E { A(f64), B(Box<[E]>) }", "a box is of"),
        ("#[data(ragged)] struct S(Vec<f64>);", "have names"),
        ("enum E { }", "without variants"),
        ("enum E { A(u128) }", "write `i64`"),
        ("struct S { x: Option<Vec<f64>> }", "as a field is one of a number"),
        ("enum E { A((f64, f64)) }", "its components as fields"),
        ("enum E { A { x: &'static [f64] } }", "owns what it has"),
        ("struct S<T> { x: T, n: usize }", "is one of floats"),
        ("struct S<T: Float> { x: T }", "at the `impl` blocks"),
        ("struct S<T> where T: Float { x: T }", "at the `impl` blocks"),
        ("struct S<'a> { x: [&'a f64; 2] }", "owns what it has"),
        ("struct S { x: i128 }", "write `i64`"),
        ("struct S { x: (f64, usize) }", "its components as fields"),
        ("struct S { x: &'static [f64] }", "owns what it has"),
        ("struct S { x: Vec<Vec<Vec<f64>>> }", "two at most"),
        ("struct S;", "without fields"),
        ("#[data(other)] struct S { x: f64 }", "`#[data(twin)]`"),
    ] {
        let all = jut_rust::data(source.parse().unwrap()).to_string();
        assert_eq!(all.matches("compile_error").count(), 1, "{all}");
        assert!(all.contains(words), "{all}");
    }
    for source in ["struct S;", "use m::f;", "const C: f64 = 1.0;"] {
        let all = jut_rust::differentiable(Default::default(), source.parse().unwrap()).to_string();
        assert_eq!(all.matches("compile_error").count(), 1, "{all}");
        assert!(
            all.contains("only functions, `impl` blocks, traits and modules are differentiable"),
            "{all}"
        );
    }
    let all = jut_rust::differentiable(
        "nam = g".parse().unwrap(),
        "fn f(x: f64) -> f64 { x }".parse().unwrap(),
    );
    assert!(all.to_string().contains("`name = ..` and `wrt(..)` are what can be said here"));
}

#[test]
fn what_derivatives_are_by_is_a_parameter_with_floats() {
    for (wrt, said) in [
        ("wrt(z)", "no parameter has this name"),
        ("wrt(k)", "this parameter has no floats"),
        ("wrt()", "name a parameter: `wrt(x)`"),
        ("wrt = x", "expected parentheses"),
    ] {
        let function = "fn f(x: f64, k: usize) -> f64 { x }";
        let all = jut_rust::differentiable(wrt.parse().unwrap(), function.parse().unwrap());
        assert!(all.to_string().contains(said), "{wrt}: {all}");
    }
}
