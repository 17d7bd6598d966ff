//! A tiny integrator of rigid boxes, to see the contact law at work: dense implicit steps and explicit sub-steps.

use glam::{DMat3, DVec3};
use sinew_contact::{
    Anchors, Approach, ContactPoint, ContactSolve, ContactStep, ContactSummary, Mover, Opposite,
};
use sinew_math::{Motion, Pose, skew};
use sinew_testkit::Dense;

/// A body with the inertia of a box.
#[derive(Clone, Debug)]
pub(crate) struct Brick {
    pub(crate) pose: Pose,
    pub(crate) motion: Motion,
    pub(crate) mass: f64,
    pub(crate) edges: DVec3,
}

/// Boxes with what their contacts remember.
pub(crate) struct Bricks {
    pub(crate) bricks: Vec<Brick>,
    pub(crate) gravity: DVec3,
    pub(crate) anchors: Anchors,
    solve: ContactSolve,
    /// The most solves of a step.
    pub(crate) passes: usize,
    /// Solves of the last step.
    pub(crate) used: usize,
    /// Factor on the masses that contacts are told.
    pub(crate) mass_error: f64,
}

impl Brick {
    pub(crate) fn new(pose: Pose, mass: f64, edges: DVec3) -> Self {
        Self { pose, motion: Motion::ZERO, mass, edges }
    }

    fn inertia(&self) -> DMat3 {
        let s = self.edges * self.edges;
        let body = DVec3::new(s.y + s.z, s.x + s.z, s.x + s.y) * (self.mass / 12.0);
        let r = self.pose.rotation_matrix();
        r * DMat3::from_diagonal(body) * r.transpose()
    }

    pub(crate) fn energy(&self, gravity: DVec3) -> f64 {
        let Motion { angular, linear } = self.motion;
        0.5 * (self.mass * linear.length_squared() + angular.dot(self.inertia() * angular))
            - self.mass * gravity.dot(self.pose.translation)
    }

    pub(crate) fn corners(&self) -> [DVec3; 8] {
        std::array::from_fn(|i| {
            let sign = |bit: usize| if i >> bit & 1 == 1 { 0.5 } else { -0.5 };
            self.pose.transform_point(self.edges * DVec3::new(sign(0), sign(1), sign(2)))
        })
    }
}

/// The bodies of a contact with the sign of their part in the relative velocity.
fn sides(contact: &ContactPoint) -> Vec<(usize, f64)> {
    let Mover::Body(a) = contact.a else { unreachable!("only bodies here") };
    let mut sides = vec![(a as usize, 1.0)];
    if let Opposite::Body(b) = contact.b {
        sides.push((b as usize, -1.0));
    }
    sides
}

impl Bricks {
    pub(crate) fn new(bricks: Vec<Brick>, gravity: DVec3) -> Self {
        let (anchors, solve) = (Anchors::new(), ContactSolve::new());
        Self { bricks, gravity, anchors, solve, passes: 3, used: 0, mass_error: 1.0 }
    }

    fn relative(bricks: &[Brick], motions: &[Motion], contact: &ContactPoint) -> DVec3 {
        let at = |i: usize| {
            motions[i].linear + motions[i].angular.cross(contact.point - bricks[i].pose.translation)
        };
        sides(contact).into_iter().map(|(i, sign)| at(i) * sign).sum()
    }

    fn mass_at(bricks: &[Brick], contact: &ContactPoint) -> f64 {
        let inverse: f64 = sides(contact)
            .into_iter()
            .map(|(i, _)| {
                let arm = (contact.point - bricks[i].pose.translation).cross(contact.normal);
                1.0 / bricks[i].mass + arm.dot(bricks[i].inertia().inverse() * arm)
            })
            .sum();
        1.0 / inverse
    }

    /// One implicit step.
    pub(crate) fn step(&mut self, contacts: &[ContactPoint], h: f64) -> ContactSummary {
        let bricks = &self.bricks;
        let free: Vec<Motion> = bricks
            .iter()
            .map(|b| Motion::new(b.motion.angular, b.motion.linear + self.gravity * h))
            .collect();
        let now: Vec<Motion> = bricks.iter().map(|b| b.motion).collect();
        let approach = |c: &ContactPoint| Approach {
            now: Self::relative(bricks, &now, c),
            free: Self::relative(bricks, &free, c),
            mass: self.mass_error * Self::mass_at(bricks, c),
            slide: DVec3::ZERO,
            rebound: 0.0,
        };
        self.solve.begin(contacts, &self.anchors, h, approach);
        let mut motions = solve(bricks, contacts, self.solve.steps(), &free);
        self.used = 1;
        while self.used < self.passes {
            let last = self.used + 1 == self.passes;
            let ends: Vec<DVec3> = contacts.iter().map(|c| Self::relative(bricks, &motions, c)).collect();
            if self.solve.review(last, &ends) == 0 {
                break;
            }
            motions = solve(bricks, contacts, self.solve.steps(), &free);
            self.used += 1;
        }
        let end = |c: &ContactPoint| Self::relative(bricks, &motions, c);
        let summary = self.solve.finish(contacts, &mut self.anchors, end);
        for (brick, motion) in self.bricks.iter_mut().zip(&motions) {
            brick.motion = *motion;
            brick.pose = brick.pose.retract(*motion * h);
        }
        summary
    }

    /// One explicit sub-step (semi-implicit Euler) with the forces that remember.
    pub(crate) fn substep(&mut self, contacts: &[ContactPoint], h: f64) {
        let motions: Vec<Motion> = self.bricks.iter().map(|b| b.motion).collect();
        let mut wrenches = vec![(DVec3::ZERO, DVec3::ZERO); self.bricks.len()];
        let mut stretches = Vec::new();
        self.anchors.fill_stretches(contacts, &mut stretches);
        for (contact, stretch) in contacts.iter().zip(&mut stretches) {
            let velocity = Self::relative(&self.bricks, &motions, contact);
            let force = contact.law.force_with_memory(contact.normal, contact.depth, velocity, *stretch, h);
            *stretch = force.stretch;
            for (i, sign) in sides(contact) {
                let arm = contact.point - self.bricks[i].pose.translation;
                wrenches[i].0 += arm.cross(force.force) * sign;
                wrenches[i].1 += force.force * sign;
            }
        }
        self.anchors.replace(contacts, &stretches);
        for (brick, (torque, force)) in self.bricks.iter_mut().zip(wrenches) {
            brick.motion.angular += brick.inertia().inverse() * torque * h;
            brick.motion.linear += (force / brick.mass + self.gravity) * h;
            brick.pose = brick.pose.retract(brick.motion * h);
        }
    }
}

/// `(M + Σ GᵀBG) v' = M v_free + Σ Gᵀq`, dense, `G = [−[r], 1]`.
fn solve(bricks: &[Brick], contacts: &[ContactPoint], steps: &[ContactStep], free: &[Motion]) -> Vec<Motion> {
    let n = 6 * bricks.len();
    let mut matrix = Dense::zeros(n, n);
    let mut rhs = vec![0.0; n];
    for (i, brick) in bricks.iter().enumerate() {
        matrix.add_block(6 * i, 6 * i, &dense(brick.inertia()));
        matrix.add_block(6 * i + 3, 6 * i + 3, &dense(DMat3::IDENTITY * brick.mass));
        add(&mut rhs, 6 * i, brick.inertia() * free[i].angular);
        add(&mut rhs, 6 * i + 3, free[i].linear * brick.mass);
    }
    for (contact, step) in contacts.iter().zip(steps) {
        let b = dense(step.matrix().to_mat3());
        let q = step.constant_impulse();
        let rows: Vec<(usize, f64, Dense)> = sides(contact)
            .into_iter()
            .map(|(i, sign)| {
                let mut g = Dense::zeros(3, 6);
                g.add_block(0, 0, &dense(skew(contact.point - bricks[i].pose.translation) * -sign));
                g.add_block(0, 3, &dense(DMat3::IDENTITY * sign));
                (i, sign, g)
            })
            .collect();
        for (i, sign, g) in &rows {
            let arm = contact.point - bricks[*i].pose.translation;
            add(&mut rhs, 6 * i, arm.cross(q) * *sign);
            add(&mut rhs, 6 * i + 3, q * *sign);
            for (j, _, other) in &rows {
                matrix.add_block(6 * i, 6 * j, &g.transpose().mul(&b).mul(other));
            }
        }
    }
    let v = matrix.solve(&rhs).expect("a positive definite system");
    let part = |i: usize| DVec3::from_slice(&v[3 * i..]);
    (0..bricks.len()).map(|i| Motion::new(part(2 * i), part(2 * i + 1))).collect()
}

fn dense(m: DMat3) -> Dense {
    Dense::from_fn(3, 3, |i, j| m.col(j)[i])
}

fn add(rhs: &mut [f64], at: usize, v: DVec3) {
    for i in 0..3 {
        rhs[at + i] += v[i];
    }
}
