"""Figures of a model: error and size over the stream, predictions, learned function."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from colk._encoding.dates import seconds_of
from colk._validation import Array
from colk.cli.date_panels import cycle_grid, date_grid, set_date_ticks
from colk.cli.pages.colors import PALETTE
from colk.tabular import TableModel
from colk.tabular.record import RunRecord

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["errors", "features", "predictions", "stream"]

# Largest number of features to draw, and of classes with a colour.
_MOST_FEATURES = 12
_MOST_CLASSES = 6
# Largest number of features to choose from, and points per feature for this choice.
_COMPARED = 300
_PROBES = 15
_COLUMNS = 3
# Largest number of values of a category to draw.
_MOST_VALUES = 12
# Number of points in a line.
_POINTS = 200
# Longer names are cut, so that they do not overlap; values are turned if they are longer together.
_LONGEST_NAME = 26
_LONGEST_VALUE = 16
_LONGEST_VALUES = 18
_MOST_LEVEL = 4
# The function is drawn over this many standard deviations on each side of the mean.
_REACH = 2.5
# The function is drawn at most this many standard deviations beyond the outermost atoms.
_MARGIN = 0.1
_COLORS = ("blue", "vermillion", "green", "orange", "purple", "sky")


def errors(record: RunRecord, model: TableModel) -> "Callable[[Figure], None]":
    """Draw the error over the rows."""

    def paint(figure: "Figure") -> None:
        axes = figure.subplots()
        _draw_errors(axes, record, model)
        axes.set_xlabel("rows")
        axes.set_xlim(left=0.0)

    return paint


def _draw_errors(axes: "Axes", record: RunRecord, model: TableModel) -> None:
    sizes, sums, _ = (np.array(column) for column in zip(*record.curve, strict=True))
    axes.plot(np.cumsum(sizes), sums / sizes, color=PALETTE["blue"])
    for event in record.drifts:
        axes.axvline(event.time, color=PALETTE["vermillion"], linestyle=":")
    axes.set_ylim(bottom=0.0)
    name = "mean |residual|" if model.task == "regression" else "error rate"
    axes.set_title(f"{name} of {model.target}")


def stream(record: RunRecord, model: TableModel) -> "Callable[[Figure], None]":
    """Draw the error before learning and the number of atoms over the rows."""
    sizes, _, atoms = (np.array(column) for column in zip(*record.curve, strict=True))
    ends = np.cumsum(sizes)

    def paint(figure: "Figure") -> None:
        left, right = figure.subplots(1, 2)
        _draw_errors(left, record, model)
        right.step(ends, atoms, where="pre", color=PALETTE["vermillion"])
        right.set_ylim(bottom=0.0)
        right.set_title("atoms")
        for axes in (left, right):
            axes.set_xlabel("rows")
            axes.set_xlim(left=0.0)

    return paint


def predictions(
    sample: Sequence[Sequence[Any]], model: TableModel, title: str
) -> "Callable[[Figure], None]":
    """Draw predictions over targets: points for regression, counts for classification."""
    targets, predicted = zip(*sample, strict=True)

    def cloud(figure: "Figure") -> None:
        axes = figure.subplots()
        axes.plot(targets, predicted, ".", color=PALETTE["blue"], markersize=3, alpha=0.5)
        ends = [min(*targets, *predicted), max(*targets, *predicted)]
        axes.plot(ends, ends, color=PALETTE["grey"], linewidth=0.8)
        axes.set_xlabel(model.target)
        axes.set_ylabel(title)
        axes.set_aspect("equal", adjustable="datalim")

    def counts(figure: "Figure") -> None:
        labels = list(dict.fromkeys([*model.labels, *targets]))[: 2 * _MOST_CLASSES]
        table = np.array(
            [[sum(pair == [of, as_] for pair in sample) for as_ in labels] for of in labels],
            dtype=np.float64,
        )
        shares = table / np.maximum(table.sum(axis=1, keepdims=True), 1.0)
        axes = figure.subplots()
        axes.imshow(shares, cmap="Blues", vmin=0.0, vmax=1.0)
        axes.grid(visible=False)
        for i, j in np.ndindex(*table.shape):
            color = "white" if shares[i, j] > 0.5 else "black"
            axes.text(j, i, f"{table[i, j]:.0f}", ha="center", va="center", color=color)
        axes.set_xticks(range(len(labels)), labels)
        axes.set_yticks(range(len(labels)), labels)
        axes.set_xlabel(title)
        axes.set_ylabel(model.target)

    return cloud if model.task == "regression" else counts


def features(model: TableModel) -> "tuple[Callable[[Figure], None], int]":
    """Draw the function along each feature, the others at their mean; return also the row count."""
    shown = [
        (name, cycle)
        for name in _most_varying(model)
        for cycle in (None, *model.encoder.cycles.get(name, ()))
    ]
    n_rows = -(-len(shown) // _COLUMNS)

    def paint(figure: "Figure") -> None:
        panels = figure.subplots(n_rows, min(_COLUMNS, len(shown)), squeeze=False, sharey=True)
        for axes in panels.flat[len(shown) :]:
            axes.set_visible(False)
        for axes, (name, cycle) in zip(panels.flat, shown, strict=False):
            axes.set_xlabel(_cut(name, _LONGEST_NAME))
            if cycle is not None:
                _cycle(axes, model, name, cycle)
            else:
                (_bars if name in model.categorical else _line)(axes, model, name)
        for row in panels:
            row[0].set_ylabel(
                model.target if model.task == "regression" else f"predicted {model.target}"
            )
        if model.task == "classification" and len(model.labels) > 1:
            panels.flat[0].legend(title=None)

    return paint, n_rows


def _most_varying(model: TableModel) -> list[str]:
    """Return the features along which the function varies most, in their order."""
    names = list(model.features)
    if len(names) <= _MOST_FEATURES:
        return names
    atoms, center, unit = _atoms(model), model.center, model.unit
    ranges = {}
    for name in names[:_COMPARED]:
        values: Any = _shown_values(model, name) if name in model.categorical else ()
        if name not in model.categorical:
            low, high, _ = _reach(model, name, atoms, center, unit)
            values = _cells(model, name, np.linspace(low, high, _PROBES))
        rows = {**_typical(model, len(values)), name: values}
        ranges[name] = max((float(np.ptp(found)) for _, found, _ in _values(model, rows)))
    chosen = sorted(ranges, key=ranges.__getitem__, reverse=True)[:_MOST_FEATURES]
    return [name for name in names if name in chosen]


def _atoms(model: TableModel) -> Array:
    return model.function.kernel.preimages(model.function.atoms)


def _reach(
    model: TableModel, name: str, atoms: Array, center: Array, unit: Array
) -> tuple[float, float, Array]:
    """Return the interval over which a feature is drawn, and the atoms' values of the feature."""
    place = model.columns.index(name)
    along = atoms[:, place] * unit[place] + center[place]
    middle, spread = _extent(model, place, along)
    low = max(middle - _REACH * spread, along.min(initial=middle) - _MARGIN * spread)
    high = min(middle + _REACH * spread, along.max(initial=middle) + _MARGIN * spread)
    return low, high, along


def _line(axes: "Axes", model: TableModel, name: str) -> None:
    low, high, atoms = _reach(model, name, _atoms(model), model.center, model.unit)
    grid = date_grid(low, high) if name in model.dates else np.linspace(low, high, _POINTS)
    rows: dict[str, Any] = _typical(model, len(grid))
    rows[name] = _cells(model, name, grid)
    for label, values, color in _values(model, rows):
        axes.plot(grid, values, color=color, label=label)
    if name in model.dates:
        set_date_ticks(axes, low, high)
    inside = atoms[(atoms >= low) & (atoms <= high)]
    axes.plot(
        inside,
        np.full(len(inside), 0.01),
        "|",
        color=PALETTE["grey"],
        markersize=5,
        transform=axes.get_xaxis_transform(),
    )


def _cycle(axes: "Axes", model: TableModel, name: str, cycle: str) -> None:
    """Draw the prediction over a day, a week or a year in the middle of the dates."""
    low, high, _ = _reach(model, name, _atoms(model), model.center, model.unit)
    grid = cycle_grid(cycle, 0.5 * (low + high))
    rows = {**_typical(model, len(grid.x)), name: grid.seconds}
    style = "o-" if cycle == "week" else "-"
    for label, values, color in _values(model, rows):
        axes.plot(grid.x, values, style, color=color, label=label, markersize=4)
    axes.set_xticks(grid.ticks, grid.labels)
    axes.set_xlabel(f"{_cut(name, _LONGEST_NAME)}: {grid.title}")


def _cut(text: str, most: int) -> str:
    """Return a text of at most this many characters."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _cells(model: TableModel, name: str, values: Array) -> Array:
    """Convert values of the model to cells of a table: dates from years to seconds."""
    return seconds_of(values) if name in model.dates else values


def _bars(axes: "Axes", model: TableModel, name: str) -> None:
    values = _shown_values(model, name)
    rows = _typical(model, len(values))
    rows[name] = values
    series = _values(model, rows)
    width = 0.8 / len(series)
    for place, (label, heights, color) in enumerate(series):
        left = np.arange(len(values)) + (place - (len(series) - 1) / 2.0) * width
        axes.plot(left, heights, "o", color=color, label=label, markersize=5)
    names = [_cut(value, _LONGEST_VALUE) for value in values]
    axes.set_xticks(range(len(names)), names)
    if len(names) > _MOST_LEVEL or sum(map(len, names)) > _LONGEST_VALUES:
        axes.tick_params(axis="x", rotation=60)
        for text in axes.get_xticklabels():
            text.set(ha="right", rotation_mode="anchor")
    axes.set_xlim(-0.5, len(values) - 0.5)


def _shown_values(model: TableModel, name: str) -> list[str]:
    """Return the first values of a category."""
    return model.category_values(name)[:_MOST_VALUES]


def _extent(model: TableModel, place: int, atoms: Array) -> tuple[float, float]:
    """Return mean and standard deviation of a column, or of its atoms if it is not scaled."""
    if model.is_scaled:
        return float(model.center[place]), float(model.unit[place])
    return (float(atoms.mean()), float(atoms.std()) or 1.0) if len(atoms) else (0.0, 1.0)


def _typical(model: TableModel, size: int) -> dict[str, Any]:
    """Return rows with numbers at their mean and categories at the first value seen."""
    rows: dict[str, Any] = {
        name: [next(iter(model.category_values(name)), None)] * size for name in model.categorical
    }
    for name, mean in zip(model.columns, model.center, strict=True):
        if name in model.features and name not in model.categorical:
            rows[name] = _cells(model, name, np.full(size, mean))
    return rows


def _values(model: TableModel, rows: Any) -> Sequence[tuple[str, Any, str]]:
    """Return the series to draw: label, values and colour."""
    if model.task == "regression":
        return [("", model.predict(rows), PALETTE["blue"])]
    if model.loss.kind != "multiclass":
        wins = np.asarray(model.predict(rows) == model.labels[-1], dtype=np.float64)
        return [(model.labels[-1], wins, PALETTE["blue"])]
    shares = model.predict_proba(rows)
    return [
        (label, shares[:, place], PALETTE[color])
        for place, (label, color) in enumerate(zip(model.labels, _COLORS, strict=False))
    ]
