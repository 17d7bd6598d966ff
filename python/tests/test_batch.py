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
    with pytest.raises(ValueError, match="shape"):
        sinew.Batch("hand", 2).input.grab("palm", np.zeros((3, 3)))
    with pytest.raises(ValueError, match="no members"):
        sinew.load("hand").input.grab("palm", [0, 0, 0], members=[0])
    batch = sinew.Batch("hand", 2)
    with pytest.raises(ValueError):
        batch.input.efforts = np.zeros((3, 2))
    batch.input.forces[1, 3, 2] = np.nan
    with pytest.raises(ValueError, match="forces"):
        batch.step()


CHANGING = """(format: 1, duration_s: 2,
  changes: [(at_s: 0.1, gravity: (0, 0, 1), dt: 0.005), (at_s: 0.3, joint_stiffness: 4)],
  bodies: [(name: "ball", pose: (position: (0.5, 0, 0)), shapes: [Sphere(radius: 0.1)])],
  joints: [(name: "j", kind: Hinge, child: "ball", frames: World(axis: (0, 1, 0)), spring: (stiffness: 10, damping: 0.1))])"""


def test_settings_change_for_each_member_at_its_own_time():
    batch, worlds = sinew.Batch(sinew.load(CHANGING), 3), [sinew.load(CHANGING) for _ in range(3)]
    batch.step(10), [world.step(10) for world in worlds]
    batch.reset([1]), worlds[1].reset()
    batch.step(45), [world.step(45) for world in worlds]
    assert batch.digests == [world.digest for world in worlds] and len(set(batch.digests)) == 2
    assert batch.times.tolist() == [world.time for world in worlds]
    assert batch.energies == pytest.approx([world.energy.total for world in worlds])
    early = sinew.Batch(sinew.load(CHANGING), 1)
    later = pickle.loads(pickle.dumps(early))
    assert early.gravity.tolist() == [[0, 0, -9.81]]
    early.step(50), later.step(50)
    assert early.digests == later.digests and later.gravity.tolist() == [[0, 0, 1]]
    with pytest.raises(ValueError, match="changes its own at 0.3 s"):
        batch.vary(mass=2)


def test_members_are_held():
    worlds = [sinew.load("hand") for _ in range(4)]
    batch = sinew.Batch("hand", 4)
    targets = np.array([[0.1, 0, 0.1], [0.12, 0, 0.1], [0.1, 0.02, 0.1]])
    batch.input.grab("thumb_far", targets, stiffness=20, damping=0.1, members=[0, 1, 3])
    batch.input.grab("palm", [0, 0, 0.01])
    for k, target in zip([0, 1, 3], targets):
        worlds[k].input.grab("thumb_far", target, stiffness=20, damping=0.1)
    for world in worlds:
        world.input.grab("palm", [0, 0, 0.01])
        world.step(8)
    batch.step(8)
    assert batch.digests == [world.digest for world in worlds] and len(set(batch.digests)) == 4
    assert batch.input.release("thumb_far", members=[2]) is False
    assert batch.input.release("thumb_far", members=np.array([True, False, False, False])) is True
    worlds[0].input.release("thumb_far")
    batch.input.clear(), [world.input.clear() for world in worlds[1:]]
    worlds[0].input.clear()
    batch.step(4), [world.step(4) for world in worlds]
    assert batch.digests == [world.digest for world in worlds]


@pytest.mark.parametrize("name", ["hand", "stairs", "spring_orbit"])
def test_many_steps_at_once_are_as_many_steps(name):
    one, many = sinew.Batch(name, 5), sinew.Batch(name, 5)
    for batch in [one, many]:
        batch.step(3)
        batch.reset([2])
    for _ in range(40):
        one.step()
    many.step(40)
    assert one.digests == many.digests and one.times.tolist() == many.times.tolist()


def test_steps_and_resets_take_turns_within_one_call():
    batch = sinew.Batch("hand", 2, auto_reset=5 / 60)
    batch.step(2)
    batch.reset([0])
    batch.step(20)
    assert batch.times * 60 == pytest.approx([2, 4])


@pytest.mark.parametrize("name", ["hand", "heap_40", "robot", "chain_10"])
def test_varied_members_have_the_bits_of_worlds_that_are_compiled_so(name):
    factors = {"mass": 1.25, "joint_stiffness": 1.5, "joint_damping": 0.5, "contact_stiffness": 1.25, "friction": 0.5}
    batch, plain = sinew.Batch(name, 4), sinew.Batch(name, 1)
    batch.vary([1, 3], **{factor: [number, 1.0] for factor, number in factors.items()})
    batch.vary([2], mass=1.5)
    batch.step(6), plain.step(6)
    assert batch.digests[0] == batch.digests[3] == plain.digests[0]
    assert len(set(batch.digests)) == 3
    # A change at the beginning of the scene says the same, but for masses.
    words = ", ".join(f"{factor}: {number}" for factor, number in factors.items() if factor != "mass")
    doc = sinew.load_scene(name).set("changes", f"[(at_s: 0, {words})]")
    batch.vary([0], **{factor: number for factor, number in factors.items() if factor != "mass"})
    batch.step(6)
    world = doc.build()
    world.step(6)
    assert world.digest == batch.digests[0]


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
