//! Small scenes with one extreme each, by family and magnitude.

use std::f64::consts::PI;

use glam::DVec3;
use sinew_math::JointKind;
use sinew_sim::{
    BodyDoc, ColliderDoc, ContactDoc, EndDoc, FrameDoc, InertiaDoc, JointDoc, JointFramesDoc, MassDoc,
    MassPropertiesDoc, RopeDoc, SceneDoc, Shape, SpringDoc, StepperDoc,
};

/// All steppers, by name.
pub(crate) const STEPPERS: [(&str, &str); 9] = [
    ("implicit", "Implicit()"),
    ("second", "Implicit(order: 2)"),
    ("block", "Implicit(solver: Block)"),
    ("rk4", "Explicit()"),
    ("euler", "Explicit(method: Euler)"),
    ("displacement", "Displacement()"),
    ("reduced", "Reduced()"),
    ("reduced_rk4", "Reduced(method: Rk4)"),
    ("reduced_implicit", "Reduced(method: Implicit)"),
];

/// Families, each with the magnitudes that it is made with.
pub(crate) const FAMILIES: [(&str, &[f64]); 40] = [
    ("mass_tip", &[1e-9, 1e-6, 1e-3, 1.0, 1e3, 1e6, 1e9]),
    ("mass_alt", &[1e-9, 1e-3, 1.0, 1e3, 1e9]),
    ("mass_bar", &[1e-9, 1e-3, 1.0, 1e3, 1e6, 1e9]),
    ("mass_pile", &[1e-9, 1e-6, 1e-3, 1e3, 1e6, 1e9]),
    ("mass_rope", &[1e-9, 1e-3, 1.0, 1e3, 1e9]),
    ("mass_gear", &[1e-9, 1e-3, 1.0, 1e3, 1e9]),
    ("mass_all", &[1e-300, 5e-324, 1e-30, 1e30, 1e150, 1e300]),
    ("mass_box", &[1e-300, 5e-324, 1e-30, 1e30, 1e150, 1e300]),
    ("size_chain", &[1e-6, 1e-4, 1e-2, 1e2, 1e4, 1e6]),
    ("size_bar", &[1e-6, 1e-4, 1e-2, 1e2, 1e4, 1e6]),
    ("size_stack", &[1e-6, 1e-4, 1e-2, 1e2, 1e4, 1e6]),
    ("size_flesh", &[1e-6, 1e-3, 1e3, 1e6]),
    ("dt_chain", &[1e-9, 1e-6, 1e-3, 0.1, 1.0, 10.0]),
    ("dt_bar", &[1e-9, 1e-6, 1e-3, 0.1, 1.0, 10.0]),
    ("dt_stack", &[1e-9, 1e-6, 1e-3, 0.1, 1.0, 10.0]),
    ("dt_flesh", &[1e-9, 1e-3, 0.1, 10.0]),
    ("gravity_chain", &[1e3, 1e6]),
    ("gravity_bar", &[1e3, 1e6]),
    ("gravity_stack", &[1e3, 1e6]),
    ("gravity_flesh", &[1e3, 1e6]),
    ("stiff_joint", &[1e9, 1e12]),
    ("stiff_spring", &[1e9, 1e12]),
    ("stiff_contact", &[1e9, 1e12]),
    ("stiff_flesh", &[1e9, 1e12]),
    ("zero_spring", &[1e-9, 1e3, 1e12]),
    ("spin_free", &[1e2, 1e4, 1e6]),
    ("spin_hinge", &[1e2, 1e4, 1e6]),
    ("spin_ball", &[1e2, 1e4, 1e6]),
    ("spin_off", &[1e2, 1e4, 1e6]),
    ("spin_pair", &[1e2, 1e4, 1e6]),
    ("far_chain", &[1e4, 1e6, 1e8]),
    ("far_bar", &[1e4, 1e6, 1e8]),
    ("far_stack", &[1e4, 1e6, 1e8]),
    ("needle", &[1e-3, 1e-6, 1e-9, 1e-12]),
    ("needle_floor", &[1e-3, 1e-6, 1e-9, 1e-12]),
    ("tiny_inertia", &[1e-3, 1e-6, 1e-9, 1e-12]),
    ("blow", &[1.0, 100.0, 1e6]),
    ("bounce", &[0.0, 0.5, 1.0]),
    ("sticky", &[0.0, 1.0, 1e9]),
    ("odd", &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0]),
];

/// A stepper by its text.
pub(crate) fn stepper(text: &str) -> StepperDoc {
    written(&format!("stepper: {text}")).stepper
}

/// A scene as text; format and brackets are added.
pub(crate) fn written(fields: &str) -> SceneDoc {
    let text = format!("(format: 1, name: \"adversary\", {fields})");
    SceneDoc::from_ron(&text, "adversary.ron").unwrap_or_else(|errors| panic!("{errors}"))
}

/// The scene of a family with a magnitude, and the height above which bodies stay.
pub(crate) fn scene_of(family: &str, x: f64) -> (SceneDoc, Option<f64>) {
    let hangs = |scene: SceneDoc| (scene, None);
    match family {
        "mass_tip" => hangs(chain(8, 0.5, |k| if k == 7 { x } else { 1.0 }, &KINDS)),
        "mass_alt" => hangs(chain(8, 0.5, |k| if k % 2 == 0 { x } else { 1.0 }, &KINDS)),
        "mass_bar" => hangs(four_bar(1.0, [1.0, x, 1.0])),
        "mass_pile" => (stack(1.0, &[1.0, x, 1.0]), Some(0.4)),
        "mass_rope" => hangs(pulley([1.0, x])),
        "mass_gear" => hangs(geared([1.0, x])),
        "mass_all" => hangs(chain(2, 0.5, |_| x, &KINDS)),
        "mass_box" => (stack(1.0, &[x]), Some(0.4)),
        "size_chain" => hangs(chain(4, x, |_| 1e3 * x.powi(3), &KINDS)),
        "size_bar" => hangs(four_bar(x, [1e3 * x.powi(3); 3])),
        "size_stack" => (stack(x, &[1e3 * x.powi(3); 2]), Some(0.4 * x)),
        "size_flesh" => hangs(flesh(x, 1e5 * x)),
        "dt_chain" => hangs(SceneDoc { dt: x, ..chain(4, 0.5, |_| 1.0, &KINDS) }),
        "dt_bar" => hangs(SceneDoc { dt: x, ..four_bar(1.0, [1.0; 3]) }),
        "dt_stack" => (SceneDoc { dt: x, ..stack(1.0, &[1e3; 2]) }, Some(0.4)),
        "dt_flesh" => hangs(SceneDoc { dt: x, ..flesh(1.0, 1e5) }),
        "gravity_chain" => hangs(SceneDoc { gravity: DVec3::Z * -x, ..chain(4, 0.5, |_| 1.0, &KINDS) }),
        "gravity_bar" => hangs(SceneDoc { gravity: DVec3::new(x, 0.0, -x), ..four_bar(1.0, [1.0; 3]) }),
        "gravity_stack" => (SceneDoc { gravity: DVec3::Z * -x, ..stack(1.0, &[1e3; 2]) }, Some(0.4)),
        "gravity_flesh" => hangs(SceneDoc { gravity: DVec3::Z * -x, ..flesh(1.0, 1e5) }),
        "stiff_flesh" => hangs(flesh(1.0, x)),
        "stiff_joint" => hangs(with_springs(chain(4, 0.5, |_| 1.0, &[JointKind::Hinge]), x)),
        "stiff_spring" => hangs(sprung(DVec3::X, 1.0, x)),
        "zero_spring" => hangs(sprung(DVec3::ZERO, 0.0, x)),
        "stiff_contact" => (firm(x), Some(0.4)),
        "spin_free" => hangs(spinning(DVec3::new(1.0, 0.3, -0.2) * x)),
        "spin_hinge" => hangs(spinning(DVec3::X * x).with(JointDoc::new(JointKind::Hinge, "pin", "b"))),
        "spin_ball" => {
            hangs(spinning(DVec3::new(1.0, 0.1, 0.0) * x).with(JointDoc::new(JointKind::Ball, "pin", "b")))
        }
        "spin_off" => hangs(whirling(x, false)),
        "spin_pair" => hangs(whirling(x, true)),
        "far_chain" => hangs(moved(chain(4, 0.5, |_| 1.0, &KINDS), x)),
        "far_bar" => hangs(moved(four_bar(1.0, [1.0; 3]), x)),
        "far_stack" => (moved(stack(0.5, &[1.0; 2]), x), Some(0.2)),
        "needle" => hangs(needle(x).with(JointDoc::new(JointKind::Ball, "pin", "b").at(DVec3::X * -0.5))),
        "needle_floor" => {
            (SceneDoc { joints: Vec::new(), ..needle(x) }.with(ColliderDoc::floor(-0.5)), Some(-0.6))
        }
        "tiny_inertia" => hangs(tiny_inertia(x)),
        "blow" => hangs(kicked(x)),
        "bounce" => (thrown(ContactDoc::with_friction(0.5).restitution(x)), Some(0.2)),
        "sticky" => (thrown(ContactDoc::with_friction(x)), Some(0.2)),
        _ => odd(x as u32),
    }
}

const KINDS: [JointKind; 2] = [JointKind::Ball, JointKind::Hinge];

/// What has no magnitude.
fn odd(which: u32) -> (SceneDoc, Option<f64>) {
    let pin = |name: &str, child: &str| JointDoc::new(JointKind::Ball, name, child);
    let scene = match which {
        1 => SceneDoc::new("empty"),
        2 => SceneDoc::new("fixed").with(BodyDoc::fixed("f").shape(BALL)).with(ColliderDoc::floor(0.0)),
        3 => SceneDoc::new("held")
            .with(BodyDoc::fixed("f"))
            .with(BodyDoc::fixed("g"))
            .with(pin("j", "f").parent("g")),
        4 => contradictory(),
        5 => doubled(chain(4, 0.5, |_| 1.0, &KINDS), 3),
        6 => coincident(6),
        7 => doubled(four_bar(1.0, [1.0; 3]), 2),
        8 => return (heap(60), Some(-0.1)),
        _ => return (inside_each_other(), Some(-0.2)),
    };
    (scene, None)
}

const BALL: Shape = Shape::Sphere { radius: 0.1 };
const BRICK: Shape = Shape::Box { size: DVec3::new(0.3, 0.2, 0.1) };

/// A chain of `n` rods of length `l` along x from the origin.
pub(crate) fn chain(n: usize, l: f64, mass: impl Fn(usize) -> f64, kinds: &[JointKind]) -> SceneDoc {
    let mut scene = SceneDoc::new("chain");
    for k in 0..n {
        let name = format!("b{k}");
        let x = k as f64 * l;
        let rod = Shape::Box { size: DVec3::new(l, 0.1 * l, 0.1 * l) };
        scene = scene.with(BodyDoc::new(&name).at(DVec3::X * (x + 0.5 * l)).shape(rod).mass(mass(k)));
        let joint = JointDoc::new(kinds[k % kinds.len()], format!("j{k}"), &name);
        let joint = joint.at(DVec3::X * x).axis(DVec3::Y);
        scene = scene.with(if k > 0 { joint.parent(format!("b{}", k - 1)) } else { joint });
    }
    scene
}

/// A four-bar of side `l` that swings below the world.
pub(crate) fn four_bar(l: f64, masses: [f64; 3]) -> SceneDoc {
    let at = [DVec3::new(0.0, 0.0, -0.5), DVec3::new(0.5, 0.0, -1.0), DVec3::new(1.0, 0.0, -0.5)];
    let rod = |k: usize| {
        let long = if k == 1 { DVec3::X } else { DVec3::Z };
        Shape::Box { size: l * (0.1 * DVec3::ONE + 0.9 * long) }
    };
    let mut scene = SceneDoc { gravity: DVec3::new(9.81, 0.0, -9.81), ..SceneDoc::new("four_bar") };
    for k in 0..3 {
        scene = scene.with(BodyDoc::new(format!("b{k}")).at(at[k] * l).shape(rod(k)).mass(masses[k]));
    }
    let pins = [
        ("p0", "b0", None, DVec3::ZERO),
        ("p1", "b1", Some("b0"), DVec3::new(0.0, 0.0, -1.0)),
        ("p2", "b2", Some("b1"), DVec3::new(1.0, 0.0, -1.0)),
        ("p3", "b2", None, DVec3::X),
    ];
    for (name, child, parent, at) in pins {
        let joint = JointDoc::new(JointKind::Hinge, name, child).at(at * l).axis(DVec3::Y);
        scene = scene.with(match parent {
            Some(parent) => joint.parent(parent),
            None => joint,
        });
    }
    scene
}

/// Boxes of side `l` on each other on a floor.
pub(crate) fn stack(l: f64, masses: &[f64]) -> SceneDoc {
    let mut scene = SceneDoc::new("stack").with(ColliderDoc::floor(0.0));
    for (k, &mass) in masses.iter().enumerate() {
        let cube = Shape::Box { size: DVec3::splat(l) };
        let at = DVec3::Z * l * (0.5 + k as f64);
        scene = scene.with(BodyDoc::new(format!("b{k}")).at(at).shape(cube).mass(mass).touching());
    }
    scene
}

/// Two masses at the ends of a rope over the world.
fn pulley(masses: [f64; 2]) -> SceneDoc {
    let mut scene = SceneDoc::new("pulley");
    for (k, mass) in masses.into_iter().enumerate() {
        let at = DVec3::new(k as f64, 0.0, -5.0);
        scene = scene.with(BodyDoc::new(format!("b{k}")).at(at).shape(BALL).mass(mass));
    }
    let path =
        [EndDoc::on("b0", DVec3::ZERO), DVec3::ZERO.into(), DVec3::X.into(), EndDoc::on("b1", DVec3::ZERO)];
    scene.with(RopeDoc::new("rope", path))
}

/// Two wheels that a gear of ratio -2 connects, one of them with a weight off its axle.
fn geared(masses: [f64; 2]) -> SceneDoc {
    let wheel = |k: usize| {
        format!(
            r#"(name: "w{k}", pose: (position: ({k}, 0.1, 0)), shapes: [Box(size: (0.1, 0.4, 0.4))], mass: Total({:e}))"#,
            masses[k]
        )
    };
    let axle = |k: usize| {
        format!(
            r#"(name: "a{k}", kind: Hinge, child: "w{k}", frames: World(anchor: ({k}, 0, 0), axis: (1, 0, 0)))"#
        )
    };
    written(&format!(
        r#"bodies: [{}, {}], joints: [{}, {}], gears: [(name: "teeth", driver: "a0", driven: "a1", ratio: -2)]"#,
        wheel(0),
        wheel(1),
        axle(0),
        axle(1)
    ))
}

/// A beam of flesh of length `l` that hangs from a wall.
fn flesh(l: f64, young: f64) -> SceneDoc {
    written(&format!(
        r#"bodies: [(name: "wall", kind: Fixed)], flesh: [(name: "beam", mesh: Beam(size: ({l:e}, {a:e}, {a:e}), cells: (4, 1, 1)),
           material: NeoHookean(young: {young:e}, poisson: 0.3), attach: [(body: "wall", nodes: Inside(low: (0, 0, 0), high: (0, 1e9, 1e9)))])]"#,
        a = 0.2 * l
    ))
}

fn with_springs(mut scene: SceneDoc, stiffness: f64) -> SceneDoc {
    for joint in &mut scene.joints {
        *joint = joint.clone().spring(stiffness, 0.0);
    }
    scene
}

/// A ball that flies sideways at the end of a spring from the origin.
fn sprung(at: DVec3, rest: f64, stiffness: f64) -> SceneDoc {
    let ball = BodyDoc::new("b").at(at).shape(BALL).mass(1.0).velocity(DVec3::Y);
    let spring = SpringDoc::new("s", DVec3::ZERO, EndDoc::on("b", DVec3::ZERO), stiffness);
    SceneDoc::new("sprung").with(ball).with(spring.rest_length(rest))
}

/// A box that falls on a contact of some stiffness.
fn firm(stiffness: f64) -> SceneDoc {
    written(&format!(
        r#"bodies: [(name: "b", pose: (position: (0, 0, 0.6)), shapes: [Box(size: (1, 1, 1))], mass: Total(1),
           contact: (firmness: Given(stiffness: {stiffness:e}, damping: 0)))], colliders: [(shape: Plane(point: (0, 0, 0), normal: (0, 0, 1)))]"#
    ))
}

/// A free brick that turns.
fn spinning(angular: DVec3) -> SceneDoc {
    let brick = BodyDoc::new("b").shape(BRICK).mass(1.0).spin(angular);
    SceneDoc { gravity: DVec3::ZERO, ..SceneDoc::new("spinning") }.with(brick)
}

/// A brick a metre from its hinge, or two bricks around a free ball joint, that whirl.
fn whirling(speed: f64, pair: bool) -> SceneDoc {
    let brick = |name: &str, side: f64| {
        BodyDoc::new(name)
            .at(DVec3::Y * side)
            .shape(BRICK)
            .mass(1.0)
            .spin(DVec3::X * speed)
            .velocity(DVec3::Z * speed * side)
    };
    let scene = SceneDoc { gravity: DVec3::ZERO, ..SceneDoc::new("whirling") }.with(brick("b", 1.0));
    if pair {
        scene.with(brick("c", -1.0)).with(JointDoc::new(JointKind::Ball, "pin", "b").parent("c"))
    } else {
        scene.with(JointDoc::new(JointKind::Hinge, "pin", "b"))
    }
}

/// The same scene elsewhere.
fn moved(mut scene: SceneDoc, by: f64) -> SceneDoc {
    for body in &mut scene.bodies {
        body.pose.position += DVec3::X * by;
    }
    for joint in &mut scene.joints {
        if let JointFramesDoc::World(frame) = &mut joint.frames {
            frame.anchor += DVec3::X * by;
        }
    }
    scene
}

/// A rod of one metre and of some thickness, which turns about its length.
fn needle(thick: f64) -> SceneDoc {
    let rod = Shape::Box { size: DVec3::new(1.0, thick, thick) };
    SceneDoc::new("needle").with(BodyDoc::new("b").shape(rod).mass(1.0).spin(DVec3::X * 10.0).touching())
}

/// A pendulum that is almost a point, of radius `r`.
fn tiny_inertia(r: f64) -> SceneDoc {
    let inertia = InertiaDoc::Diagonal(DVec3::splat(r * r));
    let mass = MassDoc::Properties(MassPropertiesDoc { mass: 1.0, com: DVec3::ZERO, inertia });
    let bob = BodyDoc { mass, ..BodyDoc::new("b").at(DVec3::X * 0.5) };
    SceneDoc::new("bob").with(bob).with(JointDoc::new(JointKind::Hinge, "pin", "b").axis(DVec3::Y))
}

/// A chain of which one link has a velocity that its joints do not allow.
fn kicked(speed: f64) -> SceneDoc {
    let mut scene = chain(4, 0.5, |_| 1.0, &KINDS);
    scene.bodies[2] = scene.bodies[2].clone().velocity(DVec3::X * speed);
    scene
}

/// Two boxes that fall on a floor and each other.
fn thrown(contact: ContactDoc) -> SceneDoc {
    let mut scene = stack(0.5, &[1.0; 2]);
    for body in &mut scene.bodies {
        body.pose.position.z += 1.0;
        body.contact = Some(contact);
    }
    scene
}

/// A ball that two joints want in two places.
fn contradictory() -> SceneDoc {
    let end = |x: f64| FrameDoc { anchor: DVec3::X * x, ..FrameDoc::default() };
    SceneDoc::new("contradictory")
        .with(BodyDoc::new("b").shape(BALL).mass(1.0))
        .with(JointDoc::new(JointKind::Ball, "left", "b").at(DVec3::X))
        .with(JointDoc::new(JointKind::Ball, "right", "b").local(end(0.1), end(5.0)))
}

/// Every joint several times more.
fn doubled(mut scene: SceneDoc, times: usize) -> SceneDoc {
    let joints = scene.joints.clone();
    for n in 0..times {
        scene.joints.extend(
            joints.iter().map(|joint| JointDoc { name: format!("{}_{n}", joint.name), ..joint.clone() }),
        );
    }
    scene
}

/// A chain whose bodies and joints are all at one place.
fn coincident(n: usize) -> SceneDoc {
    let mut scene = SceneDoc::new("coincident");
    for k in 0..n {
        let brick = BodyDoc::new(format!("b{k}")).shape(BRICK).mass(1.0).spin(DVec3::new(1.0, k as f64, 0.3));
        let joint = JointDoc::new(JointKind::Ball, format!("j{k}"), format!("b{k}"));
        scene = scene.with(brick).with(if k > 0 { joint.parent(format!("b{}", k - 1)) } else { joint });
    }
    scene
}

/// Balls at one and the same place above a floor.
pub(crate) fn heap(n: usize) -> SceneDoc {
    let mut scene = SceneDoc::new("heap").with(ColliderDoc::floor(0.0));
    for k in 0..n {
        scene = scene.with(BodyDoc::new(format!("b{k}")).at(DVec3::Z * 0.2).shape(BALL).mass(1.0).touching());
    }
    scene
}

/// Solids of all shapes inside each other and half in the floor.
fn inside_each_other() -> SceneDoc {
    let shapes = [
        BALL,
        BRICK,
        Shape::Capsule { radius: 0.1, length: 0.3 },
        Shape::Cylinder { radius: 0.1, length: 0.3 },
    ];
    let mut scene = SceneDoc::new("inside").with(ColliderDoc::floor(0.0));
    for (k, shape) in shapes.into_iter().cycle().take(8).enumerate() {
        let body = BodyDoc::new(format!("b{k}")).at(DVec3::Z * 0.01 * k as f64).shape(shape).mass(1.0);
        scene = scene.with(body.spin(DVec3::X * PI).touching());
    }
    scene
}
