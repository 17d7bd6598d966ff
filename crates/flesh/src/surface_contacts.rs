//! Contact queries of the surfaces of all flesh. World axes, metres. Cost: surface points × colliders near them.

use glam::DVec3;
use sinew_contact::{ContactPoint, ContactWorkspace, PointCloud};
use sinew_fem::FemState;
use sinew_math::Pose;

use crate::model::FleshModel;

/// Buffers of contact queries. Their content never changes a result.
#[derive(Default)]
pub(crate) struct ContactQuery {
    pub(crate) work: ContactWorkspace,
    surface: Vec<DVec3>,
    found: Vec<ContactPoint>,
}

impl ContactQuery {
    /// Appends the contacts of all surfaces whose gap is at most `margin` (m), and sorts all contacts by key.
    pub(crate) fn append_surfaces(
        &mut self,
        model: &FleshModel,
        poses: &[Pose],
        nodes: &[FemState],
        margin: f64,
        contacts: &mut Vec<ContactPoint>,
    ) {
        let Some(contact) = &model.contact else { return };
        let Self { work, surface, found } = self;
        for (i, (body, nodes)) in model.bodies.iter().zip(nodes).enumerate() {
            if let Some((material, groups)) = body.options.contact {
                body.fill_surface(&nodes.positions, surface);
                found.clear();
                let (first, ignored) = (model.first_points[i], &model.ignored[i]);
                let cloud = PointCloud { points: surface, first, material, groups, ignored };
                contact.point_contacts(&cloud, poses, margin, work, found);
                contacts.append(found);
            }
        }
        contacts.sort_unstable_by_key(|contact| contact.key);
    }
}
