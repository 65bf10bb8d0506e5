"""Scaling of fits over partitions: rows, atoms and workers, and a model of larger clusters.

    python benchmarks/scale.py            up to 2·10⁶ rows and 400 atoms, 1 and 2 workers; 10⁷ rows
    python benchmarks/scale.py --quick    up to 10⁵ rows and 100 atoms

It writes docs/tables/scale.md and docs/figures/scale.png; with --quick it prints the table, and
the figure goes to the folder of temporary files. Tasks make the rows. "Curvature" is a
pass that sums M × M numbers, "gradient" one that sums M. Microseconds per row are processor time of
workers, as is the yardstick, which hashes 64 MiB; both hold on a busy machine. The speed-up is that
of wall time and needs an idle machine: beside it stands the speed-up of the yardstick in the same
run. The calculated clusters have the measured times per row and per task, one task a worker and
pass, and links of 1 GB/s; the seconds beside an efficiency say what limits it. The last row is a
whole fit of rows that need more memory than all workers have.
"""

import argparse
import hashlib
import math
import pickle
import resource
import tempfile
import time
from functools import partial
from pathlib import Path

import dask.array as da
import matplotlib as mpl
import numpy as np
from distributed import Client, LocalCluster
from tables import publish, table

from colk.distributed import DaskCOLKRegressor
from colk.distributed.engines import DaskParts
from colk.kernels import Matern
from colk.losses import Squared
from colk.risks import Mean
from colk.rkhs.polishing import Block
from colk.rkhs.polishing.row_terms import SumObjective
from colk.rkhs.polishing.sums import sums_block

mpl.use("Agg")
import matplotlib.pyplot as plt

FIGURE = Path(__file__).parents[1] / "docs" / "figures" / "scale.png"
FEATURES, BANDWIDTH, CALCULATED_ROWS = 10, 1e9, 1e8  # bytes per second of a link
FAN_IN = 8  # sums that a task of the reduction adds
PASSES = {"gradient": False, "curvature": True}


def make_rows(place: int, size: int, total: int) -> Block:
    """Rows of Friedman's first function."""
    rng = np.random.default_rng([3, place])
    X = rng.random((size, FEATURES))
    y = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2 + 10 * X[:, 3]
    return Block(
        X, (y + 5 * X[:, 4] + rng.normal(size=size) - 14.0) / 5.0, np.full(size, 1 / total)
    )


def timed(function, block: Block, *arguments) -> tuple[float]:
    """Processor seconds of a function of a partition."""
    began = time.process_time()
    function(block, *arguments)
    return (time.process_time() - began,)


def hashed(block: Block) -> tuple[float]:
    hashlib.sha256(bytes(2**26)).digest()
    return (0.0,)


def nothing(block: Block) -> tuple[float]:
    return (0.0,)


def memory() -> float:
    """Largest memory of this process, in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def blocks(client: Client, n_rows: int, n_parts: int) -> DaskParts:
    size = n_rows // n_parts
    tasks = [client.submit(make_rows, k, size, n_rows, pure=False) for k in range(n_parts)]
    return DaskParts(client, tasks)


def problem(n_atoms: int) -> tuple[SumObjective, np.ndarray]:
    atoms = np.random.default_rng(0).random((n_atoms, FEATURES))
    return SumObjective(Matern(2.0), atoms, Squared(), Mean(), 1), np.zeros((n_atoms, 1))


def per_row(parts: DaskParts, n_rows: int, n_atoms: int) -> dict[str, float]:
    """Processor microseconds per row of each pass, and of the yardstick per partition."""
    objective, weights = problem(n_atoms)
    found = {}
    for name, bend in PASSES.items():
        seconds = parts.total(partial(timed, sums_block), None, objective, weights, None, bend)[0]
        found[name] = 1e6 * seconds / n_rows
    found["yardstick"] = parts.total(partial(timed, hashed))[0] / len(parts)
    return found


def wall(parts: DaskParts, function, *arguments, repeat: int = 3) -> tuple[float, float]:
    """Least wall time of a pass, and the processor time of the caller."""
    found = []
    for _ in range(repeat):
        began, own = time.perf_counter(), time.process_time()
        parts.total(function, *arguments)
        found.append((time.perf_counter() - began, time.process_time() - own))
    return min(found)


def cluster(n_workers: int, **settings) -> LocalCluster:
    return LocalCluster(
        n_workers=n_workers, threads_per_worker=1, dashboard_address=":0", **settings
    )


def calculated(n_workers: int, row: float, task: float, n_bytes: int) -> dict[str, float]:
    """Seconds of a pass with one task a worker: rows, scheduler, and sums in a tree of eight."""
    levels = math.ceil(math.log(n_workers, FAN_IN)) if n_workers > 1 else 0
    joins = sum(math.ceil(n_workers / FAN_IN**level) for level in range(1, levels + 1))
    return {
        "rows": CALCULATED_ROWS / n_workers * row,
        "scheduler": task * (n_workers + joins),
        "reduction": levels * FAN_IN * n_bytes / BANDWIDTH,
    }


def efficiency(seconds: dict[str, float]) -> float:
    return seconds["rows"] / sum(seconds.values())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    sizes = (25_000, 50_000, 100_000) if quick else (250_000, 500_000, 1_000_000, 2_000_000)
    orders = (25, 50, 100) if quick else (100, 200, 400)
    rows, by_rows, by_atoms, walls = [], {}, {}, {}
    with cluster(1) as here, Client(here) as client:
        for n_rows in sizes:
            by_rows[n_rows] = per_row(blocks(client, n_rows, 8), n_rows, orders[-1])
        for n_atoms in orders:
            by_atoms[n_atoms] = per_row(blocks(client, sizes[0], 8), sizes[0], n_atoms)
        empty = blocks(client, 800, 400)
        task = wall(empty, nothing)[0] / len(empty)
    objective, weights = problem(orders[-1])
    for n_workers in (1, 2):
        with cluster(n_workers) as here, Client(here) as client:
            parts = blocks(client, sizes[-1], 8)
            wall(parts, nothing, repeat=1)  # the rows are made
            arguments = sums_block, None, objective, weights, None
            walls[n_workers] = {
                **{name: wall(parts, *arguments, bend) for name, bend in PASSES.items()},
                "yardstick": wall(parts, hashed),
                "used": per_row(parts, sizes[-1], orders[-1])["curvature"],
            }
    sums = {name: sums_block(make_rows(0, 8, 8), None, *problem(orders[-1]), None, bend)
            for name, bend in PASSES.items()}  # fmt: skip
    n_bytes = {name: len(pickle.dumps(each, protocol=5)) for name, each in sums.items()}
    for n_rows, found in by_rows.items():
        rows.append([f"{n_rows:,} rows, {orders[-1]} atoms", *_numbers(found)])
    for n_atoms, found in by_atoms.items():
        rows.append([f"{sizes[0]:,} rows, {n_atoms} atoms", *_numbers(found)])
    gains = {name: walls[1][name][0] / walls[2][name][0] for name in (*PASSES, "yardstick")}
    rows.append(["speed-up from 1 to 2 workers", *(f"{gain:.2f}" for gain in gains.values())])
    ratio = walls[2]["used"] / walls[1]["used"]
    rows.append(["processor time of 2 workers relative to 1", "", f"{ratio:.2f}", ""])
    rows.append(["bytes that a partition sends", *(f"{n_bytes[name]:,}" for name in PASSES), ""])
    own = [f"{1e3 * walls[2][name][1]:.0f} ms" for name in PASSES]
    rows.append(["processor time of the caller per pass", *own, ""])
    rows.append(["time of the scheduler per task", f"{1e3 * task:.1f} ms", "", ""])
    curves = _curves(by_rows[sizes[-1]], task, n_bytes)
    for n_workers in (10, 100, 1000):
        found = [_limits(curves[name][n_workers]) for name in PASSES]
        rows.append([f"calculated efficiency, {n_workers:,} workers, 10⁸ rows", *found, ""])
    rows.append(_large(100_000 if quick else 10_000_000, 25 if quick else 100))
    columns = ["measured", *(f"{name}" for name in PASSES), "yardstick"]
    _draw(by_rows, by_atoms, curves, Path(tempfile.gettempdir()) / FIGURE.name if quick else FIGURE)
    if quick:
        print(table(columns, rows))
    else:
        publish("scale", columns, rows)


def _numbers(found: dict[str, float]) -> list[str]:
    return [*(f"{found[name]:.2f} µs/row" for name in PASSES), f"{found['yardstick']:.3f} s"]


def _curves(found: dict, task: float, n_bytes: dict) -> dict[str, dict[int, dict[str, float]]]:
    counts = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
    return {
        name: {
            count: calculated(count, 1e-6 * found[name], task, n_bytes[name]) for count in counts
        }
        for name in PASSES
    }


def _limits(seconds: dict[str, float]) -> str:
    """An efficiency, and the seconds of each part."""
    parts = ", ".join(f"{name} {value:.2g} s" for name, value in seconds.items())
    return f"{efficiency(seconds):.2f} ({parts})"


def make_points(block: np.ndarray, block_info=None) -> np.ndarray:
    return make_rows(block_info[0]["chunk-location"][0], len(block), 1).points


def make_targets(block: np.ndarray, block_info=None) -> np.ndarray:
    return make_rows(block_info[0]["chunk-location"][0], len(block), 1).targets


def _large(n_rows: int, n_atoms: int) -> list[str]:
    """A fit of rows that need more memory than all workers have."""
    n_bytes, size = n_rows * (FEATURES + 2) * 8, n_rows // 100
    limit = max(int(n_bytes / 2.2), 400 * 2**20)
    empty = da.zeros((n_rows, FEATURES), chunks=(size, FEATURES))
    X = empty.map_blocks(make_points, dtype=float, meta=np.empty((0, FEATURES)))
    y = empty.map_blocks(make_targets, drop_axis=1, dtype=float, meta=np.empty(0))
    with cluster(2, memory_limit=limit) as here, Client(here) as client:
        model = DaskCOLKRegressor(client=client, max_atoms=n_atoms, random_state=0)
        began = time.perf_counter()
        model.fit(X, y)
        seconds = time.perf_counter() - began
        peaks = client.run(memory).values()
    test = make_rows(100, 10_000, 1)  # a partition that was not fitted
    score = model.local_.score(test.points, test.targets)
    limits = f"{n_bytes / 2**20:,.0f} MiB, limit {limit / 2**20:,.0f} MiB for each of 2 workers"
    found = [f"{seconds:.0f} s, R² {score:.3f}", f"peak of a worker {max(peaks):,.0f} MiB"]
    return [f"fit of {n_rows:,} rows, {n_atoms} atoms; {limits}", *found, ""]


def _draw(by_rows: dict, by_atoms: dict, curves: dict, path: Path) -> None:
    figure, axes = plt.subplots(1, 3, figsize=(10, 3.2), layout="constrained")
    for name in PASSES:
        axes[0].loglog(
            list(by_rows), [n * 1e-6 * f[name] for n, f in by_rows.items()], "o-", label=name
        )
        axes[1].loglog(list(by_atoms), [f[name] for f in by_atoms.values()], "o-", label=name)
        values = [efficiency(each) for each in curves[name].values()]
        axes[2].semilogx(list(curves[name]), values, label=name)
    axes[0].set(xlabel="rows", ylabel="processor seconds of a pass")
    axes[1].set(xlabel="atoms", ylabel="µs per row")
    axes[2].set(xlabel="workers", ylabel="calculated efficiency, 10⁸ rows", ylim=(0, 1.05))
    for axis, values in ((axes[0], by_rows), (axes[1], by_atoms)):
        axis.set_xticks(list(values), [f"{value:,}" for value in values], rotation=20)
        axis.minorticks_off()
    axes[0].legend()
    figure.savefig(path, dpi=120)


if __name__ == "__main__":
    main()
