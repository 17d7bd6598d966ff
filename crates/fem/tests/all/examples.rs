//! The examples do what they say.

#[path = "../../examples/own_material.rs"]
#[expect(dead_code, reason = "an example is a program")]
mod own_material;

#[test]
fn rubber_of_a_law_of_ones_own_takes_its_shape_again() {
    let [[early, _], [error, momentum]] = [10, 10_000].map(|n| own_material::run(n).unwrap().1);
    assert!(early > 0.05 && error < 1e-5 && momentum < 1e-12, "{early} {error} {momentum}");
}
