//! Adversarial scenes with named outcomes: each holds, warns, or is refused, and none is called good that is not.
//!
//! `scenes` makes them, `outcomes` lists what becomes of them, `judge` looks at the runs without asking the library.

mod edits;
mod judge;
mod outcomes;
mod scenes;

use std::collections::BTreeSet;

use sinew_math::JointKind;
use sinew_scene::SceneLimits;
use sinew_sim::{EnergyAccount, GeneratorDoc, HealthNotice, SceneDoc, World};
use sinew_testkit::soak_scale;

pub(crate) use self::judge::Judge;
use self::outcomes::OUTCOMES;
use self::scenes::{FAMILIES, STEPPERS, chain, heap, scene_of, stepper, written};

/// Steps of a scene, and of one that is slow.
const N_STEPS: u32 = 100;
const N_SLOW_STEPS: u32 = 35;

/// What a run told and what was found.
struct Told {
    warnings: BTreeSet<HealthNotice>,
    has_doubts: bool,
    wrong: Vec<String>,
}

/// Runs a world under judgement.
fn run(world: &mut World, mut judge: Judge, n_steps: u32) -> Told {
    let mut warnings = BTreeSet::new();
    let mut account = EnergyAccount::new(world.model(), world.state(), world.input(), world.settings());
    for step in 1..=n_steps {
        let report = world.step();
        let excess = account.note(world.model(), world.state(), world.input(), world.settings());
        warnings.extend(report.notices().map(|(notice, _)| notice).filter(|notice| notice.is_warning()));
        if excess.is_gain() {
            warnings.insert(HealthNotice::EnergyGained);
        }
        judge.look(world, f64::from(step) / f64::from(n_steps));
    }
    Told { warnings, has_doubts: !world.info().doubts.is_empty(), wrong: judge.wrong }
}

/// The outcome of a scene with a stepper; nothing if it holds.
fn outcome_of(family: &str, x: f64, stepper: &str) -> Option<&'static str> {
    let listed =
        OUTCOMES.iter().find(|(name, magnitude, _)| *name == family && magnitude.to_bits() == x.to_bits())?;
    listed.2.split("; ").find_map(|entry| {
        let (steppers, outcome) = entry.split_once(": ").expect("steppers: outcome");
        let is_meant = steppers == "all" || steppers.split(' ').any(|name| name == stepper);
        is_meant.then_some(outcome)
    })
}

/// The name of a notice in reports.
fn name(notice: HealthNotice) -> String {
    let camel = format!("{notice:?}");
    let parts = camel
        .chars()
        .map(|c| if c.is_uppercase() { format!("_{}", c.to_lowercase()) } else { c.to_string() });
    parts.collect::<String>().trim_start_matches('_').to_owned()
}

/// Runs a scene with a stepper and compares with its outcome; what is not as it should be.
fn check(family: &str, x: f64, (name_of_stepper, text): (&str, &str), slow_ones: bool) -> Option<String> {
    let outcome = outcome_of(family, x, name_of_stepper);
    if outcome == Some("~") && !slow_ones {
        return None;
    }
    let (mut scene, floor) = scene_of(family, x);
    scene.stepper = stepper(text);
    let refused = outcome.and_then(|outcome| outcome.strip_prefix("refused: "));
    let mut world = match (World::from_scene(&scene), refused) {
        (Ok(_), Some(words)) => return Some(format!("built, not refused: {words}")),
        (Err(error), Some(words)) if error.to_string().contains(words) => return None,
        (Err(error), _) => return Some(format!("refused: {error}")),
        (Ok(world), None) => world,
    };
    let mut judge = Judge::new(&scene, &world);
    if let Some(height) = floor {
        judge = judge.above(height);
    }
    let n_steps = if outcome == Some("~") { N_SLOW_STEPS } else { N_STEPS };
    let Told { warnings, has_doubts, wrong } = run(&mut world, judge, n_steps);
    let is_untold = !wrong.is_empty() && warnings.is_empty() && !has_doubts;
    if outcome == Some("untold") {
        return (!is_untold).then(|| format!("told now: {warnings:?}, {wrong:?}"));
    }
    if is_untold {
        return Some(format!("no good, and called good: {wrong:?}"));
    }
    let is_met = match outcome {
        None => warnings.is_empty() && wrong.is_empty(),
        Some("?" | "~") => true,
        Some("doubt") => has_doubts,
        Some(notice) => warnings.iter().any(|&warning| name(warning) == notice),
    };
    (!is_met).then(|| format!("{outcome:?} expected, but {warnings:?}, {wrong:?}"))
}

/// Checks every scene with the steppers that are chosen by place.
fn check_all(takes: impl Fn(usize, usize) -> bool, slow_ones: bool) {
    let (mut n_checked, mut failed) = (0, Vec::new());
    let scenes =
        FAMILIES.iter().flat_map(|(family, magnitudes)| magnitudes.iter().map(move |&x| (*family, x)));
    for (place, (family, x)) in scenes.enumerate() {
        let has_one_scheme = ["rope", "gear", "flesh"].iter().any(|part| family.contains(part));
        for (k, &named) in STEPPERS.iter().enumerate() {
            let is_known =
                !has_one_scheme || ["implicit", "second", "block", "rk4", "reduced"].contains(&named.0);
            if is_known && takes(place, k) {
                n_checked += 1;
                failed.extend(
                    check(family, x, named, slow_ones)
                        .map(|what| format!("{family} {x:e} {}: {what}", named.0)),
                );
            }
        }
    }
    assert!(failed.is_empty(), "{} of {n_checked}:\n{}", failed.len(), failed.join("\n"));
}

#[test]
fn adversarial_scenes_hold_or_tell() {
    // The default stepper, and one of the others in turn.
    check_all(|place, k| k == 0 || k == 1 + place % (STEPPERS.len() - 1), false);
}

#[test]
fn adversarial_scenes_with_all_steppers_soak() {
    if soak_scale() > 1 {
        check_all(|_, _| true, true);
    }
}

#[test]
fn outcomes_name_scenes_and_steppers() {
    for (family, x, outcomes) in OUTCOMES {
        let is_made = FAMILIES.iter().any(|(name, magnitudes)| name == family && magnitudes.contains(x));
        assert!(is_made, "{family} {x:e}");
        for entry in outcomes.split("; ") {
            let (steppers, outcome) = entry.split_once(": ").expect("steppers: outcome");
            let is_stepper = |name: &str| name == "all" || STEPPERS.iter().any(|(known, _)| *known == name);
            assert!(steppers.split(' ').all(is_stepper), "{family} {x:e}: {steppers}");
            let is_notice = HealthNotice::ALL.iter().any(|&notice| name(notice) == outcome);
            assert!(
                is_notice
                    || ["?", "~", "doubt", "untold"].contains(&outcome)
                    || outcome.starts_with("refused: "),
                "{outcome}"
            );
        }
    }
}

/// A chain of the generator.
fn generated(n: usize, limits: SceneLimits) -> SceneDoc {
    let text = format!(
        r#"generators: [Chain(name: "l", n: {n}, link: (shapes: [Capsule(radius: 0.01, length: 0.1)]), joint: (kind: Ball, damping: 0.001))]"#
    );
    let GeneratorDoc::Chain(chain) = written(&text).generators.remove(0) else { panic!("a chain") };
    let mut scene = SceneDoc { limits, ..SceneDoc::new("long") };
    scene.generators.push(GeneratorDoc::Chain(chain));
    scene
}

#[test]
fn a_chain_beyond_the_limit_is_refused_and_made_with_a_larger_one() {
    let n = 500;
    let small = SceneLimits { bodies: n as u64 - 1, ..SceneLimits::default() };
    let error = World::from_scene(&generated(n, small)).expect_err("too long").to_string();
    assert!(error.contains("bodies") || error.contains("499"), "{error}");
    let large = SceneLimits { bodies: n as u64, ..SceneLimits::default() };
    assert!(World::from_scene(&generated(n, large)).is_ok());
}

#[test]
fn chains_of_many_links_hold_in_little_memory_soak() {
    let n = if soak_scale() > 1 { 1_000_000 } else { 5_000 };
    let mut world =
        World::from_scene(&generated(n, SceneLimits::default())).expect("within the default limits");
    let judge = Judge::new(&SceneDoc::new("by hand"), &world);
    let told = run(&mut world, judge, 3);
    assert!(told.warnings.is_empty() && told.wrong.is_empty(), "{:?} {:?}", told.warnings, told.wrong);
    let per_link = world.mechanism().bytes() / n;
    assert!(per_link < 8_000, "{per_link} bytes per link");
    // Points of neighbours at the joints between them.
    let poses: Vec<_> = world.mechanism().bodies().map(|body| world.pose(body)).collect();
    let end = glam::DVec3::X * 0.05;
    let gap =
        poses.windows(2).map(|pair| pair[0].transform_point(end).distance(pair[1].transform_point(-end)));
    let gap = gap.fold(0.0, f64::max);
    assert!(gap < 1e-4, "{gap}");
}

#[test]
fn ten_thousand_islands_move_as_one_does_soak() {
    let n = if soak_scale() > 1 { 10_000 } else { 500 };
    let one = chain(2, 0.5, |_| 1.0, &[JointKind::Ball, JointKind::Hinge]);
    let mut all = SceneDoc::new("islands");
    for k in 0..n {
        let named = |name: &str| format!("{name}_{k}");
        for body in &one.bodies {
            all = all.with(sinew_sim::BodyDoc { name: named(&body.name), ..body.clone() });
        }
        for joint in &one.joints {
            let parent = joint.parent.as_deref().map(named);
            all = all.with(sinew_sim::JointDoc {
                name: named(&joint.name),
                child: named(&joint.child),
                parent,
                ..joint.clone()
            });
        }
    }
    let [mut all, mut one] = [all, one].map(|scene| World::from_scene(&scene).expect("a good scene"));
    for _ in 0..20 {
        assert!(all.step().health.is_good() && one.step().health.is_good());
    }
    let poses = |world: &World| world.mechanism().bodies().map(|body| world.pose(body)).collect::<Vec<_>>();
    let (all, one) = (poses(&all), poses(&one));
    assert!(all.chunks(2).all(|island| island == one), "islands move differently");
}

#[test]
fn bodies_at_one_place_part_or_say_so_soak() {
    let scene = heap(if soak_scale() > 1 { 1_000 } else { 40 });
    let mut world = World::from_scene(&scene).expect("a good scene");
    let judge = Judge::new(&scene, &world).above(-0.1);
    let told = run(&mut world, judge, 30);
    assert!(!told.warnings.is_empty(), "{:?}", told.wrong);
}
