"""Your own loss
=============

Define a loss by two plain functions, check it, and learn with it.
"""

import matplotlib.pyplot as plt
import numpy as np

from colk import COLKRegressor
from colk.losses import CustomLoss
from colk.testing import check_loss


def late(f, y):
    """Return the log cosh of the residual, times five if y is later than f."""
    r = abs(y - f)
    return (5.0 if y > f else 1.0) * (r + np.log1p(np.exp(-2.0 * r)) - np.log(2.0))


def late_slope(f, y):
    """Return the derivative of `late` with respect to the prediction f."""
    return -(5.0 if y > f else 1.0) * np.tanh(y - f)


loss = CustomLoss(late, late_slope, is_convex=True)
check_loss(loss)

rng = np.random.default_rng(0)
X = rng.uniform(0, 1, size=(4000, 1))
y = np.sin(6 * X[:, 0]) + (0.1 + 0.5 * X[:, 0]) * rng.normal(size=4000)

figure, ax = plt.subplots(figsize=(7, 4.5), layout="constrained")
ax.plot(X, y, ".", ms=3, color="0.75")
grid = np.linspace(0, 1, 300)[:, None]
for name, choice in (("huber", "huber"), ("late costs more", loss)):
    model = COLKRegressor(kernel="gaussian", loss=choice, step_size=0.1, random_state=0)
    model.fit(X, y)
    below = (y > model.predict(X)).mean()
    ax.plot(grid, model.predict(grid), lw=2, label=f"{name}: {100 * below:.0f} % arrive later")
ax.legend()
plt.show()
