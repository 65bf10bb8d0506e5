"""The result of a race: a table of losses, and the kernel that won."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import block_diag

from colk import _stored as stored
from colk._validation import Array
from colk.errors import FileFormatError
from colk.kernels import Kernel, Mahalanobis, Mixed

__all__ = ["LARGEST", "Entry", "Race"]

# Largest number of samples that a race uses.
LARGEST = 2400

_METRICS = ("none", "diagonal", "matrix")


class Entry(NamedTuple):
    """A line of the table: the result of a kernel with a bandwidth.

    Examples
    --------
    >>> Entry("gaussian", 1.0, 0.7, "none", 0.25, 0.1, 0.02).loss
    0.25
    """

    name: str
    factor: float  # bandwidth / typical distance of the points
    bandwidth: float
    metric: str  # "none", "diagonal" or "matrix"
    loss: float  # mean left-out loss of the samples that did not find bandwidth and metric
    lead: float  # loss of the default − this loss
    error: float  # standard error of the lead

    @property
    def who(self) -> tuple[str, float, str]:
        """Kernel, factor and metric; different for each line."""
        return self.name, self.factor, self.metric

    @property
    def scaled(self) -> bool:
        """Whether the features have a metric."""
        return self.metric != "none"


@stored.stores(
    names=stored.ListOf(stored.Text(), size="n_entries"),
    metrics=stored.ListOf(stored.Text(), size="n_entries"),
    sizes=stored.Array("n_entries", 2, finite=False, above=0.0),  # factors and bandwidths
    losses=stored.Array("n_entries", 3, finite=False),  # with leads and their errors
    default=stored.Count(),
    winner=stored.Count(),
    kernel=stored.Object(Kernel),
    scales=stored.Array("n_features"),
    n_samples=stored.Count(at_most=LARGEST),
)
@dataclass(frozen=True, eq=False)
class Race:
    """The result of a race: all entries and the winner.

    Parameters
    ----------
    entries : tuple of Entry
        The table: the default, and the kernels of the last heat with their metrics.
    default : Entry
        The entry of the default.
    winner : Entry
        The entry that won.
    kernel : Kernel
        Its kernel.
    scales : array of shape (p,)
        Size of the metric along each feature; 1 without a metric.
    n_samples : int
        Number of samples of the last heat.

    Examples
    --------
    >>> from colk.selection import contenders_for, race
    >>> X = np.random.default_rng(0).normal(size=(300, 2))
    >>> result = race(X, np.sin(2.0 * X[:, :1]), contenders_for("auto"))
    >>> result.winner.scaled, bool(result.scales[0] > 5.0 * result.scales[1])
    (True, True)
    """

    entries: tuple[Entry, ...]
    default: Entry
    winner: Entry
    kernel: Kernel
    scales: Array
    n_samples: int

    @property
    def default_won(self) -> bool:
        """Whether the default won."""
        return self.winner.who == self.default.who

    def _to_file(self) -> dict[str, Any]:
        lines = np.array([[*entry[1:3], *entry[4:]] for entry in self.entries], dtype=np.float64)
        places = [entry.who for entry in self.entries]
        return {
            "names": [entry.name for entry in self.entries],
            "metrics": [entry.metric for entry in self.entries],
            "sizes": lines[:, :2],
            "losses": lines[:, 2:],
            "default": places.index(self.default.who),
            "winner": places.index(self.winner.who),
            "kernel": self.kernel,
            "scales": self.scales,
            "n_samples": self.n_samples,
        }

    @classmethod
    def _from_file(cls, values: dict[str, Any], budget: stored.Budget) -> "Race":
        columns = (values[name].tolist() for name in ("sizes", "losses"))
        entries = tuple(
            Entry._make((name, *sizes, metric, *losses))
            for name, metric, sizes, losses in zip(
                values["names"], values["metrics"], *columns, strict=True
            )
        )
        winner, kernel, scales = entries[values["winner"]], values["kernel"], values["scales"]
        bandwidth = getattr(kernel, "bandwidth", None)
        n_numbers = len(scales) - (len(kernel.categorical) if isinstance(kernel, Mixed) else 0)
        has_one_each = isinstance(bandwidth, tuple) and len(bandwidth) == n_numbers
        if winner.metric not in _METRICS:
            raise FileFormatError(f"a race has no metric {winner.metric!r}")
        if winner.metric == "matrix" and len(getattr(kernel, "metric", ())) != len(scales):
            raise FileFormatError("the winner of a race must have a row of A for each feature")
        if winner.metric == "diagonal" and n_numbers > 0 and not has_one_each:
            raise FileFormatError("the winner of a race must have a bandwidth for each feature")
        places = (entries[values["default"]], winner)
        return cls(entries, *places, kernel, scales, values["n_samples"])

    def kernel_for(self, n_features: int) -> Kernel:
        """Return the kernel for points with additional features, whose scale is 1.

        Parameters
        ----------
        n_features : int
            The number of features, at least that of the race.
        """
        if not self.winner.scaled:
            return self.kernel
        n_gained = n_features - len(self.scales)
        if isinstance(self.kernel, Mahalanobis):
            return self.kernel.replace(metric=block_diag(self.kernel.metric, np.eye(n_gained)))
        gained = [self.winner.bandwidth] * n_gained
        if isinstance(self.kernel, Mixed):
            numbers = self.kernel.kernel
            known = numbers.bandwidth if isinstance(numbers.bandwidth, tuple) else ()
            spread = (*known, *gained) or numbers.bandwidth
            return self.kernel.replace(kernel=numbers.replace(bandwidth=spread))
        return self.kernel.replace(bandwidth=(*self.kernel.bandwidth, *gained))  # type: ignore[attr-defined]

    def __str__(self) -> str:
        lines = [f"{'kernel':22} {'bandwidth':>9} {'loss':>8} {'lead':>8} ± error"]
        for entry in sorted(self.entries, key=lambda entry: entry.loss):
            name = entry.name + (f", {entry.metric}" if entry.scaled else "")
            chosen = " <" if entry.who == self.winner.who else ""
            lines.append(
                f"{name:22} {entry.bandwidth:9.4g} {entry.loss:8.4f} "
                f"{entry.lead:8.4f} ± {entry.error:.4f}{chosen}"
            )
        return "\n".join(lines)
