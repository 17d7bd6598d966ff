"""Environments of Gymnasium: ``sinew/CartPole-v0``, ``sinew/Reach-v0``, ``sinew/Worm-v0``.

``import sinew.envs`` registers them; ``gymnasium.make("sinew.envs:sinew/CartPole-v0")`` imports them itself. ``gymnasium.make_vec`` makes
any number of them as one ``sinew.Batch``, which steps them in one call on all cores. Episodes are the same to the bit for the same seed and actions.
"""

from __future__ import annotations

EPISODES = {"CartPole": 500, "Reach": 120, "Worm": 150}
"""Steps after which an episode is cut off."""


def register() -> None:
    """Tells Gymnasium the environments; doing it again does nothing. Raises ``ImportError`` without Gymnasium."""
    try:
        from gymnasium.envs import registration
    except ImportError as error:
        raise ImportError("environments need Gymnasium: pip install './python[gym]'") from error
    for name, steps in EPISODES.items():
        if f"sinew/{name}-v0" not in registration.registry:
            entry_point = f"sinew.envs.{_FILES[name]}:{name}"
            registration.register(
                f"sinew/{name}-v0", entry_point=entry_point, vector_entry_point=f"{entry_point}Batch", max_episode_steps=steps
            )


_FILES = {"CartPole": "cart_pole", "Reach": "reach", "Worm": "worm"}

register()
