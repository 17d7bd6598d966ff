//! Firmer, softer, slippier: factors on everything of one kind in a document.

use sinew_scene::{FleshMaterialDoc, GeneratorDoc, JointDoc, JointSpringDoc, SceneDoc};

/// Factors on a document as it was opened; 1 changes nothing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tuning {
    /// On the stiffness of joint springs.
    pub stiffness: f64,
    /// On the damping of joints.
    pub damping: f64,
    /// On Young's modulus of flesh.
    pub young: f64,
    /// On the friction of contacts.
    pub friction: f64,
}

impl Default for Tuning {
    fn default() -> Self {
        Self { stiffness: 1.0, damping: 1.0, young: 1.0, friction: 1.0 }
    }
}

impl Tuning {
    /// Multiplies everything in a document.
    pub fn apply(&self, doc: &mut SceneDoc) {
        doc.joints.iter_mut().for_each(|joint| self.joint(joint));
        for flesh in &mut doc.flesh {
            self.material(&mut flesh.material);
            flesh.contact.iter_mut().for_each(|contact| contact.friction *= self.friction);
        }
        doc.colliders.iter_mut().for_each(|collider| collider.contact.friction *= self.friction);
        for generator in &mut doc.generators {
            match generator {
                GeneratorDoc::Chain(chain) => self.joint(&mut chain.joint),
                GeneratorDoc::Tree(tree) => self.joint(&mut tree.joint),
                GeneratorDoc::Ladder(ladder) => ladder.damping *= self.damping,
                GeneratorDoc::Mesh(mesh) => mesh.damping *= self.damping,
                GeneratorDoc::Character(character) => {
                    self.spring(&mut character.joint);
                    self.material(&mut character.material);
                    character.contact.iter_mut().for_each(|contact| contact.friction *= self.friction);
                }
            }
        }
    }

    fn joint(&self, joint: &mut JointDoc) {
        joint.damping *= self.damping;
        joint.spring.iter_mut().for_each(|spring| self.spring(spring));
    }

    fn spring(&self, spring: &mut JointSpringDoc) {
        spring.stiffness *= self.stiffness;
        spring.damping *= self.damping;
    }

    fn material(&self, material: &mut FleshMaterialDoc) {
        match material {
            FleshMaterialDoc::StVenantKirchhoff { young, .. }
            | FleshMaterialDoc::NeoHookean { young, .. } => {
                *young *= self.young;
            }
        }
    }
}
