//! Poses of a score: coordinates of named joints, bones that reach places, and loops that are closed by the other joints.

use glam::DVec3;
use sinew_control::{Aim, Facing, Goal, Key, MotionClip, PointTarget, PoseReport, PoseSettings, find_pose};
use sinew_math::exp_so3;
use sinew_mechanism::JointKind;
use sinew_recursive::{Dynamics, LinkId, TreeState};
use sinew_scene::ReachDoc;

use super::march::March;
use super::{ScoreCompiler, fault, refused};
use crate::error::BuildError;

/// How far from its place a named joint has given way, rad or m.
const GIVES_WAY: f64 = 1e-6;

/// Searches of a pose on loops at most.
const MOST_SEARCHES: usize = 100;

impl ScoreCompiler<'_> {
    /// Writes the named joints of a pose into coordinates.
    pub(super) fn put(
        &self,
        joints: &[(String, Vec<f64>)],
        path: &str,
        coordinates: &mut [f64],
    ) -> Result<(), BuildError> {
        for (k, (name, values)) in joints.iter().enumerate() {
            let field = format!("{path}[{k}]");
            let link = self.joint(name, &field)?;
            let out = &mut coordinates[self.tree.coordinates(link)];
            let is_rotation = matches!(self.tree.joint_kind(link), JointKind::Ball);
            if is_rotation && values.len() == 3 {
                let turn = exp_so3(DVec3::new(values[0], values[1], values[2]));
                out.copy_from_slice(&[turn.w, turn.x, turn.y, turn.z]);
            } else if values.len() == out.len() {
                out.copy_from_slice(values);
            } else {
                let message = format!("`{name}` needs {} coordinates, not {}", out.len(), values.len());
                return Err(refused(field, message));
            }
        }
        Ok(())
    }

    /// Whether actuators on loops follow when these joints lead.
    pub(super) fn follow(&self, leading: &[LinkId]) -> bool {
        let is_led = |link: &LinkId| self.looped.is_tied(*link) && self.actuation.is_active(*link);
        !leading.is_empty() && self.tree.links().filter(is_led).any(|link| !leading.contains(&link))
    }

    /// Keys with others between them, so that actuators that follow stay on the loops: joints that lead are on the curve, and the others where the loops have them.
    pub(super) fn between(&self, curve: &MotionClip, keys: &[Key], leading: &[Vec<LinkId>]) -> Vec<Key> {
        let mut all = vec![keys[0].clone()];
        for (ends, named) in keys.windows(2).zip(&leading[1..]) {
            let (from, to) = (&ends[0], &ends[1]);
            let mut march = March::new(self.looped, named);
            let mut pose = from.coordinates.clone();
            let n = if self.follow(named) { march.n_parts(&pose, &to.coordinates) } else { 1 };
            for k in 1..n {
                let time = from.time + (to.time - from.time) * k as f64 / n as f64;
                let mut coordinates = pose.clone();
                curve.place(self.tree, time, &mut coordinates);
                if march.lead(&mut pose, &coordinates) > GIVES_WAY {
                    break;
                }
                for range in
                    self.tree.links().filter(|l| self.looped.is_tied(*l)).map(|l| self.tree.coordinates(l))
                {
                    coordinates[range.clone()].copy_from_slice(&pose[range]);
                }
                all.push(Key { time, coordinates });
            }
            all.push(to.clone());
        }
        all
    }

    /// Leads the loops from a pose before to where the named joints are in `coordinates`. If these contradict each other, all give way: the one that is furthest from its place is
    /// returned.
    pub(super) fn lead(
        &self,
        before: &[f64],
        on_loops: &[LinkId],
        path: &str,
        coordinates: &mut Vec<f64>,
    ) -> Result<Option<LinkId>, BuildError> {
        if self.looped.n_rows() == 0 {
            return Ok(None);
        }
        let mut march = March::new(self.looped, on_loops);
        let mut pose = coordinates.clone();
        for range in self.tree.links().filter(|l| self.looped.is_tied(*l)).map(|l| self.tree.coordinates(l)) {
            pose[range.clone()].copy_from_slice(&before[range]);
        }
        let Some(mut pose) = march.closed(&pose, false) else {
            return Err(self.refused_open(&march, path));
        };
        let left = march.lead(&mut pose, coordinates);
        let each = march.left(&pose, coordinates);
        *coordinates = pose;
        if left < GIVES_WAY {
            return Ok(None);
        }
        let lack = |link: LinkId| self.tree.dofs(link).map(|dof| each[dof].abs()).fold(0.0, f64::max);
        let worst = on_loops.iter().copied().max_by(|a, b| lack(*a).total_cmp(&lack(*b)));
        match (worst.and_then(|link| self.tree.joint(link)), on_loops) {
            (Some(joint), [_]) => {
                let name = self.model.joint_name(joint);
                let message = format!(
                    "joint `{name}` stays {left:.3} rad or m short of its place: the loop that it is in lets it go no further on the way from the pose before"
                );
                Err(refused(path, message))
            }
            _ => Ok(worst),
        }
    }

    /// Closes the loops by the least change.
    fn close(&self, path: &str, coordinates: &mut Vec<f64>) -> Result<(), BuildError> {
        let mut march = March::new(self.looped, &[]);
        *coordinates = march.closed(coordinates, false).ok_or_else(|| self.refused_open(&march, path))?;
        Ok(())
    }

    fn refused_open(&self, march: &March<'_>, path: &str) -> BuildError {
        let (joint, open) = match march.worst() {
            Some((joint, open)) => (self.model.joint_name(joint), open),
            None => ("", f64::NAN),
        };
        let message = format!(
            "the pose leaves joint `{joint}` open by {open:.3} m or rad; name fewer joints, or others"
        );
        refused(path, message)
    }

    /// Moves joints until bones are at their targets, which are given in the frame of the root bone.
    pub(super) fn reach(
        &self,
        wanted: &[ReachDoc],
        path: &str,
        coordinates: &mut Vec<f64>,
    ) -> Result<(), BuildError> {
        let goals = self.goals_of(wanted, path, coordinates)?;
        let mut found = self.search(&goals, path, coordinates)?;
        // Loops and goals by turns, each time by the least change.
        for _ in 0..if self.looped.n_rows() > 0 { MOST_SEARCHES } else { 0 } {
            self.close(path, coordinates)?;
            found = self.search(&goals, path, coordinates)?;
            if found.iterations == 0 {
                break;
            }
        }
        if found.converged {
            return Ok(());
        }
        let worst = found.residuals.iter().copied().fold(0.0, f64::max);
        let message =
            format!("the pose is out of reach by {worst:.3} m or rad within the limits of the joints");
        Err(refused(path, message))
    }

    /// Moves joints of the open tree towards goals.
    fn search(
        &self,
        goals: &[Goal],
        path: &str,
        coordinates: &mut Vec<f64>,
    ) -> Result<PoseReport, BuildError> {
        let mut state = TreeState { coordinates: coordinates.clone(), rates: vec![0.0; self.tree.n_dofs()] };
        let floats = self.tree.links().any(|link| self.tree.joint(link).is_none());
        let move_passive = self.looped.n_rows() > 0 && !floats;
        let settings = PoseSettings { move_passive, ..PoseSettings::default() };
        let found = find_pose(self.tree, &self.actuation, goals, &settings, &mut state);
        *coordinates = state.coordinates;
        found.map_err(fault(path))
    }

    /// The goals of bones, whose root is where the coordinates say.
    fn goals_of(
        &self,
        wanted: &[ReachDoc],
        path: &str,
        coordinates: &[f64],
    ) -> Result<Vec<Goal>, BuildError> {
        let state = TreeState { coordinates: coordinates.to_vec(), rates: vec![0.0; self.tree.n_dofs()] };
        let mut dynamics = Dynamics::new(self.tree);
        dynamics.kinematics(self.tree, &state);
        let mut goals = Vec::new();
        for (r, doc) in wanted.iter().enumerate() {
            let bone = self.bone(&doc.bone, &format!("{path}[{r}].bone"))?;
            goals.extend(self.reach_goals(doc, bone, &mut dynamics));
        }
        Ok(goals)
    }

    /// Position and orientation of a bone as goals in the world.
    fn reach_goals(&self, doc: &ReachDoc, bone: LinkId, dynamics: &mut Dynamics) -> Vec<Goal> {
        let mut root = bone;
        while let Some(parent) = self.tree.parent(root) {
            root = parent;
        }
        let world_from_root = dynamics.body_pose(self.tree, root);
        let position = doc.position.map(|position| {
            Goal::drag(bone, doc.point, PointTarget::At(world_from_root.transform_point(position)))
        });
        let rotation = doc.rotation.as_ref().map(|rotation| {
            let turn = world_from_root.rotation * rotation.to_quat();
            Goal::hold(bone, Aim::Orientation(Facing::At(turn)))
        });
        position.into_iter().chain(rotation).collect()
    }
}
