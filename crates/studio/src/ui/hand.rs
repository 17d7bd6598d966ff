//! What the mouse does to bodies: pull, turn, push away and bring near, pin.
//!
//! The point that was picked is pulled to where the mouse is, in the plane through it across the view. With Ctrl the mouse
//! moves the target towards the viewer or away; with Alt the body is turned about its picked point by three holds. On scenes
//! in joint coordinates holds are hard: the score guides the bone there.

use glam::{DQuat, DVec3};
use sinew_math::exp_so3;
use sinew_sim::{BodyId, Grab};

use crate::{Cast, Frame, Hit, Orbit, Ray, Target};

/// A body in the hand.
#[derive(Clone, Copy, Debug)]
struct Held {
    body: BodyId,
    /// The point that was picked, in the body frame, m.
    point: DVec3,
    /// Where it is pulled to, m.
    target: DVec3,
    /// How the body was turned when it was picked, and how it is turned since then.
    rotation: DQuat,
    turned: Option<DQuat>,
}

/// The hand of the mouse.
#[derive(Clone, Copy, Debug)]
pub struct Drag {
    held: Option<Held>,
    /// How firmly bodies are held, 1 being usual.
    pub firmness: f64,
}

impl Default for Drag {
    fn default() -> Self {
        Self { held: None, firmness: 1.0 }
    }
}

/// How the mouse moves what is held.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Motion {
    /// To the ray of the mouse, across the view.
    Across(Ray),
    /// Towards the viewer, by a share of the distance.
    Depth(f64),
    /// Turned by angles about the axes to the right and upwards in the picture, rad.
    Turn(f64, f64),
}

impl Drag {
    /// The body that is held.
    pub fn body(&self) -> Option<BodyId> {
        self.held.map(|held| held.body)
    }

    /// Lets go.
    pub(super) fn release(&mut self) {
        self.held = None;
    }

    /// Takes a body at the point that was picked, if forces move it.
    pub(super) fn take(&mut self, hit: &Hit, frame: &Frame) -> bool {
        let Target::Body(body) = hit.target else { return false };
        let is_dynamic = frame.cast.bodies.get(body.index()).is_some_and(|card| card.is_dynamic);
        let pose = frame.poses.get(body.index()).filter(|pose| pose.is_finite());
        self.held = pose.filter(|_| is_dynamic).map(|pose| Held {
            body,
            point: pose.inverse().transform_point(hit.point),
            target: hit.point,
            rotation: pose.rotation,
            turned: None,
        });
        self.held.is_some()
    }

    /// Moves the target.
    pub(super) fn pull(&mut self, motion: Motion, orbit: &Orbit) {
        let Some(held) = &mut self.held else { return };
        let view = orbit.view();
        match motion {
            Motion::Across(ray) => held.target = ray.meets(held.target, view.toward).unwrap_or(held.target),
            Motion::Depth(share) => {
                let way = orbit.eye() - held.target;
                held.target += way * share.clamp(-0.5, 0.5);
            }
            Motion::Turn(right, up) => {
                let turn = exp_so3(view.right * right + view.up * up);
                held.turned = Some((turn * held.turned.unwrap_or(DQuat::IDENTITY)).normalize());
            }
        }
    }

    /// The holds of the next step.
    pub(super) fn grabs(&self, cast: &Cast) -> Vec<Grab> {
        let Some(held) = self.held else { return Vec::new() };
        let (stiffness, damping) = gains(cast, self.firmness);
        let grab = |offset: DVec3| {
            let rotation = held.turned.unwrap_or(DQuat::IDENTITY) * held.rotation;
            let target = held.target + rotation * offset;
            Grab { body: held.body, point: held.point + offset, target, stiffness, damping }
        };
        match held.turned {
            None => vec![grab(DVec3::ZERO)],
            Some(_) => {
                let arm = 0.1 * cast.reach;
                [DVec3::ZERO, DVec3::X * arm, DVec3::Y * arm, DVec3::Z * arm].map(grab).to_vec()
            }
        }
    }
}

/// Stiffness (N/m) and damping (N·s/m) of a hold: the whole scene hangs from it stretched by a twentieth of its size; in joint
/// coordinates the point is held without give.
fn gains(cast: &Cast, firmness: f64) -> (f64, f64) {
    if cast.is_guided {
        return (f64::INFINITY, 0.0);
    }
    let stiffness = firmness * cast.looks.mass.max(1e-9) * 9.81 / (0.05 * cast.reach);
    (stiffness, 0.3 * (stiffness * cast.looks.mass).sqrt())
}

/// Points of a body that keep its position, and with `is_turned` its orientation as well, in its frame, m.
pub(super) fn pin_points(hit: &Hit, frame: &Frame, body: BodyId, is_turned: bool) -> Vec<DVec3> {
    let Some(pose) = frame.poses.get(body.index()).filter(|pose| pose.is_finite()) else { return Vec::new() };
    let point = pose.inverse().transform_point(hit.point);
    let arm = 0.1 * frame.cast.reach;
    if is_turned { vec![point, point + DVec3::X * arm, point + DVec3::Y * arm] } else { vec![point] }
}
