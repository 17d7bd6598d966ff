//! Objects of the JSON of a file with their places, so that faults name node, mesh or accessor.

use serde_json::Value;

use crate::error::ImportFault;
use crate::report::FilePlace;

/// The beginning of a name.
pub(super) fn short(name: &str) -> String {
    name.chars().take(60).collect()
}

/// An object of the JSON, and where it is.
#[derive(Clone)]
pub(super) struct JsonItem<'a> {
    pub(super) value: &'a Value,
    pub(super) file: &'a str,
    pub(super) element: String,
}

impl<'a> JsonItem<'a> {
    pub(super) fn place(&self) -> FilePlace {
        FilePlace { element: self.element.clone(), ..FilePlace::whole(self.file) }
    }

    pub(super) fn fault(&self, problem: impl Into<String>) -> ImportFault {
        ImportFault::new(self.place(), problem)
    }

    /// What is below a key.
    pub(super) fn get(&self, key: &str) -> Option<JsonItem<'a>> {
        let value = self.value.get(key)?;
        let element =
            if self.element.is_empty() { key.to_owned() } else { format!("{}, {key}", self.element) };
        Some(JsonItem { value, file: self.file, element })
    }

    /// The objects of a list below a key.
    pub(super) fn list(&self, key: &'static str) -> impl Iterator<Item = JsonItem<'a>> + use<'a> {
        let (file, element) = (self.file, self.element.clone());
        let values = self.value.get(key).and_then(Value::as_array).into_iter().flatten().enumerate();
        values.map(move |(index, value)| JsonItem {
            value,
            file,
            element: format!("{element}, {key} {index}"),
        })
    }

    /// The keys of an object.
    pub(super) fn keys(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        self.value.as_object().into_iter().flat_map(|object| object.keys().map(String::as_str))
    }

    pub(super) fn text(&self, key: &str) -> Option<&'a str> {
        self.value.get(key).and_then(Value::as_str)
    }

    pub(super) fn number(&self, key: &str) -> Option<f64> {
        self.value.get(key).and_then(Value::as_f64).filter(|number| number.is_finite())
    }

    pub(super) fn truth(&self, key: &str) -> bool {
        self.value.get(key).and_then(Value::as_bool).unwrap_or(false)
    }

    /// A count or an index below a key; a fault if it is something else.
    pub(super) fn index(&self, key: &str) -> Result<Option<usize>, ImportFault> {
        let Some(value) = self.value.get(key) else { return Ok(None) };
        let index = value.as_u64().and_then(|index| usize::try_from(index).ok());
        index.map(Some).ok_or_else(|| self.fault(format!("`{key}` is no index")))
    }

    /// A count or an index that must be there.
    pub(super) fn required(&self, key: &str) -> Result<usize, ImportFault> {
        self.index(key)?.ok_or_else(|| self.fault(format!("`{key}` is missing")))
    }

    /// The indices of a list below a key.
    pub(super) fn indices(&self, key: &str) -> Result<Vec<usize>, ImportFault> {
        let values = self.value.get(key).and_then(Value::as_array).into_iter().flatten();
        let index = |value: &Value| value.as_u64().and_then(|index| usize::try_from(index).ok());
        values
            .map(|value| index(value).ok_or_else(|| self.fault(format!("`{key}` is no list of indices"))))
            .collect()
    }

    /// `N` finite numbers below a key.
    pub(super) fn numbers<const N: usize>(&self, key: &str) -> Result<Option<[f64; N]>, ImportFault> {
        let Some(value) = self.value.get(key) else { return Ok(None) };
        let mut out = [0.0; N];
        let given = value.as_array().filter(|list| list.len() == N);
        let given = given.ok_or_else(|| self.fault(format!("`{key}` takes {N} numbers")))?;
        for (slot, number) in out.iter_mut().zip(given) {
            let number = number.as_f64().filter(|number| number.is_finite());
            *slot = number.ok_or_else(|| self.fault(format!("`{key}` takes {N} finite numbers")))?;
        }
        Ok(Some(out))
    }
}
