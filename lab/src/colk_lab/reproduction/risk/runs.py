"""Runs of COLK with several risks and weights on skewed noise, and the batch optima."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colk.compressors import KOMP
from colk.kernels import Gaussian
from colk.learners import COLK
from colk.losses import Squared
from colk.risks import CVaR, Entropic, Mean, Risk, Semivariance, Variance
from colk.rkhs.batch import minimize
from colk_lab.arrays import Array
from colk_lab.reproduction.chapter import RunPlan
from colk_lab.reproduction.laws import generator, signal
from colk_lab.tasks import Run, Task

__all__ = ["FAMILIES", "NOISES", "RiskRuns", "expected_tasks", "run_all"]

KERNEL = Gaussian(0.1)
STEP_SIZE = 0.01
TRACKING_RATE = 0.02
EPS = 0.001
GRADIENT_BOUND = 50.0
TAIL = 0.1
N_TRAIN = 40_000
N_TEST = 4_000
_BATCH_REGULARIZATION = 1e-6


# Standard deviation of the noise as a function of x.
NOISES: dict[str, Callable[[Array], Array]] = {
    "skewed": lambda x: np.full_like(x, 0.5),
    "skewed and heteroscedastic": lambda x: 0.1 + 0.8 * x,
}


@dataclass(frozen=True)
class Family:
    """A risk as a function of its weight, and the dispersion that it penalises."""

    label: str
    make: Callable[[float], Risk]
    weights: tuple[float, ...]
    dispersion: Callable[[Array], float]
    unit: str


def _tail_mean(losses: Array) -> float:
    return CVaR(TAIL).value(losses)


def _upper(losses: Array) -> float:
    return float(np.sqrt((np.maximum(losses - losses.mean(), 0.0) ** 2).mean()))


FAMILIES = {
    "variance": Family(
        r"Mean + $\eta$ variance",
        Variance,
        (0.02, 0.05, 0.1, 0.2, 0.4),
        lambda losses: float(losses.std()),
        r"standard deviation of $\ell$",
    ),
    "semivariance": Family(
        r"Mean + $\eta$ semivariance",
        Semivariance,
        (0.02, 0.05, 0.1, 0.2, 0.4),
        _upper,
        r"upper semideviation of $\ell$",
    ),
    "cvar": Family(
        r"$(1-\eta)$ mean + $\eta$ CVaR",
        lambda weight: CVaR(TAIL, weight),
        (0.1, 0.2, 0.4, 0.7, 1.0),
        _tail_mean,
        r"mean of the worst 10 % of $\ell$",
    ),
    "entropic": Family(
        r"Entropic, tilt $\eta$",
        Entropic,
        (0.1, 0.2, 0.4, 0.7, 1.0),
        Entropic(1.0).value,
        r"log E exp $\ell$",
    ),
}


@dataclass(frozen=True)
class RiskRuns:
    """Mean loss and dispersion on the test set.

    Attributes
    ----------
    online : dict
        For each (noise, family), an array (weight, run, 2); the first weight is 0, the risk
        `Mean`.
    batch : dict
        For each (noise, family), an array (weight, 2), the optimum on the test set itself.
    excess : dict
        For each (noise, family), an array (weight, run): the risk on the test set minus that of
        the batch optimum.
    """

    online: dict[tuple[str, str], Array]
    batch: dict[tuple[str, str], Array]
    excess: dict[tuple[str, str], Array]


def draw(noise: str, n: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Draw samples with bounded noise, a centred and scaled Beta(1, 5)."""
    X = rng.random((n, 1))
    beta = (rng.beta(1.0, 5.0, size=n) - 1.0 / 6.0) / np.sqrt(5.0 / 252.0)
    return X, signal(X[:, 0]) + NOISES[noise](X[:, 0]) * beta


def _risk(family: str, weight: float) -> Risk:
    return FAMILIES[family].make(weight) if weight else Mean()


def learn_risk(
    noise: str, family: str, weight: float, n_train: int, n_test: int, seed: int, run: int
) -> dict[str, NDArray[Any]]:
    """Learn one training set with one risk; return mean, dispersion and risk on the test set."""
    X, y = draw(noise, n_train, generator(seed, noise, "training", run))
    risk = _risk(family, weight)
    learner = COLK(
        KERNEL,
        Squared(),
        risk,
        step_size=STEP_SIZE,
        tracking_rate=TRACKING_RATE,
        compressor=KOMP(eps=EPS),
        gradient_bound=GRADIENT_BOUND,
    ).learn(X, y)
    return _describe(learner.predict, noise, family, risk, n_test, seed)


def best_risk(
    noise: str, family: str, weight: float, n_test: int, seed: int
) -> dict[str, NDArray[Any]]:
    """Minimise a risk on the test set over functions on a dense grid of atoms."""
    X, y = draw(noise, n_test, generator(seed, noise, "test"))
    risk = _risk(family, weight)
    atoms = np.linspace(-0.1, 1.1, 41)[:, None]
    solution = minimize(
        X,
        y,
        KERNEL,
        Squared(),
        risk,
        _BATCH_REGULARIZATION,
        atoms=atoms,
        tolerance=1e-5,
        max_iterations=300,
    )
    return _describe(solution.function, noise, family, risk, n_test, seed)


def _describe(
    f: Callable[[Array], Array], noise: str, family: str, risk: Risk, n_test: int, seed: int
) -> dict[str, NDArray[Any]]:
    X, y = draw(noise, n_test, generator(seed, noise, "test"))
    predictions = f(X)
    losses = Squared().value(predictions, y)
    return {
        "point": np.array([losses.mean(), FAMILIES[family].dispersion(losses)]),
        "risk": np.array(risk.value_at(Squared(), predictions, y)),
    }


def _cells() -> list[tuple[str, str, float]]:
    return [
        (noise, family, weight)
        for noise in NOISES
        for family, form in FAMILIES.items()
        for weight in (0.0, *form.weights)
    ]


def _optima(plan: RunPlan) -> list[Task]:
    """Return the tasks of the batch optima, one for each cell."""
    return [
        Task(
            best_risk,
            {
                "noise": noise,
                "family": family,
                "weight": weight,
                "n_test": plan.size(N_TEST),
                "seed": plan.seed,
            },
            name=f"Effect of risk measures, batch optimum: {family}",
            seconds=(5e-4 if family == "cvar" else 1e-5) * plan.size(N_TEST),
        )
        for noise, family, weight in _cells()
    ]


def _learning(plan: RunPlan) -> list[Task]:
    """Return the tasks of all runs of each cell."""
    return [
        Task(
            learn_risk,
            {
                "noise": noise,
                "family": family,
                "weight": weight,
                "n_train": plan.size(N_TRAIN),
                "run": i,
                "n_test": plan.size(N_TEST),
                "seed": plan.seed,
            },
            name=f"Effect of risk measures: {family}",
            seconds=3.4e-7 * plan.size(N_TRAIN),
        )
        for noise, family, weight in _cells()
        for i in range(plan.runs)
    ]


def expected_tasks(plan: RunPlan) -> list[Task]:
    """Return the tasks that `run_all` will run."""
    return _optima(plan) + _learning(plan)


def run_all(plan: RunPlan, run: Run) -> RiskRuns:
    """Run all tasks and collect their results."""
    best, found = run(_optima(plan)), run(_learning(plan))
    online: dict[tuple[str, str], Array] = {}
    batch: dict[tuple[str, str], Array] = {}
    excess: dict[tuple[str, str], Array] = {}
    for noise in NOISES:
        for family in FAMILIES:
            places = [k for k, cell in enumerate(_cells()) if cell[:2] == (noise, family)]
            runs = [found[k * plan.runs : (k + 1) * plan.runs] for k in places]
            key = (noise, family)
            online[key] = np.array([[result["point"] for result in group] for group in runs])
            batch[key] = np.array([best[k]["point"] for k in places])
            risks = np.array([[float(result["risk"]) for result in group] for group in runs])
            excess[key] = risks - np.array([[float(best[k]["risk"])] for k in places])
    return RiskRuns(online, batch, excess)
