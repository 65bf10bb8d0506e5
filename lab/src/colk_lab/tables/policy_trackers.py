"""Relative error of the value function for each tracker of the temporal difference.

python -m colk_lab.tables policy_trackers > docs/tables/policy_trackers.md
"""

import numpy as np

from colk.kernels import Gaussian
from colk.rl import LinearQuadratic, PolicyEvaluator, ResidualGradient, simulate
from colk_lab.statistics import standard_error

DISCOUNT, STEPS, RUNS = 0.9, 20_000, 8
METHODS = {
    "function": lambda: PolicyEvaluator(Gaussian(0.5), DISCOUNT),
    "one number, momentum (the paper)": lambda: PolicyEvaluator(
        Gaussian(0.5), DISCOUNT, tracks="momentum"
    ),
    "one number, moving average": lambda: PolicyEvaluator(Gaussian(0.5), DISCOUNT, tracks="scalar"),
    "none: residual gradient": lambda: ResidualGradient(Gaussian(0.5), DISCOUNT),
}


def main() -> None:
    states = simulate(LinearQuadratic.spiral(1), 2000, seed=77).states
    print("| tracker | transitions are random | transitions are certain |")
    print("| --- | --- | --- |")
    for name, make in METHODS.items():
        cells = []
        for noise in (None, 0.0):
            mdp = (
                LinearQuadratic.spiral(1) if noise is None else LinearQuadratic([[0.8]], noise=0.0)
            )
            truth = mdp.value(states, DISCOUNT)
            errors = []
            for seed in range(RUNS):
                rng = np.random.default_rng(seed)
                if noise is None:
                    stream = tuple(simulate(mdp, STEPS, seed=seed))
                else:
                    starts = rng.choice(states[:, 0], STEPS)[:, None]
                    rewards, ahead, ends = mdp.step(starts, rng)
                    stream = (starts, rewards, ahead, ends)
                gap = make().learn(*stream).value(states) - truth
                errors.append(np.sqrt(np.mean(gap**2) / np.mean(truth**2)))
            spread = standard_error(errors)
            cells.append(f"{np.mean(errors):.3f} ± {spread:.3f}")
        print(f"| {name} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
