use jut::Data;

#[derive(Data)]
struct Pair<T: Copy> {
    x: T,
    y: T,
}

fn main() {}
