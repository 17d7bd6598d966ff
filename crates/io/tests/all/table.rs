//! Tables of motions.

use sinew_io::{Sampler, TableChoice, TableFormat, TableQuantity, TableWriter};
use sinew_sim::{SceneDoc, World};

fn swing() -> World {
    let text = r#"(format: 1, name: "swing", dt: 0.01,
        colliders: [(shape: Plane(point: (0, 0, -2), normal: (0, 0, 1)))],
        bodies: [
            (name: "rod", pose: (position: (0.5, 0, 0)), shapes: [Box(size: (1, 0.1, 0.1))]),
            (name: "b,all \"1\"", pose: (position: (3, 0, -1.9)), shapes: [Sphere(radius: 0.1)], contact: ()),
        ],
        joints: [(name: "pivot", kind: Hinge, child: "rod", damping: 0.3, frames: World(axis: (0, 1, 0)))])"#;
    World::from_scene(&SceneDoc::from_ron(text, "swing.ron").expect("a scene")).expect("a world")
}

fn table(format: TableFormat, choice: &TableChoice) -> Vec<u8> {
    let mut world = swing();
    let sampler = Sampler::new(&world, choice).expect("names that exist");
    let mut writer = TableWriter::new(Vec::new(), format, &sampler).expect("memory");
    let mut row = Vec::new();
    for _ in 0..3 {
        world.step();
        sampler.fill(&world, &mut row);
        writer.push(&row).expect("memory");
    }
    writer.finish().expect("memory")
}

#[test]
fn csv_has_every_digit_and_quotes_names() {
    let text = String::from_utf8(table(TableFormat::Csv, &TableChoice::default())).expect("text");
    let mut lines = text.lines();
    let names = lines.next().expect("names");
    assert!(names.starts_with("time,rod.position.x,rod.position.y"), "{names}");
    assert!(
        names.contains(r#","b,all ""1"".position.x","#) && names.ends_with("pivot.angle,pivot.angle_rate"),
        "{names}"
    );
    let mut world = swing();
    for line in lines {
        world.step();
        let numbers: Vec<f64> = line.split(',').map(|number| number.parse().expect("a number")).collect();
        let rod = world.pose(world.body("rod").expect("a rod"));
        assert_eq!((numbers[0], numbers[1], numbers[4]), (world.time(), rod.translation.x, rod.rotation.w));
        assert_eq!(numbers.last(), Some(&world.reading(world.joint("pivot").expect("a joint")).twist_rate));
    }
}

#[test]
fn numpy_reads_names_and_numbers() {
    let one = TableChoice { names: vec!["piv*".to_owned()], ..TableChoice::default() };
    let npy = table(TableFormat::Npy, &one);
    assert_eq!(&npy[..8], b"\x93NUMPY\x02\x00");
    let n = u32::from_le_bytes([npy[8], npy[9], npy[10], npy[11]]) as usize;
    let header = std::str::from_utf8(&npy[12..12 + n]).expect("text");
    assert!((12 + n).is_multiple_of(64) && header.ends_with('\n'));
    let wanted = "{'descr': [('time', '<f8'), ('pivot.angle', '<f8'), ('pivot.angle_rate', '<f8')], 'fortran_order': False, 'shape': (3,), }";
    assert_eq!(header.trim_end(), wanted);
    assert_eq!(npy.len(), 12 + n + 3 * 3 * 8);
    let npz = table(TableFormat::Npz, &TableChoice::default());
    assert!(
        npz.starts_with(b"PK\x03\x04") && npz.windows(23).any(|at| at == b"rod.position.npy\x93NUMPY\x02")
    );
}

#[test]
fn json_is_by_item_and_lines_by_row() {
    let json: serde_json::Value =
        serde_json::from_slice(&table(TableFormat::Json, &TableChoice::default())).expect("JSON");
    assert_eq!(json["rod.rotation"].as_array().map(Vec::len), Some(3));
    assert_eq!(json["b,all \"1\".position"][0].as_array().map(Vec::len), Some(3));
    let lines = String::from_utf8(table(TableFormat::JsonLines, &TableChoice::default())).expect("text");
    let last: serde_json::Value = serde_json::from_str(lines.lines().last().expect("a row")).expect("JSON");
    assert_eq!(last["time"], json["time"][2]);
}

#[test]
fn reactions_carry_what_hangs_and_contacts_what_lies() {
    let choice = TableChoice { quantities: TableQuantity::ALL.to_vec(), names: vec!["*".to_owned()] };
    let mut world = swing();
    let sampler = Sampler::new(&world, &choice).expect("names");
    assert!(sampler.needs_reactions());
    world.settings_mut().reactions = true;
    let mut row = Vec::new();
    for _ in 0..200 {
        world.step();
    }
    sampler.fill(&world, &mut row);
    let columns = sampler.columns();
    assert_eq!(columns.len(), row.len());
    let value = |name: &str| row[columns.iter().position(|column| column == name).expect("a column")];
    let weight = 9.81 * 1000.0 * 4.0 / 3.0 * std::f64::consts::PI * 1e-3;
    assert!((value("b,all \"1\".contact_force.z") - weight).abs() < 1e-3 * weight);
    assert!((value("pivot.torque") + 0.3 * value("pivot.angle_rate")).abs() < 1e-9);
    assert!(value("pivot.reaction_force.z") > 0.0);
}

/// A box that glides does not turn, so nothing turns it: what pushes it did so where it was.
#[test]
fn contact_torque_of_what_glides_without_friction_is_nothing() {
    for (speed, dt, stepper) in
        [(5.0, 1.0 / 60.0, "Implicit()"), (20.0, 1e-3, "Implicit()"), (5.0, 1.0 / 60.0, "Reduced()")]
    {
        let text = format!(
            r#"(format: 1, name: "glide", dt: {dt}, stepper: {stepper}, colliders: [(shape: Plane(point: (0, 0, 0), normal: (0, 0, 1)))],
                bodies: [(name: "b", pose: (position: (0, 0, 0.1)), velocity: (linear: ({speed}, 0, 0)), shapes: [Box(size: (0.4, 0.2, 0.2))], mass: Total(2), contact: (friction: 0))])"#
        );
        let mut world =
            World::from_scene(&SceneDoc::from_ron(&text, "glide.ron").expect("a scene")).expect("a world");
        let choice = TableChoice { quantities: vec![TableQuantity::Contacts], ..TableChoice::default() };
        let sampler = Sampler::new(&world, &choice).expect("names");
        for _ in 0..100 {
            world.step();
        }
        let mut row = Vec::new();
        sampler.fill(&world, &mut row);
        let [force, torque] = [0, 3].map(|i| row[row.len() - 6 + i..row.len() - 3 + i].to_vec());
        assert!(
            (force[2] - 19.62).abs() < 0.02 && torque.iter().all(|x| x.abs() < 1e-3),
            "{force:?} {torque:?}"
        );
    }
}

#[test]
fn a_pattern_that_fits_nothing_is_refused() {
    let choice = TableChoice { names: vec!["leg*".to_owned()], ..TableChoice::default() };
    assert_eq!(
        Sampler::new(&swing(), &choice).err(),
        Some("no body and no joint is called `leg*`".to_owned())
    );
}

#[test]
fn columns_differ_where_bodies_and_joints_have_one_name() {
    let text = r#"(format: 1, name: "rig", bodies: [
            (name: "hip", kind: Fixed, shapes: [Sphere(radius: 0.1)]),
            (name: "chest", pose: (position: (0, 0, 1)), shapes: [Sphere(radius: 0.1)]),
            (name: "hip.angle", pose: (position: (0, 0, 2)), shapes: [Sphere(radius: 0.1)]),
        ],
        joints: [
            (name: "chest", kind: Ball, child: "chest", parent: "hip"),
            (name: "hip", kind: Hinge, child: "hip.angle", parent: "chest"),
        ])"#;
    let mut world =
        World::from_scene(&SceneDoc::from_ron(text, "rig.ron").expect("a scene")).expect("a world");
    world.settings_mut().reactions = true;
    let mut quantities = TableQuantity::ALL.to_vec();
    quantities.push(TableQuantity::Poses);
    let choice = TableChoice { quantities, names: vec!["*".to_owned()] };
    let sampler = Sampler::new(&world, &choice).expect("names");
    let mut columns = sampler.columns();
    for name in ["chest.rotation.x", "chest.rotation_vector.x"] {
        assert!(columns.iter().any(|column| column == name), "{columns:?}");
    }
    let n = columns.len();
    columns.sort();
    columns.dedup();
    assert_eq!(columns.len(), n);
}
