//! Flesh on bones: nodes that bodies carry, bodies that joints hold together.

use super::dense;
use super::lattice::{Lattice, Material, SOFT};
use glam::DVec3;
use sinew_math::{Force, Motion};
use sinew_solvers::{
    BlockMatrix, CarrierCoupling, CgReport, CgScratch, CgSettings, CgStop, NodeRole, SpdSystem, TwoLevel,
    conjugate_gradient,
};
use sinew_testkit::{Dense, Lu, Rng, random_spd, scaled_difference};

/// Bones along the middle of a block of flesh, as a chain of ball joints or loose.
struct Body {
    roles: Vec<NodeRole>,
    positions: Vec<DVec3>,
    centres: Vec<DVec3>,
    /// The bones' own matrix, without what they carry.
    bones: Dense,
    /// Rows of the joints.
    joints: Dense,
    matrix: BlockMatrix,
}

impl Body {
    fn new(lattice: &Lattice, n_bones: usize, young: f64, is_chain: bool) -> Self {
        let mut rng = Rng::new(11);
        let (length, middle) =
            lattice.rest.iter().fold((0.0f64, 0.0f64), |(x, y), p| (x.max(p.x), y.max(0.5 * p.y)));
        let across = 0.3 * middle + 1e-9;
        let roles: Vec<NodeRole> = (lattice.rest.iter())
            .map(|p| {
                let is_core = (p.y - middle).abs() <= across && (p.z - middle).abs() <= across;
                let bone = ((p.x / length * n_bones as f64) as usize).min(n_bones - 1);
                if is_core { NodeRole::Carried(bone as u32) } else { NodeRole::Free }
            })
            .collect();
        let spacing = length / n_bones as f64;
        let centres: Vec<DVec3> =
            (0..n_bones).map(|k| DVec3::new((k as f64 + 0.5) * spacing, middle, middle)).collect();
        let mut bones = Dense::zeros(6 * n_bones, 6 * n_bones);
        (0..n_bones).for_each(|bone| bones.add_block(6 * bone, 6 * bone, &random_spd(&mut rng, 6, 0.1)));
        let n_joints = if is_chain { n_bones - 1 } else { 0 };
        let mut joints = Dense::zeros(3 * n_joints, 6 * n_bones);
        for joint in 0..n_joints {
            for (bone, sign) in [(joint, 1.0), (joint + 1, -1.0)] {
                let arm = DVec3::X * (0.5 * spacing * sign);
                for k in 0..6 {
                    let velocity = velocity(
                        Motion::from_array(std::array::from_fn(|i| f64::from(u8::from(i == k)))),
                        arm,
                    );
                    (0..3).for_each(|row| joints[(3 * joint + row, 6 * bone + k)] = sign * velocity[row]);
                }
            }
        }
        let matrix = lattice.matrix(Material { young, ..SOFT }, 1.0 / 60.0);
        Self { roles, positions: lattice.rest.clone(), centres, bones, joints, matrix }
    }

    /// `T` of node and bone unknowns: what moves each node.
    fn velocities(&self, own: &[f64], twists: &[Motion]) -> Vec<f64> {
        (self.roles.iter().zip(&self.positions).zip(own.as_chunks().0))
            .flat_map(|((&role, &x), own)| match role {
                NodeRole::Free => *own,
                NodeRole::Fixed => [0.0; 3],
                NodeRole::Carried(bone) => {
                    velocity(twists[bone as usize], x - self.centres[bone as usize]).to_array()
                }
            })
            .collect()
    }

    /// Its transpose.
    fn gather(&self, momenta: &[f64], own: &mut [f64], impulses: &mut [Force]) {
        impulses.fill(Force::ZERO);
        own.fill(0.0);
        for (i, momentum) in momenta.as_chunks().0.iter().enumerate() {
            match self.roles[i] {
                NodeRole::Free => own[3 * i..3 * i + 3].copy_from_slice(momentum),
                NodeRole::Fixed => {}
                NodeRole::Carried(bone) => {
                    let (p, arm) =
                        (DVec3::from_array(*momentum), self.positions[i] - self.centres[bone as usize]);
                    impulses[bone as usize] += Force::new(arm.cross(p), p);
                }
            }
        }
    }

    /// What the flesh does to each bone when everything else stands still.
    fn carried_blocks(&self) -> Vec<Dense> {
        let n = self.centres.len();
        (0..n)
            .map(|bone| {
                let columns: Vec<[f64; 6]> = (0..6)
                    .map(|k| {
                        let mut twists = vec![Motion::ZERO; n];
                        twists[bone] =
                            Motion::from_array(std::array::from_fn(|i| f64::from(u8::from(i == k))));
                        let v = self.velocities(&vec![0.0; 3 * self.roles.len()], &twists);
                        let (mut momenta, mut own) = (v.clone(), v.clone());
                        self.matrix.clone().times(&v, &mut momenta);
                        let mut impulses = vec![Force::ZERO; n];
                        self.gather(&momenta, &mut own, &mut impulses);
                        impulses[bone].to_array()
                    })
                    .collect();
                Dense::from_fn(6, 6, |i, j| columns[j][i])
            })
            .collect()
    }

    /// `[A_t Jᵀ; J 0]`.
    fn with_joints(&self, tree: &Dense) -> Dense {
        let (n, m) = (tree.n_rows(), self.joints.n_rows());
        let mut kkt = Dense::zeros(n + m, n + m);
        kkt.add_block(0, 0, tree);
        kkt.add_block(n, 0, &self.joints);
        kkt.add_block(0, n, &self.joints.transpose());
        kkt
    }
}

fn velocity(twist: Motion, arm: DVec3) -> DVec3 {
    twist.linear + twist.angular.cross(arm)
}

/// Nodes, then twists of bones, then the impulses that go with the twists.
struct Together<'a> {
    body: &'a Body,
    preconditioner: TwoLevel,
    coupling: CarrierCoupling,
    /// What the tree has of the flesh.
    in_tree: Vec<Dense>,
}

impl<'a> Together<'a> {
    fn new(body: &'a Body, is_in_tree: bool) -> Self {
        let in_tree = if is_in_tree { body.carried_blocks() } else { Vec::new() };
        let mut tree = body.bones.clone();
        in_tree.iter().enumerate().for_each(|(bone, block)| tree.add_block(6 * bone, 6 * bone, block));
        let mut preconditioner = TwoLevel::with_carriers(body.matrix.pattern(), &body.positions, &body.roles);
        preconditioner.refresh_carried(&body.matrix, &body.positions, &body.centres);
        let mut coupling = CarrierCoupling::new(body.centres.len());
        let tree: Lu = body.with_joints(&tree).lu().unwrap();
        let places: Vec<u32> = (0..body.centres.len() as u32).collect();
        coupling.refresh([(&preconditioner, &places[..])], [], is_in_tree, |impulses, motions| {
            let mut b: Vec<f64> = impulses.iter().flat_map(|f| f.to_array()).collect();
            b.resize(b.len() + body.joints.n_rows(), 0.0);
            let x = tree.solve(&b);
            motions.iter_mut().zip(x.as_chunks().0).for_each(|(motion, x)| *motion = Motion::from_array(*x));
        });
        Self { body, preconditioner, coupling, in_tree }
    }

    fn n_own(&self) -> usize {
        self.body.matrix.n_unknowns()
    }
}

fn to_forces(values: &[f64]) -> Vec<Force> {
    values.as_chunks().0.iter().map(|f| Force::from_array(*f)).collect()
}

fn to_motions(values: &[f64]) -> Vec<Motion> {
    values.as_chunks().0.iter().map(|v| Motion::from_array(*v)).collect()
}

impl SpdSystem for Together<'_> {
    fn n_unknowns(&self) -> usize {
        self.n_own() + 12 * self.body.centres.len()
    }

    fn apply(&mut self, x: &[f64], y: &mut [f64]) {
        let n_bones = self.body.centres.len();
        let (own, bones) = x.split_at(self.n_own());
        let (twists, carried) = bones.split_at(6 * n_bones);
        let v = self.body.velocities(own, &to_motions(twists));
        let mut momenta = v.clone();
        self.body.matrix.clone().times(&v, &mut momenta);
        let (own_out, bones_out) = y.split_at_mut(own.len());
        let mut impulses = vec![Force::ZERO; n_bones];
        self.body.gather(&momenta, own_out, &mut impulses);
        bones_out.fill(0.0);
        for bone in 0..n_bones {
            let own = self
                .in_tree
                .get(bone)
                .map_or(vec![0.0; 6], |block| block.mul_vec(&twists[6 * bone..6 * bone + 6]));
            for k in 0..6 {
                bones_out[6 * bone + k] = impulses[bone].to_array()[k] - own[k] + carried[6 * bone + k];
            }
        }
    }

    fn precondition(&mut self, r: &[f64], z: &mut [f64]) {
        let n_bones = self.body.centres.len();
        let (own, bones) = r.split_at(self.n_own());
        let mut impulses = to_forces(&bones[..6 * n_bones]);
        let mut twists = vec![Motion::ZERO; n_bones];
        self.preconditioner.restrict(own, &mut impulses);
        self.coupling.react(&mut impulses, &mut twists);
        let (own_out, bones_out) = z.split_at_mut(own.len());
        self.preconditioner.prolong(own, &twists, own_out);
        for bone in 0..n_bones {
            bones_out[6 * bone..6 * bone + 6].copy_from_slice(&twists[bone].to_array());
            bones_out[6 * (n_bones + bone)..][..6].copy_from_slice(&impulses[bone].to_array());
        }
    }
}

/// Solves for random momenta of the nodes; the solution and how it went.
fn solve(body: &Body, is_in_tree: bool, precision: f64) -> (Vec<f64>, Vec<f64>, CgReport) {
    let mut rng = Rng::new(12);
    let mut system = Together::new(body, is_in_tree);
    let momenta: Vec<f64> = (0..system.n_own()).map(|_| rng.normal()).collect();
    let (mut own, mut impulses) = (momenta.clone(), vec![Force::ZERO; body.centres.len()]);
    body.gather(&momenta, &mut own, &mut impulses);
    let mut b = own;
    b.extend(impulses.iter().flat_map(|f| f.to_array()));
    b.resize(system.n_unknowns(), 0.0);
    let mut x = vec![0.0; b.len()];
    let settings = CgSettings { precision, iterations: 1000 };
    let report = conjugate_gradient(&mut system, &b, &mut x, &settings, &mut CgScratch::new());
    (x, b, report)
}

#[test]
fn flesh_and_bones_as_dense() {
    let lattice = Lattice::new([6, 2, 2], 0.05);
    for (is_chain, is_in_tree) in [(false, false), (true, false), (false, true), (true, true)] {
        let body = Body::new(&lattice, 3, 1e6, is_chain);
        let n = body.matrix.n_unknowns();
        let motion = |k: usize| {
            let mut own = vec![0.0; n];
            let mut twists = vec![0.0; 18];
            if k < n {
                own[k] = 1.0
            } else {
                twists[k - n] = 1.0
            }
            body.velocities(&own, &to_motions(&twists))
        };
        // TᵀAT + bones, with ones for the unused unknowns of carried nodes, and the joints around it.
        let t: Vec<Vec<f64>> = (0..n + 18).map(motion).collect();
        let t = Dense::from_fn(n, n + 18, |i, j| t[j][i]);
        let mut whole = t.transpose().mul(&dense(&body.matrix)).mul(&t);
        whole.add_block(n, n, &body.bones);
        for k in (0..n).filter(|&k| body.roles[k / 3] != NodeRole::Free) {
            whole[(k, k)] = 1.0;
        }
        let n_rows = body.joints.n_rows();
        let mut kkt = Dense::zeros(n + 18 + n_rows, n + 18 + n_rows);
        kkt.add_block(0, 0, &whole);
        kkt.add_block(n + 18, n, &body.joints);
        kkt.add_block(n, n + 18, &body.joints.transpose());

        let (x, b, report) = solve(&body, is_in_tree, 1e-11);
        let mut rhs = b[..n + 18].to_vec();
        rhs.resize(n + 18 + n_rows, 0.0);
        let expected = kkt.solve(&rhs).unwrap();
        assert_eq!(report.stop, CgStop::Converged, "{report:?}");
        let difference = scaled_difference(&x[..n + 18], &expected[..n + 18]);
        assert!(difference < 1e-7, "chain {is_chain}, in tree {is_in_tree}: {difference}, {report:?}");
        let gap = body.joints.mul_vec(&x[n..n + 18]);
        assert!(gap.iter().all(|gap| gap.abs() < 1e-9), "every iterate meets the joints: {gap:?}");
    }
}

#[test]
fn the_preconditioner_is_symmetric_and_its_impulses_fit() {
    let lattice = Lattice::new([8, 2, 2], 0.05);
    let mut rng = Rng::new(13);
    for is_in_tree in [false, true] {
        let body = Body::new(&lattice, 4, 1e7, true);
        let mut system = Together::new(&body, is_in_tree);
        let n = system.n_unknowns() - 24;
        let mut random = || -> Vec<f64> {
            let free = |k: usize| k >= n - 24 || body.roles[k / 3] == NodeRole::Free;
            (0..n + 24).map(|k| if k < n && free(k) { rng.normal() } else { 0.0 }).collect()
        };
        let dot = |a: &[f64], b: &[f64]| a[..n].iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        for _ in 0..10 {
            let (a, b) = (random(), random());
            let (mut ca, mut cb) = (vec![0.0; a.len()], vec![0.0; a.len()]);
            system.precondition(&a, &mut ca);
            system.precondition(&b, &mut cb);
            let (aca, bcb) = (dot(&a, &ca), dot(&b, &cb));
            assert!(aca > 0.0 && bcb > 0.0);
            assert!((dot(&a, &cb) - dot(&b, &ca)).abs() < 1e-9 * (aca * bcb).sqrt());

            // The twists are those that the bodies alone answer the carried impulses with.
            let mut tree = body.bones.clone();
            system
                .in_tree
                .iter()
                .enumerate()
                .for_each(|(bone, block)| tree.add_block(6 * bone, 6 * bone, block));
            let mut rhs = ca[n..].to_vec();
            rhs.resize(24 + body.joints.n_rows(), 0.0);
            let answer = body.with_joints(&tree).solve(&rhs).unwrap();
            assert!(scaled_difference(&answer[..24], &ca[n - 24..n]) < 1e-7);
        }
    }
}

#[test]
fn bones_cost_no_iterations() {
    let lattice = Lattice::cantilever(4);
    let iterations = |n_bones, young, is_chain| {
        let (_, _, report) = solve(&Body::new(&lattice, n_bones, young, is_chain), true, 1e-5);
        assert_eq!(report.stop, CgStop::Converged, "{report:?}");
        report.iterations
    };
    let single = iterations(1, 1e6, false);
    for (n_bones, young, is_chain) in
        [(1, 1e8, false), (4, 1e6, true), (4, 1e8, true), (8, 1e6, false), (8, 1e8, true)]
    {
        let more = iterations(n_bones, young, is_chain);
        assert!(
            2 * more < 3 * single,
            "{single} iterations for one bone, {more} for {n_bones} at {young:e} Pa"
        );
    }
}

#[test]
fn carriers_allocate_nothing_after_set_up() {
    let body = Body::new(&Lattice::new([8, 2, 2], 0.05), 4, 1e6, true);
    let mut system = Together::new(&body, false);
    let mut r = vec![1.0; system.n_own()];
    let z = &mut r.clone();
    let (mut impulses, mut twists) = ([Force::ZERO; 4], [Motion::ZERO; 4]);
    let info = allocation_counter::measure(|| {
        system.preconditioner.refresh_carried(&body.matrix, &body.positions, &body.centres);
        system.coupling.refresh(
            [(&system.preconditioner, &[0, 1, 2, 3][..])],
            [],
            false,
            |impulses, motions| {
                motions.iter_mut().zip(impulses).for_each(|(v, f)| *v = Motion::from_array(f.to_array()));
            },
        );
        system.preconditioner.restrict(&r, &mut impulses);
        system.coupling.react(&mut impulses, &mut twists);
        system.preconditioner.prolong(&r, &twists, z);
    });
    assert_eq!(info.count_total, 0);
    // A number that is not finite comes out again, for the conjugate gradients to report.
    r[0] = f64::NAN;
    system.preconditioner.restrict(&r, &mut impulses);
    system.coupling.react(&mut impulses, &mut twists);
    system.preconditioner.prolong(&r, &twists, z);
    assert!(z.iter().any(|z| z.is_nan()));
}
