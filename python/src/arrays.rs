//! Arrays from and to NumPy. Results are arrays of their own, made without a copy of the numbers; arguments are copied, since Python may change them
//! while the library reads.

use numpy::ndarray::{ArrayD, IxDyn};
use numpy::{
    AllowTypeChange, IntoPyArray, PyArrayDyn, PyArrayLikeDyn, PyArrayMethods, PyUntypedArrayMethods,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// An array of numbers, of any shape.
pub(crate) type Numbers<'py> = Bound<'py, PyArrayDyn<f64>>;

/// An argument that is an array, or can be made one.
pub(crate) type AnyNumbers<'py> = PyArrayLikeDyn<'py, f64, AllowTypeChange>;

/// An array of this shape, which takes the numbers over. The shape is that of the numbers.
pub(crate) fn array<'py, T: numpy::Element>(
    py: Python<'py>,
    shape: &[usize],
    numbers: Vec<T>,
) -> PyResult<Bound<'py, PyArrayDyn<T>>> {
    let made = ArrayD::from_shape_vec(IxDyn(shape), numbers);
    Ok(made.map_err(|error| PyValueError::new_err(error.to_string()))?.into_pyarray(py))
}

/// The numbers of an argument in row-major order, if it has one of these shapes and all are finite. `what` names it in errors.
pub(crate) fn numbers(what: &str, given: &AnyNumbers<'_>, shapes: &[&[usize]]) -> PyResult<Vec<f64>> {
    let numbers = numbers_or_nan(what, given, shapes)?;
    match numbers.iter().position(|number| !number.is_finite()) {
        Some(at) => {
            Err(PyValueError::new_err(format!("{what}: number {at} is {}, which is not finite", numbers[at])))
        }
        None => Ok(numbers),
    }
}

/// The same for numbers that may be missing.
pub(crate) fn numbers_or_nan(what: &str, given: &AnyNumbers<'_>, shapes: &[&[usize]]) -> PyResult<Vec<f64>> {
    let shape = given.shape();
    if !shapes.contains(&shape) {
        let wanted: Vec<String> = shapes.iter().map(|shape| shape_text(shape)).collect();
        let found = shape_text(shape);
        return Err(PyValueError::new_err(format!(
            "{what}: the shape must be {}, not {found}",
            wanted.join(" or ")
        )));
    }
    Ok(given.as_array().iter().copied().collect())
}

/// A shape as Python writes it.
pub(crate) fn shape_text(shape: &[usize]) -> String {
    let sizes: Vec<String> = shape.iter().map(usize::to_string).collect();
    if sizes.len() == 1 { format!("({},)", sizes[0]) } else { format!("({})", sizes.join(", ")) }
}

/// Copies the numbers of an array that the library made for Python to write to; false if Python made it another size.
pub(crate) fn copy_into(array: &Numbers<'_>, out: &mut Vec<f64>) -> PyResult<bool> {
    let reading = array.try_readonly()?;
    out.clear();
    match reading.as_slice() {
        Ok(slice) => out.extend_from_slice(slice),
        Err(_) => out.extend(reading.as_array().iter().copied()),
    }
    Ok(reading.len() == out.len())
}
