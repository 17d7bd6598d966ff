//! Own unknowns that hang on some bodies of a tree, by conjugate gradients against the dense system.

use sinew_math::{Force, Motion, Sym3, Sym6};
use sinew_solvers::{
    Attached, CgScratch, CgSettings, OnTree, OnTreeScratch, Reaction, Responder, SpdSystem,
    conjugate_gradient,
};
use sinew_testkit::{Dense, Rng, assert_close, random_spd};

/// Free bodies under all ports.
struct Bodies(Vec<Sym6>);

impl Responder for Bodies {
    fn respond(&mut self, impulses: &[Force], motions: &mut [Motion]) {
        for (mass, (impulse, motion)) in self.0.iter().zip(impulses.iter().zip(motions)) {
            *motion = mass.inverse().unwrap().mul_wrench(*impulse);
        }
    }
}

/// A matrix over own unknowns and twists, with its diagonal as preconditioner.
struct Soft {
    matrix: Dense,
    n_own: usize,
    ports: Vec<u32>,
    is_prepared: bool,
}

impl Attached for Soft {
    fn n_unknowns(&self) -> usize {
        self.n_own
    }

    fn ports(&self) -> &[u32] {
        &self.ports
    }

    fn prepare(&mut self, tree: &mut Reaction<'_>) {
        let mut motions = vec![Motion::ZERO; self.ports.len()];
        let impulses: Vec<Force> = (0..self.ports.len()).map(|i| Force::from([i as f64; 6])).collect();
        tree(&impulses, &mut motions);
        assert_eq!(motions[0], Motion::ZERO, "the first body is not pushed");
        assert_ne!(motions[1], Motion::ZERO);
        self.is_prepared = true;
    }

    fn apply(&mut self, own: &[f64], motions: &[Motion], own_out: &mut [f64], impulses: &mut [Force]) {
        let x: Vec<f64> = own.iter().copied().chain(motions.iter().flat_map(|v| v.to_array())).collect();
        let y = self.matrix.mul_vec(&x);
        own_out.copy_from_slice(&y[..self.n_own]);
        for (f, y) in impulses.iter_mut().zip(y[self.n_own..].as_chunks().0) {
            *f = Force::from_array(*y);
        }
    }

    fn precondition(
        &mut self,
        tree: &mut Reaction<'_>,
        residual: &[f64],
        impulses: &mut [Force],
        out: &mut [f64],
        motions: &mut [Motion],
    ) {
        for i in 0..self.n_own {
            out[i] = residual[i] / self.matrix[(i, i)];
        }
        tree(impulses, motions);
    }
}

#[test]
fn a_soft_body_on_some_bodies_moves_as_the_dense_system() {
    let mut rng = Rng::new(17);
    for case in 0..30 {
        let n_own = 3 + rng.below(9);
        let mut bodies =
            Bodies((0..5).map(|_| Sym6::rigid(Sym3::diagonal(rng.vec3(0.5, 2.0)), 1.0)).collect());
        let ports = if case % 2 == 0 { vec![4, 1] } else { vec![0, 3, 2] };
        let n = n_own + 6 * ports.len();
        let mut soft = Soft { matrix: random_spd(&mut rng, n, 1.0), n_own, ports, is_prepared: false };
        let mut dense = soft.matrix.clone();
        for (k, &port) in soft.ports.iter().enumerate() {
            let mass = bodies.0[port as usize];
            for (i, axis) in [0, 1, 2].into_iter().enumerate() {
                let at = n_own + 6 * k + axis;
                dense[(at, at)] += mass.angular.diagonal_entries()[i];
                dense[(at + 3, at + 3)] += mass.linear.diagonal_entries()[i];
            }
        }
        let own: Vec<f64> = (0..n_own).map(|_| rng.normal()).collect();
        let impulses: Vec<Force> =
            soft.ports.iter().map(|_| Force::new(rng.vec3(-1.0, 1.0), rng.vec3(-1.0, 1.0))).collect();
        let expected = dense.solve(
            &own.iter().copied().chain(impulses.iter().flat_map(|f| f.to_array())).collect::<Vec<_>>(),
        );
        let expected = expected.unwrap();

        let mut scratch = OnTreeScratch::default();
        scratch.touch(&soft.ports, 5);
        let n_ports = soft.ports.len();
        let mut system = OnTree { attached: &mut soft, tree: &mut bodies, scratch: &mut scratch };
        system.prepare();
        assert_eq!((system.n_unknowns(), system.n_measured()), (n_own + 12 * n_ports, n_own));
        let mut rhs = Vec::new();
        OnTree::fill(&own, &impulses, &mut rhs);
        let mut x = vec![0.0; rhs.len()];
        let settings = CgSettings { precision: 1e-13, iterations: 500 };
        conjugate_gradient(&mut system, &rhs, &mut x, &settings, &mut CgScratch::new());
        assert_close!(x[..n].to_vec(), expected, 1e-9, "case {case}");
        // the impulses that are carried along give the twists
        for (k, carried) in OnTree::carried(n_own, &x).enumerate() {
            let twist = Motion::from_array(x[n_own + 6 * k..][..6].try_into().unwrap());
            let mass = bodies.0[soft.ports[k] as usize];
            assert_close!(carried.to_array(), mass.mul(twist).to_array(), 1e-12, "case {case}");
        }
        assert!(soft.is_prepared);
    }
}
