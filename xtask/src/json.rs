//! Just enough JSON to compare two benchmark results: the numbers and strings of a document, each with its path.

/// A leaf: its path, such as `rows.chain_1000.ns_per_link`, and its text (strings without quotes).
pub(crate) type Leaf = (String, String);

/// The leaves of a JSON document in order. An array element that is an object with a `name` is addressed by that
/// name, any other by its position. `None` if the text is not JSON.
pub(crate) fn leaves(text: &str) -> Option<Vec<Leaf>> {
    let mut reader = JsonReader { rest: text.trim() };
    let value = reader.value()?;
    reader.rest.trim().is_empty().then_some(())?;
    let mut out = Vec::new();
    flatten("", &value, &mut out);
    Some(out)
}

/// The text of the leaf with this path.
pub(crate) fn find<'a>(leaves: &'a [Leaf], path: &str) -> Option<&'a str> {
    leaves.iter().find(|(key, _)| key == path).map(|(_, text)| text.as_str())
}

enum Value {
    Leaf(String),
    List(Vec<Value>),
    Map(Vec<(String, Value)>),
}

struct JsonReader<'a> {
    rest: &'a str,
}

impl JsonReader<'_> {
    fn value(&mut self) -> Option<Value> {
        self.rest = self.rest.trim_start();
        match self.rest.chars().next()? {
            '{' => {
                let mut pairs = Vec::new();
                self.sequence('{', '}', |reader| {
                    reader.rest = reader.rest.trim_start();
                    let key = reader.string()?;
                    reader.take(':')?;
                    pairs.push((key, reader.value()?));
                    Some(())
                })?;
                Some(Value::Map(pairs))
            }
            '[' => {
                let mut items = Vec::new();
                self.sequence('[', ']', |reader| {
                    items.push(reader.value()?);
                    Some(())
                })?;
                Some(Value::List(items))
            }
            '"' => self.string().map(Value::Leaf),
            _ => {
                let end = self.rest.find([',', ']', '}', '\n', ' ']).unwrap_or(self.rest.len());
                let (word, rest) = self.rest.split_at(end);
                self.rest = rest;
                let known = matches!(word, "true" | "false" | "null") || word.parse::<f64>().is_ok();
                known.then(|| Value::Leaf(word.to_string()))
            }
        }
    }

    fn sequence(
        &mut self,
        open: char,
        close: char,
        mut item: impl FnMut(&mut Self) -> Option<()>,
    ) -> Option<()> {
        self.take(open)?;
        if self.take(close).is_some() {
            return Some(());
        }
        loop {
            item(self)?;
            if self.take(',').is_none() {
                return self.take(close);
            }
        }
    }

    fn take(&mut self, mark: char) -> Option<()> {
        self.rest = self.rest.trim_start().strip_prefix(mark)?;
        Some(())
    }

    /// A string; escapes keep the escaped character, which is enough for names.
    fn string(&mut self) -> Option<String> {
        let mut chars = self.rest.strip_prefix('"')?.chars();
        let mut out = String::new();
        loop {
            match chars.next()? {
                '"' => break,
                '\\' => out.push(chars.next()?),
                c => out.push(c),
            }
        }
        self.rest = chars.as_str();
        Some(out)
    }
}

fn flatten(path: &str, value: &Value, out: &mut Vec<Leaf>) {
    let below = |key: &str| if path.is_empty() { key.to_string() } else { format!("{path}.{key}") };
    match value {
        Value::Leaf(text) => out.push((path.to_string(), text.clone())),
        Value::Map(pairs) => pairs.iter().for_each(|(key, value)| flatten(&below(key), value, out)),
        Value::List(items) => {
            for (i, item) in items.iter().enumerate() {
                flatten(&below(&name_of(item).unwrap_or_else(|| i.to_string())), item, out);
            }
        }
    }
}

fn name_of(value: &Value) -> Option<String> {
    let Value::Map(pairs) = value else { return None };
    pairs.iter().find_map(|(key, value)| match value {
        Value::Leaf(text) if key == "name" => Some(text.clone()),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::{find, leaves};

    #[test]
    fn leaves_carry_their_paths() {
        let text =
            r#"{ "a": [1, 2.5e-3], "rows": [{"name": "x \"y\"", "ns": 3}], "e": [], "f": {}, "g": null }"#;
        let leaves = leaves(text).unwrap();
        assert_eq!(find(&leaves, "a.1"), Some("2.5e-3"));
        assert_eq!(find(&leaves, "rows.x \"y\".ns"), Some("3"));
        assert_eq!(leaves.len(), 5);
    }

    #[test]
    fn broken_text_is_refused() {
        for text in ["", "{", "[1 2]", "{\"a\" 1}", "nope", "[1] x"] {
            assert!(leaves(text).is_none(), "{text}");
        }
    }
}
