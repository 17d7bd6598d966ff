"""What Python adds to Rust: run it as ``python python/benches/overhead.py``.

The same loops in Rust run inside the library (``sinew._sinew.bench_*``), so both are timed in one process on one build. Times are the least of several
rounds, since other programs only add to them.
"""

import argparse
import resource
import time

import sinew
from sinew import _sinew


def least(run, rounds):
    """Least time of some rounds, s."""
    best = float("inf")
    for _ in range(rounds):
        begin = time.perf_counter()
        run()
        best = min(best, time.perf_counter() - begin)
    return best


def of_a_step(name, rounds):
    """One step per call, and a thousand, against the loop in Rust."""
    n = 1000
    world = sinew.load(name)
    python, rust, long = float("inf"), float("inf"), float("inf")

    def one_by_one():
        step = world.step
        for _ in range(n):
            step(1)

    # In turns, so that a slower minute of the machine slows all.
    for _ in range(rounds):
        world.reset()
        python = min(python, least(one_by_one, 1) / n)
        world.reset()
        long = min(long, least(lambda: world.step(n), 1) / n)
        rust = min(rust, _sinew.bench_steps(world, n) / n)
    print(f"{name:12} Rust {rust * 1e6:8.2f} µs   step(1) {(python - rust) * 1e9:+7.0f} ns   step(1000) {(long / rust - 1) * 100:+5.2f} %")


def of_inputs(name, rounds):
    """What reading an input costs."""
    world = sinew.load(name)
    n = 1000
    plain = least(lambda: [world.step(1) for _ in range(n)], rounds) / n
    world.reset()
    world.input.efforts[:] = 0.0
    given = least(lambda: [world.step(1) for _ in range(n)], rounds) / n
    reading = least(lambda: [world.poses for _ in range(n)], rounds) / n
    print(f"{name:12} efforts given {(given - plain) * 1e9:+.0f} ns per step, poses read in {reading * 1e9:.0f} ns")


def of_a_batch(name, members, rounds):
    """A step of a batch against `step_batch`."""
    batch = sinew.Batch(name, members)
    n = max(1, 20000 // members)
    python, rust = float("inf"), float("inf")
    for _ in range(rounds):
        batch.reset()
        python = min(python, least(lambda: batch.step(n), 1) / n)
        rust = min(rust, _sinew.bench_batch(batch, n) / n)
    print(f"{name:12} batch of {members}: Rust {rust * 1e3:.3f} ms   Python {(python / rust - 1) * 100:+.2f} %   {members / python:,.0f} steps per second")


def of_memory(name, members):
    """Memory of a large batch."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    batch = sinew.Batch(name, members)
    batch.step(2)
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(f"{name:12} {members} members: {(after - before) / 1024:.0f} MiB, {(after - before) * 1024 / members:.0f} bytes each")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--members", type=int, default=10000)
    options = parser.parse_args()
    of_memory("hand", options.members)
    for name in ["pendulum", "hand", "chain_100"]:
        of_a_step(name, options.rounds)
    of_inputs("hand", options.rounds)
    for members in [16, 1000]:
        of_a_batch("hand", members, options.rounds)


if __name__ == "__main__":
    main()
