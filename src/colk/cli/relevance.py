"""Relevance of features and directions of a model as text."""

from collections.abc import Mapping, Sequence
from typing import Any

from colk.selection import Relevance

__all__ = ["direction_rows", "feature_rows", "tell_relevance"]

# Largest numbers of features, and of directions and of names in each; the least share and loading.
_MOST_FEATURES, _MOST, _LEAST_SHARE, _LEAST_LOADING = 30, 5, 0.01, 0.1


def feature_rows(features: Mapping[Any, float]) -> list[tuple[str, str]]:
    """Return the most relevant features and their relevance.

    Parameters
    ----------
    features : mapping of str to float
        Relevance of the features by name.

    Examples
    --------
    >>> feature_rows({"age": 0.251, "size": 1.0})
    [('size', '1.00'), ('age', '0.25')]
    """
    ordered = sorted(features.items(), key=lambda each: -each[1])
    return [(str(name), f"{size:.2f}") for name, size in ordered[:_MOST_FEATURES]]


def direction_rows(found: Relevance, names: Sequence[Any]) -> list[tuple[str, str]]:
    """Return the share of each direction, and its largest loadings by name.

    Parameters
    ----------
    found : Relevance
        The relevance.
    names : sequence
        Names of the columns.

    Examples
    --------
    >>> import numpy as np
    >>> found = Relevance(np.ones(2), np.array([[0.8, -0.6], [0.6, 0.8]]), np.array([0.9, 0.1]))
    >>> direction_rows(found, ["size", "age"])
    [('90 %', '0.80 size − 0.60 age'), ('10 %', '0.80 age + 0.60 size')]
    """
    rows = []
    for share, loadings in zip(found.shares[:_MOST], found.directions, strict=False):
        order = [k for k in abs(loadings).argsort()[::-1] if abs(loadings[k]) >= _LEAST_LOADING]
        parts = [f"{'+-'[int(loadings[k] < 0)]} {abs(loadings[k]):.2f} {names[k]}" for k in order]
        if share >= _LEAST_SHARE:
            told = " ".join(parts[:_MOST]).removeprefix("+ ").replace(" - ", " − ")
            rows.append((f"{100.0 * share:.0f} %", told))
    return rows


def tell_relevance(
    features: Mapping[Any, float], found: Relevance | None, names: Sequence[Any]
) -> dict[str, str]:
    """Return the lines of `colk show`; none without a relevance.

    Parameters
    ----------
    features
        As for `feature_rows`.
    found, names
        As for `direction_rows`.
    """
    if found is None:
        return {}
    return {
        "relevance": ", ".join(map(" ".join, feature_rows(features))),
        "directions": "; ".join(": ".join(row) for row in direction_rows(found, names)),
    }
