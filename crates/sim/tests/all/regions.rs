//! Regions of flesh in scenes: stiffness, density, damping, and where they are.

use sinew_sim::{SceneDoc, World};

fn world_of(text: &str) -> World {
    World::from_scene(&SceneDoc::from_ron(text, "regions.ron").expect("a scene")).expect("a world")
}

/// A column that hangs from the world by its upper end, 1 m long, with its lower half as given.
fn hanging(lower: &str) -> World {
    world_of(&format!(
        r#"(
        format: 1, name: "hanging", dt: 0.01,
        flesh: [(
            name: "column", mesh: Beam(size: (0.2, 0.2, 1), cells: (2, 2, 10)), pose: (position: (0, 0, -1)),
            material: NeoHookean(young: 1e6, poisson: 0), stiffness_damping_s: 0.05,
            attach: [(body: "world", nodes: Inside(low: (-1, -1, 0.999), high: (1, 1, 1.001)))],
            regions: [(name: "lower", tets: Inside([Box(size: (1, 1, 1))]), {lower})],
        )],
    )"#
    ))
}

/// How far the column hangs down at rest, m.
fn stretch(mut world: World) -> f64 {
    for _ in 0..400 {
        assert!(world.step().health.is_good());
    }
    let lowest = world.state().flesh.nodes[0].positions.iter().map(|x| x.z).fold(f64::INFINITY, f64::min);
    -1.0 - lowest
}

/// `ρg (3/8 ρ_upper/E_upper … + 1/8 …)`: the upper half carries the lower one.
#[test]
fn halves_of_other_stiffness_and_density_stretch_in_a_row() {
    let hung =
        |young: f64, density: f64| 9.81 * ((0.125 * 1000.0 + 0.25 * density) / 1e6 + 0.125 * density / young);
    for (lower, young, density) in [
        ("", 1e6, 1000.0),
        ("young: 2e5", 2e5, 1000.0),
        ("density: 4000", 1e6, 4000.0),
        ("young: 5e6, density: 500", 5e6, 500.0),
    ] {
        let (found, expected) = (stretch(hanging(lower)), hung(young, density));
        assert!((found / expected - 1.0).abs() < 0.02, "{lower}: {found} {expected}");
    }
}

#[test]
fn the_mass_of_flesh_is_that_of_its_regions() {
    let mass =
        |world: &World| world.model().flesh().expect("flesh").bodies()[0].fem().masses().iter().sum::<f64>();
    let found = mass(&hanging("density: 3000"));
    assert!((found - 0.04 * (0.5 * 1000.0 + 0.5 * 3000.0)).abs() < 1e-9, "{found}");
}

/// With stiffness damping in its lower half only, a column comes to rest later than with it everywhere, and sooner than without.
#[test]
fn regions_have_their_own_damping() {
    let left = |scene: &str| {
        let mut world = world_of(scene);
        (0..40).for_each(|_| assert!(world.step().health.is_good()));
        world.energy().kinetic
    };
    let text = |all: &str, lower: &str| {
        format!(
            r#"(
            format: 1, name: "damped", dt: 0.005, stepper: Implicit(order: 2), gravity: (0, 0, 0),
            flesh: [(
                name: "a", mesh: Beam(size: (0.2, 0.2, 1), cells: (2, 2, 8)), material: NeoHookean(young: 1e6, poisson: 0.3),
                disturbed: Scaled(1, 1, 1.2), {all}
                regions: [(name: "lower", tets: Inside([Box(size: (1, 1, 1))]), {lower})],
            )],
        )"#
        )
    };
    let [none, half, all] =
        [text("", ""), text("", "stiffness_damping_s: 0.01"), text("stiffness_damping_s: 0.01,", "")]
            .map(|text| left(&text));
    assert!(all < 0.5 * half && half < 0.5 * none, "{none} {half} {all}");
}

#[test]
fn regions_lie_near_bodies_and_in_lists() {
    let text = |tets: &str| {
        format!(
            r#"(
            format: 1, name: "placed",
            bodies: [(name: "bone", pose: (position: (1, 0.1, 0.1)), shapes: [Capsule(radius: 0.05, length: 0.4)])],
            flesh: [(
                name: "a", mesh: Beam(size: (2, 0.2, 0.2), cells: (20, 2, 2)),
                attach: [(body: "bone", nodes: Within(0.06))],
                regions: [(name: "r", tets: {tets}, young: 1e7), (name: "rest", tets: Inside([Box(size: (9, 9, 9))]), young: 1e4)],
            )],
        )"#
        )
    };
    let world = world_of(&text(r#"Near(body: "bone", within: 0.1)"#));
    let fem = world.model().flesh().expect("flesh").bodies()[0].fem();
    for (tet, nodes) in fem.mesh().tets().iter().enumerate() {
        let middle = nodes.iter().map(|&n| fem.mesh().positions()[n as usize].x).sum::<f64>() / 4.0;
        let is_near = (middle - 1.0).abs() < 0.3;
        assert_eq!(fem.region(tet), if is_near { 1 } else { 2 }, "{middle}");
    }
    assert_eq!(world_of(&text("List([3])")).model().flesh().expect("flesh").bodies()[0].fem().region(3), 1);
    for bad in ["List([99999])", "Inside([Sphere(radius: 0.01, at: (position: (9, 9, 9)))])"] {
        let scene = SceneDoc::from_ron(&text(bad), "bad.ron").expect("a scene");
        let error = World::from_scene(&scene).expect_err("no such place");
        assert!(error.to_string().contains("flesh[0].regions[0].tets"), "{error}");
    }
}

#[test]
fn a_change_of_the_stiffness_of_flesh_reaches_regions() {
    let text = r#"(format: 1, name: "c", flesh: [(name: "a", mesh: Beam(size: (1, 1, 1), cells: (2, 1, 1)),
        regions: [(name: "r", tets: List([0]), young: 1e3)])], changes: [(at_s: 0, flesh_stiffness: 3)])"#;
    let world = world_of(text);
    let fem = world.model().flesh().expect("flesh").bodies()[0].fem();
    let young = |tet: usize| {
        let lame = fem.material_of(tet).lame();
        lame.mu_pa * (3.0 * lame.lambda_pa + 2.0 * lame.mu_pa) / (lame.lambda_pa + lame.mu_pa)
    };
    assert!((young(0) - 3e3).abs() < 1e-6 && (young(1) - 3e5).abs() < 1e-4);
}
