//! A single loop of hinges, and its motion in one coordinate.

use glam::DVec3;
use sinew_math::{MassProperties, Pose, exp_so3, quat_to_mat3};
use sinew_mechanism::{
    BodyId, BodySpec, JointFrames, JointKind, JointSpec, MechanismBuilder, rotation_to_axis,
};
use sinew_testkit::Dense;

use crate::support::slab;

/// A line about which two neighbours turn.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HingeLine {
    pub(crate) point: DVec3,
    /// Unit.
    pub(crate) axis: DVec3,
}

/// A closed chain: body `i` lies between hinges `i` and `i + 1`; before the first and behind the last is the ground.
#[derive(Clone, Debug)]
pub(crate) struct SingleLoop {
    pub(crate) hinges: Vec<HingeLine>,
    /// One less than hinges. A body without mass is the cross of a universal joint and is left out.
    pub(crate) bodies: Vec<Option<(Pose, MassProperties)>>,
}

/// A bar of 1 kg between two points; a cube if they coincide.
pub(crate) fn bar(from: DVec3, to: DVec3) -> Option<(Pose, MassProperties)> {
    let middle = 0.5 * (from + to);
    let length = from.distance(to);
    if length < 1e-3 {
        return Some((Pose::from_translation(middle), slab(DVec3::splat(0.2))));
    }
    let rotation = rotation_to_axis(to - from).expect("a bar");
    Some((Pose::new(rotation, middle), slab(DVec3::new(length, 0.05, 0.05))))
}

/// Where hinges and bodies are at some angles.
struct Placed {
    hinges: Vec<HingeLine>,
    bodies: Vec<Option<(Pose, MassProperties)>>,
    /// What is left of the ground: the identity if the loop is closed.
    ground: Pose,
}

impl SingleLoop {
    /// Bars from each hinge to the next, on hinges in turn.
    pub(crate) fn of_bars(hinges: Vec<HingeLine>) -> Self {
        let bodies = hinges.windows(2).map(|pair| bar(pair[0].point, pair[1].point)).collect();
        Self { hinges, bodies }
    }

    /// The mechanism; bodies without mass become universal joints between their neighbours.
    pub(crate) fn builder(&self) -> MechanismBuilder {
        let mut builder = MechanismBuilder::new();
        let mut last: Option<BodyId> = None;
        let mut cross: Option<HingeLine> = None;
        for (k, hinge) in self.hinges.iter().enumerate() {
            let body = match self.bodies.get(k) {
                Some(None) => {
                    cross = Some(*hinge);
                    continue;
                }
                Some(Some((pose, mass))) => Some(builder.add_body(BodySpec::dynamic("", *pose, *mass))),
                None => None,
            };
            // The last hinge joins the last body to the ground.
            let (child, parent) = match (body, last) {
                (Some(body), last) => (body, last),
                (None, Some(last)) => (last, None),
                (None, None) => unreachable!("a loop has bodies"),
            };
            let rotation = match cross.take() {
                Some(on_parent) => {
                    let third = hinge.axis.cross(on_parent.axis);
                    sinew_math::mat3_to_quat(&glam::DMat3::from_cols(hinge.axis, on_parent.axis, third))
                }
                None => rotation_to_axis(hinge.axis).expect("an axis"),
            };
            let is_universal = k > 0 && self.bodies.get(k - 1).is_some_and(Option::is_none);
            let kind = if is_universal { JointKind::Universal } else { JointKind::Hinge };
            let pose = |body: Option<BodyId>| body.map_or(Pose::IDENTITY, |b| builder.body_pose(b));
            let frame = Pose::new(rotation, hinge.point);
            let frames = JointFrames::coincident(&pose(Some(child)), &pose(parent), &frame);
            builder.add_joint(JointSpec::new("", kind, child, parent, frames));
            last = Some(child);
        }
        builder
    }

    fn placed(&self, angles: &[f64]) -> Placed {
        let mut ground = Pose::IDENTITY;
        let (mut hinges, mut bodies) = (Vec::new(), Vec::new());
        for (k, hinge) in self.hinges.iter().enumerate() {
            hinges.push(HingeLine {
                point: ground.transform_point(hinge.point),
                axis: ground.rotation * hinge.axis,
            });
            let turn = exp_so3(hinge.axis * angles[k]);
            ground = ground * Pose::new(turn, hinge.point - turn * hinge.point);
            if let Some(body) = self.bodies.get(k) {
                bodies.push(body.map(|(pose, mass)| (ground * pose, mass)));
            }
        }
        Placed { hinges, bodies, ground }
    }

    /// The hinge that turns fastest at the start.
    fn driver(&self) -> usize {
        let rates = self.placed(&vec![0.0; self.hinges.len()]).tangent(0);
        (0..rates.len()).max_by(|a, b| rates[*a].abs().total_cmp(&rates[*b].abs())).unwrap_or_default()
    }

    /// The loop is closed at the start, and stays closed to second order along its tangent.
    pub(crate) fn assert_closed(&self, name: &str) {
        let tangent = self.placed(&vec![0.0; self.hinges.len()]).tangent(self.driver());
        let fastest = tangent.iter().fold(0.0, |most: f64, t| most.max(t.abs()));
        for step in [1e-2, 1e-3].map(|step| step / fastest) {
            let angles: Vec<f64> = tangent.iter().map(|t| t * step).collect();
            let open = self.placed(&angles).ground;
            let gap = open.translation.length() + 2.0 * open.rotation.xyz().length();
            assert!(
                gap < 10.0 * (step * fastest).powi(2),
                "{name} opens by {gap:e} at {step}, rates {tangent:?}"
            );
        }
    }

    /// Places of the bodies after a time from rest.
    pub(crate) fn places_after(&self, gravity: DVec3, seconds: f64) -> Vec<DVec3> {
        let (n, driver) = (self.hinges.len(), self.driver());
        let rate = |state: Vec<f64>| {
            let (angles, speed) = (&state[..n], state[n]);
            let tangent = self.placed(angles).tangent(driver);
            let at = |step: f64| {
                let angles: Vec<f64> = angles.iter().zip(&tangent).map(|(a, t)| a + step * t).collect();
                self.placed(&angles).inertia_and_potential(driver, gravity)
            };
            let (here, before, behind) = (at(0.0), at(-STEP), at(STEP));
            let slope = |a: f64, b: f64| (b - a) / (2.0 * STEP);
            let force = 0.5 * slope(before.0, behind.0) * speed * speed + slope(before.1, behind.1);
            let mut out: Vec<f64> = tangent.iter().map(|t| t * speed).collect();
            out.push(-force / here.0);
            out
        };
        let end = runge_kutta_of_any_size(vec![0.0; n + 1], seconds, 3_000, rate);
        let placed = self.placed(&end[..n]);
        let gap = placed.ground.translation.length();
        assert!(gap < 1e-7, "the reference opens by {gap:e} m");
        placed.bodies.iter().flatten().map(|(pose, _)| pose.translation).collect()
    }
}

/// Step of central differences along the curve, rad.
const STEP: f64 = 1e-5;

impl Placed {
    /// Rates of all angles along the curve for a unit rate of one.
    fn tangent(&self, driver: usize) -> Vec<f64> {
        let columns: Vec<[f64; 6]> = self.hinges.iter().map(HingeLine::screw).collect();
        let others: Vec<usize> = (0..columns.len()).filter(|k| *k != driver).collect();
        let dot = |a: usize, b: usize| columns[a].iter().zip(&columns[b]).map(|(x, y)| x * y).sum::<f64>();
        let normal = Dense::from_fn(others.len(), others.len(), |i, j| dot(others[i], others[j]));
        let right: Vec<f64> = others.iter().map(|k| -dot(*k, driver)).collect();
        let mut rates = normal.solve(&right).expect("this hinge can drive");
        rates.insert(driver, 1.0);
        rates
    }

    /// `m` and `V` for a unit rate of an angle.
    fn inertia_and_potential(&self, driver: usize, gravity: DVec3) -> (f64, f64) {
        let (mut omega, mut velocity) = (DVec3::ZERO, DVec3::ZERO);
        let (mut inertia, mut potential) = (0.0, 0.0);
        for ((hinge, rate), body) in self.hinges.iter().zip(self.tangent(driver)).zip(&self.bodies) {
            // Velocity of the point of the body at the origin.
            omega += hinge.axis * rate;
            velocity += hinge.point.cross(hinge.axis) * rate;
            if let Some((pose, mass)) = body {
                let own = quat_to_mat3(pose.rotation).transpose() * omega;
                let linear = velocity + omega.cross(pose.translation);
                inertia += mass.inertia.quadratic_form(own) + mass.mass * linear.length_squared();
                potential -= mass.mass * gravity.dot(pose.translation);
            }
        }
        (inertia, potential)
    }
}

impl HingeLine {
    fn screw(&self) -> [f64; 6] {
        let moment = self.point.cross(self.axis);
        [self.axis.x, self.axis.y, self.axis.z, moment.x, moment.y, moment.z]
    }
}

/// Classical Runge–Kutta with equal steps.
pub(crate) fn runge_kutta(
    start: [f64; 2],
    seconds: f64,
    n: usize,
    rate: impl Fn([f64; 2]) -> [f64; 2],
) -> Vec<f64> {
    runge_kutta_of_any_size(start.to_vec(), seconds, n, |state| rate([state[0], state[1]]).to_vec())
}

fn runge_kutta_of_any_size(
    mut state: Vec<f64>,
    seconds: f64,
    n: usize,
    rate: impl Fn(Vec<f64>) -> Vec<f64>,
) -> Vec<f64> {
    let h = seconds / n as f64;
    let along = |state: &[f64], k: &[f64], h: f64| -> Vec<f64> {
        state.iter().zip(k).map(|(x, k)| x + h * k).collect()
    };
    for _ in 0..n {
        let k1 = rate(state.clone());
        let k2 = rate(along(&state, &k1, 0.5 * h));
        let k3 = rate(along(&state, &k2, 0.5 * h));
        let k4 = rate(along(&state, &k3, h));
        for i in 0..state.len() {
            state[i] += h / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]);
        }
    }
    state
}
