//! Which members are meant, and factors for them.

use numpy::{
    AllowTypeChange, PyArrayDescrMethods, PyArrayLike1, PyReadonlyArray1, PyUntypedArray,
    PyUntypedArrayMethods,
};
use pyo3::exceptions::{PyIndexError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arrays::{AnyNumbers, numbers};
use crate::errors::unknown;
use crate::variation::{FACTORS, Variation};

/// The numbers of the members that are meant: all, those of a mask, or those of these numbers; negative ones count from the end.
pub(super) fn chosen(members: Option<&Bound<'_, PyAny>>, n: usize) -> PyResult<Vec<usize>> {
    let Some(members) = members else { return Ok((0..n).collect()) };
    if let Ok(one) = members.extract::<i64>() {
        return Ok(vec![member(one, n)?]);
    }
    let wrong = || PyTypeError::new_err("members are a mask, or a list of numbers of members");
    let array = members.py().import("numpy")?.call_method1("asarray", (members,))?;
    let array = array.cast::<PyUntypedArray>().map_err(|_| wrong())?;
    if array.dtype().kind() == b'b' {
        let mask: PyReadonlyArray1<'_, bool> = array.extract().map_err(|_| wrong())?;
        let mask = mask.as_array();
        if mask.len() != n {
            return Err(PyValueError::new_err(format!(
                "a mask of members needs {n} values, not {}",
                mask.len()
            )));
        }
        return Ok(mask.iter().enumerate().filter(|(_, is_meant)| **is_meant).map(|(k, _)| k).collect());
    }
    // An empty list has the type of numbers, whatever it stands for.
    if !matches!(array.dtype().kind(), b'i' | b'u') && !array.is_empty() {
        return Err(wrong());
    }
    let numbers: PyArrayLike1<'_, i64, AllowTypeChange> = array.extract().map_err(|_| wrong())?;
    numbers.as_array().iter().map(|&number| member(number, n)).collect()
}

fn member(number: i64, n: usize) -> PyResult<usize> {
    let counted = if number < 0 { number + n as i64 } else { number };
    let found = usize::try_from(counted).ok().filter(|&k| k < n);
    found.ok_or_else(|| PyIndexError::new_err(format!("member {number} is none of {n}")))
}

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
) -> PyResult<Vec<Variation>> {
    let mut all = vec![Variation::default(); n];
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
    for (name, value) in factors.into_iter().flatten() {
        let name: String = name.extract()?;
        let Some(which) = FACTORS.iter().position(|factor| *factor == name) else {
            return Err(unknown(py, "factor", &name, &[&["mass"][..], &FACTORS].concat()));
        };
        let given = factor_rows(&name, &value.extract()?, &[&[], &[n]])?;
        for (k, variation) in all.iter_mut().enumerate() {
            let factor = given[k.min(given.len() - 1)];
            variation.factors[which] = (factor.to_bits() != 1.0_f64.to_bits()).then_some(factor);
        }
    }
    Ok(all)
}
