//! Values of options, read from the words of the command line.

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use sinew_io::{TABLE_ENDINGS, TableFormat, TableQuantity};

/// Largest width and height of a picture in pixels.
const LARGEST: usize = 8192;

/// A path with the extension of a format, or without extension (for example a device).
pub(crate) fn ending(text: &str, wanted: &str) -> Result<PathBuf, String> {
    let path = Path::new(text);
    match path.extension() {
        Some(ending) if !ending.eq_ignore_ascii_case(wanted) => {
            let name = path.with_extension(wanted);
            Err(format!("the file format is {}: call it {}", wanted.to_uppercase(), name.display()))
        }
        _ => Ok(path.to_path_buf()),
    }
}

/// A path that ends as a format that scenes are written in.
pub(crate) fn export_file(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    let ending = path.extension().map(|ending| ending.to_string_lossy().to_ascii_lowercase());
    match ending.as_deref() {
        Some("urdf" | "xml" | "mjcf" | "ron") => Ok(path),
        _ => {
            Err("the name says the format: .urdf (a robot), .xml or .mjcf (MuJoCo), .ron (a scene)"
                .to_owned())
        }
    }
}

/// A path with one of the extensions of tables.
pub(crate) fn table(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    match TableFormat::of(&path) {
        Some(_) => Ok(path),
        None => Err(format!("its name must end in .{}", TABLE_ENDINGS.join(", ."))),
    }
}

/// What a limit of a scene counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub(crate) enum LimitName {
    Bodies,
    Tetrahedra,
    Members,
    FileBytes,
}

/// A limit of scenes: `bodies=2e6`.
pub(crate) fn limit(text: &str) -> Result<(LimitName, u64), String> {
    let (name, n) = text.split_once('=').ok_or("write NAME=N, for instance bodies=2000000")?;
    let name = LimitName::from_str(name.trim(), true).map_err(|_| {
        let known = LimitName::value_variants().iter().filter_map(ValueEnum::to_possible_value);
        let known: Vec<String> = known.map(|value| value.get_name().to_owned()).collect();
        format!("there is no limit `{}`; there are {}", name.trim(), known.join(", "))
    })?;
    let n = n.trim().parse::<f64>().ok().filter(|n| (1.0..=1e18).contains(n) && n.fract() == 0.0);
    n.map(|n| (name, n as u64)).ok_or_else(|| "a limit is a whole number from 1".to_owned())
}

pub(crate) fn size(text: &str) -> Result<(usize, usize), String> {
    let sides = text.split_once(['x', 'X', '×']);
    let sides =
        sides.and_then(|(width, height)| Some((width.trim().parse().ok()?, height.trim().parse().ok()?)));
    match sides {
        Some((width, height)) if (1..=LARGEST).contains(&width) && (1..=LARGEST).contains(&height) => {
            Ok((width, height))
        }
        _ => Err(format!("expected WIDTHxHEIGHT in pixels, each from 1 to {LARGEST}, for example 480x320")),
    }
}

pub(crate) fn steps(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| "expected a number of steps, zero or more".into())
}

/// When checkpoints are written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum CheckpointInterval {
    /// After so many steps each.
    Steps(u64),
    /// After so much computing time each (s).
    Seconds(f64),
}

impl Default for CheckpointInterval {
    fn default() -> Self {
        Self::Seconds(60.0)
    }
}

pub(crate) fn interval(text: &str) -> Result<CheckpointInterval, String> {
    let read = match text.strip_suffix('s') {
        Some(number) => positive(number).ok().map(CheckpointInterval::Seconds),
        None => text.parse().ok().filter(|&n: &u64| n > 0).map(CheckpointInterval::Steps),
    };
    read.ok_or_else(|| "expected a number of steps like 500, or seconds like 30s, above zero".into())
}

pub(crate) fn positive(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() && value > 0.0 => Ok(value),
        _ => Err("expected a number above zero".into()),
    }
}

/// A quantity, as the command line names it.
pub(crate) fn quantity(text: &str) -> Result<TableQuantity, String> {
    let known = || TableQuantity::ALL.map(TableQuantity::name).join(", ");
    TableQuantity::ALL
        .into_iter()
        .find(|quantity| quantity.name() == text)
        .ok_or_else(|| format!("expected some of {}", known()))
}

pub(crate) fn speed(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if (1e-3..=1e3).contains(&value) => Ok(value),
        _ => Err("expected a number from 0.001 (slow motion) to 1000".into()),
    }
}

pub(crate) fn seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() && value >= 0.0 => Ok(value),
        _ => Err("expected a number of seconds, zero or more".into()),
    }
}

/// Splits at the first `=` that is not inside quotes.
pub(crate) fn assignment(text: &str) -> Result<(String, String), String> {
    let mut quoted = false;
    for (at, c) in text.char_indices() {
        match c {
            '"' => quoted = !quoted,
            '=' if !quoted && at > 0 => return Ok((text[..at].trim().into(), text[at + 1..].trim().into())),
            _ => {}
        }
    }
    Err("expected PATH=VALUE, for example dt=0.01".into())
}

#[cfg(test)]
mod tests {
    use super::{assignment, ending, size};

    #[test]
    fn assignments_split_at_the_first_bare_sign() {
        let split = |text: &str| assignment(text).ok();
        let pair = |a: &str, b: &str| Some((a.to_string(), b.to_string()));
        assert_eq!(split("dt=0.01"), pair("dt", "0.01"));
        assert_eq!(split("joints[\"a=b\"].damping = 2"), pair("joints[\"a=b\"].damping", "2"));
        assert_eq!(split("dt"), None);
        assert_eq!(split("=1"), None);
    }

    #[test]
    fn sizes_are_two_numbers() {
        assert_eq!(size("480x320"), Ok((480, 320)));
        for wrong in ["", "480", "0x3", "3x0", "480x320x2", "-1x5", "9999999x1", "axb"] {
            assert!(size(wrong).is_err_and(|error| error.contains("480x320")), "{wrong}");
        }
    }

    #[test]
    fn names_of_pictures_end_as_what_is_in_them() {
        let png = |text: &str| ending(text, "png");
        for good in ["a.png", "b/A.PNG", "/dev/stdout", "a.b.png", "a"] {
            assert_eq!(png(good), Ok(good.into()));
        }
        assert!(png("b/a.jpg").is_err_and(|error| error.ends_with("PNG: call it b/a.png")));
        assert!(png("a.b.gif").is_err_and(|error| error.ends_with("call it a.b.png")));
    }
}
