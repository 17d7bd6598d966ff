"""The blocks of Python in the guide and in the front page run, in order."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NAMES = ["guide/python", "guide/from-mujoco-rollout", "guide/from-isaac-lab"]
PAGES = [page for page in [*(f"docs/{name}.md" for name in NAMES), "README.md", "python/README.md"] if (ROOT / page).exists()]
BLOCKS = [
    pytest.param(text, id=f"{page}-{k}")
    for page in PAGES
    for k, text in enumerate(re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(encoding="utf-8"), re.S))
]


@pytest.mark.parametrize("text", BLOCKS)
def test_a_block_runs(text, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    exec(compile(text, "block", "exec"), {})


def test_there_are_blocks():
    assert len(BLOCKS) >= 7 or not PAGES
