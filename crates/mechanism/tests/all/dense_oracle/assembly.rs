//! The implicit step as one dense linear system, assembled from the row library and force laws written out here.
//!
//! `A v + Jᵀλ = b`, `J v − (α/h²) λ = −C/h` (docs/maths, stiff joints) over the twists of all bodies; bodies that
//! forces do not move get the equation `v = given`. Slow and plain: nothing is shared with the steppers but the rows.

use glam::{DMat3, DVec3};
use sinew_math::{Motion, exp_so3, log_so3, quat_to_mat3, skew};
use sinew_mechanism::{
    BodyKind, Drive, DriveCoordinate, Gyroscopic, JointId, JointKind, Model, State, joint_forces,
};
use sinew_testkit::Dense;

use super::scene::Scene;
pub(crate) use joint::Joint;

mod joint;

/// Three rows on the twist of one end; scalar forces use the first only.
type Ends = [(Option<usize>, [[f64; 6]; 3]); 2];

/// What a step finds.
pub(crate) struct Solution {
    /// Twists at the end of the step.
    pub(crate) motions: Vec<Motion>,
    /// Force of the rows of each joint on its body 1, N; none if the rows do not determine it.
    pub(crate) forces: Option<Vec<DVec3>>,
}

/// Per joint, of twist and slide: the limit that holds it although its speed does not reach it, and its stiffness.
type HeldAt = Vec<[Option<[f64; 2]>; 2]>;

/// Solves of a step with other limits, at most.
const MOST_SOLVES: usize = 8;

/// The step of a model of the scene; `loaded`: its joint forces stiffen the rotations. Poses are in body axes at the
/// centres of mass. None if rigid rows contradict each other, or if some row is all but implied by the others: what
/// they leave of it is shorter than `margin` and yet not nothing.
pub(crate) fn solve(
    scene: &Scene,
    model: &Model,
    state: &State,
    loaded: bool,
    margin: f64,
) -> Option<Solution> {
    let start = start_motions(scene, state);
    let joints = Joint::all(scene, state, &start);
    let mut held: HeldAt = vec![[None; 2]; joints.len()];
    let mut solution = None;
    for _ in 0..MOST_SOLVES {
        let found = solve_held(scene, model, state, (loaded, margin), &held)?;
        let next = joints.iter().map(|joint| joint.review(scene, &held, [&start, &found.motions])).collect();
        solution = Some(found);
        if next == held {
            break;
        }
        held = next;
    }
    solution
}

/// [`solve`] with some coordinates held at their limits.
fn solve_held(
    scene: &Scene,
    model: &Model,
    state: &State,
    (loaded, margin): (bool, f64),
    held: &HeldAt,
) -> Option<Solution> {
    let h = scene.settings.dt;
    let n = scene.bodies.len();
    let start = start_motions(scene, state);
    let joints = Joint::all(scene, state, &start);
    let kept = independent_rows(scene, &joints, margin)?;
    let n_all: usize = joints.iter().map(|j| j.rows.n).sum();
    let n_rows = kept.len();
    let mut system =
        System { matrix: Dense::zeros(6 * n + n_rows, 6 * n + n_rows), rhs: vec![0.0; 6 * n + n_rows] };
    for body in 0..n {
        system.add_body(scene, state, body);
    }
    for joint in &joints {
        joint.add_forces(&mut system, scene, &start, held[joint.index]);
    }
    add_point_springs(&mut system, scene, (model, state, &start), &joints);
    if loaded {
        add_geometric_stiffness(&mut system, scene, model, state, &joints);
    }
    for (place, &(joint, r)) in kept.iter().enumerate() {
        system.add_row(&joints[joint], r, 6 * n + place, h);
    }
    for body in 0..n {
        if scene.bodies[body].kind != BodyKind::Dynamic {
            system.prescribe(body, start[body]);
        }
    }
    let solution = system.matrix.solve(&system.rhs)?;
    let motions: Vec<Motion> =
        (0..n).map(|b| Motion::from_array(std::array::from_fn(|i| solution[6 * b + i]))).collect();
    for joint in joints.iter().filter(|j| j.spec.compliance == 0.0) {
        if joint.row_error(&motions, h) > 1e-9 {
            return None;
        }
    }
    let mut forces = vec![DVec3::ZERO; joints.len()];
    for (place, &(joint, r)) in kept.iter().enumerate() {
        let row = &joints[joint].rows.jacobian1[r];
        forces[joint] -= DVec3::new(row[3], row[4], row[5]) * (solution[6 * n + place] / h);
    }
    Some(Solution { motions, forces: (n_rows == n_all).then_some(forces) })
}

/// Rows `(joint, row)` that no earlier ones imply, and all soft ones; none if some row nearly is.
fn independent_rows(scene: &Scene, joints: &[Joint<'_>], margin: f64) -> Option<Vec<(usize, usize)>> {
    let mut basis: Vec<Vec<f64>> = Vec::new();
    let mut kept = Vec::new();
    for (index, joint) in joints.iter().enumerate() {
        for r in 0..joint.rows.n {
            if joint.spec.compliance > 0.0 {
                kept.push((index, r));
                continue;
            }
            let mut row = vec![0.0; 6 * scene.bodies.len()];
            for (body, part) in
                [(joint.body1, &joint.rows.jacobian1[r]), (joint.body2, &joint.rows.jacobian2[r])]
            {
                if let Some(body) = body.filter(|b| is_dynamic(scene, Some(*b))) {
                    (0..6).for_each(|i| row[6 * body + i] += part[i]);
                }
            }
            let length = norm2(&row);
            for _ in 0..2 {
                for unit in &basis {
                    let along: f64 = unit.iter().zip(&row).map(|(a, b)| a * b).sum();
                    row.iter_mut().zip(unit).for_each(|(x, u)| *x -= along * u);
                }
            }
            let rest = norm2(&row);
            if rest > margin * length {
                basis.push(row.iter().map(|x| x / rest).collect());
                kept.push((index, r));
            } else if rest > 1e-9 * length {
                return None;
            }
        }
    }
    Some(kept)
}

fn norm2(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum::<f64>().sqrt()
}

/// `|J v − b| / (|J||v| + |b|)` of the rigid joints among `which` at the start of a step, largest entries and rows. A scene
/// that cannot move counts as if it moved by 0.1 m/s.
pub(crate) fn worst_row_error(
    scene: &Scene,
    state: &State,
    motions: &[Motion],
    which: impl Fn(usize) -> bool,
) -> f64 {
    let joints = Joint::all(scene, state, &start_motions(scene, state));
    let speed = motions.iter().map(|m| norm2(&m.to_array())).fold(0.1, f64::max);
    let (mut worst, mut longest, mut largest) = (0.0f64, 0.0f64, 0.0f64);
    for joint in joints.iter().filter(|j| j.spec.compliance == 0.0 && which(j.index)) {
        for r in 0..joint.rows.n {
            let (row1, row2) = (joint.rows.jacobian1[r], joint.rows.jacobian2[r]);
            let goal = -joint.rows.residual[r] / scene.settings.dt;
            worst = worst.max((joint.rate(motions, &(row1, row2)) - goal).abs());
            longest = longest.max(norm2(&row1)).max(norm2(&row2));
            largest = largest.max(goal.abs());
        }
    }
    worst / (longest * speed + largest).max(1e-3)
}

/// Twists at the start; bodies that the input moves have the twist that takes them to their goal.
fn start_motions(scene: &Scene, state: &State) -> Vec<Motion> {
    let mut motions = state.motions.clone();
    for (id, goal) in &scene.input.kinematic {
        let now = state.poses[id.index()];
        let turn = log_so3(goal.rotation * now.rotation.conjugate());
        let shift = goal.translation - now.translation;
        motions[id.index()] = Motion::new(turn, shift) * (1.0 / scene.settings.dt);
    }
    motions
}

struct System {
    matrix: Dense,
    rhs: Vec<f64>,
}

impl System {
    /// Inertia, momentum, gravity, drag, gyroscopic torque and the input's wrenches.
    fn add_body(&mut self, scene: &Scene, state: &State, body: usize) {
        let spec = &scene.bodies[body];
        if spec.kind != BodyKind::Dynamic {
            return;
        }
        let h = scene.settings.dt;
        let rotation = quat_to_mat3(state.poses[body].rotation);
        let inertia = rotation * spec.mass.inertia.to_mat3() * rotation.transpose();
        let Motion { angular: omega, linear: velocity } = state.motions[body];
        let gyro = omega.cross(inertia * omega);
        let angular = match scene.settings.gyroscopic {
            Gyroscopic::Explicit => inertia * omega - gyro * h,
            Gyroscopic::Implicit => {
                let jacobian = inertia + (skew(omega) * inertia - skew(inertia * omega)) * h;
                inertia * (omega - jacobian.inverse() * gyro * h)
            }
            _ => inertia * omega,
        };
        let linear = (velocity + scene.settings.gravity * h) * spec.mass.mass;
        for i in 0..3 {
            for j in 0..3 {
                let entry = inertia.col(j)[i] * (1.0 + h * spec.angular_damping);
                self.matrix[(6 * body + i, 6 * body + j)] += entry;
            }
            let diagonal = 6 * body + 3 + i;
            self.matrix[(diagonal, diagonal)] += spec.mass.mass * (1.0 + h * spec.linear_damping);
            self.rhs[6 * body + i] += angular[i];
            self.rhs[diagonal] += linear[i];
        }
        for (_, wrench) in scene.input.wrenches.iter().filter(|(id, _)| id.index() == body) {
            for (i, value) in wrench.to_array().into_iter().enumerate() {
                self.rhs[6 * body + i] += h * value;
            }
        }
    }

    /// A force `G`-wise: the impulse `Gᵀ(q − T G v)`.
    fn couple(&mut self, ends: &Ends, tangent: DMat3, impulse: DVec3) {
        for (row_body, row_map) in ends {
            let Some(a) = row_body else { continue };
            for i in 0..6 {
                for p in 0..3 {
                    self.rhs[6 * a + i] += row_map[p][i] * impulse[p];
                }
                for (column_body, column_map) in ends {
                    let Some(b) = column_body else { continue };
                    for j in 0..6 {
                        for (p, q) in (0..9).map(|k| (k / 3, k % 3)) {
                            self.matrix[(6 * a + i, 6 * b + j)] +=
                                row_map[p][i] * tangent.col(q)[p] * column_map[q][j];
                        }
                    }
                }
            }
        }
    }

    fn couple_scalar(&mut self, joint: &Joint<'_>, gradient: ([f64; 6], [f64; 6]), q: f64, kappa: f64) {
        let zero = [0.0; 6];
        let ends = [(joint.body1, [gradient.0, zero, zero]), (joint.body2, [gradient.1, zero, zero])];
        self.couple(&ends, DMat3::from_diagonal(DVec3::X * kappa), DVec3::X * q);
    }

    fn add_row(&mut self, joint: &Joint<'_>, r: usize, row: usize, h: f64) {
        for (body, jacobian) in
            [(joint.body1, &joint.rows.jacobian1[r]), (joint.body2, &joint.rows.jacobian2[r])]
        {
            let Some(body) = body else { continue };
            for i in 0..6 {
                self.matrix[(row, 6 * body + i)] += jacobian[i];
                self.matrix[(6 * body + i, row)] += jacobian[i];
            }
        }
        self.matrix[(row, row)] -= joint.spec.compliance / (h * h);
        self.rhs[row] = -joint.rows.residual[r] / h;
    }

    fn prescribe(&mut self, body: usize, motion: Motion) {
        let motion = motion.to_array();
        for i in 0..6 {
            let row = 6 * body + i;
            for column in 0..self.matrix.n_cols() {
                self.matrix[(row, column)] = f64::from(u8::from(row == column));
            }
            self.rhs[row] = motion[i];
        }
    }
}

/// `h²K` on both ends of every joint that holds a point, `K = (b − β I/h²)₊ (1 − ssᵀ/|s|²)` with
/// `b = ½(f·r + |f||r|)`, `s = r|f| + f|r|`, `I` the least inertia about the anchor; the force `f` in a tree joint
/// is what the bodies beyond it feel together.
fn add_geometric_stiffness(
    system: &mut System,
    scene: &Scene,
    model: &Model,
    state: &State,
    joints: &[Joint<'_>],
) {
    let dynamic: Vec<usize> = (0..scene.bodies.len()).filter(|b| is_dynamic(scene, Some(*b))).collect();
    let pairs = model.plan().pairs();
    let mut forces: Vec<DVec3> = pairs.iter().map(|p| state.pulls[dynamic[p.variable.index()]]).collect();
    for (k, pair) in pairs.iter().enumerate() {
        if let Some(above) = forces.get(pair.parent as usize).copied() {
            forces[pair.parent as usize] = above + forces[k];
        }
        let Some(joint) = pair.constraint.map(|c| &joints[c.index()]) else { continue };
        let is_first = joint.body1 == Some(dynamic[pair.variable.index()]);
        stiffen(system, scene, state, joint, if is_first { forces[k] } else { -forces[k] });
    }
    let on_first = joint_forces(model, state);
    for joint in joints.iter().filter(|j| !model.is_tree_joint(JointId::from_index(j.index))) {
        stiffen(system, scene, state, joint, on_first[joint.index]);
    }
}

/// The two ends of a joint whose force on body 1 is `force`.
fn stiffen(system: &mut System, scene: &Scene, state: &State, joint: &Joint<'_>, force: DVec3) {
    if matches!(joint.spec.kind, JointKind::Free | JointKind::Orientation) {
        return;
    }
    let h = scene.settings.dt;
    let frames = &joint.spec.frames;
    for (body, point, f) in [(joint.body1, frames.point1, force), (joint.body2, frames.point2, -force)] {
        let Some(body) = body.filter(|b| is_dynamic(scene, Some(*b))) else { continue };
        let arm = place(scene, state, Some(body), point) - state.poses[body].translation;
        let mass = &scene.bodies[body].mass;
        let inertia = mass.principal_axes().1.min_element() + mass.mass * arm.length_squared();
        let bound = 0.5 * (f.dot(arm) + f.length() * arm.length()) - 0.1 * inertia / (h * h);
        let s = (arm * f.length() + f * arm.length()).normalize_or_zero();
        let projector = DMat3::IDENTITY - DMat3::from_cols(s * s.x, s * s.y, s * s.z);
        let turn = DVec3::AXES.map(|e| wrench(e, DVec3::ZERO));
        let ends = [(Some(body), turn), (None, [[0.0; 6]; 3])];
        system.couple(&ends, projector * (h * h * bound.max(0.0)), DVec3::ZERO);
    }
}

/// Springs across joints, to immovable points, and the input's grabs.
fn add_point_springs(
    system: &mut System,
    scene: &Scene,
    (model, state, start): (&Model, &State, &[Motion]),
    joints: &[Joint<'_>],
) {
    let h = scene.settings.dt;
    for spec in &scene.springs {
        let (mut a, mut b) =
            ((Some(spec.body1.index()), spec.point1), (spec.body2.map(|b| b.index()), spec.point2));
        let pair = (a.0, b.0);
        let across = joints.iter().find(|j| {
            let ends = (Some(j.spec.child.index()), j.spec.parent.map(|p| p.index()));
            let is_tree = model.is_tree_joint(JointId::from_index(j.index));
            is_tree && pair.1.is_some() && (pair == ends || (pair.1, pair.0) == ends)
        });
        // The relative velocity is taken at one point, that on the joint's body 1, so that action meets reaction.
        let first = across.map_or(a.0, |j| Some(j.spec.child.index()));
        if a.0 != first || !is_dynamic(scene, a.0) {
            std::mem::swap(&mut a, &mut b);
        }
        let [p1, p2] = [a, b].map(|(body, point)| place(scene, state, body, point));
        let gap = p1 - p2;
        let (length, n) = (gap.length(), gap.normalize());
        let ratio = 1.0 - spec.rest_length / length;
        let along = DMat3::from_cols(n * n.x, n * n.y, n * n.z);
        let across_n = (DMat3::IDENTITY - along) * ratio.max(0.0);
        let damped = if spec.rest_length > 0.0 { along } else { DMat3::IDENTITY };
        let tangent = (along + across_n) * (h * h * spec.stiffness) + damped * (h * spec.damping);
        let arm =
            |body: Option<usize>, p: DVec3| p - body.map_or(DVec3::ZERO, |b| state.poses[b].translation);
        let meeting = if is_dynamic(scene, a.0) && is_dynamic(scene, b.0) { p1 } else { p2 };
        let ends = [(a.0, point_rows(arm(a.0, p1), 1.0)), (b.0, point_rows(arm(b.0, meeting), -1.0))];
        // What the damper sees of bodies that go on as they do, beyond what the rows see.
        let moved = moved_point(scene, state, start, a) - moved_point(scene, state, start, b);
        let seen = velocity_of(start, a.0, arm(a.0, p1)) - velocity_of(start, b.0, arm(b.0, meeting));
        let bend = if spec.rest_length > 0.0 {
            n * ((moved.length() - length) / h - n.dot(seen))
        } else {
            (moved - gap) / h - seen
        };
        let bend = bend * (h * spec.damping * foreseen_share(scene, start, [a.0, b.0]));
        system.couple(&ends, tangent, gap * (-h * spec.stiffness * ratio) - bend);
    }
    for grab in &scene.input.grabs {
        let body = grab.body.index();
        let point = place(scene, state, Some(body), grab.point);
        let rows = point_rows(point - state.poses[body].translation, 1.0);
        let tangent = DMat3::IDENTITY * (h * h * grab.stiffness + h * grab.damping);
        let bend = (moved_point(scene, state, start, (Some(body), grab.point)) - point) / h
            - velocity_of(start, Some(body), point - state.poses[body].translation);
        let bend = bend * (h * grab.damping * foreseen_share(scene, start, [Some(body), None]));
        let impulse = (grab.target - point) * (h * grab.stiffness) - bend;
        system.couple(&[(Some(body), rows), (None, [[0.0; 6]; 3])], tangent, impulse);
    }
}

/// Where a point of a body is at the end of the step, if it goes on as it does.
fn moved_point(
    scene: &Scene,
    state: &State,
    motions: &[Motion],
    (body, point): (Option<usize>, DVec3),
) -> DVec3 {
    let Some(b) = body else { return point };
    let (now, Motion { angular, linear }, h) = (state.poses[b], motions[b], scene.settings.dt);
    let arm = place(scene, state, body, point) - now.translation;
    now.translation + linear * h + exp_so3(angular * h) * arm
}

/// Share of a bend that the motion of the start foretells.
fn foreseen_share(scene: &Scene, motions: &[Motion], bodies: [Option<usize>; 2]) -> f64 {
    let turns = bodies.map(|body| motion_of(motions, body).angular.length() * scene.settings.dt);
    1.0 / (1.0 + turns[0].max(turns[1]).powi(4))
}

/// Velocity of a point at an arm of a body.
fn velocity_of(motions: &[Motion], body: Option<usize>, arm: DVec3) -> DVec3 {
    let Motion { angular, linear } = motion_of(motions, body);
    linear + angular.cross(arm)
}

/// Velocity of a point at `arm`: rows `[−[r], 1]`.
fn point_rows(arm: DVec3, sign: f64) -> [[f64; 6]; 3] {
    DVec3::AXES.map(|e| wrench(arm.cross(e) * sign, e * sign))
}

pub(crate) fn place(scene: &Scene, state: &State, body: Option<usize>, point: DVec3) -> DVec3 {
    body.map_or(point, |b| state.poses[b].transform_point(point - scene.com(b)))
}

pub(crate) fn wrench(angular: DVec3, linear: DVec3) -> [f64; 6] {
    [angular.x, angular.y, angular.z, linear.x, linear.y, linear.z]
}

fn is_dynamic(scene: &Scene, body: Option<usize>) -> bool {
    body.is_some_and(|b| scene.bodies[b].kind == BodyKind::Dynamic)
}

pub(crate) fn motion_of(motions: &[Motion], body: Option<usize>) -> Motion {
    body.map_or(Motion::ZERO, |b| motions[b])
}

fn drives(scene: &Scene, joint: usize) -> Vec<Drive> {
    let driven = |c: &DriveCoordinate| scene.joints[joint].driven.contains(c);
    let value = |coordinate| {
        let given = scene.input.drives.iter().find(|(j, d)| j.index() == joint && d.coordinate == coordinate);
        given.map_or(Drive { coordinate, value: 0.0, rate: 0.0, acceleration: 0.0 }, |(_, d)| *d)
    };
    [DriveCoordinate::Twist, DriveCoordinate::Slide].into_iter().filter(driven).map(value).collect()
}

/// Largest `|J v|` over the rows of rigid joints, less what drives ask for.
pub(crate) fn worst_rate(scene: &Scene, state: &State) -> f64 {
    let joints = Joint::all(scene, state, &state.motions);
    let rate = |j: &Joint<'_>| {
        let of_row = |r| j.rate(&state.motions, &(j.rows.jacobian1[r], j.rows.jacobian2[r])).abs();
        (0..j.rows.n).map(of_row).fold(0.0, f64::max)
    };
    joints.iter().filter(|j| j.spec.compliance == 0.0).map(rate).fold(0.0, f64::max)
}
