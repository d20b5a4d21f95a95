//! Loops.
//!
//! A `for` over a range is a `for`, whose bounds are computed once, as Rust does. A loop that may be left
//! early goes on only while a variable says so.

use crate::elements::{Elements, Item};
use crate::lowering::{Frame, Jump, Lines, Local, Lowering, Tail, indented};
use crate::syntax::{gives_value, unwrapped};
use crate::template::What;
use crate::types::Ty;
use crate::value::{Value, literal};
use crate::visited::{Node, each};
use crate::{Refusal, refuse};
use syn::spanned::Spanned;
use syn::{Block, Expr, ExprForLoop, ExprLoop, ExprWhile, Label, Pat};

/// How a `for` of the text runs.
struct Head {
    /// The range in the text: upwards, and downwards if it is.
    range: String,
    /// What the body begins with.
    first: Vec<String>,
    /// What the pattern is bound to.
    item: Item,
}

impl Lowering<'_> {
    pub fn for_loop(&mut self, l: &ExprForLoop) -> Result<(), Refusal> {
        self.no_jump(&l.expr)?;
        if self.over_parts(l)? {
            return Ok(());
        }
        if crate::staged::is_staged(&l.expr) {
            return self.staged_loop(l);
        }
        let jumps = self.leaving(l.label.as_ref(), &l.body);
        let early = !jumps.is_empty();
        let lists = self.pushes_of(l);
        // A loop that collects begins at 0: its range may be empty, and ends nowhere below that.
        let read = self.read_pushes_of(l);
        if !read.is_empty() {
            return self.reading_loop(l, &read);
        }
        let head = if lists.is_empty() { self.head(l, early)? } else { self.counted(&l.expr)? };
        let frame = self.frame(l.label.as_ref(), &l.body);
        let stops = self.stops(&frame, &l.body);
        self.lists.pushes.push(lists.iter().map(|name| (name.clone(), None)).collect());
        let assigned = self.assigned;
        let block = self.iteration(frame, &l.body, Some((&l.pat, head.item, head.first)));
        let pushed = self.lists.pushes.pop().unwrap_or_default();
        let block = block?;
        if !lists.is_empty() {
            let alone = (self.assigned == assigned).then_some(l.for_token.span);
            return self.collected(&lists, pushed, &head.range, block.lines, alone);
        }
        let goes =
            if stops.is_empty() { String::new() } else { format!(" while {}", stops.join(" && ")) };
        self.lines.push(format!("for ({}){goes} {{\n{}\n}}", head.range, indented(&block.lines)));
        Ok(())
    }

    /// A loop that pushes once in each iteration to lists that it reads.
    fn reading_loop(&mut self, l: &ExprForLoop, lists: &[String]) -> Result<(), Refusal> {
        let Elements { count, element, .. } = self.elements(&l.expr)?;
        let filled = self.filled(lists, &count);
        if filled.len() < lists.len() {
            return refuse(&l.for_token, "write the types of the lists that grow here");
        }
        let index = self.names.unique("i");
        let item = element(&index);
        let frame = self.frame(l.label.as_ref(), &l.body);
        self.scopes.push(filled.clone());
        let block = self.iteration(frame, &l.body, Some((&l.pat, item, Vec::new())));
        self.scopes.pop();
        let block = block?;
        self.lines.push(format!("for ({index} < {count}) {{\n{}\n}}", indented(&block.lines)));
        for (name, list) in filled {
            self.lists.partial.remove(&list.name);
            let scope = self.scopes.iter_mut().rev().find(|scope| scope.contains_key(&name));
            if let Some(scope) = scope {
                scope.insert(name, list);
            }
        }
        self.assigned += 1;
        Ok(())
    }

    /// The range of a `for`, or the elements.
    fn head(&mut self, l: &ExprForLoop, early: bool) -> Result<Head, Refusal> {
        let mut source = unwrapped(&l.expr);
        if let Expr::Range(range) = source {
            return self.range(range, None, None, early, l);
        }
        // `(a..b).rev()`, `(a..b).step_by(k)`, and both.
        if let Expr::MethodCall(outer) = source {
            let inner = unwrapped(&outer.receiver);
            let (first, second) = match inner {
                Expr::MethodCall(call) => (Some(call), Some(outer)),
                _ => (Some(outer), None),
            };
            let ranges = |c: &syn::ExprMethodCall| c.method == "rev" || c.method == "step_by";
            if let Some(first) = first
                && [Some(first), second].into_iter().flatten().all(ranges)
                && let Expr::Range(range) = unwrapped(&first.receiver)
            {
                return self.range(range, Some(first), second, early, l);
            }
        }
        let chain = match source {
            Expr::MethodCall(call) => call.method != "clone" && call.method != "to_vec",
            Expr::Reference(reference) => reference.mutability.is_some(),
            name if self.is_changed(name) => true,
            Expr::Call(call) => {
                crate::iterators::zipped(call).is_some()
                    || crate::iterators::repeated(call).is_some()
            }
            _ => false,
        };
        if chain {
            return self.counted(source);
        }
        while let Expr::Reference(r) = source {
            source = unwrapped(&r.expr);
        }
        let list = self.expression(source)?;
        if !matches!(self.resolve(&list.ty), Ty::Array(..) | Ty::Of(..)) {
            return refuse(&l.expr, "a `for` is over a range or an array here: `for i in 0..n`");
        }
        // Rust does not let the loop change what it goes over; a variable may be another value after it.
        let list = self.named(list, "list");
        let index = self.names.unique("i");
        let ty = self.element(&list.ty);
        let least = if ty == Ty::Usize { 0 } else { i64::MIN };
        let element = Value { least, ..Value::name(format!("{}[{index}]", list.text), ty, 0) };
        let range = format!("{index} < size({})", list.text);
        Ok(Head { range, first: Vec::new(), item: Item::One(element) })
    }

    /// Elements that are counted from 0.
    fn counted(&mut self, source: &Expr) -> Result<Head, Refusal> {
        let Elements { count, element, .. } = self.elements(source)?;
        let index = self.names.unique("i");
        let item = element(&index);
        Ok(Head { range: format!("{index} < {count}"), first: Vec::new(), item })
    }

    fn range(
        &mut self,
        range: &syn::ExprRange,
        first: Option<&syn::ExprMethodCall>,
        second: Option<&syn::ExprMethodCall>,
        early: bool,
        l: &ExprForLoop,
    ) -> Result<Head, Refusal> {
        let ends = match (&range.start, &range.end) {
            (Some(start), Some(end)) => self.operands(&[start, end])?,
            // A jump ends it.
            (Some(start), None) if early && first.is_none() => {
                let lo = self.operand(start)?;
                if lo.least < 0 && literal(&lo).is_none() && self.resolve(&lo.ty) != Ty::Usize {
                    return refuse(start, "a loop without an end begins at a `usize` here");
                }
                let most = i64::MAX.to_string();
                let hi = Value::name(most, lo.ty.clone(), i64::MAX);
                vec![lo, hi]
            }
            _ => return refuse(range, "write both ends of the range, or a `while`"),
        };
        let [lo, hi] = &ends[..] else { return refuse(range, "write both ends of the range") };
        let ty = self.unify(&lo.ty, &hi.ty);
        if !(ty.is_integer() || matches!(ty, Ty::Of(..))) {
            return refuse(range, "a range of integers is expected");
        }
        let once = |this: &mut Self, v: &Value, name: &str| match literal(v) {
            Some(_) => v.clone(),
            None => this.named(v.clone(), name),
        };
        let (lo, hi) = (once(self, lo, "first"), once(self, hi, "last"));
        let (lo, hi) =
            (self.in_signed_range(lo, range.span()), self.in_signed_range(hi, range.span()));
        let closed = matches!(range.limits, syn::RangeLimits::Closed(_));
        if closed && literal(&hi).is_none() {
            // One more would not be an i64.
            let check = format!("{} < 9223372036854775807", hi.within(4));
            let check = format!("prim.select({check}, 0, -1) >= 0");
            self.check(range.span(), What::Overflow("add"), &check);
        }
        let wanted = match &*l.pat {
            Pat::Ident(ident) => ident.ident.to_string(),
            _ => "i".to_string(),
        };
        let least = if ty == Ty::Usize { lo.least.max(0) } else { lo.least };
        let (mut reversed, mut step) = (false, None);
        let mut reversed_first = false;
        for call in [first, second].into_iter().flatten() {
            match call.method.to_string().as_str() {
                "rev" if call.args.is_empty() && !reversed => {
                    reversed = true;
                    reversed_first = step.is_none();
                }
                "step_by" if call.args.len() == 1 && step.is_none() => step = call.args.first(),
                _ => {
                    return refuse(
                        &call.method,
                        "this iterator is not built: write a `for` over a range, `for i in 0..n`",
                    );
                }
            }
        }
        if step.is_none() && !(reversed && early) {
            let index = self.names.unique(&wanted);
            let (a, b) = (lo.within(4), hi.within(4));
            let zero = literal(&lo) == Some(0);
            let (less, more) = if closed { ("<=", ">=") } else { ("<", ">") };
            let range = match (reversed, zero) {
                (false, true) => format!("{index} {less} {b}"),
                (false, false) => format!("{a} <= {index} {less} {b}"),
                (true, _) => format!("{b} {more} {index} >= {a}"),
            };
            let value = Value::name(index, ty, least);
            return Ok(Head { range, first: Vec::new(), item: Item::One(value) });
        }
        // Counted from 0, and the index computed from that.
        let by = match step {
            None => Value::name("1".to_string(), Ty::Usize, 1),
            Some(step) => {
                let value = self.operand(step)?;
                let value = self.convert(value, &Ty::Usize);
                let value = match literal(&value) {
                    Some(0) => return refuse(step, "a step of 0 panics"),
                    Some(_) => value,
                    None => self.named(value, "step"),
                };
                if literal(&value).is_none() {
                    let said = "assertion failed: step != 0".to_string();
                    let check = format!("prim.select({} > 0, 0, -1) >= 0", value.text);
                    self.check(step.span(), What::Panic(said), &check);
                }
                value
            }
        };
        let (count, k) = (self.names.unique("count"), self.names.unique("k"));
        let (a, b) = (lo.within(5), hi.within(5));
        let (less, more) = if closed { ("<=", " + 1") } else { ("<", "") };
        self.lines.push(format!(
            "{count} = if {a} {less} {b} {{ ({b}{more} - {a} - 1) / {} + 1 }} else {{ 0 }}",
            by.within(6)
        ));
        let by = by.within(6);
        let index = match (reversed, reversed_first, step.is_some()) {
            (false, _, _) => format!("{a} + {k} * {by}"),
            (true, true, _) => format!("{b}{more} - 1 - {k} * {by}"),
            (true, false, _) => format!("{a} + ({count} - 1 - {k}) * {by}"),
        };
        let least = if ty == Ty::Usize { lo.least.max(0) } else { i64::MIN };
        let name = self.names.unique(&wanted);
        let first = vec![format!("{name} = {index}")];
        let value = Value::name(name, ty, least);
        Ok(Head { range: format!("{k} < {count}"), first, item: Item::One(value) })
    }

    /// The jumps out of a body that end its loop.
    fn leaving(&mut self, label: Option<&Label>, body: &Block) -> Vec<Jump> {
        let own = self.loops.frames.len();
        let jumps = self.jumps_out_of(label, body);
        jumps.into_iter().filter(|j| *j != Jump::Continue(own)).collect()
    }

    /// The jumps out of a body, also to its next iteration.
    pub fn jumps_out_of(&mut self, label: Option<&Label>, body: &Block) -> Vec<Jump> {
        let frame = Frame {
            label: label.map(|l| l.name.ident.to_string()),
            number: usize::MAX,
            depth: 0,
            go: String::new(),
            next: String::new(),
        };
        self.loops.frames.push(frame);
        let jumps = self.jumps_in(&body.stmts);
        self.loops.frames.pop();
        jumps
    }

    /// What is known of the loop whose body comes next. Its variable is declared here if it is needed.
    pub fn frame(&mut self, label: Option<&Label>, body: &Block) -> Frame {
        let number = self.loops.count;
        self.loops.count += 1;
        let frame = Frame {
            label: label.map(|l| l.name.ident.to_string()),
            number,
            depth: self.depth,
            go: self.names.unique("go"),
            next: self.names.unique("next"),
        };
        let own = self.loops.frames.len();
        if self.leaving(label, body).contains(&Jump::Break(own)) {
            self.lines.push(format!("var {} = true", frame.go));
        }
        frame
    }

    /// The variables of which one is false when the loop shall end.
    pub fn stops(&mut self, frame: &Frame, body: &Block) -> Vec<String> {
        self.loops.frames.push(frame.clone());
        let own = self.loops.frames.len() - 1;
        let jumps = self.jumps_in(&body.stmts);
        let flags =
            jumps.iter().filter(|j| **j != Jump::Continue(own)).map(|j| self.flag(j)).collect();
        self.loops.frames.pop();
        flags
    }

    /// The lines of a body.
    fn iteration(
        &mut self,
        frame: Frame,
        body: &Block,
        bound: Option<(&Pat, Item, Vec<String>)>,
    ) -> Result<Lines, Refusal> {
        self.round(frame, |this| this.body(body, bound))
    }

    /// The lines of what a loop does in each of its rounds.
    pub(crate) fn round(
        &mut self,
        frame: Frame,
        write: impl FnOnce(&mut Self) -> Result<(), Refusal>,
    ) -> Result<Lines, Refusal> {
        let skipping = self.learned.skipping.contains(&frame.number);
        let next = frame.next.clone();
        self.loops.frames.push(frame);
        let done = self.nested(|this| {
            this.scopes.push(Default::default());
            if skipping {
                this.lines.push(format!("var {next} = true"));
            }
            let done = write(this);
            this.scopes.pop();
            done
        });
        self.loops.frames.pop();
        let (mut block, ()) = done?;
        if !block.effect {
            // The language has no loop without effect.
            block.lines.push("check 0 >= 0".to_string());
        }
        Ok(block)
    }

    pub fn body(
        &mut self,
        body: &Block,
        bound: Option<(&Pat, Item, Vec<String>)>,
    ) -> Result<(), Refusal> {
        if let Some((pattern, item, first)) = bound {
            self.lines.extend(first);
            match (pattern, item) {
                // The index of the text is the name itself.
                (Pat::Ident(ident), Item::One(value))
                    if ident.mutability.is_none()
                        && crate::template::bare(&value.text) == value.text
                        && value.text.chars().all(|c| c.is_alphanumeric() || c == '_') =>
                {
                    let local = Local {
                        name: value.text,
                        ty: value.ty,
                        mutable: false,
                        reference: false,
                        depth: self.depth,
                        least: value.least,
                        closure: None,
                        stack: None,
                        untyped: None,
                    };
                    self.declare(&ident.ident.to_string(), local);
                }
                (Pat::Wild(_), item) => self.forced(item).map(|_| ())?,
                (pattern, item) => self.bind(pattern, item)?,
            }
        }
        self.statements(&body.stmts, Tail::Loop).map(|_| ())
    }

    pub fn while_loop(&mut self, l: &ExprWhile) -> Result<(), Refusal> {
        self.no_jump(&l.cond)?;
        if crate::syntax::let_in(&l.cond).is_some() {
            let (label, condition, body) = (&l.label, &l.cond, &l.body);
            return self.endless_loop(&syn::parse_quote! {
                #label loop { if #condition #body else { break; } }
            });
        }
        let frame = self.frame(l.label.as_ref(), &l.body);
        let stops = self.stops(&frame, &l.body);
        let (mut lines, condition) = self.nested(|this| this.condition(&l.cond))?;
        let text = if stops.is_empty() {
            lines.lines.push(condition.text);
            lines.lines
        } else {
            let other = Value::name("false".to_string(), Ty::Bool, 0);
            let goes = Value::name(stops.join(" && "), Ty::Bool, 0);
            let (block, value) = self.nested(|this| {
                Ok(this.chosen(goes, (lines, Some(condition)), (Default::default(), Some(other))))
            })?;
            let mut lines = block.lines;
            lines.extend(value.map(|v| v.text));
            lines
        };
        let block = self.iteration(frame, &l.body, None)?;
        let body = indented(&block.lines);
        self.lines.push(format!("while {{\n{}\n}} do {{\n{body}\n}}", indented(&text)));
        Ok(())
    }

    /// `loop { .. break value; }` as a value.
    pub fn loop_value(&mut self, l: &ExprLoop) -> Result<Value, Refusal> {
        let number = self.loops.count;
        let name = self.names.unique("value");
        let ty = self.learned.broken.get(&number).cloned();
        // What it is becomes known in the body, and is known in the next pass.
        let ty = self.resolve(&ty.unwrap_or(Ty::F64));
        let start = self.neutral(&ty, &l.loop_token)?;
        self.lines.push(format!("var {name} = {start}"));
        self.loops.broken.insert(number, name.clone());
        self.endless_loop(l)?;
        let ty = self.learned.broken.get(&number).cloned().unwrap_or(ty);
        let least = if ty == Ty::Usize { 0 } else { i64::MIN };
        Ok(Value::name(name, ty, least))
    }

    pub fn endless_loop(&mut self, l: &ExprLoop) -> Result<(), Refusal> {
        let frame = self.frame(l.label.as_ref(), &l.body);
        let stops = self.stops(&frame, &l.body);
        if stops.is_empty() {
            return refuse(
                &l.loop_token,
                "this loop never ends: it has no `break` and no `return`",
            );
        }
        let block = self.iteration(frame, &l.body, None)?;
        let body = indented(&block.lines);
        self.lines.push(format!("while {} {{\n{body}\n}}", stops.join(" && ")));
        Ok(())
    }
}

/// A block with a label as a loop that ends after its first iteration: `'a: { .. break 'a e; .. e }`. It has a value if some
/// jump gives it one.
pub(crate) fn of_block(block: &syn::ExprBlock) -> Result<ExprLoop, Refusal> {
    let plain = ended_block(block, false)?;
    match gives_value(&plain) {
        true => ended_block(block, true),
        false => Ok(plain),
    }
}

fn ended_block(block: &syn::ExprBlock, value: bool) -> Result<ExprLoop, Refusal> {
    let mut plain = None;
    each(&block.block, &mut |node| match node {
        Node::Expr(Expr::Break(jump)) => {
            if jump.label.is_none() {
                plain.get_or_insert(jump.break_token.span);
            }
            false
        }
        Node::Expr(Expr::Continue(jump)) => {
            if jump.label.is_none() {
                plain.get_or_insert(jump.continue_token.span);
            }
            false
        }
        Node::Expr(Expr::ForLoop(_) | Expr::While(_) | Expr::Loop(_) | Expr::Closure(_)) => false,
        _ => true,
    });
    if let Some(span) = plain {
        let message = "give the loop that this is about a label: it stands in a block with one";
        return Err(Refusal::new(Some(span), message));
    }
    let label = block.label.as_ref();
    let name = label.map(|l| &l.name);
    let mut statements = block.block.stmts.clone();
    let last: syn::Stmt = match statements.pop() {
        Some(jump @ syn::Stmt::Expr(Expr::Break(_) | Expr::Return(_), _)) => jump,
        Some(syn::Stmt::Expr(last, None)) if value => syn::parse_quote!(break #name #last;),
        other => {
            statements.extend(other);
            syn::parse_quote!(break #name;)
        }
    };
    statements.push(last);
    Ok(ExprLoop {
        attrs: Vec::new(),
        label: label.cloned(),
        loop_token: Default::default(),
        body: Block { brace_token: block.block.brace_token, stmts: statements },
    })
}
