//! The motion of a run as a table: `sinew run … --poses FILE`.

use std::borrow::Cow;
use std::path::Path;

use serde::{Deserialize, Serialize};
use sinew_io::{Sampler, TABLE_ENDINGS, TableChoice, TableFormat, TableWriter};
use sinew_sim::World;

use crate::args::TableArgs;
use crate::disk::{DiskFile, StreamMark};
use crate::error::CommandError;
use crate::growing::GrowingFile;

/// What a table holds, and when it gets rows.
#[derive(Clone)]
pub(crate) struct TablePlan {
    sampler: Sampler,
    format: TableFormat,
    /// Time between rows (s), none for a row per step.
    every: Option<f64>,
}

/// A table that is written while a scene runs.
pub(crate) struct TableExport {
    pub(crate) file: GrowingFile<TableWriter<DiskFile>>,
    plan: TablePlan,
    row: Vec<f64>,
    /// When the next row is due (s).
    next: f64,
}

/// How far a table is written, and the rows that are written at the end.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct SavedTable<'a> {
    mark: StreamMark,
    rows: Cow<'a, [f64]>,
    next: f64,
}

impl TablePlan {
    /// Reads the options; the world is told what the steps must leave.
    pub(crate) fn new(path: &Path, args: &TableArgs, world: &mut World) -> Result<Self, CommandError> {
        let endings = || {
            let (path, endings) = (path.display(), TABLE_ENDINGS.join(", ."));
            CommandError(format!("cannot write {path}: its name must end in .{endings}"))
        };
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
        Ok(Self { sampler, format, every: args.rate.map(f64::recip) })
    }

    /// Begins the table with the present moment.
    pub(crate) fn begin(self, path: &Path, run: Option<&str>, world: &World) -> TableExport {
        let file =
            GrowingFile::begin(path, run).and_then(|out| TableWriter::new(out, self.format, &self.sampler));
        let mut table = TableExport { file, plan: self, row: Vec::new(), next: world.time() };
        table.note(world);
        table
    }

    /// Goes on with a table of a run.
    pub(crate) fn resume(
        self,
        path: &Path,
        run: &str,
        saved: SavedTable<'_>,
    ) -> Result<TableExport, CommandError> {
        let SavedTable { mark, rows, next } = saved;
        let begun = GrowingFile::resume(path, run, mark)?;
        let file = begun
            .and_then(|out| Ok(TableWriter::resumed(out, self.format, &self.sampler, rows.into_owned())));
        Ok(TableExport { file, plan: self, row: Vec::new(), next })
    }
}

impl TableExport {
    /// Tells a world before a step what that must leave; a change of the scene may have made it forget.
    pub(crate) fn prepare(&self, world: &mut World) {
        if self.plan.sampler.needs_reactions() {
            world.take_changes();
            world.settings_mut().reactions = true;
        }
    }

    /// Adds a row if one is due.
    pub(crate) fn note(&mut self, world: &World) {
        if let Some(every) = self.plan.every {
            if world.time() + 0.5 * world.settings().dt < self.next {
                return;
            }
            self.next += every;
        }
        let Self { file, plan, row, .. } = self;
        file.write(|writer| {
            plan.sampler.fill(world, row);
            writer.push(row)
        });
    }

    /// How far it is written; none if it could not be.
    pub(crate) fn save(&mut self) -> Option<SavedTable<'_>> {
        let mark = self.file.mark(|writer| writer.out_mut().mark())?;
        let rows = self.file.written().map_or(&[][..], TableWriter::kept_rows);
        Some(SavedTable { mark, rows: Cow::Borrowed(rows), next: self.next })
    }

    /// Writes what is left: what failed, if anything did.
    pub(crate) fn finish(self) -> Result<(), String> {
        self.file.finish(|writer| writer.finish().and_then(DiskFile::finish))
    }
}
