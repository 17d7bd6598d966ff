//! Contacts inside the implicit solve: bodies and flesh that hold, slide, rest and collide.

use glam::{DQuat, DVec3};
use sinew_contact::{Collider, ContactMaterial, ContactModel, ContactShape, Groups, Mover, Opposite, Owner};
use sinew_fem::Attachments;
use sinew_flesh::{FleshBody, FleshError, FleshModel, FleshOptions};
use sinew_math::{Force, MassProperties, Motion, Pose, Shape, exp_so3, ops};
use sinew_mechanism::{BodySpec, Implicit, MechanismBuilder, Order, Scheme, Settings, momentum};

use crate::statics::{farthest, flesh_of};
use crate::support::{Chain, Run, beam, corner_points};

const G: f64 = 9.81;

/// A box: where, how large (m), how heavy (kg).
#[derive(Clone, Copy)]
pub(crate) struct Block {
    pub(crate) pose: Pose,
    pub(crate) edges: DVec3,
    pub(crate) mass: f64,
}

/// Cubes of flesh: corner (m), edge (m), cells along an edge.
#[derive(Clone, Copy)]
pub(crate) struct Jelly {
    pub(crate) corner: DVec3,
    pub(crate) edge: f64,
    pub(crate) cells: u32,
    pub(crate) young: f64,
}

/// Boxes and flesh over a plane that is tilted about y, or in empty space.
pub(crate) fn scene(blocks: &[Block], jellies: &[Jelly], slope: Option<f64>, friction: f64) -> Chain {
    let mut builder = MechanismBuilder::new();
    let mut colliders = Vec::new();
    if let Some(degrees) = slope {
        let (sin, cos) = ops::sin_cos(degrees.to_radians());
        // Stiff enough for the heaviest.
        let heaviest = blocks.iter().map(|block| block.mass).fold(0.0, f64::max);
        let ground = ContactMaterial::for_mass(heaviest, friction);
        colliders.push(Collider::ground(DVec3::ZERO, DVec3::new(sin, 0.0, cos), ground).expect("ground"));
    }
    for (i, block) in blocks.iter().enumerate() {
        let density = block.mass / (block.edges.x * block.edges.y * block.edges.z);
        builder.add_body(BodySpec::dynamic("", block.pose, MassProperties::cuboid(block.edges, density)));
        let (owner, shape) = (Owner::Body(i as u32), ContactShape::Solid(Shape::Box { size: block.edges }));
        let material = ContactMaterial::for_mass(block.mass, friction);
        colliders.push(Collider::new(owner, Pose::IDENTITY, shape, material).expect("a box"));
    }
    let model = builder.build().expect("boxes");
    for (body, block) in model.bodies().zip(blocks) {
        assert_eq!(model.central_frame(body).translation, DVec3::ZERO, "boxes are given by their centres");
        let turned = block.edges - (model.central_frame(body).rotation * block.edges).abs();
        assert!(turned.length() < 1e-12, "the principal axes of a box are its own");
    }
    let mut bodies = Vec::new();
    for jelly in jellies {
        let mesh = beam(DVec3::splat(jelly.edge), [jelly.cells; 3]);
        let moved = mesh.positions().iter().map(|x| *x + jelly.corner).collect();
        let mesh = sinew_fem::TetMesh::new(moved, mesh.tets().to_vec()).expect("a cube");
        let fem = flesh_of(mesh, jelly.young, 0.4);
        let lightest = fem.masses().iter().copied().fold(f64::INFINITY, f64::min);
        let options = FleshOptions {
            stiffness_damping_s: 0.01,
            contact: Some((ContactMaterial::for_mass(10.0 * lightest, friction), Groups::ALL)),
            ..FleshOptions::default()
        };
        let (attachments, surface) = (Attachments::none(fem.n_nodes()), corner_points(&fem));
        bodies.push(FleshBody::new(fem, attachments, Vec::new(), surface, options).expect("flesh"));
    }
    let contact = ContactModel::new(colliders, blocks.len(), &[]).expect("contacts");
    let flesh = FleshModel::new(&model, bodies, Some(contact)).expect("a scene");
    Chain { model, flesh }
}

/// A box that lies on a slope.
pub(crate) fn on_slope(degrees: f64, edges: DVec3, mass: f64) -> Block {
    let rotation = exp_so3(DVec3::Y * degrees.to_radians());
    Block { pose: Pose::new(rotation, rotation * DVec3::Z * (0.5 * edges.z)), edges, mass }
}

fn tower(edges: f64, masses: &[f64]) -> Vec<Block> {
    let place = |i: usize| Pose::new(DQuat::IDENTITY, DVec3::Z * (edges * (i as f64 + 0.5)));
    let block = |(i, &mass): (usize, &f64)| Block { pose: place(i), edges: DVec3::splat(edges), mass };
    masses.iter().enumerate().map(block).collect()
}

fn go(run: &mut Run<'_>, n_steps: usize) {
    for _ in 0..n_steps {
        let (report, felt) = run.step();
        assert!(report.non_finite.is_none() && felt.elements.non_finite.is_none());
    }
}

/// Steps of first and of second order.
fn both_orders(chain: &Chain) -> [(Order, Run<'_>); 2] {
    [Order::First, Order::Second].map(|order| {
        let (mut run, mut implicit) = (Run::new(chain), Implicit::default());
        implicit.order = order;
        run.settings.scheme = Scheme::Implicit(implicit);
        (order, run)
    })
}

/// Largest speed of any body or node, m/s.
fn fastest(run: &Run<'_>) -> f64 {
    let bodies = run.state.motions.iter().map(|m| m.linear.length() + 0.1 * m.angular.length());
    let nodes = run.soft.nodes.iter().flat_map(|nodes| nodes.velocities.iter().map(|v| v.length()));
    bodies.chain(nodes).fold(0.0, f64::max)
}

/// Sum of the contact forces on points of flesh, N.
fn carried(run: &Run<'_>) -> DVec3 {
    let on_flesh = run.work.contacts().filter(|(contact, _)| matches!(contact.a, Mover::Vertex(_)));
    on_flesh.map(|(_, force)| force).sum()
}

#[test]
fn friction_holds_a_box_on_a_slope_of_20_degrees() {
    for mass in [1e-3, 2.0, 1e4] {
        let chain = scene(&[on_slope(20.0, DVec3::new(0.3, 0.2, 0.1), mass)], &[], Some(20.0), 0.5);
        for (order, mut run) in both_orders(&chain) {
            let start = run.state.poses[0].translation;
            go(&mut run, 120);
            let before = run.state.poses[0].translation;
            go(&mut run, 300);
            let end = run.state.poses[0].translation;
            let (creep, slipped) = (end.distance(before) / 5.0, end.distance(start));
            println!("{mass} kg at 20 degrees, {order:?}: creeps {creep:.1e} m/s, {slipped:.1e} m in all");
            assert!(creep < 1e-9 && slipped < 1e-3, "{mass} kg: {creep:e} m/s, {slipped:e} m");
        }
    }
}

#[test]
fn a_box_slides_down_a_slope_of_40_degrees() {
    let (sin, cos) = ops::sin_cos(40_f64.to_radians());
    for mass in [1e-3, 2.0, 1e4] {
        let chain = scene(&[on_slope(40.0, DVec3::new(0.3, 0.2, 0.1), mass)], &[], Some(40.0), 0.5);
        for (order, mut run) in both_orders(&chain) {
            go(&mut run, 30);
            let before = run.state.motions[0].linear;
            go(&mut run, 60);
            let found = (run.state.motions[0].linear - before).dot(DVec3::new(cos, 0.0, -sin));
            let expected = G * (sin - 0.5 * cos);
            println!("{mass} kg at 40 degrees, {order:?}: {found:.5} m/s², Coulomb {expected:.5}");
            assert!((found / expected - 1.0).abs() < 0.01, "{mass} kg: {found} for {expected}");
        }
    }
}

#[test]
fn stacks_rest() {
    let stacks: [(&str, &[f64]); 4] = [
        ("five boxes", &[1.0; 5]),
        ("light over heavy", &[1000.0, 1.0]),
        ("heavy over light", &[1.0, 1000.0]),
        ("heavy between light", &[1.0, 1000.0, 1.0]),
    ];
    for (what, masses) in stacks {
        let chain = scene(&tower(0.2, masses), &[], Some(0.0), 0.5);
        for (order, mut run) in both_orders(&chain) {
            let start = run.state.poses.clone();
            go(&mut run, 300);
            let moved = run.state.poses.iter().zip(&start);
            let moved = moved.map(|(a, b)| a.translation.distance(b.translation)).fold(0.0, f64::max);
            let speed = fastest(&run);
            println!("{what}, {order:?}: moved {moved:.1e} m, {speed:.1e} m/s after 5 s");
            assert!(moved < 5e-4 && speed < 1e-6, "{what}: moved {moved:e}, {speed:e} m/s");
            let weight: f64 = masses.iter().sum::<f64>() * G;
            let world = run.work.contacts().filter(|(contact, _)| contact.b == Opposite::World);
            let held: DVec3 = world.map(|(_, force)| force).sum();
            assert!((held - DVec3::Z * weight).length() < 1e-6 * weight, "{what}: {held} for {weight}");
        }
    }
}

#[test]
fn a_dropped_cube_of_flesh_rests_on_its_weight() {
    let jelly = Jelly { corner: DVec3::Z * 0.05, edge: 0.2, cells: 3, young: 5e4 };
    let chain = scene(&[], &[jelly], Some(0.0), 0.5);
    for (order, mut run) in both_orders(&chain) {
        go(&mut run, 360);
        let weight: f64 = chain.flesh.bodies()[0].fem().masses().iter().sum::<f64>() * G;
        let (held, speed) = (carried(&run), fastest(&run));
        let missing = (held.z / weight - 1.0).abs();
        println!("flesh at rest, {order:?}: {missing:.1e} of its weight missing, {speed:.1e} m/s");
        assert!(speed < 1e-4, "{speed:e} m/s");
        assert!((held - DVec3::Z * weight).length() < 1e-4 * weight, "{held} for {weight}");
        let lowest = run.soft.nodes[0].positions.iter().map(|x| x.z).fold(f64::INFINITY, f64::min);
        assert!(lowest > -1e-3, "{lowest}");
    }
}

#[test]
fn flesh_holds_on_a_slope_of_20_degrees_and_slides_on_one_of_40() {
    let jelly = Jelly { corner: DVec3::Z * 0.1, edge: 0.2, cells: 2, young: 1e5 };
    let chain = scene(&[], &[jelly], Some(20.0), 0.5);
    let mut run = Run::new(&chain);
    go(&mut run, 360);
    let before = run.soft.nodes[0].positions.clone();
    go(&mut run, 180);
    let creep = farthest(&before, &run.soft.nodes[0].positions) / 3.0;
    println!("flesh at 20 degrees: creeps {creep:.1e} m/s");
    assert!(creep < 1e-9, "{creep:e} m/s");

    // Gravity is tilted, and not the ground: one that falls on its edge tumbles.
    let (sin, cos) = ops::sin_cos(40_f64.to_radians());
    let jelly = Jelly { corner: DVec3::ZERO, ..jelly };
    let chain = scene(&[], &[jelly], Some(0.0), 0.5);
    let mut run = Run::new(&chain);
    run.settings.gravity = DVec3::new(sin, 0.0, -cos) * G;
    let mass: f64 = chain.flesh.bodies()[0].fem().masses().iter().sum();
    let speed = |run: &Run<'_>| chain.flesh.momentum(&run.soft).linear.x / mass;
    go(&mut run, 120);
    let before = speed(&run);
    go(&mut run, 60);
    let (found, expected) = (speed(&run) - before, G * (sin - 0.5 * cos));
    println!("flesh at 40 degrees: {found:.5} m/s², Coulomb {expected:.5}");
    assert!((found / expected - 1.0).abs() < 0.03, "{found} for {expected}");
}

#[test]
fn flesh_rests_on_a_box_that_rests_on_the_ground() {
    let block = tower(0.3, &[2.0])[0];
    let jelly = Jelly { corner: DVec3::new(-0.1, -0.1, 0.305), edge: 0.2, cells: 2, young: 1e5 };
    let chain = scene(&[block], &[jelly], Some(0.0), 0.5);
    let mut run = Run::new(&chain);
    go(&mut run, 360);
    let weight = chain.flesh.bodies()[0].fem().masses().iter().sum::<f64>() * G;
    let (held, speed) = (carried(&run), fastest(&run));
    let world = run.work.contacts().filter(|(contact, _)| contact.b == Opposite::World);
    let ground: DVec3 = world.map(|(_, force)| force).sum();
    let all = weight + 2.0 * G;
    println!("flesh on a box: {held:.4} N for {weight:.4}, ground {ground:.4} for {all:.4}, {speed:.1e} m/s");
    assert!(speed < 1e-4, "{speed:e} m/s");
    assert!((held - DVec3::Z * weight).length() < 1e-3 * weight, "{held} for {weight}");
    assert!((ground - DVec3::Z * all).length() < 1e-3 * all, "{ground} for {all}");
}

/// Momentum of bodies and flesh: angular about the origin, linear.
pub(crate) fn total_momentum(
    chain: &Chain,
    run: (&sinew_mechanism::State, &sinew_flesh::FleshState),
) -> Force {
    momentum(&chain.model, run.0) + chain.flesh.momentum(run.1)
}

#[test]
fn collisions_keep_momentum() {
    let block = |x: f64, mass: f64| Block {
        pose: Pose::new(exp_so3(DVec3::new(0.3, 0.2, 0.1) * x), DVec3::new(x, 0.02, 0.01)),
        edges: DVec3::new(0.2, 0.3, 0.25),
        mass,
    };
    let jelly = Jelly { corner: DVec3::new(0.3, -0.1, -0.1), edge: 0.2, cells: 2, young: 1e5 };
    let scenes = [
        ("two boxes", scene(&[block(0.0, 1.0), block(0.5, 3.0)], &[], None, 0.3)),
        ("box and flesh", scene(&[block(0.0, 1.0)], &[jelly], None, 0.3)),
    ];
    for (what, chain) in &scenes {
        let mut run = Run::new(chain);
        run.settings.gravity = DVec3::ZERO;
        run.settings.dt = 1.0 / 240.0;
        run.state.motions[0] = Motion::new(DVec3::new(0.1, 0.2, 0.3), DVec3::X);
        let before = total_momentum(chain, (&run.state, &run.soft));
        let mut n_contacts = 0;
        for _ in 0..240 {
            go(&mut run, 1);
            n_contacts += run.work.contacts().count();
        }
        let after = total_momentum(chain, (&run.state, &run.soft));
        let (linear, angular) =
            ((after.linear - before.linear).length(), (after.angular - before.angular).length());
        let (size, spin) = (before.linear.length(), before.angular.length());
        println!("{what}: momentum off by {:.1e}, angular by {:.1e}", linear / size, angular / spin);
        assert!(n_contacts > 0, "{what} missed each other");
        assert!(run.state.motions[0].linear.x < 0.9, "{what}");
        assert!(linear < 1e-9 * size, "{what}: {linear:e} of {size}");
        assert!(angular < 0.05 * spin, "{what}: {angular:e} of {spin}");
    }
}

/// Boxes and flesh that fall onto each other.
fn heap() -> Chain {
    let mut blocks = tower(0.2, &[1.0, 2.0]);
    for block in &mut blocks {
        block.pose.translation += DVec3::new(0.03, 0.01, 0.02);
    }
    let jelly = Jelly { corner: DVec3::new(-0.1, -0.1, 0.5), edge: 0.2, cells: 2, young: 1e5 };
    scene(&blocks, &[jelly], Some(5.0), 0.5)
}

/// A run with the usual precision.
fn usual(chain: &Chain) -> Run<'_> {
    let mut run = Run::new(chain);
    run.settings.together = Settings::default().together;
    run
}

#[test]
fn a_restored_state_continues_with_the_same_bits() {
    let chain = heap();
    let mut run = usual(&chain);
    go(&mut run, 40);
    let mut again = usual(&chain);
    again.state.clone_from(&run.state);
    again.soft.clone_from(&run.soft);
    go(&mut run, 60);
    go(&mut again, 60);
    assert!(run.state == again.state && run.soft == again.soft);
    assert!(run.soft.anchors.entries().len() > 4, "something sticks");
}

#[test]
fn steps_with_contacts_allocate_nothing_once_warm() {
    let chain = heap();
    let mut run = usual(&chain);
    go(&mut run, 400);
    let counted = allocation_counter::measure(|| go(&mut run, 20));
    assert_eq!(counted.count_total, 0);
}

#[test]
fn a_body_that_forces_move_needs_a_stiffness_to_touch_with() {
    let mut builder = MechanismBuilder::new();
    let mass = MassProperties::cuboid(DVec3::ONE, 1.0);
    builder.add_body(BodySpec::dynamic("moved", Pose::IDENTITY, mass));
    builder.add_body(BodySpec::fixed("still", Pose::IDENTITY));
    let model = builder.build().expect("two boxes");
    let touching = |body| {
        let (owner, shape) = (Owner::Body(body), ContactShape::Solid(Shape::Box { size: DVec3::ONE }));
        let collider = Collider::new(owner, Pose::IDENTITY, shape, ContactMaterial::passive(0.5));
        let contact = ContactModel::new(vec![collider.expect("a box")], 2, &[]).expect("contacts");
        FleshModel::new(&model, Vec::new(), Some(contact))
    };
    assert!(matches!(touching(0), Err(FleshError::NoStiffness { body: 0 })));
    assert!(touching(1).is_ok());
}
