//! Flat, collapsed, inverted and scrambled flesh returns to rest.

use crate::meshes::{lattice, model, unit_tet};
use glam::{DMat3, DVec3};
use sinew_fem::{
    Attachments, Diagonalize, ExplicitStep, Extension, FemModel, FemScratch, FemState, Material, StepScratch,
    elastic_energy, stable_dt, step_explicit,
};
use sinew_testkit::Rng;

fn materials() -> [Material; 2] {
    let stvk = Material::st_venant_kirchhoff(1e4, 0.4).unwrap();
    [stvk, stvk.with_extension(Extension::Conservative)]
}

/// Damped steps until the time is over; the energy left.
fn settle(model: &FemModel, state: &mut FemState, free: &Attachments, seconds: f64) -> f64 {
    let step = ExplicitStep { dt_s: 0.3 * stable_dt(model), damping_per_s: 10.0, ..ExplicitStep::default() };
    let mut scratch = StepScratch::new(model);
    let mut report = None;
    for _ in 0..(seconds / step.dt_s) as usize {
        report = Some(step_explicit(model, free, &step, state, &mut scratch, &mut []));
    }
    let report = report.unwrap();
    assert_eq!((report.n_inverted, report.n_diagonalized, report.non_finite), (0, 0, None));
    let mut fem = FemScratch::new(model);
    elastic_energy(model, &state.positions, Diagonalize::Selective, &mut fem) + state.kinetic_energy(model)
}

#[test]
fn a_tetrahedron_recovers_from_anything() {
    let mut rng = Rng::new(71);
    for material in materials() {
        let model = model(unit_tet(), material);
        let free = Attachments::none(4);
        let starts: Vec<(&str, DMat3)> = vec![
            ("flat", DMat3::from_diagonal(DVec3::new(1.0, 1.0, 0.0))),
            ("needle", DMat3::from_diagonal(DVec3::new(1.0, 0.0, 0.0))),
            ("point", DMat3::ZERO),
            ("inverted", DMat3::from_diagonal(DVec3::new(1.0, 1.0, -1.0))),
            ("pressed through", DMat3::from_diagonal(DVec3::new(1.2, 0.9, -2.0))),
            ("stretched", DMat3::from_diagonal(DVec3::new(3.0, 0.2, 1.0))),
            ("turned inside out", -DMat3::IDENTITY),
        ];
        for (name, f) in starts {
            let turned = DMat3::from_quat(rng.rotation()) * f;
            let mut state = FemState::at_rest(&model);
            for x in &mut state.positions {
                *x = turned * *x + 1e-9 * rng.vec3(-1.0, 1.0);
            }
            let left = settle(&model, &mut state, &free, 4.0);
            assert!(left < 1e-8, "{name}: {left} J are left");
        }
    }
}

#[test]
fn a_scrambled_cube_returns_to_rest() {
    for material in materials() {
        for seed in 0..3 {
            let mut rng = Rng::new(72 + seed);
            let model = model(lattice([3, 3, 3], 0.1), material);
            let x = model.mesh().positions();
            // the bottom is fixed, everything else anywhere in a box twice as large
            let bottom: Vec<Option<u32>> = x.iter().map(|x| (x.z < 0.05).then_some(0)).collect();
            let free =
                Attachments::new(x, &[sinew_math::Pose::IDENTITY], &bottom, &vec![None; x.len()]).unwrap();
            let mut state = FemState::at_rest(&model);
            for node in free.free() {
                state.positions[node.node as usize] = rng.vec3(-0.15, 0.45);
            }
            let step = ExplicitStep {
                dt_s: 0.3 * stable_dt(&model),
                damping_per_s: 10.0,
                bones: &[sinew_fem::BoneState {
                    world_from_bone: sinew_math::Pose::IDENTITY,
                    twist: sinew_math::Motion { angular: DVec3::ZERO, linear: DVec3::ZERO },
                }],
                ..ExplicitStep::default()
            };
            let mut scratch = StepScratch::new(&model);
            let mut wrenches = [sinew_math::Force { angular: DVec3::ZERO, linear: DVec3::ZERO }];
            let n_steps = (4.0 / step.dt_s) as usize;
            let mut inverted = (0, 0);
            for k in 0..n_steps {
                let report = step_explicit(&model, &free, &step, &mut state, &mut scratch, &mut wrenches);
                assert_eq!(report.non_finite, None);
                inverted = if k == 0 { (report.n_inverted, 0) } else { (inverted.0, report.n_inverted) };
            }
            assert!(inverted.0 > 20 && inverted.1 == 0, "{inverted:?} inverted");
            let worst = x.iter().zip(&state.positions).map(|(a, b)| (*a - *b).length()).fold(0.0, f64::max);
            assert!(worst < 1e-6, "{worst} m away from rest");
        }
    }
}
