//! Islands of jointed bodies that nothing outside holds: they keep their angular momentum.
//!
//! An island is a set of dynamic bodies connected by joints and springs. It is free if none of its bodies has a joint or spring to
//! the world, to a fixed or to a kinematic body, and none has drag. Single bodies are left out: nothing turns them.

use sinew_topology::NONE;

use crate::model::{Model, WORLD};

/// Bodies of all free islands, one island after the other.
#[derive(Clone, Debug, Default)]
pub(crate) struct FreeIslands {
    bodies: Vec<u32>,
    /// End of each island among the bodies.
    ends: Vec<u32>,
}

impl FreeIslands {
    /// Of a model whose tables are complete.
    pub(crate) fn of(model: &Model) -> Self {
        let n = model.bodies.len();
        let mut islands = Islands { parents: (0..n as u32).collect(), is_held: vec![false; n] };
        for (body, inertial) in model.bodies.iter().enumerate() {
            let has_drag = inertial.linear_damping != 0.0 || inertial.angular_damping != 0.0;
            islands.is_held[body] = model.pair_of_body[body] == NONE || has_drag;
        }
        let joints = model.joints.iter().map(|joint| [joint.body1, joint.body2]);
        let springs = model.springs.iter().map(|spring| [spring.body1, spring.body2]);
        for bodies in joints.chain(springs) {
            islands.join(model, bodies);
        }
        let mut roots: Vec<(u32, u32)> = (0..n as u32).map(|body| (islands.root(body), body)).collect();
        roots.retain(|&(root, body)| {
            !islands.is_held[root as usize] && model.pair_of_body[body as usize] != NONE
        });
        roots.sort_unstable();
        let mut free = Self::default();
        for island in roots.chunk_by(|a, b| a.0 == b.0).filter(|island| island.len() > 1) {
            free.bodies.extend(island.iter().map(|&(_, body)| body));
            free.ends.push(free.bodies.len() as u32);
        }
        free
    }

    /// The bodies of each island.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &[u32]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, &end)| &self.bodies[start as usize..end as usize])
    }
}

/// Union of bodies under way.
struct Islands {
    parents: Vec<u32>,
    /// At the root of an island: whether anything holds it.
    is_held: Vec<bool>,
}

impl Islands {
    fn root(&mut self, mut body: u32) -> u32 {
        while self.parents[body as usize] != body {
            let above = self.parents[self.parents[body as usize] as usize];
            self.parents[body as usize] = above;
            body = above;
        }
        body
    }

    /// Joins two bodies; one that forces do not move holds the other.
    fn join(&mut self, model: &Model, bodies: [u32; 2]) {
        let moved = bodies.map(|body| body != WORLD && model.pair_of_body[body as usize] != NONE);
        match (bodies, moved) {
            ([a, b], [true, true]) => {
                let (a, b) = (self.root(a), self.root(b));
                self.parents[a.max(b) as usize] = a.min(b);
                self.is_held[a.min(b) as usize] |= self.is_held[a.max(b) as usize];
            }
            ([body, _], [true, false]) | ([_, body], [false, true]) => {
                let root = self.root(body);
                self.is_held[root as usize] = true;
            }
            _ => {}
        }
    }
}
