//! Which body each node of flesh is fixed to, and which body damps it.
//!
//! Nodes are named, inside a box, near the shapes of bodies, or those of a character. A node that several entries name belongs to the
//! first. Cost: linear in nodes, times shapes where nodes are found by distance.

use std::collections::BTreeMap;

use glam::DVec3;
use sinew_contact::ContactShape;
use sinew_math::{Pose, Shape, SurfacePoint};
use sinew_mechanism::BodyId;
use sinew_mesh::EmbeddedBody;
use sinew_scene::{AttachDoc, AttachedDoc, FleshDoc, SceneDoc};

use super::mesh::{CharacterNodes, FleshMesh};
use crate::error::BuildError;

/// Bodies of nodes, by index.
pub(super) struct NodeBodies {
    /// The body that each node is fixed to.
    pub(super) fixed: Vec<Option<usize>>,
    /// The body whose motion damps each node.
    pub(super) references: Vec<Option<usize>>,
}

/// A scene and its bodies by name.
#[derive(Clone, Copy)]
pub(super) struct SceneBodies<'a> {
    pub(super) scene: &'a SceneDoc,
    pub(super) bodies: &'a BTreeMap<&'a str, BodyId>,
}

impl NodeBodies {
    /// As a document says; `positions` are the nodes in the world, `path` is the place of the flesh in the scene.
    pub(super) fn new(
        context: SceneBodies<'_>,
        doc: &FleshDoc,
        mesh: &FleshMesh,
        positions: &[DVec3],
        path: &str,
    ) -> Result<Self, BuildError> {
        let mut nodes = Self { fixed: vec![None; positions.len()], references: vec![None; positions.len()] };
        for (i, attach) in doc.attach.iter().enumerate() {
            nodes.attach(context, attach, mesh, positions, &format!("{path}.attach[{i}]"))?;
        }
        if doc.bone_damping > 0.0 {
            nodes.refer_to_nearest(positions);
        }
        Ok(nodes)
    }

    /// Whether a node around a point is fixed to a body; none if there is no such point.
    pub(super) fn holds_one(&self, mesh: &EmbeddedBody, point: &SurfacePoint) -> Option<bool> {
        let corners = mesh.tets().get(point.tet as usize)?;
        let is_whole = (point.weights.iter().sum::<f64>() - 1.0).abs() < 1e-6;
        let mut at = corners.iter().zip(point.weights).filter(|(_, weight)| *weight != 0.0);
        is_whole.then(|| at.any(|(&node, _)| self.fixed[node as usize].is_some()))
    }

    fn attach(
        &mut self,
        context: SceneBodies<'_>,
        attach: &AttachDoc,
        mesh: &FleshMesh,
        positions: &[DVec3],
        path: &str,
    ) -> Result<(), BuildError> {
        let body = attach.body.as_deref().map(|name| context.named(name, path)).transpose()?;
        match &attach.nodes {
            AttachedDoc::OfCharacter(prefix) => {
                if let Some(character) = &mesh.character {
                    self.follow_character(context, character, prefix, path)?;
                }
            }
            AttachedDoc::List(nodes) => {
                for &node in nodes {
                    let Some(slot) = self.fixed.get_mut(node as usize) else {
                        let message =
                            format!("there is no node {node}; the mesh has {} nodes", positions.len());
                        return Err(BuildError::Flesh { field: format!("{path}.nodes"), message });
                    };
                    *slot = slot.or(body);
                }
            }
            AttachedDoc::Inside { low, high } => {
                for (slot, x) in self.fixed.iter_mut().zip(mesh.body.nodes()) {
                    if x.cmpge(*low).all() && x.cmple(*high).all() {
                        *slot = slot.or(body);
                    }
                }
            }
            AttachedDoc::Within(distance) => {
                let shapes = context.shapes(body);
                for (slot, &x) in self.fixed.iter_mut().zip(positions) {
                    *slot = slot.or(nearest_body(&shapes, x, *distance));
                }
            }
        }
        Ok(())
    }

    fn follow_character(
        &mut self,
        context: SceneBodies<'_>,
        character: &CharacterNodes,
        prefix: &str,
        path: &str,
    ) -> Result<(), BuildError> {
        for (node, (bone, is_fixed)) in character.nodes.iter().enumerate() {
            let body = context.named(&format!("{prefix}_{}", character.bone_names[*bone]), path)?;
            self.references[node] = Some(body);
            if *is_fixed {
                self.fixed[node] = Some(body);
            }
        }
        Ok(())
    }

    /// Gives every node without a reference the body of the nearest fixed node.
    fn refer_to_nearest(&mut self, positions: &[DVec3]) {
        let held: Vec<(DVec3, usize)> =
            positions.iter().zip(&self.fixed).filter_map(|(&x, fixed)| Some((x, (*fixed)?))).collect();
        for (x, reference) in positions.iter().zip(&mut self.references) {
            if reference.is_none() {
                let distance = |at: &(DVec3, usize)| at.0.distance_squared(*x);
                *reference = held.iter().min_by(|a, b| distance(a).total_cmp(&distance(b))).map(|at| at.1);
            }
        }
    }
}

impl SceneBodies<'_> {
    /// Index of a body.
    pub(super) fn named(&self, name: &str, path: &str) -> Result<usize, BuildError> {
        let missing =
            || BuildError::Flesh { field: path.to_owned(), message: format!("there is no body `{name}`") };
        self.bodies.get(name).map(|body| body.index()).ok_or_else(missing)
    }

    /// The shapes of one body, or of all, in the world.
    pub(super) fn shapes(&self, only: Option<usize>) -> Vec<(usize, PlacedShape)> {
        let mut placed = Vec::new();
        for doc in &self.scene.bodies {
            let Some(body) = self.bodies.get(doc.name.as_str()).map(|body| body.index()) else { continue };
            if only.is_none_or(|only| only == body) {
                let world_from_body = doc.pose.to_pose();
                placed.extend(doc.shapes.iter().map(|shape| {
                    let world_from_shape = world_from_body.compose(&shape.at.to_pose());
                    (body, PlacedShape::new(world_from_shape, shape.solid))
                }));
            }
        }
        placed
    }
}

/// A shape at its place at rest.
pub(super) struct PlacedShape {
    shape_from_outside: Pose,
    shape: Shape,
}

impl PlacedShape {
    /// A shape whose frame has a pose outside.
    pub(super) fn new(outside_from_shape: Pose, shape: Shape) -> Self {
        Self { shape_from_outside: outside_from_shape.inverse(), shape }
    }

    /// Distance of a point outside from the surface, negative inside (m); approximate for ellipsoids.
    pub(super) fn distance(&self, x: DVec3) -> f64 {
        let x = self.shape_from_outside.transform_point(x);
        if let Shape::Ellipsoid { semi_axes } = self.shape {
            return ((x / semi_axes).length() - 1.0) * semi_axes.min_element();
        }
        ContactShape::from(self.shape).signed_distance(x).unwrap_or(f64::INFINITY)
    }
}

/// The body of the nearest shape, if it is within a distance.
fn nearest_body(shapes: &[(usize, PlacedShape)], x: DVec3, distance: f64) -> Option<usize> {
    let distances = shapes.iter().map(|(body, shape)| (shape.distance(x), *body));
    let nearest = distances.min_by(|a, b| a.0.total_cmp(&b.0))?;
    (nearest.0 <= distance).then_some(nearest.1)
}
