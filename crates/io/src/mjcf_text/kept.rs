//! What a writer keeps until its place in the file comes.

use std::collections::BTreeSet;

use sinew_scene::ContactDoc;

use crate::outgoing::OutGeom;

/// Two sites that stay together.
pub(super) struct HeldSites {
    pub(super) tag: &'static str,
    pub(super) name: String,
    pub(super) sites: [String; 2],
    pub(super) is_active: bool,
}

/// A tendon through sites.
pub(super) struct SiteTendon {
    pub(super) name: String,
    pub(super) sites: Vec<String>,
    pub(super) numbers: Vec<(&'static str, Vec<f64>)>,
}

/// Groups and what they touch, each pair that occurs once.
pub(super) struct ContactClasses(Vec<[u32; 2]>);

impl ContactClasses {
    pub(super) fn of(geoms: &[OutGeom]) -> Self {
        let contacts = geoms.iter().filter_map(|geom| geom.contact);
        let classes: BTreeSet<[u32; 2]> = contacts.map(|contact| [contact.groups, contact.touches]).collect();
        Self(classes.into_iter().collect())
    }

    /// `contype` and `conaffinity` of a surface; none if there are more classes than bits.
    pub(super) fn bits(&self, contact: &ContactDoc) -> Option<[u32; 2]> {
        let own = [contact.groups, contact.touches];
        let meet = |other: &[u32; 2]| own[0] & other[1] != 0 && other[0] & own[1] != 0;
        let at = self.0.iter().position(|class| *class == own)?;
        let bit = |at: usize| 1_u32 << at;
        let met = self.0.iter().enumerate().filter(|(_, other)| meet(other)).map(|(at, _)| bit(at));
        (self.0.len() <= 31).then(|| [bit(at), met.sum()])
    }
}

/// A state that grows with the joints that are written.
#[derive(Debug, Default)]
pub(super) struct KeyFrame {
    pub(super) coordinates: Vec<f64>,
    pub(super) rates: Vec<f64>,
    pub(super) controls: Vec<f64>,
    pub(super) has_coordinates: bool,
    pub(super) has_rates: bool,
}

impl KeyFrame {
    /// Adds coordinates and rates of a joint.
    pub(super) fn push(&mut self, coordinates: &[f64], rates: &[f64]) {
        self.coordinates.extend(coordinates);
        self.rates.extend(rates);
    }

    /// Notes that the pose of the file is not that of the beginning.
    pub(super) fn needs_coordinates(&mut self) {
        self.has_coordinates = true;
    }

    /// Notes rates, which a pose does not tell.
    pub(super) fn needs_rates(&mut self, rates: &[f64]) {
        self.has_rates |= rates.iter().any(|rate| rate.abs() > 1e-12);
    }
}
