//! Materials that flow: derivatives, textbook bars, relaxation, energy, bounds, bits.

use crate::meshes::{lattice, shaken};
use crate::stars::irregular;
use glam::{DMat3, DVec3};
use sinew_fem::{
    Attachments, CellFlow, Diagonalize, ExplicitStep, Extension, FemModel, FemOptions, FemScratch, FemShape,
    FemState, Flow, Material, Plasticity, Projection, StepScratch, Strain, Viscosity, advance_flow,
    elastic_energy, elastic_forces, fill_yielding, for_each_flowing, shrinkage, stable_dt, step_explicit,
};
use sinew_math::ops;
use sinew_testkit::{Rng, assert_close};

const CLAY: Plasticity = Plasticity { yield_pa: 0.05, hardening_pa: 0.02, largest_stretch: 4.0 };
const PUTTY: Viscosity = Viscosity { ratio: 2.0, time_s: 0.4 };
const BOTH: Flow = Flow { plasticity: Some(CLAY), viscosity: Some(PUTTY) };

fn materials() -> [Material; 2] {
    let stvk = Material::st_venant_kirchhoff(1.0, 0.4).unwrap();
    [stvk.with_extension(Extension::Conservative), Material::neo_hookean(1.0, 0.45).unwrap()]
}

fn model(mesh: sinew_fem::TetMesh, material: Material, flow: Flow, strain: Strain) -> FemModel {
    FemModel::new(mesh, material, &FemOptions { strain, flows: vec![flow], ..FemOptions::default() }).unwrap()
}

/// Every combination of law and strain.
fn models(flow: Flow) -> impl Iterator<Item = FemModel> {
    let both = [Strain::Local, Strain::Mean];
    materials().into_iter().flat_map(move |material| {
        both.map(|strain| model(irregular(&mut Rng::new(3)), material, flow, strain))
    })
}

fn energy<'a>(model: &FemModel, shape: impl Into<FemShape<'a>>) -> f64 {
    elastic_energy(model, shape, Diagonalize::Selective, &mut FemScratch::new(model))
}

fn forces<'a>(model: &FemModel, shape: impl Into<FemShape<'a>>) -> Vec<DVec3> {
    let mut forces = vec![DVec3::NAN; model.n_nodes()];
    elastic_forces(model, shape, Diagonalize::Selective, &mut FemScratch::new(model), &mut forces);
    forces
}

/// Cells that have flowed somehow.
fn random_flow(model: &FemModel, rng: &mut Rng) -> Vec<CellFlow> {
    let mut near = |amount: f64| {
        let columns = [0, 1, 2].map(|_| rng.vec3(-amount, amount));
        DMat3::IDENTITY + DMat3::from_cols(columns[0], columns[1], columns[2])
    };
    let cell = |_| {
        let plastic = near(0.1);
        let plastic = plastic * ops::pow(plastic.determinant(), -1.0 / 3.0);
        CellFlow { plastic, hardening: 0.3, viscous: near(0.2) }
    };
    (0..model.n_flowing()).map(cell).collect()
}

#[test]
fn forces_are_minus_the_gradient_of_the_energy_with_flow_held() {
    let mut rng = Rng::new(1);
    for model in models(BOTH) {
        let flow = random_flow(&model, &mut rng);
        let x = shaken(model.mesh(), 0.1, &mut rng);
        let at = |positions: &[DVec3]| {
            energy(&model, FemShape { positions, flow: &flow, dt_s: 0.0, yields: false })
        };
        let found = forces(&model, FemShape { positions: &x, flow: &flow, dt_s: 0.0, yields: false });
        for node in 0..x.len() {
            for axis in DVec3::AXES {
                let moved = |by: f64| {
                    let mut x = x.clone();
                    x[node] += axis * by;
                    at(&x)
                };
                let slope = (moved(1e-6) - moved(-1e-6)) / 2e-6;
                assert_close!(found[node].dot(axis), -slope, 2e-8);
            }
        }
    }
}

/// The whole stiffness by rows, its symmetric part, and the forces beside it.
fn assembled(model: &FemModel, shape: FemShape<'_>, projection: Projection) -> (Vec<Vec<f64>>, Vec<DVec3>) {
    let n = model.n_nodes();
    let (mut matrix, mut forces) = (vec![vec![0.0; 3 * n]; 3 * n], vec![DVec3::ZERO; n]);
    let report = for_each_flowing(
        model,
        shape,
        projection,
        |_| true,
        |_, cell| {
            let mut blocks = cell.stiffness.iter();
            for (k, &a) in cell.nodes.iter().enumerate() {
                for &b in &cell.nodes[k..] {
                    let block = blocks.next().unwrap();
                    for (i, j) in (0..9).map(|k| (k / 3, k % 3)) {
                        matrix[3 * a as usize + i][3 * b as usize + j] += block.col(j)[i];
                        if a != b {
                            matrix[3 * b as usize + j][3 * a as usize + i] += block.col(j)[i];
                        }
                    }
                }
            }
            cell.nodes.iter().zip(cell.forces).for_each(|(&node, force)| forces[node as usize] += *force);
        },
    );
    assert_eq!(report.non_finite, None);
    (matrix, forces)
}

#[test]
fn stiffness_is_the_derivative_of_forces_that_yield_within_the_step() {
    let mut rng = Rng::new(2);
    let mut n_yielding = 0;
    for model in models(BOTH) {
        let flow = random_flow(&model, &mut rng);
        let x = shaken(model.mesh(), 0.1, &mut rng);
        let now = FemShape { positions: &x, flow: &flow, dt_s: 0.1, yields: true };
        let mut yielding = Vec::new();
        fill_yielding(&model, now, &mut yielding);
        n_yielding += usize::from(yielding.contains(&true));
        let (matrix, beside) = assembled(&model, now, Projection::Exact);
        let plain = forces(&model, now);
        beside.iter().zip(&plain).for_each(|(a, b)| assert_close!(*a, *b, 1e-13));
        let n = x.len();
        let derivative: Vec<Vec<f64>> = (0..3 * n)
            .map(|column| {
                let moved = |by: f64| {
                    let mut x = x.clone();
                    x[column / 3][column % 3] += by;
                    forces(&model, FemShape { positions: &x, ..now })
                };
                let (ahead, back) = (moved(1e-6), moved(-1e-6));
                (0..3 * n).map(|row| (back[row / 3] - ahead[row / 3])[row % 3] / 2e-6).collect()
            })
            .collect();
        for row in 0..3 * n {
            for column in 0..3 * n {
                let mean = 0.5 * (derivative[row][column] + derivative[column][row]);
                assert_close!(matrix[row][column], mean, 3e-6);
            }
        }
        let (projected, _) = assembled(&model, now, Projection::Semidefinite);
        let v: Vec<f64> = (0..3 * n).map(|_| rng.uniform(-1.0, 1.0)).collect();
        let work: f64 =
            (0..3 * n).map(|i| v[i] * (0..3 * n).map(|j| projected[i][j] * v[j]).sum::<f64>()).sum();
        assert!(work > 0.0);
    }
    assert_eq!(n_yielding, 4);
}

/// Sideways stretch at which a brick stretched by `along` is free of stress sideways at the end of a step.
fn free_sides(model: &FemModel, flow: &[CellFlow], along: f64, dt_s: f64) -> (f64, Vec<DVec3>) {
    let placed = |side: f64| -> Vec<DVec3> {
        model.mesh().positions().iter().map(|&x| x * DVec3::new(along, side, side)).collect()
    };
    let push = |side: f64| -> f64 {
        let positions = placed(side);
        let forces = forces(model, FemShape { positions: &positions, flow, dt_s, yields: true });
        forces.iter().zip(&positions).map(|(f, x)| f.y * x.y).sum()
    };
    let (mut low, mut high) = (0.5, 2.0);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        // Squeezed bricks push outwards.
        if push(middle) > 0.0 { low = middle } else { high = middle }
    }
    (0.5 * (low + high), placed(0.5 * (low + high)))
}

/// Force along x on the face at the end of a brick of unit section, N.
fn pull(model: &FemModel, positions: &[DVec3], flow: &[CellFlow], dt_s: f64) -> f64 {
    let forces = forces(model, FemShape { positions, flow, dt_s, yields: true });
    let end = model.mesh().positions().iter().zip(forces).filter(|(x, _)| x.x > 0.5);
    -end.map(|(_, f)| f.x).sum::<f64>()
}

#[test]
fn a_bar_pulled_beyond_its_yield_keeps_the_textbook_strain() {
    let (young, strength, hardening) = (1.0, 1e-4, 0.1);
    let plastic = Plasticity { yield_pa: strength, hardening_pa: hardening, largest_stretch: 4.0 };
    for strain in [Strain::Local, Strain::Mean] {
        let material = Material::neo_hookean(young, 0.3).unwrap();
        let flow = Flow { plasticity: Some(plastic), viscosity: None };
        let model = model(lattice([1, 1, 1], 1.0), material, flow, strain);
        let mut cells = vec![CellFlow::default(); model.n_flowing()];
        let to = |along: f64, cells: &mut Vec<CellFlow>| {
            let (_, x) = free_sides(&model, cells, ops::exp(along), 0.01);
            let stress = pull(&model, &x, cells, 0.01);
            advance_flow(&model, &x, 0.01, cells);
            stress
        };
        // Up to five times the yield strain in ten steps.
        let most = 5.0 * strength / young;
        let stress = (1..=10).map(|k| to(most * f64::from(k) / 10.0, &mut cells)).last().unwrap();
        let expected = strength + young * hardening / (young + hardening) * (most - strength / young);
        assert!((stress / expected - 1.0).abs() < 1e-3, "{stress} instead of {expected}");
        // Released: no stress at the strain that stays.
        let stays = most - expected / young;
        let (mut low, mut high) = (0.0, most);
        for _ in 0..50 {
            let middle = 0.5 * (low + high);
            let (_, x) = free_sides(&model, &cells, ops::exp(middle), 0.01);
            if pull(&model, &x, &cells, 0.01) < 0.0 { low = middle } else { high = middle }
        }
        assert!((low / stays - 1.0).abs() < 1e-3, "{low} stays instead of {stays}");
        // It has hardened: it yields at the stress that it was released from.
        assert_close!(cells[0].hardening, stays, 1e-3 * stays);
        assert!(cells.iter().all(|cell| (cell.plastic.determinant() - 1.0).abs() < 1e-14));
    }
}

/// Principal logarithmic strains of the viscous part of a cell under `f`.
fn viscous_strain(f: DMat3, cell: &CellFlow) -> DVec3 {
    let (_, s, _) = sinew_math::signed_svd(f * cell.viscous);
    DVec3::from(s.to_array().map(ops::ln))
}

#[test]
fn held_stress_decays_as_the_implicit_step_says_and_converges_to_the_exponential() {
    let material = Material::neo_hookean(1.0, 0.3).unwrap();
    let flow = Flow { plasticity: None, viscosity: Some(PUTTY) };
    let model = model(lattice([1, 1, 1], 1.0), material, flow, Strain::Mean);
    let f = DMat3::from_cols(DVec3::new(1.2, 0.1, 0.0), DVec3::new(0.0, 0.9, 0.2), DVec3::Z * 1.05);
    let x: Vec<DVec3> = model.mesh().positions().iter().map(|&x| f * x).collect();
    let begin = viscous_strain(f, &CellFlow::default());
    let mut errors = Vec::new();
    for n in [10, 20, 40] {
        let h = PUTTY.time_s / f64::from(n);
        let mut cells = vec![CellFlow::default(); model.n_flowing()];
        let before = energy(&model, FemShape { positions: &x, flow: &cells, dt_s: 0.0, yields: false });
        (0..n).for_each(|_| advance_flow(&model, &x, h, &mut cells));
        let left = (1.0 + h / PUTTY.time_s).powi(-n);
        for cell in &cells {
            assert_close!(viscous_strain(f, cell), begin * left, 1e-12);
        }
        assert!(energy(&model, FemShape { positions: &x, flow: &cells, dt_s: 0.0, yields: false }) < before);
        errors.push(left - ops::exp(-1.0));
    }
    assert!((errors[0] / errors[1] - 2.0).abs() < 0.1 && (errors[1] / errors[2] - 2.0).abs() < 0.05);
}

#[test]
fn at_a_constant_rate_the_viscosity_is_exact_at_any_step() {
    let material = Material::neo_hookean(1.0, 0.0).unwrap();
    let flow = Flow { plasticity: None, viscosity: Some(PUTTY) };
    let model = model(lattice([1, 1, 1], 1.0), material, flow, Strain::Local);
    for h in [0.01 * PUTTY.time_s, PUTTY.time_s, 100.0 * PUTTY.time_s] {
        let (mut cells, rate) = (vec![CellFlow::default(); model.n_flowing()], 1e-4 / h);
        let mut strain = 0.0;
        for _ in 0..2000 {
            strain += rate * h;
            let x: Vec<DVec3> = model
                .mesh()
                .positions()
                .iter()
                .map(|&x| x * DVec3::new(ops::exp(strain), 1.0, 1.0))
                .collect();
            advance_flow(&model, &x, h, &mut cells);
        }
        let f = DMat3::from_diagonal(DVec3::new(ops::exp(strain), 1.0, 1.0));
        assert_close!(viscous_strain(f, &cells[0]).x, rate * PUTTY.time_s, 1e-9 + 1e-7 * rate * PUTTY.time_s);
    }
}

#[test]
fn flow_never_raises_the_energy_and_stays_within_its_bounds() {
    let mut rng = Rng::new(4);
    for model in models(BOTH) {
        let mut state = FemState::at_rest(&model);
        for round in 0..200 {
            // Gentle, wild and inverted shapes.
            let amount = [0.05, 0.5, 2.0][round % 3];
            state.positions = shaken(model.mesh(), amount, &mut rng);
            let (before, hardened) = (energy(&model, &state), state.flow.clone());
            let dt = rng.power_of_ten(-4, 4);
            advance_flow(&model, &state.positions, dt, &mut state.flow);
            let after = energy(&model, &state);
            assert!(after.is_finite() && after <= before * (1.0 + 1e-12), "{before} to {after}");
            assert!(shrinkage(&state.flow) <= CLAY.largest_stretch * (1.0 + 1e-12));
            for (cell, last) in state.flow.iter().zip(&hardened) {
                assert!((cell.plastic.determinant() - 1.0).abs() < 1e-12 && cell.hardening >= last.hardening);
                assert!(cell.plastic.is_finite() && cell.viscous.is_finite());
            }
        }
        let kept = state.flow.clone();
        state.positions.fill(DVec3::NAN);
        advance_flow(&model, &state.positions, 0.1, &mut state.flow);
        assert_eq!(state.flow, kept);
    }
}

#[test]
fn below_its_yield_a_material_is_elastic() {
    let mut rng = Rng::new(5);
    let strong = Flow { plasticity: Some(Plasticity { yield_pa: 1e9, ..CLAY }), viscosity: None };
    for (plain, model) in models(Flow::default()).zip(models(strong)) {
        assert!(plain.n_flowing() == 0 && FemState::at_rest(&plain).flow.is_empty());
        let mut state = FemState::at_rest(&model);
        state.positions = shaken(model.mesh(), 0.2, &mut rng);
        let shape = FemShape { dt_s: 0.1, yields: true, ..FemShape::from(&state) };
        for (a, b) in forces(&model, shape).iter().zip(forces(&plain, &state.positions)) {
            assert_close!(*a, b, 1e-13);
        }
        assert_close!(energy(&model, &state), energy(&plain, &state.positions), 1e-13);
        // Without what has flowed, the same bits.
        let bits = |f: Vec<DVec3>| f.iter().map(|f| f.to_array().map(f64::to_bits)).collect::<Vec<_>>();
        assert_eq!(bits(forces(&model, &state.positions)), bits(forces(&plain, &state.positions)));
        advance_flow(&model, &state.positions, 0.1, &mut state.flow);
        assert!(state.flow.iter().all(|cell| *cell == CellFlow::default()));
    }
}

#[test]
fn a_free_block_that_flows_keeps_its_momentum_and_gains_no_energy() {
    let mut rng = Rng::new(6);
    for material in materials() {
        let model = model(lattice([2, 2, 2], 0.1), material, BOTH, Strain::Local);
        let mut state = FemState::at_rest(&model);
        state.positions.iter_mut().for_each(|x| *x *= DVec3::new(1.2, 0.9, 1.0));
        state.velocities.iter_mut().for_each(|v| *v = rng.vec3(-0.02, 0.02));
        let momenta = |state: &FemState| {
            let each = state.positions.iter().zip(&state.velocities).zip(model.masses());
            each.fold((DVec3::ZERO, DVec3::ZERO), |(p, l), ((x, v), m)| (p + *v * *m, l + x.cross(*v) * *m))
        };
        let (linear, angular) = momenta(&state);
        let free = Attachments::new(
            &state.positions,
            &[],
            &vec![None; model.n_nodes()],
            &vec![None; model.n_nodes()],
        )
        .unwrap();
        let step = ExplicitStep { dt_s: 0.1 * stable_dt(&model), ..ExplicitStep::default() };
        let mut scratch = StepScratch::new(&model);
        let total = |state: &FemState| energy(&model, state) + state.kinetic_energy(&model);
        let (begin, mut last) = (total(&state), total(&state));
        for _ in 0..100 {
            for _ in 0..20 {
                step_explicit(&model, &free, &step, &mut state, &mut scratch, &mut []);
            }
            let now = total(&state);
            assert!(now < last * (1.0 + 2e-3), "{last} to {now}");
            last = now;
        }
        assert!(last < 0.5 * begin && shrinkage(&state.flow) > 1.01, "{begin} to {last}");
        let (p, l) = momenta(&state);
        assert_close!(p, linear, 1e-12);
        assert_close!(l, angular, 1e-12);
    }
}

#[test]
#[cfg(feature = "parallel")]
fn threads_change_no_bits_of_what_flows() {
    let mut rng = Rng::new(7);
    let mesh = lattice([8, 8, 8], 0.1);
    let n = mesh.tets().len();
    let regions = sinew_fem::Regions {
        materials: vec![materials()[1]],
        of_tets: (0..n).map(|tet| u32::from(tet % 3 == 0)).collect(),
    };
    let options = FemOptions { flows: vec![Flow::default(), BOTH], regions, ..FemOptions::default() };
    let model = FemModel::new(mesh, materials()[0], &options).unwrap();
    let mut state = FemState::at_rest(&model);
    state.positions = shaken(model.mesh(), 0.02, &mut rng);
    advance_flow(&model, &state.positions, 0.1, &mut state.flow);
    let with = |n_threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap();
        let found = pool.install(|| forces(&model, &state));
        found.iter().map(|f| f.to_array().map(f64::to_bits)).collect::<Vec<_>>()
    };
    let one = with(1);
    assert!(with(2) == one && with(4) == one);
}

#[test]
fn wrong_numbers_are_refused_by_name() {
    let build = |flow: Flow| {
        let options = FemOptions { flows: vec![flow], ..FemOptions::default() };
        FemModel::new(lattice([1, 1, 1], 1.0), materials()[0], &options).unwrap_err().to_string()
    };
    let plastic = |plasticity| Flow { plasticity: Some(plasticity), viscosity: None };
    let viscous = |viscosity| Flow { plasticity: None, viscosity: Some(viscosity) };
    assert!(build(plastic(Plasticity { yield_pa: -1.0, ..CLAY })).starts_with("yield stress (Pa) is -1"));
    assert!(build(plastic(Plasticity { yield_pa: f64::NAN, ..CLAY })).starts_with("yield stress"));
    assert!(build(plastic(Plasticity { hardening_pa: -1.0, ..CLAY })).starts_with("hardening"));
    assert!(build(plastic(Plasticity { largest_stretch: 1.0, ..CLAY })).starts_with("largest plastic"));
    assert!(build(viscous(Viscosity { ratio: 0.0, ..PUTTY })).starts_with("ratio"));
    assert!(build(viscous(Viscosity { time_s: 0.0, ..PUTTY })).starts_with("relaxation time"));
    let options = FemOptions { flows: vec![BOTH; 2], ..FemOptions::default() };
    assert!(FemModel::new(lattice([1, 1, 1], 1.0), materials()[0], &options).is_err());
}
