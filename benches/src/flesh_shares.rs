//! Flesh of which a given share is deformed largely, and the time of its forces.
//!
//! Every node is displaced at random and the body stretched along x, both in proportion to a number that is bisected until
//! as many elements are outside the band as asked for: they lie scattered, which is the hardest case for lanes.

use crate::{Clock, MeasureEffort, SuiteFailure};
use glam::DVec3;
use sinew_fem::{
    BoneState, Diagonalize, ExplicitStep, FemModel, FemScratch, FemState, StepScratch, elastic_forces,
    step_explicit,
};
use sinew_flesh::FleshBody;
use sinew_math::{Force, Motion, Pose};
use std::time::Instant;

/// Largest stretch along x less one, and largest random displacement as a part of the mean edge.
const STRETCH: f64 = 0.6;
const SCATTER: f64 = 0.5;
/// So short that nothing moves while steps are timed, s.
const NO_TIME: f64 = 1e-12;

/// Times a call that does so much work, in many short batches: one of them finds the machine quiet.
fn time_calls(effort: &MeasureEffort, work: usize, mut call: impl FnMut()) -> Clock {
    let n_calls = (effort.batch_work / (20 * work.max(1))).clamp(1, 10_000);
    call();
    let times = (0..20 * effort.n_batches).map(|_| {
        let start = Instant::now();
        (0..n_calls).for_each(|_| call());
        start.elapsed().as_secs_f64() / n_calls as f64
    });
    Clock::of(times.collect())
}

/// Positions of nodes (m) at which about this share of the elements is outside the band, and which share it is.
pub(crate) fn deform(model: &FemModel, share: f64) -> (Vec<DVec3>, f64) {
    let rest = model.mesh().positions();
    let edges = model.mesh().tets().iter().map(|tet| rest[tet[0] as usize].distance(rest[tet[1] as usize]));
    let edge = edges.sum::<f64>() / model.n_tets() as f64;
    let mut random = 1_u64;
    let away: Vec<DVec3> = rest
        .iter()
        .map(|x| {
            DVec3::X * (STRETCH * x.x) + DVec3::from([(); 3].map(|()| next(&mut random))) * (SCATTER * edge)
        })
        .collect();
    let (mut scratch, mut forces) = (FemScratch::new(model), vec![DVec3::ZERO; rest.len()]);
    let (mut low, mut high) = (0.0, 1.0);
    let mut at = |amount: f64| {
        let positions: Vec<DVec3> = rest.iter().zip(&away).map(|(&x, &d)| x + d * amount).collect();
        let found = elastic_forces(model, &positions, Diagonalize::Selective, &mut scratch, &mut forces);
        (positions, found.n_diagonalized as f64 / model.n_tets() as f64)
    };
    if share <= 0.0 || share >= 1.0 {
        return at(share.clamp(0.0, 1.0));
    }
    for _ in 0..24 {
        let middle = 0.5 * (low + high);
        if at(middle).1 < share {
            low = middle;
        } else {
            high = middle;
        }
    }
    at(high)
}

/// A number from −1 to 1; a linear congruential generator (Knuth's constants).
fn next(state: &mut u64) -> f64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*state >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
}

/// Times forces and explicit steps of a body of flesh with its nodes at given positions, s. Fails if a force is not finite.
pub(crate) fn time_flesh(
    body: &FleshBody,
    poses: &[Pose],
    positions: &[DVec3],
    mode: Diagonalize,
    effort: &MeasureEffort,
) -> Result<[Clock; 2], SuiteFailure> {
    let model = body.fem();
    let n = model.n_tets();
    let (mut scratch, mut forces) = (FemScratch::new(model), vec![DVec3::ZERO; model.n_nodes()]);
    let report = elastic_forces(model, positions, mode, &mut scratch, &mut forces);
    if let Some(tet) = report.non_finite {
        return Err(format!("the force of tetrahedron {tet} is not finite").into());
    }
    let evaluation = time_calls(effort, n, || {
        elastic_forces(model, positions, mode, &mut scratch, &mut forces);
    });
    let bone = |&bone: &usize| BoneState { world_from_bone: poses[bone], twist: Motion::ZERO };
    let bones: Vec<BoneState> = body.bones().iter().map(bone).collect();
    let step = ExplicitStep {
        dt_s: NO_TIME,
        gravity: DVec3::NEG_Z,
        damping_per_s: 5.0,
        bones: &bones,
        diagonalize: mode,
        ..ExplicitStep::default()
    };
    let mut state = FemState { positions: positions.to_vec(), ..FemState::at_rest(model) };
    let mut scratch = StepScratch::new(model);
    let mut wrenches = vec![Force::ZERO; bones.len()];
    let step = time_calls(effort, n, || {
        step_explicit(model, body.attachments(), &step, &mut state, &mut scratch, &mut wrenches);
    });
    Ok([evaluation, step])
}

#[cfg(test)]
mod tests {
    use super::deform;
    use sinew_fem::{FemModel, FemOptions, Material};

    #[test]
    fn shares_are_met() {
        let mesh = sinew_mesh::beam(glam::DVec3::new(1.0, 0.2, 0.2), [20, 4, 4]).unwrap();
        let material = Material::st_venant_kirchhoff(1e5, 0.4).unwrap();
        let model = FemModel::new(mesh, material, &FemOptions::default()).unwrap();
        for share in [0.0, 0.1, 0.5, 1.0] {
            let found = deform(&model, share).1;
            assert!((found - share).abs() < 0.01, "{share}: {found}");
        }
    }
}
