"""Scenes run to the same bits as by the command: the table is ``fixtures/golden/digests.ron``.

By default those run that are cheap; ``SINEW_ALL_DIGESTS=1`` runs all.
"""

import json
import os
import re
from pathlib import Path

import pytest
import sinew

GOLDEN = Path(__file__).parents[2] / "fixtures" / "golden" / "digests.ron"
TABLE = json.loads(re.sub(r",\s*}", "}", GOLDEN.read_text())) if GOLDEN.exists() else {}
# Each takes at most some tenths of a second.
CHEAP = Path(__file__).with_name("cheap_scenes.txt").read_text().split()


def digest_after(name):
    world = sinew.load(name)
    world.step(world.n_steps)
    return world.digest


@pytest.mark.skipif(not TABLE, reason="the table is in the repository only")
@pytest.mark.parametrize("name", sorted(TABLE) if os.environ.get("SINEW_ALL_DIGESTS") else CHEAP)
def test_a_scene_ends_with_the_bits_of_the_command(name):
    assert digest_after(name) == TABLE[name]


def test_every_scene_of_the_table_is_built_in():
    assert set(TABLE) <= set(sinew.scene_names())
