"""A real stream, compared with trees
==================================

COLK and River's trees predict the bike rentals of a year, hour by hour. They predict each hour
before they learn it. The trees are designed for tables like this one.
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from river import preprocessing, tree

from colk.river import COLKRegressor

table = pd.read_csv(Path(sys.argv[0]).parent / "bike_2011.csv.gz")
counts = table.pop("cnt").astype(float)
samples = table.astype(float).to_dict("records")

models = {
    "COLKRegressor": COLKRegressor(),
    "HoeffdingAdaptiveTree": tree.HoeffdingAdaptiveTreeRegressor(seed=1),
    "HoeffdingTree": tree.HoeffdingTreeRegressor(),
}
figure, ax = plt.subplots(figsize=(8, 4), layout="constrained")
for name, model in models.items():
    pipeline = preprocessing.StandardScaler() | model
    errors = np.empty(len(counts))
    for t, (sample, count) in enumerate(zip(samples, counts, strict=True)):
        errors[t] = abs(pipeline.predict_one(sample) - count)
        pipeline.learn_one(sample, count)
    week = np.convolve(errors, np.full(168, 1 / 168), mode="valid")
    ax.plot(np.arange(167, len(counts)) / 24, week, label=f"{name}: {errors.mean():.1f}")
    print(f"{name}: mean error {errors.mean():.1f} rentals an hour")
ax.set(xlabel="day of the year", ylabel="error before learning, weekly mean", ylim=(0, None))
ax.legend()
figure.savefig(sys.argv[1]) if len(sys.argv) > 1 else plt.show()
