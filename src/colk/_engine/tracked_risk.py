"""The inner value g of a risk, tracked on the losses of one function."""

from typing import Any

import numpy as np

from colk import _stored as stored
from colk._engine.buffers import zeros
from colk._engine.c_types import Readonly, Vector
from colk._engine.contracts import RiskContract, TrackerContract
from colk._engine.simd import loops

__all__ = ["TrackedRisk"]

# Least rate of the running mean and spread of the losses.
LEAST_RATE: float = 0.001


class TrackedRisk:  # final
    """g of a risk of losses, and the slope of the risk at the latest loss.

    `propose` makes all calls that a user's function may fail in; `accept` stores their results.

    Parameters
    ----------
    risk : RiskContract
        The risk, of losses.
    tracker : TrackerContract
        The tracker; the previous iterate is not evaluated, so it gets the same loss twice.
    """

    g: Vector  # (m + 1,): the last entry is unused, so that the array is never empty
    proposed: Vector  # (m + 1,): g after the latest loss
    work: Vector  # scratch of the risk
    factors: Vector  # (2,): scratch of the chain rule
    last: float  # the loss before the latest one
    level: float  # mean loss
    spread: float  # mean absolute deviation of the losses
    loss: float  # the latest loss
    score: float  # outer(ℓ, g) at the latest loss, with g before it
    rate: float  # tracking rate at the latest loss
    risk: Readonly[RiskContract]
    tracker: TrackerContract
    m: Readonly[int]

    def __init__(self, risk: RiskContract, tracker: TrackerContract) -> None:
        self.risk, self.tracker, self.m = risk, tracker, risk.n_inner
        self.g, self.proposed, self.work = zeros((3, self.m + 1))
        self.factors = np.zeros(2)
        self.last = self.level = self.spread = self.loss = self.score = self.rate = 0.0

    def fields(self) -> stored.Record:
        """Fields that `pack` returns."""
        numbers = dict.fromkeys(("last", "level", "spread"), stored.Number())
        return stored.Record({"g": stored.Array(self.m), **numbers})

    def pack(self) -> dict[str, Any]:
        """Return numbers and arrays from which `unpack` restores the exact state."""
        return {
            "g": np.array(self.g[: self.m]),
            "last": self.last,
            "level": self.level,
            "spread": self.spread,
        }

    def unpack(self, packed: dict[str, Any]) -> None:
        """Restore a packed state."""
        np.asarray(self.g)[: self.m] = packed["g"]
        self.last, self.level, self.spread = packed["last"], packed["level"], packed["spread"]

    def propose(self, loss: float, rate: float) -> int:  # cdef
        """Compute g after a loss, with a rate of 1 at the first one, and its score."""
        self.loss, self.rate = loss, rate
        for i in range(self.m):
            self.proposed[i] = self.g[i]
        if rate >= 1.0:
            self.risk.start(loops.data(self.proposed), self.m, loss)
            self.score = self.risk.outer_at(loss, loops.data(self.proposed))
            return 0
        self.score = self.risk.outer_at(loss, loops.data(self.g))
        return self.risk.track(
            loops.data(self.proposed), self.m, loss, loss, self.tracker, rate,
            loops.data(self.work),
        )  # fmt: skip

    def slope(self) -> float:  # cdef
        """Return the factor of ℓ' in the gradient of the risk, at the latest loss.

        It is ∂outer/∂ℓ at this loss plus ∂outer/∂g at the previous loss times ∂inner/∂ℓ at this
        one. The two samples of the product of expectations are neighbours in the stream.
        """
        self.risk.chain(
            self.loss, self.loss, loops.data(self.proposed), self.m, loops.data(self.factors)
        )
        own: float = self.factors[0]
        if self.rate < 1.0:
            self.risk.chain(
                self.last, self.loss, loops.data(self.proposed), self.m, loops.data(self.factors)
            )
            own += self.factors[1]
        return float(own)

    def outer_curvature(self) -> float:  # cdef
        """Return ∂²outer/∂ℓ² at the latest loss; kinks are smoothed by the spread."""
        return self.risk.outer_curvature(self.loss, loops.data(self.proposed), self.m, self.spread)

    def accept(self, is_first: bool) -> None:  # cdef
        """Make the proposed g the state, and update mean and spread."""
        for i in range(self.m):
            self.g[i] = self.proposed[i]
        if is_first:
            self.level, self.spread = self.loss, abs(self.loss)
        else:
            rate: float = max(min(self.rate, 1.0), LEAST_RATE)
            self.spread += rate * (abs(self.loss - self.level) - self.spread)
            self.level += rate * (self.loss - self.level)
        self.last = self.loss
