//! Dragging of bodies and of flesh without bones: pull, move in depth, turn, pin.
//!
//! The picked point is pulled to the mouse, in the plane through the target orthogonal to the view. With Ctrl the
//! mouse moves the target towards the viewer or away; with Alt it turns the body about the picked point by four
//! grabs. In scenes in joint coordinates grabs are rigid: the score guides the bone there.

use glam::{DQuat, DVec3};
use sinew_math::exp_so3;
use sinew_sim::{BodyId, FleshGrab, Grab, SurfacePoint};

use crate::camera::{Orbit, Ray};
use crate::pick::{Hit, PickTarget};
use crate::{command::SessionCommand, overview::SceneOverview, snapshot::Snapshot};

/// A dragged body.
#[derive(Clone, Copy, Debug)]
struct Held {
    body: BodyId,
    /// The picked point in the body frame (m).
    point: DVec3,
    /// Target of the picked point (m).
    target: DVec3,
    /// Rotation of the body when it was picked, and the rotation added since then.
    rotation: DQuat,
    turned: Option<DQuat>,
}

/// A dragged point of boneless flesh.
#[derive(Clone, Copy, Debug)]
struct HeldFlesh {
    flesh: usize,
    /// The nearest point of its surface, and how far that is from the mouse (m).
    point: SurfacePoint,
    offset: DVec3,
    /// Target of the mouse (m).
    target: DVec3,
}

/// The drag operation of the mouse.
#[derive(Clone, Copy, Debug)]
pub struct Drag {
    held: Option<Held>,
    flesh: Option<HeldFlesh>,
    /// Factor on the stiffness of grabs.
    pub firmness: f64,
}

impl Default for Drag {
    fn default() -> Self {
        Self { held: None, flesh: None, firmness: 1.0 }
    }
}

/// A mouse movement while dragging.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum DragMove {
    /// The target moves to the ray of the mouse, orthogonally to the view.
    Across(Ray),
    /// The target moves towards the viewer, by a share of the distance.
    Depth(f64),
    /// The body turns about the right and the upward axis of the picture (rad).
    Turn(f64, f64),
}

impl Drag {
    /// The dragged body.
    pub fn body(&self) -> Option<BodyId> {
        self.held.map(|held| held.body)
    }

    /// Whether something is dragged.
    pub fn is_active(&self) -> bool {
        self.held.is_some() || self.flesh.is_some()
    }

    /// Lets go.
    pub(super) fn release(&mut self) {
        (self.held, self.flesh) = (None, None);
    }

    /// Starts to drag a dynamic body or flesh at the picked point; false for other targets.
    pub(super) fn take(&mut self, hit: &Hit, snapshot: &Snapshot) -> bool {
        let body = match hit.target {
            PickTarget::Body(body) => body,
            PickTarget::Flesh(flesh) => {
                self.flesh = flesh_point(hit, snapshot, flesh).map(|(point, at)| HeldFlesh {
                    flesh,
                    point,
                    offset: at - hit.point,
                    target: hit.point,
                });
                return self.flesh.is_some();
            }
        };
        let is_dynamic = snapshot.overview.bodies.get(body.index()).is_some_and(|card| card.is_dynamic);
        let pose = snapshot.poses.get(body.index()).filter(|pose| pose.is_finite());
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
    pub(super) fn pull(&mut self, moved: DragMove, orbit: &Orbit) {
        let view = orbit.view();
        let of_body = self.held.as_mut().map(|held| &mut held.target);
        let Some(target) = of_body.or(self.flesh.as_mut().map(|held| &mut held.target)) else { return };
        match moved {
            DragMove::Across(ray) => *target = ray.meets(*target, view.toward).unwrap_or(*target),
            DragMove::Depth(share) => {
                let way = orbit.eye() - *target;
                *target += way * share.clamp(-0.5, 0.5);
            }
            DragMove::Turn(right, up) => {
                let turn = exp_so3(view.right * right + view.up * up);
                let Some(held) = &mut self.held else { return };
                held.turned = Some((turn * held.turned.unwrap_or(DQuat::IDENTITY)).normalize());
            }
        }
    }

    /// The command that holds what is dragged where the mouse is; lets go if nothing is.
    pub(super) fn command(&self, overview: &SceneOverview) -> SessionCommand {
        let Some(held) = self.flesh else { return SessionCommand::Hold(self.grabs(overview)) };
        let (stiffness, damping) = gains(overview, self.firmness);
        let (flesh, point, target) = (held.flesh as u32, held.point, held.target + held.offset);
        SessionCommand::HoldFlesh(Some(FleshGrab { flesh, point, target, stiffness, damping }))
    }

    /// The grabs of the next step.
    pub(super) fn grabs(&self, overview: &SceneOverview) -> Vec<Grab> {
        let Some(held) = self.held else { return Vec::new() };
        let (stiffness, damping) = gains(overview, self.firmness);
        let grab = |offset: DVec3| {
            let rotation = held.turned.unwrap_or(DQuat::IDENTITY) * held.rotation;
            let target = held.target + rotation * offset;
            Grab { body: held.body, point: held.point + offset, target, stiffness, damping }
        };
        match held.turned {
            None => vec![grab(DVec3::ZERO)],
            Some(_) => {
                let arm = 0.1 * overview.reach;
                [DVec3::ZERO, DVec3::X * arm, DVec3::Y * arm, DVec3::Z * arm].map(grab).to_vec()
            }
        }
    }
}

/// Stiffness (N/m) and damping (N·s/m) of a grab: under the weight of the whole scene it stretches by a twentieth of
/// the size of the scene. In joint coordinates it is rigid.
fn gains(overview: &SceneOverview, firmness: f64) -> (f64, f64) {
    if overview.is_guided {
        return (f64::INFINITY, 0.0);
    }
    let stiffness = firmness * overview.looks.mass.max(1e-9) * 9.81 / (0.05 * overview.reach);
    (stiffness, 0.3 * (stiffness * overview.looks.mass).sqrt())
}

/// The point of the surface of flesh that is nearest to a hit, and where it is (m).
pub(super) fn flesh_point(hit: &Hit, snapshot: &Snapshot, flesh: usize) -> Option<(SurfacePoint, DVec3)> {
    let card = snapshot.overview.flesh.get(flesh)?;
    let drawn = &snapshot.visible.list.flesh.get(flesh)?.points;
    let near = |at: &DVec3| at.distance_squared(hit.point);
    let points = card.points.iter().zip(drawn).filter(|(_, at)| at.is_finite());
    points.min_by(|a, b| near(a.1).total_cmp(&near(b.1))).map(|(point, at)| (*point, *at))
}

/// Points of a body that fix its position, and with `is_turned` its orientation too, in the body frame (m).
pub(super) fn pin_points(hit: &Hit, snapshot: &Snapshot, body: BodyId, is_turned: bool) -> Vec<DVec3> {
    let Some(pose) = snapshot.poses.get(body.index()).filter(|pose| pose.is_finite()) else {
        return Vec::new();
    };
    let point = pose.inverse().transform_point(hit.point);
    let arm = 0.1 * snapshot.overview.reach;
    if is_turned { vec![point, point + DVec3::X * arm, point + DVec3::Y * arm] } else { vec![point] }
}
