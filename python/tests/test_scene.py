"""Scenes in code: the builders of Rust, values by path, text, pickles."""

import pickle

import numpy as np
import pytest
import sinew
from sinew import BodyDoc, ColliderDoc, ContactDoc, EndDoc, JointDoc, MotorDoc, RopeDoc, SceneDoc, Shape, SpringDoc


def pendulum():
    return (
        SceneDoc("pendulum")
        .add(BodyDoc("rod").at([0.5, 0, 0]).shape(Shape.box([1, 0.05, 0.05])))
        .add(JointDoc("Hinge", "pivot", "rod").axis([0, 1, 0]))
    )


def test_code_and_text_make_the_same_world():
    text = """(format: 1, name: "pendulum",
      bodies: [(name: "rod", pose: (position: (0.5, 0, 0)), shapes: [Box(size: (1, 0.05, 0.05))])],
      joints: [(name: "pivot", kind: Hinge, child: "rod", frames: World(axis: (0, 1, 0)))])"""
    a, b = pendulum().build(), sinew.load(text)
    a.step(50), b.step(50)
    assert a.digest == b.digest
    assert SceneDoc.from_ron(pendulum().to_ron()) == pendulum()
    assert pickle.loads(pickle.dumps(pendulum())) == pendulum()


def test_documents_do_not_change():
    body = BodyDoc("a")
    heavier = body.mass(5)
    assert body != heavier and body == BodyDoc("a") and "Total" in repr(heavier)
    scene = pendulum()
    scene.add(BodyDoc("more"))
    assert scene == pendulum()


def test_every_part_is_built():
    scene = SceneDoc("all").add(
        ColliderDoc.floor().named("floor").contact(ContactDoc(friction=0.9)),
        ColliderDoc.plane([-5, 0, 0], [1, 0, 0]),
        ColliderDoc.solid(Shape.box([1, 1, 0.2]).at([3, 0, 0])).named("step"),
        BodyDoc("ball").at([0, 0, 1]).shape(Shape.sphere(0.1)).touching().color([1, 0, 0]).velocity([1, 0, 0]).spin([0, 0, 1]),
        BodyDoc("egg").at([0, 1, 1]).shape(Shape.ellipsoid([0.1, 0.1, 0.2])),
        BodyDoc("cube").at([0, -1, 1]).shape(Shape.box([0.1, 0.1, 0.1])).contact(ContactDoc().restitution(0.5).groups(1, 1)),
        BodyDoc("log").at([0, 2, 1], [0, 0, 0, 2]).shape(Shape.capsule(0.1, 0.5)).shape(Shape.cylinder(0.1, 0.2)).density(500),
        BodyDoc("leg").at([0, 3, 1]).shape(Shape.capsule_between([0, 0, 0], [0, 0, -0.5], 0.05)).damping(0.1, 0.1),
        BodyDoc("bar").at([0, 4, 1]).shape(Shape.cylinder_between([0, 0, 0], [0, 0, -0.5], 0.05)),
        BodyDoc.fixed("post").at([0, 5, 0]),
        JointDoc("Ball", "hip", "leg").at([0, 3, 1]).cone_limit(0.5).damping(0.1).breaks_at_force(1e4).breaks_at_torque(1e4),
        JointDoc("Prismatic", "rail", "bar").at([0, 4, 1]).axis([0, 0, 1]).limits(-1, 1).spring(100, 1),
        JointDoc("Screw", "screw", "log", parameter=0.01).at([0, 2, 1]).motor(MotorDoc.velocity(1, 5).max_force(3)),
        SpringDoc("spring", EndDoc.world([0, 0, 2]), EndDoc.on("ball", [0, 0, 0]), 10).damping(1).rest_length(0.5),
        RopeDoc("rope", [EndDoc.world([0, 1, 3]), EndDoc.on("egg", [0, 0, 0])]).length(2.5),
    )
    world = scene.build()
    assert world.step(30).is_good
    assert sinew.load(scene.to_ron()).body_names == world.body_names
    assert world.to_scene().name == "all"


def test_values_are_set_by_path():
    scene = sinew.load_scene("hand").set("dt", "0.005")
    assert scene.build().dt == 0.005
    assert pendulum().set('bodies["rod"].mass', "Total(7)").build().masses.tolist() == [7]
    with pytest.raises(sinew.SceneError):
        scene.set("nothing.here", "1")
    with pytest.raises(sinew.SceneError):
        scene.set("dt", "fast")
    with pytest.raises(sinew.SceneError):
        scene.set("dt", "-1")


def test_wrong_parts_are_refused():
    with pytest.raises(ValueError, match="did you mean `Hinge`"):
        JointDoc("Hnge", "a", "b")
    with pytest.raises(ValueError, match="parameter"):
        JointDoc("Screw", "a", "b")
    with pytest.raises(ValueError, match="parameter"):
        JointDoc("Hinge", "a", "b", parameter=1)
    with pytest.raises(TypeError):
        SceneDoc().add(3)
    with pytest.raises(ValueError, match="quaternion"):
        BodyDoc("a").at([0, 0, 0], [0, 0, 0, 0])
    with pytest.raises(ValueError, match="three finite"):
        BodyDoc("a").at([0, 0, np.nan])
    for scene in [
        SceneDoc().add(BodyDoc("a")),
        SceneDoc().add(BodyDoc("a").shape(Shape.sphere(-1))),
        SceneDoc().add(BodyDoc("a").shape(Shape.sphere(1)), BodyDoc("a").shape(Shape.sphere(1))),
        pendulum().add(JointDoc("Hinge", "pivot", "nobody")),
    ]:
        with pytest.raises(sinew.BuildError):
            scene.build()


def test_built_in_scenes_have_text():
    assert "hand" in sinew.scene_names()
    assert sinew.scene_text("hand").count("bodies") > 0
    with pytest.raises(sinew.NameUnknown):
        sinew.scene_text("hadn")
