//! Muscles in scenes: shortening at rest, momentum, work in the energy account, inputs and tracks, speed, both steppings.

use glam::DVec3;
use sinew_sim::{EnergyAccount, Input, MuscleId, SceneDoc, World};

fn world_of(text: &str) -> World {
    World::from_scene(&SceneDoc::from_ron(text, "muscles.ron").expect("a scene")).expect("a world")
}

/// A free bar along x without weight, of Poisson's ratio 0, all of it muscle.
fn bar(flesh: &str, muscle: &str, rest: &str) -> World {
    world_of(&format!(
        r#"(
        format: 1, name: "bar", dt: 0.01, gravity: (0, 0, 0),
        flesh: [(
            name: "bar", mesh: Beam(size: (1, 0.2, 0.2), cells: (10, 2, 2)), material: StVenantKirchhoff(young: 1e5, poisson: 0, extension: Conservative), {flesh}
            regions: [(name: "all", tets: Inside([Box(size: (9, 9, 9))]), muscle: (fibres: Along(1, 0, 0), {muscle}))],
        )],
        {rest}
    )"#
    ))
}

fn length(world: &World) -> f64 {
    let x = || world.state().flesh.nodes[0].positions.iter().map(|x| x.x);
    x().fold(f64::NEG_INFINITY, f64::max) - x().fold(f64::INFINITY, f64::min)
}

/// The number between two at which an increasing function is zero.
fn zero(mut low: f64, mut high: f64, f: impl Fn(f64) -> f64) -> f64 {
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if f(middle) > 0.0 {
            high = middle;
        } else {
            low = middle;
        }
    }
    low
}

/// Where the stress of the material holds that of the muscle, `P(λ) + aS = 0`, and nothing pulls across.
fn equilibrium(stress: f64) -> f64 {
    let material = sinew_fem::Material::st_venant_kirchhoff(1e5, 0.0).expect("a material");
    let material = material.with_extension(sinew_fem::Extension::Conservative);
    let p = |along: f64, across: f64| {
        material.stress(&glam::DMat3::from_diagonal(DVec3::new(along, across, across)))
    };
    let across = |along: f64| zero(0.5, 2.0, |across| p(along, across).y_axis.y);
    zero(0.3, 1.0, |along| p(along, across(along)).x_axis.x + stress)
}

#[test]
fn a_bar_shortens_until_its_flesh_holds_the_pull() {
    let value = "strength: 4e4, activation: Value(0.5)";
    for (flesh, rest) in [
        ("stiffness_damping_s: 0.05,", ""),
        ("stiffness_damping_s: 0.05, strain: Local,", ""),
        ("stiffness_damping_s: 0.05,", "stepper: Implicit(order: 2),"),
    ] {
        let mut world = bar(flesh, value, rest);
        for _ in 0..300 {
            assert!(world.step().health.is_good());
        }
        let (found, expected) = (length(&world), equilibrium(2e4));
        assert!((found - expected).abs() < 1e-3, "{flesh} {rest} {found} {expected}");
    }
    // Explicit flesh: damped by its bones.
    let mut world = bar(
        r#"strain: Mean, bone_damping: 20, stepping: Explicit(substeps: 0), attach: [(body: "world", nodes: Inside(low: (-1, -1, -1), high: (0.001, 1, 1)))],"#,
        value,
        "",
    );
    for _ in 0..300 {
        assert!(world.step().health.is_good());
    }
    assert!((length(&world) - equilibrium(2e4)).abs() < 0.02, "{}", length(&world));
}

/// Whether a run gains energy without a source, and the work its muscles did.
fn excess(mut world: World, seconds: f64) -> f64 {
    let mut account = EnergyAccount::new(world.model(), world.state(), world.input(), world.settings());
    let mut worst: f64 = 0.0;
    for _ in 0..(seconds / world.settings().dt) as u32 {
        let report = world.step();
        assert!(report.health.is_good());
        let excess = account.note(world.model(), world.state(), world.input(), world.settings());
        worst = worst.max(excess.lasting);
    }
    worst
}

#[test]
fn the_work_of_muscles_is_no_energy_without_a_source() {
    let pulse = r#"tracks: [(name: "a", curve: Sine(center: (0.5, 0, 0), amplitude: (0.7, 0, 0), frequency_hz: 3, phase: 0))],"#;
    let muscle = r#"strength: 3e4, stiffness: 5e4, activation: Track("a")"#;
    for (flesh, more) in
        [("", ""), ("strain: Local,", ", curve: Bell(optimum: 1, width: 0.6)"), ("", ", fastest: 3")]
    {
        for dt in ["", "stepper: Implicit(order: 2),"] {
            let world = bar(flesh, &format!("{muscle}{more}"), &format!("{pulse}{dt}"));
            let found = excess(world, 3.0);
            assert!(found < 0.01, "{flesh} {more} {dt}: {found}");
        }
    }
}

/// Without the work of muscles the account would accuse the same motion.
#[test]
fn the_account_would_accuse_energy_that_no_muscle_explains() {
    let mut world = bar("", "strength: 3e4", "");
    let muscle = world.muscle("bar", "all").expect("a muscle");
    let active = Input { activations: [(muscle, 1.0)].into_iter().collect(), ..Input::default() };
    let mut account = EnergyAccount::new(world.model(), world.state(), world.input(), world.settings());
    let mut is_gain = false;
    for _ in 0..100 {
        assert!(world.step_with(&active).health.is_good());
        let found = account.note(world.model(), world.state(), &Input::default(), world.settings());
        is_gain |= found.is_gain();
    }
    assert!(is_gain);
}

#[test]
fn muscles_keep_momentum() {
    let [coarse, fine] = ["0.016666666666666666", "0.001"].map(largest_spin);
    assert!(coarse < 0.2 && fine < 0.15 * coarse, "as short as steps are: {coarse} {fine}");
    let second = largest_spin("0.008, stepper: Implicit(order: 2)");
    assert!(second < 0.015, "{second}");
}

/// Largest angular momentum (kg·m²/s) of 40 kg of floating flesh around a bone with three muscles that begin to pull. Implicit flesh keeps it as far as its
/// linearization goes, and linear momentum exactly.
fn largest_spin(dt: &str) -> f64 {
    let mut world = world_of(
        &r#"(
        format: 1, name: "free", dt: DT, gravity: (0, 0, 0), flesh_solver: (precision: 1e-12),
        bodies: [(name: "bone", pose: (position: (0.5, 0.1, 0.1)), shapes: [Capsule(radius: 0.03, length: 0.5)])],
        flesh: [(
            name: "f", mesh: Beam(size: (1, 0.2, 0.2), cells: (10, 2, 2)), attach: [(body: "bone", nodes: Within(0.05))],
            regions: [
                (name: "up", tets: Inside([Box(size: (0.6, 1, 0.1), at: (position: (0.5, 0, 0.15)))]),
                 muscle: (fibres: AlongBody("bone"), strength: 5e4, activation: Track("a"), fastest: 5)),
                (name: "ring", tets: Inside([Box(size: (0.3, 1, 1), at: (position: (1, 0, 0)))]),
                 muscle: (fibres: Around(point: (0, 0.1, 0.1), axis: (1, 0, 0)), strength: 3e4, activation: Value(0.6))),
                (name: "bent", tets: Inside([Sphere(radius: 0.2)]),
                 muscle: (fibres: Path([(0, 0, 0), (0.1, 0, 0), (0.2, 0.1, 0.1)]), strength: 2e4, activation: Value(1))),
            ],
        )],
        tracks: [(name: "a", curve: Scalars([(0, 0), (0.3, 1), (0.5, 0)]))],
    )"#
        .replace("DT", dt),
    );
    assert_eq!(world.muscle("f", "bent"), Some(MuscleId::from_index(2)));
    assert!(world.muscle("f", "nothing").is_none() && world.muscle("g", "up").is_none());
    let (mut fastest, mut spin): (f64, f64) = (0.0, 0.0);
    while world.time() < 1.0 {
        assert!(world.step().health.is_good());
        let momentum = world.momentum();
        assert!(momentum.linear.length() < 1e-9, "{momentum:?}");
        spin = spin.max(momentum.angular.length());
        fastest = fastest.max(world.energy().kinetic);
    }
    assert!(fastest > 1e-3, "{fastest}");
    spin
}

#[test]
fn an_input_activates_as_a_track_does_and_nonsense_is_counted() {
    let recorded = bar("", "strength: 3e4, activation: Value(0.4)", "");
    let relaxed = bar("", "strength: 3e4", "");
    let muscle = relaxed.muscle("bar", "all").expect("a muscle");
    let [mut recorded, mut given] = [recorded, relaxed];
    let input = |activation: f64| Input {
        activations: [(muscle, activation)].into_iter().collect(),
        ..Input::default()
    };
    for _ in 0..20 {
        recorded.step();
        assert!(given.step_with(&input(0.4)).health.is_good());
    }
    assert_eq!(recorded.digest(), given.digest());
    for bad in [1.5, -0.1, f64::NAN] {
        assert_eq!(given.step_with(&input(bad)).health.ignored_inputs, 1);
    }
    let missing =
        Input { activations: [(MuscleId::from_index(7), 0.5)].into_iter().collect(), ..Input::default() };
    assert_eq!(given.step_with(&missing).health.ignored_inputs, 1);
    let text = "(format: 1, name: \"none\", bodies: [(name: \"a\", shapes: [Sphere(radius: 1)])])";
    assert_eq!(world_of(text).step_with(&missing).health.ignored_inputs, 1);
}

/// A strong muscle of a light bar shortens at the rate at which its stress ends, not faster.
#[test]
fn a_muscle_shortens_no_faster_than_it_can() {
    let speed = |muscle: &str| {
        let mut world = bar("density: 10,", &format!("strength: 3e4, {muscle} activation: Value(1)"), "");
        let mut fastest: f64 = 0.0;
        for _ in 0..20 {
            let before = length(&world);
            let report = world.step();
            assert!(report.health.is_good(), "{:?}", report.health);
            fastest = fastest.max((before - length(&world)) / world.settings().dt);
        }
        fastest
    };
    let (slow, free) = (speed("fastest: 1,"), speed(""));
    assert!(slow < 1.0 && slow > 0.3 && free > 5.0 * slow, "{slow} {free}");
}

/// Fibres across a hanging block: passive ones hold it, and only while they are drawn out.
#[test]
fn passive_fibres_resist_being_stretched_only() {
    let squeeze = |stiffness: f64, scale: f64| {
        let text = format!("strength: 0, stiffness: {stiffness}");
        let world = bar(&format!("disturbed: Scaled({scale}, 1, 1),"), &text, "");
        world.energy().elastic
    };
    let added = squeeze(1e6, 1.1) - squeeze(1e-9, 1.1);
    assert!((added - 0.5 * 1e6 * 0.01 * 0.04).abs() < 1e-6 * added, "{added}");
    assert!((squeeze(1e6, 0.9) - squeeze(1e-9, 0.9)).abs() < 1e-12);
}

/// The arm of the guide lifts its tip with one muscle and curls it under with the other.
#[test]
fn the_scene_of_the_guide_does_what_the_guide_says() {
    let guide = include_str!("../../../../docs/guide/muscles.md");
    let scene = guide.split("```ron\n").nth(1).and_then(|rest| rest.split_once("```")).expect("a scene").0;
    let mut world = world_of(scene);
    let mut heights = Vec::new();
    for _ in 0..240 {
        assert!(world.step().health.is_good());
        heights.push(world.state().flesh.nodes[0].positions.last().expect("nodes").z);
    }
    assert!(heights[29] < -0.2 && heights[140] > 0.2, "{} {}", heights[29], heights[140]);
    let tip = world.state().flesh.nodes[0].positions.last().expect("nodes");
    assert!(tip.x < 0.2 && tip.z < -0.1, "{tip}");
}

/// A hanging finger with a bone at its root: a tendon along its front, from the bone to the tip, curls it forward in both steppings.
#[test]
fn a_tendon_curls_a_finger() {
    let tip = |flesh: &str| {
        let mut world = world_of(&format!(
            r#"(
            format: 1, name: "finger", dt: 0.01, gravity: (0, 0, 0),
            bodies: [(name: "root", kind: Fixed, pose: (position: (0.05, 0.05, 0.05)), shapes: [Box(size: (0.1, 0.1, 0.1))])],
            flesh: [(
                name: "finger", mesh: Beam(size: (0.5, 0.1, 0.1), cells: (10, 2, 2)), material: StVenantKirchhoff(young: 2e5, poisson: 0.3, extension: Conservative),
                attach: [(body: "root", nodes: Within(0.001))], {flesh}
                tendons: [(name: "front", path: [(0.02, 0.05, 0.09), (0.2, 0.05, 0.09), (0.35, 0.05, 0.09), (0.48, 0.05, 0.09)],
                           strength: 100, stiffness: 50, activation: Value(1))],
            )],
        )"#
        ));
        assert!(world.muscle("finger", "front").is_some());
        for _ in 0..300 {
            assert!(world.step().health.is_good());
        }
        *world.state().flesh.nodes[0].positions.last().expect("nodes")
    };
    let implicit = tip("stiffness_damping_s: 0.05,");
    let explicit = tip("strain: Mean, bone_damping: 20, stepping: Explicit(substeps: 0),");
    assert!(implicit.z > 0.25 && implicit.distance(explicit) < 0.01, "{implicit} {explicit}");
}
