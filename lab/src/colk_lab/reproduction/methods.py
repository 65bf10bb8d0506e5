"""The methods of the comparison: constructors, printed settings and ranges for tuning."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from colk.compressors import KOMP
from colk.kernels import Gaussian
from colk.learners import (
    BSGD,
    COLK,
    NASA,
    NPBSGD,
    POLK,
    SCGD,
    CompositionalBSGD,
    OnlineLearner,
    RandomFeatureSGD,
)
from colk.losses import Huber, Squared
from colk.risks import CentralMoments
from colk.rkhs.features import RBFNetwork
from colk.schedules import PolyakRuppert
from colk_lab.reproduction.laws import generator

__all__ = [
    "BANDWIDTH",
    "CLIP",
    "CLIPS",
    "COMPARED",
    "METHODS",
    "N_FEATURES",
    "RISK",
    "Method",
    "Settings",
    "choose",
    "clipped",
    "column",
    "described",
    "trials",
]

Settings = Mapping[str, float]

# The printed settings of the paper's experiment.
BANDWIDTH = 0.06
RISK = CentralMoments(order=4, weight=0.1)
N_FEATURES = 50
_STEP = {"step_size": 0.02}
_PRINTED = {**_STEP, "tracking_rate": 0.01}

# The bound C of Assumption 5, which the paper does not print; CLIP is the default of colk.
CLIPS = (1.0, 3.0, 10.0, 30.0, 100.0)
CLIP = 10.0

_STEPS = {"step_size": (0.003, 0.5), "gradient_bound": (0.3, 100.0)}
_RATES = {"tracking_rate": (0.003, 0.3)}


@dataclass(frozen=True)
class Method:
    """A method of the comparison.

    Parameters
    ----------
    name, label : str
        Name in settings and files, and name in figures.
    color : str
        A name of `colk.cli.pages.colors.PALETTE`.
    make : callable
        Makes a learner from settings, the budget of atoms and a seed.
    printed : mapping
        Settings of the paper, or COLK's settings if the paper prints none.
    space : mapping of str to (float, float)
        Ranges of the tuned settings, on a logarithmic scale.
    """

    name: str
    label: str
    color: str
    make: Callable[[Settings, int, int], OnlineLearner]
    printed: Settings
    space: Mapping[str, tuple[float, float]]


def _common(settings: Settings) -> dict[str, Any]:
    """Return the arguments that all methods share; as in the paper, the last iterate predicts."""
    names = ("step_size", "tracking_rate", "gradient_bound", "gradient_gain")
    return {"averaging": None, **{name: settings[name] for name in names if name in settings}}


def _komp(settings: Settings, order: int) -> KOMP:
    """Return the printed parsimony; if tuned, COLK's printed α/ε and at most `order` atoms."""
    if "parsimony" in settings:
        return KOMP(parsimony=settings["parsimony"])
    return KOMP(eps=0.1 * settings["step_size"], max_atoms=order)


def _colk(settings: Settings, order: int, seed: int) -> OnlineLearner:
    return COLK(
        Gaussian(BANDWIDTH),
        Squared(),
        RISK,
        compressor=_komp(settings, order),
        **_common(settings),
    )


def _polk(settings: Settings, order: int, seed: int) -> OnlineLearner:
    return POLK(
        Gaussian(BANDWIDTH), Squared(), compressor=_komp(settings, order), **_common(settings)
    )


def _bsgd(settings: Settings, order: int, seed: int) -> OnlineLearner:
    return BSGD(Gaussian(BANDWIDTH), Squared(), max_atoms=order, **_common(settings))


def _compositional_bsgd(settings: Settings, order: int, seed: int) -> OnlineLearner:
    return CompositionalBSGD(
        Gaussian(BANDWIDTH), Squared(), RISK, max_atoms=order, **_common(settings)
    )


def _npbsgd(settings: Settings, order: int, seed: int) -> OnlineLearner:
    return NPBSGD(
        Gaussian(BANDWIDTH),
        Squared(),
        max_atoms=order,
        # The horizon is longer than every stream, so the budget never grows.
        horizon=1_000_000_000,
        maintenance="projection",
        regularization=1e-6,
        seed=seed,
        **_common(settings),
    )


def _network(settings: Settings) -> RBFNetwork:
    return RBFNetwork(int(settings.get("features", N_FEATURES)), radius=BANDWIDTH)


def _scgd(settings: Settings, order: int, seed: int) -> OnlineLearner:
    return SCGD(_network(settings), Squared(), RISK, **_common(settings))


def _nasa(settings: Settings, order: int, seed: int) -> OnlineLearner:
    return NASA(_network(settings), Squared(), RISK, **_common(settings))


def _random_features(settings: Settings, order: int, seed: int) -> OnlineLearner:
    return RandomFeatureSGD(
        Gaussian(BANDWIDTH), Squared(), n_components=order, seed=seed, **_common(settings)
    )


def _averaged_huber(settings: Settings, order: int, seed: int) -> OnlineLearner:
    return POLK(
        Gaussian(BANDWIDTH),
        Huber(settings["threshold"]),
        step_size=settings["step_size"],
        compressor=_komp(settings, order),
        averaging=PolyakRuppert(growth=3.0),
    )


METHODS = {
    method.name: method
    for method in (
        Method("colk", "COLK", "blue", _colk, {**_PRINTED, "parsimony": 5.0}, {**_STEPS, **_RATES}),
        Method("polk", "POLK", "vermillion", _polk, {"step_size": 0.5, "parsimony": 0.09}, _STEPS),
        Method("bsgd", "BSGD", "orange", _bsgd, _STEP, _STEPS),
        Method(
            "compositional_bsgd",
            "Compositional BSGD",
            "sky",
            _compositional_bsgd,
            _PRINTED,
            {**_STEPS, **_RATES},
        ),
        Method("npbsgd", "NPBSGD", "green", _npbsgd, _STEP, _STEPS),
        Method("scgd", "RBF network (SCGD)", "purple", _scgd, _PRINTED, {**_STEPS, **_RATES}),
        Method(
            "nasa",
            "RBF network (NASA)",
            "ink",
            _nasa,
            _STEP,
            {**_STEPS, "step_size": (0.002, 0.1), "gradient_gain": (0.5, 10.0)},
        ),
        Method("random_features", "Random features", "olive", _random_features, _STEP, _STEPS),
        Method(
            "huber",
            "POLK (Huber, averaged)",
            "grey",
            _averaged_huber,
            {},
            {"step_size": (0.01, 0.5), "threshold": (0.1, 3.0)},
        ),
    )
}

# The methods of the paper's comparison. This library adds the others.
COMPARED = tuple(name for name, method in METHODS.items() if method.printed)


def clipped(name: str, clip: float) -> dict[str, float]:
    """Return a method's printed settings with a bound on the gradient.

    Examples
    --------
    >>> clipped("polk", 3.0)
    {'step_size': 0.5, 'parsimony': 0.09, 'gradient_bound': 3.0}
    """
    return {**METHODS[name].printed, "gradient_bound": clip}


def column(clip: float) -> str:
    """Return the name of the printed protocol with a bound on the gradient.

    Examples
    --------
    >>> column(10.0), column(30.0)
    ('printed', 'C = 30')
    """
    return "printed" if clip == CLIP else f"C = {clip:g}"


def described(settings: Settings) -> str:
    """Return settings as text.

    Examples
    --------
    >>> described({"step_size": 0.02, "gradient_bound": 10.0})
    'step_size 0.02, gradient_bound 10'
    """
    return ", ".join(f"{name} {value:g}" for name, value in settings.items())


def trials(method: Method, count: int, seed: int) -> list[dict[str, float]]:
    """Return `count` settings spread over the method's ranges, the middle first.

    Examples
    --------
    >>> [sorted(trial) for trial in trials(METHODS["polk"], 2, seed=0)]
    [['gradient_bound', 'step_size'], ['gradient_bound', 'step_size']]
    """
    from scipy.stats import qmc

    names = sorted(method.space)
    ranges = np.log([method.space[name] for name in names])
    shift = generator(seed, "trials", method.name).random(len(names))
    places = (qmc.Halton(len(names), scramble=False).random(count) + shift) % 1.0
    places[0] = 0.5
    points = np.exp(ranges[:, 0] + places * (ranges[:, 1] - ranges[:, 0]))
    return [
        {name: float(f"{value:.3g}") for name, value in zip(names, point, strict=True)}
        for point in points
    ]


def choose(
    tried: Mapping[str, list[dict[str, float]]], scores: Sequence[float]
) -> dict[str, dict[str, float]]:
    """Return the best trial of each method; scores are listed method by method.

    Examples
    --------
    >>> choose({"polk": [{"step_size": 0.1}, {"step_size": 0.2}]}, [3.0, 2.0])
    {'polk': {'step_size': 0.2}}
    """
    left = iter(scores)
    return {
        name: listed[int(np.argmin([next(left) for _ in listed]))] for name, listed in tried.items()
    }
