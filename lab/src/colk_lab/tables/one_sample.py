"""Time of one sample through the River class, a learner and the estimator, in one run.

    python -m colk_lab.tables one_sample

The River class is compared with River's own `StandardScaler | LinearRegression` on the same
dictionaries of features. It has at most 50 atoms: with gradient steps and the Laplacian or the
Gaussian kernel, with Newton steps and the Laplacian kernel, and with the default settings, whose
kernel is chosen, after 3000 samples. The learner has about 24 atoms and one feature. All jobs run
in turns, and times are minima. The table is written to docs/tables.
"""

import argparse

from river import linear_model, preprocessing

from colk_lab.tables.cases import Ready, learn_one, partial_fit, river_case, single_samples
from colk_lab.tables.output import publish
from colk_lab.tables.streams import named
from colk_lab.tables.turns import best_times

N_FEATURES = (1, 2, 5, 10, 20)
VARIANTS = {
    "laplacian": {"kernel": "laplacian", "solver": "gradient"},
    "gaussian": {"kernel": "gaussian", "solver": "gradient"},
    "laplacian, Newton": {"kernel": "laplacian", "solver": "newton"},
    "default": {"kernel": "auto", "solver": "auto"},
}
# Limits: River's class with gradient steps 40 % of its peer, a learner 3 µs, a row of the
# estimator 100 µs.
SHARE_ASKED, LEARNER_ASKED, ROW_ASKED = 0.4, 3.0, 100.0


def peer(n_features: int, chunk: int = 500) -> Ready:
    model = preprocessing.StandardScaler() | linear_model.LinearRegression()
    return single_samples(model.learn_one, named(12_000, n_features), model, chunk)


def microseconds(jobs: list[Ready], rounds: int) -> list[float]:
    times = best_times(*(ready.job for ready in jobs), rounds=rounds, repeats=3)
    return [1e6 * t / ready.samples for t, ready in zip(times, jobs, strict=True)]


def river_rows(rounds: int) -> list[list[str]]:
    jobs = [
        ready
        for p in N_FEATURES
        for ready in (peer(p), *(river_case(p, **settings) for settings in VARIANTS.values()))
    ]
    times, size = microseconds(jobs, rounds), 1 + len(VARIANTS)
    rows = []
    for which, p in enumerate(N_FEATURES):
        linear, *ours = times[size * which : size * (which + 1)]
        models = [ready.model for ready in jobs[size * which + 1 : size * (which + 1)]]
        rows += [
            [
                f"River's learn_one, features: {p}, {name}, {model.n_atoms} atoms",
                f"{time:.2f}",
                f"{linear:.2f}",
                f"{time / linear:.0%}",
                f"≤ {SHARE_ASKED:.0%}" if settings["solver"] == "gradient" else "–",
            ]
            for (name, settings), model, time in zip(VARIANTS.items(), models, ours, strict=True)
        ]
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=20)
    rounds = parser.parse_args().rounds
    rows = river_rows(rounds)
    jobs = [learn_one(), partial_fit()]
    names = ("learner.learn_one", "COLKRegressor.partial_fit of one row")
    atoms = (jobs[0].model.n_atoms, jobs[1].model.n_atoms_)
    asked = (LEARNER_ASKED, ROW_ASKED)
    for name, m, time, most in zip(names, atoms, microseconds(jobs, rounds), asked, strict=True):
        rows.append([f"{name}, {m} atoms", f"{time:.2f}", "–", "–", f"≤ {most:g} µs"])
    columns = ("one sample", "µs", "StandardScaler, LinearRegression, µs", "share", "required")
    publish("one_sample", columns, rows)


if __name__ == "__main__":
    main()
