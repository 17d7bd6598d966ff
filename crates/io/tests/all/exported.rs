//! Files that are written, as MuJoCo and Pinocchio read them. `benches/peers` says how the numbers are made, from `sinew export` of the built-in scenes.

use crate::oracle::{TOLERANCE, check, golden};
use crate::round_trips::{built_in, from_mjcf, from_urdf};

#[test]
fn written_models_are_those_of_mujoco() {
    for (name, model) in golden("exported_mujoco.json").as_object().expect("models") {
        let (_, back) = from_mjcf(&built_in(name));
        check(name, &back.scene, model, (true, TOLERANCE));
    }
}

#[test]
fn written_robots_are_those_of_pinocchio() {
    for (name, robot) in golden("exported_pinocchio.json").as_object().expect("robots") {
        let (_, mut back) = from_urdf(&built_in(name));
        // Springs of joints are in no other program's URDF; its gravity is always the same.
        back.scene.joints.iter_mut().for_each(|joint| joint.spring = None);
        check(name, &back.scene, robot, (false, TOLERANCE));
    }
}
