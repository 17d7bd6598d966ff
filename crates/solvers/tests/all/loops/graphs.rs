//! Random trees with loop rows, and the same written out densely in joint coordinates.
//!
//! `v = G u` with `G` from `v_a = X v_b + S u_a`; `H = GᵀM G + K̂`; the reaction is `T = G H⁻¹Gᵀ`, and the loops are
//! `[H  −(JG)ᵀ; JG  D](u, λ) = (Gᵀz, b)`.

use glam::DVec3;
use sinew_math::{Force, Motion, Sym3, Sym6, shift_motion};
use sinew_solvers::{
    ActivePairs, FreeMass, Load, LoopMethod, LoopProblem, LoopReport, LoopRow, LoopRows, LoopScratch,
    LoopSettings, PairFactor, PairJoint, Responder, TreeReaction, TreeResponder, refine,
};
use sinew_testkit::{Dense, Rng};

/// The methods that end in least squares where rows contradict each other.
pub(super) const LEAST_SQUARES: &[LoopMethod] = &[LoopMethod::ConjugateResidual, LoopMethod::Dense];

pub(super) struct Joint {
    free: usize,
    pub(super) shift: DVec3,
    pub(super) basis: [Motion; 6],
    stiffness: [f64; 6],
}

impl Joint {
    pub(super) fn free(&self) -> usize {
        self.free
    }
}

/// A tree whose parents come after their children.
pub(super) struct Tree {
    pub(super) joints: Vec<Joint>,
    pub(super) parents: Vec<u32>,
    inertia: Vec<Sym3>,
    mass: Vec<f64>,
    pub(super) factor: PairFactor,
}

fn motion(rng: &mut Rng) -> Motion {
    Motion { angular: rng.vec3(-1.0, 1.0), linear: rng.vec3(-1.0, 1.0) }
}

pub(super) fn force(rng: &mut Rng) -> Force {
    Force { angular: rng.vec3(-1.0, 1.0), linear: rng.vec3(-1.0, 1.0) }
}

impl Tree {
    /// `n` bodies; `free(rng)` gives the free dimensions of a joint. A third of the joints has springs.
    pub(super) fn random(rng: &mut Rng, n: usize, free: impl Fn(&mut Rng) -> usize) -> Self {
        let joints: Vec<Joint> = (0..n)
            .map(|_| {
                let springs = rng.chance(0.33);
                Joint {
                    free: free(rng),
                    shift: rng.vec3(-1.0, 1.0),
                    basis: [0; 6].map(|_| motion(rng)),
                    stiffness: [0; 6].map(|_| if springs { rng.power_of_ten(-2, 4) } else { 0.0 }),
                }
            })
            .collect();
        let parents: Vec<u32> = (0..n)
            .map(|k| {
                let up = k + 1 + rng.below(3);
                if up < n && rng.chance(0.9) { up as u32 } else { u32::MAX }
            })
            .collect();
        let inertia = (0..n).map(|_| Sym3::diagonal(rng.vec3(0.1, 1.0))).collect();
        let mass = (0..n).map(|_| rng.uniform(0.5, 2.0)).collect();
        let factor = PairFactor::new(joints.iter().map(|joint| joint.free));
        let mut tree = Self { joints, parents, inertia, mass, factor };
        tree.eliminate();
        tree
    }

    fn eliminate(&mut self) {
        let n = self.len();
        let mut loads: Vec<Load> = (0..n)
            .map(|k| Load { mass: Sym6::rigid(self.inertia[k], self.mass[k]), momentum: Force::ZERO })
            .collect();
        for k in 0..n {
            let mut load = loads[k];
            match self.joints[k].free {
                0 => eliminate::<0>(&mut self.factor, k, &mut load, &self.joints[k]),
                1 => eliminate::<1>(&mut self.factor, k, &mut load, &self.joints[k]),
                2 => eliminate::<2>(&mut self.factor, k, &mut load, &self.joints[k]),
                3 => eliminate::<3>(&mut self.factor, k, &mut load, &self.joints[k]),
                4 => eliminate::<4>(&mut self.factor, k, &mut load, &self.joints[k]),
                5 => eliminate::<5>(&mut self.factor, k, &mut load, &self.joints[k]),
                _ => eliminate::<6>(&mut self.factor, k, &mut load, &self.joints[k]),
            }
            if let Some(parent) = loads.get_mut(self.parents[k] as usize) {
                parent.add(&load);
            }
        }
    }

    pub(super) fn len(&self) -> usize {
        self.joints.len()
    }

    pub(super) fn free_mass(&self, port: u32) -> FreeMass {
        let k = port as usize;
        FreeMass { inverse_mass: 1.0 / self.mass[k], inverse_inertia: self.inertia[k].inverse().unwrap() }
    }

    /// `G` and `H`.
    pub(super) fn dense(&self) -> (Dense, Dense) {
        let n = self.len();
        let n_free: usize = self.joints.iter().map(|joint| joint.free).sum();
        let mut g = Dense::zeros(6 * n, n_free);
        let mut h = Dense::zeros(n_free, n_free);
        let mut column = n_free;
        for k in (0..n).rev() {
            let joint = &self.joints[k];
            if self.parents[k] != u32::MAX {
                let p = self.parents[k] as usize;
                for j in 0..n_free {
                    let above: [f64; 6] = std::array::from_fn(|i| g[(6 * p + i, j)]);
                    let carried = shift_motion(above.into(), joint.shift).to_array();
                    (0..6).for_each(|i| g[(6 * k + i, j)] = carried[i]);
                }
            }
            column -= joint.free;
            for f in 0..joint.free {
                let own = joint.basis[f].to_array();
                (0..6).for_each(|i| g[(6 * k + i, column + f)] += own[i]);
                h[(column + f, column + f)] = joint.stiffness[f];
            }
        }
        let mass = Dense::from_fn(6 * n, 6 * n, |i, j| {
            let (body, inertia) = (i / 6, self.inertia[i / 6].to_mat3());
            match (i % 6, j % 6) {
                _ if body != j / 6 => 0.0,
                (a, b) if a < 3 && b < 3 => inertia.col(b)[a],
                (a, b) if a == b => self.mass[body],
                _ => 0.0,
            }
        });
        let h = h.plus(&g.transpose().mul(&mass.mul(&g)), 1.0);
        (g, h)
    }

    /// The reaction of all bodies.
    pub(super) fn react(&self, impulses: &[Force]) -> Vec<Motion> {
        let mut motions = vec![Motion::ZERO; self.len()];
        let active = ActivePairs::all(self.len());
        let mut scratch = TreeReaction::new(&self.factor);
        self.responder(&active, &mut scratch).respond(impulses, &mut motions);
        motions
    }

    pub(super) fn responder<'a>(
        &'a self,
        active: &'a ActivePairs,
        scratch: &'a mut TreeReaction,
    ) -> TreeResponder<'a> {
        TreeResponder { factor: &self.factor, parents: &self.parents, active, scratch }
    }

    /// Refines rows on this tree from `lambda`; the tree alone would stand still.
    pub(super) fn refine(
        &self,
        rows: &LoopRows,
        lambda: &mut [f64],
        settings: &LoopSettings,
    ) -> (LoopReport, Vec<Motion>) {
        let active = ActivePairs::new(&self.parents, rows.touched_ports());
        let mut reaction = TreeReaction::new(&self.factor);
        let report = refine(
            LoopProblem {
                rows,
                responder: &mut self.responder(&active, &mut reaction),
                free_mass: &|port| self.free_mass(port),
                rhs: rows.rhs(),
                graph: None,
            },
            lambda,
            settings,
            &mut LoopScratch::new(),
            &mut |_, _| true,
        );
        let mut impulses = vec![Force::ZERO; self.len()];
        rows.scatter(lambda, &mut impulses);
        (report, self.react(&impulses))
    }
}

fn eliminate<const F: usize>(factor: &mut PairFactor, pair: usize, load: &mut Load, joint: &Joint) {
    let mut stiffness = [[0.0; F]; F];
    (0..F).for_each(|i| stiffness[i][i] = joint.stiffness[i]);
    let joint = PairJoint {
        shift: joint.shift,
        basis: std::array::from_fn::<_, F, _>(|i| joint.basis[i]),
        offset: Motion::ZERO,
        stiffness,
        impulse: [0.0; F],
    };
    assert_eq!(factor.view().eliminate(pair, load, &joint), 0);
}

/// One joint among the loops, to be pushed as it is or written out densely.
#[derive(Clone)]
pub(super) struct Block {
    pub(super) ports: [u32; 2],
    pub(super) arms: Option<[DVec3; 2]>,
    pub(super) rows: Vec<LoopRow>,
    pub(super) weight: f64,
}

impl Block {
    pub(super) fn random(rng: &mut Rng, n_bodies: usize, compliant: bool) -> Self {
        let first = rng.below(n_bodies) as u32;
        let second = rng.below(n_bodies + 1) as u32;
        let second = if second == first || second as usize == n_bodies { LoopRows::FIXED } else { second };
        if !compliant && rng.chance(0.6) {
            return Self::point([first, second], [0; 2].map(|_| rng.vec3(-1.0, 1.0)), rng.vec3(-1.0, 1.0));
        }
        let rows = (0..1 + rng.below(6))
            .map(|_| {
                // A spring of 0 … 1e8 N/m with some damping over 10 ms.
                let stiffness = if rng.chance(0.2) { 0.0 } else { rng.power_of_ten(0, 8) };
                let compliance = if compliant { 1.0 / (0.01 * (0.01 * stiffness + 0.1)) } else { 0.0 };
                LoopRow { on1: force(rng), on2: force(rng), rhs: rng.uniform(-1.0, 1.0), compliance }
            })
            .collect();
        Self { ports: [first, second], arms: None, rows, weight: 1.0 }
    }

    pub(super) fn point(ports: [u32; 2], arms: [DVec3; 2], rhs: DVec3) -> Self {
        let row = |k: usize| {
            let e = DVec3::from_array(std::array::from_fn(|i| f64::from(u8::from(i == k))));
            let on = |arm: DVec3| Force { angular: arm.cross(e), linear: e };
            LoopRow { on1: on(arms[0]), on2: -on(arms[1]), rhs: rhs[k], compliance: 0.0 }
        };
        Self { ports, arms: Some(arms), rows: (0..3).map(row).collect(), weight: 1.0 }
    }

    pub(super) fn push(&self, rows: &mut LoopRows) {
        match self.arms {
            Some(arms) => {
                let rhs = DVec3::from_array(std::array::from_fn(|k| self.rows[k].rhs));
                rows.push_point(self.ports, arms, rhs, self.weight);
            }
            None => rows.push(self.ports, &self.rows, self.weight),
        }
    }
}

pub(super) fn pushed(blocks: &[Block]) -> LoopRows {
    let mut rows = LoopRows::new();
    blocks.iter().for_each(|block| block.push(&mut rows));
    rows
}

/// The loop equations of a tree, dense.
pub(super) struct Reference {
    g: Dense,
    h: Dense,
}

impl Reference {
    pub(super) fn new(tree: &Tree) -> Self {
        let (g, h) = tree.dense();
        Self { g, h }
    }

    fn jacobian(&self, blocks: &[Block]) -> Dense {
        let rows: Vec<_> = blocks.iter().flat_map(|b| b.rows.iter().map(|row| (b.ports, row))).collect();
        let mut j = Dense::zeros(rows.len(), self.g.n_rows());
        for (r, (ports, row)) in rows.iter().enumerate() {
            for (&port, on) in ports.iter().zip([row.on1, row.on2]) {
                if port != LoopRows::FIXED {
                    let on = on.to_array();
                    (0..6).for_each(|i| j[(r, 6 * port as usize + i)] += on[i]);
                }
            }
        }
        j
    }

    /// `Â + D`.
    pub(super) fn matrix(&self, blocks: &[Block]) -> Dense {
        let jg = self.jacobian(blocks).mul(&self.g);
        let mut a = jg.mul(&self.h.inverse().unwrap()).mul(&jg.transpose());
        for (i, row) in blocks.iter().flat_map(|block| &block.rows).enumerate() {
            a[(i, i)] += row.compliance;
        }
        a
    }

    /// Whether the rows are safely independent: no small pivot in a Cholesky factorization.
    pub(super) fn independent(&self, blocks: &[Block]) -> bool {
        let mut a = self.matrix(blocks);
        let n = a.n_rows();
        let diagonal: Vec<f64> = (0..n).map(|i| a[(i, i)]).collect();
        (0..n).all(|k| {
            let pivot = a[(k, k)];
            for i in k + 1..n {
                let factor = a[(i, k)] / pivot;
                for j in k + 1..n {
                    let update = factor * a[(k, j)];
                    a[(i, j)] -= update;
                }
            }
            pivot > 1e-4 * diagonal[k] && pivot > 1e-6
        })
    }

    /// The motions of all bodies when independent rows act on the tree at rest.
    pub(super) fn motions(&self, blocks: &[Block]) -> Vec<f64> {
        let rhs: Vec<f64> = blocks.iter().flat_map(|block| &block.rows).map(|row| row.rhs).collect();
        self.solve(blocks, &vec![0.0; self.g.n_rows()], &rhs)
    }

    /// The motions of all bodies under impulses when the rows ask for nothing.
    pub(super) fn closed_reaction(&self, blocks: &[Block], impulses: &[Force]) -> Vec<f64> {
        let impulses: Vec<f64> = impulses.iter().flat_map(|f| f.to_array()).collect();
        let n_rows = blocks.iter().map(|block| block.rows.len()).sum();
        self.solve(blocks, &impulses, &vec![0.0; n_rows])
    }

    fn solve(&self, blocks: &[Block], impulses: &[f64], of_rows: &[f64]) -> Vec<f64> {
        let jg = self.jacobian(blocks).mul(&self.g);
        let (m, n) = (jg.n_rows(), jg.n_cols());
        let mut kkt = Dense::zeros(n + m, n + m);
        kkt.add_block(0, 0, &self.h);
        kkt.add_block(n, 0, &jg);
        kkt.add_block(0, n, &Dense::zeros(n, m).plus(&jg.transpose(), -1.0));
        let mut rhs = self.g.transpose().mul_vec(impulses);
        rhs.extend_from_slice(of_rows);
        for (i, row) in blocks.iter().flat_map(|block| &block.rows).enumerate() {
            kkt[(n + i, n + i)] = row.compliance;
        }
        self.g.mul_vec(&kkt.solve(&rhs).unwrap()[..n])
    }
}

/// Random independent blocks on a tree, at most `wanted`.
pub(super) fn independent_blocks(
    rng: &mut Rng,
    tree: &Tree,
    reference: &Reference,
    wanted: usize,
    compliant: f64,
) -> Vec<Block> {
    let mut blocks = Vec::new();
    for _ in 0..4 * wanted {
        if blocks.len() < wanted {
            let soft = rng.chance(compliant);
            blocks.push(Block::random(rng, tree.len(), soft));
            if !reference.independent(&blocks) {
                blocks.pop();
            }
        }
    }
    blocks
}

/// The largest difference of motions relative to the largest motion.
pub(super) fn difference(motions: &[Motion], expected: &[f64]) -> f64 {
    let flat: Vec<f64> = motions.iter().flat_map(|v| v.to_array()).collect();
    let size = expected.iter().fold(0.0, |m: f64, v| m.max(v.abs()));
    let worst = flat.iter().zip(expected).fold(0.0, |m: f64, (a, b)| m.max((a - b).abs()));
    if size > 0.0 { worst / size } else { worst }
}
