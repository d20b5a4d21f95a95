use jut::Data;

#[derive(Data)]
enum Loss<T> {
    Huber(T),
    Squares,
}

fn main() {}
