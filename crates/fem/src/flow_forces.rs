//! Forces, energy and stiffness of cells that flow ([`crate::flow_law`]), and their flow at the end of a step.
//!
//! A cell has the energy `V Ψ(F F_p⁻¹) + ratio V Ψ(F F_v⁻¹)`. Both parts are stars with other gradients, `Ḡ_b` times `F_p⁻ᵀ` or `F_v⁻ᵀ`, so they have the forces and the
//! stiffness of [`crate::placed_tangent`]. At the end of a step of length `h` what flows in it is taken into account: the stress of the plastic part is that after
//! the return to the yield surface, with the derivative of both, and the viscous part is `a = 1/(1 + h/τ)` of what it would be, which is the implicit Euler step of its flow.
//! N, J; any frame. Two SVDs per cell; in a fixed order, on one thread; nothing allocates. A cell that is not finite is left out and reported.

use crate::block_forces::{BlockReport, Diagonalize, FemReport};
use crate::fem_shape::{FemShape, flow_cells};
use crate::fibres::FibrePlace;
use crate::flow_law::{CellFlow, Flow, YieldSurface};
use crate::lanes::Vec3;
use crate::mat3::Mat3;
use crate::materials::{Law, law::MaterialLaw, principal_tangent::PrincipalTangent, with_law};
use crate::placed_tangent::PlacedTangent;
use crate::star_batch::StarTangent;
use crate::star_forces::scaled_stress;
use crate::stars::{MAX_STAR_NODES, Star};
use crate::svd::{Svd, signed_svd};
use crate::{model::FemModel, projection::Projection};
use glam::{DMat3, DVec3};

/// Most blocks of a cell.
const MAX_BLOCKS: usize = MAX_STAR_NODES * (MAX_STAR_NODES + 1) / 2;

/// One part of a cell, with its own shape at rest.
struct FlowPart<'a> {
    law: &'a Law,
    gradients: [DVec3; MAX_STAR_NODES],
    /// Relative to the cell.
    share: f64,
    surface: Option<YieldSurface>,
}

/// Both parts of a cell, at the end of a step of length `dt` (s), or as it is if that is zero; after plastic flow, or as if there were none.
fn parts<'a>(
    cell: &Star<'_>,
    law: &'a Law,
    (flow, mu): (&Flow, f64),
    state: &CellFlow,
    (dt, yields): (f64, bool),
) -> [Option<FlowPart<'a>>; 2] {
    let part = |shape: DMat3, share: f64, surface| {
        let (mut gradients, back) = ([DVec3::ZERO; MAX_STAR_NODES], shape.transpose());
        gradients.iter_mut().zip(cell.gradients).for_each(|(turned, gradient)| *turned = back * *gradient);
        FlowPart { law, gradients, share, surface }
    };
    let yields = flow.plasticity.filter(|_| yields);
    let surface = yields.map(|plasticity| YieldSurface::new(&plasticity, state, mu));
    let viscous = flow.viscosity.map(|viscosity| viscosity.ratio * viscosity.share_left(dt));
    [Some(part(state.plastic, 1.0, surface)), viscous.map(|share| part(state.viscous, share, None))]
}

impl FlowPart<'_> {
    /// The part as a star of its own.
    fn star<'b>(&'b self, cell: &Star<'b>) -> Star<'b> {
        let n = cell.nodes.len();
        Star { gradients: &self.gradients[..n], filled_volume: cell.filled_volume * self.share, ..*cell }
    }

    /// `−V P` at a deformation.
    fn scaled_stress(&self, f: &Mat3<f64>, volume: f64) -> DMat3 {
        with_law!(self.law, |law| match self.surface.and_then(|surface| surface.flow(f, law)) {
            Some((svd, returned)) => {
                let (u, v): (DMat3, DMat3) = (svd.u.into(), svd.v.into());
                let p = DVec3::from(returned.stress(law, svd.s)) * -volume;
                u * DMat3::from_diagonal(p) * v.transpose()
            }
            None => scaled_stress(law, Diagonalize::Selective, f, volume).0,
        })
    }

    /// Principal stress and tangent.
    fn tangent(&self, svd: &Svd<f64>) -> (Vec3<f64>, PrincipalTangent<f64>) {
        with_law!(self.law, |law| match self.surface.and_then(|surface| surface.flow_of(svd, law)) {
            Some(returned) => returned.tangent(law, svd.s),
            None => (law.stress(svd.s), law.tangent(svd.s)),
        })
    }
}

/// Calls `visit` with each cell and its two parts that are there.
fn for_each_cell(
    model: &FemModel,
    shape: FemShape<'_>,
    mut visit: impl FnMut(FibrePlace, &Star<'_>, &[Option<FlowPart<'_>>; 2]),
) {
    for ((place, cell, law), state) in flow_cells(model).zip(shape.flow) {
        let region = cell.region as usize;
        let flow = (model.flow(region), model.laws[region].material.lame().mu_pa);
        visit(place, &cell, &parts(&cell, law, flow, state, (shape.dt_s, shape.yields)));
    }
}

/// Stiffness, forces and the stiffest stretch of one cell.
struct CellBuffers {
    forces: [DVec3; MAX_STAR_NODES],
    stiffest: [DVec3; MAX_STAR_NODES],
    excess: f64,
    blocks: [DMat3; MAX_BLOCKS],
}

impl CellBuffers {
    const fn new() -> Self {
        let zeros = [DVec3::ZERO; MAX_STAR_NODES];
        Self { forces: zeros, stiffest: zeros, excess: 0.0, blocks: [DMat3::ZERO; MAX_BLOCKS] }
    }

    fn fill(&mut self, star: &Star<'_>, tangent: &PlacedTangent) {
        let n = star.nodes.len();
        self.excess = tangent.fill_nodes(star, &mut self.forces[..n], &mut self.stiffest[..n]);
        tangent.fill_stiffness(star, &mut self.blocks[..n * (n + 1) / 2]);
    }

    /// Adds another part; the stiffest stretch is that of the stiffer one.
    fn add(&mut self, other: &Self) {
        self.forces.iter_mut().zip(&other.forces).for_each(|(sum, force)| *sum += *force);
        self.blocks.iter_mut().zip(&other.blocks).for_each(|(sum, block)| *sum += *block);
        if other.excess > self.excess {
            (self.excess, self.stiffest) = (other.excess, other.stiffest);
        }
    }
}

/// Calls `visit` with the place, stiffness and forces of each cell that flows and is `chosen` by its number: tetrahedra, then stars. Nothing, if the shape does not say what has flowed; the others leave
/// these cells out only if it does.
///
/// # Panics
/// If positions do not have one entry per node, or what has flowed one per cell.
pub fn for_each_flowing<'a>(
    model: &FemModel,
    shape: impl Into<FemShape<'a>>,
    projection: Projection,
    chosen: impl Fn(usize) -> bool,
    mut visit: impl FnMut(FibrePlace, &StarTangent<'_>),
) -> FemReport {
    let shape = shape.into();
    shape.check(model);
    let mut report = BlockReport::default();
    let [mut sum, mut other] = [const { CellBuffers::new() }; 2];
    let mut index = 0;
    for_each_cell(model, shape, |place, cell, parts| {
        index += 1;
        if !chosen(index - 1) {
            return;
        }
        let n = cell.nodes.len();
        let mut is_inverted = false;
        for (k, part) in parts.iter().flatten().enumerate() {
            let star = part.star(cell);
            let svd: Svd<f64> = signed_svd(&star.deformation(shape.positions));
            is_inverted |= svd.s[2] < 0.0;
            let tangent = PlacedTangent::new(&svd, part.tangent(&svd), projection);
            if k == 0 {
                sum.fill(&star, &tangent);
            } else {
                other.fill(&star, &tangent);
                sum.add(&other);
            }
        }
        if let FibrePlace::Tet(_) = place {
            report.n_diagonalized += 1;
            report.n_inverted += usize::from(is_inverted);
        }
        let CellBuffers { forces, stiffest, excess, blocks } = &sum;
        let (forces, stiffness) = (&forces[..n], &blocks[..n * (n + 1) / 2]);
        if forces.iter().all(|f| f.is_finite()) && stiffness.iter().all(|k| k.is_finite()) {
            let (stiffest, excess) = (&stiffest[..n], *excess);
            visit(place, &StarTangent { nodes: cell.nodes, stiffness, forces, stiffest, excess });
        } else {
            report.note_non_finite(cell.named);
        }
    });
    report.into()
}

/// Adds the forces of all cells that flow, N.
pub(crate) fn add_forces(model: &FemModel, shape: FemShape<'_>, forces: &mut [DVec3]) -> BlockReport {
    let mut report = BlockReport::default();
    for_each_cell(model, shape, |place, cell, parts| {
        let (mut sum, mut is_inverted) = ([DVec3::ZERO; MAX_STAR_NODES], false);
        for part in parts.iter().flatten() {
            let star = part.star(cell);
            let f = star.deformation(shape.positions);
            is_inverted |= f.determinant() < 0.0;
            let stress = part.scaled_stress(&f, star.filled_volume);
            sum.iter_mut().zip(star.gradients).for_each(|(force, gradient)| *force += stress * *gradient);
        }
        if let FibrePlace::Tet(_) = place {
            report.n_diagonalized += 1;
            report.n_inverted += usize::from(is_inverted);
        }
        if sum.iter().all(|force| force.is_finite()) {
            cell.nodes.iter().zip(sum).for_each(|(&node, force)| forces[node as usize] += force);
        } else {
            report.note_non_finite(cell.named);
        }
    });
    report
}

/// Energy of all cells that flow, J.
pub(crate) fn energy(model: &FemModel, shape: FemShape<'_>) -> f64 {
    let mut sum = 0.0;
    for_each_cell(model, shape, |_, cell, parts| {
        for part in parts.iter().flatten() {
            let star = part.star(cell);
            let s = signed_svd(&star.deformation(shape.positions)).s;
            sum += star.filled_volume * with_law!(part.law, |law| law.energy(s));
        }
    });
    sum
}

/// Lets all cells flow for `dt_s` seconds at the end of which nodes are at `positions` (m). A cell that is not finite stays.
///
/// # Panics
/// If `positions` do not have one entry per node, or `flow` one per cell that flows.
pub fn advance_flow(model: &FemModel, positions: &[DVec3], dt_s: f64, flow: &mut [CellFlow]) {
    assert_eq!(positions.len(), model.n_nodes(), "there must be one position per node");
    assert_eq!(flow.len(), model.n_flowing(), "there must be one entry per cell that flows");
    for ((_, cell, law), state) in flow_cells(model).zip(flow) {
        let region = cell.region as usize;
        let how = (model.flow(region), model.laws[region].material.lame().mu_pa);
        let f = DMat3::from(cell.deformation(positions));
        with_law!(law, |law| state.advance(&f, law, how, dt_s));
    }
}

/// Volume of a cell, relative to that at rest, below and above which it is crushed or blown up.
const SANE_VOLUMES: std::ops::Range<f64> = 0.1..10.0;

/// Writes whether each cell that flows yields, with the nodes where a step ends. Returns how many are crushed or blown up: below a tenth or above ten times
/// their volume.
///
/// # Panics
/// If positions do not have one entry per node.
pub fn fill_yielding(model: &FemModel, shape: FemShape<'_>, out: &mut Vec<bool>) -> usize {
    shape.check(model);
    out.clear();
    let mut n_crushed = 0;
    for_each_cell(model, shape, |_, cell, [part, _]| {
        let Some(part) = part else { return };
        let f = part.star(cell).deformation(shape.positions);
        n_crushed += usize::from(!SANE_VOLUMES.contains(&f.determinant()));
        let yields = part.surface.and_then(|surface| with_law!(part.law, |law| surface.flow(&f, law)));
        out.push(yields.is_some());
    });
    n_crushed
}

/// The largest factor by which what has flowed shortens a cell; the longest stable step ([`crate::stable_dt`]) is shorter by it.
pub fn shrinkage(flow: &[CellFlow]) -> f64 {
    flow.iter().map(CellFlow::shrinkage).fold(1.0, f64::max)
}
