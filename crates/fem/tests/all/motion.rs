//! Explicit steps: what they keep, how long they may be, and what the bones feel.

use crate::meshes::{lattice, model, shaken};
use glam::DVec3;
use sinew_fem::{
    Attachments, BoneState, Diagonalize, ExplicitStep, Extension, FemModel, FemScratch, FemState, Material,
    Projection, STIFFNESS_PAIRS, StepScratch, elastic_energy, for_each_tangent, stable_dt, step_explicit,
};
use sinew_math::{Force, Motion, Pose};
use sinew_testkit::{Rng, assert_close};

fn momenta(model: &FemModel, state: &FemState) -> (DVec3, DVec3) {
    let each = || state.positions.iter().zip(&state.velocities).zip(model.masses());
    (each().map(|((_, v), &m)| *v * m).sum(), each().map(|((x, v), &m)| x.cross(*v) * m).sum())
}

fn tumbling(material: Material) -> (FemModel, FemState) {
    let mesh = lattice([2, 2, 3], 0.1);
    let model = model(mesh, material);
    let mut state = FemState::at_rest(&model);
    state.positions = shaken(model.mesh(), 0.01, &mut Rng::new(61));
    for (v, x) in state.velocities.iter_mut().zip(&state.positions) {
        *v = DVec3::new(1.0, -0.5, 0.2) + DVec3::new(3.0, 5.0, -2.0).cross(*x);
    }
    (model, state)
}

#[test]
fn a_tumbling_body_keeps_its_momenta_and_nearly_its_energy() {
    let stvk = Material::st_venant_kirchhoff(1e4, 0.4).unwrap();
    for material in
        [stvk, stvk.with_extension(Extension::Conservative), Material::neo_hookean(1e4, 0.4).unwrap()]
    {
        let (model, mut state) = tumbling(material);
        let free = Attachments::none(model.n_nodes());
        let mut scratch = StepScratch::new(&model);
        let mut fem = FemScratch::new(&model);
        let mut energy = |state: &FemState| {
            state.kinetic_energy(&model)
                + elastic_energy(&model, &state.positions, Diagonalize::Selective, &mut fem)
        };
        let (linear, angular) = momenta(&model, &state);
        let before = energy(&state);
        let step = ExplicitStep { dt_s: 0.25 * stable_dt(&model), ..ExplicitStep::default() };
        for _ in 0..2000 {
            let report = step_explicit(&model, &free, &step, &mut state, &mut scratch, &mut []);
            assert_eq!(report.non_finite, None);
        }
        let (linear_after, angular_after) = momenta(&model, &state);
        // symplectic Euler: Σ m x'×v' = Σ m x×v' exactly, and internal forces have no moment about the old positions
        assert!((linear_after - linear).length() < 1e-12 * linear.length());
        assert!((angular_after - angular).length() < 1e-11 * angular.length());
        let after = energy(&state);
        assert!((after - before).abs() < 0.02 * before, "{before} J became {after} J");
    }
}

#[test]
fn the_stable_step_is_stable_and_not_timid() {
    for material in [
        Material::st_venant_kirchhoff(1e5, 0.4).unwrap(),
        Material::st_venant_kirchhoff(1e5, 0.0).unwrap(),
        Material::st_venant_kirchhoff(1e5, -0.4).unwrap(),
    ] {
        let material = material.with_extension(Extension::Conservative);
        let model = model(lattice([2, 3, 2], 0.1), material);
        let dt = stable_dt(&model);
        // largest frequency at rest, by power iteration on M⁻¹K
        let mut pieces = vec![];
        let rest = model.mesh().positions();
        for_each_tangent(&model, rest, Projection::Exact, &mut FemScratch::new(&model), |tet, tangent| {
            pieces.push((model.mesh().tets()[tet], tangent.stiffness));
        });
        let mut v = shaken(model.mesh(), 1.0, &mut Rng::new(62));
        let mut square = 0.0;
        for _ in 0..400 {
            let mut y = vec![DVec3::ZERO; v.len()];
            for (nodes, blocks) in &pieces {
                for (block, (a, b)) in blocks.iter().zip(STIFFNESS_PAIRS) {
                    let (a, b) = (nodes[a] as usize, nodes[b] as usize);
                    y[a] += *block * v[b];
                    if a != b {
                        y[b] += block.transpose() * v[a];
                    }
                }
            }
            for (y, m) in y.iter_mut().zip(model.masses()) {
                *y /= *m;
            }
            square = y.iter().map(|y| y.length_squared()).sum::<f64>().sqrt();
            v = y.iter().map(|y| *y / square).collect();
        }
        let limit = 2.0 / square.sqrt();
        assert!(dt < limit && dt > 0.4 * limit, "{dt} against {limit} at rest");

        let mut state = FemState::at_rest(&model);
        state.positions = shaken(model.mesh(), 0.01, &mut Rng::new(63));
        let mut fem = FemScratch::new(&model);
        let mut energy = |state: &FemState| {
            let mode = Diagonalize::Selective;
            elastic_energy(&model, &state.positions, mode, &mut fem) + state.kinetic_energy(&model)
        };
        let before = energy(&state);
        let free = Attachments::none(model.n_nodes());
        let step = ExplicitStep { dt_s: dt, damping_per_s: 1.0, ..ExplicitStep::default() };
        let mut scratch = StepScratch::new(&model);
        for _ in 0..3000 {
            step_explicit(&model, &free, &step, &mut state, &mut scratch, &mut []);
        }
        let after = energy(&state);
        assert!(after < 0.5 * before, "{before} J became {after} J");
    }
}

/// A bar whose ends belong to two bones.
fn between_two_bones() -> (FemModel, Attachments, Vec<BoneState>) {
    let mesh = lattice([6, 1, 1], 0.1);
    let x = mesh.positions().to_vec();
    let bones: Vec<Option<u32>> = x
        .iter()
        .map(|x| {
            if x.x < 0.05 {
                Some(0)
            } else if x.x > 0.55 {
                Some(1)
            } else {
                None
            }
        })
        .collect();
    let references: Vec<Option<u32>> = x.iter().map(|x| Some(u32::from(x.x > 0.3))).collect();
    let poses = [
        Pose { translation: DVec3::new(-0.1, 0.0, 0.0), ..Pose::IDENTITY },
        Pose { translation: DVec3::new(0.7, 0.1, 0.0), ..Pose::IDENTITY },
    ];
    let attachments = Attachments::new(&x, &poses, &bones, &references).unwrap();
    let motion = |pose: &Pose| BoneState {
        world_from_bone: *pose,
        twist: Motion { angular: DVec3::ZERO, linear: DVec3::ZERO },
    };
    let model = model(mesh, Material::st_venant_kirchhoff(1e4, 0.3).unwrap());
    (model, attachments, poses.iter().map(motion).collect())
}

#[test]
fn bones_feel_the_weight_of_hanging_flesh() {
    let (model, attachments, bones) = between_two_bones();
    let mut state = FemState::at_rest(&model);
    let mut scratch = StepScratch::new(&model);
    let gravity = DVec3::new(0.0, 0.0, -2.0);
    let dt_s = 0.5 * stable_dt(&model);
    let step = ExplicitStep { dt_s, gravity, damping_per_s: 20.0, bones: &bones, ..ExplicitStep::default() };
    let none = Force { angular: DVec3::ZERO, linear: DVec3::ZERO };
    let mut wrenches = [none; 2];
    for _ in 0..20_000 {
        step_explicit(&model, &attachments, &step, &mut state, &mut scratch, &mut wrenches);
    }
    let free_mass: f64 = attachments.free().iter().map(|free| model.masses()[free.node as usize]).sum();
    let weight = gravity * free_mass;
    assert_close!(wrenches[0].linear + wrenches[1].linear, weight, 1e-9);
    // moments about the world origin balance the weight of the free nodes
    let total: DVec3 = wrenches
        .iter()
        .zip(&bones)
        .map(|(wrench, bone)| wrench.angular + bone.world_from_bone.translation.cross(wrench.linear))
        .sum();
    let moment: DVec3 = attachments
        .free()
        .iter()
        .map(|free| state.positions[free.node as usize].cross(gravity * model.masses()[free.node as usize]))
        .sum();
    assert_close!(total, moment, 1e-9);
    assert!(state.kinetic_energy(&model) < 1e-16);
}

#[test]
fn flesh_carried_by_moving_bones_keeps_the_books_of_momentum() {
    let (model, attachments, mut bones) = between_two_bones();
    let mut state = FemState::at_rest(&model);
    let mut scratch = StepScratch::new(&model);
    let none = Force { angular: DVec3::ZERO, linear: DVec3::ZERO };
    let mut wrenches = [none; 2];
    let dt_s = 0.5 * stable_dt(&model);
    for (k, bone) in bones.iter_mut().enumerate() {
        bone.twist =
            Motion { angular: DVec3::new(0.3, 0.1, 1.0), linear: DVec3::new(0.1, 0.2 * k as f64, 0.0) };
    }
    for _ in 0..500 {
        attachments.prescribe(&bones, &mut state.positions, &mut state.velocities);
        let momentum = |state: &FemState| -> DVec3 {
            attachments
                .free()
                .iter()
                .map(|n| state.velocities[n.node as usize] * model.masses()[n.node as usize])
                .sum()
        };
        let before = momentum(&state);
        let step = ExplicitStep { dt_s, damping_per_s: 5.0, bones: &bones, ..ExplicitStep::default() };
        step_explicit(&model, &attachments, &step, &mut state, &mut scratch, &mut wrenches);
        // what the free nodes gain, the bones lose
        let gained = momentum(&state) - before;
        assert_close!(gained, -(wrenches[0].linear + wrenches[1].linear) * dt_s, 1e-13);
        for bone in &mut bones {
            let Motion { angular, linear } = bone.twist;
            bone.world_from_bone =
                bone.world_from_bone.retract(Motion { angular: angular * dt_s, linear: linear * dt_s });
        }
    }
    assert!(state.positions.iter().all(|x| x.is_finite()));
}

#[test]
fn a_damper_of_any_strength_is_stable() {
    let (model, attachments, bones) = between_two_bones();
    for damping_per_s in [1e2, 1e6, 1e12] {
        let mut state = FemState::at_rest(&model);
        state.velocities.iter_mut().for_each(|v| *v = DVec3::ONE);
        let mut scratch = StepScratch::new(&model);
        let none = Force { angular: DVec3::ZERO, linear: DVec3::ZERO };
        let dt_s = 0.5 * stable_dt(&model);
        let step = ExplicitStep { dt_s, damping_per_s, bones: &bones, ..ExplicitStep::default() };
        let mut wrenches = [none; 2];
        attachments.prescribe(&bones, &mut state.positions, &mut state.velocities);
        for _ in 0..1000 {
            step_explicit(&model, &attachments, &step, &mut state, &mut scratch, &mut wrenches);
        }
        assert!(state.kinetic_energy(&model) < 1e-3, "{damping_per_s}");
    }
}

#[test]
fn steps_allocate_nothing() {
    let (model, attachments, bones) = between_two_bones();
    let mut state = FemState::at_rest(&model);
    let mut scratch = StepScratch::new(&model);
    let mut wrenches = [Force { angular: DVec3::ZERO, linear: DVec3::ZERO }; 2];
    let step = ExplicitStep { bones: &bones, ..ExplicitStep::default() };
    let info = allocation_counter::measure(|| {
        attachments.prescribe(&bones, &mut state.positions, &mut state.velocities);
        step_explicit(&model, &attachments, &step, &mut state, &mut scratch, &mut wrenches);
    });
    assert_eq!(info.count_total, 0);
}
