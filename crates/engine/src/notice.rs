//! What a step tells beside its numbers: one list of notices, each with the body, joint or rope that it is about.
//!
//! A warning means that the result is not what the scene asked for; the rest is worth knowing. [`Health::is_good`](crate::Health::is_good)
//! is the absence of warnings, except for energy, which is judged over half a second by [`crate::EnergyAccount`], for inverted
//! tetrahedra, which are judged at the end of a run (a hit may turn flesh inside out for a few steps), and for speeds that mean nothing, which a
//! run judges by the size of its scene. The table of all notices with
//! their thresholds is in `docs/guide/health.md`.

use sinew_mechanism::{BodyId, JointId, LoopStop, TransmissionId};

use crate::{FleshInside, Model, Passage, StepReport};

/// What there is to tell of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum HealthNotice {
    /// The step could not be made.
    Refused,
    /// A state is not finite.
    NonFinite,
    /// A force in flesh is not finite.
    NonFiniteTet,
    /// A joint is left open.
    OpenJoint,
    /// A rope is too long, or a gear out of its range.
    OpenRope,
    /// Energy that nothing put in.
    EnergyGained,
    /// The same in a single step, by the bodies that gained it.
    Gaining,
    /// A joint was torn and closed by displacements.
    Mended,
    /// Bodies are visibly inside each other.
    DeepContact,
    /// Flesh is visibly inside other flesh, a body or the world.
    DeepFlesh,
    /// Something passed through something else within a step.
    PassedThrough,
    /// Numbers are finite and mean nothing any more.
    Implausible,
    /// Tetrahedra are inverted at the end of a run.
    Inverted,
    /// Loops were not solved.
    UnsolvedLoops,
    /// Flesh was not solved.
    UnsolvedFlesh,
    /// Contacts of bodies were not solved.
    UnsolvedContacts,
    /// An input was left out.
    IgnoredInput,
    /// A singular pivot was made soft.
    Regularized,
    /// Bodies overlap by more than contacts should give.
    Overlap,
    /// The step was divided.
    Divided,
    /// The loops used up their iterations.
    OutOfIterations,
    /// Rows of loops contradict each other, or yield.
    Contradiction,
    /// A row of a loop follows from others.
    DependentRow,
    /// Connected bodies made a step of second order with the first.
    FirstOrder,
    /// Energy that a step would have gained was taken out of the motion.
    Slowed,
    /// A motor is at its largest force.
    SaturatedMotor,
    /// A hard grab does not reach its target.
    OpenGrab,
    /// A joint is far past its limit.
    PastLimit,
    /// An actuator is at its torque limit.
    SaturatedActuator,
    /// A goal of the score is not approached.
    MissedGoal,
    /// A joint on a loop does not come to its key.
    MissedKey,
    /// A joint broke under its load.
    JointBroke,
    /// Dry friction slips.
    SlippingJoint,
    /// A rope or gear slips.
    SlippingRope,
}

/// What a notice is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Culprit {
    /// The whole model.
    Model,
    /// A body.
    Body(BodyId),
    /// A joint.
    Joint(JointId),
    /// A key of a phase of the score, counted from 1, and a joint in it.
    Key(usize, JointId),
    /// A rope or gear.
    Rope(TransmissionId),
    /// A body, and what it touches; none is the world.
    Contact(BodyId, Option<BodyId>),
    /// Flesh, and what it is in.
    Flesh(FleshInside),
    /// A tetrahedron of some flesh.
    Tet(usize),
}

impl HealthNotice {
    /// All of them, warnings first.
    pub const ALL: [Self; 34] = [
        Self::Refused,
        Self::NonFinite,
        Self::NonFiniteTet,
        Self::OpenJoint,
        Self::OpenRope,
        Self::EnergyGained,
        Self::Gaining,
        Self::Mended,
        Self::DeepContact,
        Self::DeepFlesh,
        Self::PassedThrough,
        Self::Implausible,
        Self::Inverted,
        Self::UnsolvedLoops,
        Self::UnsolvedFlesh,
        Self::UnsolvedContacts,
        Self::IgnoredInput,
        Self::Regularized,
        Self::Overlap,
        Self::Divided,
        Self::OutOfIterations,
        Self::Contradiction,
        Self::DependentRow,
        Self::FirstOrder,
        Self::Slowed,
        Self::SaturatedMotor,
        Self::OpenGrab,
        Self::PastLimit,
        Self::SaturatedActuator,
        Self::MissedGoal,
        Self::MissedKey,
        Self::JointBroke,
        Self::SlippingJoint,
        Self::SlippingRope,
    ];

    /// Whether the result is not what was asked for.
    pub fn is_warning(self) -> bool {
        self <= Self::Regularized
    }

    /// In words, with the name of its culprit.
    pub fn tell(self, culprit: Culprit, model: &Model) -> String {
        let (mechanism, text) = (model.mechanism(), self.text());
        match culprit {
            Culprit::Model => text.to_owned(),
            Culprit::Body(body) => format!("body `{}` {text}", mechanism.body_name(body)),
            Culprit::Joint(joint) => format!("joint `{}` {text}", mechanism.joint_name(joint)),
            Culprit::Key(key, joint) => format!("key {key}: joint `{}` {text}", mechanism.joint_name(joint)),
            Culprit::Rope(rope) => format!("`{}` {text}", mechanism.transmission_name(rope)),
            Culprit::Contact(body, Some(other)) => {
                let [body, other] = [body, other].map(|body| mechanism.body_name(body));
                format!("bodies `{body}` and `{other}` {text}")
            }
            Culprit::Contact(body, None) => {
                format!("body `{}` and the world {text}", mechanism.body_name(body))
            }
            Culprit::Flesh(inside) => format!("flesh {} {text}", inside_names(inside, model)),
            Culprit::Tet(tet) => format!("tetrahedron {tet} {text}"),
        }
    }

    /// In words, to be read after its culprit.
    fn text(self) -> &'static str {
        match self {
            Self::Refused => {
                "the step cannot be made: its length, its scheme or the state does not fit the model"
            }
            Self::NonFinite => "is no longer finite",
            Self::NonFiniteTet => "has a force that is not finite",
            Self::OpenJoint => "is left open",
            Self::OpenRope => "is too long or out of its range",
            Self::PastLimit => "is past its limit by far more than limits give",
            Self::EnergyGained => "energy was gained without a source",
            Self::Gaining => "gained energy without a source, with what is connected with it",
            Self::Mended => "was torn; displacements closed it",
            Self::DeepContact => "are inside each other by more than a tenth of the thinner one",
            Self::DeepFlesh => "are inside each other by far more than contacts give",
            Self::PassedThrough => "passed through each other within a step",
            Self::Implausible => {
                "numbers mean nothing any more: something moves or turns too far in a step, or came apart"
            }
            Self::Inverted => {
                "tetrahedra are inverted at the end: use stiffer flesh, smaller loads or shorter steps, or expect it by `max_inverted`"
            }
            Self::Overlap => "overlap by more than contacts should give",
            Self::UnsolvedLoops => "loops were not solved, their numbers diverged",
            Self::UnsolvedFlesh => "flesh was not solved: its forces are wrong by more than one per cent",
            Self::UnsolvedContacts => {
                "contacts were not solved: their forces are wrong by more than one per cent"
            }
            Self::IgnoredInput => "inputs were ignored: not finite, or for something that cannot take them",
            Self::Regularized => "singular pivots were made soft",
            Self::Divided => {
                "steps were divided to close joints, settle contacts or resolve light bones in explicit flesh"
            }
            Self::OutOfIterations => "loops used up their iterations",
            Self::Contradiction => "rows of loops contradict each other or yield",
            Self::DependentRow => "has a row that other joints imply; its share of the force is not unique",
            Self::FirstOrder => {
                "changed its motion too fast for the second order; what is connected with it made steps with the first"
            }
            Self::Slowed => {
                "was slowed, and what is connected with it: the step would have gained energy without a source"
            }
            Self::SaturatedMotor => "has its motor at the largest force",
            Self::OpenGrab => {
                "is not where a hard grab should hold it: the target is out of reach or too fast, or forces resist"
            }
            Self::SaturatedActuator => "is at the torque limit of the score, so goals may be missed",
            Self::MissedGoal => {
                "is not led to its goal: it is out of reach, yields to other goals, or nothing is there to push against"
            }
            Self::MissedKey => "comes as near to its place as its loop lets it, not to it",
            Self::JointBroke => "broke under its load",
            Self::SlippingJoint => "slips against its dry friction",
            Self::SlippingRope => "slips at its largest force",
        }
    }
}

impl StepReport {
    /// What there is to tell of the step, warnings first. Each is given once, with the first that it is about.
    pub fn notices(&self) -> impl Iterator<Item = (HealthNotice, Culprit)> + use<> {
        let (health, noticed, loops) = (&self.health, &self.mechanism.noticed, self.mechanism.loops.stop);
        let model = |is_so: bool| is_so.then_some(Culprit::Model);
        let joint = |id: Option<JointId>| id.map(Culprit::Joint);
        let contact = |(body, other): (BodyId, Option<BodyId>)| Culprit::Contact(body, other);
        let passage = |passage: Passage| match passage {
            Passage::Body(body, other) => Culprit::Contact(body, other),
            Passage::Flesh(flesh, body) => Culprit::Flesh(FleshInside::Body(flesh, body)),
        };
        let slight = self.overlap.filter(|overlap| !overlap.is_deep()).map(|overlap| overlap.bodies);
        let rope = |id: Option<TransmissionId>| id.map(Culprit::Rope);
        let all = [
            (HealthNotice::Refused, model(health.refused)),
            (HealthNotice::NonFinite, health.non_finite.map(Culprit::Body)),
            (HealthNotice::NonFiniteTet, health.non_finite_tet.map(Culprit::Tet)),
            (HealthNotice::OpenJoint, joint(health.open_joint)),
            (HealthNotice::OpenRope, rope(health.open_rope)),
            (HealthNotice::Gaining, health.gaining.map(Culprit::Body)),
            (HealthNotice::Mended, joint(health.mended)),
            (HealthNotice::DeepContact, health.deep_contact.map(contact)),
            (HealthNotice::DeepFlesh, health.deep_flesh.map(Culprit::Flesh)),
            (HealthNotice::PassedThrough, health.passed_through.map(passage)),
            (HealthNotice::UnsolvedLoops, model(health.unsolved_loops)),
            (HealthNotice::UnsolvedFlesh, model(health.unsolved_flesh)),
            (HealthNotice::UnsolvedContacts, model(health.unsolved_contacts)),
            (HealthNotice::IgnoredInput, model(health.ignored_inputs > 0)),
            (HealthNotice::Regularized, model(health.regularized > 0)),
            (HealthNotice::Overlap, slight.map(contact)),
            (HealthNotice::Divided, model(self.mechanism.substeps > 1)),
            (HealthNotice::OutOfIterations, model(loops == LoopStop::Budget)),
            (HealthNotice::Contradiction, model(noticed.contradicts)),
            (HealthNotice::DependentRow, joint(noticed.dependent)),
            (HealthNotice::FirstOrder, noticed.jolted.map(Culprit::Body)),
            (HealthNotice::Slowed, noticed.slowed.map(Culprit::Body)),
            (HealthNotice::SaturatedMotor, joint(noticed.saturated)),
            (HealthNotice::OpenGrab, self.open_grab.map(Culprit::Body)),
            (HealthNotice::PastLimit, joint(self.past_limit)),
            (HealthNotice::SaturatedActuator, joint(self.effort.limited)),
            (HealthNotice::MissedGoal, self.effort.missing.map(Culprit::Body)),
            (HealthNotice::MissedKey, self.effort.missed_key.map(|(key, joint)| Culprit::Key(key, joint))),
            (HealthNotice::JointBroke, joint(noticed.broke)),
            (HealthNotice::SlippingJoint, joint(noticed.slipping)),
            (HealthNotice::SlippingRope, rope(noticed.slipping_rope)),
        ];
        all.into_iter().filter_map(|(notice, culprit)| Some((notice, culprit?)))
    }
}

/// Flesh and what it is inside of, by name.
fn inside_names(inside: FleshInside, model: &Model) -> String {
    let name = |flesh| format!("`{}`", model.flesh_name(flesh));
    match inside {
        FleshInside::Flesh(one, other) => format!("{} and {}", name(one), name(other)),
        FleshInside::Body(flesh, Some(body)) => {
            format!("{} and `{}`", name(flesh), model.mechanism().body_name(body))
        }
        FleshInside::Body(flesh, None) => format!("{} and the world", name(flesh)),
    }
}
