//! Islands: dynamic bodies connected by joints, springs, ropes and gears. What one of them loses or gains is its own.
//!
//! An island is free if none of its bodies is connected with the world, a fixed or a kinematic body, and none has drag: it keeps
//! its angular momentum. Bodies that nothing is connected with are left out.

use sinew_topology::{DisjointSets, NONE};

/// The islands of a model, in the order of their first bodies.
#[derive(Clone, Debug, Default)]
pub(crate) struct Islands {
    /// Bodies, one island after the other.
    bodies: Vec<u32>,
    /// End of each island among the bodies.
    ends: Vec<u32>,
    /// Per island: whether nothing holds it.
    is_free: Vec<bool>,
    /// Body → its island, or `NONE`.
    of_body: Vec<u32>,
    /// Fixed and kinematic bodies, and the islands connected with them.
    held_by: Vec<(u32, u32)>,
}

impl Islands {
    /// Of bodies that are connected in pairs; `is_held` where something holds a body, `is_moved` where forces move it.
    pub(crate) fn of(
        mut is_held: Vec<bool>,
        is_moved: &dyn Fn(u32) -> bool,
        pairs: impl Iterator<Item = [u32; 2]> + Clone,
    ) -> Self {
        let n = is_held.len() as u32;
        let mut is_connected = vec![false; is_held.len()];
        let mut sets = DisjointSets::new(is_held.len());
        for bodies in pairs.clone() {
            let moved = bodies.map(is_moved);
            for (body, other) in [(0, 1), (1, 0)].into_iter().filter(|&(body, _)| moved[body]) {
                is_connected[bodies[body] as usize] = true;
                is_held[bodies[body] as usize] |= !moved[other];
            }
            if moved == [true; 2] {
                sets.join(bodies[0], bodies[1]);
            }
        }
        let mut roots: Vec<(u32, u32)> = (0..n).map(|body| (sets.first(body), body)).collect();
        roots.retain(|&(_, body)| is_connected[body as usize]);
        roots.sort_unstable();
        let mut islands = Self { of_body: vec![NONE; n as usize], ..Self::default() };
        for island in roots.chunk_by(|a, b| a.0 == b.0) {
            for &(_, body) in island {
                islands.of_body[body as usize] = islands.ends.len() as u32;
                islands.bodies.push(body);
            }
            islands.ends.push(islands.bodies.len() as u32);
            islands.is_free.push(!island.iter().any(|&(_, body)| is_held[body as usize]));
        }
        let held = pairs.flat_map(|[a, b]| [(a, b), (b, a)]).filter_map(|(holding, held)| {
            let is_holding = (holding as usize) < islands.of_body.len() && !is_moved(holding);
            let island = islands.of_bodies([held])?;
            is_holding.then_some((holding, island as u32))
        });
        let mut held_by: Vec<(u32, u32)> = held.collect();
        held_by.sort_unstable();
        held_by.dedup();
        islands.held_by = held_by;
        islands
    }

    /// Fixed and kinematic bodies, and the islands connected with them.
    pub(crate) fn held_by(&self) -> &[(u32, u32)] {
        &self.held_by
    }

    /// Number of islands.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The island of the first body that has one.
    pub(crate) fn of_bodies(&self, bodies: impl IntoIterator<Item = u32>) -> Option<usize> {
        let island = |body: u32| self.of_body.get(body as usize).filter(|&&island| island != NONE);
        bodies.into_iter().find_map(|body| island(body).map(|&island| island as usize))
    }

    /// The bodies of an island.
    pub(crate) fn bodies(&self, island: usize) -> &[u32] {
        let start = island.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.bodies[start as usize..self.ends[island] as usize]
    }

    /// The bodies of each island, and whether it is free.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&[u32], bool)> {
        (0..self.ends.len()).map(|island| self.bodies(island)).zip(self.is_free.iter().copied())
    }

    /// The bodies of the free islands.
    pub(crate) fn free(&self) -> impl Iterator<Item = &[u32]> {
        self.iter().filter(|&(_, is_free)| is_free).map(|(bodies, _)| bodies)
    }
}
