"""Check a learner: chunks, pickling, sample weights, heavy tails and bad input."""

import pickle
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from colk._validation import Array
from colk.errors import DivergenceError
from colk.learners import OnlineLearner
from colk.losses import Loss
from colk.testing._slopes import require

__all__ = ["check_learner"]

Factory = Callable[[], OnlineLearner]


def check_learner(factory: Factory, n_features: int = 2, *, n: int = 120, seed: int = 0) -> None:
    """Check that a learner keeps the promises of online learning.

    - Chunks: learning a stream at once, in chunks or sample by sample gives the same model, bit for
      bit.
    - Pickling: a copy continues exactly as the original does.
    - Weights: a sample of weight 0 is skipped.
    - Heavy tails: after Cauchy-distributed targets the model is finite, or `DivergenceError` was
      raised and the model is the last finite one.
    - Bad input: it raises an error, and the model does not change.

    Parameters
    ----------
    factory : callable
        Function without arguments that creates a new learner, the same at every call.
    n_features : int
        Number of features of the points, which are uniform in the unit cube. Default: 2.
    n : int
        Length of the stream. Default: 120.
    seed : int
        Seed of the stream. Default: 0.

    Raises
    ------
    AssertionError
        The message names the promise that is broken.

    Examples
    --------
    >>> from colk.kernels import Gaussian
    >>> from colk.learners import POLK
    >>> from colk.testing import check_learner
    >>> check_learner(lambda: POLK(Gaussian(0.3)))
    """
    rng = np.random.default_rng(seed)
    learner = factory()
    name = type(learner).__name__
    X = rng.random((n, n_features))
    y = _targets(learner.loss, learner.n_outputs, X, rng)
    _check_chunks(factory, X, y, name)
    _check_pickling(factory, X, y, name)
    _check_weights(factory, X, y, rng, name)
    if learner.loss.kind == "regression":
        _check_heavy_tails(factory, X, rng.standard_cauchy(n) * 100.0, name)
    _check_bad_input(factory, X, y, name)


def _targets(loss: Loss, n_outputs: int | None, X: Array, rng: np.random.Generator) -> Array:
    values: Array = np.sin(4.0 * X[:, 0]) + 0.1 * rng.normal(size=len(X))
    if loss.kind == "binary":
        return np.where(values > 0.3, 1.0, -1.0)
    if loss.kind == "multiclass":
        return np.floor((n_outputs or 2) * X[:, 0])
    return values


def _same(first: OnlineLearner, second: OnlineLearner, X: Array) -> bool:
    return bool(np.array_equal(first.predict(X), second.predict(X)))


def _check_chunks(factory: Factory, X: Array, y: Array, name: str) -> None:
    whole, chunked, single = factory().learn(X, y), factory(), factory()
    for start in range(0, len(X), 7):
        chunked.learn(X[start : start + 7], y[start : start + 7])
    for x, target in zip(X, y, strict=True):
        single.learn_one(x, target)
    require(_same(whole, chunked, X), f"{name}: cutting the stream into chunks changes the model")
    require(_same(whole, single, X), f"{name}: learn_one and learn differ")


def _check_pickling(factory: Factory, X: Array, y: Array, name: str) -> None:
    half = len(X) // 2
    original = factory()
    untouched = pickle.loads(pickle.dumps(original))
    original.learn(X[:half], y[:half])
    copy = pickle.loads(pickle.dumps(original))
    before = original.predict(X)
    require(np.array_equal(copy.predict(X), before), f"{name}: a pickled copy predicts differently")
    copy.learn(X[half:], y[half:])
    require(
        np.array_equal(original.predict(X), before),
        f"{name}: learning by a pickled copy changes the original",
    )
    original.learn(X[half:], y[half:])
    require(
        _same(original, copy, X), f"{name}: a pickled copy does not continue as the original does"
    )
    untouched.learn(X, y)
    require(
        _same(original, untouched, X), f"{name}: a learner pickled before the first sample differs"
    )


def _check_weights(
    factory: Factory, X: Array, y: Array, rng: np.random.Generator, name: str
) -> None:
    kept = rng.random(len(X)) < 0.7
    weighted = factory().learn(X, y, sample_weight=kept.astype(float))
    skipped = factory().learn(X[kept], y[kept])
    require(_same(weighted, skipped, X), f"{name}: weight 0 is not the same as skipping")


def _check_heavy_tails(factory: Factory, X: Array, y: Array, name: str) -> None:
    learner = factory()
    for x, target in zip(X, y, strict=True):
        try:
            learner.learn_one(x, target)
        except DivergenceError:
            break
    require(np.isfinite(learner.predict(X)).all(), f"{name}: heavy tails make predictions infinite")


def _check_bad_input(factory: Factory, X: Array, y: Array, name: str) -> None:
    learner = factory().learn(X[:20], y[:20])
    before = learner.predict(X)
    with_nan = X.copy()
    with_nan[-1, 0] = np.nan
    bad_targets = y.copy()
    bad_targets[-1] = np.inf
    cases: list[tuple[str, ArrayLike, ArrayLike, ArrayLike | None]] = [
        ("NaN in X", with_nan, y, None),
        ("infinity in y", X, bad_targets, None),
        ("fewer targets than points", X, y[:-1], None),
        ("another number of features", np.hstack([X, X]), y, None),
        ("a vector in place of points", X[:, 0], y, None),
        ("text", [["a"] * X.shape[1]] * len(X), y, None),
        ("a negative weight", X, y, -np.ones(len(X))),
    ]
    for what, points, targets, weight in cases:
        try:
            learner.learn(points, targets, weight)
        except (TypeError, ValueError):
            require(np.array_equal(learner.predict(X), before), f"{name}: {what} changes the model")
        else:
            raise AssertionError(f"{name}: {what} raises no error")
