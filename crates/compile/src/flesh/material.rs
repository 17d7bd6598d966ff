//! Elastic materials of flesh (Pa), and contact materials of the points of its surface (N/m).

use sinew_contact::ContactMaterial;
use sinew_fem::{Extension, FemError, Flow, Material, Plasticity, Strain, StretchBand, Viscosity};
use sinew_mesh::EmbeddedBody;
use sinew_scene::{
    ContactDoc, ExtensionDoc, FleshDoc, FleshMaterialDoc, FleshMeshDoc, FleshSteppingDoc, PlasticDoc,
    RegionDoc, StrainDoc, ViscousDoc,
};

use crate::colliders::with_firmness;

/// Depth at which contacts of flesh are damped critically, m.
const CONTACT_DEPTH: f64 = 1e-4;

/// The elastic material of a document.
pub(super) fn material(doc: &FleshDoc) -> Result<Material, FemError> {
    let (young, poisson) = doc.material.elasticity();
    material_with(doc, young, poisson)
}

/// The elastic material of a document with another Young's modulus (Pa) and Poisson's ratio.
pub(super) fn material_with(doc: &FleshDoc, young: f64, poisson: f64) -> Result<Material, FemError> {
    match doc.material {
        FleshMaterialDoc::StVenantKirchhoff { band, extension, .. } => {
            let extension = match (extension, doc.stepping) {
                (ExtensionDoc::PerStretch, _) => Extension::PerStretch,
                (ExtensionDoc::Conservative, _) => Extension::Conservative,
                (ExtensionDoc::Auto, FleshSteppingDoc::Implicit) => Extension::Conservative,
                (ExtensionDoc::Auto, FleshSteppingDoc::Explicit { .. }) => Extension::PerStretch,
            };
            let band = StretchBand::new(band[0], band[1])?;
            Ok(Material::st_venant_kirchhoff(young, poisson)?.with_band(band).with_extension(extension))
        }
        FleshMaterialDoc::NeoHookean { .. } => Material::neo_hookean(young, poisson),
    }
}

/// How the material of a document and those of its regions flow, from region 0 on; nothing if none does.
pub(super) fn flows(doc: &FleshDoc) -> Vec<Flow> {
    let flow = |plastic: Option<PlasticDoc>, viscous: Option<ViscousDoc>| Flow {
        plasticity: plastic.map(|PlasticDoc { yield_stress, hardening, largest_stretch }| Plasticity {
            yield_pa: yield_stress,
            hardening_pa: hardening,
            largest_stretch,
        }),
        viscosity: viscous
            .filter(|viscous| viscous.ratio > 0.0)
            .map(|ViscousDoc { ratio, time_s }| Viscosity { ratio, time_s }),
    };
    let (plastic, viscous) = doc.material.flow();
    let own = |region: &RegionDoc| flow(region.plastic.or(plastic), region.viscous.or(viscous));
    std::iter::once(flow(plastic, viscous)).chain(doc.regions.iter().map(own)).collect()
}

/// Whose strain has energy, as a document says. The flesh of characters is so coarse that their hinges fold it further than mean
/// strain resists.
pub(super) fn strain(doc: &FleshDoc) -> Strain {
    match (doc.strain, doc.stepping, &doc.mesh) {
        (StrainDoc::Mean, _, _) => Strain::Mean,
        (StrainDoc::Local, _, _)
        | (StrainDoc::Auto, FleshSteppingDoc::Explicit { .. }, _)
        | (StrainDoc::Auto, _, FleshMeshDoc::Character { .. }) => Strain::Local,
        (StrainDoc::Auto, FleshSteppingDoc::Implicit, _) => Strain::Mean,
    }
}

/// The contact material of one of the surface points of flesh of a mass (kg), given with their number.
///
/// Without given numbers it is firm enough to carry the flesh on a tenth of the points, and ten times as firm as the stiffest flesh:
/// `E a/ℓ` with the area `a` of a point and the size `ℓ` of a tetrahedron. Pressed flesh then yields before its contact does.
pub(super) fn surface_point_material(
    contact: &ContactDoc,
    doc: &FleshDoc,
    flesh: &EmbeddedBody,
    (mass, n_points): (f64, usize),
) -> ContactMaterial {
    let n_points = n_points as f64;
    let carried = 10.0 * mass / n_points;
    let by_mass = ContactMaterial::for_mass(carried, contact.friction);
    let of_regions = doc.regions.iter().filter_map(|region| region.young);
    let ratio =
        flows(doc).iter().filter_map(|flow| flow.viscosity).fold(0.0, |most: f64, v| most.max(v.ratio));
    let young = of_regions.fold(doc.material.elasticity().0, f64::max) * (1.0 + ratio);
    let (volume, n_tets) = (flesh.surface().volume(), flesh.tets().len() as f64);
    let size = sinew_math::ops::pow(volume / n_tets, 1.0 / 3.0);
    let stiffness = 10.0 * young * (flesh.surface().area() / n_points) / size;
    let firm = ContactMaterial::for_load(stiffness * CONTACT_DEPTH, carried, CONTACT_DEPTH, contact.friction);
    with_firmness(contact, if stiffness > by_mass.stiffness { firm } else { by_mass })
}
