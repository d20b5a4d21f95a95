use jut::Data;

#[derive(Data)]
struct S {
    x: f64,
    n: u8,
}

fn main() {}
