"""What a sample chooses in a fit: inputs, kernel, atoms, λ, outliers, a point of the risk path."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from colk._encoding.effects import effect_targets
from colk._validation import Array
from colk.learners.colk import KernelLearner
from colk.model.convergence import (
    constant_loss,
    warn_of_atoms,
    warn_of_clipping,
    warn_of_loss,
    warn_of_nothing,
)
from colk.model.encoded_rows import Encoding, rows_at, rule_of
from colk.model.far_targets import features_predict
from colk.model.feature_scales import warn_of_scales
from colk.model.growth import filled, grown, most_atoms
from colk.model.inputs import Inputs
from colk.model.passes import USED, Passes
from colk.model.recipe import Recipe
from colk.model.rows import LocalRows
from colk.model.sample import RowSample, Sample
from colk.model.settings import FIRST_ATOMS, Settings
from colk.model.targets import Targets
from colk.model.terms import as_risk
from colk.risks import Mean
from colk.rkhs.deviations import Deviations
from colk.rkhs.polishing import Block, FinalPolish, Polished, RiskPath, final_polish
from colk.selection import Race, Relevance, rows_to_race

__all__ = ["LEAST_REGULARIZATION", "SampleFit"]

# The polish needs λ > 0, because weights are not unique without it.
LEAST_REGULARIZATION = 1e-12

# Number of further fits, each without the outliers of the fit before it.
_REFITS = 2

# Accuracy of the last weights, and of those from which the search for more of them begins.
_TOLERANCE, _ROUGH = 1e-3, 0.1

# Early stopping ends the epochs if the held-out loss is not below this share of the loss before.
_WORTH_AN_EPOCH = 0.99


class SampleFit:
    """A fit to a sample, and what it has found so far.

    Parameters
    ----------
    settings : Settings
        The settings of the model.
    passes : Passes
        The settings of the passes.
    targets : Targets
        The targets of the task.
    standardize : bool or "auto"
        As in `Inputs.fitted`.
    names : sequence of str, optional
        Names of the columns of arrays.
    inputs : Inputs, optional
        Inputs that are not to be fitted: those of a sparse matrix, whose points are row indices.
    sample_size : int, optional
        As `size` of `RowSample`.
    report : callable, optional
        Called with a message, and the number of atoms, after each step.

    Attributes
    ----------
    inputs, targets : Inputs, Targets
        Those of the sample.
    learner : KernelLearner
        The fitted learner.
    race : Race or None
        The comparison of kernels.
    relevance : Relevance or None
        How much the fitted function varies along each feature.
    polished : Polished or None
        The result of the polish.
    path : RiskPath or None
        The points that were tried between the mean and the risk.
    max_atoms : int or None
        The largest number of atoms.
    tried : array of shape (k, 3)
        The attempts to add atoms.
    loss_curve : list of float
        Mean loss before learning, for each epoch.
    n_rows : int
        Number of rows with a positive weight.
    final : FinalPolish or None
        The polish on the rows that chose the atoms; None if nothing was polished.
    judged : Block
        These rows; outliers have weight 0.

    Examples
    --------
    >>> from colk.losses import Huber
    >>> from colk.model.targets import NumberTargets
    >>> X = np.linspace(-1.0, 1.0, 200)[:, None]
    >>> rows = LocalRows(lambda: [(X, np.sin(3.0 * X[:, 0]), np.ones(200))], is_whole=True)
    >>> from colk.model.fit import Fit
    >>> fit = Fit(Settings(loss=Huber()), Passes(random_state=0), NumberTargets(Huber()))
    >>> fit.run(rows).learner.n_atoms <= fit.max_atoms
    True
    """

    learner: KernelLearner
    polished: Polished | None = None
    deviations: Deviations | None = None
    path: RiskPath | None = None
    race: Race | None = None
    relevance: Relevance | None = None

    def __init__(
        self,
        settings: Settings,
        passes: Passes,
        targets: Targets,
        *,
        standardize: bool | str = "auto",
        names: Sequence[str] | None = None,
        inputs: Inputs | None = None,
        sample_size: int | None = None,
        report: Callable[[str, int], None] | None = None,
    ) -> None:
        self._given, self.passes, self.targets = settings, passes, targets
        self._standardize, self._names, self._known = standardize, names, inputs
        self._tell, self._sample_size = report, sample_size
        self.max_atoms = settings.atom_limit
        self.tried, self.loss_curve = np.zeros((0, 3)), list[float]()
        self.n_rows = 0

    def choose(self, sample: RowSample) -> tuple[FinalPolish | None, Block]:
        """Find inputs, kernel, atoms and λ; return the polish and the rows that chose.

        Parameters
        ----------
        sample : RowSample
            The sample, and the counts of all rows.
        """
        drawn = sample.drawn()
        plain, weight, n_outliers = self._find_inputs(drawn), drawn.weight, 0
        for is_first in (True, *(False,) * _REFITS):
            rows = Block(*self._begin(sample, drawn, plain, weight))
            if is_first and self._predicts_far(rows, drawn):
                self.targets = self.targets.keeping_far()
                rows = Block(*self._begin(sample, drawn, plain, weight))
            few = rows_at(rows, drawn.chosen)
            final = self._find_atoms(*few)
            if final is None or final.outliers is None:
                break
            outliers = final.outliers
            if not sample.is_whole:
                outliers = rule_of(final, rows, drawn).outliers(rows.points, rows.targets)
            outliers &= weight > 0.0
            weight, n_outliers = np.where(outliers, 0.0, weight), n_outliers + int(outliers.sum())
        if final is not None and n_outliers:
            rule = None if sample.is_whole else rule_of(final, rows, drawn)
            self.polished = replace(final.polished, n_outliers=n_outliers)
            final = replace(final, polished=self.polished, rule=rule)
        return final, few

    def _predicts_far(self, rows: Block, drawn: Sample) -> bool:
        """Return whether the features predict which targets are far from the others."""
        X, _, weight = rows_at(rows, drawn.chosen)
        far = self.targets.far_ones(drawn.y[drawn.chosen], weight)
        if far is None or not features_predict(self.settings, self.recipe.kernel, X, far, weight):
            return False
        self._report(f"kept {int(far.any(axis=1).sum())} far targets: features predict them")
        return True

    def _find_inputs(self, drawn: Sample) -> Array:
        """Find the inputs; return the encoded rows without effects of categories."""
        if self._known is not None:
            self.inputs = self._known
            return self.inputs.encode(drawn.source)
        settings = self._given
        self.inputs, rows = Inputs.fitted(drawn.source, self._names, self._standardize, settings)
        return rows

    def _begin(
        self, sample: RowSample, drawn: Sample, plain: Array, weight: Array
    ) -> tuple[Array, Array, Array]:
        """Find the scale of the targets and the effects of categories; make the learner."""
        self.targets = self.targets.fitted(sample, drawn.y, weight)
        loss, Y = self.targets.loss, self.targets.encode(drawn.y)
        n_classes = 0
        if loss.kind == "multiclass":
            n_classes = self.targets.n_outputs or 0
        X = self.inputs.with_effects(plain, effect_targets(Y, n_classes), weight, drawn.numbers)
        self.max_atoms = self._given.atom_limit
        self.tried, self.loss_curve, self.race = np.zeros((0, 3)), [], None
        settings = self.settings
        as_risk(settings.risk).check_loss(loss)
        self.recipe = Recipe.from_data(settings, X)
        self.learner = self.recipe.learner(self.targets.n_outputs)
        bandwidth = getattr(self.recipe.kernel, "bandwidth", None)
        if not settings.is_open and self.inputs.is_plain and isinstance(bandwidth, float):
            warn_of_scales(X, self._names)
        return X, Y, self.targets.weigh(drawn.y, weight)

    @property
    def settings(self) -> Settings:
        """The settings, with the loss, the number of atoms and the categories in use."""
        return replace(
            self._given,
            loss=self.targets.loss,
            max_atoms=self.max_atoms,
            categorical=self.inputs.encoder.categorical,
        )

    def _find_atoms(self, X: Array, Y: Array, weight: Array) -> FinalPolish | None:
        """Choose the kernel, make the passes, then warn and polish."""
        passes = self.passes
        n_targets = Y.shape[1] if Y.ndim == 2 else 1
        self.recipe.risk.check_sizes(self.targets.n_outputs or n_targets, n_targets)
        random = check_random_state(passes.random_state)
        self._choose_kernel(X, Y, weight, random if passes.shuffle else None)
        by_mean = passes.polish and self.recipe.risk.starts_from_mean
        if by_mean:
            self.learner = self.recipe.for_mean().learner(self.targets.n_outputs)
        lost = self._make_passes(X, Y, weight, random)
        final = self._conclude(X, Y, weight, lost) if (weight > 0.0).any() else None
        if by_mean:
            self._take_risk(X, Y, weight)
        return final

    def _choose_kernel(self, X: Array, Y: Array, weight: Array, random: Any) -> None:
        """Race the kernels; make the learner again if the default loses."""
        settings = self.settings
        if not settings.is_open:
            return
        rows = rows_to_race(len(X), random)
        n_outputs = self.targets.n_outputs or 1
        few = X[rows], Y[rows], weight[rows]
        self.race = settings.race(*few, n_outputs, both_halves=True)
        if not self.race.default_won:
            self.recipe = Recipe.from_kernel(settings, self.race.kernel)
            self.learner = self.recipe.learner(self.targets.n_outputs)

    def walk(self, rows: LocalRows, n_points: int) -> tuple[Array, Array]:
        """Learn rows in memory in parts; return rows seen and number of atoms after each part.

        Parameters
        ----------
        rows : LocalRows
            The rows.
        n_points : int
            Number of parts.
        """
        sample = rows.scan(RowSample(0, self.targets.are_labels))
        drawn = sample.drawn()
        few = self._begin(sample, drawn, self._find_inputs(drawn), drawn.weight)
        self._choose_kernel(*few, None)
        block = Encoding(self.inputs, self.targets)(next(rows.parts()))
        ends = np.unique(np.linspace(0, len(block.share), n_points + 1).astype(int))
        orders = []
        for start, end in pairwise(ends):
            self.learner.learn_checked(*(array[start:end] for array in block))
            orders.append(self.learner.n_atoms)
        return ends[1:].astype(np.float64), np.array(orders, dtype=np.float64)

    def _make_passes(self, X: Array, Y: Array, weight: Array, random: Any) -> float:
        """Learn the rows in epochs; return the error that compression made in the last steps."""
        passes = self.passes
        learned, held_out = passes.split(len(X), random)
        best, lost = np.inf, 0.0
        for epoch in range(passes.n_epochs):
            order = random.permutation(learned) if passes.shuffle else learned
            spent, steps = self.learner.error_spent, self.learner.steps
            first_atoms = self.max_atoms if self._adds_atoms() else None
            self._learn_parts(X, Y, weight, passes.parts(order, weight, first_atoms))
            made = self.learner.steps - steps
            lost = (self.learner.error_spent - spent) / made if made else 0.0
            self._report(f"epoch {epoch + 1}: loss {self.loss_curve[-1]:.4g}")
            if len(held_out):
                values = self.targets.loss.value(self.learner.predict(X[held_out]), Y[held_out])
                found = float(np.average(values, weights=weight[held_out]))
                self._report(f"epoch {epoch + 1}: loss of held-out samples {found:.4g}")
                if not found < _WORTH_AN_EPOCH * best:
                    break
                best = found
        return lost

    def _learn_parts(
        self, X: Array, Y: Array, weight: Array, parts: Sequence[NDArray[np.intp]]
    ) -> None:
        """Learn parts of the samples until 0.95 of `max_atoms` are in use."""
        before = self.learner.loss_sums
        for rows in parts:
            self.learner.learn_checked(X[rows], Y[rows], weight[rows])
            if self.learner.n_atoms >= USED * (self.max_atoms or np.inf):
                break
        self.loss_curve.append(self.learner.loss_since(before))

    def _adds_atoms(self) -> bool:
        """Whether the polish may add atoms to those of the passes."""
        return self._given.grows and self.recipe.risk.can_grow

    def _fills(self) -> bool:
        """Whether more rows may be atoms than the passes found, because nothing limits them."""
        is_open = self._given.eps is None and self.passes.epochs is None
        risk = self.recipe.risk
        return is_open and (risk.is_mean or risk.starts_from_mean) and self._given.grows

    def _conclude(self, X: Array, Y: Array, weight: Array, lost: float) -> FinalPolish | None:
        """Polish, or warn if the epochs did not learn."""
        passes, learner = self.passes, self.learner
        constant = constant_loss(self.targets.loss, Y, weight, learner.n_outputs or 1)
        warn_of_clipping(learner, X, Y, weight)
        is_gradient = passes.solver == "gradient"
        if learner.n_atoms == 0:
            longer = "raise step_size" if is_gradient else "lower prior"
            warn_of_nothing(constant, learner.eps_now, longer)
        elif passes.polish:
            return self._polish(X, Y, weight)
        else:
            shorter = "lower step_size" if is_gradient else "raise prior"
            eps = self._given.eps if is_gradient else learner.eps_now
            warn_of_atoms(lost, eps, learner.step_length, self.max_atoms, shorter)
            advice = f"{shorter} or eps, raise epochs, or set polish=True"
            warn_of_loss(self.loss_curve[-1], constant, len(X), advice)
        return None

    def _report(self, message: str) -> None:
        if self._tell is not None:
            self._tell(message, self.learner.n_atoms)

    def _polish(self, X: Array, Y: Array, weight: Array) -> FinalPolish:
        """Minimise the objective on these rows over the weights; see `colk.rkhs.polishing`."""
        function, loss, risk = self.learner.function, self.targets.loss, self.recipe.risk
        if self._fills():
            rows, is_number = X[weight > 0.0], loss.kind == "regression" and function.n_outputs == 1
            function = filled(function, rows, most_atoms(len(rows), self.max_atoms or 0, is_number))
        least = max(self.recipe.regularization, LEAST_REGULARIZATION)
        growth = None
        if self._given.grows and risk.can_grow and function.n_atoms >= USED * FIRST_ATOMS:
            growth = grown(function, X, Y, weight, loss, self._report)
            self.tried = growth.tried
        grows = growth is not None and growth.function.n_atoms > function.n_atoms
        # Labels have no outliers, so the weights of few atoms are only where a search begins.
        tolerance = _ROUGH if grows and loss.kind != "regression" else _TOLERANCE
        terms, path = (function, X, Y, loss, risk, least), self.passes.risk_path
        final = final_polish(*terms, path=path, sample_weight=weight, tolerance=tolerance)
        found = final.polished
        self.path = final.path
        self._adopt(found)
        self._report(f"polished: objective {found.value_before:.4g} to {found.value:.4g}")
        if found.n_outliers:
            self._report(f"polished without {found.n_outliers} outliers")
            return final
        judged = Mean() if risk.starts_from_mean else risk
        start = judged.value_at(loss, np.zeros((len(Y), function.n_outputs)), Y, weight)
        left_out = min(value for _, value in found.candidates)
        advice = "the features say nothing about the targets"
        if self.race is None:
            advice += ' with this kernel: set kernel="auto", which finds the features that matter'
        warn_of_loss(left_out, start, len(X), advice)
        if growth is not None and grows:
            final = growth.polished(final, X, Y, weight, _TOLERANCE)
            self._adopt(final.polished)
        return final

    def _adopt(self, polished: Polished) -> None:
        """Give the learner the polished function; enlarge it if that has more atoms."""
        self.polished, small = polished, self.learner
        n_atoms = polished.function.n_atoms
        if n_atoms == small.n_atoms:
            small.adopt(polished.function)
            return
        self.max_atoms = max(n_atoms, self.max_atoms or n_atoms)
        self.recipe = replace(self.recipe, settings=self.settings)
        recipe = self.recipe if small.risk == self.recipe.risk else self.recipe.for_mean()
        self.learner = recipe.learner(self.targets.n_outputs)
        self.learner.enlarge_from(small, polished.function)

    def _take_risk(self, X: Array, Y: Array, weight: Array) -> None:
        """Continue under the risk of the settings, after the mean has found the atoms."""
        mean, self.learner = self.learner, self.recipe.learner(self.targets.n_outputs)
        risk, loss, counted = self.recipe.risk, self.targets.loss, weight > 0.0
        g, losses = np.zeros(risk.n_inner), np.zeros(0)
        if counted.any():
            F = mean.evaluate(X[counted])
            g = risk.estimate_at(loss, F, Y[counted], weight[counted])
            losses = loss.value(F, Y[counted])
        self.learner.continue_from(mean, g, losses)
