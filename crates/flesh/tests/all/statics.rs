//! Shapes at rest against an independent Newton solve, and against closed forms.

use glam::{DMat3, DQuat, DVec3};
use sinew_fem::{
    Attachments, Diagonalize, Extension, FemModel, FemOptions, FemScratch, Material, Projection,
    STIFFNESS_PAIRS, StretchBand, TetMesh, elastic_energy, for_each_tangent,
};
use sinew_flesh::{FleshBody, FleshModel, FleshOptions};
use sinew_math::{Force, MassProperties, Pose, Sym3};
use sinew_mechanism::{
    BodyId, BodySpec, JointFrames, JointKind, JointSpec, MechanismBuilder, rotation_to_axis,
};
use sinew_testkit::{Dense, assert_close, norm};

use crate::support::{Chain, Run, beam, corner_points};

/// Flesh of a conservative material and the density of water.
pub(crate) fn flesh_of(mesh: TetMesh, young: f64, poisson: f64) -> FemModel {
    let material = Material::st_venant_kirchhoff(young, poisson)
        .expect("a material")
        .with_extension(Extension::Conservative);
    FemModel::new(mesh, material, &FemOptions::default()).expect("flesh")
}

/// A bar whose nodes at x = 0 sit on a body that never moves.
pub(crate) fn cantilever(size: DVec3, cells: [u32; 3], moduli: [f64; 2], options: FleshOptions) -> Chain {
    let mut builder = MechanismBuilder::new();
    let wall = builder.add_body(BodySpec::fixed("wall", Pose::IDENTITY));
    let model = builder.build().expect("a bar");
    let fem = flesh_of(beam(size, cells), moduli[0], moduli[1]);
    let rest = fem.mesh().positions();
    let clamped: Vec<_> = rest.iter().map(|x| (x.x <= 0.0).then_some(0)).collect();
    let references = vec![Some(0); rest.len()];
    let attachments = Attachments::new(rest, &[Pose::IDENTITY], &clamped, &references).expect("a bar");
    let surface = corner_points(&fem);
    let body = FleshBody::new(fem, attachments, vec![wall.index()], surface, options).expect("a bar");
    let flesh = FleshModel::new(&model, vec![body], None).expect("a bar");
    Chain { model, flesh }
}

/// The bar of the reference case: 1 × 0.2 × 0.2 m, 2e5 Pa, 240 tetrahedra; its tip sinks by two thirds of its length.
pub(crate) fn soft_bar(options: FleshOptions) -> Chain {
    cantilever(DVec3::new(1.0, 0.2, 0.2), [10, 2, 2], [2e5, 0.3], options)
}

/// Stiffness and forces, by numbers that are free: entries of `free` are `3 node + axis`.
pub(crate) fn assembled(fem: &FemModel, x: &[DVec3], free: &[usize]) -> (Dense, Vec<f64>) {
    let mut place = vec![usize::MAX; 3 * x.len()];
    free.iter().enumerate().for_each(|(at, &number)| place[number] = at);
    let n = free.len();
    let (mut stiffness, mut forces) = (vec![0.0; n * n], vec![0.0; n]);
    let mut scratch = FemScratch::new(fem);
    for_each_tangent(fem, x, Projection::Exact, &mut scratch, |tet, element| {
        let nodes = fem.mesh().tets()[tet].map(|node| 3 * node as usize);
        for (&node, force) in nodes.iter().zip(&element.forces) {
            for i in 0..3 {
                if let Some(sum) = forces.get_mut(place[node + i]) {
                    *sum += force[i];
                }
            }
        }
        for (&(a, b), block) in STIFFNESS_PAIRS.iter().zip(&element.stiffness) {
            for (i, j) in (0..9).map(|k| (k / 3, k % 3)) {
                let (row, col) = (place[nodes[a] + i], place[nodes[b] + j]);
                if row < n && col < n {
                    stiffness[row * n + col] += block.col(j)[i];
                    if a != b {
                        stiffness[col * n + row] += block.col(j)[i];
                    }
                }
            }
        }
    });
    (Dense::from_rows(n, n, &stiffness), forces)
}

/// Where forces vanish: Newton's method with the exact stiffness, steps halved until the energy falls.
fn equilibrium(fem: &FemModel, start: &[DVec3], loads: &[DVec3], free: &[usize]) -> Vec<DVec3> {
    let mut x = start.to_vec();
    let mut scratch = FemScratch::new(fem);
    let mut energy = |x: &[DVec3]| {
        let work: f64 = x.iter().zip(loads).map(|(x, load)| x.dot(*load)).sum();
        elastic_energy(fem, x, Diagonalize::Always, &mut scratch) - work
    };
    for _ in 0..100 {
        let (stiffness, forces) = assembled(fem, &x, free);
        let out: Vec<f64> =
            free.iter().zip(&forces).map(|(&number, f)| f + loads[number / 3][number % 3]).collect();
        // Stiffer until the direction goes downhill.
        let mut stiffer = 0.0;
        let step = loop {
            let matrix = stiffness.plus(&Dense::identity(free.len()), stiffer);
            let step = matrix.solve(&out).unwrap_or_default();
            let downhill: f64 = step.iter().zip(&out).map(|(s, f)| s * f).sum();
            if !step.is_empty() && downhill >= 0.0 {
                break step;
            }
            stiffer = (2.0 * stiffer).max(1e-4 * stiffness.norm());
        };
        let before = energy(&x);
        let mut part = 1.0;
        let moved = loop {
            let mut moved = x.clone();
            free.iter().zip(&step).for_each(|(&number, s)| moved[number / 3][number % 3] += s * part);
            if energy(&moved) <= before + 1e-12 * before.abs() || part < 1e-9 {
                break moved;
            }
            part *= 0.5;
        };
        x = moved;
        if norm(&step) < 1e-13 * (free.len() as f64).sqrt() {
            return x;
        }
    }
    panic!("no equilibrium");
}

/// Largest distance between nodes.
pub(crate) fn farthest(a: &[DVec3], b: &[DVec3]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max)
}

/// Steps until nothing moves; returns how many that took.
fn settle(run: &mut Run<'_>, dt: f64) -> usize {
    run.settings.dt = dt;
    for n in 1..=400 {
        let before = run.soft.nodes[0].positions.clone();
        let (report, felt) = run.step();
        assert!(report.non_finite.is_none() && felt.elements.non_finite.is_none());
        if farthest(&before, &run.soft.nodes[0].positions) < 1e-13 {
            return n;
        }
    }
    panic!("still moving");
}

#[test]
fn a_cantilever_rests_where_newton_finds_it() {
    for (options, dt) in [
        (FleshOptions::default(), 10.0),
        (FleshOptions { stiffness_damping_s: 0.1, bone_damping_per_s: 5.0, contact: None }, 1.0),
    ] {
        let chain = soft_bar(options);
        let mut run = Run::new(&chain);
        let fem = chain.flesh.bodies()[0].fem();
        let loads: Vec<DVec3> = fem.masses().iter().map(|m| run.settings.gravity * *m).collect();
        let rest = fem.mesh().positions();
        let free: Vec<usize> = (0..3 * rest.len()).filter(|n| rest[n / 3].x > 0.0).collect();
        let expected = equilibrium(fem, rest, &loads, &free);
        let n_steps = settle(&mut run, dt);
        let found = &run.soft.nodes[0].positions;
        let (error, bent) = (farthest(found, &expected), rest[98].z - expected[98].z);
        println!(
            "cantilever, steps of {dt} s: tip sinks {bent:.6} m, {error:.1e} m apart after {n_steps} steps"
        );
        assert!(bent > 0.2, "{bent}");
        assert!(error < 1e-9, "{error:e}");
    }
}

#[test]
fn a_stiff_bar_bends_as_a_beam_does() {
    // Twenty times as long as thick and fine along it: the mesh is stiffer than the beam, by no more than it locks.
    let chain = cantilever(DVec3::new(1.0, 0.05, 0.05), [80, 4, 4], [1e9, 0.0], FleshOptions::default());
    let mut run = Run::new(&chain);
    settle(&mut run, 10.0);
    let tip = run.soft.nodes[0].positions.last().unwrap().z - 0.05;
    // −ρAg L⁴ / 8EI, I = t⁴/12
    let beam = -1000.0 * 9.81 * 12.0 / (8.0 * 1e9 * 0.05 * 0.05);
    println!("beam: {:.4} of Euler and Bernoulli's deflection", tip / beam);
    assert!(tip / beam > 0.75 && tip / beam < 1.02, "{tip} {beam}");
}

/// A cube of 48 tetrahedra whose middle node is elsewhere.
fn irregular_cube(middle: DVec3) -> TetMesh {
    let cube = beam(DVec3::ONE, [2, 2, 2]);
    let mut positions = cube.positions().to_vec();
    positions[13] = middle;
    TetMesh::new(positions, cube.tets().to_vec()).expect("a cube")
}

/// Flesh whose stretches in these tests are all within the band of the material, where closed forms hold.
fn plain(mesh: TetMesh, young: f64, poisson: f64) -> FemModel {
    let fem = flesh_of(mesh, young, poisson);
    let material = fem.material().with_band(StretchBand::new(0.34, 4.0).expect("a band"));
    fem.with_material(material)
}

#[test]
fn the_inside_of_a_patch_follows_an_affine_boundary() {
    let rows = [DVec3::new(1.15, 0.2, -0.1), DVec3::new(0.05, 0.9, 0.15), DVec3::new(-0.12, 0.08, 1.1)];
    let (map, shift) = (DMat3::from_cols(rows[0], rows[1], rows[2]).transpose(), DVec3::new(0.3, -0.2, 0.5));
    let fem = plain(irregular_cube(DVec3::new(0.6, 0.57, 0.41)), 1e4, 0.35);
    let rest = fem.mesh().positions().to_vec();
    // Every node of the boundary on a body of its own, which jumps in the first step.
    let mut builder = MechanismBuilder::new();
    let poses: Vec<Pose> = rest.iter().map(|x| Pose::from_translation(*x)).collect();
    let bones: Vec<BodyId> =
        poses.iter().map(|pose| builder.add_body(BodySpec::kinematic("", *pose))).collect();
    let model = builder.build().unwrap();
    let fixed: Vec<_> = (0..27).map(|i| (i != 13).then_some(i)).collect();
    let attachments = Attachments::new(&rest, &poses, &fixed, &[None; 27]).unwrap();
    let ids = bones.iter().map(|bone| bone.index()).collect();
    let body = FleshBody::new(fem, attachments, ids, Vec::new(), FleshOptions::default()).unwrap();
    let flesh = FleshModel::new(&model, vec![body], None).unwrap();
    let chain = Chain { model, flesh };
    let mut run = Run::new(&chain);
    run.settings.gravity = DVec3::ZERO;
    for (bone, x) in bones.iter().zip(&rest) {
        run.input.kinematic.push((*bone, Pose::from_translation(map * *x + shift)));
    }
    let n_steps = settle(&mut run, 10.0);
    let found = &run.soft.nodes[0].positions;
    let error = found[13].distance(DVec3::new(1.063, 0.4045, 0.9246));
    println!("patch: {error:.1e} m apart after {n_steps} steps");
    assert!(error < 1e-12, "{error:e}");
    assert_close!(chain.flesh.energy(&run.soft, DVec3::ZERO).elastic, 700.70101388889, 1e-12);
}

/// A cube on rollers on three sides, pulled at x = 1: bodies with joints carry the nodes that are not free.
#[test]
fn a_cube_is_stretched_as_the_closed_form_says() {
    let (young, poisson) = (2e5, 0.3);
    for stretch in [0.8_f64, 0.9, 1.1, 1.3, 1.6] {
        let lateral = (1.0 - poisson * (stretch * stretch - 1.0)).sqrt();
        let traction = stretch * young * (stretch * stretch - 1.0) * 0.5;
        let fem = plain(irregular_cube(DVec3::new(0.58, 0.45, 0.56)), young, poisson);
        let rest = fem.mesh().positions().to_vec();
        let mut builder = MechanismBuilder::new();
        let small = MassProperties { mass: 1.0, com: DVec3::ZERO, inertia: Sym3::IDENTITY };
        let (mut bones, mut poses, mut fixed) = (Vec::new(), Vec::new(), vec![None; 27]);
        for (node, x) in rest.iter().enumerate() {
            let held: Vec<DVec3> = DVec3::AXES.into_iter().filter(|axis| x.dot(*axis) <= 0.0).collect();
            if held.is_empty() && x.x < 1.0 {
                continue;
            }
            fixed[node] = Some(bones.len() as u32);
            let pose = Pose::from_translation(*x);
            poses.push(pose);
            let spec = BodySpec::dynamic("", pose, small).with_damping(1.0, 0.0);
            let bone = builder.add_body(if held.len() == 3 { BodySpec::fixed("", pose) } else { spec });
            bones.push((bone, node));
            let (kind, axis) = match held[..] {
                [axis] => (JointKind::PointOnPlane, axis),
                [first, second] => (JointKind::PointOnLine, first.cross(second)),
                _ => continue,
            };
            let frames = JointFrames {
                rotation1: DQuat::IDENTITY,
                point1: DVec3::ZERO,
                rotation2: rotation_to_axis(axis).unwrap(),
                point2: *x,
            };
            builder.add_joint(JointSpec::new("", kind, bone, None, frames));
        }
        let model = builder.build().unwrap();
        let attachments = Attachments::new(&rest, &poses, &fixed, &[None; 27]).unwrap();
        // Area of the faces at x = 1 that each node carries: a third of each triangle.
        let mut areas = [0.0; 27];
        for tet in fem.mesh().tets() {
            let face: Vec<usize> = tet.iter().map(|&n| n as usize).filter(|&n| rest[n].x >= 1.0).collect();
            if let [a, b, c] = face[..] {
                let area = (rest[b] - rest[a]).cross(rest[c] - rest[a]).length() / 6.0;
                [a, b, c].into_iter().for_each(|node| areas[node] += area);
            }
        }
        let loads = areas.map(|area| DVec3::X * (area * traction));
        let free: Vec<usize> = (0..81).filter(|n| rest[n / 3][n % 3] > 0.0).collect();
        let shaped: Vec<DVec3> = rest.iter().map(|x| *x * DVec3::new(stretch, lateral, lateral)).collect();
        let newton = equilibrium(&fem, &rest, &loads, &free);
        let oracle = farthest(&newton, &shaped);

        let ids = bones.iter().map(|(bone, _)| bone.index()).collect();
        let body = FleshBody::new(fem, attachments, ids, Vec::new(), FleshOptions::default()).unwrap();
        let flesh = FleshModel::new(&model, vec![body], None).unwrap();
        let chain = Chain { model, flesh };
        let mut run = Run::new(&chain);
        run.settings.gravity = DVec3::ZERO;
        for &(bone, node) in &bones {
            run.input.wrenches.push((bone, Force::new(DVec3::ZERO, loads[node])));
        }
        let n_steps = settle(&mut run, 1.0);
        let error = farthest(&run.soft.nodes[0].positions, &shaped);
        println!("stretch {stretch}: {error:.1e} m apart after {n_steps} steps, Newton {oracle:.1e} m");
        assert!(oracle < 1e-12 && error < 1e-10, "{stretch}: {oracle:e} {error:e}");
    }
}
