//! The files of meshes beside a file: OBJ with every digit, each mesh once.

use std::collections::BTreeMap;

use sinew_mesh::Triangles;

use super::names::OutNames;
use crate::mesh_files;

/// Meshes that are written beside a file.
pub(crate) struct MeshFiles {
    stem: String,
    names: OutNames,
    /// OutNames of files by their contents.
    known: BTreeMap<Vec<u8>, String>,
}

impl MeshFiles {
    /// For a file whose name has this stem.
    pub(crate) fn new(stem: &str) -> Self {
        Self { stem: plain(stem), names: OutNames::default(), known: BTreeMap::new() }
    }

    /// The name of the file of a mesh without its ending, and whether it is new.
    pub(crate) fn add(&mut self, name: &str, mesh: &Triangles) -> (String, bool) {
        let text = mesh_files::to_obj(mesh).into_bytes();
        if let Some(known) = self.known.get(&text) {
            return (known.clone(), false);
        }
        let name = self.names.fresh(&format!("{}_{}", self.stem, plain(name)));
        self.known.insert(text, name.clone());
        (name, true)
    }

    /// The files by name.
    pub(crate) fn finish(self) -> BTreeMap<String, Vec<u8>> {
        self.known.into_iter().map(|(text, name)| (file(&name), text)).collect()
    }
}

/// The file of a mesh.
pub(crate) fn file(name: &str) -> String {
    format!("{name}.obj")
}

/// Letters and digits that every file system takes.
fn plain(name: &str) -> String {
    let held =
        |letter: char| if letter.is_ascii_alphanumeric() || "-_.".contains(letter) { letter } else { '_' };
    name.chars().map(held).collect::<String>().trim_start_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use sinew_mesh::Triangles;

    use super::MeshFiles;

    #[test]
    fn each_mesh_has_one_file_below_the_folder() {
        let mut files = MeshFiles::new("../robot");
        let mesh = |x: f64| Triangles { positions: vec![glam::DVec3::X * x; 3], triangles: vec![[0, 1, 2]] };
        let names = [1.0, 1.0, 2.0].map(|x| files.add("a/b", &mesh(x)).0);
        assert_eq!(names, ["_robot_a_b", "_robot_a_b", "_robot_a_b_2"]);
        assert_eq!(files.finish().len(), 2);
    }
}
