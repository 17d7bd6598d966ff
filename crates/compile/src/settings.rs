//! Settings of a scene in the form of the engine: step length (s), stepper, loops, stabilization.

use sinew_engine::{Reduced, ReducedMethod, Scheme, Settings, Sleep};
use sinew_mechanism::{
    Assembly, CarriedRotation, Displacement, Explicit, Gyroscopic, Implicit, JacobianAt, LoopMethod, Loops,
    Order, RungeKutta, TreeForm,
};
use sinew_scene::{
    ChangeDoc, DisplacementDoc, ExplicitDoc, ExplicitMethodDoc, GyroscopicDoc, ImplicitDoc, JacobianPoseDoc,
    KrylovMethodDoc, LoopSolverDoc, LoopsDoc, ReducedDoc, ReducedMethodDoc, RestDoc, RotationStepDoc,
    SceneDoc, SleepDoc, StepperDoc, TreeSolverDoc,
};

/// The settings of a scene with the values of a change; flesh is coupled.
pub(crate) fn settings(scene: &SceneDoc, values: &ChangeDoc) -> Settings {
    let mut settings = Settings::default();
    settings.dt = values.dt.unwrap_or(scene.dt);
    settings.gravity = values.gravity.unwrap_or(scene.gravity);
    settings.gyroscopic = gyroscopic(scene.gyroscopic);
    settings.together.precision = scene.flesh_solver.precision;
    settings.together.iterations = scene.flesh_solver.iterations;
    settings.scheme = scheme(values.stepper.as_ref().unwrap_or(&scene.stepper));
    settings.loops = loops(&scene.loops);
    settings.loops.solve.iterations = values.loop_iterations.unwrap_or(scene.loops.iterations);
    settings.stabilize = scene.stabilize.map(|doc| {
        let mut assembly = Assembly::default();
        assembly.tolerance = doc.tolerance;
        assembly.iterations = doc.iterations;
        assembly.velocities = doc.velocities;
        assembly
    });
    settings.sleep = match scene.sleep {
        SleepDoc::Never => None,
        SleepDoc::AtRest(RestDoc { distance_m, after_s }) => {
            Some(Sleep { distance: distance_m, after: after_s })
        }
    };
    settings
}

fn gyroscopic(doc: GyroscopicDoc) -> Gyroscopic {
    match doc {
        GyroscopicDoc::Auto => Gyroscopic::Auto,
        GyroscopicDoc::Implicit => Gyroscopic::Implicit,
        GyroscopicDoc::Momentum => Gyroscopic::Momentum,
        GyroscopicDoc::Explicit => Gyroscopic::Explicit,
        GyroscopicDoc::Off => Gyroscopic::None,
    }
}

fn scheme(stepper: &StepperDoc) -> Scheme {
    match stepper {
        StepperDoc::Implicit(doc) => Scheme::Implicit(implicit(doc)),
        StepperDoc::Explicit(doc) => Scheme::Explicit(explicit(doc)),
        StepperDoc::Displacement(doc) => Scheme::Displacement(displacement(doc)),
        StepperDoc::Reduced(doc) => Scheme::Reduced(reduced(doc)),
    }
}

fn implicit(doc: &ImplicitDoc) -> Implicit {
    let mut implicit = Implicit::default();
    implicit.order = if doc.order == 2 { Order::Second } else { Order::First };
    implicit.newton_iterations = doc.newton_iterations;
    implicit.newton_tolerance = doc.newton_tolerance;
    implicit.most_substeps = doc.most_substeps;
    implicit.geometric_stiffness = doc.geometric_stiffness;
    implicit.form = match doc.solver {
        TreeSolverDoc::Pair => TreeForm::Pair,
        TreeSolverDoc::Block => TreeForm::Block,
    };
    implicit
}

fn explicit(doc: &ExplicitDoc) -> Explicit {
    let mut explicit = Explicit::default();
    explicit.baumgarte = doc.baumgarte;
    explicit.most_substeps = doc.most_substeps;
    explicit.method = match doc.method {
        ExplicitMethodDoc::Rk4 => RungeKutta::Fourth,
        ExplicitMethodDoc::Rk2 => RungeKutta::Second,
        ExplicitMethodDoc::Euler => RungeKutta::First,
    };
    explicit
}

fn displacement(doc: &DisplacementDoc) -> Displacement {
    let mut displacement = Displacement::default();
    displacement.jacobian = match doc.jacobian {
        JacobianPoseDoc::Start => JacobianAt::Start,
        JacobianPoseDoc::Predicted => JacobianAt::Predicted,
    };
    displacement.rotation = match doc.rotation {
        RotationStepDoc::Momentum => CarriedRotation::Momentum,
        RotationStepDoc::Exponential => CarriedRotation::Exponential,
        RotationStepDoc::Plain => CarriedRotation::Plain,
    };
    displacement.tolerance = doc.tolerance;
    displacement.iterations = doc.iterations;
    displacement.most_substeps = doc.most_substeps;
    displacement
}

fn reduced(doc: &ReducedDoc) -> Reduced {
    let method = match doc.method {
        ReducedMethodDoc::SymplecticEuler => ReducedMethod::SymplecticEuler,
        ReducedMethodDoc::Rk4 => ReducedMethod::Rk4,
        ReducedMethodDoc::Implicit => ReducedMethod::Implicit,
    };
    Reduced { method, most_substeps: doc.most_substeps }
}

fn loops(doc: &LoopsDoc) -> Loops {
    let mut loops = Loops::default();
    loops.warm_start = doc.warm_start;
    loops.solve.method = match (doc.solver, doc.method) {
        (LoopSolverDoc::StructuredDense | LoopSolverDoc::FullDense, _) => LoopMethod::Dense,
        (LoopSolverDoc::Auto, KrylovMethodDoc::ConjugateResidual) => LoopMethod::Auto,
        (LoopSolverDoc::StructuredDirect, _) => LoopMethod::Direct,
        (_, KrylovMethodDoc::ConjugateResidual) => LoopMethod::ConjugateResidual,
        (_, KrylovMethodDoc::ConjugateGradient) => LoopMethod::ConjugateGradient,
        (_, KrylovMethodDoc::BiConjugateGradient) => LoopMethod::BiConjugateGradient,
    };
    loops.solve.precondition = doc.precondition;
    loops.solve.precision = doc.precision;
    loops.solve.iterations = doc.iterations;
    loops.solve.restarts = doc.restarts;
    loops
}
