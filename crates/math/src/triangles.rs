//! Triangles over points: what surfaces, colliders, looks and files of meshes have in common. Metres.
//!
//! Plain data, which nothing checks: the types that need closed, oriented or connected triangles check them when they are made
//! (`TryFrom`), and give plain triangles back (`From`).

use glam::DVec3;

use crate::tet_mesh::TetMesh;

/// Positions and triangles that may be open, crossing or flat.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Triangles {
    /// Positions (m).
    pub positions: Vec<DVec3>,
    /// Three positions each.
    pub triangles: Vec<[u32; 3]>,
}

impl Triangles {
    /// The same triangles with every position where `place` puts it.
    #[must_use]
    pub fn map(mut self, place: impl Fn(DVec3) -> DVec3) -> Self {
        self.positions.iter_mut().for_each(|position| *position = place(*position));
        self
    }
}

impl From<&TetMesh> for Triangles {
    /// The boundary, counter-clockwise seen from outside; nodes inside are left out.
    fn from(mesh: &TetMesh) -> Self {
        let mut names = vec![u32::MAX; mesh.positions().len()];
        let mut surface = Self { triangles: mesh.boundary(), ..Self::default() };
        for corner in surface.triangles.iter_mut().flatten() {
            let name = &mut names[*corner as usize];
            if *name == u32::MAX {
                *name = surface.positions.len() as u32;
                surface.positions.push(mesh.positions()[*corner as usize]);
            }
            *corner = *name;
        }
        surface
    }
}

#[cfg(test)]
mod tests {
    use super::Triangles;
    use crate::{MassProperties, TetMesh};
    use glam::DVec3;

    #[test]
    fn the_boundary_of_tetrahedra_is_closed_and_has_their_volume() {
        // A cube of five tetrahedra, and a node that nothing uses.
        let corner = |i: u32| DVec3::new(f64::from(i & 1), f64::from(i >> 1 & 1), f64::from(i >> 2));
        let nodes: Vec<DVec3> = (0..8).map(corner).collect();
        let tets = vec![[0, 1, 2, 4], [3, 2, 1, 7], [5, 4, 7, 1], [6, 7, 4, 2], [1, 2, 4, 7]];
        let mesh = TetMesh::new(nodes, tets).expect("a cube");
        let surface = Triangles::from(&mesh);
        assert_eq!((surface.positions.len(), surface.triangles.len()), (8, 12));
        let mass = MassProperties::from_mesh(&surface.positions, &surface.triangles, 1.0).expect("closed");
        assert!((mass.mass - 1.0).abs() < 1e-15);
        let moved = surface.clone().map(|point| point * 2.0);
        assert_eq!((moved.positions[3], moved.triangles), (surface.positions[3] * 2.0, surface.triangles));
    }
}
