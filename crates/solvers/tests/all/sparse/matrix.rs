//! Patterns and products against matrices written out.

use super::lattice::{Lattice, SOFT};
use super::{dense, random_element, random_elements, random_vector};
use glam::{DMat3, DVec3};
use sinew_math::Sym3;
use sinew_solvers::{BlockMatrix, ELEMENT_PAIRS, PatternError, SparsePattern, UpperBlocks};
use sinew_testkit::{Dense, Rng, scaled_difference};

#[test]
fn elements_add_up_to_the_dense_matrix() {
    let mut rng = Rng::new(1);
    for n_nodes in [4, 5, 9, 30] {
        let elements = random_elements(&mut rng, n_nodes, n_nodes);
        let blocks: Vec<_> = elements.iter().map(|_| random_element(&mut rng)).collect();
        let masses: Vec<f64> = (0..n_nodes).map(|_| rng.uniform(0.5, 2.0)).collect();
        let extra = Sym3 { xx: 1.0, yy: 2.0, zz: 3.0, xy: 0.1, xz: 0.2, yz: 0.3 };

        let mut written = Dense::zeros(3 * n_nodes, 3 * n_nodes);
        let mut add = |i: u32, j: u32, block: DMat3| {
            let block = Dense::from_fn(3, 3, |r, c| block.col(c)[r]);
            written.add_block(3 * i as usize, 3 * j as usize, &block);
        };
        for (nodes, blocks) in elements.iter().zip(&blocks) {
            for ((a, b), &block) in ELEMENT_PAIRS.into_iter().zip(blocks) {
                add(nodes[a], nodes[b], block);
                if a != b {
                    add(nodes[b], nodes[a], block.transpose());
                }
            }
        }
        for (i, &mass) in (0u32..).zip(&masses) {
            add(i, i, DMat3::from_diagonal(DVec3::splat(mass)));
        }
        add(2, 2, extra.to_mat3());

        let mut matrix = BlockMatrix::new(SparsePattern::new(n_nodes, &elements).unwrap());
        // Twice: the second time must not remember the first.
        for _ in 0..2 {
            matrix.assemble(|fill| {
                blocks.iter().enumerate().for_each(|(element, blocks)| fill.add_element(element, blocks));
                masses.iter().enumerate().for_each(|(node, &mass)| fill.add_mass(node, mass));
                fill.add_diagonal(2, extra);
            });
        }
        assert!(scaled_difference(dense(&matrix).entries(), written.entries()) < 1e-14);
        assert_eq!(matrix.diagonal(2).to_mat3(), matrix.block(2, 2));

        let x = random_vector(&mut rng, &vec![false; n_nodes]);
        let mut y = vec![f64::NAN; x.len()];
        matrix.times(&x, &mut y);
        assert!(scaled_difference(&y[..], &written.mul_vec(&x)[..]) < 1e-14, "{n_nodes} nodes");

        let mut upper = UpperBlocks::new(matrix.pattern());
        upper.assemble(matrix.pattern(), |fill| {
            blocks.iter().enumerate().for_each(|(element, blocks)| fill.add_element(element, blocks));
            masses.iter().enumerate().for_each(|(node, &mass)| fill.add_mass(node, mass));
            fill.add_diagonal(2, extra);
        });
        let nodes: Vec<DVec3> = x.as_chunks().0.iter().copied().map(DVec3::from_array).collect();
        let quadratic: f64 = x.iter().zip(&y).map(|(x, y)| x * y).sum();
        let terms: f64 = x.iter().zip(&y).map(|(x, y)| (x * y).abs()).sum();
        assert!((upper.quadratic(matrix.pattern(), &nodes) - quadratic).abs() < 1e-13 * terms);
    }
}

/// Rows in several parts, with nodes in an order without sense, elements and patches.
#[test]
fn products_of_many_rows_are_those_of_the_blocks() {
    let mut rng = Rng::new(3);
    let n_nodes = 5000;
    let elements = random_elements(&mut rng, 9000, n_nodes);
    let patches: Vec<Vec<u32>> = (0..1500)
        .map(|_| {
            let mut nodes: Vec<u32> = (0..8).map(|_| rng.below(n_nodes) as u32).collect();
            nodes.sort_unstable();
            nodes.dedup();
            nodes
        })
        .collect();
    let patches: Vec<&[u32]> = patches.iter().map(|nodes| &nodes[..]).collect();
    let mut matrix = BlockMatrix::new(SparsePattern::with_patches(n_nodes, &elements, &patches).unwrap());
    matrix.assemble(|fill| {
        (0..elements.len()).for_each(|element| fill.add_element(element, &random_element(&mut rng)));
        for (patch, nodes) in patches.iter().enumerate() {
            // Blocks of a node with itself are symmetric.
            let rows: Vec<DVec3> = nodes.iter().map(|_| rng.vec3(-1.0, 1.0)).collect();
            let pairs = rows.iter().enumerate().flat_map(|(k, a)| rows[k..].iter().map(move |b| (a, b)));
            fill.add_patch(patch, pairs.map(|(a, b)| DMat3::from_cols(*a * b.x, *a * b.y, *a * b.z)));
        }
    });
    let x = random_vector(&mut rng, &vec![false; n_nodes]);
    let vector = |node: usize| DVec3::from_slice(&x[3 * node..]);
    let mut expected = vec![DVec3::ZERO; n_nodes];
    for i in 0..n_nodes {
        for (j, block) in matrix.upper_row(i) {
            expected[i] += *block * vector(j);
            if j != i {
                expected[j] += block.transpose() * vector(i);
            }
        }
    }
    let expected: Vec<f64> = expected.iter().flat_map(|y| y.to_array()).collect();
    let mut y = vec![f64::NAN; x.len()];
    matrix.times(&x, &mut y);
    assert!(scaled_difference(&y[..], &expected[..]) < 1e-13);
}

#[test]
fn every_pair_of_nodes_has_one_block() {
    let lattice = Lattice::new([3, 2, 1], 1.0);
    let pattern = lattice.pattern();
    let n = lattice.rest.len();
    let mut joined = vec![false; n * n];
    for nodes in &lattice.elements {
        nodes.iter().for_each(|&i| nodes.iter().for_each(|&j| joined[i as usize * n + j as usize] = true));
    }
    assert_eq!(pattern.n_blocks(), joined.iter().filter(|&&is| is).count());
    assert_eq!((pattern.n_nodes(), pattern.n_elements()), (n, 36));
}

#[test]
fn stiffness_resists_no_rigid_motion() {
    let lattice = Lattice::new([2, 3, 2], 0.1);
    let mut matrix = lattice.matrix(SOFT, 1.0);
    let masses = lattice.masses(SOFT.density);
    let (spin, drift) = (DVec3::new(0.3, -0.2, 0.7), DVec3::new(1.0, 2.0, -1.0));
    let motion: Vec<f64> = lattice.rest.iter().flat_map(|&x| (drift + spin.cross(x)).to_array()).collect();
    let mut momentum = vec![0.0; motion.len()];
    matrix.times(&motion, &mut momentum);
    let expected: Vec<f64> = motion.iter().enumerate().map(|(k, v)| v * masses[k / 3]).collect();
    // The stiffness is 1e5 N/m, and cancels.
    assert!(scaled_difference(&momentum[..], &expected[..]) < 1e-9);
}

#[test]
fn bad_elements_are_named() {
    let error = |n_nodes, elements: &[[u32; 4]]| SparsePattern::new(n_nodes, elements).unwrap_err();
    assert_eq!(
        error(4, &[[0, 1, 2, 3], [0, 1, 2, 4]]),
        PatternError::NoSuchNode { element: 1, node: 4, n_nodes: 4 }
    );
    assert_eq!(error(4, &[[0, 1, 2, 1]]), PatternError::RepeatedNode { element: 0, node: 1 });
    assert_eq!(error(1 << 40, &[]), PatternError::TooLarge { n_blocks: 1 << 40 });
}

#[test]
fn nodes_without_elements_and_no_nodes_at_all() {
    let mut matrix = BlockMatrix::new(SparsePattern::new(3, &[]).unwrap());
    matrix.assemble(|fill| (0..3).for_each(|node| fill.add_mass(node, 2.0)));
    let mut y = [0.0; 9];
    matrix.times(&[1.0; 9], &mut y);
    assert_eq!(y.map(f64::to_bits), [2.0; 9].map(f64::to_bits));
    BlockMatrix::new(SparsePattern::new(0, &[]).unwrap()).times(&[], &mut []);
}
