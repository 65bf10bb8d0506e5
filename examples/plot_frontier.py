"""The effect of each risk on the tail
===================================

The figure compares variance, semivariance, CVaR and entropic risk at several weights. Each reduces
the mean of the worst tenth of the errors on new data, at the price of a larger mean error.
"""

import matplotlib.pyplot as plt
import numpy as np

from colk import COLKRegressor
from colk.risks import CVaR, Entropic, Mean, Semivariance, Variance

rng = np.random.default_rng(0)
X = rng.uniform(-1, 1, size=(9000, 1))
y = np.sin(3 * X[:, 0]) + rng.exponential(size=9000) * (1.2 + X[:, 0])
train, test = slice(0, 4500), slice(4500, None)

families = {
    "variance": [Variance(weight) for weight in (0.1, 0.3, 1.0)],
    "semivariance": [Semivariance(weight) for weight in (0.1, 0.3, 1.0)],
    "CVaR": [CVaR(0.1, weight=weight) for weight in (0.25, 0.5, 0.75)],
    "entropic": [Entropic(tilt) for tilt in (0.1, 0.25, 0.5)],
}


def mean_and_tail(risk):
    """Return the mean absolute error on new data and the mean of the worst tenth."""
    model = COLKRegressor(kernel="gaussian", loss="epsilon_insensitive", risk=risk, random_state=0)
    errors = np.sort(np.abs(model.fit(X[train], y[train]).predict(X[test]) - y[test]))
    return errors.mean(), errors[-len(errors) // 10 :].mean()


figure, ax = plt.subplots(figsize=(7, 4.5), layout="constrained")
start = mean_and_tail(Mean())
ax.plot(*start, "ks", label="mean")
for name, risks in families.items():
    ax.plot(*zip(start, *map(mean_and_tail, risks), strict=True), "o-", label=name)
ax.set(xlabel="mean error on new data", ylabel="mean of the worst tenth")
ax.legend()
plt.show()
