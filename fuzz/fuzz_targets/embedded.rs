//! Bodies of flesh as `sinew embed` writes them.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sinew_fuzz::bounded;
use sinew_mesh::EmbeddedBody;

fuzz_target!(|data: &[u8]| {
    if let Ok(text) = std::str::from_utf8(data)
        && let Ok(body) = bounded(data, || ron::from_str::<EmbeddedBody>(text))
    {
        let mut points = vec![Default::default(); body.surface().positions().len()];
        body.fill_surface(body.nodes(), &mut points);
    }
});
