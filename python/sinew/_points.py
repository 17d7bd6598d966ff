"""Where a study looks: lists that make a grid, distributions that are drawn from, points that fill a space.

A distribution is anything with ``ppf`` (those of ``scipy.stats``), with ``inv_cdf`` (``statistics.NormalDist``), or a pair ``(low, high)``
where only distributions make sense. Numbers in [0, 1) go through it. Memory is one number per point and path.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Uniform:
    """Every number from ``low`` to ``high`` alike.

    >>> sinew.Uniform(2, 4).ppf(0.5)
    3.0
    """

    low: float
    high: float

    def ppf(self, part: float) -> float:
        """The number below which this part of all draws lies."""
        return float(self.low + (self.high - self.low) * part)


@dataclass(frozen=True)
class Points:
    """Points of a study: one tuple of values per member, in the order of ``paths``. ``sinew.latin`` and ``sinew.sobol`` make them; so can you.

    >>> points = sinew.Points(("dt",), ((0.01,), (0.02,)))
    >>> len(points)
    2
    """

    paths: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]

    def __post_init__(self) -> None:
        if any(len(row) != len(self.paths) for row in self.rows):
            raise ValueError(f"each point needs {len(self.paths)} values, one per path")

    def __len__(self) -> int:
        return len(self.rows)


def latin(over: Mapping[str, Any], n: int, seed: int = 0) -> Points:
    """``n`` points of a Latin hypercube: along every path, each ``n``-th of its range has one point. Needs SciPy.

    Values of ``over`` are pairs ``(low, high)`` or distributions.

    >>> points = sinew.latin({"gravity.z": (-11, -9), "dt": (0.005, 0.01)}, 4, seed=1)
    >>> sorted(int((-9 - z) / 0.5) for z, _ in points.rows)
    [0, 1, 2, 3]
    """
    return _filled(over, lambda qmc: qmc.LatinHypercube(d=len(over), **_seeded(qmc.LatinHypercube, seed)).random(n))


def sobol(over: Mapping[str, Any], n: int, seed: int = 0) -> Points:
    """``n`` points of Sobol's sequence, scrambled; evenly spread if ``n`` is a power of two, and refused otherwise. Needs SciPy.

    >>> len(sinew.sobol({"gravity.z": (-11, -9)}, 8))
    8
    """
    if n < 1 or n & (n - 1):
        raise ValueError(f"points of Sobol are evenly spread for powers of two only, not for {n}")
    return _filled(over, lambda qmc: qmc.Sobol(d=len(over), scramble=True, **_seeded(qmc.Sobol, seed)).random(n))


def _seeded(kind: type, seed: int) -> dict[str, Any]:
    """The seed under the name that this version of SciPy gives it; both make the same points."""
    import inspect

    name = "rng" if "rng" in inspect.signature(kind).parameters else "seed"
    return {name: np.random.default_rng(seed)}


def _filled(over: Mapping[str, Any], fill: Callable[[Any], np.ndarray]) -> Points:
    if not over:
        raise ValueError("there is nothing to fill: name at least one path")
    try:
        from scipy.stats import qmc
    except ImportError as error:
        raise ImportError("points that fill a space need SciPy: pip install './python[study]'") from error
    quantiles = [_quantile(path, given) for path, given in over.items()]
    return Points(tuple(over), tuple(tuple(q(u) for q, u in zip(quantiles, row)) for row in fill(qmc).tolist()))


def _quantile(path: str, given: Any) -> Callable[[float], float]:
    """From [0, 1) to values of a path."""
    quantile = _drawn(given)
    if quantile:
        return quantile
    if isinstance(given, Sequence) and len(given) == 2:
        return Uniform(*given).ppf
    raise ValueError(f"{path}: give a pair (low, high) or a distribution, not {given!r}")


def _drawn(given: Any) -> Callable[[float], float] | None:
    """The quantiles of a distribution, or ``None`` for what is none."""
    quantile = getattr(given, "ppf", None) or getattr(given, "inv_cdf", None)
    return (lambda part: float(quantile(part))) if quantile else None


def members(over: Mapping[str, Any] | Points | None, seeds: Sequence[int]) -> Iterator[tuple[int, dict[str, Any]]]:
    """Seed and values of every member, in order: all seeds of the first point, then those of the next.

    The seed of a member is 32 bits of the seed given and the number of its point; what it draws, it draws with it.
    """
    if isinstance(over, Points):
        paths, rows = over.paths, iter(over.rows)
    else:
        lists = {path: [given] if _drawn(given) else _listed(path, given) for path, given in (over or {}).items()}
        paths, rows = tuple(lists), itertools.product(*lists.values())
    for point, row in enumerate(rows):
        for given_seed in seeds:
            seed = int(np.random.SeedSequence([given_seed, point]).generate_state(1)[0])
            rng = np.random.default_rng(seed)
            values = {}
            for path, value in zip(paths, row):
                quantile = _drawn(value)
                values[path] = _plain(quantile(rng.uniform(1e-12, 1 - 1e-12)) if quantile else value)
            yield seed, values


def _listed(path: str, given: Any) -> list[Any]:
    if isinstance(given, str) or not hasattr(given, "__iter__"):
        raise ValueError(f"{path}: give a list of values or a distribution, not {given!r}")
    listed = list(given)
    if not listed:
        raise ValueError(f"{path}: there are no values")
    return listed


def _plain(value: Any) -> Any:
    """A value of NumPy as one of Python, so that texts of values do not depend on who made them."""
    if isinstance(value, (np.generic, np.ndarray)):
        value = value.tolist()
    return tuple(_plain(part) for part in value) if isinstance(value, (list, tuple)) else value


def as_ron(value: Any) -> str:
    """A value as ``SceneDoc.set`` reads it: numbers and booleans in RON, sequences as tuples, text as it is.

    >>> from sinew._points import as_ron
    >>> as_ron(True), as_ron((0, 0, -1.6)), as_ron('"name"')
    ('true', '(0, 0, -1.6)', '"name"')
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        return "(" + ", ".join(as_ron(part) for part in value) + ")"
    return value if isinstance(value, str) else repr(value)
