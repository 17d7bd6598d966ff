//! The command line: commands, options and their help. Their values are read in `arg_values`.

use std::path::PathBuf;

use clap::{ArgGroup, Args, Parser, Subcommand, ValueEnum};
use sinew_io::{MeshContact, RootHold, TableQuantity};
use sinew_scene::SceneLimits;
use sinew_show::{ShowOptions, Tint};

pub(crate) use crate::arg_values::CheckpointInterval;
use crate::arg_values::{
    LimitName, assignment, ending, export_file, interval, limit, positive, quantity, seconds, size, speed,
    steps, table,
};

/// Simulate articulated characters from RON scenes.
///
/// Without a command, it simulates the showcase scene and writes pictures to sinew-out/.
#[derive(Parser, Debug)]
#[command(name = "sinew", version, after_help = EXIT_CODES)]
pub(crate) struct Cli {
    /// The command; runs the showcase scene if omitted.
    #[command(subcommand)]
    pub(crate) command: Option<CliCommand>,
}

const EXIT_CODES: &str = "\
A SCENE is a RON file, a robot (.urdf; SDF as .sdf or .world; MJCF as .xml or .mjcf), a rig (.glb, .gltf), a motion (.bvh), or the name of a built-in scene (see `sinew list`).

Exit codes: 0 success; 1 the simulation became non-finite or implausible (results up to then are
written), the scene had ten times the energy that was put in and 200 J per kilogram more, a joint was
visibly open (by more than 2 % of the size of its bodies), an expectation does not hold with --expect, or a file or standard output could
not be written; 2 the scene or the arguments are wrong, names of files to write included; 130 and 143 SIGINT
(Ctrl-C) and SIGTERM ended the run, and what was done until then is written. Other warnings leave the code 0.";

/// The commands.
#[derive(Subcommand, Debug)]
pub(crate) enum CliCommand {
    /// Simulate a scene and report speed, energy and joint error.
    Run(Box<RunArgs>),
    /// Read and build scenes without simulating them; report errors.
    Check {
        /// Scene files or names of built-in scenes.
        #[arg(required = true, value_name = "SCENE")]
        scenes: Vec<String>,
        #[command(flatten)]
        changes: ChangeArgs,
    },
    /// List the built-in scenes.
    List,
    /// Print the text of a built-in scene.
    Show {
        /// Name of a built-in scene.
        #[arg(value_name = "NAME")]
        scene: String,
    },
    /// Start a scene of your own from a built-in one.
    New {
        /// The file to write; it must not be there yet.
        #[arg(value_name = "FILE.ron", value_parser = |text: &str| ending(text, "ron"))]
        file: PathBuf,
        /// Name of a built-in scene.
        #[arg(long, value_name = "NAME", default_value = "pendulum")]
        from: String,
    },
    /// Make a scene of a robot (URDF, SDF, MJCF), a rig (glTF) or a motion (BVH), and tell what was used, repaired, approximated and ignored.
    Import(ImportArgs),
    /// Write a scene as a robot (URDF), a model of MuJoCo (MJCF) or a scene (RON), and tell what was used, approximated and left out.
    Export(ExportArgs),
    /// Make a tetrahedral mesh around a surface, and report its quality.
    Embed(EmbedArgs),
    /// Make the steps of a recording again, and tell what each of them warned of.
    Replay {
        /// A recording, as bytes or as text: of `sinew run --on-trouble dump`, or of a program.
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
    /// Open a window to play a scene, drag bodies and rewind.
    Studio {
        /// A scene file or the name of a built-in scene.
        #[arg(value_name = "SCENE")]
        scene: Option<String>,
        /// Folder of pictures and saved scenes.
        #[arg(long, value_name = "FOLDER", default_value = ".")]
        out: PathBuf,
    },
    /// Compute accelerations and torques of one state of a scene, in joint coordinates.
    Dynamics(DynamicsArgs),
}

/// Arguments of `sinew dynamics`.
#[derive(Args, Debug)]
pub(crate) struct DynamicsArgs {
    /// A scene file or the name of a built-in scene.
    #[arg(value_name = "SCENE")]
    pub(crate) scene: String,
    /// Compute accelerations from torques (default).
    #[arg(long, group = "mode")]
    pub(crate) forward: bool,
    /// Compute torques from accelerations.
    #[arg(long, group = "mode")]
    pub(crate) inverse: bool,
    /// Joints with a given acceleration are prescribed; the others are passive.
    #[arg(long, group = "mode")]
    pub(crate) hybrid: bool,
    /// File (RON or JSON) with positions, rates, torques and accelerations by joint, and wrenches by body. Default:
    /// initial positions of the scene, everything else zero.
    #[arg(long, value_name = "FILE")]
    pub(crate) state: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) import: ImportChoices,
    /// Print one JSON object on standard output and nothing else.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Which of torques and accelerations are given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DynamicsMode {
    Forward,
    Inverse,
    Hybrid,
}

impl DynamicsMode {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Forward => "forward",
            Self::Inverse => "inverse",
            Self::Hybrid => "hybrid",
        }
    }
}

impl DynamicsArgs {
    pub(crate) fn mode(&self) -> DynamicsMode {
        match (self.inverse, self.hybrid) {
            (true, _) => DynamicsMode::Inverse,
            (_, true) => DynamicsMode::Hybrid,
            _ => DynamicsMode::Forward,
        }
    }
}

/// Arguments of `sinew import`.
#[derive(Args, Debug)]
pub(crate) struct ImportArgs {
    /// The file to read.
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// File to write the scene to; without it, only the report is printed.
    #[arg(short, long, value_name = "SCENE.ron", value_parser = |text: &str| ending(text, "ron"))]
    pub(crate) output: Option<PathBuf>,
    /// Replace files that are there already.
    #[arg(long, requires = "output")]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) choices: ImportChoices,
}

/// Arguments of `sinew export`.
#[derive(Args, Debug)]
pub(crate) struct ExportArgs {
    /// Scene file or name of a built-in scene; files of other tools are imported.
    #[arg(value_name = "SCENE")]
    pub(crate) scene: String,
    /// File to write: .urdf, .xml or .mjcf, .ron. Meshes are written beside it.
    #[arg(short, long, value_name = "FILE", value_parser = export_file)]
    pub(crate) output: PathBuf,
    /// Write nothing if anything had to be approximated or left out.
    #[arg(long)]
    pub(crate) strict: bool,
    /// Replace files that are there.
    #[arg(long)]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) changes: ChangeArgs,
}

/// How files of other tools are read.
#[derive(Args, Debug, Default)]
pub(crate) struct ImportChoices {
    /// What holds the root of a robot: as the file says, the world, or nothing. A URDF, which does not say, is fixed.
    #[arg(long, value_name = "HOLD", default_value = "as-written")]
    pub(crate) root: RootChoice,
    /// What the triangles of a collider become.
    #[arg(long, value_name = "FORM", default_value = "hull")]
    pub(crate) mesh_contact: MeshChoice,
    /// Let the parts of a URDF touch each other; MJCF says so itself.
    #[arg(long)]
    pub(crate) self_contact: bool,
    /// Begin in this keyframe of an MJCF file: its name, or its number from 0.
    #[arg(long, value_name = "NAME")]
    pub(crate) key: Option<String>,
    /// Another folder in which files are looked for that the file names. Repeatable.
    #[arg(long, value_name = "FOLDER")]
    pub(crate) search_root: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) rig: RigChoices,
}

/// How rigs (glTF) and motions (BVH) are read.
#[derive(Args, Debug, Default)]
pub(crate) struct RigChoices {
    /// Make flesh of the skin of a rig, around its bones.
    #[arg(long)]
    pub(crate) flesh: bool,
    /// Cells of flesh along the longest side; default: by the thickness of the limbs.
    #[arg(long = "flesh-cells", value_name = "N", requires = "flesh", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) cells: Option<u32>,
    /// Young's modulus of flesh in Pa; default: 50000.
    #[arg(long = "flesh-young", value_name = "E", requires = "flesh", value_parser = positive, allow_negative_numbers = true)]
    pub(crate) young: Option<f64>,
    /// Density of bones, flesh and meshes in kg/m³; default: 1000.
    #[arg(long, value_name = "D", value_parser = positive, allow_negative_numbers = true)]
    pub(crate) density: Option<f64>,
    /// How fast joint springs of a rig answer, in Hz; default: 8 for joints that follow a motion, 4 for others.
    #[arg(long, value_name = "HZ", value_parser = positive, allow_negative_numbers = true)]
    pub(crate) spring_hz: Option<f64>,
    /// The animation that a rig plays; default: the first one.
    #[arg(long, value_name = "NAME")]
    pub(crate) animation: Option<String>,
    /// Length of a unit of a BVH file in metres: 0.01 for centimetres; default: guessed from the height of the skeleton.
    #[arg(long, value_name = "S", value_parser = positive, allow_negative_numbers = true)]
    pub(crate) scale: Option<f64>,
}

/// What holds the root of a robot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum RootChoice {
    #[default]
    AsWritten,
    Fixed,
    Free,
}

impl From<RootChoice> for RootHold {
    fn from(choice: RootChoice) -> Self {
        match choice {
            RootChoice::AsWritten => Self::AsWritten,
            RootChoice::Fixed => Self::Fixed,
            RootChoice::Free => Self::Free,
        }
    }
}

/// What the triangles of a collider become.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum MeshChoice {
    /// Their convex hull.
    #[default]
    Hull,
    /// Several convex hulls.
    Decomposed,
    /// Themselves.
    Triangles,
}

impl From<MeshChoice> for MeshContact {
    fn from(choice: MeshChoice) -> Self {
        match choice {
            MeshChoice::Hull => Self::Hull,
            MeshChoice::Decomposed => Self::Decomposed,
            MeshChoice::Triangles => Self::Triangles,
        }
    }
}

/// Arguments of `sinew embed`.
#[derive(Args, Debug)]
pub(crate) struct EmbedArgs {
    /// A closed surface (.obj, .stl or .ply), or tetrahedra (TetGen's .ele next to .node, Gmsh's .msh, VTK's .vtk or .vtu), which are used unchanged.
    #[arg(value_name = "SURFACE")]
    pub(crate) surface: PathBuf,
    /// Number of cubes along the longest side of the surface.
    #[arg(long, value_name = "N", default_value_t = 10, allow_negative_numbers = true)]
    pub(crate) cells: u32,
    /// Density in kg/m³.
    #[arg(long, value_name = "D", default_value_t = 1000.0, allow_negative_numbers = true)]
    pub(crate) density: f64,
    /// Length of one file unit in metres: 0.001 for a surface in millimetres.
    #[arg(long, value_name = "S", default_value_t = 1.0, allow_negative_numbers = true)]
    pub(crate) scale: f64,
    /// Smallest mass of a node as a share of the mean, from 0 to 1; the other nodes become lighter in turn. Explicit
    /// steps need about 0.05.
    #[arg(long, value_name = "E", default_value_t = 0.01, allow_negative_numbers = true)]
    pub(crate) mass_floor: f64,
    /// Cut each cube into six tetrahedra instead of joining the centres of neighbouring cubes. Parts of the surface
    /// closer than one cube then still move independently.
    #[arg(long)]
    pub(crate) bricks: bool,
    /// Print one JSON object on standard output and nothing else.
    #[arg(long)]
    pub(crate) json: bool,
    /// File to write the body to; without it, only the quality is reported.
    #[arg(short, long, value_name = "MESH.ron", value_parser = |text: &str| ending(text, "ron"))]
    pub(crate) output: Option<PathBuf>,
}

/// Arguments of `sinew run`.
#[derive(Args, Debug, Default)]
#[command(
    group = ArgGroup::new("picture").args(["png", "gif", "filmstrip", "frames"]).multiple(true),
    group = ArgGroup::new("seen").args(["png", "gif", "filmstrip", "frames", "html"]).multiple(true),
    group = ArgGroup::new("kept").args(["checkpoint", "resume"]),
    group = ArgGroup::new("moving").args(["gif", "frames", "html", "glb", "bvh", "obj", "vtu"]).multiple(true),
)]
pub(crate) struct RunArgs {
    /// Scene file or name of a built-in scene.
    #[arg(value_name = "SCENE")]
    pub(crate) scene: String,
    /// Number of steps; default: the duration of the scene.
    #[arg(long, value_name = "N", conflicts_with = "seconds", value_parser = steps, allow_negative_numbers = true)]
    pub(crate) steps: Option<u64>,
    /// Simulated time in seconds, rounded to whole steps.
    #[arg(long, value_name = "T", value_parser = seconds, allow_negative_numbers = true)]
    pub(crate) seconds: Option<f64>,
    /// Number of threads; results do not depend on it. Default: one per core.
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) threads: Option<u16>,
    #[command(flatten)]
    pub(crate) report: ReportArgs,
    /// Write time, energies and joint errors of every step as CSV.
    #[arg(long, value_name = "FILE.csv", value_parser = |text: &str| ending(text, "csv"))]
    pub(crate) csv: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) table: TableArgs,
    /// Plot energy and joint error over time as SVG.
    #[arg(long, value_name = "FILE.svg", value_parser = |text: &str| ending(text, "svg"))]
    pub(crate) plot: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) picture: PictureArgs,
    #[command(flatten)]
    pub(crate) motion: MotionArgs,
    #[command(flatten)]
    pub(crate) changes: ChangeArgs,
    #[command(flatten)]
    pub(crate) kept: CheckpointArgs,
}

/// Checkpoints of a long run.
#[derive(Args, Debug, Default)]
pub(crate) struct CheckpointArgs {
    /// Write checkpoints into a folder while the scene runs, so that a run that was ended can go on.
    #[arg(long, value_name = "FOLDER")]
    pub(crate) checkpoint: Option<PathBuf>,
    /// Go on from the last checkpoint in a folder, with the same scene and options, and write the next ones there; begin if there is none.
    #[arg(long, value_name = "FOLDER")]
    pub(crate) resume: Option<PathBuf>,
    /// Time between checkpoints in seconds, for example 30s, or in steps, for example 500; default: 60s.
    #[arg(long, value_name = "N|SECONDSs", requires = "kept", value_parser = interval)]
    pub(crate) every: Option<CheckpointInterval>,
}

impl CheckpointArgs {
    /// The folder of checkpoints, if they are wanted.
    pub(crate) fn folder(&self) -> Option<&PathBuf> {
        self.resume.as_ref().or(self.checkpoint.as_ref())
    }
}

/// Pictures of the motion.
#[derive(Args, Debug, Default)]
pub(crate) struct PictureArgs {
    /// Write a picture of the last frame, or of the time given by --at.
    #[arg(long, value_name = "FILE.png", value_parser = |text: &str| ending(text, "png"))]
    pub(crate) png: Option<PathBuf>,
    /// Simulated time of the --png picture in seconds.
    #[arg(long, value_name = "T", value_parser = seconds, requires = "png", allow_negative_numbers = true)]
    pub(crate) at: Option<f64>,
    /// Write the motion as an animation.
    #[arg(long, value_name = "FILE.gif", value_parser = |text: &str| ending(text, "gif"))]
    pub(crate) gif: Option<PathBuf>,
    /// Write eight pictures of the motion on one page.
    #[arg(long, value_name = "FILE.png", value_parser = |text: &str| ending(text, "png"))]
    pub(crate) filmstrip: Option<PathBuf>,
    /// Write every frame as a picture, frame-00000.png and so on.
    #[arg(long, value_name = "FOLDER")]
    pub(crate) frames: Option<PathBuf>,
    /// Size of each picture in pixels; default: fitted to the motion.
    #[arg(long, value_name = "WxH", value_parser = size, requires = "picture")]
    pub(crate) size: Option<(usize, usize)>,
    /// Camera: one of the scene's cameras, or corner, side, back, left, right or top, which frame the whole motion.
    #[arg(long, value_name = "NAME", requires = "seen")]
    pub(crate) camera: Option<String>,
    /// What pictures show in addition, separated by commas.
    #[arg(long, value_name = "WHAT", value_delimiter = ',', requires = "picture")]
    pub(crate) show: Vec<PictureExtra>,
}

/// The motion for other programs.
#[derive(Args, Debug, Default)]
pub(crate) struct MotionArgs {
    /// Write the motion as a page that any browser shows: to turn, play and share.
    #[arg(long, value_name = "FILE.html", value_parser = |text: &str| ending(text, "html"))]
    pub(crate) html: Option<PathBuf>,
    /// Write the motion as binary glTF, for Blender and other programs.
    #[arg(long, value_name = "FILE.glb", value_parser = |text: &str| ending(text, "glb"))]
    pub(crate) glb: Option<PathBuf>,
    /// Write the motion of the tree of joints as BVH.
    #[arg(long, value_name = "FILE.bvh", value_parser = |text: &str| ending(text, "bvh"))]
    pub(crate) bvh: Option<PathBuf>,
    /// Write every frame as a surface, frame-00000.obj and so on.
    #[arg(long, value_name = "FOLDER")]
    pub(crate) obj: Option<PathBuf>,
    /// Write every frame for ParaView: frame-00000.vtu and so on, and motion.pvd.
    #[arg(long, value_name = "FOLDER")]
    pub(crate) vtu: Option<PathBuf>,
    /// Frames per second of animations and motions; default: 30 for pictures, 60 for motions.
    #[arg(long, value_name = "HZ", value_parser = positive, requires = "moving", allow_negative_numbers = true)]
    pub(crate) fps: Option<f64>,
    /// Simulated seconds per second of animations and motions: 0.25 is slow motion.
    #[arg(long, value_name = "S", default_value_t = 1.0, value_parser = speed, requires = "moving", allow_negative_numbers = true)]
    pub(crate) speed: f64,
}

impl PictureArgs {
    /// Whether any picture is wanted.
    pub(crate) fn is_wanted(&self) -> bool {
        [&self.png, &self.gif, &self.filmstrip, &self.frames].into_iter().any(Option::is_some)
    }
}

impl MotionArgs {
    /// Whether any motion is wanted.
    pub(crate) fn is_wanted(&self) -> bool {
        [&self.html, &self.glb, &self.bvh, &self.obj, &self.vtu].into_iter().any(Option::is_some)
    }

    /// Frames per simulated second; `usual` are those per second of the animation.
    pub(crate) fn rate(&self, usual: f64) -> f64 {
        self.fps.unwrap_or(usual) / self.speed
    }
}

/// The motion as a table.
#[derive(Args, Debug, Default)]
pub(crate) struct TableArgs {
    /// Write the motion as a table: .csv, .npy, .npz, .json or .jsonl.
    #[arg(long, value_name = "FILE", value_parser = table)]
    pub(crate) poses: Option<PathBuf>,
    /// Bodies and joints in the table, with * and ?; default: all. Repeatable.
    #[arg(long, value_name = "PATTERN", requires = "poses")]
    pub(crate) select: Vec<String>,
    /// What is in the table, separated by commas: poses, velocities, coordinates, rates, efforts, reactions, contacts; default: poses,coordinates,rates.
    #[arg(long, value_name = "WHAT", value_delimiter = ',', requires = "poses", value_parser = quantity)]
    pub(crate) quantities: Vec<TableQuantity>,
    /// Rows per simulated second; default: one per step.
    #[arg(long, value_name = "HZ", requires = "poses", value_parser = positive, allow_negative_numbers = true)]
    pub(crate) rate: Option<f64>,
}

/// Values of a scene that are replaced.
#[derive(Args, Debug, Default)]
pub(crate) struct ChangeArgs {
    /// Replace a value of the scene, for example dt=0.01 or 'joints["elbow"].damping=0.5'. Repeatable.
    #[arg(long = "set", value_name = "PATH=VALUE", value_parser = assignment)]
    pub(crate) set: Vec<(String, String)>,
    /// Raise or lower what a scene may ask for: bodies (default 1000000), tetrahedra of each flesh (2000000), members of a sweep (10000),
    /// file_bytes (256000000). Repeatable.
    #[arg(long = "limit", value_name = "NAME=N", value_parser = limit)]
    pub(crate) limits: Vec<(LimitName, u64)>,
    #[command(flatten)]
    pub(crate) import: ImportChoices,
}

impl ChangeArgs {
    /// How much a scene may ask for.
    pub(crate) fn limits(&self) -> SceneLimits {
        let mut limits = SceneLimits::default();
        for &(name, n) in &self.limits {
            *match name {
                LimitName::Bodies => &mut limits.bodies,
                LimitName::Tetrahedra => &mut limits.tetrahedra,
                LimitName::Members => &mut limits.members,
                LimitName::FileBytes => &mut limits.file_bytes,
            } = n;
        }
        limits
    }
}

/// What `sinew run` tells.
#[derive(Args, Debug, Default)]
pub(crate) struct ReportArgs {
    /// Print one JSON object on standard output and nothing else.
    #[arg(long)]
    pub(crate) json: bool,
    /// List what begins and ends to touch, sensors included, and which joints break, with the times.
    #[arg(long)]
    pub(crate) events: bool,
    /// Exit with code 1 if an expectation of the scene does not hold.
    #[arg(long)]
    pub(crate) expect: bool,
    /// What to do at the first warning.
    #[arg(long, value_name = "WHAT", default_value = "continue")]
    pub(crate) on_trouble: OnTrouble,
}

/// What a run does at its first warning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum OnTrouble {
    /// Go on.
    #[default]
    Continue,
    /// Stop after the step.
    Stop,
    /// Stop after the step, and write NAME-trouble.recording: the scene and the state before the step, for `sinew replay`.
    Dump,
}

impl PictureArgs {
    /// What pictures show.
    pub(crate) fn show_options(&self) -> ShowOptions {
        let has = |extra: PictureExtra| self.show.contains(&extra);
        let tint = match (has(PictureExtra::Diagonalized), has(PictureExtra::Stretch)) {
            (true, _) => Tint::Diagonalized,
            (false, true) => Tint::Stretch,
            (false, false) => Tint::Plain,
        };
        ShowOptions {
            nodes: has(PictureExtra::Mesh),
            joints: has(PictureExtra::Joints),
            contacts: has(PictureExtra::Contacts),
            tint,
            ..ShowOptions::default()
        }
    }
}

/// Additional content of pictures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PictureExtra {
    /// Contact forces as arrows.
    Contacts,
    /// Flesh coloured red where its tetrahedra are diagonalized.
    Diagonalized,
    /// Joints as dark dots.
    Joints,
    /// The tetrahedral mesh of flesh instead of its surface: nodes sized by mass, black if fixed to a bone, red if
    /// free.
    Mesh,
    /// Flesh coloured by stretch: blue compressed, white at rest, red stretched.
    Stretch,
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory, Parser};

    use super::{Cli, CliCommand};

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn steps_and_seconds_exclude_each_other() {
        assert!(Cli::try_parse_from(["sinew", "run", "x", "--steps", "3", "--seconds", "1"]).is_err());
        assert!(Cli::try_parse_from(["sinew", "run", "x", "--threads", "0"]).is_err());
        let cli = Cli::try_parse_from(["sinew", "run", "x", "--set", "a=1", "--set", "b=2"]).unwrap();
        let Some(CliCommand::Run(args)) = cli.command else { panic!("run was asked for") };
        assert_eq!(args.changes.set.len(), 2);
    }

    #[test]
    fn negative_lengths_are_refused_in_words() {
        for option in ["--steps", "--seconds"] {
            let error = Cli::try_parse_from(["sinew", "run", "x", option, "-1"]).unwrap_err().to_string();
            assert!(error.contains(&format!("number of {}, zero or more", &option[2..])), "{error}");
        }
    }
}
