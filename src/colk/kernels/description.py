"""Kernels as plain data, for files that can be read without running code."""

from typing import Any

from colk.kernels import KERNELS
from colk.kernels.algebra import Product, Scaled, Sum
from colk.kernels.base import Kernel

__all__ = ["describe", "from_description"]

_CLASSES: dict[str, type[Kernel]] = {**KERNELS, "product": Product, "scaled": Scaled, "sum": Sum}
_NAMES = {kernel: name for name, kernel in _CLASSES.items()}


def describe(kernel: Kernel) -> dict[str, Any]:
    """Return a built-in kernel, or a combination of such, as data that JSON can hold.

    Examples
    --------
    >>> from colk.kernels import Gaussian
    >>> describe(2.0 * Gaussian(0.5))
    {'name': 'scaled', 'kernel': {'name': 'gaussian', 'bandwidth': 0.5}, 'factor': 2.0}
    """
    if type(kernel) not in _NAMES:
        raise TypeError(
            f"{type(kernel).__name__} holds Python code, which a file must not; pickle it instead, "
            "or save the atoms and weights"
        )
    description = {"name": _NAMES[type(kernel)], **kernel._parameters()}
    if "kernel" in description:
        description["kernel"] = describe(description["kernel"])
    if "parts" in description:
        description["parts"] = [describe(part) for part in description["parts"]]
    return description


def from_description(description: Any) -> Kernel:
    """Return the kernel that `describe` described; anything else is a ValueError or TypeError.

    Examples
    --------
    >>> from_description({"name": "gaussian", "bandwidth": 0.5})
    Gaussian(bandwidth=0.5)
    """
    if not isinstance(description, dict):
        raise TypeError(f"a kernel must be described by a dict, got {type(description).__name__}")
    parameters = dict(description)
    name = parameters.pop("name", None)
    if not isinstance(name, str) or name not in _CLASSES:
        raise ValueError(f"there is no kernel named {name!r}")
    if "kernel" in parameters:
        parameters["kernel"] = from_description(parameters["kernel"])
    if "parts" in parameters:
        parameters["parts"] = tuple(from_description(part) for part in parameters["parts"])
    return _CLASSES[name](**parameters)
