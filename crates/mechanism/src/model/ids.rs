//! Typed, dense handles of a model: valid for the model that issued them, never reused.

sinew_math::define_index!(
    /// A body of a [`crate::Model`].
    BodyId
);
sinew_math::define_index!(
    /// A joint of a [`crate::Model`].
    JointId
);
sinew_math::define_index!(
    /// A rope or gear of a [`crate::Model`].
    TransmissionId
);
sinew_math::define_index!(
    /// A muscle in the flesh around the bodies of a [`crate::Model`].
    MuscleId
);
