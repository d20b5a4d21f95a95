use jut::Data;

#[derive(Data)]
struct Spring {
    k: f64,
    number: usize,
}

#[derive(Data)]
enum Chain {
    End,
    Link(Spring, Box<Chain>),
}

fn main() {}
