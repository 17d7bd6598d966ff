//! Chains of bones in beams of flesh.

use glam::{DQuat, DVec3};
use sinew_contact::ContactModel;
use sinew_fem::{Attachments, FemModel, FemOptions, Material, TetMesh};
use sinew_flesh::{
    Flesh, FleshBody, FleshModel, FleshOptions, FleshReport, FleshState, FleshWorkspace, SurfacePoint,
};
use sinew_math::{MassProperties, Pose, Sym3};
use sinew_mechanism::{
    BodyId, BodySpec, CgSettings, Implicit, Input, JointFrames, JointKind, JointSpec, MechanismBuilder,
    Model, Scheme, Settings, Stage, State, StepHooks, StepReport, Workspace, step_coupled,
};

/// Corners of the six tetrahedra of a cube, as bits x, y, z.
const KUHN: [[u32; 4]; 6] =
    [[0, 1, 3, 7], [0, 5, 1, 7], [0, 3, 2, 7], [0, 2, 6, 7], [0, 4, 5, 7], [0, 6, 4, 7]];

/// A box of `cells` cubes cut in six each, from the origin.
pub(crate) fn beam(size: DVec3, cells: [u32; 3]) -> TetMesh {
    let [nx, ny, nz] = cells;
    let index = |i: u32, j: u32, k: u32| (i * (ny + 1) + j) * (nz + 1) + k;
    let mut positions = Vec::new();
    for i in 0..=nx {
        for j in 0..=ny {
            for k in 0..=nz {
                let at = [
                    f64::from(i) / f64::from(nx),
                    f64::from(j) / f64::from(ny),
                    f64::from(k) / f64::from(nz),
                ];
                positions.push(DVec3::from_array(at) * size);
            }
        }
    }
    let mut tets = Vec::new();
    for i in 0..nx {
        for j in 0..ny {
            for k in 0..nz {
                let corner = |bits: u32| index(i + (bits & 1), j + (bits >> 1 & 1), k + (bits >> 2 & 1));
                tets.extend(KUHN.map(|tet| tet.map(corner)));
            }
        }
    }
    TetMesh::with_repaired_winding(positions, tets).expect("a beam").0
}

/// Bones of 0.2 m along x in a beam of flesh; the first hangs from the world at the origin if `is_hung`.
pub(crate) struct Chain {
    pub(crate) model: Model,
    pub(crate) flesh: FleshModel,
}

pub(crate) struct ChainSpec {
    pub(crate) n_bones: usize,
    pub(crate) cells: [u32; 3],
    pub(crate) young: f64,
    pub(crate) is_hung: bool,
    pub(crate) options: FleshOptions,
    pub(crate) every: usize,
}

impl Chain {
    pub(crate) fn new(spec: &ChainSpec) -> Self {
        Self::with_contact(spec, |_| None)
    }

    pub(crate) fn with_contact(
        spec: &ChainSpec,
        contact: impl FnOnce(&Model) -> Option<ContactModel>,
    ) -> Self {
        Self::with_joints(spec, |builder, bones| add_balls(spec, builder, bones), contact)
    }

    /// Bones held by other joints; they are in place already.
    pub(crate) fn with_joints(
        spec: &ChainSpec,
        joints: impl FnOnce(&mut MechanismBuilder, &[BodyId]),
        contact: impl FnOnce(&Model) -> Option<ContactModel>,
    ) -> Self {
        let n = spec.n_bones;
        let size = DVec3::new(0.2 * n as f64, 0.1, 0.1);
        let mut builder = MechanismBuilder::new();
        let mut bones: Vec<BodyId> = Vec::new();
        for i in 0..n {
            let pose = Pose::new(DQuat::IDENTITY, DVec3::new(0.2 * i as f64 + 0.1, 0.05, 0.05));
            let mass = MassProperties {
                mass: 0.3,
                com: DVec3::ZERO,
                inertia: Sym3::diagonal(DVec3::new(2e-4, 1e-3, 1.1e-3)),
            };
            bones.push(builder.add_body(BodySpec::dynamic("", pose, mass)));
        }
        joints(&mut builder, &bones);
        let model = builder.build().expect("a chain");
        let mesh = beam(size, spec.cells);
        let poses = model.initial_state().poses;
        let nearest = |x: &DVec3| ((x.x / 0.2) as u32).min(n as u32 - 1);
        let references: Vec<_> = mesh.positions().iter().map(|x| Some(nearest(x))).collect();
        let fixed: Vec<_> = references
            .iter()
            .enumerate()
            .map(|(i, &bone)| if i % spec.every == 0 { bone } else { None })
            .collect();
        let attachments = Attachments::new(mesh.positions(), &poses, &fixed, &references).expect("attached");
        let material = Material::st_venant_kirchhoff(spec.young, 0.4)
            .expect("a material")
            .with_extension(sinew_fem::Extension::Conservative);
        let fem = FemModel::new(mesh, material, &FemOptions::default()).expect("flesh");
        let surface = corner_points(&fem);
        let bones = bones.iter().map(|bone| bone.index()).collect();
        let body = FleshBody::new(fem, attachments, bones, surface, spec.options).expect("flesh");
        let contact = contact(&model);
        let flesh = FleshModel::new(&model, vec![body], contact).expect("a model");
        Self { model, flesh }
    }
}

/// Ball joints between bones, and to the world if the chain is hung.
fn add_balls(spec: &ChainSpec, builder: &mut MechanismBuilder, bones: &[BodyId]) {
    let end = DVec3::X * 0.1;
    let mut ball = |bone: usize, parent: Option<BodyId>, point2: DVec3| {
        let (rotation1, rotation2) = (DQuat::IDENTITY, DQuat::IDENTITY);
        let frames = JointFrames { rotation1, point1: -end, rotation2, point2 };
        builder.add_joint(JointSpec::new("", JointKind::Ball, bones[bone], parent, frames));
    };
    if spec.is_hung {
        ball(0, None, DVec3::new(0.0, 0.05, 0.05));
    }
    (1..bones.len()).for_each(|bone| ball(bone, Some(bones[bone - 1]), end));
}

/// Every node as a point of the surface.
pub(crate) fn corner_points(fem: &FemModel) -> Vec<SurfacePoint> {
    let mut points = vec![None; fem.n_nodes()];
    for (tet, nodes) in fem.mesh().tets().iter().enumerate() {
        for (corner, &node) in nodes.iter().enumerate() {
            let mut weights = [0.0; 4];
            weights[corner] = 1.0;
            points[node as usize] = Some(SurfacePoint { tet: tet as u32, weights });
        }
    }
    points.into_iter().flatten().collect()
}

/// A mechanism with flesh that moves.
pub(crate) struct Run<'a> {
    pub(crate) chain: &'a Chain,
    pub(crate) state: State,
    pub(crate) soft: FleshState,
    pub(crate) settings: Settings,
    pub(crate) input: Input,
    workspace: Workspace,
    pub(crate) work: FleshWorkspace,
}

impl<'a> Run<'a> {
    pub(crate) fn new(chain: &'a Chain) -> Self {
        let state = chain.model.initial_state();
        let soft = chain.flesh.initial_state(&state);
        // One linear solve per step, which is what these tests look at.
        let mut implicit = Implicit::default();
        implicit.newton_iterations = 1;
        let mut settings = Settings::default();
        settings.scheme = Scheme::Implicit(implicit);
        settings.together = CgSettings { precision: 1e-13, iterations: 2000 };
        Self {
            chain,
            state,
            soft,
            settings,
            input: Input::default(),
            workspace: Workspace::new(&chain.model),
            work: FleshWorkspace::new(&chain.flesh),
        }
    }

    pub(crate) fn step(&mut self) -> (StepReport, FleshReport) {
        let keeps_history = match self.settings.scheme {
            sinew_mechanism::Scheme::Implicit(i) => i.order == sinew_mechanism::Order::Second,
            _ => false,
        };
        let Self { chain, state, soft, settings, input, workspace, work } = self;
        let mut flesh = Flesh::new(&chain.flesh, soft, work, keeps_history);
        let hooks = StepHooks { watch: &mut |_: Stage| {}, companion: Some(&mut flesh) };
        let report = step_coupled(&chain.model, state, input, settings, workspace, hooks);
        let felt = flesh.report();
        (report, felt)
    }
}
