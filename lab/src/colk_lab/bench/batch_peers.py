"""Peers for batch problems; each class is a row of the tables."""

from importlib.util import find_spec
from typing import Any

import numpy as np
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.gaussian_process import GaussianProcessClassifier, GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, Matern, WhiteKernel
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LogisticRegression, Ridge, SGDClassifier, SGDRegressor
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

from colk.estimators import COLKClassifier, COLKRegressor
from colk_lab.arrays import Array
from colk_lab.bench.tuning import BatchPeer

__all__ = ["BATCH_PEERS"]

Draws = np.random.Generator | None


def _power(rng: Draws, low: float, high: float, default: float) -> float:
    """Draw a number whose logarithm is uniform; return the default without a generator."""
    if rng is None:
        return default
    return float(np.exp(rng.uniform(np.log(low), np.log(high))))


def _scaled(model: Any, is_classifier: bool = True) -> Any:
    """Standardise the features; for regression the targets too."""
    if not is_classifier:
        model = TransformedTargetRegressor(model, transformer=StandardScaler())
    return make_pipeline(StandardScaler(), model)


class Colk(BatchPeer):
    """colk at its defaults, with one fit and without tuning."""

    name = "colk"
    is_tuned = False
    uses_package = True

    def model(self, rng: Draws, is_classifier: bool) -> Any:
        kind = COLKClassifier if is_classifier else COLKRegressor
        return make_pipeline(StandardScaler(), kind(random_state=0))


class ColkTuned(BatchPeer):
    """colk with as many trials as the other peers."""

    name = "colk, tuned"
    uses_package = True

    def model(self, rng: Draws, is_classifier: bool) -> Any:
        kind = COLKClassifier if is_classifier else COLKRegressor
        settings: dict[str, Any] = {}
        if rng is not None:
            settings = {
                "kernel": str(rng.choice(["auto", "gaussian", "matern", "laplacian"])),
                "max_atoms": int(rng.choice([200, 400, 800])),
                "solver": str(rng.choice(["gradient", "newton"])),
            }
        return make_pipeline(StandardScaler(), kind(random_state=0, **settings))


class SupportVectors(BatchPeer):
    """SVR and SVC with a Gaussian kernel."""

    name = "SVR / SVC"

    def model(self, rng: Draws, is_classifier: bool) -> Any:
        cost = _power(rng, 0.3, 300.0, 1.0)
        gamma = "scale" if rng is None else _power(rng, 0.003, 1.0, 1.0)
        if is_classifier:
            return _scaled(SVC(C=cost, gamma=gamma))
        return _scaled(SVR(C=cost, gamma=gamma, epsilon=_power(rng, 0.03, 0.5, 0.1)), False)


class Ridges(BatchPeer):
    """Kernel ridge regression with a Gaussian or a Laplacian kernel."""

    name = "KernelRidge"

    def model(self, rng: Draws, is_classifier: bool) -> Any:
        kernel = "rbf" if rng is None else str(rng.choice(["rbf", "laplacian"]))
        gamma = None if rng is None else _power(rng, 0.003, 1.0, 1.0)
        return _scaled(KernelRidge(_power(rng, 1e-3, 10.0, 1.0), kernel=kernel, gamma=gamma), False)

    def fits(self, is_classifier: bool) -> bool:
        return not is_classifier


class Subset:
    """A Gaussian process on the first 500 rows, because its time grows as the cube of the rows."""

    def __init__(self, model: Any, n_rows: int = 500) -> None:
        self.model, self.n_rows = model, n_rows

    def fit(self, X: Array, y: Array) -> "Subset":
        """Fit the first rows."""
        self.model.fit(X[: self.n_rows], y[: self.n_rows])
        return self

    def predict(self, X: Array) -> Array:
        """Predict with the fitted model."""
        found: Array = self.model.predict(X)
        return found


class GaussianProcess(BatchPeer):
    """A Gaussian process that tunes its length scales by the marginal likelihood."""

    name = "GaussianProcess, 500 rows"
    is_tuned = False

    def model(self, rng: Draws, is_classifier: bool) -> Any:
        if is_classifier:
            kernel = ConstantKernel() * RBF(3.0)
            return Subset(_scaled(GaussianProcessClassifier(kernel, random_state=0)))
        kernel = ConstantKernel() * Matern(3.0, nu=1.5) + WhiteKernel()
        model = GaussianProcessRegressor(kernel, normalize_y=True, random_state=0)
        return Subset(_scaled(model, is_classifier=False))


class NystroemFeatures(BatchPeer):
    """Nyström features with a linear model."""

    name = "Nystroem + ridge"

    def model(self, rng: Draws, is_classifier: bool) -> Any:
        gamma = None if rng is None else _power(rng, 0.003, 1.0, 1.0)
        features = Nystroem(gamma=gamma, n_components=400, random_state=0)
        if is_classifier:
            return _scaled(
                make_pipeline(features, LogisticRegression(C=_power(rng, 0.1, 1e3, 1.0)))
            )
        return _scaled(make_pipeline(features, Ridge(_power(rng, 1e-4, 10.0, 1.0))), False)


class RandomFeatures(BatchPeer):
    """Random Fourier features with stochastic gradients."""

    name = "RBFSampler + SGD"

    def model(self, rng: Draws, is_classifier: bool) -> Any:
        features = RBFSampler(gamma=_power(rng, 0.003, 1.0, 0.1), n_components=400, random_state=0)
        decay = _power(rng, 1e-6, 1e-2, 1e-4)
        if is_classifier:
            return _scaled(make_pipeline(features, SGDClassifier(alpha=decay, random_state=0)))
        return _scaled(make_pipeline(features, SGDRegressor(alpha=decay, random_state=0)), False)


class Boosting(BatchPeer):
    """scikit-learn's gradient boosting on histograms."""

    name = "HistGradientBoosting"

    def model(self, rng: Draws, is_classifier: bool) -> Any:
        kind = HistGradientBoostingClassifier if is_classifier else HistGradientBoostingRegressor
        return kind(
            learning_rate=_power(rng, 0.02, 0.3, 0.1),
            max_iter=100 if rng is None else int(rng.choice([100, 200, 400])),
            max_leaf_nodes=31 if rng is None else int(rng.choice([7, 15, 31])),
            min_samples_leaf=20 if rng is None else int(rng.choice([5, 10, 20])),
            random_state=0,
        )


class LightGbm(BatchPeer):
    """LightGBM, on one thread."""

    name = "LightGBM"

    def model(self, rng: Draws, is_classifier: bool) -> Any:
        from lightgbm import LGBMClassifier, LGBMRegressor

        kind = LGBMClassifier if is_classifier else LGBMRegressor
        return kind(
            learning_rate=_power(rng, 0.02, 0.3, 0.1),
            n_estimators=100 if rng is None else int(rng.choice([100, 200, 400])),
            num_leaves=31 if rng is None else int(rng.choice([7, 15, 31])),
            min_child_samples=20 if rng is None else int(rng.choice([5, 10, 20])),
            n_jobs=1,
            random_state=0,
            verbose=-1,
        )


class Network(BatchPeer):
    """A network with one or two hidden layers."""

    name = "MLP"

    def model(self, rng: Draws, is_classifier: bool) -> Any:
        kind = MLPClassifier if is_classifier else MLPRegressor
        hidden = [(100,), (50, 50), (100, 50)]
        settings = {
            "hidden_layer_sizes": hidden[0 if rng is None else rng.integers(3)],
            "alpha": _power(rng, 1e-5, 0.1, 1e-4),
            "learning_rate_init": _power(rng, 5e-4, 0.01, 1e-3),
            "early_stopping": True,
            "random_state": 0,
        }
        return _scaled(kind(**settings), is_classifier)


class LinearBatch(BatchPeer):
    """A linear model as a baseline."""

    name = "linear"

    def model(self, rng: Draws, is_classifier: bool) -> Any:
        if is_classifier:
            return _scaled(LogisticRegression(C=_power(rng, 0.01, 100.0, 1.0), max_iter=1000))
        return _scaled(Ridge(_power(rng, 0.01, 1e3, 1.0)), False)


def _known() -> list[BatchPeer]:
    peers: list[BatchPeer] = [Colk(), ColkTuned(), SupportVectors(), Ridges(), GaussianProcess()]
    peers += [NystroemFeatures(), RandomFeatures(), Boosting()]
    if find_spec("lightgbm") is not None:
        peers.append(LightGbm())
    return [*peers, Network(), LinearBatch()]


BATCH_PEERS = {peer.name: peer for peer in _known()}
