//! The numbers of which the matrix of a graph of joints is made (`graph`): `H = J W Jᵀ + D + ε P`, scaled to ones on its diagonal.
//!
//! A point block has one scale, so that its products need arms instead of rows: with `m` a column of `W Jᵀ` at the same body,
//! `(J m)_i = (a × e_i)·m_ω + m_v·e_i = (m_ω × a + m_v)_i`, 12 flops for three entries.
//!
//! World axes at centres of mass. Cost: about 150 flops per row and 40 per pair of point blocks that meet.

use super::rows::{BlockRows, LoopRows};
use super::table::LoopBlock;
use glam::{DMat3, DVec3};
use sinew_math::{Force, Motion, Sym3, Sym6};
use std::ops::Range;

/// Two blocks that meet at a body.
#[derive(Clone, Copy, Debug)]
pub(super) struct Meeting {
    pub(super) blocks: [u32; 2],
    pub(super) sides: [u8; 2],
    /// Column of the first block and row of the second one in their front.
    pub(super) places: [u32; 2],
}

/// What `H` is made of.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Ingredients {
    /// Of each block.
    blocks: Vec<StoredBlock>,
    /// `J` of general blocks on both sides, each row divided by the root of its diagonal entry of `H`.
    rows: Vec<[Force; 2]>,
    /// Arms of point blocks and `±1` on both sides, times their scale.
    points: Vec<[(DVec3, f64); 2]>,
    /// Scaled `W Jᵀ` of all rows.
    moved: Vec<[Motion; 2]>,
    /// One over the root of the diagonal entry, of a point block the root of the mean of its three; 0 of rows that are switched off.
    pub(super) scales: Vec<f64>,
    /// What the diagonal has beyond the products: `D + ε P`, scaled.
    pub(super) on_diagonal: Vec<f64>,
}

/// Where a block is.
#[derive(Clone, Copy, Debug, PartialEq)]
enum StoredBlock {
    /// Among the points.
    Point(u32),
    /// First of its general rows.
    Rows(u32),
}

impl Ingredients {
    /// Takes rows, masses, and `ε P` of each row by its number and its entry of `J W Jᵀ`. Blocks that are switched off touch nothing.
    pub(super) fn fill(
        &mut self,
        all: &LoopRows,
        inverse_masses: &[Sym6],
        proximal: impl Fn(usize, f64) -> f64,
    ) {
        self.blocks.clear();
        self.rows.clear();
        self.points.clear();
        self.moved.clear();
        self.scales.clear();
        self.on_diagonal.clear();
        for block in all.blocks() {
            let masses = block.ports.map(|port| inverse_masses.get(port as usize));
            let added = |row: usize, free: f64| all.compliance()[row] + proximal(row, free);
            match all.rows_of(block) {
                BlockRows::Point(arms) if block.weight > 0.0 => self.push_point(block, arms, masses, added),
                BlockRows::General(rows) if block.weight > 0.0 => self.push_rows(block, rows, masses, added),
                _ => {
                    let nothing = &[[Force::ZERO; 2]; 6][..block.rows().len()];
                    self.push_rows(block, nothing, masses, |_, _| 0.0);
                }
            }
        }
    }

    fn push_point(
        &mut self,
        block: &LoopBlock,
        arms: &[DVec3; 2],
        masses: [Option<&Sym6>; 2],
        added: impl Fn(usize, f64) -> f64,
    ) {
        let [one, two] = [move_point(masses[0], arms[0]), move_point(masses[1], arms[1])];
        let entry = |moved: &Motion, arm: DVec3| moved.angular.cross(arm) + moved.linear;
        let free: [f64; 3] = std::array::from_fn(|i| entry(&one[i], arms[0])[i] + entry(&two[i], arms[1])[i]);
        let first = block.rows().start;
        let added: [f64; 3] = std::array::from_fn(|i| added(first + i, free[i]));
        let mean = (free[0] + free[1] + free[2] + added[0] + added[1] + added[2]) / 3.0;
        let scale = if mean > 0.0 { 1.0 / mean.sqrt() } else { 0.0 };
        self.moved.extend_from_slice(&[0, 1, 2].map(|i| [one[i] * scale, two[i] * -scale]));
        self.scales.extend_from_slice(&[scale; 3]);
        let on_diagonal = added.map(|added| if scale > 0.0 { added * scale * scale } else { 1.0 });
        self.on_diagonal.extend_from_slice(&on_diagonal);
        self.blocks.push(StoredBlock::Point(self.points.len() as u32));
        self.points.push([(arms[0] * scale, scale), (arms[1] * -scale, -scale)]);
    }

    fn push_rows(
        &mut self,
        block: &LoopBlock,
        rows: &[[Force; 2]],
        masses: [Option<&Sym6>; 2],
        added: impl Fn(usize, f64) -> f64,
    ) {
        self.blocks.push(StoredBlock::Rows(self.rows.len() as u32));
        for (row, &on) in block.rows().zip(rows) {
            let by = [0, 1].map(|side| masses[side].map_or(Motion::ZERO, |mass| apply(mass, on[side])));
            let free = on[0].dot(by[0]) + on[1].dot(by[1]);
            let added = added(row, free);
            let diagonal = free + added;
            let scale = if diagonal > 0.0 { 1.0 / diagonal.sqrt() } else { 0.0 };
            self.rows.push(on.map(|on| on * scale));
            self.moved.push(by.map(|by| by * scale));
            self.scales.push(scale);
            self.on_diagonal.push(if scale > 0.0 { added * scale * scale } else { 1.0 });
        }
    }

    /// Adds the products of two blocks to the columns of the first one. Only the lower half counts.
    #[inline]
    pub(super) fn add(
        &self,
        meeting: &Meeting,
        [first, second]: [Range<usize>; 2],
        matrix: &mut [f64],
        n: usize,
    ) {
        let (sides, places) = (meeting.sides.map(usize::from), meeting.places.map(|place| place as usize));
        let moved = &self.moved[second];
        match self.blocks[meeting.blocks[0] as usize] {
            StoredBlock::Point(point) => {
                let (arm, sign) = self.points[point as usize][sides[0]];
                let columns = &mut matrix[places[0] * n..][..3 * n];
                let (x, rest) = columns.split_at_mut(n);
                let (y, z) = rest.split_at_mut(n);
                let [x, y, z] = [x, y, z].map(|column| &mut column[places[1]..][..moved.len()]);
                let entries = |moved: &[Motion; 2]| {
                    let Motion { angular, linear } = moved[sides[1]];
                    angular.cross(arm) + linear * sign
                };
                if let [a, b, c] = moved {
                    let (a, b, c) = (entries(a), entries(b), entries(c));
                    add_three(x, [a.x, b.x, c.x]);
                    add_three(y, [a.y, b.y, c.y]);
                    add_three(z, [a.z, b.z, c.z]);
                    return;
                }
                for (((x, y), z), moved) in x.iter_mut().zip(y).zip(z).zip(moved) {
                    let entries = entries(moved);
                    *x += entries.x;
                    *y += entries.y;
                    *z += entries.z;
                }
            }
            StoredBlock::Rows(from) => {
                for (column, on) in (places[0]..).zip(&self.rows[from as usize..][..first.len()]) {
                    let column = &mut matrix[column * n + places[1]..][..moved.len()];
                    for (entry, moved) in column.iter_mut().zip(moved) {
                        *entry += on[sides[0]].dot(moved[sides[1]]);
                    }
                }
            }
        }
    }
}

/// Adds to the first three entries of a column.
#[inline]
fn add_three(column: &mut [f64], values: [f64; 3]) {
    let entries: &mut [f64; 3] = column.first_chunk_mut().expect("three rows");
    (0..3).for_each(|i| entries[i] += values[i]);
}

/// What unit impulses along the axes at an arm do to a body.
#[inline(always)]
fn move_point(inverse_mass: Option<&Sym6>, arm: DVec3) -> [Motion; 3] {
    let Some(mass) = inverse_mass else { return [Motion::ZERO; 3] };
    if mass.coupling != DMat3::ZERO {
        return move_coupled(mass, arm);
    }
    let [x, y, z] = columns(&mass.angular);
    let turns = [y * arm.z - z * arm.y, z * arm.x - x * arm.z, x * arm.y - y * arm.x];
    let [x, y, z] = columns(&mass.linear);
    [Motion::new(turns[0], x), Motion::new(turns[1], y), Motion::new(turns[2], z)]
}

/// The same for a mass that couples rotation and translation.
#[inline(never)]
fn move_coupled(mass: &Sym6, arm: DVec3) -> [Motion; 3] {
    DVec3::AXES.map(|axis| apply(mass, Force { angular: arm.cross(axis), linear: axis }))
}

/// The columns of a matrix.
#[inline]
fn columns(m: &Sym3) -> [DVec3; 3] {
    [DVec3::new(m.xx, m.xy, m.xz), DVec3::new(m.xy, m.yy, m.yz), DVec3::new(m.xz, m.yz, m.zz)]
}

/// The twist that an impulse gives a body.
#[inline]
pub(super) fn apply(inverse_mass: &Sym6, impulse: Force) -> Motion {
    let Force { angular, linear } =
        inverse_mass.mul(Motion { angular: impulse.angular, linear: impulse.linear });
    Motion { angular, linear }
}
