"""Watch whether a stream's model predicts worse than a linear model or a constant."""

import numpy as np

from colk._validation import Array
from colk.learners.colk import KernelLearner
from colk.losses import Loss
from colk.model.baselines import Baselines
from colk.rkhs.expansion import KernelExpansion

__all__ = ["BaselineWatch"]

# Every _EVERY blocks the function predicts the next block. The model is worse than a baseline if
# its losses are higher by _ERRORS standard errors and by the share _MARGIN, _TIMES in a row.
_EVERY, _ERRORS, _MARGIN, _TIMES = 20, 3.0, 0.2, 2

# A linear model of more features than this would take longer than the stream.
_MOST_FEATURES = 50

_ROUNDING = 1e-12


class BaselineWatch:
    """Compares predictions of a block of rows, made before it, with those of baselines.

    The baselines are fitted to the latest rows before the block. The model is a regression under
    the mean; other models are not watched.

    Examples
    --------
    >>> from colk import COLK
    >>> from colk.kernels import Gaussian
    >>> X = np.random.default_rng(0).normal(size=(500, 1))
    >>> samples = X, 5.0 + X[:, 0], np.ones(500)
    >>> poor, watch = COLK(Gaussian(0.01)).learn(*samples), BaselineWatch()
    >>> notes = [watch.is_due() and watch.next_block(poor, samples, 50) for _ in range(50)]
    >>> [place for place, note in enumerate(notes) if note]
    [39]
    """

    def __init__(self) -> None:
        self.n_blocks, self.n_worse = 0, 0
        self.function: KernelExpansion | None = None

    def is_due(self) -> bool:
        """Count a block; return whether `next_block` has something to do at its end."""
        self.n_blocks += 1
        return self.n_blocks % _EVERY in (0, _EVERY - 1)

    def next_block(
        self, leader: KernelLearner, samples: tuple[Array, Array, Array], size: int
    ) -> str | None:
        """Remember the function, or compare it at the end of a block that is due.

        Returns what is to be said.

        Parameters
        ----------
        leader : KernelLearner
            The model, which has learned the block.
        samples : tuple of arrays
            The latest points, targets and weights, the oldest first.
        size : int
            Number of samples of the block.
        """
        if not _is_watched(leader):
            return None
        function, self.function = self.function, None
        if self.n_blocks % _EVERY:
            self.function = leader.function
            return None
        if function is None or leader.n_features != samples[0].shape[1]:
            return None
        better = _better(function, leader.loss, samples, size)
        self.n_worse = 0 if better is None else self.n_worse + 1
        if better is None or self.n_worse != _TIMES:
            return None
        name, loss, least = better
        return (
            f"{name} of the latest rows predicts the next rows better: its loss is {least:.3g}, "
            f'that of the model {loss:.3g}; shuffle sorted rows, or set solver="newton" and '
            'forgetting="auto" if the stream changes'
        )


def _is_watched(leader: KernelLearner) -> bool:
    is_plain = leader.risk.is_mean and leader.loss.kind == "regression" and leader.is_vector
    return is_plain and leader.n_features <= _MOST_FEATURES


def _better(
    function: KernelExpansion, loss: Loss, samples: tuple[Array, Array, Array], size: int
) -> tuple[str, float, float] | None:
    """Return a baseline that is clearly better, the loss of the model and that of the baseline."""
    X, Y, _ = samples
    columns = {str(j): X[:, j] for j in range(X.shape[1])}
    before = {name: values[:-size] for name, values in columns.items()}
    after = {name: values[-size:] for name, values in columns.items()}
    sums = Baselines(list(columns), [], is_classification=False)
    sums.add(before, Y[:-size])
    found = sums.fitted()
    if found is None:
        return None
    others = {"a constant": np.full((size, 1), found.constant[0])}
    if found.is_linear:
        others["a linear model"] = found.scores(after)
    targets = Y[-size:, None]
    losses = {name: loss.value(values, targets) for name, values in others.items()}
    name = min(losses, key=lambda each: float(losses[each].mean()))
    own = loss.value(function(X[-size:]).reshape(size, 1), targets)
    leads, least = own - losses[name], float(losses[name].mean())
    error = leads.std(ddof=1) / np.sqrt(size)
    if not leads.mean() > max(_ERRORS * error, _MARGIN * least, _ROUNDING):
        return None
    return name, float(own.mean()), least
