//! The draw list of a world.
//!
//! Cost: one pass over bodies, joints and surface points; filling a list again allocates nothing.

use glam::DVec3;
use sinew_engine::{BodyPoint, FleshAppearance, MeshAppearance};
use sinew_flesh::FleshBody;
use sinew_math::Pose;
use sinew_sim::World;

use crate::list::{
    DrawConstraint, DrawFlesh, DrawLine, DrawList, DrawPoint, DrawSolid, DrawSurface, HeldQuantity, LineKind,
};
use crate::spline;

/// Replaces a list by that of the present state of a world.
pub fn draw(world: &World, list: &mut DrawList) {
    draw_flesh(world, &mut list.flesh);
    draw_surfaces(world, &mut list.surfaces);
    draw_lines(world, &mut list.lines);
    draw_constraints(world, &mut list.constraints);
    list.solids.clear();
    list.solids.extend(world.appearance().solids.iter().map(|solid| DrawSolid {
        body: solid.body,
        world_from_shape: world.pose(solid.body).compose(&solid.body_from_shape),
        shape: solid.shape,
        color: solid.color,
    }));
    let (mechanism, bodies) = (world.mechanism(), &world.state().bodies);
    list.points.clear();
    list.points.extend(
        mechanism
            .joints()
            .map(|joint| DrawPoint { joint, position: mechanism.joint_anchors(bodies, joint).0 }),
    );
}

fn draw_flesh(world: &World, list: &mut Vec<DrawFlesh>) {
    let appearance = &world.appearance().flesh;
    list.resize_with(appearance.len(), DrawFlesh::default);
    let bodies = world.model().flesh().into_iter().flat_map(|flesh| flesh.bodies());
    let bodies = bodies.zip(&world.state().flesh.nodes);
    for ((drawn, look), (body, nodes)) in list.iter_mut().zip(appearance).zip(bodies) {
        fill_points(body, look, &nodes.positions, &mut drawn.points);
        if *drawn.triangles != look.triangles[..] {
            drawn.triangles = look.triangles[..].into();
        }
        drawn.color = look.color;
    }
}

/// Where the drawn points of flesh are while its nodes are at `nodes` (m).
pub(crate) fn fill_points(body: &FleshBody, look: &FleshAppearance, nodes: &[DVec3], out: &mut Vec<DVec3>) {
    out.clear();
    out.extend(look.points.iter().map(|point| body.fem().mesh().point(point, nodes)));
}

fn draw_surfaces(world: &World, list: &mut Vec<DrawSurface>) {
    let appearance = &world.appearance().surfaces;
    let meshes = || world.appearance().meshes.iter().filter_map(|mesh| Some((mesh.body?, mesh)));
    list.resize_with(appearance.len() + meshes().count(), DrawSurface::default);
    for (drawn, (body, mesh)) in list[appearance.len()..].iter_mut().zip(meshes()) {
        draw_mesh(&world.pose(body), mesh, drawn);
    }
    for (drawn, look) in list.iter_mut().zip(appearance) {
        drawn.controls.clear();
        drawn.controls.extend(look.points.iter().map(|point| place(world, point)));
        spline::fill(look.columns, look.fineness, drawn);
        drawn.color = look.color;
    }
}

/// A mesh of a body. Its triangles share no points, so that edges stay sharp.
fn draw_mesh(pose: &Pose, mesh: &MeshAppearance, drawn: &mut DrawSurface) {
    drawn.points.clear();
    drawn.normals.clear();
    for corners in &mesh.surface.triangles {
        let corners = corners.map(|i| pose.transform_point(mesh.surface.positions[i as usize]));
        let normal = (corners[1] - corners[0]).cross(corners[2] - corners[0]).normalize_or_zero();
        drawn.points.extend(corners);
        drawn.normals.extend([normal; 3]);
    }
    if drawn.triangles.len() != mesh.surface.triangles.len() {
        drawn.triangles =
            (0..mesh.surface.triangles.len() as u32).map(|i| [3 * i, 3 * i + 1, 3 * i + 2]).collect();
    }
    drawn.color = mesh.color;
}

/// Springs, grabs, and the drags of a controller.
fn draw_lines(world: &World, list: &mut Vec<DrawLine>) {
    list.clear();
    list.extend(world.appearance().springs.iter().map(|[a, b]| DrawLine {
        kind: LineKind::Spring,
        from: place(world, a),
        to: place(world, b),
    }));
    let n_bodies = world.mechanism().n_bodies();
    let grabs = world.input().grabs.iter().filter(|grab| grab.body.index() < n_bodies);
    list.extend(grabs.map(|grab| DrawLine {
        kind: LineKind::Grab,
        from: world.pose(grab.body).transform_point(grab.point),
        to: grab.target,
    }));
    let Some(reduced) = world.model().reduced() else { return };
    let control = &world.state().control;
    let drags = reduced.controller().into_iter().flat_map(|it| it.drags(control, world.time()));
    list.extend(drags.map(|(goal, target)| DrawLine {
        kind: LineKind::Grab,
        from: world.pose(reduced.tree().body(goal.bone)).transform_point(goal.point),
        to: target,
    }));
}

/// What the score holds now.
fn draw_constraints(world: &World, list: &mut Vec<DrawConstraint>) {
    list.clear();
    let Some(reduced) = world.model().reduced() else { return };
    let control = &world.state().control;
    let held = reduced.controller().into_iter().flat_map(|it| it.constraints(control));
    list.extend(held.map(|goal| DrawConstraint {
        kind: if goal.turns() { HeldQuantity::Rotation } else { HeldQuantity::Place },
        position: world.pose(reduced.tree().body(goal.bone)).transform_point(goal.point),
    }));
}

fn place(world: &World, point: &BodyPoint) -> DVec3 {
    point.body.map_or(point.point, |body| world.pose(body).transform_point(point.point))
}

/// Centre and half diagonal of the bounding box of everything in a world (m); at least 5 cm.
pub fn extent(world: &World) -> (DVec3, f64) {
    let poses = world.mechanism().bodies().map(|body| world.pose(body).translation);
    let nodes = world.state().flesh.nodes.iter().flat_map(|nodes| nodes.positions.iter().copied());
    let mut list = DrawList::default();
    draw(world, &mut list);
    list.extent_with(poses.chain(nodes))
}
