"""Time of `fit` and `predict` by rows, atoms, features and threads, compared with boosting.

    python -m colk_lab.tables scaling              all tables, about 15 minutes on two idle cores
    python -m colk_lab.tables scaling times        or: busy, threads, letters, sample, pass, figure
    python -m colk_lab.tables scaling times --one-thread

With --one-thread, every model has one thread, and the tables show processor seconds, which are
valid on a busy machine too.

Every measurement runs in its own process, with the default number of BLAS threads. Wall times are
the smallest of several runs if a run is short. Boosting is `HistGradientBoosting` at its defaults.
The data are Friedman 1 with ten features; with three features, a sine and a product. The yardsticks
of "threads" are hashing and matrix products, measured in the same run. Two cores share this work
perfectly; with two threads of one core, or on a busy machine, they gain less than a factor of 2.
The script writes tables to docs/tables and the figure to docs/figures.
"""

import argparse
import hashlib
import json
import multiprocessing
import os
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from colk_lab.tables.output import FIGURES, publish

FIGURE = FIGURES / "scaling.png"

# Rows, features, the most seconds, the most times the seconds of boosting.
TIMES: list[tuple[int, int, float | None, float | None]] = [
    (300, 3, 0.15, None),
    (1_000, 10, 0.35, None),
    (10_000, 10, 0.8, 2.0),
    (200_000, 10, None, 2.0),
    (1_000_000, 10, None, 2.5),
]
MEMORY_ASKED = 400.0  # MB beyond the data, for the most rows
BUSY_ASKED, THREADS_ASKED = 3.0, 1.6
# Runs that are shorter than this are repeated.
_SHORT, _REPEATS = 3.0, 5
PASS_SEED = 1000  # no choice of the length of a pass used data with this seed


# -- in its own process ----------------------------------------------------------------------


def regression(rows: int, features: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(rows + features)
    X = rng.uniform(size=(rows, features))
    if features < 5:
        truth = np.sin(4.0 * X[:, 0]) + X[:, 1] * X[:, 2]
        return X, truth + 0.1 * rng.normal(size=rows)
    truth = 10.0 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20.0 * (X[:, 2] - 0.5) ** 2
    return X, truth + 10.0 * X[:, 3] + 5.0 * X[:, 4] + rng.normal(size=rows)


def letters(rows: int, seed: int) -> tuple[Any, Any]:
    """Twenty-six classes of three clusters each, in sixteen features of whole numbers."""
    rng = np.random.default_rng(seed)
    centers = rng.normal(size=(26, 3, 16))
    shapes = 0.35 * rng.normal(size=(26, 3, 16, 4))
    label, cluster = rng.integers(26, size=rows), rng.integers(3, size=rows)
    spread = np.einsum("npr,nr->np", shapes[label, cluster], rng.normal(size=(rows, 4)))
    X = centers[label, cluster] + spread + 0.35 * rng.normal(size=(rows, 16))
    return np.round(np.clip(2.0 * X + 7.5, 0.0, 15.0)), label


def peak_memory() -> float:
    """Return the largest memory of this process so far, in MB; 0 if the system does not tell."""
    path = Path("/proc/self/status")
    lines = path.read_text().splitlines() if path.exists() else []
    return next((int(line.split()[1]) / 1024 for line in lines if "VmHWM" in line), 0.0)


def model_of(name: str, settings: dict[str, Any], is_class: bool) -> Any:
    if name == "colk":
        from colk import COLKClassifier, COLKRegressor

        return (COLKClassifier if is_class else COLKRegressor)(random_state=0, **settings)
    if name == "boosting":
        from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

        kind = HistGradientBoostingClassifier if is_class else HistGradientBoostingRegressor
        return kind(random_state=0)
    from sklearn.model_selection import GridSearchCV
    from sklearn.svm import SVC

    return GridSearchCV(SVC(), {"C": [1.0, 10.0], "gamma": [0.03, 0.06, 0.1]}, cv=3)


def measure(job: dict[str, Any]) -> dict[str, float]:
    """Fit and predict; return seconds, memory beyond the data, and the score on new rows."""
    rows, features, is_class = job["rows"], job["features"], job.get("letters", False)
    if is_class:
        X, y = letters(rows + 4_000, seed=7)
        X = (X - X[:rows].mean(axis=0)) / X[:rows].std(axis=0)
        new = X[rows:], y[rows:]
        X, y = X[:rows], y[:rows]
    else:
        X, y = regression(rows, features)
        new = regression(5_000, features)
    settings = job.get("settings", {})
    warm = min(rows, 400)
    model_of(job["model"], settings, is_class).fit(X[:warm], y[:warm]).predict(X[:warm])
    before, seconds = peak_memory(), []
    processor = time.process_time()
    while not seconds or (seconds[-1] < _SHORT and len(seconds) < _REPEATS):
        start = time.perf_counter()
        model = model_of(job["model"], settings, is_class).fit(X, y)
        seconds.append(time.perf_counter() - start)
    processor = (time.process_time() - processor) / len(seconds)
    memory = peak_memory() - before
    predicting = []
    for _ in range(3):
        start = time.perf_counter()
        model.predict(X)
        predicting.append(time.perf_counter() - start)
    return {
        "fit": min(seconds),
        "processor": processor,
        "memory": memory,
        "predict": min(predicting),
        "score": float(model.score(*new)),
    }


# -- in this process -------------------------------------------------------------------------


def run(
    model: str, rows: int, features: int = 10, *, one_thread: bool = False, **more: Any
) -> dict[str, float]:
    job = {"model": model, "rows": rows, "features": features, **more}
    environment = dict(os.environ)
    if one_thread:
        environment.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
        if model == "colk":
            job["settings"] = {**more.get("settings", {}), "n_jobs": 1}
    command = [sys.executable, "-m", "colk_lab.tables.scaling", "--job", json.dumps(job)]
    found = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    result: dict[str, float] = json.loads(found.stdout.splitlines()[-1])
    if one_thread:
        result["fit"] = result["processor"]
    print(f"# {job}: {result}", flush=True)
    return result


def verdict(found: float, asked: float | None) -> str:
    if asked is None:
        return ""
    return f"{'yes' if found <= asked else 'no'} (≤ {asked:g})"


def unit(one_thread: bool) -> str:
    return "processor s, one thread" if one_thread else "s"


def times(one_thread: bool) -> None:
    lines = []
    for rows, features, most, ratio_asked in TIMES:
        ours, peer = (
            run(name, rows, features, one_thread=one_thread) for name in ("colk", "boosting")
        )
        ratio = ours["fit"] / peer["fit"]
        lines.append(
            [
                f"{rows:,} × {features}",
                f"{ours['fit']:.2f}",
                f"{peer['fit']:.2f}",
                f"{ratio:.2f}",
                f"{ours['memory']:.0f}",
                f"{ours['score']:.4f}",
                f"{peer['score']:.4f}",
            ]
        )
        if not one_thread:  # the goals are for wall times
            found = [verdict(ours["fit"], most), verdict(ratio, ratio_asked)]
            lines[-1].append("; ".join(filter(None, found)))
    shown = unit(one_thread)
    columns = ["rows × features", f"fit, {shown}", f"boosting, {shown}", "ratio", "memory, MB"]
    columns += ["R²", "R² of boosting", *([] if one_thread else ["goal reached"])]
    publish("scaling_times", columns, lines)


def spin(_: int) -> None:
    while True:
        pass


@contextmanager
def busy(count: int = 2) -> Any:
    """Keep this many processes busy."""
    processes = [multiprocessing.Process(target=spin, args=(i,), daemon=True) for i in range(count)]
    for process in processes:
        process.start()
    try:
        yield
    finally:
        for process in processes:
            process.terminate()


def busy_table(one_thread: bool) -> None:
    lines = []
    for rows, features in ((300, 3), (1_000, 10), (10_000, 10), (100_000, 10)):
        idle = run("colk", rows, features)["fit"]
        with busy():
            loaded = run("colk", rows, features)["fit"]
        share = loaded / idle
        line = [f"{rows:,} × {features}", f"{idle:.2f}", f"{loaded:.2f}", f"{share:.1f}"]
        lines.append([*line, verdict(share, BUSY_ASKED)])
    columns = ["rows × features", "idle, s", "two busy processes, s", "times", "goal reached"]
    publish("scaling_busy", columns, lines)


def hashing(_: int) -> None:
    hashlib.sha256(bytes(2**23)).digest()


def multiplying(_: int) -> None:
    A = np.full((400, 400), 0.5)
    for _ in range(4):
        A @ A


def yardstick(work: Callable[[int], None], count: int) -> float:
    """Return the least seconds of sixteen pieces of work in this many threads."""
    from threadpoolctl import threadpool_limits

    found = []
    with ThreadPoolExecutor(count) as pool, threadpool_limits(1):
        for _ in range(5):
            start = time.perf_counter()
            list(pool.map(work, range(16)))
            found.append(time.perf_counter() - start)
    return min(found)


def threads(one_thread: bool) -> None:
    one, two = (run("colk", 100_000, settings={"n_jobs": count}) for count in (1, 2))
    lines = []
    for name, work in (("hashing", hashing), ("matrix products", multiplying)):
        alone, both = (yardstick(work, count) for count in (1, 2))
        line = [f"yardstick: {name}", f"{alone:.2f}", f"{both:.2f}", f"{alone / both:.2f}"]
        lines.append([*line, "–"])
    for what in ("fit", "predict"):
        gain = one[what] / two[what]
        enough = "yes" if gain >= THREADS_ASKED else "no"
        line = [what, f"{one[what]:.2f}", f"{two[what]:.2f}", f"{gain:.2f}"]
        lines.append([*line, f"{enough} (≥ {THREADS_ASKED:g})"])
    columns = ["100,000 × 10", "one thread, s", "two threads, s", "times", "goal reached"]
    publish("scaling_threads", columns, lines)


def letters_table(one_thread: bool) -> None:
    lines = []
    for name, shown in (("colk", "default"), ("boosting", "boosting"), ("svc", "tuned SVC")):
        found = run(name, 16_000, 16, one_thread=one_thread, letters=True)
        lines.append([shown, f"{found['score']:.4f}", f"{found['fit']:.1f}"])
    columns = ["26 classes, 16,000 × 16", "accuracy", f"fit, {unit(one_thread)}"]
    publish("scaling_letters", columns, lines)


def sample_table(one_thread: bool) -> None:
    """R² on new rows, by the number of rows that find the atoms, of 50,000."""
    from colk.estimators import fitting

    sizes, lines = (5_000, 10_000, 20_000), []
    for name, draw in (("Friedman 1", friedman), ("arm with six joints", arm)):
        for seed in (0, 1):
            X, y = draw(60_000, seed)
            scores = []
            for size in sizes:
                fitting.SAMPLE_SIZE = size
                model = model_of("colk", {}, False).fit(X[:50_000], y[:50_000])
                scores.append(f"{model.score(X[50_000:], y[50_000:]):.4f}")
            lines.append([f"{name}, seed {seed}", *scores])
    publish("scaling_sample", ["data", *(f"{size:,} rows" for size in sizes)], lines)


def pass_table(one_thread: bool) -> None:
    """R² and processor seconds if the pass that finds the atoms ends early, and if it does not."""
    from colk_lab.tables.race import smooth, steps

    sets = {
        "Friedman 1": friedman,
        "steps, 12 features": steps,
        "arm with six joints": arm,
        "smooth, 8 features": lambda rows, seed: smooth(rows, 8, seed),
    }
    lines = []
    for name, draw in sets.items():
        X, y = draw(15_000, PASS_SEED)
        cells = []
        for epochs in (1, None):
            start = time.process_time()
            model = model_of("colk", {"epochs": epochs}, False).fit(X[:10_000], y[:10_000])
            seconds = time.process_time() - start
            score = model.score(X[10_000:], y[10_000:])
            cells += [f"{score:.4f} ({model.n_atoms_} atoms, {seconds:.1f} s)"]
        lines.append([name, *cells])
        print(*lines[-1], flush=True)
    publish("scaling_pass", ["10,000 rows", "all rows", "default"], lines)


def friedman(rows: int, seed: int) -> tuple[Any, Any]:
    from sklearn.datasets import make_friedman1

    X, y = make_friedman1(rows, 10, noise=1.0, random_state=seed)
    return X, y


def arm(rows: int, seed: int) -> tuple[Any, Any]:
    """The height of the end of an arm whose joints turn by random angles."""
    rng = np.random.default_rng(seed)
    angles = rng.uniform(-1.0, 1.0, size=(rows, 6))
    height = np.cos(np.cumsum(angles, axis=1)).sum(axis=1) / 3.0
    return angles, height + 0.05 * rng.normal(size=rows)


def figure(one_thread: bool) -> None:
    import matplotlib.pyplot as plt

    def seconds(name: str, rows: int, features: int = 10, **settings: Any) -> float:
        found = run(name, rows, features, one_thread=one_thread, settings=settings)
        return found["fit"]

    rows = [300, 1_000, 3_000, 10_000, 30_000, 100_000]
    atoms, features, counts = [50, 100, 200, 400, 800], [3, 5, 10, 20, 50, 100], [1, 2]
    width = 3 if one_thread else 4
    panels, axes = plt.subplots(1, width, figsize=(3.3 * width, 3.2), layout="constrained")
    axes[0].plot(rows, [seconds("colk", n) for n in rows], "o-", label="colk")
    axes[0].plot(rows, [seconds("boosting", n) for n in rows], "s--", label="boosting")
    axes[0].set(xscale="log", xlabel="rows (10 features)", ylabel=f"fit, {unit(one_thread)}")
    axes[0].legend()
    found = [seconds("colk", 10_000, max_atoms=m) for m in atoms]
    axes[1].plot(atoms, found, "o-")
    axes[1].set(xscale="log", xlabel="max_atoms (10,000 rows)")
    axes[1].set_xticks(atoms, map(str, atoms))
    axes[1].minorticks_off()
    axes[2].plot(features, [seconds("colk", 10_000, p) for p in features], "o-")
    axes[2].set(xscale="log", xlabel="features (10,000 rows)")
    if not one_thread:
        by_count = [run("colk", 100_000, settings={"n_jobs": count}) for count in counts]
        for what, style in (("fit", "o-"), ("predict", "s--")):
            axes[3].plot(counts, [each[what] for each in by_count], style, label=what)
        axes[3].set(xticks=counts, xlabel="threads (100,000 rows)")
        axes[3].legend()
    for each in axes:
        each.set(yscale="log")
        each.grid(alpha=0.3)
    panels.savefig(FIGURE, dpi=120)


PARTS = {
    "times": times,
    "busy": busy_table,
    "threads": threads,
    "letters": letters_table,
    "sample": sample_table,
    "pass": pass_table,
    "figure": figure,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", nargs="?", choices=PARTS, help="default: all")
    parser.add_argument("--job", help="a measurement, as JSON; for the processes of this command")
    parser.add_argument("--one-thread", action="store_true", help="processor seconds")
    options = parser.parse_args()
    if options.job:
        print(json.dumps(measure(json.loads(options.job))))
        return
    for name, part in PARTS.items():
        if options.part in (None, name):
            part(options.one_thread)


if __name__ == "__main__":
    main()
