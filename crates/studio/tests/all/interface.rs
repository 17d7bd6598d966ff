//! The interface without a display.

use std::fs;
use std::time::Duration;

use egui::accesskit::Role;
use egui::{Key, Modifiers, Pos2, vec2};
use egui_kittest::kittest::{NodeT, Queryable};
use glam::DVec3;
use sinew_studio::{Library, OpenScene, PickTarget, Session, SessionCommand};

use crate::common::{Window, fixture, folder, inline, session, steps, until, window};

/// Where the middle of a body is in the window.
fn place(window: &mut Window, body: &str) -> Pos2 {
    let session = inline(window);
    let point = session.world().pose(session.world().body(body).expect("a body")).translation;
    window.state().place(point).expect("in front of the eye")
}

#[test]
fn dragging_a_bone_moves_it_one_frame_later() {
    let mut window = window(session("hand"));
    let at = place(&mut window, "palm");
    window.key_press(Key::Space);
    steps(&mut window, 3);
    window.hover_at(at);
    window.step();
    let name = window.state().hover().map(|hit| hit.target);
    assert!(name.is_some(), "the palm is under the mouse");
    window.drag_at(at);
    window.step();
    let n = inline(&mut window).step();
    window.hover_at(at + vec2(60.0, -80.0));
    window.step();
    assert!(!inline(&mut window).timeline().grabs_at(n).is_empty(), "the press acts in the next step");
    window.step();
    let after = inline(&mut window).timeline().grabs_at(n + 1).to_vec();
    let before = inline(&mut window).timeline().grabs_at(n).to_vec();
    assert_ne!(after[0].grab.target, before[0].grab.target, "so does the move");
    steps(&mut window, 20);
    let moved = place(&mut window, "palm");
    let mut still = session("hand");
    let n_steps = inline(&mut window).step();
    (0..n_steps).for_each(|_| still.step_once());
    let body = still.world().body("palm").expect("a palm");
    let undisturbed = window.state().place(still.world().pose(body).translation).expect("in front");
    assert!((moved - undisturbed).dot(vec2(60.0, -80.0)) > 500.0, "{moved} {undisturbed}");
    window.drop_at(at);
    steps(&mut window, 2);
    let n = inline(&mut window).step();
    assert!(inline(&mut window).timeline().grabs_at(n - 1).is_empty(), "let go");
}

#[test]
fn rewinding_restores_the_digest() {
    let mut window = window(session("showcase"));
    window.get_by_label("Play").click();
    steps(&mut window, 40);
    window.key_press(Key::Space);
    steps(&mut window, 2);
    let (step, digest) = (window.state().snapshot().clock.step, window.state().snapshot().digest);
    assert!(step > 30);
    window.key_press(Key::Space);
    steps(&mut window, 25);
    window.get_by_label("Pause").click();
    steps(&mut window, 2);
    window.get_by_label("Start").click();
    steps(&mut window, 2);
    assert_eq!(window.state().snapshot().clock.step, 0);
    (0..step).for_each(|_| {
        window.key_press(Key::ArrowRight);
        window.step();
    });
    window.step();
    assert_eq!((window.state().snapshot().clock.step, window.state().snapshot().digest), (step, digest));
    assert!(window.state().snapshot().clock.n_steps > step);
    window.get_by_label("Branch here").click();
    steps(&mut window, 2);
    assert_eq!(window.state().snapshot().clock.n_steps, step);
}

#[test]
fn errors_are_shown_with_file_and_line_and_the_last_scene_goes_on() {
    let mut window = window(session("hand"));
    let invalid = fixture("hand").with_file_name("../invalid");
    let mut n = 0;
    for file in Library::of_folder(&invalid).scenes {
        window.state_mut().open_scene(&file.1);
        window.step();
        let fault = window.state_mut().engine().board(|board| board.fault.clone());
        let fault = fault.unwrap_or_else(|| panic!("{}: opened", file.0));
        assert!(fault.lines.iter().all(|line| line.contains(&file.0)), "{}: {fault}", file.0);
        n += 1;
    }
    assert!(n > 50);
    window.state_mut().open(&invalid.join("syntax.ron"));
    steps(&mut window, 3);
    assert!(window.query_by_label_contains("syntax.ron:").is_some());
    assert_eq!(window.state().snapshot().overview.name, "hand");
    window.get_by_label("Dismiss").click();
    steps(&mut window, 3);
    assert!(window.query_by_label("Dismiss").is_none());
    // garbage that is not even text
    let path = folder().join("garbage.ron");
    fs::write(&path, [0xff, 0xfe, 0x00, 0x80, b'(']).expect("a file");
    window.state_mut().open(&path);
    steps(&mut window, 2);
    assert!(window.query_by_label("Dismiss").is_some());
}

#[test]
fn a_watched_file_is_read_again_and_may_vanish() {
    let path = folder().join("watched.ron");
    let text = |n: u32| {
        let link = "link: (shapes: [Capsule(radius: 0.02, length: 0.2)]), joint: (kind: Hinge)";
        format!("(format: 1, name: \"watched\", generators: [Chain(n: {n}, {link})])")
    };
    fs::write(&path, text(3)).expect("a file");
    let mut window = window(Session::new(OpenScene::load(&path).expect("a good scene")));
    window.state_mut().watch(&path);
    window.hover_at(Pos2::new(640.0, 300.0));
    let camera = *window.state().orbit();
    steps(&mut window, 40);
    let delay = window.output().viewport_output[&egui::ViewportId::ROOT].repaint_delay;
    assert!(delay <= Duration::from_millis(500), "nobody else wakes the window: {delay:?}");
    fs::write(&path, text(12)).expect("a file");
    steps(&mut window, 40);
    assert_eq!(window.state().snapshot().overview.bodies.len(), 12);
    assert_eq!(*window.state().orbit(), camera, "the camera stays");
    fs::write(&path, "(format: 1, oops").expect("a file");
    steps(&mut window, 40);
    assert!(window.query_by_label("Dismiss").is_some());
    assert_eq!(window.state().snapshot().overview.bodies.len(), 12);
    fs::remove_file(&path).expect("it was there");
    steps(&mut window, 40);
    assert!(window.query_by_label_contains("the file is missing").is_some());
    fs::write(&path, text(5)).expect("a file");
    steps(&mut window, 40);
    assert_eq!(window.state().snapshot().overview.bodies.len(), 5);
}

#[test]
fn a_file_that_could_not_be_opened_is_opened_once_it_is_mended() {
    let path = folder().join("mended.ron");
    fs::write(&path, "(format: 1, oops").expect("a file");
    let mut window = window(session("hand"));
    window.key_press(Key::Space);
    steps(&mut window, 5);
    window.state_mut().open(&path);
    steps(&mut window, 40);
    assert_eq!(window.state().snapshot().overview.name, "hand");
    fs::write(&path, r#"(format: 1, name: "mended", bodies: [(name: "a", shapes: [Sphere(radius: 1)])])"#)
        .expect("a file");
    steps(&mut window, 40);
    assert_eq!(window.state().snapshot().overview.name, "mended");
    assert!(window.query_by_label("Dismiss").is_none());
}

#[test]
fn a_setting_that_is_refused_is_not_asked_for_again() {
    let text = r#"(format: 1, name: "arm", stepper: Reduced(), score: (phases: [(control: Passive)]),
        generators: [Chain(n: 3, link: (shapes: [Capsule(radius: 0.03, length: 0.2)]), joint: (kind: Hinge))])"#;
    let mut window = window(Session::new(OpenScene::from_text(text, "arm.ron").expect("a good scene")));
    for _ in 0..2 {
        window.get_by_label("Stepper").click();
        steps(&mut window, 3);
        window.get_by_label("Explicit").click();
        steps(&mut window, 3);
        assert!(window.query_by_label("Dismiss").is_some(), "a score wants joint coordinates");
        assert_eq!(window.get_by_label("Stepper").value().as_deref(), Some("Joint coordinates"));
    }
    window.get_by_label("Dismiss").click();
    steps(&mut window, 3);
    assert!(window.query_by_label("Dismiss").is_none());
}

#[test]
fn no_size_of_the_window_breaks_it() {
    let mut window = window(session("worm"));
    window.key_press(Key::Space);
    for (width, height) in [(0.0, 0.0), (1.0, 1.0), (3000.0, 2.0), (2.0, 3000.0), (1280.0, 800.0)] {
        window.set_size(vec2(width, height));
        window.hover_at(Pos2::new(0.5 * width, 0.5 * height));
        window.drag_at(Pos2::new(0.5 * width, 0.5 * height));
        window.step();
        window.drop_at(Pos2::new(0.0, 0.0));
        steps(&mut window, 2);
    }
    assert!(window.state().snapshot().clock.step > 10);
    assert!(window.state().drawing().surfaces[0].points.len() > 100);
}

#[test]
fn skin_beside_a_bone_is_taken_by_that_bone() {
    let mut window = window(session("worm"));
    let session = inline(&mut window);
    let bone = session.world().body("worm_bone_3").expect("a bone");
    // The top of the skin above the bone, which no ray to the bone passes.
    let top = session.world().pose(bone).translation + DVec3::Z * 0.05;
    let at = window.state().place(top).expect("in front of the eye");
    window.hover_at(at);
    window.step();
    assert_eq!(window.state().hover().map(|hit| hit.target), Some(PickTarget::Body(bone)));
    window.key_press(Key::Space);
    window.drag_at(at);
    window.step();
    let n = inline(&mut window).step();
    window.hover_at(at + vec2(0.0, -60.0));
    steps(&mut window, 2);
    let holds = inline(&mut window).timeline().grabs_at(n);
    assert_eq!(holds.first().map(|hold| hold.grab.body), Some(bone), "{holds:?}");
}

#[test]
fn dragging_while_the_state_is_not_finite_only_stops_time() {
    let mut window = window(session("hand"));
    let at = place(&mut window, "palm");
    window.key_press(Key::Space);
    steps(&mut window, 2);
    let grab = crate::common::soft(inline(&mut window), "palm", DVec3::splat(1e200));
    let wild = sinew_sim::Grab { stiffness: 1e300, ..grab };
    window.state_mut().engine().send(SessionCommand::Hold(vec![wild]));
    steps(&mut window, 5);
    assert!(window.query_by_label_contains("no longer finite").is_some());
    window.drag_at(at);
    window.step();
    window.hover_at(at + vec2(50.0, 50.0));
    steps(&mut window, 3);
    window.drop_at(at);
    steps(&mut window, 3);
    window.key_press(Key::Home);
    steps(&mut window, 3);
    assert!(window.query_by_label_contains("no longer finite").is_none());
    assert_eq!(window.state().snapshot().clock.step, 0);
    assert!(window.state().drawing().solids.iter().all(|at| at.pose.is_finite()));
}

#[test]
fn what_was_done_is_saved_and_pictures_are_written() {
    let mut window = window(session("hand"));
    window.key_press(Key::Space);
    steps(&mut window, 20);
    window.key_press(Key::Space);
    window.key_press_modifiers(Modifiers::COMMAND, Key::S);
    steps(&mut window, 2);
    let path = folder().join("hand_done.ron");
    let mut replay = Session::new(OpenScene::load(&path).expect("it was saved"));
    let n = inline(&mut window).timeline().n_steps();
    (0..n).for_each(|_| replay.step_once());
    assert_eq!(replay.world().digest(), window.state().snapshot().digest);
    window.get_by_label("PNG").click();
    window.get_by_label("GIF").click();
    steps(&mut window, 2);
    until(&mut window, |window| window.query_by_label("GIF").is_some());
    let starts = |ending: &str, magic: &[u8]| {
        fs::read(folder().join(format!("hand{ending}"))).is_ok_and(|bytes| bytes.starts_with(magic))
    };
    assert!(starts(".png", b"\x89PNG") && starts(".gif", b"GIF89a"));
    assert_eq!(window.state().snapshot().clock.step, n);
}

#[test]
fn shortcuts_are_listed_and_the_coarse_mesh_is_shown() {
    let mut window = window(session("worm"));
    assert!(window.query_by_label_contains("push it away").is_none());
    window.key_press(Key::F1);
    steps(&mut window, 2);
    assert!(window.query_by_label_contains("push it away").is_some());
    assert!(window.state().drawing().nodes.is_empty());
    window.key_press(Key::M);
    steps(&mut window, 3);
    let overview = window.state().snapshot().overview.clone();
    let drawing = window.state().drawing();
    assert!(drawing.surfaces.is_empty());
    assert_eq!(drawing.nodes.len(), overview.looks.flesh[0].nodes.len());
    let black = drawing.nodes.iter().filter(|ball| ball.color.iter().all(|&part| part < 0.2)).count();
    assert_eq!(black, overview.looks.flesh[0].nodes.iter().filter(|node| node.1).count());
}

#[test]
fn settings_change_the_run_from_now_on() {
    let mut window = window(session("showcase"));
    window.key_press(Key::Space);
    steps(&mut window, 10);
    let wanted = sinew_scene::ChangeDoc { gravity: Some(DVec3::ZERO), ..Default::default() };
    window
        .state_mut()
        .engine()
        .send(SessionCommand::Tune { wanted: Box::new(wanted), since: Default::default() });
    steps(&mut window, 10);
    assert_eq!(inline(&mut window).world().settings().gravity, DVec3::ZERO);
    assert_eq!(inline(&mut window).timeline().changes().len(), 2);
    window.key_press(Key::Home);
    steps(&mut window, 2);
    assert_ne!(inline(&mut window).world().settings().gravity, DVec3::ZERO);
}

#[test]
fn cameras_are_chosen_from_a_list_and_kept() {
    let mut window = window(session("gravity_turned"));
    steps(&mut window, 2);
    let before = *window.state().orbit();
    window.get_by_label("front").click();
    steps(&mut window, 3);
    let eye = window.state().orbit().eye();
    assert!(eye.distance(DVec3::new(0.15, -4.6, 0.0)) < 1e-9 && *window.state().orbit() != before, "{eye}");
    window.get_by_label("Add camera").click();
    steps(&mut window, 3);
    window.key_press(Key::Space);
    steps(&mut window, 5);
    let saved = inline(&mut window).recorded_scene().expect("it can be saved");
    assert_eq!(saved.cameras.len(), 2);
    assert_eq!(saved.cameras[1].name, "view_1");
    assert!(saved.cameras[1].from.distance(eye) < 1e-9);
    assert!(window.query_by_label("view_1").is_some());
}

#[test]
fn everything_is_seen_where_it_is_now() {
    let text = r#"(format: 1, name: "away", gravity: (0, 0, 0), bodies: [(name: "a", shapes: [Sphere(radius: 0.1)],
        velocity: (linear: (30, 0, 0)))])"#;
    let mut window = window(Session::new(OpenScene::from_text(text, "away.ron").expect("a good scene")));
    window.key_press(Key::Space);
    steps(&mut window, 30);
    window.key_press(Key::F);
    steps(&mut window, 2);
    let a = inline(&mut window).world().pose(sinew_sim::BodyId::from_index(0)).translation;
    assert!(a.x > 5.0 && window.state().orbit().target.distance(a) < 2.0, "{a}");
}

#[test]
fn every_control_has_a_tooltip() {
    let text = r#"(format: 1, name: "arm", stepper: Reduced(), score: (phases: [(control: Passive)]),
        generators: [Chain(n: 3, link: (shapes: [Capsule(radius: 0.03, length: 0.2)]), joint: (kind: Hinge))])"#;
    let mut window = window(Session::new(OpenScene::from_text(text, "arm.ron").expect("a good scene")));
    window.set_size(vec2(1400.0, 3600.0));
    window.ctx.all_styles_mut(|style| {
        style.interaction.tooltip_delay = 0.0;
        style.interaction.show_tooltips_only_when_still = false;
    });
    window.get_by_label("Add keyframe").click();
    steps(&mut window, 4);
    let roles = [Role::Button, Role::CheckBox, Role::Slider, Role::SpinButton, Role::ComboBox];
    // Names in the legend of the plot hide curves; they are the plot's own.
    let legend = ["kinetic", "gravity", "elastic", "total"].map(|name| Some(name.to_owned()));
    let controls: Vec<(String, Pos2)> = window
        .root()
        .children_recursive()
        .filter(|node| roles.contains(&node.accesskit_node().role()))
        .filter(|node| !legend.contains(&node.accesskit_node().label()))
        .map(|node| {
            (
                format!("{:?} {:?}", node.accesskit_node().role(), node.accesskit_node().label()),
                node.rect().center(),
            )
        })
        .collect();
    assert!(controls.len() > 40, "{}", controls.len());
    for (name, at) in controls {
        window.hover_at(Pos2::new(700.0, 2.0));
        steps(&mut window, 3);
        let before = window.root().children_recursive().count();
        window.hover_at(at);
        steps(&mut window, 3);
        assert!(window.root().children_recursive().count() > before, "{name} at {at} has no tooltip");
    }
}
