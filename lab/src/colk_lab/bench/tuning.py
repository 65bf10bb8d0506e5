"""Tune a peer: compare settings on held-out training rows, and fit the best to all rows."""

import pickle
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from colk_lab.bench.peers.base import BatchPeer

__all__ = ["Fitted", "tuned"]

# Share of the training rows that compare settings.
_HELD_OUT = 0.25


@dataclass(frozen=True)
class Fitted:
    """A tuned model and its times.

    Parameters
    ----------
    model : estimator
        The fitted model.
    seconds : float
        Processor time of the fit with the chosen settings.
    tuning : float
        Processor time of all fits.
    """

    model: Any
    seconds: float
    tuning: float

    @property
    def n_bytes(self) -> int:
        """Size of the pickled model."""
        return len(pickle.dumps(self.model))


def tuned(
    peer: BatchPeer,
    X: Any,
    y: Any,
    loss: Callable[[Any, Any, Any], float],
    n_trials: int,
    seed: int,
    is_classifier: bool = False,
) -> Fitted:
    """Compare settings on held-out rows, and fit the best to all rows.

    Parameters
    ----------
    peer : BatchPeer
        The method.
    X, y : data frame and array
        Training rows, in a random order.
    loss : callable
        Loss of a fitted model on rows X, y; smaller is better.
    n_trials : int
        Number of settings. A peer that is not tuned has one.
    seed : int
        Seed of the settings.
    is_classifier : bool, default=False
        Whether y has labels.
    """
    begun = time.process_time()
    trials = _trials(peer, n_trials, seed, is_classifier, X)
    if len(trials) == 1:
        best = trials[0]
    else:
        n = int((1.0 - _HELD_OUT) * len(X))
        first, rest = X.iloc[:n], X.iloc[n:]
        scores = [loss(_fit(make(), first, y[:n]), rest, y[n:]) for make in trials]
        best = trials[int(np.nanargmin(scores))]
    start = time.process_time()
    model = _fit(best(), X, y)
    end = time.process_time()
    return Fitted(model, end - start, end - begun)


def _trials(
    peer: BatchPeer, n_trials: int, seed: int, is_classifier: bool, X: Any
) -> list[Callable[[], Any]]:
    """Return one function per setting; each call of it returns the same unfitted model."""
    trials: list[Callable[[], Any]] = [lambda: peer.model(None, is_classifier, X)]
    for number in range(1, n_trials if peer.is_tuned else 1):

        def make(number: int = number) -> Any:
            return peer.model(np.random.default_rng([seed, number]), is_classifier, X)

        trials.append(make)
    return trials


def _fit(model: Any, X: Any, y: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a trial that does not converge has a bad score anyway
        return model.fit(X, y)
