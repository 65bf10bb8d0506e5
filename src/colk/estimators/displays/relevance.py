"""Display of the relevance of features."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from colk._validation import Array
from colk.estimators.displays.axes import axes_of
from colk.estimators.displays.pipelines import final, found_by_fit, unwrapped

__all__ = ["FeatureRelevanceDisplay"]


@dataclass(eq=False)
class FeatureRelevanceDisplay:
    """A bar for each feature, the most relevant at the top.

    Parameters
    ----------
    relevance : array of shape (p,)
        Relevance of the features, as in `COLKRegressor.feature_relevance_`.
    names : sequence of str
        Names of the features.
    is_used : bool
        Whether the kernel of the model uses the relevance. If not, the bars are not filled.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
        Axes and figure of `plot`.
    bars_ : matplotlib container
        The bars.

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
    is_used: bool = True

    @classmethod
    def from_estimator(cls, estimator: Any, *, max_features: int = 20, ax: Any = None) -> Self:
        """Draw the relevance that a fitted estimator found.

        Parameters
        ----------
        estimator : COLKRegressor, COLKClassifier or COLKQuantileRegressor
            A fitted estimator with kernel="auto" or bandwidth="auto", a pipeline that ends in one,
            or a fitted search.
        max_features : int
            Number of features to draw: the most relevant ones.
        ax : matplotlib axes, optional
            Axes to draw on. Default: a new figure.
        """
        advice = (
            "set kernel='auto' or bandwidth='auto', and fit at least two features and at least "
            "30 samples"
        )
        relevance = found_by_fit(estimator, "feature_relevance_", advice)
        chosen = final(unwrapped(estimator))
        given = getattr(chosen, "feature_names_in_", None)
        names = [f"feature {k}" for k in range(len(relevance))] if given is None else list(given)
        return cls(relevance, names, chosen.race_.winner.scaled).plot(max_features, ax)

    def plot(self, max_features: int = 20, ax: Any = None) -> Self:
        """Draw the display.

        Parameters
        ----------
        max_features : int
            Number of features to draw: the most relevant ones.
        ax : matplotlib axes, optional
            Axes to draw on. Default: a new figure.
        """
        self.ax_ = axes_of(ax)
        self.figure_ = self.ax_.figure
        order = np.argsort(-self.relevance, kind="stable")[:max_features]
        bars = self.ax_.barh(
            np.arange(len(order)), self.relevance[order], edgecolor="C0", fill=self.is_used
        )
        self.ax_.set_yticks(np.arange(len(order)), [str(self.names[k]) for k in order])
        self.ax_.invert_yaxis()
        used = "" if self.is_used else " (the kernel does not use it)"
        self.ax_.set_xlabel(f"relevance{used}")
        self.bars_ = bars
        return self
