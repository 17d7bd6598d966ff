//! Expansion of generators to bodies, joints and flesh.
//!
//! Links have x of their body frame along the link and its middle as origin.

mod character;
mod ladder;
mod links;
mod mesh;
mod placement;

pub(crate) use character::skeleton;
pub(crate) use placement::link_name;

use crate::doc::{GeneratorDoc, RootDoc, SceneDoc};

impl SceneDoc {
    /// The same scene with every generator expanded to bodies, joints and flesh. Sweeps are removed, since their paths may
    /// lead into generators: set their values first.
    ///
    /// ```
    /// let text = "(format: 1, name: \"rope\", generators: [Chain(n: 3, link: (shapes: [Sphere(radius: 0.1)]))])";
    /// let rope = sinew_scene::SceneDoc::from_ron(text, "rope.ron")?.expanded();
    /// let names: Vec<_> = rope.bodies.iter().map(|body| body.name.as_str()).collect();
    /// assert_eq!(names, ["link_0001", "link_0002", "link_0003"]);
    /// # Ok::<(), sinew_scene::SceneErrors>(())
    /// ```
    pub fn expanded(&self) -> Self {
        let mut scene = Self { generators: Vec::new(), sweep: Vec::new(), ..self.clone() };
        for generator in &self.generators {
            match generator {
                GeneratorDoc::Chain(chain) => links::expand_chain(chain, &mut scene),
                GeneratorDoc::Tree(tree) => links::expand_tree(tree, &mut scene),
                GeneratorDoc::Ladder(ladder) => ladder::expand(ladder, &mut scene),
                GeneratorDoc::Mesh(mesh) => mesh::expand(mesh, &mut scene),
                GeneratorDoc::Character(character) => character::expand(character, &mut scene),
            }
        }
        scene
    }
}

impl GeneratorDoc {
    /// Prefix of the generated names.
    pub fn name(&self) -> &str {
        match self {
            Self::Chain(chain) => &chain.name,
            Self::Tree(tree) => &tree.name,
            Self::Ladder(ladder) => &ladder.name,
            Self::Mesh(mesh) => &mesh.name,
            Self::Character(character) => &character.name,
        }
    }

    /// Whether one of its bodies has this name.
    pub fn makes_body(&self, name: &str) -> bool {
        match self {
            Self::Character(character) => character.bone_names().any(|bone| bone == name),
            _ => self.makes_number(name, self.n_links()),
        }
    }

    /// Whether one of its joints has this name.
    pub fn makes_joint(&self, name: &str) -> bool {
        match self {
            Self::Character(character) => {
                self.part(name).is_some_and(|part| character.joints().any(|joint| joint.name == part))
            }
            _ => self.makes_number(name, self.last_joint()),
        }
    }

    /// Whether its flesh has this name.
    pub fn makes_flesh(&self, name: &str) -> bool {
        matches!(self, Self::Character(character) if character.name == name)
    }

    /// Whether its surface has this name.
    pub(crate) fn makes_surface(&self, name: &str) -> bool {
        matches!(self, Self::Mesh(mesh) if mesh.surface && mesh.name == name)
    }

    /// Names of its bodies, numbered ones in short: `link_0001 to link_0009`.
    pub(crate) fn bodies_in_words(&self) -> Vec<String> {
        match self {
            Self::Character(character) => character.bone_names().collect(),
            _ if self.n_links() == 0 => Vec::new(),
            _ => {
                let [first, last] = [1, self.n_links() as usize].map(|i| link_name(self.name(), i));
                vec![format!("{first} to {last}")]
            }
        }
    }

    /// What follows the prefix in a name.
    fn part<'n>(&self, name: &'n str) -> Option<&'n str> {
        name.strip_prefix(self.name())?.strip_prefix('_')
    }

    /// Whether a name is one of the numbered ones up to `last`.
    fn makes_number(&self, name: &str, last: u64) -> bool {
        let number = self.part(name).and_then(|digits| digits.parse::<u64>().ok());
        number.is_some_and(|i| (1..=last).contains(&i) && name == link_name(self.name(), i as usize))
    }

    /// Number of links or bones it makes; `u64::MAX` stands for anything larger.
    pub fn n_links(&self) -> u64 {
        match self {
            Self::Chain(chain) => u64::from(chain.n),
            // 1 + b + b² + … as nested products, stopping once it no longer grows.
            Self::Tree(tree) if tree.branching <= 1 => u64::from(tree.depth * tree.branching),
            Self::Tree(tree) => (0..tree.depth.min(64))
                .fold(0_u64, |n, _| n.saturating_mul(u64::from(tree.branching)).saturating_add(1)),
            Self::Ladder(ladder) if ladder.p == 0 => 0,
            Self::Ladder(ladder) => (2 * u64::from(ladder.p) + 1).saturating_mul(u64::from(ladder.r)),
            Self::Mesh(mesh) if mesh.n < 2 => 0,
            Self::Mesh(mesh) => (u64::from(mesh.n) - 1).saturating_mul(3 * u64::from(mesh.n) - 1),
            Self::Character(character) => skeleton(character.kind).bones.len() as u64,
        }
    }

    /// Largest number among the names of its joints; `u64::MAX` stands for anything larger.
    fn last_joint(&self) -> u64 {
        let links = self.n_links();
        match self {
            Self::Chain(chain) => links + u64::from(chain.tip != RootDoc::Free),
            Self::Tree(_) | Self::Character(_) => links,
            Self::Ladder(ladder) => links.saturating_add(u64::from(ladder.r)),
            // At a vertex where d bars end there are d − 1 joints, and every bar has two ends.
            Self::Mesh(mesh) => links.saturating_mul(2).saturating_sub(u64::from(mesh.n) * u64::from(mesh.n)),
        }
    }
}
