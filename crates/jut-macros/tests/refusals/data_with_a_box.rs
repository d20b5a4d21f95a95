use jut::Data;

#[derive(Data)]
struct S {
    x: Box<f64>,
}

fn main() {}
