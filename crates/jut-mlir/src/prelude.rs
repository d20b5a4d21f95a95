//! Small functions that programs share. Each is written into a program that uses it.
//!
//! An array is a `memref` with an offset, so that the rows of an array are arrays too. What an
//! address becomes by [`VIEWS`] is the only place where MLIR is told how it represents a `memref`.
//!
//! Of the workspace programs see [`WORKSPACE_WORDS`]: two arenas (begin, top and end of the current chunk), the place for the
//! error of a failed call, and the address of the byte that says whether the call is cancelled. An allocation moves the top; only a full chunk calls the
//! runtime, which gives address 0 if there is no memory.

use jut_loop::form::Cell;
use jut_runtime::arena::ALIGN;
use jut_runtime::wide;
use jut_runtime::workspace::layout;
use std::collections::BTreeSet;
use std::fmt::Write;

/// The functions that a program uses.
#[derive(Default)]
pub(crate) struct Prelude {
    used: BTreeSet<Helper>,
    /// Functions of the runtime, with their types.
    runtime: BTreeSet<(&'static str, &'static str)>,
    /// Kernels of the runtime, with their number of parameters.
    kernels: BTreeSet<(&'static str, usize)>,
    /// Functions of the runtime of eight floats at once, with their number of parameters.
    wide: BTreeSet<(&'static str, usize)>,
}

/// What the cells of an array are in MLIR, in the order in which the functions about them are written.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Cells {
    F64,
    F32,
    /// Integers, or addresses, or words.
    I64,
    I32,
    /// Bytes that are truth values.
    Bool,
}

impl Cells {
    pub fn of(cell: Cell) -> Cells {
        match cell {
            Cell::F64 => Cells::F64,
            Cell::F32 => Cells::F32,
            Cell::I32 => Cells::I32,
            Cell::I64 | Cell::Buffer | Cell::Word => Cells::I64,
            Cell::BOOL => Cells::Bool,
        }
    }

    /// The name of a type of arrays: `!f64s`.
    pub fn array(self) -> &'static str {
        match self {
            Cells::F64 => "!f64s",
            Cells::F32 => "!f32s",
            Cells::I64 => "!i64s",
            Cells::I32 => "!i32s",
            Cells::Bool => "!bools",
        }
    }

    /// The type of a cell.
    pub fn cell(self) -> &'static str {
        match self {
            Cells::F64 => "f64",
            Cells::F32 => "f32",
            Cells::I64 => "index",
            Cells::I32 => "i32",
            Cells::Bool => "i8",
        }
    }

    /// The type of arrays, written out.
    pub fn view(self) -> String {
        format!("memref<?x{}, strided<[1], offset: ?>>", self.cell())
    }

    fn bytes(self) -> usize {
        match self {
            Cells::F64 | Cells::I64 => 8,
            Cells::F32 | Cells::I32 => 4,
            Cells::Bool => 1,
        }
    }
}

/// How many cells an array has of which only the program knows how many: no limit.
pub(crate) const UNBOUNDED: i64 = i64::MAX >> 4;

/// A function of the prelude, in the order in which they are written.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Helper {
    /// The workspace at an address.
    Workspace,
    /// An array at an address.
    View(Cells),
    /// The address of an array.
    Address(Cells),
    /// Memory for cells on an arena; 0 if there is none.
    AllocTemp,
    AllocTape,
    /// Gives memory of an arena back.
    ReleaseTemp,
    ReleaseTape,
    /// Writes down an error and gives its status.
    Fail,
    /// Whether the call goes on: nobody cancelled it.
    GoesOn,
    /// The eight lanes of a sum, added in the fixed order.
    Fold,
    /// A float as an integer: toward zero, saturating, 0 for NaN.
    ToI64,
}

/// How many words of the workspace compiled code sees.
pub(crate) const WORKSPACE_WORDS: usize = layout::HEAD / 8;

impl Helper {
    /// The name of the function.
    pub fn name(self) -> String {
        match self {
            Helper::View(cells) => cells.array().replacen('!', "jut.", 1),
            Helper::Address(cells) => cells.array().replacen('!', "jut.address_of_", 1),
            Helper::Workspace => "jut.workspace".to_owned(),
            Helper::AllocTemp => "jut.alloc_temp".to_owned(),
            Helper::AllocTape => "jut.alloc_tape".to_owned(),
            Helper::ReleaseTemp => "jut.release_temp".to_owned(),
            Helper::ReleaseTape => "jut.release_tape".to_owned(),
            Helper::Fail => "jut.fail".to_owned(),
            Helper::GoesOn => "jut.goes_on".to_owned(),
            Helper::Fold => "jut.fold".to_owned(),
            Helper::ToI64 => "jut.to_i64".to_owned(),
        }
    }

    fn text(self, out: &mut String) {
        let name = &self.name();
        match self {
            Helper::Workspace => view(out, name, "", "!workspace", WORKSPACE_WORDS),
            Helper::View(cells) => view(out, name, ", %cells: index", cells.array(), 0),
            Helper::Address(cells) => address(out, name, cells),
            Helper::AllocTemp => {
                alloc(out, name, "jut_alloc_temp", layout::TEMP_TOP, layout::TEMP_END);
            }
            Helper::AllocTape => {
                alloc(out, name, "jut_alloc_tape", layout::TAPE_TOP, layout::TAPE_END);
            }
            Helper::ReleaseTemp => release(
                out,
                name,
                "jut_release",
                [layout::TEMP_BASE, layout::TEMP_TOP, layout::TEMP_END],
            ),
            Helper::ReleaseTape => release(
                out,
                name,
                "jut_release_tape",
                [layout::TAPE_BASE, layout::TAPE_TOP, layout::TAPE_END],
            ),
            Helper::Fail => fail(out, name),
            Helper::GoesOn => goes_on(out, name),
            Helper::Fold => out.push_str(FOLD),
            Helper::ToI64 => out.push_str(TO_I64),
        }
    }
}

impl Prelude {
    /// Uses a function; gives its name.
    pub fn helper(&mut self, helper: Helper) -> String {
        self.used.insert(helper);
        match helper {
            Helper::AllocTemp => self.runtime("jut_alloc_temp", "(index, index) -> index"),
            Helper::AllocTape => self.runtime("jut_alloc_tape", "(index, index) -> index"),
            Helper::ReleaseTemp => self.runtime("jut_release", "(index, index) -> ()"),
            Helper::ReleaseTape => self.runtime("jut_release_tape", "(index, index) -> ()"),
            _ => {}
        }
        helper.name()
    }

    /// Uses a function of the runtime.
    pub fn runtime(&mut self, symbol: &'static str, ty: &'static str) {
        self.runtime.insert((symbol, ty));
    }

    /// Uses a kernel of the runtime; its parameters are addresses and integers.
    pub fn kernel(&mut self, symbol: &'static str, params: usize) {
        self.kernels.insert((symbol, params));
    }

    /// Uses a function of floats of the runtime for eight lanes.
    pub fn wide(&mut self, symbol: &'static str, params: usize, ty: &'static str) {
        match wide::form(symbol) {
            Some(form) => self.kernel(form.symbol, form.params + 2),
            None => self.runtime(symbol, ty),
        }
        self.wide.insert((symbol, params));
    }

    /// The functions that are used, and those of the runtime.
    pub fn text(&self) -> String {
        let mut out = String::new();
        for (symbol, ty) in &self.runtime {
            let _ = writeln!(out, "func.func private @{symbol}{ty}");
        }
        for (symbol, params) in &self.kernels {
            let types = vec!["index"; *params].join(", ");
            let _ = writeln!(out, "func.func private @{symbol}({types})");
        }
        for helper in &self.used {
            out.push('\n');
            helper.text(&mut out);
        }
        for (symbol, params) in &self.wide {
            out.push('\n');
            match wide::form(symbol) {
                Some(form) => many(&mut out, form),
                None => lane_by_lane(&mut out, symbol, *params),
            }
        }
        out
    }
}

/// How MLIR represents a `memref` of one dimension: two pointers, an offset, a size, a stride.
const VIEWS: &str = "!llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>";

fn view(out: &mut String, name: &str, param: &str, ty: &str, words: usize) {
    let size = match words {
        0 => "  %n = arith.index_cast %cells : index to i64\n".to_owned(),
        words => format!("  %n = llvm.mlir.constant({words} : i64) : i64\n"),
    };
    let _ = write!(
        out,
        "// The memory at an address.
func.func private @{name}(%address: index{param}) -> {ty} {{
  %word = arith.index_cast %address : index to i64
{size}  %zero = llvm.mlir.constant(0 : i64) : i64
  %one = llvm.mlir.constant(1 : i64) : i64
  %pointer = llvm.inttoptr %word : i64 to !llvm.ptr
  %0 = llvm.mlir.poison : {VIEWS}
  %1 = llvm.insertvalue %pointer, %0[0] : {VIEWS}
  %2 = llvm.insertvalue %pointer, %1[1] : {VIEWS}
  %3 = llvm.insertvalue %zero, %2[2] : {VIEWS}
  %4 = llvm.insertvalue %n, %3[3, 0] : {VIEWS}
  %5 = llvm.insertvalue %one, %4[4, 0] : {VIEWS}
  %6 = builtin.unrealized_conversion_cast %5 : {VIEWS} to {ty}
  return %6 : {ty}
}}
"
    );
}

fn address(out: &mut String, name: &str, cells: Cells) {
    let (ty, cell, bytes) = (cells.view(), cells.cell(), cells.bytes());
    let _ = write!(
        out,
        "// The address of the first cell.
func.func private @{name}(%x: {ty}) -> index {{
  %bytes = arith.constant {bytes} : index
  %base, %offset, %size, %stride = memref.extract_strided_metadata %x : {ty} -> memref<{cell}>, index, index, index
  %begin = memref.extract_aligned_pointer_as_index %base : memref<{cell}> -> index
  %distance = arith.muli %offset, %bytes : index
  %address = arith.addi %begin, %distance : index
  return %address : index
}}
"
    );
}

fn goes_on(out: &mut String, name: &str) {
    let place = layout::STOP / 8;
    let _ = write!(
        out,
        "// Whether nobody cancelled the call. Another thread writes the byte.
func.func private @{name}(%workspace: !workspace) -> i1 {{
  %place = arith.constant {place} : index
  %address = memref.load %workspace[%place] : !workspace
  %word = arith.index_cast %address : index to i64
  %pointer = llvm.inttoptr %word : i64 to !llvm.ptr
  %byte = llvm.load volatile %pointer : !llvm.ptr -> i8
  %none = arith.constant 0 : i8
  %goes_on = arith.cmpi eq, %byte, %none : i8
  return %goes_on : i1
}}
"
    );
}

fn alloc(out: &mut String, name: &str, symbol: &str, top: usize, end: usize) {
    let (top, end, below, most) = (top / 8, end / 8, ALIGN - 1, i64::MAX);
    let _ = write!(
        out,
        "// Memory for cells of so many bytes; 0 if there is none.
func.func private @{name}(%workspace: !workspace, %cells: index, %bytes: index) -> index {{
  %top_place = arith.constant {top} : index
  %end_place = arith.constant {end} : index
  %below = arith.constant {below} : index
  %mask = arith.constant -{ALIGN} : index
  %most = arith.constant {most} : index
  %top = memref.load %workspace[%top_place] : !workspace
  %end = memref.load %workspace[%end_place] : !workspace
  %room = arith.subi %end, %top : index
  %cells_in_room = arith.divui %room, %bytes : index
  %fits = arith.cmpi ule, %cells, %cells_in_room : index
  %wanted = arith.muli %cells, %bytes : index
  %address = scf.if %fits -> (index) {{
    // The room is a multiple of the alignment: what fits still fits when it is rounded up.
    %up = arith.addi %wanted, %below : index
    %rounded = arith.andi %up, %mask : index
    %next = arith.addi %top, %rounded : index
    memref.store %next, %workspace[%top_place] : !workspace
    scf.yield %top : index
  }} else {{
    // More cells than there can be bytes: asked for as the most, which is refused.
    %most_cells = arith.divui %most, %bytes : index
    %over = arith.cmpi ugt, %cells, %most_cells : index
    %asked = arith.select %over, %most, %wanted : index
    %space = memref.extract_aligned_pointer_as_index %workspace : !workspace -> index
    %given = func.call @{symbol}(%space, %asked) : (index, index) -> (index)
    scf.yield %given : index
  }}
  return %address : index
}}
"
    );
}

fn release(out: &mut String, name: &str, symbol: &str, [base, top, end]: [usize; 3]) {
    let (base, top, end) = (base / 8, top / 8, end / 8);
    let _ = write!(
        out,
        "// Gives back what was allocated since the mark.
func.func private @{name}(%workspace: !workspace, %mark: index) {{
  %base_place = arith.constant {base} : index
  %top_place = arith.constant {top} : index
  %end_place = arith.constant {end} : index
  %base = memref.load %workspace[%base_place] : !workspace
  %end = memref.load %workspace[%end_place] : !workspace
  %offset = arith.subi %mark, %base : index
  %size = arith.subi %end, %base : index
  %inside = arith.cmpi ule, %offset, %size : index
  scf.if %inside {{
    memref.store %mark, %workspace[%top_place] : !workspace
  }} else {{
    %space = memref.extract_aligned_pointer_as_index %workspace : !workspace -> index
    func.call @{symbol}(%space, %mark) : (index, index) -> ()
  }}
  return
}}
"
    );
}

fn fail(out: &mut String, name: &str) {
    let places = [
        ("%site", layout::FAILURE_SITE),
        ("%number", layout::FAILURE_KIND),
        ("%a", layout::FAILURE_OPERANDS),
        ("%b", layout::FAILURE_OPERANDS + 8),
        ("%c", layout::FAILURE_OPERANDS + 16),
    ];
    let _ = write!(
        out,
        "// Writes down where a check failed and with which numbers; gives the status.
func.func private @{name}(%workspace: !workspace, %site: index, %kind: i32, %a: index, %b: index, %c: index) -> i32 {{
  %number = arith.index_castui %kind : i32 to index
"
    );
    for (k, (value, place)) in places.into_iter().enumerate() {
        let place = place / 8;
        let _ = writeln!(out, "  %place{k} = arith.constant {place} : index");
        let _ = writeln!(out, "  memref.store {value}, %workspace[%place{k}] : !workspace");
    }
    out.push_str("  return %kind : i32\n}\n");
}

const FOLD: &str = "// Eight lanes as one sum: lane k + 4 to lane k, then k + 2, then k + 1.
func.func private @jut.fold(%lanes: vector<8xf64>) -> f64 {
  %0 = vector.extract_strided_slice %lanes {offsets = [0], sizes = [4], strides = [1]} : vector<8xf64> to vector<4xf64>
  %1 = vector.extract_strided_slice %lanes {offsets = [4], sizes = [4], strides = [1]} : vector<8xf64> to vector<4xf64>
  %four = arith.addf %0, %1 : vector<4xf64>
  %2 = vector.extract_strided_slice %four {offsets = [0], sizes = [2], strides = [1]} : vector<4xf64> to vector<2xf64>
  %3 = vector.extract_strided_slice %four {offsets = [2], sizes = [2], strides = [1]} : vector<4xf64> to vector<2xf64>
  %two = arith.addf %2, %3 : vector<2xf64>
  %4 = vector.extract %two[0] : f64 from vector<2xf64>
  %5 = vector.extract %two[1] : f64 from vector<2xf64>
  %one = arith.addf %4, %5 : f64
  return %one : f64
}
";

const TO_I64: &str = "// A float as an integer: toward zero, saturating, 0 for NaN.
func.func private @jut.to_i64(%x: f64) -> index {
  %limit = arith.constant 0x43E0000000000000 : f64
  %below = arith.constant 0xC3E0000000000000 : f64
  %most = arith.constant 9223372036854775807 : i64
  %least = arith.constant -9223372036854775808 : i64
  %zero = arith.constant 0 : i64
  %0 = arith.fptosi %x : f64 to i64
  %1 = arith.cmpf oge, %x, %limit : f64
  %2 = arith.select %1, %most, %0 : i64
  %3 = arith.cmpf olt, %x, %below : f64
  %4 = arith.select %3, %least, %2 : i64
  %5 = arith.cmpf uno, %x, %x : f64
  %6 = arith.select %5, %zero, %4 : i64
  %7 = arith.index_cast %6 : i64 to index
  return %7 : index
}
";

/// A function of the runtime for eight floats, by its form for several arguments in memory.
fn many(out: &mut String, form: &wide::Form) {
    let list = |item: &dyn Fn(usize) -> String| (0..form.params).map(item).collect::<String>();
    let declared = (0..form.params).map(|k| format!("%x{k}: vector<8xf64>"));
    let declared = declared.collect::<Vec<_>>().join(", ");
    let places = list(&|k| {
        format!(
            "  %from{k} = memref.alloca() {{alignment = 64 : i64}} : memref<8xf64>
  vector.store %x{k}, %from{k}[%zero] : memref<8xf64>, vector<8xf64>
  %a{k} = memref.extract_aligned_pointer_as_index %from{k} : memref<8xf64> -> index
"
        )
    });
    let (args, types) = (list(&|k| format!("%a{k}, ")), list(&|_| "index, ".to_owned()));
    let _ = write!(
        out,
        "// The function of the runtime, for eight lanes.
func.func private @{symbol}.8({declared}) -> vector<8xf64> {{
  %zero = arith.constant 0 : index
  %eight = arith.constant 8 : index
  %to = memref.alloca() {{alignment = 64 : i64}} : memref<8xf64>
{places}  %b = memref.extract_aligned_pointer_as_index %to : memref<8xf64> -> index
  func.call @{many}({args}%b, %eight) : ({types}index, index) -> ()
  %result = vector.load %to[%zero] : memref<8xf64>, vector<8xf64>
  return %result : vector<8xf64>
}}
",
        symbol = form.scalar,
        many = form.symbol,
    );
}

/// A function of the runtime for eight floats, lane by lane.
fn lane_by_lane(out: &mut String, symbol: &str, params: usize) {
    let name = |k: usize| if k == 0 { "x" } else { "y" };
    let list =
        |item: &dyn Fn(usize) -> String| (0..params).map(item).collect::<Vec<String>>().join(", ");
    let declared = list(&|k| format!("%{}: vector<8xf64>", name(k)));
    let _ = writeln!(out, "// The function of the runtime, for eight lanes.");
    let _ = writeln!(out, "func.func private @{symbol}.8({declared}) -> vector<8xf64> {{");
    let types = list(&|_| "f64".to_owned());
    for lane in 0..8 {
        for p in (0..params).map(name) {
            let _ = writeln!(
                out,
                "  %{p}{lane} = vector.extract %{p}[{lane}] : f64 from vector<8xf64>"
            );
        }
        let args = list(&|k| format!("%{}{lane}", name(k)));
        let _ = writeln!(out, "  %r{lane} = func.call @{symbol}({args}) : ({types}) -> (f64)");
    }
    let results: Vec<String> = (0..8).map(|lane| format!("%r{lane}")).collect();
    let results = results.join(", ");
    let _ = writeln!(out, "  %result = vector.from_elements {results} : vector<8xf64>");
    let _ = writeln!(out, "  return %result : vector<8xf64>\n}}");
}
