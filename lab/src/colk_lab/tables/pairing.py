"""Steps, bias and error of each pairing of samples.

    python -m colk_lab.tables pairing

The noise is skewed and grows with x, the loss is squared and the risk is `Semivariance`, so the
optimum of the risk differs from that of the mean. The table shows by how much the held-out
objective of COLK's average exceeds that of the batch optimum, at equal numbers of samples.
"""

import numpy as np

from colk import objective
from colk.compressors import KOMP
from colk.kernels import Gaussian
from colk.learners import COLK
from colk.losses import Squared
from colk.risks import Mean, Semivariance
from colk.rkhs.batch import minimize
from colk.schedules import PolyakRuppert
from colk_lab.tables.output import publish

KERNEL, LOSS, RISK, DECAY = Gaussian(0.2), Squared(), Semivariance(3.0, 0.1), 1e-3
SEEDS, N = 5, 40000


def samples(n, seed):
    rng = np.random.default_rng(seed)
    X = rng.random((n, 1))
    noise = (rng.beta(1.0, 4.0, size=n) - 0.2) * (0.5 + 3.0 * X[:, 0])
    return X, np.sin(6 * X[:, 0]) + noise


def value(f):
    return objective(f, *samples(50000, seed=10**6), LOSS, RISK, regularization=DECAY).total


def learned(pairing, tracker, step, seed):
    return COLK(
        KERNEL,
        LOSS,
        RISK,
        step_size=step,
        tracking_rate=0.02,
        regularization=DECAY,
        compressor=KOMP(eps=1e-3),
        pairing=pairing,
        tracker=tracker,
        gradient_bound=100.0,
        averaging=PolyakRuppert(growth=1.0),
    ).learn(*samples(N, seed))


def main():
    batch, atoms = samples(20000, seed=10**6 + 1), np.linspace(0.0, 1.0, 30)[:, None]
    best, of_mean = (
        value(minimize(*batch, KERNEL, LOSS, risk, DECAY, atoms=atoms).function)
        for risk in (RISK, Mean())
    )
    rows = [["minimiser of the mean", "", "", "", f"{100 * (of_mean / best - 1):+.2f} %"]]
    for pairing in ("independent", "overlap", "same"):
        for tracker in ("momentum", "average"):
            for step in (0.1, 0.03, 0.01):
                runs = [learned(pairing, tracker, step, seed) for seed in range(SEEDS)]
                gap = np.mean([value(run.function) for run in runs]) / best - 1
                rows.append(
                    [pairing, tracker, f"{step:g}", str(runs[0].steps), f"{100 * gap:+.2f} %"]
                )
    publish("pairing", ["pairing", "tracker", "α", "steps", "above the optimum"], rows)


if __name__ == "__main__":
    main()
