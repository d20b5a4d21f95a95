use jut::Data;

#[derive(Data)]
struct Pair<T> {
    x: T,
    n: usize,
}

fn main() {}
