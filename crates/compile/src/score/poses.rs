//! Poses of a score: coordinates of named joints, bones that reach places, and loops that are closed by the other joints.

use glam::DVec3;
use sinew_control::{Aim, Facing, Goal, PointTarget, PoseReport, PoseSettings, find_pose};
use sinew_math::exp_so3;
use sinew_mechanism::JointKind;
use sinew_recursive::{Dynamics, HybridCommand, JointMode, LinkId, LoopDynamics, TreeState};
use sinew_scene::ReachDoc;

use super::{ScoreCompiler, fault, refused};
use crate::error::BuildError;

/// Error of a joint that counts as closed in a pose, m or rad.
const CLOSED: f64 = 1e-9;

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

    /// Closes the loops by the joints that a pose does not name. If it names too many, all give way.
    pub(super) fn close(
        &self,
        named: impl Iterator<Item = LinkId>,
        path: &str,
        coordinates: &mut Vec<f64>,
    ) -> Result<(), BuildError> {
        let mut held = HybridCommand::passive(self.tree);
        named.for_each(|link| held.modes[link.index()] = JointMode::Prescribed);
        if self.closed(&held, coordinates).is_ok() {
            return Ok(());
        }
        let open = self.closed(&HybridCommand::passive(self.tree), coordinates);
        open.map_err(|message| refused(path, message))
    }

    /// Closes the loops and keeps the joints that `held` prescribes; tells what stays open.
    fn closed(&self, held: &HybridCommand, coordinates: &mut Vec<f64>) -> Result<(), String> {
        let mut state = TreeState { coordinates: coordinates.clone(), rates: vec![0.0; self.tree.n_dofs()] };
        let (mut dynamics, mut loops) = (Dynamics::new(self.tree), LoopDynamics::new(self.looped));
        let open = loops.project_coordinates(self.looped, &mut dynamics, held, &mut state);
        if open > CLOSED {
            let joint = loops.worst(self.looped).map(|(joint, _)| self.model.joint_name(joint));
            let joint = joint.unwrap_or_default();
            return Err(format!(
                "the pose leaves joint `{joint}` open by {open:.3} m or rad; name fewer joints, or others"
            ));
        }
        *coordinates = state.coordinates;
        Ok(())
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
            self.close(std::iter::empty(), path, coordinates)?;
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
