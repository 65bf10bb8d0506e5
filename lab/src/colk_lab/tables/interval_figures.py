"""Draw the figures of the guide of intervals: one for each answer of its decision table.

    python -m colk_lab.tables interval_figures

Writes docs/figures/interval_*.png; takes half a minute.
"""

from collections.abc import Callable

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
from sklearn.dummy import DummyRegressor

from colk import COLKClassifier, COLKQuantileRegressor, COLKRegressor, ConformalRegressor
from colk.conformal import ConformalClassifier
from colk.estimators import IntervalDisplay
from colk_lab.tables.output import FIGURES

SIZE, BAND, POINTS, MISSED = (6.4, 2.6), "C0", "0.65", "C3"


def axes(n: int = 1) -> tuple:
    return plt.subplots(1, n, figsize=SIZE, layout="constrained", sharey=n > 1)


def band(ax, x, y, low, high, title: str = "") -> None:
    """Draw intervals over sorted positions, and the targets."""
    inside = (low <= y) & (y <= high)
    ax.plot(x[inside], y[inside], ".", ms=3, color=POINTS)
    ax.plot(x[~inside], y[~inside], ".", ms=4, color=MISSED)
    ax.fill_between(x, low, high, color=BAND, alpha=0.35, lw=0)
    ax.set_title(f"{title}: {100 * inside.mean():.0f} % covered", fontsize="medium")


def stream() -> None:
    """Jumps of the function, and the coverage in a moving window."""
    rng = np.random.default_rng(0)
    X = rng.random((2400, 1))
    sign = np.where((np.arange(2400) // 800) % 2, -1.0, 1.0)
    y = sign * np.sin(6.0 * X[:, 0]) + 0.2 * rng.normal(size=2400)
    model = ConformalRegressor(COLKRegressor(solver="newton", kernel="gaussian"))
    display = IntervalDisplay.from_stream(model, X, y)
    display.figure_.set_size_inches(6.4, 3.4)


def noisy(seed: int, n: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = np.sort(rng.uniform(-1.0, 1.0, size=(n, 1)), axis=0)
    return X, np.sin(3.0 * X[:, 0]) + (0.35 + 0.3 * X[:, 0]) * rng.normal(size=n)


def local() -> None:
    """One width, and widths that depend on x, after a stream."""
    _, both = axes(2)
    X, y = noisy(0, 3000)
    order = np.random.default_rng(1).permutation(3000)
    new, targets = noisy(2, 600)
    for ax, is_local in zip(both, (False, True), strict=True):
        model = ConformalRegressor(COLKRegressor(solver="newton"), local=is_local)
        for part in np.array_split(order, 300):
            model.learn(X[part], y[part])
        low, high = model.predict_interval(new).T
        band(ax, new[:, 0], targets, low, high, f"local={is_local}")
        ax.set_xlabel("x")


def series() -> None:
    """A forecast that misses the season, without and with a forecast of its errors."""
    rng, t = np.random.default_rng(0), np.arange(1200)
    y = np.where(t % 24 < 8, 1.0, 3.0) + np.sin(t / 90.0) + 0.15 * rng.normal(size=1200)
    X = np.zeros((1200, 1))
    _, both = axes(2)
    for ax, is_series in zip(both, (False, True), strict=True):
        dummy = DummyRegressor(strategy="constant", constant=2.0).fit(X, y)
        model, ends = ConformalRegressor(dummy, series=is_series), np.empty((1200, 2))
        for i in range(1200):
            ends[i] = model.predict_interval(X[:1])[0]
            model.learn(X[:1], y[i : i + 1])
        low, high = ends[-120:].T
        band(ax, t[-120:], y[-120:], low, high, f"series={is_series}")
        ax.set_xlabel("time")


def quantiles() -> None:
    """Several quantiles of skewed noise."""
    rng = np.random.default_rng(0)
    X = np.sort(rng.uniform(-2.0, 2.0, size=(1500, 1)), axis=0)
    y = np.sin(2.0 * X[:, 0]) + (0.2 + 0.2 * np.abs(X[:, 0])) * rng.exponential(size=1500)
    found = COLKQuantileRegressor((0.05, 0.25, 0.5, 0.75, 0.95), random_state=0).fit(X, y)
    ends, (_, ax) = found.predict(X), axes()
    ax.plot(X[:, 0], y, ".", ms=3, color=POINTS)
    ax.fill_between(X[:, 0], ends[:, 0], ends[:, 4], color=BAND, alpha=0.25, lw=0)
    ax.fill_between(X[:, 0], ends[:, 1], ends[:, 3], color=BAND, alpha=0.35, lw=0)
    ax.plot(X[:, 0], ends[:, 2], color=BAND)
    ax.set(xlabel="x", title="levels .05, .25, .5, .75 and .95")


def rows() -> None:
    """Batch intervals: over x, and the width against the difficulty."""
    _, (left, right) = plt.subplots(1, 2, figsize=SIZE, layout="constrained")
    X, y = noisy(0, 1500)
    new, targets = noisy(2, 3000)
    model = ConformalRegressor(COLKRegressor(random_state=0), local=True).fit(X, y)
    low, high = model.predict_interval(new).T
    some = slice(None, None, 5)
    band(left, new[some, 0], targets[some], low[some], high[some], "fit, local=True")
    left.set_xlabel("x")
    hidden = plt.figure()
    display = IntervalDisplay.from_predictions(targets, low, high, ax=hidden.gca())
    plt.close(hidden)
    display.plot_widths(right)


def labels() -> None:
    """The sizes of label sets where classes overlap."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 2))
    y = np.digitize(X[:, 0] + 0.35 * rng.normal(size=3000), [-0.5, 0.6])
    fitted = COLKClassifier(random_state=0).fit(X[:1000], y[:1000])
    model = ConformalClassifier(fitted).calibrate(X[1000:2000], y[1000:2000])
    sizes = np.array([len(found) for found in model.predict_set(X[2000:])])
    _, ax = axes()
    for size, color in ((1, POINTS), (2, BAND), (3, MISSED)):
        here = X[2000:][sizes == size]
        if len(here):
            name = "1 label" if size == 1 else f"{size} labels"
            ax.plot(here[:, 0], here[:, 1], ".", ms=4, color=color, label=name)
    ax.set(xlabel="first feature", ylabel="second feature", title="labels in each set")
    ax.legend(loc="upper right")


def deviations() -> None:
    """Standard deviations, which grow in a gap of the data."""
    rng = np.random.default_rng(1)
    x = rng.uniform(-3.0, 3.0, size=400)
    x = np.sort(x[(x < -0.8) | (x > 1.0)])
    y = np.sin(2.0 * x) + 0.2 * rng.normal(size=len(x))
    model = COLKRegressor(kernel="gaussian", bandwidth=0.3, random_state=0).fit(x[:, None], y)
    new = np.linspace(-4.0, 4.0, 400)
    values, spread = model.predict(new[:, None], return_std=True)
    _, ax = axes()
    ax.plot(x, y, ".", ms=3, color=POINTS)
    ax.plot(new, values, color=BAND)
    ax.fill_between(new, values - 1.645 * spread, values + 1.645 * spread, color=BAND, alpha=0.35)
    ax.set(xlabel="x", title="prediction ± 1.645 standard deviations", ylim=(-3.0, 3.0))


DRAWN: dict[str, Callable[[], None]] = {
    "stream": stream, "local": local, "series": series, "quantiles": quantiles, "rows": rows,
    "labels": labels, "deviations": deviations,
}  # fmt: skip


def main() -> None:
    mpl.use("Agg")
    for name, draw in DRAWN.items():
        draw()
        plt.savefig(FIGURES / f"interval_{name}.png", dpi=90)
        plt.close("all")
        print(name, flush=True)


if __name__ == "__main__":
    main()
