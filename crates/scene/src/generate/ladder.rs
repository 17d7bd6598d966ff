//! Expansion of rope ladders (Fau99 table 2).
//!
//! Strings A and B of N = p·r bars, L apart along y; bar m runs from point m to point m + 1, and point 0 is a ball
//! joint to the world. Rung k joins point (k+1)p of A to that of B. Body order: A, B, rungs. Joints: bar m to bar
//! m − 1, string by string; rung k to bar (k+1)p − 1 of A; and last, so that they close the loops, rung k to bar
//! (k+1)p − 1 of B. All have world axes at the initial pose. The ladder starts with the velocity of a rigid body:
//! v = Ω × (x − start). Cost: linear in the number of bars.

use glam::{DQuat, DVec3};
use sinew_math::{exp_so3, ops};
use std::f64::consts::FRAC_PI_2;

use super::placement::{LinkPlacement, ball, bar, link_name};
use crate::doc::{
    BodyDoc, FrameDoc, JointDoc, JointFramesDoc, LadderDoc, LadderPoseDoc, PriorityDoc, SceneDoc, VelocityDoc,
};

/// Adds the bodies and joints of a ladder.
pub(super) fn expand(ladder: &LadderDoc, scene: &mut SceneDoc) {
    let (p, r) = (ladder.p as usize, ladder.r as usize);
    let n = p * r;
    if n == 0 {
        return;
    }
    let across = DVec3::Y * ladder.length;
    let string = string_places(ladder, n);
    scene.bodies.reserve(2 * n + r);
    scene.joints.reserve(2 * n + 2 * r);
    for side in 0..2 {
        for (m, place) in string.iter().enumerate() {
            let place = LinkPlacement { start: place.start + across * side as f64, ..*place };
            let i = side * n + m + 1;
            scene.joints.push(joint(ladder, i, i, (m > 0).then(|| i - 1), place.start));
            scene.bodies.push(moving_bar(ladder, i, &place));
        }
    }
    let along_y = exp_so3(DVec3::Z * FRAC_PI_2);
    let ends: Vec<_> = string.iter().map(LinkPlacement::end).collect();
    for k in 1..=r {
        let place = LinkPlacement { start: ends[k * p - 1], rotation: along_y, length: ladder.length };
        let i = 2 * n + k;
        scene.joints.push(joint(ladder, i, i, Some(k * p), place.start));
        scene.bodies.push(moving_bar(ladder, i, &place));
    }
    for k in 1..=r {
        let closing = joint(ladder, 2 * n + r + k, 2 * n + k, Some(n + k * p), ends[k * p - 1] + across);
        let priority = if ladder.open { PriorityDoc::Secondary } else { PriorityDoc::Auto };
        scene.joints.push(JointDoc { priority, ..closing });
    }
}

/// Where the bars of string A are.
fn string_places(ladder: &LadderDoc, n: usize) -> Vec<LinkPlacement> {
    let mut start = ladder.start;
    let place = |m| {
        let (rotation, direction) = match ladder.pose {
            LadderPoseDoc::Rest => (DQuat::IDENTITY, DVec3::X),
            LadderPoseDoc::Swing => {
                let angle = -(0.2 + 0.6 * (m as f64 + 0.5) / n as f64);
                let (sin, cos) = (ops::sin(angle), ops::cos(angle));
                (exp_so3(DVec3::Y * -angle), DVec3::new(cos, 0.0, sin))
            }
        };
        let place = LinkPlacement { start, rotation, length: ladder.length };
        start += direction * ladder.length;
        place
    };
    (0..n).map(place).collect()
}

fn moving_bar(ladder: &LadderDoc, i: usize, place: &LinkPlacement) -> BodyDoc {
    let angular = ladder.angular_velocity;
    let velocity = VelocityDoc { angular, linear: angular.cross(place.middle() - ladder.start) };
    BodyDoc { velocity, ..bar(link_name(&ladder.name, i), place, ladder.radius, ladder.mass) }
}

/// Joint `i` between bars `child` and `parent` (counted from 1; `None` is the world).
fn joint(ladder: &LadderDoc, i: usize, child: usize, parent: Option<usize>, anchor: DVec3) -> JointDoc {
    let name = |i| link_name(&ladder.name, i);
    let frames = JointFramesDoc::World(FrameDoc { anchor, ..FrameDoc::default() });
    JointDoc { frames, ..ball(name(i), name(child), parent.map(name), ladder.damping) }
}
