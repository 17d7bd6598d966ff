//! Flesh whose bones are put elsewhere by hand.

use glam::{DQuat, DVec3};
use sinew_fem::{Attachments, FemModel, FemOptions, Material, TetMesh};
use sinew_flesh::{CarryScratch, FleshBody, FleshModel, FleshOptions, FleshState};
use sinew_math::{Motion, Pose, exp_so3};
use sinew_mechanism::State;
use sinew_testkit::Rng;

use crate::support::{Chain, ChainSpec, beam};

fn chain() -> Chain {
    Chain::new(&ChainSpec {
        n_bones: 4,
        cells: [16, 2, 2],
        young: 5e4,
        is_hung: false,
        options: FleshOptions::default(),
        every: 5,
    })
}

/// Bones and flesh as they never are: moving, bent at every joint by up to `bend` (rad), with nodes off by up to `off` (m).
fn disturbed(chain: &Chain, rng: &mut Rng, bend: f64, off: f64) -> (State, FleshState) {
    let state = bent(chain, rng, bend);
    let mut soft = chain.flesh.initial_state(&state);
    let nodes = &mut soft.nodes[0];
    for (x, v) in nodes.positions.iter_mut().zip(&mut nodes.velocities) {
        *x += rng.vec3(-off, off);
        *v += rng.vec3(-1.0, 1.0);
    }
    chain.flesh.follow(&state, &mut soft);
    (state, soft)
}

/// The chain with joints bent by up to so much, each bone in some motion.
fn bent(chain: &Chain, rng: &mut Rng, bend: f64) -> State {
    let mut state = chain.model.initial_state();
    for first in 1..state.poses.len() {
        let anchor = state.poses[first].transform_point(DVec3::X * -0.1);
        let turn = exp_so3(rng.vec3(-bend, bend));
        let turn = Pose::new(turn, anchor - turn * anchor);
        state.poses[first..].iter_mut().for_each(|pose| *pose = turn.compose(pose));
    }
    state
        .motions
        .iter_mut()
        .for_each(|motion| *motion = Motion::new(rng.vec3(-1.0, 1.0), rng.vec3(-1.0, 1.0)));
    state
}

fn distance(a: &[DVec3], b: &[DVec3]) -> f64 {
    a.iter()
        .zip(b)
        .map(|(a, b)| a.distance(*b))
        .fold(0.0, |most: f64, d| if d.is_nan() { d } else { most.max(d) })
}

#[test]
fn a_common_motion_of_all_bones_is_that_of_all_nodes() {
    let (chain, mut rng) = (chain(), Rng::new(1));
    for (bend, off) in [(0.0, 0.0), (0.0, 0.01), (0.5, 0.005)] {
        let (before, soft) = disturbed(&chain, &mut rng, bend, off);
        let moved = Pose::new(exp_so3(rng.vec3(-3.0, 3.0)), rng.vec3(-2.0, 2.0));
        let mut after = before.clone();
        after.poses.iter_mut().for_each(|pose| *pose = moved.compose(pose));
        for motion in &mut after.motions {
            *motion = Motion::new(moved.rotation * motion.angular, moved.rotation * motion.linear);
        }
        let mut carried = soft.clone();
        chain.flesh.carry(&before, &after, &mut carried, &mut CarryScratch::default());
        let (from, to) = (&soft.nodes[0], &carried.nodes[0]);
        let places: Vec<DVec3> = from.positions.iter().map(|&x| moved.transform_point(x)).collect();
        let rates: Vec<DVec3> = from.velocities.iter().map(|&v| moved.rotation * v).collect();
        let errors = [distance(&places, &to.positions), distance(&rates, &to.velocities)];
        assert!(errors.iter().all(|&error| error < 1e-12), "{bend} {off}: {errors:?}");
    }
}

#[test]
fn the_way_does_not_matter_and_the_way_back_leads_back() {
    let (chain, mut rng) = (chain(), Rng::new(2));
    let (first, soft) = disturbed(&chain, &mut rng, 0.4, 0.005);
    let goal = bent(&chain, &mut rng, 0.6);
    let mut straight = soft.clone();
    chain.flesh.carry(&first, &goal, &mut straight, &mut CarryScratch::default());
    assert!(distance(&straight.nodes[0].positions, &soft.nodes[0].positions) > 0.05, "it moved");
    let (mut wandering, mut at) = (soft.clone(), first.clone());
    let (mut remembering, mut scratch) = (soft.clone(), CarryScratch::default());
    for _ in 0..20 {
        let next = bent(&chain, &mut rng, 0.6);
        chain.flesh.carry(&at, &next, &mut wandering, &mut CarryScratch::default());
        chain.flesh.carry(&at, &next, &mut remembering, &mut scratch);
        at = next;
    }
    assert_eq!(wandering, remembering, "scratch changes nothing");
    chain.flesh.carry(&at, &goal, &mut wandering, &mut CarryScratch::default());
    for (other, wanted) in [(&goal, &straight), (&first, &soft)] {
        chain.flesh.carry(&goal, other, &mut wandering, &mut CarryScratch::default());
        let (found, wanted) = (&wandering.nodes[0], &wanted.nodes[0]);
        let errors =
            [distance(&found.positions, &wanted.positions), distance(&found.velocities, &wanted.velocities)];
        assert!(errors[0] < 1e-13 && errors[1] < 1e-11, "{errors:?}");
    }
}

#[test]
fn bones_that_stand_still_leave_every_bit() {
    let (chain, mut rng) = (chain(), Rng::new(3));
    let (state, soft) = disturbed(&chain, &mut rng, 0.4, 0.005);
    let mut carried = soft.clone();
    chain.flesh.carry(&state, &state.clone(), &mut carried, &mut CarryScratch::default());
    assert_eq!(carried, soft);
    let rest = chain.model.initial_state();
    let soft = chain.flesh.initial_state(&rest);
    let free = chain.flesh.bodies()[0].attachments().free();
    assert!(free.iter().all(|free| {
        soft.nodes[0].positions[free.node as usize]
            == chain.flesh.bodies()[0].fem().mesh().positions()[free.node as usize]
    }));
}

#[test]
fn flesh_moves_as_its_bones_do() {
    let (chain, mut rng) = (chain(), Rng::new(4));
    let spin = |state: &mut State, turn: Motion| {
        for (motion, pose) in state.motions.iter_mut().zip(&state.poses) {
            *motion = Motion::new(turn.angular, turn.linear + turn.angular.cross(pose.translation));
        }
    };
    let (mut before, mut soft) = disturbed(&chain, &mut rng, 0.4, 0.005);
    let turns = [(); 2].map(|()| Motion::new(rng.vec3(-3.0, 3.0), rng.vec3(-3.0, 3.0)));
    let rate = |turn: Motion, x: DVec3| turn.linear + turn.angular.cross(x);
    spin(&mut before, turns[0]);
    let nodes = &mut soft.nodes[0];
    nodes.velocities = nodes.positions.iter().map(|&x| rate(turns[0], x)).collect();
    let mut after = bent(&chain, &mut rng, 0.6);
    spin(&mut after, turns[1]);
    chain.flesh.carry(&before, &after, &mut soft, &mut CarryScratch::default());
    let wanted: Vec<DVec3> = soft.nodes[0].positions.iter().map(|&x| rate(turns[1], x)).collect();
    let error = distance(&wanted, &soft.nodes[0].velocities);
    assert!(error < 1e-12, "{error}");
}

#[test]
fn flesh_around_bent_bones_is_nearly_in_balance() {
    let (chain, mut rng) = (chain(), Rng::new(5));
    let rest = chain.model.initial_state();
    for _ in 0..5 {
        let state = bent(&chain, &mut rng, 0.6);
        let mut soft = chain.flesh.initial_state(&rest);
        chain.flesh.follow(&state, &mut soft);
        let torn = chain.flesh.energy(&soft, DVec3::ZERO).elastic;
        let soft = chain.flesh.initial_state(&state);
        let energy = chain.flesh.energy(&soft, DVec3::ZERO).elastic;
        // Undamped flesh that is let go around bones that stand still has no more to lose.
        let least = settled(&chain, &soft);
        assert!(energy < 0.02 * torn && energy < 1.02 * least && least > 0.0, "{torn} {energy} {least}");
    }
}

/// Elastic energy once free nodes have come to rest between bones that stand still: plain descent, as an oracle.
fn settled(chain: &Chain, soft: &FleshState) -> f64 {
    let body = &chain.flesh.bodies()[0];
    let mut scratch = sinew_fem::FemScratch::new(body.fem());
    let mut x = soft.nodes[0].positions.clone();
    let mut v = vec![DVec3::ZERO; x.len()];
    let mut forces = vec![DVec3::ZERO; x.len()];
    let h = 0.5 * sinew_fem::stable_dt(body.fem());
    for _ in 0..4000 {
        sinew_fem::elastic_forces(body.fem(), &x, sinew_fem::Diagonalize::Always, &mut scratch, &mut forces);
        for free in body.attachments().free() {
            let node = free.node as usize;
            v[node] = (v[node] + forces[node] * (h / body.fem().masses()[node])) * 0.99;
            x[node] += v[node] * h;
        }
    }
    sinew_fem::elastic_energy(body.fem(), &x, sinew_fem::Diagonalize::Always, &mut scratch)
}

#[test]
fn flesh_that_no_bone_holds_stays() {
    // Two bars in one mesh; a bone holds the end of the first.
    let bar = beam(DVec3::new(0.4, 0.1, 0.1), [4, 1, 1]);
    let n = bar.positions().len();
    let apart = bar.positions().iter().map(|&x| x + DVec3::Y);
    let positions: Vec<DVec3> = bar.positions().iter().copied().chain(apart).collect();
    let second = bar.tets().iter().map(|tet| tet.map(|node| node + n as u32));
    let tets = bar.tets().iter().copied().chain(second).collect();
    let mesh = TetMesh::new(positions.clone(), tets).expect("two bars");
    let chain = chain();
    let poses = chain.model.initial_state().poses;
    let fixed: Vec<_> = positions.iter().map(|x| (x.x < 0.01 && x.y < 0.5).then_some(0)).collect();
    let attachments =
        Attachments::new(&positions, &poses[..1], &fixed, &vec![None; 2 * n]).expect("attached");
    let material = Material::neo_hookean(1e5, 0.4).expect("a material");
    let fem = FemModel::new(mesh, material, &FemOptions::default()).expect("flesh");
    let body = FleshBody::new(fem, attachments, vec![0], vec![], FleshOptions::default()).expect("flesh");
    let flesh = FleshModel::new(&chain.model, vec![body], None).expect("a model");
    let before = chain.model.initial_state();
    let mut after = before.clone();
    let moved = Pose::new(DQuat::from_xyzw(0.0, 0.6, 0.0, 0.8), DVec3::new(0.3, -0.2, 0.1));
    after.poses[0] = moved.compose(&after.poses[0]);
    let mut soft = flesh.initial_state(&before);
    flesh.carry(&before, &after, &mut soft, &mut CarryScratch::default());
    let wanted: Vec<DVec3> = positions[..n]
        .iter()
        .map(|&x| moved.transform_point(x))
        .chain(positions[n..].iter().copied())
        .collect();
    let error = distance(&wanted, &soft.nodes[0].positions);
    assert!(error < 1e-12, "{error}");
    assert!(soft.nodes[0].positions[n..] == positions[n..]);
}
