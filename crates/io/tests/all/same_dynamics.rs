//! Two scenes with the same bodies, the second perhaps with more frames and bodies between: whether they move alike.
//!
//! A random state of the second is put on the bodies of the first by their names. A body of the second has the axes of the first, and its origin where the centres of mass agree.
//! Then `M₂ = Tᵀ M₁ T` must hold, where column `k` of `T` is a unit rate of the second as rates of the first, and all bodies must have the same accelerations without forces of joints,
//! which holds the bias to the same. They are compared as forces of inertia: of light bodies, and where a joint is nearly singular, fewer digits of the acceleration are known.

use glam::DVec3;
use sinew_math::Pose;
use sinew_mechanism::BodyKind;
use sinew_recursive::{Dynamics, HybridCommand, Tree, TreeState};
use sinew_scene::{JointDoc, MassDoc, SceneDoc};
use sinew_sim::World;
use sinew_testkit::{Dense, Rng};

use crate::oracle::tree_of;

/// A scene with its tree.
struct Side {
    world: World,
    tree: Tree,
    dynamics: Dynamics,
    gravity: DVec3,
}

impl Side {
    fn of(scene: &SceneDoc, is_loop: &dyn Fn(&JointDoc) -> bool) -> Self {
        let (world, tree) = tree_of(scene, is_loop);
        Self { dynamics: Dynamics::new(&tree), world, tree, gravity: scene.gravity }
    }

    fn mass_matrix(&mut self, state: &TreeState) -> Dense {
        let n = self.tree.n_dofs();
        let mut entries = vec![0.0; n * n];
        self.dynamics.kinematics(&self.tree, state);
        self.dynamics.fill_mass_matrix(&self.tree, &mut entries);
        Dense::from_rows(n, n, &entries)
    }

    /// Mass times acceleration, and moment times angular acceleration, of bodies that move freely from a state.
    fn accelerations(&mut self, state: &TreeState, names: &[String]) -> Vec<f64> {
        let command = HybridCommand::passive(&self.tree);
        self.dynamics.kinematics(&self.tree, state);
        let report = self.dynamics.hybrid(&self.tree, state, &command, self.gravity, &[]);
        assert_eq!(report.singular, None);
        let of = |name: &String| {
            let link = self.tree.link(self.world.body(name).expect("a body")).expect("a link");
            let center = self.dynamics.central_pose(&self.tree, link).translation;
            let motion = self.dynamics.acceleration_at(link, center);
            let inertia = self.world.mechanism();
            let moment = inertia.principal_moments(self.tree.body(link)).max_element();
            let mass = inertia.body_mass(self.tree.body(link));
            [(motion.angular * moment).to_array(), (motion.linear * mass).to_array()].concat()
        };
        names.iter().flat_map(of).collect()
    }
}

/// The differences of two scenes at random states, each relative to the largest entry: of mass matrices, and of accelerations.
pub(crate) fn differences(one: &SceneDoc, two: &SceneDoc, n_states: usize, rng: &mut Rng) -> [f64; 2] {
    let one = one.expanded();
    let mut two = two.expanded();
    lighten(&one, &mut two);
    let none = |_: &JointDoc| false;
    compare(&mut Side::of(&one, &none), &mut Side::of(&two, &none), n_states, rng)
}

/// What a reader puts between the moves of a joint weighs next to nothing; here it weighs a millionth of that.
fn lighten(one: &SceneDoc, two: &mut SceneDoc) {
    for body in &mut two.bodies {
        if let (false, MassDoc::Properties(doc)) =
            (one.bodies.iter().any(|it| it.name == body.name), &body.mass)
        {
            let mass = doc.to_mass_properties();
            body.mass = MassDoc::Properties(mass.with_mass(1e-6 * mass.mass).into());
        }
    }
}

fn compare(one: &mut Side, two: &mut Side, n_states: usize, rng: &mut Rng) -> [f64; 2] {
    let moving = one.tree.links().map(|link| one.world.mechanism().body_name(one.tree.body(link)).to_owned());
    let names: Vec<String> = moving.collect();
    assert_eq!(one.tree.n_dofs(), two.tree.n_dofs(), "coordinates");
    let n = two.tree.n_dofs();
    let mut worst = [0.0_f64; 2];
    for _ in 0..n_states {
        let mut state = two.tree.neutral_state();
        let step: Vec<f64> = (0..n).map(|_| rng.uniform(-1.0, 1.0)).collect();
        two.tree.advance(&mut state.coordinates, &step, 1.0);
        let mut map = Dense::zeros(n, n);
        let mut unit = state.clone();
        for k in 0..n {
            unit.rates = vec![0.0; n];
            unit.rates[k] = 1.0;
            let seen = carried(one, two, &unit, &names);
            (0..n).for_each(|i| map[(i, k)] = seen.rates[i]);
        }
        state.rates = (0..n).map(|_| rng.uniform(-1.0, 1.0)).collect();
        let own = carried(one, two, &state, &names);
        let expected = map.transpose().mul(&one.mass_matrix(&own)).mul(&map);
        let found = two.mass_matrix(&state);
        worst[0] = worst[0].max(relative(found.entries(), expected.entries()));
        // What is fixed to the world may be a part of it in one of both.
        let links =
            |side: &Side, name: &str| side.world.body(name).and_then(|body| side.tree.link(body)).is_some();
        let both: Vec<String> =
            names.iter().filter(|name| links(one, name) && links(two, name)).cloned().collect();
        let expected = one.accelerations(&own, &both);
        worst[1] = worst[1].max(relative(&two.accelerations(&state, &both), &expected));
    }
    worst
}

/// A state of the second scene on the bodies of the first.
fn carried(one: &Side, two: &mut Side, state: &TreeState, names: &[String]) -> TreeState {
    let (mut from, mut to) = (two.world.state().bodies.clone(), one.world.state().bodies.clone());
    state.write_mechanism(&two.tree, &mut two.dynamics, &mut from);
    for name in names {
        let ids = [&one.world, &two.world]
            .map(|world| world.body(name).unwrap_or_else(|| panic!("no body {name}")));
        let centers =
            [one.world.mechanism().center_of_mass(ids[0]), two.world.mechanism().center_of_mass(ids[1])];
        // What never moves has no centre of mass; its frames agree.
        let moves = two.world.mechanism().body_kind(ids[1]) == BodyKind::Dynamic;
        let shift = Pose::from_translation(if moves { centers[1] - centers[0] } else { DVec3::ZERO });
        let pose = two.world.mechanism().body_pose(&from, ids[1]).compose(&shift);
        one.world.mechanism().set_body_pose(&mut to, ids[0], pose);
        to.motions[ids[0].index()] = from.motions[ids[1].index()];
    }
    TreeState::from_mechanism(&one.tree, &to)
}

fn relative(found: &[f64], expected: &[f64]) -> f64 {
    let largest = expected.iter().fold(1e-6_f64, |most, x| most.max(x.abs()));
    sinew_testkit::worst_difference(found, expected) / largest
}
