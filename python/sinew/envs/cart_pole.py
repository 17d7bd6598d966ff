"""A pole on a cart, held up by pushing the cart left or right.

Cart 1 kg on a rail along x, pole 0.1 kg and 1 m long on a hinge along y, steps of 0.02 s, gravity 9.81 m/s²: those of Barto, Sutton and
Anderson, but for the integrator.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from .. import BodyDoc, JointDoc, SceneDoc, Shape
from ._batch_env import BatchEnv, Judgement, Observations
from ._world_env import Observation, WorldEnv

FORCE = 10.0
"""N."""

FARTHEST, STEEPEST = 2.4, np.radians(12)
"""Beyond these an episode ends; m, rad."""


def scene() -> SceneDoc:
    """The cart at the origin, the pole upright."""
    return (
        SceneDoc("cart_pole")
        .add(BodyDoc("cart").shape(Shape.box([0.5, 0.3, 0.2])).mass(1.0))
        .add(BodyDoc("pole").at([0, 0, 0.5]).shape(Shape.box([0.06, 0.06, 1.0])).mass(0.1))
        .add(JointDoc("Prismatic", "rail", "cart").at([0, 0, 0]).axis([1, 0, 0]))
        .add(JointDoc("Hinge", "foot", "pole").parent("cart").at([0, 0, 0]).axis([0, 1, 0]))
        .set("dt", "0.02")
    )


class CartPole(WorldEnv):
    """Actions: 0 pushes to the left, 1 to the right. Observation: place (m) and speed of the cart, angle (rad) and rate of the pole. One
    point of reward for each step until the cart is 2.4 m away or the pole leans by 12°.

    >>> import gymnasium, sinew.envs
    >>> observation, _ = gymnasium.make("sinew/CartPole-v0").reset(seed=1)
    >>> observation.shape
    (4,)
    """

    camera = "side"

    def __init__(self, render_mode: str | None = None) -> None:
        super().__init__(scene(), np.array([2 * FARTHEST, 100, 2 * STEEPEST, 100]), render_mode)
        self.action_space = spaces.Discrete(2)
        self._rail, self._foot = self.world.coordinate("rail"), self.world.coordinate("foot")

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Observation, dict[str, Any]]:
        """Places and speeds at random within 0.05."""
        self.begin(seed)
        place, speed, angle, rate = self.np_random.uniform(-0.05, 0.05, 4)
        lean, turn = 0.5 * np.array([np.sin(angle), np.cos(angle)]), [0, np.sin(angle / 2), 0, np.cos(angle / 2)]
        self.world.set_pose("cart", [place, 0, 0, 0, 0, 0, 1])
        self.world.set_twist("cart", [0, 0, 0, speed, 0, 0])
        self.world.set_pose("pole", [place + lean[0], 0, lean[1], *turn])
        self.world.set_twist("pole", [0, rate, 0, speed + rate * lean[1], 0, -rate * lean[0]])
        return self._observed(), {}

    def step(self, action: int) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Pushes for 0.02 s."""
        self.world.input.efforts[self._rail] = FORCE if action == 1 else -FORCE
        report = self.world.step()
        seen = self._observed()
        is_over = bool(abs(seen[0]) > FARTHEST or abs(seen[2]) > STEEPEST or report.refused)
        return seen, 1.0, is_over, False, {}

    def _observed(self) -> Observation:
        at, rates = self.world.joint_positions, self.world.joint_rates
        return self.bounded(at[self._rail], rates[self._rail], at[self._foot], rates[self._foot])


class CartPoleBatch(BatchEnv):
    """Many of them: ``gymnasium.make_vec("sinew/CartPole-v0", num_envs=1000)``."""

    def __init__(self, num_envs: int = 1, max_episode_steps: int | None = None) -> None:
        super().__init__(CartPole(), num_envs, max_episode_steps)
        world = self.batch.world
        self._rail, self._foot = world.coordinate("rail").start, world.coordinate("foot").start
        self._cart, self._pole = world.body("cart"), world.body("pole")

    def begin(self, members: NDArray[np.intp], randoms: list[np.random.Generator]) -> None:
        place, speed, angle, rate = np.array([random.uniform(-0.05, 0.05, 4) for random in randoms]).T
        poses, twists = np.zeros((len(members), 2, 7)), np.zeros((len(members), 2, 6))
        x, z = 0.5 * np.sin(angle), 0.5 * np.cos(angle)
        poses[:, self._cart, 0], poses[:, self._cart, 6] = place, 1
        twists[:, self._cart, 3] = speed
        poses[:, self._pole, 0], poses[:, self._pole, 2] = place + x, z
        poses[:, self._pole, 4], poses[:, self._pole, 6] = np.sin(angle / 2), np.cos(angle / 2)
        twists[:, self._pole, 1], twists[:, self._pole, 3], twists[:, self._pole, 5] = rate, speed + rate * z, -rate * x
        self.batch.place(poses, twists, members)

    def act(self, actions: NDArray) -> None:
        self.batch.input.efforts[:, self._rail] = np.where(actions == 1, FORCE, -FORCE)
        self.batch.step()

    def observed(self) -> Observations:
        at, rates = self.batch.joint_positions, self.batch.joint_rates
        return self.bounded(at[:, self._rail], rates[:, self._rail], at[:, self._foot], rates[:, self._foot])

    def judge(self, seen: Observations) -> Judgement:
        is_over = (np.abs(seen[:, 0]) > FARTHEST) | (np.abs(seen[:, 2]) > STEEPEST) | self.batch.is_lost
        return np.ones(self.num_envs), is_over
