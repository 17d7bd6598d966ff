//! Random trees and states, and what dense algebra says of them.

use glam::DVec3;
use sinew_math::{Force, MassProperties, Motion, Pose, Sym3};
use sinew_mechanism::{BodyId, BodySpec, JointFrames, JointKind, JointSpec, MechanismBuilder, Model, State};
use sinew_recursive::{Dynamics, HybridCommand, JointMode, LinkId, Tree, TreeState};
use sinew_testkit::{Dense, Rng};

pub(crate) const GRAVITY: DVec3 = DVec3::new(0.3, -0.2, -9.81);

/// Everything a test needs of one mechanism.
pub(crate) struct Case {
    pub(crate) model: Model,
    pub(crate) tree: Tree,
    pub(crate) state: TreeState,
    pub(crate) dynamics: Dynamics,
    pub(crate) external: Vec<Force>,
}

pub(crate) fn random_mass(rng: &mut Rng) -> MassProperties {
    let edges = DVec3::new(rng.uniform(0.2, 0.8), rng.uniform(0.2, 0.8), rng.uniform(0.2, 0.8));
    let shape = MassProperties::cuboid(edges, rng.uniform(2.0, 8.0));
    shape.transformed_by(Pose::new(rng.rotation(), rng.vec3(-0.2, 0.2)))
}

pub(crate) fn random_frames(rng: &mut Rng) -> JointFrames {
    JointFrames {
        rotation1: rng.rotation(),
        point1: rng.vec3(-0.5, 0.5),
        rotation2: rng.rotation(),
        point2: rng.vec3(-0.5, 0.5),
    }
}

fn random_body(rng: &mut Rng, builder: &mut MechanismBuilder) -> BodyId {
    let pose = Pose::new(rng.rotation(), rng.vec3(-1.0, 1.0));
    builder.add_body(BodySpec::dynamic("", pose, random_mass(rng)))
}

/// A tree of up to `n` bodies; some joints are declared from parent to child, some roots are free, some hang on a fixed
/// body.
pub(crate) fn random_case(rng: &mut Rng, n: usize, kinds: &[JointKind]) -> Case {
    let mut builder = MechanismBuilder::new();
    let pose = Pose::new(rng.rotation(), rng.vec3(-1.0, 1.0));
    let wall = builder.add_body(BodySpec::fixed("wall", pose));
    let mut bodies: Vec<BodyId> = Vec::new();
    for k in 0..n {
        let body = random_body(rng, &mut builder);
        let kind = kinds[rng.below(kinds.len())];
        let frames = random_frames(rng);
        if k == 0 || rng.chance(0.1) {
            let parent = if rng.chance(0.5) { Some(wall) } else { None };
            if rng.chance(0.6) {
                builder.add_joint(JointSpec::new("", kind, body, parent, frames));
            }
        } else {
            let parent = bodies[bodies.len() - 1 - rng.below(bodies.len().min(3))];
            let (one, two) = if rng.chance(0.3) { (parent, body) } else { (body, parent) };
            builder.add_joint(JointSpec::new("", kind, one, Some(two), frames));
        }
        bodies.push(body);
    }
    finish(rng, builder)
}

pub(crate) fn finish(rng: &mut Rng, builder: MechanismBuilder) -> Case {
    let model = builder.build().expect("valid");
    let tree = Tree::from_model(&model).expect("a tree");
    let state = random_state(rng, &tree);
    let dynamics = Dynamics::new(&tree);
    let external =
        (0..tree.n_links()).map(|_| Force::new(rng.vec3(-1.0, 1.0), rng.vec3(-2.0, 2.0))).collect();
    Case { model, tree, state, dynamics, external }
}

/// Coordinates up to 1 (rad, m) from neutral, rates up to 1.
pub(crate) fn random_state(rng: &mut Rng, tree: &Tree) -> TreeState {
    let mut state = tree.neutral_state();
    let turn = random_vector(rng, tree.n_dofs(), 1.0);
    tree.advance(&mut state.coordinates, &turn, 1.0);
    state.rates = random_vector(rng, tree.n_dofs(), 1.0);
    state
}

pub(crate) fn random_vector(rng: &mut Rng, n: usize, size: f64) -> Vec<f64> {
    (0..n).map(|_| rng.uniform(-size, size)).collect()
}

pub(crate) fn random_command(rng: &mut Rng, tree: &Tree, prescribed: f64) -> HybridCommand {
    let modes = (0..tree.n_links())
        .map(|_| if rng.chance(prescribed) { JointMode::Prescribed } else { JointMode::Passive })
        .collect();
    HybridCommand { modes, values: random_vector(rng, tree.n_dofs(), 2.0) }
}

/// The kinds whose rates are well scaled.
pub(crate) fn all_kinds() -> Vec<JointKind> {
    JointKind::all(0.3).to_vec()
}

/// Inertia about the centre of mass in world axes, and the mass, as the body was declared.
pub(crate) fn central_inertia(model: &Model, state: &State, body: BodyId) -> (Sym3, f64) {
    // the angular momentum at ω = e_k is column k
    let mut probe = state.clone();
    probe.motions.fill(Motion::ZERO);
    let columns: Vec<DVec3> = DVec3::AXES
        .iter()
        .map(|axis| {
            probe.motions[body.index()] = Motion::new(*axis, DVec3::ZERO);
            sinew_mechanism::momentum(model, &probe).angular
        })
        .collect();
    (Sym3::from_mat3(&glam::DMat3::from_cols(columns[0], columns[1], columns[2])), model.body_mass(body))
}

/// `M` and `bias` (gravity and external wrenches included, `M q̈ + bias = τ`) from Newton–Euler at the centres of mass:
/// `M = Σ JᵀIJ`, `bias = Σ Jᵀ(I J̇v + (ω × Iω, 0) − F − m g)`.
pub(crate) fn dense(case: &mut Case, gravity: DVec3) -> (Dense, Vec<f64>) {
    let Case { model, tree, state, dynamics, external } = case;
    let mut maximal = model.initial_state();
    state.write_mechanism(tree, dynamics, &mut maximal);
    let n = tree.n_dofs();
    let (mut mass, mut bias) = (Dense::zeros(n, n), vec![0.0; n]);
    let mut columns = vec![Motion::ZERO; n];
    for link in tree.links() {
        let body = tree.body(link);
        let (inertia, m) = central_inertia(model, &maximal, body);
        let center = maximal.poses[body.index()].translation;
        let omega = maximal.motions[body.index()].angular;
        dynamics.fill_jacobian(tree, link, center, &mut columns);
        let product = dynamics.velocity_product_at(tree, link, center);
        let wrench = Force::new(
            inertia.mul_vec(product.angular) + omega.cross(inertia.mul_vec(omega)),
            (product.linear - gravity) * m,
        ) - external[link.index()];
        for i in 0..n {
            bias[i] += columns[i].dot(wrench);
            let momentum = Force::new(inertia.mul_vec(columns[i].angular), columns[i].linear * m);
            for j in 0..n {
                mass[(i, j)] += columns[j].dot(momentum);
            }
        }
    }
    (mass, bias)
}

/// Accelerations and torques of the partitioned dense system.
pub(crate) fn dense_hybrid(
    tree: &Tree,
    mass: &Dense,
    bias: &[f64],
    command: &HybridCommand,
) -> (Vec<f64>, Vec<f64>) {
    let n = tree.n_dofs();
    let known: Vec<bool> = tree
        .links()
        .flat_map(|link| tree.dofs(link).map(move |_| link))
        .map(|link: LinkId| command.mode(link) == JointMode::Prescribed)
        .collect();
    // unknown x_i is q̈_i where passive, τ_i where prescribed
    let mut matrix = Dense::zeros(n, n);
    let mut rhs: Vec<f64> = bias.iter().map(|b| -b).collect();
    for i in 0..n {
        for j in 0..n {
            if known[j] {
                matrix[(i, j)] = if i == j { -1.0 } else { 0.0 };
                rhs[i] -= mass[(i, j)] * command.values[j];
            } else {
                matrix[(i, j)] = mass[(i, j)];
            }
        }
        if !known[i] {
            rhs[i] += command.values[i];
        }
    }
    let x = matrix.solve(&rhs).expect("regular");
    let pick = |i: usize, unknown: bool| if unknown { x[i] } else { command.values[i] };
    ((0..n).map(|i| pick(i, !known[i])).collect(), (0..n).map(|i| pick(i, known[i])).collect())
}
