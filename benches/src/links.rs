//! Chains and trees of equal links, described once for every engine that is to run them.
//!
//! A link is a box of 0.5 × 0.05 × 0.05 m and 1 kg whose x axis points away from its parent; joints turn about y or
//! about every axis. Frames: poses are those of body frames at centres of mass, anchors are in body axes. Units: SI.

use glam::{DQuat, DVec3};
use sinew_math::{MassProperties, Pose, exp_so3};
use sinew_mechanism::{
    BodySpec, JointFrames, JointKind, JointSpec, MechanismBuilder, MechanismError, Model, RotationForce,
    ScalarForce, rotation_to_axis,
};

/// Length of a link, m.
const LENGTH: f64 = 0.5;
/// Its other edges, m.
const THICKNESS: f64 = 0.05;
/// Damping of a spring as a share of its stiffness, s.
const DAMPING_TIME: f64 = 0.01;

/// What ties links together: hinges about y or balls, with a spring of this stiffness, N·m/rad (0: none).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LinkJoint {
    /// Hinges about y with torsion springs.
    Hinge(f64),
    /// Balls with angle-axis springs.
    Ball(f64),
}

impl LinkJoint {
    /// Stiffness of the spring, N·m/rad.
    pub fn stiffness(self) -> f64 {
        let (Self::Hinge(stiffness) | Self::Ball(stiffness)) = self;
        stiffness
    }

    /// Damping of the spring, N·m·s/rad.
    pub fn damping(self) -> f64 {
        DAMPING_TIME * self.stiffness()
    }
}

/// One body and the joint to its parent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChainLink {
    /// Index of the link it hangs from; `None` is the world.
    pub parent: Option<usize>,
    /// `world_from_body` at the start.
    pub pose: Pose,
    /// Mass, kg, and inertia, about the body frame's origin.
    pub mass: MassProperties,
    /// The joint in the link's frame, m.
    pub anchor: DVec3,
    /// The joint in the parent's frame, m.
    pub parent_anchor: DVec3,
}

/// Links in an order in which parents come first, all tied by the same kind of joint.
#[derive(Clone, Debug, PartialEq)]
pub struct Links {
    /// The bodies.
    pub links: Vec<ChainLink>,
    /// The joints.
    pub joint: LinkJoint,
}

impl Links {
    /// A chain of `n` links along x, hung from the world at the origin.
    pub fn chain(n: usize, joint: LinkJoint) -> Self {
        let mut out = Self { links: Vec::with_capacity(n), joint };
        out.append(n, None, DVec3::ZERO, DVec3::ZERO, DQuat::IDENTITY);
        out
    }

    /// `n_arms` chains of `n` links each along x, side by side on one hub that hangs from the world.
    pub fn comb(n_arms: usize, n: usize, joint: LinkJoint) -> Self {
        let mut out = Self { links: Vec::with_capacity(1 + n_arms * n), joint };
        out.append(1, None, DVec3::ZERO, DVec3::ZERO, DQuat::IDENTITY);
        for arm in 0..n_arms {
            let side = arm as f64 * 4.0 * THICKNESS;
            let on_hub = DVec3::new(0.5 * LENGTH, side, 0.0);
            out.append(n, Some(0), on_hub, DVec3::new(LENGTH, side, 0.0), DQuat::IDENTITY);
        }
        out
    }

    /// A chain of `n` links that hangs down, turned by `tilt` radians about y, its last link `mass_ratio` times as
    /// heavy as each of the others; hinges without springs.
    pub fn plumb_line(n: usize, mass_ratio: f64, tilt: f64) -> Self {
        let down = exp_so3(DVec3::Y * (std::f64::consts::FRAC_PI_2 + tilt));
        let mut out = Self { links: Vec::with_capacity(n), joint: LinkJoint::Hinge(0.0) };
        out.append(n, None, DVec3::ZERO, DVec3::ZERO, down);
        if let Some(last) = out.links.last_mut() {
            last.mass = last.mass.with_mass(mass_ratio);
        }
        out
    }

    /// The mechanism.
    ///
    /// # Errors
    /// None, as long as there is a link and stiffness and masses are finite and positive.
    pub fn model(&self) -> Result<Model, MechanismError> {
        let axis = rotation_to_axis(DVec3::Y).unwrap_or(DQuat::IDENTITY);
        let mut builder = MechanismBuilder::new();
        let mut bodies = Vec::with_capacity(self.links.len());
        for link in &self.links {
            let body = builder.add_body(BodySpec::dynamic("", link.pose, link.mass));
            let frames = JointFrames {
                rotation1: axis,
                point1: link.anchor,
                rotation2: axis,
                point2: link.parent_anchor,
            };
            let parent = link.parent.map(|parent| bodies[parent]);
            builder.add_joint(self.joint_spec(body, parent, frames));
            bodies.push(body);
        }
        builder.build()
    }

    fn joint_spec(
        &self,
        body: sinew_mechanism::BodyId,
        parent: Option<sinew_mechanism::BodyId>,
        frames: JointFrames,
    ) -> JointSpec {
        let (stiffness, damping) = (self.joint.stiffness(), self.joint.damping());
        match self.joint {
            LinkJoint::Hinge(0.0) => JointSpec::new("", JointKind::Hinge, body, parent, frames),
            LinkJoint::Hinge(_) => JointSpec::new("", JointKind::Hinge, body, parent, frames)
                .with_twist(ScalarForce::spring(stiffness, 0.0, damping)),
            LinkJoint::Ball(_) => JointSpec::new("", JointKind::Ball, body, parent, frames)
                .with_rotation(RotationForce::spring(stiffness, damping)),
        }
    }

    /// Adds a chain that begins at `start` (world) with its links' x axes along `rotation`'s.
    fn append(&mut self, n: usize, parent: Option<usize>, on_parent: DVec3, start: DVec3, rotation: DQuat) {
        let mass = MassProperties::cuboid(DVec3::new(LENGTH, THICKNESS, THICKNESS), 1.0).with_mass(1.0);
        let half = DVec3::new(0.5 * LENGTH, 0.0, 0.0);
        let first = self.links.len();
        for i in 0..n {
            let center = start + rotation * DVec3::new((i as f64 + 0.5) * LENGTH, 0.0, 0.0);
            self.links.push(ChainLink {
                parent: if i == 0 { parent } else { Some(first + i - 1) },
                pose: Pose::new(rotation, center),
                mass,
                anchor: -half,
                parent_anchor: if i == 0 { on_parent } else { half },
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{LinkJoint, Links};
    use sinew_mechanism::{Input, violation};

    #[test]
    fn every_tree_is_assembled() {
        let joint = LinkJoint::Hinge(10.0);
        for links in [
            Links::chain(7, joint),
            Links::chain(3, LinkJoint::Ball(1.0)),
            Links::comb(5, 4, joint),
            Links::plumb_line(10, 1e6, 0.3),
        ] {
            let model = links.model().unwrap();
            assert_eq!(model.n_bodies(), links.links.len());
            assert_eq!(model.plan().loop_constraints(), []);
            let error = violation(&model, &model.initial_state(), &Input::default());
            assert!(error.position < 1e-14 && error.rotation < 1e-14, "{error:?}");
        }
    }

    #[test]
    fn only_the_last_link_of_a_plumb_line_is_heavy() {
        let links = Links::plumb_line(10, 1e6, 0.0).links;
        let masses: Vec<f64> = links.iter().map(|link| link.mass.mass).collect();
        assert!(masses[..9].iter().all(|mass| (mass - 1.0).abs() < 1e-12));
        assert!((masses[9] - 1e6).abs() < 1e-6 && links[9].pose.translation.z < -4.7);
    }
}
