"""What notebooks show: pictures and pages."""

from __future__ import annotations

import html
from pathlib import Path


class Picture(bytes):
    """A picture as PNG. Notebooks show it; ``save`` writes it."""

    def _repr_png_(self) -> bytes:
        return bytes(self)

    def save(self, path: str | Path) -> Path:
        """Writes the picture to a file."""
        path = Path(path)
        path.write_bytes(self)
        return path

    def __repr__(self) -> str:
        return f"Picture({len(self)} bytes of PNG)"

    __str__ = __repr__


class Page(str):
    """A page to turn and play a motion, which needs nothing but a browser. Notebooks show it; ``save`` writes it.

    The page is that of ``sinew run SCENE --html page.html``.
    """

    height = 520

    def _repr_html_(self) -> str:
        # The page has styles and scripts of its own: it gets a frame.
        return (
            f'<iframe srcdoc="{html.escape(self, quote=True)}" width="100%" height="{self.height}" '
            'style="border: 0" sandbox="allow-scripts allow-downloads"></iframe>'
        )

    def save(self, path: str | Path) -> Path:
        """Writes the page to a file."""
        path = Path(path)
        path.write_text(self, encoding="utf-8")
        return path

    def __repr__(self) -> str:
        return f"Page({len(self)} characters of HTML)"
