"""Scaling of fits over partitions: rows, atoms and workers, and a model of larger clusters.

    python -m colk_lab.tables scale                all parts, then the report
    python -m colk_lab.tables scale workers        one part: rows, atoms, workers or large
    python -m colk_lab.tables scale report         the report, from the parts that were measured
    python -m colk_lab.tables scale --quick        few rows; prints the report

Tasks make the rows, in 8 partitions. "Curvature" is a pass that sums M × M numbers for M atoms, and
"gradient" is a pass that sums M numbers. The yardstick hashes 64 MiB. Microseconds per row and the
yardstick are processor times of the workers, which are valid on a busy machine too. Passes of one
worker and of two alternate. Their times are medians of five passes (the yardstick then hashes eight
times as much). A speed-up is the median of the five ratios of neighbouring passes, with the
smallest and the largest in brackets. It is one of wall times and needs an idle machine; the last
column has the speed-up of the yardstick in the same run. Calculated clusters have the measured
times per row and per task, one task for each worker and pass, and links of 1 GB/s. The seconds in
brackets show what limits the efficiency, and the last of these rows shows the number of workers at
which half of the time of a pass is lost. The last row of the table is a whole fit of rows that need
more memory than all workers have. The cross in the lower figure is the measured efficiency of 2
workers.
"""

# Each part is written to a file, so that parts can be measured at different times: "workers" needs
# an idle machine, the others do not. Only --again repeats a measured part.

import argparse
import json
import os
import pickle
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import dask.array as da
import numpy as np
from distributed import Client, LocalCluster

from colk.distributed import DaskCOLKRegressor
from colk.distributed.engines import DaskParts
from colk.kernels import Matern
from colk.losses import Squared
from colk.risks import Mean
from colk.risks.samples import APART, HeldSample
from colk.rkhs.polishing.block_sums import curvature_block, sums_block
from colk.rkhs.polishing.objective import SmoothedObjective
from colk_lab.tables.output import FIGURES, publish, table
from colk_lab.tables.scale_report import PASSES, draw, report_rows
from colk_lab.tables.scale_tasks import (
    FEATURES,
    clocked,
    hashed,
    make_points,
    make_rows,
    make_targets,
    nothing,
    peak,
    sent_to_workers,
)

FIGURE = FIGURES / "scale.png"
STORE = Path(tempfile.gettempdir()) / "colk_scale.json"
PARTS = 8
SIZES = (250_000, 500_000, 1_000_000, 2_000_000)
ORDERS = (100, 200, 400)
ROUNDS = 5  # passes of one worker and of two, in turn
YARDSTICK = 8  # how many times a partition hashes in these
LARGE = (10_000_000, 100)  # rows and atoms
QUICK = 20  # how many times fewer rows, and four times fewer atoms


def cluster(n_workers: int, **settings: Any) -> LocalCluster:
    return LocalCluster(
        n_workers=n_workers, threads_per_worker=1, dashboard_address=":0", **settings
    )


def blocks(client: Client, n_rows: int, n_parts: int = PARTS) -> DaskParts:
    size = n_rows // n_parts
    tasks = [client.submit(make_rows, k, size, n_rows, pure=False) for k in range(n_parts)]
    return DaskParts(client, tasks)


def pass_of(n_atoms: int, bends: bool) -> tuple[Any, ...]:
    """Return the function of a block that sums derivatives, and its arguments after the block."""
    atoms = np.random.default_rng(0).random((n_atoms, FEATURES))
    objective = SmoothedObjective(Matern(2.0), atoms, Squared(), Mean(), 1)
    nothing_joint = Mean().statistics(HeldSample(np.ones(1), np.zeros(1)))
    terms = None, objective, np.zeros((n_atoms, 1)), nothing_joint
    return (curvature_block, *terms, APART, True) if bends else (sums_block, *terms)


def timed(parts: DaskParts, function: Callable[..., Any], *arguments: Any) -> dict[str, float]:
    """Wall time of a pass, processor time of the caller in it, and that of the workers."""
    began, own = time.perf_counter(), time.process_time()
    used = parts.total(partial(clocked, function), *arguments)[-1]
    seconds, own = time.perf_counter() - began, time.process_time() - own
    return {"seconds": seconds, "caller": own, "used": used}


def per_row(parts: DaskParts, n_rows: int, n_atoms: int) -> dict[str, float]:
    """Processor microseconds per row of each pass, and seconds of the yardstick per partition."""
    found = {}
    for name, bend in PASSES.items():
        used = timed(parts, *pass_of(n_atoms, bend))["used"]
        found[name] = 1e6 * used / n_rows
    found["yardstick"] = timed(parts, hashed, 1)["used"] / len(parts)
    return found


def measure_rows(sizes: tuple[int, ...], orders: tuple[int, ...]) -> dict[str, Any]:
    with cluster(1) as here, Client(here) as client:
        return {str(n): per_row(blocks(client, n), n, orders[-1]) for n in sizes}


def measure_atoms(sizes: tuple[int, ...], orders: tuple[int, ...]) -> dict[str, Any]:
    n_rows = sizes[0]
    with cluster(1) as here, Client(here) as client:
        return {str(n): per_row(blocks(client, n_rows), n_rows, n) for n in orders}


def measure_workers(
    sizes: tuple[int, ...], orders: tuple[int, ...], yardstick: int
) -> dict[str, Any]:
    """Times of the largest problem with one worker and with two; bytes that are moved.

    Both clusters run all the time, and passes of one worker and of two alternate, so that both have
    the same conditions.
    """
    n_atoms, found = orders[-1], {"moved": {}, "sent": {}}
    with (
        cluster(1) as small,
        cluster(2) as large,
        Client(small, set_as_default=False) as alone,
        Client(large, set_as_default=False) as both,
    ):
        parts = {"1": blocks(alone, sizes[-1]), "2": blocks(both, sizes[-1])}
        for each in parts.values():  # the rows are made, and every worker gets its share
            timed(each, *pass_of(n_atoms, False))
        found["yardstick"] = alternated(parts, hashed, yardstick)
        for name, bend in PASSES.items():
            function, *arguments = pass_of(n_atoms, bend)
            before = sum(both.run(sent_to_workers).values())
            found[name] = alternated(parts, function, *arguments)
            moved = sum(both.run(sent_to_workers).values()) - before
            found["moved"][name] = moved / ROUNDS
            sums = function(make_rows(0, 8, 8), *arguments)
            found["sent"][name] = len(pickle.dumps(sums, protocol=5))
        found["task"] = per_task(alone)
    return found


def alternated(
    parts: dict[str, DaskParts], function: Callable[..., Any], *arguments: Any
) -> dict[str, list[dict[str, float]]]:
    """Times of several passes of one worker and of two, in turn; each begins every other time."""
    found: dict[str, list[dict[str, float]]] = {name: [] for name in parts}
    for number in range(ROUNDS):
        for name in sorted(parts, reverse=number % 2 == 1):
            found[name].append(timed(parts[name], function, *arguments))
    return found


def per_task(client: Client, n_tasks: int = 200) -> float:
    """Seconds of client and scheduler for a task that does nothing."""
    empty = blocks(client, 2 * n_tasks, n_tasks)
    timed(empty, nothing)  # the rows are made
    return median(timed(empty, nothing)["seconds"] for _ in range(ROUNDS)) / n_tasks


def measure_large(n_rows: int, n_atoms: int) -> dict[str, Any]:
    """A fit of rows that need more memory than all workers have."""
    n_bytes, size = n_rows * (FEATURES + 2) * 8, n_rows // 100
    limit = max(int(n_bytes / 2.2), 400 * 2**20)
    empty = da.zeros((n_rows, FEATURES), chunks=(size, FEATURES))
    X = empty.map_blocks(make_points, dtype=float, meta=np.empty((0, FEATURES)))
    y = empty.map_blocks(make_targets, drop_axis=1, dtype=float, meta=np.empty(0))
    with cluster(2, memory_limit=limit) as here, Client(here) as client:
        processes = set(client.run(os.getpid).values())
        model = DaskCOLKRegressor(client=client, max_atoms=n_atoms, random_state=0)
        began = time.perf_counter()
        model.fit(X, y)
        seconds = time.perf_counter() - began
        peaks = client.run(peak)
        died = len(processes - set(client.run(os.getpid).values()))
    test = make_rows(100, 10_000, 1)  # a partition that was not fitted
    return {
        "rows": n_rows,
        "atoms": n_atoms,
        "data": n_bytes / 2**20,
        "limit": limit / 2**20,
        "seconds": seconds,
        "score": model.local_.score(test.points, test.targets),
        "peak": max(peaks.values()),
        "died": died,
    }


def measure(path: Path, chosen: str, quick: bool, again: bool) -> dict[str, Any]:
    """Measure the parts that are not in the file yet, and return all parts."""
    sizes = tuple(n // QUICK for n in SIZES) if quick else SIZES
    orders = tuple(n // 4 for n in ORDERS) if quick else ORDERS
    large = (LARGE[0] // 100, LARGE[1] // 4) if quick else LARGE
    parts: dict[str, Callable[[], dict[str, Any]]] = {
        "rows": partial(measure_rows, sizes, orders),
        "atoms": partial(measure_atoms, sizes, orders),
        "workers": partial(measure_workers, sizes, orders, 1 if quick else YARDSTICK),
        "large": partial(measure_large, *large),
    }
    found: dict[str, Any] = json.loads(path.read_text("utf-8")) if path.exists() else {}
    for name, function in parts.items():
        is_wanted = chosen in ("all", name)
        if is_wanted and (again or name not in found):
            began = time.monotonic()
            found[name] = function()
            path.write_text(json.dumps(found, indent=1), encoding="utf-8")
            print(f"{name}: {time.monotonic() - began:.0f} s", flush=True)
    missing = [name for name in parts if name not in found]
    if chosen == "report" and missing:
        raise SystemExit(f"not measured yet: {', '.join(missing)}")
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    kinds = ("all", "rows", "atoms", "workers", "large", "report")
    parser.add_argument("part", nargs="?", default="all", choices=kinds)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--again", action="store_true", help="measure also what was measured")
    parser.add_argument("--store", type=Path, default=STORE, help=f"default: {STORE}")
    given = parser.parse_args()
    store = given.store.with_suffix(".quick.json") if given.quick else given.store
    found = measure(store, given.part, given.quick, given.again)
    if given.part not in ("all", "report"):
        return
    columns, rows = report_rows(found)
    if given.quick:
        draw(found, Path(tempfile.gettempdir()) / FIGURE.name)
        print(table(columns, rows))
    else:
        draw(found, FIGURE)
        publish("scale", columns, rows)


if __name__ == "__main__":
    main()
