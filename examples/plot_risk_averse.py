"""Risk-averse learning
====================

With skewed noise, a risk-averse model has smaller losses in the tail and a larger typical loss.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.base import clone

from colk import COLKRegressor
from colk.estimators import RiskTradeoffDisplay
from colk.risks import CVaR, Mean

rng = np.random.default_rng(0)
X = rng.uniform(-1, 1, size=(8000, 1))
# The noise is mostly small; large delays occur more often to the right.
delay = rng.exponential(size=8000) * (1.2 + X[:, 0])
y = np.sin(3 * X[:, 0]) + delay
train, test = slice(0, 5000), slice(5000, None)

base = COLKRegressor(kernel="gaussian", loss="epsilon_insensitive", random_state=0)
shares = (0.0, 0.25, 0.5, 0.75)
risks = [CVaR(0.1, weight=share) if share else Mean() for share in shares]
labels = [f"{1 - share:g}·mean + {share:g}·CVaR" for share in shares]

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.5), layout="constrained")
left.plot(X[train][::5], y[train][::5], ".", ms=3, color="0.8")
grid = np.linspace(-1, 1, 200)[:, None]
for risk in (risks[0], risks[-1]):
    fitted = clone(base).set_params(risk=risk).fit(X[train], y[train])
    left.plot(grid, fitted.predict(grid), lw=2, label=type(risk).__name__)
left.legend()
left.set_title("CVaR moves the fit towards the delays")
RiskTradeoffDisplay.from_estimator(
    base, X[train], y[train], X[test], y[test],
    risks=risks, labels=labels, tail_fraction=0.1, ax=right,
)  # fmt: skip
right.set_title("test data: mean and tail of each risk")
plt.show()
