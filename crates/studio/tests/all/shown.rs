//! What snapshots hold and drawings show besides bodies: contacts, colours of flesh, limits, ground.

use std::path::Path;

use glam::DVec3;
use sinew_scene::SceneDoc;
use sinew_sim::World;
use sinew_studio::{
    Drawing, Frame, Gizmo, Library, Opened, Orbit, Origin, Session, Show, Tint, draw, wishes,
};

use crate::common::session;

fn opened(text: &str) -> Session {
    let doc = SceneDoc::from_ron(text, "shown.ron").expect("a scene");
    let world = World::from_scene(&doc).expect("a world");
    Session::new(Opened { doc: doc.into(), path: None, world })
}

/// A snapshot with everything that is shown, and its drawing.
fn look(session: &mut Session, show: &Show) -> (Frame, Drawing) {
    session.wish(wishes(show));
    let (mut frame, mut drawing) = (Frame::default(), Drawing::default());
    session.fill(&mut frame);
    drawing.fill(&frame, show, None);
    (frame, drawing)
}

#[test]
fn arrows_carry_a_box_at_rest_after_a_rewind_too() {
    let mut session = opened(
        r#"(format: 1, bodies: [(name: "box", mass: Total(2), shapes: [Box(size: (0.3, 0.2, 0.1))],
            pose: (position: (0, 0, 0.05)))],
        colliders: [(shape: Plane(point: (0, 0, 0), normal: (0, 0, 1))), (body: "box", shape: OfBody)])"#,
    );
    let show = Show { contacts: true, ..Show::default() };
    assert!(look(&mut session, &show).0.contacts.is_empty());
    (0..200).for_each(|_| session.step_once());
    for step in [200, 150, 128, 144, 1, 200] {
        session.seek(step);
        let (frame, drawing) = look(&mut session, &show);
        let carried: DVec3 = frame.contacts.iter().map(|contact| contact.1).sum();
        if step > 100 {
            assert!((carried - DVec3::Z * (2.0 * 9.81)).length() < 0.01, "step {step}: {carried}");
        }
        assert_eq!(drawing.arrows.len(), frame.contacts.len(), "an arrow each");
        assert!(!frame.contacts.is_empty(), "step {step}");
    }
    assert!(look(&mut session, &Show::default()).0.contacts.is_empty());
}

#[test]
fn flesh_is_coloured_by_what_happens_in_it() {
    let mut session = session("tet_inverted");
    let at_first = look(&mut session, &Show { tint: Tint::Diagonalized, ..Show::default() }).0;
    assert!(at_first.tints[0].iter().all(|&tint| tint > 0.9), "it is turned inside out");
    let mut session = crate::common::session("worm");
    let (frame, drawing) = look(&mut session, &Show { tint: Tint::Stretch, ..Show::default() });
    assert_eq!(frame.tints[0].len(), frame.draw.flesh[0].points.len());
    assert!(frame.tints[0].iter().all(|tint| (tint - 0.5).abs() < 0.01), "it is at rest");
    assert_eq!(drawing.surfaces[0].colors.len(), drawing.surfaces[0].points.len());
    let (frame, drawing) = look(&mut session, &Show::default());
    assert!(frame.tints.is_empty() && drawing.surfaces[0].colors.is_empty());
}

#[test]
fn without_a_folder_of_scenes_those_built_in_are_offered() {
    let library = Library::of_folder_or_built_in(Path::new("no/such/folder"));
    assert_eq!(library, Library::built_in());
    assert_eq!(library.find("worm"), Ok(Origin::BuiltIn("worm".to_owned())));
    let hand = library.find("hand").and_then(|hand| Opened::of(&hand));
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
    let show = Show { joints: true, limits: true, ..Show::default() };
    let (frame, drawing) = look(&mut session, &show);
    assert_eq!(drawing.marks.len(), frame.draw.points.len() + 1);
    let orbit = Orbit::of(&frame.cast, frame.gravity());
    let plain = draw(&frame, &orbit, &Show::default(), (320, 200)).expect("a picture");
    let marked = draw(&frame, &orbit, &show, (320, 200)).expect("a picture");
    let camera = orbit.to_picture((320.0, 200.0), drawing.reach);
    for point in &frame.draw.points {
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
    let (frame, _) = look(&mut session, &Show::default());
    assert_eq!(Orbit::of(&frame.cast, frame.gravity()).up, DVec3::Y);
    let none = sinew_scene::ChangeDoc { gravity: Some(DVec3::ZERO), ..Default::default() };
    session.tune(&none).expect("a good change");
    let (frame, _) = look(&mut session, &Show::default());
    assert_eq!(frame.gravity(), DVec3::Z * -9.81, "as it is written");
}

#[test]
fn the_share_of_diagonalized_tetrahedra_is_shown_where_they_are_selected() {
    for (name, is_selective) in [("worm", false), ("worm_jump", true)] {
        let mut session = session(name);
        for _ in 0..2 {
            let (frame, _) = look(&mut session, &Show::default());
            assert_eq!(frame.sample.flesh[0].is_finite(), is_selective, "{name}");
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
    let (frame, drawing) = look(&mut session, &Show { limits: true, ..Show::default() });
    assert!(matches!(
        frame.limits[..],
        [Gizmo::Turn { .. }, Gizmo::Slide { .. }, Gizmo::Cone { largest: 0.5, .. }]
    ));
    assert!(frame.limits.iter().all(Gizmo::is_inside) && drawing.gauges.len() > 60);
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
    let (frame, _) = look(&mut session, &Show { limits: true, ..Show::default() });
    let Gizmo::Turn { frame: at, .. } = frame.limits[0] else { panic!("an arc") };
    let joint = session.world().joint("turns").expect("a joint").index();
    assert!(at.translation.distance(DVec3::X) < 1e-6, "{at:?}");
    assert!(at.translation.distance(frame.draw.points[joint].position) < 1e-6);
}

#[test]
fn height_fields_and_smooth_surfaces_are_drawn() {
    let mut session = opened(
        r#"(format: 1, bodies: [(name: "a", mass: Total(1), shapes: [Sphere(radius: 0.1)])],
        colliders: [(shape: HeightField(size: (4, 2), heights: [[0, 0.1, 0], [0.2, 0, 0.1]]))])"#,
    );
    let (_, drawing) = look(&mut session, &Show::default());
    assert_eq!(drawing.sheets.iter().map(|sheet| sheet.triangles.len()).sum::<usize>(), 4);
    let mut session = crate::common::session("mesh_56");
    let (frame, drawing) = look(&mut session, &Show::default());
    assert_eq!(drawing.sheets.len(), frame.draw.surfaces.len());
}
