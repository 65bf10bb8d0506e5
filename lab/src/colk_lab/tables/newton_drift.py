"""Rounding error in the curvature of NewtonCOLK after many samples.

    python -m colk_lab.tables newton_drift            10⁷ samples at M = 50, 10⁶ at M = 200
    python -m colk_lab.tables newton_drift --quick    a hundredth of the samples

"Fixed": points are drawn from M places that are all atoms, so P = (λI + 2 Σ zzᵀ)⁻¹ can be computed
directly from the counts. "Changing": new points of a square for at most M atoms, of which some
enter and others leave all the time. P cannot be computed directly there; the script checks that P
is positive definite and at most the prior variance 1/λ, and that K·K⁻¹ = I.
"""

import argparse

import numpy as np

from colk.compressors import KOMP
from colk.kernels import Gaussian
from colk.learners import NewtonCOLK
from colk_lab.tables.output import publish, table
from colk_lab.tables.streams import SEED

RUNS = ((50, 10_000_000), (200, 1_000_000))
CHUNK = 100_000


def target(X: np.ndarray) -> np.ndarray:
    return np.sin(5.0 * X).sum(axis=1)


def fixed(n_atoms: int, n_samples: int, rng: np.random.Generator) -> tuple[str, ...]:
    places = rng.random((n_atoms, 5))
    learner = NewtonCOLK(Gaussian(0.2), compressor=KOMP(eps=0.0)).learn(places, target(places))
    counts = np.ones(n_atoms)
    for _ in range(n_samples // CHUNK):
        rows = rng.integers(n_atoms, size=CHUNK)
        counts += np.bincount(rows, minlength=n_atoms)
        learner.learn(places[rows], target(places)[rows] + 0.1 * rng.normal(size=CHUNK))
    atoms = learner.function.atoms
    order = [int(np.flatnonzero((places == atom).all(axis=1))[0]) for atom in atoms]
    L = np.linalg.cholesky(learner.kernel.gram(atoms))
    A = learner.prior * np.eye(n_atoms) + 2.0 * (L.T * counts[order]) @ L
    found, expected = learner.covariance, np.linalg.inv(A)
    error = np.linalg.norm(found - expected, 2) / np.linalg.norm(expected, 2)
    return f"{error:.1e}", *positivity(learner)


def changing(n_atoms: int, n_samples: int, rng: np.random.Generator) -> tuple[str, ...]:
    rule = KOMP(eps=0.01, max_atoms=n_atoms)
    learner = NewtonCOLK(Gaussian(0.1), compressor=rule, forgetting=0.999)
    for _ in range(n_samples // CHUNK):
        X = rng.random((CHUNK, 2))
        learner.learn(X, target(3.0 * X) + 0.1 * rng.normal(size=CHUNK))
    return "", *positivity(learner)


def positivity(learner: NewtonCOLK) -> tuple[str, str, str]:
    values = np.linalg.eigvalsh(learner.covariance)
    K = learner.kernel.gram(learner.function.atoms)
    state = learner._stream
    assert state is not None
    drift = np.abs(K @ state.dictionary.inverse_gram - np.eye(len(K))).max()
    return f"{values[0]:.1e}", f"{values[-1] * learner.prior:.3f}", f"{drift:.1e}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    share = 100 if parser.parse_args().quick else 1
    rows = []
    for n_atoms, n_samples in RUNS:
        for run in (fixed, changing):
            found = run(n_atoms, max(n_samples // share, CHUNK), np.random.default_rng(SEED))
            rows.append([run.__name__, str(n_atoms), f"{n_samples // share:.0e}", *found])
    columns = ["dictionary", "M", "samples", "error of P", "smallest eigenvalue"]
    columns += ["largest eigenvalue·λ", "max abs(KK⁻¹ − I)"]
    if share == 1:
        publish("newton_drift", columns, rows)
    else:
        print(table(columns, rows))


if __name__ == "__main__":
    main()
