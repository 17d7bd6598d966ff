//! Makes a scene that fails smaller, as long as it fails in the same way: inputs, springs, forces, joints, bodies, time.
//!
//! One pass tries every removal once, from the back; passes repeat until none helps or the trials are used up.

use sinew_scene::{BodyKindDoc, JointDoc, MassDoc, SceneDoc};

use crate::mobility::is_frozen;
use crate::trial::{SoakFault, Trial};

/// A smaller scene with the same fault, after at most `trials` runs.
pub fn shrink(scene: &SceneDoc, fault: SoakFault, trials: usize) -> SceneDoc {
    let mut shrinker = Shrinker { best: scene.clone(), fault, worst: 0.0, left: trials };
    shrinker.shorten();
    while shrinker.pass() {}
    shrinker.best
}

struct Shrinker {
    best: SceneDoc,
    fault: SoakFault,
    /// How bad it must stay at least.
    worst: f64,
    left: usize,
}

impl Shrinker {
    /// Takes a candidate if it fails in the same way.
    fn take(&mut self, candidate: SceneDoc) -> bool {
        if self.left == 0 || candidate == self.best {
            return false;
        }
        self.left -= 1;
        let fails = match self.fault {
            SoakFault::Frozen => is_frozen(&candidate).is_ok_and(|share| share.is_some()),
            fault => Trial::run(&candidate, &mut |_, _, _| {})
                .is_ok_and(|trial| trial.worst(fault).is_some_and(|w| w >= self.worst)),
        };
        if fails {
            self.best = candidate;
        }
        fails
    }

    /// Ends soon after the fault. Tracks stay as they are.
    fn shorten(&mut self) {
        let Ok(trial) = Trial::run(&self.best, &mut |_, _, _| {}) else { return };
        let Some(finding) = trial.findings.iter().find(|found| found.fault == self.fault) else { return };
        self.worst = 0.3 * finding.worst;
        let mut candidate = self.best.clone();
        candidate.duration_s = finding.time + 1.0;
        self.take(candidate);
    }

    fn pass(&mut self) -> bool {
        let before = self.best.clone();
        for k in (0..self.best.inputs.len()).rev() {
            let mut candidate = self.best.clone();
            candidate.inputs.remove(k);
            self.take(candidate);
        }
        for k in (0..self.best.springs.len()).rev() {
            let mut candidate = self.best.clone();
            candidate.springs.remove(k);
            self.take(candidate);
        }
        self.remove_bodies();
        for k in (0..self.best.joints.len()).rev() {
            let mut candidate = self.best.clone();
            candidate.joints.remove(k);
            self.take(candidate);
        }
        self.strip_joints();
        self.even_masses();
        self.left > 0 && self.best != before
    }

    /// Bodies with all that hangs on them.
    fn remove_bodies(&mut self) {
        for k in (0..self.best.bodies.len()).rev() {
            let Some(body) = self.best.bodies.get(k) else { continue };
            let (name, mut candidate) = (body.name.clone(), self.best.clone());
            candidate.bodies.remove(k);
            candidate.joints.retain(|joint| joint.child != name && joint.parent.as_ref() != Some(&name));
            self.take(candidate);
        }
    }

    fn strip_joints(&mut self) {
        let removals: [fn(&mut JointDoc); 7] = [
            |joint| joint.spring = None,
            |joint| joint.limits = None,
            |joint| joint.cone_limit = None,
            |joint| joint.motor = None,
            |joint| joint.friction = 0.0,
            |joint| joint.armature = 0.0,
            |joint| joint.damping = 0.0,
        ];
        for k in 0..self.best.joints.len() {
            for remove in removals {
                let mut candidate = self.best.clone();
                remove(&mut candidate.joints[k]);
                self.take(candidate);
            }
        }
    }

    fn even_masses(&mut self) {
        for k in 0..self.best.bodies.len() {
            if self.best.bodies[k].kind == BodyKindDoc::Dynamic {
                let mut candidate = self.best.clone();
                candidate.bodies[k].mass = MassDoc::Total(1.0);
                self.take(candidate);
            }
        }
    }
}
