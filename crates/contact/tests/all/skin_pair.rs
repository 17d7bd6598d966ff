//! Two skins, and one with itself, compared with spheres, with all pairs of faces, and with what bending and crushing should give.

use glam::{DQuat, DVec3};
use sinew_contact::{
    ContactMaterial, FittedSkin, Groups, MeetingBuffers, Mover, MovingSkin, Opposite, PointCloud, Skin,
    SkinCloud, SkinMeeting,
};
use sinew_math::{exp_so3, ops};
use sinew_testkit::Rng;

/// Points, how far they move within the step, and the skin over them.
struct Piece {
    points: Vec<DVec3>,
    ahead: Vec<DVec3>,
    skin: Skin,
}

impl Piece {
    fn new(triangles: Vec<[u32; 3]>, points: Vec<DVec3>) -> Self {
        let skin = Skin::new(triangles, &points).unwrap();
        Self { points, ahead: Vec::new(), skin }
    }

    fn moved(mut self, place: impl Fn(DVec3) -> DVec3) -> Self {
        self.points.iter_mut().for_each(|point| *point = place(*point));
        self
    }
}

/// A tube along x with rounded ends.
fn tube(length: f64, radius: f64, [n_along, n_around]: [u32; 2]) -> Piece {
    let (mut points, mut triangles) = (Vec::new(), Vec::new());
    points.push(DVec3::X * (-0.5 * length - radius));
    for i in 0..=n_along {
        let x = (f64::from(i) / f64::from(n_along) - 0.5) * length;
        for k in 0..n_around {
            let (sin, cos) = ops::sin_cos(std::f64::consts::TAU * f64::from(k) / f64::from(n_around));
            points.push(DVec3::new(x, radius * cos, radius * sin));
        }
    }
    points.push(DVec3::X * (0.5 * length + radius));
    let last = points.len() as u32 - 1;
    let at = |i: u32, k: u32| 1 + i * n_around + k % n_around;
    for k in 0..n_around {
        triangles.push([0, at(0, k + 1), at(0, k)]);
        triangles.push([last, at(n_along, k), at(n_along, k + 1)]);
        for i in 0..n_along {
            let [a, b, c, d] = [at(i, k), at(i, k + 1), at(i + 1, k), at(i + 1, k + 1)];
            triangles.extend([[a, b, c], [b, d, c]]);
        }
    }
    Piece::new(triangles, points)
}

/// A ball: an octahedron divided four times.
fn ball(radius: f64, centre: DVec3) -> Piece {
    let mut points = vec![DVec3::X, DVec3::Y, DVec3::Z, -DVec3::X, -DVec3::Y, -DVec3::Z];
    let mut triangles =
        vec![[0, 1, 2], [1, 3, 2], [3, 4, 2], [4, 0, 2], [1, 0, 5], [3, 1, 5], [4, 3, 5], [0, 4, 5]];
    for _ in 0..4 {
        let mut middle = |a: u32, b: u32| {
            let place = (points[a as usize] + points[b as usize]).normalize();
            let known = points.iter().position(|point| point.distance(place) < 1e-9);
            known.unwrap_or_else(|| {
                points.push(place);
                points.len() - 1
            }) as u32
        };
        triangles = triangles
            .into_iter()
            .flat_map(|[a, b, c]: [u32; 3]| {
                let [p, q, r] = [middle(a, b), middle(b, c), middle(c, a)];
                [[a, p, r], [p, b, q], [r, q, c], [p, q, r]]
            })
            .collect();
    }
    let points = points.into_iter().map(|point| centre + point * radius).collect();
    Piece::new(triangles, points)
}

/// A block with one corner at a place, its faces divided into squares and these into triangles.
fn block(size: DVec3, cells: [u32; 3], at: DVec3) -> Piece {
    let (mut known, mut triangles): (Vec<[u32; 3]>, Vec<[u32; 3]>) = (Vec::new(), Vec::new());
    let mut index = |place: [u32; 3]| {
        let found = known.iter().position(|other| *other == place);
        found.unwrap_or_else(|| {
            known.push(place);
            known.len() - 1
        }) as u32
    };
    for (axis, end) in [0, 1, 2].into_iter().flat_map(|axis| [(axis, false), (axis, true)]) {
        let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
        for (i, j) in (0..cells[u]).flat_map(|i| (0..cells[v]).map(move |j| (i, j))) {
            let mut corner = |di: u32, dj: u32| {
                let mut place = [0; 3];
                (place[axis], place[u], place[v]) = (if end { cells[axis] } else { 0 }, i + di, j + dj);
                index(place)
            };
            let [a, b, c, d] = [corner(0, 0), corner(1, 0), corner(1, 1), corner(0, 1)];
            triangles.extend(if end { [[a, b, c], [a, c, d]] } else { [[a, c, b], [a, d, c]] });
        }
    }
    let cell = size / DVec3::from_array(cells.map(f64::from));
    let points = known.iter().map(|place| at + cell * DVec3::from_array(place.map(f64::from))).collect();
    Piece::new(triangles, points)
}

/// The contacts of the first piece with the second, which is the same if there is none.
fn meet(one: &Piece, other: Option<&Piece>, margin: f64) -> Vec<SkinMeeting> {
    let material = ContactMaterial::new(1e3, 0.0, 0.5);
    let mut fitted = [FittedSkin::default(), FittedSkin::default()];
    let pieces = [one, other.unwrap_or(one)];
    for (fitted, piece) in fitted.iter_mut().zip(pieces) {
        fitted.fit_ahead(&piece.skin, &piece.points, &piece.ahead);
    }
    let placed = |i: usize| {
        let piece = pieces[i];
        let points =
            PointCloud { points: &piece.points, first: 0, material, groups: Groups::ALL, ignored: &[] };
        let cloud = SkinCloud { points, skin: &piece.skin };
        let flesh = if other.is_some() { i as u32 } else { 0 };
        MovingSkin { cloud, ahead: &piece.ahead, fitted: &fitted[i], flesh }
    };
    let mut out = Vec::new();
    placed(0).meet(&placed(1), margin, &mut MeetingBuffers::default(), &mut out);
    out
}

#[test]
fn points_of_a_ball_are_as_deep_in_another_as_in_a_sphere() {
    let mut rng = Rng::new(81);
    for _ in 0..20 {
        let (radius, margin) = (0.3, 0.04);
        let (apart, turn) = (rng.vec3(-0.4, 0.4), rng.vec3(-3.0, 3.0));
        let other = ball(radius, DVec3::ZERO);
        let one = ball(0.2, DVec3::ZERO).moved(|x| exp_so3(turn) * x + apart);
        let found = meet(&one, Some(&other), margin);
        // Faces are up to this far inside the sphere.
        let flat = 2e-3;
        let at_points = found.iter().filter(|found| matches!(found.contact.a, Mover::Vertex(_)));
        for found in at_points.clone() {
            let contact = found.contact;
            let depth = radius - contact.point.length();
            assert!(contact.depth <= depth + 1e-12 && contact.depth >= depth - flat, "{contact:?}, {depth}");
            assert!(contact.normal.dot(contact.point.normalize()) > 0.99, "{contact:?}");
            assert!((contact.point + contact.normal * contact.depth).distance(found.other.place) < 1e-4);
            assert_eq!(contact.b, Opposite::Flesh { flesh: 1, place: found.other.face });
        }
        // Points are looked for as deep as two edges, if they face the other ball.
        let near = |point: &&DVec3| {
            let faces = (apart - **point).normalize().dot(point.normalize()) > 0.6;
            faces && (flat - margin..0.05).contains(&(radius - point.length()))
        };
        let expected = one.points.iter().filter(near).count();
        assert!(at_points.count() >= expected, "{} of {expected}", found.len());
    }
}

#[test]
fn what_comes_within_the_step_is_found_across_a_gap() {
    let mut one = ball(0.2, DVec3::Z * 1.0);
    let other = ball(0.3, DVec3::ZERO);
    assert!(meet(&one, Some(&other), 0.01).is_empty());
    one.ahead = vec![DVec3::Z * -0.6; one.points.len()];
    let found = meet(&one, Some(&other), 0.01);
    assert!(found.iter().any(|found| (found.contact.depth + 0.5).abs() < 1e-3), "{}", found.len());
}

#[test]
fn skins_that_are_bent_and_crushed_do_not_touch_themselves() {
    let crushed = |flat: f64| ball(0.3, DVec3::ZERO).moved(move |x| x * DVec3::new(1.5, 1.5, flat));
    for flat in [1.0, 0.5, 0.1, 0.01, 1e-3] {
        let found = meet(&crushed(flat), None, 0.02);
        assert!(found.is_empty(), "flat {flat}: {} contacts, {:?}", found.len(), found[0].contact);
    }
    for angle in [0.5, 1.5, 3.0, 5.0] {
        let found = meet(&bent(angle), None, 0.02);
        assert!(found.is_empty(), "bent by {angle}: {} contacts", found.len());
    }
}

/// A tube of 2 m bent to an arc of a circle.
fn bent(angle: f64) -> Piece {
    let radius = 2.0 / angle;
    tube(2.0, 0.1, [40, 12]).moved(|x| {
        let (sin, cos) = ops::sin_cos(x.x / radius);
        DVec3::new((radius - x.y) * sin, radius - (radius - x.y) * cos, x.z)
    })
}

#[test]
fn the_ends_of_a_ring_touch_each_other() {
    // The ends enter each other by a centimetre: 2 m and twice 0.1 m of ends on a circle of 2.19 m.
    let found = meet(&bent(std::f64::consts::TAU * 2.0 / 2.19), None, 0.02);
    assert!(!found.is_empty());
    let ends = |x: DVec3| x.y > 0.3;
    for found in &found {
        let contact = found.contact;
        assert!(ends(contact.point) && ends(found.other.place), "{contact:?}");
        assert!(contact.depth < 0.06 && contact.normal.x.abs() > 0.5, "{contact:?}");
    }
    assert!(found.iter().any(|found| found.contact.depth > 0.004));
}

#[test]
fn crossing_edges_touch_where_no_point_does() {
    // Two long wedges, their edges across each other, 1 mm deep.
    let wedge = |turn: DQuat, rise: f64| {
        let corners = [-2.0, 2.0]
            .map(|x| [DVec3::new(x, -0.3, -0.3), DVec3::new(x, 0.3, -0.3), DVec3::new(x, 0.0, 0.0)]);
        let points: Vec<DVec3> = corners.concat().into_iter().map(|x| turn * x + DVec3::Z * rise).collect();
        let triangles =
            vec![[0, 2, 1], [3, 4, 5], [0, 1, 4], [0, 4, 3], [1, 2, 5], [1, 5, 4], [2, 0, 3], [2, 3, 5]];
        Piece::new(triangles, points)
    };
    let below = wedge(DQuat::IDENTITY, 0.0);
    for (angle, depth) in [(1.5, 1e-3), (0.7, 1e-3), (1.2, -5e-3)] {
        let turn = exp_so3(DVec3::Z * angle) * exp_so3(DVec3::X * std::f64::consts::PI);
        let above = wedge(turn, -depth);
        let found = meet(&below, Some(&above), 0.01);
        let crossing: Vec<_> = found.iter().filter(|found| found.own.is_some()).collect();
        assert_eq!(crossing.len(), 1, "{angle}");
        let contact = crossing[0].contact;
        assert!((contact.depth - depth).abs() < 1e-12 && contact.normal.z < -0.999_999, "{contact:?}");
        assert!(contact.point.length() < 1e-9 && crossing[0].other.place.length() < 6e-3);
    }
}

#[test]
fn flush_blocks_touch_with_every_point_of_their_rims() {
    for (n, depth) in [(2, 1e-5), (3, 1e-3), (4, -1e-3), (5, 1e-2)] {
        let low = block(DVec3::splat(0.3), [n; 3], DVec3::ZERO);
        let high = block(DVec3::splat(0.3), [n; 3], DVec3::Z * (0.3 - depth));
        for (one, other, up) in [(&high, &low, 1.0), (&low, &high, -1.0)] {
            let found = meet(one, Some(other), 2e-3);
            let at_points: Vec<_> = found.iter().filter(|found| found.own.is_none()).collect();
            assert_eq!(at_points.len(), ((n + 1) * (n + 1)) as usize, "{n} cells, depth {depth}");
            for found in at_points {
                let contact = found.contact;
                assert!(contact.normal.z * up > 0.999_999, "{contact:?}");
                assert!((contact.depth - depth).abs() < 1e-9, "{contact:?}");
            }
        }
    }
}

#[test]
fn blocks_that_are_nearly_flush_are_held_all_around() {
    // Every corner of what both have in common is a point of one over a face of the other, or two edges that cross.
    for (x, y) in [(4e-3, 0.0), (-4e-3, 2e-3), (4e-3, 7e-3), (-1e-6, 1e-6)] {
        let (apart, depth) = (DVec3::new(x, y, 0.0), 2e-3);
        let low = block(DVec3::splat(0.3), [3; 3], DVec3::ZERO);
        let high = block(DVec3::splat(0.3), [3; 3], apart + DVec3::Z * (0.3 - depth));
        let (mut found, on_high) = (meet(&low, Some(&high), 1e-3), meet(&high, Some(&low), 1e-3));
        found.extend(on_high.into_iter().filter(|found| found.own.is_none()));
        for found in &found {
            let contact = found.contact;
            assert!(contact.normal.z.abs() > 0.999 && (contact.depth - depth).abs() < 1e-9, "{contact:?}");
        }
        let (from, to) = (apart.max(DVec3::ZERO), (apart + 0.3).min(DVec3::splat(0.3)));
        for (x, y) in [(from.x, from.y), (from.x, to.y), (to.x, from.y), (to.x, to.y)] {
            let corner = DVec3::new(x, y, 0.3);
            let is_held = found.iter().any(|found| found.contact.point.distance(corner) < 3.0 * depth);
            assert!(is_held, "{corner} when {apart} apart");
        }
    }
}

#[test]
fn what_slides_past_a_side_does_not_touch_the_top() {
    let low = block(DVec3::splat(0.3), [3; 3], DVec3::ZERO);
    let mut beside = block(DVec3::splat(0.2), [2; 3], DVec3::new(0.302, 0.05, 0.29));
    beside.ahead = vec![DVec3::Z * -0.02; beside.points.len()];
    for (one, other) in [(&beside, &low), (&low, &beside)] {
        let found = meet(one, Some(other), 0.0);
        assert!(found.iter().all(|found| found.contact.normal.z.abs() < 0.5), "{}", found.len());
    }
}

#[test]
fn a_rim_that_slides_over_a_flat_skin_does_not_catch() {
    let mat = block(DVec3::new(1.0, 0.4, 0.1), [10, 4, 1], DVec3::new(0.0, -0.2, -0.1));
    let mut rng = Rng::new(4);
    for _ in 0..200 {
        let depth = rng.uniform(-1e-4, 1e-4);
        let at = DVec3::new(rng.uniform(0.2, 0.6), rng.uniform(-0.15, -0.05), -depth);
        let mut slider = block(DVec3::new(0.2, 0.2, 0.1), [4, 4, 2], at);
        slider.ahead = vec![DVec3::X * 0.07; slider.points.len()];
        for (one, other) in [(&mat, &slider), (&slider, &mat)] {
            let found = meet(one, Some(other), 2e-3);
            assert!(found.len() >= 4);
            for found in &found {
                let contact = found.contact;
                assert!(contact.normal.z.abs() > 0.999_999 && contact.depth.abs() < 2e-4, "{contact:?}");
            }
        }
    }
}
