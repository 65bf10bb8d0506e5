"""Versions of the libraries of the peers, and the reasons why some are missing."""

from importlib.metadata import version
from importlib.util import find_spec

from colk_lab.bench.capymoa_peers import absence

__all__ = ["missing_libraries", "versions"]


def versions() -> list[str]:
    """Return the names and versions of the libraries on which scores depend.

    Examples
    --------
    >>> any(each.startswith("scikit-learn ") for each in versions())
    True
    """
    optional = {name: find_spec(name) for name in ("river", "lightgbm", "mapie")}
    names = ["numpy", "scipy", "scikit-learn", *(name for name, spec in optional.items() if spec)]
    if not absence():
        names.append("capymoa")
    return [f"{name} {version(name)}" for name in names]


def missing_libraries() -> dict[str, str]:
    """Return the libraries whose methods are missing here, with the reasons."""
    found = {"CapyMOA": absence()}
    for name, module in {"LightGBM": "lightgbm", "MAPIE": "mapie"}.items():
        found[name] = "" if find_spec(module) else f"{module} is not installed"
    return {name: why for name, why in found.items() if why}
