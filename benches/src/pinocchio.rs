//! Pinocchio's functions on one robot, by a small program in C++ that answers every line it reads (`benches/peers/pinocchio_joint_space.cpp`).
//!
//! It is built of Pinocchio's headers by the system's compiler with `-O3 -march=native`, once. Its own clock tells the time, so that the
//! pipe does not count.

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::SystemTime;

use crate::SuiteFailure;

const SOURCE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/peers/pinocchio_joint_space.cpp");
/// Where `python3` has its Pinocchio: headers are in `include` there.
const ASK_PLACE: &str = "import pathlib, pinocchio; print(pathlib.Path(pinocchio.__file__).parents[4])";
const FLAGS: [&str; 4] = ["-std=c++17", "-O3", "-march=native", "-DNDEBUG"];

/// A robot in another process.
pub(crate) struct PinocchioRobot {
    child: Child,
    requests: ChildStdin,
    answers: BufReader<ChildStdout>,
    /// Version of Pinocchio, and that of the compiler.
    pub(crate) version: String,
}

/// Builds the program, unless it is younger than its source and Pinocchio.
///
/// # Errors
/// If headers or a compiler are missing.
pub(crate) fn built_program() -> Result<PathBuf, SuiteFailure> {
    let missing = "Pinocchio's headers are missing; `pip install pin cmeel-eigen` adds them to python3";
    let answer = Command::new("python3").args(["-c", ASK_PLACE]).output().map_err(|_| missing)?;
    let include = Path::new(String::from_utf8_lossy(&answer.stdout).trim()).join("include");
    let (version, eigen) = (include.join("pinocchio/config.hpp"), include.join("eigen3"));
    if !answer.status.success() || !version.exists() || !eigen.exists() {
        return Err(missing.into());
    }
    let program = std::env::current_exe()?.with_file_name("pinocchio_joint_space");
    let age =
        |path: &Path| path.metadata().and_then(|data| data.modified()).unwrap_or(SystemTime::UNIX_EPOCH);
    if age(&program) < age(Path::new(SOURCE)).max(age(&version)) {
        let status = Command::new("c++")
            .args(FLAGS)
            .args([Path::new("-isystem"), &include, Path::new("-isystem"), &eigen, Path::new(SOURCE)])
            .args([Path::new("-o"), &program])
            .status()
            .map_err(|error| format!("cannot start c++: {error}"))?;
        if !status.success() {
            return Err("c++ cannot build Pinocchio's program".into());
        }
    }
    Ok(program)
}

impl PinocchioRobot {
    /// A robot and its state, as the program reads them.
    ///
    /// # Errors
    /// If the program does not run.
    pub(crate) fn start(program: &Path, robot: &[f64]) -> Result<Self, SuiteFailure> {
        let mut child = Command::new(program)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("cannot start Pinocchio's program: {error}"))?;
        let pipes = child.stdin.take().zip(child.stdout.take());
        let (requests, answers) = pipes.ok_or("Pinocchio's program has no pipes")?;
        let mut out = Self { child, requests, answers: BufReader::new(answers), version: String::new() };
        let mut text = String::new();
        for number in robot {
            write!(text, "{number:e} ")?;
        }
        out.version = out.answer(&format!("{text}version"))?;
        Ok(out)
    }

    /// What one of its functions computes.
    ///
    /// # Errors
    /// If it does not answer by numbers.
    pub(crate) fn values(&mut self, function: &str) -> Result<Vec<f64>, SuiteFailure> {
        let answer = self.answer(&format!("values {function};"))?;
        Ok(answer.split_whitespace().map(str::parse).collect::<Result<_, _>>()?)
    }

    /// Seconds that so many calls take.
    ///
    /// # Errors
    /// If it does not answer by a number.
    pub(crate) fn seconds(&mut self, function: &str, calls: usize) -> Result<f64, SuiteFailure> {
        Ok(self.answer(&format!("time {function}; {calls}"))?.parse()?)
    }

    fn answer(&mut self, request: &str) -> Result<String, SuiteFailure> {
        let mut line = String::new();
        writeln!(self.requests, "{request}").and_then(|()| self.requests.flush())?;
        self.answers.read_line(&mut line)?;
        Ok(line.trim().to_string())
    }
}

impl Drop for PinocchioRobot {
    fn drop(&mut self) {
        // it has nothing to save
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
