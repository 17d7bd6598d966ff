//! Changes of settings during a run: which settings hold after a number of changes, and when each step begins (s).

use crate::doc::{
    ChangeDoc, CharacterDoc, ContactDoc, FirmnessDoc, FleshMaterialDoc, GeneratorDoc, JointDoc,
    JointSpringDoc, RegionDoc, SceneDoc, TendonDoc,
};

/// Calls a macro with the names of all settings that a change can hold.
macro_rules! with_fields {
    ($call:ident) => {
        $call!(
            gravity,
            dt,
            stepper,
            loop_iterations,
            joint_stiffness,
            joint_damping,
            flesh_stiffness,
            contact_stiffness,
            contact_damping,
            friction
        )
    };
}

/// The same with the names of factors only.
macro_rules! with_factors {
    ($call:ident) => {
        $call!(joint_stiffness, joint_damping, flesh_stiffness, contact_stiffness, contact_damping, friction)
    };
}

impl ChangeDoc {
    /// Whether it changes nothing.
    pub fn is_empty(&self) -> bool {
        *self == Self { at_s: self.at_s, ..Self::default() }
    }

    /// Takes over every setting that `other` has; keeps its own time.
    pub fn merge(&mut self, other: &Self) {
        macro_rules! take {
            ($($field:ident),*) => { $(if other.$field.is_some() { self.$field.clone_from(&other.$field); })* };
        }
        with_fields!(take);
    }

    /// The settings that `other` lacks or has different values for.
    #[must_use]
    pub fn beyond(&self, other: &Self) -> Self {
        let mut rest = self.clone();
        macro_rules! leave_out {
            ($($field:ident),*) => { $(if rest.$field == other.$field { rest.$field = None; })* };
        }
        with_fields!(leave_out);
        rest
    }

    /// Removes every setting that `other` has.
    pub fn silence(&mut self, other: &Self) {
        macro_rules! forget {
            ($($field:ident),*) => { $(if other.$field.is_some() { self.$field = None; })* };
        }
        with_fields!(forget);
    }

    /// Its factors with their names, in the order in which they are declared.
    pub fn factors(&self) -> [(&'static str, Option<f64>); 6] {
        macro_rules! named {
            ($($field:ident),*) => { [$((stringify!($field), self.$field)),*] };
        }
        with_factors!(named)
    }

    /// The factors, mutable, in the same order.
    pub fn factors_mut(&mut self) -> [&mut Option<f64>; 6] {
        macro_rules! list {
            ($($field:ident),*) => { [$(&mut self.$field),*] };
        }
        with_factors!(list)
    }

    /// Multiplies the springs and the damping of a joint.
    pub fn scale_joint(&self, joint: &mut JointDoc) {
        Factors::of(self).joint(joint);
    }

    /// Multiplies the friction and the firmness of a surface.
    pub fn scale_contact(&self, contact: &mut ContactDoc) {
        Factors::of(self).contact(contact);
    }

    /// One change per setting that it has, with the name of the setting.
    pub(crate) fn parts(&self) -> Vec<(&'static str, Self)> {
        let mut parts = Vec::new();
        macro_rules! part {
            ($($field:ident),*) => {
                $(if self.$field.is_some() {
                    let part = Self { at_s: self.at_s, $field: self.$field.clone(), ..Self::default() };
                    parts.push((stringify!($field), part));
                })*
            };
        }
        with_fields!(part);
        parts
    }
}

impl SceneDoc {
    /// All settings after the first `n` changes; factors are 1 at first.
    pub fn settings_after(&self, n: usize) -> ChangeDoc {
        let mut all = ChangeDoc {
            at_s: 0.0,
            gravity: Some(self.gravity),
            dt: Some(self.dt),
            stepper: Some(self.stepper.clone()),
            loop_iterations: Some(self.loops.iterations),
            ..ChangeDoc::default()
        };
        all.factors_mut().into_iter().for_each(|factor| *factor = Some(1.0));
        for change in self.changes.iter().take(n) {
            all.merge(change);
            all.at_s = change.at_s;
        }
        all
    }

    /// The scene with the first `n` changes applied; it has no changes itself.
    #[must_use]
    pub fn after_changes(&self, n: usize) -> Self {
        let mut scene = Self { changes: Vec::new(), ..self.clone() };
        scene.apply(&self.settings_after(n));
        scene
    }

    /// Applies the settings of a change.
    pub(crate) fn apply(&mut self, change: &ChangeDoc) {
        self.gravity = change.gravity.unwrap_or(self.gravity);
        self.dt = change.dt.unwrap_or(self.dt);
        self.stepper = change.stepper.clone().unwrap_or_else(|| self.stepper.clone());
        self.loops.iterations = change.loop_iterations.unwrap_or(self.loops.iterations);
        Factors::of(change).apply(self);
    }

    /// Number of changes that apply before the first step.
    pub fn changes_at_start(&self) -> usize {
        let mut dt = self.dt;
        let mut n = 0;
        while let Some(change) = self.changes.get(n).filter(|change| change.at_s <= 0.5 * dt) {
            dt = change.dt.unwrap_or(dt);
            n += 1;
        }
        n
    }
}

/// Factors on everything of one kind.
struct Factors {
    stiffness: f64,
    damping: f64,
    young: f64,
    contact_stiffness: f64,
    contact_damping: f64,
    friction: f64,
}

impl Factors {
    fn of(change: &ChangeDoc) -> Self {
        let [stiffness, damping, young, contact_stiffness, contact_damping, friction] =
            change.factors().map(|(_, factor)| factor.unwrap_or(1.0));
        Self { stiffness, damping, young, contact_stiffness, contact_damping, friction }
    }

    fn apply(&self, doc: &mut SceneDoc) {
        doc.joints.iter_mut().for_each(|joint| self.joint(joint));
        for flesh in &mut doc.flesh {
            self.material(&mut flesh.material, &mut flesh.regions, &mut flesh.tendons);
            flesh.contact.iter_mut().for_each(|contact| self.contact(contact));
        }
        doc.colliders.iter_mut().for_each(|collider| self.contact(&mut collider.contact));
        doc.bodies.iter_mut().filter_map(|body| body.contact.as_mut()).for_each(|it| self.contact(it));
        doc.pairs.iter_mut().filter_map(|pair| pair.friction.as_mut()).for_each(|mu| *mu *= self.friction);
        for generator in &mut doc.generators {
            match generator {
                GeneratorDoc::Chain(chain) => self.joint(&mut chain.joint),
                GeneratorDoc::Tree(tree) => self.joint(&mut tree.joint),
                GeneratorDoc::Ladder(ladder) => ladder.damping *= self.damping,
                GeneratorDoc::Mesh(mesh) => mesh.damping *= self.damping,
                GeneratorDoc::Character(character) => {
                    self.spring(&mut character.joint);
                    let CharacterDoc { material, regions, tendons, .. } = character;
                    self.material(material, regions, tendons);
                    character.contact.iter_mut().for_each(|contact| self.contact(contact));
                }
            }
        }
    }

    fn joint(&self, joint: &mut JointDoc) {
        joint.damping *= self.damping;
        joint.spring.iter_mut().for_each(|spring| self.spring(spring));
    }

    fn spring(&self, spring: &mut JointSpringDoc) {
        spring.stiffness *= self.stiffness;
        spring.damping *= self.damping;
    }

    fn contact(&self, contact: &mut ContactDoc) {
        contact.friction *= self.friction;
        let (stiffness, damping) = (self.contact_stiffness, self.contact_damping);
        contact.firmness = match contact.firmness {
            FirmnessDoc::Auto if [stiffness, damping].map(f64::to_bits) == [1f64.to_bits(); 2] => {
                FirmnessDoc::Auto
            }
            FirmnessDoc::Auto => FirmnessDoc::Scaled { stiffness, damping },
            FirmnessDoc::Scaled { stiffness: written, damping: damped } => {
                FirmnessDoc::Scaled { stiffness: written * stiffness, damping: damped * damping }
            }
            FirmnessDoc::Given { stiffness: written, damping: damped } => {
                FirmnessDoc::Given { stiffness: written * stiffness, damping: damped * damping }
            }
        };
    }

    fn material(
        &self,
        material: &mut FleshMaterialDoc,
        regions: &mut [RegionDoc],
        tendons: &mut [TendonDoc],
    ) {
        *material.young_mut() *= self.young;
        tendons.iter_mut().for_each(|tendon| tendon.stiffness *= self.young);
        for region in regions {
            let fibres = region.muscle.iter_mut().map(|muscle| &mut muscle.stiffness);
            region.young.iter_mut().chain(fibres).for_each(|stiffness| *stiffness *= self.young);
        }
    }
}

/// Steps of one length, the first after `first` steps.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Stretch {
    first: u64,
    /// When it begins, s.
    start: f64,
    /// Length of a step, s.
    dt: f64,
}

/// The times of the steps of a scene: stretches of steps of equal length, from change to change. Cost: a binary search.
///
/// ```
/// let scene = sinew_scene::SceneDoc::from_ron("(format: 1, dt: 0.1, changes: [(at_s: 1, dt: 0.05)])", "a.ron")?;
/// let steps = sinew_scene::Steps::of(&scene);
/// assert_eq!((steps.reaching(0.95), steps.reaching(1.5)), (10, 20));
/// assert!((steps.time_after(20) - 1.5).abs() < 1e-12);
/// # Ok::<(), sinew_scene::SceneErrors>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Steps {
    /// In order; the first begins at 0.
    stretches: Vec<Stretch>,
}

impl Default for Steps {
    fn default() -> Self {
        Self::of(&SceneDoc::default())
    }
}

impl Steps {
    /// The steps of a scene that keeps the rules.
    pub fn of(scene: &SceneDoc) -> Self {
        let mut stretches = vec![Stretch { first: 0, start: 0.0, dt: scene.dt }];
        let (mut here, mut last) = (0u64, stretches[0]);
        for change in &scene.changes {
            let time = last.start + here.saturating_sub(last.first) as f64 * last.dt;
            here = here.saturating_add(((change.at_s - time) / last.dt - 0.5).ceil().max(0.0) as u64);
            let Some(dt) = change.dt else { continue };
            let start = last.start + here.saturating_sub(last.first) as f64 * last.dt;
            last = Stretch { first: here, start, dt };
            stretches.retain(|stretch| stretch.first < here);
            stretches.push(last);
        }
        Self { stretches }
    }

    /// Time after so many steps, s.
    pub fn time_after(&self, n: u64) -> f64 {
        let i = self.stretches.partition_point(|stretch| stretch.first <= n).saturating_sub(1);
        let stretch = &self.stretches[i];
        stretch.start + (n - stretch.first) as f64 * stretch.dt
    }

    /// Number of steps after which a time (s) is reached, give or take a billionth of a step.
    pub fn reaching(&self, time: f64) -> u64 {
        let stretch = self.around(time);
        stretch.first.saturating_add(((time - stretch.start) / stretch.dt - 1e-9).ceil().max(0.0) as u64)
    }

    /// Number of steps after which it is nearest to a time (s).
    pub fn nearest(&self, time: f64) -> u64 {
        let stretch = self.around(time);
        stretch.first.saturating_add(((time - stretch.start) / stretch.dt).round() as u64)
    }

    /// Shortest and longest step among the first `n`, s.
    pub fn lengths(&self, n: u64) -> (f64, f64) {
        let made = self.stretches.iter().filter(|stretch| stretch.first < n.max(1));
        made.fold((f64::INFINITY, 0.0), |(short, long), stretch| {
            (stretch.dt.min(short), stretch.dt.max(long))
        })
    }

    fn around(&self, time: f64) -> Stretch {
        let i = self.stretches.partition_point(|stretch| stretch.start <= time).saturating_sub(1);
        self.stretches[i]
    }
}
