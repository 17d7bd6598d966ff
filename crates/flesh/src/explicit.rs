//! Flesh in explicit sub-steps between bones that any scheme moves.
//!
//! **What.** The bodies go from one state to another at constant twists, `R(t) = exp(tω)R₀`, `x(t) = x₀ + tv`. Fixed nodes
//! go with their bones; free nodes make sub-steps of length `h` between them (`sinew_fem::step_explicit`, KP08 §4), with
//! stiffness damping `−βKv` of the projected stiffness and the contacts of the surface (`explicit_contacts`). The result is one wrench per body: the average over the step of what flesh
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
//! | move with the mean velocity (`Scheme::Explicit`) | 0 | ½ |
//!
//! and ¼ more with a single sub-step; predicted ones are stable up to `ωdt` of about one. Stiff flesh on light bones is better
//! solved together with them ([`crate::Flesh`]).
//!
//! **Length of a sub-step.** Symplectic Euler with a damper of rate `γ` is stable for `(hω)² + 2hγ < 4`. `ω²` is at most that
//! of the elements plus that of the contacts, which is `k W_i/m_i` of a node with the surface weights `W_i = Σ w_pi` if all its
//! points touch, and `γ = βω²`; contacts are damped no more than that leaves room for.
//!
//! World axes, SI, wrenches at centres of mass. Cost: per sub-step the forces of all elements (and their stiffness if
//! `β > 0`), and the contact queries. Nothing allocates once warm. What is not finite is left out and reported.

use glam::DVec3;
use sinew_contact::{ContactModel, ContactSummary};
use sinew_fem::{
    BoneMotion, Diagonalize, ExplicitStep, FemReport, FemScratch, FemState, Projection, STIFFNESS_PAIRS,
    StepScratch, for_each_tangent, stable_dt,
};
use sinew_math::{Force, Motion, Pose, log_so3};
use sinew_mechanism::{BodyId, State};

use crate::body::FleshBody;
use crate::explicit_contacts::{Touching, stiffest};
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
    /// Contacts of flesh in the last sub-step.
    pub contacts: ContactSummary,
    /// First body whose wrench is not finite, and was left out.
    pub non_finite: Option<BodyId>,
    /// Nothing was done: the time is not a positive number, or the states belong to another model.
    pub refused: bool,
}

/// Scratch of explicit steps; losing it changes no result.
pub struct ExplicitWorkspace {
    pub(crate) flesh: Vec<Part>,
    /// Contacts of flesh, and of bodies.
    pub(crate) touch: Touching,
    pub(crate) rigid: Touching,
    paths: Vec<(Pose, Motion)>,
    /// Where the bodies are in a sub-step, and their twists.
    pub(crate) poses: Vec<Pose>,
    pub(crate) motions: Vec<Motion>,
    /// Wrenches on all bodies so far.
    pub(crate) sums: Vec<Force>,
}

/// Scratch of one body of flesh.
pub(crate) struct Part {
    step: StepScratch,
    fem: FemScratch,
    bones: Vec<BoneMotion>,
    wrenches: Vec<Force>,
    /// Forces on nodes beside those of elements, N.
    pub(crate) external: Vec<DVec3>,
    /// Mass that damping of each surface point may count on, kg: `min m_i/W_i`.
    pub(crate) masses: Vec<f64>,
    stable_s: f64,
}

/// Part of the stable length of a sub-step that is used: what contact damping of a quarter leaves room for.
const SAFETY: f64 = 0.7;
/// Sub-steps at most, so that a mesh with a needle in it ends as not finite and not as endless.
const MOST_SUBSTEPS: f64 = 65_536.0;

impl ExplicitWorkspace {
    /// Scratch for a model.
    pub fn new(model: &FleshModel) -> Self {
        Self {
            flesh: model.bodies.iter().map(|body| Part::new(body, model.contact.as_ref())).collect(),
            touch: Touching::default(),
            rigid: Touching::default(),
            paths: Vec::new(),
            poses: Vec::new(),
            motions: Vec::new(),
            sums: Vec::new(),
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
    work.touch.clear();
    work.poses.clear();
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
/// they are. Nothing is done if that was refused.
pub fn finish_explicit(
    model: &FleshModel,
    state: &State,
    flesh: &mut FleshState,
    work: &mut ExplicitWorkspace,
) {
    if !model.fits(flesh) || work.poses.len() != state.poses.len() {
        return;
    }
    if model.contact.is_some() {
        work.touch.correct(model, &work.poses, &state.poses, flesh);
    }
    model.follow(state, flesh);
}

/// Writes wrenches that are not zero; returns the first body whose wrench is not finite.
pub(crate) fn give(
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
            report.contacts = self.press(model, contact, [h, settings.dt], flesh);
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
}

pub(crate) fn corners(body: &FleshBody, tet: u32) -> [usize; 4] {
    body.fem.mesh().tets()[tet as usize].map(|node| node as usize)
}
