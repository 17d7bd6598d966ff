//! Contacts of points with colliders: the surface vertices of flesh.
//!
//! The box around all points selects the colliders. For each of these, the points are transformed into its frame and
//! measured by the formulas of `distance.rs`. Cost: per collider near the cloud, about 5 ns per point against a plane
//! and 10 to 30 against other shapes; nothing is allocated once the output has grown.

use crate::collider::{Collider, Groups};
use crate::contact_point::{ContactKey, ContactPoint, Mover, Owner};
use crate::model::{ContactModel, ContactReport, ContactWorkspace, usable};
use crate::placed::{PlacedCollider, Presence};
use crate::{material::ContactMaterial, nearest::LocalBox, shape::ContactShape};
use glam::DVec3;
use sinew_math::Pose;

/// Points that may touch colliders, such as the surface of flesh.
#[derive(Clone, Copy, Debug)]
pub struct PointCloud<'a> {
    /// Where they are (m, world).
    pub points: &'a [DVec3],
    /// Index of the first point in contacts and keys, so that several clouds have different keys.
    pub first: u32,
    /// Their material; its stiffness must be positive if that of the world is not.
    pub material: ContactMaterial,
    /// Their contact groups.
    pub groups: Groups,
    /// Owners that they ignore: the bones inside.
    pub ignored: &'a [Owner],
}

impl ContactModel {
    /// Adds a contact to `out` for every point and collider whose gap is at most `margin` (m), then sorts `out` by key.
    /// `poses` are as in
    /// [`ContactModel::rigid_contacts`]. A vertex and a collider give one contact, at the vertex.
    pub fn point_contacts(
        &self,
        cloud: &PointCloud<'_>,
        poses: &[Pose],
        margin: f64,
        work: &mut ContactWorkspace,
        out: &mut Vec<ContactPoint>,
    ) -> ContactReport {
        let margin = usable(margin);
        let (before, mut report) = (out.len(), ContactReport::default());
        // a box around the finite points; an empty one overlaps nothing
        let mut around = (DVec3::INFINITY, DVec3::NEG_INFINITY);
        for &point in cloud.points {
            if point.is_finite() {
                around = (around.0.min(point), around.1.max(point));
            } else {
                report.skipped_points += 1;
            }
        }
        // place() widens boxes by half its margin
        report.skipped_colliders = self.place(poses, poses, 2.0 * margin, work);
        for (index, (collider, placed)) in self.colliders().iter().zip(&work.placed).enumerate() {
            let near = match placed.state {
                Presence::Lost => false,
                Presence::Everywhere => around.0.x <= around.1.x,
                Presence::Within { low, high } => around.0.cmple(high).all() && low.cmple(around.1).all(),
            };
            if near && cloud.groups.meet(collider.groups()) && !cloud.ignored.contains(&collider.owner()) {
                report.n_pairs += 1;
                Scan { cloud, collider, placed, index: index as u32, margin }.run(out);
            }
        }
        report.n_contacts = out.len() - before;
        let kinds = |contact: &ContactPoint| [cloud.material.kind, self.kind(contact.key.b)];
        self.rules.apply(out[before..].iter_mut(), kinds);
        out.sort_unstable_by_key(|contact| contact.key);
        report
    }
}

/// One collider against all points.
struct Scan<'a> {
    cloud: &'a PointCloud<'a>,
    collider: &'a Collider,
    placed: &'a PlacedCollider,
    index: u32,
    margin: f64,
}

impl Scan<'_> {
    fn run(&self, out: &mut Vec<ContactPoint>) {
        match self.collider.shape().extent() {
            None => self.plane(out),
            Some(extent) => self.shape(extent, self.collider.shape(), out),
        }
    }

    fn plane(&self, out: &mut Vec<ContactPoint>) {
        let normal = self.placed.axes.z_axis;
        let offset = normal.dot(self.placed.pose.translation);
        for (i, &point) in self.cloud.points.iter().enumerate() {
            let distance = normal.dot(point) - offset;
            // false for NaN
            if distance <= self.margin && point.is_finite() {
                self.push(i, point, normal, distance, out);
            }
        }
    }

    fn shape(&self, extent: LocalBox, shape: &ContactShape, out: &mut Vec<ContactPoint>) {
        for (i, &point) in self.cloud.points.iter().enumerate() {
            let local = self.placed.local(point);
            if extent.holds(local, self.margin)
                && let Some(nearest) = shape.distance(local)
                && nearest.distance <= self.margin
            {
                self.push(i, point, self.placed.axes * nearest.normal, nearest.distance, out);
            }
        }
    }

    fn push(&self, i: usize, point: DVec3, normal: DVec3, distance: f64, out: &mut Vec<ContactPoint>) {
        let vertex = self.cloud.first.wrapping_add(i as u32);
        out.push(ContactPoint {
            key: ContactKey { a: vertex, b: self.index, feature: ContactKey::VERTEX },
            a: Mover::Vertex(vertex),
            b: self.collider.owner().into(),
            point,
            normal,
            depth: -distance,
            law: self.cloud.material.with(self.collider.material()),
        });
    }
}
