"""Studies: the same scene many times, with other values, run and measured, as one table.

Members are independent, and each has the bits of a world of its own, so that the table is the same to the byte on threads and on Ray, in one
go and resumed.
"""

from __future__ import annotations

import os
import pickle
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from ._folder import Folder, StudyDiffers, fingerprint
from ._member import Measure, Member, Recipe, check_name
from ._points import Points, Uniform, latin, members, sobol
from ._runners import on_ray, on_threads
from ._sinew import SceneDoc, World, load_scene
from ._table import Table

__all__ = ["Member", "Points", "StudyDiffers", "StudyInterrupted", "Table", "Uniform", "latin", "sobol", "study"]


class StudyInterrupted(KeyboardInterrupt):
    """Ctrl-C in a study. ``table`` has the rows that were done."""

    def __init__(self, table: Table) -> None:
        super().__init__(f"interrupted after {len(table)} members")
        self.table = table


def study(
    scene: SceneDoc | str | os.PathLike[str],
    over: Mapping[str, Any] | Points | None = None,
    measure: Sequence[Measure] | Mapping[str, Measure] = ("energy", "good"),
    *,
    on: str = "threads",
    seeds: int | Iterable[int] = 1,
    out: str | os.PathLike[str] | None = None,
    seconds: float | None = None,
    begin: Callable[[World, Member], None] | None = None,
    workers: int | None = None,
) -> Table:
    """Runs a scene once for every combination of values and seeds, measures each at its end, and gives a table.

    ``over`` has lists or distributions by the paths of ``SceneDoc.set``; lists make a grid, distributions are drawn from anew for each
    member. ``sinew.latin`` and ``sinew.sobol`` give points instead. ``seeds`` is how many members each point has, or their seeds.
    ``measure`` has names (``energy``, ``good``, ``digest``, ``seat.x``, ``bar.position``) and functions of the world. ``begin`` gets the
    world before its first step, and the member with its seed. ``seconds`` replaces the duration of the scene.

    ``on`` is ``"threads"``, ``"ray"`` (the Ray that this process has joined, or one of this machine), or ``"ray:ADDRESS"``. ``out`` is a folder that keeps
    each member as it is done: the same study goes on from there, another one raises ``StudyDiffers``. A member that fails is a row with an
    ``error``. Ctrl-C raises ``StudyInterrupted``, which has the rows so far.

    >>> table = sinew.study("pendulum", over={"gravity.z": [-9.81, -1.6]}, measure=["energy", "time"], seconds=0.5)
    >>> table["gravity.z"], len(table.failed)
    (array([-9.81, -1.6 ]), 0)
    >>> print(sinew.study("pendulum", over={"dt": [-1]}, seconds=0.1).rows[0]["error"][:10])
    SceneError
    """
    if on not in ("threads", "ray") and not on.startswith("ray:"):
        raise ValueError(f'a study runs on "threads", "ray" or "ray:ADDRESS", not on {on!r}')
    if seconds is not None and not 0 < seconds < float("inf"):
        raise ValueError(f"a run of {seconds} s is none")
    given = list(range(seeds)) if isinstance(seeds, int) else [int(seed) for seed in seeds]
    all_members = [Member(index, *member) for index, member in enumerate(members(over, given))]
    recipe, parts = _recipe(scene, measure, seconds, begin)
    paths = list(all_members[0].values) if all_members else []
    columns = ["member", "seed", *paths, *(name for name, _ in recipe.measures), "error"]
    if len(set(columns)) < len(columns):
        raise ValueError(f"columns need names of their own: {', '.join(columns)}")
    from . import __version__

    folder = Folder(out, fingerprint(recipe, parts, all_members, __version__)) if out is not None else None
    rows = folder.rows(all_members) if folder else {}
    left = [member for member in all_members if member.index not in rows]
    if left:
        runner = on_threads(recipe, left, workers) if on == "threads" else on_ray(recipe, left, workers, on[4:] or None)
        try:
            _collect(runner, rows, len(all_members), folder)
        except KeyboardInterrupt:
            raise StudyInterrupted(_table(columns, rows)) from None
    return _table(columns, rows)


def _table(columns: list[str], rows: Mapping[int, dict[str, Any]]) -> Table:
    return Table(columns, [rows[index] for index in sorted(rows)])


def _recipe(
    scene: SceneDoc | str | os.PathLike[str],
    measure: Sequence[Measure] | Mapping[str, Measure],
    seconds: float | None,
    begin: Callable[[World, Member], None] | None,
) -> tuple[Recipe, tuple[str, dict[str, bytes]]]:
    """What members have in common, and the scene as text and files. The document goes through ``pickle`` here,
    as it does to any worker: errors name the same lines everywhere."""
    if isinstance(measure, str):
        raise ValueError(f"measure is a list: [{measure!r}]")
    pairs = tuple(measure.items()) if isinstance(measure, Mapping) else tuple((_name(one), one) for one in measure)
    for _, one in pairs:
        if isinstance(one, str):
            check_name(one)
    doc = scene if isinstance(scene, SceneDoc) else load_scene(scene)
    doc = pickle.loads(pickle.dumps(doc))
    return Recipe(doc, pairs, seconds, begin), doc.__reduce__()[1]


def _name(measure: Measure) -> str:
    return measure if isinstance(measure, str) else getattr(measure, "__name__", type(measure).__name__)


def _collect(runner: Iterator[dict[str, Any]], rows: dict[int, dict[str, Any]], n: int, folder: Folder | None) -> None:
    """Takes rows as they come, keeps them, and tells how far it is where somebody looks."""
    is_seen, told, start, before = sys.stderr.isatty(), 0.0, time.monotonic(), len(rows)
    try:
        for row in runner:
            is_lost = row.pop("lost", False)
            rows[row["member"]] = row
            if folder and not is_lost:
                folder.keep(row)
            now = time.monotonic()
            if is_seen and (now - told > 0.2 or len(rows) == n):
                told, left = now, (now - start) / (len(rows) - before) * (n - len(rows))
                print(f"\r{len(rows)} of {n} members, {left:.0f} s left   ", end="", file=sys.stderr, flush=True)
    finally:
        runner.close()
        if is_seen:
            print(file=sys.stderr)
