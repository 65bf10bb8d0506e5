"""The relevance of features to a model, which a fit or a stream has learned."""

import numpy as np

from colk.model.stream import OnlineFit
from colk.selection import Relevance

__all__ = ["relevance_of"]


def relevance_of(online: OnlineFit) -> Relevance | None:
    """Return how the function varies along each feature and along directions.

    After a fit it is that at samples of the fit, until 500 more samples are learned. In a stream it
    is that at the latest 500 samples, or at the atoms if the kernel is given. After a fit to a
    sparse matrix it is that at the atoms. The result is None if the kernel has no gradient, if the
    function is constant, and if there are only atoms in a given metric.

    Parameters
    ----------
    online : OnlineFit
        The learner.

    Examples
    --------
    >>> from colk.model import Recipe, Settings
    >>> settings = Settings(kernel="gaussian", loss="squared")
    >>> X = np.random.default_rng(0).normal(size=(300, 2))
    >>> online = OnlineFit(Recipe.from_shape(settings, 2).learner(), settings)
    >>> _ = online.learn(X, np.sin(2.0 * X[:, 1]), np.ones(300))
    >>> int(relevance_of(online).sizes.argmax())
    1
    """
    contest, kept, learner = online.contest, online.kept, online.learner
    if contest is None and online.fitted_relevance is not None:
        return online.fitted_relevance
    if not learner.has_learned:
        return None
    function = learner.function
    if contest is not None:
        X = contest.recent.arrays()[0]
    elif kept is not None and kept.count:
        X = kept.arrays()[0]
    elif function.kernel.metric is None:
        X = np.asarray(function.atoms)
    else:
        return None
    return Relevance.of(function, np.pad(X, ((0, 0), (0, function.n_features - X.shape[1]))))
