"""Exceptions of the package. What the library refuses is one of these; what Python itself refuses (a wrong type, a wrong shape) is a
``TypeError`` or a ``ValueError``."""

from __future__ import annotations


class SinewError(Exception):
    """Everything that the library refuses."""


class SceneError(SinewError, ValueError):
    """A scene that cannot be read. The message lists all errors, each with file, line and column.

    ``file``, ``line`` and ``column`` are those of the first one; line and column count from 1 and are ``None`` where there is no text
    to point into. ``errors`` has one ``(file, line, column, message)`` per error.

    >>> import sinew
    >>> try:
    ...     sinew.load("(format: 1,\\n bodies: [(name: 3)])")
    ... except sinew.SceneError as error:
    ...     print(error.line, error.column)
    2 18
    """

    def __init__(self, message: str, errors: list[tuple[str, int | None, int | None, str]] | None = None) -> None:
        super().__init__(message)
        self.errors = list(errors or [])
        first = self.errors[0] if self.errors else (None, None, None, message)
        self.file, self.line, self.column = first[:3]

    def __reduce__(self):
        return type(self), (str(self), self.errors)


class BuildError(SceneError):
    """A scene that can be read, but not be built: bodies, joints or flesh do not make a mechanism, or something in it is not supported."""


class RestoreError(SinewError, ValueError):
    """A checkpoint of another model, of another version, or a damaged one."""


class NameUnknown(SinewError, LookupError):
    """A body, joint or other part that the world does not have; the message suggests one that it has."""


class DynamicsError(SinewError, ValueError):
    """A world whose joint coordinates cannot be used as asked: its joints close loops, or something has no mass."""
