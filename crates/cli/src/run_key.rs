//! What determines the outputs of a run: its scene, its options, its model. Runs go on from checkpoints of the same only.

use serde::{Deserialize, Serialize};
use sinew_scene::SceneDoc;
use sinew_sim::{SavedForm, World, digest_bytes};

use crate::args::{ChangeArgs, MotionArgs, PictureArgs, ReportArgs, RunArgs, TableArgs};

/// Names and values that must be equal, in the order in which a difference is told.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct RunKey(Vec<(String, String)>);

impl RunKey {
    /// The key of a run of a scene, a member of a sweep, as it begins.
    pub(crate) fn new(args: &RunArgs, scene: &SceneDoc, world: &World) -> Self {
        let mut key = options(args);
        key.push(("sinew".to_owned(), env!("CARGO_PKG_VERSION").to_owned()));
        let files: Vec<_> = scene.files.iter().map(|(name, bytes)| (name, digest_bytes(bytes))).collect();
        let settings = SavedForm::new("settings", "1").to_bytes(world.settings()).unwrap_or_default();
        for (name, number) in [
            ("the scene", digest_bytes(scene.to_ron().as_bytes())),
            ("a file of the scene", digest_bytes(format!("{files:?}").as_bytes())),
            ("the model", world.model().identity()),
            ("the settings", digest_bytes(&settings)),
        ] {
            key.push((name.to_owned(), format!("{number:016x}")));
        }
        Self(key)
    }

    /// The first thing that is another in `now`.
    pub(crate) fn difference(&self, now: &Self) -> Option<String> {
        let value =
            |key: &Self, name: &str| key.0.iter().find(|(known, _)| known == name).map(|it| it.1.clone());
        let names = now.0.iter().chain(&self.0).map(|(name, _)| name);
        names.into_iter().find_map(|name| {
            let (then, now) = (value(self, name), value(now, name));
            (then != now).then(|| match name.starts_with("the ") || name.starts_with("a ") {
                true => format!("{name} differs"),
                false => format!("{name} was {}, is {}", shown(then), shown(now)),
            })
        })
    }
}

fn shown(value: Option<String>) -> String {
    value.unwrap_or_else(|| "absent".to_owned())
}

/// The options that outputs depend on, those that are given. Every option is named here, so that a new one is not forgotten.
fn options(args: &RunArgs) -> Vec<(String, String)> {
    // The scene itself is compared, not where it is. Threads and limits change nothing, nor do where checkpoints are and what ends a run.
    let RunArgs {
        scene: _,
        steps,
        seconds,
        threads: _,
        report,
        csv,
        table,
        plot,
        picture,
        motion,
        changes,
        kept: _,
    } = args;
    let ReportArgs { json: _, events, expect: _, on_trouble: _ } = report;
    let TableArgs { poses, select, quantities, rate } = table;
    let PictureArgs { png, at, gif, filmstrip, frames, size, camera, show } = picture;
    let MotionArgs { html, glb, bvh, obj, vtu, fps, speed } = motion;
    let ChangeArgs { set, limits: _, import } = changes;
    let paths = [
        ("--csv", csv),
        ("--poses", poses),
        ("--plot", plot),
        ("--png", png),
        ("--gif", gif),
        ("--filmstrip", filmstrip),
        ("--frames", frames),
        ("--html", html),
        ("--glb", glb),
        ("--bvh", bvh),
        ("--obj", obj),
        ("--vtu", vtu),
    ];
    let paths =
        paths.into_iter().filter_map(|(name, path)| Some((name, path.as_ref()?.display().to_string())));
    let set = set.iter().map(|(path, value)| format!("{path}={value}"));
    let lists = [
        ("--set", set.collect::<Vec<_>>()),
        ("--select", select.clone()),
        ("--quantities", quantities.iter().map(|it| it.name().to_owned()).collect()),
        ("--show", show.iter().map(|it| format!("{it:?}")).collect()),
    ];
    let lists =
        lists.into_iter().filter(|(_, list)| !list.is_empty()).map(|(name, list)| (name, list.join(" ")));
    let text = |value: Option<f64>| value.map(|value| value.to_string());
    let others = [
        ("--steps", steps.map(|steps| steps.to_string())),
        ("--seconds", text(*seconds)),
        ("--events", events.then(|| "given".to_owned())),
        ("--rate", text(*rate)),
        ("--at", text(*at)),
        ("--size", size.map(|(width, height)| format!("{width}x{height}"))),
        ("--camera", camera.clone()),
        ("--fps", text(*fps)),
        ("--speed", Some(speed.to_string())),
        ("reading of the file", Some(format!("{import:?}"))),
    ];
    let others = others.into_iter().filter_map(|(name, value)| Some((name, value?)));
    let all = lists.chain(others).chain(paths);
    all.map(|(name, value)| (name.to_owned(), value)).collect()
}

#[cfg(test)]
mod tests {
    use super::RunKey;

    #[test]
    fn a_difference_is_named() {
        let key = |pairs: &[(&str, &str)]| {
            RunKey(pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect())
        };
        let then = key(&[("--set", "dt=0.01"), ("the scene", "1")]);
        assert_eq!(then.difference(&then), None);
        assert_eq!(
            then.difference(&key(&[("--set", "dt=0.01"), ("the scene", "2")])).as_deref(),
            Some("the scene differs")
        );
        let other = key(&[("--steps", "5"), ("the scene", "1")]);
        assert_eq!(then.difference(&other).as_deref(), Some("--steps was absent, is 5"));
        assert_eq!(
            other.difference(&key(&[("the scene", "1")])).as_deref(),
            Some("--steps was 5, is absent")
        );
    }
}
