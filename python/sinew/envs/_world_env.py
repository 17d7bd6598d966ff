"""What the environments share: a world, bounded observations, pictures."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from .. import SceneDoc, World
from ._png import pixels

Observation = NDArray[np.float32]


class WorldEnv(gymnasium.Env):
    """An environment with one world. ``render_mode="rgb_array"`` gives pictures of 480 by 320."""

    metadata = {"render_modes": ["rgb_array"], "render_fps": 30}
    camera = "corner"
    size = (480, 320)

    def __init__(self, scene: SceneDoc, bounds: NDArray[np.floating], render_mode: str | None = None) -> None:
        if render_mode not in (None, *self.metadata["render_modes"]):
            raise ValueError(f'render_mode is "rgb_array" or None, not {render_mode!r}')
        self.render_mode = render_mode
        self.world: World = scene.build()
        bounds = np.asarray(bounds, dtype=np.float32)
        self.observation_space = spaces.Box(-bounds, bounds, dtype=np.float32)

    def begin(self, seed: int | None) -> None:
        """The world as at first; random numbers anew if there is a seed."""
        super().reset(seed=seed)
        self.world.reset()
        self.world.input.clear()

    def bounded(self, *parts: Any) -> Observation:
        """Readings as one vector within the bounds; what lies outside is at the bound, what is not finite is 0."""
        values = np.nan_to_num(np.concatenate([np.atleast_1d(part) for part in parts]), posinf=0, neginf=0)
        return np.clip(values, self.observation_space.low, self.observation_space.high).astype(np.float32)

    def render(self) -> NDArray[np.uint8] | None:
        """The picture of the moment, (height, width, 3), or ``None`` without a mode."""
        return pixels(self.world.picture(self.size, camera=self.camera)) if self.render_mode else None
