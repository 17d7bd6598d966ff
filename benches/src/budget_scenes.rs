//! The scenes of the budget suite: highly and moderately cyclic.
//!
//! | scene | bodies | tree rows | loop rows | motion |
//! |---|---|---|---|---|
//! | mesh | 320 bars | 957 | 600 | the sheet of Fau99 figure 6 falls, held at two corners by springs |
//! | plate | 27 bars and a plate | 84 | 24 | the plate on nine strings of Fau98 figure 6 swings |

use crate::{Failure, MechanismRun};
use glam::{DQuat, DVec3};
use sinew_math::{MassProperties, Motion, Pose, exp_so3};
use sinew_mechanism::{
    BodyId, BodySpec, Grab, JointFrames, JointKind, JointSpec, MechanismBuilder, Model, Settings,
};
use sinew_scene::{GeneratorDoc, MeshDoc, SceneDoc};
use sinew_sim::World;

/// Vertices along each side of the sheet, 1 m apart.
const MESH_SIDE: u32 = 11;
/// Length of the bars of a string and side of the plate, m.
const BAR: f64 = 0.5;
const PLATE: f64 = 2.0;

/// The sheet, held at two corners by stiff springs.
///
/// # Errors
/// None.
pub(crate) fn mesh() -> Result<MechanismRun, Failure> {
    let sheet = MeshDoc { n: MESH_SIDE, ..MeshDoc::default() };
    let scene = SceneDoc { generators: vec![GeneratorDoc::Mesh(sheet)], ..SceneDoc::default() };
    let model = World::from_scene(&scene)?.model().clone();
    // Bars begin at each vertex in threes, but for the last of a row.
    let corners = [(0, -0.5), (3 * (MESH_SIDE as usize - 2), 0.5)];
    let start = model.initial_state();
    let grabs = corners.map(|(bar, side)| {
        let (body, point) = (BodyId::from_index(bar), DVec3::X * side);
        let target = model.body_pose(&start, body).transform_point(point);
        Grab { body, point, target, stiffness: 1e5, damping: 1e3 }
    });
    let mut run = MechanismRun::new(model, Settings::default());
    run.input_mut().grabs.extend(grabs);
    Ok(run)
}

/// The plate, pushed sideways.
///
/// # Errors
/// None.
pub(crate) fn plate() -> Result<MechanismRun, Failure> {
    Ok(MechanismRun::new(plate_model()?, Settings::default()))
}

fn plate_model() -> Result<Model, Failure> {
    let mut builder = MechanismBuilder::new();
    let mass = MassProperties::cuboid(DVec3::new(PLATE, PLATE, 0.1), 1.0).with_mass(10.0);
    let mut spec = BodySpec::dynamic("plate", Pose::IDENTITY, mass);
    spec.motion = Motion::new(DVec3::ZERO, DVec3::new(1.0, 0.5, 0.0));
    let plate = builder.add_body(spec);
    let bar_mass = MassProperties::cuboid(DVec3::new(BAR, 0.05, 0.05), 1.0).with_mass(1.0);
    // Bars hang down: their x axis is the world's −z.
    let down = exp_so3(DVec3::Y * std::f64::consts::FRAC_PI_2);
    let half = DVec3::X * (0.5 * BAR);
    for (i, j) in (0..9).map(|k| (k % 3, k / 3)) {
        let end = DVec3::new(f64::from(i - 1), f64::from(j - 1), 0.0) * (0.5 * PLATE);
        let mut above = (None, end + DVec3::Z * (3.0 * BAR));
        for k in 0..3 {
            let center = end + DVec3::Z * ((2.5 - f64::from(k)) * BAR);
            let bar = builder.add_body(BodySpec::dynamic("", Pose::new(down, center), bar_mass));
            builder.add_joint(ball(bar, -half, above));
            above = (Some(bar), half);
        }
        builder.add_joint(ball(plate, end, above));
    }
    Ok(builder.build()?)
}

fn ball(body: BodyId, point1: DVec3, (parent, point2): (Option<BodyId>, DVec3)) -> JointSpec {
    let rotation = DQuat::IDENTITY;
    let frames = JointFrames { rotation1: rotation, point1, rotation2: rotation, point2 };
    JointSpec::new("", JointKind::Ball, body, parent, frames)
}

#[cfg(test)]
mod tests {
    use super::{mesh, plate};
    use sinew_mechanism::{Input, violation};

    #[test]
    fn scenes_are_assembled_and_have_the_rows_of_the_papers() {
        for (run, rows, bodies) in [(mesh().unwrap(), (957, 600), 320), (plate().unwrap(), (84, 24), 28)] {
            assert_eq!((run.model().n_rows(), run.model().n_bodies()), (rows, bodies));
            let error = violation(run.model(), run.state(), &Input::default());
            assert!(error.position < 1e-12, "{error:?}");
        }
    }

    #[test]
    fn the_sheet_is_held_at_two_corners() {
        let mut run = mesh().unwrap();
        let targets: Vec<_> = run.input_mut().grabs.iter().map(|grab| grab.target.to_array()).collect();
        for (target, x) in targets.iter().zip([0.0, 10.0]) {
            assert!(target.iter().zip([x, 0.0, 0.0]).all(|(a, b)| (a - b).abs() < 1e-12), "{target:?}");
        }
    }
}
