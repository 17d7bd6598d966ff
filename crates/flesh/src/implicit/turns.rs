//! How the cells of flesh turn in a step of first order.
//!
//! A node that goes on along its velocity leaves the circle on which it turns: linear in the step, a cell that turns by `θ` seems to be stretched by `½θ²`, and forces that point as at the end of the step slow
//! the turn down. So the impulses of each cell, a tetrahedron, a star or a fibre, are linear in what its nodes do beside its turn `R`, and point as where the step begins. With nodes at `x`, and the velocities `u` that lead to
//! `x + h u`,
//! ```text
//! impulse = h f(x) − h(h + β) K(x) (u − w)          w = (R − 1)(x − c)/h − b
//! ```
//! These impulses have no moment but for that of `u − w`, and `x⁺ × m u = x × m u`: what turns keeps its angular momentum. Stiff cells have the forces of constraints at the start of a step that are met at its end, as
//! in SHAKE. Nodes of a bone end on its circle, and not at `x + h (V + ω × r)`: `b` is what that leaves out, `((exp(hω) − 1) r)/h − ω × r`.
//!
//! `R` is the turn of the last step: the rotation vector `2 tan ½θ` fits the ways `h v` of the nodes to where they are best about the points half-way, which is exact if the cell is rigid. If the solve finds other turns, and
//! that matters, the step is solved again with those. World axes, m, s. Cost: about 150 multiplications per cell, and its matrix once.

use glam::DVec3;
use sinew_fem::Lame;
use sinew_math::{Motion, Sym3, exp_so3};

use crate::body::FleshBody;
use crate::node_vectors::velocity_at;

/// Share of the inertia of a cell that one without extent has about its axis.
const THIN: f64 = 1e-9;

/// Energy of wrong turns, relative to the kinetic energy about the mean velocity, with which a step is solved again.
const MATTERS: f64 = 3e-3;

/// How often that may be.
const MOST: u32 = 3;

/// Deformation of a cell in one step with which its turn means little.
const VIOLENT: f64 = 0.1;

/// How the nodes of one body of flesh move.
#[derive(Clone, Debug, Default)]
pub(super) struct NodeTurns {
    /// Velocities along the chords of the last step, to where the nodes are; or of this step, from there. m/s.
    chord: Vec<DVec3>,
    is_found: bool,
    /// Those that a solve has found.
    found: Vec<DVec3>,
    /// `b`, m/s; zero for free nodes, and where cells do not turn.
    pub(super) bend: Vec<DVec3>,
    /// Whether cells turn in this step.
    pub(super) is_on: bool,
    /// Whether the turns have changed since cells were linearized, and how often in this step.
    pub(super) has_moved: bool,
    n_moved: u32,
}

/// The turn of a cell in a step.
#[derive(Clone, Copy, Debug)]
pub(super) struct CellTurn {
    /// Rotation vector of the length `tan ½θ`.
    half: DVec3,
    /// `c`, m.
    centre: DVec3,
}

/// The velocity along the chord of a step of the length `h` for a point of a body that turns; a negative length is the last step.
fn chord_at(motion: Motion, arm: DVec3, h: f64) -> DVec3 {
    motion.linear + (exp_so3(motion.angular * h) * arm - arm) / h
}

impl NodeTurns {
    pub(super) fn new(n: usize) -> Self {
        let zeros = || vec![DVec3::ZERO; n];
        Self { chord: zeros(), found: zeros(), bend: zeros(), ..Self::default() }
    }

    /// Begins a step in which cells turn, or linearizes elsewhere, where they do not.
    pub(super) fn begin(&mut self, is_on: bool) {
        (self.is_on, self.is_found, self.has_moved, self.n_moved) = (is_on, false, false, 0);
        self.bend.fill(DVec3::ZERO);
    }

    /// Takes the velocity of a free node in the last step.
    pub(super) fn place(&mut self, node: usize, velocity: DVec3) {
        self.chord[node] = velocity;
    }

    /// Takes the twist of the bone of a node, at its lever arm.
    pub(super) fn place_fixed(&mut self, node: usize, motion: Motion, arm: DVec3, h: f64) {
        if !self.is_on {
            return;
        }
        self.chord[node] = chord_at(motion, arm, -h);
        self.bend[node] = chord_at(motion, arm, h) - velocity_at(motion, arm);
    }

    /// The turn of a cell with nodes at `positions` in a step of the length `h`.
    #[inline]
    pub(super) fn of(
        &self,
        nodes: impl Iterator<Item = usize> + Clone,
        positions: &[DVec3],
        h: f64,
    ) -> CellTurn {
        fit(nodes, positions, &self.chord, if self.is_found { [h, 0.5 * h] } else { [h, -0.5 * h] })
    }

    /// `w` of a node of a cell, m/s.
    #[inline]
    pub(super) fn moved(&self, turn: &CellTurn, node: usize, position: DVec3, h: f64) -> DVec3 {
        turn.way(position) / h - self.bend[node]
    }

    /// Takes the turns that a solve has found if they stretch cells otherwise by an energy that matters. Whether the step must be solved again. `ends` are the velocities of free nodes, `placed` are the twist of a bone and the
    /// lever arm of a node of it.
    pub(super) fn follow(
        &mut self,
        body: &FleshBody,
        (positions, h): (&[DVec3], f64),
        ends: &[DVec3],
        placed: impl Fn(usize, usize) -> (Motion, DVec3),
    ) -> bool {
        if !self.is_on {
            return false;
        }
        self.find(body, h, ends, placed);
        if self.missed(body, positions, h) <= MATTERS * inner_energy(body, ends) {
            return false;
        }
        self.n_moved += 1;
        (self.has_moved, self.is_on) = (true, self.n_moved <= MOST);
        self.take_found(ends);
        true
    }

    /// Takes the turns of the solve before.
    fn take_found(&mut self, ends: &[DVec3]) {
        self.is_found = true;
        std::mem::swap(&mut self.chord, &mut self.found);
        for (node, (bend, &end)) in self.bend.iter_mut().zip(ends).enumerate() {
            *bend = if self.is_on { self.chord[node] - end } else { DVec3::ZERO };
        }
    }

    /// The chords that a solve has found.
    fn find(
        &mut self,
        body: &FleshBody,
        h: f64,
        ends: &[DVec3],
        placed: impl Fn(usize, usize) -> (Motion, DVec3),
    ) {
        for (node, &end) in ends.iter().enumerate() {
            self.found[node] = body.attached_bone(node).map_or(end, |bone| {
                let (motion, arm) = placed(bone, node);
                chord_at(motion, arm, h)
            });
        }
    }

    /// Takes the turns of the solve before, for another with the same directions.
    pub(super) fn lead_on(
        &mut self,
        body: &FleshBody,
        h: f64,
        ends: &[DVec3],
        placed: impl Fn(usize, usize) -> (Motion, DVec3),
    ) {
        self.find(body, h, ends, placed);
        self.take_found(ends);
    }

    /// Elastic energy of the stretch by which the turns of all tetrahedra miss those that were found, J.
    fn missed(&self, body: &FleshBody, positions: &[DVec3], h: f64) -> f64 {
        let tets = (0..body.fem.n_tets()).map(|tet| {
            let nodes = body.corners(tet as u32).into_iter();
            let found = fit(nodes.clone(), positions, &self.found, [h, 0.5 * h]).half;
            let thought = self.of(nodes, positions, h).half;
            let stretch = 2.0 * (found.length_squared() - thought.length_squared());
            let Lame { lambda_pa, mu_pa } = body.fem.material_of(tet).lame();
            0.5 * (lambda_pa + 2.0 * mu_pa) * body.fem.filled_volume(tet) * stretch * stretch
        });
        tets.sum()
    }
}

/// Kinetic energy of flesh about its mean velocity, J.
fn inner_energy(body: &FleshBody, velocities: &[DVec3]) -> f64 {
    let nodes = || body.fem.masses().iter().zip(velocities);
    let (mass, momentum) = nodes().fold((0.0, DVec3::ZERO), |(mass, sum), (m, v)| (mass + m, sum + *v * *m));
    let mean = momentum / mass;
    nodes().map(|(m, v)| 0.5 * m * (*v - mean).length_squared()).sum()
}

/// The turn in a step of the length `h` that fits chords (m/s) best, about the points at the time `middle` (s) on them; none for cells that deform far beside it.
#[inline]
fn fit(
    nodes: impl Iterator<Item = usize> + Clone,
    positions: &[DVec3],
    chords: &[DVec3],
    [h, middle]: [f64; 2],
) -> CellTurn {
    let (mut centre, mut along, mut n) = (DVec3::ZERO, DVec3::ZERO, 0.0);
    for node in nodes.clone() {
        (centre, along, n) = (centre + positions[node], along + chords[node], n + 1.0);
    }
    let (centre, along) = (centre / n, along / n);
    let (mut inertia, mut moment, mut change) = (Sym3::ZERO, DVec3::ZERO, 0.0);
    for node in nodes {
        let way = chords[node] - along;
        let arm = positions[node] - centre + way * middle;
        inertia += Sym3::minus_skew_squared(arm);
        moment += arm.cross(way);
        change += way.length_squared();
    }
    let size = 0.5 * inertia.trace();
    inertia += Sym3::IDENTITY * (THIN * size);
    let rate = inertia.inverse().map_or(DVec3::ZERO, |inverse| inverse.mul_vec(moment));
    let deformed = (change - rate.dot(moment)) * (h * h);
    let turns = rate.is_finite() && deformed <= VIOLENT * VIOLENT * size;
    CellTurn { half: if turns { rate * (0.5 * h) } else { DVec3::ZERO }, centre }
}

impl CellTurn {
    /// `(R − 1)(x − c)`, m.
    #[inline]
    fn way(&self, x: DVec3) -> DVec3 {
        let across = self.half.cross(x - self.centre);
        (across + self.half.cross(across)) * (2.0 / (1.0 + self.half.length_squared()))
    }
}
