//! The motion of a run as a table: `sinew run … --poses FILE`.

use std::io;
use std::path::{Path, PathBuf};

use sinew_io::{Sampler, TABLE_ENDINGS, TableChoice, TableFormat, TableWriter};
use sinew_sim::World;

use crate::args::TableArgs;
use crate::error::CommandError;
use crate::part_file::{PartFile, unless_closed};

/// A table that is written while a scene runs.
pub(crate) struct TableExport {
    path: PathBuf,
    sampler: Sampler,
    writer: TableWriter<PartFile>,
    row: Vec<f64>,
    /// Time between rows (s), none for a row per step, and when the next one is due.
    every: Option<f64>,
    next: f64,
    /// Why it could not be written.
    fault: Option<io::Error>,
}

impl TableExport {
    /// Begins a table at `path` with the present moment.
    pub(crate) fn new(path: &Path, args: &TableArgs, world: &mut World) -> Result<Self, CommandError> {
        let cannot = |why: String| CommandError(format!("cannot write {}: {why}", path.display()));
        let endings = || cannot(format!("its name must end in .{}", TABLE_ENDINGS.join(", .")));
        let format = TableFormat::of(path).ok_or_else(endings)?;
        let mut choice = TableChoice::default();
        if !args.quantities.is_empty() {
            choice.quantities = args.quantities.clone();
        }
        if !args.select.is_empty() {
            choice.names.clone_from(&args.select);
        }
        let sampler =
            Sampler::new(world, &choice).map_err(|problem| CommandError(format!("--select: {problem}")))?;
        world.settings_mut().reactions |= sampler.needs_reactions();
        let file = PartFile::create(path).map_err(|error| cannot(error.to_string()))?;
        let writer = TableWriter::new(file, format, &sampler).map_err(|error| cannot(error.to_string()))?;
        let every = args.rate.map(f64::recip);
        let mut table = Self {
            path: path.to_owned(),
            sampler,
            writer,
            row: Vec::new(),
            every,
            next: world.time(),
            fault: None,
        };
        table.note(world);
        Ok(table)
    }

    /// Adds a row if one is due.
    pub(crate) fn note(&mut self, world: &World) {
        if let Some(every) = self.every {
            if world.time() + 0.5 * world.settings().dt < self.next {
                return;
            }
            self.next += every;
        }
        if self.fault.is_none() {
            self.sampler.fill(world, &mut self.row);
            self.fault = self.writer.push(&self.row).err();
        }
    }

    /// Writes what is left: the path, or what failed.
    pub(crate) fn finish(self) -> Result<PathBuf, String> {
        let written = match self.fault {
            Some(fault) => Err(fault),
            None => self.writer.finish().and_then(PartFile::finish),
        };
        unless_closed(written)
            .map(|()| self.path.clone())
            .map_err(|error| format!("cannot write {}: {error}", self.path.display()))
    }
}
