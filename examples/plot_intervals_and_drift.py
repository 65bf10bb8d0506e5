"""Bike rentals with intervals and drift marks
===========================================

A model learns quantiles of the bike rentals of a year, hour by hour. A tenth of the hours lie
outside the band, which is wider at hours with more rentals. A detector marks the days on which the
errors of the median rose, because the relationship had changed.
"""

import matplotlib.pyplot as plt
import numpy as np
from river import preprocessing

from colk.data import load_bike_rentals
from colk.learners import DriftDetector
from colk.river import COLKQuantileRegressor

scaler, model = preprocessing.StandardScaler(), COLKQuantileRegressor((0.05, 0.5, 0.95))
detector, bands, counts = DriftDetector(), [], []
for sample, count in load_bike_rentals():
    scaler.learn_one(sample)
    scaled = scaler.transform_one(sample)
    bands.append(list(model.predict_quantiles(scaled).values()))
    counts.append(count)
    detector.update(abs(count - bands[-1][1]))
    model.learn_one(scaled, count)
low, middle, high = np.array(bands).T
inside = (low <= counts) & (counts <= high)
print(f"coverage after the first week: {inside[168:].mean():.3f}, nominal 0.9")
for event in detector.events:
    print(f"day {event.time / 24:.0f}: the errors rose by {event.severity:.0%}")

figure, (top, bottom) = plt.subplots(2, figsize=(8, 6), layout="constrained")
days, week = np.arange(len(counts)) / 24, slice(6000, 6168)
top.fill_between(days[week], low[week], high[week], alpha=0.3, label="0.05 to 0.95 quantile")
top.plot(days[week], middle[week], label="median")
top.plot(days[week], counts[week], "k.", markersize=3, label="rentals")
top.set(xlabel="day of the year", ylabel="rentals per hour")
top.legend(loc="upper right")
errors = np.convolve(np.abs(middle - counts), np.full(168, 1 / 168), mode="valid")
bottom.plot(days[167:], errors, label="error of the median, weekly mean")
for k, event in enumerate(detector.events):
    bottom.axvline(event.time / 24, color="C3", ls="--", label=None if k else "drift")
bottom.set(xlabel="day of the year", ylabel="rentals per hour", ylim=(0, None))
bottom.legend(loc="lower right")
plt.show()
