//! Every shape dropped on every other, on three kinds of ground, slow and fast.
//!
//! What must hold: nothing passes the ground or what lies on it, no energy comes from nothing, nothing ends inside something else, and what cannot roll comes to
//! rest. The thing below lies on the ground. Sizes in metres, speeds in m/s.

use glam::DVec3;
use sinew_scene::SceneDoc;
use sinew_sim::{BuildError, EnergyAccount, World};

/// What is dropped, and what lies below.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Thing {
    /// A ball.
    Sphere,
    /// A cube.
    Box,
    /// A thin plate.
    Plate,
    /// A capsule that lies.
    Capsule,
    /// A can.
    Cylinder,
    /// A hull of six points.
    Rock,
    /// An octahedron of triangles.
    Mesh,
    /// A cube of flesh.
    Flesh,
}

/// What everything lies on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ground {
    /// A plane.
    Plane,
    /// Flat heights.
    Heights,
    /// A sheet of two triangles.
    Sheet,
}

/// One drop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Drop {
    /// What falls.
    pub upper: Thing,
    /// What it falls on, beside the ground.
    pub lower: Option<Thing>,
    /// The ground.
    pub ground: Ground,
    /// Speed at the start, down.
    pub speed: f64,
    /// Whether it is stepped in joint coordinates.
    pub is_reduced: bool,
}

/// What became of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DropRun {
    /// Whether something was under the ground in the end, or no longer finite.
    pub is_through: bool,
    /// Whether energy was gained without a source.
    pub gains: bool,
    /// Whether bodies are inside each other by more than 5 mm in the end.
    pub is_inside: bool,
    /// Whether something that cannot roll still moves.
    pub moves: bool,
}

/// Speeds of drops.
pub const SPEEDS: [f64; 6] = [0.1, 1.0, 3.0, 8.0, 15.0, 30.0];

/// Time that things have to come to rest, s.
const SECONDS: f64 = 3.0;

/// Depth in the end, m, and speed of what rests, m/s.
const INSIDE: f64 = 5e-3;
const AT_REST: f64 = 0.05;

impl Thing {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Sphere,
        Self::Box,
        Self::Plate,
        Self::Capsule,
        Self::Cylinder,
        Self::Rock,
        Self::Mesh,
        Self::Flesh,
    ];

    /// Half its height as it lies, and how far it reaches at most from its centre.
    fn size(self) -> [f64; 2] {
        match self {
            Self::Sphere => [0.15, 0.15],
            Self::Box | Self::Flesh => [0.15, 0.26],
            Self::Plate => [0.02, 0.43],
            Self::Capsule => [0.1, 0.25],
            Self::Cylinder => [0.15, 0.21],
            Self::Rock => [0.12, 0.2],
            Self::Mesh => [0.2, 0.2],
        }
    }

    fn can_roll(self) -> bool {
        matches!(self, Self::Sphere | Self::Capsule | Self::Cylinder)
    }

    /// Its shape in words of the scene; flesh has none.
    fn shape(self) -> &'static str {
        match self {
            Self::Sphere => "Sphere(radius: 0.15)",
            Self::Box | Self::Flesh => "Box(size: (0.3, 0.3, 0.3))",
            Self::Plate => "Box(size: (0.6, 0.6, 0.04))",
            Self::Capsule => "Capsule(radius: 0.1, length: 0.3)",
            Self::Cylinder => "Cylinder(radius: 0.15, length: 0.3)",
            Self::Rock => {
                "Convex(points: [(0.18, 0, 0), (-0.1, 0.15, 0), (-0.1, -0.15, 0), (0, 0, 0.2), (0.02, 0.03, -0.12), (0.1, 0.1, 0.1)])"
            }
            Self::Mesh => {
                "TriMesh(points: [(0.2, 0, 0), (-0.2, 0, 0), (0, 0.2, 0), (0, -0.2, 0), (0, 0, 0.2), (0, 0, -0.2)], \
                 triangles: [(0, 2, 4), (2, 1, 4), (1, 3, 4), (3, 0, 4), (2, 0, 5), (1, 2, 5), (3, 1, 5), (0, 3, 5)])"
            }
        }
    }

    /// Adds it at a place to bodies, colliders and flesh.
    fn write(
        self,
        name: &str,
        at: DVec3,
        turn: &str,
        speed: f64,
        [bodies, colliders, flesh]: &mut [String; 3],
    ) {
        // Beams have a corner at their place.
        let DVec3 { x, y, z } = if self == Self::Flesh { at - DVec3::splat(0.15) } else { at };
        let pose = format!("pose: (position: ({x}, {y}, {z}), rotation: Vector({turn}))");
        let shape = self.shape();
        let (shapes, collider) = match self {
            Self::Flesh => {
                let mesh = "mesh: Beam(size: (0.3, 0.3, 0.3), cells: (3, 3, 3)), contact: ()";
                let material =
                    "material: StVenantKirchhoff(young: 1e5, poisson: 0.4), stiffness_damping_s: 0.005";
                *flesh +=
                    &format!("(name: \"{name}\", {mesh}, {pose}, velocity: (0, 0, {}), {material}),", -speed);
                return;
            }
            Self::Rock => (String::new(), shape),
            Self::Mesh => ("shapes: [Box(size: (0.23, 0.23, 0.23))]".to_owned(), shape),
            _ => (format!("shapes: [{shape}]"), "OfBody"),
        };
        *bodies += &format!("(name: \"{name}\", {pose}, velocity: (linear: (0, 0, {})), {shapes}),", -speed);
        *colliders += &format!("(body: \"{name}\", shape: {collider}),");
    }
}

impl Ground {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Plane, Self::Heights, Self::Sheet];

    fn collider(self) -> &'static str {
        match self {
            Self::Plane => "(shape: Plane(point: (0, 0, 0), normal: (0, 0, 1))),",
            Self::Heights => {
                "(shape: HeightField(size: (8, 8), heights: [[0, 0, 0], [0, 0, 0], [0, 0, 0]])),"
            }
            Self::Sheet => {
                "(shape: TriMesh(points: [(-4, -4, 0), (4, -4, 0), (4, 4, 0), (-4, 4, 0)], triangles: [(0, 1, 2), (0, 2, 3)])),"
            }
        }
    }
}

impl Drop {
    /// Its scene.
    ///
    /// # Panics
    /// If the text is no scene, which a test excludes.
    pub fn scene(&self) -> SceneDoc {
        let mut texts = [String::new(), self.ground.collider().to_owned(), String::new()];
        let mut top = 0.0;
        if let Some(lower) = self.lower {
            let [level, reach] = lower.size();
            lower.write("lower", DVec3::Z * level, "0, 0, 0", 0.0, &mut texts);
            top = level + reach;
        }
        let above = DVec3::new(0.03, 0.02, top + self.upper.size()[1] + 0.1);
        self.upper.write("upper", above, "0.3, 0.2, 0.1", self.speed, &mut texts);
        let [bodies, colliders, flesh] = texts;
        let stepper = if self.is_reduced { "stepper: Reduced()," } else { "" };
        let text = format!(
            "(format: 1, name: \"drop\", duration_s: {SECONDS}, sleep: Never, {stepper} bodies: [{bodies}], colliders: [{colliders}], flesh: [{flesh}])"
        );
        SceneDoc::from_ron(&text, "drop").unwrap_or_else(|errors| panic!("{errors}"))
    }

    /// Runs it.
    ///
    /// # Errors
    /// If the scene cannot be built.
    pub fn run(&self) -> Result<DropRun, BuildError> {
        let scene = self.scene();
        let mut world = World::from_scene(&scene)?;
        let mut account = EnergyAccount::new(world.model(), world.state(), world.input(), world.settings());
        let mut run = DropRun::default();
        let mut deep = 0.0;
        for _ in 0..(SECONDS / scene.dt).round() as usize {
            let report = world.step();
            let excess = account.note(world.model(), world.state(), world.input(), world.settings());
            run.gains |= excess.is_gain();
            deep = report.overlap.map_or(0.0, |overlap| overlap.depth);
        }
        let (bodies, flesh) = (&world.state().bodies, &world.state().flesh);
        let nodes = flesh.nodes.iter().flat_map(|nodes| nodes.positions.iter().copied());
        let places = bodies.poses.iter().map(|pose| pose.translation).chain(nodes);
        run.is_through = places.into_iter().any(|place| !(place.is_finite() && place.z > -INSIDE));
        run.is_inside = deep > INSIDE;
        let still = [Some(self.upper), self.lower].into_iter().flatten().all(|thing| !thing.can_roll());
        let speeds = bodies.motions.iter().map(|motion| motion.linear.length());
        run.moves = still && speeds.fold(0.0, f64::max) > AT_REST;
        Ok(run)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_drop_is_a_scene() {
        for upper in Thing::ALL {
            for lower in Thing::ALL {
                Drop { upper, lower: Some(lower), ground: Ground::Plane, speed: 1.0, is_reduced: false }
                    .scene();
            }
            for ground in Ground::ALL {
                // Flesh is implicit, which joint coordinates are not.
                let is_reduced = upper != Thing::Flesh;
                Drop { upper, lower: None, ground, speed: 1.0, is_reduced }.scene();
            }
        }
    }

    #[test]
    fn flesh_that_is_hit_hard_is_not_pierced() {
        for (lower, speed) in [(Thing::Rock, 15.0), (Thing::Mesh, 15.0), (Thing::Sphere, 30.0)] {
            let drop = Drop {
                lower: Some(lower),
                ground: Ground::Plane,
                upper: Thing::Flesh,
                speed,
                is_reduced: false,
            };
            assert_eq!(drop.run().unwrap(), DropRun::default(), "{lower:?}");
        }
    }

    #[test]
    fn a_fast_box_rests_on_thin_ground() {
        for ground in Ground::ALL {
            let drop = Drop { upper: Thing::Box, lower: None, ground, speed: 30.0, is_reduced: false };
            assert_eq!(drop.run().unwrap(), DropRun::default());
        }
    }
}
