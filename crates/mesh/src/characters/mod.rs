//! Ready-made characters at the sizes of KP08 Table 2: worm, fish and finger; and a hand (Her11 Figure 1).

mod character;
mod finger;
mod fish;
mod hand;
mod worm;

pub use character::{Character, CharacterBone, CharacterJoint, CharacterLook, NodeHold, hold_by_distance};
pub use finger::finger;
pub use fish::fish;
pub use hand::hand;
pub use worm::{worm, worm_with_cells};
