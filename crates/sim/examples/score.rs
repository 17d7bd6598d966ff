//! A character with a score: two arms hold a bar, which closes a loop, and lead it up, round and back, in steps of 1/60 s.

use sinew_sim::sinew_scene::{
    ControlDoc, GoalDoc, GuideDoc, KeyDoc, KeyframesDoc, PhaseDoc, ScoreDoc, WantDoc,
};
use sinew_sim::{
    BodyDoc, BuildError, CurveDoc, DVec3, JointDoc, JointKind, SceneDoc, ShapeDoc, TrackDoc, World,
};

/// Adds an arm from the chest to its end of the bar; `side` is 1 or −1.
fn with_arm(scene: SceneDoc, side: f64, name: &str) -> SceneDoc {
    let at = |x: f64, z: f64| DVec3::new(x, 0.2 * side, z);
    let [shoulder, elbow, hand] = [at(0.0, 1.4), at(0.0, 1.1), at(0.3, 1.1)];
    let limb = |part: &str, from, to| {
        BodyDoc::new(format!("{name} {part}")).shape(ShapeDoc::capsule(from, to, 0.035)).mass(1.5)
    };
    let joint = |part: &str, kind, child: &str, at| {
        JointDoc::new(kind, format!("{name} {part}"), child).at(at).axis(DVec3::Y)
    };
    let (upper, fore) = (format!("{name} upper arm"), format!("{name} forearm"));
    scene
        .with(limb("upper arm", shoulder, elbow))
        .with(limb("forearm", elbow, hand))
        .with(joint("shoulder", JointKind::Ball, &upper, shoulder).parent("chest"))
        .with(joint("elbow", JointKind::Hinge, &fore, elbow).parent(&upper))
        .with(joint("hand", JointKind::Ball, "bar", hand).parent(&fore))
}

/// First keyframes bend the elbows, then a guide leads the bar along a track.
fn score() -> ScoreDoc {
    let joints = ["left elbow", "right elbow"].map(|elbow| (elbow.to_owned(), vec![-0.5])).to_vec();
    let bent = KeyDoc { at_s: 0.8, joints, ..KeyDoc::default() };
    let want = WantDoc::Follow { track: "way".to_owned(), relative: true };
    let follow = GoalDoc { bone: "bar".to_owned(), want, ..GoalDoc::default() };
    let guide = GuideDoc { goals: vec![follow], ..GuideDoc::default() };
    ScoreDoc {
        phases: vec![
            PhaseDoc { from_s: 0.0, control: ControlDoc::Keyframes(KeyframesDoc { keys: vec![bent] }) },
            PhaseDoc { from_s: 1.0, control: ControlDoc::Guide(guide) },
        ],
        ..ScoreDoc::default()
    }
}

/// The world after some steps, how far an elbow is bent after a second (rad), how far the bar is off its track (m), and the loop open (m).
pub(crate) fn run(n_steps: u32) -> Result<(World, [f64; 3]), BuildError> {
    let [left, right] = [-0.25, 0.25].map(|y| DVec3::Y * y);
    let way = [(1.0, [0.0, 0.0]), (1.5, [0.05, 0.1]), (2.0, [-0.05, 0.1]), (2.5, [0.0, 0.0])];
    let way = way.map(|(time, [x, z])| (time, DVec3::new(x, 0.0, z))).to_vec();
    let scene = SceneDoc::new("two arms")
        .with(BodyDoc::fixed("chest"))
        .with(BodyDoc::new("bar").at(DVec3::new(0.3, 0.0, 1.1)).shape(ShapeDoc::capsule(left, right, 0.02)))
        .with(TrackDoc { name: "way".to_owned(), curve: CurveDoc::Points(way), ..TrackDoc::default() });
    let mut scene = with_arm(with_arm(scene, 1.0, "left"), -1.0, "right");
    scene.score = Some(score());
    let mut world = World::from_scene(&scene)?;
    let (mut bent, mut off) = (0.0, 0.0);
    for step in 1..=n_steps {
        off = world.step().effort.goal_distance;
        if step == 60 {
            bent = world.joint("right elbow").map_or(0.0, |elbow| world.reading(elbow).twist);
        }
    }
    let open = world.violation().position;
    Ok((world, [bent, off, open]))
}

#[expect(clippy::print_stdout, reason = "a program for people")]
fn main() -> Result<(), BuildError> {
    let (_, [bent, off, open]) = run(150)?;
    println!(
        "the elbows bent by {bent:.2} rad, the bar is {off:.4} m off its track, the loop {open:.0e} m open"
    );
    Ok(())
}
