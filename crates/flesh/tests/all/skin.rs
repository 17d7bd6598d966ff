//! Flesh that touches between the points of its surface, and nodes under its skin.

use glam::DVec3;
use sinew_contact::{Collider, ContactMaterial, ContactModel, ContactShape, Groups, Mover, Opposite, Owner};
use sinew_fem::{Attachments, TetMesh};
use sinew_flesh::{
    ExplicitFlesh, ExplicitWorkspace, FleshBody, FleshModel, FleshOptions, SurfacePoint, predict_bodies,
    step_explicit,
};
use sinew_math::{Motion, Pose, Shape};
use sinew_mechanism::{BodySpec, MechanismBuilder};

use crate::contact::total_momentum;
use crate::statics::flesh_of;
use crate::support::{Chain, Run, beam, corner_points};

/// A box of flesh with a skin over the nodes of its boundary.
#[derive(Clone, Copy)]
struct Pad {
    corner: DVec3,
    size: DVec3,
    cells: [u32; 3],
    young: f64,
}

impl Pad {
    fn build(&self) -> FleshBody {
        let mesh = beam(self.size, self.cells);
        let moved = mesh.positions().iter().map(|x| *x + self.corner).collect();
        let mesh = TetMesh::new(moved, mesh.tets().to_vec()).expect("a pad");
        let boundary = mesh.boundary();
        let fem = flesh_of(mesh, self.young, 0.3);
        let mut nodes: Vec<u32> = boundary.iter().flatten().copied().collect();
        nodes.sort_unstable();
        nodes.dedup();
        let all = corner_points(&fem);
        let surface: Vec<SurfacePoint> = nodes.iter().map(|&node| all[node as usize]).collect();
        let index = |node: u32| nodes.binary_search(&node).expect("on the boundary") as u32;
        let triangles = boundary.iter().map(|face| face.map(index)).collect();
        let mass = fem.masses().iter().sum::<f64>() * 10.0 / nodes.len() as f64;
        let options = FleshOptions {
            stiffness_damping_s: 0.01,
            contact: Some((ContactMaterial::for_mass(mass, 0.5), Groups::ALL)),
            ..FleshOptions::default()
        };
        let attachments = Attachments::none(fem.n_nodes());
        let body = FleshBody::new(fem, attachments, Vec::new(), surface, options).expect("flesh");
        body.with_skin(triangles).expect("a skin")
    }
}

/// Solids of 1 kg at these places, each alone over flesh, with ground at z = 0 or without.
fn scene(solids: &[(Shape, DVec3)], pads: &[Pad], with_ground: bool) -> Chain {
    let (mut builder, mut colliders) = (MechanismBuilder::new(), Vec::new());
    if with_ground {
        let material = ContactMaterial::passive(0.5);
        colliders.push(Collider::ground(DVec3::ZERO, DVec3::Z, material).expect("ground"));
    }
    for (i, (shape, place)) in solids.iter().enumerate() {
        let mut mass = shape.mass_properties(1.0);
        mass = shape.mass_properties(1.0 / mass.mass);
        builder.add_body(BodySpec::dynamic("", Pose::from_translation(*place), mass));
        let (owner, material) = (Owner::Body(i as u32), ContactMaterial::for_mass(1.0, 0.5));
        let shape = ContactShape::Solid(*shape);
        colliders.push(Collider::new(owner, Pose::IDENTITY, shape, material).expect("a solid"));
    }
    let model = builder.build().expect("solids");
    let contact = ContactModel::new(colliders, model.n_bodies(), &[]).expect("colliders");
    let bodies = pads.iter().map(Pad::build).collect();
    let flesh = FleshModel::new(&model, bodies, Some(contact)).expect("a model");
    Chain { model, flesh }
}

/// Kinetic and elastic energy without gravity, J.
fn energy(chain: &Chain, run: &Run<'_>) -> f64 {
    let flesh = chain.flesh.energy(&run.soft, DVec3::ZERO);
    let bodies = sinew_mechanism::energy(&chain.model, &run.state, DVec3::ZERO, 1.0);
    bodies.total() + flesh.kinetic + flesh.elastic
}

const PAD: Pad = Pad {
    corner: DVec3::new(-0.3, -0.3, 0.0),
    size: DVec3::new(0.6, 0.6, 0.25),
    cells: [3, 3, 1],
    young: 5e4,
};

#[test]
fn solids_that_hit_between_points_keep_momentum_and_gain_no_energy() {
    let solids = [
        Shape::Sphere { radius: 0.05 },
        Shape::Capsule { radius: 0.03, length: 0.1 },
        Shape::Box { size: DVec3::new(0.1, 0.08, 0.06) },
        Shape::Cylinder { radius: 0.04, length: 0.08 },
    ];
    for shape in solids {
        let chain = scene(&[(shape, DVec3::new(0.03, 0.02, 0.36))], &[PAD], false);
        let mut run = Run::new(&chain);
        run.settings.gravity = DVec3::ZERO;
        run.settings.dt = 1.0 / 240.0;
        run.state.motions[0] = Motion::new(DVec3::new(1.0, 0.5, 0.2), DVec3::new(0.3, 0.0, -3.0));
        let (before, start) = (total_momentum(&chain, (&run.state, &run.soft)), energy(&chain, &run));
        let (mut n_faces, mut last) = (0, start);
        for _ in 0..120 {
            run.step();
            n_faces += run.work.contacts().filter(|(it, _)| matches!(it.a, Mover::Face(_))).count();
            let now = energy(&chain, &run);
            assert!(now < last + 1e-3 * start, "{shape:?}: {last} J to {now} J of {start} J");
            last = now;
        }
        let after = total_momentum(&chain, (&run.state, &run.soft));
        let linear = (after.linear - before.linear).length() / before.linear.length();
        println!("{shape:?}: {n_faces} contacts, momentum off by {linear:.1e}, {start:.2} to {last:.2} J");
        assert!(n_faces > 0, "{shape:?} touched only points");
        assert!(linear < 1e-9, "{shape:?}: {linear:e}");
        assert!(run.state.motions[0].linear.z > -0.5, "{shape:?} was not stopped");
    }
}

#[test]
fn nothing_falls_through_a_pad_at_any_speed() {
    for shape in [Shape::Sphere { radius: 0.05 }, Shape::Box { size: DVec3::new(0.1, 0.08, 0.06) }] {
        for speed in [0.1, 1.0, 5.0, 10.0, 20.0, 30.0] {
            let pad = Pad { cells: [3, 3, 2], young: 2e5, ..PAD };
            let chain = scene(&[(shape, DVec3::new(0.03, 0.02, 0.4))], &[pad], true);
            let mut run = Run::new(&chain);
            run.state.motions[0] = Motion::new(DVec3::ZERO, DVec3::Z * -speed);
            let (mut lowest, mut depth) = (f64::INFINITY, 0.0_f64);
            for _ in 0..60 {
                let (_, felt) = run.step();
                let place = run.state.poses[0].translation;
                depth = depth.max(felt.contacts.depth);
                // it may bounce off sideways
                if place.truncate().abs().max_element() < 0.3 {
                    lowest = lowest.min(place.z);
                }
            }
            println!("{speed} m/s: lowest {lowest:.3} m, contact depth {:.2} mm", 1e3 * depth);
            assert!(lowest > 0.2, "{shape:?} at {speed} m/s was at {lowest} m");
        }
    }
}

#[test]
fn nodes_inside_very_soft_flesh_stay_above_the_ground() {
    let pad = Pad { corner: DVec3::Z * 0.02, size: DVec3::splat(0.4), cells: [4; 3], young: 1e3 };
    let chain = scene(&[], &[pad], true);
    let mut run = Run::new(&chain);
    let mut lowest = f64::INFINITY;
    for _ in 0..180 {
        run.step();
        lowest = run.soft.nodes[0].positions.iter().map(|x| x.z).fold(lowest, f64::min);
    }
    println!("lowest node {:.3} mm", 1e3 * lowest);
    assert!(lowest > -2e-3, "{lowest}");
}

#[test]
fn flesh_thrown_at_a_thin_wall_does_not_pass_it() {
    for speed in [5.0, 15.0, 30.0] {
        let pad =
            Pad { corner: DVec3::new(-0.1, -0.1, 0.3), size: DVec3::splat(0.2), cells: [2; 3], young: 1e4 };
        let mut builder = MechanismBuilder::new();
        builder.add_body(BodySpec::fixed("wall", Pose::from_translation(DVec3::Z * -0.05)));
        let model = builder.build().expect("a wall");
        let shape = ContactShape::Solid(Shape::Box { size: DVec3::new(4.0, 4.0, 0.1) });
        let material = ContactMaterial::passive(0.5);
        let wall = Collider::new(Owner::Body(0), Pose::IDENTITY, shape, material).expect("a wall");
        let contact = ContactModel::new(vec![wall], 1, &[]).expect("colliders");
        let flesh = FleshModel::new(&model, vec![pad.build()], Some(contact)).expect("a model");
        let chain = Chain { model, flesh };
        let mut run = Run::new(&chain);
        run.settings.gravity = DVec3::ZERO;
        run.soft.nodes[0].velocities.fill(DVec3::Z * -speed);
        let (mut lowest, start) = (f64::INFINITY, energy(&chain, &run));
        for _ in 0..60 {
            run.step();
            lowest = run.soft.nodes[0].positions.iter().map(|x| x.z).fold(lowest, f64::min);
            assert!(energy(&chain, &run) < 1.001 * start, "{speed} m/s gains energy");
        }
        println!("{speed} m/s: lowest {:.2} mm", 1e3 * lowest);
        assert!(lowest > -0.02, "{speed} m/s: {lowest} m");
    }
}

#[test]
fn explicit_flesh_stops_a_ball_between_its_points() {
    let pad = Pad { young: 2e4, ..PAD };
    let chain = scene(&[(Shape::Sphere { radius: 0.06 }, DVec3::new(0.03, 0.02, 0.32))], &[pad], true);
    let (mut state, mut ahead) = (chain.model.initial_state(), chain.model.initial_state());
    let mut flesh = chain.flesh.initial_state(&state);
    let mut work = ExplicitWorkspace::new(&chain.flesh);
    let settings = ExplicitFlesh { dt: 1e-3, gravity: DVec3::Z * -9.81, ..ExplicitFlesh::default() };
    let (mut wrenches, mut lowest) = (Vec::new(), f64::INFINITY);
    for _ in 0..1500 {
        predict_bodies(&state, settings.dt, &mut ahead);
        let report =
            step_explicit(&chain.flesh, [&state, &ahead], &settings, &mut flesh, &mut work, &mut wrenches);
        assert!(report.non_finite.is_none() && report.elements.non_finite.is_none());
        let force: DVec3 = wrenches.iter().map(|(_, wrench)| wrench.linear).sum();
        state.motions[0].linear += (force + DVec3::Z * -9.81) * settings.dt;
        state.poses[0].translation += state.motions[0].linear * settings.dt;
        lowest = lowest.min(state.poses[0].translation.z);
    }
    println!("a ball on explicit flesh: lowest {lowest:.3} m, {:.3} m/s", state.motions[0].linear.length());
    assert!(lowest > 0.2, "{lowest}");
    assert!(state.motions[0].linear.length() < 0.3);
}

#[test]
fn steps_with_faces_allocate_nothing_once_warm() {
    let chain = scene(&[(Shape::Sphere { radius: 0.05 }, DVec3::new(0.03, 0.02, 0.31))], &[PAD], true);
    let mut run = Run::new(&chain);
    for _ in 0..100 {
        run.step();
    }
    let counted = allocation_counter::measure(|| {
        run.step();
    });
    assert!(run.work.contacts().any(|(it, _)| matches!(it.a, Mover::Face(_))));
    assert_eq!(counted.count_total, 0);
}

#[test]
fn a_restored_state_touches_with_the_same_faces() {
    let solids = [Shape::Box { size: DVec3::new(0.1, 0.08, 0.06) }, Shape::Sphere { radius: 0.05 }];
    let places = [DVec3::new(0.03, 0.02, 0.3), DVec3::new(-0.2, 0.17, 0.33)];
    let chain = scene(&[(solids[0], places[0]), (solids[1], places[1])], &[PAD], true);
    let mut run = Run::new(&chain);
    for _ in 0..40 {
        run.step();
    }
    let mut again = Run::new(&chain);
    again.state.clone_from(&run.state);
    again.soft.clone_from(&run.soft);
    for _ in 0..40 {
        run.step();
        again.step();
        assert!(run.work.contacts().any(|(it, _)| matches!(it.a, Mover::Face(_))));
    }
    assert!(run.state == again.state && run.soft == again.soft);
    let between =
        |anchor: &&sinew_contact::ContactAnchor| anchor.key.feature != sinew_contact::ContactKey::VERTEX;
    assert!(run.soft.anchors.entries().iter().any(|anchor| between(&anchor)), "a face sticks");
}

#[test]
fn flesh_that_meets_flesh_keeps_both_momenta() {
    // Two pads in empty space, one turned and thrown at the other.
    let pads = [
        Pad { corner: DVec3::ZERO, size: DVec3::new(0.3, 0.3, 0.1), cells: [3, 3, 1], young: 1e5 },
        Pad {
            corner: DVec3::new(0.05, 0.12, 0.13),
            size: DVec3::new(0.2, 0.1, 0.1),
            cells: [3, 2, 2],
            young: 3e4,
        },
    ];
    let chain = scene(&[], &pads, false);
    let mut run = Run::new(&chain);
    run.settings.gravity = DVec3::ZERO;
    // Flesh that turns loses angular momentum in proportion to the step.
    run.settings.dt = 1e-3;
    for velocity in &mut run.soft.nodes[1].velocities {
        *velocity = DVec3::new(0.4, 0.1, -2.0);
    }
    let before = total_momentum(&chain, (&run.state, &run.soft));
    let mut met = 0;
    for _ in 0..200 {
        run.step();
        met = met.max(
            run.work.contacts().filter(|(contact, _)| matches!(contact.b, Opposite::Flesh { .. })).count(),
        );
    }
    assert!(met > 3, "{met}");
    let after = total_momentum(&chain, (&run.state, &run.soft));
    let size = before.linear.length();
    assert!((after.linear - before.linear).length() < 1e-5 * size, "{} {}", before.linear, after.linear);
    assert!((after.angular - before.angular).length() < 2e-3 * size, "{} {}", before.angular, after.angular);
    let speed = |flesh: usize| run.soft.nodes[flesh].velocities.iter().map(|v| v.z).sum::<f64>();
    assert!(speed(0) < 0.0 && run.soft.nodes[1].positions.iter().all(|x| x.z > -3.0));
    assert!(speed(1) / 36.0 > speed(0) / 32.0, "the second bounces off: {} {}", speed(0), speed(1));
}

#[test]
fn flesh_lies_on_flesh() {
    let pads = [
        Pad { corner: DVec3::ZERO, size: DVec3::new(0.4, 0.4, 0.2), cells: [3, 3, 2], young: 2e5 },
        Pad { corner: DVec3::new(0.07, 0.11, 0.21), size: DVec3::splat(0.2), cells: [3, 3, 3], young: 1e5 },
    ];
    let chain = scene(&[], &pads, true);
    let mut run = Run::new(&chain);
    for _ in 0..240 {
        run.step();
    }
    let upper: f64 = chain.flesh.bodies()[1].fem().masses().iter().sum();
    let between = run.work.contacts().filter(|(contact, _)| matches!(contact.b, Opposite::Flesh { .. }));
    let (mut carried, mut deepest) = (DVec3::ZERO, 0.0_f64);
    for (contact, force) in between {
        let is_upper = contact.key.b == u32::MAX;
        carried += if is_upper { force } else { -force };
        deepest = deepest.max(contact.depth);
    }
    let weight = upper * 9.81;
    assert!((carried.z - weight).abs() < 2e-2 * weight && deepest < 1e-3, "{carried} of {weight}, {deepest}");
}
