//! The examples.

macro_rules! programs {
    ($($name:ident = $path:literal),* $(,)?) => {
        $(
            #[path = $path]
            #[expect(dead_code, reason = "an example is a program")]
            pub(crate) mod $name;
        )*
    };
}

programs! {
    affine_chain = "../../solvers/examples/affine_chain.rs",
    beads = "../../solvers/examples/beads.rs",
    car = "../../sim/examples/car.rs",
    crane = "../../sim/examples/crane.rs",
    gripper = "../../sim/examples/gripper.rs",
    own_material = "../../fem/examples/own_material.rs",
    pendulum = "../../sim/examples/pendulum.rs",
    ragdoll = "../../sim/examples/ragdoll.rs",
    rollback = "../../sim/examples/rollback.rs",
    rollouts = "../../sim/examples/rollouts.rs",
    score = "../../sim/examples/score.rs",
    soft_arm = "../../sim/examples/soft_arm.rs",
    torque_arm = "../../sim/examples/torque_arm.rs",
}
