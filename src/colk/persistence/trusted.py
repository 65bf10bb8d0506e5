"""Which types skops must trust to load a model of this package."""

from importlib import import_module
from importlib.util import find_spec
from typing import Any

from colk.persistence.models import FAMILIES
from colk.persistence.terms import known_terms
from colk.rkhs.features import RandomFourierFeatures, RBFNetwork

__all__ = ["trusted_types"]

# What models are made of beside terms and other models.
_PARTS = (
    ("colk.conformal.adaptive", "Level"),
    ("colk.learners.parametric", "TubeStream"),
    ("colk.rl.step", "FunctionTrackingStream"),
    ("colk.rl.step", "ScalarTrackingStream"),
    ("colk.selection", "Entry"),
    ("colk.tabular.encoder", "Encoder"),
    ("colk.tabular.scale", "RunningScales"),
)

# What a home needs that is not always installed.
_NEEDED = {"colk.river": "river"}


def trusted_types() -> list[str]:
    """Return the types of this package that skops asks about, for its argument `trusted`.

    They hold numbers and terms, and run no code of the file.

    Examples
    --------
    >>> "colk.kernels.stationary.Gaussian" in trusted_types()
    True
    """
    kinds: list[type[Any]] = [*known_terms().values(), RBFNetwork, RandomFourierFeatures]
    homes = [(family.home, tag.rpartition(".")[2]) for tag, family in FAMILIES.items()]
    for home, name in (*homes, *_PARTS):
        package = ".".join(home.split(".")[:2])
        if home.startswith("colk.") and find_spec(_NEEDED.get(package, "colk")) is not None:
            kinds.append(getattr(import_module(home), name))
    return sorted({f"{kind.__module__}.{kind.__name__}" for kind in kinds})
