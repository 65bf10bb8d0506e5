"""Saving and serving a model
==========================

Save a model in the middle of a stream, load it, and continue bit for bit. Export it as plain Python
and predict without colk.
"""

from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType

import matplotlib.pyplot as plt
import numpy as np

import colk
from colk.compressors import KOMP
from colk.export import to_python
from colk.kernels import Gaussian

rng = np.random.default_rng(0)
X = rng.uniform(-3, 3, size=(3000, 1))
y = np.sin(2 * X[:, 0]) + 0.2 * rng.normal(size=3000)

model = colk.COLK(Gaussian(0.5), compressor=KOMP(eps=0.02)).learn(X[:1500], y[:1500])
with TemporaryDirectory() as folder:
    path = Path(folder) / "model.colk"
    colk.save(model, path)
    loaded = colk.load(path)
    print(f"{path.stat().st_size} bytes, {loaded.n_atoms} atoms")
for each in (model, loaded):
    each.learn(X[1500:], y[1500:])
assert np.array_equal(model.predict(X), loaded.predict(X))  # bit for bit

served = ModuleType("served")
exec(to_python(model), served.__dict__)  # in a service, import it from a file
grid = np.linspace(-3, 3, 200)
without_colk = np.ravel([served.predict([[float(u)]]) for u in grid])

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
left.plot(X, y, ",", color="0.7")
left.plot(grid, loaded.predict(grid[:, None]), lw=3, label="saved, loaded, continued")
left.plot(grid, without_colk, "--", color="k", label="exported, without colk")
left.legend()
right.plot(grid, np.abs(without_colk - model.predict(grid[:, None])))
right.set(title="error of the exported model", xlabel="x")
plt.show()
