"""Who computes the members of a study: threads of this process, or workers of Ray. Rows come in any order; the table puts them in theirs."""

from __future__ import annotations

import concurrent.futures
import os
import threading
from collections.abc import Iterator, Sequence
from typing import Any

from ._member import Member, Recipe, row_of

RETRIES = 5
"""How often Ray begins a member anew whose worker was lost."""

AHEAD = 32
"""Members that Ray has at one time, per worker: enough that no worker waits, few enough that little is in memory."""


def on_threads(recipe: Recipe, members: Sequence[Member], workers: int | None) -> Iterator[dict[str, Any]]:
    """Rows computed on threads: steps run without the interpreter lock. A thread ends within 64 steps of an interrupt."""
    stop = threading.Event()
    pool = concurrent.futures.ThreadPoolExecutor(workers or os.cpu_count() or 1)
    try:
        futures = [pool.submit(row_of, recipe, member, stop.is_set) for member in members]
        for future in concurrent.futures.as_completed(futures):
            yield future.result()
    finally:
        stop.set()
        pool.shutdown(wait=True, cancel_futures=True)


def on_ray(recipe: Recipe, members: Sequence[Member], workers: int | None, address: str | None) -> Iterator[dict[str, Any]]:
    """Rows computed by Ray: one that runs, one at an address, or a local one for the time of the study."""
    try:
        import ray
    except ImportError as error:
        raise ImportError("studies on Ray need ray: pip install './python[study]'") from error
    started = not ray.is_initialized()
    if started:
        local = {} if address else {"num_cpus": workers or os.cpu_count() or 1, "include_dashboard": False}
        ray.init(address=address or "local", log_to_driver=False, logging_level="error", **local)
    try:
        yield from _rows_of(ray, recipe, list(members))
    finally:
        if started:
            ray.shutdown()


def _rows_of(ray: Any, recipe: Recipe, waiting: list[Member]) -> Iterator[dict[str, Any]]:
    task = ray.remote(max_retries=RETRIES)(row_of)
    shared = ray.put(recipe)
    ahead = AHEAD * max(1, int(ray.cluster_resources().get("CPU", 1)))
    waiting.reverse()
    running: dict[Any, Member] = {}
    try:
        while waiting or running:
            while waiting and len(running) < ahead:
                member = waiting.pop()
                running[task.remote(shared, member)] = member
            done, _ = ray.wait(list(running), num_returns=1)
            for reference in done:
                yield _fetched(ray, reference, running.pop(reference))
    finally:
        for reference in running:
            ray.cancel(reference)


def _fetched(ray: Any, reference: Any, member: Member) -> dict[str, Any]:
    """The row of a task. A member whose workers were lost again and again is a row as well, which no folder keeps (``lost``)."""
    try:
        return ray.get(reference)
    except ray.exceptions.RayError as error:
        first = str(error).strip().splitlines()[:1]
        text = " ".join([f"{type(error).__name__}:", *first])
        return {"member": member.index, "seed": member.seed, **member.values, "error": text, "lost": True}
