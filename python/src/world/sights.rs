//! Pictures and pages of a world.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use sinew_show::ShowOptions;
use sinew_sim::World;

use super::{PATIENCE, PyWorld};
use crate::errors::unknown;
use crate::picture::{Eye, Film, png};
use crate::threads::detached;

#[pymethods]
impl PyWorld {
    /// Keeps the motion from now on, ``rate`` frames per simulated second, for ``show``. Long runs are thinned.
    #[pyo3(signature = (rate=60.0))]
    fn record(&self, rate: f64) -> PyResult<()> {
        if !(rate > 0.0 && rate.is_finite()) {
            return Err(PyValueError::new_err("the rate of frames must be above 0"));
        }
        let mut running = self.lock()?;
        running.film = Some(Film::new(&running.world, Some(rate)));
        Ok(())
    }

    /// Frames that are recorded.
    #[getter]
    fn n_recorded(&self) -> PyResult<usize> {
        Ok(self.lock()?.film.as_ref().map_or(0, Film::n_frames))
    }

    /// A page to turn and play the motion, which a notebook shows: the one that ``sinew run SCENE --html`` writes.
    ///
    /// It plays what was recorded (``record``). If nothing was, or ``seconds`` are given, it plays what comes next, as long as the scene lasts or for so
    /// many seconds, on a copy: the world stays where it is. ``camera`` is a view such as ``"corner"``, ``"front"`` or ``"top"``, or a camera of the scene.
    ///
    /// >>> import sinew
    /// >>> page = sinew.load("chain_10").show(seconds=0.5)
    /// >>> path = page.save("pendulum.html")
    #[pyo3(signature = (seconds=None, speed=1.0, camera=None))]
    fn show<'py>(
        &self,
        py: Python<'py>,
        seconds: Option<f64>,
        speed: f64,
        camera: Option<String>,
    ) -> PyResult<Bound<'py, PyAny>> {
        if !(speed > 0.0 && speed.is_finite()) {
            return Err(PyValueError::new_err("the speed must be above 0"));
        }
        if let Some(name) = &camera {
            self.eye(py, name)?;
        }
        let (film, world) = {
            let running = self.lock()?;
            (running.film.clone().filter(|_| seconds.is_none()), running.world.clone())
        };
        let (film, world) = match film {
            Some(film) => (film, world),
            None => preview(py, world, seconds)?,
        };
        let page = detached(py, || film.page(&world, speed, camera)).map_err(PyValueError::new_err)?;
        py.import("sinew._views")?.getattr("Page")?.call1((page,))
    }

    /// A picture of the world as it is, which a notebook shows: bytes of a PNG, with a method ``save``.
    ///
    /// ``shown`` lists what it shows beside bodies and flesh: ``"contacts"``, ``"joints"``, ``"joint_forces"``, ``"limits"``, ``"nodes"``.
    ///
    /// >>> import sinew
    /// >>> picture = sinew.load("hand").picture(size=(300, 200), shown=["joints"])
    /// >>> picture[1:4]
    /// b'PNG'
    #[pyo3(signature = (size=(900, 600), camera="corner", shown=Vec::new()))]
    fn picture<'py>(
        &self,
        py: Python<'py>,
        size: (usize, usize),
        camera: &str,
        shown: Vec<String>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let eye = self.eye(py, camera)?;
        let show = options(py, &shown)?;
        let running = self.lock()?;
        let (scene, world) = (running.world.to_scene(), &running.world);
        let made = detached(py, || png(world, scene.as_ref(), size, (&eye, show)));
        let made = made.map_err(|error| PyValueError::new_err(error.to_string()))?;
        py.import("sinew._views")?.getattr("Picture")?.call1((PyBytes::new(py, &made),))
    }
}

impl PyWorld {
    fn eye(&self, py: Python<'_>, name: &str) -> PyResult<Eye> {
        let scene = self.lock()?.world.to_scene();
        Eye::named(name, scene.as_ref()).map_err(|valid| unknown(py, "camera", name, &valid))
    }
}

/// What comes next, on a copy: so many seconds, or as long as the scene lasts.
fn preview(py: Python<'_>, mut world: World, seconds: Option<f64>) -> PyResult<(Film, World)> {
    let n_steps = match seconds {
        Some(seconds) if seconds >= 0.0 && seconds.is_finite() => {
            (seconds / world.settings().dt).round() as u64
        }
        Some(_) => return Err(PyValueError::new_err("the seconds must be at least 0")),
        None => world.info().n_steps,
    };
    let mut film = Film::new(&world, None);
    let mut left = n_steps;
    while left > 0 {
        detached(py, || {
            let begin = std::time::Instant::now();
            while left > 0 && begin.elapsed() < PATIENCE {
                world.step();
                film.note(&world);
                left -= 1;
            }
        });
        py.check_signals()?;
    }
    Ok((film, world))
}

/// What pictures show beside bodies.
fn options(py: Python<'_>, shown: &[String]) -> PyResult<ShowOptions> {
    let mut options = ShowOptions::default();
    for name in shown {
        match name.as_str() {
            "contacts" => options.contacts = true,
            "joints" => options.joints = true,
            "joint_forces" => options.joint_forces = true,
            "limits" => options.limits = true,
            "nodes" => options.nodes = true,
            _ => {
                let valid = ["contacts", "joints", "joint_forces", "limits", "nodes"];
                return Err(unknown(py, "thing to show", name, &valid));
            }
        }
    }
    Ok(options)
}
