//! Statements with blocks: regions, loops, branches.

use super::results::BlockResults;
use super::walk::{Checked, Checker, Values};
use crate::cover::FITS;
use crate::diagnostic::Diagnostic;
use crate::ir::*;
use crate::size::Size;
use crate::types::Type;

impl Checker<'_> {
    /// The start is used, and has the type of the region. The body sees everything, and the capability.
    /// What the value is at the end is one more result, after the body's.
    pub(super) fn region(&mut self, stmt: &Stmt, region: &Region) -> Checked<Values> {
        let Region { mode, cap, start, end, body } = region;
        let stated = &self.func.caps[*cap];
        let ty = match (mode, start) {
            (Mode::Rd | Mode::Wr, Some(Operand::L(x))) => self.consume(*x)?,
            (Mode::Acc, Some(Operand::N(a))) => self.atom(*a)?,
            (Mode::Wr | Mode::Acc, None) => stated.ty.clone(),
            _ => return Err(self.error("J601", "the start of this region is of the wrong kind")),
        };
        self.require(*end || *mode == Mode::Rd, "J601", |_| "a sum that nobody gets".to_string())?;
        self.require(start.is_none() || !stated.lanes, "J601", |_| {
            "a sum by `lanes` starts from zero".to_string()
        })?;
        let depth = self.scope.depth();
        self.sizes_in_scope(&ty)?;
        if *mode == Mode::Acc && start.is_none() {
            self.sizes_shown(&ty, |size| format!("an array of {size} zeros"))?;
        }
        self.enter();
        self.bind_cap(*cap, *mode, &ty)?;
        self.statements(body);
        let results = self.results(body)?;
        let mut values = if stmt.annotated {
            self.annotated(stmt, &results)?
        } else {
            self.close(results, depth)?
        };
        self.leave()?;
        match mode {
            Mode::Rd | Mode::Wr => values.lin.extend(end.then_some(ty)),
            Mode::Acc => values.nl.extend(Values::one(ty).nl),
        }
        Ok(values)
    }

    /// The one loop form. Outside: initial carries and slices are used, and bound and lengths are
    /// compared. Inside: index, carries and elements; linear names from outside are out of reach.
    pub(super) fn scan(&mut self, scan: &Scan) -> Checked<Values> {
        let bound = self.size(scan.bound, "loop bound")?;
        let early = scan.dir == Dir::While;
        if early {
            self.may_end_early(scan)?;
        }
        let carries = scan.carry.len() + scan.lin_carry.len();
        self.require(scan.dir != Dir::Par || carries == 0, "J401", |_| {
            "a `par` loop has no carry: its iterations are independent".to_string()
        })?;
        let counts = (scan.body.nl.len(), scan.body.lin.len());
        let enough = scan.carry.len() <= counts.0 && scan.lin_carry.len() <= counts.1;
        self.require(enough, "J402", |_| {
            "the body returns fewer results than there are carries".to_string()
        })?;
        let stacked = counts.0 > scan.carry.len();
        if stacked && !early {
            self.size_shown(&bound, |_| "results are stacked".to_string())?;
        }

        let carry: Checked<Vec<Type>> = scan.carry.iter().map(|(_, a)| self.atom(*a)).collect();
        let carry = carry?;
        let mut lin_carry = Vec::new();
        for (_, init) in &scan.lin_carry {
            lin_carry.push(self.consume(*init)?);
        }
        let mut elements = Vec::new();
        for (_, array) in &scan.slices {
            let name = &self.func.nvars[*array].name;
            elements.push(self.sliced(name, self.nvar(*array)?, &bound)?);
        }
        let mut lin_elements = Vec::new();
        for (_, array) in &scan.lin_slices {
            let name = &self.func.lvars[*array].name;
            let ty = self.consume(*array)?;
            lin_elements.push(self.sliced(name, &ty, &bound)?);
        }
        let mut cap_elements = Vec::new();
        for (_, place) in &scan.cap_slices {
            let name = &self.func.caps[place.root].name;
            let (mode, ty) = self.place(place)?;
            cap_elements.push((mode, self.sliced(name, &ty, &bound)?));
        }

        let depth = self.scope.depth();
        self.enter();
        self.scope.enter_loop();
        self.bind_opaque(scan.index, &Type::I64)?;
        self.facts.add_range(scan.index, bound.clone());
        for ((v, _), ty) in scan.carry.iter().zip(&carry) {
            self.bind_opaque(*v, ty)?;
        }
        for ((x, _), ty) in scan.lin_carry.iter().zip(&lin_carry) {
            self.bind_linear(*x, ty)?;
        }
        for ((v, _), ty) in scan.slices.iter().zip(&elements) {
            self.bind_opaque(*v, ty)?;
        }
        for ((x, _), ty) in scan.lin_slices.iter().zip(&lin_elements) {
            self.bind_linear(*x, ty)?;
        }
        for ((c, _), (mode, ty)) in scan.cap_slices.iter().zip(&cap_elements) {
            self.bind_cap(*c, *mode, ty)?;
        }
        for (_, place) in &scan.cap_slices {
            self.scope.hide(place.root);
        }
        self.statements(&scan.body);
        let results = self.results(&scan.body)?;
        self.loop_results(scan, &results, &carry, &lin_carry, depth)?;
        self.leave()?;
        self.scope.leave_loop();

        for ty in results.nl.iter().skip(carry.len()) {
            self.stackable(ty)?;
        }
        // The first result of a loop that may end early is how often it ran.
        let trips = if early { Size::position(0) } else { bound };
        let stack = |ty: Type| Type::array(trips.clone(), ty);
        let mut values = Values::none();
        let stacked = results.nl.into_iter().skip(carry.len()).map(stack);
        for ty in carry.into_iter().chain(stacked) {
            values.nl.extend(Values::one(ty).nl);
        }
        if let (true, Some((first, _))) = (early, values.nl.first_mut()) {
            *first = Type::I64;
        }
        let stacked = results.lin.into_iter().skip(lin_carry.len()).map(stack);
        values.lin = lin_carry.into_iter().chain(stacked).collect();
        Ok(values)
    }

    /// `scan while`: a truth value is the first carry, and says whether there is another iteration; how many
    /// elements a slice would need is not known.
    fn may_end_early(&self, scan: &Scan) -> Checked<()> {
        let first = scan.carry.first().map(|(_, go)| self.atom(*go)).transpose()?;
        let help = "begin with a truth value: `scan while (i < n) carry (go = true, ..)`";
        if first != Some(Type::Bool) {
            let message = "the first carry of `scan while` says whether it goes on";
            return Err(self.error_help("J406", message, help));
        }
        let slices = scan.slices.len() + scan.lin_slices.len() + scan.cap_slices.len();
        self.require(slices == 0, "J406", |_| {
            "`scan while` slices nothing: it may end before the last element".to_string()
        })
    }

    /// The sizes of a stacked element are known not to be negative outside of the loop, which may
    /// run no time.
    fn stackable(&self, ty: &Type) -> Checked<()> {
        self.sizes_shown(ty, |size| format!("arrays of {size} are stacked"))
    }

    /// The sizes of a type are known not to be negative, but for what is bound together with it.
    pub(super) fn sizes_shown(&self, ty: &Type, what: impl Fn(&str) -> String) -> Checked<()> {
        let mut shown = Ok(());
        let bound_now = |size: &Size| size.names().iter().any(|n| Size::position_of(*n).is_some());
        ty.for_each_size(&mut |size| {
            if shown.is_ok() && !bound_now(size) {
                shown = self.size_shown(size, &what);
            }
        });
        shown
    }

    /// A size of a new array is known not to be negative, and to fit into memory.
    pub(super) fn size_shown(&self, size: &Size, what: impl Fn(&str) -> String) -> Checked<()> {
        if !self.facts.is_plainly_non_negative(size) {
            let size = self.show_size(size);
            let message = format!("{}, but nothing shows that {size} >= 0", what(&size));
            let help = "say `check n >= 0` before, or use `max(n, 0)`";
            return Err(self.error_help("J303", message, help));
        }
        if !self.facts.is_fitting(size) {
            let size = self.show_size(size);
            let message =
                format!("{}, but nothing shows that {size} fits into memory", what(&size));
            let help = format!("say `check n * {FITS}` before");
            return Err(self.error_help("J303", message, help));
        }
        Ok(())
    }

    /// The element type of something that a loop slices.
    fn sliced(&self, name: &str, ty: &Type, bound: &Size) -> Checked<Type> {
        match ty {
            Type::Array(size, element) if size == bound => Ok((**element).clone()),
            Type::Array(size, _) => {
                let (size, bound) = (self.show_size(size), self.show_size(bound));
                let message = format!("`{name}` has {size} elements, the loop runs {bound} times");
                let help = format!("`cast` it to size {bound} if you know that they are equal");
                Err(self.error_help("J209", message, help))
            }
            _ => Err(self.error("J205", format!("`{name}` is {}, not an array", self.show(ty)))),
        }
    }

    /// Carries keep their types; whatever else a body returns has the same type in every
    /// iteration.
    fn loop_results(
        &self,
        scan: &Scan,
        results: &BlockResults,
        carry: &[Type],
        lin_carry: &[Type],
        depth: usize,
    ) -> Checked<()> {
        let func = self.func;
        let names = scan.carry.iter().map(|(v, _)| &func.nvars[*v].name);
        let lin_names = scan.lin_carry.iter().map(|(x, _)| &func.lvars[*x].name);
        let before = names.zip(carry.iter().zip(&results.nl));
        for (name, (before, after)) in
            before.chain(lin_names.zip(lin_carry.iter().zip(&results.lin)))
        {
            self.require(before == after, "J403", |c| {
                let (before, after) = (c.show(before), c.show(after));
                format!("carry `{name}` is {before} at first and {after} after an iteration")
            })?;
        }
        let stacked = results.nl.iter().skip(carry.len());
        for ty in stacked.chain(results.lin.iter().skip(lin_carry.len())) {
            self.leaves_scope(ty, depth, "J405", "put it into a record together with its size")?;
        }
        Ok(())
    }

    /// Every arm starts from the same linear names and consumes the same ones; under a pattern
    /// with types each arm is checked against these, otherwise all arms have the same types.
    pub(super) fn case(&mut self, stmt: &Stmt, case: &Case) -> Checked<Values> {
        let ty = self.atom(case.scrutinee)?;
        self.arms_fit(&ty, case)?;
        let depth = self.scope.depth();
        let mut first: Option<(Values, Vec<crate::LVar>)> = None;
        for arm in &case.arms {
            let start = self.scope.uses();
            self.span = stmt.loc.span;
            self.enter();
            self.arm_fields(arm)?;
            self.statements(&arm.body);
            let results = self.results(&arm.body)?;
            let values = if stmt.annotated {
                self.annotated(stmt, &results)?
            } else {
                self.close(results, depth)?
            };
            self.leave()?;
            let uses = self.scope.take_arm_uses(start);
            first = Some(match first {
                None => (values, uses),
                Some((other, other_uses)) => {
                    self.same_uses(&other_uses, &uses)?;
                    (self.same_results(other, values)?, other_uses)
                }
            });
        }
        let Some((values, uses)) = first else { return Ok(Values::none()) };
        for x in uses {
            self.consume(x)?;
        }
        Ok(values)
    }

    /// The arms are exactly the constructors, each once.
    fn arms_fit(&self, ty: &Type, case: &Case) -> Checked<()> {
        let count = match ty {
            Type::Bool => 2,
            Type::Data(data) => self.program.datas[*data].constructors.len(),
            _ => return Err(self.error("J501", format!("`case` on {}", self.show(ty)))),
        };
        let mut seen = vec![false; count];
        for arm in &case.arms {
            let index = match (arm.pattern, ty) {
                (ArmPattern::Bool(b), Type::Bool) => Some(usize::from(b)),
                (ArmPattern::Con(con), Type::Data(data)) if con.data == *data => {
                    Some(con.index as usize)
                }
                _ => None,
            };
            match index.and_then(|k| seen.get_mut(k)) {
                Some(seen) if !*seen => *seen = true,
                _ => {
                    let message =
                        format!("the arms are not exactly the cases of {}", self.show(ty));
                    return Err(self.error("J502", message));
                }
            }
        }
        self.require(seen.into_iter().all(|seen| seen), "J502", |c| {
            format!("an arm is missing: {} has {count} cases", c.show(ty))
        })
    }

    fn arm_fields(&mut self, arm: &Arm) -> Checked<()> {
        let ArmPattern::Con(con) = arm.pattern else {
            return self.require(arm.fields.is_empty(), "J208", |_| {
                "`true` and `false` have no fields".to_string()
            });
        };
        let mut eqs = Vec::new();
        let mut names = Vec::new();
        for field in &arm.fields {
            match field {
                FieldPattern::Bind(v) => {
                    eqs.push(None);
                    names.push(*v);
                }
                FieldPattern::Eq(a) => eqs.push(Some(*a)),
            }
        }
        let values = self.fields(self.program.constructor(con), &eqs)?;
        for (v, (ty, definition)) in names.iter().zip(&values.nl) {
            let ty = ty.subst(&mut |name| {
                Some(match Size::position_of(name) {
                    Some(k) => names.get(k).map_or_else(|| Size::var(name), |v| Size::var(*v)),
                    None => Size::var(name),
                })
            });
            self.bind(*v, &ty, definition)?;
        }
        Ok(())
    }

    fn same_uses(&self, a: &[crate::LVar], b: &[crate::LVar]) -> Checked<()> {
        if a == b || self.has_errors() {
            return Ok(());
        }
        let only = |a: &[crate::LVar], b: &[crate::LVar]| {
            let x = a.iter().find(|x| b.binary_search(x).is_err())?;
            Some(self.func.lvars[*x].name.clone())
        };
        let name = only(a, b).or_else(|| only(b, a)).unwrap_or_default();
        let message = format!("`{name}` is used up in one arm and not in another");
        let help = format!("say `drop {name}` where it is not needed");
        Err(self.error_help("J503", message, help))
    }

    /// The types of two arms are the same; a result has the size that both give it.
    fn same_results(&self, a: Values, b: Values) -> Checked<Values> {
        let types = |values: &Values| -> Vec<Type> {
            values.nl.iter().map(|(ty, _)| ty.clone()).chain(values.lin.iter().cloned()).collect()
        };
        let (left, right) = (types(&a), types(&b));
        if left == right && a.nl.len() == b.nl.len() {
            return Ok(a.opaque());
        }
        let different = left.iter().zip(&right).find(|(a, b)| a != b);
        let message = match different {
            Some((a, b)) => format!("one arm returns {}, another {}", self.show(a), self.show(b)),
            None => "the arms return different numbers of results".to_string(),
        };
        let error: Diagnostic = *self.error("J504", message);
        Err(Box::new(error.help(
            "if only a size differs, return it as well and annotate the pattern: `(m: i64, y: [m]f64) = case ..`",
        )))
    }
}
