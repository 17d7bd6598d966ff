"""Gradients of rollouts by central differences over a batch.

For every number `p` of the parameters two members make the rollout, one with `p + h` and one with `p - h`, and the gradient is half their difference
over `h`. The error is of second order in `h`, and rounding of the loss over `h`. Where a rollout is not smooth (a contact begins, a bound is
reached between the two) the difference is the slope of a chord, not a derivative. Cost: `1 + 2 n` rollouts for `n` numbers.

What is asked for (parameters by name, a loss of readings) is what a method with exact adjoints could be asked for, too; ``Gradient.method`` tells which it was.
"""

from __future__ import annotations

from typing import Any, Callable, Iterator, Mapping, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._sinew import Batch, SceneDoc, World

INPUTS = ("efforts", "targets", "target_rates", "target_forces", "forces", "torques", "drives", "drive_rates", "activations")
FACTORS = ("mass", "joint_stiffness", "joint_damping", "flesh_stiffness", "contact_stiffness", "contact_damping", "friction")
START = ("coordinates", "rates", "twists")
DELTA = 1e-5
"""Step of the differences, relative to numbers above 1."""

Loss = Callable[[Batch], ArrayLike]


class Gradient(NamedTuple):
    """What ``sinew.gradient`` found."""

    value: NDArray[np.float64]
    """The loss at the parameters as given: a number, or those that the loss has per member."""
    by: dict[str, NDArray[np.float64]]
    """Derivatives by each parameter: the shape of ``value``, then that of the parameter."""
    method: str
    """How they were computed."""
    n_rollouts: int
    """How many members made the rollout."""


def gradient(
    scene: World | SceneDoc | str,
    loss: Loss,
    by: Mapping[str, ArrayLike],
    steps: int,
    *,
    running: Loss | None = None,
    deltas: Mapping[str, float] | None = None,
    members: int = 1024,
) -> Gradient:
    """Derivatives of a loss after so many steps by parameters of the rollout, by central differences.

    ``loss(batch)`` gives a number per member from what the batch reads at the end, or a row of numbers; ``running(batch)`` is added after every
    step. ``by`` has the parameters with the values at which they are wanted:

    - arrays of ``batch.input`` (``efforts``, ``targets``, ``forces``, …) with their shape for a member, which hold all the time, or with a
      leading axis of steps;
    - ``gravity``, m/s²;
    - the state at the beginning: ``twists`` of the bodies, or ``coordinates`` (a displacement from the present ones, one number per degree of
      freedom) and ``rates`` of ``world.dynamics()``;
    - factors of ``batch.vary``: ``mass``, a number or one per body, ``friction``, ….

    ``deltas`` sets the step of the differences by parameter; otherwise it is 1e-5 times the number, and 1e-5 below 1. ``members`` bounds the batch.

    >>> ball = '(format: 1, bodies: [(name: "ball", shapes: [Sphere(radius: 0.1)], mass: Total(2))])'
    >>> found = sinew.gradient(ball, lambda batch: batch.poses[:, 0, 2], {"forces": [[0, 0, 0]]}, steps=60)
    >>> found.by["forces"].shape                  # metres per newton along x, y, z
    (1, 3)
    >>> round(float(found.by["forces"][0, 2]), 3)        # t²/2m, and half a step more
    0.254
    """
    world = scene if isinstance(scene, World) else Batch(scene, 1).world
    values = {name: np.asarray(value, dtype=np.float64) for name, value in by.items()}
    _check(values, steps)
    tried = list(_tried(values, dict(deltas or {})))
    found = []
    for begin in range(0, len(tried), members):
        found.append(_rollouts(world, loss, running, steps, values, tried[begin : begin + members]))
    losses = np.concatenate(found)
    slopes = {name: np.empty((value.size, *losses.shape[1:])) for name, value in values.items()}
    for (name, at, delta), up, down in zip(tried[1::2], losses[1::2], losses[2::2]):
        slopes[name][at] = (up - down) / (2 * delta)
    shaped = {name: np.moveaxis(slope, 0, -1).reshape((*losses.shape[1:], *values[name].shape)) for name, slope in slopes.items()}
    return Gradient(losses[0], shaped, "central differences", len(tried))


_Try = tuple[str, int, float]
"""A parameter, which of its numbers, and what is added to it."""


def _check(values: dict[str, NDArray[np.float64]], steps: int) -> None:
    known = (*INPUTS, *FACTORS, *START, "gravity")
    for name, value in values.items():
        if name not in known:
            raise ValueError(f"{name!r} is no parameter; there are {', '.join(known)}")
        if not np.isfinite(value).all():
            raise ValueError(f"{name}: a number is not finite")
    if steps < 1:
        raise ValueError("a rollout has at least one step")
    if "twists" in values and ("coordinates" in values or "rates" in values):
        raise ValueError("the state at the beginning is given by twists, or by coordinates and rates, not by both")


def _tried(values: dict[str, NDArray[np.float64]], deltas: dict[str, float]) -> Iterator[_Try]:
    """The member as given, then two per number."""
    yield "", 0, 0.0
    for name, value in values.items():
        for at, number in enumerate(value.ravel()):
            delta = deltas.get(name, DELTA * max(1.0, abs(number)))
            yield name, at, delta
            yield name, at, -delta


def _rollouts(
    world: World, loss: Loss, running: Loss | None, steps: int, values: dict[str, NDArray[np.float64]], tried: list[_Try]
) -> NDArray[np.float64]:
    """The losses of some members, a row each."""
    batch = Batch(world, len(tried))
    given = {name: _given(name, value, tried) for name, value in values.items()}
    if factors := {name: value for name, value in given.items() if name in FACTORS}:
        batch.vary(**factors)
    if "gravity" in given:
        batch.gravity = given["gravity"]
    _place(batch, world, given, len(tried))
    timed = {}
    for name in INPUTS:
        if name in given:
            array = getattr(batch.input, name)
            if given[name].ndim == array.ndim + 1:
                timed[name] = (array, given[name])
                if given[name].shape[1] != steps:
                    raise ValueError(f"{name}: {given[name].shape[1]} rows for {steps} steps")
            else:
                array[...] = given[name]
    total: Any = 0.0
    if not timed and running is None:
        batch.step(steps)
    else:
        for step in range(steps):
            for array, numbers in timed.values():
                array[...] = numbers[:, step]
            batch.step()
            if running is not None:
                total = total + np.asarray(running(batch), dtype=np.float64)
    losses = np.asarray(loss(batch), dtype=np.float64) + total
    if losses.shape[:1] != (len(tried),):
        raise ValueError(f"the loss has the shape {losses.shape}: it needs a row for each of {len(tried)} members")
    return losses


def _given(name: str, value: NDArray[np.float64], tried: list[_Try]) -> NDArray[np.float64]:
    """The values of a parameter, a row per member."""
    rows = np.tile(value.ravel(), (len(tried), 1))
    for row, (of, at, delta) in zip(rows, tried):
        if of == name:
            row[at] += delta
    return rows.reshape(len(tried), *value.shape)


def _place(batch: Batch, world: World, given: dict[str, NDArray[np.float64]], n: int) -> None:
    """Puts members where their rollout begins."""
    if "twists" in given:
        batch.place(np.tile(world.poses, (n, 1, 1)), given["twists"])
    elif "coordinates" in given or "rates" in given:
        dynamics = world.dynamics()
        poses, twists = np.tile(world.poses, (n, 1, 1)), np.tile(world.twists, (n, 1, 1))
        start, still = dynamics.coordinates, np.tile(dynamics.rates, (n, 1))
        links = [name for name in world.body_names if name in dynamics.link_names]
        for k, rates in enumerate(given.get("rates", still)):
            dynamics.move_to(start)
            if "coordinates" in given:
                dynamics.move_to(dynamics.advanced(given["coordinates"][k], 1.0), rates)
            else:
                dynamics.move_to(start, rates)
            for name in links:
                row = world.body(name)
                poses[k, row], twists[k, row] = dynamics.pose(name), dynamics.jacobian(name) @ rates
        batch.place(poses, twists)
