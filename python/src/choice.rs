//! Which members of a batch are meant: a mask, or numbers.

use numpy::{
    AllowTypeChange, PyArrayDescrMethods, PyArrayLike1, PyReadonlyArray1, PyUntypedArray,
    PyUntypedArrayMethods,
};
use pyo3::exceptions::{PyIndexError, PyTypeError, PyValueError};
use pyo3::prelude::*;

/// The numbers of the members that are meant: all, those of a mask, or those of these numbers; negative ones count from the end.
pub(crate) fn chosen(members: Option<&Bound<'_, PyAny>>, n: usize) -> PyResult<Vec<usize>> {
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
