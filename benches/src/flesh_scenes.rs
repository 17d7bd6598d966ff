//! What the flesh suite moves beside fixtures: characters of the size of KP08 Table 2 in explicit steps, a cantilever.
//!
//! Characters lie on or above a plane and wave: every driven hinge follows a sine that runs along the body. Their contacts
//! give so much that steps of 1 ms are stable for the worm, as the paper has it.

use crate::SuiteFailure;
use glam::DVec3;
use sinew_flesh::{
    ExplicitFlesh, ExplicitReport, ExplicitWorkspace, FleshBody, FleshModel, FleshState, finish_explicit,
    predict_bodies, step_explicit,
};
use sinew_math::{Force, JointKind};
use sinew_mechanism::{BodyId, State, Workspace, step};
use sinew_mesh::characters::{self, Character};
use sinew_scene::{
    AttachDoc, AttachedDoc, BodyDoc, BodyKindDoc, CharacterDoc, CharacterKindDoc, ColliderDoc,
    ColliderShapeDoc, ContactDoc, CurveDoc, ExtensionDoc, FirmnessDoc, FleshDoc, FleshMaterialDoc,
    FleshMeshDoc, FleshSteppingDoc, FollowDoc, GeneratorDoc, InputDoc, JointSpringDoc, PoseDoc, SceneDoc,
    Shape, ShapeDoc, SineDoc, TrackDoc,
};
use sinew_sim::World;
use std::time::Instant;

/// Length of an explicit step (KP08 Table 2: 1 ms for worm and fish), s.
pub(crate) const EXPLICIT_DT: f64 = 1e-3;

/// A character and how it moves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct FleshMotion {
    /// What happens.
    pub(crate) name: &'static str,
    /// To whom.
    pub(crate) kind: CharacterKindDoc,
    /// Stiffness of the flesh, Pa.
    pub(crate) young: f64,
    /// Height above the plane, m.
    pub(crate) height: f64,
    /// Whether the first bone stands still.
    pub(crate) is_held: bool,
    /// Middle and amplitude of the angles (rad), swings per second.
    pub(crate) swing: [f64; 3],
    /// Stiffness (N·m/rad) and damping (N·m·s/rad) of the joints.
    pub(crate) joint: [f64; 2],
    /// Stiffness (N/m) and damping (N·s/m²) of contacts.
    pub(crate) firmness: [f64; 2],
}

impl FleshMotion {
    /// Those of the paper's three characters; the first of each is its main one.
    pub(crate) const ALL: [Self; 6] = [
        Self::worm("worm waving", 0.08, [0.0, 0.5, 1.5]),
        Self::worm("worm bending", 0.08, [0.5, 0.5, 0.5]),
        Self::worm("worm falling", 1.0, [0.0, 0.3, 1.0]),
        Self::fish("fish flapping", 0.08, [0.0, 0.5, 3.0]),
        Self::fish("fish falling", 0.6, [0.0, 0.3, 2.0]),
        Self {
            name: "finger pressing",
            kind: CharacterKindDoc::Finger,
            young: 1e4,
            height: 0.05,
            is_held: true,
            swing: [0.25, 0.2, 1.0],
            joint: [1.0, 0.01],
            firmness: [20.0, 100.0],
        },
    ];

    const fn worm(name: &'static str, height: f64, swing: [f64; 3]) -> Self {
        let (kind, joint, firmness) = (CharacterKindDoc::Worm, [20.0, 0.4], [1400.0, 1e4]);
        Self { name, kind, young: 2e4, height, is_held: false, swing, joint, firmness }
    }

    const fn fish(name: &'static str, height: f64, swing: [f64; 3]) -> Self {
        let (kind, joint, firmness) = (CharacterKindDoc::Fish, [2.0, 0.02], [100.0, 500.0]);
        Self { name, kind, young: 1e4, height, is_held: false, swing, joint, firmness }
    }

    /// As a scene.
    pub(crate) fn scene(&self) -> SceneDoc {
        let hinges = character(self.kind).joints.into_iter().filter(|j| j.kind == JointKind::Hinge);
        let follow: Vec<FollowDoc> =
            hinges.map(|joint| FollowDoc { track: joint.name.clone(), joint: joint.name }).collect();
        let [center, amplitude, frequency_hz] = self.swing;
        let sine = |i: usize| SineDoc {
            center: DVec3::X * center,
            amplitude: DVec3::X * amplitude,
            frequency_hz,
            phase: i as f64,
        };
        let tracks = follow.iter().enumerate().map(|(i, follow)| TrackDoc {
            name: follow.track.clone(),
            curve: CurveDoc::Sine(sine(i)),
            ..TrackDoc::default()
        });
        let firmness = FirmnessDoc::Given { stiffness: self.firmness[0], damping: self.firmness[1] };
        let [stiffness, damping] = self.joint;
        SceneDoc {
            name: self.name.into(),
            dt: EXPLICIT_DT,
            tracks: tracks.collect(),
            colliders: vec![ground()],
            generators: vec![GeneratorDoc::Character(CharacterDoc {
                kind: self.kind,
                pose: PoseDoc { position: DVec3::Z * self.height, ..PoseDoc::default() },
                root: if self.is_held { BodyKindDoc::Fixed } else { BodyKindDoc::Dynamic },
                material: material(self.young),
                bone_damping: 5.0,
                contact: Some(ContactDoc { firmness, ..ContactDoc::default() }),
                stepping: FleshSteppingDoc::Explicit { substeps: 0 },
                joint: JointSpringDoc { stiffness, damping, ..JointSpringDoc::default() },
                follow,
                ..CharacterDoc::default()
            })],
            ..SceneDoc::default()
        }
    }
}

fn character(kind: CharacterKindDoc) -> Character {
    match kind {
        CharacterKindDoc::Worm => characters::worm(),
        CharacterKindDoc::WormFine { cells } => characters::worm_with_cells(cells),
        CharacterKindDoc::Fish => characters::fish(),
        CharacterKindDoc::Finger => characters::finger(),
        CharacterKindDoc::Hand => characters::hand(),
    }
}

fn ground() -> ColliderDoc {
    let shape = ColliderShapeDoc::Plane { point: DVec3::ZERO, normal: DVec3::Z };
    let contact = ContactDoc::default();
    ColliderDoc { name: String::new(), body: "world".into(), shape, contact, sensor: false }
}

/// Flesh of a stiffness (Pa) and Poisson's ratio 0.4.
fn material(young: f64) -> FleshMaterialDoc {
    match FleshMaterialDoc::default() {
        FleshMaterialDoc::StVenantKirchhoff { band, .. } => FleshMaterialDoc::StVenantKirchhoff {
            young,
            poisson: 0.4,
            band,
            extension: ExtensionDoc::Auto,
            plastic: None,
            viscous: None,
        },
        other => other,
    }
}

/// A scene whose first grab is hard.
pub(crate) fn pinned(mut scene: SceneDoc) -> SceneDoc {
    let mut inputs = scene.inputs.iter_mut();
    if let Some(grab) =
        inputs.find_map(|input| if let InputDoc::Grab(grab) = input { Some(grab) } else { None })
    {
        grab.stiffness = f64::INFINITY;
    }
    scene
}

/// A beam of 1 × 0.2 × 0.2 m and 1000 kg/m³, clamped at x = 0 to a body that stands still.
pub(crate) fn cantilever(young: f64, cells: [u32; 3]) -> SceneDoc {
    let size = DVec3::new(1.0, 0.2, 0.2);
    let shape = ShapeDoc::centred(Shape::Box { size: DVec3::splat(0.2) });
    let wall =
        BodyDoc { name: "wall".into(), kind: BodyKindDoc::Fixed, shapes: vec![shape], ..BodyDoc::default() };
    let clamped = AttachedDoc::Inside { low: DVec3::ZERO, high: size * DVec3::new(0.0, 1.0, 1.0) };
    SceneDoc {
        name: "cantilever".into(),
        bodies: vec![wall],
        flesh: vec![FleshDoc {
            name: "beam".into(),
            mesh: FleshMeshDoc::Beam { size, cells },
            material: material(young),
            density: Some(1000.0),
            attach: vec![AttachDoc { body: Some("wall".into()), nodes: clamped }],
            ..FleshDoc::default()
        }],
        ..SceneDoc::default()
    }
}

/// The one body of flesh of a world.
pub(crate) fn only_flesh(world: &World) -> Result<&FleshBody, SuiteFailure> {
    let bodies = world.model().flesh().map_or(&[][..], FleshModel::bodies);
    bodies.first().ok_or_else(|| "the scene has no flesh".into())
}

/// Flesh in explicit steps between bones that make implicit ones of the same length (`sinew_flesh::step_explicit`).
pub(crate) struct ExplicitRun {
    world: World,
    bodies: State,
    ahead: State,
    flesh: FleshState,
    bones_work: Workspace,
    flesh_work: ExplicitWorkspace,
    wrenches: Vec<(BodyId, Force)>,
    settings: ExplicitFlesh<'static>,
}

impl ExplicitRun {
    /// At the beginning of a motion.
    pub(crate) fn new(motion: &FleshMotion) -> Result<Self, SuiteFailure> {
        let world = World::from_scene(&motion.scene())?;
        let flesh = world.model().flesh().ok_or("a character without flesh")?;
        let dt = world.settings().dt;
        Ok(Self {
            bodies: world.state().bodies.clone(),
            ahead: world.state().bodies.clone(),
            flesh: world.state().flesh.clone(),
            bones_work: Workspace::new(world.mechanism()),
            flesh_work: ExplicitWorkspace::new(flesh),
            wrenches: Vec::new(),
            settings: ExplicitFlesh { dt, gravity: world.settings().gravity, ..ExplicitFlesh::default() },
            world,
        })
    }

    /// The settings of the flesh.
    pub(crate) fn settings_mut(&mut self) -> &mut ExplicitFlesh<'static> {
        &mut self.settings
    }

    /// Number of tetrahedra.
    pub(crate) fn n_tets(&self) -> usize {
        self.world.model().flesh().map_or(0, |flesh| flesh.bodies().iter().map(|b| b.fem().n_tets()).sum())
    }

    /// One step: what the flesh met, and the time that flesh and bones took, s.
    pub(crate) fn step(&mut self) -> (ExplicitReport, [f64; 2]) {
        let mut input = self.world.input_at(self.bodies.time);
        let Self { world, bodies, ahead, flesh, bones_work, flesh_work, wrenches, settings } = self;
        let soft = world.model().flesh().expect("checked by `new`");
        let start = Instant::now();
        predict_bodies(bodies, settings.dt, ahead);
        let report = step_explicit(soft, [bodies, ahead], settings, flesh, flesh_work, wrenches);
        let middle = Instant::now();
        input.wrenches.extend_from_slice(wrenches);
        let bodies_settings = world.settings().mechanism().expect("no joint coordinates");
        let bones = step(world.mechanism(), bodies, &input, &bodies_settings, bones_work);
        finish_explicit(soft, bodies, flesh, flesh_work);
        let end = Instant::now();
        let bad = report.non_finite.is_some() || report.elements.non_finite.is_some() || report.refused;
        assert!(!bad && bones.non_finite.is_none(), "the motion that is timed has broken down: {report:?}");
        (report, [middle - start, end - middle].map(|time| time.as_secs_f64()))
    }
}
