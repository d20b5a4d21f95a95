use jut::Data;

#[derive(Data)]
struct Inner {
    x: f64,
    n: usize,
}

#[derive(Data)]
struct Outer {
    inner: Inner,
}

fn main() {}
