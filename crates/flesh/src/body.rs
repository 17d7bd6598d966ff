//! One body of flesh: tetrahedra, the bones they are fixed to, and the embedded surface.
//!
//! Bones are bodies of a mechanism; their poses are those of the centres of mass. A node fixed to a bone has no
//! unknowns, and its mass belongs to the bone: see [`FleshBody::bone_masses`]. World axes, SI.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use glam::{DMat3, DVec3};
use sinew_contact::{ContactMaterial, Groups};
use sinew_fem::{Attachments, FemModel, FibrePlace, FibreTangent, STIFFNESS_PAIRS};
use sinew_math::SurfacePoint;
use sinew_solvers::{BlockFill, SparsePattern};

use crate::{bone_shares::BoneShares, error::FleshError, flesh_skin::FleshSkin, tet_walk::TetWalk};

/// Damping and contact of flesh.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FleshOptions {
    /// Stiffness damping `β`, s: forces `−βK v`.
    pub stiffness_damping_s: f64,
    /// Damper of free nodes against their reference bones, 1/s (KP08 §4.5).
    pub bone_damping_per_s: f64,
    /// Contact material and groups of the surface; without them the flesh touches nothing.
    pub contact: Option<(ContactMaterial, Groups)>,
}

impl Default for FleshOptions {
    /// Undamped, touching nothing.
    fn default() -> Self {
        Self { stiffness_damping_s: 0.0, bone_damping_per_s: 0.0, contact: None }
    }
}

impl FleshOptions {
    fn check(&self) -> Result<(), FleshError> {
        for (what, value) in [
            ("stiffness damping (s)", self.stiffness_damping_s),
            ("bone damping (1/s)", self.bone_damping_per_s),
        ] {
            if !(value >= 0.0 && value.is_finite()) {
                return Err(FleshError::OutOfRange { what, value, range: "zero or positive" });
            }
        }
        Ok(())
    }
}

/// Flesh around bones; never changes.
#[derive(Clone, Debug)]
pub struct FleshBody {
    pub(crate) fem: FemModel,
    pub(crate) attachments: Attachments,
    /// Body of each bone.
    pub(crate) bones: Vec<usize>,
    /// Bone of each node that is fixed, else `FREE`.
    pub(crate) bone_of: Vec<u32>,
    pub(crate) is_fixed: Vec<bool>,
    pub(crate) surface: Vec<SurfacePoint>,
    /// Everything that may touch: the surface, more points of the skin, nodes inside.
    pub(crate) touching: Vec<SurfacePoint>,
    pub(crate) skin: Option<FleshSkin>,
    /// Triangles over the points of the surface, and their regions; no regions if all are 0.
    faces: Vec<[u32; 3]>,
    face_regions: Vec<u32>,
    pub(crate) options: FleshOptions,
    /// Stiffness damping of each region, s; empty if all have that of the options.
    region_damping_s: Vec<f64>,
    pub(crate) pattern: SparsePattern,
    /// Computed on first use.
    shares: OnceLock<BoneShares>,
}

/// Marks a node that is not fixed to a bone.
pub(crate) const FREE: u32 = u32::MAX;

impl FleshBody {
    /// Flesh from tetrahedra and attachments whose bones are the bodies `bones`, in this order. The frame of a bone is the central frame of its
    /// body: attachments are made at the poses of a [`sinew_mechanism::State`].
    ///
    /// # Errors
    /// A node that refers to a missing bone, a surface point outside the mesh, or negative damping.
    pub fn new(
        fem: FemModel,
        attachments: Attachments,
        bones: Vec<usize>,
        surface: Vec<SurfacePoint>,
        options: FleshOptions,
    ) -> Result<Self, FleshError> {
        options.check()?;
        let n_bones = bones.len();
        let named = attachments.attached().iter().map(|a| a.bone);
        let mut named = named.chain(attachments.free().iter().filter_map(|f| f.reference));
        if let Some(bone) = named.find(|&bone| bone as usize >= n_bones) {
            return Err(FleshError::MissingBone { bone, n_bones });
        }
        let n_tets = fem.n_tets();
        if let Some(point) = surface.iter().position(|p| p.tet as usize >= n_tets) {
            return Err(FleshError::SurfacePoint { point, tet: surface[point].tet, n_tets });
        }
        let mut bone_of = vec![FREE; fem.n_nodes()];
        for attached in attachments.attached() {
            bone_of[attached.node as usize] = attached.bone;
        }
        let is_fixed = bone_of.iter().map(|&bone| bone != FREE).collect();
        let patches: Vec<&[u32]> = fem.patches().collect();
        let pattern = SparsePattern::with_patches(fem.n_nodes(), fem.mesh().tets(), &patches)
            .expect("a checked mesh refers to nodes that exist");
        Ok(Self {
            fem,
            attachments,
            bones,
            bone_of,
            is_fixed,
            touching: surface.clone(),
            surface,
            skin: None,
            faces: Vec::new(),
            face_regions: Vec::new(),
            options,
            region_damping_s: Vec::new(),
            pattern,
            shares: OnceLock::new(),
        })
    }

    /// The same with a skin: triangles over the points of the surface, closed and counter-clockwise seen from outside. They
    /// touch between the points, too, and nodes under them touch, if the flesh touches anything. Pressure and wind act on them.
    ///
    /// # Errors
    /// A triangle that refers to a missing point.
    pub fn with_skin(mut self, triangles: Vec<[u32; 3]>) -> Result<Self, FleshError> {
        let n_points = self.surface.len();
        if triangles.iter().flatten().any(|&corner| corner as usize >= n_points) {
            return Err(FleshError::Corner { n_points });
        }
        self.faces.clone_from(&triangles);
        self.face_regions = if self.n_regions() > 1 { self.find_face_regions() } else { Vec::new() };
        if self.options.contact.is_some() && !triangles.is_empty() {
            self.touching.clone_from(&self.surface);
            let skin = FleshSkin::new(self.fem.mesh(), triangles, &mut self.touching);
            self.skin = Some(skin?);
        }
        Ok(self)
    }

    /// The same with another stiffness damping (s) in each region of the tetrahedra, from region 0 on.
    ///
    /// # Errors
    /// Another number of regions, or negative damping.
    pub fn with_region_damping(mut self, damping_s: Vec<f64>) -> Result<Self, FleshError> {
        let n = self.fem.materials().count();
        if damping_s.len() != n {
            return Err(FleshError::Regions { found: damping_s.len(), expected: n });
        }
        for &stiffness_damping_s in &damping_s {
            FleshOptions { stiffness_damping_s, ..self.options }.check()?;
        }
        self.region_damping_s = damping_s;
        Ok(self)
    }

    /// The triangles over the points of the surface; none without a skin.
    pub(crate) fn faces(&self) -> &[[u32; 3]] {
        &self.faces
    }

    /// Number of regions, with what is in none.
    pub fn n_regions(&self) -> usize {
        self.fem.materials().count()
    }

    /// The region under a face.
    pub(crate) fn face_region(&self, face: usize) -> u32 {
        self.face_regions.get(face).copied().unwrap_or(0)
    }

    /// The region of the tetrahedron under the middle of each face at rest.
    fn find_face_regions(&self) -> Vec<u32> {
        let (mesh, walk) = (self.fem.mesh(), TetWalk::new(self.fem.mesh()));
        let corner = |&corner: &u32| mesh.point(&self.surface[corner as usize], mesh.positions());
        let region = |face: &[u32; 3]| {
            let middle = face.iter().map(corner).sum::<DVec3>() / 3.0;
            let start = self.surface[face[0] as usize].tet;
            self.fem.region(walk.locate(mesh, start, middle).tet as usize) as u32
        };
        self.faces.iter().map(region).collect()
    }

    /// Stiffness damping of a region, s.
    pub(crate) fn stiffness_damping(&self, region: usize) -> f64 {
        self.region_damping_s.get(region).copied().unwrap_or(self.options.stiffness_damping_s)
    }

    /// The largest stiffness damping, s.
    pub(crate) fn largest_damping(&self) -> f64 {
        let of_regions = self.region_damping_s.iter().copied();
        of_regions.reduce(f64::max).unwrap_or(self.options.stiffness_damping_s)
    }

    /// How many points of its surface may touch; with a skin at least those of [`FleshBody::surface`].
    pub fn n_touching(&self) -> usize {
        self.skin.as_ref().map_or(self.surface.len(), |skin| skin.skin.n_points())
    }

    /// Whether it touches anything.
    pub fn has_contact(&self) -> bool {
        self.options.contact.is_some()
    }

    /// The same with another contact material of each point that may touch.
    #[must_use]
    pub fn with_contact_material(mut self, material: ContactMaterial) -> Self {
        if let Some(contact) = &mut self.options.contact {
            contact.0 = material;
        }
        self
    }

    /// Whether a point that may touch is a node inside the skin.
    pub(crate) fn is_inside(&self, touching: usize) -> bool {
        self.skin.as_ref().is_some_and(|skin| touching >= skin.skin.n_points())
    }

    /// The tetrahedra.
    pub fn fem(&self) -> &FemModel {
        &self.fem
    }

    /// Which nodes are fixed to which bone.
    pub fn attachments(&self) -> &Attachments {
        &self.attachments
    }

    /// The body of each bone.
    pub fn bones(&self) -> &[usize] {
        &self.bones
    }

    /// The points of the surface.
    pub fn surface(&self) -> &[SurfacePoint] {
        &self.surface
    }

    /// Bone, mass (kg) and position in the central frame of its body (m) of each fixed node.
    pub fn bone_masses(&self) -> impl Iterator<Item = (u32, f64, DVec3)> + '_ {
        self.attachments
            .attached()
            .iter()
            .map(|a| (a.bone, self.fem.masses()[a.node as usize], a.point_in_bone))
    }

    /// The body of a bone that holds it, the share of its mass that this bone carries (kg) and its place at rest in the central frame
    /// of that body (m), of each free node.
    pub fn free_masses(&self) -> impl Iterator<Item = (usize, f64, DVec3)> + '_ {
        let (nodes, rest) = (self.fem.mesh().positions(), self.attachments.rest_poses());
        self.attachments.free().iter().enumerate().flat_map(move |(i, free)| {
            let (mass, place) = (self.fem.masses()[free.node as usize], nodes[free.node as usize]);
            self.shares().of(i).iter().map(move |&(bone, share)| {
                let point = rest[bone as usize].inverse().transform_point(place);
                (self.bones[bone as usize], mass * share, point)
            })
        })
    }

    /// The bodies that a point follows, with shares that sum to 1; none without bones. Shares are those of
    /// [`BoneShares`] at nodes, between them they are interpolated. The first call solves a linear system of the mesh per three bones.
    pub fn bone_shares(&self, point: &SurfacePoint) -> Vec<(usize, f64)> {
        let mut found: BTreeMap<usize, f64> = BTreeMap::new();
        for (node, weight) in self.corners(point.tet).into_iter().zip(point.weights) {
            let mut add = |bone: u32, share: f64| {
                *found.entry(self.bones[bone as usize]).or_default() += weight * share;
            };
            let free = self.attachments.free();
            match free.binary_search_by_key(&(node as u32), |free| free.node) {
                Ok(place) => self.shares().of(place).iter().for_each(|&(bone, share)| add(bone, share)),
                Err(_) => add(self.bone_of[node], 1.0),
            }
        }
        let sum: f64 = found.values().filter(|share| **share > 0.0).sum();
        found.into_iter().filter(|(_, share)| *share > 0.0).map(|(body, share)| (body, share / sum)).collect()
    }

    /// The weights of the bones at each free node.
    pub(crate) fn shares(&self) -> &BoneShares {
        self.shares.get_or_init(|| BoneShares::new(&self.fem, &self.attachments, &self.pattern))
    }

    /// The nodes of a tetrahedron.
    #[inline]
    pub(crate) fn corners(&self, tet: u32) -> [usize; 4] {
        self.fem.mesh().tets()[tet as usize].map(|node| node as usize)
    }

    /// Adds `c_a c_b` times a matrix of a fibre to the matrix of what it runs through.
    pub(crate) fn add_fibre(&self, fill: &mut BlockFill<'_>, fibre: &FibreTangent<'_>, matrix: DMat3) {
        self.add_blocks(fill, fibre.place, fibre.blocks(matrix));
    }

    /// Adds the blocks between the nodes of a place: of the first with itself and all after it, then of the second, and so on.
    pub(crate) fn add_blocks(
        &self,
        fill: &mut BlockFill<'_>,
        place: FibrePlace,
        blocks: impl Iterator<Item = DMat3>,
    ) {
        match place {
            FibrePlace::Patch(patch) => fill.add_patch(patch, blocks),
            FibrePlace::Tet(tet) => {
                let mut of_tet = [DMat3::ZERO; STIFFNESS_PAIRS.len()];
                of_tet.iter_mut().zip(blocks).for_each(|(block, given)| *block = given);
                fill.add_element(tet, &of_tet);
            }
        }
    }

    /// The bone that a node is fixed to.
    pub(crate) fn attached_bone(&self, node: usize) -> Option<usize> {
        let bone = self.bone_of[node];
        (bone != FREE).then_some(bone as usize)
    }

    /// For each of some points, whether its tetrahedron needs an SVD with the nodes at `positions` (m).
    pub fn fill_diagonalized(&self, points: &[SurfacePoint], positions: &[DVec3], out: &mut Vec<bool>) {
        let mesh = self.fem.mesh();
        let is_large = |tet: usize| !self.fem.material_of(tet).is_small(&mesh.deformation(tet, positions));
        let is_diagonalized: Vec<bool> = (0..self.fem.n_tets()).map(is_large).collect();
        out.clear();
        out.extend(points.iter().map(|point| is_diagonalized[point.tet as usize]));
    }

    /// Positions of the points of the surface (m), for given nodes, in the frame of these.
    pub fn fill_surface(&self, positions: &[DVec3], out: &mut Vec<DVec3>) {
        out.clear();
        out.extend(self.surface.iter().map(|point| self.fem.mesh().point(point, positions)));
    }

    /// The place that is at a point (m) while the nodes are at `positions`, in the world as these: in the tetrahedron that the point is deepest in, or on the border of the nearest one.
    pub fn point_at(&self, positions: &[DVec3], point: DVec3) -> Option<SurfacePoint> {
        let place = |tet: u32| {
            let [a, b, c, d] = self.corners(tet).map(|node| positions[node]);
            let inner = DMat3::from_cols(b - a, c - a, d - a).inverse() * (point - a);
            SurfacePoint { tet, weights: [1.0 - inner.element_sum(), inner.x, inner.y, inner.z] }
        };
        let least = |place: &SurfacePoint| place.weights.into_iter().fold(f64::INFINITY, f64::min);
        let is_known = |place: &SurfacePoint| place.weights.iter().all(|weight| weight.is_finite());
        let places = (0..self.fem.n_tets() as u32).map(place).filter(is_known);
        let SurfacePoint { tet, weights } = places.max_by(|a, b| least(a).total_cmp(&least(b)))?;
        let weights = weights.map(|weight| weight.max(0.0));
        let sum: f64 = weights.iter().sum();
        Some(SurfacePoint { tet, weights: weights.map(|weight| weight / sum) })
    }

    /// The skin, with the material and groups of its contacts; none if it touches nothing.
    pub(crate) fn touching_skin(&self) -> Option<(&FleshSkin, (ContactMaterial, Groups))> {
        self.skin.as_ref().zip(self.options.contact)
    }

    /// Positions of everything that may touch (m), for given nodes.
    pub(crate) fn fill_touching(&self, positions: &[DVec3], out: &mut Vec<DVec3>) {
        out.clear();
        out.extend(self.touching.iter().map(|point| self.fem.mesh().point(point, positions)));
    }
}
