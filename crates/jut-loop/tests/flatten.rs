//! How values of every type are laid out.

use jut_ir::entity::EntityRef;
use jut_ir::{Constructor, Data, Field, Function, NVar, Program, Size, Span, Type};
use jut_loop::flatten::*;
use jut_loop::form::{Cell, Kind};
use std::rc::Rc;

fn field(name: &str, ty: Type) -> Field {
    Field { name: name.into(), ty }
}

fn data(name: &str, cons: Vec<(&str, Vec<Field>)>) -> Data {
    Data {
        name: name.into(),
        constructors: cons
            .into_iter()
            .map(|(n, fields)| Constructor { name: n.into(), fields })
            .collect(),
        tangent: None,
        record: None,
        doc: String::new(),
        span: Span::NONE,
    }
}

fn describe(components: &[Component]) -> Vec<String> {
    components
        .iter()
        .map(|c| {
            let dims: Vec<usize> = c.levels.iter().map(|l| l.dims.len()).collect();
            let Kind::Scalar(scalar) = c.scalar else { panic!("{:?} is no scalar", c.scalar) };
            format!("{}:{}{dims:?}", c.suffix, scalar.name())
        })
        .collect()
}

#[test]
fn nested_arrays_of_tuples_become_rectangular_blocks() {
    let mut layouts = Layouts::new(&Program::default()).unwrap();
    let n = Size::var(NVar::new(0));
    let row = Type::array(Size::var(NVar::new(1)), Type::F64);
    let ty = Type::array(n, Type::Tuple(vec![row, Type::I64]));
    assert_eq!(describe(&layouts.of(&ty)), ["_0:f64[2]", "_1:i64[1]"]);
}

#[test]
fn rows_whose_length_is_a_field_are_buffers_of_buffers() {
    let mut p = Program::default();
    let m = Size::var(NVar::new(0));
    let fields = vec![field("m", Type::I64), field("w", Type::array(m, Type::F64))];
    let d = p.add_data(data("K", vec![("K", fields)]));
    let mut layouts = Layouts::new(&p).unwrap();
    let ty = Type::array(Size::constant(3), Type::Data(d));
    let components = layouts.of(&ty);
    assert_eq!(describe(&components), ["_m:i64[1]", "_w:f64[1, 1]"]);
    assert_eq!(components[1].levels[1].scope, Scope::Fields([0, 1].into()));
    assert_eq!(components[1].kind(), Kind::Buffer(Cell::Buffer));
}

#[test]
fn a_record_of_fixed_size_is_merged_and_a_sum_is_not() {
    let mut p = Program::default();
    let v3 = || Type::array(Size::constant(3), Type::F64);
    let point = p.add_data(data("P", vec![("P", vec![field("v", v3())])]));
    let sum = p.add_data(data("S", vec![("A", vec![field("v", v3())]), ("B", vec![])]));
    let mut layouts = Layouts::new(&p).unwrap();
    let n = Size::constant(2);
    let points = layouts.of(&Type::array(n.clone(), Type::Data(point)));
    assert_eq!(describe(&points), ["_v:f64[2]"]);
    let sums = layouts.of(&Type::array(n, Type::Data(sum)));
    assert_eq!(describe(&sums), ["_tag:i64[1]", "_A_v:f64[1, 1]"]);
}

#[test]
fn sizes_of_nested_data_refer_to_the_same_value() {
    let mut p = Program::default();
    let m = Size::var(NVar::new(0));
    let fields = vec![field("m", Type::I64), field("w", Type::array(m, Type::F64))];
    let k = p.add_data(data("K", vec![("K", fields)]));
    let outer = vec![field("x", Type::F64), field("k", Type::Data(k))];
    let d = p.add_data(data("D", vec![("D", outer)]));
    let layouts = Layouts::new(&p).unwrap();
    let components = layouts.data(d).components.clone();
    assert_eq!(components[2].levels[0].scope, Scope::Fields([1, 2].into()));
}

#[test]
fn fields_share_one_list_of_where_they_start() {
    let mut p = Program::default();
    let m = Size::var(NVar::new(0));
    let mut fields = vec![field("m", Type::I64)];
    for k in 0..10 {
        fields.push(field(&format!("w{k}"), Type::array(m.clone(), Type::F64)));
    }
    let d = p.add_data(data("K", vec![("K", fields)]));
    let layouts = Layouts::new(&p).unwrap();
    let layout = layouts.data(d);
    let lists: Vec<&Rc<[usize]>> = layout.components[1..]
        .iter()
        .map(|c| match &c.levels[0].scope {
            Scope::Fields(list) => list,
            Scope::Function => panic!("{c:?}"),
        })
        .collect();
    assert_eq!(lists.len(), 10);
    assert!(lists.iter().all(|list| Rc::ptr_eq(list, lists[0])), "a list each is quadratic");
}

/// A type whose components are twice those of the one before, forty times.
fn doubling() -> Program {
    let mut p = Program::default();
    let mut last = Type::F64;
    for k in 0..40 {
        let name = format!("D{k}");
        let fields = vec![field("a", last.clone()), field("b", last.clone())];
        last = Type::Data(p.add_data(data(&name, vec![(&name, fields)])));
    }
    p
}

#[test]
fn a_type_that_doubles_with_every_declaration_is_refused() {
    let p = doubling();
    assert_eq!(Layouts::new(&p).unwrap_err().code, "J901");
}

#[test]
fn inside_a_program_such_a_type_is_boxed() {
    let p = doubling();
    let mut layouts = Layouts::of_entry(&p, &Function::default()).unwrap();
    let sizes: Vec<usize> = p.datas.keys().map(|id| layouts.of(&Type::Data(id)).len()).collect();
    assert_eq!(sizes[..6], [2, 4, 8, 16, 1, 2], "boxed beyond {MAX_FLAT} components");
    assert!(sizes.iter().all(|n| *n <= MAX_FLAT), "{sizes:?}");
    let array = Type::array(Size::constant(3), Type::Data(p.datas.keys().nth(4).unwrap()));
    assert_eq!(layouts.of(&array)[0].kind(), Kind::Buffer(Cell::Buffer));
}

#[test]
fn a_box_of_a_sum_holds_one_constructor() {
    let mut p = Program::default();
    let floats = |n: usize| (0..n).map(|k| field(&format!("x{k}"), Type::F64)).collect();
    let sum = p.add_data(data("S", vec![("A", floats(20)), ("B", floats(3)), ("C", vec![])]));
    let layouts = Layouts::of_entry(&p, &Function::default()).unwrap();
    let layout = layouts.data(sum);
    assert!(layout.boxed);
    assert_eq!([layout.words(0), layout.words(1), layout.words(2)], [21, 4, 1]);
    assert_eq!((layout.word(0, 1), layout.word(1, 21)), (1, 1));
}
