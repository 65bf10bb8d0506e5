"""Checks of attributes of a scikit-learn estimator against each other."""

import math
from typing import Any

import numpy as np

from colk.errors import FileFormatError

__all__ = [
    "WIDEST",
    "bins",
    "dictionary",
    "one_hot",
    "ordinal",
    "polynomials",
    "splines",
    "target_means",
    "tf_idf",
]

# A class with more features than this could take much memory for one sample.
WIDEST = 2**20

Attributes = dict[str, Any]


def _must_be(name: str, value: Any, expected: Any) -> None:
    if value != expected:
        raise FileFormatError(f"{name} must be {repr(expected)[:60]}, got {repr(value)[:60]}")


def polynomials(a: Attributes) -> None:
    """The degrees are those of the parameter, and the numbers of features follow from them."""
    low, high = a["degree"] if type(a["degree"]) is tuple else (0, a["degree"])
    _must_be("_min_degree", a["_min_degree"], low)
    _must_be("_max_degree", a["_max_degree"], high)
    for name, least in (("n_output_features_", low), ("_n_out_full", 0)):
        width = sum(_n_terms(a, degree) for degree in range(max(least, 1), high + 1))
        _must_be(name, a[name], width + a["include_bias"])
        if a[name] > WIDEST:
            raise FileFormatError(f"{name} must be at most {WIDEST}, got {a[name]}")


def _n_terms(a: Attributes, degree: int) -> int:
    """Return the number of products of this degree."""
    p = a["n_features_in_"]
    return math.comb(p, degree) if a["interaction_only"] else math.comb(p + degree - 1, degree)


def splines(a: Attributes) -> None:
    """Each feature has the same number of splines."""
    width = a["bsplines_"][0].c.shape[1] - (not a["include_bias"])
    _must_be("n_features_out_", a["n_features_out_"], width * a["n_features_in_"])


def bins(a: Attributes) -> None:
    """There is one more edge than bins, and edges ascend."""
    for edges, n in zip(a["bin_edges_"], a["n_bins_"].tolist(), strict=True):
        _must_be("the number of edges", len(edges), n + 1)
    if a["encode"] != "ordinal":
        categories = getattr(a.get("_encoder"), "categories_", [])
        _must_be("categories of bins", list(map(len, categories)), a["n_bins_"].tolist())


def one_hot(a: Attributes) -> None:
    """The numbers of features follow from categories, their groups, and what is dropped."""
    widths, dropped = _group_sizes(a, {}), a["_drop_idx_after_grouping"]
    if dropped is not None:
        _must_be("the number of dropped categories", len(dropped), len(widths))
        for i, index in enumerate(dropped):
            if index is not None:
                _check_index("a dropped category", index, widths[i])
                widths[i] -= 1
    _must_be("_n_features_outs", a["_n_features_outs"], widths)


def ordinal(a: Attributes) -> None:
    """Groups of categories follow from the rare ones; a missing value is the last category."""
    missing, n = a["_missing_indices"], [len(column) for column in a["categories_"]]
    for column, index in missing.items():
        _check_index("a column with missing values", column, len(n))
        _must_be("the index of missing values", index, n[column] - 1)
    _group_sizes(a, missing)


def target_means(a: Attributes) -> None:
    """There is a mean for each category, and for each class if there are more than two."""
    repeats = len(a["classes_"]) if a["target_type_"] == "multiclass" else 1
    sizes = [len(column) for column in a["categories_"] for _ in range(repeats)]
    _must_be("lengths of encodings_", [len(means) for means in a["encodings_"]], sizes)
    _must_be("length of target_mean_", np.size(a["target_mean_"]), repeats)


def dictionary(a: Attributes) -> None:
    """The names of features are the vocabulary in order."""
    vocabulary = a["vocabulary_"]
    names = sorted(vocabulary, key=vocabulary.__getitem__)
    _must_be("feature_names_", a["feature_names_"], names)


def tf_idf(a: Attributes) -> None:
    """There is a weight for each token."""
    width = getattr(a["_tfidf"], "n_features_in_", None)
    if width is not None:
        _must_be("n_features_in_ of _tfidf", width, len(a["vocabulary_"]))


def _check_index(name: str, index: Any, size: int) -> None:
    if type(index) is bool or not isinstance(index, (int, np.integer)) or not 0 <= index < size:
        raise FileFormatError(f"{name} must be a number below {size}, got {repr(index)[:60]}")


def _group_sizes(a: Attributes, missing: dict[int, int]) -> list[int]:
    """Return the number of categories of each column after rare ones are grouped.

    Categories that are not rare are numbered first, and all rare ones have the next number.
    """
    sizes = [len(column) for column in a["categories_"]]
    if not a["_infrequent_enabled"]:
        return sizes
    groups = zip(a["_infrequent_indices"], a["_default_to_infrequent_mappings"], sizes, strict=True)
    for i, (rare, mapping, size) in enumerate(list(groups)):
        if rare is None or mapping is None:
            _must_be("a mapping of rare categories", (rare, mapping), (None, None))
            continue
        n = size - (i in missing)
        if not ((rare[1:] > rare[:-1]).all() and rare[0] >= 0 and rare[-1] < n):
            raise FileFormatError(f"rare categories must be different numbers below {n}")
        expected = np.full(n, n - len(rare))
        expected[np.setdiff1d(np.arange(n), rare)] = np.arange(n - len(rare))
        _must_be("a mapping of rare categories", mapping.tolist(), expected.tolist())
        sizes[i] = size - len(rare) + 1
    return sizes
