"""A raw data frame, split by time: colk beside boosting.

Hourly bike rentals of 2011: dates, texts and numbers. Each of the last six months is predicted by a
model of the months before it, so the rows to predict are later than all learned ones. All methods
have their default settings and no column is made by hand for colk. Boosting cannot read dates: it
gets the date as a number ("as it comes"), or also its hour, weekday, month and day of the year ("by
hand"). Seconds are processor seconds of the last and largest fit, with one thread.

    python -m colk_lab.tables frame
"""

import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from colk_lab.tables.output import publish

MONTHS = range(7, 13)


def numbers(frame: Any, *, by_hand: bool) -> Any:
    """Return a frame without dates; the texts are categories."""
    when = frame.when.dt
    found = frame.assign(
        when=frame.when.astype("int64") / 1e9, weather=frame.weather.astype("category")
    )
    if by_hand:
        found = found.assign(
            hour=when.hour, weekday=when.day_of_week, month=when.month, day=when.day_of_year
        )
    return found


def methods() -> dict[str, Callable[[], Any]]:
    """Return what makes each method."""
    from catboost import CatBoostRegressor
    from lightgbm import LGBMRegressor
    from sklearn.ensemble import HistGradientBoostingRegressor

    from colk import COLKRegressor

    return {
        "colk": lambda: COLKRegressor(random_state=0),
        "CatBoost": lambda: CatBoostRegressor(
            cat_features=["weather"], random_state=0, thread_count=1, verbose=0
        ),
        "LightGBM": lambda: LGBMRegressor(random_state=0, n_jobs=1, verbose=-1),
        "HistGradientBoosting": lambda: HistGradientBoostingRegressor(
            categorical_features="from_dtype", random_state=0
        ),
    }


def measured(make: Callable[[], Any], X: Any, y: Any, months: Any) -> tuple[float, float, float]:
    """Return the mean error, R² and the seconds of a fit."""
    errors, seconds = np.empty(0), 0.0
    for month in MONTHS:
        before, now = months < month, months == month
        began = time.process_time()
        model = make().fit(X[before], y[before])
        seconds = time.process_time() - began
        errors = np.append(errors, y[now] - model.predict(X[now]))
    known = y[months >= MONTHS[0]]
    return float(np.abs(errors).mean()), 1.0 - float((errors**2).mean() / known.var()), seconds


def main() -> None:
    from colk.data import load_bike_frame

    warnings.simplefilter("ignore")
    frame = load_bike_frame()
    months, y = frame.when.dt.month.to_numpy(), frame.pop("rentals").to_numpy()
    lines = []
    for name, make in methods().items():
        for by_hand in (False,) if name == "colk" else (True, False):
            X = frame if name == "colk" else numbers(frame, by_hand=by_hand)
            how = "by hand" if by_hand else "as it comes"
            error, r2, seconds = measured(make, X, y, months)
            lines.append((error, [name, how, f"{error:.0f}", f"{r2:.2f}", f"{seconds:.1f}"]))
            print(lines[-1], flush=True)
    head = ["each month from those before", "date", "mean error", "R²", "s a fit"]
    publish("frame", head, [cells for _, cells in sorted(lines)])


if __name__ == "__main__":
    main()
