"""Worlds and batches in other processes, forked and spawned. Each runs as a program of its own, as children of `spawn` import it by its path."""

import multiprocessing
import subprocess
import sys

import pytest

PROGRAM = """
import multiprocessing, sys
import sinew

def step(world):
    batch = sinew.Batch("hand", 8)
    batch.step(10)
    ring = sinew.load("ring_100")
    ring.step(3)
    world.step(5)
    return batch.digests[3], ring.digest, world

if __name__ == "__main__":
    world = sinew.load("hand")
    world.step(2)
    here = step(world.copy())  # the threads of this process exist now
    with multiprocessing.get_context(sys.argv[1]).Pool(2) as pool:
        for there in pool.map(step, [world, world]):
            assert there[:2] == here[:2]
            assert there[2].digest == here[2].digest
    print("same")
"""


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_children_step_to_the_same_bits(method, tmp_path):
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"there is no {method} here")
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    run = subprocess.run([sys.executable, path, method], capture_output=True, text=True, timeout=120, cwd=tmp_path)
    assert run.stdout.strip() == "same", run.stderr
