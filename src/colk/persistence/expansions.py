"""Functions of an RKHS in files, with and without an intercept."""

from typing import Any

import numpy as np

from colk._validation import check_number, check_vector
from colk.persistence.memory import Memory
from colk.persistence.parts import take
from colk.rkhs.expansion import KernelExpansion

__all__ = ["pack", "pack_affine", "restore", "restore_affine"]


def pack(function: KernelExpansion) -> dict[str, Any]:
    """Return kernel, atoms and weights."""
    return {"kernel": function.kernel, "atoms": function.atoms, "weights": function.weights}


def restore(kind: type[Any], parts: dict[str, Any], memory: Memory) -> Any:
    """Return the function, whose constructor checks what it is made of."""
    kernel, atoms, weights = take(parts, "kernel", "atoms", "weights")
    for values in (atoms, weights):
        memory.check(3.0 * np.asarray(values).nbytes, "a function")
    return kind(kernel, atoms, weights)


def pack_affine(affine: Any) -> dict[str, Any]:
    """Return function and intercept."""
    return {"function": affine.function, "intercept": affine.intercept}


def restore_affine(kind: type[Any], parts: dict[str, Any], memory: Memory) -> Any:
    """Return the function with its intercept, one for each output."""
    function, intercept = take(parts, "function", "intercept")
    if not isinstance(function, KernelExpansion):
        raise TypeError(f"expected a function, found a {type(function).__name__}")
    if isinstance(intercept, np.ndarray):
        return kind(function, check_vector(intercept, function.n_outputs, "the intercept").copy())
    return kind(function, check_number(intercept, "the intercept"))
