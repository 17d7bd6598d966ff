"""What the environments of many members share: one batch, which steps them all in one call.

Spaces, rewards and random numbers are those of the environment with one world: member `k` after `reset(seed=s)` is that environment after
`reset(seed=s + k)`. A member whose episode has ended begins anew with the next step, whose action it does not see, as in Gymnasium's own vectors.
"""

from __future__ import annotations

from typing import Any, Sequence

import numpy as np
from gymnasium.utils import seeding
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import ArrayLike, NDArray

from .. import Batch
from ._world_env import WorldEnv

Observations = NDArray[np.float32]
Judgement = tuple[NDArray[np.float64], NDArray[np.bool_]]


class BatchEnv(VectorEnv):
    """Members of an environment ``one``, whose episodes are cut off after ``max_episode_steps``."""

    def __init__(self, one: WorldEnv, num_envs: int, max_episode_steps: int | None) -> None:
        self.metadata = {"render_modes": [], "autoreset_mode": AutoresetMode.NEXT_STEP}
        self.num_envs = num_envs
        self.single_action_space, self.single_observation_space = one.action_space, one.observation_space
        self.action_space = batch_space(one.action_space, num_envs)
        self.observation_space = batch_space(one.observation_space, num_envs)
        self.batch = Batch(one.world, num_envs)
        self._most_steps = np.inf if max_episode_steps is None else max_episode_steps
        self._randoms: list[np.random.Generator] = []
        self._steps, self._is_over = np.zeros(num_envs, int), np.zeros(num_envs, bool)

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observations, dict[str, Any]]:
        """Begins members anew: all, or those of the mask ``options["reset_mask"]``. A number is the seed of the first member; the others have
        those that follow."""
        count = self.num_envs
        seeds = [seed + k for k in range(count)] if isinstance(seed, (int, np.integer)) else [None] * count if seed is None else seed
        mask = np.asarray((options or {}).get("reset_mask", np.ones(count, bool)))
        if len(seeds) != count or mask.shape != (count,) or mask.dtype != bool or not mask.any():
            raise ValueError(f"{count} members need as many seeds, and a reset_mask of as many truth values, one of them true")
        if not self._randoms:
            self._randoms = [seeding.np_random(None)[0] for _ in range(count)]
        for k in np.flatnonzero(mask):
            if seeds[k] is not None:
                self._randoms[k] = seeding.np_random(seeds[k])[0]
        self._begin(np.flatnonzero(mask))
        return self.observed(), self.told(mask, mask)

    def step(self, actions: ArrayLike) -> tuple[Observations, NDArray, NDArray, NDArray, dict[str, Any]]:
        """One step of all members."""
        actions = np.asarray(actions)
        if actions.shape != self.action_space.shape:
            raise ValueError(f"actions have the shape {self.action_space.shape}, not {actions.shape}")
        begins = self._is_over.copy()
        self.act(actions)
        seen = self.observed()
        rewards, terminated = self.judge(seen)
        self._steps += 1
        truncated = self._steps >= self._most_steps
        if begins.any():
            self._begin(np.flatnonzero(begins))
            seen, rewards = self.observed(), np.where(begins, 0.0, rewards)
            terminated, truncated = terminated & ~begins, truncated & ~begins
        self._is_over = terminated | truncated
        return seen, rewards, terminated, truncated, self.told(np.ones(self.num_envs, bool), begins)

    def _begin(self, members: NDArray[np.intp]) -> None:
        self.batch.reset(members)
        self.begin(members, [self._randoms[k] for k in members])
        self._steps[members], self._is_over[members] = 0, False

    def bounded(self, *parts: NDArray) -> Observations:
        """Readings, a row per member, within the bounds; what lies outside is at the bound, what is not finite is 0."""
        values, space = np.nan_to_num(np.column_stack(parts), posinf=0, neginf=0), self.single_observation_space
        return np.clip(values, space.low, space.high).astype(np.float32)

    def begin(self, members: NDArray[np.intp], randoms: list[np.random.Generator]) -> None:
        """Puts members, which are as the scene begins, at the beginning of an episode."""
        raise NotImplementedError

    def act(self, actions: NDArray) -> None:
        """Steps the batch with these actions."""
        raise NotImplementedError

    def observed(self) -> Observations:
        """What members observe."""
        raise NotImplementedError

    def judge(self, seen: Observations) -> Judgement:
        """Rewards of the step, and whose episode it ends."""
        raise NotImplementedError

    def told(self, mask: NDArray[np.bool_], begun: NDArray[np.bool_]) -> dict[str, Any]:
        """What the single environment tells beside, of members of a mask, of whom some have just begun."""
        return {}
