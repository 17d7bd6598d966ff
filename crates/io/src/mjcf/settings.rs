//! What `<compiler>` and `<option>` say: units, conventions, where files are, gravity and the time step.
//!
//! Angles are degrees unless `angle="radian"`. Several elements of a kind count as one; the later attribute holds.

use glam::DVec3;

use crate::error::ImportFault;
use crate::xml::Element;

/// Conventions of a model.
#[derive(Clone, Debug)]
pub(super) struct Conventions {
    /// Radians per unit of angle.
    pub(super) angle: f64,
    /// Axes of Euler angles: small letters turn with the frame.
    pub(super) euler: [char; 3],
    /// Whether a range alone makes a limit.
    pub(super) auto_limits: bool,
    /// Where meshes are.
    pub(super) mesh_folder: String,
    /// Whether the folders in the names of files are dropped.
    pub(super) strip_path: bool,
    pub(super) inertia: InertiaSource,
    /// Groups of geoms that have mass.
    pub(super) inertia_groups: [f64; 2],
    /// Whether bodies without joints become part of their parent.
    pub(super) fuse_static: bool,
    /// Whether geoms that cannot touch are left out.
    pub(super) discard_visual: bool,
    pub(super) masses: MassRules,
}

/// Where the inertia of a body comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum InertiaSource {
    /// `<inertial>`, or the geoms if there is none.
    Auto,
    Geoms,
    Written,
}

/// What is done to masses.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct MassRules {
    /// Least mass (kg).
    pub(super) least_mass: f64,
    /// Least principal moment (kg·m²).
    pub(super) least_moment: f64,
    /// Whether moments that no body has are replaced by their mean.
    pub(super) balance: bool,
    /// Mass of the whole model (kg).
    pub(super) total: Option<f64>,
}

impl Default for Conventions {
    /// What holds if a model says nothing.
    fn default() -> Self {
        Self {
            angle: 1_f64.to_radians(),
            euler: ['x', 'y', 'z'],
            auto_limits: true,
            mesh_folder: String::new(),
            strip_path: false,
            inertia: InertiaSource::Auto,
            inertia_groups: [f64::NEG_INFINITY, f64::INFINITY],
            fuse_static: false,
            discard_visual: false,
            masses: MassRules::default(),
        }
    }
}

impl Conventions {
    pub(super) fn read(root: &Element) -> Result<Self, ImportFault> {
        let mut read = Self::default();
        let mut folders = [None, None];
        for compiler in root.children("compiler") {
            read.read_conventions(compiler)?;
            read.read_masses(compiler)?;
            for (folder, name) in folders.iter_mut().zip(["assetdir", "meshdir"]) {
                *folder = compiler.attribute(name).map(str::to_owned).or_else(|| folder.take());
            }
            let _ = compiler.attribute("texturedir");
        }
        let [assets, meshes] = folders;
        read.mesh_folder = meshes.or(assets).unwrap_or_default();
        Ok(read)
    }

    fn read_conventions(&mut self, compiler: &Element) -> Result<(), ImportFault> {
        match compiler.attribute("angle") {
            None => {}
            Some("radian") => self.angle = 1.0,
            Some("degree") => self.angle = 1_f64.to_radians(),
            Some(other) => return Err(compiler.fault(format!("`angle` is radian or degree, not `{other}`"))),
        }
        if compiler.attribute("coordinate").is_some_and(|coordinate| coordinate != "local") {
            let fix = "coordinates are local; MuJoCo 2.3.3 and older convert a file with global ones";
            return Err(compiler.fault(fix));
        }
        if let Some(text) = compiler.attribute("eulerseq") {
            let axes: Vec<char> = text.chars().filter(|axis| "xyzXYZ".contains(*axis)).collect();
            self.euler = <[char; 3]>::try_from(axes)
                .ok()
                .filter(|_| text.len() == 3)
                .ok_or_else(|| compiler.fault("`eulerseq` takes three letters of xyzXYZ"))?;
        }
        let set = |field: &mut bool, name: &str| {
            *field = flag(compiler, name)?.unwrap_or(*field);
            Ok::<_, ImportFault>(())
        };
        set(&mut self.auto_limits, "autolimits")?;
        set(&mut self.strip_path, "strippath")?;
        set(&mut self.fuse_static, "fusestatic")?;
        set(&mut self.discard_visual, "discardvisual")?;
        set(&mut self.masses.balance, "balanceinertia")?;
        match compiler.attribute("inertiafromgeom") {
            None => {}
            Some("auto") => self.inertia = InertiaSource::Auto,
            Some("true") => self.inertia = InertiaSource::Geoms,
            Some("false") => self.inertia = InertiaSource::Written,
            Some(other) => {
                let what = format!("`inertiafromgeom` is true, false or auto, not `{other}`");
                return Err(compiler.fault(what));
            }
        }
        if let Some(range) = compiler.numbers("inertiagrouprange")? {
            let two = <[f64; 2]>::try_from(range);
            self.inertia_groups = two.map_err(|_| compiler.fault("`inertiagrouprange` takes two numbers"))?;
        }
        Ok(())
    }

    fn read_masses(&mut self, compiler: &Element) -> Result<(), ImportFault> {
        let masses = &mut self.masses;
        masses.least_mass = compiler.number("boundmass")?.unwrap_or(masses.least_mass);
        masses.least_moment = compiler.number("boundinertia")?.unwrap_or(masses.least_moment);
        let total = compiler.number("settotalmass")?;
        masses.total = total.map_or(masses.total, |total| (total > 0.0).then_some(total));
        Ok(())
    }

    /// The name of a file of a mesh, from the folder of the model.
    pub(super) fn mesh_file(&self, file: &str) -> String {
        let file = if self.strip_path { file.rsplit(['/', '\\']).next().unwrap_or(file) } else { file };
        match self.mesh_folder.trim_end_matches('/') {
            "" => file.to_owned(),
            _ if file.starts_with('/') => file.to_owned(),
            folder => format!("{folder}/{file}"),
        }
    }
}

/// What `<option>` says of a run.
#[derive(Clone, Copy, Debug)]
pub(super) struct RunOptions {
    pub(super) gravity: DVec3,
    /// Time step (s).
    pub(super) step: f64,
    /// Whether anything touches.
    pub(super) has_contact: bool,
}

impl RunOptions {
    pub(super) fn read(root: &Element) -> Result<Self, ImportFault> {
        let mut read = Self { gravity: DVec3::Z * -9.81, step: 0.002, has_contact: true };
        let mut has_gravity = true;
        for option in root.children("option") {
            read.gravity = option.vector("gravity")?.unwrap_or(read.gravity);
            read.step = option.number("timestep")?.unwrap_or(read.step);
            if !(1e-12..=1e6).contains(&read.step) {
                return Err(option.fault(format!("a time step of {} s is not possible", read.step)));
            }
            for flags in option.children("flag") {
                let is_on = |name| flags.attribute(name).map(|value| value != "disable");
                has_gravity = is_on("gravity").unwrap_or(has_gravity);
                read.has_contact = is_on("contact").unwrap_or(read.has_contact);
            }
        }
        if !has_gravity {
            read.gravity = DVec3::ZERO;
        }
        Ok(read)
    }
}

/// A `true` or `false`.
pub(super) fn flag(element: &Element, name: &str) -> Result<Option<bool>, ImportFault> {
    match element.attribute(name) {
        None => Ok(None),
        Some("true") => Ok(Some(true)),
        Some("false") => Ok(Some(false)),
        Some(other) => Err(element.fault(format!("`{name}` is true or false, not `{other}`"))),
    }
}
