"""What a newcomer gets wrong: odd arrays, huge numbers, threads that edit, things deleted too early. Nothing here may end the process."""

import gc
import pickle
import threading
import weakref

import numpy as np
import pytest
import sinew


def test_arrays_of_any_type_and_order_are_taken():
    batch, plain = sinew.Batch("hand", 3), sinew.Batch("hand", 3)
    poses = plain.poses
    poses[:, :, 0] += 0.25
    plain.place(poses)
    batch.place(np.asfortranarray(poses))
    assert batch.digests == plain.digests
    batch.place(poses.tolist())
    assert batch.digests == plain.digests
    batch.place(np.repeat(poses, 2, axis=0)[::2])
    assert batch.digests == plain.digests
    batch.place(poses.astype(np.float32))
    assert np.abs(batch.poses - poses).max() < 1e-6
    world = sinew.load("hand")
    world.input.efforts = np.ones(world.input.efforts.shape, dtype=np.int8)
    world.gravity = np.array([0, 0, -1], dtype=np.int16)
    world.gravity = (0, 0, -2)
    assert world.gravity.tolist() == [0, 0, -2]
    with pytest.raises((ValueError, TypeError)):
        batch.place(np.array("poses"))
    with pytest.raises((ValueError, TypeError)):
        batch.place(np.array([None] * 7, dtype=object))
    with pytest.raises((ValueError, TypeError)):
        batch.place(np.zeros((0,)))


def test_an_array_that_cannot_be_written_to_is_told():
    world = sinew.load("hand")
    world.input.efforts.flags.writeable = False
    world.step()
    with pytest.raises(ValueError):
        world.input.efforts = 1.0
    with pytest.raises((ValueError, TypeError)):
        world.input.clear()


def test_huge_batches_are_refused_before_memory_is_gone():
    for n in [10**8, 2**31, 2**63]:
        with pytest.raises((ValueError, OverflowError)):
            sinew.Batch("hand", n)
    with pytest.raises(ValueError, match="GiB"):
        sinew.Batch("worm_70k", 10**6)


def test_huge_counts_of_steps_are_numbers():
    world = sinew.load("pendulum")
    with pytest.raises(OverflowError):
        world.step(2**64)
    with pytest.raises(OverflowError):
        world.step(-(2**70))


def test_an_explosion_is_told_and_ends_nothing():
    world = sinew.load('(format: 1, bodies: [(name: "ball", shapes: [Sphere(radius: 0.1)])])')
    world.input.forces[:] = 1e308
    world.step(20)
    world.input.clear()
    report = world.step(20)
    assert world.poses.shape == (1, 7) and len(world.digest) == 16
    assert not world.is_good or np.isfinite(world.poses).all()
    assert isinstance(report.notices, list) and world.contacts["force"].shape == (0, 3)
    world.picture(size=(40, 30))
    pickle.dumps(world.checkpoint())
    world.reset()
    assert world.step().is_good


def test_an_edit_gives_a_new_input_and_the_old_one_does_nothing():
    world = sinew.SceneDoc("yard").add(sinew.BodyDoc("a").shape(sinew.Shape.sphere(0.1))).with_gravity([0, 0, 0]).build()
    old = world.input
    old.forces[:] = 1
    world.insert(sinew.BodyDoc("b").at([1, 0, 0]).shape(sinew.Shape.sphere(0.1)))
    assert world.input is not old and world.input.forces.shape == (2, 3)
    world.step(5)
    assert (world.twists == 0).all()
    old.forces[:] = 1
    world.step(5)
    assert (world.twists == 0).all()


def test_worlds_are_freed():
    world, batch = sinew.load("hand"), sinew.Batch("hand", 2)
    seen = [weakref.ref(world), weakref.ref(batch)]
    world.input.efforts[:] = 0
    kept = world.input
    del world, batch
    gc.collect()
    assert [ref() for ref in seen] == [None, None]
    kept.efforts[:] = 1
    assert "efforts" in repr(kept)


def test_threads_that_write_inputs_while_it_steps_see_no_torn_state():
    world = sinew.load("hand")
    stop = threading.Event()

    def shake():
        rng = np.random.default_rng(1)
        while not stop.is_set():
            efforts[:] = rng.normal(0, 1e-4, efforts.shape)

    efforts = world.input.efforts
    thread = threading.Thread(target=shake)
    thread.start()
    for _ in range(50):
        world.step(2)
    stop.set()
    thread.join()
    assert np.isfinite(world.poses).all() and world.is_good


def test_what_has_no_sense_is_refused_in_words():
    with pytest.raises(TypeError):
        sinew.load(3)
    with pytest.raises(TypeError):
        sinew.load(None)
    with pytest.raises(sinew.NameUnknown, match="root"):
        sinew.load("hand", root="loose")
    with pytest.raises(TypeError):
        sinew.World()
    with pytest.raises(TypeError):
        sinew.Dynamics()
    with pytest.raises(AttributeError):
        sinew.load("hand").time = 3
    with pytest.raises(sinew.SceneError):
        sinew.SceneDoc.from_ron("(format: 1, gravity: (0, 0, NaN))")
