//! Statistics of flesh and contacts over all steps of a run: iterations, inverted tetrahedra, contacts, depth (m).

use serde::{Deserialize, Serialize};
use sinew_mechanism::CgStop;
use sinew_sim::{Groups, StepReport, World};

use crate::text::{count, quantity};

/// Sizes of the scene, and sums and maxima over the steps.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct FleshSummary {
    /// Bodies of flesh.
    pub(crate) bodies: usize,
    pub(crate) nodes: usize,
    pub(crate) tetrahedra: usize,
    /// Number of colliders; a body may have several.
    pub(crate) colliders: usize,
    /// Steps of scenes with flesh.
    pub(crate) steps: u64,
    /// Solver iterations, in total and at most per step.
    pub(crate) iterations: u64,
    pub(crate) max_iterations: u32,
    /// Steps whose last solve did not converge.
    pub(crate) unconverged: u64,
    /// Steps in which a tetrahedron had a non-finite force, which was ignored.
    pub(crate) non_finite: u64,
    /// Inverted tetrahedra, after the last step and at most.
    pub(crate) inverted: usize,
    pub(crate) max_inverted: usize,
    /// Mean share of diagonalized tetrahedra.
    pub(crate) diagonalized: f64,
    /// Largest number of simultaneous contacts, and the largest depth (m).
    pub(crate) max_contacts: usize,
    pub(crate) max_depth: f64,
    /// Flesh that passes the colliders of the scene, because it has no contact.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) without_contact: Vec<String>,
}

impl FleshSummary {
    /// A summary with sizes only; `None` if the world has neither flesh nor colliders.
    pub(crate) fn of(world: &World) -> Option<Self> {
        let flesh = world.model().flesh()?;
        let fems = || flesh.bodies().iter().map(|body| body.fem());
        let colliders = flesh.contact().into_iter().flat_map(|contact| contact.colliders());
        // What is only drawn is in no group.
        let colliders = colliders.filter(|collider| collider.groups() != Groups::NONE).count();
        if flesh.bodies().is_empty() && colliders == 0 {
            return None;
        }
        let passing =
            (0..flesh.bodies().len()).filter(|&i| colliders > 0 && !flesh.bodies()[i].has_contact());
        Some(Self {
            bodies: flesh.bodies().len(),
            nodes: fems().map(|fem| fem.n_nodes()).sum(),
            tetrahedra: fems().map(|fem| fem.n_tets()).sum(),
            colliders,
            without_contact: passing.map(|i| world.flesh_name(i).to_owned()).collect(),
            ..Self::default()
        })
    }

    /// Adds a step.
    pub(crate) fn note(&mut self, report: &StepReport) {
        let flesh = &report.flesh;
        let contacts = flesh.contacts;
        self.max_contacts = self.max_contacts.max(contacts.n_stick + contacts.n_slip + contacts.n_pulling);
        self.max_depth = self.max_depth.max(contacts.depth);
        if self.tetrahedra == 0 {
            return;
        }
        self.steps += 1;
        self.iterations += u64::from(flesh.iterations);
        self.max_iterations = self.max_iterations.max(flesh.iterations);
        self.unconverged += u64::from(flesh.solve.is_some_and(|solve| solve.stop != CgStop::Converged));
        self.non_finite += u64::from(flesh.elements.non_finite.is_some());
        self.inverted = flesh.elements.n_inverted;
        self.max_inverted = self.max_inverted.max(self.inverted);
        let share = flesh.elements.n_diagonalized as f64 / self.tetrahedra as f64;
        self.diagonalized += (share - self.diagonalized) / self.steps as f64;
    }

    /// Adds another run.
    pub(crate) fn merge(&mut self, other: &Self) {
        let steps = (self.steps + other.steps).max(1) as f64;
        let weight = |of: &Self| of.diagonalized * of.steps as f64 / steps;
        self.diagonalized = weight(self) + weight(other);
        self.steps += other.steps;
        self.iterations += other.iterations;
        self.max_iterations = self.max_iterations.max(other.max_iterations);
        self.unconverged += other.unconverged;
        self.non_finite += other.non_finite;
        self.inverted = other.inverted;
        self.max_inverted = self.max_inverted.max(other.max_inverted);
        self.max_contacts = self.max_contacts.max(other.max_contacts);
        self.max_depth = self.max_depth.max(other.max_depth);
    }

    /// Sizes as text: `2 bodies of flesh (250 nodes, 768 tetrahedra), 1 collider`.
    pub(crate) fn size(&self) -> String {
        let flesh = format!(
            "{} ({}, {})",
            count(self.bodies, "body of flesh", "bodies of flesh"),
            count(self.nodes, "node", "nodes"),
            count(self.tetrahedra, "tetrahedron", "tetrahedra"),
        );
        let colliders = count(self.colliders, "collider", "colliders");
        match (self.bodies, self.colliders) {
            (0, _) => colliders,
            (_, 0) => flesh,
            _ => format!("{flesh}, {colliders}"),
        }
    }

    /// Lines of the report.
    pub(crate) fn lines(&self) -> Vec<String> {
        let heading = if self.bodies == 0 { "touching" } else { "flesh   " };
        let mut lines = vec![format!("  {heading}       {}", self.size())];
        if self.steps > 0 {
            let details =
                [self.solver_text(), self.problem_text()].into_iter().filter(|text| !text.is_empty());
            lines.extend(details.map(|text| format!("                 {text}")));
        }
        if self.max_contacts > 0 {
            let (most, depth) = (self.max_contacts, quantity(1e3 * self.max_depth));
            lines.push(format!("  contacts       up to {most} at a time, up to {depth} mm deep"));
        }
        let note = |name: &String| {
            format!("  note           no collider stops flesh `{name}`: it has no `contact: ()`")
        };
        lines.extend(self.without_contact.iter().map(note));
        lines
    }

    /// Iterations and share of diagonalized tetrahedra. Explicit steps have no iterations and implicit steps
    /// diagonalize all tetrahedra; both are omitted.
    fn solver_text(&self) -> String {
        let (mean, most) = (quantity(self.iterations as f64 / self.steps as f64), self.max_iterations);
        let share = quantity(100.0 * self.diagonalized);
        joined(
            [
                (most > 0, format!("{mean} iterations per step (up to {most})")),
                (self.diagonalized <= 0.999, format!("{share} % of tetrahedra diagonalized")),
            ],
            ", ",
        )
    }

    /// Steps that did not converge, non-finite forces, inverted tetrahedra; empty if there were none.
    fn problem_text(&self) -> String {
        let non_finite = count(self.non_finite as usize, "step", "steps");
        let inverted = count(self.inverted, "tetrahedron is", "tetrahedra are");
        joined(
            [
                (
                    self.unconverged > 0,
                    format!("{} of {} steps did not converge", self.unconverged, self.steps),
                ),
                (self.non_finite > 0, format!("in {non_finite} forces were not finite and left out")),
                (
                    self.max_inverted > 0,
                    format!("{inverted} inverted at the end, up to {} during the run", self.max_inverted),
                ),
            ],
            "; ",
        )
    }
}

/// The texts whose condition holds.
fn joined<const N: usize>(texts: [(bool, String); N], separator: &str) -> String {
    let shown: Vec<String> = texts.into_iter().filter(|(holds, _)| *holds).map(|(_, text)| text).collect();
    shown.join(separator)
}

#[cfg(test)]
mod tests {
    use sinew_sim::StepReport;

    use super::FleshSummary;

    fn summary(diagonalized: &[usize]) -> FleshSummary {
        let mut summary = FleshSummary { tetrahedra: 10, bodies: 1, ..FleshSummary::default() };
        for &n in diagonalized {
            let mut report = StepReport::default();
            report.flesh.iterations = 4;
            report.flesh.elements.n_diagonalized = n;
            report.flesh.elements.n_inverted = n / 2;
            report.flesh.elements.non_finite = (n == 8).then_some(3);
            report.flesh.contacts.n_slip = n;
            report.flesh.contacts.depth = 1e-3 * n as f64;
            summary.note(&report);
        }
        summary
    }

    #[test]
    fn parts_add_up_to_the_whole() {
        let whole = summary(&[2, 8, 5, 0]);
        let mut parts = summary(&[2, 8]);
        parts.merge(&summary(&[5, 0]));
        assert!((whole.diagonalized - 0.375).abs() < 1e-12);
        assert!((parts.diagonalized - whole.diagonalized).abs() < 1e-12);
        assert_eq!((whole.iterations, whole.inverted, whole.max_inverted), (16, 0, 4));
        assert_eq!((parts.iterations, parts.inverted, parts.max_inverted), (16, 0, 4));
        assert_eq!((whole.max_contacts, parts.max_contacts), (8, 8));
        let text = whole.lines().join("\n");
        for words in
            ["4 iterations per step", "37.5 %", "inverted at the end, up to 4", "8 at a time, up to 8 mm"]
        {
            assert!(text.contains(words), "{words} is not in {text}");
        }
        let explicit = FleshSummary { max_iterations: 0, ..summary(&[2, 8]) }.lines().join("\n");
        assert!(!explicit.contains("iterations") && explicit.contains("50 %"), "{explicit}");
    }
}
