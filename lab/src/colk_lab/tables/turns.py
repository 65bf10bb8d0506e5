"""Time jobs in turns, so that load on the machine affects all of them equally."""

import math
import time
from collections.abc import Callable

Job = Callable[[], object]


def best_times(*jobs: Job, rounds: int = 40, repeats: int = 10) -> list[float]:
    """Return the minimum seconds of many short runs of each job."""
    best = [math.inf] * len(jobs)
    for _ in range(rounds):
        for which, job in enumerate(jobs):
            best[which] = min(best[which], *run_times(job, repeats))
    return best


def run_times(job: Job, repeats: int) -> list[float]:
    """Return the seconds of several runs of a job, one after the other."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        job()
        times.append(time.perf_counter() - start)
    return times
