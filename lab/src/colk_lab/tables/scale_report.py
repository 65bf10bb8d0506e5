"""A model of large clusters, and the table and the figure of `colk_lab.tables.scale`."""

import math
from pathlib import Path
from statistics import median
from typing import Any

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.ticker import LogLocator

BANDWIDTH, CALCULATED_ROWS = 1e9, 1e8  # bytes per second of a link
FAN_IN = 8  # sums that a task of the reduction adds
PASSES = {"gradient": False, "curvature": True}
COUNTS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)  # workers


def calculated(n_workers: int, row: float, task: float, n_bytes: float) -> dict[str, float]:
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


class ModelOfCluster:
    """What passes of one worker and of two took."""

    def __init__(self, measured: dict[str, Any]) -> None:
        self._measured = measured

    def median(self, name: str, n_workers: int, what: str) -> float:
        """Median of seconds, or of processor seconds of the caller or of the workers."""
        return median(each[what] for each in self._measured[name][str(n_workers)])

    def gains(self, name: str) -> list[float]:
        """Speed-ups of neighbouring passes, in order of size."""
        passes = zip(*(self._measured[name][count] for count in ("1", "2")), strict=True)
        return sorted(one["seconds"] / two["seconds"] for one, two in passes)


class Model:
    """Passes on clusters of any size, from what was measured."""

    def __init__(self, found: dict[str, Any]) -> None:
        largest = list(found["rows"].values())[-1]
        self.rows = {name: 1e-6 * largest[name] for name in PASSES}
        self.task = found["workers"]["task"]
        self.sent = found["workers"]["sent"]

    def seconds(self, name: str, n_workers: int) -> dict[str, float]:
        """Seconds of the parts of a pass."""
        return calculated(n_workers, self.rows[name], self.task, self.sent[name])

    def limit(self, name: str) -> str:
        """The number of workers at which half of the time is lost, and what takes more of it."""
        n_workers = 1
        while efficiency(self.seconds(name, n_workers)) > 0.5:
            n_workers = math.ceil(1.02 * n_workers)
        seconds = self.seconds(name, n_workers)
        lost = max(("scheduler", "reduction"), key=seconds.__getitem__)
        return f"{n_workers:,} workers, mostly by the {lost}"


def report_rows(found: dict[str, Any]) -> tuple[list[str], list[list[str]]]:
    """Return the columns and the rows of the table."""
    workers, measured = ModelOfCluster(found["workers"]), found["workers"]
    names, model = [*PASSES, "yardstick"], Model(found)
    sizes, orders = list(found["rows"]), list(found["atoms"])
    rows = []
    for n_rows, each in found["rows"].items():
        rows.append([f"{int(n_rows):,} rows, {orders[-1]} atoms", *_numbers(each)])
    for n_atoms, each in found["atoms"].items():
        rows.append([f"{int(sizes[0]):,} rows, {n_atoms} atoms", *_numbers(each)])
    largest = f"{int(sizes[-1]):,} rows, {orders[-1]} atoms"
    for n_workers, text in ((1, "1 worker"), (2, "2 workers")):
        walls = [f"{workers.median(name, n_workers, 'seconds'):.2f} s" for name in names]
        rows.append([f"wall time of a pass with {text}, {largest}", *walls])
    rows.append(["speed-up from 1 to 2 workers", *(_spread(workers.gains(name)) for name in names)])
    used = [[workers.median(name, count, "used") for count in (1, 2)] for name in names]
    ratios = [f"{two / one:.2f}" for one, two in used]
    rows.append(["processor time of 2 workers relative to 1", *ratios])
    rows.append(["bytes that a partition sends", *_bytes(measured["sent"])])
    rows.append(["bytes moved between 2 workers per pass", *_bytes(measured["moved"])])
    own = [f"{1e3 * workers.median(name, 2, 'caller'):.0f} ms" for name in names]
    rows.append(["processor time of the caller per pass", *own])
    rows.append(["time of the scheduler per task", f"{1e3 * model.task:.1f} ms", "", ""])
    for n_workers in (10, 100, 1000):
        limits = [_limits(model.seconds(name, n_workers)) for name in PASSES]
        rows.append([f"calculated efficiency, {n_workers:,} workers, 10⁸ rows", *limits, ""])
    half = [model.limit(name) for name in PASSES]
    rows.append(["half of the time is lost at, 10⁸ rows", *half, ""])
    rows.append(_large_row(found["large"]))
    return ["measured", *names], rows


def _numbers(found: dict[str, float]) -> list[str]:
    return [*(f"{found[name]:.2f} µs/row" for name in PASSES), f"{found['yardstick']:.3f} s"]


def _spread(values: list[float]) -> str:
    """The median of sorted numbers, with the smallest and the largest."""
    return f"{median(values):.2f} ({values[0]:.2f} to {values[-1]:.2f})"


def _bytes(found: dict[str, float]) -> list[str]:
    return [*(f"{found[name]:,.0f}" for name in PASSES), ""]


def _limits(seconds: dict[str, float]) -> str:
    """An efficiency, and the seconds of each part."""
    parts = ", ".join(f"{name} {value:.2g} s" for name, value in seconds.items())
    return f"{efficiency(seconds):.2f} ({parts})"


def _large_row(large: dict[str, Any]) -> list[str]:
    limits = f"{large['data']:,.0f} MiB, limit {large['limit']:,.0f} MiB for each of 2 workers"
    return [
        f"fit of {large['rows']:,} rows, {large['atoms']} atoms; {limits}",
        f"{large['seconds']:.0f} s, R² {large['score']:.3f}",
        f"peak of a worker {large['peak']:,.0f} MiB; {large['died']} workers died",
        "",
    ]


def draw(found: dict[str, Any], path: Path) -> None:
    """Draw the measured times, the speed-up, and the calculated efficiency."""
    figure, axes = plt.subplots(2, 2, figsize=(9, 6.4), layout="constrained")
    _draw_times(axes[0], found)
    _draw_gains(axes[1, 0], found["workers"])
    _draw_model(axes[1, 1], found)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=120)
    plt.close(figure)


def _draw_times(axes: Any, found: dict[str, Any]) -> None:
    for axis, part in zip(axes, ("rows", "atoms"), strict=True):
        places = [int(each) for each in found[part]]
        for name in PASSES:
            values = [each[name] for each in found[part].values()]
            if part == "rows":
                values = [1e-6 * n * value for n, value in zip(places, values, strict=True)]
            axis.loglog(places, values, "o-", label=name)
        axis.set_xticks(places, [f"{place:,}" for place in places])
        axis.minorticks_off()
        axis.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        axis.yaxis.set_major_formatter("{x:g}")
        axis.set(xlabel=part)
        axis.legend()
    orders, sizes = list(found["atoms"]), list(found["rows"])
    axes[0].set(ylabel="processor seconds", title=f"One pass, {orders[-1]} atoms")
    axes[1].set(ylabel="processor µs per row", title=f"{int(sizes[0]):,} rows")


def _draw_gains(axis: Any, workers: dict[str, Any]) -> None:
    names = [*PASSES, "yardstick"]
    gains = [median(ModelOfCluster(workers).gains(name)) for name in names]
    bars = axis.bar(names, gains, width=0.5, color=["C0", "C1", "0.6"])
    axis.bar_label(bars, fmt="%.2f")
    axis.axhline(2.0, color="0.5", linestyle=":")
    axis.set(
        ylabel="speed-up",
        ylim=(0, max(2.3, 1.15 * max(gains))),
        title="From 1 to 2 workers, measured",
    )


def _draw_model(axis: Any, found: dict[str, Any]) -> None:
    model, workers, measured = Model(found), ModelOfCluster(found["workers"]), [1.0]
    for number, name in enumerate(PASSES):
        values = [efficiency(model.seconds(name, count)) for count in COUNTS]
        axis.semilogx(COUNTS, values, f"C{number}-", label=name)
        measured.append(median(workers.gains(name)) / 2)
        axis.plot([2], measured[-1:], f"C{number}x")
    axis.set(xlabel="workers", ylabel="efficiency", ylim=(0, 1.08 * max(measured)))
    axis.set_title("10⁸ rows, calculated (× measured)")
    axis.legend(loc="lower left")
