//! `sinew embed`: from a surface in a file to a body in a file.

use std::fs;
use std::path::Path;

use sinew_mesh::{Cells, EmbeddedBody, Filling, Lattice, MeshError, Pattern, Surface, TetGen, TetMesh};

use crate::Failure;
use crate::args::EmbedArgs;
use crate::report::count;
use crate::svg::quantity;

/// Reads, embeds, writes; returns what there is to say.
pub(crate) fn embed(args: &EmbedArgs) -> Result<String, Failure> {
    let name = args.surface.display();
    let failure = |error: MeshError| Failure(format!("{name}: {error}"));
    if !(args.scale.is_finite() && args.scale > 0.0) {
        return Err(Failure(format!("the scale is {}, must be positive", args.scale)));
    }
    let filling = Filling { density: args.density, mass_floor: args.mass_floor };
    let (body, note) = match ending(&args.surface).as_str() {
        "obj" | "stl" => {
            let surface = read_surface(args)?;
            let note = if surface.was_flipped() { "; faced inward, flipped" } else { "" };
            let pattern = if args.bricks { Pattern::Bricks } else { Pattern::BodyCentred };
            let lattice = Lattice { cells: Cells::Longest(args.cells), pattern };
            (EmbeddedBody::in_lattice(surface, &lattice, &filling).map_err(failure)?, note.to_owned())
        }
        "ele" | "node" => {
            let tetgen = read_tetgen(args)?;
            let note = format!(
                "; {} turned, {} left out",
                count(tetgen.n_turned, "inverted tetrahedron", "inverted tetrahedra"),
                count(tetgen.n_unused, "unused node", "unused nodes"),
            );
            (EmbeddedBody::from_tets(tetgen.mesh, &filling).map_err(failure)?, note)
        }
        _ => return Err(Failure(format!("{name}: wanted is a file ending in .obj, .stl, .ele or .node"))),
    };
    let mut text = format!("{name}: {}{note}\n{}", size(&body), quality(&body));
    if let Some(path) = &args.output {
        write(path, &body)?;
        text += &format!("\n  wrote          {} (the body)", path.display());
    }
    Ok(text)
}

fn ending(path: &Path) -> String {
    path.extension().map(|ending| ending.to_string_lossy().to_ascii_lowercase()).unwrap_or_default()
}

fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    fs::read(path).map_err(|error| Failure(format!("{}: cannot read: {error}", path.display())))
}

fn read_surface(args: &EmbedArgs) -> Result<Surface, Failure> {
    let bytes = read(&args.surface)?;
    let surface =
        if ending(&args.surface) == "obj" { Surface::from_obj(&bytes) } else { Surface::from_stl(&bytes) };
    let scaled = surface.and_then(|surface| match args.scale {
        1.0 => Ok(surface),
        scale => surface.scaled(scale),
    });
    scaled.map_err(|error| Failure(format!("{}: {error}", args.surface.display())))
}

fn read_tetgen(args: &EmbedArgs) -> Result<TetGen, Failure> {
    let [node, ele] = ["node", "ele"].map(|ending| args.surface.with_extension(ending));
    let failure = |error: MeshError| Failure(format!("{}: {error}", args.surface.display()));
    let mut tetgen = TetGen::from_bytes(&read(&node)?, &read(&ele)?).map_err(failure)?;
    let nodes = tetgen.mesh.nodes().iter().map(|&x| x * args.scale).collect();
    tetgen.mesh = TetMesh::new(nodes, tetgen.mesh.tets().to_vec()).map_err(failure)?;
    Ok(tetgen)
}

fn write(path: &Path, body: &EmbeddedBody) -> Result<(), Failure> {
    let cannot = |error: &dyn std::fmt::Display| Failure(format!("cannot write {}: {error}", path.display()));
    let pretty = ron::ser::PrettyConfig::default().depth_limit(2).indentor("  ");
    let mut text = ron::ser::to_string_pretty(body, pretty).map_err(|error| cannot(&error))?;
    text.push('\n');
    fs::write(path, text).map_err(|error| cannot(&error))
}

/// How large surface and body are.
fn size(body: &EmbeddedBody) -> String {
    format!(
        "{}, {}, {} m³",
        count(body.surface().positions().len(), "vertex", "vertices"),
        count(body.surface().triangles().len(), "triangle", "triangles"),
        quantity(body.surface().volume()),
    )
}

/// How good the body is, one line per aspect.
fn quality(body: &EmbeddedBody) -> String {
    let quality = body.quality();
    let [least, largest] = quality.dihedral.map(f64::to_degrees);
    let mut lines = vec![
        format!(
            "body           {}, {}, {} kg",
            count(body.nodes().len(), "node", "nodes"),
            count(body.tets().len(), "tetrahedron", "tetrahedra"),
            quantity(quality.mass),
        ),
        format!("angles         {least:.1}° to {largest:.1}° between faces (70.5° is best)"),
        format!(
            "shapes         aspect up to {:.2} (1 is best), largest volume {} × smallest",
            quality.max_aspect,
            quantity(quality.volume_ratio)
        ),
        format!(
            "fill           {:.0} % on average, {:.2} % at least",
            100.0 * quality.mean_fill,
            100.0 * quality.min_fill
        ),
        format!("masses         heaviest node {} × lightest", quantity(quality.mass_ratio)),
    ];
    if quality.n_raised > 0 {
        lines.push(format!("mass floor     {} made heavier", count(quality.n_raised, "node", "nodes")));
    }
    if quality.n_pieces > 1 {
        lines.push(format!("pieces         {} that nothing holds together", quality.n_pieces));
    }
    lines.iter().map(|line| format!("  {line}")).collect::<Vec<_>>().join("\n")
}
