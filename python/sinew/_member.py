"""One member of a study: the scene with its values, run and measured. What it computes depends on nothing but what it is given.

Seconds become steps by rounding: ``max(1, round(seconds / dt))``. Steps are made 64 at a time, so that a study can be stopped.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ._points import as_ron
from ._sinew import SceneDoc, World

Measure = str | Callable[..., Any]

OF_WORLD: dict[str, Callable[[World], Any]] = {
    "time": lambda world: world.time,
    "energy": lambda world: world.energy.total,
    "kinetic": lambda world: world.energy.kinetic,
    "gap": lambda world: world.violation[0],
    "good": lambda world: world.is_good,
    "warnings": lambda world: " ".join(notice.name for notice in world.notices if notice.is_warning),
    "digest": lambda world: world.digest,
}
"""Measures of a world by name: s, J, J, m (the largest gap of a joint), and words."""

OF_BODY = {"x": 0, "y": 1, "z": 2}
"""``seat.x``: where the frame of a body is, m, world axes."""

OF_TWIST = {"wx": 0, "wy": 1, "wz": 2, "vx": 3, "vy": 4, "vz": 5}
"""``seat.vx``: how fast it moves and turns, m/s and rad/s, world axes."""

OF_JOINT = {"position": "joint_positions", "rate": "joint_rates", "effort": "joint_efforts"}
"""``bar.position``: the first coordinate of a joint, rad or m."""


@dataclass(frozen=True)
class Member:
    """A member of a study, as ``begin`` gets it: its number, its seed, its values by path.

    >>> member = sinew.Member(0, 7, {"dt": 0.01})
    >>> float(member.rng.random()) == float(member.rng.random())
    True
    """

    index: int
    seed: int
    values: dict[str, Any] = field(default_factory=dict)

    @property
    def rng(self) -> np.random.Generator:
        """Random numbers of this member, from the start with each use."""
        return np.random.default_rng(self.seed)


@dataclass(frozen=True)
class Recipe:
    """What all members have in common; can be pickled if its functions can."""

    scene: SceneDoc
    measures: tuple[tuple[str, Measure], ...]
    seconds: float | None
    begin: Callable[[World, Member], None] | None


class Stopped(Exception):
    """The study was interrupted in the middle of a member."""


def row_of(recipe: Recipe, member: Member, is_stopped: Callable[[], bool] = lambda: False) -> dict[str, Any]:
    """The row of a member. What goes wrong with it is the column ``error``, in one line."""
    row: dict[str, Any] = {"member": member.index, "seed": member.seed, **member.values}
    try:
        row.update(_measured(recipe, member, is_stopped))
        row["error"] = ""
    except Stopped:
        raise
    except Exception as error:  # A member that fails is a row, and not the end of the study.
        row["error"] = " ".join(f"{type(error).__name__}: {error}".split())
    return row


def _measured(recipe: Recipe, member: Member, is_stopped: Callable[[], bool]) -> dict[str, Any]:
    scene = recipe.scene
    for path, value in member.values.items():
        scene = scene.set(path, as_ron(value))
    seconds = _duration(scene) if recipe.seconds is None else recipe.seconds
    world = scene.build()
    if recipe.begin:
        recipe.begin(world, member)
    left = max(1, round(seconds / world.dt))
    while left:
        if is_stopped():
            raise Stopped
        world.step(min(left, 64))
        left -= min(left, 64)
    return {name: _value(name, measure, world) for name, measure in recipe.measures}


def _duration(scene: SceneDoc) -> float:
    """The duration of a scene, s: `to_ron` writes each field of the scene itself on a line of its own, two spaces in."""
    found = re.search(r"^  duration_s: ([^,\n]+),$", scene.to_ron(), re.M)
    return float(found.group(1)) if found else 1.0


def _value(name: str, measure: Measure, world: World) -> Any:
    value = measure(world) if callable(measure) else named(measure, world)
    if isinstance(value, (np.generic, np.ndarray)):
        value = value.tolist()
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    raise TypeError(f"measure {name!r} gave {type(value).__name__}; a number, a text or a truth is a cell")


def named(measure: str, world: World) -> Any:
    """The value of a measure by name.

    >>> from sinew._member import named
    >>> world = sinew.load("pendulum")
    >>> named("time", world)
    0.0
    """
    if measure in OF_WORLD:
        return OF_WORLD[measure](world)
    part, _, what = measure.rpartition(".")
    if what in OF_BODY:
        return world.poses[world.body(part), OF_BODY[what]]
    if what in OF_TWIST:
        return world.twists[world.body(part), OF_TWIST[what]]
    if what in OF_JOINT:
        return getattr(world, OF_JOINT[what])[world.coordinate(part)][0]
    raise _unknown(measure)


def _unknown(measure: str) -> ValueError:
    parts = ", ".join([*OF_BODY, *OF_TWIST])
    return ValueError(
        f"there is no measure {measure!r}: {', '.join(OF_WORLD)}, BODY.({parts}), JOINT.({', '.join(OF_JOINT)}), or a function of the world"
    )


def check_name(measure: str) -> None:
    """Refuses what cannot be the name of a measure, before anything runs."""
    part, _, what = measure.rpartition(".")
    if measure not in OF_WORLD and not (part and (what in OF_BODY or what in OF_TWIST or what in OF_JOINT)):
        raise _unknown(measure)
