"""The distances between atoms on random and adversarial streams, and the bounds on them.

python -m colk_lab.tables atoms [random streams] [adversarial streams]
"""

import sys
from collections.abc import Iterator
from copy import deepcopy
from math import inf

import numpy as np

from colk import COLK
from colk.compressors import KOMP
from colk.kernels import Gaussian, Kernel, Laplacian
from colk.losses import Squared
from colk.risks import Mean, Variance
from colk.theory import Constants, bound_atoms
from colk_lab.arrays import Array
from colk_lab.reproduction.theory.separation import Apart, follow_atoms, nearest_pair
from colk_lab.tables.output import TABLES

TABLE = TABLES / "atoms.md"
Steps = Iterator[tuple[Array, Array]]


class AtomCase:
    """A learner and the laws of its samples, drawn at random."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng
        self.bandwidth = float(rng.uniform(0.05, 0.6))
        self.kernel: Kernel = (Gaussian, Laplacian)[rng.integers(2)](self.bandwidth)
        self.p = int(rng.integers(1, 4))
        self.pace = int(rng.integers(1, 3))
        self.step_size = float(10.0 ** rng.uniform(-2.0, 0.0))
        self.bound = float(10.0 ** rng.uniform(-0.5, 1.0))
        self.eps = float(10.0 ** rng.uniform(-1.5, -0.1)) * self.step_size * self.bound
        self.scale = float(rng.uniform(0.5, 5.0))
        self.learner = COLK(
            self.kernel,
            Squared(),
            Variance(float(rng.uniform(0.0, 1.0))) if self.pace == 2 else Mean(),
            step_size=self.step_size,
            tracking_rate=float(rng.uniform(0.01, 0.5)),
            regularization=float(rng.choice([0.0, 0.1])),
            compressor=KOMP(eps=self.eps),
            gradient_bound=self.bound,
            averaging=None,
        )

    def sample(self) -> tuple[Array, Array]:
        """Draw the samples of a step; a third of them is near the latest ones."""
        X = self.rng.random((self.pace, self.p))
        atoms = self.learner.last_function.atoms if self.learner.steps else X
        if len(atoms) and self.rng.random() < 1 / 3:
            near = atoms[self.rng.integers(len(atoms), size=self.pace)]
            X = near + 10.0 ** self.rng.uniform(-3.0, -0.5) * self.rng.normal(size=X.shape)
            X = 1.0 - np.abs(
                1.0 - np.abs(X)
            )  # reflected at the sides, so that points stay distinct
        return X, self.scale * self.rng.normal(size=self.pace)

    def drawn(self, steps: int) -> Steps:
        """Draw the samples one step after the other."""
        for _ in range(steps):
            yield self.sample()

    def chosen(self, steps: int) -> Steps:
        """Choose each step from eight candidates: the closest atoms, or the largest model."""
        for t in range(steps):
            tried = [self.sample() for _ in range(8)]
            scores = [self._score(X, y, crowd=t % 3 > 0) for X, y in tried]
            yield tried[int(np.argmin(scores))]

    def _score(self, X: Array, y: Array, crowd: bool) -> float:
        after = deepcopy(self.learner).learn(X, y)
        return (
            nearest_pair(self.kernel, after.last_function.atoms) if crowd else -float(after.n_atoms)
        )

    def run(self, steps: Steps) -> tuple[Apart, float]:
        """Return the smallest ratios, and the bound on the order over the order."""
        found = follow_atoms(self.learner, self.step_size, self.bound, self.eps, steps)
        steepest = 0.4513 if isinstance(self.kernel, Gaussian) else 1.0
        constants = Constants(
            kernel_lipschitz=steepest / self.bandwidth * self.p**0.5,
            gradient_bound=self.bound,
            weight_bound=found.weight,
            sides=(1.0,) * self.p,
        )
        return found, bound_atoms(constants, self.step_size, self.eps) / max(found.order, 1)


def measure(kind: str, count: int, seed: int = 0) -> list[tuple[Apart, float]]:
    """Follow `count` streams of a kind: "random" or "adversarial"."""
    found = []
    for i in range(count):
        case = AtomCase(np.random.default_rng([seed, kind == "random", i]))
        found.append(case.run(case.drawn(150) if kind == "random" else case.chosen(100)))
    return found


def main(counts: dict[str, int]) -> None:
    head = ("streams", "growing steps (A)", "new atoms (B)", "bound over order", "largest k")
    lines = [f"| {' | '.join((*head, 'pairs closer than χ'))} |", "| --- " * 6 + "|"]
    for kind, count in counts.items():
        found = measure(kind, count)
        least = [min(getattr(a, name) for a, _ in found) for name in ("growth", "entry")]
        ratio = min(ratio for _, ratio in found)
        close = sum(a.pair < 1.0 for a, _ in found)
        most = max(a.removed for a, _ in found)
        assert min(*least, ratio) >= 1.0 - 1e-6, f"violated: {least}, {ratio}"
        cells = (f"{count:,} {kind}", *(f"{value:.4g}" for value in (*least, ratio)), str(most))
        lines.append(f"| {' | '.join((*cells, f'in {close:,} streams'))} |")
        assert ratio < inf
    TABLE.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print("\n".join(lines))


if __name__ == "__main__":
    random, adversarial = (int(text) for text in (sys.argv[1:] or ("10000", "100")))
    main({"random": random, "adversarial": adversarial})
