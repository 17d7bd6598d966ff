//! The tree of nodes, and where they are.
//!
//! glTF is y-up; worlds here are z-up: `(x, y, z)` becomes `(x, −z, y)`, so that what faces +z there faces −y here.

use glam::{DMat3, DMat4, DQuat, DVec3};
use sinew_math::{Pose, mat3_to_quat, quat_to_mat3};

use super::document::Document;
use super::json::{JsonItem, short};
use crate::error::ImportFault;
use crate::report::FilePlace;

/// Translation, rotation and scale of a node in its parent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct NodePlace {
    pub(super) translation: DVec3,
    pub(super) rotation: DQuat,
    pub(super) scale: DVec3,
    /// Instead of all three, if the file gives a matrix.
    matrix: Option<DMat4>,
}

impl NodePlace {
    pub(super) fn matrix(&self) -> DMat4 {
        self.matrix.unwrap_or_else(|| {
            let turned = quat_to_mat3(self.rotation) * DMat3::from_diagonal(self.scale);
            affine(turned, self.translation)
        })
    }
}

fn affine(linear: DMat3, translation: DVec3) -> DMat4 {
    DMat4::from_cols(
        linear.x_axis.extend(0.0),
        linear.y_axis.extend(0.0),
        linear.z_axis.extend(0.0),
        translation.extend(1.0),
    )
}

/// A node.
pub(super) struct GltfNode {
    pub(super) name: String,
    pub(super) place: FilePlace,
    pub(super) parent: Option<usize>,
    pub(super) placed: NodePlace,
    pub(super) mesh: Option<usize>,
    pub(super) skin: Option<usize>,
    /// Mass in its extra properties (kg).
    pub(super) mass: Option<f64>,
}

/// All nodes, and an order in which parents come first.
pub(super) struct Nodes {
    pub(super) nodes: Vec<GltfNode>,
    pub(super) order: Vec<usize>,
}

impl Nodes {
    pub(super) fn read(document: &Document<'_>) -> Result<Self, ImportFault> {
        let items: Vec<JsonItem<'_>> = document.entries("nodes").collect();
        let (parents, children) = family(&items)?;
        let mut order: Vec<usize> = (0..items.len()).filter(|&node| parents[node].is_none()).collect();
        let mut next = 0;
        while let Some(&node) = order.get(next) {
            order.extend(&children[node]);
            next += 1;
        }
        if order.len() < items.len() {
            return Err(document.root().fault("nodes go round: some are their own parents"));
        }
        let nodes = items.iter().zip(parents).enumerate();
        let nodes =
            nodes.map(|(number, (item, parent))| node(item, number, parent)).collect::<Result<_, _>>()?;
        Ok(Self { nodes, order })
    }

    /// `world_from_node` of every node, z-up, with these places in their parents.
    pub(super) fn worlds(&self, placed: impl Fn(usize) -> DMat4) -> Vec<DMat4> {
        let mut worlds = vec![DMat4::IDENTITY; self.nodes.len()];
        for &node in &self.order {
            let above = self.nodes[node].parent.map_or(z_up(), |parent| worlds[parent]);
            worlds[node] = above * placed(node);
        }
        worlds
    }

    /// `world_from_node` as the file has it.
    pub(super) fn rest(&self) -> Vec<DMat4> {
        self.worlds(|node| self.nodes[node].placed.matrix())
    }
}

/// The parent of every node, and the children of every node.
type Family = (Vec<Option<usize>>, Vec<Vec<usize>>);

fn family(items: &[JsonItem<'_>]) -> Result<Family, ImportFault> {
    let mut parents: Vec<Option<usize>> = vec![None; items.len()];
    let mut children = Vec::with_capacity(items.len());
    for (number, item) in items.iter().enumerate() {
        let below = item.indices("children")?;
        for &child in &below {
            let parent =
                parents.get_mut(child).ok_or_else(|| item.fault(format!("there is no node {child}")))?;
            if parent.replace(number).is_some() {
                return Err(item.fault(format!("node {child} has another parent, too")));
            }
        }
        children.push(below);
    }
    Ok((parents, children))
}

/// The y-up world of the file in a z-up one.
fn z_up() -> DMat4 {
    affine(DMat3::from_cols(DVec3::X, DVec3::Z, -DVec3::Y), DVec3::ZERO)
}

/// Position and rotation of a frame that may also be scaled or mirrored.
pub(super) fn rigid(matrix: &DMat4) -> Pose {
    let column = |index: usize| matrix.col(index).truncate();
    let x = column(0).normalize_or(DVec3::X);
    let y = column(1) - x * x.dot(column(1));
    let y = y.try_normalize().unwrap_or_else(|| x.any_orthonormal_vector());
    Pose::new(mat3_to_quat(&DMat3::from_cols(x, y, x.cross(y))), column(3))
}

fn node(item: &JsonItem<'_>, number: usize, parent: Option<usize>) -> Result<GltfNode, ImportFault> {
    let vector = |key: &str| Ok::<_, ImportFault>(item.numbers::<3>(key)?.map(DVec3::from_array));
    let rotation = item.numbers::<4>("rotation")?.map_or(DQuat::IDENTITY, DQuat::from_array);
    let matrix = item.numbers::<16>("matrix")?.map(|numbers| DMat4::from_cols_array(&numbers));
    let placed = NodePlace {
        translation: vector("translation")?.unwrap_or_default(),
        rotation: unit(rotation).ok_or_else(|| item.fault("its rotation is zero"))?,
        scale: vector("scale")?.unwrap_or(DVec3::ONE),
        matrix,
    };
    let name = item.text("name").filter(|name| !name.is_empty()).map(short);
    Ok(GltfNode {
        name: name.unwrap_or_else(|| format!("node_{number}")),
        place: item.place(),
        parent,
        placed,
        mesh: item.index("mesh")?,
        skin: item.index("skin")?,
        mass: item.get("extras").and_then(|extras| extras.number("mass")),
    })
}

/// A quaternion of length one; none if it is zero.
pub(super) fn unit(rotation: DQuat) -> Option<DQuat> {
    (rotation.length_squared() > 1e-12).then(|| rotation.normalize())
}
