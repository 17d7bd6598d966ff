"""The folder of a study: what it is about in ``study.json``, one small file per member that is done, written beside and renamed.

A folder has one study: the fingerprint is of the scene with its files, the values and seeds of all members, the measures and the version.
A file that cannot be read is a member that is not done.
"""

from __future__ import annotations

import hashlib
import inspect
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ._member import Member, Recipe


class StudyDiffers(ValueError):
    """A folder that holds another study."""


def fingerprint(recipe: Recipe, scene: tuple[str, dict[str, bytes]], members: Sequence[Member], version: str) -> str:
    """64 hexadecimal digits of everything that rows depend on. Of functions it sees the source, and not what they call."""
    text, files = scene
    digest = hashlib.sha256()
    for part in [version, text, repr(recipe.seconds), _source(recipe.begin)]:
        digest.update(part.encode() + b"\0")
    for name, content in sorted(files.items()):
        digest.update(name.encode() + b"\0" + hashlib.sha256(bytes(content)).digest())
    for name, measure in recipe.measures:
        digest.update(f"{name}={_source(measure)}\0".encode())
    for member in members:
        digest.update(f"{member.seed} {list(member.values.items())!r}\0".encode())
    return digest.hexdigest()


def _source(function: Any) -> str:
    if function is None or isinstance(function, str):
        return repr(function)
    try:
        return inspect.getsource(function)
    except (OSError, TypeError):
        code = getattr(function, "__code__", None)
        return f"{code.co_code.hex()} {code.co_names} {code.co_consts}" if code else type(function).__qualname__


class Folder:
    """A folder with the rows of one study."""

    def __init__(self, path: str | os.PathLike[str], mark: str) -> None:
        self.path = Path(path)
        self.path.mkdir(parents=True, exist_ok=True)
        head = self.path / "study.json"
        if head.exists():
            found = (self._json(head) or {}).get("fingerprint")
            if found != mark:
                raise StudyDiffers(f"{self.path} holds another study: its scene, values, seeds, measures or version differ; name another folder")
        elif any(self.path.iterdir()):
            raise StudyDiffers(f"{self.path} is not empty, and holds no study")
        else:
            self._write(head, {"fingerprint": mark})

    def rows(self, members: Sequence[Member]) -> dict[int, dict[str, Any]]:
        """Rows that are there, by member."""
        there = {}
        for member in members:
            row = self._json(self._file(member.index))
            if row and row.get("member") == member.index and row.get("seed") == member.seed and "error" in row:
                there[member.index] = {**row, **member.values}
        return there

    def keep(self, row: dict[str, Any]) -> None:
        """Writes a row."""
        self._write(self._file(row["member"]), row)

    def _file(self, index: int) -> Path:
        return self.path / f"member_{index:06}.json"

    @staticmethod
    def _json(path: Path) -> dict[str, Any] | None:
        try:
            found = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        return found if isinstance(found, dict) else None

    @staticmethod
    def _write(path: Path, value: dict[str, Any]) -> None:
        part = path.with_name(f"{path.name}.{os.getpid()}.part")
        part.write_text(json.dumps(value), encoding="utf-8")
        part.replace(path)
