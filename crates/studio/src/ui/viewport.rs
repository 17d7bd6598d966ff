//! The middle of the window: the scene, the camera and the mouse.

use egui::{CursorIcon, PointerButton, Response, Sense, Ui};

use super::hand::{Motion, pin_points};
use super::{Stage, Studio};
use crate::{Command, Hit, Target, pick};

/// Turn of the camera or of a body per pixel, rad.
const TURN: f64 = 0.008;

impl Studio {
    pub(super) fn viewport(&mut self, ui: &mut Ui, stage: &mut dyn Stage) {
        let (rect, response) =
            ui.allocate_exact_size(ui.available_size().max(egui::Vec2::ZERO), Sense::click_and_drag());
        self.rect = rect;
        let size = (f64::from(rect.width()), f64::from(rect.height()));
        let at = response.hover_pos().or_else(|| response.interact_pointer_pos());
        let place = at.map(|at| (f64::from(at.x - rect.min.x), f64::from(at.y - rect.min.y)));
        self.hover = place
            .filter(|_| self.drag.body().is_none())
            .and_then(|place| pick(&self.frame.draw, &self.orbit.ray(place, size), !self.show.nodes))
            .map(|hit| hit.on_bone(&self.frame));
        self.hand(ui, &response, place, size);
        self.camera(ui, &response, size);
        let highlight = self.drag.body().or(match self.hover {
            Some(Hit { target: Target::Body(body), .. }) => Some(body),
            _ => None,
        });
        self.drawing.fill(&self.frame, &self.show, highlight);
        if rect.width() >= 1.0 && rect.height() >= 1.0 {
            stage.paint(ui, rect, &self.drawing, &self.orbit);
        }
        if let Some(name) = self.name_under_mouse() {
            response.clone().on_hover_text_at_pointer(name);
        }
        if self.drag.body().is_some() {
            ui.ctx().set_cursor_icon(CursorIcon::Grabbing);
        }
    }

    /// Takes, pulls, turns, lets go and pins bodies.
    fn hand(&mut self, ui: &Ui, response: &Response, place: Option<(f64, f64)>, size: (f64, f64)) {
        let modifiers = ui.input(|input| input.modifiers);
        let pressed = ui.input(|input| input.pointer.primary_pressed()) && response.contains_pointer();
        if pressed
            && !modifiers.shift
            && let Some(hit) = self.hover
            && self.drag.take(&hit, &self.frame)
        {
            self.prepare_to_guide();
            self.engine.send(Command::Hold(self.drag.grabs(&self.frame.cast)));
        } else if self.drag.body().is_some() && response.dragged_by(PointerButton::Primary) {
            let moved = response.drag_delta();
            let (dx, dy) = (f64::from(moved.x), f64::from(moved.y));
            let motion = match place {
                _ if modifiers.alt => Some(Motion::Turn(TURN * dy, TURN * dx)),
                _ if modifiers.command => Some(Motion::Depth(0.005 * dy)),
                place => place.map(|place| Motion::Across(self.orbit.ray(place, size))),
            };
            motion.into_iter().for_each(|motion| self.drag.pull(motion, &self.orbit));
            self.engine.send(Command::Hold(self.drag.grabs(&self.frame.cast)));
        }
        let is_down = ui.input(|input| input.pointer.primary_down());
        if self.drag.body().is_some() && !is_down {
            self.drag.release();
            self.engine.send(Command::Hold(Vec::new()));
        }
        if response.secondary_clicked()
            && let Some(hit) = self.hover
            && let Target::Body(body) = hit.target
        {
            if self.frame.cast.is_guided {
                self.keep(&hit);
                return;
            }
            let points = pin_points(&hit, &self.frame, body, modifiers.shift);
            self.engine.send(Command::Pin(body, points));
        }
    }

    /// Orbit, pan and zoom.
    fn camera(&mut self, ui: &Ui, response: &Response, size: (f64, f64)) {
        let moved = response.drag_delta();
        let (dx, dy) = (f64::from(moved.x), f64::from(moved.y));
        let shift = ui.input(|input| input.modifiers.shift);
        let is_free = self.drag.body().is_none();
        let primary = response.dragged_by(PointerButton::Primary) && is_free;
        if response.dragged_by(PointerButton::Middle) || primary && shift {
            self.orbit.pan((dx, dy), size);
        } else if response.dragged_by(PointerButton::Secondary) || primary {
            self.orbit.orbit(-TURN * dx, TURN * dy);
        }
        if response.contains_pointer() {
            let scrolled = f64::from(ui.input(|input| input.smooth_scroll_delta().y));
            if scrolled != 0.0 {
                self.orbit.zoom(sinew_math::ops::exp(-0.002 * scrolled.clamp(-500.0, 500.0)));
            }
        }
    }

    /// What is under the mouse, in words.
    fn name_under_mouse(&self) -> Option<String> {
        let cast = &self.frame.cast;
        match self.hover?.target {
            Target::Body(body) => cast.bodies.get(body.index()).map(|card| {
                let kind =
                    if card.is_dynamic { "drag it, or right-click to pin it" } else { "it is held in place" };
                format!("{} · {:.3} kg · {kind}", card.name, card.mass)
            }),
            Target::Flesh(flesh) => {
                cast.flesh.get(flesh).map(|card| format!("{} · {} tetrahedra", card.name, card.n_tets))
            }
        }
    }
}
