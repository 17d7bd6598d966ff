//! Process calls that are printed before they run, and the places of the project.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// Why a command stops.
#[derive(Debug)]
pub(crate) enum TaskFailure {
    /// A check did not hold, or a process failed.
    Check(String),
    /// The command line is wrong.
    Usage(String),
}

/// What every command returns.
pub(crate) type TaskOutcome = Result<(), TaskFailure>;

/// Refuses arguments where a command takes none.
pub(crate) fn no_arguments(args: &[String]) -> TaskOutcome {
    match args.first() {
        Some(extra) => Err(TaskFailure::Usage(format!("unexpected argument `{extra}`"))),
        None => Ok(()),
    }
}

/// Prints what holds, or fails with all faults.
pub(crate) fn verdict(task: &str, faults: &[String], holds: &str) -> TaskOutcome {
    if faults.is_empty() {
        println!("{task}: {holds}");
        return Ok(());
    }
    Err(TaskFailure::Check(format!("{task}: {} fault(s)\n  {}", faults.len(), faults.join("\n  "))))
}

/// The folder that holds the workspace's `Cargo.toml`.
pub(crate) fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().expect("xtask lies one level below the root").to_path_buf()
}

/// A path as the user sees it from the workspace root.
pub(crate) fn relative(path: &Path) -> String {
    path.strip_prefix(root()).unwrap_or(path).display().to_string().replace('\\', "/")
}

/// Where cargo writes its results.
pub(crate) fn target_dir() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), |dir| root().join(dir))
}

/// The path of a program built in release mode.
pub(crate) fn release_binary(name: &str) -> PathBuf {
    target_dir().join("release").join(format!("{name}{}", std::env::consts::EXE_SUFFIX))
}

/// One process call, started in the workspace root.
pub(crate) struct Call {
    command: Command,
    text: String,
}

impl Call {
    /// A call of `program`.
    pub(crate) fn new(program: impl AsRef<OsStr>) -> Self {
        let mut command = Command::new(program.as_ref());
        command.current_dir(root());
        Self { command, text: program.as_ref().to_string_lossy().into_owned() }
    }

    /// A call of cargo with arguments given as one line, split at spaces.
    pub(crate) fn cargo(line: &str) -> Self {
        let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let mut call = Self::new(program).args(line.split_whitespace());
        call.text = format!("cargo {line}");
        call
    }

    /// Adds arguments.
    pub(crate) fn args<S: AsRef<OsStr>>(mut self, args: impl IntoIterator<Item = S>) -> Self {
        for arg in args {
            self.text.push(' ');
            self.text.push_str(&arg.as_ref().to_string_lossy());
            self.command.arg(arg);
        }
        self
    }

    /// Sets an environment variable.
    pub(crate) fn env(mut self, key: &str, value: &str) -> Self {
        self.text = format!("{key}={value:?} {}", self.text);
        self.command.env(key, value);
        self
    }

    /// Prints the call, runs it, and fails if it fails.
    pub(crate) fn run(mut self) -> TaskOutcome {
        println!("$ {}", self.text);
        let status = self.command.status().map_err(|error| self.cannot_start(&error))?;
        if status.success() {
            Ok(())
        } else {
            Err(TaskFailure::Check(format!("`{}` failed: {status}", self.text)))
        }
    }

    /// Runs the call silently and gives back everything it wrote.
    pub(crate) fn output(mut self) -> Result<Output, TaskFailure> {
        self.command.stdin(Stdio::null()).output().map_err(|error| self.cannot_start(&error))
    }

    /// Runs the call silently and gives back its standard output; fails if the call fails.
    pub(crate) fn stdout(self) -> Result<String, TaskFailure> {
        let text = self.text.clone();
        let output = self.output()?;
        if !output.status.success() {
            let errors = String::from_utf8_lossy(&output.stderr);
            return Err(TaskFailure::Check(format!("`{text}` failed: {}\n{errors}", output.status)));
        }
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    fn cannot_start(&self, error: &std::io::Error) -> TaskFailure {
        TaskFailure::Check(format!("cannot start `{}`: {error}", self.text))
    }
}
