"""Draw the training sets of the synthetic experiment, and learn them with a method."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colk.errors import DivergenceError
from colk.learners import OnlineLearner
from colk_lab.arrays import Array
from colk_lab.reproduction.laws import OutlierLaw, generator, signal
from colk_lab.reproduction.methods import METHODS

__all__ = ["GRID", "draw_data", "follow", "learn_stream", "model_order", "moments", "validate"]

GRID = np.linspace(0.0, 1.0, 201)
_POINTS = GRID[:, None]


def draw_data(
    law: OutlierLaw, n_samples: int, seed: int, run: int
) -> tuple[tuple[Array, Array], tuple[Array, Array]]:
    """Return the training set of a run, and the test set, which all runs share.

    As in the paper, all samples are drawn once. A fifth of them is the test set, and a training set
    is a random half of the rest, in random order.

    Examples
    --------
    >>> training, test = draw_data(OutlierLaw(), 1000, seed=0, run=0)
    >>> len(training[0]), len(test[0])
    (400, 200)
    """
    X, y = law.draw(n_samples, generator(seed, "samples"))
    n_test = n_samples // 5
    chosen = generator(seed, "training", run).permutation(n_samples - n_test)
    rows = n_test + chosen[: (n_samples - n_test) // 2]
    return (X[rows], y[rows]), (X[:n_test], y[:n_test])


def model_order(learner: OnlineLearner) -> int:
    """Return the number of atoms or features of a learner."""
    order = getattr(learner, "n_atoms", None)
    return int(getattr(learner, "n_components", 0) if order is None else order)


def moments(predictions: Array, y: Array) -> list[float]:
    """Return the mean of the squared loss and its central moments 2 to 4."""
    losses = (predictions - y) ** 2
    centred = losses - losses.mean()
    return [float(losses.mean()), *(float((centred**p).mean()) for p in (2, 3, 4))]


def checkpoints(n: int, count: int) -> NDArray[np.int64]:
    """Return even numbers of samples at which to evaluate, denser at the beginning, up to n."""
    places = 2 * np.round(0.5 * n * np.linspace(0.0, 1.0, count + 1)[1:] ** 2).astype(np.int64)
    return np.unique(np.append(places[(places > 0) & (places < n)], n))


def follow(
    learner: OnlineLearner, train: tuple[Array, Array], test: tuple[Array, Array], evaluations: int
) -> dict[str, NDArray[Any]]:
    """Learn a stream, and evaluate the function up to `evaluations` times on the way.

    Returns
    -------
    dict of arrays
        samples, order, error (mean squared distance to the signal on the test points), moments
        (mean loss and central moments 2 to 4 on the test set), function (values on a grid at the
        end), diverged (number of samples at a divergence, or −1).
    """
    X, y = train
    truth = signal(test[0][:, 0])
    marks = checkpoints(len(X), evaluations)
    order, error = np.full(len(marks), np.nan), np.full(len(marks), np.nan)
    laws, function, diverged, start = np.full((len(marks), 4), np.nan), np.full(201, np.nan), -1, 0
    for i, stop in enumerate(marks):
        try:
            learner.learn(X[start:stop], y[start:stop])
        except DivergenceError:
            diverged = int(stop)
            break
        predictions = learner.predict(test[0])
        order[i] = model_order(learner)
        error[i] = ((predictions - truth) ** 2).mean()
        laws[i] = moments(predictions, test[1])
        start = stop
    else:
        function = learner.predict(_POINTS)
    return {
        "samples": marks,
        "order": order,
        "error": error,
        "moments": laws,
        "function": function,
        "diverged": np.array(diverged),
    }


def learn_stream(
    method: str,
    settings: Mapping[str, float],
    order: int,
    law: Mapping[str, Any],
    n_samples: int,
    seed: int,
    run: int,
    evaluations: int,
) -> dict[str, NDArray[Any]]:
    """Learn one training set with one method; see `follow`."""
    train, test = draw_data(OutlierLaw(**law), n_samples, seed, run)
    return follow(METHODS[method].make(settings, order, run), train, test, evaluations)


def validate(
    method: str,
    settings: Mapping[str, float],
    order: int,
    law: Mapping[str, Any],
    n_samples: int,
    seed: int,
    run: int,
) -> dict[str, NDArray[Any]]:
    """Learn four fifths of a training set; return the mean absolute error on the last fifth."""
    (X, y), _ = draw_data(OutlierLaw(**law), n_samples, seed, run)
    split = 2 * (2 * len(X) // 5)
    learner = METHODS[method].make(settings, order, run)
    try:
        learner.learn(X[:split], y[:split])
        score = float(np.abs(learner.predict(X[split:]) - y[split:]).mean())
    except DivergenceError:
        score = np.inf
    return {"score": np.array(score), "order": np.array(model_order(learner))}
