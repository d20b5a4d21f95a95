//! What the closures of a function share.

use jut::{Error, Flat, Result};
use std::sync::{Arc, Mutex, PoisonError};

/// A function, the same by each of its parameters, and what went wrong in it.
pub(crate) struct All {
    pub whole: Flat,
    by: Vec<Flat>,
    failure: Mutex<Option<Error>>,
    /// Memory for vectors that no call uses now.
    idle: Mutex<Vec<Vec<f64>>>,
}

/// The same, shared.
#[derive(Clone)]
pub(crate) struct Kept(Arc<All>);

impl All {
    /// By the state, or by the parameters; that there are both was seen.
    pub fn by(&self, k: usize) -> &Flat {
        self.by.get(k).unwrap_or(&self.whole)
    }
}

impl Kept {
    /// A function of so many parameters.
    pub fn new(whole: Flat, counts: &[usize], expected: &str) -> Result<Kept> {
        let names: Vec<String> = whole.parameters().map(|(name, _, _)| name.to_string()).collect();
        if !counts.contains(&names.len()) {
            let own = names.join(", ");
            return Err(Error::Request(format!(
                "the vector is to be made of {expected}, and it is made of {own}: say by `wrt` which are differentiated"
            )));
        }
        let by = names.iter().map(|name| whole.by(&[name])).collect::<Result<_>>()?;
        Ok(Kept(Arc::new(All { whole, by, failure: Mutex::default(), idle: Mutex::default() })))
    }

    /// How many floats there are in the results.
    pub fn results(&self) -> usize {
        self.0.whole.results()
    }

    /// Takes what went wrong first.
    pub fn failure(&self) -> Option<Error> {
        self.0.failure.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Calls something at a point in parts, of which the function may lack the last one. Where it fails, the result is NaN.
    pub fn at(
        &self,
        parts: &[&[f64]],
        to: &mut [f64],
        call: impl FnOnce(&All, &[f64], &mut [f64]) -> Result<()>,
    ) {
        let all = &*self.0;
        let idle = all.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut x = idle.unwrap_or_default();
        x.clear();
        parts.iter().take(all.by.len()).for_each(|part| x.extend_from_slice(part));
        if let Err(error) = call(all, &x, to) {
            to.fill(f64::NAN);
            all.failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
        }
        all.idle.lock().unwrap_or_else(PoisonError::into_inner).push(x);
    }
}

/// Changes the sign of all.
pub(crate) fn negate(numbers: &mut [f64]) {
    numbers.iter_mut().for_each(|x| *x = -*x);
}
