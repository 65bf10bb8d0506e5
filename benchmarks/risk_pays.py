"""On which data a risk pays: the risk on new data, relative to the model of the mean.

Models have 200 atoms and the Huber loss. Each is `COLKRegressor(risk=…)` at its defaults, paired
with the model of the mean on the same rows. A ratio below 1 is a gain; ± is a 95 % interval over
the seeds. The rule of the path was made without the sets in italics; after all sets had been seen
with four other seeds it was made stricter. No choice was made on the seeds of the table. To save
time, the risks polish the atoms of one fit for the mean, which is what `fit` does; processor times
are those of whole fits with the first seed.

    python benchmarks/risk_pays.py --data FOLDER --cache FOLDER

Results of each set and seed are stored in the cache, so that an interrupted run continues. Writes
docs/tables/risk_pays.md, risk_costs.md, risk_expected.md and risk_peers.md.
"""

import argparse
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from risk_peers import PEERS
from risk_sets import DESIGN, N_TRAIN, NEW, RiskSet
from scipy.stats import t as student
from tables import publish

from colk import COLKRegressor
from colk.losses import Huber
from colk.risks import CVaR, Entropic, LossRisk, Semivariance, Variance
from colk.rkhs.expansion import KernelExpansion
from colk.rkhs.polishing import polish
from colk.rkhs.polishing.risk_path import follow_risk_path

RISKS: dict[str, LossRisk] = {
    "CVaR(.05)": CVaR(0.05),
    "CVaR(.1)": CVaR(0.1),
    "CVaR(.1, weight .5)": CVaR(0.1, 0.5),
    "semivariance(1)": Semivariance(1.0),
    "variance(.5)": Variance(0.5),
    "entropic(1)": Entropic(1.0),
    "entropic(3)": Entropic(3.0),
}
PEER_RISK = "CVaR(.1)"
N_SEEDS, FIRST_SEED = 10, 2000
# A gain is expected if moving f by a constant gains this much.
EXPECTED = 0.88
# A risk that rests on fewer rows cannot be estimated.
FEWEST = 5.0

Array = NDArray[np.float64]
Results = dict[str, list[dict[str, Any]]]


def timed_fit(X: Array, y: Array, seed: int, **settings: Any) -> tuple[COLKRegressor, float]:
    start = time.process_time()
    model = COLKRegressor(max_atoms=200, random_state=seed, **settings).fit(X, y)
    return model, time.process_time() - start


def polished(mean: COLKRegressor, X: Array, y: Array, risk: LossRisk, path: bool) -> Any:
    """Return the function that `fit` finds under a risk on the mean's atoms, and its objective."""
    f, targets = mean.learner_.function, (y - mean.intercept_) / mean.target_scale_
    decay, loss = mean.polished_.regularization, mean.loss_
    if path:
        found = follow_risk_path(f, X, targets, loss, risk, decay)
        risk, decay = found.chosen_risk, found.regularization  # type: ignore[assignment]
        if found.kept_the_mean:
            return mean.polished_
    return polish(f, X, targets, loss, risk, decay, tolerance=1e-3)


@dataclass(frozen=True, eq=False)
class Case:
    """The rows of a set and a seed, and the model of the mean."""

    X: Array
    y: Array
    points: Array
    targets: Array
    mean: COLKRegressor
    seconds: float

    @classmethod
    def of(cls, data_set: RiskSet, seed: int, folder: Path | None) -> "Case":
        """Draw the rows and fit the model of the mean."""
        rng = np.random.default_rng([seed, *map(ord, data_set.name)])
        (X, y), (points, targets) = data_set.draw(rng, folder)
        return cls(X, y, points, targets, *timed_fit(X, y, seed))

    def losses(self, predictions: Array) -> Array:
        """Losses on new rows, in the units of the model."""
        center, unit = float(self.mean.intercept_), float(self.mean.target_scale_)
        return Huber().value((predictions - center) / unit, (self.targets - center) / unit)

    def losses_of(self, f: KernelExpansion) -> Array:
        """Losses of a function of scaled targets."""
        return self.losses(self.mean.target_scale_ * f(self.points) + self.mean.intercept_)


def run(data_set: RiskSet, seed: int, folder: Path | None) -> dict[str, Any]:
    """Fit all risks to a set: risks and mean losses on new rows."""
    case = Case.of(data_set, seed, folder)
    base = case.losses(case.mean.predict(case.points))
    found: dict[str, Any] = {"mean loss": float(base.mean()), "risks": {}}
    for name, risk in RISKS.items():
        own = case.losses_of(polished(case.mean, case.X, case.y, risk, True).function)
        line = {"mean": risk.value(base), "path": risk.value(own), "mean loss": float(own.mean())}
        found["risks"][name] = line
    return found


def run_times(data_set: RiskSet, seed: int, folder: Path | None) -> dict[str, Any]:
    """Return the processor time of a whole fit under each risk, relative to that of the mean."""
    case = Case.of(data_set, seed, folder)
    seconds = {n: timed_fit(case.X, case.y, seed, risk=risk)[1] for n, risk in RISKS.items()}
    return {"times": {name: spent / case.seconds for name, spent in seconds.items()}}


def run_peers(data_set: RiskSet, seed: int, folder: Path | None) -> dict[str, Any]:
    """Fit the other methods: the tail on new rows, and objectives on the rows of the fit."""
    case, risk = Case.of(data_set, seed, folder), RISKS[PEER_RISK]
    given = polished(case.mean, case.X, case.y, risk, False)
    found: dict[str, Any] = {"given": [given.value, given.value_before]}
    found["peers"] = {"as given": risk.value(case.losses_of(given.function))}
    for name, peer in PEERS.items():
        predictions, objective = peer(case.mean, case.X, case.y, case.points, CVaR(0.1))
        found["peers"][name] = risk.value(case.losses(predictions))
        if objective is not None:
            found["independent"] = objective
    return found


def cached(path: Path, compute: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Return the stored result, or compute and store it."""
    if not path.exists():
        path.write_text(json.dumps(compute()), encoding="utf-8")
        print(path.stem, flush=True)
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def results(sets: Sequence[RiskSet], arguments: argparse.Namespace) -> Results:
    """Run what is not in the cache, and return all results by set."""
    arguments.cache.mkdir(parents=True, exist_ok=True)
    found: Results = {each.name: [] for each in sets}
    for number in range(arguments.seeds):
        seed = arguments.first + number
        for each in sets:
            path, folder = arguments.cache / f"{each.name}-{seed}.json", arguments.data
            line = cached(path, partial(run, each, seed, folder))
            if number < arguments.peers:
                others = path.with_suffix(".peers.json")
                line |= cached(others, partial(run_peers, each, seed, folder))
            if number < arguments.timed:
                times = path.with_suffix(".times.json")
                line |= cached(times, partial(run_times, each, seed, folder))
            found[each.name].append(line)
    return found


def interval(values: Sequence[float]) -> str:
    """Return the mean of the values, with the half width of its 95 % interval."""
    half = 0.0
    if len(values) > 1:
        half = float(
            student.ppf(0.975, len(values) - 1) * np.std(values, ddof=1) / len(values) ** 0.5
        )
    return f"{np.mean(values):.3f} ± {half:.3f}" if half >= 5e-4 else f"{np.mean(values):.3f}"


def attainable(data_set: RiskSet, risk: LossRisk) -> float | None:
    """Return the risk of the best shift of the signal, relative to the best for the mean loss.

    The signal is known, so this needs no model. None if there is no signal, or if the risk of as
    many rows as a model sees rests on fewer than five of them: it cannot be estimated.
    """
    if data_set.make is None:
        return None
    n_groups = 13
    _, clean, y = data_set.make(n_groups * N_TRAIN, np.random.default_rng(0))
    noise = (y - clean) / y.std()
    shifts = np.linspace(np.quantile(noise, 0.05), np.quantile(noise, 0.999), 50)
    losses = [Huber().value(np.full(len(noise), shift), noise) for shift in shifts]
    mean = min(losses, key=lambda each: float(each.mean()))
    weights = [np.abs(risk.gradient(group)) for group in mean.reshape(n_groups, -1)]
    if np.median([float(w.sum() ** 2 / np.sum(w**2)) for w in weights]) < FEWEST:
        return None
    return min(risk.value(each) for each in losses) / risk.value(mean)


def label(data_set: RiskSet) -> str:
    return f"*{data_set.name}*" if data_set in NEW else data_set.name


def by_risk(sets: Sequence[RiskSet], cell: Callable[[RiskSet, str], str]) -> list[list[str]]:
    return [[label(each), *(cell(each, name) for name in RISKS)] for each in sets]


def write_tables(sets: Sequence[RiskSet], found: Results) -> None:
    def ratios(each: RiskSet, name: str) -> list[float]:
        return [run["risks"][name]["path"] / run["risks"][name]["mean"] for run in found[each.name]]

    def cost(each: RiskSet, name: str) -> list[float]:
        return [run["risks"][name]["mean loss"] / run["mean loss"] for run in found[each.name]]

    expected = {(e.name, n): attainable(e, risk) for e in sets for n, risk in RISKS.items()}
    rows = by_risk(sets, lambda each, name: interval(ratios(each, name)))
    timed = [run["times"] for runs in found.values() for run in runs if "times" in run]
    if timed:
        times = [f"{np.median([each[name] for each in timed]):.1f}" for name in RISKS]
        rows.append(["processor time / the mean's, median", *times])
    header = f"set ({len(found[sets[0].name])} seeds)"
    publish("risk_pays", [header, *RISKS], rows)
    publish("risk_costs", [header, *RISKS], by_risk(sets, lambda e, n: interval(cost(e, n))))

    def shown(each: RiskSet, name: str) -> str:
        value = expected[each.name, name]
        return "" if value is None else f"{value:.2f}"

    why = {label(each): each.why for each in sets}
    told = [[row[0], why[row[0]], *row[1:]] for row in by_risk(sets, shown)]
    publish("risk_expected", ["set", "noise", *RISKS], told)
    write_peers(sets, found)
    for each in sets:
        for name in RISKS:
            value, reached = expected[each.name, name], float(np.mean(ratios(each, name)))
            if reached > 1.01 or (value is not None and value <= EXPECTED and reached > 0.9):
                print(f"MISSED: {each.name}, {name}: {reached:.3f}, attainable {shown(each, name)}")


def write_peers(sets: Sequence[RiskSet], found: Results) -> None:
    names = ["as given", *PEERS]
    rows, objectives = [], []
    for each in sets:
        runs = [run for run in found[each.name] if "peers" in run]
        if not runs:
            return
        base = [run["risks"][PEER_RISK]["mean"] for run in runs]
        path = [run["risks"][PEER_RISK]["path"] / b for run, b in zip(runs, base, strict=True)]
        cells = [interval(path)]
        cells += [
            interval([run["peers"][name] / b for run, b in zip(runs, base, strict=True)])
            for name in names
        ]
        rows.append([label(each), *cells])
        objectives += [run["independent"] / run["given"][0] for run in runs]
        worse = [run["given"][0] / run["given"][1] for run in runs]
        if max(worse) > 1.0:
            print(f"MISSED: {each.name}: the training objective rises to {max(worse):.4f}")
    n_seeds = len(objectives) // len(sets)
    publish("risk_peers", [f"set ({n_seeds} seeds)", "path", *names], rows)
    print(f"independent / own training objective: {min(objectives):.5f} to {max(objectives):.5f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, help="folder with the data sets")
    parser.add_argument("--cache", type=Path, default=Path("results/risk_pays"))
    parser.add_argument("--seeds", type=int, default=N_SEEDS)
    parser.add_argument("--peers", type=int, default=N_SEEDS, help="seeds of the other methods")
    parser.add_argument("--timed", type=int, default=1, help="seeds whose fits are timed")
    parser.add_argument("--first", type=int, default=FIRST_SEED, help="the first seed")
    parser.add_argument("--sets", nargs="+", help="names of sets (default: all)")
    arguments = parser.parse_args()
    sets = [each for each in (*DESIGN, *NEW) if not arguments.sets or each.name in arguments.sets]
    write_tables(sets, results(sets, arguments))


if __name__ == "__main__":
    main()
