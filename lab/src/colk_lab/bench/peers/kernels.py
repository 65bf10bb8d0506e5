"""colk, other kernel methods, linear models, and the constant."""

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.svm import SVC, SVR

from colk.estimators import COLKClassifier, COLKRegressor
from colk_lab.arrays import Array
from colk_lab.bench.peers.base import BatchPeer, Draws
from colk_lab.bench.peers.encoding import numbers, scaled

__all__ = ["PEERS"]


def _power(rng: Draws, low: float, high: float, default: float) -> float:
    """Draw a number whose logarithm is uniform; return the default without a generator."""
    if rng is None:
        return default
    return float(np.exp(rng.uniform(np.log(low), np.log(high))))


class Colk(BatchPeer):
    """colk at its defaults, on the data frame as it is."""

    name = "colk"
    uses_package = True
    seconds = (1.3, 1.0)

    def model(self, rng: Draws, is_classifier: bool, X: Any) -> Any:
        return (COLKClassifier if is_classifier else COLKRegressor)(random_state=0)


class SupportVectors(BatchPeer):
    """SVR and SVC with a Gaussian kernel."""

    name = "SVR / SVC, tuned"
    is_tuned = True
    seconds = (0.15, 0.1)

    def model(self, rng: Draws, is_classifier: bool, X: Any) -> Any:
        cost = _power(rng, 0.3, 300.0, 1.0)
        gamma = "scale" if rng is None else _power(rng, 0.003, 1.0, 1.0)
        if is_classifier:
            return scaled(X, SVC(C=cost, gamma=gamma), True)
        return scaled(X, SVR(C=cost, gamma=gamma, epsilon=_power(rng, 0.03, 0.5, 0.1)), False)


class RidgeOfLabels(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Kernel ridge regression on the indicators of the classes."""

    def __init__(self, model: Any) -> None:
        self.model = model

    def fit(self, X: Array, y: Any) -> "RidgeOfLabels":
        """Fit one function for each class."""
        self.classes_, codes = np.unique(y, return_inverse=True)
        self.model.fit(X, np.eye(len(self.classes_))[codes])
        return self

    def predict(self, X: Array) -> Any:
        """Return the class with the largest function."""
        return self.classes_[np.argmax(self.model.predict(X), axis=1)]


class KernelRidges(BatchPeer):
    """Kernel ridge regression with a Gaussian or a Laplacian kernel; for labels, on indicators."""

    name = "KernelRidge, tuned"
    is_tuned = True
    seconds = (0.1, 0.1)

    def model(self, rng: Draws, is_classifier: bool, X: Any) -> Any:
        kernel = "rbf" if rng is None else str(rng.choice(["rbf", "laplacian"]))
        gamma = None if rng is None else _power(rng, 0.003, 1.0, 1.0)
        model = KernelRidge(alpha=_power(rng, 1e-3, 10.0, 1.0), kernel=kernel, gamma=gamma)
        return scaled(X, RidgeOfLabels(model) if is_classifier else model, is_classifier)


class LinearPeer(BatchPeer):
    """A linear model."""

    name = "linear, tuned"
    is_tuned = True
    seconds = (0.02, 0.05)

    def model(self, rng: Draws, is_classifier: bool, X: Any) -> Any:
        if is_classifier:
            model = LogisticRegression(C=_power(rng, 0.01, 100.0, 1.0), max_iter=1000)
            return scaled(X, model, True)
        return scaled(X, Ridge(_power(rng, 0.01, 1e3, 1.0)), False)


class ConstantPeer(BatchPeer):
    """The mean of the targets, or the most frequent class."""

    name = "constant"
    seconds = (0.001, 0.001)

    def model(self, rng: Draws, is_classifier: bool, X: Any) -> Any:
        return DummyClassifier(strategy="prior") if is_classifier else DummyRegressor()


class Xrfm:
    """xRFM, which needs rows to compare its rounds: a fifth of the training rows."""

    def __init__(self, columns: Any, is_classifier: bool) -> None:
        self.columns, self.is_classifier = numbers(columns), is_classifier

    def fit(self, X: Any, y: Any) -> "Xrfm":
        """Fit the model; targets of regression are scaled."""
        import torch
        from xrfm import xRFM

        torch.set_num_threads(1)
        rows = np.asarray(self.columns.fit_transform(X), dtype=np.float32)
        self.shift, self.scale = 0.0, 1.0
        if self.is_classifier:
            # Its labels must be 0, 1, …, all of them in the rows that it fits.
            self.classes_, y = np.unique(y, return_inverse=True)
        else:
            self.shift, self.scale = float(y.mean()), float(y.std()) or 1.0
            y = ((y - self.shift) / self.scale).astype(np.float32)[:, None]
        left = np.random.default_rng(0).permutation(len(y)) < max(len(y) // 5, 1)
        if self.is_classifier:
            left &= ~np.isin(np.arange(len(y)), np.unique(y, return_index=True)[1])
        self.model = xRFM(
            device="cpu",
            tuning_metric="brier" if self.is_classifier else "mse",
            n_threads=1,
            random_state=0,
            verbose=False,
        )
        self.model.fit(rows[~left], y[~left], rows[left], y[left])
        return self

    def _rows(self, X: Any) -> Any:
        return np.asarray(self.columns.transform(X), dtype=np.float32)

    def predict(self, X: Any) -> Any:
        """Return numbers or classes."""
        found = np.asarray(self.model.predict(self._rows(X)))
        if self.is_classifier:
            return self.classes_[found.ravel().astype(int)]
        return self.shift + self.scale * found.ravel().astype(np.float64)

    def predict_proba(self, X: Any) -> Any:
        """Return the probabilities of the classes."""
        return np.asarray(self.model.predict_proba(self._rows(X)), dtype=np.float64)


class XrfmPeer(BatchPeer):
    """xRFM, kernel machines that learn a metric, on the processor."""

    name = "xRFM"
    needs = "xrfm"
    seconds = (0.8, 0.5)

    def model(self, rng: Draws, is_classifier: bool, X: Any) -> Any:
        return Xrfm(X, is_classifier)


PEERS: list[BatchPeer] = [
    Colk(),
    XrfmPeer(),
    SupportVectors(),
    KernelRidges(),
    LinearPeer(),
    ConstantPeer(),
]
