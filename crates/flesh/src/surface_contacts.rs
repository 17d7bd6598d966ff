//! Contact queries of all flesh: of the points of its surface, of the faces and edges between them, of nodes inside.
//!
//! World axes, metres. A place between points is that of the flesh there (`flesh_skin.rs`), which may lie off the flat triangle;
//! its depth is corrected by that. Cost: points × colliders near them, and the faces near solids.

use glam::DVec3;
use sinew_contact::{ContactPoint, ContactWorkspace, Mover, PointCloud, SkinCloud, SkinContacts};
use sinew_fem::FemState;
use sinew_math::{Pose, SurfacePoint};

use crate::body::FleshBody;
use crate::flesh_skin::FleshSkin;
use crate::model::FleshModel;

/// Buffers of contact queries. Their content never changes a result.
#[derive(Default)]
pub(crate) struct ContactQuery {
    pub(crate) work: ContactWorkspace,
    /// The places of the contacts between points, by the number in [`Mover::Face`].
    pub(crate) faces: Vec<SurfacePoint>,
    points: Vec<DVec3>,
    found: SkinContacts,
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
        self.faces.clear();
        let Some(contact) = &model.contact else { return };
        for (i, (body, nodes)) in model.bodies.iter().zip(nodes).enumerate() {
            let Some((material, groups)) = body.options.contact else { continue };
            let Self { work, points, found, .. } = self;
            body.fill_touching(&nodes.positions, points);
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
