//! Text tables: a title, right-aligned columns as wide as their longest cell, a note below.

use std::fmt;

/// A table to print.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub(crate) struct ReportTable {
    title: String,
    head: Vec<String>,
    rows: Vec<Vec<String>>,
    note: String,
}

impl ReportTable {
    /// An empty table; the names of its columns are separated by ` | `.
    pub(crate) fn new(title: impl Into<String>, head: &str) -> Self {
        Self { title: title.into(), head: head.split(" | ").map(String::from).collect(), ..Self::default() }
    }

    /// Prints it.
    #[expect(clippy::print_stdout, reason = "printing figures is what the suites are for")]
    pub(crate) fn show(&self) {
        println!("{self}");
    }

    /// Adds a row; missing cells are empty.
    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// Sets the lines below the table.
    pub(crate) fn note(&mut self, note: impl Into<String>) {
        self.note = note.into();
    }

    fn width(&self, column: usize) -> usize {
        let cells = self.rows.iter().chain([&self.head]).filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    }
}

impl fmt::Display for ReportTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "\n{}", self.title)?;
        let widths: Vec<usize> = (0..self.head.len()).map(|column| self.width(column)).collect();
        let line = "─".repeat(widths.iter().map(|width| width + 2).sum());
        for (i, row) in [&self.head].into_iter().chain(&self.rows).enumerate() {
            let cells = row.iter().zip(&widths).map(|(cell, &width)| format!("  {cell:>width$}"));
            writeln!(f, "{}", cells.collect::<String>())?;
            if i == 0 {
                writeln!(f, "{line}")?;
            }
        }
        if self.note.is_empty() { Ok(()) } else { writeln!(f, "  {}", self.note.replace('\n', "\n  ")) }
    }
}

/// A whole number with commas between groups of three digits.
pub(crate) fn grouped(n: usize) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Three significant digits, without exponent.
pub(crate) fn short(value: f64) -> String {
    let size = value.abs();
    let decimals = if size >= 99.95 {
        0
    } else if size >= 9.995 {
        1
    } else if size >= 0.9995 {
        2
    } else {
        3
    };
    format!("{value:.decimals$}")
}

#[cfg(test)]
mod tests {
    use super::{ReportTable, grouped, short};

    #[test]
    fn columns_line_up() {
        let mut table = ReportTable::new("t", "links | µs");
        table.row(["10".to_string(), "0.12".to_string()]);
        table.row(["1,000".to_string(), "7".to_string()]);
        table.note("a\nb");
        let text = table.to_string();
        assert_eq!(text, "\nt\n  links    µs\n─────────────\n     10  0.12\n  1,000     7\n  a\n  b\n");
    }

    #[test]
    fn numbers_are_short() {
        assert_eq!([grouped(7), grouped(1000), grouped(1_234_567)], ["7", "1,000", "1,234,567"]);
        assert_eq!(
            [short(0.12345), short(9.999), short(22.0), short(360.4)],
            ["0.123", "10.0", "22.0", "360"]
        );
    }
}
