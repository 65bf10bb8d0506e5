"""Targets that lie far from the others, but where the features say: they are no outliers."""

import numpy as np

from colk._validation import Array
from colk.kernels import Kernel
from colk.losses import Squared
from colk.model.settings import Settings
from colk.rkhs.expansion import KernelExpansion
from colk.rkhs.polishing import polish
from colk.selection import rows_to_race

__all__ = ["features_predict"]

# Features predict which targets are far if the left-out squared error is below this share of that
# of a constant. With 0.2 to 0.4 of the rows of a region far away, it is 0.7 to 0.9.
_EXPLAINED = 0.5

# Number of rows, and of atoms, of the regression that predicts it.
_N_ROWS, _N_ATOMS = 1000, 300

# Its least λ.
_LEAST = 1e-9


def features_predict(
    settings: Settings, kernel: Kernel, X: Array, places: Array, weight: Array
) -> bool:
    """Return whether a ridge regression, left out, predicts which targets are far.

    Errors of a measurement do not depend on x. A second mode of the targets may.

    Parameters
    ----------
    settings : Settings
        The settings; if they leave the kernel open, it is chosen for this regression.
    kernel : Kernel
        The kernel if it is given.
    X : array of shape (n, p)
        Points.
    places : array of shape (n, q)
        1 for a target above the others, −1 for one below them, 0 for the others.
    weight : array of shape (n,)
        Weights of the samples.

    Examples
    --------
    >>> from colk.kernels import Gaussian
    >>> kernel = Gaussian(0.1)
    >>> X, far = np.linspace(0.0, 1.0, 200)[:, None], np.zeros((200, 1))
    >>> far[-20:] = 1.0
    >>> features_predict(Settings(kernel=kernel), kernel, X, far, np.ones(200))
    True
    >>> far = np.random.default_rng(0).permutation(far)
    >>> features_predict(Settings(kernel=kernel), kernel, X, far, np.ones(200))
    False
    """
    if settings.is_open:
        some = rows_to_race(len(X), None)
        few = X[some], places[some], weight[some]
        kernel = settings.race(*few, places.shape[1], both_halves=True).kernel
    rows = np.flatnonzero(weight > 0.0)
    if len(rows) > _N_ROWS:
        rows = rows[np.linspace(0, len(rows) - 1, _N_ROWS).astype(int)]
    X, share = X[rows], weight[rows]
    Z = places[rows] - np.average(places[rows], axis=0, weights=share)
    atoms = X[np.linspace(0, len(X) - 1, min(len(X), _N_ATOMS)).astype(int)]
    function = KernelExpansion(kernel, atoms, np.zeros((len(atoms), Z.shape[1])))
    loss = Squared()
    found = polish(function, X, Z, loss, regularization=_LEAST, choose=True, sample_weight=share)
    constant = float(np.average(loss.value(0.0 * Z, Z), weights=share))
    return min(value for _, value in found.candidates) < _EXPLAINED * constant
