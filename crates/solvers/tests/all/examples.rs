//! The examples do what they say.

#[path = "../../examples/beads.rs"]
#[expect(dead_code, reason = "an example is a program")]
mod beads;

#[test]
fn rods_hold_a_ball_ten_thousand_times_as_heavy_as_the_beads() {
    let mut masses = vec![0.01; 20];
    masses[19] = 100.0;
    let [height, error] = beads::run(&masses, 96).expect("beads on rods");
    assert!(height < -0.5 && error < 2e-3, "{height} {error}");
}
