"""Worlds: loading, stepping, reading, going back, errors."""

import copy
import pickle
import signal
import threading
import time

import numpy as np
import pytest
import sinew

BALL = '(format: 1, bodies: [(name: "ball", pose: (position: (0, 0, 1)), shapes: [Sphere(radius: 0.1)])])'
URDF = """<robot name="arm">
  <link name="base"/>
  <link name="upper"><inertial><mass value="1"/><inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="shoulder" type="revolute"><parent link="base"/><child link="upper"/><axis xyz="0 1 0"/>
    <limit lower="-1" upper="1" effort="10" velocity="10"/></joint>
</robot>"""
MJCF = """<mujoco model="drop"><worldbody><body name="ball" pos="0 0 1"><freejoint/><geom type="sphere" size="0.1"/></body></worldbody></mujoco>"""


def test_text_paths_and_names_are_loaded(tmp_path):
    path = tmp_path / "ball.ron"
    path.write_text(BALL)
    robot = tmp_path / "arm.urdf"
    robot.write_text(URDF)
    assert sinew.load(BALL).body_names == ["ball"]
    assert sinew.load(path).body_names == ["ball"]
    assert sinew.load(str(path.with_suffix(""))).body_names == ["ball"]
    assert "upper" in sinew.load(robot).body_names
    assert "upper" in sinew.load(URDF, root="fixed").body_names
    assert "ball" in sinew.load(MJCF).body_names
    assert len(sinew.load("hand").body_names) == 16


def test_errors_have_file_line_and_column(tmp_path):
    path = tmp_path / "bad.ron"
    path.write_text('(format: 1,\n joints: [(name: "knee", child: "shin"),\n (name: "knee", child: "shin")])')
    with pytest.raises(sinew.SceneError) as caught:
        sinew.load(path)
    error = caught.value
    assert error.file == str(path) and error.line in (2, 3) and error.column > 0
    assert len(error.errors) >= 2 and str(error).count(str(path)) >= 2
    assert pickle.loads(pickle.dumps(error)).errors == error.errors
    with pytest.raises(sinew.SceneError, match="did you mean `hand`"):
        sinew.load("hnad")
    with pytest.raises(sinew.SceneError, match="no such file"):
        sinew.load(tmp_path / "nothing.urdf")
    with pytest.raises(sinew.SceneError):
        sinew.load("<robot><link/></robot>")
    with pytest.raises(sinew.SceneError):
        sinew.load(tmp_path)
    for text in ["", "\0", "(", "<", "()", "(format: 99)"]:
        with pytest.raises(sinew.SceneError):
            sinew.load(text)


def test_a_scene_that_cannot_be_built_says_where():
    text = '(format: 1, stepper: Reduced(),\n bodies: [(name: "a", kind: Kinematic, shapes: [Sphere(radius: 0.1)]), (name: "b", shapes: [Sphere(radius: 0.1)])],\n joints: [(name: "j", kind: Ball, child: "b", parent: "a")])'
    with pytest.raises(sinew.BuildError) as caught:
        sinew.load(text)
    assert caught.value.line == 3 or caught.value.line == 1


def test_readings_have_their_shapes_and_meanings():
    world = sinew.load(BALL)
    report = world.step(6)
    assert report.is_good and report.index == 6 and world.time == pytest.approx(0.1)
    pose, twist = world.poses[0], world.twists[0]
    assert pose[3:] == pytest.approx([0, 0, 0, 1]) and pose[2] < 1
    assert twist[:3] == pytest.approx([0, 0, 0]) and twist[5] == pytest.approx(-0.981, rel=1e-6)
    assert world.energy.kinetic > 0 and float(world.energy) == world.energy.total
    assert world.momentum[5] == pytest.approx(world.masses[0] * twist[5])
    assert world.notices == [] and world.is_good and world.doubts is not None


def test_coordinates_of_joints_are_in_order():
    world = sinew.load("hand")
    n = len(world.coordinate_names)
    assert world.joint_positions.shape == world.joint_rates.shape == world.joint_efforts.shape == (n,)
    assert world.joint_forces.shape == (len(world.joint_names), 3)
    joint = world.joint_names[3]
    assert world.joint_positions[world.coordinate(joint)][0] == world.joint(joint)["twist"]
    assert world.body(world.body_names[5]) == 5


def test_efforts_do_the_work_that_rates_say():
    text = """(format: 1, gravity: (0, 0, 0), bodies: [(name: "wheel", shapes: [Cylinder(radius: 0.3, length: 0.1)])],
      joints: [(name: "axle", kind: Hinge, child: "wheel", frames: World(axis: (1, 0, 0)))])"""
    world = sinew.load(text)
    world.input.efforts[world.coordinate("axle")] = 2.0
    before, work = world.energy.kinetic, 0.0
    for _ in range(50):
        rate = world.joint_rates[0]
        world.step()
        work += 2.0 * world.dt * 0.5 * (rate + world.joint_rates[0])
    assert world.energy.kinetic - before == pytest.approx(work, rel=1e-9)


def test_a_ball_joint_takes_torques_in_the_frame_of_its_parent():
    text = """(format: 1, gravity: (0, 0, 0), bodies: [(name: "rod", shapes: [Sphere(radius: 0.3)])],
      joints: [(name: "ball", kind: Ball, child: "rod")])"""
    world = sinew.load(text)
    assert world.coordinate_names == ["ball.x", "ball.y", "ball.z"]
    world.input.efforts = [0.0, 0.0, 1.0]
    world.step(10)
    rates = world.joint_rates
    assert rates[2] > 0.01 and abs(rates[:2]).max() < 1e-9


def test_motors_follow_targets_and_nan_leaves_them_alone():
    scene = (
        sinew.SceneDoc("arm")
        .add(sinew.BodyDoc("arm").at([0.25, 0, 0]).shape(sinew.Shape.box([0.5, 0.05, 0.05])).mass(1))
        .add(sinew.JointDoc("Hinge", "elbow", "arm").axis([0, 1, 0]).motor(sinew.MotorDoc.position(0.2, 500, 50)))
        .with_gravity([0, 0, 0])
    )
    world = scene.build()
    assert world.motor_names == ["elbow"] and np.isnan(world.input.targets).all()
    world.step(300)
    assert world.joint_positions[0] == pytest.approx(0.2, abs=1e-3)
    world.input.targets[0] = -0.5
    world.step(300)
    assert world.joint_positions[0] == pytest.approx(-0.5, abs=1e-3)
    world.input.clear()
    world.step(300)
    assert world.joint_positions[0] == pytest.approx(0.2, abs=1e-3)


def test_kinematic_bodies_go_where_they_are_put():
    scene = sinew.SceneDoc("lift").add(sinew.BodyDoc.kinematic("lift").shape(sinew.Shape.box([1, 1, 0.1])))
    world = scene.build()
    assert world.kinematic_names == ["lift"]
    world.input.kinematic[0] = [0, 0, 2, 0, 0, 0, 1]
    world.step()
    assert world.poses[0, 2] == 2


def test_a_checkpoint_goes_through_bytes_and_pickles(tmp_path):
    world = sinew.load("hand")
    world.step(5)
    saved = world.checkpoint()
    digest = world.digest
    world.step(5)
    end = world.digest
    for form in [saved, bytes(saved), pickle.loads(pickle.dumps(saved)), sinew.Checkpoint.from_bytes(bytes(saved))]:
        world.restore(form)
        assert world.digest == digest
        world.step(5)
        assert world.digest == end
    with pytest.raises(sinew.RestoreError, match="another model|other model|belongs"):
        sinew.load("chain_10").restore(saved)
    with pytest.raises(sinew.RestoreError):
        world.restore(bytes(saved)[:-20])
    with pytest.raises(sinew.RestoreError):
        world.restore(b"nothing")
    with pytest.raises(TypeError):
        world.restore(3)
    assert world.digest == end


def test_worlds_are_copied_and_pickled():
    world = sinew.load("hand")
    world.gravity = [0, 0, -3]
    world.step(5)
    world.input.efforts[:] = 0.001
    copies = [world.copy(), copy.copy(world), copy.deepcopy(world)]
    pickled = pickle.loads(pickle.dumps(world))
    pickled.input.efforts[:] = 0.001
    world.step(5)
    for other in [*copies, pickled]:
        other.step(5)
        assert other.digest == world.digest
        assert (other.gravity == [0, 0, -3]).all()


def test_inputs_that_make_no_sense_are_refused():
    world = sinew.load("hand")
    with pytest.raises(ValueError):
        world.input.efforts = [1, 2, 3]
    with pytest.raises(ValueError):
        world.input.forces = np.zeros((3, 3))
    with pytest.raises((ValueError, TypeError)):
        world.input.forces = "much"
    with pytest.raises(ValueError, match="three finite numbers"):
        world.gravity = [0, float("nan"), 0]
    with pytest.raises(ValueError, match="three finite numbers"):
        world.gravity = [0, 0]
    with pytest.raises(sinew.NameUnknown, match="did you mean `palm`"):
        world.body("plam")
    with pytest.raises(sinew.NameUnknown):
        world.coordinate("nothing")
    with pytest.raises(sinew.NameUnknown):
        world.flesh_nodes("nothing")
    with pytest.raises(sinew.NameUnknown):
        world.input.grab("nothing", [0, 0, 0])
    with pytest.raises(ValueError):
        world.input.grab("palm", [0, 0, 0], stiffness=-1)
    with pytest.raises(AttributeError):
        world.input.effort = 3
    with pytest.raises(OverflowError):
        world.step(-1)
    with pytest.raises(TypeError):
        world.step(1.5)
    assert world.step(0).index == 0
    digest = world.digest
    for bad in [np.nan, np.inf]:
        world.input.efforts[2] = bad
        with pytest.raises(ValueError, match="efforts: number 2"):
            world.step()
    world.input.clear()
    world.input.targets[:] = np.inf
    with pytest.raises(ValueError, match="targets"):
        world.step()
    assert world.digest == digest


def test_an_input_cannot_be_resized():
    world = sinew.load("hand")
    with pytest.raises(ValueError, match="resize"):
        world.input.efforts.resize(3, refcheck=False)
    world.step()


def test_arrays_outlive_the_world():
    world = sinew.load("hand")
    poses, efforts = world.poses, world.input.efforts
    world.step(3)
    del world
    assert np.isfinite(poses).all() and (efforts == 0).all()
    efforts[:] = 1


def test_grabs_pull_and_let_go():
    world = sinew.load("chain_10")
    last = world.body_names[-1]
    world.input.grab(last, [0.5, 0, -0.3], stiffness=200, damping=10)
    world.step(300)
    held = world.poses[-1, :3].copy()
    assert world.input.release(last) and not world.input.release(last)
    world.step(100)
    assert np.linalg.norm(world.poses[-1, :3] - held) > 0.01


def test_two_threads_do_not_wait_for_each_other_on_one_world():
    world = sinew.load("worm")
    thread = threading.Thread(target=world.step, args=(40,))
    thread.start()
    busy = 0
    while thread.is_alive():
        try:
            assert world.time >= 0
        except RuntimeError as error:
            assert "another thread" in str(error)
            busy += 1
        time.sleep(0.001)
    thread.join()
    assert busy > 0 and world.step().index == 41


def test_threads_step_worlds_side_by_side():
    worlds = [sinew.load("hand") for _ in range(4)]
    threads = [threading.Thread(target=world.step, args=(50,)) for world in worlds]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert len({world.digest for world in worlds}) == 1


def test_ctrl_c_stops_a_long_run_at_a_whole_step():
    world = sinew.load("hand")
    world.step(7)
    threading.Timer(0.3, signal.raise_signal, [signal.SIGINT]).start()
    begin = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        world.step(10**15)
    assert time.monotonic() - begin < 5
    twin = sinew.load("hand")
    twin.step(round(world.time / world.dt))
    assert twin.digest == world.digest


def test_bodies_are_put_elsewhere_and_parts_come_and_go():
    world = sinew.SceneDoc("yard").add(sinew.ColliderDoc.floor()).build()
    ball = sinew.BodyDoc("ball").at([0, 0, 1]).shape(sinew.Shape.sphere(0.1)).mass(1).touching()
    world.insert(ball)
    world.set_pose("ball", [1, 2, 3, 0, 0, 0, 1])
    world.set_twist("ball", [0, 0, 0, 1, 0, 0])
    assert world.poses[0].tolist() == [1, 2, 3, 0, 0, 0, 1] and world.twists[0, 3] == 1
    world.replace(ball.mass(5))
    assert world.masses[0] == 5 and world.poses[0, 0] == 1
    with pytest.raises(ValueError, match="insert"):
        world.replace(sinew.BodyDoc("other"))
    with pytest.raises(sinew.BuildError):
        world.insert(sinew.JointDoc("Hinge", "knee", "nobody"))
    with pytest.raises(TypeError):
        world.insert("ball")
    assert world.body_names == ["ball"] and world.input.forces.shape == (1, 3)
    world.remove("body", "ball")
    assert world.body_names == [] and world.poses.shape == (0, 7)
    with pytest.raises(sinew.NameUnknown):
        world.remove("body", "ball")
    with pytest.raises(sinew.NameUnknown, match="kind of part"):
        world.remove("thing", "ball")


def test_flesh_has_nodes_and_a_surface():
    world = sinew.load("cube_drop")
    name = world.flesh_names[0]
    world.step()
    points, triangles = world.flesh_surface(name)
    assert world.flesh_nodes(name).shape == world.flesh_velocities(name).shape
    assert triangles.max() < len(points) and points.shape[1] == 3


def test_inverse_kinematics_reaches_and_tells_when_it_cannot():
    world = sinew.load("robot")
    hand = next(name for name in world.body_names if "hand" in name)
    target = world.poses[world.body(hand), :3] + [0.02, 0, 0.02]
    report = world.ik({hand: target})
    assert report.outcome == "assembled"
    assert world.poses[world.body(hand), :3] == pytest.approx(target, abs=1e-6)
    with pytest.raises(sinew.NameUnknown):
        world.ik({"nothing": [0, 0, 0]})
    with pytest.raises(ValueError, match="no target"):
        world.ik({}, points={hand: [0, 0, 0]})


def test_reset_goes_to_the_beginning():
    world = sinew.load("hand")
    start = world.digest
    world.step(5)
    world.reset()
    assert world.digest == start and world.time == 0
