"""Public names that are imported when they are first used, so that `import colk` stays fast."""

from __future__ import annotations

import sys
from importlib import import_module

TYPE_CHECKING = False  # `typing` would take longer to import than the rest of `import colk`
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

__all__ = ["lazy_attributes"]


def lazy_attributes(package: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """Return a module's `__getattr__` that imports each name from its home.

    Parameters
    ----------
    package : str
        The name of the module.
    homes : mapping of str to str
        The module that defines each name; a name that maps to itself is a submodule.

    Examples
    --------
    >>> lazy_attributes("colk", {"Gaussian": "colk.kernels"})("Gaussian")(1.0)
    Gaussian(bandwidth=1.0)
    """

    def attribute(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        home = import_module(homes[name])
        value = home if homes[name] == f"{package}.{name}" else getattr(home, name)
        vars(sys.modules[package])[name] = value  # the next access does not come here
        return value

    return attribute
