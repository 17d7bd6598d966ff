//! Vectors that were left out of the text of a scene, found by trying: one reading of the text per usual value.

use crate::outline::TextNode;
use crate::path::{Step, replace};
use crate::read::{outline, read};

/// Vectors that scenes have where they were left out.
const USUAL: [&str; 9] = [
    "(0, 0, 0)",
    "(0, 0, -9.81)",
    "(1, 0, 0)",
    "(0, 1, 0)",
    "(0, 0, 1)",
    "(1, 1, 1)",
    "(0, 0)",
    "(0, 0, 0, 1)",
    "(1, 1, 1, 1)",
];

/// `text` with the vector of a path at which nothing is written, and that vector; none if the scene has no vector there.
pub(crate) fn left_out_vector(
    text: &str,
    root: &TextNode<'_>,
    parent: &[Step<'_>],
) -> Option<(String, &'static str)> {
    let before = read(text, root).ok()?;
    USUAL.iter().find_map(|usual| {
        let (edited, _) = replace(text, root, parent, usual)?;
        let same = outline(&edited).ok().and_then(|root| read(&edited, &root).ok())? == before;
        same.then_some((edited, *usual))
    })
}
