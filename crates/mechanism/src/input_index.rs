//! An input as a step reads it: what it says of one joint or body is found without a search.
//!
//! The tables are filled once per step and part of a step. Where entries name the same thing, the first that a step takes counts.
//! Cost: linear in the entries, and in the joints or bodies if there is an entry about any; no allocation once warm.

use std::ops::Deref;

use sinew_math::DriveCoordinate;
use sinew_topology::NONE;

use crate::input::{Input, Servo, is_finite, takes_release, takes_servo};
use crate::{Drive, JointId, Model, State};

/// Tables of an [`Input`]. Each is empty if the input has no entry for it.
#[derive(Clone, Debug, Default)]
pub(crate) struct InputIndex {
    /// Per joint: places of the values of twist and slide among the drives, or `NONE`.
    drives: Vec<[u32; 2]>,
    /// Per joint: range of its laws among the servos.
    servos: Vec<[u32; 2]>,
    /// Per joint: whether it is let go, or broken.
    released: Vec<bool>,
    /// Per body: whether a wrench or a grab acts on it, and whether a hard grab holds it.
    touched: Vec<bool>,
    held: Vec<bool>,
}

/// An input with its tables.
#[derive(Clone, Copy)]
pub(crate) struct StepInput<'a> {
    given: &'a Input,
    index: &'a InputIndex,
}

impl InputIndex {
    /// Fills the tables from the input of a step of a model that begins at a state.
    pub(crate) fn fill(&mut self, model: &Model, state: &State, input: &Input) {
        let touched = || {
            let wrenches = input.wrenches.iter().map(|(body, _)| body.index());
            wrenches.chain(input.grabs.iter().map(|grab| grab.body.index()))
        };
        reset(&mut self.touched, touched().next().map(|_| model.bodies.len()), false);
        for body in touched().filter(|&body| body < model.bodies.len()) {
            self.touched[body] = true;
        }
        let hard = || input.hard_grabs(model).map(|grab| grab.body.index());
        reset(&mut self.held, hard().next().map(|_| model.bodies.len()), false);
        hard().for_each(|body| self.held[body] = true);

        let gone = || {
            let released = input.released.iter().filter(|joint| takes_release(model, joint.index()));
            let may_break =
                |joint: &&JointId| model.joints.get(joint.index()).is_some_and(|j| j.breaks_at.is_some());
            released.chain(state.broken.iter().filter(may_break))
        };
        reset(&mut self.released, gone().next().map(|_| model.joints.len()), false);
        gone().for_each(|joint| self.released[joint.index()] = true);

        reset(&mut self.servos, input.servos.first().map(|_| model.joints.len()), [0; 2]);
        for (place, entry) in input.servos.iter().enumerate() {
            if takes_servo(model, entry) {
                let range = &mut self.servos[entry.0.index()];
                let first = if range[0] == range[1] { place as u32 } else { range[0] };
                *range = [first, place as u32 + 1];
            }
        }

        reset(&mut self.drives, input.drives.first().map(|_| model.joints.len()), [NONE; 2]);
        // The first entry is written last.
        for (place, (joint, drive)) in input.drives.iter().enumerate().rev() {
            if let (Some(places), true) = (self.drives.get_mut(joint.index()), is_finite(drive)) {
                places[drive.coordinate as usize] = place as u32;
            }
        }
    }
}

/// Gives a table a length, or none, and one value.
fn reset<T: Clone>(table: &mut Vec<T>, length: Option<usize>, value: T) {
    table.clear();
    table.resize(length.unwrap_or(0), value);
}

/// Nothing is known of single joints and bodies.
static NO_TABLES: InputIndex = InputIndex {
    drives: Vec::new(),
    servos: Vec::new(),
    released: Vec::new(),
    touched: Vec::new(),
    held: Vec::new(),
};

impl<'a> StepInput<'a> {
    /// An input with the tables that were filled from it.
    pub(crate) fn new(given: &'a Input, index: &'a InputIndex) -> Self {
        Self { given, index }
    }

    /// An input for those who ask for its forces only.
    pub(crate) fn of_forces(given: &'a Input) -> Self {
        Self { given, index: &NO_TABLES }
    }

    /// The value given to a driven coordinate.
    pub(crate) fn drive(&self, joint: JointId, coordinate: DriveCoordinate) -> Option<&'a Drive> {
        let place = self.index.drives.get(joint.index())?[coordinate as usize];
        self.given.drives.get(place as usize).map(|(_, drive)| drive)
    }

    /// The laws given to an actuated joint; none if it is passive.
    pub(crate) fn servos(&self, joint: u32) -> &'a [(JointId, Servo)] {
        let [first, end] = self.index.servos.get(joint as usize).copied().unwrap_or([0; 2]);
        &self.given.servos[first as usize..end as usize]
    }

    /// Whether wrenches or grabs act on one of some bodies.
    pub(crate) fn touches_one(&self, bodies: &[u32]) -> bool {
        !self.index.touched.is_empty() && bodies.iter().any(|&body| self.touches(body))
    }

    /// Whether wrenches or grabs act on a body.
    pub(crate) fn touches(&self, body: u32) -> bool {
        self.index.touched.get(body as usize).copied().unwrap_or(false)
    }

    /// Whether a hard grab holds a body.
    pub(crate) fn holds(&self, body: u32) -> bool {
        self.index.held.get(body as usize).copied().unwrap_or(false)
    }

    /// Whether a joint is let go, or broken: it holds nothing.
    pub(crate) fn releases(&self, joint: u32) -> bool {
        self.index.released.get(joint as usize).copied().unwrap_or(false)
    }
}

impl Deref for StepInput<'_> {
    type Target = Input;

    fn deref(&self) -> &Input {
        self.given
    }
}

#[cfg(test)]
mod tests {
    use glam::DVec3;
    use sinew_math::{DriveCoordinate, MassProperties, Pose};

    use super::{InputIndex, StepInput};
    use sinew_topology::Priority;

    use crate::input::{Input, is_finite, takes_release};
    use crate::{
        BodyId, BodySpec, Drive, Grab, JointFrames, JointId, JointKind, JointSpec, MechanismBuilder, Model,
    };

    const N: usize = 12;

    /// Bodies on driven joints and on joints that may be let go, by turns; one body in four is not dynamic.
    fn model() -> Model {
        let mut builder = MechanismBuilder::new();
        let origin = Pose::IDENTITY;
        let frames = JointFrames::coincident(&origin, &origin, &origin);
        for i in 0..N {
            let mass = MassProperties::sphere(0.1, 1000.0);
            let body = builder.add_body(BodySpec::dynamic("", Pose::IDENTITY, mass));
            if i % 4 == 3 {
                builder.add_body(BodySpec::kinematic("", Pose::IDENTITY));
            }
            let spec = |kind| JointSpec::new("", kind, body, None, frames);
            builder.add_joint(match i % 2 {
                0 => spec(JointKind::Cylindrical)
                    .driven_by(DriveCoordinate::Twist)
                    .driven_by(DriveCoordinate::Slide),
                _ => spec(JointKind::Ball).with_priority(Priority::Secondary),
            });
        }
        builder.build().unwrap()
    }

    /// Entries that repeat each other, contradict each other, make no sense, or name what is not there.
    fn scattered(round: usize) -> Input {
        let mut input = Input::default();
        let mut seed = round as u64 * 977 + 1;
        let mut draw = |most: usize| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) as usize % most
        };
        for k in 0..3 * N {
            let coordinate = [DriveCoordinate::Twist, DriveCoordinate::Slide][draw(2)];
            let value = if draw(5) == 0 { f64::NAN } else { k as f64 };
            let drive = Drive { value, ..Drive::at_rest(coordinate) };
            input.drives.push((JointId::from_index(draw(N + 3)), drive));
            input.released.push(JointId::from_index(draw(2 * N)));
            input.grabs.push(Grab {
                body: BodyId::from_index(draw(2 * N)),
                point: DVec3::ZERO,
                target: DVec3::ZERO,
                stiffness: [1.0, f64::INFINITY, f64::NAN][draw(3)],
                damping: 0.0,
            });
        }
        input
    }

    #[test]
    fn tables_say_what_a_search_finds() {
        let (model, mut tables) = (model(), InputIndex::default());
        for round in 0..20 {
            // Every other input is empty: nothing of the one before may be left.
            let given = if round % 2 == 0 { scattered(round) } else { Input::default() };
            tables.fill(&model, &model.initial_state(), &given);
            let input = StepInput::new(&given, &tables);
            for joint in model.joints() {
                for coordinate in [DriveCoordinate::Twist, DriveCoordinate::Slide] {
                    let mut drives = given.drives.iter();
                    let found =
                        drives.find(|(j, d)| *j == joint && d.coordinate == coordinate && is_finite(d));
                    assert_eq!(input.drive(joint, coordinate), found.map(|(_, drive)| drive));
                }
                let is_released = given.released.contains(&joint) && takes_release(&model, joint.index());
                assert_eq!(input.releases(joint.index() as u32), is_released);
            }
            for body in model.bodies() {
                let is_held = given.hard_grabs(&model).any(|grab| grab.body == body);
                assert_eq!(input.holds(body.index() as u32), is_held);
                let is_touched = given.grabs.iter().any(|grab| grab.body == body);
                assert_eq!(input.touches(body.index() as u32), is_touched);
            }
            let all: Vec<u32> = model.bodies().map(|body| body.index() as u32).collect();
            assert_eq!(input.touches_one(&all), !given.grabs.is_empty());
        }
    }
}
