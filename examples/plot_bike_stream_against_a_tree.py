"""A real stream, compared with trees
==================================

COLK and River's trees predict the bike rentals of a year, hour by hour. They predict each hour
before they learn it. The trees are designed for tables like this one.
"""

import matplotlib.pyplot as plt
import numpy as np
from river import preprocessing, tree

from colk.data import load_bike_rentals
from colk.river import COLKRegressor

samples = load_bike_rentals()
counts = np.array([count for _, count in samples])

models = {
    "COLKRegressor": COLKRegressor(),
    "HoeffdingAdaptiveTree": tree.HoeffdingAdaptiveTreeRegressor(seed=1),
    "HoeffdingTree": tree.HoeffdingTreeRegressor(),
}
figure, ax = plt.subplots(figsize=(8, 4), layout="constrained")
for name, model in models.items():
    pipeline = preprocessing.StandardScaler() | model
    errors = np.empty(len(counts))
    for t, (sample, count) in enumerate(samples):
        errors[t] = abs(pipeline.predict_one(sample) - count)
        pipeline.learn_one(sample, count)
    week = np.convolve(errors, np.full(168, 1 / 168), mode="valid")
    ax.plot(np.arange(167, len(counts)) / 24, week, label=f"{name}: {errors.mean():.1f}")
    print(f"{name}: mean error {errors.mean():.1f} rentals an hour")
ax.set(xlabel="day of the year", ylabel="error before learning, weekly mean", ylim=(0, None))
ax.legend()
plt.show()
