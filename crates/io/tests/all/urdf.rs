use std::collections::BTreeMap;

use sinew_io::{Files, ImportError, ImportOptions, Imported, Outcome, RootHold, read_urdf};

use crate::oracle::{TOLERANCE, check, golden, path, read as read_file};

fn read(text: &str) -> Result<Imported, ImportError> {
    read_urdf(text, "robot.urdf", &Files::in_memory(BTreeMap::new()), &ImportOptions::default())
}

#[test]
fn what_nobody_reads_is_told_with_its_line() {
    let robot = read("<robot name=\"r\">\n<link name=\"a\"/>\n<transmission name=\"t\"/>\n</robot>")
        .expect("a robot");
    let found: Vec<String> =
        robot.report.of(Outcome::Ignored).map(|finding| finding.place.to_string()).collect();
    assert_eq!(found, ["robot.urdf:3: <transmission> `t`"]);
}

#[test]
fn faults_name_line_and_fix() {
    let text = "<robot><link name=\"a\"/><link name=\"b\"/>\n<joint name=\"j\" type=\"revolut\"/></robot>";
    let error = read(text).expect_err("a bad joint").to_string();
    assert!(error.starts_with("robot.urdf:2: <joint> `j`: there is no joint type `revolut`"), "{error}");
}

#[test]
fn dynamics_are_those_of_pinocchio() {
    let golden = golden("pinocchio.json");
    for (name, robot) in golden.as_object().expect("robots") {
        let mut options = ImportOptions::default();
        if robot["joints"][0]["kind"] == "free" {
            options.root = RootHold::Free;
        }
        let found = read_file(&path("models").join(format!("{name}.urdf")), &options);
        check(name, &found.scene, robot, (false, TOLERANCE));
    }
}
