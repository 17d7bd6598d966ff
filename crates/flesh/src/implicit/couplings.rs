//! Matrix blocks of contacts: on tetrahedra, between flesh and bodies, between bodies. World axes, SI.

use glam::DVec3;
use sinew_contact::ContactStep;
use sinew_math::{Motion, SurfacePoint, Sym3};
use sinew_mechanism::{CompanionLoads, PointLaw};

use super::contact_sides::SolvedSide::{self, Body, Given};
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
