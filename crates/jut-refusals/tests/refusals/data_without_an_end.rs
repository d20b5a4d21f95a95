use jut::Data;

#[derive(Data)]
struct Chain {
    x: f64,
    next: Box<Chain>,
}

fn main() {}
