"""A worm of flesh with twelve muscles crawls: the scene ``worm_crawl``, whose activations are the actions. A step is two of the scene's,
1/30 s."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import ArrayLike, NDArray

from .. import load_scene
from ._batch_env import BatchEnv, Judgement, Observations
from ._world_env import Observation, WorldEnv

SUBSTEPS = 2
MIDDLE = "worm_bone_3"


class Worm(WorldEnv):
    """Actions: activations of the muscles, 0 to 1, in the order of ``world.muscle_names``. Observation: angles of the six hinges (rad) and
    their rates, height (m) and velocity of the bone in the middle (m/s). Reward: metres forward, along x, less 0.001 times the mean
    activation. Velocity and angles are those of the flesh that pulls the bones: there are no motors.

    >>> import gymnasium, sinew.envs
    >>> gymnasium.make("sinew/Worm-v0").action_space.shape
    (12,)
    """

    camera = "corner"

    def __init__(self, render_mode: str | None = None) -> None:
        super().__init__(load_scene("worm_crawl"), np.array([4.0] * 6 + [200.0] * 6 + [10.0] + [50.0] * 3), render_mode)
        self.action_space = spaces.Box(0, 1, (len(self.world.muscle_names),), np.float32)
        self._middle = self.world.body(MIDDLE)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Observation, dict[str, Any]]:
        """The worm at rest; its hinges turn by at most 0.01 rad/s, at random, so that episodes differ."""
        self.begin(seed)
        for name in self.world.body_names:
            self.world.set_twist(name, [0, self.np_random.uniform(-0.01, 0.01), 0, 0, 0, 0])
        self.world.input.activations[:] = 0.0
        return self._observed(), {"x": self._x()}

    def step(self, action: ArrayLike) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Activates the muscles for 1/30 s."""
        activations = np.clip(np.asarray(action, dtype=np.float64), 0, 1)
        self.world.input.activations[:] = activations
        before = self._x()
        report = self.world.step(SUBSTEPS)
        reward = self._x() - before - 1e-3 * activations.mean()
        return self._observed(), float(reward), bool(report.refused), False, {"x": self._x()}

    def _x(self) -> float:
        return float(self.world.poses[self._middle, 0])

    def _observed(self) -> Observation:
        height, velocity = self.world.poses[self._middle, 2], self.world.twists[self._middle, 3:]
        return self.bounded(self.world.joint_positions, self.world.joint_rates, height, velocity)


class WormBatch(BatchEnv):
    """Many of them: ``gymnasium.make_vec("sinew/Worm-v0", num_envs=100)``."""

    def __init__(self, num_envs: int = 1, max_episode_steps: int | None = None) -> None:
        super().__init__(Worm(), num_envs, max_episode_steps)
        self._middle, self._poses = self.batch.world.body(MIDDLE), self.batch.world.poses
        self._x = self._before = np.zeros(num_envs)

    def begin(self, members: NDArray[np.intp], randoms: list[np.random.Generator]) -> None:
        twists = np.zeros((len(members), len(self._poses), 6))
        twists[:, :, 1] = [random.uniform(-0.01, 0.01, len(self._poses)) for random in randoms]
        self.batch.place(np.tile(self._poses, (len(members), 1, 1)), twists, members)
        self.batch.input.activations[members] = 0.0

    def act(self, actions: NDArray) -> None:
        self.batch.input.activations[:] = np.clip(actions.astype(np.float64), 0, 1)
        self._before = self.batch.poses[:, self._middle, 0]
        self.batch.step(SUBSTEPS)

    def observed(self) -> Observations:
        middle, velocity = self.batch.poses[:, self._middle], self.batch.twists[:, self._middle, 3:]
        self._x = middle[:, 0]
        return self.bounded(self.batch.joint_positions, self.batch.joint_rates, middle[:, 2], velocity)

    def judge(self, seen: Observations) -> Judgement:
        return self._x - self._before - 1e-3 * self.batch.input.activations.mean(axis=1), self.batch.is_lost

    def told(self, mask: NDArray[np.bool_], begun: NDArray[np.bool_]) -> dict[str, Any]:
        return {"x": np.where(mask, self._x, 0.0), "_x": mask}
