//! Grabs, pressure and wind on flesh in one step, as laws of places: a place with the velocity `u` at the end of the step gets the impulse
//! `q − b u`.
//!
//! ```text
//! grab      q = h k (t − x)         b = h (h k + c)          t target, x place at the start, stiffness k, damping c
//! pressure  q = h p Σ A/3           b = 0                    A area vectors ½ (x₂ − x₁) × (x₃ − x₁) of the faces at a point, outwards
//! wind      q = h c w Σ |A|/3       b = h c Σ |A|/3          w velocity of the air, drag c per area
//! ```
//! Springs and dampers are those of the end of the step, so they are stable at any stiffness. Pressure and areas are those of the positions given. The
//! area vectors of a closed surface have no sum, and with each at the middle of its face no moment. A place is a point of a tetrahedron, and its
//! impulse acts on the nodes by its weights. World axes, SI. Cost: linear in grabs, and in the faces of flesh with pressure or wind.

use glam::DVec3;
use sinew_math::SurfacePoint;
use sinew_mechanism::{FleshGrab, SkinInput, SkinPressure, SkinWind};

use crate::{body::FleshBody, model::FleshModel};

/// The law of one place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PlaceLaw {
    pub(crate) point: SurfacePoint,
    /// `q`, N·s.
    pub(crate) impulse: DVec3,
    /// `b`, kg.
    pub(crate) resistance: f64,
}

/// The laws of one body of flesh in a step.
#[derive(Clone, Debug, Default)]
pub(crate) struct SkinLoads {
    pub(crate) laws: Vec<PlaceLaw>,
    /// Points of the surface, m.
    points: Vec<DVec3>,
    /// Impulse and resistance of each.
    sums: Vec<(DVec3, f64)>,
}

/// How far from one the sum of the weights of a place may be.
const UNIT: f64 = 1e-6;

impl SkinLoads {
    /// The laws of what acts on flesh number `flesh` in `h` seconds: the nodes are at `now` and would start at `start` (m).
    pub(crate) fn fill(
        &mut self,
        (model, flesh): (&FleshModel, usize),
        input: &SkinInput,
        h: f64,
        now: &[DVec3],
        start: impl Fn(usize) -> DVec3,
    ) {
        let body = &model.bodies[flesh];
        self.laws.clear();
        for grab in model.usable_grabs(flesh, input).filter(|grab| !grab.is_hard()) {
            let FleshGrab { point, target, stiffness, damping, .. } = *grab;
            let from = point.interpolate(body.corners(point.tet).map(&start));
            let impulse = (target - from) * (h * stiffness);
            self.laws.push(PlaceLaw { point, impulse, resistance: h * (h * stiffness + damping) });
        }
        if !(input.pressures.is_empty() && input.winds.is_empty()) {
            body.fill_surface(now, &mut self.points);
            self.fill_faces(body, (flesh, input), h);
        }
    }

    /// Adds the laws of pressures and winds on the points of the surface, whose positions are known.
    fn fill_faces(&mut self, body: &FleshBody, (flesh, input): (usize, &SkinInput), h: f64) {
        self.sums.clear();
        self.sums.resize(body.surface.len(), (DVec3::ZERO, 0.0));
        for load in input.pressures.iter().filter(|load| load.flesh as usize == flesh && is_pressure(load)) {
            self.add(body, load.region, |area| (area * (h * load.pressure), 0.0));
        }
        for load in input.winds.iter().filter(|load| load.flesh as usize == flesh && is_wind(load)) {
            self.add(body, load.region, |area| {
                let resistance = h * load.drag * area.length();
                (load.velocity * resistance, resistance)
            });
        }
        let acting = body.surface.iter().zip(&self.sums).filter(|(_, sum)| **sum != (DVec3::ZERO, 0.0));
        let law = |(&point, &(impulse, resistance))| PlaceLaw { point, impulse, resistance };
        self.laws.extend(acting.map(law));
    }

    /// Adds what a third of the area vector of each face of a region gives to its corners.
    fn add(&mut self, body: &FleshBody, region: Option<u32>, law: impl Fn(DVec3) -> (DVec3, f64)) {
        for (face, corners) in body.faces().iter().enumerate() {
            if region.is_some_and(|region| region != body.face_region(face)) {
                continue;
            }
            let [a, b, c] = corners.map(|corner| self.points[corner as usize]);
            let (impulse, resistance) = law((b - a).cross(c - a) / 6.0);
            for corner in corners {
                let sum = &mut self.sums[*corner as usize];
                *sum = (sum.0 + impulse, sum.1 + resistance);
            }
        }
    }
}

/// Whether the numbers of a pressure make sense.
fn is_pressure(load: &SkinPressure) -> bool {
    load.pressure.is_finite()
}

/// Whether the numbers of a wind make sense.
fn is_wind(load: &SkinWind) -> bool {
    load.velocity.is_finite() && load.drag >= 0.0 && load.drag.is_finite()
}

impl FleshModel {
    /// Number of entries of an input that a step leaves alone: flesh, tetrahedra or regions that are not there, numbers that make no sense, and
    /// hard grabs of places with a node that is fixed to a bone.
    pub fn n_unusable(&self, input: &SkinInput) -> u32 {
        let has_region = |flesh: u32, region: Option<u32>| {
            let body = self.bodies.get(flesh as usize);
            body.is_some_and(|body| region.is_none_or(|region| (region as usize) < body.n_regions()))
        };
        let grabs = input.grabs.iter().filter(|grab| !self.is_usable(grab)).count();
        let pressures = input.pressures.iter();
        let pressures = pressures.filter(|load| !(is_pressure(load) && has_region(load.flesh, load.region)));
        let winds = input.winds.iter();
        let winds = winds.filter(|load| !(is_wind(load) && has_region(load.flesh, load.region)));
        (grabs + pressures.count() + winds.count()) as u32
    }

    /// The grabs of one body of flesh that a step takes.
    pub(crate) fn usable_grabs<'a>(
        &'a self,
        flesh: usize,
        input: &'a SkinInput,
    ) -> impl Iterator<Item = &'a FleshGrab> {
        let of_flesh = move |grab: &&FleshGrab| grab.flesh as usize == flesh && self.is_usable(grab);
        input.grabs.iter().filter(of_flesh)
    }

    fn is_usable(&self, grab: &FleshGrab) -> bool {
        let FleshGrab { point, target, stiffness, damping, .. } = grab;
        let is_gain = *stiffness >= 0.0 && *damping >= 0.0 && damping.is_finite();
        let is_place = (point.weights.iter().sum::<f64>() - 1.0).abs() < UNIT;
        let body = self.bodies.get(grab.flesh as usize);
        is_gain && is_place && target.is_finite() && body.is_some_and(|body| body.holds(grab))
    }
}

impl FleshBody {
    /// Whether the place of a grab is there, and free if the grab is hard.
    fn holds(&self, grab: &FleshGrab) -> bool {
        let is_there = (grab.point.tet as usize) < self.fem.n_tets();
        is_there && (!grab.is_hard() || self.is_free(&grab.point))
    }

    /// Whether no node around a point is fixed to a bone, so that a hard grab can hold it.
    pub fn is_free(&self, point: &SurfacePoint) -> bool {
        let mut at = self.corners(point.tet).into_iter().zip(point.weights);
        at.all(|(node, weight)| weight == 0.0 || !self.is_fixed[node])
    }
}
