//! Checkpoints of a run in a folder: written beside their place and renamed, the last two of each member kept.
//!
//! `run-M-S.sinew` is member M after S steps, `run-M.sinew` a member that is finished with all of its files written. Both are a [`SavedForm`]: the first line
//! `sinew run 1 CRC`, then CBOR: the [`RunKey`], and what is saved. A lock keeps other processes away; the operating system takes it from one that dies.

use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;
use sinew_sim::{SavedError, SavedForm};

use crate::disk::write_file;
use crate::error::{CommandError, Failure, WriteError};
use crate::print::print_error;
use crate::run_key::RunKey;

const FORM: SavedForm = SavedForm::new("run", "1");
/// Ending of the names of checkpoints.
pub(crate) const ENDING: &str = "sinew";
/// Name of the file that is locked.
pub(crate) const LOCK: &str = "lock";
/// Checkpoints kept of a member.
const KEPT: usize = 2;

/// A folder of checkpoints.
pub(crate) struct CheckpointFolder {
    path: PathBuf,
    /// The name of the run in part files: that of the folder.
    run: String,
    /// Held until the folder is dropped.
    _lock: File,
}

impl CheckpointFolder {
    /// Opens a folder, and makes it if it is not there. Unless a run is resumed, there must be no checkpoints in it.
    pub(crate) fn open(path: &Path, is_resumed: bool) -> Result<Self, Failure> {
        let cannot = |error: &dyn std::fmt::Display| {
            WriteError(format!("cannot write checkpoints to {}: {error}", path.display()))
        };
        fs::create_dir_all(path).map_err(|error| cannot(&error))?;
        let lock = File::create(path.join(LOCK)).map_err(|error| cannot(&error))?;
        if matches!(lock.try_lock(), Err(TryLockError::WouldBlock)) {
            let why =
                format!("another run writes its checkpoints to {}; choose another folder", path.display());
            return Err(CommandError(why).into());
        }
        let found = fs::read_dir(path).map_err(|error| cannot(&error))?;
        for entry in found.flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            if name.starts_with("run-") && name.ends_with(".part") {
                // Of a run that was killed; what cannot be removed is only in the way.
                let _ = fs::remove_file(entry.path());
            } else if !is_resumed && is_checkpoint(&name) {
                let folder = path.display();
                let what = format!(
                    "{folder} has checkpoints of a run; `--resume {folder}` goes on with it, another folder begins anew"
                );
                return Err(CommandError(what).into());
            }
        }
        Ok(Self { path: path.to_owned(), run: run_name(path), _lock: lock })
    }

    /// The name of the run in part files.
    pub(crate) fn run(&self) -> &str {
        &self.run
    }

    /// What was saved of a finished member.
    pub(crate) fn finished<T: DeserializeOwned>(
        &self,
        member: usize,
        key: &RunKey,
    ) -> Result<Option<T>, CommandError> {
        let path = self.finished_path(member);
        if !path.exists() {
            return Ok(None);
        }
        self.read(&path, key)
            .map(|read| read.map_err(|why| self.tell(&path, &why, "the member is run again")).ok())
    }

    /// The last checkpoint of a member that can be read; tells of those that cannot.
    pub(crate) fn latest<T: DeserializeOwned>(
        &self,
        member: usize,
        key: &RunKey,
    ) -> Result<Option<T>, CommandError> {
        let steps = self.steps(member);
        for &step in steps.iter().rev() {
            let path = self.path_of(member, step);
            match self.read(&path, key)? {
                Ok(saved) => return Ok(Some(saved)),
                Err(why) => self.tell(&path, &why, "the one before is used"),
            }
        }
        match steps.is_empty() {
            true => Ok(None),
            false => Err(CommandError(format!(
                "no checkpoint in {} can be read; remove them to begin anew",
                self.path.display()
            ))),
        }
    }

    /// Saves a member after a number of steps, and removes checkpoints that are too many or of later steps, which could not be read.
    pub(crate) fn save(
        &self,
        (member, step): (usize, u64),
        key: &RunKey,
        saved: &impl Serialize,
    ) -> Result<(), String> {
        self.write(&self.path_of(member, step), key, saved)?;
        let (now, later): (Vec<u64>, _) = self.steps(member).into_iter().partition(|&other| other <= step);
        let old = &now[..now.len().saturating_sub(KEPT)];
        later.iter().chain(old).for_each(|&step| remove(&self.path_of(member, step)));
        Ok(())
    }

    /// Saves a finished member, and removes its checkpoints.
    pub(crate) fn finish(&self, member: usize, key: &RunKey, saved: &impl Serialize) -> Result<(), String> {
        self.write(&self.finished_path(member), key, saved)?;
        self.steps(member).into_iter().for_each(|step| remove(&self.path_of(member, step)));
        Ok(())
    }

    fn finished_path(&self, member: usize) -> PathBuf {
        self.path.join(format!("run-{member}.{ENDING}"))
    }

    fn path_of(&self, member: usize, step: u64) -> PathBuf {
        self.path.join(format!("run-{member}-{step}.{ENDING}"))
    }

    /// The steps after which there are checkpoints of a member, ascending.
    fn steps(&self, member: usize) -> Vec<u64> {
        let step = |name: &str| {
            let digits =
                name.strip_prefix(&format!("run-{member}-"))?.strip_suffix(ENDING)?.strip_suffix('.')?;
            digits.parse().ok()
        };
        let entries = fs::read_dir(&self.path).into_iter().flatten().flatten();
        let mut steps: Vec<u64> =
            entries.filter_map(|entry| step(&entry.file_name().to_string_lossy())).collect();
        steps.sort_unstable();
        steps
    }

    fn write(&self, path: &Path, key: &RunKey, saved: &impl Serialize) -> Result<(), String> {
        let bytes = FORM.to_bytes(&(key, saved)).map_err(|error| error.to_string());
        let written =
            bytes.and_then(|bytes| write_file(path, None, &bytes).map_err(|error| error.to_string()));
        written.map_err(|error| format!("cannot write the checkpoint {}: {error}", path.display()))
    }

    /// Reads a file; a damaged one gives what is wrong with it, one of another run is an error.
    fn read<T: DeserializeOwned>(
        &self,
        path: &Path,
        key: &RunKey,
    ) -> Result<Result<T, String>, CommandError> {
        let bytes = fs::read(path).map_err(|error| error.to_string());
        let read =
            bytes.and_then(|bytes| FORM.read_bytes::<(RunKey, T)>(&bytes).map_err(|error| told(&error)));
        let (saved_key, saved) = match read {
            Ok(read) => read,
            Err(why) => return Ok(Err(why)),
        };
        match saved_key.difference(key) {
            None => Ok(Ok(saved)),
            Some(what) => Err(CommandError(format!(
                "{} is of another run: {what}; resume with the same scene and options, or begin anew in another folder",
                path.display()
            ))),
        }
    }

    fn tell(&self, path: &Path, why: &str, then: &str) {
        print_error(&format!("{}: {why}; {then}", path.display()));
    }
}

/// What is wrong with a file.
fn told(error: &SavedError) -> String {
    match error {
        SavedError::NotSaved { .. } => "this is no checkpoint".to_owned(),
        SavedError::OtherVersion(_) => "another version of sinew wrote it".to_owned(),
        other => other.to_string(),
    }
}

/// Whether a file of a folder is a checkpoint, by its name.
pub(crate) fn is_checkpoint(name: &str) -> bool {
    name.strip_prefix("run-").is_some_and(|rest| rest.ends_with(&format!(".{ENDING}")))
}

/// The name of a run: that of its folder.
fn run_name(path: &Path) -> String {
    let real = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    real.file_name().map_or_else(|| "run".to_owned(), |name| name.to_string_lossy().into_owned())
}

fn remove(path: &Path) {
    // What cannot be removed takes space, and no harm comes of it.
    let _ = fs::remove_file(path);
}
