//! Tracks: samples, rates and ends.

use glam::{DQuat, DVec3};
use sinew_math::log_so3;
use sinew_scene::{CircleDoc, CurveDoc, InterpolationDoc, RotationDoc, SineDoc, Track, TrackDoc, TrackPoint};

fn turn(from: DQuat, to: DQuat) -> DVec3 {
    log_so3(from.conjugate() * to)
}

fn poses(interpolation: InterpolationDoc) -> TrackDoc {
    let samples = [
        (0.0, [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]),
        (0.5, [1.0, 0.2, 0.0], [0.5, 0.1, 0.0]),
        (0.8, [1.5, 0.8, -0.3], [1.0, -0.4, 0.6]),
        (2.0, [0.5, 1.0, 0.3], [0.2, 2.0, 1.0]),
        (2.1, [0.4, 1.0, 0.4], [0.0, 2.2, 1.0]),
    ];
    let curve = samples.map(|(t, p, r)| (t, DVec3::from(p), RotationDoc::Vector(DVec3::from(r))));
    TrackDoc { name: String::new(), interpolation, curve: CurveDoc::Poses(curve.to_vec()) }
}

#[test]
fn tracks_pass_through_their_samples_and_stand_still_outside() {
    for interpolation in [InterpolationDoc::Linear, InterpolationDoc::Cubic] {
        let doc = poses(interpolation);
        let CurveDoc::Poses(samples) = &doc.curve else { unreachable!() };
        let track = Track::new(&doc);
        for (time, position, rotation) in samples {
            let point = track.sample(*time);
            assert!((point.position - *position).length() < 1e-15);
            let error = turn(point.rotation.unwrap(), rotation.to_quat());
            assert!(error.length() < 1e-14, "{error}");
        }
        assert_eq!(track.sample(-1.0).position, samples[0].1);
        assert_eq!(track.sample(9.0).position, samples[4].1);
        assert_eq!(track.sample(9.0).velocity, DVec3::ZERO);
    }
}

#[test]
fn rates_match_differences() {
    let sine = SineDoc { center: DVec3::X, amplitude: DVec3::ONE, frequency_hz: 0.7, phase: 0.3 };
    let circle = CircleDoc { start: DVec3::Y * 2.0, normal: DVec3::X * 3.0, ..CircleDoc::default() };
    let of = |curve| TrackDoc { curve, ..TrackDoc::default() };
    let tracks = [
        poses(InterpolationDoc::Linear),
        poses(InterpolationDoc::Cubic),
        of(CurveDoc::Sine(sine)),
        of(CurveDoc::Circle(circle)),
    ];
    for track in tracks.iter().map(Track::new) {
        for time in [0.1, 0.6, 1.3, 2.05] {
            let e = 1e-5;
            let (before, here, after) = (track.sample(time - e), track.sample(time), track.sample(time + e));
            let rate = (after.position - before.position) / (2.0 * e);
            assert!((rate - here.velocity).length() < 1e-7 * (1.0 + here.acceleration.length()));
            let rate = (after.velocity - before.velocity) / (2.0 * e);
            assert!(
                (rate - here.acceleration).length() < 1e-5 * (1.0 + here.acceleration.length()),
                "{time}"
            );
            if let (Some(from), Some(to)) = (before.rotation, after.rotation) {
                let rate = log_so3(to * from.conjugate()) / (2.0 * e);
                assert!((rate - here.angular_velocity).length() < 1e-7 * (1.0 + rate.length()), "{time}");
            }
        }
    }
}

#[test]
fn cubic_velocities_are_continuous_and_zero_at_the_ends() {
    let track = Track::new(&poses(InterpolationDoc::Cubic));
    let spin =
        |a: f64, b: f64| turn(track.sample(a).rotation.unwrap(), track.sample(b).rotation.unwrap()) / (b - a);
    let e = 1e-7;
    for time in [0.0, 0.5, 0.8, 2.0, 2.1] {
        let jump = track.sample(time + e).velocity - track.sample(time - e).velocity;
        assert!(jump.length() < 1e-4, "velocity jumps by {jump} at {time}");
        let jump = spin(time, time + e) - spin(time - e, time);
        assert!(jump.length() < 1e-4, "angular velocity jumps by {jump} at {time}");
    }
}

#[test]
fn a_circle_turns_about_its_normal() {
    let circle = CircleDoc { center: DVec3::Z, start: DVec3::X, normal: DVec3::Z, frequency_hz: 0.25 };
    let track = TrackDoc { curve: CurveDoc::Circle(circle), ..TrackDoc::default() };
    let point = Track::new(&track).sample(1.0);
    assert!((point.position - DVec3::new(0.0, 1.0, 1.0)).length() < 1e-15);
    assert!((point.velocity.length() - 0.5 * std::f64::consts::PI).abs() < 1e-14);
}

#[test]
fn an_empty_track_is_at_rest() {
    assert_eq!(Track::new(&TrackDoc::default()).sample(1.0), TrackPoint::default());
}
