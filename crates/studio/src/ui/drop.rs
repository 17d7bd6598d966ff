//! Files dropped onto the window: a scene is opened, the scenes of a folder are listed.
//!
//! Of several files, the first `.ron` file counts, or else the first file. A file without a path on this machine is
//! opened from its contents and not watched.

use std::path::{Path, PathBuf};

use egui::{Align2, Area, Context, DroppedFile, Id, Label, Order, RichText};

use crate::{command::SessionCommand, fault::Fault, library::Library, ui::studio::Studio};

impl Studio {
    pub(super) fn take_dropped_files(&mut self, ctx: &Context) {
        let dropped = ctx.input(|input| input.raw.dropped_files.clone());
        let Some(file) = chosen(&dropped, |file| file.path()) else { return };
        let path = file.path();
        let outcome = match () {
            () if path.is_absolute() && path.is_dir() => self.offer(path),
            () if path.is_absolute() && path.exists() => {
                self.open(path);
                Ok(())
            }
            () => self.open_contents(&**file),
        };
        if let Err(fault) = outcome {
            self.engine.board(|board| board.fault = Some(fault));
        }
    }

    /// While files hover over the window: shows what dropping them does.
    pub(super) fn drop_hint(&self, ctx: &Context) {
        let hovered = ctx.input(|input| input.raw.hovered_files.clone());
        let paths: Vec<PathBuf> = hovered.into_iter().map(|file| file.path.unwrap_or_default()).collect();
        let Some(path) = chosen(&paths, PathBuf::as_path) else { return };
        let of = if paths.len() > 1 { format!(", one of {}", paths.len()) } else { String::new() };
        let text = match path.file_name() {
            Some(name) if path.is_dir() => format!("Drop to list the scenes in {}{of}", name.display()),
            Some(name) => format!("Drop to open {}{of}", name.display()),
            None => "Drop to open".to_owned(),
        };
        let area = Area::new(Id::unique("drop")).order(Order::Foreground).interactable(false);
        area.fixed_pos(self.view.rect.center()).pivot(Align2::CENTER_CENTER).show(ctx, |ui| {
            let label = Label::new(RichText::new(text).heading()).extend();
            egui::Frame::popup(ui.style()).show(ui, |ui| ui.add(label));
        });
    }

    /// Lists the scenes of a folder.
    fn offer(&mut self, folder: &Path) -> Result<(), Fault> {
        let found = Library::of_folder(folder);
        let n = found.scenes.len();
        if n == 0 {
            return Err(Fault::new(format!(
                "{}: there is no scene (*.ron) in this folder",
                folder.display()
            )));
        }
        self.library = found;
        let note = format!("{n} scene{} in {}", if n == 1 { "" } else { "s" }, folder.display());
        self.engine.board(|board| (board.note, board.fault) = (Some(note), None));
        Ok(())
    }

    /// Opens a file that has no path.
    fn open_contents(&mut self, file: &dyn DroppedFile) -> Result<(), Fault> {
        let name = file.path().display().to_string();
        let bytes =
            file.bytes().map_err(|problem| Fault::new(format!("{name}: cannot read the file: {problem}")))?;
        let text =
            String::from_utf8(bytes).map_err(|_| Fault::new(format!("{name}: this is not text (UTF-8)")))?;
        self.engine.send(SessionCommand::OpenText { name, text });
        Ok(())
    }
}

/// The first scene, or the first file.
fn chosen<T>(files: &[T], path: impl Fn(&T) -> &Path) -> Option<&T> {
    files.iter().find(|file| path(file).extension().is_some_and(|end| end == "ron")).or(files.first())
}
