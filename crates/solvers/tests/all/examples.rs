//! The examples do what they say.

#[path = "../../examples/beads.rs"]
#[expect(dead_code, reason = "an example is a program")]
mod beads;

#[test]
fn beads_swing_down_and_their_rods_keep_their_length() {
    let [height, error] = beads::run(&[0.05; 20], 96).expect("beads on rods");
    assert!(height < -0.4 && error < 1e-3, "{height} {error}");
}
