//! Contact queries of all flesh: of the points of its surface, of the faces and edges between them, of nodes inside, and of its skin with
//! that of other flesh and its own.
//!
//! World axes, metres. A place between points is that of the flesh there (`flesh_skin.rs`), which may lie off the flat triangle;
//! its depth is corrected by that. Cost: points × colliders near them, and the faces near solids.

use glam::DVec3;
use sinew_contact::{
    ContactPoint, ContactWorkspace, FacePlace, FittedSkin, MeetingBuffers, Mover, MovingSkin, Opposite,
    PointCloud, SkinCloud, SkinContacts, SkinMeeting,
};
use sinew_fem::FemState;
use sinew_math::{Pose, SurfacePoint};

use crate::body::FleshBody;
use crate::flesh_skin::FleshSkin;
use crate::model::FleshModel;

/// Buffers of contact queries. Their content never changes a result.
#[derive(Default)]
pub(crate) struct ContactQuery {
    pub(crate) work: ContactWorkspace,
    /// The places of the contacts between points, by the number in [`Mover::Face`] and [`Opposite::Flesh`].
    pub(crate) faces: Vec<SurfacePoint>,
    /// Everything that may touch, by body of flesh.
    points: Vec<Vec<DVec3>>,
    found: SkinContacts,
    fitted: Vec<FittedSkin>,
    /// How far points of skins move within the step, by body of flesh (m).
    ahead: Vec<Vec<DVec3>>,
    meeting: MeetingBuffers,
    met: Vec<SkinMeeting>,
}

impl ContactQuery {
    /// Appends the contacts of all flesh whose gap is at most `margin` (m), and sorts all contacts by key.
    pub(crate) fn append_flesh(
        &mut self,
        model: &FleshModel,
        poses: &[Pose],
        nodes: &[FemState],
        margin: f64,
        contacts: &mut Vec<ContactPoint>,
    ) {
        self.fill_points(model, nodes);
        let Some(contact) = &model.contact else { return };
        for (i, (body, nodes)) in model.bodies.iter().zip(nodes).enumerate() {
            let Some((material, groups)) = body.options.contact else { continue };
            let Self { work, points, found, .. } = self;
            let points = &points[i];
            let (first, ignored) = (model.first_points[i], &model.ignored[i]);
            let points = PointCloud { points, first, material, groups, ignored };
            if let Some(skin) = &body.skin {
                contact.skin_contacts(&SkinCloud { points, skin: &skin.skin }, poses, margin, work, found);
                found.points.retain_mut(|contact| {
                    let inside = ((contact.key.a - first) as usize).checked_sub(skin.skin.n_points());
                    contact.depth -= inside.map_or(0.0, |i| skin.slack[i]);
                    inside.is_none() || contact.depth >= -margin
                });
                contacts.append(&mut found.points);
                self.append_faces(body, skin, &nodes.positions, contacts);
            } else {
                contact.point_contacts(&points, poses, margin, work, &mut found.points);
                contacts.append(&mut found.points);
            }
        }
        contacts.sort_unstable_by_key(|contact| contact.key);
    }

    /// Where everything is that may touch.
    pub(crate) fn fill_points(&mut self, model: &FleshModel, nodes: &[FemState]) {
        self.faces.clear();
        self.points.resize_with(model.bodies.len(), Vec::new);
        for ((body, nodes), points) in model.bodies.iter().zip(nodes).zip(&mut self.points) {
            if body.options.contact.is_some() {
                body.fill_touching(&nodes.positions, points);
            }
        }
    }

    /// Appends the contacts of skins with each other and with themselves whose gap closes within `time` (s) or is at most `margin` (m), and sorts all
    /// contacts by key. The points are those of [`ContactQuery::append_flesh`]. Flesh around the same bone does not touch.
    pub(crate) fn append_met(
        &mut self,
        model: &FleshModel,
        nodes: &[FemState],
        (time, margin): (f64, f64),
        contacts: &mut Vec<ContactPoint>,
    ) {
        let Some(contact) = &model.contact else { return };
        self.fit_skins(model, nodes, time);
        let (mut meeting, mut met, mut faces) = (
            std::mem::take(&mut self.meeting),
            std::mem::take(&mut self.met),
            std::mem::take(&mut self.faces),
        );
        let n = model.bodies.len();
        for (i, j) in (0..n).flat_map(|i| (0..n).map(move |j| (i, j))) {
            let share_bone = model.ignored[i].iter().any(|bone| model.ignored[j].contains(bone));
            if let (Some(skin), Some(other)) = (self.placed(model, i), self.placed(model, j))
                && (i == j || !share_bone)
            {
                met.clear();
                contact.skin_meetings([&skin, &other], margin, &mut meeting, &mut met);
                append_places([i, j].map(|k| (&model.bodies[k], &nodes[k])), &met, &mut faces, contacts);
            }
        }
        (self.meeting, self.met, self.faces) = (meeting, met, faces);
        contacts.sort_unstable_by_key(|contact| contact.key);
    }

    /// The skin of a body of flesh where it is now, if it touches anything.
    fn placed<'a>(&'a self, model: &'a FleshModel, i: usize) -> Option<MovingSkin<'a>> {
        let (skin, (material, groups)) = model.bodies[i].touching_skin()?;
        let (first, ignored) = (model.first_points[i], model.ignored[i].as_slice());
        let points = PointCloud { points: &self.points[i], first, material, groups, ignored };
        let cloud = SkinCloud { points, skin: &skin.skin };
        Some(MovingSkin { cloud, ahead: &self.ahead[i], fitted: &self.fitted[i], flesh: i as u32 })
    }

    /// Fits all skins to their points and to the ways of these within `time` (s), relative to the mean velocity of all.
    fn fit_skins(&mut self, model: &FleshModel, nodes: &[FemState], time: f64) {
        let Self { points, fitted, ahead, .. } = self;
        fitted.resize_with(model.bodies.len(), FittedSkin::default);
        ahead.resize_with(model.bodies.len(), Vec::new);
        let (mut mean, mut count) = (DVec3::ZERO, 0.0);
        for ((body, nodes), ahead) in model.bodies.iter().zip(nodes).zip(&mut *ahead) {
            ahead.clear();
            let Some((skin, _)) = body.touching_skin().filter(|_| time > 0.0) else { continue };
            let velocity = |point: &SurfacePoint| body.fem.mesh().point(point, &nodes.velocities);
            ahead.extend(body.touching[..skin.skin.n_points()].iter().map(velocity));
            let finite = ahead.iter().filter(|velocity| velocity.is_finite());
            finite.for_each(|velocity| (mean, count) = (mean + velocity, count + 1.0));
        }
        let mean = mean / f64::max(count, 1.0);
        for (((body, points), fitted), ahead) in model.bodies.iter().zip(&*points).zip(fitted).zip(ahead) {
            let Some((skin, _)) = body.touching_skin() else { continue };
            ahead.iter_mut().for_each(|velocity| *velocity = (*velocity - mean) * time);
            fitted.fit_ahead(&skin.skin, points, ahead);
        }
    }

    /// Appends the contacts found between points.
    fn append_faces(
        &mut self,
        body: &FleshBody,
        skin: &FleshSkin,
        positions: &[DVec3],
        contacts: &mut Vec<ContactPoint>,
    ) {
        for found in &self.found.between {
            let mesh = body.fem.mesh();
            let place = skin.locate(mesh, &body.touching, found.face, found.weights);
            let (mut contact, at) = (found.contact, mesh.point(&place, positions));
            contact.depth -= contact.normal.dot(at - contact.point);
            contact.point = at;
            contact.a = Mover::Face(self.faces.len() as u32);
            self.faces.push(place);
            contacts.push(contact);
        }
    }
}

/// Appends contacts between the skins of two bodies of flesh, with their places in the flesh.
fn append_places(
    sides: [(&FleshBody, &FemState); 2],
    met: &[SkinMeeting],
    faces: &mut Vec<SurfacePoint>,
    contacts: &mut Vec<ContactPoint>,
) {
    let mut locate = |side: usize, at: &FacePlace| locate(sides[side], at, faces);
    for found in met {
        let mut contact = found.contact;
        if let Some((place, off)) = found.own.and_then(|own| locate(0, &own)) {
            contact.a = Mover::Face(place);
            contact.point += off;
            contact.depth -= contact.normal.dot(off);
        }
        let Some((place, off)) = locate(1, &found.other) else { continue };
        if let Opposite::Flesh { flesh, .. } = contact.b {
            contact.b = Opposite::Flesh { flesh, place };
        }
        contact.depth += contact.normal.dot(off);
        contacts.push(contact);
    }
}

/// Where a place of a face is in the flesh, as a number among `faces`, and how far that is from the flat face (m).
fn locate(
    (body, nodes): (&FleshBody, &FemState),
    at: &FacePlace,
    faces: &mut Vec<SurfacePoint>,
) -> Option<(u32, DVec3)> {
    let (skin, _) = body.touching_skin()?;
    let place = skin.locate(body.fem.mesh(), &body.touching, at.face, at.weights);
    faces.push(place);
    Some((faces.len() as u32 - 1, body.fem.mesh().point(&place, &nodes.positions) - at.place))
}
