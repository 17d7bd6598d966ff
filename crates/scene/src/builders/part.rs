//! The lists of a scene, and scenes put together in code.

use crate::doc::{
    BodyDoc, CameraDoc, ColliderDoc, FleshDoc, GearDoc, InputDoc, JointDoc, PairDoc, RopeDoc, SceneDoc,
    SpringDoc, SurfaceDoc, TrackDoc,
};

/// A document that a scene has a list of.
pub trait ScenePart: Clone + PartialEq + sealed::Listed + 'static {
    /// Number of its list among those of a scene.
    const LIST: usize;
    /// What its items are called, where they have no name.
    const WORD: &'static str;

    /// Its list.
    fn list(scene: &SceneDoc) -> &Vec<Self>;

    /// Its list, to be changed.
    fn list_mut(scene: &mut SceneDoc) -> &mut Vec<Self>;

    /// Its name; none for what has no name of its own.
    fn name(&self) -> Option<&str>;

    /// Gives it a name.
    fn set_name(&mut self, name: String);

    /// Whether it is called so: by its own name, or as events and rules call it.
    fn is_called(&self, name: &str) -> bool {
        self.name() == Some(name)
    }
}

mod sealed {
    /// Only documents of scenes are parts.
    pub trait Listed {}
}

/// Number of lists.
pub(crate) const N_LISTS: usize = 12;

/// Calls a generic method once for every list of a scene.
macro_rules! for_each_list {
    ($target:ident.$method:ident($($argument:expr),*)) => {
        $target.$method::<crate::doc::BodyDoc>($($argument),*);
        $target.$method::<crate::doc::JointDoc>($($argument),*);
        $target.$method::<crate::doc::SpringDoc>($($argument),*);
        $target.$method::<crate::doc::RopeDoc>($($argument),*);
        $target.$method::<crate::doc::GearDoc>($($argument),*);
        $target.$method::<crate::doc::SurfaceDoc>($($argument),*);
        $target.$method::<crate::doc::FleshDoc>($($argument),*);
        $target.$method::<crate::doc::ColliderDoc>($($argument),*);
        $target.$method::<crate::doc::PairDoc>($($argument),*);
        $target.$method::<crate::doc::TrackDoc>($($argument),*);
        $target.$method::<crate::doc::InputDoc>($($argument),*);
        $target.$method::<crate::doc::CameraDoc>($($argument),*);
    };
}
pub(crate) use for_each_list;

macro_rules! parts {
    (@name) => {
        fn name(&self) -> Option<&str> {
            None
        }

        fn set_name(&mut self, _: String) {}
    };
    (@name known_as) => {
        parts!(@name);

        fn is_called(&self, name: &str) -> bool {
            self.known_as() == name
        }
    };
    (@name $name:ident) => {
        fn name(&self) -> Option<&str> {
            Some(&self.$name)
        }

        fn set_name(&mut self, name: String) {
            self.$name = name;
        }
    };
    ($($list:literal $word:literal $type:ident $field:ident $($name:ident)?;)*) => {$(
        impl sealed::Listed for $type {}

        impl ScenePart for $type {
            const LIST: usize = $list;
            const WORD: &'static str = $word;

            fn list(scene: &SceneDoc) -> &Vec<Self> {
                &scene.$field
            }

            fn list_mut(scene: &mut SceneDoc) -> &mut Vec<Self> {
                &mut scene.$field
            }

            parts!(@name $($name)?);
        }
    )*};
}

parts! {
    0 "body" BodyDoc bodies name;
    1 "joint" JointDoc joints name;
    2 "spring" SpringDoc springs name;
    3 "rope" RopeDoc ropes name;
    4 "gear" GearDoc gears name;
    5 "surface" SurfaceDoc surfaces name;
    6 "flesh" FleshDoc flesh name;
    7 "collider" ColliderDoc colliders known_as;
    8 "pair" PairDoc pairs;
    9 "track" TrackDoc tracks name;
    10 "input" InputDoc inputs;
    11 "camera" CameraDoc cameras name;
}

impl SceneDoc {
    /// An empty scene.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), ..Self::default() }
    }

    /// The scene with one more body, joint, collider, …
    #[must_use]
    pub fn with(mut self, part: impl ScenePart) -> Self {
        ScenePart::list_mut(&mut self).push(part);
        self
    }
}
