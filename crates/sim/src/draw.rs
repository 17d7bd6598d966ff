//! What there is to draw, as plain data: solids with poses, points, lines. No colours but those of the scene, no
//! camera, no graphics library. World axes, metres. Cost: one pass over bodies and joints; a list that is used
//! again allocates nothing.

use glam::DVec3;
use sinew_math::Pose;
pub use sinew_math::Shape as DrawShape;
use sinew_mechanism::{BodyId, Input, JointId};

use crate::surface::Grid;
use crate::{DrawSurface, Model, State};

/// Everything there is to draw at one time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DrawList {
    /// Shapes of bodies.
    pub solids: Vec<DrawSolid>,
    /// Joints.
    pub points: Vec<DrawPoint>,
    /// Springs and grabs.
    pub lines: Vec<DrawLine>,
    /// Surfaces through points of bodies.
    pub surfaces: Vec<DrawSurface>,
    /// Surfaces of flesh.
    pub flesh: Vec<DrawFlesh>,
}

/// The surface of one body of flesh.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DrawFlesh {
    /// Its points.
    pub points: Vec<DVec3>,
    /// Three points each, counterclockwise from outside.
    pub triangles: Vec<[u32; 3]>,
    /// Red, green, blue from 0 to 1, if the scene gives a colour.
    pub color: Option<DVec3>,
}

/// How much longer than at rest the edges at each point of a surface are on average: 0 at rest, 1 for twice as long.
pub fn surface_stretches(triangles: &[[u32; 3]], rest: &[DVec3], points: &[DVec3], out: &mut Vec<f64>) {
    let mut sums = vec![(0.0, 0.0); points.len()];
    for &[a, b, c] in triangles {
        for [a, b] in [[a, b], [b, c], [c, a]].map(|pair| pair.map(|i| i as usize)) {
            let (now, before) = (points[a].distance(points[b]), rest[a].distance(rest[b]));
            for i in [a, b] {
                sums[i] = (sums[i].0 + now, sums[i].1 + before);
            }
        }
    }
    out.clear();
    out.extend(sums.into_iter().map(|(now, before)| now / before.max(f64::MIN_POSITIVE) - 1.0));
}

/// The triangles of the surface of flesh.
#[derive(Clone, Debug)]
pub(crate) struct FleshLook {
    pub(crate) name: String,
    pub(crate) triangles: Vec<[u32; 3]>,
    pub(crate) color: Option<DVec3>,
}

/// One shape of a body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DrawSolid {
    /// The body it belongs to.
    pub body: BodyId,
    /// Where it is.
    pub world_from_shape: Pose,
    /// What it is.
    pub shape: DrawShape,
    /// Red, green, blue from 0 to 1, if the scene gives a colour.
    pub color: Option<DVec3>,
}

/// A joint as a point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DrawPoint {
    /// The joint.
    pub joint: JointId,
    /// Its anchor on the first body.
    pub position: DVec3,
}

/// A line between two points of the world.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DrawLine {
    /// What it stands for.
    pub kind: LineKind,
    /// One end; of a grab, the point that is held.
    pub from: DVec3,
    /// The other end; of a grab, where the point is pulled to.
    pub to: DVec3,
}

/// What a line stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineKind {
    /// A spring between two points.
    Spring,
    /// A hold on a body.
    Grab,
}

/// How the bodies and springs of a scene look; empty if nothing is known about it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Looks {
    pub(crate) solids: Vec<SolidLook>,
    pub(crate) springs: Vec<[SpringEnd; 2]>,
    pub(crate) surfaces: Vec<SurfaceLook>,
    pub(crate) flesh: Vec<FleshLook>,
}

/// A shape on a body.
#[derive(Clone, Debug)]
pub(crate) struct SolidLook {
    pub(crate) body: BodyId,
    pub(crate) body_from_shape: Pose,
    pub(crate) shape: DrawShape,
    pub(crate) color: Option<DVec3>,
}

/// A surface through points of bodies.
#[derive(Clone, Debug)]
pub(crate) struct SurfaceLook {
    pub(crate) points: Vec<SpringEnd>,
    pub(crate) grid: Grid,
    pub(crate) color: Option<DVec3>,
}

/// A body, or the world, and a point of its frame.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SpringEnd {
    pub(crate) body: Option<BodyId>,
    pub(crate) point: DVec3,
}

impl Looks {
    pub(crate) fn draw(&self, model: &Model, state: &State, input: &Input, out: &mut DrawList) {
        out.flesh.resize_with(self.flesh.len(), DrawFlesh::default);
        let soft = model.flesh().into_iter().flat_map(|flesh| flesh.bodies()).zip(&state.flesh.nodes);
        for ((draw, look), (body, nodes)) in out.flesh.iter_mut().zip(&self.flesh).zip(soft) {
            body.fill_surface(&nodes.positions, &mut draw.points);
            draw.triangles.clone_from(&look.triangles);
            draw.color = look.color;
        }
        out.solids.clear();
        out.solids.extend(self.solids.iter().map(|look| DrawSolid {
            body: look.body,
            world_from_shape: model.body_pose(state, look.body).compose(&look.body_from_shape),
            shape: look.shape,
            color: look.color,
        }));
        out.points.clear();
        out.points.extend(
            model.joints().map(|joint| DrawPoint { joint, position: model.joint_anchors(state, joint).0 }),
        );
        out.lines.clear();
        let place = |end: &SpringEnd| {
            end.body.map_or(end.point, |body| model.body_pose(state, body).transform_point(end.point))
        };
        out.lines.extend(self.springs.iter().map(|[a, b]| DrawLine {
            kind: LineKind::Spring,
            from: place(a),
            to: place(b),
        }));
        out.surfaces.resize_with(self.surfaces.len(), DrawSurface::default);
        for (draw, look) in out.surfaces.iter_mut().zip(&self.surfaces) {
            draw.controls.clear();
            draw.controls.extend(look.points.iter().map(place));
            look.grid.fill(draw);
            draw.color = look.color;
        }
        let grabs = input.grabs.iter().filter(|grab| grab.body.index() < model.n_bodies());
        out.lines.extend(grabs.map(|grab| DrawLine {
            kind: LineKind::Grab,
            from: model.body_pose(state, grab.body).transform_point(grab.point),
            to: grab.target,
        }));
        let Some(reduced) = model.reduced() else { return };
        let drags = reduced.controller().into_iter().flat_map(|it| it.drags(&state.control, state.time));
        out.lines.extend(drags.map(|(goal, target)| DrawLine {
            kind: LineKind::Grab,
            from: state.poses[reduced.tree().body(goal.bone).index()].transform_point(goal.point),
            to: target,
        }));
    }
}
