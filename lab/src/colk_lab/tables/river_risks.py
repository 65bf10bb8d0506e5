"""River estimators with a risk, in one pass: the default step size, smaller and larger ones.

Each sample is predicted before it is learned. Errors are in standard deviations of the targets, and
the table shows the second half of a stream. The default step sizes were chosen on other data (see
docs/defaults.md), not on these streams. Under a risk, the step is that of the mean's function.
Writes docs/tables/river_risks.md.
"""

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from river import datasets, preprocessing

from colk import river as colk_river
from colk.model import as_risk
from colk_lab.tables.data import bike
from colk_lab.tables.output import publish

# Factors of the default.
FACTORS = (0.05, 0.3, 1.0, 3.0)
RISKS = ("mean", "variance", "cvar")


def streams(folder: Path | None) -> dict[str, tuple[type, Callable[[], list[Any]]]]:
    regression, classes = colk_river.COLKRegressor, colk_river.COLKClassifier
    return {
        "Friedman": (regression, lambda: list(datasets.synth.Friedman(seed=7).take(5000))),
        "bike, in time": (regression, lambda: bike(folder)[:6000]),
        "Bananas": (classes, lambda: list(datasets.Bananas())),
        "Phishing": (classes, lambda: list(datasets.Phishing())),
    }


def predictions(model: Any, stream: list[Any]) -> list[Any]:
    pipeline, found = preprocessing.StandardScaler() | model, []
    for x, y in stream:
        found.append(pipeline.predict_one(x))
        pipeline.learn_one(x, y)
    return found


# In units of the loss, as in the docstrings of the River classes.
STEPS = {colk_river.COLKRegressor: 1.0, colk_river.COLKClassifier: 0.5}


def default_step(kind: type) -> float:
    """Return the step size of step_size=None for the Huber (unit 1) and logistic loss (unit ½)."""
    return STEPS[kind] / (1.0 if kind is colk_river.COLKRegressor else 0.5)


def measured(kind: type, risk: str, step: float, stream: list[Any]) -> str:
    """Return the error or accuracy, and for regression the risk of squared errors."""
    found = predictions(kind(risk=risk, step_size=step), stream)
    half = len(stream) // 2
    truth = [y for _, y in stream]
    if kind is colk_river.COLKClassifier:
        right = [f == y for f, y in zip(found, truth, strict=True)]
        return f"{np.mean(right[half:]):.3f}"
    errors = np.abs(np.subtract(found, truth))[half:] / np.std(truth)
    return f"{errors.mean():.3f} ({as_risk(risk).value(errors**2):.3f})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, help="folder of bike_hour.csv")
    folder, rows = parser.parse_args().data, []
    for name, (kind, make) in streams(folder).items():
        stream = make()
        for risk in RISKS:
            step = default_step(kind)
            cells = [measured(kind, risk, factor * step, stream) for factor in FACTORS]
            rows.append([name, risk, f"{step:g}", *cells])
            print(rows[-1], flush=True)
    shown = ["default" if factor == 1.0 else f"× {factor:g}" for factor in FACTORS]
    publish("river_risks", ["stream", "risk", "default step", *shown], rows)


if __name__ == "__main__":
    main()
