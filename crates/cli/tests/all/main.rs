//! The command as a user meets it: arguments, exit codes, and what is written where.

mod command;
mod dynamics;
mod embed;
mod export;
mod flesh;
mod import;
mod long_runs;
mod motion;
mod outputs;
mod refused;
mod writing;

use std::path::PathBuf;
use std::process::{Command, Output};

/// Runs `sinew` with arguments in a folder of its own.
fn sinew(folder: &Folder, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_sinew"))
        .args(args)
        .current_dir(&folder.0)
        .output()
        .expect("sinew starts")
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("text on standard output")
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("text on standard error")
}

/// A folder that vanishes with the test.
struct Folder(PathBuf);

impl Folder {
    fn new(test: &str) -> Self {
        let path = std::env::temp_dir().join(format!("sinew-cli-{test}-{}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a temporary folder");
        Self(path)
    }

    fn write(&self, name: &str, text: &str) {
        let parent = self.0.join(name).parent().map(std::fs::create_dir_all);
        parent.transpose().expect("the folder is writable");
        std::fs::write(self.0.join(name), text).expect("the folder is writable");
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.0.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    fn bytes(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.0.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // A folder that stays behind does no harm.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
