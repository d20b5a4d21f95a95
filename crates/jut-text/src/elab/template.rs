//! Definitions that take functions, and the functions that are given to them.
//!
//! ```text
//! def twice(f: fn(f64) -> f64, x: f64) -> f64 = f(f(x))
//! def g(x: f64, a: f64) -> f64 = twice(fn (y) -> a * y, x)        t = a * x; t_1 = a * t
//! ```
//!
//! Such a definition has no meaning of its own in the core: each call writes its body out, with the values and
//! functions that are given, and a call of a parameter writes out the function that was given. So functions are
//! resolved while the text is elaborated, what they capture is a name like any other, and no pass knows of them.
//!
//! Of a parameter `f: fn` nothing is said: each call of it is elaborated for what it is given, so lists of several lengths may be.
//!
//! Names mean in a body what they mean where it stands in the text: a definition sees its parameters and its file, a
//! function without a name what is in scope where it is written. It reads variables of outside and does not assign
//! them.
//!
//! One that calls itself is a definition of its own for the functions that it is given: [`super::specialised`].
//!
//! *Cost*: that of the text that is written out, of which one definition may have a bounded amount (J003).

use super::body::{Body, FUNCTION};
use super::given::{Argument, Callable, Given, Lambda, Stated, Template};
use super::made::{Made, Values};
use super::scope::{Entity, Names};
use super::{Global, Globals, Res, Stop};
use crate::ast::{self, Ast, Def, ExprId, ExprKind, Name, TypeKind};
use jut_ir::{Atom, Diagnostic, FuncId, Literal, NVar, Size, Span, Type};

/// How deep definitions may be written out in each other, and how many in one definition.
const MOST: (u32, u32) = (24, 4000);

/// What is another one in another text.
pub(super) struct Around<'a, 's> {
    ast: &'a Ast<'s>,
    file: usize,
    names: Names<'s>,
    mark: super::scope::Mark,
    around: Option<ExprId>,
    ordered: Option<usize>,
    copies: u32,
}

/// Declares one; nothing else of it is looked at before it is called.
pub(super) fn declare(
    d: &Def,
    globals: &mut Globals,
    number: usize,
    diagnostics: &mut Vec<Diagnostic>,
) -> Res<()> {
    let full = globals.full(d.name.text);
    super::unused(globals, &d.name, &full, globals.names.contains_key(&full), diagnostics)?;
    let plain = !d.core && d.lin_params.is_empty() && d.cap_params.is_empty();
    if !plain || !d.lin_results.is_empty() {
        let message = "a definition that takes functions has no linear parts";
        let help = "give the linear parts to a definition of their own";
        diagnostics.push(Diagnostic::error("J608", d.head, message).help(help));
        return Err(Stop);
    }
    globals.names.insert(full, Global::Template(number));
    Ok(())
}

impl<'a, 's> Body<'a, 's> {
    /// J608: a function where a value is needed.
    pub fn no_value<T>(&mut self, span: Span) -> Res<T> {
        let message = "a function is no value";
        let help = "give it to a definition that takes one: `def f(g: fn(f64) -> f64, x: f64) -> f64 = g(x)`";
        self.error("J608", span, message, help)
    }

    /// Enters another text with other names.
    pub(super) fn go_to(
        &mut self,
        ast: &'a Ast<'s>,
        file: usize,
        names: Names<'s>,
    ) -> Around<'a, 's> {
        Around {
            ast: std::mem::replace(&mut self.ast, ast),
            file: self.globals.read_as(file),
            names: self.scope.exchange(names),
            mark: self.scope.mark(),
            around: self.around.take(),
            ordered: self.ordered.take(),
            copies: std::mem::replace(&mut self.copies, 1),
        }
    }

    pub(super) fn come_back(&mut self, around: Around<'a, 's>) {
        self.scope.restore(around.mark);
        self.scope.exchange(around.names);
        self.globals.read_as(around.file);
        self.ast = around.ast;
        self.around = around.around;
        self.ordered = around.ordered;
        self.copies = around.copies;
    }

    /// One more body is written out.
    pub(super) fn begin_expansion(&mut self, name: &str, span: Span) -> Res<()> {
        self.expansion = (self.expansion.0 + 1, self.expansion.1 + 1);
        if self.expansion.0 <= MOST.0 && self.expansion.1 <= MOST.1 {
            return Ok(());
        }
        let message = format!("`{name}` is written out too often here");
        let help = "write a loop, or give parts of this definition names of their own";
        self.expansion.0 -= 1;
        self.fail(Diagnostic::error("J003", span, message).help(help))
    }

    /// A call of a definition that takes functions.
    pub fn expand(&mut self, number: usize, call: &'a ast::Call<'s>, span: Span) -> Res<Made> {
        self.surface_only(span, "a call of a definition that takes functions", "write it out")?;
        let Some(template) = self.templates.get(number).copied() else { return Err(Stop) };
        let d = template.def;
        if call.args.len() != d.params.len() || !call.lin.is_empty() || !call.places.is_empty() {
            let message = format!(
                "`{}` takes {} argument(s), and {} are given",
                d.name.text,
                d.params.len(),
                call.args.len() + call.lin.len() + call.places.len()
            );
            let names: Vec<&str> = d.params.iter().map(|(name, _)| name.text).collect();
            let help = format!("give all of them: `{}({})`", d.name.text, names.join(", "));
            let error = Diagnostic::error("J208", span, message).label(d.head, "defined here");
            return self.fail(error.help(help));
        }
        // What is given is computed where the call stands, from left to right.
        let mut arguments = Vec::new();
        for ((_, ty), e) in d.params.iter().zip(&call.args) {
            let argument = match ty.kind {
                TypeKind::Function(..) => Argument::Function(self.callable(*e)?),
                _ => Argument::Value(self.atom(*e, "t")?),
            };
            arguments.push((argument, self.span(*e)));
        }
        let values = self.written_out(number, &template, arguments, span)?;
        Ok(Made::Values(values, span))
    }

    fn written_out(
        &mut self,
        number: usize,
        template: &Template<'a, 's>,
        arguments: Vec<(Argument<'a, 's>, Span)>,
        span: Span,
    ) -> Res<Values> {
        if template.is_recursive {
            return self.specialised((number, template), arguments, span);
        }
        self.globals.written_out.borrow_mut().insert(number);
        if let Some(by) = self.globals.rules.get(&number).copied()
            && let Some(values) = self.ruled((number, template), by, &arguments, span)?
        {
            return Ok(values);
        }
        self.begin_expansion(template.def.name.text, span)?;
        let around = self.go_to(template.ast, template.file, Names::default());
        let said = self.diagnostics.len();
        let values = self.expanded(template.def, arguments, span);
        self.label_written_out(said, span);
        self.come_back(around);
        self.expansion.0 -= 1;
        values
    }

    /// What was said since then is about the text that this call has written out.
    pub(super) fn label_written_out(&mut self, said: usize, span: Span) {
        let inside =
            |at: Span| at.file == span.file && span.start <= at.start && at.end <= span.end;
        for message in self.diagnostics.get_mut(said..).into_iter().flatten() {
            if !inside(message.span) {
                message.labels.push((span, "written out for this call".to_string()));
            }
        }
    }

    /// A definition that takes functions, with those that a call of its derivative gives it, and the other arguments.
    pub(super) fn partial(
        &mut self,
        number: usize,
        args: &'a [ExprId],
    ) -> Res<(Callable<'a, 's>, Vec<&'s str>, Vec<ExprId>)> {
        let Some(template) = self.templates.get(number).copied() else { return Err(Stop) };
        let (mut functions, mut names, mut rest) = (Vec::new(), Vec::new(), Vec::new());
        for (k, (name, ty)) in template.def.params.iter().enumerate() {
            let function = matches!(ty.kind, TypeKind::Function(..));
            functions.push(match args.get(k) {
                Some(e) if function => Some(self.callable(*e)?),
                _ => None,
            });
            if !function {
                names.push(name.text);
                rest.extend(args.get(k));
            }
        }
        rest.extend(args.iter().skip(functions.len()));
        Ok((Callable::Partial(number, functions), names, rest))
    }

    /// The body, in the scope of the definition.
    fn expanded(
        &mut self,
        d: &'a Def<'s>,
        arguments: Vec<(Argument<'a, 's>, Span)>,
        span: Span,
    ) -> Res<Values> {
        for ((_, ty), (argument, at)) in d.params.iter().zip(&arguments) {
            if let Argument::Value(atom) = argument {
                let found = self.type_of(*atom);
                self.bind_sizes(d, ty, &found, *at)?;
            }
        }
        self.all_sizes_bound(d, span)?;
        for ((name, ty), (argument, at)) in d.params.iter().zip(arguments) {
            match (argument, &ty.kind) {
                (Argument::Value(atom), _) => {
                    let wanted = self.ty(ty)?;
                    let atom = super::narrow::fitted(atom, &wanted);
                    let found = self.type_of(atom);
                    if found != wanted {
                        return self.misfitting(name.text, &found, &wanted, Some(atom), at);
                    }
                    self.scope.bind(name.text, Entity::N(atom));
                }
                (Argument::Function(callable), TypeKind::Function(takes, gives)) => {
                    self.bind_given(name.text, callable, (takes, gives))?;
                }
                (Argument::Function(_), _) => return Err(Stop),
            }
        }
        let (mut values, _) = self.body(d.body, None)?;
        // A named result may be a size of those behind it.
        let mut wanted = Vec::new();
        for (k, result) in d.results.iter().enumerate() {
            wanted.push(self.ty(&result.ty)?);
            if let (Some(value), Some(wanted)) = (values.nl.get_mut(k), wanted.last()) {
                *value = super::narrow::fitted(*value, wanted);
            }
            if let (Some(name), Some(value)) = (result.name, values.nl.get(k)) {
                self.scope.bind(name.text, Entity::N(*value));
            }
        }
        self.gives(d.name.text, &values, &wanted, span)?;
        Ok(values)
    }

    /// J210 unless the arguments say all sizes of a definition.
    pub(super) fn all_sizes_bound(&mut self, d: &'a Def<'s>, span: Span) -> Res<()> {
        let Some(name) = d.sizes.iter().find(|name| self.scope.get(name.text).is_none()) else {
            return Ok(());
        };
        let message = format!(
            "the size `{}` of `{}` does not follow from the arguments",
            name.text, d.name.text
        );
        let help = "give an array that has it, or make it a parameter";
        self.error("J210", span, message, help)
    }

    /// A parameter that is a function is this one.
    pub(super) fn bind_given(
        &mut self,
        name: &'s str,
        callable: Callable<'a, 's>,
        (takes, gives): (&'a [ast::Type<'s>], &'a [(Option<Name<'s>>, ast::Type<'s>)]),
    ) -> Res<()> {
        let takes = self.types(takes)?;
        let gives = self.results(gives)?;
        let stated = (!gives.is_empty()).then_some(Stated { takes, gives });
        self.name_function(name, Given { callable, stated });
        Ok(())
    }

    pub(super) fn types(&mut self, list: &'a [ast::Type<'s>]) -> Res<Vec<Type>> {
        list.iter().map(|ty| self.ty(ty)).collect()
    }

    /// What a function gives, with the places of results in place of their names.
    pub(super) fn results(
        &mut self,
        list: &'a [(Option<Name<'s>>, ast::Type<'s>)],
    ) -> Res<Vec<Type>> {
        let mark = self.scope.mark();
        let mut names: Vec<(NVar, usize)> = Vec::new();
        let mut results = Vec::new();
        for (k, (name, ty)) in list.iter().enumerate() {
            let ty = self.ty(ty)?;
            if let Some(name) = name {
                names.push((self.result_name(name, ty.clone()), k));
            }
            let place = |v: NVar| names.iter().find(|(name, _)| *name == v);
            results.push(ty.subst(&mut |v| place(v).map(|(_, k)| Size::position(*k))));
        }
        self.scope.restore(mark);
        Ok(results)
    }

    /// Binds the sizes of a definition that the type of an argument says.
    pub(super) fn bind_sizes(
        &mut self,
        d: &'a Def<'s>,
        declared: &'a ast::Type<'s>,
        found: &Type,
        span: Span,
    ) -> Res<()> {
        if let TypeKind::Sized(name, sizes) = &declared.kind {
            for (size, length) in sizes.iter().zip(self.sizes_of_named(name, found)) {
                let ExprKind::Name(name) = &self.ast.expr(*size).kind else { continue };
                if let Some(length) = length
                    && d.sizes.iter().any(|own| own.text == name.text)
                    && self.scope.get(name.text).is_none()
                {
                    let atom = self.materialize(&length, span)?;
                    self.scope.bind(name.text, Entity::N(atom));
                }
            }
            return Ok(());
        }
        let TypeKind::Array(sizes, element) = &declared.kind else { return Ok(()) };
        let mut found = found;
        for size in sizes {
            let Type::Array(length, inner) = found else { return Ok(()) };
            if let ExprKind::Name(name) = &self.ast.expr(*size).kind
                && d.sizes.iter().any(|own| own.text == name.text)
                && self.scope.get(name.text).is_none()
            {
                let length = length.clone();
                let atom = self.materialize(&length, span)?;
                self.scope.bind(name.text, Entity::N(atom));
            }
            found = inner;
        }
        self.bind_sizes(d, element, found, span)
    }

    /// The results of a function have the types that it was said to give.
    pub(super) fn gives(
        &mut self,
        name: &str,
        values: &Values,
        wanted: &[Type],
        span: Span,
    ) -> Res<()> {
        let found: Vec<Type> = values.nl.iter().map(|atom| self.type_of(*atom)).collect();
        let size = |v| Some(self.b.func.size_of(*values.nl.get(Size::position_of(v)?)?));
        let wanted: Vec<Type> = wanted.iter().map(|ty| ty.subst(&mut |v| size(v))).collect();
        let wanted = wanted.as_slice();
        if found == wanted && values.lin.is_empty() {
            return Ok(());
        }
        let list = |body: &Self, types: &[Type]| {
            types.iter().map(|ty| body.show(ty)).collect::<Vec<_>>().join(", ")
        };
        let message = format!(
            "`{name}` is said to give ({}), and gives ({}) here",
            list(self, wanted),
            list(self, &found)
        );
        let help = match (values.nl.as_slice(), wanted) {
            ([Atom::Lit(Literal::I64(k))], [ty]) if ty.is_float() => format!("write `{k}.0`"),
            _ => "make the function give what its parameter says".to_string(),
        };
        self.error("J202", span, message, help)
    }

    /// An argument that is a function.
    pub(super) fn callable(&mut self, e: ExprId) -> Res<Callable<'a, 's>> {
        let (ast, span) = (self.ast, self.span(e));
        match &ast.expr(e).kind {
            ExprKind::Lambda(lambda) => {
                let names = std::rc::Rc::new(self.scope.snapshot());
                let file = self.globals.file();
                Ok(Callable::Lambda(Lambda { lambda, ast, file, names, span }))
            }
            ExprKind::Name(name) => self.named(*name),
            ExprKind::Post(..) => self.named(Name { text: ast.text(e), span }),
            ExprKind::Call(call)
                if let Some((source, name, chain)) = self.derivative_of_given(call) =>
            {
                let of = self.differentiated(name, chain, source)?;
                Ok(Callable::Derivative(std::rc::Rc::new(of)))
            }
            ExprKind::Call(call) if let Some(name) = self.name_of_derivative(call) => {
                match self.derivative_named(&name) {
                    Some(made) => self.derivative(made, span),
                    None => {
                        let message = format!("`{}` is no derivative of a definition", ast.text(e));
                        let help = "write `fn (x) -> ..`, and call the derivative there";
                        self.error("J608", span, message, help)
                    }
                }
            }
            _ => {
                let message = "a function is given by its name, or written as `fn (x) -> e`";
                let help = "write `fn (x) -> ..`, with a name for each of its parameters";
                self.error("J608", span, message, help)
            }
        }
    }

    /// A derivative that is handed on, if it could be made.
    fn derivative(
        &mut self,
        made: Result<FuncId, Diagnostic>,
        span: Span,
    ) -> Res<Callable<'a, 's>> {
        match made {
            Ok(func) => Ok(Callable::Func(func)),
            Err(mut error) => {
                let because = std::mem::replace(&mut error.span, span);
                self.fail(match because {
                    Span::NONE => error,
                    because => error.label(because, "because of this"),
                })
            }
        }
    }

    fn named(&mut self, name: Name<'s>) -> Res<Callable<'a, 's>> {
        match self.scope.get(name.text) {
            Some(Entity::F(given)) => return Ok(Callable::Given(given)),
            Some(Entity::Poison) => return Err(Stop),
            Some(_) => {
                let message = format!("`{}` is a value, and a function is needed", name.text);
                let help = "give a function by its name, or `fn (x) -> ..`";
                return self.error("J608", name.span, message, help);
            }
            None => {}
        }
        match self.globals.global(name.text) {
            Some(Global::Func(func)) => Ok(Callable::Func(func)),
            Some(Global::Con(_)) => {
                let message = format!("`{}` is a constructor", name.text);
                let help = format!("write `fn (x) -> {}(x)`", name.text);
                self.error("J608", name.span, message, help)
            }
            Some(Global::Template(_)) => {
                let message = format!("`{}` takes functions itself", name.text);
                let help = "write `fn (x) -> ..`, and give them to it there";
                self.error("J608", name.span, message, help)
            }
            None if super::operation::is_primitive(name.text) => Ok(Callable::Primitive(name.text)),
            None if let Some(made) = self.derivative_named(name.text) => {
                self.derivative(made, name.span)
            }
            None => self.unknown_function(name),
        }
    }

    /// A call of a function that was given.
    pub fn call_given(&mut self, number: usize, call: &'a ast::Call<'s>, span: Span) -> Res<Made> {
        let callable = self.what_was_given(number);
        if let (Callable::Kept(kept), Callable::Kept(_)) = (&callable, &self.given[number].callable)
        {
            self.only_first_section(call, "a derivative at a point")?;
            let mut args = Vec::new();
            for e in &call.args {
                args.push((self.atom(*e, "t")?, self.span(*e)));
            }
            return self.call_kept(kept, false, args, span);
        }
        let stated = self.given[number].stated.clone();
        let name = call.func.text;
        let mut args = Vec::new();
        for e in &call.args {
            args.push(self.atom(*e, "t")?);
        }
        if let Some(Stated { takes, .. }) = &stated {
            let found: Vec<Type> = args.iter().map(|atom| self.type_of(*atom)).collect();
            if found != *takes || !call.lin.is_empty() || !call.places.is_empty() {
                let list = |types: &[Type]| {
                    types.iter().map(|ty| self.show(ty)).collect::<Vec<_>>().join(", ")
                };
                let message =
                    format!("`{name}` takes ({}), and is given ({})", list(takes), list(&found));
                let help = "give what the type of the parameter says";
                return self.error("J208", span, message, help);
            }
        } else {
            self.only_first_section(call, "a function without linear parts")?;
        }
        let values = self.applied(name, &callable, args, span)?;
        if let Some(Stated { gives, .. }) = &stated {
            self.gives(name, &values, gives, span)?;
        }
        Ok(Made::Values(values, span))
    }

    /// What a parameter stands for in the end.
    pub(super) fn what_was_given(&self, number: usize) -> Callable<'a, 's> {
        self.in_the_end(self.given[number].callable.clone())
    }

    /// What a function that was handed on is.
    pub(super) fn in_the_end(&self, mut callable: Callable<'a, 's>) -> Callable<'a, 's> {
        while let Callable::Given(other) = callable {
            callable = self.given[other].callable.clone();
        }
        callable
    }

    /// What a function that is no definition gives for some values.
    pub(super) fn applied(
        &mut self,
        name: &str,
        callable: &Callable<'a, 's>,
        args: Vec<Atom>,
        span: Span,
    ) -> Res<Values> {
        match callable {
            Callable::Lambda(lambda) => self.apply_lambda(name, lambda, args, span),
            Callable::Primitive(text) => {
                let out = self.primitive(text, jut_ir::prim::Syntax::Call, args, span)?;
                self.bind(out, &[], &[])
            }
            Callable::Partial(number, functions) => {
                let Some(template) = self.templates.get(*number).copied() else { return Err(Stop) };
                let mut args = args.into_iter();
                let mut arguments = Vec::new();
                for function in functions {
                    let argument = match function {
                        Some(function) => Argument::Function(function.clone()),
                        None => Argument::Value(args.next().ok_or(Stop)?),
                    };
                    arguments.push((argument, span));
                }
                self.written_out(*number, &template, arguments, span)
            }
            Callable::Kept(kept) => {
                let args = args.into_iter().map(|atom| (atom, span)).collect();
                let made = self.call_kept(kept, false, args, span)?;
                Ok(self.values(made, "t")?.0)
            }
            Callable::Derivative(of) => {
                let args = args.into_iter().map(|atom| (atom, span)).collect();
                let (found, args) = self.derivative_at(of, args, span)?;
                let made = self.call_values(found.called(), args, Vec::new(), (&[], &[]), span)?;
                Ok(self.values(made, "t")?.0)
            }
            Callable::Tangent(tangent) => self.tangent_at(tangent, args, span),
            Callable::Func(func) => {
                let args = args.into_iter().map(|atom| (atom, span)).collect();
                let made = self.call_values(*func, args, Vec::new(), (&[], &[]), span)?;
                Ok(self.values(made, "t")?.0)
            }
            Callable::Given(number) => {
                let callable = self.what_was_given(*number);
                self.applied(name, &callable, args, span)
            }
        }
    }

    /// The body of a function without a name, where its parameters are these values.
    fn apply_lambda(
        &mut self,
        name: &str,
        given: &Lambda<'a, 's>,
        args: Vec<Atom>,
        span: Span,
    ) -> Res<Values> {
        let params = &given.lambda.params;
        if params.len() != args.len() {
            let message = format!(
                "`{name}` is called with {} argument(s), and this function has {} parameter(s)",
                args.len(),
                params.len()
            );
            let help = "give it a parameter for each";
            let error = Diagnostic::error("J208", given.span, message).label(span, "called here");
            return self.fail(error.help(help));
        }
        self.begin_expansion(name, span)?;
        let sealed = self.sealed;
        let around = self.go_to(given.ast, given.file, given.names.copy());
        self.seal(FUNCTION, given.span);
        for (name, atom) in params.iter().zip(args) {
            self.scope.bind(name.text, Entity::N(atom));
        }
        let made = self.body(given.lambda.body, None);
        self.sealed = sealed;
        self.come_back(around);
        self.expansion.0 -= 1;
        Ok(made?.0)
    }
}
