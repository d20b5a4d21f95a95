//! What the table of structured primitives promises.

use jut_ir::structured::{Formula, Meaning, Misfit, Order, Param, Rule, structured_markdown};
use jut_ir::{NVar, Size, Structured, Type};
use std::collections::BTreeMap;

/// Arrays and result by their dimensions, the dimensions renamed in the order of first occurrence;
/// sizes are derived from the rest, so they are left out.
fn shape(arrays: &[&str], result: &str) -> Vec<String> {
    let mut names: BTreeMap<char, char> = BTreeMap::new();
    let mut renamed = |labels: &str| -> String {
        let rename = |label| {
            let next = char::from(b'a' + names.len() as u8);
            *names.entry(label).or_insert(next)
        };
        labels.chars().map(rename).collect()
    };
    arrays.iter().chain([&result]).map(|labels| renamed(labels)).collect()
}

fn arrays(op: Structured) -> Vec<&'static str> {
    let params = op.row().params.iter();
    params
        .filter_map(|p| match p {
            Param::Array(labels) => Some(*labels),
            Param::Size(_) => None,
        })
        .collect()
}

#[test]
fn transposing_a_contraction_exchanges_an_operand_with_the_result() {
    for op in Structured::all() {
        if !matches!(op.row().meaning, Meaning::Contraction(_)) {
            continue;
        }
        let given = arrays(op);
        for (nth, operand) in op.arrays().enumerate() {
            let transpose = op.transpose(operand).unwrap();
            let mut others = given.clone();
            let result = others.remove(nth);
            // The operands of the transpose: the cotangent where its linear operand is.
            let at = transpose.op.arrays().position(|k| k == transpose.operand).unwrap();
            others.insert(at, op.row().result);
            let found = shape(&arrays(transpose.op), transpose.op.row().result);
            assert_eq!(found, shape(&others, result), "{op:?}, operand {operand}");
        }
    }
}

#[test]
fn transposing_twice_is_the_same_operation() {
    for op in Structured::all() {
        assert_eq!(op.row().partials.len(), op.arrays().count(), "{op:?}");
        for operand in op.linear_operands() {
            let operand = op.normal_operand(operand);
            let once = op.transpose(operand).unwrap();
            let twice = once.op.transpose(once.operand).unwrap();
            assert_eq!((twice.op, twice.operand), (op, operand));
        }
    }
}

#[test]
fn an_operation_and_its_transpose_satisfy_theorem_7_1_with_equality() {
    let sizes = [0, 1, 2, 3, 7];
    for op in Structured::all() {
        let labels = op.labels();
        // Sizes that follow from others are left out: they are completed.
        let follows =
            |l: &char| op.is_view() && *l == 'p' || op.windows().iter().any(|w| w[0] == *l);
        let free: Vec<char> = labels.iter().copied().filter(|l| !follows(l)).collect();
        // Many dimensions: only some sizes.
        let sizes = if free.len() > 4 { &sizes[..4] } else { &sizes[..] };
        for n in 0..sizes.len().pow(free.len() as u32) {
            let chosen: BTreeMap<char, u64> = free
                .iter()
                .enumerate()
                .map(|(k, l)| (*l, sizes[n / sizes.len().pow(k as u32) % sizes.len()]))
                .collect();
            let given: Vec<Option<u64>> = labels.iter().map(|l| chosen.get(l).copied()).collect();
            // No place and no window: the whole would have -1.
            let Some(all) = op.complete(&given) else { continue };
            let of: BTreeMap<char, u64> = labels.iter().copied().zip(all).collect();
            let cells = |names: &str| names.chars().map(|l| of[&l]).product::<u64>();
            let work = op.work(&labels.iter().map(|l| of[l]).collect::<Vec<_>>());
            for (nth, operand) in op.arrays().enumerate() {
                if op.transpose(operand).is_none() {
                    continue;
                }
                let t = op.transpose(operand).unwrap();
                // The names of the transpose, by what stands in their place.
                let mut given = arrays(op);
                let input = given.remove(nth);
                let at = t.op.arrays().position(|k| k == t.operand).unwrap();
                given.insert(at, op.row().result);
                given.push(input);
                let mut known: BTreeMap<char, u64> = BTreeMap::new();
                for (names, values) in arrays(t.op).iter().chain([&t.op.row().result]).zip(given) {
                    known.extend(names.chars().zip(values.chars().map(|l| of[&l])));
                }
                let back = t.op.work(&t.op.labels().iter().map(|l| known[l]).collect::<Vec<_>>());
                assert_eq!(back + cells(input), work + cells(op.row().result), "{op:?} {of:?}");
            }
        }
    }
}

/// The type of a formula over the operands and the result of a primitive.
fn formula(f: &Formula, operands: &[Type], result: &Type) -> Type {
    match f {
        Formula::Operand(k) => operands[*k].clone(),
        Formula::Result => result.clone(),
        Formula::Apply(op, args) => {
            let args = args.iter().map(|f| (formula(f, operands, result), Size::default()));
            op.result_type(&args.collect::<Vec<_>>()).unwrap()
        }
    }
}

#[test]
fn formulas_of_derivatives_have_the_types_of_tangents() {
    let mut formulas = 0;
    for op in Structured::all() {
        let size = |l: char| Size::var(NVar::from_u32(u32::from(l)));
        let array =
            |labels: &str| labels.chars().rev().fold(Type::F64, |ty, l| Type::array(size(l), ty));
        let operands: Vec<Type> = arrays(op).into_iter().map(array).collect();
        let result = array(op.row().result);
        for (nth, rule) in op.row().partials.iter().enumerate() {
            let Rule::Formulas(chains) = rule else { continue };
            assert_eq!(op.row().params.len(), operands.len(), "{op:?}: a formula knows no sizes");
            for chain in *chains {
                let mut x = operands[nth].clone();
                for step in chain.steps {
                    assert!(step.op.transpose(step.operand).is_some(), "{op:?}: {:?}", step.op);
                    let mut args: Vec<Type> =
                        step.others.iter().map(|f| formula(f, &operands, &result)).collect();
                    args.insert(step.operand, x);
                    let args: Vec<_> = args.into_iter().map(|ty| (ty, Size::default())).collect();
                    x = step.op.result_type(&args).unwrap_or_else(|m| panic!("{op:?}: {m:?}"));
                }
                assert_eq!(x, result, "{op:?}");
                formulas += 1;
            }
        }
    }
    assert!(formulas > 4);
}

#[test]
fn a_square_matrix_has_one_size() {
    let [n, m] = [0, 1].map(|v| Size::var(NVar::from_u32(v)));
    let cholesky = Structured::find("cholesky").unwrap();
    let matrix = |a: &Size, b: &Size| {
        (Type::array(a.clone(), Type::array(b.clone(), Type::F64)), Size::default())
    };
    assert_eq!(cholesky.result_type(&[matrix(&n, &n)]), Ok(matrix(&n, &n).0));
    let sizes = Box::new([m.clone(), n.clone()]);
    let misfit = Misfit::Size { operand: 0, earlier: 0, sizes };
    assert_eq!(cholesky.result_type(&[matrix(&n, &m)]), Err(misfit));
    assert_eq!(cholesky.labels(), ['i', 'i']);
    assert_eq!(cholesky.complete(&[Some(3), None]), Some(vec![3, 3]));
    assert_eq!(cholesky.complete(&[Some(3), Some(4)]), None);
}

#[test]
fn sizes_follow_from_each_other_in_every_direction() {
    for op in Structured::all().filter(|op| !op.windows().is_empty()) {
        let labels = op.labels();
        let sizes: Vec<u64> = labels
            .iter()
            .map(|l| match l {
                'p' | 'h' | 'w' => 7,
                'q' | 'i' | 'j' => 5,
                's' | 'u' | 'v' => 3,
                _ => 2,
            })
            .collect();
        for left_out in 0..3 {
            let known = labels.iter().zip(&sizes).map(|(l, size)| {
                let follows = op.windows().iter().any(|w| w[left_out] == *l);
                (!follows).then_some(*size)
            });
            assert_eq!(op.complete(&known.collect::<Vec<_>>()), Some(sizes.clone()), "{op:?}");
        }
        let wrong = labels.iter().zip(&sizes).map(|(l, size)| match l {
            'p' | 'h' => Some(size + 1),
            _ => Some(*size),
        });
        assert_eq!(op.complete(&wrong.collect::<Vec<_>>()), None, "{op:?}");
    }
    let conv = Structured::find("conv1d").unwrap();
    let longer = conv.labels().into_iter().map(|l| match l {
        'q' => None,
        's' => Some(4),
        _ => Some(2),
    });
    assert_eq!(conv.complete(&longer.collect::<Vec<_>>()), None, "a kernel longer than the input");
}

#[test]
fn at_most_one_dimension_is_summed_and_only_then_there_is_an_order() {
    for op in Structured::all() {
        let row = op.row();
        if op.is_view() || matches!(row.meaning, Meaning::Convolution(_)) {
            continue;
        }
        let summed = op.labels().len() - row.result.chars().count();
        let expected = match row.meaning {
            Meaning::Contraction(Order::None) => 0,
            Meaning::Contraction(_) => 1,
            _ => 0,
        };
        assert_eq!(summed, expected, "{op:?}");
        assert_eq!(Structured::find(row.name), Some(op));
    }
}

#[test]
fn types_follow_from_the_operands_and_misfits_say_where() {
    let [n, m, k] = [0, 1, 2].map(|v| Size::var(NVar::from_u32(v)));
    let matrix = |a: &Size, b: &Size| {
        (Type::array(a.clone(), Type::array(b.clone(), Type::F64)), Size::default())
    };
    let matmul = Structured::find("matmul").unwrap();
    assert_eq!(matmul.result_type(&[matrix(&n, &k), matrix(&k, &m)]), Ok(matrix(&n, &m).0));
    assert_eq!(matmul.result_type(&[matrix(&n, &k)]), Err(Misfit::Count));
    let number = (Type::F64, Size::default());
    assert_eq!(matmul.result_type(&[matrix(&n, &k), number]), Err(Misfit::Kind(1)));
    let misfit = matmul.result_type(&[matrix(&n, &k), matrix(&m, &k)]);
    let sizes = Box::new([m, k]);
    assert_eq!(misfit, Err(Misfit::Size { operand: 1, earlier: 0, sizes }));
}

#[test]
fn sizes_of_a_convolution_are_polynomials_that_cancel() {
    let [c, o, p, s] = [0, 1, 2, 3].map(|v| Size::var(NVar::from_u32(v)));
    let array = |sizes: &[&Size]| {
        let ty = sizes.iter().rev().fold(Type::F64, |ty, n| Type::array((*n).clone(), ty));
        (ty, Size::default())
    };
    let [conv, input, kernel] =
        ["conv1d", "conv1d_input", "conv1d_kernel"].map(|name| Structured::find(name).unwrap());
    let (x, k) = (array(&[&c, &p]), array(&[&o, &c, &s]));
    let q = p.checked_sub(&s).and_then(|q| q.checked_add(&Size::constant(1))).unwrap();
    let y = array(&[&o, &q]);
    assert_eq!(conv.result_type(&[x.clone(), k.clone()]), Ok(y.0.clone()));
    assert_eq!(input.result_type(&[y.clone(), k.clone()]), Ok(x.0.clone()));
    assert_eq!(kernel.result_type(&[x, y]), Ok(k.0));
    assert_eq!(conv.open_results().collect::<Vec<_>>(), [1]);
}

#[test]
fn the_documentation_lists_every_row() {
    let table = structured_markdown();
    assert_eq!(table.lines().count(), 2 + Structured::all().count());
    assert!(table.contains("| `matmul` | [i, l]f64, [l, j]f64 | [i, j]f64 |"), "{table}");
}
