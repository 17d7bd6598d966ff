//! Scratch.
use std::path::Path;
use glam::DVec3;
use sinew_studio::{Engine, Library, Shot, Studio, Session};
use sinew_sim::Grab;
use crate::common::session;

fn pictures(name: &str, holds: &[(&str, DVec3, DVec3)], file: &str) {
    let mut session = session(name);
    let t = std::time::Instant::now();
    let grabs: Vec<Grab> = holds.iter().map(|&(body, point, off)| {
        let body = session.world().body(body).expect(body);
        Grab { body, point, target: session.world().pose(body).transform_point(point) + off, stiffness: 50.0, damping: 2.0 }
    }).collect();
    session.hold(&grabs);
    eprintln!("{file} first {:?}", t.elapsed());
    let t = std::time::Instant::now();
    for i in 0..20 {
        let grabs: Vec<Grab> = grabs.iter().map(|g| Grab { target: g.target + DVec3::Z * 0.0005 * f64::from(i % 2), ..*g }).collect();
        session.hold(&grabs);
    }
    eprintln!("each {:?}", t.elapsed() / 20);
    for joint in session.world().model().joints() {
        let r = session.world().reading(joint).twist;
        if r.abs() > 0.1 { eprint!(" {}={r:.2}", session.world().model().joint_name(joint)); }
    }
    eprintln!();
    shoot(session, file);
}
fn shoot(session: Session, file: &str) {
    let mut studio = Studio::new(Engine::inline(session), Library::default(), Path::new("."));
    let mut shot = Shot::new(1200, 800).expect("a size");
    for _ in 0..3 { shot.show(&mut studio, 0.0, Vec::new()); }
    let image = shot.show(&mut studio, 0.0, Vec::new());
    let mut out = std::fs::File::create(file.replace("png", "ppm")).unwrap();
    use std::io::Write;
    write!(out, "P6\n{} {}\n255\n", image.width(), image.height()).unwrap();
    for p in image.pixels() { out.write_all(p).unwrap(); }
}

#[test]
fn pictures_here() {
    pictures("worm", &[("worm_bone_1", DVec3::ZERO, DVec3::ZERO), ("worm_bone_3", DVec3::ZERO, DVec3::ZERO), ("worm_bone_6", DVec3::X*0.05, DVec3::new(-0.2, 0.0, 0.3))], "/tmp/p_worm.png");
    pictures("hand_flesh", &[("hand_index_far", DVec3::ZERO, DVec3::new(-0.04, 0.0, -0.05))], "/tmp/p_hand.png");
    pictures("hand_flesh", &[("hand_palm", DVec3::ZERO, DVec3::ZERO), ("hand_index_far", DVec3::ZERO, DVec3::new(-0.04, 0.0, -0.05))], "/tmp/p_hand2.png");
    pictures("hand_flesh", &[("hand_palm", DVec3::ZERO, DVec3::ZERO),("hand_palm", DVec3::X * 0.03, DVec3::ZERO),("hand_palm", DVec3::Y * 0.03, DVec3::ZERO), ("hand_index_far", DVec3::ZERO, DVec3::new(-0.04, 0.0, -0.05))], "/tmp/p_hand3.png");
}
