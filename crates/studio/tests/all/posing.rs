//! Characters in flesh that are taken by their skin and posed while time stands still.

use egui::{Event, Modifiers, PointerButton, Pos2};
use glam::DVec3;
use sinew_scene::{ControlDoc, SceneDoc};
use sinew_sim::Grab;
use sinew_studio::{ControlChoice, PickTarget, Session, SessionCommand, Snapshot, control_at, key};

use crate::common::{Window, inline, session, soft, window};

fn right_click(window: &mut Window, pos: Pos2, modifiers: Modifiers) {
    window.hover_at(pos);
    window.step();
    for pressed in [true, false] {
        window.event_modifiers(
            Event::PointerButton { pos, button: PointerButton::Secondary, pressed, modifiers },
            modifiers,
        );
        window.step();
    }
    window.step();
}

#[test]
fn a_right_click_on_skin_pins_the_nearest_bone() {
    let mut window = window(session("worm"));
    let session = inline(&mut window);
    let bone = session.world().body("worm_bone_3").expect("a bone");
    // The top of the skin above the bone, which no ray to the bone passes.
    let top = session.world().pose(bone).translation + DVec3::Z * 0.05;
    let at = window.state().place(top).expect("in front of the eye");
    right_click(&mut window, at, Modifiers::NONE);
    let hit = *window.state().hover().expect("skin is under the mouse");
    assert_eq!(hit.target, PickTarget::Body(bone));
    let pins: Vec<_> = inline(&mut window).pins().copied().collect();
    assert_eq!(pins.len(), 1, "{pins:?}");
    assert_eq!(pins[0].body, bone);
    assert!(pins[0].target.distance(hit.point) < 1e-9, "where the skin was clicked: {pins:?} {hit:?}");
    right_click(&mut window, at, Modifiers::NONE);
    assert_eq!(inline(&mut window).pins().count(), 0, "another right click lets it go");
    right_click(&mut window, at, Modifiers::SHIFT);
    let pins: Vec<_> = inline(&mut window).pins().copied().collect();
    assert!(pins.len() == 3 && pins.iter().all(|pin| pin.body == bone), "with its orientation: {pins:?}");
    // It holds there while the rest of the worm falls and wriggles.
    window.key_press(egui::Key::Space);
    (0..30).for_each(|_| window.step());
    let world = inline(&mut window).world();
    let gap = |pin: &Grab| world.pose(bone).transform_point(pin.point).distance(pin.target);
    let gaps: Vec<f64> = pins.iter().map(gap).collect();
    assert!(world.time() > 0.3 && gaps.iter().all(|&gap| gap < 1e-3), "{gaps:?}");
}

/// Largest distance between neighbours on the skin, over that at rest.
fn stretch(session: &Session, snapshot: &mut Snapshot) -> f64 {
    session.fill(snapshot);
    let (card, flesh) = (&snapshot.overview.looks.flesh[0], &snapshot.visible.list.flesh[0]);
    let edges = flesh.triangles.iter().flat_map(|&[a, b, c]| [(a, b), (b, c), (c, a)]);
    let stretch = |(a, b): (u32, u32)| {
        let [a, b] = [a as usize, b as usize];
        flesh.points[a].distance(flesh.points[b]) / card.rest[a].distance(card.rest[b])
    };
    edges.map(stretch).fold(0.0, f64::max)
}

/// The same for points of the surface that touches, each with those that are about as near as its nearest one.
fn surface_stretch(session: &Session) -> f64 {
    let world = session.world();
    let body = &world.model().flesh().expect("flesh").bodies()[0];
    let (mut rest, mut posed) = (Vec::new(), Vec::new());
    body.fill_surface(body.fem().mesh().positions(), &mut rest);
    body.fill_surface(&world.state().flesh.nodes[0].positions, &mut posed);
    let mut largest = 0.0_f64;
    for a in 0..rest.len() {
        let others = || (0..rest.len()).filter(|&b| b != a);
        let nearest = others().map(|b| rest[a].distance(rest[b])).fold(f64::INFINITY, f64::min);
        for b in others().filter(|&b| rest[a].distance(rest[b]) < 1.5 * nearest) {
            largest = largest.max(posed[a].distance(posed[b]) / rest[a].distance(rest[b]));
        }
    }
    largest
}

#[test]
fn posing_flesh_does_not_tear_it_and_leaves_the_run_alone() {
    for (name, body, off) in [
        ("worm", "worm_bone_6", DVec3::new(-0.15, 0.0, 0.25)),
        ("fish", "fish_bone_6", DVec3::new(0.05, 0.1, 0.0)),
        ("hand_flesh", "hand_index_far", DVec3::new(-0.04, 0.0, -0.05)),
    ] {
        let mut session = session(name);
        (0..12).for_each(|_| session.step_once());
        let before = session.world().checkpoint();
        session.step_once();
        let next = session.world().digest();
        session.seek(12);
        let id = session.world().body(body).expect("a bone");
        let start = session.world().pose(id).translation;
        let mut snapshot = Snapshot::default();
        for share in [0.3, 0.6, 1.0] {
            session.hold(&[soft(&session, body, start + off * share)]);
            let posed = session.world().pose(id).translation;
            assert!(posed.distance(start + off * share) < 1e-6, "{name}: {posed}");
            // The fins that are drawn of the fish are thinner than its tetrahedra, and stretch more than its surface.
            let drawn = stretch(&session, &mut snapshot);
            let stretch = if name == "fish" { surface_stretch(&session) } else { drawn };
            assert!(snapshot.is_posed && stretch < 2.5, "{name}: {stretch}");
        }
        session.hold(&[]);
        assert!(session.world().state().flesh != before.flesh);
        session.step_once();
        assert_eq!((session.step(), session.world().digest()), (13, next), "{name} goes on as it did");
        session.seek(12);
        assert_eq!(*session.world().state(), before, "{name} is where it was");
    }
}

#[test]
fn dragging_a_finger_of_a_pinned_hand_out_of_reach_moves_that_finger() {
    let mut session = session("hand_flesh");
    let palm = session.world().body("hand_palm").expect("a palm");
    session.pin(palm, &[DVec3::ZERO, DVec3::X * 0.03, DVec3::Y * 0.03]);
    let tip = session.world().body("hand_index_far").expect("a finger");
    let (start, before) = (session.world().pose(tip).translation, session.world().pose(palm));
    // Sideways, which no finger bends.
    let off = DVec3::new(-0.04, 0.01, -0.05);
    for k in 1..=10 {
        let goal = start + off * (0.1 * f64::from(k));
        session.hold(&[soft(&session, "hand_index_far", goal)]);
        assert!(session.world().pose(tip).translation.distance(goal) < 0.015);
    }
    let model = session.world().mechanism();
    for joint in model.joints() {
        let (name, angle) = (model.joint_name(joint), session.world().reading(joint).twist);
        assert!(angle.abs() < if name.contains("index") { 2.0 } else { 0.3 }, "{name} is at {angle}");
    }
    let moved = session.world().pose(palm).translation.distance(before.translation);
    assert!(moved < 0.01 && session.world().pose(tip).translation.distance(start) > 0.05, "{moved}");
    assert!(stretch(&session, &mut Snapshot::default()) < 2.5);
}

#[test]
fn a_pose_made_in_flesh_becomes_a_keyframe_that_is_reached() {
    let mut session = session("worm_jump");
    let head = session.world().body("worm_bone_6").expect("a head");
    let goal = session.world().pose(head).translation + DVec3::new(-0.15, 0.0, 0.25);
    session.hold(&[soft(&session, "worm_bone_6", goal)]);
    let mut snapshot = Snapshot::default();
    let stretch = stretch(&session, &mut snapshot);
    assert!(stretch < 2.0, "{stretch}");
    let stored = key(&snapshot.overview, &snapshot.readings, 0.5);
    let posed: Vec<f64> = snapshot.readings.iter().map(|reading| reading.twist).collect();
    assert!(posed.iter().any(|angle| angle.abs() > 0.2), "{posed:?}");
    session.hold(&[]);
    let control = ControlChoice::Keyframes.control(&[], std::slice::from_ref(&stored));
    session.execute(SessionCommand::Direct(Box::new(control))).expect("keyframes can be played");
    (0..1500).for_each(|_| session.step_once());
    session.fill(&mut snapshot);
    for (joint, reading) in snapshot.readings.iter().enumerate().skip(1) {
        assert!((reading.twist - posed[joint]).abs() < 1e-3, "{joint}: {} {}", reading.twist, posed[joint]);
    }
    let saved = session.recorded_scene().expect("it can be saved");
    let loaded = SceneDoc::from_ron(&saved.to_ron(), "saved.ron").expect("what was saved can be read");
    let now = control_at(&loaded, session.world().time());
    assert!(matches!(now, Some(ControlDoc::Keyframes(frames)) if frames.keys == [stored]));
}
