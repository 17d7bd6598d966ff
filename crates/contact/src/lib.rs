#![doc = include_str!("../README.md")]

// Modules of one group use each other, and those of the groups above.
mod error;
mod face_polygon;
mod material;
mod nearest;
mod ray_triangle;
mod touch_events;
mod turning;

mod convex_hull;
mod mesh_features;
mod primitives;
mod refit_tree;

mod facet_surface;
mod field_facets;
mod height_field;
mod tri_mesh;

mod cell_part;
mod hull_reach;

mod hull_cutting;
mod hull_joining;

mod decomposition;
mod shape;
mod shape_nearest;
mod shape_ray;
mod skin;

mod contact_force;
mod contact_point;
mod contact_step;
mod potential;

mod anchors;
mod collider;
mod pair_rules;
mod solve;

mod placed;
mod skin_sides;

mod box_separation;
mod broad_phase;
mod capsule_pair;
mod convex_pair;
mod edge_touch;
mod ground_points;
mod shape_overlap;

mod mesh_pair;
mod placed_skin;

mod narrow_phase;
mod shape_cast;
mod skin_search;

mod model;
mod passages;
mod point_contacts;

mod probe;
mod sensors;
mod skin_contacts;
mod skin_edges;
mod skin_pair;
mod way_contacts;

pub use anchors::{Anchors, ContactAnchor};
pub use collider::{Collider, Groups};
pub use contact_force::ContactForce;
pub use contact_point::{ContactKey, ContactPoint, Impact, Mover, Opposite, Owner};
pub use contact_step::{ContactRow, ContactStart, ContactStep, Grip};
pub use convex_hull::ConvexHull;
pub use decomposition::{DecomposeOptions, Decomposition};
pub use error::ContactError;
pub use height_field::HeightField;
pub use material::{ContactLaw, ContactMaterial};
pub use model::{ContactModel, ContactReport, ContactWorkspace};
pub use pair_rules::PairRule;
pub use placed_skin::{FleshOutline, PlacedSkin, SkinBoxes};
pub use point_contacts::PointCloud;
pub use potential::{ContactPotential, ContactSlope};
pub use probe::{Probe, RayCast, SurfaceHit};
pub use sensors::SensorModel;
pub use shape::ContactShape;
pub use skin::{FittedSkin, Skin};
pub use skin_contacts::{SkinCloud, SkinContacts};
pub use skin_pair::{FacePlace, MeetingBuffers, MovingSkin, SkinMeeting};
pub use skin_search::SkinContact;
pub use solve::{Approach, ContactSolve, ContactSummary};
pub use touch_events::{ContactEvent, ContactEvents, TouchPair, TouchPhase, TouchSide};
pub use tri_mesh::TriMesh;
pub use turning::TurningLaw;
pub use way_contacts::{PairWay, WayContact};
