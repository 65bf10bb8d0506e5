"""Display of the relevance of features."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np

from colk._validation import Array
from colk.estimators.displays.axes import axes_of
from colk.estimators.displays.pipelines import final, found_by_fit, unwrapped

__all__ = ["FeatureRelevanceDisplay"]

_KINDS = ("features", "directions")
# Directions with a smaller share are not drawn.
_LEAST_SHARE = 0.01


@dataclass(eq=False)
class FeatureRelevanceDisplay:
    """A bar for each feature, the most relevant at the top, or a table of directions.

    Parameters
    ----------
    relevance : array of shape (p,)
        Relevance of the features, as in `COLKRegressor.feature_relevance_`.
    names : sequence of str
        Names of the features.
    directions : array of shape (k, w)
        Loadings of directions, as in `colk.selection.Relevance`.
    shares : array of shape (k,)
        Their shares.
    columns : sequence of str
        Names of the w columns that the learner sees.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
        Axes and figure of `plot`.
    bars_ : matplotlib container
        The bars; with kind="directions" the image.

    Examples
    --------
    >>> import numpy as np
    >>> from colk import COLKRegressor
    >>> from colk.estimators import FeatureRelevanceDisplay
    >>> X = np.random.default_rng(0).normal(size=(300, 3))
    >>> model = COLKRegressor(random_state=0).fit(X, np.sin(2.0 * X[:, 1]))
    >>> display = FeatureRelevanceDisplay.from_estimator(model)
    >>> [label.get_text() for label in display.ax_.get_yticklabels()][0]
    'feature 1'
    """

    relevance: Array
    names: Sequence[str]
    directions: Array
    shares: Array
    columns: Sequence[str]

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        kind: Literal["features", "directions"] = "features",
        max_features: int = 20,
        ax: Any = None,
    ) -> Self:
        """Draw the relevance that a fitted estimator found.

        Parameters
        ----------
        estimator : COLKRegressor, COLKClassifier or COLKQuantileRegressor
            A fitted estimator whose kernel has a gradient, a pipeline that ends in one, or a fitted
            search.
        kind, max_features, ax
            As for `plot`.
        """
        advice = "its function is constant, its kernel has no gradient, or X is sparse"
        relevance = found_by_fit(estimator, "feature_relevance_", advice)
        chosen = final(unwrapped(estimator))
        given, found = getattr(chosen, "feature_names_in_", None), chosen.relevance_
        names = [f"feature {k}" for k in range(len(relevance))] if given is None else list(given)
        is_plain = given is None and chosen.encoder_.width == len(names)
        columns = names if is_plain else chosen.encoder_.names
        display = cls(relevance, names, found.directions, found.shares, columns)
        return display.plot(kind, max_features, ax)

    def plot(
        self,
        kind: Literal["features", "directions"] = "features",
        max_features: int = 20,
        ax: Any = None,
    ) -> Self:
        """Draw the display.

        Parameters
        ----------
        kind : {"features", "directions"}
            Whether to draw a bar for each feature, or the loadings of directions: one for each
            column in units of its standard deviation. Directions have a share of 1 % or more.
        max_features : int
            Number of features to draw: the most relevant ones.
        ax : matplotlib axes, optional
            Axes to draw on. Default: a new figure.
        """
        if kind not in _KINDS:
            raise ValueError(f"kind must be one of {list(_KINDS)}, got {kind!r}")
        self.ax_ = axes_of(ax)
        self.figure_ = self.ax_.figure
        if kind == "features":
            sizes, names = self.relevance, self.names
        else:
            shown = self.shares >= _LEAST_SHARE
            loadings, shares = self.directions[shown], self.shares[shown]
            sizes, names = np.sqrt(shares @ loadings**2), self.columns
        order = np.argsort(-sizes, kind="stable")[:max_features]
        places = np.arange(len(order))
        self.ax_.set_yticks(places, [str(names[k]) for k in order])
        if kind == "features":
            self.bars_ = self.ax_.barh(places, sizes[order])
            self.ax_.invert_yaxis()
            self.ax_.set_xlabel("relevance")
            return self
        table = loadings[:, order].T
        self.bars_ = self.ax_.imshow(table, cmap="RdBu_r", vmin=-1.5, vmax=1.5, aspect="auto")
        for (row, column), loading in np.ndenumerate(table):
            self.ax_.text(column, row, f"{loading:.2f}", ha="center", va="center")
        self.ax_.set_xticks(np.arange(len(shares)), [f"{100.0 * share:.0f} %" for share in shares])
        self.ax_.set_xlabel("direction, by its share")
        return self
