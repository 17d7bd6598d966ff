"""Batches: the bits of worlds, arrays, members that differ, resets, pickles."""

import pickle

import numpy as np
import pytest
import sinew


@pytest.mark.parametrize("name", ["hand", "balls_stop", "stairs", "spring_orbit"])
def test_members_step_with_the_bits_of_worlds(name):
    batch, world = sinew.Batch(name, 5), sinew.load(name)
    batch.step(20)
    world.step(20)
    assert set(batch.digests) == {world.digest}
    for array, alone in [(batch.poses, world.poses), (batch.twists, world.twists)]:
        assert (array == alone).all()
    assert (batch.joint_positions == world.joint_positions).all()
    assert (batch.joint_rates == world.joint_rates).all()
    assert batch.energies == pytest.approx(world.energy.total)
    assert (batch.times == world.time).all() and batch.is_good.all() and not batch.is_lost.any()


def test_members_have_inputs_of_their_own():
    batch = sinew.Batch("hand", 4)
    n_coordinates = batch.input.efforts.shape[1]
    efforts = np.random.default_rng(1).normal(0, 1e-3, (4, n_coordinates))
    forces = np.random.default_rng(2).normal(0, 1e-2, batch.input.forces.shape)
    targets = np.random.default_rng(3).normal(0, 0.1, batch.input.targets.shape)
    batch.input.efforts, batch.input.forces, batch.input.targets = efforts, forces, targets
    batch.step(10)
    for k in range(4):
        world = sinew.load("hand")
        world.input.efforts, world.input.forces, world.input.targets = efforts[k], forces[k], targets[k]
        world.step(10)
        assert world.digest == batch.digests[k]
    assert len(set(batch.digests)) == 4


def test_thread_counts_change_nothing():
    # One member per batch runs on one thread, nine on all.
    many, one = sinew.Batch("hand", 9), sinew.Batch("hand", 1)
    many.step(15), one.step(15)
    assert set(many.digests) == set(one.digests)


def test_gravity_differs_at_no_cost():
    batch = sinew.Batch("hand", 3)
    batch.gravity = [[0, 0, -9.81], [0, 0, -1.6], [0, 0, 0]]
    batch.step(10)
    for k, z in enumerate([-9.81, -1.6, 0]):
        world = sinew.load("hand")
        world.gravity = [0, 0, z]
        world.step(10)
        assert world.digest == batch.digests[k]
    assert batch.gravity[1].tolist() == [0, 0, -1.6]


def test_members_vary_as_their_scenes_would():
    text = """(format: 1, bodies: [(name: "a", pose: (position: (0.5, 0, 0)), shapes: [Box(size: (1, 0.1, 0.1))], mass: Total(%s))],
      joints: [(name: "j", kind: Hinge, child: "a", frames: World(axis: (0, 1, 0)), spring: (stiffness: %s, damping: 1))])"""
    batch = sinew.Batch(sinew.load(text % (2, 10)), 3)
    batch.vary(mass=[1, 1.5, 1], joint_stiffness=[1, 1, 3.0])
    batch.step(20)
    for k, (mass, stiffness) in enumerate([(2, 10), (3, 10), (2, 30)]):
        world = sinew.load(text % (mass, stiffness))
        world.step(20)
        assert world.poses == pytest.approx(batch.poses[k], abs=1e-12)
    batch.vary(members=[1], mass=1)
    batch.step(3)
    assert batch.times[1] == pytest.approx(3 / 60)
    assert batch.times[0] == pytest.approx(23 / 60)
    batch.vary(mass=[[0.5], [1], [2]])
    assert len({bytes(batch.checkpoint(k))[-40:] for k in range(3)}) >= 1
    with pytest.raises(sinew.NameUnknown, match="did you mean `friction`"):
        batch.vary(fricton=2)
    with pytest.raises(ValueError, match="above 0"):
        batch.vary(mass=[1, 0, 1])
    with pytest.raises(ValueError, match="shape"):
        batch.vary(mass=[1, 2])


def test_friction_decides_who_slides():
    text = """(format: 1, gravity: (3, 0, -9.81), bodies: [(name: "box", pose: (position: (0, 0, 0.1)), shapes: [Box(size: (0.2, 0.2, 0.2))], contact: (friction: 0.5))],
      colliders: [(shape: Plane(point: (0, 0, 0), normal: (0, 0, 1)), contact: (friction: 0.5))])"""
    batch = sinew.Batch(sinew.load(text), 2, contacts=True)
    batch.vary(friction=[0.1, 2.0])
    batch.step(60)
    assert batch.poses[0, 0, 0] > 0.3 and batch.poses[1, 0, 0] < 0.05
    weight = batch.world.masses[0] * 9.81
    assert batch.contact_forces[:, 0, 2] == pytest.approx([weight, weight], rel=0.05)


def test_members_begin_anew():
    batch = sinew.Batch("hand", 4)
    start = batch.digests[0]
    batch.step(5)
    batch.reset([0, -1])
    batch.reset(np.array([False, True, False, False]))
    assert [digest == start for digest in batch.digests] == [True, True, False, True]
    batch.reset()
    assert set(batch.digests) == {start}
    for bad in [[7], [-5]]:
        with pytest.raises(IndexError):
            batch.reset(bad)
    with pytest.raises(ValueError, match="mask"):
        batch.reset(np.array([True]))
    with pytest.raises(TypeError):
        batch.reset("all")


def test_members_that_are_done_begin_anew_with_the_next_step():
    batch = sinew.Batch("hand", 3, auto_reset=5 / 60)
    start = batch.digests[0]
    batch.step(2)
    batch.reset([1])
    batch.step(3)
    assert batch.is_done.tolist() == [True, False, True]
    batch.step()
    assert batch.times.tolist() == [0, pytest.approx(4 / 60), 0] and batch.digests[0] == start


def test_a_member_that_is_lost_begins_anew():
    text = '(format: 1, bodies: [(name: "ball", shapes: [Sphere(radius: 0.1)])])'
    batch = sinew.Batch(sinew.load(text), 2, auto_reset=100.0)
    batch.input.forces[0, 0] = [1e300, 1e300, 1e300]
    batch.step(30)
    lost = batch.is_lost[0]
    batch.input.clear()
    batch.step(2)
    assert np.isfinite(batch.poses).all() and not batch.is_lost.any() or not lost


def test_checkpoints_go_to_and_from_worlds():
    batch, world = sinew.Batch("hand", 3), sinew.load("hand")
    world.step(7)
    batch.restore(world.checkpoint(), members=[1])
    assert batch.digests[1] == world.digest != batch.digests[0]
    batch.step(3), world.step(3)
    world.restore(batch.checkpoint(1))
    assert batch.digests[1] == world.digest
    with pytest.raises(sinew.RestoreError):
        batch.restore(sinew.load("chain_10").checkpoint())
    with pytest.raises(IndexError):
        batch.checkpoint(3)


def test_members_are_placed():
    text = '(format: 1, gravity: (0, 0, 0), bodies: [(name: "ball", shapes: [Sphere(radius: 0.1)])])'
    batch = sinew.Batch(sinew.load(text), 2)
    poses = batch.poses
    poses[:, 0, 0] = [1, 2]
    twists = np.zeros((2, 1, 6))
    twists[1, 0, 3] = 6
    batch.place(poses, twists)
    batch.step()
    assert batch.poses[:, 0, 0] == pytest.approx([1, 2.1])
    batch.place(poses[:1] * [[[0, 0, 0, 1, 1, 1, 1]]], members=[1])
    assert batch.poses[1, 0, 0] == 0
    with pytest.raises(ValueError, match="shape"):
        batch.place(poses[:1])


def test_wrong_batches_are_refused():
    for n in [0, 2**40]:
        with pytest.raises(ValueError, match="members"):
            sinew.Batch("hand", n)
    with pytest.raises((OverflowError, ValueError)):
        sinew.Batch("hand", -1)
    with pytest.raises(TypeError):
        sinew.Batch(3, 2)
    with pytest.raises(sinew.SceneError):
        sinew.Batch("hnad", 2)
    with pytest.raises(ValueError, match="auto_reset"):
        sinew.Batch("hand", 2, auto_reset=0)
    with pytest.raises(ValueError, match="contacts=True"):
        sinew.Batch("hand", 2).contact_forces
    with pytest.raises(ValueError, match="no grabs"):
        sinew.Batch("hand", 2).input.grab("palm", [0, 0, 0])
    batch = sinew.Batch("hand", 2)
    with pytest.raises(ValueError):
        batch.input.efforts = np.zeros((3, 2))
    batch.input.forces[1, 3, 2] = np.nan
    with pytest.raises(ValueError, match="forces"):
        batch.step()


def test_scenes_that_change_their_settings_are_refused():
    text = '(format: 1, duration_s: 2, changes: [(at_s: 1, gravity: (0, 0, 1))], bodies: [(name: "ball", shapes: [Sphere(radius: 0.1)])])'
    with pytest.raises(ValueError, match="changes its own"):
        sinew.Batch(sinew.load(text), 2)


def test_a_batch_goes_through_a_pickle():
    batch = sinew.Batch("hand", 3)
    batch.gravity = [[0, 0, -1], [0, 0, -2], [0, 0, -3]]
    batch.step(4)
    other = pickle.loads(pickle.dumps(batch))
    assert other.digests == batch.digests
    batch.step(4), other.step(4)
    assert other.digests == batch.digests
    batch.vary(mass=2)
    with pytest.raises(ValueError, match="pickle"):
        pickle.dumps(batch)
