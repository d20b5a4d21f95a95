use jut::Data;

#[derive(Data)]
union U {
    x: f64,
}

fn main() {}
