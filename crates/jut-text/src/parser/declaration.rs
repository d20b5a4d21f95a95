//! Declarations: definitions, data types, names of types, constants, rules and functions of other languages.

use super::{Parsed, Parser, Sections, expression};
use crate::ast::*;
use crate::lex::{self, Kind};
use jut_ir::{Diagnostic, Mode};

impl<'s> Parser<'s, '_> {
    pub(super) fn program(&mut self) -> Vec<&'s str> {
        let mut failed = Vec::new();
        loop {
            while self.peek().kind == Kind::Newline || self.eat(";") {
                self.at += usize::from(self.peek().kind == Kind::Newline);
            }
            if self.peek().kind == Kind::End {
                return failed;
            }
            let start = self.at;
            self.depth = 0;
            if self.decl().is_err() {
                failed.extend(self.declared_name(start));
                self.at = self.at.max(start + 1);
                while !matches!(self.peek().kind, Kind::End | Kind::Doc) && !self.at_declaration() {
                    self.at += 1;
                }
            }
        }
    }

    fn at_declaration(&self) -> bool {
        let token = self.peek();
        let before = self.peek_at(self.at.saturating_sub(1));
        token.kind == Kind::Keyword
            && lex::DECLARATION.contains(&token.text)
            && !(before.kind == Kind::Keyword && matches!(before.text, "core" | "extern"))
    }

    /// The name of the declaration that starts at a token, if one can be read.
    fn declared_name(&mut self, start: usize) -> Option<&'s str> {
        let mut at = start;
        let before = |at| self.is_at(at, "core") || self.is_at(at, "extern");
        while self.peek_at(at).kind == Kind::Doc || before(at) {
            at += 1;
        }
        if !["def", "const", "data", "type"].iter().any(|word| self.is_at(at, word)) {
            return None;
        }
        let length = self.path_length(at + 1);
        let (first, last) = (self.peek_at(at + 1), self.peek_at((at + length).max(at + 1)));
        (length > 0).then(|| &self.source[first.start as usize..last.end as usize])
    }

    fn decl(&mut self) -> Parsed<()> {
        let mut doc = String::new();
        while self.peek().kind == Kind::Doc {
            if !doc.is_empty() {
                doc.push('\n');
            }
            doc.push_str(self.bump().text);
        }
        let word = if self.peek().kind == Kind::Keyword { self.peek().text } else { "" };
        let decl = match word {
            "core" | "def" => Decl::Def(self.def(doc)?),
            "const" => Decl::Def(self.constant(doc)?),
            "data" => Decl::Data(self.data(doc)?),
            "type" => Decl::Alias(self.alias()?),
            "use" => {
                self.at += 1;
                let module = self.path("the name of a module, such as `stats`")?;
                let renamed = self.peek().kind == Kind::Name && self.peek().text == "as";
                self.at += usize::from(renamed);
                let alias = match renamed {
                    true => self.name("a name for the module, such as `stats`")?,
                    false => module,
                };
                Decl::Use(Use { module, alias })
            }
            "rule" => Decl::Rule(self.rule()?),
            "extern" => Decl::Extern(self.extern_def(doc)?),
            _ => {
                let before = self.peek_at(self.at.saturating_sub(1));
                let help = match before.kind {
                    Kind::Newline if expression::is_operator(self.peek()) => {
                        "an expression goes on in the next line if the operator ends the line before"
                    }
                    _ => {
                        "a file is a list of declarations; statements stand in the body of a `def`"
                    }
                };
                let what = "a declaration: `def`, `core def`, `extern def`, `const`, `data`, `type`, `rule` or `use`";
                return Err(self.expected_helping(what, help));
            }
        };
        match self.peek().kind {
            Kind::Newline | Kind::End | Kind::Doc => {}
            _ if self.at(";") => {}
            _ => return Err(self.expected("the end of the declaration")),
        }
        self.ast.decls.push(decl);
        Ok(())
    }

    fn rule(&mut self) -> Parsed<Rule<'s>> {
        self.expect("rule")?;
        let word = self.peek();
        if !matches!(word.text, "jvp" | "vjp") {
            let help = "write `rule jvp f = g` for tangents, or `rule vjp f = g` for cotangents";
            return Err(self.expected_helping("`jvp` or `vjp`", help));
        }
        self.at += 1;
        let func = self.path("the definition whose derivative it is")?;
        self.expect("=")?;
        let by = self.path("the definition that gives the derivative")?;
        Ok(Rule { vjp: word.text == "vjp", func, by })
    }

    fn data(&mut self, doc: String) -> Parsed<Data<'s>> {
        self.expect("data")?;
        let name = self.path("the name of a data type")?;
        let sizes = self.sizes_of_type()?;
        let mut of = None;
        if self.peek().kind == Kind::Name && self.peek().text == "of" {
            self.at += 1;
            of = Some(self.path("the data type whose tangents these are")?);
        }
        let help = "the fields stand behind a constructor, which may have the name of the type: \
                    `data P = P(x: f64, y: f64)`";
        if self.at("(") {
            return Err(self.expected_helping("`=`", help));
        }
        self.expect("=")?;
        let mut constructors = Vec::new();
        loop {
            let constructor = self.path("a constructor")?;
            let mut fields = Vec::new();
            let open = self.at;
            if self.eat("(") {
                while !self.at(")") {
                    fields.push(self.field()?);
                    if !self.eat(",") {
                        break;
                    }
                }
                self.expect_close(open, ")")?;
            }
            constructors.push((constructor, fields));
            if !self.eat("|") {
                return Ok(Data { name, sizes, of, constructors, doc });
            }
        }
    }

    /// The sizes that a type has as parameters: `[m, n]`, or nothing.
    fn sizes_of_type(&mut self) -> Parsed<Vec<Name<'s>>> {
        let mut sizes = Vec::new();
        let open = self.at;
        if self.eat("[") {
            sizes.push(self.name("a size")?);
            while self.eat(",") {
                sizes.push(self.name("a size")?);
            }
            self.expect_close(open, "]")?;
        }
        Ok(sizes)
    }

    /// `type Matrix[m, n] = [m, n]f64`.
    fn alias(&mut self) -> Parsed<Alias<'s>> {
        self.expect("type")?;
        let name = self.path("a name for the type")?;
        let sizes = self.sizes_of_type()?;
        self.expect_helping("=", "the type stands behind `=`: `type Point = [3]f64`")?;
        Ok(Alias { name, sizes, ty: self.ty()? })
    }

    /// A field of a constructor, which has a name.
    fn field(&mut self) -> Parsed<(Name<'s>, Type<'s>)> {
        let first = self.peek();
        let alone = self.peek_at(self.at + 1).is(",") || self.peek_at(self.at + 1).is(")");
        if first.is("[") || alone && is_like_type(first.text) {
            let help = "write a name before it: `Leaf(x: f64)`, `Row(values: [3]f64)`";
            let error =
                Diagnostic::error("J002", self.span(first), "this field has no name").help(help);
            return Err(self.fail(error));
        }
        self.typed_name()
    }

    pub(super) fn typed_name(&mut self) -> Parsed<(Name<'s>, Type<'s>)> {
        let name = self.name("a name")?;
        if !self.eat(":") {
            let message = format!("`{}` has no type", name.text);
            let help = format!("write `{0}: f64`, or for an array `{0}: [n]f64`", name.text);
            return Err(self.fail(Diagnostic::error("J002", name.span, message).help(help)));
        }
        Ok((name, self.ty()?))
    }

    /// `const x: t = e`: a definition without parameters.
    fn constant(&mut self, doc: String) -> Parsed<Def<'s>> {
        let start = self.at;
        self.at += 1;
        let (name, ty) = self.typed_name()?;
        let head = self.span_from(start);
        self.expect_helping("=", "the value stands behind `=`: `const pi: f64 = 3.14`")?;
        let body = self.expr()?;
        Ok(Def {
            core: false,
            constant: true,
            name,
            sizes: Vec::new(),
            params: Vec::new(),
            lin_params: Vec::new(),
            cap_params: Vec::new(),
            results: vec![ResultDecl { name: None, ty }],
            lin_results: Vec::new(),
            body,
            doc,
            head,
        })
    }

    /// `extern def p(n: i64; x': [n]f64) -> (; [n]f64) transpose q derivative r`.
    fn extern_def(&mut self, doc: String) -> Parsed<Extern<'s>> {
        let start = self.at;
        self.expect("extern")?;
        let mut def = self.head(doc)?;
        def.head = self.span_from(start);
        let help =
            "an `extern` ends with the name of its transpose, which may be itself: `transpose q`";
        if !self.at_name("transpose") {
            let what = "`transpose`, and the name of the transpose";
            return Err(self.expected_helping(what, help));
        }
        self.at += 1;
        let transpose = self.path("the name of the transpose")?;
        let derivative = match self.at_name("derivative") {
            true => {
                self.at += 1;
                Some(self.path("the definition that gives the derivative")?)
            }
            false => None,
        };
        Ok(Extern { def, transpose, derivative })
    }

    /// Whether a word stands here that is no keyword.
    fn at_name(&self, word: &str) -> bool {
        self.peek().kind == Kind::Name && self.peek().text == word
    }

    fn def(&mut self, doc: String) -> Parsed<Def<'s>> {
        let mut def = self.head(doc)?;
        self.expect_helping("=", "the body stands behind `=`: `= { .. }`")?;
        def.body = self.expr()?;
        Ok(def)
    }

    /// A definition up to its body, without which it is an `extern`.
    fn head(&mut self, doc: String) -> Parsed<Def<'s>> {
        let start = self.at;
        let core = self.eat("core");
        self.expect("def")?;
        let name = self.path("the name of a definition")?;
        let mut sizes = Vec::new();
        let open = self.at;
        if self.eat("[") {
            while !self.at("]") {
                sizes.push(self.name("the name of a size")?);
                if !self.eat(",") {
                    break;
                }
            }
            self.expect_close(open, "]")?;
        }
        let open = self.at;
        self.expect("(")?;
        let (mut params, mut lin_params, mut cap_params) = (Vec::new(), Vec::new(), Vec::new());
        while !self.at(")") && !self.at(";") {
            params.push(self.typed_name()?);
            if !self.eat(",") {
                break;
            }
        }
        if self.eat(";") {
            while !self.at(")") && !self.at(";") {
                let name = self.linear_name()?;
                self.expect(":")?;
                lin_params.push((name, self.ty()?));
                if !self.eat(",") {
                    break;
                }
            }
            if self.eat(";") {
                while !self.at(")") {
                    cap_params.push(self.cap_param()?);
                    if !self.eat(",") {
                        break;
                    }
                }
            }
        }
        self.expect_close(open, ")")?;
        self.expect_helping("->", "say what the definition gives: `-> f64`, `-> (f64, [n]f64)`")?;
        let (results, lin_results) = self.results()?;
        let head = self.span_from(start);
        Ok(Def {
            core,
            constant: false,
            name,
            sizes,
            params,
            lin_params,
            cap_params,
            results,
            lin_results,
            body: ExprId(u32::MAX),
            doc,
            head,
        })
    }

    /// `rd`, `wr [lanes]` or `acc [lanes]`.
    pub(super) fn mode(&mut self) -> Parsed<(Mode, bool)> {
        let mode = match self.peek().text {
            "rd" => Mode::Rd,
            "wr" => Mode::Wr,
            "acc" => Mode::Acc,
            "st" | "mut" => {
                let help = "use `rd`, `wr` or `acc`, or carry the value through a loop";
                return Err(self.no_state(help));
            }
            _ => return Err(self.expected("`rd`, `wr` or `acc`")),
        };
        self.bump();
        Ok((mode, mode != Mode::Rd && self.eat("lanes")))
    }

    fn cap_param(&mut self) -> Parsed<CapParam<'s>> {
        let (mode, lanes) = self.mode()?;
        let (name, ty) = self.typed_name()?;
        Ok(CapParam { mode, lanes, name, ty })
    }

    fn results(&mut self) -> Parsed<Sections<ResultDecl<'s>, ResultDecl<'s>>> {
        let open = self.at;
        if !self.eat("(") {
            let ty = self.ty()?;
            return Ok((vec![ResultDecl { name: None, ty }], Vec::new()));
        }
        let (mut nl, mut lin) = (Vec::new(), Vec::new());
        while !self.at(")") && !self.at(";") {
            nl.push(self.result_decl(Kind::Name)?);
            if !self.eat(",") {
                break;
            }
        }
        if self.eat(";") {
            while !self.at(")") {
                lin.push(self.result_decl(Kind::Linear)?);
                if !self.eat(",") {
                    break;
                }
            }
        }
        self.expect_close(open, ")")?;
        Ok((nl, lin))
    }

    fn result_decl(&mut self, kind: Kind) -> Parsed<ResultDecl<'s>> {
        let named = self.is_at(self.at + 1, ":");
        let name = match (named, kind) {
            (false, _) => None,
            (true, Kind::Linear) => Some(self.linear_name()?),
            (true, _) => Some(self.name("a name or a type")?),
        };
        if named {
            self.expect(":")?;
        }
        Ok(ResultDecl { name, ty: self.ty()? })
    }
}

/// Whether a name is that of a type of numbers, or like one of data.
fn is_like_type(name: &str) -> bool {
    matches!(name, "f64" | "f32" | "i64" | "i32" | "bool")
        || name.starts_with(|c: char| c.is_uppercase())
}
