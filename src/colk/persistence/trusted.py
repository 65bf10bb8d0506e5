"""List the classes that a file may name, their modules, and the types that skops must trust."""

import sys
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from colk.errors import FileFormatError
from colk.persistence.terms import known_terms
from colk.rkhs.features import RandomFourierFeatures, RBFNetwork

__all__ = ["class_of", "is_model", "tag_of", "trusted_types"]

# Modules and their classes; each class declares its fields with `colk._stored.stores`.
_HOMES = {
    "colk.kernels.of_rows": ("SparseRows",),
    "colk.rkhs.expansion": ("KernelExpansion",),
    "colk.rkhs.interop": ("Affine",),
    "colk.rkhs.compression": ("Compression",),
    "colk.rkhs.deviations": ("Deviations",),
    "colk.rkhs.polishing": ("Polished", "RiskPath"),
    "colk.learners": (
        "COLK", "POLK", "NewtonCOLK", "HedgedCOLK", "HedgedNewtonCOLK", "QuantileCOLK", "BSGD",
        "CompositionalBSGD", "NPBSGD", "NORMA", "DoublySGD", "RandomFeatureSGD", "SCGD",
        "AcceleratedSCGD", "NASA", "ConditionalCOLK", "DriftDetector",
    ),
    "colk.learners.feature_drift": ("FeatureMeans",),
    "colk.rl": ("PolicyEvaluator", "KernelTD", "KernelLSTD", "ResidualGradient", "TDC"),
    "colk.estimators": (
        "COLKRegressor", "COLKClassifier", "COLKQuantileRegressor", "KernelCompressor",
    ),
    "colk.selection": ("Race", "KeptSamples", "Relevance"),
    "colk.model": ("Contest", "OnlineFit"),
    "colk._engine.running_scale": ("RunningScale",),
    "colk.conformal": (
        "AdaptiveInterval", "ConformalClassifier", "ConformalRegressor", "ScoreThresholds",
        "TrackedInterval",
    ),
    "colk.conformal.local": ("LocalQuantiles",),
    "colk.conformal.rule": ("IntervalRule",),
    "colk.conformal.series": ("ErrorForecast",),
    "colk.river": (
        "COLKRegressor", "COLKClassifier", "COLKQuantileRegressor", "ConformalClassifier",
        "ConformalRegressor", "DriftWatch",
    ),
    "colk.river.columns": ("FeatureColumns",),
    "colk.tabular": ("TableModel",),
    "colk._encoding.constants": ("ConstantValues",),
    "colk._encoding.effects": ("CategoryEffects",),
    "colk._encoding.encoder": ("TableEncoder",),
    "colk._encoding.gaps": ("GapFiller",),
    "colk.model.inputs": ("Inputs",),
    "colk.model.stream_inputs": ("StreamInputs",),
}  # fmt: skip

# Parts of models, which cannot be saved by themselves.
_PARTS = (
    "Compression", "Deviations", "Polished", "RiskPath", "RunningScale", "Race", "KeptSamples",
    "Contest", "OnlineFit", "AdaptiveInterval", "TrackedInterval", "IntervalRule", "LocalQuantiles",
    "ErrorForecast", "ScoreThresholds", "TableEncoder", "Relevance",
    "Inputs", "GapFiller", "CategoryEffects", "ConstantValues", "DriftDetector", "FeatureMeans",
    "SparseRows", "StreamInputs", "river.FeatureColumns",
)  # fmt: skip

# Other types that occur in pickles of models, besides terms and the classes above.
_PICKLED = (
    ("colk.conformal.adaptive", "Level"),
    ("colk.conformal.labels", "Threshold"),
    ("colk.conformal.tails", "RecentValues"),
    ("colk.conformal.tails", "Tail"),
    ("colk.conformal.tracked", "TrackedLevel"),
    ("colk.learners", "DriftEvent"),
    ("colk.learners.parametric", "TubeStream"),
    ("colk.model", "Settings"),
    ("colk.rkhs.polishing", "PathPoint"),
    ("colk.rl.step", "FunctionTrackingStream"),
    ("colk.rl.step", "ScalarTrackingStream"),
    ("colk.selection", "Entry"),
    ("colk.selection", "RecentSamples"),
    ("colk.tabular", "Column"),
)

# Optional packages that a module needs.
_NEEDED = {"colk.river": "river"}


@cache
def _homes() -> dict[str, tuple[str, str]]:
    """Return module and name of each class by its tag: its name, with "river." for River."""
    return {
        f"river.{name}" if home.startswith("colk.river") else name: (home, name)
        for home, names in _HOMES.items()
        for name in names
    }


def tag_of(value: Any) -> str | None:
    """Return the tag of an object's class; None if the class cannot be stored.

    Examples
    --------
    >>> from colk import COLK
    >>> from colk.kernels import Gaussian
    >>> tag_of(COLK(Gaussian(0.5)))
    'COLK'
    """
    kind = type(value)
    for tag in (kind.__name__, f"river.{kind.__name__}"):
        home, name = _homes().get(tag, ("", ""))
        if getattr(sys.modules.get(home), name, None) is kind:
            return tag
    return None


def class_of(tag: str) -> type[Any]:
    """Return the class of a tag.

    Examples
    --------
    >>> class_of("COLK")
    <class 'colk.learners.colk.COLK'>
    """
    if tag not in _homes():
        raise FileFormatError(f"it holds a {tag!r}, which this version of colk does not know")
    home, name = _homes()[tag]
    kind: type[Any] = getattr(import_module(home), name)
    return kind


def is_model(tag: Any) -> bool:
    """Return whether an object with this tag can be saved by itself.

    Examples
    --------
    >>> is_model("COLK"), is_model("Race")
    (True, False)
    """
    return isinstance(tag, str) and tag in _homes() and tag not in _PARTS


def trusted_types() -> list[str]:
    """Return the types of colk to pass to skops as `trusted`.

    They contain only numbers and terms, and run no code from the file.

    Examples
    --------
    >>> "colk.kernels.stationary.Gaussian" in trusted_types()
    True
    """
    kinds: list[type[Any]] = [*known_terms().values(), RBFNetwork, RandomFourierFeatures]
    for home, name in (*_homes().values(), *_PICKLED):
        package = ".".join(home.split(".")[:2])
        if find_spec(_NEEDED.get(package, "colk")) is not None:
            kinds.append(getattr(import_module(home), name))
    return sorted({f"{kind.__module__}.{kind.__name__}" for kind in kinds})
