//! Any sequence of edits of rigid parts gives the model, the first state and the looks that compiling the edited scene gives, to the last digit;
//! an edit that fails leaves no trace.

use glam::DVec3;
use sinew_scene::JointKind;
use sinew_sim::{
    BodyDoc, ColliderDoc, EditableScene, EndDoc, Handle, JointDoc, Pose, SceneDoc, ScenePart, Shape,
    ShapeDoc, SurfaceDoc, World,
};
use sinew_testkit::Rng;

/// A body whose frame is not at its centre of mass, with one or two shapes; most touch.
pub(crate) fn random_body(rng: &mut Rng, name: &str) -> BodyDoc {
    let at = Pose::new(rng.rotation(), rng.vec3(-3.0, 3.0) + DVec3::Z * 6.0);
    let placed = |solid: Shape, at: DVec3| ShapeDoc { at: Pose::from_translation(at).into(), ..solid.into() };
    let mut body = BodyDoc::new(name).at(at);
    body.shapes.push(placed(Shape::Box { size: rng.vec3(0.1, 0.4) }, rng.vec3(-0.2, 0.2)));
    if rng.chance(0.5) {
        body.shapes.push(placed(Shape::Sphere { radius: rng.uniform(0.05, 0.2) }, rng.vec3(-0.2, 0.2)));
    }
    if rng.chance(0.7) { body.touching() } else { body }
}

fn pick<P: ScenePart>(rng: &mut Rng, scene: &EditableScene) -> Option<Handle<P>> {
    let all: Vec<Handle<P>> = scene.parts::<P>().map(|(handle, _)| handle).collect();
    (!all.is_empty()).then(|| all[rng.below(all.len())])
}

fn name_of_body(rng: &mut Rng, scene: &EditableScene) -> String {
    let body = pick::<BodyDoc>(rng, scene).and_then(|body| scene.get(body));
    body.map_or_else(|| "nobody".to_owned(), |body| body.name.clone())
}

/// A change at random; some of them break a rule.
pub(crate) fn change(rng: &mut Rng, scene: &mut EditableScene) {
    match rng.below(10) {
        0..=2 => {
            let name = if rng.chance(0.1) { name_of_body(rng, scene) } else { String::new() };
            scene.insert(random_body(rng, &name));
        }
        3 => {
            let (child, parent) = (name_of_body(rng, scene), name_of_body(rng, scene));
            let kind = [JointKind::Ball, JointKind::Hinge, JointKind::Fixed][rng.below(3)];
            let joint = JointDoc::new(kind, "", &child).at(rng.vec3(-1.0, 1.0)).axis(rng.unit_vec());
            scene.insert(if rng.chance(0.7) { joint.parent(&parent) } else { joint });
        }
        4 => {
            let collider = ColliderDoc::solid(Shape::Sphere { radius: rng.uniform(0.1, 0.3) });
            let body = name_of_body(rng, scene);
            scene.insert(if rng.chance(0.6) { collider.on(&body) } else { collider });
        }
        5 => {
            if let Some(handle) = pick::<BodyDoc>(rng, scene)
                && let Some(old) = scene.get(handle).cloned()
            {
                let name = if rng.chance(0.3) { format!("{}_again", old.name) } else { old.name };
                let new = random_body(rng, &name);
                let stays = rng.chance(0.5);
                let (pose, velocity) =
                    if stays { (old.pose, old.velocity) } else { (new.pose, new.velocity) };
                scene.replace(handle, BodyDoc { pose, velocity, ..new });
            }
        }
        6 | 7 => drop(pick::<BodyDoc>(rng, scene).and_then(|body| scene.remove(body))),
        8 => drop(pick::<JointDoc>(rng, scene).and_then(|joint| scene.remove(joint))),
        _ => drop(pick::<ColliderDoc>(rng, scene).and_then(|collider| scene.remove(collider))),
    }
}

/// What a world is made of, in words.
fn written(world: &World) -> [String; 3] {
    let mut start = world.clone();
    start.reset();
    [format!("{:?}", world.model()), format!("{:?}", start.checkpoint()), format!("{:?}", world.appearance())]
}

#[test]
fn edits_give_what_compiling_the_edited_scene_gives() {
    let (mut n_edits, mut n_refused) = (0, 0);
    for seed in 0..12 {
        let mut rng = Rng::new(seed);
        let scene = SceneDoc::new("edits").with(ColliderDoc::floor(0.0)).with(random_body(&mut rng, "first"));
        let mut world = World::from_scene(&scene).expect("a good scene");
        for _ in 0..25 {
            let before = (written(&world), world.to_scene(), world.digest());
            let n_changes = 1 + rng.below(3);
            let outcome = world.edit(|scene| (0..n_changes).for_each(|_| change(&mut rng, scene)));
            let edited = world.to_scene().expect("a world of a scene");
            if outcome.is_ok() {
                n_edits += 1;
                let compiled = World::from_scene(&edited).expect("it compiled before");
                assert_eq!(written(&world), written(&compiled), "seed {seed}");
            } else {
                n_refused += 1;
                assert_eq!((written(&world), Some(edited), world.digest()), before, "seed {seed}");
            }
            world.step();
        }
    }
    assert!(n_edits > 150 && n_refused > 20, "{n_edits} edits, {n_refused} refused");
}

/// A surface that is only drawn has no effect but that edits compile the whole scene.
fn drawn() -> SurfaceDoc {
    let points = [DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::new(1.0, 1.0, 0.0)].map(EndDoc::World).to_vec();
    SurfaceDoc { name: "drawn".to_owned(), points, columns: 2, ..SurfaceDoc::default() }
}

#[test]
fn worlds_run_on_with_the_same_bits_whether_edits_compile_all_or_what_they_touch() {
    for seed in 0..4 {
        let mut rng = Rng::new(100 + seed);
        let scene = SceneDoc::new("edits").with(ColliderDoc::floor(0.0)).with(random_body(&mut rng, "first"));
        let mut worlds = [scene.clone(), scene.with(drawn())]
            .map(|scene| World::from_scene(&scene).expect("a good scene"));
        for frame in 0..160 {
            let changes = rng.next_u64();
            let is_edited = frame % 4 == 0;
            let outcomes = worlds.each_mut().map(|world| {
                let mut rng = Rng::new(changes);
                let outcome = is_edited.then(|| world.edit(|scene| change(&mut rng, scene)).is_ok());
                world.step();
                outcome
            });
            let [a, b] = worlds.each_ref().map(World::digest);
            assert!(outcomes[0] == outcomes[1] && a == b, "seed {seed}, frame {frame}, {outcomes:?}");
        }
    }
}
