//! Skins that bound a solid: vertices joined, triangles turned, holes filled.
//!
//! Rigs split vertices along seams of textures and normals; they are joined where they are at one place, to a millionth of the size. Triangles without area and
//! doubled ones are left out. Parts are turned so that neighbours agree and the volume is positive. Holes that are small beside the skin are
//! filled by a fan around their middle. Cost: n log n in triangles.

use std::collections::{BTreeMap, BTreeSet};

use glam::DVec3;
use sinew_mesh::{MeshError, Surface};

use super::model::{BoneWeights, RigSkin};
use super::sizes::extent;

/// Largest hole that is filled, as a share of the skin's size.
const LARGEST_HOLE: f64 = 0.35;

/// Vertices that are closer, as a share of the skin's size, are at one place: four bytes hold no more digits.
const SAME_PLACE: f64 = 1e-6;

/// A skin that bounds a solid, and what was done to it.
pub(super) struct Repaired {
    pub(super) skin: RigSkin,
    pub(super) notes: Vec<String>,
}

/// Puts a skin right as far as can be.
pub(super) fn repaired(skin: &RigSkin) -> Repaired {
    let mut notes = Vec::new();
    let mut skin = welded(skin, &mut notes);
    drop_flat(&mut skin, &mut notes);
    orient(&mut skin, &mut notes);
    fill_holes(&mut skin, &mut notes);
    Repaired { skin, notes }
}

/// Checks that a skin bounds a solid.
pub(super) fn surface(skin: &RigSkin) -> Result<Surface, MeshError> {
    Surface::new(skin.positions.clone(), skin.triangles.clone())
}

/// Joins vertices at one place; those without a triangle are dropped.
fn welded(skin: &RigSkin, notes: &mut Vec<String>) -> RigSkin {
    let apart = SAME_PLACE * extent(skin.positions.iter());
    let mut kept = RigSkin::default();
    let mut places: BTreeMap<[i64; 3], Vec<u32>> = BTreeMap::new();
    let mut names = vec![u32::MAX; skin.positions.len()];
    let mut n_used = 0;
    for corners in &skin.triangles {
        let corners = corners.map(|corner| {
            let corner = corner as usize;
            if names[corner] == u32::MAX {
                let vertex = (skin.positions[corner], &skin.weights[corner]);
                n_used += 1;
                names[corner] = weld(&mut kept, &mut places, vertex, apart);
            }
            names[corner]
        });
        kept.triangles.push(corners);
    }
    if n_used > kept.positions.len() {
        let joined = n_used - kept.positions.len();
        notes.push(format!("{joined} vertices at the places of others are joined with them"));
    }
    kept
}

/// The vertex at the place of this one, which is kept if there is none yet.
fn weld(
    kept: &mut RigSkin,
    places: &mut BTreeMap<[i64; 3], Vec<u32>>,
    (x, weights): (DVec3, &BoneWeights),
    apart: f64,
) -> u32 {
    near(places, &kept.positions, x, apart).unwrap_or_else(|| {
        let name = kept.positions.len() as u32;
        places.entry(place(x, apart)).or_default().push(name);
        kept.positions.push(x);
        kept.weights.push(weights.clone());
        name
    })
}

fn place(x: DVec3, apart: f64) -> [i64; 3] {
    (x / apart.max(f64::MIN_POSITIVE)).to_array().map(|x| x.floor() as i64)
}

/// A vertex at this place.
fn near(places: &BTreeMap<[i64; 3], Vec<u32>>, positions: &[DVec3], x: DVec3, apart: f64) -> Option<u32> {
    let is_here = |name: &&u32| positions[**name as usize].distance(x) <= apart;
    let cell = place(x, apart);
    let around = (0..27).map(|k| [k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1]);
    let mut cells = around.map(|by| std::array::from_fn(|axis| cell[axis].saturating_add(by[axis])));
    cells.find_map(|cell: [i64; 3]| places.get(&cell)?.iter().find(is_here).copied())
}

/// Leaves out triangles without area, and those that are there twice.
fn drop_flat(skin: &mut RigSkin, notes: &mut Vec<String>) {
    let before = skin.triangles.len();
    let mut seen = BTreeSet::new();
    let positions = &skin.positions;
    skin.triangles.retain(|corners| {
        let [a, b, c] = corners.map(|corner| positions[corner as usize]);
        let (u, v) = (b - a, c - a);
        let mut sorted = *corners;
        sorted.sort_unstable();
        u.cross(v).length() > 1e-15 * u.length() * v.length() && seen.insert(sorted)
    });
    if skin.triangles.len() < before {
        notes.push(format!(
            "{} triangles without area or doubled are left out",
            before - skin.triangles.len()
        ));
    }
}

/// The triangles at each edge, by its vertices in order.
fn edges(triangles: &[[u32; 3]]) -> BTreeMap<(u32, u32), Vec<u32>> {
    let mut edges: BTreeMap<(u32, u32), Vec<u32>> = BTreeMap::new();
    for (triangle, &[a, b, c]) in (0..).zip(triangles) {
        for (from, to) in [(a, b), (b, c), (c, a)] {
            edges.entry((from.min(to), from.max(to))).or_default().push(triangle);
        }
    }
    edges
}

fn runs(triangle: [u32; 3], from: u32, to: u32) -> bool {
    (0..3).any(|k| triangle[k] == from && triangle[(k + 1) % 3] == to)
}

/// Turns triangles so that neighbours agree, and parts so that they hold a positive volume.
fn orient(skin: &mut RigSkin, notes: &mut Vec<String>) {
    let neighbours = neighbours(&skin.triangles);
    let mut done = vec![false; skin.triangles.len()];
    let (mut turned, mut flipped) = (0, 0);
    for first in 0..skin.triangles.len() {
        if done[first] {
            continue;
        }
        let (part, by) = agreeing_part(first, &mut skin.triangles, &neighbours, &mut done);
        turned += by;
        if volume(skin, &part) < 0.0 {
            part.iter().for_each(|&t| skin.triangles[t].swap(1, 2));
            flipped += 1;
        }
    }
    if turned > 0 {
        notes.push(format!("{turned} triangles are turned to agree with their neighbours"));
    }
    if flipped > 0 {
        notes.push(format!("{flipped} parts that face inward are turned"));
    }
}

/// Turns the triangles of a part to agree with its first one: the part, and how many are turned.
fn agreeing_part(
    first: usize,
    triangles: &mut [[u32; 3]],
    neighbours: &[Vec<(usize, u32, u32)>],
    done: &mut [bool],
) -> (Vec<usize>, usize) {
    done[first] = true;
    let (mut part, mut next, mut turned) = (vec![first], 0, 0);
    while let Some(&triangle) = part.get(next) {
        next += 1;
        for &(other, from, to) in &neighbours[triangle] {
            if !std::mem::replace(&mut done[other], true) {
                turned += usize::from(agree(triangles, [triangle, other], (from, to)));
                part.push(other);
            }
        }
    }
    (part, turned)
}

/// The neighbours of each triangle, with the edges to them; none across edges of more than two.
fn neighbours(triangles: &[[u32; 3]]) -> Vec<Vec<(usize, u32, u32)>> {
    let mut neighbours = vec![Vec::new(); triangles.len()];
    for ((from, to), at) in edges(triangles) {
        if let [one, other] = at[..] {
            neighbours[one as usize].push((other as usize, from, to));
            neighbours[other as usize].push((one as usize, from, to));
        }
    }
    neighbours
}

/// Turns the second of two triangles if both run along their edge the same way; whether it did.
fn agree(triangles: &mut [[u32; 3]], [one, other]: [usize; 2], (from, to): (u32, u32)) -> bool {
    let is_wrong = runs(triangles[one], from, to) == runs(triangles[other], from, to);
    if is_wrong {
        triangles[other].swap(1, 2);
    }
    is_wrong
}

/// Six times the volume of a part, up to what its holes leave open.
fn volume(skin: &RigSkin, part: &[usize]) -> f64 {
    let at = skin.positions[skin.triangles[part[0]][0] as usize];
    let corners = part.iter().map(|&t| skin.triangles[t].map(|corner| skin.positions[corner as usize] - at));
    corners.map(|[a, b, c]| a.dot(b.cross(c))).sum()
}

/// Fills holes that are small beside the skin.
fn fill_holes(skin: &mut RigSkin, notes: &mut Vec<String>) {
    let largest = LARGEST_HOLE * extent(skin.positions.iter());
    let mut filled = 0;
    for hole in holes(&skin.triangles) {
        let points: Vec<DVec3> = hole.iter().map(|&vertex| skin.positions[vertex as usize]).collect();
        if hole.len() < 3 || extent(points.iter()) > largest {
            continue;
        }
        filled += 1;
        if let [a, b, c] = hole[..] {
            skin.triangles.push([a, b, c]);
            continue;
        }
        let middle = skin.positions.len() as u32;
        skin.positions.push(points.iter().sum::<DVec3>() / points.len() as f64);
        skin.weights.push(mean_weights(hole.iter().map(|&vertex| &skin.weights[vertex as usize])));
        let pairs = hole.iter().zip(hole.iter().cycle().skip(1));
        skin.triangles.extend(pairs.map(|(&a, &b)| [a, b, middle]));
    }
    if filled > 0 {
        notes.push(format!("{filled} holes are filled"));
    }
}

/// The vertices around each hole, in the order in which triangles that fill it run.
fn holes(triangles: &[[u32; 3]]) -> Vec<Vec<u32>> {
    let open: BTreeMap<u32, u32> = edges(triangles)
        .into_iter()
        .filter(|(_, at)| at.len() == 1)
        .map(|((a, b), at)| if runs(triangles[at[0] as usize], a, b) { (b, a) } else { (a, b) })
        .collect();
    let mut left: BTreeSet<u32> = open.keys().copied().collect();
    let mut holes = Vec::new();
    while let Some(first) = left.pop_first() {
        let mut hole = vec![first];
        let mut at = open[&first];
        while at != first && left.remove(&at) {
            hole.push(at);
            at = open[&at];
        }
        holes.extend(Some(hole).filter(|_| at == first));
    }
    holes
}

fn mean_weights<'a>(all: impl Iterator<Item = &'a BoneWeights>) -> BoneWeights {
    let mut sums: BTreeMap<usize, f64> = BTreeMap::new();
    for &(bone, weight) in all.flatten() {
        *sums.entry(bone).or_default() += weight;
    }
    let total: f64 = sums.values().sum();
    sums.into_iter().map(|(bone, weight)| (bone, weight / total)).collect()
}
