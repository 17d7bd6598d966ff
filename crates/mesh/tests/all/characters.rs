//! Characters at the sizes of KP08 Table 2, and the hand.

use glam::DVec3;
use sinew_math::JointKind;
use sinew_mesh::characters::{
    Character, CharacterBone, finger, fish, hand, hold_by_distance, worm, worm_with_cells,
};
use sinew_mesh::{Surface, TetMesh};
use sinew_testkit::assert_close;

/// Bones, actuators, nodes, tetrahedra, vertices, triangles within a tenth of what is wanted.
fn check(character: &Character, wanted: [usize; 6]) {
    let flesh = &character.flesh;
    let surface = flesh.surface();
    let found = [
        character.bones.len(),
        character.n_actuators(),
        flesh.nodes().len(),
        flesh.tets().len(),
        surface.positions().len(),
        surface.triangles().len(),
    ];
    assert_eq!(found[..2], wanted[..2], "{}", character.name);
    for (found, wanted) in found.iter().zip(wanted) {
        let error = (*found as f64 / wanted as f64 - 1.0).abs();
        assert!(error <= 0.1, "{}: {found} is not {wanted} within a tenth", character.name);
    }
    check_consistent(character);
}

/// Everything refers to something that exists and lies where it should.
fn check_consistent(character: &Character) {
    let Character { bones, joints, flesh, holds, .. } = character;
    Surface::new(flesh.surface().positions().to_vec(), flesh.surface().triangles().to_vec()).unwrap();
    TetMesh::new(flesh.nodes().to_vec(), flesh.tets().to_vec()).unwrap();
    assert_eq!(holds.len(), flesh.nodes().len());
    assert_eq!(*holds, {
        let reach = holds.iter().zip(flesh.nodes()).filter(|(hold, _)| hold.fixed);
        let reach = reach.map(|(hold, &x)| bones[hold.bone as usize].distance(x)).fold(0.0, f64::max);
        hold_by_distance(flesh, bones, reach)
    });
    assert!(character.n_held() > 0 && character.n_held() < holds.len());
    assert_eq!(flesh.quality().n_pieces, 1);
    for joint in joints {
        assert!((joint.axis.length() - 1.0).abs() < 1e-6);
        let child = &bones[joint.child as usize];
        assert!(
            child.ends()[0].distance(joint.anchor) < 1e-5,
            "{} is not where {} begins",
            joint.name,
            child.name
        );
        assert!(joint.parent.is_none_or(|parent| parent < joint.child));
        assert!(joint.limits.is_none_or(|[lo, hi]| lo <= 0.0 && hi > 0.0));
    }
    let mut names: Vec<&str> = bones.iter().map(|bone| bone.name.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), bones.len());
}

#[test]
fn characters_have_the_sizes_of_the_paper() {
    check(&worm(), [7, 6, 224, 714, 262, 520]);
    check(&fish(), [7, 6, 107, 415, 958, 1912]);
    check(&finger(), [5, 7, 52, 119, 150, 296]);
    assert_eq!(worm().flesh.surface().positions().len(), 262);
}

#[test]
fn every_bone_of_worm_and_fish_holds_flesh() {
    for character in [worm(), fish()] {
        for bone in 0..character.bones.len() as u32 {
            let holds = character.holds.iter().any(|hold| hold.fixed && hold.bone == bone);
            assert!(holds, "bone {bone} of the {} holds nothing", character.name);
        }
    }
}

#[test]
fn a_fine_worm_is_the_same_worm() {
    let (coarse, fine) = (worm(), worm_with_cells([60, 15, 15]));
    assert!(fine.flesh.tets().len() > 60_000, "{}", fine.flesh.tets().len());
    assert_eq!(coarse.flesh.surface(), fine.flesh.surface());
    assert_close!(coarse.flesh.quality().mass / fine.flesh.quality().mass, 1.0, 0.05);
}

#[test]
fn bones_point_from_end_to_end() {
    for ends in
        [[DVec3::ZERO, DVec3::X], [DVec3::ONE, DVec3::ZERO], [DVec3::X, DVec3::ZERO], [DVec3::Y, -DVec3::Y]]
    {
        let bone = CharacterBone::between("bone", ends, 0.1);
        assert_close!(bone.ends()[0], ends[0], 1e-15);
        assert_close!(bone.ends()[1], ends[1], 1e-15);
        let aside = (ends[1] - ends[0]).normalize().any_orthonormal_vector();
        assert_close!(bone.distance(ends[1] + aside * 0.25), 0.25, 1e-15);
        assert_close!(
            bone.distance(ends[1] + (ends[1] - ends[0]) * 2.0),
            2.0 * ends[0].distance(ends[1]),
            1e-14
        );
    }
}

/// No node belongs to a bone of another finger than the skin that its tetrahedra carry.
#[test]
fn fingers_are_not_grown_together() {
    let hand = hand();
    let finger = |bone: u32| hand.bones[bone as usize].name.split('_').next().unwrap_or("").to_owned();
    let tip = |x: DVec3| x.x > 0.07;
    let nearest = |x: DVec3| {
        let by = |a: &u32, b: &u32| {
            hand.bones[*a as usize].distance(x).total_cmp(&hand.bones[*b as usize].distance(x))
        };
        (0..16).min_by(by).unwrap()
    };
    for (anchor, &x) in
        hand.flesh.surface_points().iter().zip(hand.flesh.surface().positions()).filter(|(_, x)| tip(**x))
    {
        let nodes = hand.flesh.tets()[anchor.tet as usize];
        // tetrahedra well beyond the knuckles belong to one finger
        if nodes.iter().all(|&node| tip(hand.flesh.nodes()[node as usize])) {
            for node in nodes {
                assert_eq!(
                    finger(hand.holds[node as usize].bone),
                    finger(nearest(x)),
                    "node {node} at the skin {x}"
                );
            }
        }
    }
}

/// The bones are those of the fixture.
#[cfg(feature = "serde")]
#[test]
fn the_hand_fits_the_fixture() {
    #[derive(serde::Deserialize)]
    struct Scene {
        bodies: Vec<Body>,
        joints: Vec<Hinge>,
    }
    #[derive(serde::Deserialize)]
    struct Body {
        name: String,
        pose: Place,
    }
    #[derive(serde::Deserialize)]
    struct Place {
        position: DVec3,
        #[serde(default)]
        rotation: Option<Turn>,
    }
    #[derive(serde::Deserialize)]
    enum Turn {
        Vector(f64, f64, f64),
    }
    #[derive(serde::Deserialize)]
    struct Hinge {
        name: String,
        frames: Frames,
        limits: Limits,
    }
    #[derive(serde::Deserialize)]
    struct Limits {
        min: f64,
        max: f64,
    }
    #[derive(serde::Deserialize)]
    enum Frames {
        World { anchor: DVec3, axis: DVec3 },
    }
    let text = include_str!("../../../../fixtures/mechanisms/hand.ron");
    let options = ron::Options::default().with_default_extension(ron::extensions::Extensions::IMPLICIT_SOME);
    let scene: Scene = options.from_str(text).unwrap();
    let hand = hand();
    assert_eq!(hand.bones.len(), scene.bodies.len());
    for (bone, body) in hand.bones.iter().zip(&scene.bodies) {
        assert_eq!(bone.name, body.name);
        assert_close!(bone.pose.translation, body.pose.position, 1e-12);
        let Turn::Vector(x, y, z) = body.pose.rotation.as_ref().unwrap_or(&Turn::Vector(0.0, 0.0, 0.0));
        let rotation = sinew_math::exp_so3(DVec3::new(*x, *y, *z));
        assert!(bone.pose.rotation.dot(rotation).abs() > 1.0 - 1e-12);
    }
    for (joint, hinge) in hand.joints.iter().zip(&scene.joints) {
        let Frames::World { anchor, axis } = hinge.frames;
        assert_eq!(joint.name, hinge.name);
        assert_eq!(joint.limits, Some([hinge.limits.min, hinge.limits.max]));
        assert!(joint.anchor.distance(anchor) < 1e-5 && joint.axis.distance(axis) < 1e-5, "{}", joint.name);
    }
}

#[test]
fn the_hand_has_flesh_around_every_bone() {
    let hand = hand();
    check_consistent(&hand);
    assert!((2000..8000).contains(&hand.flesh.tets().len()), "{}", hand.flesh.tets().len());
    assert_eq!(hand.joints.iter().filter(|joint| joint.kind == JointKind::Hinge).count(), 15);
    for bone in 0..16 {
        assert!(
            hand.holds.iter().any(|hold| hold.fixed && hold.bone == bone),
            "{}",
            hand.bones[bone as usize].name
        );
    }
}

#[test]
fn what_is_seen_of_a_bone_is_inside_its_flesh() {
    let hand = hand();
    let palm = &hand.bones[0];
    let surface = hand.flesh.surface();
    let outside = |x: DVec3| surface.positions().iter().map(|&y| y.distance(x)).fold(f64::INFINITY, f64::min);
    assert_eq!(palm.seen.len(), 4);
    for (pose, shape) in &palm.seen {
        let sinew_math::Shape::Capsule { length, radius } = *shape else { panic!("a capsule") };
        for k in -4..=4 {
            let x = palm.pose.compose(pose).transform_point(DVec3::X * (0.125 * f64::from(k) * length));
            assert!(outside(x) > radius, "{x} is {} m from the skin", outside(x));
        }
    }
}

#[test]
fn the_look_of_the_fish_is_carried_by_its_tetrahedra() {
    let fish = fish();
    let look = fish.look.as_ref().expect("the fish has a look");
    let places = fish.flesh.places(&look.positions);
    for (place, &x) in places.iter().zip(&look.positions) {
        assert_close!(fish.flesh.mesh().point(place, fish.flesh.nodes()), x, 1e-12);
        // fins may stick out of the tetrahedra, but not by much
        assert!(place.weights.iter().all(|weight| *weight > -0.5), "{x} is far outside: {:?}", place.weights);
    }
    assert!(look.triangles.iter().flatten().all(|&i| (i as usize) < places.len()));
}
