"""Environments: what Gymnasium asks of them, the same episode for the same seed, pictures, and a policy that learns."""

import doctest
import os
import runpy
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
import sinew

gymnasium = pytest.importorskip("gymnasium", reason="Gymnasium is not installed")

import sinew.envs  # noqa: E402
from gymnasium.utils.env_checker import check_env  # noqa: E402
from sinew.envs import _png, cart_pole, reach, worm  # noqa: E402

NAMES = [f"sinew/{name}-v0" for name in sinew.envs.EPISODES]
PYTHON = Path(__file__).parents[1]


def episode(name, seed, steps=3):
    env = gymnasium.make(name)
    seen = [env.reset(seed=seed)[0]]
    env.action_space.seed(seed)
    for _ in range(steps):
        observation, reward, *_ = env.step(env.action_space.sample())
        seen += [observation, [reward]]
    return np.concatenate(seen)


@pytest.mark.parametrize("name", NAMES)
def test_gymnasium_accepts(name):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(gymnasium.make(name).unwrapped, skip_render_check=True)


@pytest.mark.parametrize("name", NAMES)
def test_episodes_are_the_same_for_the_same_seed(name):
    assert np.array_equal(episode(name, 5), episode(name, 5))
    assert not np.array_equal(episode(name, 5), episode(name, 6))
    assert np.isfinite(gymnasium.make(name).observation_space.high).all()


@pytest.mark.parametrize("name", NAMES)
def test_pictures(name):
    env = gymnasium.make(name, render_mode="rgb_array").unwrapped
    env.size = (60, 40)
    env.reset(seed=1)
    picture = env.render()
    assert picture.shape == (40, 60, 3) and picture.dtype == np.uint8 and picture.std() > 1


def test_all_filters_of_png_are_undone():
    import struct
    import zlib

    def part(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    want = np.random.default_rng(1).integers(0, 256, (5, 7, 3), dtype=np.uint8).astype(int)
    lines = b""
    for kind in range(5):
        left = np.vstack([np.zeros((1, 3), int), want[kind, :-1]])
        above = want[kind - 1] if kind else np.zeros((7, 3), int)
        corner = np.vstack([np.zeros((1, 3), int), above[:-1]])
        paeth = [[_png._nearest(*cell) for cell in zip(*pixel)] for pixel in zip(left.tolist(), above.tolist(), corner.tolist())]
        guess = [0 * left, left, above, (left + above) // 2, np.array(paeth)][kind]
        lines += bytes([kind]) + ((want[kind] - guess) % 256).astype(np.uint8).tobytes()
    png = b"\x89PNG\r\n\x1a\n" + part(b"IHDR", struct.pack(">IIBBBBB", 7, 5, 8, 2, 0, 0, 0)) + part(b"IDAT", zlib.compress(lines)) + part(b"IEND", b"")
    assert np.array_equal(_png.pixels(png), want)


def test_the_formula_of_the_tip_is_where_the_tip_is():
    env = gymnasium.make("sinew/Reach-v0").unwrapped
    env.reset(seed=3)
    for _ in range(60):
        env.step([0.3, 0.0, -0.5])
    assert np.allclose(env.tip(), reach.tip_at(env.world.joint_positions[env._joints]), atol=1e-5)


def test_the_cart_begins_where_its_observation_says():
    env = gymnasium.make("sinew/CartPole-v0").unwrapped
    seen, _ = env.reset(seed=4)
    assert np.allclose(seen, np.random.default_rng(4).uniform(-0.05, 0.05, 4), atol=1e-6)
    assert max(env.world.violation) < 1e-9


def test_several_at_one_time():
    envs = gymnasium.make_vec("sinew/CartPole-v0", num_envs=3, vectorization_mode="sync")
    first, _ = envs.reset(seed=7)
    assert first.shape == (3, 4)
    assert np.array_equal(first[1], gymnasium.make("sinew/CartPole-v0").reset(seed=8)[0])
    assert envs.step(np.array([0, 1, 0]))[1].tolist() == [1, 1, 1]


@pytest.mark.parametrize("name", NAMES)
def test_a_vector_of_members_is_a_vector_of_environments(name):
    """The batch beside Gymnasium's own vector of single environments: spaces, types, episodes with their ends, information."""
    count, steps = (2, 2) if "Worm" in name else (3, 6)
    ours = gymnasium.make_vec(name, num_envs=count, max_episode_steps=steps)
    other = gymnasium.make_vec(name, num_envs=count, vectorization_mode="sync", max_episode_steps=steps)
    assert isinstance(ours.unwrapped, gymnasium.vector.VectorEnv) and isinstance(ours.unwrapped.batch, sinew.Batch)
    assert ours.metadata["autoreset_mode"] == other.metadata["autoreset_mode"]
    for space in ["action_space", "observation_space", "single_action_space", "single_observation_space"]:
        assert getattr(ours, space) == getattr(other, space)
    answers = [envs.reset(seed=5) for envs in [ours, other]]
    assert np.allclose(answers[0][0], answers[1][0], atol=1e-6) and answers[0][1].keys() == answers[1][1].keys()
    ours.action_space.seed(3)
    for _ in range(steps + 3):
        actions = ours.action_space.sample()
        mine, theirs = ours.step(actions), other.step(actions)
        assert mine[0] in ours.observation_space and mine[0].dtype == theirs[0].dtype
        assert [part.dtype for part in mine[1:4]] == [part.dtype for part in theirs[1:4]]
        for part, same in zip(mine[:4], theirs[:4]):
            assert np.allclose(part, same, atol=1e-5)
        assert mine[4].keys() == theirs[4].keys()
        for key in mine[4]:
            assert np.allclose(mine[4][key], theirs[4][key], atol=1e-5)


def test_poles_of_a_vector_fall_and_begin_anew():
    envs = gymnasium.make_vec("sinew/CartPole-v0", num_envs=3)
    envs.reset(seed=1)
    ends = np.zeros(3, int)
    for _ in range(60):
        seen, rewards, terminated, truncated, _ = envs.step(np.array([1, 1, 0]))
        assert (rewards == 1).all() or (rewards[~terminated] >= 0).all()
        ends += terminated
    assert (ends >= 3).all() and not truncated.any() and np.abs(seen[:, 2]).max() < 0.5
    before = envs.unwrapped.batch.digests
    envs.reset(seed=4, options={"reset_mask": np.array([False, True, False])})
    after = envs.unwrapped.batch.digests
    assert [a == b for a, b in zip(before, after)] == [True, False, True]
    for wrong in [{"seed": [1, 2]}, {"options": {"reset_mask": np.zeros(3, bool)}}]:
        with pytest.raises(ValueError, match="members need"):
            envs.reset(**wrong)
    with pytest.raises(ValueError, match="shape"):
        envs.step(np.array([1, 0]))


def test_wrappers_of_gymnasium_take_a_vector_of_members():
    envs = gymnasium.wrappers.vector.RecordEpisodeStatistics(gymnasium.make_vec("sinew/CartPole-v0", num_envs=2, max_episode_steps=4))
    envs.reset(seed=1)
    for _ in range(4):
        *_, truncated, told = envs.step(np.array([0, 1]))
    assert truncated.all() and told["episode"]["r"].tolist() == [4, 4]


def test_a_policy_learns(capsys):
    train = runpy.run_path(str(PYTHON / "examples" / "train_cartpole.py"))["train"]
    curve = train(rounds=4, tried=8, kept=2)
    assert max(curve[1:], default=curve[0]) > 100 or curve[-1] > 2 * curve[0]


@pytest.mark.parametrize("thing", [_png.pixels, cart_pole.CartPole, reach.Reach, worm.Worm], ids=lambda thing: thing.__name__)
def test_examples_of(thing):
    test = doctest.DocTestParser().get_doctest(thing.__doc__, {"sinew": sinew}, thing.__name__, None, None)
    assert test.examples and doctest.DocTestRunner().run(test).failed == 0


def test_gymnasium_imports_the_environments_by_their_module():
    program = "import gymnasium; print(gymnasium.make('sinew.envs:sinew/CartPole-v0').spec.id)"
    environment = {**os.environ, "PYTHONPATH": str(Path(sinew.__file__).parents[1])}
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120, env=environment)
    assert run.stdout.strip() == "sinew/CartPole-v0", run.stderr
