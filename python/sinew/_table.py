"""The table of a study: one row per member, columns as NumPy arrays, files that are the same to the byte whoever computed the rows."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np


class Table:
    """Rows and columns. ``table["energy"]`` is a column: numbers as ``float64`` (``nan`` where a member failed), else objects.

    >>> table = sinew.study("pendulum", over={"gravity.z": [-9.81, -1.6]}, measure=["energy"], seconds=0.1)
    >>> table.columns
    ['member', 'seed', 'gravity.z', 'energy', 'error']
    >>> len(table), table["energy"].shape
    (2, (2,))
    """

    def __init__(self, columns: Sequence[str], rows: Sequence[dict[str, Any]]) -> None:
        self.columns = list(columns)
        self.rows = list(rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, column: str) -> np.ndarray:
        """A column. Raises ``KeyError`` for one that is not there."""
        if column not in self.columns:
            raise KeyError(f"there is no column {column!r}; there are {', '.join(self.columns)}")
        values = [row.get(column) for row in self.rows]
        kinds = {type(value) for value in values if value is not None}
        if column in ("member", "seed"):
            return np.array(values, dtype=np.int64)
        if kinds and kinds <= {int, float}:
            return np.array([np.nan if value is None else value for value in values], dtype=np.float64)
        if kinds == {bool} and None not in values:
            return np.array(values, dtype=np.bool_)
        array = np.empty(len(values), dtype=object)
        array[:] = values
        return array

    @property
    def failed(self) -> list[dict[str, Any]]:
        """Rows of the members that have an error."""
        return [row for row in self.rows if row["error"]]

    def csv(self) -> str:
        """The table as text: numbers as short as they can be without losing a bit, lines that end with ``\\n``."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(self.columns)
        for row in self.rows:
            writer.writerow([_cell(row.get(column)) for column in self.columns])
        return text.getvalue()

    def to_csv(self, path: str | Path) -> Path:
        """Writes the table as CSV: the same bytes for the same study, whoever computed it."""
        path = Path(path)
        path.write_bytes(self.csv().encode("utf-8"))
        return path

    def to_parquet(self, path: str | Path) -> Path:
        """Writes the table as Parquet. Needs pyarrow."""
        try:
            import pyarrow
            import pyarrow.parquet
        except ImportError as error:
            raise ImportError("Parquet needs pyarrow: pip install './python[study]'") from error
        columns = {}
        for name in self.columns:
            column = self[name]
            columns[name] = [None if cell is None else _cell(cell) for cell in column] if column.dtype == object else column
        pyarrow.parquet.write_table(pyarrow.table(columns), str(path))
        return Path(path)

    def __repr__(self) -> str:
        return f"Table({len(self)} rows, {len(self.failed)} failed: {', '.join(self.columns)})"


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(value) if isinstance(value, (float, list, tuple)) else str(value)
