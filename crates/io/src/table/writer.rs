//! Tables as files. CSV and JSON lines are written row by row; NumPy and JSON at the end, from memory.
//!
//! Numbers have all their digits. Those that are not finite are `NaN`, `inf`, `-inf` in CSV and NumPy, `null` in JSON.

use std::fmt::Write as _;
use std::io::{self, Write};
use std::path::Path;

use super::npy::{named_doubles, npy, write_zip};
use super::sampler::Sampler;
use crate::json::json_text;

/// Endings of the names of tables.
pub const TABLE_ENDINGS: &[&str] = &["csv", "npy", "npz", "json", "jsonl"];

/// How a table is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableFormat {
    /// A line of names, then a line per row.
    Csv,
    /// One array of rows whose fields have the names of the columns.
    Npy,
    /// An array per quantity of an item, `ball.position` with a row of three numbers per sample.
    Npz,
    /// An object with a list per quantity of an item.
    Json,
    /// An object per row.
    JsonLines,
}

impl TableFormat {
    /// The format of a file, by its ending.
    pub fn of(path: &Path) -> Option<Self> {
        Some(match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
            "csv" => Self::Csv,
            "npy" => Self::Npy,
            "npz" => Self::Npz,
            "json" => Self::Json,
            "jsonl" => Self::JsonLines,
            _ => return None,
        })
    }
}

/// Writes a table.
#[derive(Debug)]
pub struct TableWriter<W: Write> {
    out: W,
    format: TableFormat,
    /// Names and widths of the groups.
    groups: Vec<(String, usize)>,
    columns: Vec<String>,
    /// All rows, if they are written at the end.
    rows: Vec<f64>,
}

impl<W: Write> TableWriter<W> {
    /// Begins a table of what a sampler reads.
    ///
    /// # Errors
    /// Those of the output.
    pub fn new(out: W, format: TableFormat, sampler: &Sampler) -> io::Result<Self> {
        let mut table = Self::resumed(out, format, sampler, Vec::new());
        if format == TableFormat::Csv {
            let names: Vec<String> = table.columns.iter().map(|name| csv_text(name)).collect();
            writeln!(table.out, "{}", names.join(","))?;
        }
        Ok(table)
    }

    /// Goes on with a table that was begun: `out` has what was written, `rows` are those that were [kept](Self::kept_rows).
    pub fn resumed(out: W, format: TableFormat, sampler: &Sampler, rows: Vec<f64>) -> Self {
        let groups = sampler.groups.iter().map(|group| (group.name.clone(), group.parts.len())).collect();
        Self { out, format, groups, columns: sampler.columns(), rows }
    }

    /// The numbers of all rows so far, if they are written at the end.
    pub fn kept_rows(&self) -> &[f64] {
        &self.rows
    }

    /// The output.
    pub fn out_mut(&mut self) -> &mut W {
        &mut self.out
    }

    fn n_rows(&self) -> usize {
        self.rows.len() / self.columns.len()
    }

    /// Adds a row, as [`Sampler::fill`] gives it.
    ///
    /// # Errors
    /// Those of the output.
    pub fn push(&mut self, row: &[f64]) -> io::Result<()> {
        match self.format {
            TableFormat::Csv => writeln!(self.out, "{}", csv_line(row)),
            TableFormat::JsonLines => {
                let mut rest = row;
                let parts = self.groups.iter().map(|(name, n)| {
                    let (numbers, after) = rest.split_at(*n);
                    rest = after;
                    format!("{}:{}", json_text(name), json_numbers(numbers))
                });
                let line = parts.collect::<Vec<_>>().join(",");
                writeln!(self.out, "{{{line}}}")
            }
            TableFormat::Npy | TableFormat::Npz | TableFormat::Json => {
                self.rows.extend(row);
                Ok(())
            }
        }
    }

    /// Writes what is left, and gives the output back.
    ///
    /// # Errors
    /// Those of the output.
    pub fn finish(mut self) -> io::Result<W> {
        match self.format {
            TableFormat::Csv | TableFormat::JsonLines => {}
            TableFormat::Npy => {
                self.out.write_all(&npy(&named_doubles(&self.columns), &[self.n_rows()], &self.rows))?
            }
            TableFormat::Npz => {
                let files = self.npy_files();
                write_zip(&mut self.out, &files)?;
            }
            TableFormat::Json => {
                let lists = self.json_lists();
                writeln!(self.out, "{{{}}}", lists.join(",\n"))?;
            }
        }
        self.out.flush()?;
        Ok(self.out)
    }

    /// Each group as a NumPy file, with the file's name.
    fn npy_files(&self) -> Vec<(String, Vec<u8>)> {
        let file = |(name, n, numbers): (&str, usize, Vec<f64>)| {
            let shape = if n == 1 { vec![self.n_rows()] } else { vec![self.n_rows(), n] };
            (format!("{name}.npy"), npy("'<f8'", &shape, &numbers))
        };
        self.arrays().map(file).collect()
    }

    /// Each group as a list in JSON, after its name.
    fn json_lists(&self) -> Vec<String> {
        let list = |(name, n, numbers): (&str, usize, Vec<f64>)| {
            let rows: Vec<String> = numbers.chunks_exact(n).map(json_numbers).collect();
            format!("{}:[{}]", json_text(name), rows.join(","))
        };
        self.arrays().map(list).collect()
    }

    /// Name, width and numbers of each group.
    fn arrays(&self) -> impl Iterator<Item = (&str, usize, Vec<f64>)> {
        let width = self.columns.len();
        self.groups.iter().scan(0, move |first, (name, n)| {
            let begin = *first;
            *first += n;
            let numbers =
                self.rows.chunks_exact(width).flat_map(|row| row[begin..begin + n].to_vec()).collect();
            Some((name.as_str(), *n, numbers))
        })
    }
}

/// A row in CSV.
fn csv_line(row: &[f64]) -> String {
    let mut line = String::new();
    for (place, number) in row.iter().enumerate() {
        let comma = if place > 0 { "," } else { "" };
        let _ = write!(line, "{comma}{number}");
    }
    line
}

/// A name in CSV: in quotes if it has commas, quotes or ends of lines.
fn csv_text(name: &str) -> String {
    if name.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", name.replace('"', "\"\""))
    } else {
        name.to_owned()
    }
}

/// Numbers in JSON: one by itself, several as a list.
fn json_numbers(numbers: &[f64]) -> String {
    let number = |x: &f64| if x.is_finite() { x.to_string() } else { "null".to_owned() };
    match numbers {
        [one] => number(one),
        _ => format!("[{}]", numbers.iter().map(number).collect::<Vec<_>>().join(",")),
    }
}
