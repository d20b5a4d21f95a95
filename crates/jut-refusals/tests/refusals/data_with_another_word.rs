use jut::Data;

#[derive(Data)]
#[data(twins)]
struct S {
    x: f64,
}

fn main() {}
