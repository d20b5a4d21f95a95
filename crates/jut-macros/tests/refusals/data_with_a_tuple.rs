use jut::Data;

#[derive(Data)]
struct S {
    x: (f64, f64),
}

fn main() {}
