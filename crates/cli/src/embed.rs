//! `sinew embed`: from a surface file to a file with an embedded body (tetrahedra, masses, surface).

use std::{fs, path::Path};

use serde::Serialize;
use sinew_mesh::{
    Cells, EmbeddedBody, Filling, Lattice, MeshError, Pattern, Quality, SURFACE_ENDINGS, Surface,
    TET_FILE_ENDINGS, TetFile, TetMesh,
};

use crate::disk::write_file;
use crate::error::{CommandError, Failure, WriteError, json};
use crate::output_check::{self, OutputForm, WantedOutput};
use crate::text::{count, quantity};
use crate::{args::EmbedArgs, progress};

/// Steps of the progress bar.
const STEPS: f64 = 1000.0;

/// Size and quality of a body.
#[derive(Serialize)]
struct EmbedReport {
    /// Input file.
    file: String,
    /// Size of the surface.
    vertices: usize,
    triangles: usize,
    /// Volume inside the surface (m³).
    volume: f64,
    nodes: usize,
    tetrahedra: usize,
    /// Whether the triangles of the surface faced inward and were flipped.
    flipped: bool,
    /// Inverted tetrahedra that were corrected, and nodes without tetrahedra that were removed.
    turned: usize,
    unused: usize,
    /// Angles in radians, masses in kilograms.
    quality: Quality,
    /// Output file.
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<String>,
}

/// Reads a surface or a mesh, embeds it, writes the body, and returns the report.
pub(crate) fn embed(args: &EmbedArgs) -> Result<String, Failure> {
    let name = args.surface.display();
    if !(args.scale.is_finite() && args.scale > 0.0) {
        let problem = format!("--scale is {}, but must be positive and finite", args.scale);
        return Err(CommandError(problem).into());
    }
    if let Some(path) = &args.output {
        let wanted = WantedOutput { option: "--output", path: path.clone(), form: OutputForm::File };
        let read = ["node", "ele"].map(|ending| args.surface.with_extension(ending));
        output_check::check(&[wanted], &[std::slice::from_ref(&args.surface), &read].concat())?;
    }
    let filling = Filling { density: args.density, mass_floor: args.mass_floor };
    let (mut flipped, mut turned, mut unused) = (false, 0, 0);
    let ending = ending(&args.surface);
    let body = match ending.as_str() {
        known if SURFACE_ENDINGS.contains(&known) => {
            let surface = read_surface(args)?;
            flipped = surface.was_flipped();
            from_surface(args, surface, &filling)?
        }
        known if is_mesh(known) => {
            let file = read_tets(args)?;
            (turned, unused) = (file.n_turned, file.n_unused);
            EmbeddedBody::from_tets(file.mesh, &filling).map_err(|error| located(args, &error))?
        }
        _ => {
            let known = "obj, .stl, .ply, .ele, .node, .msh, .vtk or .vtu";
            return Err(CommandError(format!("{name}: expected a file ending in .{known}")).into());
        }
    };
    if let Some(path) = &args.output {
        write(path, &body)?;
    }
    let report = EmbedReport {
        file: name.to_string(),
        vertices: body.surface().positions().len(),
        triangles: body.surface().triangles().len(),
        volume: body.surface().volume(),
        nodes: body.nodes().len(),
        tetrahedra: body.tets().len(),
        flipped,
        turned,
        unused,
        quality: body.quality(),
        output: args.output.as_ref().map(|path| path.display().to_string()),
    };
    if args.json { Ok(json(&report)?) } else { Ok(report.to_text(is_mesh(&ending))) }
}

/// Whether files with an ending hold tetrahedra.
fn is_mesh(ending: &str) -> bool {
    matches!(ending, "ele" | "node") || TET_FILE_ENDINGS.contains(&ending)
}

/// A lattice of tetrahedra around a surface, with a progress bar.
fn from_surface(args: &EmbedArgs, surface: Surface, filling: &Filling) -> Result<EmbeddedBody, CommandError> {
    let pattern = if args.bricks { Pattern::Bricks } else { Pattern::BodyCentred };
    let lattice = Lattice { cells: Cells::Longest(args.cells), pattern };
    let bar = progress::bar(STEPS as u64, &args.surface.display().to_string(), None);
    let mut advance = |share: f64| bar.set_position((STEPS * share) as u64);
    let body = EmbeddedBody::in_lattice_observed(surface, &lattice, filling, &mut advance);
    bar.finish_and_clear();
    Ok(body.map_err(|error| located(args, &error))?.with_fill_floor(args.mass_floor))
}

fn located(args: &EmbedArgs, error: &MeshError) -> CommandError {
    CommandError(format!("{}: {error}", args.surface.display()))
}

fn ending(path: &Path) -> String {
    path.extension().map(|ending| ending.to_string_lossy().to_ascii_lowercase()).unwrap_or_default()
}

fn read(path: &Path) -> Result<Vec<u8>, CommandError> {
    fs::read(path).map_err(|error| CommandError(format!("{}: cannot read: {error}", path.display())))
}

fn read_surface(args: &EmbedArgs) -> Result<Surface, CommandError> {
    let bytes = read(&args.surface)?;
    let surface = Surface::from_bytes(&args.surface.to_string_lossy(), &bytes);
    surface.and_then(|surface| surface.scaled(args.scale)).map_err(|error| located(args, &error))
}

fn read_tets(args: &EmbedArgs) -> Result<TetFile, CommandError> {
    let failure = |error: MeshError| located(args, &error);
    let mut file = if matches!(ending(&args.surface).as_str(), "ele" | "node") {
        let [node, ele] = ["node", "ele"].map(|ending| args.surface.with_extension(ending));
        TetFile::from_tetgen(&read(&node)?, &read(&ele)?).map_err(failure)?
    } else {
        TetFile::from_bytes(&args.surface.to_string_lossy(), &read(&args.surface)?).map_err(failure)?
    };
    let nodes = file.mesh.positions().iter().map(|&x| x * args.scale).collect();
    file.mesh = TetMesh::new(nodes, file.mesh.tets().to_vec()).map_err(|error| failure(error.into()))?;
    Ok(file)
}

fn write(path: &Path, body: &EmbeddedBody) -> Result<(), Failure> {
    let pretty = ron::ser::PrettyConfig::default().depth_limit(2).indentor("  ");
    let text = ron::ser::to_string_pretty(body, pretty);
    let text = text.map_err(|error| CommandError(format!("cannot write {}: {error}", path.display())))?;
    let written = write_file(path, None, (text + "\n").as_bytes());
    written.map_err(|error| WriteError::at(path, &error).into())
}

impl EmbedReport {
    /// The report as text. `is_mesh`: the input was a mesh, not a surface.
    fn to_text(&self, is_mesh: bool) -> String {
        let note = match (is_mesh, self.flipped) {
            (true, _) => format!(
                "; {} turned, {} left out",
                count(self.turned, "inverted tetrahedron", "inverted tetrahedra"),
                count(self.unused, "unused node", "unused nodes"),
            ),
            (false, true) => "; faced inward, flipped".to_owned(),
            (false, false) => String::new(),
        };
        let quality = &self.quality;
        let [least, largest] = quality.dihedral.map(f64::to_degrees);
        let mut lines = vec![
            format!(
                "{}: {}, {}, {} m³{note}",
                self.file,
                count(self.vertices, "vertex", "vertices"),
                count(self.triangles, "triangle", "triangles"),
                quantity(self.volume),
            ),
            format!(
                "body           {}, {}, {} kg",
                count(self.nodes, "node", "nodes"),
                count(self.tetrahedra, "tetrahedron", "tetrahedra"),
                quantity(quality.mass),
            ),
            format!("angles         {least:.1}° to {largest:.1}° between faces (70.5° is best)"),
            format!(
                "tetrahedra     aspect ratio up to {:.2} (1 is best), largest volume {} × smallest",
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
        if let Some(path) = &self.output {
            lines.push(format!("wrote          {path} (the body)"));
        }
        lines.join("\n  ")
    }
}
