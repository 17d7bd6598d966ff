//! The health of a run with the watch over its energy, which the report leaves out, for checkpoints.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::health_summary::{EnergyWatch, HealthSummary};

pub(crate) fn serialize<S: Serializer>(health: &HealthSummary, serializer: S) -> Result<S::Ok, S::Error> {
    (health, &health.watch).serialize(serializer)
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<HealthSummary, D::Error> {
    let (mut health, watch) = <(HealthSummary, EnergyWatch)>::deserialize(deserializer)?;
    health.watch = watch;
    Ok(health)
}
