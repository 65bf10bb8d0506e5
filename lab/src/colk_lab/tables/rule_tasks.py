"""A fit or a stream with one rule switched off, for `rules`.

A rule is switched off by other values of module-level constants. A value that starts with "call:"
is put in the place of a function; it names one of `REPLACEMENTS`.
"""

import ast
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import log_loss

from colk import COLKClassifier, COLKRegressor
from colk.river import COLKClassifier as StreamClassifier
from colk.river import COLKRegressor as StreamRegressor
from colk_lab.data import CLASSIFICATION_SETS, STREAMS, load
from colk_lab.data.hard_streams import HARD_STREAMS
from colk_lab.data.hard_tables import HARD_TABLES

__all__ = ["REPLACEMENTS", "check_not_a_default", "fit_score", "stream_score", "switched"]

Changes = Mapping[str, Any]

REPLACEMENTS: dict[str, Callable[..., Any]] = {
    "nothing": lambda *arguments, **named: None,
    "no list": lambda *arguments, **named: [],
    "never": lambda *arguments, **named: False,
}

# Largest numbers of rows of a fit and of a stream.
_ROWS, _LENGTH = 4000, 3000


@contextmanager
def switched(changes: Changes) -> Iterator[None]:
    """Return a context in which constants have other values, in all modules that import them.

    Examples
    --------
    >>> from colk.model import growth
    >>> with switched({"colk.model.growth:_ALL": 0}):
    ...     growth._ALL
    0
    """
    undo = []
    for name, value in changes.items():
        module, constant = name.split(":")
        before = getattr(import_module(module), constant)
        check_not_a_default(module, constant)
        after = value
        if isinstance(value, str) and value.startswith("call:"):
            after = REPLACEMENTS[value.removeprefix("call:")]
        elif isinstance(before, tuple) and isinstance(value, list):
            after = tuple(value)
        for each in list(sys.modules.values()):
            is_ours = getattr(each, "__name__", "").startswith("colk.")
            if is_ours and vars(each).get(constant) is before:
                undo.append((each, constant, before))
                setattr(each, constant, after)
    try:
        yield
    finally:
        for each, constant, before in undo:
            setattr(each, constant, before)


def check_not_a_default(module: str, constant: str) -> None:
    """Raise if a parameter has the constant as its default, which is kept in the function."""
    tree = ast.parse(Path(str(import_module(module).__file__)).read_text("utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.arguments):
            for default in [*node.defaults, *node.kw_defaults]:
                if isinstance(default, ast.Name) and default.id == constant:
                    raise SystemExit(f"{constant} is the default of a parameter in {module}")


def _rows(X: Any, places: Any) -> Any:
    return X.iloc[places].reset_index(drop=True) if hasattr(X, "iloc") else X[places]


def _split(name: str, seed: int) -> tuple[Any, Any, Any, Any, bool]:
    """Return training and test rows, and whether the targets are labels."""
    rng = np.random.default_rng(seed)
    hard = HARD_TABLES.get(name)
    if hard is not None:
        n = hard.n_train
        X, y, truth = hard.draw(n + 1000, rng)
        order = np.arange(len(y)) if hard.in_order else rng.permutation(len(y))
        kept = y if hard.is_classifier else truth
        train, test = order[:n], order[n:]
        return _rows(X, train), y[train], _rows(X, test), kept[test], hard.is_classifier
    X, y = load(name)
    order = rng.permutation(len(y))[:_ROWS]
    test, train = order[: len(order) // 4], order[len(order) // 4 :]
    return _rows(X, train), y[train], _rows(X, test), y[test], name in CLASSIFICATION_SETS


def fit_score(changes: Changes, name: str, seed: int) -> dict[str, Any]:
    """Return the loss on test rows, as a share of that of the constant, and seconds of the fit."""
    X, y, X_test, y_test, are_labels = _split(name, seed)
    with warnings.catch_warnings(), switched(changes):
        warnings.simplefilter("ignore")
        start = time.process_time()
        model: Any = (COLKClassifier if are_labels else COLKRegressor)(random_state=seed)
        model.fit(X, y)
        spent = time.process_time() - start
        if are_labels:
            counts = np.array([np.mean(y == label) for label in model.classes_])
            known = np.isin(y_test, model.classes_)
            chances = np.clip(model.predict_proba(X_test)[known], 1e-6, 1.0)
            zero = log_loss(y_test[known], np.tile(counts, (known.sum(), 1)), labels=model.classes_)
            loss = log_loss(y_test[known], chances, labels=model.classes_)
        else:
            zero = float(np.mean((y_test - np.mean(y)) ** 2))
            loss = float(np.mean((y_test - model.predict(X_test)) ** 2))
    return {"loss": np.array(loss / zero if zero > 0.0 else loss), "seconds": np.array(spent)}


def stream_score(changes: Changes, name: str, seed: int) -> dict[str, Any]:
    """Return the prequential loss of a stream and its seconds."""
    hard = HARD_STREAMS.get(name)
    are_labels = hard is None and STREAMS[name].is_classifier
    if hard is None:
        samples = list(STREAMS[name].samples(seed, _LENGTH))
    else:
        samples = hard.draw(_LENGTH, np.random.default_rng(seed))
    total, start = 0.0, time.process_time()
    with warnings.catch_warnings(), switched(changes):
        warnings.simplefilter("ignore")
        model: Any = (StreamClassifier if are_labels else StreamRegressor)()
        for x, y in samples:
            if are_labels:
                total += model.predict_one(x) != y
            else:
                total += abs(float(model.predict_one(x) or 0.0) - y)
            model.learn_one(x, y)
    spent = time.process_time() - start
    return {"loss": np.array(total / len(samples)), "seconds": np.array(spent)}
