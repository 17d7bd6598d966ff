//! A tiny integrator of rigid boxes, to see the contact law at work: dense implicit steps and explicit sub-steps.

use glam::{DMat3, DVec3};
use sinew_contact::{ContactLaw, ContactStart, ContactStep, Grip};
use sinew_math::{Motion, Pose, skew};
use sinew_testkit::Dense;

/// A box.
#[derive(Clone, Debug)]
pub struct Brick {
    pub pose: Pose,
    pub motion: Motion,
    pub mass: f64,
    pub edges: DVec3,
}

/// A contact between two boxes, or of one with the world.
#[derive(Clone, Copy, Debug)]
pub struct Touch<K> {
    pub key: K,
    pub a: usize,
    pub b: Option<usize>,
    pub point: DVec3,
    pub normal: DVec3,
    pub depth: f64,
    pub law: ContactLaw,
}

/// Boxes with what their contacts remember.
pub struct Bricks<K> {
    pub bricks: Vec<Brick>,
    pub gravity: DVec3,
    pub memory: Vec<(K, DVec3)>,
    pub passes: usize,
}

impl Brick {
    pub fn new(pose: Pose, mass: f64, edges: DVec3) -> Self {
        Self { pose, motion: Motion::ZERO, mass, edges }
    }

    pub fn inertia(&self) -> DMat3 {
        let s = self.edges * self.edges;
        let body = DVec3::new(s.y + s.z, s.x + s.z, s.x + s.y) * (self.mass / 12.0);
        let r = self.pose.rotation_matrix();
        r * DMat3::from_diagonal(body) * r.transpose()
    }

    pub fn velocity_at(motion: &Motion, centre: DVec3, point: DVec3) -> DVec3 {
        motion.linear + motion.angular.cross(point - centre)
    }

    pub fn energy(&self, gravity: DVec3) -> f64 {
        let Motion { angular, linear } = self.motion;
        0.5 * (self.mass * linear.length_squared() + angular.dot(self.inertia() * angular))
            - self.mass * gravity.dot(self.pose.translation)
    }

    pub fn corners(&self) -> [DVec3; 8] {
        std::array::from_fn(|i| {
            let sign = |bit: usize| if i >> bit & 1 == 1 { 0.5 } else { -0.5 };
            self.pose.transform_point(self.edges * DVec3::new(sign(0), sign(1), sign(2)))
        })
    }
}

impl<K: Copy + PartialEq> Bricks<K> {
    pub fn new(bricks: Vec<Brick>, gravity: DVec3) -> Self {
        Self { bricks, gravity, memory: Vec::new(), passes: 2 }
    }

    fn remembered(&self, key: K) -> DVec3 {
        self.memory.iter().find(|m| m.0 == key).map_or(DVec3::ZERO, |m| m.1)
    }

    fn relative(&self, motions: &[Motion], touch: &Touch<K>) -> DVec3 {
        let at = |i: usize| Brick::velocity_at(&motions[i], self.bricks[i].pose.translation, touch.point);
        at(touch.a) - touch.b.map_or(DVec3::ZERO, at)
    }

    fn inverse_mass(&self, touch: &Touch<K>) -> f64 {
        [Some(touch.a), touch.b].into_iter().flatten().fold(0.0, |sum, i| {
            let brick = &self.bricks[i];
            let arm = (touch.point - brick.pose.translation).cross(touch.normal);
            sum + 1.0 / brick.mass + arm.dot(brick.inertia().inverse() * arm)
        })
    }

    /// One implicit step; returns the laws used and the impulses.
    pub fn step(&mut self, touches: &[Touch<K>], h: f64) -> Vec<(ContactStep, DVec3)> {
        let free: Vec<Motion> = self
            .bricks
            .iter()
            .map(|b| Motion::new(b.motion.angular, b.motion.linear + self.gravity * h))
            .collect();
        let starts: Vec<ContactStart> = touches
            .iter()
            .map(|t| ContactStart {
                law: t.law,
                normal: t.normal,
                depth: t.depth,
                stretch: self.remembered(t.key),
                mass: 1.0 / self.inverse_mass(t),
            })
            .collect();
        let mut steps: Vec<ContactStep> =
            starts.iter().zip(touches).map(|(s, t)| s.predict(self.relative(&free, t), h)).collect();
        let mut motions = self.solve(touches, &steps, &free);
        for _ in 1..self.passes {
            let mut changed = false;
            for ((step, start), touch) in steps.iter_mut().zip(&starts).zip(touches) {
                if let Some(new) = start.review(step, self.relative(&motions, touch), h) {
                    *step = new;
                    changed = true;
                }
            }
            if !changed {
                break;
            }
            motions = self.solve(touches, &steps, &free);
        }
        self.memory.clear();
        let mut out = Vec::new();
        for ((step, start), touch) in steps.iter().zip(&starts).zip(touches) {
            let end = self.relative(&motions, touch);
            out.push((*step, step.impulse_at(end)));
            if step.grip != Grip::Open {
                self.memory.push((touch.key, start.stretch_after(step, end, h)));
            }
        }
        for (brick, motion) in self.bricks.iter_mut().zip(&motions) {
            brick.motion = *motion;
            brick.pose = brick.pose.retract(*motion * h);
        }
        out
    }

    /// `(M + Σ GᵀBG) v' = M v_free + Σ Gᵀq`, dense.
    fn solve(&self, touches: &[Touch<K>], steps: &[ContactStep], free: &[Motion]) -> Vec<Motion> {
        let n = 6 * self.bricks.len();
        let mut matrix = Dense::zeros(n, n);
        let mut rhs = vec![0.0; n];
        for (i, brick) in self.bricks.iter().enumerate() {
            matrix.add_block(6 * i, 6 * i, &dense(brick.inertia()));
            matrix.add_block(6 * i + 3, 6 * i + 3, &dense(DMat3::IDENTITY * brick.mass));
            add(&mut rhs, 6 * i, brick.inertia() * free[i].angular);
            add(&mut rhs, 6 * i + 3, free[i].linear * brick.mass);
        }
        for (touch, step) in touches.iter().zip(steps) {
            let b = dense(step.matrix().to_mat3());
            let q = step.constant_impulse();
            let sides: Vec<(usize, f64)> = [Some((touch.a, 1.0)), touch.b.map(|i| (i, -1.0))].into_iter().flatten().collect();
            let g: Vec<Dense> = sides.iter().map(|&(i, sign)| {
                let arm = touch.point - self.bricks[i].pose.translation;
                let mut g = Dense::zeros(3, 6);
                g.add_block(0, 0, &dense(skew(arm) * -sign));
                g.add_block(0, 3, &dense(DMat3::IDENTITY * sign));
                g
            }).collect();
            for (gi, &(i, sign)) in g.iter().zip(&sides) {
                let arm = touch.point - self.bricks[i].pose.translation;
                add(&mut rhs, 6 * i, arm.cross(q) * sign);
                add(&mut rhs, 6 * i + 3, q * sign);
                for (gj, &(j, _)) in g.iter().zip(&sides) {
                    matrix.add_block(6 * i, 6 * j, &gi.transpose().mul(&b).mul(gj));
                }
            }
        }
        let v = matrix.solve(&rhs).expect("a positive definite system");
        (0..self.bricks.len())
            .map(|i| Motion::new(DVec3::from_slice(&v[6 * i..]), DVec3::from_slice(&v[6 * i + 3..])))
            .collect()
    }

    /// One explicit sub-step (semi-implicit Euler) with the forces that remember.
    pub fn substep(&mut self, touches: &[Touch<K>], h: f64) {
        let motions: Vec<Motion> = self.bricks.iter().map(|b| b.motion).collect();
        let mut wrenches = vec![(DVec3::ZERO, DVec3::ZERO); self.bricks.len()];
        let mut memory = Vec::new();
        for touch in touches {
            let velocity = self.relative(&motions, touch);
            let force = touch.law.force_with_memory(touch.normal, touch.depth, velocity, self.remembered(touch.key), h);
            if force.normal > 0.0 {
                memory.push((touch.key, force.stretch));
            }
            for (i, sign) in [Some((touch.a, 1.0)), touch.b.map(|i| (i, -1.0))].into_iter().flatten() {
                let arm = touch.point - self.bricks[i].pose.translation;
                wrenches[i].0 += arm.cross(force.force) * sign;
                wrenches[i].1 += force.force * sign;
            }
        }
        self.memory = memory;
        for (brick, (torque, force)) in self.bricks.iter_mut().zip(wrenches) {
            brick.motion.angular += brick.inertia().inverse() * torque * h;
            brick.motion.linear += (force / brick.mass + self.gravity) * h;
            brick.pose = brick.pose.retract(brick.motion * h);
        }
    }
}

fn dense(m: DMat3) -> Dense {
    Dense::from_fn(3, 3, |i, j| m.col(j)[i])
}

fn add(rhs: &mut [f64], at: usize, v: DVec3) {
    for i in 0..3 {
        rhs[at + i] += v[i];
    }
}
