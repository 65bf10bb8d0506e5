"""What each risk does to the tail
===============================

Variance, semivariance, CVaR and entropic risk, each at several weights: how much mean loss it pays
on new data, and how much of the worst tenth it takes away.
"""

import sys

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


def pays_and_gets(risk):
    """Mean of the absolute errors on new data, and mean of their worst tenth."""
    model = COLKRegressor(
        kernel="gaussian", loss="epsilon_insensitive", risk=risk, step_size=0.05,
        gradient_bound=100.0, epochs=3, random_state=0,
    )  # fmt: skip
    errors = np.sort(np.abs(model.fit(X[train], y[train]).predict(X[test]) - y[test]))
    return errors.mean(), errors[-len(errors) // 10 :].mean()


figure, ax = plt.subplots(figsize=(7, 4.5), layout="constrained")
start = pays_and_gets(Mean())
ax.plot(*start, "ks", label="mean")
for name, risks in families.items():
    ax.plot(*zip(start, *map(pays_and_gets, risks), strict=True), "o-", label=name)
ax.set(xlabel="mean error on new data", ylabel="mean of the worst tenth")
ax.legend()
figure.savefig(sys.argv[1]) if len(sys.argv) > 1 else plt.show()
