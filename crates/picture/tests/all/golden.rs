//! Small pictures kept in the repository. A picture that was changed on purpose is found, after a failing run, in the
//! folder of temporary files that the message names; look at it, then copy it.

use std::path::Path;

use sinew_picture::{Renderer, encode_png};

use crate::files::{decode_png, difference};
use crate::{camera, still_life};

const SIZE: (usize, usize) = (120, 80);

#[test]
fn pictures_look_as_they_did() {
    let scene = still_life();
    let mut renderer = Renderer::new(SIZE.0, SIZE.1).unwrap();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let mut wrong = Vec::new();
    for name in ["corner", "side", "top"] {
        let image = renderer.render(&scene, &camera(&scene, name, SIZE));
        let wanted = std::fs::read(folder.join(format!("{name}.png"))).map(|bytes| decode_png(&bytes));
        if wanted.is_ok_and(|wanted| difference(image, &wanted) < 0.2) {
            continue;
        }
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.png"));
        let mut bytes = Vec::new();
        encode_png(image, &mut bytes).unwrap();
        std::fs::write(&path, bytes).unwrap();
        wrong.push(path);
    }
    assert!(wrong.is_empty(), "these pictures differ from tests/golden: {wrong:?}");
}
