"""Tables with categories, dates and gaps: the defaults against other methods.

The table shows R² on held-out rows. The data are hourly bike rentals, as they are and with a fifth
of all cells deleted; tables with a category of 5, 200 or 5,000 values that changes the effect of a
number; three tables with a category of 500 values that changes the shape of a number's effect, adds
a level, or has no effect; and a table of 50,000 rows with dates, texts and missing cells. The other
methods get the same columns: gradient boosting with its own categories and missing values (codes as
numbers above 255 values; dates converted to numbers by hand), and one-hot categories with a support
vector machine. Writes docs/tables/mixed.md.
"""

import argparse
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.impute import SimpleImputer
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVR

from colk import COLKRegressor
from colk_lab.tables.data import FOLDER
from colk_lab.tables.output import publish

Table = tuple[pd.DataFrame, Any]

# Gradient boosting takes categories of at most this many values.
_MOST_VALUES = 255


def bike(folder: Path, share: float, seed: int) -> Table:
    """Hourly rentals; season, weather and weekday are text, and a share of the cells is missing."""
    rng = np.random.default_rng(seed)
    table = pd.read_csv(folder / "bike_hour.csv", parse_dates=["dteday"])
    y = table.pop("cnt").to_numpy(float)
    table = table.drop(columns=["instant", "casual", "registered", "yr"])
    for name in table.columns:
        if name in ("season", "weathersit", "weekday"):
            table[name] = table[name].map(lambda value: f"v{value}")
        elif name != "dteday":
            table[name] = table[name].astype(float)
        table[name] = table[name].where(rng.random(len(table)) >= share)
    return table, y


def categories(n_values: int, n_rows: int, seed: int) -> Table:
    """A category that moves the target and changes the slope of a number, and a smooth function."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(n_values, size=n_rows)
    numbers = rng.normal(size=(n_rows, 3))
    level, slope = rng.normal(size=(2, n_values))
    y = level[codes] + slope[codes] * numbers[:, 0] + np.sin(2.0 * numbers[:, 1])
    table = pd.DataFrame(numbers, columns=["a", "b", "c"])
    table["kind"] = [f"v{code}" for code in codes]
    return table, y + 0.3 * rng.normal(size=n_rows)


def many_values(role: str, n_rows: int, seed: int) -> Table:
    """A category of 500 values that changes an effect's shape, adds a level, or does nothing."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(500, size=n_rows)
    numbers = rng.normal(size=(n_rows, 3))
    level, phase, speed = rng.normal(size=500), *rng.uniform(0.5, 2.0, size=(2, 500))
    y = np.sin(2.0 * numbers[:, 1]) * numbers[:, 2]
    if role == "curve":
        y += np.sin(speed[codes] * numbers[:, 0] + 4.0 * phase[codes])
    elif role == "level":
        y += level[codes]
    table = pd.DataFrame(numbers, columns=["a", "b", "c"])
    table["kind"] = [f"v{code}" for code in codes]
    return table, y + 0.3 * rng.normal(size=n_rows)


def shop(n_rows: int, seed: int) -> Table:
    """Sales by time of day, week and year, city, product and price; 19 % of rows have gaps."""
    rng = np.random.default_rng(seed)
    when = pd.Timestamp("2022-01-01") + pd.to_timedelta(rng.uniform(0.0, 1000.0, n_rows), "D")
    city = rng.choice(["Bonn", "Lima", "Oslo", "Rome", "Kyiv"], n_rows)
    product = rng.integers(120, size=n_rows)
    price, stock = rng.lognormal(3.0, 0.5, n_rows), rng.poisson(30.0, n_rows).astype(float)
    hour = when.hour + when.minute / 60.0
    effect, by_city = rng.normal(size=120), {"Bonn": 1.0, "Lima": -1.0, "Oslo": 0.5}
    y = (
        2.0 * np.sin(2.0 * np.pi * (hour - 9.0) / 24.0)
        + 1.5 * (when.dayofweek >= 5)
        + np.cos(2.0 * np.pi * when.dayofyear / 365.25)
        + 0.001 * np.asarray((when - when.min()).days)
        + effect[product]
        + np.array([by_city.get(name, 0.0) for name in city]) * np.log(price)
        + 0.02 * stock
    )
    table = pd.DataFrame(
        {"when": when, "city": city, "product": product, "price": price, "stock": stock}
    )
    table["product"] = [f"p{code}" for code in product]
    for name in ("price", "stock", "city", "when"):
        table[name] = table[name].where(rng.random(n_rows) >= 0.05)
    return table, np.asarray(y) + 0.5 * rng.normal(size=n_rows)


def by_hand(table: pd.DataFrame) -> pd.DataFrame:
    """Dates as numbers: trend, hour, weekday and day of year."""
    numbers = table.copy()
    for name in table.select_dtypes("datetime").columns:
        when = numbers.pop(name)
        numbers[f"{name} days"] = (when - pd.Timestamp("2000-01-01")).dt.days
        numbers[f"{name} hour"] = when.dt.hour + when.dt.minute / 60.0
        numbers[f"{name} weekday"] = when.dt.dayofweek
        numbers[f"{name} day"] = when.dt.day_of_year
    return numbers


def _texts(table: pd.DataFrame) -> list[str]:
    """Return the columns that are neither numbers nor dates."""
    types = pd.api.types
    return [
        name
        for name, dtype in table.dtypes.items()
        if not types.is_numeric_dtype(dtype) and not types.is_datetime64_any_dtype(dtype)
    ]


class BoostingWithGaps:
    """Gradient boosting with its own categories and gaps, on dates made numbers by hand."""

    def _rows(self, table: pd.DataFrame, first: bool) -> pd.DataFrame:
        rows = by_hand(table)
        if first:
            self._values = {name: sorted(rows[name].dropna().unique()) for name in _texts(rows)}
        for name, values in self._values.items():
            column = pd.Categorical(rows[name], values)
            few = len(values) <= _MOST_VALUES
            rows[name] = column if few else np.where(column.codes < 0, np.nan, column.codes)
        return rows

    def fit(self, table: pd.DataFrame, y: Any) -> "BoostingWithGaps":
        """Fit the model."""
        rows = self._rows(table, first=True)
        self._model = HistGradientBoostingRegressor(
            categorical_features="from_dtype", random_state=0
        ).fit(rows, y)
        return self

    def score(self, table: pd.DataFrame, y: Any) -> float:
        """Return R²."""
        return float(self._model.score(self._rows(table, first=False), y))


class Machine:
    """One-hot categories, imputed and scaled numbers, and a support vector machine."""

    def fit(self, table: pd.DataFrame, y: Any) -> "Machine":
        """Fit the model."""
        rows = by_hand(table)
        texts = _texts(rows)
        numbers = [name for name in rows.columns if name not in texts]
        encode = ColumnTransformer(
            [
                ("n", make_pipeline(SimpleImputer(add_indicator=True), StandardScaler()), numbers),
                ("t", OneHotEncoder(handle_unknown="ignore"), texts),
            ]
        )
        self._center, self._unit = y.mean(), y.std()
        self._model = make_pipeline(encode, SVR(C=10.0, cache_size=500))
        self._model.fit(rows, (y - self._center) / self._unit)
        return self

    def score(self, table: pd.DataFrame, y: Any) -> float:
        """Return R²."""
        return float(self._model.score(by_hand(table), (y - self._center) / self._unit))


def measure(table: pd.DataFrame, y: Any, seed: int, models: dict[str, Any]) -> dict[str, str]:
    """Return R² and seconds of processor time for each model, on 30 % of the rows."""
    train, test = train_test_split(np.arange(len(y)), test_size=0.3, random_state=seed)
    found = {}
    for name, make in models.items():
        start = time.process_time()
        model = make().fit(table.iloc[train], y[train])
        score = model.score(table.iloc[test], y[test])
        found[name] = f"{score:.3f} ({time.process_time() - start:.0f} s)"
        print(f"  {name}: {found[name]}", flush=True)
    return found


def main() -> None:
    """Print and publish the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=FOLDER, help="folder of bike_hour.csv")
    parser.add_argument("--seed", type=int, default=10, help="first seed; 0 to 3 chose defaults")
    parser.add_argument("--rows", type=int, default=8000, help="rows of the tables of categories")
    parser.add_argument("--only", default="", help="measure the tables whose names contain this")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    seed = given.seed
    problems: dict[str, Callable[[], Table]] = {
        "bike rentals": lambda: bike(given.data, 0.0, seed),
        "bike rentals, a fifth of the cells missing": lambda: bike(given.data, 0.2, seed),
        "category of 5 values": lambda: categories(5, given.rows, seed),
        "category of 200 values": lambda: categories(200, given.rows, seed),
        "category of 5,000 values": lambda: categories(5000, given.rows, seed),
        "500 values, a curve each": lambda: many_values("curve", given.rows, seed),
        "500 values, a level each": lambda: many_values("level", given.rows, seed),
        "500 values, without meaning": lambda: many_values("none", given.rows, seed),
        "sales, 50,000 rows": lambda: shop(50_000, seed),
    }
    models: dict[str, Callable[[], Any]] = {
        "COLKRegressor": lambda: COLKRegressor(random_state=0),
        "gradient boosting": BoostingWithGaps,
        "one-hot and SVR": Machine,
    }
    rows = []
    for name, make in problems.items():
        if given.only in name:
            print(name, flush=True)
            table, y = make()
            used = {k: m for k, m in models.items() if len(y) < 30_000 or k != "one-hot and SVR"}
            found = measure(table, y, seed, used)
            rows.append([name, *(found.get(model, "–") for model in models)])
    if not given.only:
        publish("mixed", ["table", *models], rows)


if __name__ == "__main__":
    main()
