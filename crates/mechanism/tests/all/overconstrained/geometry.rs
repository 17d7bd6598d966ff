//! Hinge lines of overconstrained linkages at a pose where they are closed.
//!
//! A link `(a, α)` has its hinges at a distance `a` (m) along their common normal, at an angle `α` (rad). Bennett: `a, b, a, b` with
//! `sin α/a = sin β/b`. Goldberg: two of them share a link, which is taken away; the links at one end of it are made one. Myard: the same
//! with `β = π/2` and `γ = π − α`, folded back. Altmann: the line-symmetric loop `a, 0, b, a, 0, b` with right angles. Sarrus: two sets of three
//! parallel hinges. Double Hooke: two shafts in fixed bearings, joined by two universal joints.

use glam::DVec3;
use sinew_math::{Pose, exp_so3, ops};
use sinew_testkit::Dense;
use std::f64::consts::PI;

use super::single_loop::{HingeLine, SingleLoop, bar};

/// Distance and angle of the hinges of a link.
#[derive(Clone, Copy)]
struct LinkSize(f64, f64);

impl LinkSize {
    /// From one hinge (axis z) to the next after a turn about the first.
    fn after(self, angle: f64) -> Pose {
        let across = Pose::new(exp_so3(DVec3::X * self.1), DVec3::X * self.0);
        Pose::from_rotation(exp_so3(DVec3::Z * angle)) * across
    }
}

fn line(frame: &Pose) -> HingeLine {
    HingeLine { point: frame.translation, axis: frame.rotation * DVec3::Z }
}

/// The frames after each link.
fn along(start: Pose, links: &[LinkSize], angles: &[f64]) -> Vec<Pose> {
    let mut frame = start;
    links
        .iter()
        .zip(angles)
        .map(|(link, angle)| {
            frame = frame * link.after(*angle);
            frame
        })
        .collect()
}

/// How far a loop of links is from closed: six numbers.
fn gap(links: &[LinkSize], angles: &[f64]) -> [f64; 6] {
    let end = *along(Pose::IDENTITY, links, angles).last().expect("links");
    let (x, turn) = (end.translation, sinew_math::log_so3(end.rotation));
    [x.x, x.y, x.z, turn.x, turn.y, turn.z]
}

/// Angles of a closed loop near a guess, the first as given, by damped least squares.
fn closed(links: &[LinkSize], mut angles: Vec<f64>) -> Vec<f64> {
    let n = angles.len() - 1;
    for _ in 0..200 {
        let error = gap(links, &angles);
        let slope = |k: usize| {
            let shifted = |step: f64| {
                let mut angles = angles.clone();
                angles[k + 1] += step;
                gap(links, &angles)
            };
            let (low, high) = (shifted(-1e-6), shifted(1e-6));
            std::array::from_fn::<f64, 6, _>(|i| (high[i] - low[i]) / 2e-6)
        };
        let columns: Vec<[f64; 6]> = (0..n).map(slope).collect();
        let dot = |a: &[f64; 6], b: &[f64; 6]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>();
        let damping = 1e-3 * dot(&error, &error) + 1e-14;
        let normal =
            Dense::from_fn(n, n, |i, j| dot(&columns[i], &columns[j]) + if i == j { damping } else { 0.0 });
        let right: Vec<f64> = columns.iter().map(|column| -dot(column, &error)).collect();
        let change = normal.solve(&right).expect("damped");
        (0..n).for_each(|k| angles[k + 1] += change[k]);
    }
    let left = gap(links, &angles).iter().fold(0.0, |most: f64, x| most.max(x.abs()));
    assert!(left < 1e-11, "not closed: {left:e} at {angles:?}");
    angles
}

/// The angles of Bennett's linkage `a, b, a, b` with the first one given.
fn bennett_angles(first: LinkSize, second: LinkSize, angle: f64) -> Vec<f64> {
    let (alpha, beta) = (first.1, second.1);
    let ratio = ops::sin(0.5 * (beta + alpha)) / ops::sin(0.5 * (beta - alpha));
    let next = 2.0 * ops::atan2(ratio, ops::tan(0.5 * angle));
    closed(&[first, second, first, second], vec![angle, next, -angle, -next])
}

/// The partner of a link in Bennett's linkage.
fn partner(link: LinkSize, twist: f64) -> LinkSize {
    LinkSize(link.0 * ops::sin(twist) / ops::sin(link.1), twist)
}

pub(crate) fn bennett() -> SingleLoop {
    let first = LinkSize(0.5, 0.6);
    let second = partner(first, 1.2);
    let angles = bennett_angles(first, second, 1.3);
    let frames = along(Pose::IDENTITY, &[first, second, first], &angles);
    let hinges = [Pose::IDENTITY].iter().chain(&frames).map(line).collect();
    SingleLoop::of_bars(hinges)
}

/// Two Bennett linkages on a common link `PQ`, which is taken away; the links `QR` and `QU` are one.
fn two_bennetts(first: LinkSize, second: LinkSize, common_twist: f64, [at_q, also]: [f64; 2]) -> SingleLoop {
    let common = partner(first, common_twist);
    let q = LinkSize(common.0, common.1).after(0.0);
    let half = |link: LinkSize, angle: f64| {
        let angles = bennett_angles(link, common, angle);
        let frames = along(q, &[link, common], &angles);
        [line(&frames[0]), line(&frames[1])]
    };
    let ([r, s], [u, v]) = (half(first, at_q), half(second, also));
    SingleLoop::of_bars(vec![line(&Pose::IDENTITY), s, r, u, v])
}

pub(crate) fn goldberg() -> SingleLoop {
    let (first, twist) = (LinkSize(0.5, 0.6), 1.2);
    // A link of the same ratio sin γ/c.
    let second = partner(first, 0.9);
    two_bennetts(first, second, twist, [1.3, 1.3 - PI])
}

pub(crate) fn myard() -> SingleLoop {
    let first = LinkSize(0.5, 0.7);
    two_bennetts(first, LinkSize(0.5, PI - 0.7), 0.5 * PI, [1.2, 1.2])
}

pub(crate) fn altmann() -> SingleLoop {
    let half = [LinkSize(0.8, 0.5 * PI), LinkSize(0.0, 0.5 * PI), LinkSize(0.5, -0.5 * PI)];
    let links: Vec<LinkSize> = half.into_iter().chain(half).collect();
    let angles = closed(&links, vec![1.0, 2.0, 1.0, 1.0, 2.0, 1.0]);
    let frames = along(Pose::IDENTITY, &links[..5], &angles);
    SingleLoop::of_bars([Pose::IDENTITY].iter().chain(&frames).map(line).collect())
}

pub(crate) fn sarrus() -> SingleLoop {
    let hinge = |x: f64, y: f64, z: f64, axis: DVec3| HingeLine { point: DVec3::new(x, y, z), axis };
    let hinges = vec![
        hinge(1.0, 0.0, 0.0, DVec3::Y),
        hinge(1.3, 0.0, 0.5, DVec3::Y),
        hinge(1.0, 0.0, 1.0, DVec3::Y),
        hinge(0.0, 1.0, 1.0, DVec3::X),
        hinge(0.0, 1.3, 0.5, DVec3::X),
        hinge(0.0, 1.0, 0.0, DVec3::X),
    ];
    SingleLoop::of_bars(hinges)
}

pub(crate) fn double_hooke() -> SingleLoop {
    // Shafts along different lines; their ends carry forks, so that gravity turns them.
    let (near, far) = (DVec3::new(0.5, 0.0, 0.0), DVec3::new(1.2, 0.3, 0.2));
    let shafts = [DVec3::X, (far - near).normalize(), DVec3::new(1.0, 0.9, -0.3).normalize()];
    let fork = shafts[0].cross(shafts[1]).normalize();
    // Each cross has an axis on both of its shafts, at right angles.
    let on_middle = fork.cross(shafts[1]).normalize();
    let second_fork = (exp_so3(shafts[1] * 0.7) * fork).normalize();
    let on_last = second_fork.cross(shafts[2]).normalize();
    let second_fork = on_last.cross(shafts[1]).normalize();
    let hinge = |point: DVec3, axis: DVec3| HingeLine { point, axis };
    let hinges = vec![
        hinge(DVec3::ZERO, shafts[0]),
        hinge(near, fork),
        hinge(near, on_middle),
        hinge(far, second_fork),
        hinge(far, on_last),
        hinge(far, shafts[2]),
    ];
    // The shafts are bent bars: their centres are off their axes.
    let lean = |from: DVec3, to: DVec3, off: DVec3| bar(from + off, to + off);
    let last_end = far + 0.5 * shafts[2];
    let bodies = vec![
        lean(DVec3::ZERO, near, DVec3::new(0.0, 0.3, 0.1)),
        None,
        bar(near, far),
        None,
        lean(far, last_end, DVec3::new(0.1, 0.0, 0.2)),
    ];
    SingleLoop { hinges, bodies }
}
