"""Error of policy evaluation: recursive least squares compared with gradient steps.

    python -m colk_lab.tables lstd [--seeds 5]

The process is `LinearQuadratic.spiral`, whose V is known, with discount 0.9 and a Gaussian kernel
with bandwidth 0.5; every learner has its defaults. Errors are RMS errors over 2,000 states that the
policy visits, relative to the RMS of V; the table shows the mean over the seeds.
"""

import argparse
import time
from collections.abc import Callable

import numpy as np

from colk.kernels import Gaussian
from colk.rl import (
    KernelLSTD,
    KernelTD,
    LinearQuadratic,
    PolicyEvaluator,
    kernel_lstd,
    simulate,
)
from colk_lab.tables.output import publish

KERNEL, DISCOUNT, FIRST_SEED, FINAL = Gaussian(0.5), 0.9, 100, 77
CASES = [(1, 1000), (1, 20_000), (2, 1000), (2, 5000), (2, 20_000)]
LEARNERS = {
    "`KernelLSTD`": KernelLSTD,
    "`PolicyEvaluator`": PolicyEvaluator,
    "`KernelTD`": KernelTD,
}


def error(value: Callable[[np.ndarray], np.ndarray], mdp: LinearQuadratic) -> float:
    """Return the relative RMS error of values."""
    states = simulate(mdp, 2000, seed=FINAL).states
    truth = mdp.value(states, DISCOUNT)
    return float(np.sqrt(np.mean((value(states) - truth) ** 2) / np.mean(truth**2)))


def row(n_features: int, size: int, seeds: range) -> list[str]:
    """Return the errors of the batch and of each learner, with its atoms and µs per transition."""
    mdp = LinearQuadratic.spiral(n_features)
    found: dict[str, list[tuple[float, float, float]]] = {name: [] for name in LEARNERS}
    batch = []
    for seed in seeds:
        stream = simulate(mdp, size, seed=seed)
        batch.append(error(kernel_lstd(KERNEL, DISCOUNT, *stream), mdp))
        for name, kind in LEARNERS.items():
            start = time.perf_counter()
            learner = kind(KERNEL, DISCOUNT).learn(*stream)
            taken = (time.perf_counter() - start) / size * 1e6
            found[name].append((error(learner.value, mdp), learner.n_atoms, taken))
    cells = [f"{np.mean(batch):.3f}"]
    for results in found.values():
        off, atoms, taken = np.mean(results, axis=0)
        cells.append(f"{off:.3f} ({atoms:.0f}; {taken:.1f} µs)")
    return [str(n_features), f"{size:,}", *cells]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=5)
    seeds = range(FIRST_SEED, FIRST_SEED + parser.parse_args().seeds)
    rows = [row(*case, seeds) for case in CASES]
    publish("lstd", ["features", "transitions", "`kernel_lstd`, batch", *LEARNERS], rows)


if __name__ == "__main__":
    main()
