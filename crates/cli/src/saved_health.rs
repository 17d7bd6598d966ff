//! The health of a run with all that its report leaves out, for checkpoints.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sinew_sim::{Culprit, HealthNotice};

use crate::health_summary::{EnergyWatch, HealthSummary};

/// What is not in the report: the sort and the culprit of each notice.
type Sorts = Vec<(HealthNotice, Culprit)>;

pub(crate) fn serialize<S: Serializer>(health: &HealthSummary, serializer: S) -> Result<S::Ok, S::Error> {
    let sorts: Sorts = health.notices.iter().map(|known| (known.notice, known.culprit)).collect();
    (health, sorts, &health.watch).serialize(serializer)
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<HealthSummary, D::Error> {
    let (mut health, sorts, watch) = <(HealthSummary, Sorts, EnergyWatch)>::deserialize(deserializer)?;
    for (known, (notice, culprit)) in health.notices.iter_mut().zip(sorts) {
        (known.notice, known.culprit) = (notice, culprit);
    }
    health.watch = watch;
    Ok(health)
}
