//! What steps, measures and assemblies tell, as values of Python.

use pyo3::prelude::*;
use sinew_mechanism::{AssemblyOutcome, AssemblyReport};
use sinew_sim::{Energy, NoticeCount, StepReport};

/// What a step did.
///
/// >>> import sinew
/// >>> report = sinew.load("chain_10").step(3)
/// >>> report.index, report.is_good
/// (3, True)
#[pyclass(name = "StepReport", module = "sinew", frozen)]
pub(crate) struct PyStepReport(pub(crate) StepReport);

#[pymethods]
impl PyStepReport {
    /// The number of the step, from 1.
    #[getter]
    fn index(&self) -> u64 {
        self.0.index
    }

    /// The time after it, s.
    #[getter]
    fn time(&self) -> f64 {
        self.0.time
    }

    /// Whether nothing is wrong with it.
    #[getter]
    fn is_good(&self) -> bool {
        self.0.health.is_good()
    }

    /// Whether the step could not be made at all, because the state is not finite.
    #[getter]
    fn refused(&self) -> bool {
        self.0.health.refused
    }

    /// Inputs that were left out.
    #[getter]
    fn ignored_inputs(&self) -> u32 {
        self.0.health.ignored_inputs
    }

    /// Bodies that sleep.
    #[getter]
    fn asleep(&self) -> u32 {
        self.0.asleep
    }

    /// Largest gap of a joint, m.
    #[getter]
    fn position_error(&self) -> f64 {
        self.0.mechanism.position_error
    }

    /// The notices of this step by name, as ``docs/guide/health.md`` lists them; ``world.notices`` tells them in words.
    #[getter]
    fn notices(&self) -> Vec<String> {
        self.0.notices().map(|(notice, _)| name_of(&notice)).collect()
    }

    fn __repr__(&self) -> String {
        let notices = self.notices();
        let told = if notices.is_empty() { "good".to_owned() } else { notices.join(", ") };
        format!("StepReport(index={}, time={:.6}, {told})", self.0.index, self.0.time)
    }
}

/// The name of a notice, as reports of the command write it.
fn name_of(notice: &impl serde::Serialize) -> String {
    ron::to_string(notice).unwrap_or_default()
}

/// Mechanical energy, J.
#[pyclass(name = "Energy", module = "sinew", frozen, get_all)]
pub(crate) struct PyEnergy {
    /// Of motion.
    kinetic: f64,
    /// Of height.
    gravity: f64,
    /// In springs, limits and flesh.
    elastic: f64,
    /// The sum.
    total: f64,
}

impl From<Energy> for PyEnergy {
    fn from(energy: Energy) -> Self {
        Self {
            kinetic: energy.kinetic,
            gravity: energy.gravity,
            elastic: energy.elastic,
            total: energy.total(),
        }
    }
}

#[pymethods]
impl PyEnergy {
    fn __repr__(&self) -> String {
        let Self { kinetic, gravity, elastic, total } = self;
        format!("Energy(kinetic={kinetic:?}, gravity={gravity:?}, elastic={elastic:?}, total={total:?})")
    }

    fn __float__(&self) -> f64 {
        self.total
    }
}

/// Something that steps told, once with how often and since when.
#[pyclass(name = "Notice", module = "sinew", frozen, get_all)]
pub(crate) struct PyNotice {
    /// Its name, as ``docs/guide/health.md`` lists it.
    name: String,
    /// In words, with the body or joint of the first time.
    what: String,
    /// How many steps told it.
    steps: u64,
    /// The first of them.
    first_step: u64,
    /// Whether the result is not what the scene asks for; else it is worth knowing.
    is_warning: bool,
}

impl From<&NoticeCount> for PyNotice {
    fn from(count: &NoticeCount) -> Self {
        Self {
            name: name_of(&count.notice),
            what: count.what.clone(),
            steps: count.steps,
            first_step: count.first_step,
            is_warning: count.notice.is_warning(),
        }
    }
}

#[pymethods]
impl PyNotice {
    fn __repr__(&self) -> String {
        let Self { name, what, steps, first_step, .. } = self;
        format!("Notice({name}: {what}; {steps} steps since step {first_step})")
    }
}

/// How an assembly, or inverse kinematics, ended.
#[pyclass(name = "AssemblyReport", module = "sinew", frozen, get_all)]
pub(crate) struct PyAssemblyReport {
    /// ``"assembled"``, ``"least_squares"`` (as near as the joints allow), ``"unfinished"`` or ``"refused"``.
    outcome: &'static str,
    /// Iterations made.
    iterations: u32,
    /// Largest gap that is left, m.
    position_error: f64,
    /// Largest angle that is left, rad.
    rotation_error: f64,
}

impl From<AssemblyReport> for PyAssemblyReport {
    fn from(report: AssemblyReport) -> Self {
        let outcome = match report.outcome {
            AssemblyOutcome::Assembled => "assembled",
            AssemblyOutcome::LeastSquares => "least_squares",
            AssemblyOutcome::Refused => "refused",
            _ => "unfinished",
        };
        Self {
            outcome,
            iterations: report.iterations,
            position_error: report.position_error,
            rotation_error: report.rotation_error,
        }
    }
}

#[pymethods]
impl PyAssemblyReport {
    fn __repr__(&self) -> String {
        let Self { outcome, iterations, position_error, rotation_error } = self;
        format!(
            "AssemblyReport({outcome}, iterations={iterations}, position_error={position_error:.3e}, rotation_error={rotation_error:.3e})"
        )
    }
}
