"""Two learners in two threads, compared with the same two one after the other, in one run.

    python lab/tables/threads.py

A hash of bytes, which releases the interpreter lock, shows the speedup that the machine allows.
"""

import argparse
import hashlib
from collections.abc import Callable
from functools import partial
from threading import Thread

from cases import CHUNKS, cube_of, large_colk, small_learner
from streams import by_chunks, wave
from tables import table
from turns import Job, best_times

from colk.learners import COLK

ASKED = 1.7


def pair(
    make: Callable[[], COLK], data: Callable[[int], tuple], warm: int, chunk: int
) -> list[Job]:
    """Return two jobs that each learn the next chunk of the same stream."""
    arrays = data(warm + CHUNKS * chunk)
    return [by_chunks(make().learn, arrays, warm, chunk) for _ in range(2)]


def one_after_the_other(jobs: list[Job]) -> None:
    for job in jobs:
        job()


def at_the_same_time(jobs: list[Job]) -> None:
    threads = [Thread(target=job) for job in jobs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=20)
    rounds = parser.parse_args().rounds
    # A chunk takes about 50 ms; starting a thread takes a tenth of that.
    data = bytes(60_000_000)
    cases = {
        "SHA-256, for comparison": [lambda: hashlib.sha256(data)] * 2,
        "Gaussian, 1 feature, M ≈ 24": pair(small_learner, wave, 10_000, 150_000),
        "Gaussian, 8 features, M = 200": pair(partial(large_colk, 200), cube_of(8), 3000, 10_000),
    }
    rows = []
    for name, jobs in cases.items():
        apart, together = best_times(
            partial(one_after_the_other, jobs),
            partial(at_the_same_time, jobs),
            rounds=rounds,
            repeats=1,
        )
        ratio = f"{apart / together:.2f}"
        rows.append([name, f"{1e3 * apart:.1f}", f"{1e3 * together:.1f}", ratio, f"≥ {ASKED}"])
    columns = ("two learners", "one after the other, ms", "two threads, ms", "speedup", "required")
    print(table(columns, rows))


if __name__ == "__main__":
    main()
