//! Factors for members of a batch, from arrays.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use sinew_scene::ChangeDoc;
use sinew_sim::SceneVariation;

use crate::arrays::{AnyNumbers, numbers};
use crate::errors::unknown;

/// Factors, which are above 0.
fn factor_rows(name: &str, given: &AnyNumbers<'_>, shapes: &[&[usize]]) -> PyResult<Vec<f64>> {
    let numbers = numbers(name, given, shapes)?;
    match numbers.iter().all(|&factor| factor > 0.0) && !numbers.is_empty() {
        true => Ok(numbers),
        false => Err(PyValueError::new_err(format!("{name}: factors must be above 0"))),
    }
}

/// The factors of so many members.
pub(super) fn variations(
    py: Python<'_>,
    n: usize,
    n_bodies: usize,
    mass: Option<AnyNumbers<'_>>,
    factors: Option<&Bound<'_, PyDict>>,
) -> PyResult<Vec<SceneVariation>> {
    let mut all = vec![SceneVariation::default(); n];
    if let Some(mass) = mass {
        let given = factor_rows("mass", &mass, &[&[], &[n], &[n, n_bodies]])?;
        let width = if given.len() <= n { 1 } else { n_bodies };
        for (k, variation) in all.iter_mut().enumerate() {
            let row = if given.len() == 1 { &given[..] } else { &given[k * width..(k + 1) * width] };
            if row.iter().any(|factor| factor.to_bits() != 1.0_f64.to_bits()) {
                variation.mass = row.to_vec();
            }
        }
    }
    let known = ChangeDoc::default().factors().map(|(name, _)| name);
    for (name, value) in factors.into_iter().flatten() {
        let name: String = name.extract()?;
        let Some(which) = known.iter().position(|factor| *factor == name) else {
            return Err(unknown(py, "factor", &name, &[&["mass"][..], &known].concat()));
        };
        let given = factor_rows(&name, &value.extract()?, &[&[], &[n]])?;
        for (k, variation) in all.iter_mut().enumerate() {
            let factor = given[k.min(given.len() - 1)];
            *variation.factors.factors_mut()[which] =
                (factor.to_bits() != 1.0_f64.to_bits()).then_some(factor);
        }
    }
    Ok(all)
}
