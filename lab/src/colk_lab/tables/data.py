"""Real data sets for the benchmarks, read from a folder next to the repository."""

import csv
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colk_lab.tables.output import ROOT

FOLDER = ROOT / "shared" / "data"

# Columns that the bike stream must not use: row number, date and the two parts of the target.
_HIDDEN = {"instant", "dteday", "casual", "registered", "cnt"}


def _rows(name: str, folder: Path | None) -> list[dict[str, str]]:
    path = (folder or FOLDER) / name
    if not path.exists():
        raise SystemExit(f"{path} is missing; name the folder that has it with --data")
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def airfoil(folder: Path | None = None) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Airfoil self-noise: 1503 samples, 5 features."""
    table = table_of("airfoil.csv", folder)
    return table[:, :-1], table[:, -1]


def bike(folder: Path | None = None) -> list[tuple[dict[str, Any], float]]:
    """Hourly bike rentals in the order of time: 17379 samples, 12 features."""
    return [
        ({name: float(row[name]) for name in row if name not in _HIDDEN}, float(row["cnt"]))
        for row in _rows("bike_hour.csv", folder)
    ]


def table_of(name: str, folder: Path | None = None) -> NDArray[np.float64]:
    """Return all columns of a file of numbers."""
    return np.array([list(map(float, row.values())) for row in _rows(name, folder)])


def adult(folder: Path | None = None) -> tuple[NDArray[np.float64], NDArray[np.int_]]:
    """Adult a1a: 1605 samples, 123 binary features, two classes."""
    from sklearn.datasets import load_svmlight_file

    X, y = load_svmlight_file(str((folder or FOLDER) / "adult_a1a.libsvm"), n_features=123)
    return X.toarray(), (y > 0).astype(int)
