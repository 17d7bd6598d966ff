//! `sinew replay`: make the steps of a recording again.

use std::path::Path;

use sinew_sim::{Recording, SavedError, World, recording_from_bytes, recording_from_text};

use crate::error::CommandError;
use crate::health_summary::HealthSummary;
use crate::text::{count, quantity};

/// Makes the steps, and returns what they warned of.
pub(crate) fn replay(path: &Path) -> Result<String, CommandError> {
    let cannot = |error: &dyn std::fmt::Display| CommandError(format!("{}: {error}", path.display()));
    let bytes = std::fs::read(path).map_err(|error| cannot(&error))?;
    let recording = read(&bytes).map_err(|error| cannot(&error))?;
    let mut health = HealthSummary::begin(&recording.world_after(0).map_err(|error| cannot(&error))?);
    let replayed = recording.replay(|world, report| health.note(world, report));
    let world = replayed.map_err(|error| cannot(&error))?;
    let n_steps = recording.n_steps();
    let mut lines = vec![opening(path, n_steps, &world)];
    lines.extend(health.lines(n_steps as u64));
    let is_same = recording.state_after(n_steps).is_some_and(|last| last == *world.state());
    let bits = if is_same { "as recorded" } else { "NOT as recorded" };
    lines.push(format!("  state digest   {:016x}, {bits}", world.digest()));
    Ok(lines.join("\n"))
}

/// A recording in either form.
fn read(bytes: &[u8]) -> Result<Recording, SavedError> {
    match std::str::from_utf8(bytes) {
        Ok(text) if text.starts_with("//") => recording_from_text(text),
        _ => recording_from_bytes(bytes),
    }
}

fn opening(path: &Path, n_steps: usize, world: &World) -> String {
    let bodies = count(world.mechanism().n_bodies(), "body", "bodies");
    let (steps, end) = (count(n_steps, "step", "steps"), quantity(world.time()));
    format!("{}: {steps} up to {end} s, {bodies}", path.display())
}
