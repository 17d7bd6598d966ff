//! The nonlinear equations that converged Newton iterations solve: `M(v⁺ − v̂) = h F(q⁺, v⁺) − J(q⁺)ᵀλ`, `C(q⁺) = 0`.

use glam::DVec3;
use sinew_math::{Motion, quat_to_mat3, skew};
use sinew_mechanism::{BodyKind, Gyroscopic, State};
use sinew_testkit::{Dense, norm};

use super::assembly::{Joint, motion_of, place, wrench};
use super::scene::Scene;

/// Largest joint error, and the largest part of the momentum balance that no joint force explains relative to the
/// largest impulse, after a step of effective length `h` from the momentum base `base`. Slides and springs of a step that begins at `start`, one
/// of first order, have the rates of their changes.
pub(crate) fn errors(
    scene: &Scene,
    (start, end): (Option<&State>, &State),
    base: &[Motion],
    h: f64,
) -> (f64, f64) {
    let n = scene.bodies.len();
    let joints = Joint::all(scene, end, &end.motions);
    let before = start.map(|start| Joint::all(scene, start, &start.motions));
    let mut impulses = vec![0.0; 6 * n];
    let mut add = |body: Option<usize>, row: &[f64; 6], scale: f64| {
        if let Some(body) = body {
            (0..6).for_each(|i| impulses[6 * body + i] += row[i] * scale * h);
        }
    };
    for (index, joint) in joints.iter().enumerate() {
        let spring_scale = scene.input.spring_scale;
        let [twist_gradient, slide_gradient] = [joint.twist_gradient(), joint.slide_gradient()];
        let slide = joint.relative.offset.x;
        let slide_rate = match &before {
            Some(before) => (slide - before[index].relative.offset.x) / h,
            None => joint.rate(&end.motions, &slide_gradient),
        };
        let twist_rate = joint.rate(&end.motions, &twist_gradient);
        let scalars = [
            (&joint.spec.twist, twist_gradient, joint.relative.twist, twist_rate),
            (&joint.spec.slide, slide_gradient, slide, slide_rate),
        ];
        for (force, gradient, value, rate) in scalars {
            let Some(spring) = force.map(|f| f.spring) else { continue };
            let pull = -spring_scale * (spring.stiffness * (value - spring.rest) + spring.damping * rate);
            add(joint.body1, &gradient.0, pull);
            add(joint.body2, &gradient.1, pull);
        }
        if let Some(rotation) = &joint.spec.rotation {
            let w =
                motion_of(&end.motions, joint.body1).angular - motion_of(&end.motions, joint.body2).angular;
            let torque =
                (joint.rotation_vector() * rotation.stiffness + w * rotation.damping) * -spring_scale;
            add(joint.body1, &wrench(torque, DVec3::ZERO), 1.0);
            add(joint.body2, &wrench(torque, DVec3::ZERO), -1.0);
        }
    }
    for spring in &scene.springs {
        let ends =
            [(Some(spring.body1.index()), spring.point1), (spring.body2.map(|b| b.index()), spring.point2)];
        let [p1, p2] = ends.map(|(body, point)| place(scene, end, body, point));
        // Between two moving bodies a spring of zero length damps what happens at its first point.
        let both = ends.iter().all(|(b, _)| b.is_some_and(|b| scene.bodies[b].kind == BodyKind::Dynamic));
        let meeting = if spring.rest_length == 0.0 && both { p1 } else { p2 };
        let rate = velocity(end, ends[0].0, p1) - velocity(end, ends[1].0, meeting);
        let (length, n) = ((p1 - p2).length(), (p1 - p2).normalize());
        let damped = match start.map(|start| ends.map(|(body, point)| place(scene, start, body, point))) {
            Some([q1, q2]) if spring.rest_length == 0.0 => (p1 - p2 - (q1 - q2)) / h,
            Some([q1, q2]) => n * ((length - (q1 - q2).length()) / h),
            None if spring.rest_length == 0.0 => rate,
            None => n * n.dot(rate),
        };
        let pull = n * (spring.stiffness * (length - spring.rest_length)) + damped * spring.damping;
        add(ends[0].0, &pulled(end, ends[0].0, p1, -pull), 1.0);
        add(ends[1].0, &pulled(end, ends[1].0, meeting, pull), 1.0);
    }
    for grab in &scene.input.grabs {
        let body = Some(grab.body.index());
        let p = place(scene, end, body, grab.point);
        let rate = match start {
            Some(start) => (p - place(scene, start, body, grab.point)) / h,
            None => velocity(end, body, p),
        };
        let pull = (grab.target - p) * grab.stiffness - rate * grab.damping;
        add(body, &pulled(end, body, p, pull), 1.0);
    }
    for (id, force) in &scene.input.wrenches {
        add(Some(id.index()), &force.to_array(), 1.0);
    }
    let mut rest = vec![0.0; 6 * n];
    for body in 0..n {
        let (spec, motion) = (&scene.bodies[body], end.motions[body]);
        if spec.kind != BodyKind::Dynamic {
            continue;
        }
        let rotation = quat_to_mat3(end.poses[body].rotation);
        let inertia = |w: DVec3| rotation * spec.mass.inertia.mul_vec(rotation.transpose() * w);
        let omega = motion.angular;
        let torque = -omega.cross(inertia(omega)) - inertia(omega) * spec.angular_damping;
        let force = (scene.settings.gravity - motion.linear * spec.linear_damping) * spec.mass.mass;
        add(Some(body), &wrench(torque, force), 1.0);
        let change = motion - base[body];
        let momentum = wrench(inertia(change.angular), change.linear * spec.mass.mass);
        (0..6).for_each(|i| rest[6 * body + i] = momentum[i]);
    }
    let scale = norm(&impulses).max(norm(&rest)).max(1.0);
    for body in (0..n).filter(|b| scene.bodies[*b].kind == BodyKind::Dynamic) {
        (6 * body..6 * body + 6).for_each(|i| rest[i] -= impulses[i]);
    }
    let worst = joints.iter().map(|j| norm(&j.rows.residual)).fold(0.0, f64::max);
    (worst, norm(&without_joint_impulses(scene, &joints, &rest)) / scale)
}

/// The same for a bare step whose impulses have the directions of its start: `M(q)(v⁺ − v) − h m g` on top of `J(q)ᵀλ`, and
/// `C(q⁺)`. The gyroscopic torque is implicit or left out.
pub(crate) fn errors_from_start(scene: &Scene, start: &State, end: &State) -> (f64, f64) {
    let (n, h) = (scene.bodies.len(), scene.settings.dt);
    let mut rest = vec![0.0; 6 * n];
    let mut scale = 1.0f64;
    for body in (0..n).filter(|b| scene.bodies[*b].kind == BodyKind::Dynamic) {
        let (mass, motion) = (&scene.bodies[body].mass, start.motions[body]);
        let rotation = quat_to_mat3(start.poses[body].rotation);
        let inertia = |w: DVec3| rotation * mass.inertia.mul_vec(rotation.transpose() * w);
        let (omega, full) = (motion.angular, rotation * mass.inertia.to_mat3() * rotation.transpose());
        let resistance = match scene.settings.gyroscopic {
            // One Newton step of ω̇ in body axes.
            Gyroscopic::Implicit => full + (skew(omega) * full - skew(full * omega)) * h,
            _ => full,
        };
        let has_torque = scene.settings.gyroscopic != Gyroscopic::None;
        let gyro = resistance.inverse() * omega.cross(full * omega) * h;
        let turned = if has_torque { omega - gyro } else { omega };
        let change = end.motions[body] - Motion::new(turned, motion.linear);
        let linear = change.linear - scene.settings.gravity * h;
        let left = wrench(inertia(change.angular), linear * mass.mass);
        (0..6).for_each(|i| rest[6 * body + i] = left[i]);
        scale = scale.max(norm(&left));
    }
    let at_start = Joint::all(scene, start, &start.motions);
    for row in orthonormal_rows(scene, &at_start) {
        let along: f64 = row.iter().zip(&rest).map(|(a, b)| a * b).sum();
        rest.iter_mut().zip(&row).for_each(|(x, u)| *x -= along * u);
    }
    let open =
        Joint::all(scene, end, &end.motions).iter().map(|j| norm(&j.rows.residual)).fold(0.0, f64::max);
    (open, norm(&rest) / scale)
}

/// An orthonormal basis of the rows on dynamic bodies; rows that others imply to 1e-9 are left out.
fn orthonormal_rows(scene: &Scene, joints: &[Joint<'_>]) -> Vec<Vec<f64>> {
    let mut basis: Vec<Vec<f64>> = Vec::new();
    for mut row in joints.iter().flat_map(|joint| (0..joint.rows.n).map(|r| whole_row(scene, joint, r))) {
        let length = row.iter().map(|x| x * x).sum::<f64>().sqrt();
        for unit in basis.iter().chain(&basis) {
            let along: f64 = unit.iter().zip(&row).map(|(a, b)| a * b).sum();
            row.iter_mut().zip(unit).for_each(|(x, u)| *x -= along * u);
        }
        let left = row.iter().map(|x| x * x).sum::<f64>().sqrt();
        if left > 1e-9 * length {
            basis.push(row.iter().map(|x| x / left).collect());
        }
    }
    basis
}

/// A row of a joint over all bodies; nothing on those that forces do not move.
fn whole_row(scene: &Scene, joint: &Joint<'_>, r: usize) -> Vec<f64> {
    let mut row = vec![0.0; 6 * scene.bodies.len()];
    for (body, part) in [(joint.body1, &joint.rows.jacobian1[r]), (joint.body2, &joint.rows.jacobian2[r])] {
        if let Some(body) = body.filter(|b| scene.bodies[*b].kind == BodyKind::Dynamic) {
            (0..6).for_each(|i| row[6 * body + i] += part[i]);
        }
    }
    row
}

/// The part of `impulses` on dynamic bodies that is orthogonal to every row.
fn without_joint_impulses(scene: &Scene, joints: &[Joint<'_>], impulses: &[f64]) -> Vec<f64> {
    let mut rows: Vec<Vec<f64>> = Vec::new();
    for joint in joints {
        rows.extend((0..joint.rows.n).map(|r| whole_row(scene, joint, r)));
    }
    let jacobian = Dense::from_fn(rows.len(), impulses.len(), |i, j| rows[i][j]);
    if rows.is_empty() {
        return impulses.to_vec();
    }
    let gram = jacobian.mul(&jacobian.transpose());
    let multipliers = gram.solve(&jacobian.mul_vec(impulses)).expect("independent rows");
    let explained = jacobian.transpose().mul_vec(&multipliers);
    impulses.iter().zip(explained).map(|(a, b)| a - b).collect()
}

fn velocity(state: &State, body: Option<usize>, point: DVec3) -> DVec3 {
    body.map_or(DVec3::ZERO, |b| {
        state.motions[b].linear + state.motions[b].angular.cross(point - state.poses[b].translation)
    })
}

fn pulled(state: &State, body: Option<usize>, point: DVec3, force: DVec3) -> [f64; 6] {
    let arm = body.map_or(DVec3::ZERO, |b| point - state.poses[b].translation);
    wrench(arm.cross(force), force)
}
