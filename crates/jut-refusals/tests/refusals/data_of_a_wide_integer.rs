use jut::Data;

#[derive(Data)]
struct S {
    x: f64,
    n: i128,
}

fn main() {}
