"""Speed of `colk fit` on a CSV file, compared with only parsing it.

The script writes rows of four features and a target to a temporary file. Then it parses and fits
the file in turns, each time in a new process. It prints the rows per second of both, by wall-clock
time and by processor time, their ratio, and the growth of memory. The growth is measured from the
point at which a small part of the file is done, when all libraries are loaded.

    python -m colk_lab.tables csv_speed              10⁷ rows, 3 turns
    python -m colk_lab.tables csv_speed --rows N --turns N
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np

from colk_lab.tables.output import publish

N_FEATURES = 4
MAX_ATOMS = 25
WRITTEN_AT_ONCE = 100_000
NAMES = [f"x{i}" for i in range(N_FEATURES)]


def write(path: Path, n_rows: int) -> None:
    rng = np.random.default_rng(0)
    with open(path, "w", encoding="utf-8") as file:
        file.write(",".join([*NAMES, "y"]) + "\n")
        for start in range(0, n_rows, WRITTEN_AT_ONCE):
            X = rng.normal(size=(min(WRITTEN_AT_ONCE, n_rows - start), N_FEATURES))
            y = np.sin(X[:, 0]) + 0.5 * X[:, 1] + 0.1 * rng.normal(size=len(X))
            np.savetxt(file, np.column_stack([X, y]), fmt="%.6f", delimiter=",")


class MemoryUse:
    """The largest resident set since the last call, sampled every few milliseconds."""

    def __init__(self) -> None:
        self._largest = 0.0
        threading.Thread(target=self._look, daemon=True).start()

    def _look(self) -> None:
        page = os.sysconf("SC_PAGE_SIZE")
        while True:
            pages = int(Path("/proc/self/statm").read_text().split()[1])
            self._largest = max(self._largest, pages * page / 1e6)
            time.sleep(0.005)

    def largest(self) -> float:
        """Return the largest resident set in megabytes, and reset it."""
        time.sleep(0.02)
        found, self._largest = self._largest, 0.0
        return found


def parse(path: str, folder: str) -> None:
    from colk.cli.reader_thread import read_ahead
    from colk.tabular.reading import Columns, Source

    for _ in read_ahead(Source([path]).rows(Columns((*NAMES, "y")))):
        pass


def fit(path: str, folder: str) -> None:
    from colk.cli import main

    options = ["--kernel", "gaussian", "--max-atoms", str(MAX_ATOMS), "--overwrite"]
    options += ["--no-polish", "--epochs", "1"]
    main(["fit", path, "--target", "y", "--model", f"{folder}/m.colk", *options])


TASKS = {"parse": parse, "fit": fit}


def measure(task: str, small: str, path: str, folder: str) -> None:
    """Run in a separate process: print seconds and megabytes."""
    memory, run = MemoryUse(), TASKS[task]
    run(small, folder)
    before = memory.largest()
    clock, processors = time.perf_counter(), time.process_time()
    run(path, folder)
    clock, processors = time.perf_counter() - clock, time.process_time() - processors
    print(json.dumps([clock, processors, max(memory.largest() - before, 0.0)]))


def measured(task: str, small: Path, path: Path, folder: str) -> list[float]:
    this = [sys.executable, "-m", "colk_lab.tables.csv_speed", "--measure"]
    command = [*this, task, str(small), str(path), folder]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    found: list[float] = json.loads(printed.splitlines()[-1])
    return found


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--measure", nargs=4)
    arguments = parser.parse_args()
    if arguments.measure:
        measure(*arguments.measure)
        return
    with tempfile.TemporaryDirectory() as folder:
        small, path = Path(folder, "small.csv"), Path(folder, "rows.csv")
        write(small, 200_000)
        write(path, arguments.rows)
        turns = [
            [measured(task, small, path, folder) for task in TASKS] for _ in range(arguments.turns)
        ]
        found = dict(zip(TASKS, np.array(turns).transpose(1, 0, 2), strict=True))
        size = path.stat().st_size / 1e6
    best = {task: values.min(axis=0) for task, values in found.items()}
    rows = [
        [
            task,
            f"{arguments.rows / best[task][0]:,.0f}",
            f"{arguments.rows / best[task][1]:,.0f}",
            f"{found[task][:, 2].max():.1f}",
        ]
        for task in TASKS
    ]
    ratios = [best["parse"][place] / best["fit"][place] for place in (0, 1)]
    rows.append(["fit / parse", *(f"{ratio:.2f}" for ratio in ratios), ""])
    head = f"{arguments.rows:,} rows, {size:,.0f} MB, M ≤ {MAX_ATOMS}"
    publish("csv_speed", [head, "rows/s", "rows/s of one core", "memory growth, MB"], rows)


if __name__ == "__main__":
    main()
