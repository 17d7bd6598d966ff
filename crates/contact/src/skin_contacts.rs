//! Contacts of flesh under a skin: of its points, and of the edges and faces between them (`skin_search.rs`).
//!
//! World axes, metres. Cost: the points (`point_contacts.rs`). If a solid is near, also a box per face and the faces near it.
//! Nothing is allocated once buffers have grown.

use crate::contact_point::ContactPoint;
use crate::model::{ContactModel, ContactReport, ContactWorkspace, usable};
use crate::placed::Presence;
use crate::point_contacts::PointCloud;
use crate::refit_tree::NodeBox;
use crate::skin::Skin;
use crate::skin_search::{SkinContact, SkinSearch};
use sinew_math::Pose;

/// Points of flesh with a skin over the first of them.
#[derive(Clone, Copy, Debug)]
pub struct SkinCloud<'a> {
    /// The points of the skin, then those inside.
    pub points: PointCloud<'a>,
    /// The skin.
    pub skin: &'a Skin,
}

/// The contacts of a skin.
#[derive(Clone, Debug, Default)]
pub struct SkinContacts {
    /// Of points, as [`ContactModel::point_contacts`] gives them, sorted by key.
    pub points: Vec<ContactPoint>,
    /// Of edges and faces between the points, sorted by key.
    pub between: Vec<SkinContact>,
}

impl ContactModel {
    /// Finds every contact of the points of a skin, and of its edges and faces between them, whose gap is at most
    /// `margin` (m). `poses` are as in [`ContactModel::rigid_contacts`]. Points deep inside a convex solid are pushed back to the side that they
    /// came from, as the inner normal of the skin says.
    pub fn skin_contacts(
        &self,
        cloud: &SkinCloud<'_>,
        poses: &[Pose],
        margin: f64,
        work: &mut ContactWorkspace,
        out: &mut SkinContacts,
    ) -> ContactReport {
        let SkinContacts { points: at_points, between } = out;
        at_points.clear();
        between.clear();
        let mut report = self.point_contacts(&cloud.points, poses, margin, work, at_points);
        let ContactWorkspace { placed, skin: scratch, .. } = work;
        let points = &cloud.points.points[..cloud.skin.n_points().min(cloud.points.points.len())];
        let around = NodeBox::around(points.iter().copied().filter(|point| point.is_finite()));
        let mut is_fitted = false;
        for (index, (collider, placed)) in self.colliders().iter().zip(&*placed).enumerate() {
            let Presence::Within { low, high } = placed.state else { continue };
            let (near, groups) = (NodeBox { low, high }, cloud.points.groups);
            if !near.overlap(&around)
                || !groups.meet(collider.groups())
                || cloud.points.ignored.contains(&collider.owner())
            {
                continue;
            }
            if !is_fitted {
                scratch.fit(cloud.skin, points);
                is_fitted = true;
            }
            let margin = usable(margin);
            let PointCloud { first, ref material, .. } = cloud.points;
            let index = index as u32;
            let search =
                SkinSearch { skin: cloud.skin, points, first, material, collider, placed, index, margin };
            search.run(&near, scratch, between);
            search.turn_back(scratch, at_points);
        }
        let kinds = |contact: &ContactPoint| [cloud.points.material.kind, self.kind(contact.key.b)];
        self.rules.apply(between.iter_mut().map(|found| &mut found.contact), kinds);
        between.sort_unstable_by_key(|found| found.contact.key);
        report.n_contacts += between.len();
        report
    }
}
