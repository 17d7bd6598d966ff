//! Parts of a solid inside boxes: cutting them by planes, and finding their connected components.
//!
//! A part is bounded by pieces of the surface and by caps in the six sides of a box. A cap is stored as its outline, a
//! closed chain of segments. A plane splits pieces into pieces and outlines into outlines. A cut outline is closed
//! along the line of the cut, between the points where it leaves and returns. These lines and the cuts of the pieces
//! are the outline of the new cap, which both halves share. A cap is evaluated as a fan of signed triangles; where the
//! fan overlaps itself, the signs cancel. No test decides between inside and outside, so the result is exact up to
//! rounding wherever the planes are.
//!
//! Both sides of a cut compute the same points to the bit, so connected pieces are found by comparing points.

use glam::DVec3;
use sinew_topology::DisjointSets;

use crate::box_tree::Bounds;

/// The triangle of a segment that closes a cap along the edge of a box.
const NONE: u32 = u32::MAX;

/// A piece of a triangle of the surface.
#[derive(Clone, Copy)]
struct SurfacePiece {
    corners: [DVec3; 3],
    triangle: u32,
}

/// A directed segment of an outline, where a triangle was cut, or along the edge of a box.
#[derive(Clone, Copy)]
struct OutlineSegment {
    ends: [DVec3; 2],
    triangle: u32,
}

impl OutlineSegment {
    fn reversed(&self) -> Self {
        Self { ends: [self.ends[1], self.ends[0]], ..*self }
    }
}

/// The part of a solid in a box.
#[derive(Default)]
pub(crate) struct SolidPart {
    /// Pieces of the surface, oriented outward.
    pieces: Vec<SurfacePiece>,
    /// Outlines of the caps in the sides of the box, below and above for each axis, counter-clockwise seen from
    /// outside.
    outlines: [[Vec<OutlineSegment>; 2]; 3],
}

/// The cap of a part at a side of its box: enough to tell whether the part continues in the next box.
#[derive(Clone, Default)]
pub(crate) struct CapSide {
    /// Triangles of the surface cut there, in order.
    triangles: Vec<u32>,
    /// The part fills the whole side.
    full: bool,
}

impl CapSide {
    pub(crate) const FULL: &Self = &Self { triangles: Vec::new(), full: true };

    /// Whether this cap and the one on the other side of the plane belong together.
    pub(crate) fn meets(&self, other: &Self) -> bool {
        let common = |t: &u32| other.triangles.binary_search(t).is_ok();
        (self.full && other.full) || self.triangles.iter().any(common)
    }
}

impl SolidPart {
    /// The inside of a closed surface, in a box that encloses it.
    pub(crate) fn whole(triangles: impl Iterator<Item = [DVec3; 3]>) -> Self {
        let pieces =
            (0..).zip(triangles).map(|(triangle, corners)| SurfacePiece { corners, triangle }).collect();
        Self { pieces, ..Self::default() }
    }

    /// Whether no piece of the surface is here: the box is full or empty.
    pub(crate) fn is_plain(&self) -> bool {
        self.pieces.is_empty()
    }

    /// The closed surface of the part: pieces, and caps as fans.
    pub(crate) fn triangles(&self) -> impl Iterator<Item = [DVec3; 3]> {
        let fans = self.outlines.iter().flatten().flat_map(|outline| {
            let hub = outline.first().map_or(DVec3::ZERO, |segment| segment.ends[0]);
            let fan = outline.iter().map(move |segment| [hub, segment.ends[0], segment.ends[1]]);
            fan.filter(|&[hub, from, to]| hub != from && hub != to && from != to)
        });
        self.pieces.iter().map(|piece| piece.corners).chain(fans)
    }

    /// The triangles of the surface of which pieces are here, in order.
    pub(crate) fn sources(&self) -> Vec<u32> {
        ordered(self.pieces.iter().map(|piece| piece.triangle))
    }

    /// What it shows at its sides.
    pub(crate) fn sides(&self) -> [[CapSide; 2]; 3] {
        self.outlines.each_ref().map(|sides| {
            sides.each_ref().map(|outline| {
                let triangles =
                    ordered(outline.iter().map(|segment| segment.triangle).filter(|&t| t != NONE));
                CapSide { full: triangles.is_empty() && !outline.is_empty(), triangles }
            })
        })
    }

    /// Its volume, measured from a point nearby.
    pub(crate) fn volume(&self, from: DVec3) -> f64 {
        let signed = |t: [DVec3; 3]| {
            let [a, b, c] = t.map(|p| p - from);
            a.dot(b.cross(c)) / 6.0
        };
        self.triangles().map(signed).sum()
    }

    /// Its halves below and above `x[axis] = plane`.
    pub(crate) fn split(self, axis: usize, plane: f64) -> [Self; 2] {
        let (mut low, mut high) = (Self::default(), Self::default());
        // the outline of the cap of the lower half
        let mut outline = Vec::new();
        for SurfacePiece { corners, triangle } in self.pieces {
            let above = corners.map(|p| p[axis] >= plane);
            let of = |corners| SurfacePiece { corners, triangle };
            match above.iter().filter(|&&a| a).count() {
                0 => low.pieces.push(of(corners)),
                3 => high.pieces.push(of(corners)),
                n => {
                    // turned so that the corner alone on its side comes first
                    let lone = above.iter().position(|&a| a == (n == 1)).unwrap_or(0);
                    let [a, b, c] = std::array::from_fn(|k| corners[(lone + k) % 3]);
                    let (ab, ca) = (crossing(a, b, axis, plane), crossing(a, c, axis, plane));
                    let (one, two) = if n == 1 { (&mut high, &mut low) } else { (&mut low, &mut high) };
                    one.pieces.push(of([a, ab, ca]));
                    two.pieces.extend([of([ab, b, c]), of([ab, c, ca])]);
                    outline.push(OutlineSegment { ends: if n == 1 { [ab, ca] } else { [ca, ab] }, triangle });
                }
            }
        }
        for (across, sides) in self.outlines.into_iter().enumerate() {
            if across == axis {
                let [below, above] = sides;
                (low.outlines[axis][0], high.outlines[axis][1]) = (below, above);
                continue;
            }
            for (side, segments) in sides.into_iter().enumerate() {
                // the free coordinate of the line of the cut
                let along = 3 - axis - across;
                let [below, above, line] = split_outline(segments, axis, plane, along);
                outline.extend(line.iter().map(OutlineSegment::reversed));
                (low.outlines[across][side], high.outlines[across][side]) = (below, above);
            }
        }
        high.outlines[axis][0] = outline.iter().map(OutlineSegment::reversed).collect();
        low.outlines[axis][1] = outline;
        [low, high]
    }

    /// Its connected components, each with the holes in it.
    pub(crate) fn apart(self) -> Vec<Self> {
        let (names, n) = self.connected();
        if n <= 1 {
            return vec![self];
        }
        let mut parts: Vec<Self> = (0..n).map(|_| Self::default()).collect();
        let mut name = names.into_iter().map(|name| name as usize);
        for piece in self.pieces {
            parts[name.next().unwrap_or(0)].pieces.push(piece);
        }
        for (axis, sides) in self.outlines.into_iter().enumerate() {
            for (side, outline) in sides.into_iter().enumerate() {
                for segment in outline {
                    parts[name.next().unwrap_or(0)].outlines[axis][side].push(segment);
                }
            }
        }
        with_holes(parts)
    }

    /// The number of the connected set of every piece, then of every segment, and how many sets there are.
    fn connected(&self) -> (Vec<u32>, usize) {
        let key = |p: DVec3| (p + DVec3::ZERO).to_array().map(f64::to_bits);
        let mut ends: Vec<([u64; 3], u32)> = Vec::new();
        let mut n = 0;
        for piece in &self.pieces {
            ends.extend(piece.corners.map(|p| (key(p), n)));
            n += 1;
        }
        for segment in self.outlines.iter().flatten().flatten() {
            ends.extend(segment.ends.map(|p| (key(p), n)));
            n += 1;
        }
        ends.sort_unstable();
        let mut sets = DisjointSets::new(n as usize);
        ends.windows(2)
            .filter(|pair| pair[0].0 == pair[1].0)
            .for_each(|pair| _ = sets.join(pair[0].1, pair[1].1));
        sets.numbered()
    }

    fn bounds(&self) -> Bounds {
        Bounds::of(self.triangles().flatten())
    }

    fn absorb(&mut self, other: Self) {
        self.pieces.extend(other.pieces);
        for (mine, theirs) in self.outlines.iter_mut().flatten().zip(other.outlines.into_iter().flatten()) {
            mine.extend(theirs);
        }
    }
}

/// Joins holes, whose volume is negative, to the part around them: the smallest box that holds theirs.
fn with_holes(parts: Vec<SolidPart>) -> Vec<SolidPart> {
    let at = |part: &SolidPart| part.triangles().next().map_or(DVec3::ZERO, |t| t[0]);
    let (mut solid, holes): (Vec<SolidPart>, Vec<SolidPart>) =
        parts.into_iter().partition(|part| part.volume(at(part)) > 0.0);
    for hole in holes {
        let bounds = hole.bounds();
        let holds = |outer: &Bounds| outer.lo.cmple(bounds.lo).all() && outer.hi.cmpge(bounds.hi).all();
        let size = |part: &SolidPart| part.bounds().size().element_product();
        let around = (0..solid.len()).filter(|&k| holds(&solid[k].bounds()));
        let best = around.min_by(|&a, &b| size(&solid[a]).total_cmp(&size(&solid[b]))).unwrap_or(0);
        match solid.get_mut(best) {
            Some(part) => part.absorb(hole),
            None => solid.push(hole),
        }
    }
    solid
}

fn ordered(numbers: impl Iterator<Item = u32>) -> Vec<u32> {
    let mut list: Vec<u32> = numbers.collect();
    list.sort_unstable();
    list.dedup();
    list
}

/// Cuts a closed outline at `x[axis] = plane`: its closed halves, and the segments that close the lower one, along the
/// line of the cut, whose free coordinate is `along`.
fn split_outline(
    outline: Vec<OutlineSegment>,
    axis: usize,
    plane: f64,
    along: usize,
) -> [Vec<OutlineSegment>; 3] {
    let (mut low, mut high) = (Vec::new(), Vec::new());
    // −1 where the outline leaves the lower half, 1 where it comes back
    let mut crossings: Vec<(DVec3, i32)> = Vec::new();
    for segment in outline {
        let [from, to] = segment.ends;
        match (from[axis] >= plane, to[axis] >= plane) {
            (false, false) => low.push(segment),
            (true, true) => high.push(segment),
            (from_high, _) => {
                let x = crossing(from, to, axis, plane);
                let (first, second) = if from_high { (&mut high, &mut low) } else { (&mut low, &mut high) };
                first.push(OutlineSegment { ends: [from, x], ..segment });
                second.push(OutlineSegment { ends: [x, to], ..segment });
                crossings.push((x, if from_high { 1 } else { -1 }));
            }
        }
    }
    crossings.sort_by(|a, b| a.0[along].total_cmp(&b.0[along]));
    let mut line = Vec::new();
    let mut sum = 0;
    for pair in crossings.windows(2) {
        let (here, next) = (pair[0].0, pair[1].0);
        sum += pair[0].1;
        if here != next {
            let ends = if sum < 0 { [here, next] } else { [next, here] };
            line.extend((0..sum.abs()).map(|_| OutlineSegment { ends, triangle: NONE }));
        }
    }
    low.extend(&line);
    high.extend(line.iter().map(OutlineSegment::reversed));
    [low, high, line]
}

/// Where an edge crosses a plane: the same bits from whichever end it is seen.
fn crossing(p: DVec3, q: DVec3, axis: usize, plane: f64) -> DVec3 {
    let (low, high) = if p[axis] < q[axis] { (p, q) } else { (q, p) };
    let mut x = low + (high - low) * ((plane - low[axis]) / (high[axis] - low[axis]));
    x[axis] = plane;
    x
}
