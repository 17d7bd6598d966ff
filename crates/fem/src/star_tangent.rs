//! Stiffness of stars, the part of it that mean strain has, and the forces at the same point.
//!
//! For the equations see [`crate::placed_tangent`]. N, N/m; any frame. One SVD per star and about 80 multiplications per block. A star that is not finite is
//! left out and reported.

use crate::ahead::visit_behind;
use crate::block_forces::BlockReport;
use crate::forces::FemScratch;
use crate::materials::{law::MaterialLaw, with_law};
use crate::placed_tangent::PlacedTangent;
use crate::star_batch::{STARS, StarBatch, StarTangent};
use crate::svd::signed_svd;
use crate::{fem_shape::FemShape, model::FemModel, projection::Projection};

/// Calls `visit` with the index, stiffness and forces of each star. Together with [`crate::for_each_tangent`] and
/// [`crate::for_each_fibre`], and [`crate::for_each_flowing`] if anything has flowed, this is the whole stiffness. Returns the first tetrahedron of a star that is not finite, which is left out.
///
/// # Panics
/// If positions do not have one entry per node, or what has flowed one per cell.
pub fn for_each_star<'a>(
    model: &FemModel,
    shape: impl Into<FemShape<'a>>,
    projection: Projection,
    scratch: &mut FemScratch,
    mut visit: impl FnMut(usize, &StarTangent<'_>) + Send,
) -> Option<usize> {
    let shape = shape.into();
    shape.check(model);
    let mut report = BlockReport::default();
    let Some(stars) = &model.stars else { return None };
    let fill = |first: usize, batch: &mut StarBatch| {
        batch.clear();
        for index in first..stars.len().min(first + STARS) {
            let star = stars.star(index);
            if shape.leaves_out(model, star.region) {
                continue;
            }
            let svd = signed_svd(&star.deformation(shape.positions));
            let tangent = with_law!(model.star_law(star.region), |law| PlacedTangent::new(
                &svd,
                (law.stress(svd.s), law.tangent(svd.s)),
                projection
            ));
            batch.push(index, &star, |forces, stiffest, stiffness| {
                tangent.fill_stiffness(&star, stiffness);
                tangent.fill_nodes(&star, forces, stiffest)
            });
        }
    };
    visit_behind((0..stars.len()).step_by(STARS), scratch.stars.each_mut(), &fill, &mut |batch| {
        batch.for_each(stars, &mut visit);
        report = report.and(batch.report);
    });
    report.non_finite.map(|tet| tet as usize)
}
