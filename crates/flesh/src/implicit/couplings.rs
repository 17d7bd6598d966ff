//! Matrix blocks of contacts: on tetrahedra, between flesh and bodies, between bodies. World axes, SI.

use glam::DVec3;
use sinew_contact::ContactStep;
use sinew_math::{Force, Motion, SurfacePoint, Sym3};
use sinew_mechanism::{CompanionLoads, PointLaw};

use super::contact_sides::SolvedSide::{self, Body, Given};
use super::elements::Elements;
use crate::body::FleshBody;
use crate::model::FleshModel;
use crate::node_vectors::{velocity_at, wrench_at};

/// A contact of flesh with a body that forces move.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FleshBodyCoupling {
    pub(crate) point: SurfacePoint,
    pub(crate) body: usize,
    pub(crate) arm: DVec3,
    pub(crate) resistance: Sym3,
}

/// A contact of two places of flesh.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FleshCoupling {
    pub(crate) flesh: [usize; 2],
    pub(crate) points: [SurfacePoint; 2],
    pub(crate) resistance: Sym3,
}

/// A contact of two bodies that forces move.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BodyCoupling {
    pub(crate) bodies: [usize; 2],
    pub(crate) arms: [DVec3; 2],
    pub(crate) resistance: Sym3,
}

impl BodyCoupling {
    /// `−G₁ᵀ B G₂`, by columns: the impulse on the first body per twist of the second.
    pub(crate) fn block(&self) -> [[f64; 6]; 6] {
        std::array::from_fn(|c| {
            let mut twist = [0.0; 6];
            twist[c] = 1.0;
            let velocity = velocity_at(Motion::from_array(twist), self.arms[1]);
            wrench_at(self.resistance.mul_vec(velocity) * -1.0, self.arms[0]).to_array()
        })
    }
}

/// All couplings of a solve.
#[derive(Default)]
pub(crate) struct ContactCouplings {
    /// Per body of flesh: contacts in its matrix.
    pub(crate) in_matrix: Vec<Vec<(SurfacePoint, Sym3)>>,
    /// Per body of flesh: its contacts with bodies that forces move.
    pub(crate) with_bodies: Vec<Vec<FleshBodyCoupling>>,
    /// Contacts of flesh with flesh.
    pub(crate) between_flesh: Vec<FleshCoupling>,
    /// Contacts between bodies.
    pub(crate) between_bodies: Vec<BodyCoupling>,
}

impl ContactCouplings {
    /// Removes all, and makes room for bodies of flesh.
    pub(crate) fn clear(&mut self, n_flesh: usize) {
        self.between_bodies.clear();
        self.between_flesh.clear();
        self.in_matrix.resize_with(n_flesh, Vec::new);
        self.with_bodies.resize_with(n_flesh, Vec::new);
        self.in_matrix.iter_mut().for_each(Vec::clear);
        self.with_bodies.iter_mut().for_each(Vec::clear);
    }

    /// Adds a contact of flesh; returns the constant impulse on its surface point.
    pub(crate) fn add_flesh(
        &mut self,
        flesh: usize,
        point: SurfacePoint,
        other: &SolvedSide,
        step: &ContactStep,
        loads: &mut CompanionLoads<'_>,
    ) -> DVec3 {
        let resistance = step.matrix();
        self.in_matrix[flesh].push((point, resistance));
        let mut impulse = step.constant_impulse();
        match *other {
            Given(velocity) => impulse += resistance.mul_vec(velocity),
            Body { body, arm } => {
                self.with_bodies[flesh].push(FleshBodyCoupling { point, body, arm, resistance });
                loads.push(body, arm, &opposite(&law(step)), DVec3::ZERO);
            }
            SolvedSide::Flesh { flesh: other, point: place } => {
                self.in_matrix[other].push((place, resistance));
                let (flesh, points) = ([flesh, other], [point, place]);
                self.between_flesh.push(FleshCoupling { flesh, points, resistance });
            }
        }
        impulse
    }

    /// Adds a contact that no flesh takes part in.
    pub(crate) fn add_bodies(
        &mut self,
        sides: &[SolvedSide; 2],
        step: &ContactStep,
        loads: &mut CompanionLoads<'_>,
    ) {
        let law = law(step);
        match *sides {
            [Body { body, arm }, Given(velocity)] => loads.push(body, arm, &law, velocity),
            [Given(velocity), Body { body, arm }] => loads.push(body, arm, &opposite(&law), velocity),
            [Body { body, arm }, Body { body: other, arm: other_arm }] => {
                let (bodies, arms) = ([body, other], [arm, other_arm]);
                loads.push(body, arm, &law, DVec3::ZERO);
                loads.push(other, other_arm, &opposite(&law), DVec3::ZERO);
                self.between_bodies.push(BodyCoupling { bodies, arms, resistance: step.matrix() });
            }
            _ => {}
        }
    }
}

fn law(step: &ContactStep) -> PointLaw {
    let ContactStep { axes, resistance, impulse, .. } = *step;
    PointLaw { axes, resistance, impulse }
}

/// The law on the other side.
fn opposite(law: &PointLaw) -> PointLaw {
    PointLaw { impulse: law.impulse.map(|q| -q), ..*law }
}

/// Impulses of a contact of two places of flesh.
pub(super) fn couple_skins(
    coupling: &FleshCoupling,
    model: &FleshModel,
    elements: &[Elements],
    out: &mut [f64],
    push: &mut impl FnMut(usize, Force),
) {
    let FleshCoupling { flesh, points, resistance } = coupling;
    let felt = [0, 1].map(|i| {
        let nodes = model.bodies[flesh[i]].corners(points[i].tet);
        resistance.mul_vec(points[i].interpolate(nodes.map(|node| elements[flesh[i]].multiplied(node))))
    });
    for (i, other) in [(0, 1), (1, 0)] {
        let (body, own) = (&model.bodies[flesh[i]], &elements[flesh[i]]);
        let first: usize = elements[..flesh[i]].iter().map(Elements::n_unknowns).sum();
        let out = &mut out[first..first + own.n_unknowns()];
        for (node, weight) in body.corners(points[i].tet).into_iter().zip(points[i].weights) {
            own.give(body, node, felt[other] * -weight, out, |bone, impulse| push(body.bones[bone], impulse));
        }
    }
}

/// Impulses of a contact between two bodies for given twists.
pub(super) fn couple_bodies(
    coupling: &BodyCoupling,
    twist: &impl Fn(usize) -> Motion,
    push: &mut impl FnMut(usize, Force),
) {
    let BodyCoupling { bodies, arms, resistance } = coupling;
    let velocities = [0, 1].map(|i| velocity_at(twist(bodies[i]), arms[i]));
    for (i, other) in [(0, 1), (1, 0)] {
        push(bodies[i], wrench_at(resistance.mul_vec(velocities[other]) * -1.0, arms[i]));
    }
}

/// Impulses of a contact between flesh and a body; `felt` is the resistance times the velocity of the body.
pub(super) fn couple_flesh(
    coupling: &FleshBodyCoupling,
    body: &FleshBody,
    elements: &Elements,
    felt: DVec3,
    out: &mut [f64],
    push: &mut impl FnMut(usize, Force),
) {
    let nodes = body.corners(coupling.point.tet);
    let velocity = coupling.point.interpolate(nodes.map(|node| elements.multiplied(node)));
    for (node, weight) in nodes.into_iter().zip(coupling.point.weights) {
        elements.give(body, node, felt * -weight, out, |bone, impulse| push(body.bones[bone], impulse));
    }
    let back = coupling.resistance.mul_vec(velocity) * -1.0;
    push(coupling.body, wrench_at(back, coupling.arm));
}
