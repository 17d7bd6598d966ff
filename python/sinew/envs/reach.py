"""The tip of an index finger reaches a target: the scene ``hand``, whose other fingers stay stretched and whose palm its tracker carries.

The three hinges of the finger are parallel. With `a` their axis, `p0`, `p1`, `p2` their anchors and `p3` the tip in the frame of the palm, all
at rest, the tip at angles `q` is `p0 + Σ R(a, q0 + … + qk) (p(k+1) − pk)`. Targets are such tips, so that each can be reached.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import ArrayLike, NDArray

from .. import load_scene
from ._batch_env import BatchEnv, Judgement, Observations
from ._world_env import Observation, WorldEnv

JOINTS = ("index_near", "index_middle", "index_far")
BOUNDS = np.array([[-0.35, 1.57], [0.0, 1.9], [0.0, 1.4]])
"""Limits of the joints, rad."""

AXIS = np.array([-0.059892, 0.998205, 0.0])
POINTS = np.array([[0.0425, 0.03, 0], [0.082428, 0.032396, 0], [0.104389, 0.033713, 0], [0.120360, 0.034670, 0]])
"""Anchors of the three hinges and the tip, m, frame of the palm at rest."""

TIP = np.array([0.008, 0, 0])
"""The end of the last bone's axis, in its own frame, m."""

NEAR = 0.01
"""A tip that is this close has reached its target, m."""


def turned(vectors: NDArray, axis: NDArray, angle: float) -> NDArray:
    """Vectors turned about an axis, by Rodrigues."""
    along = np.outer(vectors @ axis, axis) if vectors.ndim == 2 else (vectors @ axis) * axis
    return along + np.cos(angle) * (vectors - along) + np.sin(angle) * np.cross(axis, vectors)


def tip_at(angles: ArrayLike) -> NDArray[np.float64]:
    """Where the tip is in the frame of the palm with these angles of the three joints, m."""
    links, sums = np.diff(POINTS, axis=0), np.cumsum(angles)
    return POINTS[0] + sum(turned(link, AXIS, angle) for link, angle in zip(links, sums))


def rotated(quaternion: NDArray, vector: NDArray) -> NDArray:
    """A vector turned by a quaternion `x y z w`, or vectors turned by a quaternion each."""
    twice = 2 * np.cross(quaternion[..., :3], vector)
    return vector + quaternion[..., 3:] * twice + np.cross(quaternion[..., :3], twice)


class Reach(WorldEnv):
    """Actions: targets of the three motors of the index finger, -1 and 1 at their limits. Observation: their angles (rad) and rates, the
    tip and the target in the frame of the palm (m). Reward: less the distance in units of 0.1 m, and 1 more within 0.01 m. A step is 1/60 s.

    >>> import gymnasium, sinew.envs
    >>> env = gymnasium.make("sinew/Reach-v0")
    >>> env.action_space.shape, env.reset(seed=1)[0].shape
    ((3,), (12,))
    """

    metadata = {"render_modes": ["rgb_array"], "render_fps": 60}

    def __init__(self, render_mode: str | None = None) -> None:
        super().__init__(load_scene("hand"), np.array([4.0] * 3 + [200.0] * 3 + [1.0] * 6), render_mode)
        self.action_space = spaces.Box(-1, 1, (3,), np.float32)
        self._joints = [self.world.coordinate(name).start for name in JOINTS]
        self._motors = [self.world.motor_names.index(name) for name in JOINTS]
        self._palm, self._last = self.world.body("palm"), self.world.body("index_far")
        self.target = POINTS[-1]

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Observation, dict[str, Any]]:
        """A stretched hand and a target at random within the reach of the finger."""
        self.begin(seed)
        self.world.input.targets[:] = 0.0
        self.target = tip_at(self.np_random.uniform(BOUNDS[:, 0], BOUNDS[:, 1]))
        return self._observed(), {"distance": self._distance()}

    def step(self, action: ArrayLike) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Moves the targets of the motors and waits 1/60 s."""
        part = 0.5 + 0.5 * np.clip(np.asarray(action, dtype=np.float64), -1, 1)
        self.world.input.targets[self._motors] = BOUNDS[:, 0] + part * (BOUNDS[:, 1] - BOUNDS[:, 0])
        report = self.world.step()
        distance = self._distance()
        reward = -10 * distance + float(distance < NEAR)
        return self._observed(), float(reward), bool(report.refused), False, {"distance": distance, "reached": distance < NEAR}

    def tip(self) -> NDArray[np.float64]:
        """The tip in the frame of the palm, m."""
        palm, last = self.world.poses[[self._palm, self._last]]
        return rotated(palm[3:] * [-1, -1, -1, 1], last[:3] + rotated(last[3:], TIP) - palm[:3])

    def _distance(self) -> float:
        return float(np.linalg.norm(self.tip() - self.target))

    def _observed(self) -> Observation:
        at, rates = self.world.joint_positions[self._joints], self.world.joint_rates[self._joints]
        return self.bounded(at, rates, self.tip(), self.target)


class ReachBatch(BatchEnv):
    """Many of them: ``gymnasium.make_vec("sinew/Reach-v0", num_envs=1000)``."""

    def __init__(self, num_envs: int = 1, max_episode_steps: int | None = None) -> None:
        one = Reach()
        super().__init__(one, num_envs, max_episode_steps)
        self._joints, self._motors, self._palm, self._last = one._joints, one._motors, one._palm, one._last
        self.targets = np.tile(POINTS[-1], (num_envs, 1))

    def begin(self, members: NDArray[np.intp], randoms: list[np.random.Generator]) -> None:
        self.batch.input.targets[members] = 0.0
        self.targets[members] = [tip_at(random.uniform(BOUNDS[:, 0], BOUNDS[:, 1])) for random in randoms]

    def act(self, actions: NDArray) -> None:
        part = 0.5 + 0.5 * np.clip(actions.astype(np.float64), -1, 1)
        self.batch.input.targets[:, self._motors] = BOUNDS[:, 0] + part * (BOUNDS[:, 1] - BOUNDS[:, 0])
        self.batch.step()

    def tips(self) -> NDArray[np.float64]:
        """The tips in the frames of the palms, m."""
        poses = self.batch.poses
        palm, last = poses[:, self._palm], poses[:, self._last]
        return rotated(palm[:, 3:] * [-1, -1, -1, 1], last[:, :3] + rotated(last[:, 3:], TIP) - palm[:, :3])

    def observed(self) -> Observations:
        tips = self.tips()
        self._distances = np.linalg.norm(tips - self.targets, axis=1)
        at, rates = self.batch.joint_positions[:, self._joints], self.batch.joint_rates[:, self._joints]
        return self.bounded(at, rates, tips, self.targets)

    def judge(self, seen: Observations) -> Judgement:
        return -10 * self._distances + (self._distances < NEAR), self.batch.is_lost

    def told(self, mask: NDArray[np.bool_], begun: NDArray[np.bool_]) -> dict[str, Any]:
        moved = mask & ~begun
        told: dict[str, Any] = {"distance": np.where(mask, self._distances, 0.0), "_distance": mask}
        if moved.any():
            told |= {"reached": moved & (self._distances < NEAR), "_reached": moved}
        return told
