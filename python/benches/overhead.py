"""What Python adds to Rust: run it as ``python python/benches/overhead.py``.

The same loops in Rust run inside the library (``sinew._sinew.bench_*``), so both are timed in one process on one build.
"""

import argparse
import resource
import time

import sinew
from sinew import _sinew


def least(rounds, *runs):
    """For each of some runs the sum of the least times of its slices, s: a run repeats itself to the bit, and other programs only add to it. The runs take
    turns, so that a slow minute of the machine meets them all."""
    best = [None] * len(runs)
    for _ in range(rounds):
        for k, run in enumerate(runs):
            times = run()
            best[k] = times if best[k] is None else [min(pair) for pair in zip(best[k], times)]
    return [sum(times) for times in best]


def sliced(slices, work):
    """The times of so many slices."""
    times = []
    for _ in range(slices):
        begin = time.perf_counter()
        work()
        times.append(time.perf_counter() - begin)
    return times


def of_steps(name, rounds):
    """One step per call, and some, against the loop in Rust."""
    world = sinew.load(name)
    slices, steps = 40, 25

    def one_by_one():
        step = world.step
        for _ in range(steps):
            step(1)

    def run(work, slices):
        world.reset()
        return sliced(slices, work)

    python, long, rust = least(
        rounds,
        lambda: run(one_by_one, slices),
        lambda: run(lambda: world.step(steps), slices),
        lambda: _sinew.bench_steps(world, slices, steps),
    )
    n = slices * steps
    print(
        f"{name:10} a step in Rust {rust / n * 1e6:7.2f} µs; step(1) adds {(python - rust) / n * 1e9:.0f} ns, "
        f"step({steps}) {(long - rust) / n * 1e9:.0f} ns per step"
    )


def of_calls(name, rounds):
    """What reading and writing arrays costs."""
    world, n = sinew.load(name), 1000
    step = lambda: [world.step(1) for _ in range(25)]

    def run():
        world.reset()
        return sliced(40, step)

    other = world.copy()
    other.input.efforts[:] = 0.0

    def run_given():
        other.reset()
        return sliced(40, lambda: [other.step(1) for _ in range(25)])

    plain, given, poses = least(rounds, run, run_given, lambda: sliced(100, lambda: world.poses))
    poses /= 100
    print(f"{name:10} an array of the input adds {(given - plain) / n * 1e9:.0f} ns to a step; poses take {poses * 1e9:.0f} ns")


def of_a_batch(name, members, rounds):
    """A step of a batch against `step_batch`."""
    batch = sinew.Batch(name, members)
    steps = max(20, 5000 // members)

    def run():
        batch.reset()
        return sliced(steps, batch.step)

    python, rust = least(rounds, run, lambda: _sinew.bench_batch(batch, steps))
    print(
        f"{name:10} a step of {members} members in Rust {rust / steps * 1e3:.3f} ms; Python adds {(python / rust - 1) * 100:+.2f} %; "
        f"{members * steps / python:,.0f} steps per second"
    )


def of_memory(name, members):
    """Memory of a large batch."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    batch = sinew.Batch(name, members)
    batch.step(2)
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(f"{name:10} {members} members: {(after - before) / 1024:.0f} MiB, {(after - before) * 1024 / members:.0f} bytes each")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--members", type=int, default=10000)
    options = parser.parse_args()
    of_memory("hand", options.members)
    for name in ["pendulum", "hand", "chain_100"]:
        of_steps(name, options.rounds)
    of_calls("hand", options.rounds)
    for members in [16, 1000]:
        of_a_batch("hand", members, options.rounds)


if __name__ == "__main__":
    main()
