//! Statements.
//!
//! `let mut` is `var`, an assignment an assignment. What an expression needs besides its value (a checked
//! subtraction, a branch with statements in it) stands in lines before the statement.
//!
//! Jumps: where an arm of an `if` ends in `return`, `break` or `continue`, what follows the `if` is put into
//! the other arm; so the common forms need nothing else. Any other jump sets a variable, and what
//! follows is done only if that says so.

use crate::early::Restated;
use crate::lowering::{Arm, Frame, Jump, Lines, Local, Lowering, Tail, indented};
use crate::syntax::{block_of, diverges, unwrapped};
use crate::template::{Hole, What};
use crate::types::Ty;
use crate::value::Value;
use crate::visited::{Node, all, each, inside};
use crate::{Refusal, refuse, spanned};
use quote::ToTokens;
use std::collections::HashMap;
use syn::{Block, Expr, ExprIf, Stmt};

impl Lowering<'_> {
    /// Translates statements; gives the value for [`Tail::Value`], and for [`Tail::Function`] where the
    /// function ends there with one.
    pub fn statements(
        &mut self,
        statements: &[Stmt],
        tail: Tail,
    ) -> Result<Option<Value>, Refusal> {
        if self.searching {
            return self.searched(statements, tail);
        }
        self.statements_from(statements, tail, &mut 0)
    }

    /// See [`Lowering::statements`]: `reached` is the number of the statement that is being translated.
    pub fn statements_from(
        &mut self,
        statements: &[Stmt],
        tail: Tail,
        reached: &mut usize,
    ) -> Result<Option<Value>, Refusal> {
        for statement in statements {
            if let Stmt::Item(item) = statement {
                match item {
                    // What the text has no hole for needs none of these: the function itself does.
                    syn::Item::Use(_)
                    | syn::Item::Const(_)
                    | syn::Item::Static(_)
                    | syn::Item::Impl(_)
                    | syn::Item::Type(_) => {
                        self.item(quote::quote!(#[allow(unused_imports, dead_code)] #item));
                    }
                    syn::Item::Fn(function) => {
                        let (plain, name) = (crate::expand::plain(function), &function.sig.ident);
                        let crate::expand::Beside { items: twin, integers, .. } =
                            crate::expand::within(&plain, name)?;
                        self.open.inner.extend(integers);
                        self.item(quote::quote!(#[allow(dead_code)] #plain #twin));
                    }
                    syn::Item::Struct(_) | syn::Item::Enum(_) => {
                        self.item(crate::locals::data(item)?)
                    }
                    _ => {
                        return refuse(item, "write this item outside of the function");
                    }
                }
            }
        }
        // A function that gives nothing ends like any block.
        let gives =
            tail == Tail::Value || tail == Tail::Function && self.signature.result != Ty::Unit;
        for (k, statement) in statements.iter().enumerate() {
            let rest = &statements[k + 1..];
            let last = rest.is_empty();
            *reached = k;
            match self.without_early(statement, rest)? {
                Some(Restated::Statements(chain)) => return self.statements(&chain, tail),
                Some(Restated::Branch(branch)) => return self.branch(&branch, &[], tail, true),
                None => {}
            }
            match statement {
                Stmt::Item(_) => {}
                Stmt::Local(local) => {
                    if self.fails()
                        && let Some(Stmt::Local(sure)) = crate::results::otherwise_fails(local)
                    {
                        self.binding(&sure)?;
                        continue;
                    }
                    if let Some(chain) = self.failing_apart(local, rest) {
                        return self.statements(&chain, tail);
                    }
                    if let Some(branch) = alternative(local, rest) {
                        return self.branch(&branch, &[], tail, true);
                    }
                    if let Some(chain) = self.parts_with_names(local, rest)? {
                        return self.statements(&chain, tail);
                    }
                    if let Some(parts) = crate::parted::unwrapped_parts(local) {
                        parts.iter().try_for_each(|part| match part {
                            Stmt::Local(part) => self.binding(part),
                            _ => Ok(()),
                        })?;
                        continue;
                    }
                    if let Some(chain) = self.restated_local(local, rest) {
                        return self.statements(&chain, tail);
                    }
                    let stacked = self.stacked_in_value(statement);
                    self.expect_of(local, rest);
                    let bound = self.with_stacks(&stacked, local, |this| this.binding(local));
                    self.expected.optional = false;
                    bound?;
                }
                Stmt::Macro(m) => {
                    let value = self.macro_call(&m.mac)?;
                    if last && gives && (m.semi_token.is_none() || value.ty == Ty::Never) {
                        let value = self.end(value, tail)?;
                        return Ok(if self.assigns(tail) { None } else { Some(value) });
                    }
                }
                Stmt::Expr(expr, semicolon) => {
                    let is_tail = last && semicolon.is_none();
                    let valued = is_tail
                        && (tail == Tail::Value
                            || tail == Tail::Function && self.signature.result != Ty::Unit);
                    let sought = match expr {
                        Expr::Match(m) => crate::sought::changed_match(m)
                            .map(Expr::If)
                            .or_else(|| self.changed_match(m, valued).map(Expr::Match)),
                        Expr::If(branch) => self.changed_if(branch, valued).map(Expr::If),
                        _ => None,
                    };
                    let expr = sought.as_ref().unwrap_or(expr);
                    match expr {
                        Expr::If(branch) if !(is_tail && tail == Tail::Value) => {
                            let jumps = self.jumps_of(expr);
                            let ends = is_tail && tail == Tail::Function;
                            if ends || !jumps.is_empty() {
                                return self.branch(branch, rest, tail, ends);
                            }
                        }
                        Expr::Match(m) if !self.jumps_of(expr).is_empty() => {
                            let mut chain = crate::enums::as_branches(m, *semicolon)?;
                            chain.extend(rest.iter().cloned());
                            return self.statements(&chain, tail);
                        }
                        // A block at the end ends as what it stands in.
                        Expr::Block(block)
                            if is_tail
                                && block.label.is_none()
                                && !self.jumps_of(expr).is_empty() =>
                        {
                            self.scopes.push(Default::default());
                            let value = self.statements(&block.block.stmts, tail);
                            self.scopes.pop();
                            return value;
                        }
                        Expr::Return(jump) => return self.returning(jump, tail),
                        Expr::Break(jump) => return self.breaking(jump),
                        Expr::Continue(jump) => return self.continuing(jump, tail),
                        _ => {}
                    }
                    if is_tail && tail == Tail::Function && is_endless(expr) {
                        // It is left by `return` only.
                        self.effect(expr)?;
                        return Ok(None);
                    }
                    if is_tail && gives {
                        if tail == Tail::Function && crate::nones::wants_type(expr) {
                            self.expected.wanted = Some(self.signature.result.clone());
                        }
                        let option = tail == Tail::Function
                            && matches!(self.signature.result, Ty::Option(_));
                        let typed = match tail {
                            Tail::Function => self.with_arguments_of_result(expr),
                            _ => None,
                        };
                        let expr = typed.as_ref().unwrap_or(expr);
                        if tail == Tail::Function && self.is_user_call(expr) {
                            self.expected.rows = self.rows_given();
                        }
                        if tail == Tail::Function && crate::syntax::is_collected(expr) {
                            self.expected.lists = self.rows_given();
                        }
                        let value =
                            if option { self.optional(expr)? } else { self.expression(expr)? };
                        let value = self.end(value, tail)?;
                        return Ok(if self.assigns(tail) { None } else { Some(value) });
                    }
                    self.effect(expr)?;
                    let jumps = self.jumps_of(expr);
                    if !jumps.is_empty() {
                        return self.guarded(&jumps, rest, tail);
                    }
                    if last && tail != Tail::Unit && tail != Tail::Loop {
                        // `loop { .. return e; }` at the end, or a block without value.
                        return Ok(None);
                    }
                }
            }
        }
        Ok(None)
    }

    /// `let v = x.iter_mut().find(f).unwrap();` with an index.
    pub fn sought_element(&mut self, local: &syn::Local) -> Option<Vec<Stmt>> {
        crate::sought::unwrapped_element(local, "")?;
        let name = self.names.unique("sought");
        crate::sought::unwrapped_element(local, &name)
    }

    /// `Matrix { .. }` that the function gives, with the arguments that the result's type has.
    fn with_arguments_of_result(&self, expr: &Expr) -> Option<Expr> {
        let Expr::Struct(literal) = unwrapped(expr) else { return None };
        let Ty::Of(hole, steps) = &self.signature.result else { return None };
        let Some(Hole::Data(path)) = self.parts.holes.get(*hole).filter(|_| steps.is_empty())
        else {
            return None;
        };
        let path: syn::Path = syn::parse2(path.clone()).ok()?;
        let mut bare = path.clone();
        bare.segments.last_mut()?.arguments = syn::PathArguments::None;
        let mut literal = literal.clone();
        let same = bare.to_token_stream().to_string() == literal.path.to_token_stream().to_string();
        literal.path = same.then_some(path)?;
        if let Some(last) = literal.path.segments.last_mut()
            && let syn::PathArguments::AngleBracketed(arguments) = &mut last.arguments
        {
            arguments.colon2_token = Some(Default::default());
        }
        Some(Expr::Struct(literal))
    }

    /// An item of the body. What follows a branch is gone over once more, within it.
    fn item(&mut self, item: proc_macro2::TokenStream) {
        let written = item.to_string();
        if !self.parts.items.iter().any(|known| known.to_string() == written) {
            self.parts.items.push(item);
        }
    }

    /// Whether the function's result goes into a variable.
    fn assigns(&self, tail: Tail) -> bool {
        tail == Tail::Function && self.learned.flagged
    }

    /// The end of a block: its value, or the assignment of the result.
    fn end(&mut self, value: Value, tail: Tail) -> Result<Value, Refusal> {
        if self.assigns(tail) && value.ty != Ty::Never {
            let value = self.given(value)?;
            let result = self.returned.0.clone();
            self.set(&result, &value.text, 0);
            return Ok(value);
        }
        match (tail, &value.ty) {
            (Tail::Function, Ty::Option(_)) => self.given(value),
            _ => Ok(value),
        }
    }

    /// A value as that of the function.
    fn given(&mut self, value: Value) -> Result<Value, Refusal> {
        let result = self.signature.result.clone();
        let value = self.with_type(value, &result, &syn::parse_quote!(None))?;
        Ok(self.convert(value, &result))
    }

    /// An `if` that has jumps in it, or ends the function, and what follows it.
    fn branch(
        &mut self,
        branch: &ExprIf,
        rest: &[Stmt],
        tail: Tail,
        ends: bool,
    ) -> Result<Option<Value>, Refusal> {
        let changed = crate::parted::changed_if(branch);
        let branch = changed.as_ref().unwrap_or(branch);
        let other = branch.else_branch.as_ref().map(|(_, e)| block_of(e));
        let then_ends = diverges(&branch.then_branch.stmts);
        let other_ends = other.as_ref().is_some_and(|b| diverges(b));
        if tail == Tail::Value {
            return refuse(
                &branch.if_token,
                "a jump out of an expression is not built: write the `if` as a statement of its own, \
                 outside of the value",
            );
        }
        if !ends && !then_ends && !other_ends {
            self.plain_branch(branch)?;
            let jumps = self.jumps_of(&Expr::If(branch.clone()));
            return self.guarded(&jumps, rest, tail);
        }
        // What follows does not see the names of an `if let`.
        self.scopes.push(Default::default());
        let condition = self.condition(&branch.cond);
        if let (true, Some((span, said)), Ok(condition)) =
            (ends, other.as_deref().and_then(crate::locals::only_panics), &condition)
        {
            self.asserted(span, condition, said);
            let value = self.statements(&branch.then_branch.stmts, tail);
            self.scopes.pop();
            return value;
        }
        let bound = self.scopes.pop().unwrap_or_default();
        let condition = condition?;
        let then = self.arm(&branch.then_branch.stmts, bound, then_ends || ends, rest, tail)?;
        let none = Default::default();
        let other = self.arm(&other.unwrap_or_default(), none, other_ends || ends, rest, tail)?;
        let (then, other) = self.same(then, other, &branch.if_token)?;
        Ok(self.chosen(condition, then, other))
    }

    /// One arm of such an `if`: its statements, which know some more names, and those behind the `if` unless it ends in a jump.
    fn arm(
        &mut self,
        own: &[Stmt],
        bound: HashMap<String, Local>,
        ends: bool,
        rest: &[Stmt],
        tail: Tail,
    ) -> Result<Arm, Refusal> {
        self.nested(|this| {
            // Nothing follows an arm that ends: lists may become longer in it.
            let mut own_names = if ends { this.moved_in() } else { HashMap::new() };
            own_names.extend(bound);
            this.scopes.push(own_names);
            let found = if ends {
                this.statements(own, tail)
            } else {
                let jumps = this.jumps_in(own);
                this.statements(own, if rest.is_empty() { tail_of(tail) } else { Tail::Unit })
                    .map(|_| jumps)
                    .and_then(|jumps| {
                        this.scopes.pop();
                        let lists = this.moved_in();
                        this.scopes.push(lists);
                        match jumps.is_empty() {
                            true => this.statements(rest, tail),
                            false => this.guarded(&jumps, rest, tail),
                        }
                    })
            };
            this.scopes.pop();
            found
        })
    }

    /// Statements that are done only if none of some jumps was taken.
    fn guarded(
        &mut self,
        jumps: &[Jump],
        rest: &[Stmt],
        tail: Tail,
    ) -> Result<Option<Value>, Refusal> {
        if rest.is_empty() {
            return Ok(None);
        }
        let flags: Vec<String> = jumps.iter().map(|j| self.flag(j)).collect();
        let (mut block, value) = self.nested(|this| {
            let lists = this.moved_in();
            this.scopes.push(lists);
            let found = this.statements(rest, tail);
            this.scopes.pop();
            found
        })?;
        if !block.effect {
            block.lines.push("check 0 >= 0".to_string());
        }
        if value.is_some() {
            // Without a variable for the result there is no value where nothing is done: the next pass has one.
            self.learned.flagged = true;
        }
        self.lines.push(format!("if {} {{\n{}\n}}", flags.join(" && "), indented(&block.lines)));
        Ok(None)
    }

    /// The variable that is false once a jump was taken.
    pub fn flag(&mut self, jump: &Jump) -> String {
        match jump {
            Jump::Return => {
                self.learned.flagged = true;
                self.returned.1.clone()
            }
            Jump::Break(k) => self.loops.frames[*k].go.clone(),
            Jump::Continue(k) => {
                let frame = self.loops.frames[*k].clone();
                self.learned.skipping.insert(frame.number);
                frame.next
            }
        }
    }

    fn returning(&mut self, jump: &syn::ExprReturn, tail: Tail) -> Result<Option<Value>, Refusal> {
        let unit = self.signature.result == Ty::Unit;
        let Some(expr) = &jump.expr else {
            if !unit {
                return refuse(jump, "write the value that is returned");
            }
            if tail != Tail::Function {
                self.learned.flagged = true;
                let live = self.returned.1.clone();
                self.set(&live, "false", 0);
            }
            return Ok(None);
        };
        if unit {
            return refuse(expr, "write this before the `return`");
        }
        if crate::nones::wants_type(expr) {
            self.expected.wanted = Some(self.signature.result.clone());
        }
        let typed = self.with_arguments_of_result(expr);
        let expr = typed.as_ref().unwrap_or(expr);
        let value = match self.signature.result {
            Ty::Option(_) => self.optional(expr)?,
            _ => self.expression(expr)?,
        };
        if tail == Tail::Function {
            let value = self.end(value, tail)?;
            return Ok(if self.assigns(tail) { None } else { Some(value) });
        }
        self.learned.flagged = true;
        let value = self.given(value)?;
        let (result, live) = self.returned.clone();
        self.set(&result, &value.text, 0);
        self.set(&live, "false", 0);
        Ok(None)
    }

    fn breaking(&mut self, jump: &syn::ExprBreak) -> Result<Option<Value>, Refusal> {
        let target = self.target(jump.label.as_ref(), &jump.break_token)?;
        let Frame { go, depth, number, .. } = self.loops.frames[target].clone();
        if let Some(expr) = &jump.expr {
            let Some(name) = self.loops.broken.get(&number).cloned() else {
                return refuse(expr, "this value is not used: write a `break` without it");
            };
            let mut value = self.expression(expr)?;
            let own = self.resolve(&value.ty);
            let known = self.learned.broken.get(&number).cloned();
            if matches!(&own, Ty::Option(inner) if **inner == Ty::Never) && known.is_none() {
                // Of what it is none, another `break` says, which the next pass knows.
                self.set(&name, "#(false, 0.0)", depth);
                self.set(&go, "false", depth);
                return Ok(None);
            }
            if let Some(known) = &known {
                value = self.with_type(value, known, expr)?;
                value = self.convert(value, known);
            }
            // What a hole says is found again in each pass.
            let found = match (&own, known) {
                (Ty::Of(..), Some(Ty::Of(..))) => own,
                _ => value.ty.clone(),
            };
            self.learned.broken.insert(number, found);
            self.set(&name, &value.text, depth);
        }
        self.set(&go, "false", depth);
        Ok(None)
    }

    fn continuing(
        &mut self,
        jump: &syn::ExprContinue,
        tail: Tail,
    ) -> Result<Option<Value>, Refusal> {
        let target = self.target(jump.label.as_ref(), &jump.continue_token)?;
        if target + 1 == self.loops.frames.len() && tail == Tail::Loop {
            return Ok(None);
        }
        let flag = self.flag(&Jump::Continue(target));
        let depth = self.loops.frames[target].depth + 1;
        self.set(&flag, "false", depth);
        Ok(None)
    }

    /// Assigns a variable of the lowering's own, which is declared at some depth.
    fn set(&mut self, variable: &str, value: &str, depth: usize) {
        self.lines.push(format!("{variable} = {value}"));
        self.reach = self.reach.min(depth);
        self.assigned += 1;
    }

    /// Which of the open loops a jump is about.
    fn target(
        &self,
        label: Option<&syn::Lifetime>,
        at: &impl quote::ToTokens,
    ) -> Result<usize, Refusal> {
        let wanted = label.map(|l| l.ident.to_string());
        let found = match &wanted {
            None => self.loops.frames.len().checked_sub(1),
            Some(_) => self.loops.frames.iter().rposition(|f| f.label == wanted),
        };
        found.ok_or_else(|| spanned(at, "this jump is outside of a loop"))
    }

    /// The jumps out of an expression.
    pub fn jumps_of(&self, expr: &Expr) -> Vec<Jump> {
        let mut search = Search::new(self);
        each(expr, &mut |node| search.see(node));
        search.found
    }

    /// The jumps out of statements.
    pub fn jumps_in(&self, statements: &[Stmt]) -> Vec<Jump> {
        let mut search = Search::new(self);
        all(statements, &mut |node| search.see(node));
        search.found
    }

    /// What is done for its effect.
    pub fn effect(&mut self, expr: &Expr) -> Result<(), Refusal> {
        let assigned = self.assigned_stacks(expr);
        if !assigned.is_empty() {
            return self.on_lists(&assigned, expr);
        }
        let stacked = self.stacked_in(expr);
        if !stacked.is_empty() {
            return self.with_stacks(&stacked, expr, |this| this.effect(expr));
        }
        let lists = self.lists_in(expr);
        let whole = match expr {
            _ if lists.is_empty() => true,
            // A loop that collects, or the method itself.
            Expr::ForLoop(l) => {
                self.pushes_of(l).len() == lists.len()
                    || self.read_pushes_of(l).len() == lists.len()
            }
            Expr::MethodCall(call) => self.is_list(&call.receiver),
            _ => false,
        };
        if !whole {
            return self.counted_and_filled(&lists, expr);
        }
        match expr {
            Expr::Assign(assign) => self.assignment(&assign.left, &assign.right),
            Expr::Binary(binary) if crate::syntax::compound(&binary.op).is_some() => {
                self.compound(binary)
            }
            Expr::If(branch) => self.plain_branch(branch),
            Expr::Block(block) => match &block.label {
                None => self.inner_block(&block.block),
                Some(_) => self.endless_loop(&crate::loops::of_block(block)?),
            },
            Expr::ForLoop(l) => self.for_loop(l),
            Expr::While(l) => self.while_loop(l),
            Expr::Loop(l) => self.endless_loop(l),
            Expr::Paren(inner) => self.effect(&inner.expr),
            Expr::Call(call) if let Some(swapped) = crate::restated::swapped(call) => {
                self.assignment(&swapped.left, &swapped.right)
            }
            Expr::MethodCall(call)
                if crate::syntax::CHANGING.contains(&call.method.to_string().as_str()) =>
            {
                match self.own_or_of_a_list(call, true)? {
                    Some(_) => Ok(()),
                    None => self.changing_method(call),
                }
            }
            Expr::MethodCall(call)
                if crate::syntax::GROWING.contains(&call.method.to_string().as_str())
                    && self.is_list(&call.receiver) =>
            {
                self.grow(call)
            }
            Expr::MethodCall(call) if self.is_relisting(call) => self.relisted(call).map(|_| ()),
            Expr::MethodCall(call) if let Some(_) = self.list_in_a_field(call, true)? => Ok(()),
            Expr::MethodCall(call) if self.is_longer_row(call) => self.longer_row(call),
            Expr::Match(m) => self.plain_match(m),
            _ => {
                // Its value is not used, but it may fail.
                let value = self.expression(expr)?;
                if !value.cheap && value.ty != Ty::Never && value.ty != Ty::Unit {
                    let name = self.names.unique("unused");
                    self.lines.push(format!("{name} = {}", value.text));
                }
                Ok(())
            }
        }
    }

    /// A block as a statement. Names are unique, so its lines need no block of their own.
    pub fn inner_block(&mut self, block: &Block) -> Result<(), Refusal> {
        self.scopes.push(Default::default());
        let done = self.statements(&block.stmts, Tail::Unit);
        self.scopes.pop();
        done.map(|_| ())
    }

    /// An `if` as a statement, from which no jump takes away what follows.
    fn plain_branch(&mut self, branch: &ExprIf) -> Result<(), Refusal> {
        let changed = crate::parted::changed_if(branch);
        let branch = changed.as_ref().unwrap_or(branch);
        self.scopes.push(Default::default());
        let condition = self.condition(&branch.cond);
        let bound = self.scopes.pop().unwrap_or_default();
        let condition = condition?;
        let arm = |this: &mut Self, statements: &[Stmt], bound: HashMap<String, Local>| {
            this.nested(|this| {
                this.scopes.push(bound);
                let done = this.statements(statements, Tail::Unit);
                this.scopes.pop();
                done
            })
        };
        let then = arm(self, &branch.then_branch.stmts, bound)?;
        let other = match &branch.else_branch {
            Some((_, other)) => arm(self, &block_of(other), Default::default())?,
            None => Default::default(),
        };
        self.chosen(condition, (then.0, None), (other.0, None));
        Ok(())
    }

    /// An `if` of two arms: the lines of one without values, else the value.
    pub fn chosen(&mut self, condition: Value, then: Arm, other: Arm) -> Option<Value> {
        match (then.1, other.1) {
            (Some(a), Some(b)) => {
                let plain = then.0.lines.is_empty() && other.0.lines.is_empty();
                let ty = if a.ty == Ty::Never { b.ty.clone() } else { a.ty.clone() };
                if plain {
                    let text =
                        format!("if {} {{ {} }} else {{ {} }}", condition.text, a.text, b.text);
                    let fixed = condition.stable && a.stable && b.stable;
                    return Some(Value {
                        text,
                        ty,
                        level: 0,
                        stable: fixed,
                        cheap: false,
                        least: a.least.min(b.least),
                    });
                }
                let arm = |mut block: Lines, value: &Value| {
                    block.lines.push(value.text.clone());
                    indented(&block.lines)
                };
                let name = self.names.unique("branch");
                self.lines.push(format!(
                    "{name} = if {} {{\n{}\n}} else {{\n{}\n}}",
                    condition.text,
                    arm(then.0, &a),
                    arm(other.0, &b)
                ));
                Some(Value::name(name, ty, a.least.min(b.least)))
            }
            _ => {
                let effect = then.0.effect || other.0.effect;
                let (mut then, other) = (then.0.lines, other.0.lines);
                if then.is_empty() && other.is_empty() {
                    if !condition.cheap {
                        let name = self.names.unique("unused");
                        self.lines.push(format!("{name} = {}", condition.text));
                    }
                    return None;
                }
                if !effect {
                    // The language has no branch without effect.
                    then.push("check 0 >= 0".to_string());
                }
                let last = match other.is_empty() {
                    true => String::new(),
                    false => format!(" else {{\n{}\n}}", indented(&other)),
                };
                self.lines.push(format!("if {} {{\n{}\n}}{last}", condition.text, indented(&then)));
                None
            }
        }
    }

    /// Writes lines of a block within the block that is being written.
    pub fn nested<T>(
        &mut self,
        write: impl FnOnce(&mut Self) -> Result<T, Refusal>,
    ) -> Result<(Lines, T), Refusal> {
        let outside = std::mem::take(&mut self.lines);
        let reach = std::mem::replace(&mut self.reach, usize::MAX);
        self.depth += 1;
        let done = write(self);
        self.depth -= 1;
        let effect = self.reach <= self.depth;
        self.reach = self.reach.min(reach);
        let lines = std::mem::replace(&mut self.lines, outside);
        Ok((Lines { lines, effect }, done?))
    }

    /// `assert!` and its like: a check at this place.
    pub fn asserted(&mut self, span: proc_macro2::Span, condition: &Value, message: String) {
        let text = format!("prim.select({}, 0, -1) >= 0", condition.text);
        self.check(span, What::Panic(message), &text);
    }
}

/// `let P = e else { .. };` and what follows it, as an `if let`.
fn alternative(local: &syn::Local, rest: &[Stmt]) -> Option<ExprIf> {
    let init = local.init.as_ref()?;
    let (_, other) = init.diverge.as_ref()?;
    let (pattern, value) = (&local.pat, &init.expr);
    Some(syn::parse_quote!(if let #pattern = #value { #(#rest)* } else #other))
}

/// Whether an expression is a loop that gives no value.
fn is_endless(expr: &Expr) -> bool {
    matches!(expr, Expr::Loop(l) if !crate::syntax::gives_value(l))
}

/// The same end for a block of an arm whose `if` has it.
fn tail_of(tail: Tail) -> Tail {
    match tail {
        Tail::Loop => Tail::Loop,
        _ => Tail::Unit,
    }
}

/// Looks for jumps that leave what is looked at.
struct Search<'a> {
    frames: Vec<Option<String>>,
    outside: usize,
    found: Vec<Jump>,
    /// Whether a `?` is no jump.
    fails: bool,
    _of: std::marker::PhantomData<&'a ()>,
}

impl<'a> Search<'a> {
    fn new(lowering: &Lowering<'a>) -> Self {
        let frames: Vec<_> = lowering.loops.frames.iter().map(|f| f.label.clone()).collect();
        Search {
            outside: frames.len(),
            frames,
            found: Vec::new(),
            fails: lowering.fails(),
            _of: std::marker::PhantomData,
        }
    }

    /// Looks at a part; whether its own parts are to be looked at then.
    fn see(&mut self, node: Node) -> bool {
        let Node::Expr(expr) = node else { return !matches!(node, Node::Item(_)) };
        let (label, head, body) = match expr {
            Expr::ForLoop(l) => (&l.label, Some(&l.expr), &l.body),
            Expr::While(l) => (&l.label, Some(&l.cond), &l.body),
            Expr::Loop(l) => (&l.label, None, &l.body),
            Expr::Closure(_) => return false,
            Expr::Return(_) | Expr::Try(_) | Expr::Break(_) | Expr::Continue(_) => {
                inside(expr, &mut |node| self.see(node));
                match expr {
                    Expr::Return(_) => self.push(Jump::Return),
                    Expr::Try(_) if !self.fails => self.push(Jump::Return),
                    Expr::Break(jump) => self.add(jump.label.as_ref(), Jump::Break),
                    Expr::Continue(jump) => self.add(jump.label.as_ref(), Jump::Continue),
                    _ => {}
                }
                return false;
            }
            _ => return true,
        };
        if let Some(head) = head {
            each(&**head, &mut |node| self.see(node));
        }
        self.frames.push(label.as_ref().map(|l| l.name.ident.to_string()));
        each(body, &mut |node| self.see(node));
        self.frames.pop();
        false
    }

    fn add(&mut self, label: Option<&syn::Lifetime>, jump: fn(usize) -> Jump) {
        let wanted = label.map(|l| l.ident.to_string());
        let target = match &wanted {
            None => self.frames.len().checked_sub(1),
            Some(_) => self.frames.iter().rposition(|f| *f == wanted),
        };
        if let Some(target) = target.filter(|t| *t < self.outside) {
            self.push(jump(target));
        }
    }

    fn push(&mut self, jump: Jump) {
        if !self.found.contains(&jump) {
            self.found.push(jump);
        }
    }
}
