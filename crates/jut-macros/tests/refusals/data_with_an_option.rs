use jut::Data;

#[derive(Data)]
struct S {
    x: Option<f64>,
}

fn main() {}
