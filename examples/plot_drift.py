"""Drift
=====

On a drifting stream, predict with the last iterate. An average of past iterates lags behind.
"""

import matplotlib.pyplot as plt
import numpy as np

from colk.river import COLKRegressor
from colk.schedules import Exponential

rng = np.random.default_rng(0)
time = np.arange(6000)
x = rng.uniform(-1, 1, size=6000)
phase = np.where(time < 3000, 0.0, 2.0) + 2e-4 * time  # a slow drift and one jump
y = np.sin(4 * x + phase) + 0.2 * rng.normal(size=6000)

models = {
    "last iterate": COLKRegressor(solver="gradient"),
    "average of the last 100": COLKRegressor(averaging=Exponential(0.01)),
    "average of all": COLKRegressor(averaging=True),
}
figure, ax = plt.subplots(figsize=(8, 4), layout="constrained")
for name, model in models.items():
    errors = np.empty(6000)
    for t in range(6000):
        sample = {"x": 1.7 * float(x[t])}
        errors[t] = abs(model.predict_one(sample) - np.sin(4 * x[t] + phase[t]))
        model.learn_one(sample, float(y[t]))
    smooth = np.convolve(errors, np.full(200, 1 / 200), mode="valid")
    ax.plot(time[199:], smooth, label=f"{name}: {errors.mean():.3f}")
ax.set(xlabel="samples", ylabel="error before learning, mean of 200")
ax.axvline(3000, color="0.7", ls=":")
ax.legend()
plt.show()
