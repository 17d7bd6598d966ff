//! Piles of boxes in MuJoCo, by a small program in Python that makes a step for every line it reads (`benches/peers/mujoco_pile.py`).
//!
//! Its own clock tells the time of its steps, so that neither the pipe nor Python counts.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use glam::{DQuat, DVec3};
use serde_json::{Value, json};
use sinew_math::Pose;
use sinew_mechanism::Settings;
use sinew_soak::{DENSITY, FRICTION, PileParts, PileRun, PileWorld};

use crate::SuiteFailure;

const PROGRAM: &str = include_str!("../peers/mujoco_pile.py");

/// A pile in another process.
pub(crate) struct MujocoPile {
    child: Child,
    requests: ChildStdin,
    answers: BufReader<ChildStdout>,
    /// The last answer; null once there is none.
    state: Value,
    /// Times of all steps, s.
    times: Vec<f64>,
}

impl MujocoPile {
    /// Boxes above the ground, and their joints.
    ///
    /// # Errors
    /// If there is no `python3`, or no `mujoco` in it.
    pub(crate) fn start(parts: &PileParts) -> Result<Self, SuiteFailure> {
        Self::asked(&described(parts))
    }

    /// Seconds that one thread needs for `steps` steps of every state, in which the first box is at a root.
    ///
    /// # Errors
    /// As [`MujocoPile::start`].
    pub(crate) fn rollout(parts: &PileParts, roots: &[Pose], steps: u32) -> Result<f64, SuiteFailure> {
        let mut request = described(parts);
        let roots: Value = roots.iter().map(numbers).collect();
        request["rollout"] = json!({ "roots": roots, "steps": steps });
        let pile = Self::asked(&request)?;
        Ok(pile.state["seconds"].as_f64().ok_or("MuJoCo told no time")?)
    }

    fn asked(request: &Value) -> Result<Self, SuiteFailure> {
        let mut child = Command::new("python3")
            .args(["-c", PROGRAM])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("cannot start python3: {error}"))?;
        let pipes = child.stdin.take().zip(child.stdout.take());
        let (requests, answers) = pipes.ok_or("python3 has no pipes")?;
        let mut pile =
            Self { child, requests, answers: BufReader::new(answers), state: Value::Null, times: vec![] };
        pile.ask(request);
        if pile.state.is_null() {
            return Err("MuJoCo does not run; `pip install mujoco` adds it to python3".into());
        }
        Ok(pile)
    }

    /// Sends a line and keeps the answer.
    fn ask(&mut self, request: &Value) {
        let mut line = String::new();
        let sent = writeln!(self.requests, "{request}").and_then(|()| self.requests.flush());
        let is_read = sent.is_ok() && self.answers.read_line(&mut line).is_ok();
        self.state = is_read.then(|| serde_json::from_str(&line).ok()).flatten().unwrap_or(Value::Null);
    }

    /// What was seen, with the times of the steps alone.
    ///
    /// # Errors
    /// If it stopped before.
    pub(crate) fn finish(mut self, run: PileRun) -> Result<PileRun, SuiteFailure> {
        if self.state.is_null() {
            return Err("MuJoCo stopped before the end".into());
        }
        drop(self.requests);
        let _ = self.child.wait();
        let mean = |times: &[f64]| times.iter().sum::<f64>() / times.len().max(1) as f64;
        let at_rest = self.times.len().saturating_sub((1.0 / Settings::default().dt) as usize);
        Ok(PileRun {
            mean_time: mean(&self.times),
            mean_time_at_rest: if run.drift.is_nan() { f64::NAN } else { mean(&self.times[at_rest..]) },
            longest_time: self.times.iter().copied().fold(0.0, f64::max),
            ..run
        })
    }
}

fn numbers(pose: &Pose) -> Value {
    let (p, q) = (pose.translation, pose.rotation);
    json!([p.x, p.y, p.z, q.w, q.x, q.y, q.z])
}

/// Boxes in the frames of their parents, with their joints.
fn described(parts: &PileParts) -> Value {
    let mut boxes: Vec<Value> = parts
        .boxes
        .iter()
        .map(|it| json!({ "parent": -1, "pose": numbers(&it.pose), "half": it.half.to_array() }))
        .collect();
    for joint in &parts.joints {
        let [parent, child] = [joint.parent, joint.child].map(|i| parts.boxes[i].pose);
        let local = child.inverse();
        boxes[joint.child]["parent"] = json!(joint.parent);
        boxes[joint.child]["pose"] = numbers(&parent.inverse().compose(&child));
        boxes[joint.child]["anchor"] = json!(local.transform_point(joint.anchor).to_array());
        boxes[joint.child]["axis"] = json!(joint.axis.map(|axis| (local.rotation * axis).to_array()));
    }
    let settings = Settings::default();
    json!({
        "density": DENSITY, "friction": FRICTION, "dt": settings.dt, "gravity": settings.gravity.to_array(), "boxes": boxes,
    })
}

impl PileWorld for MujocoPile {
    fn step(&mut self) {
        self.ask(&json!(1));
        self.times.push(self.state["seconds"].as_f64().unwrap_or(0.0));
    }

    fn poses(&self) -> Vec<Pose> {
        let pose = |numbers: &Value| {
            let n: [f64; 7] = std::array::from_fn(|i| numbers[i].as_f64().unwrap_or(0.0));
            Pose::new(DQuat::from_xyzw(n[4], n[5], n[6], n[3]), DVec3::new(n[0], n[1], n[2]))
        };
        self.state["poses"].as_array().map_or(vec![], |poses| poses.iter().map(pose).collect())
    }

    fn energy(&self) -> f64 {
        self.state["energy"].as_f64().unwrap_or(0.0)
    }

    fn speed(&self) -> f64 {
        self.state["speed"].as_f64().unwrap_or(0.0)
    }
}
