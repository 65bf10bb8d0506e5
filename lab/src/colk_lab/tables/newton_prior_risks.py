"""λ of Newton steps under a risk: the asked-for risk on new data with λ = 0.1 and prior="auto".

    python -m colk_lab.tables newton_prior_risks [--seeds 3]

`COLKRegressor(solver="newton")` learns 4,000 rows by `partial_fit` in chunks of 500, with the
Laplacian kernel and at most 60 atoms. "Asked for" is the risk of the losses on 5,000 new rows of
the model under the risk; "mean" is that of the model under the mean.
"""

import argparse

import numpy as np

from colk import COLKRegressor
from colk.losses import Huber
from colk.risks import CVaR, LossRisk, Semivariance, Variance
from colk_lab.tables.output import publish
from colk_lab.tables.risk_streams import RiskStream, friedman, skewed

ROWS, CHUNK, FIRST_SEED = 4000, 500, 300
PROBLEMS = {"skewed noise": skewed, "Friedman 1": friedman}
RISKS: dict[str, LossRisk] = {
    "CVaR(.1)": CVaR(0.1),
    "semivariance(1)": Semivariance(1.0),
    "variance(1)": Variance(1.0),
}


def measured(
    problem: RiskStream, risk: LossRisk, asked: LossRisk | str, prior: float | str
) -> float:
    """Return the risk on new rows of a model that learned under the asked-for risk."""
    X, y = problem.X, problem.y
    settings = {"kernel": "laplacian", "max_atoms": 60, "solver": "newton"}
    model = COLKRegressor(risk=asked, prior=prior, **settings)
    for start in range(0, ROWS, CHUNK):
        model.partial_fit(X[start : start + CHUNK], y[start : start + CHUNK])
    unit = np.std(y)
    losses = Huber(1.0).value(model.predict(X[ROWS:]) / unit, y[ROWS:] / unit)
    return float(risk.value(losses))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=3)
    seeds = range(FIRST_SEED, FIRST_SEED + parser.parse_args().seeds)
    rows = []
    for name, make in PROBLEMS.items():
        problems = [make(np.random.default_rng(seed), ROWS) for seed in seeds]
        for label, risk in RISKS.items():
            row = [name, label]
            for prior in (0.1, "auto"):
                found = np.array(
                    [[measured(each, risk, asked, prior) for asked in (risk, "mean")]
                     for each in problems]
                )  # fmt: skip
                of_risk, of_mean = found.mean(axis=0)
                row += [f"{of_risk:.4f}", f"{of_mean:.4f}", f"{of_risk / of_mean:.3f}"]
            rows.append(row)
            print(*row, flush=True)
    columns = ["stream", "risk", "λ = 0.1: asked for", "mean", "ratio"]
    publish("newton_prior_risks", [*columns, '"auto": asked for', "mean", "ratio"], rows)


if __name__ == "__main__":
    main()
