"""The result of a path from the mean to a risk: the models that were tried, and the chosen one."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from colk import _stored as stored
from colk._notebook import facts_table
from colk.errors import FileFormatError
from colk.risks import Risk

__all__ = ["PathPoint", "RiskPath"]


class PathPoint(NamedTuple):
    """A line of the table: a model between the mean and the risk.

    Examples
    --------
    >>> point = PathPoint(0.5, 4.0, 1.2, 0.6, 0.3, 0.05, 0.08)
    >>> point.share, point.held_out
    (0.5, 1.2)
    """

    share: float  # 0 is the mean, 1 the requested risk
    factor: float  # λ / λ of the mean
    held_out: float  # the risk of leave-one-out predictions
    mean_loss: float  # their mean loss
    gain: float  # held-out risk of the mean's model − this one
    error: float  # standard error of the gain
    deciding: float  # effective number of samples whose gains decide, or of groups of samples


def _change(before: float, after: float) -> str:
    """Return the relative change of a loss as text.

    Examples
    --------
    >>> _change(2.0, 2.5), _change(2.0, 1.9)
    ('25 % higher', '5 % lower')
    """
    share = 100.0 * (after - before) / abs(before) if before else 0.0
    return f"{abs(share):.0f} % {'higher' if share >= 0.0 else 'lower'}"


@stored.stores(
    risk=stored.Object(Risk),
    points=stored.Array("n_points", len(PathPoint._fields), finite=False),
    chosen=stored.Count(),
    chosen_risk=stored.Object(Risk),
    regularization=stored.Number(above=0.0),
    n_samples=stored.Count(),
)
@dataclass(frozen=True, repr=False)
class RiskPath:
    """The models that `fit` tried between the mean and the requested risk.

    Parameters
    ----------
    risk : Risk
        The requested risk.
    points : tuple of PathPoint
        All models that were tried; the first is that of the mean.
    chosen : PathPoint
        The model that was chosen.
    chosen_risk : Risk
        The risk that it minimises: `Mean()`, or the risk with a smaller weight and a smoothing.
    regularization : float
        Its λ.
    n_samples : int
        Number of samples that were used to compare the models.

    Examples
    --------
    >>> from colk.risks import CVaR, Mean
    >>> mean = PathPoint(0.0, 1.0, 1.5, 0.5, 0.0, 0.0, 0.0)
    >>> path = RiskPath(CVaR(0.1), (mean,), mean, Mean(), 1e-4, 1000)
    >>> path.kept_the_mean
    True
    >>> path
    RiskPath(CVaR(tail_fraction=0.1, weight=1.0, smoothing=0.0), kept the mean, 1 point)
    """

    risk: Risk
    points: tuple[PathPoint, ...]
    chosen: PathPoint
    chosen_risk: Risk
    regularization: float
    n_samples: int

    @property
    def kept_the_mean(self) -> bool:
        """Whether the model of the mean stayed."""
        return (self.chosen.share, self.chosen.factor) == (0.0, 1.0)

    @property
    def told(self) -> str:
        """What was chosen, and why, in one sentence.

        A gain stands with its standard error.
        """
        name = type(self.risk).__name__
        mean, chosen = self.points[0], self.chosen
        if self.kept_the_mean:
            best = max(self.points[1:], key=lambda point: point.gain, default=None)
            if best is None:
                return "the model of the mean stays, because no other model was tried"
            return (
                f"the model of the mean stays, because the best of {len(self.points) - 1} other "
                f"models lowers {name} on left-out rows by only {best.gain:.2g} ± {best.error:.2g} "
                f"of {mean.held_out:.3g}"
            )
        lower = 100.0 * chosen.gain / abs(mean.held_out)
        return (
            f"{name} on left-out rows is {lower:.0f} % lower than with the model of the mean "
            f"(by {chosen.gain:.2g} ± {chosen.error:.2g}), and the mean loss is "
            f"{_change(mean.mean_loss, chosen.mean_loss)}"
        )

    def __repr__(self) -> str:
        share = f"{100.0 * self.chosen.share:.3g} % of the way"
        found = "kept the mean" if self.kept_the_mean else share
        number = len(self.points)
        return f"RiskPath({self.risk!r}, {found}, {number} point{'s' if number > 1 else ''})"

    def _repr_html_(self) -> str:
        facts = {
            "chosen": self.told,
            "risk in use": repr(self.chosen_risk),
            "points": len(self.points),
            "samples": self.n_samples,
            "λ": f"{self.regularization:.4g}",
        }
        return facts_table(f"path from the mean to {self.risk!r}", facts)

    def _to_file(self) -> dict[str, Any]:
        return {
            "risk": self.risk,
            "points": np.array(self.points, dtype=np.float64),
            "chosen": [point[:2] for point in self.points].index(self.chosen[:2]),
            "chosen_risk": self.chosen_risk,
            "regularization": float(self.regularization),
            "n_samples": self.n_samples,
        }

    @classmethod
    def _from_file(cls, values: dict[str, Any], budget: stored.Budget) -> "RiskPath":
        points = tuple(PathPoint._make(row) for row in values["points"].tolist())
        if not values["chosen"] < len(points):
            raise FileFormatError("the chosen point is not on the path")
        return cls(**{**values, "points": points, "chosen": points[values["chosen"]]})

    def __str__(self) -> str:
        lines = [f"{'share':>5} {'λ factor':>8} {'held out':>9} {'gain':>9} ± error    mean loss"]
        for point in self.points:
            mark = " <" if point[:2] == self.chosen[:2] else ""
            lines.append(
                f"{point.share:5.2f} {point.factor:8g} {point.held_out:9.4g} {point.gain:9.2g} ± "
                f"{point.error:<8.2g} {point.mean_loss:9.4g}{mark}"
            )
        return "\n".join(lines)
