//! Actuators as motors of joints.
//!
//! With gear `g`, gain `a`, bias `b₀ + b₁ l + b₂ l̇` and `l = g q`, the force on a joint is `g (a u + b₀) + g² (b₁ q + b₂ q̇)`. All actuators of a joint
//! add up to one motor. `u` is the control: that of the keyframe, else 0, within its range. N·m/rad or N/m.

use std::collections::BTreeMap;

use sinew_math::JointKind;
use sinew_scene::MotorDoc;

use super::defaults::Inherited;
use super::parts::MjcfScene;
use super::tendon::JointTerm;
use crate::error::ImportFault;
use crate::report::{FilePlace, ImportReport, Outcome};
use crate::xml::Element;

/// Elements that share their defaults.
const TAGS: &[&str] =
    &["general", "motor", "position", "velocity", "intvelocity", "damper", "cylinder", "muscle", "adhesion"];

/// Gain and bias of an actuator.
#[derive(Clone, Copy, Debug)]
struct ServoLaw {
    gain: f64,
    bias: [f64; 3],
    has_bias: bool,
    /// Whether the force follows from these numbers.
    is_linear: bool,
}

/// All that acts on a joint.
#[derive(Default)]
struct JointActuation {
    force: f64,
    stiffness: f64,
    damping: f64,
    /// Sum of the largest forces; none if one has none.
    max_force: Option<f64>,
    n: usize,
    place: FilePlace,
}

impl JointActuation {
    /// The motor that does it, in the coordinate of the scene; none if there is a force alone.
    fn motor(&self, turns: f64) -> Option<MotorDoc> {
        if self.stiffness > 0.0 {
            let target = self.force / self.stiffness - turns;
            return Some(MotorDoc::position(target, self.stiffness, self.damping));
        }
        (self.damping > 0.0).then(|| MotorDoc::velocity(self.force / self.damping, self.damping))
    }
}

impl ServoLaw {
    /// Follows the elements from the farthest default to the actuator itself.
    fn read(actuator: &Inherited<'_>) -> Result<Self, ImportFault> {
        let mut law = Self { gain: 1.0, bias: [0.0; 3], has_bias: false, is_linear: true };
        for element in actuator.layers() {
            law.take(element)?;
        }
        Ok(law)
    }

    /// Replaces a share of critical damping of what has an inertia, as seen by the actuator.
    fn damp(&mut self, inertia: f64) {
        let is_servo = self.bias[1] < 0.0 && self.bias[1] + self.gain == 0.0;
        if self.has_bias && self.bias[2] > 0.0 && is_servo {
            self.bias[2] *= -2.0 * (self.gain * inertia).sqrt();
        }
    }

    fn take(&mut self, element: &Element) -> Result<(), ImportFault> {
        let list = |name: &str| Ok::<_, ImportFault>(element.numbers(name)?.unwrap_or_default());
        match element.tag() {
            "motor" => *self = Self { gain: 1.0, has_bias: false, is_linear: true, ..*self },
            "position" | "intvelocity" => {
                let kp = element.number("kp")?.unwrap_or(self.gain);
                let (kv, ratio) = (element.number("kv")?, element.number("dampratio")?);
                self.bias[1] = -kp;
                self.bias[2] = ratio.or(kv.map(|kv| -kv)).unwrap_or(self.bias[2]);
                *self = Self { gain: kp, has_bias: true, is_linear: true, ..*self };
            }
            "velocity" => {
                let kv = element.number("kv")?.unwrap_or(self.gain);
                *self = Self { gain: kv, bias: [0.0, 0.0, -kv], has_bias: true, is_linear: true };
            }
            "general" => {
                if let Some(gain) = list("gainprm")?.first() {
                    self.gain = *gain;
                }
                for (own, given) in self.bias.iter_mut().zip(list("biasprm")?) {
                    *own = given;
                }
                if let Some(kind) = element.attribute("biastype") {
                    self.has_bias = kind == "affine";
                    self.is_linear &= matches!(kind, "affine" | "none");
                }
                if let Some(kind) = element.attribute("gaintype") {
                    self.is_linear = kind == "fixed";
                }
            }
            _ => self.is_linear = false,
        }
        Ok(())
    }
}

impl<'a> MjcfScene<'a, '_> {
    /// Writes motors; `controls` are those of a keyframe, in the order of the actuators.
    pub(super) fn write_actuators(
        &mut self,
        root: &'a Element,
        controls: Option<&[f64]>,
        report: &mut ImportReport,
    ) -> Result<(), ImportFault> {
        let mut joints: BTreeMap<(usize, usize), JointActuation> = BTreeMap::new();
        for (number, element) in root.children("actuator").flat_map(Element::peek).enumerate() {
            if !TAGS.contains(&element.tag()) {
                continue;
            }
            element.mark_read();
            let class = self.model.defaults.class(element, 0)?;
            let actuator = self.model.defaults.inherit(element, class, TAGS);
            let control = controls.and_then(|controls| controls.get(number)).copied();
            self.read_actuator(&actuator, control, &mut joints, report)?;
        }
        for (joint, actuation) in joints {
            self.write_motor(joint, &actuation, report);
        }
        Ok(())
    }

    /// Adds an actuator to what acts on its joint.
    fn read_actuator(
        &self,
        actuator: &Inherited<'_>,
        control: Option<f64>,
        joints: &mut BTreeMap<(usize, usize), JointActuation>,
        report: &mut ImportReport,
    ) -> Result<(), ImportFault> {
        let element = actuator.own;
        let mut ignore = |what: &str| {
            element.mark_told();
            report.note(Outcome::Ignored, element.place(), what);
            Ok(())
        };
        let mut law = ServoLaw::read(actuator)?;
        let Some((joint, factor)) = self.transmission(actuator)? else {
            return ignore("it acts on no single joint that turns or slides");
        };
        if !law.is_linear {
            return ignore("its force does not follow from position and velocity alone");
        }
        let g = factor * actuator.partly("gear", [1.0, 0.0, 0.0, 0.0, 0.0, 0.0])?[0];
        if g == 0.0 {
            return ignore("its gear is 0");
        }
        let target = &self.bodies()[joint.0].joints[joint.1];
        law.damp(self.layout.moved_inertia(joint.0, target) / (g * g));
        let control = self.control(actuator, control)?;
        let [b0, b1, b2] = if law.has_bias { law.bias } else { [0.0; 3] };
        if b1 == 0.0 && b2 == 0.0 && law.gain * control + b0 == 0.0 {
            return ignore("a torque is an input: give it with Input::add_effort");
        }
        let forces = actuator.pair("forcerange")?;
        let is_bounded =
            actuator.is_limited("forcelimited", forces.is_some(), self.model.units.auto_limits)?;
        let most = forces.filter(|_| is_bounded).map(|[low, high]| low.abs().max(high.abs()) * g.abs());
        let all = joints.entry(joint).or_default();
        all.max_force = if all.n == 0 { most } else { all.max_force.zip(most).map(|(a, b)| a + b) };
        all.n += 1;
        all.place = element.place();
        all.force += g * (law.gain * control + b0);
        all.stiffness -= g * g * b1;
        all.damping -= g * g * b2;
        let has_state = actuator.attribute("dyntype").is_some_and(|kind| kind != "none");
        if has_state || element.tag() == "intvelocity" {
            let what = "its target or force is that of zero activation; activations are not integrated";
            report.note(Outcome::Approximated, element.place(), what);
        }
        Ok(())
    }

    /// The control of an actuator: as given or 0, in its range. That of an integrated velocity does not matter at first.
    fn control(&self, actuator: &Inherited<'_>, given: Option<f64>) -> Result<f64, ImportFault> {
        let range = actuator.pair("ctrlrange")?;
        let has_range = actuator.is_limited("ctrllimited", range.is_some(), self.model.units.auto_limits)?;
        let [low, high] = range.filter(|_| has_range).unwrap_or([f64::MIN, f64::MAX]);
        if low > high {
            return Err(actuator.fault("`ctrlrange` is empty"));
        }
        let is_integrated = actuator.own.tag() == "intvelocity";
        Ok(if is_integrated { 0.0 } else { given.unwrap_or(0.0).clamp(low, high) })
    }

    /// The joint that an actuator moves, and its length per coordinate; none if there is no such joint.
    fn transmission(&self, actuator: &Inherited<'_>) -> Result<Option<JointTerm>, ImportFault> {
        let named = actuator.attribute("joint").or_else(|| actuator.attribute("jointinparent"));
        if let Some(name) = named {
            let joint = self.model.any_joint(actuator.own, name)?;
            let is_scalar = self.bodies()[joint.0].joints[joint.1].is_scalar();
            return Ok(is_scalar.then_some((joint, 1.0)));
        }
        let Some(name) = actuator.attribute("tendon") else { return Ok(None) };
        let tendon = self.tendons.get(name);
        let tendon = tendon.ok_or_else(|| actuator.fault(format!("there is no tendon `{name}`")))?;
        match tendon.sum.as_ref().map(|sum| &sum.terms[..]) {
            Some([single]) => Ok(Some(*single)),
            _ => Ok(None),
        }
    }

    fn write_motor(&mut self, joint: (usize, usize), all: &JointActuation, report: &mut ImportReport) {
        let target = &self.bodies()[joint.0].joints[joint.1];
        let turns = target.turns();
        let most = match (all.max_force, target.max_force) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        let mut ignore = |what: &str| report.note(Outcome::Ignored, all.place.clone(), what);
        if all.stiffness < 0.0 || all.damping < 0.0 {
            return ignore(
                "its gains drive the joint away: a motor needs a stiffness and a damping that are not negative",
            );
        }
        let Some(motor) = all.motor(turns) else {
            return ignore("a constant torque is an input: give it with Input::add_effort");
        };
        let motor = most.map_or(motor.clone(), |most| motor.max_force(most));
        if let Some(doc) = self.joint_mut(joint) {
            debug_assert!(!matches!(doc.kind, JointKind::Free), "free joints have no coordinate");
            doc.motor = Some(motor);
            report.count("motors", 1);
        }
    }
}
