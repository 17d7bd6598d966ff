//! What a table holds, read from a world.
//!
//! Columns are `NAME.QUANTITY` or `NAME.QUANTITY.PART`. They differ, whatever the names are: bodies and joints have different quantities, no quantity is called
//! as a part, and names differ among bodies and among joints.

use glam::{DQuat, DVec3};
use sinew_math::{DriveCoordinate, Force, JointKind};
use sinew_mechanism::{BodyId, JointId};
use sinew_sim::{ContactPartner, World};

use super::glob::fits;

/// A quantity of bodies or of joints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableQuantity {
    /// Bodies: position of the body frame (m) and its rotation, a unit quaternion w, x, y, z.
    Poses,
    /// Bodies: angular velocity (rad/s), and velocity of the origin of the body frame (m/s).
    Velocities,
    /// Joints: coordinates (rad or m): `angle`, `slide`, or for joints that turn in every way `rotation_vector`, a rotation vector in the frame of the parent.
    Coordinates,
    /// Joints: their rates.
    Rates,
    /// Joints: effort along each coordinate (N·m or N): springs, limits, motors, and actuators in steps in joint coordinates.
    Efforts,
    /// Joints: what they did to their first body in the last step: torque about the anchor on it (N·m), and force (N). It needs
    /// [`sinew_sim::Settings::reactions`].
    Reactions,
    /// Bodies: the sum of contact forces (N), and its torque about the origin of the body frame (N·m).
    Contacts,
}

impl TableQuantity {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::Poses,
        Self::Velocities,
        Self::Coordinates,
        Self::Rates,
        Self::Efforts,
        Self::Reactions,
        Self::Contacts,
    ];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Poses => "poses",
            Self::Velocities => "velocities",
            Self::Coordinates => "coordinates",
            Self::Rates => "rates",
            Self::Efforts => "efforts",
            Self::Reactions => "reactions",
            Self::Contacts => "contacts",
        }
    }
}

/// What a table holds.
#[derive(Clone, Debug, PartialEq)]
pub struct TableChoice {
    /// Which quantities.
    pub quantities: Vec<TableQuantity>,
    /// Patterns of names of bodies and joints, with `*` and `?`; a name that fits one of them is in the table.
    pub names: Vec<String>,
}

impl Default for TableChoice {
    /// Poses of bodies, coordinates and rates of joints, of everything.
    fn default() -> Self {
        Self {
            quantities: vec![TableQuantity::Poses, TableQuantity::Coordinates, TableQuantity::Rates],
            names: vec!["*".to_owned()],
        }
    }
}

/// One quantity of one item.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Group {
    pub(super) name: String,
    pub(super) parts: &'static [&'static str],
    source: SampleSource,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum SampleSource {
    Time,
    Position(BodyId),
    Rotation(BodyId),
    AngularVelocity(BodyId),
    Velocity(BodyId),
    ContactForce(BodyId),
    ContactTorque(BodyId),
    Coordinate(JointId, Option<DriveCoordinate>),
    Rate(JointId, Option<DriveCoordinate>),
    Effort(JointId, Option<DriveCoordinate>),
    ReactionTorque(JointId),
    ReactionForce(JointId),
}

const ONE: &[&str] = &[""];
const THREE: &[&str] = &["x", "y", "z"];
const FOUR: &[&str] = &["w", "x", "y", "z"];

/// Reads the rows of a table from a world.
#[derive(Clone, Debug)]
pub struct Sampler {
    pub(super) groups: Vec<Group>,
    needs_reactions: bool,
}

impl Sampler {
    /// What a choice means for a world. The first column is `time`.
    ///
    /// # Errors
    /// A pattern that no name fits.
    pub fn new(world: &World, choice: &TableChoice) -> Result<Self, String> {
        let model = world.mechanism();
        let is_chosen = |name: &str| choice.names.iter().any(|pattern| fits(pattern, name));
        check_patterns(world, &choice.names)?;
        let mut quantities: Vec<TableQuantity> = Vec::new();
        for quantity in &choice.quantities {
            if !quantities.contains(quantity) {
                quantities.push(*quantity);
            }
        }
        let mut groups = vec![Group { name: "time".to_owned(), parts: ONE, source: SampleSource::Time }];
        for body in model.bodies().filter(|body| is_chosen(model.body_name(*body))) {
            push_body(&mut groups, model.body_name(body), body, &quantities);
        }
        for joint in model.joints().filter(|joint| is_chosen(model.joint_name(*joint))) {
            push_joint(&mut groups, (model.joint_name(joint), joint), model.joint_kind(joint), &quantities);
        }
        Ok(Self { groups, needs_reactions: quantities.contains(&TableQuantity::Reactions) })
    }

    /// Whether the steps must leave wrenches of joints: [`sinew_sim::Settings::reactions`].
    pub fn needs_reactions(&self) -> bool {
        self.needs_reactions
    }

    /// Names of all columns: `ball.position.x`.
    pub fn columns(&self) -> Vec<String> {
        let column = |group: &Group, part: &str| match part {
            "" => group.name.clone(),
            part => format!("{}.{part}", group.name),
        };
        self.groups.iter().flat_map(|group| group.parts.iter().map(move |part| column(group, part))).collect()
    }

    /// Replaces a row by that of the present moment.
    pub fn fill(&self, world: &World, row: &mut Vec<f64>) {
        row.clear();
        let wrenches =
            if self.needs_reactions { world.workspace().joint_wrenches(world.model()) } else { Vec::new() };
        let wrench = |joint: JointId| wrenches.get(joint.index()).copied().unwrap_or(Force::ZERO);
        for group in &self.groups {
            group.source.push(world, wrench, row);
        }
    }
}

/// Whether each pattern but `*` fits a name of a body or of a joint.
fn check_patterns(world: &World, patterns: &[String]) -> Result<(), String> {
    let model = world.mechanism();
    let names = || {
        let bodies = model.bodies().map(|body| model.body_name(body));
        bodies.chain(model.joints().map(|joint| model.joint_name(joint)))
    };
    let is_unknown = |pattern: &&String| *pattern != "*" && !names().any(|name| fits(pattern, name));
    match patterns.iter().find(is_unknown) {
        Some(pattern) => Err(format!("no body and no joint is called `{pattern}`")),
        None => Ok(()),
    }
}

impl SampleSource {
    /// Adds what it is at the present moment to a row.
    fn push(self, world: &World, wrench: impl Fn(JointId) -> Force, row: &mut Vec<f64>) {
        match self {
            Self::Time => row.push(world.time()),
            Self::Position(body) => row.extend(world.pose(body).translation.to_array()),
            Self::Rotation(body) => row.extend(real_first(world.pose(body).rotation)),
            Self::AngularVelocity(body) => row.extend(world.motion(body).angular.to_array()),
            Self::Velocity(body) => row.extend(world.motion(body).linear.to_array()),
            Self::ContactForce(body) => row.extend(contact(world, body).linear.to_array()),
            Self::ContactTorque(body) => row.extend(contact(world, body).angular.to_array()),
            Self::Coordinate(joint, along) => {
                let reading = world.reading(joint);
                push_along(row, along, [reading.twist, reading.slide], reading.rotation);
            }
            Self::Rate(joint, along) => {
                let reading = world.reading(joint);
                push_along(row, along, [reading.twist_rate, reading.slide_rate], reading.angular_rate);
            }
            Self::Effort(joint, along) => row.push(world.joint_effort(joint, along)),
            Self::ReactionTorque(joint) => row.extend(wrench(joint).angular.to_array()),
            Self::ReactionForce(joint) => row.extend(wrench(joint).linear.to_array()),
        }
    }
}

/// A quaternion with its real part first.
fn real_first(q: DQuat) -> [f64; 4] {
    [q.w, q.x, q.y, q.z]
}

fn push_along(row: &mut Vec<f64>, along: Option<DriveCoordinate>, [twist, slide]: [f64; 2], rotation: DVec3) {
    match along {
        Some(DriveCoordinate::Twist) => row.push(twist),
        Some(DriveCoordinate::Slide) => row.push(slide),
        None => row.extend(rotation.to_array()),
    }
}

/// The sum of the contact forces on a body, about the origin of its frame.
fn contact(world: &World, body: BodyId) -> Force {
    let origin = world.pose(body).translation;
    let centre = world.state().bodies.poses[body.index()].translation;
    let is_on = |partner: Option<ContactPartner>| partner == Some(ContactPartner::Body(body));
    let mut sum = Force::ZERO;
    for contact in world.contacts() {
        for (side, is_here, force) in
            [(0, is_on(Some(contact.on)), contact.force), (1, is_on(contact.by), -contact.force)]
        {
            if is_here {
                // The body has moved on since it was pushed.
                let point = contact.arms.map_or(contact.point, |arms| centre + arms[side]);
                sum += Force::new((point - origin).cross(force), force);
            }
        }
    }
    sum
}

fn push_body(groups: &mut Vec<Group>, name: &str, body: BodyId, quantities: &[TableQuantity]) {
    let mut push =
        |what: &str, parts, source| groups.push(Group { name: format!("{name}.{what}"), parts, source });
    for quantity in quantities {
        match quantity {
            TableQuantity::Poses => {
                push("position", THREE, SampleSource::Position(body));
                push("rotation", FOUR, SampleSource::Rotation(body));
            }
            TableQuantity::Velocities => {
                push("angular_velocity", THREE, SampleSource::AngularVelocity(body));
                push("velocity", THREE, SampleSource::Velocity(body));
            }
            TableQuantity::Contacts => {
                push("contact_force", THREE, SampleSource::ContactForce(body));
                push("contact_torque", THREE, SampleSource::ContactTorque(body));
            }
            TableQuantity::Coordinates
            | TableQuantity::Rates
            | TableQuantity::Efforts
            | TableQuantity::Reactions => {}
        }
    }
}

fn push_joint(
    groups: &mut Vec<Group>,
    (name, joint): (&str, JointId),
    kind: JointKind,
    quantities: &[TableQuantity],
) {
    let mut push =
        |what: &str, parts, source| groups.push(Group { name: format!("{name}.{what}"), parts, source });
    let (turns, slides) = coordinates(kind);
    let twist = (turns == Turns::Twist).then_some(DriveCoordinate::Twist);
    let slide = slides.then_some(DriveCoordinate::Slide);
    for quantity in quantities {
        match quantity {
            TableQuantity::Coordinates => {
                twist
                    .iter()
                    .for_each(|&along| push("angle", ONE, SampleSource::Coordinate(joint, Some(along))));
                slide
                    .iter()
                    .for_each(|&along| push("slide", ONE, SampleSource::Coordinate(joint, Some(along))));
                if turns == Turns::Every {
                    push("rotation_vector", THREE, SampleSource::Coordinate(joint, None));
                }
            }
            TableQuantity::Rates => {
                twist
                    .iter()
                    .for_each(|&along| push("angle_rate", ONE, SampleSource::Rate(joint, Some(along))));
                slide
                    .iter()
                    .for_each(|&along| push("slide_rate", ONE, SampleSource::Rate(joint, Some(along))));
                if turns == Turns::Every {
                    push("rotation_rate", THREE, SampleSource::Rate(joint, None));
                }
            }
            TableQuantity::Efforts => {
                twist.iter().for_each(|&along| push("torque", ONE, SampleSource::Effort(joint, Some(along))));
                slide.iter().for_each(|&along| push("force", ONE, SampleSource::Effort(joint, Some(along))));
                if turns == Turns::Every {
                    push("torque", ONE, SampleSource::Effort(joint, None));
                }
            }
            TableQuantity::Reactions => {
                push("reaction_torque", THREE, SampleSource::ReactionTorque(joint));
                push("reaction_force", THREE, SampleSource::ReactionForce(joint));
            }
            TableQuantity::Poses | TableQuantity::Velocities | TableQuantity::Contacts => {}
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Turns {
    Never,
    Twist,
    Every,
}

/// How a kind of joint turns, and whether it slides along its axis.
fn coordinates(kind: JointKind) -> (Turns, bool) {
    match kind {
        JointKind::Hinge | JointKind::Screw { .. } | JointKind::Planar => (Turns::Twist, false),
        JointKind::Cylindrical => (Turns::Twist, true),
        JointKind::Prismatic => (Turns::Never, true),
        JointKind::PointOnLine => (Turns::Every, true),
        JointKind::Fixed | JointKind::Orientation => (Turns::Never, false),
        _ => (Turns::Every, false),
    }
}
