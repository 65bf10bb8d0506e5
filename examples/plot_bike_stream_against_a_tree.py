"""A real stream, compared with trees
==================================

COLK and River's trees predict the bike rentals of a year, each hour before they learn it. The trees
are designed for tables like this one. The lower figure shows COLK's intervals for ten days of the
summer.
"""

import matplotlib.pyplot as plt
import numpy as np
from river import preprocessing, tree

from colk.data import load_bike_rentals
from colk.river import COLKRegressor, ConformalRegressor

samples = load_bike_rentals()
counts = np.array([count for _, count in samples])
days = np.arange(len(counts)) / 24

models = {
    "HoeffdingTree": tree.HoeffdingTreeRegressor(),
    "HoeffdingAdaptiveTree": tree.HoeffdingAdaptiveTreeRegressor(seed=1),
    "COLKRegressor": COLKRegressor(),
}
figure, (above, below) = plt.subplots(2, figsize=(8, 6), layout="constrained")
for name, model in models.items():
    stream = ConformalRegressor(preprocessing.StandardScaler() | model, coverage=0.9)
    errors, ends = np.empty(len(counts)), np.empty((len(counts), 2))
    for t, (sample, count) in enumerate(samples):
        errors[t] = abs(stream.predict_one(sample) - count)
        interval = stream.predict_interval(sample)
        ends[t] = interval.lower, interval.upper
        stream.learn_one(sample, count)
    week = np.convolve(errors, np.full(168, 1 / 168), mode="valid")
    above.plot(days[167:], week, label=f"{name}: {errors.mean():.1f}")
    covered = np.mean((ends[:, 0] <= counts) & (counts <= ends[:, 1]))
    print(f"{name}: mean error {errors.mean():.1f} rentals an hour, {covered:.1%} inside")
above.set(xlabel="day of the year", ylabel="error before learning, weekly mean", ylim=(0, None))
above.legend(loc="upper left")

some = slice(24 * 235, 24 * 245)
label = f"90 % interval; {covered:.1%} of the year inside"
below.fill_between(days[some], *ends[some].T, alpha=0.3, color="C2", label=label)
below.plot(days[some], counts[some], "k.", ms=3, label="rentals")
below.set(xlabel="day of the year", ylabel="rentals an hour", ylim=(-220, 850))
below.legend(loc="upper left", ncols=2)
plt.show()
