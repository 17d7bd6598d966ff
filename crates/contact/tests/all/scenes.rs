//! Whole scenes with the queries and the memory of contacts: stacks, mixed masses, rolling, fast boxes, rough ground.

use crate::rigid::{Brick, Bricks};
use glam::{DMat3, DQuat, DVec2, DVec3};
use sinew_contact::{
    Anchors, Approach, Collider, ContactMaterial, ContactModel, ContactPoint, ContactShape, ContactSolve,
    ContactSummary, ContactWorkspace, ConvexHull, Grip, Groups, HeightField, Mover, Owner, PointCloud,
};
use sinew_math::{Motion, Pose, Shape, exp_so3, ops};
use sinew_testkit::{Rng, soak_scale};

const H: f64 = 1.0 / 60.0;
const G: f64 = 9.81;

/// Bodies with one collider each, and the world.
struct Scene {
    model: ContactModel,
    work: ContactWorkspace,
    bricks: Bricks,
    contacts: Vec<ContactPoint>,
    margin: f64,
}

impl Scene {
    fn new(ground: Vec<Collider>, bodies: Vec<(Brick, ContactShape, f64)>, gravity: DVec3) -> Self {
        let mut colliders = ground;
        let mut bricks = Vec::new();
        for (i, (brick, shape, friction)) in bodies.into_iter().enumerate() {
            let material = ContactMaterial::for_mass(brick.mass, friction);
            colliders.push(Collider::new(Owner::Body(i as u32), Pose::IDENTITY, shape, material).unwrap());
            bricks.push(brick);
        }
        let model = ContactModel::new(colliders, bricks.len(), &[]).unwrap();
        Self {
            model,
            work: ContactWorkspace::new(),
            bricks: Bricks::new(bricks, gravity),
            contacts: Vec::new(),
            margin: 0.02,
        }
    }

    fn step(&mut self) -> ContactSummary {
        let poses: Vec<Pose> = self.bricks.bricks.iter().map(|b| b.pose).collect();
        self.model.rigid_contacts(&poses, self.margin, &mut self.work, &mut self.contacts);
        self.bricks.step(&self.contacts, H)
    }

    fn run(&mut self, n: usize) {
        (0..n).for_each(|_| {
            self.step();
        });
    }

    fn body(&self, i: usize) -> &Brick {
        &self.bricks.bricks[i]
    }

    fn energy(&self) -> f64 {
        self.bricks.bricks.iter().map(|b| b.energy(self.bricks.gravity)).sum()
    }
}

fn floor(friction: f64) -> Vec<Collider> {
    vec![Collider::ground(DVec3::ZERO, DVec3::Z, ContactMaterial::passive(friction)).unwrap()]
}

fn boxed(edges: DVec3, mass: f64, at: DVec3) -> (Brick, ContactShape, f64) {
    (
        Brick::new(Pose::from_translation(at), mass, edges),
        ContactShape::Solid(Shape::Box { size: edges }),
        0.5,
    )
}

#[test]
fn two_boxes_rest_on_each_other_whatever_their_masses() {
    for (below, above) in [(1.0, 1.0), (1.0, 100.0), (100.0, 1.0), (1e4, 1e4)] {
        for passes in [1, 3] {
            let edges = DVec3::new(0.5, 0.4, 0.3);
            let bodies = vec![
                boxed(edges, below, DVec3::Z * 0.15),
                boxed(edges * 0.8, above, DVec3::new(0.03, 0.02, 0.3 + 0.12 + 0.01)),
            ];
            let mut scene = Scene::new(floor(0.5), bodies, DVec3::Z * -G);
            scene.bricks.passes = passes;
            scene.run(120);
            let energy = scene.energy();
            let places = [scene.body(0).pose, scene.body(1).pose];
            scene.run(240);
            for (i, before) in places.iter().enumerate() {
                let body = scene.body(i);
                let moved = (body.pose.translation - before.translation).length();
                assert!(moved < 1e-6 && body.motion.linear.length() < 1e-6, "{moved}");
                // four corners each: the ground yields as the lower box says, the joint between as the heavier one says
                let ground = 2.5e-5 * (below + above) / below;
                let sink = [ground, ground + 2.5e-5 * above / below.max(above)][i];
                let found = [0.15, 0.42][i] - body.pose.translation.z;
                assert!(
                    (found / sink - 1.0).abs() < 0.1,
                    "{below} {above}: body {i} sinks by {found} of {sink}"
                );
            }
            assert!(scene.energy() <= energy + 1e-5 * (below + above));
        }
    }
}

#[test]
fn a_stack_on_a_slope_of_20_degrees_holds() {
    let (sin, cos) = ops::sin_cos(20f64.to_radians());
    let edges = DVec3::new(0.6, 0.6, 0.3);
    let bodies = vec![boxed(edges, 3.0, DVec3::Z * 0.15), boxed(edges * 0.7, 1.0, DVec3::Z * (0.3 + 0.105))];
    let mut scene = Scene::new(floor(0.5), bodies, G * DVec3::new(sin, 0.0, -cos));
    scene.run(120);
    let places = [scene.body(0).pose.translation, scene.body(1).pose.translation];
    scene.run(300);
    for i in 0..2 {
        let creep = (scene.body(i).pose.translation - places[i]).length() / 5.0;
        assert!(creep < 1e-7, "{creep}");
    }
}

#[test]
fn a_ball_rolls_down_a_slope_at_five_sevenths() {
    let (sin, cos) = ops::sin_cos(20f64.to_radians());
    let radius = 0.2;
    // a box with the inertia of a ball: edges² / 6 = 2/5 r²
    let edge = radius * (12.0f64 / 5.0).sqrt();
    let brick = Brick::new(Pose::from_translation(DVec3::Z * radius), 1.0, DVec3::splat(edge));
    for passes in [1, 2] {
        let body = (brick.clone(), ContactShape::Solid(Shape::Sphere { radius }), 0.5);
        let mut scene = Scene::new(floor(0.5), vec![body], G * DVec3::new(sin, 0.0, -cos));
        scene.bricks.passes = passes;
        scene.run(60);
        let exact = 5.0 / 7.0 * G * sin;
        let v = scene.body(0).motion.linear.x;
        assert!((v / exact - 1.0).abs() < 0.01);
        assert!((scene.body(0).motion.angular.y * radius / v - 1.0).abs() < 0.01);
    }
}

#[test]
fn everything_that_falls_comes_to_rest_on_rough_ground() {
    let field = HeightField::from_fn([21, 21], DVec2::splat(8.0), |x, y| 0.02 * (x * x + y * y)).unwrap();
    let ground = Collider::new(
        Owner::World,
        Pose::IDENTITY,
        ContactShape::Field(field),
        ContactMaterial::passive(0.7),
    )
    .unwrap();
    let corners: Vec<DVec3> = crate::distances::box_corners(DVec3::new(0.4, 0.3, 0.2));
    let shapes = [
        (ContactShape::Solid(Shape::Box { size: DVec3::new(0.4, 0.3, 0.2) }), 0.3),
        (ContactShape::Convex(ConvexHull::new(&corners).unwrap()), 0.3),
        (ContactShape::Solid(Shape::Cylinder { radius: 0.15, length: 0.1 }), 0.15),
    ];
    for on_plane in [true, false] {
        for (k, (shape, height)) in shapes.iter().enumerate() {
            // the cylinder falls on its end, or it would roll on for ever
            let end = if k == 2 { exp_so3(DVec3::Y * std::f64::consts::FRAC_PI_2) } else { DQuat::IDENTITY };
            let pose =
                Pose::new(exp_so3(DVec3::new(0.3, 0.2, 0.5)) * end, DVec3::new(0.3, -0.2, height + 0.5));
            let brick = Brick::new(pose, 2.0, DVec3::new(0.4, 0.3, 0.2));
            let ground = if on_plane { floor(0.7) } else { vec![ground.clone()] };
            let mut scene = Scene::new(ground, vec![(brick, shape.clone(), 0.7)], DVec3::Z * -G);
            scene.margin = 0.1;
            let start = scene.energy();
            let mut energy = start;
            for i in 0..600 {
                scene.run(1);
                let after = scene.energy();
                assert!(after < energy + 0.02 * start, "{shape:?}, step {i}: {energy} {after}");
                energy = after;
            }
            let body = scene.body(0);
            assert!(
                body.motion.linear.length() < 1e-3 && body.motion.angular.length() < 1e-2,
                "{on_plane} {k}"
            );
            assert!(body.pose.translation.z > 0.04);
        }
    }
}

#[test]
fn fast_boxes_do_not_pass_through_a_wall() {
    // 30 m/s into a wall 0.1 m thick, at 1/60 s: half a metre per step
    let wall = Collider::new(
        Owner::World,
        Pose::IDENTITY,
        ContactShape::Solid(Shape::Box { size: DVec3::new(0.1, 4.0, 4.0) }),
        ContactMaterial::passive(0.5),
    )
    .unwrap();
    for speed in [1.0, 5.0, 10.0, 30.0] {
        for start in [-2.0, -2.13, -2.3] {
            let (mut brick, shape, friction) = boxed(DVec3::splat(0.3), 1.0, DVec3::X * start);
            brick.motion = Motion::new(DVec3::new(0.1, 0.2, 0.3), DVec3::X * speed);
            let mut scene = Scene::new(vec![wall.clone()], vec![(brick, shape, friction)], DVec3::ZERO);
            scene.margin = 2.0 * speed * H + 0.02;
            for _ in 0..240 {
                scene.run(1);
                assert!(
                    scene.body(0).pose.translation.x < -0.15,
                    "{speed} {start}: {}",
                    scene.body(0).pose.translation
                );
            }
        }
    }
}

#[test]
fn a_box_on_a_moving_plate_goes_with_it() {
    // a heavy plate slides without friction at 1 m/s; the box on it takes its speed
    let plate = boxed(DVec3::new(4.0, 2.0, 0.1), 1e4, DVec3::Z * 0.05);
    let (brick, shape, _) = boxed(DVec3::splat(0.3), 1.0, DVec3::Z * 0.25);
    let ground = floor(0.0);
    let mut scene = Scene::new(ground, vec![plate, (brick, shape, 0.5)], DVec3::Z * -G);
    scene.run(30);
    scene.bricks.bricks[0].motion.linear.x = 1.0;
    scene.run(120);
    let (plate, rider) = (scene.body(0).motion.linear.x, scene.body(1).motion.linear.x);
    assert!((plate - 1e4 / (1e4 + 1.0)).abs() < 1e-4 && (plate - rider).abs() < 1e-6);
}

#[test]
fn few_steps_need_a_second_solve_and_none_pulls_in_the_end() {
    let end = exp_so3(DVec3::Y * std::f64::consts::FRAC_PI_2);
    let pose = Pose::new(exp_so3(DVec3::new(0.3, 0.2, 0.5)) * end, DVec3::new(0.3, -0.2, 0.65));
    for (passes, margin) in [(1, 0.0), (2, 0.0), (3, 0.0), (4, 0.0), (2, 0.1), (3, 0.1), (4, 0.1)] {
        let brick = Brick::new(pose, 2.0, DVec3::new(0.4, 0.3, 0.2));
        let shape = ContactShape::Solid(Shape::Cylinder { radius: 0.15, length: 0.1 });
        let mut scene = Scene::new(floor(0.7), vec![(brick, shape, 0.7)], DVec3::Z * -G);
        (scene.margin, scene.bricks.passes) = (margin, passes);
        let (mut energy, mut again) = (scene.energy(), 0);
        for i in 0..600 {
            let summary = scene.step();
            again += usize::from(scene.bricks.used > 1);
            assert!(passes < 4 || summary.n_pulling == 0, "{passes} {margin}, step {i}: {summary:?}");
            let after = scene.energy();
            assert!(after < energy + 0.01, "{passes} {margin}, step {i}: {energy} {after}");
            energy = after;
        }
        assert!(again < 80, "{passes} {margin}: {again}");
        assert!(scene.body(0).motion.linear.length() < 1e-12, "{passes} {margin}");
    }
}

#[test]
fn a_run_restored_from_poses_motions_and_anchors_goes_on_with_the_same_bits() {
    let make = || {
        let bodies = (0..4)
            .map(|i| {
                boxed(
                    DVec3::new(0.4, 0.3, 0.2),
                    1.0 + f64::from(i),
                    DVec3::new(0.03 * f64::from(i), 0.0, 0.2 + 0.25 * f64::from(i)),
                )
            })
            .collect();
        Scene::new(floor(0.5), bodies, DVec3::new(1.0, 0.5, -G))
    };
    let mut one = make();
    one.run(40);
    let mut two = make();
    two.bricks.bricks = one.bricks.bricks.clone();
    two.bricks.anchors = Anchors::from(one.bricks.anchors.entries().to_vec());
    one.run(40);
    two.run(40);
    for i in 0..4 {
        assert_eq!(one.body(i).pose, two.body(i).pose);
        assert_eq!(one.body(i).motion, two.body(i).motion);
    }
    assert_eq!(one.bricks.anchors, two.bricks.anchors);
}

#[test]
fn heaps_of_everything_never_gain_energy_soak() {
    for seed in 0..6 * soak_scale() as u64 {
        let mut rng = Rng::new(seed);
        let hull: Vec<DVec3> = (0..20).map(|_| rng.unit_vec() * 0.2).collect();
        let mut bodies = Vec::new();
        for i in 0..5 {
            let (shape, edges) = match rng.below(5) {
                0 => (
                    ContactShape::Solid(Shape::Box { size: DVec3::new(0.4, 0.3, 0.2) }),
                    DVec3::new(0.4, 0.3, 0.2),
                ),
                1 => (ContactShape::Solid(Shape::Sphere { radius: 0.2 }), DVec3::splat(0.3)),
                2 => (
                    ContactShape::Solid(Shape::Capsule { radius: 0.1, length: 0.3 }),
                    DVec3::new(0.45, 0.17, 0.17),
                ),
                3 => (
                    ContactShape::Solid(Shape::Cylinder { radius: 0.15, length: 0.2 }),
                    DVec3::new(0.2, 0.26, 0.26),
                ),
                _ => (ContactShape::Convex(ConvexHull::new(&hull).unwrap()), DVec3::splat(0.3)),
            };
            let place =
                rng.vec3(-0.2, 0.2) * DVec3::new(1.0, 1.0, 0.0) + DVec3::Z * (0.4 + 0.5 * f64::from(i));
            bodies.push((
                Brick::new(Pose::new(rng.rotation(), place), rng.uniform(0.5, 3.0), edges),
                shape,
                0.6,
            ));
        }
        for (passes, margin) in [(1, 0.0), (2, 0.0), (2, 0.1), (4, 0.1)] {
            let mut scene = Scene::new(floor(0.6), bodies.clone(), DVec3::Z * -G);
            (scene.margin, scene.bricks.passes) = (margin, passes);
            let mut energy = scene.energy();
            for i in 0..300 {
                scene.step();
                let after = scene.energy();
                assert!(after < energy + 0.1, "{seed} {passes} {margin}, step {i}: {energy} to {after}");
                energy = after;
            }
            assert!(
                scene.bricks.bricks.iter().all(|b| b.pose.translation.z > 0.05),
                "{seed} {passes} {margin}"
            );
        }
    }
}

#[test]
fn particles_hold_on_a_slope_and_stop_a_ball_with_one_solve_each() {
    // free particles, as the nodes of flesh: the first guess is the solution
    let (sin, cos) = ops::sin_cos(20f64.to_radians());
    let gravity = G * DVec3::new(sin, 0.0, -cos);
    let mass = 0.01;
    let material = ContactMaterial::for_mass(mass, 0.5);
    let ball = ContactShape::Solid(Shape::Sphere { radius: 0.3 });
    let ball = Collider::new(Owner::Body(0), Pose::IDENTITY, ball, material).unwrap();
    let model = ContactModel::new([floor(0.5), vec![ball]].concat(), 1, &[]).unwrap();
    let poses = [Pose::from_translation(DVec3::new(5.0, 0.0, 0.3))];
    let mut points: Vec<DVec3> = (0..100).map(|i| DVec3::new(0.01 * f64::from(i), 0.0, 0.001)).collect();
    let mut velocities = vec![DVec3::ZERO; points.len()];
    // one of them rolls into the ball, which stands still
    (points[0], velocities[0]) = (DVec3::new(4.0, 0.0, 0.3), DVec3::X * 10.0);
    let (mut work, mut contacts) = (ContactWorkspace::new(), Vec::new());
    let (mut anchors, mut solve) = (Anchors::new(), ContactSolve::new());
    let mut before = points.clone();
    for i in 0..600 {
        if i == 300 {
            before.clone_from(&points);
        }
        contacts.clear();
        model.point_contacts(&cloud_of(&points, material), &poses, 0.2, &mut work, &mut contacts);
        let now = |c: &ContactPoint| velocities[vertex(c)];
        solve.begin(&contacts, &anchors, H, |c| Approach {
            now: now(c),
            free: now(c) + gravity * H,
            mass,
            slide: DVec3::ZERO,
            rebound: 0.0,
        });
        let mut ends: Vec<DVec3> = velocities.iter().map(|v| *v + gravity * H).collect();
        for (contact, step) in contacts.iter().zip(solve.steps()).filter(|(_, step)| step.grip != Grip::Open)
        {
            let end = &mut ends[vertex(contact)];
            *end = (step.matrix().to_mat3() + DMat3::IDENTITY * mass).inverse()
                * (*end * mass + step.constant_impulse());
        }
        solve.finish(&contacts, &mut anchors, |c| ends[vertex(c)]);
        velocities = ends;
        points.iter_mut().zip(&velocities).for_each(|(point, v)| *point += *v * H);
        assert!(points[0].distance(poses[0].translation) > 0.29, "{}", points[0]);
    }
    let creep = points.iter().zip(&before).skip(1).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max);
    assert!(creep < 1e-9, "{creep}");
}

fn vertex(contact: &ContactPoint) -> usize {
    let Mover::Vertex(vertex) = contact.a else { unreachable!("only points here") };
    vertex as usize
}

fn cloud_of(points: &[DVec3], material: ContactMaterial) -> PointCloud<'_> {
    PointCloud { points, first: 0, material, groups: Groups::ALL, ignored: &[] }
}

#[test]
fn a_step_of_contacts_allocates_nothing_once_warm() {
    let bodies =
        (0..8).map(|i| boxed(DVec3::ONE, 1.0, DVec3::new(1.5 * f64::from(i), 0.0, 0.49999))).collect();
    let mut scene = Scene::new(floor(0.5), bodies, DVec3::Z * -G);
    scene.run(3);
    let (mut solve, mut anchors) = (ContactSolve::new(), scene.bricks.anchors.clone());
    let approach = Approach {
        now: DVec3::ZERO,
        free: DVec3::new(0.1, 0.0, -0.1),
        mass: 1.0,
        slide: DVec3::ZERO,
        rebound: 0.0,
    };
    let ends = vec![DVec3::X; scene.contacts.len()];
    let mut run = || {
        solve.begin(&scene.contacts, &anchors, H, |_| approach);
        solve.review(false, &ends);
        solve.finish(&scene.contacts, &mut anchors, |_| DVec3::X);
    };
    run();
    assert_eq!(allocation_counter::measure(run).count_total, 0);
}
