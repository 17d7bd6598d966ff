//! Convex decomposition: every point of the mesh is in a part, and no part reaches out of it by more than the tolerance.

use glam::DVec3;
use sinew_contact::{ContactShape, ConvexHull, DecomposeOptions, Decomposition, TriMesh};
use sinew_math::{exp_so3, ops};
use sinew_testkit::{Rng, soak_scale};
use std::f64::consts::TAU;

/// Vertices and triangles.
#[derive(Clone, Default)]
struct Form {
    points: Vec<DVec3>,
    triangles: Vec<[u32; 3]>,
}

impl Form {
    /// A grid of `n` by `m` points, joined at its ends in both directions.
    fn wrapped(n: u32, m: u32, place: impl Fn(u32, u32) -> DVec3) -> Self {
        let at = |i: u32, j: u32| (i % n) * m + j % m;
        let grid = (0..n).flat_map(|i| (0..m).map(move |j| (i, j)));
        let faces = grid.clone().flat_map(|(i, j)| {
            let [a, b, c, d] = [at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)];
            [[a, b, c], [a, c, d]]
        });
        Self { triangles: faces.collect(), points: grid.map(|(i, j)| place(i, j)).collect() }
    }

    /// What a closed outline of radii and heights draws around the z axis.
    fn turned(outline: &[[f64; 2]], n: u32) -> Self {
        Self::wrapped(n, outline.len() as u32, |i, j| {
            let ([r, z], angle) = (outline[j as usize], TAU * f64::from(i) / f64::from(n));
            DVec3::new(r * ops::cos(angle), r * ops::sin(angle), z)
        })
    }

    fn torus(radius: f64, tube: f64, n: u32, m: u32) -> Self {
        let angle = |j: u32| TAU * f64::from(j) / f64::from(m);
        let around = |j| [radius + tube * ops::cos(angle(j)), tube * ops::sin(angle(j))];
        Self::turned(&(0..m).map(around).collect::<Vec<_>>(), n)
    }

    /// A cup of 80 × 100 mm with walls of 4 mm; its axis is a thin hole.
    fn cup(n: u32) -> Self {
        Self::turned(&[[1e-4, 0.0], [0.04, 0.0], [0.04, 0.1], [0.036, 0.1], [0.036, 0.004], [1e-4, 0.004]], n)
    }

    fn add(&mut self, corners: [DVec3; 4]) {
        let first = self.points.len() as u32;
        self.points.extend(corners);
        self.triangles.extend([[first, first + 1, first + 2], [first, first + 2, first + 3]]);
    }

    /// Columns side by side, 1 wide, of whole heights.
    fn skyline(heights: &[u32], depth: f64) -> Self {
        let mut form = Self::default();
        let back = DVec3::Y * depth;
        let height = |i: usize| heights.get(i).copied().unwrap_or(0);
        for (i, &top) in heights.iter().enumerate() {
            let at = |right: usize, z: u32| DVec3::new((i + right) as f64, 0.0, f64::from(z));
            for z in 0..top {
                form.add([at(0, z), at(1, z), at(1, z + 1), at(0, z + 1)]);
                form.add([at(0, z + 1), at(1, z + 1), at(1, z), at(0, z)].map(|p| p + back));
                if height(i.wrapping_sub(1)) <= z {
                    form.add([at(0, z) + back, at(0, z), at(0, z + 1), at(0, z + 1) + back]);
                }
                if height(i + 1) <= z {
                    form.add([at(1, z), at(1, z) + back, at(1, z + 1) + back, at(1, z + 1)]);
                }
            }
            form.add([at(0, top), at(1, top), at(1, top) + back, at(0, top) + back]);
            form.add([at(0, 0) + back, at(1, 0) + back, at(1, 0), at(0, 0)]);
        }
        form
    }

    fn cube() -> Self {
        Self::skyline(&[1], 1.0)
    }

    fn moved(mut self, turn: DVec3, shift: DVec3, scale: f64) -> Self {
        let rotation = exp_so3(turn);
        self.points.iter_mut().for_each(|p| *p = rotation * *p * scale + shift);
        self
    }

    /// The same from inside.
    fn inside_out(mut self) -> Self {
        self.triangles.iter_mut().for_each(|t| t.swap(1, 2));
        self
    }

    fn with(mut self, other: &Self) -> Self {
        let first = self.points.len() as u32;
        self.points.extend(&other.points);
        self.triangles.extend(other.triangles.iter().map(|t| t.map(|i| i + first)));
        self
    }

    fn mesh(&self) -> TriMesh {
        TriMesh::new(&self.points, &self.triangles, Some(true)).unwrap()
    }

    fn size(&self) -> f64 {
        let (low, high) = self.bounds();
        (high - low).length()
    }

    fn bounds(&self) -> (DVec3, DVec3) {
        self.points.iter().fold((DVec3::MAX, DVec3::MIN), |(low, high), &p| (low.min(p), high.max(p)))
    }

    fn decomposed(&self) -> Decomposition {
        Decomposition::of(&self.mesh(), &DecomposeOptions::default()).unwrap()
    }

    /// Checks that the parts fill the form and reach out of it by at most the tolerance (m), with points that are inside where `depth` is negative.
    fn check(&self, found: &Decomposition, tolerance: f64, depth: impl Fn(DVec3) -> f64) {
        let (low, high) = self.bounds();
        let parts: Vec<ContactShape> = found.parts().iter().cloned().map(ContactShape::Convex).collect();
        let mut rng = Rng::new(5);
        let mut n_inside = 0;
        for _ in 0..4000 * soak_scale() {
            let point = low + (high - low) * rng.vec3(-0.05, 1.05);
            let distance = depth(point);
            let each = parts.iter().map(|part| part.signed_distance(point).unwrap());
            let nearest = each.fold(f64::INFINITY, f64::min);
            assert!(distance >= 0.0 || nearest <= 1e-8 * self.size(), "{point} is in no part");
            assert!(distance <= tolerance || nearest >= 0.0, "a part reaches out to {point} by {distance}");
            n_inside += usize::from(distance < 0.0);
        }
        assert!(n_inside > 100);
        found.parts().iter().for_each(is_convex);
    }

    fn check_default(&self, found: &Decomposition) {
        assert!(found.is_within_tolerance(), "{}", found.reach());
        let mesh = ContactShape::from(self.mesh());
        self.check(found, 0.01 * self.size(), |point| mesh.signed_distance(point).unwrap());
    }
}

fn is_convex(part: &ConvexHull) {
    let corner = |i: u32| part.corners()[i as usize];
    let size = part.corners().iter().map(|p| p.distance(corner(0))).fold(0.0, f64::max);
    for [a, b, c] in part.triangles().map(|t| t.map(corner)) {
        let normal = (b - a).cross(c - a);
        assert!(part.corners().iter().all(|&p| normal.dot(p - a) <= 1e-6 * size * size * size));
    }
}

#[test]
fn forms_of_boxes_are_cut_at_their_notches() {
    let turns = [DVec3::ZERO, DVec3::new(0.5, 0.3, 0.9), DVec3::new(-1.0, 2.0, 0.1)];
    let forms = [(vec![3, 1], 2), (vec![6, 1, 6], 3), (vec![1, 2, 3, 4, 5, 6], 6), (vec![2, 5, 1, 4, 3], 5)];
    for (k, turn) in turns.into_iter().enumerate() {
        for (heights, n) in &forms {
            let scale = [1.0, 1e-3, 1e3][k];
            let form = Form::skyline(heights, 2.0).moved(turn, DVec3::new(3.0, -2.0, 1.0) * scale, scale);
            let found = form.decomposed();
            assert!(found.parts().len() <= *n, "{heights:?} {turn}: {} parts", found.parts().len());
            assert!(found.reach() <= 1e-9 * form.size(), "{heights:?}: {}", found.reach());
            form.check_default(&found);
        }
    }
}

#[test]
fn round_forms_are_within_the_tolerance() {
    let bowl: Vec<[f64; 2]> = (0..=12)
        .map(|k| TAU / 4.0 * f64::from(k) / 12.0)
        .flat_map(|angle: f64| [[angle, 1.0], [angle, 0.9]])
        .map(|[angle, r]| [(r * ops::sin(angle)).max(1e-3), -r * ops::cos(angle)])
        .collect();
    let outline: Vec<[f64; 2]> =
        bowl.iter().step_by(2).chain(bowl.iter().skip(1).step_by(2).rev()).copied().collect();
    let forms = [
        (Form::torus(0.1, 0.03, 24, 12), 20),
        (Form::torus(0.1, 0.03, 24, 12).moved(DVec3::new(0.4, 1.0, 0.2), DVec3::ONE, 1.0), 24),
        (Form::cup(24), 24),
        (Form::turned(&outline, 16), 100),
    ];
    for (form, n) in forms {
        let found =
            Decomposition::of(&form.mesh(), &DecomposeOptions { max_parts: n, tolerance: None }).unwrap();
        assert!((4..=n).contains(&found.parts().len()), "{} parts", found.parts().len());
        form.check_default(&found);
    }
}

#[test]
fn a_convex_form_is_one_part() {
    for form in [Form::cube(), Form::cube().moved(DVec3::new(1.0, 2.0, 3.0), DVec3::ONE, 0.01)] {
        assert_eq!(form.decomposed().parts().len(), 1);
    }
}

#[test]
fn pieces_that_overlap_are_parts_of_their_own_and_cavities_stay_empty() {
    let bar = Form::cube().moved(DVec3::ZERO, DVec3::new(0.5, 0.4, 0.4), 0.2);
    let long = Form { points: bar.points.iter().map(|p| *p * DVec3::new(4.0, 1.0, 1.0)).collect(), ..bar };
    let handle = Form::cube().with(&long.moved(DVec3::ZERO, -DVec3::X * 1.5, 1.0));
    let found = handle.decomposed();
    assert_eq!(found.parts().len(), 2);
    let pieces: Vec<ContactShape> =
        found.parts().iter().map(|part| ContactShape::Convex(part.clone())).collect();
    let inside = pieces.iter().filter(|piece| piece.signed_distance(DVec3::splat(0.5)).unwrap() < 0.0);
    assert!(inside.count() >= 1);
    let hollow = Form::cube().with(&Form::cube().inside_out().moved(DVec3::ZERO, DVec3::splat(0.2), 0.6));
    let found = hollow.decomposed();
    assert!(found.parts().len() >= 6);
    hollow.check_default(&found);
}

#[test]
fn bumpy_balls_are_filled() {
    let mut rng = Rng::new(11);
    for _ in 0..2 * soak_scale() {
        let bumps: Vec<DVec3> = (0..4).map(|_| rng.vec3(-1.0, 1.0).normalize()).collect();
        let radius =
            |d: DVec3| 1.0 + bumps.iter().map(|b| 0.5 * ops::exp(8.0 * (d.dot(*b) - 1.0))).sum::<f64>();
        let mut form = Form::wrapped(14, 9, |i, j| {
            let (a, b) = (TAU * f64::from(i) / 14.0, TAU / 2.0 * (0.02 + 0.96 * f64::from(j) / 8.0));
            let d = DVec3::new(ops::cos(a) * ops::sin(b), ops::sin(a) * ops::sin(b), ops::cos(b));
            d * radius(d)
        });
        form = form.moved(rng.vec3(-1.0, 1.0), DVec3::ZERO, 0.3);
        form.check_default(&form.decomposed());
    }
}

#[test]
fn few_parts_fill_the_form_and_say_how_far_they_reach_out() {
    let form = Form::torus(0.1, 0.03, 16, 8);
    let mesh = ContactShape::from(form.mesh());
    for max_parts in [1, 2, 5] {
        let options = DecomposeOptions { max_parts, tolerance: Some(1e-3) };
        let found = Decomposition::of(&form.mesh(), &options).unwrap();
        assert!(found.parts().len() <= max_parts && !found.is_within_tolerance());
        form.check(&found, found.reach() + 1e-3, |point| mesh.signed_distance(point).unwrap());
    }
    // a ball falls through the hole of the ring unless there is but one part
    let far = Decomposition::of(&form.mesh(), &DecomposeOptions { max_parts: 1, tolerance: None }).unwrap();
    assert!((far.reach() - 0.0744).abs() < 4e-3, "{}", far.reach());
}

#[test]
fn a_finer_tolerance_makes_more_parts_and_the_same_call_the_same_parts() {
    let form = Form::torus(0.1, 0.03, 24, 12);
    let parts = |tolerance| {
        let options = DecomposeOptions { max_parts: 100, tolerance: Some(tolerance) };
        Decomposition::of(&form.mesh(), &options).unwrap()
    };
    let n = [0.02, 0.005, 0.002].map(|tolerance| parts(tolerance).parts().len());
    assert!(n[0] < n[1] && n[1] < n[2], "{n:?}");
    assert_eq!(parts(0.005), parts(0.005));
    let mirrored =
        Decomposition::of(&form.clone().inside_out().mesh(), &DecomposeOptions::default()).unwrap();
    form.check_default(&mirrored);
}

#[test]
fn bad_meshes_and_options_are_refused_and_strange_ones_end() {
    let refused = |form: &Form, options: DecomposeOptions| {
        let mesh = TriMesh::new(&form.points, &form.triangles, Some(true));
        mesh.and_then(|mesh| Decomposition::of(&mesh, &options)).unwrap_err().to_string()
    };
    let default = DecomposeOptions::default();
    let mut open = Form::cube();
    open.triangles.pop();
    assert!(refused(&open, default).contains("must be closed"));
    assert!(refused(&Form::default(), default).contains("area"));
    let one = Form { triangles: vec![[0, 1, 2]], ..Form::cube() };
    assert!(refused(&one, default).contains("must be closed"));
    let flat = Form { triangles: vec![[0, 1, 2], [0, 2, 1]], ..Form::cube() };
    assert!(refused(&flat, default).contains("plane") || refused(&flat, default).contains("points"));
    let mut strange = Form::cube();
    strange.points[0].x = f64::NAN;
    assert!(refused(&strange, default).contains("finite"));
    for tolerance in [0.0, -1.0, f64::NAN] {
        let options = DecomposeOptions { tolerance: Some(tolerance), ..default };
        assert!(refused(&Form::cube(), options).contains("positive tolerance"));
    }
    assert!(refused(&Form::cube(), DecomposeOptions { max_parts: 0, ..default }).contains("one part"));
    let sheet = TriMesh::new(&open.points, &open.triangles, None).unwrap();
    assert!(Decomposition::of(&sheet, &default).unwrap_err().to_string().contains("closed"));

    let l = Form::skyline(&[3, 1], 1.0);
    let options = DecomposeOptions { max_parts: usize::MAX, tolerance: Some(1e-12) };
    assert_eq!(Decomposition::of(&l.mesh(), &options).unwrap().parts().len(), 2);
    let coarse = DecomposeOptions { tolerance: Some(f64::INFINITY), ..default };
    assert_eq!(Decomposition::of(&l.mesh(), &coarse).unwrap().parts().len(), 1);
    // a ring whose tube crosses itself
    let crossing = Form::torus(0.02, 0.03, 12, 8);
    assert!(!Decomposition::of(&crossing.mesh(), &default).unwrap().parts().is_empty());
}

/// Quick hull failed at many points in a few planes.
#[test]
fn stairs_have_a_hull() {
    for heights in [vec![1, 2, 3, 4, 5, 6], vec![1, 3, 5, 7, 9], (1..=20).collect()] {
        let form = Form::skyline(&heights, 3.0);
        let hull = ConvexHull::new(&form.points).unwrap();
        is_convex(&hull);
        let (n, top) = (heights.len() as f64, f64::from(heights[heights.len() - 1]));
        let first = f64::from(heights[0]);
        let area = top + 0.5 * (n - 1.0) * (first + top);
        assert!((hull.volume() - 3.0 * area).abs() < 1e-9 * area, "{} {}", hull.volume(), 3.0 * area);
    }
}
