//! The viewport: draws the scene, moves the camera, and passes mouse actions on.

use egui::{CursorIcon, PointerButton, Response, Sense, Ui};

use sinew_sim::FleshGrab;

use crate::overview::FleshCard;
use crate::pick::{Hit, PickTarget, pick};
use crate::ui::drag::{DragMove, flesh_point, pin_points};
use crate::{command::SessionCommand, painter::ScenePainter, ui::studio::Studio};

/// Rotation of the camera or of a body per pixel (rad).
const TURN: f64 = 0.008;

impl Studio {
    pub(super) fn viewport(&mut self, ui: &mut Ui, painter: &mut dyn ScenePainter) {
        let (rect, response) =
            ui.allocate_exact_size(ui.available_size().max(egui::Vec2::ZERO), Sense::click_and_drag());
        self.view.rect = rect;
        let size = (f64::from(rect.width()), f64::from(rect.height()));
        let at = response.hover_pos().or_else(|| response.interact_pointer_pos());
        let place = at.map(|at| (f64::from(at.x - rect.min.x), f64::from(at.y - rect.min.y)));
        self.view.hover = place
            .filter(|_| !self.drag.is_active())
            .and_then(|place| {
                pick(&self.snapshot.visible.list, &self.view.orbit.ray(place, size), !self.view.show.nodes)
            })
            .map(|hit| hit.on_bone(&self.snapshot));
        self.hand(ui, &response, place, size);
        self.camera(ui, &response, size);
        let highlight = self.drag.body().or(match self.view.hover {
            Some(Hit { target: PickTarget::Body(body), .. }) => Some(body),
            _ => None,
        });
        let context = self.snapshot.drawing_context(self.view.show);
        self.view.drawing.fill(&self.snapshot.visible, &context, highlight);
        if rect.width() >= 1.0 && rect.height() >= 1.0 {
            painter.paint(ui, rect, &self.view.drawing, &self.view.orbit);
        }
        if let Some(name) = self.name_under_mouse() {
            response.clone().on_hover_text_at_pointer(name);
        }
        if self.drag.is_active() {
            ui.ctx().set_cursor_icon(CursorIcon::Grabbing);
        }
    }

    /// Grabs, drags, turns, releases and pins bodies.
    fn hand(&mut self, ui: &Ui, response: &Response, place: Option<(f64, f64)>, size: (f64, f64)) {
        let modifiers = ui.input(|input| input.modifiers);
        let pressed = ui.input(|input| input.pointer.primary_pressed()) && response.contains_pointer();
        if pressed
            && !modifiers.shift
            && let Some(hit) = self.view.hover
            && self.drag.take(&hit, &self.snapshot)
        {
            self.score.prepare_to_guide(&mut self.engine, &self.snapshot);
            self.engine.send(self.drag.command(&self.snapshot.overview));
        } else if self.drag.is_active() && response.dragged_by(PointerButton::Primary) {
            let moved = response.drag_delta();
            let (dx, dy) = (f64::from(moved.x), f64::from(moved.y));
            let drag = match place {
                _ if modifiers.alt => Some(DragMove::Turn(TURN * dy, TURN * dx)),
                _ if modifiers.command => Some(DragMove::Depth(0.005 * dy)),
                place => place.map(|place| DragMove::Across(self.view.orbit.ray(place, size))),
            };
            drag.into_iter().for_each(|drag| self.drag.pull(drag, &self.view.orbit));
            self.engine.send(self.drag.command(&self.snapshot.overview));
        }
        let is_down = ui.input(|input| input.pointer.primary_down());
        if self.drag.is_active() && !is_down {
            self.let_go();
        }
        if response.secondary_clicked() {
            self.pin(modifiers.shift);
        }
    }

    /// Lets go of what is dragged.
    pub(super) fn let_go(&mut self) {
        self.drag.release();
        self.engine.send(SessionCommand::Hold(Vec::new()));
        self.engine.send(SessionCommand::HoldFlesh(None));
    }

    /// Pins the point of flesh under the mouse, or releases it.
    fn pin_flesh(&mut self, hit: &Hit, flesh: usize) {
        let Some((point, target)) = flesh_point(hit, &self.snapshot, flesh) else { return };
        let grab = FleshGrab { flesh: flesh as u32, point, target, stiffness: f64::INFINITY, damping: 0.0 };
        self.engine.send(SessionCommand::PinFlesh(grab));
    }

    /// Pins the body under the mouse, with its orientation if `is_turned`; guided bones get a goal instead.
    fn pin(&mut self, is_turned: bool) {
        let Some(hit) = self.view.hover else { return };
        let body = match hit.target {
            PickTarget::Body(body) => body,
            PickTarget::Flesh(flesh) => return self.pin_flesh(&hit, flesh),
        };
        if self.snapshot.overview.is_guided {
            self.score.keep(&mut self.engine, &self.snapshot, &hit);
            return;
        }
        let points = pin_points(&hit, &self.snapshot, body, is_turned);
        self.engine.send(SessionCommand::Pin(body, points));
    }

    /// Orbit, pan and zoom.
    fn camera(&mut self, ui: &Ui, response: &Response, size: (f64, f64)) {
        let moved = response.drag_delta();
        let (dx, dy) = (f64::from(moved.x), f64::from(moved.y));
        let shift = ui.input(|input| input.modifiers.shift);
        let is_free = !self.drag.is_active();
        let primary = response.dragged_by(PointerButton::Primary) && is_free;
        if response.dragged_by(PointerButton::Middle) || primary && shift {
            self.view.orbit.pan((dx, dy), size);
        } else if response.dragged_by(PointerButton::Secondary) || primary {
            self.view.orbit.orbit(-TURN * dx, TURN * dy);
        }
        if response.contains_pointer() {
            let scrolled = f64::from(ui.input(|input| input.smooth_scroll_delta().y));
            if scrolled != 0.0 {
                self.view.orbit.zoom(sinew_math::ops::exp(-0.002 * scrolled.clamp(-500.0, 500.0)));
            }
        }
    }

    /// Text about what is under the mouse.
    fn name_under_mouse(&self) -> Option<String> {
        let overview = &self.snapshot.overview;
        match self.view.hover?.target {
            PickTarget::Body(body) => overview.bodies.get(body.index()).map(|card| {
                let kind =
                    if card.is_dynamic { "drag it, or right-click to pin it" } else { "fixed or prescribed" };
                format!("{} · {:.3} kg · {kind}", card.name, card.mass)
            }),
            PickTarget::Flesh(flesh) => {
                let hint = "drag its skin, or right-click to pin a point";
                let text = |card: &FleshCard| format!("{} · {} tetrahedra · {hint}", card.name, card.n_tets);
                overview.flesh.get(flesh).map(text)
            }
        }
    }
}
