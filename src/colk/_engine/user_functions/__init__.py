"""User-defined functions: plain Python, compiled if Numba is installed, or C functions.

A function returns a number, a tuple or an array, as its signature requires. Its array arguments are
copies. Compiled code calls a `Function`. If there is machine code, it runs without the GIL. If it
returns NaN, or there is no machine code, the Python function is called; its result is used, and its
exceptions reach the caller.
"""

from colk._engine.user_functions.addresses import Signature
from colk._engine.user_functions.base import Function, OfArrays, OfLoss, OfNumbers, OfPoints
from colk._engine.user_functions.pickling import reduce_functions

__all__ = [
    "Function",
    "OfArrays",
    "OfLoss",
    "OfNumbers",
    "OfPoints",
    "Signature",
    "reduce_functions",
]
