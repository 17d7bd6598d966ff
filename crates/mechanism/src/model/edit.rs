//! Changes of a model: a new model in which only the touched part is planned again, with maps for ids and states.
//!
//! An edit uses *extended* ids: those of the old model, followed by those of its additions. Bodies and joints that
//! remain keep their order; additions come last. Removing a body removes the joints, springs, ropes and gears on it.

use sinew_topology::{ConstraintId, Graph, GraphEdit, NONE, VariableId, replan};

use crate::model::{
    Checked, ModelSprings, Moves, Records, TransmissionModel, WORLD, endpoints, label, lay_out, n_rows,
};
use crate::{BodyId, BodyKind, BodySpec, JointId, JointSpec, MechanismError, Model, PointSpringSpec, State};

/// Additions and removals, for [`Model::edited`].
#[derive(Clone, Debug, Default)]
pub struct ModelEdit {
    /// Size of the model it was made for: an edit of another one is refused.
    n_bodies: usize,
    n_joints: usize,
    removed_bodies: Vec<BodyId>,
    removed_joints: Vec<JointId>,
    /// Additions; their ids follow those of the old model.
    bodies: Vec<BodySpec>,
    joints: Vec<JointSpec>,
    springs: Vec<PointSpringSpec>,
}

impl ModelEdit {
    /// No changes yet to `model`.
    pub fn new(model: &Model) -> Self {
        Self { n_bodies: model.n_bodies(), n_joints: model.n_joints(), ..Self::default() }
    }

    /// Removes a body with its joints and springs.
    pub fn remove_body(&mut self, body: BodyId) {
        self.removed_bodies.push(body);
    }

    /// Removes a joint with the springs across it.
    pub fn remove_joint(&mut self, joint: JointId) {
        self.removed_joints.push(joint);
    }

    /// Adds a body; the id is an extended one.
    pub fn add_body(&mut self, spec: BodySpec) -> BodyId {
        self.bodies.push(spec);
        BodyId::from_index(self.n_bodies + self.bodies.len() - 1)
    }

    /// Adds a joint between old or added bodies; the id is an extended one.
    pub fn add_joint(&mut self, spec: JointSpec) -> JointId {
        self.joints.push(spec);
        JointId::from_index(self.n_joints + self.joints.len() - 1)
    }

    /// Adds a spring between points of old or added bodies.
    pub fn add_spring(&mut self, spec: PointSpringSpec) {
        self.springs.push(spec);
    }

    /// Every body that an addition names must be there after the edit.
    fn check_references(&self, bodies: &[u32]) -> Checked {
        let check = |what: String, body: BodyId| match bodies.get(body.index()) {
            Some(&new) if new != NONE => Ok(()),
            _ => {
                let (index, count) = (body.index(), bodies.len());
                Err(MechanismError::UnknownId { what, kind: "body", index, count })
            }
        };
        for (i, joint) in self.joints.iter().enumerate() {
            let what = || format!("joint `{}` of the edit", label(self.n_joints + i, &joint.name));
            std::iter::once(joint.child).chain(joint.parent).try_for_each(|body| check(what(), body))?;
        }
        for (i, spring) in self.springs.iter().enumerate() {
            let what = || format!("spring {i} of the edit");
            std::iter::once(spring.body1).chain(spring.body2).try_for_each(|body| check(what(), body))?;
        }
        Ok(())
    }
}

/// An edited model, and where everything went.
#[derive(Clone, Debug)]
pub struct Edited {
    /// The new model.
    pub model: Model,
    /// Number of bodies that had to be planned again: those of the touched islands.
    pub n_replanned: usize,
    /// New index of every extended id, `NONE` if removed.
    bodies: Vec<u32>,
    joints: Vec<u32>,
}

impl Edited {
    /// New id of a body of the old model or of the edit; `None` if it was removed.
    pub fn body(&self, extended: BodyId) -> Option<BodyId> {
        let new = *self.bodies.get(extended.index())?;
        (new != NONE).then(|| BodyId::from_index(new as usize))
    }

    /// New id of a joint of the old model or of the edit; `None` if it was removed.
    pub fn joint(&self, extended: JointId) -> Option<JointId> {
        let new = *self.joints.get(extended.index())?;
        (new != NONE).then(|| JointId::from_index(new as usize))
    }

    /// A state of the old model for the new one: survivors as they are, additions as their specs say; see [`Model::carry_state`].
    pub fn carry_state(&self, before: (&Model, &State)) -> State {
        let (model, _) = before;
        let moves =
            Moves { bodies: &self.bodies[..model.n_bodies()], joints: &self.joints[..model.n_joints()] };
        self.model.carry_state(&self.model.initial_state(), before, moves)
    }
}

impl Model {
    /// A new model with the edit applied; this one stays as it is.
    ///
    /// # Errors
    /// The first fault of the additions or of the resulting mechanism, naming its culprit.
    pub fn edited(&self, edit: &ModelEdit) -> Result<Edited, MechanismError> {
        if (edit.n_bodies, edit.n_joints) != (self.n_bodies(), self.n_joints()) {
            return Err(MechanismError::ForeignEdit { bodies: edit.n_bodies, joints: edit.n_joints });
        }
        let (bodies, joints) = self.survivors(edit)?;
        edit.check_references(&bodies)?;
        let mut records = self.surviving_records(&bodies, &joints);
        let moved = |id: BodyId| BodyId::from_index(bodies[id.index()] as usize);
        let mut new_joints = edit.joints.clone();
        for joint in &mut new_joints {
            joint.child = moved(joint.child);
            joint.parent = joint.parent.map(moved);
        }
        let mut new_springs = edit.springs.clone();
        for spring in &mut new_springs {
            spring.body1 = moved(spring.body1);
            spring.body2 = spring.body2.map(moved);
        }
        records.add(&edit.bodies, &new_joints, &new_springs)?;
        let names = records.take_names()?;

        // Only islands that the edit touches are planned again.
        let graph_edit = self.graph_edit(edit, &joints)?;
        let replanned = replan(&self.structure.plan, &self.structure.graph, &graph_edit)
            // Only messages need the names of the graph.
            .or_else(|_| replan(&self.structure.plan, &self.named_graph(), &graph_edit))?;
        let structure = records.structure((replanned.graph, replanned.plan));
        let model = lay_out(records, names, structure)?;
        Ok(Edited { model, n_replanned: replanned.n_replanned, bodies, joints })
    }

    /// New indices of all extended ids, `NONE` for what is removed.
    fn survivors(&self, edit: &ModelEdit) -> Result<(Vec<u32>, Vec<u32>), MechanismError> {
        let mut bodies = vec![0; self.bodies.len() + edit.bodies.len()];
        let mut joints = vec![0; self.joints.len() + edit.joints.len()];
        remove("body", &mut bodies[..self.bodies.len()], edit.removed_bodies.iter().map(|id| id.index()))?;
        remove("joint", &mut joints[..self.joints.len()], edit.removed_joints.iter().map(|id| id.index()))?;
        for (new, joint) in joints.iter_mut().zip(&self.joints) {
            let gone = |body: u32| body != WORLD && bodies[body as usize] == NONE;
            if gone(joint.body1) || gone(joint.body2) {
                *new = NONE;
            }
        }
        number(&mut bodies);
        number(&mut joints);
        Ok((bodies, joints))
    }

    /// The records of what stays, with new body numbers. Springs keep the order in which the tables hold them.
    fn surviving_records(&self, bodies: &[u32], joints: &[u32]) -> Records {
        let mut records = Records { forces: self.forces.clone(), ..Records::default() };
        let moved = |body: u32| {
            if body == WORLD { Some(WORLD) } else { Some(bodies[body as usize]).filter(|b| *b != NONE) }
        };
        for (index, body) in self.bodies.iter().enumerate() {
            if bodies[index] != NONE {
                records.bodies.push(body.clone());
                records.body_names.push(self.body_name(BodyId::from_index(index)).into());
                records.poses.push(self.initial.poses[index]);
                records.motions.push(self.initial.motions[index]);
            }
        }
        for (index, joint) in self.joints.iter().enumerate() {
            if let (true, Some(body1), Some(body2)) =
                (joints[index] != NONE, moved(joint.body1), moved(joint.body2))
            {
                let mut joint = joint.clone();
                (joint.body1, joint.body2) = (body1, body2);
                records.joints.push(joint);
                records.joint_names.push(self.joint_name(JointId::from_index(index)).into());
            }
        }
        let moved_joint = |joint: u32| Some(joints[joint as usize]).filter(|j| *j != NONE);
        let survivor = |transmission: &TransmissionModel| {
            let quantity = transmission.quantity.renumbered(moved, moved_joint)?;
            Some(TransmissionModel { quantity, ..transmission.clone() })
        };
        let ModelSprings { across_joints, to_ground, in_loops, transmissions } = &self.springs;
        for (index, transmission) in transmissions.iter().enumerate() {
            if let Some(transmission) = survivor(transmission) {
                records.transmissions.push(transmission);
                records.transmission_names.push(self.names.transmissions.get(index).into());
            }
        }
        for spring in to_ground.iter().chain(across_joints).chain(in_loops.iter().map(|s| &s.spring)) {
            if let (Some(body1), Some(body2)) = (moved(spring.body1), moved(spring.body2)) {
                let mut spring = *spring;
                (spring.body1, spring.body2) = (body1, body2);
                records.springs.push(spring);
            }
        }
        records
    }

    /// The graph with the names of bodies and joints.
    fn named_graph(&self) -> Graph {
        let body = |variable: VariableId| self.structure.body_of_variable[variable.index()] as usize;
        self.structure.graph.clone().with_names(
            |variable| self.body_name(BodyId::from_index(body(variable))),
            |constraint| self.joint_name(JointId::from_index(constraint.index())),
        )
    }

    /// The same edit in terms of variables and constraints.
    fn graph_edit(&self, edit: &ModelEdit, joints: &[u32]) -> Result<GraphEdit, MechanismError> {
        let mut graph_edit = GraphEdit::new(&self.structure.graph);
        let mut variables: Vec<Option<VariableId>> = vec![None; self.bodies.len() + edit.bodies.len()];
        for (variable, body) in self.structure.body_of_variable.iter().enumerate() {
            variables[*body as usize] = Some(VariableId::new(variable));
        }
        for (index, body) in edit.bodies.iter().enumerate() {
            if body.kind == BodyKind::Dynamic {
                let id = graph_edit.add_variable(6);
                if !body.name.is_empty() {
                    graph_edit.name_variable(id, &*body.name);
                }
                variables[self.bodies.len() + index] = Some(id);
            }
        }
        for (index, joint) in edit.joints.iter().enumerate() {
            let ends = endpoints(self.joints.len() + index, joint, |body| variables[body.index()])?;
            let id = graph_edit.add_constraint(n_rows(joint), ends, joint.graph_priority());
            if !joint.name.is_empty() {
                graph_edit.name_constraint(id, &*joint.name);
            }
        }
        for (index, new) in joints.iter().enumerate() {
            if *new == NONE {
                graph_edit.remove_constraint(ConstraintId::new(index));
            }
        }
        for id in &edit.removed_bodies {
            if let Some(variable) = variables[id.index()] {
                graph_edit.remove_variable(variable);
            }
        }
        Ok(graph_edit)
    }
}

/// Marks what an edit removes.
fn remove(kind: &'static str, ids: &mut [u32], mut removed: impl Iterator<Item = usize>) -> Checked {
    let count = ids.len();
    removed.try_for_each(|index| {
        let unknown = || MechanismError::UnknownId { what: "the edit".into(), kind, index, count };
        *ids.get_mut(index).ok_or_else(unknown)? = NONE;
        Ok(())
    })
}

/// Replaces everything that is not `NONE` by its rank.
fn number(ids: &mut [u32]) {
    for (rank, id) in ids.iter_mut().filter(|id| **id != NONE).enumerate() {
        *id = rank as u32;
    }
}
