//! Landing: springs and dampers on the joints, all joints passive (KP08 §5).
//!
//! `τ = −k (q ⊖ rest) − c q̇` per dof, evaluated at the start of the step. Stiff springs should be stepped by
//! `sinew_recursive::Integrator::implicit`; see
//! [`ControlInput::implicit_springs`](crate::ControlInput::implicit_springs).

use sinew_recursive::{HybridCommand, JointMode, Springs, Tree};

use crate::{actuation::Actuation, error::ControlError, guide::check_coordinates, input::ControlContext};

/// The same spring (N·m/rad, N/m) and damper (N·m·s/rad, N·s/m) on every driven joint, none on passive ones. `rest`
/// holds the coordinates of the rest pose.
pub fn landing_springs(
    tree: &Tree,
    actuation: &Actuation,
    stiffness: f64,
    damping: f64,
    rest: Vec<f64>,
) -> Springs {
    let mut springs = Springs { rest, ..Springs::none(tree) };
    for link in tree.links().filter(|link| actuation.is_active(*link)) {
        springs.stiffness[tree.dofs(link)].fill(stiffness);
        springs.damping[tree.dofs(link)].fill(damping);
    }
    springs
}

pub(crate) fn check(springs: &Springs, tree: &Tree) -> Result<(), ControlError> {
    check_coordinates(tree, &springs.rest, "rest pose")?;
    for (what, values) in [("stiffness", &springs.stiffness), ("damping", &springs.damping)] {
        if values.len() != tree.n_dofs() {
            let (found, expected) = (values.len(), tree.n_dofs());
            return Err(ControlError::WrongSize { what, index: 0, found, expected });
        }
        if let Some(index) = values.iter().position(|x| !(*x >= 0.0 && x.is_finite())) {
            return Err(ControlError::NotValid { what, index, range: "finite and not negative" });
        }
    }
    Ok(())
}

/// All joints passive, with the torques of the springs unless the caller steps the springs implicitly.
pub(crate) fn command(springs: &Springs, at: &ControlContext<'_>, out: &mut HybridCommand) {
    out.modes.fill(JointMode::Passive);
    let explicit = if at.input.implicit_springs { 0.0 } else { 1.0 };
    at.tree.difference(&at.state.coordinates, &springs.rest, &mut out.values);
    for link in at.tree.links() {
        let driven = at.actuation.is_active(link);
        for dof in at.tree.dofs(link) {
            let spring =
                springs.stiffness[dof] * out.values[dof] + springs.damping[dof] * at.state.rates[dof];
            let given = if driven { 0.0 } else { at.input.torque(dof) };
            out.values[dof] = given - explicit * spring;
        }
    }
}
