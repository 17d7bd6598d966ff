//! Bodies as RON.

use glam::DVec3;
use sinew_mesh::{EmbeddedBody, Filling, Lattice};
use sinew_testkit::Rng;

use crate::shapes::lump;

fn text(body: &EmbeddedBody) -> String {
    ron::ser::to_string_pretty(body, ron::ser::PrettyConfig::default().depth_limit(2)).unwrap()
}

#[test]
fn a_body_comes_back_bit_for_bit() {
    let surface = lump(&mut Rng::new(9), 0.12);
    let body = EmbeddedBody::in_lattice(surface, &Lattice::longest(4), &Filling::default()).unwrap();
    let back: EmbeddedBody = ron::from_str(&text(&body)).unwrap();
    assert_eq!(back, body);
}

#[test]
fn tampering_is_found() {
    let body =
        EmbeddedBody::from_tets(sinew_mesh::beam(DVec3::ONE, [1; 3]).unwrap(), &Filling::default()).unwrap();
    let good = text(&body);
    let fault = |from: &str, to: &str, what: &str| {
        let bad = good.replacen(from, to, 1);
        assert_ne!(bad, good, "{from} is not in the text");
        let error = ron::from_str::<EmbeddedBody>(&bad).unwrap_err().to_string();
        assert!(error.contains(what), "{error}");
    };
    fault("format: 1", "format: 2", "format 2 is unknown");
    fault("format: 1,", "", "format");
    fault("n_raised", "raised", "raised");
    fault("(1.0, 1.0, 1.0)", "(1.0, 1.0, 7.0)", "anchors");
    fault("(1.0, 1.0, 1.0)", "(1.0, 1.0, -7.0)", "inverted");
    fault("(1.0, 1.0, 1.0)", "(1.0, 1.0, NaN)", "NaN");
    fault("fill: [", "fill: [1.0,", "fill: the list has 7 entries and must have 6");
    fault("fill: [\n        1.0,", "fill: [1.5,", "fill 0: must be from 0 to 1");
    fault("masses: [\n        ", "masses: [\n        -", "masses 0: must be positive");
    fault("tet: 5", "tet: 600", "refers to tetrahedron 600");
    fault("weights: (1.0", "weights: (0.5", "anchors");
    fault("weights: (1.0", "weights: (NaN", "anchors");
}
