//! Random forests, rotations and symmetric positive definite matrices for tests. The same for the same seed.

use crate::{dense::Dense, rng::Rng};
use glam::DMat3;

/// Parameters of a random forest.
#[derive(Clone, Copy, Debug)]
pub struct ForestShape {
    /// Number of bodies.
    pub n_bodies: usize,
    /// Chance that a new body starts its own tree (the first one always does).
    pub root_chance: f64,
    /// Chance that a tree hangs from the world by a joint at its first body.
    pub world_chance: f64,
    /// Chance that a body hangs from the body just before it rather than from any earlier one of its tree:
    /// 1 gives chains, 0 gives bushes.
    pub chain_chance: f64,
}

/// One joint of a random forest: body `child` hangs from body `parent`, or from the world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    /// Index of the body that hangs.
    pub child: usize,
    /// Index of the body it hangs from, always smaller than `child`; `None` for the world.
    pub parent: Option<usize>,
}

/// The joints of a random forest, at most one per body as its child, in order of the child.
pub fn random_forest(rng: &mut Rng, shape: ForestShape) -> Vec<Link> {
    let mut links = Vec::new();
    let mut first_of_tree = 0;
    for child in 0..shape.n_bodies {
        if child == 0 || rng.chance(shape.root_chance) {
            first_of_tree = child;
            if rng.chance(shape.world_chance) {
                links.push(Link { child, parent: None });
            }
        } else {
            let any = first_of_tree + rng.below(child - first_of_tree);
            let parent = if rng.chance(shape.chain_chance) { child - 1 } else { any };
            links.push(Link { child, parent: Some(parent) });
        }
    }
    links
}

/// A rotation matrix drawn uniformly.
pub fn random_rotation_matrix(rng: &mut Rng) -> DMat3 {
    DMat3::from_quat(rng.rotation())
}

/// A symmetric positive definite matrix `scale · (B Bᵀ + 0.1·1)` with `B` uniform in [−1, 1].
pub fn random_spd(rng: &mut Rng, n: usize, scale: f64) -> Dense {
    let b = Dense::from_fn(n, n, |_, _| rng.uniform(-1.0, 1.0));
    let square = b.mul(&b.transpose()).plus(&Dense::identity(n), 0.1);
    Dense::from_fn(n, n, |i, j| scale * square[(i, j)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forests_are_forests() {
        let mut rng = Rng::new(5);
        for n_bodies in 1..40 {
            let shape = ForestShape { n_bodies, root_chance: 0.2, world_chance: 0.5, chain_chance: 0.5 };
            let links = random_forest(&mut rng, shape);
            assert!(links.windows(2).all(|w| w[0].child < w[1].child));
            assert!(links.iter().all(|link| link.parent.is_none_or(|p| p < link.child)));
        }
        let chain = ForestShape { n_bodies: 9, root_chance: 0.0, world_chance: 1.0, chain_chance: 1.0 };
        let links = random_forest(&mut rng, chain);
        assert_eq!(links.len(), 9);
        assert!(links.iter().skip(1).all(|link| link.parent == Some(link.child - 1)));
    }

    #[test]
    fn spd_is_symmetric() {
        let mut rng = Rng::new(6);
        let a = random_spd(&mut rng, 6, 1e3);
        assert_eq!(a, a.transpose());
        assert!((random_rotation_matrix(&mut rng).determinant() - 1.0).abs() < 1e-14);
    }
}
