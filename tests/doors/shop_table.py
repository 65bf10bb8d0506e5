"""A table of 25,000 rows with all that a table can have, and targets for every task.

The numbers `size` and `rooms` depend on each other, so that a gap in one can be filled from the
other. `kind` has 5 values, `shop` 320, so that `shop` has effects. `sold` is a date.
"""

from functools import cache

import numpy as np
import pandas as pd

N_ROWS = 25_000
FEATURES = ("size", "rooms", "income", "age", "kind", "shop", "sold")
CATEGORIES, DATES = ("kind", "shop"), ("sold",)
NUMBERS = ("size", "rooms", "income", "age")
KINDS = ("flat", "house", "barn", "villa", "hut")
N_SHOPS = 320
# Shares of the rows in which a cell is missing.
GAPS = {"size": 0.1, "rooms": 0.3, "income": 0.03, "kind": 0.02, "sold": 0.02}
NEW_KIND, NEW_SHOP = "castle", "shop-new"


@cache
def table(n_rows=N_ROWS, seed=0):
    """Return the features, the targets by name, and the weights."""
    rng = np.random.default_rng(seed)
    size = rng.normal(size=n_rows)
    rooms = 0.9 * size + 0.45 * rng.normal(size=n_rows)
    income = rng.gamma(4.0, 10_000.0, size=n_rows)
    age = rng.uniform(0.0, 1.0, size=n_rows)
    kind = rng.integers(0, len(KINDS), n_rows)
    shop = np.minimum(rng.geometric(0.008, n_rows) - 1, N_SHOPS - 1)
    hours = rng.integers(0, 24 * 365 * 3, n_rows)
    year = hours / (24 * 365)
    truth = (
        np.sin(2.0 * size)
        + 0.8 * rooms
        + 0.5 * np.log(income / 40_000.0)
        + np.cos(3.0 * age)
        + 0.4 * np.array([0.0, 1.0, -1.0, 2.0, -0.5])[kind]
        + 0.5 * np.sin(np.arange(N_SHOPS) * 12.9898)[shop]
        + 0.4 * np.sin(2.0 * np.pi * year)
    )
    calm = 5.0 + 3.0 * (truth + 0.3 * rng.normal(size=n_rows))
    wild = rng.uniform(size=n_rows) < 0.03
    price = calm + wild * rng.normal(scale=200.0, size=n_rows)
    frame = pd.DataFrame(
        {
            "size": size,
            "rooms": rooms,
            "income": income,
            "age": age,
            "kind": np.array(KINDS, dtype=object)[kind],
            "shop": [f"shop-{number:03d}" for number in shop],
            "sold": np.datetime64("2021-01-01", "s") + hours.astype("timedelta64[h]"),
        }
    )
    frame["shop"] = frame["shop"].astype(object)
    for name, part in GAPS.items():
        frame.loc[rng.uniform(size=n_rows) < part, name] = None
    edges = np.quantile(calm, [0.2, 0.55, 0.9])
    labels = np.array(["cheap", "fair", "good", "dear"], dtype=object)
    targets = {
        "price": price,
        "calm": calm,
        "pair": np.where(calm > 6.0, "yes", "no").astype(object),
        "class": labels[np.searchsorted(edges, calm)],
    }
    weights = rng.gamma(2.0, 0.5, size=n_rows) * (rng.uniform(size=n_rows) > 0.02)
    return frame, targets, weights


@cache
def rows_for_prediction():
    """Return new rows by name: whole ones, ones with gaps, and ones with unseen categories."""
    frame, _, _ = table(600, seed=1)
    whole = frame.dropna().reset_index(drop=True)
    gaps = frame[frame.isna().any(axis=1)].reset_index(drop=True)
    unseen = whole.head(60).copy()
    unseen.loc[:29, "kind"] = NEW_KIND
    unseen.loc[20:, "shop"] = NEW_SHOP
    return {"whole rows": whole, "rows with gaps": gaps, "unseen categories": unseen}


def columns_of(frame):
    """Return a data frame as columns by name, as `TableModel` takes them."""
    found = {name: frame[name].to_numpy() for name in frame.columns}
    for name in CATEGORIES:
        found[name] = frame[name].where(frame[name].notna(), None).to_numpy(dtype=object)
    return found
