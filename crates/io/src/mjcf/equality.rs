//! Equalities: points and frames that stay together close loops, joints that follow each other are gears.

use glam::DVec3;
use sinew_math::{JointKind, Pose};
use sinew_scene::{CurveDoc, FrameDoc, GearDoc, JointDoc, TrackDoc};

use super::defaults::Inherited;
use super::frames::read_quaternion;
use super::parts::{MjcfScene, frame};
use super::tendon::{JointSum, JointTerm};
use crate::error::ImportFault;
use crate::report::{ImportReport, Outcome};
use crate::xml::Element;

impl<'a> MjcfScene<'a, '_> {
    /// Writes what `<equality>` holds together.
    pub(super) fn write_equalities(
        &mut self,
        root: &'a Element,
        report: &mut ImportReport,
    ) -> Result<(), ImportFault> {
        let n = self.scene.joints.len();
        for element in root.children("equality").flat_map(Element::peek) {
            let class = self.model.defaults.class(element, 0)?;
            let equality = self.model.defaults.inherit(element, class, &["equality"]);
            if !matches!(element.tag(), "connect" | "weld" | "joint" | "tendon") {
                continue;
            }
            element.mark_read();
            self.write_equality(&equality, report)?;
        }
        // What is held together may begin apart.
        self.scene.assemble = self.scene.joints.len() > n || !self.scene.gears.is_empty();
        Ok(())
    }

    /// Writes an equality by its kind; noted if it is not active.
    fn write_equality(
        &mut self,
        equality: &Inherited<'_>,
        report: &mut ImportReport,
    ) -> Result<(), ImportFault> {
        let element = equality.own;
        if equality.flag("active")? == Some(false) {
            element.mark_told();
            report.note(Outcome::Ignored, element.place(), "it is not active");
            return Ok(());
        }
        match element.tag() {
            "connect" => self.write_connect(equality, report),
            "weld" => self.write_weld(equality, report),
            "joint" => self.write_joint_equality(equality, report),
            _ => self.write_tendon_equality(equality, report),
        }
    }

    fn equality_name(&mut self, equality: &Inherited<'_>) -> String {
        let number = self.scene.joints.len() + self.scene.gears.len();
        let wanted = format!("{}_{number}", equality.own.tag());
        self.fresh(equality.attribute("name").unwrap_or(&wanted))
    }

    /// The body that an attribute names, the world if there is none.
    fn body_of(&self, equality: &Inherited<'_>, attribute: &str) -> Result<Option<usize>, ImportFault> {
        let Some(name) = equality.attribute(attribute) else { return Ok(None) };
        let found = self.model.body_names.get(name).copied();
        found.map(Some).ok_or_else(|| equality.fault(format!("there is no body `{name}`")))
    }

    /// The places of two sites; none if bodies are named instead.
    fn sites_of(&self, equality: &Inherited<'_>) -> Result<Option<[(usize, Pose); 2]>, ImportFault> {
        let (Some(a), Some(b)) = (equality.attribute("site1"), equality.attribute("site2")) else {
            return Ok(None);
        };
        Ok(Some([self.model.site(equality.own, a)?, self.model.site(equality.own, b)?]))
    }

    fn write_connect(
        &mut self,
        equality: &Inherited<'_>,
        report: &mut ImportReport,
    ) -> Result<(), ImportFault> {
        let places = match self.sites_of(equality)? {
            Some(sites) => sites,
            None => {
                let one = self.body_of(equality, "body1")?;
                let one =
                    one.ok_or_else(|| equality.fault("write body1=\"…\" or site1=\"…\" site2=\"…\""))?;
                let two = self.body_of(equality, "body2")?.unwrap_or(0);
                let anchor = equality.vector("anchor")?;
                let anchor = anchor.ok_or_else(|| equality.fault("write anchor=\"x y z\" (m)"))?;
                let on_one = Pose::from_translation(anchor);
                let world = &self.layout.world_from_body;
                let on_two = world[two].inverse().compose(&world[one]).compose(&on_one);
                [(one, on_one), (two, on_two)]
            }
        };
        self.close(JointKind::Ball, equality, places, report);
        Ok(())
    }

    fn write_weld(&mut self, equality: &Inherited<'_>, report: &mut ImportReport) -> Result<(), ImportFault> {
        if let Some(sites) = self.sites_of(equality)? {
            self.close(JointKind::Fixed, equality, sites, report);
            return Ok(());
        }
        let one = self.body_of(equality, "body1")?;
        let one = one.ok_or_else(|| equality.fault("write body1=\"…\" or site1=\"…\" site2=\"…\""))?;
        let two = self.body_of(equality, "body2")?.unwrap_or(0);
        let anchor = equality.vector("anchor")?.unwrap_or_default();
        let relative = equality.numbers("relpose")?.unwrap_or_else(|| vec![0.0; 7]);
        if relative.len() != 7 {
            return Err(equality.fault(format!("`relpose` takes seven numbers, not {}", relative.len())));
        }
        let on_two = Pose::from_translation(anchor);
        let on_one = match read_quaternion(&relative[3..]) {
            Some(rotation) => Pose::new(rotation, DVec3::from_slice(&relative)),
            None => {
                let world = &self.layout.world_from_body;
                world[one].inverse().compose(&world[two]).compose(&on_two)
            }
        };
        self.close(JointKind::Fixed, equality, [(one, on_one), (two, on_two)], report);
        Ok(())
    }

    /// Adds a joint between two bodies; noted if there is nothing to hold.
    fn close(
        &mut self,
        kind: JointKind,
        equality: &Inherited<'_>,
        [(one, on_one), (two, on_two)]: [(usize, Pose); 2],
        report: &mut ImportReport,
    ) {
        let bodies = self.bodies();
        let moves = [one, two].map(|body| self.layout.moves(bodies, body));
        let ([a, b], [from_one, from_two]) =
            ([self.carrier(one).0, self.carrier(two).0], [self.carrier(one).1, self.carrier(two).1]);
        if moves == [false, false] || a == b {
            report.note(Outcome::Ignored, equality.own.place(), "neither body can move against the other");
            return;
        }
        let on_one = frame(&from_one.compose(&on_one), DVec3::ZERO);
        let on_two = frame(&from_two.compose(&on_two), DVec3::ZERO);
        let name = self.equality_name(equality);
        self.push_joint(joint_between(kind, name, (a, on_one), (b, on_two)));
        report.count("equalities", 1);
    }

    fn write_joint_equality(
        &mut self,
        equality: &Inherited<'_>,
        report: &mut ImportReport,
    ) -> Result<(), ImportFault> {
        let one = equality.attribute("joint1").ok_or_else(|| equality.fault("write joint1=\"…\""))?;
        let one = JointSum::single(self.model.joint(equality.own, one)?);
        let two =
            equality.attribute("joint2").map(|name| self.model.joint(equality.own, name)).transpose()?;
        self.couple(equality, &one, two.map(JointSum::single).as_ref(), report)
    }

    fn write_tendon_equality(
        &mut self,
        equality: &Inherited<'_>,
        report: &mut ImportReport,
    ) -> Result<(), ImportFault> {
        let sum = |attribute: &str| {
            let Some(name) = equality.attribute(attribute) else { return Ok(None) };
            let found = self.tendons.get(name);
            let found = found.ok_or_else(|| equality.fault(format!("there is no tendon `{name}`")))?;
            Ok::<_, ImportFault>(Some(found.sum.clone()))
        };
        let one = sum("tendon1")?.ok_or_else(|| equality.fault("write tendon1=\"…\""))?;
        let two = sum("tendon2")?;
        let (Some(one), false) = (one, matches!(two, Some(None))) else {
            report.note(Outcome::Ignored, equality.own.place(), "spatial tendons are not held together");
            return Ok(());
        };
        self.couple(equality, &one, two.flatten().as_ref(), report)
    }

    /// Holds `y = y₀ + a₀ + a₁ (x − x₀)` of two sums of coordinates, or `y = y₀ + a₀`, if it is between two joints at most.
    fn couple(
        &mut self,
        equality: &Inherited<'_>,
        one: &JointSum,
        two: Option<&JointSum>,
        report: &mut ImportReport,
    ) -> Result<(), ImportFault> {
        let [a0, a1, rest @ ..] = equality.partly("polycoef", [0.0, 1.0, 0.0, 0.0, 0.0])?;
        if rest.iter().any(|factor| *factor != 0.0) && two.is_some() {
            let what = "only the constant and the linear term of `polycoef` are used";
            report.note(Outcome::Approximated, equality.own.place(), what);
        }
        let bodies = self.bodies();
        // Everything on one side: c · q = d.
        let at = |sum: &JointSum| sum.value(bodies, |joint| joint.reference);
        let mut all = JointSum { terms: Vec::new() };
        let mut target = at(one) + a0;
        if let Some(two) = two {
            all.add(two, -a1);
            target -= a1 * at(two);
        }
        all.add(one, 1.0);
        let name = self.equality_name(equality);
        match all.terms[..] {
            [(joint, factor)] => self.hold(joint, target / factor, (&name, equality), report),
            [(driver, c), (driven, d)] => {
                let gear = self.gear(name, [(driver, c), (driven, d)], target);
                self.scene.gears.push(gear);
                report.count("equalities", 1);
            }
            _ => {
                let what = format!("it couples {} joints; a gear has two", all.terms.len());
                report.note(Outcome::Ignored, equality.own.place(), what);
            }
        }
        Ok(())
    }

    /// Holds a joint at a coordinate.
    fn hold(
        &mut self,
        joint: (usize, usize),
        coordinate: f64,
        (track, equality): (&str, &Inherited<'_>),
        report: &mut ImportReport,
    ) {
        let held = self.bodies()[joint.0].joints[joint.1].scene_coordinate(coordinate);
        if let Some(doc) = self.joint_mut(joint) {
            doc.drive = Some(track.to_owned());
            let curve = CurveDoc::Scalars(vec![(0.0, held)]);
            self.scene.tracks.push(TrackDoc { name: track.to_owned(), curve, ..TrackDoc::default() });
            report.count("equalities", 1);
        } else {
            report.note(Outcome::Ignored, equality.own.place(), "its joint cannot be held");
        }
    }

    /// The gear that keeps `c₁ q₁ + c₂ q₂ = d`, in coordinates of the file.
    pub(super) fn gear(&self, name: String, terms: [JointTerm; 2], d: f64) -> GearDoc {
        let [(driver, c1), (driven, c2)] = terms;
        let turns = |(body, joint): (usize, usize)| self.bodies()[body].joints[joint].turns();
        let ratio = -c1 / c2;
        GearDoc {
            name,
            driver: self.joint_name(driver).to_owned(),
            driven: self.joint_name(driven).to_owned(),
            ratio,
            offset: d / c2 + ratio * turns(driver) - turns(driven),
            ..GearDoc::default()
        }
    }
}

/// A joint between frames on two bodies, either of which may be the world.
fn joint_between(
    kind: JointKind,
    name: String,
    (one, on_one): (Option<&str>, FrameDoc),
    (two, on_two): (Option<&str>, FrameDoc),
) -> JointDoc {
    match (one, two) {
        (Some(child), parent) => {
            let joint = JointDoc::new(kind, name, child).local(on_one, on_two);
            JointDoc { parent: parent.map(str::to_owned), ..joint }
        }
        (None, child) => JointDoc::new(kind, name, child.unwrap_or_default()).local(on_two, on_one),
    }
}
