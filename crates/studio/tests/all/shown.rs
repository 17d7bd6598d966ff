//! What snapshots hold and drawings show besides bodies: contacts, colours of flesh, limits, ground.

use std::path::Path;

use glam::DVec3;
use sinew_scene::SceneDoc;
use sinew_show::{Drawing, LimitGizmo, ShowOptions, Tint};
use sinew_sim::World;
use sinew_studio::{Library, OpenScene, Orbit, Origin, Session, Snapshot, SnapshotWishes, draw};

use crate::common::session;

fn opened(text: &str) -> Session {
    let doc = SceneDoc::from_ron(text, "shown.ron").expect("a scene");
    let world = World::from_scene(&doc).expect("a world");
    Session::new(OpenScene { doc: doc.into(), path: None, world })
}

/// A snapshot with everything that is shown, and its drawing.
fn look(session: &mut Session, show: &ShowOptions) -> (Snapshot, Drawing) {
    session.wish(SnapshotWishes { show: *show, ..SnapshotWishes::default() });
    let (mut snapshot, mut drawing) = (Snapshot::default(), Drawing::default());
    session.fill(&mut snapshot);
    drawing.fill(&snapshot.visible, &snapshot.drawing_context(*show), None);
    (snapshot, drawing)
}

#[test]
fn arrows_carry_a_box_at_rest_after_a_rewind_too() {
    let mut session = opened(
        r#"(format: 1, bodies: [(name: "box", mass: Total(2), shapes: [Box(size: (0.3, 0.2, 0.1))],
            pose: (position: (0, 0, 0.05)))],
        colliders: [(shape: Plane(point: (0, 0, 0), normal: (0, 0, 1))), (body: "box", shape: OfBody)])"#,
    );
    let show = ShowOptions { contacts: true, ..ShowOptions::default() };
    assert!(look(&mut session, &show).0.visible.contacts.is_empty());
    (0..200).for_each(|_| session.step_once());
    for step in [200, 150, 128, 144, 1, 200] {
        session.seek(step);
        let (snapshot, drawing) = look(&mut session, &show);
        let carried: DVec3 = snapshot.visible.contacts.iter().map(|contact| contact.1).sum();
        if step > 100 {
            assert!((carried - DVec3::Z * (2.0 * 9.81)).length() < 0.01, "step {step}: {carried}");
        }
        assert_eq!(drawing.arrows.len(), snapshot.visible.contacts.len(), "an arrow each");
        assert!(!snapshot.visible.contacts.is_empty(), "step {step}");
    }
    assert!(look(&mut session, &ShowOptions::default()).0.visible.contacts.is_empty());
}

#[test]
fn flesh_is_coloured_by_what_happens_in_it() {
    let mut session = session("tet_inverted");
    let at_first = look(&mut session, &ShowOptions { tint: Tint::Diagonalized, ..ShowOptions::default() }).0;
    assert!(at_first.visible.tints[0].iter().all(|&tint| tint > 0.9), "it is turned inside out");
    let mut session = crate::common::session("worm");
    let (snapshot, drawing) =
        look(&mut session, &ShowOptions { tint: Tint::Stretch, ..ShowOptions::default() });
    assert_eq!(snapshot.visible.tints[0].len(), snapshot.visible.list.flesh[0].points.len());
    assert!(snapshot.visible.tints[0].iter().all(|tint| (tint - 0.5).abs() < 0.01), "it is at rest");
    assert_eq!(drawing.surfaces[0].colors.len(), drawing.surfaces[0].points.len());
    let (snapshot, drawing) = look(&mut session, &ShowOptions::default());
    assert!(snapshot.visible.tints.is_empty() && drawing.surfaces[0].colors.is_empty());
}

#[test]
fn without_a_folder_of_scenes_those_built_in_are_offered() {
    let library = Library::of_folder_or_built_in(Path::new("no/such/folder"));
    assert_eq!(library, Library::built_in());
    assert_eq!(library.find("worm"), Ok(Origin::BuiltIn("worm".to_owned())));
    let hand = library.find("hand").and_then(|hand| OpenScene::of(&hand));
    let mut session = Session::new(hand.expect("it is built in"));
    let digest = session.world().digest();
    (0..5).for_each(|_| session.step_once());
    session.reload().expect("it begins again");
    assert_eq!((session.step(), session.world().digest()), (0, digest));
}

#[test]
fn a_name_that_is_mistyped_is_mended_or_said_to_be_no_file() {
    let listed = Library { scenes: vec![("my_own".to_owned(), Origin::File("my/own.ron".into()))] };
    for (word, wanted) in [
        ("wrm", "did you mean `worm`?"),
        ("my_own_", "did you mean `my_own`?"),
        ("wrm.ron", "wrm.ron: there is no such file"),
    ] {
        let fault = listed.find(word).expect_err("there is no such thing");
        assert!(fault.to_string().contains(wanted), "{fault}");
    }
    assert_eq!(listed.find("my_own"), Ok(Origin::File("my/own.ron".into())));
}

#[test]
fn joints_limits_and_pins_are_in_front_of_flesh() {
    let mut session = session("worm");
    let bone = session.world().body("worm_bone_3").expect("a bone");
    session.pin(bone, &[DVec3::ZERO]);
    let show = ShowOptions { joints: true, limits: true, ..ShowOptions::default() };
    let (snapshot, drawing) = look(&mut session, &show);
    assert_eq!(drawing.marks.len(), snapshot.visible.list.points.len() + 1);
    let orbit = Orbit::of(&snapshot.overview, snapshot.gravity());
    let plain = draw(&snapshot, &orbit, &ShowOptions::default(), (320, 200)).expect("a picture");
    let marked = draw(&snapshot, &orbit, &show, (320, 200)).expect("a picture");
    let camera = orbit.to_picture((320.0, 200.0), drawing.reach);
    for point in &snapshot.visible.list.points {
        let (x, y, _) = camera.pixel(point.position, 320, 200).expect("in front of the eye");
        let at = y as usize * 320 + x as usize;
        let ([r, g, b], [skin, ..]) = (marked.pixels()[at], plain.pixels()[at]);
        assert!(r < 110 && g < 110 && b < 130 && skin > 120, "{r} {g} {b} over {skin}");
    }
}

#[test]
fn up_is_against_the_gravity_in_force() {
    let mut session = opened(
        r#"(format: 1, gravity: (0, 0, -9.81), changes: [(at_s: 0, gravity: (0, -9.81, 0))],
        bodies: [(name: "a", mass: Total(1), shapes: [Sphere(radius: 0.1)])])"#,
    );
    let (snapshot, _) = look(&mut session, &ShowOptions::default());
    assert_eq!(Orbit::of(&snapshot.overview, snapshot.gravity()).up, DVec3::Y);
    let none = sinew_scene::ChangeDoc { gravity: Some(DVec3::ZERO), ..Default::default() };
    session.tune(&none).expect("a good change");
    let (snapshot, _) = look(&mut session, &ShowOptions::default());
    assert_eq!(snapshot.gravity(), DVec3::Z * -9.81, "as it is written");
}

#[test]
fn the_share_of_diagonalized_tetrahedra_is_shown_where_they_are_selected() {
    for (name, is_selective) in [("worm", false), ("worm_jump", true)] {
        let mut session = session(name);
        for _ in 0..2 {
            let (snapshot, _) = look(&mut session, &ShowOptions::default());
            assert_eq!(snapshot.measured.sample.flesh[0].is_finite(), is_selective, "{name}");
            session.step_once();
        }
    }
}

#[test]
fn limits_are_arcs_cones_and_bars() {
    let mut session = opened(
        r#"(format: 1, bodies: [
            (name: "a", mass: Total(1), shapes: [Sphere(radius: 0.1)]),
            (name: "b", mass: Total(1), shapes: [Sphere(radius: 0.1)], pose: (position: (1, 0, 0))),
            (name: "c", mass: Total(1), shapes: [Sphere(radius: 0.1)], pose: (position: (2, 0, 0))),
        ], joints: [
            (name: "turns", child: "a", kind: Hinge, limits: (min: -1, max: 1)),
            (name: "slides", child: "b", kind: Prismatic, limits: (min: 0, max: 0.5)),
            (name: "tilts", child: "c", kind: Ball, cone_limit: (angle: 0.5)),
        ])"#,
    );
    let (snapshot, drawing) = look(&mut session, &ShowOptions { limits: true, ..ShowOptions::default() });
    assert!(matches!(
        snapshot.visible.limits[..],
        [LimitGizmo::Turn { .. }, LimitGizmo::Slide { .. }, LimitGizmo::Cone { largest: 0.5, .. }]
    ));
    assert!(snapshot.visible.limits.iter().all(LimitGizmo::is_inside) && drawing.gauges.len() > 60);
}

#[test]
fn limits_are_drawn_at_joints_that_were_brought_together() {
    let mut session = opened(
        r#"(format: 1, assemble: true, bodies: [
            (name: "a", mass: Total(1), shapes: [Sphere(radius: 0.1)], pose: (position: (0.5, 0.3, 0))),
            (name: "b", mass: Total(1), shapes: [Sphere(radius: 0.1)], pose: (position: (1.5, 0.3, 0))),
        ], joints: [
            (name: "open", child: "a", kind: Fixed, frames: Local(child: (anchor: (-0.5, 0, 0)), parent: ())),
            (name: "turns", child: "b", parent: "a", kind: Hinge, limits: (min: -1, max: 1),
                frames: World(anchor: (1, 0.3, 0))),
        ])"#,
    );
    let (snapshot, _) = look(&mut session, &ShowOptions { limits: true, ..ShowOptions::default() });
    let LimitGizmo::Turn { frame: at, .. } = snapshot.visible.limits[0] else { panic!("an arc") };
    let joint = session.world().joint("turns").expect("a joint").index();
    assert!(at.translation.distance(DVec3::X) < 1e-6, "{at:?}");
    assert!(at.translation.distance(snapshot.visible.list.points[joint].position) < 1e-6);
}

#[test]
fn height_fields_and_smooth_surfaces_are_drawn() {
    let mut session = opened(
        r#"(format: 1, bodies: [(name: "a", mass: Total(1), shapes: [Sphere(radius: 0.1)])],
        colliders: [(shape: HeightField(size: (4, 2), heights: [[0, 0.1, 0], [0.2, 0, 0.1]]))])"#,
    );
    let (_, drawing) = look(&mut session, &ShowOptions::default());
    assert_eq!(drawing.sheets.iter().map(|sheet| sheet.triangles.len()).sum::<usize>(), 4);
    let mut session = crate::common::session("mesh_56");
    let (snapshot, drawing) = look(&mut session, &ShowOptions::default());
    assert_eq!(drawing.sheets.len(), snapshot.visible.list.surfaces.len());
}
