"""How `fit` learns: passes over the samples, what they warn of, and the polish."""

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from colk._validation import Array, check_count
from colk.estimators.base import COLKEstimator
from colk.estimators.convergence import (
    constant_loss,
    warn_of_atoms,
    warn_of_clipping,
    warn_of_loss,
    warn_of_nothing,
)
from colk.rkhs.polishing import polish

__all__ = ["LEAST_REGULARIZATION", "EpochEstimator"]

# What the polish takes for a regularisation of 0, under which weights are not unique.
LEAST_REGULARIZATION = 1e-12

# Passes along gradients, without a polish.
_EPOCHS = 5

# Early stopping: another epoch has to lower the loss to this share of what it was, and fewer
# samples than this are too few to hold some out.
_WORTH_AN_EPOCH = 0.99
_FEW = 50


class EpochEstimator(COLKEstimator):
    """An estimator that passes over the samples, and polishes what it found."""

    def _epochs(self, X: Array, Y: Array, weight: Array) -> None:
        """Pass over the samples as often, and in such orders, as the settings say."""
        random = check_random_state(self.random_state)
        self._choose_kernel(X, Y, weight, random if self.shuffle else None)
        learned, watched = self._held_out(len(X), random)
        best, forgotten = np.inf, 0.0
        for epoch in range(self._n_epochs()):
            order = random.permutation(learned) if self.shuffle else learned
            spent, steps = self._learner.error_spent, self._learner.steps
            self._pass(X[order], Y[order], weight[order])
            made = self._learner.steps - steps
            forgotten = (self._learner.error_spent - spent) / made if made else 0.0
            self._tell(f"epoch {epoch + 1}: loss {self.loss_curve_[-1]:.4g}")
            if len(watched):
                values = self.loss_.value(self._learner.predict(X[watched]), Y[watched])
                found = float(np.average(values, weights=weight[watched]))
                self._tell(f"epoch {epoch + 1}: loss of samples held out {found:.4g}")
                if not found < _WORTH_AN_EPOCH * best:
                    break
                best = found
        if (weight > 0.0).any():
            self._conclude(X, Y, weight, forgotten)

    def _n_epochs(self) -> int:
        """Passes to make: of their own account atoms need one, weights several."""
        if self.epochs is None:
            return 1 if self.polish or self.solver == "newton" else _EPOCHS
        return check_count(self.epochs, "epochs")

    def _conclude(self, X: Array, Y: Array, weight: Array, forgotten: float) -> None:
        """Say what went wrong in the epochs, and polish."""
        constant = constant_loss(self.loss_, Y, weight, self._learner.n_outputs or 1)
        warn_of_clipping(self._learner, X, Y, weight)
        if self.n_atoms_ == 0:
            warn_of_nothing(constant, self.eps_, self._stronger())
        elif self.polish:
            self._polish(X, Y, weight)
        else:
            step = self._learner.step_length
            warn_of_atoms(forgotten, self._settled_eps(), step, self.max_atoms, self._gentler())
            cure = f"{self._gentler()} or eps, raise epochs, or set polish=True"
            warn_of_loss(self.loss_curve_[-1], constant, len(X), cure)

    def _settled_eps(self) -> float | None:
        """What a step may forget, where that is a number of its own and no share of the steps."""
        return self.eps if self.solver == "gradient" else self.eps_

    def _gentler(self) -> str:
        """What to change for steps that go less far."""
        return "lower step_size" if self.solver == "gradient" else "raise prior"

    def _stronger(self) -> str:
        """What to change for steps that go further."""
        return "raise step_size" if self.solver == "gradient" else "lower prior"

    def _held_out(self, size: int, random: Any) -> tuple[Any, Any]:
        """Samples to learn from, and those that early stopping watches: a tenth, or none."""
        if not self.early_stopping or size < _FEW:
            return np.arange(size), np.arange(0)
        order = random.permutation(size)
        return np.sort(order[size // 10 :]), np.sort(order[: size // 10])

    def _tell(self, message: str) -> None:
        if self.verbose:
            print(f"[{type(self).__name__}] {message}, {self.n_atoms_} atoms", flush=True)

    def _polish(self, X: Array, Y: Array, weight: Array) -> None:
        """Give the atoms the weights that are best for all of the data; see `colk.rkhs.polish`."""
        function = self._learner.function
        least = max(self.regularization_, LEAST_REGULARIZATION)
        terms = self.loss_, self.risk_
        self.polished_ = polish(
            function, X, Y, *terms, least, choose=True, sample_weight=weight, tolerance=1e-3
        )
        self._learner.adopt(self.polished_.function)
        found = self.polished_
        self._tell(f"polished: objective {found.value_before:.4g} to {found.value:.4g}")
        start = self.risk_.value_at(self.loss_, np.zeros((len(Y), function.n_outputs)), Y, weight)
        left_out = min(risk for _, risk in found.candidates)
        cure = "the features say nothing of the targets with this kernel: change the bandwidth"
        warn_of_loss(left_out, start, len(X), cure)
