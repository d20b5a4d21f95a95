//! Programs made by hand, for the tests of this crate.

use jut_ir::build::FunctionBuilder;
use jut_ir::prim;
use jut_ir::*;

/// A statement without a place in a text.
pub fn stmt(nl: Vec<NVar>, lin: Vec<LVar>, rhs: Rhs) -> Stmt {
    Stmt { nl, lin, rhs, annotated: false, loc: Loc::default() }
}

/// The residual of x^n: a loop that slices a tape, inside a read region.
pub fn power_lin() -> Program {
    let mut program = Program::default();
    let tape = program.add_data(Data {
        name: "power.tape".into(),
        constructors: vec![Constructor {
            name: "power.tape".into(),
            fields: vec![
                Field { name: "n_1".into(), ty: Type::I64 },
                Field {
                    name: "a_s".into(),
                    ty: Type::array(Size::var(NVar::from_u32(0)), Type::F64),
                },
            ],
        }],
        tangent: None,
        record: None,
        doc: String::new(),
        span: Span::NONE,
    });
    let mut b = FunctionBuilder::default();
    let none = Span::NONE;
    let x = b.nvar("x", Type::F64, none);
    let n = b.nvar("n", Type::I64, none);
    let tp = b.nvar("tape", Type::Data(tape), none);
    let n_1 = b.nvar("n_1", Type::I64, none);
    let stack = Type::array(Size::var(n_1), Type::F64);
    let a_s = b.nvar("a_s", stack, none);
    let (i, a) = (b.nvar("i", Type::I64, none), b.nvar("a", Type::F64, none));
    let xt = b.lvar("x", Type::F64, none);
    let dx = b.cap("dx", Mode::Rd, false, Type::F64, none);
    let names = ["z", "a", "x_1", "t_2", "t_3", "t", "t_1"];
    let [z, at, x1, t2, t3, t, outer] = names.map(|name| b.lvar(name, Type::F64, none));
    // The loop, the region and the definition all call their result t_1'.
    let [inner, middle] = [0, 1].map(|_| b.func.lvars.push(b.func.lvars[outer].clone()));
    let scan = Scan {
        dir: Dir::Up,
        index: i,
        bound: n_1.into(),
        carry: vec![],
        lin_carry: vec![(at, z)],
        slices: vec![(a, a_s)],
        lin_slices: vec![],
        cap_slices: vec![],
        body: Block {
            stmts: vec![
                stmt(vec![], vec![x1], Rhs::Rd(Place::root(dx))),
                stmt(vec![], vec![t2], Rhs::LScale(x.into(), at)),
                stmt(vec![], vec![t3], Rhs::LScale(a.into(), x1)),
                stmt(vec![], vec![t], Rhs::LAdd(t2, t3)),
            ],
            nl: vec![],
            lin: vec![t],
        },
    };
    let body = Block {
        stmts: vec![
            stmt(vec![], vec![z], Rhs::LZero(Type::F64)),
            stmt(vec![], vec![inner], Rhs::Scan(Box::new(scan))),
        ],
        nl: vec![],
        lin: vec![inner],
    };
    let eqs = vec![Some(n_1.into()), None];
    let con = ConRef { data: tape, index: 0 };
    let zero = Atom::Lit(Literal::I64(0));
    b.func.name = "power.lin".into();
    b.func.doc = "The residual.\n\nSecond paragraph.".into();
    b.func.params = vec![x, n, tp];
    b.func.lin_params = vec![xt];
    b.func.lin_results = vec![LinResultDecl { name: None, ty: Type::F64 }];
    b.func.body = Block {
        stmts: vec![
            stmt(vec![n_1], vec![], Rhs::Prim(prim::IMAX, vec![n.into(), zero])),
            stmt(vec![a_s], vec![], Rhs::Open { con, value: tp, eqs, proved: true }),
            stmt(vec![], vec![middle], Region::read(dx, xt, body)),
        ],
        nl: vec![],
        lin: vec![middle],
    };
    program.add_func(b.func);
    program
}
