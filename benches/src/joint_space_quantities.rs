//! What the joint-space suite computes of a robot, by this library and by Pinocchio.

use std::hint::black_box;

use glam::DVec3;
use sinew_math::{Force, Motion};
use sinew_mechanism::JointKind;
use sinew_recursive::{Dynamics, HybridCommand, JointMatrices, LinkId, Tree, TreeState};

use crate::{SuiteFailure, robot, robot_state};

const GRAVITY: DVec3 = DVec3::new(0.0, 0.0, -9.81);
/// Given accelerations and torques.
const GIVEN: f64 = 0.5;
/// A point of the last link, in its frame.
const TIP: DVec3 = DVec3::new(0.02, -0.03, 0.1);

/// The kinematics that a quantity needs, as of Pinocchio's functions.
#[derive(Clone, Copy)]
enum Needs {
    /// Poses and twists.
    State,
    /// Poses alone.
    Coordinates,
    /// Poses and twists of the path to the tip.
    Path,
}

/// Something that both compute.
pub(crate) struct PeerQuantity {
    pub(crate) name: &'static str,
    /// Pinocchio's functions for it, of which the fastest counts.
    pub(crate) peers: &'static [&'static str],
    needs: Needs,
    run: fn(&mut RobotRun),
    /// What was computed, in Pinocchio's order.
    pub(crate) values: fn(&RobotRun) -> Vec<f64>,
}

/// All that is asked.
pub(crate) const QUANTITIES: [PeerQuantity; 15] = [
    PeerQuantity {
        name: "poses and twists",
        peers: &["forwardKinematics"],
        needs: Needs::State,
        run: |_| (),
        values: RobotRun::twists,
    },
    PeerQuantity {
        name: "forward dynamics",
        peers: &["aba", "aba (world)"],
        needs: Needs::State,
        run: |robot| {
            let _ = black_box(robot.dynamics.respond(&robot.tree, &robot.command, GRAVITY, &[]));
        },
        values: |robot| robot.vector(robot.dynamics.accelerations()),
    },
    PeerQuantity {
        name: "inverse dynamics",
        peers: &["rnea"],
        needs: Needs::State,
        run: |robot| {
            robot.dynamics.fill_inverse(&robot.tree, &robot.given, GRAVITY, &[], &mut robot.torques);
        },
        values: |robot| robot.vector(&robot.torques),
    },
    PeerQuantity {
        name: "bias",
        peers: &["nonLinearEffects"],
        needs: Needs::State,
        run: |robot| robot.dynamics.fill_bias(&robot.tree, GRAVITY, &[], &mut robot.torques),
        values: |robot| robot.vector(&robot.torques),
    },
    PeerQuantity {
        name: "gravity",
        peers: &["computeGeneralizedGravity"],
        needs: Needs::Coordinates,
        run: |robot| robot.dynamics.fill_gravity(&robot.tree, GRAVITY, &mut robot.torques),
        values: |robot| robot.vector(&robot.torques),
    },
    PeerQuantity {
        name: "mass matrix",
        peers: &["crba", "crba (world)"],
        needs: Needs::Coordinates,
        run: |robot| robot.dynamics.fill_mass_matrix(&robot.tree, &mut robot.matrix),
        values: |robot| robot.square(&robot.matrix),
    },
    PeerQuantity {
        name: "its inverse",
        peers: &["computeMinverse"],
        needs: Needs::Coordinates,
        run: |robot| {
            let _ = black_box(robot.matrices.invert_mass(&robot.tree, &mut robot.dynamics));
        },
        values: |robot| robot.square(robot.matrices.inverse_mass_matrix()),
    },
    PeerQuantity {
        name: "Coriolis matrix",
        peers: &["computeCoriolisMatrix"],
        needs: Needs::State,
        run: |robot| {
            black_box(robot.matrices.coriolis(&robot.tree, &mut robot.dynamics));
        },
        // the matrix is not unique, its product with the rates is
        values: |robot| {
            let mut matrices = robot.matrices.clone();
            let rows = matrices.coriolis(&robot.tree, &mut robot.dynamics.clone()).to_vec();
            let rows = rows.chunks_exact(robot.tree.n_dofs());
            let product = |row: &[f64]| row.iter().zip(&robot.state.rates).map(|(c, v)| c * v).sum();
            robot.vector(&rows.map(product).collect::<Vec<f64>>())
        },
    },
    PeerQuantity {
        name: "inverse dynamics, its derivatives",
        peers: &["computeRNEADerivatives"],
        needs: Needs::State,
        run: |robot| {
            robot.matrices.inverse(&robot.tree, &mut robot.dynamics, &robot.given, GRAVITY, &[]);
        },
        values: |robot| {
            let found = &robot.matrices;
            let all = [found.torques_by_coordinates(), found.torques_by_rates(), found.mass_matrix()];
            all.map(|matrix| robot.square(matrix)).concat()
        },
    },
    PeerQuantity {
        name: "forward dynamics, its derivatives",
        peers: &["computeABADerivatives"],
        needs: Needs::State,
        run: |robot| {
            let RobotRun { tree, dynamics, given, .. } = robot;
            let _ = black_box(robot.matrices.forward(tree, dynamics, given, GRAVITY, &[]));
        },
        values: |robot| {
            let found = &robot.matrices;
            let by_state = [found.accelerations_by_coordinates(), found.accelerations_by_rates()];
            [by_state[0], by_state[1], found.inverse_mass_matrix()]
                .map(|matrix| robot.square(matrix))
                .concat()
        },
    },
    PeerQuantity {
        name: "Jacobian of a point",
        peers: &["computeFrameJacobian", "getFrameJacobian"],
        needs: Needs::Path,
        run: |robot| robot.dynamics.fill_jacobian(&robot.tree, robot.tip, robot.point(), &mut robot.columns),
        values: |robot| robot.six_rows(robot.columns.iter().map(|column| column.to_array())),
    },
    PeerQuantity {
        name: "its rate",
        peers: &["getFrameJacobianTimeVariation"],
        needs: Needs::Path,
        run: |robot| {
            robot.dynamics.fill_jacobian_rate(&robot.tree, robot.tip, robot.point(), &mut robot.columns);
        },
        values: |robot| robot.six_rows(robot.columns.iter().map(|column| column.to_array())),
    },
    PeerQuantity {
        name: "centre of mass",
        peers: &["centerOfMass"],
        needs: Needs::Coordinates,
        run: |robot| {
            black_box(robot.dynamics.centre_of_mass());
        },
        values: |robot| robot.dynamics.centre_of_mass().to_array().into(),
    },
    PeerQuantity {
        name: "centroidal momentum",
        peers: &["computeCentroidalMomentum"],
        needs: Needs::State,
        run: |robot| {
            black_box(robot.dynamics.centroidal_momentum());
        },
        values: |robot| {
            let momentum = robot.dynamics.centroidal_momentum();
            [momentum.linear.to_array(), momentum.angular.to_array()].concat()
        },
    },
    PeerQuantity {
        name: "its matrix",
        peers: &["ccrba", "computeCentroidalMap"],
        needs: Needs::Coordinates,
        run: |robot| robot.dynamics.fill_centroidal_matrix(&robot.tree, &mut robot.momenta),
        values: |robot| robot.six_rows(robot.momenta.iter().map(|column| column.to_array())),
    },
];

/// A robot at its state, and room for results.
pub(crate) struct RobotRun {
    pub(crate) tree: Tree,
    state: TreeState,
    tip: LinkId,
    dynamics: Dynamics,
    matrices: JointMatrices,
    command: HybridCommand,
    given: Vec<f64>,
    torques: Vec<f64>,
    matrix: Vec<f64>,
    columns: Vec<Motion>,
    momenta: Vec<Force>,
    /// Our dof of each dof of Pinocchio, whose free joints have linear rates first.
    dofs: Vec<usize>,
}

impl RobotRun {
    /// The robot of `sinew_benches::robot`.
    pub(crate) fn new(limbs: usize, is_floating: bool) -> Result<Self, SuiteFailure> {
        let tree = Tree::from_model(&robot(limbs, is_floating, 0))?;
        let (state, n) = (robot_state(&tree), tree.n_dofs());
        let (dynamics, matrices) = (Dynamics::new(&tree), JointMatrices::new(&tree));
        let command = HybridCommand { values: vec![GIVEN; n], ..HybridCommand::passive(&tree) };
        let tip = tree.links().next_back().ok_or("a robot without links")?;
        let dofs = tree.links().flat_map(|link| {
            let own = tree.dofs(link);
            if own.len() == 6 { [own.start + 3..own.end, own.start..own.start + 3] } else { [own, 0..0] }
        });
        Ok(Self {
            dofs: dofs.flatten().collect(),
            dynamics,
            matrices,
            command,
            given: vec![GIVEN; n],
            torques: vec![0.0; n],
            matrix: vec![0.0; n * n],
            columns: vec![Motion::ZERO; n],
            momenta: vec![Force::ZERO; n],
            tip,
            state,
            tree,
        })
    }

    pub(crate) fn evaluate(&mut self, quantity: &PeerQuantity) {
        let Self { tree, state, tip, dynamics, .. } = self;
        match quantity.needs {
            Needs::State => dynamics.kinematics(tree, black_box(state)),
            Needs::Coordinates => dynamics.kinematics_at_rest(tree, black_box(&state.coordinates)),
            Needs::Path => dynamics.path_kinematics(tree, black_box(state), *tip),
        }
        (quantity.run)(self);
    }

    fn point(&self) -> DVec3 {
        self.dynamics.origin(self.tip) + self.dynamics.rotation(self.tip) * TIP
    }

    fn vector(&self, ours: &[f64]) -> Vec<f64> {
        self.dofs.iter().map(|dof| ours[*dof]).collect()
    }

    fn square(&self, ours: &[f64]) -> Vec<f64> {
        self.dofs.iter().flat_map(|row| self.vector(&ours[row * self.dofs.len()..])).collect()
    }

    /// Rows of a matrix of six-vectors, linear ones first.
    fn six_rows(&self, columns: impl Iterator<Item = [f64; 6]>) -> Vec<f64> {
        let columns: Vec<_> = columns.collect();
        let row = |row: usize| columns.iter().map(|column| column[row]).collect::<Vec<f64>>();
        [3, 4, 5, 0, 1, 2].into_iter().flat_map(|number| self.vector(&row(number))).collect()
    }

    /// Origin, velocity and angular velocity of every link.
    fn twists(&self) -> Vec<f64> {
        let twist = |link: LinkId| {
            let motion = self.dynamics.joint_motion(link);
            [self.dynamics.origin(link), motion.linear, motion.angular]
        };
        self.tree.links().flat_map(twist).flat_map(|v| v.to_array()).collect()
    }

    /// The robot and its state as Pinocchio's program reads them.
    pub(crate) fn described(&self) -> Vec<f64> {
        let Self { tree, state, .. } = self;
        let mut at_zero = Dynamics::new(tree);
        at_zero.kinematics(tree, &tree.neutral_state());
        let mut numbers = vec![tree.n_links() as f64];
        let mut coordinates = Vec::<f64>::new();
        for link in tree.links() {
            let (pose, inertia) = (at_zero.joint_pose(link), tree.inertia(link));
            let (above, pose) = match tree.parent(link) {
                Some(parent) => (parent.index() as f64, at_zero.joint_pose(parent).inverse().compose(&pose)),
                None => (-1.0, pose),
            };
            let is_free = tree.joint_kind(link) == JointKind::Free;
            numbers.extend([above, f64::from(u8::from(is_free))]);
            numbers.extend(pose.translation.to_array());
            numbers.extend(pose.rotation.to_array());
            let centre = inertia.first_moment / inertia.mass;
            let i = inertia.shifted_by(-centre).rotational;
            numbers.push(inertia.mass);
            numbers.extend(centre.to_array());
            numbers.extend([i.xx, i.xy, i.yy, i.xz, i.yz, i.zz]);
            let q = &state.coordinates[tree.coordinates(link)];
            match q {
                [w, x, y, z, place @ ..] => coordinates.extend(place.iter().chain([x, y, z, w])),
                _ => coordinates.extend(q),
            }
        }
        numbers.extend(GRAVITY.to_array());
        numbers.extend(coordinates);
        for values in [&state.rates, &self.given, &self.given] {
            numbers.extend(self.vector(values));
        }
        numbers.push(self.tip.index() as f64);
        numbers.extend(TIP.to_array());
        numbers
    }
}
