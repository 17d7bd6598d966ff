//! Fibres and muscles: derivatives, momentum, a bar under its own pull, work, rates, explicit steps.

use crate::meshes::{lattice, shaken};
use crate::stars::{energy, forces, irregular};
use glam::{DMat3, DVec3};
use sinew_fem::{
    Attachments, ExplicitStep, Extension, FemModel, FemOptions, FemState, FibreLaw, FibrePlace, ForceLength,
    Material, Muscle, Projection, StepScratch, Strain, Tendon, TetMesh, add_active_forces,
    add_muscle_potentials, for_each_fibre, stable_dt, step_explicit,
};
use sinew_math::SurfacePoint;
use sinew_testkit::Rng;

const BELL: ForceLength = ForceLength::Bell { optimum: 1.1, width: 0.7 };

fn law(curve: ForceLength) -> FibreLaw {
    FibreLaw { stiffness_pa: 3.0, strength_pa: 2.0, curve, ..FibreLaw::default() }
}

/// Fibres along random directions, smooth over the mesh, in two muscles that share the tetrahedra.
fn model(mesh: TetMesh, strain: Strain, laws: [FibreLaw; 2]) -> FemModel {
    let direction = |tet: &[u32; 4]| {
        let x = tet.iter().map(|&n| mesh.positions()[n as usize]).sum::<DVec3>() / 4.0;
        DVec3::new(1.0, 0.3 * x.x, 0.5 - 0.2 * x.y)
    };
    let fibres: Vec<_> = mesh.tets().iter().zip(0..).map(|(tet, k)| (k, direction(tet))).collect();
    let muscles = (0..2).map(|m: usize| {
        let parts =
            fibres.iter().filter(|(k, _)| *k as usize % 3 != m).map(|&(k, d)| (k, d * (m as f64 - 0.5)));
        Muscle { law: laws[m], fibres: parts.collect() }
    });
    // A cord through three points, the last two in one tetrahedron.
    let point = |tet: u32, weights: [f64; 4]| SurfacePoint { tet, weights };
    let last = mesh.tets().len() as u32 - 2;
    let points =
        vec![point(0, [0.1, 0.2, 0.3, 0.4]), point(last, [0.25; 4]), point(last, [0.7, 0.1, 0.1, 0.1])];
    let tendons = vec![Tendon { law: laws[0], points }];
    let muscles = muscles.collect();
    let options = FemOptions { strain, muscles, tendons, ..FemOptions::default() };
    let material = Material::st_venant_kirchhoff(1.0, 0.3).unwrap().with_extension(Extension::Conservative);
    FemModel::new(mesh, material, &options).unwrap()
}

/// Elastic energy and that of the active fibres.
fn total(model: &FemModel, x: &[DVec3], activations: &[f64]) -> f64 {
    let mut potentials = vec![0.0; model.n_muscles()];
    add_muscle_potentials(model, x, &mut potentials);
    energy(model, x) + potentials.iter().zip(activations).map(|(p, a)| p * a).sum::<f64>()
}

fn all_forces(model: &FemModel, x: &[DVec3], v: &[DVec3], activations: &[f64]) -> Vec<DVec3> {
    let mut all = forces(model, x);
    add_active_forces(model, x, v, activations, &mut all);
    all
}

#[test]
fn forces_of_fibres_are_minus_the_gradient_of_their_energy() {
    let mut rng = Rng::new(31);
    for (strain, curve) in
        [Strain::Local, Strain::Mean].into_iter().flat_map(|s| [(s, ForceLength::Flat), (s, BELL)])
    {
        let model = model(irregular(&mut rng), strain, [law(curve); 2]);
        let (x, a) = (shaken(model.mesh(), 0.25, &mut rng), [0.7, 0.4, 0.6]);
        let still = vec![DVec3::ZERO; x.len()];
        let found = all_forces(&model, &x, &still, &a);
        for (node, axis) in (0..x.len()).flat_map(|node| [(node, 0), (node, 1), (node, 2)]) {
            let moved = |t: f64| {
                let mut x = x.clone();
                x[node][axis] += t;
                total(&model, &x, &a)
            };
            let slope = (moved(1e-6) - moved(-1e-6)) / 2e-6;
            assert!((slope + found[node][axis]).abs() < 1e-7, "{slope} {}", found[node]);
        }
    }
}

/// Stiffness and dampers of all fibres, row by row, and their forces.
fn assembled(
    model: &FemModel,
    x: &[DVec3],
    v: &[DVec3],
    a: &[f64],
    projection: Projection,
) -> [Vec<Vec<f64>>; 2] {
    let n = 3 * model.n_nodes();
    let [mut k, mut c] = [vec![vec![0.0; n]; n], vec![vec![0.0; n]; n]];
    for_each_fibre(model, x, v, a, projection, |fibre| {
        for (matrix, block) in [(&mut k, fibre.stiffness), (&mut c, fibre.damping)] {
            let mut blocks = fibre.blocks(block);
            for (p, &row) in fibre.nodes.iter().enumerate() {
                for &column in &fibre.nodes[p..] {
                    let block: DMat3 = blocks.next().unwrap();
                    for (i, j) in (0..9).map(|e| (e / 3, e % 3)) {
                        matrix[3 * row as usize + i][3 * column as usize + j] += block.col(j)[i];
                        if row != column {
                            matrix[3 * column as usize + j][3 * row as usize + i] += block.col(j)[i];
                        }
                    }
                }
            }
        }
    });
    [k, c]
}

#[test]
fn stiffness_of_fibres_is_the_derivative_and_projected_it_is_semidefinite() {
    let mut rng = Rng::new(33);
    for (strain, curve) in
        [Strain::Local, Strain::Mean].into_iter().flat_map(|s| [(s, ForceLength::Flat), (s, BELL)])
    {
        let model = model(irregular(&mut rng), strain, [law(curve); 2]);
        let (x, a) = (shaken(model.mesh(), 0.25, &mut rng), [0.7, 0.4, 0.6]);
        let of_fibres = |x: &[DVec3]| {
            let mut f = vec![DVec3::ZERO; x.len()];
            for_each_fibre(&model, x, &[], &a, Projection::Exact, |fibre| {
                let each = fibre.nodes.iter().zip(fibre.weights);
                each.for_each(|(&node, &weight)| f[node as usize] -= fibre.tension * weight);
            });
            f
        };
        let [exact, _] = assembled(&model, &x, &[], &a, Projection::Exact);
        for (node, axis) in (0..x.len()).flat_map(|node| [(node, 0), (node, 1), (node, 2)]) {
            let moved = |t: f64| {
                let mut x = x.clone();
                x[node][axis] += t;
                of_fibres(&x)
            };
            let (plus, minus) = (moved(1e-6), moved(-1e-6));
            for (other, (plus, minus)) in plus.iter().zip(&minus).enumerate() {
                for k in 0..3 {
                    let (entry, slope) = (exact[3 * other + k][3 * node + axis], (minus[k] - plus[k]) / 2e-6);
                    assert!((entry - slope).abs() < 1e-5, "{entry} {slope}");
                }
            }
        }
        let v: Vec<DVec3> = x.iter().map(|_| rng.vec3(-1.0, 1.0)).collect();
        for matrix in assembled(&model, &x, &v, &a, Projection::Semidefinite) {
            for _ in 0..20 {
                let d: Vec<f64> = (0..3 * x.len()).map(|_| rng.uniform(-1.0, 1.0)).collect();
                let row = |row: &Vec<f64>| row.iter().zip(&d).map(|(k, d)| k * d).sum::<f64>();
                let product = matrix.iter().zip(&d).map(|(k, d)| row(k) * d);
                assert!(product.sum::<f64>() >= -1e-12);
            }
        }
    }
}

#[test]
fn fibres_have_no_momentum_and_turn_with_the_flesh() {
    let mut rng = Rng::new(35);
    let fast = FibreLaw { fastest_per_s: 2.0, ..law(BELL) };
    for strain in [Strain::Local, Strain::Mean] {
        let model = model(irregular(&mut rng), strain, [law(ForceLength::Flat), fast]);
        let (x, a) = (shaken(model.mesh(), 0.3, &mut rng), [0.5, 1.0, 0.8]);
        let v: Vec<DVec3> = x.iter().map(|_| rng.vec3(-1.0, 1.0)).collect();
        let found = all_forces(&model, &x, &v, &a);
        let sum: DVec3 = found.iter().sum();
        let moment: DVec3 = x.iter().zip(&found).map(|(x, f)| x.cross(*f)).sum();
        assert!(sum.length() < 1e-12 && moment.length() < 1e-11, "{sum} {moment}");
        let turn = rng.rotation();
        let turned: Vec<DVec3> = x.iter().map(|&x| turn * x + DVec3::ONE).collect();
        let carried: Vec<DVec3> = v.iter().map(|&v| turn * v + DVec3::X).collect();
        for (f, g) in found.iter().zip(all_forces(&model, &turned, &carried, &a)) {
            assert!((turn * *f - g).length() < 1e-12, "{f} {g}");
        }
    }
}

/// A bar of Poisson's ratio 0 with fibres along it: with the other stretches at rest, `P(λ) + σ(λ) = 0`.
#[test]
fn a_bar_shortens_until_its_material_holds_the_stress() {
    for strain in [Strain::Local, Strain::Mean] {
        let mesh = lattice([5, 1, 1], 0.2);
        let fibres = (0..mesh.tets().len() as u32).map(|k| (k, DVec3::X)).collect();
        let law = FibreLaw { stiffness_pa: 500.0, strength_pa: 1e3, ..FibreLaw::default() };
        let muscles = vec![Muscle { law, fibres }];
        let options = FemOptions { strain, muscles, ..FemOptions::default() };
        let material = Material::neo_hookean(1e4, 0.0).unwrap();
        let model = FemModel::new(mesh, material, &options).unwrap();
        for (stretch, activation) in [(0.9, 1.0), (0.97, 0.3), (1.2, 0.0), (1.1, 1.0)] {
            let x: Vec<DVec3> =
                model.mesh().positions().iter().map(|&x| x * DVec3::new(stretch, 1.0, 1.0)).collect();
            let all = all_forces(&model, &x, &vec![DVec3::ZERO; x.len()], &[activation]);
            let ends = x.iter().zip(&all).filter(|(x, _)| x.x < 1e-9).map(|(_, f)| f.x).sum::<f64>();
            let p = material.stress(&DMat3::from_diagonal(DVec3::new(stretch, 1.0, 1.0))).x_axis.x;
            let area = 0.04;
            let pull = p + 500.0 * (stretch - 1.0).max(0.0) + 1e3 * activation;
            assert!((ends - pull * area).abs() < 1e-9 * pull.abs().max(1.0), "{ends} {}", pull * area);
        }
    }
}

/// Hill's hyperbola: no stress at the fastest shortening, half as much again when drawn out fast, and never more energy than without it.
#[test]
fn stress_depends_on_the_rate_as_hill_says() {
    let mesh = lattice([1, 1, 1], 1.0);
    let fibres = (0..mesh.tets().len() as u32).map(|k| (k, DVec3::X)).collect();
    let law = FibreLaw { strength_pa: 1.0, fastest_per_s: 4.0, ..FibreLaw::default() };
    let options = FemOptions { muscles: vec![Muscle { law, fibres }], ..FemOptions::default() };
    let model = FemModel::new(mesh, Material::neo_hookean(1.0, 0.3).unwrap(), &options).unwrap();
    let x = model.mesh().positions().to_vec();
    let pull = |rate: f64| {
        let v: Vec<DVec3> = x.iter().map(|x| DVec3::X * (rate * x.x)).collect();
        let mut f = vec![DVec3::ZERO; x.len()];
        add_active_forces(&model, &x, &v, &[1.0], &mut f);
        x.iter().zip(&f).filter(|(x, _)| x.x < 1e-9).map(|(_, f)| f.x).sum::<f64>()
    };
    for (rate, expected) in
        [(0.0, 1.0), (-4.0, 0.0), (-9.0, 0.0), (-1.0, 0.75 / 2.0), (4e6, 1.5), (4.0, 1.0 + 0.5 / 1.1)]
    {
        assert!((pull(rate) - expected).abs() < 1e-6, "{rate}: {} {expected}", pull(rate));
    }
    assert!(((pull(1e-6) - pull(0.0)) / (pull(0.0) - pull(-1e-6)) - 1.0).abs() < 1e-4, "one slope");
}

/// A free block that pulls itself together: what its muscles do is what its energy becomes, and its momentum stays.
#[test]
fn explicit_steps_turn_the_work_of_muscles_into_energy() {
    let mut rng = Rng::new(37);
    for (strain, fastest_per_s) in
        [(Strain::Local, f64::INFINITY), (Strain::Mean, f64::INFINITY), (Strain::Local, 0.02)]
    {
        let hill = FibreLaw { fastest_per_s, ..law(BELL) };
        let model = model(lattice([3, 2, 2], 0.5), strain, [hill, law(ForceLength::Flat)]);
        let mut state = FemState::at_rest(&model);
        state.positions = shaken(model.mesh(), 0.02, &mut rng);
        let attachments = Attachments::new(
            &state.positions,
            &[],
            &vec![None; model.n_nodes()],
            &vec![None; model.n_nodes()],
        )
        .unwrap();
        let mut scratch = StepScratch::new(&model);
        let a = [0.2, 0.1, 0.1];
        let step =
            ExplicitStep { dt_s: 0.05 * stable_dt(&model), activations: &a, ..ExplicitStep::default() };
        let measured = |state: &FemState| {
            (
                energy(&model, &state.positions),
                state.kinetic_energy(&model),
                total(&model, &state.positions, &a),
            )
        };
        let start = measured(&state);
        for _ in 0..400 {
            step_explicit(&model, &attachments, &step, &mut state, &mut scratch, &mut []);
        }
        let end = measured(&state);
        let work = (start.2 - start.0) - (end.2 - end.0);
        let gained = end.0 + end.1 - start.0;
        assert!(work > 1e-3, "{work}");
        if fastest_per_s.is_finite() {
            assert!(gained < 0.9 * work, "dampers take a part: {gained} {work}");
        } else {
            assert!((gained - work).abs() < 0.02 * work, "{gained} {work}");
        }
        let momentum: DVec3 = state.velocities.iter().zip(model.masses()).map(|(v, m)| *v * *m).sum();
        assert!(momentum.length() < 1e-9, "{momentum}");
    }
}

#[test]
fn the_stable_step_knows_stiff_fibres() {
    let plain = model(lattice([2, 2, 2], 0.5), Strain::Local, [FibreLaw::default(); 2]);
    let stiff = model(
        lattice([2, 2, 2], 0.5),
        Strain::Local,
        [FibreLaw { stiffness_pa: 1e4, ..FibreLaw::default() }; 2],
    );
    assert!(stable_dt(&stiff) < 0.05 * stable_dt(&plain));
    let fast = FibreLaw { strength_pa: 1.0, fastest_per_s: 1e-4, ..FibreLaw::default() };
    assert!(stable_dt(&model(lattice([2, 2, 2], 0.5), Strain::Local, [fast; 2])) < 0.5 * stable_dt(&plain));
}

#[test]
fn muscles_that_make_no_sense_are_refused() {
    let built = |law: FibreLaw, fibre: (u32, DVec3)| {
        let muscles = vec![Muscle { law, fibres: vec![fibre] }];
        let options = FemOptions { muscles, ..FemOptions::default() };
        FemModel::new(lattice([1, 1, 1], 1.0), Material::neo_hookean(1.0, 0.3).unwrap(), &options)
    };
    let (good, x) = (law(BELL), (0, DVec3::X));
    assert!(built(good, x).is_ok());
    assert!(built(good, (99, DVec3::X)).is_err() && built(good, (0, DVec3::ZERO)).is_err());
    assert!(built(FibreLaw { strength_pa: -1.0, ..good }, x).is_err());
    assert!(built(FibreLaw { stiffness_pa: f64::NAN, ..good }, x).is_err());
    assert!(built(FibreLaw { fastest_per_s: 0.0, ..good }, x).is_err());
    assert!(built(law(ForceLength::Bell { optimum: 1.0, width: 1.0 }), x).is_err());
}

/// Two points of a block and a cord between them: it pulls them together with its force, and its patch has the nodes of both.
#[test]
fn a_tendon_pulls_its_ends_together() {
    for strain in [Strain::Local, Strain::Mean] {
        let mesh = lattice([4, 1, 1], 0.5);
        let n = mesh.tets().len();
        let ends = [0, n - 1].map(|tet| SurfacePoint { tet: tet as u32, weights: [0.25; 4] });
        let law = FibreLaw { stiffness_pa: 40.0, strength_pa: 7.0, ..FibreLaw::default() };
        let tendons = vec![Tendon { law, points: ends.to_vec() }];
        let options = FemOptions { strain, tendons, ..FemOptions::default() };
        let model = FemModel::new(mesh, Material::neo_hookean(1e4, 0.3).unwrap(), &options).unwrap();
        assert_eq!((model.n_muscles(), model.patches().count()), (1, model.n_stars() + 1));
        let rest = model.mesh().positions().to_vec();
        let x: Vec<DVec3> = rest.iter().map(|x| *x * 1.5).collect();
        let mut places = Vec::new();
        for_each_fibre(&model, &x, &[], &[0.5], Projection::Exact, |piece| {
            places.push(piece.place);
            let length = model.mesh().point(&ends[1], &rest).distance(model.mesh().point(&ends[0], &rest));
            let pull = piece.tension.length() / length;
            assert!((pull - (40.0 * 0.5 + 7.0 * 0.5)).abs() < 1e-9, "{pull}");
        });
        assert_eq!(places, [FibrePlace::Patch(model.n_stars())]);
        let mut pulled = vec![DVec3::ZERO; x.len()];
        add_active_forces(&model, &rest, &vec![DVec3::ZERO; x.len()], &[1.0], &mut pulled);
        let first: DVec3 = model.mesh().tets()[0].iter().map(|&node| pulled[node as usize]).sum();
        let along = (model.mesh().point(&ends[1], &rest) - model.mesh().point(&ends[0], &rest)).normalize();
        assert!((first - along * 7.0).length() < 1e-12, "{first}");
    }
}

#[test]
fn tendons_that_make_no_sense_are_refused() {
    let built = |points: Vec<SurfacePoint>| {
        let options =
            FemOptions { tendons: vec![Tendon { law: law(BELL), points }], ..FemOptions::default() };
        FemModel::new(lattice([1, 1, 1], 1.0), Material::neo_hookean(1.0, 0.3).unwrap(), &options)
    };
    let at = |tet: u32| SurfacePoint { tet, weights: [0.25; 4] };
    assert!(built(vec![at(0), at(1)]).is_ok());
    assert!(built(vec![at(0), at(0)]).is_err() && built(vec![at(0), at(99)]).is_err());
}
