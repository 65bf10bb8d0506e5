"""On which data a risk pays: the risk on new data, relative to the model of the mean.

Models have 200 atoms and the Huber loss. Each is `COLKRegressor(risk=…)` at its defaults, paired
with the model of the mean on the same rows. A ratio below 1 is a gain; ± is a 95 % interval over
the seeds. The sets in italics were not used to choose the rule of the path. After all sets had been
seen with other seeds, the rule was changed once: it became stricter, and groups of samples judge if
few losses decide. "waiting times" and "both tails" were added afterwards. No choice was made on the
seeds of the table. To save time, all risks polish the atoms of one fit under a risk, as `fit` does;
processor times are those of whole fits with the first seed.

    python -m colk_lab.tables risk_pays --data FOLDER --cache FOLDER

Results of each set and seed are stored in the cache, so that an interrupted run continues. Writes
docs/tables/risk_pays.md, risk_costs.md, risk_summary.md, risk_expected.md, risk_attainable.md and
risk_peers.md.

risk_expected.md has the ratio of the best of all functions, computed from the generator of a set.
risk_attainable.md has the ratio that was reached, and the least ratio of all points of the path on
the new rows, for the first `--hindsight` seeds. No rule of choice can do better than the second.
"""

import argparse
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colk import COLKRegressor
from colk.losses import Huber
from colk.risks import CVaR, Entropic, LossRisk, Semivariance, Variance
from colk.rkhs.expansion import KernelExpansion
from colk.rkhs.polishing import polish_under_risk
from colk_lab.statistics import mean_interval
from colk_lab.tables.output import kept, publish
from colk_lab.tables.risk_bounds import hindsight, least_ratio
from colk_lab.tables.risk_peers import PEERS
from colk_lab.tables.risk_sets import DESIGN, NEW, RiskSet
from colk_lab.tables.risk_summary import summarise

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
# A gain of 10 % is expected if the best of all functions gains this much.
EXPECTED = 0.88
LEAST_REGULARIZATION = 1e-6

Array = NDArray[np.float64]
Results = dict[str, list[dict[str, Any]]]


def timed_fit(X: Array, y: Array, seed: int, **settings: Any) -> tuple[COLKRegressor, float]:
    start = time.process_time()
    model = COLKRegressor(max_atoms=200, random_state=seed, **settings).fit(X, y)
    return model, time.process_time() - start


@dataclass(frozen=True, eq=False)
class RiskCase:
    """The rows of a set and a seed, the model of the mean, and one of CVaR.

    Their atoms may differ: the mean's model leaves gross outliers out.
    """

    X: Array
    y: Array
    points: Array
    targets: Array
    mean: COLKRegressor
    seconds: float
    risky: COLKRegressor

    @classmethod
    def of(cls, data_set: RiskSet, seed: int, folder: Path | None) -> "RiskCase":
        """Draw the rows and fit the model of the mean."""
        rng = np.random.default_rng([seed, *map(ord, data_set.name)])
        (X, y), (points, targets) = data_set.draw(rng, folder)
        mean, seconds = timed_fit(X, y, seed)
        risky, _ = timed_fit(X, y, seed, risk=RISKS[PEER_RISK])
        return cls(X, y, points, targets, mean, seconds, risky)

    def polished(self, risk: LossRisk) -> Any:
        """Return the function that `fit` finds under a risk."""
        model = self.risky
        scaled = (self.y - model.intercept_) / model.target_scale_
        f, loss = model.learner_.function, model.loss_
        return polish_under_risk(f, self.X, scaled, loss, risk, LEAST_REGULARIZATION)[0].function

    def losses(self, predictions: Array) -> Array:
        """Losses on new rows, in the units of the model."""
        center, unit = float(self.mean.intercept_), float(self.mean.target_scale_)
        return Huber().value((predictions - center) / unit, (self.targets - center) / unit)

    def losses_of(self, f: KernelExpansion) -> Array:
        """Losses of a function of the targets that the model under a risk scales."""
        return self.losses(self.risky.target_scale_ * f(self.points) + self.risky.intercept_)


def run(data_set: RiskSet, seed: int, folder: Path | None) -> dict[str, Any]:
    """Fit all risks to a set: risks and mean losses on new rows."""
    case = RiskCase.of(data_set, seed, folder)
    base = case.losses(case.mean.predict(case.points))
    found: dict[str, Any] = {"mean loss": float(base.mean()), "risks": {}}
    found["unit"] = float(case.mean.target_scale_)
    for name, risk in RISKS.items():
        own = case.losses_of(case.polished(risk))
        line = {"mean": risk.value(base), "path": risk.value(own), "mean loss": float(own.mean())}
        found["risks"][name] = line
    return found


def run_times(data_set: RiskSet, seed: int, folder: Path | None) -> dict[str, Any]:
    """Return the processor time of a whole fit under each risk, relative to that of the mean."""
    case = RiskCase.of(data_set, seed, folder)
    seconds = {n: timed_fit(case.X, case.y, seed, risk=risk)[1] for n, risk in RISKS.items()}
    return {"times": {name: spent / case.seconds for name, spent in seconds.items()}}


def run_hindsight(data_set: RiskSet, seed: int, folder: Path | None) -> dict[str, Any]:
    """Return the least risk on new rows of all points of each path, relative to the mean's."""
    case = RiskCase.of(data_set, seed, folder)
    base = case.losses(case.mean.predict(case.points))
    scaled = (case.y - case.risky.intercept_) / case.risky.target_scale_
    found = {}
    for name, risk in RISKS.items():
        functions = hindsight(case.risky.learner_.function, case.X, scaled, case.risky.loss_, risk)
        found[name] = min(risk.value(case.losses_of(f)) for f in functions) / risk.value(base)
    return {"hindsight": found}


def run_peers(data_set: RiskSet, seed: int, folder: Path | None) -> dict[str, Any]:
    """Fit the other methods: the tail on new rows, and objectives on the rows of the fit."""
    case, risk = RiskCase.of(data_set, seed, folder), RISKS[PEER_RISK]
    model, _ = timed_fit(case.X, case.y, seed, risk=risk, risk_path=False)
    given = model.polished_
    found: dict[str, Any] = {"given": [given.value, given.value_before]}
    found["peers"] = {"as given": risk.value(case.losses(model.predict(case.points)))}
    for name, peer in PEERS.items():
        predictions, objective = peer(model, case.X, case.y, case.points, CVaR(0.1))
        found["peers"][name] = risk.value(case.losses(predictions))
        if objective is not None:
            found["independent"] = objective
    return found


def results(sets: Sequence[RiskSet], arguments: argparse.Namespace) -> Results:
    """Run what is not in the cache, and return all results by set."""
    arguments.cache.mkdir(parents=True, exist_ok=True)
    found: Results = {each.name: [] for each in sets}
    for number in range(arguments.seeds):
        seed = arguments.first + number
        for each in sets:
            path, folder = arguments.cache / f"{each.name}-{seed}.json", arguments.data
            line = kept(path, partial(run, each, seed, folder))
            if number < arguments.peers:
                others = path.with_suffix(".peers.json")
                line |= kept(others, partial(run_peers, each, seed, folder))
            if number < arguments.hindsight:
                best = path.with_suffix(".hindsight.json")
                line |= kept(best, partial(run_hindsight, each, seed, folder))
            if number < arguments.timed:
                times = path.with_suffix(".times.json")
                line |= kept(times, partial(run_times, each, seed, folder))
            found[each.name].append(line)
    return found


def interval(values: Sequence[float]) -> str:
    """Return the mean of the values, with the half width of its 95 % interval."""
    half = mean_interval(values).half if len(values) > 1 else 0.0
    return f"{np.mean(values):.3f} ± {half:.3f}" if half >= 5e-4 else f"{np.mean(values):.3f}"


def header(n_seeds: int) -> str:
    return f"set ({n_seeds} seed{'' if n_seeds == 1 else 's'})"


def label(data_set: RiskSet) -> str:
    return f"*{data_set.name}*" if data_set in NEW else data_set.name


def by_risk(sets: Sequence[RiskSet], cell: Callable[[RiskSet, str], str]) -> list[list[str]]:
    return [[label(each), *(cell(each, name) for name in RISKS)] for each in sets]


def write_tables(sets: Sequence[RiskSet], found: Results) -> None:
    def ratios(each: RiskSet, name: str) -> list[float]:
        return [run["risks"][name]["path"] / run["risks"][name]["mean"] for run in found[each.name]]

    def cost(each: RiskSet, name: str) -> list[float]:
        return [run["risks"][name]["mean loss"] / run["mean loss"] for run in found[each.name]]

    units = {each.name: float(np.mean([run["unit"] for run in found[each.name]])) for each in sets}
    expected = {
        (e.name, n): least_ratio(e, risk, units[e.name]) for e in sets for n, risk in RISKS.items()
    }
    rows = by_risk(sets, lambda each, name: interval(ratios(each, name)))
    timed = [run["times"] for runs in found.values() for run in runs if "times" in run]
    if timed:
        times = [f"{np.median([each[name] for each in timed]):.1f}" for name in RISKS]
        rows.append(["processor time / the mean's, median", *times])
    first = header(len(found[sets[0].name]))
    publish("risk_pays", [first, *RISKS], rows)
    publish("risk_costs", [first, *RISKS], by_risk(sets, lambda e, n: interval(cost(e, n))))
    summarise()

    def shown(each: RiskSet, name: str) -> str:
        value = expected[each.name, name]
        return "" if value is None else f"{value:.2f}"

    why = {label(each): each.why for each in sets}
    told = [[row[0], why[row[0]], *row[1:]] for row in by_risk(sets, shown)]
    publish("risk_expected", ["set", "noise", *RISKS], told)
    write_hindsight(sets, found)
    write_peers(sets, found)
    for each in sets:
        for name in RISKS:
            value, reached = expected[each.name, name], float(np.mean(ratios(each, name)))
            if reached > 1.01 or (value is not None and value <= EXPECTED and reached > 0.9):
                print(f"MISSED: {each.name}, {name}: {reached:.3f}, attainable {shown(each, name)}")


def write_hindsight(sets: Sequence[RiskSet], found: Results) -> None:
    runs = {each.name: [r for r in found[each.name] if "hindsight" in r] for each in sets}
    n_seeds = min(map(len, runs.values()))
    if n_seeds == 0:
        return

    def cell(each: RiskSet, name: str) -> str:
        lines = [(run["risks"][name], run["hindsight"][name]) for run in runs[each.name]]
        reached = np.mean([line["path"] / line["mean"] for line, _ in lines])
        return f"{reached:.3f} · {np.mean([least for _, least in lines]):.3f}"

    publish("risk_attainable", [header(n_seeds), *RISKS], by_risk(sets, cell))


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
    publish("risk_peers", [header(n_seeds), "path", *names], rows)
    print(f"independent / own training objective: {min(objectives):.5f} to {max(objectives):.5f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, help="folder with the data sets")
    parser.add_argument("--cache", type=Path, default=Path("results/risk_pays"))
    parser.add_argument("--seeds", type=int, default=N_SEEDS)
    parser.add_argument("--peers", type=int, default=N_SEEDS, help="seeds of the other methods")
    parser.add_argument("--hindsight", type=int, default=3, help="seeds with the best of the path")
    parser.add_argument("--timed", type=int, default=1, help="seeds whose fits are timed")
    parser.add_argument("--first", type=int, default=FIRST_SEED, help="the first seed")
    parser.add_argument("--sets", nargs="+", help="names of sets (default: all)")
    arguments = parser.parse_args()
    sets = [each for each in (*DESIGN, *NEW) if not arguments.sets or each.name in arguments.sets]
    write_tables(sets, results(sets, arguments))


if __name__ == "__main__":
    main()
