//! Islands of jointed bodies that nothing outside holds: they keep their angular momentum.
//!
//! An island is a set of dynamic bodies connected by joints and springs. It is free if none of its bodies has a joint or spring to
//! the world, to a fixed or to a kinematic body, and none has drag. Single bodies are left out: nothing turns them.

/// Bodies of all free islands, one island after the other.
#[derive(Clone, Debug, Default)]
pub(crate) struct FreeIslands {
    bodies: Vec<u32>,
    /// End of each island among the bodies.
    ends: Vec<u32>,
}

impl FreeIslands {
    /// Of bodies that are connected in pairs; `is_held` where something holds a body, `is_moved` where forces move it.
    pub(crate) fn of(
        is_held: Vec<bool>,
        is_moved: &dyn Fn(u32) -> bool,
        pairs: impl Iterator<Item = [u32; 2]>,
    ) -> Self {
        let n = is_held.len() as u32;
        let mut islands = Islands { parents: (0..n).collect(), is_held };
        for bodies in pairs {
            islands.join(bodies, bodies.map(is_moved));
        }
        let mut roots: Vec<(u32, u32)> = (0..n).map(|body| (islands.root(body), body)).collect();
        roots.retain(|&(root, body)| !islands.is_held[root as usize] && is_moved(body));
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
    fn join(&mut self, bodies: [u32; 2], is_moved: [bool; 2]) {
        match (bodies, is_moved) {
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
