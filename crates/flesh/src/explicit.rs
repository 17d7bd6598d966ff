//! Flesh in explicit sub-steps between bones that any scheme moves, and contacts of bodies for schemes without contacts.
//!
//! **What.** The bodies go from one state to another at constant twists, `R(t) = exp(tω)R₀`, `x(t) = x₀ + tv`. Fixed nodes
//! go with their bones; free nodes make sub-steps of length `h` between them (`sinew_fem::step_explicit`, KP08 §4), with
//! stiffness damping `−βKv` of the projected stiffness and contacts of the surface by
//! `sinew_contact::ContactLaw::force_with_memory`. The result is one wrench per body: the average over the step of what flesh
//! and its contacts did to it. Times `dt` it is the impulse that the flesh lost, to rounding.
//!
//! **How it is used.** This is the weaker coupling: the bones feel an average, not the stiffness. Their end is predicted from
//! their twists ([`predict_bodies`]), flesh goes there ([`step_explicit`]), the bones make their own step under the wrenches,
//! and fixed nodes and the stretches of their contacts are corrected to where the bones really are ([`finish_explicit`]). Bones
//! may also go first, if something else has moved them, and feel the wrenches in their next step. A bone that vibrates in the
//! flesh with the circular frequency `ω` then grows at a rate of, in units of `ω²dt` and for many sub-steps,
//!
//! | bones | predicted | first |
//! |---|---|---|
//! | move with the new velocity (`Scheme::Implicit`) | −¼ | ¼ |
//! | move with the mean velocity (`Scheme::Explicit`, `Scheme::Displacement`) | 0 | ½ |
//!
//! and ¼ more with a single sub-step; predicted ones are stable up to `ωdt` of about one. Stiff flesh on light bones is better
//! solved together with them ([`crate::Flesh`]).
//!
//! **Length of a sub-step.** Symplectic Euler with a damper of rate `γ` is stable for `(hω)² + 2hγ < 4`. `ω²` is at most that
//! of the elements plus that of the contacts, which is `k W_i/m_i` of a node with the surface weights `W_i = Σ w_pi` if all its
//! points touch, and `γ = βω²`. A contact is damped no more than the steps can follow: `c_n d ≤ ¼ m/h` with its share
//! `m = min m_i/W_i` of free nodes, and a quarter of `¼ m/dt` with its share of the mass of a body.
//!
//! World axes, SI, wrenches at centres of mass. Cost: per sub-step the forces of all elements (and their stiffness if
//! `β > 0`), and the contact queries. Nothing allocates once warm. What is not finite is left out and reported.

use glam::DVec3;
use sinew_contact::{Anchors, ContactModel, ContactPoint, ContactWorkspace, Mover, Owner, PointCloud};
use sinew_fem::{
    BoneMotion, Diagonalize, ExplicitStep, FemReport, FemScratch, FemState, Projection, STIFFNESS_PAIRS,
    StepScratch, for_each_tangent, stable_dt,
};
use sinew_math::{Force, Motion, Pose, log_so3};
use sinew_mechanism::{BodyId, State};

use crate::body::{FleshBody, weighted};
use crate::elements::{at_arm, force_at};
use crate::model::FleshModel;
use crate::state::FleshState;

/// How flesh is stepped between two states of the bodies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ExplicitFlesh {
    /// Time between the states, s.
    pub dt: f64,
    /// Gravity, m/s².
    pub gravity: DVec3,
    /// Sub-steps; 0 takes as many as are stable.
    pub substeps: u32,
    /// Who pays for the SVD.
    pub diagonalize: Diagonalize,
}

impl Default for ExplicitFlesh {
    /// 1/60 s in as many sub-steps as are stable, earth.
    fn default() -> Self {
        let gravity = DVec3::new(0.0, 0.0, -9.81);
        Self { dt: 1.0 / 60.0, gravity, substeps: 0, diagonalize: Diagonalize::Selective }
    }
}

/// What explicit sub-steps met.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ExplicitReport {
    /// Elements of all flesh in the last sub-step; the first element of any that was not finite.
    pub elements: FemReport,
    /// Sub-steps made.
    pub substeps: u32,
    /// Contacts that act in the last sub-step.
    pub n_contacts: usize,
    /// First body whose wrench is not finite, and was left out.
    pub non_finite: Option<BodyId>,
    /// Nothing was done: the time is not a positive number, or the states belong to another model.
    pub refused: bool,
}

/// Scratch of explicit steps; losing it changes no result.
pub struct ExplicitWorkspace {
    flesh: Vec<Part>,
    touch: Touching,
    paths: Vec<(Pose, Motion)>,
    poses: Vec<Pose>,
    motions: Vec<Motion>,
    sums: Vec<Force>,
    /// Contacts of each body.
    shares: Vec<f64>,
}

/// Scratch of one body of flesh.
struct Part {
    step: StepScratch,
    fem: FemScratch,
    bones: Vec<BoneMotion>,
    wrenches: Vec<Force>,
    external: Vec<DVec3>,
    /// Mass that damping of each surface point may count on, kg: `min m_i/W_i`.
    masses: Vec<f64>,
    stable_s: f64,
}

/// What contact queries need.
#[derive(Default)]
struct Touching {
    work: ContactWorkspace,
    points: Vec<ContactPoint>,
    more: Vec<ContactPoint>,
    surface: Vec<DVec3>,
    stretches: Vec<DVec3>,
}

/// Part of the stable length of a sub-step that is used: what contact damping of a quarter leaves room for.
const SAFETY: f64 = 0.7;
/// Part of the mass at a contact that its damping may stop in a step.
const MOST_DAMPED: f64 = 0.25;
/// The same for bones, as a part of it: flesh touches farther out than their own mass lies, and turns them easily.
const ON_BONES: f64 = 0.25;
/// Sub-steps at most, so that a mesh with a needle in it ends as not finite and not as endless.
const MOST_SUBSTEPS: f64 = 65_536.0;

impl ExplicitWorkspace {
    /// Scratch for a model.
    pub fn new(model: &FleshModel) -> Self {
        Self {
            flesh: model.bodies.iter().map(|body| Part::new(body, model.contact.as_ref())).collect(),
            touch: Touching::default(),
            paths: Vec::new(),
            poses: Vec::new(),
            motions: Vec::new(),
            sums: Vec::new(),
            shares: Vec::new(),
        }
    }

    /// The sub-step that [`step_explicit`] would choose at most, s; infinite without flesh.
    pub fn stable_substep_s(&self) -> f64 {
        self.flesh.iter().map(|part| part.stable_s).fold(f64::INFINITY, f64::min)
    }
}

impl Part {
    fn new(body: &FleshBody, contact: Option<&ContactModel>) -> Self {
        let n = body.fem.n_nodes();
        let mut weights = vec![0.0; n];
        for point in &body.surface {
            for (node, weight) in corners(body, point.tet).into_iter().zip(point.weights) {
                weights[node] += weight.abs();
            }
        }
        let mass = |node: usize| {
            let is_moved = !body.is_fixed[node] && weights[node] > 0.0;
            if is_moved { body.fem.masses()[node] / weights[node] } else { f64::INFINITY }
        };
        let lightest = (0..n).map(mass).fold(f64::INFINITY, f64::min);
        let stiffest = contact.map_or(0.0, |contact| stiffest(body, contact));
        let elastic = 2.0 / stable_dt(&body.fem);
        let (square, beta) =
            (elastic * elastic + stiffest / lightest, elastic * elastic * body.options.stiffness_damping_s);
        // h²ω² + 2hβω² = 4 s²
        let room = 4.0 * SAFETY * SAFETY;
        let stable_s = room / (beta + (beta * beta + room * square).sqrt());
        let masses = body.surface.iter().map(|point| {
            let near = corners(body, point.tet).into_iter().zip(point.weights);
            near.filter(|(_, w)| *w != 0.0).map(|(node, _)| mass(node)).fold(f64::INFINITY, f64::min)
        });
        Self {
            step: StepScratch::new(&body.fem),
            fem: FemScratch::new(&body.fem),
            bones: Vec::new(),
            wrenches: vec![Force::ZERO; body.bones.len()],
            external: vec![DVec3::ZERO; n],
            masses: masses.collect(),
            stable_s,
        }
    }

    /// Puts the bones where the bodies are, and the fixed nodes with them.
    fn prescribe(&mut self, body: &FleshBody, poses: &[Pose], motions: &[Motion], nodes: &mut FemState) {
        self.bones.clear();
        let bones = body.bones.iter();
        self.bones
            .extend(bones.map(|&bone| BoneMotion { world_from_bone: poses[bone], twist: motions[bone] }));
        body.attachments.prescribe(&self.bones, &mut nodes.positions, &mut nodes.velocities);
    }

    /// Adds `−βKv` to the external forces.
    fn damp(&mut self, body: &FleshBody, nodes: &FemState) {
        let (beta, external) = (body.options.stiffness_damping_s, &mut self.external);
        let tets = body.fem.mesh().tets();
        for_each_tangent(
            &body.fem,
            &nodes.positions,
            Projection::Semidefinite,
            &mut self.fem,
            |tet, element| {
                let corners = tets[tet].map(|node| node as usize);
                for (&(a, b), block) in STIFFNESS_PAIRS.iter().zip(&element.stiffness) {
                    external[corners[a]] -= *block * nodes.velocities[corners[b]] * beta;
                    if a != b {
                        external[corners[b]] -= block.transpose() * nodes.velocities[corners[a]] * beta;
                    }
                }
            },
        );
    }
}

/// The stiffest contact that a body of flesh can have, N/m.
fn stiffest(body: &FleshBody, contact: &ContactModel) -> f64 {
    let Some((material, groups)) = body.options.contact else { return 0.0 };
    let met = contact.colliders().iter().filter(|collider| groups.meet(collider.groups()));
    met.map(|collider| material.with(collider.material()))
        .map(|law| law.stiffness.max(law.tangential_stiffness))
        .fold(0.0, f64::max)
}

/// Where the bodies of a state are `dt` seconds later if nothing acts on them; writes the poses of `ahead`.
pub fn predict_bodies(state: &State, dt: f64, ahead: &mut State) {
    ahead.poses.clear();
    let bodies = state.poses.iter().zip(&state.motions);
    ahead.poses.extend(bodies.map(|(pose, motion)| pose.retract(*motion * dt)));
}

/// Moves flesh from the time of the state `before` to that of `after`; `wrenches` are overwritten with what it did to each
/// body that forces move, on average (at the centre of mass; as [`sinew_mechanism::Input::wrenches`] wants them).
pub fn step_explicit(
    model: &FleshModel,
    [before, after]: [&State; 2],
    settings: &ExplicitFlesh,
    flesh: &mut FleshState,
    work: &mut ExplicitWorkspace,
    wrenches: &mut Vec<(BodyId, Force)>,
) -> ExplicitReport {
    wrenches.clear();
    let n_bodies = model.masses.len();
    let fits = before.poses.len() == n_bodies && after.poses.len() == n_bodies && model.fits(flesh);
    if !(settings.dt > 0.0 && settings.dt.is_finite() && fits) {
        return ExplicitReport { refused: true, ..ExplicitReport::default() };
    }
    let substeps = match settings.substeps {
        0 => (settings.dt / work.stable_substep_s()).ceil().clamp(1.0, MOST_SUBSTEPS),
        n => f64::from(n),
    };
    let h = settings.dt / substeps;
    work.begin(before, after, settings.dt);
    let mut report = ExplicitReport { substeps: substeps as u32, ..ExplicitReport::default() };
    for k in 0..report.substeps {
        work.place(h * f64::from(k));
        work.substep(model, settings, h, flesh, &mut report);
    }
    work.poses.clear();
    work.poses.extend_from_slice(&after.poses);
    for ((part, body), nodes) in work.flesh.iter_mut().zip(&model.bodies).zip(&mut flesh.nodes) {
        part.prescribe(body, &work.poses, &work.motions, nodes);
    }
    for history in &mut flesh.history {
        history.velocities.clear();
        history.increments.clear();
    }
    report.non_finite = give(model, &work.sums, 1.0 / substeps, wrenches);
    report
}

/// Moves fixed nodes, and the stretches of contacts, from where the bodies were expected in the last [`step_explicit`] to where
/// they are.
pub fn finish_explicit(
    model: &FleshModel,
    state: &State,
    flesh: &mut FleshState,
    work: &mut ExplicitWorkspace,
) {
    let ExplicitWorkspace { touch: Touching { points, stretches, .. }, poses, .. } = work;
    // Where a point of a body at `arm` went beyond what was expected.
    let further = |body: usize, arm: DVec3| {
        let (end, expected) = (&state.poses[body], &poses[body]);
        end.transform_point(expected.inverse().transform_vector(arm)) - (expected.translation + arm)
    };
    for (point, stretch) in points.iter().zip(&mut *stretches).filter(|(_, s)| **s != DVec3::ZERO) {
        if let Some((i, index)) = vertex(model, point) {
            let (body, place) = (&model.bodies[i], &model.bodies[i].surface[index]);
            for (node, weight) in corners(body, place.tet).into_iter().zip(place.weights) {
                if let Some(bone) = body.attached_bone(node) {
                    let bone = body.bones[bone];
                    let arm = flesh.nodes[i].positions[node] - poses[bone].translation;
                    *stretch += further(bone, arm) * weight;
                }
            }
        }
        if let Some(other) = sides(point)[1] {
            *stretch -= further(other, point.point - poses[other].translation);
        }
    }
    if model.contact.is_some() {
        flesh.anchors.replace(points, stretches);
    }
    model.follow(state, flesh);
}

/// Wrenches of the contacts of bodies with the world and with each other at a state, for schemes that have no contacts of
/// their own and steps of `dt` seconds. `wrenches` are overwritten (at centres of mass); returned is the number of contacts
/// that act.
///
/// `anchors` must be others than those of [`FleshState`] if there is flesh that touches: what is not found here is forgotten.
/// Stable while `dt²k n/m` is well below one for a body of mass `m` on `n` contacts of stiffness `k`.
pub fn rigid_wrenches(
    model: &FleshModel,
    state: &State,
    dt: f64,
    anchors: &mut Anchors,
    work: &mut ExplicitWorkspace,
    wrenches: &mut Vec<(BodyId, Force)>,
) -> usize {
    wrenches.clear();
    let Some(contact) = &model.contact else { return 0 };
    let ExplicitWorkspace { touch, sums, shares, .. } = work;
    sums.clear();
    sums.resize(state.poses.len(), Force::ZERO);
    shares.clear();
    shares.resize(state.poses.len(), 0.0);
    let Touching { work, points, stretches, .. } = touch;
    contact.rigid_contacts(&state.poses, 0.0, work, points);
    anchors.fill_stretches(points, stretches);
    for body in points.iter().flat_map(sides).flatten() {
        shares[body] += 1.0;
    }
    let mut n_acting = 0;
    for (point, stretch) in points.iter().zip(&mut *stretches) {
        let [first, other] = sides(point);
        let arm = |body: usize| point.point - state.poses[body].translation;
        let speed =
            |side: Option<usize>| side.map_or(DVec3::ZERO, |body| at_arm(state.motions[body], arm(body)));
        let mass = [first, other].into_iter().flatten();
        let mass = mass.filter_map(|body| Some(model.masses[body]? / shares[body]));
        let found = memory_force(
            point,
            speed(first) - speed(other),
            *stretch,
            dt,
            mass.fold(f64::INFINITY, f64::min),
        );
        *stretch = found.stretch;
        n_acting += usize::from(found.normal > 0.0);
        for (side, force) in [(first, found.force), (other, -found.force)] {
            if let Some(body) = side {
                sums[body] += force_at(force, arm(body));
            }
        }
    }
    anchors.replace(points, stretches);
    give(model, sums, 1.0, wrenches);
    n_acting
}

/// The bodies on both sides of a contact of bodies.
fn sides(point: &ContactPoint) -> [Option<usize>; 2] {
    let first = if let Mover::Body(body) = point.a { Some(body as usize) } else { None };
    let other = if let Owner::Body(body) = point.b { Some(body as usize) } else { None };
    [first, other]
}

/// The force of a contact, damped no more than a step can follow.
fn memory_force(
    point: &ContactPoint,
    velocity: DVec3,
    stretch: DVec3,
    h: f64,
    mass: f64,
) -> sinew_contact::ContactForce {
    let mut law = point.law;
    if point.depth > 0.0 {
        law.damping = law.damping.min(MOST_DAMPED * mass / (h * point.depth));
    }
    law.force_with_memory(point.normal, point.depth, velocity, stretch, h)
}

/// Writes wrenches that are not zero; returns the first body whose wrench is not finite.
fn give(
    model: &FleshModel,
    sums: &[Force],
    scale: f64,
    wrenches: &mut Vec<(BodyId, Force)>,
) -> Option<BodyId> {
    let mut non_finite = None;
    for (body, (sum, mass)) in sums.iter().zip(&model.masses).enumerate() {
        let id = BodyId::from_index(body);
        if !sum.is_finite() {
            non_finite = non_finite.or(Some(id));
        } else if mass.is_some() && *sum != Force::ZERO {
            wrenches.push((id, *sum * scale));
        }
    }
    non_finite
}

impl ExplicitWorkspace {
    /// The paths of the bodies.
    fn begin(&mut self, before: &State, after: &State, dt: f64) {
        self.paths.clear();
        self.paths.extend(before.poses.iter().zip(&after.poses).map(|(start, end)| {
            let turn = log_so3(end.rotation * start.rotation.inverse());
            (*start, Motion::new(turn, end.translation - start.translation) * (1.0 / dt))
        }));
        self.motions.clear();
        self.motions.extend(self.paths.iter().map(|path| path.1));
        self.sums.clear();
        self.sums.resize(before.poses.len(), Force::ZERO);
    }

    /// Where the bodies are at a time since the start.
    fn place(&mut self, time: f64) {
        self.poses.clear();
        self.poses.extend(self.paths.iter().map(|(start, twist)| start.retract(*twist * time)));
    }

    fn substep(
        &mut self,
        model: &FleshModel,
        settings: &ExplicitFlesh,
        h: f64,
        flesh: &mut FleshState,
        report: &mut ExplicitReport,
    ) {
        for ((part, body), nodes) in self.flesh.iter_mut().zip(&model.bodies).zip(&mut flesh.nodes) {
            part.prescribe(body, &self.poses, &self.motions, nodes);
            part.external.fill(DVec3::ZERO);
            if body.options.stiffness_damping_s > 0.0 {
                part.damp(body, nodes);
            }
        }
        if let Some(contact) = &model.contact {
            report.n_contacts = self.press(model, contact, [h, settings.dt], flesh);
        }
        let non_finite = report.elements.non_finite;
        report.elements = FemReport { non_finite, ..FemReport::default() };
        for ((part, body), nodes) in self.flesh.iter_mut().zip(&model.bodies).zip(&mut flesh.nodes) {
            let step = ExplicitStep {
                dt_s: h,
                gravity: settings.gravity,
                damping_per_s: body.options.bone_damping_per_s,
                external: &part.external,
                bones: &part.bones,
                diagonalize: settings.diagonalize,
            };
            let met = sinew_fem::step_explicit(
                &body.fem,
                &body.attachments,
                &step,
                nodes,
                &mut part.step,
                &mut part.wrenches,
            );
            report.elements.n_diagonalized += met.n_diagonalized;
            report.elements.n_inverted += met.n_inverted;
            report.elements.non_finite = report.elements.non_finite.or(met.non_finite);
            for (&bone, wrench) in body.bones.iter().zip(&part.wrenches) {
                self.sums[bone] += *wrench;
            }
        }
    }

    /// Contacts of the surface: forces on nodes, and on the bodies that are touched. Damping is held back by the free nodes
    /// for a sub-step, and by bodies, which wait longer for it, for the whole step.
    fn press(
        &mut self,
        model: &FleshModel,
        contact: &ContactModel,
        [h, dt]: [f64; 2],
        state: &mut FleshState,
    ) -> usize {
        let Self { flesh, touch, poses, motions, sums, shares, .. } = self;
        let Touching { work, points, more, surface, stretches } = touch;
        points.clear();
        for (i, (body, nodes)) in model.bodies.iter().zip(&state.nodes).enumerate() {
            if let Some((material, groups)) = body.options.contact {
                body.fill_surface(&nodes.positions, surface);
                more.clear();
                let (first, ignored) = (model.first_points[i], &model.ignored[i]);
                let cloud = PointCloud { points: surface, first, material, groups, ignored };
                contact.point_contacts(&cloud, poses, 0.0, work, more);
                points.append(more);
            }
        }
        points.sort_unstable_by_key(|point| point.key);
        state.anchors.fill_stretches(points, stretches);
        shares.clear();
        shares.resize(poses.len(), 0.0);
        for (body, weight) in points.iter().flat_map(|point| carriers(model, point)).flatten() {
            shares[body] += weight;
        }
        let mut n_acting = 0;
        for (point, stretch) in points.iter().zip(&mut *stretches) {
            let Some((i, index)) = vertex(model, point) else { continue };
            let body = &model.bodies[i];
            let place = &body.surface[index];
            let near = corners(body, place.tet);
            let own = weighted(&place.weights, near.map(|node| state.nodes[i].velocities[node]));
            let other = sides(point)[1];
            let arm = |other: usize| point.point - poses[other].translation;
            let met = other.map_or(DVec3::ZERO, |other| at_arm(motions[other], arm(other)));
            let bodies = carriers(model, point).into_iter().flatten();
            let bodies = bodies.filter_map(|(body, _)| Some(model.masses[body]? / shares[body]));
            let mass = bodies.fold(f64::INFINITY, f64::min) * (ON_BONES * h / dt);
            let found = memory_force(point, own - met, *stretch, h, mass.min(flesh[i].masses[index]));
            *stretch = found.stretch;
            n_acting += usize::from(found.normal > 0.0);
            for (node, weight) in near.into_iter().zip(place.weights) {
                flesh[i].external[node] += found.force * weight;
            }
            if let Some(other) = other {
                sums[other] += force_at(-found.force, arm(other));
            }
        }
        state.anchors.replace(points, stretches);
        n_acting
    }
}

/// The body of flesh of a contact, and the number of its surface point.
fn vertex(model: &FleshModel, point: &ContactPoint) -> Option<(usize, usize)> {
    let Mover::Vertex(vertex) = point.a else { return None };
    let flesh = model.first_points.partition_point(|&first| first <= vertex) - 1;
    Some((flesh, (vertex - model.first_points[flesh]) as usize))
}

/// The bodies that a contact of flesh acts on, and how much: bones of fixed corners, and the one touched.
fn carriers(model: &FleshModel, point: &ContactPoint) -> [Option<(usize, f64)>; 5] {
    let mut out = [None; 5];
    out[4] = sides(point)[1].map(|body| (body, 1.0));
    if let Some((i, index)) = vertex(model, point) {
        let body = &model.bodies[i];
        let place = &body.surface[index];
        for (corner, node) in corners(body, place.tet).into_iter().enumerate() {
            let weight = place.weights[corner].abs();
            let bone = body.attached_bone(node).filter(|_| weight > 0.0);
            out[corner] = bone.map(|bone| (body.bones[bone], weight));
        }
    }
    out
}

fn corners(body: &FleshBody, tet: u32) -> [usize; 4] {
    body.fem.mesh().tets()[tet as usize].map(|node| node as usize)
}
